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
    """Have a node's data on a small disk within the block; the node is down for a moment before it and after it.

    Raises:
        StorageError: nothing can be mounted here, or not as this user; the node runs as before.
    """
    node.kill()
    taken = int(_run("du", "-sb", node.data).split()[0])
    try:
        with _put_aside(node.data) as aside:
            owner = aside.stat()
            options = f"size={taken + room},mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
            _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", node.data)
            _run("cp", "-a", f"{aside}/.", node.data)
        node.start()
        cluster.wait_for_standbys(len(cluster.nodes) - 1)
        yield
    finally:
        if node.data.is_mount():
            node.kill()
            _give_back(node)
        if not node.runs:
            node.start()
        cluster.wait_for_standbys(len(cluster.nodes) - 1)


@contextmanager
def _put_aside(data: Path) -> Iterator[Path]:
    """An empty folder in the place of one that goes at the end of the block, or comes back where that fails."""
    aside = data.with_name("aside")
    data.rename(aside)
    data.mkdir(mode=0o700)
    try:
        yield aside
    except BaseException:
        if not data.is_mount():
            data.rmdir()
            aside.rename(data)
        raise
    _run("rm", "-rf", aside)


def _give_back(node: Node) -> None:
    """Put the data of a node that is down where they were before."""
    empty(node)
    aside = node.data.with_name("aside")
    _run("cp", "-a", node.data, aside)
    _run("umount", "-l", node.data)
    node.data.rmdir()
    aside.rename(node.data)


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
