"""The English grade, 1958 to 2020 (BCF, later ECF; Clarke's system): the mean of a season's game points.

Ratings are grades here, that is ECF points, each worth 7.5 to 8 Elo points (``elo``, ``elo_2020``). Sources: the
explanation of September 2004 (old.kjca.org/gradingexplanation.htm), the help of 2018 (ringwoodchessclub.org.uk), the
changes of 2011-12 (bronowskitrophy.wordpress.com, 8 August 2011) and of January 2015 (horshamchessclub.org.uk),
quoted above the lines that implement them. The increment for juniors is not in them, and left out. Half-yearly lists,
from January 2012: ``period_months`` 6, ``first_month`` 1, ``season_lists`` 2. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import attrs

from ledger.facts.periods import last_finished_period
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
    own_work,
    rating_period_calendar,
    state,
    work_of,
)
from ledger.schemes.settings import (
    PeriodSettings,
    numbers_of,
    require_not_negative,
    require_positive,
    require_whole,
    setting,
)

BCF_2004 = "BCF grading system, September 2004"
HELP = "ECF grading help, 2018"
CHANGES_2012 = "ECF grading changes 2011-12"
CHANGES_2015 = "ECF grading changes, January 2015"
CHESSWORLD = "ChessWorld rating FAQ: 'ECF 100 is assumed for everyone'"

SLOTS = 6  # three seasons of two lists
RECENT = 29  # of 30 games at least one is new when a grade is reckoned
NEVER = -1e9  # the period of a player without a list; those in days before 1970 have numbers below 0


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme, in ECF points and games."""

    period_months: float = setting(12.0, "length of a period in months", "months", f"{BCF_2004}: to 31 May")
    first_month: float = setting(6.0, "a month in which a period begins", "month", f"{BCF_2004}: 'from 1st June'")
    season_lists: float = setting(1.0, "lists in a season, 1 or 2", "lists", f"{CHANGES_2012}: 2 from January 2012")
    cap: float = setting(40.0, "largest difference that counts", "ECF points", f"{HELP}: 'more than 40 points'")
    bonus: float = setting(50.0, "worth of a win over the opponent", "ECF points", f"{HELP}: 'grade plus 50'")
    full_games: float = setting(30.0, "games that need no earlier ones, to 30", "games", f"{HELP}: '30 or more games'")
    by_average: bool = setting(False, "earlier games by their list's average", "switch", CHANGES_2015)  # noqa: FBT003
    listed_games: float = setting(10.0, "games in three seasons to be listed", "games", f"{BCF_2004}; 9, later 5")
    start_grade: float = setting(100.0, "an ungraded player's, if not estimated", "ECF points", CHESSWORLD)
    estimate: bool = setting(True, "estimate the ungraded by their results", "switch", f"{HELP}: 'estimated'")  # noqa: FBT003
    rounded: bool = setting(True, "grades are whole numbers", "switch", "as lists show them; .5 up: our reading")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_positive(self, "bonus")
        require_not_negative(self, "cap", "listed_games")
        require_whole(self, season_lists=(1, 2), full_games=(1, RECENT + 1))


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def elo(grade: float) -> float:
    """Return Elo points of a grade by the older equivalence: 100 is 1400, 200 is 2200."""
    # Since 2019-20 it is 7.5·grade + 700; the two meet at 200 (RULES 4.1).
    return 8.0 * grade + 600.0


def counted(own: float, opponent: float, numbers: Settings) -> float:
    """Return the opponent's grade as it counts, in ECF points."""
    # "if your opponent's grade differs from yours by more than 40 points it is assumed to be exactly 40 above (or
    # below) yours. This applies whatever the result."
    if opponent > own + numbers.cap:
        return own + numbers.cap
    if opponent < own - numbers.cap:
        return own - numbers.cap
    return opponent


def game_points(own: float, opponent: float, score: float, numbers: Settings) -> float:
    """Return the worth of a game in ECF points."""
    # "the opponent's grade plus 50", for a draw the grade, for a loss the grade minus 50; 40 is the cap alone, though a
    # club's page says it here (RULES 4.1)
    return counted(own, opponent, numbers) + numbers.bonus * (2.0 * score - 1.0)


def category(now: float, two: float, three: float, for_e: float = 9.0, for_f: float = 5.0) -> str:
    """Return the letter of a grade by the games behind it; empty for none.

    Args:
        now: games in the latest season.
        two: games in the latest two seasons.
        three: games in the latest three seasons.
        for_e: games in three seasons for E: 10, later 9.
        for_f: games in three seasons for F: 5 from January 2015; before, no less than *for_e*.
    """
    if now >= 30:
        return "A"
    if two >= 30 and now >= 20:
        return "B"
    if three >= 30 and now >= 10:
        return "C"
    if three >= 15 and now >= 5:
        return "D"
    if three >= for_e and now >= 1:
        return "E"
    return "F" if three >= for_f and now >= 1 else ""


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("ECF points; 0 is ungraded")
    games: float = state("rated games")
    period: float = state("period of the latest list", NEVER)
    list_games: list[float] = number(0.0, "games, {} lists before that", size=SLOTS, name="list_{place}_games", first=0)
    list_points: list[float] = number(
        0.0, "their game points, {} lists before that", size=SLOTS, name="list_{place}_points", first=0
    )
    points: list[float] = number(0.0, "game points of game {}, counted back from the latest", size=RECENT)


@attrs.define
class GradeForOthers:
    """The grade with which a player counts for the opponents of one list."""

    grade: float = number(0.0, "grade before the list, or starting grade; ECF points")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the initial state of a new player: ungraded (0), or with a declared grade in ECF points."""
    return Player(newcomer.declared or 0)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with a rating, graded with it.

    Games played elsewhere have no game points.
    """
    return Player(rating, games)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history on the list before it.

    Its games, 30 if unknown, are worth the grade each.
    """
    # If lists follow rating runs, the games are on no list: they count as those of ``carry``.
    period = last_finished_period(newcomer.day, rating_period_calendar(numbers))
    if period is None:
        return carry(seed.rating, seed.games or 0.0, newcomer, numbers)
    player = Player(seed.rating, numbers.full_games if seed.games is None else seed.games, period)
    player.list_games[0] = min(player.games, numbers.full_games)
    player.list_points[0] = player.list_games[0] * seed.rating
    if not numbers.by_average:
        recent = int(min(player.games, RECENT))
        player.points[:recent] = [seed.rating] * recent
    return player


def nearest(grade: float, numbers: Settings) -> float:
    """Return the nearest whole grade, one half upwards, if grades are whole."""
    return floor(grade + 0.5) * 1.0 if numbers.rounded else grade


def is_graded(player: Player) -> bool:
    """Return whether a player has a current grade."""
    return player.games > 0.0 or player.rating != 0.0


def in_lists(player: Player, first: int, last: int) -> float:
    """Return the number of games in the lists *first* <= slot < *last*."""
    games = 0.0
    for slot in range(first, last):
        games += player.list_games[slot]
    return games


def grow_old(player: Player, lists: float, after: Player) -> None:
    """Write into *after* (may be the same) the lists of a player some lists later."""
    shift(player.list_games, int(lists), after.list_games)
    shift(player.list_points, int(lists), after.list_points)


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a player to the list in force in *period*, that of the period before; the grade itself stays."""
    lists = period - player.period - 1.0
    if lists > 0.0:
        grow_old(player, lists, player)
        player.period = period - 1.0


def starting_grade(games: BatchGames, numbers: Settings) -> float:
    """Return an ungraded player's start: the plain performance against graded opponents, else against all."""
    # "If an opponent (or the player himself) is ungraded, a 'starting grade' is estimated, using all available
    # information". The method was not published; ours takes the first round of its iteration, without the 40-point
    # rule.
    if not numbers.estimate:
        return numbers.start_grade
    count = 0.0
    total = 0.0
    points = 0.0
    for game in range(games.first, games.last):
        opponent = opponent_of(games, game)
        if is_graded(opponent):
            count += 1.0
            total += opponent.rating
            points += games.score[game]
    if count == 0.0:
        count = float(games.last - games.first)
        total = count * numbers.start_grade
        for game in range(games.first, games.last):
            points += games.score[game]
    return nearest((total + numbers.bonus * (2.0 * points - count)) / count, numbers)


def brought_forward(player: Player, after: Player, batch: int, now: float, more: float, numbers: Settings) -> float:
    """Return the game points of the two earlier seasons that make up the full number of games.

    Args:
        player: before the batch, with the points of the latest games.
        after: after the batch, with the games and points of its list.
        batch: games in the batch.
        now: games in the season.
        more: games to be brought forward.
        numbers: the settings.
    """
    points = 0.0
    if not numbers.by_average:
        # "they will take the n most recent games" (2012 to 2014)
        for place in range(int(now) - batch, int(now + more) - batch):
            points += player.points[place]
        return points
    # Otherwise "as many games from each prior period as it needs", with the "average per game for the earliest"
    slot = int(numbers.season_lists)
    while more > 0.0:
        games = after.list_games[slot]
        share = after.list_points[slot]
        # Divided last: 26 times the quotient of 4995 by 39 is a float below 3330, and half a grade would go down.
        points += share if games <= more else more * share / games
        more -= games
        slot += 1
    return points


def missing(after: Player, now: float, numbers: Settings) -> float:
    """Return the number of earlier games that are brought forward."""
    # up to "the most recent 30 games", from three seasons in all
    if now >= numbers.full_games:
        return 0.0
    lists = int(numbers.season_lists)
    return min(in_lists(after, lists, 3 * lists), numbers.full_games - now)


def estimate(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Estimate the grades of ungraded players; everybody else counts with the grade before the list."""
    own_work(games).grade = player.rating if is_graded(player) else starting_grade(games, numbers)


def rate_list(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate one player's games of a list."""
    grow_old(player, max(when.period - player.period, 0.0), after)
    own, batch = own_work(games).grade, games.last - games.first
    total = 0.0
    # By grades before the list alone: whom a player meets early in the season does not matter.
    for game in range(games.first, games.last):
        points = game_points(own, work_of(games, game).grade, games.score[game], numbers)
        total += points
        place = games.last - 1 - game
        if place < RECENT:
            after.points[place] = 0.0 if numbers.by_average else points
    for place in range(batch, RECENT):
        after.points[place] = player.points[place - batch]
    after.games = player.games + batch
    after.period = max(when.period, player.period)
    after.list_games[0] += batch
    after.list_points[0] += total
    after.rating = nearest(grade_after(player, after, batch, numbers), numbers)


def grade_after(player: Player, after: Player, batch: int, numbers: Settings) -> float:
    """Return the unrounded grade in ECF points after a season.

    If it has fewer than 30 games, earlier games count, too.
    """
    now = in_lists(after, 0, int(numbers.season_lists))
    # "If there are 30 or more games in the most recent 12 months, then the grade is based on these games alone."
    points = season_points(after, numbers)
    more = missing(after, now, numbers)
    if more > 0.0:
        points += brought_forward(player, after, batch, now, more, numbers)
    return points / (now + more)


def season_points(player: Player, numbers: Settings) -> float:
    """Return the game points of the latest season."""
    points = 0.0
    for slot in range(int(numbers.season_lists)):
        points += player.list_points[slot]
    return points


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    """Return the score, from 0 to 1, that would keep the grade.

    It is 50 % and one for each ECF point, up to the cap.
    """
    own = player.rating if is_graded(player) else numbers.start_grade
    other = opponent.rating if is_graded(opponent) else numbers.start_grade
    share = 0.5 + (own - counted(own, other, numbers)) / (2.0 * numbers.bonus)
    if share > 1.0:
        return 1.0
    return 0.0 if share < 0.0 else share


def provisional(player: Player, numbers: Settings) -> bool:
    """Return True while the grade is based on fewer than the full number of games."""
    return in_lists(player, 0, 3 * int(numbers.season_lists)) < numbers.full_games


def listed(player: Player, numbers: Settings) -> bool:
    """Return whether there are enough games, and one of them in the latest season."""
    # "at least 10 games in the last three years, including at least one in the most recent year"
    lists = int(numbers.season_lists)
    return in_lists(player, 0, lists) > 0.0 and in_lists(player, 0, 3 * lists) >= numbers.listed_games


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:
    """Return the formula of one player's list with its numbers."""
    batch, grade = len(meetings), own.work.grade
    now = in_lists(own.after, 0, int(numbers.season_lists))
    more = missing(own.after, now, numbers)
    forward = brought_forward(own.before, own.after, batch, now, more, numbers) if more else 0.0
    strength = sum(counted(grade, meeting.work.grade, numbers) for meeting in meetings) / batch
    scored = sum(meeting.score for meeting in meetings)
    points = sum(game_points(grade, meeting.work.grade, meeting.score, numbers) for meeting in meetings)
    season = season_points(own.after, numbers)
    graded = is_graded(own.before)
    how = "by their lists' averages" if numbers.by_average else "the most recent ones"
    terms = (
        Term("g", grade, "own grade before the list" if graded else "ungraded: starting grade"),
        Term("m", float(batch), "games of the list"),
        Term("W", scored, "score in them"),
        Term("A", strength, f"average of the opponents' grades, each at most {numbers.cap:g} from g"),
        Term("p", points, f"their game points m·A + {numbers.bonus:g}·(2·W - m)"),
        Term("e", season - points, "game points of the season before this list"),
        Term("n", now, "games of the season"),
        Term("b", more, f"earlier games that make up {numbers.full_games:g}, {how}"),
        Term("B", forward, "their game points"),
    )
    rounding = "to the nearest whole grade, one half upwards" if numbers.rounded else "none"
    return Explanation(
        "(p + e + B) / (n + b)",
        terms,
        (season + forward) / (now + more),
        own.after.rating,
        rounding,
        f"{HELP}; {CHANGES_2015 if numbers.by_average else CHANGES_2012}",
        lines=tuple(_line(grade, meeting, numbers) for meeting in meetings),
        sums=_sums(own, when, scored),
    )


def _line(grade: float, meeting: OpponentGame, numbers: Settings) -> GameLine:
    """Return a game with its game points."""
    other = counted(grade, meeting.work.grade, numbers)
    limit = "" if other == meeting.work.grade else f"{numbers.cap:g}-point rule"
    worth = game_points(grade, meeting.work.grade, meeting.score, numbers)
    return GameLine(meeting.work.grade, grade, grade - other, limit, worth=worth)


def _sums(own: ExplainedPlayer, when: When, scored: float) -> tuple[FormulaSum, ...]:
    """Return the sums of a list: those of its games, and its game points as the state has them."""
    earlier = Player()
    grow_old(own.before, max(when.period - own.before.period, 0.0), earlier)
    after = own.after
    return (
        FormulaSum("m", "games", after.list_games[0], "games of the list", earlier.list_games[0]),
        FormulaSum("W", "score", scored, "score in them"),
        FormulaSum("p", "worth", after.list_points[0], "game points of the list", earlier.list_points[0]),
    )


SCHEME = Scheme(
    name="ecf-grade",
    title="English grade (BCF, ECF), 1958 to 2020; ratings in ECF points",
    source=HELP,
    version=3,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    passes=(estimate, rate_list),
    work=GradeForOthers,
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    scale="ECF points",
    at=at,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
