"""What every request passes: whose it is, what two programs could read in two ways, what is too much."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from tests.kit.served_processes import SITE
from tools.serve import limits
from tools.serve.application import application
from tools.serve.clients import Proxies, address_of, counted_as
from tools.serve.limits import Buckets
from tools.serve.middleware import PERSON, Gate
from tools.serve.readers import Reader
from tools.serve.settings import Serving

STRANGER = "203.0.113.5"
PROXY = "10.0.0.2"
Ask = Callable[..., httpx.Response]


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def says_who(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the client and scheme of a request and how many bytes it brought; POST /no is refused."""
    request = Request(scope, receive)
    body = await request.body()
    status = 401 if scope["path"] == "/no" else 200
    client = scope["client"]
    told = f"{client and client[0]} {scope['scheme']} {scope['path']} {len(body)}".encode()
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": told})


@pytest.fixture(name="gate_clock")
def _gate_clock() -> Clock:
    return Clock()


def asking(gate: Gate) -> Ask:
    """Asks behind a gate, as a peer of an address; None is one on a socket of the machine."""

    def ask(address: str, method: str = "GET", peer: str | None = STRANGER, **more: Any) -> httpx.Response:
        async def peered(scope: Scope, receive: Receive, send: Send) -> None:
            scope["client"] = None if peer is None else (peer, 1)
            await gate(scope, receive, send)

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(peered)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.request(method, address, **more)

        return asyncio.run(asked())

    return ask


def gated(clock: Clock | None = None, **settings: Any) -> Ask:
    return asking(Gate(says_who, Serving(path=Path("club.db"), **settings), clock or Clock()))


def raw(gate: Gate, target: bytes, *headers: tuple[bytes, bytes], method: str = "GET", version: str = "1.1") -> int:
    """The status of an answer to an address as it stands, which no client would send."""
    statuses = []
    path, _, query = target.partition(b"?")
    scope = {
        "type": "http", "method": method, "http_version": version, "path": unquote(path.decode()), "raw_path": path,
        "query_string": query, "headers": list(headers), "client": (STRANGER, 1), "scheme": "http",
    }  # fmt: skip

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        statuses.append(message.get("status"))

    asyncio.run(gate(scope, receive, send))
    return int(statuses[0] or 0)


@pytest.mark.parametrize(
    ("behind_proxy", "peer", "forwarded", "who"),
    [
        (None, "127.0.0.1", "9.9.9.9", "127.0.0.1"),  # nobody is trusted, this machine neither
        (None, None, "9.9.9.9", "None"),
        (PROXY, STRANGER, "9.9.9.9", STRANGER),  # another one's word is not taken
        (PROXY, None, "9.9.9.9", "None"),
        (PROXY, PROXY, "9.9.9.9", "9.9.9.9"),
        (PROXY, PROXY, "1.1.1.1, 9.9.9.9", "9.9.9.9"),  # what the client wrote stands first
        ("10.0.0.0/8", "10.1.1.1", "1.1.1.1, 9.9.9.9, 10.2.2.2", "9.9.9.9"),  # two proxies in a row
        ("unix", None, "1.1.1.1, 9.9.9.9", "9.9.9.9"),
        ("unix", "127.0.0.1", "9.9.9.9", "127.0.0.1"),
        ("unix,10.0.0.2", None, "9.9.9.9, 10.0.0.2", "9.9.9.9"),
        (PROXY, PROXY, "unknown", PROXY),
        (PROXY, PROXY, "9.9.9.9, " + "9" * 10_000, PROXY),
        (PROXY, PROXY, "9.9.9.9, _hidden", PROXY),
        (PROXY, PROXY, "[2001:db8::7]:4711", "2001:db8::7"),
        (PROXY, "::ffff:10.0.0.2", "9.9.9.9:80", "9.9.9.9"),
        ("unix", None, None, "None"),
    ],
)
def test_who_asks_is_said_by_the_proxy_that_was_named_and_by_nobody_else(
    behind_proxy: str | None, peer: str | None, forwarded: str | None, who: str
) -> None:
    headers = {"X-Forwarded-Proto": "https"} | ({} if forwarded is None else {"X-Forwarded-For": forwarded})
    told = gated(behind_proxy=behind_proxy)("/", peer=peer, headers=headers).text.split()
    trusted = Proxies.of(behind_proxy).trusts(peer)
    assert told[:2] == [who, "https" if trusted else "http"]


@pytest.mark.parametrize(
    ("peer", "headers", "person"),
    [
        (PROXY, {"Remote-User": "eve"}, "eve"),
        (PROXY, {"remote-user": "Zoë".encode()}, "Zoë"),
        (PROXY, {}, None),
        (PROXY, [("Remote-User", "eve"), ("Remote-User", "adam")], None),  # one of the two is made up
        (STRANGER, {"Remote-User": "eve"}, None),
        (None, {"Remote-User": "eve"}, None),
    ],
)
def test_who_is_signed_in_is_said_by_the_proxy_that_was_named_and_by_nobody_else(
    peer: str | None, headers: Any, person: str | None
) -> None:
    signed_in = []

    async def notes(scope: Scope, receive: Receive, send: Send) -> None:
        signed_in.append(scope[PERSON])
        await says_who(scope, receive, send)

    settings = Serving(path=Path("club.db"), behind_proxy=PROXY, person_header="Remote-User")
    asking(Gate(notes, settings, Clock()))("/", peer=peer, headers=headers)
    asking(Gate(notes, Serving(path=Path("club.db"), behind_proxy=PROXY), Clock()))("/", peer=peer, headers=headers)
    assert signed_in == [person, None]


def test_clients_are_counted_by_address_and_of_ipv6_by_network_and_this_machine_is_not() -> None:
    assert counted_as("2001:db8:1:2:3:4:5:6") == counted_as("2001:db8:1:2::9") == "2001:db8:1:2::"
    assert counted_as("::ffff:203.0.113.5") == counted_as("203.0.113.5") == STRANGER
    assert [counted_as(word) for word in ("127.0.0.1", "127.9.9.9", "::1", None, "testclient")] == [None] * 5
    assert address_of("fe80::1%eth0") == address_of("[fe80::1]:80")


def test_a_client_that_asks_too_often_waits_and_others_do_not(gate_clock: Clock) -> None:
    ask = gated(gate_clock, rate=60)
    assert [ask("/").status_code for _ in range(11)] == [200] * 10 + [429]
    refused = ask("/")
    assert (refused.headers["retry-after"], refused.headers["content-type"]) == ("1", "application/problem+json")
    assert refused.json()["detail"] == "too many requests: ask less often"
    assert ask("/", peer="203.0.113.6").status_code == 200
    assert {ask("/", peer="127.0.0.1").status_code for _ in range(30)} == {200}
    gate_clock.now += 4
    assert [ask("/", "POST").status_code for _ in range(2)] == [200, 429], "what writes counts as four"
    assert {gated(gate_clock, rate=0)("/").status_code for _ in range(30)} == {200}


def test_addresses_of_one_ipv6_network_are_one_client(gate_clock: Clock) -> None:
    ask = gated(gate_clock, rate=60)
    statuses = [ask("/", peer=f"2001:db8::{number:x}").status_code for number in range(11)]
    assert statuses == [200] * 10 + [429]
    assert ask("/", peer="2001:db8:0:1::1").status_code == 200


def test_a_client_whose_credentials_were_refused_too_often_may_only_look(gate_clock: Clock) -> None:
    ask = gated(gate_clock)
    assert [ask("/no", "POST").status_code for _ in range(11)] == [401] * 10 + [429]
    token = {"Authorization": "Bearer rlt_guess"}
    assert ask("/", headers=token).status_code == 429
    assert ask("/").status_code == 200
    assert int(ask("/no", "POST").headers["retry-after"]) == 12
    gate_clock.now += 12
    assert [ask("/no", headers=token).status_code for _ in range(2)] == [401, 429]


def test_what_is_remembered_of_clients_is_bounded() -> None:
    buckets = Buckets(1, 5, clients=100, clock=Clock())
    for number in range(10_000):
        buckets.take(f"client {number}")
    assert len(buckets) == 100


def test_one_client_is_answered_so_many_times_at_once() -> None:
    gate = Gate(says_who, Serving(path=Path("club.db")))
    held = asyncio.Event()

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        await held.wait()
        await says_who(scope, receive, send)

    async def asked() -> list[int]:
        gate.app = waiting
        transport = httpx.ASGITransport(gate, client=(STRANGER, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            tasks = [asyncio.create_task(client.get("/")) for _ in range(limits.AT_ONCE)]
            while gate.at_once[STRANGER] < limits.AT_ONCE:
                await asyncio.sleep(0)
            statuses = [(await client.get("/")).status_code]
            held.set()
            return statuses + [answer.status_code for answer in await asyncio.gather(*tasks)]

    assert asyncio.run(asked()) == [429] + [200] * limits.AT_ONCE
    assert not gate.at_once


def in_parts(size: int, part: int = 100_000) -> AsyncIterator[bytes]:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(0, size, part):
            yield b"x" * part

    return parts()


@pytest.fixture(name="served_by")
def _served_by(answering: Reader) -> Callable[..., Ask]:
    return lambda **settings: asking(Gate(application(answering), Serving(path=answering.path, **settings)))


def test_a_body_that_is_too_large_is_refused_before_it_is_read() -> None:
    read: list[int] = []

    async def reads(scope: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive())["more_body"]:
            read.append(len(message["body"]))

    ask = asking(Gate(reads, Serving(path=Path("club.db"))))
    answer = ask("/", "POST", content=in_parts(100), headers={"Content-Length": "1048577"})
    assert (answer.status_code, read) == (413, [])
    assert answer.json()["detail"] == "the body has more than 1,048,576 bytes: send it in parts"


def test_a_body_that_does_not_say_how_large_it_is_is_read_no_further_than_it_may_be() -> None:
    read: list[int] = []

    async def reads(scope: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive()).get("more_body"):
            read.append(len(message["body"]))

    ask = asking(Gate(reads, Serving(path=Path("club.db"))))
    assert ask("/", "POST", content=in_parts(9_000_000)).status_code == 413
    assert sum(read) <= limits.BODY_BYTES


def test_files_may_be_as_large_as_the_settings_say() -> None:
    ask = gated(largest_upload=2)
    assert ask("/api/v1/imports", "POST", content=b"x" * 2_000_000).text.endswith(" 2000000")
    assert ask("/api/v1/imports", "POST", content=b"x" * 2_100_000).status_code == 413
    assert ask("/api/v1/games", "POST", content=b"x" * 2_000_000).status_code == 413


def test_a_body_that_comes_too_slowly_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_GRACE", 0.05)

    async def slow() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.02)

    gate = Gate(says_who, Serving(path=Path("club.db")))
    answer = asking(gate)("/", "POST", content=slow())
    assert (answer.status_code, answer.headers["connection"]) == (408, "close")
    assert not gate.at_once


def test_long_addresses_and_headers_are_refused(served_by: Callable[..., Ask]) -> None:
    ask = served_by()
    assert ask("/api/v1/players?q=" + "x" * 7_900).status_code == 400, "long, yet it is the answer's to say"
    assert ask("/api/v1/players?q=" + "x" * 8_000).status_code == 414
    assert ask("/api/v1/pools", headers={"X-Long": "x" * 17_000}).status_code == 431
    assert ask("/api/v1/pools", headers={f"X-{n}": "x" for n in range(101)}).status_code == 431


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"http://server/api/v1/pools", 200),  # a server takes it, whose name stands there means nothing
        (b"HTTPS://elsewhere.example/api/v1/pools?limit=2", 200),
        (b"http://server", 200),
        (b"server:80", 400),
        (b"*", 400),
        (b"//api/v1/pools", 404),
        (b"//elsewhere.example/api/v1", 404),
        (b"/api/v1//pools", 404),
        (b"/api/v1/pools/", 404),
        (b"/api/v1/../v1/pools", 400),
        (b"/api/v1/players/..", 400),
        (b"/api/v1/players/%2e%2e/games", 400),
        (b"/api/v1/players/%2E", 400),
        (b"/api/v1/players/a%2Fgames", 400),
        (b"/api/v1/players/a%2fb", 400),
        (b"/desk%2Fqueue", 400),
        (b"/games/a%2Fb", 404),  # keys of games may have one
        (b"/boards/a%2fb", 404),
        (b"/games/a%2F..%2Fb", 400),
        (b"/api/v1/players/a%00", 400),
        (b"/api/v1/players/a%0d%0aSet-Cookie:x", 400),
        (b"/api/v1/players/%c0%af", 400),  # a slash in two bytes
        (b"/api/v1/players/%ed%a0%80", 400),  # half a letter of UTF-16
        (b"/api/v1/players/%zz", 400),
        (b"/api/v1/players/100%", 400),
        (b"/api/v1/players/%25zz", 404),
        (b"/api/v1/players?q=a%00b", 400),
        (b"/api/v1/players?q=ann%0d%0aX:%20y", 400),
        (b"/api/v1/players?q=ann%c0%af", 400),
        (b"/api/v1/players?q=%", 400),
        (b"/api/v1/players?q=ann/../bob", 200),
        (b"/api/v1/players?q=..%2F..%2Fetc", 200),  # words, not a path
    ],
)
def test_an_address_that_two_programs_could_read_in_two_ways_is_refused(
    target: bytes, status: int, answering: Reader
) -> None:
    gate = Gate(application(answering), Serving(path=answering.path))
    assert raw(gate, target) == status


@pytest.mark.parametrize(
    ("method", "version", "headers", "status"),
    [
        ("POST", "1.1", [(b"content-length", b"3"), (b"transfer-encoding", b"chunked")], 400),
        ("POST", "1.0", [(b"transfer-encoding", b"chunked")], 400),
        ("POST", "1.1", [(b"content-length", b"3"), (b"content-length", b"4")], 400),
        ("POST", "1.1", [(b"content-length", b"+3")], 400),
        ("GET", "1.1", [(b"content-length", b"3")], 400),
        ("HEAD", "1.1", [(b"transfer-encoding", b"chunked")], 400),
        ("GET", "1.1", [(b"content-length", b"0")], 200),
        ("GET", "2.0", [], 505),
        ("GET", "1.1", [(b"host", b"[")], 400),
        ("GET", "1.1", [(b"host", b"[::::]")], 400),
        ("GET", "1.1", [(b"host", b"a/b")], 400),
        ("GET", "1.1", [(b"host", b"a@b")], 400),
        ("GET", "1.1", [(b"host", b"[2001:db8::1]:443")], 200),
        ("GET", "1.1", [(b"host", b"ratings.example.org:8000")], 200),
    ],
)
def test_a_request_of_which_two_programs_see_the_end_in_two_places_is_refused(
    method: str, version: str, headers: list[tuple[bytes, bytes]], status: int
) -> None:
    gate = Gate(says_who, Serving(path=Path("club.db")))
    assert raw(gate, b"/", *headers, method=method, version=version) == status


def test_options_and_other_methods_are_answered_with_those_that_may_be(served_by: Callable[..., Ask]) -> None:
    ask = served_by()
    preflight = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"}
    allowed = ask("/api/v1/pools", "OPTIONS", headers=preflight)
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, "*")
    assert "POST" not in allowed.headers["access-control-allow-methods"]
    writes = ask("/api/v1/games", "OPTIONS", headers={**preflight, "Access-Control-Request-Method": "POST"})
    assert writes.status_code == 400, "other sites may not write"
    for method in ("OPTIONS", "DELETE", "PUT", "PATCH", "TRACE", "CONNECT", "BREW"):
        answer = ask("/api/v1/pools", method)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("address", ["/api/v1/pools", "/api/v1/none", "/nothing", "/api/v1/players/%00", "/api/v1?x=1"])
def test_every_answer_has_the_headers_that_keep_browsers_from_guessing(
    address: str, served_by: Callable[..., Ask]
) -> None:
    headers = served_by()(address, headers={"Origin": "https://elsewhere.example"}).headers
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] in {"no-cache", "no-store"}
    assert headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in headers


def test_links_come_from_the_settings_and_never_from_the_request(served_by: Callable[..., Ask]) -> None:
    lies = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Prefix": "/evil",
            "Forwarded": "host=evil.example"}  # fmt: skip
    answer = served_by(behind_proxy=STRANGER)("/api/v1/players/ann/games?limit=1", headers=lies)
    assert answer.json()["next"].startswith(f"{SITE}/api/v1/")
    assert "evil" not in answer.text + str(answer.headers)
