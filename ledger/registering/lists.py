"""Many players into the register at once: a list of a million, judged and sealed as columns, all of it or nothing.

Twin of ``registry``. The whole list is looked through before anything is written: a fault anywhere leaves the journal
as it was. No file format is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
import orjson

from ledger.book.roster import FROM_THE_BEGINNING
from ledger.book.timeline import Pool
from ledger.errors import RejectedError
from ledger.facts import codec, codec_columns
from ledger.facts.events import BirthYearLearnt, RatingSeeded
from ledger.facts.instants import instant_ms
from ledger.facts.source_games import Fault, FaultsFound
from ledger.journal import Writer, past_reach, rules
from ledger.players.namesakes import namesakes
from ledger.players.registering_columns import append_rows, register
from ledger.ratings import pasts
from ledger.ratings.open_ledger import OpenLedger
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import collector_paused

if TYPE_CHECKING:
    from polars import DataFrame

SEED_FIELDS = ("rating", "games", "deviation", "volatility", "highest", "k_factor")


@attrs.define
class PlayersReport(FaultsFound):
    """What became of a list of players.

    Attributes:
        players: players of the list.
        registered: those who are new.
        seeded: ratings to begin with that are new.
        births: years of birth that were learnt of known players.
        kept_names: players who were renamed and whom the list calls otherwise: they keep the name that they have.
        namesakes: lines of new players who have the name of somebody registered before, and whose.
        faults, fault_count: rows that could not be taken; where there is one, nothing was recorded.
    """

    players: int = 0
    registered: int = 0
    seeded: int = 0
    births: int = 0
    kept_names: int = 0
    namesakes: list[Fault] = attrs.Factory(list)


@attrs.define
class _Known:
    """What a list tells anew.

    Attributes:
        births: of registered players, rows of ``BirthYearLearnt``.
        seeded_lines: lines whose seed is known already.
        fresh: ``line``, ``identity``, ``name`` of who is new; None where nobody is registered yet.
    """

    births: list[tuple[int, int]] = attrs.Factory(list)
    seeded_lines: set[int] = attrs.Factory(set)
    fresh: DataFrame | None = None


class ListImport:
    """One list of players into one journal."""

    def __init__(self, ledger: OpenLedger, pool: Pool, since: str | None, source: str | None, actor: str) -> None:
        """Prepare the import of a list.

        Args:
            ledger: where the players are registered; its views are level.
            pool: the pool that the ratings belong to.
            since: from when they hold, where a row does not tell; None: from the beginning.
            source: name of the list.
            actor: who imports.

        Raises:
            MalformedError: an instant or a name that no event may hold.
        """
        RatingSeeded(player=1, pool=pool.name, effective_at=since, rating="1", source=source)
        self._ledger = ledger
        self._pool = pool
        self._since = since
        self._source = source
        self._actor = actor
        self._now_ms = ledger.now_ms()
        self._four_eyes = past_reach.are_four_eyes_on(ledger.journal.find)
        self.report = PlayersReport()

    def take(
        self, frames: Iterable[DataFrame], faults_so_far: Callable[[], int], advance: Callable[[int], None]
    ) -> PlayersReport:
        """Look the whole list through, then record it in one transaction, unless there is a fault.

        Args:
            frames: players in the columns of ``player_schema()``.
            faults_so_far: how many faults the importer found.
            advance: called with the number of players of each frame that was read.

        Raises:
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        with collector_paused():
            held: list[DataFrame] = []
            for frame in frames:
                held.append(frame)
                advance(len(frame))
            self.report.players = sum(map(len, held))
            self._refuse_doubles(held)
            known = [self._look(frame) for frame in held]
            if faults_so_far() or self.report.fault_count:
                return self.report
            fresh = [row for news in known if news.fresh is not None for row in news.fresh.iter_rows()]
            alike = namesakes(self._ledger.names.people(), [(identity, name) for _, identity, name in fresh])
            self.report.namesakes = [Fault(fresh[note.place][0], str(note)) for note in alike]
            with self._ledger.journal.writing() as writer:
                stamp = rules.recorded_text(rules.check_clock(self._now_ms, writer.last_recorded_at()))
                if not self._four_eyes and past_reach.are_four_eyes_on(writer.find):
                    message = "four eyes were set while this list was read; import it again"
                    raise RejectedError(past_reach.RULE, "", message)
                for frame, news in zip(held, known, strict=True):
                    self._record(writer, frame, news, stamp)
        return self.report

    def _refuse_doubles(self, held: Sequence[DataFrame]) -> None:
        """A player stands in a list once."""
        if not held:
            return
        rows = pl.concat([frame.select("identity", "line") for frame in held])
        doubled = rows.filter(~pl.col("identity").is_first_distinct())
        if len(doubled):
            firsts = dict(
                rows.filter(pl.col("identity").is_in(doubled["identity"].implode()))
                .unique("identity", keep="first", maintain_order=True)
                .iter_rows()
            )
            for identity, line in doubled.iter_rows():
                self.report.fault(line, f"{identity!r} stands in line {firsts[identity]} already; keep one of them")

    def _look(self, frame: DataFrame) -> _Known:
        """What is known of the registered players of a frame; what contradicts it is a fault."""
        news = _Known()
        persons = self._ledger.names.people().by_identity(frame["identity"].to_list())
        stored = self._ledger.journal.find([f"player:{person.player}" for person in persons.values()])
        numbers = {
            identity: person.player for identity, person in persons.items() if f"player:{person.player}" in stored
        }
        if next(self._ledger.people.salted(), None) is not None:  # into a ledger of nobody a list brings no namesake
            news.fresh = frame.select("line", "identity", "name").filter(~pl.col("identity").is_in(list(persons)))
        if not numbers:
            return news
        rows = frame.filter(pl.col("identity").is_in(list(numbers))).with_columns(
            player=pl.col("identity").replace_strict(numbers, default=None, return_dtype=pl.Int64)
        )
        self._look_at_people(rows, news)
        self._look_at_seeds(self._seeds(rows), news)
        return news

    def _refuse_past(self, line: int, event: BirthYearLearnt | RatingSeeded) -> None:
        """What is told of a registered player under four eyes is a fault where it reaches back."""
        try:
            past_reach.check(event, self._ledger.journal.find, self._now_ms)
        except RejectedError as error:
            self.report.fault(line, str(error))

    def _look_at_people(self, rows: DataFrame, news: _Known) -> None:
        people = pasts.known_of(self._ledger.views.connection, rows["player"].to_list(), self._now_ms)
        columns = rows.select("line", "identity", "player", "birth_year", "standing")
        for line, identity, player, born, standing in columns.iter_rows():
            known = people[player]
            if born is not None and known.birth_year is None:
                news.births.append((player, born))
                if self._four_eyes:
                    self._refuse_past(line, BirthYearLearnt(player=player, birth_year=born))
            elif born not in {None, known.birth_year}:
                self.report.fault(line, f"{identity!r} was born in {known.birth_year} says the ledger, not in {born}")
            if standing not in {None, known.standing}:
                self.report.fault(
                    line, f"{identity!r} is {known.standing} in the ledger, not {standing}; 'player set' changes it"
                )

    def _look_at_seeds(self, seeds: DataFrame, news: _Known) -> None:
        keys = codec_columns.player_keys(seeds, RatingSeeded).to_list()
        facts = codec_columns.player_facts(seeds, RatingSeeded).to_list() if keys else []
        stored = self._ledger.journal.find(keys)
        connection, players = self._ledger.views.connection, seeds["player"].to_list()
        firsts = pasts.first_ends(connection, self._pool, players)
        listed = pasts.listed_from(connection, self._pool, players)
        columns = seeds.select("line", "player", "effective_at").iter_rows()
        for (line, player, since), key, given in zip(columns, keys, facts, strict=True):
            try:
                if key in stored:
                    rules.check_repeat(RatingSeeded, key, rules.facts_of(stored[key]), orjson.loads(given))
                    news.seeded_lines.add(line)
                    continue
                if self._four_eyes:
                    seed = RatingSeeded(player=player, pool=self._pool.name, effective_at=since, rating="1")
                    self._refuse_past(line, seed)
                since_ms = FROM_THE_BEGINNING if since is None else instant_ms(since)
                if (player, since_ms) in listed:  # under another key, so in another spelling
                    self._ledger.standing.judge(codec.structure_event(RatingSeeded.KIND, orjson.loads(given)))
                if player in firsts:
                    begins = [pasts.judged(self._pool, firsts[player], since_ms)]
                    pasts.refuse_what_cannot_act(key, "rating", since or "", begins)
            except RejectedError as error:
                self.report.fault(line, str(error))

    def _seeds(self, rows: DataFrame) -> DataFrame:
        """The rows with a rating, in the columns of ``RatingSeeded``, with their lines."""
        return rows.filter(pl.col("rating").is_not_null()).select(
            "line",
            "player",
            pl.lit(self._pool.name).alias("pool"),
            *SEED_FIELDS,
            pl.col("since").fill_null(pl.lit(self._since, pl.String)).alias("effective_at"),
            pl.lit(self._source, pl.String).alias("source"),
        )

    def _record(self, writer: Writer, frame: DataFrame, news: _Known, stamp: str) -> None:
        named = dict(zip(frame["identity"].to_list(), frame["name"].to_list(), strict=True))
        met = register(writer, self._ledger.names, named, stamp, self._actor, frame)
        self.report.registered += len(met.new)
        self.report.kept_names += met.kept_names
        frame = frame.with_columns(pl.Series("player", [met.persons[identity].player for identity in named], pl.Int64))
        births = pl.DataFrame(news.births, {"player": pl.Int64, "birth_year": pl.Int64}, orient="row")
        self.report.births += append_rows(writer, births, BirthYearLearnt, stamp, self._actor)
        seeds = self._seeds(frame.filter(~pl.col("line").is_in(list(news.seeded_lines))))
        self.report.seeded += append_rows(writer, seeds, RatingSeeded, stamp, self._actor)
