"""Keep small ledgers as this release writes them: every later release must open them and give the same answers.

    python -m tests.releases.make

Run it once for each release, from the code that is released. It makes ``tests/releases/VERSION/``: for each ledger an
archive of its files and a JSON file of what this release says of it. A set that is there is never made again: it is
what was released, and ``tests/releases/test_releases.py`` holds the program to it.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import io
import json
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, redirect_stdout
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from ledger.audit.audit import audit
from ledger.facts.events import PlayerChanged, RatingRunClosed, SchemeAdopted, TournamentClosed
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Carry, Standing
from ledger.imports.files import open_source
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime import sqlite
from tests.kit.clubs import takes_misfits
from tests.kit.places import SAMPLE
from tools import cli

HERE = Path(__file__).parent
MADE_AT = datetime(2025, 1, 1, 12, tzinfo=UTC)
NAME = "club.db"
NOT_KEPT = ("-shm", ".lock")  # SQLite's shared memory and a lock file: nothing stands in them

Question = tuple[str, ...]  # a command and its options, without the ledger


def club_games(ledger: Ledger, first: int, last: int, choice: PoolChoice | None = None) -> None:
    """Import the sample club's games from the first to the last, with their movetext."""
    with open_source(str(SAMPLE)) as source:
        games = islice(pgn.read_games(source.lines(), source.reading), first, last)
        outcome = ledger.import_games(batch_games(games, 40), choice=choice, actor="import")
    assert (outcome.recorded, outcome.faults) == (last - first, []), outcome


def made_games(count: int, seed: int, **fields: Any) -> Iterator[SourceGame]:
    """Invented games of ten players whose names are not all of ASCII; *fields* are set in each."""
    random = Random(seed)
    names = ("Zoë Ångström", "Đorđe", "Łucja", "李雷", "O'Neill, Pat", "Ann", "Bob", "Cleo", "Dan", "Emma")
    for i in range(count):
        white, black = random.sample(names, 2)
        yield SourceGame(
            **{
                "line": i + 1,
                "key": f"made:{seed}-{i}",
                "white_id": f"made:{white}",
                "white_name": white,
                "black_id": f"made:{black}",
                "black_name": black,
                "outcome": random.choice(("white", "black", "draw")),
                "termination": random.choice(("checkmate", "time", "resignation", "unknown")),
                "half_moves": random.randint(5, 90),
                "started_at": None,
                "ended_at": f"20{10 + i // 30}-{random.randint(1, 12):02}-{random.randint(1, 28):02}",
                "tournament": None,
                "round": str(i % 7),
                "rated": i % 11 != 0,
                "white_rating": random.choice((None, 1500 + i)),
                "black_rating": None,
                "speed": None,
                "variant": "standard",
                "text": f"e4 e5 Nf3 Nc6 {i % 40}" if i % 3 else None,
                **fields,
            }
        )


def take(ledger: Ledger, games: Iterator[SourceGame], choice: PoolChoice | None = None) -> None:
    """Import games that were made here."""
    outcome = ledger.import_games(batch_games(games, 50), choice=choice, actor="import")
    assert not outcome.faults, outcome.faults[:3]


# --- the ledgers --------------------------------------------------------------------------------------------


def chessworld(path: Path) -> None:
    """The scheme of the beginning, everything in the three files."""
    with Ledger.create(path, clock=_now) as ledger:
        club_games(ledger, 0, 150)
        ledger.catch_up()


def with_logs(path: Path) -> None:
    """The same, stopped as by a power cut: the newest of all three files stands in their write-ahead logs."""
    away = path.with_name("away")
    away.mkdir()
    with Ledger.create(away / path.name, clock=_now) as ledger:
        club_games(ledger, 0, 60)
        ledger.catch_up()
    with Ledger.open(away / path.name, clock=_now) as ledger:
        club_games(ledger, 60, 120)
        ledger.register("made:new", "Zoë Ångström")
        ledger.catch_up()
        for file in away.iterdir():
            shutil.copy(file, path.parent / file.name)
    shutil.rmtree(away)
    assert all(Path(f"{file}-wal").stat().st_size for file in path.parent.glob("*.db"))


def without_views(path: Path) -> None:
    """A journal and its people; the views are still to be made."""
    with Ledger.create(path, scheme="elo", settings={"initial": 1400}, clock=_now) as ledger:
        club_games(ledger, 100, 180)


def change_of_scheme(path: Path) -> None:
    """Elo at first, ChessWorld from a day on, with late games that reach back before it."""
    with Ledger.create(path, scheme="elo", clock=_now) as ledger:
        club_games(ledger, 40, 160)
        event = SchemeAdopted(
            pool="standard",
            scheme="chessworld",
            settings={"include_initial": True},
            effective_from="2004-12-15",
            carry=Carry.KEEP,
        )
        ledger.append(event, actor="officer")
        ledger.catch_up()
        club_games(ledger, 0, 40)
        ledger.catch_up()


def runs_and_tournaments(path: Path) -> None:
    """A pool by rating runs that are closed by hand, and a pool by tournaments, one of them ended."""
    with Ledger.create(path, pool="runs", scheme="glicko2", settings={"by_runs": True}, clock=_now) as ledger:
        ledger.append(SchemeAdopted(pool="events", scheme="uschess", settings={}), actor="officer")
        take(ledger, made_games(90, seed=1))
        championship = made_games(60, seed=2, tournament="Club championship")
        take(ledger, championship, PoolChoice(pool="events"))
        for day in ("2010-06-30", "2011-03"):
            ledger.append(RatingRunClosed(pool="runs", as_of=day), actor="officer")
        closed = TournamentClosed(pool="events", tournament="Club championship", ended_at="2011-12-31")
        ledger.append(closed, actor="officer")
        take(ledger, made_games(20, seed=3, tournament="Open"), PoolChoice(pool="events"))
        ledger.catch_up()


def people_and_pools(path: Path) -> None:
    """Guests, welcomers, standings that changed, a declared rating, somebody erased, pools cut by speed."""
    with takes_misfits(Ledger.create(path, clock=_now)) as ledger:
        ledger.register("made:Ann", "Ann", declared_rating=1850, birth_year=1990)
        guest = ledger.register("made:李雷", "李雷", standing=Standing.GUEST)
        welcomer = ledger.register("made:Bob", "Bob", standing=Standing.WELCOMER)
        for seed, speed, variant in ((4, "blitz", "standard"), (5, "rapid", "standard"), (6, None, "crazyhouse")):
            choice = PoolChoice(pool="by-speed", variants={"crazyhouse": "crazyhouse"})
            take(ledger, made_games(60, seed, speed=speed, variant=variant), choice)
        ledger.catch_up()
        ledger.append(PlayerChanged(player=guest, effective_at="2011-03-01", standing=Standing.FULL), actor="officer")
        ledger.append(
            PlayerChanged(player=welcomer, effective_at="2010-07", standing=Standing.FULL, declared_rating=1700)
        )
        ledger.erase(ledger.player("Cleo").player)
        ledger.catch_up()


PLAYERS = ("1", "2", "5")
STANDARD: tuple[Question, ...] = (
    ("pools",),
    ("ratings", "--limit", "100"),
    *(("show", player) for player in PLAYERS),
    ("games", "2", "--limit", "5"),
)
LEDGERS: Mapping[str, tuple[Callable[[Path], None], tuple[Question, ...]]] = {
    "chessworld": (chessworld, (*STANDARD, ("log", "--game", "pgn:5a1d0ac48206c19209efc2c4"))),
    "with-logs": (with_logs, STANDARD),
    "without-views": (without_views, STANDARD),
    "change-of-scheme": (change_of_scheme, (*STANDARD, ("scheme", "eras"))),
    "runs-and-tournaments": (
        runs_and_tournaments,
        (
            *STANDARD,
            ("ratings", "--pool", "events", "--limit", "100"),
            ("runs",),
            ("runs", "--on", "2011-02-01"),
            ("log", "--game", "made:2-17"),
        ),
    ),
    "people-and-pools": (
        people_and_pools,
        (
            ("pools",),
            *(("ratings", "--pool", pool, "--limit", "100") for pool in ("blitz", "rapid", "crazyhouse")),
            *(("show", player, "--pool", "rapid") for player in PLAYERS),
            ("log", "--game", "made:5-21"),
        ),
    ),
}


# --- what this release says of them -------------------------------------------------------------------------


def asked(path: Path, question: Question) -> Any:
    """The JSON that a command prints about the ledger at *path*."""
    words = 2 if question[0] == "scheme" else 1
    with redirect_stdout(io.StringIO()) as printed:
        code = cli.main([*question[:words], str(path), *question[words:]])
    assert code == 0, (question, code)
    return json.loads(printed.getvalue())


def columns_of(path: Path, tables: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """By table of the views: its primary key, in order, and all its columns, in alphabetical order."""
    found = {}
    with closing(sqlite.connect(path, read_only=True)) as connection:
        for table in tables:
            rows = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
            key = [name for _, name in sorted((row[5], row[1]) for row in rows if row[5])]
            found[table] = {"key": key, "columns": sorted(row[1] for row in rows)}
    return found


def layout_of(file: Path) -> int:
    with closing(sqlite.connect(file, read_only=True)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def expected_of(path: Path, questions: Sequence[Question]) -> dict[str, Any]:
    """Head, digests of the tables and answers, as this release gives them; asking may bring the views up to date."""
    answers = [{"question": list(question), "answer": asked(path, question)} for question in questions]
    verdict = audit(path)
    assert verdict.falsehoods == (), verdict.falsehoods
    views = path.with_name("club.views.db")
    layouts = {file.name: layout_of(file) for file in sorted(path.parent.glob("*.db"))}
    tables = columns_of(views, list(verdict.digests))
    for table, digest in verdict.digests.items():
        tables[table]["digest"] = digest  # type: ignore[assignment]
    return {
        "release": importlib.metadata.version("rating-ledger"),
        "head": str(verdict.head),
        "layouts": layouts,
        "tables": tables,
        "answers": answers,
    }


# --- keeping them -------------------------------------------------------------------------------------------


def archive(folder: Path, target: Path) -> None:
    """Pack the files of a ledger, the same bytes for the same files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for file in sorted(folder.iterdir()):
            if not file.name.endswith(NOT_KEPT):
                about = tarfile.TarInfo(file.name)
                about.size = file.stat().st_size
                about.mode = 0o644
                tar.addfile(about, io.BytesIO(file.read_bytes()))
    target.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def make(target: Path) -> None:
    """Make the set of this release in *target*, which must not be there."""
    making = target.with_name(f"{target.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    for name, (build, questions) in LEDGERS.items():
        with tempfile.TemporaryDirectory() as folder:
            made, copy = Path(folder, "made"), Path(folder, "copy")
            made.mkdir()
            build(made / NAME)
            archive(made, making / f"{name}.tar.gz")
            shutil.copytree(made, copy)
            expected = expected_of(copy / NAME, questions)
        text = json.dumps(expected, ensure_ascii=False, indent=1)
        (making / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
        sys.stdout.write(f"{target.name}/{name}: head {expected['head']}\n")
    making.rename(target)


def _now() -> datetime:
    return MADE_AT


def main() -> int:
    """Make the set, or say that it is there."""
    target = HERE / importlib.metadata.version("rating-ledger")
    if target.exists():
        sys.stderr.write(f"{target}: is there already; what was released is not made again\n")
        return 1
    make(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
