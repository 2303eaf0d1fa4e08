"""Equals share a place, 1, 1, 3, 3, wherever one is told, whoever was registered first; older lists keep their form."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.answers import differences, players
from ledger.answers import publications as published_lists
from ledger.answers.rankings import RankingChoice, ranking
from ledger.answers.rows import as_row, as_rows
from ledger.audit.audit import audit
from ledger.facts.events import Decision
from ledger.journal.stored_lists import ONE_BY_ONE, ListRow, list_texts, shared_ranks, with_ranks
from ledger.ledger import Ledger
from ledger.publishing import publications
from ledger.ratings.rating_previews import PlayerFigures
from tests.kit.clubs import NAME, NOW
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.impacts import check, standings

RANKS = {"Ann": 1, "Carl": 1, "Eve": 1, "Bob": 4, "Dora": 4, "Fay": 4}
DAY = "2021-05-31"


def club(path: Path, names: Sequence[str], scheme: str = "elo") -> Ledger:
    """Ann has beaten Bob, Carl Dora, Eve Fay; players registered in the order of *names*."""
    ledger = Ledger.create(path / NAME, scheme=scheme, clock=lambda: NOW)
    number = {name: ledger.register(f"name:{name.lower()}", name) for name in names}
    for game, (white, black) in enumerate((("Ann", "Bob"), ("Carl", "Dora"), ("Eve", "Fay")), 1):
        event = game_recorded(
            f"g{game}", white=number[white], black=number[black], ended_at="2021-05-01", half_moves=60
        )
        ledger.append(event)
    ledger.ensure_up_to_date()
    return ledger


def told(ledger: Ledger) -> dict[str, dict[str, int]]:
    """The places of everybody, by name, as each answer tells them."""
    summaries = {name: as_row(players.summary(ledger, ledger.player(name))) for name in RANKS}
    listed = as_rows(published_lists.list_in_force_on(ledger, DAY))
    return {
        "ranking": {row["name"]: row["rank"] for row in as_rows(ledger.ranking())},
        "in full": {row["name"]: row["rank"] for row in as_rows(ranking(ledger, RankingChoice()))},
        "at": {row["name"]: row["rank"] for row in as_rows(ranking(ledger, RankingChoice(at=DAY)))},
        "with who has not played": {row["name"]: row["rank"] for row in as_rows(ledger.ranking(min_games=0))},
        "list": {row["name"]: row["place"] for row in listed},
        "show": {name: summary["rank"] for name, summary in summaries.items()},
    }


@pytest.mark.parametrize("names", [list(RANKS), sorted(RANKS, reverse=True), sorted(RANKS, key=lambda name: name[1])])
@pytest.mark.parametrize("scheme", ["elo", "uschess"])
def test_equals_share_a_place_in_every_answer(names: list[str], scheme: str, tmp_path: Path) -> None:
    with club(tmp_path, names, scheme) as ledger:
        for where, places in told(ledger).items():
            assert places == RANKS, where


def test_a_closed_account_gives_its_place_to_nobody_and_moves_those_below(tmp_path: Path) -> None:
    with club(tmp_path, list(RANKS)) as ledger:
        closing = [ledger.corrections.drafts.close_account(ledger.player("Carl").player, "2021-05-02")]
        before = standings(ledger)
        impact = ledger.preview(closing)
        proposed = ledger.propose(closing, reason="left", by="eve")
        ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
        check(impact, before, standings(ledger))
        after = {"Ann": 1, "Eve": 1, "Bob": 3, "Dora": 3, "Fay": 3}
        assert {row["name"]: row["rank"] for row in as_rows(ledger.ranking())} == after
        assert {name: as_row(players.summary(ledger, ledger.player(name)))["rank"] for name in RANKS} == {
            **after,
            "Carl": None,
        }


@pytest.mark.parametrize("scheme", ["elo", "uschess", "glicko2"])
def test_a_preview_tells_shared_places_now_and_then(scheme: str, tmp_path: Path) -> None:
    with club(tmp_path, list(RANKS), scheme) as ledger:
        before = standings(ledger)
        voided = [ledger.corrections.drafts.annul("game:g2")]
        impact = ledger.preview(voided)
        moved: dict[int, PlayerFigures | None] = {move.player: move.before for move in impact.moves}
        assert {figures.rank for figures in moved.values() if figures is not None} <= {1, 4}
        proposed = ledger.propose(voided, reason="twice", by="eve")
        ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
        check(impact, before, standings(ledger))
        places = {row["name"]: row["rank"] for row in as_rows(ledger.ranking())}
        assert places == {"Ann": 1, "Eve": 1, "Bob": 3, "Fay": 3}


def published_in_the_old_form(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        old = lambda rows: list_texts(with_ranks(rows, ONE_BY_ONE), ONE_BY_ONE)  # noqa: E731
        patch.setattr(publications, "list_texts", old)
        assert ledger.publications.publish(DAY, actor="eve").recorded


def test_a_list_of_an_earlier_release_keeps_its_form_and_stays_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with club(tmp_path, list(RANKS)) as ledger:
        published_in_the_old_form(ledger, monkeypatch)
        publication = ledger.publications.named(f"standard@{DAY}")
        assert sorted(row.rank for row in ledger.publications.rows(publication)) == [1, 2, 3, 4, 5, 6]
        verdict = audit(ledger.path, lists=True)
        assert verdict.falsehoods == ()
        again = ledger.publications.publish(DAY, actor="eve")
        assert (again.recorded, again.publication.event.edition) == (False, 1)
        first, now = differences.lists_to_compare(ledger, f"standard@{DAY}/1", "now")
        for row in as_rows(differences.list_differences(ledger, first, now)):
            assert (row["change"], row["rank_before"]) == ("unchanged", row["rank_after"])
        ledger.publications.restore_rows(publication, actor="eve")
        assert audit(ledger.path, lists=True).falsehoods == ()


def test_a_list_is_published_with_shared_places(tmp_path: Path) -> None:
    with club(tmp_path, list(RANKS)) as ledger:
        assert ledger.publications.publish(DAY, actor="eve").recorded
        publication = ledger.publications.named(f"standard@{DAY}")
        rows = as_rows(published_lists.published_list_rows(ledger, publication))
        assert {row["name"]: row["rank"] for row in rows} == RANKS
        assert {row["name"]: row["revised_rank"] for row in rows} == RANKS
        assert audit(ledger.path, lists=True).falsehoods == ()


def test_commands_tell_shared_places(tmp_path: Path, run: Run) -> None:
    club(tmp_path, list(RANKS)).close()
    rows: list[dict[str, Any]] = json.loads(run("ratings", tmp_path / NAME).out)
    assert {row["name"]: row["rank"] for row in rows} == RANKS
    assert json.loads(run("show", tmp_path / NAME, "Eve").out)["rank"] == 1
    assert [row["rank"] for row in json.loads(run("ratings", tmp_path / NAME, "--limit", "2").out)] == [1, 1]


@given(st.lists(st.integers(0, 5).map(float), max_size=12))
def test_a_place_is_one_more_than_there_are_better_ones(ratings: list[float]) -> None:
    ordered = sorted(ratings, reverse=True)
    assert shared_ranks(ordered) == [1 + sum(other > rating for other in ordered) for rating in ordered]
    rows = [ListRow(player, 0, 0, rating, 1, None) for player, rating in enumerate(ratings, 1)]
    assert [row.rank for row in with_ranks(rows)] == shared_ranks(ordered)
    assert [row.rank for row in with_ranks(rows, ONE_BY_ONE)] == list(range(1, len(ratings) + 1))
