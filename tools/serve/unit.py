"""A systemd unit for the server of a ledger, with everything taken from it that it does not need.

Paths are as this machine has them now. Nothing is installed: the unit is printed, and what remains to be done is said.
"""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs

from ledger.errors import MalformedError, StorageError
from ledger.journal.settings_file import standing
from ledger.runtime.ledger_files import journal_file

from . import limits
from .processes import ENDS_WITHIN, ROOT
from .settings import UNIX

USER = "rating-ledger"  # where the ledger belongs to root, or to nobody with a name
SPARE_SECONDS = 3  # over what the server itself gives its processes to end
_HOMES = ("/home", "/root", "/run/user")


HARDENING = (
    "PrivateTmp=yes",
    "PrivateDevices=yes",
    "PrivateUsers=yes",
    "NoNewPrivileges=yes",
    "CapabilityBoundingSet=",
    "AmbientCapabilities=",
    "RestrictSUIDSGID=yes",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "LockPersonality=yes",
    "RemoveIPC=yes",
    "ProtectClock=yes",
    "ProtectControlGroups=yes",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "ProtectProc=invisible",
    "ProcSubset=pid",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
    "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service",
    "SystemCallFilter=~@privileged @resources",
    "# Not held back: prlimit64, by which a process raises its own limit of open files.",
    "SystemCallFilter=prlimit64",
    "SystemCallErrorNumber=EPERM",
    "# MemoryDenyWriteExecute=yes is left out: Numba compiles the kernels of the schemes to machine code, which is",
    "# written to memory first and executed then.",
)  # what is taken from it, whatever the ledger


@attrs.frozen
class Unit:
    """A unit, and what its owner must know of it."""

    text: str
    notes: tuple[str, ...]


def unit(path: str | Path, words: Sequence[str], listen: str) -> Unit:
    """The unit that serves a ledger.

    Args:
        path: the ledger.
        words: the options of ``serve`` that stand on its command line.
        listen: where it listens, by them or by ``club.toml``.

    Raises:
        MalformedError: a path cannot stand in a unit.
        StorageError: there is no such ledger.
    """
    journal = Path(journal_file(path)).resolve()
    if not journal.is_file():
        raise StorageError(str(path), "there is no such ledger")
    folder = journal.parent
    if unseen := [word for word in (str(journal), sys.prefix, *words) if not word.isprintable()]:
        raise MalformedError([f"{word!r} has letters that cannot stand in a unit: rename it" for word in unseen])
    user, group, notes = _owner(journal)
    places = [folder, Path(sys.executable).resolve(), Path(sys.prefix).resolve()]
    writes = [folder]
    if listen.startswith(UNIX):
        socket_folder = Path(listen.removeprefix(UNIX)).absolute().parent
        writes += [socket_folder] if socket_folder != folder and not _is_runtime(socket_folder) else []
        notes += _of_the_socket(socket_folder, group)
    lines = [
        *_service(journal, words, listen, (user, group)),
        "",
        "# It writes beside the ledger and nowhere else.",
        "ProtectSystem=strict",
        f"ReadWritePaths={' '.join(map(_quoted, writes))}",
        f"ProtectHome={'read-only' if any(_is_at_home(place) for place in places) else 'yes'}",
        *HARDENING,
        "",
        "[Install]",
        "WantedBy=multi-user.target",
        "",
    ]
    notes += (
        f"write it to /etc/systemd/system/{USER}.service, then: systemctl daemon-reload && "
        f"systemctl enable --now {USER}",
    )
    return Unit("\n".join(lines), notes)


def _service(journal: Path, words: Sequence[str], listen: str, owner: tuple[str, str]) -> list[str]:
    """What is started, as whom, how it ends, and what it may use."""
    folder = journal.parent
    return [
        "[Unit]",
        f"Description={_percent(f'Rating ledger {journal.name}')}",
        "Documentation=man:systemd.exec(5)",
        "After=network.target",
        f"RequiresMountsFor={_quoted(folder)}",
        "",
        "[Service]",
        "Type=exec",
        f"User={owner[0]}",
        f"Group={owner[1]}",
        f"WorkingDirectory={_percent(str(folder))}",
        f"ExecStart={' '.join(map(_argument, _command(journal, words)))}",
        "Restart=on-failure",
        "RestartSec=2",
        "# SIGTERM goes to the parent, which ends the others and waits for them.",
        "KillSignal=SIGTERM",
        "KillMode=mixed",
        f"TimeoutStopSec={int(ENDS_WITHIN) + SPARE_SECONDS}",
        "# Each process that answers may have 10,000 listeners, and the ledger's own files.",
        f"LimitNOFILE={_power_of_two(limits.CONNECTIONS + limits.SPARE_FILES)}",
        "TasksMax=1024",
        f"UMask={'0007' if listen.startswith(UNIX) else '0077'}",
        "",
        "# Compiled kernels are kept between starts.",
        "CacheDirectory=rating-ledger",
        "CacheDirectoryMode=0700",
        "Environment=NUMBA_CACHE_DIR=%C/rating-ledger/numba PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1",
        *_runtime(listen),
    ]


def _command(journal: Path, words: Sequence[str]) -> list[str]:
    """What is started: the command of this installation, or its module where no command is installed beside it."""
    python = Path(sys.executable).absolute()
    command = python.with_name("rating-ledger")
    module = ["/usr/bin/env", f"PYTHONPATH={ROOT}", str(python), "-P", "-m", f"{__package__.rpartition('.')[0]}.cli"]
    return [*([str(command)] if os.access(command, os.X_OK) else module), "serve", str(journal), *words]


def _owner(journal: Path) -> tuple[str, str, tuple[str, ...]]:
    """Who owns the ledger and so serves it, of which group, and what is to be done where nobody does."""
    facts = standing(journal).stat()
    try:
        user, group = pwd.getpwuid(facts.st_uid).pw_name, grp.getgrgid(facts.st_gid).gr_name
    except KeyError:
        user = group = ""
    if facts.st_uid != 0 and user:
        return user, group, ()
    folder = shlex.quote(str(journal.parent))
    return USER, USER, (
        f"the ledger belongs to {user or f'user {facts.st_uid}'}: give it a user of its own, which serves it, by: "
        f"useradd --system --user-group {USER} && chown -R {USER}: {folder}",
    )  # fmt: skip


def _of_the_socket(folder: Path, group: str) -> tuple[str, ...]:
    where = "" if _is_runtime(folder) or folder.is_dir() else f"make the folder {folder}; "
    return (f"{where}the proxy reaches the socket as a member of the group {group}: usermod -a -G {group} www-data",)


def _is_runtime(folder: Path) -> bool:
    """Whether systemd can make a folder when it starts the unit: one directly below /run."""
    return folder.parent == Path("/run")


def _runtime(listen: str) -> list[str]:
    folder = Path(listen.removeprefix(UNIX)).absolute().parent
    if not listen.startswith(UNIX) or not _is_runtime(folder) or _words_apart(folder.name):
        return []
    return ["", "# The folder of the socket.", f"RuntimeDirectory={_percent(folder.name)}", "RuntimeDirectoryMode=0750"]


def _words_apart(name: str) -> bool:
    return any(letter in name for letter in " \t:\\\"'")


def _is_at_home(place: Path) -> bool:
    return any(place.is_relative_to(home) for home in _HOMES)


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _percent(text: str) -> str:
    """A text in which percent signs are themselves, and not specifiers of systemd."""
    return text.replace("%", "%%")


def _quoted(path: str | Path) -> str:
    """A path in a list of paths: one word, whatever stands in it."""
    text = _percent(str(path)).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"' if any(letter in text for letter in " \t;'\"\\") else text


def _argument(word: str) -> str:
    """A word of a command line: as in a list, and dollar signs are no variables."""
    return _quoted(word.replace("$", "$$"))
