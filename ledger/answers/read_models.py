"""Read models and players' rows as several answers use them: presence, a player's last row, state after a game."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from ledger.answers.asking import RESULT, display_name, in_force_from, in_one_snapshot, names
from ledger.book.guests import seed_of
from ledger.book.timeline import Pool
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries, read_models, views_file
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.projectors.history import HISTORY

Row = dict[str, Any]


@in_one_snapshot
def require_read_model(ledger: OpenLedger, projector: DeclaredProjector) -> None:
    """Refuse to answer if the ledger has no up-to-date table of a read model by this version of the program.

    Raises:
        UnknownNameError: naming the read models of the ledger.
        ProjectionError: the table is stale.
    """
    # First: a stale table is not kept either, and has another remedy.
    read_models.refuse_stale_table(ledger.views.connection, projector.name, ledger.views.installed.broken)
    if not has_read_model(ledger, projector):
        if projector.name in ledger.views.installed.broken:
            raise ledger.views.installed.broken[projector.name]
        kept = sorted(made.name for made in ledger.views.kept())
        hint = f"it keeps these: {kept}; 'policy set DB read-models {projector.name}=true' keeps it"
        raise UnknownNameError("read model", projector.name, hint)


@in_one_snapshot
def has_read_model(ledger: OpenLedger, projector: DeclaredProjector) -> bool:
    """Return whether the ledger has an up-to-date table of a read model by this version of the program."""
    connection = ledger.views.connection
    is_there = views_file.stored_projectors(connection).get(projector.name) == projector.identity
    return is_there and projector.name not in read_models.stale_tables(connection)


@in_one_snapshot
def count_rated_games(ledger: OpenLedger, pool: Pool, person: Person, at: str | None) -> int:
    """Return the number of a player's rated games, or of those in force *at* an instant.

    Without an instant those of a period or event that is running count, too: a streak and a loss on time need no
    rating to have happened.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    if at is not None:
        return count_games_in_force(ledger, pool, person, instant_end_ms(at))
    row = last_game_row(ledger, person, pool)
    return 0 if row is None else int(row["n"])


@in_one_snapshot
def count_games_in_force(ledger: OpenLedger, pool: Pool, person: Person, ms: int) -> int:
    """Return the number of a player's rated games in force at an instant in milliseconds since 1970.

    If the scheme rates by period or event, a game is in force when its period or event is over.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    last_game_row(ledger, person, pool)  # only to refuse a player without games
    row = queries.fetch_first(ledger.views.connection, queries.ROW_AT, (pool.pool, person.player, ms))
    return 0 if row is None else int(row["n"])


@in_one_snapshot
def read_model_state(ledger: OpenLedger, pool: Pool, projector: DeclaredProjector, player: int, n: int) -> Row:
    """Return a read model's state of a player after the n-th game, by column: its last row up to that game."""
    query = f'SELECT * FROM "{projector.name}" WHERE pool = ? AND player = ? AND n <= ? ORDER BY n DESC LIMIT 1'
    row = queries.fetch_first(ledger.views.connection, query, (pool.pool, player, n))
    if row is None:
        # Only NaN differs from itself: it means a missing value.
        return {kept.name: None if kept.start != kept.start else int(kept.start) for kept in projector.state}
    return {kept.name: row[kept.name] for kept in projector.state}


@in_one_snapshot
def last_game_row(ledger: OpenLedger, person: Person, pool: Pool) -> dict[str, Any] | None:
    """Return the history row of a player's last rated game; None for a player with the rating of a list and no game.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    states = ledger.states(pool)
    row = states.last_row(person.player)
    if row is None and not states.seeds(person.player):
        raise UnknownNameError("rated game of", display_name(person), f"pool {pool.name!r} has none")
    return row


@in_one_snapshot
def game_row(ledger: OpenLedger, position: int) -> Row:
    """Return the current row of the game that was recorded at a position of the journal."""
    row = queries.fetch_first(ledger.views.connection, queries.GAME, (position,))
    assert row is not None
    return row


@in_one_snapshot
def rated_game_row(ledger: OpenLedger, pool: Pool, player: int, n: int) -> Row:
    """Return the history row of a player's n-th rated game, from 1, which must exist."""
    row = queries.fetch_first(ledger.views.connection, queries.ROW, (pool.pool, player, n))
    assert row is not None
    return row


@attrs.frozen(kw_only=True, slots=False)
class NumberedGame:
    """A rated game of a player, with its number, opponent and ratings; all null if there is none."""

    n: int | None = documented("the player's n-th rated game in the pool; 0: before the first", minimum=0)
    game: str | None = documented("key of the game")
    ended_at: str | None = documented("when it ended, as precisely as it is known")
    in_force: str | None = documented("day from which the rating after it counts; null while its period is open")
    colour: Literal["white", "black"] | None = documented("the player's colour")
    result: Literal["win", "draw", "loss"] | None = documented("for the player")
    rating_before: float | None = documented("the player's rating before it or its period, points; null: none to show")
    rating: float | None = documented("the player's rating after it or its period, points")
    opponent: str | None = documented("what the opponent is called")
    opponent_player: int | None = documented("the opponent's number in the ledger", minimum=1)
    opponent_rating_before: float | None = documented("the opponent's rating before it, points")


NO_GAME = NumberedGame(**dict.fromkeys(field.name for field in attrs.fields(NumberedGame)))


class PlayerGameReader:
    """A reader of a player's rated games in a pool by their numbers."""

    def __init__(self, ledger: OpenLedger, pool: Pool, player: int) -> None:
        self._ledger = ledger
        self._pool = pool
        self._player = player
        self._states = ledger.states(pool)

    def nth_game(self, n: int) -> NumberedGame:
        """Return the player's n-th rated game; a game of None for 0."""
        if n == 0:
            return NO_GAME
        own = rated_game_row(self._ledger, self._pool, self._player, n)
        game = game_row(self._ledger, own["game"])
        if own["opponent_n"]:
            opposite = rated_game_row(self._ledger, self._pool, own["opponent"], own["opponent_n"])
            opponent_before = self._states.rating_before_game(opposite)
        else:  # a guest
            opponent_before = seed_of(game["white_guest"] or game["black_guest"]).rating
        return NumberedGame(
            n=n,
            game=game["key"],
            ended_at=game["ended_at"],
            in_force=in_force_from(own["rated_ms"]),
            colour="black" if own["colour"] else "white",
            result=RESULT[own["half_points"]],
            rating_before=self._states.rating_to_change(own),
            rating=self._states.after_game(own).rating,
            opponent=names(self._ledger, {own["opponent"]})[own["opponent"]],
            opponent_player=own["opponent"],
            opponent_rating_before=opponent_before,
        )

    def scheme_of(self, n: int) -> str:
        """Return the name of the scheme that rated the n-th game."""
        rated_ms = rated_game_row(self._ledger, self._pool, self._player, n)["rated_ms"]
        return self._pool.eras[self._pool.era_at(rated_ms)].scheme.name


# -- all read models -----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, slots=False)
class ReadModelRow:
    """A read model of the ledger or of a plug-in: its version, and the rows and state of its table."""

    projector: str = documented("its name, and that of its table")
    made_by: str | None = documented("the class, module and name; null: it is not installed here")
    version: int | None = documented("its version; null: it is not installed here")
    row_for: str | None = documented("what has a row: each game, changes, or facts; null: it is not installed here")
    kept: bool = documented("whether the ledger keeps its table level here")
    rows: int | None = documented("how many rows the table has; null: there is none", minimum=0)
    position: int | None = documented("the last entry that its rows follow from; null: there is no table", minimum=0)
    stale: str | None = documented("why the table is not level, or not kept though it is installed; null: it is level")


@in_one_snapshot
def read_model_rows(ledger: OpenLedger) -> list[ReadModelRow]:
    """Return the history, the built-in read models, those of plug-ins, and tables of plug-ins not installed here."""
    connection, installed = ledger.views.connection, ledger.views.installed
    stored = {HISTORY.name: HISTORY.identity, **views_file.stored_projectors(connection)}
    here: dict[str, ReadModel] = {made.name: made for made in (HISTORY, *installed.all)}
    kept = {HISTORY.name, *(made.name for made in ledger.views.kept())}
    names = dict.fromkeys([*here, *sorted({*stored, *read_models.stale_tables(connection), *installed.broken})])
    return [_row(ledger, name, here.get(name), stored.get(name), is_kept=name in kept) for name in names]


def _row(ledger: OpenLedger, name: str, made: ReadModel | None, identity: str | None, *, is_kept: bool) -> ReadModelRow:
    connection, installed = ledger.views.connection, ledger.views.installed
    state = read_models.table_state(connection, name, installed.broken)
    refusal = state.refusal or installed.broken.get(name)
    why = None if refusal is None else str(refusal)
    if why is None and made is not None and not is_kept:
        why = f"the ledger does not keep it; 'policy set DB read-models {name}=true' keeps it"
        if identity is not None and identity != made.identity:
            version = read_models.version_in_identity(identity)
            why = f"its table was made by version {version} of it, here is {made.version}"
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
