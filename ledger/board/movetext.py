"""Parser and writer of the movetext of one game: its main line, clocks and result words.

Everything thinks in whole texts and columns of words; only variations and odd spellings are walked through.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_WORD = 24  # characters of a move in the longest spelling, "Qa1xb2e.p.++" and the like
MAX_SEEN = 200_000  # words remembered
RESULTS = {"1-0": "white", "0-1": "black", "1/2-1/2": "draw", "1/2": "draw", "½-½": "draw", "*": "none"}

# How leagues, studies and arbiters write the result behind the moves.
_SPELLINGS = {
    **{f"1{dash}0": "1-0" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212:"},
    **{f"0{dash}1": "0-1" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212:"},
    **{f"{half}{dash}{half}": "1/2-1/2" for half in ("1/2", "½", "0.5", "0,5") for dash in "-\u2013\u2014\u2212:"},
    "½": "1/2-1/2", "1.0-0.0": "1-0", "0.0-1.0": "0-1", "1-0F": "1-0", "0-1F": "0-1",
}  # fmt: skip
_FORFEITS = {
    "+/-": "1-0",
    "+:-": "1-0",
    "+--": "1-0",
    "+-": "1-0",
    "-/+": "0-1",
    "-:+": "0-1",
    "--+": "0-1",
    "-+": "0-1",
}
_BOTH_FORFEITED = frozenset({"0-0", "-/-", "-:-", "---", "--", "0-0F", "0F-0F"})
_LONGEST_RESULT = 12
_COMMENTS_BEHIND = 4  # at most so many comments behind a result are left out
_COMMENT = re.compile(r"\{[^}]*\}?")
_COMMENT_OR_REST = re.compile(r"(\{[^}]*\}?)|;[^\n]*")
_CLOCK = re.compile(r"\[%clk\s+(\d{1,6}(?::\d{1,6}){1,2}(?:\.\d{1,6})?)\s*\]", re.ASCII)
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
# Older scores add ``e.p.`` to a capture in passing, which the export spelling does not.
_PASSANT = re.compile(r"(?:/?e\.?p\.?)(?=[+#]*$)")
_CASTLED = re.compile(r"[0oO]-[0oO](?:-[0oO])?[+#]*")
_FIGURES = str.maketrans("♔♕♖♗♘♚♛♜♝♞", "KQRBNKQRBN") | {ord("♙"): None, ord("♟"): None}
_NULL_MOVES = frozenset({"--", "Z0", "<>", "0000", "", "null"})
_ANNOTATION_MARKS = "e.p. ep ch ch. dis dbl N TN D + ++ # mate = += =+ +/= =/+ +- -+ +/- -/+ ± ∓ ⩲ ⩱ ∞ . … □ ⊙"
_MARKS = frozenset(_ANNOTATION_MARKS.split())
_seen: set[str] = set()  # SAN met so far: games share their words, and a set is faster than the pattern
_seen_clocks: set[str] = set()


class Movetext(NamedTuple):
    """The parsed movetext of one game: moves, clocks, result words, the first fault.

    ``clocks`` is empty or as long as ``moves``, ``""`` if a move has none; text after the clock is left on it.
    ``results`` holds the result words in order. ``double`` marks a ``++`` on the last move. ``trouble`` is an offset
    into the text and the text there. ``kept`` is the text to keep (see ``write_movetext``).
    """

    moves: list[str]
    clocks: list[str]
    results: list[str]
    double: bool
    trouble: tuple[int, str] | None
    kept: str | None


def write_movetext(moves: list[str], clocks: list[str]) -> str | None:
    """Return movetext as it is stored: ``e4 {[%clk 0:03:00]} e5 {[%clk 0:03:00]}``; None without moves.

    Args:
        moves: SAN of the main line.
        clocks: the clock after each move as PGN writes it, ``""`` where none is known; may be empty.
    """
    if not moves:
        return None
    if not clocks:
        return " ".join(moves)
    return " ".join([f"{m} {{[%clk {c}]}}" if c else m for m, c in zip(moves, clocks, strict=True)])


def _with_usual_result(text: str) -> str:
    """Return movetext with its last word, if it is a result, in the spelling of PGN; comments may follow it."""
    before = text.rstrip()
    for _ in range(_COMMENTS_BEHIND):
        if not before.endswith("}"):
            break
        before = before[: max(before.rfind("{"), 0)].rstrip()
    last = before[-_LONGEST_RESULT - 3 :].split()[-1:]
    word = last[0] if last else ""
    if not word or word in RESULTS:
        return text
    if before.strip() in _BOTH_FORFEITED:
        return "*"
    # Behind moves "+-" is an opinion.
    usual = _SPELLINGS.get(word) or (_FORFEITS.get(word) if before.strip() == word else None)
    return text if usual is None else f"{before.removesuffix(word)}{usual}"


def is_english_notation(moves: list[str]) -> bool:
    """Return whether all moves are written with the letters K, Q, R, B, N."""
    return _all_match(moves)


def read_movetext(text: str) -> Movetext:
    """Return the parsed movetext of a game without comments, variations, NAGs and move numbers. Never raises."""
    text = _with_usual_result(text)
    if ";" in text:
        text = _COMMENT_OR_REST.sub(lambda match: match[1] or "", text)
    if "(" in text:
        return _walk(text)
    if "[%clk" in text:
        return _with_a_clock_each(text) or _walk(text)
    bare = _COMMENT.sub(" ", text) if "{" in text else text
    if "$" in bare or "!" in bare or "?" in bare:
        bare = _NOISE.sub(" ", bare)
    # A number may be close to its move, as in ``1.e4``.
    words = [word for word in bare.replace(".", ". ").split() if word not in _NUMBERS]
    results = [words.pop()] if words and words[-1] in RESULTS else []
    if not _all_match(words):
        return _walk(text)
    return Movetext(words, [], results, False, None, write_movetext(words, []))  # noqa: FBT003


def _with_a_clock_each(text: str) -> Movetext | None:
    """Return movetext as Lichess and chess.com write it, ``1. e4 {[%clk 0:03:00]} 1... e5 {[%clk 0:02:59]}``."""
    # Thinks in columns: every fourth word is a number, a move, ``{[%clk``, a clock. None for any other shape.
    if "[%eval" in text:
        text = _EVALUATION.sub("", text)
    # Lichess writes blanks within the braces, chess.com writes none.
    words = text.replace("{ [", "{[").replace("] }", "]}").split()
    results = [words.pop()] if words and words[-1] in RESULTS else []
    count, moves, clocks = len(words) // 4, words[1::4], words[3::4]
    if (
        len(words) != 4 * count
        or words[2::4] != ["{[%clk"] * count
        or not _NUMBERS.issuperset(words[::4])
        or not _all_match(moves)
        or not _all_match(clocks, _seen_clocks, _CLOCK_WORD)
    ):
        return None
    del words[::4]
    return Movetext(moves, clocks, results, False, None, " ".join(words))  # noqa: FBT003


def _all_match(words: list[str], seen: set[str] = _seen, pattern: re.Pattern[str] = _SAN) -> bool:
    """Return whether every word matches; *seen* remembers those that did, and starts afresh when it grows large."""
    if seen.issuperset(words):
        return True
    new = set(words) - seen
    if not all(map(pattern.fullmatch, new)):
        return False
    # a file of noise has a new word each time; games share theirs
    if len(seen) > MAX_SEEN:
        seen.clear()
    seen.update(new)
    return True


def _walk(text: str) -> Movetext:
    """Read word by word: variations, clocks that are not on every move, old spellings, mistakes."""
    moves: list[str] = []
    clocks: list[str] = []
    results: list[str] = []
    depth, opened, double = 0, 0, False
    trouble: tuple[int, str] | None = None
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word[0] == "{":
            # The first clock behind a move is the move's own; within a variation it is that of a move that was not
            # played.
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
                # A sign of check or mate after a blank belongs to the move before it.
                elif part in {"++", "#", "mate"} and moves and moves[-1][-1] not in "+#":
                    moves[-1] += "#" if part != "++" else "+"
                    double = part == "++"
    if depth:
        trouble = (opened, "a variation opened by '(' is never closed")
    clocks = clocks if any(clocks) else []
    return Movetext(moves, clocks, results, double, trouble, write_movetext(moves, clocks))


def _move(word: str) -> str | None:
    """Return *word* as a move in export spelling, ``""`` for a mark that is no move, None for anything else."""
    if _SAN.fullmatch(word):
        return word
    if len(word) > MAX_WORD:
        return None
    # 0000 is how engines write a null move, and no number of a move.
    if (word.isdigit() and word != "0000") or word in _MARKS:
        return ""
    word = _PASSANT.sub("", word.translate(_FIGURES)).replace("++", "+")
    if _CASTLED.fullmatch(word):
        word = word.replace("0", "O").replace("o", "O")
    if word in _NULL_MOVES:
        return "--"
    word = _PROMOTED.sub(lambda match: f"{match[1]}={match[2].upper()}", word)
    return word if _SAN.fullmatch(word) or _NATIONAL.fullmatch(word) else None
