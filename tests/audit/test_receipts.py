"""Receipts: what they prove, and that of a receipt which was changed in any byte nothing is believed."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.reader import NotAProofError, VerifierKey, verify_receipt
from ledger.audit.reader.receipts import verify_note
from ledger.audit.receipts import make_receipt
from ledger.errors import CorruptError, StorageError, UnknownNameError
from ledger.facts.events import Decision
from ledger.facts.words import TreeHead
from ledger.journal.checkpoint_notes import note_text as text_of
from ledger.journal.merkle import leaf_hash
from ledger.journal.signing_keys import NoteKey
from ledger.ledger import Ledger
from tests.kit.checkpoints import KEY, ORIGIN, RELEASED_GAME, released_club, signed
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded
from tests.kit.golden_entries import FOLDER
from tests.kit.tampering import run_sql
from tests.tiers import few_quick

GOLDEN = FOLDER / "proofs"
MASKS = (0x01, 0x02, 0x20, 0x40, 0x80, 0xFF)
VERIFIER = VerifierKey.parse(KEY.verifier)
OTHER = NoteKey("witness.example", bytes(range(1, 33)))
PLAIN, NAMED = "game.tlog-proof", "game-with-name.tlog-proof"


@pytest.fixture
def receipt_club(club_of_two: ClubOfTwo) -> ClubOfTwo:
    """The club of two with a key and a checkpoint."""
    return signed(club_of_two)


def refusal(content: bytes | str, *keys: VerifierKey) -> NotAProofError:
    """Why a receipt proves nothing."""
    with pytest.raises(NotAProofError) as caught:
        verify_receipt(content.encode() if isinstance(content, str) else content, keys or (VERIFIER,))
    return caught.value


@pytest.mark.parametrize(("name", "player"), [(PLAIN, None), (NAMED, "bob")])
def test_the_bytes_of_a_receipt_are_pinned(name: str, player: str | None, tmp_path: Path) -> None:
    with Ledger.open(released_club(tmp_path)) as ledger:
        ledger.checkpoints.make()
        assert make_receipt(ledger, RELEASED_GAME, name_of=player).encode() == (GOLDEN / name).read_bytes()


def test_a_receipt_proves_the_entry_and_on_request_a_name() -> None:
    proven = verify_receipt((GOLDEN / PLAIN).read_bytes(), [VERIFIER])
    assert (proven.position, proven.signed.origin, proven.signed.head.size) == (18, ORIGIN, 167)
    assert (proven.entry["key"], proven.entry["facts"]["white"]) == (f"game:{RELEASED_GAME}", 1)
    assert (proven.player, proven.identity, proven.name, proven.signed.signers) == (None, None, None, (ORIGIN,))
    named = verify_receipt((GOLDEN / NAMED).read_bytes(), [VERIFIER])
    assert (named.player, named.identity, named.name, named.entry) == (1, "name:bob", "bob", proven.entry)


def test_a_receipt_tells_no_name_that_was_not_asked_for(receipt_club: ClubOfTwo) -> None:
    lines = make_receipt(receipt_club.ledger, "r1-b1").split("\n")
    content = base64.b64decode(lines[1].removeprefix("extra ")).decode()
    assert "Ann" not in content
    assert "name" not in json.loads(content)
    content = base64.b64decode(make_receipt(receipt_club.ledger, "r1-b1", name_of="2").split("\n")[1][6:]).decode()
    assert "Bob" in content
    assert "Ann" not in content


@pytest.mark.parametrize("entries", [1, 2, 3, 250, 300])
def test_every_game_has_a_receipt_whatever_the_size_of_the_journal(entries: int, receipt_club: ClubOfTwo) -> None:
    ledger = receipt_club.ledger
    ledger.append_many(game_recorded(f"x{number}") for number in range(entries))
    made = ledger.checkpoints.make()
    for number in {0, entries // 2, entries - 1}:
        proven = verify_receipt(make_receipt(ledger, f"x{number}", name_of="Ann").encode(), [VERIFIER])
        assert (proven.position, proven.signed.head, proven.name) == (5 + number, made.head, "Ann")


def test_an_entry_after_the_last_checkpoint_has_no_receipt_yet(receipt_club: ClubOfTwo) -> None:
    ledger = receipt_club.ledger
    ledger.append(game_recorded("r2"))
    with pytest.raises(StorageError, match=r"game 'r2' was recorded as entry 5, after the last checkpoint"):
        make_receipt(ledger, "r2")
    ledger.rename(1, "Anna")
    with pytest.raises(StorageError, match="the name of player 1 was recorded as entry 6, after the last checkpoint"):
        make_receipt(ledger, "r1-b1", name_of="Anna")
    ledger.checkpoints.make()
    assert verify_receipt(make_receipt(ledger, "r1-b1", name_of="Anna").encode(), [VERIFIER]).name == "Anna"
    assert verify_receipt(make_receipt(ledger, "r2").encode(), [VERIFIER]).position == 5


def test_who_was_merged_into_another_is_proven_as_recorded(receipt_club: ClubOfTwo) -> None:
    ledger = receipt_club.ledger
    carl = ledger.register("name:carl", "Carl")
    merge = ledger.corrections.drafts.merge(1, carl)
    ledger.decide(ledger.propose([merge], reason="one person", by="eve").proposal, Decision.APPROVED, by="adam")
    ledger.ensure_up_to_date()
    assert ledger.player("Ann").player == carl
    for wanted in ("Ann", "1"):
        proven = verify_receipt(make_receipt(ledger, "r1-b1", name_of=wanted).encode(), [VERIFIER])
        assert (proven.player, proven.name) == (1, "Ann")
    assert proven.signed.head == ledger.head()  # the approval was followed by a checkpoint


def test_what_no_receipt_can_prove_is_named(receipt_club: ClubOfTwo) -> None:
    ledger = receipt_club.ledger
    ledger.register("name:carl", "Carl")
    with pytest.raises(UnknownNameError, match=r"no player 'Carl' in this game; it was played by the players \[1, 2\]"):
        make_receipt(ledger, "r1-b1", name_of="Carl")
    with pytest.raises(UnknownNameError, match="no game 'nope'"):
        make_receipt(ledger, "nope")
    ledger.erase(1)
    with pytest.raises(UnknownNameError, match="of a player who was erased, or whose name is lost, none can be proven"):
        make_receipt(ledger, "r1-b1", name_of="1")
    assert make_receipt(ledger, "r1-b1", name_of="Bob")
    (receipt_club.folder / "club.checkpoints").unlink()
    with pytest.raises(StorageError, match="there is no checkpoint yet, which a receipt needs"):
        make_receipt(ledger, "r1-b1")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            "UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), 'white', 'black') AS BLOB) WHERE position = 4",
            "entry 4: does not lead to the root of the checkpoint",
        ),
        ("UPDATE journal SET body = x'ff' WHERE position = 4", "entry 4: is not UTF-8"),
        ("UPDATE journal SET leaf = zeroblob(32) WHERE position = 2", "entry 4: does not lead to the root"),
    ],
)
def test_a_journal_that_was_changed_gives_none(edit: str, words: str, receipt_club: ClubOfTwo) -> None:
    run_sql(receipt_club.path, "DROP TRIGGER journal_never_updates", edit)
    with pytest.raises((CorruptError, StorageError), match=words):
        make_receipt(receipt_club.ledger, "r1-b1")


@pytest.mark.parametrize("name", [PLAIN, NAMED])
@pytest.mark.parametrize("mask", few_quick(MASKS, "1"))
def test_every_changed_byte_is_refused(mask: int, name: str) -> None:
    content = bytearray((GOLDEN / name).read_bytes())
    for place in range(len(content)):
        content[place] ^= mask
        refusal(bytes(content))
        content[place] ^= mask
    verify_receipt(bytes(content), [VERIFIER])


@pytest.mark.slow
def test_every_byte_less_and_every_byte_more_is_refused() -> None:
    content = (GOLDEN / PLAIN).read_bytes()
    for place in range(len(content)):
        refusal(content[:place])
        refusal(content[:place] + content[place + 1 :])
        for more in (b" ", b"\n", b"=", b"A", b"0", b"\r", b"\x00", content[place : place + 1]):
            refusal(content[:place] + more + content[place:])
    for more in (b" ", b"\n", b"x", b"\x00", content):
        refusal(content + more)


def test_every_line_twice_left_out_or_in_another_place_is_refused() -> None:
    lines = (GOLDEN / PLAIN).read_text("utf-8").split("\n")[:-1]
    for place, line in enumerate(lines):
        others = [*lines[:place], *lines[place + 1 :]]
        refusal("\n".join([*others, ""]))
        for target in range(len(lines)):
            if target != place and [*others[:target], line, *others[target:]] != lines:
                refusal("\n".join([*others[:target], line, *others[target:], ""]))
            refusal("\n".join([*lines[:target], line, *lines[target:], ""]))


def spoilt(change: Callable[[dict[str, Any]], object]) -> str:
    """The receipt with a name, with something else in its extra data, as canonical as before."""
    lines = (GOLDEN / NAMED).read_text("utf-8").split("\n")
    content = json.loads(base64.b64decode(lines[1][6:]))
    change(content)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "\n".join([lines[0], f"extra {base64.b64encode(text.encode()).decode()}", *lines[2:]])


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "name": (lambda e: e["name"].update(name="rob"), "the name 'rob' is not the one that entry 2 sealed"),
    "identity": (lambda e: e["name"].update(identity="name:rob"), "is not the one that entry 2 sealed"),
    "salt": (lambda e: e["name"].update(salt="00" * 16), "is not the one that entry 2 sealed"),
    "long salt": (lambda e: e["name"].update(salt="00" * 17), "the salt in it is not 16 bytes"),
    "capital salt": (lambda e: e["name"].update(salt=e["name"]["salt"].upper()), "in lower-case hexadecimal"),
    "salt no hex": (lambda e: e["name"].update(salt="xyz"), "hexadecimal"),
    "no text": (lambda e: e["name"].update(name=7), "is not written as in a receipt"),
    "number as text": (lambda e: e["name"].update(index="1"), "is not written as in a receipt"),
    "true": (lambda e: e["name"].update(index=True), "is not written as in a receipt"),
    "other entry": (lambda e: e["name"].update(index=2), "this is not entry 3 of the journal of 167"),
    "shorter proof": (lambda e: e["name"]["proof"].pop(), "this is not entry 2 of the journal"),
    "proof of numbers": (lambda e: e["name"].update(proof=[1]), "a hash of the name's proof in it is no text"),
    "the game as name": (lambda e: e["name"].update(entry=e["entry"]), "this is not entry 2"),
    "one more field": (lambda e: e.update(more=1), "an object with entry is expected in it"),
    "one more field of name": (lambda e: e["name"].update(more=1), "an object with entry, identity, index, name"),
    "no entry": (lambda e: e.pop("entry"), "an object with entry is expected in it"),
    "entry no text": (lambda e: e.update(entry={}), "an entry in it is no text"),
    "name no object": (lambda e: e.update(name="bob"), "an object with entry, identity"),
    "another result": (lambda e: e.update(entry=e["entry"].replace("white", "black")), "this is not entry 18"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_else_stands_in_its_extra_data_is_refused(change: str) -> None:
    edit, words = CHANGES[change]
    fault = refusal(spoilt(edit))
    assert (fault.line, words in fault.fault) == (2, True), fault


def test_extra_data_that_could_be_written_otherwise_is_refused() -> None:
    lines = (GOLDEN / PLAIN).read_text("utf-8").split("\n")
    content = base64.b64decode(lines[1][6:])
    for other in (
        content + b" ",
        content.replace(b'{"entry":', b'{"entry" :'),
        content.replace(b"game", b"\\u0067ame"),
        content.replace(b'{"entry"', b'{"entry":"","entry"'),
        b"[]",
        b"7",
        b"",
        b"\xff",
        b"[" * 5_000,
    ):
        fault = refusal("\n".join([lines[0], f"extra {base64.b64encode(other).decode()}", *lines[2:]]))
        assert fault.line == 2


def test_the_name_of_somebody_who_did_not_play_is_refused(receipt_club: ClubOfTwo) -> None:
    """The name of another player, true in itself, is put into the receipt of a game."""
    ledger = receipt_club.ledger
    carl = ledger.register("name:carl", "Carl")
    ledger.append(game_recorded("r2", white=carl))
    ledger.checkpoints.make()
    plain, named = (make_receipt(ledger, game, name_of=who) for game, who in (("r1-b1", None), ("r2", "Carl")))
    lines, of_carl = plain.split("\n"), json.loads(base64.b64decode(named.split("\n")[1][6:]))
    content = {**json.loads(base64.b64decode(lines[1][6:])), "name": of_carl["name"]}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    fault = refusal("\n".join([lines[0], f"extra {base64.b64encode(text.encode()).decode()}", *lines[2:]]))
    assert fault.fault == "the name is of player 3, who did not play this game"


def signed_tree(*bodies: bytes) -> str:
    """The receipt of the only entry of a log, signed by its owner, whatever the entry is."""
    note = KEY.sign(text_of(ORIGIN, TreeHead(1, leaf_hash(bodies[0]))))
    extra = json.dumps({"entry": bodies[0].decode()}, separators=(",", ":"))
    return f"c2sp.org/tlog-proof@v1\nextra {base64.b64encode(extra.encode()).decode()}\nindex 0\n\n{note}"


@pytest.mark.parametrize(
    "body",
    [b"", b"7", b"[]", b"{}", b"[", b'{"kind":"game-recorded/1"}', b'{"kind":"player-registered/1","position":1}'],
)
def test_a_log_that_signs_something_else_than_games_proves_no_game(body: bytes) -> None:
    assert refusal(signed_tree(body)).line == 2


def test_a_receipt_under_another_key_proves_nothing() -> None:
    stranger = NoteKey(ORIGIN, bytes(32))  # of the same name
    fault = refusal((GOLDEN / PLAIN).read_bytes(), VerifierKey.parse(stranger.verifier))
    assert fault.fault == f"'{ORIGIN}' signed by a key ({KEY.key_id.hex()}) that was not given"
    assert "nobody" in refusal((GOLDEN / PLAIN).read_text("utf-8").rpartition("—")[0]).fault


def test_others_may_sign_as_well_and_are_verified_as_well() -> None:
    receipt = (GOLDEN / PLAIN).read_text("utf-8")
    note = receipt[receipt.index(ORIGIN) :]
    text = note.partition("\n\n")[0] + "\n"
    cosigned = receipt + OTHER.sign(text).rpartition("\n\n")[2]
    witness = VerifierKey.parse(OTHER.verifier)
    assert verify_receipt(cosigned.encode(), [VERIFIER, witness]).signed.signers == (ORIGIN, OTHER.name)
    assert "that was not given" in refusal(cosigned).fault
    lines = cosigned.split("\n")
    assert refusal("\n".join([*lines[:-1], lines[-2], ""]), VERIFIER, witness).fault == "the same key signed already"
    witness_alone = receipt.rpartition("—")[0] + OTHER.sign(text).rpartition("\n\n")[2]
    assert "not by the key of its name" in refusal(witness_alone, VERIFIER, witness).fault


@pytest.mark.parametrize("size", ["0167", "+167", "167 ", "1e3", "", "١٦٧", "9" * 19])
def test_the_size_of_a_checkpoint_is_a_plain_number(size: str) -> None:
    text = f"{ORIGIN}\n{size}\n{base64.b64encode(bytes(32)).decode()}\n"
    with pytest.raises(NotAProofError):
        verify_note(KEY.sign(text).split("\n")[:-1], 1, [VERIFIER])


def test_a_checkpoint_has_no_further_lines() -> None:
    lines = KEY.sign(f"{ORIGIN}\n1\n{base64.b64encode(bytes(32)).decode()}\nmore\n").split("\n")[:-1]
    with pytest.raises(NotAProofError, match="line 4: an empty line is expected"):
        verify_note(lines, 1, [VERIFIER])


@pytest.mark.parametrize(
    "line",
    [
        "", "a", "a+b", "a+00000000+AA==", f"{KEY.verifier}=", KEY.verifier.replace("+2a", "+2b"),
        KEY.verifier.replace("club+", "klub+"), KEY.verifier[:-2], f" x{KEY.verifier}", KEY.verifier.upper(),
        f"a b+{KEY.verifier.partition('+')[2]}",
    ],
)  # fmt: skip
def test_what_is_no_verifier_key_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="expected NAME"):
        VerifierKey.parse(line)


def test_a_file_of_megabytes_is_refused_at_once() -> None:
    assert "has more than 1,048,576 bytes" in refusal(b"x" * (1 << 20 | 1)).fault
