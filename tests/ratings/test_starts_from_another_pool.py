"""The pool setting ``from_pool``: who has no rating here begins with the one in force in another pool (B.02 7.2.1)."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.answers import explanations, pools
from ledger.answers.comparing import replaying
from ledger.answers.comparing.comparison import pool_candidate
from ledger.answers.list_calculations import list_calculation
from ledger.answers.rows import as_row, as_rows
from ledger.audit.audit import audit
from ledger.errors import MalformedError, ProposalError, RejectedError
from ledger.facts.events import Decision, Event, GameRecorded, RatingSeeded, TournamentOpened
from ledger.facts.instants import instant_ms
from ledger.facts.periods import OPEN
from ledger.facts.words import Outcome
from ledger.ledger import Ledger
from ledger.ratings import engine, views
from ledger.ratings.player_states import PlayerStates
from tests.audit.findings import false_places, views_of
from tests.kit.drawn_clubs import begun_in_standard, clubs, clubs_of_a_winter, reordered
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.lived_histories import (
    WAYS,
    all_rows,
    in_the_end,
    live_through,
    new_history,
    right_at_once,
)
from tests.kit.tampering import edit
from tests.tiers import examples

PLAYERS = 5
Start = Callable[..., Ledger]


@pytest.fixture(name="started")
def _started(tmp_path: Path) -> Iterator[Start]:
    made: list[Ledger] = []

    def start(events: Sequence[Event], scheme: str = "elo", rapid: str | None = None, **settings: Any) -> Ledger:
        """A ledger whose rapid pool begins players with their standard ratings."""
        ledger = Ledger.create(tmp_path / f"{len(made)}.db", scheme=scheme, settings=settings)
        made.append(ledger)
        own = {**settings, "from_pool": "standard"}
        ledger.append(scheme_adopted(rapid or scheme, pool="rapid", settings=own))
        for number in range(1, PLAYERS + 1):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append_many(events)
        ledger.catch_up()
        return ledger

    yield start
    for ledger in made:
        ledger.close()


def game(key: str, white: int, black: int, day: str, **facts: Any) -> GameRecorded:
    """A game that White has won, in the rapid pool if its key begins with an r."""
    pool = "rapid" if key.startswith("r") else "standard"
    return game_recorded(key, white=white, black=black, ended_at=f"2024-{day}", pool=pool, **facts)


def seed(player: int, rating: str, pool: str = "standard", since: str | None = "2024-01-01", **facts: Any) -> Event:
    return RatingSeeded(player=player, pool=pool, rating=rating, effective_at=since, **facts)


def begins(ledger: Ledger, pool: str = "rapid") -> dict[int, float | None]:
    """By player, the rating before the first rated game."""
    number = ledger.pool(pool).pool
    return {row["player"]: row["rating_before"] for row in ledger.rows("history", "pool = ? AND n = 1", (number,))}


def ratings(ledger: Ledger) -> dict[tuple[int, int], list[float]]:
    found: dict[tuple[int, int], list[float]] = {}
    for row in ledger.rows("history", "1 ORDER BY pool, player, n"):
        found.setdefault((row["pool"], row["player"]), []).append(row["rating"])
    return found


GAMES = (
    game("s1", 1, 2, "01-05"),
    game("s2", 1, 3, "01-08"),
    game("r1", 1, 2, "01-10"),
    game("r2", 3, 4, "01-12"),
    game("s3", 2, 1, "01-15"),
    game("r3", 2, 1, "01-20"),
)


def test_a_rapid_player_is_rated_with_the_standard_rating_and_goes_on_from_it(started: Start) -> None:
    """By hand: 2050 - 1987 = 63 points are 0.59 to 0.41; K 40 of a new player, 40·0.59 = 23.6, and 20·-0.59 = -11.8."""
    facts = [
        seed(1, "1987", since="2024-05-01", source="FRL 2024-05"),
        seed(2, "2050", pool="rapid", games=100, k_factor="20"),
        game("r1", 1, 2, "05-04", tournament="Rapid Open"),
    ]
    ledger = started(facts, "fide")
    assert begins(ledger) == {1: 1987, 2: 2050}
    assert ratings(ledger) == {(2, 1): [1987 + 24], (2, 2): [2050 - 12]}
    explained = as_row(explanations.explain(ledger, ledger.player("1"), "r1"))
    assert (explained["before"], explained["after"]) == (1987, 2011)
    assert explained["began_with"] == {"pool": "standard", "rating": 1987, "list": "FRL 2024-05"}
    assert as_row(explanations.explain(ledger, ledger.player("2"), "r1"))["began_with"] is None
    calculated = list_calculation(ledger, ledger.player("1"), "2024-06", "rapid")
    assert calculated.adds_up
    assert [batch.began_with.rating for batch in calculated.batches if batch.began_with] == [1987]


def test_the_rise_of_march_2024_is_in_the_standard_rating_already(started: Start) -> None:
    """By hand: 1987 of January is 1987 + 0.4·13 = 1992.2, so 1992, in May; and rises only once."""
    facts = [seed(1, "1987"), seed(2, "1987"), game("r1", 1, 3, "02-04"), game("r2", 2, 3, "05-04")]
    ledger = started(facts, "fide")
    assert {player: rating for player, rating in begins(ledger).items() if player < 3} == {1: 1987, 2: 1992}
    assert {row.player: row.rating for row in ledger.ranking(pool="rapid")} == {1: 1992, 2: 1992}


def test_without_the_setting_the_same_player_is_unrated(started: Start) -> None:
    facts = [seed(1, "1987"), seed(2, "2050", pool="standard"), game("s1", 1, 2, "05-04")]
    ledger = started([*facts, game("r1", 1, 3, "05-04")], "fide")
    ledger.append(scheme_adopted("fide", pool="blitz"))
    ledger.append(attrs.evolve(game("b1", 1, 2, "05-04"), pool="blitz"))
    ledger.catch_up()
    assert begins(ledger, "blitz") == {1: 0.0, 2: 0.0}


def test_the_rating_of_a_tournament_is_that_of_its_first_day(started: Start) -> None:
    """A list of 1 February does not count in a tournament that began on 30 January, though the player came later."""
    facts = [
        TournamentOpened(pool="rapid", tournament="Open", starts_at="2024-01-30", ends_at="2024-02-03"),
        seed(1, "1800", since="2024-01-01"),
        seed(1, "1900", since="2024-02-01"),
        seed(2, "1850", pool="rapid"),
        game("r1", 1, 2, "02-02", tournament="Open"),
    ]
    assert begins(started(facts, "fide"))[1] == 1800


def test_a_rapid_list_goes_before_the_standard_rating_and_that_before_a_declared_one(started: Start) -> None:
    facts = [seed(1, "2100"), seed(1, "1900", pool="rapid"), seed(2, "2000"), *GAMES]
    ledger = started([], "elo")
    six = ledger.register("id:6", "Player 6", declared_rating=1234)
    ledger.append_many([*facts, seed(six, "1700"), game("r6", six, 1, "02-01")])
    ledger.catch_up()
    assert begins(ledger)[1] == 1900
    assert begins(ledger)[six] == 1700
    seven = ledger.register("id:7", "Player 7", declared_rating=1234)
    ledger.append(game("r7", seven, 1, "02-02"))
    ledger.catch_up()
    assert begins(ledger)[seven] == 1234


@pytest.mark.parametrize("scheme", ["elo", "chessworld", "glicko2", "uschess", "fide", "lichess"])
@pytest.mark.parametrize("few", [True, False])
def test_a_late_game_a_list_and_a_change_of_scheme_there_act_as_a_rebuild_would(
    scheme: str, few: bool, started: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not few:
        monkeypatch.setattr(views, "FEW_ENTRIES", 0)
        monkeypatch.setattr(engine, "COMPILE_FROM", 0)
    ledger = started([seed(2, "1650"), *GAMES], scheme)
    before = ratings(ledger)
    for event in (
        game("s0", 3, 2, "01-02", half_moves=40),
        seed(4, "1900"),
        seed(2, "1700", since="2024-01-02"),
        scheme_adopted("elo", settings={"k": 10}, effective_from="2024-01-06"),
    ):
        ledger.append(event)
        ledger.catch_up()
        live = all_rows(ledger)
        ledger.rebuild()
        assert all_rows(ledger) == live
    assert ratings(ledger) != before
    assert not audit(ledger.path).falsehoods


def test_a_correction_there_reruns_those_who_began_with_it_and_the_preview_shows_them(started: Start) -> None:
    ledger, right = started(GAMES), started([attrs.evolve(GAMES[0], outcome=Outcome.DRAW), *GAMES[1:]])
    drawn = ledger.corrections.drafts.replace("game:s1", {"outcome": "draw"})
    with ledger.as_if([drawn]) as would_be:
        shown = [(row.name, row.rating) for row in would_be.ranking(pool="rapid")]
    proposed = ledger.propose([drawn], reason="scoresheet", by="eve")
    preview = ledger.preview(proposed.proposal)
    ledger.catch_up()
    assert {(row.pool, row.player) for row in preview.moves} == {
        ("standard", 1),
        ("standard", 2),
        ("standard", 3),
        ("rapid", 1),
        ("rapid", 2),
        ("rapid", 3),
        ("rapid", 4),
    }
    ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
    ledger.catch_up()
    assert ratings(ledger) == ratings(right)
    assert [(row.name, row.rating) for row in ledger.ranking(pool="rapid")] == shown
    live = all_rows(ledger)
    ledger.rebuild()
    assert all_rows(ledger) == live


def test_games_there_after_the_first_rapid_game_rerate_nobody_here(
    started: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = started(GAMES)
    before = {row["player"]: row for row in ledger.rows("history", "pool = 2")}
    rated: list[int] = []
    rate = engine.rate

    def counted(cols: Any, scheme: Any, numbers: Any, games: Any, *rest: Any) -> Any:
        rated.append(len(games.white))
        return rate(cols, scheme, numbers, games, *rest)

    monkeypatch.setattr(engine, "rate", counted)
    ledger.append(game("s9", 3, 4, "02-01"))
    ledger.catch_up()
    assert rated == [1]
    assert {row["player"]: row for row in ledger.rows("history", "pool = 2")} == before


def test_it_is_in_force_from_the_first_game_on_and_predictions_take_it_before(started: Start) -> None:
    ledger = started([seed(3, "1987"), *GAMES])
    states = PlayerStates(ledger.views.connection, ledger.pool("rapid"))
    assert states.at(3, instant_ms("2024-01-11")).in_force is None  # on no rapid list yet
    assert states.at(3, instant_ms("2024-01-11")).rating == begins(ledger)[3]
    first = next(iter(ledger.rows("history", "pool = 2 AND player = 3 AND n = 1")))
    assert states.before_game(first).in_force == begins(ledger)[3] != 1500
    assert {row.player for row in ledger.ranking(pool="rapid")} == {1, 2, 3, 4}
    five = ledger.predict("Player 5", "Player 1", pool="rapid")
    ledger.append(seed(5, "2222"))
    assert ledger.predict("Player 5", "Player 1", pool="rapid").win != five.win


def test_the_settings_of_the_pool_name_it_and_other_pools_store_nothing(started: Start) -> None:
    ledger = started([])
    assert [pool["settings"] for pool in as_rows(pools.pools(ledger))] == [{}, {"from_pool": "standard"}]
    assert "from_pool" not in ledger.pool("standard").eras[0].settings


@pytest.mark.parametrize(
    ("pool", "source", "words"),
    [
        ("blitz", "bullet", "there is no pool 'bullet'"),
        ("blitz", "blitz", "pool 'blitz' cannot begin with its own ratings"),
        ("standard", "rapid", "pool 'rapid' is younger than pool 'standard'"),
    ],
)
def test_a_pool_that_is_missing_the_same_or_younger_is_refused(
    pool: str, source: str, words: str, started: Start
) -> None:
    ledger = started([])
    since = "2024-01-01" if pool == "standard" else None
    with pytest.raises(RejectedError, match=f"bad-from-pool: setting 'from_pool': {words}"):
        ledger.append(scheme_adopted("elo", pool=pool, settings={"from_pool": source}, effective_from=since))
    assert [each.name for each in ledger.pools()] == ["standard", "rapid"]


def test_ratings_in_other_points_are_not_taken(started: Start) -> None:
    ledger = started(GAMES)
    ledger.append(scheme_adopted("ecf-grade", pool="club", settings={"from_pool": "standard"}))
    ledger.append(attrs.evolve(game("c1", 1, 2, "02-01"), pool="club"))
    ledger.catch_up()
    states = PlayerStates(ledger.views.connection, ledger.pool("club"))
    assert states.starts.source_state(1, instant_ms("2024-02-01")) is None


def test_a_proposal_and_a_new_ledger_are_refused_alike(started: Start, tmp_path: Path) -> None:
    ledger = started([])
    turned = ledger.corrections.drafts.replace("scheme:standard@start", {"settings": {"from_pool": "rapid"}})
    with pytest.raises(ProposalError, match=r"bad-from-pool.*younger"):
        ledger.propose([turned], reason="cycle", by="eve")
    with pytest.raises(RejectedError, match=r"bad-from-pool.*no pool 'standard'"):
        Ledger.create(tmp_path / "new.db", pool="rapid", scheme="elo", settings={"from_pool": "standard"})
    with pytest.raises(MalformedError, match=r"text matching .* at 'from_pool', got True"):
        scheme_adopted("elo", settings={"from_pool": True})


def test_two_pools_in_one_transaction_are_taken_in_their_order(started: Start) -> None:
    ledger = started([])
    own, other = scheme_adopted("elo", pool="slow"), scheme_adopted("elo", pool="quick", settings={"from_pool": "slow"})
    with pytest.raises(RejectedError, match="there is no pool 'slow'"):
        ledger.append_many([other, own])
    ledger.append_many([own, other])
    assert ledger.pool("quick").from_pools == {"slow"}


def test_the_audit_finds_a_false_rating_at_its_source_and_where_a_player_began_with_it(started: Start) -> None:
    ledger = started(GAMES[:2])
    edit(views_of(ledger.path), "UPDATE history SET rating = rating + 100 WHERE pool = 1 AND player = 1 AND n = 2")
    ledger.append(GAMES[2])  # the views follow from the false row
    ledger.catch_up()
    ledger.close()
    places = false_places(ledger.path)
    assert ("history", "pool 1, player 1, n 2") in places
    assert ("current", "pool 2, player 1") in places


@examples(quick=10, ci=20, nightly=1_000)
@given(st.data(), clubs(), st.sampled_from(list(WAYS)))
def test_any_history_gives_one_state_of_the_views_and_that_of_the_right_facts(
    data: st.DataObject, club: list[Event], way: str
) -> None:
    with new_history() as history:
        live_through(data, history, begun_in_standard(club))
        live = history.live()
        history.follow(way)
        right = in_the_end(history.ledger)
        assert history.at_once() == live
        assert right == right_at_once(history.account.final())


@examples(quick=10, ci=20, nightly=1_000)
@given(st.data(), clubs_of_a_winter())
def test_whole_tournaments_are_rated_alike_in_any_order_of_the_two_pools(
    data: st.DataObject, club: list[Event]
) -> None:
    begun = begun_in_standard(club)
    assert right_at_once(begun) == right_at_once(data.draw(reordered(begun)))


def test_the_causes_of_a_change_name_the_rating_to_begin_with(started: Start) -> None:
    ledger = started([seed(1, "1810"), *GAMES[:3]])
    before, was = ledger.head().size, ratings(ledger)[2, 1][-1]
    ledger.append(game("s0", 2, 1, "01-02"))
    changes = ledger.player("Player 1").why(since=str(before), pool="rapid")
    now = ratings(ledger)[2, 1][-1]
    assert (changes.rating_then, changes.rating_now) == (was, now)
    assert [part.kind for part in changes.parts] == ["other pool", "rated anew"]
    assert sum(part.points or 0.0 for part in changes.parts) == pytest.approx(now - was, abs=1e-6)
    whole = ledger.player("Player 1").why(since="4", pool="rapid")
    assert [part.kind for part in whole.parts][-2:] == ["began", "game"]


@pytest.mark.parametrize("scheme", ["elo", "fide", "glicko2"])
def test_a_comparison_of_schemes_begins_players_so(scheme: str, started: Start) -> None:
    ledger = started([seed(3, "1987"), *GAMES], scheme)
    connection, pool = ledger.views.connection, ledger.pool("rapid")
    games = replaying.load_games(connection, pool.pool, OPEN)
    chosen = pool_candidate(pool, scheme, dict(pool.eras[0].settings))
    orders = replaying.order_games(connection, pool, games, [chosen])
    (replayed,) = replaying.replay_schemes([chosen], orders, lambda: 0.0, 1)
    final = [None if isnan(rating) else rating for rating in replayed.final.tolist()]
    current = {row["player"]: row["rating"] if row["listed"] else None for row in ledger.rows("current", "pool = 2")}
    assert dict(zip(games.players.tolist(), final, strict=True)) == current
