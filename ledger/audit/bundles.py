"""Bundles: a published list in one file with every entry that it follows from, for anybody to check.

The form ``rating-list-bundle/1`` is lines of UTF-8. The first one is canonical JSON: the form, the signed checkpoint,
the key that verifies it, the list's name and the form of its rows, the numbers of entries and of players. A line for
each entry of the checkpoint follows: its leaf hash in hexadecimal, a blank, and its body as the journal has it. Then
comes a line for each row of the list, as ``journal.stored_lists`` writes it. Nothing else may be there, and nothing can
be written in two ways, so that a changed bit is found wherever it is.

The leaf hashes prove nothing that the bodies do not. With them a check says which entry was changed; without them it
would only know that some entry was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import attrs
import orjson

from ledger.audit.bundle_check import FORM
from ledger.audit.receipts import check_covered, last_checkpoint
from ledger.errors import CorruptError
from ledger.handle import OpenLedger
from ledger.journal.merkle import leaf_hash
from ledger.journal.stored_lists import StoredList, form_of_digest, list_texts
from ledger.publishing.publications import Publication


@attrs.frozen
class BundleSummary:
    """The facts that a bundle shows to everybody who receives it.

    Attributes:
        published: the name of the list.
        entries: the number of entries, and *games* of the games among them.
        players: the number of rows.
        recorders: the names of those who recorded, proposed or decided, as the entries have them.
    """

    published: str
    entries: int
    games: int
    players: int
    recorders: tuple[str, ...]


def bundle_lines(ledger: OpenLedger, publication: Publication, verifier: str) -> Iterator[bytes]:
    """Return the lines of a bundle of a published list, each with its line feed.

    *verifier* is the line by which the ledger's checkpoints are verified.

    Raises:
        StorageError: there is no checkpoint that contains the list.
        CorruptError: the stored rows are missing or changed.
    """
    signed = last_checkpoint(ledger, "bundle")
    check_covered(ledger, signed.head, publication.position, f"list {publication.name}")
    event = publication.event
    rows = list(StoredList(ledger.journal, str(ledger.path), publication.position, event.digest).rows())
    form = form_of_digest(rows, event.digest)
    if form is None:
        raise CorruptError(str(ledger.path), publication.position, "its stored rows are not those that were published")
    first = {
        "checkpoint": signed.note, "entries": signed.head.size, "form": FORM, "key": verifier, "list": publication.name,
        "list_form": form, "players": len(rows),
    }  # fmt: skip
    return _lines(ledger, first, signed.head.size, list_texts(rows, form).texts[1:])


def _lines(ledger: OpenLedger, first: dict[str, object], size: int, texts: tuple[bytes, ...]) -> Iterator[bytes]:
    yield orjson.dumps(first, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
    for block in ledger.journal.read(0, size):
        for body in block:
            yield b"%b %b\n" % (leaf_hash(body).hex().encode(), body)
    yield from texts


def bundle_summary(lines: Sequence[bytes]) -> BundleSummary:
    """Return what the lines of a bundle show."""
    first = json.loads(lines[0])
    entries = [json.loads(line.partition(b" ")[2]) for line in lines[1 : first["entries"] + 1]]
    return BundleSummary(
        published=first["list"],
        entries=len(entries),
        games=sum(entry["kind"].startswith("game-recorded/") for entry in entries),
        players=first["players"],
        recorders=tuple(sorted({entry["actor"] for entry in entries})),
    )
