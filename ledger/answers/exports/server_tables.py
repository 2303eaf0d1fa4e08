"""The documented tables of the views as tables of PostgreSQL: types, keys, indexes, comments, and the rows as CSV.

A table there has the name, the columns, the key and the values that it has in the views: INTEGER is ``bigint``, REAL
``double precision``, TEXT ``text``, BLOB ``bytea``. Instants keep the form of their columns (milliseconds since
1970, or ISO 8601 as exactly as it is known), because a timestamp could not say "some day in May 2004". The
descriptions that ``query`` and Datasette show of a table or a column are its comments. Two more tables are
``origin``, with the journal and position of the rows, and, on request, ``names``. This module knows no server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import attrs

from ledger.answers.asking import PERSONAL, of_one_moment
from ledger.answers.exports.columns import rows_at_one_time
from ledger.answers.querying import QUERY_ONLY_TABLES, view_tables
from ledger.book.tables import POSITION, YES_NO, ColumnDoc, TableDoc
from ledger.errors import MalformedError, ProjectionError
from ledger.handle import OpenLedger
from ledger.ratings import keeping, views_file
from ledger.ratings.projectors import tournament_performance
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.view_tables import side_tables
from ledger.runtime.lazy import pl
from ledger.runtime.postgres import quoted
from ledger.runtime.table_reader import TableReader, TableScan

if TYPE_CHECKING:
    from polars import DataFrame

# By code point, as SQLite sorts: rows come in the same order, and no update of the server's system reorders an index.
_TYPES = {"INTEGER": "bigint", "REAL": "double precision", "TEXT": 'text COLLATE pg_catalog."C"', "BLOB": "bytea"}
# Values that the views calculate are a table there, with the index that other tables of tournaments have.
_BY_TOURNAMENT = (
    f"CREATE INDEX {tournament_performance.NAME}_by_tournament "
    f"ON {tournament_performance.NAME}(pool, tournament, player, n)"
)
_ROWS = 50_000  # that are read, written as CSV and sent at one time
LONGEST_NAME = 63  # bytes; PostgreSQL cuts off what is beyond

MARK = "A copy that rating-ledger makes; what is changed here is lost with the next one."
NAMES, ORIGIN = "names", "origin"
ORIGIN_DOC = TableDoc(
    "Of which journal, and of how many of its entries, the tables beside it are a copy; one row.",
    {
        "ledger": ColumnDoc("which ledger: the Merkle root of the journal's first entry", "SHA-256, hexadecimal"),
        "position": ColumnDoc("the last entry from which the rows follow", POSITION),
        "root": ColumnDoc("the journal's Merkle root there, as 'head' prints it", "SHA-256, hexadecimal"),
        "proposal": ColumnDoc("the open proposal after whose approval they would be so; NULL: they are so"),
        "names": ColumnDoc("whether names and years of birth of people are among them", YES_NO),
    },
)
NAMES_DOC = QUERY_ONLY_TABLES[NAMES]._replace(doc="Who the players are, without those who were erased.")


@attrs.frozen(kw_only=True)
class ServerColumn:
    """A column of a table on the server.

    Attributes:
        name: of the column, in the views too.
        stored_as: its type of SQLite.
        meaning: what it says.
        is_needed: whether it has a value in every row.
    """

    name: str
    stored_as: str
    meaning: ColumnDoc
    is_needed: bool

    @property
    def type(self) -> str:
        """Its type of PostgreSQL, with its collation."""
        return _TYPES[self.stored_as]

    @property
    def scanned(self) -> tuple[str, str]:
        """The expression that reads it, and its type: bytes as PostgreSQL writes them in text."""
        plain = quoted(self.name)
        return (f"'\\x' || hex({plain})", "TEXT") if self.stored_as == "BLOB" else (plain, self.stored_as)


@attrs.frozen(kw_only=True)
class ServerIndex:
    """An index of a table.

    Attributes:
        name: in the schema.
        columns: what it is by, as SQL.
        where: the condition on its rows; empty: it has all of them.
    """

    name: str
    columns: str
    where: str = ""


@attrs.frozen(kw_only=True)
class ServerTable:
    """A table on the server.

    Attributes:
        name: in the schema, and in the views.
        doc: what a row is.
        columns: its columns, in their order.
        key: the names of the columns that identify rows.
        indexes: those that the views have.
        rows: gives the rows, in the order of the key, read by a reader of the views.
        count: states how many rows there are at most, for reports of progress.
        is_personal: whether it identifies people, so that the server may keep no statistics of it.
    """

    name: str
    doc: str
    columns: Sequence[ServerColumn]
    key: Sequence[str]
    indexes: Sequence[ServerIndex] = ()
    rows: Callable[[TableReader], Iterator[DataFrame]] = attrs.field(eq=False)
    count: Callable[[], int] = attrs.field(eq=False)
    is_personal: bool = False

    @property
    def comment(self) -> str:
        """The description of the table, and the mark by which a table of this program is known."""
        return f"{self.doc} {MARK}"

    def comments(self, tables: Mapping[str, ServerTable]) -> dict[str, str]:
        """Yield the description of each column, with its unit and, if that is among *tables*, its values' column.

        Foreign keys are described and not declared: the views declare none, so nothing holds the rows of a plug-in
        to them.
        """
        comments = {}
        for column in self.columns:
            unit = f" ({column.meaning.unit})" if column.meaning.unit else ""
            is_beside = column.meaning.references.partition(".")[0] in tables
            values = f"; a value of {column.meaning.references}" if is_beside else ""
            comments[column.name] = f"{column.meaning.doc or column.name}{unit}{values}"
        return comments

    def csv(self, frame: DataFrame) -> bytes:
        r"""Return rows as COPY reads them: text in quotes, nothing for NULL, numbers in the fewest exact digits.

        Text is always quoted: a line with nothing but ``\.`` would end the rows, and an empty text would be none.

        Raises:
            MalformedError: a text has the character of number 0 in it, which PostgreSQL holds in no text.
        """
        for name, kind in frame.schema.items():
            if kind == pl.String and frame[name].str.contains("\0", literal=True).any():
                # Facts have none: no text of theirs has control characters. A read model of a plug-in may.
                raise MalformedError(
                    [
                        f"table {self.name!r}, column {name!r}: a text has the character U+0000 in it, which "
                        "PostgreSQL cannot hold: mend the plug-in whose table it is, or do without it; nothing changed"
                    ]
                )
        written = BytesIO()
        frame.write_csv(written, include_header=False, quote_style="non_numeric")
        return written.getvalue()


@of_one_moment
def server_tables(ledger: OpenLedger, *, names: bool = False) -> list[ServerTable]:
    """Return every documented table of the views, those of plug-ins too, and on request the names.

    Args:
        ledger: a ledger whose views are up to date.
        names: whether to include identifying data: names, identities, years of birth.

    Raises:
        ProjectionError: the table of a read model is not up to date, or has the name of one of the additional tables.
    """
    connection, at_hand = ledger.views.connection, ledger.views.at_hand
    statements = [
        *views_file.index_statements(),
        *(statement for table in side_tables(at_hand.all, ()) for statement in table.indexes),
        _BY_TOURNAMENT,
    ]
    tables = []
    for name, described in view_tables(ledger).items():
        keeping.refuse_left_behind(connection, name, at_hand.broken)
        if name.lower() in {NAMES, ORIGIN}:
            raise ProjectionError(
                name,
                "its table would have the name of one that an export puts beside it: give the read model another name",
            )
        tables.append(_of_views(ledger, name, described, statements, names=names))
    return [*tables, _of_names(ledger)] if names else tables


def _of_views(
    ledger: OpenLedger, name: str, described: TableDoc, statements: Sequence[str], *, names: bool
) -> ServerTable:
    connection = ledger.views.connection
    if name == tournament_performance.NAME:
        keys = tournament_performance.KEY
        types = [(column, tournament_performance.TYPES[column], column in keys) for column in described.columns]
    else:
        stored = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        places = {column: place for _, column, _, _, _, place in stored if place}
        keys = tuple(sorted(places, key=places.__getitem__))
        types = [(column, kind, bool(needed) or column in keys) for _, column, kind, needed, _, _ in stored]
    columns = [
        ServerColumn(
            name=column, stored_as=kind, meaning=described.columns.get(column, ColumnDoc("")), is_needed=is_needed
        )
        for column, kind, is_needed in types
        if names or column not in PERSONAL
    ]

    def rows(reader: TableReader) -> Iterator[DataFrame]:
        scanned = {column.name: column.scanned for column in columns}
        for where in rows_at_one_time(connection, name):
            yield from reader.frames(TableScan(columns=scanned, source=quoted(name), key=keys, where=where), _ROWS)

    def count() -> int:
        # a performance belongs to a row of the history
        counted = HISTORY.name if name == tournament_performance.NAME else name
        return int(connection.execute(f"SELECT count(*) FROM {quoted(counted)}").fetchone()[0])

    indexes = [index for statement in statements if (index := _index(statement, name, columns)) is not None]
    return ServerTable(name=name, doc=described.doc, columns=columns, key=keys, indexes=indexes, rows=rows, count=count)


_INDEX = re.compile(r'CREATE INDEX (?:IF NOT EXISTS )?"?(\w[\w-]*)"? ON "?(\w[\w-]*)"?\((.*?)\)(?: WHERE (.*))?')
_INDEXED = re.compile(r'"?(\w[\w-]*)"?( DESC)?')


def _index(statement: str, table: str, columns: Sequence[ServerColumn]) -> ServerIndex | None:
    """Return the index that a statement of the views makes of this table, if it is by columns alone; else None.

    The one index by parts of JSON serves the matching of repeated games.
    """
    parts = _INDEX.fullmatch(statement)
    if parts is None or parts[2] != table:
        return None
    names = {column.name for column in columns}
    places = [_INDEXED.fullmatch(place) for place in parts[3].split(", ")]
    # NULL where PostgreSQL has it by default, so that a plain ORDER BY finds the index
    orders = [f"{quoted(place[1])}{place[2] or ''}" for place in places if place]
    if len(orders) < len(places) or not all(place and place[1] in names for place in places):
        return None
    # Cut off here as the server would: by this name the index is known again when the next copy is made.
    name = parts[1].encode()[:LONGEST_NAME].decode()
    return ServerIndex(name=name, columns=", ".join(orders), where=parts[4] or "")


def _of_names(ledger: OpenLedger) -> ServerTable:
    types = {"player": "INTEGER", "name": "TEXT", "identity": "TEXT"}
    columns = [
        ServerColumn(name=name, stored_as=types[name], meaning=meaning, is_needed=name == "player")
        for name, meaning in NAMES_DOC.columns.items()
    ]

    names = ledger.people.names()

    def rows(_: TableReader) -> Iterator[DataFrame]:
        identities = dict(ledger.people.identities())
        people = sorted((player, name, identities.get(player)) for player, name in names)
        for start in range(0, len(people), _ROWS):
            block = people[start : start + _ROWS]
            yield pl.DataFrame(block, {"player": pl.Int64, "name": pl.String, "identity": pl.String}, orient="row")

    return ServerTable(
        name=NAMES,
        doc=NAMES_DOC.doc,
        columns=columns,
        key=("player",),
        rows=rows,
        count=lambda: len(names),
        is_personal=True,
    )


@attrs.frozen(kw_only=True)
class Origin:
    """The origin of a copy of the tables; the fields are the columns of the table ``origin``."""

    ledger: str
    position: int
    root: str
    proposal: int | None
    names: int

    @property
    def table(self) -> ServerTable:
        """The table of one row that says so."""
        numbers = {"position", "proposal", "names"}
        columns = [
            ServerColumn(
                name=name,
                stored_as="INTEGER" if name in numbers else "TEXT",
                meaning=meaning,
                is_needed=name != "proposal",
            )
            for name, meaning in ORIGIN_DOC.columns.items()
        ]
        types = {column.name: pl.Int64 if column.name in numbers else pl.String for column in columns}

        def rows(_: TableReader) -> Iterator[DataFrame]:
            yield pl.DataFrame([attrs.asdict(self)], types)

        return ServerTable(
            name=ORIGIN, doc=ORIGIN_DOC.doc, columns=columns, key=("ledger",), rows=rows, count=lambda: 1
        )
