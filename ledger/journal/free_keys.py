"""Keys for games without a key of their own whose made key is another game's: the next that is free.

An importer makes a key of what tells games apart in its file. Two games of two files may come to one key, such as two
that a pair played on one day. Whether a telling is of another game is judged in ``told_again``.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

MOST = 64  # games of one made key


def free_key(made: str, number: int) -> str:
    """The key of the game that is the *number*-th of those to whose facts *made* belongs, from 2; made like it."""
    source = made.partition(":")[0]
    return f"{source}:{sha256(f'{made} {number}'.encode()).hexdigest()[:24]}"


def with_next_keys(games: DataFrame, number: int) -> DataFrame:
    """The games with the *number*-th key of their made ones, which stay in column ``made``.

    Whoever finds a key to be another game's asks for the next number, so that a file that comes again ends at the same
    key and tells nothing new.
    """
    made = games["made" if "made" in games.columns else "game"]
    keys = [free_key(key, number) for key in made.to_list()]
    return games.with_columns(made.alias("made"), pl.Series("game", keys, dtype=pl.String))
