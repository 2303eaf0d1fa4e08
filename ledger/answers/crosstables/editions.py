"""The editions of tournaments with their games, byes and announcements, and the choice of one of them.

``book.tournament_editions`` decides which games belong to an edition.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ledger.answers.asking import day, in_one_snapshot
from ledger.answers.crosstables import event_games
from ledger.answers.crosstables.event_games import Announcement, EventGame
from ledger.book import tournament_editions
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import StoredRound, editions_of
from ledger.book.whole_tournaments import Edition
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text
from ledger.handle import OpenLedger
from ledger.ratings import queries
from ledger.runtime.nearest import did_you_mean
from ledger.runtime.visible import is_storable

if TYPE_CHECKING:
    import sqlite3

_VOIDED = (
    "SELECT voided_by FROM games WHERE pool = ? AND tournament = ? AND reason IS NOT NULL AND voided_by IS NOT NULL "
    "LIMIT 1"
)
_ELSEWHERE = (
    "SELECT name FROM pools WHERE pool != ?1 AND EXISTS("
    "SELECT 1 FROM games WHERE games.pool = pools.pool AND tournament = ?2 AND voided_by IS NULL) ORDER BY pool"
)
_OPENINGS = (
    "SELECT tournament, starts_ms, format, entrants, rounds FROM openings "
    "WHERE pool = ?1 AND tournament IN (SELECT value FROM json_each(?2))"
)


class EventFacts(NamedTuple):
    """The recorded facts about one edition of a tournament.

    Attributes:
        number: its place among the editions of the name, from 1.
        of: how many editions there are.
        games: its games in the order of the rounds.
        byes: its rounds without a game.
    """

    tournament: str
    edition: Edition
    number: int
    of: int
    games: Sequence[EventGame]
    byes: Sequence[StoredRound]
    announced: Announcement | None

    @property
    def days(self) -> tuple[str, str]:
        """The first and the last day of its games or, without a game, of its rounds without one.

        If no round has a day, all games count as ended on the last day: then the announced days are returned.
        """
        days = [game.ended_at[:10] for game in self.games] or [bye.edition[:10] for bye in self.byes]
        first, last = min(days), max(days)
        if self.announced is not None and first == last == day(self.edition.last_ms):
            first = day(self.edition.first_ms)
        return first, last


def load_events(
    connection: sqlite3.Connection, pool: Pool, names: Collection[str], quiet_days: float | None = None
) -> dict[str, list[EventFacts]]:
    """Return, by name, the facts about all editions of tournaments, the first edition first."""
    games = event_games.load_games(connection, pool, names)
    byes = tournament_editions.rounds_of(connection, pool, names)
    announcements = {
        (row["tournament"], row["starts_ms"]): Announcement(row["format"], row["entrants"], row["rounds"])
        for row in queries.fetch_dicts(connection, _OPENINGS, (pool.pool, json.dumps(sorted(names))))
    }
    events: dict[str, list[EventFacts]] = {}
    for name in names:
        played = games.get(name, [])
        editions = editions_of(pool, name, event_games.game_ends(played), byes.get(name, []), quiet_days)
        events[name] = [
            EventFacts(
                tournament=name,
                edition=edition,
                number=number,
                of=len(editions.every),
                games=[game for game in played if edition.first_ms <= game.ended_ms <= edition.last_ms],
                byes=editions.rounds.get(edition, ()),
                announced=announcements.get((name, edition.first_ms)),
            )
            for number, edition in enumerate(editions.every, 1)
        ]
    return events


def load_tournament(
    connection: sqlite3.Connection, pool: Pool, tournament: str, quiet_days: float | None = None
) -> list[EventFacts]:
    """Return the facts about the editions of one tournament, the first edition first.

    Raises:
        UnknownNameError: it has neither a game nor a round without one.
    """
    events = load_events(connection, pool, [tournament], quiet_days)[tournament]
    if not events:
        refuse_unknown_tournament(connection, pool, tournament)
    return events


def choose_edition(tournament: str, every: Sequence[Edition], word: str | None, first_days: Sequence[str] = ()) -> int:
    """Return the index of the edition that a year, month or day falls into; by default that of the last one.

    If several editions lie in it, it names the one with this first day in lists (*first_days*), such as the one whose
    first game is of 1994, which may be any day of that year.

    Raises:
        UnknownNameError: no edition has a game then, or several have: all are listed.
        MalformedError: *word* is no instant.
    """
    if word is None:
        return len(every) - 1
    try:
        first, last = instant_ms(word), instant_end_ms(word)
    except ValueError as error:
        raise MalformedError([f"an edition is named by a year or a day: {error}"]) from None
    places = [place for place, edition in enumerate(every) if edition.first_ms <= last and first <= edition.last_ms]
    if len(places) > 1 and first_days:
        places = [place for place in places if first_days[place] == word] or places
    if len(places) != 1:
        spans = ", ".join(f"{day(edition.first_ms)} to {day(edition.last_ms)}" for edition in every)
        how_many = f"{len(places)} editions lie in it" if places else "none lies in it"
        raise UnknownNameError("edition", word, f"{how_many}; there are: {spans}", where=f"of {tournament!r}")
    return places[0]


@in_one_snapshot
def check_tournament_name(ledger: OpenLedger, tournament: str, pool: str) -> None:
    """Refuse the name of a tournament if no game of a pool and no round without a game has it.

    Raises:
        UnknownNameError: nothing has it, or there is no such pool.
    """
    load_tournament(ledger.views.connection, ledger.pool(pool), tournament)


def refuse_unknown_tournament(
    connection: sqlite3.Connection, pool: Pool, tournament: str, advice: str = ""
) -> NoReturn:
    """Raise the error for a name without a game: its games are voided or of another pool, or another name is meant.

    Raises:
        UnknownNameError: always.
    """
    where = f"with games in {pool.name!r}"
    carried = (pool.pool, tournament if is_storable(tournament) else None)  # None: no row's name
    voided = connection.execute(_VOIDED, carried).fetchone()
    if voided is not None:
        hint = f"they are voided by proposal {voided[0]}: 'correct DB show {voided[0]}' says why"
        raise UnknownNameError("tournament", tournament, hint, where=f"{where} that are not voided")
    if elsewhere := [repr(name) for (name,) in connection.execute(_ELSEWHERE, carried)]:
        hint = f"it has games in {' and '.join(elsewhere)}: ask in that pool"
        raise UnknownNameError("tournament", tournament, hint, where=where)
    others = {
        *event_games.tournament_names(connection, pool),
        *tournament_editions.tournaments_with_rounds(connection, pool),
    } - {tournament}
    names = sorted(others)
    inside = [name for name in names if tournament.casefold() in name.casefold()][:3]
    like = did_you_mean(tournament, names) or (f"did you mean {' or '.join(map(repr, inside))}? " if inside else "")
    raise UnknownNameError("tournament", tournament, f"{like}{advice}'tournaments' lists them", where=where)


@in_one_snapshot
def first_day_of_edition(ledger: OpenLedger, pool: str, tournament: str, word: str | None) -> str:
    """Return the day that names an edition in a recorded fact: its first day, or a given whole day.

    The edition is named by a year, month or day; None: the last one.

    Raises:
        UnknownNameError: there is none, or several are meant.
        MalformedError: *word* is no instant.
    """
    rated_by, connection = ledger.pool(pool), ledger.views.connection
    # A whole day names an edition by itself, also one that is not known yet.
    if word is not None and len(word) >= len("2025-08-27"):
        try:
            return instant_text(instant_ms(word), Precision.DAY)
        except ValueError as error:
            raise MalformedError([f"an edition is named by a year or a day: {error}"]) from None
    recorded = [event.edition for event in load_events(connection, rated_by, [tournament])[tournament]]
    every = sorted({*recorded, *rated_by.announcements(tournament).editions()})
    if not every:
        hint = "before its first game name a day of it with --edition, or 'open-tournament' it first; "
        refuse_unknown_tournament(connection, rated_by, tournament, hint)
    return day(every[choose_edition(tournament, every, word)].first_ms)
