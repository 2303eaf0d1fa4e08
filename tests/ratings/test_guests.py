"""Guests: opponents are rated against the rating of the report or of a list, and the guest gets no rating."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.answers.pools import pools
from ledger.audit.audit import audit
from ledger.errors import UnknownNameError
from ledger.facts.events import Decision, Event, FederationSet, PlayerEntered, RatingSeeded
from ledger.facts.player_details import PlayerDetails
from ledger.facts.words import Outcome
from ledger.ratings import engine, views
from ledger.testing import rows_by_facts
from tests.kit.clubs import NAME
from tests.kit.games import game_recorded
from tests.kit.plugins import CLIMBS, WIN_STREAKS

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ANN, BOB, MAX, EVA = 1, 2, 3, 4
OPEN = "National open"
SWE, NOR = "SWE", "NOR"


def game(key: str, white: int, black: int, outcome: Outcome, day: str, **facts: Any) -> Event:
    told = {"tournament": OPEN, "round": key, **facts}
    return game_recorded(key, white=white, black=black, outcome=outcome, ended_at=day, **told)


def entered(player: int, rating: int | None, federation: str | None, edition: str = "2024-03-04") -> PlayerEntered:
    return PlayerEntered(
        pool="standard", tournament=OPEN, edition=edition, player=player, number=1, start_number=player, rating=rating,
        federation=federation,
    )  # fmt: skip


def listed(player: int, rating: str, **facts: Any) -> RatingSeeded:
    told = {"games": 100, "k_factor": "20", "effective_at": "2024-03-02", **facts}
    return RatingSeeded(pool="standard", player=player, rating=rating, **told)


LISTS = (listed(ANN, "2000"), listed(BOB, "1900"))
# Ann draws with Max, the master of 2312; Bob beats Max and Ann.
GAMES = (
    game("1", ANN, MAX, Outcome.DRAW, "2024-03-04"),
    game("2", MAX, BOB, Outcome.BLACK, "2024-03-05"),
    game("3", ANN, BOB, Outcome.BLACK, "2024-03-06"),
)
ENTRY = entered(MAX, 2312, SWE)


@contextmanager
def club(path: Path, *facts: Event, scheme: str = "fide", federation: str | None = NOR) -> Iterator[Ledger]:
    settings: dict[str, Any] = {} if federation is None else {"federation": federation}
    path.mkdir(exist_ok=True)
    with Ledger.create(path / NAME, scheme=scheme, settings=settings, clock=lambda: NOW) as ledger:
        for name in ("Ann", "Bob", "Max", "Eva"):
            ledger.register(f"name:{name.lower()}", name)
        for fact in facts:
            ledger.append(fact)
            ledger.ensure_up_to_date()
        yield ledger


def ratings(ledger: Ledger) -> Mapping[str, float]:
    return {row.name: row.rating for row in ledger.ranking(min_games=0)}


def correct(ledger: Ledger, key: str, facts: Mapping[str, Any]) -> None:
    proposed = ledger.propose([ledger.corrections.drafts.replace(key, dict(facts))], reason="passport", by="eve")
    ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")


def annul(ledger: Ledger, key: str) -> None:
    proposed = ledger.propose([ledger.corrections.drafts.annul(key)], reason="passport", by="eve")
    ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")


def rows(ledger: Ledger) -> dict[str, Any]:
    """Return the rows that follow from the facts, whatever was corrected on the way."""
    ledger.ensure_up_to_date()
    facts = rows_by_facts(ledger.views.connection)
    return {table: facts[table] for table in ("games", "history", "current", "bests")}


def test_opponents_are_rated_against_the_master_of_another_federation(tmp_path: Path) -> None:
    # FIDE B.02, 8.1: 312 points apart the weaker one expects 0.14, 412 points 0.08, 100 points 0.36.
    # Ann: 20 * (0.5 - 0.14 + 0 - 0.64) = -5.6; Bob: 20 * (1 - 0.08 + 1 - 0.36) = 31.2
    with club(tmp_path, *LISTS, ENTRY, *GAMES) as ledger:
        assert ratings(ledger) == {"Ann": 1994.0, "Bob": 1931.0}
        assert ledger.views.connection.execute("SELECT count(*) FROM current WHERE player = ?", (MAX,)).fetchone() == (
            0,
        )
        assert [row["rating"] for row in ledger.rows("history", "player = ?", [MAX])] == []
        assert [(pool.players, pool.rated_games) for pool in pools(ledger)] == [(2, 3)]
        assert audit(ledger.path).ok
    with club(tmp_path / "without", *LISTS, ENTRY, *GAMES, federation=None) as ledger:
        assert set(ratings(ledger)) == {"Ann", "Bob"}, "a newcomer with half a point of two games has no rating yet"
        assert ratings(ledger)["Bob"] != 1931.0


@pytest.mark.parametrize(
    ("facts", "shown", "rating"),
    [
        ((entered(MAX, 2312, SWE), listed(MAX, "2250")), 2280, 2312.0),
        ((entered(MAX, None, SWE), listed(MAX, "2250")), 2280, 2280.0),
        ((entered(MAX, None, SWE), listed(MAX, "2250")), None, 2250.0),
        ((FederationSet(player=MAX, effective_at="2024", federation=SWE), listed(MAX, "2250")), 0, 2250.0),
        ((entered(MAX, 2312, None), FederationSet(player=MAX, effective_at="2024", federation=SWE)), None, 2312.0),
        ((entered(MAX, 2312, SWE, "2023-01-01"), listed(MAX, "2250")), None, None),
        ((entered(MAX, 2312, NOR), FederationSet(player=MAX, effective_at="2024", federation=SWE)), None, None),
        ((FederationSet(player=MAX, effective_at="2024-03-05", federation=SWE), listed(MAX, "2250")), None, None),
    ],
)
def test_the_rating_of_a_guest_is_that_of_the_report_else_of_the_game_else_of_the_list(
    facts: tuple[Event, ...], shown: int | None, rating: float | None, tmp_path: Path
) -> None:
    played = game("1", ANN, MAX, Outcome.DRAW, "2024-03-04", black_rating=shown)
    with club(tmp_path, *LISTS, *facts, played) as ledger:
        (row,) = ledger.rows("games")
        assert row["reason"] is None
        assert (row["black_guest"] is None) == (rating is None)
        (own,) = ledger.player("Ann").games()
        assert rating in {None, own.opponent_rating_before}


def test_a_game_of_a_guest_without_a_rating_or_of_two_guests_is_not_rated(tmp_path: Path) -> None:
    facts = (entered(MAX, None, SWE), entered(EVA, 2200, "DEN"))
    met = game("1", ANN, MAX, Outcome.DRAW, "2024-03-04")
    with club(tmp_path, *LISTS, *facts, met, game("2", MAX, EVA, Outcome.DRAW, "2024-03-05")) as ledger:
        assert [row["reason"] for row in ledger.rows("games")] == ["guest", "guest"]
        assert ratings(ledger) == {"Ann": 2000.0, "Bob": 1900.0}
        ledger.append(listed(MAX, "2250"))
        ledger.append(listed(EVA, "2100"))
        assert rows(ledger)
        assert [row["reason"] for row in ledger.rows("games")] == [None, "guest"], "a list gives Max a rating"


def test_a_guest_becomes_a_player_with_the_federation_of_the_pool_and_the_other_way_round(tmp_path: Path) -> None:
    moves = (
        FederationSet(player=MAX, effective_at="2024-01-01", federation=SWE),
        FederationSet(player=MAX, effective_at="2025-01-01", federation=NOR),
        FederationSet(player=MAX, effective_at="2026-01-01", federation="DEN"),
    )
    lists = (*LISTS, listed(MAX, "2312"))
    with club(tmp_path, *lists, *moves, *GAMES) as ledger:
        assert set(ratings(ledger)) == {"Ann", "Bob"}, "today Max is of another federation"
        options: dict[str, Any] = {"actor": "eve", "despite_complaints": True}
        assert ledger.publications.publish("2025-12-31", **options).publication.event.players == 3
        left = [
            note for note in ledger.publications.publish("2026-01-31", **options).complaints if note.players == (MAX,)
        ]
        assert [(note.what, note.text) for note in left] == [
            ("transferred", "belongs to DEN, and leaves the lists of NOR")
        ]
        on = {day: {row.name for row in ledger.ranking(at=day, min_games=0)} for day in ("2024-12-31", "2025-06-30")}
        assert on == {"2024-12-31": {"Ann", "Bob"}, "2025-06-30": {"Ann", "Bob", "Max"}}
        ledger.append(game("4", MAX, ANN, Outcome.WHITE, "2025-03-05", tournament="Club cup"))
        ledger.append(game("5", MAX, ANN, Outcome.WHITE, "2026-03-05", tournament="Club cup"))
        ledger.ensure_up_to_date()
        own = ledger.player("Max").games()
        assert [(each.game, each.rating_before) for each in own] == [("4", 2312.0)]
        everything = ledger.player("Max").games(everything=True)
        assert [(each.game, each.why_not and each.why_not.reason) for each in everything] == [
            ("5", "guest"), ("4", None), ("2", "guest"), ("1", "guest"),
        ]  # fmt: skip
        assert ledger.player("Ann").games(limit=1)[0].opponent_rating_before == 2312.0
        lived = rows(ledger)
        ledger.rebuild()
        assert rows(ledger) == lived


def test_corrections_of_entrants_and_federations_rate_again_as_if_recorded_right_at_once(tmp_path: Path) -> None:
    dated = FederationSet(player=MAX, effective_at="2024-01-01", federation=SWE)
    with club(tmp_path / "right", *LISTS, ENTRY, *GAMES) as ledger:
        guest = rows(ledger)
    with club(tmp_path / "home", *LISTS, entered(MAX, 2312, NOR), *GAMES) as ledger:
        home = rows(ledger)
    assert guest != home
    with club(tmp_path / "entry", *LISTS, *GAMES, entered(MAX, 2400, NOR)) as ledger:
        correct(ledger, ENTRY.key, {"rating": 2312, "federation": SWE})
        assert rows(ledger) == guest
        correct(ledger, ENTRY.key, {"federation": NOR})
        assert rows(ledger) == home
    with club(tmp_path / "dated", *LISTS, *GAMES, entered(MAX, 2312, None), dated) as ledger:
        assert rows(ledger) == guest
        correct(ledger, dated.key, {"effective_at": "2024-06-01"})
        assert rows(ledger) == home
        correct(ledger, dated.key, {"effective_at": "2023"})
        assert rows(ledger) == guest
        annul(ledger, dated.key)
        assert rows(ledger) == home
        assert audit(ledger.path).ok


def test_an_entry_under_another_number_of_one_person_counts(tmp_path: Path) -> None:
    with club(tmp_path, *LISTS, *GAMES, entered(EVA, 2312, SWE)) as ledger:
        merged = ledger.propose([ledger.corrections.drafts.merge(EVA, MAX)], reason="one person", by="eve")
        ledger.decide(merged.proposal, Decision.APPROVED, by="adam")
        assert ratings(ledger) == {"Ann": 1994.0, "Bob": 1931.0}


@pytest.mark.parametrize("scheme", ["elo", "fide", "uschess", "glicko2", "ecf-monthly", "chessworld"])
@pytest.mark.parametrize("many", [False, True])
def test_games_one_by_one_give_the_rows_of_a_first_build(
    scheme: str, many: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with club(tmp_path, *LISTS, ENTRY, *GAMES, scheme=scheme) as ledger:
        ledger.append(game("4", BOB, ANN, Outcome.WHITE, "2024-05-05", tournament=None))
        lived = rows(ledger)
        if many:
            monkeypatch.setattr(engine, "COMPILE_FROM", 0)
            monkeypatch.setattr(views, "FEW_ENTRIES", 0)
        ledger.rebuild()
        assert rows(ledger) == lived


def test_a_read_model_that_is_installed_later_has_the_rows_of_one_that_was_there(tmp_path: Path) -> None:
    with club(tmp_path, *LISTS, ENTRY, *GAMES) as ledger:
        path = ledger.path
    with Ledger.open(path, projectors=(WIN_STREAKS, CLIMBS), clock=lambda: NOW) as ledger:
        ledger.ensure_up_to_date()
        late = [list(ledger.rows(each.name)) for each in (WIN_STREAKS, CLIMBS)]
        ledger.rebuild()
        assert [list(ledger.rows(each.name)) for each in (WIN_STREAKS, CLIMBS)] == late


def test_answers_show_the_rating_against_which_opponents_were_rated(tmp_path: Path) -> None:
    with club(tmp_path, *LISTS, ENTRY, *GAMES) as ledger:
        bob = ledger.player("Bob")
        explained = bob.explain("2")
        assert [(met.opponent, met.rating) for met in explained.meetings] == [("Max", 2312.0), ("Ann", 2000.0)]
        assert explained.after == 1931.0
        shown = {each.opponent: each.opponent_rating for each in bob.games()}
        assert shown == {"Max": 2312.0, "Ann": 1994.0}
        with pytest.raises(UnknownNameError, match="Max is a guest in it: only the opponent's rating changes"):
            ledger.player("Max").explain("2")
        table = {row.name: row for row in ledger.tournament(OPEN).crosstable().standings}
        assert table["Max"].enrolment_rating == 2312.0
        ledger.player("Ann").graph(opponents=True).save(tmp_path / "ann.svg")


def test_a_description_and_a_list_of_players_state_the_federation_plainly(tmp_path: Path) -> None:
    with club(tmp_path, *LISTS, listed(MAX, "2312"), *GAMES) as ledger:
        assert set(ratings(ledger)) == {"Ann", "Bob", "Max"}
        for recorded in (True, False):
            details = PlayerDetails(federation=SWE)
            assert ledger.registry.describe(MAX, details, since="2024-01-01", actor="registry") is recorded
        assert ratings(ledger) == {"Ann": 1994.0, "Bob": 1931.0}
        assert [(row["player"], row["federation"]) for row in ledger.rows("federations")] == [(MAX, SWE)]
    with club(tmp_path / "without", *LISTS, federation=None) as ledger:
        ledger.registry.describe(MAX, PlayerDetails(federation=SWE), since="2024-01-01", actor="registry")
        assert list(ledger.rows("federations")) == [], "without guests it stays with the personal data"
