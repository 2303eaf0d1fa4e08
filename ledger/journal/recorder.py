"""Events into the journal, a few at a time: judged by the rules, sealed, appended in one transaction.

Whole files of games take the way of ``recorder_columns``. Which keys the journal holds is remembered: a fact never
vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, count, repeat
from typing import Any, cast

from ledger.errors import RejectedError
from ledger.facts import codec
from ledger.facts.events import (
    ClockAccepted,
    Event,
    GameRecorded,
    PlayerChanged,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
)
from ledger.facts.words import Receipt
from ledger.journal import Journal, KeyTakenError, Stored, Writer, rules


class Recorder:
    """Appends events to one journal."""

    def __init__(self, journal: Journal, clock_ms: Callable[[], int]) -> None:
        """Take the journal, and what tells milliseconds since 1970; the clock is read once a transaction."""
        self._journal = journal
        self._clock_ms = clock_ms
        self._known: set[str] = set()

    def append_many(self, events: Iterable[Event], actor: str) -> list[Receipt]:
        """Record facts in one transaction: all, or none when one is refused.

        Raises:
            RejectedError: one of them may not follow what is there; ``key`` says which.
        """
        try:
            with self._journal.writing() as writer:
                given = list(events)
                accepted = _accepted(given, writer)
                now, last = self._clock_ms(), writer.last_recorded_at()
                if accepted is None:
                    now = rules.check_clock(now, last)
                else:
                    now = rules.check_acceptance(accepted, now, writer.size, last)
                return _Batch(writer, self._known, actor, now, accepted).append(given)
        except BaseException:
            self._known.clear()  # some of it may have been undone
            raise


class _Batch:
    """One transaction's events, judged one after another as if each were already written."""

    def __init__(
        self, writer: Writer, known: set[str], actor: str, now_ms: int, accepted: ClockAccepted | None
    ) -> None:
        self._writer = writer
        self._known = known
        self._actor = actor
        self._now_ms = now_ms
        self._accepted = accepted  # the first event, judged already
        self._stamp = rules.recorded_text(now_ms)

    def append(self, events: Sequence[Event]) -> list[Receipt]:
        """Append what is new. Nearly always all is new: it is tried before the keys are looked up."""
        with suppress(RejectedError, KeyTakenError):
            if all(type(event) is GameRecorded for event in events):
                return self._append_games(cast("Sequence[GameRecorded]", events))
            return self._append(events, {})
        try:
            return self._append(events, dict(self._writer.find([event.key for event in events])))
        except KeyTakenError as error:
            raise rules.refuses_new_key(error) from error

    def _append_games(self, games: Sequence[GameRecorded]) -> list[Receipt]:
        """Games whose keys are all new, which the journal says when it takes them."""
        players = {game.white for game in games} | {game.black for game in games}
        self._look_up({f"scheme:{pool}@start" for pool in {game.pool for game in games}})
        self._look_up({f"player:{player}" for player in players})
        rules.check_games(games, self._known, self._now_ms)
        first = self._writer.size + 1
        keys = [game.key for game in games]
        bodies = [
            codec.body_of(position, self._stamp, self._actor, game)
            for position, game in zip(count(first), games, strict=False)
        ]
        leaves = self._writer.append(repeat(GameRecorded.KIND, len(games)), keys, bodies)
        return list(map(Receipt, count(first), keys, leaves, repeat(False)))  # noqa: FBT003  # nothing was a repeat

    def _look_up(self, keys: set[str]) -> None:
        """Which of these keys the journal holds, unless it is remembered."""
        wanted = keys - self._known
        if wanted:
            self._known.update(self._writer.find(sorted(wanted)))

    def _append(self, events: Sequence[Event], stored: dict[str, Stored]) -> list[Receipt]:
        self._look_up(set(chain.from_iterable(map(_needs, events))))
        kinds: list[str] = []
        keys: list[str] = []
        bodies: list[bytes] = []
        places: list[tuple[str, int, bool]] = []
        first = self._writer.size + 1
        for event in events:
            key = event.key
            before = stored.get(key)
            if before is not None:
                rules.check_repeat(type(event), key, rules.facts_of(before), _facts(event))
                places.append((key, before.position, True))
                continue
            if event is not self._accepted:
                rules.check_new(event, self._known, self._now_ms)
            position = first + len(bodies)
            body = codec.body_of(position, self._stamp, self._actor, event)
            kinds.append(event.KIND)
            keys.append(key)
            bodies.append(body)
            stored[key] = Stored(position, body, b"")
            if event.KIND != GameRecorded.KIND:  # nothing is asked to know a game
                self._known.add(key)
            places.append((key, position, False))
        leaves = self._writer.append(kinds, keys, bodies)
        return [
            Receipt(position, key, leaves[position - first] if position >= first else stored[key].leaf, duplicate)
            for key, position, duplicate in places
        ]


def _accepted(events: Sequence[Event], writer: Writer) -> ClockAccepted | None:
    """The acceptance that a batch begins with, unless the journal holds it already."""
    if events and isinstance(events[0], ClockAccepted) and not writer.find([events[0].key]):
        return events[0]
    return None


def _needs(event: Event) -> tuple[str, ...]:
    """Keys that must be known before the event."""
    if isinstance(event, GameRecorded):  # nearly all are
        return (f"scheme:{event.pool}@start", f"player:{event.white}", f"player:{event.black}")
    match event:
        case PlayerChanged():
            return (f"player:{event.player}",)
        case SchemeAdopted() | RatingRunClosed() | TournamentClosed():
            return (f"scheme:{event.pool}@start",)
        case _:
            return ()


def _facts(event: Event) -> dict[str, Any]:
    """The facts as they are stored: without the field that the key carries."""
    facts = codec.facts_mapping(event)
    facts.pop(event.KEY_FIELD or "", None)
    return facts
