"""Checkpoints of a ledger: signed heads of its journal, stored in a file, and compared with the journal on opening.

The checkpoints are next to the journal (``club.checkpoints``) or where ``club.toml`` says, best on a medium that the
writers of the journal cannot write; so is the key (``club.key``). ``checkpoint_notes`` reads and writes the
file, ``signing_keys`` the key.

A log must never sign a checkpoint that is inconsistent with one that it signed before (C2SP tlog-checkpoint,
"Signatures"): so nothing is signed, nor recorded, if the last stored one does not fit the journal.
"""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from ledger.errors import CheckpointWarning, CorruptError, StorageError
from ledger.facts.words import TreeHead
from ledger.journal import Journal, StoredJournal
from ledger.journal.checkpoint_notes import Checkpoint, add_checkpoint, last_checkpoint, note_text
from ledger.journal.merkle import consistency_path
from ledger.journal.settings_file import SettingsFile
from ledger.journal.signing_keys import NoteKey, make_key, read_key
from ledger.runtime.lazy import filelock
from ledger.runtime.ledger_files import companion_file, replace_file

WAIT_SECONDS = 60.0  # for another process that makes a checkpoint
_WAY_OUT = (
    "bring the right file back; where that is lost for good, this is another log: move the checkpoints and the key "
    "aside, and make a new key under another name by 'rating-ledger checkpoint-key DB --new NAME'"
)


class CheckpointFiles:
    """The files of a ledger's checkpoints and of its signing key, by the path of the journal."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    @cached_property
    def settings(self) -> SettingsFile:
        """The settings, which may say that checkpoints or key are kept elsewhere."""
        return SettingsFile(self._path)

    @property
    def place(self) -> Path:
        """The file of the checkpoints, whether it exists or not."""
        return self.settings.place_of("checkpoints") or companion_file(self._path, "checkpoints")

    @property
    def key_file(self) -> Path:
        """The file of the key, whether it exists or not."""
        return self.settings.place_of("key") or companion_file(self._path, "key")

    def last(self) -> Checkpoint | None:
        """Return the newest stored checkpoint; None if there is none yet.

        Raises:
            StorageError: the file cannot be read, is damaged, or is missing though ``club.toml`` names it.
        """
        configured = self.settings.place_of("checkpoints")
        newest = last_checkpoint(configured or companion_file(self._path, "checkpoints"))
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
        """The file of the last checkpoint that a witness cosigned, with its signatures."""
        return companion_file(self._path, "cosigned")

    def cosigned(self) -> Checkpoint | None:
        """Return the newest checkpoint that a witness cosigned, with both signatures; None if there is none.

        Raises:
            StorageError: the file cannot be read, or is damaged.
        """
        return last_checkpoint(self.cosigned_file)

    def keep_cosigned(self, made: Checkpoint, line: str) -> None:
        """Store a checkpoint with the signature line of a witness, and replace the one before.

        Raises:
            StorageError: the file cannot be written.
        """
        try:
            replace_file(self.cosigned_file, f"{made.note}{line}".encode())
        except OSError as error:
            message = f"takes no cosigned checkpoint: {error.strerror or error}"
            raise StorageError(str(self.cosigned_file), message) from error

    def shown(self) -> Checkpoint | None:
        """Return the newest checkpoint to publish, with the signature of a witness if one cosigned this checkpoint.

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
    """The checkpoints of an open ledger: making and checking them."""

    def __init__(self, path: str | Path, journal: Journal) -> None:
        super().__init__(path)
        self._journal = journal

    def fault(self) -> str | None:
        """Return a message if the last checkpoint contradicts the journal; None if it does not, or there is none.

        The signature is not verified: an attacker who can forge the file could as well empty it.
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
                f"tail was cut off or an older copy was put in its place; {_WAY_OUT}"
            )
        root = self._journal.root_at(kept.size)
        if root != kept.root:
            return (
                f"entries 1 to {kept.size} of the journal have the root {root.hex()}, but the last checkpoint in "
                f"{place} says {kept.root.hex()}: it is another ledger, or what was recorded was changed; {_WAY_OUT}"
            )
        return None

    def new_key(self, name: str) -> NoteKey:
        """Make the key that signs this ledger's checkpoints under *name*.

        Raises:
            MalformedError: a note cannot have that name.
            StorageError: there is a key already, the file cannot be made, or the checkpoints are of another name.
        """
        last = last_checkpoint(self.place)
        if last is not None and last.origin != name:
            raise StorageError(str(self.place), _other_origin(last, name))
        return make_key(self.key_file, name)

    def key(self, key_file: Path | None = None) -> NoteKey:
        """Return the signing key of this ledger, or the one in a given file.

        Raises:
            StorageError: it is missing, may be read by others, or is no key.
        """
        return read_key(key_file or self.key_file)

    def make(self, key_file: Path | None = None, *, keep_in: Path | None = None) -> Checkpoint:
        """Sign the journal's head and store it as a checkpoint; return the last checkpoint if nothing is new.

        Args:
            key_file: the key, by default the ledger's own.
            keep_in: another file for the checkpoints from now on, which is noted in ``club.toml``. Those made before
                stay where they are.

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
            self._journal.ensure_durable()
            made = Checkpoint(key.name, head, key.sign(note_text(key.name, head)))
            # Ed25519 signs a text the same each time (RFC 8032, 5.1.6): if nothing is new, the note is the same.
            if kept is None or kept.note != made.note:
                add_checkpoint(place, made, is_first=kept is None)
            # Last: settings that name an empty file would leave the ledger open for reading alone.
            if keep_in is not None:
                self.settings.put(checkpoints=str(keep_in.absolute()))
            return made

    def consistency_proof(self, older: TreeHead, made: Checkpoint) -> str:
        """Return a checkpoint preceded by the proof that its tree extends that of an *older* head (RFC 6962, 2.1.2).

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

    def after_commit(self) -> Checkpoint | None:
        """Make a checkpoint after a committed approval or publication, if there is a key.

        Call it after the transaction, never within. The commit stays valid, so a failed checkpoint is no error
        here but a ``CheckpointWarning``.
        """
        try:
            return self.make() if self.key_file.exists() else None
        except (StorageError, CorruptError) as error:
            message = f"{self._path}: what was recorded stands, but no checkpoint was made of it: {error}"
            warnings.warn(message, CheckpointWarning, stacklevel=3)
            return None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process make a checkpoint of this ledger meanwhile."""
        path = companion_file(self._path, "checkpoints.lock")
        # A lock of the system, which a killed process releases; a plain lock file would stay.
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
    """Make a journal read-only, with a warning, if the last checkpoint contradicts it."""
    fault = Checkpoints(path, journal).fault()
    if fault is not None:
        journal.refusal = f"nothing may be written: {fault}"
        warnings.warn(f"{path}: opened for reading only: {fault}", CheckpointWarning, stacklevel=3)


def _other_origin(last: Checkpoint, name: str) -> str:
    return (
        f"holds the checkpoints of {last.origin!r}, not of {name!r}: sign with the key of that name, or keep those of "
        "this ledger in a file of their own by 'rating-ledger checkpoint DB --keep-in FILE'"
    )
