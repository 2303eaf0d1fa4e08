"""The tags above the moves of one PGN game: their names and values as written, up to stated limits.

What a tag means is in ``pgn``; which lines belong to a game is in ``pgn_lines``.
"""

from __future__ import annotations

import re

MAX_TAGS = 1000  # of one game; the longest sets in use have some 40
MAX_VALUE = 1000  # characters; putting accents in order takes their number squared

_TAG = re.compile(r'^\[(\w+) "([^"\\\n]*)"\][ \t\r]*$', re.MULTILINE)
_TAGS_IN_LINE = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_BROKEN_TAG = re.compile(r"\s*\[\s*(\w+)\s*(.*)")
_ESCAPED = re.compile(r'\\(["\\])')


def read_tags(head: str) -> tuple[dict[str, str], list[str]]:
    """Tag names and values as written, the first where one stands twice; and names with two values."""
    found = _TAG.findall(head)
    if len(found) != head.count("["):  # something is out of the ordinary: line by line
        found = []
        for line in head.split("\n"):
            whole = _TAGS_IN_LINE.findall(line)
            if whole and not _TAGS_IN_LINE.sub("", line).strip():
                found += [(name, _ESCAPED.sub(r"\1", value)) for name, value in whole]
            elif broken := _BROKEN_TAG.match(line):
                value = broken[2].strip().removesuffix("]").strip().removeprefix('"').removesuffix('"')
                found.append((broken[1], _ESCAPED.sub(r"\1", value)))
    tags = dict(reversed(found))
    twice = [] if len(tags) == len(found) else sorted({n for n, v in found if tags[n].strip() != v.strip()})
    return tags, twice


def leave_out_long(tags: dict[str, str]) -> dict[str, int]:
    """Empty the tags whose value is longer than any in use; their names, and how many characters they had."""
    long = {name: len(value) for name, value in tags.items() if len(value) > MAX_VALUE}
    tags.update(dict.fromkeys(long, ""))
    return long
