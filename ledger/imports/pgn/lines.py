"""Lines of a PGN file gathered into the raw text of one game at a time, and the tags above its moves.

Games are divided by their tags, never by the text of a comment. Tags are names and values as written, up to
stated limits; what they mean is in ``pgn.games``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

import attrs

MAX_GAME = 2 * 2**20  # bytes of one game; the longest annotated games known have a fifth of it

# A name may be of two words, or touch its value; such a tag begins a game, too.
_TAG_START = re.compile(rb'\[\s*\w[^"\[\]{}\r\n]*"')
_FIRST_TAG = re.compile(rb'\[\s*(?:\w[^"\[\]{}\r\n]*"|(?:Event|Site|Date|Round|White|Black|Result)\b)')
# The result ends the movetext (PGN 8.2.6); exports forget the line end behind it. An Event begins a game in any case.
_GLUED = re.compile(
    rb'(?:(?:(?<![^\s})])|^)(?:1-0|0-1|1/2-1/2|1/2|\*)\s*(?=\[\s*\w[^"\[\]{}\r\n]*"[^"]*"\s*\])'
    rb'|(?<=[^\s\[])\s*(?=\[\s*Event\s+"[^"]*"\s*\]))'
)
_WHOLE_TAG = re.compile(rb'\[\w+\s+"[^"]*"\]\s*$')
_PLAIN_TAG = re.compile(rb'\[\w+\s+"[^"{}]*"\]\s*$')
_NO_TAGS = re.compile(rb"\s*1\s*\.\s*[A-Za-z]")
_AT_ONCE = 32  # lines
_BRACE_OR_REST = re.compile(rb"\{[^}]*\}?|;[^\n]*")


@attrs.define
class GameLines:
    """The raw lines of one PGN game while they are gathered.

    Line numbers count from 1, 0 means none.
    """

    line: int = 0
    head: list[bytes] = attrs.Factory(list)
    moves_line: int = 0
    moves: list[bytes] = attrs.Factory(list)
    open_at: int = 0  # where the comment began that is still open
    # first line that looks like moves with no tag above
    untagged: int = 0
    size: int = 0
    among_tags: bool = False  # the line before was a tag of this game
    final: bool = False  # the last of the file
    # first words of the tags, as far as they were looked at
    _names: set[bytes] = attrs.Factory(set)
    _looked_at: int = 0  # lines of the head
    _excess: int = 0  # lines of the moves beyond the limit

    def is_next_game(self, line: bytes) -> bool:
        """Return whether *line*, which begins with a bracket outside comments, begins the next game."""
        if self.moves_line:
            return _TAG_START.match(line) is not None
        # Only behind an empty line, or at an Event: a second one among the other tags is a fault, no game.
        if not self.head or not (line.startswith(b"[Event ") or not self.head[-1].strip()):
            return False
        self._names.update(_name_of(tag) for tag in self.head[self._looked_at :] if b" " in tag)
        self._looked_at = len(self.head)
        # the same tag again: a game without moves came before
        return _name_of(line) in self._names

    def is_swallowed_game(self, line: bytes) -> bool:
        """Return whether a forgotten brace swallows the next game: a blank line, an Event tag, *line* a tag too."""
        before = self.moves[-2:]
        return (
            len(before) == 2
            and not before[0].strip()
            and before[1].startswith(b"[Event ")
            and bool(_WHOLE_TAG.match(before[1]) and _WHOLE_TAG.match(line))
        )

    def add_line(self, number: int, line: bytes) -> None:
        """Add one line to the tags or the moves of the game."""
        if not self.open_at:
            if line[:1] == b"%":
                # the escape of PGN 6; an empty line keeps the count of lines for faults
                line = b"\n"
            if not self.moves_line and self._is_head(number, line):
                return
        self._keep(self.moves, line)
        if b"{" in line or b"}" in line:
            self.open_at = _open_after(line, number, self.open_at)

    def add_blank_line(self) -> None:
        """Add an empty line behind the first tag.

        Above the moves one of blanks is empty, too.
        """
        self.among_tags = False
        self._keep(self.moves if self.moves_line else self.head, b"\n")

    def _is_head(self, number: int, line: bytes) -> bool:
        """Keep *line* if it belongs above the moves, or above the first game where nothing counts."""
        if not self.head:
            if _FIRST_TAG.match(line):
                self.line = number
                self._keep(self.head, line)
            elif not self.untagged and _NO_TAGS.match(line):
                self.untagged = number
            return True
        self.among_tags = line[:1] == b"["
        if self.among_tags or not line.strip():
            self._keep(self.head, line)
            return True
        if line.rstrip().endswith(b'"]') and not self.head[-1].rstrip().endswith(b"]"):
            self.head[-1] = self.head[-1].rstrip() + b" " + line  # a tag broken over two lines
            # An empty line in the place of the second one keeps the count of lines for faults.
            self._keep(self.head, b"\n")
            return True
        self.moves_line = number
        return False

    def _keep(self, where: list[bytes], line: bytes) -> None:
        self.size += len(line)
        if self.size <= MAX_GAME:
            where.append(line)
        elif where is self.moves:
            # The excess is counted: the game is a fault then. Its last two lines show a game that a brace swallows.
            where[len(where) - self._excess :] = [*where[len(where) - self._excess :], line][-2:]
            self._excess = min(self._excess + 1, 2)


def _name_of(tag: bytes) -> bytes:
    """Return all before the value: [Event Date "..."] is no Event."""
    return (tag.partition(b'"')[0] if b'"' in tag else tag.partition(b" ")[0]).rstrip()


def _open_after(line: bytes, number: int, open_at: int) -> int:
    """Return the line at which the comment began that is open after *line*, or 0."""
    # a brace behind a semicolon opens nothing, a semicolon within braces means nothing
    if b";" in line:
        pieces = _BRACE_OR_REST.findall(b"{" * bool(open_at) + line)
        is_open = bool(pieces) and pieces[-1][:1] == b"{" and pieces[-1][-1:] != b"}"
        began_here = len(pieces) > 1 or not open_at
    else:
        is_open = line.rfind(b"{") > line.rfind(b"}")
        began_here = b"}" in line or not open_at
    return 0 if not is_open else number if began_here else open_at


def _parted(line: bytes, *, is_open: bool) -> list[bytes]:
    """Return the parts of a line in which further games begin behind results; *is_open*: a comment is open."""
    parts, begin = list[bytes](), 0
    for match in _GLUED.finditer(line):
        if match.end() == begin:
            continue  # what begins here was found by its result
        before = line[begin : match.start()]
        opened, closed = before.rfind(b"{"), before.rfind(b"}")
        if opened > closed or (is_open and not parts and closed < 0) or b";" in before:
            continue
        parts.append(line[begin : match.end()] + b"\n")
        begin = match.end()
    return [*parts, line[begin:]]


def split_games(lines: Iterable[bytes], first: int = 1, *, has_more: bool = False) -> Iterator[GameLines]:
    """Yield the raw lines of each game of a PGN file; the last is ``final``, and has no tags if the file has none.

    Args:
        lines: those of the file, or of a part of it as of ``cut_games``.
        first: the number of the first line.
        has_more: True for a part that is not the last one.
    """
    draft = GameLines()
    for number, line in enumerate(lines, first):
        if draft.among_tags and line[:1] == b"[" and line[:7] != b"[Event " and draft.size < MAX_GAME:
            # what add_line() would do; most lines of most files end here
            draft.head.append(line)
            draft.size += len(line)
            continue
        if draft.head and (line == b"\n" or (not draft.moves_line and line.isspace())):
            draft.add_blank_line()
            continue
        # A mark of the byte order would hide the bracket behind it: it is first in a file, and in the middle of one
        # that was joined of several. The loop's own variable is replaced, for all that follows must see the line
        # without it.
        if line[:1] == b"\xef":
            line = line.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901
        if b'"]' in line and line[:1] not in b"[%" and len(parts := _parted(line, is_open=bool(draft.open_at))) > 1:
            for part in parts[:-1]:
                if part[:1] == b"[" and draft.is_next_game(part):
                    yield draft
                    draft = GameLines()
                draft.add_line(number, part)
            line = parts[-1]  # noqa: PLW2901
        if not draft.open_at:
            # Some collections indent their tags: behind blanks, too, a bracket begins a tag.
            if line[:1] in b" \t" and line.lstrip()[:1] == b"[":
                line = line.lstrip()  # noqa: PLW2901
            if line[:1] == b"[" and draft.is_next_game(line):
                yield draft
                draft = GameLines()
        elif line[:1] == b"[" and draft.is_swallowed_game(line):
            # The line of the Event was taken for a part of the comment, and begins the game that comes now.
            event = draft.moves.pop()
            draft.size -= len(event)
            yield draft
            draft = GameLines()
            draft.add_line(number - 1, event)
        draft.add_line(number, line)
    draft.final = not has_more
    yield draft


def cut_games(lines: Iterable[bytes], size: int, limit: int) -> Iterator[list[bytes]]:
    """Yield a PGN file in parts of about *size* bytes, each of whole games, and then the rest.

    ``split_games`` gives the same games of the parts as of the whole. If more than *limit* bytes have no place where a
    game begins for certain, they are the rest, and the following lines are not taken.
    """
    source, part = iter(lines), list[bytes]()
    length = 0
    while length <= limit and (more := list(islice(source, _AT_ONCE))):
        first = len(part) - 1  # an Event whose next tag is among the new lines
        part += more
        length += sum(map(len, more))
        while length >= size and (place := _game_start(part, first)):
            yield part[:place]
            part, first = part[place:], 1
            length = sum(map(len, part))
    yield part


def _game_start(lines: list[bytes], first: int) -> int:
    """Return the place of the first line from *first* on at which a game begins, whatever is open there; 0 for none.

    So does an Event behind an empty line, with another tag next, be it within a comment (``is_swallowed_game``). Above
    it there are moves: among the tags of a game without moves it is one of them. And there is a game above that.
    """
    for place in range(max(first, 3), len(lines) - 1):
        if lines[place][:7] != b"[Event " or lines[place - 1].strip() or lines[place + 1][:7] == b"[Event ":
            continue
        if not (_PLAIN_TAG.match(lines[place]) and _PLAIN_TAG.match(lines[place + 1])):
            continue
        above = next((at for at in range(place - 2, 0, -1) if lines[at].strip()), 0)
        line = lines[above]
        if line[:1] not in b"[% \t\xef" and b'"]' not in line and any(map(_FIRST_TAG.match, lines[:above])):
            return place
    return 0


def decode_game(parts: list[bytes]) -> str:
    """Return the text of a game from UTF-8, else Windows-1252, else Latin-1: collections join many sources."""
    raw = b"".join(parts)
    for encoding in ("utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    # Windows-1252 leaves five bytes undefined; Latin-1 has a character for each.
    return raw.decode("latin-1")


MAX_TAGS = 1000  # of one game; the longest sets in use have some 40
MAX_VALUE = 1000  # characters; putting accents in order takes their number squared

_TAG = re.compile(r'^\[(\w+) "([^"\\\n]*)"\][ \t\r]*$', re.MULTILINE)
_TAGS_IN_LINE = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_BROKEN_TAG = re.compile(r"\s*\[\s*(\w+)\s*(.*)")
_ESCAPED = re.compile(r'\\(["\\])')


def read_tags(head: str) -> tuple[dict[str, str], list[str]]:
    """Return the tags of a game as written, of two equal names the first; and the names with two values."""
    pairs = _TAG.findall(head)
    # something is out of the ordinary: line by line
    if len(pairs) != head.count("["):
        pairs = []
        for line in head.split("\n"):
            whole = _TAGS_IN_LINE.findall(line)
            if whole and not _TAGS_IN_LINE.sub("", line).strip():
                pairs += [(name, _ESCAPED.sub(r"\1", value)) for name, value in whole]
            # [White ACPL "25"] says nothing of White: the name of a tag is one word (PGN 8.1.1)
            elif (broken := _BROKEN_TAG.match(line)) and broken[2].find('"') <= 0:
                value = broken[2].strip().removesuffix("]").strip().removeprefix('"').removesuffix('"')
                pairs.append((broken[1], _ESCAPED.sub(r"\1", value)))
    tags = dict(reversed(pairs))
    twice = [] if len(tags) == len(pairs) else sorted({n for n, v in pairs if tags[n].strip() != v.strip()})
    return tags, twice


def drop_long_tags(tags: dict[str, str]) -> dict[str, int]:
    """Empty the tags with values longer than ``MAX_VALUE``; return their names and lengths."""
    long = {name: len(value) for name, value in tags.items() if len(value) > MAX_VALUE}
    tags.update(dict.fromkeys(long, ""))
    return long
