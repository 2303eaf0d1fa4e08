"""The command ``opponents``: a player's and the opponents' ratings in batches, by colour, by strength; one opponent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import click

from ledger.answers import opponents as statistics
from ledger.answers.crosstables.performances import round_rating
from ledger.answers.rows import as_row, as_rows

from .. import limits, output
from . import AS_IF, AT_LEAST, DB, POOL, VERIFY, instant, open_up_to_date

BATCHES_IN_A_TABLE = 20
BATCH = "batch"
_WAYS: Mapping[str, Callable[..., Sequence[attrs.AttrsInstance]]] = {
    BATCH: statistics.statistics_by_batch,
    "colour": statistics.statistics_by_colour,
    "strength": statistics.statistics_by_strength,
}
_ONLY_IN_FULL = {"first_ended_at", "group", "points"}


@click.command()
@DB
@click.argument("player")
@click.option(
    "--by",
    type=click.Choice(list(_WAYS)),
    default=BATCH,
    show_default=True,
    help="Batches of 50 games, the newest first; or by colour; or by the opponents' strength.",
)
@click.option("--against", metavar="PLAYER", help="The results against one opponent, and the games.")
@POOL
@click.option("--at", metavar="INSTANT", help="Only games in force at the end of that day, month or year.")
@limits.option(BATCHES_IN_A_TABLE, "batches, the newest first")
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def opponents(
    db_path: str,
    player: str,
    by: str,
    against: str | None,
    pool: str | None,
    at: str | None,
    limit: int | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """Opponent statistics: maximum, minimum, mean, standard deviation of a player's and the opponents' ratings.

    Ratings are those after each game, as the graph shows them. "page" is the page of the graph with the same 50 games:
    'graph DB PLAYER --page K'. By strength, the opponents are in bands of the difference in rating, and in the
    classes of the policy "classes". The standard deviation is that of the population of these games.

    \b
    Example:
      rating-ledger opponents club.db ann -t
      rating-ledger opponents club.db ann --by strength --csv
      rating-ledger opponents club.db ann --against bob
    """
    if against is not None and (at is not None or by != BATCH or limit is not None):
        raise click.UsageError("--against gives all games with one opponent: leave --by, --at and --limit out")
    then = instant(at, "--at")
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        if against is not None:
            with ledger.read_snapshot():
                answer = as_row(statistics.results_against(ledger, ledger.player(player), ledger.player(against), pool))
            if fmt == "table":
                output.write(answer["games"], fmt)
                output.remark("{wins} won, {draws} drawn, {losses} lost: {points} of {played}".format_map(answer))
            else:
                output.write_one(answer, fmt)
            return
        with ledger.read_snapshot():
            rows = as_rows(_WAYS[by](ledger, ledger.player(player), pool, at=then))
        shown = limits.shown(limit, fmt, BATCHES_IN_A_TABLE)
        limits.write(_for_people(rows) if fmt == "table" else rows, fmt, shown)


def _for_people(rows: list[output.Row]) -> list[output.Row]:
    """Return the columns of a table, numbers to the nearest point, means one half up; deviations to a tenth."""
    return [{name: _word(name, value) for name, value in row.items() if name not in _ONLY_IN_FULL} for row in rows]


def _word(name: str, value: Any) -> Any:
    if value is not None and name in {"percent", "sd", "opponent_sd"}:
        return f"{value:.1f}"
    return round_rating(value) if value is not None and name in {"mean", "opponent_mean"} else value
