"""The published JSON Schemas of exports: one row of newline-delimited JSON of each prepared dataset."""

from __future__ import annotations

import json

from ledger.answers.exports.columns import row_schema
from ledger.answers.exports.datasets import PREPARED

VERSION = 1
_STATE = {"description": "state of the pool's scheme after the game", "type": ["number", "null"]}


def documents() -> dict[str, str]:
    """Every schema as the text of a file, by file name: ``games-1.json``, ..."""
    found = {}
    for name, make in PREPARED.items():
        item = make(())
        others = _STATE if name == "history" else None
        schema = row_schema(f"{name}/{VERSION}", item.doc, item.columns, others)
        found[f"{name}-{VERSION}.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return found
