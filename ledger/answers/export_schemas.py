"""The documents that answers are given away as, each with the class that it is made of and so its JSON Schema.

Beside them stand the prepared datasets, each with the schema of a row as newline-delimited JSON. A new document has its
line here; ``python -m tools.schemas`` then writes its schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ledger.answers.crosstables.page import Crosstable
from ledger.answers.exports.columns import row_schema
from ledger.answers.exports.datasets import PREPARED
from ledger.answers.graphs.bars import Page
from ledger.facts.json_schemas import class_schema

VERSION = 1
_STATE = {"description": "state of the pool's scheme after the game", "type": ["number", "null"]}


def row_documents() -> dict[str, str]:
    """Every schema as the text of a file, by file name: ``games-1.json``, ..."""
    texts = {}
    for name, make in PREPARED.items():
        item = make(())
        others = _STATE if name == "history" else None
        schema = row_schema(f"{name}/{VERSION}", item.doc, item.columns, others)
        texts[f"{name}-{VERSION}.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return texts


EXPORTS: Mapping[str, type[Any]] = {
    "crosstable/1": Crosstable,
    "rating-graph/1": Page,
}


def documents() -> dict[str, str]:
    """Every schema as the text of a file, by file name: ``rating-graph-1.json``, ..."""
    made = {
        f"{title.replace('/', '-')}.json": json.dumps(class_schema(cls, title), indent=2, ensure_ascii=False) + "\n"
        for title, cls in EXPORTS.items()
    }
    return made | row_documents()
