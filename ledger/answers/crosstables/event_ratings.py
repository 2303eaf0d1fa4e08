"""The ratings of a tournament's players: at its start, before and after each of their games.

The enrolment rating is the one in force before the player's first game in the tournament, the closing rating of a game
the one after it or, where the scheme rates by period or event, after that. Both are the ledger's own, or those that the
source of the games shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ledger.answers.crosstables.event_games import EventGame, sides_of
from ledger.book.timeline import Pool
from ledger.ratings.player_states import PlayerStates
from ledger.schemes.scheme import UNRATED

if TYPE_CHECKING:
    import sqlite3

LEDGER, SHOWN = "ledger", "shown"
WHOSE = (LEDGER, SHOWN)


class EventRatings(Protocol):
    """What a table asks of ratings; each is in points, None where there is none."""

    def counts(self, game: EventGame) -> bool:
        """Whether a game counts for performance ratings."""

    def enrolment(self, player: int) -> float | None:
        """Of a player when the tournament began."""

    def before(self, player: int, game: EventGame) -> float | None:
        """Of a player before a game."""

    def after(self, player: int, game: EventGame) -> float | None:
        """Of a player after a game, or after the period or event that it was rated with."""

    def surplus(self, player: int, game: EventGame) -> float | None:
        """How far the opponent's rating before a game was above the player's; None where it counts for no upset."""


class LedgerRatings:
    """The ledger's own ratings; of each player they are read when somebody asks."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        pool: Pool,
        states: PlayerStates,
        games: Sequence[EventGame],
        began_ms: int,
    ) -> None:
        self._connection, self._pool, self._states, self._began_ms = connection, pool, states, began_ms
        self._games: dict[int, list[EventGame]] = {}
        for game in games:
            self._games.setdefault(game.white, []).append(game)
            self._games.setdefault(game.black, []).append(game)
        self._enrolments: dict[int, float | None] = {}
        self._sides: dict[int, Mapping[int, dict[str, Any]]] = {}
        self._before: dict[tuple[int, int], float | None] = {}

    def _row(self, player: int, game: EventGame) -> dict[str, Any] | None:
        if player not in self._sides:
            self._sides[player] = sides_of(self._connection, self._pool, player, self._games.get(player, ()))
        return self._sides[player].get(game.position)

    def counts(self, game: EventGame) -> bool:
        """A game counts that is rated."""
        return game.reason is None

    def enrolment(self, player: int) -> float | None:
        """In force before the first rated game of the player here; of a player who has none, before the first game.

        Of who has byes alone, in force when the tournament began.
        """
        if player not in self._enrolments and player not in self._games:
            self._enrolments[player] = self._states.at(player, self._began_ms, before=True).in_force
        elif player not in self._enrolments:
            first = min(self._games[player], key=partial(self._rank, player))
            self._enrolments[player] = self.before(player, first)
        return self._enrolments[player]

    def _rank(self, player: int, game: EventGame) -> tuple[int, int]:
        """Rated games before others, in the order in which they were rated."""
        row = self._row(player, game)
        return (1, game.ended_ms) if row is None else (0, row["n"])

    def before(self, player: int, game: EventGame) -> float | None:
        """In force before the game."""
        key = (player, game.position)
        if key not in self._before:
            row = self._row(player, game)
            if row is None:
                self._before[key] = self._states.at(player, game.ended_ms, before=True).in_force
            else:
                self._before[key] = self._states.rating_before_game(row)
        return self._before[key]

    def after(self, player: int, game: EventGame) -> float | None:
        """That which the row of the game keeps; None for a game that is not rated."""
        row = self._row(player, game)
        return None if row is None else self._states.after_game(row).rating

    def surplus(self, player: int, game: EventGame) -> float | None:
        """By the ratings that both went into the game with, a newcomer's included, as the rows of upsets have it.

        None where somebody was unrated.
        """
        own, opponents = self._row(player, game), self._row(game.opponent_of(player), game)
        if own is None or opponents is None or UNRATED in {own["rating_before"], opponents["rating_before"]}:
            return None
        return float(opponents["rating_before"] - own["rating_before"])


class ShownRatings:
    """The ratings that the source of the games shows: those of a federation's list, mostly."""

    def __init__(self, games: Sequence[EventGame]) -> None:
        often: dict[int, Counter[int]] = {}
        # In order of the ends, for ``most_common`` keeps equals as they were first counted.
        for game in sorted(games, key=lambda game: game.ended_ms):
            for player in (game.white, game.black):
                shown = game.shown_of(player)
                if shown is not None:
                    often.setdefault(player, Counter())[shown] += 1
        self._enrolment = {player: float(counted.most_common(1)[0][0]) for player, counted in often.items()}

    def counts(self, game: EventGame) -> bool:
        """A game counts that was played."""
        return game.is_played

    def enrolment(self, player: int) -> float | None:
        """Shown in most games, of which a list has one; of those that are shown as often, the first."""
        return self._enrolment.get(player)

    def before(self, player: int, game: EventGame) -> float | None:
        """Shown in the game or, where that shows none, that of the enrolment."""
        shown = game.shown_of(player)
        return self.enrolment(player) if shown is None else float(shown)

    def after(self, player: int, game: EventGame) -> float | None:  # noqa: ARG002
        """No source shows it."""
        return None

    def surplus(self, player: int, game: EventGame) -> float | None:
        """By the ratings that the source shows, of games that were played."""
        own, opponents = self.before(player, game), self.before(game.opponent_of(player), game)
        return None if own is None or opponents is None or not game.is_played else opponents - own
