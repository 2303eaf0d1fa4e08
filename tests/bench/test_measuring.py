"""What works cost, peaks of processes, and the sets of games."""

import csv
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ledger.ledger import Ledger
from tests.kit.places import OTB
from tools.bench import datasets, measuring, rival_stores
from tools.bench.datasets import Columns, make_games, write_csv
from tools.bench.measuring import Figure, cost_of, in_turns

MIB = 1024 * 1024
# A child that takes so many megabytes and gives them back, then waits until it was seen.
TAKING = "import time\ntaken = bytearray({0} * 1024 * 1024)\ndel taken\ntime.sleep(0.3)\n"


def _note(done: list[str], name: str) -> int:
    done.append(name)
    return len(done)


class TestCosts:
    @pytest.mark.parametrize("warm", [True, False])
    def test_works_are_done_in_turns_after_a_round_that_warms_up(self, *, warm: bool) -> None:
        done: list[str] = []
        works = {name: partial(_note, done, name) for name in "ab"}
        results = in_turns(works, 2, warm=warm)
        assert done == ["a", "b"] * (3 if warm else 2)
        assert results == ({"a": [3, 5], "b": [4, 6]} if warm else {"a": [1, 3], "b": [2, 4]})

    def test_the_processor_time_of_children_counts(self) -> None:
        busy = "import time\nwhile time.process_time() < 0.3: pass"
        cost = cost_of(lambda: subprocess.run([sys.executable, "-c", busy], check=True))
        assert cost.cpu >= 0.25
        assert Figure(2.0, 4.0).rates(8) == Figure(4.0, 2.0)
        assert cost.plus(Figure(1.0, 2.0)) == Figure(cost.clock + 1.0, cost.cpu + 2.0)


@pytest.mark.skipif(not measuring.TELLS, reason="peaks are read from /proc")
class TestPeaks:
    def test_a_child_of_a_larger_parent_has_its_own_peak(self) -> None:
        """``ru_maxrss`` of this child would tell 300 MB and more, as the parent's."""
        held = bytearray(b"x") * (300 * MIB)
        _, (peak,) = measuring.watched([sys.executable, "-c", TAKING.format(100)])
        assert len(held) == 300 * MIB < measuring.memory_of()
        assert 100 * MIB < peak < 160 * MIB

    def test_children_of_the_child_are_added_though_they_end_before_it(self) -> None:
        grandchild = TAKING.format(80)
        code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {grandchild!r}])\n" + TAKING.format(60)
        _, (own, other) = measuring.watched([sys.executable, "-c", code])
        assert 60 * MIB < own < 120 * MIB
        assert 80 * MIB < other < 140 * MIB

    def test_what_a_process_printed_is_given_and_a_failure_is_not_hidden(self) -> None:
        assert measuring.watched([sys.executable, "-c", "print('x')"])[0] == b"x\n"
        with pytest.raises(subprocess.CalledProcessError):
            measuring.watched([sys.executable, "-c", "raise SystemExit(3)"])

    def test_a_process_that_has_ended_has_no_peak_and_no_children(self) -> None:
        with subprocess.Popen([sys.executable, "-c", ""]) as child:
            child.wait()
        assert (measuring.memory_of(child.pid), measuring.descendants(child.pid)) == (0, [])


@pytest.fixture(name="rated_columns", scope="module")
def _columns() -> Columns:
    return make_games(2_000, 60, seed=1)


class TestSynthetic:
    def test_the_same_seed_gives_the_same_games_and_another_seed_others(self) -> None:
        first, again, other = (make_games(500, 40, seed) for seed in (1, 1, 2))
        assert all(np.array_equal(first[name], again[name]) for name in first)
        assert not np.array_equal(first["white"], other["white"])

    def test_the_columns_are_what_the_module_says(self, rated_columns: Columns) -> None:
        types = {"white": "int32", "black": "int32", "score": "float64", "ended_at": "int64"}
        types |= {"half_moves": "int16", "checkmate": "uint8"}
        assert {name: str(column.dtype) for name, column in rated_columns.items()} == types
        assert set(rated_columns["score"]) == {0.0, 0.5, 1.0}
        assert (rated_columns["ended_at"] % 1000 == 0).all()
        gaps = np.diff(rated_columns["ended_at"])
        assert (gaps >= 0).all()
        assert (gaps == 0).any()

    @pytest.mark.parametrize(("count", "players"), [(2, 2), (7, 7), (1000, 3), (1000, 333)])
    def test_every_player_plays_and_nobody_plays_himself(self, count: int, players: int) -> None:
        columns = make_games(count, players, seed=3)
        both = np.concatenate([columns["white"], columns["black"]])
        assert np.array_equal(np.unique(both), np.arange(players))
        assert (columns["white"] != columns["black"]).all()

    def test_more_players_than_games_are_refused(self) -> None:
        with pytest.raises(ValueError, match="players must be from 2"):
            make_games(10, 11, seed=1)

    def test_mates_are_won_by_the_side_that_moved_last_and_some_games_are_short(self, rated_columns: Columns) -> None:
        mate = rated_columns["checkmate"] == 1
        assert 0 < mate.sum() < len(mate)
        assert np.array_equal(rated_columns["half_moves"][mate] % 2, rated_columns["score"][mate])
        assert 0 < (rated_columns["half_moves"] <= 10).sum() < len(mate) / 10

    def test_the_csv_holds_the_same_games(self, rated_columns: Columns, tmp_path: Path) -> None:
        write_csv(rated_columns, tmp_path / "games.csv")
        with (tmp_path / "games.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == ["key", "white", "black", "result", "termination", "half_moves", "ended_at"]
        assert [int(row["white"][1:]) for row in rows] == rated_columns["white"].tolist()
        assert [rival_stores.SCORES[row["result"]] for row in rows] == rated_columns["score"].tolist()
        assert rows[-1]["key"] == "g00002000"
        instants = pl.Series([row["ended_at"] for row in rows]).str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="ms")
        assert instants.cast(pl.Int64).to_list() == rated_columns["ended_at"].tolist()
        assert {row["termination"] for row in rows} == {"checkmate", "agreement", "time", "resignation"}

    def test_everybody_plays_everybody_in_made_up_tournaments(self, tmp_path: Path) -> None:
        datasets.write_tournaments(tmp_path / "games.csv.gz", 2 * 78)
        columns = datasets.otb_columns(tmp_path / "games.csv.gz")
        assert {len(column) for column in columns.values()} == {2 * 78}
        for event in np.unique(columns["event"]):
            games = columns["event"] == event
            pairs = {frozenset(pair) for pair in zip(columns["white"][games], columns["black"][games], strict=True)}
            assert len(pairs) == games.sum() == 78
        assert set(columns["score"]) == {0.0, 0.5, 1.0}
        assert (np.diff(columns["ended_at"]) >= 0).all()

    @pytest.mark.data
    @pytest.mark.skipif(not OTB.exists(), reason="the shared folder of real games is not here")
    def test_the_over_the_board_set_has_the_games_that_its_manifest_counts(self) -> None:
        columns = datasets.otb_columns(OTB)
        assert {len(column) for column in columns.values()} == {960_311}
        assert len(np.unique(np.concatenate([columns["white"], columns["black"]]))) == 48_208
        assert (np.diff(columns["ended_at"]) >= 0).all()


class TestSets:
    def test_sets_of_different_lengths_end_with_the_same_games(self, tmp_path: Path) -> None:
        small, large = datasets.made_up((200, 1_000), tmp_path)
        length = datasets.tail_length(small.games)
        short, long = small.columns(), large.columns()
        assert (len(short["white"]), len(long["white"]), length) == (200, 1_000, 100)
        for name, column in short.items():
            assert np.array_equal(column[-length:], long[name][-length:]), name
        assert short["ended_at"][-length] == datasets.tail_ms(0)
        assert (np.diff(long["ended_at"]) >= 0).all()
        assert set(short["white"][-length:]) <= set(short["white"][:-length]) | set(short["black"][:-length])

    @pytest.mark.slow
    def test_a_ledger_is_made_once_and_a_build_without_indexes_lacks_nothing_else(self, tmp_path: Path) -> None:
        (data,) = datasets.made_up((60,), tmp_path)
        alone, to_history = data.import_again().costs
        assert 0 < alone.clock < to_history.clock
        made = data.path.stat().st_mtime_ns
        assert data.ledger().stat().st_mtime_ns == made
        with Ledger.open(data.path, read_only=True) as ledger:
            assert ledger.journal.size() > 60
        indexes: dict[str, set[str]] = {}
        for work in ("build", "build-without-player-indexes", "build-history"):
            worked = measuring.in_a_process(work, data.path)
            assert worked.costs[0].clock > 0
            assert worked.peak * measuring.GIB > 10 * MIB or not measuring.TELLS
            with closing(rival_stores.driver().connect(str(data.views))) as connection:
                names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
                indexes[work] = {name for (name,) in names}
        assert indexes["build"] - indexes["build-without-player-indexes"] == {"games_of_white", "games_of_black"}
        assert indexes["build"] - indexes["build-history"] == {"upsets_by_surplus"}  # of a read model
