"""The status of a journal: its place, its guarantees for acknowledged entries, and how far this node's views are."""

from __future__ import annotations

from typing import Any

import attrs

from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.journal.postgres_store import PostgresJournal, promises_too_little
from ledger.runtime import postgres

# A user who is no monitor of the server sees that others follow, but not how far.
_SERVER = """
SELECT current_setting('server_version'), host(inet_server_addr()), inet_server_port(),
  current_setting('synchronous_standby_names'), current_setting('synchronous_commit'),
  ARRAY(SELECT application_name || coalesce(' (' || sync_state || ')', '') FROM pg_stat_replication ORDER BY 1)
"""


@attrs.frozen(kw_only=True, slots=False)
class JournalStatus:
    """The place, size and root of a journal, its guarantee for acknowledged entries, and its followers."""

    place: str = documented("the file, or the address of the database and the schema, without a password")
    promise: str = documented(
        "what an acknowledged entry outlasts: file, the loss of power of this machine; one-server, that of the server; "
        "quorum, the loss of the server, for another one has it by then",
        enum=["file", "one-server", "quorum"],
    )
    entries: int = documented("how many entries it has", minimum=0)
    folded: int = documented("up to which entry this node's views are", minimum=0)
    root: str = documented("the Merkle root of all entries, hexadecimal")
    server: str | None = documented("host and port of the server that takes writes; null: a file")
    version: str | None = documented("its version of PostgreSQL")
    waits_for: str | None = documented("the servers that it waits for, as synchronous_standby_names says")
    followers: list[str] = documented("who follows it, and how, where this user may know that")


def journal_status(ledger: OpenLedger) -> JournalStatus:
    """Return the place, size and guarantee of a ledger's journal, and the position of the views.

    Raises:
        StorageError: the server does not answer.
    """
    journal = ledger.journal
    # The fence follows the head: the head that is returned here must be permanent.
    head = journal.head()
    journal.ensure_durable()
    where: dict[str, Any] = dict.fromkeys(("server", "version", "waits_for"))
    where |= {"place": str(ledger.path), "promise": "file", "followers": []}
    if isinstance(journal, PostgresJournal):
        with postgres.storage_errors(journal.path):
            row = journal.session().connection().execute(_SERVER.encode()).fetchone()
        assert row is not None
        version, host, port, standbys, commit, followers = row
        where = {
            "place": journal.path,
            "promise": "quorum" if promises_too_little(standbys, commit) is None else "one-server",
            # Through a socket of this machine a connection has no address.
            "server": f"{host or 'this machine'}:{port or ''}".rstrip(":"),
            "version": version,
            "waits_for": standbys or None,
            "followers": followers,
        }
    return JournalStatus(entries=head.size, folded=ledger.views.position(), root=head.root.hex(), **where)
