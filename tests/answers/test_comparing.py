"""Schemes compared: the replay against the views, what it must leave alone, and pictures of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import isnan, log, sqrt
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest

from ledger import schemes
from ledger.answers.comparing import forecasts, replaying
from ledger.answers.comparing.comparison import Comparison, candidate, compare
from ledger.answers.comparing.replaying import pool_candidate
from ledger.book.timeline import BEGINNING, Era, Pool
from ledger.errors import LedgerError, MalformedError, UnknownNameError
from ledger.facts.events import RatingRunClosed, RatingSeeded, TournamentClosed
from ledger.facts.periods import OPEN
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Carry
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import engine
from ledger.runtime.lazy import np
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Missing
from tests.kit.games import source_game
from tests.kit.places import OTB
from tools import pictures
from tools.bench.datasets import otb_columns

NOW = datetime(2024, 1, 1, tzinfo=UTC)
OPENS = ("Autumn", "Spring", "Winter", None)  # tournaments of the games, in turn
PLAYERS = 14
GAMES = 600
FIRST = datetime(2019, 11, 1, tzinfo=UTC)


def games_of_four_years() -> Iterator[SourceGame]:
    """Some four years of a club; the first five players are strong, the last one plays two games only."""
    random = Random(8)
    for i in range(GAMES):
        white, black = (13, 12) if i in {40, 300} else random.sample(range(13), 2)
        edge = 0.3 * ((white < 5) - (black < 5))
        drawn = random.random()
        outcome = "white" if drawn < 0.4 + edge else "black" if drawn > 0.6 + edge else "draw"
        ended = FIRST + timedelta(days=i * 2.4)
        tournament = OPENS[i % 4]
        yield source_game(
            f"made:{i}",
            f"Player {white}",
            f"Player {black}",
            line=i + 1,
            white_id=f"made:p{white}",
            black_id=f"made:p{black}",
            outcome=outcome,
            termination="resignation",
            ended_at=f"{ended:%Y-%m-%d}",
            tournament=tournament and f"{tournament} {ended.year}",
            round=str(i % 7),
            rated=i % 50 != 7,
        )


def four_years_of_a_club(folder: Path, scheme: str, settings: Mapping[str, int | bool | str] | None = None) -> Path:
    path = folder / f"{scheme}.db"
    with Ledger.create(path, scheme=scheme, settings=settings, clock=lambda: NOW) as ledger:
        for i, rating in enumerate((1800, None, 2010)):
            ledger.register(f"made:p{i}", f"Player {i}", declared_rating=rating, birth_year=1990 + 10 * i)
        ledger.import_games(batch_games(games_of_four_years()))
        for year in (2020, 2021):
            ledger.append(TournamentClosed(pool="standard", tournament=f"Spring {year}", ended_at=f"{year}-11-15"))
            ledger.append(RatingRunClosed(pool="standard", as_of=f"{year}-08"))
        ledger.catch_up()
    return path


@pytest.fixture(scope="module")
def club_of_four_years(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return four_years_of_a_club(tmp_path_factory.mktemp("club"), "chessworld")


def told(path: Path, *chosen: str, **options: Any) -> Comparison:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        return compare(ledger, [candidate(name) for name in chosen], timer=lambda: 0.0, min_games=3, **options)


def without_seconds(found: Comparison) -> dict[str, Any]:
    assert all(one.seconds == 0.0 for one in found.schemes)
    return attrs.asdict(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "settings"),
    [("chessworld", {}), ("glicko2", {"period_days": 14}), ("uschess", {}), ("glicko2", {"by_runs": True})],
)
def test_a_replay_gives_the_ratings_of_a_pool_that_the_scheme_rates(
    scheme: str, settings: Mapping[str, int | bool | str], tmp_path: Path
) -> None:
    path = four_years_of_a_club(tmp_path, scheme, settings)
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        connection, pool = ledger.views.connection, ledger.pool()
        games = replaying.load_games(connection, pool.pool, 2**62)
        chosen = [candidate(scheme, settings)]
        (its,) = replaying.replay_schemes(
            chosen, replaying.order_games(connection, pool, games, chosen), lambda: 0.0, 1
        )
        current = dict(connection.execute("SELECT player, rating FROM current"))
        assert dict(zip(games.players.tolist(), its.final.tolist(), strict=True)) == current
        last = connection.execute(
            "SELECT substr(ended_at, 1, 4), player, rating, max(n) FROM history JOIN games ON position = game "
            "GROUP BY 1, 2"
        ).fetchall()
    assert [one.year for one in its.years] == [2019, 2020, 2021, 2022, 2023]
    for one in its.years:
        ratings = [rating for year, _, rating, _ in last if int(year) == one.year]
        mean = sum(ratings) / len(ratings)
        spread = sqrt(sum((rating - mean) ** 2 for rating in ratings) / len(ratings))
        assert [one.players, one.mean, one.spread] == pytest.approx([len(ratings), mean, spread])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["elo", "glicko2", "fide", "uschess"])
def test_lists_of_who_has_played_take_effect_in_a_replay(scheme: str, tmp_path: Path) -> None:
    path = four_years_of_a_club(tmp_path, scheme)
    days = ("2021-03-10", "2022-07-01", "2023-10-01")
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        before = told(path, scheme)
        for player in (1, 2, 5, 13):
            for day, rating in zip(days, (2300, 1500, 1900), strict=True):
                ledger.append(RatingSeeded(player=player, pool="standard", rating=str(rating), effective_at=day))
        ledger.catch_up()
        after = told(path, scheme)
        pool = ledger.pool()
        games = replaying.load_games(ledger.views.connection, pool.pool, 2**62)
        chosen = [candidate(scheme)]
        orders = replaying.order_games(ledger.views.connection, pool, games, chosen)
        (its,) = replaying.replay_schemes(chosen, orders, lambda: 0.0, 1)
        expected = [
            ledger.states(pool).now(player, int(games.ended_ms[-1])).rating for player in games.players.tolist()
        ]
    assert [None if isnan(rating) else rating for rating in its.final.tolist()] == expected
    assert before != after


@pytest.mark.slow
def test_figures_do_not_depend_on_threads_nor_on_the_way_to_run(
    club_of_four_years: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ("chessworld", "glicko2", "uschess", "elo")
    one = without_seconds(told(club_of_four_years, *chosen, threads=1))
    assert without_seconds(told(club_of_four_years, *chosen, threads=2)) == one
    assert without_seconds(told(club_of_four_years, *chosen, threads=4)) == one
    monkeypatch.setattr(engine, "COMPILE_FROM", 0)
    assert without_seconds(told(club_of_four_years, *chosen, threads=2)) == one


@pytest.mark.slow
def test_what_a_scheme_is_compared_with_does_not_change_its_figures(club_of_four_years: Path) -> None:
    together = told(club_of_four_years, "chessworld", "uschess", "elo").schemes
    assert together == tuple(told(club_of_four_years, name).schemes[0] for name in ("chessworld", "uschess", "elo"))


def test_nothing_is_written(club_of_four_years: Path) -> None:
    def digests() -> dict[str, str]:
        files = [club_of_four_years, sidecar(club_of_four_years, "views"), sidecar(club_of_four_years, "people")]
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = digests()
    told(club_of_four_years, "chessworld", "glicko2", "fide", "ecf-grade")
    assert digests() == before


def test_casual_games_are_not_replayed(club_of_four_years: Path) -> None:
    found = told(club_of_four_years, "elo")
    assert found.replayed == found.in_window == found.schemes[0].games == GAMES - 12
    assert (found.first_game, found.last_game) == ("2019-11-01", "2023-10-08")


def test_a_window_chooses_predictions_and_leaves_the_replay_whole(club_of_four_years: Path) -> None:
    whole, late = told(club_of_four_years, "elo"), told(club_of_four_years, "elo", since="2022")
    assert late.replayed == whole.replayed
    assert late.schemes[0].games == late.in_window < whole.in_window
    assert late.schemes[0].years == whole.schemes[0].years
    early = told(club_of_four_years, "elo", until="2021")
    assert early.last_game == "2021-12-29"
    assert early.replayed + late.in_window == whole.replayed
    both = (early.schemes[0].games, early.schemes[0].brier), (late.schemes[0].games, late.schemes[0].brier)
    assert sum(n * value for n, value in both) == pytest.approx(whole.schemes[0].brier * whole.replayed)
    assert told(club_of_four_years, "elo", since="2021-12-29", until="2021-12-29").in_window == 1


def test_established_leaves_a_game_out_for_all_schemes_when_one_calls_a_side_provisional(
    club_of_four_years: Path,
) -> None:
    found = told(club_of_four_years, "elo", "chessworld", established=True)
    alone = told(club_of_four_years, "chessworld")
    assert 0 < found.unsettled == alone.unsettled < found.in_window
    assert {one.games for one in found.schemes} == {found.in_window - found.unsettled}
    assert (
        told(club_of_four_years, "elo", established=True).schemes[0].games == found.in_window
    )  # no one is provisional there


def test_a_guess_of_even_scores_is_the_measure(club_of_four_years: Path) -> None:
    assert told(club_of_four_years, "elo").even == pytest.approx(log(2))


def test_winners_and_losers_of_a_switch(club_of_four_years: Path) -> None:
    chosen = ("chessworld", "uschess")
    with Ledger.open(club_of_four_years, clock=lambda: NOW) as ledger:
        connection, pool = ledger.views.connection, ledger.pool()
        games = replaying.load_games(connection, pool.pool, 2**62)
        candidates = [candidate(one) for one in chosen]
        orders = replaying.order_games(connection, pool, games, candidates)
        finals = [its.final.tolist() for its in replaying.replay_schemes(candidates, orders, lambda: 0.0, 2)]
        played = dict(connection.execute("SELECT player, n FROM current"))
    regular = [i for i, player in enumerate(games.players.tolist()) if played[player] >= 3]
    assert len(regular) == PLAYERS - 1  # who played two games is not among them
    gains = {}
    for i in regular:
        old, new = (1 + sum(final[other] > final[i] for other in regular) for final in finals)
        gains[int(games.players[i])] = (old, new, old - new)
    (switch,) = told(club_of_four_years, *chosen).switches
    assert (switch.scheme, switch.to, switch.players) == (*chosen, len(regular))
    assert {one.player: (one.place, one.new_place, one.gain) for one in (*switch.winners, *switch.losers)} == {
        player: gain for player, gain in gains.items() if gain[2]
    }
    assert [one.gain for one in switch.winners] == sorted((one.gain for one in switch.winners), reverse=True)
    assert [one.gain for one in switch.losers] == sorted(one.gain for one in switch.losers)
    assert all(one.gain > 0 for one in switch.winners)
    assert all(one.gain < 0 for one in switch.losers)
    assert all(one.name.startswith("Player ") and one.games == played[one.player] for one in switch.winners)
    shorter = told(club_of_four_years, *chosen, movers=1).switches[0]
    assert (shorter.winners, shorter.losers) == (switch.winners[:1], switch.losers[:1])


def test_a_scheme_is_as_like_to_another_as_the_other_to_it(club_of_four_years: Path) -> None:
    one, other = (told(club_of_four_years, *chosen).likeness[0] for chosen in (("elo", "glicko2"), ("glicko2", "elo")))
    assert one.correlation == pytest.approx(other.correlation)
    assert one.players == other.players == PLAYERS - 1
    assert len(told(club_of_four_years, "elo", "glicko2", "uschess", "chessworld").likeness) == 6
    alone = told(club_of_four_years, "elo")
    assert alone.likeness == ()
    assert alone.switches == ()


def test_the_timer_is_asked_before_and_after_each_replay(club_of_four_years: Path) -> None:
    ticks = iter(range(100))
    with Ledger.open(club_of_four_years, clock=lambda: NOW) as ledger:
        found = compare(ledger, [candidate("elo"), candidate("glicko2")], timer=lambda: float(next(ticks)), threads=1)
    assert [one.seconds for one in found.schemes] == [1.0, 1.0]
    assert next(ticks) == 4


def test_a_pool_of_earlier_days_is_replayed_as_it_is_and_others_as_new_pools_would_be() -> None:
    fide = schemes.find_scheme("fide")
    assert candidate("fide").numbers == fide.numbers_from(fide.for_new_pools) != fide.numbers_from({})
    own = Era(BEGINNING, "", fide, fide.numbers_from({}), {}, Carry.KEEP, (), 1)
    assert pool_candidate(Pool(1, "standard", (own,)), "fide").numbers == fide.numbers_from({})
    assert pool_candidate(Pool(1, "standard", (own,)), "fide", {"start": 1800}).numbers.start == 1800
    elo = Era(
        BEGINNING, "", schemes.find_scheme("elo"), schemes.find_scheme("elo").numbers_from({}), {}, Carry.KEEP, (), 1
    )
    assert pool_candidate(Pool(1, "standard", (elo,)), "fide") == candidate("fide")


def test_settings_are_taken(club_of_four_years: Path) -> None:
    with Ledger.open(club_of_four_years, clock=lambda: NOW) as ledger:
        slow, fast = (compare(ledger, [candidate("elo", {"k": k})], timer=lambda: 0.0).schemes[0] for k in ("8", 64))
    assert slow.spread is not None
    assert fast.spread is not None
    assert slow.spread < fast.spread
    assert fast.settings == {"k": 64}


def test_what_is_refused(club_of_four_years: Path) -> None:
    with pytest.raises(UnknownNameError, match="no scheme 'nope'"):
        candidate("nope")
    with pytest.raises(MalformedError, match="has no setting 'x'"):
        candidate("elo", {"x": 1})
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"pool": "blitz"}, "no pool 'blitz'"),
        ({"since": "2030"}, "no rated game 'from 2030'"),
        ({"until": "1990", "since": "1980"}, "no rated game 'from 1980 to 1990'"),
    ]
    for options, message in refusals:
        with pytest.raises(LedgerError, match=message):
            told(club_of_four_years, "elo", **options)
    with pytest.raises(UnknownNameError, match="some scheme calls a side provisional"):
        told(club_of_four_years, "fide", until="2019-11-03", established=True)


def test_a_pool_without_games_is_refused(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "empty.db", clock=lambda: NOW) as ledger:
        ledger.catch_up()
        with pytest.raises(UnknownNameError, match="no rated game 'at all'"):
            compare(ledger, [candidate("elo")], timer=lambda: 0.0)


def test_the_games_come_from_their_index(club_of_four_years: Path) -> None:
    with Ledger.open(club_of_four_years, clock=lambda: NOW) as ledger:
        steps = ledger.views.connection.execute(f"EXPLAIN QUERY PLAN {replaying._GAMES}", (1, 2**62)).fetchall()
    assert [step[3] for step in steps] == [
        "SEARCH games USING INDEX games_in_rating_order (pool=?)",
        "USE TEMP B-TREE FOR ORDER BY",
    ]


@pytest.mark.outside  # matplotlib
@pytest.mark.parametrize(("kind", "begins"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_the_same_comparison_gives_the_same_bytes(kind: str, begins: bytes, club_of_four_years: Path) -> None:
    found = told(club_of_four_years, "chessworld", "elo", "fide", "harkness")
    drawn = pictures.draw(found, kind)
    assert drawn.startswith(begins)
    assert pictures.draw(found, kind) == drawn
    assert pictures.draw(told(club_of_four_years, "chessworld", "elo", "fide", "harkness"), kind) == drawn
    assert b"date" not in drawn.lower() or kind == ".png"


def test_schemes_differ_in_more_than_colour() -> None:
    looks = [(pictures.MARKERS[i % len(pictures.MARKERS)], pictures.LINES[i % len(pictures.LINES)]) for i in range(40)]
    assert len(set(looks)) == 40


def test_without_matplotlib_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "mpl", Missing())
    with pytest.raises(Exception, match=r"pip install 'rating-ledger\[pictures\]'"):
        pictures.check_available()


def test_who_declares_nothing_may_begin_with_the_rating_that_the_source_shows_beside_the_first_game(
    tmp_path: Path,
) -> None:
    with Ledger.create(tmp_path / "shown.db", scheme="elo", clock=lambda: NOW) as ledger:
        games = [
            game._replace(
                white_rating=2000 + i if game.white_id == "made:p3" else 0,
                black_rating=2000 + i if game.black_id == "made:p3" else 0,
            )
            for i, game in enumerate(games_of_four_years())
        ]
        ledger.import_games(batch_games(games))
        ledger.catch_up()
        pool = ledger.pool()
        read = replaying.load_games(ledger.views.connection, pool.pool, OPEN)
        third = ledger.player("Player 3").player
        chosen = [candidate("elo")]
        plain, shown = (
            replaying.replay_schemes(
                chosen,
                replaying.order_games(ledger.views.connection, pool, read, chosen, from_shown=from_shown),
                lambda: 0.0,
                1,
            )[0]
            for from_shown in (False, True)
        )
        pairs = zip(read.players[read.white], read.players[read.black], strict=True)
        first, pair = next((i, pair) for i, pair in enumerate(pairs) if third in pair)
        difference = (2000.0 + first - 1500.0) * (1 if pair[0] == third else -1)
        assert shown.expected[first] == pytest.approx(1 / (1 + 10 ** (-difference / 400)), abs=0.2)
        assert plain.expected[:first].tolist() == shown.expected[:first].tolist()
        assert abs(shown.expected[first] - 0.5) > abs(plain.expected[first] - 0.5)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not OTB.exists(), reason="the file of real games does not stand beside the checkout")
def test_a_million_real_games_are_predicted_better_than_by_a_guess(club_of_four_years: Path) -> None:
    columns = otb_columns(OTB)
    count = len(columns["white"])
    nothing = np.zeros(count, np.int32)
    players = np.arange(int(max(columns["white"].max(), columns["black"].max())) + 1, dtype=np.int32)
    games = replaying.ComparedGames(
        players,
        columns["white"],
        columns["black"],
        columns["score"],
        columns["ended_at"],
        nothing,
        [None],
        np.full(2 * count, np.nan),
    )
    chosen = [candidate(name) for name in ("elo", "glicko2", "lichess")]
    with Ledger.open(club_of_four_years, clock=lambda: NOW) as ledger:
        pool = ledger.pool()
        orders = replaying.order_games(ledger.views.connection, pool, games, chosen)
        both = [replaying.replay_schemes(chosen, orders, lambda: 0.0, n) for n in (1, 2)]
    for one, other in zip(*both, strict=True):
        assert np.array_equal(one.expected, other.expected)
        assert np.array_equal(one.final, other.final, equal_nan=True)
        assert one.years == other.years
        assert len(one.expected) == count > 900_000
        assert 0.62 < forecasts.log_loss(one.expected, games.score) < 0.65
        assert 0.12 < forecasts.brier(one.expected, games.score) < 0.14
