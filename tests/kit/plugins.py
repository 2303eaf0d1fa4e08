"""Projectors as a plug-in author would write them: of ratings (streaks, surpluses, climbs) and of facts."""

from math import nan

import attrs

from ledger.facts.events import Event, GameRecorded, PlayerRegistered
from ledger.facts.instants import instant_ms
from ledger.ratings.fact_projector import FactProjector, FactRows, declare_facts, key_column, value_column
from ledger.ratings.projector import CHANGES, TOURNAMENT, Projector, RatedSide, column, declare

DAY_MS = 86_400_000


@attrs.define
class WinStreaks(Projector):
    """Wins in a row, the longest run of them, and the strongest opponent beaten."""

    streak: float = column(0.0, "INTEGER", "wins in a row up to this game")
    longest: float = column(0.0, "INTEGER", "the longest such run so far")
    best_beaten: float = column(nan, "REAL", "highest rating of a beaten opponent, points; NULL before")
    day: float = column(nan, "REAL", "when the last game ended, days since 1970")

    def step(self, game: RatedSide) -> None:
        """Count wins in a row; keep the longest run and the strongest opponent beaten."""
        if game.half_points == 2:
            self.streak += 1.0
            self.longest = max(self.longest, self.streak)
            if not self.best_beaten >= game.opponent_rating:
                self.best_beaten = game.opponent_rating
        else:
            self.streak = 0.0
        self.day = game.ended_ms / DAY_MS


WIN_STREAKS = declare(
    WinStreaks,
    name="win_streaks",
    version=1,
    stores=("game", "rating"),
    reads=("half_points", "opponent_rating", "ended_ms"),
)


@attrs.define
class Surpluses(Projector):
    """Games that were won against expectation; the points above it, anew with each tournament."""

    upsets: float = column(0.0, "INTEGER", "games won against a stronger opponent so far")
    surplus: float = column(0.0, "REAL", "points above the expected ones in the tournament so far")
    seen: float = column(0.0, "INTEGER", "code of the last tournament")
    in_era: float = column(0.0, "INTEGER", "era of the last game")
    mates: float = column(0.0, "INTEGER", "games that ended by checkmate")

    def step(self, game: RatedSide) -> None:
        """Count an upset; add the points above the expected ones, anew in another tournament or era."""
        if game.half_points == 2 and game.rating_before < game.opponent_rating_before:
            self.upsets += 1.0
        if game.tournament_code != self.seen or game.round_order == 0 or game.era != self.in_era:
            self.surplus = 0.0
        self.seen = game.tournament_code
        self.in_era = game.era
        self.surplus += game.half_points / 2 - game.expected_score
        if game.termination_code == 0:
            self.mates += 1.0


SURPLUSES = declare(
    Surpluses,
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
    reads=(
        "half_points",
        "expected_score",
        "rating_before",
        "opponent_rating_before",
        "tournament_code",
        "round_order",
        "era",
        "termination_code",
    ),
)


@attrs.define
class Climbs(Projector):
    """Each full hundred of points that a player who is listed reaches; who has a past is no beginner."""

    next: float = column(nan, "REAL", "the hundred that is next, points")
    seeded: float = column(0.0, "INTEGER", "games before the ledger's")

    def step(self, game: RatedSide) -> None:
        """Note a rating that has reached the hundred that was next."""
        if game.listed == 1 and not game.rating < self.next:
            self.next = game.rating - game.rating % 100.0 + 100.0
            self.seeded = game.games_before


CLIMBS = declare(
    Climbs, name="climbs", version=1, rows=CHANGES, stores=("game",), reads=("rating", "listed", "games_before")
)


@attrs.define
class Scores(Projector):
    """Half points and the ratings of the opponents."""

    half_points: float = column(0.0, "INTEGER", "half points so far in the tournament")
    opponents: float = column(0.0, "REAL", "sum of the opponents' ratings, points")

    def step(self, game: RatedSide) -> None:
        """Add up half points and the ratings of the opponents."""
        self.half_points += game.half_points
        self.opponents += game.opponent_rating_before


SCORES = declare(
    Scores,
    name="scores",
    version=1,
    by=TOURNAMENT,
    stores=("game", "opponent"),
    reads=("half_points", "opponent_rating_before"),
)


@attrs.define
class Beaten(Projector):
    """The strongest opponent who was beaten."""

    beaten: float = column(nan, "REAL", "the strongest opponent beaten in the tournament, points")

    def step(self, game: RatedSide) -> None:
        """Keep the strongest opponent who was beaten."""
        if game.half_points == 2 and not game.opponent_rating_before <= self.beaten:
            self.beaten = game.opponent_rating_before


BEATEN = declare(
    Beaten, name="beaten", version=1, by=TOURNAMENT, rows=CHANGES, reads=("half_points", "opponent_rating_before")
)


FIRST_WEEKDAY = 3  # 1970 began on a Thursday, the fourth day of a week


@attrs.define
class LongGames(FactProjector):
    """A row for each game of which the half-moves are known: an index by them has the longest one at its end."""

    game: int = key_column("INTEGER", "position of the game in the journal")
    of_pool: str = value_column("TEXT", "name of its pool")
    half_moves: int = value_column("INTEGER", "half-moves played")
    rated: int = value_column("INTEGER", "1 where it was asked to be rated, else 0")

    @staticmethod
    def on_change(rows: FactRows, position: int, before: Event | None, now: Event | None) -> None:  # noqa: ARG004
        """Put the row in, or take it out."""
        if isinstance(now, GameRecorded) and now.half_moves is not None:
            rows.put((position,), (now.pool, now.half_moves, int(now.rated)))
        else:
            rows.remove((position,))


LONG_GAMES = declare_facts(LongGames, name="long_games", version=1, kinds=(GameRecorded,))


@attrs.define
class Weekdays(FactProjector):
    """Games of each pool by the weekday on which they ended, and those of them that were not to be rated."""

    of_pool: str = key_column("TEXT", "name of the pool")
    weekday: int = key_column("INTEGER", "0 Monday to 6 Sunday")
    games: int = value_column("INTEGER", "games that ended on such a day")
    unrated: int = value_column("INTEGER", "of these, games that were not to be rated")

    @staticmethod
    def on_change(rows: FactRows, position: int, before: Event | None, now: Event | None) -> None:  # noqa: ARG004
        """Take the game from its day, or add it."""
        for game, amount in ((before, -1), (now, 1)):
            if isinstance(game, GameRecorded) and len(game.ended_at) >= len("2024-05-01"):
                weekday = (instant_ms(game.ended_at) // DAY_MS + FIRST_WEEKDAY) % 7
                rows.add((game.pool, weekday), amount, 0 if game.rated else amount)


WEEKDAYS = declare_facts(Weekdays, name="weekdays", version=1, kinds=(GameRecorded,), sums=True)


@attrs.define
class Joiners(FactProjector):
    """Players by the month in which they joined."""

    month: str = key_column("TEXT", "YYYY-MM, or YYYY where no more is known")
    players: int = value_column("INTEGER", "who joined in it")

    @staticmethod
    def on_change(rows: FactRows, position: int, before: Event | None, now: Event | None) -> None:  # noqa: ARG004
        """Take the player from the month, or add."""
        for player, amount in ((before, -1), (now, 1)):
            if isinstance(player, PlayerRegistered):
                rows.add((player.joined_at[: len("2024-05")],), amount)


JOINERS = declare_facts(Joiners, name="joiners", version=1, kinds=(PlayerRegistered,), sums=True)
OF_FACTS = (LONG_GAMES, WEEKDAYS, JOINERS)
