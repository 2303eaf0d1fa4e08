"""Every built-in scheme on a club's real journal: rated in any order, explained game by game, listed, audited."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.answers import explanations, predictions, publications
from ledger.answers.rows import as_row, as_rows
from ledger.audit import audit
from ledger.errors import UnknownNameError
from ledger.facts.source_games import SourceGame
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.schemes import built_in_names
from ledger.testing.kit import bit_patterns
from tests.kit.lived_histories import rows_by_identity
from tests.kit.places import SAMPLE
from tests.kit.source_files import open_lines
from tests.tiers import few_quick

NOW = datetime(2026, 11, 21, tzinfo=UTC)
# By the rules of 2026, for those of 2005 list nobody below 1801; and somebody must be rated before others can be.
SETTINGS = {"fide": {"rules_day": 20_500, "start": 1800}}
EXPLAINED = 60  # games of one player, the oldest and the newest
KINDS = ("chessworld", "glicko2", "fide")  # which rate by game, by period and by tournament
each_scheme = pytest.mark.parametrize("ledger", few_quick(built_in_names(), "glicko2"), indirect=True)
each_kind = pytest.mark.parametrize("ledger", few_quick(built_in_names(), *KINDS, others="nightly"), indirect=True)


@pytest.fixture(name="games", scope="module")
def _games() -> list[SourceGame]:
    with open_lines(str(SAMPLE)) as (lines, reading):
        return list(pgn.read_games(lines, reading))


@pytest.fixture(name="ledger", scope="module")
def _ledger(
    request: pytest.FixtureRequest, games: list[SourceGame], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ledger]:
    path = tmp_path_factory.mktemp(request.param) / "club.db"
    settings = SETTINGS.get(request.param)
    with Ledger.create(path, scheme=request.param, settings=settings, clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(games, 500))
        ledger.catch_up()
        yield ledger


@each_scheme
def test_later_games_first_gives_the_same_rows(ledger: Ledger, games: list[SourceGame], tmp_path: Path) -> None:
    scheme = ledger.pool().scheme.name
    settings = SETTINGS.get(scheme)
    with Ledger.create(tmp_path / "club.db", scheme=scheme, settings=settings, clock=lambda: NOW) as other:
        for part in (games[600:], games[:300], games[300:600]):
            other.import_games(batch_games(part, 500))
            other.catch_up()
        expected = rows_by_identity(ledger)
        found = rows_by_identity(other)
        assert {table: found[table] for table in ("games", "history", "current")} == {
            table: expected[table] for table in ("games", "history", "current")
        }


@each_kind
def test_a_rebuild_changes_nothing_and_the_audit_holds(ledger: Ledger, tmp_path: Path) -> None:
    before = rows_by_identity(ledger)
    ledger.rebuild()
    assert rows_by_identity(ledger) == before
    for file in ledger.path.parent.glob("club*.db*"):
        shutil.copy(file, tmp_path)
    assert audit.audit(tmp_path / "club.db").falsehoods == ()


@each_scheme
def test_explanations_of_a_player_s_games_give_the_ratings_that_stand(ledger: Ledger) -> None:
    person = ledger.player("ann")
    rows = list(ledger.rows("history", "player = ? ORDER BY n", (person.player,)))
    keys = {row["position"]: row["key"] for row in ledger.rows("games")}
    for row in rows[:EXPLAINED] + rows[-EXPLAINED:]:
        told = as_row(explanations.explain(ledger, person, keys[row["game"]]))
        era = ledger.pool().eras[0]
        listed = era.scheme.is_listed([row[name] for name in era.scheme.state], era.numbers)
        assert told["after"] is None or bit_patterns([told["after"]]) == bit_patterns([row["rating"]])
        assert (told["after"] is None) is not listed
        if told["before"] is None or told["after"] is None:  # unrated before or after
            assert told["change"] is None
        else:
            assert told["change"] == told["after"] - told["before"]
        assert told["source"]


@each_scheme
def test_the_calculations_of_lists_add_up_to_the_ratings_that_stand(ledger: Ledger) -> None:
    by_game, games = ledger.pool().by_game, 0
    for row in ledger.rows("current", "1 ORDER BY player"):
        for month in ("2005-06", "2005-12", "2006-03", "2006-06"):
            try:
                calculation = ledger.player(row["player"]).calculation(month)
            except UnknownNameError:  # no list yet
                continue
            assert (calculation.adds_up, calculation.differences) == (True, [])
            lines = [line for batch in calculation.batches for each in batch.tournaments for line in each.lines]
            games += len(lines)
            added = sum(line.change or 0.0 for line in lines)
            if calculation.change is not None and by_game:
                assert added + (calculation.otherwise or 0.0) == pytest.approx(calculation.change, abs=1e-6)
    assert games > 100


@each_scheme
def test_predictions_and_rankings_are_numbers(ledger: Ledger) -> None:
    told = as_row(predictions.predict(ledger, ledger.player("ann"), ledger.player("bob")))
    assert 0.0 <= told["expected_score"] <= 1.0
    assert told["scheme"] == ledger.pool().scheme.name
    ranking = as_rows(ledger.ranking(limit=50))
    on_the_list = as_rows(publications.list_in_force_on(ledger, "2006-12-31"))
    if ledger.pool().by_game:  # no period is open after the last game, so that both are of one moment
        assert [(row["player"], row["rating"]) for row in ranking] == [(r["player"], r["rating"]) for r in on_the_list]
    assert len(ranking) > 10
    assert [row["rating"] for row in ranking] == sorted((row["rating"] for row in ranking), reverse=True)


@each_scheme
def test_a_list_of_a_day_holds_what_was_in_force(ledger: Ledger) -> None:
    last = as_rows(publications.list_in_force_on(ledger, "2006-12-31"))
    assert last
    assert [row["rating"] for row in last] == sorted((row["rating"] for row in last), reverse=True)
    assert as_rows(publications.list_in_force_on(ledger, "1999-12-31")) == []
    middle = as_rows(publications.list_in_force_on(ledger, "2005-08-15"))
    if ledger.pool().by_game:
        with pytest.raises(UnknownNameError, match="rates each game when it ends"):
            as_rows(publications.rating_runs(ledger))
        assert all("next_run" not in row for row in middle)
        return
    found = as_rows(publications.rating_runs(ledger))
    assert sum(run["games"] for run in found) == 900 - sum(1 for _ in ledger.rows("games", "reason IS NOT NULL"))
    assert [run["as_of"] for run in found] == sorted(run["as_of"] for run in found)
    following = min(run["as_of"] for run in found if run["as_of"] > "2005-08-15")
    assert {row["next_run"] for row in middle} == {following}
    later = {row["player"]: row["rating"] for row in as_rows(publications.list_in_force_on(ledger, following))}
    assert {row["player"]: row["next_rating"] for row in middle if row["next_rating"] is not None}.items() <= (
        later.items()
    )
