"""How SQLite finds what a preview asks, over tables that are laid over the views: every statement is pinned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from ledger.book.hypothetical_book import OF_GAMES, HypotheticalBook, lay_over
from ledger.book.stored_pools import stored_pools
from ledger.imports.reading import frames
from ledger.ledger import Ledger
from ledger.ratings import collected_rows, list_previews, places, previews, queries, rank_previews, views_file
from tests.kit.clubs import NOW
from tests.kit.corrections import ask
from tests.kit.games import source_games

GAMES = 400
BY_PLAYER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=?)"
BY_NUMBER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=? AND n=?)"
# A game is looked up where it stands and where it is written.
GAME_IN_VIEWS = [
    "SEARCH main.games USING INTEGER PRIMARY KEY (rowid=?)", "USING ROWID SEARCH ON TABLE hidden_games FOR IN-OPERATOR",
]  # fmt: skip
WRITTEN_GAME = "SEARCH temp.written_games USING INTEGER PRIMARY KEY (rowid=?)"
AT_AN_INSTANT = [
    "MERGE (UNION ALL)", "LEFT", BY_PLAYER.format("h"), *GAME_IN_VIEWS, "RIGHT", BY_PLAYER.format("h"), WRITTEN_GAME,
]  # fmt: skip
LISTED = "SEARCH main.current USING COVERING INDEX current_by_rating (pool=? AND listed=?{})"
PLANS = {
    "players before": (
        previews._BEFORE,
        [
            BY_PLAYER.format("c"), "LIST SUBQUERY 1", "SCAN json_each VIRTUAL TABLE INDEX 1:", BY_NUMBER.format("h"),
            f"{BY_NUMBER.format('reached')} LEFT-JOIN",
        ],
    ),
    "rated before": (
        collected_rows._RATED_BEFORE,
        [
            BY_PLAYER.format("h"), "CORRELATED SCALAR SUBQUERY 1", "SEARCH w USING INTEGER PRIMARY KEY (rowid=?)",
            "CORRELATED SCALAR SUBQUERY 2", "SEARCH g USING INTEGER PRIMARY KEY (rowid=?)",
        ],
    ),
    "game of a row": (collected_rows._GAME_OF_ROW, [BY_NUMBER.format("history")]),
    "closed accounts": (
        rank_previews._OF_CLOSED,
        [BY_PLAYER.format("main.current"), "LIST SUBQUERY 1", "SCAN json_each VIRTUAL TABLE INDEX 1:"],
    ),
    "keys": (
        previews._KEYS,
        [
            "COMPOUND QUERY", "LEFT-MOST SUBQUERY", GAME_IN_VIEWS[0], "LIST SUBQUERY 1",
            "SCAN json_each VIRTUAL TABLE INDEX 1:", GAME_IN_VIEWS[1], "UNION ALL", WRITTEN_GAME,
            "REUSE LIST SUBQUERY 1",
        ],
    ),
    "listed": (places.LISTED, ["SEARCH main.distribution USING PRIMARY KEY (pool=?)"]),
    "with more points": (places.WITH_MORE, ["SEARCH main.distribution USING PRIMARY KEY (pool=? AND points>?)"]),
    "whole distribution": (places.WHOLE, ["SEARCH main.distribution USING PRIMARY KEY (pool=?)"]),
    "higher": (places.HIGHER, [LISTED.format(" AND rating>? AND rating<?")]),
    "beside": (places.BESIDE, [LISTED.format(" AND rating=? AND player<?")]),
    "part of the ranking": (places.ORDER, [LISTED.format(" AND rating>? AND rating<?")]),
    "row at an instant": (queries.ROW_AT, AT_AN_INSTANT),
    "rows copied": (
        list_previews._COPY_HISTORY.format(names="pool"),
        ["SEARCH main.history USING PRIMARY KEY (pool=? AND player=? AND n>?)"],
    ),
    "last rows copied": (list_previews._COPY_CURRENT, ["SCAN asked VIRTUAL TABLE INDEX 1:", BY_PLAYER.format("c")]),
    "everybody": (list_previews._PLAYERS, ["SEARCH main.current USING COVERING INDEX current_by_rating (pool=?)"]),
}  # fmt: skip


@pytest.fixture(name="laid_over", scope="module")
def _laid_over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ledger, Any]]:
    """A ledger, and its views with what a preview of corrected games lays over them, the rows for lists too."""
    with Ledger.create(tmp_path_factory.mktemp("plans") / "club.db", clock=lambda: NOW) as ledger:
        ledger.import_games(frames(source_games(GAMES), GAMES))
        ledger.catch_up()
        with closing(views_file.open_views(ledger.views.path, read_only=True)) as connection:
            lay_over(connection, OF_GAMES)
            list_previews.lay_rows(connection, stored_pools(connection)[0], {1: 0, 2: 0})
            yield ledger, connection


def plan(connection: Any, query: str) -> list[str]:
    """The steps of a plan; in the tables of the views where both have one."""
    numbered = [int(number) for number in re.findall(r"\?(\d)", query)]
    values = (None,) * (max(numbered) if numbered else query.count("?"))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


@pytest.mark.parametrize("name", PLANS)
def test_a_preview_finds_what_it_asks_as_pinned(name: str, laid_over: tuple[Ledger, Any]) -> None:
    query, expected = PLANS[name]
    assert plan(laid_over[1], query) == expected


def test_the_games_of_a_preview_are_read_in_order_each_part_by_its_index(laid_over: tuple[Ledger, Any]) -> None:
    ledger, connection = laid_over
    book = HypotheticalBook(connection, ledger.journal)
    steps = plan(connection, book._rated_games(next(iter(book.pools.values())), ()))
    assert [step for step in steps if "INDEX" in step] == [
        "SEARCH main.games USING INDEX games_in_rating_order (pool=? AND rated_ms>?)",
        "SEARCH temp.written_games USING INDEX written_games_in_rating_order (pool=? AND rated_ms>?)",
    ]
    assert not [step for step in steps if step.startswith(("SCAN main", "SCAN temp"))]


def test_a_list_of_everybody_reads_no_game_but_those_of_its_rows(laid_over: tuple[Ledger, Any]) -> None:
    steps = plan(laid_over[1], queries.ROWS_AT)
    assert not [step for step in steps if step.startswith("SCAN")]


def test_no_statement_of_a_preview_reads_a_whole_table(
    laid_over: tuple[Ledger, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement that previews of several verbs send is looked at, whoever sends it."""
    ledger, _ = laid_over
    asked: list[str] = []
    opened = views_file.open_views

    def traced(*arguments: Any, **named: Any) -> Any:
        connection = opened(*arguments, **named)
        connection.set_trace_callback(asked.append)
        return connection

    monkeypatch.setattr(views_file, "open_views", traced)
    game = next(ledger.rows("games", "reason IS NULL ORDER BY rated_ms DESC LIMIT 1 OFFSET 50"))
    changes = [
        ask(ledger, "result", game=game["key"], to="1/2-1/2" if game["half_points"] != 1 else "1-0"),
        ask(ledger, "void", game=game["key"]),
        ask(ledger, "annul", player=str(game["white"]), which="all"),
    ]
    for change in changes:
        assert ledger.preview([change]).moves
    monkeypatch.undo()
    with closing(views_file.open_views(ledger.views.path, read_only=True)) as connection:
        lay_over(connection, OF_GAMES)
        selects = {" ".join(text.split()) for text in asked if text.lstrip().upper().startswith(("SELECT", "WITH"))}
        assert len(selects) > 30
        selects.remove(" ".join(queries.LATEST_END.replace("?1", "1").split()))  # looked at by itself below
        whole = re.compile(r"SCAN main\.(games|history|current)\b|SEARCH main\.(games|history|current) .*\(pool=\?\)")
        for statement in sorted(selects):
            steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
            assert not [step for step in steps if whole.match(step)], statement


def test_the_latest_end_is_found_without_reading_every_game(laid_over: tuple[Ledger, Any]) -> None:
    steps: list[int] = []
    laid_over[1].set_progress_handler(lambda: steps.append(1), 10)
    try:
        (found,) = laid_over[1].execute(queries.LATEST_END, (1,)).fetchone()
    finally:
        laid_over[1].set_progress_handler(None, 0)
    assert found == max(row["ended_ms"] for row in laid_over[0].rows("games", "reason IS NULL"))
    assert len(steps) < GAMES
