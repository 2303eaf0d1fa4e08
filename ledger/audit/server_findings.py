"""The findings of an audit about a ledger's database server: foreign objects, rows of tokens, a move elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import attrs

from ledger.audit.audit import UncheckedPart, Verdict
from ledger.audit.reader import Falsehood
from ledger.audit.server_objects import moved_to, server_faults
from ledger.audit.server_tokens import verify_tokens
from ledger.journal.settings_file import server_of


class ServerFindings(NamedTuple):
    """The findings of an audit about a ledger's database server, as sentences; all empty for a ledger in files.

    Attributes:
        foreign: objects that this program did not make or that are missing, and false rows.
        not_compared: the parts that cannot be compared.
        moved_to: the place that the ledger was moved to.
    """

    foreign: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    moved_to: str | None = None


def server_findings(path: str | Path) -> ServerFindings:
    """Return the findings about the database server of the ledger at *path*.

    Raises:
        StorageError: the server does not answer, or there is no ledger in the schema.
    """
    place = server_of(Path(path))
    if place is None:
        return ServerFindings()
    tokens = verify_tokens(place.address, place.schema)
    foreign = (*server_faults(place.address, place.schema), *tokens.faults)
    return ServerFindings(foreign, tokens.not_compared, moved_to(place.address, place.schema))


def with_server_findings(verdict: Verdict, path: str | Path) -> Verdict:
    """Return the verdict on a copy of a ledger with the findings about its database server added, if it has one."""
    server = server_findings(path)
    return attrs.evolve(
        verdict,
        falsehoods=(*verdict.falsehoods, *(Falsehood("server", "objects", fault) for fault in server.foreign)),
        not_compared=(*verdict.not_compared, *(UncheckedPart("server", reason) for reason in server.not_compared)),
        moved_to=server.moved_to or verdict.moved_to,
    )
