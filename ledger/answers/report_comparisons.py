"""Comparison of a tournament report with the ledger: numbers, names, data about players, ratings of the list in force.

The findings go to ``recording.findings``, which says what follows from them; nothing is written. Ratings are compared
in a pool whose scheme is FIDE's, elsewhere only if most agree: those that servers show are not the pool's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

import attrs

from ledger.answers.asking import in_one_snapshot
from ledger.answers.player_details import details_at
from ledger.answers.recorded_events import event_findings
from ledger.book import decisions
from ledger.book.stored_proposals import load_merges
from ledger.book.taken_back import players_taken_back
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.event_fields import FEDERATION_PATTERN
from ledger.facts.federations import FEDERATIONS, WITHOUT_FEDERATION
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text
from ledger.facts.name_agreement import NameAgreement, are_near, name_agreement
from ledger.facts.periods import DAY_MS
from ledger.facts.person_names import WITHOUT_CASE, are_different_people, folded, register_of, spelt
from ledger.facts.player_details import NO_DETAILS, OPEN_TITLES, WOMEN_TITLES, PlayerDetails, readable_details
from ledger.facts.source_games import SourceEntrant, SourceReport
from ledger.handle import OpenLedger
from ledger.imports.reading import DAY_LENGTH, TOO_FAST
from ledger.players.persons import Person
from ledger.publishing.publications import Publication, Publications
from ledger.recording.findings import NO_CLASS, ReportCheck, ReportFinding, accepted_codes
from ledger.recording.pool_choice import BY_TIME_CONTROL, PoolChoice
from ledger.recording.report_checks import (
    HIGHEST,
    TOURNAMENT_DAYS,
    days_in_future,
    performance_findings,
    structure_findings,
)
from ledger.registering.registry import Registry

RATED_BY_FIDE = frozenset({"fide"})  # schemes whose pools have the ratings that tournament reports show
ONE_LIST_DAYS = 30  # days of a tournament in which the list of its first day counts in all rounds
FEWEST_DIFFERING = 5  # ratings from which on they may be of another list, if they are more than a half of all
UNRATED = 0  # in place of a rating, as reports write it
_LIST_DAYS = (
    92  # days for which a list says which titles there are: FIDE's lists held for a quarter, and hold for a month
)
_LEAST_LISTED = 4  # entrants who must be on the list before one without a rating there is remarkable
_COMPARED = {"federation": "federation-differs", "sex": "sex-differs", "national": "national-differs"}


@in_one_snapshot
def compare_reports(ledger: OpenLedger, choice: PoolChoice, reports: Sequence[SourceReport]) -> list[ReportFinding]:
    """Return the findings in the reports of a file, by line."""
    findings: list[ReportFinding] = []
    for report in reports:
        name = choice.pool_of(report.variant, report.speed)
        pool = None
        with suppress(UnknownNameError):  # a pool that the import makes has no ratings yet
            pool = None if name is None else ledger.pool(name)
        if name is None and choice.pool == BY_TIME_CONTROL:
            findings.append(_without_class(report))
        findings += structure_findings(report)
        findings += days_in_future(report, ledger.now_ms())
        findings += _Comparison(ledger, report, pool).findings()
    return sorted(findings)


def _without_class(report: SourceReport) -> ReportFinding:
    line = report.line_of("222", "122")
    why = "is faster than FIDE rates" if report.speed == TOO_FAST else "is missing, or it is not understood"
    return ReportFinding(line, NO_CLASS, f"the time control {why}")


def check_of_reports(
    ledger: OpenLedger, choice: PoolChoice | None, accept: Collection[str], *, is_report: bool, is_trial: bool = False
) -> ReportCheck | None:
    """Return the checks of an import; None for a file that is no report.

    Raises:
        MalformedError: *accept* has a code that is no warning's.
    """
    accepted = accepted_codes(accept)
    if not is_report:
        return None
    of_pool = choice or PoolChoice(pool=ledger.first_pool())
    return ReportCheck(lambda reports: compare_reports(ledger, of_pool, reports), accepted, is_trial)


def _is_whole(birth: str | None) -> bool:
    """Return whether a date of birth has a day; the first of January is often written for a year alone."""
    return birth is not None and len(birth) == DAY_LENGTH and not birth.endswith("-01-01")


@attrs.define
class _Side:
    """An entrant with the player whose identity the report gives; None for a new player."""

    entrant: SourceEntrant
    person: Person | None
    player: int | None

    @property
    def has_number(self) -> bool:
        """True if a register numbered the player, and the identity is not made of the name."""
        register = register_of(self.entrant.player_id)
        return bool(register) and register not in WITHOUT_CASE

    @property
    def shown(self) -> int:
        """The rating in the report, or ``UNRATED``."""
        return self.entrant.rating or UNRATED

    @property
    def born(self) -> str | None:
        """The year of birth in the report."""
        return (self.entrant.details.get("birth") or "")[:4] or None

    def __str__(self) -> str:
        return str(self.entrant)


class _ListRatings:
    """The ratings of a pool in force at the beginning of a tournament, or of each of its periods if it is long."""

    def __init__(self, ledger: OpenLedger, pool: Pool, report: SourceReport) -> None:
        self._states = ledger.states(pool)
        self._publications = Publications(ledger)
        self._days = self._days_of(report)
        first_ms = instant_ms(report.edition)
        self.are_of_fide = pool.eras[pool.era_at(first_ms)].scheme.name in RATED_BY_FIDE
        self._lists = list(dict.fromkeys(self._published(pool.name)))
        self.pool = pool

    @staticmethod
    def _days_of(report: SourceReport) -> list[str]:
        days = [report.edition]
        if (
            report.last_day is not None
            and instant_end_ms(report.last_day) - instant_ms(days[0]) > ONE_LIST_DAYS * DAY_MS
        ):
            days += [report.last_day, *report.round_days.values()]
        return sorted(set(days))

    def _published(self, pool: str) -> Iterator[Publication]:
        """Yield the lists in force on the days; the list of a day may hold from its beginning or from its end."""
        for each in self._days:
            for ms in (instant_ms(each) - 1, instant_end_ms(each)):
                publication = self._publications.list_in_force_at(pool, ms)
                if publication is not None:
                    yield publication

    def of(self, player: int) -> dict[int, str]:
        """Return the ratings that a report may show of a player, each with its list; empty for an unrated player.

        If the player is unrated on one of the lists, 0 is among them.
        """
        rows = [(publication, self._publications.row(publication, player)) for publication in self._lists]
        ratings = {row.shown: f"in the list {publication.name}" for publication, row in rows if row is not None}
        if not ratings:
            ratings = self._of_the_ledger(player)
        if ratings and any(row is None for _, row in rows):
            ratings.setdefault(UNRATED, "unrated")
        return ratings or self._of_another_pool(player)

    def _of_another_pool(self, player: int) -> dict[int, str]:
        """Return the ratings with which a player would begin in the pool; a report may show them, or none."""
        ratings: dict[int, str] = {}
        for each in self._days:
            _, source = self._states.starts.begin(player, instant_ms(each))
            if source is not None and source.in_force is not None:
                name = self.pool.eras[self.pool.era_at(instant_ms(each))].from_pool
                ratings.setdefault(round(source.in_force), f"in pool {name!r} on {each}")
        return {**ratings, UNRATED: f"unrated in pool {self.pool.name!r}"} if ratings else {}

    def _of_the_ledger(self, player: int) -> dict[int, str]:
        """Return the ratings in force by the ledger, and that of the last list that was loaded."""
        ratings: dict[int, str] = {}
        for each in self._days:
            ms = instant_ms(each)
            states = (self._states.at(player, ms, before=True), self._states.at(player, instant_end_ms(each)))
            seed = self._seed(player, ms)
            for rating in (*(state.in_force for state in states), *([] if seed is None else [seed])):
                shown = UNRATED if rating is None else round(rating)
                ratings.setdefault(shown, f"in pool {self.pool.name!r} on {each}")
        return {} if ratings.keys() <= {UNRATED} else ratings

    def first_list_ms(self, player: int) -> int:
        """Return from when a player has a list rating, milliseconds since 1970; ``BEGINNING`` without one."""
        return min((seed.ms for seed in self._states.seeds(player)), default=BEGINNING)

    def is_recent(self, players: Iterable[int]) -> bool:
        """Return whether the last list with ratings of some players was in force less than a quarter before."""
        first_ms = instant_end_ms(self._days[0])
        seeds = (self._states.seed_at(player, first_ms) for player in players)
        return any(seed is not None and seed.ms > first_ms - _LIST_DAYS * DAY_MS for seed in seeds)

    def _seed(self, player: int, ms: int) -> float | None:
        stored = self._states.seed_at(player, ms)
        return None if stored is None else stored.seed.rating


class _Comparison:
    """The comparison of one report with one pool of the ledger."""

    def __init__(self, ledger: OpenLedger, report: SourceReport, pool: Pool | None) -> None:
        self._ledger, self._report = ledger, report
        identities = [entrant.player_id for entrant in report.entrants]
        persons = ledger.people.by_identity(identities)
        merges = load_merges(ledger.views.connection)
        self._sides = [
            _Side(entrant, person, None if person is None else decisions.person_of(merges, person.player))
            for entrant in report.entrants
            for person in (persons.get(entrant.player_id),)
        ]
        self._identities = set(map(spelt, identities))
        self._lists = None if pool is None else _ListRatings(ledger, pool, report)

    @cached_property
    def _details(self) -> Mapping[int, PlayerDetails]:
        players = {side.player for side in self._sides if side.player is not None}
        return details_at(self._ledger, players, instant_end_ms(self._report.edition)) if players else {}

    def findings(self) -> Iterator[ReportFinding]:
        """Yield all findings."""
        if self._lists is not None:
            players = {side.entrant.start_number: side.player for side in self._sides if side.player is not None}
            yield from event_findings(self._ledger.views.connection, self._lists.pool, self._report, players)
        suspects: set[int] = set()  # whose numbers are in doubt: their other data are another player's
        for finding in self._numbers():
            suspects.add(finding.line)
            yield finding
        yield from self._new_players()
        yield from self._entered_twice()
        certain = [side for side in self._sides if side.entrant.line not in suspects]
        yield from self._federations_unknown()
        for side in certain:
            if side.player is not None:
                yield from self._data(side, self._details.get(side.player, NO_DETAILS))
        yield from self._titles(certain)
        yield from self._national_numbers()
        listed = {side.entrant.start_number: self._ratings(side) for side in certain}
        if not self._are_of_the_pool(certain, listed):
            listed = {rank: {} for rank in listed}
        yield from self._before_any_list(certain, listed)
        yield from self._ratings_differ(certain, listed)
        for side in certain:
            if side.shown > HIGHEST and side.has_number and not listed[side.entrant.start_number]:
                message = f"{side} has the rating {side.shown}, and no list has more than {HIGHEST}"
                yield ReportFinding(side.entrant.line, "rating-unlikely", message)
        ratings = {side.entrant.start_number: side.entrant.rating for side in self._sides if side.entrant.rating}
        of_lists = {number: max(by_rating) for number, by_rating in listed.items() if by_rating}
        yield from performance_findings(self._report, {**of_lists, **ratings})

    # -- numbers and names -----------------------------------------------------------------------------------------

    def _numbers(self) -> Iterator[ReportFinding]:
        """Yield the numbers that belong to other names, and pairs of exchanged numbers."""
        others: list[tuple[_Side, str, NameAgreement]] = []
        for side in self._sides:
            name = None if side.person is None else side.person.name
            if side.has_number and name:
                agreement = name_agreement(name, side.entrant.player_name)
                if agreement is not NameAgreement.SAME:
                    others.append((side, name, agreement))
        for side, name, agreement in others:
            entrant = side.entrant
            exchanged = next((each for each, called, _ in others if self._fit(side, name, each, called)), None)
            message = f"{entrant.player_id} is {name!r} in the ledger, and {entrant.player_name!r} here"
            if exchanged is not None:
                message += f"; line {exchanged.entrant.line} has that name with the number of this one"
                yield ReportFinding(entrant.line, "numbers-swapped", message)
            elif agreement is NameAgreement.OTHER:
                yield ReportFinding(entrant.line, "number-of-another", message + self._number_of(side))
            else:
                yield ReportFinding(entrant.line, "name-differs", message + self._number_of(side))

    @staticmethod
    def _fit(side: _Side, name: str, other: _Side, other_name: str) -> bool:
        """Return whether two entrants have the names of each other's numbers."""
        names = ((other_name, side.entrant.player_name), (name, other.entrant.player_name))
        return side is not other and all(name_agreement(*pair) is NameAgreement.SAME for pair in names)

    def _number_of(self, side: _Side) -> str:
        """Return which number the name has in the ledger, in words; empty if none or several."""
        bearers = self._bearers(side)
        return f", whom it knows as {bearers[0].identity}" if len(bearers) == 1 else ""

    def _bearers(self, side: _Side) -> list[Person]:
        """Return the players with an entrant's name and another number of the same register."""
        entrant, keys = side.entrant, folded(side.entrant.player_name).keys
        people = self._ledger.people
        try:
            matches = [match.player for match in people.search.find(entrant.player_name)]
            by_number = people.by_number(matches)
            bearers = [by_number[player] for player in matches]
        except MalformedError:  # no word of it has three letters
            bearers = people.find(entrant.player_name)
        absent = players_taken_back(self._ledger.views.connection, [person.player for person in bearers])
        return [
            person
            for person in bearers
            if person.identity
            and person.player not in absent
            and keys & folded(person.name or "").keys
            and are_different_people(entrant.player_id, person.identity)
        ]

    def _new_players(self) -> Iterator[ReportFinding]:
        """Yield the new players who are probably known ones: by their names, and what else the report says."""
        new = [side for side in self._sides if side.person is None]
        if not new or not self._ledger.people.highest():
            return
        for side in new if any(each.has_number for each in new) else ():
            yield from self._wrong_number(side)
        registry = Registry(self._ledger)
        for note in registry.namesakes([(side.entrant.player_id, side.entrant.player_name) for side in new]):
            side = new[note.place]
            others = self._ledger.people.by_identity(note.others).values()
            absent = players_taken_back(self._ledger.views.connection, [other.player for other in others])
            for other in others:
                if other.player in absent or other.identity is None or spelt(other.identity) in self._identities:
                    continue  # both play: they are two people
                supports, contradicts = self._evidence(side, other)
                if supports or not (contradicts or note.is_misspelt):
                    message = f"{side.entrant.player_id} is new, and named like {other.identity} ({other.name})"
                    yield ReportFinding(side.entrant.line, "resembles-known", message)
                    break

    def _entered_twice(self) -> Iterator[ReportFinding]:
        """Yield the entrants who are probably in the report twice, once without a number."""
        opponents = {frozenset((game.white, game.black)) for game in self._report.pairings}
        by_name: dict[str, _Side] = {}
        for side in sorted(self._sides, key=lambda side: (not side.has_number, side.entrant.line)):
            name = " ".join(sorted(folded(side.entrant.player_name).words))
            other = by_name.setdefault(name, side)
            are_two = other is side or side.has_number or (side.born and other.born and side.born != other.born)
            if not are_two and {side.entrant.start_number, other.entrant.start_number} not in opponents:
                message = f"{side} has the name of {other}, line {other.entrant.line}, and no number"
                yield ReportFinding(side.entrant.line, "entered-twice", message)

    def _wrong_number(self, side: _Side) -> Iterator[ReportFinding]:
        for person in self._bearers(side) if side.has_number else ():
            identity = person.identity or ""
            if spelt(identity) in self._identities:
                continue
            supports, contradicts = self._evidence(side, person)
            is_near = are_near(side.entrant.player_id, identity, 2)
            if supports or (is_near and not contradicts):
                message = f"nobody is {side.entrant.player_id}, and {person.name!r} is {identity}"
                yield ReportFinding(side.entrant.line, "number-unknown", message)
                return

    def _evidence(self, side: _Side, person: Person) -> tuple[bool, bool]:
        """Return whether year of birth or rating say that an entrant is a player, and whether the year says no."""
        details = details_at(self._ledger, {person.player}, instant_end_ms(self._report.edition))
        born = (details.get(person.player, NO_DETAILS).birth or "")[:4]
        shown = side.entrant.rating
        lists = self._lists if self._lists is not None and self._lists.are_of_fide else None
        has_rating = shown is not None and lists is not None and shown in lists.of(person.player)
        is_contradicted = bool(born and side.born and born != side.born)
        return (has_rating or bool(born and born == side.born)) and not is_contradicted, is_contradicted

    # -- data about players ----------------------------------------------------------------------------------------

    def _data(self, side: _Side, details: PlayerDetails) -> Iterator[ReportFinding]:
        stated, _ = readable_details(side.entrant.details)
        lines = {each.rank: each.line for each in self._report.national}
        born = (details.birth or "")[:4]
        if born and side.born and born != side.born:
            message = f"{side} is born in {side.born} by the report, and in {born} in the ledger"
            yield ReportFinding(side.entrant.line, "birth-year-differs", message)
        elif stated.birth != details.birth and _is_whole(stated.birth) and _is_whole(details.birth):
            message = f"{side} is born on {stated.birth} by the report, and on {details.birth} in the ledger"
            yield ReportFinding(side.entrant.line, "birth-year-differs", message)
        for field, code in _COMPARED.items():
            here, there = getattr(stated, field), getattr(details, field)
            if field == "federation" and here not in FEDERATIONS:
                continue
            if here and there and here != there and not {here, there} & WITHOUT_FEDERATION:
                is_national = field == "national"
                line = lines.get(side.entrant.start_number, side.entrant.line) if is_national else side.entrant.line
                named = "national number" if is_national else field
                message = f"{side} has the {named} {here}, and {there} in the ledger"
                yield ReportFinding(line, code, message)

    def _titles(self, sides: Sequence[_Side]) -> Iterator[ReportFinding]:
        """Yield the titles that are lower than those of the list, and those that a recent list should have."""
        entrants = {
            side.player: side
            for side in sides
            if side.player is not None and (side.entrant.details.get("title") in OPEN_TITLES + WOMEN_TITLES)
        }
        if not entrants or self._lists is None:
            return
        recorded = details_at(self._ledger, entrants, instant_end_ms(self._report.edition), is_strict=True)
        agreeing, lower, new = 0, [], []
        for player, side in entrants.items():
            there = recorded.get(player, NO_DETAILS)
            here = side.entrant.details["title"]
            agreeing += here == there.title
            is_judged = side.entrant.details.get("sex") == "m" and here in WOMEN_TITLES  # that is said of the sex
            ladder = next(each for each in (OPEN_TITLES, WOMEN_TITLES) if here in each)
            if player not in recorded or here == there.title or is_judged:
                continue
            words = f"{side} has the title {here} here, and {there.title or 'none'} in the ledger"
            finding = ReportFinding(side.entrant.line, "title-differs", words)
            is_of_a_man = there.sex == "m" and ladder is WOMEN_TITLES
            if is_of_a_man or (there.title in ladder and ladder.index(here) < ladder.index(there.title)):
                lower.append(finding)
            elif there.title in ladder or there.title is None or ladder is OPEN_TITLES:
                new.append((finding, there.title or (there.sex and there.federation and there.birth)))
        yield from lower
        # a list without the titles of most says nothing of the others; that of FIDE says all about each player
        is_certain = len(new) <= agreeing or (len(new) == 1 and new[0][1])
        if is_certain and self._lists.is_recent([side.player for side in sides if side.player]):
            yield from (finding for finding, _ in new)

    def _federations_unknown(self) -> Iterator[ReportFinding]:
        """Yield the federations that do not exist, and that the ledger does not know of the player either.

        If they are most, they are clubs, or states of one country.
        """
        stated = [side for side in self._sides if side.entrant.details.get("federation")]
        unknown = [side for side in stated if side.entrant.details["federation"] not in FEDERATIONS]
        if 2 * len(unknown) <= len(stated):
            for side in unknown:
                here = side.entrant.details["federation"]
                there = self._details.get(side.player or 0, NO_DETAILS).federation
                if here != there:
                    message = f"{side} has the federation {here}, and {there or 'none'} in the ledger"
                    yield ReportFinding(side.entrant.line, "federation-unknown", message)
        of_tournament = str(self._report.facts.get("federation", ""))
        if re.fullmatch(FEDERATION_PATTERN, of_tournament) and of_tournament not in FEDERATIONS:
            line = self._report.line_of("032")
            usual = Counter(side.entrant.details["federation"] for side in stated).most_common(1)
            players = f", and most players {usual[0][0]}" if usual else ""
            yield ReportFinding(
                line, "federation-unknown", f"the tournament has the federation {of_tournament}{players}"
            )

    def _national_numbers(self) -> Iterator[ReportFinding]:
        """Yield the national numbers that two lines have, or that are of players with other names."""
        numbers = self._report.national
        if not numbers:
            return
        sides = {side.entrant.start_number: side for side in self._sides}
        everybody = details_at(self._ledger, None, instant_end_ms(self._report.edition))
        owners = {details.national: player for player, details in everybody.items() if details.national}
        persons = self._ledger.people.by_number([owners[each.number] for each in numbers if each.number in owners])
        lines: dict[str, int] = {}
        for each in numbers:
            if (before := lines.setdefault(each.number, each.line)) != each.line:
                message = f"the national number {each.number} is that of line {before}, too"
                yield ReportFinding(each.line, "player-twice", message)
            side, owner = sides.get(each.rank), persons.get(owners.get(each.number, 0))
            if side is None:
                continue
            name, entrant = side.entrant.player_name, side.entrant
            if each.name and name_agreement(each.name, name) is NameAgreement.OTHER:
                message = f"the national number {each.number} is of {each.name!r}, and line {entrant.line} has {name!r}"
                yield ReportFinding(each.line, "number-of-another", message)
            elif owner is not None and owner.name and name_agreement(owner.name, name) is not NameAgreement.SAME:
                message = f"the national number {each.number} is of {owner.name!r} in the ledger, and of {name!r} here"
                is_other = name_agreement(owner.name, name) is NameAgreement.OTHER
                yield ReportFinding(each.line, "number-of-another" if is_other else "name-differs", message)

    # -- ratings ---------------------------------------------------------------------------------------------------

    def _ratings(self, side: _Side) -> Mapping[int, str]:
        """Return the ratings of an entrant on the lists in force, each with its list."""
        return {} if side.player is None or self._lists is None else self._lists.of(side.player)

    def _are_of_the_pool(self, sides: Sequence[_Side], listed: Mapping[int, Mapping[int, str]]) -> bool:
        """Return whether the report shows ratings of the pool: by FIDE's scheme, or because most agree."""
        if self._lists is not None and self._lists.are_of_fide:
            return True
        agreements = [
            side.shown in listed[side.entrant.start_number] for side in sides if listed[side.entrant.start_number]
        ]
        return sum(agreements) >= _LEAST_LISTED and 2 * sum(agreements) > len(agreements)

    def _before_any_list(
        self, sides: Sequence[_Side], listed: Mapping[int, Mapping[int, str]]
    ) -> Iterator[ReportFinding]:
        """Yield the day of a tournament long before the first list of most of its players: its year may be wrong."""
        if self._lists is None:
            return
        last_day = self._report.last_day or self._report.edition
        late_ms = instant_end_ms(last_day) + TOURNAMENT_DAYS * DAY_MS
        unrated = [side.player for side in sides if side.player and not listed[side.entrant.start_number]]
        firsts = [first_ms for player in unrated if (first_ms := self._lists.first_list_ms(player)) > late_ms]
        if len(firsts) >= _LEAST_LISTED and 2 * len(firsts) > len(sides):
            first_day = instant_text(min(firsts), Precision.DAY)
            players = f"{len(firsts):,} of its {len(self._sides):,} players"
            message = f"the tournament ended on {last_day}, and {players} are first on the list of {first_day}"
            yield ReportFinding(self._report.line_of("042"), "days-unlikely", message)

    def _ratings_differ(
        self, sides: Sequence[_Side], listed: Mapping[int, Mapping[int, str]]
    ) -> Iterator[ReportFinding]:
        if self._lists is None or not any(side.entrant.rating for side in sides):
            return
        rated = [side for side in sides if listed[side.entrant.start_number]]
        differing = [side for side in rated if side.shown not in listed[side.entrant.start_number]]
        if len(differing) >= FEWEST_DIFFERING and 2 * len(differing) > len(rated):
            examples = ", ".join(self._both(side, listed) for side in differing[:3])
            message = f"{len(differing):,} of {len(rated):,} ratings differ from the list in force: {examples}"
            yield ReportFinding(self._report.line, "other-list", message)
            return
        for side in differing:
            yield ReportFinding(side.entrant.line, "rating-differs", self._both(side, listed))
        if len(rated) - len(differing) >= _LEAST_LISTED:
            yield from self._unlisted(sides, listed, rated)

    def _unlisted(
        self, sides: Sequence[_Side], listed: Mapping[int, Mapping[int, str]], rated: Sequence[_Side]
    ) -> Iterator[ReportFinding]:
        """Yield the entrants whom the report rates and the list does not, if it lists most entrants with a rating."""
        shown = [side for side in sides if side.entrant.rating]
        if 2 * len(rated) < len(shown):
            return
        federations = Counter(side.entrant.details.get("federation") for side in rated)
        ((usual, _),) = federations.most_common(1)
        for side in shown:
            if not listed[side.entrant.start_number]:
                is_guest = side.entrant.details.get("federation") != usual
                code = "not-on-list" if side.player is None or is_guest else "rating-differs"
                yield ReportFinding(
                    side.entrant.line, code, f"{side} has the rating {side.entrant.rating}, and none in the list"
                )

    @staticmethod
    def _both(side: _Side, listed: Mapping[int, Mapping[int, str]]) -> str:
        """Return the rating of the report and that of the list, in words."""
        shown = side.entrant.rating
        of_lists = listed[side.entrant.start_number].items()
        words = " or ".join(f"{rating} {where}" if rating else "none" for rating, where in of_lists)
        return f"{side} has {f'the rating {shown}' if shown else 'no rating'} here, and {words}"
