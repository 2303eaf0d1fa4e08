"""The differences between two rating lists, player by player, with the journal entries that caused them.

Two lists may differ because of entries recorded between them, and because of games played between their days. So the
way from the first list to the second has two parts: first the list of the first day is computed again after each entry
that may have changed it (a correction, a late result, a change of scheme), then the list of the later day. A step has a
player's rating before and after it, so that the steps lead from the one number to the other without a gap. Nothing is
written but the views of the first list's time, which are stored for the next question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Literal, NamedTuple

import attrs

from ledger.answers.asking import day, in_one_snapshot, names
from ledger.answers.replays import ReplayStep, rating_entries, replay, replay_steps
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.errors import MalformedError
from ledger.facts.events import GameRecorded
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.journal import Journal
from ledger.journal.stored_lists import ListRow, with_ranks
from ledger.publishing.publications import Publications
from ledger.ratings.row_changes import RowChange, row_changes
from ledger.ratings.standings import list_standings, rating_list_at, rows_by_player
from ledger.ratings.views import Views
from ledger.runtime.calls import checked
from ledger.runtime.long_work import Progress, no_progress

NOW = "now"
CREATED: Literal["created"] = "created"
UNCHANGED: Literal["unchanged"] = "unchanged"
CHANGED: Literal["changed"] = "changed"
REMOVED: Literal["removed"] = "removed"
MOST_STEPS = 50  # entries that are replayed one by one; those that follow are replayed together
FEW_GAMES = 10  # late results in a row that are replayed one by one; more are replayed together


@attrs.frozen(kw_only=True, slots=False)
class DifferenceStep:
    """A cause that changed a player's rating on a list, with the rating before and after it."""

    cause: str = documented("what it was, in words")
    before: float | None = documented("the rating before it, points; null: the player was not listed")
    after: float | None = documented("the rating after it, points; null: the player is not listed")


@attrs.frozen(kw_only=True, slots=False)
class ListDifference:
    """A player's ranks, ratings and games on two lists, with the causes of the difference."""

    change: Literal["created", "unchanged", "changed", "removed"] = documented("what became of the row")
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    rank_before: int | None = documented("place on the first list, from 1; null: not on it", minimum=1)
    rank_after: int | None = documented("place on the second list", minimum=1)
    rating_before: float | None = documented("rating on the first list, points")
    rating_after: float | None = documented("rating on the second list, points")
    difference: float | None = documented("from the one rating to the other, points; null: on one list alone")
    games_before: int | None = documented("rated games by the first list", minimum=0)
    games_after: int | None = documented("rated games by the second list", minimum=0)
    why: list[DifferenceStep] = documented("steps that lead from the one rating to the other without a gap")


class RatingList(NamedTuple):
    """A rating list to compare: published, or computed from the current facts.

    Attributes:
        name: ``POOL@INSTANT/EDITION`` of a published list, else ``now``.
        pool: name of the pool.
        at_ms: its instant, milliseconds since 1970.
        head: the number of entries from which it was computed.
        rows: by player.
    """

    name: str
    pool: str
    at_ms: int
    head: int
    rows: Mapping[int, ListRow]


@in_one_snapshot
def lists_to_compare(ledger: OpenLedger, first: str, second: str) -> tuple[RatingList, RatingList]:
    """Return the two rating lists to compare, by their names.

    A name is ``POOL@INSTANT/EDITION``; ``POOL@INSTANT``, its last edition; ``POOL@INSTANT/now``, the list of that
    instant by today's facts; or ``now``, the list of the other one's instant by today's facts.

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


def _list(ledger: OpenLedger, word: str) -> RatingList:
    pool, _, rest = word.partition("@")
    instant, _, edition = rest.partition("/")
    if edition == NOW:
        return _list_now(ledger, pool, instant_end_ms(instant))
    publication = Publications(ledger).named(word)
    rows = rows_by_player(with_ranks(Publications(ledger).rows(publication)))  # an older form of list moves no player
    return RatingList(publication.name, publication.event.pool, publication.at_ms, publication.event.head, rows)


def _list_now(ledger: OpenLedger, pool: str, ms: int) -> RatingList:
    rows = rating_list_at(ledger.views.connection, ledger.pool(pool), ms)
    return RatingList(NOW, pool, ms, ledger.views.position(), rows_by_player(rows))


# Not of one read snapshot: views of earlier entries are made for it, which takes long: their log would grow.
@checked
def list_differences(
    ledger: OpenLedger, first: RatingList, second: RatingList, progress: Progress = no_progress, *, why: bool = True
) -> list[ListDifference]:
    """Return each player's difference between two lists, in the order of the second, vanished players at the end.

    The *second* list may be of another instant, and computed from fewer entries. With *why* each difference has the
    entries that caused it, for which views of earlier entries are made.
    """
    # a player whose rank alone changed, because others moved, is unchanged
    changed = {change.player for change in row_changes(first.rows, second.rows, lambda row: row.figures)}
    steps_of = _why(ledger, first, second, changed, progress) if why else {}
    players = sorted(second.rows.values(), key=_in_order)
    gone = sorted((row for row in first.rows.values() if row.player not in second.rows), key=_in_order)
    called = names(ledger, {row.player for row in (*players, *gone)})
    rows = []
    for player in (row.player for row in (*players, *gone)):
        pair = RowChange(player=player, before=first.rows.get(player), after=second.rows.get(player))
        change: Literal["created", "unchanged", "changed", "removed"] = CHANGED if player in changed else UNCHANGED
        if pair.before is None or pair.after is None:
            change = CREATED if pair.before is None else REMOVED
        rows.append(
            ListDifference(
                change=change,
                player=player,
                name=called[player],
                difference=pair.difference,
                why=steps_of.get(player, []),
                **pair.fields("rank", "rating", "games"),
            )
        )
    return rows


def _in_order(row: ListRow) -> tuple[int, int]:
    return row.rank, row.player


# -- why ---------------------------------------------------------------------------------------------------------


def _why(
    ledger: OpenLedger, first: RatingList, second: RatingList, players: Set[int], progress: Progress
) -> dict[int, list[DifferenceStep]]:
    # By the entries, not by the day: a list of an earlier day may follow from more entries.
    early, late = (first, second) if first.head <= second.head else (second, first)
    steps_of = _steps_between(ledger, early, late, players, progress) if players else {}
    # Entries are replayed in the order of the journal: if the second list has fewer, the steps are reversed.
    if early is first:
        return steps_of
    return {
        player: [DifferenceStep(cause=step.cause, before=step.after, after=step.before) for step in reversed(steps)]
        for player, steps in steps_of.items()
    }


def _steps_between(
    ledger: OpenLedger, early: RatingList, late: RatingList, players: Set[int], progress: Progress
) -> dict[int, list[DifferenceStep]]:
    """Return, by player, the causes of change between a list of fewer entries and one of more."""
    ratings = {player: early.rows[player].rating if player in early.rows else None for player in players}
    steps_of: dict[int, list[DifferenceStep]] = {player: [] for player in players}

    def note(cause: str, now: Mapping[int, float | None]) -> None:
        for player, after in now.items():
            if after != ratings[player]:
                steps_of[player].append(DifferenceStep(cause=cause, before=ratings[player], after=after))
                ratings[player] = after

    pool = ledger.pool(early.pool)
    causes = list(islice(_causes(ledger.journal, pool, early.at_ms, early.head, late.head), MOST_STEPS))
    if len(causes) == MOST_STEPS:
        # Each cause costs views brought forward: of the rest only the sum is reported.
        causes.append((f"entries {causes[-1][1] + 1} to {late.head}", late.head))
    if causes:
        with replay(ledger, early.head, progress) as past:
            for cause, position in causes:
                note(cause, _ratings(past.views_after(position), early.pool, players, early.at_ms))
    # A difference without a step comes last, as it is: the steps must lead to the number on the list.
    final = {player: late.rows[player].rating if player in late.rows else None for player in players}
    note("games or time between the two days" if early.at_ms != late.at_ms else "other entries", final)
    return steps_of


def _ratings(views: Views, name: str, players: Set[int], ms: int) -> dict[int, float | None]:
    # At that time the pool may not have been open yet.
    pool = next((pool for pool in stored_pools(views.connection) if pool.name == name), None)
    if pool is None:
        return dict.fromkeys(players)
    listed = list_standings(views.connection, pool, ms).of(players)
    return {player: listed[player].rating if player in listed else None for player in players}


Cause = tuple[str, int]  # what may have changed a list, in words, and the last entry that belongs to it


def _causes(journal: Journal, pool: Pool, ms: int, head: int, until: int) -> Iterator[Cause]:
    """Yield the possible causes of change on the list of an instant, one by one."""
    for step in replay_steps(journal, head, until):
        if step.proposal is not None:
            yield f"correction {step.proposal}", step.until
        elif step.event is not None:
            yield f"entry {step.until}: {step.event.key}", step.until
        else:
            yield from _of_games(journal, step, pool, ms)


def _of_games(journal: Journal, step: ReplayStep, pool: Pool, ms: int) -> Iterator[Cause]:
    """Yield the games of a step that may have changed the list, and the supplements of recorded games."""
    games: list[tuple[int, GameRecorded]] = []
    for entry in rating_entries(journal, step.after, step.until):
        event = entry.decoded
        if not isinstance(event, GameRecorded):
            yield from _in_a_row(games, ms)
            games = []
            yield f"entry {entry.position}: {event.key}", entry.position
        # one that ended later does not change it, unless its tournament, which it may have moved, is rated whole
        elif event.pool == pool.name and (pool.by_event or instant_ms(event.ended_at) <= ms):
            games.append((entry.position, event))
    yield from _in_a_row(games, ms)


def _in_a_row(games: Sequence[tuple[int, GameRecorded]], ms: int) -> list[Cause]:
    """Return the causes for games recorded in a row; a game is late if it ended by the instant of the list."""
    keys = [event.key.removeprefix("game:") for _, event in games]
    late = [instant_ms(event.ended_at) <= ms for _, event in games]
    if len(games) > FEW_GAMES:
        span, count = f"{keys[0]} to {keys[-1]}", sum(late)
        cause = f"{count:,} late results, {span}"
        if count < len(games):
            others = f"{len(games):,} games that ended after {day(ms)}"
            cause = f"{others}, {span}" if not count else f"{len(games):,} games, {count:,} of them late, {span}"
        return [(cause, games[-1][0])]
    return [
        (f"late result {key}" if is_late else f"game {key}, which ended after {day(ms)}", position)
        for (position, _), key, is_late in zip(games, keys, late, strict=True)
    ]
