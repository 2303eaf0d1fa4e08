"""The one spelling of plain values in bytes: RFC 8785 restricted to what has one spelling everywhere.

ASCII keys in order, NFC text, whole numbers below 2^53, no floats, no nulls. No event here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import orjson

from ledger.errors import MalformedError
from ledger.facts.event_fields import MAX_WHOLE


def _check_canonical(value: Any, path: str, problems: list[str]) -> None:
    if isinstance(value, str):
        if value.isascii():
            return
        if any("\ud800" <= character <= "\udfff" for character in value):
            problems.append(f"text must not hold lone surrogates, got {value!r} @ {path}")
        elif not unicodedata.is_normalized("NFC", value):
            problems.append(f"text must be in Unicode form NFC, got {value!r} @ {path}")
    elif isinstance(value, bool):
        pass
    elif isinstance(value, int):
        if abs(value) > MAX_WHOLE:
            problems.append(f"whole numbers must stay below 2^53, got {value} @ {path}")
    elif isinstance(value, Mapping):
        problems += [f"keys must be ASCII text, got {key!r} @ {path}" for key in value if not _is_ascii(key)]
        for key, item in value.items():
            _check_canonical(item, f"{path}.{key}", problems)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_canonical(item, f"{path}[{place}]", problems)
    else:
        problems.append(f"{type(value).__name__} has no place in an entry, got {value!r} @ {path}")


def _is_ascii(key: object) -> bool:
    return isinstance(key, str) and key.isascii()


def canonical(value: Mapping[str, Any]) -> bytes:
    """The one spelling of *value* in bytes (RFC 8785 within the subset above).

    Raises:
        MalformedError: something in it lies outside the subset; every fault is listed.
    """
    problems: list[str] = []
    _check_canonical(value, "$", problems)
    if problems:
        raise MalformedError(problems)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=dict)  # any other Mapping becomes a dict
