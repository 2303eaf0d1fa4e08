"""The documented tables of the views as PostgreSQL tables: types, keys, indexes, comments, and the rows as CSV.

A table there has the name, the columns, the key and the values that it has in the views: INTEGER is ``bigint``, REAL
``double precision``, TEXT ``text``, BLOB ``bytea``. Instants keep the form of their columns (milliseconds since
1970, or ISO 8601 as exactly as it is known), because a timestamp could not say "some day in May 2004". The
descriptions that ``query`` and Datasette show of a table or a column are its comments. Two more tables are
``origin``, with the journal and position of the rows, and, on request, ``names``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import attrs

from ledger.answers.asking import PERSONAL, in_one_snapshot
from ledger.answers.exports.columns import StoredColumn, stored_columns, table_parts
from ledger.answers.querying import QUERY_ONLY_TABLES, view_tables
from ledger.book.tables import POSITION, YES_NO, ColumnDoc, TableDoc
from ledger.errors import MalformedError, ProjectionError
from ledger.handle import OpenLedger
from ledger.ratings import read_models, views_file
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

COPY_MARK = "A copy that rating-ledger makes; what is changed here is lost with the next one."
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


class PostgresColumn(StoredColumn):
    """A column of a table on the PostgreSQL server."""

    @property
    def type(self) -> str:
        """The PostgreSQL type of the column, with its collation."""
        return _TYPES[self.stored_as]

    @property
    def read_expression(self) -> tuple[str, str]:
        """The SQLite expression that reads the column, and its type: bytes as PostgreSQL writes them in text."""
        plain = quoted(self.name)
        return (f"'\\x' || hex({plain})", "TEXT") if self.stored_as == "BLOB" else (plain, self.stored_as)


@attrs.frozen(kw_only=True)
class PostgresIndex:
    """An index of a table on the PostgreSQL server: name, columns as SQL, and the condition on its rows if any."""

    name: str
    columns: str
    where: str = ""


@attrs.frozen(kw_only=True)
class PostgresTable:
    """A table on the PostgreSQL server, with the source of its rows.

    Attributes:
        rows: yields the rows in the order of the key, read with a reader of the views.
        count: returns the largest possible number of rows, for reports of progress.
        is_personal: whether it identifies people, so that the server may keep no statistics of it.
    """

    name: str
    doc: str
    columns: Sequence[PostgresColumn]
    key: Sequence[str]
    indexes: Sequence[PostgresIndex] = ()
    rows: Callable[[TableReader], Iterator[DataFrame]] = attrs.field(eq=False)
    count: Callable[[], int] = attrs.field(eq=False)
    is_personal: bool = False

    @property
    def comment(self) -> str:
        """The comment of the table: its description, and the mark that identifies a table of this program."""
        return f"{self.doc} {COPY_MARK}"

    def comments(self, tables: Mapping[str, PostgresTable]) -> dict[str, str]:
        """Return the comment of each column: its description, its unit and the column of *tables* that it refers to.

        Foreign keys are described and not declared: the views declare none, so nothing holds the rows of a plug-in
        to them.
        """
        comments = {}
        for column in self.columns:
            unit = f" ({column.meaning.unit})" if column.meaning.unit else ""
            is_copied = column.meaning.references.partition(".")[0] in tables
            values = f"; a value of {column.meaning.references}" if is_copied else ""
            comments[column.name] = f"{column.meaning.doc or column.name}{unit}{values}"
        return comments

    def csv(self, frame: DataFrame) -> bytes:
        r"""Return rows as CSV for COPY: text in quotes, nothing for NULL, numbers in the fewest exact digits.

        Text is always quoted: a line with nothing but ``\.`` would end the rows, and an empty text would be none.

        Raises:
            MalformedError: a text has the character U+0000 in it, which PostgreSQL cannot store.
        """
        for name, kind in frame.schema.items():
            if kind == pl.String and frame[name].str.contains("\0", literal=True).any():
                # Facts have none: no text of theirs has control characters. A read model of a plug-in may.
                raise MalformedError(
                    [
                        f"table {self.name!r}, column {name!r}: a text has the character U+0000 in it, which "
                        "PostgreSQL cannot store: repair the plug-in of the table, or do without it; nothing changed"
                    ]
                )
        written = BytesIO()
        frame.write_csv(written, include_header=False, quote_style="non_numeric")
        return written.getvalue()


@in_one_snapshot
def postgres_tables(ledger: OpenLedger, *, names: bool = False) -> list[PostgresTable]:
    """Return every documented table of the views, including those of plug-ins, and on request the names.

    With *names* the tables also have identities and years of birth.

    Raises:
        ProjectionError: the table of a read model is not up to date, or has the name of one of the additional tables.
    """
    connection, installed = ledger.views.connection, ledger.views.installed
    statements = [
        *views_file.index_statements(),
        *(statement for table in side_tables(installed.all, ()) for statement in table.indexes),
        _BY_TOURNAMENT,
    ]
    tables = []
    for name, described in view_tables(ledger).items():
        read_models.refuse_stale_table(connection, name, installed.broken)
        if name.lower() in {NAMES, ORIGIN}:
            raise ProjectionError(
                name, "its table would have the name of a table that the export adds: give the read model another name"
            )
        tables.append(_of_views(ledger, name, described, statements, names=names))
    return [*tables, _of_names(ledger)] if names else tables


def _of_views(
    ledger: OpenLedger, name: str, described: TableDoc, statements: Sequence[str], *, names: bool
) -> PostgresTable:
    connection = ledger.views.connection
    stored, key = stored_columns(connection, name, described)
    columns = [PostgresColumn(*column) for column in stored if names or column.name not in PERSONAL]

    def rows(reader: TableReader) -> Iterator[DataFrame]:
        scanned = {column.name: column.read_expression for column in columns}
        for where in table_parts(connection, name):
            yield from reader.frames(TableScan(columns=scanned, source=quoted(name), key=key, where=where), _ROWS)

    def count() -> int:
        # a performance belongs to a row of the history
        counted = HISTORY.name if name == tournament_performance.NAME else name
        return int(connection.execute(f"SELECT count(*) FROM {quoted(counted)}").fetchone()[0])

    return PostgresTable(
        name=name,
        doc=described.doc,
        columns=columns,
        key=key,
        indexes=[index for statement in statements if (index := _index(statement, name, columns)) is not None],
        rows=rows,
        count=count,
    )


_INDEX = re.compile(r'CREATE INDEX (?:IF NOT EXISTS )?"?(\w[\w-]*)"? ON "?(\w[\w-]*)"?\((.*?)\)(?: WHERE (.*))?')
_INDEXED = re.compile(r'"?(\w[\w-]*)"?( DESC)?')


def _index(statement: str, table: str, columns: Sequence[PostgresColumn]) -> PostgresIndex | None:
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
    return PostgresIndex(name=name, columns=", ".join(orders), where=parts[4] or "")


def _of_names(ledger: OpenLedger) -> PostgresTable:
    types = {"player": "INTEGER", "name": "TEXT", "identity": "TEXT"}
    columns = [
        PostgresColumn(name, types[name], meaning, name == "player") for name, meaning in NAMES_DOC.columns.items()
    ]
    names = ledger.people.names()

    def rows(_: TableReader) -> Iterator[DataFrame]:
        identities = dict(ledger.people.identities())
        people = sorted((player, name, identities.get(player)) for player, name in names)
        for start in range(0, len(people), _ROWS):
            block = people[start : start + _ROWS]
            yield pl.DataFrame(block, {"player": pl.Int64, "name": pl.String, "identity": pl.String}, orient="row")

    return PostgresTable(
        name=NAMES,
        doc=NAMES_DOC.doc,
        columns=columns,
        key=("player",),
        rows=rows,
        count=lambda: len(names),
        is_personal=True,
    )


@attrs.frozen(kw_only=True)
class CopyOrigin:
    """The journal and position of which the copied tables are; the fields are the columns of the table ``origin``."""

    ledger: str
    position: int
    root: str
    proposal: int | None
    names: int

    @property
    def table(self) -> PostgresTable:
        """The table ``origin`` with its one row."""
        numbers = {"position", "proposal", "names"}
        columns = [
            PostgresColumn(name, "INTEGER" if name in numbers else "TEXT", meaning, name != "proposal")
            for name, meaning in ORIGIN_DOC.columns.items()
        ]
        types = {column.name: pl.Int64 if column.name in numbers else pl.String for column in columns}

        def rows(_: TableReader) -> Iterator[DataFrame]:
            yield pl.DataFrame([attrs.asdict(self)], types)

        return PostgresTable(
            name=ORIGIN, doc=ORIGIN_DOC.doc, columns=columns, key=("ledger",), rows=rows, count=lambda: 1
        )
