"""What the server's answers cost: its processor time for each request, beside Datasette's for the same rows."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlencode, urlsplit

import attrs

from ledger.answers.graphs import json_form, pages
from ledger.ledger import Ledger

from . import synthetic
from .datasets import GameSet, in_millions
from .measuring import in_turns
from .processes import TICK, cpu_of, descendants
from .rivals import installed
from .table import Line, line

GAMES = 100  # of a graph, and rows that Datasette shows of a player
GAMES_A_PLAYER = 200  # of the set, on average: some have a hundred, some fifteen hundred
PLAYERS = 2_000  # who are asked for in turns, so that no kept answer is sent
TAGGED = 40  # who are asked for again and again by those who have the answer
REQUESTS = 100  # of each kind in a round: few, for the machine's speed changes from one second to the next
ROUNDS = 11  # at least
CLIENTS = 8
SECONDS = 5.0  # for which requests come at a pace
STARTS_WITHIN = 60.0  # seconds
LARGEST_PAGE = 30_000  # bytes as sent
_BETWEEN = (
    "SELECT player FROM current WHERE pool = 1 AND n BETWEEN 100 AND 1500 ORDER BY player LIMIT ?"  # as many of each
)
_ADDRESS = re.compile(r"http://[\w.:\[\]]+:\d+")


@attrs.frozen
class MeasuredServer:
    """A server that runs for the length of a block: where it is, and its first process."""

    address: str
    pid: int

    def cpu(self) -> float:
        """Seconds of the processor so far, of all its living processes."""
        return sum(cpu_of(pid) for pid in (self.pid, *descendants(self.pid)))

    def connection(self) -> http.client.HTTPConnection:
        """A connection that stays open."""
        place = urlsplit(self.address)
        return http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)


@contextmanager
def running(command: Sequence[str], folder: Path) -> Iterator[MeasuredServer]:
    """Start a server that says on standard error where it listens, and end it afterwards."""
    log = folder / "server.log"
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)  # noqa: S603  # our own commands
        try:
            until = time.monotonic() + STARTS_WITHIN
            while not (at := _ADDRESS.search(log.read_text("utf-8", "replace"))):
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{command[:4]} did not start: {log.read_text('utf-8', 'replace')[-500:]}")
                time.sleep(0.05)
            yield MeasuredServer(at[0], process.pid)
        finally:
            process.terminate()
            process.wait(30)


def serving_lines(size: int, folder: Path, rounds: int) -> Iterator[Line]:
    """Answers about players of 100 to 1,500 games, out of a set of that size; on a small one far fewer of all."""
    few = max(2, size // GAMES_A_PLAYER)
    data = GameSet(in_millions(size), size, folder, lambda: synthetic.games(size, few, 3))
    path = data.ledger()
    with Ledger.open(path) as ledger:
        ledger.level()
        players = [number for (number,) in ledger.views.connection.execute(_BETWEEN, (PLAYERS,))]
    if not players:
        return
    command = [sys.executable, "-m", "tools.cli", "serve", str(path), "--listen", "127.0.0.1:0"]
    with running(command, folder) as server:
        yield from _costs(server, path, players, data.name, rounds)
        yield from _at_half_of_the_highest_rate(server, players, data.name, rounds)
        yield from _sizes(server, players, data.name)


def _costs(server: MeasuredServer, path: Path, players: Sequence[int], where: str, rounds: int) -> Iterator[Line]:
    """Processor time of ours, of the library's call alone, and of Datasette, in turns."""
    graphs = [f"/api/v1/players/{player}/graph?last={GAMES}" for player in players]
    works: dict[str, Callable[[], float]] = {
        "graph": partial(_apiece, server, cycle(graphs)),
        "tag": partial(_apiece_tagged, server, graphs[:TAGGED]),
        "page": partial(_apiece, server, cycle([f"/players/{player}" for player in players])),
    }
    if installed("datasette"):
        with _datasette(path, players) as more:
            in_turns(works | more, 1)  # to warm up
            measured = in_turns(works | more, max(rounds, ROUNDS))
        rates = {name: [1 / seconds for seconds in each] for name, each in measured.items()}
        yield line("serve-graph", where, rates["graph"], rates["their-json"])
        yield line("serve-tag", where, rates["tag"], rates["their-json"])
        yield line("serve-page", where, rates["page"], rates["their-page"])
    with Ledger.open(path, follow=False) as ledger:
        asked = cycle(players[::-1])  # whom nobody asked about as yet: no answer is kept
        turns = [_served_and_alone(server, ledger, asked) for _ in range(1 + max(rounds, ROUNDS))]
    served, alone = zip(*turns[1:], strict=True)  # the first one was to warm up
    # the machine may have been slower while the library was called: what is added may seem to be nothing
    beyond = [max(whole - part, 1e-6) for whole, part in zip(served, alone, strict=True)]
    yield line("serve-added", where, beyond, alone)


@contextmanager
def _datasette(path: Path, players: Sequence[int]) -> Iterator[dict[str, Callable[[], float]]]:
    """What it costs Datasette to show the rows of a player: without counts, facets and names of columns."""
    views = path.with_suffix(".views.db")
    command = [sys.executable, "-m", "datasette", "serve", str(views), "--port", str(_free_port())]
    with running([*command, "--setting", "suggest_facets", "off"], path.parent) as server:
        words = ({"pool": 1, "player": player, "_sort_desc": "n", "_size": GAMES} for player in players)
        rows = [f"{urlencode(word)}&_nofacet=1&_nocount=1" for word in words]
        table = f"/{views.stem.replace('.', '~2E')}/history"  # as Datasette writes a dot in an address
        yield {
            "their-json": partial(_apiece, server, cycle([f"{table}.json?{row}&_shape=arrays" for row in rows])),
            "their-page": partial(_apiece, server, cycle([f"{table}?{row}" for row in rows])),
        }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _apiece(server: MeasuredServer, addresses: Iterator[str]) -> float:
    """Seconds of the server's processor for each request."""
    with closing(server.connection()) as connection:
        begun = server.cpu()
        for address in islice(addresses, REQUESTS):
            _ask(connection, address)
        return max(server.cpu() - begun, 1 / TICK) / REQUESTS


def _apiece_tagged(server: MeasuredServer, addresses: Sequence[str]) -> float:
    """The same of those who have the answer and ask whether it is as it was; many more requests, which cost little."""
    with closing(server.connection()) as connection:
        tags = {address: _ask(connection, address)[0] for address in addresses}
        begun = server.cpu()
        for address in islice(cycle(addresses), REQUESTS * 5):
            _ask(connection, address, tags[address])
        return max(server.cpu() - begun, 1 / TICK) / (REQUESTS * 5)


def _served_and_alone(server: MeasuredServer, ledger: Ledger, players: Iterator[int]) -> tuple[float, float]:
    """Seconds of the processor for each graph as JSON: over HTTP, and by the library's call that the server makes.

    The two take turns graph by graph, for the machine is not as fast from one second to the next, and whoever is
    asked now and then finds less in the processor's caches than who is asked again at once.
    """
    alone = 0.0
    with closing(server.connection()) as connection:
        begun = server.cpu()
        for player in islice(players, REQUESTS):
            _ask(connection, f"/api/v1/players/{player}/graph?last={GAMES}")
            before = time.process_time()
            with ledger.moment():
                json_form.as_json(pages.page(ledger, ledger.player(player), last=GAMES))
            alone += time.process_time() - before
        return (server.cpu() - begun) / REQUESTS, alone / REQUESTS


def _ask(connection: http.client.HTTPConnection, address: str, tag: str | None = None) -> tuple[str | None, int]:
    """Entity tag and length of an answer; with a *tag* the answer must be that nothing changed."""
    headers = {"Accept-Encoding": "gzip"} | ({} if tag is None else {"If-None-Match": tag})
    connection.request("GET", address, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != (200 if tag is None else 304):
        raise RuntimeError(f"{address}: {answer.status} {body[:200]!r}")
    return answer.getheader("ETag"), len(body)


def _at_half_of_the_highest_rate(
    server: MeasuredServer, players: Sequence[int], where: str, rounds: int
) -> Iterator[Line]:
    """How late the latest are when requests come at half of the rate that the server can bear."""
    addresses = [f"/api/v1/players/{player}/graph?last={GAMES}" for player in players]
    rate = CLIENTS * REQUESTS / max(_answered(server, addresses, [0.0] * CLIENTS * REQUESTS)[1], 1e-9)
    late: list[float] = []
    middle: list[float] = []
    for _ in range(rounds):
        due = [number * 2 / rate for number in range(max(int(rate / 2 * SECONDS), 200))]
        waits, _ = _answered(server, addresses, due)
        late.append(quantiles(waits, n=100)[-1])
        middle.append(median(waits))
    yield line("serve-late", where, late, middle)


def _answered(server: MeasuredServer, addresses: Sequence[str], due: Sequence[float]) -> tuple[list[float], float]:
    """How long after it was due each request was answered, and after how long all were, seconds; due from now on."""
    numbers, begun = iter(range(len(due))), time.perf_counter()

    def client() -> list[float]:
        waits: list[float] = []
        with closing(server.connection()) as connection:
            for number in numbers:  # which all clients share: whoever is free takes the next one
                time.sleep(max(0.0, begun + due[number] - time.perf_counter()))
                _ask(connection, addresses[number % len(addresses)])
                waits.append(time.perf_counter() - begun - due[number])
        return waits

    with ThreadPoolExecutor(CLIENTS) as clients:
        waits = [wait for each in [clients.submit(client) for _ in range(CLIENTS)] for wait in each.result()]
    return waits, time.perf_counter() - begun


def _sizes(server: MeasuredServer, players: Sequence[int], where: str) -> Iterator[Line]:
    """Bytes of the page of a player, compressed as browsers ask for it."""
    with closing(server.connection()) as connection:
        sizes = [_ask(connection, f"/players/{player}")[1] for player in players[:TAGGED]]
    yield line("serve-size", where, float(max(sizes)), LARGEST_PAGE)
