"""How contracts compare: rows of views whatever their positions and numbers, floats by bits, an expected error."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ledger.ratings import queries
from ledger.ratings.views_file import BOUNDS

if TYPE_CHECKING:
    import sqlite3

_PLAYER_COLUMNS = frozenset({"player", "opponent", "white", "black"})
_NOT_FACTS = frozenset({"progress", "projections", BOUNDS})

Row = tuple[tuple[str, Any], ...]


def table_rows(connection: sqlite3.Connection, table: str) -> list[Row]:
    """All rows of a table, floats by their bits, in one order."""

    def exact(value: object) -> object:
        return value.hex() if isinstance(value, float) else value

    rows = queries.dictionaries(connection, f'SELECT * FROM "{table}"')
    return sorted((tuple((name, exact(value)) for name, value in sorted(row.items())) for row in rows), key=repr)


def in_terms_of_facts(
    connection: sqlite3.Connection, identities: Mapping[int, str] | None = None
) -> dict[str, list[Row]]:
    """Every table's rows with a game's key for its position, a pool's name and a player's identity for the number.

    Two databases that know the same facts give the same rows, in whatever order the facts arrived.

    Args:
        connection: the views.
        identities: identity of each player number; by default the numbers stay.
    """
    keys = dict(connection.execute("SELECT position, key FROM games"))
    pools = dict(connection.execute("SELECT pool, name FROM pools"))

    def readable(row: Row) -> Row:
        plain = dict(row)
        plain.pop("position", None)
        for name, value in plain.items():
            if name in _PLAYER_COLUMNS and identities is not None:
                plain[name] = identities[value]
            elif name == "game":
                plain[name] = keys[value]
            elif name == "pool":
                plain[name] = pools[value]
        return tuple(plain.items())

    return {
        table: sorted((readable(row) for row in table_rows(connection, table)), key=repr)
        for table in queries.tables(connection)
        if table not in _NOT_FACTS
    }


@contextmanager
def refused(*errors: type[BaseException]) -> Iterator[None]:
    """The block must end in one of *errors*.

    Raises:
        AssertionError: it did not.
    """
    try:
        yield
    except errors:
        return
    raise AssertionError(f"expected {' or '.join(error.__name__ for error in errors)}, but nothing was refused")


def bits(values: Iterable[float]) -> bytes:
    """The bit patterns of floats: 0.0 differs from -0.0, and NaN equals itself."""
    flat = [float(value) for value in values]
    return struct.pack(f"<{len(flat)}d", *flat)
