"""The file system of Windows, for each Python process that has this folder in its ``PYTHONPATH``.

What a process of the session has open is neither deleted nor moved nor replaced; a rename takes no file's place; no
folder is opened. Nothing forks, and the modules that only Unix has are missing. What libraries in C do stays as it is.
"""

import errno
import importlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

OPENS, IS_FOLDER = "another process, or this one, has it open", "is a folder"


class Name(str):
    """The name of the system: another one to the program, this one to libraries, which look for what it has."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) and not is_program()

    def __ne__(self, other: object) -> bool:
        return str.__ne__(self, other) or is_program()


def is_program() -> bool:
    """Return whether the program asks, and no library."""
    return str(sys._getframe(2).f_globals["__name__"]).startswith(("ledger.", "tools."))


def opened() -> set[str]:
    """Return the files that processes of this session have open or mapped."""
    names = set[str]()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if os.getsid(int(process.name)) == os.getsid(0):
                names.update(str(link.readlink()) for link in (process / "fd").iterdir())
                lines = (process / "maps").read_text(encoding="utf-8", errors="replace").splitlines()
                names.update(line.split(maxsplit=5)[-1] for line in lines)
    return names


def refuse(path: Any, why: str) -> None:
    raise PermissionError(errno.EACCES, why, os.fspath(path))


def refusing(call: Callable[..., Any], *, takes_a_place: bool = True) -> Callable[..., Any]:
    def guarded(*paths: Any, **more: Any) -> Any:
        for path in map(os.path.realpath, paths):
            is_probe = "/.filelock-probe-" in path  # of filelock's class for this system
            if not is_probe and any(name == path or name.startswith(f"{path}/") for name in opened()):
                refuse(path, OPENS)
        if not takes_a_place and os.path.lexists(paths[-1]):
            raise FileExistsError(errno.EEXIST, "exists", os.fspath(paths[-1]))
        return call(*paths, **more)

    return guarded


def ending(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a release of a lock that takes its file away afterwards, as filelock's class for Windows does."""

    def guarded(lock: Any) -> None:
        call(lock)
        with suppress(OSError):
            Path(lock.lock_file).unlink()

    return guarded


def opening(call: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(path: Any, *words: Any, **more: Any) -> Any:
        if Path(path).is_dir():
            refuse(path, IS_FOLDER)
        return call(path, *words, **more)

    return guarded


for missing in ("grp", "pwd", "resource", "termios"):  # filelock needs fcntl here
    sys.modules[missing] = None  # type: ignore[assignment]
os.name = Name("posix")
os.open = opening(os.open)
os.rename = refusing(os.rename, takes_a_place=False)
os.replace, os.rmdir = refusing(os.replace), refusing(os.rmdir)
os.unlink = os.remove = refusing(os.unlink)
tempfile: Any = importlib.import_module("tempfile")  # not before: it notes how a file is deleted
tempfile.TemporaryFile = tempfile.NamedTemporaryFile  # as on Windows
FileLock: Any = importlib.import_module("filelock").FileLock
FileLock._release = ending(FileLock._release)
for absent in ("fork", "register_at_fork", "O_TMPFILE"):
    delattr(os, absent)
