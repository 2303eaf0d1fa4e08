"""Older, newer, foreign, torn and mixed copies of the people file in place at every point of a history.

Whatever is put there, a writer refuses in one line or does no harm: no game and no registration is ever sealed under
another person's number, and nobody who is known gets a second one. By night all attacks are tried.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from itertools import product
from pathlib import Path
from random import Random
from subprocess import DEVNULL, PIPE, Popen
from typing import NamedTuple
from unittest.mock import patch

import attrs
import orjson
import pytest

from ledger.errors import LedgerError
from ledger.facts.codec import decode
from ledger.facts.events import ClockAccepted, GameRecorded, PlayerRegistered
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.lost_names import accept_lost_names
from ledger.players.persons import Person, commitment
from ledger.players.sqlite_people import SqlitePeople
from ledger.players.verified_names import VerifiedNames
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import NOW
from tests.kit.games import source_game, source_games
from tests.kit.people import BLANK, connection_of
from tests.kit.places import ROOT
from tests.tiers import few_quick, times

ATTACKS = times(quick=60, ci=60, nightly=10_000)  # at most
PEOPLE = "club.people.db"


@attrs.define
class Told:
    """Who each number is, as it was when the journal sealed it; kept outside the files."""

    truth: dict[int, str]
    given_up: set[int]  # erased or lost: these people may come back under another number

    def read(self, path: Path, after: int, ledger: Ledger | None = None) -> int:
        """Hold what was sealed since *after* against the truth; returns the number of entries.

        Names come from the people file as the *ledger* that wrote them sees it, which may have lost its place.

        Raises:
            AssertionError: a number was sealed for another person, or a person got a second number.
        """
        position = after
        journal = SqliteJournal(path, read_only=True)
        try:
            for body in (body for block in journal.read(after) for body in block):
                position += 1
                event = decode(body).event
                if isinstance(event, PlayerRegistered) and event.player not in self.truth:
                    self._registered(event, _row(path, event.player, ledger))
                elif isinstance(event, GameRecorded):
                    white, black, _ = event.game.removeprefix("made:").split("-")
                    names = {event.white: f"name:{white.lower()}", event.black: f"name:{black.lower()}"}
                    assert {number: self.truth.get(number) for number in names} == names, orjson.loads(body)
        finally:
            journal.close()
        return position

    def _registered(self, event: PlayerRegistered, person: Person | None) -> None:
        assert person is not None
        assert person.salt is not None
        assert person.identity is not None
        assert commitment(person.salt, person.identity, person.name or "") == event.commitment
        twins = [number for number, known in self.truth.items() if known == person.identity]
        assert set(twins) <= self.given_up, f"{person.identity} has number {twins} and gets {event.player}"
        self.truth[event.player] = person.identity


def _row(path: Path, player: int, ledger: Ledger | None) -> Person | None:
    if ledger is not None:
        return ledger.people_row(player)
    people = SqlitePeople(sidecar(path, "people"), read_only=True)
    try:
        return people.by_number([player]).get(player)
    finally:
        people.close()


def won(*pairs: str) -> Iterator[SourceGame]:
    """Games of pairs such as ``Ann-Bob``; the key tells who played, so that the journal can be held against it."""
    for line, pair in enumerate(pairs, 1):
        white, black = pair.split("-")
        yield source_game(
            f"made:{pair}-{line}", white, black, line=line, white_id=f"name:{white}", black_id=f"name:{black}"
        )


def import_pair(*pairs: str, strict: bool = False) -> Callable[[Ledger], object]:
    return lambda ledger: ledger.import_games(batch_games(won(*pairs)), strict=strict)


def kill_import(*pairs: str) -> Callable[[Ledger], object]:
    """Leave what a process leaves that is killed in an import: new people without an entry."""

    def refused(ledger: Ledger) -> None:
        with patch.object(VerifiedNames, "registering", nullcontext):
            import_pair(*pairs, strict=True)(ledger)

    return refused


CROWD = tuple(f"S{i}-T{i}" for i in range(100))  # so that rows and index take several pages
BOB = 2 + len(CROWD)  # the number that he gets first: those who have White come before him
CARL = 2 * len(CROWD) + 3

# Each step leaves a point at which copies are made and put in place.
HISTORY: tuple[Callable[[Ledger], object], ...] = (
    import_pair("Ann-Bob", *CROWD),
    import_pair("Carl-Dora"),
    lambda ledger: ledger.erase(BOB),
    import_pair("Bob-Eve"),  # who comes back gets a new number
    kill_import("Fay-Gil", "Fay-Fay"),
    lambda ledger: ledger.register("name:Hal", "Hal"),
    import_pair("Ivy-Jon", "Kim-Ann"),
    lambda ledger: ledger.rename(CARL, "Carl Marsh"),
)


class Point(NamedTuple):
    """A moment of the history: the ledger closed, and the people file with its log while it was open."""

    closed: Path
    opened: Path
    truth: dict[int, str]
    given_up: set[int]


def put_down(source: Path, target: Path, *patterns: str) -> None:
    target.mkdir(parents=True)
    for pattern in patterns:
        for file in source.glob(pattern):
            shutil.copy(file, target / file.name)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    """The points of the history, in order."""
    folder = tmp_path_factory.mktemp("history")
    live = folder / "live"
    live.mkdir()
    path = live / "club.db"
    Ledger.create(path).close()
    told = Told({}, set())
    made = []
    for number, step in enumerate(HISTORY):
        with Ledger.open(path) as ledger:
            ledger.people_row(1)
            step(ledger)
            told.read(path, 0, ledger)
            put_down(live, folder / f"{number}-open", f"{PEOPLE}*")
        if number == 2:
            told.given_up.add(BOB)
        put_down(live, folder / str(number), "club*")
        made.append(Point(folder / str(number), folder / f"{number}-open", dict(told.truth), set(told.given_up)))
    other = folder / "other" / "club.db"
    other.parent.mkdir()
    with Ledger.create(other) as ledger:
        ledger.import_games(batch_games(won("Zoe-Yan", "Ann-Bob", "Xia-Wim", "Vic-Uma")))
    return made


def put_in_place(how: str, copy: Point, folder: Path, present: Point) -> None:
    """Put a copy of the people file in the place of the present one."""
    target = folder / PEOPLE
    log, log_index = folder / f"{PEOPLE}-wal", folder / f"{PEOPLE}-shm"
    if how != "under the present log":
        log.unlink(missing_ok=True)
    elif (present.opened / log.name).exists():
        _move(present.opened / log.name, log)
    log_index.unlink(missing_ok=True)
    if how == "written over":  # the same file to the system
        target.write_bytes((copy.closed / PEOPLE).read_bytes())
    elif how in {"alone", "under the present log"}:
        _move(copy.closed / PEOPLE, target)
    elif how in {"with its log", "without its log"}:
        _move(copy.opened / PEOPLE, target)
    if how in {"with its log", "only its log"} and (copy.opened / log.name).exists():
        _move(copy.opened / log.name, log)


def _move(source: Path, target: Path) -> None:
    """As ``mv`` does it: another file under the same name."""
    shutil.copy(source, target.with_name("coming"))
    target.with_name("coming").replace(target)


HOW = ("alone", "with its log", "without its log", "under the present log", "written over", "only its log")
PUTS_BACK, GO_ON_WITHOUT = "the newest file comes back", "lost names are accepted"

# What a writer tries then, in this order; each may be refused.
WRITERS: dict[str, tuple[Callable[[Ledger], object] | str, ...]] = {
    "import of people who are known": (import_pair("Ann-Carl"), import_pair("Eve-Dora", "Bob-Ann")),
    "import of people who are new": (import_pair("Mallory-Oscar"), import_pair("Trudy-Ann")),
    "import of both": (import_pair("Mallory-Ann", "Dora-Oscar", "Bob-Carl"), PUTS_BACK, import_pair("Oscar-Ivy")),
    "register": (
        lambda ledger: ledger.register("name:Mallory", "Mallory"),
        lambda ledger: ledger.register("name:Carl", "Carl"),
        PUTS_BACK,
        lambda ledger: ledger.register("name:Oscar", "Oscar"),
        import_pair("Oscar-Mallory"),
    ),
    "numbers only": (lambda ledger: ledger.append(ClockAccepted(entry=1)), import_pair("Gil-Hal", strict=True)),
    "go on without": (GO_ON_WITHOUT, import_pair("Carl-Mallory", "Dora-Ann"), PUTS_BACK, import_pair("Ann-Eve")),
}


class Attack(NamedTuple):
    """One attack: at a point of the history, with the copy of another one (-1: of another ledger), how, on whom."""

    point: int
    copy: int
    how: str
    writer: str
    beside: bool  # while a process has the ledger open, which then writes


OF_A_FOREIGN_FILE = {"alone", "under the present log", "written over"}


def attacks() -> list[Attack]:
    every = [
        Attack(point, copy, how, writer, sidecar)
        for point, how, writer, sidecar in product(range(1, len(HISTORY)), HOW, WRITERS, (False, True))
        for copy in range(-1 if how in OF_A_FOREIGN_FILE else 0, len(HISTORY))  # newer ones, too: the journal is older
        if copy != point
    ]
    return every if len(every) <= ATTACKS else Random("people").sample(every, ATTACKS)


def carry_out(attack: Attack, points: list[Point], folder: Path) -> list[str]:
    """Make the attack and hold every entry against the truth; returns what was refused."""
    present = points[attack.point]
    copy = points[attack.copy] if attack.copy >= 0 else foreign(points)
    shutil.copytree(present.closed, folder)
    path, told = folder / "club.db", Told(dict(present.truth), present.given_up | copy.given_up)
    size = told.read(path, 0)
    refusals: list[str] = []
    ledger = Ledger.open(path) if attack.beside else None
    try:
        if ledger is not None:
            ledger.register("name:Ann", "Ann")  # it has read, so that it remembers pages of the file
        put_in_place(attack.how, copy, folder, present)
        for act in WRITERS[attack.writer]:
            if isinstance(act, str) and ledger is not None:
                ledger.close()
                ledger = None
            try:
                if act == PUTS_BACK:
                    put_in_place("alone", present, folder, present)
                elif act == GO_ON_WITHOUT:
                    told.given_up |= go_on_without(path)
                elif callable(act):
                    ledger = ledger or Ledger.open(path)
                    act(ledger)
            except LedgerError as error:
                refusals.append(str(error))
            size = told.read(path, size, ledger)
    finally:
        if ledger is not None:
            ledger.close()
    assert not any("\n" in refusal for refusal in refusals)
    return refusals


def foreign(points: list[Point]) -> Point:
    folder = points[0].closed.parent / "other"
    return Point(folder, folder, {}, set())


def go_on_without(path: Path) -> set[int]:
    """Accept lost names; the numbers that have no name since."""
    journal = SqliteJournal(path)
    try:
        accept_lost_names(journal, sidecar(path, "people"))
    finally:
        journal.close()
    people = SqlitePeople(sidecar(path, "people"), read_only=True)
    try:
        return people.numbers() - {person.player for block in people.iter_named() for person in block}
    finally:
        people.close()


@pytest.mark.parametrize("how", few_quick(HOW, "alone"))
def test_no_copy_of_the_people_file_makes_a_writer_seal_a_wrong_number(
    how: str, points: list[Point], tmp_path: Path
) -> None:
    refused = tried = 0
    for attack in attacks():
        if attack.how == how:
            folder = tmp_path / str(tried)
            try:
                refused += bool(carry_out(attack, points, folder))
            except AssertionError as error:
                raise AssertionError(f"{attack}: {error}") from error
            tried += 1
            shutil.rmtree(folder)
    assert tried > 5
    assert refused > 0


def test_the_history_is_what_the_attacks_need(points: list[Point]) -> None:
    numbers: dict[str, list[int]] = {}
    for number, identity in points[-1].truth.items():
        numbers.setdefault(identity.removeprefix("name:"), []).append(number)
    assert numbers["bob"] == [BOB, 205]  # erased, and come back
    assert {name: numbers[name] for name in ("ann", "carl", "dora", "eve", "hal")} == {
        "ann": [1],
        "carl": [CARL],
        "dora": [204],
        "eve": [206],
        "hal": [209],
    }
    assert len(points[-1].truth) == 210
    assert "fay" not in numbers
    logs = [point.opened / f"{PEOPLE}-wal" for point in points]
    assert sum(log.exists() and log.stat().st_size > 0 for log in logs) >= 4
    assert (points[0].closed / PEOPLE).stat().st_size >= 6 * 4_096


def test_the_attack_of_the_issue_is_refused(points: list[Point], tmp_path: Path) -> None:
    """Carl's win would be Mallory's for ever."""
    attack = Attack(1, 0, "alone", "import of people who are new", beside=False)
    refusals = carry_out(attack, points, tmp_path / "club")
    assert len(refusals) == 2
    assert all("knows nothing of 2 players whom the journal registered: 203 (entry " in told for told in refusals)


@pytest.mark.parametrize("as_many", [False, True], ids=["fewer in the index", "as many, for others were erased"])
def test_an_older_file_under_a_newer_log_does_not_hide_who_came_between(as_many: bool, tmp_path: Path) -> None:
    """The log brings the newest rows, but not all pages of the index on identities: somebody would not be found."""
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        ledger.import_games(batch_games(won(*(f"S{i}-T{i}" for i in range(700)))))
        checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
        connection_of(ledger.people).execute(checkpoint)
        older = (tmp_path / PEOPLE).read_bytes()
        between = [ledger.register(f"name:{word}", word) for word in ("S300x", "T300x", "T500x")]
        erased = [1_398, 1_399, 1_400] if as_many else []  # on the page of the newest rows
        with sqlite.write_transaction(connection_of(ledger.people)):
            connection_of(ledger.people).executemany(BLANK, [(number,) for number in erased])
        connection_of(ledger.people).execute(checkpoint)
        newest = [ledger.register(f"name:{word}", word) for word in ("Aaron", "Adam", "Ada")]
        log = (tmp_path / f"{PEOPLE}-wal").read_bytes()
    (tmp_path / PEOPLE).write_bytes(older)
    (tmp_path / f"{PEOPLE}-wal").write_bytes(log)
    (tmp_path / f"{PEOPLE}-shm").unlink(missing_ok=True)
    assert between + newest == list(range(1_401, 1_407))
    with Ledger.open(path) as ledger:
        size = ledger.journal.size()
        with pytest.raises(LedgerError, match=r"put together from two|knows nothing of|malformed"):
            ledger.import_games(batch_games(won("Aaron-S300x", "T300x-T500x")))
        with pytest.raises(LedgerError):
            ledger.register("name:S300x", "S300x")
        assert ledger.journal.size() == size


def size_of(path: Path) -> int:
    journal = SqliteJournal(path, read_only=True)
    try:
        return journal.size()
    finally:
        journal.close()


@pytest.mark.slow
@pytest.mark.parametrize("moved", [True, False], ids=["moved there", "written over"])
def test_beside_processes_that_record_no_swap_makes_one_number_two_people(moved: bool, tmp_path: Path) -> None:
    """Older copies come while two processes register and import; each goes on or is refused in one line."""
    path = tmp_path / "club.db"
    Ledger.create(path, clock=lambda: NOW).close()
    games = times(quick=80, ci=80, nightly=200)
    steps = ["--steps", "live", "--games", str(games), "--batch", "5"]
    command = [sys.executable, "-m", "tests.kit.crash_driver", str(tmp_path), *steps, "--seed"]
    random, copies = Random("beside"), [path.with_name("copy-0")]
    shutil.copy(sidecar(path, "people"), copies[0])
    with ExitStack() as stack:
        running = [
            stack.enter_context(Popen([*command, str(seed)], cwd=ROOT, stdout=DEVNULL, stderr=PIPE)) for seed in (1, 2)
        ]
        while any(process.poll() is None for process in running):
            if size_of(path) < 30 * len(copies):  # entries: between two swaps there is time to record something
                time.sleep(0.05)
                continue
            copies.append(path.with_name(f"copy-{len(copies)}"))
            shutil.copy(sidecar(path, "people"), copies[-1])
            if moved:
                _move(random.choice(copies), sidecar(path, "people"))
            else:
                sidecar(path, "people").write_bytes(random.choice(copies).read_bytes())
            for log in (f"{PEOPLE}-wal", f"{PEOPLE}-shm") if random.random() < 0.5 else ():
                path.with_name(log).unlink(missing_ok=True)
        told = [process.communicate()[1].decode() for process in running]
    assert all(len(text.splitlines()) <= 1 and "Traceback" not in text for text in told), told
    names: dict[int, set[str]] = {}
    numbers: dict[str, set[int]] = {}
    sources = {game.key: (game.white_id, game.black_id) for seed in (1, 2) for game in source_games(games, seed)}
    journal = SqliteJournal(path, read_only=True)
    for body in (body for block in journal.read() for body in block):
        event = decode(body).event
        if isinstance(event, GameRecorded):
            for number, identity in zip((event.white, event.black), sources[event.game], strict=True):
                names.setdefault(number, set()).add(identity)
                numbers.setdefault(identity, set()).add(number)
    journal.close()
    assert names
    assert {len(identities) for identities in names.values()} <= {1}
    assert {len(players) for players in numbers.values()} <= {1}
