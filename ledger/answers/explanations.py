"""The explanation of a game's effect on a rating: the formula of the scheme that rated it, with this player's numbers.

A game that was rated together with others is shown with all of the player's games of that batch, from the states
that the batch began with. Every number comes from the views or the scheme's own kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import attrs

from ledger.answers import marks
from ledger.answers.asking import RESULT, day, display_name, in_one_snapshot, list_day, names
from ledger.answers.calculations import FormulaTerm, formula_terms
from ledger.answers.marks import GameMarks
from ledger.answers.player_batches import PlayerBatch, player_batch, rates_whole_tournaments
from ledger.answers.starting_ratings import StartFromPool, start_from_pool
from ledger.book.timeline import Era, Pool
from ledger.errors import UnknownNameError
from ledger.facts.json_schemas import documented, flattened
from ledger.facts.words import Carry
from ledger.handle import OpenLedger
from ledger.journal.game_references import find_game
from ledger.players.persons import Person
from ledger.publishing.publications import Publications, first_list_counting
from ledger.ratings import queries
from ledger.schemes.scheme import OpponentGame, Rhythm

RATED_WITH: Mapping[Rhythm, Literal["this game", "its period", "its event"]] = {
    Rhythm.GAME: "this game",
    Rhythm.PERIOD: "its period",
    Rhythm.EVENT: "its event",
}


@attrs.frozen(kw_only=True, slots=False)
class CarriedFrom:
    """The rating by an earlier scheme that a player's first games under this one began from."""

    scheme: str = documented("the earlier scheme")
    rating: float = documented("the rating by it, points")
    carry: Carry = documented("what the change of scheme let players bring along")


@attrs.frozen(kw_only=True, slots=False)
class TournamentStart:
    """The start of a tournament that is rated as a whole: its day, and the player's rating then."""

    own_rating: float = documented("the player's rating when the tournament, or the period of a league, began, points")
    tournament_began: str = documented("the day on which it began")


@attrs.frozen(kw_only=True, slots=False)
class ExplainedGame:
    """A game of a player with the numbers that the rating formula uses."""

    game: int = documented("its number among the games that were rated together, from 1", minimum=1)
    opponent: str = documented("what the opponent is called")
    rating: float = documented("the opponent's rating that the formula takes, points")
    colour: Literal["white", "black"] = documented("the player's colour")
    result: Literal["win", "draw", "loss"] = documented("for the player")
    within: TournamentStart | None = flattened()


@attrs.frozen(kw_only=True, slots=False)
class GameExplanation:
    """The explanation of a game's effect on a player's rating: the formula with this game's numbers, and its source."""

    game: str = documented("key of the game")
    player: str = documented("what the player is called")
    opponent: str = documented("what the opponent is called")
    result: Literal["win", "draw", "loss"] = documented("for the player")
    pool: str = documented("the pool")
    scheme: str = documented("the scheme that rated it")
    rated_with: Literal["this game", "its period", "its event"] = documented("what was rated together")
    games: int = documented("how many games of the player that was", minimum=1)
    before: float | None = documented("the rating before, points; null: the scheme lists no such player")
    after: float | None = documented("the rating after, points; null: the same")
    change: float | None = documented("from the one to the other, points")
    list_: str | None = documented(
        "the list for which it counts, as 'calculation' takes it; null: no period closed yet"
    )
    carried_from: CarriedFrom | None = documented("the rating that these games began from, by an earlier scheme")
    began_with: StartFromPool | None = documented(
        "the rating in another pool that the player began with in these games"
    )
    marks: GameMarks = flattened()
    rule: str = documented("the formula")
    terms: list[FormulaTerm] = documented("its terms")
    unrounded: float = documented("what the formula gives, points")
    rounding: str = documented("how it is rounded")
    source: str = documented("who says so")
    meetings: list[ExplainedGame] = documented("the player's games that were rated together")


@in_one_snapshot
def explain(ledger: OpenLedger, person: Person, game: str) -> GameExplanation:
    """Explain the effect of a game on a player's rating, by the formula of the scheme.

    Raises:
        UnknownNameError: no such game, or it is not rated (the reason is named), or the player did not play it.
    """
    row = _counted(ledger, game)
    game = row["key"]
    pool = next(p for p in ledger.pools() if p.pool == row["pool"])
    arguments = (pool.pool, person.player, row["position"])
    side_row = queries.fetch_first(ledger.views.connection, queries.SIDE_OF_GAME, arguments)
    if side_row is None:
        if person.player in _guests(row):
            words = f"{display_name(person)} is a guest in it: only the opponent's rating changes"
            raise UnknownNameError("rating change by game", game, words)
        both = names(ledger, {row["white"], row["black"]})
        played = f"{both[row['white']]} and {both[row['black']]} played it"
        raise UnknownNameError(f"player of game {game!r} named", display_name(person), played)
    # A row of the history does not say its place in rating order, which is that of its game.
    side_row |= {"rated_ms": row["rated_ms"], "batch": row["batch"]}
    number = pool.era_at(row["rated_ms"])
    era = pool.eras[number]
    part = player_batch(ledger, pool, side_row)
    explanation = era.scheme.explained(part.side, part.meetings, part.when, era.numbers)
    listed = partial(era.scheme.listed, numbers=era.numbers)
    before = part.side.before.rating if listed(part.side.before) else None
    after = explanation.result if listed(part.side.after) else None
    opponents = names(ledger, set(part.opponents))
    return GameExplanation(
        game=game,
        player=display_name(person),
        opponent=opponents[side_row["opponent"]],
        result=RESULT[side_row["half_points"]],
        pool=pool.name,
        scheme=era.scheme.name,
        rated_with=RATED_WITH[era.scheme.rhythm],
        games=len(part.meetings),
        before=before,
        after=after,
        change=None if before is None or after is None else after - before,
        list_=_list_of(ledger, pool, row["rated_ms"]),
        carried_from=_carried_from(ledger, pool, person.player, side_row, number, len(part.meetings)),
        began_with=start_from_pool(ledger, pool, person.player, part.positions),
        marks=marks.game_marks(ledger, pool, side_row, game),
        rule=explanation.rule,
        terms=formula_terms(explanation),
        unrounded=explanation.unrounded,
        rounding=explanation.rounding,
        source=explanation.source,
        meetings=[
            _met(place, opponents[opponent], meeting, era, part, explanation.opponents)
            for place, (opponent, meeting) in enumerate(zip(part.opponents, part.meetings, strict=True), 1)
        ],
    )


@in_one_snapshot
def guests_in(ledger: OpenLedger, game: str) -> set[int]:
    """Return the players of a rated game who are guests in it: it does not change their ratings."""
    return _guests(_counted(ledger, game))


def _guests(row: Mapping[str, Any]) -> set[int]:
    return {row[side] for side in ("white", "black") if row[f"{side}_guest"] is not None}


def _list_of(ledger: OpenLedger, pool: Pool, rated_ms: int) -> str | None:
    """Return the first published list that counts the games of an instant, else the day of that list."""
    first = first_list_counting(Publications(ledger).all(pool.name), rated_ms)
    return list_day(pool, rated_ms) if first is None else first.name


def _counted(ledger: OpenLedger, game: str) -> dict[str, Any]:
    """Return the row of a rated game."""
    key, stored = find_game(ledger.snapshot_journal, game)
    row = queries.fetch_first(ledger.views.connection, queries.GAME, (stored.position,))
    if row is None:
        raise UnknownNameError("game", key, "the views have no row of it: run 'rebuild'")
    if row["reason"] is not None:
        why = marks.proposal_reasons(ledger, [row["voided_by"]]) if row["voided_by"] else {}
        words = marks.unrated_reason(row["reason"], row["voided_by"], why.get(row["voided_by"]))
        raise UnknownNameError("rating change by game", key, f"it does not count: {words}")
    return row


def _met(
    place: int, opponent: str, meeting: OpponentGame, era: Era, part: PlayerBatch, ratings: Sequence[float]
) -> ExplainedGame:
    """Return a game of an explanation; *ratings* are the opponents' in the formula, if it differs from the states."""
    in_force = era.scheme.in_force if rates_whole_tournaments(era) else None
    rating, within = meeting.opponent.rating, None
    if in_force is not None:
        rating = in_force(meeting.opponent, meeting.began)
        # rated meanwhile: with the rating before the period (FIDE 8.2.4), as the formula says
        own = in_force(part.side.before, meeting.began) or part.side.before.rating
        within = TournamentStart(own_rating=own, tournament_began=day(part.began_ms[place - 1]))
    return ExplainedGame(
        game=place,
        opponent=opponent,
        rating=ratings[place - 1] if ratings else rating,
        colour="black" if meeting.colour else "white",
        result=RESULT[int(2 * meeting.score)],
        within=within,
    )


def _carried_from(
    ledger: OpenLedger, pool: Pool, player: int, side_row: dict[str, Any], era: int, games: int
) -> CarriedFrom | None:
    """Return the rating by an earlier scheme from which the player's first games under this one started."""
    # All games of the batch begin from one rating: the row before them lies that many games back at most.
    for n in range(side_row["n"] - 1, max(side_row["n"] - games - 1, 0), -1):
        row = queries.fetch_first(ledger.views.connection, queries.ROW, (pool.pool, player, n))
        if row is not None and pool.era_at(row["rated_ms"]) < era:
            before = pool.eras[pool.era_at(row["rated_ms"])]
            carry = pool.eras[era].carry
            return CarriedFrom(scheme=before.scheme.name, rating=row["rating"], carry=carry)
    return None
