"""``python -m tools.bench``: every figure of ours beside its rival, measured one after the other in one run.

These are measurements, not tests: a bound that is missed is printed, never hidden, and does not change the exit code.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from ledger.schemes import chessworld

from .. import output, running
from ..cli import main as main_command
from . import ours, rival_documented, rival_stores, rivals, scheme_lines, synthetic
from .schemes import PLAIN_ELO, EloNumbers, scheme_run
from .table import Line, as_json, render

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
OTB = "otb_replay_strict.csv.gz"
PGN = "lichess_small.pgn"
GIB = 1024.0**3
DICT_LOOP_A_MILLION = 6.0  # seconds, on the machine of the bounds in CPU seconds


def replay_lines(name: str, columns: synthetic.Columns) -> Iterator[Line]:
    """Replay in memory, columns to full history, one core."""
    measured = rivals.side_by_side(
        len(columns["white"]),
        {
            "world": scheme_run(columns, chessworld.SCHEME, chessworld.DEFAULT),
            "elo": scheme_run(columns, PLAIN_ELO, EloNumbers(32.0)),
            "bare": rivals.numba_run(columns, history=True),
        },
    )
    world, elo, bare = measured.values()
    unit, where = "games/s", f"replay {name}"
    yield Line(f"{where}: ChessWorld, history", world, "the bound of the issue", 10e6, unit, ">= 1x")
    yield Line(
        f"{where}: Elo, history", elo, "evalica's Rust core, no history", rivals.evalica_elo(columns), unit, ">= 1x"
    )
    yield Line(f"{where}: Elo, history", elo, "bare Numba loop, history", bare, unit, ">= 0.5x")
    yield Line(f"{where}: Elo, history", elo, "riix, arrays, no history", rivals.riix_elo(columns), unit, ">= 1x")
    yield Line(f"{where}: Elo, history", elo, "dict loop, no history", rivals.dict_elo(columns), unit, ">= 1x")


def store_lines(name: str, csv: Path, folder: Path) -> Iterator[Line]:
    """From CSV to history, the projection alone, the import's CPU time, the audit, the replay of the journal."""
    made = ours.import_csv(folder, csv)
    dict_loop = rival_stores.dict_loop_executemany(csv, folder / "dict.db")
    roomy = rival_stores.dict_loop_executemany(csv, folder / "roomy.db", pragmas=["cache_size=-256000"])
    utils = rival_stores.dict_loop_sqlite_utils(csv, folder / "utils.db")
    ends = f"{name}: CSV to indexed history, sealed journal"
    took = made.seconds_to_history
    yield Line(
        ends, took, "dict loop + executemany, no journal", dict_loop, wanted="<= 3x", unit="s", higher_is_better=False
    )
    yield Line(ends, took, "the same with a 256 MB cache", roomy, unit="s", higher_is_better=False)
    yield Line(ends, took, "dict loop + sqlite-utils, no journal", utils, unit="s", higher_is_better=False)
    views = made.path.with_name("import.views.db")
    rewrite = rival_stores.rewrite_tables(views, folder / "rewrite.db")
    yield Line(
        f"{name}: project from empty",
        made.project_seconds,
        "executemany of the same rows",
        rewrite,
        wanted="<= 3x",
        unit="s",
        higher_is_better=False,
    )
    yield from _cpu_lines(name, made, dict_loop)
    seconds, peak = ours.project_in_a_process(made.path)
    memory = f"{name}: memory to project {made.games:,} games in {seconds:.0f} s"
    yield Line(memory, peak / GIB, "the bound of the issue", 3.0, "GiB", wanted="<= 1x", higher_is_better=False)
    replayed = ours.replayed(made.path)
    known = rival_documented.documented_figures(folder, 50_000)["replayed"]
    yield Line(
        f"{name}: replay of the stored journal",
        replayed,
        "eventsourcing 9.5, repository.get",
        known,
        "events/s",
        ">= 10x",
    )


def _cpu_lines(name: str, made: ours.Imported, dict_loop: float) -> Iterator[Line]:
    """What has its bound in CPU seconds, which hold where the dict loop takes 6.0 s: a slower machine is told apart."""
    slower = dict_loop / (DICT_LOOP_A_MILLION * made.games / 1e6)
    brought = "the same, brought here by the dict loop"
    what, unit = f"{name}: import CSV", "games/s CPU"
    yield Line(what, made.import_cpu_rate, "the bound of the issue", 100e3, unit, ">= 1x")
    yield Line(what, made.import_cpu_rate, brought, 100e3 / slower, unit)
    audit, bodies = ours.audit_cpu_rate(made.path)
    what, unit = f"{name}: audit of the journal", "entries/s CPU"
    yield Line(what, audit, "the bound of the issue", 300e3, unit, ">= 1x")
    yield Line(what, audit, brought, 300e3 / slower, unit)
    yield Line(what, audit, "SHA-256 of the same bytes", rivals.sha256_bound(bodies), unit)


def live_lines(folder: Path, count: int) -> Iterator[Line]:
    """One game at a time, and 1,000 a transaction."""
    bare = rival_stores.durable_commits(folder / "bare.db", count)
    yield Line(
        "append one, see it rated",
        ours.live(folder, count),
        "bare durable one-row commits",
        bare,
        "games/s",
        ">= 0.333x",
    )
    documented = rival_documented.documented_figures(_made(folder / "documented"), 50_000)
    fastest = rival_stores.eventsourcing_figures(_made(folder / "fastest"), 50_000)
    append = ours.appends(folder, 50_000)
    singly, backlog = ours.projected(folder, 10_000)
    what, unit = "make and append, 1,000 a transaction", "events/s"
    yield Line(what, append["appends"], "eventsourcing 9.5, an aggregate", documented["appends"], unit, ">= 4x")
    what = "append alone, 1,000 a transaction"
    yield Line(what, append["saves"], "eventsourcing 9.5, Application.save", documented["saves"], unit)
    yield Line(what, append["saves"], "eventsourcing 9.5, EventStore.put", fastest["appends"], unit)
    unit = "games/s"
    yield Line(
        "project single games as they come",
        backlog,
        "eventsourcing 9.5, its projection",
        fastest["projected"],
        unit,
        ">= 4x",
    )
    yield Line("project, a transaction each", singly, "eventsourcing 9.5, its projection", fastest["projected"], unit)
    yield Line("project, a transaction each", singly, "the same, synchronous=NORMAL", fastest["projected_normal"], unit)


def pgn_lines(path: Path) -> Iterator[Line]:
    """Reading PGN with clocks."""
    yield Line(
        "read PGN",
        ours.parse_pgn(path),
        "python-chess, read_game",
        rivals.python_chess_parse(path, 1_000),
        "games/s",
        ">= 15x",
    )


def start_lines(folder: Path) -> Iterator[Line]:
    """From the shell to an answer."""
    ledger, club = [sys.executable, "-m", "tools.cli"], str(folder / "start.db")
    sample = str(Path(__file__).parents[1] / "sample" / "club.pgn")
    assert main_command(["init", club]) == 0
    assert main_command(["import", club, sample]) == 0
    show = ours.start_seconds([*ledger, "show", club, "ann"])
    rows = ours.start_seconds([sys.executable, "-m", "sqlite_utils", "rows", club, "journal", "--limit", "1"])
    yield Line("start: show", show, "sqlite-utils rows", rows, "s", "<= 2x", higher_is_better=False)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _all_lines(sections: set[str], count: int, players: int, data: Path, folder: Path) -> Iterator[Line]:
    otb = data / OTB
    if "replay" in sections:
        if otb.exists():
            yield from replay_lines("otb", synthetic.otb_columns(otb))
        yield from replay_lines(f"{count / 1e6:g} M", synthetic.games(count, players, 1))
    if "schemes" in sections:
        if otb.exists():
            over_the_board = synthetic.otb_columns(otb)
            yield from scheme_lines.speed_lines("otb", over_the_board)
            yield from scheme_lines.accuracy_lines("otb", over_the_board)
            yield from scheme_lines.agreement_lines("otb", over_the_board)
            del over_the_board
        yield from scheme_lines.speed_lines(f"{count / 1e6:g} M", synthetic.games(count, players, 1))
    if "live" in sections:
        yield from live_lines(_made(folder / "live"), 3_000)
    if "pgn" in sections and (data / PGN).exists():
        yield from pgn_lines(data / PGN)
    if "start" in sections:
        yield from start_lines(_made(folder / "start"))
    if "store" in sections:
        if otb.exists():
            yield from store_lines("otb", otb, _made(folder / "otb"))
            shutil.rmtree(folder / "otb")
        csv = folder / "synthetic.csv"
        synthetic.write_csv(synthetic.games(count, players, 1), csv)
        yield from store_lines(f"{count / 1e6:g} M", csv, _made(folder / "synthetic"))


SECTIONS = ("replay", "schemes", "live", "pgn", "start", "store")


@click.command()
@click.option("--games", "count", default=10_000_000, show_default=True, help="Games of the synthetic set.")
@click.option("--players", default=500_000, show_default=True, help="Players of the synthetic set.")
@click.option("--only", "sections", multiple=True, type=click.Choice(SECTIONS), help="Measure only this; repeatable.")
@click.option("--data", default=DATA, type=click.Path(path_type=Path), help="Folder of real games; left out if absent.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where to make files (10 M games: 20 GB).")
@click.option("--json", "json_lines", is_flag=True, help="Print JSON lines instead of the table.")
def main(
    count: int, players: int, sections: tuple[str, ...], data: Path, folder: Path | None, json_lines: bool
) -> None:
    """Print every figure of ours beside its rival's, measured in this run."""
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="ledger-bench-", dir=folder) as made:
        for line in _all_lines(set(sections or SECTIONS), count, players, data, Path(made)):
            lines.append(line)
            if json_lines:
                output.write(as_json([line]), "nl")
                if output.undelivered() is not None:
                    return  # nobody reads on: the rest would be measured for nothing
            else:
                output.remark(json.dumps(as_json([line])[0]))
    if not json_lines:
        output.answer_lines(render(lines))


if __name__ == "__main__":
    running.as_process(partial(running.run, main, None, "python -m tools.bench"))
