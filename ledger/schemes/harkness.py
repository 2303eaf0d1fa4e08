"""The Harkness scheme, used by the USCF from 1950 to 1960: the performance in one event is the new rating.

Source: Kenneth Harkness, published in 1956 (The Official Chess Handbook, 1967, pages 185-188), as encyclopaedias
restate it, quoted above the lines that implement it. What an unrated opponent counts is not in the restatement; a
setting says it. (In Chess Life of 20 August 1952 Harkness still took the median of the player's own and the opponents'
ratings for the strength of the competition; here it is the mean of the opponents, as published.) Only this scheme's
rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.schemes.scheme import (
    BatchGames,
    ExplainedPlayer,
    Explanation,
    FormulaSum,
    GameLine,
    Newcomer,
    OpponentGame,
    Rhythm,
    Scheme,
    Seed,
    Term,
    When,
    accept_every_rating,
    opponent_of,
    state,
)
from ledger.schemes.settings import numbers_of, require_not_negative, require_positive, setting

BOOK = "Harkness, The Official Chess Handbook, 1967, 185-188"
LIST = "Chess Life, 20 December 1953, rating list"
SAVARD = "Savard, A Proposed Rating System: 'that player's rating will be taken as 1000'"


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings in points."""

    per_percent: float = setting(10.0, "worth of a percentage point", "points", f"{BOOK}: 'plus 10 points'")
    unrated: float = setting(1000.0, "what an unrated opponent counts; 0: such games do not count", "points", SAVARD)
    one_event: bool = setting(True, "a rating by one event is provisional", "switch", f"{LIST}: 'only one tournament'")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        require_positive(self, "per_percent")
        require_not_negative(self, "unrated")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points; 0 of who has none, if no event has been rated")
    events: float = state("rated events")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the initial state of a new player: with a declared rating, or unrated (0)."""
    return Player(newcomer.declared or 0.0)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with a rating, which counts as one of more than one event."""
    return Player(rating, 2.0)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history, rated by more than one event."""
    return carry(seed.rating, seed.games or 0.0, newcomer, numbers)


def listed(player: Player, numbers: Settings) -> bool:  # noqa: ARG001
    """Return whether a player has a rating: a declared one, or one from an event."""
    return player.events > 0.0 or player.rating != 0.0


def provisional(player: Player, numbers: Settings) -> bool:
    """Return whether a rating is one "representing performance in only one tournament"."""
    return numbers.one_event and player.events == 1.0


def strength(player: Player, numbers: Settings) -> float:
    """Return a player's rating as an opponent, in rating points; 0 for an unrated one who does not count."""
    return player.rating if listed(player, numbers) else numbers.unrated


def counts(player: Player, numbers: Settings) -> bool:
    """Return whether a game against the player counts for the rating of an event."""
    return numbers.unrated > 0.0 or listed(player, numbers)


def performance(competition: float, percentage: float, numbers: Settings) -> float:
    """Return the rating in rating points that an event gives.

    Args:
        competition: mean of the opponents' ratings, points.
        percentage: share of the points won, 0..100.
        numbers: the settings.
    """
    # "the competition average plus 10 points for each percentage point above 50", "minus [...] below 50"
    return competition + numbers.per_percent * (percentage - 50.0)


def rate_event(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Rate one player's games of one event; a player without an opponent that counts keeps the state."""
    total = 0.0
    points = 0.0
    counted = 0.0
    for game in range(games.first, games.last):
        opponent = opponent_of(games, game)
        if counts(opponent, numbers):
            total += strength(opponent, numbers)
            points += games.score[game]
            counted += 1.0
    if counted == 0.0:
        after.rating = player.rating
        after.events = player.events
    else:
        # "the average rating of their competition is calculated"
        after.rating = performance(total / counted, 100.0 * points / counted, numbers)
        after.events = player.events + 1.0


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    """Return the score, from 0 to 1, that would keep the rating.

    It is 50 % and one point of it for each ``per_percent``.
    """
    if not (counts(player, numbers) and counts(opponent, numbers)):
        return 0.5
    difference = strength(player, numbers) - strength(opponent, numbers)
    share = 0.5 + difference / (100.0 * numbers.per_percent)
    if share > 1.0:
        return 1.0
    return 0.0 if share < 0.0 else share


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of one event with its numbers."""
    counted = [(strength(opponent, numbers), score) for opponent, score, *_ in meetings if counts(opponent, numbers)]
    games = float(len(counted))
    source = f"{BOOK}, Harkness system"
    if not counted:
        return Explanation(
            "R, no opponent was rated",
            (Term("R", own.before.rating, "rating before the event"),),
            own.before.rating,
            own.after.rating,
            "none",
            source,
            lines=tuple(_line(own, meeting.opponent, numbers) for meeting in meetings),
        )
    competition = sum(rating for rating, _score in counted) / games
    points = sum(score for _rating, score in counted)
    unrated = sum(1.0 for opponent, *_ in meetings if not listed(opponent, numbers))
    percentage = 100.0 * points / games
    what = f"each counted as {numbers.unrated:g}" if numbers.unrated else "not counted"
    terms = (
        Term("A", competition, "average rating of the competition"),
        Term("W", points, "points won"),
        Term("n", games, "games that count"),
        Term("U", unrated, f"games against unrated opponents, {what}"),
        Term("P", percentage, "percentage 100·W / n"),
        Term("c", numbers.per_percent, "points for a percentage point"),
    )
    return Explanation(
        "A + c·(P - 50)",
        terms,
        performance(competition, percentage, numbers),
        own.after.rating,
        "none; shown to the nearest point",
        source,
        lines=tuple(_line(own, meeting.opponent, numbers) for meeting in meetings),
        sums=(
            FormulaSum("n", "games", games, "games that count"),
            FormulaSum("W", "score", points, "points won"),
            FormulaSum("n·A", "opponent", games * competition, "sum of the opponents' ratings"),
        ),
    )


def _line(own: ExplainedPlayer, opponent: Player, numbers: Settings) -> GameLine:
    """Return a game of an event; one against an unrated opponent may not count."""
    left_out = "" if counts(opponent, numbers) else "unrated opponent"
    return GameLine(strength(opponent, numbers), own.before.rating, left_out=left_out)


SCHEME = Scheme(
    name="harkness",
    title="Harkness, 1950 to 1960",
    source=BOOK,
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accept_every_rating,
    passes=(rate_event,),
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.EVENT,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
