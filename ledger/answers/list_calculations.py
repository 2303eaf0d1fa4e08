"""The calculation behind a player's rating on a list: each tournament, each opponent, each sum, what was left out.

It is FIDE's calculation page for every scheme. The games are those whose ratings came into force after the list before
and up to this one. The numbers of each game are those that the scheme's ``explain`` gives, from the states with which
the games were rated; nothing here rates. What does not add up, or differs from the stored rows or from the list, is
among the ``differences``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import groupby
from math import isfinite
from typing import Any, Literal, NamedTuple

import attrs

from ledger.answers import marks
from ledger.answers.asking import EVERY_ROW, RESULT, day, display_name, in_one_snapshot, names
from ledger.answers.calculations import FormulaTerm, formula_terms
from ledger.answers.explanations import RATED_WITH
from ledger.answers.player_batches import PlayerBatch, player_batch
from ledger.answers.publications import published_rating
from ledger.answers.starting_ratings import StartFromPool, start_from_pool
from ledger.book.timeline import BEGINNING, Era, Pool
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.publishing.publications import Publication, Publications
from ledger.ratings import queries
from ledger.schemes.scheme import Explanation, GameLine, OpponentGame, Rhythm, sum_of_lines

Row = dict[str, Any]


@attrs.frozen(kw_only=True, slots=False)
class CalculatedLine:
    """A game of a calculation: the opponent, the expected score, and what it adds to the rating."""

    game: str = documented("key of the game")
    ended_at: str = documented("when it ended, as precisely as it is known")
    round: str | None = documented("the round, as it was recorded")
    colour: Literal["white", "black"] = documented("the player's colour")
    result: Literal["win", "draw", "loss"] = documented("for the player")
    opponent: str = documented("what the opponent is called")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    opponent_rating: float = documented("the opponent's rating that the formula takes (Rc), points")
    difference: float | None = documented("own rating less opponent's as it counts, points; null: the formula has none")
    limit: str | None = documented("the rule that limited the difference, such as the 400-point rule; null: none")
    score: float = documented("the score (W): 1, 0.5 or 0")
    expected: float | None = documented("the expected score (We); null: the formula has none")
    gain: float | None = documented("score less expected score (W-We); null: the same")
    weight: float = documented("the share with which score and expected score count")
    factor: float | None = documented("what the gain is multiplied by, such as K; null: the formula has none")
    change: float | None = documented("what the game adds to the rating, unrounded, points; null: all count at once")
    worth: float | None = documented("what else it adds to a sum of the formula; null: nothing")
    words: str | None = documented("other numbers of the game; null: none")


@attrs.frozen(kw_only=True, slots=False)
class CalculatedTournament:
    """The games of one tournament in a calculation, with their sums."""

    tournament: str | None = documented("its name; null: games without a tournament")
    began: str | None = documented("the day on which it began, where tournaments are rated whole; else null")
    own_rating: float | None = documented("the player's rating that the formula takes (Ro), points; null: unrated")
    factor: float | None = documented("what the gains are multiplied by, such as K; null: none, or not one for all")
    games: int = documented("games that count", minimum=0)
    score: float = documented("score in them (W)")
    expected: float | None = documented("expected score in them (We); null: the formula has none")
    gain: float | None = documented("score less expected score (W-We); null: the same")
    change: float | None = documented("the sum of the changes, unrounded, points; null: all count at once")
    average_rating: float | None = documented("the mean of the opponents' ratings, points; null: no game")
    lines: list[CalculatedLine] = documented("its games that count")


@attrs.frozen(kw_only=True, slots=False)
class CalculatedSum:
    """A sum over the games of a calculation, next to the number that the formula takes."""

    symbol: str = documented("as the formula or people call it")
    meaning: str = documented("what it is")
    brought: float = documented("the part that earlier games, or something else than games, brought")
    games: float = documented("the sum over the games of this calculation")
    total: float = documented("what the formula takes: the two together")


@attrs.frozen(kw_only=True, slots=False)
class CalculatedBatch:
    """The games of a player that were rated together, with the formula: one game, or those of a period or event."""

    rated_with: Literal["this game", "its period", "its event"] = documented("what was rated together")
    as_of: str | None = documented("the day from which the rating counts; null: the period has not closed")
    scheme: str = documented("the scheme")
    source: str = documented("document and section of the rule")
    before: float | None = documented("the rating before, points; null: the scheme lists no such player")
    began_with: StartFromPool | None = documented(
        "the rating in another pool that the player began with in these games"
    )
    after: float | None = documented("the rating after, points; null: the same")
    change: float | None = documented("from the one to the other, points")
    rule: str = documented("the formula")
    terms: list[FormulaTerm] = documented("its terms with their numbers")
    steps: list[FormulaTerm] = documented("the rating after each step, where the scheme calculates in steps")
    tournaments: list[CalculatedTournament] = documented("its games by tournament")
    sums: list[CalculatedSum] = documented("the sums over the games, as the formula has them")
    unrounded: float = documented("what the formula gives, points")
    rounding: str = documented("how it is rounded")
    limited: str | None = documented("the limit that the rating keeps instead, such as a floor; null: none acted")
    adds_up: bool | None = documented("whether the games add up to the rating; null: the scheme has no lines by game")


@attrs.frozen(kw_only=True, slots=False)
class LeftOutGame:
    """A game that does not count for a list, and the reason."""

    game: str = documented("key of the game")
    ended_at: str = documented("when it ended, as precisely as it is known")
    tournament: str | None = documented("name of the tournament")
    round: str | None = documented("the round, as it was recorded")
    opponent: str = documented("what the opponent is called")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    reason: str = documented("a word for it, such as unplayed, voided, unrated opponent")
    voided_by: int | None = documented("the proposal that voided it")
    why: str | None = documented("the reason of that proposal; null: none, or erased")


@attrs.frozen(kw_only=True, slots=False)
class ListCalculation:
    """The calculation of a player's rating on a list, from the rating on the list before."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    pool: str = documented("the pool")
    list_: str | None = documented("name of the published list; null: none is published of this instant")
    as_of: str = documented("the day of the list")
    since: str | None = documented("the day of the list before, after which games count; null: from the first one on")
    rating_before: float | None = documented(
        "the rating on the list before, else before the first game, points; null: none"
    )
    rating: float | None = documented("the rating on this list by what is known, points; null: not listed")
    change: float | None = documented("from the one to the other, points")
    published: float | None = documented("the rating that the list was published with, points; null: none")
    batches: list[CalculatedBatch] = documented("the games that count, oldest first, as they were rated together")
    omitted: int = documented("older parts that the caller did not ask for", minimum=0)
    otherwise: float | None = documented(
        "the change that no game made, points: time, a conversion, another list; null: unknown"
    )
    left_out: list[LeftOutGame] = documented(
        "the games that do not count for it, oldest first; without those of imports that were taken back"
    )
    adds_up: bool | None = documented(
        "whether all games add up to the stored ratings; null: the scheme has no lines by game"
    )
    differences: list[str] = documented("what does not add up, or differs from what is stored or published")


class _Span(NamedTuple):
    """The instants between which ratings come into force that count for a list: after the first, up to the last."""

    pool: Pool
    since_ms: int
    at_ms: int
    publication: Publication | None


@in_one_snapshot
def list_calculation(
    ledger: OpenLedger, person: Person, listed: str, pool: str | None = None, *, most: int | None = None
) -> ListCalculation:
    """Return the calculation of a player's rating on a list.

    Args:
        ledger: the ledger.
        person: the player.
        listed: a published list as ``lists`` names it; or a day, month or year: the last list published of it, or, if
            none was, the ratings that came into force in it.
        pool: name of the pool; by default that of the list, or the first one.
        most: the newest games, periods or events that are shown; None: all.

    Raises:
        UnknownNameError: no such list or pool, or the player has neither a rating on it nor a game that could count.
        MalformedError: the list is of another pool, or the word is neither a list nor a day.
    """
    span = _span(ledger, listed, pool)
    states = ledger.states(span.pool)
    rows = _counting_rows(ledger, span, person.player)
    groups = [list(together) for _, together in groupby(rows, key=_together(span.pool))]
    shown = groups if most is None else groups[max(len(groups) - most, 0) :]
    maker = _Maker(ledger, span.pool, person.player)
    batches = [maker.batch(group) for group in shown]
    left_out = maker.left_out + [maker.unrated(row) for row in _unrated_rows(ledger, span, person.player)]
    before = None if span.since_ms == BEGINNING else states.listed_at(person.player, span.since_ms)
    if before is None and batches and len(shown) == len(groups):
        before = batches[0].before  # who was on no list came with it
    now = states.listed_at(person.player, span.at_ms)
    if not groups and not left_out and now is None and before is None:
        hint = "neither a rating on it nor a game that could count for it"
        raise UnknownNameError("player", display_name(person), hint, where=f"on the list {listed}")
    published = None
    if span.publication is not None:
        published = published_rating(ledger, span.pool, person.player, span.publication).published
    differences = [*maker.differences, *_of_list(span.publication, published, now)]
    change = _change(before, now)
    return ListCalculation(
        player=person.player,
        name=display_name(person),
        pool=span.pool.name,
        list_=None if span.publication is None else span.publication.name,
        as_of=day(span.at_ms),
        since=None if span.since_ms == BEGINNING else day(span.since_ms),
        rating_before=before,
        rating=now,
        change=change,
        published=published,
        batches=batches,
        omitted=len(groups) - len(shown),
        otherwise=None if len(shown) < len(groups) else _otherwise(change, batches),
        left_out=sorted(left_out, key=lambda game: (game.ended_at, game.game)),
        adds_up=False if maker.differences else None if any(batch.adds_up is None for batch in batches) else True,
        differences=differences,
    )


def _span(ledger: OpenLedger, listed: str, pool: str | None) -> _Span:
    """Return the instants of a list: from the list before, or of a list that is not published from its own days on."""
    publications = Publications(ledger)
    if "@" in listed:
        named = publications.named(listed)
        if pool not in {None, named.event.pool}:
            raise MalformedError([f"{named.name} is no list of pool {pool!r}"])
        return _published_span(ledger, publications.all(named.event.pool), named)
    rated_by = ledger.pool(pool)
    every = publications.all(rated_by.name)
    of_then = [each for each in every if each.event.as_of.startswith(listed)]
    if listed and of_then:
        return _published_span(ledger, every, max(of_then, key=lambda each: (each.at_ms, each.position)))
    try:
        first_ms, at_ms = instant_ms(listed), instant_end_ms(listed)
    except ValueError as error:
        raise MalformedError([f"{error}; give a published list as 'lists' names it, or a day, month or year"]) from None
    since_ms = first_ms - 1
    states = ledger.states(rated_by)
    # On any day the list of the last period is in force; it follows on that of the period before.
    if (closed_ms := states.last_closing_ms(at_ms)) is not None:
        before_ms = states.last_closing_ms(min(since_ms, closed_ms - 1))
        since_ms = BEGINNING if before_ms is None else before_ms
    earlier = [each.at_ms for each in every if each.at_ms < at_ms]
    return _Span(rated_by, max([since_ms, *earlier]), at_ms, None)


def _published_span(ledger: OpenLedger, every: Sequence[Publication], named: Publication) -> _Span:
    earlier = [each.at_ms for each in every if each.at_ms < named.at_ms]
    return _Span(ledger.pool(named.event.pool), max(earlier, default=BEGINNING), named.at_ms, named)


def _counting_rows(ledger: OpenLedger, span: _Span, player: int) -> list[Row]:
    """Return the player's rows of the history whose ratings come into force within the span, in rating order."""
    bounds = []
    for ms in (span.since_ms, span.at_ms):
        last = queries.fetch_first(ledger.views.connection, queries.ROW_AT, (span.pool.pool, player, ms))
        bounds.append(0 if last is None else last["n"])
    arguments = (span.pool.pool, player, *bounds)
    return list(queries.fetch_dicts(ledger.views.connection, queries.SIDES_BETWEEN, arguments))


def _unrated_rows(ledger: OpenLedger, span: _Span, player: int) -> list[Row]:
    """Return the unrated games of a list, without those of files that were taken back: they were never the player's."""
    every = marks.unrated_games(ledger, span.pool, player, EVERY_ROW)
    rows = [row for row in every if span.since_ms < row["rated_ms"] <= span.at_ms]
    gone = marks.taken_back_imports(ledger, (row["voided_by"] for row in rows if row["voided_by"] is not None))
    return [row for row in rows if row["voided_by"] not in gone]


def _together(pool: Pool) -> Callable[[Row], tuple[object, ...]]:
    def place(row: Row) -> tuple[object, ...]:
        by_game = pool.eras[pool.era_at(row["rated_ms"])].scheme.rhythm is Rhythm.GAME
        return row["rated_ms"], row["batch"], row["n"] if by_game else 0

    return place


def _of_list(publication: Publication | None, published: float | None, now: float | None) -> Iterator[str]:
    """Yield the difference between a published list and the same list by what is known."""
    if publication is None or published == now:
        return
    then, today = ("no rating" if rating is None else f"{rating:.10g}" for rating in (published, now))
    yield (
        f"the list has {then}, the ledger now gives {today}: --known-at {publication.name} shows the "
        "calculation of then"
    )


def _otherwise(change: float | None, batches: Sequence[CalculatedBatch]) -> float | None:
    """Return the part of a change that no game made; None if a rating is missing."""
    changes = [batch.change for batch in batches]
    if change is None or None in changes:
        return None
    # Ratings are floats, and their differences need not add up to the last bit.
    rest = change - sum(each for each in changes if each is not None)
    return 0.0 if abs(rest) < 1e-6 else rest


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def exact_sum(values: Sequence[float]) -> float:
    """Return the sum of decimals as they are printed: hundredths add up to hundredths."""
    if not all(map(isfinite, values)):
        return sum(values)
    return float(sum((Decimal(repr(float(value))) for value in values), Decimal(0)))


class _Maker:
    """The batches of one player's calculation; it notes the games that a formula leaves out, and what differs."""

    def __init__(self, ledger: OpenLedger, pool: Pool, player: int) -> None:
        self._ledger = ledger
        self._pool = pool
        self._player = player
        self.left_out: list[LeftOutGame] = []
        self.differences: list[str] = []

    def batch(self, rows: Sequence[Row]) -> CalculatedBatch:
        """Return the games of some rows of the history that were rated together."""
        era = self._pool.eras[self._pool.era_at(rows[0]["rated_ms"])]
        part = player_batch(self._ledger, self._pool, rows[0])
        explanation = era.scheme.explained(part.side, part.meetings, part.when, era.numbers)
        lines = explanation.lines or _plain_lines(part, explanation, era)
        # Of the sides of games only those that the batch has; each is faults by its place in the journal.
        by_position = {row["position"]: row for row in rows}
        games = [by_position[position] for position in part.positions]
        as_of = None if rows[0]["rated_ms"] == OPEN else day(rows[0]["rated_ms"])
        faults = [*explanation.differences(part.meetings), *_of_rows(part, explanation, rows)]
        self.differences += [f"{as_of or 'open period'}: {each}" for each in faults]
        is_listed = partial(era.scheme.listed, numbers=era.numbers)
        before = part.side.before.rating if is_listed(part.side.before) else None
        after = explanation.result if is_listed(part.side.after) else None
        sums = [
            CalculatedSum(
                symbol=each.symbol,
                meaning=each.meaning,
                brought=each.brought,
                games=sum_of_lines(explanation.lines, part.meetings, each.of),
                total=each.total,
            )
            for each in explanation.sums
        ]
        return CalculatedBatch(
            rated_with=RATED_WITH[era.scheme.rhythm],
            as_of=as_of,
            scheme=era.scheme.name,
            source=explanation.source,
            before=before,
            began_with=start_from_pool(self._ledger, self._pool, self._player, part.positions),
            after=after,
            change=_change(before, after),
            rule=explanation.rule,
            terms=formula_terms(explanation),
            steps=[FormulaTerm(**step._asdict()) for step in explanation.steps],
            tournaments=self._tournaments(part, lines, games),
            sums=sums,
            unrounded=explanation.unrounded,
            rounding=explanation.rounding,
            limited=explanation.limited or None,
            adds_up=not faults if explanation.lines or era.scheme.rhythm is Rhythm.GAME or faults else None,
        )

    def _tournaments(
        self, part: PlayerBatch, lines: Sequence[GameLine], games: Sequence[Row]
    ) -> list[CalculatedTournament]:
        """Return the games of a batch by tournament, in the order of the first game of each."""
        called = names(self._ledger, set(part.opponents))
        began: Sequence[str | None] = [day(ms) for ms in part.began_ms] or [None] * len(games)
        by_tournament: dict[tuple[str | None, str | None], list[int]] = {}
        for place, row in enumerate(games):
            by_tournament.setdefault((row["tournament"], began[place]), []).append(place)
        made = []
        for (tournament, first_day), places in by_tournament.items():
            counting = []
            for place in places:
                if lines[place].left_out:
                    row, opponent = games[place], part.opponents[place]
                    self.left_out.append(_left_out(row, opponent, called[opponent], lines[place].left_out))
                else:
                    counting.append(place)
            if not counting:
                continue
            shown = [
                _line(games[place], part.meetings[place], lines[place], part.opponents[place], called)
                for place in counting
            ]
            made.append(_tournament(tournament, first_day, lines[counting[0]].own, shown))
        return made

    def unrated(self, row: Row) -> LeftOutGame:
        """Return a game that is not rated, from its row in the book."""
        opponent = row["white"] if row["white"] != self._player else row["black"]
        called = names(self._ledger, {opponent})[opponent]
        return _left_out(row, opponent, called, row["reason"], row["voided_by"], row["why"])


def _plain_lines(part: PlayerBatch, explanation: Explanation, era: Era) -> tuple[GameLine, ...]:
    """Return lines without the scheme's own: of a game that is rated by itself with the change of the rating."""
    ratings = explanation.opponents or tuple(meeting.opponent.rating for meeting in part.meetings)
    by_game = era.scheme.rhythm is Rhythm.GAME
    own = part.side.before.rating
    points = explanation.result - own if by_game else None
    return tuple(GameLine(rating, own, points=points) for rating in ratings)


def _of_rows(part: PlayerBatch, explanation: Explanation, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what differs between a calculation and the stored rows of its games."""
    if len(part.meetings) != len(rows):
        yield f"{len(rows)} games have a row, {len(part.meetings)} were calculated"
    for name, stored, own in (
        ("before", rows[0]["rating_before"], part.side.before.rating),
        ("after", rows[-1]["rating"], explanation.result),
    ):
        if stored != own:
            yield f"the rating {name} is stored as {stored}, calculated as {own}"


def _line(row: Row, meeting: OpponentGame, line: GameLine, opponent: int, called: dict[int, str]) -> CalculatedLine:
    return CalculatedLine(
        game=row["key"],
        ended_at=row["ended_at"],
        round=row["round"],
        colour="black" if meeting.colour else "white",
        result=RESULT[int(2 * meeting.score)],
        opponent=called[opponent],
        opponent_player=opponent,
        opponent_rating=line.opponent,
        difference=line.difference,
        limit=line.limit or None,
        score=meeting.score,
        expected=line.expected,
        gain=line.gain,
        weight=line.weight,
        factor=line.factor,
        change=line.points,
        worth=line.worth,
        words=line.words or None,
    )


def _tournament(
    name: str | None, began: str | None, own_rating: float, lines: list[CalculatedLine]
) -> CalculatedTournament:
    """Return a tournament with the sums over its lines."""

    def added(column: str, *, weighed: bool = False) -> float | None:
        values = [(line.weight if weighed else 1.0, getattr(line, column)) for line in lines]
        if any(value is None for _, value in values):
            return None
        return exact_sum([weight * value for weight, value in values])

    factors = {line.factor for line in lines}
    return CalculatedTournament(
        tournament=name,
        began=began,
        own_rating=own_rating or None,
        factor=factors.pop() if len(factors) == 1 else None,
        games=len(lines),
        score=added("score", weighed=True) or 0.0,
        expected=added("expected", weighed=True),
        gain=added("gain", weighed=True),
        change=added("change"),
        average_rating=exact_sum([line.opponent_rating for line in lines]) / len(lines),
        lines=lines,
    )


def _left_out(
    row: Row, opponent: int, called: str, reason: str, voided_by: int | None = None, why: str | None = None
) -> LeftOutGame:
    return LeftOutGame(
        game=row["key"],
        ended_at=row["ended_at"],
        tournament=row["tournament"],
        round=row["round"],
        opponent=called,
        opponent_player=opponent,
        reason=reason,
        voided_by=voided_by,
        why=why,
    )
