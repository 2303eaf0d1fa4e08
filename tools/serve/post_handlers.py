"""How what programs send under ``/api/v1`` is taken: with a token, never by a cookie, and nothing of it twice."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import orjson
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route as Address

from ledger.answers.recorded_games import recorded_game
from ledger.answers.rows import as_row
from ledger.auth.sessions import is_session_word
from ledger.errors import LedgerError
from ledger.facts.events import Role
from ledger.journal import rules
from ledger.ledger import Ledger

from . import bodies, problems, safety
from .importing import OF_A_FILE, ImportAnswer
from .jobs import ERASED, JobAnswer, JobState
from .parameters import Parameter, Query, parse_query
from .post_routes import IMPORT, IMPORT_PARAMETERS, JOBS, JSON, OF_A_JOB, POSTS, GameAnswer, Post
from .problems import Fault, RefusedError
from .readers import Reader
from .routes import PREFIX, Cost
from .safety import AnswerKind
from .writer_socket import PATIENCE, Ask, WriterClient

RATED_WITHIN = 10.0  # seconds for which a game waits for its ratings
LONG = 6 * 3600.0  # seconds for a file of millions of games
JOB_AGAIN = 2  # seconds after which it is worth to ask again how far a job is


class Posting:
    """Takes what programs send to one process that answers."""

    def __init__(self, reader: Reader, client: WriterClient, folder: Path) -> None:
        """Say what reads the ledger, what leads to the writer, and where files wait for it."""
        self._reader, self._client, self._folder = reader, client, folder
        self._headers = safety.headers(AnswerKind.DATA, index=False)

    def addresses(self) -> list[Address]:
        """Return every address at which something is recorded."""
        made = [Address(post.address, self._endpoint(post), methods=["POST"]) for post in POSTS]
        job = f"{PREFIX}{OF_A_JOB}"
        return [
            *made,
            Address(f"{PREFIX}{IMPORT}", self._import, methods=["POST"]),
            Address(job, self._job, methods=["GET"]),
            Address(job, self._end_job, methods=["DELETE"]),
            Address(f"{job}/result", self._result_of_job, methods=["GET"]),
        ]

    def _endpoint(self, post: Post) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            token = _token(request, post.role)
            query = _parameters(request, post.parameters)
            content = await request.body()
            _check_media(request, content)
            # An empty one distinguishes nothing: the second of two equal games would be lost as a repeat.
            once, path = request.headers.get("idempotency-key", "").strip() or None, dict(request.path_params)

            def ask_of(ledger: Ledger) -> Ask:
                return post.ask(ledger, bodies.read(post.body, content), path, once)

            ask = await self._read(token, post, ask_of)
            if post.cost is Cost.JOB:
                return await self._begin_job(ask)
            patience = PATIENCE if post.cost is Cost.INDEX else LONG
            answer = await self._client.ask(ask.verb, ask.args, token=token, patience=patience)
            if post.answer is GameAnswer:
                answer["rated"] = await self._rated(answer) if query["rated"] == "1" else None
            is_new = answer.get("duplicate") is False or answer.get("recorded") is True
            more = {}
            if post.where is not None:
                more["Location"] = f"{self._reader.site.public_url}{PREFIX}{post.where(answer)}"
            return self._sent(201 if is_new else 200, answer, more)

        return endpoint

    async def _import(self, request: Request) -> Response:
        token = _token(request, Role.RECORDER)
        query = _parameters(request, IMPORT_PARAMETERS)
        await self._admit(token, None if query["dry_run"] == "1" else Role.RECORDER, "import a file")
        place = await self._spooled(request)
        flags = {name: query[name] == "1" for name in ("strict", "record_alike")}
        words = {name: query[name] for name in OF_A_FILE}
        sent = {"path": str(place), "name": query["filename"] or "the file", **words, **flags}
        sent["accept"] = list(query["accept"])
        try:
            if query["dry_run"] == "1":
                account = await self._client.ask("preview-import", {"sent": sent}, token=token, patience=LONG)
            else:
                upload = {"upload": secrets.token_urlsafe(16), "sent": sent}
                account = (await self._client.ask("desk-import", upload, token=token, patience=LONG))["account"]
        finally:
            place.unlink(missing_ok=True)
        is_stopped = (account["unaccepted"] or account["awaits_another"]) and query["dry_run"] == "0"
        if is_stopped or (
            (flags["strict"] or (account["strict"] and query["dry_run"] == "0")) and account["fault_count"]
        ):
            raise RefusedError(_of_lines(account))
        return self._sent(200, attrs.asdict(ImportAnswer.of(account)))

    async def _read(self, token: str, post: Post, ask: Callable[[Ledger], Ask]) -> Ask:
        """Return the question to the writer, made of the body and of a look at the ledger.

        Who shows a token that does not hold is refused first: a stranger learns no name by trying, and to read a body
        and to play moves through takes time that others wait for.
        """

        def work() -> Ask | None:
            ledger = self._reader.open().ledger
            if not ledger.tokens.is_valid(token):
                return None
            with ledger.read_snapshot():
                return ask(ledger)

        try:
            query = await asyncio.get_running_loop().run_in_executor(self._reader.executor, work)
        except LedgerError as error:
            raise RefusedError(problems.refusal(error)) from None
        if query is None:
            await self._admit(token, None, _tried(post))  # refused; or it was issued in this moment
            return await self._read(token, post, ask)
        return query

    async def _begin_job(self, ask: Ask) -> Response:
        args = {**ask.args, "erased": await self._erased()}
        state = JobState(**await self._client.ask(ask.verb, args))
        where = {"Location": self._job_address(state.fields["job"]), "Retry-After": str(JOB_AGAIN)}
        return self._sent(202, self._job_answer(state), where)

    async def _job(self, request: Request) -> Response:
        state = await self._job_state(request)
        is_over = state.fields["state"] not in {"waiting", "running"}
        return self._sent(200, self._job_answer(state), {} if is_over else {"Retry-After": str(JOB_AGAIN)})

    async def _result_of_job(self, request: Request) -> Response:
        state = await self._job_state(request)
        if await self._erased() != state.erased:
            await self._client.ask("job-end", {"job": state.fields["job"]})
            raise RefusedError(problems.problem(404, ERASED))
        if state.place is None:
            address = self._job_address(state.fields["job"])
            words = f"the job has no result, its state is {state.fields['state']!r}: {address} says more"
            raise RefusedError(problems.problem(404, words))
        headers = {**self._headers, "Cache-Control": "no-store", "Content-Type": state.media}
        return FileResponse(state.place, headers=headers, filename=state.name)

    async def _erased(self) -> int:
        """Return how many players are erased."""

        def work() -> int:
            return sum(1 for _ in self._reader.open().ledger.journal.keys(*rules.ERASED))

        return await asyncio.get_running_loop().run_in_executor(self._reader.executor, work)

    async def _end_job(self, request: Request) -> Response:
        state = await self._job_state(request)
        await self._client.ask("job-end", {"job": state.fields["job"]})
        return Response(status_code=204, headers=self._headers)

    async def _job_state(self, request: Request) -> JobState:
        """Return a job, by its name, to a client with a token."""
        _parameters(request, ())
        await self._admit(_token(request, None), None, "ask for a job")
        return JobState(**await self._client.ask("job-state", {"job": request.path_params["job"]}))

    def _job_answer(self, state: JobState) -> dict[str, Any]:
        result = None if state.place is None else f"{self._job_address(state.fields['job'])}/result"
        return attrs.asdict(JobAnswer(**state.fields, result=result))

    def _job_address(self, job: str) -> str:
        return f"{self._reader.site.public_url}{PREFIX}{JOBS}/{job}"

    async def _admit(self, token: str, role: Role | None, tried: str) -> None:
        """Refuse a token that does not hold, or lacks a role, in the words of its rule; the log keeps that.

        Raises:
            RefusedError: it does not.
        """

        def work() -> bool:
            return self._reader.open().ledger.tokens.is_valid(token, role)

        if not await asyncio.get_running_loop().run_in_executor(self._reader.executor, work):
            await self._client.ask("refuse", {"role": role, "tried": tried}, token=token)

    async def _rated(self, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the game with both ratings, once the views are there; None where they are not in time."""
        if not await self._client.until_views(answer["position"], RATED_WITHIN):
            return None

        def work() -> Mapping[str, Any]:
            return as_row(recorded_game(self._reader.open().ledger, f"#{answer['position']}"))

        with suppress(LedgerError):  # the game is recorded all the same
            return await asyncio.get_running_loop().run_in_executor(self._reader.executor, work)
        return None

    async def _spooled(self, request: Request) -> Path:
        """Store the body in a file that no other user may read.

        Raises:
            RefusedError: there is no room for it.
        """
        place = self._folder / f"posted-{secrets.token_urlsafe(16)}"
        try:
            with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                async for part in request.stream():
                    file.write(part)
        except BaseException as error:
            place.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise problems.no_room(error) from None
            raise
        return place

    def _sent(self, status: int, answer: Mapping[str, Any], more: Mapping[str, str] | None = None) -> Response:
        position = {"Ledger-Position": str(answer["position"])} if "position" in answer else {}
        headers = {**self._headers, **position, **(more or {}), "Content-Type": JSON, "Cache-Control": "no-store"}
        return Response(orjson.dumps(answer), status, headers)


def _token(request: Request, role: Role | None) -> str:
    """Return the token in the headers of a request; the word of a session at the desk is none.

    Raises:
        RefusedError: there is none.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or is_session_word(token):
        needs = "a token" if role is None else f"a token with the role {role.value}"
        message = (
            f"this needs {needs}, in the header 'Authorization: Bearer rlt_...'; the owner of the ledger makes one "
            "with 'token add'"
        )
        raise RefusedError(problems.problem(401, message, "needs-a-token"))
    return token


def _tried(post: Post) -> str:
    """Return the attempt in words, for the log of refusals."""
    return f"run the job {post.path.removeprefix(f'{JOBS}/')}" if post.cost is Cost.JOB else f"post to {post.path}"


def _parameters(request: Request, takes: tuple[Parameter, ...]) -> Query:
    query, wrong = parse_query(takes, request.query_params.multi_items())
    if wrong:
        raise RefusedError(problems.of_parameters(wrong))
    return query


def _check_media(request: Request, content: bytes) -> None:
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != JSON and (content or media):
        raise RefusedError(problems.problem(415, f"send {JSON}, got {media or 'no Content-Type'}"))


def _of_lines(account: Mapping[str, Any]) -> problems.Problem:
    """Return why nothing of a file was recorded."""
    faults = [Fault(parameter=None, detail=detail, line=line) for line, detail in account["faults"]]
    faults += [
        Fault(parameter=None, detail=f"warning: {warning['detail']}", line=warning["line"])
        for warning in account["warnings"]
        if warning["code"] in account["unaccepted"]
    ]
    words = f"nothing was recorded: {account['name']} has {account['fault_count']:,} faults"
    if account["unaccepted"]:
        words += f", and warnings that accept={','.join(account['unaccepted'])} would accept"
    if account["awaits_another"]:
        words = (
            f"{account['name']} waits: nothing is recorded but that you accept its warnings; four eyes ask for another "
            "person, who sends the same file with the same accept="
        )
        return problems.problem(409, words, errors=faults)
    return problems.problem(400, words, errors=faults)
