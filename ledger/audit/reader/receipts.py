"""A receipt as whoever holds it verifies it, with the log's public key and nothing else: no journal, no database.

It is a C2SP tlog-proof (https://c2sp.org/tlog-proof, "Format", as of 2026): the index of an entry, the hashes from its
leaf to the root (RFC 6962, 2.1.1), and the checkpoint. What was recorded stands in the line ``extra``, which the format
leaves to us and does not authenticate, as canonical JSON (RFC 8785). All of it is bound to the tree here: the entry by
its hash; a name by its salted commitment in another entry, which has a path of its own. So no byte can be another one.

This shares no code with who writes receipts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ledger.audit.reader.notes import (
    NotAProofError,
    SignedHead,
    VerifierKey,
    decoded,
    decoded_hash,
    lines_of,
    verified_checkpoint,
    whole_number,
)
from ledger.audit.reader.people import RENAMED, SALT_BYTES, commitment_of
from ledger.audit.reader.tree import leaves_of, verify_inclusion
from ledger.facts.words import TreeHead

FIRST_LINE = "c2sp.org/tlog-proof@v1"
LONGEST = 1 << 20  # bytes
GAME = "game-recorded/1"
NAMING = ("player-registered/1", RENAMED)
_EXTRA_LINE = 2


@attrs.frozen
class ProvenReceipt:
    """What a receipt proves.

    Attributes:
        signed: the checkpoint, with the log's name and those who signed it.
        position: the entry, from 1.
        entry: the entry as it was recorded: its time, who recorded it, the facts of the game.
        player: whose name the receipt tells; None where it tells none.
        identity: of that player.
        name: of that player.
    """

    signed: SignedHead
    position: int
    entry: Mapping[str, Any]
    player: int | None = None
    identity: str | None = None
    name: str | None = None


def verify_receipt(content: bytes, keys: Sequence[VerifierKey]) -> ProvenReceipt:
    """What the receipt proves under the keys.

    Args:
        content: the file.
        keys: the log's, and those of others who signed the checkpoint, if any did.

    Raises:
        NotAProofError: naming the line: nothing is proven.
    """
    if len(content) > LONGEST:
        raise NotAProofError(1, f"the file has more than {LONGEST:,} bytes: it is no receipt")
    lines = lines_of(content)
    if lines[0] != FIRST_LINE:
        raise NotAProofError(1, f"a receipt begins with {FIRST_LINE!r}")
    extra = _value(lines, _EXTRA_LINE, "extra")
    index = _value(lines, 3, "index")
    try:
        empty = lines.index("")
    except ValueError:
        raise NotAProofError(len(lines), "an empty line and a checkpoint are missing: the file was cut off") from None
    try:
        position = whole_number(index) + 1
    except ValueError as error:
        raise NotAProofError(3, str(error)) from None
    path = []
    for number, line in enumerate(lines[3:empty], 4):
        try:
            path.append(decoded_hash(line))
        except ValueError as error:
            raise NotAProofError(number, str(error)) from None
    signed = verified_checkpoint(lines[empty + 1 :], empty + 2, keys)
    return _proven(extra, position, path, signed)


def _value(lines: Sequence[str], number: int, word: str) -> str:
    line = lines[number - 1] if len(lines) >= number else ""
    if not line.startswith(f"{word} "):
        raise NotAProofError(number, f"a line '{word} ...' is expected here")
    return line.removeprefix(f"{word} ")


def _proven(extra: str, position: int, path: Sequence[bytes], signed: SignedHead) -> ProvenReceipt:
    try:
        content = _canonical(extra, {"entry"}, {"name"})
        entry = _entry(content["entry"], position, path, signed.head, (GAME,))
        if "name" not in content:
            return ProvenReceipt(signed, position, entry)
        facts, (player, identity, name) = entry["facts"], _name(content["name"], signed.head)
        if player not in {facts["white"], facts["black"]}:
            raise ValueError(f"the name is of player {player}, who did not play this game")  # noqa: TRY301
    except ValueError as error:
        raise NotAProofError(_EXTRA_LINE, str(error)) from None
    except (KeyError, TypeError, AttributeError, RecursionError):  # a log may sign what is no ledger's entry
        raise NotAProofError(_EXTRA_LINE, "what was recorded there is no entry of a ledger") from None
    return ProvenReceipt(signed, position, entry, player, identity, name)


def _canonical(extra: str, needed: set[str], possible: set[str]) -> dict[str, Any]:
    """The object in the line ``extra``, which could be written in no other way."""
    content = decoded(extra)
    try:
        value = json.loads(content)
        again = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    except (ValueError, RecursionError):
        raise ValueError("it holds no JSON") from None
    if again != content:
        raise ValueError("its JSON is not canonical: it was changed")
    return _with_fields(value, needed, possible)


def _with_fields(value: Any, needed: set[str], possible: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not needed <= set(value) <= needed | possible:
        raise ValueError(f"an object with {', '.join(sorted(needed))} is expected in it")
    return value


def _entry(body: Any, position: int, path: Sequence[bytes], head: TreeHead, kinds: Sequence[str]) -> Mapping[str, Any]:
    """An entry that stands in the tree, of one of the kinds."""
    if not isinstance(body, str):
        raise ValueError("an entry in it is no text")  # noqa: TRY004  # it is the value that is wrong
    try:
        leaf = leaves_of([body.encode()])[0]
    except UnicodeEncodeError:
        raise ValueError("an entry in it is no UTF-8") from None
    if not verify_inclusion(leaf, position, head, path):
        raise ValueError(f"this is not entry {position} of the journal of {head.size} entries that was signed")
    entry: dict[str, Any] = json.loads(body)
    if entry["kind"] not in kinds or entry["position"] != position:
        raise ValueError(f"entry {position} is of kind {entry['kind']!r}, expected {' or '.join(kinds)}")
    return entry


def _name(value: Any, head: TreeHead) -> tuple[int, str, str]:
    """Number, identity and name, as an entry in the tree committed to them."""
    fields = {"entry", "identity", "index", "name", "proof", "salt"}
    parts = _with_fields(value, fields, set())
    index, salt, proof = parts["index"], parts["salt"], parts["proof"]
    identity, name = parts["identity"], parts["name"]
    texts = isinstance(identity, str) and isinstance(name, str) and isinstance(salt, str)
    if not texts or type(index) is not int or not isinstance(proof, list):
        raise ValueError("the name in it is not told as a receipt tells it")
    if not all(isinstance(sibling, str) for sibling in proof):
        raise ValueError("a hash of the name's proof in it is no text")
    path = [decoded_hash(sibling) for sibling in proof]
    facts = _entry(parts["entry"], index + 1, path, head, NAMING)["facts"]
    secret = bytes.fromhex(salt)
    if secret.hex() != salt or len(secret) != SALT_BYTES:  # ``fromhex`` takes capitals and blanks, too
        raise ValueError(f"the salt in it is not {SALT_BYTES} bytes in lower-case hexadecimal")
    if commitment_of(identity, name, secret) != facts["commitment"]:
        raise ValueError(f"the name {name!r} is not the one that entry {index + 1} sealed")
    return facts["player"], identity, name
