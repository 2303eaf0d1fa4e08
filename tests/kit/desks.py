"""An officer at the desk of a server: signs in with a token, sends forms as a browser does, and looks at pages."""

import re
from collections.abc import Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import httpx

from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.served_processes import PATIENCE, TRUST
from tools.serve.sessions import FORM_TOKEN, ONCE, Forms, new_once


@attrs.define
class Form:
    """A form of a page: where it is sent, and what stands in its fields."""

    action: str
    method: str
    fields: dict[str, str] = attrs.Factory(dict)


class _Forms(HTMLParser):
    """Reads the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._select: str | None = None
        self._text: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.forms.append(Form(named.get("action", ""), named.get("method", "get")))
        elif not self.forms:
            return
        elif tag == "input" and "name" in named:
            if named.get("type") not in {"checkbox", "file"} or "checked" in dict(attributes):
                self.forms[-1].fields[named["name"]] = named.get("value", "")
        elif tag == "select":
            self._select = named["name"]
        elif tag == "textarea":
            self._text = named["name"]
            self.forms[-1].fields[self._text] = ""
        elif tag == "option" and self._select is not None:
            is_first = self._select not in self.forms[-1].fields
            if is_first or "selected" in named:
                self.forms[-1].fields[self._select] = named.get("value", "\0")
        elif tag == "button" and "name" in named:
            self.forms[-1].fields.pop(named["name"], None)

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self.forms[-1].fields[self._text] += data
        if self._select is not None and self.forms and self.forms[-1].fields.get(self._select) == "\0":
            self.forms[-1].fields[self._select] = data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = None
        elif tag == "textarea":
            self._text = None


def forms(page: str) -> list[Form]:
    """The forms of a page."""
    reader = _Forms()
    reader.feed(page)
    return reader.forms


def words(page: str) -> str:
    """The text of a page, as people read it."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


class Officer:
    """Somebody with a browser."""

    def __init__(self, address: str) -> None:
        """Visit the server at an address."""
        self.address = address
        parts = urlsplit(address)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.client = httpx.Client(base_url=address, timeout=PATIENCE, verify=TRUST, headers={"Accept": "text/html"})

    def look(self, path: str, status: int = 200) -> httpx.Response:
        """A page; no address leads elsewhere by itself."""
        answer = self.client.get(path)
        assert answer.status_code == status, words(answer.text)[:2000]
        return answer

    def form(self, page: httpx.Response, action: str) -> Form:
        """The form of a page that is sent to an address, and does something."""
        return next(form for form in forms(page.text) if (form.method, urlsplit(form.action).path) == ("post", action))

    def own_form(self, action: str, **fields: str) -> Form:
        """A form that no page showed this officer, with the token of the session: the library must refuse it."""
        word = next(cookie.value or "" for cookie in self.client.cookies.jar if "session" in cookie.name)
        return Form(action, "post", {FORM_TOKEN: Forms(word=word).token(action), ONCE: new_once(), **fields})

    def send(self, form: Form, typed: Mapping[str, str] | None = None, **more: Any) -> httpx.Response:
        """Send a form with what is typed, from a page of the site."""
        headers = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin", **more.pop("headers", {})}
        return self.client.post(form.action, data={**form.fields, **(typed or {})}, headers=headers, **more)

    def sign_in(self, token: str) -> None:
        """Sign in."""
        answer = self.send(self.form(self.look("/desk/sign-in"), "/desk/sign-in"), {"token": token})
        assert (answer.status_code, answer.headers["location"]) == (303, "/desk"), words(answer.text)[:2000]

    def do(self, path: str, action: str, typed: Mapping[str, str] | None = None, **more: Any) -> httpx.Response:
        """Fill the form of a page, send it, and see where it leads."""
        answer = self.send(self.form(self.look(path), action), typed, **more)
        return self.client.get(answer.headers["location"]) if answer.status_code == 303 else answer


EVIL_NAME = "</td><script>alert(1)</script>\"'&"
EVIL_REASON = '"><img src=x onerror=alert(2)>\u202e{{ 7*7 }}'
GAME, OTHER_GAME = "r1-b1", "r2-b1"
SPRING = "Spring"  # the tournament of the other game


def club_with_officers(path: Path) -> dict[str, str]:
    """Make a club of three players with two games, and the tokens of its officers, by name.

    Eve corrects; adam and otto approve, publish and record; rita records; ada is named and no more.
    """
    with Ledger.create(path) as ledger:
        for identity, name in (("name:ann", "Ann"), ("name:bob", "Bob"), ("name:evil", EVIL_NAME)):
            ledger.register(identity, name)
        ledger.append(game_recorded(GAME, half_moves=60, ended_at="2026-01-10"))
        ledger.append(
            game_recorded(OTHER_GAME, white=2, black=3, half_moves=60, ended_at="2026-02-10", tournament=SPRING)
        )
        adam = ledger.tokens.add("adam", [Role.APPROVER, Role.CORRECTOR, Role.RECORDER])
        others = {
            "eve": [Role.CORRECTOR],
            "otto": [Role.APPROVER, Role.CORRECTOR, Role.RECORDER],
            "rita": [Role.RECORDER],
            "ada": [Role.AUDITOR],
        }
        made = {name: ledger.tokens.add(name, roles, token=adam) for name, roles in others.items()}
        ledger.policies.set("four-eyes", {"on": True}, token=adam)
        ledger.ensure_up_to_date()
    return {"adam": adam, **made}
