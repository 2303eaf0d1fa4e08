"""The check of a bundle, as the page asks for it: plain values in, JSON out. It runs in Pyodide."""

from __future__ import annotations

import json
from base64 import b64decode
from io import BytesIO
from typing import Any

from ledger.audit.bundle_check import BundleVerdict, check_bundle
from ledger.audit.reader import VerifierKey
from ledger.facts.words import TreeHead
from ledger.runtime.lazy import ed25519
from ledger.runtime.long_work import Progress

MOST_ROWS = 1_000  # of the list, shown on the page; all are compared


def signatures(content: bytes) -> str:
    """Return the signatures that the browser has to verify: JSON, each with public key, signature and text in hex."""
    ed25519.ASKED.clear()  # type: ignore[attr-defined]  # of the stand-in
    check_bundle(BytesIO(content))
    return json.dumps([[part.hex() for part in asked] for asked in ed25519.ASKED])  # type: ignore[attr-defined]


def trust(public: str, signature: str, text: str) -> None:
    """Note a signature that the browser verified; all three in hex."""
    ed25519.TRUE.add(tuple(map(bytes.fromhex, (public, signature, text))))  # type: ignore[attr-defined]


def check(content: bytes, key: str, head: str, report: Progress) -> str:
    """Return the verdict about a bundle as JSON.

    Args:
        content: the bundle.
        key: a key that the visitor has from elsewhere; empty: that of the bundle is taken.
        head: a head or a checkpoint that the visitor kept; empty: none.
        report: receives what is being done, how far it is, and how far it goes.
    """
    try:
        keys = [VerifierKey.parse(key)] if key.strip() else []
    except ValueError as error:
        return json.dumps({"refused": "key", "why": str(error)})
    try:
        since = _head(head) if head.strip() else None
    except ValueError as error:
        return json.dumps({"refused": "head", "why": str(error)})
    verdict = check_bundle(BytesIO(content), keys, since, report)
    return json.dumps(_as_plain(verdict, since))


def _head(text: str) -> TreeHead:
    """Return a head in one line, or that of a checkpoint."""
    lines = text.strip().split("\n")
    if len(lines) < 3:
        return TreeHead.parse(lines[0])
    try:
        return TreeHead(int(lines[1]), b64decode(lines[2], validate=True))
    except ValueError:
        raise ValueError("expected SIZE ROOT in one line, or a checkpoint with its three lines and signature") from None


def _as_plain(verdict: BundleVerdict, since: TreeHead | None) -> dict[str, Any]:
    signed = verdict.signed
    return {
        "true": verdict.ok,
        "false": [[each.table, each.position_or_key, each.message] for each in verdict.falsehoods],
        "notCompared": verdict.not_compared,
        "list": verdict.published,
        "scheme": verdict.scheme,
        "entries": verdict.entries,
        "listEntries": verdict.list_entries,
        "origin": None if signed is None else signed.origin,
        "signed": None if signed is None else signed.head.size,
        "root": None if signed is None else signed.head.root.hex(),
        "key": verdict.key,
        "kept": None if since is None else since.size,
        "players": len(verdict.rows),
        "rows": [[row.rank, row.player, row.shown, repr(row.rating), row.games, row.last_game]
                 for row in verdict.rows[:MOST_ROWS]],
    }  # fmt: skip
