"""What a run works on: its size, and sets of games that are made once: columns, a CSV file, a ledger with its views."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import attrs

from ledger.ledger import Ledger
from ledger.runtime.lazy import np

from . import synthetic
from .processes import Worked, in_a_process
from .synthetic import Columns

T = TypeVar("T")
OTB = "otb_replay_strict.csv.gz"
PGN = "lichess_small.pgn"
SAMPLE = Path(__file__).parents[1] / "sample" / "club.pgn"
GAMES_A_PLAYER = 20
TAIL = 20_000  # games that all made-up sets end with
TAIL_MS = 60_000  # from one of them to the next


@attrs.frozen
class Size:
    """How much is measured.

    Attributes: games: Of the made-up sets. real: Whether real games are measured. rounds: Of short works. requests: Of
        each kind to a server in a round. live: Games that are appended one by one. events: Events in transactions of
        1,000, and of the aggregate that a repository rebuilds. part: Games on which works that are slow, or whose
        bounds only inform, are measured. players: Of a list of players. listeners: To the stream of a server. warm:
        Whether commands from the shell run once before they are measured.
    """

    games: tuple[int, ...]
    real: bool
    rounds: int
    requests: int
    live: int
    events: int
    part: int
    players: int
    listeners: int
    warm: bool


_QUICK = Size(
    games=(2_000, 6_000), real=False, rounds=1, requests=20, live=50, events=1_000, part=500, players=3_000,
    listeners=200, warm=False,
)  # fmt: skip
_USUAL = Size(
    games=(100_000, 1_000_000), real=True, rounds=5, requests=100, live=2_000, events=50_000, part=100_000,
    players=300_000, listeners=10_000, warm=True,
)  # fmt: skip
SIZES: Mapping[str, Size] = {
    "quick": _QUICK,
    "usual": _USUAL,
    "large": attrs.evolve(_USUAL, games=(*_USUAL.games, 10_000_000), part=200_000, players=1_500_000),
}


@attrs.frozen
class GameSet:
    """A set of games: its name in tables, the number of games, a folder for its files, and what makes its columns."""

    name: str
    games: int
    folder: Path
    columns: Callable[[], Columns]
    source: Path | None = None

    def csv(self) -> Path:
        """Return the games as a CSV file, written once, or the file from which they come."""
        path = self.source or self.folder / "games.csv"
        if not path.exists():
            synthetic.write_csv(self.columns(), path)
        return path

    @property
    def path(self) -> Path:
        """The journal of the ledger."""
        return self.folder / "ledger" / "games.db"

    @property
    def views(self) -> Path:
        """The views of the ledger."""
        return self.path.with_name("games.views.db")

    def ledger(self) -> Path:
        """Return a ledger of the games with their history, made once in a process of its own."""
        if not self.path.exists():
            self.import_again()
        return self.path

    def import_again(self) -> Worked:
        """Make the ledger again: import alone, then import to history."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
        self.path.parent.mkdir()
        return in_a_process("import", self.path, self.csv())

    @contextmanager
    def open(self) -> Iterator[Ledger]:
        """The ledger with views that are up to date."""
        with Ledger.open(self.ledger()) as ledger:
            ledger.level()
            yield ledger


@attrs.frozen(slots=False)
class Run:
    """What one run of the benchmark works on; every set is made when a section first asks for it."""

    size: Size
    rounds: int
    data: Path
    folder: Path

    @property
    def short(self) -> int:
        """Rounds of short works."""
        return max(self.rounds, self.size.rounds)

    @cached_property
    def sets(self) -> list[GameSet]:
        """The made-up sets, small ones first."""
        return made_up(self.size.games, self.new_folder("sets"))

    @cached_property
    def part(self) -> GameSet:
        """A made-up set of the size of a part."""
        return next((data for data in self.sets if data.games == self.size.part), None) or self.made_up(self.size.part)

    @cached_property
    def real(self) -> GameSet:
        """Real games; tournaments that are made up if their file is absent, and in a quick run."""
        path, folder, games = self.data / OTB, self.new_folder("real"), self.size.games[-1]
        if self.size.real and path.exists():
            with gzip.open(path) as file:
                games = sum(1 for _ in file) - 1  # no field has a line break
            return GameSet("otb", games, folder, partial(synthetic.otb_columns, path), path)
        path = folder / OTB
        synthetic.write_tournaments(path, games)
        return GameSet("tournaments", games, folder, partial(synthetic.otb_columns, path), path)

    @property
    def pgn(self) -> Path:
        """Games with clocks; the sample club if their file is absent."""
        path = self.data / PGN
        return path if path.exists() else SAMPLE

    def made_up(self, games: int) -> GameSet:
        """Return one more made-up set."""
        (data,) = made_up([games], self.new_folder(f"made-{games}"))
        return data

    def new_folder(self, name: str) -> Path:
        """Return a new folder of this run."""
        folder = self.folder / name
        folder.mkdir()
        return folder

    def apart(self, work: Callable[[Path], T]) -> T:
        """Do a work in a folder of its own that is deleted afterwards."""
        with TemporaryDirectory(dir=self.folder) as made:
            return work(Path(made))


def made_up(sizes: Sequence[int], folder: Path) -> list[GameSet]:
    """Return made-up sets of ascending sizes, whose last games are the same, between the same players and at one time.

    Every twentieth game brings a new player. The end is ``tail_length`` games long; its players take part in every set
    from early on.
    """
    smallest = min(sizes)
    sets = []
    for games in sorted(set(sizes)):
        (own := folder / f"games-{games}").mkdir()
        make = partial(_ending, games, tail_length(smallest), max(2, smallest // 40))
        sets.append(GameSet(in_millions(games), games, own, make))
    return sets


def in_millions(games: int) -> str:
    """Return a number of games as in tables: ``0.1 M``."""
    return f"{games / 1e6:g} M"


def tail_length(smallest: int) -> int:
    """Return how many last games sets have in common whose smallest has so many games."""
    return min(TAIL, smallest // 2)


def tail_ms(number: Any) -> Any:
    """Return when the n-th game of the common end ended, milliseconds since 1970; or a column of them."""
    return synthetic.END_MS + TAIL_MS * (number + 1)


def _ending(games: int, length: int, players: int) -> Columns:
    beginning = games - length
    head = synthetic.games(beginning, min(beginning, max(players, beginning // GAMES_A_PLAYER)), 1)
    tail = synthetic.games(length, min(players, length), 2)
    tail["ended_at"] = tail_ms(np.arange(length))
    return {name: np.concatenate([head[name], tail[name]]) for name in head}
