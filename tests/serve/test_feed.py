"""What is recorded is told as it comes: by asking and waiting, and as a stream; to many, to slow ones, to the end."""

import json
import re
import signal
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from ledger.answers.recorded_entries import entries_after
from ledger.answers.rows import as_rows
from ledger.facts.events import Decision
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.raw_http import connected, everything, running
from tests.kit.served_processes import OFFICER, OTHER_OFFICER, REASON, SITE, Get, answers, serving, until
from tools.serve import connections, feed, limits
from tools.serve.application import application
from tools.serve.feed import Feed, Recent
from tools.serve.middleware import Gate
from tools.serve.readers import Reader
from tools.serve.settings import Serving
from tools.serve.sites import Site

GIVE_UP = 10.0  # seconds for what must come


def record(path: Path, *keys: str) -> int:
    """Record games as a command beside the server does, bring the views level; the position then."""
    with Ledger.open(path) as ledger:
        ledger.append_many([game_recorded(key, half_moves=60) for key in keys])
        ledger.ensure_up_to_date()
        return ledger.journal.size()


def size(path: Path) -> int:
    with Ledger.open(path, follow=False) as ledger:
        return ledger.journal.size()


@contextmanager
def told(served: Path, **more: Any) -> Iterator[tuple[Feed, int]]:
    """A reader that answers at a port, and its news."""
    reader = Reader(served, Site(), threads=2)
    news = Feed(reader)
    serve = Serving(path=served)
    with running(Gate(application(reader, feed=news), serve), serve, end=news.end, **more) as (_, port):
        yield news, port
    reader.close()


class Listener:
    """A client of the stream; all are closed after a test."""

    every: ClassVar[list[socket.socket]] = []

    def __init__(self, port: int, after: int | None = None, last: str | None = None) -> None:
        self.client = connected(port)
        self.every.append(self.client)
        self.client.settimeout(GIVE_UP)
        query = "" if after is None else f"?after={after}"
        header = "" if last is None else f"Last-Event-ID: {last}\r\n"
        self.client.sendall(f"GET /api/v1/stream{query} HTTP/1.1\r\nHost: server\r\n{header}\r\n".encode())
        self.heard = b""

    def until(self, words: bytes) -> bytes:
        """What is heard until some words come."""
        while words not in self.heard:
            more = self.client.recv(65_536)
            assert more, self.heard
            self.heard += more
        return self.heard

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in re.findall(rb"^data: (.*)$", self.heard, re.MULTILINE)]

    @property
    def positions(self) -> list[int]:
        return [entry["position"] for entry in self.entries]


@pytest.fixture(autouse=True)
def _hang_up() -> Iterator[None]:
    yield
    while Listener.every:
        Listener.every.pop().close()


def test_entries_come_line_by_line_with_kind_key_and_players(served: Path, get: Get) -> None:
    answer = get("/entries?after=20&limit=5")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    rows = [json.loads(line) for line in answer.text.splitlines()]
    with Ledger.open(served, follow=False) as ledger:
        assert rows == as_rows(entries_after(ledger, 20, 5))
    assert [row["position"] for row in rows] == [21, 22, 23, 24, 25]
    assert set(rows[0]) == {"position", "kind", "key", "players", "correction"}
    assert get("/entries?after=20&limit=5", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert answer.headers["link"] == f'<{SITE}/api/v1/entries?after=25&limit=5>; rel="next"'
    assert "link" not in get(f"/entries?after={size(served) - 3}&limit=5").headers, "nothing more is there as yet"


def test_all_entries_are_told_without_officers_reasons_and_years_of_birth(served: Path, get: Get) -> None:
    text = ""
    while more := get(f"/entries?limit=400&after={len(text.splitlines())}").text:
        text += more
    assert len(text.splitlines()) == size(served)
    for word in (OFFICER, OTHER_OFFICER, REASON, "1990"):
        assert word not in text
    corrections = [row for row in map(json.loads, text.splitlines()) if row["correction"] is not None]
    assert [row["kind"].partition("/")[0] for row in corrections] == [
        "correction-proposed", "correction-decided", "correction-proposed",
    ]  # fmt: skip
    assert all(len(row["players"]) == 2 for row in corrections)


def test_who_waits_is_answered_when_something_is_recorded(served: Path, get: Get) -> None:
    position = size(served)
    thread = threading.Timer(0.5, record, (served, "new"))
    thread.start()
    answer = soon(get, f"/entries?after={position}&wait=30")
    thread.join(GIVE_UP)
    assert [json.loads(line)["key"] for line in answer.text.splitlines()] == ["game:new"]


def test_who_waits_in_vain_is_answered_with_nothing_in_time(
    served: Path, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    until_after = Feed.until_after

    async def noted(news: Feed, position: int, patience: float) -> None:
        await until_after(news, position, patience)
        waits.append(patience)

    monkeypatch.setattr(Feed, "until_after", noted)
    for _ in range(2):  # the same question waits anew
        answer = soon(get, f"/entries?after={size(served)}&wait=1")
        assert (answer.status_code, answer.text) == (200, "")
    assert waits == [1, 1]
    assert soon(get, "/entries?after=3&wait=30&limit=1").text, "there is something already"


def soon(get: Get, address: str) -> httpx.Response:
    """The answer, which comes before its time is over."""
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(get, address).result(GIVE_UP)


@pytest.mark.parametrize(
    "query", ["wait=31", "wait=-1", "after=x", "limit=0", "limit=1001", "since=3", "after=1&after=2"]
)
def test_what_cannot_be_asked_is_refused(query: str, get: Get) -> None:
    assert get(f"/entries?{query}").status_code == 400
    if not query.startswith(("wait", "limit")):
        assert get(f"/stream?{query}").status_code == 400
    assert get("/stream", headers={"Last-Event-ID": "x"}).status_code == 400
    assert get("/stream", "POST").status_code == 405


def test_a_stream_begins_with_the_position_and_tells_what_comes(served: Path) -> None:
    position = size(served)
    with told(served) as (_, port):
        listener = Listener(port)
        head = listener.until(b"retry: ")
        assert b"content-type: text/event-stream; charset=utf-8\r\n" in head.lower()
        assert b"x-accel-buffering: no\r\n" in head.lower()
        assert b"id: %d\n" % position in head
        assert listener.entries == []
        record(served, "one")
        listener.until(b"game:one")
        record(served, "two", "three")
        listener.until(b"game:three")
        assert listener.positions == [position + 1, position + 2, position + 3]
        assert b"id: %d\ndata: {" % (position + 3) in listener.heard


@pytest.mark.parametrize("by", ["header", "address", "both"])
def test_who_comes_again_is_told_from_where_it_was(by: str, served: Path) -> None:
    position = size(served)
    with told(served) as (_, port):
        after = {"header": None, "address": 7, "both": 900}[by]
        listener = Listener(port, after, None if by == "address" else "7")
        listener.until(b"id: %d\ndata" % position)
        assert listener.positions == list(range(8, position + 1)), "each once, in order, none left out"
        with Ledger.open(served, follow=False) as ledger:
            assert listener.entries == as_rows(entries_after(ledger, 7, 10_000))
        record(served, "new")
        listener.until(b"game:new")


def test_a_stream_of_another_history_begins_at_its_last_entry(served: Path) -> None:
    position = size(served)
    with told(served) as (_, port):
        listener = Listener(port, last="999999")
        listener.until(b"id: %d\n" % position)
        record(served, "new")
        listener.until(b"game:new")


def test_when_another_file_is_put_in_the_place_of_the_ledger_streams_begin_anew(
    served: Path, tmp_path: Path, busy_base: Path
) -> None:
    position = size(served)
    record(served, "one", "two")
    with told(served) as (_, port):
        listener = Listener(port)
        listener.until(b"id: %d\n" % (position + 2))
        for name in ("club.views.db", "club.db"):  # the journal last: by it a reader knows
            other = tmp_path / f"other-{name}"
            other.write_bytes((busy_base / name).read_bytes())
            for behind in ("-wal", "-shm"):
                served.with_name(f"{name}{behind}").unlink(missing_ok=True)
            other.replace(served.with_name(name))
        listener.until(b"0\r\n\r\n")
        assert b"id: %d\n" % position in Listener(port, last=str(position + 2)).until(b"retry")


def test_silence_is_broken_by_comments(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "HEARTBEAT", 0.3)
    with told(served) as (_, port):
        listener = Listener(port)
        listener.until(b":\n\n\r\n3\r\n:\n\n")
        assert listener.entries == []


def test_the_time_for_an_answer_does_not_cut_a_stream_off(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("ANSWER_GRACE", 0.2), ("HEAD_WITHIN", 0.2), ("LINGER", 0.1), ("BODY_GRACE", 0.2)):
        monkeypatch.setattr(limits, name, seconds)
    monkeypatch.setattr(connections, "LOOKS_EVERY", 0.05)
    with told(served) as (_, port):
        listener = Listener(port)
        listener.until(b"retry")
        time.sleep(1.0)
        record(served, "late")
        listener.until(b"game:late")


@pytest.mark.slow
def test_who_takes_nothing_is_cut_off_and_nobody_waits_for_it(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANSWER_GRACE", 0.5)
    monkeypatch.setattr(connections, "LOOKS_EVERY", 0.05)
    with long_events(monkeypatch), told(served) as (news, port):
        quick, _ = Listener(port), slow_listener(port)
        quick.until(b"retry")
        until(lambda: news.listeners == 2)
        for round_ in range(3):
            record(served, f"r{round_}")
            quick.until(b"game:r%d" % round_)
        until(lambda: news.listeners == 1)


@contextmanager
def long_events(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each event has a long comment: the system itself keeps some megabytes for who reads nothing."""
    event = feed._event
    with monkeypatch.context() as patch:
        patch.setattr(feed, "_event", lambda entry: b":" + b"x" * 20_000 + b"\n" + event(entry))
        yield


def slow_listener(port: int) -> socket.socket:
    """One that asks for everything and reads nothing, with little room on the way."""
    client = socket.socket()
    Listener.every.append(client)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /api/v1/stream?after=0 HTTP/1.1\r\nHost: server\r\n\r\n")
    return client


def test_who_goes_away_is_forgotten_and_without_listeners_nothing_is_read(served: Path) -> None:
    with told(served) as (news, port):
        listeners = [Listener(port) for _ in range(5)]
        for listener in listeners:
            listener.until(b"retry")
        assert news.listeners == 5
        for listener in listeners:
            listener.client.close()
        until(lambda: news.listeners == 0)
        until(lambda: news._task is not None and news._task.done())
        position = record(served, *(f"more-{place}" for place in range(600)))
        late = Listener(port, position - 500)
        late.until(b"id: %d\ndata" % position)
        assert late.positions == list(range(position - 499, position + 1))


def test_what_is_new_is_read_once_for_all(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def counted(ledger: Ledger, position: int, limit: int) -> Any:
        told_ones = entries_after(ledger, position, limit)
        if told_ones:
            asked.append((position, limit))
        return told_ones

    with told(served) as (news, port):
        listeners = [Listener(port) for _ in range(40)]
        for listener in listeners:
            listener.until(b"retry")
        until(lambda: news.position == size(served))
        monkeypatch.setattr(feed, "entries_after", counted)
        position = record(served, "one")
        for listener in listeners:
            listener.until(b"game:one")
        assert asked == [(position - 1, feed.PAGE)]


def test_a_fault_of_the_files_is_told_once_and_ends_no_stream(
    served: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(feed, "GLANCE", 0.02)
    with told(served) as (_, port):
        listener = Listener(port)
        listener.until(b"retry")
        moved = served.with_name("away.db")
        served.rename(moved)
        words: list[str] = []

        def is_said() -> bool:
            words.append(capfd.readouterr().err)
            return "No such file" in "".join(words)

        until(is_said)
        time.sleep(0.3)  # in which it looks many times more
        moved.rename(served)
        record(served, "after")
        listener.until(b"game:after")
    lines = "".join([*words, capfd.readouterr().err]).splitlines()
    assert {line.split(": ")[1] for line in lines} == {"nothing new is told"}
    # a look that was reading while the file went away may have seen another fault of it, which is told once by itself
    assert 1 <= len(lines) == len(set(lines)) <= 2
    assert "No such file" in lines[-1]


def test_only_so_many_bytes_are_kept_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "RECENT_BYTES", 100)
    monkeypatch.setattr(feed, "PIECE_BYTES", 40)
    recent = Recent(7)
    assert recent.after(7) == (b"", 7)
    recent.add([b"x" * 20] * 7)
    assert (recent.before, recent.position) == (9, 14)
    assert recent.after(8) is None
    assert recent.after(9) == (b"x" * 40, 11)
    assert recent.after(13) == (b"x" * 20, 14)
    recent.add([b"y" * 90])
    assert recent.after(14) == (b"y" * 90, 15), "a long event comes whole"


@pytest.mark.slow
def test_listeners_at_very_many_positions_take_no_more_room_than_a_few() -> None:
    recent = Recent(0)
    recent.add([b"x" * 130] * 7_000)
    tracemalloc.start()
    try:
        for position in range(0, 7_000, 7):
            assert recent.after(position) is not None
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 8 << 20
    assert recent.after(6_999) == (b"x" * 130, 7_000)


@pytest.mark.slow
def test_at_the_end_each_stream_ends_and_who_waits_is_answered(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with long_events(monkeypatch), told(served, ends_within=60) as (news, port):
        listeners = [Listener(port) for _ in range(3)]
        for listener in listeners:
            listener.until(b"retry")
        waiting = connected(port)
        Listener.every.append(waiting)
        waiting.sendall(f"GET /api/v1/entries?after={size(served)}&wait=30 HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        slow_listener(port)
        until(lambda: news.listeners == 5)
        time.sleep(2)  # until the slow one is behind
    # The server has ended by now: it waited for nobody.
    for listener in listeners:
        assert everything(listener.client).endswith(b"0\r\n\r\n")
    assert everything(waiting).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow
def test_the_server_tells_its_listeners_and_ends_within_ten_seconds(served: Path) -> None:
    position = size(served)
    with serving(served, "--listen", "127.0.0.1:0") as (process, address):
        until(lambda: answers(address))
        listener = Listener(int(address.rpartition(":")[2]))
        listener.until(b"retry")
        with Ledger.open(served) as ledger:
            ledger.append(game_recorded("beside", half_moves=60))
            number = ledger.propose([ledger.corrections.drafts.annul("game:beside")], reason=REASON, by=OFFICER)
            ledger.decide(number.proposal, Decision.REJECTED, by=OTHER_OFFICER, reason=REASON)
        listener.until(b"correction-decided")
        assert listener.positions == [position + 1, position + 2, position + 3]
        assert OFFICER.encode() not in listener.heard
        process.send_signal(signal.SIGTERM)
        assert everything(listener.client).endswith(b"0\r\n\r\n")
        _, log = process.communicate(timeout=10)
    assert "Cancel" not in log
    assert "Traceback" not in log
