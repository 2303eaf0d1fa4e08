"""Sections of the server: its processor time for each answer, the process that writes, the memory of listeners."""

from __future__ import annotations

import asyncio
import http.client
import resource
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from shutil import copyfile
from statistics import median, quantiles
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

from ledger.answers.graphs import json_form, page_reader
from ledger.facts import codec
from ledger.facts.events import Role
from ledger.ledger import Ledger

from ..postgres_servers import free_ports
from ..serve.settings import Serving
from ..serve.writer_socket import WriterClient, meeting
from . import ours
from .datasets import WORKS, GameSet, Run, make_games
from .measuring import COMMAND, PROC, TICK, cpu_of, descendants, in_turns, installed, memory_of, server
from .table import Line, line

GAMES = 100  # of a graph, and rows that Datasette shows of a player
GAMES_A_PLAYER = 200  # of the set, on average: some have a hundred, some fifteen hundred
SERVED = 400_000  # games of the set at most
PLAYERS = 2_000  # who are asked for in turns, so that no kept answer is sent
TAGGED = 40  # who are asked for again and again by those who have the answer
ROUNDS_OF_REQUESTS = 2  # times as many, of few requests: the machine's speed changes from one second to the next
CLIENTS = 8
SECONDS = 5.0  # for which requests come at a pace
LARGEST_PAGE = 30_000  # bytes as sent


class Served(NamedTuple):
    """A server that runs, and how many requests of each kind it gets in a round."""

    process: int
    address: str
    requests: int

    def connection(self) -> closing[http.client.HTTPConnection]:
        """Return a connection that stays open for the length of a block."""
        return closing(http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=60))

    def cpu_of_each(self, addresses: Iterator[str], tags: Mapping[str, str | None] | None = None) -> float:
        """Return the seconds of the server's processor for each request; with *tags* more, for each costs little."""
        requests = self.requests if tags is None else 5 * self.requests
        with self.connection() as connection:
            begun = cpu_of(self.process)
            for address in islice(addresses, requests):
                _ask(connection, address, tags[address] if tags is not None else None)
            return max(cpu_of(self.process) - begun, 1 / TICK) / requests


def _ask(connection: http.client.HTTPConnection, address: str, tag: str | None = None) -> tuple[str | None, int]:
    """Return entity tag and length of an answer; with a *tag* the answer must be that nothing changed."""
    headers = {"Accept-Encoding": "gzip"} | ({} if tag is None else {"If-None-Match": tag})
    connection.request("GET", address, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != (200 if tag is None else 304):
        raise RuntimeError(f"{address}: {answer.status} {body[:200]!r}")
    return answer.getheader("ETag"), len(body)


def serve(run: Run) -> Iterator[Line]:
    """Answers about players of 100 to 1,500 games."""
    games, folder, rounds = min(run.size.games[-1], SERVED), run.new_folder("serve"), ROUNDS_OF_REQUESTS * run.short
    data = GameSet(f"{games / 1e6:g} M", games, folder, partial(make_games, games, games // GAMES_A_PLAYER, 3))
    with data.open() as ledger:
        rows = ledger.views.connection.execute(WORKS["statements"]["players_of_100_to_1500"], (PLAYERS,))
        players = [number for (number,) in rows]
    graphs = [f"/api/v1/players/{player}/graph?last={GAMES}" for player in players]
    pages_of = [f"/players/{player}" for player in players]
    command = [*COMMAND, "serve", str(data.path), "--listen", "127.0.0.1:0"]
    with server(command, folder / "log") as started:
        served = Served(started.process, started.said, run.size.requests)
        with served.connection() as connection:
            tags = {address: _ask(connection, address)[0] for address in graphs[:TAGGED]}
            largest = max(_ask(connection, address)[1] for address in pages_of[:TAGGED])
        if installed("datasette"):
            with _datasette(data.views, players, run.size.requests) as (their_json, their_page):
                works: dict[str, Callable[[], float]] = {
                    "their-json": their_json, "their-page": their_page,
                    "graph": partial(served.cpu_of_each, cycle(graphs)),
                    "tag": partial(served.cpu_of_each, cycle(tags), tags),
                    "page": partial(served.cpu_of_each, cycle(pages_of)),
                }  # fmt: skip
                seconds = in_turns(works, rounds)
            rates = {name: [1 / each for each in taken] for name, taken in seconds.items()}
            for name, rival in (("graph", "their-json"), ("tag", "their-json"), ("page", "their-page")):
                yield line(f"serve-{name}", data.name, rates[name], rates[rival])
        yield _added(data, served, cycle(players[::-1]), rounds)  # the last ones were not asked for yet
        yield _late_at_half_of_the_highest_rate(data, served, graphs, run.rounds)
        yield line("serve-size", data.name, float(largest), LARGEST_PAGE)  # compressed as browsers ask for it


@contextmanager
def _datasette(views: Path, players: Sequence[int], requests: int) -> Iterator[list[Callable[[], float]]]:
    """Datasette showing the rows of a player, as JSON and as HTML: without counts, facets and names of columns."""
    command = [sys.executable, "-m", "datasette", "serve", str(views), "--port", str(free_ports(1)[0])]
    with server([*command, "--setting", "suggest_facets", "off"], views.with_name("log")) as started:
        shown = Served(started.process, started.said, requests)
        words = ({"pool": 1, "player": player, "_sort_desc": "n", "_size": GAMES} for player in players)
        rows = [f"{urlencode(word)}&_nofacet=1&_nocount=1" for word in words]
        table = f"/{views.stem.replace('.', '~2E')}/history"  # as Datasette writes a dot in an address
        addresses = [f"{table}.json?{row}&_shape=arrays" for row in rows], [f"{table}?{row}" for row in rows]
        yield [partial(shown.cpu_of_each, cycle(each)) for each in addresses]


def _added(data: GameSet, served: Served, players: Iterator[int], rounds: int) -> Line:
    """Seconds of the processor for each graph as JSON: what HTTP adds to the library's call that the server makes.

    The two take turns graph by graph, for the machine is not as fast from one second to the next, and players who are
    asked for now and then are less often in the processor's caches than one who is asked for again at once.
    """
    added: list[float] = []
    alone: list[float] = []
    with Ledger.open(data.path, follow=False) as ledger, served.connection() as connection:
        for _ in range(1 + rounds):
            called, begun = 0.0, cpu_of(served.process)
            for player in islice(players, served.requests):
                _ask(connection, f"/api/v1/players/{player}/graph?last={GAMES}")
                before = time.process_time()
                with ledger.read_snapshot():
                    json_form.graph_json(page_reader.read_page(ledger, ledger.player(player), last=GAMES))
                called += time.process_time() - before
            added.append(max(cpu_of(served.process) - begun - called, 1e-6))  # the machine may have slowed the call
            alone.append(called)
    return line("serve-added", data.name, added[1:], alone[1:])  # the first round warms up


def _late_at_half_of_the_highest_rate(data: GameSet, served: Served, graphs: Sequence[str], rounds: int) -> Line:
    at_once = [0.0] * CLIENTS * served.requests
    rate = len(at_once) / max(_answered(served, graphs, at_once)[1], 1e-9)
    due = [number * 2 / rate for number in range(max(int(rate / 2 * SECONDS * served.requests / 100), 200))]
    waits = [_answered(served, graphs, due)[0] for _ in range(rounds)]
    return line("serve-late", data.name, [quantiles(each, n=100)[-1] for each in waits], map(median, waits))


def _answered(served: Served, graphs: Sequence[str], due: Sequence[float]) -> tuple[list[float], float]:
    """Return how long after it was due each request was answered, and after how long all were, seconds."""
    numbers, waits, begun = iter(range(len(due))), list[float](), time.perf_counter()

    def client(_: int) -> None:
        with served.connection() as connection:
            for number in numbers:  # which all clients share: a free one takes the next
                time.sleep(max(0.0, begun + due[number] - time.perf_counter()))
                _ask(connection, graphs[number % len(graphs)])
                waits.append(time.perf_counter() - begun - due[number])

    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(client, range(CLIENTS)))
    return waits, time.perf_counter() - begun


# The process that writes: single games of many clients in common transactions, and during a large upload.

WRITERS = 64
PATIENCE = 600.0  # seconds for one answer
A_PART = 1_000  # entries at once: a single transaction of single games is far smaller
GLANCE = 0.002  # seconds between two looks at how much the journal holds
WRITER = ("-m", "tools.serve.writer")
# The same process, with a transaction for each game: what the common ones are measured against.
ALONE = "import sys; from tools.serve import write_queue, writer; write_queue.A_BATCH = 1; writer.main(sys.argv[1:])"
EACH_BY_ITSELF = ("-c", ALONE)


def write(run: Run) -> Iterator[Line]:
    """Record single games of one client and of many, then some during the upload of the smallest set."""
    seconds, where = run.size.live / 1_000, f"{WRITERS} clients"
    loads = {"one": (1, WRITER), "many": (WRITERS, WRITER), "each": (WRITERS, EACH_BY_ITSELF)}
    works = {name: partial(run.apart, partial(_recorded, *load, seconds)) for name, load in loads.items()}
    counts = in_turns(works, run.short, warm=False)
    rates = {name: [sum(each) / seconds for each in measured] for name, measured in counts.items()}
    yield line("write-many", where, rates["many"], rates["one"])
    yield line("write-grouped", where, rates["many"], rates["each"])
    slowest, quickest = ([max(of(each), 1e-6) for each in counts["many"]] for of in (min, max))
    yield line("write-fair", where, slowest, quickest)
    parts = run.apart(partial(_parts_waited_for, run.sets[0].csv()))
    yield line("write-upload", run.sets[0].name, float(max(parts, 1)), 1.0)


T = TypeVar("T")
Ask = Callable[[str, Mapping[str, Any]], Awaitable[Any]]


def _with_a_writer(folder: Path, work: Callable[[Ask], Awaitable[T]], program: Sequence[str] = WRITER) -> T:
    """Do a work over one connection to the process that writes, as a process that answers does; returns its result."""
    club = folder / "club.db"
    with Ledger.create(club) as ledger:
        for number in range(2 * WRITERS):
            ledger.register(f"club:{number}", f"Player {number}")
        ledger.ensure_up_to_date()
        token = ledger.tokens.add("clerk", [Role.RECORDER])

    async def connected(met: Path) -> T:
        client = WriterClient(met)
        client.start()
        try:
            return await work(partial(client.ask, token=token, patience=PATIENCE))
        finally:
            await client.close()

    with meeting() as met:
        command = [sys.executable, *program, Serving(path=club, folder=met).as_json()]
        with server(command, folder / "log", says=""):
            return asyncio.run(connected(met))


def _facts(client: int, number: int) -> Mapping[str, Any]:
    """Return a game of two players whom no other client has, as the verb takes it."""
    game = ours.game(f"bench:{client}-{number}", (2 * client + 1, 2 * client + 2), ours.FIRST_MS + 1_000 * number)
    return {"facts": {"game": game.game, **codec.facts_mapping(game)}}


def _recorded(clients: int, program: Sequence[str], seconds: float, folder: Path) -> Sequence[int]:
    """Return how many games of each client were acknowledged in so many seconds, each sent after the one before."""

    async def work(ask: Ask) -> Sequence[int]:
        now, done = asyncio.get_running_loop().time, [0] * clients

        async def record(client: int) -> None:
            while now() < until:
                await ask("game", _facts(client, done[client]))
                done[client] += 1

        for number in range(-3, 0):  # the first ones load what is needed
            await ask("game", _facts(0, number))
        until = now() + seconds
        await asyncio.gather(*map(record, range(clients)))
        return done

    return _with_a_writer(folder, work, program)


def _parts_waited_for(csv: Path, folder: Path) -> int:
    """Return for how many transactions of a large upload a single game waits that arrives meanwhile, at most."""
    upload = Path(copyfile(csv, folder / "upload.csv"))
    named = {"path": str(upload), "name": upload.name, "format": "csv"}
    sent = {**dict.fromkeys(("pool", "source", "dates", "day")), **named, "strict": False, "record_alike": True}
    waits: list[tuple[float, float]] = []
    parts: list[float] = []  # when the journal grew by many entries at once

    async def look() -> None:
        with Ledger.open(folder / "club.db", read_only=True) as ledger:
            size = ledger.journal.size()
            while True:
                await asyncio.sleep(GLANCE)
                before, size = size, ledger.journal.size()
                if size - before >= A_PART:
                    parts.append(time.perf_counter())

    async def work(ask: Ask) -> None:
        looking = asyncio.create_task(look())
        uploading = asyncio.ensure_future(ask("desk-import", {"upload": "bench", "sent": sent}))
        while not uploading.done():
            begun = time.perf_counter()
            await ask("game", _facts(0, len(waits)))
            waits.append((begun, time.perf_counter()))
        looking.cancel()
        await uploading

    _with_a_writer(folder, work)
    return max(sum(begun < part <= ended for part in parts) for begun, ended in waits)


# Listeners to the stream of entries: real connections, over a socket of the machine.

KIB = 1024
MEMORY_ALLOWED = 30.0  # KiB each
BEFORE = 50  # listeners that came and went before anything is measured: what is loaded once is no listener's
SPARE_FILES = 200
HELLO = b"GET /api/v1/stream HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n"


def listeners(run: Run) -> Iterator[Line]:
    """Memory of the process that answers, with so many listeners and without, after each heard one game."""
    number = run.size.listeners
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(number + SPARE_FILES, hard)), hard))
    figures = [run.apart(partial(_kib_of_each, number)) for _ in range(run.rounds)]
    yield line("listener", f"{number:,}", figures, MEMORY_ALLOWED)


def _kib_of_each(number: int, folder: Path) -> float:
    path = folder / "club.db"
    with Ledger.create(path) as ledger, meeting() as met, ExitStack() as connections:
        players = ledger.register("name:ann", "ann"), ledger.register("name:bob", "bob")
        ledger.ensure_up_to_date()
        place = met / "s"
        words = ("--listen", f"unix:{place}", "--behind-proxy", "unix", "--public-url", "https://bench.example")
        started = connections.enter_context(
            server([*COMMAND, "serve", str(path), *words], folder / "log", says="unix:")
        )
        for _ in range(2):
            with ExitStack() as gone:
                _listen(gone, place, BEFORE, ledger, players)
        time.sleep(1.0)
        commands = ((pid, (PROC / str(pid) / "cmdline").read_bytes()) for pid in descendants(started.process))
        (reader,) = (pid for pid, command in commands if b".reading" in command)
        before = memory_of(reader, "VmRSS")
        _listen(connections, place, number, ledger, players)
        return max(1, memory_of(reader, "VmRSS") - before) / number / KIB


def _listen(open_ones: ExitStack, place: Path, number: int, ledger: Ledger, players: tuple[int, int]) -> None:
    """Connect so many listeners and let each hear a game."""
    clients = []
    for _ in range(number):
        client = open_ones.enter_context(socket.socket(socket.AF_UNIX))
        client.connect(str(place))  # which waits where too many come at once: with a time limit it would fail
        client.settimeout(PATIENCE)
        client.sendall(HELLO)
        clients.append(client)
    for client in clients:
        _hear(client, b"retry: ")
    size = ledger.journal.size()
    ledger.append(ours.game(f"bench:{size}", players, ours.FIRST_MS + 1_000 * size))
    for client in clients:
        _hear(client, b"bench:%d" % size)


def _hear(client: socket.socket, words: bytes) -> None:
    heard = b""
    while words not in heard:
        more = client.recv(65_536)
        if not more:
            raise ConnectionError(f"a listener was cut off before it heard {words!r}")
        heard += more
