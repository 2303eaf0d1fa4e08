"""The page of one tournament: its standings, every result, ratings, performances and upsets, as plain data.

Every format is made from this page, which is also what JSON shows. Numbers come from the views; nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import Literal, NamedTuple, cast

import attrs

from ledger.answers.asking import distinct_names, names, of_one_moment
from ledger.answers.crosstables import editions, event_games, kinds, performances, tie_breaks
from ledger.answers.crosstables.event_games import (
    LEDGER,
    SHOWN,
    WHOSE,
    AnnouncedKind,
    EventGame,
    EventRatings,
    LedgerRatings,
    ShownRatings,
)
from ledger.answers.crosstables.kinds import matches
from ledger.answers.crosstables.kinds import places as knockout_places
from ledger.answers.crosstables.page import (
    Crosstable,
    CrossTableRow,
    EditionSpan,
    EventBye,
    EventResult,
    FormatIs,
    Kinds,
    Match,
    Meeting,
    PerformanceColumn,
    TieBreakColumn,
    UnevenPair,
)
from ledger.answers.crosstables.performances import Performed
from ledger.answers.crosstables.tie_breaks import NOBODY, RoundResult, RoundResults, SharedPlace, Unplayed
from ledger.answers.policies import upset_margins
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import StoredRound, editions_of
from ledger.book.whole_tournaments import Edition
from ledger.facts.instants import Precision, instant_text
from ledger.facts.words import Brings, Format
from ledger.handle import OpenLedger
from ledger.journal.scratch import ScratchJournal
from ledger.runtime.nearest import find_by_name

# Shown, and used to order the rows of players who share a place, if no choice says which decide.
USUAL_TIE_BREAKS: Mapping[str, tuple[str, ...]] = {
    Format.ALL_PLAY_ALL: ("direct-encounter", "wins", "sonneborn-berger", "koya"),
    Format.MATCH: ("wins",),
    Format.KNOCKOUT: (),
}
# From which day on rounds that were not played count how, the latest first.
PRE_DETERMINED_RULES = (("2023-01-01", Unplayed.AS_GAMES), ("", Unplayed.OWN_POINTS))
SWISS_RULES = (("2026-03-01", Unplayed.C07_2026), ("2023-01-01", Unplayed.C07_2023), ("", Unplayed.VIRTUAL))
OF_SWISS = ("buchholz-cut-1", "buchholz", "sonneborn-berger", "wins")


@attrs.frozen(kw_only=True)
class TableChoice:
    """The options of a table.

    Attributes:
        edition: a year, month or day of it; the last edition by default.
        number: its place among the editions of the name instead, from 1, as in a row of ``tournaments``.
        performance: name of the performance rating; that of the scheme by default, else FIDE's.
        ratings: ``ledger`` or ``shown``, whose ratings count.
        tie_breaks: names of those that decide places, in their order; by default points alone do.
        kind: how it was paired, if the caller knows better than the announcement and the games.
        quiet_days: days without a game that part two editions; see ``editions``.
    """

    edition: str | None = None
    number: int | None = None
    performance: str | None = None
    ratings: str = LEDGER
    tie_breaks: tuple[str, ...] = ()
    kind: str | None = None
    quiet_days: float | None = None

    def check(self) -> None:
        """Refuse names of nothing.

        Raises:
            UnknownNameError: a performance rating, a tie-break, a kind, or ratings of no such name.
        """
        if self.performance is not None:
            performances.variant_named(self.performance)
        for name in self.tie_breaks:
            tie_breaks.named(name)
        for word, choice, there in (("ratings", self.ratings, WHOSE), ("format", self.kind, kinds.KINDS)):
            if choice is not None:
                find_by_name(word, choice, dict.fromkeys(there))


NOTHING_SPECIAL = TableChoice()


@of_one_moment
def crosstable(
    ledger: OpenLedger, tournament: str, pool: str | None = None, choice: TableChoice = NOTHING_SPECIAL
) -> Crosstable:
    """Return the page of a tournament; as JSON its form is ``schemas/exports/crosstable-1.json``.

    Args:
        ledger: a ledger whose views are up to date.
        tournament: the name that its games carry.
        pool: name of the pool; the first one by default.
        choice: which edition, and what to show.

    Raises:
        UnknownNameError: no game carries the name, or something *choice* is not there.
        MalformedError: the edition is no instant.
    """
    choice.check()
    rated_by = ledger.pool(pool)
    connection = ledger.views.connection
    games, byes = editions.games_and_byes(connection, rated_by, tournament)
    all_editions = editions_of(rated_by, tournament, event_games.ends_of(games), byes, choice.quiet_days)

    def facts_of(edition: Edition) -> EventFacts:
        return EventFacts(edition, editions.within(games, edition), all_editions.rounds.get(edition, ()))

    if choice.number is None:
        chosen = editions.choose(
            tournament, all_editions.every, choice.edition, lambda edition: facts_of(edition).days[0]
        )
    else:
        chosen = editions.at_place(tournament, all_editions.every, choice.number)
    announcements = editions.announced_by_name(connection, rated_by, [tournament])
    announced = announcements.get((tournament, chosen.edition.first_ms), AnnouncedKind())
    event = EventTable(ledger, rated_by, facts_of(chosen.edition), announced, choice)
    position = ledger.views.position()
    if isinstance(ledger.journal, ScratchJournal):  # a proposed fact is no entry yet
        position = min(position, ledger.journal.recorded)
    return _page(event, chosen, position)


class EventFacts(NamedTuple):
    """The facts about one edition: its days, its games in the order of the rounds, its rounds without a game."""

    edition: Edition
    games: Sequence[EventGame]
    byes: Sequence[StoredRound] = ()

    @property
    def tournament(self) -> str:
        """The name that they carry."""
        return self.games[0].tournament if self.games else self.byes[0].tournament

    @property
    def days(self) -> tuple[str, str]:
        """The first and the last day of its games; where there is none, of its rounds without one."""
        days = [game.ended_at[:10] for game in self.games] or [bye.edition[:10] for bye in self.byes]
        return min(days), max(days)


class EventTable:
    """The source of a page's rows: the facts about one edition, and the results."""

    def __init__(
        self,
        ledger: OpenLedger,
        pool: Pool,
        facts: EventFacts,
        announced: AnnouncedKind,
        choice: TableChoice,
    ) -> None:
        games = facts.games
        self.pool, self.facts, self.games, self.choice = pool, facts, games, choice
        self.byes = counted_byes(games, facts.byes)
        self.kind = kinds.kind_of(
            games,
            announced._replace(format=choice.kind or announced.format),
            [(bye.player, bye.round or 0) for bye in self.byes],
            {bye.player for bye in self.byes}
            - {bye.player for bye in self.byes if bye.brings != Brings.ABSENT}
            - {player for game in games for player in (game.white, game.black)},
        )
        self.format_is: FormatIs = "chosen" if choice.kind else "told" if announced.format else "seen"
        # An edition may lie over a change of the scheme: the last game says which one it went out with.
        self.scheme = pool.eras[pool.era_at(games[-1].ended_ms if games else facts.edition.last_ms)].scheme.name
        usual = performances.usual(self.scheme) if choice.ratings == LEDGER else performances.USUAL
        self.variant = choice.performance or usual
        first_day = instant_text(facts.edition.first_ms, Precision.DAY)
        unplayed = unplayed_rules(self.kind.format, first_day)
        self.results = results_of(games, self.byes, unplayed, self.kind)
        connection, began_ms = ledger.views.connection, facts.edition.first_ms
        self.ratings: EventRatings = ShownRatings(games)
        if choice.ratings != SHOWN:
            self.ratings = LedgerRatings(connection, pool, ledger.states(pool), games, began_ms)
        self.ordering = USUAL_TIE_BREAKS.get(self.kind.format, OF_SWISS)
        self.places = tie_breaks.places(self.results, choice.tie_breaks, self.ordering)
        self._ledger = ledger
        # Whoever chose tie-breaks asked for places by points, in a knock-out, too.
        if self.kind.format == Format.KNOCKOUT and not choice.tie_breaks:
            self.places = knockout_places(self.matches, self.places)
        self.numbers = {place.player: number for number, place in enumerate(self.places, 1)}
        self.byes_of: dict[int, list[StoredRound]] = {}
        for bye in self.byes:
            self.byes_of.setdefault(bye.player, []).append(bye)
        self.games_of: dict[int, list[EventGame]] = {player: [] for player in self.results}
        for game in games:
            self.games_of[game.white].append(game)
            self.games_of[game.black].append(game)

    @cached_property
    def names(self) -> dict[int, str]:
        """The names of the players, with the number of each who shares the name with another one."""
        return distinct_names(names(self._ledger, set(self.results)))

    @cached_property
    def margin_at(self) -> Callable[[int], int]:
        """The margin of an upset by instant, points."""
        return upset_margins(self._ledger)

    @property
    def matches(self) -> list[Match]:
        """The matches of a knock-out, or the one that it is; else none."""
        return matches(self.games, self.names) if self.kind.format in {Format.KNOCKOUT, Format.MATCH} else []

    def uneven(self, pairs: Mapping[kinds.Pair, int]) -> list[UnevenPair]:
        """Return pairs with fewer or more games than the others."""
        return [
            UnevenPair(players=list(pair), names=[self.names[player] for player in pair], games=number)
            for pair, number in pairs.items()
        ]


def unplayed_rules(kind: str, first_day: str) -> Unplayed:
    """Return how rounds that were not played count: by the regulations in force when the tournament began."""
    # A tournament of no kind that can be seen shows the tie-breaks of a Swiss one, and so counts by its rules.
    is_swiss = kind in {Format.SWISS, kinds.OTHER}
    return next(rules for since, rules in (SWISS_RULES if is_swiss else PRE_DETERMINED_RULES) if since <= first_day)


def counted_byes(games: Sequence[EventGame], byes: Sequence[StoredRound]) -> list[StoredRound]:
    """Return the rounds without a game that count, each player's once: if a game of that round is known, it counts."""
    played = {(player, game.round_number) for game in games for player in (game.white, game.black)}
    first_byes: dict[tuple[int, object], StoredRound] = {}
    for bye in byes:
        if bye.round is None or (bye.player, bye.round) not in played:
            # Byes without a round can only be distinguished by their editions.
            first_byes.setdefault((bye.player, bye.edition if bye.round is None else bye.round), bye)
    return sorted(first_byes.values(), key=lambda bye: (bye.round or 0, bye.edition_ms, bye.player))


def results_of(
    games: Sequence[EventGame],
    byes: Sequence[StoredRound] = (),
    unplayed: Unplayed = Unplayed.AS_GAMES,
    kind: kinds.PairingKind | None = None,
) -> RoundResults:
    """Return, by player, the results of all rounds; players with unfinished games alone are included."""
    forfeited = {} if kind is None else forfeited_by_both(kind.missing_pairs, byes)
    by_player: dict[int, list[RoundResult]] = {}
    for game in games:
        for player in (game.white, game.black):
            results = by_player.setdefault(player, [])
            half_points = game.half_points_of(player)
            if half_points is not None:
                opponent = game.opponent_of(player)
                is_black = player == game.black
                results.append(RoundResult(opponent, half_points, is_black, game.is_played, game.round_number))
    for bye in byes:
        opponent, number = forfeited.get((bye.player, bye.round), NOBODY), bye.round or 0
        result = RoundResult(opponent, bye.half_points, is_played=False, round=number, bye=bye.brings)
        by_player.setdefault(bye.player, []).append(result)
    # Games come in the order of the rounds already: only players with a bye have something out of order.
    for player in {bye.player for bye in byes}:
        by_player[player].sort(key=lambda result: result.round)
    return RoundResults(by_player, unplayed, 0 if kind is None else kind.rounds)


def forfeited_by_both(
    missing: Mapping[kinds.Pair, int], byes: Sequence[StoredRound]
) -> dict[tuple[int, int | None], int]:
    """Return the opponent of each player of an all-play-all in each round in which both were absent.

    Reports show such a round as one without a game. It was to be a game of two who were absent in it and lack just
    so many games against each other; if that holds of more than two, the pair is unknown.

    Args:
        missing: how many games which pairs of an all-play-all lack.
        byes: rounds without a game.
    """
    absent: dict[int, set[int]] = {}
    for bye in byes:
        if bye.round is not None and bye.brings == Brings.ABSENT:
            absent.setdefault(bye.player, set()).add(bye.round)
    met: dict[tuple[int, int | None], list[int]] = {}
    for pair, games in missing.items():
        rounds = set.intersection(*(absent.get(player, set()) for player in pair))
        if len(rounds) == games:
            for number in rounds:
                for player, opponent in (pair, pair[::-1]):
                    met.setdefault((player, number), []).append(opponent)
    return {
        side: opponents[0] for side, opponents in met.items() if len(opponents) == len(met[opponents[0], side[1]]) == 1
    }


def _page(event: EventTable, chosen: editions.Chosen, position: int) -> Crosstable:
    enrolments = [rating for rating in map(event.ratings.enrolment, event.results) if rating is not None]
    variant, kind, choice = performances.variant_named(event.variant), event.kind, event.choice
    columns = [
        TieBreakColumn(
            name=name,
            short=(tie_break := tie_breaks.named(name)).short,
            title=tie_break.title,
            source=f"FIDE C.07 {tie_break.section}",
            decides=name in choice.tie_breaks,
        )
        # A tie-break that decides may be a usual one, too: it has one column, among those that decide.
        for name in dict.fromkeys((*choice.tie_breaks, *event.ordering))
    ]
    # Tie-breaks are shown among players level on points, whichever criterion decides between them.
    level = {player: group for group in tie_breaks.parted(event.results) for player in group}
    return Crosstable(
        tournament=event.facts.tournament,
        pool=event.pool.name,
        position=position,
        scheme=event.scheme,
        edition=EditionSpan(
            first_day=event.facts.days[0],
            last_day=event.facts.days[1],
            number=chosen.number,
            of=chosen.of,
        ),
        format=cast("Kinds", kind.format),
        format_is=event.format_is,
        meetings=kind.meetings or None,
        rounds=kind.rounds or None,
        players=len(event.results),
        games=len(event.games),
        average_rating=fsum(enrolments) / len(enrolments) if enrolments else None,
        complete=not kind.missing,
        missing=list(kind.missing),
        missing_games=event.uneven(kind.missing_pairs),
        extra_games=event.uneven(kind.extra_pairs),
        ratings=cast("Literal['ledger', 'shown']", choice.ratings),
        performance=PerformanceColumn(
            variant=event.variant, title=variant.title, source=variant.source, offset=performances.OFFSET_TITLE
        ),
        tie_breaks=columns,
        standings=[standing_of(event, place, columns, level[place.player]) for place in event.places],
        matches=event.matches,
    )


def standing_of(
    event: EventTable, place: SharedPlace, columns: Sequence[TieBreakColumn], level: Sequence[int]
) -> CrossTableRow:
    """Return the row of the player at a place, with these tie-breaks among players level with that one."""
    player, games = place.player, event.games_of[place.player]
    results = event.results[player]
    rows = [_result(event, player, game) for game in games]
    enrolment = event.ratings.enrolment(player)
    worth = performances.performance(event.variant, performed(event.ratings, player, games))
    closings = [row.closing_rating for row in rows if row.closing_rating is not None]
    return CrossTableRow(
        number=event.numbers[player],
        place=place.shown,
        first_place=place.first,
        last_place=place.last,
        player=player,
        name=event.names[player],
        enrolment_rating=enrolment,
        closing_rating=closings[-1] if closings else None,
        games=len(games),
        points=event.results.points[player],
        # A bye may bring as many points as a win or a draw, and is no game.
        wins=sum(result.half_points == 2 for result in results if result.bye is None),
        draws=sum(result.half_points == 1 for result in results if result.bye is None),
        losses=sum(result.half_points == 0 for result in results if result.bye is None),
        tie_breaks={
            column.name: tie_breaks.named(column.name).value(event.results, player, level) for column in columns
        },
        opponents_mean=worth.opponents_mean,
        performance=worth.rating,
        performance_games=worth.games,
        performance_missing=worth.why_not,
        er_offset=performances.offset_percent(worth.rating, enrolment),
        upsets=sum(row.upset for row in rows),
        results=rows,
        byes=[
            EventBye(round=bye.round, brings=cast("Literal['half']", bye.brings), points=bye.half_points / 2)
            for bye in event.byes_of.get(player, ())
        ],
        meetings=_meetings(event, player),
    )


def performed(ratings: EventRatings, player: int, games: Sequence[EventGame]) -> list[Performed]:
    """Return the input of a performance rating from a player's games."""
    results = []
    for game in games:
        half_points = game.half_points_of(player)
        if half_points is not None and game.is_played and ratings.counts(game):
            opponent = ratings.enrolment(game.opponent_of(player))
            results.append(Performed(half_points, opponent, ratings.after(player, game)))
    return results


def mark(half_points: int | None, *, is_played: bool) -> Literal["1", "½", "0", "+", "=", "-", "*"]:
    """Return a result as cross-tables print it: ``1 ½ 0``, by forfeit ``+ -``, without a result ``*``."""
    if half_points is None:
        return "*"
    played: tuple[Literal["0", "½", "1"], ...] = ("0", "½", "1")
    forfeited: tuple[Literal["-", "=", "+"], ...] = ("-", "=", "+")
    return played[half_points] if is_played else forfeited[half_points]


def _result(event: EventTable, player: int, game: EventGame) -> EventResult:
    """Return one game from the view of a player."""
    opponent, half_points, ratings = game.opponent_of(player), game.half_points_of(player), event.ratings
    surplus = ratings.surplus(player, game)
    counts = game.is_played and ratings.counts(game)
    margin = event.margin_at(game.ended_ms)
    return EventResult(
        game=game.key,
        round=game.round,
        ended_at=game.ended_at,
        colour="white" if player == game.white else "black",
        opponent=event.names[opponent],
        opponent_player=opponent,
        opponent_number=event.numbers[opponent],
        mark=mark(half_points, is_played=game.is_played),
        points=None if half_points is None else half_points / 2,
        counts=counts,
        reason=game.reason,
        rating_before=ratings.before(player, game),
        closing_rating=ratings.after(player, game),
        opponent_rating_before=ratings.before(opponent, game),
        opponent_closing_rating=ratings.after(opponent, game),
        surplus=surplus,
        margin=margin,
        # With a margin of 0 an upset still needs an opponent who is rated higher.
        upset=half_points == 2 and surplus is not None and surplus > 0 and surplus >= margin,
    )


def _meetings(event: EventTable, player: int) -> list[Meeting]:
    """Return, by opponent, the worth of the player's games against them, from the player's view."""
    by_opponent: dict[int, list[EventGame]] = {}
    for game in event.games_of[player]:
        by_opponent.setdefault(game.opponent_of(player), []).append(game)
    meetings = []
    for opponent in sorted(by_opponent, key=event.numbers.__getitem__):
        met = by_opponent[opponent]
        worth = performances.performance(event.variant, performed(event.ratings, player, met))
        meetings.append(
            Meeting(
                opponent=event.names[opponent],
                opponent_player=opponent,
                opponent_number=event.numbers[opponent],
                marks="".join(mark(game.half_points_of(player), is_played=game.is_played) for game in met),
                points=sum(game.half_points_of(player) or 0 for game in met) / 2,
                opponent_enrolment_rating=event.ratings.enrolment(opponent),
                opponent_closing_rating=event.ratings.after(opponent, met[-1]),
                closing_rating=event.ratings.after(player, met[-1]),
                performance=worth.rating,
                er_offset=_offset_against(event, player, met, worth.rating),
            )
        )
    return meetings


def _offset_against(event: EventTable, player: int, met: Sequence[EventGame], rating: float | None) -> float | None:
    """Return the ER offset of games against one opponent; ChessWorld's compares the ratings after and before them.

    A mean of closing ratings would hold against the player what games against others brought.
    """
    if event.variant != performances.CHESSWORLD:
        return performances.offset_percent(rating, event.ratings.enrolment(player))
    counted = [game for game in met if game.is_played and event.ratings.counts(game)]
    gain = event.ratings.gain(player, counted)
    return None if gain is None else performances.offset_percent(gain[0] + gain[1], gain[0])
