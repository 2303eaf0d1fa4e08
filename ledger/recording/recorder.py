"""Events into the journal, a few at a time: judged by the rules, sealed, appended in one transaction.

Whole files of games take the way of ``recorder_columns``. Which keys the journal holds is remembered: a fact never
vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from itertools import chain, count, repeat
from typing import NamedTuple, cast

import attrs

from ledger.book import judge
from ledger.book.evidence import Context, CurrentFacts, Evidence, subject_of
from ledger.book.rules_by_keys import OWN_DOORS, erasures, needed_keys
from ledger.duplicates.candidates import KnownGame, load_games
from ledger.duplicates.repeats import Corrected, supplement_for
from ledger.errors import MalformedError, RejectedError
from ledger.facts import codec
from ledger.facts.events import (
    EVENTS,
    ClockAccepted,
    Event,
    GameRecorded,
    GameSupplemented,
)
from ledger.facts.source_games import excerpt
from ledger.facts.words import Receipt
from ledger.journal import Journal, KeyTakenError, Stored, Writer, kept_texts, late_facts, rules
from ledger.runtime.long_work import collector_paused

STRANGERS_NAMED = 20  # of what is no event, the first are named
_CLASSES = frozenset(EVENTS)
Gate = Callable[[Writer, int], Sequence[Event]]


class RecordedEvents(NamedTuple):
    """What became of events.

    Attributes:
        receipts: for each, where it stands.
        events: for each, what was recorded: of a game told again, its supplement; None where nothing was.
    """

    receipts: list[Receipt]
    events: Sequence[Event | None]


class Submission(NamedTuple):
    """A fact that somebody tells, beside others of other people.

    Attributes:
        event: the fact.
        actor: who tells it.
        token: what proves it; None without.
        movetext: of a game, the moves that its ``text`` is the hash of, to be kept; None: they are not kept.
    """

    event: Event
    actor: str
    token: str | None = None
    movetext: str | None = None


Refused = RejectedError | MalformedError


class RecordedEach(NamedTuple):
    """What became of facts of which some may have been refused.

    Attributes:
        recorded: what became of the others, in their order.
        refused: by place, why a fact was refused.
    """

    recorded: RecordedEvents
    refused: dict[int, Refused]


class Recorder:
    """Appends events to one journal."""

    def __init__(
        self,
        journal: Journal,
        clock_ms: Callable[[], int],
        facts: CurrentFacts | None = None,
        check: Callable[[Event, Evidence], None] = judge.check,
    ) -> None:
        """Take the journal and the judge of its new facts.

        Args:
            journal: where entries stand.
            clock_ms: milliseconds since 1970, read once a transaction.
            facts: the current facts; None: every fact stands as it was recorded.
            check: refuses facts with new keys.
        """
        self._journal = journal
        self.clock_ms = clock_ms
        self._facts = facts
        self._check = check
        self._known: set[str] = set()

    def append_many(self, events: Iterable[Event], actor: str) -> RecordedEvents:
        """Record facts in one transaction: all, or none when one is refused.

        Raises:
            MalformedError: one of them is no event.
            RejectedError: one of them may not follow what is there; ``key`` says which.
        """
        batch = list(events)
        # one look at the types, for nearly always all are events; of a class that was made from one, only
        # ``isinstance``
        if not _CLASSES.issuperset(map(type, batch)):
            strangers = [thing for thing in batch if not isinstance(thing, EVENTS)]
            if strangers:
                what_to_do = "is no event: build one, such as GameRecorded(game=..., ...) of 'ledger'"
                raise MalformedError([f"{excerpt(thing)} {what_to_do}" for thing in strangers[:STRANGERS_NAMED]])
        # Before the lock, for which others wait: who may not stand in an entry is refused at once.
        codec.actor_json(actor)
        with self._writing([event.key for event in batch]) as writer:
            accepted = _accepted(batch, writer)
            # under the lock: whoever waited long for it would come with a clock behind the last entry
            now, last = self.clock_ms(), writer.last_recorded_at()
            if accepted is None:
                now = rules.check_clock(now, last)
            else:
                now = rules.check_acceptance(accepted, now, writer.size, last)
            return self._batch(writer, now, accepted).append(batch, repeat(actor, len(batch)))

    def append_each(self, games: Sequence[Submission]) -> RecordedEach:
        """Record games in one transaction, each judged as if those before it stood there; a refused one stays out.

        What is to be kept of the moves is kept with them.
        """
        refused: dict[int, Refused] = {
            place: fault for place, game in enumerate(games) if (fault := _fault_of(game)) is not None
        }
        good = [(place, game) for place, game in enumerate(games) if place not in refused]
        with self._writing() as writer:
            try:
                now = rules.check_clock(self.clock_ms(), writer.last_recorded_at())
            except RejectedError as error:
                return RecordedEach(
                    RecordedEvents([], []), {place: refused.get(place, error) for place in range(len(games))}
                )
            telling = [game for _, game in good]
            recorded, judged = self._batch(writer, now, None).append_each(telling)
            refused |= {good[place][0]: fault for place, fault in judged.items()}
            texts = [game.movetext for place, game in good if place not in refused and game.movetext is not None]
            if texts:
                writer.keep_texts(kept_texts.frames(texts))
        return RecordedEach(recorded, refused)

    def append_judged(
        self, gate: Gate, actor: str, before_commit: Callable[[], object] = lambda: None
    ) -> RecordedEvents:
        """Record facts that have a door of their own, as ``OWN_DOORS`` says, in one transaction.

        Args:
            gate: called under the write lock with the transaction and the time to record under; it judges what stands
                there by then and gives the facts to record. The judge is asked about those of other kinds.
            actor: who records them.
            before_commit: called when nothing but the commit is left to do; if it raises, nothing is recorded.

        Raises:
            RejectedError: the gate refuses, or one of the facts may not follow what is there.
        """
        with self._writing() as writer:
            now = rules.check_clock(self.clock_ms(), writer.last_recorded_at())
            batch = list(gate(writer, now))
            recorded = self._batch(writer, now, None, OWN_DOORS).append(batch, repeat(actor, len(batch)))
            before_commit()
            return recorded

    def _batch(
        self, writer: Writer, now_ms: int, accepted: ClockAccepted | None, judged: Container[type[Event]] = ()
    ) -> _Batch:
        return _Batch(writer, self._journal, self._known, now_ms, accepted, self._facts, self._check, judged)

    @contextmanager
    def _writing(self, keys: Sequence[str] = ()) -> Iterator[Writer]:
        try:
            with self._journal.writing(keys=keys) as writer:
                yield writer
        except BaseException:
            self._known.clear()  # some of it may have been undone
            raise


def _fault_of(game: Submission) -> MalformedError | None:
    """What is wrong with who tells a game, or with moves that are to be kept and are not those of the game."""
    try:
        codec.actor_json(game.actor)
    except MalformedError as error:
        return error
    if game.movetext is None or not isinstance(game.event, GameRecorded):
        return None
    digest = sha256(game.movetext.encode()).hexdigest()
    if digest == game.event.text:
        return None
    return MalformedError([f"the moves have the SHA-256 {digest}, not that of the game's text, {game.event.text}"])


@attrs.define
class _Entries:
    """What a transaction is to append, and what became of each fact."""

    first: int
    kinds: list[str] = attrs.Factory(list)
    keys: list[str] = attrs.Factory(list)
    bodies: list[bytes] = attrs.Factory(list)
    places: list[tuple[str, int, Event | None]] = attrs.Factory(list)
    beside: dict[str, list[Event]] = attrs.Factory(dict)  # by subject, the facts of the transaction so far

    @property
    def next(self) -> int:
        """The position of the next entry."""
        return self.first + len(self.bodies)


class _Batch:
    """One transaction's events, judged one after another as if each were already written."""

    def __init__(
        self,
        writer: Writer,
        journal: Journal,
        keys: set[str],
        now_ms: int,
        accepted: ClockAccepted | None,
        facts: CurrentFacts | None,
        check: Callable[[Event, Evidence], None],
        judged: Container[type[Event]],
    ) -> None:
        self._writer = writer
        self._journal = journal
        self._known = keys
        self._now_ms = now_ms
        self._facts = facts
        self._check = check
        self._accepted = accepted  # the first event, judged already
        self._judged = judged  # kinds that are judged already
        self._is_gated = False  # whether one of them is among the events, so that its gate judged what comes with it
        self._stamp = rules.recorded_text(now_ms)
        self._games: dict[str, KnownGame] = {}  # what is known of games that were told again, by their key

    def _evidence(self, beside: Mapping[str, Sequence[Event]]) -> Evidence:
        """What the judge may ask; *beside* are the facts of the transaction so far."""
        context = Context.JOURNAL if self._facts is None else Context.APPEND
        # What comes with an approval was judged by its gate, beside all else that its proposal lets stand.
        context = Context.APPROVAL if self._is_gated else context
        find, latest_ms = self._writer.find, lambda: self._latest_ms
        return Evidence(context, self._now_ms, self._known, self._facts, beside, find=find, latest_ms=latest_ms)

    @cached_property
    def _latest_ms(self) -> int:
        # Once for all facts of the transaction: of a journal on a server each look is a round trip.
        return late_facts.latest_ms(self._journal, self._now_ms, self._accepted)

    def append(self, events: Sequence[Event], actors: Iterable[str]) -> RecordedEvents:
        """Append what is new. Nearly always all is new: it is tried before the keys are looked up.

        Args:
            events: the facts.
            actors: who tells each of them.
        """
        actors = list(actors)
        # By what there is and not by the door: players are registered by the same one, and nobody judged their pasts.
        self._is_gated = any(type(event) in self._judged for event in events)
        # what is refused may stand there already, which is no refusal: it is judged again with what the keys hold
        with suppress(RejectedError, KeyTakenError):
            if all(type(event) is GameRecorded for event in events):
                with collector_paused():
                    return self._append_games(cast("Sequence[GameRecorded]", events), actors)
            return self._append(events, actors, {})
        return self._append_found(events, actors)

    def append_each(self, games: Sequence[Submission]) -> tuple[RecordedEvents, dict[int, Refused]]:
        """Append what is new of games and refused by nothing; and by place, why one was refused."""
        events, actors = [game.event for game in games], [game.actor for game in games]
        refused: dict[int, Refused] = {}
        with suppress(RejectedError, MalformedError, KeyTakenError):
            return self._append_games(cast("Sequence[GameRecorded]", events), actors), refused
        return self._append_found(events, actors, refused), refused

    def _append_found(
        self, events: Sequence[Event], actors: Sequence[str], refused: dict[int, Refused] | None = None
    ) -> RecordedEvents:
        try:
            return self._append(events, actors, dict(self._writer.find([event.key for event in events])), refused)
        except KeyTakenError as error:
            raise rules.refuses_new_key(error) from error

    def _append_games(self, games: Sequence[GameRecorded], actors: Sequence[str]) -> RecordedEvents:
        """Games whose keys are all new, which the journal says when it takes them."""
        players = {game.white for game in games} | {game.black for game in games}
        self._look_up({f"scheme:{pool}@start" for pool in {game.pool for game in games}})
        self._look_up({f"player:{player}" for player in players})
        self._look_up_erasures(games)
        judge.check_games(games, self._evidence({}))
        first = self._writer.size + 1
        keys = [game.key for game in games]
        bodies = [
            codec.body_of(position, self._stamp, actor, game)
            for position, actor, game in zip(count(first), actors, games, strict=False)
        ]
        leaves = self._writer.append(repeat(GameRecorded.KIND, len(games)), keys, bodies)
        receipts = map(Receipt, count(first), keys, leaves, repeat(False))  # noqa: FBT003  # nothing was a repeat
        return RecordedEvents(list(receipts), games)

    def _look_up_erasures(self, events: Sequence[Event]) -> None:
        """Which players of games were erased."""
        keys = set(chain.from_iterable(map(erasures, events)))
        # One look into the index: nearly nowhere anybody was erased, and so no more keys are looked up for it.
        if keys and next(self._journal.keys(*rules.ERASED), None) is not None:
            self._look_up(keys)

    def _look_up(self, keys: set[str]) -> None:
        """Which of these keys the journal holds, unless it is remembered."""
        missing = keys - self._known
        if missing:
            self._known.update(self._writer.find(sorted(missing)))

    def _append(
        self,
        events: Sequence[Event],
        actors: Sequence[str],
        stored: dict[str, Stored],
        refused: dict[int, Refused] | None = None,
    ) -> RecordedEvents:
        """Judge and append; what is refused ends it or, where it is asked for, is noted in *refused* by its place."""
        # An attempt that was given up may have learnt from supplements that were never written.
        self._games.clear()
        self._look_up(set(chain.from_iterable(map(needed_keys, events))))
        self._look_up_erasures(events)
        entries = _Entries(self._writer.size + 1)
        evidence = self._evidence(entries.beside)
        for place, (event, actor) in enumerate(zip(events, actors, strict=True)):
            try:
                self._add(entries, event, actor, stored, evidence)
            except (RejectedError, MalformedError) as error:
                if refused is None:
                    raise
                refused[place] = error
        first, leaves = entries.first, self._writer.append(entries.kinds, entries.keys, entries.bodies)
        receipts = [
            Receipt(position, key, leaves[position - first] if position >= first else stored[key].leaf, event is None)
            for key, position, event in entries.places
        ]
        return RecordedEvents(receipts, [event for _, _, event in entries.places])

    def _add(self, entries: _Entries, event: Event, actor: str, stored: dict[str, Stored], evidence: Evidence) -> None:
        """Judge one fact, and add the entry that it makes, if any; nothing is remembered of one that is refused."""
        before = stored.get(event.key)
        if before is not None:
            supplement = self._repeated(event, before)
            if supplement is None:
                entries.places.append((event.key, before.position, None))
                return
            event = supplement
        elif event is not self._accepted and type(event) not in self._judged:
            self._check(event, evidence)
        key, position = event.key, entries.next
        body = codec.body_of(position, self._stamp, actor, event)
        entries.kinds.append(event.KIND)
        entries.keys.append(key)
        entries.bodies.append(body)
        # The leaf is not known yet: the receipts of this batch take it from what the journal hands back.
        stored[key] = Stored(position, body, b"")
        if event.KIND not in {GameRecorded.KIND, GameSupplemented.KIND}:  # nothing is asked to know a game
            self._known.add(key)
        entries.places.append((key, position, event))
        entries.beside.setdefault(subject_of(event), []).append(event)

    def _repeated(self, event: Event, before: Stored) -> GameSupplemented | None:
        """The supplement that tells what an event adds to the one that its key was recorded with, if anything.

        Raises:
            RejectedError: it contradicts that one, or makes it what no game may be.
        """
        stored, telling = rules.facts_of(before), codec.facts_mapping(event)
        telling.pop(event.KEY_FIELD or "", None)  # the key carries it
        # Most repeats are the same to the letter, and end here before any supplement is looked up.
        if not isinstance(event, GameRecorded) or stored == telling:
            rules.check_repeat(type(event), event.key, stored, telling)
            return None
        game = self._games.get(event.game)
        if game is None:
            game = self._games[event.game] = load_games(self._writer.find, {event.key: before})[event.game]
        return supplement_for(game, event.game, telling, self._now_ms, self._corrected)

    def _corrected(self, game: str) -> Corrected | None:
        """Return a game as it is after its corrections; None if it is as recorded."""
        return None if self._facts is None else self._facts.corrected_game_now(game)


def _accepted(events: Sequence[Event], writer: Writer) -> ClockAccepted | None:
    """The acceptance that a batch begins with, unless the journal holds it already."""
    if events and isinstance(events[0], ClockAccepted) and not writer.find([events[0].key]):
        return events[0]
    return None
