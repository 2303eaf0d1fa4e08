"""A cluster on loopback: etcd, and three nodes of Patroni with a server each; nodes can be killed, frozen and woken.

Nothing outside its own folder and its own ports is touched. PostgreSQL refuses to run as root: a root user has
everything run as another user. The settings are those of ``patroni.yml`` for three machines, with the shortest times
that Patroni takes.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from ledger.errors import StorageError

from ..postgres_servers import as_other_user, free_ports, guarded, other_user, signal_server

TTL = 20  # seconds until a leader that says nothing more is followed by another: the least that Patroni takes
LOOP, RETRY = 2, 3  # seconds between two looks of a node at itself, and for which it asks etcd again
NAMES = ("db1", "db2", "db3")
SUPERUSER, DATABASE = "postgres", "chess"
STARTS_WITHIN = 90.0  # seconds
_POLL = 0.1


class ClusterError(Exception):
    """The cluster did not do what was asked of it in time; the end of its log says why."""


def programs() -> Path:
    """Return the folder of the newest PostgreSQL here that has all programs that a node needs.

    Raises:
        StorageError: something is missing; it says what to install.
    """
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/opt").glob("postgresql*/bin")]
    needed = ("initdb", "pg_basebackup", "pg_rewind")
    whole = [folder for folder in folders if all((folder / name).exists() for name in needed)]
    if not whole:
        raise StorageError("the cluster", "needs PostgreSQL 15 or later: as root, apt-get install postgresql")
    if shutil.which("etcd") is None:
        raise StorageError("the cluster", "needs etcd: as root, apt-get install etcd-server")
    return max(whole, key=lambda folder: int("".join(filter(str.isdigit, folder.parent.name)) or 0))


def patroni() -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment that run Patroni as the other user.

    The Python of this environment may be where no other user may look, such as in the home of root; the system's own
    takes the packages of this one where both have one version.

    Raises:
        StorageError: neither can.
    """
    packages = ":".join(place for place in sys.path if place.endswith("-packages"))
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    # -S: without the system's own packages, which are of other versions
    for python, environment in (([sys.executable], {}), ([system, "-S"], {"PYTHONPATH": packages})):
        words = [*python, "-m", "patroni"]
        with suppress(OSError):
            done = subprocess.run([*words, "--version"], capture_output=True, check=False, **as_other_user(environment))
            if done.returncode == 0 and done.stdout.rpartition(b" ")[2].startswith(b"4."):
                return words, environment
    raise StorageError(
        "the cluster",
        f"needs Patroni 4 where the user {other_user()!r} can run it: pip install 'patroni[etcd3]>=4' into an "
        "environment that this user may read",
    )


def shared_settings() -> dict[str, Any]:
    """Return Patroni's settings of all nodes, which it keeps in etcd.

    ``quorum`` with ``strict``: the leader says that something is recorded once one of the two others has it too, and
    where there is none it says nothing, rather than to go on alone. An acknowledged entry is on a node of the
    quorum, however far behind the leader's last byte that is: an import that is not acknowledged yet may be many
    megabytes of it, and with Patroni's limit of one no node would lead after the leader was lost within it.
    """
    server = {
        "fsync": "on", "wal_log_hints": "on", "max_connections": 100, "shared_buffers": "32MB",
        "wal_keep_size": "256MB", "max_wal_senders": 10, "hot_standby": "on", "wal_receiver_status_interval": "1s",
        "wal_sender_timeout": "10s", "wal_receiver_timeout": "10s", "password_encryption": "scram-sha-256",
    }  # fmt: skip
    return {
        "ttl": TTL, "loop_wait": LOOP, "retry_timeout": RETRY, "maximum_lag_on_failover": 1 << 40,
        "synchronous_mode": "quorum", "synchronous_mode_strict": True, "synchronous_node_count": 1,
        "postgresql": {
            "use_pg_rewind": True, "use_slots": True, "parameters": server,
            # what a machine has that cannot be led back to the leader's log was never acknowledged
            "remove_data_directory_on_rewind_failure": True, "remove_data_directory_on_diverged_timelines": True,
        },
    }  # fmt: skip


class Node:
    """A node: Patroni, and the server that it keeps.

    Attributes:
        name: of the node.
        port: of its server.
        data: folder of its server, on the disk of the node.
    """

    def __init__(self, name: str, folder: Path, ports: Sequence[int], how: tuple[list[str], dict[str, str]]) -> None:
        self.name, (self.port, self.rest_port), (self._words, self._environment) = name, ports, how
        self.folder, self.data = folder / name, folder / name / "disk" / "data"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def rest(self) -> str:
        """Where its Patroni is asked."""
        return f"http://127.0.0.1:{self.rest_port}"

    @property
    def runs(self) -> bool:
        """True if its Patroni runs, frozen or not."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start its Patroni, which starts the server."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self._words, str(self.folder / "patroni.yml")], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, **as_other_user(self._environment),
            )  # fmt: skip

    def state(self, within: float = 2.0) -> Mapping[str, Any]:
        """Return the state that its Patroni reports; empty if it does not answer within so many seconds."""
        try:
            with urlopen(Request(f"{self.rest}/patroni"), timeout=within) as answer:  # noqa: S310  # our own address
                return dict(json.load(answer))
        except (OSError, ValueError):
            return {}

    def kill_server(self) -> None:
        """Kill every process of the server at once; its Patroni stays, and starts it again or lets another one lead."""
        signal_server(self.data, signal.SIGKILL)

    def kill(self) -> None:
        """Kill all of the node at once, as when a machine loses its power."""
        if self.process is not None:
            self.process.kill()
            signal_server(self.data, signal.SIGKILL)
            self.process.wait()
            self.process = None
        signal_server(self.data, signal.SIGKILL)

    def freeze(self) -> None:
        """Stop all of the node in the middle of what it does, as when a virtual machine is moved."""
        if self.process is not None:
            self.process.send_signal(signal.SIGSTOP)
        signal_server(self.data, signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        signal_server(self.data, signal.SIGCONT)
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)


class Cluster:
    """Etcd and the nodes, within one folder.

    Attributes:
        folder: with everything of it.
        nodes: by name.
    """

    def __init__(self, folder: Path, names: Sequence[str] = NAMES) -> None:
        self.folder, self._programs = folder, programs()
        how = patroni()
        client, peer, *ports = free_ports(2 + 2 * len(names))
        self._etcd_port, self._peer_port = client, peer
        self._etcd: subprocess.Popen[bytes] | None = None
        self.nodes = {
            name: Node(name, folder, ports[2 * place : 2 * place + 2], how) for place, name in enumerate(names)
        }

    def address(self, user: str = SUPERUSER, database: str = DATABASE, **words: object) -> str:
        """Return the address of all nodes together, which leads to the one that takes writes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes.values())
        more = "&".join(f"{name}={value}" for name, value in {"connect_timeout": 3, **words}.items())
        return f"postgresql://{user}@{hosts}/{database}?{more}"

    # -- beginning and end -----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start all of it, and wait until a leader takes writes that both others have followed."""
        self.start_etcd()
        for node in self.nodes.values():
            node.data.parent.mkdir(parents=True)
            (node.folder / "patroni.yml").write_text(json.dumps(self._settings(node), indent=2))  # JSON is YAML
            self._give_away(node.folder)
            node.start()
        leader = self.wait_for_leader()
        self.wait_for_standbys(len(self.nodes) - 1)
        subprocess.run(
            [self._programs / "createdb", "-h", "127.0.0.1", "-p", str(leader.port), "-U", SUPERUSER, "-E", "UTF8",
             "-T", "template0", "--locale=C", DATABASE],
            check=True, capture_output=True, timeout=STARTS_WITHIN,
        )  # fmt: skip

    def start_etcd(self) -> None:
        """Start etcd, in which the nodes agree on who leads."""
        data = self.folder / "etcd"
        data.mkdir(exist_ok=True)
        self._give_away(data)
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._peer_port))
        with (self.folder / "etcd.log").open("ab") as log:
            self._etcd = subprocess.Popen(
                ["etcd", "--name", "one", "--data-dir", data, "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer,
                 "--initial-advertise-peer-urls", peer, "--initial-cluster", f"one={peer}", "--log-level", "warn"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **as_other_user(),
            )  # fmt: skip

    def stop_etcd(self) -> None:
        """End etcd; what it knows stays in its folder."""
        if self._etcd is not None:
            self._etcd.kill()
            self._etcd.wait()
            self._etcd = None

    def stop(self) -> None:
        """End everything at once."""
        for node in self.nodes.values():
            node.wake()
            node.kill()
        self.stop_etcd()

    def _give_away(self, folder: Path) -> None:
        if os.geteuid() == 0:
            shutil.chown(folder, other_user())
            for path in folder.iterdir():
                shutil.chown(path, other_user())

    def _settings(self, node: Node) -> dict[str, Any]:
        """Return Patroni's settings of one node."""
        initdb = [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"]
        roles = {"superuser": {"username": SUPERUSER}, "replication": {"username": "replicator"}}
        return {
            "scope": "ledger", "name": node.name,
            "etcd3": {"host": f"127.0.0.1:{self._etcd_port}"},
            "restapi": {"listen": f"127.0.0.1:{node.rest_port}", "connect_address": f"127.0.0.1:{node.rest_port}"},
            "bootstrap": {"dcs": shared_settings(), "initdb": initdb},
            "postgresql": {
                "listen": f"127.0.0.1:{node.port}", "connect_address": f"127.0.0.1:{node.port}",
                "data_dir": str(node.data), "bin_dir": str(self._programs), "authentication": roles,
                "pgpass": str(node.folder / "pgpass"), "basebackup": ["no-slot"],  # half a copy acknowledges nothing
                "parameters": {"unix_socket_directories": str(node.folder)},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication replicator 127.0.0.1/32 trust"],
            },
            "watchdog": {"mode": "off"},
        }  # fmt: skip

    # -- asking ----------------------------------------------------------------------------------------------------

    def leader(self) -> Node | None:
        """Return the node whose server takes writes, as its Patroni says; None where there is none."""
        for node in self.nodes.values():
            state = node.state()
            if state.get("role") in {"primary", "master"} and state.get("state") == "running":
                return node
        return None

    def wait_for_leader(self, within: float = STARTS_WITHIN, *, but: Node | None = None) -> Node:
        """Wait until some node leads, another one than *but*.

        Raises:
            ClusterError: none does in time.
        """
        for _ in self._moments(within):
            if (leader := self.leader()) is not None and leader is not but:
                return leader
        raise ClusterError(f"no node leads after {within:.0f} s\n{self._ends_of_logs()}")

    def wait_for_standbys(self, number: int, within: float = STARTS_WITHIN) -> None:
        """Wait until so many nodes follow the leader, and may lead when it is lost.

        That is two things: the leader asks them before it says that something is recorded, and etcd knows that it does.
        While etcd does not, no node may succeed a lost leader, for none can know which has all that was acknowledged.
        Etcd itself is asked: what the nodes say of it is some seconds old, and a leader whose server was lost has
        this note emptied before it writes it again.

        Raises:
            ClusterError: they do not in time.
        """
        for _ in self._moments(within):
            states = [node.state() for node in self.nodes.values()]
            asked = {each["application_name"] for state in states for each in state.get("replication", ())
                     if each.get("sync_state") in {"quorum", "sync"}}  # fmt: skip
            noted = self._noted_standbys()
            if len(asked & noted) >= number:
                return
        raise ClusterError(f"fewer than {number} nodes follow after {within:.0f} s\n{self._ends_of_logs()}")

    def _noted_standbys(self) -> set[str]:
        """Return the nodes of which etcd knows that the leader asks them."""
        key = base64.b64encode(b"/service/ledger/sync").decode()
        request = Request(f"http://127.0.0.1:{self._etcd_port}/v3/kv/range", json.dumps({"key": key}).encode())
        try:
            with urlopen(request, timeout=2) as answer:  # noqa: S310  # our own address
                stored = json.load(answer).get("kvs", [])
        except (OSError, ValueError):
            return set()
        standbys = (json.loads(base64.b64decode(each["value"])).get("sync_standby") or "" for each in stored)
        return {name for text in standbys for name in text.split(",") if name}

    def switch_over(self, to: Node) -> None:
        """Let another node lead, in order."""
        leader = self.wait_for_leader()
        content = json.dumps({"leader": leader.name, "candidate": to.name}).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(f"{leader.rest}/switchover", content, headers)  # noqa: S310  # our own address
        try:
            urlopen(request, timeout=STARTS_WITHIN).close()  # noqa: S310  # our own address
        except URLError as error:
            raise ClusterError(f"the switchover was refused: {error}") from error

    def _moments(self, within: float) -> Iterator[None]:
        """Moments to look at the nodes, until the time is over or none of them runs any more."""
        until = time.monotonic() + within
        while time.monotonic() < until and any(node.runs for node in self.nodes.values()):
            yield
            time.sleep(_POLL)

    def _ends_of_logs(self) -> str:
        ends = []
        for place in (self.folder / "etcd.log", *(node.folder / "log" for node in self.nodes.values())):
            with suppress(OSError):
                ends.append(f"{place}:\n" + "\n".join(place.read_text("utf-8", "replace").splitlines()[-15:]))
        return "\n".join(ends)


@contextmanager
def running(folder: Path | None = None) -> Iterator[Cluster]:
    """Yield a cluster that runs within the block, in a folder that goes afterwards.

    A guard ends it where this process cannot, as when it is killed.

    Raises:
        StorageError: a program is missing.
        ClusterError: it did not start.
    """
    place = Path(tempfile.mkdtemp(prefix="ledger-cluster-", dir=folder)).resolve()
    guard = guarded(place, subprocess.PIPE)
    try:
        place.chmod(0o755)
        cluster = Cluster(place)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
    finally:
        guard.communicate()
