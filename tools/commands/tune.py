"""The command that searches the settings of a scheme on earlier games and judges them on later ones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import orjson

from ledger.answers.comparing import study as studies
from ledger.answers.comparing.study import JudgedSettings, Study
from ledger.answers.rows import as_row
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.runtime.ledger_files import refuse_own_files

from .. import output
from ..progress import Bars
from . import DB, INTO, POOL, instant, open_up_to_date, settings_given


@click.command()
@DB
@click.option("--scheme", required=True, metavar="NAME", help="Whose settings.")
@click.option("--vary", "ranges", required=True, multiple=True, metavar="NAME=LOW..HIGH", help="A number; repeatable.")
@POOL
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another current setting; repeatable.")
@click.option("--trials", default=200, show_default=True, type=click.IntRange(10, 100_000), help="At most so many.")
@click.option("--from", "since", metavar="INSTANT", help="Predictions count from then on; all games are replayed.")
@click.option("--judge-from", metavar="INSTANT", help="Search before, judge from then on; by default the last fifth.")
@click.option("--judge-to", metavar="INSTANT", help="Leave out games that ended later.")
@click.option("--from-shown", is_flag=True, help="Newcomers begin with the rating that the source shows.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0, 2**53), help="Of the search.")
@click.option("--workers", type=click.IntRange(1, 1_000), help="Trials at the same time; by default one a core.")
@click.option(
    "--resume",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A study of -o, whose trials are not repeated.",
)
@INTO
@output.format_options
def tune(
    db_path: str,
    scheme: str,
    ranges: Sequence[str],
    pool: str | None,
    settings: Sequence[str],
    trials: int,
    since: str | None,
    judge_from: str | None,
    judge_to: str | None,
    from_shown: bool,
    seed: int,
    workers: int | None,
    resume: Path | None,
    file: Path | None,
    fmt: str | None,
) -> None:
    """Search the settings of a scheme with which it predicts a pool's games best, and judge them on later games.

    Every trial replays the games in memory under other settings; nothing is written to the ledger. The search tries
    Sobol points of the ranges, then pattern searches from the best of them; a seed gives the same study with any number
    of workers. The best settings of the search, the current ones and the defaults of a new pool are then judged, once,
    on later games: by how much the log-loss per game differs, with a 95 % interval (whole weeks are resampled). If it
    contains 0, there is no difference. A setting is inert if no value changes a prediction; if the best value is at the
    edge of its range, widen the range. Settings that take whole numbers alone keep to them; 'period' is period_days.
    The study in -o FILE is JSON with every trial.

    \b
    Example:
      rating-ledger tune club.db --scheme glicko2 --vary tau=0.2..1.2 --vary period=1..60 -t
      rating-ledger tune club.db --scheme elo --vary k=8..60 --vary white_advantage=0..60 --judge-from 2024 -t
      rating-ledger tune club.db --scheme elo --vary k=8..60 --trials 400 --resume study.json -o study.json
    """
    for option, word in (("--from", since), ("--judge-from", judge_from), ("--judge-to", judge_to)):
        instant(word, option)
    _check_order(("--from", since), ("--judge-from", judge_from), ("--judge-to", judge_to))
    own, varied = settings_given(settings), _ranges(ranges)
    earlier = None if resume is None else _earlier(resume)
    if file is not None:
        refuse_own_files(file, db_path)
        if not file.parent.is_dir():
            raise click.UsageError(f"-o: there is no folder {str(file.parent)!r}")
    with open_up_to_date(db_path) as ledger, Bars() as bars:
        study = studies.tune(
            ledger,
            scheme,
            varied,
            pool,
            settings=own,
            trials=trials,
            since=since,
            judge_from=judge_from,
            judge_to=judge_to,
            from_shown=from_shown,
            seed=seed,
            workers=workers or os.cpu_count() or 1,
            earlier=earlier,
            progress=bars,
        )
    if file is not None:
        output.save(file, output.json_text(as_row(study)).encode())
    if fmt == "table":
        output.answer_lines("\n\n".join((_head(study), _varied(study), _judged(study), _years(study))))
    elif fmt is not None:
        output.write([_row(each) for each in study.judgements], fmt)
    elif file is None:
        output.write_one(as_row(study), None)


def _check_order(*instants: tuple[str, str | None]) -> None:
    """Refuse instants of which an earlier option has the later one."""
    stated = [(option, word) for option, word in instants if word is not None]
    for (option, word), (later, other) in pairwise(stated):
        if instant_ms(word) >= instant_end_ms(other):
            raise click.UsageError(f"{option} {word} is not before {later} {other}")


def _ranges(words: Sequence[str]) -> dict[str, tuple[str, str]]:
    ranges: dict[str, tuple[str, str]] = {}
    for word in words:
        name, divided, ends = word.partition("=")
        low, between, high = ends.partition("..")
        if not (name and divided and between):
            raise click.UsageError(f"--vary takes NAME=LOW..HIGH, got {word!r}")
        if name in ranges:
            raise click.UsageError(f"--vary names {name!r} twice")
        ranges[name] = low, high
    return ranges


def _earlier(file: Path) -> Mapping[str, Any]:
    try:
        earlier = orjson.loads(file.read_bytes())
    except OSError as error:
        raise click.UsageError(f"--resume: {str(file)!r} cannot be read ({error.strerror})") from None
    except ValueError:
        raise click.UsageError(f"--resume: {str(file)!r} is no JSON; give a study that 'tune -o' wrote") from None
    return {"judgements": earlier} if not isinstance(earlier, dict) else earlier


def _row(each: JudgedSettings) -> output.Row:
    """Return a judgement without its years in one line."""
    return {name: value for name, value in as_row(each).items() if name != "years"}


# -- tables for people ---------------------------------------------------------------------------------------------


def _head(study: Study) -> str:
    return (
        f"pool {study.pool}, {study.scheme}: {study.searched:,} games from {study.searched_from} searched, "
        f"{study.judged:,} from {study.judged_from} to {study.last_game} judged ({study.weeks} weeks); "
        f"{len(study.trials)} trials, seed {study.seed}"
    )


def _varied(study: Study) -> str:
    rows = [[each.name, f"{each.low}..{each.high}", each.current, each.best, each.finding] for each in study.varied]
    return output.titled_table("Settings", ["setting", "tried", "current", "best", "best value"], rows)


def _judged(study: Study) -> str:
    rows = [
        [
            each.which,
            f"{each.search_log_loss:.4f}",
            f"{each.log_loss:.4f}",
            None if each.difference is None else f"{each.difference:+.5f}",
            None if each.low is None else f"{each.low:+.5f} to {each.high:+.5f}",
            each.verdict,
        ]
        for each in study.judgements
    ]
    headers = ["settings", "searched", "judged", "winner less these", "95 % interval", "the winner is"]
    return output.titled_table("Log-loss a game (less is better)", headers, rows)


def _years(study: Study) -> str:
    rows = []
    for years in zip(*(each.years for each in study.judgements), strict=True):
        cells = [[None if figure is None else f"{figure:.0f}" for figure in (y.mean, y.spread)] for y in years]
        rows.append([str(years[0].year), f"{years[0].players:,}", *(cell for pair in cells for cell in pair)])
    headers = ["year", "players", *(word for each in study.judgements for word in (each.which, "spread"))]
    return output.titled_table("Last ratings of each year's players: mean and spread", headers, rows)
