"""Parts shared by answers from rows: a player's last row, a read model's state after a game, a game as they show it.

Numbers come from the views; names are put in here, and nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from ledger.answers.asking import RESULT, display_name, in_force_from, names, of_one_moment
from ledger.book.timeline import Pool
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import keeping, queries, views_file
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.projectors.history import HISTORY

if TYPE_CHECKING:
    import sqlite3

Row = dict[str, Any]


@of_one_moment
def require_read_model(ledger: OpenLedger, projector: DeclaredProjector) -> None:
    """Refuse to answer where the ledger has no table of a read model as this program makes it.

    Raises:
        UnknownNameError: naming those that it keeps.
        ProjectionError: the table is not level.
    """
    # Asked first: a table that was left behind is not kept either, and what helps there is another thing.
    keeping.refuse_left_behind(ledger.views.connection, projector.name, ledger.views.at_hand.broken)
    if not has_read_model(ledger, projector):
        if projector.name in ledger.views.at_hand.broken:
            raise ledger.views.at_hand.broken[projector.name]
        kept = sorted(made.name for made in ledger.views.kept())
        hint = f"it keeps these: {kept}; 'policy set DB read-models {projector.name}=true' keeps it"
        raise UnknownNameError("read model", projector.name, hint)


@of_one_moment
def has_read_model(ledger: OpenLedger, projector: DeclaredProjector) -> bool:
    """Return whether the ledger has the up-to-date table of a read model as this program makes it."""
    connection = ledger.views.connection
    is_there = views_file.stored_projectors(connection).get(projector.name) == projector.identity
    return is_there and projector.name not in keeping.left_behind(connection)


@of_one_moment
def count_rated_games(ledger: OpenLedger, pool: Pool, person: Person, at: str | None) -> int:
    """Return how many rated games a player has; at an instant, how many were in force then.

    Without an instant those of a period or event that is running count, too: a streak and a loss on time need no
    rating to have happened.

    Args:
        ledger: a ledger whose views are up to date.
        pool: the pool.
        person: the player.
        at: the end of this day, month or year.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    if at is not None:
        return count_games_in_force(ledger, pool, person, instant_end_ms(at))
    row = last_game_row(ledger, person, pool)
    return 0 if row is None else int(row["n"])


@of_one_moment
def count_games_in_force(ledger: OpenLedger, pool: Pool, person: Person, ms: int) -> int:
    """Return how many rated games of a player were in force at an instant, milliseconds since 1970.

    Where the scheme rates by period or event, a game is in force when its period or event is over.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    # Only to refuse a player who has neither a game in the pool nor the rating of a list.
    last_game_row(ledger, person, pool)
    row = queries.first_row(ledger.views.connection, queries.ROW_AT, (pool.pool, person.player, ms))
    return 0 if row is None else int(row["n"])


@of_one_moment
def read_model_state(ledger: OpenLedger, pool: Pool, projector: DeclaredProjector, player: int, n: int) -> Row:
    """Return the state of a read model by player after the player's n-th game: its last row up to it, by column."""
    query = f'SELECT * FROM "{projector.name}" WHERE pool = ? AND player = ? AND n <= ? ORDER BY n DESC LIMIT 1'
    row = queries.first_row(ledger.views.connection, query, (pool.pool, player, n))
    if row is None:
        # Only NaN differs from itself: it means a missing value.
        return {kept.name: None if kept.start != kept.start else int(kept.start) for kept in projector.state}
    return {kept.name: row[kept.name] for kept in projector.state}


@of_one_moment
def last_game_row(ledger: OpenLedger, person: Person, pool: Pool) -> dict[str, Any] | None:
    """Return the row of a player's last rated game; None for one with the rating of a list and no game yet."""
    states = ledger.states(pool)
    row = states.last_row(person.player)
    if row is None and not states.seeds(person.player):
        raise UnknownNameError("rated game of", display_name(person), f"pool {pool.name!r} has none")
    return row


@attrs.frozen(kw_only=True, slots=False)
class NumberedGame:
    """A rated game of a player as answers show it; all null if there is none."""

    n: int | None = documented("the player's n-th rated game in the pool; 0: before the first", minimum=0)
    game: str | None = documented("key of the game")
    ended_at: str | None = documented("when it ended, as precisely as it is known")
    in_force: str | None = documented("day from which the rating after it counts; null while its period is open")
    colour: Literal["white", "black"] | None = documented("the player's colour")
    result: Literal["win", "draw", "loss"] | None = documented("for the player")
    rating_before: float | None = documented("the player's rating before it, points; null: none to show")
    rating: float | None = documented("the player's rating after it or its period, points")
    opponent: str | None = documented("what the opponent is called")
    opponent_player: int | None = documented("the opponent's number in the ledger", minimum=1)
    opponent_rating_before: float | None = documented("the opponent's rating before it, points")


NO_GAME = NumberedGame(**dict.fromkeys(field.name for field in attrs.fields(NumberedGame)))


class PlayerGameReader:
    """A player's rated games, each as answers show it."""

    def __init__(self, ledger: OpenLedger, pool: Pool, player: int) -> None:
        self._ledger = ledger
        self._pool = pool
        self._player = player
        self._states = ledger.states(pool)

    def nth_game(self, n: int) -> NumberedGame:
        """Return the player's n-th rated game; all None for 0."""
        if n == 0:
            return NO_GAME
        own = self._row(self._player, n)
        opposite = self._row(own["opponent"], own["opponent_n"])
        game = queries.first_row(self._ledger.views.connection, queries.GAME, (own["game"],))
        assert game is not None
        return NumberedGame(
            n=n,
            game=game["key"],
            ended_at=game["ended_at"],
            in_force=in_force_from(own["rated_ms"]),
            colour="black" if own["colour"] else "white",
            result=RESULT[own["half_points"]],
            rating_before=self._states.rating_before_game(own),
            rating=self._states.after_game(own).rating,
            opponent=names(self._ledger, {own["opponent"]})[own["opponent"]],
            opponent_player=own["opponent"],
            opponent_rating_before=self._states.rating_before_game(opposite),
        )

    def era(self, n: int) -> int:
        """Return the place in the pool's timeline of the scheme that rated the n-th game."""
        return self._pool.era_at(self._row(self._player, n)["rated_ms"])

    def _row(self, player: int, n: int) -> Row:
        row = queries.first_row(self._ledger.views.connection, queries.ROW, (self._pool.pool, player, n))
        assert row is not None
        return row


# -- which there are -----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, slots=False)
class ReadModelRow:
    """A projector of the ledger or of a plug-in, and its table."""

    projector: str = documented("its name, and that of its table")
    made_by: str | None = documented("the class, module and name; null: it is not installed here")
    version: int | None = documented("its version; null: it is not installed here")
    row_for: str | None = documented("what has a row: each game, changes, or facts; null: it is not installed here")
    kept: bool = documented("whether the ledger keeps its table level here")
    rows: int | None = documented("how many rows the table has; null: there is none", minimum=0)
    position: int | None = documented("the last entry that its rows follow from; null: there is no table", minimum=0)
    stale: str | None = documented("why the table is not level, or not kept though it is installed; null: it is level")


@of_one_moment
def read_model_rows(ledger: OpenLedger) -> list[ReadModelRow]:
    """Return the history, the built-in projectors, those of plug-ins, and tables of plug-ins not installed here."""
    connection, at_hand = ledger.views.connection, ledger.views.at_hand
    stored = {HISTORY.name: HISTORY.identity, **views_file.stored_projectors(connection)}
    here: dict[str, ReadModel] = {made.name: made for made in (HISTORY, *at_hand.all)}
    kept = {HISTORY.name, *(made.name for made in ledger.views.kept())}
    names = dict.fromkeys([*here, *sorted({*stored, *keeping.left_behind(connection), *at_hand.broken})])
    return [_row(connection, name, here.get(name), stored.get(name), at_hand, is_kept=name in kept) for name in names]


def _row(
    connection: sqlite3.Connection,
    name: str,
    made: ReadModel | None,
    identity: str | None,
    at_hand: keeping.InstalledProjectors,
    *,
    is_kept: bool,
) -> ReadModelRow:
    state = keeping.table_state(connection, name, at_hand.broken)
    refusal = state.refusal or at_hand.broken.get(name)
    why = None if refusal is None else str(refusal)
    if why is None and made is not None and not is_kept:
        why = f"the ledger does not keep it; 'policy set DB read-models {name}=true' keeps it"
        if identity is not None and identity != made.identity:
            why = f"its table was made by version {keeping.version_of(identity)} of it, here is {made.version}"
    rows = None
    if identity is not None:
        (rows,) = connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()
    kind = made.rows if isinstance(made, DeclaredProjector) else "facts"
    return ReadModelRow(
        projector=name,
        made_by=None if made is None else f"{made.made.__module__}.{made.made.__qualname__}",
        version=None if made is None else made.version,
        row_for=None if made is None else kind,
        kept=is_kept,
        rows=rows,
        position=None if identity is None else state.position,
        stale=why,
    )
