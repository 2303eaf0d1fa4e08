"""The same games from several sources: a telling with less is known already, whoever told first."""

from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.places import DATA, TESTS
from tests.tiers import few_quick

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
    assert f": {count - 3} games recorded, 0 known already, 3 known already, with new details" in then


def test_a_field_that_really_differs_is_named_and_no_other(run: Run, tmp_path: Path) -> None:
    csv = tmp_path / "fics.csv"
    csv.write_text(FICS_CSV.replace("0-1,Normal,4", "0-1,Normal,5"))
    path = tmp_path / "club.db"
    assert run("init", path).code == 0
    assert run("import", path, FICS_PGN).code == 0
    done = run("import", path, csv, "--source", "fics")
    assert done.code == 1
    words = "exists-with-different-half-moves: 'game:fics:123456' was recorded with half_moves=4, not 5;"
    assert f"fics.csv:2: error: {words}" in done.err
    assert "0 games recorded, 2 known already, 1 faulty game, 1 fault" in done.err


LICHESS_JSON = """{"id":"abcdefgh","rated":true,"variant":"standard","speed":"blitz","createdAt":1633082400000,\
"lastMoveAt":1633082440000,"status":"%s","winner":"white","moves":"%s","players":{"white":{"user":{"id":"ann","name":"Ann"}},\
"black":{"user":{"id":"bob","name":"Bob"}}}}
"""
LICHESS_PGN = """[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefgh"]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]
[UTCDate "2021.10.01"]
[UTCTime "10:00:00"]
[TimeControl "180+2"]
[Termination "%s"]

%s 1-0
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "tag", "moves", "termination", "loser"),
    [
        ("outoftime", "Time forfeit", "e4 e5", "time", 2),
        ("timeout", "Time forfeit", "e4 e5", "abandonment", 0),
        ("noStart", "Abandoned", "", "unplayed", 0),
    ],
)
def test_of_both_exports_of_lichess_the_finer_word_holds_for_how_a_game_ended(
    run: Run, tmp_path: Path, status: str, tag: str, moves: str, termination: str, loser: int
) -> None:
    json_lines, pgn = tmp_path / "games.ndjson", tmp_path / "games.pgn"
    json_lines.write_text(LICHESS_JSON % (status, moves))
    pgn.write_text(LICHESS_PGN % (tag, moves))
    for order in ((json_lines, pgn), (pgn, json_lines)):
        path = tmp_path / f"{order[0].name}.db"
        assert run("init", path, "--scheme", "elo").code == 0
        for file in (*order, *order):
            assert run("import", path, file).code == 0
        with Ledger.open(path) as ledger:
            (row,) = ledger.rows("games")
            assert (row["termination"], row["reason"]) == (termination, None if moves else "unplayed")
            assert row["time_loss"] == loser, "0: nobody lost on time"
        assert run("audit", path).code == 0


@pytest.mark.skipif(not DATA.exists(), reason="the real games are not here")
@pytest.mark.parametrize("name", few_quick(["lichess_small", "lichess_slice_20211001"], "lichess_slice_20211001"))
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
