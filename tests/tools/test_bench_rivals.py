"""The rivals of the benchmark do the work they are measured for."""

import csv
import importlib.util
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ledger.answers.comparing import forecasts
from ledger.ratings import engine
from ledger.schemes import built_in_names, named
from tests.kit.places import OTB
from tools.bench import (
    bare_ratings,
    rival_eventsourcing,
    rival_ratings,
    rival_stores,
    rivals,
    scheme_lines,
    schemes,
    synthetic,
)
from tools.bench.table import Reached, render

DRIVER = rival_stores.driver()


def needs(package: str) -> pytest.MarkDecorator:
    """Skip where a rival is not installed."""
    absent = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(absent, reason=f"the rival {package} is not installed (dependency group bench)")


@pytest.fixture(name="columns", scope="module")
def _columns() -> synthetic.Columns:
    return synthetic.games(2_000, 60, seed=1)


def _rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = DRIVER.connect(str(path))
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


class TestSynthetic:
    def test_the_same_seed_gives_the_same_games_and_another_seed_others(self) -> None:
        first, again, other = (synthetic.games(500, 40, seed) for seed in (1, 1, 2))
        assert all(np.array_equal(first[name], again[name]) for name in first)
        assert not np.array_equal(first["white"], other["white"])

    def test_the_columns_are_what_the_module_says(self, columns: synthetic.Columns) -> None:
        assert {name: str(column.dtype) for name, column in columns.items()} == {
            "white": "int32",
            "black": "int32",
            "score": "float64",
            "ended_at": "int64",
            "half_moves": "int16",
            "checkmate": "uint8",
        }
        assert set(columns["score"]) == {0.0, 0.5, 1.0}
        assert (columns["ended_at"] % 1000 == 0).all()
        gaps = np.diff(columns["ended_at"])
        assert (gaps >= 0).all()
        assert (gaps == 0).any()

    @pytest.mark.parametrize(("count", "players"), [(2, 2), (7, 7), (1000, 3), (1000, 333), (600_000, 1001)])
    def test_every_player_plays_and_nobody_plays_himself(self, count: int, players: int) -> None:
        columns = synthetic.games(count, players, seed=3)
        both = np.concatenate([columns["white"], columns["black"]])
        assert np.array_equal(np.unique(both), np.arange(players))
        assert (columns["white"] != columns["black"]).all()

    def test_more_players_than_games_are_refused(self) -> None:
        with pytest.raises(ValueError, match="players must be from 2"):
            synthetic.games(10, 11, seed=1)

    def test_mates_are_won_by_the_side_that_moved_last_and_some_games_are_short(
        self, columns: synthetic.Columns
    ) -> None:
        mate = columns["checkmate"] == 1
        assert 0 < mate.sum() < len(mate)
        assert np.array_equal(columns["half_moves"][mate] % 2, columns["score"][mate])
        assert 0 < (columns["half_moves"] <= 10).sum() < len(mate) / 10

    def test_the_csv_holds_the_same_games(
        self, columns: synthetic.Columns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(synthetic, "CHUNK", 300)
        synthetic.write_csv(columns, tmp_path / "games.csv")
        with (tmp_path / "games.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == ["key", "white", "black", "result", "termination", "half_moves", "ended_at"]
        assert [int(row["white"][1:]) for row in rows] == columns["white"].tolist()
        assert [rival_stores.SCORES[row["result"]] for row in rows] == columns["score"].tolist()
        assert rows[-1]["key"] == "g00002000"
        instants = pl.Series([row["ended_at"] for row in rows]).str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="ms")
        assert instants.cast(pl.Int64).to_list() == columns["ended_at"].tolist()
        assert {row["termination"] for row in rows} == {"checkmate", "agreement", "time", "resignation"}

    @pytest.mark.data
    @pytest.mark.skipif(not OTB.exists(), reason="the shared folder of real games is not here")
    def test_the_over_the_board_set_has_the_games_that_its_manifest_counts(self) -> None:
        columns = synthetic.otb_columns(OTB)
        assert {len(column) for column in columns.values()} == {960_311}
        assert rivals.players_of(columns) == 48_208
        assert (np.diff(columns["ended_at"]) >= 0).all()


class TestRatingRivals:
    @needs("evalica")
    def test_evalica_gives_the_ratings_of_the_bare_loop(self, columns: synthetic.Columns) -> None:
        expected = rivals.numba_run(columns, history=False)()
        assert np.allclose(rivals.evalica_run(columns)(), expected, rtol=0, atol=1e-9)

    @needs("riix")
    def test_riix_gives_the_ratings_of_the_bare_loop(self, columns: synthetic.Columns) -> None:
        expected = rivals.numba_run(columns, history=False)()
        assert np.allclose(rivals.riix_run(columns)(), expected, rtol=0, atol=1e-9)
        assert rivals.riix_elo(columns, runs=1, limit=100) > 0

    def test_the_dictionary_and_both_compiled_loops_agree(self, columns: synthetic.Columns) -> None:
        by_player = rivals.dict_run(columns)()
        expected = [by_player[player] for player in range(60)]
        for history in (True, False):
            assert np.allclose(rivals.numba_run(columns, history=history)(), expected, rtol=0, atol=1e-9)
        assert rivals.dict_elo(columns, runs=1, limit=100) > 0

    def test_side_by_side_all_are_run_equally_often(self) -> None:
        ran: list[str] = []
        runs = {name: (lambda name=name: ran.append(name)) for name in "ab"}
        paces = rivals.side_by_side(10, runs, times=3)
        assert {name: len(rounds) for name, rounds in paces.items()} == {"a": 3, "b": 3}
        assert ran == ["a", "b"] * 4

    @needs("chess")
    def test_python_chess_stops_at_the_end_of_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "two.pgn").write_text('[Result "1-0"]\n\n1. e4 e5 1-0\n\n' * 2)
        assert rivals.python_chess_parse(tmp_path / "two.pgn") > 0
        assert rivals.python_chess_parse(tmp_path / "two.pgn", limit=1) > 0


def _ours(columns: synthetic.Columns, name: str, given: dict[str, int | bool | str] | None = None) -> Any:
    scheme = named(name)
    return schemes.ratings(schemes.scheme_run(columns, scheme, scheme.numbers_from(given or {}))(), scheme)


def _ours_singly(columns: synthetic.Columns, name: str, given: dict[str, int | bool | str]) -> Any:
    scheme = named(name)
    run = schemes.rating_run(schemes.singly(columns), scheme, scheme.numbers_from(given))
    return schemes.ratings(run(), scheme)


class TestSchemeRivals:
    """The packages and the bare loops compute what our schemes compute, so their figures may stand beside ours."""

    def test_bare_loops_with_the_same_columns_give_the_ratings_of_our_schemes(self, columns: synthetic.Columns) -> None:
        world = bare_ratings.chessworld_run(columns)().ravel()
        scheme = named("chessworld")
        ours = schemes.scheme_run(columns, scheme, scheme.numbers_from({}))()
        np.testing.assert_allclose(world, ours, rtol=1e-12)
        elo = schemes.scheme_run(columns, schemes.PLAIN_ELO, schemes.EloNumbers(32.0))()
        np.testing.assert_allclose(rivals.numba_columns_run(columns)(), elo, rtol=1e-12)

    def test_bare_loops_by_game_give_the_ratings_of_our_schemes(self, columns: synthetic.Columns) -> None:
        glicko = bare_ratings.glicko_run(columns)()[:, 0]
        assert np.allclose(glicko, _ours_singly(columns, "glicko", {"rd_floor": 0}), rtol=0, atol=1e-9)
        mu = bare_ratings.glicko2_run(columns)()[:, 0]
        assert np.allclose(1500 + bare_ratings.SCALE * mu, _ours_singly(columns, "glicko2", {}), rtol=0, atol=1e-6)

    def test_the_bare_weekly_loop_gives_the_ratings_of_glicko2(self, columns: synthetic.Columns) -> None:
        mu = bare_ratings.weekly_glicko2_run(columns)()[:, 0]
        ours = _ours(columns, "glicko2", schemes.WEEKLY["glicko2"])
        assert np.allclose(1500 + bare_ratings.SCALE * mu, ours, rtol=0, atol=5e-4)

    def test_the_bare_loop_of_us_chess_by_hand(self) -> None:
        one: synthetic.Columns = {"white": np.zeros(1, np.int32), "black": np.ones(1, np.int32), "score": np.ones(1)}
        assert bare_ratings.uschess_run(one)().tolist() == [[1900.0, 1.0], [1100.0, 1.0]]

    @needs("riix")
    def test_riix_gives_the_ratings_of_our_schemes(self, columns: synthetic.Columns) -> None:
        lines = list(scheme_lines.agreement_lines("made up", columns))
        systems = ("Glicko by week", "Glicko-2 by week", "Glicko-2 by game")
        assert [line.bound.what for line in lines] == [f"{one}, farthest from riix" for one in systems]
        assert all(line.reached is Reached.AT_LEAST for line in lines), render(lines)

    @needs("riix")
    def test_riix_expects_what_our_schemes_expect(self, columns: synthetic.Columns) -> None:
        elo, score = named("elo"), columns["score"]
        expected = rival_ratings.riix_expected(rival_ratings.riix(columns, "Elo", "game"))
        ours = schemes.judged(columns, elo, elo.numbers_from({}))
        assert ours == pytest.approx((forecasts.log_loss(expected, score), forecasts.brier(expected, score)), rel=1e-9)

    @needs("elote")
    def test_elote_gives_the_ratings_and_predictions_of_our_elo(self, columns: synthetic.Columns) -> None:
        prepared = rival_ratings.elote(columns, "Elo")
        theirs = [player.rating for player in rival_ratings.elote_run(prepared)()]
        assert np.allclose(theirs, _ours(columns, "elo"), rtol=0, atol=1e-9)
        elo, expected = named("elo"), rival_ratings.elote_expected(prepared)
        assert schemes.judged(columns, elo, elo.numbers_from({}))[1] == pytest.approx(
            forecasts.brier(expected, columns["score"]), rel=1e-9
        )

    @needs("elote")
    @pytest.mark.parametrize("system", ["Glicko", "Glicko2", "ECF"])
    def test_every_system_of_elote_rates_and_predicts_every_game(self, columns: synthetic.Columns, system: str) -> None:
        prepared = rival_ratings.elote(rivals.head(columns, 300), system)
        expected = rival_ratings.elote_expected(prepared)
        assert ((expected >= 0) & (expected <= 1)).all()
        assert len({player.rating for player in rival_ratings.elote_run(prepared)()}) > 5

    @needs("elochess")
    def test_elochess_rates_the_games_of_a_batch_together(self) -> None:
        games = engine.Rateable(
            np.array([0, 0, 2]), np.array([1, 2, 1]), np.array([1.0, 1.0, 0.5]), np.zeros(3), np.array([0, 2, 3])
        )
        assert rival_ratings.elochess_run(games, "elo")() == [1520, 1490, 1490]
        first, second, third = rival_ratings.elochess_run(games, "uscf")()
        assert first > 1500 > second == third


class TestSchemes:
    def test_every_built_in_scheme_has_its_line(self) -> None:
        assert {variant.scheme.name for variant in schemes.variants()} == set(built_in_names())
        assert len({variant.what for variant in schemes.variants()}) == len(built_in_names()) + len(schemes.WEEKLY)
        assert {"glicko by week", "glicko by month"} <= {variant.what for variant in schemes.variants()}

    def test_games_by_period_are_cut_where_the_period_ends(self, columns: synthetic.Columns) -> None:
        scheme = named("glicko")
        games = schemes.cut(columns, scheme, scheme.numbers_from({}))
        assert (games.starts[0], games.starts[-1]) == (0, len(games.white))
        assert (np.diff(games.period) > 0).all()
        months = columns["ended_at"].astype("datetime64[ms]").astype("datetime64[M]")
        assert len(games.period) == len(np.unique(months))
        last = games.day[games.starts[1:] - 1]
        assert (last <= games.closing).all()
        assert (games.closing - last < 31).all()

    def test_games_by_event_stand_together_month_by_month(self, columns: synthetic.Columns) -> None:
        scheme = named("uschess")
        event = np.arange(len(columns["white"]), dtype=np.int32) % 3
        games = schemes.cut(columns | {"event": event}, scheme, scheme.numbers_from({}))
        alone = schemes.cut(columns, scheme, scheme.numbers_from({}))
        assert len(games.period) == 3 * len(alone.period)
        assert (np.diff(games.closing) >= 0).all()
        assert sorted(games.score) == sorted(columns["score"])

    def test_players_begin_with_the_first_rating_that_is_shown(self) -> None:
        columns = {
            "white": np.array([0, 1, 0]),
            "black": np.array([1, 0, 3]),
            "white_elo": np.array([0, 1700, 2000], np.int16),
            "black_elo": np.array([0, 1900, 0], np.int16),
        }
        assert schemes.shown(columns).tolist() == [1900.0, 1700.0, 1500.0, 1500.0]

    @needs("riix")
    @needs("elote")
    def test_lines_of_speed_and_accuracy(self, columns: synthetic.Columns, monkeypatch: pytest.MonkeyPatch) -> None:
        elo = [variant for variant in schemes.variants() if variant.what == "elo by game"]
        monkeypatch.setattr(scheme_lines, "variants", lambda: elo)
        monkeypatch.setattr(scheme_lines, "PYTHON_GAMES", 500)
        speed = list(scheme_lines.speed_lines("made up", columns))
        assert [line.bound.rival for line in speed if line.bound.what == "elo by game, with history"] == [
            "bare Numba Elo, history",
            "Rust skillratings, another machine",
            "Rust skillratings, brought to this one",
            "riix Elo",
            "elote Elo",
        ]
        assert {line.bound.what for line in speed} == {"elo by game, with history", "Glicko-2, singly, with history"}
        lines = list(scheme_lines.accuracy_lines("made up", columns))
        assert [line.bound.unit for line in lines] == ["log-loss", "Brier"] * 3
        assert [line.ratio for line in lines[2:]] == pytest.approx([1.0] * 4)


class TestStoreRivals:
    @pytest.mark.parametrize("script", [rival_stores.dict_loop_executemany, rival_stores.dict_loop_sqlite_utils])
    def test_the_simple_scripts_write_two_rows_a_game(
        self, script: rival_stores.Script, columns: synthetic.Columns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rival_stores, "CHUNK", 1_500)
        synthetic.write_csv(columns, tmp_path / "games.csv")
        script(tmp_path / "games.csv", tmp_path / "target.db")
        expected = rivals.dict_run(columns)()
        last = "SELECT player, max(n), rating, count(*) FROM history GROUP BY player ORDER BY player"
        rows = _rows(tmp_path / "target.db", last)
        assert {int(str(player)[1:]): rating for player, _, rating, _ in rows} == expected
        assert all(n == count for _, n, _, count in rows)
        assert _rows(tmp_path / "target.db", "SELECT count(*) FROM history") == [(4_000,)]

    def test_the_header_of_the_over_the_board_file_is_understood(self, tmp_path: Path) -> None:
        source = tmp_path / "otb.csv"
        source.write_text(
            "game_no,date,white_fide_id,black_fide_id,result\n7,2020-01-01,11,22,1-0\n8,2020-01-02,11,22,*\n"
        )
        rival_stores.dict_loop_executemany(source, tmp_path / "target.db", pragmas=["cache_size=-1000"])
        assert _rows(tmp_path / "target.db", "SELECT * FROM history") == [
            ("11", 1, "7", "22", 1.0, 1516.0),
            ("22", 1, "7", "11", 0.0, 1484.0),
        ]

    def test_rewritten_tables_hold_the_same_rows_and_indexes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rival_stores, "READ_CHUNK", 2)
        source, target = tmp_path / "source.db", tmp_path / "target.db"
        connection = DRIVER.connect(str(source))
        connection.executescript("""
            CREATE TABLE a(x INTEGER PRIMARY KEY AUTOINCREMENT, y TEXT, z INT AS (x * 2)) STRICT;
            CREATE TABLE "odd name"(k TEXT, n INTEGER, b BLOB, PRIMARY KEY(k, n)) WITHOUT ROWID;
            CREATE VIRTUAL TABLE words USING fts5(t);
            CREATE VIEW v AS SELECT * FROM a;
            CREATE INDEX a_y ON a(y);
            INSERT INTO a(y) VALUES ('p'), ('q'), ('r');
            INSERT INTO "odd name" VALUES ('b', 1, x'00'), ('a', 2, NULL);
        """)
        connection.close()
        assert rival_stores.rewrite_tables(source, target).clock > 0
        for sql in ("SELECT * FROM a", 'SELECT * FROM "odd name"'):
            assert _rows(target, sql) == _rows(source, sql)
        names = _rows(target, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name")
        assert names == [("a",), ("a_y",), ("odd name",)]

    def test_every_durable_commit_is_a_row(self, tmp_path: Path) -> None:
        assert rival_stores.durable_commits(tmp_path / "commits.db", 5, body_size=10).clock > 0
        assert _rows(tmp_path / "commits.db", "SELECT count(*), max(length(body)) FROM journal") == [(5, 10)]

    def test_every_pair_of_commits_is_a_row_in_both_files(self, tmp_path: Path) -> None:
        files = tmp_path / "journal.db", tmp_path / "views.db"
        assert rival_stores.durable_pairs(*files, 5, body_size=10).clock > 0
        assert [_rows(path, "SELECT count(*) FROM entries") for path in files] == [[(5,)], [(5,)]]

    @needs("eventsourcing")
    def test_eventsourcing_records_projects_and_replays(self, tmp_path: Path) -> None:
        figures = rival_eventsourcing.eventsourcing_figures(tmp_path, 1_200)
        assert set(figures) == {"appends", "projected", "projected_normal", "live", "replayed"}
        assert min(figures.values()) > 0
        for name, games in (("full", 1_200), ("normal", 1_200), ("live", 1_200)):
            connection = sqlite3.connect(tmp_path / f"projection-{name}.db")
            assert connection.execute("SELECT count(*) FROM history").fetchone() == (2 * games,)
            connection.close()


def test_table_and_games_import_no_rival() -> None:
    code = (
        "import sys, tools.bench.table, tools.bench.processes, tools.bench.synthetic;"
        "print(*sorted({'evalica', 'riix', 'eventsourcing', 'chess', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
