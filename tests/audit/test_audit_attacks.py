"""The audit under attack from outside: every column changed, bits flipped in every page, tables dropped, files spoilt.

Whatever is done to the three files, the audit ends with exit code 3 and names it, or nothing that the files hold was
changed by it.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ledger.audit import rebuilt_views
from ledger.audit.reader import JournalVerdict, open_snapshot, verify_journal, verify_people, verify_texts
from ledger.audit.reader.layouts import JOURNAL, PEOPLE, page_falsehoods
from ledger.audit.rebuilt_views import VerifiedJournal
from ledger.errors import CorruptError
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import no_progress
from tests.kit.commands import Run
from tests.kit.every_table import columns, rows, tables
from tests.kit.tampering import edit
from tests.tiers import few_quick, times
from tools.commands import FALSE

UNCHECKED = "PRAGMA ignore_check_constraints = ON"
FLIPS = times(quick=1, ci=1, nightly=100)  # bits of each page
HEADER = 100  # bytes at the beginning of a file, in each of which a bit is flipped


def dump(path: Path) -> list[str]:
    """Every value of every table, to the bit."""
    with closing(sqlite.sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return [
            repr(sorted(connection.execute(f"SELECT * FROM {name.decode()}").fetchall(), key=repr)) for (name,) in names
        ]


def another(value: object, kind: str) -> object:
    """A value of the same type that is not the same."""
    if value is None:
        return 7 if kind in {"INTEGER", "REAL"} else "x"
    if isinstance(value, int | float):
        return value + 1_000_003
    if isinstance(value, bytes):
        return bytearray([value[0] ^ 1]) + value[1:]
    return f"{value}x"


def change(path: Path, table: str, column: str, value: str | None = None) -> None:
    """Change one value of the row in the middle, to an SQL expression where given."""
    described = columns(path, table)
    key = [name for name, _, is_key in described if is_key]
    kind = next(kind for name, kind, _ in described if name == column)
    with closing(sqlite.sqlite3.connect(path)) as connection:
        found = connection.execute(
            f'SELECT "{column}", {", ".join(key)} FROM {table} LIMIT 1 OFFSET ?', (rows(path, table) // 2,)
        ).fetchone()
    where = " AND ".join(f"{name} IS ?" for name in key)
    statement = f'UPDATE {table} SET "{column}" = {value or "?"} WHERE {where}'
    arguments = found[1:] if value else (another(found[0], kind), *found[1:])
    edit(path, "PRAGMA ignore_check_constraints = ON", (statement, tuple(arguments)))


NO_TEXT = "CAST(x'63ff' AS TEXT)"  # "c" and a byte that stands in no UTF-8


def published_columns() -> Iterator[tuple[str, str, str, str | None]]:
    """Every column of journal and people, and what it is changed to."""
    for published in (JOURNAL, PEOPLE):
        with closing(published.make_empty(max(published.layouts))) as empty:
            query = "SELECT m.name, c.name, c.type FROM sqlite_master AS m, pragma_table_info(m.name) AS c"
            where = "m.type = 'table' AND m.name NOT IN ('renaming', 'erasing')"  # rows in passing; see commitments
            where += " AND m.name NOT GLOB 'keys_[0-9]'"  # the index of keys; see the false entries
            for table, column, kind in empty.execute(f"{query} WHERE {where}").fetchall():
                if (table, column) == ("secret", "secret"):  # see the test of its form: which secret, nobody can say
                    continue
                yield published.word, table, column, None
                if kind == "TEXT":
                    yield published.word, table, column, NO_TEXT


@pytest.mark.slow
@pytest.mark.parametrize("value", ["x'00'", "zeroblob(40)", "NULL"])
def test_a_secret_of_another_form_is_named(value: str, copy_with_every_table: Path, run: Run) -> None:
    if value == "NULL":
        edit(sidecar(copy_with_every_table, "people"), ("DELETE FROM secret", ()))
    else:
        change(sidecar(copy_with_every_table, "people"), "secret", "secret", value)
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert any(line.startswith(f"FALSE {copy_with_every_table} secret") for line in done.out.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(("word", "table", "column", "value"), list(published_columns()))
def test_a_value_changed_in_any_column_of_journal_or_people_is_named(
    word: str, table: str, column: str, value: str | None, copy_with_every_table: Path, run: Run
) -> None:
    change(
        copy_with_every_table if word == "journal" else sidecar(copy_with_every_table, "people"), table, column, value
    )
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert any(line.startswith(f"FALSE {copy_with_every_table} {table}") for line in done.out.splitlines())


def test_when_an_erased_player_joined_is_still_proven(copy_with_every_table: Path, run: Run) -> None:
    edit(sidecar(copy_with_every_table, "people"), "UPDATE people SET joined_at = '1999' WHERE player = 5")
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert f"FALSE {copy_with_every_table} people 5: joined_at is '1999', but entry 6 says " in done.out


@pytest.mark.slow
@pytest.mark.parametrize("value", [None, NO_TEXT], ids=["another value", "no UTF-8"])
def test_a_value_changed_in_any_column_of_the_views_is_named(
    value: str | None, copy_with_every_table: Path, run: Run
) -> None:
    """One column of every table at once: the audit names the first false row of each."""
    path = sidecar(copy_with_every_table, "views")
    kept = path.read_bytes()
    filled = [table for table in tables(path) if table != "progress" and rows(path, table)]
    described = {table: columns(path, table) for table in filled}
    for place in range(max(map(len, described.values()))):
        path.write_bytes(kept)
        changed = set()
        for table, told in described.items():
            if place < len(told) and (value is None or told[place][1] == "TEXT"):
                # an index on what the JSON of ``originals`` says takes nothing but JSON; a bound may be too high
                forms = {("originals", "facts"): "'{}'", ("rating_bounds", "rating"): "-1e6"}
                other = forms.get((table, told[place][0]), value)
                change(path, table, told[place][0], other)
                changed.add(table)
        done = run("audit", copy_with_every_table)
        assert done.code == (FALSE if changed else 0)
        assert changed <= {line.split()[2] for line in done.out.splitlines() if line.startswith("FALSE ")}


@pytest.mark.slow
def test_a_value_changed_in_any_column_of_the_row_of_progress_is_named(copy_with_every_table: Path, run: Run) -> None:
    path = sidecar(copy_with_every_table, "views")
    kept = path.read_bytes()
    for column, _, _ in columns(path, "progress"):
        path.write_bytes(kept)
        change(path, "progress", column)
        done = run("audit", copy_with_every_table)
        assert done.code == FALSE
        assert "progress" in done.out


@pytest.mark.parametrize("position", [0, -5, 1, 17, 300, 10**6])
def test_a_position_that_is_not_that_of_the_rows_is_no_truth(
    position: int, copy_with_every_table: Path, run: Run
) -> None:
    edit(sidecar(copy_with_every_table, "views"), UNCHECKED, f"UPDATE progress SET position = {position}")
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert "TRUE" not in done.out


def flipped(path: Path) -> Iterator[tuple[int, bytes]]:
    """The file with one bit flipped, and where: in each byte of its header and at places of every page."""
    whole = path.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    spread = [page + 97 * i % size for page in range(0, len(whole), size) for i in range(FLIPS)]
    starts = [page + i for page in range(0, len(whole), size) for i in (0, 4)]  # kind of the page, number of its cells
    for number, offset in enumerate([*range(HEADER), *starts, *spread]):
        yield offset, whole[:offset] + bytes([whole[offset] ^ 1 << number % 8]) + whole[offset + 1 :]


def attack(path: Path, found: Callable[[], list[object]]) -> None:
    """Flip bits; each must be found, or change no value of any table."""
    before = dump(path)
    for offset, content in flipped(path):
        for log in path.parent.glob(f"{path.name}-*"):
            log.unlink()
        path.write_bytes(content)
        try:
            falsehoods = found()
        except CorruptError:
            continue
        if not falsehoods:
            assert dump(path) == before, offset


@pytest.mark.slow
def test_a_bit_flipped_in_any_page_of_the_journal_is_found_or_changes_nothing(copy_with_every_table: Path) -> None:
    def found() -> list[object]:
        with open_snapshot(str(copy_with_every_table)) as file:
            return [*verify_journal(file).falsehoods, *verify_texts(file).falsehoods]

    attack(copy_with_every_table, found)


@pytest.mark.slow
def test_a_bit_flipped_in_any_page_of_the_people_is_found_or_changes_nothing(copy_with_every_table: Path) -> None:
    people = sidecar(copy_with_every_table, "people")
    attack(people, lambda: [*verify_people(str(copy_with_every_table), str(people)).falsehoods])


@contextmanager
def built_aside(club: Path) -> Iterator[tuple[Views, JournalVerdict]]:
    """Views built from the journal, once for many comparisons."""
    with open_snapshot(str(club)) as file:
        head = verify_journal(file).head
        with rebuilt_views.temporary_views((), VerifiedJournal(file, head)) as made:
            assert rebuilt_views.build_views(made, head.size, no_progress) == []
            yield made, verify_journal(file, sizes=(head.size,))


@pytest.mark.slow
def test_a_bit_flipped_in_any_page_of_the_views_is_found_or_changes_nothing(copy_with_every_table: Path) -> None:
    path = sidecar(copy_with_every_table, "views")
    with built_aside(copy_with_every_table) as (made, proven):

        def found() -> list[object]:
            with open_snapshot(str(path)) as file:
                standing = rebuilt_views.read_current_views(file)
                falsehoods = [*standing.falsehoods, *page_falsehoods(file.connection, "views", rebuilt_views.REMEDY)]
                if standing.why_not or falsehoods or standing.position != proven.head.size:
                    return [standing.why_not, *falsehoods, standing.position]
                rows, why_not, strange = rebuilt_views.compare_views(standing, made, no_progress)
                return [
                    *rebuilt_views.position_falsehoods(standing, proven.head.size, proven.roots),
                    *rows,
                    *why_not,
                    *strange,
                ]

        attack(path, found)


@pytest.mark.parametrize("index", ["current_by_rating", "games_in_rating_order", "sqlite_autoindex_pools_1"])
def test_a_bit_flipped_in_an_index_of_the_views_is_named(index: str, copy_with_every_table: Path, run: Run) -> None:
    path = sidecar(copy_with_every_table, "views")
    with closing(sqlite.sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (index,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    whole = bytearray(path.read_bytes())
    whole[page * size - 3] ^= 1  # the last entry ends with the page
    path.write_bytes(whole)
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert f"FALSE {copy_with_every_table} views file integrity: " in done.out
    assert index in done.out


@pytest.mark.slow
def test_any_table_dropped_from_the_views_is_named(copy_with_every_table: Path, run: Run) -> None:
    path = sidecar(copy_with_every_table, "views")
    kept = path.read_bytes()
    for table in tables(path):
        path.write_bytes(kept)
        edit(path, f"DROP TABLE {table}")
        done = run("audit", copy_with_every_table)
        assert done.code == FALSE
        assert f"FALSE {copy_with_every_table} views schema table {table}: is missing" in done.out or (
            table == "progress"
            and f"FALSE {copy_with_every_table} progress table: cannot be read (no such table" in done.out
        )


@pytest.mark.parametrize("settings", ["{", "[]", "7", '{"k":"no number"}', "\x1b[2J"])
def test_garbled_settings_of_an_era_are_named(settings: str, copy_with_every_table: Path, run: Run) -> None:
    edit(sidecar(copy_with_every_table, "views"), ("UPDATE eras SET settings = ?", (settings,)))
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert f"FALSE {copy_with_every_table} eras pool 1, since_ms " in done.out
    assert "\x1b" not in done.out


def cut(keep: float) -> Callable[[bytes], bytes]:
    return lambda whole: whole[: int(len(whole) * keep)]


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "half a file": cut(0.5),
    "the first page": cut(0.02),
    "the last page lost": lambda whole: whole[:-4096],
    "no database": lambda whole: b"not a database. " * (len(whole) // 16),
    "the first page overwritten": lambda whole: bytes(4096) + whole[4096:],
    "the magic overwritten": lambda whole: b"x" + whole[1:],
    "all but the first page overwritten": lambda whole: whole[:4096] + b"\xff" * (len(whole) - 4096),
    "another page size": lambda whole: whole[:16] + b"\x20\x00" + whole[18:],
    "a format to come": lambda whole: whole[:18] + b"\x09\x09" + whole[20:],
    "a schema of another kind": lambda whole: whole[:44] + b"\xff\xff\xff\xff" + whole[48:],
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
@pytest.mark.parametrize("word", few_quick(["people", "views", "journal"], "views"))
def test_a_spoilt_file_is_named_and_the_others_are_compared(
    word: str, spoil: Callable[[bytes], bytes], copy_with_every_table: Path, run: Run
) -> None:
    path = copy_with_every_table if word == "journal" else sidecar(copy_with_every_table, word)
    path.write_bytes(spoil(path.read_bytes()))
    edit(sidecar(copy_with_every_table, "people" if word != "people" else "views"), "CREATE TABLE foreign_one(x)")
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert f"FALSE {copy_with_every_table} {word} " in done.out or (word == "views" and "FALSE" in done.out)
    assert "schema table foreign_one: does not belong here" in done.out


def test_what_is_false_in_all_files_is_told_at_once(copy_with_every_table: Path, run: Run) -> None:
    edit(copy_with_every_table, "UPDATE journal SET key = 'player:999' WHERE key = 'player:7'")
    edit(copy_with_every_table, "UPDATE texts SET zstd = x'00' WHERE rowid = 3")
    edit(sidecar(copy_with_every_table, "people"), "UPDATE people SET name = 'x' WHERE player = 3")
    spoilt = "CREATE INDEX foreign_one ON games(key)", UNCHECKED, "UPDATE progress SET position = -1"
    edit(sidecar(copy_with_every_table, "views"), *spoilt)
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    starts = [" ".join(line.split()[2:4]) for line in done.out.splitlines() if line.startswith("FALSE")]
    assert [start.split()[0] for start in starts] == ["journal", "people", "texts", "progress"]
    assert (
        f"NOT COMPARED {copy_with_every_table} derived rows: nothing follows from a journal that is false" in done.out
    )


def test_a_missing_people_file_is_a_falsehood_and_the_rest_is_compared(copy_with_every_table: Path, run: Run) -> None:
    sidecar(copy_with_every_table, "people").unlink()
    edit(sidecar(copy_with_every_table, "views"), "UPDATE players SET joined_at = '1999' WHERE player = 2")
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert "people file club.people.db: is missing" in done.out
    assert "players player 2: joined_at is '1999'" in done.out


def test_a_missing_table_of_the_people_is_a_falsehood(copy_with_every_table: Path, run: Run) -> None:
    edit(sidecar(copy_with_every_table, "people"), "DROP TABLE people")
    done = run("audit", copy_with_every_table)
    assert done.code == FALSE
    assert "FALSE" in done.out
    assert "people file club.people.db: has no table 'people'" in done.out


def test_views_of_an_earlier_layout_are_not_compared_and_that_is_said(copy_with_every_table: Path, run: Run) -> None:
    edit(sidecar(copy_with_every_table, "views"), "PRAGMA user_version = 1")
    done = run("audit", copy_with_every_table)
    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        f"TRUE {copy_with_every_table}: 342 entries: journal, 15 names, 1 erased, "
        "5 reasons and data of players, 2 erased, "
        "and 1 published list",
        f"NOT COMPARED {copy_with_every_table} derived rows: the views are of the earlier layout 1; "
        "the next command rebuilds them",
    ]


def test_views_made_by_an_earlier_version_of_a_scheme_are_not_compared_and_that_is_said(
    copy_with_every_table: Path, run: Run
) -> None:
    edit(sidecar(copy_with_every_table, "views"), "UPDATE projections SET identity = '0' WHERE name = 'arithmetic'")
    assert run("audit", copy_with_every_table).code == FALSE  # there was no version 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ledger.ratings.views_file._ARITHMETIC", ("arithmetic", "7"))
        edit(sidecar(copy_with_every_table, "views"), "UPDATE projections SET identity = '6' WHERE name = 'arithmetic'")
        done = run("audit", copy_with_every_table)
    assert done.code == 0
    assert "derived rows: the views were made by earlier versions of arithmetic; the next command rebuilds" in done.out
    assert "every derived row" not in done.out
