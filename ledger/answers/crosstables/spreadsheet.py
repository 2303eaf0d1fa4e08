"""A cross-table as rows for a spreadsheet: a row a player, numbers as numbers. Made from the page alone."""

from __future__ import annotations

from typing import Any

from ledger.answers.crosstables.page import Crosstable


def rows(page: Crosstable) -> list[dict[str, Any]]:
    """A row a player, the best first, all with the same columns; ``vs_3`` are the marks against row 3 of the table.

    ``rating`` is the enrolment rating; that and all others are in points, unrounded. ``TPR_`` is followed by the name
    of the performance rating. Tie-breaks are called by their abbreviations.
    """
    found = []
    for standing in page.standings:
        met = {meeting.opponent_number: meeting.marks for meeting in standing.meetings}
        row: dict[str, Any] = {
            "number": standing.number,
            "place": standing.place,
            "player": standing.player,
            "name": standing.name,
            "rating": standing.enrolment_rating,
            "closing_rating": standing.closing_rating,
            "games": standing.games,
            "wins": standing.wins,
            "draws": standing.draws,
            "losses": standing.losses,
            "points": standing.points,
        }
        row |= {column.short: standing.tie_breaks[column.name] for column in page.tie_breaks}
        row |= {
            "opponents_mean": standing.opponents_mean,
            f"TPR_{page.performance.variant}": standing.performance,
            "er_offset_percent": standing.er_offset,
            "upsets": standing.upsets,
        }
        row |= {f"vs_{other.number}": met.get(other.number) for other in page.standings}
        found.append(row)
    return found
