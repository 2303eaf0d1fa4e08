"""Rankings: the players of a pool by rating, after its last game or at any instant, and a player's place among them.

The classes of ratings are ChessWorld's by default: "A) less than 1400, B) 1400 - 1879, C) 1880 - 2199, D) 2200 and
above"; "Beginner- up to 1600, Intermediate - 1601 - 2400, Advanced - 2401 and above".
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import floor, inf, nextafter
from typing import Literal

import attrs

from ledger.answers.asking import EVERY_ROW, day, in_one_snapshot, names, row_limit
from ledger.answers.player_details import EVERYBODY, PlayerGroup
from ledger.book.policies import CLASSES
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import MalformedError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Strength
from ledger.handle import OpenLedger
from ledger.journal.stored_lists import shared_ranks
from ledger.policies.house_policies import HousePolicies
from ledger.publishing.publications import Publications
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates
from ledger.ratings.standings import FEW_PLAYERS, ListedPlayer, Standings

StrengthWord = Literal["Beginner", "Intermediate", "Advanced"]
_WORDS: Mapping[str, StrengthWord] = {
    Strength.BEGINNER: "Beginner",
    Strength.INTERMEDIATE: "Intermediate",
    Strength.ADVANCED: "Advanced",
}
_CHOSEN = (
    "SELECT player, strength FROM strengths WHERE pool = ?1 AND effective_ms <= ?2 "
    "AND player IN (SELECT value FROM json_each(?3)) ORDER BY player, effective_ms, position"
)


def rating_class(rating: float | None, settings: Mapping[str, int] | None) -> str | None:
    """Return the letter of a rating's class, A to D, by the rating to the nearest point; None in a pool without any."""
    if rating is None or settings is None:
        return None
    points = _points(rating)
    return next((letter for letter in "DCB" if points >= settings[f"{letter.lower()}_from"]), "A")


def rating_strength(rating: float | None, settings: Mapping[str, int] | None) -> StrengthWord | None:
    """Return a rating's strength in words, such as ``Beginner``; as ``rating_class``."""
    if rating is None or settings is None:
        return None
    points = _points(rating)
    if points >= settings["advanced_from"]:
        return "Advanced"
    return "Intermediate" if points >= settings["intermediate_from"] else "Beginner"


def _points(rating: float) -> int:
    return floor(rating + 0.5)


@attrs.frozen(kw_only=True, slots=False)
class RankingDetails:
    """The percentile, class, strength and uncertainty of a player's rating in a ranking."""

    percentile: float = documented("the share of the ranked players with a lower rating, per cent")
    class_: str | None = documented(
        "letter of the class by the policy in force then, of the rating to the nearest point; null: the pool has none"
    )
    strength: StrengthWord | None = documented("the same in words; during the provisional games as the player chose it")
    provisional: bool = documented("whether the scheme calls the rating provisional")
    rd: float | None = documented("the scheme's own uncertainty at that time, points; null: it has none")
    strength_chosen: bool = documented("whether the player chose the strength; else the rating says so")


@attrs.frozen(kw_only=True, slots=False)
class RankingChange:
    """A player's rating on the day or list to compare with, and the change since then."""

    before: float | None = documented("the rating then, points; null: none")
    change: float | None = documented("from then to the ranking's instant, points")


@attrs.frozen(kw_only=True, slots=False)
class RankingRow:
    """A player in a ranking, with rank, rating and number of games."""

    rank: int = documented("place, from 1; equals share one", minimum=1)
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    rating: float = documented("the rating, points")
    games: int = documented("rated games", minimum=0)
    last_game: str | None = documented("the day of the last of them; null: there is none")
    details: RankingDetails | None = flattened()
    since: RankingChange | None = flattened()


@attrs.frozen(kw_only=True, slots=False)
class RankingPlace:
    """A player's rank and percentile, null outside the ranking, and the class of the rating, null without one."""

    rank: int | None = documented("place, from 1; equals share one", minimum=1)
    rated_players: int = documented("how many stand in the ranking", minimum=0)
    percentile: float | None = documented("the share of them with a lower rating, per cent")
    class_: str | None = documented("letter of the class by the policy in force, of the rating to the nearest point")
    strength: StrengthWord | None = documented("the same in words; during the provisional games as the player chose it")
    strength_chosen: bool = documented("whether the player chose it; else the rating says so")


@in_one_snapshot
def ranking_place(ledger: OpenLedger, pool: Pool, state: PlayerState) -> RankingPlace:
    """Return a player's rank in the current ranking with ``min_games=0``, with percentile, class and strength."""
    standings = Standings(ledger.views.connection, pool, now_ms=ledger.now_ms())
    rating, limits = state.in_force, shown_class_limits(ledger, pool.name)
    chosen = _chosen_strengths(ledger, pool, [state], ledger.now_ms()).get(state.player)
    listed = None if state.player in standings.closed else rating
    # For a player without a rating only the number of all others is counted: no player reaches infinity.
    counted = standings.count_players(inf if listed is None else listed)
    rank, share = None, None
    if listed is not None and counted.not_below:
        rank = standings.count_players(nextafter(listed, inf)).not_below + 1  # equals share a place
        share = _percentile(counted.not_below, counted.players)
    return RankingPlace(
        rank=rank,
        rated_players=counted.players,
        percentile=share,
        class_=rating_class(rating, limits),
        strength=chosen or rating_strength(rating, limits),
        strength_chosen=chosen is not None,
    )


@in_one_snapshot
def chosen_strength(ledger: OpenLedger, pool: str, player: int) -> StrengthWord | None:
    """Return the strength that a player chose in a pool; None without one, and after the provisional games."""
    rated_by = ledger.pool(pool)
    state = ledger.states(rated_by).now(player, ledger.now_ms())
    return _chosen_strengths(ledger, rated_by, [state], ledger.now_ms()).get(player)


def _chosen_strengths(
    ledger: OpenLedger, pool: Pool, states: Iterable[PlayerState], ms: int
) -> dict[int, StrengthWord]:
    """Return by player the strength that was chosen and holds at an instant, during the provisional games."""
    new = [state.player for state in states if state.strength_limit is None]
    arguments = (pool.pool, ms, json.dumps(new))
    rows = queries.fetch_tuples(ledger.views.connection, _CHOSEN, arguments) if new else []
    if not rows or not has_classes(ledger, pool.name):
        return {}
    return {player: _WORDS[strength] for player, strength in rows}


def _percentile(not_below: int, ranked: int) -> float:
    """Return the share of players ranked below, per cent; *not_below* have that rating or a higher one."""
    return 100.0 * (ranked - not_below) / ranked


# -- with details of the rating ---------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class RankingChoice:
    """The parameters of a ranking.

    Attributes:
        pool: its name; the ledger's first one by default.
        limit: the number of best players; 0 or None: all.
        offset: the number of these, the best, that are left out: names and details are found for the others alone.
        min_games: leave out players with fewer rated games; 0: with players who have the rating of a list and no game.
        at: the end of that day, month or year; by default after the pool's last game.
        active_days: leave out players without a game in the last days before that instant.
        since: compare with the rating in force at the end of this day.
        since_list: compare with this published list.
        group: leave out players who are not in it; the others have places of their own.
    """

    pool: str | None = None
    limit: int = attrs.field(default=EVERY_ROW, converter=row_limit)
    offset: int = 0
    min_games: int = 1
    at: str | None = None
    active_days: int | None = None
    since: str | None = None
    since_list: str | None = None
    group: PlayerGroup = EVERYBODY


@in_one_snapshot
def ranking(ledger: OpenLedger, choice: RankingChoice, *, details: bool = True) -> list[RankingRow]:
    """Return the ranking of a pool at any instant, best first; ``RankingDetails`` are left out on demand.

    It has the players whom the scheme lists and whose account is not closed. A player without a game since the last
    change of scheme is there with the rating that the change gave them; if all players began again with the change,
    they are left out until their next game.

    Raises:
        UnknownNameError: no such pool or published list.
        MalformedError: no such instant, or a list of another pool.
    """
    rated_by, connection = ledger.pool(choice.pool), ledger.views.connection
    ms = _instant(ledger, ledger.states(rated_by), choice.at)
    standings = Standings(
        connection,
        rated_by,
        None if choice.at is None else ms,
        now_ms=ledger.now_ms(),
        min_games=choice.min_games,
        active_from=BEGINNING if choice.active_days is None else ms - choice.active_days * DAY_MS,
    )
    best = standings.best(choice.limit if choice.group.is_everybody else EVERY_ROW)
    if not choice.group.is_everybody:
        members = choice.group.select(ledger, [player.player for player in best], ms)
        best = [player for player in best if player.player in members]
    rest = best[choice.offset : choice.limit]
    called = names(ledger, {player.player for player in rest})
    places_of = shared_ranks([player.rating for player in best])[choice.offset : choice.limit]
    players = [player.player for player in rest]
    in_full: Sequence[RankingDetails | None] = [None] * len(rest)
    if details:
        in_full = _details(ledger, standings, choice, ms, best)
    then = _before(ledger, rated_by, choice, players)
    befores = [None if then is None else then.get(player) for player in players]
    return [
        RankingRow(
            rank=rank,
            player=player.player,
            name=called[player.player],
            rating=player.rating,
            games=player.games,
            last_game=player.last_game,
            details=detail,
            since=None
            if then is None
            else RankingChange(before=before, change=None if before is None else player.rating - before),
        )
        for rank, player, detail, before in zip(places_of, rest, in_full, befores, strict=True)
    ]


def _details(
    ledger: OpenLedger, standings: Standings, choice: RankingChoice, ms: int, best: Sequence[ListedPlayer]
) -> list[RankingDetails]:
    pool = standings.states.pool
    limits = HousePolicies(ledger).at(CLASSES, day(ms)) if has_classes(ledger, pool.name) else None
    shown = slice(choice.offset, choice.limit)
    # of a group all members are among the best
    limit = choice.limit if choice.group.is_everybody else EVERY_ROW
    rest, shares = best[shown], _percentiles(standings, best, limit)[shown]
    states = _states_of(ledger, standings.states, choice, ms, [player.player for player in rest])
    details = []
    chosen = _chosen_strengths(ledger, pool, states.values(), ms)
    for player, share in zip(rest, shares, strict=True):
        state = states[player.player]
        fields = dict(zip(state.era.scheme.state, state.state, strict=True))
        details.append(
            RankingDetails(
                percentile=share,
                class_=rating_class(player.rating, limits),
                strength=chosen.get(player.player) or rating_strength(player.rating, limits),
                strength_chosen=player.player in chosen,
                provisional=bool(state.provisional),
                rd=fields.get("rd"),
            )
        )
    return details


@in_one_snapshot
def implausible_ratings(ledger: OpenLedger, pool: str | None = None) -> list[RankingRow]:
    """Return the players of a ranking whose rating is outside the plausible range of the scheme, most extreme first."""
    rated_by, connection = ledger.pool(pool), ledger.views.connection
    low, high = rated_by.eras[ledger.states(rated_by).latest_era].scheme.plausible
    ((lowest, highest),) = queries.fetch_tuples(connection, queries.EXTREMES, (rated_by.pool,))
    # Two searches of an index show in most cases that all ratings are plausible.
    if lowest is None or (low <= lowest and highest <= high):
        return []
    rows = ranking(ledger, RankingChoice(pool=pool, limit=0), details=False)
    extreme = [row for row in rows if not low <= row.rating <= high]
    return sorted(extreme, key=lambda row: (-abs(row.rating), row.player))


@in_one_snapshot
def class_limits(ledger: OpenLedger, pool: str) -> Mapping[str, int]:
    """Return the lowest points of each class in a pool, by the policy ``classes`` in force now."""
    return HousePolicies(ledger).at(CLASSES, day(_instant(ledger, ledger.states(ledger.pool(pool)), None)))


@in_one_snapshot
def shown_class_limits(ledger: OpenLedger, pool: str) -> Mapping[str, int] | None:
    """Return the lowest points of each class in a pool that has classes; None in another one."""
    return class_limits(ledger, pool) if has_classes(ledger, pool) else None


@in_one_snapshot
def has_classes(ledger: OpenLedger, pool: str) -> bool:
    """Return whether answers and pages show classes, strengths and HERA in a pool.

    They are ChessWorld's; the policy ``classes`` extends them to other schemes.
    """
    rated_by = ledger.pool(pool)
    scheme = rated_by.eras[ledger.states(rated_by).latest_era].scheme
    return scheme.name == "chessworld" or bool(class_limits(ledger, pool)["everywhere"])


def _instant(ledger: OpenLedger, states: PlayerStates, at: str | None) -> int:
    """Return the instant of a ranking: by default that of the pool's last game."""
    if at is not None:
        return instant_end_ms(at)
    return ledger.now_ms() if states.latest_ms is None else states.latest_ms


def _states_of(
    ledger: OpenLedger, states: PlayerStates, choice: RankingChoice, ms: int, players: list[int]
) -> dict[int, PlayerState]:
    """Return the states of players from which their ratings in a ranking are."""
    if choice.at is None:
        today = ledger.now_ms()
        return {player: states.now(player, today) for player in players}
    # one by one a state takes a look into an index; all at once take one walk through the history
    if len(players) <= FEW_PLAYERS:
        return {player: states.at(player, ms) for player in players}
    return {state.player: state for state in states.all_at(ms)}


def _percentiles(standings: Standings, best: Sequence[ListedPlayer], limit: int) -> list[float]:
    """Return, for each of the best, the share of the ranked players with a lower rating, in per cent."""
    if not best:
        return []
    # Fewer than the limit are all players: nothing is left to be counted.
    players, not_below = (len(best), len(best)) if len(best) < limit else standings.count_players(best[-1].rating)
    shares: list[float] = []
    # From the last of them upwards: equals share the number of players below all of them.
    for place in range(len(best), 0, -1):
        if place < len(best) and best[place - 1].rating != best[place].rating:
            not_below = place
        shares.append(_percentile(not_below, players))
    return shares[::-1]


def _before(ledger: OpenLedger, pool: Pool, choice: RankingChoice, players: Collection[int]) -> dict[int, float] | None:
    """Return the ratings to compare with, by player; None without a comparison."""
    if choice.since_list is not None:
        publication = Publications(ledger).named(choice.since_list)
        if publication.event.pool != pool.name:
            message = f"list {publication.name!r} is of pool {publication.event.pool!r}, the ranking of {pool.name!r}"
            raise MalformedError([message])
        return {row.player: row.rating for row in Publications(ledger).rows(publication)}
    if choice.since is None:
        return None
    then = Standings(ledger.views.connection, pool, instant_end_ms(choice.since)).of(players)
    return {number: player.rating for number, player in then.items()}
