"""The dry run of an import: the same report as of the import, with the first games as the importer understood them.

A dry run of a list of players is done by the registry itself; the ratings that it would change are compared here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger import schemes
from ledger.answers.asking import in_one_snapshot, names
from ledger.answers.report_comparisons import check_of_reports
from ledger.book.evidence import CurrentFacts
from ledger.duplicates.game_keys import DerivedKeys
from ledger.facts.events import GameRecorded
from ledger.facts.instants import instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.person_names import spelt
from ledger.facts.source_games import SourceReport, SourceRound
from ledger.handle import OpenLedger
from ledger.journal import FindEntries, Journal, Writer
from ledger.journal.scratch import ScratchJournal
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.players.reasons import commitment
from ledger.players.verified_names import (
    AssignedNumbers,
    VerifiedNames,
    is_renaming,
    latest_commitments,
    registration_key,
)
from ledger.recording.game_columns import blocks_of
from ledger.recording.game_import import GameImport, ImportReport
from ledger.recording.pool_choice import PoolChoice
from ledger.registering.player_lists import PlayersReport

if TYPE_CHECKING:
    from polars import DataFrame


@attrs.frozen(kw_only=True, slots=False)
class UnderstoodGame:
    """A game of a file as the importer understood it."""

    ended_at: str = documented("when it ended, as precisely as the file tells")
    white: str = documented("what White is called")
    black: str = documented("what Black is called")
    outcome: str = documented("white, black, draw or none")
    termination: str = documented("how it ended, a word of game-recorded/1")
    pool: str = documented("the pool")
    tournament: str | None = documented("name of the tournament")
    round: str | None = documented("the round")
    white_rating: int | None = documented("the rating that the file shows of White, points")
    black_rating: int | None = documented("the rating that the file shows of Black, points")
    half_moves: int | None = documented("how many half-moves it has", minimum=0)


@attrs.frozen(kw_only=True, slots=False)
class ListedRating:
    """A rating that a list would give to a registered player, with the rating in force and the difference."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    since: str | None = documented("from when the list holds; null: from the beginning")
    rating: float | None = documented("the rating in force then, points; null: there is none")
    listed: float = documented("the rating of the list, points")
    difference: float | None = documented("the list's rating less the one in force, points; null: there is none")


@in_one_snapshot
def compare_list_ratings(ledger: OpenLedger, report: PlayersReport, pool: str | None = None) -> list[ListedRating]:
    """Compare the new ratings of a list with those in force on its day.

    If the list holds from the beginning, they are compared with today's.

    The *report* is that of a dry run of ``Registry.take_list``. The largest differences come first, then players who
    have no rating yet, by number.
    """
    states, now_ms = ledger.states(ledger.pool(pool)), ledger.now_ms()
    new_ratings = report.further_ratings.get(pool or "", report.new_ratings)
    called = names(ledger, {player for player, _, _ in new_ratings})
    rows: list[ListedRating] = []
    for player, since, listed in new_ratings:
        before = states.at(player, now_ms if since is None else instant_ms(since)).in_force
        rows.append(
            ListedRating(
                player=player,
                name=called[player],
                since=since,
                rating=before,
                listed=float(listed),
                difference=None if before is None else float(listed) - before,
            )
        )
    return sorted(rows, key=lambda row: (row.difference is None, -abs(row.difference or 0.0), row.player))


@attrs.define
class _PreviewedFacts:
    """The facts of the first games that would be recorded, and the number of games in each pool."""

    most: int
    first: list[dict[str, Any]] = attrs.Factory(list)
    pools: Counter[str] = attrs.Factory(Counter)

    def __call__(self, kind: str, body: bytes) -> None:
        if kind == GameRecorded.KIND:
            facts = orjson.loads(body)["facts"]
            self.pools[facts["pool"]] += 1
            if len(self.first) < self.most:
                self.first.append(facts)


class _DryNames(VerifiedNames):
    """The names of a people file, in which new players get the numbers that an import would give them."""

    def __init__(self, journal: Journal, people: People) -> None:
        super().__init__(journal, people)
        self._dry_journal = journal
        self.new: dict[str, Person] = {}  # by identity as it is compared
        self._free = people.highest() + 1

    def assign_numbers(self, named: Mapping[str, str], joined_at: str, find: FindEntries) -> AssignedNumbers:
        """Return what ``VerifiedNames.assign_numbers`` would, without storing a person."""
        people = self.people()
        persons = people.by_identity(list(named))
        on_file = {identity: person for identity, person in persons.items() if person.identity is not None}
        for identity, name in named.items():
            if identity not in on_file:
                key = spelt(identity)
                if key not in self.new:
                    self.new[key] = Person(self._free + len(self.new), identity, name, b"", joined_at)
                persons[identity] = self.new[key]
        sealed = latest_commitments(self._dry_journal, find, (person.player for person in on_file.values()))
        for identity, person in on_file.items():
            if person.player in sealed:
                persons[identity] = self._confirmed(person, sealed[person.player])
        renamed = {player for player, entry in sealed.items() if is_renaming(entry)}
        # new ones whose registration is tried already, by an earlier file
        keys = {registration_key(person.player): person.player for person in self.new.values()}
        return AssignedNumbers(persons, {*sealed, *(keys[key] for key in find(list(keys)))}, renamed)

    def store_texts(self, writer: Writer, texts: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        """Return commitments to texts without storing one."""
        return {key: commitment(b"", text) for key, text in texts.items()}


class ImportPreview:
    """A dry run of the import of several files, each after the games that those before it would record."""

    def __init__(self, ledger: OpenLedger, most: int) -> None:
        """Prepare a dry run that keeps the first *most* games to be shown."""
        self._ledger = ledger
        self._seen = _PreviewedFacts(most)
        # Over as many entries as there are now: what others record meanwhile is no part of the preview.
        self._journal = ScratchJournal(ledger.journal, ledger.journal.size(), watch=self._seen)
        self._names = _DryNames(self._journal, ledger.people)
        # Once: a people file without a secret gives another one each time, and a game has one key in all files.
        self._secret = cache(ledger.people.secret_or_random)

    def import_games(
        self,
        frames: Iterable[DataFrame],
        *,
        choice: PoolChoice,
        strict: bool = False,
        record_alike: bool = False,
        keep_differences: bool = False,
        actor: str = "import",
        faults_so_far: Callable[[], int] = lambda: 0,
        advance: Callable[[int], None] = lambda _: None,
        rounds: Callable[[], Sequence[SourceRound]] = tuple,
        reports: Callable[[], Sequence[SourceReport]] = tuple,
        is_report: bool = False,
        accept: Collection[str] = (),
    ) -> ImportReport:
        """Return the report that ``Ledger.import_games`` would give, with the same arguments and errors."""
        ledger = self._ledger
        ledger.catch_up_if_corrected()
        first = schemes.complete_adoption(ledger.first_scheme(), stored=True)
        keys = DerivedKeys(self._journal, self._secret)
        job = GameImport(
            self._names,
            keys,
            CurrentFacts(self._journal, ledger.views),
            ledger.views,
            ledger.erased_sides(keys),
            first,
            choice,
            actor,
            ledger.now_ms,
            record_alike=record_alike,
            keep_differences=keep_differences,
        )
        return job.import_blocks(
            blocks_of(frames),
            strict=strict,
            faults_so_far=faults_so_far,
            advance=advance,
            rounds=rounds,
            reports=reports,
            check=check_of_reports(ledger, choice, accept, is_report=is_report, is_trial=True),
        )

    @property
    def new_players(self) -> list[Person]:
        """The players who would be registered, by their numbers."""
        return list(self._names.new.values())

    @property
    def pools(self) -> Counter[str]:
        """The number of games that would be recorded, by pool."""
        return self._seen.pools

    def games(self) -> list[UnderstoodGame]:
        """Return the first games that would be recorded, with the names of the players."""
        numbers = {facts[side] for facts in self._seen.first for side in ("white", "black")}
        persons = {**self._ledger.people.by_number(numbers), **{new.player: new for new in self.new_players}}
        names = {player: person.name or f"player {player}" for player, person in persons.items()}
        games = []
        for facts in self._seen.first:
            fields: dict[str, Any] = {field.name: facts.get(field.name) for field in attrs.fields(UnderstoodGame)}
            games.append(UnderstoodGame(**{**fields, "white": names[facts["white"]], "black": names[facts["black"]]}))
        return games

    def close(self) -> None:
        """Release the scratch journal of the dry run."""
        self._journal.close()
