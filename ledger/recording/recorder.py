"""Events with player numbers on their way into the journal: judged by the rules and appended in one transaction.

Games by names, of a file or of the command ``record``, take the way of ``game_import``. Keys of the journal are cached:
a fact never vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from itertools import chain, count, repeat
from typing import NamedTuple, cast

from ledger.book import judge, published_lists
from ledger.book.evidence import Context, CurrentFacts, Evidence, subject_of
from ledger.book.rules_by_keys import ENTRY_POINTS, erasure_keys, needed_keys
from ledger.duplicates.repeats import CorrectedGame, SupplementedGame, load_games, supplement_for
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
from ledger.journal import Journal, KeyTakenError, StoredEntry, Writer, late_facts, rules, stored_texts
from ledger.journal.transactions import Entries, Transaction
from ledger.runtime.long_work import collector_paused

STRANGERS_NAMED = 20  # the first things that are no events are named
_CLASSES = frozenset(EVENTS)
Gate = Callable[[Writer, int], Sequence[Event]]


class RecordedEvents(NamedTuple):
    """The outcome of recording events.

    Attributes:
        receipts: for each, its place in the journal.
        events: for each, the recorded event: for a repeated game, its supplement; None if nothing was recorded.
    """

    receipts: list[Receipt]
    events: Sequence[Event | None]


class Submission(NamedTuple):
    """A fact that one person submits, next to facts of other people.

    Attributes:
        event: the fact.
        actor: the submitter.
        token: authenticates the actor; None without.
        movetext: of a game, the moves that its ``text`` is the hash of, to be stored; None: they are not stored.
    """

    event: Event
    actor: str
    token: str | None = None
    movetext: str | None = None


Refused = RejectedError | MalformedError


class RecordedEach(NamedTuple):
    """The outcome of recording facts of which some may have been refused.

    Attributes:
        recorded: the outcome of the accepted ones, in their order.
        refused: by place, the refusal of a fact.
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
            journal: takes the entries.
            clock_ms: milliseconds since 1970, read once a transaction.
            facts: the current facts; None: every fact is as it was recorded.
            check: refuses facts with new keys.
        """
        self._journal = journal
        self.clock_ms = clock_ms
        self._facts = facts
        self._check = check
        self._stored_keys: set[str] = set()

    def append_many(self, events: Iterable[Event], actor: str) -> RecordedEvents:
        """Record facts in one transaction: all, or none when one is refused.

        Raises:
            MalformedError: one of them is no event.
            RejectedError: one of them may not follow the journal; its ``key`` is in the error.
        """
        batch = list(events)
        # one look at the types, for nearly always all are events; of a class that was made from one, only
        # ``isinstance``
        if not _CLASSES.issuperset(map(type, batch)):
            strangers = [thing for thing in batch if not isinstance(thing, EVENTS)]
            if strangers:
                what_to_do = "is no event: build one, such as GameRecorded(game=..., ...) of 'ledger'"
                raise MalformedError([f"{excerpt(thing)} {what_to_do}" for thing in strangers[:STRANGERS_NAMED]])
        # Before the lock, for which others wait: an actor that no entry may hold is refused at once.
        codec.actor_json(actor)
        with self._writing([event.key for event in batch]) as writer:
            accepted = _accepted(batch, writer)
            # under the lock: after a long wait an earlier reading would be behind the last entry
            if accepted is None:
                transaction = Transaction.begin(writer, self.clock_ms, actor)
            else:
                now = rules.check_acceptance(accepted, self.clock_ms(), writer.size, writer.last_recorded_at())
                transaction = Transaction(writer, now, actor)
            return self._batch(transaction, accepted).append(batch, repeat(actor, len(batch)))

    def append_each(self, games: Sequence[Submission]) -> RecordedEach:
        """Record games in one transaction, each judged as if those before it were recorded.

        Refused ones stay out.

        Their moves are stored with them.
        """
        refused: dict[int, Refused] = {
            place: fault for place, game in enumerate(games) if (fault := _fault_of(game)) is not None
        }
        good = [(place, game) for place, game in enumerate(games) if place not in refused]
        with self._writing() as writer:
            try:
                transaction = Transaction.begin(writer, self.clock_ms, "")  # each game has an actor of its own
            except RejectedError as error:
                return RecordedEach(
                    RecordedEvents([], []), {place: refused.get(place, error) for place in range(len(games))}
                )
            recorded, refused_by_rules = self._batch(transaction).append_each([game for _, game in good])
            refused |= {good[place][0]: fault for place, fault in refused_by_rules.items()}
            texts = [game.movetext for place, game in good if place not in refused and game.movetext is not None]
            if texts:
                writer.store_texts(stored_texts.compressed_texts(texts))
        return RecordedEach(recorded, refused)

    def append_judged(
        self, gate: Gate, actor: str, before_commit: Callable[[], object] = lambda: None
    ) -> RecordedEvents:
        """Record facts of the kinds in ``ENTRY_POINTS``, which have an entry point of their own, in one transaction.

        Args:
            gate: called under the write lock with the transaction and the recording time; it judges the current state
                and returns the facts to record. The judge checks those of other kinds.
            actor: the recorder.
            before_commit: called last before the commit; if it raises, nothing is recorded.

        Raises:
            RejectedError: the gate refuses, or one of the facts may not follow the journal.
        """
        with self._writing() as writer:
            transaction = Transaction.begin(writer, self.clock_ms, actor)
            batch = list(gate(writer, transaction.now_ms))
            recorded = self._batch(transaction, judged_kinds=ENTRY_POINTS).append(batch, repeat(actor, len(batch)))
            before_commit()
            return recorded

    def _batch(
        self,
        transaction: Transaction,
        accepted: ClockAccepted | None = None,
        judged_kinds: Container[type[Event]] = (),
    ) -> _Batch:
        return _Batch(transaction, self._journal, self._stored_keys, accepted, self._facts, self._check, judged_kinds)

    @contextmanager
    def _writing(self, keys: Sequence[str] = ()) -> Iterator[Writer]:
        try:
            with self._journal.writing(keys=keys) as writer:
                yield writer
        except BaseException:
            self._stored_keys.clear()  # some of it may have been undone
            raise


def _fault_of(game: Submission) -> MalformedError | None:
    """Return the fault of an actor, or of moves to be stored that are not those of the game."""
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


class _JudgedEntries(Entries):
    """The entries that a transaction is to append, and the outcome of each fact."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction)
        self.places: list[tuple[str, int, Event | None]] = []
        self.earlier: dict[str, list[Event]] = {}  # by subject, the facts of the transaction so far


class _Batch:
    """The events of one transaction, judged one after another as if each were already written."""

    def __init__(
        self,
        transaction: Transaction,
        journal: Journal,
        keys: set[str],
        accepted: ClockAccepted | None,
        facts: CurrentFacts | None,
        check: Callable[[Event, Evidence], None],
        judged_kinds: Container[type[Event]],
    ) -> None:
        self._transaction = transaction
        self._writer = transaction.writer
        self._journal = journal
        self._stored_keys = keys
        self._now_ms = transaction.now_ms
        self._facts = facts
        self._check = check
        self._accepted = accepted  # the first event, judged already
        self._judged_kinds = judged_kinds  # kinds that are judged already
        self._is_gated = False  # whether one of them is among the events, so that its gate judged what comes with it
        self._games: dict[str, SupplementedGame] = {}  # repeated games with their supplements, by their key

    def _evidence(self, earlier: Mapping[str, Sequence[Event]], events: Sequence[Event]) -> Evidence:
        """Return the evidence for the judge; *earlier* are the facts so far, *events* all new ones."""
        context = Context.WITHOUT_VIEWS if self._facts is None else Context.APPEND
        # The facts of an approval were judged by its gate, together with all that its proposal leaves in force.
        context = Context.APPROVAL if self._is_gated else context
        find, latest_ms = self._writer.find, lambda: self._latest_ms
        changing: Mapping[str, RejectedError] = {}
        if self._facts is not None and not self._is_gated and late_facts.are_four_eyes_on(find):
            changing = published_lists.changing_games(self._facts, events, self._writer.size + 1)
        return Evidence(
            context,
            self._now_ms,
            self._stored_keys,
            self._facts,
            earlier,
            find=find,
            latest_ms=latest_ms,
            changing=changing,
        )

    @cached_property
    def _latest_ms(self) -> int:
        # Once for all facts of the transaction: of a journal on a server each look is a round trip.
        return late_facts.latest_ms(self._journal, self._now_ms, self._accepted)

    @cached_property
    def _may_be_taken_back(self) -> bool:
        # once for all repeats of the transaction: of a journal on a server each look is a round trip
        return self._facts is not None and self._facts.has_proposals()

    def append(self, events: Sequence[Event], actors: Iterable[str]) -> RecordedEvents:
        """Append new facts. Nearly always all are new: this is tried before the keys are looked up.

        Args:
            events: the facts.
            actors: the submitter of each.
        """
        actors = list(actors)
        # By kind and not by entry point: players are registered by the same one, and their pasts are not judged yet.
        self._is_gated = any(type(event) in self._judged_kinds for event in events)
        # a refused fact may be a repeat, which is no refusal: it is judged again with the entries of the keys
        with suppress(RejectedError, KeyTakenError):
            if all(type(event) is GameRecorded for event in events):
                with collector_paused():
                    return self._append_games(cast("Sequence[GameRecorded]", events), actors)
            return self._append(events, actors, {})
        return self._append_after_lookup(events, actors)

    def append_each(self, games: Sequence[Submission]) -> tuple[RecordedEvents, dict[int, Refused]]:
        """Append new games that no rule refuses; return their outcome and, by place, the refusals."""
        events, actors = [game.event for game in games], [game.actor for game in games]
        refused: dict[int, Refused] = {}
        with suppress(RejectedError, MalformedError, KeyTakenError):
            return self._append_games(cast("Sequence[GameRecorded]", events), actors), refused
        return self._append_after_lookup(events, actors, refused), refused

    def _append_after_lookup(
        self, events: Sequence[Event], actors: Sequence[str], refused: dict[int, Refused] | None = None
    ) -> RecordedEvents:
        try:
            return self._append(events, actors, dict(self._writer.find([event.key for event in events])), refused)
        except KeyTakenError as error:
            raise rules.inconsistent_keys(error) from error

    def _append_games(self, games: Sequence[GameRecorded], actors: Sequence[str]) -> RecordedEvents:
        """Append games whose keys are all new; the journal refuses them otherwise."""
        players = {game.white for game in games} | {game.black for game in games}
        self._look_up({f"scheme:{pool}@start" for pool in {game.pool for game in games}})
        self._look_up({f"player:{player}" for player in players})
        self._look_up_erasures(games)
        judge.check_games(games, self._evidence({}, games))
        entries = Entries(self._transaction)
        for game, actor in zip(games, actors, strict=True):
            entries.add(game, actor)
        leaves = entries.append()
        receipts = map(Receipt, count(entries.first), entries.keys, leaves, repeat(False))  # noqa: FBT003  # no repeat
        return RecordedEvents(list(receipts), games)

    def _look_up_erasures(self, events: Sequence[Event]) -> None:
        """Look up which players of games were erased."""
        keys = set(chain.from_iterable(map(erasure_keys, events)))
        # One look into the index: nearly no ledger has erased players, and so no more keys are looked up.
        if keys and next(self._journal.keys(*rules.ERASED), None) is not None:
            self._look_up(keys)

    def _look_up(self, keys: set[str]) -> None:
        """Look up and cache which of these keys the journal holds."""
        missing = keys - self._stored_keys
        if missing:
            self._stored_keys.update(self._writer.find(sorted(missing)))

    def _append(
        self,
        events: Sequence[Event],
        actors: Sequence[str],
        stored: dict[str, StoredEntry],
        refused: dict[int, Refused] | None = None,
    ) -> RecordedEvents:
        """Judge and append; a refusal ends it or, if *refused* is given, is noted there by its place."""
        # An abandoned attempt may have added facts of supplements that were never written.
        self._games.clear()
        self._look_up(set(chain.from_iterable(map(needed_keys, events))))
        self._look_up_erasures(events)
        entries = _JudgedEntries(self._transaction)
        evidence = self._evidence(entries.earlier, [event for event in events if event.key not in stored])
        for place, (event, actor) in enumerate(zip(events, actors, strict=True)):
            try:
                self._add(entries, event, actor, stored, evidence)
            except (RejectedError, MalformedError) as error:
                if refused is None:
                    raise
                refused[place] = error
        first, leaves = entries.first, entries.append()
        receipts = [
            Receipt(position, key, leaves[position - first] if position >= first else stored[key].leaf, event is None)
            for key, position, event in entries.places
        ]
        return RecordedEvents(receipts, [event for _, _, event in entries.places])

    def _add(
        self, entries: _JudgedEntries, event: Event, actor: str, stored: dict[str, StoredEntry], evidence: Evidence
    ) -> None:
        """Judge one fact, and add the entry that it makes, if any; a refused one leaves no trace."""
        before = stored.get(event.key)
        if before is not None and self._facts is not None and self._may_be_taken_back:
            event = self._facts.with_free_key(event, self._writer.find, catch_up=True)
            stored.update({} if event.key in stored else self._writer.find([event.key]))
            before = stored.get(event.key)
        if before is not None:
            supplement = self._repeated(event, before)
            if supplement is None:
                entries.places.append((event.key, before.position, None))
                return
            event = supplement
        elif event is not self._accepted and type(event) not in self._judged_kinds:
            self._check(event, evidence)
        key, position = event.key, entries.next
        # The leaf does not exist yet: the receipts of this batch take it from the journal's answer.
        stored[key] = StoredEntry(position, entries.add(event, actor), b"")
        if event.KIND not in {GameRecorded.KIND, GameSupplemented.KIND}:  # no rule looks up a game
            self._stored_keys.add(key)
        entries.places.append((key, position, event))
        entries.earlier.setdefault(subject_of(event), []).append(event)

    def _repeated(self, event: Event, before: StoredEntry) -> GameSupplemented | None:
        """Return the supplement with what an event adds to the recorded one of its key, if anything.

        Raises:
            RejectedError: it contradicts that one, or together they are not a valid game.
        """
        stored, submitted = rules.facts_of(before), codec.facts_mapping(event)
        submitted.pop(event.KEY_FIELD or "", None)  # the key carries it
        # Most repeats are equal, and end here before any supplement is looked up.
        if not isinstance(event, GameRecorded) or stored == submitted:
            rules.check_repeat(type(event), event.key, stored, submitted)
            return None
        game = self._games.get(event.game)
        if game is None:
            game = self._games[event.game] = load_games(self._writer.find, {event.key: before})[event.game]
        return supplement_for(game, event.game, submitted, self._now_ms, self._corrected)

    def _corrected(self, game: str) -> CorrectedGame | None:
        """Return a game as it is after its corrections; None if it is as recorded."""
        return None if self._facts is None else self._facts.corrected_game(game, catch_up=True)


def _accepted(events: Sequence[Event], writer: Writer) -> ClockAccepted | None:
    """Return the acceptance that a batch begins with, unless the journal holds it already."""
    if events and isinstance(events[0], ClockAccepted) and not writer.find([events[0].key]):
        return events[0]
    return None
