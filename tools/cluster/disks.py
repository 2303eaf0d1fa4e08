"""A small disk for the data of one node, which can be filled: a file system in memory, which only root can mount."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import StorageError

from .nodes import Cluster, Node

ROOM = 2 << 30  # bytes of a disk beside what stands there already: more than the log of a server grows to by itself
_FILLER, _PAGE = "filler", 4_096


@contextmanager
def small(cluster: Cluster, node: Node, room: int = ROOM) -> Iterator[None]:
    """Have a node's data on a small disk within the block: it is a new machine then, and another one afterwards.

    Each time Patroni copies what the leader has. A server that died when not even its log found room may have more in
    that log than anybody acknowledged, and would not follow a new leader with it.

    Raises:
        StorageError: nothing can be mounted here, or not as this user; the node runs as before.
    """
    node.kill()
    try:
        owner, taken = node.data.stat(), int(_run("du", "-sb", node.data).split()[0])
        options = f"size={taken + room},mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
        _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", node.data)
        try:
            node.start()
            cluster.wait_for_standbys(len(cluster.nodes) - 1)
            yield
        finally:
            node.kill()
            _run("umount", "-l", node.data)
            _run("find", node.data, "-mindepth", "1", "-delete")
    finally:
        node.start()
        cluster.wait_for_standbys(len(cluster.nodes) - 1)


def fill(node: Node) -> None:
    """Leave no byte on the disk of a node; what it frees meanwhile is taken at the next call."""
    with (node.data / _FILLER).open("ab") as filler:
        piece = ROOM
        while piece >= _PAGE:
            try:
                os.posix_fallocate(filler.fileno(), filler.seek(0, os.SEEK_END), piece)
            except OSError as error:  # there is less, or the server took some of it first
                if error.errno != errno.ENOSPC:
                    raise
                piece //= 2


def empty(node: Node) -> None:
    """Take away what fills the disk of a node."""
    (node.data / _FILLER).unlink(missing_ok=True)


def _run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StorageError(str(words[-1]), f"{words[0]} failed: {done.stderr.strip()}")
    return done.stdout
