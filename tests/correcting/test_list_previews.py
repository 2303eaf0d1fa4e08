"""The impact of a correction on published lists: those that would differ as revised are told; what it says comes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.facts.changes import Change
from ledger.facts.events import Decision, Event, PlayerChanged, TournamentClosed, TournamentOpened
from ledger.facts.words import Standing
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import dry_runs, rating_previews, reratings
from ledger.ratings.standings import Standings
from tests.kit.clubs import NOW
from tests.kit.commands import Run
from tests.kit.games import game_recorded, seeded, source_games
from tests.kit.impacts import check_lists, revised_lists

GAMES = 200


@pytest.fixture(name="listed", params=("chessworld", "glicko2", "uschess"))
def _listed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """Made-up games, rated by a scheme of each rhythm, and the lists of their first, middle and last days."""
    with Ledger.create(tmp_path / "club.db", scheme=str(request.param), clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(GAMES), GAMES))
        ledger.catch_up()
        days = [row["ended_at"][:10] for row in ledger.rows("games", "true ORDER BY ended_ms")]
        for day in dict.fromkeys((days[0], days[GAMES // 2], days[-1])):
            ledger.publications.publish(day, actor="eve", despite_complaints=True)
        yield ledger


def game(ledger: Ledger, place: int) -> str:
    """The key of a game, by its place in order of time."""
    return f"game:{[row['key'] for row in ledger.rows('games', 'true ORDER BY ended_ms')][place]}"


def previewed(ledger: Ledger, *changes: Change) -> list[str]:
    """Preview changes, approve them, compare both; the names of the lists that differ."""
    before = revised_lists(ledger)
    number = ledger.propose(changes, reason="because", by="eve").proposal
    impact = ledger.preview(number)
    ledger.decide(number, Decision.APPROVED, by="adam")
    check_lists(impact, before, revised_lists(ledger))
    return [move.name for move in impact.lists]


def test_lists_from_the_corrected_game_on_differ(listed: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reratings, "STRIDE", 20)
    lists = [asked.name for asked in listed.publications.last_editions()]
    assert previewed(listed, listed.corrections.drafts.annul(game(listed, GAMES // 2 + 10))) == lists[-1:]
    assert previewed(listed, listed.corrections.drafts.annul(game(listed, 1)))[-1:] == lists[-1:]


def test_a_closed_account_and_another_scheme_differ_too(listed: Ledger) -> None:
    lists = [asked.name for asked in listed.publications.last_editions()]
    drafts = listed.corrections.drafts
    month = lists[-1].partition("@")[2].partition("/")[0]
    closed = PlayerChanged(player=1, effective_at=month, standing=Standing.CLOSED)
    assert previewed(listed, drafts.add(closed)) == lists[-1:]
    assert lists[-1] in previewed(listed, drafts.replace("scheme:standard@start", {"scheme": "glicko", "settings": {}}))


@pytest.mark.parametrize(
    ("scheme", "fact"),
    [
        ("fide", TournamentOpened(pool="standard", tournament="Cup", starts_at="2021-01-26", ends_at="2021-02-03")),
        ("fide", TournamentClosed(pool="standard", tournament="Cup", ended_at="2021-02-03")),
        ("uschess", TournamentClosed(pool="standard", tournament="Cup", ended_at="2021-02-03")),
    ],
)
def test_the_days_of_a_tournament_are_tried_on_those_who_played_in_it(
    scheme: str, fact: Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"late_reports": "true-place"}
    with Ledger.create(tmp_path / "club.db", scheme=scheme, settings=settings, clock=lambda: NOW) as ledger:
        for number, name in enumerate(("Ann", "Bob", "Cleo", "Dan"), 1):
            ledger.register(f"name:{name}", name)
            ledger.append(seeded(number, "2000", games=40))
        ledger.append(game_recorded("cup", half_moves=40, ended_at="2021-01-26", tournament="Cup"))
        ledger.append(game_recorded("late", half_moves=40, ended_at="2021-01-28", tournament="Cup"))
        ledger.append(game_recorded("other", white=3, black=4, half_moves=40, ended_at="2021-01-26"))
        for month in ("2021-01", "2021-02"):
            ledger.publications.publish(month, actor="eve", despite_complaints=True)
        change = ledger.corrections.drafts.add(fact)
        with monkeypatch.context() as patched:
            patched.setattr(Standings, "best", lambda *_: pytest.fail("everybody was looked at"))
            assert ledger.preview([change]).lists
        assert "standard@2021-01/1" in previewed(ledger, change)


def test_what_an_approval_takes_is_not_what_lists_took_to_be_compared(
    listed: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    rated, told = dry_runs.apply_entries, rating_previews._lists

    def slowly(*args: Any) -> Any:
        clock[0] += 10.0
        return rated(*args)

    def very_slowly(*args: Any) -> Any:
        clock[0] += 1_000.0
        return told(*args)

    monkeypatch.setattr("ledger.ratings.rating_previews.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr(rating_previews, "apply_entries", slowly)
    monkeypatch.setattr(rating_previews, "_lists", very_slowly)
    assert listed.preview([listed.corrections.drafts.annul(game(listed, 1))]).seconds == pytest.approx(13.0)


def test_the_command_names_the_lists(run: Run, tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    with Ledger.create(club, clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(60), 60))
        ledger.ensure_up_to_date()
        last = max(row["ended_at"] for row in ledger.rows("games"))[:10]
        name = ledger.publications.publish(last, actor="eve", despite_complaints=True).publication.name
        ledger.propose([ledger.corrections.drafts.annul(game(ledger, 20))], reason="because", by="eve")
    table = run("correct", club, "preview", "1", "-t").out
    assert f"list {name}, as revised: " in table
    (row,) = json.loads(run("correct", club, "preview", "1").out)["lists"]
    assert row["list"] == name
    assert f"most of all {row['name']}: {row['before']:.1f} to {row['after']:.1f}" in table
    assert row["players"] >= 2
