"""The check of texts that a journal stores by their hash outside the entries: movetexts, rows of published lists.

The form of the rows is that of ``rating-list/3``, of earlier releases ``rating-list/2`` and ``/1``: a cover that
names its parts, each text stored by its SHA-256. That each is there, and that cover and entry agree, is checked here;
whether the numbers follow from the entries is checked elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ledger.audit.reader.layouts import page_falsehoods
from ledger.audit.reader.snapshots import (
    FIRST_FALSEHOODS,
    READ_ERRORS,
    RESTORE,
    Falsehood,
    Finding,
    Snapshot,
    excerpt,
    facts_of,
    open_with_tables,
)
from ledger.errors import one_line
from ledger.runtime.lazy import zstandard

LARGEST_TEXT = 16 << 20  # bytes: the longest game has some 100,000
LARGEST_WINDOW = 8 << 20  # bytes: what every zstd decoder must support
REMEDY = "restore that row from a copy"


@attrs.frozen
class TextsVerdict(Finding):
    """The findings of an audit about the movetexts, and the numbers of texts and of entries that refer to them.

    The falsehoods are the first 20 false texts, the first 20 entries whose text is missing, then damage to pages.
    """

    checked: int
    references: int
    falsehoods: tuple[Falsehood, ...]


def verify_texts(journal: str | Snapshot) -> TextsVerdict:
    """Check that every text of a journal decompresses to its hash, and that no entry refers to a missing text.

    Raises:
        StorageError: the file is missing, locked, or may not be read.
        CorruptError: it is no database or lacks its tables.
    """
    false: list[Falsehood] = []
    dangling: list[Falsehood] = []
    with open_with_tables(journal, "journal", "texts") as file:
        checked = references = 0
        for sha256, fault in _texts(file):
            checked += 1
            if fault and len(false) < FIRST_FALSEHOODS:
                false.append(Falsehood("texts", excerpt(sha256), fault))
        for position, fault in _references(file):
            references += 1
            if fault and len(dangling) < FIRST_FALSEHOODS:
                dangling.append(Falsehood("journal", position, fault))
        pages = page_falsehoods(file.connection, "journal", RESTORE, table="texts")
    return TextsVerdict(checked, references, (*false, *dangling, *pages))


def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)


def _texts(file: Snapshot) -> Iterator[tuple[Any, str]]:
    """Yield the hash of each text and its fault; the iteration ends with a report at the first unreadable one."""
    decompressor = _decompressor()
    sha256: Any = b""
    try:
        # In the order in which they were stored, which is that of the pages; by hash each would be looked up elsewhere.
        for sha256, packed in file.connection.execute("SELECT sha256, zstd FROM texts ORDER BY rowid"):
            yield sha256, _text_fault(decompressor, sha256, packed)
    except READ_ERRORS as error:
        yield sha256, f"no text stored after this one can be read ({one_line(error)}); {RESTORE}"


def _unpacked(decompressor: zstandard.ZstdDecompressor, packed: Any) -> bytes:
    """Return the bytes of a text; ValueError if it would take much memory."""
    # A kilobyte may say that it is a terabyte, and ``max_output_size`` holds only where the header says nothing: it is
    # asked before a byte is unpacked.
    size = zstandard.frame_content_size(packed)
    if size > LARGEST_TEXT:
        raise ValueError(f"it says that it has {size} bytes")
    return decompressor.decompress(packed, max_output_size=LARGEST_TEXT, allow_extra_data=False)


def _text_fault(decompressor: zstandard.ZstdDecompressor, sha256: object, packed: Any) -> str:
    """Return the fault of one text, or nothing."""
    try:
        text = _unpacked(decompressor, packed)
    except (zstandard.ZstdError, ValueError, TypeError) as error:
        return f"cannot be decompressed into {LARGEST_TEXT} bytes ({one_line(error)}); {REMEDY}"
    digest = hashlib.sha256(text)
    if digest.digest() == sha256:
        return ""
    return f"decompresses to bytes that hash to {digest.hexdigest()}; {REMEDY}"


def _references(file: Snapshot) -> Iterator[tuple[int, str]]:
    """Yield each entry that names a text, and its fault; it ends with a report at the first unreadable entry."""
    sql = "SELECT position, body FROM journal WHERE instr(body, ?) ORDER BY position"
    position = 0
    try:
        # In canonical JSON the member can be written in no other way: only the bodies that have these bytes are parsed.
        for position, body in file.connection.execute(sql, (b'"text":"',)):
            text = facts_of(body).get("text")
            if text is not None:
                missing = f"names text {excerpt(text)}, which is not in table texts; restore it from a copy"
                try:
                    sha256 = bytes.fromhex(text) if isinstance(text, str) else b""
                except ValueError:
                    sha256 = b""
                row = file.connection.execute("SELECT 1 FROM texts WHERE sha256 = ?", (sha256,)).fetchone()
                yield position, "" if row is not None else missing
    except READ_ERRORS as error:
        yield position, f"no text named after this entry can be looked for ({one_line(error)}); {RESTORE}"


FORMS = ("rating-list/3", "rating-list/2", "rating-list/1")  # in the last one every row has a place of its own
COLUMNS = ["player", "rank", "shown", "rating", "games", "last_game"]
# The range of their keys, read from the index.
# In the order of keys ';' follows ':', so that these two enclose every list.
_OF_LISTS = "key >= 'list:' AND key < 'list;'"
_ABSENT = "restore that row of table texts from a copy, or work it out again by 'lists DB LIST --restore-rows'"


@attrs.frozen
class PublishedList:
    """A journal entry that published a rating list; *name* is pool, instant and edition, as its key has them."""

    position: int
    name: str
    facts: Mapping[str, Any]

    @property
    def head(self) -> int:
        """The number of entries that the list follows from; 0 if it states none."""
        head = self.facts.get("head")
        return head if type(head) is int and 0 < head < self.position else 0

    def __str__(self) -> str:
        return f"list {self.name}"


@attrs.frozen
class ListsVerdict(Finding):
    """The findings of an audit about the published lists, of which *lists* are all, in order."""

    lists: tuple[PublishedList, ...]
    falsehoods: tuple[Falsehood, ...]


def published_lists(file: Snapshot) -> list[PublishedList]:
    """Return the entries that published lists; none if they cannot be read, which ``verify_journal`` reports."""
    try:
        query = file.entries_by_key("position, key, body", _OF_LISTS)
        rows = file.connection.execute(f"{query} ORDER BY position").fetchall()
    except READ_ERRORS:
        return []
    return [
        PublishedList(position, str(key).removeprefix("list:"), facts_of(body))
        for position, key, body in rows
        if type(position) is int
    ]


def verify_lists(file: Snapshot, roots: Mapping[int, bytes]) -> ListsVerdict:
    """Check that each published list states a true head, and that its rows are stored.

    *roots* are the recomputed roots by number of entries, for the head of each list.
    """
    lists = published_lists(file)
    false = [falsehood for published in lists for falsehood in _faults(file, published, roots)]
    return ListsVerdict(tuple(lists), tuple(false[:FIRST_FALSEHOODS]))


def _faults(file: Snapshot, published: PublishedList, roots: Mapping[int, bytes]) -> Iterator[Falsehood]:
    said = published.facts.get("root")
    if not published.head:
        message = (
            f"{published} follows from {excerpt(published.facts.get('head'))} entries, which were not all before it"
        )
        yield Falsehood("journal", published.position, f"{message}; {RESTORE}")
    elif published.head in roots and said != roots[published.head].hex():
        true = roots[published.head].hex()
        message = f"{published} follows from {published.head} entries with root {excerpt(said)}, but theirs is {true}"
        yield Falsehood("journal", published.position, f"{message}: it was published elsewhere; {RESTORE}")
    try:
        # Read to the end only for what that refuses.
        for _ in stored_list_rows(file, published):
            pass
    except ValueError as fault:
        yield Falsehood("texts", str(published), str(fault))


def list_form(file: Snapshot, published: PublishedList) -> str:
    """Return the form in which a list is stored; the newest if it cannot be read, which ``verify_lists`` reports."""
    try:
        head = next(iter(_lines(file, published.facts.get("digest"))), None)
    except ValueError:
        return FORMS[0]
    form = head.get("form") if isinstance(head, dict) else None
    return form if form in FORMS else FORMS[0]


def stored_list_rows(file: Snapshot, published: PublishedList) -> Iterator[list[Any]]:
    """Return the stored rows of a list, in order of the player numbers, each with the values of ``COLUMNS``.

    Raises:
        ValueError: a part is missing or false, as its message says.
    """
    lines = _lines(file, published.facts.get("digest"))
    if not lines or not isinstance(lines[0], dict):
        raise ValueError(f"its cover begins with {excerpt(lines[:1])}, not with a form; {RESTORE}")
    head, *parts = lines
    players = published.facts.get("players")
    if head.get("form") not in FORMS or (head.get("columns"), head.get("players")) != (COLUMNS, players):
        raise ValueError(f"its cover says {excerpt(head)}, not {players} players in the form {FORMS[0]}; {RESTORE}")
    last = counted = 0
    for part in parts:
        rows = _lines(file, part[0] if isinstance(part, list) and part else part)
        for row in rows:
            if not is_list_row(row) or row[0] <= last:
                raise ValueError(f"holds {excerpt(row)}, which is no row after player {last}; {RESTORE}")
            last = row[0]
            yield row
        counted += len(rows)
        if not rows or part != [part[0], rows[0][0], last, len(rows)]:
            raise ValueError(f"its cover says {excerpt(part)} of a part with other players; {RESTORE}")
    if counted != players:
        raise ValueError(f"holds {counted} rows of {players} players; {RESTORE}")


def is_list_row(row: Any) -> bool:
    """Return whether a value is a list of player, rank, shown rating, rating, number of games, and a day or null."""
    kinds = (int, int, int, float, int)
    return (
        isinstance(row, list)
        and len(row) == len(COLUMNS)
        # ``isinstance`` would take ``true`` for a whole number.
        # Not strict: the day, which may be missing, is judged by itself.
        and all(type(value) is kind for value, kind in zip(row, kinds, strict=False))
        and all(abs(value) <= 2**53 for value in row[:5])  # the largest whole number of an entry; NaN is none
        and (row[5] is None or type(row[5]) is str)
    )


def _lines(file: Snapshot, digest: Any) -> list[Any]:
    """Return the lines of a stored text, each read as JSON."""
    row: Any = None
    try:
        sha256 = bytes.fromhex(digest)
        row = file.connection.execute("SELECT zstd FROM texts WHERE sha256 = ?", (sha256,)).fetchone()
        text = b"" if row is None else _unpacked(_decompressor(), row[0])
    except (*READ_ERRORS, zstandard.ZstdError, ValueError, TypeError) as error:
        fault = f"text {excerpt(digest)} of its kept rows cannot be read ({one_line(error)}); {_ABSENT}"
        raise ValueError(fault) from None
    if row is None:
        raise ValueError(f"text {digest} of its kept rows is missing; {_ABSENT}")
    if hashlib.sha256(text).digest() != sha256:
        raise ValueError(f"text {digest} of its kept rows was changed; {_ABSENT}")
    try:
        return [json.loads(line) for line in text.splitlines()]
    except (ValueError, RecursionError):
        raise ValueError(f"text {digest} of its kept rows is not in the form {FORMS[0]}; {RESTORE}") from None
