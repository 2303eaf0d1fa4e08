"""The part of ``orjson`` that a check of a bundle needs, by the standard library: a browser has no ``orjson``."""

from __future__ import annotations

import json
import re
from typing import Any

OPT_APPEND_NEWLINE, OPT_INDENT_2, OPT_SORT_KEYS = 1 << 10, 1, 1 << 5  # as there
JSONDecodeError, JSONEncodeError = json.JSONDecodeError, TypeError

# A text, or the exponent of a number, which Python writes with two digits at least.
_EXPONENT = re.compile(r'"(?:[^"\\]|\\.)*"|e([+-])0*(\d+)')


def loads(content: bytes | bytearray | memoryview | str) -> Any:
    """Return the value of a JSON document."""
    return json.loads(bytes(content) if isinstance(content, memoryview) else content)


def dumps(value: Any, default: Any = None, option: int = 0) -> bytes:
    """Return the JSON of a value as ``orjson`` writes it: compact, in UTF-8, numbers in their shortest form."""
    text = json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=bool(option & OPT_SORT_KEYS), default=default
    )
    if "e" in text:
        text = _EXPONENT.sub(lambda found: found[0] if found[2] is None else f"e{found[1]}{found[2]}", text)
    return text.encode() + (b"\n" if option & OPT_APPEND_NEWLINE else b"")
