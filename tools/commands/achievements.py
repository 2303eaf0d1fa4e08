"""Commands about what a player has reached: best ratings and games, streaks, losses on time, upsets."""

from __future__ import annotations

import click

from ledger.answers import achievements, time_losses, upsets
from ledger.answers import streaks as streaks_of
from ledger.answers.rows import as_row, as_rows

from .. import limits, output
from . import AS_IF, AT_LEAST, DB, POOL, VERIFY, instant, open_up_to_date

UPSETS_IN_A_TABLE, PLAYERS_IN_A_TABLE = 50, 20
_ONLY_IN_FULL = {
    "player", "opponent_player", "in_force", "colour", "evidence", "suggestion", "wanted_games", "wanted_time_losses",
    "wanted_percent",
}  # fmt: skip
AT = click.option("--at", metavar="INSTANT", help="The state at the end of that day, month or year.")


@click.command()
@DB
@click.argument("player")
@POOL
@AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def best(
    db_path: str, player: str, pool: str | None, at: str | None, as_if: int | None, fmt: str | None, verify: bool
) -> None:
    """A player's highest and lowest ratings, titles, five best wins and five worst losses, each with its game.

    The policy "titles" says which ratings bring a title and whether a player keeps it ('policy set club.db titles
    on=true'); "held" says whether the player has it then. Highest and lowest count from 50 rated games on. Each scheme
    of the pool has its own: what was reached under another scheme than the present one is marked as "other_system", for
    the two cannot be compared. The best wins are those against the highest ratings before the game, the worst losses
    those against the lowest; games against unrated players are neither.

    \b
    Example:
      rating-ledger best club.db ann -t
      rating-ledger best club.db lichess:ann --at 2019 --csv
    """
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        with ledger.read_snapshot():
            rows = as_rows(achievements.achievements(ledger, ledger.player(player), pool, instant(at, "--at")))
        if fmt == "table":
            hidden = set() if any(row["title"] for row in rows) else {"title", "held"}
            rows = [{name: row[name] for name in row if name not in hidden} for row in _for_people(rows)]
        output.write(rows, fmt)


@click.command()
@DB
@click.argument("player")
@POOL
@AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def streaks(
    db_path: str, player: str, pool: str | None, at: str | None, as_if: int | None, fmt: str | None, verify: bool
) -> None:
    """A player's winning, unbeaten and losing streaks: the current one and the longest, with first and last game.

    A streak is rated games in a row that were won, not lost, or lost. Of two that are the longest the first is shown.

    \b
    Example:
      rating-ledger streaks club.db ann -t
      rating-ledger streaks club.db ann --at 2019-06-30
    """
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        with ledger.read_snapshot():
            rows = as_rows(streaks_of.streaks(ledger, ledger.player(player), pool, instant(at, "--at")))
        output.write(rows, fmt)


@click.command("time-losses")
@DB
@click.argument("player", required=False)
@click.option("--all", "everybody", is_flag=True, help="Everybody with losses on time in the games of the policy.")
@click.option("--mark", "marked", is_flag=True, help="Whether the policy suggests to look at PLAYER, and the games.")
@POOL
@AT
@limits.option(PLAYERS_IN_A_TABLE, "players of --all")
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def time_losses_(
    db_path: str,
    player: str | None,
    everybody: bool,
    marked: bool,
    pool: str | None,
    at: str | None,
    limit: int | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """Losses on time: their share and longest run in the last 50, 100 and all games, and the last 90 and 365 days.

    With --mark or --all it is judged by the policy "sandbagger" as it holds today or on the day of --at ('policy list'
    shows it): who has lost so many of the latest games on time has "look" true, a suggestion in words, and the games
    as "evidence". It suggests a look at those games. Nothing is done to any player by itself.

    \b
    Example:
      rating-ledger time-losses club.db ann -t
      rating-ledger time-losses club.db ann --mark
      rating-ledger policy set club.db sandbagger on=true percent=25
      rating-ledger time-losses club.db --all -t
    """
    if everybody == (player is not None) or (everybody and marked):
        raise click.UsageError("give a PLAYER, with --mark or without, or --all")
    if limit is not None and not everybody:
        raise click.UsageError("--limit goes with --all")
    then = instant(at, "--at")
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        if player is None:
            rows = as_rows(time_losses.time_loss_marks(ledger, pool, then))
            shown = limits.shown(limit, fmt, PLAYERS_IN_A_TABLE)
            limits.write(_for_people(rows) if fmt == "table" else rows, fmt, shown)
            if fmt == "table" and any(row["look"] for row in rows):
                output.remark("look: somebody should look at these games before anything is said (--mark shows them)")
        elif marked:
            with ledger.read_snapshot():
                judged = as_row(time_losses.time_loss_mark(ledger, ledger.player(player), pool, then))
            output.write_one(judged, fmt)
        else:
            with ledger.read_snapshot():
                windows = as_rows(time_losses.time_loss_windows(ledger, ledger.player(player), pool, then))
            output.write(windows, fmt)


@click.command("upsets")
@DB
@POOL
@click.option("--player", metavar="PLAYER", help="Only upsets by this player.")
@click.option("--from", "since", metavar="INSTANT", help="Only games that ended on that day or later.")
@click.option("--to", "until", metavar="INSTANT", help="Only games that ended on that day or earlier.")
@click.option("--margin", type=click.IntRange(0), metavar="POINTS", help="Another margin than the policy's.")
@limits.option(UPSETS_IN_A_TABLE, "upsets, the largest first")
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def upsets_(
    db_path: str,
    pool: str | None,
    player: str | None,
    since: str | None,
    until: str | None,
    margin: int | None,
    limit: int | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """Wins against a rating that was higher by the margin or more, the largest first.

    The margin is that of the policy "upsets" on the day of each game ('policy list' shows it), or the one of --margin.

    \b
    Example:
      rating-ledger upsets club.db -t
      rating-ledger upsets club.db --player ann --from 2019-01 --to 2019-06 --margin 100
    """
    span = instant(since, "--from"), instant(until, "--to")
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        shown = limits.shown(limit, fmt, UPSETS_IN_A_TABLE)
        with ledger.read_snapshot():
            rows_of_upsets = upsets.upsets(
                ledger,
                pool,
                person=None if player is None else ledger.player(player),
                since=span[0],
                until=span[1],
                margin=margin,
                limit=None if shown == limits.EVERY_ROW else shown + 1,
            )
        rows = as_rows(rows_of_upsets)
        limits.write(_for_people(rows) if fmt == "table" else rows, fmt, shown)


def _for_people(rows: list[output.Row]) -> list[output.Row]:
    """Return the columns that a table has room for."""
    rows = output.told_apart(rows, name="player", opponent="opponent_player")
    return [{name: value for name, value in row.items() if name not in _ONLY_IN_FULL} for row in rows]
