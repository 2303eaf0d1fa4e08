"""Ledgers with a past: the files at several moments, who was who, and what the commands answered then.

A history is made small and whole, or goes on from a copy of a real ledger. Nothing is spoilt here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import attrs

from ledger.facts.source_games import SourceGame
from ledger.journal.settings_file import ServerPlace
from tests.attacks.stores import ROLES, copied, file_of, ledger_in, raw, readable
from tests.attacks.truth import TILE, Truth, commitment, digest_of, entries, people
from tests.attacks.workers import Done, Worker
from tests.kit.games import source_game
from tests.kit.source_files import game_line

Question = tuple[str, ...]

STRANGERS = ("Mallory Attacks", "Oscar Attacks")  # whom no ledger knows
PLAYERS = ("Ann", "Bob", "Carl", "Dora", "Emil", "Fay")
FOREIGN_PLAYERS = ("Ann", "Yve", "Zeno", "Wolf", "Vera", "Uwe")  # of the same lengths; one has a name of ours
BUILDING = ".building"  # behind the name of the views, while they are built
BEGINNING = date(2020, 1, 1)  # of the games


@attrs.frozen
class Point:
    """The files of a ledger at one moment, never written to."""

    name: str  # what had just happened
    db: Path  # the journal in a folder of its own, with everything beside it, closed in order
    torn: Path  # the same as a crash right then leaves it, the newest pages still in the logs
    stopped_build: Path  # what a build of its views leaves that is stopped just before it is whole
    number: int  # its place in the history, from 0


@attrs.frozen
class Moment:
    """What is known of a ledger whose journal is exactly this one."""

    answers: dict[Question, Any]  # of the untouched ledger
    aliases: dict[int, set[str | None]]  # by player number: names, identities, None once erased


@attrs.define
class History:
    """A ledger's points, oldest first, and all that is known of them."""

    points: list[Point]
    tall: Point  # the present with so many games more that the tree has a node; nothing else is known of it
    identities: dict[int, str]  # by player number, of everybody ever registered
    sealed: dict[str, str]  # commitment -> identity, of everybody ever registered
    moments: dict[str, Moment]  # by digest of the journal
    known: Path  # a file with one more game of two players, known from the first point on and from the last
    fresh: Path  # a file with one game of two players whom nobody knows
    people_in: dict[str, tuple[str, str]]  # by game of these two files, the identities of White and Black
    other: History | None = None  # of another ledger, whose files come in the place of ours

    def learn(self, other: History) -> None:
        """Know what another ledger answers, too."""
        self.other = other
        self.sealed.update(other.sealed)
        self.moments.update(other.moments)

    @property
    def last(self) -> Point:
        return self.points[-1]

    def looked_at(self, point: Point | None = None) -> Path:
        """Copy the ledger at a point, by default the present, to look into it."""
        chosen = point or self.last
        return copied(chosen.db, self.known.parent / f"looked at, {chosen.name}")


def game(key: str, white: str, black: str, outcome: str = "white", day: int = 0, **more: Any) -> SourceGame:
    """Return a game of two people known by name, so many days after the beginning."""
    facts = {"outcome": outcome, "ended_at": str(BEGINNING + timedelta(days=day)), **more}
    return source_game(f"club:{key}", white, black, **facts)


def written(path: Path, *games: SourceGame) -> Path:
    """Write a file of our own JSON lines."""
    path.write_bytes(b"".join(map(game_line, games)))
    return path


@contextmanager
def logs_kept(db: Path) -> Iterator[None]:
    """Keep the write-ahead logs of a ledger from being folded in, as a program that has it open does."""
    with ExitStack() as held:
        for path in (file_of(db, role) for role in ROLES):
            if path.exists():
                connection = held.enter_context(closing(raw(path)))
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield


class Maker:
    """Makes a history: runs commands on a ledger of its own and keeps copies of it."""

    def __init__(self, db: Path, worker: Worker, truth: Truth) -> None:
        """Take the path of the ledger, made or still to be made, in a folder that lies in one of our own."""
        self.db = db
        self._worker = worker
        self._truth = truth
        self._folder = db.parent.parent
        self._asked = self._folder / "asked"
        self._points: list[Point] = []

    def run(self, *words: object) -> Done:
        """Run a command that must succeed; the ledger's path goes in behind its name."""
        done = self._worker.run(words[0], self.db, *words[1:])
        if done.code != 0:
            raise RuntimeError(f"{' '.join(done.words)}: exit {done.code}: {done.out}{done.err}")
        return done

    def import_games(self, *games: SourceGame) -> None:
        self.run("import", written(self._folder / "games.jsonl", *games))

    def keep(self, name: str, *acts: Callable[[], object]) -> None:
        """Do something, and keep the files as they are afterwards."""
        number = len(self._points)
        with logs_kept(self.db):
            for act in acts:
                act()
            torn = copied(self.db, self._folder / f"{number} torn")
        asked = copied(self.db, self._asked)
        self._worker.run("stop-build", asked)
        building = file_of(asked, "views", BUILDING).rename(self._folder / f"{number} building.db")
        point = Point(name, copied(self.db, self._folder / f"{number} whole"), torn, building, number)
        self._truth.know(point.db)
        self._points.append(point)

    def history(self) -> History:
        """Return what was made, with what the commands answer at each point."""
        aliases: dict[int, set[str | None]] = {}
        identities: dict[int, str] = {}
        names: dict[int, str] = {}
        sealed: dict[str, str] = {}
        for point in self._points:
            for player, (identity, name, salt, _) in (people(readable(point.db, self._asked)) or {}).items():
                called = aliases.setdefault(player, {f"(not in the people file) {player}"})
                if isinstance(identity, str) and isinstance(name, str):
                    identities[player], names[player] = identity, name
                    sealed[commitment(identity, name, salt)] = identity
                    called |= {identity, name}
                else:
                    called |= {None, f"(erased) {player}"}
        pair = [(identities[player], names[player]) for player in (min(identities), max(identities))]
        strangers = [(f"name:{name.lower()}", name) for name in STRANGERS]
        moments: dict[str, Moment] = {}
        for point in self._points:
            digest, answers = self._answers(point, _questions(min(identities), pair[0][0]))
            moments.setdefault(digest, Moment({}, aliases)).answers.update(answers)
        people_in: dict[str, tuple[str, str]] = {}

        def one_game(key: str, white: tuple[str, str], black: tuple[str, str]) -> Path:
            people_in[f"club:{key}"] = white[0], black[0]
            played = game(key, white[1], black[1], day=300, white_id=white[0], black_id=black[0])
            return written(self._folder / f"{key}.jsonl", played)

        known, fresh = one_game("attack-known", *pair), one_game("attack-fresh", *strangers)
        return History(self._points, self._grown_tall(), identities, sealed, moments, known, fresh, people_in)

    def _grown_tall(self) -> Point:
        """Return a last point, which the ledger leaves behind."""
        self.import_games(*(game(f"tall-{n}", *STRANGERS, day=100 + n) for n in range(TILE + 1)))
        db = copied(self.db, self._folder / "tall")
        return attrs.evolve(self._points[-1], name="many games more", db=db, torn=db)

    def _answers(self, point: Point, questions: Sequence[Question]) -> tuple[str, dict[Question, Any]]:
        found = entries(readable(point.db, self._asked))
        db = copied(point.db, self._asked)
        assert found is not None
        answers = {}
        for question in questions:
            done = self._worker.run(question[0], db, *question[1:])
            if done.code == 0:
                answers[question] = parsed(done.out)
        return digest_of(found), answers


def parsed(out: str) -> Any:
    """Return the values of an answer; its text where it is no JSON."""
    try:
        return json.loads(out)
    except ValueError:
        return out


def _questions(player: int, identity: str) -> tuple[Question, ...]:
    number = str(player)
    return (
        ("show", identity), ("show", number), ("ratings",), ("games", number), ("pools",), ("runs",), ("head",),
        ("graph", identity), ("predict", number, str(player + 2)), ("log", "--game", "club:1"),
        ("explain", identity, "club:1"), ("show", number, "--at", "2020-01-10"),
    )  # fmt: skip


def small(
    folder: Path, worker: Worker, truth: Truth, *, foreign: bool = False, place: ServerPlace | None = None
) -> History:
    """Make a club of six with a past: imports, somebody erased, somebody renamed, another scheme, a run, a tournament.

    With *foreign* other people (but for one) have other results, in files of the same sizes. Journal and names are in
    files, or at a *place* on a server.
    """
    make = Maker(folder / "live" / "club.db", worker, truth)
    make.db.parent.mkdir(parents=True)
    ann, bob, carl, dora, emil, fay = FOREIGN_PLAYERS if foreign else PLAYERS
    won, lost = ("black", "white") if foreign else ("white", "black")
    make.run("init", *_on_server(place))
    make.keep("two players", lambda: make.import_games(game("1", ann, bob, won), game("2", bob, ann, "draw", 3)))
    make.keep("four players", lambda: make.import_games(game("3", carl, dora, won, 5), game("4", ann, carl, lost, 8)))
    make.keep("a late game", lambda: make.import_games(game("5", dora, ann, won, 2)))
    make.keep("the second erased", lambda: make.run("erase", "2", "--yes"))
    make.keep(
        "another scheme",
        lambda: make.run("scheme-adopt", "--scheme", "elo", "--from", "2020-01-05"),
        lambda: make.run("close-run", "--as-of", "2020-01-20"),
    )
    cup = {"tournament": "Cup", "round": "1", "white_rating": 1500, "text": "e4 e5 Nf3"}
    make.keep(
        "a tournament",
        lambda: make.import_games(game("6", emil, ann, won, 30, **cup), game("7", dora, emil, won, 31, **cup)),
        lambda: make.run("close-tournament", "Cup", "--ended", "2020-02-20"),
    )
    # beside a journal in files it stands in a file that no audit looks at
    use_tokens = [] if place is None else [lambda: make.run("use-tokens")]
    make.keep("a guest", lambda: make.run("guest", "4"), lambda: make.run("rename", "4", f"{dora} Ek"), *use_tokens)
    last = game("8", fay, ann, won, 60), game("9", carl, fay, won, 61)
    make.keep("six players", lambda: make.import_games(*last), *use_tokens)
    return make.history()


def _on_server(place: ServerPlace | None) -> tuple[str, ...]:
    return () if place is None else ("--journal", place.address, "--schema", place.schema)


def of_ledger(source: Path, folder: Path, worker: Worker, truth: Truth, place: ServerPlace | None = None) -> History:
    """Make a past and a made-up future of a copy of the ledger in *source*, moved to a *place* on a server if told."""
    make = Maker(copied(ledger_in(source), folder / "live"), worker, truth)
    if place is not None:
        make.run("move", *_on_server(place), "--yes")
    first, second, third = (f"Attack {word}" for word in ("One", "Two", "Three"))
    make.keep("as it was found", lambda: make.run("ratings"))
    make.keep("two more players", lambda: make.import_games(game("a1", first, second, day=90)))
    make.keep("a third one", lambda: make.import_games(game("a2", third, first, "draw", 91)))
    make.keep("one erased", lambda: make.run("erase", f"name:{second.lower()}", "--yes"))
    make.keep("a game more", lambda: make.import_games(game("a3", first, third, "black", 92)))
    return make.history()
