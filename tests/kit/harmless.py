"""What may stand in the bytes that a terminal, a reader of lines or a spreadsheet gets."""

import re
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f"
BIDI = "\u202egnp\u2066.exe\u200f\u061c"
UNSEEN = "\u200b\u2060\ufeff\xad\u3164\u034f\U000e0041\ufff9"
LINES = "one\u2028two\u2029three"
CONTROLS = "one\ntwo\rthree\x85four\x0bfive\x00"
LONE = "\udc9b\udcff\ud800"
FORMULAS = (
    "=cmd|' /C calc'!A0", "+1+cmd|'x'!A0", "-2+3+cmd|'x'!A0", "@SUM(1+1)", "\uff1dHYPERLINK(1)",
    '"=1+1"', "'=1+1", "a;=1+1", "a,=1+1", "\u2212cmd",
)  # fmt: skip
ALLOWED = BIDI + UNSEEN + LINES  # the rules take these into names, tournaments and rounds
EVERYTHING = ESCAPE + BIDI + UNSEEN + LINES + CONTROLS
ZALGO = unicodedata.normalize("NFC", "O" + "\u0335\u0336\u0337\u0338\u0321\u0322\u0327\u0328\u031b" * 2)


class Ran(NamedTuple):
    """What a command did, in bytes; *shown* are the rows that it handed to ``output``."""

    code: int
    out: bytes
    err: bytes
    shown: list[Any]


RunRaw = Callable[..., Ran]


BIDI_CONTROLS = {*"\u061c\u200e\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
NOBODY_SEES = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def raw_in(data: bytes, allowed: str = "\n") -> set[str]:
    """Characters of the bytes that a terminal or a reader of lines would obey, or that nobody sees."""
    text = data.decode("utf-8")
    return {
        f"U+{ord(char):04X}"
        for char in set(text) - set(allowed)
        if unicodedata.category(char) in NOBODY_SEES or char in BIDI_CONTROLS or char in UNSEEN
    }


def assert_harmless(done: Ran, fmt: str = "") -> None:
    assert raw_in(done.out, "\n\t" if fmt == "--tsv" else "\n") == set()
    assert raw_in(done.err) == set()


def is_run(cell: str) -> bool:
    """True for a cell that a spreadsheet may take for a formula (OWASP's list, and after blanks and quotes)."""
    inner = cell.lstrip(' "\n\u3000')
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", inner):
        return False
    return cell[:1] in {*"\t\r\n"} or unicodedata.normalize("NFKC", inner)[:1] in {*"=+-@\u2212"}


def without_apostrophes(cell: str, dividers: str) -> str:
    """What ``tools/README.md`` says of the way back."""
    formula = "[=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212]"
    number = rf"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?($|[{dividers}])"
    return re.sub(rf"""(^|[{dividers}])'(?=[\s"']*(?!{number}){formula}|(?<=^')[\s"']*\n)""", r"\1", cell)
