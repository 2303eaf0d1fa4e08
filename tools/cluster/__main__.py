"""Three nodes under a load, to watch and to strike: leader, acknowledgements, and their proof in the end.

``python -m tools.cluster`` runs until Ctrl-C. Killed processes are started again after a while, as an operator
on call would do.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import FrameType
from typing import Any

import click

from ledger.errors import LedgerError
from ledger.runtime.lazy import psycopg

from .. import output
from . import judging, nodes
from .followers import SCHEMA, make_ledger
from .judging import Load, Logs
from .load import CLIENTS
from .nodes import Cluster, ClusterError, Node

AN_IMPORT = 1_000  # entries: a load of whole imports would fill a disk within an hour
BACK_AFTER = 40.0  # seconds until a killed node is started again: another one leads before that
ANSWERS_WITHIN = 0.5  # seconds for a node to say how it is
HELD, BROKEN, UNDECIDED = 0, 1, 1


class Watch:
    """The second-by-second report of a load.

    Attributes:
        entries: that were acknowledged.
        silence: the longest time in seconds in which no client got an acknowledgement.
    """

    def __init__(self, load: Load) -> None:
        self._load, self._logs = load, Logs(load.folder)
        self._last = load.now()
        self._stands = bytearray()  # by position: repeats are acknowledged, too, and count once
        self.entries, self.silence = 0, 0.0

    def look(self) -> tuple[int, float]:
        """Read what came; returns the new entries, and the seconds since the last answer."""
        before, times = self.entries, [self._last]
        for note in self._logs.more():
            if "stands" in note:
                times.append(note["at"])
                self._mark(note["stands"][0][1], note["stands"][-1][1])
        times.sort()
        since = self._load.now() - times[-1]
        self.silence = max(self.silence, since, *(later - earlier for earlier, later in pairwise([*times, times[-1]])))
        self._last = times[-1]
        return self.entries - before, since

    def _mark(self, first: int, last: int) -> None:
        self._stands.extend(bytes(max(0, last + 1 - len(self._stands))))
        self.entries += self._stands.count(0, first, last + 1)
        self._stands[first : last + 1] = b"\1" * (last + 1 - first)


class Keeper:
    """Looks at the nodes, says who leads and follows, and brings back who was lost."""

    def __init__(self, cluster: Cluster, asking: ThreadPoolExecutor) -> None:
        self._cluster, self._asking = cluster, asking
        self._lost: dict[str, float] = {}  # node -> when it was first seen to be lost
        self._shown: list[int] = []  # processes of the leader in the latest line

    def look(self) -> str:
        """Print the leader, the followers, and what is wrong with the other nodes."""
        answers = self._asking.map(lambda node: node.state(ANSWERS_WITHIN), self._cluster.nodes.values())
        states = dict(zip(self._cluster.nodes, answers, strict=True))
        leader = next((name for name, state in states.items() if leads(state)), None)
        followers = followers_of(states[leader]) if leader else set()
        words = [f"{leader} leads" if leader else "nobody leads"]
        if followers:
            words.append(f"{' '.join(sorted(followers))} follow{'s' if len(followers) == 1 else ''}")
        for name, state in states.items():
            if name != leader and name not in followers:
                words.append(f"{name} {self._trouble(self._cluster.nodes[name], state)}")
        if leader:
            self._tell_what_to_try(self._cluster.nodes[leader])
        return ", ".join(words)

    def _trouble(self, node: Node, state: Mapping[str, Any]) -> str:
        if node.runs:
            self._lost.pop(node.name, None)
            return f"is {state.get('state', 'silent')}"
        since = self._lost.setdefault(node.name, time.monotonic())
        left = since + BACK_AFTER - time.monotonic()
        if left > 0:
            return f"is lost (started again in {left:.0f} s)"
        node.start()
        return "is started again"

    def _tell_what_to_try(self, leader: Node) -> None:
        """Three lines with the numbers of the processes, again whenever they are others."""
        try:
            server = int((leader.data / "postmaster.pid").read_text("ascii").split("\n", 1)[0])
        except (OSError, ValueError):  # it is being started
            return
        if leader.process is None or self._shown == [leader.process.pid, server]:
            return
        self._shown = [leader.process.pid, server]
        address = self._cluster.address(target_session_attrs="primary")
        output.answer("To try in another terminal:")
        output.answer(f"  kill -9 {server:<24} {leader.name} loses its server, and Patroni starts it again")
        output.answer(f"  kill -9 {f'{leader.process.pid} {server}':<24} {leader.name} is lost, and another node leads")
        output.answer(f"  psql '{address}' -c 'SELECT count(*) FROM {SCHEMA}.journal'")

    def bring_back(self) -> None:
        """Wake and start every node, and wait until one leads and another one follows.

        Raises:
            ClusterError: they do not in time.
        """
        for node in self._cluster.nodes.values():
            node.wake()
            if not node.runs:
                node.start()
        self._cluster.wait_for_leader(3 * nodes.TTL + nodes.STARTS_WITHIN)
        self._cluster.wait_for_standbys(1)


def leads(state: Mapping[str, Any]) -> bool:
    """Return whether a node of this state takes writes."""
    return state.get("role") in {"primary", "master"} and state.get("state") == "running"


def followers_of(leader: Mapping[str, Any]) -> set[str]:
    """Return the nodes that this leader asks before it says that something is recorded."""
    standbys: Iterable[Mapping[str, Any]] = leader.get("replication") or ()
    return {each["application_name"] for each in standbys if each.get("sync_state") in {"quorum", "sync"}}


def watched(load: Load, keeper: Keeper, seconds: float | None) -> None:
    """One line a second, until Ctrl-C or for so many seconds."""
    load.wait_for_more(CLIENTS)
    watch, begun, passed = Watch(load), time.monotonic(), 0
    while seconds is None or passed < seconds:
        time.sleep(1 - (time.monotonic() - begun) % 1)
        who = keeper.look()
        fresh, since = watch.look()
        passed = int(time.monotonic() - begun)
        now = f"{fresh:,} in the last second" if since < 1 else f"nothing for {since:.0f} s"
        silence = f"longest silence {watch.silence:.1f} s"
        output.answer_at_once(f"{passed:>5} s  {who}; {watch.entries:,} entries acknowledged, {now}; {silence}")


def judged(address: str, load: Load) -> int:
    """Compare the journal with the clients' answers, print the verdict, and return the exit code."""
    rows, notes = judging.rows_of(address, SCHEMA), load.notes()
    broken = judging.broken_promises(rows, notes)
    broken += judging.false_bodies(judging.bodies_of(address, SCHEMA, rows), rows)
    for promise in broken:
        output.verdict("BROKEN", promise, alarm=True)
    answers, heads = load.acknowledged(), sum("size" in note for note in notes)
    failures = sum("failed" in note for note in notes)
    summary = (
        f"{len(rows):,} entries, {answers:,} acknowledgements, {heads:,} heads, "
        f"{failures:,} failures that clients tried again"
    )
    if broken:
        output.verdict("BROKEN", f"{len(broken):,} promises; {summary}", alarm=True)
        return BROKEN
    output.verdict("KEPT", f"every promise: {summary}")
    return HELD


def interrupted(*_: int | FrameType | None) -> None:
    """Treat a closed terminal and a request to end as Ctrl-C."""
    raise KeyboardInterrupt


def run(seconds: float | None) -> int:
    """Start everything, watch, judge, end everything; returns the exit code."""
    output.remark("starting etcd and three nodes; Ctrl-C ends all of it")
    with nodes.running() as cluster, ThreadPoolExecutor(len(cluster.nodes)) as asking:
        address = cluster.address(target_session_attrs="primary")
        (logs := cluster.folder / "load").mkdir()
        place = make_ledger(cluster, logs)
        keeper = Keeper(cluster, asking)
        with judging.running(place.address, SCHEMA, logs, an_import=AN_IMPORT) as load:
            output.remark(f"{CLIENTS} clients record; everything stands in {cluster.folder}, until the end")
            try:
                watched(load, keeper, seconds)
            except KeyboardInterrupt:
                output.remark("the clients end, then the journal is judged; Ctrl-C once more ends all at once")
        keeper.bring_back()
        return judged(address, load)


@click.command()
@click.option("--seconds", type=click.IntRange(min=1), help="End after so many seconds; else Ctrl-C ends it.")
def command(seconds: int | None) -> None:
    """Start three nodes of PostgreSQL, etcd and a load on this machine, and show each second what becomes of them.

    In the end the journal is compared with every answer that the clients got. Exit code 0: every promise was kept;
    1: one was broken, or nothing could be judged.

    \b
    Example:
      python -m tools.cluster --seconds 60
    """
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    try:
        code = run(seconds)
    except KeyboardInterrupt:
        output.remark("ended; nothing was judged")
        code = UNDECIDED
    except (LedgerError, ClusterError, TimeoutError) as error:
        for line in str(error).split("\n"):
            output.error(line)
        code = UNDECIDED
    except psycopg.Error as error:
        output.error(f"nothing could be judged: {str(error).strip()}")
        code = UNDECIDED
    sys.exit(code)


if __name__ == "__main__":
    command()
