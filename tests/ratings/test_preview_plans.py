"""How SQLite finds what a preview asks beside the ordinary questions: every statement is pinned."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import queries, rating_previews, standings
from tests.kit.clubs import NOW
from tests.kit.corrections import ask
from tests.kit.games import source_games

GAMES = 400
ASKED = "SCAN asked VIRTUAL TABLE INDEX 1:"
BY_PLAYER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=?)"
BY_NUMBER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=? AND n=?)"
GAME = "SEARCH games USING INTEGER PRIMARY KEY (rowid=?)"
LISTED = "SEARCH current USING COVERING INDEX current_by_rating (pool=? AND listed=?{})"
PLANS = {
    "last rows": (
        rating_previews.CURRENT_ROWS,
        [
            ASKED,
            BY_PLAYER.format("c"),
            BY_NUMBER.format("h"),
            f"{BY_NUMBER.format('reached')} LEFT-JOIN",
            f"{GAME} LEFT-JOIN",
        ],
    ),
    "newcomers": (rating_previews.FIRST_GAME_SINCE, [ASKED, BY_NUMBER.format("h"), GAME]),
    "merged": (
        rating_previews.MERGED,
        [
            "SEARCH merges USING INTEGER PRIMARY KEY (rowid=?)",
            "LIST SUBQUERY 1",
            "SCAN json_each VIRTUAL TABLE INDEX 1:",
        ],
    ),
    "closed accounts": (
        standings.OF_CLOSED,
        [BY_PLAYER.format("current"), "LIST SUBQUERY 1", "SCAN json_each VIRTUAL TABLE INDEX 1:"],
    ),
    "listed": (standings.LISTED, ["SEARCH distribution USING PRIMARY KEY (pool=?)"]),
    "with more points": (standings.WITH_MORE, ["SEARCH distribution USING PRIMARY KEY (pool=? AND points>?)"]),
    "whole distribution": (standings.DISTRIBUTION_OF_POOL, ["SEARCH distribution USING PRIMARY KEY (pool=?)"]),
    "higher": (standings.HIGHER, [LISTED.format(" AND rating>? AND rating<?")]),
    "beside": (standings.EQUAL_BEFORE, [LISTED.format(" AND rating=? AND player<?")]),
    "part of the ranking": (standings.ORDER, [LISTED.format(" AND rating>? AND rating<?")]),
}


@pytest.fixture(name="previewed_ledger", scope="module")
def _previewed_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with Ledger.create(tmp_path_factory.mktemp("plans") / "club.db", clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(GAMES), GAMES))
        ledger.catch_up()
        yield ledger


def plan(connection: Any, query: str) -> list[str]:
    """The steps of a plan."""
    numbered = [int(number) for number in re.findall(r"\?(\d)", query)]
    values = (None,) * (max(numbered) if numbered else query.count("?"))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


@pytest.mark.parametrize("name", PLANS)
def test_a_preview_finds_what_it_asks_as_pinned(name: str, previewed_ledger: Ledger) -> None:
    query, expected = PLANS[name]
    assert plan(previewed_ledger.views.connection, query) == expected


def test_no_statement_of_a_preview_reads_a_whole_table(previewed_ledger: Ledger) -> None:
    """Every statement that previews of several verbs send is looked at, whoever sends it."""
    ledger, asked = previewed_ledger, list[str]()
    game = next(ledger.rows("games", "reason IS NULL ORDER BY rated_ms DESC LIMIT 1 OFFSET 50"))
    changes = [
        ask(ledger, "result", game=game["key"], to="1/2-1/2" if game["half_points"] != 1 else "1-0"),
        ask(ledger, "void", game=game["key"]),
        ask(ledger, "annul", player=str(game["white"]), which="all"),
    ]
    connection = ledger.views.open_for_dry_run().connection
    connection.set_trace_callback(asked.append)
    for change in changes:
        assert ledger.preview([change]).moves
    connection.set_trace_callback(None)
    selects = {" ".join(text.split()) for text in asked if text.lstrip().upper().startswith(("SELECT", "WITH"))}
    assert len(selects) > 30
    selects.remove(" ".join(queries.LATEST_END.replace("?1", "1").split()))  # looked at by itself below
    whole = re.compile(r"SCAN (games|history|current)\b|SEARCH (games|history|current) .*\(pool=\?\)")
    for statement in sorted(selects):
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert not [step for step in steps if whole.match(step)], statement


def test_the_latest_end_is_found_without_reading_every_game(previewed_ledger: Ledger) -> None:
    steps: list[int] = []
    connection = previewed_ledger.views.connection
    connection.set_progress_handler(lambda: steps.append(1), 10)
    try:
        (found,) = connection.execute(queries.LATEST_END, (1,)).fetchone()
    finally:
        connection.set_progress_handler(None, 0)
    assert found == max(row["ended_ms"] for row in previewed_ledger.rows("games", "reason IS NULL"))
    assert len(steps) < GAMES
