"""The lines above a table of a tournament: its name and its days."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ledger.imports.languages import DATE_WORDS, fold_heading
from ledger.imports.lichess import one_line
from ledger.imports.reading import MAX_EVENT
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
_DAY_LABELS = {"042": "the first day", "052": "the last day"}


def title_name(titles: Sequence[tuple[int, str]]) -> str | None:
    """Return the tournament's name: the first line above a table, behind those of the program and of other tables."""
    texts = [words for _, words in titles]
    begin = max((place for place, words in enumerate(texts, 1) if _OF_PROGRAM.search(words)), default=0)
    for words in texts[begin:]:
        if not (_PROPERTY.match(words) or _TABLE_WORDS.search(words) or _TIME.search(words)):
            return one_line(words)[:MAX_EVENT].strip() or None
    return None


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
