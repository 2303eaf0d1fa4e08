"""The process that listens at an occupied address, as far as the system names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")  # of Linux alone
_LISTENING = "0A"  # TCP_LISTEN, <net/tcp_states.h>
_SHOWN = 120  # characters of a command line


def holder(place: str | int) -> str | None:
    """Return the process that listens at a port or a UNIX socket, as a message goes on; None if that is unknown.

    Args:
        place: the number of the port, or the path of the socket.
    """
    inodes = {f"socket:[{inode}]" for inode in (_of_port(place) if isinstance(place, int) else _of_path(place))}
    if not inodes:
        return None
    processes = [number for number in _PROC.iterdir() if number.name.isdecimal()]
    # The oldest first: the one that opened it handed it on to the others.
    for process in sorted(processes, key=lambda folder: int(folder.name)):
        with suppress(OSError):  # it has ended, or belongs to another user
            if any(str(descriptor.readlink()) in inodes for descriptor in (process / "fd").iterdir()):
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                return f"process {process.name} ({words[:_SHOWN]})"
    return None


def _of_port(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _of_path(place: str) -> Iterator[str]:
    with suppress(OSError):
        for line in (_PROC / "net" / "unix").read_text().splitlines()[1:]:
            fields = line.split(maxsplit=7)
            if len(fields) == 8 and fields[7] in {place, str(Path(place).absolute())}:
                yield fields[6]
