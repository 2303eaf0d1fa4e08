"""Starting, ending and talking to worker processes: modules of this program that run in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ledger.errors import StorageError
from ledger.runtime import sqlite
from ledger.runtime.worker_messages import FAILED, Message, receive, send

_ROOT = Path(__file__).parents[2]  # where this package is imported from
_DRIVER = Path(sqlite.sqlite3.__file__).parents[1]  # and SQLite's driver, which a worker is to import, too
# Not as ``-m`` does, which loads more, and compiles the module each time: 4 ms of the 45 that a short statement takes.
_MAIN = "import sys; from {} import main; sys.exit(main(sys.argv[1:]))"


def command(module: str, *words: str) -> list[str]:
    """Return the command that runs a module as a process; no module of the working folder hides one of Python's."""
    return [sys.executable, "-P", "-m", module, *words]


def environment(**more: str) -> Mapping[str, str]:
    """Return the environment of a process that imports this program from where it is, with further variables."""
    paths = filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"), str(_DRIVER)))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


class Worker:
    """A worker process that works on one file and exchanges messages with this program."""

    def __init__(self, module: str, *words: str, path: str | Path, work: str, advice: str = "") -> None:
        """Start the ``main`` of a module with the arguments *words*, and with one thread of Polars.

        Args:
            module: the name of the module.
            words: the arguments.
            path: the file on which it works, for messages.
            work: what it does with the file, for messages, such as ``reads``.
            advice: what to do if it is killed.

        Raises:
            StorageError: it does not start.
        """
        self._path, self._work, self._advice = str(path), work, advice
        try:
            self._process = subprocess.Popen(  # noqa: S603  # our own code
                [sys.executable, "-P", "-c", _MAIN.format(module), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(POLARS_MAX_THREADS="1"),
            )
        except OSError as error:
            raise StorageError(self._path, f"the process that {work} it does not start: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        self.kill = self._process.kill

    def send(self, kind: str, value: Any = None, content: bytes | memoryview = b"") -> None:
        """Send a message to the worker; OSError if it is gone: its last message says why if it could."""
        send(self._input, kind, value, content)

    def receive(self) -> Message:
        """Return the worker's next message; EOFError if it is gone."""
        return receive(self._output)

    def expect(self, kind: str) -> Message:
        """Return the worker's next message, which must be of this kind.

        Raises:
            StorageError: it failed, or is gone.
            CorruptError: it failed, since the file is damaged.
        """
        try:
            message = self.receive()
        except EOFError:
            message = None
        if message is not None and message.kind == kind:
            return message
        if message is not None and message.kind == FAILED:
            text = message.value
            raise sqlite.translated_error(self._path, text) or StorageError(self._path, f"{text}; {sqlite.RESTORE}")
        code = self._process.wait()
        raise StorageError(self._path, f"the process that {self._work} it ended (exit code {code}); {self._advice}")

    def close(self) -> int:
        """Close the worker's input, so that it ends, wait for that and return its exit code."""
        with suppress(OSError):  # closing sends what was held back, which a process that is gone does not take
            self._input.close()
        code = self._process.wait()
        self._output.close()
        return code
