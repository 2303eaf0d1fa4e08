"""Places that are counted by the distribution of ratings are those of a ranking that is read player by player."""

from collections.abc import Iterator
from contextlib import closing
from math import inf, nextafter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledger.answers import players
from ledger.answers.rankings import RankingChoice, ranking
from ledger.answers.rows import as_row, as_rows
from ledger.facts.events import PlayerChanged
from ledger.facts.words import Standing
from ledger.ledger import Ledger
from ledger.ratings import standings, views_file
from ledger.ratings.player_rows import WRITE_CURRENT
from ledger.ratings.standings import NO_LIMIT
from ledger.runtime import sqlite
from tests.kit.clubs import copied
from tests.kit.corrections import approve
from tests.kit.impacts import read_before

BAND = "CAST({} AS INTEGER)"
COUNTED = f"SELECT pool, {BAND.format('rating')}, count(*) FROM current WHERE listed = 1 GROUP BY 1, 2 ORDER BY 1, 2"
LISTED = "SELECT rating FROM current WHERE pool = ? AND listed = 1"
POOLS = (1, 2, 3)
RATINGS = (
    0.0, -0.0, 0.5, -0.5, 25.0, -25.0, nextafter(25.0, 0.0), nextafter(-25.0, 0.0), nextafter(-25.0, -50.0), 49.5,
    50.0, -50.0, nextafter(-50.0, -60.0), 1399.5, 1400.0, nextafter(1400.0, 0.0), nextafter(1400.0, 1500.0), 2.0**53,
    2.0**53 - 17, 2.0**53 + 8, -(2.0**60) - 512, 2.0**62, nextafter(2.0**63, 0.0), 2.0**63, -(2.0**63), -(2.0**64),
    2.0**70, inf, -inf,
)  # fmt: skip


@pytest.fixture(name="views")
def _views(tmp_path: Path) -> Iterator[Any]:
    """Empty views as a build leaves them, in one transaction."""
    with closing(views_file.create_views(tmp_path / "views.db", ())) as connection:
        connection.execute("BEGIN")
        views_file.create_indexes(connection, ())
        views_file.count_distribution(connection)
        yield connection


def row(random: Random, player: int) -> tuple[object, ...]:
    """A last row, perhaps of somebody who is not listed; many have the same rating or the same band."""
    rating = random.choice([random.choice(RATINGS), random.uniform(-60, 60), random.gauss(1400, 30)])
    return random.choice(POOLS), player, 1, rating, 1, 0, 0, 0, int(random.random() < 0.8)


def distribution_of(connection: Any) -> list[Any]:
    return list(connection.execute("SELECT * FROM distribution"))


@pytest.mark.parametrize(("seed", "few_points"), [(1, 0), (2, 0), (3, 100), (4, 100), (5, 4)])
def test_every_writer_of_current_keeps_the_distribution_and_places_are_those_of_the_ranking(
    views: Any, seed: int, few_points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standings, "FEW_POINTS", few_points)
    random = Random(seed)
    for _ in range(6):
        views.executemany(WRITE_CURRENT, [row(random, random.randrange(1, 60)) for _ in range(60)])
        pool, player = random.choice(POOLS), random.randrange(1, 60)
        views.execute("DELETE FROM current WHERE pool = ? AND player < ?", (pool, player))
        views.execute("UPDATE current SET rating = rating + 1 WHERE player > 50")
        views.execute("UPDATE current SET listed = 1 - listed WHERE player = ?", (player,))
        assert distribution_of(views) == views.execute(COUNTED).fetchall()
        for pool in POOLS:
            held = views.execute("SELECT -rating, player FROM current WHERE pool = ?", (pool,)).fetchall()
            points = sorted({*held, *((-rating, random.randrange(70)) for rating in RATINGS)})
            assert standings.count_players_before(views, pool, points) == read_before(views, pool, points)
            some = sorted(random.sample(points, 3))
            assert standings.count_players_before(views, pool, some) == read_before(views, pool, some)
            listed = [rating for (rating,) in views.execute(LISTED, (pool,))]
            assert standings.count_listed(views, pool) == len(listed)
            for negative, _ in some:
                (not_below,) = standings.count_players_before(views, pool, [(negative, NO_LIMIT)]).values()
                assert not_below == sum(other >= -negative for other in listed)
    views.execute("DELETE FROM current")
    assert distribution_of(views) == []
    assert standings.count_players_before(views, 1, []) == {}


def test_a_build_counts_what_the_triggers_would_have_kept(tmp_path: Path) -> None:
    random = Random(7)
    with closing(views_file.create_views(tmp_path / "views.db", ())) as connection:
        connection.execute("BEGIN")
        connection.executemany(WRITE_CURRENT, [row(random, player) for player in range(200)])
        views_file.count_distribution(connection)
        assert distribution_of(connection) == connection.execute(COUNTED).fetchall() != []


@pytest.mark.parametrize("rating", RATINGS)
def test_a_rating_is_in_the_band_that_sqlite_works_out_up_to_the_highest_of_it(rating: float) -> None:
    with closing(sqlite.sqlite3.connect(":memory:")) as connection:
        question = f"SELECT {BAND.format('?')}"
        points = views_file.whole_points(rating)
        assert connection.execute(question, (rating,)).fetchone() == (points,)
        highest = views_file.highest_rating_of(points)
        assert connection.execute(question, (highest,)).fetchone() == (points,)
        assert highest == inf or connection.execute(question, (nextafter(highest, inf),)).fetchone() > (points,)


@pytest.mark.slow
def test_places_are_those_of_the_ranking_through_live_and_late_games_corrections_and_closed_accounts(
    sample_folder: Path, tmp_path: Path
) -> None:
    with Ledger.open(copied(sample_folder, tmp_path)) as ledger:
        drafts = ledger.corrections.drafts
        game = next(ledger.rows("games", "reason IS NULL ORDER BY position LIMIT 1"))["key"]
        approve(ledger, drafts.replace(f"game:{game}", {"outcome": "draw"}))
        ledger.append(PlayerChanged(player=2, effective_at="2004", standing=Standing.CLOSED))
        ledger.ensure_up_to_date()
        connection = ledger.views.connection
        kept = distribution_of(connection)
        assert kept == connection.execute(COUNTED).fetchall()
        rows = as_rows(ledger.ranking(limit=1000))
        assert 2 not in {row["player"] for row in rows}
        for row in rows:
            alone = as_row(players.summary(ledger, ledger.player(str(row["player"]))))
            assert (alone["rank"], alone["rated_players"]) == (row["rank"], len(rows))
        assert [row["rank"] for row in as_rows(ranking(ledger, RankingChoice(limit=5)))] == [1, 2, 3, 4, 5]
        ledger.rebuild()
        assert distribution_of(ledger.views.connection) == kept
