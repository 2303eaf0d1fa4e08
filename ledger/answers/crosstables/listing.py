"""The list of tournaments, an edition a row; and the list of one player's, with the player's results in each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, cast

import attrs

from ledger.answers.asking import EVERY_ROW, of_one_moment, rows_up_to
from ledger.answers.crosstables import editions, event_games
from ledger.answers.crosstables.crosstable import NOTHING_SPECIAL, EventFacts, EventTable, TableChoice, standing_of
from ledger.answers.crosstables.editions import Chosen
from ledger.answers.crosstables.event_games import BEGINNING, EVER, AnnouncedKind, EventGame
from ledger.answers.crosstables.kinds import OTHER
from ledger.answers.crosstables.page import FormatIs, Kinds
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
# Tournaments of late are found by so many latest games, or eight times as many; of more all games are looked through.
LATE, LATE_AT_MOST = 1_000, 64_000
FEW_NAMES = 50  # with a text in them: their games are read one by one


@attrs.frozen(kw_only=True)
class TournamentSearch:
    """The filter of a tournament search.

    Attributes:
        since: an instant; none that was over before it.
        until: an instant; none that began after it.
        text: a part of the name, regardless of case.
        quiet_days: days without a game that part two editions; see ``editions``.
        limit: how many, the latest ones; 0 or None: all.
        offset: how many of these are left out, for which nothing is calculated.
    """

    since: str | None = None
    until: str | None = None
    text: str | None = None
    quiet_days: float | None = None
    limit: int = attrs.field(default=EVERY_ROW, converter=rows_up_to)
    offset: int = 0


EVERYTHING = TournamentSearch()


@attrs.frozen(kw_only=True, slots=False)
class TournamentRow:
    """An edition of a tournament."""

    tournament: str = documented("the name that its games carry")
    edition: str = documented("which of how many of that name, such as 2 of 3")
    first_day: str = documented("when its first game ended, as precisely as it is known")
    last_day: str = documented("the same of its last game so far")
    format: Kinds = documented("how it was paired")
    format_is: FormatIs = documented("announced, guessed from the games, or asked for")
    players: int = documented("how many players have a game or a bye in it", minimum=1)
    games: int = documented("how many games the ledger has of it", minimum=0)
    average_rating: float | None = documented("mean enrolment rating, points; null: nobody has one")
    winners: list[str] = documented("who is first by points, or won the last match of a knock-out; of other: nobody")
    missing: str | None = documented("what is not there; null: nothing is seen to be missing")


@attrs.frozen(kw_only=True, slots=False)
class PlayedTournamentRow:
    """An edition of a tournament, with what one player made of it."""

    tournament: str = documented("the name that its games carry")
    first_day: str = documented("when its first game ended, as precisely as it is known")
    last_day: str = documented("the same of its last game so far")
    format: Kinds = documented("how it was paired")
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


@of_one_moment
def tournaments(
    ledger: OpenLedger, pool: str | None = None, search: TournamentSearch = EVERYTHING
) -> list[TournamentRow]:
    """Return the tournaments of a pool, a row an edition, the latest first.

    Args:
        ledger: a ledger whose views are up to date.
        pool: its name; the first pool by default.
        search: which.

    Raises:
        MalformedError: an instant that is none.
    """
    rated_by = ledger.pool(pool)
    connection = ledger.views.connection
    text = (search.text or "").casefold()
    of_text = None if search.text is None else event_games.names_in(connection, rated_by, text)
    candidates = (
        None if of_text is not None and len(of_text) <= FEW_NAMES else _late(connection, rated_by, search, text)
    )
    if candidates is None:
        if of_text is None:
            by_name = event_games.ends_by_name(connection, rated_by)
        else:
            played = event_games.games_of(connection, rated_by, of_text)
            by_name = {name: event_games.ends_of(games) for name, games in played.items()}
        of_byes = [
            name
            for name in tournament_editions.tournaments_with_rounds(connection, rated_by)
            if text in name.casefold()
        ]
        names = dict.fromkeys((*by_name, *of_byes))
        candidates = _editions(connection, rated_by, by_name, names, search)
    pairs = _pairs(candidates, search)
    pairs.sort(key=lambda edition: (-edition[1].edition.first_ms, edition[0]))
    page = pairs[search.offset : search.limit]
    page_names = {name for name, _ in page}
    games = event_games.games_of(connection, rated_by, page_names)
    announcements = editions.announced_by_name(connection, rated_by, page_names)
    rows = []
    for name, chosen in page:
        inside = _facts_of(chosen.edition, games.get(name, ()), candidates[name])
        announced = announcements.get((name, chosen.edition.first_ms), AnnouncedKind())
        rows.append(_row(EventTable(ledger, rated_by, inside, announced, NOTHING_SPECIAL), name, chosen))
    return rows


def _facts_of(edition: Edition, games: Iterable[EventGame], every: Editions) -> EventFacts:
    return EventFacts(edition, editions.within(games, edition), every.rounds.get(edition, ()))


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


def _pairs(candidates: Mapping[str, Editions], search: TournamentSearch) -> list[tuple[str, Chosen]]:
    """Return the editions of the search, each with its name."""
    return [(name, chosen) for name, every in candidates.items() for chosen in _chosen(every.every, search)]


def _late(
    connection: sqlite3.Connection, pool: Pool, search: TournamentSearch, text: str
) -> dict[str, Editions] | None:
    """Return the editions between two days, or at least so many of the latest; None: all games must be read."""
    # The latest games decide. An edition that began at some instant has games since then alone, so that none is missed;
    # one that goes on from a day need have no game before another day.
    since = None if search.since is None else instant_ms(search.since)
    until = EVER if search.until is None else instant_end_ms(search.until)
    games = LATE
    while games <= LATE_AT_MOST:
        earliest = event_games.end_before(connection, pool, games, until)
        if earliest is None:
            # all of them are few
            return _between(connection, pool, search, text, BEGINNING if since is None else since, until)
        if since is not None and earliest < since:
            return _between(connection, pool, search, text, since, until)
        # Where all are asked for, no number of latest games is known to be enough.
        if search.limit < EVERY_ROW:
            candidates = _between(connection, pool, search, text, earliest, until)
            later = [pair for pair in _pairs(candidates, search) if pair[1].edition.first_ms >= earliest]
            if len(later) >= search.limit:
                return candidates
        games *= 8
    return None


def _between(
    connection: sqlite3.Connection, pool: Pool, search: TournamentSearch, text: str, ms: int, until: int
) -> dict[str, Editions]:
    """Return the editions of all tournaments that may lie between two instants, with a text in the name."""
    until = min(until - until % DAY_MS + DAY_MS - 1, EVER)  # an edition begins with the day of its first game
    reach = tournament_editions.max_distance_ms(pool, search.quiet_days)
    both = (
        *event_games.names_since(connection, pool, ms, until, reach),
        *tournament_editions.tournaments_with_rounds_since(connection, pool, ms, min(until + reach, EVER)),
    )
    names = dict.fromkeys(name for name in both if text in name.casefold())
    games = event_games.games_of(connection, pool, names)
    ends = {name: event_games.ends_of(played) for name, played in games.items()}
    return _editions(connection, pool, ends, names, search)


def _chosen(every: Sequence[Edition], search: TournamentSearch) -> Iterator[Chosen]:
    """Return the editions of a name that lie in the requested days."""
    first = None if search.since is None else instant_ms(search.since)
    last = None if search.until is None else instant_end_ms(search.until)
    for number, edition in enumerate(every, 1):
        if (first is None or edition.last_ms >= first) and (last is None or edition.first_ms <= last):
            yield Chosen(edition, number, len(every))


def _row(event: EventTable, name: str, chosen: Chosen) -> TournamentRow:
    ratings = [rating for rating in map(event.ratings.enrolment, event.results) if rating is not None]
    first_day, last_day = event.facts.days
    return TournamentRow(
        tournament=name,
        edition=f"{chosen.number} of {chosen.of}",
        first_day=first_day,
        last_day=last_day,
        format=cast("Kinds", event.kind.format),
        format_is=event.format_is,
        players=len(event.results),
        games=len(event.games),
        average_rating=fsum(ratings) / len(ratings) if ratings else None,
        winners=[event.names[player] for player in winners(event)],
        missing="; ".join(event.kind.missing) or None,
    )


def winners(event: EventTable) -> list[int]:
    """Return the winners: all at the first place; of a knock-out, of its last match; none if no shape is recognised."""
    if event.kind.format == OTHER:
        return []
    if event.kind.format == Format.KNOCKOUT:
        # A slice, for there may be no match at all.
        final = [match for match in event.matches if not match.third_place][-1:]
        return [match.winner for match in final if match.winner is not None]
    return [place.player for place in event.places if place.first == 1]


@of_one_moment
def tournaments_of(
    ledger: OpenLedger,
    person: Person,
    pool: str | None = None,
    search: TournamentSearch = EVERYTHING,
    tpr: str | None = None,
) -> list[PlayedTournamentRow]:
    """Return the tournaments of one player, the latest first, with the player's results in each.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player.
        pool: name of the pool; the first one by default.
        search: which.
        tpr: name of the performance rating; by default that of the scheme, else FIDE's.

    Raises:
        UnknownNameError: no such performance rating.
        MalformedError: an instant that is none.
    """
    choice = TableChoice(performance=tpr)
    choice.check()
    rated_by = ledger.pool(pool)
    connection = ledger.views.connection
    text = (search.text or "").casefold()
    both = (
        *event_games.names_of(connection, rated_by, person.player),
        *tournament_editions.tournaments_with_rounds_of(connection, rated_by, person.player),
    )
    names = [name for name in dict.fromkeys(both) if text in name.casefold()]
    games = event_games.games_of(connection, rated_by, names)
    byes = tournament_editions.rounds_of(connection, rated_by, names)
    announcements = editions.announced_by_name(connection, rated_by, names)
    played: list[EventFacts] = []
    for name in names:
        ends = event_games.ends_of(games.get(name, ()))
        every = editions_of(rated_by, name, ends, byes.get(name, []), search.quiet_days)
        for chosen in _chosen(every.every, search):
            inside = _facts_of(chosen.edition, games.get(name, ()), every)
            players = {player for game in inside.games for player in (game.white, game.black)}
            # The player has a game of that name, and need not have played in each of its editions.
            if person.player in players | {bye.player for bye in inside.byes}:
                played.append(inside)
    played.sort(key=lambda event: (-event.edition.first_ms, event.tournament))
    rows = []
    for inside in played[: search.limit]:
        announced = announcements.get((inside.tournament, inside.edition.first_ms), AnnouncedKind())
        event = EventTable(ledger, rated_by, inside, announced, choice)
        rows.append(_row_of(event, person.player))
    return rows


def _row_of(event: EventTable, player: int) -> PlayedTournamentRow:
    place = next(place for place in event.places if place.player == player)
    # These rows show no tie-break, so that none is worked out.
    standing = standing_of(event, place, (), ())
    first_day, last_day = event.facts.days
    return PlayedTournamentRow(
        tournament=event.facts.tournament,
        first_day=first_day,
        last_day=last_day,
        format=cast("Kinds", event.kind.format),
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
