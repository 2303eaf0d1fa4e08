"""The ledger: one object over journal, people and views. Every program and command starts here.

It wires the layers together and reads the clock, at the edge; how a thing is done is the layers' business.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger import schemes
from ledger.book import judge
from ledger.book.evidence import Context, Evidence
from ledger.correcting.corrections import Corrections, RecordedProposal
from ledger.correcting.game_log import GameLog
from ledger.correcting.previews import Impact, Previews
from ledger.errors import MalformedError, RejectedError, StorageError, UnknownNameError
from ledger.facts import codec
from ledger.facts.changes import Change
from ledger.facts.events import Decision, Event, GameRecorded, PlayerRegistered, RoundWithoutGame, SchemeAdopted
from ledger.facts.source_games import SourceGame, SourceReport, SourceRound, excerpt, frame_schema
from ledger.facts.words import Receipt, Standing, TreeHead
from ledger.handle import DEFAULT_ACTOR, OpenLedger, utc_now
from ledger.imports.reading import FileHints
from ledger.journal import listing
from ledger.journal.listing import JournalEntry
from ledger.journal.scratch import ScratchJournal
from ledger.journal.settings_file import ServerPlace, SettingsFile
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.persons import Person
from ledger.players.sqlite_people import SqlitePeople
from ledger.players.stores import make_on_server, open_names
from ledger.policies.house_policies import HousePolicies
from ledger.publishing.publications import Publications
from ledger.publishing.sent_reports import SentReports
from ledger.questions import LedgerPlayer, LedgerTournament, person_of, rows_between
from ledger.ratings import past_views, queries, read_models
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import projectors_for
from ledger.recording import pool_choice
from ledger.recording.findings import ReportCheck
from ledger.recording.game_columns import blocks_of
from ledger.recording.game_import import GameBlock, GameImport, ImportReport
from ledger.recording.game_rows import GameRows
from ledger.recording.import_space import require_import_space
from ledger.recording.pool_choice import PoolChoice
from ledger.recording.recorder import STRANGERS_NAMED, Refused, Submission
from ledger.registering.registry import NewPlayer, Registry
from ledger.runtime import sqlite
from ledger.runtime.calls import checked_methods
from ledger.runtime.lazy import Lazy, sqlite_utils
from ledger.runtime.ledger_files import atomic_file, journal_file, refuse_half_restored, refuse_leftovers, sidecar
from ledger.runtime.long_work import IN_FLIGHT, PartMap, Progress, no_progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from polars import DataFrame
    from sqlite_utils import Database

    from ledger import backups
    from ledger.answers import player_details, predictions, rankings, report_comparisons
    from ledger.answers.crosstables import editions
    from ledger.answers.crosstables import listing as tournament_lists
    from ledger.answers.crosstables.listing import TournamentRow
    from ledger.answers.player_details import PlayerGroup
    from ledger.answers.predictions import Prediction
    from ledger.answers.rankings import RankingRow
    from ledger.audit import audit as audits
    from ledger.audit import server_findings
    from ledger.audit.audit import Verdict
    from ledger.imports import files, formats
else:
    # the readers of files take 0.15 s to load, and most ledgers are opened for questions
    files, formats = Lazy("ledger.imports.files"), Lazy("ledger.imports.formats")
    # a program that records needs no answers, and one that asks needs no audit
    audits, server_findings = Lazy("ledger.audit.audit"), Lazy("ledger.audit.server_findings")
    backups, editions = Lazy("ledger.backups"), Lazy("ledger.answers.crosstables.editions")
    tournament_lists = Lazy("ledger.answers.crosstables.listing")
    predictions, rankings = Lazy("ledger.answers.predictions"), Lazy("ledger.answers.rankings")
    report_comparisons = Lazy("ledger.answers.report_comparisons")
    player_details = Lazy("ledger.answers.player_details")


@checked_methods
class Ledger(OpenLedger):
    """A chess rating ledger on disk: ``club.db``, ``club.people.db`` and ``club.views.db``.

    It stays with the thread that opened it; threads that work at the same time open one each, as processes do.
    """

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        pool: str = "standard",
        scheme: str = "chessworld",
        settings: Mapping[str, int | bool | str] | None = None,
        actor: str = DEFAULT_ACTOR,
        clock: Callable[[], datetime] = utc_now,
        secret_of: str | Path | None = None,
        on_server: ServerPlace | None = None,
        projectors: Sequence[ReadModel] | None = None,
    ) -> Ledger:
        """Make a new ledger whose first pool is rated by *scheme* from the beginning.

        Args:
            path: the journal's file; the people and the views are files next to it.
            pool: name of the first pool.
            scheme: name of its scheme.
            settings: settings that differ from the scheme's defaults and ``for_new_pools``; decimals as text.
            actor: who makes it.
            clock: what time it is, in UTC.
            secret_of: another ledger, whose secret this one takes, so that the keys that both make of the same facts
                are the same, and so are all ratings; by default a new one.
            on_server: the server for journal and names; by default they are files. The settings next to
                the views say so then.
            projectors: as of ``open``.

        Raises:
            StorageError: a file exists already, or cannot be made; the people file of the other ledger is missing.
            RejectedError: no such scheme, or settings that it cannot work with.
            MalformedError: a name or a value that no journal may hold, as when any event is built.
        """
        # All checks come before the first file is made: a refusal then leaves no file.
        event = schemes.complete_adoption(SchemeAdopted(pool=pool, scheme=scheme, settings=dict(settings or {})))
        judge.check(event, Evidence(Context.WITHOUT_VIEWS, 0))
        codec.actor_json(actor)
        projectors_for(projectors)
        refuse_half_restored(path)
        if Path(path).exists():
            raise StorageError(str(path), "exists already; a journal is never overwritten")
        refuse_leftovers(path)
        path, people = journal_file(path), sidecar(path, "people")
        secret = None
        if secret_of is not None:
            with closing(open_names(journal_file(secret_of))) as other:
                secret = other.secret()
        if on_server is not None:
            with cls._over(path, *make_on_server(on_server, secret), (), clock) as made:
                made.append(event, actor=actor)
            # the settings appear last: before that there is no ledger here
            words = {"journal": on_server.address, "schema": on_server.schema, "durability": on_server.durability}
            SettingsFile(path).put(**words)
            return cls.open(path, clock=clock, projectors=projectors)
        if not people.exists():
            with atomic_file(people) as making:
                SqlitePeople.create(making, secret).close()
        elif not SqlitePeople.is_empty(people):
            # An empty one is from an ``init`` that was stopped before the journal appeared: this continues it.
            raise StorageError(str(people), "exists already, though the journal does not")
        elif secret is not None:
            with closing(SqlitePeople(people)) as empty:
                empty.adopt_secret(secret)
        # the journal appears last, with its scheme: before that there is no ledger
        with (
            atomic_file(path) as making,
            cls._over(making, SqliteJournal.create(making), SqlitePeople(people), (), clock) as made,
        ):
            made.append(event, actor=actor)
        # Opened again: the open files have their temporary names.
        return cls.open(path, clock=clock, projectors=projectors)

    @contextmanager
    def known_at(
        self, position: int, *, listed: int | None = None, keep: bool = True, progress: Progress = no_progress
    ) -> Iterator[Ledger]:
        """Yield the ledger as of an earlier entry, with the present names. Nothing is recorded.

        Args:
            position: the number of entries.
            listed: up to which entry lists had been published, for the list that followed from those entries; by
                default the same.
            keep: whether these views may be stored next to the journal for the next question, and stored ones used.
            progress: called as they are built.

        Raises:
            UnknownNameError: the journal has no so many entries, or the number is 0.
        """
        journal = self.journal
        if not 1 <= position <= journal.size():
            raise UnknownNameError("entry", str(position), f"the journal holds entries 1 to {journal.size()}")
        with past_views.open_views_known_at(
            self.path, self.views.kept(), journal, position, progress, keep=keep
        ) as past:
            then = ScratchJournal(journal, position if listed is None else listed)
            with _Borrowed(self.path, then, self.names.file, past, self.clock, self.token_store) as ledger:
                ledger.names = self.names  # the name of a player renamed since is committed by a later entry
                yield ledger

    # -- writing ---------------------------------------------------------------------------------------------------

    def append(self, event: Event, *, actor: str = DEFAULT_ACTOR, token: str | None = None) -> Receipt:
        """Record one fact durably, as ``append_many`` does."""
        return self.append_many([event], actor=actor, token=token)[0]

    def append_many(
        self, events: Iterable[Event], *, actor: str = DEFAULT_ACTOR, token: str | None = None
    ) -> list[Receipt]:
        """Record facts in one transaction: all, or none if one is refused; a token may name the actor.

        Raises:
            RejectedError: one of them may not follow what is there; ``key`` says which, ``rule`` names why.
            StorageError: a file refuses, or another thread opened the ledger.
        """
        self.refuse_other_threads()
        actor = self.recorder_named(token, actor)
        batch = self._stated(events)
        if registrations := [event for event in batch if isinstance(event, PlayerRegistered)]:
            self.names.check_registrations(registrations)
        return self._record(batch, actor)

    def append_each(self, submissions: Iterable[Submission]) -> list[Receipt | RejectedError | MalformedError]:
        """Record the facts that several people submit, each on its own; return a receipt or a refusal for each.

        Entries and refusals are those of ``append`` with one fact after another.
        Games that follow each other are recorded in one transaction, which makes many at once quick, with their moves
        where these are to be kept; any other fact has one of its own, for views may have to judge it.

        Raises:
            StorageError: a file refuses, or another thread opened the ledger; earlier facts stay recorded.
        """
        self.refuse_other_threads()
        submissions = list(submissions)
        if strangers := [submission for submission in submissions if not isinstance(submission, Submission)]:
            raise MalformedError(
                [f"{excerpt(thing)} is no Submission(event, actor)" for thing in strangers[:STRANGERS_NAMED]]
            )
        outcomes: list[Receipt | Refused] = []
        for is_game, run in groupby(submissions, lambda submission: type(submission.event) is GameRecorded):
            several = list(run)
            if is_game:
                outcomes += self._append_games(several)
                continue
            for submission in several:
                try:
                    outcomes.append(self.append(submission.event, actor=submission.actor, token=submission.token))
                except (RejectedError, MalformedError) as error:
                    outcomes.append(error)
        return outcomes

    def _append_games(self, games: Sequence[Submission]) -> list[Receipt | Refused]:
        named: dict[int, Submission] = {}
        refused: dict[int, Refused] = {}
        recorders: dict[tuple[str | None, str], str] = {}  # a name is authenticated once; each refusal is noted
        for place, game in enumerate(games):
            person = (game.token, game.actor)
            try:
                recorders[person] = recorders.get(person) or self.recorder_named(*person)
            except (RejectedError, MalformedError) as error:
                refused[place] = error
                continue
            named[place] = game._replace(actor=recorders[person])
        outcomes: dict[int, Receipt | Refused] = {**refused}
        if named:
            outcomes |= zip(named, self._record_each([*named.values()]), strict=True)
        return [outcomes[place] for place in range(len(games))]

    def _stated(self, events: Iterable[Event]) -> list[Event]:
        """Return facts of one transaction in the words in which they are recorded.

        An adoption has all its settings, unless it may repeat a recorded one: that keeps its words. So does a repeated
        round without a game.
        """
        batch: list[Event] = []
        rounds: dict[str, list[Event]] = {}
        for event in events:
            stated = event
            if isinstance(event, SchemeAdopted) and not self.journal.find([event.key]):
                stated = schemes.complete_adoption(event)
            elif isinstance(event, RoundWithoutGame):
                earlier = rounds.setdefault(event.place, [])
                stated = self.current_facts.recorded_round(event, earlier, catch_up=True)
                earlier.append(stated)
            batch.append(stated)
        return batch

    def register(
        self,
        identity: str,
        name: str,
        *,
        standing: Standing = Standing.FULL,
        declared_rating: int | None = None,
        birth_year: int | None = None,
        actor: str = DEFAULT_ACTOR,
        token: str | None = None,
    ) -> int:
        """Register a player and return the player number; a registered player keeps it.

        Raises:
            MalformedError: identity or name hold controls or are too long.
            RejectedError: the identity was registered with another name, standing, declared rating or year of birth.
            StorageError: the people file and the journal do not belong together.
        """
        return self.registry.add(
            identity,
            name,
            standing=standing,
            declared_rating=declared_rating,
            birth_year=birth_year,
            actor=actor,
            token=token,
        ).player

    def register_many(
        self,
        players: Iterable[tuple[str, str]],
        *,
        standing: Standing = Standing.FULL,
        actor: str = DEFAULT_ACTOR,
        token: str | None = None,
    ) -> list[int]:
        """Register players in one transaction, all or none, and return their numbers in the same order.

        Args:
            players: identity and name of each; who is registered already keeps the number.
            standing: that of all of them.
            actor: who registers them.
            token: authenticates the actor, if the role of a recorder is assigned.

        Raises: as ``register``; a MalformedError names the place of each player.
        """
        pairs = list(players)
        if strangers := [pair for pair in pairs if not isinstance(pair, tuple | list) or len(pair) != 2]:
            raise MalformedError(
                [f"{excerpt(thing)} is no pair of identity and name" for thing in strangers[:STRANGERS_NAMED]]
            )
        new_players = [NewPlayer(identity, name, standing) for identity, name in pairs]
        return [person.player for person in self.registry.add_many(new_players, actor=actor, token=token)]

    @property
    def registry(self) -> Registry:
        """The register of players: it adds players, with their history, and later data."""
        return Registry(self)

    @property
    def publications(self) -> Publications:
        """The published lists: to publish one, and to show each again as it was."""
        return Publications(self)

    @property
    def sent_reports(self) -> SentReports:
        """The recorder of reports that were sent; ``answers.sent_reports`` lists them."""
        return SentReports(self)

    @property
    def policies(self) -> HousePolicies:
        """The policies of this ledger: four eyes, complaints before publishing, upsets."""
        return HousePolicies(self)

    def rename(self, player: int, name: str, *, actor: str = DEFAULT_ACTOR, token: str | None = None) -> bool:
        """Give a player another name, as ``Registry.rename`` does; return False if the player has it already."""
        return self.registry.rename(player, name, actor=actor, token=token).recorded

    def erase(self, player: int, *, actor: str = DEFAULT_ACTOR, token: str | None = None) -> bool:
        """Erase a player's personal data for good, as ``Registry.erase`` does; return False if there were none."""
        return self.registry.erase(player, actor=actor, token=token)

    def import_games(
        self,
        frames: Iterable[DataFrame],
        *,
        choice: PoolChoice | None = None,
        strict: bool = False,
        record_alike: bool = False,
        keep_differences: bool = False,
        actor: str = "import",
        token: str | None = None,
        faults_so_far: Callable[[], int] = lambda: 0,
        advance: Callable[[int], None] = lambda _: None,
        rounds: Callable[[], Sequence[SourceRound]] = tuple,
        file: str | None = None,
        reports: Callable[[], Sequence[SourceReport]] = tuple,
        is_report: bool = False,
        accept: Collection[str] = (),
    ) -> ImportReport:
        """Record games that importers read, frame by frame; frames of one call are one file.

        Args:
            frames: frames in the columns of ``SourceGame``.
            choice: which pool a game goes to; by default the ledger's first pool.
            strict: one transaction for all; any fault leaves the journal as it was.
            record_alike: record probable duplicates of games under other keys as games of their own.
            keep_differences: a game reported with other facts than the current ones is no fault: the report keeps it,
                and ``correcting.verbs.proposing`` makes the corrections that would take the file's word.
            actor: who imports.
            token: authenticates the actor, if the role of a recorder is assigned.
            faults_so_far: how many faults the importer found; with *strict* they count.
            advance: called with the number of games of each frame taken.
            rounds: returns the rounds without a game of the file, as ``Reading.rounds``; called after its last game.
            file: the file's name for the register of imports, from which the import can be taken back; None: no file.
            reports: returns the other facts of the file about its tournaments, as ``Reading.reports``, likewise.
            is_report: True for a tournament report: it is checked against the ledger before anything is recorded, and
                recorded whole or not at all.
            accept: the codes of warnings about a report that do not stop it, of ``recording.findings.CHECKS``; the
                acceptance is recorded with the actor.

        Raises:
            MalformedError: *accept* has a code that is no warning's.
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together, or another thread opened the ledger.
        """
        blocks = blocks_of(map(_game_frame, frames))
        return self._import(
            blocks,
            choice,
            actor,
            token,
            strict=strict,
            record_alike=record_alike,
            keep_differences=keep_differences,
            faults_so_far=faults_so_far,
            advance=advance,
            rounds=rounds,
            file=file,
            reports=reports,
            check=report_comparisons.check_of_reports(self, choice, accept, is_report=is_report),
        )

    def record_games(
        self,
        games: Sequence[SourceGame],
        *,
        choice: PoolChoice | None = None,
        strict: bool = False,
        record_alike: bool = False,
        actor: str = "import",
        token: str | None = None,
    ) -> ImportReport:
        """Record a few games as ``import_games`` records those of a file, with the same arguments and errors."""
        blocks = [GameRows.of_source(games)]
        return self._import(blocks, choice, actor, token, strict=strict, record_alike=record_alike)

    def _import(
        self,
        blocks: Iterable[GameBlock],
        choice: PoolChoice | None,
        actor: str,
        token: str | None,
        *,
        strict: bool,
        record_alike: bool,
        keep_differences: bool = False,
        faults_so_far: Callable[[], int] = lambda: 0,
        advance: Callable[[int], None] = lambda _: None,
        rounds: Callable[[], Sequence[SourceRound]] = tuple,
        file: str | None = None,
        reports: Callable[[], Sequence[SourceReport]] = tuple,
        check: ReportCheck | None = None,
    ) -> ImportReport:
        self.refuse_other_threads()
        actor = self.recorder_named(token, actor, "import")
        self.catch_up_if_corrected()
        # new pools of an import adopt it
        first = schemes.complete_adoption(self.first_scheme(), stored=True)
        # names that are not in the index yet are read again for each frame: if they are many, they enter it first
        self.names.file.whole_names.catch_up()
        job = GameImport(
            self.names,
            self.derived_keys,
            self.current_facts,
            self.views,
            self.erased_sides(),
            first,
            choice or PoolChoice(pool=first.pool),
            actor,
            self.now_ms,
            record_alike=record_alike,
            keep_differences=keep_differences,
            notes=None if file is None else self.imports.begin(file, actor),
        )
        with self.names.registering():
            report = job.import_blocks(
                blocks,
                strict=strict,
                faults_so_far=faults_so_far,
                advance=advance,
                rounds=rounds,
                reports=reports,
                check=check,
            )
        # Once more, for the new players of this import enter the index now.
        self.names.file.whole_names.catch_up()
        return report

    def hints_for(self, said: FileHints | None, choice: PoolChoice | None, accept: Collection[str] = ()) -> FileHints:
        """Return the hints with which ``import_file`` reads a file.

        Args:
            said: what the caller says of the file.
            choice: which pool a game goes to; None: the ledger's first one, with which no time control is refused.
            accept: the codes of warnings that the caller accepts.
        """
        chosen = choice or PoolChoice(pool=self.first_pool())
        # a pool that the import makes adopts the scheme of the first one
        pools = {pool.name: pool for pool in self.pools()}
        scheme = (pools.get(chosen.pool) or self.pool()).scheme
        return pool_choice.hints_for(said, chosen, scheme, is_named=choice is not None, accepted=accept)

    def import_file(
        self,
        path: str | Path,
        *,
        fmt: str | None = None,
        said: FileHints | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        choice: PoolChoice | None = None,
        strict: bool = False,
        record_alike: bool = False,
        accept: Collection[str] = (),
        actor: str = "import",
        token: str | None = None,
        executor: Executor | None = None,
        in_flight: int = IN_FLIGHT,
        despite_disk: bool = False,
    ) -> ImportReport:
        """Record the games of a file, as the command ``import`` does; the report has the faults of file and games.

        Args:
            path: the file, also compressed.
            fmt: one of ``imports.files.FORMATS``; None: detected from the content.
            said: what the caller says of the file that it does not say itself, an ``imports.reading.FileHints``.
            encoding: the encoding of its text; None: UTF-8, or as the file says.
            sheet: of a workbook, the name of the sheet; None: the only one with cells.
            choice: which pool a game goes to; by default the ledger's first pool.
            strict: one transaction for all; any fault leaves the journal as it was.
            record_alike: record probable duplicates of games under other keys as games of their own.
            accept: the codes of warnings about a tournament report that do not stop it.
            actor: who imports.
            token: authenticates the actor, if the role of a recorder is assigned.
            executor: reads the parts of a large file in PGN or JSON lines; None: this process does. The journal is the
                same, but for the times of recording. Its processes, on whatever machine, need this release and no file:
                parts are sent to them, games come back. What it raises ends the import.
            in_flight: parts of 2 MiB that the executor has at once, at most; twice as many as it has cores will do.
            despite_disk: import though the disk seems to be too small for its games.

        Raises:
            MalformedError: no such format, encoding or warning.
            StorageError: the file cannot be read or holds no games, the disk lacks the space, or the executor broke; or
                as of ``import_games``.
            RejectedError: this machine's clock is behind the journal, or for want of a token.
        """
        if fmt is not None and fmt not in files.FORMATS:
            raise MalformedError([f"fmt must be one of {', '.join(files.FORMATS)}, got {fmt!r}"])
        try:
            name = None if encoding is None else files.encoding_name(encoding)
        except ValueError as error:
            raise MalformedError([str(error)]) from None
        with files.open_source(str(path), name, sheet) as source:
            reading = source.reading
            if fmt is None and (kind := files.foreign_kind(source.first)):
                raise StorageError(str(path), f"is {kind}")
            fmt = fmt or files.detect_format(source.first)
            if not despite_disk and sheet is None:
                without_moves = said is not None and said.without_moves
                require_import_space(
                    self.journal, self.views, [path], fmt=fmt, encoding=name, strict=strict, without_moves=without_moves
                )
            report = self.import_games(
                formats.read_game_frames(
                    source, fmt, self.hints_for(said, choice, accept), PartMap(executor, in_flight)
                ),
                choice=choice,
                strict=strict,
                record_alike=record_alike,
                actor=actor,
                token=token,
                faults_so_far=lambda: reading.fault_count,
                rounds=lambda: reading.rounds,
                file=str(path),
                reports=lambda: reading.reports,
                is_report=fmt in formats.REPORTS,
                accept=accept,
            )
        report.faults = sorted([*reading.faults, *report.faults])
        report.fault_count += reading.fault_count
        report.notes = sorted([*reading.notes, *report.notes])
        report.note_count += reading.note_count
        report.left_out += reading.skipped
        return report

    @property
    def corrections(self) -> Corrections:
        """The proposals and decisions about facts, and their recorder."""
        return Corrections(self)

    def propose(
        self, changes: Sequence[Change], *, reason: str, by: str | None = None, token: str | None = None
    ) -> RecordedProposal:
        """Record a proposal to correct facts, as ``Corrections.propose`` does."""
        return self.corrections.propose(changes, reason=reason, by=by, token=token)

    def preview(
        self, proposal: int | Sequence[Change], *, others_wait: float | None = None, at_most: float | None = None
    ) -> Impact:
        """Return the effects of an open proposal, or of changes, if approved now, as ``Corrections.preview`` does."""
        return self.corrections.preview(proposal, others_wait=others_wait, at_most=at_most)

    @contextmanager
    def as_if(self, proposal: int | Sequence[Change], *, apart: bool = False) -> Iterator[Ledger]:
        """Yield the ledger as after the approval of an open proposal, or of changes; nothing is recorded.

        Others read on for the length of the block, and wait to write. What is read by another connection or process
        (``query``, ``database``) is in the current state, unless *apart* is set.

        Args:
            proposal: the number of an open proposal, or changes that are not proposed yet.
            apart: on a copy of the views, which is made for the block and which other connections read, too; no command
                waits for it.

        Raises:
            ProposalError: it may not be approved, or they may not be proposed; all faults are listed.
        """
        with (
            Previews(self).as_if(proposal, apart=apart) as (views, journal),
            _Borrowed(self.path, journal, self.names.file, views, self.clock, self.token_store) as ledger,
        ):
            yield ledger

    def decide(
        self,
        proposal: int,
        decision: Decision,
        *,
        by: str | None = None,
        token: str | None = None,
        reason: str | None = None,
        seen: int | None = None,
        despite_games: bool = False,
    ) -> list[Receipt]:
        """Decide a proposal, as ``Corrections.decide`` does; a checkpoint follows."""
        receipts = self.corrections.decide(
            proposal, decision, by=by, token=token, reason=reason, seen=seen, despite_games=despite_games
        )
        if decision is Decision.APPROVED:
            self.checkpoints.after_commit()
        return receipts

    # -- deriving --------------------------------------------------------------------------------------------------

    def catch_up(self, progress: Progress = no_progress) -> int:
        """Bring the views up to date with the journal; return their position."""
        return self.views.catch_up(progress)

    def rebuild(self, progress: Progress = no_progress) -> int:
        """Rebuild the views from the journal alone; return their position."""
        return self.views.rebuild(progress)

    # -- asking ----------------------------------------------------------------------------------------------------

    def player(self, player: str | int) -> LedgerPlayer:
        """Return the one player of a name, identity or number; after a merge the player that remains.

        Raises:
            UnknownNameError: no player, or several: their identities are listed.
            StorageError: the journal registered another name under that number.
        """
        return LedgerPlayer.of(super().player(player), self)

    def tournament(self, name: str, *, pool: str | None = None, edition: str | None = None) -> LedgerTournament:
        """Return a tournament, to ask about.

        Args:
            name: the name that its games carry.
            pool: name of the pool; the first one by default.
            edition: a year, month or day of the edition; the last one by default.

        Raises:
            UnknownNameError: no game of the pool carries the name, or no such pool.
        """
        pool = pool or self.first_pool()
        editions.check_tournament_name(self, name, pool)
        return LedgerTournament(ledger=self, name=name, pool=pool, edition=edition)

    def tournaments(
        self,
        pool: str | None = None,
        *,
        search: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[TournamentRow]:
        """Return the tournaments of a pool, the latest first, a row for each edition, as the command of that name does.

        Args:
            pool: its name; the first pool by default.
            search: a part of the name, in upper or lower case.
            since: leave out what was over before this instant.
            until: leave out what began after it.
            limit: the number of editions; 0 or None: all.
            offset: the number of later editions that are left out.

        Raises:
            UnknownNameError: no such pool.
            MalformedError: *limit* or *offset* is below 0, or no such instant.
        """
        criteria = tournament_lists.TournamentSearch(
            since=since, until=until, text=search, limit=rows_between(limit, offset), offset=offset
        )
        return tournament_lists.tournaments(self, pool, criteria)

    def ranking(
        self,
        pool: str | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
        min_games: int = 1,
        active_days: int | None = None,
        at: str | None = None,
        since: str | None = None,
        since_list: str | None = None,
        group: PlayerGroup | None = None,
        details: bool = False,
    ) -> list[RankingRow]:
        """Return the ranking of a pool, best first, as the command ``ratings`` does.

        Args:
            pool: its name; the first pool by default.
            limit: the number of players; 0 or None: all.
            offset: the number of better players that are left out.
            min_games: leave out players with fewer rated games; 0: with those who have a rating of a list and no game.
            active_days: leave out players without a game in the last days before the instant.
            at: the end of this day, month or year; by default after the pool's last game.
            since: each row has the change since the end of this day.
            since_list: each row has the change since this published list.
            group: leave out players who are not in it, such as ``PlayerGroup(club="Ek SK")``.
            details: whether each row has percentile, class, strength and deviation.

        Raises:
            UnknownNameError: no such pool or published list.
            MalformedError: *limit* or *offset* is below 0, no such instant, or a list of another pool.
        """
        choice = rankings.RankingChoice(
            pool=pool,
            limit=rows_between(limit, offset),
            offset=offset,
            min_games=min_games,
            active_days=active_days,
            at=at,
            since=since,
            since_list=since_list,
            group=player_details.EVERYBODY if group is None else group,
        )
        return rankings.ranking(self, choice, details=details)

    def predict(
        self,
        player: str | int | Person,
        opponent: str | int | Person,
        *,
        pool: str | None = None,
        at: str | None = None,
    ) -> Prediction:
        """Return the rating changes of a win, a draw and a loss of the player, as the command ``predict`` does.

        Args:
            player: name, identity or number, or the player.
            opponent: the same of the opponent.
            pool: name of the pool; the first one by default.
            at: the end of this day, month or year; by default after all that is recorded.

        Raises:
            UnknownNameError: no such player or pool, or both are one person.
            MalformedError: no such day.
        """
        with self.read_snapshot():
            return predictions.predict(self, person_of(self, player), person_of(self, opponent), pool, at)

    def audit(
        self,
        *,
        since: TreeHead | None = None,
        journal_only: bool = False,
        lists: bool = False,
        progress: Progress = no_progress,
    ) -> Verdict:
        """Prove the files of the ledger, or name what is false in them, as the command ``audit`` does.

        Of a ledger on a server a copy is proven; foreign objects on the server are falsehoods, too.

        Args:
            since: a head that was kept elsewhere, ``TreeHead.parse`` reads it: all entries before it must be unchanged.
            journal_only: leave out names, texts and views.
            lists: compute each published list again, from the entries before it.
            progress: called with each step.

        Raises:
            StorageError: a file is missing, locked, or may not be read.
        """
        with backups.ledger_as_files(self.path, progress, with_views=not journal_only) as path:
            verdict = audits.audit(path, since=since, journal_only=journal_only, lists=lists, progress=progress)
        return server_findings.with_server_findings(verdict, self.path)

    # -- reading ---------------------------------------------------------------------------------------------------

    def head(self) -> TreeHead:
        """Return size and Merkle root of the journal: publish it, store it elsewhere, compare it later."""
        return self.journal.head()

    def people_row(self, player: int) -> Person | None:
        """Return a row of the people file without any check, for repairs; None if there is none."""
        return self.names.file.by_number([player]).get(player)

    def rows(self, table: str, where: str = "1", arguments: Sequence[object] = ()) -> Iterator[dict[str, Any]]:
        """Yield rows of a table of the up-to-date views (``games``, ``history``, ``players``, ...) as dictionaries.

        They are read on demand, all from the read snapshot of the first.

        Args:
            table: name of the table.
            where: an SQL condition, with ``?`` for arguments; may end with ``ORDER BY`` and ``LIMIT``.
            arguments: the values of the question marks.

        Raises:
            UnknownNameError: there is no such table.
            MalformedError: SQLite does not understand the condition.
            ProjectionError: a process without the plug-in of the table has gone on since it was up to date.
        """
        self.ensure_up_to_date()
        read_models.refuse_stale_table(self.views.connection, table, self.views.installed.broken)
        return queries.select_where(self.views.connection, table, where, arguments)

    def database(self) -> Database:
        """Return the up-to-date views as a read-only sqlite-utils database, for any question in SQL."""
        self.ensure_up_to_date()
        # By a connection of its own that cannot write: it executes any SQL.
        return sqlite_utils.Database(sqlite.connect(self.views.path, read_only=True, remedy=None))

    @property
    def game_log(self) -> GameLog:
        """The records, proposals and decisions about single games."""
        return GameLog(self)

    def log(self, game: str) -> list[JournalEntry]:
        """Return every journal entry about one game, in order: recorded, supplemented, proposed, decided.

        The game is looked up as ``find_game`` does. A proposal or decision has the text of its reason next to it.
        ``GameLog`` says which proposals concern a game.

        Raises:
            UnknownNameError: no such game, or several.
        """
        with self.read_snapshot():
            return self.game_log.entries(game)

    def entries(self, kind: str | None = None, last: int | None = None) -> Iterator[JournalEntry]:
        """Yield entries of the journal in order, read on demand.

        Args:
            kind: only those of this kind, with its version (``clock-accepted/1``) or without.
            last: only so many, the newest of them; 0 or None: all.

        Raises:
            UnknownNameError: there is no such kind.
            MalformedError: *last* is below 0.
        """
        if last is not None and last < 0:
            raise MalformedError([f"last is a number of entries, and 0 or None asks for all of them; got {last}"])
        return map(JournalEntry.of, listing.entry_bodies(self.journal, kind, last))


def _game_frame(frame: DataFrame) -> DataFrame:
    """Refuse any value that is no frame of games, such as the name of a file."""
    columns = frame_schema().keys() - {"is_made"}  # without it every key is the source's own
    missing = columns - set(getattr(frame, "columns", ()))
    if missing:
        advice = "import_file(path) reads files; a reader gives Polars frames in the columns of frame_schema()"
        what = f"has no {', '.join(sorted(missing))}" if len(missing) < len(columns) else "is no frame of games"
        raise MalformedError([f"{excerpt(frame)} {what}; {advice}"])
    return frame


class _Borrowed(Ledger):
    """A ledger that answers as of another state for the length of a block; its opener closes the files."""

    _is_over = False

    def close(self) -> None:
        """End the answers."""
        self._is_over = True

    def refuse_other_threads(self) -> None:
        """Refuse as every ledger does, and refuse every question after the block."""
        super().refuse_other_threads()
        if self._is_over:
            message = "is as it was known, or as it would be, within the block alone, which is over"
            raise StorageError(str(self.path), message)
