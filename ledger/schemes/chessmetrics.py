"""Chessmetrics (Jeff Sonas): a weighted mean of the performance in the games of the last 24 months.

Source: the formulas of chessmetrics.com/cm/CM2/Formulas.asp as en.wikipedia.org/wiki/Chessmetrics restates them,
quoted above the lines that implement them. The site rates all players of a list at once; here an opponent counts
with the rating of the list before. The full method also pads a player's games with draws, which the restatement
leaves out (from memory: four against the average opponent, three against 2300, and 43 points on top): ``pad_draws``
against ``pad_rating`` is off by default. A newcomer's rating is our choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.facts.periods import months_of
from ledger.runtime.records import number
from ledger.schemes.formulas.slots import shift
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

CM = "Chessmetrics formulas (Sonas)"
OURS = "our choice: no source gives one"
MEMORY = "our reading of the padding, off: known from memory only"

MONTHS = 24


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme. Ratings in points, ages in months."""

    start: float = setting(1500.0, "rating of a newcomer", "points", OURS)
    per_score: float = setting(850.0, "worth of 100 % over 0 %", "points", f"{CM}: '(PctScore - 0.50) * 850'")
    window: float = setting(24.0, "age at which a game weighs nothing, 1 to 24", "months", f"{CM}: '(24 - age)'")
    pad_draws: float = setting(0.0, "draws added to everybody's games, with full weight", "games", MEMORY)
    pad_rating: float = setting(2300.0, "opponent in the added draws", "points", MEMORY)

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_positive(self, "per_score")
        require_not_negative(self, "start", "pad_draws", "pad_rating")
        require_whole(self, window=(1, MONTHS))


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def performance(average: float, share: float, numbers: Settings) -> float:
    """Return the performance rating in rating points.

    "Average Opponents' Rating + [(PctScore - 0.50) * 850]".

    Args:
        average: the opponents' average rating, points.
        share: score divided by games, 0..1.
        numbers: the settings.
    """
    return average + (share - 0.5) * numbers.per_score


def weight(age: float, numbers: Settings) -> float:
    """Return the weight, from 0 to 1, of a game of some months ago."""
    # "100% * (24 - age)", in 24ths
    if age >= numbers.window:
        return 0.0
    return (numbers.window - age) / numbers.window


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points")
    month: float = state("latest month with a list, months since the year 0")
    month_games: list[float] = number(
        0.0, "games, {} months before that", size=MONTHS, name="month_{place}_games", first=0
    )
    month_points: list[float] = number(
        0.0,
        "sum of their performances, {} months before that, points",
        size=MONTHS,
        name="month_{place}_points",
        first=0,
    )


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player, who has the declared rating or else the scheme's first one."""
    return Player(numbers.start if newcomer.declared is None else newcomer.declared)


def relist(player: Player, fresh: Player, seed: Seed, numbers: Settings) -> Player:
    """Return the state after a later list: performances move so that their weighted mean is the list's rating.

    The latest performances of the window are moved.
    """
    slot = newest(player, numbers)
    if slot == int(numbers.window):
        return fresh
    whole = numbers.window * numbers.pad_draws + sum(
        player.month_games[month] * (numbers.window - month) for month in range(int(numbers.window))
    )
    points = list(player.month_points)
    points[slot] += (seed.rating - rating_of(player, numbers)) * whole / (numbers.window - slot)
    return Player(seed.rating, player.month, list(player.month_games), points)


def grow_old(player: Player, months: int, after: Player) -> None:
    """Write into *after* (may be the same) the months of a player some months later."""
    shift(player.month_games, months, after.month_games)
    shift(player.month_points, months, after.month_points)


def rating_of(player: Player, numbers: Settings) -> float:
    """Return the rating in rating points: the weighted mean of the window's performances and the added draws."""
    games = numbers.window * numbers.pad_draws
    points = games * numbers.pad_rating
    for slot in range(int(numbers.window)):
        # whole numbers, where 1/24 would be rounded
        # the weight, taken ``window`` times above and below
        share = numbers.window - slot
        games += player.month_games[slot] * share
        points += player.month_points[slot] * share
    return points / games


def newest(player: Player, numbers: Settings) -> int:
    """Return the newest month of the window with a game; the length of the window if there is none."""
    slot = 0
    while slot < numbers.window and player.month_games[slot] == 0.0:
        slot += 1
    return slot


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a player to the list in force on *day*, that of the month before, by which older games weigh less."""
    # When the last game leaves the window, the rating stays as it was on the last list with a game.
    months = months_of(day) - 1
    by = months - int(player.month)
    if by <= 0:
        return
    player.month = float(months)
    first = newest(player, numbers)
    if first == int(numbers.window):
        return
    left = int(numbers.window) - 1 - first
    grow_old(player, min(by, left), player)
    player.rating = rating_of(player, numbers)
    if by > left:
        grow_old(player, MONTHS, player)


def rate_list(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate one player's games of one list, opponents as the list before has them."""
    after.month = max(float(months_of(when.day)), player.month)
    grow_old(player, int(after.month - player.month), after)
    points = 0.0
    for game in range(games.first, games.last):
        points += performance(opponent_of(games, game).rating, games.score[game], numbers)
    after.month_games[0] += games.last - games.first
    after.month_points[0] += points
    after.rating = rating_of(after, numbers)


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    """Return the score, from 0 to 1, that would be a performance of the player's own rating."""
    # "10% [...] 85 rating points": a straight line, which ends at 0 and 1
    share = 0.5 + (player.rating - opponent.rating) / numbers.per_score
    if share > 1.0:
        return 1.0
    return 0.0 if share < 0.0 else float(share)


def listed(player: Player, numbers: Settings) -> bool:
    """Return True while a game of the window is left."""
    return newest(player, numbers) < numbers.window


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of one player's list with its numbers."""
    games = float(len(meetings))
    average = sum(meeting.opponent.rating for meeting in meetings) / games
    scored = sum(meeting.score for meeting in meetings)
    earlier = Player()
    grow_old(own.before, int(own.after.month - own.before.month), earlier)
    weights = [weight(slot, numbers) for slot in range(MONTHS)]
    weighed, points = (
        sum(share * value for share, value in zip(weights, row, strict=True))
        for row in (earlier.month_games, earlier.month_points)
    )
    terms = (
        Term("n", games, "games of this list, with full weight"),
        Term("W", scored, "score in them"),
        Term("A", average, "average of the opponents' ratings on the list before"),
        Term("P", performance(average, scored / games, numbers), f"performance A + (W/n - 0.5)·{numbers.per_score:g}"),
        Term("N", weighed, f"earlier games of {numbers.window:g} months, by their weights"),
        Term("S", points, "their performances, by their weights"),
        Term("c", numbers.pad_draws, "added draws"),
        Term("C", numbers.pad_rating, "opponent in them"),
    )
    result = own.after.rating
    lines = tuple(_line(own, meeting, numbers) for meeting in meetings)
    month = "of the month of this list"
    sums = (
        FormulaSum("n", "games", own.after.month_games[0], f"games {month}", earlier.month_games[0]),
        FormulaSum("n·P", "worth", own.after.month_points[0], f"performances {month}", earlier.month_points[0]),
    )
    rounding = "none; shown to the nearest point"
    return Explanation("(S + n·P + c·C) / (N + n + c)", terms, result, result, rounding, CM, lines=lines, sums=sums)


def _line(own: ExplainedPlayer, meeting: OpponentGame, numbers: Settings) -> GameLine:
    """Return a game with its performance."""
    rating = meeting.opponent.rating
    return GameLine(rating, own.before.rating, worth=performance(rating, meeting.score, numbers))


SCHEME = Scheme(
    name="chessmetrics",
    title="Chessmetrics (Sonas): weighted performance over 24 months",
    source=CM,
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    passes=(rate_list,),
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    relist=relist,
    at=at,
    listed=listed,
)
