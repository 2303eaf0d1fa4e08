"""The command that lists the reports that were sent to a federation, and those that are to be sent again."""

from __future__ import annotations

import click

from ledger.answers.rows import as_rows
from ledger.answers.sent_reports import SentReport, sent_reports
from ledger.ledger import Ledger

from .. import limits, output
from . import AT_LEAST, DB, POOL, VERIFY, open_up_to_date

REPORTS_IN_A_TABLE = 20


@click.command()
@DB
@POOL
@click.option("--again", is_flag=True, help="Only those that are to be sent again.")
@limits.option(REPORTS_IN_A_TABLE, "reports, the newest ones")
@AT_LEAST
@VERIFY
@output.format_options
def reports(db_path: str, pool: str | None, again: bool, limit: int | None, fmt: str | None, verify: bool) -> None:
    """List the reports of tournaments that were sent to a federation, and the results that were corrected since.

    Each tournament and period has its last report. 'export DB tournament --sent DAY' records that one was sent.
    "again" says whether a result is another one now: then send the next file, which names the corrected results.

    \b
    Example:
      rating-ledger reports club.db -t
      rating-ledger reports club.db --again
    """
    with open_up_to_date(db_path, verify=verify) as ledger:
        sent = sent_reports(ledger, None if pool is None else ledger.pool(pool).name, again=again)
        shown = limits.shown(limit, fmt, REPORTS_IN_A_TABLE)
        if fmt != "table":
            limits.write(as_rows(sent), fmt, shown, newest_last=True)
            return
        columns = ("tournament", "edition", "sent_on", "form", "again")
        rows = [{column: getattr(report, column) for column in columns} for report in sent]
        limits.write(rows, fmt, shown, newest_last=True)
        for report in sent:
            for change in report.changed:
                output.remark(f"{report.tournament}: {change}")


def note_reports_to_send(ledger: Ledger, player: int | None = None) -> None:
    """Note the reports that are to be sent again; of a *player* those with a corrected result of that player."""
    for report in sent_reports(ledger, again=True):
        if player is None or _is_of(report, player):
            output.remark(f"note: {report}")


def _is_of(report: SentReport, player: int) -> bool:
    return any(player in {change.white, change.black} for change in report.changed)
