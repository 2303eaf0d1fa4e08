"""A small disk for the data of one node, which can be filled: a file system in memory, which only root can mount."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import StorageError

from .nodes import Cluster, Node

ROOM = 2 << 30  # bytes of a disk besides what is there already: more than the log of a server grows to by itself
_PAGE = 4_096


@contextmanager
def small(cluster: Cluster, node: Node, room: int = ROOM) -> Iterator[None]:
    """Have a node's data on a small disk within the block; the node is down for a moment before it and after it.

    Raises:
        StorageError: nothing can be mounted here, or not as this user; the node runs as before.
    """
    if sys.platform != "linux":
        raise NotImplementedError
    node.kill()
    disk = node.data.parent
    aside = disk.with_name("aside")
    owner = disk.stat()
    taken = int(_run("du", "-sb", disk).split()[0])
    disk.rename(aside)
    disk.mkdir()
    try:
        options = f"size={taken + room},mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
        _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", disk)
        _run("cp", "-a", f"{aside}/.", disk)
        node.start()
        cluster.wait_for_standbys(len(cluster.nodes) - 1)
        yield
    finally:
        node.kill()
        if disk.is_mount():
            empty(node)
            _run("rm", "-rf", aside)
            _run("cp", "-a", disk, aside)
            _run("umount", "-l", disk)
        disk.rmdir()
        aside.rename(disk)
        node.start()
        cluster.wait_for_standbys(len(cluster.nodes) - 1)


def fill(node: Node) -> None:
    """Leave no byte on the disk of a node; what it frees meanwhile is taken at the next call."""
    if sys.platform != "linux":
        raise NotImplementedError
    with _filler(node).open("ab") as filler:
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
    _filler(node).unlink(missing_ok=True)


def _filler(node: Node) -> Path:
    return node.data.with_name("filler")


def _run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StorageError(str(words[-1]), f"{words[0]} failed: {done.stderr.strip()}")
    return done.stdout
