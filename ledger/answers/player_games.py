"""A player's games, with the ratings before and after each, and the points of the rating graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs

from ledger.answers import marks
from ledger.answers.asking import RESULT, in_force_from, in_one_snapshot, names, row_limit
from ledger.answers.marks import OutdatedList
from ledger.answers.read_models import last_game_row
from ledger.book.guests import seed_of
from ledger.book.tables import RATING_ORDER
from ledger.book.timeline import Pool
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates

Row = dict[str, Any]
_EVERY = -1  # rows, as SQLite's LIMIT has it


@attrs.frozen
class GameFilter:
    """A filter of games by tournament, round and time; None: any.

    Attributes:
        tournament: its full name.
        round: a round; round 3 has the games of its boards, 3.1 and 3.2.
        on: the day, month or year in which they ended, or an instant.
    """

    tournament: str | None = None
    round: str | None = None
    on: str | None = None

    @property
    def span_ms(self) -> tuple[int, int]:
        """The first and the last millisecond at which a game may have ended."""
        return (instant_ms(self.on), instant_end_ms(self.on)) if self.on else (-MAX_WHOLE, MAX_WHOLE)

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row with ``tournament``, ``round`` and ``ended_at`` passes the filter."""
        if self.tournament not in {None, row["tournament"]}:
            return False
        # The full stop behind both keeps round 3 apart from round 31.
        if self.round is not None and (row["round"] is None or not f"{row['round']}.".startswith(f"{self.round}.")):
            return False
        first, last = self.span_ms
        return not self.on or first <= instant_ms(row["ended_at"]) <= last


@attrs.frozen(kw_only=True, slots=False)
class UnratedReason:
    """The reason why a game is not rated; all null for a rated game."""

    reason: str | None = documented("a word for it, such as too-short")
    voided_by: int | None = documented("the proposal that voided it")
    why: str | None = documented("the reason of that proposal; null: none, or erased")


RATED = UnratedReason(reason=None, voided_by=None, why=None)


@attrs.frozen(kw_only=True, slots=False)
class PlayerGame:
    """A game of a player, with both sides' ratings before and after it, and now."""

    n: int | None = documented("the player's n-th rated game in the pool; null: it does not count", minimum=1)
    game: str = documented("key of the game")
    entry: int = documented("position of the journal's entry that recorded it", minimum=1)
    ended_at: str = documented("when it ended, as precisely as it is known")
    colour: Literal["white", "black"] = documented("the player's colour")
    result: Literal["win", "draw", "loss"] | None = documented("for the player; null: it has none")
    termination: str = documented("how it ended, a word of game-recorded/1")
    rating_before: float | None = documented(
        "the player's rating before it or its period, of a guest the one that counts, points; null: none to show"
    )
    rating: float | None = documented("the player's rating after it or the period it was rated with, points")
    rating_now: float | None = documented("the player's rating now, points")
    opponent: str = documented("what the opponent is called")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    opponent_rating_before: float | None = documented("the opponent's rating in force before it, points")
    opponent_rating: float | None = documented("the opponent's rating after it or its period, points")
    opponent_rating_now: float | None = documented("the opponent's rating now, points")
    in_force: str | None = documented("day from which the rating after it counts; null: its period has not closed")
    tournament: str | None = documented("name of the tournament")
    round: str | None = documented("the round, as it was recorded")
    corrected: list[int] = documented("the proposals that corrected it and act")
    published: OutdatedList = flattened()
    why_not: UnratedReason | None = flattened()


@attrs.frozen(kw_only=True, slots=False)
class GraphPoint:
    """A player's rating after a rated game or its period."""

    n: int = documented("the player's n-th rated game in the pool", minimum=1)
    ended_at: str = documented("when it ended, as precisely as it is known")
    in_force: str | None = documented("day from which the rating counts; null: the period has not closed")
    rating: float | None = documented("the rating, points; null: the scheme lists no such player")
    result: Literal["win", "draw", "loss"] = documented("for the player")
    scheme: str = documented("the scheme that rated it")
    corrected: list[int] = documented("the proposals that corrected the game and act")
    published: OutdatedList = flattened()


@in_one_snapshot
def games(
    ledger: OpenLedger,
    person: Person,
    pool: str | None = None,
    *,
    last: int | None = 50,
    offset: int = 0,
    everything: bool = False,
    selection: GameFilter | None = None,
) -> list[PlayerGame]:
    """Return a player's latest rated games, newest first, with both sides' ratings before and after each, and now.

    ``rating`` is that after the game or, if the scheme rates by period or event, after the period or event with which
    the game was rated. The published list is the first one between the game and the next that had another rating of the
    player than it would have now.

    Args:
        ledger: the ledger.
        person: the player.
        pool: name of the pool; the first one by default.
        last: the number of games; 0 or None: all.
        offset: the number of these, the newest, that are left out: ratings are found for the others alone.
        everything: also unrated games, each in its place in rating order, with ``why_not``; only those of guests
            have ratings, which are the ones before the game.
        selection: which games.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list; with *everything*,
            nor any other game.
    """
    rated_by = ledger.pool(pool)
    states = ledger.states(rated_by)
    last = row_limit(last)
    # The filter is applied below: a limit before that would leave out older games.
    selection = selection or GameFilter()
    most = last if selection == GameFilter() else _EVERY
    left_out = marks.unrated_games(ledger, rated_by, person.player, most) if everything else []
    if not left_out:  # only to refuse a player without games
        last_game_row(ledger, person, rated_by)
    arguments = (rated_by.pool, person.player, most)
    rows = list(queries.fetch_dicts(ledger.views.connection, queries.GAMES_OF, arguments))
    # Both queries go through the player's rows, newest first: the two sides of a game come at one time.
    opposites = queries.fetch_dicts(ledger.views.connection, queries.OPPOSITE_SIDES, arguments)
    placed: list[tuple[tuple[Any, ...], Row, Row | None]] = [
        (_place(row), row, opposite) for row, opposite in zip(rows, opposites, strict=True) if selection.matches(row)
    ]
    placed += [(_place(row), row, None) for row in left_out if selection.matches(row)]
    placed.sort(key=lambda placed_game: placed_game[0], reverse=True)
    newest = [(row, opposite) for _, row, opposite in placed[offset:last]]
    return list(_player_games(ledger, states, rated_by, person.player, newest, everything=everything))


def _player_games(
    ledger: OpenLedger,
    states: PlayerStates,
    pool: Pool,
    player: int,
    rows: Sequence[tuple[Row, Row | None]],
    *,
    everything: bool,
) -> Iterator[PlayerGame]:
    """Yield a player's games from their rows: both sides' of the history for a rated game, else the book's."""
    corrected = marks.corrections_by_game(ledger, [row["key"] for row, _ in rows])
    lists = marks.outdated_lists(ledger, pool, player)
    sides = [_side(row, player) if opposite is None else row for row, opposite in rows]
    called, today = names(ledger, {side["opponent"] for side in sides}), ledger.now_ms()
    now = {number: states.now(number, today).in_force for number in (player, *called)}
    for (row, opposite), side in zip(rows, sides, strict=True):
        counts, opponent, why_not = opposite is not None, side["opponent"], RATED
        if not counts:
            why_not = UnratedReason(reason=row["reason"], voided_by=row["voided_by"], why=row["why"])
        before, met = states.rating_to_change(row) if counts else None, None
        if not counts and (guest := row["black_guest" if side["colour"] else "white_guest"]) is not None:
            before, met = seed_of(guest).rating, _met_by_guest(states, row, side)
        yield PlayerGame(
            n=row["n"] if counts else None,
            game=row["key"],
            entry=row["position"],
            ended_at=row["ended_at"],
            colour="black" if side["colour"] else "white",
            result=RESULT.get(side["half_points"]),
            termination=row["termination"],
            rating_before=before,
            rating=states.after_game(row).rating if counts else None,
            rating_now=now[player],
            opponent=called[opponent],
            opponent_player=opponent,
            opponent_rating_before=met if opposite is None else states.opposite_before(opposite),
            opponent_rating=None if opposite is None else states.opposite_after(opposite, row["rated_ms"]),
            opponent_rating_now=now[opponent],
            in_force=in_force_from(row["rated_ms"]) if counts else None,
            tournament=row["tournament"],
            round=row["round"],
            corrected=corrected.get(row["key"], []),
            published=marks.outdated_list(lists.get(row["n"]) if counts else None),
            why_not=why_not if everything else None,
        )


def _met_by_guest(states: PlayerStates, row: Row, side: Row) -> float | None:
    """Return the rating of a guest's opponent in force before their game, or that which counts of another guest."""
    other = row["white_guest" if side["colour"] else "black_guest"]
    if other is not None:
        return seed_of(other).rating
    return states.at(side["opponent"], row["ended_ms"], before=True).in_force


def _place(row: Row) -> tuple[Any, ...]:
    """Return the place of a game in rating order."""
    return tuple(row[name] for name in RATING_ORDER)


def _side(row: Row, player: int) -> Row:
    """Return the player's side of an unrated game, from its row in the book."""
    black, half_points = row["white"] != player, row["half_points"]
    # The book keeps White's half points: what White did not get, Black did.
    if black and half_points is not None:
        half_points = 2 - half_points
    return {"colour": int(black), "half_points": half_points, "opponent": row["white"] if black else row["black"]}


@in_one_snapshot
def graph_points(
    ledger: OpenLedger, person: Person, pool: str | None = None, *, first: int | None = None, offset: int = 0
) -> list[GraphPoint]:
    """Return a player's rating after each rated game or its period, oldest first, with the day from which it counts.

    At most *first* points are returned; *offset* older ones are left out. Published lists are those of ``games``.
    """
    rated_by = ledger.pool(pool)
    states = ledger.states(rated_by)
    last_game_row(ledger, person, rated_by)  # only to refuse a player without games
    arguments = (rated_by.pool, person.player, offset, row_limit(first))
    rows = queries.fetch_dicts(ledger.views.connection, queries.GRAPH, arguments)
    points: list[tuple[Row, PlayerState]] = [(row, states.after_game(row)) for row in rows]
    corrected = marks.corrections_by_rated_game(ledger, rated_by, person.player)
    lists = marks.outdated_lists(ledger, rated_by, person.player)
    return [
        GraphPoint(
            n=row["n"],
            ended_at=row["ended_at"],
            in_force=in_force_from(row["rated_ms"]),
            rating=state.rating,
            result=RESULT[row["half_points"]],
            scheme=state.era.scheme.name,
            corrected=corrected.get(row["n"], []),
            published=marks.outdated_list(lists.get(row["n"])),
        )
        for row, state in points
    ]
