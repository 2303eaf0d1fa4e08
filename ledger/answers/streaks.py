"""A player's winning, unbeaten and losing streaks: the current one and the longest, with their first and last games."""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from ledger.answers.asking import in_one_snapshot
from ledger.answers.read_models import PlayerGameReader, count_rated_games, read_model_state, require_read_model
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings.projectors.streaks import PROJECTOR

StreakKind = Literal["winning", "unbeaten", "losing"]


@attrs.frozen(kw_only=True, slots=False)
class Streak:
    """A winning, unbeaten or losing streak of a player, with its first and its last game."""

    streak: StreakKind = documented("rated games in a row that were won, not lost, lost")
    which: Literal["current", "longest"] = documented("the one that runs, or the longest; of two the first")
    games: int = documented("how many games it has; 0: none runs", minimum=0)
    first_n: int | None = documented("number of its first game among the player's rated ones in the pool")
    first_game: str | None = documented("key of that game")
    first_ended_at: str | None = documented("when it ended")
    first_opponent: str | None = documented("what the opponent is called")
    last_n: int | None = documented("number of its last game")
    last_game: str | None = documented("key of that game")
    last_ended_at: str | None = documented("when it ended")
    last_opponent: str | None = documented("what the opponent is called")


@in_one_snapshot
def streaks(ledger: OpenLedger, person: Person, pool: str | None = None, at: str | None = None) -> list[Streak]:
    """Return the current and the longest streak of a player of each kind, among all rated games or those in force *at*.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or the ledger does not keep this read model.
    """
    require_read_model(ledger, PROJECTOR)
    rated_by = ledger.pool(pool)
    n = count_rated_games(ledger, rated_by, person, at)
    state = read_model_state(ledger, rated_by, PROJECTOR, person.player, n)
    sides = PlayerGameReader(ledger, rated_by, person.player)
    rows = []
    for kind in get_args(StreakKind):
        current = (state[f"{kind}_from"], n) if state[f"{kind}_from"] else (0, 0)
        ended = state[f"longest_{kind}_from"], state[f"longest_{kind}_to"]
        longest = current if _games(current) > _games(ended) else ended
        both: tuple[tuple[Literal["current", "longest"], tuple[int, int]], ...]
        both = ("current", current), ("longest", longest)
        for which, span in both:
            first, last = map(sides.nth_game, span)
            rows.append(
                Streak(
                    streak=kind,
                    which=which,
                    games=_games(span),
                    first_n=first.n,
                    first_game=first.game,
                    first_ended_at=first.ended_at,
                    first_opponent=first.opponent,
                    last_n=last.n,
                    last_game=last.game,
                    last_ended_at=last.ended_at,
                    last_opponent=last.opponent,
                )
            )
    return rows


def _games(span: tuple[int, int]) -> int:
    """Return the number of games of a streak; 0 for none."""
    first, last = span
    return last - first + 1 if first else 0
