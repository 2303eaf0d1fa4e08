"""Cross-tables as rows of an export: a row for each player of each edition of a tournament.

The numbers are those of ``answers.crosstables``; here they only take their place in columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ledger.answers.crosstables.crosstable import TableChoice, crosstable
from ledger.answers.crosstables.listing import TournamentSearch, tournaments
from ledger.answers.crosstables.page import Crosstable
from ledger.answers.exports.columns import ColumnKind, ExportColumn
from ledger.book import tables
from ledger.book.tables import POINTS, ColumnDoc
from ledger.ledger import Ledger
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

DOC = "The cross-tables of tournaments, a row for each player of each edition, the best first."


def _column(name: str, kind: ColumnKind, doc: str, unit: str = "", *, optional: bool = False) -> ExportColumn:
    return ExportColumn(name=name, kind=kind, meaning=ColumnDoc(doc, unit), optional=optional)


def columns(name: ExportColumn) -> tuple[ExportColumn, ...]:
    """The columns; *name* is the one that tells who the player is."""
    return (
        _column("pool", ColumnKind.TEXT, "name of the pool"),
        _column("tournament", ColumnKind.TEXT, "name of the tournament"),
        _column("edition", ColumnKind.TEXT, "first day of the edition", "ISO 8601"),
        _column("number", ColumnKind.INTEGER, "the row of the table, from 1"),
        _column("place", ColumnKind.TEXT, "the place, such as 1, or 2-4 where it is shared"),
        ExportColumn(name="player", kind=ColumnKind.INTEGER, meaning=tables.PLAYER, optional=False),
        name,
        _column("enrolment_rating", ColumnKind.NUMBER, "rating before the first game in it", POINTS, optional=True),
        _column("closing_rating", ColumnKind.NUMBER, "rating after the last game in it", POINTS, optional=True),
        _column("games", ColumnKind.INTEGER, "games in the table", "games"),
        _column("points", ColumnKind.NUMBER, "points, those of forfeits and byes among them", "game points"),
        _column("wins", ColumnKind.INTEGER, "games won, forfeits among them", "games"),
        _column("draws", ColumnKind.INTEGER, "games drawn", "games"),
        _column("losses", ColumnKind.INTEGER, "games lost, forfeits among them", "games"),
        _column(
            "opponents_mean", ColumnKind.NUMBER, "mean enrolment rating of the opponents met", POINTS, optional=True
        ),
        _column("performance", ColumnKind.NUMBER, "performance rating", POINTS, optional=True),
        _column("variant", ColumnKind.TEXT, "which performance rating that is, such as fide_tpr"),
        _column("er_offset", ColumnKind.NUMBER, "100 (performance / enrolment rating - 1)", "per cent", optional=True),
        _column("upsets", ColumnKind.INTEGER, "upsets that the player brought about", "games"),
        _column(
            "results",
            ColumnKind.TEXT,
            "results against other rows: 2:1½ 5:0 is a win and a draw against row 2, a loss to 5",
        ),
    )


def frames(ledger: Ledger, pool: int | None, tournament: str | None) -> Iterator[DataFrame]:
    """The rows of each table, without the column of names.

    Args:
        ledger: a ledger whose views are level.
        pool: number of the pool; None: all.
        tournament: name of the tournament; None: all.
    """
    types = {
        column.name: column.type for column in columns(_column("name", ColumnKind.TEXT, "")) if column.name != "name"
    }
    for rated_by in ledger.pools():
        if pool in {None, rated_by.pool}:
            for row in tournaments(ledger, rated_by.name, TournamentSearch(text=tournament)):
                if tournament in {None, row.tournament}:
                    page = crosstable(ledger, row.tournament, rated_by.name, TableChoice(edition=row.first_day))
                    yield pl.DataFrame(_rows(page, row.first_day), types)


def _rows(page: Crosstable, edition: str) -> list[dict[str, Any]]:
    return [
        {
            "pool": page.pool,
            "tournament": page.tournament,
            "edition": edition,
            "number": standing.number,
            "place": standing.place,
            "player": standing.player,
            "enrolment_rating": standing.enrolment_rating,
            "closing_rating": standing.closing_rating,
            "games": standing.games,
            "points": standing.points,
            "wins": standing.wins,
            "draws": standing.draws,
            "losses": standing.losses,
            "opponents_mean": standing.opponents_mean,
            "performance": standing.performance,
            "variant": page.performance.variant,
            "er_offset": standing.er_offset,
            "upsets": standing.upsets,
            "results": " ".join(f"{met.opponent_number}:{met.marks}" for met in standing.meetings),
        }
        for standing in page.standings
    ]
