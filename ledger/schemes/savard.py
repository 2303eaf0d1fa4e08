"""Savard's proposed scheme: a rating E, a leading indicator H of recent form, and a Harkness start over ten games.

Source: John J. G. Savard, "A Proposed Rating System" (quadibloc.com), quoted above the lines that implement it. As
printed, the formula of E gives 1200 points for beating an equal, for its score runs to 100; here it runs to 1, and
``score_scale`` brings the printed one back. The copy breaks off where it would say what a rated player's game against a
newcomer does; ``rate_newcomers`` says it. Ranks "can be defined as done by FIDE or by the USCF"; the defaults are
FIDE's (30 games, 2400 once reached). Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.runtime.arith import logistic
from ledger.schemes.scheme import (
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Scheme,
    Seed,
    Term,
    When,
    accept_every_rating,
    state,
)
from ledger.schemes.settings import numbers_of, require_not_negative, require_positive, require_whole, setting

PAPER = "Savard, A Proposed Rating System"
TABLE = f"{PAPER}, Preliminaries"
RANK = f"{PAPER}: 'as done by FIDE'; B.02 8.3.3"
START = f"{PAPER}, Assignment of Initial Ratings"
BEGINNING, ORDINARY, ESTABLISHED = range(3)
RANKS = ("beginning", "ordinary", "established")


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings in points."""

    established_k: float = setting(24.0, "K of established players", "points", TABLE)
    established_q: float = setting(2.0, "Q of established players", "points", TABLE)
    established_p: float = setting(0.1, "P of established players", "share", TABLE)
    established_j: float = setting(0.02, "J of established players", "share", TABLE)
    established_m: float = setting(0.0, "M of established players", "share", TABLE)
    ordinary_k: float = setting(32.0, "K of ordinary players", "points", TABLE)
    ordinary_q: float = setting(3.0, "Q of ordinary players", "points", TABLE)
    ordinary_p: float = setting(0.2, "P of ordinary players", "share", TABLE)
    ordinary_j: float = setting(0.05, "J of ordinary players", "share", TABLE)
    ordinary_m: float = setting(0.0, "M of ordinary players", "share", TABLE)
    beginning_k: float = setting(48.0, "K of beginning players", "points", TABLE)
    beginning_q: float = setting(8.0, "Q of beginning players", "points", TABLE)
    beginning_p: float = setting(0.25, "P of beginning players", "share", TABLE)
    beginning_j: float = setting(0.1, "J of beginning players", "share", TABLE)
    beginning_m: float = setting(0.2, "M of beginning players", "share", TABLE)
    established_from: float = setting(2400.0, "rating that establishes; 0: none asked for", "points", RANK)
    established_games: float = setting(0.0, "rated games that establish; 0: none asked for", "games", RANK)
    established_ever: bool = setting(True, "the highest rating so far establishes", "switch", RANK)  # noqa: FBT003
    beginning_games: float = setting(30.0, "rated games from which a player is ordinary", "games", RANK)
    bonus: float = setting(400.0, "worth of a win over the opponent", "points", f"{PAPER}, Updating H")
    limit: float = setting(320.0, "largest difference in S where it would mislead", "points", f"{PAPER}, Updating H")
    score_scale: float = setting(1.0, "a win in E's formula; 100 as printed", "points", "our reading: 1")
    first_games: float = setting(10.0, "games that give the initial rating", "games", START)
    per_percent: float = setting(10.0, "worth of a percentage point at the start", "points", START)
    unrated: float = setting(1000.0, "what a newcomer counts for another", "points", START)
    rate_newcomers: bool = setting(False, "a newcomer's mean so far rates the opponent", "switch", "our reading: no")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        fields = attrs.fields(type(self))
        require_not_negative(self, *(field.name for field in fields if not isinstance(field.default, bool)))
        require_positive(self, "score_scale")
        for name in (f"{rank}_{letter}" for rank in RANKS for letter in "pjm"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} must be a share from 0 to 1, got {getattr(self, name)}")
        require_whole(self, first_games=(1, 10_000))


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player; E and H are 0 before the initial rating."""

    rating: float = state("E, points")
    h: float = state("H, points")
    games: float = state("rated games")
    left: float = state("games left to the initial rating")
    points: float = state("sum of the worths of the first games, points")
    peak: float = state("the highest E so far, points")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player; a declared rating makes the first ten games unnecessary."""
    if newcomer.declared is not None:
        return carry(newcomer.declared, 0.0, newcomer, numbers)
    return Player(left=numbers.first_games)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with a rating: it is E and H, and no initial rating is needed."""
    return Player(rating, rating, games, peak=rating)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history, who needs no initial rating.

    The highest rating counts for the rank.
    """
    player = carry(seed.rating, seed.games or 0.0, newcomer, numbers)
    player.peak = seed.highest_known
    return player


def rank_of(rating: float, peak: float, games: float, numbers: Settings) -> int:
    """Return ``ESTABLISHED``, ``ORDINARY`` or ``BEGINNING``, by rating, highest rating, and games before this."""
    # "The three ranks of players can be defined as done by FIDE": 2400 comes before the number of games
    best = peak if numbers.established_ever else rating
    if (
        (numbers.established_from > 0.0 or numbers.established_games > 0.0)
        and (numbers.established_from == 0.0 or best >= numbers.established_from)
        and games >= numbers.established_games
    ):
        return ESTABLISHED
    return BEGINNING if games < numbers.beginning_games else ORDINARY


def step_size(rank: int, score: float, numbers: Settings) -> float:
    """Return Z, the largest change of E by one game, in rating points."""
    # "equal to K in the table above if the game was a win or a loss", Q for a draw
    if rank == ESTABLISHED:
        return numbers.established_q if score == 0.5 else numbers.established_k
    if rank == ORDINARY:
        return numbers.ordinary_q if score == 0.5 else numbers.ordinary_k
    return numbers.beginning_q if score == 0.5 else numbers.beginning_k


def share(rank: int, score: float, numbers: Settings) -> float:
    """Return Y, from 0 to 1: the share of the latest game in H."""
    # "equal to P if the game was a win or a loss, and equal to J if the game was a draw"
    if rank == ESTABLISHED:
        return numbers.established_j if score == 0.5 else numbers.established_p
    if rank == ORDINARY:
        return numbers.ordinary_j if score == 0.5 else numbers.ordinary_p
    return numbers.beginning_j if score == 0.5 else numbers.beginning_p


def mixing(rank: int, numbers: Settings) -> float:
    """Return M, from 0 to 1: the share of H' in E''."""
    if rank == ESTABLISHED:
        return numbers.established_m
    return numbers.ordinary_m if rank == ORDINARY else numbers.beginning_m


def single_game(e: float, opponent_e: float, score: float, numbers: Settings) -> float:
    """Return S in rating points: the opponent's E, limited by the own E.

    The limit holds where a win would lower or a loss raise.
    """
    # The "own rating" is E, so that where H is far above E a win can still lower H (RULES 5.4).
    # "won [...] the player's own rating minus 320 points, whichever is greater"
    if score > 0.5 and opponent_e < e - numbers.limit:
        return e - numbers.limit
    # "lost [...] the player's own rating plus 320 points, whichever is less"
    if score < 0.5 and opponent_e > e + numbers.limit:
        return e + numbers.limit
    return opponent_e


def undecided(e: float, opponent_e: float, opponent_h: float, score: float) -> bool:
    """Return whether a draw changes nothing, because the opponent's E and H lie on both sides of the own E."""
    # "one is lower and the other higher": there is no R, "the player's rating is not changed"
    if score != 0.5:
        return False
    return (opponent_e > e > opponent_h) or (opponent_e < e < opponent_h)


def opponent_rating(e: float, opponent_e: float, opponent_h: float, score: float) -> float:
    """Return R, the opponent's worth in the main step, in rating points.

    If undecided it is the own E, which changes nothing.
    """
    # Where the opponent's E or H equals the own E both sentences give the same: no change (RULES 5.4).
    # a win, or a draw with both higher: "whichever of E or H for the opponent is lower"; H lower: "own E"
    if opponent_e > e and score >= 0.5:
        if opponent_h >= opponent_e:
            return opponent_e
        return opponent_h if opponent_h > e else e
    # a loss, or a draw with both lower: "whichever of E or H for the opponent is higher"; H higher: "own E"
    if opponent_e < e and score <= 0.5:
        if opponent_h <= opponent_e:
            return opponent_e
        return opponent_h if opponent_h < e else e
    return opponent_e


def new_h(h: float, s: float, score: float, y: float, numbers: Settings) -> float:
    """Return H' in rating points: ``(1-Y) * H + Y * (S + 800 * W - 400)``."""
    return (1.0 - y) * h + y * (s + numbers.bonus * (2.0 * score - 1.0))


def new_e(e: float, r: float, score: float, z: float, numbers: Settings) -> float:
    """Return E' in rating points: ``E + Z * (W - 1 / (10^((R-E)/400) + 1))``."""
    return e + z * numbers.score_scale * (score - logistic(e - r))


def updated(
    e: float, h: float, opponent_e: float, opponent_h: float, score: float, rank: int, numbers: Settings
) -> tuple[float, float]:
    """Return E'' and H' after one game, in rating points, from the numbers before it.

    If H is far from E, M can shrink a win.
    """
    # All by the values before the game; the new H comes into E by M alone (RULES 5.4).
    s = single_game(e, opponent_e, score, numbers)
    after_h = new_h(h, s, score, share(rank, score, numbers), numbers)
    r = opponent_rating(e, opponent_e, opponent_h, score)
    main = new_e(e, r, score, step_size(rank, score, numbers), numbers)
    # "E'' = (1 - M) * E' + M * H'"
    m = mixing(rank, numbers)
    return (1.0 - m) * main + m * after_h, after_h


def game_worth(opponent: float, score: float, numbers: Settings) -> float:
    """Return the rating points that one of the first games adds to the sum for the initial rating."""
    # "the average of the ratings of the players he played against, plus 10 points, or minus 10 points, for each
    # percentage point by which his winning percentage differs from 50%": 500 points for a single win.
    return opponent + numbers.per_percent * (100.0 * score - 50.0)


def estimate(newcomer: Player, opponent: float, score: float, numbers: Settings) -> float:
    """Return the mean over a newcomer's games with one more; after the last of them it is the initial rating."""
    games = numbers.first_games - newcomer.left + 1.0
    return (newcomer.points + game_worth(opponent, score, numbers)) / games


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Rate one game: change both players' states in place, from those before it."""
    white_e = white.rating
    black_e = black.rating
    lost = 1.0 - score  # Black's score
    if white.left == 0.0 and black.left == 0.0:
        white_h = white.h
        move(white, black_e, black.h, score, numbers)
        move(black, white_e, white_h, lost, numbers)
    elif white.left == 0.0:
        # "When a rated player plays against a player playing one of his first ten games:" - here the copy breaks off
        if numbers.rate_newcomers:
            newcomer = estimate(black, white_e, lost, numbers)
            move(white, newcomer, newcomer, score, numbers)
        start(black, white_e, lost, numbers)
    elif black.left == 0.0:
        if numbers.rate_newcomers:
            newcomer = estimate(white, black_e, score, numbers)
            move(black, newcomer, newcomer, lost, numbers)
        start(white, black_e, score, numbers)
    else:
        # "if he plays against another player who is playing one of his first ten games, [...] 1000"
        start(white, numbers.unrated, score, numbers)
        start(black, numbers.unrated, lost, numbers)


def move(player: Player, opponent_e: float, opponent_h: float, score: float, numbers: Settings) -> None:
    """Rate one game for one of its two players."""
    e = player.rating
    rank = rank_of(e, player.peak, player.games, numbers)
    e, h = updated(e, player.h, opponent_e, opponent_h, score, rank, numbers)
    player.rating = e
    player.h = h
    player.games += 1.0
    player.peak = max(player.peak, e)


def start(newcomer: Player, opponent: float, score: float, numbers: Settings) -> None:
    """Add one of the first games of a newcomer; the last of them gives E and H."""
    mean = estimate(newcomer, opponent, score, numbers)
    newcomer.games += 1.0
    newcomer.left -= 1.0
    newcomer.points += game_worth(opponent, score, numbers)
    if newcomer.left == 0.0:
        newcomer.rating = mean
        newcomer.h = mean
        newcomer.peak = mean


def listed(player: Player, numbers: Settings) -> bool:  # noqa: ARG001
    """Return True once the initial rating is known."""
    return player.left == 0.0


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    """Return the expected score, from 0 to 1, by the two E; an unrated player counts as at the start."""
    own = player.rating if listed(player, numbers) else numbers.unrated
    return logistic(own - (opponent.rating if listed(opponent, numbers) else numbers.unrated))


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of one game for one of its players, with its numbers."""
    (opponent, score, *_) = meetings[0]
    if own.before.left:
        return _explain_start(own, opponent, score, numbers)
    other_e, other_h = opponent.rating, opponent.h
    if opponent.left:
        if not numbers.rate_newcomers:
            return Explanation(
                "E, unchanged against a player in his first games",
                (Term("E", own.before.rating, "rating before the game"),),
                own.before.rating,
                own.after.rating,
                "none; shown to the nearest point",
                START,
            )
        other_e = other_h = estimate(opponent, own.before.rating, 1.0 - score, numbers)
    return _explain_game(own, other_e, other_h, score, numbers)


def _explain_start(own: ExplainedPlayer, opponent: Player, score: float, numbers: Settings) -> Explanation:
    other = numbers.unrated if opponent.left else opponent.rating
    games = numbers.first_games - own.before.left + 1.0
    terms = (
        Term("R", other, f"opponent's rating, {numbers.unrated:g} for one in his first games"),
        Term("W", score, "score"),
        Term("p", game_worth(other, score, numbers), f"worth of the game R + {numbers.per_percent:g}·(100·W - 50)"),
        Term("S", own.before.points, "sum of the worths before this game"),
        Term("n", games, f"games of the first {numbers.first_games:g}, this one included"),
    )
    rounding = "none; shown to the nearest point"
    if own.before.left > 1.0:
        rounding = f"no rating before game {numbers.first_games:g}; this is the mean so far"
    return Explanation(
        "(S + p) / n", terms, estimate(own.before, other, score, numbers), own.after.rating, rounding, START
    )


def _explain_game(own: ExplainedPlayer, other_e: float, other_h: float, score: float, numbers: Settings) -> Explanation:
    e, h = own.before.rating, own.before.h
    rank = rank_of(e, own.before.peak, own.before.games, numbers)
    r, s = opponent_rating(e, other_e, other_h, score), single_game(e, other_e, score, numbers)
    y, z, m = share(rank, score, numbers), step_size(rank, score, numbers), mixing(rank, numbers)
    which = "own E: the opponent's E and H lie on both sides of it" if undecided(e, other_e, other_h, score) else ""
    terms = [
        Term("E", e, "rating before the game"),
        Term("Eo", other_e, "opponent's E before the game"),
        Term("Ho", other_h, "opponent's H before the game"),
        Term("W", score, "score"),
        Term("R", r, which or "what the opponent counts, Eo, Ho or E"),
        Term("X", logistic(e - r), "1 / (10^((R - E)/400) + 1)"),
        Term("Z", z, f"K, for a draw Q, of the {RANKS[rank]} players"),
        Term("H", h, "H before the game"),
        Term("S", s, f"Eo, after a win at least and after a loss at most {numbers.limit:g} points from E"),
        Term("Y", y, f"P, for a draw J, of the {RANKS[rank]} players"),
        Term("H'", new_h(h, s, score, y, numbers), f"(1 - Y)·H + Y·(S + {numbers.bonus:g}·(2·W - 1))"),
    ]
    rule = "E + Z·(W - X)"
    if numbers.score_scale != 1.0:
        terms.append(Term("c", numbers.score_scale, "what a win counts"))
        rule = "E + Z·c·(W - X)"
    if m:
        terms.append(Term("M", m, f"share of H' for {RANKS[rank]} players"))
        rule = f"(1 - M)·({rule}) + M·H'"
    unrounded, _h = updated(e, h, other_e, other_h, score, rank, numbers)
    return Explanation(
        rule,
        tuple(terms),
        unrounded,
        own.after.rating,
        "none; shown to the nearest point",
        f"{PAPER}, Updating E and The Mixing Step",
    )


SCHEME = Scheme(
    name="savard",
    title="Savard's E and H",
    source=PAPER,
    readings=(
        "Scores in the formula of E lie between 0 and 1; as printed, a win over an equal would bring 1200 points.",
        "A game against a newcomer leaves E and H of the rated player as they are: the sentence breaks off.",
        "The own rating in the limit of S is E.",
    ),
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accept_every_rating,
    rate_game=rate_game,
    expected_score=expected_score,
    mirrored=True,
    explain=explain,
    carry=carry,
    listed=listed,
)
