"""A ledger on the cluster, and nodes that follow it: each a process of its own with views of its own.

What a node answers from is looked at from outside while servers die: up to which entry its views are, and the root of
the tree that they were derived from, which is a head like those that clients are given, and judged as one.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from ledger.audit.rebuilt_views import table_digests
from ledger.errors import StorageError
from ledger.facts.events import SchemeAdopted
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from ledger.players.server_stores import setup_sql
from ledger.ratings import views_file
from ledger.runtime import sqlite
from ledger.runtime.lazy import psycopg
from ledger.runtime.ledger_files import sidecar

from .judging import ENDS_WITHIN
from .load import LIVE, OF_FILES, PATIENCE, PLAYERS
from .nodes import Cluster

SCHEMA, LOGIN = "club", "ledger"
FOLLOWERS = 3
BEGINS_WITHIN = 60.0  # seconds
LOOKS_EVERY = 0.5  # seconds between two looks at the views of a node
_NAME = "club.db"


def make_ledger(cluster: Cluster, folder: Path) -> ServerPlace:
    """Make a ledger of many players on the cluster, in the way of the README; where it is.

    Args:
        cluster: that runs.
        folder: for the node that makes it.
    """
    place = ServerPlace(cluster.address(LOGIN), SCHEMA, PATIENCE, "quorum")
    with psycopg.connect(cluster.address(target_session_attrs="primary"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {LOGIN} LOGIN")
        connection.execute(setup_sql(place).encode())
    with Ledger.create(folder / _NAME, pool=LIVE, on_server=place) as ledger:
        prepare(ledger)
    return place


def prepare(ledger: Ledger) -> None:
    """Record the players and the second pool of the games of the load."""
    ledger.append(SchemeAdopted(pool=OF_FILES, scheme="elo", settings={}))
    ledger.register_many((f"name:player-{number}", f"Player {number}") for number in range(1, PLAYERS + 1))


@attrs.define
class Follower:
    """A node that follows.

    Attributes:
        path: of its ledger, ``club.db``.
        log: what ``rating-ledger follow`` said.
        process: of that command.
        seen: what its views were derived from, at each look: ``size`` and ``root``, as of a client's heads.
    """

    path: Path
    log: Path
    process: subprocess.Popen[bytes]
    seen: list[dict[str, Any]] = attrs.field(factory=list)

    @property
    def views(self) -> Path:
        """The file of its views."""
        return sidecar(self.path, "views")

    def look(self) -> None:
        """Note how far its views are, where there are any."""
        if not self.views.exists():
            return
        # views may be put in place at this moment
        with suppress(StorageError), closing(sqlite.connect(self.views, read_only=True)) as connection:
            position, root = views_file.checkpoint(connection)
            self.seen.append({"at": time.monotonic(), "size": position, "root": root.hex()})

    def wait_for(self, position: int, within: float) -> None:
        """Wait until its views are at an entry.

        Raises:
            TimeoutError: they are not in time, or it follows no longer; the end of its log says why.
        """
        until = time.monotonic() + within
        while not self.seen or self.seen[-1]["size"] < position:
            if time.monotonic() > until or self.process.poll() is not None:
                last = self.log.read_text("utf-8", "replace").splitlines()[-5:]
                raise TimeoutError(
                    f"{self.path} is at {self.seen[-1:]}, not at entry {position}; its last words: {last}"
                )
            time.sleep(0.1)

    def end(self) -> None:
        """Send Ctrl-C, as an operator would press it."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def digests(self) -> dict[str, str]:
        """Return the digest of each table of its views, as the audit prints them."""
        with closing(sqlite.connect(self.views, read_only=True)) as connection:
            return table_digests(connection)

    def faults(self) -> list[str]:
        """Return, each as a sentence, what it took back or printed that a node with dying servers does not."""
        sizes = [look["size"] for look in self.seen]
        faults = [f"{self.path} went back from {was} to {now}" for was, now in pairwise(sizes) if now < was]
        expected = (f"{_NAME}: level with entry ", "; it is tried again", "stopped; ")
        return faults + [
            f"{self.path} said: {line}"
            for line in self.log.read_text("utf-8", "replace").splitlines()
            if line and not any(words in line for words in expected)
        ]


@contextmanager
def following(place: ServerPlace, folder: Path, number: int = FOLLOWERS) -> Iterator[list[Follower]]:
    """Nodes that follow the ledger at a place within the block, and have ended afterwards.

    Each begins with another server of the address, as if it were on that machine.
    """
    with ExitStack() as stack:
        followers = []
        for which in range(number):
            (home := folder / f"node{which + 1}").mkdir()
            address = _beginning_with(place.address, which)
            (home / "club.toml").write_text(
                f'journal = "{address}"\nschema = "{place.schema}"\npatience = {place.patience}\n'
                f'durability = "{place.durability}"\n'
            )
            with (home / "log").open("wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "tools.cli", "follow", str(home / _NAME)],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )  # fmt: skip
            followers.append(Follower(home / _NAME, home / "log", process))
            stack.callback(followers[-1].end)
        stack.enter_context(_looking_at(followers))
        for follower in followers:
            follower.wait_for(1, BEGINS_WITHIN)  # one that finds no server at its beginning ends at once
        yield followers


def _beginning_with(address: str, which: int) -> str:
    """Return the address with its hosts in another order."""
    before, _, rest = address.partition("@")
    hosts, _, after = rest.partition("/")
    names = hosts.split(",")
    which %= len(names)
    return f"{before}@{','.join(names[which:] + names[:which])}/{after}"


@contextmanager
def _looking_at(followers: list[Follower]) -> Iterator[None]:
    """Look at all of them again and again until the block ends."""
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(LOOKS_EVERY):
            for follower in followers:
                follower.look()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
