"""The same games from several sources: a telling with less is known already, whoever told first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.places import DATA, TESTS

FICS_PGN = TESTS / "fixtures" / "pgn" / "fics.pgn"
FICS_CSV = """game_id,started_at,white,black,result,termination,half_moves,white_rating,black_rating,event,rated
123456,2013-01-02 03:04:05,Ann,Bob,0-1,Normal,4,1500,1600,FICS rated blitz game,1
123457,2013-01-02,Ann,Bob,1/2-1/2,Normal,2,,,FICS unrated blitz game,0
123458,2013-01-02,Ann,Stalemate,1-0,,2,,,,1
"""


def imported(run: Run, folder: Path, *files: Path, source: str) -> list[str]:
    """The last line that each import says, into a new ledger."""
    path = folder / f"{files[0].name}.db"
    assert run("init", path).code == 0
    return [run("import", path, file, "--source", source).err.splitlines()[-1] for file in files]


def test_a_csv_of_fics_games_after_their_pgn_tells_nothing_new(run: Run, tmp_path: Path) -> None:
    csv = tmp_path / "fics.csv"
    csv.write_text(FICS_CSV)
    pgn, again = imported(run, tmp_path, FICS_PGN, csv, source="fics")
    count = int(pgn.partition(": ")[2].split(" ")[0])
    assert count >= 3
    assert again.endswith("(csv): 0 games recorded, 3 known already")
    first, then = imported(run, tmp_path, csv, FICS_PGN, source="fics")
    assert ": 3 games recorded, 0 known already" in first
    assert f": {count - 3} games recorded, 0 known already, 3 known already and told with more now" in then


def test_a_field_that_really_differs_is_named_and_no_other(run: Run, tmp_path: Path) -> None:
    csv = tmp_path / "fics.csv"
    csv.write_text(FICS_CSV.replace("0-1,Normal,4", "0-1,Normal,5"))
    path = tmp_path / "club.db"
    assert run("init", path).code == 0
    assert run("import", path, FICS_PGN).code == 0
    done = run("import", path, csv, "--source", "fics")
    assert done.code == 1
    words = "fics.csv:2: exists-with-different-half-moves: 'game:fics:123456' was recorded with half_moves=4, not 5;"
    assert words in done.err
    assert "0 games recorded, 2 known already, 1 faulty game, 1 fault" in done.err


@pytest.mark.skipif(not DATA.exists(), reason="the real games are not here")
@pytest.mark.parametrize("name", ["lichess_small", "lichess_slice_20211001"])
def test_tables_of_real_games_and_their_pgn_come_to_the_same_in_both_orders(
    run: Run, tmp_path: Path, name: str
) -> None:
    ends = []
    files = [DATA / f"{name}.pgn", DATA / f"{name}.csv"]
    for order in (files, files[::-1]):
        path = tmp_path / f"{order[0].name}.db"
        assert run("init", path).code == 0
        assert run("import", path, order[0], "--source", "lichess").code == 0
        done = run("import", path, order[1], "--source", "lichess")
        *remarks, summary = done.err.splitlines()
        assert done.code == 0
        assert all(remark.split(": ")[1] == "note" for remark in remarks)
        assert ": 0 games recorded, " in summary
        with Ledger.open(path) as ledger:
            ends.append({row["key"]: row["ended_at"] for row in ledger.rows("games")})
    assert ends[0] == ends[1]
