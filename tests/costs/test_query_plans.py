"""How SQLite finds what is asked: every statement that runs often, on a ledger with games in it, is pinned.

A table read from end to end (SCAN) is found by running the program and asking about whatever it ran.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import players, upsets
from ledger.book import assessment, game_book, roster
from ledger.facts.events import PlayerChanged, RatingRunClosed, SchemeAdopted, TournamentClosed
from ledger.facts.words import Carry, Standing
from ledger.imports.reading import batch_games
from ledger.journal import sqlite_keys
from ledger.ledger import Ledger
from ledger.ratings import player_rows, projection, queries
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime import sqlite
from tests.kit.clubs import NOW
from tests.kit.corrections import approve
from tests.kit.games import source_games
from tests.kit.small_schemes import BY_EVENT, BY_PERIOD, SMALL, install

LARGEST = r"(games|history|journal|nodes|texts|people|current|seeds)\b"
BY_PLAYER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=?)"
BY_GAME_NUMBER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=? AND n=?)"
A_RANGE_OF_GAMES = "SEARCH {} USING PRIMARY KEY (pool=? AND player=? AND n>? AND n<?)"
BY_POSITION = "SEARCH {} USING INTEGER PRIMARY KEY (rowid=?)"
# a guest has no row
ITS_GAME_AND_OPPONENT = (BY_POSITION.format("games"), f"{BY_GAME_NUMBER.format('theirs')} LEFT-JOIN")

# A search by halves: few rows, however many games the player has.
HALVED = [
    BY_PLAYER.format("h"),
    BY_POSITION.format("games"),
    "SCAN (subquery-1)",
    "CO-ROUTINE (subquery-1)",
    "SETUP",
    "CO-ROUTINE halved",
    "RECURSIVE STEP",
    "SCAN halved",  # a row of each step, of which there are few
    BY_GAME_NUMBER.format("h"),
    BY_POSITION.format("games"),
    "SCALAR SUBQUERY 4",
    "SCAN halved",
    BY_GAME_NUMBER.format("h"),
    BY_POSITION.format("games"),
]
# The statements that answer a question about one player, game or list.
HOT = {
    "ranking": queries.RANKING,
    "last row": queries.LAST_ROW,
    "row": queries.ROW,
    "row at an instant": queries.ROW_AT,
    "graph": queries.GRAPH,
    "games of a player": queries.GAMES_OF,
    "opposite sides": queries.OPPOSITE_SIDES,
    "sides between": queries.SIDES_BETWEEN,
    "waiting games": queries.WAITING,
    "latest end": queries.LATEST_END,
    "side of a game": queries.SIDE_OF_GAME,
    "game": queries.GAME,
    "current": queries.CURRENT,
    "row before a batch": queries.ROW_BEFORE,
    "batch": queries.BATCH,
    "not counted": queries.NOT_COUNTED,
    "corrected games": queries.CORRECTED_GAMES,
    "corrected sides": queries.CORRECTED_SIDES,
    "any proposal": queries.ANY_PROPOSAL,
    "placed sides": queries.PLACED_SIDES,
    "page of a graph": queries.graph_page(["rating"]),
    "opponents of a page": queries.PAGE_OPPONENTS,
    "games between": queries.GAMES_BETWEEN,
    "numbers of games": queries.NUMBERS_OF,
}
HOT_PLANS = {
    "ranking": ["SEARCH current USING INDEX current_by_rating (pool=? AND listed=?)"],
    "last row": [BY_PLAYER.format("h"), BY_POSITION.format("games")],
    "row": [BY_GAME_NUMBER.format("h"), BY_POSITION.format("games")],
    "row at an instant": HALVED,
    "graph": ["SEARCH h USING PRIMARY KEY (pool=? AND player=? AND n>?)", BY_POSITION.format("games")],
    "games of a player": [BY_PLAYER.format("mine"), BY_POSITION.format("games")],
    "numbers of games": [
        "SEARCH mine USING PRIMARY KEY (pool=? AND player=? AND n<?)",
        *ITS_GAME_AND_OPPONENT,
    ],
    "opposite sides": [BY_PLAYER.format("mine"), *ITS_GAME_AND_OPPONENT],
    "sides between": [
        "SEARCH mine USING PRIMARY KEY (pool=? AND player=? AND n>? AND n<?)",
        BY_POSITION.format("games"),
    ],
    "waiting games": ["SEARCH h USING PRIMARY KEY (pool=? AND player=? AND n>?)", BY_POSITION.format("games")],
    "latest end": [
        "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)",
        "SCALAR SUBQUERY 2",
        "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms=?)",
        "SCALAR SUBQUERY 1",
        "SEARCH games USING INDEX games_in_rating_order (pool=?)",
    ],
    "side of a game": [
        "SEARCH history USING PRIMARY KEY (pool=? AND player=? AND n<?)",
        "SCALAR SUBQUERY 7",
        "CO-ROUTINE halved",
        "SETUP",
        "CO-ROUTINE (subquery-2)",
        BY_PLAYER.format("h"),
        BY_POSITION.format("games"),
        "SCAN (subquery-2)",
        "SCALAR SUBQUERY 1",
        BY_POSITION.format("games"),
        "RECURSIVE STEP",
        "SCAN halved",
        BY_GAME_NUMBER.format("h"),
        BY_POSITION.format("games"),
        "SCALAR SUBQUERY 4",
        BY_POSITION.format("games"),
        "SCALAR SUBQUERY 5",
        BY_POSITION.format("games"),
        "SCAN halved",
    ],
    "game": [BY_POSITION.format("games")],
    "current": [BY_PLAYER.format("current")],
    "row before a batch": HALVED,
    "batch": ["SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms=?)", "USE TEMP B-TREE FOR ORDER BY"],
    "not counted": [
        "MERGE (UNION ALL)",
        "LEFT",
        "SEARCH games USING INDEX games_of_white (white=?)",
        "USE TEMP B-TREE FOR ORDER BY",
        "RIGHT",
        "SEARCH games USING INDEX games_of_black (black=?)",
        "USE TEMP B-TREE FOR ORDER BY",
    ],
    "corrected games": [
        "SEARCH corrections USING COVERING INDEX corrections_by_subject (subject=?)",
        "LIST SUBQUERY 1",
        "SCAN json_each VIRTUAL TABLE INDEX 1:",
        "SEARCH proposals USING INTEGER PRIMARY KEY (rowid=?)",
        "USE TEMP B-TREE FOR ORDER BY",
    ],
    "corrected sides": [
        BY_PLAYER.format("mine"),
        BY_POSITION.format("games"),
        "SEARCH corrections USING COVERING INDEX corrections_by_subject (subject=?)",
        "SEARCH proposals USING INTEGER PRIMARY KEY (rowid=?)",
        "USE TEMP B-TREE FOR DISTINCT",
        "USE TEMP B-TREE FOR ORDER BY",
    ],
    "placed sides": [BY_PLAYER.format("history"), BY_POSITION.format("games")],
    "any proposal": ["SCAN proposals"],
    "page of a graph": [
        A_RANGE_OF_GAMES.format("mine"),
        *ITS_GAME_AND_OPPONENT,
        f"{BY_PLAYER.format('now')} LEFT-JOIN",
    ],
    "opponents of a page": [A_RANGE_OF_GAMES.format("mine"), *ITS_GAME_AND_OPPONENT],
    "games between": [BY_PLAYER.format("history")],
}

# Questions about a whole pool or list: they read what they tell, and nothing of other pools.
IN_A_POOL = "SEARCH games USING INDEX games_in_rating_order (pool=?)"
FROM_A_PLACE = "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)"
OF_NUMBERS = "SCAN json_each VIRTUAL TABLE INDEX 1:"
BY_SIDES = [  # each player by itself: never all games
    "LEFT",
    OF_NUMBERS,
    "SEARCH games USING COVERING INDEX games_of_white (white=?)",
    "USE TEMP B-TREE FOR ORDER BY",
    "RIGHT",
    OF_NUMBERS,
    "SEARCH games USING COVERING INDEX games_of_black (black=?)",
    "USE TEMP B-TREE FOR ORDER BY",
]
BOUNDED = [  # some players, from an end of the index
    "CO-ROUTINE current", "SEARCH rating_bounds USING COVERING INDEX bounds_by_rating (pool=?)", "SCAN current",
]  # fmt: skip
OF_THESE = ["SCAN theirs", BY_POSITION.format("games")]
POOL_PLANS = {
    "ORDER_SINCE": ["SEARCH current USING INDEX current_by_rating (pool=? AND listed=?)"],
    "COUNTED_NOW": [
        "SEARCH current USING PRIMARY KEY (pool=?)", "LIST SUBQUERY 1", OF_NUMBERS,
        "CREATE BLOOM FILTER",
    ],
    "COUNTED_OF_FEW_ACTIVE": [
        "SEARCH current USING INDEX current_by_last_game (pool=? AND latest_ms>?)", "LIST SUBQUERY 1", OF_NUMBERS,
        "CREATE BLOOM FILTER",
    ],
    "RANKING_OF_FEW_ACTIVE": [
        "SEARCH current USING INDEX current_by_last_game (pool=? AND latest_ms>?)", "USE TEMP B-TREE FOR ORDER BY",
    ],
    "MANY_ACTIVE": ["SEARCH current USING COVERING INDEX current_by_last_game (pool=? AND latest_ms>?)"],
    "RATINGS_AT": [
        "SEARCH current USING COVERING INDEX current_by_rating (pool=?)",
        BY_GAME_NUMBER.format("h"),
        "CORRELATED SCALAR SUBQUERY 1",
        BY_PLAYER.format("mine"),
    ],
    "BEST_AT": [
        *BOUNDED, BY_GAME_NUMBER.format("h"), "CORRELATED SCALAR SUBQUERY 2", BY_PLAYER.format("mine"),
    ],
    "BEST_ROWS_AT": [
        *BOUNDED, BY_GAME_NUMBER.format("h"), "CORRELATED SCALAR SUBQUERY 2", BY_PLAYER.format("mine"),
        BY_POSITION.format("games"), BY_POSITION.format("placed"),
    ],
    "BOUND": ["SEARCH rating_bounds USING COVERING INDEX bounds_by_rating (pool=?)"],
    "BEST_SINCE_FEW": [
        "COMPOUND QUERY", "LEFT-MOST SUBQUERY", "CO-ROUTINE (subquery-3)",
        "SEARCH current USING INDEX current_by_rating (pool=? AND listed=?)",
        "SCAN (subquery-3)", "UNION ALL", "CO-ROUTINE (subquery-6)", "CO-ROUTINE later", "MERGE (UNION)",
        "LEFT", "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)",
        "USE TEMP B-TREE FOR ORDER BY",
        "RIGHT", "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)",
        "USE TEMP B-TREE FOR ORDER BY",
        "SCAN later", BY_GAME_NUMBER.format("h"), "CORRELATED SCALAR SUBQUERY 5", BY_PLAYER.format("mine"),
        "USE TEMP B-TREE FOR ORDER BY", "SCAN (subquery-6)",
    ],
    "COUNTED_AT": [
        "SEARCH current USING COVERING INDEX current_by_rating (pool=?)",
        BY_GAME_NUMBER.format("h"),
        "CORRELATED SCALAR SUBQUERY 1",
        BY_PLAYER.format("mine"),
        "LIST SUBQUERY 3",
        OF_NUMBERS,
        "CREATE BLOOM FILTER",
    ],
    "LAST_BATCHES": [
        "CO-ROUTINE places", "SETUP", IN_A_POOL, "RECURSIVE STEP", "SCAN places", "CORRELATED SCALAR SUBQUERY 2",
        "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms<?)", "SCAN places",
    ],
    "MANY_SINCE": ["SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)"],
    "ANY_LATE": [
        "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)",
        "SCALAR SUBQUERY 1",
        "SEARCH games USING INTEGER PRIMARY KEY (rowid>?)",
    ],
    "EVERY_GAME_OF": ["CO-ROUTINE theirs", "MERGE (UNION)", *BY_SIDES, *OF_THESE],
    "EVERY_KEY_OF": [
        "CO-ROUTINE theirs", "MERGE (UNION)", "LEFT", "MERGE (UNION)", *BY_SIDES,
        "RIGHT", "SCAN originals", "LIST SUBQUERY 4", OF_NUMBERS, "CREATE BLOOM FILTER", "LIST SUBQUERY 5", OF_NUMBERS,
        "CREATE BLOOM FILTER", *OF_THESE,
    ],
    "OPEN_PROPOSALS": ["SCAN proposals"],
    "PLAYERS": ["SEARCH current USING COVERING INDEX current_by_rating (pool=?)"],
    "ROWS_BEFORE": [
        "SEARCH current USING PRIMARY KEY (pool=?)",
        "SEARCH history USING PRIMARY KEY (pool=? AND player=? AND n=?)",
    ],
    "ROWS_BY_LATER_LIST": [
        "SEARCH current USING INDEX current_by_rating (pool=? AND listed=?)",
        "SEARCH history USING PRIMARY KEY (pool=? AND player=? AND n=?)",
    ],
    "ANY_LIST": ["SEARCH seeds USING COVERING INDEX seeds_by_rating (pool=?)"],  # stops at the first row
    "EXTREMES": [
        "SCAN CONSTANT ROW", "SCALAR SUBQUERY 1",
        "SEARCH current USING COVERING INDEX current_by_rating (pool=? AND listed=?)", "SCALAR SUBQUERY 2",
        "SEARCH current USING COVERING INDEX current_by_rating (pool=? AND listed=?)",
    ],
    "LAST_PLACE": [IN_A_POOL],
    "LAST_CLOSING": ["SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms<?)"],
    "NEXT_PLACE": ["SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)"],
    "POOLS": [
        "SCAN pools",
        "SEARCH current USING PRIMARY KEY (pool=?) LEFT-JOIN",
        "CORRELATED SCALAR SUBQUERY 1",
        "SEARCH games USING INDEX games_of_white_guests (pool=?)",
        "CORRELATED SCALAR SUBQUERY 2",
        "SEARCH games USING INDEX games_of_black_guests (pool=?)",
    ],
    "ROWS_AT": [
        "SEARCH current USING COVERING INDEX current_by_rating (pool=?)",
        BY_GAME_NUMBER.format("h"),
        "CORRELATED SCALAR SUBQUERY 1",
        BY_PLAYER.format("mine"),
        BY_POSITION.format("games"),
        BY_POSITION.format("placed"),
    ],
    "RUNS": [
        "CO-ROUTINE (subquery-2)", "COMPOUND QUERY", "LEFT-MOST SUBQUERY", FROM_A_PLACE, "UNION ALL", FROM_A_PLACE,
        "SCAN (subquery-2)", "USE TEMP B-TREE FOR GROUP BY", "USE TEMP B-TREE FOR count(DISTINCT)",
    ],
}  # fmt: skip

# What may read a whole table, or all of a pool, and why. Anything else that does is a fault.
SCANS = {
    "SELECT EXISTS(SELECT 1 FROM seeds WHERE pool": "stops at the first row",
    " AND (ended_ms >= ": "a change of scheme judges all games since then again; there are few changes",
    "EXISTS(SELECT 1 FROM seeds)": "the first row is the answer",
    "ORDER BY rated_ms DESC LIMIT 1": "the last row of the index is the answer",
    "identity <> lower(identity)": "once an import, who is there and who is alike; all people are few beside the games",
}


@pytest.fixture(scope="module", autouse=True)
def small_schemes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        install(patch, *SMALL)
        yield


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plans") / "club.db"
    with Ledger.create(made, clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(900)))
        ledger.catch_up()
    return made


def plan(connection: Any, statement: str) -> list[str]:
    count = max((int(n) for n in re.findall(r"\?(\d+)", statement)), default=statement.count("?"))
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", (None,) * count)
    return [row[3] for row in rows]


def test_every_hot_question_has_its_plan_here() -> None:
    assert set(HOT_PLANS) == set(HOT)


@pytest.mark.parametrize("name", HOT)
def test_a_hot_question_is_answered_as_pinned(name: str, path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        assert sorted(plan(ledger.views.connection, HOT[name])) == sorted(HOT_PLANS[name])


@pytest.mark.parametrize("name", POOL_PLANS)
def test_a_question_about_a_pool_is_answered_as_pinned(name: str, path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        assert plan(ledger.views.connection, getattr(queries, name)) == POOL_PLANS[name]


def test_every_question_is_pinned_here() -> None:
    asked = {name for name, text in vars(queries).items() if name.isupper() and isinstance(text, str)}
    hot = {name for name in asked if getattr(queries, name) in HOT.values()}
    assert asked == hot | set(POOL_PLANS)


@pytest.mark.parametrize("query", [queries.LAST_PLACE, queries.NEXT_PLACE])
def test_the_first_and_the_last_place_are_read_from_an_end_of_the_index_however_many_games_there_are(
    query: str, path: Path
) -> None:
    steps: list[int] = []
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        connection = ledger.views.connection
        connection.set_progress_handler(lambda: steps.append(1), 1)  # each step of SQLite's machine
        (ms,) = connection.execute(query, (1, 0)[: query.count("?")]).fetchone()
        connection.set_progress_handler(None, 1)
        assert ms is not None
        assert len(steps) < 100 < connection.execute("SELECT count(*) FROM games").fetchone()[0]


def test_the_largest_upsets_come_from_an_end_of_their_index(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        by_index = "SEARCH upsets USING COVERING INDEX upsets_by_surplus (pool=? AND surplus>? AND surplus<?)"
        assert plan(ledger.views.connection, upsets._LARGE) == [by_index.replace(" AND surplus<?", "")]
        assert plan(ledger.views.connection, upsets._SMALL) == [
            "SEARCH upsets USING PRIMARY KEY (pool=?)",
            "USE TEMP B-TREE FOR ORDER BY",
        ]


def test_when_a_players_first_game_ended_is_read_from_indexes_alone(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        told = plan(ledger.views.connection, players._FIRST_GAME)
        assert [each for each in told if "games" in each] == [
            "SEARCH games USING COVERING INDEX games_of_white (white=?)",
            "SEARCH games USING COVERING INDEX games_of_black (black=?)",
        ]


def test_games_in_rating_order_come_from_their_index_and_only_those_of_one_moment_are_sorted(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        assert plan(ledger.views.connection, game_book.rated_games_sql(ledger.pool("standard"))) == [
            "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)",
            "USE TEMP B-TREE FOR LAST 5 TERMS OF ORDER BY",
        ]


def test_who_came_with_a_list_and_has_not_played_is_read_from_an_index_best_first(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        assert plan(ledger.views.connection, roster._BEST_FIRST) == [
            "SEARCH s USING INDEX seeds_by_rating (pool=?)",
            "CORRELATED SCALAR SUBQUERY 1",
            BY_PLAYER.format("current"),
            "CORRELATED SCALAR SUBQUERY 2",
            "SEARCH merges USING INTEGER PRIMARY KEY (rowid=?)",
            "CORRELATED SCALAR SUBQUERY 3",
            "SEARCH later USING PRIMARY KEY (pool=? AND player=? AND effective_ms>? AND effective_ms<?)",
            "SEARCH players USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
        ]


def test_what_is_shown_beside_a_newcomers_first_game_is_looked_up_among_that_players_games(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        told = plan(ledger.views.connection, roster._SHOWN)
        assert [each for each in told if "games" in each] == [
            "SEARCH games USING INDEX games_of_white (white=?)",
            "SEARCH games USING INDEX games_of_black (black=?)",
        ]


def test_who_began_in_another_pool_is_looked_up_by_player_or_among_its_later_games(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        told = plan(ledger.views.connection, projection.FIRST_GAMES_OF)
        assert [each for each in told if each.startswith("SEARCH")] == [
            BY_GAME_NUMBER.format("h"),
            BY_POSITION.format("games"),
        ]
        told = plan(ledger.views.connection, projection.FIRST_GAMES_SINCE)
        later = "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)"
        assert [each for each in told if each.startswith("S")] == [later, BY_GAME_NUMBER.format("h")] * 2


def test_whether_a_live_game_is_the_last_is_found_at_the_end_of_rating_order(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        assert plan(ledger.views.connection, player_rows._LATER) == [
            "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)"
        ]


def test_what_a_closed_run_moves_is_found_by_its_place_in_rating_order(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        statement = f"{assessment.SELECT_ASSESSED} pool = ?1 AND rated_ms >= ?2 AND reason IS NULL"
        assert plan(ledger.views.connection, statement) == [
            "SEARCH games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)"
        ]


def test_a_players_rows_at_a_cut_are_found_by_player_and_position(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        connection = ledger.views.connection
        restored = [BY_GAME_NUMBER.format("h"), BY_POSITION.format("games")]
        asked = "SCAN asked VIRTUAL TABLE INDEX 1:"
        ended = [asked, BY_PLAYER.format("c"), "CORRELATED SCALAR SUBQUERY 1", BY_PLAYER.format("h")]
        assert plan(connection, player_rows._ENDED_BEFORE) == ended
        assert plan(connection, player_rows._BEFORE) == [*ended, BY_POSITION.format("games")]
        assert plan(connection, player_rows._RESTORE_CURRENT) == restored
        assert plan(connection, player_rows._LAST_PLACE) == [BY_PLAYER.format("current")]
        assert plan(connection, player_rows._DROP_CURRENT) == [BY_PLAYER.format("current")]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "SELECT body FROM journal WHERE position > ? AND position <= ? ORDER BY position",
            ["SEARCH journal USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"],
        ),
    ],
)
def test_the_journal_is_asked_by_its_keys(statement: str, expected: list[str], path: Path) -> None:
    with closing(sqlite.connect(path)) as connection:
        assert plan(connection, statement) == expected


def test_the_journal_looks_a_key_up_in_each_run_of_its_index(path: Path) -> None:
    with closing(sqlite.connect(path)) as connection:
        for query, bounds in ((sqlite_keys.FIND_ONE, "key=?"), (sqlite_keys.BETWEEN, "key>? AND key<?")):
            steps = [step for step in plan(connection, query) if " keys_" in step]
            table_and_bounds = {step.partition(" USING ")[::2] for step in steps}
            assert table_and_bounds == {
                (f"SEARCH keys_{table}", f"PRIMARY KEY (run=? AND {bounds})") for table in range(sqlite_keys.TABLES)
            }
            assert len(steps) == len(sqlite_keys.RUNS)


def everything(path: Path) -> None:
    """A day in the life of a ledger: appends, a late game, a correction of standing, closings, questions."""
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        ledger.register("made:new", "New")
        ledger.import_games(batch_games(source_games(950), 20))
        ledger.catch_up()
        late = next(source_games(1, seed=9))._replace(key="made:late", ended_at="2010")
        ledger.import_games(batch_games([late]))
        ledger.catch_up()
        ledger.append(PlayerChanged(player=1, effective_at="2015", standing=Standing.GUEST))
        ledger.catch_up()
        ledger.append(SchemeAdopted(pool="standard", scheme="chessworld", settings={}, effective_from="2018"))
        ledger.catch_up()
        periods_and_events(ledger)
        corrections(ledger)
        ledger.head()
        ledger.log("made:late")
        ledger.pool()
        ledger.player("made:p1")
        ask(ledger)


def periods_and_events(ledger: Ledger) -> None:
    """Two further pools, one rated by runs, one by event; runs and a tournament close, a scheme changes."""
    runs = SchemeAdopted(pool="runs", scheme=BY_PERIOD.name, settings={"by_runs": True})
    events = SchemeAdopted(pool="events", scheme=BY_EVENT.name, settings={})
    ledger.append_many([runs, events])
    for seed, pool in ((3, "runs"), (4, "events")):
        games = [game._replace(tournament="Café Kök") for game in source_games(40, seed=seed)]
        ledger.import_games(batch_games(games), choice=PoolChoice(pool=pool))
        ledger.catch_up()
    for event in (
        RatingRunClosed(pool="runs", as_of="2018"),
        RatingRunClosed(pool="runs", as_of="2015-06"),
        TournamentClosed(pool="events", tournament="Café Kök", ended_at="2021"),
        SchemeAdopted(pool="runs", scheme=BY_EVENT.name, settings={}, effective_from="2016", carry=Carry.RESTART),
    ):
        ledger.append(event)
        ledger.catch_up()


def corrections(ledger: Ledger) -> None:
    """A game of player 1 is corrected, another one voided; what is told of one of them."""
    games = ledger.rows("games", "white = 1 AND reason IS NULL ORDER BY position LIMIT 2")
    first, second = [row["key"] for row in games]
    drafts = ledger.corrections.drafts
    approve(ledger, drafts.replace(f"game:{first}", {"half_moves": 99}), drafts.annul(f"game:{second}"))
    ledger.catch_up()
    assert len(ledger.log(first)) == 3


def ask(ledger: Ledger) -> None:
    """Every hot question, with an answer."""
    views = ledger.views.connection
    player, *batch = views.execute(
        "SELECT white, rated_ms, batch FROM games WHERE pool = 2 AND reason IS NULL ORDER BY rated_ms DESC LIMIT 1"
    ).fetchone()
    (position,) = views.execute("SELECT game FROM history WHERE pool = 1 AND player = 1 AND n = 1").fetchone()
    (corrected,) = views.execute("SELECT substr(subject, 6) FROM corrections WHERE number = 1").fetchone()
    asked: dict[str, tuple[object, ...]] = {
        "ranking": (1, 1, 10, -(2**62), -(2**62)), "last row": (1, 1), "row": (1, 1, 1),
        "row at an instant": (2, player, batch[0]), "graph": (1, 1, 0, -1), "games of a player": (1, 1, 20),
        "sides between": (1, 1, 0, 20),
        "opposite sides": (1, 1, 20), "waiting games": (2, player, 0, 2**62), "latest end": (2,),
        "side of a game": (1, 1, position), "game": (position,), "current": (1, 1),
        "row before a batch": (2, player, 2**62, ""), "batch": (2, *batch), "not counted": (1, 1, 20),
        "corrected games": (f'["game:{corrected}"]',), "corrected sides": (1, 1), "any proposal": (),
        "placed sides": (1, 1), "page of a graph": (1, 1, 1, 50), "opponents of a page": (1, 1, 1, 50),
        "games between": (1, 1, -(2**62), 2**62), "numbers of games": (1, 1, 50),
    }  # fmt: skip
    assert set(asked) == set(HOT)
    for name, arguments in asked.items():
        assert list(queries.fetch_dicts(views, HOT[name], arguments)), name


@pytest.fixture
def ran(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """By file, the statements that ``everything`` ran, as SQLite saw them, numbers and texts filled in."""
    connect, seen = sqlite.connect, dict[str, list[str]]()

    def traced(file: str | Path, **words: Any) -> Any:
        connection = connect(file, **words)
        connection.set_trace_callback(seen.setdefault(str(file), []).append)
        return connection

    monkeypatch.setattr(sqlite, "connect", traced)
    everything(path)
    monkeypatch.undo()
    return seen


@pytest.mark.slow
def test_nothing_that_runs_in_daily_use_reads_a_whole_table_or_all_of_a_pool(ran: dict[str, list[str]]) -> None:
    asked, used = 0, set()
    for file, statements in ran.items():
        with closing(sqlite.connect(file)) as connection:
            for statement in statements:
                if not re.match(r"\s*(SELECT|UPDATE|DELETE|INSERT INTO \w+ SELECT)", statement):
                    continue
                asked += 1
                steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
                scans = [s for s in steps if re.match(rf"SCAN {LARGEST}|SEARCH {LARGEST} .*\(pool=\?\)$", s)]
                excuses = {words for words in SCANS if scans and words in statement}
                assert not scans or excuses, (statement, steps)
                used |= excuses
    assert asked > 300
    assert used == set(SCANS), "an excuse that nothing needs"
