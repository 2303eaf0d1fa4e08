"""The restoring of a backup: it is copied next to the ledger's place, verified by the audit, then moved into place.

Before a ledger is replaced it is compared with the verified copy: which entries would be lost, and who was erased
since. The connections to the present files are those of ``replacing.lock_ledger``; either file may be damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from ledger.audit import reader
from ledger.audit.audit import audit
from ledger.backups import disk, replacing
from ledger.backups.making import ledger_files
from ledger.backups.replacing import OpenFiles
from ledger.errors import CorruptError, LedgerError, StorageError
from ledger.facts.words import TreeHead
from ledger.journal.checkpoints import Checkpoints
from ledger.journal.merkle import leaf_hashes
from ledger.journal.settings_file import server_of
from ledger.journal.sqlite_keys import query_by_keys
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.sqlite_layout import is_upgraded
from ledger.players.sqlite_people import SqlitePeople
from ledger.ratings import views_file
from ledger.runtime import sqlite
from ledger.runtime.calls import checked
from ledger.runtime.ledger_files import RESTORE_PLAN, restore_folder
from ledger.runtime.long_work import Progress, no_progress

if TYPE_CHECKING:
    import sqlite3

BLOCK = 10_000
_BODIES = "SELECT body FROM journal ORDER BY position"
_LEAVES = "SELECT leaf FROM journal ORDER BY position"
_SIZE = "SELECT coalesce(max(position), 0) FROM journal"
_KINDS = "SELECT kind, count(*) FROM journal WHERE position > ? GROUP BY kind ORDER BY kind"
_ERASED = "SELECT player, joined_at FROM people WHERE identity IS NULL AND name IS NULL AND salt IS NULL"
_KNOWN = "SELECT player, joined_at, salt FROM people WHERE salt IS NOT NULL"
# In the order of keys ';' follows ':', so that these two enclose every erasure.
_ERASURES = "key >= 'erased:' AND key < 'erased;'"
_KNOWN_REASONS = "SELECT commitment FROM reasons WHERE text IS NOT NULL"
_ERASED_REASONS = "SELECT commitment FROM reasons WHERE text IS NULL AND salt IS NULL"


@attrs.frozen
class Loss:
    """The entries of the present ledger that a restore of a backup would lose.

    Attributes:
        entries: the number in the present journal; None if it cannot be read, or there is none.
        backup: the number in the backup's journal.
        common: the number of entries, from the first on, that are the same in both.
        beyond: by kind, the number of entries after those in the present journal.
        alarm: why the backup is not the ledger of the last stored checkpoint; None if it is, or none is stored.
    """

    entries: int | None
    backup: int
    common: int = 0
    beyond: Mapping[str, int] = attrs.field(factory=dict)
    alarm: str | None = None

    @property
    def is_earlier_state(self) -> bool:
        """True if the backup is an earlier state of the present ledger, or the same state."""
        return self.common == self.backup


@attrs.frozen
class LaterErasures:
    """The players and reasons that were erased in the present ledger, but not in the backup."""

    players: tuple[int, ...]
    unknown: bool  # because the present people cannot be read
    reasons: tuple[str, ...]  # their commitments


def find_loss(present: OpenFiles, copy: Path) -> Loss:
    """Compare the present journal with the verified *copy* of a backup's journal, entry by entry."""
    with closing(sqlite.connect(copy, read_only=True)) as proven:
        backup = int(proven.execute(_SIZE).fetchone()[0])
        journal = present["journal"]
        if journal is None:
            return Loss(None, backup)
        try:
            common = _common(journal, proven)
            entries = int(journal.execute(_SIZE).fetchone()[0])
            return Loss(entries, backup, common, dict(journal.execute(_KINDS, (common,)).fetchall()))
        except (LedgerError, TypeError, ValueError):
            return Loss(None, backup)


def _common(present: sqlite3.Connection, proven: sqlite3.Connection) -> int:
    """Return the number of equal entries from the first on: bodies that hash to the verified leaves."""
    common, bodies, leaves = 0, present.execute(_BODIES), proven.execute(_LEAVES)
    while rows := bodies.fetchmany(BLOCK):
        pairs = list(zip(leaf_hashes([body for (body,) in rows]), (leaf for (leaf,) in leaves), strict=False))
        equal = next((i for i, (here, there) in enumerate(pairs) if here != there), len(pairs))
        common += equal
        if equal < len(rows):
            break
    return common


def find_later_erasures(present: OpenFiles, copy: Path) -> LaterErasures:
    """Return the players and reasons that were erased in the present ledger, and have names or texts in the backup.

    Both files record erased persons: the people file by a blank row, the journal by an entry (since such entries
    exist). *copy* is the journal of the backup's copy, with its people next to it.
    """
    with (
        closing(sqlite.connect(copy, read_only=True)) as journal,
        closing(sqlite.connect(ledger_files(copy)["people"], read_only=True)) as backed_up,
    ):
        copied = {player: (joined_at, salt) for player, joined_at, salt in backed_up.execute(_KNOWN)}
        blank, related, reasons = dict[int, str](), False, set[str]()
        unknown = (people := present["people"]) is None
        if people is not None:
            try:
                blank = dict(people.execute(_ERASED).fetchall())
                # salts are drawn once: with one in common the files have one origin
                rows = people.execute(_KNOWN)
                related = any(player in copied and copied[player][1] == salt for player, _, salt in rows)
                reasons = _reasons(backed_up, _KNOWN_REASONS) & _reasons(people, _ERASED_REASONS)
            except (LedgerError, TypeError, ValueError):
                blank, unknown = {}, True
        players = [
            player
            for player in sorted(copied.keys() & {*blank, *_recorded(present["journal"])})
            if _is_the_same(
                player, present["journal"], journal, by_people=related and blank.get(player) == copied[player][0]
            )
        ]
    return LaterErasures(tuple(players), unknown, tuple(sorted(reasons)))


def _recorded(journal: sqlite3.Connection | None) -> set[int]:
    """Return the players whose erasure the present journal records; none if it cannot be read."""
    try:
        keys = [] if journal is None else journal.execute(query_by_keys(journal, "key", _ERASURES)).fetchall()
        return {int(key.partition(":")[2]) for (key,) in keys}
    except (LedgerError, TypeError, ValueError):
        return set()


def _reasons(people: sqlite3.Connection, query: str) -> set[str]:
    """Return the commitments to reasons; they are drawn once, so one in both files is the same reason."""
    return {reason for (reason,) in people.execute(query)} if is_upgraded(people) else set()


def _is_the_same(player: int, present: sqlite3.Connection | None, copy: sqlite3.Connection, *, by_people: bool) -> bool:
    """Return whether a number means one person in both ledgers: both registered it in the same entry."""
    # If a journal does not say, the people files decide.
    copy_row = _registration(copy, player)
    try:
        present_row = None if present is None else _registration(present, player)
    except LedgerError:
        present_row = None
    return present_row == copy_row if present_row and copy_row else by_people


def _registration(journal: sqlite3.Connection, player: int) -> tuple[bytes] | None:
    row: tuple[bytes] | None = journal.execute(
        query_by_keys(journal, "body", "key = ?"), (f"player:{player}",)
    ).fetchone()
    return row


RESTORE = "restore"  # the actor of repeated erasures
EARLIER_VIEWS = "they are not of this program's read models and schemes"


@attrs.frozen
class Restored:
    """A ledger that was restored from a backup.

    Attributes:
        path: of the journal.
        head: size and root of the journal, recomputed from its bytes.
        names: the number of names compared with their commitments.
        views: True if the backup's views were restored; else the next command builds them.
        left_out: why the backup's views were not restored; empty if they were, or it has none.
        erased: players who had been erased since the backup was made, and were erased again.
        erased_unknown: True if a ledger was replaced whose people cannot be read, so that those are not known.
        replaced: the folder of the former files; None if there were none.
        reasons_erased: the number of reasons of corrections that were erased again likewise.
        undone: True if an earlier restore had been interrupted, and was undone first.
        alarm: why it is not the ledger of the last checkpoint stored for this place, so that it accepts nothing until
            the right file is back; None if it is, or if none is stored.
    """

    path: Path
    head: TreeHead
    names: int
    views: bool
    left_out: str = ""
    erased: tuple[int, ...] = ()
    erased_unknown: bool = False
    reasons_erased: int = 0
    replaced: Path | None = None
    undone: bool = False
    alarm: str | None = None


@checked
def restore(
    folder: str | Path,
    path: str | Path,
    *,
    replace: bool = False,
    since: TreeHead | None = None,
    with_views: bool = True,
    approve: Callable[[Loss], object] = lambda _: None,
    progress: Progress = no_progress,
) -> Restored:
    """Restore a ledger from a backup, after the audit has verified its files.

    Args:
        folder: the backup.
        path: the place of the journal; people and views go next to it.
        replace: True allows an existing ledger, whose files are moved into a folder next to it, never deleted.
        since: a head stored elsewhere, whose entries must be the first ones of the backup's journal.
        with_views: False leaves the backup's views out; the next command builds them.
        approve: receives the entries of an existing ledger that the backup lacks, while no other process may use it; an
            exception stops the restore with everything as it was.
        progress: receives reports of what is being done.

    Raises:
        StorageError: files exist there and *replace* is False, another process has them open, a file of the backup is
            missing or is not the one that was backed up, or the disk refuses.
        CorruptError: the audit finds the backup false.
    """
    source, target = Path(folder), Path(path).resolve()
    if target.is_dir():
        raise StorageError(str(target), "is a folder; give the name of the journal's file")
    if not target.parent.is_dir():
        raise StorageError(str(target), f"cannot be made: there is no folder {target.parent}")
    if server_of(target) is not None:
        raise StorageError(
            str(target),
            "is a ledger on a server, as its settings say, and a backup is put into files: give another name; 'move' "
            "takes what was restored onto a server, into a new schema",
        )
    place = restore_folder(target)
    with disk.locked_folder(place, unfinished=RESTORE_PLAN):
        # Before any refusal: files that a killed restore left half moved would be taken for the present ledger.
        undone = replacing.undo_interrupted(place, target)
        kept = disk.read_manifest(source)
        _refuse_existing(target, replace=replace, undone=undone)
        staged = place / disk.SET
        disk.make_empty_folder(staged)
        copy = _stage(source, kept, staged / target.name, with_views=with_views, progress=progress)
        left_out = _leave_out_views(copy["views"])
        head, names = _prove(source, kept, copy["journal"], since, progress)
        with closing(SqliteJournal(copy["journal"], read_only=True)) as journal:
            # whether it would be taken for another ledger in this place
            alarm = Checkpoints(target, journal).fault()
        restored = Restored(target, head, names, copy["views"].exists(), left_out, undone=undone, alarm=alarm)
        if not replace or not replacing.existing_files(target):
            _finish(copy)
            replacing.install(place, target)
            return restored
        with replacing.lock_ledger(target) as present:
            approve(attrs.evolve(find_loss(present, copy["journal"]), alarm=alarm))
            # Who asked to be forgotten after the backup was made must not come back by it.
            gone = find_later_erasures(present, copy["journal"])
            _erase(copy, gone)
            _finish(copy)
            replaced = replacing.replace_ledger(place, target, present)
        return attrs.evolve(
            restored,
            names=names - len(gone.players),
            erased=gone.players,
            erased_unknown=gone.unknown,
            reasons_erased=len(gone.reasons),
            replaced=replaced,
        )


def _refuse_existing(target: Path, *, replace: bool, undone: bool) -> None:
    there = replacing.existing_files(target)
    if there and not replace:
        names = ", ".join(file.name for file in there[:3]) + (f" and {len(there) - 3} more" if there[3:] else "")
        before = "a restore that was stopped is undone, and " if undone else ""
        raise StorageError(
            str(target),
            f"{before}files of a ledger are there already ({names}); give another DB, or --replace to move them away",
        )


def _stage(
    source: Path, kept: disk.Manifest, path: Path, *, with_views: bool, progress: Progress
) -> Mapping[str, Path]:
    """Copy the files of a backup under the names that they will have, each held against the manifest."""
    copy = ledger_files(path)
    for role, file in kept.files.items():
        if role == "views" and not with_views:
            continue
        old = source / file.name
        way_out = "; --without-views does without it" if role == "views" else ""
        if not old.is_file():
            raise StorageError(str(old), f"is missing from the backup; use another backup{way_out}")
        why, size = "its SHA-256 is not the one in the manifest", old.stat().st_size
        if size == file.bytes:
            permissions = disk.permissions_of(old) & (disk.PRIVATE if role == "people" else disk.USUAL)
            # hashed while it is copied: the compared bytes are put in place, even if the backup changes
            if disk.copy_and_hash(old, copy[role], permissions, partial(progress, f"copy {file.name}")) == file.sha256:
                continue
        else:
            why = f"{size:,} bytes, not {file.bytes:,}"
        raise StorageError(str(old), f"is not the file that was backed up ({why}); use another backup{way_out}")
    return copy


def _leave_out_views(copy: Path) -> str:
    """Remove views that the next command would rebuild anyway; return why, or nothing."""
    if not copy.exists():
        return ""
    why = ""
    try:
        with closing(sqlite.connect(copy, read_only=True)) as connection:
            sqlite.check_identity(connection, copy, views_file.APPLICATION_ID, views_file.LAYOUT)
            why = "" if views_file.are_rated_by_this_program(connection) else EARLIER_VIEWS
    except StorageError as error:
        why = str(error).removeprefix(f"{copy}: ")
    if why:
        copy.unlink()
    return why


def _prove(
    source: Path, kept: disk.Manifest, copy: Path, since: TreeHead | None, progress: Progress
) -> tuple[TreeHead, int]:
    """Run the whole audit of the copy; return its head and how many names were compared."""
    try:
        verdict = audit(copy, since=since, progress=progress)
    except LedgerError as error:
        words = str(error).replace(f"{copy.parent}/", "")
        raise CorruptError(str(source), 0, f"cannot be proven: {words}") from error
    if verdict.falsehoods:
        more = f" (and {len(verdict.falsehoods) - 1} more)" if len(verdict.falsehoods) > 1 else ""
        raise CorruptError(str(source), 0, f"is false: {verdict.falsehoods[0]}{more}; nothing was restored")
    if verdict.head != kept.head:
        raise CorruptError(
            str(source), 0, f"its journal has head {verdict.head}, the manifest says {kept.head}; use another backup"
        )
    return verdict.head, verdict.names_checked


def _erase(copy: Mapping[str, Path], gone: LaterErasures) -> None:
    """Forget these players and reasons in the copy, which must be true afterwards."""
    if not (gone.players or gone.reasons):
        return
    with closing(SqlitePeople(copy["people"])) as people:
        people.erasures.begin(gone.players, RESTORE)  # the next command that may write records it
        people.purge_or_refuse()
        if gone.reasons:
            people.reasons.forget(gone.reasons)
    # Proven once more, for the audit saw the people before these erasures.
    verdict = reader.verify_people(str(copy["journal"]), str(copy["people"]))
    if verdict.falsehoods:
        raise CorruptError(str(copy["people"]), 0, str(verdict.falsehoods[0]))


def _finish(copy: Mapping[str, Path]) -> None:
    """Remove the sidecar files of readers next to the copies, and flush these to the disk."""
    folder = copy["journal"].parent
    for file in folder.iterdir():
        if file not in copy.values():
            file.unlink()
    disk.flush_folder(folder)
