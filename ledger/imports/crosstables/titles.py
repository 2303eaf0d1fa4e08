"""The lines above a table of a tournament: its name, its days and its time control."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from ledger.imports.languages import DATE_WORDS, TIME_CONTROL_WORDS, fold_heading
from ledger.imports.lichess import one_line
from ledger.imports.reading import MAX_EVENT, Reading
from ledger.imports.time_controls import speed_in_words
from ledger.imports.trf.lines import TournamentDays, TournamentHeader, read_days

DAY = re.compile(r"(?<!\d)(?:\d{4}([./-])\d{1,2}\1\d{1,2}|\d{1,2}([./-])\d{1,2}\2\d{4})(?!\d)", re.ASCII)
_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_LABELLED = re.compile(r"([^:]{1,40}?)\s*:(?=\s|$)")
_PROPERTY = re.compile(r"[^:]{1,40}\s:(?=\s|$)")  # "Number of rounds : 9", as the server writes what it knows
_TABLE_WORDS = re.compile(r"cross.?table|kreuztabelle|fortschrittstabelle|pairings|paarungen", re.IGNORECASE)
# What programs write above their tables, and below those before.
_OF_PROGRAM = re.compile(
    r"chess-results|vegachess|swiss-?manager|licensed to|tie.?break|annotation|anmerkung", re.IGNORECASE
)
# "Time control (Rapid) : 15 min + 10 sec"; copied from a page without the colon
_TIME_CONTROL = re.compile(
    rf"(?:{'|'.join(map(re.escape, sorted(TIME_CONTROL_WORDS, key=len, reverse=True)))})"
    r"\s*(?:\(([^()]{1,40})\))?\s*(:?)(?:\s+(\S.*)|$)",
    re.IGNORECASE,
)
_DAY_LABELS = {"042": "the first day", "052": "the last day"}


def title_name(titles: Sequence[tuple[int, str]]) -> str | None:
    """Return the tournament's name: the first line above a table, behind those of the program and of other tables."""
    texts = [words for _, words in titles]
    begin = max((place for place, words in enumerate(texts, 1) if _OF_PROGRAM.search(words)), default=0)
    for words in texts[begin:]:
        if not any((_PROPERTY.match(words), _TABLE_WORDS.search(words), _TIME.search(words), _time_control(words))):
            return one_line(words)[:MAX_EVENT].strip() or None
    return None


def title_speed(titles: Sequence[tuple[int, str]], reading: Reading) -> tuple[str | None, int | None]:
    """Return the speed class of the time control above a table, and its line; notes go to *reading*.

    The time control counts, and the class that the program names, as in ``Time control (Rapid)``, if there is no other.
    """
    for line, words in titles:
        if (stated := _time_control(words)) is None:
            continue
        of_program, control = stated
        named = speed = None
        with suppress(ValueError):
            named = speed_in_words(of_program, by_fide=reading.by_fide)
        try:
            speed = speed_in_words(control, by_fide=reading.by_fide)
        except ValueError as error:
            reading.note(line, f"the time control {error}; got {control[:80]!r}: not used")
        if speed is not None and named is not None and speed != named and reading.by_fide:
            reading.note(line, f"the time control {control[:80]!r} is called {of_program}, and is that of {speed}")
        return speed or named, line
    return None, None


def _time_control(words: str) -> tuple[str, str] | None:
    """Return the class that the program names and the time control of a line, each may be empty; None for others."""
    match = _TIME_CONTROL.fullmatch(words)
    if match is None:
        return None
    of_program, colon, control = (part or "" for part in match.groups())
    if not (of_program or colon):
        try:
            speed_in_words(control, by_fide=True)
        except ValueError:
            return None
    return of_program, control


def title_days(
    titles: Sequence[tuple[int, str]], line: int, order: str | None
) -> tuple[TournamentDays | None, list[tuple[int, str]]]:
    """Return the first and last day of a tournament, None if they cannot be read, and their faults with their lines.

    They are the two days of one line, or those behind a word such as ``Date:``. *order*: one of ``times.ORDERS``.
    """
    header = TournamentHeader(line)
    for number, words in titles:
        days = [match[0] for match in DAY.finditer(words)]
        labelled = _LABELLED.match(words)
        is_date = labelled is not None and fold_heading(labelled[1]) in DATE_WORDS
        if "042" not in header.records and (len(days) == 2 or (days and is_date)):
            header.records = {"042": (number, days[0]), "052": (number, days[-1])}
    read, faults, _ = read_days(header, order, _DAY_LABELS)
    return read, faults
