"""What is told of the tables of the views: every table and column there is, and none that is not."""

from pathlib import Path

from ledger.ledger import Ledger
from ledger.ratings.projectors.tournament_performance import NAME
from ledger.ratings.table_docs import table_docs, table_docs_in
from tests.kit.every_table import columns, make_club_with_every_table, tables


def test_every_table_and_column_of_the_views_is_told_with_its_references(tmp_path: Path) -> None:
    path = make_club_with_every_table(tmp_path, 60)
    with Ledger.open(path) as ledger:
        ledger.ensure_up_to_date()
        told = table_docs_in(ledger.views.connection, ledger.views.installed.all)
    views = path.with_name("club.views.db")
    assert set(told) == {*tables(views), NAME}, "ledger/book/tables.py, ledger/ratings/view_tables.py"
    for name, table in told.items():
        assert list(table.columns) == [column for column, _, _ in columns(views, name)]
        assert table.doc.endswith(".")
        assert table.label in {"", *table.columns}
        for column in table.columns.values():
            assert column.doc
            other, _, key = column.references.partition(".")
            assert not other or key in told[other].columns


def test_columns_of_every_kind_of_number_have_a_unit() -> None:
    for name, table in table_docs().items():
        for column, meaning in table.columns.items():
            if column.endswith(("_ms", "rating", "position", "player")) or column in {"pool", "white", "black"}:
                assert meaning.unit or column == "pool", (name, column)
