"""Runs of the crash driver, and what must hold of the files whatever has happened to them."""

import json
import subprocess
import sys
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from ledger.audit.audit import audit
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ratings import views_file
from ledger.ratings.installed_projectors import installed_projectors
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from ledger.testing import rows_by_facts
from ledger.testing.journal_contract import merkle_root
from tests.kit.processes import run_module


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "tests.kit.crash_driver", str(folder), *options]


def driven(folder: Path, *options: str, largest_file: int | None = None) -> subprocess.CompletedProcess[str]:
    return run_module("tests.kit.crash_driver", folder, *options, largest_file=largest_file)


def completed(folder: Path, *options: str) -> None:
    done = driven(folder, *options)
    assert (done.returncode, done.stderr) == (0, ""), done


def check_journal(folder: Path) -> list[dict[str, Any]]:
    """The journal is whole: positions, leaves, keys and root, computed here from the raw bytes. Returns its entries."""
    path = folder / "club.db"
    with closing(sqlite.connect(path, read_only=True)) as connection:
        rows = connection.execute("SELECT position, kind, key, body, leaf FROM journal ORDER BY position").fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    entries = []
    for expected, (position, kind, key, body, leaf) in enumerate(rows, 1):
        assert position == expected
        assert leaf == sha256(b"\x00" + body).digest()
        entry = json.loads(body)
        assert (entry["position"], entry["kind"], entry["key"]) == (position, kind, key)
        entries.append(entry)
    with closing(SqliteJournal(path)) as journal:
        assert (journal.head().size, journal.head().root) == (len(rows), merkle_root([row[3] for row in rows]))
    return entries


def check_views(folder: Path, aside: Path) -> None:
    """The views, where there are any, are those of a true earlier state of the journal."""
    path = folder / "club.views.db"
    if not path.exists():
        return
    with closing(views_file.open_views(path)) as connection, closing(SqliteJournal(folder / "club.db")) as journal:
        reached = views_file.position(connection)
        assert 0 < reached <= journal.size()
        expected = Views(aside / f"{time.monotonic_ns()}.db", installed_projectors(), journal)
        expected.build_up_to_entry(reached)
        assert rows_by_facts(connection) == rows_by_facts(expected.connection)
        expected.close()


_TRUE: set[str] = set()  # digests of ledgers that were found true


def audited(folder: Path) -> tuple[object, ...]:
    """What the auditor finds false; of files that are byte for byte those of a ledger that was found true, nothing."""
    files = [(path.name, path.read_bytes()) for path in sorted(folder.glob("club*"))]
    digest = sha256(repr(files).encode()).hexdigest()
    if digest in _TRUE:
        return ()
    falsehoods = tuple(audit(folder / "club.db", progress=lambda *_: None).falsehoods)
    if not falsehoods:
        _TRUE.add(digest)
    return falsehoods


def identities(folder: Path) -> dict[int, str]:
    with closing(sqlite.connect(folder / "club.people.db", read_only=True)) as people:
        return dict(people.execute("SELECT player, identity FROM people"))


def facts(folder: Path) -> list[str]:
    """What the journal says, with identities for numbers and without salted commitments, in no order."""
    who = identities(folder)
    told = []
    for entry in check_journal(folder):
        said = {name: value for name, value in entry["facts"].items() if name != "commitment"}
        said |= {side: who[said[side]] for side in ("white", "black", "player") if side in said}
        key = "" if "player" in said else entry["key"]
        told.append(json.dumps([entry["kind"], key, entry["recorded_at"], said], sort_keys=True))
    return sorted(told)


def derived(folder: Path) -> dict[str, list[Any]]:
    with closing(views_file.open_views(folder / "club.views.db")) as connection:
        return rows_by_facts(connection, identities(folder))


def assert_one_clear_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(("StorageError: ", "CorruptError: ")), lines
    assert any(word in lines[0] for word in words), lines
