"""The register of a ledger's players: registrations with their history, and later data.

Players come one by one, or in a list of a million, which is judged and encoded as columns. The whole list is checked
before anything is written, and a fault anywhere leaves the journal as it was. No file format is handled here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.book import initial_ratings, stored_proposals
from ledger.book.evidence import Context, Evidence
from ledger.book.roster import FROM_THE_BEGINNING
from ledger.book.rules_by_keys import joined_in_the_future, needs_a_proposal
from ledger.book.timeline import Pool
from ledger.duplicates.game_keys import is_plain_hash
from ledger.duplicates.namesakes import Namesakes, namesakes
from ledger.errors import ConflictError, MalformedError, RejectedError, StorageError, UnknownNameError
from ledger.facts import codec, codec_columns
from ledger.facts.event_fields import MAX_PLAYER
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    PlayerChanged,
    PlayerRegistered,
    RatingSeeded,
    Role,
    StrengthChosen,
)
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.person_names import spelt
from ledger.facts.player_details import FIELDS as DETAIL_FIELDS
from ledger.facts.player_details import PlayerDetails, readable_details
from ledger.facts.prior_ratings import MAX_IDENTITY, PriorRating, name_faults, person_faults
from ledger.facts.source_games import NEED_A_RATING, FaultsFound, FileFault
from ledger.facts.words import Receipt, Standing, Strength
from ledger.handle import DEFAULT_ACTOR, OpenLedger
from ledger.journal import FindEntries, Writer, late_facts, rules
from ledger.journal.transactions import Transaction
from ledger.players import erasing, renaming
from ledger.players.renaming import Renamed
from ledger.players.verified_names import (
    DECISIONS,
    AssignedNumbers,
    check_name,
    commitment_to,
    erasure_key,
    registration_key,
)
from ledger.ratings import queries
from ledger.recording.new_players import append_rows, register
from ledger.recording.reported_tournaments import DetailsRecorder
from ledger.runtime.calls import checked_methods
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import collector_paused

if TYPE_CHECKING:
    from polars import DataFrame

_SPELT_SO = r"^[a-z0-9]+:[1-9a-z][0-9a-z]*$"  # identities for which ``spelt`` has nothing to do
_PLAIN_NAME = r"^[!-~\u{a1}-\u{2af}]{1,40}(?: [!-~\u{a1}-\u{2af}]{1,20}){0,4}$"  # below U+0300 all text is NFC
SEED_FIELDS = ("rating", "games", "deviation", "volatility", "highest", "k_factor")


@attrs.define
class PlayersReport(FaultsFound):
    """The outcome of the import of a list of players.

    Attributes:
        players: players of the list.
        registered: newly registered players.
        seeded: new initial ratings.
        births: new years of birth of registered players.
        described: players of whom new data were recorded.
        kept_names: renamed players whom the list calls by another name: they keep the present one.
        namesakes: lines of new players who have the name of one registered before, and the identity of that one.
        left_out: lines whose rating has no effect and was left out on request, with the reason.
        new_ratings: of registered players, each new rating: the player, from when it holds, points.
        is_recorded: True if the list was recorded.
        faults, fault_count: refused rows; if there is one, nothing was recorded, unless such rows were to be left out.
    """

    players: int = 0
    registered: int = 0
    seeded: int = 0
    births: int = 0
    described: int = 0
    proposed: int = 0
    kept_names: int = 0
    namesakes: list[FileFault] = attrs.Factory(list)
    left_out: list[FileFault] = attrs.Factory(list)
    new_ratings: list[tuple[int, str | None, str]] = attrs.Factory(list)
    is_recorded: bool = False
    faulty_lines: set[int] = attrs.Factory(set)

    def fault(self, line: int, message: str) -> None:
        """Note a fault of a line."""
        super().fault(line, message)
        self.faulty_lines.add(line)


@attrs.define
class _ListNews:
    """The new facts of a list.

    Attributes:
        registered: numbers of the players who were registered before.
        births: of registered players, rows of ``BirthYearLearnt``.
        seeded_lines: lines whose initial rating is not recorded again: it is stored, proposed, or left out.
        fresh: ``line``, ``identity``, ``name`` of new players; None if no player was registered before.
    """

    registered: set[int] = attrs.Factory(set)
    births: list[tuple[int, int]] = attrs.Factory(list)
    seeded_lines: set[int] = attrs.Factory(set)
    fresh: DataFrame | None = None


@attrs.define
class _ListImport:
    """The import of one list of players, with the arguments of ``Registry.take_list``; the views are up to date."""

    _ledger: OpenLedger
    _pool: Pool
    _since: str | None
    _source: str | None
    _actor: str
    _propose: Callable[[Sequence[Event]], object] | None
    _leave_out_late: bool
    _leave_out_faulty: bool
    _dry_run: bool
    report: PlayersReport = attrs.field(init=False, factory=PlayersReport)
    _proposed: list[Event] = attrs.field(init=False, factory=list)
    _details: DetailsRecorder | None = attrs.field(init=False, default=None)
    _own_players: set[int] = attrs.field(init=False, factory=set)  # numbers of the players whom this list registers
    _now_ms: int = attrs.field(init=False)
    _four_eyes: bool = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        # Made only for its refusals: a wrong instant or name is reported once, not with each row.
        RatingSeeded(player=1, pool=self._pool.name, effective_at=self._since, rating="1", source=self._source)
        self._now_ms = self._ledger.now_ms()
        # A proposal is what four eyes ask for: nothing of it needs to be refused.
        self._four_eyes = self._propose is None and late_facts.are_four_eyes_on(self._ledger.journal.find)

    def take(
        self, frames: Iterable[DataFrame], faults_so_far: Callable[[], int], advance: Callable[[int], None]
    ) -> PlayersReport:
        """Check the whole list, then record it in one transaction, unless there is a fault."""
        with collector_paused():
            # All of them first: with a fault in the last row of the list no player is recorded.
            parts: list[DataFrame] = []
            for frame in frames:
                parts.append(frame)
                advance(len(frame))
            self.report.players = sum(map(len, parts))
            self._refuse_broken(parts)
            if self.report.fault_count and not self._leave_out_faulty:
                return self.report
            parts = self._without_faulty(parts)
            self._refuse_doubles(parts)
            parts = self._without_faulty(parts)
            looked_up = [self._look(frame) for frame in parts]
            if faults_so_far() or (self.report.fault_count and not self._leave_out_faulty):
                return self.report
            parts = self._without_faulty(parts)
            self.report.players = sum(map(len, parts))
            lines = self.report.faulty_lines
            fresh = [row for news in looked_up if news.fresh is not None for row in news.fresh.iter_rows()]
            fresh = [row for row in fresh if row[0] not in lines]
            same_names = namesakes(self._ledger.names.people(), [(identity, name) for _, identity, name in fresh])
            self.report.namesakes = [FileFault(fresh[note.place][0], str(note)) for note in same_names]
            if self._dry_run:
                self._count(parts, looked_up)
                return self.report
            if self._propose is not None and self._proposed:  # before the rest, so that a refusal leaves nothing behind
                self._propose(self._proposed)
                self.report.proposed = len(self._proposed)
            with self._ledger.names.registering(), self._ledger.journal.writing() as writer:
                transaction = Transaction.begin(writer, lambda: self._now_ms, self._actor)
                # The earlier check was without the lock: another process may have set them meanwhile.
                if self._propose is None and not self._four_eyes and late_facts.are_four_eyes_on(writer.find):
                    message = "four eyes were set while this list was read; import it again"
                    raise RejectedError(late_facts.NEEDS_A_PROPOSAL, "", message)
                for frame, news in zip(parts, looked_up, strict=True):
                    self._record(transaction, frame, news)
            self.report.is_recorded = True
        return self.report

    def _count(self, parts: Sequence[DataFrame], looked_up: Sequence[_ListNews]) -> None:
        """Count what would be recorded."""
        self.report.proposed = len(self._proposed)
        for frame, news in zip(parts, looked_up, strict=True):
            self.report.registered += len(frame) - len(news.registered)
            self.report.births += len(news.births)
            seeds = frame.filter(pl.col("rating").is_not_null() & ~pl.col("line").is_in(list(news.seeded_lines)))
            self.report.seeded += len(seeds)

    def _without_faulty(self, parts: list[DataFrame]) -> list[DataFrame]:
        """Return the frames without the rows that have a fault, if such rows are to be left out."""
        lines = self.report.faulty_lines
        if not (self._leave_out_faulty and lines):
            return parts
        return [frame.filter(~pl.col("line").is_in(lines)) for frame in parts]

    def _refuse_broken(self, frames: Sequence[DataFrame]) -> None:
        """Report values that no event may hold: the importers here check each value, other frames may hold any."""
        for frame in frames:
            as_fields = frame.rename({"since": "effective_at"})
            odd_names = frame.select(
                ~(pl.col("name").str.contains(_PLAIN_NAME) & pl.col("identity").str.contains(_SPELT_SO))
                | pl.col("identity").str.contains(f"^fide:.*[a-z]|^.{{{MAX_IDENTITY + 1}}}")
            ).to_series()
            without_rating = pl.col("rating").is_null() & pl.any_horizontal(pl.col(*NEED_A_RATING).is_not_null())
            suspected = (
                codec_columns.suspects(as_fields.select("birth_year", "standing"), PlayerRegistered)
                | codec_columns.suspects(as_fields.select("effective_at", *SEED_FIELDS), RatingSeeded)
                | odd_names.fill_null(value=True)
                | frame.select(without_rating).to_series()
            )
            suspects = frame.filter(suspected)
            if not len(suspects):
                continue
            registered = self._ledger.names.people().by_identity(suspects["identity"].drop_nulls().to_list())
            for row in suspects.iter_rows(named=True):
                faults = self._faults_of(row, is_registered=row["identity"] in registered)
                if faults:
                    self.report.fault(row["line"], "; ".join(faults))

    def _faults_of(self, row: Mapping[str, Any], *, is_registered: bool) -> list[str]:
        faults = [f"is missing @ $.{name}" for name in ("identity", "name") if row[name] is None]
        if not faults and not is_registered:
            faults = person_faults(row["identity"], row["name"])
        standing = row["standing"] or Standing.FULL
        with _named(faults):
            # An invalid word is left to the event class, which names its field.
            word = Standing(standing) if standing in set(Standing) else standing
            born = row["birth_year"]
            PlayerRegistered(player=1, joined_at="2000", standing=word, birth_year=born, commitment="0" * 64)
        if row["rating"] is None:
            unfounded = [name for name in NEED_A_RATING if row[name] is not None]
            faults += [f"there is {name} {row[name]} and no rating @ $.{name}" for name in unfounded]
        else:
            with _named(faults):
                past = PriorRating(**{name: row[name] for name in SEED_FIELDS}, since=row["since"])
                past.seed(1, self._pool.name)
        return faults

    def _refuse_doubles(self, frames: Sequence[DataFrame]) -> None:
        """Report players who are in a list twice."""
        if not frames:
            return
        rows = pl.concat([frame.select("identity", "line") for frame in frames])
        # In the canonical spelling; a million that are spelt so already need no loop in Python.
        other = rows["identity"].str.contains(_SPELT_SO).not_()
        if other.any():
            pairs = zip(rows["identity"].to_list(), other, strict=True)
            rows = rows.with_columns(pl.Series("identity", [spelt(each) if is_odd else each for each, is_odd in pairs]))
        doubled = rows.filter(~pl.col("identity").is_first_distinct())
        if len(doubled):
            firsts = dict(
                # Without ``implode`` Polars takes it as ambiguous: a column to look in, or one to compare row by row.
                rows.filter(pl.col("identity").is_in(doubled["identity"].implode()))
                .unique("identity", keep="first", maintain_order=True)
                .iter_rows()
            )
            for identity, line in doubled.iter_rows():
                self.report.fault(line, f"{identity!r} stands in line {firsts[identity]} already; keep one of them")

    def _look(self, frame: DataFrame) -> _ListNews:
        """Return the news about the registered players of a frame; contradictions are faults."""
        news = _ListNews()
        persons = self._ledger.names.people().by_identity(frame["identity"].to_list())
        stored = self._ledger.journal.find([f"player:{person.player}" for person in persons.values()])
        # The people file numbers a person before the journal registers it: a player who is only there is new to the
        # journal.
        numbers = {
            identity: person.player for identity, person in persons.items() if f"player:{person.player}" in stored
        }
        # The first list of a federation has a million people and finds no player: comparing their names is skipped.
        if next(self._ledger.people.iter_named(), None) is not None:
            news.fresh = frame.select("line", "identity", "name").filter(~pl.col("identity").is_in(list(persons)))
        if not numbers:
            return news
        news.registered.update(numbers.values())
        # Reading a long list takes minutes: players who were registered meanwhile are looked up, too.
        self._ledger.ensure_up_to_date()
        rows = frame.filter(pl.col("identity").is_in(list(numbers))).with_columns(
            player=pl.col("identity").replace_strict(numbers, default=None, return_dtype=pl.Int64)
        )
        self._look_at_people(rows, news)
        self._look_at_seeds(self._seeds(rows), news)
        return news

    @cached_property
    def _latest_ms(self) -> int:
        return late_facts.latest_ms(self._ledger.journal, self._now_ms)

    def _refuse_past(self, line: int, event: BirthYearLearnt | RatingSeeded) -> None:
        """Report a fact of a registered player that affects the past, while four eyes are on."""
        if self._four_eyes:
            find, latest_ms = self._ledger.journal.find, lambda: self._latest_ms
            facts = self._ledger.current_facts
            evidence = Evidence(Context.IMPORT, self._now_ms, facts=facts, find=find, latest_ms=latest_ms)
            if (refusal := needs_a_proposal(event, evidence)) is not None:
                self.report.fault(line, str(refusal))

    def _look_at_people(self, rows: DataFrame, news: _ListNews) -> None:
        people = initial_ratings.births_and_standings(
            self._ledger.views.connection, rows["player"].to_list(), self._now_ms
        )
        columns = rows.select("line", "identity", "player", "birth_year", "standing")
        for line, identity, player, born, standing in columns.iter_rows():
            person = people[player]
            # a blank is filled; a contradiction needs a correction, never a list
            if born is not None and person.birth_year is None:
                learnt = BirthYearLearnt(player=player, birth_year=born)
                self._refuse_past(line, learnt)
                if self._propose is None:
                    news.births.append((player, born))
                else:
                    self._proposed.append(learnt)
            elif born not in {None, person.birth_year}:
                self.report.fault(line, f"{identity!r} was born in {person.birth_year} says the ledger, not in {born}")
            if standing not in {None, person.standing}:
                self.report.fault(
                    line, f"{identity!r} is {person.standing} in the ledger, not {standing}; 'player set' changes it"
                )

    def _look_at_seeds(self, seeds: DataFrame, news: _ListNews) -> None:
        keys = codec_columns.keys(seeds, RatingSeeded).to_list()
        facts = codec_columns.facts(seeds, RatingSeeded).to_list() if keys else []
        stored = self._ledger.journal.find(keys)
        connection, players = self._ledger.views.connection, seeds["player"].to_list()
        listed = initial_ratings.seed_instants(connection, self._pool, players)
        columns = seeds.select("line", "player", "effective_at", "rating").iter_rows()
        for (line, player, since, rating), key, facts_text in zip(columns, keys, facts, strict=True):
            try:
                if key in stored:
                    # the same list imported again adds nothing; another rating under its key is a conflict
                    rules.check_repeat(RatingSeeded, key, rules.facts_of(stored[key]), orjson.loads(facts_text))
                    news.seeded_lines.add(line)
                    continue
                since_ms = FROM_THE_BEGINNING if since is None else instant_ms(since)
                if (player, since_ms) in listed:  # under another key, so in another spelling
                    seed = codec.structure_event(RatingSeeded.KIND, orjson.loads(facts_text))
                    self._ledger.check_early(seed, Context.IMPORT)
                if self._four_eyes or self._propose is not None:
                    seed = codec.structure_event(RatingSeeded.KIND, orjson.loads(facts_text))
                    assert isinstance(seed, RatingSeeded)
                    self._refuse_past(line, seed)
                    if self._propose is not None:
                        self._proposed.append(seed)
                        news.seeded_lines.add(line)
                self.report.new_ratings.append((player, since, rating))
            except RejectedError as error:
                if self._leave_out_late and error.rule == initial_ratings.TOO_LATE:
                    self.report.left_out.append(FileFault(line, str(error)))
                    news.seeded_lines.add(line)
                else:
                    self.report.fault(line, str(error))

    def _seeds(self, rows: DataFrame) -> DataFrame:
        """Return the rows with a rating, in the columns of ``RatingSeeded``, with their lines."""
        return rows.filter(pl.col("rating").is_not_null()).select(
            "line",
            "player",
            pl.lit(self._pool.name).alias("pool"),
            *SEED_FIELDS,
            pl.col("since").fill_null(pl.lit(self._since, pl.String)).alias("effective_at"),
            pl.lit(self._source, pl.String).alias("source"),
        )

    def _record(self, transaction: Transaction, frame: DataFrame, news: _ListNews) -> None:
        named = dict(zip(frame["identity"].to_list(), frame["name"].to_list(), strict=True))
        registration = register(transaction, self._ledger.names, named, frame)
        self._own_players.update(person.player for person in registration.new)
        # The earlier check was without the lock: games of players registered since may be rated, and no rule has
        # checked whether their history may still be recorded.
        if {person.player for person in registration.persons.values()} - self._own_players - news.registered:
            words = "players of this list were registered while it was read; import it again: nothing was recorded"
            raise StorageError(str(self._ledger.path), words)
        self.report.registered += len(registration.new)
        self.report.kept_names += registration.kept_names
        frame = frame.with_columns(
            pl.Series("player", [registration.persons[identity].player for identity in named], pl.Int64)
        )
        # Without ``orient`` Polars takes two pairs for two columns, and three pairs for three rows.
        births = pl.DataFrame(news.births, {"player": pl.Int64, "birth_year": pl.Int64}, orient="row")
        self.report.births += append_rows(transaction, births, BirthYearLearnt)
        seeds = self._seeds(frame.filter(~pl.col("line").is_in(list(news.seeded_lines))))
        self.report.seeded += append_rows(transaction, seeds, RatingSeeded)
        self._describe(transaction, frame, {person.player for person in registration.new})

    def _describe(self, transaction: Transaction, frame: DataFrame, new: Collection[int]) -> None:
        """Record the data about players; those of a row without an instant hold from the list's day, or from today."""
        columns = [name for name in DETAIL_FIELDS if name in frame.columns and frame[name].null_count() < len(frame)]
        if not columns:
            return
        if self._details is None:
            self._details = DetailsRecorder(transaction, self._ledger.current_facts, self._ledger.names)
        today = instant_text(self._now_ms, Precision.DAY)
        rows = frame.select("player", pl.col("since").fill_null(self._since or today), *columns)
        by_day: dict[str, dict[int, PlayerDetails]] = {}
        by_values: dict[tuple[Any, ...], PlayerDetails] = {}  # most players share their data with others
        for player, since, *row in rows.iter_rows():
            values = tuple(row)
            if values not in by_values:
                by_values[values], _ = readable_details(dict(zip(columns, values, strict=True)))
            by_day.setdefault(since, {})[player] = by_values[values]
        for since, details_of in by_day.items():
            self.report.described += self._details.record(details_of, since, new)


# -- one by one ----------------------------------------------------------------------------------------------------


@attrs.frozen
class NewPlayer:
    """A player to register.

    Attributes:
        identity: the player's identity, such as ``fide:1503014``.
        name: the player's name.
        standing: membership status.
        declared_rating: the player's own word, points.
        birth_year: year of birth.
        joined: instant of joining, up to now; None: now.
        past: ratings and results from a list.
    """

    identity: str
    name: str
    standing: Standing = Standing.FULL
    declared_rating: int | None = None
    birth_year: int | None = None
    joined: str | None = None
    past: PriorRating | None = None


@attrs.frozen
class PlayerUpdate:
    """The outcome of a registration or of an update of a player.

    Attributes:
        player: the player's number.
        recorded: number of new entries.
        acts_in: names of the pools in which an initial rating takes effect, or may.
        passed_by: names of the pools in which it does not, for the first rated game was before it.
        until: day of a later list, whose rating replaces the recorded one from then on; None without.
        name: the present name of a player who was renamed, even if another one was given; else None.
    """

    player: int
    recorded: int
    acts_in: tuple[str, ...] = ()
    passed_by: tuple[str, ...] = ()
    until: str | None = None
    name: str | None = None


@checked_methods
@attrs.frozen
class Registry:
    """The register of one ledger's players: registers, renames, updates and erases them."""

    ledger: OpenLedger

    def add(
        self,
        identity: str,
        name: str,
        *,
        standing: Standing = Standing.FULL,
        declared_rating: int | None = None,
        birth_year: int | None = None,
        joined: str | None = None,
        past: PriorRating | None = None,
        actor: str,
        token: str | None = None,
    ) -> PlayerUpdate:
        """Register a player as ``add_many`` does."""
        new_player = NewPlayer(identity, name, standing, declared_rating, birth_year, joined, past)
        return self.add_many([new_player], actor=actor, token=token)[0]

    def add_many(self, players: Sequence[NewPlayer], *, actor: str, token: str | None = None) -> list[PlayerUpdate]:
        """Register players, with their history if given, in one transaction: all, or none.

        A player who is already registered keeps number and name. The given name must be the registered one. A renamed
        player may be given under any name, for the first name is forgotten.

        Raises:
            MalformedError: the journal may not hold a word or a number; each is named.
            RejectedError: an identity was registered with other facts, or a past comes after the first game.
            StorageError: the people file and the journal do not belong together.
        """
        actor = self.ledger.recorder_named(token, actor)
        if not players:
            return []
        registered_before = self.ledger.names.people().by_identity([player.identity for player in players])
        if problems := self._faults(players, registered_before.keys()):
            raise MalformedError(problems)
        now_ms = self.ledger.now_ms()
        for player in players:
            registered = registered_before.get(player.identity)
            # a registered player cannot have joined on another day
            if registered is not None and player.joined not in {None, registered.joined_at}:
                key = registration_key(registered.player)
                raise ConflictError(key, "joined_at", registered.joined_at, player.joined)
            if player.joined is not None:  # before any player gets a number
                refusal = joined_in_the_future(player.identity, player.joined, now_ms)
                if refusal is not None:
                    raise refusal
        if any(player.past is not None for player in players):
            # the views may be needed to judge a history: they are brought up to date before the lock
            self.ledger.ensure_up_to_date()
        numbered = AssignedNumbers({}, set(), set())
        batches: list[list[Event]] = []

        def gate(writer: Writer, _: int) -> list[Event]:
            # in one transaction with their entries, if names and journal are in one database
            for joined in dict.fromkeys(player.joined for player in players):
                named = {player.identity: player.name for player in players if player.joined == joined}
                # Some numbers at a time: players who are numbered together have one day of joining.
                of_one_day = self.ledger.names.assign_numbers(named, joined or instant_text(now_ms), writer.find)
                numbered.persons.update(of_one_day.persons)
                numbered.registered.update(of_one_day.registered)
                numbered.renamed.update(of_one_day.renamed)
            batches.extend(self._registration(player, numbered, writer.find) for player in players)
            return [event for events in batches for event in events]

        # Receipts come in the order of the events, so that each player takes as many as it has events.
        with self.ledger.names.registering():
            receipts = iter(self.ledger._record_judged(gate, actor))
        learnt = []
        for player, events in zip(players, batches, strict=True):
            recorded = sum(not next(receipts).duplicate for _ in events)
            person = numbered.persons[player.identity]
            renamed = person.player in numbered.renamed
            learnt.append(PlayerUpdate(person.player, recorded, name=person.name if renamed else None))
        return learnt

    def _faults(self, players: Sequence[NewPlayer], registered: Collection[str]) -> list[str]:
        """Return the faults in the words and numbers of players; of several, with the place of each."""
        problems: list[str] = []
        names: dict[str, str] = {}
        for place, player in enumerate(players, 1):
            faults = person_faults(player.identity, player.name, is_new=player.identity not in registered)
            with _named(faults):
                # Made only for its refusals; number, instant and commitment are placeholders.
                PlayerRegistered(
                    player=1,
                    joined_at=player.joined or "2000",
                    standing=player.standing,
                    declared_rating=player.declared_rating,
                    birth_year=player.birth_year,
                    commitment="0" * 64,
                )
            if player.past is not None:
                with _named(faults):
                    player.past.seed(1, self.ledger.first_pool())
            if names.setdefault(player.identity, player.name) != player.name:
                faults.append(f"{player.identity!r} is {names[player.identity]!r} before; correct one @ $.name")
            problems += faults if len(players) == 1 else [f"player {place}: {fault}" for fault in faults]
        return problems

    def _registration(self, player: NewPlayer, numbered: AssignedNumbers, find: FindEntries) -> list[Event]:
        """Return the events to record for a player who has a number.

        Raises:
            RejectedError: the identity was registered with another name.
        """
        person = numbered.persons[player.identity]
        commitment = commitment_to(person)
        # the registration committed to a name that is forgotten
        if person.player in numbered.renamed:
            key = registration_key(person.player)
            commitment = rules.facts_of(find([key])[key])["commitment"]
        else:
            check_name(person, player.name)
        event = PlayerRegistered(
            player=person.player,
            joined_at=person.joined_at,
            standing=player.standing,
            declared_rating=player.declared_rating,
            birth_year=player.birth_year,
            commitment=commitment,
        )
        return [event] if player.past is None else [event, player.past.seed(person.player, self.ledger.first_pool())]

    def rename(self, player: int, name: str, *, actor: str, token: str | None = None) -> Renamed:
        """Give a player another name: the right spelling, or the first one for a mere number.

        The identity stays, and so do games and ratings. The earlier name is forgotten. If the player has the name
        already, nothing is recorded.

        Raises:
            MalformedError: no player may have the name.
            RejectedError: no player is registered under the number, or the player is erased.
            StorageError: the people file and the journal do not belong together.
        """
        actor = self.ledger.recorder_named(token, actor)
        if problems := name_faults(name):
            raise MalformedError(problems)
        ledger = self.ledger
        return renaming.rename(ledger.journal, ledger.names.file, player, name, actor=actor, clock_ms=ledger.now_ms)

    def same_person(self, player: int) -> list[int]:
        """Return all numbers of the person who has a number, in their order: those merged with it among them."""
        if next(self.ledger.journal.keys(*DECISIONS), None) is None:  # no player was ever merged
            return [player]
        self.ledger.ensure_up_to_date()
        return stored_proposals.person_numbers(self.ledger.views.connection, player)

    def count_guessable_keys(self, player: int) -> int:
        """Return the number of a person's games with keys against which names can be tried, even after an erasure.

        An earlier release derived those keys from names without a secret; they stay, as every fact does.
        """
        self.ledger.ensure_up_to_date()
        numbers = json.dumps(self.same_person(player))
        return sum(
            is_plain_hash(row["key"])
            for row in queries.fetch_dicts(self.ledger.views.connection, queries.EVERY_KEY_OF, (numbers,))
        )

    def erase(self, player: int, *, actor: str, token: str | None = None) -> bool:
        """Erase identity, name and salt of a player for good, under all numbers of the person.

        Games and ratings stay under the numbers; the journal records that a player was erased, without any name.

        Returns:
            False if the numbers have no personal data any more; an erasure is recorded once.

        Raises:
            UnknownNameError: no player was ever registered under the number.
            RejectedError: this machine's clock is behind the journal, or somebody is an approver and *token* is no
                approver's; no player was erased.
            StorageError: a file refuses, another process reads the people file, or it still holds personal data.
        """
        ledger = self.ledger
        if ledger.tokens.is_role_issued(Role.APPROVER):
            claimed = None if actor == DEFAULT_ACTOR else actor
            actor = ledger.tokens.authenticate(token, claimed, Role.APPROVER, f"erase player {player}").name
        else:
            actor = ledger.recorder_named(token, actor)
        is_number = 1 <= player <= MAX_PLAYER
        # a player who is only in the people file, as after a crash, is erased as well
        if not is_number or not (ledger.journal.find([registration_key(player)]) or self._has_row(player)):
            raise UnknownNameError("player", str(player), "nobody was registered under this number")
        players = self.same_person(player)
        rows = ledger.names.file.by_number(players).values()
        names = {word for row in rows for word in (row.name, row.identity) if word is not None}
        # First: after the erasure no look-up can find the person's names in the log.
        if names:
            words = names | {name.partition(":")[2] or name for name in names}
            ledger.token_store.forget(words)
            ledger.imports.forget(words)
        return erasing.erase_persons(ledger.journal, ledger.names.file, players, actor=actor, clock_ms=ledger.now_ms)

    def _has_row(self, player: int) -> bool:
        return player in self.ledger.names.file.by_number([player])

    def learn(
        self,
        player: int,
        *,
        standing: Standing | None = None,
        declared_rating: int | None = None,
        birth_year: int | None = None,
        past: PriorRating | None = None,
        since: str | None = None,
        strength: Strength | None = None,
        pool: str | None = None,
        actor: str,
        token: str | None = None,
    ) -> PlayerUpdate:
        """Record later data of a registered player: all of it, or nothing if a part is refused.

        Args:
            player: the number.
            standing: membership status, from *since* on.
            declared_rating: initial rating, points, from *since* on.
            birth_year: year of birth; it holds for all games.
            past: ratings and results from a list, with an instant of their own.
            since: an instant; None: today.
            strength: the strength that the player chooses, from *since* on; during the provisional games alone.
            pool: the pool of that strength; by default the first one.
            actor: the submitter.
            token: authenticates the actor, if the role of a recorder is assigned.

        Raises:
            MalformedError: a value is none that the journal may hold.
            RejectedError: no player is registered under the number, another fact is recorded, or the initial rating
                holds from a day after the first game, so that it would have no effect.
        """
        actor = self.ledger.recorder_named(token, actor)
        news = self.events_to_learn(
            player,
            standing=standing,
            declared_rating=declared_rating,
            birth_year=birth_year,
            past=past,
            since=since,
            strength=strength,
            pool=pool,
        )
        return self.update_outcome(player, news, self.ledger._record(news, actor))

    def describe(
        self, player: int, details: PlayerDetails, *, since: str | None = None, actor: str, token: str | None = None
    ) -> bool:
        """Record data about a player that hold from an instant on; by default from today.

        The fields that are stated already are left out. The data are stored with the names and erased with them.

        Returns:
            False if all of it was stated already.

        Raises:
            MalformedError: *since* is no instant.
            RejectedError: no player is registered under the number, or the player was erased.
            StorageError: the people file and the journal do not belong together.
        """
        ledger = self.ledger
        actor = ledger.recorder_named(token, actor)
        since = since or instant_text(ledger.now_ms(), Precision.DAY)
        problems: list[str] = []
        with _named(problems):
            instant_ms(since)
        if problems:
            raise MalformedError(problems)
        ledger.names.people()  # compared with the journal before anything is stored in it
        ledger.catch_up_if_corrected()
        with ledger.journal.writing() as writer:
            recorded_keys = writer.find([registration_key(player), erasure_key(player)])
            if registration_key(player) not in recorded_keys:
                raise rules.unknown_player(f"details:{player}", player)
            if erasure_key(player) in recorded_keys:
                message = f"player {player} was erased and has no data; register a person who returns as a new player"
                raise RejectedError("erased-player", f"details:{player}", message)
            transaction = Transaction.begin(writer, ledger.now_ms, actor)
            return bool(
                DetailsRecorder(transaction, ledger.current_facts, ledger.names).record({player: details}, since)
            )

    def events_to_learn(
        self,
        player: int,
        *,
        standing: Standing | None = None,
        declared_rating: int | None = None,
        birth_year: int | None = None,
        past: PriorRating | None = None,
        since: str | None = None,
        strength: Strength | None = None,
        pool: str | None = None,
    ) -> list[Event]:
        """Return the events that ``learn`` would record, with its arguments.

        A known year of birth is left out.

        Raises:
            MalformedError: a value is none that the journal may hold.
        """
        self.ledger.ensure_up_to_date()
        since = since or instant_text(self.ledger.now_ms(), Precision.DAY)
        problems, events = list[str](), list[Event]()
        with _named(problems):
            if birth_year not in {None, initial_ratings.birth_year(self.ledger.views.connection, player)}:
                events.append(BirthYearLearnt(player=player, birth_year=birth_year))
        with _named(problems):
            if standing is not None or declared_rating is not None:
                views = self.ledger.views.connection
                word = standing or initial_ratings.standing_at(views, player, instant_ms(since))
                change = PlayerChanged(
                    player=player, effective_at=since, standing=Standing(word), declared_rating=declared_rating
                )
                events.append(change)
        with _named(problems):
            if past is not None:
                events.append(past.seed(player, self.ledger.first_pool()))
        with _named(problems):
            if strength is not None:
                of_pool = self.ledger.pool(pool).name
                events.append(StrengthChosen(player=player, pool=of_pool, effective_at=since, strength=strength))
        if problems:
            raise MalformedError(problems)
        return events

    def update_outcome(self, player: int, news: Sequence[Event], receipts: Sequence[Receipt]) -> PlayerUpdate:
        """Return the outcome of newly recorded facts of a player, by the views as they were before."""
        connection, begins, until = self.ledger.views.connection, list[initial_ratings.InitialRatingEffect](), None
        for event in filter(initial_ratings.has_initial_rating, news):
            begins += initial_ratings.effects_in_pools(connection, self.ledger.views.pools(), event)
            if isinstance(event, RatingSeeded):
                (pool,) = (pool for pool in self.ledger.views.pools() if pool.name == event.pool)
                until = initial_ratings.next_list(connection, pool, event)
        return PlayerUpdate(
            player,
            sum(not receipt.duplicate for receipt in receipts),
            tuple(begin.pool for begin in begins if begin.takes_effect),
            tuple(begin.pool for begin in begins if not begin.takes_effect),
            until,
        )

    def namesakes(self, new_players: Sequence[tuple[str, str]]) -> list[Namesakes]:
        """Return those of *new_players*, pairs of identity and name, who have the name of another player."""
        return namesakes(self.ledger.names.people(), new_players)

    def take_list(
        self,
        frames: Iterable[DataFrame],
        *,
        pool: str | None = None,
        since: str | None = None,
        source: str | None = None,
        actor: str,
        token: str | None = None,
        faults_so_far: Callable[[], int] = lambda: 0,
        advance: Callable[[int], None] = lambda _: None,
        propose: Callable[[Sequence[Event]], object] | None = None,
        leave_out_late: bool = False,
        leave_out_faulty: bool = False,
        dry_run: bool = False,
    ) -> PlayersReport:
        """Register the players of a list with their history: all of them, or none if there is a fault.

        Args:
            frames: players in the columns of ``player_schema()``.
            pool: the pool that their ratings belong to; the ledger's first one by default.
            since: from when these hold, if a row has no instant; None: from the beginning.
            source: name of the list.
            actor: the importer.
            token: authenticates the actor, if the role of a recorder is assigned.
            faults_so_far: returns the number of the importer's faults that prevent recording.
            advance: called with the number of players of each frame that was read.
            propose: called with the facts about registered players, for another person to approve, before new players
                are registered; None: these facts are recorded.
            leave_out_late: leave out ratings of registered players from a day after their first game, and list them in
                the report; else they are faults.
            leave_out_faulty: record the rows without a fault; else a fault anywhere leaves nothing recorded.
            dry_run: report what would be recorded; nothing is written.

        Raises:
            UnknownNameError: there is no such pool.
            MalformedError: an instant or a name that no event may hold.
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        if not dry_run:
            actor = self.ledger.recorder_named(token, actor)
        self.ledger.ensure_up_to_date()
        name = self.ledger.first_pool() if pool is None else pool
        pools = {each.name: each for each in self.ledger.pools()}
        if name not in pools:
            raise UnknownNameError("pool", name, f"expected one of {sorted(pools)}")
        job = _ListImport(
            self.ledger,
            pools[name],
            since,
            source,
            actor,
            propose,
            leave_out_late=leave_out_late,
            leave_out_faulty=leave_out_faulty,
            dry_run=dry_run,
        )
        return job.take(frames, faults_so_far, advance)


@contextmanager
def _named(problems: list[str]) -> Iterator[None]:
    """Note the ValueError of an event class, which names its field, as one more problem."""
    try:
        yield
    except ValueError as error:
        problems.append(str(error))
