"""What was in force on a day: predictions by the scheme of that day, ratings before a closing, who is listed."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest

from ledger.answers import explanations, player_games, players, predictions, publications, rankings
from ledger.answers.asking import day
from ledger.answers.rows import as_row, as_rows
from ledger.facts.events import PlayerChanged
from ledger.facts.words import Carry, Outcome, Standing
from ledger.ledger import Ledger
from ledger.players.persons import Person
from ledger.schemes import built_in_names
from tests.kit.games import game_recorded, run_closed, scheme_adopted, tournament_closed
from tests.tiers import few_quick

NOW = datetime(2022, 1, 1, tzinfo=UTC)
Made = Callable[..., Ledger]


@pytest.fixture(name="make")
def _make(tmp_path: Path) -> Iterator[Made]:
    opened: list[Ledger] = []

    def make(scheme: str, settings: dict[str, Any] | None = None, declared: tuple[int | None, ...] = ()) -> Ledger:
        path = tmp_path / f"{len(opened)}.db"
        ledger = Ledger.create(path, scheme=scheme, settings=settings, clock=lambda: NOW)
        opened.append(ledger)
        for name, rating in zip(("Ann", "Bob"), declared or (None, None), strict=True):
            ledger.register(f"name:{name}", name, declared_rating=rating)
        return ledger

    yield make
    for ledger in opened:
        ledger.close()


def play(ledger: Ledger, *days: str, outcome: Outcome = Outcome.WHITE, tournament: str | None = None) -> None:
    """Ann against Bob, one game a day."""
    ledger.append_many(
        [game_recorded(f"g{at}", outcome=outcome, ended_at=at, tournament=tournament, half_moves=60) for at in days]
    )
    ledger.catch_up()


def both(ledger: Ledger) -> tuple[Person, Person]:
    return ledger.player("Ann"), ledger.player("Bob")


def test_a_prediction_on_a_day_is_that_of_a_ledger_that_ends_with_that_day(make: Made) -> None:
    early = ("2018-11-01", "2018-12-01", "2018-12-19")
    full, ended = make("chessworld"), make("chessworld")
    for ledger in (full, ended):
        play(ledger, *early)
    full.append(scheme_adopted("glicko2", effective_from="2019-01-01", carry=Carry.KEEP))
    play(full, "2019-01-02", "2019-01-20", "2019-02-03")
    told = as_row(predictions.predict(full, *both(full), at="2018-12-20"))
    assert told == as_row(predictions.predict(ended, *both(ended), at="2018-12-20"))
    assert told["scheme"] == "chessworld"
    assert told["rating"] == as_row(players.summary(full, both(full)[0], at="2018-12-20"))["rating_then"]
    assert told["rating"] == as_rows(player_games.games(ended, both(ended)[0]))[0]["rating"]
    assert told["win"]["change"] > 0 > told["loss"]["change"]
    later = as_row(predictions.predict(full, *both(full), at="2019-01-31"))
    assert later["scheme"] == "glicko2"
    assert (
        later["rating"]
        == {row["name"]: row["rating"] for row in as_rows(publications.list_in_force_on(full, "2019-01-31"))}["Ann"]
    )


def test_then_is_the_same_with_and_without_the_day_being_asked_for(make: Made) -> None:
    ledger = make("elo")
    play(ledger, "2020-01-05", "2020-02-05")
    ann = both(ledger)[0]
    summary = as_row(players.summary(ledger, ann))
    assert summary["then"] == "2020-01-05"
    assert summary == as_row(players.summary(ledger, ann, at="2020-01-05"))
    assert "rating_after_period" not in summary


def test_of_events_that_close_at_one_instant_each_is_explained_from_the_one_before(make: Made) -> None:
    ledger = make("uschess", declared=(1645, 1500))
    cups = ("Cup A", "Cup B", "Cup C")
    ledger.append_many(
        [
            game_recorded(f"{cup[-1]}{number}", outcome=outcome, ended_at=f"2019-01-0{number}", tournament=cup)
            for cup in cups
            for number, outcome in enumerate((Outcome.WHITE, Outcome.BLACK, Outcome.DRAW), 3)
        ]
    )
    ledger.append_many([tournament_closed("2019-02-15", tournament=cup) for cup in cups])
    ledger.catch_up()
    keys = {row["position"]: row["key"] for row in ledger.rows("games")}
    for person in both(ledger):
        for row in ledger.rows("history", "player = ?", (person.player,)):
            told = as_row(explanations.explain(ledger, person, keys[row["game"]]))
            assert (told["before"], told["after"]) == (row["rating_before"], row["rating"]), keys[row["game"]]


def test_until_an_event_closes_the_declared_rating_is_in_force_and_its_outcome_is_named_apart(make: Made) -> None:
    ledger = make("uschess", declared=(2645, 2500))
    play(ledger, "2019-01-03", "2019-01-04", "2019-01-05", tournament="Cup")
    ledger.append(tournament_closed("2019-02-15", tournament="Cup"))
    ledger.catch_up()
    ann, bob = both(ledger)
    after = {row["name"]: row["rating"] for row in as_rows(publications.list_in_force_on(ledger, "2019-02-15"))}
    assert after["Ann"] != 2645
    for at in (None, "2019-01-03", "2019-01-05", "2019-02-14"):
        summary = as_row(players.summary(ledger, ann, at=at))
        assert (summary["rating_then"], summary["rating_after_period"]) == (2645, after["Ann"]), at
        assert summary["period_closes"] == "2019-02-15"
    closed = as_row(players.summary(ledger, ann, at="2019-02-15"))
    assert (closed["rating_then"], closed["rating_after_period"], closed["period_closes"]) == (after["Ann"], None, None)
    assert {row["name"]: row["rating"] for row in as_rows(publications.list_in_force_on(ledger, "2019-01-31"))} == {
        "Ann": 2645,
        "Bob": 2500,
    }
    for game in as_rows(player_games.games(ledger, ann)):
        assert (game["rating_before"], game["rating"], game["in_force"]) == (2645, after["Ann"], "2019-02-15")
        assert (game["opponent_rating_before"], game["opponent_rating"]) == (2500, after["Bob"])
    assert {point["in_force"] for point in as_rows(player_games.graph_points(ledger, bob))} == {"2019-02-15"}


def test_a_newcomer_without_a_declared_rating_has_none_in_force_before_the_first_closing(make: Made) -> None:
    ledger = make("glicko2")
    play(ledger, "2020-03-02", "2020-03-20", "2020-04-02")
    newest, second, first = as_rows(player_games.games(ledger, both(ledger)[0]))
    assert (first["rating_before"], second["rating_before"]) == (None, None)
    assert first["rating"] == second["rating"] == newest["rating_before"]
    assert as_row(players.summary(ledger, both(ledger)[0], at="2020-03-20"))["rating_then"] is None
    assert as_rows(publications.list_in_force_on(ledger, "2020-03-30")) == []
    assert as_row(predictions.predict(ledger, *both(ledger), at="2020-03-20"))["rating"] == 1500.0


def test_games_of_a_run_that_is_open_wait_without_a_day(make: Made) -> None:
    ledger = make("glicko2", {"by_runs": True})
    play(ledger, "2020-03-02")
    summary = as_row(players.summary(ledger, both(ledger)[0]))
    assert (summary["rating_then"], summary["period_closes"]) == (None, None)
    assert summary["rating_after_period"] == summary["rating_now"] > 1500.0
    assert as_rows(player_games.games(ledger, both(ledger)[0]))[0]["in_force"] is None


def test_a_hera_dates_from_the_day_on_which_it_came_into_force(make: Made) -> None:
    ledger = make("glicko2", {"by_runs": True})
    first = datetime(2020, 1, 1, tzinfo=UTC)
    play(ledger, *(str((first + timedelta(days=i)).date()) for i in range(50)))
    before = as_row(players.summary(ledger, both(ledger)[0]))
    assert (before["hera"], before["hera_date"], before["hera_scheme"]) == (None, None, None)
    assert (before["rating_in_force"], before["rating_now"] > 1500.0) == (None, True)
    ledger.append(run_closed("2020-06-30"))
    ledger.catch_up()
    summary = as_row(players.summary(ledger, both(ledger)[0]))
    assert (summary["hera"], summary["hera_date"]) == (summary["rating_now"], "2020-06-30")
    assert summary["rating_in_force"] == summary["rating_now"] == before["rating_now"]


def test_a_period_that_is_not_over_changes_neither_a_prediction_nor_a_hera(make: Made) -> None:
    """Of two ledgers one has games in a month that is not over; until then all that is in force is the same."""
    ended, running = make("glicko2"), make("glicko2")
    first = datetime(2020, 1, 1, tzinfo=UTC)
    for ledger in (ended, running):
        play(ledger, *(str((first + timedelta(days=i)).date()) for i in range(58)))
    ended.clock = partial(datetime, 2020, 2, 27, 12, tzinfo=UTC)
    play(running, "2020-03-02", "2020-03-03")
    running.clock = partial(datetime, 2020, 3, 3, 12, tzinfo=UTC)
    then, now = (as_row(players.summary(ledger, both(ledger)[0])) for ledger in (ended, running))
    assert then["rating_in_force"] != then["rating_now"]  # February is not over on the 27th
    closed = as_row(predictions.predict(ended, *both(ended), at="2020-03-03"))
    assert as_row(predictions.predict(running, *both(running))) == closed
    assert (now["rating_in_force"], now["hera"], now["hera_date"]) == (closed["rating"], closed["rating"], "2020-02-29")
    assert now["rating_now"] > now["rating_in_force"]


@pytest.mark.parametrize("scheme", ["fide", "glicko2", "chessmetrics"])
def test_a_period_that_is_over_by_the_clock_is_in_force_without_a_later_record(make: Made, scheme: str) -> None:
    ledger = make(scheme, declared=(1900, 2000))
    play(ledger, *(f"2020-03-{n:02}" for n in range(2, 22)))
    (rated_ms,) = {row["rated_ms"] for row in ledger.rows("games")}
    for passed, closed in ((-1, False), (0, True), (1, True)):
        ledger.clock = partial(datetime.fromtimestamp, (rated_ms + passed) / 1000, UTC)
        (run,) = as_rows(publications.rating_runs(ledger))
        summary = as_row(players.summary(ledger, both(ledger)[0]))
        told = as_row(predictions.predict(ledger, *both(ledger)))
        assert run["closed"] is closed
        assert (summary["rating_in_force"] == summary["rating_now"]) is closed
        assert summary["rating_in_force"] == told["rating"]
        assert told == as_row(predictions.predict(ledger, *both(ledger), at=told["as_of"]))


def test_a_game_that_would_not_be_rated_promises_nothing(make: Made) -> None:
    ledger = make("chessworld")
    play(ledger, "2020-01-01")
    for name, standing in (("Gus", Standing.GUEST), ("Wel", Standing.WELCOMER)):
        ledger.register(f"name:{name}", name, standing=standing)
    ledger.append(PlayerChanged(player=3, effective_at="2020-02-01", standing=Standing.FULL))
    ledger.catch_up()
    ann, gus, welcomer = (ledger.player(name) for name in ("Ann", "Gus", "Wel"))
    nothing = {"rating": None, "change": None}
    for sides in ((ann, gus), (gus, ann)):
        told = as_row(predictions.predict(ledger, *sides))
        assert (told["not_rated"], told["win"], told["draw"], told["loss"]) == ("guest", nothing, nothing, nothing)
    for sides, at in (((gus, welcomer), None), ((ann, gus), "2020-02-01")):
        told = as_row(predictions.predict(ledger, *sides, at=at))
        assert told["not_rated"] is None
        assert told["win"]["change"] > 0 > told["loss"]["change"]


@pytest.mark.parametrize("games", [1, 3, 12, 31])
@pytest.mark.parametrize("scheme", few_quick(built_in_names(), "chessworld", "fide", "glicko2", "ecf-monthly"))
def test_who_is_listed_has_one_answer(make: Made, scheme: str, games: int) -> None:
    ledger = make(scheme)
    first = datetime(2020, 1, 1, tzinfo=UTC)
    outcomes = (Outcome.WHITE, Outcome.BLACK, Outcome.DRAW)
    for i in range(games):
        play(ledger, str((first + timedelta(days=i)).date()), outcome=outcomes[i % 3])
    era, ann = ledger.pool().eras[0], both(ledger)[0]
    rows = list(ledger.rows("history", "player = 1 ORDER BY n"))
    listed = [era.scheme.is_listed([row[name] for name in era.scheme.state], era.numbers) for row in rows]
    (current,) = ledger.rows("current", "player = 1")
    assert current["listed"] == listed[-1]
    ranked = {row["player"]: (row["rank"], row["rating"]) for row in as_rows(ledger.ranking())}
    closing = "2022"  # every period is over, and no list has been without them yet
    on_the_list = {row["player"]: row["rating"] for row in as_rows(publications.list_in_force_on(ledger, closing))}
    summary = as_row(players.summary(ledger, ann))
    told = as_row(predictions.predict(ledger, *both(ledger)))
    graph = [point["rating"] for point in as_rows(player_games.graph_points(ledger, ann))]
    assert (1 in ranked) == listed[-1]
    assert (summary["rank"], summary["rating_now"]) == ranked.get(1, (None, None))
    assert summary["rated_players"] == len(ranked)
    full = {row["player"]: row["percentile"] for row in as_rows(rankings.ranking(ledger, rankings.RankingChoice()))}
    assert summary["percentile"] == full.get(1)
    assert told == as_row(predictions.predict(ledger, *both(ledger), at=told["as_of"]))
    in_force = {
        row["player"]: row["rating"] for row in as_rows(publications.list_in_force_on(ledger, told["as_of"]))
    }.get(1)
    assert summary.get("rating_in_force", summary["rating_now"]) == in_force
    if in_force is not None:
        assert told["rating"] == in_force
    assert graph == [row["rating"] if shown else None for row, shown in zip(rows, listed, strict=True)]
    assert [game["rating"] for game in as_rows(player_games.games(ledger, ann))] == graph[::-1]
    rated = [rating for rating in graph if rating is not None]  # a game that left a player unrated is no 0
    assert summary["mean_rating"] == (pytest.approx(fmean(rated)) if rated else None)
    assert summary["rating_sd"] == (pytest.approx(pstdev(rated), abs=1e-4) if rated else None)
    if era.scheme.name not in {"chessmetrics", "ecf-grade"}:  # in which time alone moves ratings or takes them away
        assert on_the_list == {player: rating for player, (_, rating) in ranked.items()}
        assert as_row(predictions.predict(ledger, *both(ledger), at=closing))["rating"] == summary["rating_now"]
    explained = as_row(explanations.explain(ledger, ann, f"g{day(rows[-1]['ended_ms'])}"))
    assert explained["after"] == graph[-1]


def test_equal_ratings_have_the_same_places_in_a_ranking_and_a_summary(make: Made) -> None:
    ledger = make("elo", declared=(1500, 1500))
    play(ledger, "2020-01-01", outcome=Outcome.DRAW)
    assert [(row["rank"], row["rating"]) for row in as_rows(ledger.ranking())] == [(1, 1500.0), (1, 1500.0)]
    told = [as_row(players.summary(ledger, who)) for who in both(ledger)]
    assert [(row["rank"], row["percentile"]) for row in told] == [(1, 0.0), (1, 0.0)]


def test_the_rank_of_who_lapses_by_time_alone_is_taken_away(make: Made) -> None:
    """ECF: a rating lapses after 36 months without a result; the pool's last game says what the time is."""
    ledger = make("ecf-monthly", declared=(1500, 1600))
    play(ledger, "2015-01-01")
    assert len(as_rows(ledger.ranking())) == 2
    for number, name in ((3, "Cleo"), (4, "Dan")):
        assert ledger.register(f"name:{name}", name, declared_rating=1700) == number
    late = game_recorded("late", white=3, black=4, outcome=Outcome.DRAW, half_moves=60, ended_at="2021-01-01")
    ledger.append(late)
    ledger.catch_up()
    assert {row["player"] for row in as_rows(ledger.ranking())} == {3, 4}
    assert {row["player"] for row in as_rows(publications.list_in_force_on(ledger, "2021-01-31"))} == {3, 4}
    summary = as_row(players.summary(ledger, both(ledger)[0]))
    assert (summary["rating_now"], summary["rank"], summary["rated_players"]) == (None, None, 2)
    assert as_row(predictions.predict(ledger, *both(ledger)))["rating"] is None
