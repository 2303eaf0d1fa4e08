"""Tournament reports by hand: a header and lines of players, each field in its columns."""

from __future__ import annotations

from collections.abc import Sequence

HEADER = "012 Club open\n022 Springfield\n042 2024/05/01\n052 2024/05/03\n"


def player(
    rank: int, name: str, *cells: str, rating: str = "", fide: str = "", points: str = "", federation: str = ""
) -> str:
    """A player's line; a cell is such as ``2 w 1`` or ``0000 - H``, an empty one an absence."""
    head = f"001 {rank:4} {'':4} {name:33} {rating:>4} {federation:3} {fide:>11} {'':10} {points:>4} {'':4}"
    rounds = "".join(f"  {cell.partition(' ')[0]:>4}{cell[len(cell.partition(' ')[0]) :]:4}" for cell in cells)
    return head + rounds.rstrip()


def report(players: Sequence[str], *records: str) -> str:
    """A report of these players' lines; further records stand below them."""
    return HEADER + "".join(f"{line}\n" for line in (*players, *records))
