"""How two rating lists differ, player by player, and why: which entries of the journal moved whom, by how much.

Two lists may differ because of what became known between them, and because of what was played between their days. So
the way from the first to the second has two parts: first the first list's day is asked again after each entry that may
have changed it (a correction, a late result, a change of scheme), then the later day. Each step says what a player had
before and after it, so that the steps of a player lead from the one number to the other without a gap. Nothing is
written but the views of the first list's time, which are kept for the next question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ledger.answers.moments import of_one_moment
from ledger.answers.publications import same
from ledger.answers.wording import names
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.errors import MalformedError
from ledger.facts.codec import Entry, decode
from ledger.facts.events import (
    ClockAccepted,
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    GameRecorded,
    ListPublished,
    PersonErased,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    TokenIssued,
    TokenRevoked,
)
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text
from ledger.journal import Journal
from ledger.journal.kept_lists import ListRow, in_form
from ledger.ledger import Ledger
from ledger.ratings.past_views import known_at, stepping
from ledger.ratings.standings import Standings, by_player, list_in_force
from ledger.ratings.views import Views
from ledger.runtime.long_work import Progress, silent

NOW = "now"
CREATED, UNCHANGED, CHANGED, REMOVED = "created", "unchanged", "changed", "removed"
MOST_STEPS = 50  # entries that are asked one by one; what follows is asked together
FEW_GAMES = 10  # late results in a row that are asked one by one; more are asked together
_MOVES_NOBODY = (
    ClockAccepted, CorrectionProposed, ListPublished, PersonErased, PlayerRegistered, PlayerRenamed, PolicySet,
    TokenIssued, TokenRevoked,
)  # fmt: skip


class RatingList(NamedTuple):
    """A list that is compared.

    Attributes:
        name: what it is called.
        pool: name of the pool.
        at_ms: its instant, milliseconds since 1970.
        head: how many entries it follows from.
        rows: by player.
    """

    name: str
    pool: str
    at_ms: int
    head: int
    rows: Mapping[int, ListRow]


class Step(NamedTuple):
    """Entries that may have moved players, and what they are called."""

    until: int
    cause: str


@of_one_moment
def two_lists(ledger: Ledger, first: str, second: str) -> tuple[RatingList, RatingList]:
    """The lists that two words mean.

    Args:
        ledger: a ledger whose views are level.
        first: ``POOL@INSTANT/EDITION``; ``POOL@INSTANT``, the last edition; ``POOL@INSTANT/now``, what the journal says
            now of that instant; or ``now``, what it says now of the other list's.
        second: the same.

    Raises:
        MalformedError: both are ``now``; or they are lists of two pools.
        UnknownNameError: there is no such list or pool.
    """
    if first == second == NOW:
        raise MalformedError(["both lists are 'now': name one of them, as 'lists' does, such as standard@2024-02-29"])
    other = None if first == NOW else _list(ledger, first)
    later = _list_now(ledger, other.pool, other.at_ms) if other and second == NOW else _list(ledger, second)
    earlier = other or _list_now(ledger, later.pool, later.at_ms)
    if earlier.pool != later.pool:
        raise MalformedError([f"{earlier.name} and {later.name} are lists of two pools: compare two of one"])
    return earlier, later


def _list(ledger: Ledger, word: str) -> RatingList:
    pool, _, rest = word.partition("@")
    instant, _, edition = rest.partition("/")
    if edition == NOW:
        return _list_now(ledger, pool, instant_end_ms(instant))
    found = ledger.publications.found(word)
    rows = by_player(in_form(ledger.publications.rows(found)))  # a form of earlier days moves nobody
    return RatingList(found.name, found.event.pool, found.at_ms, found.event.head, rows)


def _list_now(ledger: Ledger, pool: str, ms: int) -> RatingList:
    rows = list_in_force(ledger.views.connection, ledger.pool(pool), ms)
    return RatingList(NOW, pool, ms, ledger.views.position(), by_player(rows))


def differences(
    ledger: Ledger, first: RatingList, second: RatingList, progress: Progress = silent
) -> list[dict[str, Any]]:
    """What became of each player from one list to another, in the order of the second, who is gone at the end.

    Args:
        ledger: a ledger whose views are level.
        first: the list that is compared.
        second: the list that it is compared with; may be of another instant, and of what was known earlier.
        progress: told what is being done.

    Returns:
        ``change`` (``created``, ``unchanged``, ``changed``, ``removed``), ``player``, ``name``, ranks, ratings and
        games on both, ``difference`` in points, and ``why``: steps from the one rating to the other, each with
        ``cause``, ``before`` and ``after``. Who only changed places because others moved is unchanged.
    """
    changed = [
        player for player in {**second.rows, **first.rows} if not same(first.rows.get(player), second.rows.get(player))
    ]
    why = _why(ledger, first, second, changed, progress)
    players = sorted(second.rows.values(), key=_in_order)
    gone = sorted((row for row in first.rows.values() if row.player not in second.rows), key=_in_order)
    called = names(ledger, {row.player for row in (*players, *gone)})
    return [
        _difference(first.rows.get(row.player), second.rows.get(row.player), called[row.player], why)
        for row in (*players, *gone)
    ]


def _in_order(row: ListRow) -> tuple[int, int]:
    return row.rank, row.player


def _difference(
    before: ListRow | None, after: ListRow | None, name: str, why: Mapping[int, list[dict[str, Any]]]
) -> dict[str, Any]:
    row = after or before
    assert row is not None
    return {
        "change": _word(before, after),
        "player": row.player,
        "name": name,
        "rank_before": None if before is None else before.rank,
        "rank_after": None if after is None else after.rank,
        "rating_before": None if before is None else before.rating,
        "rating_after": None if after is None else after.rating,
        "difference": None if before is None or after is None else after.rating - before.rating,
        "games_before": None if before is None else before.games,
        "games_after": None if after is None else after.games,
        "why": why.get(row.player, []),
    }


def _word(before: ListRow | None, after: ListRow | None) -> str:
    if before is None:
        return CREATED
    if after is None:
        return REMOVED
    return UNCHANGED if same(before, after) else CHANGED


# -- why ---------------------------------------------------------------------------------------------------------


def _why(
    ledger: Ledger, first: RatingList, second: RatingList, players: list[int], progress: Progress
) -> dict[int, list[dict[str, Any]]]:
    if not players:
        return {}
    early, late = (first, second) if first.head <= second.head else (second, first)
    found = _steps_between(ledger, early, late, players, progress)
    if early is first:
        return found
    return {player: [_back(step) for step in reversed(steps)] for player, steps in found.items()}


def _back(step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "before": step["after"], "after": step["before"]}


def _steps_between(
    ledger: Ledger, early: RatingList, late: RatingList, players: list[int], progress: Progress
) -> dict[int, list[dict[str, Any]]]:
    """By player, what moved the player on the way from what was known first to what was known later."""
    ratings = {player: early.rows[player].rating if player in early.rows else None for player in players}
    found: dict[int, list[dict[str, Any]]] = {player: [] for player in players}

    def took(cause: str, now: Mapping[int, float | None]) -> None:
        for player, after in now.items():
            if after != ratings[player]:
                found[player].append({"cause": cause, "before": ratings[player], "after": after})
                ratings[player] = after

    pool = ledger.pool(early.pool)
    steps = list(_steps(ledger.journal, pool, early.at_ms, early.head, late.head))
    if steps:
        kept = known_at(ledger.path, ledger.views.kept(), ledger.journal, early.head, progress)
        with kept as begun, stepping(ledger.journal, begun) as past:
            for step in steps:
                took(step.cause, _ratings(past.go_to(step.until, progress), early.pool, players, early.at_ms))
    final = {player: late.rows[player].rating if player in late.rows else None for player in players}
    took("played or passed between the two days" if early.at_ms != late.at_ms else "other entries", final)
    return found


def _ratings(views: Views, name: str, players: list[int], ms: int) -> dict[int, float | None]:
    pool = next((pool for pool in stored_pools(views.connection) if pool.name == name), None)
    if pool is None:
        return dict.fromkeys(players)
    listed = Standings(views.connection, pool, ms).of(players)
    return {player: listed[player].rating if player in listed else None for player in players}


def _steps(journal: Journal, pool: Pool, ms: int, head: int, until: int) -> Iterator[Step]:
    """The entries that may have changed the list of an instant, each by itself as long as they are few.

    A game that ended later does not, unless its tournament, which it may have moved, is rated whole.
    """
    games: list[Entry] = []
    steps = 0
    for entry in (decode(body) for bodies in journal.read(head, until) for body in bodies):
        event = entry.event
        if isinstance(event, GameRecorded):
            if event.pool == pool.name and (pool.by_event or instant_ms(event.ended_at) <= ms):
                games.append(entry)
            continue
        if not _may_move(entry):
            continue
        for step in (*_of_games(games, ms), Step(entry.position, _cause(entry))):
            yield step
            steps += 1
        games = []
        if steps >= MOST_STEPS:
            yield Step(until, f"entries {entry.position + 1} to {until}")
            return
    yield from _of_games(games, ms)


def _of_games(games: list[Entry], ms: int) -> list[Step]:
    """Steps of games that follow each other; a game is late where it had ended by the instant of the list."""
    keys = [entry.event.key.removeprefix("game:") for entry in games]
    late = [isinstance(entry.event, GameRecorded) and instant_ms(entry.event.ended_at) <= ms for entry in games]
    day = instant_text(ms, Precision.DAY)
    if len(games) > FEW_GAMES:
        span, count = f"{keys[0]} to {keys[-1]}", sum(late)
        cause = f"{count:,} late results, {span}"
        if count < len(games):
            others = f"{len(games):,} games that ended after {day}"
            cause = f"{others}, {span}" if not count else f"{len(games):,} games, {count:,} of them late, {span}"
        return [Step(games[-1].position, cause)]
    return [
        Step(entry.position, f"late result {key}" if is_late else f"game {key}, which ended after {day}")
        for entry, key, is_late in zip(games, keys, late, strict=True)
    ]


def _may_move(entry: Entry) -> bool:
    event = entry.event
    if isinstance(event, CorrectionDecided):
        return event.decision is Decision.APPROVED
    return not isinstance(event, _MOVES_NOBODY)


def _cause(entry: Entry) -> str:
    if isinstance(entry.event, CorrectionDecided):
        return f"correction {entry.event.proposal}"
    return f"entry {entry.position}: {entry.event.key}"
