"""Which read models a ledger keeps: a rule of its own, so that processes with other plug-ins can share one ledger."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.answers import querying, streaks
from ledger.answers.exports import exporting
from ledger.answers.rows import as_rows
from ledger.audit.audit import audit
from ledger.errors import ProjectionError, UnknownNameError
from ledger.facts.events import Decision
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import installed_projectors, read_models, table_repairs, views
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.read_models import InstalledProjectors
from ledger.runtime.ledger_files import sidecar
from ledger.testing.kit import table_rows
from tests.kit.clubs import NAME, copied
from tests.kit.games import game_recorded, source_games
from tests.kit.plugins import SURPLUSES, WIN_STREAKS
from tests.kit.tampering import run_sql

GAMES = 120
POINTS = attrs.evolve(SURPLUSES, name="by_event", by="tournament", rows="changes", stores=("game",))
PLUG_INS = (SURPLUSES, WIN_STREAKS, POINTS)
BUILT_IN = {projector.name for projector in installed_projectors.BUILT_IN}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keeping")
    with Ledger.create(folder / NAME) as ledger:
        ledger.import_games(batch_games(source_games(GAMES)))
        ledger.ensure_up_to_date()
    return folder


@pytest.fixture
def kept_club(original: Path, tmp_path: Path) -> Path:
    return copied(original, tmp_path)


def with_plug_ins(path: Path, plug_ins: Sequence[DeclaredProjector] = PLUG_INS) -> Ledger:
    return Ledger.open(path, projectors=plug_ins)


def tables(ledger: Ledger) -> set[str]:
    ledger.ensure_up_to_date()
    return {name for (name,) in ledger.views.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def rows(ledger: Ledger, plug_ins: Sequence[DeclaredProjector] = PLUG_INS) -> dict[str, Any]:
    ledger.ensure_up_to_date()
    assert read_models.stale_tables(ledger.views.connection) == set()
    return {projector.name: table_rows(ledger.views.connection, projector.name) for projector in plug_ins}


def rebuilt(path: Path, tmp_path: Path, plug_ins: Sequence[DeclaredProjector] = PLUG_INS) -> dict[str, Any]:
    """The same tables of views that are built anew from the same journal."""
    aside = copied(path.parent, tmp_path / "rebuilt")
    with with_plug_ins(aside, plug_ins) as ledger:
        ledger.rebuild()
        return rows(ledger, plug_ins)


def test_opening_with_one_more_folds_it_beside_and_opening_with_fewer_takes_nothing_away(kept_club: Path) -> None:
    with with_plug_ins(kept_club, (SURPLUSES,)) as ledger:
        assert {"surpluses"} | BUILT_IN <= tables(ledger)
        before = rows(ledger, (SURPLUSES,))
    for given in ((), None, (WIN_STREAKS,)):
        with Ledger.open(kept_club, projectors=given) as ledger:
            assert {"surpluses"} | BUILT_IN <= tables(ledger)
            assert list(ledger.rows("surpluses"))  # nothing was recorded without it: its rows are right
    with with_plug_ins(kept_club, (SURPLUSES,)) as ledger:
        assert rows(ledger, (SURPLUSES,)) == before


def test_a_long_ledger_without_two_tables_is_built_anew_rather_than_folded_twice(
    kept_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "BUILD_FROM", 1)
    with Ledger.open(kept_club, projectors=()) as ledger:
        ledger.rebuild()
        size = ledger.journal.size()
    told: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(table_repairs, "_make", None)
        with with_plug_ins(kept_club) as ledger:
            ledger.ensure_up_to_date(lambda what, _done, _of: told.append(what))
            built = rows(ledger)
            assert ledger.views.position() == size
    assert told
    monkeypatch.setattr(views, "BUILD_FROM", 1_000_000)
    with Ledger.open(kept_club, projectors=()) as ledger:
        ledger.rebuild()
    with with_plug_ins(kept_club) as ledger:
        assert rows(ledger) == built


def test_a_long_ledger_whose_other_tables_cannot_be_made_here_is_folded_beside_them(
    kept_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "BUILD_FROM", 1)
    with Ledger.open(kept_club, projectors=()) as ledger:
        ledger.rebuild()
    with with_plug_ins(kept_club, PLUG_INS[:1]) as ledger:
        ledger.ensure_up_to_date()
        others = rows(ledger, PLUG_INS[:1])
    with Ledger.open(kept_club) as ledger:
        ledger.ensure_up_to_date()
        assert tables(ledger) >= {PLUG_INS[0].name, *BUILT_IN}
    with with_plug_ins(kept_club, PLUG_INS[:1]) as ledger:
        assert rows(ledger, PLUG_INS[:1]) == others


def live_game(ledger: Ledger) -> None:
    ledger.append(game_recorded("live", white=1, black=2, ended_at="2021-06-01", half_moves=60, tournament="New"))


def late_game(ledger: Ledger) -> None:
    ledger.append(game_recorded("late", white=1, black=2, ended_at="2014-06-01", half_moves=60, tournament="Old"))


def approve(ledger: Ledger, verb: str, **words: str) -> None:
    change = ledger.corrections.verbs.change(verb, words)
    number = ledger.propose([change], reason="the scoresheet", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")


def last_game_voided(ledger: Ledger) -> None:
    live_game(ledger)
    ledger.ensure_up_to_date()
    approve(ledger, "void", game="live")


def early_game_voided(ledger: Ledger) -> None:
    ledger.ensure_up_to_date()
    key = next(iter(ledger.rows("games", "reason IS NULL ORDER BY rated_ms")))["key"]
    approve(ledger, "void", game=key)


def players_merged(ledger: Ledger) -> None:
    approve(ledger, "merge", player="2", into="1")


def another_pool(ledger: Ledger) -> None:
    live_game(ledger)
    ledger.import_games(batch_games(source_games(GAMES + 20)))


CHANGES = (live_game, late_game, last_game_voided, early_game_voided, players_merged, another_pool)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_was_left_behind_refuses_to_answer_and_is_brought_level(
    change: Any, kept_club: Path, tmp_path: Path
) -> None:
    with with_plug_ins(kept_club) as knowing, Ledger.open(kept_club) as ignorant:
        rows(knowing)
        ignorant.ensure_up_to_date()
        change(ignorant)
        ignorant.ensure_up_to_date()
        assert set(read_models.stale_tables(ignorant.views.connection)) == {projector.name for projector in PLUG_INS}
        for ask in (
            lambda: ignorant.rows("surpluses"),
            lambda: list(querying.query(ignorant, "SELECT count(*) FROM surpluses")),
            lambda: b"".join(exporting.export_lines(ignorant, ["surpluses"])),
        ):
            with pytest.raises(ProjectionError, match=r"surpluses: its table is of entry [\d,]+, the views"):
                ask()
        assert as_rows(streaks.streaks(ignorant, ignorant.player(1)))  # what is built in goes on
        verdict = audit(kept_club, projectors=(*installed_projectors.BUILT_IN, *PLUG_INS))
        assert verdict.falsehoods == ()
        assert {f"table {projector.name}" for projector in PLUG_INS} <= {left.part for left in verdict.not_compared}
        assert list(knowing.rows("surpluses"))  # whoever has the plug-in brings it level by asking
        after = rows(knowing)
        assert audit(kept_club, projectors=(*installed_projectors.BUILT_IN, *PLUG_INS)).not_compared == ()
    assert after == rebuilt(kept_club, tmp_path)


def test_two_processes_with_other_plug_ins_live_side_by_side(kept_club: Path, tmp_path: Path) -> None:
    with with_plug_ins(kept_club, (SURPLUSES,)) as one, with_plug_ins(kept_club, (WIN_STREAKS,)) as other:
        for number in range(12):
            turn = one if number % 3 else other
            day = f"2021-07-{number + 1:02}"
            turn.append(game_recorded(f"t{number}", white=1 + number % 2, black=3, ended_at=day, half_moves=60))
            turn.ensure_up_to_date()
            assert tables(turn) >= BUILT_IN
        found = rows_when_both(one, other)
    assert found == rebuilt(kept_club, tmp_path, (SURPLUSES, WIN_STREAKS))


def rows_when_both(one: Ledger, other: Ledger) -> dict[str, Any]:
    """The tables of both after nobody records any more."""
    one.ensure_up_to_date()
    other.ensure_up_to_date()
    one.ensure_up_to_date()
    return rows(one, (SURPLUSES, WIN_STREAKS))


def test_the_higher_version_is_kept_and_who_has_the_lower_one_leaves_it(kept_club: Path) -> None:
    newer = attrs.evolve(SURPLUSES, version=2, stores=("game", "rating_before", "expected_score"))
    with with_plug_ins(kept_club, (SURPLUSES,)) as old, with_plug_ins(kept_club, (newer,)) as new:
        rows(old, (SURPLUSES,))
        rows(new, (newer,))
        old.append(game_recorded("live", ended_at="2021-06-01", half_moves=60))
        old.ensure_up_to_date()
        words = "made by version 2, and version 1 of the projector is here; install that version, or raise the version"
        with pytest.raises(ProjectionError, match=words):
            old.rows("surpluses")
        others = {"win_streaks": ProjectionError("win_streaks", "cannot be read")}  # what is wrong with another one
        with pytest.raises(ProjectionError, match=r"^surpluses: .*has gone on"):
            read_models.refuse_stale_table(old.views.connection, "surpluses", others)
        assert {name for row in rows(new, (newer,))["surpluses"] for name, _ in row} >= {"expected_score"}
    with with_plug_ins(kept_club, (SURPLUSES,)) as old:
        old.ensure_up_to_date()
        assert "expected_score" in next(iter(old.rows("surpluses")))


def test_of_one_version_with_other_settings_none_is_made_by_turns(kept_club: Path) -> None:
    other = attrs.evolve(SURPLUSES, settings={"margin": 300})
    with with_plug_ins(kept_club, (SURPLUSES,)) as first, with_plug_ins(kept_club, (other,)) as second:
        rows(first, (SURPLUSES,))
        rows(second, (other,))
        for number in range(3):
            turn = (first, second)[number % 2]
            turn.append(game_recorded(f"t{number}", ended_at=f"2021-07-0{number + 1}", half_moves=60))
            turn.ensure_up_to_date()
        stored = second.views.connection.execute("SELECT identity FROM projections WHERE name = 'surpluses'").fetchone()
        assert stored == (other.identity,)


def test_the_rule_keeps_a_plug_in_and_takes_a_built_in_table_away(kept_club: Path) -> None:
    hand = InstalledProjectors(installed_projectors.BUILT_IN, PLUG_INS)
    with Ledger.open(kept_club) as ledger:
        ledger.views.installed = hand  # as where packages are installed that offer them
        assert tables(ledger).isdisjoint({projector.name for projector in PLUG_INS})
        ledger.policies.set("read-models", {"surpluses": True, "streaks": False})
        assert "surpluses" in tables(ledger)
        assert "streaks" not in tables(ledger)
        with pytest.raises(UnknownNameError, match="no read model 'streaks' in this ledger"):
            as_rows(streaks.streaks(ledger, ledger.player(1)))
        with pytest.raises(UnknownNameError, match="did you mean 'surpluses'"):
            ledger.policies.set("read-models", {"surplusses": True})
    with Ledger.open(kept_club, projectors=installed_projectors.BUILT_IN) as ledger:
        assert "streaks" not in tables(ledger)  # nor by whoever has it at hand
        ledger.policies.set("read-models", {"streaks": True})
        assert as_rows(streaks.streaks(ledger, ledger.player(1)))
        ledger.rebuild()
        with pytest.raises(ProjectionError, match="the ledger keeps it, but its table was never made from these views"):
            ledger.rows("surpluses")
    with Ledger.open(kept_club) as ledger:
        ledger.views.installed = InstalledProjectors(installed_projectors.BUILT_IN, PLUG_INS)
        assert list(ledger.rows("surpluses"))


def test_views_of_an_earlier_layout_bring_their_tables_along(kept_club: Path) -> None:
    with with_plug_ins(kept_club) as ledger:
        before = rows(ledger)
    views = sidecar(kept_club, "views")
    run_sql(views, "DROP TABLE left_behind", "PRAGMA user_version=8")
    with Ledger.open(kept_club) as ledger:
        ledger.views.installed = InstalledProjectors(installed_projectors.BUILT_IN, PLUG_INS)
        assert rows(ledger) == before
    run_sql(views, "DROP TABLE left_behind", "PRAGMA user_version=8")
    with Ledger.open(kept_club) as ledger:  # its plug-ins are not there: they are not forgotten
        ledger.ensure_up_to_date()
        with pytest.raises(ProjectionError, match="never made from these views"):
            ledger.rows("win_streaks")
    with with_plug_ins(kept_club) as ledger:
        assert rows(ledger) == before
