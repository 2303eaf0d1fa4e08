"""The journal on PostgreSQL beside bare statements, beside eventsourcing on the same server, and beside a file.

The benchmark starts a server of its own, of the newest version that is installed, with its files where those of the
benchmark are and with PostgreSQL's own defaults for what a power cut may take.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any
from uuid import uuid4

from ledger.facts import codec
from ledger.facts.codec import canonical
from ledger.journal import Journal
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.journal.sqlite_store import SqliteJournal
from ledger.runtime.lazy import psycopg

from .. import output
from ..postgres_servers import Server, installed, running
from .measuring import Rates, both_lines, cost_of, in_turns
from .rivals import installed as is_installed
from .table import Line

SNAPSHOT_AFTER = 40_000  # appends
A_TRANSACTION = 1_000
READ = 200_000  # entries
ROUNDS_OF_DISK = 3  # times as many where a round is short and waits for the disk
KIND = "game-recorded/1"
RECORDED_AT = "2026-11-20T10:00:00.000Z"
SCHEMA = "club"
# What a server that keeps a journal runs with; the tests' servers forgo some of it.
DURABLE = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "256MB", "max_wal_size": "4GB"}
BARE = """
CREATE TABLE bare(position bigint PRIMARY KEY, kind text NOT NULL, key text COLLATE "C" NOT NULL UNIQUE,
  body bytea NOT NULL, leaf bytea NOT NULL)
"""
INSERT = "INSERT INTO bare VALUES (%s, %s, %s, %s, %s)"
FACTS = {
    "black": 2, "ended_at": "2026-11-20T09:58:00Z", "half_moves": 61, "outcome": "white", "pool": "standard",
    "rated": True, "termination": "checkmate", "white": 1,
}  # fmt: skip


def postgres_lines(folder: Path, rounds: int, entries: int, events: int) -> Iterator[Line]:
    """*entries* one at a time, *events* in transactions of 1,000, and what stands there read."""
    versions = installed()
    if not versions or not is_installed("psycopg"):
        output.remark("postgres: PostgreSQL 15 or later, or psycopg, is not installed: nothing is measured")
        return
    # On the same disk, but not within: the server may run as another user, whom the folder does not let in.
    with running(versions[-1], folder.parents[1], **DURABLE) as server:
        yield from _one_lines(server, rounds, entries)
        yield from _snapshot_lines(server, rounds, entries)
        if is_installed("eventsourcing") and is_installed("psycopg_pool"):
            yield from _many_lines(server, rounds, events)
        yield from _read_lines(server, folder, rounds, max(events, min(READ, 40 * entries)))


def _body(position: int, key: str) -> bytes:
    return codec.assemble(position, RECORDED_AT, "club", KIND, key, canonical({**FACTS, "game": f"g{position:08}"}))


@contextmanager
def _new_journal(server: Server) -> Iterator[PostgresJournal]:
    """An empty journal in a database of its own, opened by a writer."""
    owner = server.new_database()
    name = owner.rpartition("/")[2]
    roles = Roles.of(f"{name}_{SCHEMA}")
    PostgresJournal.create(owner, SCHEMA, roles=roles).close()
    with closing(psycopg.connect(owner, autocommit=True)) as connection:
        connection.execute(f'CREATE USER "writer_of_{name}" IN ROLE "{roles.writer}"')
    with closing(PostgresJournal(server.url(name, f"writer_of_{name}"), SCHEMA)) as journal:
        yield journal


def append_one_by_one(journal: Journal, count: int) -> Rates:
    """As the recorder does it: the key is asked for with the lock, the row goes with the commit."""
    first = journal.size() + 1

    def append() -> None:
        for position in range(first, first + count):
            key = f"game:g{position:08}"
            with journal.writing(keys=[key]) as writer:
                if not writer.find([key]):
                    writer.append([KIND], [key], [_body(writer.size + 1, key)])

    return cost_of(append).rates(count)


def _one_lines(server: Server, rounds: int, entries: int) -> Iterator[Line]:
    numbers = itertools.count(1)
    with _new_journal(server) as journal, closing(_connected(server.new_database(), BARE)) as bare:

        def insert() -> Rates:
            rows = []
            for position in itertools.islice(numbers, entries):
                key = f"game:g{position:08}"
                rows.append((position, KIND, key, _body(position, key), os.urandom(32)))
            return cost_of(lambda: [bare.execute(INSERT, row) for row in rows]).rates(entries)

        works: Mapping[str, Callable[[], Rates]] = {
            "ours": partial(append_one_by_one, journal, entries),
            "bare": insert,
        }
        in_turns(works, 1)  # to warm up
        measured = in_turns(works, rounds * ROUNDS_OF_DISK)
    yield from both_lines("postgres-one", "", measured["ours"], measured["bare"])


def _connected(address: str, *statements: str) -> Any:
    connection = psycopg.connect(address, autocommit=True)
    for statement in statements:
        connection.execute(statement)
    return connection


def _snapshot_lines(server: Server, rounds: int, entries: int) -> Iterator[Line]:
    """Two journals of as many entries; behind one of them a reader has held a snapshot since it was empty."""
    before = min(SNAPSHOT_AFTER, 20 * entries)
    with (
        _new_journal(server) as free,
        _new_journal(server) as watched,
        closing(psycopg.connect(server.url(watched.path.rpartition("/")[2].partition(",")[0]))) as reader,
    ):
        for journal in (free, watched):
            if journal is watched:
                reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                reader.execute(f"SELECT count(*) FROM {SCHEMA}.journal")
            append_one_by_one(journal, before)
        works = {
            "watched": partial(append_one_by_one, watched, entries),
            "free": partial(append_one_by_one, free, entries),
        }
        measured = in_turns(works, rounds * ROUNDS_OF_DISK)
    yield from both_lines("postgres-snapshot", "", measured["watched"], measured["free"])


def _append_many(journal: Journal, events: int) -> Rates:
    first = journal.size() + 1
    positions = range(first, first + events)
    keys = [f"game:g{position:08}" for position in positions]
    bodies = [_body(position, key) for position, key in zip(positions, keys, strict=True)]

    def append() -> None:
        for start in range(0, events, A_TRANSACTION):
            with journal.writing() as writer:
                writer.append(repeat(KIND), keys[start : start + A_TRANSACTION], bodies[start : start + A_TRANSACTION])

    return cost_of(append).rates(events)


def _many_lines(server: Server, rounds: int, events: int) -> Iterator[Line]:
    """Rows that are ready, ours with their leaves and tree, in transactions of 1,000."""
    events = -(-events // A_TRANSACTION) * A_TRANSACTION
    with _new_journal(server) as journal, _recorder(server) as recorder:
        stored_event = importlib.import_module("eventsourcing.persistence").StoredEvent

        def insert() -> Rates:
            """One sequence a round, as its aggregates are."""
            sequence = uuid4()
            stored = [
                stored_event(sequence, number, KIND, _body(number, f"game:g{number:08}"))
                for number in range(1, events + 1)
            ]
            parts = [stored[start : start + A_TRANSACTION] for start in range(0, events, A_TRANSACTION)]
            return cost_of(lambda: [recorder.insert_events(part) for part in parts]).rates(events)

        works: Mapping[str, Callable[[], Rates]] = {"ours": partial(_append_many, journal, events), "theirs": insert}
        in_turns(works, 1)  # to warm up
        measured = in_turns(works, rounds)
    yield from both_lines("postgres-many", "", measured["ours"], measured["theirs"])


@contextmanager
def _recorder(server: Server) -> Iterator[Any]:
    """The application recorder of eventsourcing, as its factory makes it."""
    name = server.new_database().rpartition("/")[2]
    environment = {
        "PERSISTENCE_MODULE": "eventsourcing.postgres", "POSTGRES_DBNAME": name, "POSTGRES_HOST": "127.0.0.1",
        "POSTGRES_PORT": str(server.port), "POSTGRES_USER": "postgres", "POSTGRES_PASSWORD": "none",
    }  # fmt: skip
    persistence = importlib.import_module("eventsourcing.persistence")
    made = importlib.import_module("eventsourcing.utils").Environment("Games", environment)
    factory = persistence.InfrastructureFactory.construct(made)
    try:
        yield factory.application_recorder()
    finally:
        factory.close()


def _read_lines(server: Server, folder: Path, rounds: int, entries: int) -> Iterator[Line]:
    with _new_journal(server) as journal, closing(SqliteJournal.create(folder / "club.db")) as file:
        for each in (journal, file):
            _append_many(each, entries)
        works = {"ours": partial(_read, journal), "file": partial(_read, file)}
        in_turns(works, 1)  # to warm up
        measured = in_turns(works, rounds)
    yield from both_lines("postgres-read", "", measured["ours"], measured["file"])


def _read(journal: Journal) -> Rates:
    sizes: Sequence[int] = []

    def read() -> None:
        nonlocal sizes
        sizes = [len(block) for block in journal.read()]

    cost = cost_of(read)
    return cost.rates(sum(sizes))
