"""Journals written by a few lines that share no code with the library, and the tree of RFC 6962."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.reader import verify_journal
from ledger.errors import LedgerError
from ledger.facts.words import TreeHead
from tests.audit.sqlite_library import sqlite3

# The files as they are published, written down once more.
SCHEMA = """
CREATE TABLE journal(
  position INTEGER PRIMARY KEY CHECK(position > 0),
  kind TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  body BLOB NOT NULL CHECK(length(body) <= 65535),
  leaf BLOB NOT NULL CHECK(length(leaf) = 32)
) STRICT;
CREATE TABLE nodes(
  level INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash) = 32),
  PRIMARY KEY(level, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE texts(sha256 BLOB PRIMARY KEY CHECK(length(sha256) = 32), zstd BLOB NOT NULL) STRICT;
PRAGMA application_id = 0x43524c4a;
PRAGMA user_version = 1;
"""
GUARDS = {
    "journal_never_updates": """
BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: correct a fact by a new entry'); END
""",
    "journal_never_deletes": """
BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: void a fact by a new entry'); END
""",
    "journal_takes_the_next_position": """
BEFORE INSERT ON journal
WHEN new.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM journal)
  OR EXISTS (SELECT 1 FROM journal WHERE key = new.key)
BEGIN SELECT raise(ABORT, 'the journal takes a new key at the next position only'); END
""",
}
PEOPLE_SCHEMA = """
CREATE TABLE people(
  player INTEGER PRIMARY KEY,
  identity TEXT UNIQUE,
  name TEXT,
  salt BLOB,
  joined_at TEXT NOT NULL
) STRICT;
PRAGMA application_id = 0x43524c50;
PRAGMA user_version = 1;
"""
RECORDED_AT = "2026-11-21T03:15:13.123Z"

Fact = tuple[str, str, dict[str, Any]]


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def split_point(size: int) -> int:
    k = 1
    while k * 2 < size:
        k *= 2
    return k


def mth(leaves: Sequence[bytes]) -> bytes:
    if not leaves:
        return sha()
    if len(leaves) == 1:
        return leaves[0]
    k = split_point(len(leaves))
    return sha(b"\x01", mth(leaves[:k]), mth(leaves[k:]))


def path_to(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = split_point(len(leaves))
    if m < k:
        return [*path_to(m, leaves[:k]), mth(leaves[k:])]
    return [*path_to(m - k, leaves[k:]), mth(leaves[:k])]


def body_of(position: int, fact: Fact, recorded_at: str = RECORDED_AT) -> bytes:
    kind, key, facts = fact
    entry = {
        "actor": "test",
        "facts": facts,
        "key": key,
        "kind": kind,
        "position": position,
        "recorded_at": recorded_at,
    }
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def game_fact(number: int, **facts: Any) -> Fact:
    return ("game-recorded/1", f"game:g{number}", {"black": 2, "outcome": "white", "white": 1, **facts})


def write_journal(path: Path, facts: Iterable[Fact], *, recorded_at: str = RECORDED_AT) -> list[bytes]:
    """Make a journal and return its leaves."""
    leaves = []
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        for position, fact in enumerate(facts, 1):
            body = body_of(position, fact, recorded_at)
            leaves.append(sha(b"\x00", body))
            row = (position, fact[0], fact[1], body, leaves[-1])
            connection.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", row)
        write_nodes(connection, leaves)
        put_guards(connection)
    return leaves


def put_guards(connection: sqlite3.Connection) -> None:
    for name, statement in GUARDS.items():
        connection.execute(f"CREATE TRIGGER {name} {statement.strip()}")


def write_nodes(connection: sqlite3.Connection, leaves: Sequence[bytes]) -> None:
    connection.execute("DELETE FROM nodes")
    level, below = 1, list(leaves)
    while len(below) >= 256:
        below = [mth(below[i : i + 256]) for i in range(0, len(below) - 255, 256)]
        rows = [(level, number, node) for number, node in enumerate(below)]
        connection.executemany("INSERT INTO nodes VALUES (?, ?, ?)", rows)
        level += 1


def edit_raw(path: Path, *statements: tuple[Any, ...]) -> None:
    """As somebody does who knows the guards: they are taken away, and put back as they were."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        guards = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in guards:
            connection.execute(f"DROP TRIGGER {name}")
        for sql, *values in statements:
            assert connection.execute(sql, values).rowcount != 0, sql
        if guards:
            put_guards(connection)


def loosen(path: Path, columns: str = "position INTEGER PRIMARY KEY, kind TEXT, key TEXT UNIQUE, body, leaf") -> None:
    """Put a journal that takes anything in the place of the strict one."""
    edit_raw(
        path,
        ("ALTER TABLE journal RENAME TO old",),
        (f"CREATE TABLE journal({columns})",),
        ("INSERT INTO journal SELECT * FROM old",),
        ("DROP TABLE old",),
    )


def replaced_body(path: Path, position: int, old: bytes, new: bytes) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        (body,) = connection.execute("SELECT body FROM journal WHERE position = ?", (position,)).fetchone()
    assert old in body
    return bytes(body.replace(old, new))


def false_entries(path: Path, since: TreeHead | None = None) -> list[tuple[str, int | str]]:
    return [(f.table, f.position_or_key) for f in verify_journal(str(path), since).falsehoods]


LOOSE: tuple[str, int | str] = ("journal schema", "table journal")


def lines_of_falsehoods(path: Path, since: TreeHead | None = None) -> str:
    falsehoods = verify_journal(str(path), since).falsehoods
    assert all("\n" not in str(f) for f in falsehoods)
    return "\n".join(map(str, falsehoods))


def outcome(path: Path, since: TreeHead | None = None) -> str:
    """The falsehoods found, or the one line of an error of ours; any other error is a failure."""
    try:
        text = lines_of_falsehoods(path, since)
    except LedgerError as error:
        text = str(error)
        if "\n" in text or str(path) not in text:
            pytest.fail(f"not one line that names the file: {text!r}")
    return text


def raw_head(path: Path, size: int | None = None) -> TreeHead:
    with closing(sqlite3.connect(path)) as connection:
        leaves = [leaf for (leaf,) in connection.execute("SELECT leaf FROM journal ORDER BY position")]
    return TreeHead(len(leaves[:size]), mth(leaves[:size]))


def index_page(path: Path, name: str) -> int:
    """The first byte of the root page of an index."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        page = connection.execute(query, (name,)).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    return int((page - 1) * size)
