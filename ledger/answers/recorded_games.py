"""Recorded games: their current state with both players' ratings, and the log of the entries about a game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal

import attrs

from ledger.answers.asking import EVERY_ROW, distinct_names, in_force_from, in_one_snapshot, list_day, names, row_limit
from ledger.answers.corrections import describe_changes
from ledger.answers.crosstables.editions import refuse_unknown_tournament
from ledger.answers.crosstables.event_games import load_games
from ledger.answers.player_games import GameFilter
from ledger.book.guests import seed_of
from ledger.book.tables import RATING_ORDER
from ledger.book.timeline import Pool
from ledger.correcting.corrections import Corrections
from ledger.correcting.game_log import GameLog
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.events import CorrectionDecided, CorrectionProposed, Decision, GameRecorded, GameSupplemented
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.journal.game_references import find_game
from ledger.journal.listing import JournalEntry
from ledger.ratings import queries

_SIDES = ("white", "black")
GameStatus = Literal["recorded", "known already", "known already, and more is known now"]
# Games that count are found by the index in rating order, from the first day on; others by one of their own.
_ORDER = ", ".join(RATING_ORDER)
_SPAN = f"SELECT position, {_ORDER} FROM games WHERE pool = ?1 AND ended_ms BETWEEN ?2 AND ?3"
_COUNTED = f"{_SPAN} AND reason IS NULL AND rated_ms BETWEEN ?2 AND ?4"
_EVERY = f"{_COUNTED} UNION ALL {_SPAN} AND reason IS NOT NULL"


@attrs.frozen(kw_only=True, slots=False)
class RecordedGame:
    """The current state of a recorded game, with both players' ratings before and after it."""

    game: str = documented("key of the game")
    white: str = documented("what White is called")
    black: str = documented("what Black is called")
    outcome: Literal["white", "draw", "black", "none"] = documented("who won; none: it has no result")
    termination: str = documented("how it ended, a word of game-recorded/1")
    half_moves: int | None = documented("how many half-moves it has; null: not known", minimum=0)
    ended_at: str = documented("when it ended, as precisely as it is known")
    pool: str = documented("the pool")
    tournament: str | None = documented("name of the tournament")
    round: str | None = documented("the round, as it was recorded")
    reason: str | None = documented("why it does not count; null: it does")
    white_before: float | None = documented("White's rating before it or its period, points; null: none to show")
    white_after: float | None = documented("White's rating after it or the period it was rated with, points")
    black_before: float | None = documented("Black's rating before it or its period, points")
    black_after: float | None = documented("Black's rating after it or its period, points")
    in_force: str | None = documented("day from which the ratings after it count; null: its period has not closed")
    list_from: str | None = documented("first day of the list in which it counts; null: none, or of the next run")
    entry: int = documented("position of the journal's entry that recorded it", minimum=1)
    white_player: int = documented("White's number in the ledger", minimum=1)
    black_player: int = documented("Black's number in the ledger", minimum=1)


@attrs.frozen(kw_only=True, slots=False)
class ManualGame:
    """A game that was entered manually: whether it was recorded now, and its current state."""

    status: GameStatus = documented("what became of it")
    game: RecordedGame = flattened()


@in_one_snapshot
def recorded_game(ledger: OpenLedger, game: str) -> RecordedGame:
    """Return the current state of a game, named as for ``find_game``, with both ratings before and after it.

    Raises:
        UnknownNameError: no such game, or several.
    """
    _, stored = find_game(ledger.snapshot_journal, game)
    return next(_games_at(ledger, [stored.position], GameFilter()))


@in_one_snapshot
def filtered_games(
    ledger: OpenLedger,
    selection: GameFilter,
    pool: str | None = None,
    *,
    most: int | None = None,
    offset: int = 0,
    everything: bool = False,
) -> list[RecordedGame]:
    """Return the games of a tournament, a round or a day, in rating order, each in the form of ``recorded_game``.

    Args:
        ledger: the ledger.
        selection: the filter; it names a tournament or a day.
        pool: name of the pool; the first one by default.
        most: the number of first games; 0 or None: all.
        offset: the number of these that are left out: ratings are found for the others alone.
        everything: whether unrated games are included.

    Raises:
        UnknownNameError: there is no such pool, or no game carries the name of the tournament.
    """
    rated_by, connection = ledger.pool(pool), ledger.views.connection
    if selection.tournament is None:
        first, last = selection.span_ms
        rated_until = last if rated_by.by_game else MAX_WHOLE  # a period closes after its games have ended
        query = f"{_EVERY if everything else _COUNTED} ORDER BY {_ORDER}"
        # as many as are asked for are read, not all of a year
        rows = connection.execute(query, (rated_by.pool, first, last, rated_until))
        positions: Iterable[int] = (position for position, *_ in rows)
    else:
        games = load_games(connection, rated_by, [selection.tournament]).get(selection.tournament, [])
        if not games:
            refuse_unknown_tournament(connection, rated_by, selection.tournament)
        positions = [game.position for game in games if everything or game.reason is None]
    return list(_games_at(ledger, positions, selection, offset, row_limit(most)))


def _games_at(
    ledger: OpenLedger, positions: Iterable[int], selection: GameFilter, offset: int = 0, most: int = EVERY_ROW
) -> Iterator[RecordedGame]:
    """Yield the games at *positions* that pass the filter, at most *most*; ratings are found for no others."""
    connection = ledger.views.connection
    every = (row for position in positions for row in queries.fetch_dicts(connection, queries.GAME, (position,)))
    rows = list(islice((row for row in every if selection.matches(row)), offset, most))
    pools = {pool.pool: pool for pool in ledger.pools()}
    called = names(ledger, {row[side] for row in rows for side in _SIDES})
    for row in rows:
        pool = pools[row["pool"]]
        yield RecordedGame(
            game=row["key"],
            white=called[row["white"]],
            black=called[row["black"]],
            outcome=row["outcome"],
            pool=pool.name,
            **_fields(ledger, pool, row),
            in_force=None if row["reason"] is not None else in_force_from(row["rated_ms"]),
            list_from=None if row["reason"] is not None else list_day(pool, row["rated_ms"]),
            entry=row["position"],
            white_player=row["white"],
            black_player=row["black"],
        )


def _fields(ledger: OpenLedger, pool: Pool, row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a game that its row has in the same form, and both players' ratings."""
    fields = {name: row[name] for name in ("termination", "half_moves", "ended_at", "tournament", "round", "reason")}
    fields |= dict.fromkeys(f"{side}_{when}" for side in _SIDES for when in ("before", "after"))
    if row["reason"] is None:
        states = ledger.states(pool)
        for side in _SIDES:
            arguments = (pool.pool, row[side], row["position"])
            if row[f"{side}_guest"] is not None:  # who has no rating here: the one that counted for the opponent
                fields[f"{side}_before"] = seed_of(row[f"{side}_guest"]).rating
                continue
            side_row = queries.fetch_first(ledger.views.connection, queries.SIDE_OF_GAME, arguments)
            assert side_row is not None
            placed = {**side_row, "rated_ms": row["rated_ms"], "batch": row["batch"]}
            fields[f"{side}_before"] = states.rating_to_change(placed)
            fields[f"{side}_after"] = states.after_game(placed).rating
    return fields


_LEFT_OUT = {"game", "entry", "number", "text"}  # of the facts that a supplement adds
_WINNER = {"white": "1-0", "black": "0-1", "draw": "1/2-1/2"}


@attrs.frozen(kw_only=True, slots=False)
class LoggedEntry:
    """An entry of the journal about a game, in words, with its recorder, time and reason."""

    entry: int = documented("its position in the journal", minimum=1)
    recorded_at: str = documented("when it was recorded, UTC")
    by: str = documented("who recorded it")
    proven: bool | None = documented("whether a token named who that was; null: the entry does not say")
    what: str = documented("what it says, in words")
    why: str | None = documented("the reason; null: there is none, or it was erased")


@in_one_snapshot
def game_log(ledger: OpenLedger, game: str) -> list[LoggedEntry]:
    """Return the log of a game: the entries about it in words, in the order of the journal.

    Raises:
        UnknownNameError: no such game, or several.
    """
    entries = GameLog(ledger).entries(game)
    # A game with its recording alone is concerned by no proposal: none is looked for.
    concerning = GameLog(ledger).proposals(game) if len(entries) > 1 else {}
    states = {shown.proposal.proposal: shown for shown in Corrections(ledger).proposals(numbers=list(concerning))}
    words = {number: "; ".join(describe_changes(ledger, changes)) for number, changes in concerning.items()}
    players = {entry.facts[side] for entry in entries for side in ("white", "black") if side in entry.facts}
    called = distinct_names(names(ledger, players))

    def what(entry: JournalEntry) -> str:
        facts = entry.facts
        match entry.kind:
            case GameRecorded.KIND:
                sides = f"{called[facts['white']]} - {called[facts['black']]}"
                casual = "" if facts["rated"] else ", casual"
                result = f"{_WINNER.get(facts['outcome'], facts['outcome'])} ({facts['termination']})"
                return f"recorded: {sides} {result}, ended {facts['ended_at']}{casual}"
            case GameSupplemented.KIND:
                added = (f"{name} {value}" for name, value in facts.items() if name not in _LEFT_OUT)
                return f"supplemented: {', '.join(added) or 'moves'}"
            case CorrectionProposed.KIND:
                return f"proposal {facts['proposal']}: {words[facts['proposal']]}"
            case CorrectionDecided.KIND:
                decision, state = facts["decision"], states[facts["proposal"]].state
                if decision != Decision.APPROVED or state == decision:
                    return f"proposal {facts['proposal']} {decision}"
                # what has become of an approval since: undone; or it broke four eyes and never acted
                since = f" {decision} ({state} by now)" if state == "undone" else f": {state}"
                return f"proposal {facts['proposal']}{since}"
            case kind:
                return str(kind)

    return [
        LoggedEntry(
            entry=entry.position,
            recorded_at=entry.recorded_at,
            by=entry.actor,
            proven=entry.facts.get("proven"),
            what=what(entry),
            why=entry.why,
        )
        for entry in entries
    ]
