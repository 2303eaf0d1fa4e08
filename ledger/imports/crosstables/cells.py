"""The cells of a cross-table, such as ``12w1``, ``5b+``, ``-1`` or ``+W5``: opponent, colour and result of one round.

Two families are read. chess-results.com and Swiss-Manager write the opponent, the colour and the result; a cell without
an opponent is a bye and what it brought. Vega writes the result first, then the colour, then the opponent, or ``F`` for
a forfeit; ``PAB``, ``HPB``, ``BYE`` and ``--`` are rounds without a game. ``W12`` of SwissSys and US Chess has no
colour, and no game can be made of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from ledger.facts.words import Brings
from ledger.imports.languages import COLOUR_LETTERS
from ledger.imports.no_opponent import means_no_opponent, stated_bye
from ledger.imports.trf.lines import RoundCell

MAX_CELL = 24  # characters
_PAIRED = re.compile(r"(\d{1,4})([a-zč])(.{0,6})")
_VEGA = re.compile(r"([+=-])([wbnf])(\d{1,4})")
_COLOURLESS = re.compile(r"[wldxf](\d{1,4})")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
# Letters of TRF by the result of a game as tables write it; "k" is German for a forfeit.
_RESULTS = {
    "1": "1", "½": "=", "0": "0", "=": "=", "0.5": "=", "0,5": "=", "1/2": "=", "+": "+", "-": "-", "": "",
    "1k": "+", "0k": "-", "+k": "+", "-k": "-", "1f": "+", "0f": "-", "½k": "D",
}  # fmt: skip
_VEGA_RESULTS = {"+": "1", "=": "=", "-": "0"}
# Letters of TRF by what a cell without an opponent says.
_BYES = {
    "": "", "*": "", "-1": "U", "+1": "U", "1": "U", "+": "U", "-+": "U", "+bye": "U", "+pab": "U", "pab": "U",
    "-½": "H", "½": "H", "=": "H", "-=": "H", "=bye": "H", "=hpb": "H", "hpb": "H", "-0.5": "H", "-0,5": "H",
    "0.5": "H", "0,5": "H", "+fpb": "F", "fpb": "F", "-0": "Z", "0": "Z", "-": "Z", "--": "Z", "-bye": "Z", "-zpb": "Z",
    "zpb": "Z",
}  # fmt: skip
_OF_BRINGS = {Brings.HALF: "H", Brings.FULL: "F", Brings.ALLOTTED: "U", Brings.ZERO: "Z", Brings.ABSENT: "Z"}
COLOURLESS = "do not say who had White: give the TRF of the tournament, or the pairings of its rounds"


@lru_cache(maxsize=4096)
def _tidy(text: str) -> str:
    return re.sub(r"\s+", "", text[: MAX_CELL + 1]).casefold().translate(_DASHES)


def opponent_of(text: str) -> int:
    """Return the number of the opponent that a cell names, 0 for none."""
    word = _tidy(text)
    match = _PAIRED.fullmatch(word)
    if match is not None:
        return int(match[1])
    match = _VEGA.fullmatch(word) or _COLOURLESS.fullmatch(word)
    return int(match[match.lastindex or 0]) if match else 0


def is_colourless(text: str) -> bool:
    """Return whether a cell names an opponent and no colour, as ``W12``."""
    return _COLOURLESS.fullmatch(_tidy(text)) is not None


def colour_letters(cells: Iterable[str]) -> str | None:
    """Return the letters of White and Black in the cells of a table, such as ``ws``; None if they may be several.

    The letter ``b`` is Black in English and White in French: the other letter decides. A letter that only some cells
    have, and that no pair has beside the others, is a fault of these cells.
    """
    used = Counter(match[2] for text in cells if (match := _PAIRED.fullmatch(_tidy(text))))
    if not used:
        return COLOUR_LETTERS[0]
    covered = {pair: sum(used[letter] for letter in pair) for pair in COLOUR_LETTERS}
    fitting = [pair for pair in COLOUR_LETTERS if covered[pair] == max(covered.values()) > 0]
    # "w" alone is White in each language that has it
    places = {tuple((letter, pair.index(letter)) for letter in sorted(used) if letter in pair) for pair in fitting}
    return fitting[0] if len(places) == 1 else None


def parse_cell(text: str, letters: str) -> RoundCell:
    """Return the round of a cell; *letters*: those of White and Black.

    Raises:
        ValueError: it is none, or has no colour.
    """
    word = _tidy(text)
    if match := _PAIRED.fullmatch(word):
        if match[2] not in letters or match[3] not in _RESULTS:
            raise ValueError(f"must be an opponent with colour and result such as 12{letters[0]}1, or a bye such as -1")
        result = _RESULTS[match[3]]
        return RoundCell(int(match[1]), "wb"[letters.index(match[2])], result or "Z", not result)
    if match := _VEGA.fullmatch(word):
        if match[2] == "f":
            return RoundCell(int(match[3]), "-", "-" if match[1] == "-" else "+")
        return RoundCell(int(match[3]), match[2].replace("n", "-"), _VEGA_RESULTS[match[1]])
    if word in _BYES:
        return RoundCell(0, "-", _BYES[word] or "Z", not _BYES[word])
    if is_colourless(text):
        raise ValueError(COLOURLESS)
    if means_no_opponent(text[:MAX_CELL], perhaps=True):
        return RoundCell(0, "-", _OF_BRINGS[stated_bye(text) or Brings.ZERO])
    raise ValueError(f"must be an opponent with colour and result such as 12{letters[0]}1, or a bye such as -1")
