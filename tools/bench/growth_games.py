"""Games as a server has them: keys in random order, a tenth in tournaments, and, if wanted, moves of some of them.

They are written block by block, so that memory does not grow with their number, and are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.runtime.lazy import np, pl

from .datasets import Columns, ending_blocks, game_rows

if TYPE_CHECKING:
    import numpy.typing as npt
    from polars import DataFrame

BLOCK = 500_000  # games that are made at a time
LETTERS = 26
_HALF = LETTERS**4  # numbers of four letters: half of a key
_SHARE, _WITH_MOVES = 0.1, 1 / 3  # of the games: in tournaments, with moves
_EVENT, _ROUNDS = 90, 9  # games and rounds of a tournament
_WHITE, _BLACK = (("Nf3", "Ng1"), ("Nh3", "Ng1"), ("Nc3", "Nb1"), ("Na3", "Nb1")), (
    ("Nf6", "Ng8"), ("Nh6", "Ng8"), ("Nc6", "Nb8"), ("Na6", "Nb8"),
)  # fmt: skip
_TOURS = 20  # of knights, out and back, which make a game of 80 half-moves


def keys(index: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a key of eight letters for the number of each game: no key twice, and in no order."""
    # rounds of a Feistel cipher, each of which is one to one whatever is added
    left, right = index // _HALF, index % _HALF
    for factor in (2_654_435_761, 40_503, 2_246_822_519, 3_266_489_917):
        mixed = (right + 1) * factor
        left, right = right, (left + (mixed ^ (mixed >> 15))) % _HALF
    digits = [half // LETTERS**place % LETTERS for half in (left, right) for place in range(4)]
    return (np.stack(digits, axis=1) + ord("a")).astype(np.uint8).view("S8").ravel().astype(str)


def write_games(path: Path, games: int, tail: int, players: int, *, with_moves: bool = False) -> None:
    """Write games that end with the common end of sets, as CSV, or as PGN if some have moves.

    Args:
        path: the file.
        games: how many.
        tail: the length of the end.
        players: how many play it.
        with_moves: whether a third of the games has moves.
    """
    rng, first, events = np.random.default_rng(3), 0, 0
    with path.open("wb") as file:
        for columns in ending_blocks(games, tail, players, BLOCK):
            rows, events = _rows(columns, first, events, rng)
            if with_moves:
                file.writelines(_pgn(rows, rng))
            else:
                rows.write_csv(file, include_header=first == 0)
            first += len(rows)


def _rows(columns: Columns, first: int, events: int, rng: np.random.Generator) -> tuple[DataFrame, int]:
    """Return the rows of a block, and the number of games in tournaments so far."""
    count = len(columns["white"])
    is_event = rng.random(count, np.float32) < _SHARE
    place = events + np.cumsum(is_event) - 1
    frame = game_rows(
        columns,
        pl.lit(pl.Series(keys(np.arange(first, first + count)))),
        tournament=pl.when(pl.lit(pl.Series(is_event))).then(pl.format("Open {}", pl.lit(pl.Series(place // _EVENT)))),
        round=pl.when(pl.lit(pl.Series(is_event))).then(pl.lit(pl.Series(place % _EVENT // (_EVENT // _ROUNDS) + 1))),
    )
    return frame, events + int(is_event.sum())


def _pgn(rows: DataFrame, rng: np.random.Generator) -> Iterator[bytes]:
    """Yield games in PGN; those with moves have each their own."""
    has_moves = rng.random(len(rows)) < _WITH_MOVES
    tours = rng.integers(0, len(_WHITE) * len(_BLACK), (len(rows), _TOURS))
    for row, is_played, chosen in zip(rows.iter_rows(named=True), has_moves, tours, strict=True):
        day, time = row["ended_at"][:10].replace("-", "."), row["ended_at"][11:19]
        tags = {
            "Event": row["tournament"] or "Rated game", "Site": f"https://lichess.org/{row['key']}", "Date": day,
            "Round": row["round"] or "-", "White": row["white"], "Black": row["black"], "Result": row["result"],
            "UTCDate": day, "UTCTime": time, "TimeControl": "300+0", "Termination": "Normal",
        }  # fmt: skip
        moves = f"{_movetext(chosen)} " if is_played else ""
        yield "".join(f'[{name} "{value}"]\n' for name, value in tags.items()).encode()
        yield f"\n{moves}{row['result']}\n\n".encode()


def _movetext(tours: npt.NDArray[Any]) -> str:
    moves = []
    for number, tour in enumerate(tours.tolist()):
        white, black = _WHITE[tour % len(_WHITE)], _BLACK[tour // len(_WHITE)]
        moves += [f"{2 * number + step + 1}. {white[step]} {black[step]}" for step in (0, 1)]
    return " ".join(moves)
