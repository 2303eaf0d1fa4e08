"""The statements about names, written once for SQLite and PostgreSQL, and what a store does to run them.

A statement is SQL that both understand, with marks that each store translates:

* ``{s}.people`` is a table as it is stored; ``{people}`` are the people as they are shown;
* ``:name`` is a value; ``IN :name`` compares with a list of numbers or of texts;
* ``strpos(text, part)`` is the place of a part within a text, from 1; 0 if it is not there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

Value = str | int | bytes | list[int] | list[str] | None


class NamesDatabase(ABC):
    """The tables of one store of names, in a file or on a server.

    Attributes:
        path: the store as messages name it; never with a password.
        refusal: why nothing may be written, if it was found out at opening.
        sealed: salts of pending names to which the journal committed: they are shown as their players' names.
        hidden: numbers of players who are shown as erased.
    """

    path: str
    refusal: str | None = None
    sealed: set[bytes]
    hidden: set[int]

    @abstractmethod
    def rows(self, query: str, **values: Value) -> list[Any]:
        """Return the rows of an SQL query."""

    @abstractmethod
    def run(self, statement: str, **values: Value) -> int:
        """Run an SQL statement within the write transaction, and return the number of rows that it changed."""

    @abstractmethod
    def add(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> int:
        """Add many rows within the write transaction; return how many the table took.

        Args:
            table: its name, without a schema.
            columns: name -> type, as PostgreSQL's catalogue has it.
            rows: values in that order.
        """

    @abstractmethod
    def writing(self, patience: float | None = None) -> AbstractContextManager[None]:
        """Open one write transaction, committed when the block ends without an error.

        Args:
            patience: seconds to wait for other writers; by default as long as ever.

        Raises:
            StorageError: nothing may be written.
        """

    def is_upgraded(self) -> bool:
        """Return whether the store has all tables: a file of release 0.1.0 has its people alone."""
        return True

    def has_index(self, _table: str) -> bool:
        """Return whether a table of an index of names exists.

        In a file the first names that enter it make it.
        """
        return True

    def _people(self, sealed_salts: str) -> str:
        """Return the SQL of the people as they are shown; *sealed_salts* is the SQL of that list."""
        if not (self.sealed or self.hidden):
            return "{s}.people AS people"
        name, salt, renaming = "p.name", "p.salt", ""
        if self.sealed:
            # A row that another process completes meanwhile is gone, and the player's own row says the same.
            name, salt = "coalesce(r.name, p.name)", "coalesce(r.salt, p.salt)"
            renaming = (
                "LEFT JOIN {s}.renaming r ON r.player = p.player AND p.salt IS NOT NULL AND r.salt " + sealed_salts
            )
        shown = ", ".join(
            f"CASE WHEN p.player IN :hidden THEN NULL ELSE {value} END AS {column}"
            for column, value in (("identity", "p.identity"), ("name", name), ("salt", salt))
        )
        return f"(SELECT p.player, {shown}, p.joined_at FROM {{s}}.people p {renaming}) AS people"
