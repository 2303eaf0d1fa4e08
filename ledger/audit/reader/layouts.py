"""The published layout of a ledger's files (tables, indices, triggers), and the comparison of a file with it.

The journal and the people file are described by ``journal.toml`` and ``people.toml``. Of the views only the comparison
is here: their layout is known to the module that builds them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from functools import cached_property
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ledger.audit.reader.snapshots import FIRST_FALSEHOODS, READ_ERRORS, RESTORE, Falsehood, Snapshot, excerpt
from ledger.errors import one_line
from ledger.runtime.lazy import tomllib

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

Objects = Mapping[tuple[str, str], str]
# Of ANALYZE: they choose the way to an answer, never the answer.
_STATISTICS = {("table", "sqlite_stat1"), ("table", "sqlite_stat4")}


@attrs.frozen
class FileKind:
    """A kind of ledger file with its published layouts, read from ``WORD.toml`` when they are first needed."""

    word: str
    remedy: str

    @cached_property
    def _published(self) -> Mapping[str, Any]:
        return tomllib.loads(Path(__file__).with_name(f"{self.word}.toml").read_text("utf-8"))

    @property
    def application_id(self) -> int:
        """SQLite's application id of files of this kind."""
        return int(self._published["application_id"])

    @cached_property
    def layouts(self) -> Mapping[int, str]:
        """The statements that make the tables, indices and triggers of each layout, by its number."""
        own: Mapping[str, str] = self._published["layouts"]  # each besides those of the layout before
        return dict(zip(map(int, own), accumulate(own.values()), strict=True))

    def make_empty(self, layout: int, tables: Collection[str] = ()) -> sqlite3.Connection:
        """Return an empty file of a layout in memory, of the latest one if that is unknown; the caller closes it.

        It has those of *tables* that are optional.
        """
        connection = sqlite3.connect(":memory:")
        connection.executescript(self.layouts.get(layout, self.layouts[max(self.layouts)]))
        if layout == max(self.layouts):
            optional: Mapping[str, str] = self._published.get("optional", {})
            for table in optional.keys() & set(tables):
                connection.executescript(optional[table])
        return connection


JOURNAL = FileKind("journal", RESTORE)
PEOPLE = FileKind("people", "restore the file from a copy")


def layout_falsehoods(file: Snapshot, published: FileKind, *, quick: bool = False) -> list[Falsehood]:
    """Return each difference of a file from its published layout, and damage to its pages, without any value of it.

    *quick* leaves out whether its indices agree with its tables.
    """
    false = []
    mark, layout = file_identity(file.connection)
    if mark != published.application_id:
        message = f"says {mark:#x}, not {published.application_id:#x}; {published.remedy}"
        false.append(Falsehood(f"{published.word} file", "application_id", message))
    if layout not in published.layouts:
        message = f"is {layout}, known are {sorted(published.layouts)}: of a later release, or changed; {RESTORE}"
        false.append(Falsehood(f"{published.word} file", "layout", message))
    tables: list[str] = []
    with suppress(*READ_ERRORS):  # reported with the tables themselves
        rows = file.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = [name for (name,) in rows]
    with closing(published.make_empty(layout, tables)) as model:
        should = {**schema_objects(model), **(_move_trigger(file.connection) if published is JOURNAL else {})}
    false += schema_falsehoods(file.connection, should, published.word, published.remedy)
    return false + page_falsehoods(file.connection, published.word, published.remedy, "quick" if quick else "integrity")


_WENT = "the ledger went to "


def _move_trigger(connection: sqlite3.Connection) -> Objects:
    """Return the trigger by which a file whose ledger was moved refuses entries: its name states the new place."""
    with suppress(*READ_ERRORS):
        for key, words in schema_objects(connection).items():
            kind, name = key
            text = name.replace("'", "''")
            # Compared with the whole statement: a trigger that has such a name alone is foreign.
            made = f"CREATE TRIGGER \"{name}\" BEFORE INSERT ON journal BEGIN SELECT raise(ABORT, '{text}'); END"
            if kind == "trigger" and name.startswith(_WENT) and words == f"on journal: {_on_one_line(made)}":
                return {key: words}
    return {}


def moved_to(file: Snapshot) -> str | None:
    """Return the address or path to which a ledger was moved, as its journal's file states it; None if it was not."""
    return next((name.removeprefix(_WENT) for _, name in _move_trigger(file.connection)), None)


def file_identity(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application id of a file, and the number of its layout (``user_version``)."""
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    return mark, layout


def page_falsehoods(
    connection: sqlite3.Connection, word: str, remedy: str, check: str = "integrity", table: str = ""
) -> list[Falsehood]:
    """Return damage to pages, values of another type than their column's, indices that contradict their tables.

    SQLite leaves out CHECK constraints in a file that is opened read-only: what they say is compared elsewhere. The
    check is ``integrity``, or ``quick`` without the indices; of one table only, if it is given.
    """
    try:
        lines = [str(line) for (line,) in connection.execute(f"PRAGMA {check}_check({table or FIRST_FALSEHOODS})")]
    except READ_ERRORS as error:
        return [Falsehood(f"{word} file", "integrity", f"{one_line(error)}: its pages are damaged; {remedy}")]
    return [Falsehood(f"{word} file", "integrity", f"{one_line(line)}; {remedy}") for line in lines if line != "ok"]


def schema_objects(connection: sqlite3.Connection, grown: Collection[str] = ()) -> Objects:
    """Return, by kind and name of each table, index, trigger and view, its table and the statement that makes it.

    The columns of the tables *grown* are in alphabetical order: a column that was added later is at another place in
    the statement than in that of a table made at once.
    """
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    return {
        (kind, name): f"on {table}: {_in_order(sql) if name in grown else _on_one_line(sql)}"
        for kind, name, table, sql in rows
        if (kind, name) not in _STATISTICS
    }


def _on_one_line(sql: str | None) -> str:
    return "by itself" if sql is None else " ".join(sql.split())  # an index of a key is made by SQLite itself


def _in_order(sql: str | None) -> str:
    text = _on_one_line(sql)
    start, end = text.find("("), text.rfind(")")
    parts, depth = [""], 0
    for letter in text[start + 1 : end]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return f"{text[: start + 1]}{', '.join(sorted(part.strip() for part in parts))}{text[end:]}"


def schema_falsehoods(
    connection: sqlite3.Connection,
    should: Objects,
    word: str,
    remedy: str,
    grown: Collection[str] = (),
    *,
    left_out: Collection[str] = (),
) -> list[Falsehood]:
    """Return the tables, indices, triggers and views of a file that differ from those that it should have.

    Columns of the tables *grown* may be in any order; objects of the tables *left_out* are not compared.
    """
    try:
        present = schema_objects(connection, grown)
    except READ_ERRORS as error:
        return [Falsehood(f"{word} schema", "tables", f"cannot be read ({one_line(error)}); {remedy}")]
    false = []
    for key in sorted({*present, *should}):
        if any(present.get(key, "").startswith(f"on {table}:") for table in left_out):
            continue
        if key not in present:
            message = f"is missing; {remedy}"
        elif key not in should:
            message = f"does not belong here ({excerpt(present[key])}); {remedy}"
        elif present[key] != should[key]:
            words, others = present[key].split(" "), should[key].split(" ")
            pairs = enumerate(zip_longest(words, others))
            first = next(place for place, (word_, other) in pairs if word_ != other)
            is_, true = " ".join(words[first:]), " ".join(others[first:])
            message = f"is {excerpt(is_)} where {excerpt(true)} should stand; {remedy}"
        else:
            continue
        false.append(Falsehood(f"{word} schema", " ".join(key), message))
    return false[:FIRST_FALSEHOODS]
