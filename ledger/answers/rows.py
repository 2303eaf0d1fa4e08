"""Answers as rows of plain values: what JSON, CSV and tables are written from. The one place that turns one into them.

An answer is an attrs class whose fields are ``documented``. What is only sometimes told (details that were asked for,
what a scheme by periods adds) is a class of its own in a field ``beside`` the others: its fields stand in the same row,
and where it is None the row has none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import attrs

from ledger.facts.json_schemas import BESIDE, key_of

Row = dict[str, Any]
_PLAIN = frozenset({str, int, float, bool, type(None)})


def as_row(answer: attrs.AttrsInstance) -> Row:
    """The fields of an answer by name, in their order; what is made of further classes, as rows and lists of rows."""
    row: Row = {}
    # Answers are made without slots (``slots=False``), so that they have their fields in a dictionary already.
    values = vars(answer)
    for name, key, is_beside in _fields(type(answer)):
        value = values[name]
        if not is_beside:
            row[key] = value if type(value) in _PLAIN else _plain(value)
        elif value is not None:
            row |= as_row(value)
    return row


def as_rows(answers: Iterable[attrs.AttrsInstance]) -> list[Row]:
    """Each answer as a row."""
    return [as_row(answer) for answer in answers]


def _plain(value: Any) -> Any:
    if attrs.has(type(value)):
        return as_row(value)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


@cache
def _fields(cls: type[attrs.AttrsInstance]) -> list[tuple[str, str, bool]]:
    """The name of each field, what it is called in a row, and whether it stands beside the others."""
    return [(field.name, key_of(field), BESIDE in field.metadata) for field in attrs.fields(cls)]
