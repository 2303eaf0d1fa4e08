"""Real games in several orders: the ratings are those of the facts, to the last bit, however the files came in."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

from ledger.facts.source_games import SourceGame
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import views
from ledger.ratings.projection import PoolProjection, RatedAgain
from tests.kit.clubs import key_of
from tests.kit.lived_histories import rows_by_identity
from tests.kit.places import DATA
from tests.kit.source_files import open_lines

NOW = datetime(2026, 11, 21, tzinfo=UTC)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real games does not stand beside the checkout"),
]


def read(name: str) -> list[SourceGame]:
    with open_lines(str(DATA / name)) as (lines, reading):
        games = list(pgn.read_games(lines, reading))
    assert games, name
    return games


@contextmanager
def new_ledger() -> Iterator[Ledger]:
    with TemporaryDirectory() as folder, Ledger.create(Path(folder) / "club.db", clock=lambda: NOW) as ledger:
        yield ledger


def take(ledger: Ledger, games: Sequence[SourceGame], batch: int) -> None:
    outcome = ledger.import_games(batch_games(games, batch))
    assert outcome.recorded + outcome.repeated + sum(outcome.left_out.values()) + len(outcome.faults) == len(games)


@pytest.fixture(scope="module")
def files() -> dict[str, list[SourceGame]]:
    """The files by name, round robins first; a game that stands in two files is in the first only.

    Games have the number of their place in the file: what orders the games of one day is a fact that stays with them.
    """
    names = [f"roundrobins/{path.name}" for path in sorted((DATA / "roundrobins").glob("*.pgn"))]
    names += ["lichess_small.pgn", "lichess_slice_20211001.pgn"]
    met: set[str] = set()
    found: dict[str, list[SourceGame]] = {}
    for name in names:
        new = [game for game in read(name) if game.key not in met]
        found[name] = [game._replace(sequence=number) for number, game in enumerate(new, 1)]
        met.update(game.key for game in found[name])
    return found


@pytest.fixture(scope="module")
def taken_at_once(files: dict[str, list[SourceGame]]) -> dict[str, Any]:
    """One import of everything, one rebuild."""
    with new_ledger() as ledger:
        take(ledger, [game for games in files.values() for game in games], 5_000)
        ledger.rebuild()
        return rows_by_identity(ledger)


def test_there_are_games_to_speak_of(taken_at_once: dict[str, Any]) -> None:
    assert len(taken_at_once["games"]) > 4_000
    assert len(taken_at_once["history"]) > 7_000


@pytest.mark.parametrize("batch", [700, pytest.param(5_000, marks=pytest.mark.nightly)])
def test_file_by_file_newest_first(
    files: dict[str, list[SourceGame]], taken_at_once: dict[str, Any], batch: int
) -> None:
    with new_ledger() as ledger:
        for games in reversed(files.values()):
            take(ledger, games, batch)
            ledger.catch_up()
        assert rows_by_identity(ledger) == taken_at_once


@pytest.mark.parametrize("seed", [1, 2])
def test_all_games_shuffled(files: dict[str, list[SourceGame]], taken_at_once: dict[str, Any], seed: int) -> None:
    games = [game for one in files.values() for game in one]
    random.Random(seed).shuffle(games)
    with new_ledger() as ledger, patch.object(views, "FEW_ENTRIES", 0 if seed == 1 else 2_000):
        for start in range(0, len(games), 900):
            take(ledger, games[start : start + 900], 450)
            ledger.catch_up()
        assert rows_by_identity(ledger) == taken_at_once


def test_the_same_files_again_change_nothing(files: dict[str, list[SourceGame]], taken_at_once: dict[str, Any]) -> None:
    with new_ledger() as ledger:
        for games in files.values():
            take(ledger, games, 1_000)
        ledger.catch_up()
        head = ledger.head()
        for games in files.values():
            assert ledger.import_games(batch_games(games)).recorded == 0
        assert ledger.catch_up() == head.size
        assert ledger.head() == head
        assert rows_by_identity(ledger) == taken_at_once


def test_an_older_file_rates_again_only_from_its_place_on(files: dict[str, list[SourceGame]]) -> None:
    """And of the games after it only those that its players' ratings reach."""
    rated: list[int] = []
    update = PoolProjection.update

    def spy(self: PoolProjection, *arguments: Any) -> RatedAgain:
        again = update(self, *arguments)
        rated.append(again.games)
        return again

    with new_ledger() as ledger, patch.object(PoolProjection, "update", spy):
        take(ledger, files["lichess_small.pgn"], 5_000)
        take(ledger, files["roundrobins/2019_norway.pgn"], 5_000)
        ledger.catch_up()
        rated.clear()

        # Players of 2022 who met none of the others: nothing but their own games is rated.
        newest = files["roundrobins/2022_charlotte_gma.pgn"]
        take(ledger, newest, 5_000)
        ledger.catch_up()
        assert sum(rated) == counting(ledger, newest)
        rated.clear()

        # Carlsen, Aronian, Caruana and others of 2019 in 2018: their tournament of 2019 is rated again, but for the
        # first games of those who were not there. Nothing of Lichess, before or after.
        older = files["roundrobins/2018_wijk_masters.pgn"]
        take(ledger, older, 5_000)
        ledger.catch_up()
        later = counting(ledger, files["roundrobins/2019_norway.pgn"])
        assert counting(ledger, older) > 80
        assert sum(rated) == reached(ledger, older)
        assert counting(ledger, older) + later - 5 < sum(rated) < counting(ledger, older) + later
        rated.clear()

        # A game two years after the rest, of players who are new.
        late = max(files["lichess_slice_20211001.pgn"], key=lambda game: game.ended_at)
        take(ledger, [late], 1)
        ledger.catch_up()
        assert sum(rated) == counting(ledger, [late])


def reached(ledger: Ledger, fresh: Sequence[SourceGame]) -> int:
    """How many games must be rated for these: they, and all later ones of anybody whose rating they reach."""
    keys = set(map(stored_key, fresh))
    touched: set[int] = set()
    count = 0
    for row in ledger.rows("games", "reason IS NULL ORDER BY ended_ms, round_order, key"):
        if row["key"] in keys or touched & {row["white"], row["black"]}:
            touched |= {row["white"], row["black"]}
            count += 1
    return count


def stored_key(game: SourceGame) -> str:
    """The key under which a ledger has a game."""
    return key_of(game.key) if game.is_made else game.key


def counting(ledger: Ledger, games: Sequence[SourceGame]) -> int:
    """How many of these games are rated."""
    keys = set(map(stored_key, games))
    return sum(row["key"] in keys for row in ledger.rows("games", "reason IS NULL"))
