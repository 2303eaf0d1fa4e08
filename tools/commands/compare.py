"""The command that replays a pool's games under several schemes, before one is adopted."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from ledger.answers.comparing import comparison
from ledger.answers.comparing.comparison import Comparison, SchemeFigures, Switch
from ledger.answers.rows import as_row
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms, instant_ms

from .. import output, pictures
from . import DB, POOL, open_up_to_date, settings_given

Settings = dict[str, int | bool | str]
WIDEST = 5  # schemes side by side in a table that people can still read


@click.command()
@DB
@click.option("--schemes", required=True, metavar="NAME,NAME...", help="Which; the first is the present one.")
@POOL
@click.option("--from", "since", metavar="INSTANT", help="Predictions count from then on; all games are replayed.")
@click.option("--to", "until", metavar="INSTANT", help="Leave out games that ended later.")
@click.option("--from-shown", is_flag=True, help="Newcomers begin with the rating that the source shows.")
@click.option("--established", is_flag=True, help="Leave out games in which any scheme calls a side provisional.")
@click.option(
    "--min-games", default=30, show_default=True, type=click.IntRange(1), help="Rank only players with so many games."
)
@click.option("--set", "settings", multiple=True, metavar="SCHEME.NAME=VALUE", help="A setting; repeatable.")
@click.option("--defaults", is_flag=True, help="Settings of a new pool for the pool's own schemes, too.")
@click.option("--movers", default=10, show_default=True, type=click.IntRange(0), help="How many winners and losers.")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw: .svg or .png.")
@output.format_options
def compare(
    db_path: str,
    schemes: str,
    pool: str | None,
    since: str | None,
    until: str | None,
    from_shown: bool,
    established: bool,
    min_games: int,
    settings: Sequence[str],
    defaults: bool,
    movers: int,
    picture: Path | None,
    fmt: str | None,
) -> None:
    """Rate the same games by several schemes, in memory, and see which one predicts them best.

    Every scheme starts from nothing with the pool's first game and predicts each game before it is rated (one that
    rates by period or event, all games of a batch from the ratings before it). All games up to --to are replayed;
    predictions count from --from on. Nothing is written. Mean, spread and places are those of players active in the
    365 days before the last game; seconds are of one processor. A scheme that the pool uses has the pool's own
    settings, others have those of a new pool ('scheme show' names them); --set changes one setting of either.
    White's advantage is fitted to the games before --from, or to the first half of all, and tried on those after them.

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
    chosen = _chosen(schemes, settings)
    with open_up_to_date(db_path) as ledger:
        candidates = _candidates(None if defaults else ledger.pool(pool), chosen)
        compared = comparison.compare(
            ledger,
            candidates,
            pool,
            timer=time.thread_time,
            since=since,
            until=until,
            established=established,
            min_games=min_games,
            movers=movers,
            from_shown=from_shown,
        )
    if picture is not None:
        output.save(picture, pictures.draw(compared, picture.suffix))
    if fmt == "table":
        output.answer(_head(compared))
        for block in _tables(compared):
            output.answer()
            output.answer_lines(block)
    elif fmt is None:
        output.write_one(as_row(compared), None)
    else:
        output.write([_row(figures) for figures in compared.schemes], fmt)
    for figures in compared.schemes:
        if not figures.players:
            note = "lists no active player; perhaps nobody has a declared rating: try --from-shown"
            output.remark(f"note: {figures.scheme} {note}")


def _check_window(since: str | None, until: str | None) -> None:
    for flag, instant in (("--from", since), ("--to", until)):
        if instant is not None:
            try:
                instant_ms(instant)
            except ValueError as error:
                raise click.UsageError(f"{flag}: {error}") from None
    if since is not None and until is not None and instant_ms(since) > instant_end_ms(until):
        raise click.UsageError(f"--from {since} is after --to {until}")


def _candidates(pool: Pool | None, chosen: Mapping[str, Settings]) -> list[comparison.Candidate]:
    """Return the schemes with the given settings, else the pool's own, or a new pool's."""
    used = set() if pool is None else {era.scheme.name for era in pool.eras}
    candidates = [
        comparison.candidate(name, own) if pool is None else comparison.pool_candidate(pool, name, own)
        for name, own in chosen.items()
    ]
    for candidate in candidates:
        name = candidate.scheme.name
        further = candidate.settings.keys() - chosen[name].keys()
        if further:
            words = ", ".join(f"{setting}={_word(candidate.settings[setting])}" for setting in sorted(further))
            whose = "the pool's own settings" if name in used else "the settings of a new pool"
            output.remark(f"note: {name} with {whose}: {words}" + ("; without: --defaults" if name in used else ""))
    return candidates


def _word(value: int | bool | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _chosen(schemes: str, settings: Sequence[str]) -> dict[str, Settings]:
    """Return the schemes of ``--schemes`` with the settings of ``--set``."""
    chosen: dict[str, Settings] = {}
    for name in schemes.split(","):
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
    return chosen


def _row(figures: SchemeFigures) -> output.Row:
    """Return the figures of one scheme in one line."""
    return {
        "scheme": figures.scheme,
        "log_loss": figures.log_loss,
        "brier": figures.brier,
        "bias": figures.bias,
        "games": figures.games,
        "players": figures.players,
        "mean": figures.mean,
        "spread": figures.spread,
        "seconds": figures.seconds,
        "white_advantage": figures.white_advantage,
        "log_loss_without_advantage": figures.log_loss_without_advantage,
        "log_loss_with_advantage": figures.log_loss_with_advantage,
    }


# -- tables for people ---------------------------------------------------------------------------------------------


def _tables(compared: Comparison) -> list[str]:
    """Everything below the head, one block of text each."""
    blocks = [_main(compared)]
    if compared.fitted_games:
        blocks.append(_advantages(compared))
    narrow = len(compared.schemes) <= WIDEST
    if narrow:
        blocks.append(_calibration(compared))
    if compared.likeness:
        blocks.append(_likeness(compared))
    blocks += [_movers(compared, switch) for switch in compared.switches if switch.winners or switch.losers]
    return [*blocks, _years(compared) if narrow else "Calibration and years: in the JSON output, or with fewer schemes"]


def _number(value: float | None, digits: int = 0, sign: str = "") -> str | None:
    return None if value is None else f"{value:{sign},.{digits}f}"


def _head(compared: Comparison) -> str:
    window = f"{compared.in_window:,} predicted" if compared.in_window != compared.replayed else "each predicted"
    provisional = f"{compared.unsettled:,} of them with a side that some scheme calls provisional"
    left_out = ", which do not count" if compared.established else ""
    return (
        f"pool {compared.pool}: {compared.replayed:,} games from {compared.first_game} to {compared.last_game}, "
        f"{window}, {provisional}{left_out}"
    )


def _main(compared: Comparison) -> str:
    rows = [
        [
            figures.scheme,
            _number(figures.log_loss, 4),
            _number(figures.brier, 4),
            _number(figures.bias, 4, "+"),
            _number(figures.games),
            _number(figures.players),
            _number(figures.mean),
            _number(figures.spread),
            _number(figures.seconds, 2),
        ]
        for figures in compared.schemes
    ]
    headers = ["scheme", "log-loss", "Brier", "bias", "games", "players now", "mean", "spread", "seconds"]
    title = f"Predictions (less is better; log-loss {compared.even:.4f}: an even score in every game)"
    return output.titled_table(title, headers, rows)


def _advantages(compared: Comparison) -> str:
    rows = [
        [
            figures.scheme,
            _number(figures.white_advantage, 1, "+"),
            _number(figures.log_loss_without_advantage, 4),
            _number(figures.log_loss_with_advantage, 4),
        ]
        for figures in compared.schemes
    ]
    title = (
        f"White's advantage (white_advantage), fitted to {compared.fitted_games:,} earlier games: log-loss over "
        f"{compared.later_games:,} later ones"
    )
    return output.titled_table(title, ["scheme", "points", "without", "with it"], rows)


def _calibration(compared: Comparison) -> str:
    headers, rows = ["expected"], [[f"{b.low:.1f}-{b.high:.1f}"] for b in compared.schemes[0].calibration]
    for figures in compared.schemes:
        headers += [figures.scheme, "scored", "games"]
        for row, bin_ in zip(rows, figures.calibration, strict=True):
            row += [_number(bin_.predicted, 3) or "-", _number(bin_.scored, 3) or "-", _number(bin_.games) or "-"]
    return output.titled_table("Calibration: White's expected score, and what White scored", headers, rows)


def _likeness(compared: Comparison) -> str:
    correlations = {(pair.one, pair.other): _number(pair.correlation, 3) for pair in compared.likeness}
    names = [figures.scheme for figures in compared.schemes]
    rows = [
        [name, *(correlations.get((other, name), "" if other != name else "1") for other in names)] for name in names
    ]
    players = sorted({pair.players for pair in compared.likeness})
    over = f"{players[0]:,}" if len(players) == 1 else f"{players[0]:,} to {players[-1]:,}"
    return output.titled_table(
        f"Rank correlation of the final ratings: {over} players with at least {compared.min_games} games",
        ["", *names],
        rows,
    )


def _movers(compared: Comparison, switch: Switch) -> str:
    rows = [
        [
            mover.name,
            _number(mover.games),
            _number(mover.place),
            _number(mover.new_place),
            _number(mover.gain, 0, "+"),
            _number(mover.rating),
            _number(mover.new_rating),
        ]
        for mover in (*switch.winners, *reversed(switch.losers))
    ]
    return output.titled_table(
        f"From {switch.scheme} to {switch.to}: places won and lost, among {switch.players:,} active players with at "
        f"least {compared.min_games} games",
        ["player", "games", "place", "new", "won", switch.scheme, switch.to],
        rows,
    )


def _years(compared: Comparison) -> str:
    headers, rows = ["year"], [[str(year.year)] for year in compared.schemes[0].years]
    alike = len({tuple(year.players for year in figures.years) for figures in compared.schemes}) == 1
    for place, figures in enumerate(compared.schemes):
        if place == 0 or not alike:
            headers.append("players")
            for row, figures_of_year in zip(rows, figures.years, strict=True):
                row.append(_number(figures_of_year.players) or "-")
        headers += [figures.scheme, "spread"]
        for row, figures_of_year in zip(rows, figures.years, strict=True):
            row += [_number(figures_of_year.mean) or "-", _number(figures_of_year.spread) or "-"]
    return output.titled_table("Last ratings of each year's players", headers, rows)
