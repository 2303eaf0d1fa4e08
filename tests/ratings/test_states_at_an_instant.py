"""What a player's state is at the very instant at which games are rated."""

from pathlib import Path

from ledger.facts.instants import instant_end_ms
from ledger.ledger import Ledger
from tests.kit.games import game_recorded


def test_games_that_are_rated_at_an_instant_count_then_but_where_the_state_before_them_is_asked_for(
    tmp_path: Path,
) -> None:
    with Ledger.create(tmp_path / "federation.db", scheme="fide") as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name, declared_rating=2000)
        ledger.append(game_recorded("g1", ended_at="2024-06-10", half_moves=40))
        ledger.ensure_up_to_date()
        states, closing_ms = ledger.states(ledger.pool()), instant_end_ms("2024-06")
        assert [states.at(1, ms).games for ms in (closing_ms - 1, closing_ms)] == [0, 1]
        assert states.at(1, closing_ms, before=True).games == 0
