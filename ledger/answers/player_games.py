"""A player's games and graph, as plain dictionaries: ratings around each game, and what marks it.

Every number comes from the views. Nothing is written or formatted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ledger.answers import marks
from ledger.answers.moments import of_one_moment
from ledger.answers.wording import RESULT, day, names, rows_up_to, shown
from ledger.book.roster import Roster
from ledger.book.tables import RATING_ORDER
from ledger.book.timeline import Pool
from ledger.errors import UnknownNameError
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import OPEN
from ledger.ledger import Ledger
from ledger.players.people import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates

Row = dict[str, Any]
_EVERY = -1  # rows, as SQLite's LIMIT has it


@attrs.frozen
class Occasion:
    """When and where games were played; None for what does not matter.

    Attributes:
        tournament: its name, whole.
        round: a round; round 3 has the games of its boards, 3.1 and 3.2.
        on: the day, month or year in which they ended, or a moment.
    """

    tournament: str | None = None
    round: str | None = None
    on: str | None = None

    @property
    def span(self) -> tuple[int, int]:
        """First and last millisecond of the ends."""
        return (instant_ms(self.on), instant_end_ms(self.on)) if self.on else (-MAX_WHOLE, MAX_WHOLE)

    def has(self, row: Mapping[str, Any]) -> bool:
        """Whether a game with ``tournament``, ``round`` and ``ended_at`` is one of them."""
        first, last = self.span
        of_round = self.round is None or f"{row['round']}.".startswith(f"{self.round}.")
        return (
            self.tournament in {None, row["tournament"]} and of_round and first <= instant_ms(row["ended_at"]) <= last
        )


@of_one_moment
def games(
    ledger: Ledger,
    person: Person,
    pool: str | None = None,
    *,
    last: int | None = 50,
    everything: bool = False,
    occasion: Occasion | None = None,
) -> list[Row]:
    """A player's latest rated games, newest first, with both sides' ratings before and after each, and now.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        pool: name of the pool; the first one by default.
        last: how many; 0 or None: all.
        everything: games that do not count as well, each in its place in rating order.
        occasion: only games played then and there.

    Returns:
        ``rating_before`` was in force before the game; ``rating`` is that after the game or, where the scheme rates by
        period or event, after the period or event that the game was rated with, in force from ``in_force`` on (None
        while that has not closed). ``rating_now`` is that of ``players.summary``. A rating is None where the scheme
        listed no such player. ``corrected`` are the proposals that corrected the game. ``published_list`` is the
        last list that was published after the game and before the next, where it told another number of the player
        (``published_rating``) than it would now (``revised_rating``). With *everything* there are
        ``reason``, why a game does not count, ``voided_by``, the proposal that voided it, and ``why``, its reason;
        ``n``, the ratings before and after and ``in_force`` of a game that does not count are None.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list; with *everything*,
            nor any other game.
    """
    rated_by = ledger.pool(pool)
    states = PlayerStates(ledger.views.connection, rated_by)
    last = rows_up_to(last)
    most = last if occasion is None else _EVERY
    left_out = marks.not_counted(ledger, rated_by, person.player, most) if everything else []
    if not left_out:
        last_row(ledger, person, rated_by)
    arguments = (rated_by.pool, person.player, most)
    rows = list(queries.dictionaries(ledger.views.connection, queries.GAMES_OF, arguments))
    opposites = queries.dictionaries(ledger.views.connection, queries.OPPOSITE_SIDES, arguments)
    found = [
        (_place(row), _rated(states, row, {**opposite, "rated_ms": row["rated_ms"]}))
        for row, opposite in zip(rows, opposites, strict=True)
        if occasion is None or occasion.has(row)
    ]
    found += [(_place(row), _left_out(row, person.player)) for row in left_out if occasion is None or occasion.has(row)]
    newest = [row for _, row in sorted(found, key=lambda placed: placed[0], reverse=True)[:last]]
    _fill(ledger, states, rated_by, person.player, newest)
    if not everything:
        for row in newest:
            for name in ("reason", "voided_by", "why"):
                del row[name]
    return newest


def _fill(ledger: Ledger, states: PlayerStates, pool: Pool, player: int, rows: list[Row]) -> None:
    """Put names, present ratings and marks into the rows of a player's games."""
    corrected = marks.corrected_games(ledger.views.connection, [row["game"] for row in rows])
    lists = marks.published_after(ledger, pool, player)
    called, today = names(ledger, {row["opponent"] for row in rows}), ledger.now_ms()
    now = {number: states.now(number, today).in_force for number in (player, *called)}
    for row in rows:
        opponent = row["opponent"]
        row |= {"opponent": called[opponent], "opponent_player": opponent}
        row |= {"opponent_rating_now": now[opponent], "rating_now": now[player]}
        row |= {"corrected": corrected.get(row["game"], []), **marks.published(lists.get(row["n"]))}


def _place(row: Row) -> tuple[Any, ...]:
    """The place of a game in rating order."""
    return tuple(row[name] for name in RATING_ORDER)


def _game(row: Row, ratings: Row, **further: Any) -> Row:
    """The columns of a game, in their order; those that are not known yet are None."""
    return {
        "n": row.get("n"),
        "game": row["key"],
        "entry": row["position"],
        "ended_at": row["ended_at"],
        "colour": "black" if row["colour"] else "white",
        "result": RESULT.get(row["half_points"]),
        "termination": row["termination"],
        **dict.fromkeys(("rating_before", "rating", "rating_now", "opponent", "opponent_player")),
        **dict.fromkeys(("opponent_rating_before", "opponent_rating", "opponent_rating_now", "in_force")),
        "tournament": row["tournament"],
        "round": row["round"],
        "corrected": [],
        **marks.published(None),
        **further,
        **ratings,
    }


def _rated(states: PlayerStates, row: Row, opposite_row: Row) -> Row:
    ratings = {
        "rating_before": states.rating_before_game(row),
        "rating": states.after_game(row).rating,
        "opponent": row["opponent"],
        "opponent_rating_before": states.rating_before_game(opposite_row),
        "opponent_rating": states.after_game(opposite_row).rating,
        "in_force": in_force_from(row["rated_ms"]),
    }
    return _game(row, ratings, reason=None, voided_by=None, why=None)


def _left_out(row: Row, player: int) -> Row:
    """A game that does not count, from its row in the book."""
    black = row["white"] != player
    half_points = row["half_points"]
    if black and half_points is not None:
        half_points = 2 - half_points
    side = {**row, "colour": int(black), "half_points": half_points}
    opponent = {"opponent": row["white"] if black else row["black"]}
    return _game(side, opponent, reason=row["reason"], voided_by=row["voided_by"], why=row["why"])


@of_one_moment
def graph(ledger: Ledger, person: Person, pool: str | None = None) -> list[Row]:
    """A player's rating after each rated game or its period, oldest first, and since when each was in force.

    A rating is None where the scheme listed no such player, ``in_force`` where the period has not closed. ``corrected``
    are the proposals that corrected the game; the published list and both its numbers are those of ``games``.
    """
    rated_by = ledger.pool(pool)
    states = PlayerStates(ledger.views.connection, rated_by)
    last_row(ledger, person, rated_by)
    rows = queries.dictionaries(ledger.views.connection, queries.GRAPH, (rated_by.pool, person.player))
    points: list[tuple[Row, PlayerState]] = [(row, states.after_game(row)) for row in rows]
    corrected = marks.corrected_sides(ledger.views.connection, rated_by, person.player)
    lists = marks.published_after(ledger, rated_by, person.player)
    return [
        {
            "n": row["n"],
            "ended": day(row["ended_ms"]),
            "in_force": in_force_from(row["rated_ms"]),
            "rating": state.rating,
            "result": RESULT[row["half_points"]],
            "scheme": state.era.scheme.name,
            "corrected": corrected.get(row["n"], []),
            **marks.published(lists.get(row["n"])),
        }
        for row, state in points
    ]


@of_one_moment
def last_row(ledger: Ledger, person: Person, pool: Pool) -> dict[str, Any] | None:
    """The row of a player's last rated game; None for who came with the rating of a list and has none yet."""
    row = queries.first_row(ledger.views.connection, queries.LAST_ROW, (pool.pool, person.player))
    if row is None and not Roster(ledger.views.connection).seeds(pool.pool, person.player):
        raise UnknownNameError("rated game of", shown(person), f"pool {pool.name!r} has none")
    return row


def in_force_from(rated_ms: int | None) -> str | None:
    """The day on which a value comes into force; None where nothing has closed its period yet."""
    return None if rated_ms is None or rated_ms == OPEN else day(rated_ms)
