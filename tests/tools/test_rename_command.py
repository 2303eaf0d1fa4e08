"""The command ``player rename``, and what shows names afterwards."""

import json
from pathlib import Path

import pytest

from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.harmless import ALLOWED, raw_in
from tests.kit.source_files import written
from tools.commands import REFUSED, USAGE

GAMES = b"""key,white_id,white,black_id,black,result,ended_at,half_moves
g1,fide:7,FIDE 7,fide:8,Bob,1-0,2024-03-04,60
g2,fide:8,Bob,fide:9,Cleo,1-0,2024-03-05,60
"""
ADA = "Quill, Ada"


@pytest.fixture(name="numbered_club")
def _numbered_club(tmp_path: Path, run: Run) -> Path:
    """Of the first player a file tells the FIDE number alone."""
    path = tmp_path / "club.db"
    assert run("init", path).code == 0
    assert run("import", path, written(tmp_path, "games.csv", GAMES)).code == 0
    return path


def test_a_rename_that_fails_after_recording_says_what_it_recorded(numbered_club: Path, run: Run) -> None:
    sidecar(numbered_club, "views").write_bytes(b"no views")
    done = run("player", "rename", numbered_club, "FIDE 7", ADA)
    assert done.code == REFUSED
    first, *_, last = done.err.splitlines()
    assert first.startswith("player 1 (fide:7) is Quill, Ada now; head 7 ")
    assert last == f"{numbered_club}: 1 entry was recorded before that, and stands"


@pytest.mark.slow
def test_a_number_gets_a_name_and_every_command_shows_it(numbered_club: Path, run: Run) -> None:
    assert json.loads(run("show", numbered_club, "fide:7").out)["name"] == "FIDE 7"
    done = run("player", "rename", numbered_club, "FIDE 7", ADA, "--actor", "officer")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("player 1 (fide:7) is Quill, Ada now; head 7 ")
    (entry,) = json.loads(run("log", numbered_club, "--kind", "player-renamed").out)
    assert (entry["actor"], entry["key"]) == ("officer", "renamed:1@1")
    for words in (
        ["ratings"],
        ["ratings", "--verify"],
        ["show", "fide:7"],
        ["show", ADA],
        ["games", "Bob"],
        ["explain", "8", "csv:g1"],
        ["explain", ADA, "csv:g1"],
        ["predict", ADA, "Bob"],
    ):
        done = run(words[0], numbered_club, *words[1:] if words[1:] != ["8", "csv:g1"] else ["fide:8", "csv:g1"])
        assert (done.code, ADA in done.out, "FIDE 7" in done.out) == (0, True, False), words
    assert "Quill" in run("graph", numbered_club, "quill, ada").out
    assert run("show", numbered_club, "FIDE 7").code == REFUSED
    assert f"did you mean '{ADA}'?" in run("show", numbered_club, "Quil").err
    assert run("audit", numbered_club).out.startswith("TRUE")


def test_a_name_that_could_command_a_terminal_comes_back_visible(numbered_club: Path, run: Run) -> None:
    done = run("player", "rename", numbered_club, "fide:7", f"Ada {ALLOWED}")
    assert done.code == 0
    assert raw_in((done.out + done.err).encode()) == set()
    assert r"is Ada \u202egnp" in done.err


def test_what_was_known_before_a_renaming_is_answered_with_the_new_name(numbered_club: Path, run: Run) -> None:
    before = run("head", numbered_club).out.split()[0]
    run("player", "rename", numbered_club, "1", ADA)
    done = run("ratings", numbered_club, "--known-at", before)
    assert (done.code, ADA in done.out) == (0, True), done.err


def test_the_same_name_again_is_known(numbered_club: Path, run: Run) -> None:
    run("player", "rename", numbered_club, "1", ADA)
    done = run("player", "rename", numbered_club, ADA, ADA)
    assert done.code == 0
    assert done.err.startswith("player 1 (fide:7) is Quill, Ada already; head 7 ")


def test_a_name_that_somebody_else_bears_is_given_and_noted(numbered_club: Path, run: Run) -> None:
    note = "has the name of {}, and may be the same person: see 'players alike'"
    assert "note:" not in run("player", "rename", numbered_club, "fide:7", ADA).err
    run("player", "add", numbered_club, "name:quill, a.", "Quill, A.")
    done = run("player", "rename", numbered_club, "Quill, A.", "Ada Quill")
    assert (done.code, f"note: name:quill, a. {note.format('fide:7')}" in done.err) == (0, True)
    earlier = run("player", "rename", numbered_club, "fide:7", "Quill, Ada M.")
    assert "note:" not in earlier.err
    earlier = run("player", "rename", numbered_club, "fide:7", ADA)
    assert (earlier.code, f"note: fide:7 {note.format('name:quill, a.')}" in earlier.err) == (0, True)


def test_names_of_one_person_are_alike_by_the_new_spelling(numbered_club: Path, run: Run) -> None:
    run("player", "add", numbered_club, "name:ada quill", "Ada Quill")
    assert json.loads(run("players", "alike", numbered_club).out) == []
    run("player", "rename", numbered_club, "fide:7", ADA)
    assert {row["name"] for row in json.loads(run("players", "alike", numbered_club).out)} == {ADA, "Ada Quill"}


def test_a_file_with_the_old_name_says_that_the_new_one_stays(numbered_club: Path, tmp_path: Path, run: Run) -> None:
    run("player", "rename", numbered_club, "fide:7", ADA)
    done = run("import", numbered_club, tmp_path / "games.csv")
    assert (done.code, done.err.splitlines()[-1]) == (
        0,
        f"{tmp_path / 'games.csv'} (csv): 0 games recorded, 2 known already, 1 player keeps a name given since",
    )
    listed = written(tmp_path, "list.csv", b"identity,name\nfide:7,A. Quill\nfide:8,Bob\n")
    done = run("players", "import", numbered_club, listed)
    assert (done.code, "1 player keeps a name given since; head" in done.err) == (0, True)
    assert (
        "is player 1 already, called Quill, Ada since; head"
        in run("player", "add", numbered_club, "fide:7", "FIDE 7").err
    )
    assert run("player", "add", numbered_club, "fide:8", "Robert").code == REFUSED  # he was not renamed
    assert json.loads(run("show", numbered_club, "1").out)["name"] == ADA


@pytest.mark.parametrize(
    ("player", "name", "code", "words"),
    [
        ("Nobody", "X", REFUSED, "no player 'Nobody' in this ledger"),
        ("99", "X", REFUSED, "no player '99' in this ledger"),
        ("Bob", "", USAGE, "must be 1 to 128 characters"),
        ("Bob", " X", USAGE, "got ' X'; correct it @ $.name"),
    ],
)
def test_what_is_refused_says_what_and_why(
    player: str, name: str, code: int, words: str, numbered_club: Path, run: Run
) -> None:
    done = run("player", "rename", numbered_club, player, name)
    assert (done.code, words in done.err) == (code, True), done.err
    assert json.loads(run("log", numbered_club, "--kind", "player-renamed").out) == []


def test_who_was_erased_gets_no_name_and_a_file_brings_the_person_back_anew(
    numbered_club: Path, tmp_path: Path, run: Run
) -> None:
    run("player", "rename", numbered_club, "fide:7", ADA)
    done = run("erase", numbered_club, ADA, "--yes")
    assert "a file that names the person and tells of other games brings the name back, under a new number" in done.err
    done = run("player", "rename", numbered_club, "1", ADA)
    assert (done.code, "erased-player: who player 1 was is forgotten" in done.err) == (REFUSED, True)
    again = GAMES + b"g3,fide:7,FIDE 7,fide:8,Bob,1-0,2024-03-06,60\n"
    assert "1 new player" in run("import", numbered_club, written(tmp_path, "later.csv", again)).err
    assert json.loads(run("show", numbered_club, "fide:7").out)["player"] == 4
