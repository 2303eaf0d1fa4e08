"""The squares of a rating graph: the opponents' ratings that were in force when the games were played."""

from pathlib import Path

import pytest

from ledger.answers import player_games
from ledger.answers.graphs import page_reader
from ledger.answers.rows import as_rows
from ledger.ledger import Ledger
from tests.kit.clubs import NAME, NOW
from tests.kit.games import game_recorded, seeded


@pytest.mark.parametrize("scheme", ["elo", "fide", "glicko2", "uschess", "chessworld"])
def test_the_square_is_the_rating_of_the_list_in_force(scheme: str, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / NAME, scheme=scheme, clock=lambda: NOW) as ledger:
        for number, name in enumerate(("Ann", "Bob", "Cleo"), 1):
            ledger.register(f"name:{name.lower()}", name)
            if number < 3:
                ledger.append(seeded(number, str(1900 + 50 * number), games=60, effective_at="2021-01-01"))
        for day in range(1, 4):
            for month in (2, 3):
                ledger.append(game_recorded(f"g{month}{day}", ended_at=f"2021-0{month}-0{day}", half_moves=60))
        ledger.append(game_recorded("new", black=3, ended_at="2021-02-05", half_moves=60))
        ledger.ensure_up_to_date()
        ann = ledger.player("Ann")
        bars = page_reader.read_page(ledger, ann).player.bars
        rows = {row["game"]: row for row in as_rows(player_games.games(ledger, ann))}
        assert {bar.game: bar.opponent_rating_before for bar in bars} == {
            game: row["opponent_rating_before"] for game, row in rows.items()
        }
        by_game = {bar.game: bar.opponent_rating_before for bar in bars}
        assert by_game["g21"] == 2000.0
        assert by_game["new"] is None
        if scheme == "fide":
            assert by_game["g23"] == 2000.0 != rows["g23"]["opponent_rating"]
