"""Keys for games without a key of their own whose made key is another game's: the next that is free.

An importer makes a key of what tells games apart in its file. Two games of two files may come to one key, such as two
that a pair played on one day. Whether a telling is of another game is judged in ``told_again``.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ledger.journal.told_again import ToldAgain, told_again
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

    from ledger.journal.supplements import Find

MOST = 64  # games of one made key


def free_key(made: str, number: int) -> str:
    """The key of the game that is the *number*-th of those to whose facts *made* belongs, from 2; made like it."""
    source = made.partition(":")[0]
    return f"{source}:{sha256(f'{made} {number}'.encode()).hexdigest()[:24]}"


def with_free_keys(find: Find, games: DataFrame, first: int, now_ms: int) -> tuple[DataFrame, ToldAgain]:
    """The games with the keys that they are recorded under, and what those are whose keys are known.

    A game whose made key is another game's bears the first of that key's further ones that is free or is its own
    already, so that a file that comes again tells nothing new.

    Args: as of ``told_again``.
    """
    again = told_again(find, games, first, now_ms)
    made: dict[int, str] = {}
    numbers: dict[int, int] = {}
    while others := [row for row in again.others if numbers.get(row, 1) < MOST]:
        keys = games["game"].to_list()
        for row in others:
            numbers[row] = numbers.get(row, 1) + 1
            keys[row] = free_key(made.setdefault(row, keys[row]), numbers[row])
        games = games.with_columns(pl.Series("game", keys, dtype=pl.String))
        again = told_again(find, games, first, now_ms)
    return games, again
