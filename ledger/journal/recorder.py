"""Events into the journal, a few at a time: judged by the rules, sealed, appended in one transaction.

Whole files of games take the way of ``recorder_columns``. Which keys the journal holds is remembered: a fact never
vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count, repeat
from typing import NamedTuple, Protocol, cast

from ledger.errors import MalformedError, RejectedError
from ledger.facts import codec
from ledger.facts.events import (
    EVENTS,
    ClockAccepted,
    Event,
    GameRecorded,
    GameSupplemented,
)
from ledger.facts.source_games import shown
from ledger.facts.words import Receipt
from ledger.journal import Journal, KeyTakenError, Stored, Writer, past_reach, rules
from ledger.journal.supplements import KnownGame, known_games
from ledger.journal.told_again import Corrected, told_of
from ledger.runtime.long_work import collector_paused

STRANGERS_NAMED = 20  # of what is no event, the first are named
_CLASSES = frozenset(EVENTS)
Gate = Callable[[Writer, int], Sequence[Event]]


class Recorded(NamedTuple):
    """What became of events.

    Attributes:
        receipts: for each, where it stands.
        events: for each, what was recorded: of a game told again, its supplement; None where nothing was.
    """

    receipts: list[Receipt]
    events: Sequence[Event | None]


class Further(Protocol):
    """What is known of facts beside the journal: how they stand by now, and what follows from them."""

    def judge(self, event: Event, beside: rules.Beside) -> None:
        """Refuse a new fact, but games, that the rules of the journal let pass, by a RejectedError.

        Those before it in its transaction come to stand *beside* it.
        """

    def standing_now(self, game: str) -> Corrected | None:
        """How a game stands after its corrections."""


class NothingFurther:
    """What a journal knows by itself: every fact stands as it was recorded."""

    def judge(self, event: Event, beside: rules.Beside) -> None:
        """Refuse nothing."""

    def standing_now(self, _game: str) -> Corrected | None:
        """None: as it was recorded."""
        return None


class Recorder:
    """Appends events to one journal."""

    def __init__(self, journal: Journal, clock_ms: Callable[[], int], further: Further | None = None) -> None:
        """Take the journal and what judges its new facts further.

        Args:
            journal: where entries stand.
            clock_ms: milliseconds since 1970, read once a transaction.
            further: what is known beside it; by default nothing.
        """
        self._journal = journal
        self.clock_ms = clock_ms
        self._further = further or NothingFurther()
        self._known: set[str] = set()

    def append_many(self, events: Iterable[Event], actor: str) -> Recorded:
        """Record facts in one transaction: all, or none when one is refused.

        Raises:
            MalformedError: one of them is no event.
            RejectedError: one of them may not follow what is there; ``key`` says which.
        """
        batch = list(events)
        if not _CLASSES.issuperset(map(type, batch)):
            strangers = [thing for thing in batch if not isinstance(thing, EVENTS)]
            if strangers:
                what_to_do = "is no event: build one, such as GameRecorded(game=..., ...) of 'ledger'"
                raise MalformedError([f"{shown(thing)} {what_to_do}" for thing in strangers[:STRANGERS_NAMED]])
        with self._writing() as writer:
            accepted = _accepted(batch, writer)
            now, last = self.clock_ms(), writer.last_recorded_at()
            if accepted is None:
                now = rules.check_clock(now, last)
            else:
                now = rules.check_acceptance(accepted, now, writer.size, last)
            return self._batch(writer, actor, now, batch, accepted).append(batch)

    def append_judged(self, gate: Gate, actor: str) -> Recorded:
        """Record facts that have a door of their own, as ``rules.OWN_DOORS`` says, in one transaction.

        Args:
            gate: called under the write lock with the transaction and the time to record under; it judges what stands
                there by then and gives the facts to record. Of what is not of those kinds the rules of the journal are
                asked again.
            actor: who records them.

        Raises:
            RejectedError: the gate refuses, or one of the facts may not follow what is there.
        """
        with self._writing() as writer:
            now = rules.check_clock(self.clock_ms(), writer.last_recorded_at())
            batch = list(gate(writer, now))
            return self._batch(writer, actor, now, batch, judged=rules.OWN_DOORS).append(batch)

    def _batch(
        self,
        writer: Writer,
        actor: str,
        now_ms: int,
        batch: Sequence[Event],
        accepted: ClockAccepted | None = None,
        judged: Container[type[Event]] = (),
    ) -> _Batch:
        # One look into the index: nearly nowhere anybody was erased, and so no more keys are looked up for it.
        has_games = any(isinstance(event, GameRecorded) for event in batch)
        anybody_erased = has_games and next(self._journal.keys(*rules.ERASED), None) is not None
        return _Batch(writer, self._known, actor, now_ms, accepted, self._further, judged, anybody_erased)

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        try:
            with self._journal.writing() as writer:
                yield writer
        except BaseException:
            self._known.clear()  # some of it may have been undone
            raise


class _Batch:
    """One transaction's events, judged one after another as if each were already written."""

    def __init__(
        self,
        writer: Writer,
        keys: set[str],
        actor: str,
        now_ms: int,
        accepted: ClockAccepted | None,
        further: Further,
        judged: Container[type[Event]],
        anybody_erased: bool,  # as the journal says
    ) -> None:
        self._writer = writer
        self._known = keys
        self._actor = actor
        self._now_ms = now_ms
        self._further = further
        self._accepted = accepted  # the first event, judged already
        self._judged = judged  # kinds that are judged already
        self._anybody_erased = anybody_erased
        self._stamp = rules.recorded_text(now_ms)
        # what is known of games that were told again, by their key
        self._games: dict[str, KnownGame] = {}

    def append(self, events: Sequence[Event]) -> Recorded:
        """Append what is new. Nearly always all is new: it is tried before the keys are looked up."""
        with suppress(RejectedError, KeyTakenError):
            if all(type(event) is GameRecorded for event in events):
                with collector_paused():
                    return self._append_games(cast("Sequence[GameRecorded]", events))
            return self._append(events, {})
        try:
            return self._append(events, dict(self._writer.find([event.key for event in events])))
        except KeyTakenError as error:
            raise rules.refuses_new_key(error) from error

    def _append_games(self, games: Sequence[GameRecorded]) -> Recorded:
        """Games whose keys are all new, which the journal says when it takes them."""
        players = {game.white for game in games} | {game.black for game in games}
        self._look_up({f"scheme:{pool}@start" for pool in {game.pool for game in games}})
        self._look_up({f"player:{player}" for player in players})
        if self._anybody_erased:
            self._look_up(set(chain.from_iterable(map(rules.erasures, games))))
        rules.check_games(games, self._known, self._now_ms)
        first = self._writer.size + 1
        keys = [game.key for game in games]
        bodies = [
            codec.body_of(position, self._stamp, self._actor, game)
            for position, game in zip(count(first), games, strict=False)
        ]
        leaves = self._writer.append(repeat(GameRecorded.KIND, len(games)), keys, bodies)
        receipts = map(Receipt, count(first), keys, leaves, repeat(False))  # noqa: FBT003  # nothing was a repeat
        return Recorded(list(receipts), games)

    def _look_up(self, keys: set[str]) -> None:
        """Which of these keys the journal holds, unless it is remembered."""
        missing = keys - self._known
        if missing:
            self._known.update(self._writer.find(sorted(missing)))

    def _append(self, events: Sequence[Event], stored: dict[str, Stored]) -> Recorded:
        # An attempt that was given up may have learnt from supplements that were never written.
        self._games.clear()
        self._look_up(set(chain.from_iterable(map(rules.needed_keys, events))))
        if self._anybody_erased:
            self._look_up(set(chain.from_iterable(map(rules.erasures, events))))
        kinds: list[str] = []
        keys: list[str] = []
        bodies: list[bytes] = []
        places: list[tuple[str, int, Event | None]] = []
        beside: dict[str, list[Event]] = {}
        first = self._writer.size + 1
        for event in events:
            key = event.key
            before = stored.get(key)
            if before is not None:
                supplement = self._repeated(event, before)
                if supplement is None:
                    places.append((key, before.position, None))
                    continue
                event, key = supplement, supplement.key  # noqa: PLW2901
            elif event is not self._accepted and type(event) not in self._judged:
                rules.check_new(event, self._known, self._now_ms)
                # What comes with an approval was judged by its gate, beside all else that its proposal lets stand.
                if event.KIND != GameRecorded.KIND and not self._judged:
                    self._further.judge(event, beside)
                    past_reach.check(event, self._writer.find, self._now_ms)
            position = first + len(bodies)
            body = codec.body_of(position, self._stamp, self._actor, event)
            kinds.append(event.KIND)
            keys.append(key)
            bodies.append(body)
            # The leaf is not known yet: the receipts of this batch take it from what the journal hands back.
            stored[key] = Stored(position, body, b"")
            if event.KIND not in {GameRecorded.KIND, GameSupplemented.KIND}:  # nothing is asked to know a game
                self._known.add(key)
            places.append((key, position, event))
            beside.setdefault(rules.subject_of(event), []).append(event)
        leaves = self._writer.append(kinds, keys, bodies)
        receipts = [
            Receipt(position, key, leaves[position - first] if position >= first else stored[key].leaf, event is None)
            for key, position, event in places
        ]
        return Recorded(receipts, [event for _, _, event in places])

    def _repeated(self, event: Event, before: Stored) -> GameSupplemented | None:
        """The supplement that tells what an event adds to the one that its key was recorded with, if anything.

        Raises:
            RejectedError: it contradicts that one, or makes it what no game may be.
        """
        stored, telling = rules.facts_of(before), codec.facts_mapping(event)
        telling.pop(event.KEY_FIELD or "", None)  # the key carries it
        if not isinstance(event, GameRecorded) or stored == telling:
            rules.check_repeat(type(event), event.key, stored, telling)
            return None
        game = self._games.get(event.game)
        if game is None:
            game = self._games[event.game] = known_games(self._writer.find, {event.key: before})[event.game]
        return told_of(game, event.game, telling, self._now_ms, self._further.standing_now)


def _accepted(events: Sequence[Event], writer: Writer) -> ClockAccepted | None:
    """The acceptance that a batch begins with, unless the journal holds it already."""
    if events and isinstance(events[0], ClockAccepted) and not writer.find([events[0].key]):
        return events[0]
    return None
