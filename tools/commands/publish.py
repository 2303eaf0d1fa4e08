"""Commands about the lists that are shown to the world: publish one, see which there are, see how two differ."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import click

from ledger.answers import differences, publications
from ledger.answers.asking import names
from ledger.answers.counting_lists import waiting_games
from ledger.answers.player_details import PlayerGroup
from ledger.answers.rows import as_rows
from ledger.errors import MalformedError, PublicationError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.ledger import Ledger
from ledger.publishing.publications import ONLY_NOTED, Complaint, Published

from .. import limits, output
from ..progress import Bars
from ..wording import counted
from . import AS_IF, AT_LEAST, DB, POOL, REFUSED, VERIFY, open_up_to_date
from .group_options import grouping
from .list_words import tell_counting_lists
from .reports import note_reports_to_send
from .token_options import identifying, token_given

LISTS_IN_A_TABLE, PLAYERS_IN_A_TABLE = 20, 20  # where the reader does not say how many
_FIRST_COMPLAINTS = 100


@click.command()
@DB
@POOL
@click.option("--at", "as_of", required=True, metavar="INSTANT", help="The list in force at the end of that day.")
@click.option("--despite-complaints", is_flag=True, help="Publish it though something looks wrong.")
@click.option("--dry-run", is_flag=True, help="Show what looks wrong and what waits for a later list; record nothing.")
@identifying
def publish(
    db_path: str,
    pool: str | None,
    as_of: str,
    despite_complaints: bool,
    dry_run: bool,
    by: str | None,
    token_file: str | None,
) -> None:
    """Freeze a rating list as it is shown to the world: its rows are kept, and the journal says what they were.

    It is checked first for open proposals, namesakes, changes above the policy 'publishing', players who vanished, and
    impossible ratings. Each is named, and nothing is recorded (exit code 1) without --despite-complaints. Namesakes
    whom a register tells apart, and players who leave by a rule, are only noted. What the journal says later of that
    day is a revised list: 'runs --on', 'show' and 'diff' show both. A list that is published already, with the same
    rows, is not published again; with other rows it gets the next edition. Where tokens are set up, it requires an
    approver's. Reports to a federation whose results were corrected since they were sent are noted. Games that were
    reported after their own list was published are named: they wait for a later list. --dry-run says all of that and
    records nothing.

    \b
    Example:
      rating-ledger publish club.db --at 2024-02-29
      rating-ledger publish club.db --at 2024-02-29 --dry-run
      rating-ledger publish club.db --pool rapid --at 2024-02 --by eve --despite-complaints
    """
    _check_instant(as_of)
    with Ledger.open(db_path) as ledger:
        with Bars() as bars:
            ledger.ensure_up_to_date(bars)
        if dry_run:
            _tell_draft(ledger, as_of, pool)
            return
        try:
            done = ledger.publications.publish(
                as_of, pool, actor=by, despite_complaints=despite_complaints, token=token_given(ledger, token_file)
            )
        except PublicationError as refusal:
            _tell(ledger, refusal.complaints)
            complaints = counted(len(refusal.complaints), "complaint")
            output.error(
                f"{complaints}: nothing was recorded; correct what is wrong, or publish with --despite-complaints"
            )
            sys.exit(REFUSED)
        _tell(ledger, done.complaints)
        ledger.catch_up()
        output.remark(_words(ledger, done))
        note_reports_to_send(ledger)
        _tell_waiting(ledger, pool, as_of)


def _tell_draft(ledger: Ledger, as_of: str, pool: str | None) -> None:
    """Say what would be published, what looks wrong with it, and what waits for a later list."""
    draft = ledger.publications.draft(as_of, pool)
    complaints = ledger.publications.complaints(draft)
    _tell(ledger, complaints)
    output.remark(f"{draft.pool.name}@{as_of}: {counted(len(draft.rows), 'player')} would be on the list")
    _tell_waiting(ledger, pool, as_of)
    output.remark("dry run: nothing was recorded")
    if any(complaint.what not in ONLY_NOTED for complaint in complaints):
        sys.exit(REFUSED)


def _tell_waiting(ledger: Ledger, pool: str | None, as_of: str) -> None:
    waiting = waiting_games(ledger, pool, instant_end_ms(as_of))
    tell_counting_lists(ledger, [row for row in waiting if row.late], "waiting: ")


def _check_instant(as_of: str) -> None:
    try:
        instant_ms(as_of)
    except ValueError as error:
        raise click.UsageError(f"--at: {error}") from None


def _tell(ledger: Ledger, complaints: Sequence[Complaint]) -> None:
    shown = complaints[:_FIRST_COMPLAINTS]
    called = names(ledger, {player for complaint in shown for player in complaint.players[:1]})
    for complaint in shown:
        who = f"{called[complaint.players[0]]} (player {complaint.players[0]}) " if complaint.players else ""
        if complaint.what in ONLY_NOTED:
            output.remark(f"note: {who}{complaint.text}")
        else:
            output.error(f"{who}{complaint.text}", word=f"{complaint.what}:")
    if len(complaints) > len(shown):
        output.remark(f"and {len(complaints) - len(shown):,} more")


def _words(ledger: Ledger, done: Published) -> str:
    event = done.publication.event
    word = "published" if done.recorded else "published already"
    return f"{done.publication.name} {word}: {counted(event.players, 'player')}; head {ledger.head()}"


@click.command()
@DB
@click.argument("published", metavar="[LIST]", required=False)
@POOL
@limits.option(LISTS_IN_A_TABLE, "lists, the newest ones; of a LIST how many players, the best first")
@grouping
@click.option("--restore-rows", is_flag=True, help="Where rows of a LIST are gone, work them out again and keep them.")
@AT_LEAST
@VERIFY
@output.format_options
def lists(
    db_path: str,
    published: str | None,
    pool: str | None,
    limit: int | None,
    restore_rows: bool,
    group: PlayerGroup,
    fmt: str | None,
    verify: bool,
) -> None:
    """Show the published lists; or one of them as it was, next to what the journal says now.

    LIST is POOL@INSTANT/EDITION as this command names it, or POOL@INSTANT for its last edition. "shown" and "rating"
    are the numbers that were published, "revised_rating" is that of now for the same list. Names are those of now.
    --restore-rows works the rows of a LIST out from the entries that it followed from, and keeps them if their digest
    is the published one.

    \b
    Example:
      rating-ledger lists club.db -t
      rating-ledger lists club.db standard@2024-02-29 -t
      rating-ledger lists club.db standard@2024-02-29/1 --csv > published.csv
      rating-ledger lists club.db standard@2024-02-29 --club 'Ek SK' -t
    """
    if (restore_rows or not group.is_everybody) and published is None:
        option = "--restore-rows" if restore_rows else "a group of players"
        raise click.UsageError(f"{option} goes with a LIST")
    with open_up_to_date(db_path, verify=verify) as ledger:
        if restore_rows and published is not None:
            with Bars() as bars:
                ledger.publications.restore_rows(ledger.publications.named(published), actor="admin", progress=bars)
        if published is None:
            with ledger.read_snapshot():
                rows = as_rows(publications.published_lists(ledger, None if pool is None else ledger.pool(pool).name))
            shown_rows = limits.shown(limit, fmt, LISTS_IN_A_TABLE)
            columns = ("list", "players", "published_at", "by", "scheme", "entry")
            rows = [{column: row[column] for column in columns} for row in rows] if fmt == "table" else rows
            limits.write(rows, fmt, shown_rows, newest_last=True)
        else:
            with ledger.read_snapshot():
                rows = as_rows(publications.published_list_rows(ledger, ledger.publications.named(published), group))
            limits.write(rows, fmt, limits.shown(limit, fmt, PLAYERS_IN_A_TABLE))


@click.command()
@DB
@click.argument("published", metavar="LIST")
@click.argument("other", metavar="LIST")
@limits.option(PLAYERS_IN_A_TABLE, "players, the best first")
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def diff(
    db_path: str, published: str, other: str, limit: int | None, as_if: int | None, fmt: str | None, verify: bool
) -> None:
    """Show how two lists differ: who was added, unchanged, changed or removed, and why.

    A LIST is POOL@INSTANT/EDITION, POOL@INSTANT (its last edition), POOL@INSTANT/now (what the journal says now of that
    day), or 'now' (what it says now of the other list's day). "why" leads from the one rating to the other, step by
    step: each correction, late result or change of scheme that moved the player, and what was played between the two
    days. A table leaves out who is unchanged, and counts them below.

    \b
    Example:
      rating-ledger diff club.db standard@2024-01-31 standard@2024-02-29 -t
      rating-ledger diff club.db standard@2024-02-29/1 now --csv > revised.csv
      rating-ledger diff club.db standard@2024-02-29/1 now --as-if 12
    """
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        try:
            earlier, later = differences.lists_to_compare(ledger, published, other)
        except MalformedError as error:
            raise click.UsageError(str(error)) from None
        with Bars() as bars:
            rows = differences.list_differences(ledger, earlier, later, bars)
        if fmt != "table":
            limits.write(as_rows(rows), fmt, limits.shown(limit, fmt, PLAYERS_IN_A_TABLE))
            return
        differ = [_for_people(row) for row in rows if row.change != differences.UNCHANGED]
        limits.write(differ, fmt, limits.shown(limit, fmt, PLAYERS_IN_A_TABLE))
        count = Counter(row.change for row in rows)
        words = (differences.CREATED, differences.UNCHANGED, differences.CHANGED, differences.REMOVED)
        output.remark(f"{earlier.name} to {later.name}: " + ", ".join(f"{count[word]:,} {word}" for word in words))


def _for_people(row: differences.ListDifference) -> output.Row:
    difference = output.shown_difference(row.rating_before, row.rating_after)
    return {
        "change": row.change,
        "name": row.name,
        "rank": f"{_shown(row.rank_before)} -> {_shown(row.rank_after)}",
        "before": row.rating_before,
        "after": row.rating_after,
        "difference": None if difference is None else int(difference),
        "why": "; ".join(map(_step, row.why)),
    }


def _step(step: differences.DifferenceStep) -> str:
    if step.before is None or step.after is None:
        return f"{step.cause}: {_shown(step.before)} -> {_shown(step.after)}"
    return f"{step.cause}: {step.after - step.before:+.1f}"


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:.0f}"
