"""A game that a person types in, one value at a time: all its faults are reported at once.

The words are those of a table's cells (``csv.values``), and the moves are played through on a board, for what is typed
is mistyped. Who the players are is settled by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from ledger.board.movetext import write_movetext
from ledger.board.playing import main_line, replay
from ledger.errors import MalformedError
from ledger.facts.event_fields import KEY_PATTERN
from ledger.facts.source_games import SourceGame, excerpt, is_plain_key, plain_key
from ledger.facts.words import Termination, length_fault, result_fault
from ledger.imports.csv import values
from ledger.imports.no_opponent import means_no_opponent
from ledger.imports.reading import MAX_TEXT

_KEY = re.compile(KEY_PATTERN, re.ASCII)
_OF_FORFEITS = frozenset({None, values.NORMAL, Termination.UNPLAYED, Termination.UNKNOWN})


@attrs.frozen(kw_only=True)
class GameForm:
    """The values of one game as a person typed them; None for missing ones.

    Attributes:
        result: ``1-0``, ``0-1``, ``1/2-1/2``, or a forfeit such as ``+/-``.
        ended: when it ended, as a day or an instant.
        termination: how it ended.
        half_moves: moves of both sides together.
        tournament: the event.
        round: of it.
        moves: movetext.
        key: the game's own key; made of the facts if there is none.
        rated: whether it was to be rated.
        dates: which number of ``04/05/2024`` comes first, one of ``times.ORDERS``.
    """

    result: str
    ended: str
    termination: str | None = None
    half_moves: str | None = None
    tournament: str | None = None
    round: str | None = None
    moves: str | None = None
    key: str | None = None
    rated: bool = True
    dates: str | None = None


def derive_key(day: str, white: str, black: str) -> str:
    """Return the key of a game that has none: a hash of its day and its players' identities."""
    # the unit separator: no identity may hold it, so that no two facts run together into one text
    return plain_key("hand", "\x1f".join((day[:10], white, black)))


def build_game(words: GameForm, white: tuple[str, str], black: tuple[str, str]) -> SourceGame:
    """Return the game of a form; its moves are played through on a board.

    *words*: the values as text.

    Raises:
        MalformedError: it names every invalid word and every contradiction.
    """
    problems: list[str] = []
    outcome = _understood(problems, "--result", words.result, values.parse_result)
    forfeited = isinstance(outcome, str) and outcome.startswith("+")
    if outcome is not None and outcome.lstrip("+") not in {"white", "black", "draw"}:
        problems.append(f"--result {excerpt(words.result)}: a game is recorded when it has a result")
    ended = _understood(problems, "--ended", words.ended, partial(values.parse_instant, order=words.dates))
    termination = _understood(problems, "--termination", words.termination, values.parse_termination)
    half_moves = _understood(problems, "--half-moves", words.half_moves, values.parse_half_moves)
    tournament = _understood(problems, "--tournament", words.tournament, values.parse_tournament)
    round_ = _understood(problems, "--round", words.round, values.parse_round)
    moves = _moves(problems, words.moves)
    outcome = (outcome or "").lstrip("+")
    termination = _ending(problems, words, termination, outcome, moves, is_forfeit=forfeited)
    if half_moves is not None and moves and half_moves != len(moves):
        problems.append(f"--half-moves {half_moves}: the moves are {len(moves)} half-moves; leave one of them out")
    if words.key is not None and not _KEY.fullmatch(words.key):
        problems.append(f"--key {excerpt(words.key)}: a key matches {KEY_PATTERN}")
    if white[0] == black[0]:
        problems.append(f"--white and --black are both {excerpt(white[0])}: nobody plays himself")
    problems += [
        f"--{side} {excerpt(name)} means that there is no opponent: record a bye by the command 'bye'"
        for side, (identity, name) in (("white", white), ("black", black))
        if identity.startswith("name:") and means_no_opponent(name)
    ]
    length = len(moves) if moves else half_moves
    faults = [length_fault(termination, length)]
    if outcome in {"white", "black", "draw"}:
        faults.insert(0, result_fault(outcome, termination))
    problems += [f"--termination {termination}: {fault}; correct one of the two" for fault in faults if fault]
    if termination == values.UNTERMINATED:
        problems.append("--termination unterminated: a game is recorded when it is over")
    if problems or ended is None:
        raise MalformedError(problems or ["--ended: say when the game ended, as 2024-05-03"])
    key = words.key or derive_key(ended, white[0], black[0])
    return SourceGame(
        1,
        key,
        *white,
        *black,
        outcome=outcome,
        termination=termination,
        half_moves=length,
        ended_at=ended,
        tournament=tournament,
        round=round_,
        rated=words.rated,
        text=write_movetext(moves, []),
        is_made=is_plain_key(key),
    )


def _ending(
    problems: list[str], words: GameForm, termination: str | None, outcome: str, moves: list[str], *, is_forfeit: bool
) -> str:
    """Return how the game ended, in our words, and note contradictions."""
    if is_forfeit:
        # FIDE B.02, RULES 1.8: "Unplayed/forfeited: not counted". A table's row with both words is a forfeit, too; here
        # it is asked which of the two was mistyped.
        if termination not in _OF_FORFEITS:
            what = f"a forfeit, --result {excerpt(words.result)}, was never played"
            problems.append(f"--termination {termination}: {what}; correct one of the two")
        return Termination.UNPLAYED.value
    if termination not in {values.NORMAL, None}:
        return str(termination)
    if not (moves and moves[-1].endswith("#")):
        return Termination.UNKNOWN.value
    # only the last move shows it
    winner = "white" if len(moves) % 2 else "black"
    if outcome and outcome != winner:
        problems.append(f"--result: the last move {moves[-1]} is mate by {winner}; correct one of the two")
    return Termination.CHECKMATE.value


def _understood(problems: list[str], option: str, word: str | None, read: Callable[[str], Any]) -> Any:
    if word is None:
        return None
    try:
        return read(word)
    except ValueError as error:
        problems.append(f"{option} {excerpt(word)}: {error}")
        return None


def _moves(problems: list[str], text: str | None) -> list[str]:
    """Return the moves, played through once: one that cannot be played is a fault."""
    if text is None:
        return []
    if len(text) > MAX_TEXT:
        problems.append(f"--moves: {len(text):,} characters, more than the {MAX_TEXT:,} of any game")
        return []
    try:
        moves = main_line(text)
        replay(moves)
    except MalformedError as error:
        problems += [f"--moves: {problem}" for problem in error.problems]
        return []
    if not moves:
        problems.append("--moves: there is no move in it; leave it out")
    return moves
