"""The audit of a real ledger: true when nothing was touched, and every way of touching it named."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from ledger.audit.audit import Verdict, audit, table_digests
from ledger.audit.derived import CUT, REMEDY, table_falsehoods
from ledger.audit.reader import snapshot
from ledger.facts.events import (
    ConversionRange,
    GameRecorded,
    PlayerChanged,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
)
from ledger.facts.words import Carry, Outcome, Standing, Termination, TreeHead
from ledger.journal.merkle import Frontier, leaf_hashes
from ledger.ledger import Ledger
from ledger.ratings import views_file
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside
from ledger.testing import games
from tests.plugins import WIN_STREAKS
from tests.tampering import edit

GAMES = 300
PLAYERS = 8
TABLES = {"changes", "current", "eras", "games", "history", "players", "pools", "runs", "tournaments"}
LATER = SchemeAdopted(
    pool="standard", scheme="chessworld", settings={"initial": "1399.5"}, effective_from="2021-09", carry=Carry.CONVERT,
    conversion=(
        ConversionRange(factor="0.9", offset="100"), ConversionRange(from_rating="1500", factor="1", offset="0"),
    ),
)  # fmt: skip


def game(key: str, white: int = 1, black: int = 4, **facts: object) -> GameRecorded:
    told = {"outcome": Outcome.WHITE, "termination": Termination.CHECKMATE, "ended_at": "2022-02-01", **facts}
    return GameRecorded(game=key, pool="standard", white=white, black=black, rated=True, **told)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 300 games, so that one Merkle node is stored; changes of standing; views folded in by pieces.

    A run and a tournament are closed, which touches no rating of a scheme by game.
    """
    folder = tmp_path_factory.mktemp("audit")
    with Ledger.create(folder / "club.db") as ledger:
        for number in range(1, PLAYERS + 1):
            ledger.register(f"name:p{number}", f"Player {number}", declared_rating=1500 if number == 4 else None)
        facts = [e for e in games.club(GAMES, PLAYERS) if isinstance(e, GameRecorded | PlayerChanged)]
        for start in range(0, len(facts), 70):
            ledger.append_many(facts[start : start + 70])
            ledger.catch_up()
        closed = TournamentClosed(pool="standard", tournament="Café Kök", ended_at="2021-12-31")
        ledger.append_many([RatingRunClosed(pool="standard", as_of="2021-06"), closed])
        ledger.catch_up()
    return folder


@pytest.fixture
def club(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "club.db"


def found(path: Path, since: TreeHead | None = None) -> list[tuple[str, int | str]]:
    return [(one.table, one.position_or_key) for one in audit(path, since=since).falsehoods]


def said(path: Path, since: TreeHead | None = None) -> str:
    return "\n".join(map(str, audit(path, since=since).falsehoods))


def views_of(club: Path) -> Path:
    return beside(club, "views")


def body_at(club: Path, position: int) -> bytes:
    with closing(sqlite.sqlite3.connect(club)) as connection:
        row = connection.execute("SELECT body FROM journal WHERE position = ?", (position,)).fetchone()
    return bytes(row[0])


def first_game(club: Path, condition: str = "1") -> int:
    """Position of the first game that counts."""
    with closing(sqlite.sqlite3.connect(views_of(club))) as connection:
        query = f"SELECT position FROM games WHERE reason IS NULL AND {condition} ORDER BY position"
        return int(connection.execute(query).fetchone()[0])


# --- true ledgers -------------------------------------------------------------------------------------------


def test_an_untouched_ledger_is_true_and_nothing_is_changed_by_asking(club: Path) -> None:
    before = {path.name: path.read_bytes() for path in club.parent.glob("*.db")}
    verdict = audit(club)
    assert verdict.falsehoods == ()
    assert verdict.entries == verdict.head.size > GAMES + PLAYERS
    assert (verdict.names_checked, verdict.names_erased) == (PLAYERS, 0)
    assert set(verdict.digests) == TABLES
    with Ledger.open(club) as ledger:
        assert verdict.head == ledger.head()
    assert {path.name: path.read_bytes() for path in club.parent.glob("*.db")} == before
    assert audit(club, since=verdict.head) == verdict


def test_the_journal_alone_gives_its_head_and_asks_for_no_other_file(club: Path) -> None:
    head = audit(club).head
    for path in (views_of(club), beside(club, "people")):
        path.unlink()
    alone = audit(club, journal_only=True)
    assert alone == Verdict(head, head.size, 0, 0, {}, ())
    assert list(map(str, alone.not_compared)) == [
        "names, texts and derived rows: the journal alone was asked for"
    ]
    assert said(club) == (
        "people file club.people.db: is missing: the names stand in no other file; restore it from a copy"
    )


def test_views_folded_in_piece_by_piece_have_the_digests_of_rebuilt_ones(club: Path) -> None:
    verdict = audit(club)
    with Ledger.open(club) as ledger:
        live = table_digests(ledger.views.connection)
        ledger.rebuild()
        assert table_digests(ledger.views.connection) == live == verdict.digests


def test_a_digest_is_the_hash_of_rows_as_json_lines_in_order_of_the_key(club: Path) -> None:
    with Ledger.open(club) as ledger:
        rows = ledger.rows("history", "1 ORDER BY pool, player, n")
        lines = [orjson.dumps([row[name] for name in sorted(row)]) + b"\n" for row in rows]
    assert audit(club).digests["history"] == hashlib.sha256(b"".join(lines)).hexdigest()


def test_two_ledgers_of_one_journal_have_the_same_digests(club: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "copy.db"
    other.parent.mkdir()
    with closing(sqlite.sqlite3.connect(club)) as connection:
        connection.execute("VACUUM INTO ?", (str(other),))
    shutil.copy(beside(club, "people"), beside(other, "people"))
    assert audit(other) == audit(club)  # before it has views
    with Ledger.open(other) as ledger:
        ledger.catch_up()
    assert audit(other) == audit(club)


def test_the_digests_belong_to_the_head_also_where_the_views_are_behind(club: Path) -> None:
    with Ledger.open(club) as ledger:
        ledger.append(game("late"))
    behind = audit(club)
    assert behind.falsehoods == ()
    with Ledger.open(club) as ledger:
        ledger.catch_up()
        assert table_digests(ledger.views.connection) == behind.digests
    assert audit(club) == behind


def test_an_erased_player_is_counted_and_no_falsehood(club: Path) -> None:
    edit(beside(club, "people"), "UPDATE people SET identity = NULL, name = NULL, salt = NULL WHERE player = 3")
    verdict = audit(club)
    assert (verdict.names_checked, verdict.names_erased, verdict.falsehoods) == (PLAYERS - 1, 1, ())


def test_the_read_models_of_a_plug_in_are_audited_too(club: Path) -> None:
    projectors = (WIN_STREAKS,)
    with Ledger.open(club, projectors=projectors) as ledger:
        ledger.catch_up()
    verdict = audit(club, projectors=projectors)
    assert verdict.falsehoods == ()
    assert set(verdict.digests) == TABLES | {"win_streaks"}
    edit(views_of(club), "UPDATE win_streaks SET longest = longest + 1 WHERE player = 6 AND n = 3")
    (falsehood,) = audit(club, projectors=projectors).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("win_streaks", "pool 1, player 6, n 3")


def test_progress_tells_of_the_journal_the_build_and_each_table(club: Path) -> None:
    told: list[str] = []
    audit(club, progress=lambda what, _done, _total: told.append(what))
    assert told[0] == "journal"
    assert {f"table {table}" for table in TABLES} <= set(told)


# --- the journal touched ------------------------------------------------------------------------------------


def test_triggers_refuse_what_a_plain_connection_tries_first(club: Path) -> None:
    for statement in (
        "UPDATE journal SET body = x'00' WHERE position = 20",
        "DELETE FROM journal WHERE position = 20",
        "INSERT INTO journal SELECT position + 1000, kind, key || 'x', body, leaf FROM journal WHERE position = 20",
        "INSERT OR REPLACE INTO journal SELECT position, kind, key, x'00', leaf FROM journal WHERE position = 20",
    ):
        with (
            closing(sqlite.sqlite3.connect(club)) as connection,
            pytest.raises(sqlite.sqlite3.IntegrityError, match="the journal"),
        ):
            connection.execute(statement)
    assert found(club) == []


def test_an_edited_body_is_named_by_its_position_and_no_digest_is_given(club: Path) -> None:
    position = first_game(club)
    body = body_at(club, position).replace(b'"ended_at":"2021', b'"ended_at":"2020')
    edit(
        club, ("UPDATE journal SET body = ? WHERE position = ?", (body, position)),
    )  # fmt: skip
    verdict = audit(club)
    assert [(one.table, one.position_or_key) for one in verdict.falsehoods] == [("journal", position)]
    assert verdict.digests == {}


def test_a_replaced_row_is_named_though_no_trigger_for_updates_fires(club: Path) -> None:
    position = first_game(club)
    edit(
        club, ("INSERT OR REPLACE INTO journal SELECT position, kind, key, ?, leaf FROM journal WHERE position = ?",
         (body_at(club, position).replace(b'"rated":true', b'"rated":false'), position)),
    )  # fmt: skip
    assert found(club) == [("journal", position)]


def test_a_removed_entry_is_named(club: Path) -> None:
    edit(club, "DELETE FROM journal WHERE position = 100")
    assert found(club) == [("journal", 100)]


def test_a_cut_off_tail_is_found_by_views_that_know_more_and_by_a_kept_head(club: Path) -> None:
    head = audit(club).head
    edit(club, "DELETE FROM journal WHERE position > 280")
    assert found(club) == [("progress", "position")]
    assert f"the views know {head.size} entries, the journal holds 280: the journal was cut" in said(club)
    with Ledger.open(club) as ledger:
        ledger.rebuild()
    assert found(club) == []
    assert found(club, head) == [("journal", 281)]


def resealed(club: Path, position: int, change: Callable[[bytes], bytes]) -> None:
    """Change one body and write its leaf, the nodes above and the views anew, so that all agree."""
    body = change(body_at(club, position))
    values = (body, leaf_hashes([body])[0], position)
    edit(club, ("UPDATE journal SET body = ?, leaf = ? WHERE position = ?", values))
    with closing(sqlite.sqlite3.connect(club)) as connection, connection:
        leaves = [leaf for (leaf,) in connection.execute("SELECT leaf FROM journal ORDER BY position")]
        connection.execute("DELETE FROM nodes")
        connection.executemany("INSERT INTO nodes VALUES (?, ?, ?)", Frontier().extend(leaves))
    with Ledger.open(club) as ledger:
        ledger.rebuild()


def test_history_rewritten_with_all_its_seals_is_found_only_by_a_kept_head(club: Path) -> None:
    head = audit(club).head
    position = first_game(club, "outcome = 'white'")
    resealed(club, position, lambda body: body.replace(b'"outcome":"white"', b'"outcome":"black"'))
    forged = audit(club)
    assert forged.falsehoods == ()
    assert forged.head.size == head.size
    assert found(club, head) == [("journal", f"1..{head.size}")]
    assert "history before that head was rewritten" in said(club, head)


def test_a_forged_history_shows_in_the_digests_too(club: Path) -> None:
    digests = audit(club).digests
    resealed(club, first_game(club, "outcome = 'white'"), lambda body: body.replace(b'"white"', b'"draw"', 1))
    forged = audit(club).digests
    assert {table for table in TABLES if forged[table] != digests[table]} == {"games", "history", "current"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"outcome":"white"', b'"outcome":"WHITE"', "is sealed as it stands, but is no event: expected one of"),
        (b'game-recorded/1', b'game-dropped/1', "is sealed as it stands, but is no event: unknown kind"),
        (b'"facts":{', b'"facts":{"aside":1,', "is sealed as it stands, but is no event: unknown field"),
        (b'"facts":{', b'"facts":{ ', "is sealed as it stands, but is no event: not canonical"),
        (b'"pool":"standard"', b'"pool":"unheard"', "nothing can be derived from these entries: "),
    ],
)
def test_a_sealed_entry_from_which_nothing_follows_is_named(old: bytes, new: bytes, message: str, club: Path) -> None:
    source = body_at(club, first_game(club, "outcome = 'white'"))
    entry = json.loads(source)
    with Ledger.open(club) as ledger, ledger.journal.writing() as writer:
        for was, becomes in (
            (b'"key":"%b"' % entry["key"].encode(), b'"key":"game:slipped-in"'),
            (b'"position":%d' % entry["position"], b'"position":%d' % (writer.size + 1)),
            (entry["recorded_at"].encode(), (writer.last_recorded_at() or "").encode()),
            (old, new),
        ):
            assert was in source
            source = source.replace(was, becomes)
        position = writer.size + 1
        writer.append([json.loads(source)["kind"]], ["game:slipped-in"], [source])
    (falsehood,) = audit(club).falsehoods
    assert falsehood.table == "journal"
    assert falsehood.position_or_key in {position, f"1..{position}"}
    assert falsehood.message.startswith(message)


# --- the people touched -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "players"),
    [
        ("UPDATE people SET name = 'Somebody Else' WHERE player = 2", [2]),
        ("UPDATE people SET name = 'Player ' || (5 - player) WHERE player IN (2, 3)", [2, 3]),
        ("UPDATE people SET salt = zeroblob(16) WHERE player = 5", [5]),
        ("UPDATE people SET identity = 'fide:1' WHERE player = 5", [5]),
        ("DELETE FROM people WHERE player = 5", [5]),
        ("UPDATE people SET name = NULL WHERE player = 5", [5]),
    ],
)
def test_names_that_are_not_the_sealed_ones_are_named(statement: str, players: list[int], club: Path) -> None:
    edit(beside(club, "people"), statement)
    verdict = audit(club)
    assert [(one.table, one.position_or_key) for one in verdict.falsehoods] == [("people", one) for one in players]
    assert set(verdict.digests) == TABLES  # the journal is true, and what follows from it


def test_a_commitment_is_that_of_the_sealed_name(club: Path) -> None:
    with Ledger.open(club) as ledger:
        person = ledger.player("Player 1")
        (body,) = (b for block in ledger.journal.read() for b in block if b'"key":"player:1"' in b)
    sealed = json.loads(body)["facts"]["commitment"]
    assert hmac.digest(person.salt or b"", b"name:p1\x00Player 1", "sha256").hex() == sealed


# --- the views touched --------------------------------------------------------------------------------------

RECREATE = (
    "ALTER TABLE current RENAME TO old",
    "CREATE TABLE current({columns})",
    "INSERT INTO current SELECT * FROM old",
    "DROP TABLE old",
)
RANKED = "CREATE INDEX current_by_rating ON current(pool, rating DESC, player)"
CURRENT = "pool INTEGER NOT NULL, player INTEGER NOT NULL, n INTEGER NOT NULL, rating {} NOT NULL, " \
    "game INTEGER NOT NULL, ended_ms INTEGER NOT NULL, rated_ms INTEGER NOT NULL, " \
    "PRIMARY KEY(pool, player)"  # fmt: skip

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
        ("INSERT INTO current VALUES (1, 99, 1, 3000.0, 12, 0, 0)",),
        "current", "pool 1, player 99", "the row does not follow from any entry",
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
        "eras", "pool 1, since_ms -4611686018427387904, since ", "scheme is 'elo', the journal gives 'chessworld'",
    ),
    "era that nobody adopted": (
        ("INSERT INTO eras SELECT pool, 0, '1970', scheme, settings, carry, conversion, position FROM eras",),
        "eras", "pool 1, since_ms 0, since 1970", "the row does not follow from any entry",
    ),
    "edited run": (
        ("UPDATE runs SET position = 7",), "runs", "pool 1, as_of_ms 1625097599999, as_of 2021-06", "position is 7",
    ),
    "edited tournament": (
        ("UPDATE tournaments SET closed_ms = 0",), "tournaments",
        "pool 1, tournament Café Kök, closed_ms 0, closed_at 2021-12-31", "the row does not follow from any entry",
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
        "pool 1, tournament Café Kök, closed_ms 1640995199999, closed_at 2021-12-31", "the row is missing",
    ),
    "missing table": (("DROP TABLE history",), "views schema", "table history", "is missing"),
    "missing index": (
        ("DROP INDEX games_in_rating_order",), "views schema", "index games_in_rating_order", "is missing",
    ),
    "index of another order": (
        ("DROP INDEX current_by_rating", "CREATE INDEX current_by_rating ON current(pool, rating, player)"),
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
        "identity is 'x', the journal gives '[\"history\",1,",
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


@pytest.mark.parametrize(("statements", "table", "where", "message"), VIEWS.values(), ids=VIEWS)
def test_views_that_do_not_follow_from_the_journal_are_named(
    statements: tuple[str, ...], table: str, where: str, message: str, club: Path
) -> None:
    digests = audit(club).digests
    edit(views_of(club), *statements)
    verdict = audit(club)
    (falsehood,) = [one for one in verdict.falsehoods if (one.table, one.position_or_key) == (table, where)]
    assert falsehood.message.startswith(message)
    assert all(CUT in one.message or REMEDY in one.message for one in verdict.falsehoods)
    assert verdict.digests == digests  # they are those of the journal, whatever stands there
    with Ledger.open(club) as ledger:
        ledger.rebuild()
    assert found(club) == []


def test_a_zero_below_zero_is_not_the_zero_that_the_journal_gives(tmp_path: Path) -> None:
    path = tmp_path / "views.db"
    edit(path, "CREATE TABLE t(n INTEGER PRIMARY KEY, r REAL) STRICT", "INSERT INTO t VALUES (1, 0.0), (2, -0.5)")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(struct.pack(">d", -0.5), struct.pack(">d", -0.0)))
    with closing(sqlite.sqlite3.connect(":memory:")) as true, snapshot(str(path)) as standing:
        true.execute("CREATE TABLE t(n INTEGER PRIMARY KEY, r REAL) STRICT")
        true.execute("INSERT INTO t VALUES (1, 0.0), (2, 0.0)")
        (falsehood,) = table_falsehoods(standing, true, "t")
    assert str(falsehood).startswith("t n 2: holds a zero below zero")


@pytest.mark.parametrize("table", sorted(TABLES))
def test_a_row_removed_from_any_table_is_named_as_missing(table: str, club: Path) -> None:
    edit(views_of(club), f"DELETE FROM {table}")
    (falsehood,) = audit(club).falsehoods
    assert falsehood.table == table
    assert falsehood.message.startswith("the row is missing")


def test_the_first_false_row_of_each_table_is_named(club: Path) -> None:
    edit(
        views_of(club),
        "UPDATE history SET rating = 1 WHERE player IN (5, 6) AND n IN (3, 4)",
        "UPDATE current SET rating = 1 WHERE player > 4",
    )
    assert found(club) == [("current", "pool 1, player 5"), ("history", "pool 1, player 5, n 3")]


def test_standings_that_change_later_are_part_of_what_is_proven(club: Path) -> None:
    before = audit(club).digests
    with Ledger.open(club) as ledger:
        ledger.append(PlayerChanged(player=6, effective_at="2021-06-15", standing=Standing.GUEST))
        ledger.catch_up()
    verdict = audit(club)
    assert verdict.falsehoods == ()
    assert {table for table in TABLES if verdict.digests[table] != before[table]} >= {"changes", "games", "history"}


def test_a_later_scheme_is_part_of_what_is_proven(club: Path) -> None:
    before = audit(club).digests
    with Ledger.open(club) as ledger:
        ledger.append(LATER)
        ledger.catch_up()
    verdict = audit(club)
    assert verdict.falsehoods == ()
    assert {table for table in TABLES if verdict.digests[table] != before[table]} == {"eras", "history", "current"}
    edit(views_of(club), "UPDATE eras SET conversion = '[]' WHERE since = '2021-09'")
    (falsehood,) = audit(club).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("eras", "pool 1, since_ms 1630454400000, since 2021-09")
    assert falsehood.message.startswith("conversion is '[]', the journal gives '[{")


def test_a_run_and_a_tournament_change_no_rating_where_every_game_is_rated_by_itself(club: Path) -> None:
    before = audit(club).digests
    with Ledger.open(club) as ledger:
        ledger.append(RatingRunClosed(pool="standard", as_of="2021-03"))
        ledger.append(TournamentClosed(pool="standard", tournament="club:autumn", ended_at="2021-12"))
        ledger.catch_up()
    verdict = audit(club)
    assert verdict.falsehoods == ()
    assert {table for table in TABLES if verdict.digests[table] != before[table]} == {"runs", "tournaments"}
