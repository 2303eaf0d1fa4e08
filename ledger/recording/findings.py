"""The findings of the checks of a tournament report: their codes and severities, and what a finding says.

An error stops the report. A warning stops it, too, unless a person accepts its code; the acceptance is recorded. A note
is only shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import attrs

from ledger.errors import MalformedError
from ledger.facts.source_games import SourceReport
from ledger.imports.reading import OTHER_CLASS
from ledger.runtime.nearest import expected_names


class Severity(StrEnum):
    """The consequence of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Check(NamedTuple):
    """One check of reports: the severity of its findings, what it finds, and what to do."""

    severity: Severity
    finds: str
    advice: str


NO_CLASS = "time-control-missing"
# By code; a code is recorded with its acceptance, and never changes its meaning.
CHECKS: Mapping[str, Check] = {
    "number-of-another": Check(
        Severity.ERROR,
        "a FIDE or national number belongs to a player with quite another name",
        "correct the number, or rename the player",
    ),
    "numbers-swapped": Check(Severity.ERROR, "two entrants have each other's numbers", "swap their numbers"),
    "rounds-out-of-order": Check(
        Severity.ERROR, "a round was played before an earlier one", "correct the days of the rounds (132)"
    ),
    "day-outside-tournament": Check(
        Severity.ERROR,
        "a round was played before the tournament began or after it ended",
        "correct the day (132), or the tournament's days (042, 052)",
    ),
    "day-unreadable": Check(
        Severity.ERROR,
        "a round's day does not exist, such as 24/05/32, or the tournament's does not or is ambiguous",
        "write YYYY/MM/DD (042, 052), or YY/MM/DD (132)",
    ),
    "day-in-future": Check(
        Severity.ERROR,
        "a round with results, or the tournament's first day, is more than a day in the future",
        "correct the year or the day (042, 052, 132), or this machine's clock",
    ),
    "end-before-start": Check(
        Severity.ERROR, "the tournament ended before it began", "correct one of the two days (042, 052)"
    ),
    "day-missing": Check(Severity.ERROR, "the report names no day", "write the days (042, 052), or give --day"),
    "no-players": Check(Severity.ERROR, "the report has no line of a player", "check which file it is"),
    "table-unreadable": Check(
        Severity.ERROR,
        "a cross-table lacks headings, numbers of players, opponents or colours, or has too many players",
        "give the whole table as the program writes it",
    ),
    "too-many-rounds": Check(
        Severity.ERROR, "the players have more rounds than a tournament may have", "check which file it is"
    ),
    "line-unreadable": Check(
        Severity.ERROR,
        "a field of a player's line or row on which games depend is not what its columns should hold",
        "correct the columns that are named; a line that lost or won a character is out of step",
    ),
    "rank-twice": Check(Severity.ERROR, "two lines have one starting rank", "correct one"),
    "player-twice": Check(
        Severity.ERROR,
        "two lines have one FIDE or national number, or one name without a FIDE number",
        "correct one number, or give numbers",
    ),
    "opponent-missing": Check(
        Severity.ERROR,
        "a game's opponent is missing or has no line",
        "correct the starting rank, or write the letter of a bye",
    ),
    "opponents-differ": Check(
        Severity.ERROR,
        "a player has two opponents in a round, or an opponent whose line has another one",
        "correct one of the two lines",
    ),
    "results-differ": Check(
        Severity.ERROR, "two lines have results of their game that contradict", "correct one of the two lines"
    ),
    "colours-differ": Check(
        Severity.ERROR, "two lines have colours of their game that contradict", "correct one of the two lines"
    ),
    "more-rounds": Check(
        Severity.ERROR,
        "the report has results of more rounds than it announces",
        "correct the number of rounds (142, XXR), or remove the round",
    ),
    NO_CLASS: Check(
        Severity.ERROR,
        "the time control chooses the pool, but is missing, not understood, or not rated by FIDE",
        "write it (222, 122), as in '90 min + 30 sec', or name the pool",
    ),
    "name-differs": Check(
        Severity.WARNING,
        "a number's owner shares only the surname or the given name",
        "correct the number; after a marriage rename the player",
    ),
    "number-unknown": Check(
        Severity.WARNING,
        "nobody has the number of an entrant, and a player of that name has one that differs in one or two digits, or "
        "the same rating or year of birth",
        "correct the number",
    ),
    "resembles-known": Check(
        Severity.WARNING,
        "a new player has the name of a known one; or that name but for one letter, and the same year of birth or "
        "rating",
        "give the player's number, or correct the name",
    ),
    "entered-twice": Check(
        Severity.WARNING,
        "two entrants have one name, one of them has no number, and they do not play each other",
        "remove one, or give both their numbers",
    ),
    "rating-differs": Check(
        Severity.WARNING,
        "a rating is not that of the list in force on the first day of the tournament",
        "correct the rating, or check which list was used",
    ),
    "other-list": Check(
        Severity.WARNING,
        "most ratings, and five or more, differ from the list in force",
        "check which list was used, and whether the pool is the right one",
    ),
    OTHER_CLASS: Check(
        Severity.WARNING,
        "the time control belongs to another pool by FIDE's limits than the one that was named",
        "take that pool, or correct the time control (222, 122)",
    ),
    "birth-year-differs": Check(
        Severity.WARNING,
        "an entrant's year of birth is impossible, or it or the whole date is not the recorded one",
        "correct it, or check whether the number is another player's",
    ),
    "national-differs": Check(
        Severity.WARNING,
        "an entrant's national number is not the recorded one",
        "correct it, or check whether the line is another player's",
    ),
    "federation-differs": Check(
        Severity.WARNING, "an entrant's federation is not the recorded one", "correct it, or record a transfer"
    ),
    "federation-unknown": Check(
        Severity.WARNING,
        "FIDE has no federation of that code, while most players have one of FIDE's",
        "correct the code",
    ),
    "sex-differs": Check(
        Severity.WARNING,
        "an entrant's sex is not the recorded one, or a man has a women's title",
        "correct it, or check whether the number is another player's",
    ),
    "title-differs": Check(
        Severity.WARNING,
        "an entrant's title is lower than the recorded one; or higher than that, or new, though the list is not older "
        "than a quarter and has the titles of most others",
        "correct it, or record the new title",
    ),
    "points-differ": Check(
        Severity.WARNING,
        "an entrant's points are not the sum of the results, while those of most others are",
        "correct the result or the points",
    ),
    "team-differs": Check(
        Severity.WARNING,
        "a team's (310) points are not its boards', a player of it is in another team or has no line, or its line "
        "cannot be read, while most teams agree",
        "correct the line of the team, or the results of its players",
    ),
    "lost-by-both": Check(
        Severity.WARNING, "both players of a game have lost it", "correct one result, if it was no penalty"
    ),
    "field-unreadable": Check(
        Severity.WARNING,
        "a date of birth, federation, sex, title, or points cannot be read, while most others can",
        "correct the columns that are named",
    ),
    "days-unlikely": Check(
        Severity.WARNING,
        "a tournament lasts more than a year, begins or ends more than a month from its rounds, or was more than a "
        "year before the first list of most of its players",
        "correct the year or the month (042, 052)",
    ),
    "players-differ": Check(
        Severity.WARNING,
        "the report states another number of players, rated players or teams than it has lines",
        "correct the number (062, 072, 082), or add the line that is missing",
    ),
    "place-differs": Check(
        Severity.WARNING,
        "an entrant's place contradicts the points, while nearly all others follow them",
        "correct the place or the points",
    ),
    "round-missing": Check(
        Severity.WARNING,
        "a round before the last one has no pairing",
        "add its results, unless it was cancelled",
    ),
    "fewer-rounds": Check(
        Severity.WARNING,
        "the report announces more rounds than were played until its last day, or than four times its players",
        "correct the number of rounds (142, XXR), or add those that are missing",
    ),
    "order-differs": Check(
        Severity.WARNING,
        "two entrants have each other's place in a starting list that is else in the order of the ratings",
        "check whether their names are exchanged",
    ),
    "announced-otherwise": Check(
        Severity.WARNING,
        "the days of the tournament, or the number of rounds, are not those of its announcement",
        "correct them (042, 052), or announce the tournament anew",
    ),
    "recorded-already": Check(
        Severity.WARNING,
        "two thirds of the games are recorded with the same days and results as another event, or nearly all on other "
        "days of a year",
        "check whether the event has two names, or another first day (012, 042)",
    ),
    "rating-unlikely": Check(
        Severity.WARNING, "a rating is higher than that of anybody on a list of FIDE", "correct the rating"
    ),
    "pairing-twice": Check(
        Severity.WARNING,
        "two players have two games in a Swiss tournament, also of teams, or in a single all-play-all",
        "correct the opponents",
    ),
    "bye-twice": Check(
        Severity.WARNING,
        "a player of a Swiss tournament has the bye for want of an opponent (U) twice, as nearly nobody else",
        "correct one of the letters",
    ),
    "exceptional-performance": Check(
        Severity.WARNING,
        "a score that the ratings make less probable than 1 in 2,500",
        "check whether results, opponents or ratings are swapped",
    ),
    "not-on-list": Check(
        Severity.NOTE,
        "an entrant with a rating is not on the list, on which most others are",
        "check the number, unless the player is a guest",
    ),
}


@attrs.frozen(order=True)
class ReportFinding:
    """One finding in a report.

    Attributes:
        line: the line of the file.
        code: the key of ``CHECKS``.
        message: both values, in words.
    """

    line: int
    code: str
    message: str

    @property
    def severity(self) -> Severity:
        """The consequence."""
        return CHECKS[self.code].severity

    @property
    def words(self) -> str:
        """The text that is shown behind the line: the code, both values, and what to do."""
        return f"{self.code}: {self.message}; {CHECKS[self.code].advice}"


@attrs.frozen
class ReportCheck:
    """The checks of one import of a report.

    Attributes:
        find: returns the findings in the reports of a file.
        accepted: the codes of warnings that the importer accepts.
        is_trial: True if warnings do not undo the import, because it is a dry run.
    """

    find: Callable[[Sequence[SourceReport]], list[ReportFinding]]
    accepted: frozenset[str] = frozenset()
    is_trial: bool = False


def accepted_codes(codes: Collection[str]) -> frozenset[str]:
    """Return the codes of warnings that a caller accepts.

    Raises:
        MalformedError: a code is unknown, or that of an error or a note.
    """
    warnings = [code for code, check in CHECKS.items() if check.severity is Severity.WARNING]
    faults = []
    for code in sorted(set(codes)):
        if code not in CHECKS:
            faults.append(f"accept: there is no warning {code!r}: {expected_names(code, warnings)}")
        elif code not in warnings:
            faults.append(f"accept: only warnings are accepted; {code!r}: {CHECKS[code].severity.value}")
    if faults:
        raise MalformedError(faults)
    return frozenset(codes)
