"""Source games, with names, on their way into the journal: number players, match recorded games, judge and append.

A block of games is a transaction, or all blocks of a file are one. A few games are rows, many are columns. Refused
games become faults with the line of the file. No file format is handled here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property

import attrs

from ledger.book import judge
from ledger.book.evidence import Context, CurrentFacts, Evidence
from ledger.book.published_lists import NewGame, PublishedListRule, published_pools
from ledger.duplicates.detector import DuplicateDetector, ProbableDuplicate
from ledger.duplicates.erased_players import ErasedPlayerMatcher
from ledger.duplicates.game_keys import MOST_OF_ONE_KEY as MOST
from ledger.duplicates.game_keys import DerivedKeys
from ledger.duplicates.repeats import Difference, ReportedEntries, match_repeats
from ledger.errors import MalformedError, RejectedError
from ledger.facts import codec
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.events import (
    GameRecorded,
    GameSupplemented,
    PlayerEntered,
    RoundWithoutGame,
    SchemeAdopted,
    WarningsAccepted,
)
from ledger.facts.person_names import same_person
from ledger.facts.source_games import KEPT_FAULTS, FaultsFound, FileFault, SourceReport, SourceRound, excerpt
from ledger.facts.words import Brings, Colour, Termination
from ledger.journal import FindEntries, KeyTakenError, StoredEntry, Writer, late_facts, rules, stored_texts
from ledger.journal.transactions import Entries, Transaction
from ledger.players.verified_names import VerifiedNames
from ledger.ratings.views import Views
from ledger.recording.findings import ReportCheck, ReportFinding, Severity
from ledger.recording.game_columns import GameColumns
from ledger.recording.game_rows import GameRows, Judged, PlayedDay, PlayedSides
from ledger.recording.import_register import ImportCounts, ImportNotes
from ledger.recording.new_players import register
from ledger.recording.pool_choice import BY_TIME_CONTROL, PoolChoice
from ledger.recording.reported_tournaments import ReportRecorder
from ledger.recording.seed_warnings import SeedWarnings
from ledger.recording.views_game_index import ViewsGameIndex
from ledger.runtime.long_work import collector_paused

GameBlock = GameRows | GameColumns
MAX_DIFFERENCES = 50_000  # stored of one import: one batch of corrections has 100,000 rows
MAX_NEW_POOLS = 64  # of one import: a file that names more is no file of games
MAX_REASONS = 40  # reasons to leave games out that are named one by one
SLICE = 8_192  # games that become Python objects at a time: memory is used again while it is still in the cache
_NAME = re.compile(NAME_PATTERN, re.ASCII)
_OF_PAIRING = frozenset({"opponent", "colour"})


@attrs.define
class ImportReport(FaultsFound):
    """The outcome of an import of games.

    Attributes:
        recorded: newly recorded games.
        played: the number of rated ones by pool, tournament and day, and *sides* of these if a pool has guests.
        entrants: the reported entrants of tournaments, recorded now or before.
        repeated: games that were recorded before with all reported facts.
        supplemented: games that were recorded before and got more facts.
        last_key: key of the last game taken: recorded, repeated or supplemented; None without one.
        rounds: newly recorded rounds without a game.
        rounds_repeated: rounds without a game that were recorded before.
        statements: new statements about entrants, tournaments and players.
        newcomers: identity and name of new players, in the order of their numbers.
        kept_names: renamed players whom the file calls by another name: they keep the present one.
        left_out: games left out for a reason that is no mistake, by the reason; the rarer variants in one.
        new_pools: new pools.
        alike: probable duplicates that were held back, the first ``KEPT_FAULTS``.
        alike_count: number of games held back.
        notes: recorded games to look at, with their lines and the reason, the first ``KEPT_FAULTS``.
        note_count: number of such games.
        warnings: warnings about a tournament report, by line.
        accepted: the codes of warnings that the importer accepted.
        is_awaiting: True if nothing is recorded but the acceptance, because four eyes ask for another person's.
        differences: games that the file reports with other facts than the current ones, if the caller asked for them;
            else they are faults.
        number: of the import in the register of imports; None if it recorded nothing, or is of no file.
        faults, fault_count: refused games.
    """

    recorded: int = 0
    played: Counter[PlayedDay] = attrs.Factory(Counter)
    sides: list[PlayedSides] = attrs.Factory(list)
    entrants: list[PlayerEntered] = attrs.Factory(list)
    repeated: int = 0
    supplemented: int = 0
    last_key: str | None = None
    rounds: int = 0
    rounds_repeated: int = 0
    statements: int = 0
    newcomers: list[tuple[str, str]] = attrs.Factory(list)
    kept_names: int = 0
    left_out: Counter[str] = attrs.Factory(Counter)
    new_pools: list[str] = attrs.Factory(list)
    alike: list[ProbableDuplicate] = attrs.Factory(list)
    alike_count: int = 0
    notes: list[FileFault] = attrs.Factory(list)
    note_count: int = 0
    warnings: list[ReportFinding] = attrs.Factory(list)
    accepted: frozenset[str] = frozenset()
    is_awaiting: bool = False
    differences: list[Difference] = attrs.Factory(list)
    number: int | None = None

    def differ(self, difference: Difference) -> None:
        """Store a game that the file reports with other facts than the current ones.

        Past the limit it is a fault.
        """
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(difference)
        else:
            self.fault(difference.line, difference.message)

    def take_findings(self, findings: Iterable[ReportFinding], accepted: frozenset[str]) -> None:
        """Store the findings of the checks of a report: errors are faults."""
        self.accepted = accepted
        for finding in findings:
            match finding.severity:
                case Severity.ERROR:
                    self.fault(finding.line, finding.words)
                case Severity.WARNING:
                    self.warnings.append(finding)
                case Severity.NOTE:
                    self.note([FileFault(finding.line, finding.words)])

    @property
    def unaccepted(self) -> list[str]:
        """The codes of warnings that nobody accepted: they stop the report."""
        return sorted({finding.code for finding in self.warnings} - self.accepted)

    @property
    def ok(self) -> bool:
        """True if there is no fault, and no warning that nobody accepted, or that another person has to accept."""
        return not (self.fault_count or self.unaccepted or self.is_awaiting)

    @property
    def adds_games(self) -> bool:
        """True if there is anything new in the file."""
        return bool(self.recorded or self.supplemented or self.rounds)

    @property
    def players(self) -> int:
        """The number of new players."""
        return len(self.newcomers)

    @property
    def counts(self) -> ImportCounts:
        """The numbers of facts that were recorded so far."""
        return ImportCounts(
            games=self.recorded,
            rounds=self.rounds,
            players=self.players,
            supplements=self.supplemented,
            statements=self.statements,
        )

    def hold_back(self, games: list[ProbableDuplicate]) -> None:
        """Note probable duplicates."""
        self.alike_count += len(games)
        self.alike += games[: max(KEPT_FAULTS - len(self.alike), 0)]

    def note(self, notes: list[FileFault]) -> None:
        """Store notes."""
        self.note_count += len(notes)
        self.notes += notes[: max(KEPT_FAULTS - len(self.notes), 0)]

    def leave_out(self, variant: str, count: int, *, by_limits: bool = False) -> None:
        """Count games of a variant that has no pool; *by_limits*: FIDE's limits choose it."""
        control = "no time control that FIDE rates" if by_limits else "no time control"
        reason = control if variant == "standard" else f"variant {variant}"
        has_room = reason in self.left_out or len(self.left_out) < MAX_REASONS
        self.left_out[reason if has_room else "other variants"] += count

    def undone(self) -> ImportReport:
        """Return the report of an import whose transaction was undone: faults and probable duplicates remain."""
        return ImportReport(
            faults=self.faults,
            fault_count=self.fault_count,
            left_out=self.left_out,
            alike=self.alike,
            alike_count=self.alike_count,
            warnings=self.warnings,
            accepted=self.accepted,
            is_awaiting=self.is_awaiting,
            differences=self.differences,
        )


class GameImport:
    """One import of games into one journal: it caches players and pools."""

    def __init__(
        self,
        names: VerifiedNames,
        keys: DerivedKeys,
        facts: CurrentFacts,
        views: Views,
        erased: ErasedPlayerMatcher,
        scheme: SchemeAdopted,
        choice: PoolChoice,
        actor: str,
        clock_ms: Callable[[], int],
        *,
        record_alike: bool,
        keep_differences: bool,
        notes: ImportNotes | None = None,
    ) -> None:
        """Prepare an import.

        Args:
            names: gives the players' numbers.
            keys: makes the keys of games whose source gave none.
            facts: the journal, with its facts after corrections.
            views: an index of recorded games.
            erased: matches games with recorded ones of erased players.
            scheme: the scheme that a new pool adopts.
            choice: assigns pools to games.
            actor: the importer.
            clock_ms: milliseconds since 1970, read once a transaction.
            record_alike: record probable duplicates as games of their own.
            keep_differences: a game reported with other facts than the current ones is no fault but stored in the
                report.
            notes: take the entries of each transaction, for the register of imports; None: it is no file.
        """
        self._notes = notes
        self._journal = facts.journal
        self._facts = facts
        self._keep_differences = keep_differences
        self._names = names
        self._erased = erased
        self._keys = keys
        self._detector = (
            None
            if record_alike
            else DuplicateDetector(facts.journal, names.file, ViewsGameIndex(views), facts.taken_back_games)
        )
        self._views = views
        self._warnings = SeedWarnings(views)
        self._choice = choice
        self._scheme = scheme
        self._actor = actor
        self._clock_ms = clock_ms
        self._numbers: dict[str, int] = {}
        self._version = names.file.version()
        self._pools: set[str] = set()
        self._met_repeats = False
        self._published: PublishedListRule | None = None  # under four eyes
        self._reported = ReportedEntries()
        self._report = ImportReport()

    def import_blocks(
        self,
        blocks: Iterable[GameBlock],
        *,
        strict: bool,
        faults_so_far: Callable[[], int],
        advance: Callable[[int], None],
        rounds: Callable[[], Sequence[SourceRound]],
        reports: Callable[[], Sequence[SourceReport]] = tuple,
        check: ReportCheck | None = None,
    ) -> ImportReport:
        """Record blocks of games in order, then the rounds without a game and other facts; return the report.

        Args:
            blocks: the games of one file.
            strict: one transaction for all; any fault leaves the journal as it was. Else each block has its own.
            faults_so_far: returns the number of the importer's faults; with *strict* they count.
            advance: called with the number of games of each block taken.
            rounds: returns the rounds without a game of the source; called when this is read to its end.
            reports: returns the entrants and other facts of its tournaments, likewise.
            check: the checks of a tournament report, which is read to its end first, and is recorded whole or not at
                all; None for other files.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        # before the lock, under which the views may not catch up
        if late_facts.are_four_eyes_on(self._journal.find):
            pools = published_pools(self._facts)
            self._published = PublishedListRule(self._views.connection, pools) if pools else None
        awaited: list[WarningsAccepted] = []
        if check is not None:
            strict, blocks = True, list(blocks)
            self._report.take_findings(check.find(reports()), check.accepted)
            awaited = [] if check.is_trial else self._accepted_by_one(reports())
        with suppress(_NothingRecordedError):
            with self._journal.writing() if strict else nullcontext() as file_writer:
                for games in blocks:
                    with self._transaction(file_writer) as transaction, collector_paused():
                        self._take(games, transaction)
                    advance(len(games))
                if source_rounds := rounds():
                    with self._transaction(file_writer) as transaction:
                        self._take_rounds(source_rounds, transaction)
                if source_reports := reports():
                    with self._transaction(file_writer) as transaction:
                        self._take_reports(source_reports, transaction)
                is_stopped = check is not None and not check.is_trial and self._report.unaccepted
                is_faulty = self._report.fault_count or faults_so_far() or is_stopped
                self._report.is_awaiting = bool(awaited and self._report.adds_games and not is_faulty)
                if strict and (is_faulty or self._report.is_awaiting):
                    raise _NothingRecordedError  # only an exception undoes the transaction
            return self._report
        if self._report.is_awaiting:
            with self._transaction(None, is_noted=False) as transaction:
                find = transaction.writer.find
                for event in awaited:
                    if not any(_accepts(stored, event) for stored in _earlier(event, find)):
                        transaction.append([_numbered(event, find)])
        return self._report.undone()

    def _accepted_by_one(self, reports: Sequence[SourceReport]) -> list[WarningsAccepted]:
        """Return the acceptances that nobody else has given, if four eyes ask for two people."""
        find = self._journal.find
        if not late_facts.need_warnings_two_people(find):
            return []
        named = {report.line: self._choice.pool_of(report.variant, report.speed) for report in reports}
        pools = {line: pool for line, pool in named.items() if pool is not None}
        return [
            event
            for event in self._acceptances([report for report in reports if report.line in pools], pools)
            if not any(_accepts(stored, event, but_of=self._actor) for stored in self._acceptances_of(event))
        ]

    def _acceptances_of(self, event: WarningsAccepted) -> Iterator[StoredEntry]:
        """Yield the recorded acceptances of a report; those of an import that was taken back count no longer."""
        entries = list(_earlier(event, self._journal.find))
        taken_back = self._facts.taken_back_entries([entry.position for entry in entries])
        yield from (entry for entry in entries if entry.position not in taken_back)

    @contextmanager
    def _transaction(self, file_writer: Writer | None, *, is_noted: bool = True) -> Iterator[Transaction]:
        """Begin a transaction, or a part of the one of the whole file, which the register of imports notes."""
        with nullcontext(file_writer) if file_writer is not None else self._journal.writing() as writer:
            transaction = Transaction.begin(writer, self._clock_ms, self._actor)
            first, before = writer.size + 1, self._report.counts
            yield transaction
            if is_noted and self._notes is not None and writer.size >= first:
                counts = self._report.counts - before
                self._notes.add(transaction.recorded_at, first, writer.size, transaction.last_leaf, counts)
                self._report.number = self._notes.number

    def _take_rounds(self, rounds: Sequence[SourceRound], transaction: Transaction) -> None:
        """Append rounds without a game; players without a game are registered."""
        housed = self._housed(transaction, self._with_pools(GameRows([round_._asdict() for round_ in rounds])))
        pools = {row["line"]: row["pool"] for row in housed.rows()}
        kept = [round_ for round_ in rounds if round_.line in pools]
        named = {round_.player_id: round_.player_name for round_ in kept}
        opponents = {round_.opponent_id: round_.opponent_name or "" for round_ in kept if round_.opponent_id}
        self._number_players(transaction, {**opponents, **named})
        events: dict[SourceRound, RoundWithoutGame] = {}
        by_place: dict[str, list[RoundWithoutGame]] = {}
        for round_ in kept:
            try:
                event = self._round_event(round_, pools[round_.line])
                of_place = by_place.setdefault(event.place, [])
                events[round_] = self._facts.recorded_round(event, of_place)
                of_place.append(events[round_])
            except MalformedError as error:
                self._report.fault(round_.line, "; ".join(error.problems))
            except RejectedError as error:
                self._report.fault(round_.line, str(error))
        self._append_rounds(transaction, events)

    def _round_event(self, round_: SourceRound, pool: str) -> RoundWithoutGame:
        return RoundWithoutGame(
            pool=pool,
            tournament=round_.tournament,
            edition=round_.edition,
            round=round_.round,
            player=self._numbers[round_.player_id],
            brings=Brings(round_.brings),
            half_points=round_.half_points,
            opponent=None if round_.opponent_id is None else self._numbers[round_.opponent_id],
            colour=None if round_.colour is None else Colour(round_.colour),
        )

    def _append_rounds(self, transaction: Transaction, events: Mapping[SourceRound, RoundWithoutGame]) -> None:
        """Append those that are new; one that contradicts the journal or the file is a fault."""
        stored = transaction.writer.find([event.key for event in events.values()])
        facts_by_key = {key: rules.facts_of(entry) for key, entry in stored.items()}
        entries = Entries(transaction)
        # a tournament may begin with a bye
        pools = self._adopt(entries, {event.pool for event in events.values()})
        for round_, event in events.items():
            facts = codec.facts_mapping(event)
            if event.key not in facts_by_key:
                facts_by_key[event.key] = facts
                entries.add(event)
                continue
            # Earlier releases did not record with whom a round was paired.
            before = facts_by_key[event.key]
            facts = {name: value for name, value in facts.items() if name in before or name not in _OF_PAIRING}
            try:
                rules.check_repeat(RoundWithoutGame, event.key, before, facts)
                self._report.rounds_repeated += 1
            except RejectedError as error:
                self._report.fault(round_.line, str(error))
        self._report.rounds += len(entries.append()) - len(pools)
        self._note_new(pools)

    def _take_reports(self, reports: Sequence[SourceReport], transaction: Transaction) -> None:
        """Append the entrants of tournaments, data about them, and what else reports state; register idle entrants."""
        rows, _ = GameRows([report._asdict() for report in reports]).with_pools(self._choice)
        housed = self._housed(transaction, rows)
        pools = {row["line"]: row["pool"] for row in housed.rows()}
        kept = [report for report in reports if report.line in pools]
        self._append_acceptances(transaction, kept, pools)
        kept = [report for report in kept if report.tournament and report.is_stated]
        entrants = {entrant.player_id: entrant.player_name for report in kept for entrant in report.entrants}
        if self._report.alike_count:  # who is new may be a known player under another name: nobody is registered
            entrants = {each: entrants[each] for each in self._names.file.by_identity(list(entrants))}
        self._number_players(transaction, entrants)
        kept = [
            report._replace(entrants=tuple(each for each in report.entrants if each.player_id in self._numbers))
            for report in kept
        ]
        entries = Entries(transaction)
        new_pools = self._adopt(entries, set(pools.values()))
        entries.append()
        self._note_new(new_pools)
        recorder = ReportRecorder(transaction, self._facts, self._names, self._numbers)
        size = transaction.writer.size
        for report in kept:
            self._report.entrants += recorder.record(report, pools[report.line])
        self._report.statements += transaction.writer.size - size

    def _append_acceptances(
        self, transaction: Transaction, reports: Sequence[SourceReport], pools: Mapping[int, str]
    ) -> None:
        """Append an acceptance of the warnings about each report, if it brings anything new."""
        if self._report.adds_games:
            for event in self._acceptances(reports, pools):
                transaction.append([_numbered(event, transaction.writer.find)])

    def _acceptances(self, reports: Sequence[SourceReport], pools: Mapping[int, str]) -> Iterator[WarningsAccepted]:
        """Yield the acceptance of the warnings about each report."""
        lines = sorted(report.line for report in reports)
        for report in reports:
            following = next((line for line in lines if line > report.line), None)
            codes = [
                finding.code
                for finding in self._report.warnings
                if finding.line >= report.line and (following is None or finding.line < following)
            ]
            if codes:
                yield WarningsAccepted(
                    pool=pools[report.line],
                    tournament=report.tournament or None,
                    edition=report.edition,
                    number=1,
                    codes=" ".join(sorted(set(codes))),
                    warnings=len(codes),
                )

    def _adopt(self, entries: Entries, pools: Collection[str]) -> list[str]:
        """Add the ledger's scheme for each pool that has none yet; return these pools."""
        # Sorted, for Python orders a set of texts otherwise in each process: the same import gives the same entries.
        new_pools = sorted(set(pools) - self._pools)
        for pool in new_pools:
            entries.add(attrs.evolve(self._scheme, pool=pool))
        return new_pools

    def _note_new(self, pools: list[str]) -> None:
        self._report.new_pools += pools
        self._pools.update(pools)

    def _take(self, games: GameBlock, transaction: Transaction) -> None:
        """Append games of one block."""
        find, size = transaction.writer.find, transaction.writer.size
        # An import may take an hour, in which a player may be erased: a cached number is then invalid.
        if (version := self._names.file.version()) != self._version:
            self._version = version
            self._numbers.clear()
            self._erased.forget()
        games = self._keys.with_keys(self._with_pools(games), find)
        # Before pools are made and players registered: a game that is held back adds neither.
        if self._detector is not None and len(games):
            games, repeats = self._detector.split_off_duplicates(games, find, size)
            games, nameless = self._erased.split_off_duplicates(games, find)
            self._report.hold_back(sorted([*repeats, *nameless]))
        games = self._housed(transaction, games)
        if not len(games):
            return
        # In the order of the file, in which new players get their numbers: the same file gives the same numbers.
        named = games.players()
        self._number_players(transaction, named)
        games = games.as_events({identity: self._numbers[identity] for identity in named})
        games = self._without_faults(transaction, games)
        for part in games.slices(SLICE):
            self._append(transaction, part)

    def _with_pools(self, games: GameBlock) -> GameBlock:
        """Return the games that have a pool, with it; others are left out and counted."""
        games, homeless = games.with_pools(self._choice)
        for variant, count in homeless.items():
            self._report.leave_out(variant, count, by_limits=self._choice.pool == BY_TIME_CONTROL)
        return games

    def _housed(self, transaction: Transaction, games: GameBlock) -> GameBlock:
        """Return the games whose pool exists or can be made; the others are faults."""
        met = set(games.column("pool")) - self._pools
        named = sorted(pool for pool in met if _NAME.fullmatch(pool))
        keys = {pool: attrs.evolve(self._scheme, pool=pool).key for pool in named}
        entries = transaction.writer.find([*keys.values()])
        self._pools.update(pool for pool, key in keys.items() if key in entries)
        new_pools = [pool for pool in named if pool not in self._pools]
        room = MAX_NEW_POOLS - len(self._report.new_pools)
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
            self._report.fault(line, fault)
        return games.keep([pool not in refused_pools for pool in games.column("pool")])

    def _number_players(self, transaction: Transaction, named: Mapping[str, str]) -> None:
        """Look up the numbers of players by identity and name; new ones are registered."""
        fresh = {identity: name for identity, name in named.items() if identity not in self._numbers}
        if fresh:
            registration = register(transaction, self._names, fresh)
            self._report.newcomers += [(person.identity or "", person.name or "") for person in registration.new]
            self._report.kept_names += registration.kept_names
            self._numbers.update((identity, person.player) for identity, person in registration.persons.items())

    def _without_faults(self, transaction: Transaction, games: GameBlock) -> GameBlock:
        """Leave out the games that are no events or may not follow; each becomes a fault with its line."""
        recorded, parts = games.doubtful(transaction.now_ms)
        faulty = {place for part in parts for place in self._refused(transaction, part, recorded)}
        return games.keep([place not in faulty for place in range(len(games))]) if faulty else games

    def _refused(self, transaction: Transaction, games: Sequence[Judged], recorded: dict[str, int]) -> Iterator[int]:
        """Yield the places of the games that cannot be taken; each becomes a fault.

        *recorded* has, by key, the first place of a game that is recorded under it; accepted games are added.
        """
        keys = transaction.writer.find([event.key for _, _, event in games if isinstance(event, GameRecorded)])
        evidence = Evidence(Context.IMPORT, transaction.now_ms)
        for place, line, event in games:
            if isinstance(event, str):
                self._report.fault(line, event)
                yield place
                continue
            try:
                # A recorded key goes first: its game is a repeat or a contradiction, and no rule is applied.
                if recorded.get(event.game, place) >= place and event.key not in keys:
                    judge.check(event, evidence)
                    recorded[event.game] = place
            except RejectedError as error:
                self._report.fault(line, str(error))
                yield place

    def _append(self, transaction: Transaction, games: GameBlock, number: int = 1) -> None:
        """Append new games. Looking keys up first costs as much as hashing: it is tried without.

        Games whose made key is another game's are tried again under the next one, the *number*-th.
        """
        if len(games):
            self._report.last_key = games.row(len(games) - 1)["game"]
        # a repeat changes nothing, so that repeats come before the rule
        if not self._met_repeats and self._published is None:
            with suppress(KeyTakenError):
                self._append_all(transaction, games)
                return
        writer = transaction.writer
        matches = match_repeats(
            writer.find,
            games,
            writer.size + 1,
            self._pools,
            transaction.now_ms,
            self._reported,
            self._facts.corrected_game,
            self._erased.is_nameless,
            self._facts.taken_back_games,
        )
        # If one block had repeats the next one probably has them: the attempt that would fail is skipped.
        self._met_repeats = any(matches.known) or number > 1
        for fault in matches.faults:
            self._report.fault(*fault)
        for difference in matches.differences:
            if self._keep_differences:
                self._report.differ(difference)
            else:
                self._report.fault(difference.line, difference.message)
        refused = len(matches.faults) + len(matches.differences)
        self._report.repeated += sum(matches.known) - refused - len(matches.others) - len(matches.supplements)
        try:
            self._append_all(transaction, games.keep([not is_repeat for is_repeat in matches.known]))
            self._append_supplements(transaction, games, matches.supplements)
        except KeyTakenError as error:
            raise rules.inconsistent_keys(error) from error
        if matches.others and number < MOST:
            rows = {row for row, _, _ in matches.others}
            others = games.keep([row in rows for row in range(len(games))])
            self._append(transaction, self._keys.with_next_keys(others, number + 1, writer.find), number + 1)
        elif matches.others:
            for _, line, message in matches.others:
                self._report.fault(line, message)

    def _append_all(self, transaction: Transaction, fresh: GameBlock) -> None:
        entries = Entries(transaction)
        if self._published is not None:
            columns = zip(*(fresh.column(name) for name in NewGame._fields), strict=True)
            refusals = self._published.refusals(map(NewGame._make, columns), entries.next)
            lines = fresh.column("line")
            for place, refusal in refusals.items():
                self._report.fault(lines[place], str(refusal))
            fresh = fresh.keep([place not in refusals for place in range(len(fresh))])
        # A pool adopts the ledger's scheme with its first game, in one step: without an accepted game no pool is made.
        pools = self._adopt(entries, fresh.column("pool"))
        first = entries.next
        bodies = fresh.bodies(first, transaction.recorded_at, self._actor)
        entries.extend(GameRecorded.KIND, [f"game:{key}" for key in fresh.column("game")], bodies)
        self._report.recorded += len(entries.append()) - len(pools)
        self._report.played.update(fresh.played())
        if self._may_meet_guests:
            self._report.sides += _sides_of(fresh)
        self._reported.add(first, len(fresh))
        self._note_new(pools)
        self._report.note(self._warnings.of_games(fresh))
        if movetexts := fresh.movetexts():
            transaction.writer.store_texts(stored_texts.compressed_texts(movetexts))

    @cached_property
    def _may_meet_guests(self) -> bool:
        """True if in some pool players of other federations are guests."""
        entries = self._journal.find(list(self._journal.keys("scheme:", "scheme;"))).values()
        events = (codec.decode(entry.body).event for entry in entries)
        return any(isinstance(event, SchemeAdopted) and "federation" in event.settings for event in events)

    def _append_supplements(
        self, transaction: Transaction, games: GameBlock, supplements: list[tuple[int, GameSupplemented]]
    ) -> None:
        """Append the supplements of recorded games: rows of *games* and events."""
        self._report.supplemented += transaction.append(event for _, event in supplements)
        rows_with_texts = {row for row, event in supplements if event.text is not None}
        if rows_with_texts:
            movetexts = games.keep([row in rows_with_texts for row in range(len(games))]).movetexts()
            transaction.writer.store_texts(stored_texts.compressed_texts(movetexts))


def _sides_of(games: GameBlock) -> Iterator[PlayedSides]:
    """Yield the sides of the games that ``played`` counts."""
    rated = zip(games.column("rated"), games.column("termination"), strict=True)
    sides = zip(*(games.column(name) for name in PlayedSides._fields), strict=True)
    for (is_rated, termination), each in zip(rated, sides, strict=True):
        if is_rated and termination != Termination.UNPLAYED:
            yield PlayedSides._make(each)


def _numbered(event: WarningsAccepted, find: FindEntries) -> WarningsAccepted:
    """Return an acceptance with the next number of its report."""
    return attrs.evolve(event, number=event.number + sum(1 for _ in _earlier(event, find)))


def _earlier(event: WarningsAccepted, find: FindEntries) -> Iterator[StoredEntry]:
    """Yield the acceptances of a report that are recorded."""
    while stored := find([event.key]):
        yield stored[event.key]
        event = attrs.evolve(event, number=event.number + 1)


def _accepts(stored: StoredEntry, event: WarningsAccepted, *, but_of: str | None = None) -> bool:
    """Return whether a recorded acceptance is of as many warnings of the same codes, and of another person."""
    recorded = codec.decode(stored.body)
    assert isinstance(recorded.event, WarningsAccepted)  # keys of its family are of acceptances
    is_same = recorded.event == attrs.evolve(event, number=recorded.event.number)
    return is_same and (but_of is None or not same_person(recorded.actor, but_of))


class _NothingRecordedError(Exception):
    """Ends a strict import with a fault; the transaction is undone."""
