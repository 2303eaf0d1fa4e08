"""The process that writes: records what the others are sent, folds it into the views, and signs the head on time.

Its loop takes messages from a socket. One thread records, with a ledger of its own: what waits is taken together in one
durable transaction, and answered after the commit. Another thread brings the views level, as soon as something was
recorded here and soon after other commands recorded it, and signs. A failure of either is reported once, and retried.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from ledger.errors import CheckpointWarning, LedgerError
from ledger.facts.words import Receipt
from ledger.journal import rules
from ledger.journal.settings_file import ledger_inode
from ledger.ledger import Ledger
from ledger.recording.recorder import Submission

from .. import output
from . import desk_verbs, job_runner, problems
from .parents import end_with, is_gone
from .problems import Problem
from .settings import Serving
from .verbs import GAME, Asking, told_game, verb_of
from .verbs import receipt as as_sent
from .witnesses import Witness, Witnessing, WitnessKey
from .write_queue import Outcome, Queue, Waiting, full
from .writer_socket import LARGEST, SOCKET, MessageTooLongError, message, next_message

GLANCE = 0.2  # seconds between two looks at the journal
LATER = 5.0  # seconds until it is tried again to fold in, or to sign, what failed
MOST_TRIED = 16  # dry runs at work or waiting; as many quick ones wait besides
TRIED_AT_ONCE = 3  # so that a preview which takes minutes lets others pass; each may take a copy of the views
ENDS_WITHIN = 10.0  # seconds for what was accepted when the process is to end
_QUOTED = 1_000  # characters of a refusal that is too long for a message
_REFUSES = "the ledger takes nothing at present, and nothing of this was recorded: send it again later"
_UNSURE = (
    "the ledger takes nothing at present, and it is not known whether this was recorded, or how much of it: send it "
    "again later, what was recorded is then known to be"
)


class Opened:
    """The ledger that a thread has open, opened again when another file takes its place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ledger: Ledger | None = None
        self._inode = 0

    def ledger(self) -> Ledger:
        """Return the ledger.

        Raises:
            LedgerError: it cannot be opened, or is not there.
        """
        now = ledger_inode(self._path)
        if self._ledger is not None and now != self._inode:
            self.close()
        if self._ledger is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CheckpointWarning)  # the readers say so with each answer
                self._ledger = Ledger.open(self._path)
            self._inode = now
        return self._ledger

    def close(self) -> None:
        """Release it."""
        if self._ledger is not None:
            with suppress(LedgerError):
                self._ledger.close()
            self._ledger = None


class RecordingThread:
    """The thread that records what waits."""

    def __init__(self, path: Path, queue: Queue, done: Callable[[Sequence[tuple[Waiting, Outcome]]], None]) -> None:
        """Take the path, the queue, and the callback for results, which is called after each transaction."""
        self._opened, self._queue, self._done = Opened(path), queue, done
        self.thread = threading.Thread(target=self._run, name="recording", daemon=True)

    def _run(self) -> None:
        while batch := self._queue.next():
            self._take(batch)
        self._opened.close()

    def between(self) -> None:
        """Record the single facts that wait; called by what takes long, between two of its transactions."""
        if batch := self._queue.singles():
            self._take(batch)

    def _take(self, batch: Sequence[Waiting]) -> None:
        refuses = _REFUSES
        try:
            ledger = self._opened.ledger()
            # A file is recorded in parts, a server may be lost with the answer to a commit, views be full after it.
            refuses = _UNSURE
            outcomes = self._games(ledger, batch) if batch[0].verb == GAME else [self._one(ledger, batch[0])]
        except (LedgerError, OSError) as error:
            output.error(f"what was sent could not be recorded: {error}")
            outcomes = [problems.problem(503, refuses)] * len(batch)
        except Exception as error:  # noqa: BLE001  # a fault of the program ends one answer, not the server
            for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
                output.remark(line)
            self._opened.close()
            outcomes = [problems.problem(500, "the program failed here; its log tells how")] * len(batch)
        self._done([*zip(batch, outcomes, strict=True)])

    def _one(self, ledger: Ledger, waiting: Waiting) -> Outcome:
        try:
            return verb_of(waiting.verb).do(ledger, waiting.asking._replace(between=self.between), waiting.args)
        except LedgerError as error:
            return _problem(error)

    @staticmethod
    def _games(ledger: Ledger, batch: Sequence[Waiting]) -> list[Outcome]:
        """Games in one transaction."""
        games: dict[int, Submission] = {}
        answers: dict[int, Outcome] = {}
        for place, waiting in enumerate(batch):
            try:
                games[place] = told_game(waiting.asking, waiting.args)
            except LedgerError as error:
                answers[place] = _problem(error)
        for place, outcome in zip(games, ledger.append_each([*games.values()]), strict=True):
            answers[place] = as_sent(outcome) if isinstance(outcome, Receipt) else _problem(outcome)
        return [answers[place] for place in range(len(batch))]


def _problem(error: LedgerError, refuses: str = _UNSURE) -> Problem:
    """Return the library's refusal as it is sent; the log gets a fault of the ledger itself."""
    made = problems.of_error(error)
    if made.status >= 500 and made.rule is None:
        output.error(str(error))
        made = problems.problem(503, refuses)
    return made


class Trying:
    """The threads of dry runs and questions, in parallel with recording; each has a ledger of its own."""

    def __init__(self, path: Path) -> None:
        """Say where."""
        self._waiting, self._of_thread = Counter[bool](), threading.local()

        def begin() -> None:
            self._of_thread.opened = Opened(path)

        # By whether they do long work: the progress of an import, and a refusal, must not wait for it.
        self._threads = {
            is_long: ThreadPoolExecutor(threads, thread_name_prefix="trying", initializer=begin)
            for is_long, threads in ((True, TRIED_AT_ONCE), (False, 1))
        }

    async def answer(self, verb: str, asking: Asking, args: Mapping[str, Any]) -> Outcome:
        """Return the answer of a verb that records nothing."""
        is_long = verb_of(verb).is_long
        if self._waiting[is_long] >= MOST_TRIED:
            return problems.problem(503, "others ask for much at present; ask again later")
        self._waiting[is_long] += 1
        threads = self._threads[is_long]
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, self._tried, verb, asking, args)
        except Exception as error:  # noqa: BLE001  # a fault of the program ends one answer, not the server
            for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
                output.remark(line)
            return problems.problem(500, "the program failed here; its log tells how")
        finally:
            self._waiting[is_long] -= 1

    def _tried(self, verb: str, asking: Asking, args: Mapping[str, Any]) -> Outcome:
        try:
            return verb_of(verb).do(self._of_thread.opened.ledger(), asking, args)
        except LedgerError as error:
            return _problem(error, _REFUSES)

    def end(self) -> None:
        """Take nothing new."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)


class Folding:
    """The thread that brings the views level, and signs."""

    def __init__(self, path: Path, checkpoint_every: int, tell: Callable[[Mapping[str, int]], None]) -> None:
        """Take the path, the seconds between signatures (0: never), and the callbacks for positions and heads."""
        self._opened, self._every, self._tell = Opened(path), checkpoint_every, tell
        self._woken, self._stopped = threading.Event(), False
        self._failure = ""
        self._signed, self._sign_at = 0, time.monotonic()  # at the start, too: it may have grown at any time
        self._signed_of: Ledger | None = None  # another one may be put in its place, with fewer entries
        self.views = self.erased = 0  # entries that are folded in, and people who are erased
        self.thread = threading.Thread(target=self._run, name="folding", daemon=True)

    def wake(self) -> None:
        """Something was recorded."""
        self._woken.set()

    def stop(self) -> None:
        """Bring the views level once more, sign, and end."""
        self._stopped = True
        self._woken.set()

    def _run(self) -> None:
        while True:
            last = self._stopped
            self._woken.clear()
            pause = GLANCE
            try:
                self._fold(is_last=last)
                self._failure = ""
            except (LedgerError, OSError) as error:
                if str(error) != self._failure:
                    self._failure = str(error)
                    output.error(f"the views are not brought level, or nothing is signed: {error}")
                pause = LATER
            except Exception as error:  # noqa: BLE001  # of a plug-in, say: all later answers would stay what they were
                failure = "".join(traceback.format_exception(error)).rstrip("\n")
                if failure != self._failure:
                    self._failure = failure
                    output.error("the views are not brought level, or nothing is signed: the program failed")
                    for line in failure.split("\n"):
                        output.remark(line)
                self._opened.close()
                pause = LATER
            if last:
                break
            self._woken.wait(pause)
        self._opened.close()

    def _fold(self, *, is_last: bool) -> None:
        ledger = self._opened.ledger()
        ledger.ensure_up_to_date()
        position = ledger.views.position()
        if position != self.views:
            self.views = position
            self.erased = sum(1 for _ in ledger.journal.keys(*rules.ERASED))
            self._tell({"views": position})
        if self._every and (is_last or time.monotonic() >= self._sign_at):
            self._sign_at = time.monotonic() + self._every
            self._sign(ledger)

    def _sign(self, ledger: Ledger) -> None:
        """Sign the head where it grew."""
        is_signed = ledger is self._signed_of and ledger.journal.size() <= self._signed
        if is_signed or not ledger.checkpoints.key_file.exists():
            return
        made = ledger.checkpoints.make()
        self._signed, self._signed_of = made.head.size, ledger
        self._tell({"head": self._signed})

    @property
    def state(self) -> dict[str, int]:
        """The greeting to a new connection."""
        return {"views": self.views, "head": self._signed}


def _witnessing(serving: Serving) -> Witnessing | None:
    """Return the thread that has checkpoints cosigned; None where there is no witness."""
    if serving.witness is None or serving.witness_key is None:
        return None
    opened = Opened(serving.path)
    return Witnessing(Witness(serving.witness, WitnessKey.parse(serving.witness_key)), opened.ledger, opened.close)


class WriterProcess:
    """The sockets, and the threads."""

    def __init__(self, serving: Serving) -> None:
        """Say what is served."""
        assert serving.folder is not None
        self._place = serving.folder / SOCKET
        self._streams: set[asyncio.StreamWriter] = set()
        self._unanswered = 0
        self.queue = Queue()
        self.folding = Folding(serving.path, serving.checkpoint_every, self._tell_soon)
        self.trying, self._tries = Trying(serving.path), set[asyncio.Task[None]]()
        self.recording = RecordingThread(serving.path, self.queue, self._done)
        self.witnessing = _witnessing(serving)
        self.jobs = job_runner.Jobs(serving.path, serving.folder)

    async def run(self) -> None:
        """Take messages until SIGTERM."""
        self._loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        self._loop.add_signal_handler(signal.SIGTERM, stopped.set)
        self.folding.thread.start()
        self.recording.thread.start()
        if self.witnessing is not None:
            self.witnessing.thread.start()
        self._place.unlink(missing_ok=True)  # left by one that was killed
        server = await asyncio.start_unix_server(self._connected, str(self._place), limit=LARGEST)
        while not stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), 1.0)
            self.jobs.forget_erased(self.folding.erased)
            desk_verbs.forget_erased(self.folding.erased)
        await self._end(server)

    async def _end(self, server: asyncio.Server) -> None:
        """Take nothing new, answer what was accepted, fold it in."""
        until = self._loop.time() + ENDS_WITHIN
        self.queue.end()
        self.trying.end()
        jobs = self._loop.create_task(self.jobs.stop())
        if self.witnessing is not None:
            self.witnessing.stop()
        while (self.recording.thread.is_alive() or self._unanswered) and self._loop.time() < until:
            await asyncio.sleep(0.01)
        self.folding.stop()
        while (self.folding.thread.is_alive() or not jobs.done()) and self._loop.time() < until:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)  # the last answers are written
        server.close()
        for stream in [*self._streams]:
            with suppress(OSError, TimeoutError):
                await asyncio.wait_for(stream.drain(), 0.5)
            stream.close()
        while self._streams and self._loop.time() < until + 1:  # each is let go by who reads from it
            await asyncio.sleep(0.01)

    async def _connected(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        self._streams.add(writing)
        writing.write(message(self.folding.state))
        try:
            while (taken := await next_message(reading)) is not None:
                self._take(*taken, writing)
        except (MessageTooLongError, TypeError, ValueError, KeyError) as error:
            output.error(f"a process of the server said what cannot be: {error}")
        finally:
            self._streams.discard(writing)
            writing.close()

    def _take(self, content: Mapping[str, Any], size: int, writing: asyncio.StreamWriter) -> None:
        number = content["id"]
        asking = Asking(content.get("token"), content.get("by"))
        if content["verb"] in job_runner.VERBS:  # the handler has looked at the token
            self._send(writing, number, self.jobs.answer(content["verb"], content["args"]))
            return
        try:
            if not verb_of(content["verb"]).records:
                task = self._loop.create_task(self._tell_tried(content, asking, writing))
                self._tries.add(task)
                task.add_done_callback(self._tries.discard)
                return
            has_room = self.queue.put(Waiting(content["verb"], asking, content["args"], size, (writing, number)))
        except LedgerError as error:
            self._send(writing, number, _problem(error))
            return
        if has_room:
            self._unanswered += 1
        else:
            self._send(writing, number, full(self.queue))

    async def _tell_tried(self, content: Mapping[str, Any], asking: Asking, writing: asyncio.StreamWriter) -> None:
        outcome = await self.trying.answer(content["verb"], asking, content["args"])
        self._send(writing, content["id"], outcome)

    def _done(self, outcomes: Sequence[tuple[Waiting, Outcome]]) -> None:
        """Answer, and let it be folded in; called by the thread that records."""
        self._loop.call_soon_threadsafe(self._answer, outcomes)
        self.folding.wake()

    def _answer(self, outcomes: Sequence[tuple[Waiting, Outcome]]) -> None:
        self._unanswered -= len(outcomes)
        for waiting, outcome in outcomes:
            writing, number = waiting.sender
            self._send(writing, number, outcome)

    @staticmethod
    def _send(writing: asyncio.StreamWriter, number: int, outcome: Outcome) -> None:
        content = {"problem": attrs.asdict(outcome)} if isinstance(outcome, Problem) else {"ok": outcome}
        if writing.is_closing():
            return
        try:
            frame = message({"id": number, **content})
        except MessageTooLongError as error:  # a refusal may quote what was sent more than once
            shorter = outcome if isinstance(outcome, Problem) else problems.problem(500, f"the answer is {error}")
            shorter = attrs.evolve(shorter, detail=f"{shorter.detail[:_QUOTED]}...", errors=[])
            frame = message({"id": number, "problem": attrs.asdict(shorter)})
        writing.write(frame)

    def _tell_soon(self, content: Mapping[str, int]) -> None:
        self._loop.call_soon_threadsafe(self._tell, content)

    def _tell(self, content: Mapping[str, int]) -> None:
        frame = message(content)
        for stream in self._streams:
            stream.write(frame)


def main(arguments: Sequence[str]) -> int:
    """Write for the others, until SIGTERM or the end of the parent.

    Args:
        arguments: the settings as JSON, and the number of the pipe which the parent holds, if any.
    """
    serving = Serving.of_json(arguments[0])
    parent = int(arguments[1]) if len(arguments) > 1 else None
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until the loop takes it: what follows must still be done
    try:
        if parent is not None:
            end_with(parent, ENDS_WITHIN + 2)
        asyncio.run(WriterProcess(serving).run())
    finally:
        # a parent that was killed removes nothing: files that were sent, results of jobs
        if serving.folder is not None and parent is not None and is_gone(parent):
            shutil.rmtree(serving.folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
