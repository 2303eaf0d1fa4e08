"""Why a rating is not what it was: the games and the corrections between then and now, each with its part.

The journal is read from then on, entry by entry, as it came in; each part is the difference that its entries made to
the rating as it was known when they came:

* an approved correction has all that the rating moved when it took effect: ``correction`` where it changed the
  player's own games, ``through opponents`` where it changed those of others;
* each other fact but games (a rating run, a change of scheme, a standing, a seed) has the same, as ``other fact``;
* games that follow each other without one of these: a new game of the player has what it brings (``game``; ``late
  result`` where later ones were there), those of a period or event together; what they move in games that were there
  already is ``rated anew``; what neither brings, such as months without a game, is ``time``.

Nothing remains: the parts lead from the one number to the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from ledger.answers.change_steps import CORRECTION, GAMES, Player, Standing, Step, before_later_games, standing, steps
from ledger.answers.corrections import described
from ledger.answers.publications import known_then
from ledger.answers.wording import RESULT, names, told_apart
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.ledger import Ledger
from ledger.players.people import Person
from ledger.publishing.publications import Publication
from ledger.ratings.past_views import known_at, stepping
from ledger.runtime.long_work import Progress, silent

PLACES = Decimal("0.000001")  # of the points
FEW_GAMES = 3  # of a batch that are named in words
_EXACT = Context(prec=60)


class Part(NamedTuple):
    """What moved a rating.

    Attributes:
        kind: as the text at the top of this module lists them.
        cause: in words.
        proposal: number of the correction; None for anything else.
        games: keys of the player's games that it consists of, or that a correction changed.
        after: the rating after it.
        is_jump: whether no number of points leads there: there was no rating before, or there is none now.
    """

    kind: str
    cause: str
    proposal: int | None
    games: tuple[str, ...]
    after: Fraction
    is_jump: bool = False


class _Since(NamedTuple):
    """What ``--since`` means: from how many entries on, at which instant, and of which list."""

    position: int | None
    at_ms: int | None
    publication: Publication | None


def changes(
    ledger: Ledger, person: Person, since: str, pool: str | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """What made the difference between a player's rating then and now.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        since: a number of entries of the journal, or a published list: the rating as it was known then; or an instant
            of play: the rating in force then as it stands now, so that no correction made a difference.
        pool: name of the pool; that of the list, or the first one, by default.
        progress: told what is being done.

    Returns:
        ``rating_then`` and ``rating_now`` (None where there is none), ``difference``, and ``parts``: ``kind``,
        ``cause``, ``proposal``, ``games``, ``points`` and ``rating``, the rating after the part. Points and ratings of
        the parts are rounded to six decimals, the points after the ratings, so that the points of all parts together
        are the difference exactly.

    Raises:
        UnknownNameError: there is no such entry, list or pool.
        MalformedError: the list is of another pool; *since* is none of the three.
    """
    with ledger.moment() as size:
        meant = _since(ledger, since, pool)
        of_pool = meant.publication.event.pool if meant.publication else pool
        player = Player(person.player, ledger.pool(of_pool).name, ledger.now_ms())
        now = standing(ledger.views.connection, player)
        steps = _told_by_rows(ledger, player, meant, now, size)
    # What the rows do not tell is told by views of earlier entries, which take long to make: after the moment.
    then, parts = steps or _known_since(ledger, player, meant, now, size, progress)
    rating_then = then.rating
    if meant.publication is not None:
        row = ledger.publications.row(meant.publication, person.player)
        rating_then = None if row is None else row.rating
    return {
        "player": person.player,
        "name": names(ledger, {person.player})[person.player],
        "pool": player.pool,
        "since": since,
        "rating_then": rating_then,
        "rating_now": now.rating,
        "difference": None if rating_then is None or now.rating is None else _points(now.rating, rating_then),
        "parts": _rows(rating_then, now.rating, then, parts),
    }


def _since(ledger: Ledger, word: str, pool: str | None) -> _Since:
    if word.isdecimal():
        if int(word) > ledger.journal.size():
            hint = f"the journal holds {ledger.journal.size()}; a number means entries: write a year as YYYY-01-01"
            raise UnknownNameError("entry", word, hint)
        return _Since(known_then(ledger, word)[0], None, None)
    if "@" in word:
        found = ledger.publications.found(word)
        if pool not in {None, found.event.pool}:
            raise MalformedError([f"{found.name} is no list of pool {pool!r}"])
        return _Since(found.event.head, found.at_ms, found)
    try:
        return _Since(None, instant_end_ms(word), None)
    except ValueError as error:
        message = f"{error}; give a day, a number of entries, or a published list as 'lists' names it"
        raise MalformedError([message]) from None


def _told_by_rows(
    ledger: Ledger, player: Player, meant: _Since, now: Standing, size: int
) -> tuple[Standing, list[Part]] | None:
    """The rating then and the parts since, where the rows of the views tell them; None where they do not."""
    connection = ledger.views.connection
    if meant.position is None:
        then = standing(connection, player, meant.at_ms)
        return then, list(_run(ledger, then, now))
    if meant.at_ms is not None:
        return None
    if any(step.kind != GAMES or step.cause for step in steps(ledger.journal, meant.position, size)):
        return None
    earlier = before_later_games(connection, player, meant.position)
    return None if earlier is None else (earlier, list(_run(ledger, earlier, now)))


def _known_since(
    ledger: Ledger, player: Player, meant: _Since, now: Standing, size: int, progress: Progress
) -> tuple[Standing, list[Part]]:
    """The rating as it was known then, and the parts since: entry by entry, from views of that time."""
    journal, position = ledger.journal, meant.position
    assert position is not None
    parts: list[Part] = []
    waiting = list(steps(journal, position, size))
    kept = known_at(ledger.path, ledger.views.kept(), journal, position, progress)
    with kept as begun:
        then = known = standing(begun.connection, player)
        if meant.at_ms is not None:
            then = standing(begun.connection, player, meant.at_ms)
            parts += _run(ledger, then, known)
        if len(waiting) > 1:
            with stepping(journal, begun) as past:
                for step in waiting[:-1]:
                    after = standing(past.go_to(step.until, progress).connection, player)
                    parts += _parts(ledger, step, known, after)
                    known = after
        for step in waiting[-1:]:
            parts += _parts(ledger, step, known, now)
    return then, parts


def _parts(ledger: Ledger, step: Step, before: Standing, after: Standing) -> Iterator[Part]:
    if step.kind == GAMES:
        yield from _run(ledger, before, after)
        return
    yield from _begun(before, after)
    if after.held is None or (after.held == before.held and after.games == before.games):
        return
    cause, kind, games = step.cause, step.kind, tuple[str, ...]()
    if step.proposal is not None:
        either = {**before.games, **after.games}
        games = tuple(key for key in either if before.games.get(key) != after.games.get(key))
        kind = CORRECTION if games else "through opponents"
        shown = ledger.corrections.proposal(step.proposal)
        what = described(ledger, shown.changes[:1])[0]
        more = len(shown.changes) - 1
        cause = f"{what} and {more} more" if more else what
    yield Part(kind, cause, step.proposal, games, after.held)


def _begun(before: Standing, after: Standing) -> Iterator[Part]:
    """The rating to begin with of who was not known at all."""
    if before.held is None and after.held is not None:
        first = next(iter(after.batches.values()), None)
        begins = after.held if first is None else first.before
        yield Part("began", "the rating to begin with", None, (), begins, is_jump=True)


def _run(ledger: Ledger, before: Standing, after: Standing) -> Iterator[Part]:
    """What games have done that came in after each other, with no other fact between."""
    if after.held is None:
        return
    value = before.held
    for part in _begun(before, after):
        value = part.after
        yield part
    assert value is not None
    met = {game.opponent for batch in after.batches.values() for game in batch.games}
    opponents = told_apart(names(ledger, met))
    latest = max(before.batches, default=None)
    moved = Fraction(0)
    for place, batch in after.batches.items():
        known = before.batches.get(place)
        if known is not None and {game.key for game in known.games} >= {game.key for game in batch.games}:
            continue
        if all(game.key in before.games for game in batch.games):
            continue
        points = batch.points - (Fraction(0) if known is None else known.points)
        value, moved = value + points, moved + points
        late = latest is not None and place < latest
        fresh = [game for game in batch.games if game.key not in before.games]
        words = [f"{RESULT[game.half_points]} against {opponents[game.opponent]}" for game in fresh]
        cause = ", ".join(words) if len(words) <= FEW_GAMES else f"{len(words)} games rated together"
        yield Part("late result" if late else "game", cause, None, tuple(game.key for game in fresh), value)
    anew = after.points - before.points - moved
    if anew:
        value += anew
        yield Part("rated anew", "late results moved opponents, and so games that were there", None, (), value)
    if value != after.held:
        yield Part("time", "time without games, or a period that is not over", None, (), after.held)


def _rows(
    rating_then: float | None, rating_now: float | None, then: Standing, parts: Sequence[Part]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    value = None if rating_then is None else Fraction(rating_then)
    if value is None and then.held is not None:
        value = then.held
        rows.append(_row(Part("began", "no rating then; the scheme begins with", None, (), value, is_jump=True), None))
    elif value is not None and then.held is not None and value != then.held:
        rows.append(_row(Part("other version", "worked out anew", None, (), then.held), value))
        value = then.held
    for part in parts:
        if part.after == value and not part.games and part.kind != CORRECTION:
            continue
        rows.append(_row(part, value))
        value = part.after
    if rating_now is None and value is not None and rating_then is not None:
        rows.append({**_row(Part("left", "not listed now", None, (), value, is_jump=True), value), "rating": None})
    return rows


def _row(part: Part, before: Fraction | None) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "cause": part.cause,
        "proposal": part.proposal,
        "games": list(part.games),
        "points": None if part.is_jump or before is None else _points(part.after, before),
        "rating": float(_rounded(part.after)),
    }


def _points(after: Fraction | float, before: Fraction | float) -> float:
    return float(_EXACT.subtract(_rounded(after), _rounded(before)))


def _rounded(value: Fraction | float) -> Decimal:
    exact = Fraction(value)
    return _EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator)).quantize(PLACES)
