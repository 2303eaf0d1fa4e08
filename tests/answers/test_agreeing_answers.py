"""Answers about one thing do not contradict each other, and advice can be followed."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.kit.commands import Run
from tests.kit.source_files import written

LIST = b"""identity,name,rating,games,birth_year
fide:101,"Ek, Ann",2000,100,1980
fide:102,"Lund, Bob",1900,100,1985
fide:103,"Marsh, Cleo",1800,100,1990
"""
GAME = b"""white_fide_id,white,black_fide_id,black,result,date,tournament,round
103,"Marsh, Cleo",101,"Ek, Ann",1/2,2026-09-05,Cup,1
"""


@pytest.fixture(name="listed_and_played")
def _listed(tmp_path: Path, run: Run) -> Path:
    """A list of three players, two of whom have played a game since."""
    club = tmp_path / "listed.db"
    assert run("init", club, "--scheme", "fide").code == 0
    assert run("players", "import", club, written(tmp_path, "l.csv", LIST), "--since", "2026-09-01").code == 0
    assert run("import", club, written(tmp_path, "g.csv", GAME)).code == 0
    return club


def test_changes_since_the_day_before_a_list_begin_with_its_rating(listed_and_played: Path, run: Run) -> None:
    told = run("changes", listed_and_played, "Ek, Ann", "--since", "2026-08-31", "--csv").out.splitlines()
    parts = [(row["kind"], row["points"], float(row["rating"])) for row in csv.DictReader(told)]
    assert parts == [("began", "", 2000.0), ("game", "-5.0", 1995.0)]


def test_a_table_as_if_a_proposal_were_approved_names_the_last_entry_that_is_recorded(
    listed_and_played: Path, run: Run
) -> None:
    key = run("games", listed_and_played, "Ek, Ann", "--csv").out.splitlines()[1].split(",")[1]
    assert run("correct", listed_and_played, "result", key, "--to", "1-0", "--reason", "x", "--by", "eve").code == 0
    tables = [run("crosstable", listed_and_played, "Cup", *words).out for words in ((), ("--as-if", "1"))]
    now, then = (re.findall(r"as of entry [\d,]+", table) for table in tables)
    assert now == then != []
    assert tables[0] != tables[1]


def test_the_place_is_that_on_the_list_and_a_table_shows_the_percentile_in_whole_per_cent(
    listed_and_played: Path, run: Run
) -> None:
    shown = run("show", listed_and_played, "Marsh, Cleo").out
    assert '"rank": 3' in shown
    assert '"rated_players": 3' in shown
    table = run("show", listed_and_played, "Lund, Bob", "-t").out
    assert [line.split()[-1] for line in table.splitlines() if line.startswith(("rank", "percentile"))] == ["2", "33"]


@pytest.mark.parametrize(("name", "kind"), [("e.csv", "csv"), ("e.trf", "trf"), ("e.pgn", "pgn"), ("e", "pgn")])
def test_an_empty_file_is_of_the_kind_that_its_name_says(
    empty_club: Path, tmp_path: Path, run: Run, name: str, kind: str
) -> None:
    done = run("import", empty_club, written(tmp_path, name, b"\n"))
    assert (done.code, f"{name} ({kind}): 0 games" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("verb", "words"), [("result", "1-0, 1/2-1/2, 0-1, *"), ("standing", "full, guest, welcomer, closed")]
)
def test_a_verb_lists_what_a_word_of_it_may_be(empty_club: Path, run: Run, verb: str, words: str) -> None:
    assert words in " ".join(run("correct", empty_club, verb, "--help").out.split())


def test_an_audit_advises_nothing_that_needs_a_folder_in_which_it_cannot_write(
    listed_and_played: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in listed_and_played.parent.glob("listed.views.db*"):
        file.unlink()
    assert (
        "the next command that reads makes them"
        in run("audit", listed_and_played).err + run("audit", listed_and_played).out
    )
    monkeypatch.setattr("ledger.audit.audit.os.access", lambda _path, _mode: False)
    done = run("audit", listed_and_played)
    assert "there are no views yet; no command can write to this folder" in done.err + done.out
