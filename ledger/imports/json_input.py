r"""JSON from other programs: lines parsed to values, and a document with a list of games split into games.

What is no JSON, or says one thing twice, is a fault; what a game is, is not known here. Of a document only brackets,
braces and texts are distinguished, so that a month of a busy account takes no more memory than its longest game. Its
stream may be: ``{"games": [GAME, ...], ...}`` or ``[GAME, ...]``, one after the other, as when files are joined.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import attrs
import orjson

from ledger.imports.reading import Reading

MAX_GAME = 2 * 2**20  # bytes of one game; the longest known have a tenth of it
_PIECE = 2**16  # bytes looked at at once
_BETWEEN = 1_000  # bytes between a name and its value: blanks and a colon
MAX_DEPTH = 250  # lists and objects within each other, as everywhere in JSON
# A text that is whole, a bracket or a brace, or what may become a text when more bytes come. Possessive (++, *+): a
# text of a million backslashes would otherwise be tried again from each.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]|"', re.DOTALL)
_OPEN = {b"{": b"}", b"[": b"]"}
_NAME = re.compile(rb"\s*:\s*\Z")


class RawGame(NamedTuple):
    """The bytes of one game in a JSON document, with its line and its JSON path.

    Attributes:
        line: where it begins, from 1.
        number: its place in its list, from 0.
        json: its object.
    """

    line: int
    number: int
    json: bytes


@attrs.define
class _Splitter:
    """The place of the stream in a document."""

    line: int = 1  # of the first byte of the rest
    rest: bytes = b""  # what is still needed of the bytes so far
    place: int = 0  # how far it was looked at
    # what closes each list and object that is open, outermost first
    closing: list[bytes] = attrs.Factory(list)
    # the text before the value that comes, within the outermost object
    name: bytes = b""
    name_ends: int = -1  # where it ended
    # how many are open within the list of games; 0 outside it
    games_at: int = 0
    began: int = -1  # where the game that is open begins
    number: int = 0
    lists: int = 0  # lists of games met
    ends_line: bool = False  # the bytes so far end with a line end

    def feed(self, chunk: bytes) -> Iterator[RawGame]:
        """Take more bytes and yield the games that are complete now.

        Raises:
            ValueError: this is no such document.
        """
        self._drop()
        self.rest += chunk
        self.ends_line = chunk.endswith(b"\n")
        while (token := _TOKEN.search(self.rest, self.place)) is not None:
            text = token[0]
            if text == b'"':  # its end is still to come
                self.place = token.start()
                break
            self.place = token.end()
            if text[:1] == b'"':
                if len(self.closing) == 1:
                    self.name, self.name_ends = text, token.end()
            elif text in _OPEN:
                self._open(text, token.start())
            else:
                game = self._close(text, token.start())
                if game is not None:
                    yield game
        else:
            self.place = len(self.rest)
        # Unfinished parts may grow: a game that is open, or a text whose end is still to come.
        if len(self.rest) - max(self.began, 0) > MAX_GAME and (self.began >= 0 or self.place < len(self.rest)):
            raise ValueError(f"a game of more than {MAX_GAME} bytes, the limit of a game")

    def _drop(self) -> None:
        """Drop the bytes that no game needs any more."""
        keep = self.began if self.began >= 0 else self.place
        if self.name_ends >= 0 and self.began < 0 and not self.games_at and keep - self.name_ends < _BETWEEN:
            keep = min(keep, self.name_ends)  # the bytes between a name and its value
        self.line += self.rest.count(b"\n", 0, keep)
        self.rest = self.rest[keep:]
        self.place -= keep
        self.began = 0 if self.began >= 0 else -1
        self.name_ends -= keep if self.name_ends >= 0 else 0

    def _open(self, text: bytes, start: int) -> None:
        depth = len(self.closing)
        if depth == MAX_DEPTH:
            raise ValueError(f"lists or objects nested more than {MAX_DEPTH} deep")
        if self.games_at and depth == self.games_at and text == b"{":
            self.began = start
        elif text == b"[" and not self.games_at and depth < 2:
            between = self.rest[self.name_ends : start] if self.name_ends >= 0 else b""
            is_named = self.name == b'"games"' and self.closing == [b"}"] and _NAME.fullmatch(between) is not None
            if depth == 0 or is_named:
                self.games_at, self.number = depth + 1, 0
                self.lists += 1
        if depth == 1:
            self.name_ends = -1
        self.closing.append(_OPEN[text])

    def _close(self, text: bytes, start: int) -> RawGame | None:
        if not self.closing or self.closing.pop() != text:
            raise ValueError(f"{text.decode()!r} closes nothing that is open")
        depth = len(self.closing)
        if depth == 0:
            self.name, self.name_ends = b"", -1
        if depth < self.games_at:
            self.games_at = 0
        elif self.games_at and depth == self.games_at and self.began >= 0:
            line = self.line + self.rest.count(b"\n", 0, self.began)
            game = RawGame(line, self.number, self.rest[self.began : start + 1])
            self.number += 1
            self.began = -1
            return game
        return None

    def line_here(self) -> int:
        """Return the line up to which the stream was read; a line end at its end begins no other one."""
        ended = self.place == len(self.rest) and self.ends_line
        return max(1, self.line + self.rest.count(b"\n", 0, self.place) - ended)


def _gathered(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces that are not small: an incomplete text is read again with each of them."""
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size >= _PIECE:
            yield b"".join(pieces)
            pieces, size = [], 0
    if pieces:
        yield b"".join(pieces)


def split_games(chunks: Iterable[bytes], reading: Reading) -> Iterator[RawGame]:
    """Yield the bytes of each game in a JSON document, as soon as the game is complete.

    A document without a list of games, and one that is broken or cut off, is a fault; the rest is not read then.
    """
    splitter = _Splitter()
    try:
        for chunk in _gathered(chunks):
            yield from splitter.feed(chunk)
    except ValueError as error:
        reading.stop(splitter.line_here(), f"{error}; the rest is not read: download the file again")
        return
    if splitter.closing or splitter.place < len(splitter.rest):
        words = "the document ends within a list or an object: it is cut off, download it again"
        reading.stop(splitter.line_here(), words)
    elif not splitter.lists:
        reading.file_fault(1, 'no list of games in the whole file: give {"games": [...]} as the server gives it')


_BLANKS = b" \t\r"
_MOST_NAMED = 10  # of the keys that a line gives twice
_PATH = 120  # characters of a JSON path
_MEMBER = 80  # characters of a name within it
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class JsonObject(dict[str, Any]):
    """A parsed JSON object that knows the keys that it was given more than once."""

    repeated: Sequence[str] = ()


def object_pairs_hook(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Return the ``JsonObject`` of some pairs, as the ``object_pairs_hook`` of ``json.loads``."""
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        made.repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    return made


def parse_lines(lines: Iterable[bytes], reading: Reading, advice: str) -> Iterator[tuple[int, Any]]:
    """Yield the number and the JSON value of each line; blank lines are skipped.

    A line that is not JSON, or nested too deeply, is a fault, which ends in *advice*. Each key that one of its objects
    gives twice is a fault, at any depth: none of the two is certainly the right one.
    """
    for number, line in enumerate(lines, reading.first_line):
        text = line.strip().removeprefix(b"\xef\xbb\xbf")
        if not text:
            continue
        try:
            value, twice = parse_json(text)
        except ValueError as error:
            reading.fault(number, f"{error}: {advice}")
        else:
            for path in twice:
                reading.fault(number, f"the key is given twice @ {path}")
            if not twice:
                yield number, value


def parse_json(text: bytes) -> tuple[Any, list[str]]:
    """Return a JSON value, and the paths of keys that one of its objects has twice.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    try:
        value = orjson.loads(text)
        # orjson keeps the last of two keys without a word. Written the same but for blanks, the value dropped none:
        # that costs a tenth of looking at each pair, and holds of nearly all games.
        written = orjson.dumps(value)
        is_same = written == text or written.translate(None, _BLANKS) == text.translate(None, _BLANKS)
        return value, [] if is_same else repeated_keys(text)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from None
    except orjson.JSONEncodeError:  # the writer's limit is lower than the reader's
        raise ValueError("lists or objects nested more than 250 deep") from None


def repeated_keys(text: bytes) -> list[str]:
    """Return the JSON paths of the first keys that an object has twice, in any spelling.

    Args:
        text: what ``orjson`` reads and writes, so that it is JSON and not nested too deeply.
    """
    doubled: list[JsonObject] = []

    def taken(pairs: list[tuple[str, Any]]) -> JsonObject:
        made = object_pairs_hook(pairs)
        if made.repeated:
            doubled.append(made)
        return made

    # numbers stay text: one of a million digits would take minutes to become a number
    value = json.loads(text, object_pairs_hook=taken, parse_int=str, parse_float=str)
    # the way to each key costs more than the reading, and nearly always there is none to report
    return list(islice(_paths(value, "$"), _MOST_NAMED)) if doubled else []


def path_step(name: str) -> str:
    """Return a key as a step of a JSON path: ``.name``, or quoted in brackets; long ones are cut."""
    return f".{name[:_MEMBER]}" if _WORD.fullmatch(name) else f"[{json.dumps(name[:_MEMBER])}]"


def _paths(value: object, path: str) -> Iterator[str]:
    if isinstance(value, JsonObject):
        yield from (_step(path, path_step(key)) for key in value.repeated)
        for key, inner in value.items():
            yield from _paths(inner, _step(path, path_step(key)))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _paths(inner, _step(path, f"[{place}]"))


def _step(path: str, step: str) -> str:
    longer = path + step[:_PATH]
    return longer if len(longer) <= _PATH else longer[:_PATH] + "..."
