"""The desk against whoever is not to be there: other sites, former officers, other roles, and what a form can carry."""

import asyncio
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs
import httpx
import pytest
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.types import Message

from ledger.auth.sessions import form_token
from ledger.correcting.verbs import VERBS
from ledger.errors import UnknownNameError
from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.served_processes import ask_server, position, serving, until
from tools.serve import html_forms
from tools.serve.desk import DEEDS, Deed
from tools.serve.desk import PAGES as DESK_PAGES
from tools.serve.problems import RefusedError
from tools.serve.sessions import FORM_TOKEN, ONCE, Forms, new_once

pytestmark = pytest.mark.slow  # the processes of a server

SITE = "https://ratings.example.org"
OWN = {"Origin": SITE, "Sec-Fetch-Site": "same-origin"}
PAGES = (
    "",
    "/import",
    "/players",
    "/players/alike",
    "/propose",
    "/propose/annul",
    "/batch",
    "/queue",
    "/publish",
    "/history",
)


@attrs.define
class Browser:
    """Somebody who visits the desk, and the cookies that were given."""

    address: str
    cookies: dict[str, str] = attrs.Factory(dict)
    signed_in: dict[str, str] = attrs.Factory(dict)  # what a proxy that signs people in says of the visitor

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        cookie = {"Cookie": "; ".join(f"{name}={word}" for name, word in self.cookies.items())} if self.cookies else {}
        shown = {"Accept": "text/html", **self.signed_in, **cookie, **(headers or {})}
        answer = ask_server(method, f"{self.address}/desk{path}", headers=shown, **more)
        for line in answer.headers.get_list("set-cookie"):
            name, _, word = line.split(";")[0].partition("=")
            if "Max-Age=0" in line:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = word
        return answer

    def fields(self, path: str, action: str) -> dict[str, str]:
        """The hidden fields of the form of a page that is sent to an address."""
        page = self.ask("GET", path).text
        (form,) = re.findall(rf'<form[^>]*action="/desk{re.escape(action)}"[^>]*>(.*?)</form>', page, re.DOTALL)
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
        return {name: unescape(word) for name, word in hidden}

    def own_fields(self, action: str) -> dict[str, str]:
        """The hidden fields of a form that no page shows this visitor, with the token of the session."""
        word = next(word for name, word in self.cookies.items() if "session" in name)
        return {FORM_TOKEN: Forms(word=word).token(f"/desk{action}"), ONCE: new_once()}

    def sign_in(self, token: str, **more: str) -> httpx.Response:
        return self.ask("POST", "/sign-in", OWN, data={**self.fields("/sign-in", "/sign-in"), "token": token, **more})


@pytest.fixture(name="officers", scope="module")
def _officers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("desk") / "club.db"
    return path, club_of_officers(path)


def club_of_officers(path: Path) -> dict[str, str]:
    """Make a club with a game; the tokens of its officers."""
    with Ledger.create(path) as ledger:
        ledger.register("name:ann", "Ann")
        ledger.register("name:bob", "Bob")
        ledger.append(game_recorded("r1", half_moves=60, ended_at="2026-01-10"))
        adam = ledger.tokens.add("adam", [Role.APPROVER, Role.CORRECTOR, Role.RECORDER])
        made = {name: ledger.tokens.add(name, [role], token=adam) for name, role in (
            ("eve", Role.CORRECTOR), ("ada", Role.AUDITOR), ("gone", Role.CORRECTOR), ("otto", Role.APPROVER),
        )}  # fmt: skip
        ledger.ensure_up_to_date()
    return {"adam": adam, **made}


@pytest.fixture(name="desk_address", scope="module")
def _desk_address(officers: tuple[Path, dict[str, str]]) -> Iterator[str]:
    with serving(officers[0], "--listen", "127.0.0.1:0", "--public-url", SITE, "--behind-proxy", "127.0.0.9") as (
        process,
        _,
    ):
        port = _port(process.pid)
        address = f"http://127.0.0.1:{port}"
        until(lambda: position(address) > 0)
        yield address


def _port(pid: int) -> int:
    """The port at which a process listens; it tells its public address alone."""
    links = {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in links:
            return int(words[1].partition(":")[2], 16)
    raise AssertionError


@pytest.fixture(name="eve")
def _eve(desk_address: str, officers: tuple[Path, dict[str, str]]) -> Browser:
    browser = Browser(desk_address)
    assert browser.sign_in(officers[1]["eve"]).status_code == 303
    return browser


def session(browser: Browser) -> str:
    return next(word for name, word in browser.cookies.items() if "session" in name)


def test_the_cookie_of_a_session_is_for_this_host_over_tls_and_for_no_script(
    desk_address: str, officers: tuple[Path, dict[str, str]]
) -> None:
    browser = Browser(desk_address)
    answer = browser.sign_in(officers[1]["eve"])
    lines = [line for line in answer.headers.get_list("set-cookie") if "Max-Age=0" not in line]
    assert len(lines) == 1
    name, word = lines[0].split(";")[0].split("=")
    flags = {flag.strip().lower() for flag in lines[0].split(";")[1:]}
    assert name.startswith("__Host-")
    assert {"secure", "httponly", "path=/", "samesite=lax"} <= flags
    assert not [flag for flag in flags if flag.startswith("domain")]
    assert len(re.sub(r"[^A-Za-z0-9_-]", "", word)) * 6 >= 128
    assert officers[1]["eve"] not in str(answer.headers) + answer.text + word


def test_each_sign_in_has_a_word_of_its_own_and_ends_the_one_before(eve: Browser, officers: tuple[Path, Any]) -> None:
    first = session(eve)
    visit = Browser(eve.address, dict(eve.cookies))
    until(lambda: visit.ask("GET", "").status_code == 200)
    fresh = Browser(eve.address)
    fields = fresh.fields("/sign-in", "/sign-in")
    both = Browser(eve.address, {**eve.cookies, **fresh.cookies})
    answer = both.ask("POST", "/sign-in", OWN, data={**fields, "token": officers[1]["eve"]})
    assert (answer.status_code, session(both) != first) == (303, True)
    assert visit.ask("GET", "").status_code == 303, "the session that signed in again is over"
    assert both.ask("GET", "").status_code == 200


def test_a_word_that_somebody_else_chose_is_no_session(desk_address: str, eve: Browser) -> None:
    name = next(name for name in eve.cookies if "session" in name)
    for word in ("x", "a" * 43, session(eve)[:-1] + ("A" if session(eve)[-1] != "A" else "B"), "", "a" * 5_000):
        assert Browser(desk_address, {name: word}).ask("GET", "").status_code == 303


def test_behind_a_proxy_that_signs_people_in_the_token_is_the_person_s_own(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_of_officers(club)
    words = ("--listen", "127.0.0.1:0", "--public-url", SITE, "--behind-proxy", "127.0.0.1")
    with serving(club, *words, "--person-header", "Remote-User") as (process, _):
        address = f"http://127.0.0.1:{_port(process.pid)}"
        until(lambda: position(address) > 0)
        assert "come by its address" in Browser(address).ask("GET", "/sign-in").text

        def by(person: str, browser: Browser) -> Browser:
            browser.signed_in = {"Remote-User": person}
            return browser

        other = by("adam", Browser(address)).sign_in(tokens["eve"])
        assert (other.status_code, "the token is of somebody else" in unescape(other.text)) == (403, True)
        eve = by("EVE", Browser(address))
        assert (eve.sign_in(tokens["eve"]).status_code, eve.ask("GET", "").status_code) == (303, 200)
        assert by("adam", eve).ask("GET", "").status_code == 303, "a stolen cookie is no sign-in of its own"
        assert by("eve", eve).ask("GET", "").status_code == 200
        eve.signed_in = {}
        assert eve.ask("GET", "").status_code == 303
    with Ledger.open(club, follow=False) as ledger:
        assert [row.rule for row in ledger.tokens.log()].count("not-this-name") == 1


def test_who_signed_out_cannot_go_on(eve: Browser) -> None:
    kept = dict(eve.cookies)
    answer = eve.ask("POST", "/sign-out", OWN, data=eve.fields("", "/sign-out"))
    assert (answer.status_code, answer.headers["clear-site-data"]) == (303, '"cache"')
    assert not [name for name in eve.cookies if "session" in name]
    assert Browser(eve.address, kept).ask("GET", "/queue").status_code == 303


def test_a_session_ends_when_its_token_is_revoked(desk_address: str, officers: tuple[Path, dict[str, str]]) -> None:
    browser = Browser(desk_address)
    assert browser.sign_in(officers[1]["gone"]).status_code == 303
    assert browser.ask("GET", "").status_code == 200
    with Ledger.open(officers[0]) as ledger:
        ledger.tokens.revoke("gone", token=officers[1]["adam"])
    until(lambda: browser.ask("GET", "").status_code == 303)
    assert browser.sign_in(officers[1]["gone"]).status_code == 401


def test_a_wrong_token_is_refused_and_noted_without_it(
    desk_address: str, officers: tuple[Path, dict[str, str]]
) -> None:
    answer = Browser(desk_address).sign_in("rlt_guessed-by-a-stranger")
    assert answer.status_code == 401
    assert "guessed-by" not in answer.text
    with Ledger.open(officers[0]) as ledger:
        noted = str(ledger.tokens.log())
    assert "sign" in noted
    assert "guessed-by" not in noted


@pytest.mark.parametrize(
    "leads", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/../x"]
)
def test_signing_in_leads_to_the_desk_alone(
    leads: str, desk_address: str, officers: tuple[Path, dict[str, str]]
) -> None:
    answer = Browser(desk_address).sign_in(officers[1]["eve"], next=leads)
    assert answer.headers["location"] == "/desk"


def test_the_field_of_the_token_hides_it_and_takes_what_is_pasted(desk_address: str) -> None:
    page = Browser(desk_address).ask("GET", "/sign-in").text
    (field,) = re.findall(r'<input id="token"[^>]*>', page)
    assert 'type="password"' in field
    assert not re.search(r"readonly|onpaste|maxlength|pattern", field)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
        {"Origin": SITE, "Sec-Fetch-Site": "cross-site"},
        {"Origin": SITE, "Sec-Fetch-Site": "same-site"},
        {"Origin": "http://ratings.example.org"},
        {"Origin": "https://ratings.example.org.evil.example"},
        {"Origin": "https://ratings.example.org:444"},
    ],
)
def test_forms_of_other_sites_are_refused_however_they_are_filled(headers: dict[str, str], eve: Browser) -> None:
    fields = eve.fields("/propose/annul", "/propose/annul")
    assert (
        eve.ask("POST", "/propose/annul", headers, data={**fields, "about": "game:r1", "reason": "x"}).status_code
        == 403
    )
    assert eve.ask("POST", "/sign-out", headers, data=eve.fields("", "/sign-out")).status_code == 403
    assert Browser(eve.address).ask("POST", "/sign-in", headers, data={"token": "x"}).status_code == 403


def test_a_form_needs_the_token_that_was_made_for_it_and_its_session(eve: Browser, officers: tuple[Path, Any]) -> None:
    adam = Browser(eve.address)
    adam.sign_in(officers[1]["adam"])
    own, others = eve.fields("/propose/annul", "/propose/annul"), adam.fields("/propose/annul", "/propose/annul")
    elsewhere = eve.fields("", "/sign-out")
    for fields in ({}, {"form_token": ""}, {"form_token": "x" * 43}, others, elsewhere):
        answer = eve.ask("POST", "/propose/annul", OWN, data={**fields, "about": "game:r1", "reason": "x"})
        assert answer.status_code == 403
    assert own != others


def test_nothing_is_done_by_looking(eve: Browser, officers: tuple[Path, dict[str, str]]) -> None:
    def head() -> int:
        with Ledger.open(officers[0]) as ledger:
            return ledger.head().size

    before = head()
    asked = "?about=game:r1&reason=x&name=Zed&identity=name:zed&decision=approved"
    for path in (
        "/sign-out",
        "/import/confirm",
        "/propose/annul",
        "/players/add",
        "/players/rename",
        "/players/describe",
        "/publish",
    ):
        for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE"):
            eve.ask(method, f"{path}{asked}")
    assert head() == before
    assert eve.ask("GET", "").status_code == 200, "still signed in"


def test_a_session_is_worth_nothing_outside_of_the_desk(eve: Browser) -> None:
    cookie = {"Cookie": "; ".join(f"{name}={word}" for name, word in eve.cookies.items()), **OWN}
    answer = httpx.post(f"{eve.address}/api/v1/games", headers=cookie, json={})
    assert answer.status_code in {401, 404, 405}
    told = httpx.get(f"{eve.address}/api/v1/corrections", headers={**cookie, "Origin": "https://evil.example"})
    assert "access-control-allow-credentials" not in told.headers


@pytest.mark.parametrize("path", PAGES)
def test_each_page_is_kept_by_nobody_and_can_be_left(path: str, eve: Browser) -> None:
    answer = eve.ask("GET", path)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers
    assert "Sign out" in answer.text
    assert session(eve) not in answer.text
    assert Browser(eve.address).ask("GET", path).headers["location"].startswith("/desk/sign-in")


def test_roles_hold_at_the_desk_too(desk_address: str, officers: tuple[Path, dict[str, str]]) -> None:
    ada = Browser(desk_address)
    ada.sign_in(officers[1]["ada"])
    answer = ada.ask(
        "POST",
        "/players/add",
        OWN,
        data={**ada.own_fields("/players/add"), "name": "Zed", "identity": "name:zed", "standing": "full"},
    )
    assert answer.status_code in {403, 409}
    with Ledger.open(officers[0]) as ledger, pytest.raises(UnknownNameError):
        ledger.player("name:zed")


def test_fields_that_a_form_does_not_have_change_nothing_and_no_file_is_named_by_a_field(
    eve: Browser, tmp_path: Path, officers: tuple[Path, dict[str, str]]
) -> None:
    """What is uploaded lies where the server put it: a field that looks like its place is none."""
    precious = tmp_path / "precious"
    precious.write_text('[Event "x"]\n', "utf-8")
    sent = {"file": str(precious), "filename": "x.pgn", "by": "adam", "token": officers[1]["adam"], "session": "x"}
    for action in ("/import", "/batch", "/players/add"):
        answer = eve.ask("POST", action, OWN, data={**eve.own_fields(action), **sent, "name": "Ann", "reason": "x"})
        assert answer.status_code in {200, 303, 400, 403, 404, 409}
        assert precious.read_text("utf-8") == '[Event "x"]\n'
        assert "[Event" not in answer.text
    eve.ask("POST", "/import", OWN, data=sent)
    assert precious.exists(), "nor by a form without its token"
    assert officers[0].exists()


def test_a_file_is_kept_under_a_name_of_the_servers_own(eve: Browser, officers: tuple[Path, dict[str, str]]) -> None:
    for name in ("../../evil.pgn", "/etc/cron.d/evil", "a\\..\\b.pgn", "x\0y.pgn"):
        files = {"file": (name, b'[Event "x"]\n\n1-0\n', "text/plain")}
        answer = eve.ask("POST", "/import", OWN, data=eve.fields("/import", "/import"), files=files)
        assert answer.status_code < 500
        assert "/rating-ledger-" not in answer.text, "where it lies is nobody's business"
    assert not Path("/etc/cron.d/evil").exists()
    assert not (officers[0].parent / "evil.pgn").exists()


def form_sent(body: bytes, media: str) -> Request:
    """A form as the desk is sent one."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", media.encode())]
    return Request({"type": "http", "method": "POST", "path": "/desk/import", "headers": headers}, receive)


FILE = (
    b"""--x
Content-Disposition: form-data; name="file"; filename="large.pgn"

%b
--x
Content-Disposition: form-data; name="source"

lichess
--x--
""".replace(b"\n", b"\r\n")
    % (b"1-0\n" * 500_000)
)


@pytest.mark.quick
def test_of_the_file_of_who_is_not_signed_in_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[int]()

    async def write(_: UploadFile, data: bytes) -> None:
        written.append(len(data))

    monkeypatch.setattr(UploadFile, "write", write)
    sent = form_sent(FILE, "multipart/form-data; boundary=x")
    assert asyncio.run(html_forms.typed(sent, tmp_path)) == {"source": "lichess"}
    assert (written, list(tmp_path.iterdir())) == ([], [])


@pytest.mark.quick
def test_a_file_for_which_there_is_no_room_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sent = form_sent(FILE, "multipart/form-data; boundary=x")
    with pytest.raises(RefusedError) as refused:
        asyncio.run(html_forms.typed(sent, tmp_path / "gone", "file"))
    assert refused.value.problem.status == 503
    assert "a file that was sent cannot be kept: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("charset", ["unicode_escape", "punycode", "utf-16", "no-such", "utf-8; charset=hex"])
def test_a_form_is_read_in_utf_8_alone(charset: str, desk_address: str) -> None:
    stranger = Browser(desk_address)
    fields = {**stranger.fields("/sign-in", "/sign-in"), "token": "\\ud800"}
    body = "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{fields[name]}\r\n' for name in fields)
    for path in ("/sign-in", "/import"):
        headers = {**OWN, "Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
        assert stranger.ask("POST", path, headers, content=f"{body}--x--\r\n".encode()).status_code == 415


ODD_WORDS = (
    "9" * 5_000,
    "-1",
    "\u00b2",
    "\u0661",
    "\x00",
    "\ud83d\ude00" * 50,
    "x" * 60_000,
    "\r\nX: y",
    "%",
    "{{ 7 }}",
)


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.path)
def test_no_word_in_a_form_breaks_the_desk(
    deed: Deed, desk_address: str, officers: tuple[Path, dict[str, str]]
) -> None:
    adam = Browser(desk_address)
    assert adam.sign_in(officers[1]["adam"]).status_code == 303
    for place, verb in [
        (deed.path.replace("{number}", "1"), verb) for verb in (VERBS if "{verb}" in deed.path else [""])
    ]:
        action = place.replace("{verb}", verb)
        page = adam.ask("GET", deed.page.replace("{verb}", verb).replace("{number}", "1")).text
        names = set(re.findall(r'name="([a-z_.]+)"', page)) - {"form_token", "once", "q"}
        made = _token(adam, f"/desk{action}")
        for word in ODD_WORDS:
            fields = {
                "form_token": made,
                "once": "x",
                **{name: word.encode("utf-8", "replace").decode() for name in names},
            }
            answer = adam.ask("POST", action, OWN, data=fields)
            assert answer.status_code < 500, f"{action} {word[:20]!r}"
            assert answer.status_code != 403, "it was read"


def _token(browser: Browser, form: str) -> str:
    return form_token(session(browser), form)


@pytest.mark.parametrize("page", [page.path for page in DESK_PAGES if "{" in page.path])
def test_no_word_in_an_address_breaks_the_desk(page: str, eve: Browser) -> None:
    for word in ODD_WORDS:
        if len(word) < 6_000:
            quoted = quote(word.encode("utf-8", "replace").decode(), safe="")
            assert eve.ask("GET", re.sub(r"{\w+}", lambda _: quoted, page)).status_code < 500  # noqa: B023
