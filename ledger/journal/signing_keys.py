"""The key that signs checkpoints: making it, storing and reading its file, and signing notes.

Formats: C2SP signed-note, v1.0.0 (https://c2sp.org/signed-note, "Format" and "Ed25519 signatures"), and for the
key's own file and the verifier key the lines of Go's ``golang.org/x/mod/sumdb/note``, which other people's tools
read::

    PRIVATE+KEY+NAME+ID+base64(0x01 ‖ 32 bytes of seed)       the file, readable by its owner alone
    NAME+ID+base64(0x01 ‖ 32 bytes of public key)             the verifier key

ID is the first four bytes of SHA-256(NAME ‖ 0x0A ‖ 0x01 ‖ public key), in hexadecimal. The library ``cryptography``
does the cryptography; ``audit`` verifies signatures.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
from hashlib import sha256
from pathlib import Path

import attrs

from ledger.errors import MalformedError, StorageError
from ledger.runtime.lazy import ed25519
from ledger.runtime.sqlite import sync_folder

ED25519 = b"\x01"  # signature type of C2SP signed-note
SEED_BYTES = 32
LONGEST_NAME = 128  # characters
_NAME = re.compile(rf"[!-*,-~]{{1,{LONGEST_NAME}}}", re.ASCII)  # visible ASCII but "+"
_PRIVATE = re.compile(r"PRIVATE\+KEY\+([!-*,-~]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)\n?", re.ASCII)
NEW_KEY = "make one with 'rating-ledger checkpoint-key DB --new NAME'"


@attrs.frozen
class NoteKey:
    """An Ed25519 key that signs notes under a name.

    Attributes:
        name: the log's name, such as ``ratings.example.org/club``; 1 to 128 visible ASCII characters without "+".
        seed: the private key of RFC 8032, 32 bytes.
    """

    name: str
    seed: bytes = attrs.field(repr=False)

    @property
    def public(self) -> bytes:
        """The public key, in 32 bytes."""
        return ed25519.Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()

    @property
    def key_id(self) -> bytes:
        """The key's identifier in its signatures, in 4 bytes."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    @property
    def verifier(self) -> str:
        """The public verifier key, one line."""
        return f"{self.name}+{self.key_id.hex()}+{_base64(ED25519 + self.public)}"

    def sign(self, text: str) -> str:
        """Return the signed note of *text*, which ends in a line feed: text, empty line, signature line."""
        signature = ed25519.Ed25519PrivateKey.from_private_bytes(self.seed).sign(text.encode())
        return f"{text}\n— {self.name} {_base64(self.key_id + signature)}\n"


def make_key(path: Path, name: str) -> NoteKey:
    """Make a key, in a new file that its owner alone may read.

    Raises:
        MalformedError: a note cannot have that name.
        StorageError: the file exists, or cannot be made.
    """
    if _NAME.fullmatch(name) is None:
        raise MalformedError(
            [
                f"key name {name!r}: give 1 to {LONGEST_NAME} visible ASCII characters without blanks and '+', "
                "best a unique name, such as ratings.example.org/club"
            ]
        )
    key = NoteKey(name, secrets.token_bytes(SEED_BYTES))
    line = f"PRIVATE+KEY+{name}+{key.key_id.hex()}+{_base64(ED25519 + key.seed)}\n"
    try:
        # for its owner alone from its first byte on: a mode that is set later comes too late
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(line.encode())
            opened.flush()
            os.fsync(file)
        sync_folder(path.absolute().parent)
    except FileExistsError:
        message = "is a key already, which verifies earlier checkpoints: move it elsewhere first, or name another file"
        raise StorageError(str(path), message) from None
    except OSError as error:
        raise StorageError(str(path), f"cannot be made: {error.strerror or error}") from error
    return key


def read_key(path: Path) -> NoteKey:
    """Read a key from its file.

    Raises:
        StorageError: it is missing, may be read by others, or is no such key.
    """
    try:
        with path.open("rb") as file:
            # of the file that is read, not of another one at the path a moment later
            mode = os.fstat(file.fileno()).st_mode
            # no key is longer, and a file that was named by mistake may be of any size
            content = file.read(1024)
    except FileNotFoundError:
        raise StorageError(str(path), f"there is no key to sign with: {NEW_KEY}, or say where it is by --key") from None
    except OSError as error:
        raise StorageError(str(path), f"the key cannot be read: {error.strerror or error}") from error
    if os.name == "posix" and mode & 0o077:
        raise StorageError(
            str(path),
            f"the key may be read by others (mode {mode & 0o777:04o}): 'chmod 600' it; if it may have been copied, "
            "move it elsewhere and make a new one",
        )
    match = _PRIVATE.fullmatch(content.decode("ascii", "replace"))
    try:
        secret = base64.b64decode(match[3], validate=True) if match else b""
    except binascii.Error:
        secret = b""
    if match is None or len(secret) != 1 + SEED_BYTES or secret[:1] != ED25519:
        raise StorageError(str(path), f"is no key of this kind, PRIVATE+KEY+NAME+ID+SECRET on one line: {NEW_KEY}")
    key = NoteKey(match[1], secret[1:])
    # The id is a checksum of name and key: with one letter changed they would sign notes that no verifier takes.
    if key.key_id.hex() != match[2]:
        raise StorageError(str(path), f"is damaged: its key has the id {key.key_id.hex()}, not {match[2]}; restore it")
    return key


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
