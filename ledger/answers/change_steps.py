"""The steps from what was known of a player then to what is known now, and what a player stands at in each.

What a step did to a rating is told in ``rating_changes``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.facts.changes import Verb
from ledger.facts.codec import decode
from ledger.facts.events import (
    ClockAccepted,
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    ListPublished,
    PersonErased,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    TokenIssued,
    TokenRevoked,
)
from ledger.journal import Journal
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates
from ledger.schemes.scheme import Rhythm, as_it_stands

if TYPE_CHECKING:
    import sqlite3

GAMES, CORRECTION, FACT = "games", "correction", "other fact"
ADDED = "something was added to games"
MOST_FACTS = 50  # other facts than games and corrections that are asked one by one; more are taken with the games
_GAMES = (b',"kind":"game-recorded/1"', b',"kind":"game-supplemented/1"')
_MOVES_NOBODY = (
    ClockAccepted, CorrectionProposed, ListPublished, PersonErased, PlayerRegistered, PlayerRenamed, PolicySet,
    TokenIssued, TokenRevoked,
)  # fmt: skip

Place = tuple[int, str, str]


class Player(NamedTuple):
    """Whose rating it is: the player number, the pool, and what day it is."""

    number: int
    pool: str
    today_ms: int


class Game(NamedTuple):
    """A rated game from the player's side."""

    position: int
    key: str
    opponent: int
    colour: int
    half_points: int
    ended_ms: int


@attrs.frozen
class Batch:
    """A player's games that were rated together, and the rating before and after them."""

    games: tuple[Game, ...]
    before: Fraction
    after: Fraction

    @property
    def points(self) -> Fraction:
        """What they brought."""
        return self.after - self.before


@attrs.define
class Standing:
    """What a player stands at.

    Attributes:
        rating: in force; None where the scheme shows none.
        held: the rating that the scheme goes on from; None for who is unknown.
        batches: by place in rating order.
    """

    rating: float | None
    held: Fraction | None
    batches: dict[Place, Batch]

    @property
    def points(self) -> Fraction:
        """What all games together brought."""
        return sum((batch.points for batch in self.batches.values()), Fraction(0))

    @property
    def games(self) -> dict[str, Game]:
        """The games by key."""
        return {game.key: game for batch in self.batches.values() for game in batch.games}


class Step(NamedTuple):
    """Entries up to one, and what they are; of games the cause says whether something was added to some later."""

    until: int
    kind: str
    cause: str
    proposal: int | None


def standing(connection: sqlite3.Connection, player: Player, at_ms: int | None = None) -> Standing:
    """What a player stands at in these views: now, or at an instant.

    Args:
        connection: the views.
        player: whose rating.
        at_ms: the instant, milliseconds since 1970.
    """
    pool = next((pool for pool in stored_pools(connection) if pool.name == player.pool), None)
    known = connection.execute("SELECT 1 FROM players WHERE player = ?", (player.number,)).fetchone()
    if pool is None or known is None:
        return Standing(None, None, {})
    states = PlayerStates(connection, pool)
    state = states.now(player.number, player.today_ms) if at_ms is None else states.at(player.number, at_ms)
    batches = {
        place: batch for place, batch in _batches(connection, pool, player.number) if at_ms is None or place[0] <= at_ms
    }
    held = Fraction(state.state[0]) if isfinite(state.state[0]) else None
    return Standing(state.in_force, held, batches)


def before_later_games(connection: sqlite3.Connection, player: Player, position: int) -> Standing | None:
    """What a player stood at before games came in that all lie behind those known then; None where views must tell.

    Args:
        connection: views in which nothing but games is newer.
        player: whose rating.
        position: how many entries were known.
    """
    pool = next(pool for pool in stored_pools(connection) if pool.name == player.pool)
    is_plain = pool.by_game and len(pool.eras) == 1 and pool.eras[0].scheme.at is as_it_stands
    if not is_plain or queries.first_row(connection, queries.ANY_LATE, (pool.pool, position)) is not None:
        return None
    batches = {
        place: batch
        for place, batch in _batches(connection, pool, player.number)
        if batch.games[0].position <= position
    }
    if not batches:
        return None
    row = queries.first_row(connection, queries.ROW, (pool.pool, player.number, len(batches)))
    assert row is not None
    state = PlayerStates(connection, pool).after_game(row)
    return Standing(state.in_force, Fraction(state.state[0]), batches) if isfinite(state.state[0]) else None


def _batches(connection: sqlite3.Connection, pool: Pool, player: int) -> Iterator[tuple[Place, Batch]]:
    def place(row: dict[str, Any]) -> Place:
        by_game = pool.eras[pool.era_at(row["rated_ms"])].scheme.rhythm is Rhythm.GAME
        return row["rated_ms"], row["batch"], row["key"] if by_game else ""

    rows = queries.dictionaries(connection, queries.PLACED_SIDES, (pool.pool, player))
    for where, grouped in groupby(rows, place):
        together = list(grouped)
        games = tuple(Game(*(row[name] for name in Game._fields)) for row in together)
        yield where, Batch(games, _finite(together[0]["rating_before"]), _finite(together[-1]["rating"]))


def _finite(rating: float | None) -> Fraction:
    return Fraction(rating) if rating is not None and isfinite(rating) else Fraction(0)


def steps(journal: Journal, after: int, until: int) -> Iterator[Step]:
    """The entries after one up to another: each correction by itself, each other fact, the games between them together.

    Args:
        journal: where they stand.
        after: position of the last entry that is known.
        until: position of the last one that is asked about.
    """
    position, games, facts, added = after, False, 0, ""
    skipped = after  # up to here entries belong to a decision
    for body in (body for bodies in journal.read(after, until) for body in bodies):
        position += 1
        if position <= skipped:
            continue
        if any(mark in body for mark in _GAMES):
            games = True
            if _GAMES[1] in body:
                added = ADDED
            continue
        event = decode(body).event
        if isinstance(event, CorrectionDecided):
            if event.decision is not Decision.APPROVED:
                continue
            if games:
                yield Step(position - 1, GAMES, added, None)
            skipped = position + _added(journal, event.proposal)
            yield Step(skipped, CORRECTION, "", event.proposal)
            games, added = False, ""
        elif not isinstance(event, _MOVES_NOBODY):
            facts += 1
            if facts > MOST_FACTS:
                games, added = True, ADDED
                continue
            if games:
                yield Step(position - 1, GAMES, added, None)
            yield Step(position, FACT, event.key, None)
            games, added = False, ""
    if games:
        yield Step(until, GAMES, added, None)


def _added(journal: Journal, proposal: int) -> int:
    """How many facts the approval of a proposal recorded."""
    parts, found, part = 1, 0, 1
    while part <= parts:
        key = f"proposal:{proposal}@{part}"
        event = decode(journal.find([key])[key].body).event
        assert isinstance(event, CorrectionProposed)
        parts, part = event.parts, part + 1
        found += sum(change.do is Verb.ADD for change in event.changes)
    return found
