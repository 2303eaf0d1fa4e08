"""The audit of a real ledger: true when nothing was touched, and every way of touching it named."""

import hashlib
import hmac
import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import attrs
import orjson
import pytest

from ledger.audit import reader
from ledger.audit.audit import UncheckedPart, Verdict, audit, table_digests
from ledger.audit.reader import four_eyes, journal, people, texts
from ledger.audit.recomputed_ledger import RecomputedLedger, recompute_ledger
from ledger.facts.words import Termination
from ledger.journal.merkle import Frontier, leaf_hashes
from ledger.ledger import Ledger
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.audit.findings import GAMES, PLAYERS, TABLES, body_at, false_places, first_game, said, views_of
from tests.kit.games import game_recorded
from tests.kit.plugins import WIN_STREAKS
from tests.kit.tampering import edit


@pytest.mark.slow
def test_an_untouched_ledger_is_true_and_nothing_is_changed_by_asking(club_of_300_games: Path) -> None:
    before = {path.name: path.read_bytes() for path in club_of_300_games.parent.glob("*.db")}
    verdict = audit(club_of_300_games)
    assert verdict.falsehoods == ()
    assert verdict.entries == verdict.head.size > GAMES + PLAYERS
    assert (verdict.names_checked, verdict.names_erased) == (PLAYERS, 0)
    assert set(verdict.digests) == TABLES
    with Ledger.open(club_of_300_games) as ledger:
        assert verdict.head == ledger.head()
    assert {path.name: path.read_bytes() for path in club_of_300_games.parent.glob("*.db")} == before
    assert audit(club_of_300_games, since=verdict.head) == verdict


def test_a_verdict_is_true_only_if_nothing_is_false_and_nothing_failed(club_of_300_games: Path) -> None:
    true = audit(club_of_300_games)
    assert true
    assert true.ok
    failed = attrs.evolve(true, not_compared=(UncheckedPart("names", "the disk is full", failed=True),))
    assert not failed
    assert not failed.ok
    assert not failed.falsehoods
    edit(views_of(club_of_300_games), "UPDATE players SET birth_year = 1066")
    false = audit(club_of_300_games)
    assert not false
    assert not false.ok
    assert audit(club_of_300_games, journal_only=True)
    edit(club_of_300_games, "UPDATE journal SET leaf = zeroblob(32) WHERE position = 3")
    assert not audit(club_of_300_games, journal_only=True)
    assert not recompute_ledger(club_of_300_games)


def test_what_any_check_found_is_true_only_if_nothing_is_false() -> None:
    modules = (four_eyes, journal, people, texts)
    found = [each for module in modules for name, each in vars(module).items() if name.endswith("Verdict")]
    assert len(found) > 5
    assert all(issubclass(each, reader.Finding) for each in [*found, RecomputedLedger, Verdict])


def test_the_journal_alone_gives_its_head_and_asks_for_no_other_file(club_of_300_games: Path) -> None:
    head = audit(club_of_300_games).head
    for path in (views_of(club_of_300_games), sidecar(club_of_300_games, "people")):
        path.unlink()
    alone = audit(club_of_300_games, journal_only=True)
    assert alone == Verdict(head, head.size, 0, 0, {}, ())
    assert list(map(str, alone.not_compared)) == ["names, texts and derived rows: the journal alone was asked for"]
    assert said(club_of_300_games) == (
        "people file club.people.db: is missing: the names are in no other file; restore it from a copy"
    )


def test_views_folded_in_piece_by_piece_have_the_digests_of_rebuilt_ones(club_of_300_games: Path) -> None:
    verdict = audit(club_of_300_games)
    with Ledger.open(club_of_300_games) as ledger:
        live = table_digests(ledger.views.connection)
        ledger.rebuild()
        assert table_digests(ledger.views.connection) == live == verdict.digests


def test_a_digest_is_the_hash_of_rows_as_json_lines_in_order_of_the_key(club_of_300_games: Path) -> None:
    with Ledger.open(club_of_300_games) as ledger:
        rows = ledger.rows("history", "1 ORDER BY pool, player, n")
        lines = [orjson.dumps([row[name] for name in sorted(row)]) + b"\n" for row in rows]
    assert audit(club_of_300_games).digests["history"] == hashlib.sha256(b"".join(lines)).hexdigest()


@pytest.mark.slow
def test_two_ledgers_of_one_journal_have_the_same_digests(club_of_300_games: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "copy.db"
    other.parent.mkdir()
    with closing(sqlite.sqlite3.connect(club_of_300_games)) as connection:
        connection.execute("VACUUM INTO ?", (str(other),))
    shutil.copy(sidecar(club_of_300_games, "people"), sidecar(other, "people"))
    assert audit(other) == audit(club_of_300_games)  # before it has views
    with Ledger.open(other) as ledger:
        ledger.catch_up()
    assert audit(other) == audit(club_of_300_games)


def test_the_digests_belong_to_the_head_also_where_the_views_are_behind(club_of_300_games: Path) -> None:
    with Ledger.open(club_of_300_games) as ledger:
        ledger.append(game_recorded("late", black=4, termination=Termination.CHECKMATE, ended_at="2022-02-01"))
    behind = audit(club_of_300_games)
    assert behind.falsehoods == ()
    with Ledger.open(club_of_300_games) as ledger:
        ledger.catch_up()
        assert table_digests(ledger.views.connection) == behind.digests
    assert audit(club_of_300_games) == behind


def test_an_erased_player_is_counted_and_no_falsehood(club_of_300_games: Path) -> None:
    edit(
        sidecar(club_of_300_games, "people"),
        "UPDATE people SET identity = NULL, name = NULL, salt = NULL WHERE player = 3",
    )
    verdict = audit(club_of_300_games)
    assert (verdict.names_checked, verdict.names_erased, verdict.falsehoods) == (PLAYERS - 1, 1, ())


@pytest.mark.slow
def test_the_read_models_of_a_plug_in_are_audited_too(club_of_300_games: Path) -> None:
    projectors = (*BUILT_IN, WIN_STREAKS)
    with Ledger.open(club_of_300_games, projectors=projectors) as ledger:
        ledger.catch_up()
    verdict = audit(club_of_300_games, projectors=projectors)
    assert verdict.falsehoods == ()
    assert set(verdict.digests) == TABLES | {"win_streaks"}
    edit(views_of(club_of_300_games), "UPDATE win_streaks SET longest = longest + 1 WHERE player = 6 AND n = 3")
    (falsehood,) = audit(club_of_300_games, projectors=projectors).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("win_streaks", "pool 1, player 6, n 3")


def test_progress_tells_of_the_journal_the_build_and_each_table(club_of_300_games: Path) -> None:
    told: list[str] = []
    audit(club_of_300_games, progress=lambda what, _done, _total: told.append(what))
    assert told[0] == "journal"
    assert {f"table {table}" for table in TABLES} <= set(told)


def test_triggers_refuse_what_a_plain_connection_tries_first(club_of_300_games: Path) -> None:
    for statement in (
        "UPDATE journal SET body = x'00' WHERE position = 20",
        "DELETE FROM journal WHERE position = 20",
        "INSERT INTO journal SELECT position + 1000, kind, key || 'x', body, leaf FROM journal WHERE position = 20",
        "INSERT OR REPLACE INTO journal SELECT position, kind, key, x'00', leaf FROM journal WHERE position = 20",
    ):
        with (
            closing(sqlite.sqlite3.connect(club_of_300_games)) as connection,
            pytest.raises(sqlite.sqlite3.IntegrityError, match="the journal"),
        ):
            connection.execute(statement)
    assert false_places(club_of_300_games) == []


def test_an_edited_body_is_named_by_its_position_and_no_digest_is_given(club_of_300_games: Path) -> None:
    position = first_game(club_of_300_games)
    body = body_at(club_of_300_games, position).replace(b'"ended_at":"2021', b'"ended_at":"2020')
    edit(club_of_300_games, ("UPDATE journal SET body = ? WHERE position = ?", (body, position)))
    verdict = audit(club_of_300_games)
    assert [(one.table, one.position_or_key) for one in verdict.falsehoods] == [("journal", position)]
    assert verdict.digests == {}


@pytest.mark.slow
def test_a_cut_off_tail_is_found_by_views_that_know_more_and_by_a_kept_head(club_of_300_games: Path) -> None:
    head = audit(club_of_300_games).head
    edit(club_of_300_games, "DELETE FROM journal WHERE position > 280", "DELETE FROM keys_0 WHERE position > 280")
    assert false_places(club_of_300_games) == [("progress", "position")]
    assert f"the views know {head.size} entries, the journal holds 280: the journal was cut" in said(club_of_300_games)
    with Ledger.open(club_of_300_games) as ledger:
        ledger.rebuild()
    assert false_places(club_of_300_games) == []
    assert false_places(club_of_300_games, head) == [("journal", 281)]


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


@pytest.mark.slow
def test_history_rewritten_with_all_its_seals_is_found_by_a_head_or_digests_that_were_kept(
    club_of_300_games: Path,
) -> None:
    true = audit(club_of_300_games)
    position = first_game(club_of_300_games, "outcome = 'white'")
    resealed(club_of_300_games, position, lambda body: body.replace(b'"outcome":"white"', b'"outcome":"black"'))
    forged = audit(club_of_300_games)
    assert forged.falsehoods == ()
    assert forged.head.size == true.head.size
    assert false_places(club_of_300_games, true.head) == [("journal", f"1..{true.head.size}")]
    assert "history before that head was rewritten" in said(club_of_300_games, true.head)
    changed = {table for table in TABLES if forged.digests[table] != true.digests[table]}
    assert changed == {"games", "history", "current", "distribution", *(made.name for made in BUILT_IN)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"outcome":"white"', b'"outcome":"WHITE"', "is sealed as it stands, but is no event: expected one of"),
        (b"game-recorded/1", b"game-dropped/1", "is sealed as it stands, but is no event: unknown kind"),
        (b'"facts":{', b'"facts":{"aside":1,', "is sealed as it stands, but is no event: unknown field"),
        (b'"facts":{', b'"facts":{ ', "is sealed as it stands, but is no event: not canonical"),
        (b'"pool":"standard"', b'"pool":"unheard"', "nothing can be derived from these entries: "),
    ],
)
def test_a_sealed_entry_from_which_nothing_follows_is_named(
    old: bytes, new: bytes, message: str, club_of_300_games: Path
) -> None:
    source = body_at(club_of_300_games, first_game(club_of_300_games, "outcome = 'white'"))
    entry = json.loads(source)
    with Ledger.open(club_of_300_games) as ledger, ledger.journal.writing() as writer:
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
    (falsehood,) = audit(club_of_300_games).falsehoods
    assert falsehood.table == "journal"
    assert falsehood.position_or_key in {position, f"1..{position}"}
    assert falsehood.message.startswith(message)


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
def test_names_that_are_not_the_sealed_ones_are_named(
    statement: str, players: list[int], club_of_300_games: Path
) -> None:
    edit(sidecar(club_of_300_games, "people"), statement)
    verdict = audit(club_of_300_games)
    assert [(one.table, one.position_or_key) for one in verdict.falsehoods] == [("people", one) for one in players]
    assert set(verdict.digests) == TABLES  # the journal is true, and what follows from it


def test_a_commitment_is_that_of_the_sealed_name(club_of_300_games: Path) -> None:
    with Ledger.open(club_of_300_games) as ledger:
        person = ledger.player("Player 1")
        (body,) = (b for block in ledger.journal.read() for b in block if b'"key":"player:1"' in b)
    sealed = json.loads(body)["facts"]["commitment"]
    assert hmac.digest(person.salt or b"", b"name:p1\x00Player 1", "sha256").hex() == sealed
