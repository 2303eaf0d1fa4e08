"""What the tests of backups do to ledgers and copies, and what they look at."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from ledger.audit.audit import audit
from ledger.backups import disk
from ledger.facts.words import TreeHead
from ledger.imports.reading import frames
from ledger.ledger import Ledger
from tests.kit.clubs import NOW
from tests.kit.games import source_games

LEDGER_FILES = ("club.db", "club.people.db", "club.views.db")


def record(path: Path, first: int, last: int) -> None:
    """Import some more of the made-up games, and rate them."""
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        games = list(source_games(last))[first:]
        assert ledger.import_games(frames(iter(games), 50)).recorded == len(games)
        ledger.catch_up()


def contents_of(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, but for lock files and the shared memory of SQLite."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith((".lock", "-shm")) and not (path.name.endswith("-wal") and not path.stat().st_size)
    }


def head_of_ledger(path: Path) -> TreeHead:
    with Ledger.open(path, read_only=True) as ledger:
        return ledger.head()


def assert_true(path: Path) -> None:
    assert audit(path).falsehoods == ()


def damage(path: Path) -> None:
    path.write_bytes(b"white,black,result\n" * 300)


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def edited(folder: Path, change: Callable[[Any], object], *, sealed: bool) -> None:
    """Change the manifest; *sealed*: its own hash, too, as somebody does who knows how it is made."""
    members = orjson.loads((folder / disk.NAME).read_bytes())
    change(members)
    if sealed:
        del members["sha256"]
        members["sha256"] = sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).hexdigest()
    (folder / disk.NAME).write_bytes(orjson.dumps(members))
