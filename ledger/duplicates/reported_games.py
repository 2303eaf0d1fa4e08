"""The interface through which duplicate detection reads the games of a file, as rows or as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from polars import DataFrame

SIDES = ("white", "black")


class ReportedGames(Protocol):
    """Games of one file in the fields of ``SourceGame``, and later in those of ``GameRecorded``."""

    def __len__(self) -> int: ...

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield each game as a mapping."""

    def row(self, place: int) -> Mapping[str, Any]:
        """Return one game as a mapping."""

    def column(self, name: str) -> list[Any]:
        """Return one field of all games."""

    def with_column(self, name: str, values: Sequence[str | None]) -> Self:
        """Return the games with one field of text replaced or added."""

    def keep(self, flags: Sequence[bool]) -> Self:
        """Return the games whose flag is true."""

    def players(self) -> dict[str, str]:
        """Return the name of each identity, in the order in which they get their numbers."""

    def reports(self) -> Iterator[tuple[str, str, int, str, bool]]:
        """Yield key, canonical facts, line, pool and whether the file numbers it, of each game that is an event."""

    def frame(self) -> DataFrame:
        """Return the games as columns."""
