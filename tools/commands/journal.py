"""Commands for a ledger whose journal is on a server: what the server promises, and a node that follows."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from ledger.answers.journal_status import journal_status
from ledger.answers.rows import as_row
from ledger.errors import StorageError
from ledger.ledger import Ledger

from .. import output
from ..progress import Bars
from . import DB, Number

EVERY = 1.0  # seconds
LONGEST = 60.0  # seconds between two attempts to reach a server that does not answer


@click.command()
@DB
@output.format_options
def journal(db_path: str, fmt: str | None) -> None:
    """Where the journal is, what is promised of what it acknowledges, and how far this node's views are.

    Of a journal on a server: its address and schema, the server that takes writes, for whom it waits before it
    acknowledges, and who follows. "promise" is "quorum" where it waits for another server, "one server" where it
    does not, "file" where the journal is a file of this machine.

    \b
    Example:
      rating-ledger journal club.db
      rating-ledger journal club.db -t
    """
    with Ledger.open(db_path, follow=False) as ledger:
        output.write_one(as_row(journal_status(ledger)), fmt)


@click.command()
@DB
@click.option("--every", type=Number(0.05, 3_600), default=EVERY, show_default=True, help="Seconds to wait.")
@click.option("--until", type=click.IntRange(1), metavar="POSITION", help="End once so many entries are folded in.")
def follow(db_path: str, every: float, until: int | None) -> None:
    """Keep this node's views up to date with the journal, on any node, until Ctrl-C.

    Nothing is folded in that could still be lost with a server: only what is on every server that it waits for. Where
    the server is not reached, it is tried again, at longer and longer pauses of a minute at most. When the
    command begins, the server must be there: a service should be started again where it fails (Restart=on-failure).

    \b
    Example:
      rating-ledger follow club.db
      rating-ledger follow club.db --until 1000000
    """
    with Ledger.open(db_path):  # what is wrong from the beginning does not mend itself
        pass
    pause, last_words, position = every, "", -1
    while until is None or position < until:
        try:
            with Ledger.open(db_path) as ledger:
                for position in _positions(ledger, every):
                    pause, last_words = every, ""
                    if until is not None and position >= until:
                        break
        except StorageError as error:
            if str(error) != last_words:
                last_words = str(error)
                output.error(f"{last_words}; it is tried again")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)


def _positions(ledger: Ledger, every: float) -> Iterator[int]:
    """Fold in new entries, for ever, and report the position of the views after each step."""
    position = -1
    while True:
        if ledger.journal.size() != position:
            with Bars() as bars:
                ledger.ensure_up_to_date(bars)
            position = ledger.views.position()
            output.remark(f"{ledger.path.name}: level with entry {position:,}")
            yield position
        time.sleep(every)
