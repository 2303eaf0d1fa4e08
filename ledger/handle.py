"""An open ledger: journal, names and views as one object, which every package that asks or records receives.

It opens nothing, and knows no command, correction or publication; those take it whole. The clock is the caller's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

from ledger.auth.issued_tokens import IssuedTokens
from ledger.auth.token_store import TokenStore
from ledger.auth.tokens import Tokens
from ledger.book import judge
from ledger.book.assessment import RecordedEvent
from ledger.book.evidence import Context, CurrentFacts, Evidence
from ledger.book.rules_by_keys import ENTRY_POINTS
from ledger.book.timeline import Pool
from ledger.duplicates.erased_players import ErasedPlayerMatcher
from ledger.duplicates.game_keys import DerivedKeys
from ledger.errors import MalformedError, StorageError, UnknownNameError
from ledger.facts import codec
from ledger.facts.event_fields import SHA256_PATTERN
from ledger.facts.events import Event, GameRecorded, PlayerRegistered, SchemeAdopted
from ledger.facts.words import Receipt
from ledger.journal import Journal, late_facts, stored_texts
from ledger.journal.checkpoints import Checkpoints, refuse_another_history
from ledger.journal.listing import kind_marks, matching_bodies
from ledger.journal.scratch import ScratchJournal
from ledger.players import erasing, renaming
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.players.stores import open_stores, token_store_of
from ledger.players.verified_names import VerifiedNames, find_player
from ledger.ratings import queries
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import projectors_for
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.read_models import InstalledProjectors
from ledger.ratings.views import Views
from ledger.recording.import_register import ImportRegister
from ledger.recording.recorder import Gate, RecordedEvents, Recorder, Refused, Submission
from ledger.recording.seed_warnings import SeedWarnings
from ledger.recording.views_game_index import ViewsGameIndex
from ledger.runtime.calls import checked_methods
from ledger.runtime.ledger_files import journal_file, refuse_half_restored, sidecar
from ledger.runtime.long_work import Progress, no_progress
from ledger.runtime.nearest import expected_names
from ledger.runtime.owners import Owner

DEFAULT_ACTOR = "ledger"
_ASKS_EVERY = 0.1  # seconds


def utc_now() -> datetime:
    """Return the present time: the only look at a clock in the library."""
    return datetime.now(UTC)  # noqa: TID251  # the default of the callers


@checked_methods
class OpenLedger:
    """The parts of one ledger; they stay with the process and the thread that opened them.

    Attributes:
        path: the journal's file.
        names: the people file, each name compared with what the journal sealed.
        current_facts: the facts after corrections.
        clock: what time it is, in UTC.
        imports: the register of the imported files.
        checkpoints: the heads that were signed: to make them, and to be held against when the ledger is opened.
        token_store: the tokens' store, outside the journal.
        impacts: by proposal and entries, when it was asked what it would move, milliseconds since 1970, and the answer.
    """

    def __init__(
        self,
        path: str | Path,
        journal: Journal,
        people: People,
        views: Views,
        clock: Callable[[], datetime],
        token_store: TokenStore,
        files: ExitStack | None = None,
    ) -> None:
        """Take the parts of a ledger.

        Args:
            path: the journal's file.
            journal: the facts.
            people: who the players are.
            views: what follows from both.
            clock: what time it is, in UTC.
            token_store: the tokens' store, outside the journal.
            files: what ``close`` releases; by default the files of the parts.
        """
        self.path, self._owner = Path(path), Owner()
        self._journal, self._views, self.clock = journal, views, clock
        self.names = VerifiedNames(journal, people, ViewsGameIndex(views).highest_registered)
        self.current_facts = CurrentFacts(journal, views)
        self.imports = ImportRegister.of(path, journal)
        self.checkpoints = Checkpoints(path, journal)
        self.token_store, self._files = token_store, files
        self.impacts: dict[tuple[int, int], tuple[int, object]] = {}
        self._issued = IssuedTokens(journal)
        self._first: SchemeAdopted | None = None  # read once: the first entry of a journal stays what it is
        self._recorder = Recorder(journal, self.now_ms, self.current_facts)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        projectors: Sequence[ReadModel] | None = None,
        read_only: bool = False,
        follow: bool = True,
        clock: Callable[[], datetime] = utc_now,
    ) -> Self:
        """Open an existing ledger.

        If its last checkpoint does not fit the journal, it is opened for reading only, with a warning.

        Args:
            path: the journal's file.
            projectors: read models whose tables are to be made in addition to the ledger's; by default
                those that are built in. Which are kept is the ledger's rule (the policy ``read-models``), and what has
                a table keeps it: nothing is taken away by opening a ledger without a projector.
            read_only: never write the journal or the people.
            follow: whether answers are of all that the journal holds by then, for which the views are brought level;
                else nothing is written at all, and answers are of the entries that are folded into the views already.
            clock: what time it is, in UTC.

        Raises:
            StorageError: a file is missing, locked, or not ours.
            CorruptError: a file is damaged.
        """
        path = journal_file(path)
        refuse_half_restored(path)
        read_only = read_only or not follow
        journal, people = open_stores(path, read_only=read_only)
        # First: where the journal is of another history, nothing that waits may be brought to its end by what it says.
        refuse_another_history(path, journal)
        people.refusal = people.refusal or journal.refusal
        renaming.try_to_complete_pending(journal, people)
        erasing.try_to_complete_pending(journal, people, lambda: int(clock().timestamp() * 1000))
        ledger = cls._over(path, journal, people, projectors_for(projectors), clock)
        ledger.views.follows_journal = follow
        return ledger

    @classmethod
    def _over(
        cls,
        path: Path,
        journal: Journal,
        people: People,
        projectors: Sequence[ReadModel] | InstalledProjectors,
        clock: Callable[[], datetime],
    ) -> Self:
        views = Views(sidecar(path, "views"), projectors, journal)
        return cls(path, journal, people, views, clock, token_store_of(path, journal))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        # A command that fails after a commit looks as if it had recorded nothing.
        recorded = getattr(self._journal, "recorded", 0)
        if recorded and isinstance(error, Exception | KeyboardInterrupt):
            entries = "1 entry was" if recorded == 1 else f"{recorded:,} entries were"
            error.add_note(f"{self.path}: {entries} recorded before that, and {'stands' if recorded == 1 else 'stand'}")
        self.close()

    def close(self) -> None:
        """Release all files; a forked process has nothing to release.

        Raises:
            StorageError: another thread opened the ledger.
        """
        if self._owner.is_other_process:
            return
        if self._files is not None:
            self._files.close()
            return
        self.views.close_for_good()
        self.names.file.close()
        self.journal.close()

    # -- its parts -------------------------------------------------------------------------------------------------

    def refuse_other_threads(self) -> None:
        """Raise StorageError in another process or thread than the one that opened the ledger."""
        self._owner.refuse_others(str(self.path))

    @property
    def journal(self) -> Journal:
        """The journal of the ledger's facts.

        Raises:
            StorageError: another thread opened the ledger.
        """
        self.refuse_other_threads()
        return self._journal

    @property
    def views(self) -> Views:
        """The views that are derived from the facts.

        Raises:
            StorageError: another thread opened the ledger.
        """
        self.refuse_other_threads()
        return self._views

    @property
    def people(self) -> People:
        """The people file.

        At its first use, its two ends are compared with the journal's commitments.

        Raises:
            StorageError: it is the people file of another ledger, or one of the two rows was changed; or another
                thread opened the ledger.
        """
        self.refuse_other_threads()
        return self.names.people()

    @property
    def tokens(self) -> Tokens:
        """The tokens that authenticate actors, and the log of refusals."""
        self.refuse_other_threads()
        return Tokens(self.token_store, self._issued, self._recorder)

    def now_ms(self) -> int:
        """Return the present time in milliseconds since 1970."""
        return int(self.clock().timestamp() * 1000)

    # -- of one moment ---------------------------------------------------------------------------------------------

    def ensure_up_to_date(self, progress: Progress = no_progress) -> None:
        """Bring the views up to date before questions are asked.

        It does what ``Views.ensure_up_to_date`` does.
        """
        self.views.ensure_up_to_date(progress)

    def level(self, progress: Progress = no_progress) -> None:
        """Do what ``ensure_up_to_date`` does, for programs that call it by its earlier name."""
        self.ensure_up_to_date(progress)

    def wait_for(self, entry: int, within: float = 0.0, waiting: Callable[[int], None] = lambda _: None) -> None:
        """Wait until the journal has an entry, so that later answers include it.

        A server that leads now may not have an entry that another one acknowledged before it was lost.

        Args:
            entry: its position, such as that of a receipt from another node.
            within: seconds for it to come.
            waiting: called once, where it is not there yet, with the position of the last one that is.

        Raises:
            UnknownNameError: it is not there in time.
        """
        until, size = monotonic() + within, self.journal.size()
        if size < entry and within:
            waiting(size)
        while size < entry and monotonic() < until:
            sleep(_ASKS_EVERY)
            size = self.journal.size()
        if size < entry:
            waited = f", after {within:g} s, too" if within else ""
            raise UnknownNameError("entry", str(entry), f"the journal holds entries 1 to {size}{waited}")

    @contextmanager
    def read_snapshot(self, progress: Progress = no_progress) -> Iterator[int]:
        """Take all answers within the block from one read snapshot, and yield the journal position that it is of.

        The views are brought level first; then what others record meanwhile is not seen before the block ends. Every
        answer is such a block by itself; several answers that belong together are asked in one.

        Raises:
            StorageError: a file refuses.
            CorruptError: the views are damaged, or are not of this journal.
        """
        self.ensure_up_to_date(progress)
        with self.views.read_snapshot() as position:
            yield position

    @property
    def snapshot_journal(self) -> Journal:
        """The journal up to the entry that the open read snapshot is of; without a snapshot all of it."""
        # of what was known at an entry the journal ends there already, with the list that the question named
        if self.views.in_snapshot and not isinstance(self.journal, ScratchJournal):
            position = self.views.position()
            if position < self.journal.size():
                return ScratchJournal(self.journal, position)
        return self.journal

    # -- what everybody asks ---------------------------------------------------------------------------------------

    def first_scheme(self) -> SchemeAdopted:
        """The scheme adoption with which the ledger was made; StorageError if the journal does not begin with one."""
        self.refuse_other_threads()
        if self._first is None:
            event = next((codec.decode(bodies[0]).event for bodies in self.journal.read(0, 1)), None)
            if not isinstance(event, SchemeAdopted):
                why = "the journal does not begin with a scheme; it was never initialised"
                raise StorageError(str(self.path), why)
            self._first = event
        return self._first

    def first_pool(self) -> str:
        """The name of the ledger's first pool."""
        return self.first_scheme().pool

    def pool(self, name: str | None = None) -> Pool:
        """Return a pool of the views; by default the ledger's first one.

        Raises:
            UnknownNameError: there is no such pool.
        """
        pool_name = self.first_pool() if name is None else name
        pools = {pool.name: pool for pool in self.pools()}
        if pool_name not in pools:
            raise UnknownNameError("pool", pool_name, expected_names(pool_name, pools))
        return pools[pool_name]

    def pools(self) -> list[Pool]:
        """Return every pool with its timeline, in order of their first schemes."""
        with self.read_snapshot():
            return self.views.pools()

    def states(self, pool: Pool) -> PlayerStates:
        """Return the states of a pool's players, as ``Views.states`` does."""
        return self.views.states(pool)

    def player(self, player: str | int) -> Person:
        """Return the one player of a name, identity or number, verified against the journal's commitment.

        Who was merged into another player is that one.

        Raises:
            UnknownNameError: no player, or several: their identities are listed.
            StorageError: the journal registered another name under that number.
        """
        called = self.player_as_told(str(player))
        person = self.current_facts.person(called.player)
        return called if person == called.player else self.player_as_told(str(person))

    def player_as_told(self, player: str) -> Person:
        """Return the one player of a name, identity or number under the reported number, before merges."""
        return find_player(self.journal, self.names, player)

    def unseen(self, what: str, seen: int | None, size: int, *, despite_games: bool) -> str | None:
        """Return why something that was decided at fewer entries may not be recorded; None if it may.

        Args:
            what: was looked at, in words.
            seen: with how many entries; None if unknown.
            size: how many there are now, in the write transaction.
            despite_games: whether games may have come since, and players with them: where games are recorded all the
                time there is no moment without.
        """
        if seen is None or seen == size:
            return None
        if despite_games and seen < size:
            games = matching_bodies(self.journal, seen, size, kind_marks((GameRecorded, PlayerRegistered)))
            # An entry of any other kind is missing from the count.
            if sum(1 for _ in games) == size - seen:
                return None
        others = ", and not only games came" if despite_games else ""
        return f"{what} was looked at with {seen} entries, {size} are there now{others}; look again"

    @property
    def derived_keys(self) -> DerivedKeys:
        """The keys of games whose source gave none, derived with the ledger's secret."""
        return DerivedKeys(self.journal, self.names.file.secret)

    def catch_up_if_corrected(self) -> None:
        """Bring the views up to date if a file may repeat corrected games, or byes with another day."""
        if self.current_facts.has_proposals() or any(self.journal.keys("round:", "round;")):
            self.ensure_up_to_date()

    def erased_sides(self, keys: DerivedKeys | None = None) -> ErasedPlayerMatcher:
        """Return the matcher of a file's games with recorded games of erased players.

        The views catch up for it.
        """
        has_nameless = self.names.file.has_nameless()
        if has_nameless:
            # before the journal is written: views follow from what is committed
            self.ensure_up_to_date()

        def games_of(players: Iterable[int]) -> list[dict[str, Any]]:
            # the games of who is the first to be erased while a file is read are known by their keys alone
            if not has_nameless:
                return []
            numbers = json.dumps(sorted(players))
            return list(queries.fetch_dicts(self.views.connection, queries.EVERY_GAME_OF, (numbers,)))

        return ErasedPlayerMatcher(self.names.file, keys or self.derived_keys, games_of)

    def movetext(self, sha256: str) -> str | None:
        """Return the movetext stored under a game's ``text``, or None.

        Raises:
            MalformedError: it is no SHA-256.
        """
        if re.fullmatch(SHA256_PATTERN, sha256) is None:
            raise MalformedError([f"sha256 must be 64 hexadecimal digits, got {sha256[:80]!r}"])
        return stored_texts.movetext(self.journal, sha256)

    # -- recording -------------------------------------------------------------------------------------------------

    def check_early(self, event: Event, context: Context) -> None:
        """Refuse a fact with a new key before it is recorded: manual input, or a row of a file.

        Raises:
            RejectedError: as ``book.judge`` says.
        """
        judge.check(event, Evidence(context, self.now_ms(), facts=self.current_facts))

    def _record(self, batch: Sequence[Event], actor: str) -> list[Receipt]:
        """Record facts in one transaction: all, or none when one is refused.

        Raises:
            RejectedError: one of them may not follow what is there; ``key`` says which, ``rule`` names why.
        """
        if judge.need_views(batch) or late_facts.are_four_eyes_on(self.journal.find):
            # which games are rated or on a published list, and when they ended, only the views know
            self.ensure_up_to_date()
        return self._noted(self._recorder.append_many(batch, actor))

    def _record_each(self, games: Sequence[Submission]) -> list[Receipt | Refused]:
        """Record games in one transaction, as ``Recorder.append_each`` does; return each receipt, or the refusal."""
        if late_facts.are_four_eyes_on(self.journal.find):
            self.ensure_up_to_date()
        recorded, refused = self._recorder.append_each(games)
        receipts = iter(self._noted(recorded))
        return [refused[place] if place in refused else next(receipts) for place in range(len(games))]

    def _record_judged(self, gate: Gate, actor: str) -> list[Receipt]:
        """Record facts that have a door of their own, as ``Recorder.append_judged`` says."""
        self.refuse_other_threads()
        return self._noted(self._recorder.append_judged(gate, actor))

    def recorder_named(self, token: str | None, actor: str, unnamed: str = DEFAULT_ACTOR) -> str:
        """Return the recorder by a token and a name, or refuse a token that lacks the right."""
        return self.tokens.authenticate_recorder(token, actor, unnamed)

    def _noted(self, recorded: RecordedEvents) -> list[Receipt]:
        placed = zip(*recorded, strict=True)
        if ENTRY_POINTS.keys().isdisjoint(map(type, recorded.events)):  # of those it matters who recorded them
            self.views.note_recorded(
                RecordedEvent(receipt.position, event) for receipt, event in placed if event is not None
            )
        return SeedWarnings(self.views).noted(recorded)
