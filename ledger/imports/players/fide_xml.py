"""FIDE's downloadable rating list as XML, read as it comes: ``<playerslist><player><fideid>…</player>…``.

Read by expat; a document type, and so every entity of its own, is refused where it begins: nothing is expanded and
nothing fetched. A fault names the line on which its player begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from xml.parsers import expat

from ledger.imports.players.fide import LABELS, without_strangers
from ledger.imports.players.fide_text import NO_DAY
from ledger.imports.players.rows import Converter
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

ROWS = 20_000  # players a frame
MAX_TEXT = 1_000  # characters of a field
MAX_DEEP = 8  # elements in each other; a list has three
_FIELDS: Mapping[str, str] = {"fideid": "fide_id", "name": "name", "birthday": "birth_year"}
_RATINGS: Mapping[str, tuple[str, str]] = {
    "standard": ("rating", "k"),
    "rapid": ("rapid_rating", "rapid_k"),
    "blitz": ("blitz_rating", "blitz_k"),
}


class _Stop(ValueError):  # noqa: N818 (a reason to stop, told as a fault)
    """What ends the reading of a document."""


def looks_like(first: bytes) -> bool:
    """Whether a file begins as a list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!DOCTYPE|playerslist|player)\b", first) is not None


class _Players:
    """Gathers the fields of players as expat meets them."""

    def __init__(self, kind: str) -> None:
        rating, k = _RATINGS[kind]
        # a list of one kind says rating and k
        self._names = {**_FIELDS, "rating": "rating", "k": "k_factor", rating: "rating", k: "k_factor"}
        self._own = {rating, k}
        self.rows: list[tuple[int, dict[str, str]]] = []
        self._player: dict[str, str] | None = None
        self._begun = 0
        self._field: str | None = None
        self._text: list[str] = []
        self._size = self._depth = 0
        self._is_combined = kind != "standard"
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
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
            if meaning is not None and (name in self._own or meaning not in self._player):
                self._player[meaning] = "".join(self._text)
        self._field = None


def frames(chunks: Iterable[bytes], reading: Reading, kind: str, since: str | None) -> Iterator[DataFrame]:
    """The good players of a list, in the columns of ``player_schema()``; the bad ones go to *reading*.

    Args:
        chunks: the file.
        reading: takes the faults; one that ends the reading, too.
        kind: ``standard``, ``rapid`` or ``blitz``: which rating of a combined list.
        since: from when the list holds; None is a fault, for the list does not tell.
    """
    if since is None:
        reading.fault(1, NO_DAY)
        return
    players, converter = _Players(kind), Converter(LABELS)
    seen = 0
    try:
        for chunk in chunks:
            players.parser.Parse(chunk, False)  # noqa: FBT003
            if len(players.rows) >= ROWS:
                seen += len(players.rows)
                yield from _frame(players, converter, reading, since)
        players.parser.Parse(b"", True)  # noqa: FBT003
    except expat.ExpatError as error:
        reading.cut(error.lineno, f"this is no well-formed XML ({expat.ErrorString(error.code)}); get the file again")
    except _Stop as error:
        reading.cut(players.parser.CurrentLineNumber, str(error))
    seen += len(players.rows)
    yield from _frame(players, converter, reading, since)
    if not seen and not reading.fault_count:
        reading.fault(1, "there is no <player> in it; give FIDE's list, or say --format")


def _frame(players: _Players, converter: Converter, reading: Reading, since: str) -> Iterator[DataFrame]:
    rows, players.rows = players.rows, []
    if rows:
        columns = {name: [fields.get(name) for _, fields in rows] for name in LABELS}
        cells = pl.DataFrame(columns, schema=dict.fromkeys(LABELS, pl.String)).with_columns(
            pl.Series("line", [line for line, _ in rows], pl.Int64)
        )
        frame, faults = converter.convert(without_strangers(cells))
        reading.take(faults)
        if frame.height:
            yield frame.with_columns(since=pl.lit(since))
