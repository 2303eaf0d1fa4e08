"""The section ``scheme-builds``: the first build under schemes that place games in other ways than one by one.

The games are those of the largest set, dealt out to tournaments that lie across the ends of months, with ratings shown
beside the names, so that whole tournaments, sections, weeks and newcomers have something to be rated by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ledger.imports.csv import games as csv_games
from ledger.imports.files import open_source
from ledger.ledger import Ledger
from ledger.runtime.lazy import pl

from . import rival_stores
from .datasets import GameSet
from .measuring import SecondsTaken, both_lines, in_turns
from .processes import in_a_process
from .table import Line

BUILT: Mapping[str, dict[str, int | bool | str]] = {
    "fide": {"from_shown": True},  # its own settings for new pools: tournaments are rated whole
    "uschess": {},
    "glicko2": {"period_days": 7},
    "chessworld": {},
}
GAMES = 1_000_000
TOURNAMENTS_AT_ONCE = 50
DAYS = 10  # of a tournament


def build_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """The first build of a million made-up games under each scheme, beside ``executemany`` of the rows it wrote."""
    data = min((each for each in sets if each.source is None), key=lambda each: abs(each.games - GAMES))
    with data.scratch() as folder:
        csv = folder / "tournaments.csv"
        _in_tournaments(data.csv(), csv)
        for scheme, settings in BUILT.items():
            path = folder / f"{scheme}.db"
            _record(path, csv, scheme, settings)
            target = folder / "rewritten.db"
            works = {
                "ours": partial(in_a_process, "build", path),
                "rewritten": partial(_rewritten, path.with_name(f"{scheme}.views.db"), target),
            }
            measured = in_turns(works, rounds)
            built, rewritten = (
                [SecondsTaken(figures["clock"], figures["cpu"]) for figures in measured[name]] for name in works
            )
            yield from both_lines("scheme-build", data.name, built, rewritten, what=f"first build under {scheme}")
            for file in folder.glob(f"{scheme}.*"):
                file.unlink()


def _in_tournaments(source: Path, target: Path) -> None:
    """Copy the games of a CSV file, each in a tournament of ten days, with a rating beside each name."""
    day, player = pl.col("ended_at").str.slice(0, 10).str.to_date(), pl.col("white").str.slice(1).cast(pl.Int64)
    number = day.to_physical() // DAYS
    frame = pl.read_csv(source).with_columns(
        event=pl.format("Open {} of {}", player % TOURNAMENTS_AT_ONCE, number),
        **{f"{side}_elo": 1400 + pl.col(side).str.slice(1).cast(pl.Int64) * 7919 % 900 for side in ("white", "black")},
    )
    frame.write_csv(target)


def _record(path: Path, csv: Path, scheme: str, settings: Mapping[str, int | bool | str]) -> None:
    Ledger.create(path, scheme=scheme, settings=settings).close()
    with Ledger.open(path) as ledger, open_source(str(csv)) as source:
        ledger.import_games(csv_games.frames(source.stream(), source.reading))


def _rewritten(views: Path, target: Path) -> dict[str, float]:
    try:
        return dict(rival_stores.rewrite_tables(views, target)._asdict())
    finally:
        target.unlink(missing_ok=True)
