"""The rivals of the benchmark do the work they are measured for."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ledger.answers.comparing import forecasts
from ledger.schemes import built_in_names, find_scheme
from tools.bench import rival_events, rival_ratings, rival_stores, sections_schemes
from tools.bench.datasets import WORKS, Columns, make_games, write_csv
from tools.bench.measuring import installed
from tools.bench.ours import cut
from tools.bench.rival_ratings import elote, loop_run, riix
from tools.bench.sections_schemes import judged, rating_run
from tools.bench.table import AT_LEAST, render

DRIVER = rival_stores.driver()


def needs(package: str) -> pytest.MarkDecorator:
    """Skip where a rival is not installed."""
    return pytest.mark.skipif(not installed(package), reason=f"the rival {package} is not installed (group bench)")


@pytest.fixture(name="columns", scope="module")
def _columns() -> Columns:
    return make_games(2_000, 60, seed=1)


def _rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = DRIVER.connect(str(path))
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def _ours(columns: Columns, name: str, given: dict[str, int | bool | str] | None = None) -> Any:
    scheme = find_scheme(name)
    numbers = scheme.numbers_from(given or {})
    return rating_run(cut(columns, scheme, numbers), scheme, numbers)()[:: len(scheme.state)]


@pytest.mark.slow
class TestLoops:
    """The bare loops compute what our schemes compute, so their figures may stand beside ours."""

    def test_elo_in_dictionaries_and_compiled_gives_the_ratings_of_our_elo(self, columns: Columns) -> None:
        by_player = rival_ratings.elo_in_dicts(columns).run()
        expected = [by_player[player] for player in range(60)]
        ours = rating_run(
            cut(columns, sections_schemes.PLAIN_ELO, None), sections_schemes.PLAIN_ELO, sections_schemes.EloNumbers()
        )
        for run in (ours, loop_run("elo", columns), loop_run("elo", columns, with_columns=True)):
            assert np.allclose(run().ravel(), expected, rtol=0, atol=1e-9)

    def test_chessworld_gives_the_ratings_of_our_scheme(self, columns: Columns) -> None:
        scheme = find_scheme("chessworld")
        ours = rating_run(cut(columns, scheme, None), scheme, scheme.numbers_from({}))
        np.testing.assert_allclose(loop_run("chessworld", columns, with_columns=True)().ravel(), ours(), rtol=1e-12)


@pytest.mark.nightly
class TestPackages:
    """The packages compute what our schemes compute."""

    @needs("evalica")
    def test_evalica_gives_the_ratings_of_the_bare_loop(self, columns: Columns) -> None:
        expected = loop_run("elo", columns)().ravel()
        assert np.allclose(rival_ratings.evalica_run(columns)(), expected, rtol=0, atol=1e-9)

    @needs("riix")
    def test_riix_gives_the_ratings_of_the_bare_loop(self, columns: Columns) -> None:
        expected = loop_run("elo", columns)().ravel()
        assert np.allclose(riix(columns, "Elo", "week", k=32.0).run().ratings, expected, rtol=0, atol=1e-9)

    @needs("riix")
    def test_riix_gives_the_ratings_of_our_schemes(self, columns: Columns) -> None:
        lines = list(sections_schemes.agreement_lines("made up", columns))
        systems = ("Glicko by week", "Glicko-2 by week", "Glicko-2 by game")
        assert [line.bound.what for line in lines] == [f"{one}, farthest from riix" for one in systems]
        assert all(line.reached == AT_LEAST for line in lines), render(lines)

    @needs("riix")
    @needs("elote")
    @pytest.mark.parametrize(
        "prepare", [lambda columns: riix(columns, "Elo", "game"), lambda columns: elote(columns, "Elo")]
    )
    def test_elo_of_a_package_expects_what_ours_expects(
        self, columns: Columns, prepare: Callable[[Columns], rival_ratings.Package]
    ) -> None:
        elo, score, expected = find_scheme("elo"), columns["score"], prepare(columns).expected()
        ours = judged(columns, elo, elo.numbers_from({}))
        assert ours == pytest.approx((forecasts.log_loss(expected, score), forecasts.brier(expected, score)), rel=1e-9)

    @needs("elote")
    def test_elote_gives_the_ratings_of_our_elo(self, columns: Columns) -> None:
        theirs = [player.rating for player in elote(columns, "Elo").run()]
        assert np.allclose(theirs, _ours(columns, "elo"), rtol=0, atol=1e-9)

    @needs("elote")
    @pytest.mark.parametrize("system", ["Glicko", "Glicko2", "ECF"])
    def test_every_system_of_elote_rates_and_predicts_every_game(self, columns: Columns, system: str) -> None:
        prepared = elote({name: column[:300] for name, column in columns.items()}, system)
        expected = prepared.expected()
        assert ((expected >= 0) & (expected <= 1)).all()
        assert len({player.rating for player in prepared.run()}) > 5

    @needs("elochess")
    def test_elochess_rates_the_games_of_a_batch_together(self) -> None:
        games = {"white": np.array([0, 0, 2]), "black": np.array([1, 2, 1]), "score": np.array([1.0, 1.0, 0.5])}
        months = np.array(["2020-01-01", "2020-01-02", "2020-02-01"], "datetime64[ms]").astype(np.int64)
        first, second, third = rival_ratings.elochess(games | {"ended_at": months}).run()
        assert first > 1500 > second == third

    @needs("chess")
    def test_python_chess_stops_at_the_end_of_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "two.pgn").write_text('[Result "1-0"]\n\n1. e4 e5 1-0\n\n' * 2)
        assert rival_ratings.python_chess(tmp_path / "two.pgn", limit=5) == 2

    @needs("eventsourcing")
    def test_eventsourcing_records_projects_and_replays(self, tmp_path: Path) -> None:
        figures = rival_events.fastest_figures(1_200, tmp_path)
        assert set(figures) == {"appends", "replayed", "projected", "projected_normal"}
        assert min(figures.values()) > 0
        for name in ("projected", "projected_normal"):
            connection = sqlite3.connect(tmp_path / f"{name}.db")
            assert connection.execute("SELECT count(*) FROM history").fetchone() == (2 * 1_000,)
            connection.close()
        assert set(rival_events.documented_figures(1_200, tmp_path)) == {"appends", "saves", "replayed"}


class TestSchemes:
    def test_every_built_in_scheme_has_its_line(self) -> None:
        variants = list(sections_schemes.variants())
        assert {variant.scheme.name for variant in variants} == set(built_in_names())
        assert len({variant.what for variant in variants}) == len(built_in_names()) + len(WORKS["weekly"])
        assert {"glicko by week", "glicko by month"} <= {variant.what for variant in variants}

    def test_games_by_period_are_cut_where_the_period_ends(self, columns: Columns) -> None:
        scheme = find_scheme("glicko")
        games = cut(columns, scheme, scheme.numbers_from({}))
        assert (games.starts[0], games.starts[-1]) == (0, len(games.white))
        assert (np.diff(games.period) > 0).all()
        months = columns["ended_at"].astype("datetime64[ms]").astype("datetime64[M]")
        assert len(games.period) == len(np.unique(months))
        last = games.day[games.starts[1:] - 1]
        assert (last <= games.closing).all()
        assert (games.closing - last < 31).all()

    def test_games_by_event_stand_together_month_by_month(self, columns: Columns) -> None:
        scheme = find_scheme("uschess")
        event = np.arange(len(columns["white"]), dtype=np.int32) % 3
        games = cut(columns | {"event": event}, scheme, scheme.numbers_from({}))
        alone = cut(columns, scheme, scheme.numbers_from({}))
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
        assert sections_schemes.shown(columns).tolist() == [1900.0, 1700.0, 1500.0, 1500.0]


class TestStoreRivals:
    @pytest.mark.parametrize("script", [rival_stores.dict_loop_executemany, rival_stores.dict_loop_sqlite_utils])
    def test_the_simple_scripts_write_two_rows_a_game(
        self, script: Callable[[Path, Path], None], columns: Columns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rival_stores, "CHUNK", 1_500)
        write_csv(columns, tmp_path / "games.csv")
        script(tmp_path / "games.csv", tmp_path / "target.db")
        expected = rival_ratings.elo_in_dicts(columns).run()
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

    @pytest.mark.parametrize("files", [("journal.db",), ("journal.db", "views.db")])
    def test_every_durable_commit_is_a_row_of_each_file(self, tmp_path: Path, files: tuple[str, ...]) -> None:
        assert rival_stores.durable_commits(5, files, tmp_path, body_size=10).clock > 0
        for file in files:
            assert _rows(tmp_path / file, "SELECT count(*), max(length(body)) FROM entries") == [(5, 10)]
