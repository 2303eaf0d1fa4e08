"""The board of a game: the answer, the command, the picture."""

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from zstandard import ZstdCompressor

from ledger.answers.graphs import mini_boards
from ledger.board.playing import replay
from tests.kit import tampering
from tests.kit.commands import Run
from tests.tiers import few_quick
from tools import cli

MATE = "r1bqk1nr/pppp1Qpp/2n5/2b1p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4"
NAME = "<Ann> & \u202eEve"
GAMES = f"""[Event "?"]
[Site "?"]
[Date "2024.05.01"]
[White "{NAME}"]
[Black "Bob"]
[Result "1-0"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 (3. Nf3) Bc5 {{oh}} 4. Qxf7# 1-0

[Event "?"]
[Site "?"]
[Date "2024.05.02"]
[White "Bob"]
[Black "Cleo"]
[Result "1-0"]

1. e4 {{[%clk 0:01:00]}} 1... e5 {{[%clk 0:00:59]}} 2. Ke3 {{[%clk 0:00:58]}} 1-0

[Event "?"]
[Site "?"]
[Date "2024.05.03"]
[White "Bob"]
[Black "Cleo"]
[Result "1-0"]

1-0
"""


@pytest.fixture(scope="module")
def mated_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of three games: a mate, one whose moves cannot be played, one without moves."""
    folder = tmp_path_factory.mktemp("boards")
    (folder / "games.pgn").write_text(GAMES)
    assert cli.main(["init", str(folder / "club.db")]) == 0
    assert cli.main(["import", str(folder / "club.db"), str(folder / "games.pgn")]) == 0
    return folder / "club.db"


def key_of(run: Run, mated_club: Path, half_moves: int) -> str:
    rows = [json.loads(line) for line in run("log", mated_club, "--kind", "game-recorded", "--nl").out.splitlines()]
    return next(str(row["key"]) for row in rows if row["facts"].get("half_moves", 0) == half_moves)


def test_the_final_position_in_every_format(run: Run, mated_club: Path, tmp_path: Path) -> None:
    key = key_of(run, mated_club, 7)
    assert run("board", mated_club, key, "--format", "fen").out == f"{MATE}\n"
    row = json.loads(run("board", mated_club, key, "--format", "json").out)
    assert (row["fen"], row["half_moves"], row["last_move"]) == (MATE, 7, "Qxf7#")
    text = run("board", mated_club, key).out
    assert text.splitlines()[0] == "<Ann> & \\u202eEve - Bob 1-0, 2024-05-01"
    assert "7  p p p p . Q p p" in text
    assert "2  P P P . P P P P" in run("board", mated_club, key, "--flip").out
    for name in ("final.svg", "final.json", "final.fen", "final.txt"):
        assert run("board", mated_club, key, "-o", tmp_path / name).code == 0
    picture = ET.parse(tmp_path / "final.svg").getroot()
    assert "".join(picture[0].itertext()) == "<Ann> & \\u202eEve - Bob 1-0, 2024-05-01"
    assert "queen f7" in "".join(picture[1].itertext())
    assert json.loads((tmp_path / "final.json").read_text()) == row
    assert (tmp_path / "final.fen").read_text() == f"{MATE}\n"
    assert (tmp_path / "final.txt").read_text() == text


def test_the_game_itself_is_pgn_that_reads_back_as_known(run: Run, mated_club: Path, tmp_path: Path) -> None:
    key = key_of(run, mated_club, 7)
    file = tmp_path / "game.pgn"
    assert run("board", mated_club, key, "-o", file).code == 0
    assert (
        file.read_text()
        == run("board", mated_club, key, "--format", "pgn").out
        == (
            '[Event "?"]\n[Site "?"]\n[Date "2024.05.01"]\n[Round "?"]\n[White "<Ann> & \\\\u202eEve"]\n[Black "Bob"]\n'
            '[Result "1-0"]\n[Termination "normal"]\n[Rated "yes"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Bc5 4. Qxf7# 1-0\n'
        )
    )
    without = key_of(run, mated_club, 0)
    assert run("board", mated_club, without, "--format", "pgn").out.endswith('[Result "1-0"]\n[Rated "yes"]\n\n1-0\n')
    file.write_text(run("board", mated_club, key_of(run, mated_club, 3), "--format", "pgn").out)
    clocks = "1. e4 {[%clk 0:01:00]} 1... e5 {[%clk 0:00:59]} 2. Ke3 {[%clk 0:00:58]} 1-0"
    assert " ".join(file.read_text().splitlines()[-2:]).strip() == clocks
    again = run("import", mated_club, file, "--dry-run")
    assert (again.code, "0 games recorded, 1 known already" in again.err) == (0, True)


TOLD: list[dict[str, Any]] = [
    {"key": "k:forfeit", "termination": "unplayed", "ended_at": "2024-05-01", "tournament": "Open", "round": "1"},
    {"key": "k:casual", "ended_at": "2024-05-02", "rated": False, "tournament": "Open", "round": "2"},
    {"key": "k:short", "ended_at": "2018-05-02", "half_moves": 4},
    {"key": "k:none", "ended_at": "2018-05-03", "half_moves": 0},
    {"key": "lichess:Mxzwh32B", "ended_at": "2018-05-04", "half_moves": 0},
    {"key": "k:by-post", "started_at": "2019-05-02", "ended_at": "2021-06-07"},
    {"key": "k:blitz", "started_at": "2024-05-03T19:30:00Z", "ended_at": "2024-05-03T19:36:40Z"},
    {"key": "k:parts", "started_at": "2024-05-03T23:58:00.500Z", "ended_at": "2024-05-04T00:02:09.250Z"},
    {"key": "k:early", "started_at": "0999", "ended_at": "1000-01"},
    {"key": "lichess:Mxzwh32Z", "ended_at": "2024-05-05T20:10:00Z", "tournament": "Friday Arena"},
    {"key": "lichess:Mxzwh32A", "ended_at": "2024-05-06", "rated": False},
]


@pytest.mark.slow
def test_pgn_tells_another_ledger_what_counts_and_when_it_was_played(run: Run, tmp_path: Path) -> None:
    first, other, file = tmp_path / "first.db", tmp_path / "other.db", tmp_path / "games.pgn"
    lines = []
    for game in TOLD:
        server = "lichess" if game["key"].startswith("lichess") else "name"
        sides = {side: {"id": f"{server}:{name}", "name": name} for side, name in (("white", "ann"), ("black", "bob"))}
        lines.append(json.dumps({**sides, "rated": True, "outcome": "white", "termination": "time", **game}))
    (tmp_path / "told.ndjson").write_text("\n".join(lines))
    for club in (first, other):
        assert run("init", club, "--scheme", "chessworld").code == 0
    assert run("import", first, tmp_path / "told.ndjson").code == 0
    file.write_text("\n".join(run("board", first, game["key"], "--format", "pgn").out for game in TOLD))
    assert run("import", other, file).code == 0
    # fractions of a second stand in no tag
    asked = (
        "SELECT termination, half_moves, rated, reason, tournament, round, "
        "replace(ended_at, 'T00:02:09.250Z', '') AS ended "
        "FROM games ORDER BY position"
    )
    assert json.loads(run("query", other, asked).out) == json.loads(run("query", first, asked).out)
    again = run("import", first, file)
    assert (again.code, "0 games recorded" in again.err) == (0, True)


def test_pgn_begins_where_the_game_began(run: Run, mated_club: Path) -> None:
    start = "4k3/8/8/8/8/8/4p3/4K3 b - - 0 31"
    lines = run("board", mated_club, key_of(run, mated_club, 7), "--format", "pgn", "--start", start).out.splitlines()
    assert [lines[-3], lines[-1]] == [f'[FEN "{start}"]', "31... e4 32. e5 Bc4 33. Nc6 Qh5 34. Bc5 Qxf7# 1-0"]
    assert run("board", mated_club, key_of(run, mated_club, 7), "--format", "pgn", "--start", "x").code == 1


def test_a_game_without_moves_says_so(run: Run, mated_club: Path) -> None:
    done = run("board", mated_club, key_of(run, mated_club, 0))
    assert done.code == 1
    assert "no moves of game" in done.err
    assert "no source had them" in done.err


@pytest.mark.parametrize("text", ["1-0", "{adjourned, and never gone on with}", "*", "( e4 )", "1."])
def test_a_text_without_a_move_shows_no_board(text: str, run: Run, tmp_path: Path) -> None:
    club, file = tmp_path / "club.db", tmp_path / "games.ndjson"
    sides = {side: {"id": f"name:{side}", "name": side} for side in ("white", "black")}
    game = {
        "key": "k:1",
        **sides,
        "outcome": "white",
        "termination": "unknown",
        "ended_at": "2024-05-01",
        "rated": True,
    }
    file.write_text(json.dumps({**game, "text": text}))
    run("init", club, "--scheme", "elo")
    assert run("import", club, file).code == 0
    for kind in ("txt", "json", "svg", "fen"):
        done = run("board", club, "k:1", "--format", kind)
        assert (done.code, "its stored text has none" in done.err) == (1, True)
    assert run("board", club, "k:1", "--format", "pgn").out.endswith("\n\n1-0\n")
    assert (
        json.loads(run("graph", club, "white", "--format", "json", "--boards").out)["player"]["bars"][0]["game"]
        == "k:1"
    )


def test_moves_that_cannot_be_played_are_named(run: Run, mated_club: Path) -> None:
    done = run("board", mated_club, key_of(run, mated_club, 3))
    assert done.code == 1
    assert "move 2. 'Ke3' (half-move 3) cannot be played: no white king can go to e3" in done.err
    assert "--start FEN" in done.err
    assert run("board", mated_club, key_of(run, mated_club, 7), "--format", "fen", "--flip").code == 2


def test_a_picture_has_every_piece_the_last_move_and_words() -> None:
    position = replay(["e4", "e5", "Bc4", "Nc6", "Qh5", "Bc5", "Qxf7#"])
    text = mini_boards.board_picture(position, "A < B")
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    ids = {part.get("id") for part in root.iter(f"{space}g") if part.get("id")}
    used = [part.get("href", "").lstrip("#") for part in root.iter(f"{space}use")]
    assert len(ids) == 12
    assert set(used) <= ids
    assert len(used) == sum(piece != "." for piece in position.squares)
    assert text.count(mini_boards.MOVED) == 2
    assert "<text" not in text  # no font is needed
    assert "A &lt; B. White: king e1, queen f7, rooks a1 h1" in root.attrib["aria-label"].replace("<", "&lt;")
    assert mini_boards.describe_position(position).endswith("Black to move")
    turned = mini_boards.board_group(position, flipped=True)
    assert turned != mini_boards.board_group(position)


@pytest.mark.parametrize("half_moves", few_quick([9_999, 10_000, 10_004, 20_000], "9999"))
def test_a_game_of_thousands_of_moves_takes_nobodys_graph_away_and_its_position_is_read_back(
    half_moves: int, run: Run, tmp_path: Path
) -> None:
    moves = (["Nf3", "Nf6", "Ng1", "Ng8"] * half_moves)[:half_moves]
    tags = '[Event "?"]\n[Site "?"]\n[Date "2024.05.01"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1/2-1/2"]\n'
    club, games, back = tmp_path / "club.db", tmp_path / "games.pgn", tmp_path / "back.pgn"
    games.write_text(f"{tags}\n{wrapped(moves)} 1/2-1/2\n")
    assert run("init", club).code == 0
    assert run("import", club, games).code == 0
    key = key_of(run, club, half_moves)
    fen = run("board", club, key, "--format", "fen").out.strip()
    assert fen.endswith(f" {half_moves} {half_moves // 2 + 1}")
    for kind in ("html", "svg", "json", "csv"):
        graph = run("graph", club, "Ann", "--format", kind, "--boards")
        assert (graph.code, graph.err) == (0, "")
        assert ("Final position" if kind == "html" else fen) in graph.out
    for kind in ("txt", "vega-lite"):
        assert run("graph", club, "Ann", "--format", kind).code == 0
    assert run("show", club, "Ann").code == 0
    (row,) = json.loads(run("games", club, "Ann").out)
    assert f"game:{row['game']}" == key

    later = run("board", club, key, "--start", fen, "--format", "fen")  # a game that goes on where that one was left
    if half_moves % 4 == 0:  # the knights are at home
        assert later.out == f"{fen.rsplit(' ', 2)[0]} {2 * half_moves} {half_moves + 1}\n"
        adjourned = run("board", club, key, "--start", fen, "--format", "pgn")
        assert f'[FEN "{fen}"]\n' in adjourned.out
        assert f" {half_moves}. " in adjourned.out.replace("\n", " ")
        back.write_text(adjourned.out.replace("2024.05.01", "2024.05.02"))
        assert run("import", club, back).code == 0
        assert "0 games recorded" in run("import", club, back).err
    else:
        assert "cannot be played" in later.err


def wrapped(moves: list[str]) -> str:
    numbered = [f"{n // 2 + 1}. {move}" if n % 2 == 0 else move for n, move in enumerate(moves)]
    return "\n".join(" ".join(numbered[start : start + 20]) for start in range(0, len(numbered), 20))


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"no frame",
        ZstdCompressor().compress(b"1. d4 d5"),
        # its header says that it is 2^40 bytes long (RFC 8878, 3.1.1.1: a window, and a size of eight bytes)
        bytes.fromhex("28b52ffdc050") + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00",
    ],
    ids=["nothing", "no frame", "another game", "a terabyte"],
)
def test_moves_that_are_not_those_that_were_recorded_are_told_of_and_not_shown(
    mated_club: Path, tmp_path: Path, run: Run, frame: bytes
) -> None:
    club = tmp_path / mated_club.name
    for file in mated_club.parent.glob("club.*"):
        shutil.copy(file, tmp_path)
    tampering.edit(club, ("UPDATE texts SET zstd = ?", (frame,)))
    done = run("board", club, key_of(run, club, 7))
    assert (done.code, done.out) == (1, "")
    assert "was changed or is damaged; restore that row from a copy" in done.err
