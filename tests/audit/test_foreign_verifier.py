"""Our receipts under code that is not ours: the verifier of sigstore-python, which reads the same formats.

Its parts for signed notes and for RFC 6962 proofs are used as they are; only the line ``extra`` is taken apart here.
"""

from __future__ import annotations

import base64
import json
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519

from ledger.audit.receipts import make_receipt
from ledger.journal.signing_keys import NoteKey
from ledger.ledger import Ledger
from tests.kit.checkpoints import KEY, RELEASED_GAME, give_key, released_club
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded

pytestmark = pytest.mark.outside  # sigstore

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    merkle = pytest.importorskip("sigstore._internal.merkle", reason="needs sigstore: pip install --group all")
    checkpoint = pytest.importorskip("sigstore._internal.rekor.checkpoint")
    from sigstore.errors import VerificationError


class Keyring:
    """The log's key, as sigstore asks for one."""

    def __init__(self, verifier: str) -> None:
        self._key = ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(verifier.split("+", 2)[2])[1:])

    def verify(self, *, key_id: bytes, signature: bytes, data: bytes) -> None:  # noqa: ARG002  # its names
        self._key.verify(signature, data)


def verify(receipt: str, key: NoteKey) -> dict[str, Any]:
    """The entry that a receipt proves to sigstore's code."""
    proof, _, note = receipt.partition("\n\n")
    first, extra, index, *hashes = proof.split("\n")
    assert first == "c2sp.org/tlog-proof@v1"
    signed = checkpoint.SignedCheckpoint.from_text(note)
    signed.signed_note.verify(Keyring(key.verifier), bytes.fromhex(key.verifier.split("+", 2)[1]))
    assert signed.checkpoint.origin == key.name
    entry: str = json.loads(base64.b64decode(extra.removeprefix("extra ")))["entry"]
    inclusion = SimpleNamespace(
        log_index=int(index.removeprefix("index ")),
        tree_size=signed.checkpoint.log_size,
        hashes=[base64.b64decode(line) for line in hashes],
        root_hash=bytes.fromhex(signed.checkpoint.log_hash),
    )
    entry_of_log = SimpleNamespace(inclusion_proof=inclusion, canonicalized_body=entry.encode())
    merkle.verify_merkle_inclusion(SimpleNamespace(_inner=entry_of_log))
    facts: dict[str, Any] = json.loads(entry)
    return facts


def test_it_verifies_the_receipt_of_a_released_ledger(tmp_path: Path) -> None:
    with Ledger.open(released_club(tmp_path)) as ledger:
        ledger.checkpoints.make()
        receipt = make_receipt(ledger, RELEASED_GAME, name_of="bob")
    assert verify(receipt, KEY)["key"] == f"game:{RELEASED_GAME}"


def test_it_verifies_receipts_at_every_place_of_journals_of_many_sizes(club_of_two: ClubOfTwo) -> None:
    give_key(club_of_two.path)
    for number in range(300):
        club_of_two.ledger.append(game_recorded(f"x{number}"))
        if number < 20 or number > 245:
            club_of_two.ledger.checkpoints.make()
            for game in {0, number // 2, number}:
                assert verify(make_receipt(club_of_two.ledger, f"x{game}"), KEY)["position"] == 5 + game


def test_it_refuses_what_was_changed(tmp_path: Path) -> None:
    """That it verifies at all."""
    with Ledger.open(released_club(tmp_path)) as ledger:
        ledger.checkpoints.make()
        receipt = make_receipt(ledger, RELEASED_GAME)
    with pytest.raises(VerificationError):
        verify(receipt.replace("index 17", "index 16"), KEY)
    with pytest.raises(InvalidSignature):
        verify(receipt.replace("\n167\n", "\n168\n"), KEY)
    with pytest.raises(VerificationError, match="Signature not found"):
        verify(receipt, NoteKey(KEY.name, bytes(32)))
