"""The calculation of a tournament's cross-table: standings, results, ratings, performances and upsets, as plain data.

Every format is made from this data, which is also what JSON shows. Numbers come from the views; nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import Literal, cast

import attrs

from ledger.answers.asking import day, distinct_names, in_one_snapshot, names
from ledger.answers.crosstables import editions, performances, tie_breaks
from ledger.answers.crosstables.crosstable_data import (
    Crosstable,
    CrossTableRow,
    EditionSpan,
    EventBye,
    EventResult,
    FormatSource,
    Mark,
    Match,
    Meeting,
    PerformanceColumn,
    TieBreakColumn,
    UnevenPair,
)
from ledger.answers.crosstables.editions import EventFacts
from ledger.answers.crosstables.event_games import (
    LEDGER,
    RATING_SOURCES,
    SHOWN,
    Announcement,
    EventGame,
    EventRatings,
    LedgerRatings,
    ShownRatings,
    games_by_player,
)
from ledger.answers.crosstables.pairing_systems import (
    OTHER,
    PAIRING_SYSTEMS,
    Pair,
    PairingSystem,
    build_matches,
    find_pairing_system,
    knockout_places,
)
from ledger.answers.crosstables.performances import PerformanceGame
from ledger.answers.crosstables.tie_breaks import NO_OPPONENT, RoundResult, RoundResults, SharedPlace, UnplayedRules
from ledger.answers.policies import upset_margins
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import StoredRound
from ledger.errors import UnknownNameError
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
PRE_DETERMINED_RULES = (("2023-01-01", UnplayedRules.AS_GAMES), ("", UnplayedRules.OWN_POINTS))
SWISS_RULES = (
    ("2026-03-01", UnplayedRules.C07_2026),
    ("2023-01-01", UnplayedRules.C07_2023),
    ("", UnplayedRules.VIRTUAL),
)
SWISS_TIE_BREAKS = ("buchholz-cut-1", "buchholz", "sonneborn-berger", "wins")


@attrs.frozen(kw_only=True)
class TableOptions:
    """The options of a cross-table.

    Attributes:
        edition: a year, month or day of it; the last edition by default.
        number: its place among the editions of the name instead, from 1, as in a row of ``tournaments``.
        performance: name of the performance rating; that of the scheme by default, else FIDE's.
        ratings: ``ledger`` or ``shown``: whose ratings count.
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
        """Refuse unknown names of performance ratings, tie-breaks, pairing systems or sources of ratings.

        Raises:
            UnknownNameError: there is none of that name.
        """
        if self.performance is not None:
            performances.variant_named(self.performance)
        for name in self.tie_breaks:
            tie_breaks.tie_break_named(name)
        for word, choice, there in (("ratings", self.ratings, RATING_SOURCES), ("format", self.kind, PAIRING_SYSTEMS)):
            if choice is not None:
                find_by_name(word, choice, dict.fromkeys(there))


DEFAULT_OPTIONS = TableOptions()


@in_one_snapshot
def crosstable(
    ledger: OpenLedger, tournament: str, pool: str | None = None, choice: TableOptions = DEFAULT_OPTIONS
) -> Crosstable:
    """Return the cross-table of a tournament; as JSON its form is ``schemas/exports/crosstable-1.json``.

    Raises:
        UnknownNameError: no game has the name, or *choice* names something unknown.
        MalformedError: the edition is no instant.
    """
    choice.check()
    rated_by = ledger.pool(pool)
    events = editions.load_tournament(ledger.views.connection, rated_by, tournament, choice.quiet_days)
    if choice.number is None:
        every, first_days = [event.edition for event in events], [event.days[0] for event in events]
        place = editions.choose_edition(tournament, every, choice.edition, first_days)
    elif 1 <= choice.number <= len(events):
        place = choice.number - 1
    else:
        hint = f"there are {len(events)}"
        raise UnknownNameError("edition", str(choice.number), hint, where=f"of {tournament!r}")
    position = ledger.views.position()
    if isinstance(ledger.journal, ScratchJournal):  # a proposed fact is no entry yet
        position = min(position, ledger.journal.recorded)
    return _page(EventStandings(ledger, rated_by, events[place], choice), position)


class EventStandings:
    """The calculated results, places, ratings and matches of one edition of a tournament."""

    def __init__(self, ledger: OpenLedger, pool: Pool, facts: EventFacts, choice: TableOptions) -> None:
        games, announced = facts.games, facts.announced or Announcement()
        self.pool, self.facts, self.games, self.choice, self._ledger = pool, facts, games, choice, ledger
        self.byes = counted_byes(games, facts.byes)
        self.kind = find_pairing_system(
            games,
            announced._replace(format=choice.kind or announced.format),
            [(bye.player, bye.round or 0) for bye in self.byes],
            {bye.player for bye in self.byes}
            - {bye.player for bye in self.byes if bye.brings != Brings.ABSENT}
            - {player for game in games for player in game.players},
        )
        self.format_is: FormatSource = "chosen" if choice.kind else "told" if announced.format else "seen"
        # An edition may lie over a change of the scheme: the last game says which one it went out with.
        self.scheme = pool.eras[pool.era_at(games[-1].ended_ms if games else facts.edition.last_ms)].scheme.name
        usual = performances.default_variant(self.scheme) if choice.ratings == LEDGER else performances.DEFAULT_VARIANT
        self.variant = choice.performance or usual
        unplayed = unplayed_rules(self.kind.format, day(facts.edition.first_ms))
        self.results = build_round_results(games, self.byes, unplayed, self.kind)
        self.games_of = games_by_player(games)
        self.byes_of: dict[int, list[StoredRound]] = {}
        for bye in self.byes:
            self.byes_of.setdefault(bye.player, []).append(bye)
        if choice.ratings == SHOWN:
            self.ratings: EventRatings = ShownRatings(games)
        else:
            began_ms = facts.edition.first_ms
            self.ratings = LedgerRatings(ledger.views.connection, pool, ledger.states(pool), self.games_of, began_ms)
        self.names = distinct_names(names(ledger, set(self.results)))  # with their numbers where they are the same
        self.ordering = USUAL_TIE_BREAKS.get(self.kind.format, SWISS_TIE_BREAKS)
        self.places = tie_breaks.rank_players(self.results, choice.tie_breaks, self.ordering)
        # A choice of tie-breaks asks for places by points, in a knock-out, too.
        if self.kind.format == Format.KNOCKOUT.value and not choice.tie_breaks:
            self.places = knockout_places(self.matches, self.places)
        self.numbers = {place.player: number for number, place in enumerate(self.places, 1)}

    @cached_property
    def margin_at(self) -> Callable[[int], int]:
        """The margin of an upset in rating points, by instant."""
        return upset_margins(self._ledger)

    @property
    def matches(self) -> list[Match]:
        """The matches of a knock-out or of a single match; empty for other pairing systems."""
        return build_matches(self.games, self.names) if self.kind.format in {Format.KNOCKOUT, Format.MATCH} else []


def unplayed_rules(kind: str, first_day: str) -> UnplayedRules:
    """Return the rules for unplayed rounds in the regulations in force when a tournament began."""
    # A tournament of no kind that can be seen shows the tie-breaks of a Swiss one, and so counts by its rules.
    is_swiss = kind in {Format.SWISS, OTHER}
    return next(rules for since, rules in (SWISS_RULES if is_swiss else PRE_DETERMINED_RULES) if since <= first_day)


def counted_byes(games: Sequence[EventGame], byes: Sequence[StoredRound]) -> list[StoredRound]:
    """Return the byes and absences that count: one for each player and round, none where a game is recorded."""
    played = {(player, game.round_number) for game in games for player in game.players}
    first_byes: dict[tuple[int, object], StoredRound] = {}
    for bye in byes:
        if bye.round is None or (bye.player, bye.round) not in played:
            # Byes without a round can only be distinguished by their editions.
            first_byes.setdefault((bye.player, bye.edition if bye.round is None else bye.round), bye)
    return sorted(first_byes.values(), key=lambda bye: (bye.round or 0, bye.edition_ms, bye.player))


def build_round_results(
    games: Sequence[EventGame], byes: Sequence[StoredRound], unplayed: UnplayedRules, kind: PairingSystem
) -> RoundResults:
    """Return each player's results of all rounds; players with unfinished games alone are included."""
    forfeited = double_forfeit_opponents(kind.missing_pairs, byes)
    by_player: dict[int, list[RoundResult]] = {}
    for game in games:
        for player in game.players:
            results = by_player.setdefault(player, [])
            half_points = game.half_points_of(player)
            if half_points is not None:
                opponent = game.opponent_of(player)
                is_black = player == game.black
                results.append(RoundResult(opponent, half_points, is_black, game.is_played, game.round_number))
    for bye in byes:
        opponent, number = forfeited.get((bye.player, bye.round), NO_OPPONENT), bye.round or 0
        result = RoundResult(opponent, bye.half_points, is_played=False, round=number, bye=bye.brings)
        by_player.setdefault(bye.player, []).append(result)
    # Games come in the order of the rounds already: only players with a bye have something out of order.
    for player in {bye.player for bye in byes}:
        by_player[player].sort(key=lambda result: result.round)
    return RoundResults(by_player, unplayed, kind.rounds)


def double_forfeit_opponents(
    missing: Mapping[Pair, int], byes: Sequence[StoredRound]
) -> dict[tuple[int, int | None], int]:
    """Return, by player and round, the scheduled opponent in rounds of an all-play-all in which both were absent.

    Reports show this round as one without a game. Two players were scheduled if both were absent in as many rounds as
    they lack games against each other (*missing*); if more than two players qualify, the pair is unknown.
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


def _page(event: EventStandings, position: int) -> Crosstable:
    enrolments = [rating for rating in map(event.ratings.enrolment_rating, event.results) if rating is not None]
    variant, kind, choice = performances.variant_named(event.variant), event.kind, event.choice
    columns = []
    # A tie-break that decides may be a usual one, too: it has one column, among those that decide.
    for name in dict.fromkeys((*choice.tie_breaks, *event.ordering)):
        short, title, section, _ = tie_breaks.tie_break_named(name)
        source, decides = f"FIDE C.07 {section}", name in choice.tie_breaks
        columns.append(TieBreakColumn(name=name, short=short, title=title, source=source, decides=decides))
    first_day, last_day = event.facts.days
    # Tie-breaks are shown among players level on points, whichever criterion decides between them.
    level = {player: group for group in tie_breaks.group_level_players(event.results) for player in group}
    return Crosstable(
        tournament=event.facts.tournament,
        pool=event.pool.name,
        position=position,
        scheme=event.scheme,
        edition=EditionSpan(first_day=first_day, last_day=last_day, number=event.facts.number, of=event.facts.of),
        format=kind.format,
        format_is=event.format_is,
        meetings=kind.meetings or None,
        rounds=kind.rounds or None,
        players=len(event.results),
        games=len(event.games),
        average_rating=fsum(enrolments) / len(enrolments) if enrolments else None,
        complete=not kind.missing,
        missing=list(kind.missing),
        missing_games=_uneven_pairs(event, kind.missing_pairs),
        extra_games=_uneven_pairs(event, kind.extra_pairs),
        ratings=cast("Literal['ledger', 'shown']", choice.ratings),
        performance=PerformanceColumn(
            variant=event.variant, title=variant.title, source=variant.source, offset=performances.OFFSET_TITLE
        ),
        tie_breaks=columns,
        standings=[build_row(event, place, columns, level[place.player]) for place in event.places],
        matches=event.matches,
    )


def _uneven_pairs(event: EventStandings, pairs: Mapping[Pair, int]) -> list[UnevenPair]:
    return [
        UnevenPair(players=list(pair), names=[event.names[player] for player in pair], games=games)
        for pair, games in pairs.items()
    ]


def build_row(
    event: EventStandings, place: SharedPlace, columns: Sequence[TieBreakColumn], level: Sequence[int]
) -> CrossTableRow:
    """Return a player's row of the table, with tie-breaks among the players *level* on points."""
    player, games = place.player, event.games_of.get(place.player, [])
    results = event.results[player]
    rows = [_result(event, player, game) for game in games]
    enrolment = event.ratings.enrolment_rating(player)
    worth = performances.calculate_performance(event.variant, performance_games(event.ratings, player, games))
    closings = [row.closing_rating for row in rows if row.closing_rating is not None]
    return CrossTableRow(
        number=event.numbers[player],
        place=place.text,
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
            column.name: tie_breaks.tie_break_named(column.name).value(event.results, player, level)
            for column in columns
        },
        opponents_mean=worth.opponents_mean,
        performance=worth.rating,
        performance_games=worth.games,
        performance_missing=worth.why_not,
        er_offset=performances.er_offset(worth.rating, enrolment),
        upsets=sum(row.upset for row in rows),
        results=rows,
        byes=[
            EventBye(round=bye.round, brings=cast("Literal['half']", bye.brings), points=bye.half_points / 2)
            for bye in event.byes_of.get(player, ())
        ],
        meetings=_meetings(event, player),
    )


def performance_games(ratings: EventRatings, player: int, games: Sequence[EventGame]) -> list[PerformanceGame]:
    """Return the games of a player that count for a performance rating, with the opponents' enrolment ratings."""
    return [
        PerformanceGame(
            half_points, ratings.enrolment_rating(game.opponent_of(player)), ratings.rating_after(player, game)
        )
        for game in games
        if (half_points := game.half_points_of(player)) is not None and game.is_played and ratings.is_counted(game)
    ]


def result_mark(half_points: int | None, *, is_played: bool) -> Mark:
    """Return a result as cross-tables print it: ``1 ½ 0``, by forfeit ``+ -``, without a result ``*``."""
    if half_points is None:
        return "*"
    marks: tuple[Mark, ...] = ("0", "½", "1") if is_played else ("-", "=", "+")
    return marks[half_points]


def _result(event: EventStandings, player: int, game: EventGame) -> EventResult:
    opponent, half_points, ratings = game.opponent_of(player), game.half_points_of(player), event.ratings
    surplus = ratings.upset_surplus(player, game)
    counts = game.is_played and ratings.is_counted(game)
    margin = event.margin_at(game.ended_ms)
    return EventResult(
        game=game.key,
        round=game.round,
        ended_at=game.ended_at,
        colour="white" if player == game.white else "black",
        opponent=event.names[opponent],
        opponent_player=opponent,
        opponent_number=event.numbers[opponent],
        mark=result_mark(half_points, is_played=game.is_played),
        points=None if half_points is None else half_points / 2,
        counts=counts,
        reason=game.reason,
        rating_before=ratings.rating_to_change(player, game),
        closing_rating=ratings.rating_after(player, game),
        opponent_rating_before=ratings.rating_before(opponent, game),
        opponent_closing_rating=ratings.rating_after(opponent, game),
        surplus=surplus,
        margin=margin,
        # With a margin of 0 an upset still needs an opponent who is rated higher.
        upset=half_points == 2 and surplus is not None and surplus > 0 and surplus >= margin,
    )


def _meetings(event: EventStandings, player: int) -> list[Meeting]:
    """Return, by opponent, the worth of the player's games against them, from the player's view."""
    by_opponent: dict[int, list[EventGame]] = {}
    for game in event.games_of.get(player, ()):
        by_opponent.setdefault(game.opponent_of(player), []).append(game)
    meetings = []
    for opponent in sorted(by_opponent, key=event.numbers.__getitem__):
        met = by_opponent[opponent]
        worth = performances.calculate_performance(event.variant, performance_games(event.ratings, player, met))
        meetings.append(
            Meeting(
                opponent=event.names[opponent],
                opponent_player=opponent,
                opponent_number=event.numbers[opponent],
                marks="".join(result_mark(game.half_points_of(player), is_played=game.is_played) for game in met),
                points=sum(game.half_points_of(player) or 0 for game in met) / 2,
                opponent_enrolment_rating=event.ratings.enrolment_rating(opponent),
                opponent_closing_rating=event.ratings.rating_after(opponent, met[-1]),
                closing_rating=event.ratings.rating_after(player, met[-1]),
                performance=worth.rating,
                er_offset=_offset_against(event, player, met, worth.rating),
            )
        )
    return meetings


def _offset_against(event: EventStandings, player: int, met: Sequence[EventGame], rating: float | None) -> float | None:
    """Return the ER offset of games against one opponent; ChessWorld's compares the ratings after and before them.

    A mean of closing ratings would hold against the player what games against others brought.
    """
    if event.variant != performances.CHESSWORLD:
        return performances.er_offset(rating, event.ratings.enrolment_rating(player))
    counted = [game for game in met if game.is_played and event.ratings.is_counted(game)]
    gain = event.ratings.rating_gain(player, counted)
    return None if gain is None else performances.er_offset(gain[0] + gain[1], gain[0])
