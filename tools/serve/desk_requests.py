"""How requests at the desk are taken: who is signed in, where a form comes from, what was typed, what is shown again.

In this order: a form of another site is refused, then who is not signed in, then a form without its token; only then
is anything read of it. Nothing is done for a request that only looks.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

import attrs
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route as Address

from ledger.auth.sessions import LONGEST_MS, Session
from ledger.errors import LedgerError
from ledger.facts.person_names import same_person
from ledger.handle import utc_now
from ledger.ledger import Ledger

from . import html_forms, problems, safety
from .desk import DEEDS, DONE, FAULTY_FILES, PAGES, PREFIX, SAID, Deed, DeskPage, Leads, Typed
from .middleware import PERSON
from .parameters import Parameter, choice, parse_query
from .problems import Problem, RefusedError
from .readers import Reader
from .rendering import Around
from .routes import Cost
from .safety import AnswerKind
from .sessions import (
    FORM_TOKEN,
    ONCE,
    SESSION,
    SLOWLY,
    VISIT,
    Cookies,
    Forms,
    WrongTokens,
    new_once,
    new_visit,
    origin_fault,
    sign_in_fault,
)
from .writer_socket import Ask, WriterClient

SIGN_IN, SIGN_OUT = f"{PREFIX}/sign-in", f"{PREFIX}/sign-out"
FRESH = 10.0  # seconds for which a page waits for what its reader has just recorded
LONG = 6 * 3600.0  # seconds for an answer of the writer: of a file of millions of games, too
SOON = 1.5  # seconds after which what takes long is looked after on a page of its own
WAITS = "waits-"  # begins the names of uploaded files until they are confirmed
KEPT = "kept."  # begins the names of fields that wait for their form until the officer has signed in
KEPT_FOR = "kept_for"  # the form that they are of
ROWS = "rows"  # the field of rows that are corrected in a form, in the place of a file
_ENDINGS = {"pgn": "pgn", "lichess-ndjson": "ndjson", "chess-com": "json", "ledger-jsonl": "jsonl", "csv": "csv"}
_NEXT = "next"
HTML = "text/html; charset=utf-8"
_DONE = choice(DONE, "what was done", tuple(SAID))


class SignedIn(NamedTuple):
    """The officer who asks: the word of the session, and the session."""

    word: str
    session: Session


@attrs.frozen(kw_only=True)
class Desk:
    """The frame of a desk page; ``page.desk`` in the templates.

    Attributes:
        session: of the visitor; None: nobody is signed in.
        forms: makes what forms bring along.
        here: the path of the page behind the prefix.
        typed: what was typed, where a form is shown again.
        problem: why it was refused; None: it was not.
        said: what was done, or what is to be known; None: nothing.
    """

    session: Session | None
    forms: Forms
    here: str
    typed: Typed = attrs.Factory(dict)
    problem: Problem | None = None
    said: str | None = None

    @property
    def is_done(self) -> bool:
        """True if ``said`` reports something done."""
        return self.said in SAID.values()

    def hidden(self, path: str) -> Markup:
        """Return the hidden fields of a form: its token, and the word that marks a repeat.

        Args:
            path: where the form is sent, behind the prefix.
        """
        field = Markup('<input type="hidden" name="{}" value="{}">')
        return field.format(FORM_TOKEN, self.forms.token(f"{PREFIX}{path}")) + field.format(ONCE, new_once())

    def value(self, name: str, otherwise: str = "") -> str:
        """Return the typed value of a field, or its default."""
        return self.typed.get(name, otherwise)

    def may(self, role: str) -> bool:
        """Return whether the visitor holds a role; the library asks again when something is done."""
        return self.session is not None and role in self.session.roles

    @property
    def faults(self) -> list[str]:
        """The reasons of the refusal, one by one."""
        if self.problem is None:
            return []
        faults = []
        for fault in self.problem.errors:
            place = fault.parameter if fault.line is None else f"line {fault.line}"
            faults.append(fault.detail if place is None else f"{place}: {fault.detail}")
        return faults or self.problem.detail.split("\n")


@attrs.frozen(kw_only=True)
class Shown:
    """A page of the desk: its content, the answer to its form, and the frame."""

    shown: Any
    tried: Any
    desk: Desk


@attrs.frozen
class WaitingForm:
    """A form that waits until its sender has signed in.

    Attributes:
        next: the page to go to, behind the prefix; None: none.
        typed: what was typed into a form.
        form: the path of that form; None: there was none.
    """

    next: str | None = None
    typed: Typed = attrs.Factory(dict)
    form: str | None = None


class Visits:
    """Takes the requests at the desk of one process that answers."""

    def __init__(self, reader: Reader, client: WriterClient, folder: Path, *, by_proxy: bool = False) -> None:
        """Say what reads the ledger and draws pages, what leads to the writer, and where uploaded files wait.

        Args:
            reader: opens the ledger and draws pages.
            client: leads to the writer.
            folder: where uploaded files wait.
            by_proxy: whether a proxy signs people in first, whose own tokens alone are taken then.
        """
        self._by_proxy = by_proxy
        self._reader, self._client, self._folder = reader, client, folder
        self._site = reader.site
        self._cookies = Cookies(public_url=self._site.public_url)
        self._wrong, self._slowly = WrongTokens(), asyncio.Semaphore(1)
        self._pages = {page.path: page for page in PAGES}
        self._long: set[asyncio.Task[Any]] = set()
        # Of its own: a large file is looked at for minutes, in which strangers ask for what costs a scan, too.
        self._scanner = ThreadPoolExecutor(1, thread_name_prefix="desk")

    def addresses(self) -> list[Address]:
        """Return every address of the desk."""
        made = [Address(f"{PREFIX}{page.path}", self._looking(page), methods=["GET"]) for page in PAGES]
        made += [Address(f"{PREFIX}{deed.path}", self._doing(deed), methods=["POST"]) for deed in DEEDS]
        faulty = f"{PREFIX}/import/{{upload}}/"
        made += [Address(f"{faulty}{name}", self._faulty_rows, methods=["GET"]) for name in FAULTY_FILES]
        return [
            *made,
            Address(SIGN_IN, self._sign_in_page, methods=["GET"]),
            Address(SIGN_IN, self._sign_in, methods=["POST"]),
            Address(SIGN_OUT, self._sign_out, methods=["POST"]),
        ]

    # -- who asks ----------------------------------------------------------------------------------------------------

    async def _asks(self, request: Request) -> SignedIn | None:
        """Return the officer who is signed in; None if nobody is."""
        word = self._cookies.read(request, SESSION)
        if word is None:
            return None
        session = await self._in_ledger(lambda ledger: ledger.tokens.session(word))
        signed_in = request.scope.get(PERSON)
        if session is None or (self._by_proxy and not same_person(signed_in or "", session.person)):
            return None
        if session.is_use_due(int(utc_now().timestamp() * 1000)):
            with suppress(RefusedError):
                await self._client.ask("session-used", {}, token=word)
        return SignedIn(word, session)

    async def _in_ledger(self, work: Callable[[Ledger], Any], cost: Cost = Cost.INDEX) -> Any:
        def worked() -> Any:
            return work(self._reader.open().ledger)

        threads = self._reader.executor if cost is Cost.INDEX else self._scanner
        return await asyncio.get_running_loop().run_in_executor(threads, worked)

    @staticmethod
    def _where(request: Request) -> str:
        """Where a request comes from, as far as that is to be believed."""
        return request.client.host if request.client is not None and request.client.host else "a socket"

    # -- looking -----------------------------------------------------------------------------------------------------

    def _looking(self, page: DeskPage) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            asks = await self._asks(request)
            if asks is None:
                return self._to_sign_in(request)
            words = _words(request.query_params.multi_items())
            asked, wrong = parse_query(_parameters(page), words)
            said = SAID.get(asked.pop(DONE) or "")
            asked |= request.path_params
            if wrong:
                refused = problems.of_parameters(wrong)
                return await self._page(page, asks, asked, typed=dict(words), problem=refused, status=refused.status)
            return await self._page(page, asks, asked, said=said)

        return endpoint

    async def _page(
        self,
        page: DeskPage,
        asks: SignedIn,
        asked: Mapping[str, Any],
        *,
        typed: Typed | None = None,
        problem: Problem | None = None,
        said: str | None = None,
        seen: Any = None,
        status: int = 200,
    ) -> Response:
        """Return a page, with a form filled and refused where it is shown again.

        A word that the page cannot use, such as an unknown game, stays in its form and is not asked again.
        """
        asked = {**asked, **({"number": _number(asked["number"])} if "number" in asked else {})}
        try:
            shown, position, alarm = await self._in_ledger(
                lambda ledger: self._gathered(ledger, page, asked), page.cost
            )
            if page.tried is not None:
                seen = await self._client.ask(page.tried, asked, token=asks.word, patience=LONG)
        except LedgerError as error:
            refused = problem or problems.refusal(error)
            bare = {**asked, **_asked_of(page, {})}
            if bare == asked:
                raise RefusedError(refused) from None
            if typed is None:  # it was asked for by an address
                typed = {name: str(asked[name]) for name in bare if asked[name] is not None}
                problem, status = refused, refused.status
            return await self._page(page, asks, bare, typed=typed, problem=problem, said=said, status=status)
        except RefusedError as error:
            raise RefusedError(problem or error.problem) from None
        here = page.path.format(**asked)
        desk = Desk(
            session=asks.session,
            forms=Forms(word=asks.word),
            here=here,
            typed=typed or {},
            problem=problem,
            said=said,
        )
        around = Around(position=position, alarm=alarm)
        return self._drawn(page.template, Shown(shown=shown, tried=seen, desk=desk), around, status)

    def _gathered(self, ledger: Ledger, page: DeskPage, asked: Mapping[str, Any]) -> tuple[Any, int, str | None]:
        with ledger.read_snapshot() as position:
            return page.gather(ledger, asked), position, self._reader.alarm

    def _drawn(self, template: str, shown: Any, around: Around, status: int) -> Response:
        headers = {**safety.headers(AnswerKind.DESK, index=False), "Content-Type": HTML, "Vary": "Cookie"}
        return Response(self._reader.renderer.page(template, shown, around), status, headers)

    # -- doing -------------------------------------------------------------------------------------------------------

    def _doing(self, deed: Deed) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if (fault := origin_fault(self._site.public_url, request.headers)) is not None:
                raise RefusedError(problems.problem(403, fault))
            asks = await self._asks(request)
            if asks is None:
                return await self._kept_until_signed_in(request)
            path = {name: str(word) for name, word in request.path_params.items()}
            typed = await html_forms.typed(request, self._folder, deed.file)
            if deed.file is not None and "file" not in typed and typed.get(ROWS):  # corrected in the form itself
                typed["file"] = str(html_forms.spooled_text(typed[ROWS], self._folder))
            spooled = Path(typed["file"]) if "file" in typed else None
            try:
                if not Forms(word=asks.word).takes(f"{PREFIX}{deed.path.format(**path)}", typed.get(FORM_TOKEN)):
                    message = "this form was not made for this session: open its page anew, and send it from there"
                    raise RefusedError(problems.problem(403, message))
                return await self._done(
                    request, deed, asks, path, {ONCE: "", **typed, **self._waiting(deed, asks, typed)}
                )
            finally:
                if spooled is not None:
                    spooled.unlink(missing_ok=True)

        return endpoint

    async def _done(
        self, request: Request, deed: Deed, asks: SignedIn, path: Mapping[str, str], typed: Typed
    ) -> Response:
        page = self._pages[deed.page]
        if deed.is_long and await self._is_known(typed, asks):
            leads = deed.leads({**typed, **path}, {})
            assert leads is not None
            return self._elsewhere(leads)
        try:
            ask = deed.ask(path, typed)
            if deed.look is not None:
                look, upload = deed.look, self._keep(asks, Path(typed["file"]))
                typed = {**typed, **upload}
                seen = await self._in_ledger(lambda ledger: look(ledger, typed), Cost.SCAN)
                return await self._page(page, asks, path, typed=typed, seen=seen)
            answer = await self._asked(deed, ask, asks)
        except LedgerError as error:
            return await self._again(request, page, asks, path, typed, problems.refusal(error))
        except RefusedError as error:
            return await self._again(request, page, asks, path, typed, error.problem)
        if position := answer.get("position"):
            await self._client.until_views(int(position), FRESH)
        leads = deed.leads({**typed, **path}, answer)
        if leads is None:
            return await self._again(request, page, asks, path, typed, None)
        return self._elsewhere(leads)

    async def _asked(self, deed: Deed, ask: Ask, asks: SignedIn) -> Mapping[str, Any]:
        """Return the writer's answer; None for long work, unless it is soon refused or done."""
        asking = asyncio.create_task(self._client.ask(ask.verb, ask.args, token=asks.word, patience=LONG))
        if deed.is_long:
            self._long.add(asking)
            asking.add_done_callback(self._let_go)
            await asyncio.wait({asking}, timeout=SOON)
            if not asking.done():
                return {}
        return await asking

    def _let_go(self, asking: asyncio.Task[Any]) -> None:
        """Forget long work that has ended; the page to which its form led reports a refusal."""
        self._long.discard(asking)
        if not asking.cancelled():
            asking.exception()

    # -- files that wait ---------------------------------------------------------------------------------------------

    def _keep(self, asks: SignedIn, spooled: Path) -> dict[str, str]:
        """Let an uploaded file wait for its session, which has one, until it is confirmed; its place and its number."""
        for place in self._folder.glob(f"{WAITS}*"):
            with suppress(FileNotFoundError):
                old = time.time() - place.stat().st_mtime > LONGEST_MS / 1000  # noqa: TID251
                if old or place.name.startswith(self._mark(asks)):
                    place.unlink()
        number = new_once()
        place = self._folder / f"{self._mark(asks)}-{number}"
        spooled.rename(place)
        return {"file": str(place), "upload": number}

    def _waiting(self, deed: Deed, asks: SignedIn, typed: Typed) -> dict[str, str]:
        """Return the place of the file that waits, where a form names one of this session."""
        number = typed.get("upload", "")
        if not re.fullmatch(r"[0-9a-f]{32}", number):
            return {}
        waits, taken = (self._folder / f"{self._mark(asks, is_taken=is_taken)}-{number}" for is_taken in (False, True))
        if deed.is_long:  # no longer this session's: it may wait long for its turn, and another one be looked at
            with suppress(FileNotFoundError):
                waits.rename(taken)
        return {"file": next((str(place) for place in (taken, waits) if place.is_file()), "")}

    async def _faulty_rows(self, request: Request) -> Response:
        """Send a file of the rows of an import that have faults."""
        asks = await self._asks(request)
        if asks is None:
            return self._to_sign_in(request)
        upload, what = str(request.path_params["upload"]), request.url.path.rpartition("/")[2]
        state = await self._client.ask("desk-import-state", {"upload": upload}, token=asks.word)
        faulty = state.get("faulty") or {}
        place = Path(faulty.get("folder", "")) / (faulty.get(FAULTY_FILES[what]) or "")
        if not faulty or not place.is_file():
            message = "the rows with faults are kept no more: send the file again, games are recorded once"
            raise RefusedError(problems.problem(404, message))
        name = Path(state["name"]).name.partition(".")[0] or "games"
        ending = "csv" if what != ROWS else _ENDINGS[faulty["said"]["format"]]
        headers = {**safety.headers(AnswerKind.DESK, index=False), "Vary": "Cookie"}
        media = "text/csv; charset=utf-8" if ending == "csv" else "text/plain; charset=utf-8"
        return FileResponse(place, headers=headers, media_type=media, filename=f"{name}-faults.{ending}")

    async def _is_known(self, typed: Typed, asks: SignedIn) -> bool:
        """Return whether a file that waits no longer was confirmed before, as by a button that is pressed twice."""
        if "upload" not in typed or typed.get("file") != "":
            return False
        try:
            state = await self._client.ask("desk-import-state", {"upload": typed["upload"]}, token=asks.word)
        except RefusedError:
            return False
        return bool(state["state"] != "unknown")

    def _mark(self, asks: SignedIn, *, is_taken: bool = False) -> str:
        """Return the prefix of the names of files that wait for a session, or that it has confirmed."""
        return f"{WAITS}{Forms(word=asks.word).token('a file that is taken' if is_taken else 'a file that waits')[:32]}"

    async def _again(
        self,
        request: Request,
        page: DeskPage,
        asks: SignedIn,
        path: Mapping[str, str],
        typed: Typed,
        problem: Problem | None,
    ) -> Response:
        """Return the page of a form with what was typed, and why it was refused."""
        if problem is not None and problem.rule == "session-over":  # it ended meanwhile
            return self._sign_in_form(request, WaitingForm(None, typed, request.url.path), status=401)
        status = 200 if problem is None else problem.status
        return await self._page(
            page, asks, {**_asked_of(page, typed), **path}, typed=typed, problem=problem, status=status
        )

    def _elsewhere(self, leads: Leads) -> Response:
        asked = {**leads.query, **({DONE: leads.said} if leads.said else {})}
        return self._moved(f"{PREFIX}{leads.path}{self._site.asking(asked)}")

    def _moved(self, path: str) -> Response:
        answer = RedirectResponse(f"{self._site.prefix}{path}", 303)
        answer.headers.update(safety.headers(AnswerKind.DESK, index=False))
        return answer

    # -- signing in and out ------------------------------------------------------------------------------------------

    def _to_sign_in(self, request: Request) -> Response:
        path = request.url.path.removeprefix(PREFIX)
        asked = f"{path}?{request.url.query}" if request.url.query else path
        return self._moved(f"{SIGN_IN}?{urlencode({_NEXT: asked})}" if asked else SIGN_IN)

    async def _kept_until_signed_in(self, request: Request) -> Response:
        """Signing in first, with what was typed kept; a file is not."""
        typed = await html_forms.typed(request, self._folder)
        return self._sign_in_form(request, WaitingForm(None, typed, request.url.path), status=401)

    async def _sign_in_page(self, request: Request) -> Response:
        if await self._asks(request) is not None:
            return self._moved(f"{PREFIX}{self._next(request.query_params.get(_NEXT))}")
        return self._sign_in_form(request, WaitingForm(request.query_params.get(_NEXT)))

    def _sign_in_form(
        self,
        request: Request,
        kept: WaitingForm,
        *,
        problem: Problem | None = None,
        status: int = 200,
    ) -> Response:
        visit = self._cookies.read(request, VISIT) or new_visit()
        fault = self._sign_in_fault(request)
        left_out = {FORM_TOKEN, ONCE, "token", "file"}
        shown = {
            "next": self._next(kept.next),
            "kept": {f"{KEPT}{name}": word for name, word in kept.typed.items() if name not in left_out},
            "kept_for": kept.form,
            "fault": fault,
        }
        desk = Desk(session=None, forms=Forms(word=visit), here="/sign-in", problem=problem)
        around = Around(position=0, alarm=self._reader.alarm)
        if fault is not None:
            status = 403
        answer = self._drawn("desk/sign_in.html", Shown(shown=shown, tried=None, desk=desk), around, status)
        self._cookies.put(answer, VISIT, visit)
        return answer

    def _sign_in_fault(self, request: Request) -> str | None:
        """Return why nobody may sign in by this request; None if one may."""
        if self._by_proxy and not request.scope.get(PERSON):
            return "the proxy that signs people in has named nobody: come by its address, and sign in there first"
        return sign_in_fault(self._site.public_url, None if request.client is None else request.client.host or None)

    def _next(self, asked: str | None) -> str:
        """Return the next page of the desk, behind the prefix, with its query; else the first."""
        path, _, query = (asked or "").partition("?")
        if _of_path(path) is None:
            return ""
        words = urlencode(parse_qsl(query)[: html_forms.MOST_FIELDS])
        return f"{quote(path)}?{words}" if words else quote(path)

    async def _sign_in(self, request: Request) -> Response:
        where = self._where(request)
        fault = origin_fault(self._site.public_url, request.headers) or self._sign_in_fault(request)
        if fault is not None:
            raise RefusedError(problems.problem(403, fault))
        typed = await html_forms.typed(request, self._folder)
        visit = self._cookies.read(request, VISIT)
        if visit is None or not Forms(word=visit).takes(SIGN_IN, typed.get(FORM_TOKEN)):
            message = "open the page to sign in anew, and send it from there; cookies must be allowed for this site"
            raise RefusedError(problems.problem(403, message))
        kept = {name.removeprefix(KEPT): word for name, word in typed.items() if name.startswith(KEPT)}
        again = WaitingForm(typed.get(_NEXT), kept, typed.get(KEPT_FOR))
        if self._wrong.are_many:
            async with self._slowly:
                await asyncio.sleep(SLOWLY)
        try:
            words = {"where": where, "person": request.scope.get(PERSON) if self._by_proxy else None}
            begun = await self._client.ask("sign-in", words, token=typed.get("token", "").strip())
        except RefusedError as error:
            if error.problem.status == 401:
                self._wrong.note()
            return self._sign_in_form(request, again, problem=error.problem, status=error.problem.status)
        if (before := self._cookies.read(request, SESSION)) is not None:  # a session that is followed by another ends
            with suppress(RefusedError):
                await self._client.ask("sign-out", {"where": where}, token=before)
        word = str(begun.pop("word"))
        session = Session(**{**begun, "roles": frozenset(begun["roles"])})
        answer = await self._after_signing_in(SignedIn(word, session), again)
        self._cookies.put(answer, SESSION, word)
        self._cookies.take_away(answer, VISIT)
        return answer

    async def _after_signing_in(self, asks: SignedIn, again: WaitingForm) -> Response:
        """Return the requested page; or the form that waited, filled, and not sent."""
        deed = _deed_of((again.form or "").removeprefix(PREFIX))
        if deed is None:
            return self._moved(f"{PREFIX}{self._next(again.next)}")
        page, path = self._pages[deed[0].page], deed[1]
        said = "You are signed in again. Nothing was sent yet: look through what you typed, and send it."
        if deed[0].file is not None:
            said += " The file must be chosen again."
        try:
            asked = {**_asked_of(page, again.typed), **path}
            return await self._page(page, asks, asked, typed=again.typed, said=said)
        except RefusedError as error:  # it was decided meanwhile; the officer is signed in all the same
            around = Around(position=0, alarm=self._reader.alarm)
            return self._drawn("problem.html", error.problem, around, error.problem.status)

    async def _sign_out(self, request: Request) -> Response:
        if (fault := origin_fault(self._site.public_url, request.headers)) is not None:
            raise RefusedError(problems.problem(403, fault))
        asks = await self._asks(request)
        if asks is not None:
            typed = await html_forms.typed(request, self._folder)
            if not Forms(word=asks.word).takes(SIGN_OUT, typed.get(FORM_TOKEN)):
                raise RefusedError(problems.problem(403, "sign out from a page of the desk"))
            await self._client.ask("sign-out", {"where": self._where(request)}, token=asks.word)
        answer = self._moved(SIGN_IN)
        self._cookies.take_away(answer, SESSION)
        answer.headers["Clear-Site-Data"] = '"cache"'
        return answer


# -- words and paths -----------------------------------------------------------------------------------------------


def _parameters(page: DeskPage) -> tuple[Parameter, ...]:
    return (*page.parameters, _DONE)


def _words(words: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the words of the query; a form sends its empty fields, too."""
    return [(name, word) for name, word in words if word]


def _asked_of(page: DeskPage, typed: Typed) -> dict[str, Any]:
    """Return the question of a page whose form is shown again: the typed words that it takes and understands."""
    words = [(parameter.name, typed[parameter.name]) for parameter in page.parameters if typed.get(parameter.name)]
    asked, _ = parse_query(page.parameters, words)
    return asked


def _number(word: Any) -> int:
    text = str(word)
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise HTTPException(404, f"no proposal {text[:50]!r}: expected its number")
    return int(text)


def _matcher(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path))


_PAGES = [(_matcher(page.path), page) for page in PAGES]
_DEEDS = [(_matcher(deed.path), deed) for deed in DEEDS]


def _of_path(path: str) -> DeskPage | None:
    return next((page for matcher, page in _PAGES if matcher.fullmatch(path)), None)


def _deed_of(path: str) -> tuple[Deed, dict[str, str]] | None:
    """Return the form of a path behind the prefix, and the words of that path."""
    for matcher, deed in _DEEDS:
        if path and (match := matcher.fullmatch(path)):
            return deed, match.groupdict()
    return None
