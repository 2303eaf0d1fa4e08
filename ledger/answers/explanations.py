"""Why a rating changed: the formula of the scheme that rated the game, with this player's numbers.

A game that was rated together with others is told with all of the player's games of that batch, from the states that
the batch began with. Every number comes from the views or the scheme's own kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.answers import marks
from ledger.answers.moments import of_one_moment
from ledger.answers.wording import RESULT, day, names, shown
from ledger.book.timeline import Era, Pool
from ledger.errors import UnknownNameError
from ledger.facts.periods import DAY_MS
from ledger.journal.game_keys import game_found
from ledger.ledger import Ledger
from ledger.players.people import Person
from ledger.ratings import engine, queries
from ledger.ratings.engine import Rateable
from ledger.ratings.listing import is_listed
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.rated_games import OWN_DAY, beginnings
from ledger.schemes.scheme import Meeting, Rhythm, Side, When

if TYPE_CHECKING:
    import sqlite3

_RATED_WITH = {Rhythm.GAME: "this game", Rhythm.PERIOD: "its period", Rhythm.EVENT: "its event"}
_SCORE = {2: 1.0, 1: 0.5, 0: 0.0}


class _Part(NamedTuple):
    """A player's part in what is to be explained."""

    side: Side
    meetings: tuple[Meeting, ...]
    when: When
    opponents: tuple[int, ...]


@of_one_moment
def explain(ledger: Ledger, person: Person, game: str) -> dict[str, Any]:
    """Why a game changed a player's rating by this much: the formula with this game's numbers, and its source.

    ``corrected`` are the proposals that corrected the game; ``recorded`` and ``stands`` its fields that stand otherwise
    than they were recorded, None where none does.

    Raises:
        UnknownNameError: no such game, or it does not count (the reason is named), or the player was not in it.
    """
    connection, row = ledger.views.connection, _counted(ledger, game)
    game = row["key"]
    pool = next(p for p in ledger.pools() if p.pool == row["pool"])
    side_row = queries.first_row(connection, queries.SIDE_OF_GAME, (pool.pool, person.player, row["position"]))
    if side_row is None:
        raise UnknownNameError(f"player of game {game!r} named", shown(person))
    side_row["rated_ms"] = row["rated_ms"]
    number = pool.era_at(row["rated_ms"])
    era, states = pool.eras[number], PlayerStates(connection, pool)
    by_game = era.scheme.rhythm is Rhythm.GAME
    part = _of_game(ledger, states, side_row) if by_game else _of_batch(ledger, pool, number, states, row, side_row)
    explanation = era.scheme.explain(part.side, part.meetings, part.when, era.numbers)
    before = part.side.before[0] if is_listed(era, part.side.before) else None
    after = explanation.result if is_listed(era, part.side.after) else None
    opponents = names(ledger, set(part.opponents))
    return {
        "game": game,
        "player": shown(person),
        "opponent": opponents[side_row["opponent"]],
        "result": RESULT[side_row["half_points"]],
        "pool": pool.name,
        "scheme": era.scheme.name,
        "rated_with": _RATED_WITH[era.scheme.rhythm],
        "games": len(part.meetings),
        "before": before,
        "after": after,
        "change": None if before is None or after is None else after - before,
        "carried_from": _carried_from(connection, pool, person.player, side_row, number, len(part.meetings)),
        **marks.around_game(ledger, pool, side_row, game),
        "rule": explanation.rule,
        "terms": [term._asdict() for term in explanation.terms],
        "unrounded": explanation.unrounded,
        "rounding": explanation.rounding,
        "source": explanation.source,
        "meetings": [
            _met(place, opponents[opponent], meeting, era, part.side)
            | ({"rating": explanation.opponents[place - 1]} if explanation.opponents else {})
            for place, (opponent, meeting) in enumerate(zip(part.opponents, part.meetings, strict=True), 1)
        ],
    }


def _counted(ledger: Ledger, game: str) -> dict[str, Any]:
    """The row of a game that counts."""
    key, stored = game_found(ledger.journal_of_moment, game)
    row = queries.first_row(ledger.views.connection, queries.GAME, (stored.position,))
    if row is None:
        raise UnknownNameError("game", key, "the views have no row of it: run 'rebuild'")
    if row["reason"] is not None:
        why = marks.reasons_of(ledger, [row["voided_by"]]) if row["voided_by"] else {}
        words = marks.why_not(row["reason"], row["voided_by"], why.get(row["voided_by"]))
        raise UnknownNameError("rating change by game", key, f"it does not count: {words}")
    return row


def _met(place: int, opponent: str, meeting: Meeting, era: Era, side: Side) -> dict[str, Any]:
    in_force = era.scheme.in_force if _by_event(era) else None
    met = {
        "game": place,
        "opponent": opponent,
        "rating": meeting.opponent[0] if in_force is None else in_force(meeting.opponent, 0, meeting.began),
        "colour": "black" if meeting.colour else "white",
        "result": RESULT[int(2 * meeting.score)],
    }
    if in_force is None:
        return met
    began = day(int(meeting.began) * DAY_MS)
    return {**met, "own_rating": in_force(side.before, 0, meeting.began), "tournament_began": began}


def _carried_from(
    connection: sqlite3.Connection, pool: Pool, player: int, side_row: dict[str, Any], era: int, games: int
) -> dict[str, Any] | None:
    """The rating by an earlier scheme that the player's first games under this one begin from."""
    for n in range(side_row["n"] - 1, max(side_row["n"] - games - 1, 0), -1):
        row = queries.first_row(connection, queries.ROW, (pool.pool, player, n))
        if row is not None and pool.era_at(row["rated_ms"]) < era:
            before = pool.eras[pool.era_at(row["rated_ms"])]
            return {"scheme": before.scheme.name, "rating": row["rating"], "carry": pool.eras[era].carry.value}
    return None


def _of_game(ledger: Ledger, states: PlayerStates, side_row: dict[str, Any]) -> _Part:
    other = (side_row["pool"], side_row["opponent"], side_row["opponent_n"])
    other_row = queries.first_row(ledger.views.connection, queries.ROW, other)
    assert other_row is not None
    side = Side(states.into_game(side_row), states.held(side_row).state)
    meeting = Meeting(states.into_game(other_row), _SCORE[side_row["half_points"]], side_row["colour"])
    return _Part(side, (meeting,), When(0.0, side_row["ended_ms"] / DAY_MS), (side_row["opponent"],))


def _of_batch(
    ledger: Ledger, pool: Pool, number: int, states: PlayerStates, row: dict[str, Any], side_row: dict[str, Any]
) -> _Part:
    era, place = pool.eras[number], (row["rated_ms"], row["batch"])
    games = list(queries.dictionaries(ledger.views.connection, queries.BATCH, (pool.pool, *place)))
    last_ms = games[-1]["ended_ms"]
    first: dict[int, int] = {}  # by player, the end of the first game in the batch: a newcomer has declared by then
    for game in games:
        first.setdefault(game["white"], game["ended_ms"])
        first.setdefault(game["black"], game["ended_ms"])
    if era.scheme.steps == 1:  # opponents count as before the batch: the player's own games suffice
        games = [game for game in games if side_row["player"] in {game["white"], game["black"]}]
        concerned = {player for game in games for player in (game["white"], game["black"])}
        first = {player: ms for player, ms in first.items() if player in concerned}
    roster = {player: i for i, player in enumerate(first)}
    state = [value for player, ms in first.items() for value in states.into_batch(player, *place, number, ms)]
    when = pool.when(number, row["rated_ms"], last_ms)
    rateable = Rateable(
        [roster[game["white"]] for game in games],
        [roster[game["black"]] for game in games],
        [game["score"] for game in games],
        [game["ended_ms"] / DAY_MS for game in games],
        [0, len(games)],
        [when.period],
        [when.day],
        _beginnings(games) if _by_event(era) else (),
    )
    return _meetings(era, rateable, state, list(first), roster[side_row["player"]], when)


def _by_event(era: Era) -> bool:
    """Whether tournaments are rated whole, from the ratings in force when they began."""
    return era.scheme.in_force is not None and era.scheme.calendar(era.numbers).by_event


def _beginnings(games: list[dict[str, Any]]) -> list[float]:
    """When the tournament of each game of a batch began, days since 1970."""
    return beginnings(
        [game["ended_ms"] for game in games],
        [OWN_DAY if game["began_ms"] is None else game["began_ms"] for game in games],
        [game["tournament"] for game in games],
        [0] * len(games),
    )


def _meetings(era: Era, games: Rateable, state: list[float], numbers: list[int], player: int, when: When) -> _Part:
    scheme = era.scheme
    before, after, work = engine.rate_one_batch(scheme, era.numbers, games, state)
    width, noted = len(scheme.state), len(scheme.work)
    begins = games.began or [when.day] * len(games.white)

    def fields(flat: list[float], place: int, size: int) -> tuple[float, ...]:
        return tuple(flat[place * size : (place + 1) * size])

    met = [
        (numbers[other], Meeting(fields(before, other, width), score, colour, fields(work, other, noted), began))
        for white, black, points, began in zip(games.white, games.black, games.score, begins, strict=True)
        for me, other, score, colour in ((white, black, points, 0), (black, white, 1.0 - points, 1))
        if me == player
    ]
    side = Side(fields(before, player, width), fields(after, player, width), fields(work, player, noted))
    opponents, meetings = zip(*met, strict=True)
    return _Part(side, meetings, when, opponents)
