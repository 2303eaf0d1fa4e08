"""Commands run in a child process that is used again: as quick as a call, and a crash or a hang is only told.

A worker answers requests, each the words of one command. Loading Polars and Numba costs a second or two and is paid
once for each worker. What is judged is nobody's business here.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import multiprocessing
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from types import TracebackType
from typing import Any, Self

import attrs
from tqdm import tqdm

import ledger.ledger
from ledger.correcting.corrections import Sending
from ledger.errors import LedgerError, RejectedError
from ledger.facts.events import PlayerChanged, Role
from ledger.facts.words import Standing
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.ratings import views_file
from ledger.ratings.projectors import available
from ledger.ratings.views import Views
from ledger.runtime import sqlite

from .. import cli, commands, output
from ..cli import COMMANDS
from .yardsticks import yardsticks

HANG_SECONDS = 900.0  # a command on a small ledger takes some 50 ms, on a busy machine much more
LOCK_SECONDS = 5.0  # how long a worker's command waits for another process, where the program waits a minute
CRASHED, HUNG = -1, -2  # exit codes of what did not end by itself
_DIGEST = re.compile(r"(?:head \d+|\w+) [0-9a-f]{64}$")  # lines of an audit below its verdict


@attrs.frozen
class Done:
    """What a command did.

    Attributes:
        words: the command.
        code: its exit code; ``CRASHED`` or ``HUNG`` where it has none.
        out: what it wrote to standard output.
        err: what it wrote to standard error; ends with the traceback of what no layer caught.
        yardsticks: how much work it was for its process; none where it did not end by itself.
    """

    words: tuple[str, ...]
    code: int
    out: str
    err: str
    yardsticks: float

    @property
    def said(self) -> str:
        """What is said to people: standard error, and of an audit its verdict, which stands before the digests."""
        if self.words[:1] != ("audit",):
            return self.err
        verdict = [line for line in self.out.splitlines() if not _DIGEST.match(line)]
        return "".join(f"{line}\n" for line in verdict) + self.err


@attrs.frozen
class Circumstances:
    """What a worker's process is like.

    Attributes:
        user: number of the user it runs as, None for ours.
        largest_file: bytes that a file may grow to, None without a limit.
    """

    user: int | None = None
    largest_file: int | None = None


class Worker:
    """A child process that runs one command at a time."""

    def __init__(self, circumstances: Circumstances | None = None) -> None:
        """Prepare a worker; its process starts with the first command."""
        self._circumstances = circumstances or Circumstances()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            if self._pipe is not None:
                self._pipe.close()
            self._process.join(2)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
        self._process = self._pipe = None

    def run(self, *words: object, clock: datetime | None = None, patience: float = HANG_SECONDS) -> Done:
        """Run one command and wait for its end.

        Args:
            words: the command with its arguments, as behind ``rating-ledger``; or one of ``ACTS``.
            clock: what the machine's clock says all the while; the true time by default.
            patience: seconds after which it counts as hung, and its process is ended.
        """
        command = tuple(str(word) for word in words)
        pipe = self._started()
        try:
            pipe.send((command, clock))
            if pipe.poll(patience):
                return Done(command, *pipe.recv())
            code, words_of_end = HUNG, f"no end within {patience:.0f} s"
        except (EOFError, OSError):
            code, words_of_end = CRASHED, "the process died"
        if self._process is not None:
            self._process.kill()
        self.close()
        return Done(command, code, "", words_of_end, 0.0)

    def _started(self) -> Connection[Any, Any]:
        if self._pipe is None:
            spawning = multiprocessing.get_context("spawn")
            self._pipe, child_end = spawning.Pipe()
            self._process = spawning.Process(target=_serve, args=(child_end, self._circumstances), daemon=True)
            self._process.start()
            child_end.close()
        return self._pipe


# -- in the child ----------------------------------------------------------------------------------------------------


def _serve(pipe: Connection[Any, Any], circumstances: Circumstances) -> None:
    sqlite.BUSY_SECONDS = LOCK_SECONDS
    tqdm.set_lock(RLock())  # its own one is a semaphore that another user may not remove
    if circumstances.largest_file is not None:
        import resource  # noqa: PLC0415  # not on every system

        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # half a compiled module would be left
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (circumstances.largest_file, circumstances.largest_file))
    if circumstances.user is not None:
        _load_everything()  # the other user may have no right to read the program
        os.setgroups([])
        os.setgid(circumstances.user)
        os.setuid(circumstances.user)
    while True:
        try:
            words, clock = pipe.recv()
        except EOFError:
            return
        with _clock_says(clock):
            begun = time.process_time()
            answer = _captured(words)
            took = yardsticks(time.process_time() - begun)
        pipe.send((*answer, took))


def _load_everything() -> None:
    """Run what loads packages lazily."""
    with TemporaryDirectory() as folder:
        db, games = str(Path(folder) / "any.db"), Path(folder) / "any.csv"
        games.write_text("white,black,result,date,half_moves\nAnn,Bob,1-0,2020-01-01,40\n", "utf-8")
        for words in (["init", db], ["import", db, str(games)], ["ratings", db], ["show", db, "1"], ["audit", db]):
            _captured(words)
    for place in COMMANDS.values():
        importlib.import_module(f"{commands.__name__}.{place.partition('.')[0]}")


def _captured(words: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            act = ACTS.get(words[0])
            code = cli.main(words) if act is None else act(*words[1:])
        except BaseException:  # noqa: BLE001  # whatever it is, it is what a user would see
            err.write(traceback.format_exc())
            code = 1
    gc.collect()  # connections of what failed let go of their files
    gc.freeze()  # what is loaded for good need not be looked at again
    return code, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def _clock_says(instant: datetime | None) -> Iterator[None]:
    """Let the ledger's clock stand still at an instant; at None it runs."""
    if instant is None:
        yield
        return
    stopped_at = instant

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return stopped_at.astimezone(tz or UTC)

    names = vars(ledger.ledger)  # where the clock is read
    names["datetime"] = Stopped
    try:
        yield
    finally:
        names["datetime"] = datetime


def _register(path: str, identity: str, name: str) -> int:
    """``Ledger.register``, as a program would call it."""
    try:
        with Ledger.open(path) as opened:
            output.answer(str(opened.register(identity, name)))
    except LedgerError as error:
        output.error(str(error))
        return 1
    return 0


def _derive(path: str, target: str, position: str) -> int:
    """Build the views of the journal's first entries as a new file *target*; what this raises is told."""
    journal = SqliteJournal(path, read_only=True)
    try:
        built = Views(Path(target), available(), journal)
        built.build_until(int(position))
        built.close()
    finally:
        journal.close()
    return 0


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


class _StoppedError(Exception):
    """Stops a build where a crash might."""


def _make_guest(path: str, player: str) -> int:
    with Ledger.open(path) as opened:
        opened.append(PlayerChanged(player=int(player), effective_at="2020-02-25", standing=Standing.GUEST))
        opened.catch_up()
    return 0


def _adopt(path: str, *words: str) -> int:
    return cli.main(["scheme", "adopt", path, *words])


def _rename(path: str, *words: str) -> int:
    return cli.main(["player", "rename", path, *words])


def _use_tokens(path: str) -> int:
    """All that is kept of tokens beside a journal: an earlier release's, a refusal, sessions, what was sent."""
    try:
        with Ledger.open(path) as opened:
            _leave_traces(opened)
            opened.catch_up()
    except LedgerError as error:
        output.error(str(error))
        return 1
    return 0


def _leave_traces(opened: Ledger) -> None:
    tokens, store = opened.tokens, opened.tokens.store
    if not tokens.are_set_up():
        for name in ("ada", "bo"):
            store.add(name, Role.CORRECTOR, f"rlt_{name}", "2020-03-01T12:00:00Z")
        store.revoke([2], "2020-03-02T12:00:00Z")
    token = tokens.add("eve", [Role.CORRECTOR])
    with contextlib.suppress(RejectedError):
        tokens.who(None, "mallory", Role.CORRECTOR, "propose a correction")
    words = [tokens.sign_in(token, place)[0] for place in ("the bar", "the club room")]
    tokens.sign_out(words[0], "the bar")
    sending = Sending(f"letter {len(tokens.log())}", b"void,club:1")
    void = opened.corrections.drafts.annul("game:club:1")
    opened.corrections.propose_each([[void]], reason="a double", token=token, sending=sending)


def _token_log(path: str) -> int:
    return cli.main(["token", "log", path])


def _token_list(path: str) -> int:
    return cli.main(["token", "list", path])


ACTS: dict[str, Callable[..., int]] = {
    "register": _register,
    "derive": _derive,
    "stop-build": _stop_build,
    "guest": _make_guest,
    "scheme-adopt": _adopt,
    "rename": _rename,
    "use-tokens": _use_tokens,
    "token-log": _token_log,
    "token-list": _token_list,
}
