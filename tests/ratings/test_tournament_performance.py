"""The view ``tournament_performance``: what a player did in a tournament so far, out of the history and the games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.answers import querying
from ledger.answers.exports.exporting import export
from ledger.answers.rows import as_rows
from ledger.errors import ProjectionError
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger
from ledger.ratings.installed_projectors import BUILT_IN, RETIRED, installed_projectors
from ledger.ratings.projectors import tournament_performance
from ledger.runtime.lazy import pl
from tests.kit.clubs import NOW, ClubOfTwo
from tests.kit.corrections import approve
from tests.kit.games import game_recorded
from tests.kit.plugins import SCORES, WIN_STREAKS

ROWS = "SELECT * FROM tournament_performance WHERE pool = 1 AND {} ORDER BY pool, player, n"


def asked(ledger: Ledger, where: str) -> list[dict[str, Any]]:
    return list(ledger.database().query(ROWS.format(where)))


@pytest.fixture(name="corrected_cup")
def _cup(club_of_two: ClubOfTwo) -> Ledger:
    """After a game of no tournament Ann wins, draws and loses on time against Bob in the cup, White in turns."""
    ledger = club_of_two.ledger
    for round_, (white, outcome) in enumerate(((1, Outcome.WHITE), (2, Outcome.DRAW), (1, Outcome.BLACK)), 1):
        ledger.append(
            game_recorded(
                f"c{round_}",
                white=white,
                black=3 - white,
                outcome=outcome,
                tournament="Cup",
                half_moves=40,
                termination=Termination.TIME if round_ == 3 else Termination.UNKNOWN,
                ended_at=f"2026-11-0{round_ + 3}",
            )
        )
    ledger.ensure_up_to_date()
    return ledger


def test_the_last_row_of_a_player_is_a_line_of_the_cross_table(corrected_cup: Ledger) -> None:
    first, second, last = asked(corrected_cup, "player = 1 AND tournament = 'Cup'")
    of_cup = "game IN (SELECT position FROM games WHERE tournament = 'Cup')"
    history = list(corrected_cup.rows("history", f"player = 1 AND {of_cup}"))
    theirs = list(corrected_cup.rows("history", f"player = 2 AND {of_cup}"))
    assert [row["n"] for row in (first, second, last)] == [row["n"] for row in history]
    assert (last["games"], last["half_points"], last["white_games"], last["time_losses"]) == (3, 3, 2, 1)
    assert last["enrolment_rating"] == history[0]["rating_before"]
    assert last["closing_rating"] == history[-1]["rating"]
    assert last["opponents_enrolment"] == pytest.approx(sum(row["rating_before"] for row in theirs), rel=1e-15)
    assert last["opponents_closing"] == pytest.approx(sum(row["rating"] for row in theirs), rel=1e-15)
    assert (first["games"], first["half_points"], first["white_games"], first["time_losses"]) == (1, 2, 1, 0)


def test_its_rows_are_those_of_a_fold_by_tournament(sample_club: Path) -> None:
    with Ledger.open(sample_club, projectors=(*BUILT_IN, SCORES), clock=lambda: NOW) as ledger:
        ledger.ensure_up_to_date()
        folded = list(ledger.rows("scores", "1 ORDER BY pool, player, n"))
        viewed = list(ledger.rows("tournament_performance", "1 ORDER BY pool, player, n"))
    assert [(row["player"], row["n"], row["tournament"], row["half_points"]) for row in viewed] == [
        (row["player"], row["n"], row["tournament"], row["half_points"]) for row in folded
    ]
    for row, fold in zip(viewed, folded, strict=True):
        assert row["opponents_enrolment"] == pytest.approx(fold["opponents"], rel=1e-15)
    assert len(viewed) > 100


def test_it_follows_corrections(corrected_cup: Ledger) -> None:
    approve(corrected_cup, corrected_cup.corrections.drafts.annul("game:c2"))
    corrected_cup.ensure_up_to_date()
    assert [row["games"] for row in asked(corrected_cup, "player = 1")] == [1, 2]
    approve(corrected_cup, corrected_cup.corrections.drafts.replace("game:c3", {"tournament": ""}))
    corrected_cup.ensure_up_to_date()
    assert [row["games"] for row in asked(corrected_cup, "player = 1")] == [1]


def test_a_ledger_without_read_models_has_it_too(corrected_cup: Ledger) -> None:
    with Ledger.open(corrected_cup.path, projectors=(), clock=lambda: NOW) as ledger:
        assert len(asked(ledger, "tournament = 'Cup'")) == 6


def test_it_is_told_of_and_exported_with_the_types_of_its_columns(corrected_cup: Ledger, tmp_path: Path) -> None:
    (table,) = (
        row for row in as_rows(querying.readable_tables(corrected_cup)) if row["table"] == tournament_performance.NAME
    )
    assert table["rows"] is None
    columns = [
        row for row in as_rows(querying.readable_columns(corrected_cup)) if row["table"] == tournament_performance.NAME
    ]
    assert {row["column"]: row["type"] for row in columns} == tournament_performance.TYPES
    stored = corrected_cup.views.connection.execute(f"PRAGMA table_info({tournament_performance.NAME})").fetchall()
    assert [row[1] for row in stored] == [row["column"] for row in columns]
    export(corrected_cup, [tournament_performance.NAME], tmp_path / "performances.parquet")
    frame = pl.read_parquet(tmp_path / "performances.parquet")
    assert frame.columns == [row["column"] for row in columns]
    assert frame.rows() == [tuple(row.values()) for row in asked(corrected_cup, "1")]


def test_the_rows_of_a_player_are_found_by_the_history_alone(corrected_cup: Ledger) -> None:
    query = f"EXPLAIN QUERY PLAN {ROWS.format('player = 1')}"
    plan = " ".join(row[-1] for row in corrected_cup.views.connection.execute(query))
    assert "SEARCH h USING PRIMARY KEY (pool=? AND player=?)" in plan
    assert "SCAN h" not in plan
    assert "SCAN games" not in plan


def test_no_plug_in_takes_its_name_and_an_older_installation_offers_none(corrected_cup: Ledger) -> None:
    taken = attrs.evolve(WIN_STREAKS, name=tournament_performance.NAME)
    with pytest.raises(ProjectionError, match="takes the name of a table of the ledger"):
        Ledger.open(corrected_cup.path, projectors=(taken,))
    assert RETIRED.isdisjoint(projector.name for projector in installed_projectors())
