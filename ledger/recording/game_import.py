"""Many games into the journal: frames of source games to numbered players, judged, sealed and appended as columns.

A frame is a transaction, or all of a file are one. Columns say which games to look at; what these are and whether they
may follow is judged game by game, as anywhere. What is refused comes back as faults with the line of the file. No file
format is known here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from hashlib import sha256
from itertools import chain, repeat
from typing import TYPE_CHECKING

import attrs

from ledger.book import judge
from ledger.book.evidence import Context, Evidence
from ledger.duplicates.detector import Alike, DuplicateDetector
from ledger.duplicates.erased_players import ErasedPlayerMatcher
from ledger.duplicates.game_keys import MOST_OF_ONE_KEY as MOST
from ledger.duplicates.game_keys import MadeKeys
from ledger.duplicates.repeats import CorrectedGames, Difference, ToldEntries, match_repeats
from ledger.errors import MalformedError, RejectedError
from ledger.facts import codec, codec_columns
from ledger.facts.codec import body_of
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.events import GameRecorded, GameSupplemented, RoundWithoutGame, SchemeAdopted
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.source_games import KEPT_FAULTS, FaultsFound, FileFault, SourceRound, short_repr
from ledger.facts.words import Brings
from ledger.imports.csv.games import Tally
from ledger.journal import Journal, KeyTakenError, Writer, kept_texts, rules
from ledger.players.sealed_names import VerifiedNames
from ledger.recording.new_players import register
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import ahead, collector_paused

if TYPE_CHECKING:
    from polars import DataFrame, Series


_TO_THE_SECOND = 19  # characters of an instant before its fraction and its Z
_LAST_MS = instant_ms("9999-12-31T23:59:59Z")


def suspects(games: DataFrame, now_ms: int) -> Series:
    """Which games ``judge.check`` may refuse (Boolean): all that it refuses, and perhaps others.

    Pools and players that are not known are not looked for: an import makes them known before.

    Args:
        games: columns named as the fields of ``GameRecorded``; rows that make no event get any answer.
        now_ms: the recording machine's clock, milliseconds since 1970.
    """
    ended, started = pl.col("ended_at"), pl.col("started_at")
    # Instants sort as text, as far as both are known; within a second, 00Z sorts behind 00.001Z.
    common_length = pl.min_horizontal(ended.str.len_bytes(), started.str.len_bytes(), pl.lit(_TO_THE_SECOND))
    ended_known, started_known = ended.str.slice(0, common_length), started.str.slice(0, common_length)
    in_one_second = (common_length == _TO_THE_SECOND) & (ended_known == started_known) & (ended != started)
    latest = instant_text(min(now_ms + rules.FUTURE_SLACK_MS, _LAST_MS), Precision.SECOND)[:_TO_THE_SECOND]
    doubts = [pl.col("white") == pl.col("black"), ended > latest]
    if games["started_at"].null_count() < len(games):
        doubts += [ended_known < started_known, in_one_second]
    return games.select(pl.any_horizontal(doubts).fill_null(value=False).alias("suspect"))["suspect"]


BY_SPEED = "by-speed"
MAX_DIFFERENCES = 50_000  # of one import that are kept: one batch of corrections has 100,000 rows
MAX_NEW_POOLS = 64  # of one import: a file that names more is no file of games
MAX_REASONS = 40  # reasons to leave games out that are named one by one
SLICE = 8_192  # games that become Python objects at a time: memory is used again while it is still in the cache
JUDGED = 2_048  # games that are judged one by one at a time: the event class and the rules read each instant once
_NAME = re.compile(NAME_PATTERN, re.ASCII)


@attrs.frozen(kw_only=True)
class PoolChoice:
    """Which pool an imported game goes to.

    Attributes:
        pool: the pool of standard chess; ``by-speed`` cuts by variant and speed class, as Lichess does.
        variants: pool by variant name; games of other variants are left out and counted.
    """

    pool: str
    variants: Mapping[str, str] = attrs.field(factory=dict)


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
        notes_of: Callable[[DataFrame], list[FileFault]],
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
            notes_of: what should be looked at of games that were recorded, in the columns of ``GameRecorded``.
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

    def take(self, frame: DataFrame, writer: Writer) -> None:
        """Append the games of one frame (columns of ``SourceGame``) within the writer's transaction.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        with collector_paused():
            self._take(frame, writer)

    def take_rounds(self, rounds: Sequence[SourceRound], writer: Writer) -> None:
        """Append rounds without a game within the writer's transaction; players who have no game yet are registered.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        now = rules.check_clock(self._clock_ms(), writer.last_recorded_at())
        stamp = rules.recorded_text(now)
        columns = {name: [getattr(telling, name) for telling in rounds] for name in ("line", "speed", "variant")}
        frame = self._with_pools(pl.DataFrame(columns, {"line": pl.Int64, "speed": pl.String, "variant": pl.String}))
        pools = dict(self._housed(writer, frame).select("line", "pool").iter_rows())
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

    def _take(self, frame: DataFrame, writer: Writer) -> None:
        now = rules.check_clock(self._clock_ms(), writer.last_recorded_at())
        stamp = rules.recorded_text(now)
        # An import may take an hour, in which somebody is erased: a number that was learnt before is nobody's by then.
        if (version := self._names.file.version()) != self._version:
            self._version = version
            self._numbers.clear()
            self._erased.forget()
        frame = self._keys.with_keys(self._with_pools(frame), writer.find)
        # Before pools are made and players registered: a game that is held back brings neither.
        if self._alike is not None and len(frame):
            frame, repeats = self._alike.split_off_duplicates(frame, writer.find, writer.size)
            frame, nameless = self._erased.split_off_duplicates(frame, writer.find)
            self.report.hold_back(sorted([*repeats, *nameless]))
        frame = self._housed(writer, frame)
        if not len(frame):
            return
        games = self._as_events(frame, self._register(writer, frame, stamp))
        games = self._without_faults(writer, games, now)
        for part in games.iter_slices(SLICE):
            self._append(writer, part, stamp, now)

    def _with_pools(self, frame: DataFrame) -> DataFrame:
        """Give each game its pool; games that have none are left out and counted."""
        variant, speed = pl.col("variant"), pl.col("speed")
        standard = variant == "standard"
        own = pl.col("variant").replace_strict(dict(self._choice.variants), default=None, return_dtype=pl.String)
        if self._choice.pool == BY_SPEED:
            pool = pl.when(standard).then(speed).otherwise(pl.coalesce(own, variant))
        else:
            pool = pl.when(standard).then(pl.lit(self._choice.pool)).otherwise(own)
        frame = frame.with_columns(pool=pool)
        homeless = frame.filter(pl.col("pool").is_null())
        for name, is_standard, count in homeless.group_by("variant", standard.alias("s")).len().iter_rows():
            if is_standard:
                self.report.left_out["no time control"] += count
            else:
                self.report.leave_out(name, count)
        return frame.filter(pl.col("pool").is_not_null()) if len(homeless) else frame

    def _housed(self, writer: Writer, frame: DataFrame) -> DataFrame:
        """The games whose pool is there or can be made; the others are faults."""
        met = set(frame["pool"].unique().to_list()) - self._pools
        named = sorted(pool for pool in met if _NAME.fullmatch(pool))
        entries = writer.find([attrs.evolve(self._scheme, pool=pool).key for pool in named])
        self._pools.update(pool for pool in named if attrs.evolve(self._scheme, pool=pool).key in entries)
        unmade = [pool for pool in named if pool not in self._pools]
        room = MAX_NEW_POOLS - len(self.report.new_pools) - len(self._taken.new_pools)
        without = met - self._pools - set(unmade[:room])
        if not without:
            return frame
        homeless = pl.col("pool").is_in(list(without))
        for line, pool in frame.filter(homeless).select("line", "pool").iter_rows():
            fault = f"{short_repr(pool)} cannot name a pool, whose name matches {NAME_PATTERN}: correct the variant"
            if _NAME.fullmatch(pool):
                fault = (
                    f"pool {pool!r} would be one more than {MAX_NEW_POOLS}, the limit of new pools of one import: "
                    "give the games of a variant a pool by --variant VARIANT=POOL"
                )
            self.report.fault(line, fault)
        return frame.filter(~homeless)

    def _register(self, writer: Writer, frame: DataFrame, stamp: str) -> DataFrame:
        """The frame's identities with their player numbers (id, player); new players are registered."""
        sides = [
            frame.select(pl.col(f"{side}_id").alias("id"), pl.col(f"{side}_name").alias("name"))
            for side in ("white", "black")
        ]
        # In the order of the file, in which newcomers get their numbers: the same file gives the same numbers.
        met = pl.concat(sides).unique("id", keep="first", maintain_order=True)
        ids, names = met["id"].to_list(), met["name"].to_list()
        self._meet(writer, dict(zip(ids, names, strict=True)), stamp)
        return pl.DataFrame({"id": met["id"], "player": list(map(self._numbers.__getitem__, ids))})

    def _meet(self, writer: Writer, named: Mapping[str, str], stamp: str) -> None:
        """Learn the numbers of players by identity and name; new ones are registered."""
        fresh = {identity: name for identity, name in named.items() if identity not in self._numbers}
        if fresh:
            registration = register(writer, self._names, fresh, stamp, self._actor)
            self._taken.newcomers += [(person.identity or "", person.name or "") for person in registration.new]
            self._taken.kept_names += registration.kept_names
            self._numbers.update((identity, person.player) for identity, person in registration.persons.items())

    def _as_events(self, frame: DataFrame, players: DataFrame) -> DataFrame:
        """The frame in the columns of ``GameRecorded``, with its ``line`` and its movetext."""
        for side in ("white", "black"):
            ids = frame.select(pl.col(f"{side}_id").alias("id"))
            # Polars keeps the order of rows through a join only where it is asked to.
            joined = ids.join(players, on="id", how="left", maintain_order="left")
            frame = frame.with_columns(joined["player"].alias(side))
        if frame["text"].null_count() < len(frame):
            frame = frame.with_columns(movetext=pl.col("text"))
            hashes = [None if text is None else sha256(text.encode()).hexdigest() for text in frame["text"].to_list()]
            frame = frame.with_columns(pl.Series("text", hashes, dtype=pl.String))
        return frame.rename({"key": "game"})

    def _without_faults(self, writer: Writer, games: DataFrame, now: int) -> DataFrame:
        """Leave out the games that are no events or may not follow; each becomes a fault with its line.

        Columns only say which games to look at; the event class and the rules judge these one by one.
        """
        suspected = codec_columns.suspects(games)
        doubted = suspected | suspects(games, now)
        if not doubted.any():
            return games
        rows = games.with_row_index("row").with_columns(suspected=suspected)
        doubtful = rows.filter(doubted)
        # ``implode``: a bare series of the column's own type is ambiguous to Polars, and no longer to be given
        # (``Expr.is_in``).
        recorded = dict(
            rows.filter(~doubted & games["game"].is_in(doubtful["game"].unique().implode()))
            .group_by("game")
            .agg(pl.col("row").min())
            .iter_rows()
        )
        faulty: list[int] = []
        for part in doubtful.iter_slices(JUDGED):
            faulty += self._judge(writer, part, recorded, now)
        return games.filter(~rows["row"].is_in(pl.Series(faulty, dtype=pl.UInt32).implode()))

    def _judge(self, writer: Writer, games: DataFrame, recorded: dict[str, int], now: int) -> list[int]:
        """The rows of the games that cannot be taken; each becomes a fault.

        Args:
            writer: the open transaction.
            games: some games of a frame, each with its ``row`` there and whether it is ``suspected`` to be no event.
            recorded: by key, the first row of the frame that is recorded under it; what is taken here joins it.
            now: the time to record under, milliseconds since 1970.
        """
        judged = list(codec_columns.build_events(games, games["suspected"]))
        keys = writer.find([event.key for event in judged if isinstance(event, GameRecorded)])
        faulty: list[int] = []
        evidence = Evidence(Context.IMPORT, now)
        for row, line, event in zip(games["row"].to_list(), games["line"].to_list(), judged, strict=True):
            if isinstance(event, str):
                faulty.append(row)
                self.report.fault(line, event)
                continue
            try:
                # A known key goes first: it is a repeat or says something else than before, whatever a rule would say.
                if recorded.get(event.game, row) >= row and event.key not in keys:
                    judge.check(event, evidence)
                    recorded[event.game] = row
            except RejectedError as error:
                faulty.append(row)
                self.report.fault(line, str(error))
        return faulty

    def _append(self, writer: Writer, games: DataFrame, stamp: str, now: int, number: int = 1) -> None:
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
        self._met_repeats = bool(again.known.any()) or number > 1
        for fault in again.faults:
            self.report.fault(*fault)
        for difference in again.differences:
            if self._keep_differences:
                self.report.differ(difference)
            else:
                self.report.fault(difference.line, difference.message)
        refused = len(again.faults) + len(again.differences)
        self._taken.repeated += int(again.known.sum()) - refused - len(again.others) - len(again.supplements)
        try:
            self._append_all(writer, games.filter(~again.known), stamp)
            self._append_supplements(writer, games, again.supplements, stamp)
        except KeyTakenError as error:
            raise rules.refuses_new_key(error) from error
        if again.others and number < MOST:
            others = games[[row for row, _, _ in again.others]]
            others = self._keys.with_next_keys(others, number + 1, writer.find)
            self._append(writer, others, stamp, now, number + 1)
        elif again.others:
            for _, line, message in again.others:
                self.report.fault(line, message)

    def _append_all(self, writer: Writer, fresh: DataFrame, stamp: str) -> None:
        # A pool adopts the ledger's scheme with its first game, in one step: where no game is taken no pool is made.
        pools = sorted(set(fresh["pool"].unique().to_list()) - self._pools)
        adopted = [attrs.evolve(self._scheme, pool=pool) for pool in pools]
        first = writer.size + 1
        bodies = [body_of(first + place, stamp, self._actor, event) for place, event in enumerate(adopted)]
        bodies += codec_columns.bodies(fresh, first + len(adopted), stamp, self._actor)
        keys = [event.key for event in adopted] + ("game:" + fresh["game"]).to_list()
        kinds = chain(repeat(SchemeAdopted.KIND, len(adopted)), repeat(GameRecorded.KIND))
        self._taken.recorded += len(writer.append(kinds, keys, bodies)) - len(adopted)
        self._told.add(first + len(adopted), len(fresh))
        self._taken.new_pools += pools
        self._pools.update(pools)
        self._taken.notes += self._notes_of(fresh)
        if "movetext" in fresh.columns:
            writer.keep_texts(kept_texts.frames(fresh["movetext"].drop_nulls().to_list()))

    def _append_supplements(
        self, writer: Writer, games: DataFrame, supplements: list[tuple[int, GameSupplemented]], stamp: str
    ) -> None:
        """Append what games that are known were told with now: rows of *games* and events."""
        if not supplements:
            return
        first = writer.size + 1
        bodies = [body_of(first + place, stamp, self._actor, event) for place, (_, event) in enumerate(supplements)]
        keys = [event.key for _, event in supplements]
        self._taken.supplemented += len(writer.append(repeat(GameSupplemented.KIND), keys, bodies))
        told_texts = [row for row, event in supplements if event.text is not None]
        if told_texts:
            writer.keep_texts(kept_texts.frames(games["movetext"].gather(told_texts).to_list()))


def take_frames(
    journal: Journal,
    job: GameImport,
    frames: Iterable[DataFrame],
    *,
    strict: bool,
    faults_so_far: Callable[[], int],
    advance: Callable[[int], None],
    rounds: Callable[[], Sequence[SourceRound]] = tuple,
) -> None:
    """Take frames in order.

    Args:
        journal: where they are recorded.
        job: what judges and records them; it keeps the report.
        frames: frames in the columns of ``SourceGame``, read ahead of what is recorded.
        strict: one transaction for all; any fault leaves the journal as it was.
        faults_so_far: how many faults the importer found; with *strict* they count.
        advance: called with the number of games of each frame taken.
        rounds: the rounds without a game that the frames' source told, asked when it was read to its end.
    """
    with suppress(_NothingRecordedError):
        with journal.writing() if strict else nullcontext() as whole:
            for frame in ahead(in_sequence(frames)):
                with nullcontext(whole) if whole is not None else journal.writing() as writer:
                    job.take(frame, writer)
                if whole is None:
                    job.committed()
                advance(len(frame))
            if telling := rounds():
                with nullcontext(whole) if whole is not None else journal.writing() as writer:
                    job.take_rounds(telling, writer)
            if strict and (job.report.fault_count or faults_so_far()):
                raise _NothingRecordedError  # only an exception undoes the transaction
        job.committed()


def in_sequence(frames: Iterable[DataFrame]) -> Iterator[DataFrame]:
    """Yield the frames of one file with a ``sequence`` for games that nothing else orders within their day.

    Those are the games of which the file tells the day alone, and further games of one instant under made keys, which
    depend on the ledger's secret. Their places in the file serve, so that a file gives equal ratings in all ledgers;
    ``is_numbered`` tells which games the file itself numbers.
    """
    tally = Tally()
    for games in frames:
        missing = {"sequence": pl.lit(None, pl.Int64), "is_made": pl.lit(value=False)}
        frame = games.with_columns(**{name: value for name, value in missing.items() if name not in games.columns})
        has_day_alone = frame["ended_at"].str.len_bytes() <= len("2024-05-01")
        unordered = has_day_alone | frame["is_made"]
        ends = frame["ended_at"].filter(unordered)
        places = pl.Series("place", [None], pl.Int64).new_from_index(0, len(frame))
        if len(ends):
            places = places.scatter(unordered.arg_true(), tally.numbers(ends.hash().to_numpy()))
        # A game without a sequence comes before those that have one: the first of an instant, or one alone, needs none.
        needed = pl.when(places > 1).then(places)
        yield frame.with_columns(
            is_numbered=pl.col("sequence").is_not_null(), sequence=pl.coalesce(pl.col("sequence"), needed)
        )


class _NothingRecordedError(Exception):
    """Ends a strict import with a fault; the transaction is undone."""
