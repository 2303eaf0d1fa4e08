"""What an import says of files that hold no games, of pools that may be mistyped, and of what is faulty."""

import io
import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.kit.commands import Run
from tests.kit.source_files import CSV, JSONL, NDJSON, PGN, written
from tools.commands import REFUSED, USAGE

FOREIGN: dict[str, tuple[bytes, str]] = {
    "Parquet": (b"PAR1\x15\x04\x15", "a Parquet file: write its games as CSV"),
    "Arrow": (b"ARROW1\0\0", "an Arrow file"),
    "SQLite": (b"SQLite format 3\0\x10\0", "a database"),
    "JSON list": (b'[{"white": "Ann"}]', "a JSON document, not JSON lines"),
    "JSON upright": (b'{\n  "white": "Ann"\n}\n', "a JSON document, not JSON lines"),
    "list of games in an object": (b'{"games":[{"url":"https://example.org/1"}]}', "a JSON document, not JSON lines"),
    "web page": (b"\n<!DOCTYPE html><html>", "a web page"),
    "XML": (b'<?xml version="1.0"?><players/>', "an XML document"),
    "PDF": (b"%PDF-1.4", "a PDF document"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("way", ["file", "standard input"])
def test_a_file_of_another_kind_is_called_what_it_is(
    name: str, way: str, empty_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, says = FOREIGN[name]
    before = run("head", empty_club).out
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    path = written(tmp_path, "games", content) if way == "file" else "-"
    done = run("import", empty_club, path)
    assert done.code == REFUSED
    assert done.err.startswith(f"error: {path}: is {says}")
    assert len(done.err.splitlines()) == 1
    assert run("head", empty_club).out == before


@pytest.mark.parametrize("content", [PGN, NDJSON, JSONL, CSV, CSV.replace(b",", b";"), b"[Event x]\n" + PGN])
def test_a_file_of_games_is_none_of_them(content: bytes, empty_club: Path, tmp_path: Path, run: Run) -> None:
    assert "1 game recorded" in run("import", empty_club, written(tmp_path, "games", content)).err


def test_a_pipe_is_read_once(empty_club: Path, tmp_path: Path, run: Run) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(PGN,))
    writer.start()
    done = run("import", empty_club, tmp_path / "pipe")
    writer.join()
    assert (done.code, "1 game recorded" in done.err) == (0, True)
    done = run("import", empty_club, "-", "-")
    assert (done.code, "-: standard input can be read only once" in done.err) == (REFUSED, True)


def test_one_of_anything_is_not_said_to_be_many(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = CSV + b"7,Ann,Bob,1-0,40,2021-02-30\n"
    done = run("import", empty_club, written(tmp_path, "games.csv", rows))
    assert done.err.splitlines()[-1].endswith(
        ": 1 game recorded, 0 known already, 2 new players, 1 faulty game, 1 fault"
    )
    done = run("import", empty_club, written(tmp_path, "no.csv", b"a,b\n1,2\n"))
    assert done.err.splitlines()[-1].endswith("0 games recorded, 0 known already, 1 fault")


def test_faulty_games_are_counted_beside_their_faults(empty_club: Path, tmp_path: Path, run: Run) -> None:
    bad = json.loads(JSONL)
    bad |= {"outcome": "1-0", "termination": "mate"}
    lines = JSONL + json.dumps(bad).encode() + b"\n" + b"{\n"
    done = run("import", empty_club, written(tmp_path, "games.jsonl", lines))
    assert "2 faulty games, 3 faults" in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    "words", [["--pool", "standrad"], ["--variant", "crazyhouse=standrad"], ["--pool", "standrad", "--strict"]]
)
def test_a_new_pool_is_made_on_request_only(words: list[str], empty_club: Path, tmp_path: Path, run: Run) -> None:
    before = run("head", empty_club).out
    path = written(tmp_path, "games.csv", CSV)
    done = run("import", empty_club, path, *words)
    assert done.code == USAGE
    assert "no pool 'standrad' in this ledger; did you mean 'standard'? expected one of ['standard']" in done.err
    assert "; --new-pool makes a new one" in done.err
    assert run("head", empty_club).out == before
    assert run("import", empty_club, path, *words, "--new-pool").code == 0
    assert run("import", empty_club, path, *words).code == 0 or words[0] == "--variant"
