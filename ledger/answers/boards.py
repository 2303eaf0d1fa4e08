"""The final position of a recorded game, reached by playing through its stored moves."""

from __future__ import annotations

from typing import NamedTuple

import attrs

from ledger.answers.asking import in_one_snapshot, names
from ledger.answers.read_models import game_row
from ledger.board.playing import faultless, replay
from ledger.board.position import START, Position
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.journal import listing
from ledger.runtime.calls import checked

PGN_RESULTS = {"white": "1-0", "black": "0-1", "draw": "1/2-1/2", "none": "*"}  # result of PGN by outcome


@attrs.frozen(kw_only=True, slots=False)
class FinalPosition:
    """The final position of a game, with its title and last move."""

    game: str = documented("key of the game")
    title: str = documented("who played, the result and the day")
    half_moves: int = documented("how many half-moves it has", minimum=1)
    last_move: str = documented("the last of them, in algebraic notation")
    fen: str = documented("the position after it, as FEN")


class FinalBoard(NamedTuple):
    """A game played through to its final position.

    Attributes:
        game: its key.
        title: ``Ann - Bob 1-0, 2024-05-01``, with its current facts.
        moves: the moves of the main line in algebraic notation.
        clocks: the clock after each move, such as ``0:02:58``, ``""`` where none is known; empty without clocks.
        position: the final position.
    """

    game: str
    title: str
    moves: list[str]
    clocks: list[str]
    position: Position

    @property
    def answer(self) -> FinalPosition:
        """The final position in the form of the JSON answer."""
        return FinalPosition(
            game=self.game,
            title=self.title,
            half_moves=len(self.moves),
            last_move=self.moves[-1],
            fen=self.position.fen,
        )


class StoredGame(NamedTuple):
    """The key of a recorded game, the position of its entry in the journal, and its movetext, if any is stored."""

    key: str
    position: int
    movetext: str | None


@checked
def stored_game(ledger: OpenLedger, game: str) -> StoredGame:
    """Return the stored movetext of a game, named by its key, the id that its server gave it, or its web address.

    Raises:
        UnknownNameError: no such game, or several.
    """
    entries = listing.entries_of_game(ledger.snapshot_journal, game)
    texts = (entry.facts.get("text") for entry in entries)
    # At most one entry has a text: a supplement fills blank fields, and contradicts nothing.
    text = next((text for text in texts if text is not None), None)
    movetext = None if text is None else ledger.movetext(text)
    return StoredGame(entries[0].key.removeprefix("game:"), entries[0].position, movetext)


@in_one_snapshot
def final_board(ledger: OpenLedger, game: str, start: str = START) -> FinalBoard:
    """Return the final position of a game, played through from *start*.

    Args:
        ledger: the ledger.
        game: its key, the id that its server gave it, or its web address.
        start: the initial position as FEN: the ledger stores moves, not where they begin.

    Raises:
        UnknownNameError: no such game, or its moves are unknown.
        MalformedError: *start* is no FEN, or a move cannot be played from there.
    """
    key, entry, text = stored_game(ledger, game)
    if text is None:
        hint = "no source had them; import a file that has them, and they are added to the game"
        raise UnknownNameError("moves of game", key, hint)
    try:
        read = faultless(text)
        if not read.moves:
            raise UnknownNameError("moves of game", key, "its stored text has none")
        position = replay(read.moves, start)
    except MalformedError as failure:
        hint = "" if start != START else "; a game that did not begin as usual needs --start FEN"
        raise MalformedError([f"game {key!r}: {problem}{hint}" for problem in failure.problems]) from None
    row = game_row(ledger, entry)
    called = names(ledger, {row["white"], row["black"]})
    title = f"{called[row['white']]} - {called[row['black']]} {PGN_RESULTS[row['outcome']]}, {row['ended_at'][:10]}"
    return FinalBoard(key, title, read.moves, read.clocks, position)
