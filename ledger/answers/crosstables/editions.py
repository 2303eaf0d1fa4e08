"""The choice of a tournament's edition, its announcement, and the message if there is none.

What belongs to an edition, ``book.tournament_editions`` says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ledger.answers.asking import day, of_one_moment
from ledger.answers.crosstables import event_games
from ledger.answers.crosstables.event_games import AnnouncedKind, EventGame
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


class Chosen(NamedTuple):
    """One edition among those of its name.

    Attributes:
        edition: its first and last millisecond.
        number: its place among them, from 1.
        of: how many there are.
    """

    edition: Edition
    number: int
    of: int


def announced_by_name(
    connection: sqlite3.Connection, pool: Pool, names: Iterable[str]
) -> dict[tuple[str, int], AnnouncedKind]:
    """Return, by tournament and first millisecond, the announcements of editions of the tournaments of these names."""
    announced: dict[tuple[str, int], AnnouncedKind] = {}
    for row in queries.dictionaries(connection, _OPENINGS, (pool.pool, json.dumps(sorted(names)))):
        announced[row["tournament"], row["starts_ms"]] = AnnouncedKind(row["format"], row["entrants"], row["rounds"])
    return announced


def choose(
    tournament: str, every: Sequence[Edition], word: str | None, first_day: Callable[[Edition], str] | None = None
) -> Chosen:
    """Return the edition of *every* that a year, month or day falls into; by default the last one.

    Args:
        tournament: the name.
        every: its editions, in order.
        word: the year, month or day.
        first_day: the first day of an edition in lists; of several that lie in *word* it names the one with this first
            day, such as the one whose first game is of 1994, which may be any day of that year.

    Raises:
        UnknownNameError: no edition has a game then, or several have: all are listed.
        MalformedError: that is no instant.
    """
    if word is None:
        return Chosen(every[-1], len(every), len(every))
    try:
        first, last = instant_ms(word), instant_end_ms(word)
    except ValueError as error:
        raise MalformedError([f"an edition is named by a year or a day: {error}"]) from None
    meant = [number for number, edition in enumerate(every, 1) if edition.first_ms <= last and first <= edition.last_ms]
    if len(meant) > 1 and first_day is not None:
        meant = [number for number in meant if first_day(every[number - 1]) == word] or meant
    if len(meant) != 1:
        spans = ", ".join(f"{day(edition.first_ms)} to {day(edition.last_ms)}" for edition in every)
        how_many = f"{len(meant)} editions lie in it" if meant else "none lies in it"
        raise UnknownNameError("edition", word, f"{how_many}; there are: {spans}", where=f"of {tournament!r}")
    return Chosen(every[meant[0] - 1], meant[0], len(every))


def at_place(tournament: str, every: Sequence[Edition], number: int) -> Chosen:
    """Return the edition at a place among *every*, from 1.

    Raises:
        UnknownNameError: there are not so many.
    """
    if not 1 <= number <= len(every):
        raise UnknownNameError("edition", str(number), f"there are {len(every)}", where=f"of {tournament!r}")
    return Chosen(every[number - 1], number, len(every))


def within(games: Iterable[EventGame], edition: Edition) -> list[EventGame]:
    """Return those of the games that belong to an edition, in their order."""
    return [game for game in games if edition.first_ms <= game.ended_ms <= edition.last_ms]


def games_and_byes(
    connection: sqlite3.Connection, pool: Pool, tournament: str
) -> tuple[list[EventGame], list[StoredRound]]:
    """Return the games and the rounds without a game that carry a name.

    Raises:
        UnknownNameError: there are none.
    """
    games = event_games.games_of(connection, pool, [tournament]).get(tournament, [])
    byes = tournament_editions.rounds_of(connection, pool, [tournament]).get(tournament, [])
    if not games and not byes:
        refuse_unknown(connection, pool, tournament)
    return games, byes


@of_one_moment
def check_name(ledger: OpenLedger, tournament: str, pool: str) -> None:
    """Refuse the name of a tournament that no game of a pool carries, and no round without a game.

    Raises:
        UnknownNameError: nothing carries it, or no such pool.
    """
    games_and_byes(ledger.views.connection, ledger.pool(pool), tournament)


def refuse_unknown(connection: sqlite3.Connection, pool: Pool, tournament: str, advice: str = "") -> NoReturn:
    """Say that no game that counts carries a name: they are voided, or of another pool, or another name was meant.

    Raises:
        UnknownNameError: always.
    """
    where = f"with games in {pool.name!r}"
    carried = (pool.pool, tournament if is_storable(tournament) else None)  # None: no row's name
    voided = connection.execute(_VOIDED, carried).fetchone()
    if voided is not None:
        hint = f"they are voided by proposal {voided[0]}: 'correct DB show {voided[0]}' says why"
        raise UnknownNameError("tournament", tournament, hint, where=f"{where} that stand")
    if elsewhere := [repr(name) for (name,) in connection.execute(_ELSEWHERE, carried)]:
        hint = f"it has games in {' and '.join(elsewhere)}: ask in that pool"
        raise UnknownNameError("tournament", tournament, hint, where=where)
    others = {
        *event_games.names_in(connection, pool),
        *tournament_editions.tournaments_with_rounds(connection, pool),
    } - {tournament}
    names = sorted(others)
    inside = [name for name in names if tournament.casefold() in name.casefold()][:3]
    like = did_you_mean(tournament, names) or (f"did you mean {' or '.join(map(repr, inside))}? " if inside else "")
    raise UnknownNameError("tournament", tournament, f"{like}{advice}'tournaments' lists them", where=where)


@of_one_moment
def edition_day(ledger: OpenLedger, pool: str, tournament: str, word: str | None) -> str:
    """Return the day by which an edition is named in a fact of its own: its first one, or one that is given.

    Args:
        ledger: a ledger whose views are up to date.
        pool: name of the pool.
        tournament: the name.
        word: a year, month or day of the edition; None: the last one.

    Raises:
        UnknownNameError: there is none, or several are meant.
        MalformedError: that is no instant.
    """
    rated_by, connection = ledger.pool(pool), ledger.views.connection
    games = event_games.games_of(connection, rated_by, [tournament]).get(tournament, [])
    byes = tournament_editions.rounds_of(connection, rated_by, [tournament]).get(tournament, [])
    dated_by_games = editions_of(rated_by, tournament, event_games.ends_of(games), byes, None).every
    every = sorted({*dated_by_games, *rated_by.announcements(tournament).editions()})
    # A whole day names an edition by itself, also one that is not known yet.
    if word is not None and len(word) >= len("2025-08-27"):
        try:
            return instant_text(instant_ms(word), Precision.DAY)
        except ValueError as error:
            raise MalformedError([f"an edition is named by a year or a day: {error}"]) from None
    if not every:
        hint = "before its first game name a day of it with --edition, or 'open-tournament' it first; "
        refuse_unknown(connection, rated_by, tournament, hint)
    return day(choose(tournament, every, word).edition.first_ms)
