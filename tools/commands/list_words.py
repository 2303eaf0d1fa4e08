"""The lists in which games count, in words: after an import, and before and after a publication."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.answers.counting_lists import CountingList
from ledger.facts.words import LateReports
from ledger.ledger import Ledger

from .. import output
from ..wording import counted

TOURNAMENTS_SHOWN = 20


def tell_counting_lists(ledger: Ledger, rows: Sequence[CountingList], begin: str) -> None:
    """Print in which list the games of each tournament count, in pools with published lists or ``next-list``."""
    pools = {pool.name for pool in ledger.pools() if len(pool.published)} if rows else set()
    shown = [row for row in rows if row.pool in pools or row.late_reports is LateReports.NEXT_LIST]
    for row in shown[:TOURNAMENTS_SHOWN]:
        name = "games of no tournament" if row.tournament is None else f"tournament {row.tournament!r}"
        counts = "counts" if row.games == 1 else "count"
        output.remark(f"{begin}{name}: {counted(row.games, 'game')} {counts} {row.words}")
    if len(shown) > TOURNAMENTS_SHOWN:
        output.remark(f"{begin}and {len(shown) - TOURNAMENTS_SHOWN:,} more tournaments")
