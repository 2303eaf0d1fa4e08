"""The page of one tournament: its standings, every result, ratings, performances and upsets, as plain data.

Every format is made from this page, which is also what JSON shows. Numbers come from the views; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

import attrs

from ledger.answers.crosstables import editions, event_games, kinds, performances, standings, tie_breaks
from ledger.answers.crosstables.event_games import EventGame
from ledger.answers.crosstables.event_ratings import LEDGER, SHOWN, WHOSE, EventRatings, LedgerRatings, ShownRatings
from ledger.answers.crosstables.kinds import Kind
from ledger.answers.crosstables.knockouts import matches
from ledger.answers.crosstables.performances import Performed
from ledger.answers.crosstables.standings import Place
from ledger.answers.crosstables.tie_breaks import Result, Results
from ledger.answers.crosstables.upset_flags import Margins
from ledger.answers.wording import names
from ledger.book.timeline import Pool
from ledger.errors import UnknownNameError
from ledger.facts.words import Format
from ledger.ledger import Ledger
from ledger.ratings.player_states import PlayerStates
from ledger.runtime.nearest import choice_of

FORM = "crosstable/1"
# Shown, and used to put the rows of who shares a place in order, where nobody says which decide.
USUAL_TIE_BREAKS: Mapping[str, tuple[str, ...]] = {
    Format.ALL_PLAY_ALL: ("direct-encounter", "wins", "sonneborn-berger", "koya"),
    Format.MATCH: ("wins",),
    Format.KNOCKOUT: (),
}
OF_SWISS = ("buchholz-cut-1", "buchholz", "sonneborn-berger", "wins")
Row = dict[str, Any]


@attrs.frozen(kw_only=True)
class Wanted:
    """What a table is asked to show.

    Attributes:
        edition: a year, month or day of it; the last edition by default.
        performance: name of the performance rating; that of the scheme by default, else FIDE's.
        ratings: ``ledger`` or ``shown``, whose ratings count.
        tie_breaks: names of those that decide places, in their order; by default points alone do.
        kind: how it was paired, where that is known better than it is told or seen.
        quiet_days: days without a game that part two editions; see ``editions``.
    """

    edition: str | None = None
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
            performances.known(self.performance)
        for name in self.tie_breaks:
            tie_breaks.named(name)
        for word, given, there in (("ratings", self.ratings, WHOSE), ("format", self.kind, kinds.KINDS)):
            if given is not None and given not in there:
                raise UnknownNameError(word, given, choice_of(given, there), where="here")


NOTHING_SPECIAL = Wanted()


class _Event(NamedTuple):
    """What the rows of a page are made from."""

    games: Sequence[EventGame]
    kind: Kind
    results: Results
    places: Sequence[Place]
    ratings: EventRatings
    variant: str
    shown: Mapping[int, str]
    margins: Margins


def crosstable(ledger: Ledger, tournament: str, pool: str | None = None, wanted: Wanted = NOTHING_SPECIAL) -> Row:
    """The page of a tournament; its form is that of ``schemas/exports/crosstable.json``.

    Args:
        ledger: a ledger whose views are level.
        tournament: the name that its games carry.
        pool: name of the pool; the first one by default.
        wanted: which edition, and what to show.

    Raises:
        UnknownNameError: no game carries the name, or something *wanted* is not there.
        MalformedError: the edition is no instant.
    """
    wanted.check()
    rated_by = ledger.pool(pool)
    connection = ledger.views.connection
    ends = event_games.ends(connection, rated_by, tournament)
    if not ends:
        editions.refuse_unknown(connection, rated_by, tournament)
    chosen = editions.choose(rated_by, tournament, ends, wanted.edition, wanted.quiet_days)
    games = event_games.games_of(connection, rated_by, tournament, *chosen.edition)
    told = editions.told_by_name(connection, rated_by).get((tournament, chosen.edition.first_ms), kinds.Told())
    kind = kinds.kind_of(games, attrs.evolve(told, format=wanted.kind or told.format))
    scheme = rated_by.eras[rated_by.era_at(games[-1].ended_ms)].scheme.name
    ratings = _ratings(ledger, rated_by, games, wanted.ratings)
    results = results_of(games)
    ordering = USUAL_TIE_BREAKS.get(kind.format, OF_SWISS)
    event = _Event(
        games, kind, results, standings.places(results, wanted.tie_breaks, ordering), ratings,
        wanted.performance or (performances.usual(scheme) if wanted.ratings == LEDGER else performances.USUAL),
        names(ledger, set(results)), Margins(connection),
    )  # fmt: skip
    page = _head(event, tournament, rated_by, scheme, chosen)
    page["format_is"] = "chosen" if wanted.kind else "told" if told.format else "seen"
    page["ratings"] = wanted.ratings
    page["tie_breaks"] = [
        _tie_break(name, decides=name in wanted.tie_breaks) for name in dict.fromkeys((*wanted.tie_breaks, *ordering))
    ]
    page["standings"] = _standings(event, [row["name"] for row in page["tie_breaks"]])
    page["matches"] = matches(games, event.shown) if kind.format in {Format.KNOCKOUT, Format.MATCH} else []
    return page


def _ratings(ledger: Ledger, pool: Pool, games: Sequence[EventGame], whose: str) -> EventRatings:
    if whose == SHOWN:
        return ShownRatings(games)
    players = {player for game in games for player in (game.white, game.black)}
    sides = event_games.sides_of(ledger.views.connection, pool, players, games)
    return LedgerRatings(PlayerStates(ledger.views.connection, pool), games, sides)


def results_of(games: Sequence[EventGame]) -> dict[int, list[Result]]:
    """By player the results of all games that have one, forfeits too; who has only unfinished games is there, too."""
    found: dict[int, list[Result]] = {}
    for game in games:
        for player in (game.white, game.black):
            results = found.setdefault(player, [])
            half_points = game.half_points_of(player)
            if half_points is not None:
                opponent = game.opponent_of(player)
                is_black = player == game.black
                results.append(Result(opponent, half_points, is_black, game.is_played, game.round_number))
    return found


def _head(event: _Event, tournament: str, pool: Pool, scheme: str, chosen: editions.Chosen) -> Row:
    enrolments = [rating for rating in map(event.ratings.enrolment, event.results) if rating is not None]
    variant = performances.known(event.variant)
    kind = event.kind
    return {
        "form": FORM,
        "tournament": tournament,
        "pool": pool.name,
        "scheme": scheme,
        "edition": {
            "first_day": min(game.ended_at[:10] for game in event.games),
            "last_day": max(game.ended_at[:10] for game in event.games),
            "number": chosen.number,
            "of": chosen.of,
        },
        "format": kind.format,
        "format_is": "seen",
        "meetings": kind.meetings or None,
        "rounds": kind.rounds or None,
        "players": len(event.results),
        "games": len(event.games),
        "average_rating": fsum(enrolments) / len(enrolments) if enrolments else None,
        "complete": not kind.missing,
        "missing": list(kind.missing),
        "missing_games": _pairs(event, kind.missing_pairs),
        "extra_games": _pairs(event, kind.extra_pairs),
        "ratings": LEDGER,
        "performance": {
            "variant": event.variant,
            "title": variant.title,
            "source": variant.source,
            "offset": performances.OFFSET_TITLE,
        },
    }


def _pairs(event: _Event, pairs: Mapping[kinds.Pair, int]) -> list[Row]:
    return [
        {"players": list(pair), "names": [event.shown[player] for player in pair], "games": number}
        for pair, number in pairs.items()
    ]


def _tie_break(name: str, *, decides: bool) -> Row:
    known = tie_breaks.named(name)
    source = f"FIDE C.07 {known.section}"
    return {"name": name, "short": known.short, "title": known.title, "source": source, "decides": decides}


def _standings(event: _Event, shown_tie_breaks: Sequence[str]) -> list[Row]:
    numbers = {place.player: number for number, place in enumerate(event.places, 1)}
    level = {player: group for group in standings.parted(event.results) for player in group}
    by_player: dict[int, list[EventGame]] = {player: [] for player in event.results}
    for game in event.games:
        by_player[game.white].append(game)
        by_player[game.black].append(game)
    found = []
    for place in event.places:
        player, games = place.player, by_player[place.player]
        rows = [_result(event, player, game, numbers) for game in games]
        found.append(
            {
                **_standing(event, place, numbers[player], games, rows),
                "tie_breaks": {
                    name: tie_breaks.named(name).value(event.results, player, level[player])
                    for name in shown_tie_breaks
                },
                "results": rows,
                "meetings": _meetings(event, player, games, numbers),
            }
        )
    return found


def _standing(event: _Event, place: Place, number: int, games: Sequence[EventGame], rows: Sequence[Row]) -> Row:
    player = place.player
    results = event.results[player]
    enrolment = event.ratings.enrolment(player)
    worth = performances.performance(event.variant, performed(event.ratings, player, games))
    closing = [row["closing_rating"] for row in rows if row["closing_rating"] is not None]
    return {
        "number": number,
        "place": place.shown,
        "first_place": place.first,
        "last_place": place.last,
        "player": player,
        "name": event.shown[player],
        "enrolment_rating": enrolment,
        "closing_rating": closing[-1] if closing else None,
        "games": len(games),
        "points": tie_breaks.points(event.results, player),
        "wins": sum(result.half_points == 2 for result in results),
        "draws": sum(result.half_points == 1 for result in results),
        "losses": sum(result.half_points == 0 for result in results),
        "opponents_mean": worth.opponents_mean,
        "performance": worth.rating,
        "performance_games": worth.games,
        "performance_missing": worth.why_not,
        "er_offset": performances.offset_percent(worth.rating, enrolment),
        "upsets": sum(row["upset"] for row in rows),
    }


def performed(ratings: EventRatings, player: int, games: Sequence[EventGame]) -> list[Performed]:
    """What a performance rating takes of a player's games."""
    found = []
    for game in games:
        half_points = game.half_points_of(player)
        if half_points is not None and game.is_played and ratings.counts(game):
            opponent = ratings.enrolment(game.opponent_of(player))
            found.append(Performed(half_points, opponent, ratings.after(player, game)))
    return found


def mark(half_points: int | None, *, is_played: bool) -> str:
    """A result as cross-tables print it: ``1 ½ 0``, by forfeit ``+ -``, without a result ``*``."""
    if half_points is None:
        return "*"
    return "0½1"[half_points] if is_played else "-=+"[half_points]


def _result(event: _Event, player: int, game: EventGame, numbers: Mapping[int, int]) -> Row:
    """One game from the view of a player."""
    opponent, half_points, ratings = game.opponent_of(player), game.half_points_of(player), event.ratings
    before, opponents = ratings.before(player, game), ratings.before(opponent, game)
    surplus = None if before is None or opponents is None else opponents - before
    counts = game.is_played and ratings.counts(game)
    margin = event.margins.at(game.ended_ms)
    return {
        "game": game.key,
        "round": game.round,
        "ended_at": game.ended_at,
        "colour": "white" if player == game.white else "black",
        "opponent": opponent,
        "opponent_number": numbers[opponent],
        "opponent_name": event.shown[opponent],
        "mark": mark(half_points, is_played=game.is_played),
        "points": None if half_points is None else half_points / 2,
        "counts": counts,
        "reason": game.reason,
        "rating_before": before,
        "closing_rating": ratings.after(player, game),
        "opponent_rating_before": opponents,
        "opponent_closing_rating": ratings.after(opponent, game),
        "surplus": surplus,
        "margin": margin,
        "upset": counts and half_points == 2 and surplus is not None and surplus >= margin,
    }


def _meetings(event: _Event, player: int, games: Sequence[EventGame], numbers: Mapping[int, int]) -> list[Row]:
    """Per opponent what the player's games against them were worth, from the player's view."""
    by_opponent: dict[int, list[EventGame]] = {}
    for game in games:
        by_opponent.setdefault(game.opponent_of(player), []).append(game)
    enrolment = event.ratings.enrolment(player)
    found = []
    for opponent in sorted(by_opponent, key=numbers.__getitem__):
        met = by_opponent[opponent]
        worth = performances.performance(event.variant, performed(event.ratings, player, met))
        closings = [event.ratings.after(opponent, game) for game in met]
        own = [event.ratings.after(player, game) for game in met]
        found.append(
            {
                "opponent": opponent,
                "opponent_number": numbers[opponent],
                "opponent_name": event.shown[opponent],
                "opponent_enrolment_rating": event.ratings.enrolment(opponent),
                "opponent_closing_rating": closings[-1],
                "closing_rating": own[-1],
                "marks": "".join(mark(game.half_points_of(player), is_played=game.is_played) for game in met),
                "points": sum(game.half_points_of(player) or 0 for game in met) / 2,
                "performance": worth.rating,
                "er_offset": performances.offset_percent(worth.rating, enrolment),
            }
        )
    return found
