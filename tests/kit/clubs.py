"""Small ledgers for the beginning of a test, the clocks that they are made under, and their secrets."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import attrs
import pytest

from ledger.book import judge
from ledger.book.evidence import Context, Evidence
from ledger.book.rules_by_facts import exists_with_different_key
from ledger.duplicates.game_keys import keyed_hashes
from ledger.facts.events import Event
from ledger.facts.words import Outcome
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.players import persons
from ledger.recording.recorder import Recorder
from ledger.runtime.ledger_files import sidecar
from tests.kit.games import game_recorded, source_games

NAME = "club.db"
NOW = datetime(2022, 1, 1, tzinfo=UTC)
"""The time of the clubs that play made-up games: all of them are over."""
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
"""The time of the club of two: the day after its game."""


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class ClubOfTwo(NamedTuple):
    """A ledger ``club.db`` with Ann (1) and Bob (2), the game r1-b1 that Ann has won, and a clock."""

    folder: Path
    ledger: Ledger
    clock: Clock

    @property
    def path(self) -> Path:
        """The journal's file."""
        return self.folder / NAME


@contextmanager
def new_club_of_two(folder: Path) -> Iterator[ClubOfTwo]:
    """Copy one into the folder and keep it open until the end."""
    clock = Clock()
    with Ledger.open(copy_of(_make_club_of_two, folder / NAME), clock=clock) as ledger:
        yield ClubOfTwo(folder, ledger, clock)


def _make_club_of_two(path: Path) -> None:
    with Ledger.create(path, clock=Clock()) as ledger:
        for number, name in enumerate(("Ann", "Bob"), 1):
            assert ledger.register(f"name:{name.lower()}", name) == number
        ledger.append(game_recorded("r1-b1"))


def copy_of(make: Callable[[Path], None], path: Path) -> Path:
    """Write the ledger that *make* makes to the path, and return that.

    It is made once in a process, for a copy costs a seventh of that. All copies have the same salts.
    """
    for end, content in _files(make).items():
        path.with_name(path.stem + end).write_bytes(content)
    return path


@cache
def _files(make: Callable[[Path], None]) -> Mapping[str, bytes]:
    """Return the contents of its files, each under what follows the ledger's own name: ``.db``, ``.people.db``."""
    with TemporaryDirectory() as folder, one_secret():
        make(Path(folder) / NAME)
        return {path.name.removeprefix("club"): path.read_bytes() for path in Path(folder).iterdir()}


def open_ledger(path: Path, clock: Callable[[], datetime] = lambda: NOW) -> Ledger:
    """The ledger at *path*, made where there is none yet."""
    if not path.exists() or not sidecar(path, "people").exists():
        return Ledger.create(path, clock=clock)
    return Ledger.open(path, clock=clock)


def record_game(
    ledger: Ledger, key: str, day: str, white: int = 1, black: int = 2, outcome: Outcome = Outcome.WHITE
) -> None:
    """Record a game that is long enough to be rated, and bring the views level."""
    ledger.append(game_recorded(key, white=white, black=black, outcome=outcome, ended_at=day, half_moves=60))
    ledger.ensure_up_to_date()


def _check_of_old(event: Event, evidence: Evidence) -> None:
    """Judges as ledgers of old did: of what cannot stand together the keys alone."""
    judge.check(event, attrs.evolve(evidence, context=Context.WITHOUT_VIEWS))
    if exists_with_different_key in judge.RULES[type(event)]:
        refusal = exists_with_different_key(event, attrs.evolve(evidence, others={}))
        if refusal is not None:
            raise refusal


def takes_misfits(ledger: Ledger) -> Ledger:
    """The ledger records what the judge refuses by now and journals of old hold: below the judge, by the rules alone.

    Ratings to begin with that come too late to act, editions that overlap, closings before the last game.
    """
    ledger._recorder = Recorder(ledger.journal, ledger.now_ms, ledger.current_facts, _check_of_old)
    return ledger


def recorded_of_old(ledger: Ledger, *events: Event, actor: str = "of old") -> None:
    """Record facts below the judge, as ``takes_misfits`` says."""
    Recorder(ledger.journal, ledger.now_ms, ledger.current_facts, _check_of_old).append_many(
        ledger._stated(events), actor
    )


def take_made_up_games(folder: Path, games: int, batch: int) -> Path:
    """Import so many games of the made-up file into the ledger of the folder, made where there is none, and rate them.

    Returns the folder.
    """
    with open_ledger(folder / NAME) as ledger:
        assert ledger.import_games(batch_games(source_games(games), batch)).faults == []
        ledger.catch_up()
    return folder


def copied(folder: Path, target: Path) -> Path:
    """Copy a folder with a ledger into *target*, to be worked with or spoilt; returns the path of the copy."""
    shutil.copytree(folder, target, dirs_exist_ok=True)
    return target / NAME


SECRET = b"the one secret of ledgers we test"[:32]
_drawn = persons.new_secret


def key_of(plain: str) -> str:
    """The key that a ledger under test makes of a plain one."""
    (key,) = keyed_hashes(SECRET, [plain])
    return key


@contextmanager
def one_secret() -> Iterator[None]:
    """New ledgers get ``SECRET``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persons, "new_secret", lambda: SECRET)
        yield


@contextmanager
def secrets_as_drawn() -> Iterator[None]:
    """New ledgers get a secret of their own again, as everywhere but in tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persons, "new_secret", _drawn)
        yield
