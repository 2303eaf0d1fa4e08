"""Which reader a list of players wants, by how it begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ledger.imports.files import Source
from ledger.imports.players import csv_lists, fide_text, fide_xml

if TYPE_CHECKING:
    from polars import DataFrame

FORMATS = ("csv", "fide-text", "fide-xml")


def detect(first: bytes) -> str:
    """The format that a list begins like: one of ``FORMATS``."""
    if fide_xml.looks_like(first):
        return "fide-xml"
    return "fide-text" if fide_text.looks_like(first) else "csv"


def list_name(fmt: str, kind: str) -> str | None:
    """What a list is called where nobody names it; None for what may come from anywhere."""
    return None if fmt == "csv" else f"FIDE {kind} rating list"


def frames(source: Source, fmt: str, kind: str, since: str | None) -> Iterator[DataFrame]:
    """The good players of a file, in the columns of ``player_schema()``; the faults go to its reading.

    Args:
        source: the file.
        fmt: one of ``FORMATS``.
        kind: which rating of FIDE's combined list: ``standard``, ``rapid`` or ``blitz``.
        since: from when the ratings of a list of FIDE hold.
    """
    if fmt == "fide-xml":
        return fide_xml.frames(source.chunks(), source.reading, kind, since)
    if fmt == "fide-text":
        return fide_text.frames(source.lines(), source.reading, kind, since)
    return csv_lists.frames(source.stream(), source.reading)
