"""A load on three servers that are killed, frozen and cut off: what was acknowledged stands, whatever died.

Three nodes follow meanwhile, and end with the ratings of a ledger that nothing ever happened to. The cases that take
longer run too where LEDGER_FAILOVERS says how many rounds. Each round has a cluster and a ledger of its own: after each
case the whole journal is judged, and one that grew through all rounds would soon take longer than they do.

The clusters take some 3 GB of TMPDIR. The longest time without an acknowledgement, in 24 rounds on one busy machine
with two cores, with Patroni's ttl at 20 s:

================================================== =============== =======
fault                                              seconds, median at most
================================================== =============== =======
the leader's server is killed                                  5.1    10.1
the leader's machine is killed                                19.2    20.5
the leader is frozen until another one leads                  24.0    25.3
both standbys are frozen for 6 s                               6.0     6.5
commits are cancelled while they wait                          1.3     3.9
connections are terminated                                     0.1     0.3
a process of the server is killed before it answers            5.1     5.3
a switchover                                                   4.4     4.9
etcd is stopped for 20 s                                      18.4    19.8
the leader's disk is full                                     10.1    10.6
================================================== =============== =======
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ledger.audit.audit import audit
from ledger.backups.server_copies import copy_to_files
from ledger.errors import StorageError
from ledger.facts.codec import decode
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from tools.cluster import disks, followers, judging, nodes
from tools.cluster.followers import SCHEMA, Follower
from tools.cluster.judging import Load
from tools.cluster.load import body_of, key_of
from tools.cluster.nodes import TTL, Cluster, Node

ROUNDS = int(os.environ.get("LEDGER_FAILOVERS", "0"))
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(name="cluster", scope="module", params=range(max(ROUNDS, 1)))
def _cluster() -> Iterator[Cluster]:
    try:
        with nodes.running() as cluster:
            yield cluster
    except StorageError as error:
        if os.environ.get("LEDGER_CLUSTER") == "required":  # where nothing may be passed over
            raise
        pytest.skip(str(error))


@contextmanager
def a_folder(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A folder of one round: twenty of them would fill a disk that is memory."""
    folder = factory.mktemp(name)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(name="club_on_three", scope="module")
def _club_on_three(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerPlace]:
    with a_folder(tmp_path_factory, "made") as folder:
        yield followers.make_ledger(cluster, folder)


@pytest.fixture(name="nodes_that_follow", scope="module")
def _nodes_that_follow(
    club_on_three: ServerPlace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Follower]]:
    with a_folder(tmp_path_factory, "following") as folder, followers.following(club_on_three, folder) as following:
        yield following


@pytest.fixture(name="load", scope="module")
def _load(
    club_on_three: ServerPlace, nodes_that_follow: list[Follower], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Load]:
    with a_folder(tmp_path_factory, "load") as folder, judging.running(club_on_three.address, SCHEMA, folder) as load:
        load.wait_for_more(50)
        yield load


def address(cluster: Cluster) -> str:
    return cluster.address(target_session_attrs="primary")


def on_the_leader(cluster: Cluster, statement: str) -> Any:
    with psycopg.connect(address(cluster), autocommit=True) as connection:
        return connection.execute(statement).fetchall()


NOW = "2024-03-04T05:06:07.890Z"
NOT_REPLICATED = "not known to be replicated: run the command again"
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
        # Who waits for the standbys changes each moment; at the beginning an import may hold all others up.
        cancel = f"SELECT pg_cancel_backend(pid) FROM ({WRITERS}) AS writers"
        load.wait_for_failure(NOT_REPLICATED, lambda: connection.execute(cancel))


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


FULL = "the server's disk is full: free some space there and run the command again; nothing was recorded"


def fill_the_leaders_disk(cluster: Cluster, load: Load) -> None:
    leader = cluster.wait_for_leader()
    node = next(node for node in cluster.nodes.values() if node is not leader)
    try:
        with disks.small(cluster, node):
            cluster.switch_over(node)
            cluster.wait_for_leader(3 * TTL, but=leader)
            load.wait_for_more()
            load.wait_for_failure(FULL, lambda: disks.fill(node))
            assert all("\n" not in note.get("failed", "") for note in load.notes())
            disks.empty(node)
            load.wait_for_more()
    except StorageError as error:
        if "mount failed" not in str(error):  # which root alone may do
            raise
        pytest.skip(str(error))


OFTEN = (
    kill_the_server, kill_the_node, freeze_the_leader_and_wake_it_later, freeze_both_standbys, cancel_commits,
    terminate_connections, cut_connections_before_the_answer,
)  # fmt: skip
SELDOM = (switch_over, stop_etcd, fill_the_leaders_disk)
CASES = OFTEN + SELDOM if ROUNDS else OFTEN


@pytest.mark.parametrize("strike", CASES, ids=[case.__name__ for case in CASES])
def test_what_was_acknowledged_stands(
    strike: Any, cluster: Cluster, load: Load, nodes_that_follow: list[Follower]
) -> None:
    begun = load.now()
    strike(cluster, load)
    after(strike.__name__, load, begun)
    cluster.wait_for_standbys(2)
    notes = load.notes()
    looks = [look for node in nodes_that_follow for look in node.seen]
    assert judging.broken_promises(judging.rows_of(address(cluster), SCHEMA), [*notes, *looks]) == []


def test_three_nodes_end_with_the_digests_of_a_ledger_that_nothing_happened_to(
    cluster: Cluster, load: Load, nodes_that_follow: list[Follower], club_on_three: ServerPlace, tmp_path: Path
) -> None:
    load.end()
    rows = judging.rows_of(address(cluster), SCHEMA)
    for node in nodes_that_follow:
        node.wait_for(len(rows), 480.0)  # it may have fallen behind by all that a slow machine recorded
        node.end()
        assert node.faults() == []
    assert judging.broken_promises(rows, [look for node in nodes_that_follow for look in node.seen]) == []
    copy_to_files(club_on_three.address, SCHEMA, undisturbed := tmp_path / "club.db")
    verdict = audit(undisturbed)
    assert verdict.falsehoods == ()
    assert verdict.entries == len(rows)
    assert verdict.digests.keys() > {"games", "history", "current"}
    assert [node.digests() for node in nodes_that_follow] == [verdict.digests] * len(nodes_that_follow)


def test_every_entry_is_what_its_leaf_seals(cluster: Cluster, load: Load) -> None:
    stand = judging.rows_of(address(cluster), SCHEMA)
    assert judging.false_bodies(judging.bodies_of(address(cluster), SCHEMA, stand), stand) == []


def test_the_load_tells_games_as_the_ledger_records_them(tmp_path: Path) -> None:
    moments = (1_700_000_000_000, 1_700_000_123_456)
    keys = [key_of("both", moments[0]), key_of("single-3", moments[1]), key_of("import", moments[1], 49_999)]
    with Ledger.create(tmp_path / "club.db") as ledger:
        followers.prepare(ledger)
        games = [decode(body_of(1, key, NOW)).event for key in keys]
        positions = [receipt.position for receipt in ledger.append_many(games)]
        first, *_ = ledger.entries("game-recorded/1")
        bodies = [body_of(position, key, first.recorded_at) for position, key in zip(positions, keys, strict=True)]
        (stored,) = ledger.journal.read(positions[0] - 1)
        assert [body.replace(b'"actor":"ledger"', b'"actor":"load"') for body in stored] == bodies
        assert [row["reason"] for row in ledger.rows("games")] == [None] * 3, "all of them are rated"
        assert [row["pool"] for row in ledger.rows("games")] == [1, 1, 2], "and those of files in a pool of their own"


def test_the_judge_finds_each_broken_promise() -> None:
    names = [key_of("both", place) for place in (1, 2, 3)]
    bodies = [body_of(position, key, NOW) for position, key in enumerate(names, 1)]
    entries = [(place, key, judging.leaf_of(body)) for place, key, body in zip((1, 2, 3), names, bodies, strict=True)]
    stands = {"stands": [[names[1], 2, entries[1][2].hex(), False]]}
    head = {"size": 2, "root": judging.roots([leaf for *_, leaf in entries], {2})[2]}
    assert judging.broken_promises(entries, [stands, head]) == judging.false_bodies(bodies, entries) == []
    assert "missing" in judging.broken_promises(entries[1:], [])[0]
    assert "twice" in judging.broken_promises([*entries, (4, names[0], entries[0][2])], [])[0]
    assert "acknowledged" in judging.broken_promises(entries[:1], [stands])[0]
    another = [entries[0], (2, names[2], entries[2][2])]
    assert "no part" in judging.broken_promises(another, [head])[-1]
    assert len(judging.broken_promises(entries, [head, {**head, "root": "0" * 64}])) == 1, "two heads of one size"
    assert judging.false_bodies([bodies[0], bodies[2], bodies[1]], entries) != []
