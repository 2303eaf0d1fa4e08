"""A table shows what stands: a voided game is none of it, merged players are one person, a late game has its place."""

import pytest

from ledger.answers.crosstables import event_games
from ledger.answers.crosstables.crosstable import crosstable
from ledger.answers.player_games import GameFilter
from ledger.answers.recorded_games import filtered_games
from ledger.errors import UnknownNameError
from ledger.ledger import Ledger
from tests.kit.corrections import approve, ask
from tests.kit.games import bye, game_recorded, scheme_adopted


def check_what_is_found(ledger: Ledger, *names: str) -> None:
    """What the index of tournaments finds is what a look through all games finds."""
    connection, pool = ledger.views.connection, ledger.pool(None)
    of_names = [row for row in ledger.rows("games", "voided_by IS NULL AND white <> black") if row["tournament"]]
    expected = {name: {row["position"] for row in of_names if row["tournament"] == name} for name in names}
    of_all = event_games.load_games(connection, pool, names)
    for name in names:
        of_one = event_games.load_games(connection, pool, [name])
        assert of_one.get(name, []) == of_all.get(name, [])
        assert {game.position for game in of_one.get(name, [])} == expected[name]
        for player in (1, 2, 3):
            games = of_one.get(name, [])
            ratings = event_games.LedgerRatings(connection, pool, ledger.states(pool), {player: games}, 0)
            assert {game.position for game in games if ratings.rating_after(player, game) is not None} == {
                row["game"] for row in ledger.rows("history", "player = ?", (player,)) if row["game"] in expected[name]
            }
    assert set(event_games.tournament_names(connection, pool)) == {row["tournament"] for row in of_names}


def points(ledger: Ledger) -> dict[str, float]:
    ledger.ensure_up_to_date()
    check_what_is_found(ledger, "Cup")
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
    check_what_is_found(three_games, "Cup", "Nothing")
    approve(three_games, three_games.corrections.drafts.replace("game:c2", {"tournament": "Other cup"}))
    three_games.ensure_up_to_date()
    check_what_is_found(three_games, "Other cup", "Cup")
    assert points(three_games) != before
    other = crosstable(three_games, "Other cup")
    assert (other.games, other.players) == (1, 2)


def test_the_games_of_a_tournament_are_found_by_indexes(three_games: Ledger) -> None:
    three_games.ensure_up_to_date()
    connection = three_games.views.connection
    for statement, arguments, index in (
        (event_games.GAMES, (1, "Cup"), "games_by_tournament (pool=? AND tournament=?)"),
        (event_games.GAMES_OF_SEVERAL, (1, '["Cup"]'), "games_by_tournament (pool=? AND tournament=?)"),
        (event_games.NAMES, (1,), "games_by_tournament (pool=? AND tournament>?)"),
        (event_games.HISTORY_ROWS, (1, 1, "[1]"), "SEARCH h USING PRIMARY KEY (pool=? AND player=? AND n>? AND n<?)"),
    ):
        plan = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", arguments))
        assert index in plan
        assert "SCAN games" not in plan
        assert "SCAN h" not in plan


def test_of_a_voided_tournament_it_is_said_by_which_proposal(three_games: Ledger) -> None:
    three_games.append(game_recorded("c2", white=1, black=2, half_moves=40, ended_at="2026-11-16", tournament="Final"))
    approve(three_games, ask(three_games, "void-tournament", tournament="Final"))
    three_games.ensure_up_to_date()
    with pytest.raises(UnknownNameError, match="not voided; they are voided by proposal 1: 'correct DB show 1' says"):
        crosstable(three_games, "Final")
    with pytest.raises(UnknownNameError, match="did you mean 'Cup'"):
        crosstable(three_games, "Cupp")


def test_of_a_tournament_whose_games_were_moved_it_is_said_in_which_pool_they_are(three_games: Ledger) -> None:
    three_games.append(scheme_adopted(pool="rapid"))
    three_games.append(bye(2, tournament="Cup", edition="2026-11-15"))
    approve(three_games, three_games.corrections.drafts.replace("game:g3", {"pool": "rapid"}))
    three_games.ensure_up_to_date()
    with pytest.raises(UnknownNameError, match="with games in 'standard'; it has games in 'rapid': ask in that pool"):
        filtered_games(three_games, GameFilter(tournament="Cup"))
    assert crosstable(three_games, "Cup", pool="rapid").games == 1
