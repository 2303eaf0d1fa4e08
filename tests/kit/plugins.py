"""Projectors as a plug-in author would write them: of ratings (streaks, surpluses, climbs) and of facts."""

from math import nan
from typing import Any

from ledger.facts.events import Event, GameRecorded, PlayerRegistered
from ledger.facts.instants import instant_ms
from ledger.ratings.projector import CHANGES, TOURNAMENT, FactProjector, FactRows, Kept, Projector

STREAK, LONGEST, BEST_BEATEN, DAYS_SINCE = range(4)
DAY_MS = 86_400_000.0


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Count wins in a row; keep the longest run and the strongest opponent beaten."""
    half_points, opponent_rating, ended_ms = columns
    if half_points[side] == 2:
        state[p + STREAK] += 1.0
        state[p + LONGEST] = max(state[p + LONGEST], state[p + STREAK])
        if not state[p + BEST_BEATEN] >= opponent_rating[side]:
            state[p + BEST_BEATEN] = opponent_rating[side]
    else:
        state[p + STREAK] = 0.0
    state[p + DAYS_SINCE] = ended_ms[side] / DAY_MS


WIN_STREAKS = Projector(
    name="win_streaks",
    version=1,
    stores=("game", "rating"),
    takes=("half_points", "opponent_rating", "ended_ms"),
    state=(
        Kept("streak", "INTEGER", 0.0, "wins in a row up to this game"),
        Kept("longest", "INTEGER", 0.0, "the longest such run so far"),
        Kept("best_beaten", "REAL", nan, "highest rating of a beaten opponent, points; NULL before"),
        Kept("day", "REAL", nan, "when the last game ended, days since 1970"),
    ),
    step=step,
)


UPSETS_SO_FAR, SURPLUS, SEEN, IN_ERA, MATES = range(5)


def step_of_upsets(state: Any, p: int, columns: Any, side: int) -> None:
    """Count games that were won or drawn against expectation; the points above it, anew with each tournament."""
    half_points, expected, before, theirs, tournament, order, era, termination = columns
    if half_points[side] == 2 and before[side] < theirs[side]:
        state[p + UPSETS_SO_FAR] += 1.0
    if tournament[side] != state[p + SEEN] or order[side] == 0 or era[side] != state[p + IN_ERA]:
        state[p + SURPLUS] = 0.0
    state[p + SEEN] = tournament[side]
    state[p + IN_ERA] = era[side]
    state[p + SURPLUS] += half_points[side] / 2 - expected[side]
    if termination[side] == 0:
        state[p + MATES] += 1.0


SURPLUSES = Projector(
    name="surpluses",
    version=1,
    stores=(
        "game",
        "tournament",
        "tournament_code",
        "round",
        "termination",
        "scheme",
        "rating_before",
        "opponent_rating_before",
        "opponent_rating",
        "expected_score",
        "era",
    ),
    takes=(
        "half_points",
        "expected_score",
        "rating_before",
        "opponent_rating_before",
        "tournament_code",
        "round_order",
        "era",
        "termination_code",
    ),
    state=(
        Kept("upsets", "INTEGER", 0.0, "games won against a stronger opponent so far"),
        Kept("surplus", "REAL", 0.0, "points above the expected ones in the tournament so far"),
        Kept("seen", "INTEGER", 0.0, "code of the last tournament"),
        Kept("in_era", "INTEGER", 0.0, "era of the last game"),
        Kept("mates", "INTEGER", 0.0, "games that ended by checkmate"),
    ),
    step=step_of_upsets,
)


def step_of_climbs(state: Any, p: int, columns: Any, side: int) -> None:
    """Note each full hundred of points that a player who is listed reaches; who has a past is no beginner."""
    rating, listed, games_before = columns
    if listed[side] == 1 and not rating[side] < state[p]:
        state[p] = rating[side] - rating[side] % 100.0 + 100.0
        state[p + 1] = games_before[side]


CLIMBS = Projector(
    name="climbs",
    version=1,
    rows=CHANGES,
    stores=("game",),
    takes=("rating", "listed", "games_before"),
    state=(
        Kept("next", "REAL", nan, "the hundred that is next, points"),
        Kept("seeded", "INTEGER", 0.0, "games before the ledger's"),
    ),
    step=step_of_climbs,
)


def step_of_scores(state: Any, p: int, columns: Any, side: int) -> None:
    """Add up half points and the ratings of the opponents."""
    half_points, opponent_rating = columns
    state[p] += half_points[side]
    state[p + 1] += opponent_rating[side]


SCORES = Projector(
    name="scores",
    version=1,
    by=TOURNAMENT,
    stores=("game", "opponent"),
    takes=("half_points", "opponent_rating_before"),
    state=(
        Kept("half_points", "INTEGER", 0.0, "half points so far in the tournament"),
        Kept("opponents", "REAL", 0.0, "sum of the opponents' ratings, points"),
    ),
    step=step_of_scores,
)


def step_of_bests(state: Any, p: int, columns: Any, side: int) -> None:
    """Keep the strongest opponent who was beaten."""
    half_points, opponent_rating = columns
    if half_points[side] == 2 and not opponent_rating[side] <= state[p]:
        state[p] = opponent_rating[side]


BEATEN = Projector(
    name="beaten",
    version=1,
    by=TOURNAMENT,
    rows=CHANGES,
    takes=("half_points", "opponent_rating_before"),
    state=(Kept("beaten", "REAL", nan, "the strongest opponent beaten in the tournament, points"),),
    step=step_of_bests,
)


DAY_MS = 86_400_000
FIRST_WEEKDAY = 3  # 1970 began on a Thursday, the fourth day of a week


def longest(rows: FactRows, position: int, _before: Event | None, now: Event | None) -> None:
    """A row for each game of which the half-moves are known: an index by them has the longest one at its end."""
    if isinstance(now, GameRecorded) and now.half_moves is not None:
        rows.put((position,), (now.pool, now.half_moves, int(now.rated)))
    else:
        rows.take_out((position,))


LONG_GAMES = FactProjector(
    name="long_games",
    version=1,
    kinds=(GameRecorded,),
    key=(Kept("game", "INTEGER", 0, "position of the game in the journal"),),
    columns=(
        Kept("of_pool", "TEXT", 0, "name of its pool"),
        Kept("half_moves", "INTEGER", 0, "half-moves played"),
        Kept("rated", "INTEGER", 0, "1 where it was asked to be rated, else 0"),
    ),
    stand=longest,
)


def by_weekday(rows: FactRows, _position: int, before: Event | None, now: Event | None) -> None:
    """Games of each pool by the weekday on which they ended, and those of them that were not to be rated."""
    for game, amount in ((before, -1), (now, 1)):
        if isinstance(game, GameRecorded) and len(game.ended_at) >= len("2024-05-01"):
            weekday = (instant_ms(game.ended_at) // DAY_MS + FIRST_WEEKDAY) % 7
            rows.add((game.pool, weekday), amount, 0 if game.rated else amount)


WEEKDAYS = FactProjector(
    name="weekdays",
    version=1,
    kinds=(GameRecorded,),
    key=(Kept("of_pool", "TEXT", 0, "name of the pool"), Kept("weekday", "INTEGER", 0, "0 Monday to 6 Sunday")),
    columns=(
        Kept("games", "INTEGER", 0, "games that ended on such a day"),
        Kept("unrated", "INTEGER", 0, "of these, games that were not to be rated"),
    ),
    sums=True,
    stand=by_weekday,
)


def by_month(rows: FactRows, _position: int, before: Event | None, now: Event | None) -> None:
    """Players by the month in which they joined."""
    for player, amount in ((before, -1), (now, 1)):
        if isinstance(player, PlayerRegistered):
            rows.add((player.joined_at[: len("2024-05")],), amount)


JOINERS = FactProjector(
    name="joiners",
    version=1,
    kinds=(PlayerRegistered,),
    key=(Kept("month", "TEXT", 0, "YYYY-MM, or YYYY where no more is known"),),
    columns=(Kept("players", "INTEGER", 0, "who joined in it"),),
    sums=True,
    stand=by_month,
)
OF_FACTS = (LONG_GAMES, WEEKDAYS, JOINERS)
