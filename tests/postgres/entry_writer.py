"""Appends entries one by one to a journal on PostgreSQL, as a process of its own, and tells each that is acknowledged.

``python -m tests.postgres.entry_writer ADDRESS WORD COUNT``: a line ``position leaf`` for each, with the leaf in
hexadecimal; it ends at the first error, with its text on stderr.
"""

import sys
from contextlib import closing

from ledger.errors import StorageError
from ledger.journal.postgres_store import PostgresJournal
from ledger.testing.journal_contract import append_entries, encode_entry
from tests.kit.server_ledgers import SCHEMA


def main(address: str, word: str, count: int) -> None:
    with closing(PostgresJournal(address, SCHEMA)) as journal:
        for _ in range(count):
            with journal.writing() as writer:
                entry = encode_entry(writer.size + 1, word)
                (leaf,) = append_entries(writer, entry)
                position = writer.size
            sys.stdout.write(f"{position} {leaf.hex()}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    except StorageError as error:
        sys.exit(str(error))
