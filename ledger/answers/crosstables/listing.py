"""Lists of tournaments, one row for each edition: all of a pool, or one player's with the player's results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import fsum
from typing import TYPE_CHECKING

import attrs

from ledger.answers.asking import EVERY_ROW, in_one_snapshot, row_limit
from ledger.answers.crosstables import editions, event_games
from ledger.answers.crosstables.crosstable import DEFAULT_OPTIONS, EventStandings, TableOptions, build_row
from ledger.answers.crosstables.crosstable_data import FormatSource, PairingFormat
from ledger.answers.crosstables.event_games import EARLIEST_MS, LATEST_MS
from ledger.answers.crosstables.pairing_systems import OTHER
from ledger.book import tournament_editions
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import Editions, editions_of
from ledger.book.whole_tournaments import Edition
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Format
from ledger.handle import OpenLedger
from ledger.players.persons import Person

if TYPE_CHECKING:
    import sqlite3
# The latest tournaments are found by the latest games: first this number, then eight times as many, up to the largest.
FIRST_GAMES_READ, MOST_GAMES_READ = 1_000, 64_000
MOST_NAMES_READ_SINGLY = 50  # with a text in them: their games are read one by one


@attrs.frozen(kw_only=True)
class TournamentSearch:
    """The filter of a tournament search.

    Attributes:
        since: an instant; editions that were over before it are left out.
        until: an instant; editions that began after it are left out.
        text: a part of the name, regardless of case.
        quiet_days: days without a game that separate two editions; see ``editions``.
        limit: how many, the latest ones; 0 or None: all.
        offset: how many of the latest are skipped.
    """

    since: str | None = None
    until: str | None = None
    text: str | None = None
    quiet_days: float | None = None
    limit: int = attrs.field(default=EVERY_ROW, converter=row_limit)
    offset: int = 0


ALL_TOURNAMENTS = TournamentSearch()


@attrs.frozen(kw_only=True, slots=False)
class TournamentRow:
    """One edition of a tournament in a list: its days, format, players, average rating and winners."""

    tournament: str = documented("the name that its games carry")
    edition: str = documented("which of how many of that name, such as 2 of 3")
    first_day: str = documented("when its first game ended, 1994 or 2024-05-01; as announced if no round has a day")
    last_day: str = documented("the same of its last game so far")
    format: PairingFormat = documented("how it was paired")
    format_is: FormatSource = documented("announced, guessed from the games, or asked for")
    players: int = documented("how many players have a game or a bye in it", minimum=1)
    games: int = documented("how many games the ledger has of it", minimum=0)
    average_rating: float | None = documented("mean enrolment rating, points; null: nobody has one")
    winners: list[str] = documented("who is first by points, or won the last match of a knock-out; of other: nobody")
    missing: str | None = documented("what is not there; null: nothing is seen to be missing")


@attrs.frozen(kw_only=True, slots=False)
class PlayedTournamentRow:
    """One edition of a tournament with one player's place, points, ratings and performance."""

    tournament: str = documented("the name that its games carry")
    first_day: str = documented("when its first game ended, 1994 or 2024-05-01; as announced if no round has a day")
    last_day: str = documented("the same of its last game so far")
    format: PairingFormat = documented("how it was paired")
    place: str = documented("the player's place, such as 1, or 2-4 where it is shared")
    players: int = documented("how many players have a game or a bye in it", minimum=1)
    points: float = documented("game points, those of forfeits and byes among them", minimum=0)
    games: int = documented("the player's games in it", minimum=0)
    rating: float | None = documented("the player's enrolment rating, points")
    closing_rating: float | None = documented("the player's rating after the last game in it, or its period, points")
    performance: float | None = documented("performance rating of the variant, points; null: it gives none")
    variant: str = documented("which performance rating that is, such as fide_tpr")
    er_offset: float | None = documented("100 (performance / enrolment rating - 1), per cent")
    upsets: int = documented("how many upsets the player brought about", minimum=0)
    missing: str | None = documented("what of the tournament is not there; null: nothing is seen to be missing")


@in_one_snapshot
def tournaments(
    ledger: OpenLedger, pool: str | None = None, search: TournamentSearch = ALL_TOURNAMENTS
) -> list[TournamentRow]:
    """Return the tournaments of a pool, one row for each edition, the latest first.

    Raises:
        MalformedError: *search* has an instant that is none.
    """
    rated_by = ledger.pool(pool)
    connection = ledger.views.connection
    text = (search.text or "").casefold()
    of_text = None if search.text is None else event_games.tournament_names(connection, rated_by, text)
    candidates = None
    if of_text is None or len(of_text) > MOST_NAMES_READ_SINGLY:
        candidates = _latest_editions(connection, rated_by, search, text)
    if candidates is None:
        if of_text is None:
            by_name = event_games.load_game_ends(connection, rated_by)
        else:
            played = event_games.load_games(connection, rated_by, of_text)
            by_name = {name: event_games.game_ends(games) for name, games in played.items()}
        of_byes = [
            name
            for name in tournament_editions.tournaments_with_rounds(connection, rated_by)
            if text in name.casefold()
        ]
        names = dict.fromkeys((*by_name, *of_byes))
        candidates = _editions(connection, rated_by, by_name, names, search)
    latest_first = sorted(_matching(candidates, search), key=lambda row: (-row[2].first_ms, row[0]))
    page = latest_first[search.offset : search.limit]
    events = editions.load_events(connection, rated_by, {name for name, _, _ in page}, search.quiet_days)
    return [_row(EventStandings(ledger, rated_by, events[name][place], DEFAULT_OPTIONS)) for name, place, _ in page]


def _editions(
    connection: sqlite3.Connection,
    pool: Pool,
    ends: Mapping[str, dict[int, str]],
    names: Collection[str],
    search: TournamentSearch,
) -> dict[str, Editions]:
    """Return the editions of tournaments, by the ends of their games and by their rounds without a game."""
    byes = tournament_editions.rounds_of(connection, pool, names)
    return {name: editions_of(pool, name, ends.get(name, {}), byes.get(name, []), search.quiet_days) for name in names}


def _matching(candidates: Mapping[str, Editions], search: TournamentSearch) -> Iterator[tuple[str, int, Edition]]:
    """Yield the editions that lie in the requested days, each with its name and its place among those of the name."""
    first, last = _days(search)
    for name, editions_of_name in candidates.items():
        for place, edition in enumerate(editions_of_name.every):
            if edition.last_ms >= first and edition.first_ms <= last:
                yield name, place, edition


def _days(search: TournamentSearch) -> tuple[int, int]:
    """Return the first and the last millisecond of the requested days."""
    first = EARLIEST_MS if search.since is None else instant_ms(search.since)
    return first, LATEST_MS if search.until is None else instant_end_ms(search.until)


def _latest_editions(
    connection: sqlite3.Connection, pool: Pool, search: TournamentSearch, text: str
) -> dict[str, Editions] | None:
    """Return the editions in the requested days or as many of the latest as the limit; None: read all games."""
    # The latest games decide. An edition that began at some instant has games since then alone, so that none is missed;
    # one that goes on from a day need have no game before another day.
    since, until = _days(search)
    games = FIRST_GAMES_READ
    while games <= MOST_GAMES_READ:
        earliest = event_games.rated_ms_before_latest(connection, pool, games, until)
        if earliest is None or earliest < since:  # the pool has few games, or few in these days
            return _between(connection, pool, search, text, since, until)
        # Where all are asked for, no number of latest games is known to be enough.
        if search.limit < EVERY_ROW:
            candidates = _between(connection, pool, search, text, earliest, until)
            if sum(edition.first_ms >= earliest for *_, edition in _matching(candidates, search)) >= search.limit:
                return candidates
        games *= 8
    return None


def _between(
    connection: sqlite3.Connection, pool: Pool, search: TournamentSearch, text: str, ms: int, until: int
) -> dict[str, Editions]:
    """Return the editions of all tournaments that may lie between two instants, with a text in the name."""
    until = min(until - until % DAY_MS + DAY_MS - 1, LATEST_MS)  # an edition begins with the day of its first game
    reach = tournament_editions.max_distance_ms(pool, search.quiet_days)
    both = (
        *event_games.names_between(connection, pool, ms, until, reach),
        *tournament_editions.tournaments_with_rounds_since(connection, pool, ms, min(until + reach, LATEST_MS)),
    )
    names = dict.fromkeys(name for name in both if text in name.casefold())
    games = event_games.load_games(connection, pool, names)
    ends = {name: event_games.game_ends(played) for name, played in games.items()}
    return _editions(connection, pool, ends, names, search)


def _row(event: EventStandings) -> TournamentRow:
    ratings = [rating for rating in map(event.ratings.enrolment_rating, event.results) if rating is not None]
    first_day, last_day = event.facts.days
    return TournamentRow(
        tournament=event.facts.tournament,
        edition=f"{event.facts.number} of {event.facts.of}",
        first_day=first_day,
        last_day=last_day,
        format=event.kind.format,
        format_is=event.format_is,
        players=len(event.results),
        games=len(event.games),
        average_rating=fsum(ratings) / len(ratings) if ratings else None,
        winners=[event.names[player] for player in find_winners(event)],
        missing="; ".join(event.kind.missing) or None,
    )


def find_winners(event: EventStandings) -> list[int]:
    """Return the winners of a tournament: players at the first rank, or the winner of a knock-out.

    There is none if the format is not known.
    """
    if event.kind.format == OTHER:
        return []
    if event.kind.format == Format.KNOCKOUT.value:
        # A slice, for there may be no match at all.
        final = [match for match in event.matches if not match.third_place][-1:]
        return [match.winner for match in final if match.winner is not None]
    return [place.player for place in event.places if place.first == 1]


@in_one_snapshot
def player_tournaments(
    ledger: OpenLedger,
    person: Person,
    pool: str | None = None,
    search: TournamentSearch = ALL_TOURNAMENTS,
    tpr: str | None = None,
) -> list[PlayedTournamentRow]:
    """Return the tournaments of one player, the latest first, with the player's results in each.

    *tpr* names the performance rating; by default it is that of the scheme, else FIDE's.

    Raises:
        UnknownNameError: there is no performance rating of that name.
        MalformedError: *search* has an instant that is none.
    """
    choice = TableOptions(performance=tpr)
    choice.check()
    rated_by = ledger.pool(pool)
    connection = ledger.views.connection
    text = (search.text or "").casefold()
    both = (
        *event_games.names_of_player(connection, rated_by, person.player),
        *tournament_editions.tournaments_with_rounds_of(connection, rated_by, person.player),
    )
    names = [name for name in dict.fromkeys(both) if text in name.casefold()]
    first, last = _days(search)
    events = [
        event
        for of_name in editions.load_events(connection, rated_by, names, search.quiet_days).values()
        for event in of_name
        # The player has a game of that name, and need not have played in each of its editions.
        if event.edition.last_ms >= first
        and event.edition.first_ms <= last
        and (
            any(person.player in {game.white, game.black} for game in event.games)
            or any(bye.player == person.player for bye in event.byes)
        )
    ]
    events.sort(key=lambda event: (-event.edition.first_ms, event.tournament))
    standings = (EventStandings(ledger, rated_by, event, choice) for event in events[: search.limit])
    return [_player_row(event, person.player) for event in standings]


def _player_row(event: EventStandings, player: int) -> PlayedTournamentRow:
    place = next(place for place in event.places if place.player == player)
    # These rows show no tie-break, so that none is worked out.
    standing = build_row(event, place, (), ())
    first_day, last_day = event.facts.days
    return PlayedTournamentRow(
        tournament=event.facts.tournament,
        first_day=first_day,
        last_day=last_day,
        format=event.kind.format,
        place=standing.place,
        players=len(event.results),
        points=standing.points,
        games=standing.games,
        rating=standing.enrolment_rating,
        closing_rating=standing.closing_rating,
        performance=standing.performance,
        variant=event.variant,
        er_offset=standing.er_offset,
        upsets=standing.upsets,
        missing="; ".join(event.kind.missing) or None,
    )
