"""Thousands of real games, and games at random, against references that are not ours.

``final_fen`` of the reference needs no other program; python-chess (GPL) is asked where it is installed, and by tests
alone. It is asked of every game each night.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ledger.board.playing import IllegalMoveError, final_position, play, replay
from ledger.board.position import START, Position
from tests.kit.places import DATA
from tests.tiers import times

EXAMPLES = times(quick=5, ci=20, nightly=300)
GAMES = 10 * EXAMPLES  # asked of python-chess, which takes milliseconds for each
PIECES, HINTS = ("", "N", "B", "R", "Q", "K"), ("", *"abcdefgh12345678")


def parts(path: Path) -> Iterator[tuple[dict[str, str], str]]:
    """The tags and the movetext of each game of a PGN file."""
    for part in re.split(r"\n\n(?=\[Event )", path.read_text(errors="replace")):
        head, _, body = part.strip().partition("\n\n")
        yield dict(re.findall(r'\[(\w+) "([^"]*)"\]', head)), body


def every_nth(path: Path, games: int) -> list[tuple[dict[str, str], str]]:
    found = list(parts(path))
    return found[:: max(1, len(found) // games)]


def need(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"the shared folder of real games is absent: {path}")
    return path


@pytest.mark.data
def test_real_games_end_in_the_position_of_their_reference() -> None:
    with need(DATA / "lichess_small.csv").open(newline="") as file:
        reference = {row["game_id"]: row["final_fen"] for row in csv.DictReader(file)}
    games = every_nth(DATA / "lichess_small.pgn", 50 * EXAMPLES)
    assert len(games) >= min(50 * EXAMPLES, len(reference))
    for tags, body in games:
        assert final_position(body, tags.get("FEN", START)).fen == reference[tags["Site"].rpartition("/")[2]]


@pytest.mark.outside
@pytest.mark.data
@pytest.mark.parametrize("name", ["lichess_slice_20211001.pgn", "roundrobins/1953_zurich_candidates.pgn"])
def test_real_games_end_as_in_python_chess(name: str) -> None:
    chess = pytest.importorskip("chess.pgn", reason="python-chess is not installed")
    for tags, body in every_nth(need(DATA / name), GAMES // 2):
        theirs = chess.read_game(io.StringIO(body)).end().board().fen()
        assert final_position(body, tags.get("FEN", START)).fen == theirs


def random_game(chess: object, random: Random, number: int) -> tuple[str, list[str], str]:
    """A start, moves at random, and the end; every third game is of Chess960, and castling is liked."""
    board = chess.Board.from_chess960_pos(random.randrange(960)) if number % 3 == 0 else chess.Board()  # type: ignore[attr-defined]
    start, moves = board.fen(), []
    for _ in range(random.randrange(20, 120)):
        legal = list(board.legal_moves)
        if not legal:
            break
        castlings = [move for move in legal if board.is_castling(move)]
        move = random.choice(castlings if castlings and random.random() < 0.5 else legal)
        moves.append(board.san(move))
        board.push(move)
    return start, moves, board.fen()


@pytest.mark.outside
def test_games_at_random_end_as_in_python_chess() -> None:
    chess = pytest.importorskip("chess", reason="python-chess is not installed")
    random = Random(20)
    for number in range(2 * EXAMPLES):
        start, moves, end = random_game(chess, random, number)
        assert replay(moves, start).fen == end


@pytest.mark.outside
def test_what_python_chess_refuses_is_refused_and_nothing_else() -> None:
    chess = pytest.importorskip("chess", reason="python-chess is not installed")
    random = Random(21)
    words = [
        f"{p}{hint}{square}{end}"
        for p in PIECES
        for hint in HINTS
        for square in chess.SQUARE_NAMES
        for end in (("",) if p else ("", "=Q"))
    ] + ["O-O", "O-O-O"]
    for number in range(max(1, EXAMPLES // 10)):
        end = random_game(chess, random, number)[2]
        for word in random.sample(words, 1500):
            board, position = chess.Board(end, chess960=number % 3 == 0), Position(end)
            try:
                board.push_san(word)
            except ValueError:
                with pytest.raises(IllegalMoveError):
                    play(position, word)
                assert position.fen == end  # a refused move changes nothing
            else:
                play(position, word)
                assert position.fen == board.fen()
