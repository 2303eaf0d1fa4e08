"""Commands and public addresses with a small answer cost as much in a long journal.

The cost is counted in steps of SQLite's machine, never in seconds.

Two ledgers have the same last games; before them one has few others and one has ten times as many, of as many players.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import reduce
from io import BytesIO, TextIOWrapper
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from ledger.answers.crosstables import event_games, listing
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.ledger import Ledger
from ledger.ratings import queries
from ledger.runtime import sqlite
from tests.kit.served_processes import SITE, getting
from tools import cli
from tools.serve import log
from tools.serve.application import EVERY_ROUTE
from tools.serve.readers import Reader
from tools.serve.routes import ENTRIES
from tools.serve.sites import Site

HEADER = "key,white,black,result,termination,half_moves,ended_at,event,round\n"
DAY_MS, HOUR_MS = 86_400_000, 3_600_000
FEW, MANY, LAST = 500, 5_000, 200  # games before the last ones, and those
A_TICK = 20  # steps
GROWTH, FREE = 1.5, 2_000  # a tree is one level deeper, a hash of the journal stands one row farther away
P, Q, DB = "boris 3", "boris 4", "club.db"
GAME = "csv:b110"
NAMES = {"f": "fred", "b": "boris"}
WHY = ("--reason", "r", "--by", "eve")

ASKED: dict[str, tuple[str, ...]] = {
    "show": ("show", DB, P), "the best": ("ratings", DB, "--limit", "5"), "the best of a day": (
        "ratings", DB, "--limit", "5", "--at", "2025-01-05"),
    "the active": ("ratings", DB, "--limit", "5", "--active", "30"), "games of a player": ("games", DB, P, "-t"),
    "the latest games of many": ("games", DB, "fred 3", "--limit", "3"),
    "games of a player on a day": ("games", DB, P, "--on", "2025-01-03"),
    "all games of a player": ("games", DB, P, "--all", "--limit", "3"),
    "a round": ("games", DB, "--tournament", "b Open 1", "--round", "2", "-t"),
    "a day": ("games", DB, "--on", "2025-01-03", "-t"),
    "all of a day": ("games", DB, "--on", "2025-01-03", "--all", "-t"),
    "search": ("search", DB, "boris"), "graph": ("graph", DB, P, "--last", "50"),
    "explain": ("explain", DB, "{who}", GAME),
    "changes since a day": ("changes", DB, P, "--since", "2025-01-05"), "predict": ("predict", DB, P, Q),
    "changes since an entry": ("changes", DB, P, "--since", "{entry}"), "best": ("best", DB, P),
    "streaks": ("streaks", DB, P), "opponents": ("opponents", DB, P), "time losses": ("time-losses", DB, P),
    "upsets of a player": ("upsets", DB, "--player", P), "pools": ("pools", DB), "log": ("log", DB, "--limit", "3"),
    "log of a game": ("log", DB, GAME), "log of a kind": ("log", DB, "--kind", "scheme-adopted"),
    "tournaments of a player": ("tournaments", DB, "--player", P),
    "the latest tournaments": ("tournaments", DB, "--limit", "2"),
    "tournaments from a day": ("tournaments", DB, "--from", "2025-01-01"),
    "tournaments from a day long ago": ("tournaments", DB, "--from", "2012", "--limit", "2"),
    "tournaments up to a day": ("tournaments", DB, "--to", "2025-01-03", "--limit", "1"),
    "tournaments by name": ("tournaments", DB, "--search", "b Open"), "cross-table": ("crosstable", DB, "b Open 1"),
    "players alike": ("players", "alike", DB), "policies": ("policy", "list", DB), "head": ("head", DB),
    "lists": ("lists", DB), "proposals": ("correct", DB, "list"), "tokens": ("token", "list", DB),
    "export of a tournament": ("export", DB, "games", "--tournament", "b Open 1", "--format", "csv"),
    "export of a player": ("export", DB, "history", "--player", P, "--format", "csv"),
    "export of the last days": ("export", DB, "games", "--since", "2025-01-06", "--format", "csv"),
}  # fmt: skip
RECORDED: dict[str, tuple[str, ...]] = {
    "record": ("record", DB, "--white", P, "--black", Q, "--result", "1-0", "--ended", "2025-02-01"),
    "import": ("import", DB, "one.csv"),
    "dry run": ("import", DB, "one.csv", "--dry-run"),
    "player add": ("player", "add", DB, "name:new", "New"),
    "players import": ("players", "import", DB, "list.csv"),
    "player set": ("player", "set", DB, P, "--born", "1990"),
    "void": ("correct", DB, "void", GAME, *WHY),
    "another end": ("correct", DB, "game", GAME, "--field", "ended_at", "--to", "2025-01-04", *WHY),
    "late": ("correct", DB, "late", P, Q, "--to", "1-0", "--ended", "2025-01-04", *WHY),
    "merge": ("correct", DB, "merge", P, "--into", "boris 7", *WHY),
    "bye": ("bye", DB, "b Open 1", P, "--round", "40"),
    "open-tournament": ("open-tournament", DB, "Cup", "--start", "2025-06-01", "--end", "2025-06-02"),
    "policy": ("policy", "set", DB, "upsets", "margin=250"),
    "rename": ("player", "rename", DB, P, "Peter"),
    "token": ("token", "add", DB, "eve", "--role", "corrector"),
}

API, LIST = "/api/v1", "standard@2025-01-05"
# The answers of some addresses have a length of their own: each is asked for a part, or for few rows.
PUBLIC: dict[str, tuple[str, ...]] = {
    API: ("",), f"{API}/pools": ("",), f"{API}/eras": ("",), f"{API}/schemes": ("",),
    f"{API}/players": ("?q=boris&limit=3", "?number=3"), f"{API}/players/{{player}}": ("", "?at=2025-01-05"),
    f"{API}/players/{{player}}/lists/{{list}}/calculation": ("",),
    f"{API}/players/{{player}}/games": ("?limit=3",), f"{API}/players/{{player}}/history": ("", "?limit=3"),
    f"{API}/players/{{player}}/graph": ("", "?last=50&format=svg", "?since=2025-01-05"),
    f"{API}/players/{{player}}/career": ("", "?format=svg", "?marks=yes", "?since=2025-01-05&pools=every"),
    f"{API}/players/{{player}}/changes": ("?since=2025-01-05",),
    f"{API}/players/{{player}}/prediction": ("?opponent=boris 4",),
    **{f"{API}/players/{{player}}/{what}": ("",) for what in ("best", "streaks", "time-losses", "opponents")},
    f"{API}/ranking": ("?limit=5", "?limit=5&at=2025-01-05"),
    f"{API}/upsets": ("?limit=2", "?limit=2&since=2025-01-05", "?limit=2&since=2012&until=2013"),
    f"{API}/tournaments": (
        "?limit=2", "?limit=2&since=2025-01-01", "?limit=2&since=2012", "?limit=2&until=2012",
        "?limit=2&since=2012&until=2013", "?limit=2&part=Open", "?part=b Open"),
    f"{API}/tournaments/{{tournament}}": ("",), f"{API}/lists": ("",), f"{API}/lists/{{list}}": ("?limit=3",),
    f"{API}/corrections": ("",), f"{API}/corrections/{{number}}": ("",),
    f"{API}/games": ("?on=2025-01-03", "?limit=2&on=2012", "?tournament=b Open 1&round=2"),
    **{f"{API}/games/{{game}}{what}": ("",) for what in ("", "/explanation", "/log", "/board", "/pgn", "/receipt")},
    f"{API}/entries": ("?after={entry}&limit=3",),
    "/": ("",), "/search": ("?q=boris",), "/ranking": ("", "?at=2025-01-05"),
    "/players/{player}": ("", "?by=career&since=2025"),
    "/players/{player}/games": ("",), "/players/{player}/lists/{list}": ("",), "/players/{player}/statistics": ("",),
    "/players/{player}/lists/{list}/calculation": ("",),
    "/players/{player}/changes": ("?since=2025-01-05",), "/players/{player}/prediction": ("?opponent=boris 4",),
    "/embed/players/{player}": ("",), "/games/{game:path}": ("",), "/boards/{game:path}": ("",),
    "/pictures/players/{player}": ("",), "/pictures/games/{game:path}": ("",),
    "/tournaments": ("?since=2025-01-01", "?since=2025-01-01&part=Open"), "/tournaments/{tournament}": ("",),
    "/upsets": ("?since=2025-01-01",), "/lists": ("",), "/lists/{list}": ("",),
    "/lists/{list}/changes": ("?since=now",),
    "/corrections": ("",), "/corrections/{number}": ("",), "/schemes": ("",), "/check": ("",), "/api": ("",),
    "/lists.atom": ("",), "/corrections.atom": ("",), "/players/{player}/games.atom": ("",),
    "/checkpoint": ("",), "/checkpoint/cosigned": ("",), "/tile/entries/{bundle:path}": ("",),
    "/tile/{tile:path}": ("",),
}  # fmt: skip
NAMED = {
    "player": P, "tournament": "b Open 1", "list": LIST, "number": "1", "game": GAME, "game:path": GAME,
    "bundle:path": "000", "tile:path": "0/000",
}  # fmt: skip
ABSENT = {f"{API}/games/{{game}}/board", "/checkpoint/cosigned"}  # no moves, no witness


def run(*words: str) -> str:
    """Run a command; what it printed."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main(words)
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    assert code == 0, said
    return said[0]


def rows(prefix: str, games: int, players: int, since: str, apart_ms: int) -> Iterator[str]:
    random = Random(prefix)
    for number in range(games):
        white, black = (f"{NAMES[prefix]} {player}" for player in random.sample(range(players), 2))
        ended = instant_text(instant_ms(since) + number * apart_ms, Precision.SECOND)
        result = random.choice(["1-0", "0-1", "1/2-1/2"])
        half_moves = random.randrange(4, 80) if number % 10 else 40  # some are too short to count
        event = f"{prefix} Open {number // 50},{number % 50 // 10 + 1}"
        yield f"{prefix}{number},{white},{black},{result},unknown,{half_moves},{ended},{event}\n"


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folder of the ledger with few games, and that of the other one."""
    folders = []
    for games in (FEW, MANY):
        folder = tmp_path_factory.mktemp(f"games-{games}")
        apart = 10 * 365 * DAY_MS // games
        files = {
            "games.csv": [*rows("f", games, 60, "2010-01-01", apart), *rows("b", LAST, 12, "2025-01-01", HOUR_MS)],
            "one.csv": [f"x,{P},{Q},1-0,unknown,40,2025-02-02,New Open,1\n"],
        }
        for name, lines in files.items():
            (folder / name).write_text(HEADER + "".join(lines))
        (folder / "list.csv").write_text("id,name,rating\nname:listed,Listed,1500\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            run("init", DB, "--pool", "standard", "--scheme", "chessworld")
            run("import", DB, "games.csv")
        folders.append(folder)
    return folders


@pytest.fixture(autouse=True)
def few_are_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in ledgers of a million games, which have more than these."""
    monkeypatch.setattr(listing, "FIRST_GAMES_READ", 190)
    monkeypatch.setattr(listing, "MOST_GAMES_READ", 240)
    monkeypatch.setattr(listing, "MOST_NAMES_READ_SINGLY", 3)
    monkeypatch.setattr(event_games, "HISTORY_ROWS", event_games.history_query(0))
    monkeypatch.setattr(queries, "SIDE_OF_GAME", queries.game_side(0))


def steps_of(words: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many steps of SQLite's machine a command takes in the ledger of a folder."""
    return steps(lambda: run(*words), folder, monkeypatch)


def steps(ask: Callable[[], object], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many steps of SQLite's machine a question takes in a folder."""
    ticks: list[int] = []
    connect = sqlite.connect

    def counted(path: str | Path, **words: Any) -> Any:
        connection = connect(path, **words)
        connection.set_progress_handler(lambda: ticks.append(1), A_TICK)
        return connection

    with monkeypatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sqlite, "connect", counted)
        ask()
    assert ticks
    return len(ticks) * A_TICK


def filled(words: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The words with what differs between the ledgers: a player of the game, an entry of late."""
    with sqlite.connect(folder / DB) as journal:
        (entries,) = journal.execute("SELECT max(position) FROM journal").fetchone()
    line = next(line for line in (folder / "games.csv").read_text().splitlines() if line.startswith("b110,"))
    there = {"{entry}": str(entries - 20), "{who}": line.split(",")[1]}
    return tuple(reduce(lambda word, name: word.replace(name, there[name]), there, word) for word in words)


@pytest.mark.parametrize("what", ASKED)
def test_what_is_asked_costs_as_much_in_a_long_journal(
    what: str, ledgers: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (steps_of(filled(ASKED[what], folder), folder, monkeypatch) for folder in ledgers)
    assert many <= GROWTH * few + FREE


@pytest.mark.parametrize("what", RECORDED)
def test_what_is_recorded_costs_as_much_in_a_long_journal(
    what: str, ledgers: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for number, folder in enumerate(ledgers):
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        counts.append(steps_of(RECORDED[what], copy, monkeypatch))
    few, many = counts
    assert many <= GROWTH * few + FREE


def test_the_preview_and_the_approval_of_one_correction_cost_as_much_in_a_long_journal(
    ledgers: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for number, folder in enumerate(ledgers):
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        proposed = steps_of(RECORDED["void"], copy, monkeypatch)
        previewed = steps_of(("correct", DB, "preview", "1"), copy, monkeypatch)
        approved = steps_of(("correct", DB, "approve", "1", "--by", "adam"), copy, monkeypatch)
        counts.append((proposed, previewed, approved))
    for few, many in zip(*counts, strict=True):
        assert many <= GROWTH * few + FREE


@pytest.fixture(scope="module")
def public_ledgers(ledgers: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same with a published list, an open correction and a signed head."""
    folders = [Path(shutil.copytree(folder, tmp_path_factory.mktemp("public") / "club")) for folder in ledgers]
    for folder in folders:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            run("publish", DB, "--at", LIST.partition("@")[2], "--by", "eve", "--despite-complaints")
            run("correct", DB, "void", GAME, *WHY)
            run("checkpoint-key", DB, "--new", "example.org/club")
            run("checkpoint", DB)
    return folders


def test_the_cost_of_every_public_address_is_tested() -> None:
    # a stream has no end
    assert PUBLIC.keys() == {f"{route.prefix}{route.path}" for route in (*EVERY_ROUTE, ENTRIES, *log.ROUTES)}


@pytest.mark.parametrize(("path", "words"), [(path, words) for path, every in PUBLIC.items() for words in every])
def test_a_public_address_costs_what_its_answer_has(
    path: str, words: str, public_ledgers: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for folder in public_ledgers:
        with Ledger.open(folder / DB, follow=False) as ledger:  # pages lead from a name to a number
            named = NAMED if path.startswith(API) else {**NAMED, "player": str(ledger.player(P).player)}
        place = "".join(quote(named[part]) if odd else part for part, odd in zip(re.split("{|}", path), cycle((0, 1))))
        address = f"http://server{place}{filled((words,), folder)[0]}"
        reader = Reader(folder / DB, Site(public_url=SITE, log="entries"), threads=1)

        def ask(reader: Reader = reader, address: str = address) -> None:
            answer = getting(reader)(address)
            assert answer.status_code == (404 if path in ABSENT else 200), answer.text

        counts.append(steps(ask, folder, monkeypatch))
        reader.close()
    few, many = counts
    assert many <= GROWTH * few + FREE
