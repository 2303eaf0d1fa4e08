"""Three nodes under Patroni and etcd: what quorum commit costs, how late another node is, how long a failover lasts.

All of it on one machine, which its three servers share: what the network between three machines adds is not in it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

from ledger.errors import StorageError
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.settings_file import ServerPlace, SettingsFile
from ledger.ledger import Ledger
from ledger.players.server_stores import sql_of
from ledger.runtime.lazy import psycopg

from .. import output
from ..cluster import judging, nodes
from ..cluster.nodes import TTL, Cluster, Node
from ..commands.server_journals import EVERY
from ..postgres_servers import reached_by_others
from . import ours
from .measuring import Rates, both_lines, in_turns
from .postgres_lines import ROUNDS_OF_DISK, append_one_by_one
from .rivals import installed as is_installed
from .table import Line, line

LOGIN = "ledger"
QUORUM, LOCAL, LOAD, CLUB = "quorum", "local", "load", "club"  # schemas: a journal in each
LOCAL_COMMIT = f"options={quote('-csynchronous_commit=local')}"
AN_IMPORT = 1_000  # entries; in the load of the failovers
SEEN = 15  # games a round; each waits for half of the interval
PHASE = 0.618  # of an interval, by which each is recorded later in it than the one before: they fall all over it
SILENCES = frozenset({"postgres-node-lost", "postgres-server-lost"})  # left out where no failover is asked for
NAMES = SILENCES | {"postgres-quorum", "postgres-seen"}


def why_not() -> str | None:
    """What three nodes lack on this machine; None where they can run."""
    if not is_installed("psycopg"):
        return "psycopg is not installed"
    try:
        nodes.programs()
        nodes.patroni()
    except StorageError as error:
        return str(error)
    return None


def cluster_lines(folder: Path, rounds: int, entries: int, failovers: int) -> Iterator[Line]:
    """*entries* one at a time, games seen on another node, and so many times a server and a node lost.

    Args:
        folder: for the files of this process; those of the nodes stand beside it.
        rounds: in turns.
        entries: appended in a round.
        failovers: of each kind; 0: none, which takes half a minute less each.
    """
    if (words := why_not()) is not None:
        output.remark(f"postgres: {words}: nothing of three nodes is measured")
        return
    with nodes.running(reached_by_others(folder.parents[1])) as cluster:
        _make_journals(cluster)
        yield from _quorum_lines(cluster, rounds, entries)
        yield from _seen_lines(cluster, folder, rounds, min(SEEN, max(1, entries // 4)))
        if failovers:
            yield from _silence_lines(cluster, folder, failovers)


def _place(cluster: Cluster) -> ServerPlace:
    return ServerPlace(cluster.address(LOGIN), CLUB)


def _make_journals(cluster: Cluster) -> None:
    """One for each thing that is measured, and a user who may record in all of them."""
    for schema in (QUORUM, LOCAL, LOAD):
        PostgresJournal.create(cluster.address(), schema).close()
    roles = ", ".join(f"{schema}_writer" for schema in (QUORUM, LOCAL, LOAD))
    with psycopg.connect(cluster.address(target_session_attrs="primary"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {LOGIN} LOGIN IN ROLE {roles}")
        connection.execute(sql_of(_place(cluster)).encode())


def _quorum_lines(cluster: Cluster, rounds: int, entries: int) -> Iterator[Line]:
    address = cluster.address(LOGIN)
    with (
        closing(PostgresJournal(address, QUORUM, needs_quorum=True)) as quorum,
        closing(PostgresJournal(f"{address}&{LOCAL_COMMIT}", LOCAL)) as local,
    ):
        works: Mapping[str, Callable[[], Rates]] = {
            "quorum": partial(append_one_by_one, quorum, entries),
            "local": partial(append_one_by_one, local, entries),
        }
        in_turns(works, 1)  # to warm up
        measured = in_turns(works, rounds * ROUNDS_OF_DISK)
    yield both_lines("postgres-quorum", "", measured["quorum"], measured["local"])[0]


# -- seen on another node ------------------------------------------------------------------------------------------


def _seen_lines(cluster: Cluster, folder: Path, rounds: int, games: int) -> Iterator[Line]:
    """A game is recorded on one node; another one, which follows, says when its views are level with it."""
    place = _place(cluster)
    (here := folder / "one").mkdir()
    (there := folder / "other").mkdir()
    SettingsFile(there / "club.db").put(journal=place.address, schema=place.schema)
    with Ledger.create(here / "club.db", on_server=place) as ledger, _following(there / "club.db") as level_with:
        players = ledger.register("name:one", "One"), ledger.register("name:two", "Two")
        delays: list[list[float]] = []
        level_with(ledger.journal.size())
        for number in range(rounds):
            delays.append([])
            for game in range(games):
                time.sleep(EVERY * (PHASE * (number * games + game) % 1))
                name, ended_ms = f"seen-{number}-{game}", ours.FIRST_MS + ledger.journal.size()
                position = ledger.append(ours.late_game(name, players, ended_ms)).position
                begun = time.monotonic()
                delays[-1].append(level_with(position) - begun)
    medians = [max(sorted(round_of)[len(round_of) // 2], 1e-6) for round_of in delays]
    yield line("postgres-seen", "", medians, EVERY)


@contextmanager
def _following(path: Path) -> Iterator[Callable[[int], float]]:
    """A node that follows; it is asked until when its views were not yet level with a position."""
    words = [sys.executable, "-m", "tools.cli", "follow", str(path)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        lines = process.stderr
        reached = 0

        def level_with(position: int) -> float:
            nonlocal reached
            while reached < position:
                said = lines.readline()
                if not said:
                    raise RuntimeError(f"the node that follows ended before it was level with entry {position}")
                if "level with entry" in said:
                    reached = int(said.rpartition(" ")[2].replace(",", ""))
            return time.monotonic()

        try:
            yield level_with
        finally:
            process.terminate()


# -- failovers -----------------------------------------------------------------------------------------------------


def _silence_lines(cluster: Cluster, folder: Path, times: int) -> Iterator[Line]:
    """The longest time in which no client was told that something stands, while the leader's server or node is lost."""
    (logs := folder / "load").mkdir()
    silences: dict[str, list[float]] = {"postgres-server-lost": [], "postgres-node-lost": []}
    with judging.running(cluster.address(LOGIN), LOAD, logs, an_import=AN_IMPORT) as load:
        load.wait_for_more(50)
        for _ in range(times):
            for name, lose in (("postgres-server-lost", Node.kill_server), ("postgres-node-lost", Node.kill)):
                cluster.wait_for_standbys(len(cluster.nodes) - 1)
                leader, since = cluster.wait_for_leader(), load.now()
                lose(leader)
                load.wait_for_more()
                silences[name].append(load.longest_silence(since))
                if not leader.runs:
                    leader.start()
    for name, seconds in silences.items():
        yield line(name, "", seconds, float(TTL))
