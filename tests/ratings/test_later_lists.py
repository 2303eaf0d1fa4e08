"""The rating of a list applies from its day on, whatever was played before, under every scheme."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import rankings
from ledger.audit.audit import audit
from ledger.facts.events import Event, SchemeAdopted
from ledger.facts.instants import instant_ms
from ledger.facts.words import Carry, Outcome
from ledger.ledger import Ledger
from ledger.ratings.player_states import PlayerStates
from ledger.schemes import built_in_names, find_scheme
from tests.kit.clubs import takes_misfits
from tests.kit.games import game_recorded, seeded
from tests.tiers import few_quick

Make = Callable[..., Ledger]
NOW = datetime(2026, 11, 1, tzinfo=UTC)
LISTED = {"ecf-grade": "150", "ecf-monthly": "1700"}  # on their own scales


@pytest.fixture(name="relisted")
def _relisted(tmp_path: Path) -> Any:
    made: list[Ledger] = []

    def make(scheme: str, events: Sequence[Event], **settings: Any) -> Ledger:
        ledger = Ledger.create(tmp_path / f"{len(made)}.db", scheme=scheme, settings=settings, clock=lambda: NOW)
        made.append(takes_misfits(ledger))
        for number in (1, 2, 3):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append_many(events)
        ledger.catch_up()
        return ledger

    yield make
    for ledger in made:
        ledger.close()


def rating(ledger: Ledger, player: int, day: str | None = None) -> float | None:
    states = PlayerStates(ledger.views.connection, ledger.pool())
    now = instant_ms("2026-11-01")
    return (states.now(player, now) if day is None else states.at(player, instant_ms(day))).in_force


def games(*days: str, **facts: Any) -> list[Event]:
    return [game_recorded(f"g{day}", ended_at=day, **facts) for day in days]


@pytest.mark.parametrize("scheme", few_quick(built_in_names(), "chessworld", "fide", "glicko2", "uschess", "ecf-grade"))
def test_one_game_before_a_list_takes_no_rating_away(scheme: str, relisted: Make) -> None:
    listed = float(LISTED.get(scheme, "2000"))
    lists = [seeded(player, LISTED.get(scheme, "2000"), effective_at="2026-09-01", games=100) for player in (1, 2)]
    before, after = (
        relisted(scheme, [*lists, *games("2025-09-05")]),
        relisted(scheme, [*games("2025-09-05"), *lists]),
    )
    for ledger in (before, after):
        if scheme == "chessmetrics":  # whose list shows who has a game of the last two years
            assert rating(ledger, 1, "2026-09-02") == pytest.approx(listed)
        else:
            assert rating(ledger, 1) == listed
        assert rating(ledger, 1, "2026-08-31") != listed
        assert ledger.rows("current", "player = 1")
    rows = [[{**row, "game": None, "hera_game": None} for row in ledger.rows("history")] for ledger in (before, after)]
    assert rows[0] == rows[1]
    drawn = games("2026-09-05", white=1, black=2, outcome=Outcome.DRAW)
    before.append_many(drawn)
    after.append_many(drawn)
    for ledger in (before, after):
        ledger.catch_up()
        (_, row) = ledger.rows("history", "player = 1 ORDER BY n")
        assert row["n"] == 2
        assert row["rating_before"] == pytest.approx(listed, abs=1.0)
    after.close()
    assert audit(after.path).falsehoods == ()


def test_only_what_the_list_states_replaces_state(relisted: Make) -> None:
    ledger = relisted("glicko2", [*games("2026-01-05", "2026-01-06"), seeded(1, "2000", effective_at="2026-03-01")])
    (_, last) = ledger.rows("history", "player = 1 ORDER BY n")
    states = PlayerStates(ledger.views.connection, ledger.pool())
    fields = dict(zip(find_scheme("glicko2").state, states.at(1, instant_ms("2026-03-01")).state, strict=True))
    assert fields["rating"] == 2000.0
    assert last["rd"] < fields["rd"] < 350.0, "it grows with time, and the list states none"
    ledger.append(seeded(1, "1900", effective_at="2026-05-01", deviation="60"))
    ledger.catch_up()
    states = PlayerStates(ledger.views.connection, ledger.pool())
    fields = dict(zip(find_scheme("glicko2").state, states.at(1, instant_ms("2026-05-01")).state, strict=True))
    assert (fields["rating"], fields["rd"]) == (1900.0, 60.0)


def test_games_and_highest_rating_go_on(relisted: Make) -> None:
    events = [*games("2026-01-05", "2026-01-06"), seeded(1, "2000", effective_at="2026-03-01"), *games("2026-04-01")]
    ledger = relisted("elo", events)
    rows = list(ledger.rows("history", "player = 1 ORDER BY n"))
    assert [(row["n"], row["games"]) for row in rows] == [(1, 1), (2, 2), (3, 3)]
    assert rows[2]["rating_before"] == 2000.0


def test_a_batch_is_rated_with_what_was_in_force_at_its_start(relisted: Make) -> None:
    """A game before the list and one after it in one period: both are rated without the list, which then holds."""
    lists = [seeded(player, "2000", effective_at="2026-09-15", deviation="50") for player in (1, 2)]
    ledger = relisted("glicko2", [*games("2026-09-05", "2026-09-20"), *lists])
    assert [row["rating_before"] for row in ledger.rows("history", "player = 1")] == [1500.0, 1500.0]
    assert (rating(ledger, 1, "2026-09-16"), rating(ledger, 1, "2026-10-05"), rating(ledger, 1)) == (2000.0,) * 3
    ledger.append_many(games("2026-10-10"))
    ledger.catch_up()
    assert list(ledger.rows("history", "player = 1 ORDER BY n"))[2]["rating_before"] == 2000.0


def test_a_tournament_over_the_turn_of_a_month_leaves_its_players_on_the_list(relisted: Make) -> None:
    cup = {"tournament": "Cup", "outcome": Outcome.WHITE}
    lists = [seeded(1, "2000", effective_at="2026-09-01", games=100), seeded(2, "1900", effective_at="2026-09-01")]
    ledger = relisted("fide", [*lists, *games("2026-08-30", "2026-09-02", **cup)], by_event=True, included_until=2)
    assert (rating(ledger, 1), rating(ledger, 2)) == (2000.0, 1900.0)


def test_the_list_of_the_next_month_brings_games_played_elsewhere(relisted: Make) -> None:
    lists = [seeded(1, "2000", effective_at="2026-08-01", k_factor="20"), seeded(2, "1900", effective_at="2026-08-01")]
    august = games("2026-08-05", outcome=Outcome.DRAW)
    ledger = relisted("fide", [*lists, *august, seeded(1, "2031", effective_at="2026-09-01", k_factor="10")])
    assert rating(ledger, 1, "2026-08-31") == 2000.0
    assert rating(ledger, 1) == 2031.0
    ledger.append_many(games("2026-09-05", outcome=Outcome.WHITE))
    ledger.catch_up()
    assert list(ledger.rows("history", "player = 1 ORDER BY n"))[1]["highest"] == 2400.0, "K 10 says so"


def test_a_list_of_the_day_of_a_new_scheme_counts_in_that_scheme(relisted: Make) -> None:
    adopted = SchemeAdopted(
        pool="standard", scheme="chessworld", settings={}, effective_from="2026-06-01", carry=Carry.KEEP
    )
    ledger = relisted("elo", [adopted, *games("2026-05-01"), seeded(1, "1777", effective_at="2026-06-01", games=60)])
    assert rating(ledger, 1, "2026-06-01") == 1777.0


def test_a_ranking_shows_the_list_and_a_corrected_list_at_once(relisted: Make) -> None:
    ledger = relisted("elo", [*games("2026-01-05"), seeded(2, "2000", effective_at="2026-03-01")])
    assert [(row.player, row.rating, row.rank) for row in ledger.ranking()] == [(2, 2000.0, 1), (1, 1516.0, 2)]
    place = rankings.ranking_place(
        ledger, ledger.pool(), PlayerStates(ledger.views.connection, ledger.pool()).now(1, 0)
    )
    assert (place.rank, place.rated_players) == (2, 2)
