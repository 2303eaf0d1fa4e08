"""Parser of the time control of a tournament report (122), which is in free words.

Minutes and moves are read as arbiters write them: ``90+30``, ``15 min + 10 s``, ``100'x40mm + 50'x20mm + 30" from move
1``, ``40/120, 60``, ``G/60``, ``1h30``, or the class in a word.
"""

from __future__ import annotations

import re

from ledger.imports.reading import speed_class

MAX_WORDS = 200  # characters that are looked at
_WORDS = {
    "blitz": "blitz",
    "rapid": "rapid",
    "rapidplay": "rapid",
    "schnellschach": "rapid",
    "bullet": "bullet",
    "classical": "classical",
    "standard": "classical",
    "correspondence": "correspondence",
}
_QUOTES = str.maketrans({"’": "'", "′": "'", "‘": "'", "`": "'", "´": "'", "″": '"', "”": '"', "“": '"', "×": "x"})
_PARTS = re.compile(r"\s*(?:(?:[+,;&]|\b(?:and|plus|then|und|et|puis|y)\b)\s*)+")
_HOURS = r"(?:h|hrs?|hours?|std|stunden?)(?![a-z])\.?"
# two apostrophes on end are typed for a double quote, and mean seconds
_MINUTES = r"(?:'(?!')|(?:m|mins?|minutes?|minuten|minuti|minutos)\b\.?)"
_SECONDS = r"(?:\"|''|(?:s|secs?|seconds?|sek|sekunden|secondes?|segundos)\b\.?)"
_MOVES = r"(?:mm|mv|moves?|züge|zuge|coups|mosse|jugadas|movimientos)\b\.?"
_REST = r"(?:\s*(?:/|(?:per|for|pro|the|each|all|every|whole|rest|remaining|of|game|player|partie|spieler|moves?)\b))*"
_FROM = (
    r"(?:\s*(?:/|per|pro|par|each|every|für|for)?\s*(?:move|zug|coup|mossa|jugada|increment|inc))?"
    r"(?:\s*from\s+(?:the\s+)?(?:first\s+)?move(?:\s+1)?)?"
)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("moves", re.compile(rf"\d+\s*(?:{_MOVES})?\s*(?:/|in)\s*(?P<minutes>\d+)\s*(?:{_MINUTES})?{_REST}")),
    (
        "moves",
        re.compile(rf"(?P<minutes>\d+)\s*(?:{_MINUTES})?\s*(?:x\s*\d+\s*(?:{_MOVES})?|(?:/|for)\s*\d+\s*{_MOVES})"),
    ),
    ("moves", re.compile(rf"(?P<hours>\d+)\s*{_HOURS}\s*(?:x|/|for)\s*\d+\s*(?:{_MOVES})?")),
    ("time", re.compile(rf"(?:g|game|sd|k\.?o\.?)\s*(?:/|in)?\s*(?P<minutes>\d+)\s*(?:{_MINUTES})?")),
    ("time", re.compile(rf"(?P<hours>\d+)\s*{_HOURS}\s*(?:(?P<minutes>\d+)\s*(?:{_MINUTES})?)?{_REST}")),
    ("time", re.compile(rf"(?P<minutes>\d+)\s*{_MINUTES}{_REST}")),
    ("increment", re.compile(rf"(?P<seconds>\d+)\s*{_SECONDS}{_FROM}")),
    ("increment", re.compile(r"(?:d|delay|inc|increment)\s*(?P<seconds>\d+)\s*(?:s|secs?)?")),
    ("number", re.compile(r"(?P<number>\d+)")),
)
_LONGEST = 120  # minutes that a bare number may mean
_SHARE = 20  # as many increments as would fill the whole time show that it is not in seconds


def parse_speed(words: str) -> str | None:
    """Return the speed class of a time control in words, such as ``90 min + 30 s``; None for a blank.

    Raises:
        ValueError: the words cannot be understood, or may be understood in two ways.
    """
    text = " ".join(words[:MAX_WORDS].casefold().translate(_QUOTES).split()).strip(" .")
    if not text:
        return None
    if text in _WORDS:
        return _WORDS[text]
    base, increment, after_moves, bare = 0, 0, False, None
    for number, part in enumerate(_PARTS.split(text)):
        form, times = _understood(part)
        if form == "number" and number and not after_moves:  # "90+30": the second number is an increment
            form, times = "increment", {"seconds": times["number"]}
        if form == "number":
            times = {"minutes": times["number"]}
            bare = times["minutes"] if not number else bare
        base += 3600 * times.get("hours", 0) + 60 * times.get("minutes", 0)
        increment = max(increment, times.get("seconds", 0))
        after_moves = form == "moves"
    if not base:
        raise ValueError("names no time to begin with")
    if bare is not None and (bare > _LONGEST or (bare >= 60 and 0 < _SHARE * increment < bare)):
        raise ValueError("may be minutes or seconds")
    return speed_class(base, increment)


def _understood(part: str) -> tuple[str, dict[str, int]]:
    """Return the form of a part of a time control, and its numbers."""
    for form, pattern in _FORMS:
        if match := pattern.fullmatch(part):
            numbers = {name: text for name, text in match.groupdict().items() if text is not None}
            # no control has so many minutes: these are other units
            if any(len(text) > 4 for text in numbers.values()):
                break
            return form, {name: int(text) for name, text in numbers.items()}
    raise ValueError("is not understood")
