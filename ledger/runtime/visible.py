r"""Escaping text of unknown origin where it is shown: on a terminal, in JSON, in a spreadsheet, in markup.

Names, keys, file names and arguments may hold escape sequences that clear the screen, marks that reverse the reading
order, invisible characters, or formulas. ``visible`` writes such characters as ``\x1b`` or ``\u202e``; letters of
every script stay as they are. This module prints nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

# Marks over or under one letter that are shown; UTS #39, section 5.4, finds more than four in no language.
MOST_MARKS = 4

# Cc controls, Cf format (bidi, zero width, BOM, tags), Cs lone surrogates, Co private, Cn unassigned, Zl and Zp the
# separators of lines and paragraphs. Blanks (Zs) of every width stay: French and Japanese names are written with them.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARK_CATEGORIES = frozenset({"Mn", "Me"})
# Invisible characters that Unicode calls letters or marks (Default_Ignorable_Code_Point).
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_ZWNJ, _ZWJ = "\u200c", "\u200d"
_VIRAMA = 9  # combining class of the marks that join two consonants
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


@lru_cache(maxsize=4096)  # names of one country share their few hundred letters
def is_hidden(char: str) -> bool:
    """Return whether a character is a control, invisible, or reorders the text, in any place."""
    return unicodedata.category(char) in _HIDDEN_CATEGORIES or _IGNORABLE.match(char) is not None


@lru_cache(maxsize=4096)
def _needs_a_look(char: str) -> bool:
    """Return whether a character is not shown in every place: hidden ones, and marks on another character."""
    return is_hidden(char) or unicodedata.category(char) in _MARK_CATEGORIES


def visible(text: str, keep: str = "") -> str:
    r"""Escape every deceptive character of a text as ``\t``, ``\x1b``, ``\u202e`` or ``\U000e0001``.

    Besides letters, digits, signs and blanks these stay: up to ``MOST_MARKS`` combining marks on one character; the
    joiners that Persian and Indic spelling needs, where it needs them (RFC 5892, appendix A); a variation selector
    after the ideograph, symbol or Mongolian letter that it chooses a shape of. Backslashes are not doubled: the result
    is for people to read, and exact only in JSON.

    Args:
        text: a text from a file, a name, an argument or a database; lone surrogates too.
        keep: hidden characters that are wanted here, such as a line feed.
    """
    if (text.isascii() and text.isprintable()) or not any(map(_needs_a_look, text)):
        return text
    escaped: list[str] = []
    # the number of marks on the character before; a mark needs a base character
    marks = MOST_MARKS
    for place, char in enumerate(text):
        if not _needs_a_look(char) or char in keep:
            escaped.append(char)
            marks = MOST_MARKS if char.isspace() else 0
        elif marks < MOST_MARKS and not is_hidden(char):
            escaped.append(char)
            marks += 1
        elif marks < MOST_MARKS and _belongs(text, place):
            escaped.append(char)
        else:
            code = ord(char)
            short = _SHORT.get(char) or f"\\x{code:02x}"
            escaped.append(short if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
            marks = MOST_MARKS
    return "".join(escaped)


def _belongs(text: str, place: int) -> bool:
    """Return whether a character is a joiner or variation selector with a use after the characters before it."""
    # U+180E, between the selectors of Mongolian, parts the last vowel of a word and is spelling, too.
    char, before = text[place], text[place - 1]
    if char in (_ZWNJ, _ZWJ):
        return unicodedata.combining(before) == _VIRAMA or (char == _ZWNJ and _parts_joined_letters(text, place))
    if "\ufe0e" <= char <= "\ufe0f":
        return unicodedata.category(before) in {"So", "Sm"}
    if "\ufe00" <= char <= "\ufe02" or "\U000e0100" <= char <= "\U000e01ef":
        return unicodedata.name(before, "").startswith("CJK ")
    return "\u180b" <= char <= "\u180f" and unicodedata.name(before, "").startswith("MONGOLIAN LETTER")


def _parts_joined_letters(text: str, place: int) -> bool:
    """Return whether both neighbours are letters of joining scripts (Arabic, Syriac); vowel signs are skipped."""
    before = next((char for char in reversed(text[:place]) if not unicodedata.combining(char)), "")
    after = next((char for char in text[place + 1 :] if not unicodedata.combining(char)), "")
    return all(char and unicodedata.bidirectional(char) == "AL" for char in (before, after))


def is_storable(text: str) -> bool:
    """Return whether a text can be written as UTF-8; from bytes that are no UTF-8 Python makes surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# -- JSON ----------------------------------------------------------------------------------------------------------

# All controls but the line feed between the parts of a text, separators of lines and paragraphs, lone surrogates, and
# invisible characters (Default_Ignorable_Code_Point), bidi controls among them.
_HIDDEN_IN_JSON = re.compile(
    "[\0-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


def json_escape(text: str) -> str:
    r"""Escape every character of a text as JSON's ``\uXXXX``, lone surrogates too."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def in_json(text: str) -> str:
    """Escape the hidden characters in the strings of a JSON text; a parser reads the same from it."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN_IN_JSON.sub(lambda match: json_escape(match[0]), text)


# -- spreadsheets --------------------------------------------------------------------------------------------------

# What begins a formula, as spreadsheets of all countries read it, full-width and small forms too; DDE begins so as
# well. A number begins so and is none.
_FORMULA = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_NUMBER = "[+-]?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"


def _formula_in(dividers: str) -> re.Pattern[str]:
    begins = rf"""[\s"']*(?!{_NUMBER}(?:$|[{dividers}]))[{_FORMULA}]"""
    at_the_start = r"(?<![\s\S])"
    return re.compile(rf"""(^|[{dividers}])(?={begins}|{at_the_start}[\s"']*\n)""")


# A file divided by commas or tabs may be opened as if by others, and then a cell begins after them, too.
_FORMULA_IN = {"csv": _formula_in(";\n"), "tsv": _formula_in(";,\n")}
_DIVIDERS = {"csv": re.compile("[;\n]"), "tsv": re.compile("[;,\n]")}


def in_cell(text: str, kind: str) -> str:
    """Put an apostrophe before a formula in a text cell of a ``csv`` or ``tsv`` file: no spreadsheet runs it then."""
    if text[:1].isalnum() and _DIVIDERS[kind].search(text) is None:
        return text  # nearly every cell
    return _FORMULA_IN[kind].sub(r"\1'", text)


_STRING_OF_JSON = re.compile(r'"(?:[^"\\]|\\.)*"')
# Within a string a quotation mark has a backslash before it, with which no formula begins.
_FORMULA_IN_STRING = {
    kind: re.compile(rf"""((?:{begins})[\s']*)(?!{_NUMBER}["{dividers}])([{_FORMULA}])""")
    for kind, begins, dividers in (("csv", ";", ";"), ("tsv", '^"|[;,]', ";,"))
}


def json_in_cell(text: str, kind: str) -> str:
    """Escape formulas in JSON for a cell of a ``csv`` or ``tsv`` file, so that a parser of JSON reads the same."""

    def escaped(string: re.Match[str]) -> str:
        return _FORMULA_IN_STRING[kind].sub(lambda begins: begins[1] + json_escape(begins[2]), string[0])

    return _STRING_OF_JSON.sub(escaped, text)


# -- SVG and HTML --------------------------------------------------------------------------------------------------


_PLAIN = " !#-%'-;=?-~"  # visible ASCII without what means something in markup: & < > "
_PLAIN_IN_MARKUP, _PLAIN_LINES = re.compile(f"[{_PLAIN}]*"), re.compile(f"[{_PLAIN}\n]*")


def in_markup(text: str) -> str:
    """Escape a text for an element of SVG or HTML, or a quoted attribute: on one line, nothing hidden."""
    if _PLAIN_IN_MARKUP.fullmatch(text) is not None:  # as most of what a graph says of its games
        return text.replace("'", "&#39;")
    escaped = visible(text)
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # faster than translate
    return escaped.replace('"', "&quot;").replace("'", "&#39;")


def lines_in_markup(lines: Sequence[str]) -> str:
    """Escape lines as ``in_markup`` does, and join them with line feeds; plain lines are checked together."""
    text = "\n".join(lines)
    if text.count("\n") == len(lines) - 1 and _PLAIN_LINES.fullmatch(text) is not None:
        return text.replace("'", "&#39;")
    return "\n".join(map(in_markup, lines))
