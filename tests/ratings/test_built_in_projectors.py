"""The built-in read models: hand-worked rows, registration, documentation, and what ledgers without them get."""

import tomllib
from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.ledger import Ledger
from ledger.ratings import engine, side_rows
from ledger.ratings.installed_projectors import BUILT_IN, installed_projectors
from ledger.ratings.projector import EACH_GAME, DeclaredProjector
from ledger.ratings.projectors import bests, highest_lowest, streaks, time_losses, upsets
from ledger.runtime.columns import FEW
from ledger.schemes.scheme import UNRATED
from ledger.testing.kit import table_rows
from tests.kit.places import ROOT

WIN, DRAW, LOSS = 2, 1, 0


def after(projector: DeclaredProjector, *columns: Sequence[Any]) -> list[dict[str, float | None]]:
    """The state after each side, NaN as None."""
    sides = dict(zip(projector.reads, columns, strict=True))
    whole, start = attrs.evolve(projector, rows=EACH_GAME), [kept.start for kept in projector.state]
    folded = side_rows.apply_projector(FEW, whole, [0] * len(columns[0]), sides, start)
    names = [kept.name for kept in projector.state]
    rows = zip(*folded.columns, strict=True)
    return [dict(zip(names, (None if isnan(value) else value for value in row), strict=True)) for row in rows]


def test_the_highest_and_the_lowest_count_from_game_50_and_begin_anew_with_another_scheme() -> None:
    n = [48, 49, 50, 51, 52, 53, 54]
    rating = [1900.0, 1100.0, 1500.0, 1520.0, 1490.0, 1400.0, 1410.0]
    rows = after(highest_lowest.PROJECTOR, n, [0] * 7, rating, [1] * 7, [0, 0, 0, 0, 0, 1, 1])
    assert rows[1] == {"era": 0, "highest": None, "highest_n": 0, "lowest": None, "lowest_n": 0}
    assert rows[4] == {"era": 0, "highest": 1520, "highest_n": 51, "lowest": 1490, "lowest_n": 52}
    assert rows[6] == {"era": 1, "highest": 1410, "highest_n": 54, "lowest": 1400, "lowest_n": 53}


def test_games_of_a_past_count_and_a_rating_that_no_list_shows_does_not() -> None:
    rows = after(highest_lowest.PROJECTOR, [1, 2, 3], [49] * 3, [1500.0, 900.0, 1500.0], [1, 0, 1], [0] * 3)
    assert rows[2] == {"era": 0, "highest": 1500, "highest_n": 1, "lowest": 1500, "lowest_n": 1}


def test_the_five_best_wins_and_worst_losses_are_in_order_and_of_equals_the_earlier_stays() -> None:
    ratings = [1500.0, 1700.0, 1600.0, 1700.0, 1400.0, 1450.0, 1800.0]
    last = after(bests.PROJECTOR, [WIN] * 7, ratings)[-1]
    assert [last[f"win_{place}"] for place in range(1, 6)] == [1800, 1700, 1700, 1600, 1500]
    assert last["loss_1"] is None
    rows = after(bests.PROJECTOR, [LOSS, DRAW, LOSS, LOSS], [1500.0, 100.0, 1300.0, 1400.0])
    assert [rows[-1][f"loss_{place}"] for place in range(1, 5)] == [1300, 1400, 1500, None]
    five = after(bests.PROJECTOR, [WIN] * 6, [1500.0] * 6)
    assert five[4] == five[5]  # no row: it is the sixth that is as good


def test_who_is_unrated_is_neither_a_win_nor_a_loss_nor_an_upset() -> None:
    rows = after(bests.PROJECTOR, [WIN, LOSS, WIN, LOSS], [UNRATED, UNRATED, 1500.0, 1400.0])
    assert set(rows[1].values()) == {None}
    assert (rows[3]["win_1"], rows[3]["win_2"], rows[3]["loss_1"], rows[3]["loss_2"]) == (1500, None, 1400, None)
    won = after(upsets.PROJECTOR, [WIN, WIN, WIN], [UNRATED, -100.0, -100.0], [1900.0, UNRATED, 50.0])
    assert [row["surplus"] for row in won] == [None, None, 150]


def test_streaks_begin_and_end_where_their_results_do() -> None:
    results = [WIN, WIN, DRAW, WIN, LOSS, LOSS, WIN, WIN, LOSS, LOSS]
    rows = after(streaks.PROJECTOR, list(range(1, 11)), results)
    assert [row["winning_from"] for row in rows] == [1, 1, 0, 4, 0, 0, 7, 7, 0, 0]
    assert [row["unbeaten_from"] for row in rows] == [1, 1, 1, 1, 0, 0, 7, 7, 0, 0]
    assert [row["losing_from"] for row in rows] == [0, 0, 0, 0, 5, 5, 0, 0, 9, 9]
    last = rows[-1]
    assert (last["longest_winning_from"], last["longest_winning_to"]) == (1, 2)  # 7 to 8 is as long, and later
    assert (last["longest_unbeaten_from"], last["longest_unbeaten_to"]) == (1, 4)
    assert (last["longest_losing_from"], last["longest_losing_to"]) == (5, 6)


def test_losses_on_time_make_runs() -> None:
    rows = after(time_losses.PROJECTOR, list(range(1, 7)), [0, 1, 1, 0, 1, 0])
    assert [(row["time_losses"], row["run_from"], row["run_to"]) for row in rows] == [
        (0, 0, 0),
        (1, 2, 2),
        (2, 2, 3),
        (2, 2, 3),
        (3, 5, 5),
        (3, 5, 5),
    ]


def test_only_a_win_against_a_higher_rating_has_a_surplus() -> None:
    rows = after(upsets.PROJECTOR, [DRAW, WIN, LOSS, WIN, WIN], [1500.0] * 5, [1900.0, 1500.0, 1900.0, 1550.0, 1800.5])
    assert [row["surplus"] for row in rows] == [None, None, None, 50, 300.5]
    assert [row["wins_against_higher"] for row in rows] == [0, 0, 0, 1, 2]


def test_nobody_stands_in_places_that_are_empty() -> None:
    state = [nan] * 5
    bests.insert_rating(state, 1500.0, 1.0)
    assert state[0] == 1500.0
    assert all(isnan(value) for value in state[1:])


def test_they_are_registered_as_plug_ins_are() -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["ledger.projectors"]
    assert offered == {made.name: f"ledger.ratings.projectors.{made.name}:PROJECTOR" for made in BUILT_IN}
    assert installed_projectors()[: len(BUILT_IN)] == BUILT_IN


@pytest.mark.slow
def test_a_ledger_without_them_gets_them_folded_from_the_rows_that_stand(
    sample_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(sample_club) as ledger:
        ledger.rebuild()
        built = {made.name: table_rows(ledger.views.connection, made.name) for made in BUILT_IN}
    with Ledger.open(sample_club, projectors=()) as ledger:
        ledger.ensure_up_to_date()
    monkeypatch.setattr(engine, "rate", None)
    with Ledger.open(sample_club) as ledger:
        ledger.ensure_up_to_date()
        assert {made.name: table_rows(ledger.views.connection, made.name) for made in BUILT_IN} == built
    assert all(built.values())


def test_the_highest_of_the_present_scheme_is_the_hera_of_the_history(sample_club: Path) -> None:
    query = """
    SELECT h.hera, h.hera_n, l.highest, l.highest_n FROM current JOIN history AS h USING (pool, player, n)
    JOIN highest_lowest AS l ON l.pool = h.pool AND l.player = h.player
      AND l.n = (SELECT max(n) FROM highest_lowest AS m WHERE m.pool = h.pool AND m.player = h.player)"""
    with Ledger.open(sample_club) as ledger:
        ledger.ensure_up_to_date()
        rows = ledger.views.connection.execute(query).fetchall()
    assert rows
    assert all(row[:2] == row[2:] for row in rows)
