"""The people as the journal says that they are called, for a reader who cannot bring a file to that state.

Names that were sealed and still wait for their players are read as theirs; who was erased is read as erased. For this
connection alone a view stands before the table: nothing is written to the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ledger.players.people_layouts import RENAMINGS_SINCE, layout

if TYPE_CHECKING:
    import sqlite3

_SEALED = "CREATE TEMP TABLE IF NOT EXISTS sealed_salts(salt BLOB PRIMARY KEY)"
_HIDDEN = "CREATE TEMP TABLE IF NOT EXISTS hidden_players(player INTEGER PRIMARY KEY)"
# A row that somebody else brings to its end meanwhile is gone from the table, and the player's own row says the same.
_RENAMED = (
    "LEFT JOIN main.renaming AS r ON r.player = p.player AND p.salt IS NOT NULL "
    "AND r.salt IN (SELECT salt FROM temp.sealed_salts)"
)
_AS_IT_STANDS = "LEFT JOIN (SELECT NULL AS player, NULL AS name, NULL AS salt) AS r ON r.player = p.player"
_VIEW = """
CREATE TEMP VIEW people AS
SELECT p.player, iif(h.player IS NULL, p.identity, NULL) AS identity,
  iif(h.player IS NULL, coalesce(r.name, p.name), NULL) AS name,
  iif(h.player IS NULL, coalesce(r.salt, p.salt), NULL) AS salt, p.joined_at
FROM main.people AS p LEFT JOIN temp.hidden_players AS h ON h.player = p.player {renamed}
"""


def show(connection: sqlite3.Connection, *, sealed: Iterable[bytes] = (), hidden: Iterable[int] = ()) -> None:
    """Read the people so from now on.

    Args:
        connection: to a people file.
        sealed: salts of the names that wait and that the journal sealed.
        hidden: numbers of those who were erased.
    """
    connection.execute(_SEALED)
    connection.execute(_HIDDEN)
    connection.executemany("INSERT OR IGNORE INTO temp.sealed_salts(salt) VALUES (?)", [(salt,) for salt in sealed])
    connection.executemany("INSERT OR IGNORE INTO temp.hidden_players VALUES (?)", [(player,) for player in hidden])
    connection.execute("DROP VIEW IF EXISTS temp.people")
    has_renamings = layout(connection) >= RENAMINGS_SINCE
    connection.execute(_VIEW.format(renamed=_RENAMED if has_renamings else _AS_IT_STANDS))
