"""A recorded game as PGN: its current facts, and the stored moves.

The tags are the seven of the PGN standard (8.1.1) and those of 9 that the ledger has facts for. For an import into
another ledger ``EndDate`` and ``EndTime`` give its end, in the form of chess.com, and ``Rated``, a tag of ours,
states whether it may be rated. Moves have their stored clocks; other comments, variations and marks are no facts and
are left out. Invisible characters of a name are shown as escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from textwrap import wrap
from typing import Any

from ledger.answers.asking import in_one_snapshot, names
from ledger.answers.boards import PGN_RESULTS, stored_game
from ledger.answers.read_models import game_row
from ledger.board.playing import main_line
from ledger.board.position import START, Position
from ledger.errors import MalformedError
from ledger.facts.words import Termination
from ledger.handle import OpenLedger
from ledger.imports.reading import game_address
from ledger.runtime.visible import visible

_LINE = 79  # characters of a line of moves (PGN 4.3: "less than 80")
_UNKNOWN = "?"
_MOVES_AND_CLOCKS = re.compile(r"([^\s{}]+)(?:\s+(\{\[%clk [0-9:.]+\]\}))?")
_DAY, _SECOND = len("2024-05-01"), len("2024-05-01T19:30:00Z")
# PGN 9.8.1; what is decided by playing, resigning or agreeing is "normal". It has no word for what was never played:
# "abandoned" is a game that was begun, and counts. Lichess writes "Unplayed" of forfeits in its broadcasts.
_ENDINGS = {
    Termination.TIME: "time forfeit",
    Termination.ABANDONMENT: "abandoned",
    Termination.UNPLAYED: "unplayed",
    Termination.ADJUDICATION: "adjudication",
    Termination.RULES_INFRACTION: "rules infraction",
    Termination.UNKNOWN: "",
}


@in_one_snapshot
def game_pgn(ledger: OpenLedger, game: str, start: str = START) -> str:
    """Return a game as PGN, with a line feed at its end; the arguments are those of ``final_board``.

    Raises:
        UnknownNameError: no such game, or several.
        MalformedError: *start* is no FEN, or the stored text has something in it that is no move.
    """
    key, position, text = stored_game(ledger, game)
    row = game_row(ledger, position)
    moves = main_line(text or "")
    # each with the comment of its clock, where the text is moves and clocks alone
    clocked = _MOVES_AND_CLOCKS.findall(text or "")
    if [move for move, _ in clocked] == moves:
        moves = [f"{move} {clock}" if clock else move for move, clock in clocked]
    result = PGN_RESULTS[row["outcome"]]
    quoted = (
        # PGN 7: a backslash precedes a quotation mark or a backslash within a string. Made visible first: the escapes
        # of that have backslashes, too.
        (name, visible(value).replace("\\", "\\\\").replace('"', '\\"'))
        for name, value in _tags(ledger, key, row, start, has_moves=bool(moves))
    )
    tags = [f'[{name} "{value}"]' for name, value in quoted]
    # The hyphens of castling and of a result are no place to end a line at: O-O, 1-0.
    played = wrap(" ".join([*_numbered(moves, Position(start)), result]), _LINE, break_on_hyphens=False)
    return "\n".join([*tags, "", *played, ""])


@in_one_snapshot
def games_pgn(ledger: OpenLedger, games: Iterable[str]) -> dict[str, str]:
    """Return games as PGN by key, without those whose stored text has something in it that is no move."""
    texts: dict[str, str] = {}
    for game in games:
        with suppress(MalformedError):
            texts[game] = game_pgn(ledger, game)
    return texts


def _tags(
    ledger: OpenLedger, key: str, row: dict[str, Any], start: str, *, has_moves: bool
) -> Iterator[tuple[str, str]]:
    called = names(ledger, {row["white"], row["black"]})
    yield "Event", row["tournament"] or _UNKNOWN
    begun = row["started_at"] or row["ended_at"]
    yield "Site", game_address(key) or _UNKNOWN
    yield "Date", _date(begun)
    yield "Round", row["round"] or _UNKNOWN
    for side in ("white", "black"):
        yield side.capitalize(), called[row[side]]
    yield "Result", PGN_RESULTS[row["outcome"]]
    for side in ("white", "black"):
        if row[f"{side}_rating"] is not None:
            yield f"{side.capitalize()}Elo", str(row[f"{side}_rating"])
    ending = _ENDINGS.get(row["termination"], "normal")
    if ending:
        yield "Termination", ending
    # PGN would say that a game of a server has no moves, if only its moves are unknown; a game that is too short to be
    # rated would be too short elsewhere, too.
    if not has_moves and (row["half_moves"] is not None or game_address(key)):
        yield "PlyCount", _UNKNOWN if row["half_moves"] is None else str(row["half_moves"])
    yield "Rated", "yes" if row["rated"] else "no"
    yield from _instants(row["started_at"], row["ended_at"])
    # PGN 9.7: the tag SetUp says that the game began with the position of the tag FEN.
    if start != START:
        yield "SetUp", "1"
        yield "FEN", start


def _date(instant: str) -> str:
    """Return the day of an instant as PGN has it (8.1.1.3); unknown parts are ??."""
    return ".".join([*instant[:_DAY].split("-"), "??", "??"][:3])


def _instants(started: str | None, ended: str) -> Iterator[tuple[str, str]]:
    """Yield the tags of a game's start, to the second (9.3), and of its end, if that says more than its date."""
    # A fraction of a second has no place in a tag: without it the game would have another end than the known one.
    if started is not None and len(started) == _SECOND:
        yield "UTCDate", _date(started)
        yield "UTCTime", started[_DAY + 1 : -1]
    if len(ended) == _SECOND and ended != started:
        yield "EndDate", _date(ended)
        yield "EndTime", ended[_DAY + 1 : -1]
    elif ended[:_DAY] != (started or ended)[:_DAY]:
        yield "EndDate", _date(ended)


def _numbered(moves: Sequence[str], position: Position) -> Iterator[str]:
    """Yield the moves with their numbers; Black's if the move is the first one, or follows a clock (8.2.2.2)."""
    number, is_white = position.number, position.white
    for place, move in enumerate(moves):
        if is_white:
            yield f"{number}."
        elif place == 0 or "{" in moves[place - 1]:
            yield f"{number}..."
        yield move
        number += not is_white
        is_white = not is_white
