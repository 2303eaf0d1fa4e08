"""Ledgers that earlier releases wrote: this one opens them, gives the same answers, proves them and goes on from there.

The ledgers and what was said of them are kept in ``tests/releases/VERSION``, made once by ``tests.releases.make``.
"""

from __future__ import annotations

import importlib.metadata
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from ledger.journal.stored_lists import shared_ranks
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from tests.kit.commands import Run
from tests.releases import make
from tools.commands import FALSE

RELEASES = Path(make.__file__).parent
KEPT = sorted(RELEASES.glob("*/*.json"))


@pytest.fixture(name="released_file", params=KEPT, ids=lambda file: f"{file.parent.name}-{file.stem}")
def _released_file(request: pytest.FixtureRequest) -> Path:
    """The JSON file of a ledger that a release left."""
    return Path(request.param)


@pytest.fixture(name="told_by_the_release")
def _told_by_the_release(released_file: Path) -> Any:
    """What that release said of it."""
    return json.loads(released_file.read_text(encoding="utf-8"))


@pytest.fixture(name="released_club")
def _released_club(released_file: Path, tmp_path: Path) -> Path:
    """The ledger as it was left."""
    with tarfile.open(released_file.with_suffix(".tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / make.NAME


# What 0.1.0 called the rating on the day of a game that waits for its closing, it was only after the closing: today it
# has a name of its own wherever such games wait.
NAMED_APART = {"rating_then": "rating_after_period"}


# What 0.1.0 called the day of joining was that of the import; today it is that of the first game where this is earlier.
FIRST_GAME_SINCE = "joined"


# 0.1.0 gave each of equals a place of its own, today they share the first of them.
PLACES = {"rank", "place"}


def assert_told(answer: Any, recorded: Any) -> None:
    """Everything that was told then is told now; a later release may tell more."""
    if isinstance(recorded, Mapping):
        for name, value in recorded.items():
            assert name in answer
            if name == FIRST_GAME_SINCE:
                assert "1990" < answer[name] < value
                continue
            if name in PLACES and value is not None:
                assert 1 <= answer[name] <= value
                continue
            apart = NAMED_APART.get(name, name)
            assert_told(answer[apart if apart in answer else name], value)
    elif isinstance(recorded, list):
        assert len(answer) == len(recorded)
        for name in PLACES if recorded and isinstance(recorded[0], Mapping) and "rating" in recorded[0] else ():
            if name in recorded[0]:
                assert [row[name] for row in answer] == shared_ranks([row["rating"] for row in recorded])
        for now, then in zip(answer, recorded, strict=True):
            assert_told(now, then)
    else:
        assert answer == recorded


def digests(club: Path, tables: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """By table, SHA-256 over the rows of the columns that it had then, in the form of ``ledger/audit/README.md``."""
    with closing(sqlite.connect(club.with_name("club.views.db"), read_only=True)) as views:
        for table, shape in tables.items():
            columns = ", ".join(f'"{name}"' for name in shape["columns"])
            digest = sha256()
            for row in views.execute(f'SELECT {columns} FROM "{table}" ORDER BY {", ".join(shape["key"])}'):
                digest.update(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            yield table, digest.hexdigest()


def test_every_ledger_of_a_release_has_its_files_and_its_answers() -> None:
    archives = {file.with_name(file.name.removesuffix(".tar.gz")) for file in RELEASES.glob("*/*.tar.gz")}
    assert archives == {file.with_suffix("") for file in KEPT}
    assert (RELEASES / "0.1.0" / "with-logs") in archives


def test_a_set_that_was_released_is_never_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    release = RELEASES / importlib.metadata.version("rating-ledger")
    before = {file: file.read_bytes() for file in release.iterdir()}
    assert make.main() == 1
    assert "is not made again" in capsys.readouterr().err
    assert {file: file.read_bytes() for file in release.iterdir()} == before


def test_it_opens_with_the_same_head(released_club: Path, told_by_the_release: Any) -> None:
    with Ledger.open(released_club, read_only=True) as ledger:
        assert str(ledger.head()) == told_by_the_release["head"]


def test_the_answers_and_the_rows_are_those_of_then(released_club: Path, told_by_the_release: Any) -> None:
    for told in told_by_the_release["answers"]:
        assert_told(make.asked(released_club, tuple(told["question"])), told["answer"])
    tables = told_by_the_release["tables"]
    assert dict(digests(released_club, tables)) == {table: shape["digest"] for table, shape in tables.items()}


def test_an_audit_of_the_files_as_they_were_left_finds_nothing_false(
    released_club: Path, told_by_the_release: Any, run: Run
) -> None:
    """Views of an earlier layout may be left out, and said to be; they are no falsehood."""
    done = run("audit", released_club)
    assert done.code != FALSE
    assert "FALSE" not in done.out + done.err


def test_the_audit_is_true_once_the_views_are_of_this_release(
    released_club: Path, told_by_the_release: Any, run: Run
) -> None:
    assert run("pools", released_club).code == 0
    done = run("audit", released_club)
    verdict, *_, head = [line for line in done.out.splitlines() if line.startswith(("TRUE", "FALSE", "head"))]
    assert (done.code, verdict.split()[0], head) == (0, "TRUE", f"head {told_by_the_release['head']}")


def test_one_more_game_is_recorded_and_rated(released_club: Path, told_by_the_release: Any, run: Run) -> None:
    with Ledger.open(released_club) as ledger:
        pool = ledger.first_scheme().pool
        known = ledger.people.by_number([1])[1]
    game = {
        "key": "made:later",
        "white": {"id": known.identity, "name": known.name},
        "black": {"id": "made:later", "name": "Later"},
        "outcome": "white",
        "termination": "checkmate",
        "half_moves": 40,
        "ended_at": "2024-12-31T20:00:00Z",
        "rated": True,
    }
    file = released_club.with_name("later.jsonl")
    file.write_text(json.dumps(game) + "\n", encoding="utf-8")
    done = run("import", released_club, file, "--pool", pool)
    assert (done.code, "1 game recorded" in done.err) == (0, True), done
    assert json.loads(run("show", released_club, "made:later", "--pool", pool).out)["games"] == 1
    size = int(told_by_the_release["head"].split()[0])
    done = run("audit", released_club, "--since", told_by_the_release["head"])
    assert (done.code, f"\nhead {size + 2} " in done.out) == (0, True), done
