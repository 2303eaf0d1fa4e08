"""Section ``accuracy``: how well rating systems predict the games of a year, compared with FIDE's ratings.

Stephenson and Sonas published in 2012 the errors of three systems over such games (ChessRatings.pdf of PlayerRatings
1.1-0): FIDE's list of January 1999 comes first, everybody else begins with 2200 points and an RD of 300, the games
since then are rated, and predictions add 30 points for White. FIDE rated about ten times as many games as there are.
``accuracy.json`` has the figures of the schemes as they are; a test computes them again.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import attrs

from ledger import schemes
from ledger.answers.comparing import forecasts, replaying
from ledger.answers.comparing.replaying import Candidate, ComparedGames, candidate
from ledger.facts.instants import instant_ms
from ledger.facts.periods import OPEN
from ledger.imports.files import open_source
from ledger.imports.players import formats
from ledger.ledger import Ledger
from ledger.runtime.lazy import np, pl
from ledger.schemes.formulas.white_advantage import with_advantage
from ledger.schemes.glicko import DEFAULT, Player, Settings, chance
from ledger.schemes.scheme import BatchGames, When, opponent_of
from ledger.schemes.settings import replace_settings

from .. import output
from .datasets import OTB, Run
from .ours import take_csv
from .table import FIDE, SYSTEMS, Line, between, line

FIRST_YEAR, YEAR = 1999, 2007  # the games rated, and those predicted
ADVANTAGE = 30.0  # White's in predictions, points
LISTS = Path("ratings") / "fide_ratings.parquet"  # fide_id, list (YYYY-MM), rating
K_BY_MONTH = 27.0
DIGITS = 4  # of log-loss × 100


def _rate_month(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Rate one player's games of one month by Elo: r' = r + K Σ(s - E)."""
    surplus = 0.0
    for game in range(games.first, games.last):
        opponent = opponent_of(games, game)
        surplus += games.score[game] - chance(player.rating - opponent.rating, 1.0)
    after.rating = player.rating + K_BY_MONTH * surplus
    after.rd = player.rd
    after.period = when.period


# The ledger's Elo rates by game. With an RD of 0 Glicko's expected score is Elo's.
ELO_BY_MONTH = Candidate(
    attrs.evolve(schemes.find_scheme("glicko"), name="bench-elo-by-month", passes=(_rate_month,)),
    replace_settings(DEFAULT, initial=2200.0, initial_rd=0.0, c=0.0),
    {},
)


class System(NamedTuple):
    """A rating system by its name in the table, and what was published of it: log-loss × 100 over the same year."""

    name: str
    candidate: Candidate
    published: float | None


def systems() -> list[System]:
    """Return the systems of ``systems.toml``."""
    return [
        System(
            name,
            candidate(words["scheme"], words.get("settings")) if "scheme" in words else ELO_BY_MONTH,
            words.get("published"),
        )
        for name, words in SYSTEMS["compared"].items()
    ]


@attrs.frozen
class Accuracy:
    """The error of predictions, log-loss × 100, and by how much it exceeds that of FIDE's lists over the same games.

    Intervals are of 95 %, whole weeks being resampled; ``listed`` are the games between players of FIDE's lists.
    """

    games: int
    log_loss: float
    interval: tuple[float, float]
    listed: int
    excess: float
    excess_interval: tuple[float, float]


@contextmanager
def ledger_since(first_year: int, data: Path, folder: Path) -> Iterator[Ledger]:
    """Yield a ledger of the real games from a year to ``YEAR``, after FIDE's list of that year's January."""
    with gzip.open(data / OTB) as file:
        games = pl.read_csv(file.read(), infer_schema=False)
    games = games.filter(
        pl.col("time_class_hint").is_null(), pl.col("date") >= f"{first_year}", pl.col("date") < f"{YEAR + 1}"
    )
    games.write_csv(folder / "games.csv")
    identities = pl.concat([games["white_fide_id"], games["black_fide_id"]]).unique().cast(pl.Int32)
    listed = pl.read_parquet(data / LISTS).filter(
        pl.col("list").cast(pl.String) == f"{first_year}-01", pl.col("fide_id").is_in(identities.implode())
    )
    listed.select("fide_id", pl.col("fide_id").cast(pl.String).alias("name"), "rating").write_csv(folder / "list.csv")
    output.remark(f"accuracy: {len(games):,} games and {len(listed):,} ratings of {first_year}-01 are recorded …")
    Ledger.create(folder / "games.db", scheme="elo").close()
    with Ledger.open(folder / "games.db", projectors=()) as ledger:
        ledger.ensure_up_to_date()
        with open_source(str(folder / "list.csv")) as source:
            ledger.registry.take_list(formats.read_players(source, "csv", "standard", None), actor="bench")
        take_csv(ledger, folder / "games.csv")
        ledger.catch_up()
        yield ledger


def accuracies(ledger: Ledger, data: Path, chosen: Sequence[System]) -> Iterator[tuple[str, Accuracy]]:
    """Yield the accuracy of FIDE's lists over the games of ``YEAR``, then that of each system."""
    with ledger.read_snapshot():
        pool, connection = ledger.pool(None), ledger.views.connection
        games = replaying.load_games(connection, pool.pool, OPEN)
        output.remark(f"accuracy: {len(games.white):,} games are put in the order of {len(chosen)} systems …")
        orders = replaying.order_games(connection, pool, games, [system.candidate for system in chosen])
    predicted = games.ended_ms >= instant_ms(str(YEAR))
    score, weeks = games.score[predicted], forecasts.weeks_of(games.ended_ms[predicted])
    of_fide = 100.0 * forecasts.game_losses(_expected_by_lists(ledger, games, predicted, data / LISTS), score)
    listed = ~np.isnan(of_fide)
    yield FIDE, _accuracy(of_fide[listed], of_fide[listed], weeks[listed])
    for system, order in zip(chosen, orders, strict=True):
        (result,) = replaying.replay_schemes([system.candidate], [order], time.thread_time, 1)
        expected = with_advantage(result.expected[predicted], ADVANTAGE)
        yield system.name, _accuracy(100.0 * forecasts.game_losses(expected, score), of_fide, weeks)


def _accuracy(losses: Any, of_fide: Any, weeks: Any) -> Accuracy:
    listed = ~np.isnan(of_fide)
    excess = (losses - of_fide)[listed]
    return Accuracy(
        len(losses),
        round(float(losses.mean()), DIGITS),
        _interval(losses, weeks),
        int(listed.sum()),
        round(float(excess.mean()), DIGITS),
        _interval(excess, weeks[listed]),
    )


def _interval(values: Any, weeks: Any) -> tuple[float, float]:
    low, high = forecasts.interval_by_weeks(values, weeks)
    return round(low, DIGITS), round(high, DIGITS)


def _expected_by_lists(ledger: Ledger, games: ComparedGames, predicted: Any, file: Path) -> Any:
    """Return the scores expected of White by the latest rating of each player on a list of FIDE; NaN without one."""
    identities = dict(ledger.names.file.identities())
    fide_ids = np.asarray([int(identities[player].removeprefix("fide:")) for player in games.players.tolist()])
    first_day = (pl.col("list").cast(pl.String) + "-01").str.to_date().cast(pl.Datetime("ms"))
    lists = pl.read_parquet(file).select(pl.col("fide_id").cast(pl.Int64), "rating", day=first_day).sort("day")
    ratings = []
    for side in (games.white, games.black):
        frame = pl.DataFrame({"fide_id": fide_ids[side[predicted]], "day": games.ended_ms[predicted]})
        frame = frame.with_columns(pl.col("day").cast(pl.Datetime("ms")))
        joined = frame.join_asof(lists, on="day", by="fide_id", check_sortedness=False)  # both are in order of days
        ratings.append(joined["rating"].cast(pl.Float64).to_numpy())
    white, black = ratings
    return 1.0 / (1.0 + np.power(10.0, (black - white - ADVANTAGE) / 400.0))


def accuracy(run: Run) -> Iterator[Line]:
    """Compare every system with FIDE's lists and with what was published of it; a quick run takes one year's games."""
    if not ((run.data / OTB).exists() and (run.data / LISTS).exists()):
        output.remark(f"accuracy: {run.data} has no real games with the ratings of FIDE's lists: nothing is measured")
        return
    with ledger_since(FIRST_YEAR if run.size.real else YEAR, run.data, run.new_folder("accuracy")) as ledger:
        games, where, chosen = ledger.journal.size(), f"games of {YEAR}", systems()
        figures = accuracies(ledger, run.data, chosen)
        _, fide = next(figures)
        for system, (name, error) in zip(chosen, figures, strict=True):
            excess = f"{error.excess:.2f} ({between(error.excess_interval)}) more than FIDE's lists"
            what = f"{name}, log-loss × 100: {error.log_loss:.2f} ({between(error.interval)}), {excess}"
            yield line("accuracy", where, (fide.log_loss + error.excess) / 100.0, fide.log_loss / 100.0, what=what)
            if system.published is not None:
                figures_of_both = error.log_loss / 100.0, system.published / 100.0
                yield line("accuracy-published", where, *figures_of_both, what=f"{name}, rebuilt", games=games)
