"""A table shows what stands: a voided game is none of it, merged players are one person, a late game has its place."""

from __future__ import annotations

from ledger.answers.crosstables.crosstable import crosstable
from ledger.ledger import Ledger
from tests.kit.corrections import approve, ask
from tests.kit.games import game_recorded


def points(ledger: Ledger) -> dict[str, float]:
    ledger.level()
    return {standing.name: standing.points for standing in crosstable(ledger, "Cup").standings}


def test_corrections_show_in_the_table(three_games: Ledger) -> None:
    for key, white, black in (("c2", 1, 2), ("c3", 2, 3), ("c4", 3, 4)):
        game = game_recorded(key, white=white, black=black, half_moves=40, ended_at="2026-11-16", tournament="Cup")
        three_games.append(game)
    assert points(three_games) == {"Cleo": 2, "Ann": 1, "Bob": 1, "Dan": 0}
    approve(three_games, ask(three_games, "void", game="g3"))
    assert points(three_games) == {"Ann": 1, "Bob": 1, "Cleo": 1, "Dan": 0}
    approve(three_games, ask(three_games, "merge", player="Dan", into="Ann"))
    assert points(three_games) == {"Ann": 1, "Bob": 1, "Cleo": 1}
    approve(three_games, ask(three_games, "result", game="c4", to="0-1"))
    assert points(three_games) == {"Ann": 2, "Bob": 1, "Cleo": 0}
