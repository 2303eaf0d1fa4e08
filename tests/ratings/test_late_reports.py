"""A game that is reported after its list was published counts in the next list, with the ratings of its own days.

Worked by hand as in ``test_whole_tournaments``: everybody begins with a declared 2000 and the K of a new player, 40.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.answers import explanations, player_games, recorded_games
from ledger.answers.crosstables.crosstable import crosstable
from ledger.audit.audit import audit
from ledger.errors import RejectedError
from ledger.facts.events import (
    Decision,
    Event,
    GameRecorded,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Outcome
from ledger.journal.stored_lists import LAST_RATED, ONE_BY_ONE, list_texts
from ledger.ledger import Ledger
from ledger.publishing import publications
from ledger.ratings.standings import Standings, rating_list_at
from ledger.schemes import built_in_schemes
from ledger.schemes.scheme import Rhythm
from tests.kit.clubs import recorded_of_old
from tests.kit.drawn_clubs import new_ledger
from tests.kit.lived_histories import PROJECTORS, WAYS, all_rows, forced, in_the_end
from tests.ratings.whole_tournaments import (
    ANN,
    BOB,
    CARL,
    DAN,
    EVE,
    EVERYBODY,
    NOW,
    club,
    lists,
    places,
    played,
    ratings,
    told,
)

AUGUST = [played("2025-08-10", ANN, "1", CARL, "August open")]
SEPTEMBER = [played("2025-09-10", ANN, "1", DAN, "September open")]
LATE = [played("2025-08-20", ANN, "1", BOB, "Late open"), played("2025-08-21", CARL, "=", BOB, "Late open")]
TRUE_PLACE = club(2000, 2000, 2000, 2000, 2000, late_reports="true-place")
END_OF_SEPTEMBER = instant_end_ms("2025-09")


def publish(ledger: Ledger, day: str, pool: str = "club") -> bool:
    """Publish a list; return whether it is a new edition."""
    return ledger.publications.publish(day, pool, actor="adam", despite_complaints=True).recorded


def test_new_pools_of_fide_say_next_list_and_other_pools_true_place() -> None:
    for scheme in built_in_schemes():
        is_fide = scheme.name == "fide"
        assert scheme.complete_settings({})["late_reports"] == ("next-list" if is_fide else "true-place")
        assert scheme.adopted_settings({})["late_reports"] == "true-place"


@pytest.mark.parametrize("scheme", built_in_schemes(), ids=lambda scheme: scheme.name)
def test_only_schemes_that_rate_by_period_have_next_lists(scheme: Any, tmp_path: Path) -> None:
    settings: dict[str, int | bool | str] = {"late_reports": "next-list"}
    if scheme.rhythm is Rhythm.PERIOD:
        Ledger.create(tmp_path / "club.db", scheme=scheme.name, settings=settings).close()
        return
    with pytest.raises(RejectedError, match="next-list is for schemes that rate by period"):
        Ledger.create(tmp_path / "club.db", scheme=scheme.name, settings=settings)


def test_a_late_event_counts_in_the_next_list_with_the_ratings_of_its_own_days(new_club: Ledger) -> None:
    """August: Ann 2020, Carl 1980 on the list of 1 September.

    The late open is rated from the list of 1 August: Ann 2000 against 2000, 20 more; Carl draws with Bob, both 2000.
    In September Ann has 2020 against Dan's 2000: .53. Together .50 + .47 times 40 is 38.8: 2059.
    """
    told(new_club, EVERYBODY, AUGUST)
    assert publish(new_club, "2025-09-01")
    told(new_club, LATE, SEPTEMBER)
    assert places(new_club, "Late open") == {(END_OF_SEPTEMBER, None), (END_OF_SEPTEMBER, instant_ms("2025-08-20"))}
    assert lists(new_club, ANN) == [("2025-08-31", 2020), ("2025-09-30", 2059)]
    assert ratings(new_club) == {ANN: 2059, BOB: 1980, CARL: 1980, DAN: 1981}
    assert not publish(new_club, "2025-09-01")


def last_games(ledger: Ledger, at: str | None = None) -> dict[int, str | None]:
    at_ms = None if at is None else instant_end_ms(at)
    best = Standings(ledger.views.connection, ledger.pool("club"), at_ms, now_ms=ledger.now_ms()).best()
    return {row.player: row.last_game for row in best}


def test_a_late_event_sets_nobodys_last_game_back(new_club: Ledger) -> None:
    """Whatever is asked, and whichever way the rows are made: live, by a correction, or in a first build."""
    october = [
        played("2025-10-10", ANN, "1", BOB, "October open"),
        played("2025-10-11", BOB, "1", CARL, "October open"),
    ]
    told(new_club, EVERYBODY, october)
    publish(new_club, "2025-11-01")
    told(new_club, LATE, played("2025-08-22", DAN, "1", ANN, "Late open"))
    expected = {ANN: "2025-10-10", BOB: "2025-10-11", CARL: "2025-10-11", DAN: "2025-08-22"}
    for at in (None, "2025-12-01"):
        assert last_games(new_club, at) == expected
    new_club.rebuild()
    assert last_games(new_club) == expected
    annulled = new_club.propose([new_club.corrections.drafts.annul("game:2025-10-11-2-3")], reason="twice", by="eve")
    new_club.decide(annulled.proposal, Decision.APPROVED, by="adam")
    assert last_games(new_club) == expected | {BOB: "2025-10-10", CARL: "2025-08-21"}


def test_the_last_game_is_the_latest_also_of_an_event_that_took_long(new_club: Ledger) -> None:
    """Ann's game in the long open is rated in September, after the one in the August open, and ended before it."""
    days = ("2025-08-15", "2025-08-20", "2025-08-26", "2025-08-31", "2025-09-05")
    long = [
        played("2025-08-10", ANN, "1", BOB, "Long open"),
        *(played(day, CARL, "1", BOB, "Long open") for day in days),
    ]
    told(new_club, TRUE_PLACE, long, played("2025-08-25", ANN, "1", DAN, "August open"))
    assert [day for day, _ in lists(new_club, ANN)] == ["2025-08-31", "2025-09-30"]
    assert last_games(new_club) == {ANN: "2025-08-25", BOB: "2025-09-05", CARL: "2025-09-05", DAN: "2025-08-25"}


def test_a_late_event_changes_the_rating_in_force_wherever_it_is_shown(new_club: Ledger) -> None:
    """August brings Ann to 2020; the late open, rated with her 2000 of its first day, to 2040."""
    told(new_club, EVERYBODY, AUGUST)
    publish(new_club, "2025-09-01")
    told(new_club, LATE)
    (late, august) = player_games.games(new_club, new_club.player(ANN), "club")
    assert (august.rating_before, august.rating) == (2000, 2020)
    assert (late.rating_before, late.rating, late.opponent_rating_before) == (2020, 2040, 2000)
    explained = explanations.explain(new_club, new_club.player(ANN), late.game)
    assert (explained.before, explained.after, explained.change) == (2020, 2040, 20)
    recorded = recorded_games.recorded_game(new_club, late.game)
    assert (recorded.white_before, recorded.white_after) == (2020, 2040)
    (row, *_) = crosstable(new_club, "Late open", "club").standings
    assert (row.player, row.enrolment_rating, row.results[0].rating_before, row.closing_rating) == (
        ANN,
        2000,
        2020,
        2040,
    )


def are_lists_true(ledger: Ledger) -> bool:
    verdict = audit(ledger.path, lists=True)
    assert verdict.lists_recomputed == len(ledger.publications.all())
    return {falsehood.table for falsehood in verdict.falsehoods} <= {"people"}  # the players have no names here


@pytest.mark.parametrize("form", [LAST_RATED, ONE_BY_ONE])
def test_a_list_of_an_earlier_form_has_the_last_game_in_rating_order_and_stays_true(
    form: str, new_club: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a release kept Ann, Bob and Carl off the list: the last game in rating order lies too far back."""
    told(new_club, EVERYBODY, played("2025-10-10", ANN, "1", BOB, "October open"))
    publish(new_club, "2025-11-01")
    new_club.policies.set("publishing", {"active_days": 100}, actor="adam")
    told(new_club, LATE, played("2025-11-10", DAN, "1", EVE, "November open"))
    with monkeypatch.context() as patch:
        patch.setattr(publications, "list_texts", partial(list_texts, form=form))
        patch.setattr(publications, "rating_list_at", partial(rating_list_at, form=form))
        publish(new_club, "2025-12-01")
    old = new_club.publications.named("club@2025-12-01")
    assert {row.player for row in new_club.publications.rows(old)} == {DAN, EVE}
    assert are_lists_true(new_club)
    new_club.publications.restore_rows(old, actor="adam")
    assert publish(new_club, "2025-12-01")  # the next edition has the players who were missing
    now = new_club.publications.rows(new_club.publications.named("club@2025-12-01"))
    assert {row.player: row.last_game for row in now} == {
        ANN: "2025-10-10", BOB: "2025-10-10", DAN: "2025-11-10", EVE: "2025-11-10"
    }  # fmt: skip
    assert are_lists_true(new_club)


def test_with_true_place_it_counts_in_its_own_list(new_club: Ledger) -> None:
    told(new_club, TRUE_PLACE, AUGUST)
    publish(new_club, "2025-09-01")
    told(new_club, LATE)
    assert {rated_ms for rated_ms, _ in places(new_club, "Late open")} == {instant_end_ms("2025-08")}
    assert publish(new_club, "2025-09-01")


def test_a_second_late_list_takes_what_the_first_one_missed(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, AUGUST)
    publish(new_club, "2025-09-01")
    told(new_club, SEPTEMBER)
    publish(new_club, "2025-10-01")
    told(new_club, LATE)
    assert {rated_ms for rated_ms, _ in places(new_club, "Late open")} == {instant_end_ms("2025-10")}
    assert not publish(new_club, "2025-09-01")
    assert not publish(new_club, "2025-10-01")


def test_rounds_reported_after_the_list_leave_the_reported_ones_in_it(new_club: Ledger) -> None:
    """The tournament goes on in September, and its first two games were in the list of August: they stay there."""
    first = [played("2025-08-24", ANN, "1", BOB, "Open"), played("2025-08-26", CARL, "1", BOB, "Open")]
    rest = [played("2025-08-27", ANN, "=", CARL, "Open"), played("2025-09-01", ANN, "=", DAN, "Open")]
    told(new_club, EVERYBODY, first)
    publish(new_club, "2025-08-31")
    told(new_club, rest)
    in_list = instant_end_ms("2025-08")
    assert {row["key"]: row["rated_ms"] for row in new_club.rows("games")} == {
        "2025-08-24-1-2": in_list,
        "2025-08-26-3-2": in_list,
        "2025-08-27-1-3": END_OF_SEPTEMBER,
        "2025-09-01-1-4": END_OF_SEPTEMBER,
    }
    began = {row["began_ms"] for row in new_club.rows("games", "rated_ms = ?", (END_OF_SEPTEMBER,))}
    assert began == {instant_ms("2025-08-24")}
    assert not publish(new_club, "2025-08-31")


def test_days_announced_after_the_list_move_no_game_of_it(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, AUGUST)
    publish(new_club, "2025-09-01")
    before = ratings(new_club)
    told(new_club, [TournamentClosed(pool="club", tournament="August open", ended_at="2025-09-05")])
    opened = TournamentOpened(pool="club", tournament="August open", starts_at="2025-08-01", ends_at="2025-09-20")
    told(new_club, [opened])
    assert places(new_club, "August open") == {(instant_end_ms("2025-08"), None)}
    assert ratings(new_club) == before


def test_days_announced_before_the_list_count(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, AUGUST)
    told(new_club, [TournamentClosed(pool="club", tournament="August open", ended_at="2025-09-05")])
    publish(new_club, "2025-09-01")
    assert {rated_ms for rated_ms, _ in places(new_club, "August open")} == {END_OF_SEPTEMBER}


def test_a_run_closed_up_to_a_published_day_closes_nothing(new_club: Ledger) -> None:
    told(new_club, club(2000, 2000, 2000, 2000, by_runs=True), AUGUST)
    publish(new_club, "2025-08-31")
    told(new_club, [RatingRunClosed(pool="club", as_of="2025-08-31")])
    assert not publish(new_club, "2025-08-31")
    told(new_club, [RatingRunClosed(pool="club", as_of="2025-09-30")])
    assert {rated_ms for rated_ms, _ in places(new_club, "August open")} == {END_OF_SEPTEMBER}


def test_a_pool_that_says_next_list_from_a_day_on_keeps_the_true_places_before(new_club: Ledger) -> None:
    told(new_club, TRUE_PLACE, AUGUST)
    publish(new_club, "2025-09-01")
    settings: dict[str, int | bool | str] = {"by_event": True, "included_until": 2, "late_reports": "next-list"}
    told(new_club, [SchemeAdopted(pool="club", scheme="fide", settings=settings, effective_from="2025-09-01")])
    told(new_club, LATE, SEPTEMBER)
    publish(new_club, "2025-10-01")
    told(new_club, [played("2025-09-20", BOB, "1", EVE, "Later open")])
    assert {rated_ms for rated_ms, _ in places(new_club, "Late open")} == {instant_end_ms("2025-08")}
    assert {rated_ms for rated_ms, _ in places(new_club, "Later open")} == {instant_end_ms("2025-10")}


def test_a_late_game_before_a_change_to_a_scheme_by_game_is_its_next_game(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, AUGUST)
    told(new_club, [SchemeAdopted(pool="club", scheme="elo", settings={}, effective_from="2025-09-01")])
    publish(new_club, "2025-09-15")
    told(new_club, LATE)
    assert {rated_ms for rated_ms, _ in places(new_club, "Late open")} == {instant_end_ms("2025-09-15") + 1}


def test_a_player_with_a_declared_rating_is_on_no_list_before_the_first_rated_game(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, AUGUST)
    publish(new_club, "2025-09-01")
    told(new_club, [played("2025-08-22", DAN, "1", EVE, "Late open")])
    rows = new_club.publications.rows(new_club.publications.named("club@2025-09-01"))
    assert [row.player for row in rows] == [ANN, CARL]
    assert not publish(new_club, "2025-09-01")


def test_a_correction_of_a_listed_game_revises_its_list(new_club: Ledger) -> None:
    """Ann drew: she and Carl keep their 2000. The published list stays, and its next edition has the correction."""
    told(new_club, EVERYBODY, AUGUST)
    publish(new_club, "2025-09-01")
    told(new_club, LATE)
    drawn = new_club.corrections.drafts.replace("game:2025-08-10-1-3", {"outcome": "draw"})
    number = new_club.propose([drawn], reason="scoresheet", by="eve").proposal
    new_club.decide(number, Decision.APPROVED, by="adam")
    new_club.ensure_up_to_date()
    assert {rated_ms for rated_ms, _ in places(new_club, "August open")} == {instant_end_ms("2025-08")}
    assert lists(new_club, ANN) == [("2025-08-31", 2000), ("2025-09-30", 2020)]
    first = new_club.publications.named("club@2025-09-01/1")
    assert [row.shown for row in new_club.publications.rows(first)] == [2020, 1980]
    assert publish(new_club, "2025-09-01")


def test_a_game_recorded_by_an_approval_after_the_list_counts_in_the_next_one(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, AUGUST)
    publish(new_club, "2025-09-01")
    added = new_club.corrections.drafts.add(LATE[0])
    number = new_club.propose([added], reason="report of the arbiter", by="eve").proposal
    new_club.decide(number, Decision.APPROVED, by="adam")
    new_club.ensure_up_to_date()
    assert {rated_ms for rated_ms, _ in places(new_club, "Late open")} == {END_OF_SEPTEMBER}


def test_the_audit_derives_late_games_and_lists_again(new_club: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "audited.db"
    with Ledger.create(path, pool="club", scheme="fide", clock=lambda: NOW) as ledger:
        for number in range(1, 6):
            ledger.register(f"id:{number}", f"Player {number}")
        told(ledger, club(start=2000)[1:], AUGUST)
        publish(ledger, "2025-09-01")
        told(ledger, LATE, SEPTEMBER)
        publish(ledger, "2025-10-01")
    verdict = audit(path, lists=True)
    assert verdict.ok
    assert verdict.lists_recomputed == 2


# --- any order, any way ---------------------------------------------------------------------------------------------

TOURNAMENTS = ("Open", "Cup", None)
DAYS = [f"2020-{month:02}-{day:02}" for month in (6, 7, 8) for day in (1, 12, 27, 30)]
LISTS = ("2020-07-01", "2020-08-01", "2020-07-10", "2020-09-01")


@st.composite
def facts_between_lists(draw: st.DrawFn) -> tuple[dict[str, Any], list[list[Event]]]:
    """Draw the settings of a pool, and the facts that are reported before, between and after published lists."""
    settings: dict[str, Any] = draw(
        st.sampled_from(
            (
                {},
                {"by_runs": True},
                {"by_event": False},
                {"event_days": 5, "event_gap": 20},
                {"event_days": 90, "event_gap": 40, "first_day_ratings": 5},
                {"event_days": 5, "event_gap": 40, "first_day_ratings": 60},
            )
        )
    )
    pairs = st.permutations((ANN, BOB, CARL, DAN, EVE)).map(lambda order: order[:2])
    facts: list[Event] = []
    for number in range(draw(st.integers(4, 14))):
        (white, black), day = draw(pairs), draw(st.sampled_from(DAYS))
        game = played(day, white, draw(st.sampled_from("1=0")), black, draw(st.sampled_from(TOURNAMENTS)))
        facts.append(attrs.evolve(game, game=f"g{number}"))
    for name in ("Open", "Cup"):
        if draw(st.booleans()):
            facts.append(TournamentClosed(pool="club", tournament=name, ended_at=draw(st.sampled_from(DAYS))))
        if draw(st.booleans()):
            first, last = sorted(draw(st.tuples(st.sampled_from(DAYS), st.sampled_from(DAYS))))
            facts.append(TournamentOpened(pool="club", tournament=name, starts_at=first, ends_at=last))
    if settings.get("by_runs"):
        facts += [RatingRunClosed(pool="club", as_of=f"2020-0{month}") for month in (6, 7, 8)]
    parts: list[list[Event]] = [[] for _ in range(draw(st.integers(1, len(LISTS))) + 1)]
    for fact in facts:
        parts[draw(st.integers(0, len(parts) - 1))].append(fact)
    return settings, parts


def lived(ledger: Ledger, settings: dict[str, Any], parts: Sequence[Sequence[Event]]) -> list[Any]:
    """Record the facts with a list after each part but the last; return the rows of each list as it was published."""
    adopted, *players = club(2000, 2000, 2000, 2000, 2000, **settings)
    recorded_of_old(ledger, adopted, *(attrs.evolve(cast("Any", player), joined_at="2019") for player in players))
    published = []
    for part, day in zip(parts, (*LISTS, None), strict=False):
        recorded_of_old(ledger, *part)
        ledger.ensure_up_to_date()
        if day is not None and part is not parts[-1]:
            publish(ledger, day)
            published.append((day, ledger.publications.draft(day, "club").rows))
    return published


@given(facts_between_lists(), st.randoms(use_true_random=False), st.sampled_from(sorted(WAYS)))
def test_the_order_between_two_lists_changes_nothing_and_no_published_list_changes(
    drawn: tuple[dict[str, Any], list[list[Event]]], random: Any, way: str
) -> None:
    settings, parts = drawn
    shuffled = [random.sample(part, len(part)) for part in parts]
    with new_ledger(PROJECTORS) as ledger, new_ledger(PROJECTORS) as other:
        published = lived(ledger, settings, parts)
        assert [(day, ledger.publications.draft(day, "club").rows) for day, _ in published] == published
        with forced(way):
            assert lived(other, settings, shuffled) == published
            assert in_the_end(other) == in_the_end(ledger)
        known = all_rows(ledger)
        ledger.rebuild()
        assert all_rows(ledger) == known


@given(facts_between_lists(), st.data(), st.sampled_from(sorted(WAYS)))
def test_a_correction_is_as_if_the_game_had_been_reported_right_at_once(
    drawn: tuple[dict[str, Any], list[list[Event]]], data: st.DataObject, way: str
) -> None:
    settings, parts = drawn
    games = [fact for part in parts for fact in part if isinstance(fact, GameRecorded)]
    wrong = data.draw(st.sampled_from(games))
    now: dict[str, Any] = {
        "ended_at": data.draw(st.sampled_from(DAYS)),
        "tournament": data.draw(st.sampled_from(("Open", "Cup"))),
        "outcome": data.draw(st.sampled_from(("white", "black"))),
    }
    right = attrs.evolve(wrong, **{**now, "outcome": Outcome(now["outcome"])})
    with new_ledger(PROJECTORS) as ledger, new_ledger(PROJECTORS) as other, forced(way):
        lived(ledger, settings, parts)
        changes = {name: value for name, value in now.items() if getattr(wrong, name) != value}
        if changes:
            change = ledger.corrections.drafts.replace(f"game:{wrong.game}", changes)
            number = ledger.propose([change], reason="report of the arbiter", by="eve").proposal
            ledger.decide(number, Decision.APPROVED, by="adam")
            ledger.ensure_up_to_date()
        lived(other, settings, [[right if fact is wrong else fact for fact in part] for part in parts])
        assert in_the_end(ledger) == in_the_end(other)
        known = all_rows(ledger)
        ledger.rebuild()
        assert all_rows(ledger) == known
