"""The documents that answers are given away as, each with the class that it is made of and so its JSON Schema.

A new document has its line here; ``python -m tools.schemas`` then writes its schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ledger.answers.crosstables.page import Crosstable
from ledger.answers.exports import schemas
from ledger.answers.graphs.bars import Page
from ledger.facts.json_schemas import class_schema

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
    return made | schemas.documents()
