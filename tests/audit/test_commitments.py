"""Names against their commitments: changed, swapped, missing and erased people."""

import hmac
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

import pytest

from ledger.audit.reader import verify_names
from ledger.players import sqlite_layout
from tests.audit.raw_journals import (
    PEOPLE_SCHEMA,
    body_of,
    edit_raw,
    game_fact,
    index_page,
    sha,
    write_journal,
)
from tests.audit.sqlite_library import sqlite3


@pytest.fixture
def five_players(tmp_path: Path) -> tuple[Path, Path]:
    """A game, then players 1 to 5, and their names."""
    journal, people = tmp_path / "club.db", tmp_path / "club.people.db"
    facts = [game_fact(1)]
    with closing(sqlite3.connect(people)) as connection, connection:
        connection.executescript(PEOPLE_SCHEMA)
        for player in range(1, 6):
            identity, name, salt = f"site:{player}", f"Ñame {player}", bytes([player]) * 16
            message = identity.encode() + b"\x00" + name.encode()
            commitment = hmac.new(salt, message, "sha256").hexdigest()
            facts.append(
                (
                    "player-registered/1",
                    f"player:{player}",
                    {"commitment": commitment, "joined_at": f"202{player}", "player": player},
                )
            )
            connection.execute(
                "INSERT INTO people VALUES (?, ?, ?, ?, ?)", (player, identity, name, salt, f"202{player}")
            )
    write_journal(journal, facts)
    return journal, people


def test_true_names_are_counted(five_players: tuple[Path, Path]) -> None:
    verdict = verify_names(*map(str, five_players))
    assert (verdict.checked, verdict.erased, verdict.unregistered, verdict.falsehoods) == (5, 0, 0, ())


CHANGES = {
    "name = 'Name 3'": "the name is not the one sealed in entry 4",
    "identity = 'site:33'": "the name is not the one sealed in entry 4",
    "identity = 'site:3' || char(0) || 'x', name = 'x'": "the name is not the one sealed in entry 4",
    "salt = zeroblob(16)": "the name is not the one sealed in entry 4",
    "salt = CAST(salt || x'00' AS BLOB)": "the salt is not 16 bytes",
    "salt = x'00'": "the salt is not 16 bytes",
    "name = NULL": "is half erased: without name",
    "salt = NULL": "is half erased: without salt",
    "identity = NULL": "is half erased: without identity",
    "identity = NULL, salt = NULL": "is half erased: without identity and salt",
    "name = CAST(x'ff' AS TEXT)": "name holds '\\udcff', which is no UTF-8",
    "identity = CAST(x'c3' AS TEXT)": "identity holds '\\udcc3', which is no UTF-8",
    "joined_at = '2029'": "joined_at is '2029', but entry 4 says '2023'",
    "joined_at = CAST(x'ff' AS TEXT)": "joined_at holds '\\udcff', which is no UTF-8",
    "identity = NULL, name = NULL, salt = NULL, joined_at = '2029'": "joined_at is '2029', but entry 4 says '2023'",
}


@pytest.mark.parametrize(("change", "message"), CHANGES.items(), ids=CHANGES)
def test_a_changed_row_of_people_is_found_and_named_by_its_player(
    five_players: tuple[Path, Path], change: str, message: str
) -> None:
    edit_raw(five_players[1], (f"UPDATE people SET {change} WHERE player = 3",))
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("people", 3)
    assert falsehood.message.startswith(message)


def sealed(
    player: int, number: int, name: str, others: Mapping[str, object] = MappingProxyType({})
) -> tuple[str, str, dict[str, object]]:
    """A renaming of one of the five, under the salt of its number."""
    message = f"site:{player}\x00{name}".encode()
    commitment = hmac.new(bytes([number]) * 16, message, "sha256").hexdigest()
    facts = {"commitment": commitment, "number": number, "player": player, **others}
    return "player-renamed/1", f"renamed:{player}@{number}", facts


RENAMED = [sealed(3, 1, "Second"), sealed(3, 2, "Third")]


def rename(five_players: tuple[Path, Path], *entries: tuple[str, str, dict[str, object]]) -> None:
    """Put these behind the entries that stand there."""
    journal = five_players[0]
    bodies = [body_of(6 + place, fact) for place, fact in enumerate(entries, 1)]
    edit_raw(
        journal,
        *(
            ("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", 6 + place, fact[0], fact[1], body, sha(b"\x00", body))
            for place, (fact, body) in enumerate(zip(entries, bodies, strict=True), 1)
        ),
    )


@pytest.mark.parametrize(
    ("name", "salt", "message"),
    [
        ("Third", 2, None),
        ("Second", 1, "the name is from before entry 8, which gave another one: an older copy; restore that row"),
        ("Ñame 3", 3, "the name is from before entry 8, which gave another one: an older copy; restore that row"),
        ("Third", 1, "the name is not the one sealed in entry 8: name, identity or salt was changed"),
        ("Fourth", 2, "the name is not the one sealed in entry 8: name, identity or salt was changed"),
    ],
)
def test_the_newest_commitment_is_the_one_that_holds(
    five_players: tuple[Path, Path], name: str, salt: int, message: str | None
) -> None:
    rename(five_players, *RENAMED)
    edit_raw(five_players[1], ("UPDATE people SET name = ?, salt = ? WHERE player = 3", name, bytes([salt]) * 16))
    verdict = verify_names(*map(str, five_players))
    assert [falsehood.position_or_key for falsehood in verdict.falsehoods] == ([] if message is None else [3])
    assert all(falsehood.message.startswith(message or "") for falsehood in verdict.falsehoods)
    assert verdict.checked == 5


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (sealed(9, 1, "X"), "renames player 9, whom no entry before it registered"),
        (sealed(3, 1, "X", {"player": "3"}), "renames player '3', whom no entry before it registered"),
        (sealed(3, 2, "X"), "is renaming 2 of player 3, but after the entries before it this is number 1"),
        (sealed(3, 1, "X", {"number": True}), "is renaming True of player 3, but after the entries before it"),
        (("player-renamed/1", "renamed:3@2", sealed(3, 1, "X")[2]), "renames player 3 under the key 'renamed:3@2'"),
    ],
)
def test_a_renaming_that_no_ledger_makes_is_named_by_its_entry(
    five_players: tuple[Path, Path], entry: tuple[str, str, dict[str, object]], fault: str
) -> None:
    rename(five_players, entry)
    falsehoods = verify_names(*map(str, five_players)).falsehoods
    assert ("journal", 7) in [(falsehood.table, falsehood.position_or_key) for falsehood in falsehoods]
    assert any(falsehood.message.startswith(fault) for falsehood in falsehoods)


PENDING = "INSERT INTO renaming VALUES (3, {number}, {name}, {salt})"


@pytest.mark.parametrize(
    ("number", "name", "salt", "message"),
    [
        ("2", "'Third'", f"x'{'02' * 16}'", None),  # sealed, and not with its player yet
        ("3", "'Fourth'", f"x'{'07' * 16}'", "waiting"),
        ("1", "'Second'", f"x'{'07' * 16}'", "is renaming 1, after which entry 8 gave another name"),
        ("3", "CAST(x'63ff' AS TEXT)", f"x'{'07' * 16}'", "name holds 'c\\udcff', which is no UTF-8"),
        ("3", "'Fourth'", "x'07'", "the salt is not 16 bytes"),
    ],
)
def test_a_name_that_is_to_be_given_counts_when_it_was_sealed(
    five_players: tuple[Path, Path], number: str, name: str, salt: str, message: str | None
) -> None:
    rename(five_players, *RENAMED)
    third = ("UPDATE people SET name = ?, salt = ? WHERE player = 3", "Third", b"\x02" * 16)
    with closing(sqlite3.connect(five_players[1])) as connection, connection:
        sqlite_layout.upgrade(connection)
    edit_raw(
        five_players[1],
        *([] if message is None else [third]),
        (PENDING.format(number=number, name=name, salt=salt),),
    )
    verdict = verify_names(*map(str, five_players))
    assert verdict.waiting == (message is not None)
    found = [(falsehood.table, falsehood.position_or_key, falsehood.message) for falsehood in verdict.falsehoods]
    remedy = "; remove it with 'DELETE FROM renaming WHERE player = 3'"
    assert found == ([] if message in {None, "waiting"} else [("renaming", 3, f"{message}{remedy}")])


@pytest.mark.parametrize("column", ["identity", "name", "salt", "joined_at"])
@pytest.mark.parametrize("value", [7, 1.5, b"bytes", "text"])
def test_a_value_of_the_wrong_type_in_a_table_without_strict_is_named(
    five_players: tuple[Path, Path], column: str, value: object
) -> None:
    edit_raw(
        five_players[1],
        ("ALTER TABLE people RENAME TO old",),
        ("CREATE TABLE people(player INTEGER PRIMARY KEY, identity UNIQUE, name, salt, joined_at)",),
        ("INSERT INTO people SELECT * FROM old",),
        ("DROP TABLE old",),
        (f"UPDATE people SET {column} = ? WHERE player = 3", value),
    )
    named = [(f.table, f.position_or_key) for f in verify_names(*map(str, five_players)).falsehoods]
    assert named == [("people", 3), ("people schema", "table people")]


@pytest.mark.parametrize(
    ("statement", "which"),
    [
        ("CREATE TRIGGER evil AFTER UPDATE ON people BEGIN DELETE FROM people; END", "trigger evil"),
        ("CREATE TABLE copies AS SELECT * FROM people", "table copies"),
        ("CREATE INDEX by_name ON people(name)", "index by_name"),
        ("CREATE VIEW everybody AS SELECT * FROM people", "view everybody"),
        ("ALTER TABLE people ADD COLUMN note TEXT", "table people"),
    ],
)
def test_what_does_not_belong_into_the_people_file_is_found(
    five_players: tuple[Path, Path], statement: str, which: str
) -> None:
    with closing(sqlite3.connect(five_players[1])) as connection:
        connection.execute(statement)
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("people schema", which)


def test_an_index_of_identities_that_does_not_agree_with_the_table_is_found(five_players: tuple[Path, Path]) -> None:
    whole = five_players[1].read_bytes()
    place = whole.index(b"site:4", index_page(five_players[1], "sqlite_autoindex_people_1"))
    five_players[1].write_bytes(whole[:place] + b"sitf:4" + whole[place + 6 :])
    verdict = verify_names(*map(str, five_players))
    assert {(f.table, f.position_or_key) for f in verdict.falsehoods} == {("people file", "integrity")}


def test_swapped_names_are_both_found(five_players: tuple[Path, Path]) -> None:
    edit_raw(five_players[1], ("UPDATE people SET name = 'Ñame ' || (6 - player) WHERE player IN (2, 4)",))
    assert [f.position_or_key for f in verify_names(*map(str, five_players)).falsehoods] == [2, 4]


def test_people_swapped_with_identity_salt_and_day_are_both_found(five_players: tuple[Path, Path]) -> None:
    edit_raw(
        five_players[1],
        ("UPDATE people SET player = 99 WHERE player = 2",),
        ("UPDATE people SET player = 2 WHERE player = 4",),
        ("UPDATE people SET player = 4 WHERE player = 99",),
    )
    falsehoods = verify_names(*map(str, five_players)).falsehoods
    assert [f.position_or_key for f in falsehoods] == [2, 2, 4, 4]
    assert "joined_at is '2024', but entry 3 says '2022'" in str(falsehoods[0])


def test_an_erased_person_is_counted_and_no_falsehood(five_players: tuple[Path, Path]) -> None:
    edit_raw(five_players[1], ("UPDATE people SET identity = NULL, name = NULL, salt = NULL WHERE player = 3",))
    verdict = verify_names(*map(str, five_players))
    assert (verdict.checked, verdict.erased, verdict.falsehoods) == (4, 1, ())


def test_a_missing_person_is_found(five_players: tuple[Path, Path]) -> None:
    edit_raw(five_players[1], ("DELETE FROM people WHERE player = 3",))
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert "player 3 of entry 4 is missing here" in str(falsehood)


def test_a_person_without_an_entry_is_counted_as_unregistered(five_players: tuple[Path, Path]) -> None:
    edit_raw(five_players[1], ("INSERT INTO people VALUES (6, 'site:6', 'Name 6', zeroblob(16), '2026')",))
    verdict = verify_names(*map(str, five_players))
    assert (verdict.checked, verdict.unregistered, verdict.falsehoods) == (5, 1, ())


def test_a_person_without_an_entry_must_be_whole_too(five_players: tuple[Path, Path]) -> None:
    edit_raw(five_players[1], ("INSERT INTO people VALUES (6, CAST(x'ff' AS TEXT), 'Name 6', x'06', '2026')",))
    assert [(f.table, f.position_or_key) for f in verify_names(*map(str, five_players)).falsehoods] == [("people", 6)]


@pytest.mark.parametrize(
    "body", [b"", b"null", b'{"facts":1}', b'{"facts":{"player":9,"commitment":""}}', b'{"facts":{"player":"3"}}']
)
def test_a_registration_that_cannot_be_compared_is_named_and_the_others_are_compared(
    five_players: tuple[Path, Path], body: bytes
) -> None:
    edit_raw(five_players[0], ("UPDATE journal SET body = ? WHERE position = 4", body))
    edit_raw(five_players[1], ("UPDATE people SET name = 'x' WHERE player = 5",))
    falsehoods = [(f.table, f.position_or_key) for f in verify_names(*map(str, five_players)).falsehoods]
    assert falsehoods[0] == ("journal", 4)
    assert ("people", 5) in falsehoods


def test_a_registration_under_another_key_is_named_and_compared(five_players: tuple[Path, Path]) -> None:
    edit_raw(five_players[0], ("UPDATE journal SET key = 'player:77' WHERE position = 4",))
    verdict = verify_names(*map(str, five_players))
    assert [(f.table, f.position_or_key) for f in verdict.falsehoods] == [("journal", 4)]
    assert verdict.checked == 5


def test_a_player_registered_twice_is_named(five_players: tuple[Path, Path]) -> None:
    body = body_of(7, ("player-registered/1", "player:33", {"player": 3}))
    row = (7, "player-registered/1", "player:33", body, sha(b"\x00", body))
    edit_raw(five_players[0], ("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", *row))
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert str(falsehood).startswith("journal entry 7: registers player 3 again after entry 4")


def test_a_damaged_people_file_is_named_and_says_after_whom_nothing_can_be_read(
    five_players: tuple[Path, Path],
) -> None:
    with closing(sqlite3.connect(five_players[1])) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'people'").fetchone()
    whole = five_players[1].read_bytes()
    start = (page - 1) * 4096
    five_players[1].write_bytes(whole[:start] + b"\xff" * 4096 + whole[start + 4096 :])
    falsehoods = verify_names(*map(str, five_players)).falsehoods
    assert str(falsehoods[0]).startswith("people 0: no player after this one can be read")
    assert {f.table for f in falsehoods} == {"people", "people file"}
