"""Announced days of tournaments: reasons why games are not rated together, and games that ended on other days.

The module also finds the tournaments that a file reports with days and that the ledger does not know yet.
``book.rules_by_facts`` defines the possible announcements. Everything is read from the journal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import attrs

from ledger.answers.asking import day
from ledger.book.decisions import ApprovedChange
from ledger.book.evidence import Context
from ledger.book.stored_proposals import StoredProposals, includes_entry
from ledger.book.timeline import Pool
from ledger.book.whole_tournaments import NO_ANNOUNCEMENTS, Announcements, Edition, first_closing_from
from ledger.errors import RejectedError
from ledger.facts import codec
from ledger.facts.events import TournamentClosed, TournamentOpened
from ledger.facts.instants import instant_end_ms, instant_ms, instant_ms_column
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Format
from ledger.handle import OpenLedger
from ledger.imports.reading import TOO_FAST, ReportedTournament
from ledger.journal import Journal, rules
from ledger.recording.pool_choice import CHOICES_BY_CLASS
from ledger.runtime.calls import checked
from ledger.runtime.lazy import pl
from ledger.schemes.scheme import Rhythm

if TYPE_CHECKING:
    from polars import DataFrame

SOON = 30  # days after a closing within which a game was most likely meant to be in the edition that it closed
KEPT = 10  # games whose lines are named


def announcements_by_tournament(
    journal: Journal, pool: str, spans: Iterable[ApprovedChange] = ()
) -> dict[str, Announcements]:
    """Return the announced days of the editions of each tournament of a pool, by the tournament's name.

    Announcements of entries that one of the changes *spans* annuls are left out.
    """
    gone = [span.change for span in spans]
    by_name: defaultdict[str, Announcements] = defaultdict(Announcements)
    # In the order of keys ';' follows ':', so that these two enclose every opening, or closing, of the pool.
    keys = [key for kind in ("opening", "tournament") for key in journal.keys(f"{kind}:{pool}:", f"{kind}:{pool};")]
    for entry in journal.find(keys).values():
        if any(includes_entry(change, entry.position) for change in gone):
            continue
        match codec.decode(entry.body).event:
            case TournamentOpened(tournament=name, starts_at=start, ends_at=end):
                by_name[name] = by_name[name].with_opening(instant_ms(start), instant_end_ms(end))
            case TournamentClosed(tournament=name, ended_at=end):
                by_name[name] = by_name[name].with_closing(instant_end_ms(end))
    return dict(by_name)


def reason_not_rated_together(
    pool: Pool, event: TournamentOpened | TournamentClosed, ends: Sequence[int]
) -> str | None:
    """Return the reason why the games of an announced tournament are not rated together; None if they are, or may be.

    Args:
        pool: the pool, with its announcements.
        event: the announcement or the closing.
        ends: for a closing, the ends of the tournament's games, milliseconds, ascending.
    """
    over = instant_end_ms(event.ends_at if isinstance(event, TournamentOpened) else event.ended_at)
    era = pool.eras[pool.era_at(over)]
    if era.scheme.rhythm is not Rhythm.PERIOD:
        return None
    calendar = era.scheme.calendar(era.numbers)
    if not calendar.by_event:
        return f"{era.scheme.name!r} goes by its calendar in this pool (by_event=false)"
    if isinstance(event, TournamentOpened):
        edition: Edition | None = Edition(instant_ms(event.starts_at), over)
    else:
        within = [end for end in ends if end <= over]
        by_end = pool.editions(event.tournament, ends)
        edition = by_end.get(within[-1]) if within else None
        if edition is not None and edition.last_ms < over:
            return f"no game of it ended after {day(edition.last_ms)}, when its last edition was over"
        count = sum(by_end.get(end) == edition for end in within)
        if edition is not None and count < len(within) and not edition.days > calendar.longest:
            return (
                f"the edition that it ends began on {day(edition.first_ms)} and has {count:,} of the {len(within):,} "
                f"games: others are more than {calendar.gap:g} days (event_gap) before; if they belong to it, announce "
                "its first day by 'open-tournament'"
            )
    if edition is None or edition.days <= calendar.longest:
        return None
    return f"it lasts {edition.days} days, and one of more than {calendar.longest:g} (event_days) is rated by period"


def _is_outside(end: int, announced: Announcements) -> bool:
    """Return whether a game ended outside the announced days of a tournament of which it is most likely a game."""
    opened = announced.editions()
    if any(edition.first_ms <= end <= edition.last_ms for edition in opened):
        return False
    closing = first_closing_from(end, announced.closed)
    if closing is not None and not any(end < edition.first_ms <= closing for edition in opened):
        # an edition that was announced by its closing alone
        return False
    return bool(opened) or any(over < end <= over + SOON * DAY_MS for over in announced.closed)


@attrs.define
class OutsideGames:
    """A collector of the games of an import that ended outside the announced days of their tournament.

    Attributes:
        announced: the announcements by tournament.
        games: line and description of the first ``KEPT`` games.
        count: the number of all of them.
    """

    announced: Mapping[str, Announcements]
    games: list[tuple[int, str]] = attrs.Factory(list)
    count: int = 0

    def checked_frames(self, frames: Iterable[DataFrame]) -> Iterator[DataFrame]:
        """Yield the frames of games unchanged, and collect the games that ended outside the announced days."""
        for frame in frames:
            if self.announced:
                of_these = frame.select("line", "tournament", "ended_at").filter(
                    pl.col("tournament").is_in(list(self.announced))
                )
                ends = instant_ms_column(of_these["ended_at"]).to_list()
                rows = of_these.iter_rows()
                for (line, name, ended_at), end in zip(rows, ends, strict=True):
                    if end is not None and _is_outside(end, self.announced[name]):
                        self.count += 1
                        if len(self.games) < KEPT:
                            self.games.append(
                                (line, f"ended on {ended_at[:10]}, outside the announced days of {name!r}")
                            )
            yield frame


@checked
def outside_games(ledger: OpenLedger, pool: str) -> OutsideGames:
    """Return a collector of games of an import that ended outside the announced days of a pool's tournaments."""
    return OutsideGames(announcements_by_tournament(ledger.journal, pool, _annulling(ledger)))


def _annulling(ledger: OpenLedger) -> list[ApprovedChange]:
    """Return the changes in force of several entries, by which announcements were taken back."""
    if not ledger.current_facts.has_proposals():
        return []
    return StoredProposals(ledger.current_facts.connection).spans_of_entries


class MissingAnnouncement(NamedTuple):
    """A tournament of a file that is not announced yet: its line, the event to record, and its refusal, if any."""

    line: int
    event: TournamentOpened
    problem: str | None


def missing_announcements(
    ledger: OpenLedger, reported: Iterable[ReportedTournament], pool: str
) -> Iterator[MissingAnnouncement]:
    """Yield the tournaments of a file that are not yet announced with the days that the file has.

    Args:
        ledger: where they would be announced.
        reported: the tournaments of the file.
        pool: the pool of its games, or one of ``CHOICES_BY_CLASS``: then a tournament of unknown speed is left out.
    """
    by_pool: dict[str, dict[str, Announcements]] = {}
    for tournament in reported:
        name = tournament.speed if pool in CHOICES_BY_CLASS else pool
        if name is None or name == TOO_FAST:
            continue
        event = TournamentOpened(
            pool=name,
            tournament=tournament.name,
            starts_at=tournament.starts_at,
            ends_at=tournament.ends_at,
            format=None if tournament.format is None else Format(tournament.format),
            entrants=tournament.entrants,
            rounds=tournament.rounds,
        )
        if name not in by_pool:  # once: a file may report many
            by_pool[name] = announcements_by_tournament(ledger.journal, name, _annulling(ledger))
        announced = by_pool[name].get(event.tournament, NO_ANNOUNCEMENTS)
        if (instant_ms(event.starts_at), instant_end_ms(event.ends_at)) not in announced.opened:
            yield MissingAnnouncement(tournament.line, event, _refusal(ledger, event))


def _refusal(ledger: OpenLedger, event: TournamentOpened) -> str | None:
    """Return the refusal of an announcement; None if it would be recorded, or if its pool does not exist yet."""
    key = ledger.current_facts.with_free_key(event, ledger.journal.find, catch_up=True).key
    stored = ledger.journal.find([key]).get(key)
    try:
        # The judge is asked about new facts alone: what has a known key repeats that fact, or contradicts it.
        if stored is None:
            ledger.check_early(event, Context.IMPORT)
        else:
            rules.check_repeat(TournamentOpened, key, rules.facts_of(stored), codec.facts_mapping(event))
    except RejectedError as error:
        return str(error).removeprefix(f"{error.rule}: ")
    return None
