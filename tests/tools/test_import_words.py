"""What an import says of files without games, mistyped pools and faults; ``--dry-run`` says it and writes nothing."""

import hashlib
import io
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.source_files import BAD_CSV, CSV, JSONL, MIXED, NDJSON, PGN, player, report, written
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


def test_an_error_of_a_file_is_named_as_one_like_warnings_and_notes(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = CSV + b"7,Ann,Bob,1-0,40,2021-02-30\n"
    done = run("import", empty_club, written(tmp_path, "games.csv", rows))
    assert "games.csv:3: error: " in done.err
    done = run("players", "import", empty_club, written(tmp_path, "list.csv", b"name,rating\nZoe,abc\n"))
    assert "list.csv:2: error: rating must be" in done.err


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


TRF = report([player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0"), player(3, "Cy", "0000 - U")]).encode()
AGAIN = CSV + b"1,Ann,Bob,1-0,40,2021-03-01\n1,Ann,Bob,0-1,40,2021-03-01\n"


def bytes_of(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("empty.*")}


def account(text: str) -> list[str]:
    lines = text.replace(", dry run):", "):").splitlines()
    return [line for line in lines if not line.startswith(("pool '", "dry run: ")) and "its days are not" not in line]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (PGN, []), (NDJSON, []), (JSONL, []), (CSV, []), (TRF, []), (BAD_CSV, []), (BAD_CSV, ["--strict"]),
        (MIXED, ["--pools", "by-speed"]), (AGAIN, []), (AGAIN, ["--strict"]), (b"a,b\n1,2\n", []),
    ],
)  # fmt: skip
def test_the_account_is_that_of_the_import_and_nothing_is_written(
    content: bytes, words: Sequence[str], empty_club: Path, tmp_path: Path, run: Run
) -> None:
    path = written(tmp_path, "games", content)
    before = bytes_of(tmp_path)
    dry = run("import", empty_club, path, "--dry-run", *words)
    assert bytes_of(tmp_path) == before
    done = run("import", empty_club, path, *words)
    assert account(dry.err) == account(done.err)
    assert dry.code == done.code
    again, repeated = run("import", empty_club, path, "--dry-run", *words), run("import", empty_club, path, *words)
    assert account(again.err) == account(repeated.err)


def test_a_later_file_meets_what_an_earlier_one_would_record(empty_club: Path, tmp_path: Path, run: Run) -> None:
    files = [written(tmp_path, f"{name}.csv", content) for name, content in (("a", CSV), ("b", CSV), ("c", MIXED))]
    dry, done = run("import", empty_club, *files, "--dry-run"), run("import", empty_club, *files)
    assert account(dry.err) == account(done.err)
    assert "pool 'standard': 1 game would be recorded" in dry.err or "would be recorded" in dry.err


def test_the_first_games_are_shown_as_they_were_understood(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = "white,black,result,date,event,round\nMüller,Ann,½-½,04/05/2024,Liga,1\nAnn,Bob,0:1,13/05/2024,Liga,2\n"
    path = written(tmp_path, "liga.csv", rows.encode())
    done = run("import", empty_club, path, "--dry-run", "--dates", "dmy", "--first", "1")
    table, players = done.out.split("\n\n3 new players\n")
    (row,) = [line.split() for line in table.splitlines() if "Liga" in line]
    assert row == ["2024-05-04", "Müller", "Ann", "draw", "unknown", "standard", "Liga", "1", "-", "-", "-"]
    assert [line.split()[-1] for line in players.splitlines()[2:]] == ["name:müller", "name:ann", "name:bob"]
    assert done.err.splitlines()[-2:] == ["pool 'standard': 2 games would be recorded", "dry run: nothing was written"]


def test_in_a_club_with_games_repeats_and_alike_games_are_seen(sample_club: Path, tmp_path: Path, run: Run) -> None:
    head = run("head", sample_club).out
    done = run("import", sample_club, written(tmp_path, "games.csv", CSV), "--dry-run")
    assert "1 game recorded, 0 known already" in done.err
    assert run("head", sample_club).out == head


def test_views_that_are_behind_a_correction_are_brought_level_as_the_import_does(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    path = written(tmp_path, "games.csv", b"key,white,black,result,ended_at\na,Ann,Bob,1-0,2021-03-01\n")
    assert run("import", empty_club, path).code == 0
    assert run("ratings", empty_club).code == 0
    behind = sidecar(empty_club, "views").read_bytes()
    why = ("--reason", "slip", "--by", "eve")
    assert run("correct", empty_club, "game", "csv:a", "--field", "outcome", "--to", "draw", *why).code == 0
    assert run("correct", empty_club, "approve", "1", "--by", "adam").code == 0
    accounts = []
    for words in (["--dry-run"], []):
        for file in tmp_path.glob(f"{sidecar(empty_club, 'views').name}*"):
            file.unlink()
        sidecar(empty_club, "views").write_bytes(behind)
        accounts.append(account(run("import", empty_club, path, *words).err))
    assert accounts[0] == accounts[1]
