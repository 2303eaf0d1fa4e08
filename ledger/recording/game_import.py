"""The one way of source games into the journal: players numbered, games compared with known ones, judged, appended.

A block of games is a transaction, or all blocks of a file are one. A few games are rows, many are columns. What is
refused comes back as faults with the line of the file. No file format is known here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import chain, repeat

import attrs

from ledger.book import judge
from ledger.book.evidence import Context, Evidence
from ledger.duplicates.detector import Alike, DuplicateDetector
from ledger.duplicates.erased_players import ErasedPlayerMatcher
from ledger.duplicates.game_keys import MOST_OF_ONE_KEY as MOST
from ledger.duplicates.game_keys import MadeKeys
from ledger.duplicates.repeats import CorrectedGames, Difference, ToldEntries, match_repeats
from ledger.errors import MalformedError, RejectedError
from ledger.facts import codec
from ledger.facts.codec import body_of
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.events import GameRecorded, GameSupplemented, RoundWithoutGame, SchemeAdopted
from ledger.facts.source_games import KEPT_FAULTS, FaultsFound, FileFault, SourceRound, excerpt
from ledger.facts.words import Brings
from ledger.journal import Journal, KeyTakenError, Writer, kept_texts, rules
from ledger.players.sealed_names import VerifiedNames
from ledger.recording.game_columns import GameColumns
from ledger.recording.game_rows import GameRows, Judged
from ledger.recording.new_players import register
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime.long_work import collector_paused

GameBlock = GameRows | GameColumns
MAX_DIFFERENCES = 50_000  # of one import that are kept: one batch of corrections has 100,000 rows
MAX_NEW_POOLS = 64  # of one import: a file that names more is no file of games
MAX_REASONS = 40  # reasons to leave games out that are named one by one
SLICE = 8_192  # games that become Python objects at a time: memory is used again while it is still in the cache
_NAME = re.compile(NAME_PATTERN, re.ASCII)


@attrs.define
class ImportReport(FaultsFound):
    """What became of imported games.

    Attributes:
        recorded: games that are in the journal now and were not before.
        repeated: games that were known already, with all that was told of them.
        supplemented: games that were known already and of which more is known now.
        rounds: rounds without a game that are in the journal now and were not before.
        rounds_repeated: rounds without a game that were known already.
        newcomers: identity and name of the players met for the first time, in the order of their numbers.
        kept_names: players who were renamed and whom the file calls otherwise: they keep the name that they have.
        left_out: games left out for a reason that is nobody's mistake, by the reason; the rarer variants in one.
        new_pools: pools met for the first time.
        alike: games that are probably known under another key and were held back, the first ``KEPT_FAULTS``.
        alike_count: how many were held back in all.
        notes: recorded games that should be looked at, with their lines and why, the first ``KEPT_FAULTS``.
        note_count: how many there are in all.
        differences: games that the file tells otherwise than they stand, where these were asked for; else they are
            faults.
        faults, fault_count: games that could not be taken.
    """

    recorded: int = 0
    repeated: int = 0
    supplemented: int = 0
    rounds: int = 0
    rounds_repeated: int = 0
    newcomers: list[tuple[str, str]] = attrs.Factory(list)
    kept_names: int = 0
    left_out: Counter[str] = attrs.Factory(Counter)
    new_pools: list[str] = attrs.Factory(list)
    alike: list[Alike] = attrs.Factory(list)
    alike_count: int = 0
    notes: list[FileFault] = attrs.Factory(list)
    note_count: int = 0
    differences: list[Difference] = attrs.Factory(list)

    def differ(self, difference: Difference) -> None:
        """Keep a game that the file tells otherwise than it stands; past the limit it is a fault."""
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(difference)
        else:
            self.fault(difference.line, difference.message)

    @property
    def players(self) -> int:
        """How many players were met for the first time."""
        return len(self.newcomers)

    def hold_back(self, games: list[Alike]) -> None:
        """Note games that are probably known."""
        self.alike_count += len(games)
        self.alike += games[: max(KEPT_FAULTS - len(self.alike), 0)]

    def note(self, notes: list[FileFault]) -> None:
        """Keep notes."""
        self.note_count += len(notes)
        self.notes += notes[: max(KEPT_FAULTS - len(self.notes), 0)]

    def leave_out(self, variant: str, count: int) -> None:
        """Count games of a variant that has no pool."""
        reason = f"variant {variant}"
        has_room = reason in self.left_out or len(self.left_out) < MAX_REASONS
        self.left_out[reason if has_room else "other variants"] += count


@attrs.define
class _Taken:
    """What the journal took in a transaction that is not committed yet; the fields are those of ``ImportReport``."""

    recorded: int = 0
    repeated: int = 0
    supplemented: int = 0
    rounds: int = 0
    rounds_repeated: int = 0
    newcomers: list[tuple[str, str]] = attrs.Factory(list)
    kept_names: int = 0
    new_pools: list[str] = attrs.Factory(list)
    notes: list[FileFault] = attrs.Factory(list)


class GameImport:
    """One import into one journal: remembers the players and pools that it has met."""

    def __init__(
        self,
        names: VerifiedNames,
        keys: MadeKeys,
        choice: PoolChoice,
        scheme: SchemeAdopted,
        actor: str,
        clock_ms: Callable[[], int],
        alike: DuplicateDetector | None,
        notes_of: Callable[[GameBlock], list[FileFault]],
        corrected_games: CorrectedGames,
        keep_differences: bool,
        erased: ErasedPlayerMatcher,
        as_told: Callable[[RoundWithoutGame, Sequence[RoundWithoutGame]], RoundWithoutGame],
    ) -> None:
        """Prepare an import.

        Args:
            names: where the players' numbers come from.
            keys: what makes the keys of games whose source gave none.
            choice: which pool a game goes to.
            scheme: what a pool that is new adopts.
            actor: who imports.
            clock_ms: milliseconds since 1970, read once a transaction.
            alike: what games under new keys are to those that are known; None: all are new.
            notes_of: what should be looked at of games that were recorded.
            corrected_games: how a game stands after its corrections.
            keep_differences: a game that is told otherwise than it stands is no fault but kept in the report.
            erased: what games are to known ones of erased players.
            as_told: a round without a game in the words in which the journal holds it, where it does, or those that are
                told of this round of the player before it.
        """
        self._as_told = as_told
        self._keep_differences = keep_differences
        self._names = names
        self._erased = erased
        self._keys = keys
        self._alike = alike
        self._notes_of = notes_of
        self._corrected_games = corrected_games
        self._choice = choice
        self._scheme = scheme
        self._actor = actor
        self._clock_ms = clock_ms
        self._numbers: dict[str, int] = {}
        self._version = names.file.version()
        self._pools: set[str] = set()
        self._met_repeats = False
        self._told = ToldEntries()
        self._taken = _Taken()
        self.report = ImportReport()

    def take(self, games: GameBlock, writer: Writer) -> None:
        """Append games within the writer's transaction.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        with collector_paused():
            self._take(games, writer)

    def take_rounds(self, rounds: Sequence[SourceRound], writer: Writer) -> None:
        """Append rounds without a game within the writer's transaction; players who have no game yet are registered.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        now = rules.check_clock(self._clock_ms(), writer.last_recorded_at())
        stamp = rules.recorded_text(now)
        housed = self._housed(writer, self._with_pools(GameRows([telling._asdict() for telling in rounds])))
        pools = {row["line"]: row["pool"] for row in housed.rows()}
        kept = [telling for telling in rounds if telling.line in pools]
        self._meet(writer, {telling.player_id: telling.player_name for telling in kept}, stamp)
        events: dict[SourceRound, RoundWithoutGame] = {}
        by_place: dict[str, list[RoundWithoutGame]] = {}
        for telling in kept:
            try:
                event = self._round_told(telling, pools[telling.line])
                beside = by_place.setdefault(event.place, [])
                events[telling] = self._as_told(event, beside)
                beside.append(events[telling])
            except MalformedError as error:
                self.report.fault(telling.line, "; ".join(error.problems))
            except RejectedError as error:
                self.report.fault(telling.line, str(error))
        self._append_rounds(writer, events, stamp)

    def _round_told(self, telling: SourceRound, pool: str) -> RoundWithoutGame:
        return RoundWithoutGame(
            pool=pool,
            tournament=telling.tournament,
            edition=telling.edition,
            round=telling.round,
            player=self._numbers[telling.player_id],
            brings=Brings(telling.brings),
            half_points=telling.half_points,
        )

    def _append_rounds(self, writer: Writer, events: Mapping[SourceRound, RoundWithoutGame], stamp: str) -> None:
        """Append those that are new; one that says something else than the journal, or the file, is a fault."""
        stored = writer.find([event.key for event in events.values()])
        facts_by_key = {key: rules.facts_of(entry) for key, entry in stored.items()}
        # Sorted, for Python orders a set of texts otherwise in each process: the same import gives the same entries.
        pools = sorted({event.pool for event in events.values()} - self._pools)
        adopted = [attrs.evolve(self._scheme, pool=pool) for pool in pools]  # a tournament may begin with a bye
        keys = [event.key for event in adopted]
        bodies = [body_of(writer.size + place, stamp, self._actor, event) for place, event in enumerate(adopted, 1)]
        for telling, event in events.items():
            facts = codec.facts_mapping(event)
            if event.key not in facts_by_key:
                facts_by_key[event.key] = facts
                keys.append(event.key)
                bodies.append(body_of(writer.size + len(keys), stamp, self._actor, event))
                continue
            try:
                rules.check_repeat(RoundWithoutGame, event.key, facts_by_key[event.key], facts)
                self._taken.rounds_repeated += 1
            except RejectedError as error:
                self.report.fault(telling.line, str(error))
        if keys:
            kinds = chain(repeat(SchemeAdopted.KIND, len(adopted)), repeat(RoundWithoutGame.KIND))
            self._taken.rounds += len(writer.append(kinds, keys, bodies)) - len(adopted)
        self._taken.new_pools += pools
        self._pools.update(pools)

    def committed(self) -> None:
        """What was taken since the last call is in the file: only from now on does the report count it."""
        self.report.recorded += self._taken.recorded
        self.report.repeated += self._taken.repeated
        self.report.supplemented += self._taken.supplemented
        self.report.rounds += self._taken.rounds
        self.report.rounds_repeated += self._taken.rounds_repeated
        self.report.newcomers += self._taken.newcomers
        self.report.kept_names += self._taken.kept_names
        self.report.new_pools += self._taken.new_pools
        self.report.note(self._taken.notes)
        self._taken = _Taken()

    def _take(self, games: GameBlock, writer: Writer) -> None:
        now = rules.check_clock(self._clock_ms(), writer.last_recorded_at())
        stamp = rules.recorded_text(now)
        # An import may take an hour, in which somebody is erased: a number that was learnt before is nobody's by then.
        if (version := self._names.file.version()) != self._version:
            self._version = version
            self._numbers.clear()
            self._erased.forget()
        games = self._keys.with_keys(self._with_pools(games), writer.find)
        # Before pools are made and players registered: a game that is held back brings neither.
        if self._alike is not None and len(games):
            games, repeats = self._alike.split_off_duplicates(games, writer.find, writer.size)
            games, nameless = self._erased.split_off_duplicates(games, writer.find)
            self.report.hold_back(sorted([*repeats, *nameless]))
        games = self._housed(writer, games)
        if not len(games):
            return
        # In the order of the file, in which newcomers get their numbers: the same file gives the same numbers.
        named = games.players()
        self._meet(writer, named, stamp)
        games = games.as_events({identity: self._numbers[identity] for identity in named})
        games = self._without_faults(writer, games, now)
        for part in games.slices(SLICE):
            self._append(writer, part, stamp, now)

    def _with_pools(self, games: GameBlock) -> GameBlock:
        """Return the games that have a pool, with it; others are left out and counted."""
        games, homeless = games.with_pools(self._choice)
        for variant, count in homeless.items():
            if variant == "standard":
                self.report.left_out["no time control"] += count
            else:
                self.report.leave_out(variant, count)
        return games

    def _housed(self, writer: Writer, games: GameBlock) -> GameBlock:
        """Return the games whose pool is there or can be made; the others are faults."""
        met = set(games.column("pool")) - self._pools
        named = sorted(pool for pool in met if _NAME.fullmatch(pool))
        entries = writer.find([attrs.evolve(self._scheme, pool=pool).key for pool in named])
        self._pools.update(pool for pool in named if attrs.evolve(self._scheme, pool=pool).key in entries)
        unmade = [pool for pool in named if pool not in self._pools]
        room = MAX_NEW_POOLS - len(self.report.new_pools) - len(self._taken.new_pools)
        without = met - self._pools - set(unmade[:room])
        if not without:
            return games
        for line, pool in zip(games.column("line"), games.column("pool"), strict=True):
            if pool not in without:
                continue
            fault = f"{excerpt(pool)} cannot name a pool, whose name matches {NAME_PATTERN}: correct the variant"
            if _NAME.fullmatch(pool):
                fault = (
                    f"pool {pool!r} would be one more than {MAX_NEW_POOLS}, the limit of new pools of one import: "
                    "give the games of a variant a pool by --variant VARIANT=POOL"
                )
            self.report.fault(line, fault)
        return games.keep([pool not in without for pool in games.column("pool")])

    def _meet(self, writer: Writer, named: Mapping[str, str], stamp: str) -> None:
        """Learn the numbers of players by identity and name; new ones are registered."""
        fresh = {identity: name for identity, name in named.items() if identity not in self._numbers}
        if fresh:
            registration = register(writer, self._names, fresh, stamp, self._actor)
            self._taken.newcomers += [(person.identity or "", person.name or "") for person in registration.new]
            self._taken.kept_names += registration.kept_names
            self._numbers.update((identity, person.player) for identity, person in registration.persons.items())

    def _without_faults(self, writer: Writer, games: GameBlock, now: int) -> GameBlock:
        """Leave out the games that are no events or may not follow; each becomes a fault with its line."""
        recorded, parts = games.doubtful(now)
        faulty = {place for part in parts for place in self._refused(writer, part, recorded, now)}
        return games.keep([place not in faulty for place in range(len(games))]) if faulty else games

    def _refused(self, writer: Writer, games: Sequence[Judged], recorded: dict[str, int], now: int) -> Iterator[int]:
        """Yield the places of the games that cannot be taken; each becomes a fault.

        Args:
            writer: the open transaction.
            games: some games of a block.
            recorded: by key, the first place of a game that is recorded under it; what is taken here joins it.
            now: the time to record under, milliseconds since 1970.
        """
        keys = writer.find([event.key for _, _, event in games if isinstance(event, GameRecorded)])
        evidence = Evidence(Context.IMPORT, now)
        for place, line, event in games:
            if isinstance(event, str):
                self.report.fault(line, event)
                yield place
                continue
            try:
                # A known key goes first: it is a repeat or says something else than before, whatever a rule would say.
                if recorded.get(event.game, place) >= place and event.key not in keys:
                    judge.check(event, evidence)
                    recorded[event.game] = place
            except RejectedError as error:
                self.report.fault(line, str(error))
                yield place

    def _append(self, writer: Writer, games: GameBlock, stamp: str, now: int, number: int = 1) -> None:
        """Append the games that are new. Looking keys up first costs as much as hashing: it is tried without.

        Games whose made key is another game's are tried again under the next one, the *number*-th.
        """
        if not self._met_repeats:
            with suppress(KeyTakenError):
                self._append_all(writer, games, stamp)
                return
        again = match_repeats(
            writer.find,
            games,
            writer.size + 1,
            self._pools,
            now,
            self._told,
            self._corrected_games,
            self._erased.is_nameless,
        )
        # Where one block had repeats the next one is likely to: the attempt that would fail is spared.
        self._met_repeats = any(again.known) or number > 1
        for fault in again.faults:
            self.report.fault(*fault)
        for difference in again.differences:
            if self._keep_differences:
                self.report.differ(difference)
            else:
                self.report.fault(difference.line, difference.message)
        refused = len(again.faults) + len(again.differences)
        self._taken.repeated += sum(again.known) - refused - len(again.others) - len(again.supplements)
        try:
            self._append_all(writer, games.keep([not is_known for is_known in again.known]), stamp)
            self._append_supplements(writer, games, again.supplements, stamp)
        except KeyTakenError as error:
            raise rules.refuses_new_key(error) from error
        if again.others and number < MOST:
            rows = {row for row, _, _ in again.others}
            others = games.keep([row in rows for row in range(len(games))])
            self._append(writer, self._keys.with_next_keys(others, number + 1, writer.find), stamp, now, number + 1)
        elif again.others:
            for _, line, message in again.others:
                self.report.fault(line, message)

    def _append_all(self, writer: Writer, fresh: GameBlock, stamp: str) -> None:
        # A pool adopts the ledger's scheme with its first game, in one step: where no game is taken no pool is made.
        pools = sorted(set(fresh.column("pool")) - self._pools)
        adopted = [attrs.evolve(self._scheme, pool=pool) for pool in pools]
        first = writer.size + 1
        bodies = [body_of(first + place, stamp, self._actor, event) for place, event in enumerate(adopted)]
        bodies += fresh.bodies(first + len(adopted), stamp, self._actor)
        keys = [event.key for event in adopted] + [f"game:{key}" for key in fresh.column("game")]
        kinds = chain(repeat(SchemeAdopted.KIND, len(adopted)), repeat(GameRecorded.KIND))
        self._taken.recorded += len(writer.append(kinds, keys, bodies)) - len(adopted)
        self._told.add(first + len(adopted), len(fresh))
        self._taken.new_pools += pools
        self._pools.update(pools)
        self._taken.notes += self._notes_of(fresh)
        if movetexts := fresh.movetexts():
            writer.keep_texts(kept_texts.frames(movetexts))

    def _append_supplements(
        self, writer: Writer, games: GameBlock, supplements: list[tuple[int, GameSupplemented]], stamp: str
    ) -> None:
        """Append what games that are known were told with now: rows of *games* and events."""
        if not supplements:
            return
        first = writer.size + 1
        bodies = [body_of(first + place, stamp, self._actor, event) for place, (_, event) in enumerate(supplements)]
        keys = [event.key for _, event in supplements]
        self._taken.supplemented += len(writer.append(repeat(GameSupplemented.KIND), keys, bodies))
        told_texts = {row for row, event in supplements if event.text is not None}
        if told_texts:
            movetexts = games.keep([row in told_texts for row in range(len(games))]).movetexts()
            writer.keep_texts(kept_texts.frames(movetexts))


def take_blocks(
    journal: Journal,
    job: GameImport,
    blocks: Iterable[GameBlock],
    *,
    strict: bool,
    faults_so_far: Callable[[], int],
    advance: Callable[[int], None],
    rounds: Callable[[], Sequence[SourceRound]] = tuple,
) -> None:
    """Take blocks of games in order.

    Args:
        journal: where they are recorded.
        job: what judges and records them; it keeps the report.
        blocks: the games of one file.
        strict: one transaction for all; any fault leaves the journal as it was.
        faults_so_far: how many faults the importer found; with *strict* they count.
        advance: called with the number of games of each block taken.
        rounds: the rounds without a game that the games' source told, asked when it was read to its end.
    """
    with suppress(_NothingRecordedError):
        with journal.writing() if strict else nullcontext() as whole:
            for games in blocks:
                with nullcontext(whole) if whole is not None else journal.writing() as writer:
                    job.take(games, writer)
                if whole is None:
                    job.committed()
                advance(len(games))
            if telling := rounds():
                with nullcontext(whole) if whole is not None else journal.writing() as writer:
                    job.take_rounds(telling, writer)
            if strict and (job.report.fault_count or faults_so_far()):
                raise _NothingRecordedError  # only an exception undoes the transaction
        job.committed()


class _NothingRecordedError(Exception):
    """Ends a strict import with a fault; the transaction is undone."""
