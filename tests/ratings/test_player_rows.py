"""What a player brings to a game is read of many players at once: the same as table by table, and no row unnoticed."""

from collections.abc import Iterator

import pytest

from ledger.errors import ProjectionError
from ledger.ledger import Ledger
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.ratings.player_rows import BEFORE_ALL_GAMES, PlayerRows
from ledger.ratings.view_tables import side_tables
from tests.kit.clubs import NAME, NOW, take_made_up_games

GAMES = 200
LONG_AFTER = 2**60


@pytest.fixture(name="club_of_many_games", scope="module")
def _club_of_many_games(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("club")
    Ledger.create(folder / NAME, clock=lambda: NOW).close()
    with Ledger.open(take_made_up_games(folder, GAMES, GAMES) / NAME, clock=lambda: NOW) as ledger:
        ledger.catch_up()
        yield ledger


def rows_of(ledger: Ledger) -> PlayerRows:
    pool = ledger.pool()
    return PlayerRows(ledger.views.connection, pool, side_tables(BUILT_IN, pool.state_fields))


def counts_of(ledger: Ledger) -> dict[int, int]:
    """By player, how many rated games."""
    return {row["player"]: row["n"] for row in ledger.rows("current")}


def test_what_players_bring_along_is_what_each_table_says(club_of_many_games: Ledger) -> None:
    rows, most = rows_of(club_of_many_games), max(counts_of(club_of_many_games).values())
    assert most > 3
    for n in range(1, most + 1):
        counts = {player: n for player, games in counts_of(club_of_many_games).items() if games >= n}
        states = rows.states_at(counts)
        assert states.keys() == counts.keys()
        first = 0
        for number in rows.tables_of_states:
            said = rows.table_states_at(number, counts)
            width = len(rows.tables[number].fold.state) + (1 + len(rows.state_fields) if number == 0 else 0)
            of_table = {player: row[first : first + width] for player, row in states.items()}
            assert of_table == {player: said.get(player, (None,) * width) for player in counts}
            first += width
        assert {first} == set(map(len, states.values()))


def test_games_before_an_instant_are_counted_as_the_history_has_them(club_of_many_games: Ledger) -> None:
    rows, players = rows_of(club_of_many_games), [*counts_of(club_of_many_games), 10**6]
    ends = sorted(row["ended_ms"] for row in club_of_many_games.rows("history"))
    for ms in (BEFORE_ALL_GAMES, *ends[::40], ends[-1], LONG_AFTER):
        expected = dict.fromkeys(players, 0)
        for row in club_of_many_games.rows("history", "ended_ms < ?", [ms]):
            expected[row["player"]] += 1
        assert rows.count_games_before(players, ms) == expected
        counted = {player: (n, expected[player]) for player, n in counts_of(club_of_many_games).items()}
        assert rows.count_games(players, ms) == counted


def test_a_row_that_is_missing_is_named(club_of_many_games: Ledger) -> None:
    counts = counts_of(club_of_many_games)
    player = min(counts)
    with pytest.raises(ProjectionError, match=f"history: has no row for player {player}, game 99; run 'rebuild'"):
        rows_of(club_of_many_games).states_at({**counts, player: 99})
