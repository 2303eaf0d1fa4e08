"""When the views are folded on, when they are built anew, and what an open ledger sees of it."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from ledger import schemes
from ledger.events import GameRecorded
from ledger.ledger import Ledger, beside
from ledger.model import Outcome, Termination


def game(number: int, white: int, black: int) -> GameRecorded:
    return GameRecorded(
        game=f"g{number}", pool="standard", white=white, black=black, outcome=Outcome.WHITE,
        termination=Termination.RESIGNATION, half_moves=40, ended_at=f"2020-01-{number:02}", rated=True,
    )  # fmt: skip


def generous(state: list[float], w: int, b: int, score: float, numbers: object) -> None:
    """A kernel: whoever plays gains a point and counts the game."""
    for p in (w, b):
        state[p] += 1.0
        state[p + 1] += 1.0


@pytest.fixture(name="club")
def _club(tmp_path: Path) -> Path:
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        ann, bob = ledger.register("id:1", "Ann"), ledger.register("id:2", "Bob")
        ledger.append_many([game(number, ann, bob) for number in range(1, 6)])
        ledger.catch_up()
    return path


def test_a_new_version_of_a_scheme_builds_the_views_anew(club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (old,) = schemes.BUILT_IN
    with Ledger.open(club) as ledger:
        before = [row["rating"] for row in ledger.rows("current")]
    monkeypatch.setattr(schemes, "BUILT_IN", (attrs.evolve(old, version=2, rate_game=generous),))
    with Ledger.open(club) as ledger:
        ledger.catch_up()
        assert [row["rating"] for row in ledger.rows("current")] != before
        assert ("scheme chessworld", "2") in ledger.views.connection.execute("SELECT * FROM projections").fetchall()


def test_an_open_ledger_goes_on_with_views_that_were_deleted_and_built_by_another(club: Path) -> None:
    with Ledger.open(club) as ledger:
        ledger.catch_up()
        for leftover in club.parent.glob("club.views.*"):
            leftover.unlink()
        with Ledger.open(club) as other:
            other.catch_up()
        ledger.append(game(6, 1, 2))
        assert ledger.catch_up() == 9
    with Ledger.open(club) as again:
        assert again.views.position() == 9
        assert len(list(again.rows("history"))) == 12


def test_views_are_level_only_when_every_entry_is_folded_in(club: Path) -> None:
    with Ledger.open(club) as ledger:
        assert ledger.views.is_level(ledger.journal)
        ledger.append(game(7, 1, 2))
        assert not ledger.views.is_level(ledger.journal)
        beside(club, "views").unlink()
        assert not ledger.views.is_level(ledger.journal)
