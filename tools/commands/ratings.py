"""The command that shows a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from shlex import quote

import click

from ledger.answers.player_details import PlayerGroup
from ledger.answers.pools import PoolRow, scheme_period_in_force, setting_as_text, settings_to_adopt
from ledger.answers.pools import pools as pools_of
from ledger.answers.rankings import RankingChoice, RankingRow, implausible_ratings, ranking
from ledger.answers.rows import as_rows
from ledger.facts.instants import Precision, instant_text
from ledger.ledger import Ledger
from ledger.schemes.scheme import FROM_SHOWN, SHOWN_SCALE

from .. import limits, output
from . import AS_IF, AT_LEAST, DB, KNOWN_AT, POOL, VERIFY, instant, open_up_to_date
from .group_options import grouping

PLAYERS_IN_A_TABLE = 20  # where the reader does not say how many
MOST_NOTED = 10  # ratings that no player can have, named one by one


@click.command()
@DB
@POOL
@limits.option(PLAYERS_IN_A_TABLE, "players, the best first")
@click.option(
    "--min-games",
    default=1,
    show_default=True,
    type=click.IntRange(0, 1_000_000_000),
    help="Leave out players with fewer; 0 shows those, too, who came with the rating of a list and have not played.",
)
@click.option(
    "--active",
    "active_days",
    type=click.IntRange(1, 100_000),
    metavar="DAYS",
    help="Leave out who has not played in so many days before.",
)
@click.option("--at", metavar="INSTANT", help="The ranking in force then; by default after all games.")
@click.option("--details", is_flag=True, help="Percentile, class, strength, RD, and whether a rating is provisional.")
@click.option("--since", metavar="DAY", help="Show the change since the end of that day.")
@click.option("--since-list", metavar="LIST", help="Show the change since a published list.")
@grouping
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def ratings(
    db_path: str,
    pool: str | None,
    limit: int | None,
    min_games: int,
    active_days: int | None,
    at: str | None,
    details: bool,
    since: str | None,
    since_list: str | None,
    group: PlayerGroup,
    known_at: str | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """The ranking of a pool, best first: now, or at any instant; with --known-at from what was known then.

    "percentile" is the share of the ranked players with a lower rating; "class" and "strength" are by the policy
    'classes' ('policy list' shows it), of the rating to the nearest point; during the provisional games the strength is
    that which the player chose ('player set'). "rd" is the deviation, where the scheme has one. Federation, club, sex,
    birth and activity are the data in force then, of lists, reports and 'player describe'; players of such a group have
    places of their own.

    \b
    Example:
      rating-ledger ratings club.db --limit 20 -t
      rating-ledger ratings club.db --min-games 51 --csv > ranking.csv
      rating-ledger ratings club.db --at 2019-06-01 --active 365 --details -t
      rating-ledger ratings club.db --since 2019-01-01 --known-at 917 -t
      rating-ledger ratings club.db --federation NOR --women --juniors 18 -t
    """
    if since is not None and since_list is not None:
        raise click.UsageError("give --since or --since-list, not both")
    shown_rows = limits.shown(limit, fmt, PLAYERS_IN_A_TABLE)
    choice = RankingChoice(
        pool=pool,
        limit=shown_rows + 1,
        min_games=min_games,
        at=instant(at, "--at"),
        active_days=active_days,
        since=instant(since, "--since"),
        since_list=since_list,
        group=group,
    )
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        with ledger.read_snapshot():
            rows = as_rows(ranking(ledger, choice, details=details))
            extreme = [] if at else implausible_ratings(ledger, pool)
            name, filled = ledger.pool(pool).name, [] if rows else [row for row in pools_of(ledger) if row.players]
        limits.write(_for_people(rows) if fmt == "table" else rows, fmt, shown_rows)
        if not rows:
            _say_why_empty(ledger, name, filled, by_time=bool(at or active_days or not group.is_everybody))
        _note_implausible(extreme)


def _note_implausible(rows: Sequence[RankingRow]) -> None:
    """Note ratings that no player can have: the formulas of some schemes give them after many upsets."""
    for row in rows[:MOST_NOTED]:
        rating = f"{row.name} (player {row.player}) has the rating {row.rating:,.0f}"
        output.remark(
            f"note: {rating}, which nobody can have; the scheme gives it after many surprising results in one period, "
            "and settings such as largest_change bound it ('scheme show')"
        )
    if len(rows) > MOST_NOTED:
        output.remark(f"and {len(rows) - MOST_NOTED:,} more such ratings")


def _say_why_empty(ledger: Ledger, name: str, pools: Sequence[PoolRow], *, by_time: bool) -> None:
    """Say in which pools there are players, of those that have some, or why none of this pool has a place."""
    filled = {row.pool: row for row in pools}
    if filled and (by_time or name not in filled):
        where = f"ranking of {name!r}" if name in filled else f"pool {name!r}"
        output.remark(f"nobody in this {where}; there are players in: {', '.join(filled)}")
    elif filled:
        pool, scheme = filled[name], filled[name].scheme
        output.remark(
            f"nobody in pool {name!r} has a place: of its {pool.players:,} players nobody has enough games, or "
            f"nobody has a rating by the rules of {scheme!r}. Ratings come in by 'players import' or 'player set "
            f"--rating'{_by_shown_ratings(ledger, name)}"
        )


def _by_shown_ratings(ledger: Ledger, name: str) -> str:
    """Return a note that players of a pool may begin with the ratings of sources; empty if they do, or cannot."""
    era = scheme_period_in_force(ledger, ledger.pool(name))
    if era.from_shown or era.scheme.scale != SHOWN_SCALE:
        return ""
    # An adoption has an instant of its own; before 1900 no game has a day.
    since = instant_text(era.since_ms + 1_000, Precision.SECOND) if era.since else "1900-01-01"
    settings = {**settings_to_adopt(era), FROM_SHOWN: True}
    words = " ".join(f"--set {quote(f'{setting}={setting_as_text(value)}')}" for setting, value in settings.items())
    adopt = f"scheme adopt {quote(str(ledger.path))} --pool {quote(name)} --scheme {era.scheme.name} --from {since}"
    return f"; so that players begin with those that sources show: '{adopt} {words}'"


def _for_people(rows: list[output.Row]) -> list[output.Row]:
    """Return the rows for people: a player above 99.9 per cent is above 99; empty columns are left out."""
    has_rd = any(row.get("rd") is not None for row in rows)
    rows_for_people = []
    for row in rows:
        shown_row = {name: value for name, value in row.items() if name != "rd" or has_rd}
        if "percentile" in row:
            shown_row["percentile"] = floor(row["percentile"])
            shown_row["provisional"] = "provisional" if row["provisional"] else None
            if shown_row.pop("strength_chosen"):
                shown_row["strength"] = f"{row['strength']} (own choice)"
        if row.get("change") is not None:
            shown_row["change"] = output.shown_difference(row["before"], row["rating"])
        rows_for_people.append(shown_row)
    return rows_for_people
