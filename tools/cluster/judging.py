"""A comparison of the clients' acknowledgements with the journal, by code that shares nothing with the recorder."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from ledger.runtime.lazy import psycopg

from .load import AN_IMPORT, CLIENTS

Row = tuple[int, str, bytes]
ENDS_WITHIN = 60.0  # seconds for a client that is in the middle of an import, or waits for a server


@attrs.define
class Logs:
    """The logs that clients write, read as they grow.

    Attributes:
        folder: with a log of each client.
    """

    folder: Path
    _read: dict[Path, int] = attrs.field(factory=dict, init=False)  # bytes of each log

    def more(self) -> Iterator[dict[str, Any]]:
        """Return the lines since the last call, of each client in order of time."""
        for place in sorted(self.folder.glob("client-*.log")):
            with place.open("rb") as log:
                log.seek(self._read.get(place, 0))
                for line in log:
                    if not line.endswith(b"\n"):  # which is being written
                        break
                    self._read[place] = self._read.get(place, 0) + len(line)
                    yield json.loads(line)


@attrs.define
class Load:
    """Clients that run, and the logs of their answers.

    Attributes:
        folder: with the logs.
        processes: the clients.
    """

    folder: Path
    processes: list[subprocess.Popen[bytes]]
    _notes: list[dict[str, Any]] = attrs.field(factory=list, init=False)
    _logs: Logs = attrs.field(init=False, default=attrs.Factory(lambda self: Logs(self.folder), takes_self=True))

    def notes(self) -> list[dict[str, Any]]:
        """Everything that was written down so far, of each client in order of time."""
        self._notes.extend(self._logs.more())
        return self._notes

    def now(self) -> float:
        """Return the moment, in the seconds of the clients' notes."""
        return time.monotonic()

    def acknowledged(self) -> int:
        """Return how many answers acknowledged an entry."""
        return sum("stands" in note for note in self.notes())

    def longest_silence(self, since: float) -> float:
        """Return the longest time, in seconds, without an acknowledgement to any client, from *since* on."""
        times = sorted([since, *(note["at"] for note in self.notes() if "stands" in note and note["at"] >= since)])
        return max((later - earlier for earlier, later in pairwise(times)), default=0.0)

    def wait_for_more(self, number: int = 20, within: float = 120.0) -> float:
        """Wait for so many more acknowledgements; return the seconds that it took.

        Raises:
            TimeoutError: they did not in time; the last failure says why.
        """
        begun, before = time.monotonic(), self.acknowledged()
        while self.acknowledged() < before + number:
            if time.monotonic() > begun + within:
                failures = [note["failed"] for note in self.notes() if "failed" in note]
                raise TimeoutError(f"nothing is recorded for {within:.0f} s; the last failure: {failures[-1:]}")
            time.sleep(0.1)
        return time.monotonic() - begun

    def wait_for_failure(self, words: str, strike: Callable[[], object], within: float = 60.0) -> None:
        """Strike again and again until a client gets these words with a failure.

        Raises:
            TimeoutError: none was in time.
        """
        until = time.monotonic() + within
        while not any(words in note.get("failed", "") for note in self.notes()):
            if time.monotonic() > until:
                raise TimeoutError(f"no client was told {words!r}")
            strike()
            time.sleep(0.2)

    def end(self) -> None:
        """Let every client end what it is at, and end; does nothing where they have ended."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def running(
    address: str, schema: str, folder: Path, *, clients: int = CLIENTS, an_import: int = AN_IMPORT
) -> Iterator[Load]:
    """Clients that record within the block, and have ended afterwards."""
    words = [sys.executable, "-m", f"{__package__}.load", address, schema]
    load = Load(
        folder,
        [
            subprocess.Popen([*words, str(number), str(folder / f"client-{number}.log"), str(an_import)])
            for number in range(1, clients + 1)
        ],
    )
    try:
        yield load
    finally:
        load.end()


def rows_of(address: str, schema: str) -> list[Row]:
    """Position, key and leaf of every entry of a journal, in order; the address is that of all nodes together."""
    query = f"SELECT position, key, encode(leaf, 'hex') FROM {schema}.journal ORDER BY position"
    return [(int(position), key, bytes.fromhex(leaf)) for position, key, leaf in _copied(address, query)]


def bodies_of(address: str, schema: str, rows: Sequence[Row]) -> Iterator[bytes]:
    """Return the stored bytes of these entries, in order."""
    query = f"SELECT encode(body, 'hex') FROM {schema}.journal WHERE position <= {len(rows)} ORDER BY position"
    return (bytes.fromhex(body) for (body,) in _copied(address, query))


def _copied(address: str, query: str) -> Iterator[list[str]]:
    with psycopg.connect(address) as connection, connection.cursor().copy(f"COPY ({query}) TO STDOUT") as copy:
        for line in copy:  # the server sends each row by itself
            yield bytes(line).decode().rstrip("\n").split("\t")


def broken_promises(rows: Sequence[Row], notes: Sequence[dict[str, Any]]) -> list[str]:
    """Return, each as a sentence, the acknowledged entries that the journal lacks or changed.

    Args:
        rows: position, key and leaf of every entry, in order.
        notes: of all clients.
    """
    broken = [
        f"entry {place} is missing: {row[0]} stands there" for place, row in enumerate(rows, 1) if row[0] != place
    ]
    if len({key for _, key, _ in rows}) != len(rows):
        broken.append("a key stands twice")
    for note in notes:
        for key, position, leaf, _ in note.get("stands", ()):
            if position > len(rows) or rows[position - 1][1:] != (key, bytes.fromhex(leaf)):
                broken.append(f"{key!r} was acknowledged at {position}, and is not there")
    heads = {(note["size"], note["root"]) for note in notes if "size" in note}
    then = roots([leaf for *_, leaf in rows], {size for size, _ in heads})
    broken += [
        f"a head of {size} entries was given that is no part of the journal"
        for size, root in sorted(heads)
        if then.get(size) != root
    ]
    return broken


def false_bodies(bodies: Iterable[bytes], rows: Sequence[Row]) -> list[str]:
    """Return the entries that differ from what their leaves commit to, or are in another place."""
    return [
        f"entry {position} is not what its leaf seals"
        for body, (position, key, leaf) in zip(bodies, rows, strict=True)
        if leaf_of(body) != leaf
        or f'"key":"{key}"'.encode() not in body
        or f'"position":{position},'.encode() not in body
    ]


def leaf_of(body: bytes) -> bytes:
    """Return the leaf hash of an entry (RFC 6962, section 2.1)."""
    return sha256(b"\x00" + body).digest()


def roots(leaves: Sequence[bytes], sizes: set[int]) -> dict[int, str]:
    """Return the Merkle tree hashes (RFC 6962, section 2.1) of the first so many leaves, in hexadecimal."""
    by_size = {0: sha256(b"").hexdigest()}
    whole: list[tuple[int, bytes]] = []  # subtrees from the left: their height and hash
    for size, leaf in enumerate(leaves, 1):
        whole.append((0, leaf))
        while len(whole) > 1 and whole[-1][0] == whole[-2][0]:
            (height, right), (_, left) = whole.pop(), whole.pop()
            whole.append((height + 1, sha256(b"\x01" + left + right).digest()))
        if size in sizes:
            root = whole[-1][1]
            for _, left in reversed(whole[:-1]):
                root = sha256(b"\x01" + left + root).digest()
            by_size[size] = root.hex()
    return by_size
