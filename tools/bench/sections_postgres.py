"""Section ``postgres``: the journal and the whole ledger on PostgreSQL, copies of the views there, and three nodes.

The benchmark starts a server of its own, of the newest version that is installed, with its files on the disk of the
benchmark's and with PostgreSQL's own defaults for what a power cut may take. Lines of whole works are by the clock
alone, for the processor time of the server's processes is not in the figures of ours.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count, repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from ledger.answers.exports.exporting import open_snapshot
from ledger.answers.exports.postgres_copy import copy_to_postgres
from ledger.answers.exports.postgres_tables import postgres_tables
from ledger.errors import StorageError
from ledger.facts.events import GameRecorded
from ledger.journal import Journal
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.settings_file import ServerPlace, SettingsFile
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.server_stores import setup_sql
from ledger.runtime.lazy import psycopg
from ledger.runtime.postgres import quoted

from .. import output
from ..cluster import judging, nodes
from ..cluster.load import body_of, key_of, recorded_at
from ..cluster.nodes import TTL, Cluster, Node
from ..commands.journal import EVERY
from ..postgres_servers import Server, reached_by_others, running
from ..postgres_servers import installed as versions
from . import ours
from .datasets import WORKS, Run
from .measuring import COMMAND, Figure, Worked, compared, cost_of, in_a_process, in_turns, installed
from .measuring import server as server_of
from .table import Line, line

A_TRANSACTION = 1_000
KIND = GameRecorded.KIND
SCHEMA = "club"
LOGIN = "recorder"  # the user who records
COPIES = "ratings"  # the schema of copied views
# What a server that keeps a journal runs with; the tests' servers forgo some of it.
DURABLE = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "256MB", "max_wal_size": "4GB"}
INSERT = "INSERT INTO bare VALUES (%s, %s, %s, %s, %s)"
BEHIND = 10  # rounds before those that are measured
IMPORTED = 500_000  # games at most: from so many on the bounds are judged


def postgres(run: Run) -> Iterator[Line]:
    """Yield one server, then three nodes; a line needs the programs that it measures."""
    if not versions() or not installed("psycopg"):
        output.remark("postgres: PostgreSQL 15 or later, or psycopg, is not installed: nothing is measured")
        return
    # The server may run as another user, whom the folder of the run does not let in.
    with running(versions()[-1], run.folder.parent, **DURABLE) as server:
        _make_journals(server.url(), "single", "free", "old", "many", "read")
        yield from _entry_lines(run, server)
        yield from _copy_lines(run, server)
        yield from _ledger_lines(run, server)
    yield from _cluster_lines(run)


# Entries of the journal.


def _keyed(first: int, count: int) -> list[tuple[int, str, bytes]]:
    """Return position, key and body of so many entries."""
    now = recorded_at(ours.FIRST_MS)
    keys = ((position, key_of("bench", ours.FIRST_MS + position)) for position in range(first, first + count))
    return [(position, key, body_of(position, key, now)) for position, key in keys]


def _make_journals(address: str, *schemas: str) -> None:
    """Make a journal in each schema, and a user who may record in all of them."""
    for schema in schemas:
        PostgresJournal.create(address, schema).close()
    with psycopg.connect(address, autocommit=True) as connection:
        roles = ", ".join(f"{schema}_writer" for schema in schemas)
        connection.execute(f"CREATE ROLE {LOGIN} LOGIN IN ROLE {roles}".encode())


def _append_singly(journal: Journal, count: int) -> Figure:
    """As the recorder does it: it looks for the key with the lock, and the row goes with the commit."""
    entries = _keyed(journal.size() + 1, count)

    def append() -> None:
        for position, key, body in entries:
            with journal.writing(keys=[key]) as writer:
                if not writer.find([key]):
                    assert writer.size + 1 == position
                    writer.append([KIND], [key], [body])

    return cost_of(append).rates(count)


def _append_many(journal: Journal, count: int) -> Figure:
    """Rows that are ready, with their leaves and tree, in transactions of 1,000."""
    _, keys, bodies = zip(*_keyed(journal.size() + 1, count), strict=True)

    def append() -> None:
        for start in range(0, count, A_TRANSACTION):
            part = slice(start, start + A_TRANSACTION)
            with journal.writing() as writer:
                writer.append(repeat(KIND), keys[part], bodies[part])

    return cost_of(append).rates(count)


def _entry_lines(run: Run, server: Server) -> Iterator[Line]:
    """Entries appended singly, behind an old snapshot, and in transactions of 1,000; and read."""
    entries, events, firsts = run.size.live, run.size.events, count(1, run.size.live)
    with ExitStack() as stack:
        names = ("single", "free", "old", "many", "read")
        single, free, old, many, read = (
            stack.enter_context(closing(PostgresJournal(server.url(user=LOGIN), name))) for name in names
        )
        bare = stack.enter_context(psycopg.connect(server.new_database(), autocommit=True))
        bare.execute(WORKS["statements"]["journal_on_postgres"].encode())

        def insert() -> Figure:
            rows = [
                (position, KIND, key, body, os.urandom(32)) for position, key, body in _keyed(next(firsts), entries)
            ]
            return cost_of(lambda: [bare.execute(INSERT, row) for row in rows]).rates(entries)

        append = partial(_append_singly, single, entries)
        yield from compared("postgres-one", "", append, insert, 2 * run.rounds)
        # Behind one of two journals of as many entries a reader has held a snapshot since it was empty.
        with psycopg.connect(server.url()) as reader:
            reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            reader.execute("SELECT count(*) FROM old.journal")
            behind, without = (partial(_append_singly, journal, entries) for journal in (old, free))
            in_turns({"old": behind, "new": without}, BEHIND, warm=False)  # leaves rows that only the reader may see
            yield from compared("postgres-snapshot", "", behind, without, 2 * run.rounds)
        if installed("eventsourcing") and installed("psycopg_pool"):
            insert_many = partial(_insert_stored_events, stack.enter_context(_recorder(server)), events)
            yield from compared("postgres-many", "", partial(_append_many, many, events), insert_many, run.rounds)
        file = stack.enter_context(closing(SqliteJournal.create(run.new_folder("read") / "club.db")))
        for journal in (read, file):
            _append_many(journal, events)
        yield from compared("postgres-read", "", partial(_read, read), partial(_read, file), run.short)


def _read(journal: Journal) -> Figure:
    return cost_of(lambda: sum(map(len, journal.read()))).rates(journal.size())


def _insert_stored_events(recorder: Any, events: int) -> Figure:
    stored_event = importlib.import_module("eventsourcing.persistence").StoredEvent
    sequence = uuid4()  # one a round, as its aggregates are
    stored = [stored_event(sequence, position, KIND, body) for position, _, body in _keyed(1, events)]
    parts = [stored[start : start + A_TRANSACTION] for start in range(0, events, A_TRANSACTION)]
    return cost_of(lambda: [recorder.insert_events(part) for part in parts]).rates(events)


@contextmanager
def _recorder(server: Server) -> Iterator[Any]:
    """Yield the application recorder of eventsourcing, as its factory makes it."""
    settings = {"DBNAME": server.new_database().rpartition("/")[2], "HOST": "127.0.0.1", "PORT": str(server.port)}
    settings |= {"USER": "postgres", "PASSWORD": "none"}
    environment = {"PERSISTENCE_MODULE": "eventsourcing.postgres"}
    environment |= {f"POSTGRES_{name}": value for name, value in settings.items()}
    made = importlib.import_module("eventsourcing.utils").Environment("Games", environment)
    factory = importlib.import_module("eventsourcing.persistence").InfrastructureFactory.construct(made)
    with closing(factory):
        yield factory.application_recorder()


# Whole ledgers.


def _copy_lines(run: Run, server: Server) -> Iterator[Line]:
    """Copy every table of the views into a new schema and over a copy, compared with psql's copy of CSV files.

    psql reads rows that are ready and makes no keys; ours are read from SQLite, get keys, indexes and statistics, and
    are in place all at once. The second time nothing differs, which ours finds by comparing every row.
    """
    if shutil.which("psql") is None:
        output.remark("postgres: psql is not installed: no copy is measured")
        return
    files, copy = run.new_folder("copies"), server.new_database()
    with run.part.open() as ledger:
        with open_snapshot(ledger) as (reader, _):
            for table in postgres_tables(ledger):
                with (files / table.name).open("wb") as file:
                    file.writelines(map(table.csv, table.rows(reader)))
        copy_to_postgres(ledger, copy, COPIES)
        works: dict[str, Callable[[], Figure]] = {
            "postgres-export": lambda: cost_of(partial(copy_to_postgres, ledger, server.new_database(), COPIES)),
            "postgres-export-again": partial(cost_of, partial(copy_to_postgres, ledger, copy, COPIES)),
            "psql": partial(_copied_by_psql, copy, files),
        }
        measured = in_turns(works, run.rounds, warm=False)
    clocks = {name: [cost.clock for cost in costs] for name, costs in measured.items()}
    for name in ("postgres-export", "postgres-export-again"):
        yield line(name, run.part.name, clocks[name], clocks["psql"])


def _copied_by_psql(copy: str, files: Path) -> Figure:
    """Copy into tables like those of the copy, without keys."""
    names = [file.name for file in files.iterdir()]
    with psycopg.connect(copy, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS plain CASCADE; CREATE SCHEMA plain")
        for name in names:
            connection.execute(f"CREATE TABLE plain.{quoted(name)}(LIKE {COPIES}.{quoted(name)})".encode())
    copies = [f"-c\\copy plain.{quoted(name)} FROM '{files / name}' (FORMAT csv)" for name in names]
    return cost_of(partial(subprocess.run, ["psql", "-q", "-v", "ON_ERROR_STOP=1", copy, *copies], check=True))


def _ledger_lines(run: Run, server: Server) -> Iterator[Line]:
    """Import CSV and build the views, each round into a new database, compared with the same in files."""
    data, on_server = run.made_up(min(run.size.games[-1], IMPORTED)), run.folder / "server" / "club.db"

    def import_onto_server() -> Worked:
        shutil.rmtree(on_server.parent, ignore_errors=True)
        on_server.parent.mkdir()
        database = server.new_database().rpartition("/")[2]
        place = ServerPlace(server.url(database, LOGIN), SCHEMA)
        with psycopg.connect(server.url(database), autocommit=True) as connection:
            connection.execute(setup_sql(place).encode())
        return in_a_process("import", on_server, data.csv(), place.address)

    build = partial(in_a_process, "build")
    works: dict[str, tuple[Callable[[], Worked], Callable[[], Worked]]] = {
        "postgres-import": (import_onto_server, data.import_again),
        "postgres-build": (partial(build, on_server), lambda: build(data.ledger())),
    }
    for name, (there, here) in works.items():
        worked = in_turns({"server": there, "file": here}, run.rounds, warm=False)
        server_clock, file_clock = ([each.costs[0].clock for each in of] for of in worked.values())
        yield line(name, data.name, server_clock, file_clock, games=data.games)


# Three nodes under Patroni and etcd, on one machine: what the network between three machines adds is not in it.

QUORUM, LOCAL, LOAD = "quorum", "local", "load"  # schemas: a journal in each, besides the ledger's
LOCAL_COMMIT = f"options={quote('-csynchronous_commit=local')}"
AN_IMPORT = 1_000  # entries; in the load of the failovers
SEEN = 15  # games a round; each waits for half of the interval
PHASE = 0.618  # of an interval, by which each is recorded later in it than the one before: they fall all over it
ON_NODES = frozenset({"postgres-quorum", "postgres-seen", "postgres-node-lost", "postgres-server-lost"})


def why_no_nodes() -> str | None:
    """Return the reason why three nodes cannot run on this machine; None if they can."""
    try:
        nodes.programs()
        nodes.patroni()
    except StorageError as error:
        return str(error)
    return None


def _cluster_lines(run: Run) -> Iterator[Line]:
    if (reason := why_no_nodes()) is not None:
        output.remark(f"postgres: {reason}: nothing of three nodes is measured")
        return
    folder = run.new_folder("cluster")
    with nodes.running(reached_by_others(run.folder.parent)) as cluster:
        place = ServerPlace(cluster.address(LOGIN), SCHEMA)
        primary = cluster.address(target_session_attrs="primary")
        _make_journals(primary, QUORUM, LOCAL, LOAD)
        with psycopg.connect(primary, autocommit=True) as connection:
            connection.execute(setup_sql(place).encode())
        with (
            closing(PostgresJournal(place.address, QUORUM, needs_quorum=True)) as quorum,
            closing(PostgresJournal(f"{place.address}&{LOCAL_COMMIT}", LOCAL)) as local,
        ):
            all_nodes, one_node = (partial(_append_singly, journal, run.size.live) for journal in (quorum, local))
            yield next(compared("postgres-quorum", "", all_nodes, one_node, 2 * run.rounds))
        yield _seen_line(run, folder, place)
        yield from _silence_lines(cluster, folder)


def _seen_line(run: Run, folder: Path, place: ServerPlace) -> Line:
    """Return a game is recorded on one node; another one, which follows, says when its views are up to date with it."""
    here, there = folder / "here.db", folder / "there.db"
    SettingsFile(there).put(journal=place.address, schema=place.schema)
    medians: list[float] = []
    games, words = min(SEEN, run.size.live // 10), "level with entry"
    with Ledger.create(here, on_server=place) as ledger:
        players = ledger.register("name:one", "One"), ledger.register("name:two", "Two")
        follow = [*COMMAND, "follow", str(there)]
        with server_of(follow, folder / "log", says=f"{words} {ledger.journal.size()}\n") as follower:
            for number in range(run.rounds):
                delays: list[float] = []
                for game in range(games):
                    time.sleep(EVERY * (PHASE * (number * games + game) % 1))
                    ended_ms = ours.FIRST_MS + ledger.journal.size()
                    position = ledger.append(ours.game(f"seen-{number}-{game}", players, ended_ms)).position
                    begun = time.monotonic()
                    follower.wait_for(f"{words} {position:,}\n")
                    delays.append(time.monotonic() - begun)
                medians.append(max(sorted(delays)[games // 2], 1e-6))
    return line("postgres-seen", "", medians, EVERY)


def _silence_lines(cluster: Cluster, folder: Path) -> Iterator[Line]:
    """Yield the longest time in which no client got an acknowledgement, while the leader's server or node is lost."""
    (logs := folder / "load").mkdir()
    with judging.running(cluster.address(LOGIN), LOAD, logs, an_import=AN_IMPORT) as load:
        load.wait_for_more(50)
        for name, lose in (("postgres-server-lost", Node.kill_server), ("postgres-node-lost", Node.kill)):
            cluster.wait_for_standbys(len(cluster.nodes) - 1)
            leader, since = cluster.wait_for_leader(), load.now()
            lose(leader)
            load.wait_for_more()
            yield line(name, "", load.longest_silence(since), float(TTL))
