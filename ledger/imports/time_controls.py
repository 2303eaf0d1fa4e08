"""Parser of time controls, in words or coded, with the minutes for 60 moves and FIDE's class of them.

In words, minutes and moves are read as arbiters write them: ``90+30``, ``15 min + 10 s``, ``90 min/40 moves + 30 min +
30 sec``, ``100'x40mm + 50'x20mm + 30" from move 1``, ``40/120, 60``, ``G/60``, ``1h30``, or the class in a word. The
code of PGN and of tournament reports (222) is in seconds: ``5400+30``, ``40/5400+30:1800+30``, ``W5400-B3600``.
"""

from __future__ import annotations

import re
from functools import lru_cache

import attrs

from ledger.imports.reading import FIDE_CLASSES, TOO_FAST, speed_class

MAX_WORDS = 200  # characters that are looked at
# FIDE Rating Regulations and Laws of Chess, appendices A and B: the time of a player for 60 moves.
GAME_MOVES = 60
RAPID_BELOW = 60 * 60  # seconds: rapid is less than 60 minutes
BLITZ_UP_TO = 10 * 60  # seconds: blitz is 10 minutes or less
BLITZ_ABOVE = 3 * 60  # seconds: blitz is more than 3 minutes
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
_FIDE_WORDS = {"blitz": "blitz", "rapid": "rapid", "classical": "standard", "bullet": TOO_FAST, "ultraBullet": TOO_FAST}
_QUOTES = str.maketrans({"’": "'", "′": "'", "‘": "'", "`": "'", "´": "'", "″": '"', "”": '"', "“": '"', "×": "x"})
_PARTS = re.compile(
    r"\s*(?:(?:[+,;&]|\b(?:and|plus|then|followed by|with(?: an?)? (?:addition(?:al)?|increment|bonus)(?: of)?"
    r"|und|danach|dann|et|puis|suivie?s? de|y|luego|seguidos? de|e|poi|i|a|och)\b)\s*)+"
)
_HOURS = r"(?:h|hrs?|hours?|std|stunden?|heures?|horas?|ore|godz|hod|uur)(?![a-z])\.?"
# two apostrophes on end are typed for a double quote, and mean seconds
_MINUTES = r"(?:'(?!')|(?:m|mins?|minutes?|minuten|minuti|minutos|minuty?|minuter)\b\.?)"
_SECONDS = (
    r"(?:\"|''|(?:s|secs?|segs?|seconds?|sek|sekunden|secondes?|secondi|segundos|seconden|sekundy?|sekunder)\b\.?)"
)
_MOVES = (
    r"(?:mm|mv|moves?|züge|zügen|zuege|zuegen|zuge|coups|mosse|jugadas|movimientos|movs|lances|zetten"
    r"|posunięć|ruchów|tahů|tahy|drag)\b\.?"
)
_FOR = r"(?:/|(?:for|für|fuer|para|pour|per|voor|na|za|för)\b(?:\s*(?:the|die|los|les|le|as|de|i)\b)?)"
_FIRST = r"(?:\s*(?:first|ersten|primer[ao]s|premiers|prime|primeiros|eerste|pierwsze|första)\b)?"
_REST = (
    r"(?:\s*(?:/|(?:per|for|für|fuer|pro|the|den|die|each|all|every|whole|rest|remaining|remainder|of|to|end|finish"
    r"|game|player|partie|spieler|moves?|para|el|resto|pour|le|reste|k\.?o)\b\.?))*"
)
_MOVE = r"(?:move|zug|coup|mossa|jugada|movimiento|lance|zet|tah|ruch|posunięcie|drag)"
_FROM = (
    r"(?:\s*(?:increment|inkrement|incremento|inc|bonus))?"
    rf"(?:\s*(?:/|per|pro|par|por|each|every|für|for|na|za)?\s*(?:{_MOVE}|increment|inc))?"
    rf"(?:\s*(?:starting\s+)?(?:from|ab|desde|od|vanaf)\s+(?:the\s+)?(?:first\s+)?{_MOVE}(?:\s+(?:1|one))?)?"
)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("moves", re.compile(rf"(?P<moves>\d+)\s*(?:{_MOVES})?\s*(?:/|in)\s*(?P<minutes>\d+)\s*(?:{_MINUTES})?{_REST}")),
    (
        "moves",
        re.compile(
            rf"(?P<minutes>\d+)\s*(?:{_MINUTES})?\s*"
            rf"(?:x\s*(?P<moves>\d+)\s*(?:{_MOVES})?|{_FOR}{_FIRST}\s*(?P<moves_named>\d+)\s*{_MOVES})"
        ),
    ),
    (
        "moves",
        re.compile(rf"(?P<hours>\d+)\s*{_HOURS}\s*(?:x|{_FOR}){_FIRST}\s*(?P<moves>\d+)\s*(?:{_MOVES})?"),
    ),
    ("time", re.compile(rf"(?:g|game|sd|k\.?o\.?)\s*(?:/|in)?\s*(?P<minutes>\d+)\s*(?:{_MINUTES})?")),
    ("time", re.compile(rf"(?P<hours>\d+)\s*{_HOURS}\s*(?:(?P<minutes>\d+)\s*(?:{_MINUTES})?)?{_REST}")),
    ("time", re.compile(rf"(?P<minutes>\d+)\s*{_MINUTES}{_REST}")),
    ("increment", re.compile(rf"(?P<seconds>\d+)\s*{_SECONDS}{_FROM}")),
    ("increment", re.compile(rf"(?P<seconds>\d+)\s*(?:/|per|pro)\s*{_MOVE}")),
    ("increment", re.compile(r"(?:d|delay|inc|increment)\s*(?P<seconds>\d+)\s*(?:s|secs?)?")),
    ("number", re.compile(r"(?P<number>\d+)")),
)
_LONGEST = 120  # minutes that a bare number may mean
_SHARE = 20  # as many increments as would fill the whole time show that it is not in seconds
_MINUTES_OF_CODE = 120  # a code of at most so much time may be in minutes by mistake
# "600.0" is what pandas makes of a column with gaps
_CODE = re.compile(r"(?:(\d{1,3})/)?(\d{1,6})(?:\.0+)?(?:\+(\d{1,4})(?:\.0+)?)?", re.ASCII)
_CODE_IN_WORDS = re.compile(r"(?:\d{1,3}/)?(\d{3,5})\+?[\d+/:]*", re.ASCII)
_NO_MINUTES = 900  # no control begins with so many minutes: they are seconds
_SIDES = re.compile(r"[wW]([\d+/:]+)\s*-\s*[bB]([\d+/:]+)", re.ASCII)
_DAY = 86_400  # seconds: as much for some moves is correspondence


@attrs.frozen
class Period:
    """One period of a time control.

    Attributes:
        seconds: the time that a player has for it.
        moves: the moves that it lasts; None: the rest of the game.
        increment: the seconds that each of its moves adds, or that the clock waits.
    """

    seconds: int
    moves: int | None = None
    increment: int = 0


@attrs.frozen
class TimeControl:
    """A time control: its periods, or the class that a word names.

    Attributes:
        periods: in their order; empty if a word alone names the class.
        word: the speed class that a word names; None if there are periods.
    """

    periods: tuple[Period, ...] = ()
    word: str | None = None

    @property
    def speed(self) -> str:
        """The speed class by Lichess's rule, from the whole time and the largest increment."""
        if self.word is not None:
            return self.word
        return speed_class(
            sum(period.seconds for period in self.periods), max(period.increment for period in self.periods)
        )

    @property
    def seconds_for_a_game(self) -> int | None:
        """The seconds that a player has for 60 moves, with all increments; None if a word names the class."""
        if not self.periods:
            return None
        seconds = played = 0
        rest = list(self.periods)
        while played < GAME_MOVES:
            # the last period repeats, if it is for a number of moves
            period = rest.pop(0) if rest else self.periods[-1]
            moves = min(period.moves or GAME_MOVES, GAME_MOVES - played)
            seconds += period.seconds + period.increment * moves
            played += moves
        return seconds

    @property
    def fide_class(self) -> str | None:
        """FIDE's class: ``standard``, ``rapid``, ``blitz``, or ``too-fast``; None for correspondence."""
        seconds = self.seconds_for_a_game
        if seconds is None:
            return _FIDE_WORDS.get(self.word or "")
        if seconds >= RAPID_BELOW:
            return "standard"
        if seconds > BLITZ_UP_TO:
            return "rapid"
        return "blitz" if seconds > BLITZ_ABOVE else TOO_FAST

    def __str__(self) -> str:
        """Return FIDE's class with the minutes for 60 moves, such as ``rapid (25 minutes for 60 moves)``."""
        seconds = self.seconds_for_a_game
        words = self.fide_class or self.word or ""
        return words if seconds is None else f"{words} ({seconds / 60:g} minutes for {GAME_MOVES} moves)"


def parse_words(words: str) -> TimeControl | None:
    """Return a time control in words, such as ``90 min + 30 s``; None for a blank.

    Raises:
        ValueError: the words cannot be understood, or may be understood in two ways.
    """
    text = " ".join(words[:MAX_WORDS].casefold().translate(_QUOTES).split()).strip(" .")
    if not text:
        return None
    if text in _WORDS:
        return TimeControl(word=_WORDS[text])
    code = _CODE_IN_WORDS.fullmatch(text)
    if code and int(code[1]) >= _NO_MINUTES and not text.isdecimal():
        return parse_code(text)
    times: list[tuple[int, int | None]] = []  # seconds and moves of each period
    increment, after_moves, bare = 0, False, None
    for number, part in enumerate(_PARTS.split(text)):
        form, numbers = _understood(part)
        if form == "number" and number and not after_moves:  # "90+30": the second number is an increment
            form, numbers = "increment", {"seconds": numbers["number"]}
        if form == "number":
            numbers = {"minutes": numbers["number"]}
            bare = numbers["minutes"] if not number else bare
        if seconds := 3600 * numbers.get("hours", 0) + 60 * numbers.get("minutes", 0):
            times.append((seconds, numbers.get("moves", numbers.get("moves_named")) or None))
        increment = max(increment, numbers.get("seconds", 0))
        after_moves = form == "moves"
    if not times:
        raise ValueError("names no time to begin with")
    if bare is not None and (bare > _LONGEST or (bare >= 60 and 0 < _SHARE * increment < bare)):
        raise ValueError("may be minutes or seconds")
    # Arbiters name the increment once, at the end: it is for each move of the game.
    return TimeControl(tuple(Period(seconds, moves, increment) for seconds, moves in times))


def speed_in_words(words: str, *, by_fide: bool) -> str | None:
    """Return the speed class of a time control in words, FIDE's or Lichess's; None for a blank.

    Raises:
        ValueError: as of ``parse_words``.
    """
    control = parse_words(words)
    if control is None:
        return None
    return control.fide_class if by_fide else control.speed


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


def parse_code(code: str, *, in_minutes: bool = False) -> TimeControl | None:
    """Return a time control in the code of PGN and of tournament reports; None for a blank, ``?`` and ``-``.

    Args:
        code: such as ``600+5`` or ``40/5400+30:1800+30``, in seconds; ``W5400-B3600`` for unequal times.
        in_minutes: True if the times are minutes (``15+2``), the increments seconds.

    Raises:
        ValueError: it is no such code, or FIDE rates no game with its unequal times.
    """
    tidy = code[: MAX_WORDS + 1].strip()
    if tidy in {"", "?", "-"}:
        return None
    if sides := _SIDES.fullmatch(tidy):
        white, black = (parse_code(side, in_minutes=in_minutes) for side in sides.groups())
        # FIDE rates no rapid and no blitz game with unequal times.
        is_rated = white == black or (white and black and white.fide_class == black.fide_class == "standard")
        if not is_rated:
            raise ValueError(f"gives White {white} and Black {black}, and FIDE rates no such game")
        return white
    periods = []
    for part in tidy.split(":"):
        match = _CODE.fullmatch(part)
        if match is None:
            raise ValueError("is no time control such as 600+5 or 40/5400+30:1800+30, in seconds")
        moves, seconds, increment = int(match[1] or 0) or None, int(match[2]), int(match[3] or 0)
        if moves and seconds >= _DAY:
            return TimeControl(word="correspondence")
        periods.append(Period(seconds * (60 if in_minutes else 1), moves, increment))
    return TimeControl(tuple(periods))


def may_be_minutes(control: TimeControl) -> bool:
    """Return whether a code has so little time for its increment that its author wrote minutes, as in ``90+30``."""
    first = control.periods[0] if control.periods else Period(0)
    return 0 < first.seconds <= _MINUTES_OF_CODE and 0 < first.seconds <= _SHARE * first.increment


@lru_cache(maxsize=4096)
def fide_class(text: str, *, is_certain: bool = True) -> str | None:
    """Return FIDE's class of a time control in code or in words; None for a blank and for correspondence.

    Args:
        text: a code in seconds, or words.
        is_certain: False if a code of another program may be in minutes.

    Raises:
        ValueError: it cannot be understood, or may be understood in two ways.
    """
    if not re.fullmatch(r"[\s\d.+/:?-]*", text[:MAX_WORDS]) and not _SIDES.fullmatch(text.strip()):
        words = parse_words(text)
        return None if words is None else words.fide_class
    control = parse_code(text)
    if control is None:
        return None
    if not is_certain and may_be_minutes(control):
        raise ValueError("may be minutes or seconds")
    return control.fide_class


def class_of_word(word: str | None) -> str | None:
    """Return FIDE's class that a speed class in a word names; None for none of them."""
    return word if word in FIDE_CLASSES else _FIDE_WORDS.get(word or "")
