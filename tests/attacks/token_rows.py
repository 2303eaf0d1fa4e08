"""What is true of the rows that are kept of tokens on a server, found from the raw rows and the journal's.

Little of them is sealed: of the log the newest lines may be taken away, and a session or what was sent may go or come,
and nothing tells. What no program writes is false all the same, and so is what contradicts the journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ledger.journal.settings_file import server_of
from tests.attacks import servers

HALF_A_DAY_MS, MINUTE_MS = 43_200_000, 60_000
ROLES = ("recorder", "corrector", "approver", "auditor")
COUNTED = ("tokens", "refusals")  # tables whose rows count from 1
_RULE, _PROPOSAL, _SEAL = (
    re.compile(r"[a-z]+(-[a-z]+)*"),
    re.compile(r"proposal:[1-9]\d*@1"),
    re.compile("[0-9a-f]{64}"),
)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

Kept = dict[str, Any]  # a row by its columns
Issued = dict[object, dict[str, Any]]  # the facts of an entry that issued a token, by its position


def token_faults(db: Path, first: object, issued: Issued) -> Iterator[str]:
    """Yield what of the tokens of a ledger on a server does not follow, whose journal has that *first* body."""
    place = server_of(db)
    if place is None:
        return
    kept: dict[str, list[Kept]] = {}
    with servers.as_superuser(place) as connection:
        for table, columns in servers.columns_of(connection, "tokens").items():
            rows = servers.rows_of(connection, "tokens", table, [*columns])
            kept[table] = [dict(zip(columns, row, strict=True)) for row in rows]
    if not _is_of(kept, first):
        yield "tokens: the key is gone, or is that of another ledger"
        return
    for table in COUNTED:
        if [row["number"] for row in kept[table]] != [*range(1, len(kept[table]) + 1)]:
            yield f"tokens: the rows of {table} do not count from 1"
    yield from _of_earlier_releases(kept, issued)
    for table, is_written in (("refusals", _is_line), ("sendings", _is_sending)):
        if not all(map(is_written, kept[table])):
            yield f"tokens: no program writes a row of {table}"
    hashes = {row["number"]: row["hash"].hex() for row in kept["tokens"]}
    if not all(_is_session(row, issued, hashes) for row in kept["sessions"]):
        yield "tokens: no program writes a row of sessions"


def _is_of(kept: dict[str, list[Kept]], first: object) -> bool:
    """Return whether the key is of the ledger whose journal begins so; without one, whether nothing needs it."""
    if not kept["file"]:
        return not any(kept[table] for table in ("tokens", "refusals", "sessions", "sendings"))
    return isinstance(first, bytes) and kept["file"][0]["ledger"] == sha256(b"\x00" + first).digest()


def _of_earlier_releases(kept: dict[str, list[Kept]], issued: Issued) -> Iterator[str]:
    """Yield what is wrong with tokens without an entry: the first entry takes along each that holds, as it is."""
    key = kept["file"][0]["hash_key"].hex() if kept["file"] else ""
    along = {facts["number"]: facts for facts in issued.values() if facts["salt"] == key}
    for row in kept["tokens"]:
        words = row["roles"].split(" ")
        at = [instant for instant in (row["added_at"], row["revoked_at"]) if instant is not None]
        is_written = words == [role for role in ROLES if role in words] and row["name"] and len(row["hash"]) == 32
        if not (is_written and all(map(_is_instant, at))):
            yield f"tokens: no program writes token {row['number']}"
        facts = along.pop(row["number"], None)
        is_same = facts is not None and (row["name"], row["roles"], row["hash"].hex(), None) == (
            facts["person"], facts["roles"], facts["digest"], row["revoked_at"],
        )  # fmt: skip
        if issued and not is_same and (facts is not None or row["revoked_at"] is None):
            yield f"tokens: token {row['number']} is not the one that the journal took along"
    if along and kept["tokens"]:
        yield "tokens: a token that the journal took along is gone"


def _is_line(row: Kept) -> bool:
    """Return whether a program writes such a line of the log."""
    is_of_token = row["token"] is None or row["token"] > 0
    return _is_instant(row["at"]) and _RULE.fullmatch(row["rule"]) is not None and bool(row["tried"]) and is_of_token


def _is_sending(row: Kept) -> bool:
    is_named = _PROPOSAL.fullmatch(row["entry"]) and _SEAL.fullmatch(row["reason"])
    return bool(is_named) and len(row["hash"]) == len(row["digest"]) == 32 and min(row["number"], row["proposals"]) > 0


def _is_session(row: Kept, issued: Issued, hashes: dict[int, str]) -> bool:
    lasts = row["begun_ms"] <= row["used_ms"] <= row["ends_ms"] + MINUTE_MS
    if not lasts or row["ends_ms"] > row["begun_ms"] + HALF_A_DAY_MS or len(row["hash"]) != 32:
        return False
    if row["entry"] is None:
        return not hashes or hashes.get(row["token"]) == row["digest"]
    facts = issued.get(row["entry"], {})
    return (facts.get("number"), facts.get("digest")) == (row["token"], row["digest"])


def _is_instant(text: str) -> bool:
    if not _INSTANT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
