"""Parsers of the cells of a CSV file of games: each returns a value, or raises a ValueError that says what to do.

First pure functions from one text to one value; then columns of them, fast where the text is plain: a column's few odd
values are handed to these functions once each, what they refuse is remembered with the reason, and only rows that hold
such a value are ever looked at. Last what the columns of one row say together: who played, how the game ended, when,
how fast.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, timedelta
from sys import getsizeof
from typing import TYPE_CHECKING, Any

import attrs

from ledger.facts.event_fields import MAX_HALF_MOVES, MAX_RATING, MAX_WHOLE, is_plain_text
from ledger.facts.instants import instant_ms
from ledger.facts.source_games import KEPT_FAULTS, FileFault
from ledger.facts.submissions import tournament_key
from ledger.facts.words import Termination
from ledger.imports.reading import FIDE_CLASSES, MAX_NAME, MAX_UNTIDY, SPEEDS, TOO_FAST, Faults, speed_class
from ledger.imports.time_controls import class_of_word, fide_class, parse_code
from ledger.imports.times import ambiguous_day_fault, possible_days, split_numeric_day, to_utc, with_century
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import Expr, Series

_MAX_CONTROL = 100  # characters of a time control

# A result is kept with what it says of the manner: "+" before the winner of a forfeit. "-": both forfeited.
# Spreadsheets take 1:0 for one o'clock, and 0:1 for a minute past midnight: 01:00, 00:01.
UNFINISHED, BOTH_FORFEITED = "*", "-"
_RESULTS: Mapping[str, tuple[str, ...]] = {
    "white": ("1-0", "white", "1.0-0.0", "1,0-0,0", "1", "1.0", "1,0", "1-00", "01-00", "01-00-00"),
    "black": ("0-1", "black", "0.0-1.0", "0,0-1,0", "0", "0.0", "0,0", "0-01", "00-01", "00-01-00"),
    "draw": ("1/2-1/2", "½-½", "draw", "0.5-0.5", "1/2", "½", "0,5-0,5", "0.5", "0,5", "=", "=-=", "remis"),
    "+white": ("+/-", "+--", "+-", "1-0f", "1-0ff", "1f-0", "1f-0f"),
    "+black": ("-/+", "--+", "-+", "0-1f", "0-1ff", "0-1f", "0f-1", "0f-1f"),
    UNFINISHED: ("*", "none"),
    BOTH_FORFEITED: ("-/-", "---", "--", "0-0", "0f-0f", "00-00", "00-00-00"),
}
_RESULT = {word: meaning for meaning, words in _RESULTS.items() for word in words}

# "normal" is resolved by the result and the flags of the row; "unterminated" leaves the game out.
NORMAL, UNTERMINATED = "normal", "unterminated"
_TERMINATION: Mapping[str, str] = {
    **{word.value: word.value for word in Termination},
    NORMAL: NORMAL,
    UNTERMINATED: UNTERMINATED,
    "time-forfeit": "time",
    "out-of-time": "time",
    "abandoned": "abandonment",
    "mate": "checkmate",
    "resign": "resignation",
    "forfeit": "unplayed",
    # PGN 9.8.1 knows two more; our list has no word for either.
    "death": "unknown",
    "emergency": "unknown",
}
_VARIANTS = (
    "standard", "chess960", "kingOfTheHill", "threeCheck", "crazyhouse", "atomic", "antichess", "horde",
    "racingKings", "fromPosition",
)  # fmt: skip
_VARIANT = {word.casefold(): word for word in _VARIANTS} | {"chess": "standard", "3check": "threeCheck"}
_SPEED = {word.casefold(): word for word in SPEEDS} | {"daily": "correspondence"}
_FLAG = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_DAY = 86_400
_DAY_FOR_A_DRAW = re.compile(r"[0-9]{4}-(?:01-02|02-01)")
_SERIAL_DAY = re.compile(r"[2-5][0-9]{4}")  # how spreadsheets count days: of the years 1954 to 2064
_PERIOD = re.compile(r"(?:(\d{1,4})/)?(\d{1,8}(?:\.\d{1,3})?)(?:\+(\d{1,6}(?:\.\d{1,3})?))?", re.ASCII)
_WHOLE = re.compile(
    r"\+?(\d{1,15})(?:[.,]0+)?", re.ASCII
)  # "2400.0" is what pandas makes of a column with gaps, "2400,0" a spreadsheet where decimals have a comma
_DATE = re.compile(r"(\d{4})(?:([-.])(\d\d|\?\?)(?:\2(\d\d|\?\?))?)?", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4})([-.])(\d\d)\2(\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s?(?:Z|UTC|([+-]\d\d(?::?\d\d)?))?", re.ASCII
)
_TIMED_DAY = re.compile(r"(\S+)[T ]+(\d\d?):(\d\d)(?::(\d\d))?(?:\s?([AP])M)?", re.ASCII | re.IGNORECASE)
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))  # as programs set them for a hyphen
_NOTHING = {"", "?", "-", "–", "—"}  # what people write where there is nothing to say
_PAIRED_GAME = re.compile(r"(?:Rated|Casual|FICS (?:un)?rated) .*\bgame", re.IGNORECASE)


def tidy_text(text: str) -> str:
    """Return text in Unicode NFC with single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _plain(text: str, limit: int) -> str | None:
    tidy = tidy_text(text) if len(text) <= MAX_UNTIDY else text.strip()
    if tidy in _NOTHING or not tidy.strip("?"):
        return None
    if len(tidy) > limit or not is_plain_text(tidy, limit):
        raise ValueError(f"must be at most {limit} characters without control characters; shorten or clean it")
    return tidy


def parse_name(text: str) -> str | None:
    """Return a player's display name; None if the cell is blank."""
    return _plain(text, MAX_NAME)


def parse_identity(text: str) -> str | None:
    """Return a player's identity, such as ``lichess:ann`` or a bare id; None if the cell is blank."""
    tidy = _plain(text, MAX_NAME)
    if tidy is not None and (tidy.startswith(":") or tidy.endswith(":")):
        raise ValueError("must be NAMESPACE:ID, with something on both sides of the colon")
    return tidy


def parse_tournament(text: str) -> str | None:
    """Return the tournament's name; None for a blank, and for a server's word for no tournament."""
    tidy = _plain(text, 128)
    return None if tidy is None or _PAIRED_GAME.fullmatch(tidy) else tournament_key(tidy)


def parse_round(text: str) -> str | None:
    """Return the round, in the source's words; None if the cell is blank."""
    return _plain(text, 32)


def parse_fide_id(text: str) -> str | None:
    """Return a FIDE id without leading zeros; None for a blank or 0."""
    tidy = text.strip()
    match = _WHOLE.fullmatch(tidy)
    if tidy and (match is None or len(match[1].lstrip("0")) > 10):
        raise ValueError("must be a FIDE id, a whole number of up to 10 digits; correct it or leave it empty")
    return (match[1].lstrip("0") or None) if match else None


def normalize_result(text: str) -> str:
    """Return a result without blanks and capitals, and with one kind of dash: ``1 – 0`` is ``1-0``."""
    return re.sub(r"\s+", "", text).casefold().translate(_DASHES).replace(":", "-")  # German tables write 1:0


def parse_result(text: str) -> str | None:
    """Return the result of a game: ``white``, ``draw``, ``black``, ``+white`` for a forfeit, ``*`` or ``-``.

    A single number is what White scored.
    """
    word = normalize_result(text)
    if not word:
        return UNFINISHED
    if word not in _RESULT:
        if _DAY_FOR_A_DRAW.match(word):
            raise ValueError("is a day, for which a spreadsheet takes 1/2: write ½ or 0.5 there, in a cell of text")
        raise ValueError("must be 1-0, 0-1, 1/2-1/2, a forfeit such as +/- or 1-0F, or * for an unfinished game")
    return _RESULT[word]


def parse_termination(text: str) -> str | None:
    """Return how the game ended, as a word of ``Termination``, ``normal`` or ``unterminated``."""
    word = re.sub(r"[\s_-]+", "-", text.strip().casefold())
    if word in {"", "?", "-"}:
        return None
    if word not in _TERMINATION:
        raise ValueError(f"must be empty or one of {', '.join(sorted(_TERMINATION))}")
    return _TERMINATION[word]


def parse_flag(text: str) -> bool | None:
    """Return the truth value of a cell such as ``yes`` or ``0``; None if it is blank."""
    word = text.strip().casefold()
    if not word:
        return None
    if word not in _FLAG:
        raise ValueError("must be 1 or 0, true or false, yes or no")
    return _FLAG[word]


def _whole(text: str, limit: int) -> int | None:
    tidy = text.strip()
    if tidy in _NOTHING:
        return None
    match = _WHOLE.fullmatch(tidy)
    if match is None or int(match[1]) > limit:
        raise ValueError(f"must be a whole number from 0 to {limit}; correct it or leave it empty")
    return int(match[1])


def parse_half_moves(text: str) -> int | None:
    """Return the number of moves of both sides together; None if the cell is blank."""
    return _whole(text, MAX_HALF_MOVES)


def parse_sequence(text: str) -> int | None:
    """Return the number of a game within its day, from 1; None for a blank or 0."""
    return _whole(text, MAX_WHOLE) or None


def parse_rating(text: str) -> int | None:
    """Return a rating in points; None for a blank or 0."""
    return _whole(text, MAX_RATING) or None


def parse_instant(text: str, order: str | None = None) -> str | None:
    """Return the date or instant of a cell, as precise as it was written; None if not even the year is known.

    *order*: the beginning of ``04/05/2024``, one of ``times.ORDERS``; None if the user gave none.
    """
    tidy = text.strip()
    # PGN writes a date of which not even the year is known as ``????.??.??``.
    if not tidy or tidy[0] == "?":
        return None
    if (moment := _as_people_write(tidy, order)) is not None:
        return moment
    if match := _MOMENT.fullmatch(tidy):
        # An instant has one spelling: finer digits than milliseconds are cut, and zeros are not written.
        fraction = (match[6] or "")[:3].ljust(3, "0")
        moment = f"{match[1]}-{match[3]}-{match[4]}T{match[5]}Z"
        if match[7]:
            try:
                moment = to_utc(moment[:10], match[5], match[7])
            except ValueError:
                raise ValueError(f"is no time that exists with the offset {match[7]}; correct it") from None
        moment = moment if fraction == "000" else f"{moment[:-1]}.{fraction}Z"
    elif match := _DATE.fullmatch(tidy):
        if match[3] == "??" and match[4] not in {None, "??"}:
            raise ValueError("must not give a day of an unknown month; write the year alone")
        moment = "-".join(part for part in (match[1], match[3], match[4]) if part and part != "??")
    else:
        if _SERIAL_DAY.fullmatch(tidy):
            day = date(1899, 12, 30) + timedelta(int(tidy))
            raise ValueError(f"is a number, by which a spreadsheet means {day}: give its cells a format of dates")
        raise ValueError("must be YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ, in UTC; rewrite it so")
    try:
        instant_ms(moment)
    except ValueError:
        raise ValueError("is no day or time that exists; correct it, or write only the year or month") from None
    return moment


def _as_people_write(tidy: str, order: str | None) -> str | None:
    """Return a day that ends with its year or has its month by name, with or without a time; None for others."""
    timed = _TIMED_DAY.fullmatch(tidy)
    day = with_century(timed[1] if timed else tidy, order)
    numbers = split_numeric_day(day)
    possible = possible_days(day, order)
    if numbers is None and (not possible or (len(possible[0]) < 10 if timed else _DATE.fullmatch(day))):
        return None
    if len(possible) > 1:
        raise ValueError(ambiguous_day_fault(possible))
    if not possible:
        assert numbers is not None
        swapped = order is not None and possible_days(day)
        month = numbers[1] if order == "dmy" else numbers[0]
        why = f"has the month {month} with --dates {order}" if swapped else "is no day that exists"
        raise ValueError(f"{why}; correct it, or write YYYY-MM-DD")
    if timed is None:
        return possible[0]
    hour, minute, second = int(timed[2]), int(timed[3]), int(timed[4] or 0)
    if timed[5]:
        # 12 AM is midnight and 12 PM is noon; an hour that no clock of twelve shows becomes 24, which is refused below.
        hour = hour % 12 + (12 if timed[5] in "pP" else 0) if 1 <= hour <= 12 else 24
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError("is no time that exists; correct it, or write the day alone")
    return f"{possible[0]}T{hour:02}:{minute:02}:{second:02}Z"


def parse_speed(text: str) -> str | None:
    """Return the speed class that a cell names, such as ``blitz``; None if it is blank."""
    return _word(text, _SPEED)


def parse_time_control(text: str) -> str | None:
    """Return the speed class of a clock in seconds, as PGN writes it: ``600+5``, ``40/5400+30:900``, ``-``."""
    tidy = text.strip()
    if tidy in {"", "?"}:
        return None
    if tidy == "-":
        return "correspondence"
    # The text is cut before it is divided, for a cell may be as long as a row.
    periods = [_PERIOD.fullmatch(part) for part in tidy[: _MAX_CONTROL + 1].split(":")]
    if len(tidy) > _MAX_CONTROL:
        raise ValueError(f"must be at most {_MAX_CONTROL} characters such as 600+5; correct it")
    base = increment = 0.0
    for period in periods:
        if period is None:
            raise ValueError("must be BASE+INCREMENT in seconds such as 600+5, - for correspondence, or empty")
        base += float(period[2])
        increment = float(period[3] or 0)
        # A day or more for some moves is correspondence: chess.com writes 1/86400 for a daily game.
        if period[1] and float(period[2]) >= _DAY:
            return "correspondence"
    return speed_class(base, increment)


def parse_minutes_control(text: str) -> str | None:
    """Return the speed class of a clock in minutes, as Lichess shows it: ``15+2``."""
    match = _PERIOD.fullmatch(text.strip())
    # without an increment these need not be minutes
    if match is None or match[1] or not match[3]:
        if "+" in text:
            raise ValueError("must be MINUTES+INCREMENT such as 15+2, - for correspondence, or empty")
        return parse_time_control(text)
    return speed_class(float(match[2]) * 60, float(match[3]))


def parse_fide_speed(text: str) -> str | None:
    """Return FIDE's class that a cell names: ``standard``, or a speed class; None if it is blank."""
    word = text.strip().casefold()
    return word if word in {*FIDE_CLASSES, TOO_FAST} else class_of_word(parse_speed(text))


def parse_fide_control(text: str, *, is_certain: bool, is_needed: bool) -> str | None:
    """Return FIDE's class of a time control in words or in code; None if it is blank.

    Args:
        text: the cell.
        is_certain: False if a code may be in minutes.
        is_needed: False if the user named no pool: then a code that may be in minutes has no class.
    """
    try:
        return fide_class(text, is_certain=is_certain)
    except ValueError:
        if is_needed:
            raise
        parse_time_control(text)
        return None


def parse_fide_minutes(text: str) -> str | None:
    """Return FIDE's class of a clock in minutes (``15+2``); None if it is blank."""
    control = parse_code(text, in_minutes="+" in text)
    return None if control is None else control.fide_class


def parse_variant(text: str) -> str | None:
    """Return the variant that a cell names, such as ``chess960``; None if it is blank."""
    return _word(text, _VARIANT)


def _word(text: str, meanings: Mapping[str, str]) -> str | None:
    """Return the meaning of a word, with its parts joined in any way; None if the cell is blank."""
    word = re.sub(r"[\s_-]+", "", text).casefold()
    if word in {"", "?"}:
        return None
    if word not in meanings:
        raise ValueError(f"must be empty or one of {', '.join(dict.fromkeys(meanings.values()))}")
    return meanings[word]


# -- columns of fields ---------------------------------------------------------------------------------------------

REMEMBERED = 48 * 2**20  # bytes of distinct values kept from block to block, so that memory stays constant
_OF_EACH = 150  # bytes that a value takes besides its text
# All days of the calendar but 29 February, which is left to the slow way.
_PLAIN_DAY = (
    r"^[1-9][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)"
)
_PLAIN_TIME = "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"


@attrs.frozen
class ParsedColumn:
    """A parsed column of a CSV file: its text, the values, and the fault of each bad text."""

    label: str
    text: Series
    values: Series
    bad: dict[str, str]

    def bad_rows(self) -> Series:
        """Return a mask of the rows whose text has a fault."""
        return self.text.is_in(list(self.bad))

    def fault(self, text: str) -> str:
        """Return the message about a bad text."""
        label = repr(text if len(text) <= 80 else f"{text[:80]}...")
        return f"{self.label} {self.bad[text]}; got {label}"


class CellParser:
    """A parser of cells that is applied to whole columns and remembers the value of each text."""

    def __init__(
        self, convert: Callable[[str], Any], kind: Any = None, quick: Callable[[Series], Series] | None = None
    ) -> None:
        """Take a parser of cells, the type of its values, and one of columns that leaves null what it cannot read."""
        self._one = convert
        self._quick = quick
        self._kind = kind
        self._known: dict[str, Any] = {}
        self._bad: dict[str, str] = {}
        # each bad text once: a column of garbage has one fault a million times
        self._words: dict[str, str] = {}
        self.size = 0  # bytes, about

    def clear(self) -> None:
        """Forget the remembered values."""
        self._known.clear()
        self._bad.clear()
        self.size = 0

    def _map(self, text: Series) -> tuple[Series, dict[str, str]]:
        distinct = text.unique().drop_nulls().to_list()
        for cell in distinct:
            if cell not in self._known and cell not in self._bad:
                self.size += 2 * getsizeof(cell) + _OF_EACH
                try:
                    self._known[cell] = self._one(cell)
                except ValueError as error:
                    words = str(error)
                    self._bad[cell] = self._words.setdefault(words, words)
        kind = self._kind or pl.String
        if not distinct:
            return pl.Series(text.name, [None], kind).new_from_index(0, len(text)), {}
        new = [self._known.get(cell) for cell in distinct]
        bad = {cell: self._bad[cell] for cell in distinct if cell in self._bad} if self._bad else {}
        # each means itself, as names mostly do: nothing is copied
        if new == distinct:
            return text, bad
        if len(distinct) * 2 < len(text):
            return text.replace_strict(distinct, new, default=None, return_dtype=kind), bad
        # So many distinct values make the replacement table dearer than asking for each row.
        return pl.Series(text.name, [self._known.get(cell) for cell in text.to_list()], kind), bad

    def parse_column(self, label: str, text: Series) -> ParsedColumn:
        """Return the values of a column, which the file calls *label*."""
        if self._quick is None:
            return ParsedColumn(label, text, *self._map(text))
        quick = self._quick(text)
        odd = text.is_not_null() & quick.is_null()  # e.g. 29 February: a few of a million
        if not odd.any():
            return ParsedColumn(label, text, quick, {})
        rest = text.to_frame("text").select(pl.when(odd).then("text")).to_series()
        slow, bad = self._map(rest)
        return ParsedColumn(label, text, quick.zip_with(~odd, slow), bad)


def limit_caches(parsers: Collection[CellParser]) -> None:
    """Clear the caches of all parsers when together they hold more than ``REMEMBERED`` bytes."""
    if sum(parser.size for parser in parsers) > REMEMBERED:
        for parser in parsers:
            parser.clear()


def accept_matching(pattern: str) -> Callable[[Series], Series]:
    """Return a parser of columns that takes the texts that match as they are, and leaves null the others."""

    def plain(text: Series) -> Series:
        return text.to_frame("text").select(pl.when(pl.col("text").str.contains(pattern)).then("text")).to_series()

    return plain


# written as the ledger writes them; to the second or to the day, and to the day alone
accept_instants = accept_matching(f"{_PLAIN_DAY}(?:{_PLAIN_TIME})?$")
accept_days = accept_matching(f"{_PLAIN_DAY}$")
accept_fide_ids = accept_matching(r"^[1-9][0-9]{0,9}$")  # FIDE ids without leading zeros


def accept_whole(low: int, high: int) -> Callable[[Series], Series]:
    """Return a parser of columns that takes whole numbers within limits, and leaves null the others."""

    def plain(text: Series) -> Series:
        # null for a text that is no number, which the slow way explains
        number = text.cast(pl.Int32, strict=False)
        return number.to_frame("n").select(pl.when(pl.col("n").is_between(low, high)).then("n")).to_series()

    return plain


RowCheck = tuple["Series", "Series", Callable[[str], str]]  # which rows, the text to show of each, and the words


def check_rows(lines: Series, complaints: Iterable[RowCheck], left_out: Series) -> tuple[Series, Faults]:
    """Return a mask of the rows that are bad or *left_out*, and the faults of the bad ones, by checks."""
    bad, count = left_out, 0
    first: list[FileFault] = []
    for mask, texts, say in complaints:
        faulty = mask.fill_null(value=False) & ~left_out
        if faulty.any():
            count += int(faulty.sum())
            numbers = lines.filter(faulty).head(KEPT_FAULTS).to_list()
            first += map(FileFault, numbers, map(say, texts.filter(faulty).head(KEPT_FAULTS).to_list()))
            bad = bad | faulty
    return bad, Faults(first, count - len(first))


# -- rows: expressions over the columns that a file has ------------------------------------------------------------

USUAL_RULES = ("standard", "chess960", "fromPosition")


def player_columns(side: str, present: frozenset[str]) -> list[Expr]:
    """Return the columns of a player's identity and name: an id with a colon, else the FIDE id, a bare id, the name."""
    ways: list[Expr] = []
    own_id = pl.col(f"{side}_id")
    if f"{side}_id" in present:
        ways.append(pl.when(pl.col(f"{side}_spaced")).then(own_id))
    if f"{side}_fide_id" in present:
        ways.append(pl.lit("fide:") + pl.col(f"{side}_fide_id"))
    if f"{side}_id" in present:
        ways.append(own_id)
    if side in present:
        ways.append(pl.col(f"{side}_named"))
    identity = pl.coalesce(ways)
    label = (
        pl.when(identity.str.starts_with("fide:"))
        .then(pl.lit("FIDE ") + identity.str.slice(5))
        .when(identity.str.starts_with("id:"))
        .then(identity.str.slice(3))
        .otherwise(identity)
    )
    name = pl.coalesce(pl.col(side), label) if side in present else label
    return [identity.alias(f"{side}_id"), name.alias(f"{side}_name")]


def termination_column(present: frozenset[str]) -> Expr:
    """Return the column of terminations, from the file's word, the flags of the row and the result."""
    forfeited = pl.col("result").str.starts_with("+")
    draw = pl.col("result") == "draw"
    plain: Expr = pl.lit("unknown")
    for flag, word, holds in (
        ("insufficient_material", "insufficient-material", draw),
        ("stalemate", "stalemate", draw),
        ("ended_by_checkmate", "checkmate", pl.lit(value=True)),
    ):
        if flag in present:
            plain = pl.when(holds & pl.col(flag)).then(pl.lit(word)).otherwise(plain)
    termination = plain
    if "termination" in present:
        word_of_file = pl.col("termination")
        normal = plain
        if "ended_by_checkmate" in present:
            # Normal and won without mate is resigned; but only a file that marks the mates distinguishes the two, and
            # only if the king cannot be lost in another way.
            usual = pl.col("variant").is_null() | pl.col("variant").is_in(USUAL_RULES)
            resigned = ~draw & (plain == "unknown") & (usual if "variant" in present else pl.lit(value=True))
            normal = pl.when(resigned).then(pl.lit("resignation")).otherwise(plain)
        termination = (
            pl.when(word_of_file.is_null())
            .then(plain)
            .when(word_of_file == NORMAL)
            .then(normal)
            .otherwise(word_of_file)
        )
    return pl.when(forfeited).then(pl.lit("unplayed")).otherwise(termination)


def other_columns(columns: frozenset[str]) -> list[Expr]:
    """Return the columns that a file may lack or give in several ways: times, speed, tournament, ratings and others."""
    present = {name: pl.col(name) for name in columns}
    none = pl.lit(None, pl.String)
    speeds = [present[name] for name in ("speed", "time_control", "time_increment") if name in columns]
    times = [present[name] for name in ("ended_at", "started_at") if name in columns]
    return [
        pl.col("result").str.strip_chars_start("+").alias("outcome"),
        termination_column(columns).alias("termination"),
        pl.coalesce(*speeds, none).alias("speed"),
        pl.coalesce(times).alias("ended_at"),
        present.get("started_at", none).alias("started_at"),
        present.get("tournament", none).alias("tournament"),
        present.get("round", none).alias("round"),
        present.get("sequence", pl.lit(None, pl.Int64)).alias("sequence"),
        pl.coalesce(present.get("rated", pl.lit(value=True)), pl.lit(value=True)).alias("rated"),
        pl.coalesce(present.get("variant", none), pl.lit("standard")).alias("variant"),
        *(
            present.get(name, pl.lit(None, pl.Int32)).alias(name)
            for name in ("half_moves", "white_rating", "black_rating")
        ),
    ]


def contradiction_checks(present: frozenset[str]) -> list[tuple[Expr, Expr, str]]:
    """Return the checks of rows that contradict themselves: a mask, the value to show, the message."""
    same = pl.col("white_id") == pl.col("black_id")
    wrong = [(same, pl.col("white_id"), "a player cannot play himself, but both are {!r}; correct one")]
    if {"started_at", "ended_at"} <= present:
        times = pl.format("{} before {}", pl.col("ended_at"), pl.col("started_at"))
        ended, started = (pl.col(name).str.strip_chars_end("Z") for name in ("ended_at", "started_at"))
        # only the digits that both give are compared: a day is not before an instant of it
        shorter = pl.min_horizontal(ended.str.len_bytes(), started.str.len_bytes())
        early = ended.str.head(shorter) < started.str.head(shorter)
        wrong.append((early, times, "the game ended before it started: {}; correct one of the two"))
    if present & {"termination", "ended_by_checkmate"}:
        lost = (pl.col("outcome") == "draw") & pl.col("termination").is_in(["checkmate", "resignation"])
        wrong.append((lost, pl.col("termination"), "a draw cannot end by {}; correct one of the two"))
    return wrong
