"""Lines of JSON to values. What is no JSON, or says one thing twice, is a fault. What a game is, is not known here."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import orjson

from ledger.imports.reading import Reading

_BLANKS = b" \t\r"
_TOLD = 10  # of the keys that a line gives twice
_PATH = 120  # characters of a JSON path
_MEMBER = 80  # characters of a name within it
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class _Twice(dict[str, Any]):
    """An object of which some keys are given twice."""

    names: list[str]


def json_objects(lines: Iterable[bytes], reading: Reading, advice: str) -> Iterator[tuple[int, Any]]:
    """The JSON value of each line with its number, from 1; blank lines are passed over.

    A line that is not JSON, or nested too deeply, is a fault, which ends in *advice*. Each key that one of its objects
    gives twice is a fault, at any depth: nobody knows which of the two holds.
    """
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix(b"\xef\xbb\xbf")
        if not text:
            continue
        try:
            value, twice = read_object(text)
        except ValueError as error:
            reading.fault(number, f"{error}: {advice}")
        else:
            for path in twice:
                reading.fault(number, f"the key is given twice @ {path}")
            if not twice:
                yield number, value


def read_object(text: bytes) -> tuple[Any, list[str]]:
    """A JSON value, and the paths of the keys that one of its objects gives twice.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    try:
        value = orjson.loads(text)
        return value, [] if _is_written_the_same(text, value) else keys_twice(text)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from None
    except orjson.JSONEncodeError:  # the writer's limit is lower than the reader's
        raise ValueError("lists or objects nested more than 250 deep") from None


def _is_written_the_same(text: bytes, value: object) -> bool:
    """True if *value*, read from *text*, is written as the same bytes but for blanks: then no key was dropped."""
    written = orjson.dumps(value)
    return written == text or written.translate(None, _BLANKS) == text.translate(None, _BLANKS)


def keys_twice(text: bytes) -> list[str]:
    """The JSON paths of keys that an object gives twice, however they are spelt: the first ones.

    Args:
        text: what ``orjson`` reads and writes, so that it is JSON and not nested too deeply.
    """
    found: list[_Twice] = []

    def taken(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        counts = Counter(key for key, _ in pairs)
        found.append(_Twice(made))
        found[-1].names = [key for key, count in counts.items() if count > 1]
        return found[-1]

    value = json.loads(text, object_pairs_hook=taken, parse_int=str, parse_float=str)
    return list(islice(_paths(value, "$"), _TOLD)) if found else []


def member(name: str) -> str:
    """A name as a step of a JSON path: ``.name``, or quoted in brackets where it is no word; cut where it is long."""
    return f".{name[:_MEMBER]}" if _WORD.fullmatch(name) else f"[{json.dumps(name[:_MEMBER])}]"


def _paths(value: object, path: str) -> Iterator[str]:
    if isinstance(value, _Twice):
        yield from (_step(path, member(key)) for key in value.names)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, _step(path, member(key)))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _paths(inner, _step(path, f"[{place}]"))


def _step(path: str, step: str) -> str:
    longer = path + step[:_PATH]
    return longer if len(longer) <= _PATH else longer[:_PATH] + "..."
