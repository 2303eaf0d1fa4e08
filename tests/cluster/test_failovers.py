"""A load on three nodes while servers are killed, frozen and cut off: what was acknowledged stands, whatever died.

The cases that take longer run too where LEDGER_FAILOVERS says how many rounds.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from ledger.errors import StorageError
from ledger.journal.postgres_store import PostgresJournal
from tools.cluster import judging, nodes
from tools.cluster.judging import Load
from tools.cluster.load import body_of
from tools.cluster.nodes import TTL, Cluster, Node

ROUNDS = int(os.environ.get("LEDGER_FAILOVERS", "0"))
SCHEMA = "club"
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(name="cluster", scope="module")
def _cluster() -> Iterator[Cluster]:
    try:
        with nodes.running() as cluster:
            PostgresJournal.create(cluster.address(), SCHEMA).close()
            with psycopg.connect(address(cluster), autocommit=True) as connection:
                connection.execute(f"CREATE ROLE ledger LOGIN IN ROLE {SCHEMA}_writer")
            yield cluster
    except StorageError as error:
        if os.environ.get("LEDGER_CLUSTER") == "required":  # where nothing may be passed over
            raise
        pytest.skip(str(error))


@pytest.fixture(name="load", scope="module")
def _load(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    folder = tmp_path_factory.mktemp("load")
    with judging.running(cluster.address("ledger"), SCHEMA, folder) as load:
        load.wait_for_more(50)
        yield load


def address(cluster: Cluster) -> str:
    return cluster.address(target_session_attrs="primary")


def on_the_leader(cluster: Cluster, statement: str) -> Any:
    with psycopg.connect(address(cluster), autocommit=True) as connection:
        return connection.execute(statement).fetchall()


WRITERS = "SELECT pid FROM pg_stat_activity WHERE usename = 'ledger' AND pid <> pg_backend_pid() AND state <> 'idle'"


def after(what: str, load: Load, since: float) -> None:
    """Records go on; how long nobody was told anything is shown, never asserted."""
    load.wait_for_more()
    sys.stderr.write(f"\n{what}: nothing was acknowledged for {load.longest_silence(since):.1f} s at most\n")


def kill_the_server(cluster: Cluster, load: Load) -> None:
    cluster.wait_for_leader().kill_server()


def kill_the_node(cluster: Cluster, load: Load) -> None:
    leader = cluster.wait_for_leader()
    leader.kill()
    load.wait_for_more()
    leader.start()
    cluster.wait_for_standbys(2)


def freeze_the_leader_and_wake_it_later(cluster: Cluster, load: Load) -> None:
    leader = cluster.wait_for_leader()
    leader.freeze()
    cluster.wait_for_leader(3 * TTL, but=leader)
    load.wait_for_more()
    leader.wake()
    cluster.wait_for_standbys(2)


@contextmanager
def both_standbys_frozen(cluster: Cluster) -> Iterator[Node]:
    """The leader, of which nothing that is under way is followed any more until the block ends."""
    leader = cluster.wait_for_leader()
    others = [node for node in cluster.nodes.values() if node is not leader]
    for node in others:
        node.freeze()
    time.sleep(1.0)  # what was under way has ended
    yield leader
    for node in others:
        node.wake()
    cluster.wait_for_standbys(2)


def freeze_both_standbys(cluster: Cluster, load: Load) -> None:
    with both_standbys_frozen(cluster):
        before = load.acknowledged()
        time.sleep(5.0)
        assert load.acknowledged() == before, "nothing may be acknowledged that stands on one node alone"


def cancel_commits(cluster: Cluster, load: Load) -> None:
    with (
        both_standbys_frozen(cluster) as leader,
        psycopg.connect(f"postgresql://postgres@127.0.0.1:{leader.port}/chess", autocommit=True) as connection,
    ):
        for _ in range(10):
            connection.execute(f"SELECT pg_cancel_backend(pid) FROM ({WRITERS}) AS writers")
            time.sleep(0.2)


def terminate_connections(cluster: Cluster, load: Load) -> None:
    for _ in range(10):
        on_the_leader(cluster, f"SELECT pg_terminate_backend(pid) FROM ({WRITERS}) AS writers")
        time.sleep(0.2)


def cut_connections_before_the_answer(cluster: Cluster, load: Load) -> None:
    # A process of the server that is killed takes all others down with it, as a crash does: nobody gets an answer.
    leader = cluster.wait_for_leader()
    with psycopg.connect(f"postgresql://postgres@127.0.0.1:{leader.port}/chess", autocommit=True) as connection:
        (process,) = connection.execute(f"{WRITERS} LIMIT 1").fetchone() or (None,)
    if process is not None:
        os.kill(process, signal.SIGKILL)


def switch_over(cluster: Cluster, load: Load) -> None:
    leader = cluster.wait_for_leader()
    cluster.switch_over(next(node for node in cluster.nodes.values() if node is not leader))
    cluster.wait_for_leader(3 * TTL, but=leader)


def stop_etcd(cluster: Cluster, load: Load) -> None:
    cluster.stop_etcd()
    time.sleep(TTL)
    cluster.start_etcd()
    cluster.wait_for_leader(3 * TTL)


OFTEN = (
    kill_the_server, kill_the_node, freeze_the_leader_and_wake_it_later, freeze_both_standbys, cancel_commits,
    terminate_connections, cut_connections_before_the_answer,
)  # fmt: skip
SELDOM = (switch_over, stop_etcd)
CASES = OFTEN if not ROUNDS else (OFTEN + SELDOM) * ROUNDS


@pytest.mark.parametrize("strike", CASES, ids=[f"{place}-{case.__name__}" for place, case in enumerate(CASES)])
def test_what_was_acknowledged_stands(strike: Any, cluster: Cluster, load: Load) -> None:
    begun = load.now()
    strike(cluster, load)
    after(strike.__name__, load, begun)
    cluster.wait_for_standbys(2)
    notes = load.notes()
    assert judging.broken_promises(judging.rows_of(address(cluster), SCHEMA), notes) == []
    assert any("known to be replicated" in note.get("failed", "") for note in notes) or strike is not cancel_commits


def test_every_entry_is_what_its_leaf_seals(cluster: Cluster, load: Load) -> None:
    stand = judging.rows_of(address(cluster), SCHEMA)
    assert judging.false_bodies(judging.bodies_of(address(cluster), SCHEMA, stand), stand) == []


def test_the_judge_finds_each_broken_promise() -> None:
    bodies = [body_of(position, key) for position, key in enumerate(("a", "b", "c"), 1)]
    entries = [(place, key, judging.leaf_of(body)) for place, key, body in zip((1, 2, 3), "abc", bodies, strict=True)]
    stands = {"stands": [["b", 2, entries[1][2].hex(), False]]}
    head = {"size": 2, "root": judging.roots([leaf for *_, leaf in entries], {2})[2]}
    assert judging.broken_promises(entries, [stands, head]) == judging.false_bodies(bodies, entries) == []
    assert "missing" in judging.broken_promises(entries[1:], [])[0]
    assert "twice" in judging.broken_promises([*entries, (4, "a", entries[0][2])], [])[0]
    assert "acknowledged" in judging.broken_promises(entries[:1], [stands])[0]
    another = [entries[0], (2, "c", entries[2][2])]
    assert "no part" in judging.broken_promises(another, [head])[-1]
    assert len(judging.broken_promises(entries, [head, {**head, "root": "0" * 64}])) == 1, "two heads of one size"
    assert judging.false_bodies([bodies[0], bodies[2], bodies[1]], entries) != []
