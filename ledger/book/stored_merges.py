"""The numbers of a person whose accounts were merged, as they stand in the views. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.book.corrections import below, root

if TYPE_CHECKING:
    import sqlite3


def merges_in(connection: sqlite3.Connection) -> dict[int, int]:
    """By number of a merged player, the number that the player was merged into, directly."""
    return dict(connection.execute("SELECT player, into_player FROM merges").fetchall())


def numbers_of(connection: sqlite3.Connection, player: int) -> list[int]:
    """All numbers of the person who has this one, in their order.

    Args:
        connection: to views that are level with the journal.
        player: a number, merged or not.
    """
    merges = merges_in(connection)
    return sorted(below(merges, root(merges, player)))
