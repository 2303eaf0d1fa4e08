"""FIDE's downloadable rating list as text: fixed columns, which begin where the words of its first line begin.

The combined list (``players_list``) has ``SRtng SGm SK RRtng RGm Rk BRtng BGm BK``; the list of one kind has the month
instead, as in ``SEP26 Gms K``, which tells from when it holds. Older lists say ``Games`` and ``Born``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ledger.imports.csv.rows import decode
from ledger.imports.players.fide import LABELS, month_of, without_strangers
from ledger.imports.players.rows import Converter
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

ROWS = 20_000  # lines a frame
_WORD = re.compile(r"ID\s[Nn]umber|\S+")
_RATINGS: Mapping[str, tuple[str, str]] = {
    "standard": ("srtng", "sk"),
    "rapid": ("rrtng", "rk"),
    "blitz": ("brtng", "bk"),
}


class Layout(NamedTuple):
    """Where the fields of a list stand: by our name first and last column, from 0; and from when the list holds."""

    places: Mapping[str, tuple[int, int | None]]
    since: str | None


def looks_like(first: bytes) -> bool:
    """Whether a file begins as a list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?ID[ _][Nn]umber\s+Name\b", first) is not None


def read_layout(line: str, kind: str) -> Layout:
    """Understand the first line.

    Args:
        line: the line.
        kind: ``standard``, ``rapid`` or ``blitz``: which rating of a combined list.

    Raises:
        ValueError: a column is missing.
    """
    words = [(match[0], match.start()) for match in _WORD.finditer(line.rstrip())]
    edges = [start for _, start in words]
    spans: dict[str, tuple[int, int | None]] = {}
    since = None
    for (word, start), end in zip(words, [*edges[1:], None], strict=True):
        name = re.sub(r"\s+", " ", word).lower()
        month = month_of(word)
        if month is not None:
            since, name = month, "list"
        spans.setdefault(name, (start, end))
    rating, k = _RATINGS[kind]
    found = {
        "fide_id": spans.get("id number"),
        "name": spans.get("name"),
        "rating": spans.get(rating, spans.get("list")),
        "k_factor": spans.get(k, spans.get("k")),
        "birth_year": spans.get("b-day", spans.get("born")),
    }
    missing = [LABELS[name] for name in ("fide_id", "name", "rating") if found[name] is None]
    if missing:
        raise ValueError(
            f"nothing was read: the first line of the list has no column for {' and '.join(missing)}; "
            "it must be that of FIDE's list, as in 'ID Number      Name ... SRtng SGm SK ...'"
        )
    return Layout({name: span for name, span in found.items() if span is not None}, since)


def frames(lines: Iterable[bytes], reading: Reading, kind: str, since: str | None) -> Iterator[DataFrame]:
    """The good players of a list, in the columns of ``player_schema()``; the bad lines go to *reading*.

    Args:
        lines: the file.
        reading: takes the faults.
        kind: which rating of a combined list.
        since: from when it holds; None: as its first line tells, and a fault where that does not tell.
    """
    source = iter(lines)
    header = next(source, b"")
    try:
        layout = read_layout(decode(header).removeprefix("\ufeff"), kind)
    except ValueError as error:
        reading.fault(1, str(error))
        return
    if since is None and layout.since is None:
        reading.fault(1, NO_DAY)
        return
    converter = Converter({name: LABELS[name] for name in (*layout.places, "k_factor")})
    number = 2
    while block := list(islice(source, ROWS)):
        text = pl.DataFrame({"text": [decode(line.rstrip(b"\r\n")) for line in block]}).with_columns(
            line=pl.int_range(number, number + len(block), dtype=pl.Int64)
        )
        number += len(block)
        cells = text.filter(pl.col("text").str.strip_chars() != "").select(
            "line",
            *(_field(name, *span) for name, span in layout.places.items()),
            *([] if "k_factor" in layout.places else [pl.lit(None, pl.String).alias("k_factor")]),
        )
        frame, faults = converter.convert(without_strangers(cells))
        reading.take(faults)
        if frame.height:
            yield frame.with_columns(since=pl.lit(since or layout.since))


NO_DAY = "the list does not tell from when it holds: say it, by --since 2026-09-01"


def _field(name: str, start: int, end: int | None) -> pl.Expr:
    return pl.col("text").str.slice(start, None if end is None else end - start).str.strip_chars().alias(name)
