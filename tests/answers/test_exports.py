"""Exports: the same rows in every format, those of one moment, harmless text, no names unless they are asked for."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema import Draft202012Validator

from ledger.answers import published_schemas
from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.answers.crosstables.listing import tournaments
from ledger.answers.exports import exporting
from ledger.answers.exports.columns import ExportFilter, with_iso_instants
from ledger.answers.exports.datasets import NAMED_DATASETS
from ledger.answers.exports.exporting import DOCUMENTS, FORMATS, TextDocument, export
from ledger.answers.rows import as_rows
from ledger.errors import MalformedError, StorageError, UnknownNameError
from ledger.handle import OpenLedger
from ledger.ledger import Ledger
from ledger.ratings import queries
from ledger.runtime import sqlite, table_reader
from tests.kit.clubs import NAME, open_ledger, record_game, take_made_up_games
from tests.kit.every_table import make_club_with_every_table
from tests.kit.games import game_recorded, tournament_opened
from tests.kit.harmless import ALLOWED, FORMULAS, is_run, raw_in, without_apostrophes

ALL = ExportFilter(names=True)
ERASED, RENAMED = 5, 6


@pytest.fixture(scope="module")
def club_to_export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a row in every table; the list of a day is published of it."""
    path = make_club_with_every_table(tmp_path_factory.mktemp("club"), 60)
    with Ledger.open(path) as ledger:
        ledger.publications.publish("2004-10-03", actor="eve", despite_complaints=True)
        ledger.ensure_up_to_date()
    return path


@pytest.fixture
def exported_from(club_to_export: Path) -> Iterator[Ledger]:
    """That ledger, open and level; to be read only."""
    with Ledger.open(club_to_export) as ledger:
        ledger.ensure_up_to_date()
        yield ledger


def rows_of(path: Path, fmt: str, what: str) -> list[dict[str, Any]]:
    """The rows of an export; of CSV every cell as text."""
    if fmt == "csv":
        return list(csv.DictReader(path.read_text("utf-8").splitlines(keepends=True)))
    if fmt == "ndjson":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if fmt == "parquet":
        return pl.read_parquet(path).to_dicts()
    with closing(sqlite.connect(path, read_only=True)) as connection:
        return list(queries.fetch_dicts(connection, f'SELECT * FROM "{what}"'))


def taken(
    ledger: Ledger, folder: Path, what: str, fmt: str = "ndjson", selection: ExportFilter = ALL
) -> list[dict[str, Any]]:
    path = folder / f"{what}.{fmt}"
    (done,) = export(ledger, [what], path, fmt=fmt, selection=selection)
    rows = rows_of(path, fmt, what)
    assert (done.what, done.rows) == (what, len(rows))
    return rows


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


@pytest.mark.parametrize("what", [*NAMED_DATASETS, "current", "eras", "corrections", "seeds"])
def test_every_format_says_the_same(what: str, exported_from: Ledger, tmp_path: Path) -> None:
    rows = taken(exported_from, tmp_path, what)
    assert rows
    assert list(taken(exported_from, tmp_path, what, "parquet")[0]) == list(rows[0])
    in_parquet = with_iso_instants(pl.read_parquet(tmp_path / f"{what}.parquet")).to_dicts()
    assert in_parquet == rows
    assert taken(exported_from, tmp_path, what, "sqlite") == [
        {name: int(value) if isinstance(value, bool) else value for name, value in row.items()} for row in rows
    ]
    cells = taken(exported_from, tmp_path, what, "csv")
    numbers = {name for name, value in rows[0].items() if isinstance(value, float)}
    for row, text in zip(rows, cells, strict=True):
        assert {name for name in row if name not in numbers and as_text(row[name]) != text[name]} == set()
        assert all((row[name] is None) == (text[name] == "") for name in numbers)
        assert all(row[name] is None or float(text[name]) == row[name] for name in numbers)


@pytest.mark.parametrize("what", NAMED_DATASETS)
def test_rows_fit_their_published_schema(what: str, exported_from: Ledger, tmp_path: Path) -> None:
    validator = Draft202012Validator(json.loads(published_schemas.export_schemas()[f"{what}-1.json"]))
    for selection in (ALL, ExportFilter()):
        rows = list(taken(exported_from, tmp_path, what, selection=selection))
        assert rows
        for row in rows:
            validator.validate(row)


def test_history_is_every_row_of_the_table_to_the_last_bit(exported_from: Ledger, tmp_path: Path) -> None:
    stored = list(exported_from.rows("history"))
    found = taken(exported_from, tmp_path, "history", "parquet")
    same = [name for name in stored[0] if name not in {"pool", "ended_ms", "colour", "half_points"}]
    assert len(same) > 20
    assert [[row[name] for name in same] for row in found] == [[row[name] for name in same] for row in stored]
    assert [(row["colour"], 2 * row["score"], row["ended"].timestamp() * 1000) for row in found] == [
        ("black" if row["colour"] else "white", row["half_points"], row["ended_ms"]) for row in stored
    ]
    assert {row["pool"] for row in found} == {"standard"}


def test_games_say_how_they_stand_and_which_corrections_made_it_so(exported_from: Ledger, tmp_path: Path) -> None:
    games = {row["position"]: row for row in taken(exported_from, tmp_path, "games")}
    stored = {row["position"]: row for row in exported_from.rows("games")}
    assert games.keys() == stored.keys()
    assert all(games[place]["reason"] == stored[place]["reason"] for place in games)
    assert all(row["counts"] == (row["reason"] is None) for row in games.values())
    corrected = [row for row in games.values() if row["corrected_by"]]
    assert [(row["outcome"], row["round"]) for row in corrected] == [("draw", "7.1")]
    assert corrected[0]["corrected_by"].isdecimal()


def test_players_have_their_standing_and_the_person_they_are(exported_from: Ledger, tmp_path: Path) -> None:
    players = {row["player"]: row for row in taken(exported_from, tmp_path, "players")}
    assert players.keys() == {row["player"] for row in exported_from.rows("players")}
    now = {row["player"]: row for row in exported_from.rows("current")}
    assert {place: row["rating"] for place, row in players.items() if row["rating"]} == {
        player: row["rating"] for player, row in now.items()
    }
    assert players[4]["standing"] == "guest"
    assert (players[15]["merged_into"], players[RENAMED]["name"]) == (16, "Renamed")


def test_ratings_at_an_instant_are_those_in_force_then(exported_from: Ledger, tmp_path: Path) -> None:
    published = [row for row in taken(exported_from, tmp_path, "lists") if row["as_of"] == "2004-10-03"]
    then = taken(exported_from, tmp_path, "ratings", selection=ExportFilter(at="2004-10-03", names=True))
    assert then == [{name: row[name] for name in then[0]} for row in published]
    assert then != taken(exported_from, tmp_path, "ratings")


def test_rows_can_be_chosen(exported_from: Ledger, tmp_path: Path) -> None:
    games = taken(exported_from, tmp_path, "games")
    ms = next(row["ended_ms"] for row in exported_from.rows("games") if row["position"] == games[30]["position"])
    late = taken(exported_from, tmp_path, "games", selection=ExportFilter(since_ms=ms))
    assert [row["key"] for row in late] == [row["key"] for row in games if row["ended"] >= games[30]["ended"]]
    early = taken(exported_from, tmp_path, "history", selection=ExportFilter(until_ms=ms, player=1, pool=1))
    assert {row["player"] for row in early} == {1}
    assert all(row["ended"] <= games[30]["ended"] for row in early)
    name = games[0]["tournament"]
    chosen = taken(exported_from, tmp_path, "games", selection=ExportFilter(tournament=name, player=1))
    assert [row["key"] for row in chosen] == [
        row["key"] for row in games if row["tournament"] == name and 1 in {row["white"], row["black"]}
    ]
    for none in ("it's none", "no\0ne", "\0", "'\0'"):
        assert taken(exported_from, tmp_path, "games", selection=ExportFilter(tournament=none)) == []


def test_cross_tables_are_those_of_their_command(exported_from: Ledger, tmp_path: Path) -> None:
    rows = taken(exported_from, tmp_path, "crosstables")
    listed = [row for pool in exported_from.pools() for row in as_rows(tournaments(exported_from, pool.name))]
    tables = {(row["pool"], row["tournament"], row["edition"]) for row in rows}
    assert len(tables) == len(listed) > 0
    for pool, tournament, edition in tables:
        page = crosstable(exported_from, tournament, pool, TableOptions(edition=edition))
        own = [row for row in rows if (row["pool"], row["tournament"], row["edition"]) == (pool, tournament, edition)]
        assert [(row["number"], row["points"], row["performance"], row["upsets"]) for row in own] == [
            (standing.number, standing.points, standing.performance, standing.upsets) for standing in page.standings
        ]
        marks = [cell.partition(":") for cell in own[0]["results"].split()]
        met = {meeting.opponent_number: meeting.marks for meeting in page.standings[0].meetings}
        assert {int(number): mark for number, _, mark in marks} == met
    chosen = ExportFilter(names=True, tournament=rows[0]["tournament"])
    assert taken(exported_from, tmp_path, "crosstables", selection=chosen)[0] == rows[0]


@pytest.mark.parametrize("fmt", FORMATS)
def test_tournaments_of_one_name_on_one_day_are_told_apart(fmt: str, tmp_path: Path) -> None:
    ends = ["2020-05-01T10:30:00Z", "2020-05-01T11:30:00Z", "2020-05-02"]
    with open_ledger(tmp_path / NAME) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name)
        for hour in (10, 11):
            ledger.append(tournament_opened(f"2020-05-01T{hour}:00:00Z", f"2020-05-01T{hour}:59:00Z", "Hourly"))
        ledger.append(tournament_opened("2020-05-02", "2020-05-02", "Hourly"))
        for number, end in enumerate(ends):
            ledger.append(game_recorded(f"h{number}", ended_at=end, tournament="Hourly"))
        ledger.ensure_up_to_date()
        rows = taken(ledger, tmp_path, "crosstables", fmt)
        editions = [row["edition"] for row in rows]
        assert sorted(editions) == sorted(2 * ends)
        for edition in ends:
            table = crosstable(ledger, "Hourly", choice=TableOptions(edition=edition))
            assert [result.ended_at for result in table.standings[0].results] == [edition]


@pytest.mark.parametrize("fmt", FORMATS)
def test_an_export_keeps_the_permissions_of_the_older_one_from_the_beginning(
    fmt: str, exported_from: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, modes = tmp_path / "players", []
    path.touch()
    path.chmod(0o640)
    made = FORMATS[fmt]

    def write(making: Path, *told: Any) -> None:
        modes.append(making.stat().st_mode & 0o777)
        made.write(making, *told)

    monkeypatch.setattr(exporting, "FORMATS", {fmt: made._replace(write=write)})
    export(exported_from, ["players"], path, fmt=fmt, selection=ALL)
    assert [*modes, path.stat().st_mode & 0o777] == [0o640, 0o640]
    assert len(rows_of(path, fmt, "players")) > 0


OTHERS = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute(f"PRAGMA journal_mode={sys.argv[2]}")
connection.execute("PRAGMA cache_size=1")  # so that pages are written before the end
connection.execute("BEGIN")
connection.execute("UPDATE games SET round = 'their own', termination = termination || termination")
connection.execute("COMMIT" if sys.argv[2] == "wal" else "SELECT 1")
os._exit(1)
"""


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_an_export_takes_nothing_from_what_sqlite_has_beside_an_older_one(
    mode: str, exported_from: Ledger, tmp_path: Path
) -> None:
    path, plain = tmp_path / "open.db", tmp_path / "plain.db"
    export(exported_from, ["games"], path)
    subprocess.run([sys.executable, "-c", OTHERS, path, mode], check=False)
    assert path.with_name(f"open.db-{'wal' if mode == 'wal' else 'journal'}").exists()
    for target in (path, plain):
        export(exported_from, ["history", "games"], target)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["open.db", "plain.db"]
    assert path.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("fmt", FORMATS)
def test_names_stand_in_an_export_where_they_are_asked_for(fmt: str, exported_from: Ledger, tmp_path: Path) -> None:
    names = dict(exported_from.people.names())
    assert ERASED not in names
    for what in NAMED_DATASETS:
        rows = taken(exported_from, tmp_path, what, fmt)
        assert not [row for row in rows if row.get("player") == ERASED and (row.get("name") or row.get("player_name"))]
        assert [name for name in rows[0] if name.endswith("name")] != []
        without = taken(exported_from, tmp_path, what, fmt, ExportFilter())
        assert [name for name in without[0] if name.endswith(("name", "identity", "birth_year"))] == []
        said = (tmp_path / f"{what}.{fmt}").read_bytes()
        assert [name for name in names.values() if len(name) > 4 and name.encode() in said] == []


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
def test_what_is_recorded_meanwhile_is_in_no_export(
    alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_reader, "BLOCK", 7)
    monkeypatch.setattr(exporting, "FEW_ENTRIES", 0)
    if alone:
        monkeypatch.setattr(table_reader, "_PACKAGES", ("no_such_package",))
    folder = take_made_up_games(tmp_path, 40, 20)
    with open_ledger(folder / NAME) as ledger, open_ledger(folder / NAME) as other:
        ledger.ensure_up_to_date()
        rated = len(list(ledger.rows("history")))

        def recorded_now(what: str, done: int, total: int) -> None:
            assert total >= done
            if what == "games" and done <= 7:
                record_game(other, "late", "2021-01-01")

        path = tmp_path / "all.db"
        done = export(ledger, ["games", "history"], path, fmt="sqlite", progress=recorded_now)
        assert [part.rows for part in done] == [40, rated]
        assert len(list(ledger.rows("games"))) == 41


@pytest.mark.slow
def test_a_process_that_meets_another_moment_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = take_made_up_games(tmp_path, 20, 20)
    made: list[table_reader.TableReader] = []
    monkeypatch.setattr(exporting, "FEW_ENTRIES", 0)
    with open_ledger(folder / NAME) as ledger, open_ledger(folder / NAME) as other:
        ledger.ensure_up_to_date()
        start = table_reader.table_reader

        def late(path: Path, connection: Any) -> table_reader.TableReader:
            if len(made) < 2:
                record_game(other, f"late-{len(made)}", "2021-01-01")
            made.append(start(path, connection))
            return made[-1]

        monkeypatch.setattr(exporting, "table_reader", late)
        (done,) = export(ledger, ["games"], tmp_path / "games.csv")
        assert (len(made), done.rows) == (3, 22)


def test_a_failed_export_leaves_the_older_one(exported_from: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "games.csv"
    path.write_text("older")

    def fails(what: str, done: int, total: int) -> None:
        raise OSError(28, "No space left on device")

    for fmt in FORMATS:
        with pytest.raises(StorageError, match="No space left"):
            export(exported_from, ["games"], path, fmt=fmt, progress=fails)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("games.csv", "older")]
    assert exported_from.views.connection.in_transaction is False


def test_parquet_to_a_full_disk_is_an_error_and_no_file(exported_from: Ledger, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be made"):
        export(exported_from, ["games"], tmp_path / "none" / "games.parquet")


def test_files_of_a_ledger_are_never_written_over(exported_from: Ledger, club_to_export: Path, tmp_path: Path) -> None:
    folder = club_to_export.parent
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".db"}
    for name in before:
        with pytest.raises(StorageError, match="file of this ledger"):
            export(exported_from, ["games"], folder / name, fmt="csv")
    other = tmp_path / "other.db"
    other.write_bytes(before["club.people.db"])
    with pytest.raises(StorageError, match="is a file of a ledger"):
        export(exported_from, ["games"], other)
    with pytest.raises(StorageError, match="is a folder"):
        export(exported_from, ["games"], tmp_path, fmt="csv")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name in before} == before


def test_what_does_not_go_together_is_refused(exported_from: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    with pytest.raises(MalformedError, match="'since' does not go with 'players'; it can be chosen by"):
        export(exported_from, ["players"], path, selection=ExportFilter(since_ms=1, pool=1))
    with pytest.raises(MalformedError, match="a file of csv holds one table"):
        export(exported_from, ["players", "games"], path)
    with pytest.raises(MalformedError, match="does not say the format"):
        export(exported_from, ["players"], tmp_path / "x.unknown")
    with pytest.raises(MalformedError, match="no format 'xls'"):
        export(exported_from, ["players"], path, fmt="xls")
    with pytest.raises(MalformedError, match="'tournament' goes out as trf16 or trf26, not as csv"):
        export(exported_from, ["tournament"], path)
    with pytest.raises(UnknownNameError, match="no table 'gamez' to export; did you mean 'games'"):
        export(exported_from, ["gamez"], path)
    with pytest.raises(UnknownNameError, match="no table 'sqlite_master' to export"):
        export(exported_from, ["sqlite_master"], path)
    assert list(tmp_path.iterdir()) == []


def test_a_text_of_its_own_joins_by_one_line(
    exported_from: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
        yield f"012 {selection.tournament}\n".encode()

    monkeypatch.setitem(
        DOCUMENTS, ("tournament", "trf16"), TextDocument("A tournament.", make, frozenset({"tournament"}), (".trf",))
    )
    path = tmp_path / "cup.trf"
    assert export(exported_from, ["tournament"], path, selection=ExportFilter(tournament="Cup")) == [
        ("tournament", None)
    ]
    assert path.read_text() == "012 Cup\n"
    with pytest.raises(MalformedError, match="does not go with"):
        export(exported_from, ["tournament"], path, selection=ExportFilter(player=1))


def test_evil_names_are_harmless_in_csv_and_json_and_exact_elsewhere(tmp_path: Path) -> None:
    names = [*FORMULAS, f"Ann {ALLOWED}", "plain", "a, b", 'q"q', "Ångström"]
    with open_ledger(tmp_path / NAME) as ledger:
        for number, name in enumerate(names):
            ledger.register(f"id:{number}", name)
        ledger.ensure_up_to_date()
        taken(ledger, tmp_path, "players", "csv")
        said = (tmp_path / "players.csv").read_bytes()
        assert raw_in(said) == set()
        safe = [row["name"] for row in rows_of(tmp_path / "players.csv", "csv", "players")]
        assert not [cell for cell in safe for part in cell.split(";") if is_run(part)]
        export(ledger, ["players"], tmp_path / "raw.csv", selection=ALL, raw=True)
        raw = [row["name"] for row in rows_of(tmp_path / "raw.csv", "csv", "players")]
        assert [without_apostrophes(cell, ";\n") for cell in safe] == raw
        assert raw[: len(FORMULAS)] == list(FORMULAS)
        assert [row["name"] for row in taken(ledger, tmp_path, "players")] == names
        assert raw_in((tmp_path / "players.ndjson").read_bytes()) == set()
        for fmt in ("parquet", "sqlite"):
            assert [row["name"] for row in taken(ledger, tmp_path, "players", fmt)] == names
