"""The causes of a change of rating: the games and corrections between then and now, each with its points.

The journal is replayed from then on, entry by entry; each part is the difference that its entries made to the rating:

* an approved correction has the whole change when it took effect: ``correction`` if it changed the player's own games,
  ``through opponents`` if it changed only those of others;
* each other fact but games (a rating run, a change of scheme, a membership status, an initial rating) has the same, as
  ``other fact``;
* games that follow each other without one of these: a new game of the player has its own effect (``game``; ``late
  result`` if later ones were recorded), those of a period or event together; their effect on games recorded before is
  ``rated anew``, on the rating in another pool with which the player began in this one ``other pool``; the effect of a
  list from its day on is ``list``; a change without any of these causes is ``time``: months without a game, a
  conversion by the scheme's own rules, a period that is not over.

Before all that a rating ``began`` if there was none; the last part is ``left`` if there is none any more, and
``other version`` is the difference between a published list's rating and the same list calculated again. The points of
all parts add up to the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.answers.asking import RESULT, day, distinct_names, in_force_from, names
from ledger.answers.corrections import summarize_changes
from ledger.answers.publications import MOST_DIGITS, known_entries
from ledger.answers.replays import ReplayStep, replay, replay_steps
from ledger.book.roster import StoredSeed
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.correcting.corrections import Corrections
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.publishing.publications import Publication, Publications
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates
from ledger.runtime.calls import checked
from ledger.runtime.long_work import Progress, no_progress
from ledger.schemes.scheme import UNRATED, Rhythm, unchanged_by_time

if TYPE_CHECKING:
    import sqlite3

PLACES = Decimal("0.000001")  # of the points
FEW_GAMES = 3  # of a batch that are named in words
CORRECTION = "correction"
BETWEEN_GAMES = "between games: time, a conversion by the scheme's rules, or a period that is not over"
# A float from 1 to 5,000 points has 53 decimal digits at most: nothing is rounded but to the places that are shown.
_EXACT = Context(prec=60)


@attrs.frozen(kw_only=True, slots=False)
class RatingPart:
    """A cause of a change of rating, with its points and the rating after it."""

    kind: str = documented("correction, through opponents, game, list, late result, rated anew, other pool, time, ...")
    cause: str = documented("what it was, in words")
    proposal: int | None = documented("number of the correction; null: it is none")
    games: list[str] = documented("keys of the player's games that it consists of, or that a correction changed")
    counts_from: str | None = documented(
        "day from which they count, as 'calculation' takes it; null: no new games, or an open period"
    )
    points: float | None = documented("by how much, points; null: there was no rating before, or there is none after")
    rating: float | None = documented("the rating after it, points; null: the player is not listed any more")


@attrs.frozen(kw_only=True, slots=False)
class RatingChanges:
    """The difference between a player's rating then and now, and its causes, whose points add up to it."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    pool: str = documented("the pool")
    since: str = documented("what was asked: a number of entries, a published list, or an instant")
    rating_then: float | None = documented("the rating then, points; null: none")
    rating_now: float | None = documented("the rating now, points; null: none")
    difference: float | None = documented("from the one to the other, points; null: one of them is missing")
    parts: list[RatingPart] = documented("what made it, in the order in which it came in")


class _Change(NamedTuple):
    """A cause of a change of rating, as ``RatingPart``, with the exact rating after it.

    If *is_jump*, no number of points leads to that rating, because there was none before. Games that were rated
    together count *counts_from* a day.
    """

    kind: str
    cause: str
    after: Fraction
    games: tuple[str, ...] = ()
    proposal: int | None = None
    is_jump: bool = False
    counts_from: str | None = None


_RatingPlace = tuple[int, str, str]  # in rating order: instant, batch, and the key of a game rated by itself


class _Since(NamedTuple):
    """The point in the past that ``--since`` means: a number of entries, an instant, a list, or several of them."""

    position: int | None
    at_ms: int | None
    publication: Publication | None


@checked
def changes(
    ledger: OpenLedger, person: Person, since: str, pool: str | None = None, progress: Progress = no_progress
) -> RatingChanges:
    """Return the causes of the difference between a player's rating then and now.

    Points and ratings of the parts are rounded to six decimals, the points after the ratings, so that the points of all
    parts together are the difference exactly.

    Args:
        ledger: the ledger.
        person: the player.
        since: a number of entries of the journal, or a published list: the rating by the entries of that time; or an
            instant of play: the rating in force then by today's facts, so that no correction made a difference.
        pool: name of the pool; by default that of the list, or the first one.
        progress: receives reports of the work.

    Raises:
        UnknownNameError: there is no such entry, list or pool.
        MalformedError: the list is of another pool; *since* is none of the three.
    """
    with ledger.read_snapshot() as size:
        meant = _since(ledger, since, pool)
        of_pool = meant.publication.event.pool if meant.publication else pool
        player = _Player(person.player, ledger.pool(of_pool).name, ledger.now_ms())
        now = _record(ledger.views.connection, player)
        by_rows = _from_rows(ledger, player, meant, now, size)
    # If the rows do not suffice, views of earlier entries do, which take long to make: after the read snapshot.
    then, parts = by_rows or _step_by_step(ledger, player, meant, now, size, progress)
    rating_then = then.rating
    if meant.publication is not None:
        row = Publications(ledger).row(meant.publication, person.player)
        rating_then = None if row is None else row.rating
    return RatingChanges(
        player=person.player,
        name=names(ledger, {person.player})[person.player],
        pool=player.pool,
        since=since,
        rating_then=rating_then,
        rating_now=now.rating,
        difference=None if rating_then is None or now.rating is None else _points(now.rating, rating_then),
        parts=_with_points(rating_then, now.rating, then, parts),
    )


def _since(ledger: OpenLedger, word: str, pool: str | None) -> _Since:
    if word.isdecimal():
        if len(word) > MOST_DIGITS or int(word) > ledger.journal.size():
            hint = f"the journal holds {ledger.journal.size()}; a number means entries: write a year as YYYY-01-01"
            raise UnknownNameError("entry", word, hint)
        return _Since(known_entries(ledger, word)[0], None, None)
    if "@" in word:
        publication = Publications(ledger).named(word)
        if pool not in {None, publication.event.pool}:
            raise MalformedError([f"{publication.name} is no list of pool {pool!r}"])
        return _Since(publication.event.head, publication.at_ms, publication)
    try:
        return _Since(None, instant_end_ms(word), None)
    except ValueError as error:
        message = f"{error}; give a day, a number of entries, or a published list as 'lists' names it"
        raise MalformedError([message]) from None


def _from_rows(
    ledger: OpenLedger, player: _Player, meant: _Since, now: _PlayerRecord, size: int
) -> tuple[_PlayerRecord, list[_Change]] | None:
    """Return the rating then and the causes since, if the rows of the views suffice for them; else None."""
    connection = ledger.views.connection
    if meant.position is None:
        then = _record(connection, player, meant.at_ms)
        return then, list(_run(ledger, then, now))
    if meant.at_ms is not None:
        return None
    if any(step.event or step.has_additions for step in replay_steps(ledger.journal, meant.position, size)):
        return None
    earlier = _before_later_games(connection, player, meant.position)
    return None if earlier is None else (earlier, list(_run(ledger, earlier, now)))


def _step_by_step(
    ledger: OpenLedger, player: _Player, meant: _Since, now: _PlayerRecord, size: int, progress: Progress
) -> tuple[_PlayerRecord, list[_Change]]:
    """Return the rating then and the causes since, entry by entry, from views of earlier entries."""
    assert meant.position is not None
    parts: list[_Change] = []
    waiting = list(replay_steps(ledger.journal, meant.position, size))
    with replay(ledger, meant.position, progress) as past:
        then = latest = _record(past.begun.connection, player)
        if meant.at_ms is not None:
            then = _record(past.begun.connection, player, meant.at_ms)
            parts += _run(ledger, then, latest)
        for step in waiting:
            # the last step leads to the current state, so that its views are available
            after = now if step is waiting[-1] else _record(past.views_after(step.until).connection, player)
            parts += _parts(ledger, step, latest, after)
            latest = after
    return then, parts


def _parts(ledger: OpenLedger, step: ReplayStep, before: _PlayerRecord, after: _PlayerRecord) -> Iterator[_Change]:
    if step.event is None:
        yield from _run(ledger, before, after)
        return
    yield from _begun(before, after)
    if after.exact_rating is None or (after.exact_rating == before.exact_rating and after.games == before.games):
        return
    cause, kind, games = step.event.key, "other fact", tuple[str, ...]()
    if step.proposal is not None:
        either = {**before.games, **after.games}
        games = tuple(key for key in either if before.games.get(key) != after.games.get(key))
        kind = CORRECTION if games else "through opponents"
        cause = summarize_changes(ledger, Corrections(ledger).proposal(step.proposal).changes)
    yield _Change(kind, cause, after.exact_rating, games, step.proposal)


def _begun(before: _PlayerRecord, after: _PlayerRecord) -> Iterator[_Change]:
    """Yield the first rating of a player who had none before."""
    if before.exact_rating is None and after.exact_rating is not None:
        # The rating of a list goes before the player's first game since.
        first = next((batch for place, batch in after.batches.items() if place not in before.batches), None)
        begins = after.exact_rating if first is None else first.before
        yield _Change("began", "the rating to begin with", begins, is_jump=True)


def _begun_elsewhere(before: _PlayerRecord, after: _PlayerRecord) -> list[_Change]:
    """Return the effect of games on the rating in another pool with which the player began; empty without one."""
    start, now = before.first_games, after.first_games
    if not after.may_begin_elsewhere or now is None:
        return []
    if start is None:  # what the player would have begun with before is no rating of this pool
        return [_Change("began", "the rating to begin with", now.before, is_jump=True)]
    if now.before == start.before or before.exact_rating is None:
        return []
    cause = "another rating in the other pool to begin with"
    return [_Change("other pool", cause, before.exact_rating + now.before - start.before)]


def _run(ledger: OpenLedger, before: _PlayerRecord, after: _PlayerRecord) -> Iterator[_Change]:
    """Yield the effects of games that were recorded one after the other, with no other fact between."""
    if after.exact_rating is None:
        return
    value = before.exact_rating
    for part in _begun_elsewhere(before, after) or _begun(before, after):
        value = part.after
        yield part
    assert value is not None
    met = {game.opponent for batch in after.batches.values() for game in batch.games}
    opponents = distinct_names(names(ledger, met))
    latest = max(before.batches, default=None)
    games_before, moved = before.games, Fraction(0)
    for place, batch in after.batches.items():
        if batch.listed:
            if place not in before.batches:
                value = batch.after if batch.is_jump else value + batch.points
                moved += batch.points
                yield _Change("list", batch.listed, value, is_jump=batch.is_jump)
            continue
        # Only new games are reported here; a change of earlier games through opponents is reported below.
        if not (fresh := [game for game in batch.games if game.key not in games_before]):
            continue
        batch_before = before.batches.get(place)
        points = batch.points - (Fraction(0) if batch_before is None else batch_before.points)
        value, moved = value + points, moved + points
        late = latest is not None and place < latest
        words = [f"{RESULT[game.half_points]} against {opponents[game.opponent]}" for game in fresh]
        cause = ", ".join(words) if len(words) <= FEW_GAMES else f"{len(words)} games rated together"
        keys = tuple(game.key for game in fresh)
        yield _Change("late result" if late else "game", cause, value, keys, counts_from=in_force_from(place[0]))
    rerated = after.points - before.points - moved
    if rerated:
        value += rerated
        yield _Change("rated anew", "late results moved opponents, and so games that were there", value)
    if value != after.exact_rating:
        yield _Change("time", BETWEEN_GAMES, after.exact_rating)


def _with_points(
    rating_then: float | None, rating_now: float | None, then: _PlayerRecord, parts: Sequence[_Change]
) -> list[RatingPart]:
    """Return the parts with their points, from the rating shown then to the one shown now."""
    value = None if rating_then is None else Fraction(rating_then)
    # A player who begins with the rating of a list has no other one before it.
    begins_by_list = value is None and bool(parts) and parts[0].kind == "list" and parts[0].is_jump
    if then.exact_rating not in {None, value} and not begins_by_list:
        is_new = value is None
        cause = "no rating then; the scheme begins with" if is_new else "worked out anew"
        parts = [_Change("began" if is_new else "other version", cause, then.exact_rating), *parts]
    with_points: list[RatingPart] = []
    for part in parts:
        if part.after == value and not part.games and part.kind != CORRECTION:
            continue
        with_points.append(
            RatingPart(
                kind=part.kind,
                cause=part.cause,
                proposal=part.proposal,
                games=list(part.games),
                counts_from=part.counts_from,
                points=None if part.is_jump or value is None else _points(part.after, value),
                rating=float(_rounded(part.after)),
            )
        )
        value = part.after
    if rating_now is None and value is not None and rating_then is not None:
        left = RatingPart(
            kind="left", cause="not listed now", proposal=None, games=[], counts_from=None, points=None, rating=None
        )
        with_points.append(left)
    return with_points


def _points(after: Fraction | float, before: Fraction | float) -> float:
    return float(_EXACT.subtract(_rounded(after), _rounded(before)))


def _rounded(value: Fraction | float) -> Decimal:
    # A fraction holds a float exactly; the only rounding is the one to the places that are shown.
    exact = Fraction(value)
    return _EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator)).quantize(PLACES)


# -- a player's record -----------------------------------------------------------------------------------------------


class _Player(NamedTuple):
    """A player of a pool, and today's instant."""

    number: int
    pool: str
    today_ms: int


class _PlayedGame(NamedTuple):
    """A rated game from the player's side."""

    position: int
    key: str
    opponent: int
    colour: int
    half_points: int
    ended_ms: int


@attrs.frozen
class _RatedTogether:
    """A player's games that were rated together, or the rating of a list, with the ratings before and after in points.

    Attributes:
        games: the games; none for a list.
        listed: for a list, its rating and day in words.
        is_jump: whether the player had no rating before the list.
    """

    games: tuple[_PlayedGame, ...]
    before: Fraction
    after: Fraction
    listed: str = ""
    is_jump: bool = False

    @property
    def points(self) -> Fraction:
        """The change of rating by the games."""
        return self.after - self.before


@attrs.define
class _PlayerRecord:
    """A player's rating in force, and the batches of games by place in rating order.

    Attributes:
        rating: None if the scheme shows none.
        exact_rating: the rating from which the scheme continues; None for unknown and unrated players.
        batches: by place in rating order.
        may_begin_elsewhere: whether players of the pool may begin with their rating in another one.
    """

    rating: float | None
    exact_rating: Fraction | None
    batches: dict[_RatingPlace, _RatedTogether]
    may_begin_elsewhere: bool = False

    @property
    def first_games(self) -> _RatedTogether | None:
        """The first games; None without one, or after a list, which says what the player begins with."""
        first = next(iter(self.batches.values()), None)
        return first if first is not None and first.games else None

    @property
    def points(self) -> Fraction:
        """The change of rating by all games together."""
        return sum((batch.points for batch in self.batches.values()), Fraction(0))

    @property
    def games(self) -> dict[str, _PlayedGame]:
        """The games by key."""
        return {game.key: game for batch in self.batches.values() for game in batch.games}


def _record(connection: sqlite3.Connection, player: _Player, at_ms: int | None = None) -> _PlayerRecord:
    """Return a player's record in these views: now, or at an instant."""
    pool = next((pool for pool in stored_pools(connection) if pool.name == player.pool), None)
    row = connection.execute("SELECT 1 FROM players WHERE player = ?", (player.number,)).fetchone()
    if pool is None or row is None:
        return _PlayerRecord(None, None, {})
    states = PlayerStates(connection, pool)
    state = states.now(player.number, player.today_ms) if at_ms is None else states.at(player.number, at_ms)
    until = max(player.today_ms, states.latest_ms or 0) if at_ms is None else at_ms
    placed = _with_lists(states, player.number, list(_batches(connection, pool, player.number)), until)
    batches = {place: batch for place, batch in placed if at_ms is None or place[0] <= at_ms}
    # An unrated player has no points that could be counted from.
    value = Fraction(state.state[0]) if isfinite(state.state[0]) and state.state[0] != UNRATED else None
    return _PlayerRecord(state.in_force, value, batches, bool(pool.from_pools))


def _before_later_games(connection: sqlite3.Connection, player: _Player, position: int) -> _PlayerRecord | None:
    """Return a player's record after *position* entries, if only games that are last in rating order followed."""
    pool = next(pool for pool in stored_pools(connection) if pool.name == player.pool)
    # otherwise a player's record differs from the row of the last game
    is_plain = pool.by_game and len(pool.eras) == 1 and pool.eras[0].scheme.at is unchanged_by_time
    is_plain = is_plain and not pool.from_pools  # games of another pool may be late, too
    lists = PlayerStates(connection, pool).seeds(player.number)
    if lists or not is_plain or queries.fetch_first(connection, queries.ANY_LATE, (pool.pool, position)) is not None:
        return None
    batches = {
        place: batch
        for place, batch in _batches(connection, pool, player.number)
        if batch.games[0].position <= position
    }
    if not batches:
        return None
    row = queries.fetch_first(connection, queries.ROW, (pool.pool, player.number, len(batches)))
    assert row is not None
    state = PlayerStates(connection, pool).after_game(row)
    return _PlayerRecord(state.in_force, Fraction(state.state[0]), batches) if isfinite(state.state[0]) else None


def _batches(connection: sqlite3.Connection, pool: Pool, player: int) -> Iterator[tuple[_RatingPlace, _RatedTogether]]:
    def place(row: dict[str, Any]) -> _RatingPlace:
        by_game = pool.eras[pool.era_at(row["rated_ms"])].scheme.rhythm is Rhythm.GAME
        return row["rated_ms"], row["batch"], row["key"] if by_game else ""

    rows = queries.fetch_dicts(connection, queries.PLACED_SIDES, (pool.pool, player))
    for where, grouped in groupby(rows, place):
        together = list(grouped)
        games = tuple(_PlayedGame(*(row[name] for name in _PlayedGame._fields)) for row in together)
        yield where, _RatedTogether(games, _finite(together[0]["rating_before"]), _finite(together[-1]["rating"]))


def _with_lists(
    states: PlayerStates, player: int, batches: Sequence[tuple[_RatingPlace, _RatedTogether]], until_ms: int
) -> Iterator[tuple[_RatingPlace, _RatedTogether]]:
    """Yield a player's batches, and each list up to an instant before the first batch that it concerns."""
    lists = [listed for listed in states.seeds(player) if listed.ms <= until_ms]
    # The player begins with the last list up to the end of the first game.
    first_ms = batches[0][1].games[0].ended_ms if batches else until_ms
    later = [listed for listed in lists if listed.ms > first_ms]
    starts = [states.pool.lists_until(place[0], batch.games[0].ended_ms) for place, batch in batches]
    if begins := [listed for listed in lists if listed.ms <= first_ms]:
        rating = batches[0][1].before if batches else _finite(states.now(player, until_ms).state[0])
        yield _of_list(begins[-1], rating, rating, is_jump=True)

    def of_later_list(listed: StoredSeed) -> tuple[_RatingPlace, _RatedTogether]:
        before, after = states.around_list(player, games, listed.ms)
        return _of_list(listed, _finite(before.state[0]), _finite(after.state[0]), is_jump=before.in_force is None)

    games = 0
    for (place, batch), start in zip(batches, starts, strict=True):
        while later and later[0].ms <= start:
            yield of_later_list(later.pop(0))
        yield place, batch
        games += len(batch.games)
    yield from map(of_later_list, later)


def _of_list(
    listed: StoredSeed, before: Fraction, after: Fraction, *, is_jump: bool
) -> tuple[_RatingPlace, _RatedTogether]:
    of_day = "" if listed.seed.day is None else f" of {day(listed.ms)}"
    words = f"the rating {listed.seed.rating:g} of a list{of_day}"
    return (listed.ms, " list", ""), _RatedTogether((), before, after, words, is_jump=is_jump)  # no batch is called so


def _finite(rating: float | None) -> Fraction:
    # ``Fraction`` takes neither infinity nor NaN.
    return Fraction(rating) if rating is not None and isfinite(rating) else Fraction(0)
