"""The check of a bundle: its signature, its entries, and its list calculated again from them, row by row.

It needs nothing but the file, whose form ``bundles`` describes, and runs in a browser, too: no NumPy, no Polars, no
compiled kernels. The entries go into a journal in a temporary folder, from which the list is calculated as the audit
does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import attrs

from ledger.audit.audit import audit, calculated_list, list_differences, older_version, other_version
from ledger.audit.reader import Falsehood, Finding, NotAProofError, VerifierKey, verify_note
from ledger.audit.reader.receipts import SignedCheckpoint, text_lines
from ledger.audit.reader.snapshots import FIRST_FALSEHOODS, excerpt
from ledger.audit.reader.texts import is_list_row
from ledger.audit.reader.tree import TILE, leaf_hashes, level_root
from ledger.book.timeline import Pool
from ledger.errors import LedgerError, one_line
from ledger.facts.codec import decode
from ledger.facts.events import ListPublished
from ledger.facts.words import TreeHead
from ledger.journal import Journal, KeyTakenError
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.stored_lists import FORMS, ListRow, list_texts, with_ranks
from ledger.ratings.past_views import open_advancing_views
from ledger.ratings.views import FEW_ENTRIES
from ledger.runtime.long_work import Progress, no_progress

FORM = "rating-list-bundle/1"
LONGEST_LINE = 1 << 20  # bytes; an entry has at most 65,535
_FIELDS = {"checkpoint": str, "entries": int, "form": str, "key": str, "list": str, "list_form": str, "players": int}
_AFTER_HASH = 65  # where the body begins in a line, behind the digits of the hash and a blank


@attrs.frozen(kw_only=True)
class BundleVerdict(Finding):
    """The findings about a bundle; true only if its signature, every entry and every row are.

    Attributes:
        published: the name of the list; None if the file does not say it.
        signed: the checkpoint whose signature was verified.
        key: the key that verified it, as the file states it.
        scheme: the name of the scheme that made the list.
        entries: the number of entries that were hashed, and *list_entries* of those from which the list follows.
        rows: the rows of the list, in the order of the ranks, after all were compared.
        not_compared: why the list could not be calculated here; None if it was.
    """

    falsehoods: tuple[Falsehood, ...]
    published: str | None = None
    signed: SignedCheckpoint | None = None
    key: str | None = None
    scheme: str | None = None
    entries: int = 0
    list_entries: int = 0
    rows: tuple[ListRow, ...] = ()
    not_compared: str | None = None

    @property
    def ok(self) -> bool:
        """True if nothing is false and the list was calculated."""
        return not self.falsehoods and self.not_compared is None


class _FalseBundleError(Exception):
    """The end of a check: what follows would follow from something false."""

    def __init__(self, *falsehoods: Falsehood) -> None:
        self.falsehoods = falsehoods


def check_bundle(
    file: BinaryIO, keys: Sequence[VerifierKey] = (), since: TreeHead | None = None, progress: Progress = no_progress
) -> BundleVerdict:
    """Verify the bundle in a file, and calculate its list again.

    Args:
        file: the bundle, opened for reading bytes.
        keys: keys that the log published; without them the signature is verified by the key in the bundle.
        since: a head kept from earlier, whose entries must be the first ones of the bundle.
        progress: receives reports of what is being done.
    """
    with TemporaryDirectory(prefix="ledger-bundle-") as folder:
        check = _Check(file, Path(folder), progress)
        try:
            check.signature(keys)
            check.entries()
            check.journal(since)
            check.rows()
        except _FalseBundleError as error:
            check.falsehoods += error.falsehoods
        return check.verdict()


class _Check:
    """One check, with what it has found so far."""

    def __init__(self, file: BinaryIO, folder: Path, progress: Progress) -> None:
        self.falsehoods: list[Falsehood] = []
        self._file, self._path, self._progress = file, folder / "club.db", progress
        self._line = 0  # the last one that was read, from 1
        self._facts: dict[str, object] = {}
        self._signed: SignedCheckpoint | None = None
        self._hashed = 0
        self._event: ListPublished | None = None
        self._rows: tuple[ListRow, ...] = ()
        self._not_compared: str | None = None

    def verdict(self) -> BundleVerdict:
        text = {word: value for word, value in self._facts.items() if isinstance(value, str)}
        return BundleVerdict(
            falsehoods=tuple(self.falsehoods),
            published=text.get("list"),
            signed=self._signed,
            key=text.get("key"),
            scheme=None if self._event is None else self._event.scheme,
            entries=self._hashed,
            list_entries=0 if self._event is None else self._event.head,
            rows=self._rows,
            not_compared=self._not_compared,
        )

    def _false(self, message: str) -> _FalseBundleError:
        return _FalseBundleError(Falsehood("bundle", f"line {self._line}", message))

    def _next_line(self, what: str) -> bytes:
        self._line += 1
        line = self._file.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise self._false(f"{what} is expected here, and the file ends: it was cut off; get it again")
        return line[:-1]

    def signature(self, keys: Sequence[VerifierKey]) -> None:
        """Read the first line, and verify the signature of its checkpoint."""
        facts = _plain_json(self._next_line(f"a bundle in the form {FORM}"))
        if not isinstance(facts, dict) or {word: type(value) for word, value in facts.items()} != _FIELDS:
            raise self._false(f"is not the first line of a bundle in the form {FORM}, canonical JSON")
        self._facts = facts
        if facts["form"] != FORM or facts["list_form"] not in FORMS:
            forms = f"{facts['form']!r} and {facts['list_form']!r}"
            raise self._false(f"has the forms {forms}; expected {FORM} and {' or '.join(FORMS)}")
        try:
            if facts["key"] != facts["key"].strip():
                raise ValueError("has blanks around it")  # noqa: TRY301
            key = VerifierKey.parse(facts["key"])
        except ValueError as error:
            raise self._false(f"key: {error}") from None
        if keys and key not in keys:
            raise self._false(f"is signed by the key {facts['key']}, which is not the one that you gave")
        try:
            signed = verify_note(text_lines(facts["checkpoint"].encode()), 1, [key])
        except NotAProofError as error:
            raise self._false(f"checkpoint, {error}") from None
        if signed.head.size != facts["entries"]:
            raise self._false(f"says {facts['entries']} entries, but {signed.head.size} were signed")
        self._signed = signed

    def entries(self) -> None:
        """Hash every entry, compare the root with the signed one, and put the entries into a journal."""
        assert self._signed is not None
        size = self._signed.head.size
        leaves, stated = list[bytes](), list[bytes]()
        no_entries: list[Falsehood] = []  # signed though no ledger writes such a thing
        journal = SqliteJournal.create(self._path)
        try:
            for first in range(1, size + 1, TILE):
                lines = [self._next_line(f"entry {n}") for n in range(first, min(first + TILE, size + 1))]
                bodies = [line[_AFTER_HASH:] for line in lines]
                leaves += leaf_hashes(bodies)
                stated += [_stated_hash(line) for line in lines]
                if leaves[first - 1 :] == stated[first - 1 :] and not no_entries:
                    no_entries += _append(journal, first, bodies)
                self._hashed += len(bodies)
                self._progress("entries", self._hashed, size)
        finally:
            journal.close()
        if false := [*_wrong_entries(leaves, stated, self._signed.head.root)] or no_entries:
            raise _FalseBundleError(*false)

    def journal(self, since: TreeHead | None) -> None:
        """Audit the journal: order and times of its entries, four eyes, and a head that was kept."""
        verdict = audit(self._path, since=since, journal_only=True)
        if verdict.falsehoods:
            raise _FalseBundleError(*verdict.falsehoods)

    def rows(self) -> None:
        """Read the rows, calculate the list from the entries before it, and compare."""
        rows, read = self._read_rows()
        journal = SqliteJournal(self._path, read_only=True)
        try:
            event = self._publication(journal)
            if why_not := other_version(event):
                self._not_compared = why_not
                return
            pool, current = self._calculated(journal, event)
            form = str(self._facts["list_form"])
            ranked = {row.player: row for row in with_ranks(current, form)}
            for player, difference in islice(list_differences(map(list, rows), ranked), FIRST_FALSEHOODS):
                self.falsehoods.append(Falsehood(f"list {self._facts['list']}", player, difference))
            if self.falsehoods and (why_not := older_version(journal, pool, event)):
                self.falsehoods, self._not_compared = [], why_not
                return
            if not self.falsehoods and list_texts(rows, form).digest != event.digest:
                message = f"do not have the digest that was published, {event.digest}"
                self.falsehoods.append(Falsehood("bundle", "rows", message))
            if b"".join(list_texts(rows, form).texts[1:]) != read and not self.falsehoods:
                self.falsehoods.append(Falsehood("bundle", "rows", "are not written as the ledger writes them"))
            self._rows = tuple(sorted(rows, key=lambda row: (row.rank, row.player)))
        finally:
            journal.close()

    def _read_rows(self) -> tuple[list[ListRow], bytes]:
        """Return the rows of the list, and the bytes in which they are written."""
        rows, lines = list[ListRow](), list[bytes]()
        for _ in range(int(str(self._facts["players"]))):
            line = self._next_line("a row of the list")
            row = _plain_json(line)
            if not isinstance(row, list) or not is_list_row(row):
                raise self._false(f"is no row of a list: {excerpt(line)}")
            rows.append(ListRow(*row))
            lines.append(line + b"\n")
        if rest := self._file.read(1):
            self._line += 1
            raise self._false(f"something follows the last row: {excerpt(rest)}")
        return rows, b"".join(lines)

    def _publication(self, journal: Journal) -> ListPublished:
        """Return the event that published the list."""
        key = f"list:{self._facts['list']}"
        stored = journal.find([key]).get(key)
        event = None if stored is None else decode(stored.body).event
        if stored is None or not isinstance(event, ListPublished) or not 0 < event.head < stored.position:
            raise _FalseBundleError(Falsehood("bundle", "line 1", f"no entry published {self._facts['list']!r}"))
        if journal.root_at(event.head).hex() != event.root:
            message = f"was published from {event.head} entries with the root {event.root}, which is not theirs"
            raise _FalseBundleError(Falsehood("journal", stored.position, message))
        self._event = event
        return event

    def _calculated(self, journal: Journal, event: ListPublished) -> tuple[Pool | None, list[ListRow]]:
        """Return the pool of the list, and its rows as the entries give them."""
        try:
            with open_advancing_views(journal) as past:
                # Few at a time are folded one by one, without the libraries that a browser does not have.
                for position in range(FEW_ENTRIES, event.head, FEW_ENTRIES):
                    past.advance_to(position)
                    self._progress("replay", position, event.head)
                calculated = calculated_list(past, event)
        except LedgerError as error:
            raise _FalseBundleError(Falsehood("journal", "replay", one_line(error))) from error
        self._progress("replay", event.head, event.head)
        return calculated


def _plain_json(line: bytes) -> object:
    """Return the JSON of a line; None if it is none, or could be written in another way."""
    try:
        value: object = json.loads(line)
        again = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        return value if again.encode() == line else None
    except (ValueError, RecursionError):
        return None


def _stated_hash(line: bytes) -> bytes:
    """Return the hash that a line states before its entry; none if it states none."""
    stated, blank, _ = line.partition(b" ")
    if blank and len(stated) == _AFTER_HASH - 1 and not stated.translate(None, b"0123456789abcdef"):
        return bytes.fromhex(stated.decode())
    return b""


def _append(journal: SqliteJournal, first: int, bodies: Sequence[bytes]) -> Iterator[Falsehood]:
    """Append entries to a journal; yield the first that is no entry."""
    kinds, keys = list[str](), list[str]()
    for position, body in enumerate(bodies, first):
        try:
            entry = json.loads(body)
            kinds.append(str(entry["kind"]))
            keys.append(str(entry["key"]))
        except (ValueError, LookupError, TypeError, RecursionError):
            yield Falsehood("journal", position, f"was signed, and is no entry of a ledger: {excerpt(body)}")
            return
    try:
        with journal.writing() as writer:
            writer.append(kinds, keys, bodies)
    except (LedgerError, ValueError, KeyTakenError) as error:
        yield Falsehood(
            "journal", first, f"this entry or one of the {TILE} after it repeats another: {one_line(error)}"
        )


def _wrong_entries(leaves: list[bytes], stated: list[bytes], root: bytes) -> Iterator[Falsehood]:
    """Yield the first entry that is not as it was signed, or the first hash."""
    of_bodies = level_root(leaves)
    if leaves == stated and of_bodies == root:
        return
    first = next((n for n, pair in enumerate(zip(leaves, stated, strict=True)) if pair[0] != pair[1]), None)
    if first is None:
        message = f"the {len(leaves)} entries have the root {of_bodies.hex()}, but {root.hex()} was signed"
        yield Falsehood("bundle", "entries", f"{message}: they are those of another ledger, or were hashed anew")
    elif of_bodies == root:
        message = f"entry {first + 1} is as it was signed, but the hash before it is not {leaves[first].hex()}"
        yield Falsehood("bundle", f"line {first + 2}", message)
    else:
        hashes = f"it hashes to {leaves[first].hex()}, its signed hash is {stated[first].hex() or 'unreadable'}"
        yield Falsehood("journal", first + 1, f"is not the entry that was signed: {hashes}")
