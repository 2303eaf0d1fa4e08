"""The import of a list of players: a million of them, judged and encoded as columns, with their initial ratings.

The whole list is checked before anything is written, and a fault anywhere leaves the journal as it was. No file format
is handled here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.book import initial_ratings
from ledger.book.evidence import Context, Evidence
from ledger.book.guests import federation_at, home_federations, is_another_federation
from ledger.book.roster import FROM_THE_BEGINNING
from ledger.book.rules_by_keys import needs_a_proposal
from ledger.book.timeline import Pool
from ledger.duplicates.namesakes import namesakes
from ledger.errors import RejectedError, StorageError
from ledger.facts import codec, codec_columns
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    FederationSet,
    PlayerRegistered,
    RatingSeeded,
)
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.person_names import spelt
from ledger.facts.player_details import FIELDS as DETAIL_FIELDS
from ledger.facts.player_details import PlayerDetails, readable_details
from ledger.facts.prior_ratings import MAX_IDENTITY, PriorRating, person_faults
from ledger.facts.source_games import NEED_A_RATING, FaultsFound, FileFault
from ledger.facts.words import Standing
from ledger.handle import OpenLedger
from ledger.imports.players.rows import FURTHER_RATINGS
from ledger.journal import late_facts, rules
from ledger.journal.transactions import Transaction
from ledger.recording.new_players import append_rows, register
from ledger.recording.reported_tournaments import DetailsRecorder
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
        federations: federations of players that make them guests, or end that, in a pool of a federation.
        kept_names: renamed players whom the list calls by another name: they keep the present one.
        namesakes: lines of new players who have the name of one registered before, and the identity of that one.
        left_out: lines whose rating has no effect and was left out on request, with the reason.
        new_ratings: of registered players, each new rating: the player, from when it holds, points.
        further_ratings: the same by name of each further pool of a combined list.
        is_recorded: True if the list was recorded.
        faults, fault_count: refused rows; if there is one, nothing was recorded, unless such rows were to be left out.
    """

    players: int = 0
    registered: int = 0
    seeded: int = 0
    births: int = 0
    described: int = 0
    federations: int = 0
    proposed: int = 0
    kept_names: int = 0
    namesakes: list[FileFault] = attrs.Factory(list)
    left_out: list[FileFault] = attrs.Factory(list)
    new_ratings: list[tuple[int, str | None, str]] = attrs.Factory(list)
    further_ratings: dict[str, list[tuple[int, str | None, str]]] = attrs.Factory(dict)
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
        federations: of registered players.
        seeded_lines: by pool, lines whose initial rating is not recorded again: it is stored, proposed, or left out.
        fresh: ``line``, ``identity``, ``name`` of new players; None if no player was registered before.
    """

    registered: set[int] = attrs.Factory(set)
    births: list[tuple[int, int]] = attrs.Factory(list)
    federations: list[FederationSet] = attrs.Factory(list)
    seeded_lines: dict[str, set[int]] = attrs.Factory(lambda: defaultdict(set))
    fresh: DataFrame | None = None


def _plausible(pool: Pool) -> tuple[float, float]:
    """Return the lowest and the highest rating that a person may have by the pool's latest scheme."""
    return pool.eras[-1].scheme.plausible


def _rating_faults(row: Mapping[str, Any], kind: str, pool: Pool) -> Iterator[str]:
    """Yield the fault of a rating that nobody has."""
    column = _rating_columns(kind)[0]
    low, high = _plausible(pool)
    if row[column] is not None and not low <= float(row[column]) <= high:
        yield f"the rating {row[column]} is beyond {low:g} to {high:g}: correct it @ $.{column}"


@attrs.define
class ListImport:
    """The import of one list of players, with the arguments of ``Registry.take_list``; the views are up to date."""

    _ledger: OpenLedger
    _pools: Mapping[str, Pool]  # by kind of rating, "" for that of every list
    _since: str | None
    _source: str | Mapping[str, str] | None
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
        for pool in self._pools.values():
            RatingSeeded(player=1, pool=pool.name, effective_at=self._since, rating="1", source=self._source_of(pool))
        self._now_ms = self._ledger.now_ms()
        # A proposal is what four eyes ask for: nothing of it needs to be refused.
        self._four_eyes = self._propose is None and late_facts.are_four_eyes_on(self._ledger.journal.find)

    def _source_of(self, pool: Pool) -> str | None:
        return self._source if self._source is None or isinstance(self._source, str) else self._source[pool.name]

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
            self.report.federations += len(news.federations)
            for kind, pool in self._pools.items():
                is_known = pl.col("line").is_in(list(news.seeded_lines[pool.name]))
                self.report.seeded += len(frame.filter(pl.col(_rating_columns(kind)[0]).is_not_null() & ~is_known))

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
            for kind in filter(None, self._pools):
                pairs = zip(_rating_columns(kind), _rating_columns(""), strict=True)
                of_kind = frame.select(pl.col(column).alias(name) for column, name in pairs)
                suspected |= codec_columns.suspects(of_kind, RatingSeeded)
            for kind, pool in self._pools.items():
                rating = pl.col(_rating_columns(kind)[0]).cast(pl.Float64, strict=False)
                suspected |= frame.select(~rating.is_between(*_plausible(pool))).to_series().fill_null(value=False)
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
        with noted_faults(faults):
            # An invalid word is left to the event class, which names its field.
            word = Standing(standing) if standing in set(Standing) else standing
            born = row["birth_year"]
            PlayerRegistered(player=1, joined_at="2000", standing=word, birth_year=born, commitment="0" * 64)
        if row["rating"] is None:
            unfounded = [name for name in NEED_A_RATING if row[name] is not None]
            faults += [f"there is {name} {row[name]} and no rating @ $.{name}" for name in unfounded]
        else:
            with noted_faults(faults):
                past = PriorRating(**{name: row[name] for name in SEED_FIELDS}, since=row["since"])
                past.seed(1, self._pools[""].name)
        for kind in filter(None, self._pools):
            rating, k_factor = (row[name] for name in _rating_columns(kind))
            if rating is not None:
                with noted_faults(faults):
                    PriorRating(rating=rating, k_factor=k_factor, since=row["since"]).seed(1, self._pools[kind].name)
        return faults or [fault for kind, pool in self._pools.items() for fault in _rating_faults(row, kind, pool)]

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
        for kind, pool in self._pools.items():
            self._look_at_seeds(self._seeds(rows, kind), pool, news)
        self._look_at_federations(rows, news)
        return news

    @cached_property
    def _latest_ms(self) -> int:
        return late_facts.latest_ms(self._ledger.journal, self._now_ms)

    def _refuse_past(self, line: int, event: BirthYearLearnt | RatingSeeded | FederationSet) -> None:
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

    def _federations(self, rows: DataFrame) -> Iterator[tuple[int, FederationSet]]:
        """Yield line and federation of rows with one, if the ledger has guests; from the list's day, or today."""
        if self._home and "federation" in rows.columns:
            since = self._since or instant_text(self._now_ms, Precision.DAY)
            stated = rows.filter(pl.col("federation").is_not_null())
            for line, player, day, code in stated.select("line", "player", "since", "federation").iter_rows():
                yield line, FederationSet(player=player, effective_at=day or since, federation=code)

    @cached_property
    def _home(self) -> set[str]:
        """The federations of the pools that have guests: a player of whom nothing else is known is none there."""
        return home_federations(self._ledger.pools())

    def _look_at_federations(self, rows: DataFrame, news: _ListNews) -> None:
        """Note the federations of registered players that are new; another one of the same day is a fault."""
        facts = list(self._federations(rows))
        stored = self._ledger.journal.find([fact.key for _, fact in facts])
        connection = self._ledger.views.connection
        for line, fact in facts:
            if not is_another_federation(connection, fact, self._home):
                continue
            if fact.key in stored:
                now = federation_at(connection, fact.player, instant_ms(fact.effective_at))
                words = f"player {fact.player} belongs to {now} from {fact.effective_at} on, not to {fact.federation}"
                self.report.fault(line, f"{words}, says the ledger; 'correct federation' changes it")
                continue
            self._refuse_past(line, fact)
            if self._propose is None:
                news.federations.append(fact)
            else:
                self._proposed.append(fact)

    def _look_at_seeds(self, seeds: DataFrame, pool: Pool, news: _ListNews) -> None:
        keys = codec_columns.keys(seeds, RatingSeeded).to_list()
        facts = codec_columns.facts(seeds, RatingSeeded).to_list() if keys else []
        stored = self._ledger.journal.find(keys)
        connection, players = self._ledger.views.connection, seeds["player"].to_list()
        listed = initial_ratings.seed_instants(connection, pool, players)
        is_first, seeded_lines = pool is self._pools[""], news.seeded_lines[pool.name]
        new_ratings = self.report.new_ratings if is_first else self.report.further_ratings.setdefault(pool.name, [])
        columns = seeds.select("line", "player", "effective_at", "rating").iter_rows()
        for (line, player, since, rating), key, facts_text in zip(columns, keys, facts, strict=True):
            try:
                if key in stored:
                    # the same list imported again adds nothing; another rating under its key is a conflict
                    rules.check_repeat(RatingSeeded, key, rules.facts_of(stored[key]), orjson.loads(facts_text))
                    seeded_lines.add(line)
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
                        seeded_lines.add(line)
                new_ratings.append((player, since, rating))
            except RejectedError as error:
                if self._leave_out_late and error.rule == initial_ratings.TOO_LATE:
                    self.report.left_out.append(FileFault(line, str(error)))
                    seeded_lines.add(line)
                else:
                    self.report.fault(line, str(error))

    def _seeds(self, rows: DataFrame, kind: str) -> DataFrame:
        """Return the rows with a rating of a kind, in the columns of ``RatingSeeded``, with their lines."""
        pool, (rating, k_factor) = self._pools[kind], _rating_columns(kind)
        fields = {name: pl.col(name) if not kind else pl.lit(None, rows.schema[name]) for name in SEED_FIELDS}
        fields |= {"rating": pl.col(rating), "k_factor": pl.col(k_factor)}
        return rows.filter(pl.col(rating).is_not_null()).select(
            "line",
            "player",
            pl.lit(pool.name).alias("pool"),
            *(column.alias(name) for name, column in fields.items()),
            pl.col("since").fill_null(pl.lit(self._since, pl.String)).alias("effective_at"),
            pl.lit(self._source_of(pool), pl.String).alias("source"),
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
        for kind, pool in self._pools.items():
            seeds = self._seeds(frame.filter(~pl.col("line").is_in(list(news.seeded_lines[pool.name]))), kind)
            self.report.seeded += append_rows(transaction, seeds, RatingSeeded)
        new = {person.player for person in registration.new}
        self._describe(transaction, frame, new)
        facts = [fact for _, fact in self._federations(frame.filter(pl.col("player").is_in(list(new))))]
        foreign = [*news.federations, *(fact for fact in facts if fact.federation not in self._home)]
        transaction.append(foreign)
        self.report.federations += len(foreign)

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
        by_values: dict[tuple[Any, ...], PlayerDetails] = {}  # many players share their data with others
        for row in rows.iter_rows():
            values = row[2:]
            details = by_values.get(values)
            if details is None:
                details = by_values[values] = readable_details(dict(zip(columns, values, strict=True)))[0]
            by_day.setdefault(row[1], {})[row[0]] = details
        for since, details_of in by_day.items():
            self.report.described += self._details.record(details_of, since, new)


def _rating_columns(kind: str) -> tuple[str, str]:
    """Return the columns of a rating and its K: those of every list (""), or of a further kind of a combined list."""
    return FURTHER_RATINGS[kind] if kind else ("rating", "k_factor")


@contextmanager
def noted_faults(problems: list[str]) -> Iterator[None]:
    """Note the ValueError of an event class, which names its field, as one more problem."""
    try:
        yield
    except ValueError as error:
        problems.append(str(error))
