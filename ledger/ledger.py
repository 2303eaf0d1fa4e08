"""The ledger: one object over journal, people and views. Everything that a program or a command does starts here.

It wires the layers together and reads the clock, at the edge; how a thing is done is the layers' business.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import get_ident
from typing import TYPE_CHECKING, Any, Self

from ledger import schemes
from ledger.book.fresh import Placed
from ledger.correcting.corrections import Corrections, Proposed
from ledger.correcting.previews import Impact
from ledger.correcting.standing_games import StandingGames
from ledger.errors import StorageError
from ledger.facts import codec
from ledger.facts.changes import Change
from ledger.facts.correction_events import Decision
from ledger.facts.events import Event, PlayerRegistered, RoundWithoutGame, SchemeAdopted
from ledger.facts.source_games import SourceRound
from ledger.facts.words import Receipt, Standing, TreeHead
from ledger.house_policies import HousePolicies
from ledger.journal import erasing, renaming, rules
from ledger.journal.alike import AlikeGames
from ledger.journal.checkpoints import Checkpoints, refuse_another_history
from ledger.journal.erased_sides import ErasedSides
from ledger.journal.finding_players import player_found
from ledger.journal.import_frames import take_frames
from ledger.journal.issued_tokens import IssuedTokens
from ledger.journal.made_keys import MadeKeys
from ledger.journal.people import People, Person
from ledger.journal.recorder import Gate, Recorded, Recorder
from ledger.journal.recorder_columns import GameImport, ImportReport, PoolChoice
from ledger.journal.sealed_names import SealedNames
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.tokens import Tokens
from ledger.publications import Publications
from ledger.ratings import pasts, queries
from ledger.ratings.early_games import EarlyGames
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.keeping import AtHand
from ledger.ratings.like_games import LikeGames
from ledger.ratings.projectors import at_hand
from ledger.ratings.views import Views
from ledger.raw_reads import RawReads
from ledger.registry import NewPlayer, Registry
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside, journal_file, refuse_half_restored, refuse_leftovers
from ledger.runtime.progress import Progress, silent

if TYPE_CHECKING:
    from polars import DataFrame

DEFAULT_ACTOR = "ledger"


def utc_now() -> datetime:
    """What time it is: the only look at a clock in the library."""
    return datetime.now(UTC)


class Ledger(RawReads):
    """A chess rating ledger on disk: ``club.db``, ``club.people.db`` and ``club.views.db``.

    It stays with the thread that opened it; threads that work at the same time open one each, as processes do.

    Its ``checkpoints`` are the heads that were signed: to make them, and to be held against when it is opened.
    """

    def __init__(
        self, path: str | Path, journal: SqliteJournal, people: People, projectors: Sequence[ReadModel] | AtHand,
        clock: Callable[[], datetime],
    ) -> None:  # fmt: skip
        self.path, self._thread = Path(path), get_ident()
        self.journal = journal
        self.checkpoints = Checkpoints(path, journal)
        self._people = people
        self.views = Views(beside(path, "views"), projectors, journal)
        self._names = SealedNames(journal, people, lambda: LikeGames(self.views).highest_registered())
        self._aside: TemporaryDirectory[str] | None = None
        self._clock = clock
        self._issued = IssuedTokens(journal)
        self._standing = StandingGames(journal, lambda: self.views, self.level)
        self._recorder = Recorder(journal, self.now_ms, self._judge, self._standing.standing_now)

    @classmethod
    def create(
        cls, path: str | Path, *, pool: str = "standard", scheme: str = "chessworld",
        settings: Mapping[str, int | bool | str] | None = None, actor: str = DEFAULT_ACTOR,
        clock: Callable[[], datetime] = utc_now, secret_of: str | Path | None = None,
    ) -> Ledger:  # fmt: skip
        """Make a new ledger whose first pool is rated by *scheme* from the beginning.

        Args:
            path: the journal's file; the people and the views stand beside it.
            pool: name of the first pool.
            scheme: name of its scheme.
            settings: settings that differ from the scheme's defaults and ``for_new_pools``; decimals as text.
            actor: who makes it.
            clock: what time it is, in UTC.
            secret_of: another ledger, whose secret this one takes, so that the keys that both make of the same facts
                are the same, and so are all ratings; by default a new one.

        Raises:
            StorageError: a file exists already, or cannot be made; the people file of the other ledger is missing.
            RejectedError: no such scheme, or settings that it cannot work with.
            MalformedError: a name or a value that no journal may hold, as when any event is built.
        """
        event = schemes.in_full(SchemeAdopted(pool=pool, scheme=scheme, settings=dict(settings or {})))
        rules.check_new(event, frozenset(), 0)
        codec.seal_actor(actor)
        refuse_half_restored(path)
        if Path(path).exists():
            raise StorageError(str(path), "exists already; a journal is never overwritten")
        refuse_leftovers(path)
        path, people = journal_file(path), beside(path, "people")
        secret = None if secret_of is None else _secret_of(journal_file(secret_of))
        if not people.exists():
            with sqlite.whole(people) as making:
                People.create(making, secret).close()
        elif not People.is_empty(people):
            raise StorageError(str(people), "exists already, though the journal does not")
        elif secret is not None:
            with closing(People(people)) as empty:
                empty.take_secret(secret)
        with (  # the journal appears last, with its scheme: before that there is no ledger
            sqlite.whole(path) as making,
            cls(making, SqliteJournal.create(making), People(people), (), clock) as made,
        ):
            made.append(event, actor=actor)
        return cls.open(path, clock=clock)

    @classmethod
    def open(
        cls, path: str | Path, *, projectors: Sequence[ReadModel] | None = None, read_only: bool = False,
        clock: Callable[[], datetime] = utc_now,
    ) -> Ledger:  # fmt: skip
        """Open an existing ledger; for reading only, with a warning, where its last checkpoint does not fit it.

        Args:
            path: the journal's file.
            projectors: read models of which tables are to be made beside those that the ledger keeps; by default
                those that are built in. Which are kept is the ledger's rule (the policy ``read-models``), and what has
                a table keeps it: nothing is taken away by opening a ledger without a projector.
            read_only: never write the journal or the people.
            clock: what time it is, in UTC.

        Raises:
            StorageError: a file is missing, locked, or not ours.
            CorruptError: a file is damaged.
        """
        path = journal_file(path)
        refuse_half_restored(path)
        journal = SqliteJournal(path, read_only=read_only)
        people = People(beside(path, "people"), read_only=read_only)
        refuse_another_history(path, journal, people)
        renaming.settle_if_possible(journal, people)
        erasing.settle_if_possible(journal, people, lambda: int(clock().timestamp() * 1000))
        return cls(path, journal, people, at_hand(projectors), clock)

    def close(self) -> None:
        """Release all files.

        Raises:
            StorageError: another thread opened the ledger.
        """
        self.views.close()
        if self._aside is not None:
            self._aside.cleanup()
        self._people.close()
        self.journal.close()

    @property
    def people(self) -> People:
        """Who the players are. When it is first asked for, its two ends are compared with what the journal sealed.

        Raises:
            StorageError: it is the people file of another ledger, or one of the two rows was changed; or another
                thread opened the ledger.
        """
        self._refuse_other_threads()
        return self._names.people()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing ---------------------------------------------------------------------------------------------------

    def append(self, event: Event, *, actor: str = DEFAULT_ACTOR, token: str | None = None) -> Receipt:
        """Record one fact durably, as ``append_many`` does."""
        return self.append_many([event], actor=actor, token=token)[0]

    def append_many(
        self, events: Iterable[Event], *, actor: str = DEFAULT_ACTOR, token: str | None = None
    ) -> list[Receipt]:
        """Record facts in one transaction: all, or none when one is refused. Who does it, ``tokens.recorder`` says.

        Raises:
            RejectedError: one of them may not follow what is there; ``key`` says which, ``rule`` names why.
            StorageError: a file refuses, or another thread opened the ledger.
        """
        self._refuse_other_threads()
        actor = self.tokens.recorder(token, actor, DEFAULT_ACTOR)
        batch = [self._stated(event) for event in events]
        if registrations := [event for event in batch if isinstance(event, PlayerRegistered)]:
            self._names.check_registrations(registrations)
        return self._append(batch, actor)

    def _stated(self, event: Event) -> Event:
        """A fact in the words in which it is recorded.

        An adoption has all its settings, unless it may be one that stands already: that keeps its words. So does a
        round without a game that is told again.
        """
        if isinstance(event, SchemeAdopted):
            return event if self.journal.find([event.key]) else schemes.in_full(event)
        return self._standing.told_round_now(event) if isinstance(event, RoundWithoutGame) else event

    def _append(self, batch: Sequence[Event], actor: str) -> list[Receipt]:
        if not pasts.KINDS.isdisjoint(map(type, batch)) and any(map(pasts.may_be_late, batch)):
            self.level()  # which games are rated only the views know
        return self._noted(self._recorder.append_many(batch, actor))

    def _judge(self, event: Event) -> None:
        """What only the views know against a new fact."""
        pasts.judge(lambda: self.views.connection, self._pools, event)
        self._standing.refuse_meeting(event)

    def _append_judged(self, gate: Gate, actor: str) -> list[Receipt]:
        self._refuse_other_threads()
        return self._noted(self._recorder.append_judged(gate, actor))

    def _noted(self, recorded: Recorded) -> list[Receipt]:
        placed = zip(*recorded, strict=True)
        if rules.OWN_DOORS.keys().isdisjoint(map(type, recorded.events)):  # of those it matters who recorded them
            self.views.expect(Placed(receipt.position, event) for receipt, event in placed if event is not None)
        return EarlyGames(self.views).noted(recorded)

    def register(
        self, identity: str, name: str, *, standing: Standing = Standing.FULL, declared_rating: int | None = None,
        birth_year: int | None = None, actor: str = DEFAULT_ACTOR, token: str | None = None,
    ) -> int:  # fmt: skip
        """Register a player and return the player number; one who is registered already keeps it.

        Raises:
            MalformedError: identity or name hold controls or are too long.
            RejectedError: the identity was registered with another name, standing, declared rating or year of birth.
            StorageError: the people file and the journal do not belong together.
        """
        return self.registry.add(
            identity, name, standing=standing, declared_rating=declared_rating, birth_year=birth_year, actor=actor,
            token=token,
        ).player

    def register_many(
        self, players: Iterable[tuple[str, str]], *, standing: Standing = Standing.FULL, actor: str = DEFAULT_ACTOR,
        token: str | None = None,
    ) -> list[int]:  # fmt: skip
        """Register players in one transaction, all or none, and return their numbers in the same order.

        Args:
            players: identity and name of each; who is registered already keeps the number.
            standing: that of all of them.
            actor: who registers them.
            token: what proves it, where somebody holds the role of a recorder.

        Raises: as ``register``; a MalformedError names the place of each player.
        """
        newcomers = [NewPlayer(identity, name, standing) for identity, name in players]
        return [found.player for found in self.registry.add_many(newcomers, actor=actor, token=token)]

    @property
    def registry(self) -> Registry:
        """Who the players are and what is known of them: to add players, with their past, and what is learnt later."""
        return Registry(
            self.journal, self._names, self._append, self.level, lambda: self.views, self._pools,
            lambda: self.first_scheme().pool, self.now_ms,
            lambda token, actor: self.tokens.recorder(token, actor, DEFAULT_ACTOR),
        )  # fmt: skip

    @property
    def made_keys(self) -> MadeKeys:
        """What makes the keys of games whose source gave none."""
        return MadeKeys(self.journal, self._people.secret)

    @property
    def tokens(self) -> Tokens:
        """What proves who acts, where tokens are set up, and the log of what was refused."""
        return Tokens(beside(self.path, "tokens"), self.journal, self._issued, self._append_judged, self.now_ms)

    @property
    def publications(self) -> Publications:
        """The lists that were shown to the world: to publish one, to see each again as it was."""
        return Publications(
            self.path, self.journal_of_moment, lambda: self.people, self._append_judged, self.level,
            lambda: self.views, self.pool, self.checkpoints.after_commit, lambda: self.tokens,
        )  # fmt: skip

    @property
    def policies(self) -> HousePolicies:
        """The rules that this ledger gives itself: four eyes, what is complained of before publishing, upsets."""
        return HousePolicies(self.journal, self._append_judged, self.level, lambda: self.views, lambda: self.tokens)

    def rename(self, player: int, name: str, *, actor: str = DEFAULT_ACTOR, token: str | None = None) -> bool:
        """Give a player another name, as ``Registry.rename`` says; False where the player bears it already."""
        return self.registry.rename(player, name, actor=actor, token=token).recorded

    def erase(self, player: int, *, actor: str = DEFAULT_ACTOR, token: str | None = None) -> bool:
        """Forget who a player is, for good, as ``Registry.erase`` says; False where nothing was known any more."""
        return self.registry.erase(player, actor=actor, token=token)

    def import_games(
        self, frames: Iterable[DataFrame], *, choice: PoolChoice | None = None, strict: bool = False,
        record_alike: bool = False, keep_differences: bool = False, actor: str = "import", token: str | None = None,
        faults_so_far: Callable[[], int] = lambda: 0, advance: Callable[[int], None] = lambda _: None,
        rounds: Callable[[], Sequence[SourceRound]] = tuple,
    ) -> ImportReport:  # fmt: skip
        """Record games that importers read, frame by frame; frames of one call are one file.

        Args:
            frames: frames in the columns of ``SourceGame``.
            choice: which pool a game goes to; by default the ledger's first pool.
            strict: one transaction for all; any fault leaves the journal as it was.
            record_alike: what looks like a game that is known under another key is another game.
            keep_differences: a game that is told otherwise than it stands is no fault: the report keeps it, and
                ``correcting.batches.proposing`` makes the corrections that would take the file's word.
            actor: who imports.
            token: what proves it, where somebody holds the role of a recorder.
            faults_so_far: how many faults the importer found; with *strict* they count.
            advance: called with the number of games of each frame taken.
            rounds: the rounds without a game that the file tells, as ``Reading.rounds``, asked when it was read whole.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together, or another thread opened the ledger.
        """
        self._refuse_other_threads()
        actor = self.tokens.recorder(token, actor, "import")
        if self._standing.any_corrected() or any(self.journal.keys("round:", "round;")):
            self.level()  # games and byes may be told again as they stand after their corrections, or by another day
        first = schemes.in_full(self.first_scheme(), stored=True)  # what pools that an import meets adopt
        self._people.folds.bring_up()
        alike = None if record_alike else AlikeGames(self.journal, self._people, LikeGames(self.views))
        pools, notes_of = choice or PoolChoice(pool=first.pool), EarlyGames(self.views).of_frame
        standing = self._standing
        job = GameImport(
            self._names, self.made_keys, pools, first, actor, self.now_ms, alike, notes_of, standing.standing,
            keep_differences, self.erased_sides(), standing.told_round,
        )  # fmt: skip
        take_frames(
            self.journal, job, frames, strict=strict, faults_so_far=faults_so_far, advance=advance, rounds=rounds
        )
        self._people.folds.bring_up()
        return job.report

    def erased_sides(self, keys: MadeKeys | None = None) -> ErasedSides:
        """What the games of a file are to known ones of who was erased, for which the views are levelled."""
        if self._people.has_nameless():
            self.level()  # before the journal is written: views follow from what is committed

        def games_of(players: Iterable[int]) -> list[dict[str, Any]]:
            numbers = json.dumps(sorted(players))
            return list(queries.dictionaries(self.views.connection, queries.EVERY_GAME_OF, (numbers,)))

        return ErasedSides(self._people, keys or self.made_keys, games_of)

    def now_ms(self) -> int:
        """What time it is, milliseconds since 1970."""
        return int(self._clock().timestamp() * 1000)

    @property
    def corrections(self) -> Corrections:
        """What is proposed and decided about the facts, and what writes a proposal."""
        return Corrections(
            self.journal, lambda: self.people, self._append_judged, self.level, lambda: self.views,
            self._judge, self._player, lambda: self.first_scheme().pool, self.now_ms, self.publications.last_editions,
            lambda: self.tokens,
        )  # fmt: skip

    def propose(
        self, changes: Sequence[Change], *, reason: str, by: str | None = None, token: str | None = None
    ) -> Proposed:
        """Record a proposal to correct facts, as ``Corrections.propose`` says."""
        return self.corrections.propose(changes, reason=reason, by=by, token=token)

    def preview(self, wanted: int | Sequence[Change]) -> Impact:
        """What an open proposal, or changes, would move if approved now, as ``Corrections.preview`` says."""
        return self.corrections.preview(wanted)

    def decide(
        self, proposal: int, decision: Decision, *, by: str | None = None, token: str | None = None,
        reason: str | None = None, seen: int | None = None,
    ) -> list[Receipt]:  # fmt: skip
        """Decide a proposal, as ``Corrections.decide`` says; a checkpoint follows."""
        receipts = self.corrections.decide(proposal, decision, by=by, token=token, reason=reason, seen=seen)
        if decision is Decision.APPROVED:
            self.checkpoints.after_commit()
        return receipts

    # -- deriving --------------------------------------------------------------------------------------------------

    def catch_up(self, progress: Progress = silent) -> int:
        """Bring the views level with the journal; returns the position reached."""
        return self.views.catch_up(progress)

    def level(self, progress: Progress = silent) -> None:
        """Make sure that the views are level with the journal before questions are asked.

        Where they are behind and cannot be written (a read-only folder, another user's files) they are built aside,
        for as long as this ledger is open.

        Raises:
            CorruptError: the views are damaged, or are not of this journal.
        """
        if self.views.is_read or self.views.is_level():
            return  # what is read as of one moment stays as it is
        if self.views.can_be_written():
            self.catch_up(progress)
            return
        self.views.close()
        self._aside = TemporaryDirectory(prefix="ledger-aside-")
        self.views = Views(Path(self._aside.name) / "views.db", self.views.at_hand, self.journal)
        self.views.build_until(self.journal.size(), progress)

    def rebuild(self, progress: Progress = silent) -> int:
        """Build the views anew from the journal alone; returns the position reached."""
        return self.views.rebuild(progress)

    @contextmanager
    def moment(self, progress: Progress = silent) -> Iterator[int]:
        """Make all answers within the block answers of one moment, and give the journal's position that they are of.

        The views are brought level first; then what others record meanwhile is not seen before the block ends. Every
        answer is such a block by itself; whoever asks several that belong together asks them in one.

        Raises:
            StorageError: a file refuses.
            CorruptError: the views are damaged, or are not of this journal.
        """
        self.level(progress)
        with self.views.moment() as position:
            yield position

    # -- reading ---------------------------------------------------------------------------------------------------

    def head(self) -> TreeHead:
        """Size and Merkle root of the journal: publish it, keep it elsewhere, compare it later."""
        return self.journal.head()

    def player(self, wanted: str | int) -> Person:
        """The one player of that name, identity or number, compared with what the journal sealed.

        Who was merged into another player is that one.

        Raises:
            UnknownNameError: nobody, or several: their identities are listed.
            StorageError: the journal registered another name under that number.
        """
        found = self._player(str(wanted))
        person = self._standing.person(found.player)
        return found if person == found.player else self._player(str(person))

    def _player(self, wanted: str) -> Person:
        return player_found(self.journal, self._names, wanted)

    def people_row(self, player: int) -> Person | None:
        """A row of the people file as it stands, compared with nothing: for mending. None where there is none."""
        return self._people.by_number([player]).get(player)


def _secret_of(path: Path) -> bytes:
    with closing(People(beside(path, "people"))) as people:
        return people.secret()
