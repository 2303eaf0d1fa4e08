"""The command ``correct preview``: what the approval of a proposal would move, as a table, as data, as a picture.

What moves is worked out by the library; nothing is written but the picture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import click

from ledger.answers import impacts
from ledger.answers.rows import as_row, as_rows
from ledger.correcting.previews import Impact
from ledger.ledger import Ledger

from .. import limits, move_pictures, output, pictures
from ..wording import counted, entries
from . import AT_LEAST, REFUSED, open_up_to_date
from .proposal_options import tell_doubts

MOVES_IN_A_TABLE = 20
_SHOWN = {"class": "class", "games": "games", "time_losses": "lost on time", "hera": "HERA", "hera_game": "HERA in"}


@click.command()
@click.argument("number", type=click.IntRange(1))
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw: .svg or .png.")
@limits.option(MOVES_IN_A_TABLE, "moves, the largest ones")
@AT_LEAST
@output.format_options
@click.pass_obj
def preview(db_path: str, number: int, picture: Path | None, limit: int | None, fmt: str | None) -> None:
    """Show what the approval of proposal NUMBER would change: whose rating, by how much. Nothing is written.

    The numbers are those that 'approve' will give, to the last bit, as long as nothing else is recorded before:
    'approve --seen POSITION' makes sure of that. New and lost places come first, then the largest moves. A rating is
    that after the last rated game; a rank is given where the last games alone decide it. Published lists that
    would say something else, as revised, are named.

    \b
    Example:
      rating-ledger correct club.db preview 12 -t
      rating-ledger correct club.db preview 12 --csv > moves.csv
      rating-ledger correct club.db preview 12 -t --picture moves.svg
    """
    if picture is not None:
        if picture.suffix not in pictures.KINDS:
            raise click.UsageError(f"--picture: a name that ends in .svg or .png, got {str(picture)!r}")
        pictures.check_available()
    with open_up_to_date(db_path) as ledger:
        impact = ledger.preview(number)
        answer = impacts.impact_in_full(ledger, impact)
        tell_doubts(ledger, ledger.corrections.proposal(number).changes)
    if picture is not None:
        output.save(picture, move_pictures.draw(impact, as_rows(answer.moves), picture.suffix))
    tell(impact, answer, limit, fmt)


def check_seen(ledger: Ledger, number: int, seen: int | None) -> int | None:
    """Return how many entries an approval may follow; show the effect if nobody has looked at it.

    Args:
        ledger: the ledger.
        number: of the proposal.
        seen: as the user gave it.

    Raises:
        SystemExit: facts were recorded after the proposal, and the user does not say that the impact was looked at.
        ProposalError: the proposal may not be approved.
    """
    if seen is not None:
        return seen
    since, size = ledger.corrections.recorded_since(number)
    if since:
        impact = ledger.preview(number)
        tell(impact, impacts.impact_in_full(ledger, impact), None, "table")
        tell_doubts(ledger, ledger.corrections.proposal(number).changes)
        were = "entry was" if since == 1 else "entries were"
        words = f"{since:,} {were} recorded after proposal {number}; this is what it would move now"
        way = f"approve with --seen {impact.seen}, and with --despite-games where games come all the time"
        output.error(f"{words}: {way}; nothing was recorded", "unseen:")
        raise SystemExit(REFUSED)
    return size


def tell(impact: Impact, answer: impacts.ImpactInFull, limit: int | None, fmt: str | None) -> None:
    """Write an impact.

    Args:
        impact: what would move.
        answer: the same, as it is told.
        limit: how many players, as the user gave it.
        fmt: as ``output.write`` takes it.
    """
    most = limits.shown(limit, fmt, MOVES_IN_A_TABLE)
    if fmt is None:
        output.write_one(as_row(attrs.evolve(answer, moves=answer.moves[:most])), None)
        return
    rows = as_rows(answer.moves)
    if fmt == "table":
        output.answer(_head(impact))
        for moved in answer.lists:
            output.answer(_list_words(moved))
        for report in answer.reports:
            count = counted(report.results, "result")
            output.answer(f"the report of {report.tournament!r}, sent on {report.sent_on}: {count} would change")
        if not rows:
            return
        output.answer()
        pools = len({row["pool"] for row in rows})
        rows = [_for_people(row, pools) for row in output.told_apart(rows, name="player")]
    limits.write(rows, fmt, most)


def _head(impact: Impact) -> str:
    moved = f"{counted(impact.games, 'game')} rated again, {counted(impact.players, 'player')} in them"
    changed = f"{counted(impact.moved, 'rating')} would change" if impact.moved else "no rating would change"
    seen = f"worked out for {entries(impact.seen)}: approve with --seen {impact.seen}"
    return f"proposal {impact.proposal}: {moved}; {changed}; about {impact.seconds:.1f} s; {seen}"


def _list_words(moved: impacts.MovedListRow) -> str:
    """Return one line about the change of a published list."""
    words = f"list {moved.list}, as revised: {counted(moved.players, 'player')} would differ"
    if moved.player is None:
        return words
    return f"{words}, most of all {moved.name}: {moved.before:.1f} to {moved.after:.1f}"


def _for_people(row: dict[str, Any], pools: int) -> dict[str, Any]:
    """Return a row of the table: the ratings, and what else changes in words."""
    shown: dict[str, Any] = {"pool": row["pool"]} if pools > 1 else {}
    shown["name"] = row["name"]
    shown |= {when: _word(row[f"rating_{when}"]) for when in ("before", "after")}
    has_both = row["difference"] is not None  # who is not listed has no rating to show
    shown["difference"] = output.shown_difference(row["rating_before"], row["rating_after"], 1) if has_both else ""
    shown["rank"] = _change(row, "rank")
    other = [f"{words} {_change(row, name)}" for name, words in _SHOWN.items() if _changes(row, name)]
    if _changes(row, "listed") and row["listed_before"] is not None and row["listed_after"] is not None:
        other.append("listed again" if row["listed_after"] else "no longer listed")
    if _changes(row, "closed") and row["closed_before"] is not None and row["closed_after"] is not None:
        other.append("account closed" if row["closed_after"] else "account open again")
    shown["also"] = "; ".join(other)
    return shown


def _changes(row: dict[str, Any], name: str) -> bool:
    return bool(row[f"{name}_before"] != row[f"{name}_after"])


def _change(row: dict[str, Any], name: str) -> str:
    """Return ``12``, or ``12 to 10`` if it changes; ``-`` for none."""
    before, after = (_word(row[f"{name}_{when}"]) for when in ("before", "after"))
    return before if before == after else f"{before} to {after}"


def _word(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
