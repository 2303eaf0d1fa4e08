"""What a run works on: its size, and sets of games that are made once: columns, a CSV file, a ledger with its views.

Columns are NumPy arrays in rating order: ``white`` and ``black`` (numbers of players, dense from 0), White's ``score``,
``ended_at`` (milliseconds since 1970, whole seconds, some tied), ``half_moves`` (-1 if unknown), ``checkmate``, and of
over-the-board games ``event`` (a number), ``white_elo`` and ``black_elo`` (the ratings next to the names, 0 if none).
"""

from __future__ import annotations

import gzip
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from random import Random  # noqa: TID251  # a seed gives the same games
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from ledger.ledger import Ledger
from ledger.runtime.lazy import np, pl
from ledger.schemes import find_scheme
from ledger.schemes.scheme import Newcomer

from .measuring import Worked, in_a_process

if TYPE_CHECKING:
    import numpy.typing as npt
    from polars import DataFrame, Expr

Columns = dict[str, "npt.NDArray[Any]"]
WORKS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("works.toml").read_text("utf-8"))

FIRST_SECOND = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp())
SECONDS = 15 * 365 * 86_400
END_MS = (FIRST_SECOND + SECONDS) * 1000
RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
PLAYERS = 13  # of a made-up tournament
CLUB = 40  # players of a made-up club
GAMES_OF_A_PLAYER = 60  # in made-up tournaments, about
PROJECTED_BEFORE = 500  # games or events into a new file of views, ours and a rival's, before any is measured


def projected_of(events: int) -> int:
    """Return how many of so many recorded events are projected, ours and a rival's."""
    return max(500, events // 10)


def make_games(count: int, players: int, seed: int) -> Columns:
    """Make up ``count`` games of exactly ``players`` players over 15 years: the same for the same seed."""
    return next(game_blocks(count, players, seed, count))


def game_blocks(count: int, players: int, seed: int, rows: int) -> Iterator[Columns]:
    """Make up games as ``make_games`` does, and yield them in blocks of so many: the same for the same blocks.

    Player i joins with White in game ``i * count / players``, so new players never stop coming and the early ones play
    most. Activity is log-normal (a tenth of the players plays more than half of the games), skill has a deviation of
    200 points, White 30 points of advantage. 3 % of the games have ten half-moves or fewer, and a quarter of the
    decided ones end in mate.
    """
    if not 2 <= players <= count:
        raise ValueError(f"players must be from 2 to the number of games, got {players} for {count} games")
    rng = np.random.default_rng(seed)
    skill, activity = rng.normal(0.0, 200.0, players), np.cumsum(np.exp(rng.normal(0.0, 1.2, players)))
    for first in range(0, count, rows):
        yield _block(rng, np.arange(first, min(first + rows, count)), count, skill, activity)


def _block(
    rng: np.random.Generator, index: npt.NDArray[Any], games: int, skill: npt.NDArray[Any], activity: npt.NDArray[Any]
) -> Columns:
    """Make up the games of these places among so many."""
    count = len(index)
    begin, end = (FIRST_SECOND + SECONDS * place // games for place in (int(index[0]), int(index[-1]) + 1))
    seconds = np.sort(rng.integers(begin, end, count))
    tied = 1 + np.flatnonzero(rng.random(count - 1, np.float32) < 0.02)
    seconds[tied] = seconds[tied - 1]
    white, black = _pairings(rng, index, games, activity)
    expected = 1.0 / (1.0 + np.power(10.0, (skill[white] - skill[black] + 30.0) / -400.0))
    draw, chance = expected * (1.0 - expected), rng.random(count)  # the chance of a draw: a quarter between equals
    win = expected - draw / 2
    score = np.where(chance < win, 1.0, np.where(chance < win + draw, 0.5, 0.0))
    half_moves = (rng.standard_gamma(4.0, count, np.float32) * 18.0).clip(11, 400).astype(np.int16)
    short = np.flatnonzero(rng.random(count, np.float32) < 0.03)
    half_moves[short] = rng.integers(0, 11, len(short), np.int16)
    mate = (score != 0.5) & (half_moves >= 4) & (rng.random(count, np.float32) < 0.25)  # the fourth: fool's mate
    half_moves = np.where(mate, (half_moves | 1) - (score == 0.0), half_moves)  # White mates with an odd half-move
    small = {"white": np.int32, "black": np.int32, "half_moves": np.int16, "checkmate": np.uint8}
    columns = {"white": white, "black": black, "score": score, "half_moves": half_moves, "checkmate": mate}
    return {name: column.astype(small.get(name)) for name, column in columns.items()} | {"ended_at": seconds * 1000}


def _pairings(
    rng: np.random.Generator, index: npt.NDArray[Any], games: int, activity: npt.NDArray[Any]
) -> tuple[Any, Any]:
    """Draw two different players for each game from those who have joined by then, by their activity."""
    players = len(activity)
    newest = index * players // games
    joined = np.maximum(newest + 1, 2)
    chances = (rng.random(len(index)) * activity[joined - 1] for _ in "wb")
    white, black = (np.searchsorted(activity, chance, side="right") for chance in chances)
    joins = (index - 1) * players // games != newest
    white[joins] = newest[joins]
    np.minimum(white, joined - 1, out=white)
    np.minimum(black, joined - 1, out=black)
    same = white == black
    black[same] = (black[same] + 1) % joined[same]
    return white, black


def write_csv(columns: Columns, path: Path) -> None:
    """Write ``key,white,black,result,termination,half_moves,ended_at``."""
    game_rows(columns).write_csv(path)


def game_rows(columns: Columns, key: Expr | None = None, **more: Expr) -> DataFrame:
    """Return the rows of a CSV file, with more columns at the end; without a *key* games are numbered.

    The columns carry no termination but mate: of the other decided games every third is said to be lost on time.
    """
    termination = (
        pl.when(pl.col("checkmate") == 1).then(pl.lit("checkmate")).when(pl.col("score") == 0.5)
        .then(pl.lit("agreement")).when(pl.col("ended_at") // 1000 % 3 == 0).then(pl.lit("time"))
        .otherwise(pl.lit("resignation"))
    )  # fmt: skip
    return pl.DataFrame(columns).select(
        key=pl.format("g{}", pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(8)) if key is None else key,
        **{side: pl.format("p{}", pl.col(side).cast(pl.String).str.zfill(6)) for side in ("white", "black")},
        result=pl.col("score").replace_strict(RESULTS, return_dtype=pl.String),
        termination=termination,
        half_moves=pl.col("half_moves"),
        ended_at=pl.col("ended_at").cast(pl.Datetime("ms")).dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        **more,
    )


def write_tournaments(path: Path, count: int) -> None:
    """Write made-up games in the form of the over-the-board file: tournaments in which everybody plays everybody."""
    pairs = sorted(((white, black) for white in range(PLAYERS) for black in range(white)), key=sum)
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("game_no,date,event,round,white_fide_id,black_fide_id,result,white_elo,black_elo,plies\n")
        for game in range(count):
            event, place = divmod(game, len(pairs))
            first = event * 5 % max(1, count // GAMES_OF_A_PLAYER)  # the field moves on by five from event to event
            white, black = (1 + first + player for player in pairs[place])
            result = tuple(RESULTS.values())[(white * black + event) % 3]
            day = date(2000, 1, 1) + timedelta(days=event * 20 * 365 // (1 + count // len(pairs)))
            shown = f"{1500 + white % 900},{1500 + black % 900 if black % 2 else ''}"
            file.write(f"{game + 1},{day},Open {event},1,{white},{black},{result},{shown},{20 + place}\n")


def write_pgn(source: Path, path: Path, count: int) -> None:
    """Write the games of a PGN file again and again, each as another game of Lichess, until there are *count*."""
    head, *games = source.read_bytes().split(b"[Event ")
    with path.open("wb") as file:
        file.write(head)
        for game in range(count):
            site = b'[Site "https://lichess.org/%08d"]' % game
            file.write(b"[Event " + re.sub(rb'\[Site "[^"]*"\]', site, games[game % len(games)], count=1))


def write_club(path: Path, seed: int, games: int, k: str) -> None:
    """Write made-up games whose results are drawn as plain Elo with *k* expects them: no other K predicts them better.

    The columns are ``key,white_id,white,black_id,black,result,ended_at``; two games end on each day.
    """
    scheme, random = find_scheme("elo"), Random(seed)  # noqa: S311
    numbers: Any = scheme.numbers_from({"k": k})
    players: list[Any] = [scheme.player_of(scheme.begin(Newcomer(), numbers)) for _ in range(CLUB)]
    with path.open("w") as file:
        file.write("key,white_id,white,black_id,black,result,ended_at\n")
        for game in range(games):
            white, black = random.sample(range(CLUB), 2)
            expected = scheme.expected_score(players[white], players[black], numbers)
            score = 1.0 if random.random() < expected else 0.0
            scheme.rate_game(players[white], players[black], score, 0.0, numbers)  # type: ignore[misc]
            day = date(2015, 1, 1) + timedelta(days=game // 2)
            file.write(f"made:{game},made:p{white},P {white},made:p{black},P {black},{RESULTS[score]},{day}\n")


def otb_columns(path: Path) -> Columns:
    """Read a file of over-the-board games in its order; a date means midnight."""
    small = dict.fromkeys(("plies", "white_elo", "black_elo"), pl.Int16())
    names = ["date", "event", "white_fide_id", "black_fide_id", "result", *small]
    with gzip.open(path) as file:
        frame = pl.read_csv(file.read(), columns=names, schema_overrides=small)
    numbers = pl.concat([frame["white_fide_id"], frame["black_fide_id"]]).rank("dense").cast(pl.Int32).to_numpy() - 1
    scores = {word: score for score, word in RESULTS.items()}
    return {
        "white": numbers[: len(frame)].copy(),
        "black": numbers[len(frame) :].copy(),
        "score": frame["result"].replace_strict(scores, return_dtype=pl.Float64).to_numpy(writable=True),
        "ended_at": frame["date"].str.to_date("%Y-%m-%d").cast(pl.Datetime("ms")).cast(pl.Int64).to_numpy(),
        "half_moves": frame["plies"].fill_null(-1).to_numpy(),
        "checkmate": np.zeros(len(frame), np.uint8),
        "event": frame["event"].fill_null("").rank("dense").cast(pl.Int32).to_numpy(),
    } | {name: frame[name].fill_null(0).to_numpy() for name in ("white_elo", "black_elo")}


# Sets of games.

T = TypeVar("T")
OTB = "otb_replay_strict.csv.gz"
SAMPLE = Path(__file__).parents[1] / "sample" / "club.pgn"
GAMES_A_PLAYER = 20
TAIL = 20_000  # games that all made-up sets end with
TAIL_MS = 60_000  # from one of them to the next


@attrs.frozen
class Size:
    """The amount of work: games of the generated sets and of a part, rounds of short works, requests of a kind.

    ``part`` is for works that are slow, or whose bounds only inform. ``live`` games are appended one by one, ``events``
    in transactions of 1,000. ``clubs`` of each kind have their settings searched. ``warm``: commands from the shell run
    once before they are measured.
    """

    games: tuple[int, ...] = (100_000, 1_000_000)
    real: bool = True
    rounds: int = 5
    requests: int = 100
    live: int = 2_000
    events: int = 50_000
    part: int = 100_000
    players: int = 300_000
    listeners: int = 10_000
    clubs: int = 20
    warm: bool = True


SIZES: Mapping[str, Size] = {
    "quick": Size((2_000, 6_000), False, 1, 20, 50, 1_000, part=500, players=3_000, listeners=200, clubs=2, warm=False),  # noqa: FBT003
    "usual": Size(),
    "large": Size((100_000, 1_000_000, 10_000_000), part=200_000, players=1_500_000),
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
            write_csv(self.columns(), path)
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
        """Yield the ledger with views that are up to date."""
        with Ledger.open(self.ledger()) as ledger:
            ledger.ensure_up_to_date()
            yield ledger


@attrs.frozen(slots=False)
class Run:
    """The data of one run of the benchmark; a set is made when a section first asks for it."""

    size: Size
    rounds: int
    data: Path
    folder: Path
    has_moves: bool = False  # games whose growth is measured, or some of them

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
        return self.made_up(self.size.part)

    @cached_property
    def real(self) -> GameSet:
        """Real games; tournaments that are made up if their file is absent, and in a quick run."""
        path, folder, name = self.data / OTB, self.new_folder("real"), "otb"
        if not self.size.real or not path.exists():
            path, name = folder / OTB, "tournaments"
            write_tournaments(path, self.size.games[-1])
        with gzip.open(path) as file:
            games = sum(1 for _ in file) - 1  # no field has a line break
        return GameSet(name, games, folder, partial(otb_columns, path), path)

    def made_up(self, games: int) -> GameSet:
        """Return one of the sets, or one more made-up set."""
        of_sets = [data for data in self.sets if data.games == games]
        return of_sets[0] if of_sets else made_up([games], self.new_folder(f"made-{games}"))[0]

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
    tail, sets = tail_length(min(sizes)), []
    for games in sorted(set(sizes)):
        (own := folder / f"games-{games}").mkdir()
        make = partial(_ending, games, tail, max(2, min(sizes) // 40))
        sets.append(GameSet(f"{games / 1e6:g} M", games, own, make))
    return sets


def tail_length(smallest: int) -> int:
    """Return how many last games sets have in common whose smallest has so many games."""
    return min(TAIL, smallest // 2)


def tail_ms(number: Any) -> Any:
    """Return when the n-th game of the common end ended, milliseconds since 1970; or a column of them."""
    return END_MS + TAIL_MS * (number + 1)


def _ending(games: int, length: int, players: int) -> Columns:
    head, tail = ending_blocks(games, length, players, games)
    return {name: np.concatenate([head[name], tail[name]]) for name in head}


def ending_blocks(games: int, length: int, players: int, rows: int) -> Iterator[Columns]:
    """Yield games in blocks of so many, and at last the common end of that length, of so many players."""
    beginning = games - length
    yield from game_blocks(beginning, min(beginning, max(players, beginning // GAMES_A_PLAYER)), 1, rows)
    tail = make_games(length, min(players, length), 2)
    tail["ended_at"] = tail_ms(np.arange(length))
    yield tail
