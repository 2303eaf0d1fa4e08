"""Exports: what a ledger holds as files for other programs: CSV, newline-delimited JSON, Parquet, SQLite.

``datasets`` defines the possible exports (players, games, history, ratings, lists, any table of the views),
``columns`` their columns and the reading of them, ``exporting`` writes a file: the rows of one read snapshot,
complete or not there. ``postgres_tables`` defines the tables of the views on a server of PostgreSQL, ``postgres_copy``
puts them there.

A format or a dataset joins here:

* **Rows in another format** (as TSV would be): a function ``(path, parts, options)`` and a line in
  ``exporting.FORMATS``.
* **Rows of something else** (as a cross-table would be): a function that makes a ``Dataset`` and a line in
  ``datasets.NAMED_DATASETS``: either scans of tables, or ``rows``, a function that gives frames.
* **A text of its own** (as TRF16 of a tournament is): a function ``(ledger, asked) -> Iterator[bytes]`` and a line in
  ``exporting.DOCUMENTS`` under the name of what is exported and the name of the format.
"""
