"""One player's games that were rated together, with the numbers that the scheme's kernels had before and after.

The batch is rated again from the states in the views with which it began, so that an explanation has the intermediate
numbers, too. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ledger.answers.asking import in_one_snapshot
from ledger.answers.read_models import game_row, rated_game_row
from ledger.book import stored_editions
from ledger.book.timeline import Era, Pool
from ledger.book.whole_tournaments import single_game_edition
from ledger.facts.periods import DAY_MS
from ledger.handle import OpenLedger
from ledger.ratings import engine, queries
from ledger.ratings.engine import RateableGames
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.rated_games import STARTS_ON_LAST_DAY, tournament_starts
from ledger.schemes.scheme import ExplainedPlayer, OpponentGame, Rhythm, When

_SCORE = {2: 1.0, 1: 0.5, 0: 0.0}


class PlayerBatch(NamedTuple):
    """A player's games that were rated together: one game, or those of a period or event.

    Attributes:
        side: the player before and after them.
        meetings: the games, in rating order.
        when: when they were rated.
        opponents: by game, the number of the opponent.
        positions: by game, its place in the journal.
        began_ms: by game, when its tournament began, where tournaments are rated whole.
    """

    side: ExplainedPlayer
    meetings: tuple[OpponentGame, ...]
    when: When
    opponents: tuple[int, ...]
    positions: tuple[int, ...] = ()
    began_ms: tuple[int, ...] = ()


@in_one_snapshot
def player_batch(ledger: OpenLedger, pool: Pool, side_row: dict[str, Any]) -> PlayerBatch:
    """Return the games that were rated together with a player's game.

    Args:
        ledger: the ledger.
        pool: the pool of the game.
        side_row: the player's row of the history, with ``rated_ms`` and ``batch`` of the game.
    """
    number, states = pool.era_at(side_row["rated_ms"]), ledger.states(pool)
    if pool.eras[number].scheme.rhythm is Rhythm.GAME:
        return _of_game(ledger, states, side_row)
    return _of_batch(ledger, states, number, side_row)


def rates_whole_tournaments(era: Era) -> bool:
    """Return whether tournaments are rated whole, from the ratings in force when they began."""
    return era.scheme.in_force is not None and era.scheme.calendar(era.numbers).by_event


def _of_game(ledger: OpenLedger, states: PlayerStates, side_row: dict[str, Any]) -> PlayerBatch:
    era = states.pool.era_at(side_row["rated_ms"])
    player_of = states.pool.eras[era].scheme.player_of
    if side_row["opponent_n"]:
        other = states.into_game(rated_game_row(ledger, states.pool, side_row["opponent"], side_row["opponent_n"]))
    else:
        game = game_row(ledger, side_row["game"])
        other = states.of_guest(game["white_guest"] or game["black_guest"], era, side_row["ended_ms"])
    side = ExplainedPlayer(player_of(states.into_game(side_row)), player_of(states.era_state(side_row).state))
    meeting = OpponentGame(player_of(other), _SCORE[side_row["half_points"]], side_row["colour"])
    return PlayerBatch(
        side, (meeting,), When(0.0, side_row["ended_ms"] / DAY_MS), (side_row["opponent"],), (side_row["game"],)
    )


def _of_batch(ledger: OpenLedger, states: PlayerStates, number: int, side_row: dict[str, Any]) -> PlayerBatch:
    pool = states.pool
    era, place = pool.eras[number], (side_row["rated_ms"], side_row["batch"])
    games = list(queries.fetch_dicts(ledger.views.connection, queries.BATCH, (pool.pool, *place)))
    last_ms = games[-1]["ended_ms"]
    # by player, the end of the first game in the batch: a newcomer has declared by then
    first: dict[_InBatch, int] = {}
    for game in games:
        for each in _both(game):
            first.setdefault(each, game["ended_ms"])
    player = (side_row["player"], None)
    # opponents count as before the batch: the player's own games suffice
    if len(era.scheme.passes) <= 1:
        games = [game for game in games if player in _both(game)]
        concerned = {each for game in games for each in _both(game)}
        first = {each: ms for each, ms in first.items() if each in concerned}
    roster = {each: i for i, each in enumerate(first)}
    players = [
        era.scheme.player_of(
            states.into_batch(who, *place, number, ms) if guest is None else states.of_guest(guest, number, ms)
        )
        for (who, guest), ms in first.items()
    ]
    when = pool.when(number, side_row["rated_ms"], last_ms)
    began: Sequence[float] = ()
    if rates_whole_tournaments(era):  # days since 1970
        ends = [game["ended_ms"] for game in games]
        began_ms = [STARTS_ON_LAST_DAY if game["began_ms"] is None else game["began_ms"] for game in games]
        began = tournament_starts(ends, began_ms, [game["tournament"] for game in games], [0] * len(games))
    rateable = RateableGames(
        [roster[_both(game)[0]] for game in games],
        [roster[_both(game)[1]] for game in games],
        [game["score"] for game in games],
        [game["ended_ms"] / DAY_MS for game in games],
        [0, len(games)],
        [when.period],
        [when.day],
        began,
    )
    batch = _meetings(era, rateable, players, [who for who, _ in first], roster[player], when)
    if era.scheme.fit is not None:
        # the batch by itself is no fit of all games: the row has the player after it
        after = era.scheme.player_of(states.era_state(side_row).state)
        batch = batch._replace(side=batch.side._replace(after=after))
    own = [game for game in games if player in _both(game)]
    starts = _starts(ledger, pool, own) if began else ()
    return batch._replace(positions=tuple(game["position"] for game in own), began_ms=starts)


_InBatch = tuple[int, str | None]  # a player, and the rating that counts of a guest


def _both(game: Mapping[str, Any]) -> tuple[_InBatch, _InBatch]:
    """Return White and Black of a game."""
    return (game["white"], game["white_guest"]), (game["black"], game["black_guest"])


def _starts(ledger: OpenLedger, pool: Pool, own: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Return the start of the tournament of each of a player's games; the games of a league are rated by period."""
    played = sorted({game["tournament"] for game in own if game["tournament"]})
    editions = {name: stored_editions.editions_of_tournament(ledger.views.connection, pool, name) for name in played}
    ends = [(editions.get(game["tournament"], {}), game["ended_ms"]) for game in own]
    return tuple(by_end.get(ms, single_game_edition(ms)).first_ms for by_end, ms in ends)


def _meetings(
    era: Era, games: RateableGames, players: list[Any], numbers: list[int], player: int, when: When
) -> PlayerBatch:
    sides = engine.rate_one_batch(era.scheme, era.numbers, games, players)
    begins = games.began or [when.day] * len(games.white)
    met = [
        (numbers[other], OpponentGame(sides[other].before, score, colour, sides[other].work, began))
        for white, black, points, began in zip(games.white, games.black, games.score, begins, strict=True)
        for me, other, score, colour in ((white, black, points, 0), (black, white, 1.0 - points, 1))
        if me == player
    ]
    opponents, meetings = zip(*met, strict=True)
    return PlayerBatch(sides[player], meetings, when, opponents)
