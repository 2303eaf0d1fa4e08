"""How SQLite finds what is asked: every statement that runs often, on a ledger with games in it, is pinned.

A table read from end to end (SCAN) is found by running the program and asking about whatever it ran.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger import db, gamebook, queries
from ledger.events import PlayerChanged
from ledger.imports.source import frames
from ledger.journal import sqlite
from ledger.ledger import Ledger
from ledger.model import Standing
from tests.crash_driver import NOW, source_games

LARGE = ("games", "history", "journal", "nodes", "texts", "people", "current")
BY_PLAYER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=?)"
BY_GAME_NUMBER = "SEARCH {} USING PRIMARY KEY (pool=? AND player=? AND n=?)"
BY_POSITION = "SEARCH {} USING INTEGER PRIMARY KEY (rowid=?)"

HOT_PLANS = {
    "ranking": ["SEARCH current USING INDEX current_by_rating (pool=?)"],
    "rank": ["SEARCH current USING COVERING INDEX current_by_rating (pool=? AND rating>?)"],
    "last row": [BY_PLAYER.format("history")],
    "row": [BY_GAME_NUMBER.format("history")],
    "row at an instant": [BY_PLAYER.format("history")],
    "graph": [BY_PLAYER.format("history")],
    "games of a player": [
        BY_PLAYER.format("now"),
        BY_PLAYER.format("mine"),
        BY_POSITION.format("games"),
        BY_GAME_NUMBER.format("theirs"),
        BY_PLAYER.format("theirs_now"),
    ],
    "side of a game": [BY_PLAYER.format("history")],
    "game": [BY_POSITION.format("games")],
    "current": [BY_PLAYER.format("current")],
}

# What may read a whole table, and why. Anything else that does is a fault.
SCANS = {
    "FROM games WHERE (white = ": "a change of standing judges a player's games again; there are few changes",
    "OR name = ": "a name is looked for among all people; they are few beside the games",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plans") / "club.db"
    with Ledger.create(made, clock=lambda: NOW) as ledger:
        ledger.import_games(frames(source_games(900)))
        ledger.catch_up()
    return made


def plan(connection: Any, statement: str) -> list[str]:
    count = max((int(n) for n in re.findall(r"\?(\d+)", statement)), default=statement.count("?"))
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", (None,) * count)
    return [row[3] for row in rows]


def test_every_hot_question_has_its_plan_here() -> None:
    assert set(HOT_PLANS) == set(queries.HOT)


@pytest.mark.parametrize("name", queries.HOT)
def test_a_hot_question_is_answered_as_pinned(name: str, path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        assert sorted(plan(ledger.views.connection, queries.HOT[name])) == sorted(HOT_PLANS[name])


def test_games_in_rating_order_come_from_their_index_without_sorting(path: Path) -> None:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        assert plan(ledger.views.connection, gamebook._IN_ORDER) == [
            "SEARCH games USING INDEX games_in_rating_order (pool=? AND ended_ms>?)"
        ]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (sqlite._FIND_ONE, ["SEARCH journal USING INDEX sqlite_autoindex_journal_1 (key=?)"]),
        ("SELECT body FROM journal WHERE position > ? AND position <= ? ORDER BY position",
         ["SEARCH journal USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]),
    ],
)  # fmt: skip
def test_the_journal_is_asked_by_its_keys(statement: str, expected: list[str], path: Path) -> None:
    with closing(db.connect(path)) as connection:
        assert plan(connection, statement) == expected
        assert any("key=?" in step for step in plan(connection, sqlite._FIND))


def everything(path: Path) -> None:
    """A day in the life of a ledger: appends, a late game, a correction of standing, questions."""
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        ledger.register("made:new", "New")
        ledger.import_games(frames(source_games(950), 20))
        ledger.catch_up()
        late = next(source_games(1, seed=9))._replace(key="made:late", ended_at="2010")
        ledger.import_games(frames([late]))
        ledger.catch_up()
        ledger.append(PlayerChanged(player=1, effective_at="2015", standing=Standing.GUEST))
        ledger.catch_up()
        ledger.head()
        ledger.log("made:late")
        ledger.pool()
        ledger.player("made:p1")
        for name, arguments in (("ranking", (1, 1, 10)), ("graph", (1, 1)), ("games of a player", (1, 1, 20))):
            assert list(queries.dictionaries(ledger.views.connection, queries.HOT[name], arguments))


@pytest.fixture
def ran(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """By file, the statements that ``everything`` ran, as SQLite saw them, numbers and texts filled in."""
    connect, seen = db.connect, dict[str, list[str]]()

    def traced(file: str | Path, *, read_only: bool = False) -> Any:
        connection = connect(file, read_only=read_only)
        connection.set_trace_callback(seen.setdefault(str(file), []).append)
        return connection

    monkeypatch.setattr(db, "connect", traced)
    everything(path)
    monkeypatch.undo()
    return seen


def test_nothing_that_runs_in_daily_use_reads_a_large_table_from_end_to_end(ran: dict[str, list[str]]) -> None:
    asked, used = 0, set()
    for file, statements in ran.items():
        with closing(db.connect(file)) as connection:
            for statement in statements:
                if not re.match(r"\s*(SELECT|UPDATE|DELETE|INSERT INTO \w+ SELECT)", statement):
                    continue
                asked += 1
                steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
                scans = [s for s in steps if re.match(rf"SCAN ({'|'.join(LARGE)})\b", s)]
                excuses = {words for words in SCANS if scans and words in statement}
                assert not scans or excuses, (statement, steps)
                used |= excuses
    assert asked > 300
    assert used == set(SCANS), "an excuse that nothing needs"
