"""The PlayChess scheme (playchess.de, 2008): rating runs, by performance up to 10 games and by k·(W - We) after that.

Sources: PlayChess rating page (playchess.de/rules/rating), version 6.02 of 2008-03-31, with the equations' numbers;
its games page (rules/games) and registration page (tutor/register); IECG Rating Rules 1.7 of 27 May 1999
(iecg.org/Ratrul.htm), which it repeats, where it is silent; and, for two switches that are off by default, their later
kin LSS (lss.chess-server.net, documents 752 to 755). The page's factor p of k = r·p is called g
here, as LSS does: p is the percentage result.

"Tournament Entry Ratings, which are valid on the day of the rating run, are used": a game does not state the rating
with which its players entered the tournament, so each opponent counts with the list rating in force before the run,
and one who has never been rated with the declared playing strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ledger.runtime.arith import log10, logistic
from ledger.schemes.scheme import (
    COUNTS,
    HALF_MOVES_UNKNOWN,
    TOO_SHORT,
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
    common_reason,
    opponent_of,
    state,
)
from ledger.schemes.settings import (
    PeriodSettings,
    numbers_of,
    require_not_negative,
    require_positive,
    require_whole,
    setting,
)

PAGE = "PlayChess rating page"
GAMES_PAGE = "PlayChess games page"
IECG = "IECG Rating Rules 1.7"
LSS = "LSS document"
ENDED_RESIGNATION, ENDED_AGREEMENT = 1, 2  # places in ledger.model.Termination
WIN = 1.0


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme. Ratings in points, lengths in games, half-moves or months."""

    period_months: float = setting(2.0, "length of a period in calendar months", "months", f"{IECG} II.1: '2 months'")
    initial: float = setting(
        1000.0,
        "strength without a declared rating, for the opponents",
        "points",
        "PlayChess registration: '800 and 1100'",
    )
    provisional_games: float = setting(10.0, "games to an established rating", "games", f"{PAGE}: 'at least 10 games'")
    cut_off: float = setting(400.0, "largest difference that counts", "points", f"{PAGE}: 'larger than 400 points'")
    largest_change: float = setting(800.0, "D(1), and -D(0)", "points", f"{PAGE}, eq. (2): 'D(1)= 800'")
    min_half_moves: float = setting(
        20.0, "a game resigned or agreed drawn has at least", "half-moves", f"{GAMES_PAGE}: 'before 10 moves'"
    )
    moves_alone: bool = setting(
        False,  # noqa: FBT003
        "that length for every game, however it ended",
        "switch",
        f"{GAMES_PAGE}: 'moves played alone'",
    )
    low_end: bool = setting(False, "r falls to 0 below 600 points", "switch", f"{LSS} 754; not in PlayChess")  # noqa: FBT003
    win_bonus: bool = setting(False, "a won game adds the bonus B", "switch", f"{LSS} 754; not in PlayChess")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_whole(self, provisional_games=(0, 10_000))
        require_positive(self, "cut_off", "largest_change")
        require_not_negative(self, "initial", "min_half_moves")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points; the entry rating before the first run")
    games: float = state("rated games")
    score_sum: float = state("scores of the games up to an established rating")
    opponent_sum: float = state("opponents' ratings in those games, points")
    has_rating: float = state("1 if *rating* is one, 0 if it is a declared strength")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player, with the entry rating."""
    # The declared playing strength "does not influence your own rating. It influences the rating of your first
    # opponents" (PlayChess registration page).
    return Player(numbers.initial if newcomer.declared is None else float(newcomer.declared))


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with *games* rated games, which go on counting."""
    # Fewer games than an established rating needs count in eq. (7) as even scores against opponents of *rating*.
    if games >= numbers.provisional_games:
        return Player(rating, games, has_rating=1.0)
    return Player(rating, games, games / 2.0, rating * games, 1.0)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history, whose games go on counting.

    A rating without a number of games is an established one.
    """
    return carry(seed.rating, numbers.provisional_games if seed.games is None else seed.games, newcomer, numbers)


def refuse(
    outcome: int,
    termination: int,
    half_moves: int,
    rated: bool,
    white: int,  # noqa: ARG001
    black: int,  # noqa: ARG001
    numbers: Any,
) -> int:
    """Return the reason why a game is not rated (an index into ``REASONS``), or 0. An unknown length is accepted."""
    common = common_reason(outcome, termination, rated)
    if common != COUNTS:
        return common
    # "One player resigned the game before 10 moves were played" or "Both players agreed a draw before 10 moves were
    # played"; a game lost on time is rated. (The same page: validity "is determined by the number of moves played
    # alone"; the switch takes it at its word.)
    needs_moves = numbers.moves_alone or termination in (ENDED_RESIGNATION, ENDED_AGREEMENT)
    if needs_moves and half_moves != HALF_MOVES_UNKNOWN and half_moves < numbers.min_half_moves:
        return TOO_SHORT
    return COUNTS


def counted(own: float, opponent: float, cut_off: float) -> float:
    """Return the opponent's rating as it counts, in rating points."""
    # "Anytime the difference is larger than 400 points, the opponents rating is treated as being 400 points
    # higher/lower than the players rating."
    if opponent > own + cut_off:
        return own + cut_off
    if opponent < own - cut_off:
        return own - cut_off
    return opponent


def rating_difference(p: float, largest: float) -> float:
    """Return D(p) of eq. (2) in rating points: -400·log10((1-p)/p)."""
    # "and D(0) = -800 and D(1)= 800", which no other p may exceed: 199 wins and a draw would, by the formula
    if p <= 0.0:
        return -largest
    if p >= 1.0:
        return largest
    difference = -400.0 * log10((1.0 - p) / p)
    if difference > largest:
        return largest
    if difference < -largest:
        return -largest
    return difference


def correction(p: float) -> float:
    """Return F of eq. (7), from 0.5 for p = 0 and 1 to 1 for p = 1/2."""
    # "F = -2*p*p + 2*p + 0.5"
    return (-2.0 * p * p + 2.0 * p) + 0.5


def provisional_rating(opponent_sum: float, score_sum: float, games: float, largest: float) -> float:
    """Return the provisional rating of eq. (7) in rating points, over all of *games*.

    "Rp = Rc + D(p)*F", with the percentage result p of eq. (3).
    """
    p = score_sum / games
    return opponent_sum / games + rating_difference(p, largest) * correction(p)


def r_factor(rating: float) -> float:
    """Return R of eq. (5) by the rating of the previous list: 10 from 2400, 20 to 2000."""
    # "r = 70-Ro/40" between: a straight line from one to the other
    if rating >= 2400.0:
        return 10.0
    if rating > 2000.0:
        return 70.0 - rating / 40.0
    return 20.0


def lss_r(rating: float) -> float:
    """Return R as LSS has it: also Rold/20 - 10 below 600, and 0 below 200."""
    if rating < 200.0:
        return 0.0
    if rating < 600.0:
        return rating / 20.0 - 10.0
    return r_factor(rating)


def g_factor(games: float) -> float:
    """Return the second factor of eq. (5), 1 to 1.5."""
    # by the "number of all rated games upto the previous rating list": those of this run do not lower it. No gap and no
    # overlap; the factor jumps between 15 and 16 games alone (RULES 5.1).
    if games >= 80.0:
        return 1.0
    if games > 30.0:
        return 1.4 - games / 200.0
    if games > 15.0:
        return 1.25
    return 1.5


def k_factor(rating: float, games: float) -> float:
    """Return the K-factor k = r·g of eq. (5), points: r by the rating, g by the number of games."""
    return r_factor(rating) * g_factor(games)


def bonus(own: float, opponent: float) -> float:
    """Return the bonus in rating points for a won game, by LSS document 754.

    B = (160 - delta)/30·V for delta = own - opponent below 150.
    """
    delta = own - opponent
    if delta >= 150.0 or own <= 1800.0:
        return 0.0
    if own > 2400.0:
        v = 1.2
    elif own > 2300.0:
        v = 0.8
    elif own > 2200.0:
        v = 0.5
    elif own > 2000.0:
        v = 0.3
    else:
        v = 0.2
    return (160.0 - delta) / 30.0 * v


def change(own: float, opponent: float, score: float, k: float, with_bonus: bool) -> float:
    """Return one game's change dR of eq. (4) in rating points: k·(W - We).

    We is by eq. (1); *opponent* as ``counted``.
    """
    moved = k * (score - logistic(own - opponent))
    if with_bonus and score == WIN:
        moved += bonus(own, opponent)
    return moved


def rate_run(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Rate one player's games of one rating run."""
    # The games up to the previous list decide which formula rates the players, as Ro and Pn do: a player without an
    # established rating gets eq. (7) over all games so far, however many the run brings. The page says "more than 10"
    # games and "at least 10"; the latter is in the scheme itself, the former in that for dummies (RULES 8).
    own, scores, opponents = player.rating, player.score_sum, player.opponent_sum
    after.games = player.games + (games.last - games.first)
    if player.games < numbers.provisional_games:
        for game in range(games.first, games.last):
            other = opponent_of(games, game).rating
            # "anytime", also without a game; but a declared strength, which "does not influence your own rating", is
            # no rating of one's own
            opponents += counted(own, other, numbers.cut_off) if player.has_rating > 0.0 else other
            scores += games.score[game]
        after.rating = provisional_rating(opponents, scores, after.games, numbers.largest_change)
    else:
        k = (lss_r(own) if numbers.low_end else r_factor(own)) * g_factor(player.games)
        moved = 0.0
        for game in range(games.first, games.last):
            other = counted(own, opponent_of(games, game).rating, numbers.cut_off)
            moved += change(own, other, games.score[game], k, numbers.win_bonus)
        # eq. (6): "Rn = Ro + SUM(dR)"
        after.rating = own + moved
    after.score_sum = scores
    after.opponent_sum = opponents
    after.has_rating = 1.0


def expected_score(player: Any, opponent: Any, numbers: Any) -> float:
    """Return the expected score, from 0 to 1, by eq. (1) with the cut-off."""
    return logistic(player.rating - counted(player.rating, opponent.rating, numbers.cut_off))


def provisional(player: Player, numbers: Settings) -> bool:
    """Return True up to the game that makes the rating established."""
    return bool(player.games < numbers.provisional_games)


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of one player's games in one rating run with its numbers."""
    before = own.before
    if before.games < numbers.provisional_games:
        others = [meeting.opponent.rating for meeting in meetings]
        if before.has_rating:
            others = [counted(before.rating, other, numbers.cut_off) for other in others]
        source = f"{PAGE}, eq. (7): fewer than {numbers.provisional_games:g} games up to the previous list"
        explanation = explain_provisional(
            own.after, before.games + len(meetings), others, source, numbers.largest_change
        )
        return explanation._replace(lines=provisional_lines(own, meetings, others, numbers), sums=provisional_sums(own))
    r = lss_r(before.rating) if numbers.low_end else r_factor(before.rating)
    others = [counted(before.rating, meeting.opponent.rating, numbers.cut_off) for meeting in meetings]
    pairs = zip(others, meetings, strict=True)
    won = [bonus(before.rating, other) for other, meeting in pairs if meeting.score == WIN]
    explanation = explain_established(own, meetings, others, r, f"{PAGE}, eq. (4) to (6)")
    explanation = explanation._replace(lines=established_lines(own, meetings, others, r, numbers))
    change = FormulaSum("ΔR", "points", own.after.rating - before.rating, "change of the rating")
    explanation = explanation._replace(sums=(*explanation.sums, change))
    if not numbers.win_bonus:
        return explanation
    b = Term("B", sum(won), "bonus of the won games, (160 - delta)/30·V each")
    return explanation._replace(
        rule=f"{explanation.rule} + B", terms=(*explanation.terms, b), source=f"{explanation.source}; {LSS} 754"
    )


def provisional_lines(
    own: ExplainedPlayer, meetings: Sequence[OpponentGame], others: Sequence[float], numbers: Settings
) -> tuple[GameLine, ...]:
    """Return the games of a provisional player; *others* are the opponents' ratings that count."""
    return tuple(
        GameLine(other, own.before.rating, limit=_limit(meeting, other, numbers))
        for meeting, other in zip(meetings, others, strict=True)
    )


def _limit(meeting: OpponentGame, other: float, numbers: Settings) -> str:
    """Return the rule by which an opponent's rating counts as *other*; empty if it counts as it is."""
    return "" if other == meeting.opponent.rating else f"{numbers.cut_off:g}-point rule"


def provisional_sums(own: ExplainedPlayer) -> tuple[FormulaSum, ...]:
    """Return the sums of a provisional rating over all games so far."""
    before, after = own.before, own.after
    return (
        FormulaSum("N", "games", after.games, "rated games so far", before.games),
        FormulaSum("W", "score", after.score_sum, "score in them", before.score_sum),
        FormulaSum("ΣR", "opponent", after.opponent_sum, "sum of the opponents' ratings", before.opponent_sum),
    )


def established_lines(
    own: ExplainedPlayer, meetings: Sequence[OpponentGame], others: Sequence[float], r: float, numbers: Settings
) -> tuple[GameLine, ...]:
    """Return the games of an established player, each with its change; *others* as they count."""
    rating, k = own.before.rating, r * g_factor(own.before.games)
    lines = []
    for meeting, other in zip(meetings, others, strict=True):
        e = logistic(rating - other)
        more = bonus(rating, other) if numbers.win_bonus and meeting.score == WIN else 0.0
        limit = _limit(meeting, other, numbers)
        points = k * (meeting.score - e) + more
        words = f"bonus {more:.2f}" if more else ""
        lines.append(GameLine(other, rating, rating - other, limit, e, meeting.score - e, 1.0, k, points, words=words))
    return tuple(lines)


def explain_provisional(
    after: Player, games: float, others: Sequence[float], source: str, largest: float
) -> Explanation:
    """Return the explanation of a provisional rating by eq. (7): *others* are the opponents' ratings that count."""
    p = after.score_sum / games
    terms = (
        Term("N", games, "rated games so far, this run included"),
        Term("ΣR", after.opponent_sum, "sum of the opponents' ratings in them"),
        Term("p", p, "percentage result in them, points by games"),
        Term("D(p)", rating_difference(p, largest), f"-400·log10((1-p)/p), at most {largest:g} either way"),
        Term("F", correction(p), "correction -2·p·p + 2·p + 0.5"),
        *(Term(f"R{i}", other, f"opponent {i} of this run as it counts") for i, other in enumerate(others, 1)),
    )
    return Explanation("ΣR / N + D(p)·F", terms, after.rating, after.rating, "none; shown to the nearest point", source)


def explain_established(
    own: ExplainedPlayer, meetings: Sequence[OpponentGame], others: Sequence[float], r: float, source: str
) -> Explanation:
    """Return eq. (4) to (6) with their numbers; *others* are the run's opponents as they count."""
    rating, games = own.before.rating, own.before.games
    expected = [logistic(rating - other) for other in others]
    g, scores = g_factor(games), [meeting.score for meeting in meetings]
    terms = (
        Term("Ro", rating, "rating of the previous list"),
        Term("Pn", games, "rated games up to the previous list"),
        Term("r", r, "by Ro"),
        Term("g", g, "by Pn"),
        Term("W", sum(scores), "points of this run"),
        Term("We", sum(expected), "expected points, 1 / (1 + 10^(-D/400)) each"),
        *(
            Term(f"dR{i}", r * g * (score - e), f"r·g·({score:g} - {e:.4f}) against {other:.1f} as it counts")
            for i, (score, other, e) in enumerate(zip(scores, others, expected, strict=True), 1)
        ),
    )
    return Explanation(
        "Ro + r·g·(W - We)", terms, own.after.rating, own.after.rating, "none; shown to the nearest point", source
    )


SCHEME = Scheme(
    name="playchess",
    title="PlayChess, by rating runs",
    source=f"{PAGE} 6.02 (2008-03-31); {IECG}",
    readings=(
        "The rating of a player with fewer than 10 games follows eq. (7); the scheme for dummies is one by itself.",
        "A rating is established from 10 games on, not from 11.",
        "The cut-off holds at any time, also for a rating without games; a declared strength is no rating.",
        "The factor p of k = r·p is called g; no percentage result brings more than D(1) = 800.",
    ),
    version=2,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accept_every_rating,
    refuse=refuse,
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    passes=(rate_run,),
    carry=carry,
    provisional=provisional,
)
