"""Connections as they come: slow ones, too many, too large ones, and words that are no HTTP."""

import asyncio
import json
import socket
import sqlite3
import time
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.raw_http import connected, everything, running, said, said_before_cut_off, statuses
from tests.kit.served_processes import until
from tools.serve import connections, limits
from tools.serve.application import application
from tools.serve.middleware import Gate
from tools.serve.readers import Reader
from tools.serve.settings import Serving

SLOW = b"GET / HTTP/1.1\r\nHost: server\r\nX-Slow: " + b"x" * 400  # at 20 bytes a second
HOST = b"Host: server\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
ANSWERED = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
LAST = b"GET /last HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the path and the size of the body; /huge with 40 MB, /unread without reading."""
    body = b"" if scope["path"] == "/unread" else await Request(scope, receive).body()
    told = b"x" * 40_000_000 if scope["path"] == "/huge" else f"{scope['path']} {len(body)}".encode()
    headers = [(b"content-length", str(len(told)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": told})


async def endless(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers for ever."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        await asyncio.sleep(0)


GATED = Gate(echo, Serving(path=Path("club.db")))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "LOOKS_EVERY", 0.05)
    monkeypatch.setattr(limits, "LINGER", 0.3)


def test_who_is_slow_with_the_headers_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEAD_WITHIN", 0.5)
    with running(GATED) as (_, port), connected(port) as client, connected(port) as silent:
        assert 1 < said_before_cut_off(client, SLOW, 0.05) < len(SLOW)
        assert everything(silent) == b""


def test_who_is_slow_with_the_headers_of_a_second_request_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEAD_WITHIN", 0.5)
    with running(GATED) as (_, port), connected(port) as client:
        for _ in range(3):  # each has its time anew
            client.sendall(ANSWERED)
            told = b""
            while not told.endswith(b"/ 0"):
                told += client.recv(1_000)
            time.sleep(0.3)
        assert 1 < said_before_cut_off(client, SLOW, 0.05) < len(SLOW)


def test_who_is_slow_with_the_body_is_told_so_and_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_GRACE", 0.4)

    with running(GATED) as (_, port), connected(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\nabc")
        assert statuses(everything(client)) == [408]
        client.close()
    with running(GATED) as (_, port), connected(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n")
        assert said_before_cut_off(client, SLOW, 0.05) < len(SLOW)


def test_who_still_sends_after_the_answer_is_cut_off_and_has_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(echo) as (_, port), connected(port) as client:
        client.sendall(b"POST /unread HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000\r\n\r\n")
        assert statuses(client.recv(1_000)) == [200]
        assert said_before_cut_off(client, SLOW, 0.05) < len(SLOW)


def test_who_does_not_take_an_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANSWER_GRACE", 0.5)
    monkeypatch.setattr(limits, "LEAST_RATE", 10**9)
    with running(echo) as (server, port), connected(port) as client:
        client.sendall(b"GET /huge HTTP/1.1\r\n" + HOST + b"\r\n")
        until(lambda: bool(server.server_state.connections))
        until(lambda: not server.server_state.connections)
        assert len(everything(client)) < 40_000_000


@pytest.mark.slow
def test_who_does_not_take_a_stream_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANSWER_GRACE", 0.5)
    with running(endless) as (server, port), connected(port) as client:
        client.sendall(ANSWERED)
        until(lambda: bool(server.server_state.connections))
        until(lambda: not server.server_state.connections)


@pytest.mark.slow
def test_answers_that_nobody_takes_have_only_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WAITING_BYTES", 100_000_000)
    with running(echo) as (server, port):
        clients = [connected(port) for _ in range(5)]
        for client in clients:
            client.sendall(b"GET /huge HTTP/1.1\r\n" + HOST + b"\r\n")
        until(lambda: server.server_state.total_requests == 5)
        until(lambda: len(server.server_state.connections) < 5)
        for client in clients:
            client.close()


def test_who_reads_slowly_holds_no_transaction(served: Path) -> None:
    reader = Reader(served, threads=2)
    views = served.with_name("club.views.db")
    with running(application(reader)) as (server, port), socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect(("127.0.0.1", port))
        asked = b"GET /api/v1/players/ann/graph?format=html HTTP/1.1\r\n" + HOST + b"\r\n"
        client.sendall(asked * 40)  # one after another, until nothing more of them fits into the socket
        until(lambda: any(each.transport.get_write_buffer_size() for each in server.server_state.connections))
        with Ledger.open(served) as ledger:
            ledger.append(game_recorded("new", half_moves=60))
            ledger.ensure_up_to_date()
        with sqlite3.connect(views) as looking:
            busy, _, _ = looking.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert busy == 0
        assert views.with_name("club.views.db-wal").stat().st_size == 0
        assert any(each.transport.get_write_buffer_size() for each in server.server_state.connections)
    reader.close()


def test_there_are_only_so_many_connections_and_of_one_stranger_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CONNECTIONS_OF_ONE", 2)
    with running(GATED) as (server, port):
        monkeypatch.setattr(server, "counted", lambda client: client[0])
        held = [connected(port) for _ in range(2)]
        until(lambda: len(server.server_state.connections) == 2)
        told = said(port, b"")
        assert statuses(told) == [503]
        assert (
            json.loads(told.partition(b"\r\n\r\n")[2])["detail"] == "there are too many connections: come again later"
        )
        held.pop().close()
        until(lambda: len(server.server_state.connections) == 1)
        assert statuses(said(port, LAST)) == [200]
        held.pop().close()
        monkeypatch.setattr(server, "counted", lambda _: None)
        monkeypatch.setattr(server, "_most", 3)
        held = [connected(port) for _ in range(3)]
        until(lambda: len(server.server_state.connections) == 3)
        assert statuses(said(port, LAST)) == [503]
        for client in held:
            client.close()


def test_a_client_that_sends_too_much_has_the_whole_answer() -> None:
    with running(GATED) as (_, port), connected(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 50000000\r\n\r\n")
        try:
            for _ in range(50):
                client.sendall(b"x" * 1_000_000)
        except (BrokenPipeError, ConnectionResetError):
            pytest.fail("the connection was reset before the answer was there")
        told = everything(client)
    assert statuses(told) == [413]
    assert json.loads(told.partition(b"\r\n\r\n")[2])["status"] == 413


def test_who_asks_before_sending_too_much_is_not_told_to_go_on() -> None:
    with running(GATED) as (_, port):
        asked = b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n"
        assert statuses(said(port, asked % 50_000_000)) == [413]
        with connected(port) as client:
            client.sendall(asked % 3)
            assert statuses(client.recv(1_000)) == [100]
            client.sendall(b"abc" + LAST)
            assert statuses(everything(client)) == [200, 200]


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", [400]),  # TLS, spoken to a plain socket
        (b"GET /\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\r\n\r\n", [400]),  # no Host
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\nHost: a\n\n" + LAST, [200, 200]),  # h11 takes bare line feeds, as RFC 9112, 2.2 allows
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", [400]),
        (b"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", [400]),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", [505]),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
        (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", [414]),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", [431]),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 200_000, [431]),
        # One request of which another program might see the end elsewhere, and a second one hidden in it:
        (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + LAST, [400]),
        (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 80\r\n\r\n0\r\n\r\n" + LAST, [400]),
        (POST + b"Content-Length: 0\r\nContent-Length: 80\r\n\r\n" + LAST, [400]),
        (POST + b"Content-Length: 0, 80\r\n\r\n" + LAST, [400]),
        (POST + b"Content-Length: +0\r\n\r\n" + LAST, [400]),
        (POST + b"Content-Length: 0x4\r\n\r\n" + LAST, [400]),
        (POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + LAST, [501]),
        (POST + b"Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n" + LAST, [501]),
        (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n" + LAST, [501]),
        (POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + LAST, [400]),
        (b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + LAST, [400]),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + LAST, [400]),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n" + LAST, [400]),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n\r\n" + LAST, [400]),
        (ANSWERED + LAST, [200, 200]),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n" + LAST, [200, 200]),
    ],
)  # fmt: skip
def test_what_is_no_request_or_more_than_one_is_answered_once_and_the_connection_ends(
    words: bytes, answers: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    with running(GATED) as (_, port):
        told = said(port, words)
        if answers[0] != 200:
            assert told.count(b"application/problem+json") == 1
        assert statuses(told) == answers
    assert capfd.readouterr().err == "", "strangers do not fill the log"


@pytest.mark.slow
def test_an_answer_that_goes_on_has_no_other_one_in_it() -> None:
    with running(endless) as (_, port), connected(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        assert statuses(client.recv(1_000)) == [200]
        client.sendall(b"no size\r\n")
        assert b"HTTP/1.1 400" not in everything(client)


def test_head_has_the_length_and_no_body_and_an_upgrade_is_not_made() -> None:
    with running(GATED) as (_, port):
        told = said(port, b"HEAD / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
        assert (statuses(told), told.partition(b"\r\n\r\n")[2], b"content-length: 3" in told) == ([200], b"", True)
        upgrade = b"GET / HTTP/1.1\r\n" + HOST + b"Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"
        assert statuses(said(port, upgrade)) == [200]


def test_it_ends_while_clients_hold_connections() -> None:
    with running(GATED) as (server, port):
        clients = [connected(port) for _ in range(3)]
        clients[1].sendall(b"GET / HT")
        clients[2].sendall(ANSWERED)
        until(lambda: len(server.server_state.connections) == 3)
    for client in clients:
        client.close()


def test_a_library_can_ask_it_many_times_on_one_connection() -> None:
    with running(GATED) as (server, port), httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        assert {client.get("/").text for _ in range(50)} == {"/ 0"}
        assert client.post("/", content=b"x" * 900_000).text == "/ 900000"
        assert len(server.server_state.connections) == 1
