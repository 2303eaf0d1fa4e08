"""The sets of games that the benchmark works on, each made once: columns, a CSV file, a ledger with its views."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from ledger.runtime.lazy import np

from . import synthetic
from .processes import in_a_process
from .synthetic import Columns

OTB = "otb_replay_strict.csv.gz"
GAMES_A_PLAYER = 20
TAIL = 20_000  # games that all journals of the late results end with
TAIL_MS = 60_000  # from one of them to the next


@attrs.frozen
class GameSet:
    """A set of games with its own folder.

    Attributes: name: What tables call it. games: How many. folder: Where its files are made; it must exist. columns:
        Makes the columns of ``synthetic`` anew. source: A CSV file that is there already.
    """

    name: str
    games: int
    folder: Path
    columns: Callable[[], Columns]
    source: Path | None = None

    def csv(self) -> Path:
        """The games as a CSV file, written once."""
        if self.source is not None:
            return self.source
        path = self.folder / "games.csv"
        if not path.exists():
            synthetic.write_csv(self.columns(), path)
        return path

    def ledger(self) -> Path:
        """A ledger of the games with level views, made once in a process of its own."""
        path = self.ledger_path
        if not path.exists():
            self.imported_again()
        return path

    @property
    def ledger_path(self) -> Path:
        """Where the ledger is, or will be."""
        return self.folder / "ledger" / "games.db"

    def imported_again(self) -> dict[str, float]:
        """Make the ledger anew; what it took, as ``working`` measures it."""
        shutil.rmtree(self.ledger_path.parent, ignore_errors=True)
        self.ledger_path.parent.mkdir()
        return in_a_process("import", self.ledger_path, self.csv())

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder beside the ledger that is emptied and gone afterwards."""
        with TemporaryDirectory(dir=self.folder) as made:
            yield Path(made)


def in_millions(games: int) -> str:
    """What tables call a number of games: ``0.1 M``."""
    return f"{games / 1e6:g} M"


def made_up(sizes: Sequence[int], folder: Path) -> list[GameSet]:
    """Made-up sets of ascending sizes; every twentieth game brings a newcomer."""
    return [_made_up(games, folder) for games in sorted(set(sizes))]


def _made_up(games: int, folder: Path) -> GameSet:
    own = folder / f"games-{games}"
    own.mkdir()
    players = max(2, games // GAMES_A_PLAYER)
    return GameSet(in_millions(games), games, own, lambda: synthetic.games(games, players, 1))


def over_the_board(data: Path, folder: Path) -> list[GameSet]:
    """The set of real games; none where the file is absent."""
    path = data / OTB
    if not path.exists():
        return []
    with gzip.open(path) as file:
        games = sum(1 for _ in file) - 1  # no field of it has a line break
    own = folder / "otb"
    own.mkdir()
    return [GameSet("otb", games, own, lambda: synthetic.otb_columns(path), path)]


def with_the_same_end(sizes: Sequence[int], folder: Path) -> list[GameSet]:
    """Made-up sets of ascending sizes whose last games are the same, between the same players at the same times.

    The end is ``TAIL`` games long, or half of the smallest set; its players take part in every set from early on.
    """
    smallest = min(sizes)
    length = min(TAIL, smallest // 2)
    sets = []
    for games in sorted(set(sizes)):
        own = folder / f"tail-{games}"
        own.mkdir()
        sets.append(GameSet(in_millions(games), games, own, _ending(games, length, max(2, smallest // 40))))
    return sets


def _ending(games: int, length: int, players: int) -> Callable[[], Columns]:
    def make() -> Columns:
        beginning = games - length
        head = synthetic.games(beginning, max(players, beginning // GAMES_A_PLAYER), 1)
        tail = synthetic.games(length, min(players, length), 2)
        tail["ended_at"] = tail_ms(np.arange(length))
        return {name: np.concatenate([head[name], tail[name]]) for name in head}

    return make


def tail_length(sets: Sequence[GameSet]) -> int:
    """How many last games the sets of ``with_the_same_end`` have in common."""
    return min(TAIL, min(data.games for data in sets) // 2)


def tail_ms(number: Any) -> Any:
    """When the n-th game of the common end took place, milliseconds since 1970: the first has number 0; or a column."""
    first = (synthetic.FIRST_SECOND + synthetic.SECONDS) * 1000
    return first + TAIL_MS * (number + 1)
