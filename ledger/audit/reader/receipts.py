"""The verifier of signed notes, checkpoints and receipts, for users with only the log's public key.

Notes are C2SP signed-note v1.0.0 ("Format", "Signatures", "Ed25519 signatures"), the checkpoints in them C2SP
tlog-checkpoint ("Note text"), both as of 2026; verifier keys are as Go's ``golang.org/x/mod/sumdb/note`` writes
them. If a note may be written in several ways, one of them is accepted: canonical base64, no line twice, no
meaningless line. The library ``cryptography`` verifies the signatures.

A file of checkpoints is a C2SP tlog-checkpoint, several of them one after another, of which the last counts, or the
request ``add-checkpoint`` of C2SP tlog-witness (as of 2026): a line ``old SIZE``, the hashes of RFC 6962, 2.1.2, an
empty line and a checkpoint. They show who signed a head, and that its tree grew out of that of an earlier one.

A receipt is a C2SP tlog-proof (https://c2sp.org/tlog-proof, "Format", as of 2026): the index of an entry, the hashes
from its leaf to the root (RFC 6962, 2.1.1), and the checkpoint. The recorded facts are in the line ``extra``, which
the format leaves to us and does not authenticate, as canonical JSON (RFC 8785). All of it is bound to the tree here:
the entry by its hash; a name by its salted commitment in another entry, which has a path of its own. So no byte can
be another one.

This shares no code with who writes notes and receipts.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import attrs

from ledger.audit.reader.people import RENAMED, SALT_BYTES, name_commitment
from ledger.audit.reader.tree import leaf_hashes, verify_consistency, verify_inclusion
from ledger.facts.words import TreeHead
from ledger.runtime.lazy import cryptography_exceptions, ed25519

TYPE_ED25519 = 1
MOST_SIGNATURES = 64
DASH = "—"
_SIZE = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


class NotAProofError(ValueError):
    """A file that proves nothing, with the line of the fault (from 1) and the fault."""

    def __init__(self, line: int, fault: str) -> None:
        self.line = line
        self.fault = fault
        super().__init__(f"line {line}: {fault}")


@attrs.frozen
class VerifierKey:
    """A public key with the name under which it signs notes.

    Attributes:
        name: of the log, or of a witness.
        key_id: the first 4 bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key).
        public: Ed25519, 32 bytes.
    """

    name: str
    key_id: bytes
    public: bytes

    @classmethod
    def parse(cls, line: str) -> VerifierKey:
        """Return the key in a line ``NAME+ID+base64(0x01 ‖ public key)``; ValueError if there is none."""
        expected = "expected NAME+ID+KEY, one line as 'checkpoint-key' prints it"
        parts = line.strip().split("+", 2)
        if len(parts) != 3 or not is_key_name(parts[0]) or not re.fullmatch("[0-9a-f]{8}", parts[1]):
            raise ValueError(f"{expected}, got {line.strip()!r}")
        try:
            key = decode_base64(parts[2])
        except ValueError as error:
            raise ValueError(f"{expected}; KEY: {error}") from None
        if len(key) != 33 or key[0] != TYPE_ED25519:
            raise ValueError(f"{expected}; KEY is no Ed25519 key of 33 bytes that begin with 1")
        key_id = sha256(parts[0].encode() + b"\n" + key).digest()[:4]
        if key_id.hex() != parts[1]:
            raise ValueError(f"{expected}; KEY has the id {key_id.hex()} under this name, not {parts[1]}")
        return cls(parts[0], key_id, key[1:])

    def has_signed(self, text: bytes, signature: bytes) -> bool:
        """Return whether this key made the signature of the text (RFC 8032)."""
        try:
            ed25519.Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text)
        except (cryptography_exceptions.InvalidSignature, ValueError):  # ValueError: no point of the curve
            return False
        return True


@attrs.frozen
class SignedCheckpoint:
    """A checkpoint whose signatures were verified; *origin* is the log's name, *signers* are the keys' names."""

    origin: str
    head: TreeHead
    signers: tuple[str, ...]


def is_key_name(text: str) -> bool:
    """Return whether a text can be the name of a key: not empty, no blanks, no plus, nothing unprintable."""
    return bool(text) and text.isprintable() and "+" not in text and not any(map(str.isspace, text))


def decode_base64(text: str) -> bytes:
    """Return the bytes of canonical base64 (RFC 4648, section 4, with padding); ValueError if it is not canonical."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        content = None
    if content is None or base64.b64encode(content).decode() != text:
        raise ValueError(f"{_short(text)} is not as base64 is written")
    return content


def decode_hash(text: str) -> bytes:
    """Return the 32 bytes of a SHA-256 hash in base64; ValueError if it is none."""
    content = decode_base64(text)
    if len(content) != 32:
        raise ValueError(f"{_short(text)} is no hash of 32 bytes, but {len(content)}")
    return content


def parse_number(text: str) -> int:
    """Return the value of a decimal number without sign and leading zeros; ValueError for any other text."""
    if _SIZE.fullmatch(text) is None:
        raise ValueError(f"{_short(text)} is no number such as 917")
    return int(text)


def text_lines(content: bytes) -> list[str]:
    """Return the lines of UTF-8 text; NotAProofError if it has control characters or does not end in a line feed."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise NotAProofError(content.count(b"\n", 0, error.start) + 1, "is not UTF-8") from None
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        # ``splitlines`` would part at some of them, and others would not
        if any(ord(letter) < 0x20 for letter in line):
            raise NotAProofError(number, "holds a control character")
    if not text.endswith("\n"):
        raise NotAProofError(len(lines), "does not end: the file was cut off")
    return lines[:-1]


def verify_note(lines: Sequence[str], first: int, keys: Sequence[VerifierKey]) -> SignedCheckpoint:
    """Return the checkpoint in the lines of a signed note, after verifying every signature against the trusted keys.

    C2SP signed-note lets a verifier ignore signatures of unknown keys. Here they are refused: an unverified
    signature shall not be next to a verified one. *first* is the number of the first line in its file.

    Raises:
        NotAProofError: a signature is false, or that of the log is missing.
    """
    head = _head(lines, first)
    # signed is the text with its last line end, without the empty line behind it (C2SP signed-note)
    text = "".join(f"{line}\n" for line in lines[:3]).encode()
    if len(lines) < 5:
        raise NotAProofError(first + len(lines), "nobody signed it: the file was cut off")
    signers = tuple(_signers(lines[4:], first + 4, text, keys))
    if lines[0] not in signers:
        raise NotAProofError(first, f"{lines[0]!r} is signed by {', '.join(signers)}, but not by the key of its name")
    return SignedCheckpoint(lines[0], head, signers)


def _head(lines: Sequence[str], first: int) -> TreeHead:
    for place, line in enumerate((*lines[:3], *[""] * (3 - len(lines)))):
        if not line:
            raise NotAProofError(first + place, "a checkpoint is expected here: the log's name, its size, its root")
    if lines[3:4] not in ([], [""]):
        raise NotAProofError(first + 3, "an empty line is expected after name, size and root of a checkpoint")
    place = 1
    try:
        size = parse_number(lines[1])
        place = 2
        return TreeHead(size, decode_hash(lines[2]))
    except ValueError as error:
        raise NotAProofError(first + place, str(error)) from None


def _signers(lines: Sequence[str], first: int, text: bytes, keys: Sequence[VerifierKey]) -> Iterator[str]:
    # by both: the id is four bytes, and that of another name may be the same
    trusted = {(key.name, key.key_id): key for key in keys}
    seen: set[tuple[str, bytes]] = set()
    # One line more than may be: at that one too many are refused, and no others are looked at.
    for number, line in enumerate(lines[: MOST_SIGNATURES + 1], first):
        parts = line.split(" ")
        if len(parts) != 3 or parts[0] != DASH or not is_key_name(parts[1]):
            raise NotAProofError(number, "is no signature, which would be an em dash, a name and a signature")
        try:
            signature = decode_base64(parts[2])
        except ValueError as error:
            raise NotAProofError(number, str(error)) from None
        # what is written is the id of the key in four bytes and the signature behind it (C2SP signed-note)
        mark = parts[1], signature[:4]
        if mark in seen or number - first == MOST_SIGNATURES:
            raise NotAProofError(number, "the same key signed already" if mark in seen else "too many signatures")
        if mark not in trusted:
            message = f"{parts[1]!r} signed by a key ({mark[1].hex()}) that was not given"
            raise NotAProofError(number, message)
        if not trusted[mark].has_signed(text, signature[4:]):
            raise NotAProofError(number, f"{parts[1]!r} did not sign this: it was changed, or is of another log")
        seen.add(mark)
        yield parts[1]


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:50]}...")


_OLD = "old "


def verify_checkpoint(content: bytes, keys: Sequence[VerifierKey], since: TreeHead | None = None) -> SignedCheckpoint:
    """Return the checkpoint in a file, its signatures and, with *since*, its growth from an earlier head verified.

    *keys* are the log's and those of all others who signed it.

    Raises:
        NotAProofError: the file proves nothing.
    """
    lines = text_lines(content)
    has_proof = lines[0].startswith(_OLD)
    if has_proof:
        first = lines.index("") + 1 if "" in lines else 0
    else:  # the text of the last checkpoint is between the last empty line but one and the last one
        empty = [place for place, line in enumerate(lines) if not line]
        first = empty[-2] + 1 if len(empty) > 1 else 0
    signed = verify_note(lines[first:], first + 1, keys)
    if since is None:
        if has_proof:
            raise NotAProofError(1, "it is to be compared with an earlier head: give that, too")
        return signed
    older, proof = since.size, list[bytes]()
    if has_proof:
        try:
            older = parse_number(lines[0].removeprefix(_OLD))
        except ValueError as error:
            raise NotAProofError(1, str(error)) from None
        proof = _hashes(lines[1 : first - 1], 2)
    if older != since.size:
        raise NotAProofError(1, f"it shows the growth from {older} entries, not from {since.size}")
    if not verify_consistency(since, signed.head, proof):
        missing = "" if has_proof or since.size == signed.head.size else ", for there is no proof in it"
        message = f"the {signed.head.size} entries are not shown to go on from the {since.size} of the earlier head"
        raise NotAProofError(1, f"{message}{missing}")
    return signed


def _hashes(lines: Sequence[str], first: int) -> list[bytes]:
    """Return the hash in each line, of which *first* is the number of the first one."""
    hashes = []
    for number, line in enumerate(lines, first):
        try:
            hashes.append(decode_hash(line))
        except ValueError as error:
            raise NotAProofError(number, str(error)) from None
    return hashes


# --- receipts -----------------------------------------------------------------------------------------------


FIRST_LINE = "c2sp.org/tlog-proof@v1"
LONGEST = 1 << 20  # bytes
GAME = "game-recorded/1"
NAMING = ("player-registered/1", RENAMED)
_EXTRA_LINE = 2


@attrs.frozen
class ProvenReceipt:
    """The facts that a receipt proves under a signed checkpoint: a game, and perhaps the name of a player."""

    signed: SignedCheckpoint
    position: int
    entry: Mapping[str, Any]
    player: int | None = None
    identity: str | None = None
    name: str | None = None


def verify_receipt(content: bytes, keys: Sequence[VerifierKey]) -> ProvenReceipt:
    """Return the facts that a receipt proves, after verifying its signatures and hashes.

    *keys* are the log's and those of all others who signed the checkpoint.

    Raises:
        NotAProofError: the receipt proves nothing.
    """
    if len(content) > LONGEST:
        raise NotAProofError(1, f"the file has more than {LONGEST:,} bytes: it is no receipt")
    lines = text_lines(content)
    if lines[0] != FIRST_LINE:
        raise NotAProofError(1, f"a receipt begins with {FIRST_LINE!r}")
    extra = _value(lines, _EXTRA_LINE, "extra")
    index = _value(lines, 3, "index")
    try:
        empty = lines.index("")
    except ValueError:
        raise NotAProofError(len(lines), "an empty line and a checkpoint are missing: the file was cut off") from None
    try:
        position = parse_number(index) + 1  # the format counts leaves from 0, the journal its entries from 1
    except ValueError as error:
        raise NotAProofError(3, str(error)) from None
    path = _hashes(lines[3:empty], 4)
    signed = verify_note(lines[empty + 1 :], empty + 2, keys)
    return _proven(extra, position, path, signed)


def _value(lines: Sequence[str], number: int, word: str) -> str:
    line = lines[number - 1] if len(lines) >= number else ""
    if not line.startswith(f"{word} "):
        raise NotAProofError(number, f"a line '{word} ...' is expected here")
    return line.removeprefix(f"{word} ")


def _proven(extra: str, position: int, path: Sequence[bytes], signed: SignedCheckpoint) -> ProvenReceipt:
    try:
        content = _with_fields(canonical_json(decode_base64(extra)), {"entry"}, {"name"})
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


def canonical_json(content: bytes) -> Any:
    """Return the value of JSON that could be written in no other way; ValueError if there is none."""
    try:
        value = json.loads(content)
        again = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    except (ValueError, RecursionError):
        raise ValueError("it holds no JSON") from None
    if again != content:
        raise ValueError("its JSON is not canonical: it was changed")
    return value


def _with_fields(value: Any, needed: set[str], possible: frozenset[str] | set[str] = frozenset()) -> dict[str, Any]:
    if not isinstance(value, dict) or not needed <= set(value) <= needed | possible:
        raise ValueError(f"an object with {', '.join(sorted(needed))} is expected in it")
    return value


def _entry(body: Any, position: int, path: Sequence[bytes], head: TreeHead, kinds: Sequence[str]) -> Mapping[str, Any]:
    """Return an entry in the tree, of one of the kinds."""
    if not isinstance(body, str):
        raise ValueError("an entry in it is no text")  # noqa: TRY004  # it is the value that is wrong
    try:
        leaf = leaf_hashes([body.encode()])[0]
    except UnicodeEncodeError:
        raise ValueError("an entry in it is no UTF-8") from None
    if not verify_inclusion(leaf, position, head, path):
        raise ValueError(f"this is not entry {position} of the journal of {head.size} entries that was signed")
    entry: dict[str, Any] = json.loads(body)
    if entry["kind"] not in kinds or entry["position"] != position:
        raise ValueError(f"entry {position} is of kind {entry['kind']!r}, expected {' or '.join(kinds)}")
    return entry


def _name(value: Any, head: TreeHead) -> tuple[int, str, str]:
    """Return the number, identity and name, as an entry in the tree committed to them."""
    parts = _with_fields(value, {"entry", "identity", "index", "name", "proof", "salt"})
    index, salt, proof = parts["index"], parts["salt"], parts["proof"]
    identity, name = parts["identity"], parts["name"]
    texts = all(isinstance(text, str) for text in (identity, name, salt))
    if not texts or type(index) is not int or not isinstance(proof, list):
        raise ValueError("the name in it is not written as in a receipt")
    if not all(isinstance(sibling, str) for sibling in proof):
        raise ValueError("a hash of the name's proof in it is no text")
    path = [decode_hash(sibling) for sibling in proof]
    facts = _entry(parts["entry"], index + 1, path, head, NAMING)["facts"]
    secret = bytes.fromhex(salt)
    if secret.hex() != salt or len(secret) != SALT_BYTES:  # ``fromhex`` takes capitals and blanks, too
        raise ValueError(f"the salt in it is not {SALT_BYTES} bytes in lower-case hexadecimal")
    if name_commitment(identity, name, secret) != facts["commitment"]:
        raise ValueError(f"the name {name!r} is not the one that entry {index + 1} sealed")
    return facts["player"], identity, name
