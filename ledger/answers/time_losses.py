"""Losses on time: share and longest run over windows of games and days, and marks of players who have many of them.

The mark follows from the policy ``sandbagger`` at the requested instant. It names its games and suggests that an
officer looks at them; it has no other effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from ledger.answers.asking import in_one_snapshot, names
from ledger.answers.read_models import PlayerGameReader, count_rated_games, require_read_model
from ledger.book.policies import SANDBAGGER
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms, instant_text
from ledger.facts.json_schemas import documented, flattened
from ledger.facts.periods import DAY_MS
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.policies.house_policies import HousePolicies
from ledger.ratings import queries
from ledger.ratings.projectors.time_losses import PROJECTOR

WINDOWS_OF_GAMES = (50, 100)
WINDOWS_OF_DAYS = (90, 365)
_ENDS = "SELECT n, ended_ms FROM history WHERE pool = ?1 AND player = ?2 AND n <= ?3 ORDER BY n"
# CROSS JOIN fixes the order: from the losses, each looked up in the rest, never from the whole history.
_LOST = """
SELECT t.n, games.key FROM time_losses AS t
CROSS JOIN history AS h ON h.pool = t.pool AND h.player = t.player AND h.n = t.n
CROSS JOIN games ON games.position = h.game
WHERE t.pool = ?1 AND t.player = ?2 AND t.n > ?3 AND t.n <= ?4 ORDER BY t.n
"""
_EVERYBODY = """
WITH last AS ({last})
SELECT last.player, last.n AS last_n, count(*) AS time_losses FROM last JOIN time_losses AS t
ON t.pool = ?1 AND t.player = last.player AND t.n > last.n - ?2 AND t.n <= last.n
GROUP BY last.player
"""
_NOW = "SELECT player, n FROM current WHERE pool = ?1"
# From each player's newest row back to the first that was in force by then: the key of the history leads there, and of
# a late day few rows are passed by.
_THEN = """
SELECT player, (
  SELECT h.n FROM history AS h JOIN games ON games.position = h.game
  WHERE h.pool = ?1 AND h.player = current.player AND games.rated_ms <= ?3 ORDER BY h.n DESC LIMIT 1) AS n
FROM current WHERE pool = ?1
"""


@attrs.frozen(kw_only=True, slots=False)
class TimeLossWindow:
    """A player's losses on time in a window of games or days: number, share and longest run."""

    window: str = documented("which games: last 50 games, all games, last 90 days")
    games: int = documented("how many there are", minimum=0)
    time_losses: int = documented("how many of them were lost on time", minimum=0)
    percent: float | None = documented("their share, per cent; null: there is no game")
    longest_run: int = documented("how many of them follow each other without another game in between", minimum=0)
    run_from: str | None = documented("when the first game of the first such run ended; null: there is none")
    run_to: str | None = documented("when the last one of it ended")
    run_from_game: str | None = documented("key of its first game")
    run_to_game: str | None = documented("key of its last game")


@attrs.frozen(kw_only=True, slots=False)
class MarkedPlayer:
    """The player of a time-loss mark, in answers about all players."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")


@attrs.frozen(kw_only=True, slots=False)
class TimeLossMark:
    """A player's losses on time compared with the limits of the policy ``sandbagger``, with the games as evidence."""

    who: MarkedPlayer | None = flattened()
    games: int = documented("the latest games, as many of them as the policy looks at", minimum=0)
    time_losses: int = documented("how many of them were lost on time", minimum=0)
    percent: float | None = documented("their share, per cent; null: there is no game")
    wanted_games: int = documented("how many games the policy looks at", minimum=1)
    wanted_time_losses: int = documented("how many losses on time it asks for")
    wanted_percent: int = documented("which share of them, per cent")
    look: bool = documented("whether the policy is on and all is reached: somebody should look at these games")
    suggestion: str | None = documented("the same in words; null: there is none")
    evidence: list[str] = documented("keys of the games that were lost on time, the oldest first")


@in_one_snapshot
def time_loss_windows(
    ledger: OpenLedger, person: Person, pool: str | None = None, at: str | None = None
) -> list[TimeLossWindow]:
    """Return a player's losses on time in the last 50, 100 and all rated games, and in the last 90 and 365 days.

    The windows end *at* an instant, with the games in force then; by default with the player's last rated game.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or the ledger does not keep this read model.
    """
    require_read_model(ledger, PROJECTOR)
    rated_by = ledger.pool(pool)
    last = count_rated_games(ledger, rated_by, person, at)
    connection = ledger.views.connection
    ends = dict(connection.execute(_ENDS, (rated_by.pool, person.player, last)).fetchall())
    until_ms = instant_end_ms(at) if at is not None else max(ends.values(), default=0)
    lost = _lost(ledger, rated_by, person.player, 0, last)
    sides = PlayerGameReader(ledger, rated_by, person.player)
    spans = [(f"last {count} games", set(range(max(1, last - count + 1), last + 1))) for count in WINDOWS_OF_GAMES]
    spans.append(("all games", set(ends)))
    spans += [
        (f"last {days} days", {n for n, ms in ends.items() if ms > until_ms - days * DAY_MS})
        for days in WINDOWS_OF_DAYS
    ]
    return [_window(window, sides, games, lost) for window, games in spans]


def _window(window: str, sides: PlayerGameReader, games: set[int], lost: Iterable[int]) -> TimeLossWindow:
    """Return the losses on time among the games of a window."""
    here = [n for n in lost if n in games]
    run = longest_run(here)
    first, last = map(sides.nth_game, run)
    return TimeLossWindow(
        window=window,
        games=len(games),
        time_losses=len(here),
        percent=_percent(len(here), len(games)),
        longest_run=run[1] - run[0] + 1 if run[0] else 0,
        run_from=first.ended_at,
        run_to=last.ended_at,
        run_from_game=first.game,
        run_to_game=last.game,
    )


def _percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None


def longest_run(numbers: Sequence[int]) -> tuple[int, int]:
    """Return the first and last of the longest run of consecutive numbers in ascending ones; zeros for none."""
    best, first, before = (0, 0), 0, 0
    for n in numbers:
        first = n if first == 0 or n != before + 1 else first
        before = n
        if best[0] == 0 or n - first > best[1] - best[0]:
            best = first, n
    return best


@in_one_snapshot
def time_loss_mark(ledger: OpenLedger, person: Person, pool: str | None = None, at: str | None = None) -> TimeLossMark:
    """Return a player's losses on time compared with the policy ``sandbagger``, among the latest games or those *at*.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or the ledger does not keep this read model.
    """
    require_read_model(ledger, PROJECTOR)
    rated_by, policy = ledger.pool(pool), _policy(ledger, at)
    last = count_rated_games(ledger, rated_by, person, at)
    lost = _lost(ledger, rated_by, person.player, last - policy["games"], last)
    return _mark(policy, last, len(lost), list(lost.values()))


@in_one_snapshot
def time_loss_marks(ledger: OpenLedger, pool: str | None = None, at: str | None = None) -> list[TimeLossMark]:
    """Return the marks of all players with a loss on time among their latest games, the largest share first.

    Only marks that suggest a look have their games as evidence.

    Raises:
        UnknownNameError: the ledger does not keep this read model.
    """
    require_read_model(ledger, PROJECTOR)
    rated_by, policy = ledger.pool(pool), _policy(ledger, at)
    query = _EVERYBODY.format(last=_NOW if at is None else _THEN)
    arguments = [rated_by.pool, policy["games"], *([] if at is None else [instant_end_ms(at)])]
    marks: list[tuple[int, TimeLossMark]] = []
    for row in list(queries.fetch_dicts(ledger.views.connection, query, arguments)):
        mark, player = _mark(policy, row["last_n"], row["time_losses"], []), row["player"]
        if mark.look:
            lost = _lost(ledger, rated_by, player, row["last_n"] - policy["games"], row["last_n"])
            mark = attrs.evolve(mark, evidence=list(lost.values()))
        marks.append((player, mark))
    marks.sort(key=_suspects_first)
    called = names(ledger, {player for player, _ in marks})
    return [attrs.evolve(mark, who=MarkedPlayer(player=player, name=called[player])) for player, mark in marks]


def _suspects_first(entry: tuple[int, TimeLossMark]) -> tuple[bool, float, int, int]:
    player, mark = entry
    return not mark.look, -(mark.percent or 0.0), -mark.time_losses, player


def _policy(ledger: OpenLedger, at: str | None) -> dict[str, int]:
    """Return the settings of the policy at the end of an instant, now by default, with one game at least."""
    ms = ledger.now_ms() if at is None else instant_end_ms(at)
    settings = {name: int(value) for name, value in HousePolicies(ledger).at(SANDBAGGER, instant_text(ms)).items()}
    return {**settings, "games": max(1, settings["games"])}


def _mark(policy: dict[str, int], last: int, lost: int, evidence: list[str]) -> TimeLossMark:
    games = min(last, policy["games"])
    # A policy without a least number of losses must not mark players who have none.
    # In whole numbers, so that a share of exactly that many per cent is reached.
    look = bool(policy["on"]) and lost >= max(1, policy["at_least"]) and lost * 100 >= policy["percent"] * games
    words = f"{lost} of the last {games} games were lost on time: somebody should look at them before anything is said"
    return TimeLossMark(
        games=games,
        time_losses=lost,
        percent=_percent(lost, games),
        wanted_games=policy["games"],
        wanted_time_losses=policy["at_least"],
        wanted_percent=policy["percent"],
        look=look,
        suggestion=words if look else None,
        evidence=evidence,
    )


def _lost(ledger: OpenLedger, pool: Pool, player: int, after: int, last: int) -> dict[int, str]:
    """Return the keys of a player's games lost on time, by number, ascending."""
    return dict(ledger.views.connection.execute(_LOST, (pool.pool, player, after, last)))
