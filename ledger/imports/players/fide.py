"""FIDE's downloadable rating lists: as text in fixed columns, and as XML.

A list has rating, K, year of birth, federation, sex, title and a flag; its games are those of the last period, not
those behind the rating, and are not taken. Who has no rating comes in without one.

As text, the columns begin where the words of the first line begin. The combined list (``players_list``) has ``SRtng SGm
SK RRtng RGm Rk BRtng BGm BK``; the list of one kind has the month instead, as in ``SEP26 Gms K``, which says from when
it holds. Older lists say ``Games`` and ``Born``.

As XML, ``<playerslist><player><fideid>…</player>…``, it is read by expat; a document type, and so every entity of its
own, is refused where it begins: nothing is expanded and nothing fetched. A fault names the line on which its player
begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat

from ledger.facts.event_fields import FEDERATION_PATTERN
from ledger.facts.player_details import TITLE_PATTERN
from ledger.imports.csv.rows import decode_text
from ledger.imports.players.rows import FURTHER_RATINGS, PlayerConverter
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame


KINDS = ("standard", "rapid", "blitz")
ALL_KINDS = "all"  # of a combined list: the standard rating, and the others in the columns of ``FURTHER_RATINGS``
LABELS: Mapping[str, str] = {
    "fide_id": "the FIDE number",
    "name": "the name",
    "rating": "the rating",
    "k_factor": "K",
    "birth_year": "the year of birth",
    **{
        name: f"{what} of {kind}"
        for kind, names in FURTHER_RATINGS.items()
        for name, what in zip(names, ("the rating", "K"), strict=True)
    },
}
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def month_start(word: str) -> str | None:
    """Return the first day of a month as FIDE's lists write it: ``SEP26`` is ``2026-09-01``; None for other texts."""
    name, year = word[:3].upper(), word[3:]
    if name not in _MONTHS or len(year) != 2 or not year.isdecimal():
        return None
    century = 2000 if int(year) < 70 else 1900  # the first list is of 1971
    return f"{century + int(year)}-{_MONTHS.index(name) + 1:02}-01"


def drop_unrated_k(cells: DataFrame) -> DataFrame:
    """Return the cells without the K-factors of unrated players, which lists give to players of other lists."""
    pairs = [("rating", "k_factor"), *(pair for pair in FURTHER_RATINGS.values() if pair[0] in cells.columns)]
    unrated = {k: pl.col(rating).fill_null("").str.strip_chars().is_in(["", "0"]) for rating, k in pairs}
    return cells.with_columns(pl.when(none).then(None).otherwise(pl.col(k)).alias(k) for k, none in unrated.items())


# The columns of data about players that FIDE's lists have; each may be missing.
_DETAILS = {"federation": "the federation", "sex": "the sex", "title": "the title", "active": "the flag"}


def normalize_details(cells: DataFrame) -> DataFrame:
    """Return the cells with the data about players as the converter takes them; what is ill-formed is left out.

    Columns ``federation``, ``sex``, ``title``, ``woman_title`` and ``flag`` become ``federation``, ``sex``, ``title``
    and ``active``. A flag has an i for an inactive player, in old lists also a w for a woman.
    """
    present = set(cells.columns)

    def text(name: str) -> pl.Expr:
        cell = pl.col(name) if name in present else pl.lit(None, pl.String)
        return cell.fill_null("").str.strip_chars().str.to_uppercase()

    titles = [pl.when(text(name).str.contains(f"^{TITLE_PATTERN}$")).then(text(name)) for name in _TITLES]
    sex = pl.when(text("sex").is_in(["M", "W", "F"])).then(text("sex"))
    woman = pl.when(text("flag").str.contains("W")).then(pl.lit("w"))
    active = pl.when(text("flag").str.contains("I")).then(pl.lit("no")).otherwise(pl.lit("yes"))
    federation = pl.when(text("federation").str.contains(f"^{FEDERATION_PATTERN}$")).then(text("federation"))
    return cells.with_columns(
        federation=federation,
        sex=pl.coalesce(sex, woman),
        title=pl.coalesce(titles),
        active=active if "flag" in present else pl.lit(None, pl.String),
    ).drop(["flag", "woman_title"], strict=False)


_TITLES = ("title", "woman_title")
ROWS = 20_000  # players a frame
_WORD = re.compile(r"ID\s[Nn]umber|\S+")
_TEXT_RATINGS: Mapping[str, tuple[str, str]] = {
    "standard": ("srtng", "sk"),
    "rapid": ("rrtng", "rk"),
    "blitz": ("brtng", "bk"),
}


class ListLayout(NamedTuple):
    """The columns of a text list, as first and last character by name, and the day from which the list holds."""

    places: Mapping[str, tuple[int, int | None]]
    since: str | None


def is_text_list(first: bytes) -> bool:
    """Return whether a file begins as FIDE's text list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?ID[ _][Nn]umber\s+Name\b", first) is not None


def read_layout(line: str, kind: str) -> ListLayout:
    """Return the columns that the first line of a text list names.

    *kind*: ``standard``, ``rapid`` or ``blitz``: which rating of a combined list; ``all``: each of them.

    Raises:
        ValueError: a column is missing.
    """
    words = [(match[0], match.start()) for match in _WORD.finditer(line.rstrip())]
    edges = [start for _, start in words]
    spans: dict[str, tuple[int, int | None]] = {}
    since = None
    for (word, start), end in zip(words, [*edges[1:], None], strict=True):
        name = re.sub(r"\s+", " ", word).lower()
        month = month_start(word)
        # Lists of one kind head the column of their ratings with their month, such as SEP26.
        if month is not None:
            since, name = month, "list"
        spans.setdefault(name, (start, end))
    rating, k = _TEXT_RATINGS[KINDS[0] if kind == ALL_KINDS else kind]
    columns = {
        "fide_id": spans.get("id number"),
        "name": spans.get("name"),
        "rating": spans.get(rating, spans.get("list")),
        "k_factor": spans.get(k, spans.get("k")),
        "birth_year": spans.get("b-day", spans.get("born")),
        "federation": spans.get("fed"),
        "sex": spans.get("sex"),
        "title": spans.get("tit", spans.get("titl")),
        "woman_title": spans.get("wtit"),
        "flag": spans.get("flag"),
    }
    needed = ["fide_id", "name", "rating"]
    if kind == ALL_KINDS:
        columns["rating"] = spans.get(rating)
        for each, names in FURTHER_RATINGS.items():
            columns |= zip(names, map(spans.get, _TEXT_RATINGS[each]), strict=True)
            needed.append(names[0])
    missing = [LABELS[name] for name in needed if columns[name] is None]
    if missing:
        raise ValueError(
            f"nothing was read: the first line of the list has no column for {' and '.join(missing)}; "
            "it must be that of FIDE's list, as in 'ID Number      Name ... SRtng SGm SK ...'"
        )
    return ListLayout({name: span for name, span in columns.items() if span is not None}, since)


def read_text(lines: Iterable[bytes], reading: Reading, kind: str, since: str | None) -> Iterator[DataFrame]:
    """Yield the valid players of a text list as frames with the columns of ``player_schema()``.

    *kind*: which rating of a combined list. *since*: from when it holds; None: the day of its first line, and a fault
    if that has none.
    """
    source = iter(lines)
    header = next(source, b"")
    try:
        layout = read_layout(decode_text(header).removeprefix("\ufeff"), kind)
    except ValueError as error:
        reading.file_fault(1, str(error))
        return
    if since is None and layout.since is None:
        reading.file_fault(1, NO_DAY)
        return
    without_k = ["k_factor"] + [k for rating, k in FURTHER_RATINGS.values() if rating in layout.places]
    without_k = [k for k in without_k if k not in layout.places]
    labels = {name: LABELS[name] for name in (*layout.places, *without_k) if name in LABELS}
    converter = PlayerConverter({**labels, **_DETAILS})
    number = 2
    while block := list(islice(source, ROWS)):
        text = pl.DataFrame({"text": [decode_text(line.rstrip(b"\r\n")) for line in block]}).with_columns(
            line=pl.int_range(number, number + len(block), dtype=pl.Int64)
        )
        number += len(block)
        cells = text.filter(pl.col("text").str.strip_chars() != "").select(
            "line",
            *(_field(name, *span) for name, span in layout.places.items()),
            *(pl.lit(None, pl.String).alias(k) for k in without_k),
        )
        frame, faults = converter.convert(normalize_details(drop_unrated_k(cells)))
        reading.add_faults(faults)
        if frame.height:
            yield frame.with_columns(since=pl.lit(since or layout.since))


NO_DAY = "the list does not tell from when it holds: say it, by --since 2026-09-01"


def _field(name: str, start: int, end: int | None) -> pl.Expr:
    return pl.col("text").str.slice(start, None if end is None else end - start).str.strip_chars().alias(name)


MAX_TEXT = 1_000  # characters of a field
MAX_DEEP = 8  # elements in each other; a list has three
_XML_FIELDS: Mapping[str, str] = {
    "fideid": "fide_id", "name": "name", "birthday": "birth_year", "country": "federation", "sex": "sex",
    "title": "title", "w_title": "woman_title", "flag": "flag",
}  # fmt: skip
_XML_RATINGS: Mapping[str, tuple[str, str]] = {
    "standard": ("rating", "k"),
    "rapid": ("rapid_rating", "rapid_k"),
    "blitz": ("blitz_rating", "blitz_k"),
}


class _Stop(ValueError):  # noqa: N818 (a reason to stop, reported as a fault)
    """The reason to end the reading of a document."""


def is_xml_list(first: bytes) -> bool:
    """Return whether a file begins as FIDE's XML list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!DOCTYPE|playerslist|player)\b", first) is not None


class _PlayerElements:
    """Gathers the fields of players as expat meets them."""

    def __init__(self, kind: str) -> None:
        rating, k = _XML_RATINGS[KINDS[0] if kind == ALL_KINDS else kind]
        # a list of one kind says rating and k
        self._names = {**_XML_FIELDS, "rating": "rating", "k": "k_factor", rating: "rating", k: "k_factor"}
        self._own = {rating, k}
        for each, names in FURTHER_RATINGS.items() if kind == ALL_KINDS else ():
            self._names |= zip(_XML_RATINGS[each], names, strict=True)
        self.fields = [name for name in LABELS if name in self._names.values()]
        self.rows: list[tuple[int, dict[str, str]]] = []
        self._player: dict[str, str] | None = None
        self._begun = 0
        self._field: str | None = None
        self._text: list[str] = []
        self._size = self._depth = 0
        self.parser = expat.ParserCreate()
        # otherwise a name comes in pieces at each entity and line end
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        # A few bytes of entities may unfold to gigabytes, so that none are taken.
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise _Stop("a document type or an entity stands here, which a list of players does not need: take it out")

    def _start(self, name: str, _: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEEP:
            raise _Stop(f"elements stand more than {MAX_DEEP} deep, the limit: this is no list of players")
        if name == "player":
            self._player, self._begun = {}, self.parser.CurrentLineNumber
        elif self._player is not None:
            self._field, self._text, self._size = name, [], 0

    def _data(self, data: str) -> None:
        if self._field is not None:
            self._size += len(data)
            if self._size > MAX_TEXT:
                raise _Stop(f"<{self._field[:60]}> has more than {MAX_TEXT} characters, the limit of a field")
            self._text.append(data)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "player" and self._player is not None:
            self.rows.append((self._begun, self._player))
            self._player = None
        elif self._player is not None and name == self._field:
            meaning = self._names.get(name)
            # the rating of the requested kind goes before the one that every list has
            if meaning is not None and (name in self._own or meaning not in self._player):
                self._player[meaning] = "".join(self._text)
        self._field = None


def read_xml(chunks: Iterable[bytes], reading: Reading, kind: str, since: str | None) -> Iterator[DataFrame]:
    """Yield the valid players of an XML list as frames with the columns of ``player_schema()``.

    *kind*: ``standard``, ``rapid`` or ``blitz``: which rating of a combined list. *since*: from when the list holds;
    None is a fault, for the list does not say it.
    """
    if since is None:
        reading.file_fault(1, NO_DAY)
        return
    players = _PlayerElements(kind)
    converter = PlayerConverter({**{name: LABELS[name] for name in players.fields}, **_DETAILS})
    seen = 0
    try:
        for chunk in chunks:
            # expat takes this flag by its place alone.
            players.parser.Parse(chunk, False)  # noqa: FBT003
            if len(players.rows) >= ROWS:
                seen += len(players.rows)
                yield from _frame(players, converter, reading, since)
        players.parser.Parse(b"", True)  # noqa: FBT003
    except expat.ExpatError as error:
        reading.stop(error.lineno, f"this is no well-formed XML ({expat.ErrorString(error.code)}); get the file again")
    except _Stop as error:
        reading.stop(players.parser.CurrentLineNumber, str(error))
    seen += len(players.rows)
    yield from _frame(players, converter, reading, since)
    if not seen and not reading.fault_count:
        reading.file_fault(1, "there is no <player> in it; give FIDE's list, or say --format")


def _frame(players: _PlayerElements, converter: PlayerConverter, reading: Reading, since: str) -> Iterator[DataFrame]:
    rows, players.rows = players.rows, []
    if rows:
        fields_read = [*players.fields, *(name for name in _XML_FIELDS.values() if name not in LABELS)]
        columns = {name: [fields.get(name) for _, fields in rows] for name in fields_read}
        cells = pl.DataFrame(columns, schema=dict.fromkeys(fields_read, pl.String)).with_columns(
            pl.Series("line", [line for line, _ in rows], pl.Int64)
        )
        frame, faults = converter.convert(normalize_details(drop_unrated_k(cells)))
        reading.add_faults(faults)
        if frame.height:
            yield frame.with_columns(since=pl.lit(since))
