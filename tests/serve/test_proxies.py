"""The README's nginx and Caddy before the server, at a prefix and at the root: what comes through, and as what."""

import json
import re
import shutil
import socket
import ssl
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.proxies import KINDS, NAME, PREFIXES, Proxy, free_port, proxy
from tests.kit.raw_http import running, statuses
from tests.kit.served_processes import until
from tools.serve.application import application
from tools.serve.feed import Feed
from tools.serve.middleware import Gate
from tools.serve.readers import Reader
from tools.serve.settings import Serving
from tools.serve.sites import Site

pytestmark = pytest.mark.outside  # nginx and Caddy

Ask = Callable[..., httpx.Response]
Before = Callable[..., tuple[Proxy, Ask]]


@pytest.fixture(name="proxy_folder")
def _proxy_folder() -> Iterator[Path]:
    """A folder that another user may enter, with a name that is short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="proxy"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(name="before")
def _before(proxy_folder: Path) -> Iterator[Before]:
    """Starts a proxy before an application, and gives what asks it."""
    with ExitStack() as open_ones:

        def start(kind: str, prefix: str, make: Callable[[str], Any]) -> tuple[Proxy, Ask]:
            port = free_port()
            serving = Serving(path=Path("club.db"), behind_proxy="unix", public_url=f"https://{NAME}:{port}{prefix}")
            place, own = proxy_folder / "s", proxy_folder / "proxy"
            own.mkdir()
            app = Gate(make(str(serving.public_url)), serving)
            open_ones.enter_context(running(app, serving, place))
            started = open_ones.enter_context(proxy(kind, prefix, place, own, port))
            client = open_ones.enter_context(httpx.Client(verify=started.context(), timeout=30))

            def ask(address: str, method: str = "GET", **more: Any) -> httpx.Response:
                headers = {"Host": f"{NAME}:{port}", **more.pop("headers", {})}
                path = address.removeprefix(f"https://{NAME}:{port}")
                url = f"https://127.0.0.1:{port}{path if path.startswith('/') else prefix + '/' + path}"
                return client.request(method, url, headers=headers, extensions={"sni_hostname": NAME}, **more)

            return started, ask

        yield start


@pytest.fixture(name="public_club")
def _public_club(served: Path) -> Iterator[Callable[[str], Any]]:
    """The application of a real ledger, for a public URL."""
    readers: list[Reader] = []

    def make(public_url: str) -> Any:
        readers.append(Reader(served, Site(public_url=public_url), threads=2))
        return application(readers[-1])

    yield make
    for reader in readers:
        reader.close()


class Echo:
    """Answers with who asks, by what scheme, for what, and with how many bytes; and keeps it."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        told = f"{scope['client'][0]} {scope['scheme']} {scope['path']} {len(body)}".encode()
        self.heard.append(scope["path"])
        headers = [(b"content-length", str(len(told)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": told})


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("kind", KINDS)
def test_links_and_redirects_lead_on_through_the_proxy(
    kind: str, prefix: str, before: Before, public_club: Callable[[str], Any]
) -> None:
    started, ask = before(kind, prefix, public_club)
    first = ask("api/v1/players/ann/games?limit=60")
    assert first.json()["next"].startswith(f"{started.url}/api/v1/players/ann/games?")
    following = ask(first.json()["next"])
    assert (following.status_code, len(following.json()["rows"])) == (200, 46)
    assert ask("api/v1/ranking", headers={"If-None-Match": ask("api/v1/ranking").headers["etag"]}).status_code == 304
    assert ask("api/v1/tournaments/Club%20evening").status_code == 200
    assert ask("api/v1/games/%2320/log").status_code == 200
    assert "max-age=31536000" in first.headers["strict-transport-security"]
    if prefix:
        moved = ask(prefix)
        assert (moved.status_code, moved.headers["location"]) == (308, f"{prefix}/")
    start = ask("")
    places = [urlsplit(place).path for place in re.findall(r'(?:href|src|action)="(/[^"]*)"', start.text)]
    assert (start.status_code, len(places) > 3) == (200, True)
    for place in places:
        assert place.startswith(f"{prefix}/")
        assert ask(place).status_code == 200, place
    moved = ask("players/ann", headers={"Accept": "text/html"})
    assert (moved.status_code // 100, urlsplit(moved.headers["location"]).path.startswith(f"{prefix}/players/")) == (
        3,
        True,
    )
    assert ask(urlsplit(moved.headers["location"]).path).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_who_asks_is_whom_the_proxy_saw_and_not_what_the_client_says(kind: str, before: Before) -> None:
    _, ask = before(kind, "/club", lambda _: Echo())
    lies = {"X-Forwarded-For": "9.9.9.9", "X-Forwarded-Proto": "http", "Forwarded": "for=9.9.9.9"}
    assert ask("a b?c=d", headers=lies).text == "127.0.0.1 https /a b 0"
    assert ask("%C3%A9%25", headers=lies).text == "127.0.0.1 https /é% 0"


@pytest.mark.parametrize("kind", KINDS)
def test_plain_http_leads_people_on_and_programs_nowhere(kind: str, before: Before) -> None:
    started, _ = before(kind, "/club", lambda _: Echo())
    with httpx.Client(base_url=f"http://127.0.0.1:{started.plain}", headers={"Host": NAME}) as client:
        moved = client.get("/club/players/ann?page=2")
        assert (moved.status_code, moved.headers["location"]) == (308, f"https://{NAME}/club/players/ann?page=2")
        assert client.post("/club/api/v1/games", headers={"Authorization": "Bearer rlt_x"}).status_code == 403


@pytest.mark.parametrize("kind", KINDS)
def test_only_today_s_tls_is_spoken(kind: str, before: Before) -> None:
    started, _ = before(kind, "/club", lambda _: Echo())

    def spoken(change: Callable[[ssl.SSLContext], None]) -> tuple[str | None, str]:
        context = started.context()
        change(context)
        with (
            socket.create_connection(("127.0.0.1", started.port), 10) as plain,
            context.wrap_socket(plain, server_hostname=NAME) as client,
        ):
            cipher = client.cipher()
            return client.version(), "" if cipher is None else cipher[0]

    def older(context: ssl.SSLContext) -> None:
        context.maximum_version = ssl.TLSVersion.TLSv1_2

    def weaker(context: ssl.SSLContext) -> None:
        older(context)
        context.set_ciphers("ECDHE+AES:!AESGCM:!AESCCM:@SECLEVEL=0" if kind == "nginx" else "AES128-SHA256:@SECLEVEL=0")

    def oldest(context: ssl.SSLContext) -> None:
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")

    assert spoken(lambda _: None)[0] == "TLSv1.3"
    version, cipher = spoken(older)
    assert (version, cipher.startswith("ECDHE-"), "GCM" in cipher or "CHACHA20" in cipher) == ("TLSv1.2", True, True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the test speaks what nobody should
        for change in (weaker, oldest):
            with pytest.raises(ssl.SSLError):
                spoken(change)


@pytest.mark.parametrize("kind", KINDS)
def test_files_come_through_and_what_is_larger_is_refused(kind: str, before: Before) -> None:
    started, ask = before(kind, "/club", lambda _: Echo())
    assert ask("api/v1/imports", "POST", content=b"x" * 20_000_000).text.endswith(" 20000000")
    assert ask("api/v1/games", "POST", content=b"x" * 2_000_000).status_code == 413
    head = f"POST /club/api/v1/imports HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 300000000\r\n\r\n"
    if kind == "nginx":  # Caddy reads on until it is too much
        assert statuses(started.said(head.encode())) == [413]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_recorded_is_told_at_once_through_the_proxy(
    kind: str, prefix: str, before: Before, served: Path
) -> None:
    readers: list[Reader] = []
    feeds: list[Feed] = []

    def make(public_url: str) -> Any:
        readers.append(Reader(served, Site(public_url=public_url), threads=2))
        feeds.append(Feed(readers[0]))
        return application(readers[0], feed=feeds[0])

    started, ask = before(kind, prefix, make)
    with Ledger.open(served) as ledger:
        position = ledger.journal.size()
        address = f"https://127.0.0.1:{started.port}{prefix}/api/v1/stream"
        with (
            httpx.Client(verify=started.context(), timeout=30) as client,
            client.stream("GET", address, headers={"Host": NAME}, extensions={"sni_hostname": NAME}) as answer,
        ):
            lines = answer.iter_lines()
            assert next(lines) == f"id: {position}"
            for number in range(3):
                ledger.append(game_recorded(f"new-{number}", half_moves=60))
                ledger.ensure_up_to_date()
                line = next(line for line in lines if line.startswith("data: "))
                told = json.loads(line.removeprefix("data: "))
                assert (told["position"], told["key"]) == (position + number + 1, f"game:new-{number}")
    assert len(ask(f"api/v1/entries?after={position}&wait=30").text.splitlines()) == 3
    (news,) = feeds
    until(lambda: news.listeners == 0)  # the proxy tells that the listener went away
    readers[0].close()


@pytest.mark.parametrize("kind", KINDS)
def test_no_request_is_hidden_in_another_one(kind: str, before: Before) -> None:
    """Whatever the proxy makes of it, the server hears what the proxy let through, and answers in the same order."""
    echo = Echo()
    started, _ = before(kind, "/club", lambda _: echo)
    head = f"POST /club/first HTTP/1.1\r\nHost: {NAME}\r\n"
    hidden = f"GET /club/hidden HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n"
    for framing in (
        f"Content-Length: {len(hidden) + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        f"Transfer-Encoding: chunked\r\nContent-Length: {len(hidden) + 5}\r\n\r\n0\r\n\r\n",
        f"Content-Length: 0\r\nContent-Length: {len(hidden)}\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
        "Content-Length : 0\r\n\r\n",
    ):
        echo.heard.clear()
        told = started.said((head + framing + hidden).encode())
        assert statuses(told).count(200) == len(echo.heard), framing
        assert re.findall(rb"https (/\w+) ", told) == [path.encode() for path in echo.heard], framing
        if "Content-Length: 0\r\nC" in framing or ":" not in framing.partition(" ")[0]:
            assert echo.heard == [], framing


@pytest.mark.parametrize("kind", KINDS)
def test_odd_addresses_are_refused_or_nothing_is_there(
    kind: str, before: Before, public_club: Callable[[str], Any]
) -> None:
    started, _ = before(kind, "/club", public_club)
    for target in (
        "/club/../api/v1/pools", "/club/%2e%2e/api/v1/pools", "/club/..%2fapi/v1/pools", "/club/api/v1/players/a%00",
        "/club/api/v1/players/a%0d%0aX:y", "/club/api/v1/players/%c0%af", "/club/api/v1/players/%zz",
        "/club/api/v1/players/..%2f..%2f..%2fetc%2fpasswd", "/api/v1/pools", "/clubapi/v1/pools",
    ):  # fmt: skip
        told = started.said(f"GET {target} HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n".encode())
        assert b"root:" not in told
        assert b'"rows"' not in told
        (status,) = statuses(told)
        # What is outside of the prefix Caddy answers with nothing.
        assert status in {400, 404} or (status, told.partition(b"\r\n\r\n")[2]) == (200, b""), target
