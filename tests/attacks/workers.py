"""Commands run in a process that is used again: as quick as a call, and a crash or a hang is only reported.

A worker is a fork of a process that has loaded the program (``tests.kit.processes``). It answers requests, each the
words of one command or of one of ``ACTS``. Nothing is judged here.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any

import attrs
from tqdm import tqdm

import ledger.handle
from ledger.correcting.corrections import IdempotencyKey
from ledger.errors import LedgerError, RejectedError
from ledger.facts.events import PlayerChanged, Role
from ledger.facts.words import Standing
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.ratings import views_file
from ledger.ratings.installed_projectors import installed_projectors
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from tests.kit.processes import LastingProcess, limit_files, start_module
from tests.kit.yardsticks import yardsticks
from tools import cli, output

HANG_SECONDS = 900.0  # a command on a small ledger takes some 50 ms, on a busy machine much more
LOCK_SECONDS = 5.0  # how long a worker's command waits for another process, where the program waits a minute
CRASHED, HUNG = -1, -2  # exit codes of what did not end by itself
_DIGEST = re.compile(r"(?:head \d+|\w+) [0-9a-f]{64}$")  # lines of an audit below its verdict


@attrs.frozen
class Done:
    """What a command did."""

    words: tuple[str, ...]
    code: int  # ``CRASHED`` or ``HUNG`` where it has none
    out: str
    err: str  # ends with the traceback of what no layer caught
    yardsticks: float = 0.0  # how much work it was for its process

    @property
    def said(self) -> str:
        """What is said to people: standard error, and of an audit its verdict, which stands before the digests."""
        if self.words[:1] != ("audit",):
            return self.err
        verdict = [line for line in self.out.splitlines() if not _DIGEST.match(line)]
        return "".join(f"{line}\n" for line in verdict) + self.err


@attrs.frozen
class Circumstances:
    """What a worker's process is like."""

    user: int | None = None  # number of the user it runs as, None for ours
    largest_file: int | None = None  # bytes that a file may grow to, None without a limit


class Worker:
    """A process that runs one command at a time; it starts with the first one."""

    def __init__(self, circumstances: Circumstances = Circumstances()) -> None:  # frozen
        self._circumstances = circumstances
        self._process: LastingProcess | None = None

    def close(self) -> None:
        if self._process is not None:
            self._process.connection.close()
        self._process = None

    def run(self, *words: object, clock: datetime | None = None, patience: float = HANG_SECONDS) -> Done:
        """Run one command and wait for its end; what takes longer than *patience* counts as hung, and is killed.

        With *clock* the machine's clock says that all the while.
        """
        command = tuple(str(word) for word in words)
        if self._process is None:
            self._process = start_module(__name__)
            self._process.connection.send(self._circumstances)
        connection = self._process.connection
        try:
            connection.send((command, clock))
            if connection.poll(patience):
                return Done(command, *connection.recv())
            code, end = HUNG, f"no end within {patience:.0f} s"
            os.kill(self._process.number, signal.SIGKILL)
        except (EOFError, OSError):
            code, end = CRASHED, "the process died"
        self.close()
        return Done(command, code, "", end)


def main(connection: Connection[Any, Any]) -> None:
    """Run commands until the other end is closed."""
    circumstances: Circumstances = connection.recv()
    sqlite.BUSY_SECONDS = LOCK_SECONDS
    if circumstances.largest_file is not None:
        limit_files(circumstances.largest_file)
    if circumstances.user is not None:
        tqdm.set_lock(RLock())  # its own one is a semaphore that another user may not remove
        _load_everything()  # the other user may have no right to read the program
        os.setgroups([])
        os.setgid(circumstances.user)
        os.setuid(circumstances.user)
    with contextlib.suppress(EOFError):
        while True:
            words, clock = connection.recv()
            with _clock_says(clock):
                begun = time.process_time()
                answer = _captured(words)
                took = yardsticks(time.process_time() - begun)
            connection.send((*answer, took))


def _load_everything() -> None:
    with TemporaryDirectory() as folder:
        db, games = str(Path(folder) / "any.db"), Path(folder) / "any.csv"
        games.write_text("white,black,result,date,half_moves\nAnn,Bob,1-0,2020-01-01,40\n", "utf-8")
        for words in (["init", db], ["import", db, str(games)], ["ratings", db], ["show", db, "1"], ["audit", db]):
            _captured(words)


def _captured(words: Sequence[str]) -> tuple[int, str, str]:
    """Run one command; its exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            act = ACTS.get(words[0])
            code = cli.main(words) if act is None else act(*words[1:])
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is what a user would see
            if isinstance(error, LedgerError) and words[0] in CALLS:
                output.error(str(error))
            else:
                err.write(traceback.format_exc())
            code = 1
    gc.collect()  # connections of what failed let go of their files
    gc.freeze()  # what is loaded for good need not be looked at again
    return code, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def _clock_says(instant: datetime | None) -> Iterator[None]:
    """Let the ledger's clock stand still at an instant; at None it runs."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            assert instant is not None
            return instant.astimezone(tz or UTC)

    names = vars(ledger.handle)  # where the clock is read
    names["datetime"] = datetime if instant is None else Stopped
    try:
        yield
    finally:
        names["datetime"] = datetime


def _register(path: str, identity: str, name: str) -> int:
    with Ledger.open(path) as opened:
        output.answer(str(opened.register(identity, name)))
    return 0


def _derive(path: str, target: str, position: str) -> int:
    """Build the views of the journal's first entries as a new file *target*."""
    with contextlib.closing(SqliteJournal(path, read_only=True)) as journal:
        built = Views(Path(target), installed_projectors(), journal)
        built.build_up_to_entry(int(position))
        built.close()
    return 0


class _StoppedError(Exception):
    """Stops a build where a crash might."""


def _stop_build(path: str) -> int:
    """Begin to build the views anew and stop just before they would be whole."""

    def stop(*arguments: object) -> None:
        raise _StoppedError(*arguments)

    names, true = vars(views_file), views_file.create_indexes
    names["create_indexes"] = stop
    try:
        with contextlib.suppress(_StoppedError), Ledger.open(path) as opened:
            opened.rebuild()
    finally:
        names["create_indexes"] = true
    return 0


def _make_guest(path: str, player: str) -> int:
    with Ledger.open(path) as opened:
        opened.append(PlayerChanged(player=int(player), effective_at="2020-02-25", standing=Standing.GUEST))
        opened.catch_up()
    return 0


def _use_tokens(path: str) -> int:
    """Use the whole token store: a refusal, sessions, an idempotency key."""
    with Ledger.open(path) as opened:
        tokens = opened.tokens
        token = tokens.add("eve", [Role.CORRECTOR])
        with contextlib.suppress(RejectedError):
            tokens.authenticate(None, "mallory", Role.CORRECTOR, "propose a correction")
        words = [tokens.sign_in(token, place)[0] for place in ("the bar", "the club room")]
        tokens.sign_out(words[0], "the bar")
        idempotency_key = IdempotencyKey(f"letter {len(tokens.log())}", b"void,club:1")
        void = opened.corrections.drafts.annul("game:club:1")
        opened.corrections.propose_each([[void]], reason="a double", token=token, idempotency_key=idempotency_key)
        opened.catch_up()
    return 0


def _command(*words: str) -> Callable[..., int]:
    """Return the act that runs a command of several words, of which the ledger's path stands behind the last."""
    return lambda path, *more: cli.main([*words, path, *more])


ACTS: dict[str, Callable[..., int]] = {
    "register": _register,
    "derive": _derive,
    "stop-build": _stop_build,
    "guest": _make_guest,
    "use-tokens": _use_tokens,
    "scheme-adopt": _command("scheme", "adopt"),
    "rename": _command("player", "rename"),
    "token-log": _command("token", "log"),
    "token-list": _command("token", "list"),
}
CALLS = {"register", "use-tokens"}  # which stand for programs of others: what the library refuses is no mistake
