"""A rating calculator without a ledger: the effects of games on a rating, by the kernels of a scheme.

Games of a scheme by period or event are rated together as one period; of a scheme by game one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, Literal

import attrs

from ledger import schemes
from ledger.answers.asking import day
from ledger.book.timeline import BEGINNING, Era, Pool
from ledger.errors import MalformedError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Carry
from ledger.handle import utc_now
from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.runtime.calls import checked
from ledger.runtime.columns import FEW
from ledger.runtime.records import flat_of
from ledger.schemes.scheme import ExplainedPlayer, Explanation, Newcomer, OpponentGame, Rhythm, Scheme, Seed, When

_RESULTS: Mapping[float, Literal["win", "draw", "loss"]] = {1.0: "win", 0.5: "draw", 0.0: "loss"}
_SCORES: Mapping[float | str, float] = {score: score for score in _RESULTS} | {
    word: score for score, word in _RESULTS.items()
}
MOST_GAMES = 1_000
_ENOUGH = (10, 20, 30, 50, 60, 100, 200, 1_000)  # games of a player taken for established, the fewest that will do
_SHOWN = ("games", "rd", "volatility", "h", "events")  # the companions of a rating
# Values with which it shows whether a scheme asks for a fact at all.
_PROBES: Mapping[str, tuple[float, ...]] = {
    "games": (0, 1, 5, 29, 100),
    "deviation": (40, 90),
    "volatility": (0.03, 0.09),
    "highest": (9_000,),
    "k_factor": (10, 20, 40),
    "birth_year": (1900, 2020),
    "h": (0, 9_000),
}
_CALLED = {
    "deviation": "RD",
    "k_factor": "K-factor",
    "birth_year": "year of birth",
    "highest": "highest rating",
    "h": "H",
}


@attrs.frozen(kw_only=True)
class CalculationFacts:
    """The facts about a player from which a calculation starts; None for unknown ones.

    Attributes:
        rating: in the scheme's own unit.
        games: rated games behind it; by default as many as make an established player.
        deviation: RD, points.
        volatility: of Glicko-2.
        highest: highest rating so far, points.
        k_factor: K on the player's list.
        birth_year: year of birth.
        h: Savard's leading indicator of recent form, points.
    """

    rating: float
    games: float | None = None
    deviation: float | None = None
    volatility: float | None = None
    highest: float | None = None
    k_factor: float | None = None
    birth_year: int | None = None
    h: float | None = None


@attrs.frozen(kw_only=True, slots=False)
class FormulaTerm:
    """A symbol of a rating formula, with its value and meaning."""

    symbol: str = documented("as the formula has it, such as K or x17")
    value: float = documented("its value, in what the scheme counts in")
    meaning: str = documented("what it is")


@attrs.frozen(kw_only=True, slots=False)
class ExplainedRating:
    """The formula by which a rating was calculated, with its numbers, rounding and source."""

    rule: str = documented("the formula in the scheme's own symbols")
    terms: list[FormulaTerm] = documented("every symbol with its unrounded number")
    unrounded: float = documented("what the formula gives, points")
    result: float = documented("the rating after the game or the games together, points")
    rounding: str = documented("how the scheme gets from one to the other, or that it does not round")
    source: str = documented("document and section of the rule")
    opponents: list[float] = documented("the opponents' ratings that the formula took; empty where those given are")


@attrs.frozen(kw_only=True, slots=False)
class CalculatedGame:
    """A game of a calculation, with its expected score and its effect on the rating."""

    game: int = documented("its number, from 1", minimum=1)
    opponent_rating: float = documented("the opponent's rating, points")
    result: Literal["win", "draw", "loss"] = documented("for the player")
    expected: float = documented("the score that was expected of the player, 0 to 1")
    before: float = documented("the rating before it, points")
    after: float | None = documented("the rating after it, points; null: rated together, or no rating to show")
    change: float | None = documented("from the one to the other, points")


@attrs.frozen(kw_only=True, slots=False)
class ResultEffect:
    """The rating after a win, draw or loss, and the change to it."""

    rating: float | None = documented("the rating after it, points; null: the scheme lists no such player")
    change: float | None = documented("the change to it, points")


@attrs.frozen(kw_only=True, slots=False)
class PredictedOutcomes:
    """The ratings after a win, a draw and a loss against the only opponent."""

    expected_score: float = documented("the score that is expected of the player, 0 to 1")
    outcomes: dict[str, ResultEffect] = documented("by win, draw and loss")


@attrs.frozen(kw_only=True, slots=False)
class GameEffects:
    """The rating after games with known results, with each game and the formula."""

    rating_after: float | None = documented("the rating after them, points; null: the scheme lists no such player")
    change: float | None = documented("from the rating before to that, points")
    state_after: dict[str, float] = documented("what a rating is told with after them, by the scheme's names")
    games: list[CalculatedGame] = documented("each game")
    explanations: list[ExplainedRating] = documented("of each game or, where they are rated together, one for all")


@attrs.frozen(kw_only=True, slots=False)
class Calculation:
    """A calculation: the rating after games under a scheme, or what each result would bring."""

    scheme: str = documented("name of the scheme")
    title: str = documented("the same for people")
    on: str = documented("the day on which the games are rated")
    rated_with: str = documented("what is rated together")
    rating: float = documented("the rating before, in what the scheme counts in")
    assumed: dict[str, float] = documented("by player and opponent 2, ..., rated games that nobody gave")
    foretold: PredictedOutcomes | None = flattened()
    effects: GameEffects | None = flattened()

    @property
    def after(self) -> float | None:
        """The rating after the games, in rating points.

        It is None if the scheme lists no such player, or if no game has a result.
        """
        return None if self.effects is None else self.effects.rating_after


@attrs.frozen(kw_only=True)
class _Calculator:
    scheme: Scheme
    numbers: Any
    when: When
    day: float

    def begun(self, player: CalculationFacts) -> tuple[float, ...]:
        """Return the scheme's state of a player with these facts."""
        facts = attrs.asdict(player, filter=lambda field, _: field.name not in {"birth_year", "h"})
        state = self.scheme.begin(Newcomer(None, player.birth_year, self.day, Seed(**facts)), self.numbers)
        if player.h is None:
            return state
        # no list states H, so no seed does; a known H of a player replaces the rating
        return tuple(player.h if name == "h" else value for name, value in zip(self.scheme.state, state, strict=True))

    def asks_for(self, player: CalculationFacts, fact: str) -> bool:
        """Return whether the state of a player in the scheme depends on that fact."""
        changes: list[dict[str, Any]] = [{fact: value} for value in (None, *_PROBES[fact])]
        return len({self.begun(attrs.evolve(player, **change)) for change in changes}) > 1

    def established(self, player: CalculationFacts) -> CalculationFacts:
        """Return the player with a number of games if none was given and without one the rating is provisional."""
        if player.games is not None or not self._provisional(player):
            return player
        candidates = (attrs.evolve(player, games=float(games)) for games in _ENOUGH)
        return next((candidate for candidate in candidates if not self._provisional(candidate)), player)

    def _provisional(self, player: CalculationFacts) -> bool:
        state = self.begun(player)
        return self.scheme.is_provisional(state, self.numbers) or not self.scheme.is_listed(state, self.numbers)

    def one_by_one(self, own: Any, others: Sequence[Any], scores: Sequence[float]) -> list[ExplainedPlayer]:
        """Return the player before and after each game."""
        sides = []
        for other, score in zip(others, scores, strict=True):
            state = [*flat_of(own), *flat_of(other)]
            game = RateableGames([0], [1], [score], [self.day], [0, 1], [self.when.period], [self.when.day])
            engine.rate(FEW, self.scheme, self.numbers, game, state, [0, 0])
            sides.append(ExplainedPlayer(own, self.scheme.player_of(state)))
            own = sides[-1].after
        return sides

    def together(
        self, own: Any, others: Sequence[Any], scores: Sequence[float]
    ) -> tuple[ExplainedPlayer, list[OpponentGame]]:
        """Return the player before and after the period in which all the games are rated, and the games."""
        count, when = len(others), self.when
        opponents, days = list(range(1, count + 1)), [self.day] * count
        games = RateableGames([0] * count, opponents, list(scores), days, [0, count], [when.period], [when.day])
        side, *met = engine.rate_one_batch(self.scheme, self.numbers, games, [own, *others])
        pairs = zip(met, scores, strict=True)
        return side, [OpponentGame(other.before, score, 0, other.work, when.day) for other, score in pairs]

    def listed(self, state: Sequence[float]) -> float | None:
        """Return the rating of a state; None if the scheme lists no such player."""
        return state[0] if self.scheme.is_listed(state, self.numbers) else None


@checked
def rating(
    scheme: str,
    player: float | CalculationFacts,
    games: Iterable[tuple[float | CalculationFacts, float | str]],
    *,
    settings: Mapping[str, int | bool | str] | None = None,
    on: str | None = None,
) -> Calculation:
    """Calculate a rating after games under a scheme, as the command ``calc`` does; no ledger is needed.

    Args:
        scheme: its name, such as ``elo``, ``fide`` or ``glicko2``.
        player: the rating before the games, or more facts about the player.
        games: the opponents, each a rating or facts, with the player's results: win, draw, loss, or 1, 0.5, 0.
        settings: settings that differ from those of a new pool; decimals as text.
        on: the day on which the games are rated; today by default.

    Raises:
        UnknownNameError: no such scheme.
        MalformedError: no games, a result that is none, a number that is not finite, no such day, settings that the
            scheme cannot take, or a fact about a player that it does not use.
    """
    chosen, pairs, faults = schemes.find_scheme(scheme), list(games), list[str]()
    opponents, scores = [], []
    for pair in pairs:
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], float | int | str)
        if is_pair and pair[1] in _SCORES:
            opponents.append(_facts(pair[0], faults))
            scores.append(_SCORES[pair[1]])
        else:
            faults.append(f"{pair!r:.80} is no opponent with a result: win, draw, loss, or 1, 0.5, 0")
    own = _facts(player, faults)
    if faults or not pairs:
        raise MalformedError(faults or ["games must have one game at least"])
    return calculate(chosen, settings or {}, own, opponents, scores, on or day(int(utc_now().timestamp() * 1000)))


def _facts(player: object, faults: list[str]) -> CalculationFacts:
    """Return the facts about a player; note a fault if they are neither a rating nor facts of finite numbers."""
    facts = player if isinstance(player, CalculationFacts) else CalculationFacts(rating=player)  # type: ignore[arg-type]
    numbers = [value for value in attrs.astuple(facts) if value is not None]
    if not all(isinstance(value, int | float) and isfinite(value) for value in numbers):
        faults.append(f"{player!r:.80} must be a finite number, or CalculationFacts of such numbers")
    return facts


def calculate(
    scheme: Scheme,
    settings: Mapping[str, int | bool | str],
    own: CalculationFacts,
    opponents: Sequence[CalculationFacts],
    scores: Sequence[float],
    on: str,
) -> Calculation:
    """Calculate the effects of games on a rating, with the formula and its numbers.

    The *opponents* and the player's *scores*, 1, 0.5 or 0, are by game. With one opponent and no score the calculation
    has the rating after each possible result, as ``foretold``, instead of ``effects``.

    Raises:
        MalformedError: naming every setting that the scheme cannot take, and every fact that it does not use.
    """
    meant = scheme.complete_settings(settings)
    # A scheme with K as a setting keeps none of each player: the player's own takes the place of the setting.
    if own.k_factor is not None and "k" in meant and "k" not in settings:
        meant, own = {**meant, "k": f"{own.k_factor:g}"}, attrs.evolve(own, k_factor=None)
    numbers = scheme.numbers_from(meant)
    ms = instant_end_ms(on)
    # A pool with one scheme period says when the period closes in which games of that day are rated.
    era = Era(BEGINNING, "", scheme, numbers, meant, Carry.KEEP, (), 1)
    pool = Pool(1, "calculator", (era,))
    closing = pool.place(ms, None).rated_ms
    calculator = _Calculator(scheme=scheme, numbers=numbers, when=pool.when(0, closing, ms), day=ms / DAY_MS)
    _refuse_useless(calculator, own, opponents)
    players = [calculator.established(player) for player in (own, *opponents)]
    states = [calculator.begun(player) for player in players]
    names = ["player", *(f"opponent {i}" for i in range(1, len(players)))]
    assumed = {
        name: after.games
        for name, before, after in zip(names, (own, *opponents), players, strict=True)
        if before.games is None and after.games is not None
    }
    return Calculation(
        scheme=scheme.name,
        title=scheme.title,
        on=on,
        rated_with="each game by itself" if scheme.rhythm is Rhythm.GAME else f"one {scheme.rhythm.value}",
        rating=own.rating,
        assumed=assumed,
        foretold=None if scores else _foretold(calculator, states),
        effects=_effects(calculator, states, scores) if scores else None,
    )


def _refuse_useless(calculator: _Calculator, own: CalculationFacts, opponents: Sequence[CalculationFacts]) -> None:
    problems = [
        f"scheme {calculator.scheme.name!r} begins with no {_CALLED.get(fact, fact)} of a player: leave it out"
        for fact in _PROBES
        if any(
            getattr(player, fact) is not None and not calculator.asks_for(player, fact) for player in (own, *opponents)
        )
    ]
    if problems:
        raise MalformedError(problems)


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _foretold(calculator: _Calculator, states: Sequence[tuple[float, ...]]) -> PredictedOutcomes:
    scheme, numbers, when = calculator.scheme, calculator.numbers, calculator.when
    own, other = states
    return PredictedOutcomes(
        expected_score=engine.expected_result(scheme, numbers, own, other, when),
        outcomes=result_effects(scheme, numbers, own, other, when, own[0]),
    )


def result_effects(
    scheme: Scheme, numbers: Any, own: Sequence[float], other: Sequence[float], when: When, before: float | None
) -> dict[str, ResultEffect]:
    """Return the ratings after a win, a draw and a loss, from the states of two players.

    *before* is the player's rating now.
    """
    effects = {}
    for word, state in engine.predict(scheme, numbers, own, other, when).items():
        rating = state[0] if scheme.is_listed(state, numbers) else None
        effects[word] = ResultEffect(rating=rating, change=_change(before, rating))
    return effects


def _effects(calculator: _Calculator, states: Sequence[tuple[float, ...]], scores: Sequence[float]) -> GameEffects:
    scheme, when = calculator.scheme, calculator.when
    own, *others = map(scheme.player_of, states)
    if scheme.rhythm is Rhythm.GAME:
        sides = calculator.one_by_one(own, others, scores)
        parts = [(side, [OpponentGame(other, score)]) for side, other, score in zip(sides, others, scores, strict=True)]
    else:
        parts = [calculator.together(own, others, scores)]
    last = flat_of(parts[-1][0].after)
    after = calculator.listed(last)
    return GameEffects(
        rating_after=after,
        change=_change(own.rating, after),
        state_after={name: value for name, value in zip(scheme.state, last, strict=True) if name in _SHOWN},
        games=_games(calculator, states[1:], scores, [side for side, _ in parts]),
        explanations=[_explained(scheme.explained(*part, when, calculator.numbers)) for part in parts],
    )


def _games(
    calculator: _Calculator,
    others: Sequence[tuple[float, ...]],
    scores: Sequence[float],
    sides: Sequence[ExplainedPlayer],
) -> list[CalculatedGame]:
    """Return the games; *sides* has the player before and after each, or once if they are rated together."""
    by_itself = calculator.scheme.rhythm is Rhythm.GAME
    rows = []
    for number, (other, score) in enumerate(zip(others, scores, strict=True), 1):
        side = sides[number - 1] if by_itself else sides[0]
        after = calculator.listed(flat_of(side.after)) if by_itself else None
        rows.append(
            CalculatedGame(
                game=number,
                opponent_rating=other[0],
                result=_RESULTS[score],
                expected=engine.expected_result(
                    calculator.scheme, calculator.numbers, flat_of(side.before), other, calculator.when
                ),
                before=side.before.rating,
                after=after,
                change=_change(side.before.rating, after),
            )
        )
    return rows


def _explained(explanation: Explanation) -> ExplainedRating:
    return ExplainedRating(
        rule=explanation.rule,
        terms=formula_terms(explanation),
        unrounded=explanation.unrounded,
        result=explanation.result,
        rounding=explanation.rounding,
        source=explanation.source,
        opponents=list(explanation.opponents),
    )


def formula_terms(explanation: Explanation) -> list[FormulaTerm]:
    """Return the symbols of a scheme's formula with their values."""
    return [FormulaTerm(**term._asdict()) for term in explanation.terms]
