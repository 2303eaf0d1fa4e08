"""The command that replays a pool's games under several schemes, before one is adopted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from ledger.answers.comparing import comparison
from ledger.answers.comparing.comparison import Comparison, Figures, Switch
from ledger.facts.instants import instant_end_ms, instant_ms

from .. import output, pictures
from . import DB, POOL, level, settings_given

WIDEST = 5  # schemes side by side in a table that people can still read


@click.command()
@DB
@click.option("--schemes", "given", required=True, metavar="NAME,NAME...", help="Which; the first is the present one.")
@POOL
@click.option("--from", "since", metavar="INSTANT", help="Predictions count from then on; all games are replayed.")
@click.option("--to", "until", metavar="INSTANT", help="Leave out games that ended later.")
@click.option("--from-shown", is_flag=True, help="Newcomers begin with the rating that the source first showed.")
@click.option("--established", is_flag=True, help="Leave out games in which any scheme calls a side provisional.")
@click.option(
    "--min-games", default=30, show_default=True, type=click.IntRange(1), help="Rank only players with so many games."
)
@click.option("--set", "settings", multiple=True, metavar="SCHEME.NAME=VALUE", help="A setting; repeatable.")
@click.option("--movers", default=10, show_default=True, type=click.IntRange(0), help="How many winners and losers.")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw: .svg or .png.")
@output.format_options
def compare(
    db_path: str, given: str, pool: str | None, since: str | None, until: str | None, from_shown: bool,
    established: bool, min_games: int, settings: Sequence[str], movers: int, picture: Path | None, fmt: str | None,
) -> None:  # fmt: skip
    """Rate the same games by several schemes, in memory, and see which one predicts them best.

    Every scheme starts from nothing with the pool's first game and predicts each game before it is rated (one that
    rates by period or event, all games of a batch from the ratings before it). All games up to --to are replayed;
    predictions count from --from on. Nothing is written. Mean, spread and places are those of players active in the
    365 days before the last game; seconds are of one processor.

    \b
    Example:
      rating-ledger compare club.db --schemes chessworld,glicko2,fide -t
      rating-ledger compare club.db --schemes elo,glicko2 --from 2015 --established --set elo.k=24
      rating-ledger compare club.db --schemes chessworld,lichess --picture switch.svg > switch.json
    """
    _check_window(since, until)
    if picture is not None:
        if picture.suffix not in pictures.KINDS:
            raise click.UsageError(f"--picture: a name that ends in .svg or .png, got {str(picture)!r}")
        pictures.check_available()
    candidates = _candidates(given, settings)
    with level(db_path) as ledger:
        told = comparison.compare(
            ledger, candidates, pool, timer=time.thread_time, since=since, until=until, established=established,
            min_games=min_games, movers=movers, from_shown=from_shown,
        )  # fmt: skip
    if picture is not None:
        output.save(picture, pictures.draw(told, picture.suffix))
    if fmt == "table":
        output.answer(_head(told))
        for block in _tables(told):
            output.answer()
            output.answer_lines(block)
    elif fmt is None:
        output.write_one(attrs.asdict(told), None)
    else:
        output.write([_row(one) for one in told.schemes], fmt)
    for one in told.schemes:
        if not one.players:
            note = "lists no active player; perhaps nobody has a declared rating: try --from-shown"
            output.remark(f"note: {one.scheme} {note}")


def _check_window(since: str | None, until: str | None) -> None:
    for flag, instant in (("--from", since), ("--to", until)):
        if instant is not None:
            try:
                instant_ms(instant)
            except ValueError as error:
                raise click.UsageError(f"{flag}: {error}") from None
    if since is not None and until is not None and instant_ms(since) > instant_end_ms(until):
        raise click.UsageError(f"--from {since} is after --to {until}")


def _candidates(given: str, settings: Sequence[str]) -> list[comparison.Candidate]:
    """The schemes of ``--schemes`` with the settings of ``--set``."""
    chosen: dict[str, dict[str, int | bool | str]] = {}
    for name in given.split(","):
        if name.strip() in chosen:
            raise click.UsageError(f"--schemes names {name.strip()!r} twice")
        chosen[name.strip()] = {}
    for word, value in settings_given(settings).items():
        name, divided, setting = word.partition(".")
        if not divided:
            raise click.UsageError(f"--set takes SCHEME.NAME=VALUE here, got {word!r}")
        if name not in chosen:
            raise click.UsageError(f"--set {word}: scheme {name!r} is not among --schemes")
        chosen[name][setting] = value
    return [comparison.candidate(name, its) for name, its in chosen.items()]


def _row(one: Figures) -> output.Row:
    """The figures of one scheme in one line."""
    return {
        "scheme": one.scheme, "log_loss": one.log_loss, "brier": one.brier, "bias": one.bias, "games": one.games,
        "players": one.players, "mean": one.mean, "spread": one.spread, "seconds": one.seconds,
    }  # fmt: skip


# -- tables for people ---------------------------------------------------------------------------------------------


def _tables(told: Comparison) -> list[str]:
    """Everything below the head, one block of text each."""
    blocks = [_main(told)]
    narrow = len(told.schemes) <= WIDEST
    if narrow:
        blocks.append(_calibration(told))
    if told.likeness:
        blocks.append(_likeness(told))
    blocks += [_movers(told, switch) for switch in told.switches if switch.winners or switch.losers]
    return [*blocks, _years(told) if narrow else "Calibration and years: in the JSON output, or with fewer schemes"]


def _number(value: float | None, digits: int = 0, sign: str = "") -> str | None:
    return None if value is None else f"{value:{sign},.{digits}f}"


def _head(told: Comparison) -> str:
    window = f"{told.in_window:,} predicted" if told.in_window != told.replayed else "each predicted"
    provisional = f"{told.unsettled:,} of them with a side that some scheme calls provisional"
    left_out = ", which do not count" if told.established else ""
    return (
        f"pool {told.pool}: {told.replayed:,} games from {told.first_game} to {told.last_game}, {window}, "
        f"{provisional}{left_out}"
    )


def _main(told: Comparison) -> str:
    rows = [
        [
            one.scheme, _number(one.log_loss, 4), _number(one.brier, 4), _number(one.bias, 4, "+"), _number(one.games),
            _number(one.players), _number(one.mean), _number(one.spread), _number(one.seconds, 2),
        ]
        for one in told.schemes
    ]  # fmt: skip
    headers = ["scheme", "log-loss", "Brier", "bias", "games", "players now", "mean", "spread", "seconds"]
    title = f"Predictions (less is better; log-loss {told.even:.4f}: an even score in every game)"
    return output.titled_table(title, headers, rows)


def _calibration(told: Comparison) -> str:
    headers, rows = ["expected"], [[f"{b.low:.1f}-{b.high:.1f}"] for b in told.schemes[0].calibration]
    for one in told.schemes:
        headers += [one.scheme, "scored", "games"]
        for row, its in zip(rows, one.calibration, strict=True):
            row += [_number(its.predicted, 3) or "-", _number(its.scored, 3) or "-", _number(its.games) or "-"]
    return output.titled_table("Calibration: White's expected score, and what White scored", headers, rows)


def _likeness(told: Comparison) -> str:
    found = {(one.one, one.other): _number(one.correlation, 3) for one in told.likeness}
    names = [one.scheme for one in told.schemes]
    rows = [[name, *(found.get((other, name), "" if other != name else "1") for other in names)] for name in names]
    players = sorted({one.players for one in told.likeness})
    over = f"{players[0]:,}" if len(players) == 1 else f"{players[0]:,} to {players[-1]:,}"
    return output.titled_table(
        f"Rank correlation of the final ratings: {over} players with at least {told.min_games} games",
        ["", *names], rows,
    )  # fmt: skip


def _movers(told: Comparison, switch: Switch) -> str:
    rows = [
        [
            one.name, _number(one.games), _number(one.place), _number(one.new_place), _number(one.gain, 0, "+"),
            _number(one.rating), _number(one.new_rating),
        ]
        for one in (*switch.winners, *reversed(switch.losers))
    ]  # fmt: skip
    return output.titled_table(
        f"From {switch.scheme} to {switch.to}: places won and lost, among {switch.players:,} active players with at "
        f"least {told.min_games} games",
        ["player", "games", "place", "new", "won", switch.scheme, switch.to], rows,
    )  # fmt: skip


def _years(told: Comparison) -> str:
    headers, rows = ["year"], [[str(year.year)] for year in told.schemes[0].years]
    alike = len({tuple(year.players for year in one.years) for one in told.schemes}) == 1
    for place, one in enumerate(told.schemes):
        if place == 0 or not alike:
            headers.append("players")
            for row, its in zip(rows, one.years, strict=True):
                row.append(_number(its.players) or "-")
        headers += [one.scheme, "spread"]
        for row, its in zip(rows, one.years, strict=True):
            row += [_number(its.mean) or "-", _number(its.spread) or "-"]
    return output.titled_table("Last ratings of each year's players", headers, rows)
