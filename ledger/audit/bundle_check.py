"""The check of a bundle: its signature, its entries, and its list calculated again from them, row by row.

It needs nothing but the file, whose form ``bundles`` describes, and runs in a browser, too: no NumPy, no Polars, no
compiled kernels. The entries go into a journal in a temporary folder, from which the list is calculated as the audit
does it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import attrs

from ledger.audit.audit import audit, calculated_list, list_differences, older_version, other_version
from ledger.audit.reader import Falsehood, Finding, NotAProofError, VerifierKey, verify_note
from ledger.audit.reader.receipts import SignedCheckpoint, canonical_json, text_lines
from ledger.audit.reader.snapshots import FIRST_FALSEHOODS, excerpt
from ledger.audit.reader.texts import is_list_row
from ledger.audit.reader.tree import TILE, leaf_hashes, level_root
from ledger.book.timeline import Pool
from ledger.errors import LedgerError, UnknownNameError, one_line
from ledger.facts.codec import decode
from ledger.facts.events import BY_KIND, OLD_KINDS, ListPublished
from ledger.facts.instants import instant_end_ms
from ledger.facts.words import TreeHead
from ledger.journal import Journal
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.stored_lists import FORMS, ListRow, list_texts
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
    """An error that ends a check at its first falsehood, from which nothing follows."""

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
        self._leaves: list[bytes] = []  # the hashes of the entries
        self._kinds: dict[str, int] = {}  # by kind of entry, the position of the first one
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
            entries=len(self._leaves),
            list_entries=0 if self._event is None else self._event.head,
            rows=self._rows,
            not_compared=self._not_compared,
        )

    def _false(self, message: str) -> _FalseBundleError:
        return _FalseBundleError(Falsehood("bundle", f"line {self._line}", message))

    def _next_line(self, what: str) -> bytes:
        self._line += 1
        line = self._file.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            raise self._false(f"{what} is expected here, and the line is longer than any of a bundle")
        if not line.endswith(b"\n"):
            raise self._false(f"{what} is expected here, and the file ends: it was cut off; get it again")
        return line[:-1]

    def signature(self, keys: Sequence[VerifierKey]) -> None:
        """Read the first line, and verify the signature of its checkpoint."""
        facts = _plain_json(self._next_line(f"a bundle in the form {FORM}"))
        if not isinstance(facts, dict) or {word: type(value) for word, value in facts.items()} != _FIELDS:
            raise self._false(f"is not the first line of a bundle ({FORM}, canonical JSON): the file is another one")
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
        if signed.head.size != facts["entries"] or facts["players"] < 0:
            said = f"{facts['entries']} entries and {facts['players']} players"
            raise self._false(f"says {said}, but {signed.head.size} entries were signed")
        self._signed = signed

    def entries(self) -> None:
        """Hash every entry, compare the root with the signed one, and put the entries into a journal."""
        assert self._signed is not None
        size = self._signed.head.size
        leaves, stated = self._leaves, list[bytes]()
        malformed: list[Falsehood] = []  # signed though no ledger writes such a thing
        journal = SqliteJournal.create(self._path)
        try:
            for first in range(1, size + 1, TILE):
                lines = [self._next_line(f"entry {n}") for n in range(first, min(first + TILE, size + 1))]
                bodies = [line[_AFTER_HASH:] for line in lines]
                leaves += leaf_hashes(bodies)
                stated += [_stated_hash(line) for line in lines]
                if leaves[first - 1 :] == stated[first - 1 :] and not malformed:
                    malformed += self._append(journal, first, bodies)
                self._progress("entries", len(leaves), size)
        finally:
            journal.close()
        if false := _first_wrong_entry(leaves, stated, self._signed.head.root):
            raise _FalseBundleError(false)
        if malformed:
            raise _FalseBundleError(*malformed)

    def _append(self, journal: SqliteJournal, first: int, bodies: Sequence[bytes]) -> Iterator[Falsehood]:
        """Append entries to a journal; yield the first that is no entry."""
        kinds, keys = list[str](), list[str]()
        for position, body in enumerate(bodies, first):
            try:
                entry = json.loads(body)
                kinds.append(str(entry["kind"]))
                keys.append(str(entry["key"]))
                self._kinds.setdefault(kinds[-1], position)
            except (ValueError, LookupError, TypeError, RecursionError):
                yield Falsehood("journal", position, f"was signed, and is no entry of a ledger: {excerpt(body)}")
                return
        earlier = {key: entry.position for key, entry in journal.find(keys).items()}
        for position, key in enumerate(keys, first):
            if key in earlier:
                yield Falsehood("journal", position, f"repeats entry {earlier[key]}: both have the key {excerpt(key)}")
                return
            earlier[key] = position
        try:
            with journal.writing() as writer:
                writer.append(kinds, keys, bodies)
        except (LedgerError, ValueError) as error:
            yield Falsehood("journal", f"{first} to {first + len(bodies) - 1}", f"cannot be stored: {one_line(error)}")

    def journal(self, since: TreeHead | None) -> None:
        """Audit the journal: a head that was kept, order and times of its entries, and four eyes."""
        if since is not None and (message := self._contradiction(since)):
            raise _FalseBundleError(Falsehood("head", since.size, message))
        verdict = audit(self._path, journal_only=True)
        if verdict.falsehoods:
            raise _FalseBundleError(*verdict.falsehoods)

    def _contradiction(self, kept: TreeHead) -> str:
        """Return what contradicts a head that was kept; empty if nothing does."""
        if kept.size > len(self._leaves):
            return f"the bundle has {len(self._leaves)} entries, the head that you kept {kept.size}: get a newer one"
        if (root := level_root(self._leaves[: kept.size])) != kept.root:
            was = f"the first {kept.size} entries had the root {kept.root.hex()} when you kept it"
            return f"{was}, and have {root.hex()} here: history was changed"
        return ""

    def rows(self) -> None:
        """Read the rows, calculate the list from the entries before it, and compare."""
        rows, read = self._read_rows()
        journal = SqliteJournal(self._path, read_only=True)
        try:
            position, event = self._publication(journal)
            if why_not := other_version(event) or self._unknown_kind(event.head):
                self._not_compared = why_not
                return
            try:
                pool, current = self._calculated(journal, event)
            except UnknownNameError as error:  # a scheme that is not installed
                self._not_compared = str(error)
                return
            if pool is None or pool.eras[pool.era_at(instant_end_ms(event.as_of))].scheme.name != event.scheme:
                message = f"says that the list was rated by {event.scheme!r}, and by then another scheme rated the pool"
                raise _FalseBundleError(Falsehood("journal", position, message))
            form = str(self._facts["list_form"])
            calculated = {row.player: row for row in current}
            for player, difference in islice(list_differences(map(list, rows), calculated), FIRST_FALSEHOODS):
                self.falsehoods.append(Falsehood(f"list {self._facts['list']}", player, difference))
            if self.falsehoods and (why_not := older_version(journal, pool, event)):
                self.falsehoods, self._not_compared = [], why_not
                return
            texts = list_texts(rows, form)
            message = ""
            if texts.digest != event.digest:
                message = f"do not have the digest that was published, {event.digest}"
            elif b"".join(texts.texts[1:]) != read:
                message = "are not in the order of the players, or not as the ledger writes them"
            if message and not self.falsehoods:
                self.falsehoods.append(Falsehood("bundle", "rows", message))
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

    def _publication(self, journal: Journal) -> tuple[int, ListPublished]:
        """Return the position and the event of the entry that published the list."""
        key = f"list:{self._facts['list']}"
        stored = journal.find([key]).get(key)
        try:
            event = None if stored is None else decode(stored.body).event
        except LedgerError as error:
            raise _FalseBundleError(Falsehood("journal", stored.position if stored else 0, one_line(error))) from error
        if stored is None or not isinstance(event, ListPublished) or not 0 < event.head < stored.position:
            raise _FalseBundleError(Falsehood("bundle", "line 1", f"no entry published {self._facts['list']!r}"))
        if event.key != key or event.players != self._facts["players"]:
            message = f"published {event.key!r} with {event.players} players, not {key!r} with {self._facts['players']}"
            raise _FalseBundleError(Falsehood("journal", stored.position, message))
        if journal.root_at(event.head).hex() != event.root:
            message = f"was published from {event.head} entries with the root {event.root}, which is not theirs"
            raise _FalseBundleError(Falsehood("journal", stored.position, message))
        self._event = event
        return stored.position, event

    def _unknown_kind(self, head: int) -> str:
        """Return why this version cannot apply the first *head* entries; empty if it can."""
        for kind, position in self._kinds.items():  # in the order of the entries
            if kind not in BY_KIND and kind not in OLD_KINDS and position <= head:
                return f"entry {position} is of kind {kind!r}, which this version does not know: use a newer one"
        return ""

    def _calculated(self, journal: Journal, event: ListPublished) -> tuple[Pool | None, list[ListRow]]:
        """Return the pool of the list, and its rows as the entries give them."""
        try:
            with open_advancing_views(journal) as past:
                # Few at a time are folded one by one, without the libraries that a browser does not have.
                for position in range(FEW_ENTRIES, event.head, FEW_ENTRIES):
                    past.advance_to(position)
                    self._progress("replay", position, event.head)
                calculated = calculated_list(past, event, str(self._facts["list_form"]))
        except UnknownNameError:
            raise
        except LedgerError as error:
            # without the path of a temporary file, which says nothing to anybody
            message = re.sub(r"^\S*ledger-known-\S*: ", "", one_line(error))
            falsehood = Falsehood("journal", f"1 to {event.head}", f"cannot be rated: {message}")
            raise _FalseBundleError(falsehood) from error
        self._progress("replay", event.head, event.head)
        return calculated


def _plain_json(line: bytes) -> object:
    """Return the value of a line of canonical JSON; None if it is none."""
    try:
        return canonical_json(line)
    except ValueError:
        return None


def _stated_hash(line: bytes) -> bytes:
    """Return the hash that a line states before its entry; none if it states none."""
    stated, blank, _ = line.partition(b" ")
    if blank and len(stated) == _AFTER_HASH - 1 and not stated.translate(None, b"0123456789abcdef"):
        return bytes.fromhex(stated.decode())
    return b""


def _first_wrong_entry(leaves: list[bytes], stated: list[bytes], root: bytes) -> Falsehood | None:
    """Return the first entry that is not as it was signed, or the first hash; None if all are."""
    of_bodies = level_root(leaves)
    if leaves == stated and of_bodies == root:
        return None
    first = next((n for n, pair in enumerate(zip(leaves, stated, strict=True)) if pair[0] != pair[1]), None)
    if first is None:
        message = f"the {len(leaves)} entries have the root {of_bodies.hex()}, but {root.hex()} was signed"
        return Falsehood("bundle", "entries", f"{message}: they are those of another ledger, or were hashed anew")
    if of_bodies == root:
        message = f"entry {first + 1} is as it was signed, but the hash before it is not {leaves[first].hex()}"
        return Falsehood("bundle", f"line {first + 2}", message)
    if level_root(stated) == root:
        hashes = f"it hashes to {leaves[first].hex()}, its signed hash is {stated[first].hex()}"
        return Falsehood("journal", first + 1, f"is not the entry that was signed: {hashes}")
    message = f"does not hash to what stands before it ({leaves[first].hex()}), and neither leads to the signed root"
    return Falsehood("journal", first + 1, f"{message}: from here on entries were changed, taken out or put in")
