"""Bundles: what a check of one proves, and that a changed bit is found wherever it is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

import attrs
import pytest

from ledger.audit import bundle_check
from ledger.audit.bundle_check import BundleVerdict, check_bundle
from ledger.audit.bundles import bundle_lines, bundle_summary
from ledger.audit.reader import VerifierKey
from ledger.errors import StorageError
from ledger.facts.events import ListPublished
from ledger.facts.words import TreeHead
from ledger.journal.checkpoint_notes import note_text
from ledger.journal.merkle import leaf_hash
from ledger.journal.signing_keys import NoteKey
from ledger.journal.stored_lists import list_texts
from ledger.ledger import Ledger
from tests.kit.checkpoints import KEY, ORIGIN, give_key, root_of_leaves
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded
from tests.tiers import times

VERIFIER = VerifierKey.parse(KEY.verifier)
OTHER = NoteKey("witness.example", bytes(range(1, 33)))
LIST = "standard@2026-11-20/1"


def checked(content: bytes, *keys: VerifierKey, since: TreeHead | None = None) -> BundleVerdict:
    return check_bundle(io.BytesIO(content), keys, since)


def bundle_of(ledger: Ledger, name: str = LIST) -> bytes:
    return b"".join(bundle_lines(ledger, ledger.publications.named(name), KEY.verifier))


@pytest.fixture(name="publisher")
def _publisher(club_of_two: ClubOfTwo) -> ClubOfTwo:
    """The club of two with a key, a published list and a checkpoint that contains it."""
    give_key(club_of_two.path)
    club_of_two.ledger.publications.publish("2026-11-20", actor="eve", despite_complaints=True)
    return club_of_two


@pytest.fixture(name="november")
def _november(publisher: ClubOfTwo) -> bytes:
    return bundle_of(publisher.ledger)


def first_line(november: bytes) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(november.partition(b"\n")[0])
    return facts


def with_first_line(november: bytes, **changed: object) -> bytes:
    facts = {**first_line(november), **changed}
    line = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    return line + b"\n" + november.partition(b"\n")[2]


def signed_anew(november: bytes, change: Callable[[list[bytes]], None]) -> bytes:
    """A bundle with other entries, hashed and signed by the key's owner: only the numbers can show that it is false."""
    first, *lines = november.split(b"\n")[:-1]
    facts = json.loads(first)
    bodies = [line[65:] for line in lines[: facts["entries"]]]
    rows = lines[facts["entries"] :]
    change(bodies)
    head = TreeHead(len(bodies), root_of_leaves([leaf_hash(body) for body in bodies]))
    signed = KEY.sign(note_text(ORIGIN, head))
    hashed = [leaf_hash(body).hex().encode() + b" " + body for body in bodies]
    return with_first_line(b"\n".join([first, *hashed, *rows, b""]), checkpoint=signed, entries=len(bodies))


def resealed(bundle: bytes) -> bytes:
    """Return the same bundle, whose publication states the root of the entries before it."""

    def seal(bodies: list[bytes]) -> None:
        facts = json.loads(bodies[-1])["facts"]
        root = root_of_leaves([leaf_hash(body) for body in bodies[: facts["head"]]])
        bodies[-1] = bodies[-1].replace(facts["root"].encode(), root.hex().encode())

    return signed_anew(bundle, seal)


def test_the_form_of_a_bundle(november: bytes, publisher: ClubOfTwo) -> None:
    facts = first_line(november)
    size = publisher.ledger.journal.size()
    assert facts == {
        "checkpoint": publisher.ledger.checkpoints.make().note, "entries": size, "form": "rating-list-bundle/1",
        "key": KEY.verifier, "list": LIST, "list_form": "rating-list/3", "players": 2,
    }  # fmt: skip
    lines = november.split(b"\n")
    bodies = [body for block in publisher.ledger.journal.read() for body in block]
    assert lines[1 : size + 1] == [sha256(b"\0" + body).hexdigest().encode() + b" " + body for body in bodies]
    assert [json.loads(line)[0] for line in lines[size + 1 : -1]] == [1, 2]
    assert lines[-1] == b""


def test_a_true_bundle_proves_its_list(november: bytes, publisher: ClubOfTwo) -> None:
    verdict = checked(november, VERIFIER, since=publisher.ledger.head())
    assert (verdict.ok, verdict.falsehoods, verdict.not_compared) == (True, (), None)
    assert (verdict.published, verdict.scheme, verdict.key) == (LIST, "chessworld", KEY.verifier)
    assert verdict.signed is not None
    assert (verdict.signed.origin, verdict.signed.head) == (ORIGIN, publisher.ledger.head())
    assert (verdict.entries, verdict.list_entries) == (
        publisher.ledger.journal.size(),
        publisher.ledger.journal.size() - 1,
    )
    assert [row.rank for row in verdict.rows] == [1, 2]


def test_what_is_recorded_after_the_list_is_hashed_and_changes_no_row(publisher: ClubOfTwo) -> None:
    publisher.ledger.append(game_recorded("late", white=2, black=1, ended_at="2026-11-19"))
    publisher.ledger.checkpoints.make()
    verdict = checked(bundle_of(publisher.ledger))
    assert verdict.ok
    assert verdict.entries == verdict.list_entries + 2


def test_many_entries_are_calculated_in_steps(publisher: ClubOfTwo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_check, "FEW_ENTRIES", 3)
    told: list[tuple[str, int, int]] = []
    assert check_bundle(io.BytesIO(bundle_of(publisher.ledger)), progress=lambda *report: told.append(report)).ok
    assert [report for report in told if report[0] == "replay"] == [("replay", 3, 4), ("replay", 4, 4)]


def test_every_changed_bit_of_the_first_line_is_found(november: bytes) -> None:
    end = november.index(b"\n")
    for place in range(end + 1):
        for bit in range(8):
            spoilt = bytearray(november)
            spoilt[place] ^= 1 << bit
            assert not checked(bytes(spoilt)).ok, (place, bit, bytes(spoilt[: end + 1]))


def test_a_changed_bit_anywhere_is_found(november: bytes) -> None:
    random = Random(53)
    for _ in range(times(quick=60, ci=600, nightly=20_000)):
        place, bit = random.randrange(len(november)), random.randrange(8)
        spoilt = bytearray(november)
        spoilt[place] ^= 1 << bit
        assert not checked(bytes(spoilt)).ok, (place, bit)


def test_the_first_changed_entry_is_named(november: bytes) -> None:
    (falsehood,) = checked(november.replace(b'"outcome":"white"', b'"outcome":"black"')).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("journal", 4)
    assert falsehood.message.startswith("is not the entry that was signed: it hashes to ")


def test_a_changed_hash_is_not_taken_for_a_changed_entry(november: bytes) -> None:
    second = november.split(b"\n")[2]
    other = b"0" * 64 + second[64:]
    (falsehood,) = checked(november.replace(second, other)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("bundle", "line 3")
    assert falsehood.message.startswith("entry 2 is as it was signed, but the hash before it is not ")


def test_entries_of_another_ledger_with_their_own_hashes_are_found(november: bytes) -> None:
    other = signed_anew(november, lambda bodies: bodies.append(bodies.pop().replace(b"eve", b"ada")))
    (falsehood,) = checked(with_first_line(other, checkpoint=first_line(november)["checkpoint"])).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("bundle", "entries")


def test_a_changed_row_is_named_with_both_values(november: bytes) -> None:
    row = november.split(b"\n")[-2]
    player, _rank, shown, *_ = json.loads(row)
    better = row.replace(b",%d," % shown, b",%d," % (shown + 1), 1)
    (falsehood,) = checked(november.replace(row, better)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == (f"list {LIST}", f"player {player}")
    assert falsehood.message == f"shown is {shown + 1}, the entries give {shown}"


def test_a_list_that_does_not_follow_is_false_although_its_owner_signed_it(publisher: ClubOfTwo) -> None:
    true = bundle_of(publisher.ledger)
    rows = list(checked(true).rows)
    raised = [row._replace(rating=row.rating + 1, shown=row.shown + 1) for row in rows]
    event = publisher.ledger.publications.named(LIST).event
    old, new = list_texts(rows), list_texts(raised)

    def publish_false_list(bodies: list[bytes]) -> None:
        bodies[-1] = bodies[-1].replace(old.digest.encode(), new.digest.encode())

    false = signed_anew(true, publish_false_list).replace(b"".join(old.texts[1:]), b"".join(new.texts[1:]))
    verdict = checked(false, VERIFIER)
    assert isinstance(event, ListPublished)
    assert [falsehood.position_or_key for falsehood in verdict.falsehoods] == [
        "player 1",
        "player 1",
        "player 2",
        "player 2",
    ]


def test_entries_that_break_a_rule_are_false_although_their_owner_signed_them(november: bytes) -> None:
    def swap(bodies: list[bytes]) -> None:
        bodies[1], bodies[2] = bodies[2], bodies[1]

    (falsehood, *_) = checked(signed_anew(november, swap)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("journal", 2)


@pytest.mark.parametrize("body", [b"no JSON", b"[]", b'{"kind":1}', b'{"key":"a","kind":"b"}'])
def test_what_is_no_entry_is_false_although_its_owner_signed_it(november: bytes, body: bytes) -> None:
    (falsehood, *_) = checked(signed_anew(november, lambda bodies: bodies.__setitem__(2, body))).falsehoods
    assert falsehood.table == "journal"
    assert falsehood.position_or_key == 3


def test_a_repeated_entry_is_false_although_its_owner_signed_it(november: bytes) -> None:
    (falsehood, *_) = checked(signed_anew(november, lambda bodies: bodies.__setitem__(2, bodies[1]))).falsehoods
    assert falsehood.table == "journal"
    assert (falsehood.position_or_key, falsehood.message[:15]) == (3, "repeats entry 2")


def test_a_bundle_signed_by_another_key_is_false(november: bytes) -> None:
    (falsehood,) = checked(november, VerifierKey.parse(OTHER.verifier)).falsehoods
    assert falsehood.message == f"is signed by the key {KEY.verifier}, which is not the one that you gave"
    (falsehood,) = checked(with_first_line(november, key=OTHER.verifier)).falsehoods
    assert "signed by a key" in falsehood.message


def test_a_head_of_another_history_is_found(november: bytes) -> None:
    (falsehood,) = checked(november, since=TreeHead(2, bytes(32))).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("head", 2)
    assert falsehood.message.endswith(": history was changed")
    (falsehood,) = checked(november, since=TreeHead(917, bytes(32))).falsehoods
    assert falsehood.message == "the bundle has 5 entries, the head that you kept 917: get a newer one"


def test_a_hash_that_leads_nowhere_accuses_no_entry_of_being_another_than_signed(november: bytes) -> None:
    lines = november.split(b"\n")
    lines[2] = b"0" * 64 + lines[2][64:]
    spoilt = b"\n".join(lines).replace(b'"outcome":"white"', b'"outcome":"black"')
    (falsehood,) = checked(spoilt).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("journal", 2)
    assert "neither leads to the signed root" in falsehood.message


def test_an_entry_of_a_kind_of_a_later_version_is_not_compared(november: bytes) -> None:
    def of_later_kind(bodies: list[bytes]) -> None:
        bodies[3] = bodies[3].replace(b"game-recorded/1", b"game-recorded/9")

    verdict = checked(resealed(signed_anew(november, of_later_kind)))
    assert (verdict.falsehoods, verdict.ok) == ((), False)
    assert "is of kind 'game-recorded/9', which this version does not know" in str(verdict.not_compared)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            b'"scheme":"chessworld","scheme_version"',
            b'"scheme":"elo","scheme_version"',
            "says that the list was",
        ),
        (b'"players":2', b'"players":3', "published 'list:standard@2026-11-20/1' with 3 players"),
        (b'"as_of":"2026-11-20"', b'"as_of":"2026-11-19"', ""),
    ],
)
def test_what_the_publication_states_is_compared(november: bytes, old: bytes, new: bytes, message: str) -> None:
    def change(bodies: list[bytes]) -> None:
        assert old in bodies[-1]
        bodies[-1] = bodies[-1].replace(old, new)

    (falsehood, *_) = checked(signed_anew(november, change)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("journal", 5)
    assert message in falsehood.message


@pytest.mark.parametrize(
    ("spoil", "where", "message"),
    [
        (lambda _: b"", "line 1", "it was cut off"),
        (lambda _: b"PK\x03\x04 no bundle\n", "line 1", "is not the first line of a bundle"),
        (lambda november: november.partition(b"\n")[0] + b"\n", "line 2", "entry 1 is expected here"),
        (lambda november: november[:-20], "line 8", "a row of the list is expected here"),
        (lambda november: november + b"\n", "line 9", "something follows the last row"),
        (lambda november: with_first_line(november, form="rating-list-bundle/2"), "line 1", "has the forms"),
        (lambda november: with_first_line(november, entries=4), "line 1", "says 4 entries and 2 players, but 5"),
        (lambda november: with_first_line(november, players=-1), "line 1", "says 5 entries and -1 players"),
        (lambda _: b"x" * (1 << 20), "line 1", "the line is longer than any of a bundle"),
        (lambda november: november.replace(b"\n[2,", b"\n[%d," % 10**23), "line 8", "is no row of a list"),
        (lambda november: with_first_line(november, more=1), "line 1", "is not the first line of a bundle"),
        (lambda november: with_first_line(november, key=f" {KEY.verifier}"), "line 1", "has blanks around it"),
        (lambda november: with_first_line(november, list="standard@2026/1"), "line 1", "no entry published"),
        (lambda november: november.replace(b"\n[2,", b"\n [2,"), "line 8", "is no row of a list"),
    ],
)  # fmt: skip
def test_a_malformed_bundle_is_named_by_its_line(
    spoil: Callable[[bytes], bytes], where: str, message: str, november: bytes
) -> None:
    (falsehood,) = checked(spoil(november)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("bundle", where)
    assert message in falsehood.message


def test_a_list_of_another_version_of_its_scheme_is_not_compared(
    november: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ledger import schemes

    later = attrs.evolve(schemes.find_scheme("chessworld"), version=7)
    monkeypatch.setattr(schemes, "available_schemes", lambda: {"chessworld": later})
    verdict = checked(november)
    assert (verdict.ok, verdict.falsehoods) == (False, ())
    assert "not reproducible by this version" in str(verdict.not_compared)


def test_a_bundle_needs_a_checkpoint_that_contains_the_list(club_of_two: ClubOfTwo) -> None:
    lists = club_of_two.ledger.publications
    lists.publish("2026-11-20", actor="eve", despite_complaints=True)
    with pytest.raises(StorageError, match="there is no checkpoint yet, which a bundle needs"):
        bundle_of(club_of_two.ledger)
    give_key(club_of_two.path)
    club_of_two.ledger.checkpoints.make()
    club_of_two.ledger.append(game_recorded("late", white=2, black=1, ended_at="2026-11-19"))
    key = club_of_two.path.with_name("club.key")
    key.rename(key.with_suffix(".away"))
    lists.publish("2026-11-19", actor="eve", despite_complaints=True)
    with pytest.raises(StorageError, match="after the last checkpoint, which has 5 entries"):
        bundle_of(club_of_two.ledger, "standard@2026-11-19/1")


def test_the_summary_says_what_becomes_public(november: bytes) -> None:
    summary = bundle_summary(november.splitlines(keepends=True))
    assert (summary.published, summary.entries, summary.games, summary.players) == (LIST, 5, 1, 2)
    assert "eve" in summary.recorders


def test_no_name_of_a_player_is_in_a_bundle(november: bytes) -> None:
    assert b"Ann" not in november
    assert b"Bob" not in november
