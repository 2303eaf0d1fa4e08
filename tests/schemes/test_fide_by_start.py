"""FIDE's dated rules go by the day on which a tournament began, where that is known."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.facts.events import RatingSeeded, TournamentOpened
from ledger.ledger import Ledger
from tests.kit.games import game_recorded


@pytest.mark.parametrize(
    ("starts_at", "rating"),
    [
        (None, 2700.0),  # seen from its game, of 3 October: E .96 at 500 points, and 10 x .04 is no point
        ("2025-10-01", 2700.0),
        ("2025-09-28", 2701.0),  # it began before the cap was lifted for 2650 and more: E .92 at 400, 10 x .08
    ],
)
def test_the_cap_of_400_points_goes_by_the_start_that_was_announced(
    tmp_path: Path, starts_at: str | None, rating: float
) -> None:
    clock = datetime(2026, 1, 1, tzinfo=UTC)
    with Ledger.create(tmp_path / "club.db", scheme="fide", clock=lambda: clock) as ledger:
        for player, points in enumerate((2700, 2200), 1):
            ledger.register(f"fide:{player}", f"P{player}")
            ledger.append(
                RatingSeeded(
                    player=player,
                    pool="standard",
                    effective_at="2025-01-01",
                    rating=str(points),
                    games=100,
                    highest=str(points),
                )
            )
        if starts_at is not None:
            ledger.append(
                TournamentOpened(pool="standard", tournament="Open", starts_at=starts_at, ends_at="2025-10-06")
            )
        ledger.append(game_recorded("g1", half_moves=60, ended_at="2025-10-03", tournament="Open"))
        ledger.level()
        (row,) = ledger.rows("history", "player = 1")
        assert row["rating"] == rating
