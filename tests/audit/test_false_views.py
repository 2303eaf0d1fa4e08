"""Views that do not follow from the journal: every column, row, table and index is compared."""

import struct
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.audit.reader import open_snapshot
from ledger.audit.rebuilt_views import CUT, REMEDY, table_falsehoods
from ledger.facts.events import (
    ConversionRange,
    PlayerChanged,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.words import Carry, Standing
from ledger.ledger import Ledger
from ledger.ratings import views_file
from ledger.runtime import sqlite
from tests.audit.findings import TABLES, false_places, views_of
from tests.kit.tampering import edit, execute
from tests.tiers import few_quick

LATER = SchemeAdopted(
    pool="standard",
    scheme="chessworld",
    settings={"initial": "1399.5"},
    effective_from="2021-09",
    carry=Carry.CONVERT,
    conversion=(
        ConversionRange(factor="0.9", offset="100"),
        ConversionRange(from_rating="1500", factor="1", offset="0"),
    ),
)


RECREATE = (
    "ALTER TABLE current RENAME TO old",
    "CREATE TABLE current({columns})",
    "INSERT INTO current SELECT * FROM old",
    "DROP TABLE old",
)
RANKED = "CREATE INDEX current_by_rating ON current(pool, listed, rating DESC, player)"
CURRENT = (
    "pool INTEGER NOT NULL, player INTEGER NOT NULL, n INTEGER NOT NULL, rating {} NOT NULL, "
    "game INTEGER NOT NULL, ended_ms INTEGER NOT NULL, rated_ms INTEGER NOT NULL, latest_ms INTEGER NOT NULL, "
    "listed INTEGER NOT NULL CHECK(listed IN (0, 1, 2)), PRIMARY KEY(pool, player)"
)

VIEWS: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    "edited rating": (
        ("UPDATE history SET rating = rating + 1e-9 WHERE player = 6 AND n = 7",),
        "history", "pool 1, player 6, n 7", "rating is ",
    ),
    "edited text": (
        ("UPDATE players SET joined_at = '1999' WHERE player = 4",), "players", "player 4", "joined_at is '1999'",
    ),
    "edited NULL": (
        ("UPDATE players SET birth_year = 1970 WHERE player = 4",), "players", "player 4",
        "birth_year is 1970, the journal gives None",
    ),
    "extra row at the end": (
        ("INSERT INTO current VALUES (1, 99, 1, 3000.0, 12, 0, 0, 0, 1)",),
        "current", "pool 1, player 99", "the row does not follow from any entry",
    ),
    "edited word on who is listed": (
        ("UPDATE current SET listed = 0 WHERE player = 6",),
        "current", "pool 1, player 6", "listed is 0, the journal gives 2",
    ),
    "points that nobody has": (
        ("INSERT INTO distribution VALUES (1, 9999, 3)",), "distribution", "pool 1, points 9999",
        "the row does not follow from any entry",
    ),
    "a bound below a rating that was had": (
        ("UPDATE rating_bounds SET rating = rating - 1 WHERE player = 6",), "rating_bounds", "pool 1, player 6",
        "rating is ",
    ),
    "no bound of a player": (
        ("DELETE FROM rating_bounds WHERE player = 6",), "rating_bounds", "pool 1, player 6", "the row is missing; ",
    ),
    "extra row in the middle": (
        ("INSERT INTO players VALUES (0, '2020', 'full', NULL, NULL)",),
        "players", "player 0", "the row does not follow from any entry",
    ),
    "missing row in the middle": (
        ("DELETE FROM history WHERE player = 6 AND n = 7",), "history", "pool 1, player 6, n 7", "the row is missing",
    ),
    "missing row at the end": (
        ("DELETE FROM current WHERE player = 8",), "current", "pool 1, player 8", "the row is missing",
    ),
    "emptied table": (("DELETE FROM pools",), "pools", "pool 1", "the row is missing"),
    "edited place in rating order": (
        ("UPDATE games SET rated_ms = rated_ms + 1 WHERE position = 50",),
        "games", "position 50", "rated_ms is ",
    ),
    "edited batch": (
        ("UPDATE games SET batch = 'Café Kök' WHERE position = 50",),
        "games", "position 50", "batch is 'Café Kök', the journal gives ''",
    ),
    "edited scheme": (
        ("UPDATE eras SET scheme = 'elo'",),
        "eras", "pool 1, since_ms -4611686018427387904, since , position 1",
        "scheme is 'elo', the journal gives 'chessworld'",
    ),
    "era that nobody adopted": (
        ("INSERT INTO eras SELECT pool, 0, '1970', scheme, settings, carry, conversion, position FROM eras",),
        "eras", "pool 1, since_ms 0, since 1970, position 1", "the row does not follow from any entry",
    ),
    "edited run": (
        ("UPDATE runs SET position = 7",), "runs", "pool 1, as_of_ms 1625097599999, as_of 2021-06, position 7",
        "the row does not follow from any entry",
    ),
    "edited tournament": (
        ("UPDATE tournaments SET closed_ms = 0",), "tournaments",
        "pool 1, tournament Café Kök, closed_ms 0, closed_at 2021-12-31, position 315",
        "the row does not follow from any entry",
    ),
    "moved row": (
        ("UPDATE current SET player = 80 WHERE player = 8",), "current", "pool 1, player 8", "the row is missing",
    ),
    "text that is not UTF-8": (
        ("UPDATE games SET tournament = CAST(x'c3ff' AS TEXT) WHERE position = 50",),
        "games", "position 50", "tournament is '\\udcc3\\udcff', the journal gives None",
    ),
    "key that is not UTF-8": (
        ("UPDATE tournaments SET tournament = CAST(x'436166ff' AS TEXT)",), "tournaments",
        "pool 1, tournament Café Kök, closed_ms 1640995199999, closed_at 2021-12-31, position 315",
        "the row is missing",
    ),
    "missing table": (("DROP TABLE history",), "views schema", "table history", "is missing"),
    "missing index": (
        ("DROP INDEX games_in_rating_order",), "views schema", "index games_in_rating_order", "is missing",
    ),
    "index of another order": (
        ("DROP INDEX current_by_rating", "CREATE INDEX current_by_rating ON current(pool, listed, rating, player)"),
        "views schema", "index current_by_rating", "is 'rating, player)' where 'rating DESC, player)' should stand",
    ),
    "foreign trigger": (
        ("CREATE TRIGGER evil AFTER INSERT ON games BEGIN DELETE FROM history; END",),
        "views schema", "trigger evil", "does not belong here",
    ),
    "foreign view": (("CREATE VIEW best AS SELECT 1",), "views schema", "view best", "does not belong here"),
    "foreign table": (("CREATE TABLE notes(x)",), "views schema", "table notes", "does not belong here"),
    "extra column": (
        ("ALTER TABLE history ADD COLUMN bonus REAL",), "views schema", "table history", "is ",
    ),
    "edited column type": (
        tuple(one.format(columns=CURRENT.format("TEXT")) for one in (*RECREATE, RANKED)),
        "views schema", "table current", "is ",
    ),
    "column type that hides whole numbers": (
        tuple(one.format(columns=CURRENT.format("ANY")) for one in (*RECREATE, RANKED)),
        "views schema", "table current", "is ",
    ),
    "edited identity of a projector": (
        ("UPDATE projections SET identity = 'x' WHERE name = 'history'",), "projections", "name history",
        "identity is 'x', the journal gives '[\"history\",5,",
    ),
    "edited version of a scheme": (
        ("UPDATE projections SET identity = '77' WHERE name = 'scheme chessworld'",), "projections",
        "name scheme chessworld", "identity is '77', the journal gives '1'",
    ),
    "no position": (("DELETE FROM progress",), "progress", "rows", "are 0, not one"),
    "position below all entries": (
        ("PRAGMA ignore_check_constraints = ON", "UPDATE progress SET position = -5"),
        "progress", "position", "is -5, no number of entries",
    ),
    "position after all entries": (
        ("UPDATE progress SET position = 9999",), "progress", "position", "the views know 9999 entries",
    ),
    "position of another type": (
        ("DROP TABLE progress", "CREATE TABLE progress(only INTEGER PRIMARY KEY CHECK(only = 1), position)",
         "INSERT INTO progress VALUES (1, '312')"),
        "progress", "position", "is '312', no number of entries",
    ),
    "application id": (("PRAGMA application_id = 7",), "views file", "application_id", "says 0x7, not 0x43524c56"),
    "later layout": (("PRAGMA user_version = 99",), "views file", "layout", f"is 99, not {views_file.LAYOUT}"),
}  # fmt: skip


@pytest.fixture(name="true_digests", scope="module")
def _true_digests(folder_of_300_games: Path) -> object:
    """The digests of the club of 300 games, as its journal gives them."""
    return audit(folder_of_300_games / "club.db").digests


@pytest.mark.parametrize(
    "case", few_quick(VIEWS, "edited rating", "missing row at the end", "missing table", "position after all entries")
)
def test_views_that_do_not_follow_from_the_journal_are_named(
    case: str, club_of_300_games: Path, true_digests: object
) -> None:
    statements, table, where, message = VIEWS[case]
    edit(views_of(club_of_300_games), *statements)
    verdict = audit(club_of_300_games)
    (falsehood,) = [one for one in verdict.falsehoods if (one.table, one.position_or_key) == (table, where)]
    assert falsehood.message.startswith(message)
    assert all(CUT in one.message or REMEDY in one.message for one in verdict.falsehoods)
    assert verdict.digests == true_digests  # they are those of the journal, whatever stands there
    with Ledger.open(club_of_300_games) as ledger:
        ledger.rebuild()
    assert false_places(club_of_300_games) == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP TRIGGER current_goes", "is missing"),
        ("DROP TRIGGER current_goes; CREATE TRIGGER current_goes AFTER DELETE ON current BEGIN SELECT 1; END", "is "),
    ],
)
def test_a_trigger_that_no_longer_keeps_the_distribution_is_named(
    statement: str, message: str, club_of_300_games: Path
) -> None:
    execute(views_of(club_of_300_games), *statement.split("; ", 1))
    (falsehood,) = audit(club_of_300_games).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("views schema", "trigger current_goes")
    assert falsehood.message.startswith(message)


def test_a_zero_below_zero_is_not_the_zero_that_the_journal_gives(tmp_path: Path) -> None:
    path = tmp_path / "views.db"
    edit(path, "CREATE TABLE t(n INTEGER PRIMARY KEY, r REAL) STRICT", "INSERT INTO t VALUES (1, 0.0), (2, -0.5)")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(struct.pack(">d", -0.5), struct.pack(">d", -0.0)))
    with closing(sqlite.sqlite3.connect(":memory:")) as true, open_snapshot(str(path)) as standing:
        true.execute("CREATE TABLE t(n INTEGER PRIMARY KEY, r REAL) STRICT")
        true.execute("INSERT INTO t VALUES (1, 0.0), (2, 0.0)")
        (falsehood,) = table_falsehoods(standing, true, "t")
    assert str(falsehood).startswith("t n 2: holds a zero below zero")


@pytest.mark.parametrize("table", few_quick(sorted(TABLES), "history"))
def test_a_row_removed_from_any_table_is_named_as_missing(table: str, copy_with_every_table: Path) -> None:
    edit(views_of(copy_with_every_table), f"DELETE FROM {table}")
    (falsehood,) = audit(copy_with_every_table).falsehoods
    assert falsehood.table == table
    assert falsehood.message.startswith("the row is missing")


def test_the_first_false_row_of_each_table_is_named(club_of_300_games: Path) -> None:
    edit(
        views_of(club_of_300_games),
        "UPDATE history SET rating = 1 WHERE player IN (5, 6) AND n IN (3, 4)",
        "UPDATE current SET rating = 1 WHERE player > 4",
    )
    assert false_places(club_of_300_games) == [("current", "pool 1, player 5"), ("history", "pool 1, player 5, n 3")]


@pytest.mark.slow
def test_standings_that_change_later_are_part_of_what_is_proven(club_of_300_games: Path) -> None:
    before = audit(club_of_300_games).digests
    with Ledger.open(club_of_300_games) as ledger:
        ledger.append(PlayerChanged(player=6, effective_at="2021-06-15", standing=Standing.GUEST))
        ledger.catch_up()
    verdict = audit(club_of_300_games)
    assert verdict.falsehoods == ()
    assert {table for table in TABLES if verdict.digests[table] != before[table]} >= {"changes", "games", "history"}


@pytest.mark.slow
def test_a_later_scheme_is_part_of_what_is_proven(club_of_300_games: Path) -> None:
    before = audit(club_of_300_games).digests
    with Ledger.open(club_of_300_games) as ledger:
        ledger.append(LATER)
        ledger.catch_up()
    verdict = audit(club_of_300_games)
    assert verdict.falsehoods == ()
    assert {table for table in TABLES if verdict.digests[table] != before[table]} == {
        "eras",
        "history",
        "current",
        "distribution",
        "bests",
        "highest_lowest",
        "upsets",
    }
    edit(views_of(club_of_300_games), "UPDATE eras SET conversion = '[]' WHERE since = '2021-09'")
    (falsehood,) = audit(club_of_300_games).falsehoods
    assert falsehood.table == "eras"
    assert str(falsehood.position_or_key).startswith("pool 1, since_ms 1630454400000, since 2021-09, position ")
    assert falsehood.message.startswith("conversion is '[]', the journal gives '[{")


@pytest.mark.slow
def test_a_run_and_a_tournament_change_no_rating_where_every_game_is_rated_by_itself(club_of_300_games: Path) -> None:
    before = audit(club_of_300_games).digests
    with Ledger.open(club_of_300_games) as ledger:
        ledger.append(RatingRunClosed(pool="standard", as_of="2021-03"))
        ledger.append(TournamentClosed(pool="standard", tournament="club:autumn", ended_at="2021-12"))
        ledger.append(
            TournamentOpened(pool="standard", tournament="club:autumn", starts_at="2021-09", ends_at="2021-11")
        )
        ledger.catch_up()
    verdict = audit(club_of_300_games)
    assert verdict.falsehoods == ()
    assert {table for table in TABLES if verdict.digests[table] != before[table]} == {"openings", "runs", "tournaments"}
