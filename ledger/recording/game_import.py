"""Source games, with names, on their way into the journal: number players, match recorded games, judge and append.

A block of games is a transaction, or all blocks of a file are one. A few games are rows, many are columns. Refused
games become faults with the line of the file. No file format is handled here.
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
from ledger.duplicates.detector import DuplicateDetector, ProbableDuplicate
from ledger.duplicates.erased_players import ErasedPlayerMatcher
from ledger.duplicates.game_keys import MOST_OF_ONE_KEY as MOST
from ledger.duplicates.game_keys import MadeKeys
from ledger.duplicates.repeats import CorrectedGames, Difference, ReportedEntries, match_repeats
from ledger.errors import MalformedError, RejectedError
from ledger.facts import codec
from ledger.facts.codec import body_of
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.events import GameRecorded, GameSupplemented, RoundWithoutGame, SchemeAdopted
from ledger.facts.source_games import KEPT_FAULTS, FaultsFound, FileFault, SourceRound, excerpt
from ledger.facts.words import Brings
from ledger.journal import Journal, KeyTakenError, Writer, kept_texts, rules
from ledger.players.verified_names import VerifiedNames
from ledger.recording.game_columns import GameColumns
from ledger.recording.game_rows import GameRows, Judged
from ledger.recording.new_players import register
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime.long_work import collector_paused

GameBlock = GameRows | GameColumns
MAX_DIFFERENCES = 50_000  # stored of one import: one batch of corrections has 100,000 rows
MAX_NEW_POOLS = 64  # of one import: a file that names more is no file of games
MAX_REASONS = 40  # reasons to leave games out that are named one by one
SLICE = 8_192  # games that become Python objects at a time: memory is used again while it is still in the cache
_NAME = re.compile(NAME_PATTERN, re.ASCII)


@attrs.define
class ImportReport(FaultsFound):
    """The outcome of an import of games.

    Attributes:
        recorded: newly recorded games.
        repeated: games that were recorded before with all reported facts.
        supplemented: games that were recorded before and got more facts.
        rounds: newly recorded rounds without a game.
        rounds_repeated: rounds without a game that were recorded before.
        newcomers: identity and name of new players, in the order of their numbers.
        kept_names: renamed players whom the file calls by another name: they keep the present one.
        left_out: games left out for a reason that is no mistake, by the reason; the rarer variants in one.
        new_pools: new pools.
        alike: probable duplicates that were held back, the first ``KEPT_FAULTS``.
        alike_count: number of games held back.
        notes: recorded games to look at, with their lines and the reason, the first ``KEPT_FAULTS``.
        note_count: number of such games.
        differences: games that the file reports with other facts than the current ones, if the caller asked for them;
            else they are faults.
        faults, fault_count: refused games.
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
    alike: list[ProbableDuplicate] = attrs.Factory(list)
    alike_count: int = 0
    notes: list[FileFault] = attrs.Factory(list)
    note_count: int = 0
    differences: list[Difference] = attrs.Factory(list)

    def differ(self, difference: Difference) -> None:
        """Store a game that the file reports with other facts than the current ones; past the limit it is a fault."""
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(difference)
        else:
            self.fault(difference.line, difference.message)

    @property
    def players(self) -> int:
        """The number of new players."""
        return len(self.newcomers)

    def hold_back(self, games: list[ProbableDuplicate]) -> None:
        """Note probable duplicates."""
        self.alike_count += len(games)
        self.alike += games[: max(KEPT_FAULTS - len(self.alike), 0)]

    def note(self, notes: list[FileFault]) -> None:
        """Store notes."""
        self.note_count += len(notes)
        self.notes += notes[: max(KEPT_FAULTS - len(self.notes), 0)]

    def leave_out(self, variant: str, count: int) -> None:
        """Count games of a variant that has no pool."""
        reason = f"variant {variant}"
        has_room = reason in self.left_out or len(self.left_out) < MAX_REASONS
        self.left_out[reason if has_room else "other variants"] += count


@attrs.define
class _Taken:
    """The counts of a transaction that is not committed yet; the fields are those of ``ImportReport``."""

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
    """One import into one journal: it caches players and pools."""

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
        as_recorded: Callable[[RoundWithoutGame, Sequence[RoundWithoutGame]], RoundWithoutGame],
    ) -> None:
        """Prepare an import.

        Args:
            names: gives the players' numbers.
            keys: makes the keys of games whose source gave none.
            choice: assigns pools to games.
            scheme: the scheme that a new pool adopts.
            actor: the importer.
            clock_ms: milliseconds since 1970, read once a transaction.
            alike: matches games under new keys with recorded ones; None: all are new.
            notes_of: returns the notes on recorded games.
            corrected_games: returns a game after its corrections.
            keep_differences: a game reported with other facts than the current ones is no fault but stored in the
                report.
            erased: matches games with recorded ones of erased players.
            as_recorded: returns a round without a game in the words in which the journal, or an earlier row on the same
                round of the player, has it.
        """
        self._as_recorded = as_recorded
        self._keep_differences = keep_differences
        self._names = names
        self._erased = erased
        self._keys = keys
        self._detector = alike
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
        self._reported = ReportedEntries()
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
        """Append rounds without a game within the writer's transaction; players without a game are registered.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        now = rules.check_clock(self._clock_ms(), writer.last_recorded_at())
        stamp = rules.recorded_text(now)
        housed = self._housed(writer, self._with_pools(GameRows([round_._asdict() for round_ in rounds])))
        pools = {row["line"]: row["pool"] for row in housed.rows()}
        kept = [round_ for round_ in rounds if round_.line in pools]
        self._number_players(writer, {round_.player_id: round_.player_name for round_ in kept}, stamp)
        events: dict[SourceRound, RoundWithoutGame] = {}
        by_place: dict[str, list[RoundWithoutGame]] = {}
        for round_ in kept:
            try:
                event = self._round_event(round_, pools[round_.line])
                of_place = by_place.setdefault(event.place, [])
                events[round_] = self._as_recorded(event, of_place)
                of_place.append(events[round_])
            except MalformedError as error:
                self.report.fault(round_.line, "; ".join(error.problems))
            except RejectedError as error:
                self.report.fault(round_.line, str(error))
        self._append_rounds(writer, events, stamp)

    def _round_event(self, round_: SourceRound, pool: str) -> RoundWithoutGame:
        return RoundWithoutGame(
            pool=pool,
            tournament=round_.tournament,
            edition=round_.edition,
            round=round_.round,
            player=self._numbers[round_.player_id],
            brings=Brings(round_.brings),
            half_points=round_.half_points,
        )

    def _append_rounds(self, writer: Writer, events: Mapping[SourceRound, RoundWithoutGame], stamp: str) -> None:
        """Append those that are new; one that contradicts the journal or the file is a fault."""
        stored = writer.find([event.key for event in events.values()])
        facts_by_key = {key: rules.facts_of(entry) for key, entry in stored.items()}
        # Sorted, for Python orders a set of texts otherwise in each process: the same import gives the same entries.
        pools = sorted({event.pool for event in events.values()} - self._pools)
        adopted = [attrs.evolve(self._scheme, pool=pool) for pool in pools]  # a tournament may begin with a bye
        keys = [event.key for event in adopted]
        bodies = [body_of(writer.size + place, stamp, self._actor, event) for place, event in enumerate(adopted, 1)]
        for round_, event in events.items():
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
                self.report.fault(round_.line, str(error))
        if keys:
            kinds = chain(repeat(SchemeAdopted.KIND, len(adopted)), repeat(RoundWithoutGame.KIND))
            self._taken.rounds += len(writer.append(kinds, keys, bodies)) - len(adopted)
        self._taken.new_pools += pools
        self._pools.update(pools)

    def committed(self) -> None:
        """Add to the report what was taken since the last call: it is committed only now."""
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
        # An import may take an hour, in which a player may be erased: a cached number is then invalid.
        if (version := self._names.file.version()) != self._version:
            self._version = version
            self._numbers.clear()
            self._erased.forget()
        games = self._keys.with_keys(self._with_pools(games), writer.find)
        # Before pools are made and players registered: a game that is held back adds neither.
        if self._detector is not None and len(games):
            games, repeats = self._detector.split_off_duplicates(games, writer.find, writer.size)
            games, nameless = self._erased.split_off_duplicates(games, writer.find)
            self.report.hold_back(sorted([*repeats, *nameless]))
        games = self._housed(writer, games)
        if not len(games):
            return
        # In the order of the file, in which new players get their numbers: the same file gives the same numbers.
        named = games.players()
        self._number_players(writer, named, stamp)
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
        """Return the games whose pool exists or can be made; the others are faults."""
        met = set(games.column("pool")) - self._pools
        named = sorted(pool for pool in met if _NAME.fullmatch(pool))
        entries = writer.find([attrs.evolve(self._scheme, pool=pool).key for pool in named])
        self._pools.update(pool for pool in named if attrs.evolve(self._scheme, pool=pool).key in entries)
        new_pools = [pool for pool in named if pool not in self._pools]
        room = MAX_NEW_POOLS - len(self.report.new_pools) - len(self._taken.new_pools)
        refused_pools = met - self._pools - set(new_pools[:room])
        if not refused_pools:
            return games
        for line, pool in zip(games.column("line"), games.column("pool"), strict=True):
            if pool not in refused_pools:
                continue
            fault = f"{excerpt(pool)} cannot name a pool, whose name matches {NAME_PATTERN}: correct the variant"
            if _NAME.fullmatch(pool):
                fault = (
                    f"pool {pool!r} would be one more than {MAX_NEW_POOLS}, the limit of new pools of one import: "
                    "give the games of a variant a pool by --variant VARIANT=POOL"
                )
            self.report.fault(line, fault)
        return games.keep([pool not in refused_pools for pool in games.column("pool")])

    def _number_players(self, writer: Writer, named: Mapping[str, str], stamp: str) -> None:
        """Look up the numbers of players by identity and name; new ones are registered."""
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
            recorded: by key, the first place of a game that is recorded under it; accepted games are added.
            now: the recording time, milliseconds since 1970.
        """
        keys = writer.find([event.key for _, _, event in games if isinstance(event, GameRecorded)])
        evidence = Evidence(Context.IMPORT, now)
        for place, line, event in games:
            if isinstance(event, str):
                self.report.fault(line, event)
                yield place
                continue
            try:
                # A recorded key goes first: its game is a repeat or a contradiction, and no rule is applied.
                if recorded.get(event.game, place) >= place and event.key not in keys:
                    judge.check(event, evidence)
                    recorded[event.game] = place
            except RejectedError as error:
                self.report.fault(line, str(error))
                yield place

    def _append(self, writer: Writer, games: GameBlock, stamp: str, now: int, number: int = 1) -> None:
        """Append new games. Looking keys up first costs as much as hashing: it is tried without.

        Games whose made key is another game's are tried again under the next one, the *number*-th.
        """
        if not self._met_repeats:
            with suppress(KeyTakenError):
                self._append_all(writer, games, stamp)
                return
        matches = match_repeats(
            writer.find,
            games,
            writer.size + 1,
            self._pools,
            now,
            self._reported,
            self._corrected_games,
            self._erased.is_nameless,
        )
        # If one block had repeats the next one probably has them: the attempt that would fail is skipped.
        self._met_repeats = any(matches.known) or number > 1
        for fault in matches.faults:
            self.report.fault(*fault)
        for difference in matches.differences:
            if self._keep_differences:
                self.report.differ(difference)
            else:
                self.report.fault(difference.line, difference.message)
        refused = len(matches.faults) + len(matches.differences)
        self._taken.repeated += sum(matches.known) - refused - len(matches.others) - len(matches.supplements)
        try:
            self._append_all(writer, games.keep([not is_repeat for is_repeat in matches.known]), stamp)
            self._append_supplements(writer, games, matches.supplements, stamp)
        except KeyTakenError as error:
            raise rules.refuses_new_key(error) from error
        if matches.others and number < MOST:
            rows = {row for row, _, _ in matches.others}
            others = games.keep([row in rows for row in range(len(games))])
            self._append(writer, self._keys.with_next_keys(others, number + 1, writer.find), stamp, now, number + 1)
        elif matches.others:
            for _, line, message in matches.others:
                self.report.fault(line, message)

    def _append_all(self, writer: Writer, fresh: GameBlock, stamp: str) -> None:
        # A pool adopts the ledger's scheme with its first game, in one step: without an accepted game no pool is made.
        pools = sorted(set(fresh.column("pool")) - self._pools)
        adopted = [attrs.evolve(self._scheme, pool=pool) for pool in pools]
        first = writer.size + 1
        bodies = [body_of(first + place, stamp, self._actor, event) for place, event in enumerate(adopted)]
        bodies += fresh.bodies(first + len(adopted), stamp, self._actor)
        keys = [event.key for event in adopted] + [f"game:{key}" for key in fresh.column("game")]
        kinds = chain(repeat(SchemeAdopted.KIND, len(adopted)), repeat(GameRecorded.KIND))
        self._taken.recorded += len(writer.append(kinds, keys, bodies)) - len(adopted)
        self._reported.add(first + len(adopted), len(fresh))
        self._taken.new_pools += pools
        self._pools.update(pools)
        self._taken.notes += self._notes_of(fresh)
        if movetexts := fresh.movetexts():
            writer.keep_texts(kept_texts.frames(movetexts))

    def _append_supplements(
        self, writer: Writer, games: GameBlock, supplements: list[tuple[int, GameSupplemented]], stamp: str
    ) -> None:
        """Append the supplements of recorded games: rows of *games* and events."""
        if not supplements:
            return
        first = writer.size + 1
        bodies = [body_of(first + place, stamp, self._actor, event) for place, (_, event) in enumerate(supplements)]
        keys = [event.key for _, event in supplements]
        self._taken.supplemented += len(writer.append(repeat(GameSupplemented.KIND), keys, bodies))
        rows_with_texts = {row for row, event in supplements if event.text is not None}
        if rows_with_texts:
            movetexts = games.keep([row in rows_with_texts for row in range(len(games))]).movetexts()
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
        journal: takes the games.
        job: judges and records them, and holds the report.
        blocks: the games of one file.
        strict: one transaction for all; any fault leaves the journal as it was.
        faults_so_far: returns the number of the importer's faults; with *strict* they count.
        advance: called with the number of games of each block taken.
        rounds: returns the rounds without a game of the source; called when this is read to its end.
    """
    with suppress(_NothingRecordedError):
        with journal.writing() if strict else nullcontext() as file_writer:
            for games in blocks:
                with nullcontext(file_writer) if file_writer is not None else journal.writing() as writer:
                    job.take(games, writer)
                if file_writer is None:
                    job.committed()
                advance(len(games))
            if source_rounds := rounds():
                with nullcontext(file_writer) if file_writer is not None else journal.writing() as writer:
                    job.take_rounds(source_rounds, writer)
            if strict and (job.report.fault_count or faults_so_far()):
                raise _NothingRecordedError  # only an exception undoes the transaction
        job.committed()


class _NothingRecordedError(Exception):
    """Ends a strict import with a fault; the transaction is undone."""
