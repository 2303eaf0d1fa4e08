"""Who runs jobs: the process that records starts one process at a time for them, and keeps what they wrote for a while.

Only the client that began a job knows its name. A job ends by itself, on request, when it takes too
long, or with the server; no answer waits for it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import orjson

from ledger.runtime import workers

from .. import output
from . import limits, problems
from .jobs import ERASED
from .parents import PARENT
from .problems import Problem
from .write_queue import Outcome

PROCESS = f"{__package__}.job_process"  # the module that a job is run by
_PATIENCE = 5.0  # seconds until a job that was asked to end is killed
_FOLDER = "job-"  # begins the names of their folders
_SAID_LINES = 100
_SAID_BYTES = 64 * 1024


@attrs.define(eq=False)
class _Job:
    """A job.

    Attributes:
        word: its name.
        folder: of its own, with the files it writes.
        args: the command, its words, the media type and the name of the result, how many people were erased by then.
        state: as ``jobs.JobAnswer`` has it.
        exit_code: of the command; None: it has not ended, or was ended.
        process: that runs it.
        why: why the server ended it, or could not run it; None: it did neither.
    """

    word: str
    folder: Path
    args: Mapping[str, Any]
    state: str = "waiting"
    exit_code: int | None = None
    process: asyncio.subprocess.Process | None = None
    why: str | None = None

    @property
    def is_over(self) -> bool:
        return self.state not in {"waiting", "running"}

    @property
    def result(self) -> Path:
        return self.folder / "result"

    @property
    def says(self) -> Path:
        return self.folder / "said"

    @property
    def progress(self) -> Path:
        return self.folder / "progress"

    def how_far(self, ahead: int) -> dict[str, Any]:
        """Return its progress, as ``jobs.JobState`` has it."""
        size = _size(self.result) if self.state == "done" else None  # the operator may have tidied up
        said = (
            []
            if self.why == ERASED
            else [line.replace(str(self.result), self.args["name"]) for line in _said(self.says)]
        )
        fields = {
            "job": self.word, "command": self.args["command"], "state": self.state, "ahead": ahead,
            **_progress(self.progress), "exit_code": self.exit_code,
            "said": said if self.why is None else [*said, self.why],
            "size": size,
        }  # fmt: skip
        place = None if size is None else str(self.result)
        return {"fields": fields, "place": place, **{name: self.args[name] for name in ("media", "name", "erased")}}


class Jobs:
    """The jobs that wait, the one that runs, and the results of those that are done; all within one loop."""

    def __init__(self, path: Path, folder: Path) -> None:
        """Take the path of the ledger, and a folder that no other user may read."""
        self._path, self._folder = path, folder
        self._jobs: dict[str, _Job] = {}  # in the order in which they came
        self._task: asyncio.Task[None] | None = None
        self._is_ending = False
        for left in folder.glob(f"{_FOLDER}*"):  # by a process that was killed: no client can ask for those any more
            shutil.rmtree(left, ignore_errors=True)

    def answer(self, verb: str, args: Mapping[str, Any]) -> Outcome:
        """Begin a job, report it, or end it."""
        return _VERBS[verb](self, args)

    def begin(self, args: Mapping[str, Any]) -> Outcome:
        """Let a job wait its turn."""
        waiting = sum(job.state == "waiting" for job in self._jobs.values())
        if self._is_ending or waiting >= limits.JOBS_WAITING:
            return problems.problem(503, f"{waiting} jobs wait at present; ask again later, or run the command")
        word = secrets.token_urlsafe(16)
        folder = self._folder / f"{_FOLDER}{word}"
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:  # a full disk must not end the questions of others
            output.error(f"no job can be begun: {folder}: {error.strerror or error}")
            return problems.problem(503, "no job can be begun at present; ask again later, or run the command")
        job = self._jobs[word] = _Job(word, folder, args)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())
        return job.how_far(self._ahead(job))

    def state(self, args: Mapping[str, Any]) -> Outcome:
        """Return the progress of a job."""
        job = self._jobs.get(args["job"])
        return _unknown() if job is None else job.how_far(self._ahead(job))

    def end(self, args: Mapping[str, Any]) -> Outcome:
        """End a job, and forget it with all that it wrote."""
        job = self._jobs.get(args["job"])
        if job is None:
            return _unknown()
        if job.state == "running":
            job.state = "ended"
            _tell_to_end(job)
            del self._jobs[job.word]  # its files go when its process has ended
        else:
            self._forget(job)
        return {}

    def forget_erased(self, erased: int) -> None:
        """End the jobs that were begun before a player was erased, and delete what they wrote.

        Args:
            erased: how many people are erased by now.
        """
        for job in [*self._jobs.values()]:
            if job.args["erased"] >= erased or job.why == ERASED:
                continue
            job.why = ERASED
            if job.state == "running":
                job.state = "ended"
                _tell_to_end(job)
            else:
                job.state = "ended"
                _take_away(job)

    async def stop(self) -> None:
        """Take nothing new, and end what runs."""
        self._is_ending = True
        for job in [*self._jobs.values()]:
            if job.state == "waiting":
                self._forget(job)
            elif job.state == "running":
                job.state = "ended"
                _tell_to_end(job)
        if self._task is not None:
            await self._task

    def _ahead(self, job: _Job) -> int:
        if job.state != "waiting":
            return 0
        words = [*self._jobs]
        before = words[: words.index(job.word)]
        return sum(not self._jobs[word].is_over for word in before)

    async def _run(self) -> None:
        """Run what waits, one after another."""
        while job := next((each for each in self._jobs.values() if each.state == "waiting"), None):
            try:
                await self._run_one(job)
            except OSError as error:
                job.state, job.why = "failed", f"the server could not run it: {error.strerror or error}"
            if job.word not in self._jobs:
                shutil.rmtree(job.folder, ignore_errors=True)
                continue
            asyncio.get_running_loop().call_later(limits.JOB_KEPT, self._forget, job)
            over = [each for each in self._jobs.values() if each.is_over]
            for old in over[: -limits.JOBS_KEPT]:
                self._forget(old)

    async def _run_one(self, job: _Job) -> None:
        job.state = "running"
        args = job.args
        # Within its folder: what a command says of the ledger names no place of this machine.
        words = [args["command"], *args["options"], f"--output={job.result}", "--", self._path.name, *args["operands"]]
        with job.says.open("ab") as says:
            job.process = await asyncio.create_subprocess_exec(
                *workers.command(PROCESS, str(job.progress), *words), cwd=self._path.parent,
                stdin=asyncio.subprocess.DEVNULL, stdout=says, stderr=says,
                env=workers.environment(**{"TMPDIR": str(job.folder), "NO_COLOR": "1", PARENT: str(os.getpid())}),
            )  # fmt: skip
        if job.state != "running":  # it was ended while the process was being started
            _tell_to_end(job)
        limit = asyncio.get_running_loop().call_later(limits.JOB_WITHIN, _took_too_long, job)
        job.exit_code = await job.process.wait()
        limit.cancel()
        if job.state == "running":
            job.state = "done" if job.exit_code == 0 else "failed"
        else:
            job.exit_code = None
            _take_away(job)

    def _forget(self, job: _Job) -> None:
        if self._jobs.pop(job.word, None) is not None:
            shutil.rmtree(job.folder, ignore_errors=True)


def _take_away(job: _Job) -> None:
    job.exit_code = None
    if job.why == ERASED:  # what it said may name people, too
        shutil.rmtree(job.folder, ignore_errors=True)
    else:
        job.result.unlink(missing_ok=True)


_VERBS: Mapping[str, Callable[[Jobs, Mapping[str, Any]], Outcome]] = {
    "job": Jobs.begin,
    "job-state": Jobs.state,
    "job-end": Jobs.end,
}
VERBS = frozenset(_VERBS)


def _tell_to_end(job: _Job) -> None:
    """Tell the process of a job to end, and kill it where it does not."""
    if job.process is None:  # it is being started: its starter looks again
        return
    with suppress(ProcessLookupError):
        job.process.send_signal(signal.SIGINT)  # as Ctrl-C: a command takes its temporary files away

    def kill(process: asyncio.subprocess.Process) -> None:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()

    asyncio.get_running_loop().call_later(_PATIENCE, kill, job.process)


def _took_too_long(job: _Job) -> None:
    if job.state == "running":
        job.state = "ended"
        job.why = f"it took longer than {limits.JOB_WITHIN / 3600:g} h: the command itself has no such limit"
        _tell_to_end(job)


def _unknown() -> Problem:
    message = (
        f"there is no such job: it was ended, or ended more than {limits.JOB_KEPT / 3600:g} h ago, or the server was "
        "restarted since; begin it again"
    )
    return problems.problem(404, message)


def _progress(place: Path) -> dict[str, Any]:
    with suppress(OSError, orjson.JSONDecodeError):  # not there yet, or cut off
        return dict(orjson.loads(place.read_bytes()))
    return {"doing": None, "done": None, "total": None}


def _size(place: Path) -> int | None:
    try:
        return place.stat().st_size
    except OSError:
        return None


def _said(place: Path) -> list[str]:
    try:
        with place.open("rb") as file:
            file.seek(max(0, place.stat().st_size - _SAID_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()[-_SAID_LINES:]
    except OSError:
        return []
