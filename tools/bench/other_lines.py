"""Replay in memory, reading PGN, and from the shell to an answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from ledger.schemes import chessworld

from ..cli import main as main_command
from . import bare_ratings, ours, rivals
from .datasets import GameSet
from .measuring import both_lines, cost_of, in_turns
from .rivals import Run, installed
from .schemes import PLAIN_ELO, EloNumbers, scheme_run
from .table import Line, line

PGN = "lichess_small.pgn"
WORLD_ALLOWED = 10e6  # games/s
STARTS = 7  # of each command in a round: a start is short


def replay_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """Replay in memory, columns to full history, one core; all of a set in turns, but for what is very slow."""
    for data in sets:
        columns = data.columns()
        runs: dict[str, Run] = {
            "world": scheme_run(columns, chessworld.SCHEME, chessworld.DEFAULT),
            "elo": scheme_run(columns, PLAIN_ELO, EloNumbers(32.0)),
            "world-bare": bare_ratings.chessworld_run(columns),
            "columns": rivals.numba_columns_run(columns),
            "bare": rivals.numba_run(columns, history=True),
        }
        if installed("evalica"):
            runs["evalica"] = rivals.evalica_run(columns)
        paces = rivals.side_by_side(len(columns["white"]), runs, max(rounds, 7))
        yield line("world", data.name, paces["world"], WORLD_ALLOWED)
        yield line("world-numba", data.name, paces["world"], paces["world-bare"])
        if "evalica" in paces:
            yield line("elo-evalica", data.name, paces["elo"], paces["evalica"])
        yield line("elo-columns", data.name, paces["elo"], paces["columns"])
        yield line("elo-numba", data.name, paces["elo"], paces["bare"])
        if installed("riix"):
            yield line("elo-riix", data.name, paces["elo"], rivals.riix_elo(columns))
        yield line("elo-dict", data.name, paces["elo"], rivals.dict_elo(columns))


def pgn_lines(data: Path, rounds: int) -> Iterator[Line]:
    """Reading PGN with clocks."""
    path = data / PGN
    if path.exists() and installed("chess"):
        works = {"ours": partial(ours.parse_pgn, path), "theirs": partial(rivals.python_chess_parse, path, 1_000)}
        measured = in_turns(works, rounds)
        yield line("pgn", "", measured["ours"], measured["theirs"])


def start_lines(folder: Path, rounds: int) -> Iterator[Line]:
    """From the shell to an answer, after a start of each that warms the disk."""
    club = str(folder / "start.db")
    sample = str(Path(__file__).parents[1] / "sample" / "club.pgn")
    assert main_command(["init", club]) == 0
    assert main_command(["import", club, sample]) == 0
    commands = {
        "show": [sys.executable, "-m", "tools.cli", "show", club, "ann"],
        "rows": [sys.executable, "-m", "sqlite_utils", "rows", club, "journal", "--limit", "1"],
    }
    works = {name: partial(cost_of, _start(command)) for name, command in commands.items()}
    in_turns(works, 1)
    measured = in_turns(works, rounds * STARTS)
    yield from both_lines("show", "", measured["show"], measured["rows"])


def _start(command: list[str]) -> Callable[[], object]:
    return partial(subprocess.run, command, capture_output=True, check=True)
