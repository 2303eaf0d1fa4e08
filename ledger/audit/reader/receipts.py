"""The reader of a verifier with the log's public key alone: signed notes, checkpoints in them, receipts.

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

from ledger.audit.reader.people import RENAMED, SALT_BYTES, commitment_of
from ledger.audit.reader.tree import leaves_of, verify_consistency, verify_inclusion
from ledger.facts.words import TreeHead
from ledger.runtime.lazy import cryptography_exceptions, ed25519

TYPE_ED25519 = 1
MOST_SIGNATURES = 64
DASH = "—"
_SIZE = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


class NotAProofError(ValueError):
    """The file that was read proves nothing.

    Attributes:
        line: where, from 1.
        fault: what is wrong there.
    """

    def __init__(self, line: int, fault: str) -> None:
        self.line = line
        self.fault = fault
        super().__init__(f"line {line}: {fault}")


@attrs.frozen
class VerifierKey:
    """A public key that signs notes under a name.

    Attributes:
        name: whose key it is.
        key_id: the first 4 bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key).
        public: Ed25519, 32 bytes.
    """

    name: str
    key_id: bytes
    public: bytes

    @classmethod
    def parse(cls, line: str) -> VerifierKey:
        """Read ``NAME+ID+base64(0x01 ‖ public key)``.

        Raises:
            ValueError: it is none.
        """
        expected = "expected NAME+ID+KEY, one line as 'checkpoint-key' prints it"
        parts = line.strip().split("+", 2)
        if len(parts) != 3 or not is_name(parts[0]) or not re.fullmatch("[0-9a-f]{8}", parts[1]):
            raise ValueError(f"{expected}, got {line.strip()!r}")
        try:
            key = decoded(parts[2])
        except ValueError as error:
            raise ValueError(f"{expected}; KEY: {error}") from None
        if len(key) != 33 or key[0] != TYPE_ED25519:
            raise ValueError(f"{expected}; KEY is no Ed25519 key of 33 bytes that begin with 1")
        key_id = sha256(parts[0].encode() + b"\n" + key).digest()[:4]
        if key_id.hex() != parts[1]:
            raise ValueError(f"{expected}; KEY has the id {key_id.hex()} under this name, not {parts[1]}")
        return cls(parts[0], key_id, key[1:])

    def signed(self, signature: bytes, text: bytes) -> bool:
        """Return whether the key signed the text so (RFC 8032)."""
        try:
            ed25519.Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text)
        except (cryptography_exceptions.InvalidSignature, ValueError):  # ValueError: no point of the curve
            return False
        return True


@attrs.frozen
class SignedHead:
    """A checkpoint whose signatures were verified.

    Attributes:
        origin: the log's name.
        head: size and root.
        signers: whose keys signed it.
    """

    origin: str
    head: TreeHead
    signers: tuple[str, ...]


def is_name(text: str) -> bool:
    """Return whether a key can have this name: not empty, no blanks, no plus, nothing unprintable."""
    return bool(text) and text.isprintable() and "+" not in text and not any(map(str.isspace, text))


def decoded(text: str) -> bytes:
    """Return the bytes of canonical base64 (RFC 4648, section 4, with padding).

    Raises:
        ValueError: it is none, or the same bytes are written otherwise.
    """
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        content = None
    if content is None or base64.b64encode(content).decode() != text:
        raise ValueError(f"{_short(text)} is not as base64 is written")
    return content


def decoded_hash(text: str) -> bytes:
    """Return a SHA-256 hash in base64.

    Raises:
        ValueError: it is none.
    """
    content = decoded(text)
    if len(content) != 32:
        raise ValueError(f"{_short(text)} is no hash of 32 bytes, but {len(content)}")
    return content


def whole_number(text: str) -> int:
    """Return a decimal number without sign and leading zeros.

    Raises:
        ValueError: it is none.
    """
    if _SIZE.fullmatch(text) is None:
        raise ValueError(f"{_short(text)} is no number such as 917")
    return int(text)


def lines_of(content: bytes) -> list[str]:
    """Return the lines of a text of UTF-8 that ends in a line feed and has no other control characters.

    Raises:
        NotAProofError: it has.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise NotAProofError(content.count(b"\n", 0, error.start) + 1, "is not UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        if any(
            ord(letter) < 0x20 for letter in line
        ):  # ``splitlines`` would part at some of them, and others would not
            raise NotAProofError(number, "holds a control character")
    if not text.endswith("\n"):
        raise NotAProofError(text.count("\n") + 1, "does not end: the file was cut off")
    return text.split("\n")[:-1]


def verified_checkpoint(lines: Sequence[str], first: int, keys: Sequence[VerifierKey]) -> SignedHead:
    """Return the checkpoint in *lines*, signed by the key of the log's name and only by given keys.

    C2SP signed-note lets a verifier ignore signatures of unknown keys. Here they are refused: an unverified
    signature shall not be next to a verified one.

    Args:
        lines: of the note.
        first: the number of the first of them in the file.
        keys: those that are trusted.

    Raises:
        NotAProofError: it is no such checkpoint.
    """
    head = _head(lines, first)
    # signed is the text with its last line end, without the empty line behind it (C2SP signed-note)
    text = "".join(f"{line}\n" for line in lines[:3]).encode()
    if len(lines) < 5:
        raise NotAProofError(first + len(lines), "nobody signed it: the file was cut off")
    signers = tuple(_signers(lines[4:], first + 4, text, keys))
    if lines[0] not in signers:
        raise NotAProofError(first, f"{lines[0]!r} is signed by {', '.join(signers)}, but not by the key of its name")
    return SignedHead(lines[0], head, signers)


def _head(lines: Sequence[str], first: int) -> TreeHead:
    for place, line in enumerate((*lines[:3], *[""] * (3 - len(lines)))):
        if not line:
            raise NotAProofError(first + place, "a checkpoint is expected here: the log's name, its size, its root")
    if lines[3:4] not in ([], [""]):
        raise NotAProofError(first + 3, "an empty line is expected after name, size and root of a checkpoint")
    place = 1
    try:
        size = whole_number(lines[1])
        place = 2
        return TreeHead(size, decoded_hash(lines[2]))
    except ValueError as error:
        raise NotAProofError(first + place, str(error)) from None


def _signers(lines: Sequence[str], first: int, text: bytes, keys: Sequence[VerifierKey]) -> Iterator[str]:
    # by both: the id is four bytes, and that of another name may be the same
    trusted = {(key.name, key.key_id): key for key in keys}
    seen: set[tuple[str, bytes]] = set()
    # One line more than may be: at that one too many are refused, and no others are looked at.
    for number, line in enumerate(lines[: MOST_SIGNATURES + 1], first):
        parts = line.split(" ")
        if len(parts) != 3 or parts[0] != DASH or not is_name(parts[1]):
            raise NotAProofError(number, "is no signature, which would be an em dash, a name and a signature")
        try:
            signature = decoded(parts[2])
        except ValueError as error:
            raise NotAProofError(number, str(error)) from None
        # what is written is the id of the key in four bytes and the signature behind it (C2SP signed-note)
        mark = parts[1], signature[:4]
        if mark in seen or number - first == MOST_SIGNATURES:
            raise NotAProofError(number, "the same key signed already" if mark in seen else "too many signatures")
        if mark not in trusted:
            message = f"{parts[1]!r} signed by a key ({mark[1].hex()}) that was not given"
            raise NotAProofError(number, message)
        if not trusted[mark].signed(signature[4:], text):
            raise NotAProofError(number, f"{parts[1]!r} did not sign this: it was changed, or is of another log")
        seen.add(mark)
        yield parts[1]


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:50]}...")


_OLD = "old "


def verify_checkpoint(content: bytes, keys: Sequence[VerifierKey], since: TreeHead | None = None) -> SignedHead:
    """Return the checkpoint in a file, signed by the log and only by given keys.

    Args:
        content: the file.
        keys: the log's, and those of others who signed it, if any did.
        since: an earlier head, of which the checkpoint must be shown to be a continuation.

    Raises:
        NotAProofError: naming the line: nothing is proven.
    """
    lines = lines_of(content)
    has_proof = lines[0].startswith(_OLD)
    if has_proof:
        first = lines.index("") + 1 if "" in lines else 0
    else:  # the text of the last checkpoint is between the last empty line but one and the last one
        empty = [place for place, line in enumerate(lines) if not line]
        first = empty[-2] + 1 if len(empty) > 1 else 0
    signed = verified_checkpoint(lines[first:], first + 1, keys)
    if since is None:
        if has_proof:
            raise NotAProofError(1, "it is to be compared with an earlier head: give that, too")
        return signed
    older, proof = _proof(lines[: first - 1]) if has_proof else (since.size, [])
    if older != since.size:
        raise NotAProofError(1, f"it shows the growth from {older} entries, not from {since.size}")
    if not verify_consistency(since, signed.head, proof):
        missing = "" if has_proof or since.size == signed.head.size else ", for there is no proof in it"
        message = f"the {signed.head.size} entries are not shown to go on from the {since.size} of the earlier head"
        raise NotAProofError(1, f"{message}{missing}")
    return signed


def _proof(lines: Sequence[str]) -> tuple[int, list[bytes]]:
    try:
        older = whole_number(lines[0].removeprefix(_OLD))
    except ValueError as error:
        raise NotAProofError(1, str(error)) from None
    hashes = []
    for number, line in enumerate(lines[1:], 2):
        try:
            hashes.append(decoded_hash(line))
        except ValueError as error:
            raise NotAProofError(number, str(error)) from None
    return older, hashes


# --- receipts -----------------------------------------------------------------------------------------------


FIRST_LINE = "c2sp.org/tlog-proof@v1"
LONGEST = 1 << 20  # bytes
GAME = "game-recorded/1"
NAMING = ("player-registered/1", RENAMED)
_EXTRA_LINE = 2


@attrs.frozen
class ProvenReceipt:
    """The facts that a receipt proves.

    Attributes:
        signed: the checkpoint, with the log's name and those who signed it.
        position: the entry, from 1.
        entry: the entry as it was recorded: its time, who recorded it, the facts of the game.
        player: the player whom the receipt names; None if it names none.
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
    """Return the facts that the receipt proves under the keys.

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
        position = whole_number(index) + 1  # the format counts leaves from 0, the journal its entries from 1
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
    """Return the object in the line ``extra``, which could be written in no other way."""
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
    """Return an entry in the tree, of one of the kinds."""
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
    """Return the number, identity and name, as an entry in the tree committed to them."""
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
