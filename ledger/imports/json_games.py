r"""One JSON document that holds a list of games, in pieces: the raw bytes of each game, with its line.

Only brackets, braces and texts are told apart; what a game says is read by whoever asks. So a month of a busy account
takes no more memory than its longest game. What may stand in the stream: ``{"games": [GAME, ...], ...}`` or ``[GAME,
...]``, one after the other, as when files are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import attrs

from ledger.imports.reading import Reading

MAX_GAME = 2 * 2**20  # bytes of one game; the longest known have a tenth of it
_PIECE = 2**16  # bytes looked at at once
_BETWEEN = 1_000  # bytes between a name and its value: blanks and a colon
MAX_DEPTH = 250  # lists and objects within each other, as everywhere in JSON
# A text that is whole, a bracket or a brace, or what may become a text when more bytes come.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]|"', re.DOTALL)
_OPEN = {b"{": b"}", b"[": b"]"}
_NAME = re.compile(rb"\s*:\s*\Z")


class RawGame(NamedTuple):
    """The bytes of one game of a document.

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
    """Where in a document the stream is."""

    line: int = 1  # of the first byte held
    held: bytes = b""
    place: int = 0  # how far the bytes held were looked at
    closing: list[bytes] = attrs.Factory(list)  # what closes each list and object that is open, outermost first
    name: bytes = b""  # the text before the value that comes, within the outermost object
    name_ends: int = -1  # where it ended
    games_at: int = 0  # how many are open within the list of games; 0 outside it
    began: int = -1  # where the game that is open begins
    number: int = 0
    lists: int = 0  # lists of games met
    ends_line: bool = False  # the bytes so far end with a line end

    def feed(self, chunk: bytes) -> Iterator[RawGame]:
        """Take more bytes; the games that are whole now.

        Raises:
            ValueError: this is no such document.
        """
        self._drop()
        self.held += chunk
        self.ends_line = chunk.endswith(b"\n")
        while (token := _TOKEN.search(self.held, self.place)) is not None:
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
            self.place = len(self.held)
        if len(self.held) - max(self.began, 0) > MAX_GAME and (self.began >= 0 or self.place < len(self.held)):
            raise ValueError(f"a game of more than {MAX_GAME} bytes, the limit of a game")

    def _drop(self) -> None:
        """Let go of the bytes that no game needs any more."""
        keep = self.began if self.began >= 0 else self.place
        if self.name_ends >= 0 and self.began < 0 and not self.games_at and keep - self.name_ends < _BETWEEN:
            keep = min(keep, self.name_ends)  # what stands between a name and its value
        self.line += self.held.count(b"\n", 0, keep)
        self.held = self.held[keep:]
        self.place -= keep
        self.began = 0 if self.began >= 0 else -1
        self.name_ends -= keep if self.name_ends >= 0 else 0

    def _open(self, text: bytes, start: int) -> None:
        depth = len(self.closing)
        if depth == MAX_DEPTH:
            raise ValueError(f"lists or objects nested more than {MAX_DEPTH} deep")
        if self.games_at and depth == self.games_at and text == b"{":
            self.began = start
        elif text == b"[" and not self.games_at and (depth == 0 or (depth == 1 and self._is_games(start))):
            self.games_at, self.number = depth + 1, 0
            self.lists += 1
        if depth == 1:
            self.name_ends = -1
        self.closing.append(_OPEN[text])

    def _is_games(self, start: int) -> bool:
        between = self.held[self.name_ends : start] if self.name_ends >= 0 else b""
        return self.name == b'"games"' and self.closing == [b"}"] and _NAME.fullmatch(between) is not None

    def _close(self, text: bytes, start: int) -> RawGame | None:
        if not self.closing or self.closing.pop() != text:
            raise ValueError(f"{text.decode()!r} closes nothing that is open")
        depth = len(self.closing)
        if depth == 0:
            self.name, self.name_ends = b"", -1
        if depth < self.games_at:
            self.games_at = 0
        elif self.games_at and depth == self.games_at and self.began >= 0:
            line = self.line + self.held.count(b"\n", 0, self.began)
            game = RawGame(line, self.number, self.held[self.began : start + 1])
            self.number += 1
            self.began = -1
            return game
        return None

    def line_here(self) -> int:
        """The line up to which the stream was looked at; a line end at its end begins no other one."""
        ended = self.place == len(self.held) and self.ends_line
        return max(1, self.line + self.held.count(b"\n", 0, self.place) - ended)


def _gathered(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces that are not small: a text that is not whole is looked at again with each of them."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= _PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def raw_games(chunks: Iterable[bytes], reading: Reading) -> Iterator[RawGame]:
    """The games of a document, each as soon as it is whole.

    A document without a list of games, and one that is broken or cut off, is a fault; the rest is not read then.

    Args:
        chunks: the bytes, in pieces of any size.
        reading: receives the fault.
    """
    splitter = _Splitter()
    try:
        for chunk in _gathered(chunks):
            yield from splitter.feed(chunk)
    except ValueError as error:
        reading.cut(splitter.line_here(), f"{error}; the rest is not read: download the file again")
        return
    if splitter.closing or splitter.place < len(splitter.held):
        words = "the document ends within a list or an object: it is cut off, download it again"
        reading.cut(splitter.line_here(), words)
    elif not splitter.lists:
        reading.fault_of_file(1, 'no list of games in the whole file: give {"games": [...]} as the server gives it')
