"""A table shows what stands: a voided game is none of it, merged players are one person, a late game has its place."""

from __future__ import annotations

import json

import pytest

from ledger.answers.crosstables import event_games
from ledger.answers.crosstables.crosstable import crosstable
from ledger.errors import UnknownNameError
from ledger.ledger import Ledger
from tests.kit.corrections import approve, ask
from tests.kit.games import game_recorded


def check_both_ways(ledger: Ledger, *names: str) -> None:
    """What the rows of ``tournament_performance`` find is what a look through all games finds."""
    connection, pool = ledger.views.connection, ledger.pool(None)
    rows: dict[bool, list[object]] = {}
    for kept in (True, False):
        found = rows[kept] = []
        for name in names:
            found += connection.execute(event_games.GAMES[kept], (pool.pool, name)).fetchall()
        found += connection.execute(event_games.GAMES_OF_SEVERAL[kept], (pool.pool, json.dumps(names))).fetchall()
        found += sorted(connection.execute(event_games.NAMES[kept], (pool.pool,)).fetchall())
        played = [[row[1]] for row in connection.execute(event_games.GAMES[kept], (pool.pool, names[0]))]
        for player in (1, 2, 3):
            arguments = (pool.pool, player, json.dumps(played), names[0])
            found += connection.execute(event_games.SIDES[kept], arguments).fetchall()
    assert rows[True] == rows[False] != []


def points(ledger: Ledger) -> dict[str, float]:
    ledger.level()
    check_both_ways(ledger, "Cup")
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


def test_a_game_that_is_moved_to_another_tournament_or_does_not_count_is_found(three_games: Ledger) -> None:
    three_games.append(game_recorded("c2", white=1, black=2, half_moves=40, ended_at="2026-11-16", tournament="Cup"))
    three_games.append(game_recorded("c3", white=2, black=3, half_moves=4, ended_at="2026-11-16", tournament="Cup"))
    before = points(three_games)
    check_both_ways(three_games, "Cup", "Nothing")
    approve(three_games, three_games.corrections.drafts.replace("game:c2", {"tournament": "Other cup"}))
    three_games.level()
    check_both_ways(three_games, "Other cup", "Cup")
    assert points(three_games) != before
    other = crosstable(three_games, "Other cup")
    assert (other.games, other.players) == (1, 2)


def test_the_games_of_a_tournament_are_found_by_indexes(three_games: Ledger) -> None:
    three_games.level()
    connection = three_games.views.connection
    for statement, arguments in (
        (event_games.GAMES[True], (1, "Cup")), (event_games.GAMES_OF_SEVERAL[True], (1, '["Cup"]')),
        (event_games.NAMES[True], (1,)), (event_games.SIDES[True], (1, 1, "[1]", "Cup")),
    ):  # fmt: skip
        plan = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", arguments))
        assert "tournament_performance_by_tournament (pool=?" in plan
        assert ("games_not_counted (pool=?" in plan) == (statement != event_games.SIDES[True])
        assert "SCAN games" not in plan
        assert "SCAN h" not in plan


def test_of_a_voided_tournament_it_is_said_by_which_proposal(three_games: Ledger) -> None:
    three_games.append(game_recorded("c2", white=1, black=2, half_moves=40, ended_at="2026-11-16", tournament="Final"))
    approve(three_games, ask(three_games, "void-tournament", tournament="Final"))
    three_games.level()
    with pytest.raises(UnknownNameError, match="that stand; they are voided by proposal 1: 'correct DB show 1' says"):
        crosstable(three_games, "Final")
    with pytest.raises(UnknownNameError, match="did you mean 'Cup'"):
        crosstable(three_games, "Cupp")
