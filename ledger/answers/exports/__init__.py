"""Exports of a ledger as files for other programs: CSV, newline-delimited JSON, Parquet, SQLite; copies to PostgreSQL.

``datasets`` defines the possible exports (players, games, history, ratings, lists, any table of the views),
``columns`` their columns and how they are read, ``exporting`` writes a file. ``postgres_tables`` defines the tables of
the views on a PostgreSQL server, ``postgres_copy`` copies them there, ``trf_report`` writes a tournament as TRF16.

How to add a format or a dataset:

* **Rows in another format** (as TSV would be): a function ``(path, parts, options)`` and a line in
  ``exporting.FORMATS``.
* **Other rows** (as a cross-table would be): a ``Dataset`` in ``datasets.NAMED_DATASETS``: either scans of tables, or
  ``rows``, a function that yields frames.
* **A text without rows** (as TRF16 of a tournament is): a function ``(ledger, selection) -> Iterator[bytes]`` and a
  line in ``exporting.DOCUMENTS`` under the name of the subject and the name of the format.
"""
