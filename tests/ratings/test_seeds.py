"""Players who come with a past: what each scheme begins them with, in rows, explanations and HERA, in any order."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.explanations import explain
from ledger.answers.players import summary
from ledger.answers.rows import as_row
from ledger.facts.events import BirthYearLearnt, Event, PlayerChanged, RatingSeeded
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Carry, Outcome, Standing
from ledger.ledger import Ledger
from ledger.ratings import views
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projectors.history import highest_of
from ledger.schemes import built_in_names, find_scheme
from ledger.schemes.scheme import Newcomer, Seed
from tests.kit.clubs import takes_misfits
from tests.kit.games import game_recorded, scheme_adopted, seeded, tournament_closed
from tests.kit.lived_histories import all_rows

PLAYERS = 5
Make = Callable[..., Ledger]


@pytest.fixture(name="seeded_ledger")
def _make(tmp_path: Path) -> Iterator[Make]:
    """Makes ledgers of five registered players under a scheme, closed by whoever made them."""
    made: list[Ledger] = []

    def make(scheme: str, events: Sequence[Event] = (), **settings: Any) -> Ledger:
        ledger = takes_misfits(Ledger.create(tmp_path / f"{len(made)}.db", scheme=scheme, settings=settings))
        made.append(ledger)
        for number in range(1, PLAYERS + 1):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append_many(events)
        ledger.catch_up()
        return ledger

    yield make
    for ledger in made:
        ledger.close()


def terms_of(ledger: Ledger, player: int, game: str) -> dict[str, float]:
    """The symbols of an explanation with their numbers."""
    told = as_row(explain(ledger, ledger.player(str(player)), game))
    return {term["symbol"]: term["value"] for term in told["terms"]}


def after(ledger: Ledger, player: int) -> float:
    """The player's rating after the last rated game."""
    (row,) = ledger.rows("current", "player = ?", (player,))
    return float(row["rating"])


def test_a_fide_player_with_thirty_games_has_k_20_and_who_only_declares_has_40(seeded_ledger: Make) -> None:
    game = game_recorded("g", ended_at="2024-05-02")
    past = seeded_ledger("fide", [seeded(1, "2344", games=30), seeded(2, "2344"), game])
    assert terms_of(past, 1, "g")["K"] == 20.0
    assert terms_of(past, 2, "g")["K"] == 40.0
    assert (after(past, 1), after(past, 2)) == (2354.0, 2324.0)


@pytest.mark.parametrize(
    ("facts", "born", "k"),
    [
        ({}, None, 40.0),
        ({"k_factor": "40"}, None, 40.0),
        ({"k_factor": "20"}, None, 20.0),
        ({"k_factor": "20"}, 2010, 20.0),
        ({"games": 60}, 2010, 40.0),
        ({"games": 60, "highest": "2301"}, 2010, 20.0),
        ({"k_factor": "10"}, None, 10.0),
        ({"games": 5, "highest": "2400"}, None, 10.0),
    ],
)
def test_the_k_of_a_fide_player_follows_from_what_the_list_tells(
    facts: dict[str, Any], born: int | None, k: float, seeded_ledger: Make
) -> None:
    events: list[Event] = [seeded(1, "2250", **facts), seeded(2, "2250", games=99)]
    if born is not None:
        events.append(BirthYearLearnt(player=1, birth_year=born))
    ledger = seeded_ledger("fide", [*events, game_recorded("g", ended_at="2024-05-02")])
    assert terms_of(ledger, 1, "g")["K"] == k


def test_a_fide_list_before_march_2024_rises_as_all_ratings_did(seeded_ledger: Make) -> None:
    seeds = [seeded(player, "1600", games=40, effective_at="2024-02-01") for player in (1, 2)]
    ledger = seeded_ledger("fide", [*seeds, game_recorded("g", ended_at="2024-05-02", outcome=Outcome.DRAW)])
    assert (after(ledger, 1), after(ledger, 2)) == (1760.0, 1760.0)


def event_of_ten(rating: str) -> list[Event]:
    """Player 1 scores 8.5 of 10 against four others of a rating, in one closed event."""
    outcomes = [Outcome.WHITE] * 8 + [Outcome.DRAW, Outcome.BLACK]
    games = [
        game_recorded(f"g{i}", black=2 + i % 4, outcome=outcome, ended_at="2024-05-02", tournament="Club cup")
        for i, outcome in enumerate(outcomes)
    ]
    others = [seeded(player, rating, games=100) for player in range(2, 6)]
    return [*others, *games, tournament_closed("2024-05-03")]


@pytest.mark.parametrize("by", ["declared", "seeded", "seeded with games"])
def test_a_us_player_of_2801_does_not_fall_by_the_special_formula(by: str, seeded_ledger: Make) -> None:
    events = event_of_ten("2600")
    if by == "declared":
        events.append(PlayerChanged(player=1, effective_at="2020", standing=Standing.FULL, declared_rating=2801))
    else:
        events.append(seeded(1, "2801", games=200 if by == "seeded with games" else None))
    assert after(seeded_ledger("uschess", events), 1) >= 2801.0


def test_a_us_player_with_games_is_rated_by_the_standard_formula(seeded_ledger: Make) -> None:
    ledger = seeded_ledger("uschess", [*event_of_ten("2100"), seeded(1, "2801", games=200)])
    assert after(ledger, 1) == pytest.approx(2801 + 800 / 60 * (8.5 - 10 / (1 + 10 ** (-701 / 400))), abs=0.5)


def test_glicko_players_bring_rd_and_volatility_which_grow_from_the_day_of_the_list(seeded_ledger: Make) -> None:
    game = game_recorded("g", ended_at="2024-05-02")
    told = {"deviation": "60", "volatility": "0.05", "effective_at": "2024-01-01"}
    recording = [seeded(1, "1800", **told), seeded(2, "1700", **told)]
    rows = {
        scheme: next(seeded_ledger(scheme, [*recording, game]).rows("history"))
        for scheme in ("glicko", "glicko2", "lichess")
    }
    assert 60 < rows["glicko"]["rd"] < (60**2 + 5 * 63.2**2) ** 0.5
    assert 58 < rows["glicko2"]["rd"] < 64
    assert 66 < rows["lichess"]["rd"] < 76  # it had grown for four months
    assert all(rows[scheme]["volatility"] == pytest.approx(0.05, abs=1e-4) for scheme in ("glicko2", "lichess"))


@pytest.mark.parametrize("scheme", sorted(built_in_names()))
def test_every_scheme_begins_a_player_at_the_rating_of_the_list(scheme: str) -> None:
    rated_by = find_scheme(scheme)
    numbers = rated_by.numbers_from({})
    for games in (None, 0.0, 7.0, 12.0, 60.0):
        seed = Seed(1234.0, games, 80.0, 0.05, 1300.0, 20.0, 18_000.0)
        state = rated_by.begin(Newcomer(900.0, 1980, 19_000.0, seed), numbers)
        assert len(state) == len(rated_by.state)
        if not (scheme == "ecf-monthly" and games == 0.0):  # no game: no rating
            assert state[0] == 1234.0, games
    established = rated_by.begin(Newcomer(None, None, 19_000.0, Seed(1234.0, 60.0, 50.0, day=18_990.0)), numbers)
    assert not rated_by.provisional(rated_by.player_of(established), numbers)


def test_a_player_of_the_english_lists_keeps_the_grade_by_even_results(seeded_ledger: Make) -> None:
    listed = find_scheme("ecf-grade")
    numbers = listed.numbers_from({})
    state = listed.begin(Newcomer(seed=Seed(150.0, 40.0, day=16_600.0)), numbers)
    assert listed.is_listed(state, numbers)
    seeds = [seeded(player, "150", games=40, effective_at="2015-06-01") for player in (1, 2)]
    ledger = seeded_ledger("ecf-grade", [*seeds, game_recorded("g", ended_at="2015-09-01", outcome=Outcome.DRAW)])
    assert (after(ledger, 1), after(ledger, 2)) == (150.0, 150.0)


def test_the_last_seed_up_to_the_first_game_holds_before_a_declared_rating(seeded_ledger: Make) -> None:
    declared = PlayerChanged(player=1, effective_at="2000", standing=Standing.FULL, declared_rating=1500)
    seeds = [
        seeded(1, "1600"),
        seeded(1, "1700", effective_at="2019"),
        seeded(1, "1800", effective_at="2020-01-02"),
        RatingSeeded(player=1, pool="blitz", rating="2000"),
    ]
    ledger = seeded_ledger("elo")
    ledger.append_many([declared, *seeds[:3], game_recorded("g", ended_at="2020-01-01")])
    ledger.catch_up()
    assert terms_of(ledger, 1, "g")["Ra"] == 1700.0


def test_the_highest_rating_of_a_seed_counts_from_the_seed_until_it_is_passed(seeded_ledger: Make) -> None:
    game = game_recorded("g1", ended_at="2020-01-01")
    past = seeded(1, "2300", games=60, highest="2390", source="national list", effective_at="2019-06-01")
    ledger = seeded_ledger("elo", [past, game])
    shown = as_row(summary(ledger, ledger.player("1")))
    assert (shown["hera"], shown["hera_date"], shown["hera_scheme"]) == (2390.0, "2019-06-01", "national list")
    ledger = seeded_ledger("elo", [seeded(1, "2300", games=49), game])
    shown = as_row(summary(ledger, ledger.player("1")))
    assert (shown["hera"], shown["hera_date"]) == (shown["rating_now"], "2020-01-01")
    ledger = seeded_ledger("elo", [seeded(1, "2300", games=20), game])
    assert as_row(summary(ledger, ledger.player("1")))["hera"] is None


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["chessworld", "fide", "glicko2", "uschess"])
def test_late_seeds_and_years_of_birth_give_the_rows_of_a_rebuild(
    scheme: str, seeded_ledger: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [
        game_recorded(f"g{i}", white=1 + i % 3, black=4 + i % 2, ended_at=f"2024-0{1 + i // 8}-{1 + i % 28:02}")
        for i in range(40)
    ]
    recording: list[Event] = [
        seeded(1, "2344", games=30, highest="2410", deviation="70"),
        seeded(4, "1900", games=3),
        seeded(2, "2000", effective_at="2030"),
        BirthYearLearnt(player=5, birth_year=2010),
    ]
    late, early = seeded_ledger(scheme, games), seeded_ledger(scheme, [*recording, *games])
    for past in recording:  # each on its own, as a live ledger meets them
        late.append(past)
        late.catch_up()
    slow, fast = all_rows(late), all_rows(early)
    for table in ("history", "current", "seeds", "players"):
        assert _placeless(slow[table]) == _placeless(fast[table])
    before = all_rows(late)
    late.rebuild()
    assert all_rows(late) == before
    monkeypatch.setattr(views, "FEW_ENTRIES", 0)  # as columns
    many = seeded_ledger(scheme, games)
    many.append_many(recording)
    many.catch_up()
    assert all_rows(many)["history"] == before["history"]


def _placeless(rows: Sequence[tuple[tuple[str, Any], ...]]) -> list[dict[str, Any]]:
    """Rows without what follows from when an entry arrived, in an order that does not follow from it either."""
    told = [{name: value for name, value in row if name not in {"game", "joined_at", "position"}} for row in rows]
    return sorted(told, key=repr)


@pytest.mark.parametrize(("since", "rating"), [("2026-06-01", 1984.0), ("2026-06-02", 1984.0), ("2026-07-02", 2000.0)])
def test_a_list_acts_from_its_day_on_also_after_a_restart(since: str, rating: float, seeded_ledger: Make) -> None:
    restart = scheme_adopted("elo", effective_from="2026-06-01", carry=Carry.RESTART)
    games = [
        game_recorded("a", ended_at="2026-05-01"),
        game_recorded("b", ended_at="2026-07-01", outcome=Outcome.BLACK),
    ]
    ledger = seeded_ledger("elo", [restart, *games, seeded(1, "2000", effective_at=since), seeded(2, "2000")])
    states = PlayerStates(ledger.views.connection, ledger.pool())
    assert states.now(1, instant_ms("2026-12-01")).in_force == rating


def test_who_is_on_a_list_and_has_not_played_is_asked_about_at_the_end_of_the_day_of_the_list(
    seeded_ledger: Make,
) -> None:
    ledger = seeded_ledger("elo", [game_recorded("a", ended_at="2026-05-01")])
    ledger.append(seeded(3, "1900", effective_at="2026-06-01"))
    ledger.catch_up()
    states = PlayerStates(ledger.views.connection, ledger.pool())
    assert states.listed_from(3, instant_end_ms("2026-06-01")) == instant_end_ms("2026-06-01")


@pytest.mark.parametrize(
    ("seed", "hera"),
    [
        (Seed(1500.0, 10.0, highest=1600.0), 1600.0),
        (Seed(1500.0, 10.0, highest=1400.0), 1500.0),
        (Seed(1500.0, 10.0), None),
        (Seed(1500.0, 50.0), 1500.0),
        (Seed(1500.0), None),
    ],
)
def test_a_list_brings_a_hera_if_it_states_a_highest_rating_or_50_games(seed: Seed, hera: float | None) -> None:
    assert highest_of(seed) == hera
