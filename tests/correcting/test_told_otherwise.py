"""Files that tell known games otherwise than they stand: the batch of corrections that would take their word."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from ledger.correcting.verbs import at_lines, proposing, read_batch
from ledger.facts.events import Decision
from ledger.imports.reading import batch_games
from tests.errors.rule_cases import source
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tools.commands import REFUSED

KNOWN: dict[str, Any] = {
    "ended_at": "2026-11-10T12:00:00Z",
    "started_at": "2026-11-10T11:00:00Z",
    "termination": "time",
    "half_moves": 40,
    "tournament": "Club cup",
    "round": "3",
    "white_rating": 1500,
    "black_rating": 1600,
}
TOLD: list[dict[str, Any]] = [
    {"rated": False},
    {"outcome": "draw"},
    {"outcome": "draw", "termination": "agreement", "half_moves": 41},
    {"termination": "checkmate"},
    {"half_moves": 41},
    {"started_at": "2026-11-09T11:00:00Z", "ended_at": "2026-11-09T12:00:00Z"},
    {"tournament": "League", "round": "4"},
    {"white_rating": 1510, "black_rating": 1590},
]


def row(batch: str) -> list[dict[str, str]]:
    return [{name: cell for name, cell in line.items() if cell} for line in csv.DictReader(io.StringIO(batch))]


@pytest.mark.parametrize("fields", TOLD)
def test_the_batch_makes_the_game_what_the_file_tells(fields: dict[str, Any], club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    assert ledger.import_games(batch_games([source("own:7", **KNOWN)])).recorded == 1
    told = source("own:7", **{**KNOWN, **fields})
    refused = ledger.import_games(batch_games([told]))
    assert (refused.fault_count, refused.differences) == (1, [])
    report = ledger.import_games(batch_games([told]), keep_differences=True)
    assert (report.fault_count, report.repeated, len(report.differences)) == (0, 0, 1)
    assert report.differences[0].fields == fields
    text, left = proposing(report.differences)
    rows, faults = read_batch(ledger.corrections.verbs, text.encode())
    changes = [change.change for change in rows]
    assert (left, faults, at_lines(rows, ledger.corrections.refusals(changes))) == ([], [], [])
    number = ledger.propose(changes, reason="as the server has it", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    assert ledger.import_games(batch_games([told])).repeated == 1
    assert ledger.import_games(batch_games([source("own:7", **KNOWN)])).repeated == 1


def test_a_game_is_compared_as_it_stands_after_its_corrections(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.import_games(batch_games([source("own:7", **KNOWN)]))
    drawn = [ledger.corrections.verbs.change("result", {"game": "own:7", "to": "1/2-1/2"})]
    ledger.decide(ledger.propose(drawn, reason="scoresheet", by="eve").proposal, Decision.APPROVED, by="adam")
    told = source("own:7", **{**KNOWN, "outcome": "black"})
    report = ledger.import_games(batch_games([told]), keep_differences=True)
    assert report.differences[0].fields == {"outcome": "black"}
    told = source("own:7", **{**KNOWN, "outcome": "draw", "rated": False})
    report = ledger.import_games(batch_games([told]), keep_differences=True)
    assert report.differences[0].fields == {"rated": False}


@pytest.mark.parametrize(
    "fields",
    [
        {"white_id": "name:zoe", "white_name": "Zoe"},
        {"text": "1. d4 d5", "rated": False},
        {"tournament": "=HYPERLINK()"},
    ],
)
def test_what_no_batch_can_settle_is_left(fields: dict[str, Any], club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.import_games(batch_games([source("own:7", **{**KNOWN, "text": "1. e4 e5"})]))
    told = source("own:7", **{**KNOWN, "text": "1. e4 e5", **fields})
    report = club_of_two.ledger.import_games(batch_games([told]), keep_differences=True)
    text, left = proposing(report.differences)
    assert (row(text), [difference.game for difference in left]) == ([], ["own:7"])


HEAD = "game_id,white,black,result,date,half_moves,rated\n"
CASUAL = (
    '[Event "So Arena"]\n[Site "https://lichess.org/aaaaBBBB"]\n[Date "2020.01.02"]\n[White "Ann"]\n[Black "Bob"]\n'
)


def test_an_import_writes_the_corrections_that_take_the_word_of_the_files(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    first, second, batch = tmp_path / "first.csv", tmp_path / "second.csv", tmp_path / "batch.csv"
    first.write_text(
        f"{HEAD}1,Ann,Bob,1-0,2020-01-02,40,1\n2,Bob,Ann,1-0,2020-01-03,50,1\n3,Ann,Bob,0-1,2020-01-04,60,1\n"
    )
    second.write_text(
        f"{HEAD}1,Ann,Bob,1-0,2020-01-02,40,0\n2,Bob,Zoe,1-0,2020-01-03,50,1\n3,Ann,Bob,0-1,2020-01-04,60,1\n"
        "4,Ann,Bob,1/2-1/2,2020-01-05,70,1\n"
    )
    assert run("import", empty_club, first).code == 0
    head = run("head", empty_club).out
    dry = run("import", empty_club, second, "--propose-differences", batch, "--dry-run")
    assert (run("head", empty_club).out, dry.code) == (head, REFUSED)
    assert row(batch.read_text()) == [{"verb": "game", "game": "csv:1", "field": "rated", "to": "false"}]
    batch.unlink()
    done = run("import", empty_club, second, "--propose-differences", batch)
    assert done.code == REFUSED  # who played game 2 no batch can say
    assert f"{second}:3: error: exists-with-different-black" in done.err
    assert f"{second}:2:" not in done.err
    assert "1 game recorded, 1 known already" in done.err
    assert "1 known game contradicted, 1 faulty game, 1 fault" in done.err
    assert f"{batch}: corrections of 1 game: 'correct {empty_club} batch {batch} --reason" in done.err
    assert run("correct", empty_club, "batch", batch, "--reason", "casual", "--by", "eve").code == 0
    assert run("correct", empty_club, "approve", 1, "--by", "adam").code == 0
    batch.unlink()
    again = run("import", empty_club, second, "--propose-differences", batch)
    assert f"{batch}: not written: no recorded game is contradicted" in again.err
    assert not batch.exists()


def test_casual_games_of_an_arena_that_were_taken_for_rated_ones_are_corrected(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    old, pgn, batch = tmp_path / "old.csv", tmp_path / "arena.pgn", tmp_path / "batch.csv"
    old.write_text(
        "game_id,white,black,result,date,half_moves,event,rated\naaaaBBBB,Ann,Bob,1-0,2020-01-02,3,So Arena,1\n"
    )
    pgn.write_text(f'{CASUAL}[Result "1-0"]\n\n1. e4 e5 2. Qh5 1-0\n')
    assert run("import", empty_club, old, "--source", "lichess").code == 0
    assert run("import", empty_club, pgn).code == REFUSED
    done = run("import", empty_club, pgn, "--propose-differences", batch)
    assert (done.code, row(batch.read_text())[0]["to"]) == (0, "false")


def test_the_corrections_are_never_written_over_a_ledger(empty_club: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "games.csv").write_text(f"{HEAD}1,Ann,Bob,1-0,2020-01-02,40,1\n")
    head = run("head", empty_club).out
    done = run("import", empty_club, tmp_path / "games.csv", "--propose-differences", empty_club)
    assert done.code == REFUSED
    assert "is a file of this ledger" in done.err
    assert run("head", empty_club).out == head
