"""Games in PGN of any dialect (Lichess, FICS, chess.com, TWIC, old ChessBase) as source games, in one pass.

Three steps: lines are gathered into one game's raw text, its movetext is read, its tags are given their
meaning. Moves are counted, never played: no board, no rules of chess. No file is opened here and nothing is
decompressed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import attrs

from ledger.events import MAX_HALF_MOVES
from ledger.imports.ndjson import MAX_EVENT, MAX_NAME, lichess_player, one_line, with_clocks
from ledger.imports.source import Reading, SourceGame, name_identity, speed_class
from ledger.model import instant_ms

MAX_GAME = 4 * 2**20  # bytes of one game; the longest annotated game known has a tenth of that
MAX_WORD = 24  # characters of a move in the longest spelling, "Qa1xb2e.p.++" and the like
MAX_SEEN = 200_000  # words remembered
RESULTS = {"1-0": "white", "0-1": "black", "1/2-1/2": "draw", "1/2": "draw", "½-½": "draw", "*": "none"}

# ---- lines to games ------------------------------------------------------------

_TAG_START = re.compile(rb'\[\s*\w+\s+"')
_FIRST_TAG = re.compile(rb'\[\s*(?:\w+\s+"|(?:Event|Site|Date|Round|White|Black|Result)\b)')
_WHOLE_TAG = re.compile(rb'\[\w+\s+"[^"]*"\]\s*$')
_NO_TAGS = re.compile(rb"\s*1\s*\.\s*[A-Za-z]")
_BRACE_OR_REST = re.compile(rb"\{[^}]*\}?|;[^\n]*")


@attrs.define
class _Draft:
    """The raw lines of one game while they are gathered; line numbers count from 1, 0 means none."""

    line: int = 0
    head: list[bytes] = attrs.Factory(list)
    moves_line: int = 0
    moves: list[bytes] = attrs.Factory(list)
    open_at: int = 0  # where the comment began that is still open
    untagged: int = 0  # first line that looks like moves with no tag above
    size: int = 0
    among_tags: bool = False  # the line before was a tag of this game
    final: bool = False  # the last of the file

    def begins_anew(self, line: bytes) -> bool:
        """True if *line*, which begins with a bracket outside comments, belongs to the next game."""
        if self.moves_line:
            return _TAG_START.match(line) is not None
        if not self.head or not (line.startswith(b"[Event ") or not self.head[-1].strip()):
            return False
        name = line.partition(b" ")[0] + b" "  # the same tag again: a game without moves came before
        return any(one.startswith(name) for one in self.head)

    def swallowed(self, line: bytes) -> bool:
        """True if a forgotten brace swallows the next game: a blank line, an Event tag, *line* a tag too."""
        before = self.moves[-2:]
        return (
            len(before) == 2 and not before[0].strip() and before[1].startswith(b"[Event ")
            and bool(_WHOLE_TAG.match(before[1]) and _WHOLE_TAG.match(line))
        )  # fmt: skip

    def take(self, number: int, line: bytes) -> None:
        """Add one line."""
        if not self.open_at:
            if line[:1] == b"%":
                line = b"\n"  # the escape of PGN 6; an empty line keeps the count
            if not self.moves_line and self._is_head(number, line):
                return
        self._keep(self.moves, line)
        if b"{" in line or b"}" in line:
            self.open_at = _open_after(line, number, self.open_at)

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
            self._keep(self.head, b"\n")
            return True
        self.moves_line = number
        return False

    def _keep(self, where: list[bytes], line: bytes) -> None:
        self.size += len(line)
        if self.size <= MAX_GAME:
            where.append(line)


def _open_after(line: bytes, number: int, open_at: int) -> int:
    """The line at which the comment began that is open after *line*, or 0."""
    if b";" in line:  # a brace behind a semicolon opens nothing, a semicolon within braces means nothing
        pieces = _BRACE_OR_REST.findall(b"{" * bool(open_at) + line)
        is_open = bool(pieces) and pieces[-1][:1] == b"{" and pieces[-1][-1:] != b"}"
        began_here = len(pieces) > 1 or not open_at
    else:
        is_open = line.rfind(b"{") > line.rfind(b"}")
        began_here = b"}" in line or not open_at
    return 0 if not is_open else number if began_here else open_at


def _drafts(lines: Iterable[bytes]) -> Iterator[_Draft]:
    draft = _Draft()
    for number, line in enumerate(lines, 1):
        if draft.among_tags and line[:1] == b"[" and line[:7] != b"[Event " and draft.size < MAX_GAME:
            draft.head.append(line)  # what take() would do; most lines of most files end here
            draft.size += len(line)
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901
        if not draft.open_at:
            if line[:1] in b" \t" and line.lstrip()[:1] == b"[":
                line = line.lstrip()  # noqa: PLW2901
            if line[:1] == b"[" and draft.begins_anew(line):
                yield draft
                draft = _Draft()
        elif line[:1] == b"[" and draft.swallowed(line):
            event = draft.moves.pop()
            yield draft
            draft = _Draft()
            draft.take(number - 1, event)
        draft.take(number, line)
    draft.final = True
    yield draft


def _decoded(parts: list[bytes]) -> str:
    """UTF-8, else Windows-1252, else Latin-1, for each game anew: collections are glued from many sources."""
    raw = b"".join(parts)
    for encoding in ("utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")


# ---- movetext ------------------------------------------------------------

_COMMENT = re.compile(r"\{[^}]*\}?")
_COMMENT_OR_REST = re.compile(r"(\{[^}]*\}?)|;[^\n]*")
_CLOCK = re.compile(r"\[%clk\s+(\d+(?::\d+){1,2}(?:\.\d+)?)\s*\]", re.ASCII)
_CLOCK_WORD = re.compile(r"\d\d?:\d\d:\d\d(?:\.\d\d?)?\]\}", re.ASCII)
_EVALUATION = re.compile(r"\[%eval [^\]\s]*\] ?")
_NUMBERS = frozenset(f"{n}{dots}" for n in range(1, 1000) for dots in ("", ".", "...")) | {"."}
_NOISE = re.compile(r"\$\d+|\d{1,6}\.+|[!?}]+|\.\.+", re.ASCII)  # NAGs, move numbers, praise and blame
_TOKEN = re.compile(r"\{[^}]*\}?|[()]|[^\s{}()]+")
_SAN = re.compile(
    r"(?:[KQRBN][a-h]?[1-8]?x?[a-h][1-8]|[a-h](?:x[a-h])?[1-8](?:=[KQRBN])?|O-O(?:-O)?|[KQRBNP]?@[a-h][1-8]|--)[+#]?"
)
_NATIONAL = re.compile(  # long forms, and pieces named in another tongue: kept as written
    r"(?:[A-Z]?[a-h][1-8][-x]?[a-h][1-8](?:=?[A-Z])?|[A-Z][a-h]?[1-8]?x?[a-h][1-8]|[a-h](?:x[a-h])?[18]=[A-Z])[+#]?"
)
_PROMOTED = re.compile(r"([a-h][18])[=/]?([QRBNKqrbnk])(?=[+#]?$)")
_PASSANT = re.compile(r"(?:/?e\.?p\.?)(?=[+#]*$)")
_CASTLED = re.compile(r"[0oO]-[0oO](?:-[0oO])?[+#]*")
_FIGURES = str.maketrans("♔♕♖♗♘♚♛♜♝♞", "KQRBNKQRBN") | {ord("♙"): None, ord("♟"): None}
_NULL_MOVES = frozenset({"--", "Z0", "<>", "0000", "@@@@", "null"})
_MARKS_GIVEN = "e.p. ep ch ch. dis dbl N TN D + ++ # mate = += =+ +/= =/+ +- -+ +/- -/+ ± ∓ ⩲ ⩱ ∞ . … □ ⊙"
_MARKS = frozenset(_MARKS_GIVEN.split())
_seen: set[str] = set()  # SAN met so far: games share their words, and a set is faster than the pattern
_seen_clocks: set[str] = set()


class Movetext(NamedTuple):
    """The main line of one game.

    ``clocks`` is empty or as long as ``moves``, ``""`` where a move has none; what follows the clock is
    left on it. ``results`` holds the result words in order. ``double`` tells of ``++`` on the last move.
    ``trouble`` is an offset into the text and what stands there. ``kept`` is the text to keep (see
    ``with_clocks``).
    """

    moves: list[str]
    clocks: list[str]
    results: list[str]
    double: bool
    trouble: tuple[int, str] | None
    kept: str | None


def read_movetext(text: str) -> Movetext:
    """Read one game's movetext; comments, variations, NAGs and move numbers are left out. Never raises."""
    if ";" in text:
        text = _COMMENT_OR_REST.sub(lambda match: match[1] or "", text)
    if "(" in text:
        return _walk(text)
    if "[%clk" in text:
        return _with_a_clock_each(text) or _walk(text)
    bare = _COMMENT.sub(" ", text) if "{" in text else text
    if "$" in bare or "!" in bare or "?" in bare:
        bare = _NOISE.sub(" ", bare)
    words = [word for word in bare.replace(".", ". ").split() if word not in _NUMBERS]
    results = [words.pop()] if words and words[-1] in RESULTS else []
    if not _known(words):
        return _walk(text)
    return Movetext(words, [], results, False, None, with_clocks(words, []))  # noqa: FBT003


def _with_a_clock_each(text: str) -> Movetext | None:
    """Movetext as Lichess and chess.com write it, ``1. e4 {[%clk 0:03:00]} 1... e5 {[%clk 0:02:59]}``.

    Thinks in columns: every fourth word is a number, a move, ``{[%clk``, a clock. None for any other shape.
    """
    if "[%eval" in text:
        text = _EVALUATION.sub("", text)
    words = text.replace("{ [", "{[").replace("] }", "]}").split()
    results = [words.pop()] if words and words[-1] in RESULTS else []
    count, moves, clocks = len(words) // 4, words[1::4], words[3::4]
    if (
        len(words) != 4 * count or words[2::4] != ["{[%clk"] * count or not _NUMBERS.issuperset(words[::4])
        or not _known(moves) or not _known(clocks, _seen_clocks, _CLOCK_WORD)
    ):  # fmt: skip
        return None
    del words[::4]
    return Movetext(moves, clocks, results, False, None, " ".join(words))  # noqa: FBT003


def _known(words: list[str], seen: set[str] = _seen, pattern: re.Pattern[str] = _SAN) -> bool:
    """True if every word matches; *seen* remembers those that did, and starts afresh when it grows large."""
    if seen.issuperset(words):
        return True
    new = set(words) - seen
    if not all(map(pattern.fullmatch, new)):
        return False
    if len(seen) > MAX_SEEN:
        seen.clear()
    seen.update(new)
    return True


def _walk(text: str) -> Movetext:
    """Word by word: variations, clocks that are not on every move, old spellings, mistakes."""
    moves: list[str] = []
    clocks: list[str] = []
    results: list[str] = []
    depth, opened, double = 0, 0, False
    trouble: tuple[int, str] | None = None
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word[0] == "{":
            clock = None if depth or not moves or clocks[-1] else _CLOCK.search(word)
            if clock:
                clocks[-1] = clock[1]
        elif word in "()":
            opened = match.start() if word == "(" and not depth else opened
            depth = depth + 1 if word == "(" else max(0, depth - 1)
        elif not depth:
            for part in (word,) if word in RESULTS else _NOISE.sub(" ", word).split():
                move = part if part in RESULTS else _move(part)
                if move is None or (results and move and move not in RESULTS):
                    what = "is no move" if move is None else "follows the result: a header is missing above"
                    trouble = (match.start(), f"{part[:40]!r} {what}")
                    return Movetext(moves, [], results, double, trouble, None)
                if move in RESULTS:
                    results.append(move)
                elif move:
                    moves.append(move)
                    clocks.append("")
                    double = part.endswith("++")
                elif part in {"++", "#", "mate"} and moves and moves[-1][-1] not in "+#":
                    moves[-1] += "#" if part != "++" else "+"
                    double = part == "++"
    if depth:
        trouble = (opened, "a variation opened by '(' is never closed")
    clocks = clocks if any(clocks) else []
    return Movetext(moves, clocks, results, double, trouble, with_clocks(moves, clocks))


def _move(word: str) -> str | None:
    """*word* as a move in export spelling, ``""`` for a mark that is no move, None for anything else."""
    if _SAN.fullmatch(word):
        return word
    if len(word) > MAX_WORD:
        return None
    if (word.isdigit() and word != "0000") or word in _MARKS:
        return ""
    word = _PASSANT.sub("", word.translate(_FIGURES)).replace("++", "+")
    if _CASTLED.fullmatch(word):
        word = word.replace("0", "O").replace("o", "O")
    if word in _NULL_MOVES:
        return "--"
    word = _PROMOTED.sub(lambda match: f"{match[1]}={match[2].upper()}", word)
    return word if _SAN.fullmatch(word) or _NATIONAL.fullmatch(word) else None


# ---- tags ------------------------------------------------------------

_TAG = re.compile(r'^\[(\w+) "([^"\\\n]*)"\][ \t\r]*$', re.MULTILINE)
_TAGS_IN_LINE = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_BROKEN_TAG = re.compile(r"\s*\[\s*(\w+)\s*(.*)")
_ESCAPED = re.compile(r'\\(["\\])')


def _tags(head: str) -> tuple[dict[str, str], list[str]]:
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


_LICHESS_SITE = re.compile(
    r"lichess\.org/(?!training|analysis|practice)([A-Za-z0-9]{8})(?:[A-Za-z0-9]{4})?(?:[/?#]|$)", re.ASCII
)
_ESSENTIAL = frozenset({"White", "Black", "Result"})
_LICHESS_ID = re.compile(r"[A-Za-z0-9]{8}(?:[A-Za-z0-9]{4})?", re.ASCII)
_LICHESS_EVENT = re.compile(r"lichess\.org/(?:tournament|swiss)/([A-Za-z0-9_-]{1,64})")
_LICHESS_PLAIN = re.compile(r"(?:Rated|Casual|Unrated) \S+ game", re.IGNORECASE)
_CHESSCOM = re.compile(r"chess\.com/\S*?(\d{4,20})(?!\S*/)", re.ASCII)
_FICS_NUMBER = re.compile(r"\d{1,20}", re.ASCII)
_FIDE_ID = re.compile(r"[1-9]\d{4,8}", re.ASCII)
_DATE = re.compile(r"(\d{4})(?:[./-](\d\d?|\?+)(?:[./-](\d\d?|\?+))?)?", re.ASCII)
_TIME = re.compile(r"(\d\d?):(\d\d)(?::(\d\d))?(?:\.\d+)?(?: (?:GMT(?:\+0000)?|UTC))?", re.ASCII)
_CONTROL = re.compile(r"(?:\d+/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?(?::.*)?", re.ASCII)
_CORRESPONDENCE = re.compile(r"1/\d{5,}", re.ASCII)  # one move in a day or more
_SIMPLE_CONTROL = re.compile(r"(\d+)(?:\+(\d+))?", re.ASCII)
_START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"
_VARIANTS = {"normal": "standard", "chess": "standard", "fischerandom": "chess960", "3Check": "threeCheck"}
_USUAL_RULES = frozenset({"standard", "fromPosition", "chess960"})  # nobody wins but by mate, flag, resigning

# PGN 9.8.1 and Lichess's own words.
_TERMINATIONS = {
    "time forfeit": "time", "abandoned": "abandonment", "rules infraction": "rules-infraction",
    "insufficient material": "insufficient-material", "adjudication": "adjudication",
    "death": "unknown", "emergency": "unknown", "unknown": "unknown",
}  # fmt: skip
# How servers say it in a sentence; the last phrase counts, since names come first ("Stalemate resigns").
_PHRASE = re.compile(
    r"(?P<time>timeout vs insufficient material|\bran out of time\b.*|\bon time\b|\btime forfeit)"
    r"|(?P<checkmate>\bcheckmated\b|\bby checkmate\b)|(?P<resignation>\bresign(?:s|ed|ation)\b)"
    r"|(?P<agreement>\bagreement\b)|(?P<stalemate>\bstalemate\b)|(?P<repetition>\brepetition\b)"
    r"|(?P<fifty_move>\b(?:50|fifty)[- ]move)|(?P<insufficient_material>\b(?:insufficient|mating) material\b)"
    r"|(?P<abandonment>\bdisconnect|\babandon|\blost connection|\bleft the game\b)"
    r"|(?P<adjudication>\badjudicat)"
    r"|(?P<rules_infraction>\binfraction\b|\bcheat)",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"\{\s*([^{}]{1,120}?)\s*\}\s*(?:1-0|0-1|1/2-1/2)?\s*$")
# Only sentences that a server writes: an annotator's last words may speak of stalemates that never came.
_SERVER_SENTENCE = re.compile(
    r"(?:Game \d+ \(.*\) )?(?:Game (?:drawn|adjudicated|is a draw)\b.*|Neither player has mating material"
    r"|\S+ (?:checkmated|resigns|left the game|lost connection.*|forfeits (?:on time|by .*)|ran out of time.*"
    r"|disconnected.*|(?:wins|won) (?:on time|by .*)))\W*",
    re.IGNORECASE,
)


@attrs.define
class _Case:
    """One game while its tags are given their meaning; *problems* are (line, message)."""

    draft: _Draft
    tags: dict[str, str]
    text: str
    moves: Movetext
    problems: list[tuple[int, str]] = attrs.Factory(list)

    def tag(self, *names: str) -> str:
        """The first of these tags that says something, as one line; ``?`` and ``-`` say nothing."""
        for name in names:
            value = one_line(self.tags.get(name, ""))
            if value not in {"", "?", "-"}:
                return value
        return ""

    def bad(self, name: str, message: str) -> None:
        """Note a fault at the line of a tag, or of the game where the tag is missing."""
        mark = re.compile(rb"\s*\[\s*" + name.encode() + rb"\b")
        places = (i for i, line in enumerate(self.draft.head) if mark.match(line))
        self.problems.append((self.draft.line + next(places, 0), message))


def games(lines: Iterable[bytes], reading: Reading) -> Iterator[SourceGame]:
    """Read every finished game of a PGN file, in file order, holding one game in memory.

    Faults, each with its line: a tag without which no game can be recorded is missing or unreadable, a word
    is no move, a comment or variation is never closed, the file ends inside its last game, no tag in the
    whole file. Games with result ``*`` or Termination "Unterminated" are counted in
    ``reading.skipped["unfinished"]``.

    Args:
        lines: raw lines with their line ends.
        reading: the account that receives faults and counts. Never raises for bad input.
    """
    for draft in _drafts(lines):
        if not draft.head:
            reading.fault(1, "no PGN tag in the whole file: give a PGN file in UTF-8 or an 8-bit code")
            continue
        if draft.untagged:
            reading.fault(draft.untagged, "moves without tags: put White, Black, Date and Result above them")
        text = _decoded(draft.moves)
        tags, twice = _tags(_decoded(draft.head))
        case = _Case(draft, tags, text, read_movetext(text))
        for name in twice:
            if name in _ESSENTIAL:  # two games run together, or two tellings of one
                case.bad(name, f"{name} stands twice with different values: keep one, or part the games")
        game = _game(case, reading)
        for line, message in case.problems:
            reading.fault(line, message)
        if game is not None and not case.problems:
            yield game


def _game(case: _Case, reading: Reading) -> SourceGame | None:
    draft, moves = case.draft, case.moves
    _check_whole(case)
    termination_tag = case.tag("Termination").lower()
    outcome = _outcome(case)
    if not case.problems and (outcome == "none" or termination_tag == "unterminated"):
        reading.skipped["unfinished"] += 1
        return None
    site, key = _key(case)
    variant = _variant(case)
    base, increment, speed = _clock_of(case.tags.get("TimeControl", "").strip()[:128], site)
    white, black = _player(case, "White", site), _player(case, "Black", site)
    started = _started(case)
    termination = _termination(case, termination_tag, outcome, site, variant)
    flagged = outcome if termination == "time" else ""
    seconds = None if base is None else _played(case, base, increment, flagged, site)
    return SourceGame(
        line=draft.line, key=key,
        white_id=white[0], white_name=white[1], black_id=black[0], black_name=black[1],
        outcome=outcome, termination=termination,
        # A server says "no moves" when none were played; elsewhere it means that the score is lost.
        half_moves=len(moves.moves) if moves.moves or (site and moves.results) else None,
        started_at=started, ended_at=_ended(case, started, seconds),
        tournament=_tournament(case, site), round=case.tag("Round")[:32].strip() or None,
        rated=not case.tag("Event").lower().startswith(("casual", "unrated", "fics unrated")),
        white_rating=_rating(case, "WhiteElo"), black_rating=_rating(case, "BlackElo"),
        speed=speed, variant=variant, text=moves.kept,
    )  # fmt: skip


def _check_whole(case: _Case) -> None:
    """Note what makes the raw text of a game unfit to be read."""
    draft, moves = case.draft, case.moves
    if draft.size > MAX_GAME:
        case.problems.append((draft.line, f"a game of more than {MAX_GAME} bytes: split the file here"))
    elif draft.open_at:
        case.problems.append((draft.open_at, "a comment opened by '{' is never closed: close it with '}'"))
    elif moves.trouble:
        offset, what = moves.trouble
        line = draft.moves_line + case.text.count("\n", 0, offset)
        case.problems.append((line, f"{what}; correct the movetext"))
    elif draft.final and not moves.results and (draft.moves_line or _ends_in_tags(case)):
        line = draft.line + len(draft.head) + len(draft.moves) - 1
        case.problems.append((line, "the file ends inside this game, before its result: fetch it again"))
    if len(moves.moves) > MAX_HALF_MOVES:
        case.problems.append((draft.line, f"{len(moves.moves)} half-moves, more than {MAX_HALF_MOVES}"))


def _ends_in_tags(case: _Case) -> bool:
    """True if a last game without movetext was cut: within a tag, or where a server writes moves."""
    cut = not case.draft.head[-1].endswith((b"\n", b"\r"))
    return cut or any(server in case.tags.get("Site", "") for server in ("lichess.org/", "freechess.org"))


def _outcome(case: _Case) -> str:
    """The Result tag; without one the word after the moves. Contradicting results are a fault."""
    given, said = one_line(case.tags.get("Result", "")).replace(" ", ""), case.moves.results
    ends = {RESULTS[word] for word in said} - {"none"}
    tagged = RESULTS.get(given)
    if tagged in {None, "none"} and given not in {"", "?", "*"}:
        case.bad("Result", f"Result {given[:40]!r} is none of 1-0, 0-1, 1/2-1/2, *")
    elif tagged is None and not said and not case.problems:
        case.bad("Result", 'no result: add [Result "1-0"], "0-1", "1/2-1/2" or "*"')
    elif len(ends) > 1 or (tagged not in {None, "none"} and ends and tagged not in ends):
        case.bad("Result", f"Result {given!r}, but {' and '.join(said)} after the moves: make them agree")
    return tagged or next(iter(ends), "none")


def _key(case: _Case) -> tuple[str, str]:
    """The server (``lichess``, ``fics``, ``chesscom`` or ``""``) and the game's own key.

    Without a server's id the key is ``pgn:`` and 24 hexadecimal digits of the SHA-256 over these lines,
    each as one line of NFC text, joined by line feeds, in UTF-8: Event, Site, UTCDate or Date, UTCTime,
    Round, White, Black, and the moves joined by blanks without ``+``, ``#`` and ``=``. Result and comments
    do not count, so that a game whose result was corrected keeps its key.
    """
    tags, site = case.tags, case.tags.get("Site", "")[:300]
    link = tags.get("Link", "")[:300] or site
    lichess = _LICHESS_SITE.search(site)
    own = tags.get("GameId", "")
    if lichess:
        return "lichess", f"lichess:{lichess[1]}"
    if _LICHESS_ID.fullmatch(own) and ("lichess.org" in site or site in {"", "?"}):
        return "lichess", f"lichess:{own[:8]}"
    number = tags.get("FICSGamesDBGameNo", "").strip()
    if _FICS_NUMBER.fullmatch(number):
        return "fics", f"fics:{number}"
    chesscom = _CHESSCOM.search(link)
    if chesscom:  # daily games are numbered apart from live ones
        return "chesscom", f"chesscom:{'daily/' if 'daily' in link else ''}{chesscom[1]}"
    moves = re.sub("[+#=]", "", " ".join(case.moves.moves))
    date = tags.get("UTCDate") or tags.get("Date", "")
    facts = (tags.get("Event", ""), site, date, tags.get("UTCTime", ""), tags.get("Round", ""),
             tags.get("White", ""), tags.get("Black", ""), moves)  # fmt: skip
    digest = hashlib.sha256("\n".join(map(one_line, facts)).encode()).hexdigest()
    server = "fics" if "freechess.org" in site else "chesscom" if "chess.com" in site.lower() else ""
    return server, f"pgn:{digest[:24]}"


def _player(case: _Case, colour: str, site: str) -> tuple[str, str]:
    """Identity and display name: the server's user, else the FIDE id, else the name."""
    name = case.tag(colour)
    if not name or len(name) > MAX_NAME:
        what = f"has {len(name)} characters, more than {MAX_NAME}" if name else "is missing or '?'"
        case.bad(colour, f"the name of {colour} {what}: give one name")
        return "", ""
    if site == "lichess" and (known := lichess_player(name)):
        return known
    if site in {"fics", "chesscom"}:
        return f"{site}:{name.lower()}", name
    number = case.tag(f"{colour}FideId")
    return (f"fide:{number}" if _FIDE_ID.fullmatch(number) else name_identity(name)), name


def _rating(case: _Case, name: str) -> int | None:
    value = case.tag(name)
    if not (value.isascii() and value.isdigit()) or not int(value[:9]):
        return None
    if int(value[:9]) > 5000:
        case.bad(name, f"{name} {value[:20]!r} is outside 0 to 5000: correct it or leave it out")
    return int(value[:9])


def _variant(case: _Case) -> str:
    """The variant as Lichess's key: ``From Position`` is ``fromPosition``; a FEN alone says the same."""
    named = _variant_key(case.tags.get("Variant", "")[:64])
    if named:
        return named
    fen = case.tag("FEN")
    if case.tag("SetUp") == "0" or fen.startswith(_START_FEN):
        return "standard"
    return "fromPosition" if fen or case.tag("SetUp") == "1" else "standard"


@lru_cache(maxsize=256)
def _variant_key(name: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", name)
    key = "".join(words[:1]).lower() + "".join(word.capitalize() for word in words[1:])
    return _VARIANTS.get(key, key)[:64]


def _tournament(case: _Case, site: str) -> str | None:
    event = case.tag("Event")
    found = _LICHESS_EVENT.search(event) if site == "lichess" else None
    if found:
        return f"lichess:{found[1]}"
    if site == "lichess" and _LICHESS_PLAIN.fullmatch(event):
        return None
    return event[:MAX_EVENT].strip() or None


# ---- time ------------------------------------------------------------


@lru_cache(maxsize=4096)
def _clock_of(control: str, site: str) -> tuple[int | None, int, str | None]:
    """Base and increment in seconds where the whole game has one period, else (None, 0); and the speed."""
    if _CORRESPONDENCE.fullmatch(control) or (control == "-" and site == "lichess"):
        return None, 0, "correspondence"
    simple, first = _SIMPLE_CONTROL.fullmatch(control[:32]), _CONTROL.fullmatch(control[:128])
    speed = speed_class(float(first[1]), float(first[2] or 0)) if first else None
    return (int(simple[1]), int(simple[2] or 0), speed) if simple else (None, 0, speed)


@lru_cache(maxsize=16384)
def _seconds(clock: str) -> float:
    total = 0.0
    for part in clock.removesuffix("]}").split(":"):
        total = total * 60 + float(part)
    return total


def _played(case: _Case, base: int, increment: int, outcome: str, site: str) -> float | None:
    """Seconds on both clocks together, or None where no clock is shown.

    Each side has used base + increment x its moves - its last clock, and never less than nothing (time can be
    given). On Lichess a side's first move is free: its clock stands still and gets no increment, so one
    move less counts, and a side without moves has used nothing. Who berserks starts with half the base and
    gets no increment.

    *outcome* is who won a time forfeit, ``draw`` for a drawn one (the side to move has flagged), else ``""``.
    """
    clocks = case.moves.clocks
    if not clocks:
        return None
    first_black, free = " b " in case.tag("FEN"), int(site == "lichess")
    used = 0.0
    for side, start in (("white", int(first_black)), ("black", int(not first_black))):
        own = clocks[start::2]
        flagged = start == len(clocks) % 2 if outcome == "draw" else outcome not in {"", side}
        if not (own or (flagged and not free)) or not (flagged or own[-1]):
            continue
        halved = free and own[0] and _seconds(own[0]) == base / 2
        full = base / 2 if halved else base + increment * (len(own) - free)
        used += max(0.0, full - (0.0 if flagged else _seconds(own[-1])))
    return used


@lru_cache(maxsize=8192)
def _day(date: str) -> str | None:
    """A PGN date with what is known of it: ``2013.??.??`` is 2013; None where not even the year is.

    Raises:
        ValueError: it is no date, or there is no such day.
    """
    if date.startswith("?") or not date:
        return None
    match = _DATE.fullmatch(date)
    if match is None:
        raise ValueError(f"{date!r} is not YYYY.MM.DD")
    known = [match[1]]
    for part in match.groups()[1:]:
        if part is None or part[0] == "?" or not int(part):
            break
        known.append(f"{int(part):02}")
    if known == ["0000"]:
        return None
    day = "-".join(known)
    try:
        instant_ms(day)
    except ValueError:
        raise ValueError(f"there is no day {date!r}") from None
    return day


def _at(case: _Case, date: str, times: tuple[str, ...]) -> str | None:
    """The instant of a date tag and the first of some time tags; a bad day is noted, a bad time dropped."""
    try:
        day = _day(case.tag(date)[:40])
    except ValueError as error:
        case.bad(date, f"{date}: {error}; correct it")
        return None
    clock = _TIME.fullmatch(case.tag(*times)) if day and len(day) == 10 else None
    if clock is None or int(clock[1]) > 23 or int(clock[2]) > 59 or int(clock[3] or 0) > 59:
        return day
    return f"{day}T{int(clock[1]):02}:{clock[2]}:{clock[3] or '00'}Z"


def _started(case: _Case) -> str | None:
    """UTCDate and UTCTime, else Date and Time or StartTime read as UTC for want of a zone; not EventDate."""
    before = len(case.problems)
    dated = case.tag("UTCDate")[:1] not in {"", "?"}
    local = ("UTCTime", "Time", "StartTime")
    started = _at(case, "UTCDate", ("UTCTime",)) if dated else _at(case, "Date", local)
    if started is None and len(case.problems) == before:
        given = case.tags.get("Date", "")[:40]
        case.bad("Date", f'Date {given!r} names no year, so the game has no place in time: give "YYYY.MM.DD"')
    return started


def _ended(case: _Case, started: str | None, seconds: float | None) -> str:
    """EndDate with EndTime (chess.com), else the start plus the time on the clocks, else the start."""
    if started is None:
        return ""
    if case.tag("EndDate"):
        end = _at(case, "EndDate", ("EndTime",))
        if end and len(end) >= len(started) and end >= started:
            return end
    if seconds is None or len(started) < 20:
        return started
    try:
        moment = datetime.fromisoformat(started[:-1]) + timedelta(milliseconds=round(seconds * 1000))
    except OverflowError:  # after the year 9999
        return started
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds") + "Z"


# ---- ends ------------------------------------------------------------


def _termination(case: _Case, tag: str, outcome: str, site: str, variant: str) -> str:
    """How the game ended: by the tag, the last move, the server's closing comment; no guess beyond that.

    Mate is the winner's last move with ``#``, or with the old ``++`` where there is no Termination tag.
    Lichess's "Normal" without mate is a resignation where a side won and the variant knows no other way to
    win.
    """
    if tag in _TERMINATIONS:
        return _TERMINATIONS[tag]
    if tag not in {"", "normal"}:  # chess.com: "NAME won by resignation"
        return _phrase(tag[:300])
    moves = case.moves.moves
    if moves and (moves[-1].endswith("#") or (case.moves.double and not tag)):
        mover_is_white = (len(moves) % 2 == 1) != (" b " in case.tag("FEN"))
        if outcome == ("white" if mover_is_white else "black"):
            return "checkmate"
    if site == "lichess" and tag == "normal" and outcome != "draw" and variant in _USUAL_RULES:
        return "resignation"
    closing = _CLOSING.search(case.text[-200:])
    sentence = one_line(closing[1]) if closing else ""
    return _phrase(sentence) if _SERVER_SENTENCE.fullmatch(sentence) else "unknown"


def _phrase(sentence: str) -> str:
    last = None
    for match in _PHRASE.finditer(sentence):
        last = match.lastgroup
    return last.replace("_", "-") if last else "unknown"
