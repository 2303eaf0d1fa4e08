"""Checkpoints of one ledger: made of its journal, kept in a file, and held against the journal when it is opened.

The checkpoints stand beside the journal (``club.checkpoints``) or where ``club.toml`` says, best on a medium that
whoever writes the journal cannot write; so does the key (``club.key``). The three parts below are the file, the key,
and both of them beside a journal.

A log must never sign a checkpoint that is inconsistent with one that it signed before (C2SP tlog-checkpoint,
"Signatures"): so nothing is signed, nor recorded, where the last one kept does not fit the journal.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
import warnings
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from io import FileIO
from pathlib import Path

import attrs

from ledger.errors import CheckpointWarning, CorruptError, MalformedError, StorageError
from ledger.facts.words import TreeHead
from ledger.journal import Journal, StoredJournal
from ledger.journal.merkle import consistency_path
from ledger.journal.settings_file import SettingsFile
from ledger.runtime import sqlite
from ledger.runtime.lazy import ed25519, filelock
from ledger.runtime.ledger_files import kept_with, replace_file
from ledger.runtime.sqlite import sync_folder

# The file that checkpoints are kept in: one signed note after another, the newest last, an empty line between two.
#
# A checkpoint is origin, size and root of the tree, signed: C2SP tlog-checkpoint (https://c2sp.org/tlog-checkpoint,
# "Note text") within C2SP signed-note, as both stood in 2026. The last one is read without verifying its signature:
# whoever can change the file can take its last checkpoint away as well.
#
# While one is added, a file beside it (``club.checkpoints.adding``) says how long the file was before: where that one
# still stands, what is behind was being written when the machine failed, and counts for nothing.

TAIL_BYTES = 65_536  # read to find the last checkpoint, which other people's signatures may make long
_NOTE = re.compile(
    r"(?:\A|\n)(?P<note>(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,17})\n(?P<root>[A-Za-z0-9+/]{43}=)\n"
    r"\n(?:— [^\s]+ [A-Za-z0-9+/]+={0,2}\n)+)\Z"
)


@attrs.frozen
class Checkpoint:
    """A tree head that somebody signed.

    Attributes:
        origin: the log's name.
        head: size and root.
        note: the whole signed note, as it is kept and given to others.
    """

    origin: str
    head: TreeHead
    note: str


def note_text(origin: str, head: TreeHead) -> str:
    """What is signed: three lines."""
    return f"{origin}\n{head.size}\n{base64.b64encode(head.root).decode()}\n"


def last_checkpoint(path: Path) -> Checkpoint | None:
    """The newest checkpoint of a file; None where there is no file.

    Raises:
        StorageError: it cannot be read, or does not end in a whole checkpoint.
    """
    # A link whose target is away, as on a medium that is not there, is no missing file: to open it then says so.
    if not os.path.lexists(path):
        return None
    try:
        with path.open("rb") as file:
            end = _whole_until(path, file.seek(0, os.SEEK_END))
            begin = file.seek(max(0, end - TAIL_BYTES))
            tail = file.read(end - begin)
    except OSError as error:
        raise StorageError(str(path), f"the checkpoints cannot be read: {error.strerror or error}") from error
    match = _NOTE.search(tail.decode("utf-8", "replace"))  # at its beginning a character may be cut
    if match is None or "\ufffd" in match["note"]:
        raise StorageError(
            str(path),
            "does not end in a whole checkpoint (three lines, an empty one, signatures): it was cut off or changed; "
            "bring it back from a copy or, where the machine failed while it was written, take the last lines away, "
            "down to the checkpoint before",
        )
    # 32 bytes leave two bits of the last character unused: another character there would be the same root.
    root = base64.b64decode(match["root"])
    if base64.b64encode(root).decode() != match["root"]:
        raise StorageError(str(path), f"its last root, {match['root']}, is not as base64 is written: it was changed")
    return Checkpoint(match["origin"], TreeHead(int(match["size"]), root), match["note"])


def add_checkpoint(path: Path, checkpoint: Checkpoint, *, is_first: bool) -> None:
    """Add a checkpoint at the end, durably: after a power cut the file is found with it or without it, never torn.

    What stands there is not read, however long it has become. Nobody else may add meanwhile.

    Args:
        path: of the file; a missing one is made.
        checkpoint: what is added.
        is_first: whether nothing stands there yet.

    Raises:
        StorageError: the file cannot be written.
    """
    try:
        if is_first:
            replace_file(path, checkpoint.note.encode())
            return
        with path.open("r+b", buffering=0) as file:  # a buffer would write again what failed, when it is closed
            end = _whole_until(path, file.seek(0, os.SEEK_END))
            _cut_off(file, end)
            # Before the first byte behind it, which could stand there otherwise and nobody know that it is not whole.
            replace_file(_adding(path), f"{end}\n".encode())
            try:
                rest = memoryview(b"\n" + checkpoint.note.encode())
                while rest:
                    rest = rest[file.write(rest) :]
                # On the disk before the file beside it goes: after a power cut half a checkpoint would count as whole.
                os.fsync(file.fileno())
            except OSError:
                _cut_off(file, end)  # where that fails too, what is behind counts for nothing: the file beside it stays
                _adding(path).unlink()
                raise
            _adding(path).unlink()
        # Else a power cut brings the file beside it back, and with it what was acknowledged counts for nothing.
        sqlite.sync_folder(_adding(path).parent)
    except OSError as error:
        raise StorageError(str(path), f"takes no checkpoint: {error.strerror or error}") from error


def _cut_off(file: FileIO, end: int) -> None:
    """Take away what is behind, durably, and go there."""
    if file.seek(0, os.SEEK_END) > end:
        file.truncate(end)
        os.fsync(file.fileno())
    file.seek(end)


def _adding(path: Path) -> Path:
    # Beside the file itself, through whichever link it is opened: every later reader must meet it.
    target = path.resolve()
    return target.with_name(f"{target.name}.adding")


def _whole_until(path: Path, size: int) -> int:
    """How many bytes of a file of so many hold whole checkpoints.

    Raises:
        StorageError: what is beside it is no such number.
    """
    try:
        word = _adding(path).read_bytes()
    except FileNotFoundError:
        return size
    if not re.fullmatch(rb"[0-9]{1,15}\n", word) or int(word) > size:
        raise StorageError(
            str(_adding(path)),
            f"should say how long {path.name} was before its last checkpoint, and does not: it was changed, or is of "
            "another file; take it away if the last checkpoint is whole",
        )
    return int(word)


# The key that signs checkpoints: made, kept in a file of its own, read again, and told to those who verify.
#
# Formats: C2SP signed-note, v1.0.0 (https://c2sp.org/signed-note, "Format" and "Ed25519 signatures"), and for the
# key's own file and the verifier key the lines of Go's ``golang.org/x/mod/sumdb/note``, which other people's tools
# read::
#
#     PRIVATE+KEY+NAME+ID+base64(0x01 ‖ 32 bytes of seed)       the file, readable by its owner alone
#     NAME+ID+base64(0x01 ‖ 32 bytes of public key)             what a verifier is given
#
# ID is the first four bytes of SHA-256(NAME ‖ 0x0A ‖ 0x01 ‖ public key), in hexadecimal. The library ``cryptography``
# does the cryptography; verifying is the business of ``audit``.

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
        """The public key, 32 bytes."""
        return ed25519.Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()

    @property
    def key_id(self) -> bytes:
        """What marks its signatures, 4 bytes."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    @property
    def verifier(self) -> str:
        """The line to give to those who verify."""
        return f"{self.name}+{self.key_id.hex()}+{_base64(ED25519 + self.public)}"

    def sign(self, text: str) -> str:
        """The signed note of *text*, which ends in a line feed: text, empty line, signature line."""
        signature = ed25519.Ed25519PrivateKey.from_private_bytes(self.seed).sign(text.encode())
        return f"{text}\n— {self.name} {_base64(self.key_id + signature)}\n"


def make_key(path: Path, name: str) -> NoteKey:
    """Make a key, in a new file that its owner alone may read.

    Raises:
        MalformedError: the name cannot stand in a note.
        StorageError: the file exists, or cannot be made.
    """
    if _NAME.fullmatch(name) is None:
        raise MalformedError(
            [
                f"key name {name!r}: give 1 to {LONGEST_NAME} visible ASCII characters without blanks and '+', "
                "best a name that nobody else uses, such as ratings.example.org/club"
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
        message = "is a key already, and what it signed is known by it: move it aside first, or name another file"
        raise StorageError(str(path), message) from None
    except OSError as error:
        raise StorageError(str(path), f"cannot be made: {error.strerror or error}") from error
    return key


def read_key(path: Path) -> NoteKey:
    """The key in a file.

    Raises:
        StorageError: it is missing, may be read by others, or is no such key.
    """
    try:
        with path.open("rb") as file:
            # of the file that is read, not of what stands at the path a moment later
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
            f"the key may be read by others (mode {mode & 0o777:04o}): 'chmod 600' it; where somebody may have taken "
            "it, move it aside and make a new one",
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
    """RFC 4648, section 4, with padding."""
    return base64.b64encode(content).decode()


WAIT_SECONDS = 60.0  # for another process that makes a checkpoint
_BEGIN_ANEW = (
    "bring the right file back; where that is lost for good, this is another log: move the checkpoints and the key "
    "aside, and make a new key under another name by 'rating-ledger checkpoint-key DB --new NAME'"
)


class CheckpointFiles:
    """Where the checkpoints of the ledger at a path and its key are, and the last checkpoint."""

    def __init__(self, path: str | Path) -> None:
        """Take the journal's file."""
        self._path = Path(path)

    @cached_property
    def settings(self) -> SettingsFile:
        """Where it is said that checkpoints or key are kept elsewhere."""
        return SettingsFile(self._path)

    @property
    def place(self) -> Path:
        """The file of the checkpoints, whether it exists or not."""
        return self.settings.place_of("checkpoints") or kept_with(self._path, "checkpoints")

    @property
    def key_file(self) -> Path:
        """The file of the key, whether it exists or not."""
        return self.settings.place_of("key") or kept_with(self._path, "key")

    def last(self) -> Checkpoint | None:
        """The newest checkpoint that is kept; None where there is none yet.

        Raises:
            StorageError: the file cannot be read, is damaged, or is missing where ``club.toml`` says that it is.
        """
        configured = self.settings.place_of("checkpoints")
        newest = last_checkpoint(configured or kept_with(self._path, "checkpoints"))
        # A file that is missing there is likely a disk that is away: taken for a log without checkpoints, it would let
        # one be signed that contradicts an earlier one.
        if newest is None and configured is not None:
            raise StorageError(
                str(configured),
                f"is missing, but {self.settings.path.name} says that the checkpoints are kept there: bring it back "
                "(is its disk there?), or take the line away if there shall be none",
            )
        return newest

    @property
    def cosigned_file(self) -> Path:
        """Where the last checkpoint stands that a witness cosigned, with its signatures."""
        return kept_with(self._path, "cosigned")

    def cosigned(self) -> Checkpoint | None:
        """The newest checkpoint that a witness cosigned, with the signatures of both; None where none did.

        Raises:
            StorageError: the file cannot be read, or is damaged.
        """
        return last_checkpoint(self.cosigned_file)

    def keep_cosigned(self, made: Checkpoint, line: str) -> None:
        """Keep a checkpoint with the line by which a witness signed it, in the place of the one before.

        Raises:
            StorageError: the file cannot be written.
        """
        try:
            replace_file(self.cosigned_file, f"{made.note}{line}".encode())
        except OSError as error:
            message = f"takes no cosigned checkpoint: {error.strerror or error}"
            raise StorageError(str(self.cosigned_file), message) from error

    def shown(self) -> Checkpoint | None:
        """The newest checkpoint as the world is shown it: with the signatures of a witness that cosigned this one.

        Raises:
            StorageError: as ``last`` and ``cosigned``.
        """
        last = self.last()
        if last is None or (cosigned := self.cosigned()) is None:
            return last
        # A witness that could not be reached has cosigned an earlier one, and its signature says nothing of this one.
        is_the_same = (cosigned.origin, cosigned.head) == (last.origin, last.head)
        return cosigned if is_the_same else last


class Checkpoints(CheckpointFiles):
    """The checkpoints of a ledger that is open. Nothing is read before it is asked for."""

    def __init__(self, path: str | Path, journal: Journal) -> None:
        """Take the journal's file, and the journal."""
        super().__init__(path)
        self._journal = journal

    def fault(self) -> str | None:
        """Why the journal is not the one that the last checkpoint was made of; None where it is, or none is kept.

        The signature is not looked at: whoever can forge the file could as well empty it.
        """
        try:
            last = self.last()
            return None if last is None else self._fault(last, self.place)
        except (StorageError, CorruptError) as error:
            return f"the journal cannot be compared with its last checkpoint: {error}"

    def _fault(self, last: Checkpoint, place: Path) -> str | None:
        size, kept = self._journal.size(), last.head
        if size < kept.size:
            return (
                f"the journal holds {size} entries, but the last checkpoint in {place} was made of {kept.size}: its "
                f"tail was cut off or an older copy was put in its place; {_BEGIN_ANEW}"
            )
        root = self._journal.root_at(kept.size)
        if root != kept.root:
            return (
                f"entries 1 to {kept.size} of the journal have the root {root.hex()}, but the last checkpoint in "
                f"{place} says {kept.root.hex()}: it is another ledger, or what was recorded was changed; {_BEGIN_ANEW}"
            )
        return None

    def new_key(self, name: str) -> NoteKey:
        """Make the key that signs this ledger's checkpoints under *name*.

        Raises:
            MalformedError: the name cannot stand in a note.
            StorageError: there is a key already, the file cannot be made, or the checkpoints are of another name.
        """
        last = last_checkpoint(self.place)
        if last is not None and last.origin != name:
            raise StorageError(str(self.place), _other_origin(last, name))
        return make_key(self.key_file, name)

    def key(self, key_file: Path | None = None) -> NoteKey:
        """The key of this ledger, or the one in a file that is named.

        Raises:
            StorageError: it is missing, may be read by others, or is no key.
        """
        return read_key(key_file or self.key_file)

    def make(self, key_file: Path | None = None, *, keep_in: Path | None = None) -> Checkpoint:
        """Sign the journal's head as it stands on the disk, and keep it; the last one again where nothing is new.

        Args:
            key_file: the key, where it is not the ledger's own.
            keep_in: another file, in which the checkpoints are kept from now on: ``club.toml`` then says so. Those
                made before stay where they are.

        Raises:
            StorageError: no key, or the checkpoints cannot be written, or the journal is not that of the last one.
            CorruptError: the journal's tree is damaged.
        """
        key = self.key(key_file)
        place = keep_in or self.place
        with self._alone():
            kept = last_checkpoint(place)
            # Both: another place is no way around the last checkpoint, and what is kept there may be another log's.
            for last, where in ((self.last(), self.place), (kept, place)):
                if last is not None and last.origin != key.name:
                    raise StorageError(str(where), _other_origin(last, key.name))
                if last is not None and (fault := self._fault(last, where)):
                    raise StorageError(str(self._path), f"nothing was signed: {fault}")
            # the head first: a fence vouches for what could be read before it
            head = self._journal.head()
            self._journal.fence()
            made = Checkpoint(key.name, head, key.sign(note_text(key.name, head)))
            # Ed25519 signs one text alike each time (RFC 8032, 5.1.6): where nothing is new the note is the same.
            if kept is None or kept.note != made.note:
                add_checkpoint(place, made, is_first=kept is None)
            # Last: settings that name a file in which nothing stands yet would leave the ledger open for reading alone.
            if keep_in is not None:
                self.settings.put(checkpoints=str(keep_in.absolute()))
            return made

    def growth(self, older: TreeHead, made: Checkpoint) -> str:
        """A checkpoint after the proof that its tree grew out of that of an *older* head (RFC 6962, 2.1.2).

        The form is the request ``add-checkpoint`` of C2SP tlog-witness (https://c2sp.org/tlog-witness, as of 2026), so
        a witness takes it as it is.

        Raises:
            StorageError: the checkpoint has fewer entries, or others.
            CorruptError: the journal's tree is damaged.
        """
        size = made.head.size
        if older.size > size or self._journal.root_at(older.size) != older.root:
            message = f"the first {older.size} of its {size} entries do not have the head {older}: there is no proof"
            raise StorageError(str(self._path), message)
        # From an empty tree there is nothing to prove: tlog-witness has "old 0" without hashes.
        path = consistency_path(older.size, size, self._journal.subtree_root) if older.size else []
        return "\n".join([f"old {older.size}", *(b64encode(sibling).decode() for sibling in path), "", made.note])

    def make_if_configured(self) -> Checkpoint | None:
        """Make a checkpoint where there is a key.

        Raises:
            StorageError: as ``make``.
        """
        return self.make() if self.key_file.exists() else None

    def after_commit(self) -> Checkpoint | None:
        """As ``make_if_configured``, for whoever has just committed an approved correction or a publication.

        Call it after the transaction, never within. What was committed stands, so what stops a checkpoint is no error
        here but a ``CheckpointWarning``.
        """
        try:
            return self.make_if_configured()
        except (StorageError, CorruptError) as error:
            message = f"{self._path}: what was recorded stands, but no checkpoint was made of it: {error}"
            warnings.warn(message, CheckpointWarning, stacklevel=3)
            return None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process makes a checkpoint of this ledger meanwhile."""
        path = kept_with(self._path, "checkpoints.lock")
        # A lock of the system, which lets go of it with a killed process; a file that only stands there would stay.
        lock = filelock.FileLock(str(path), timeout=WAIT_SECONDS)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise StorageError(str(path), "another process makes a checkpoint; try again later") from None
        except OSError as error:
            raise StorageError(str(path), f"cannot be made: {error.strerror or error}") from error
        try:
            yield
        finally:
            lock.release()


def refuse_another_history(path: Path, journal: StoredJournal) -> None:
    """Let nothing be written into a journal if the last checkpoint was made of another one; warn."""
    fault = Checkpoints(path, journal).fault()
    if fault is not None:
        journal.refusal = f"nothing may be written: {fault}"
        warnings.warn(f"{path}: opened for reading only: {fault}", CheckpointWarning, stacklevel=3)


def _other_origin(last: Checkpoint, name: str) -> str:
    return (
        f"holds the checkpoints of {last.origin!r}, not of {name!r}: sign with the key of that name, or keep those of "
        "this ledger in a file of their own by 'rating-ledger checkpoint DB --keep-in FILE'"
    )
