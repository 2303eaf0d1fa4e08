"""Answers as rows of plain values, from which JSON, CSV and tables are written.

An answer is an attrs class whose fields are ``documented``. Optional parts (requested details, facts of a scheme by
periods) are a class of their own in a field declared ``flattened()``: its fields are in the same row, and if it is None
the row has none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import attrs

from ledger.facts.json_schemas import FLATTENED, key_of

Row = dict[str, Any]
_PLAIN = frozenset({str, int, float, bool, type(None)})


def as_row(answer: attrs.AttrsInstance) -> Row:
    """Return the fields of an answer as a dictionary of plain values, in order; nested answers are dictionaries."""
    row: Row = {}
    # Answers are made without slots (``slots=False``), so that they have their fields in a dictionary already.
    values = vars(answer)
    for name, key, is_flattened in _fields(type(answer)):
        value = values[name]
        if not is_flattened:
            row[key] = value if type(value) in _PLAIN else _plain(value)
        elif value is not None:
            row |= as_row(value)
    return row


def as_rows(answers: Iterable[attrs.AttrsInstance]) -> list[Row]:
    """Return each answer as a dictionary of plain values."""
    return [as_row(answer) for answer in answers]


def _plain(value: Any) -> Any:
    if attrs.has(type(value)):
        return as_row(value)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


@cache
def _fields(cls: type[attrs.AttrsInstance]) -> list[tuple[str, str, bool]]:
    """Return the name of each field, its name in a row, and whether it is flattened into the row."""
    return [(field.name, key_of(field), FLATTENED in field.metadata) for field in attrs.fields(cls)]
