"""Exports that are texts of their own and no rows: which there are, and what makes them.

A text is made by a function of the ledger and of what was asked for; it gives the bytes of the file piece by piece. The
line in ``DOCUMENTS`` says under which name, in which format, and what has to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ledger.answers.exports.datasets import ExportFilter
from ledger.answers.exports.trf import trf16
from ledger.ledger import Ledger


class Document(NamedTuple):
    """A text that can be exported.

    Attributes:
        doc: what it is, a sentence.
        make: gives the bytes of the file.
        filters: which fields of ``ExportFilter`` it knows.
        suffixes: of the file names by which the format is known without being named.
    """

    doc: str
    make: Callable[[Ledger, ExportFilter], Iterator[bytes]]
    filters: frozenset[str]
    suffixes: tuple[str, ...] = ()


# By what is exported, and the format.
DOCUMENTS: Mapping[tuple[str, str], Document] = {
    ("tournament", "trf16"): Document(
        doc="One tournament as a report in FIDE's TRF16.",
        make=trf16,
        filters=frozenset({"tournament", "pool", "since_ms", "until_ms"}),
        suffixes=(".trf",),
    ),
}
