"""The ECF monthly rating, from 1 July 2020: FIDE's table with K 20, and performances for those who are new.

Sources: "The calculation of ECF grades on a monthly basis" (englishchess.org.uk), the rating help
(ecfrating.org.uk/v2/help/help_rating.php) and the rating categories (dorsetchess.co.uk/new-rating-categories), quoted
above the lines that implement them. A list takes the help's three passes: 1 and 2 estimate the new and partially rated,
3 rates the others against them. Where the help could not be read to its end, a setting says "our reading". Late
results need no rule: the ledger rates the months after them again. Players from the older grades come with 7.5 of them
and 700. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.facts.periods import months_of, year_of
from ledger.runtime.records import number
from ledger.schemes.formulas.fide_rules import dp, expected_hundredths, pd, percentage
from ledger.schemes.formulas.slots import shift
from ledger.schemes.scheme import (
    AcceptedRatings,
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
    opponent_of,
    own_work,
    state,
    work_of,
)
from ledger.schemes.settings import PeriodSettings, numbers_of, require_not_negative, require_positive, setting

MONTHLY = "The calculation of ECF grades on a monthly basis"
HELP = "ECF rating help"
OURS = "our reading: the help could not be read to its end"

UNRATED, PARTIAL, FULL = 0.0, 1.0, 2.0
YEAR = 12


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme. Ratings in points, lengths in games or months."""

    k: float = setting(20.0, "K", "points", f"{MONTHLY}: 'k is 20 or 40'")
    k_junior: float = setting(40.0, "K of juniors", "points", f"{MONTHLY}: 'k is 20 or 40'")
    junior_age: float = setting(18.0, "last age with a junior's K, by year of birth", "years", "our reading, as FIDE's")
    cap: float = setting(0.0, "largest difference that counts; 0: as the table ends", "points", OURS)
    nominal: float = setting(1450.0, "opponent in the fictional draw", "points", "our choice: the old grade 100")
    full_games: float = setting(10.0, "games for a full rating", "games", f"{HELP}: 'on at least 10 games'")
    partial_weight: float = setting(0.5, "weight of a game against a partial rating", "share", f"{HELP}: 'by 50%'")
    lapse_months: float = setting(36.0, "a rating lapses without a result in", "months", f"{HELP}; 60 in a later one")
    rounded: bool = setting(True, "ratings are whole numbers", "switch", "lists show whole numbers; .5 up: our reading")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_positive(self, "full_games", "lapse_months")
        require_not_negative(self, "k", "k_junior", "junior_age", "cap", "nominal", "partial_weight")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points; 0 is unrated")
    results: float = state("rated games since the player came")
    status: float = state("0 unrated, 1 partial, 2 full")
    nominal: float = state("opponent in the fictional draw, points")
    birth_year: float = state("year of birth; 0 if it is unknown")
    pool_games: float = state("games behind a partial rating")
    pool_score: float = state("points won in them")
    pool_opponents: float = state("sum of their opponents' ratings, points")
    played: float = state("month of the last result, months since the year 0")
    month: float = state("latest month with a list, months since the year 0")
    month_games: list[float] = number(
        0.0, "games, {} months before that", size=YEAR, name="month_{place}_games", first=0
    )


@attrs.define
class PassRatings:
    """The ratings of a player by pass while one list is rated; the passes of opponents read them."""

    pass_1: float = number(0.0, "rating by pass 1, points: the rating before the list where that is full")
    pass_2: float = number(0.0, "rating by pass 2, points, likewise")
    is_full: float = number(0.0, "1 with a full rating, before the list or by it")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player: unrated, or with a declared rating, which counts as inherited."""
    return carry(float(newcomer.declared or 0), 0.0, newcomer, numbers)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with a rating, fully rated as on the first list; 0 is no rating."""
    # "converted using the formula: new = 7.5*old + 700" is up to the pool that changes over from the grades.
    came = months_of(newcomer.day)
    return Player(
        rating,
        status=FULL if rating else UNRATED,
        nominal=numbers.nominal,
        birth_year=newcomer.birth_year or 0,
        played=came,
        month=came,
    )


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history: fully rated, or partially if the list states too few games."""
    player = carry(seed.rating, 0.0, newcomer, numbers)
    # The games of a partial rating are in the pool as even scores against opponents of that rating.
    if seed.games is not None and seed.games < numbers.full_games:
        player.status = PARTIAL if seed.games else UNRATED
        player.rating = player.rating if seed.games else 0.0
        player.pool_games = seed.games
        player.pool_score = seed.games / 2.0
        player.pool_opponents = seed.games * player.rating
    return player


def accepted_ratings(day: float, numbers: Settings) -> AcceptedRatings:  # noqa: ARG001
    """Return the limits of seeds that hold: ratings with a game, or without a number of them."""
    return AcceptedRatings(games=1.0)


def category(status: float, results: float, of_year: float) -> str:
    """Return the letter of a rating: A, H (inherited), K or P; empty for none.

    Args:
        status: 0 unrated, 1 partial, 2 full.
        results: rated games since the player came.
        of_year: rated games in the previous 12 calendar months.
    """
    if status == UNRATED:
        return ""
    # "A player who has 30 or more rated results in the previous 12 calendar months"
    if of_year >= 30:
        return "A"
    if status == PARTIAL:
        return "P"
    # "players who inherited a rating [...] and has not played since"
    return "K" if results else "H"


def k_factor(birth_year: float, day: float, numbers: Settings) -> float:
    """Return the factor K by age: 40 for juniors, else 20.

    Juniors are those to the end of the year of the 18th birthday; birth year 0 is unknown: no junior.
    """
    if birth_year > 0.0 and year_of(day) - birth_year <= numbers.junior_age:
        return numbers.k_junior
    return numbers.k


def counted(own: float, opponent: float, numbers: Settings) -> float:
    """Return the own rating minus the opponent's as it counts, in rating points."""
    difference = own - opponent
    if numbers.cap == 0.0:
        return difference
    return max(min(difference, numbers.cap), -numbers.cap)


def performance(opponents: float, score: float, games: float, nominal: float) -> float:
    """Return the unrounded P rating in rating points: FIDE's performance with one draw added.

    Args:
        opponents: sum of the opponents' ratings, points.
        score: points won against them.
        games: games.
        nominal: the fictional opponent's rating, points.
    """
    # "a fictional draw against a fictional opponent": without it who won all games would have no performance
    return (opponents + nominal) / (games + 1.0) + dp(percentage(score + 0.5, games + 1.0))


def nearest(rating: float, numbers: Settings) -> float:
    """Return the nearest whole rating, one half upwards, if ratings are whole."""
    return float((rating + 0.5) // 1.0) if numbers.rounded else rating


def relist(player: Player, fresh: Player, seed: Seed, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state after a later list, which replaces rating, status and pool of games.

    Results of the year and the last month played go on.
    """
    # The list shows that the rating has not lapsed: the months without a result count from its day on.
    return attrs.evolve(
        fresh,
        results=player.results,
        played=max(player.played, fresh.played),
        month=player.month,
        month_games=list(player.month_games),
    )


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a player to the list in force on *day*, that of the month before; a rating may have lapsed."""
    month = float(months_of(day))
    if month - 1.0 > player.month:
        shift(player.month_games, int(month - 1.0 - player.month), player.month_games)
        player.month = month - 1.0
    # Unrated: "no rated result in the previous 36 calendar months"
    if player.status != UNRATED and month - player.played > numbers.lapse_months:
        # "on return, will be treated as a new player with one dummy game assuming a draw against an opponent with
        # the players last full rating"
        if player.status == FULL:
            player.nominal = player.rating
        player.rating = 0.0
        player.status = UNRATED
        empty_pool(player)


def empty_pool(player: Player) -> None:
    """Forget the games behind a partial rating."""
    player.pool_games = 0.0
    player.pool_score = 0.0
    player.pool_opponents = 0.0


def pass_1(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Calculate P rating "A" of new and partially rated players, against opponents who were rated before."""
    work = own_work(games)
    full = player.status == FULL
    work.is_full = 1.0 if full or player.pool_games + (games.last - games.first) >= numbers.full_games else 0.0
    work.pass_1 = player.rating if full else against_the_rated(player, games, numbers)
    work.pass_2 = work.pass_1


def pass_2(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Calculate P rating "B" of new and partially rated players, against all opponents."""
    if player.status != FULL:
        own_work(games).pass_2 = nearest(against_all(player, games), numbers)


def pass_3(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate fully rated players by the ratings of passes 1 and 2; other players get the rating of pass 2."""
    month = max(float(months_of(when.day)), player.month)
    shift(player.month_games, int(month - player.month), after.month_games)
    after.month_games[0] += games.last - games.first
    after.results = player.results + (games.last - games.first)
    after.nominal = player.nominal
    after.birth_year = player.birth_year
    after.played = month
    after.month = month
    if player.status == FULL:
        # "R1 = R0 +k(W-We)", in hundredths of a point of score
        k = k_factor(player.birth_year, when.day, numbers)
        after.rating = nearest(player.rating + k * surplus(player.rating, games, numbers) / 100.0, numbers)
        after.status = FULL
        after.pool_games = player.pool_games
        after.pool_score = player.pool_score
        after.pool_opponents = player.pool_opponents
    else:
        pool(player, after, games)


def against_the_rated(player: Player, games: BatchGames, numbers: Settings) -> float:
    """Return P rating "A" in rating points: against opponents who were rated before."""
    count = player.pool_games
    points = player.pool_score
    opponents = player.pool_opponents
    for game in range(games.first, games.last):
        opponent = opponent_of(games, game)
        if opponent.status != UNRATED:
            count += 1.0
            points += games.score[game]
            opponents += opponent.rating
    return nearest(performance(opponents, points, count, player.nominal), numbers)


def against_all(player: Player, games: BatchGames) -> float:
    """Return the unrounded P rating "B" in rating points: against all, new and partially rated ones with their "A"."""
    points = player.pool_score
    opponents = player.pool_opponents
    for game in range(games.first, games.last):
        points += games.score[game]
        opponents += work_of(games, game).pass_1
    return performance(opponents, points, player.pool_games + (games.last - games.first), player.nominal)


def surplus(own: float, games: BatchGames, numbers: Settings) -> float:
    """Return score minus expected score of a fully rated player in hundredths of a point, each game by its weight."""
    total = 0.0
    for game in range(games.first, games.last):
        opponent = work_of(games, game)
        # "the expected total score based on the FIDE table 8.1b"
        excess = 100.0 * games.score[game] - expected_hundredths(counted(own, opponent.pass_2, numbers))
        # Whole hundredths, and halves of them: their sum is exact, in any order of the games. "When using an opponents
        # Partial Rating [...] reducing any rating adjustment by 50%"
        total += excess if opponent.is_full == 1.0 else numbers.partial_weight * excess
    return total


def pool(player: Player, after: Player, games: BatchGames) -> None:
    """Set a new or partially rated player's list: the rating of pass 2, and the games behind it while it is partial."""
    work = own_work(games)
    after.rating = work.pass_2
    if work.is_full == 1.0:
        after.status = FULL
        empty_pool(after)
        return
    after.status = PARTIAL
    after.pool_games = player.pool_games + (games.last - games.first)
    after.pool_score = player.pool_score
    after.pool_opponents = player.pool_opponents
    for game in range(games.first, games.last):
        after.pool_score += games.score[game]
        after.pool_opponents += work_of(games, game).pass_1


def rating_or_nominal(player: Player) -> float:
    """Return a player's rating; for an unrated player the nominal rating of a fictional opponent."""
    return player.nominal if player.status == UNRATED else player.rating


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    """Return the expected score, from 0 to 1, by the table; an unrated player counts with the nominal rating."""
    return pd(counted(rating_or_nominal(player), rating_or_nominal(opponent), numbers))


def provisional(player: Player, numbers: Settings) -> bool:  # noqa: ARG001
    """Return whether the player has no full rating."""
    return player.status != FULL


def listed(player: Player, numbers: Settings) -> bool:  # noqa: ARG001
    """Return whether the player has a partial or full rating."""
    return player.status != UNRATED


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:
    """Return the formula of one player's list with its numbers."""
    rounding = "to the nearest whole rating, one half upwards" if numbers.rounded else "none"
    if own.before.status != FULL:
        return _explain_performance(own, meetings, rounding)
    rating = own.before.rating
    parts = [
        (1.0 if meeting.work.is_full else numbers.partial_weight, meeting.score, meeting.work.pass_2)
        for meeting in meetings
    ]
    scored = sum(weight * score for weight, score, _other in parts)
    expected = sum(weight * pd(counted(rating, other, numbers)) for weight, _score, other in parts)
    k = k_factor(own.before.birth_year, when.day, numbers)
    partial = sum(1.0 for meeting in meetings if not meeting.work.is_full)
    terms = (
        Term("R0", rating, "rating of the month before"),
        Term("k", k, "K, by age"),
        Term("n", float(len(meetings)), "games"),
        Term("h", partial, f"of them against partially rated opponents, by {numbers.partial_weight:g}"),
        Term("W", scored, "score, each game by its weight"),
        Term("We", expected, "expected score by table 8.1b, each game by its weight"),
    )
    change = k * (scored - expected)
    sums = (
        FormulaSum("n", "games", float(len(meetings)), "games"),
        FormulaSum("W", "score", scored, "score, each game by its weight"),
        FormulaSum("We", "expected", expected, "expected score, each game by its weight"),
        FormulaSum("k·(W - We)", "points", change, "change, before it is rounded"),
    )
    return Explanation(
        "R0 + k·(W - We)",
        terms,
        rating + change,
        own.after.rating,
        rounding,
        MONTHLY,
        tuple(other for _weight, _score, other in parts),
        tuple(_line(rating, k, *part, numbers) for part in parts),
        sums,
    )


def _line(rating: float, k: float, weight: float, score: float, other: float, numbers: Settings) -> GameLine:
    """Return a fully rated player's game, with its change."""
    difference = counted(rating, other, numbers)
    limit = "" if difference == rating - other else f"{numbers.cap:g}-point rule"
    hundredths = expected_hundredths(difference)
    gain = (100.0 * score - hundredths) / 100.0
    points = k * weight * (100.0 * score - hundredths) / 100.0
    words = "" if weight == 1.0 else "against a partial rating"
    return GameLine(other, rating, difference, limit, hundredths / 100.0, gain, weight, k, points, words=words)


def _explain_performance(own: ExplainedPlayer, meetings: Sequence[OpponentGame], rounding: str) -> Explanation:
    """Explain the performance of a new or partially rated player."""
    games = own.before.pool_games + len(meetings)
    scored = own.before.pool_score + sum(meeting.score for meeting in meetings)
    opponents = own.before.pool_opponents + sum(meeting.work.pass_1 for meeting in meetings)
    percent = percentage(scored + 0.5, games + 1.0)
    terms = (
        Term("n", games, "games since the player was new"),
        Term("W", scored, "score in them"),
        Term("S", opponents, "sum of the opponents' ratings, of pass 1 if they have no full one"),
        Term("F", own.before.nominal, "fictional opponent of the fictional draw"),
        Term("p", float(percent), "percentage (W + 1/2) / (n + 1)"),
        Term("dp", float(dp(percent)), "difference for p by table 8.1a"),
    )
    unrounded = performance(opponents, scored, games, own.before.nominal)
    return Explanation(
        "(S + F) / (n + 1) + dp",
        terms,
        unrounded,
        own.after.rating,
        rounding,
        f"{HELP}, P Rating",
        tuple(meeting.work.pass_1 for meeting in meetings),
        tuple(GameLine(meeting.work.pass_1, own.before.rating) for meeting in meetings),
        (
            FormulaSum("n", "games", games, "games since the player was new", own.before.pool_games),
            FormulaSum("W", "score", scored, "score in them", own.before.pool_score),
            FormulaSum("S", "opponent", opponents, "sum of the opponents' ratings", own.before.pool_opponents),
        ),
    )


SCHEME = Scheme(
    name="ecf-monthly",
    title="ECF monthly rating, from July 2020",
    source=MONTHLY,
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accepted_ratings,
    relist=relist,
    passes=(pass_1, pass_2, pass_3),
    work=PassRatings,
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    at=at,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
