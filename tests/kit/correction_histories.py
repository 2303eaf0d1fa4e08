"""Hypothesis strategies for histories of corrections, and the plain facts that such a history comes to.

What is drawn may be refused; ``right_at_once`` works out naively what follows from it. It is the oracle of the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from ledger.book.stored_proposals import WITH_ENTRIES
from ledger.correcting.drafts import Drafts
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.changes import BLANK, AnnulmentScope, Change, Verb, spans_of
from ledger.facts.codec import facts_mapping, structure_event
from ledger.facts.events import (
    BirthYearLearnt,
    ClockAccepted,
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    Event,
    FederationSet,
    GameRecorded,
    GameSupplemented,
    ListPublished,
    PersonErased,
    PlayerChanged,
    PlayerEntered,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Brings, Outcome, Standing, Strength, Termination
from ledger.journal import Journal
from tests.kit.drawn_clubs import (
    CAFE,
    DAYS_OF_A_WINTER,
    FEDERATIONS,
    MOMENTS,
    PLAYERS,
    POOLS,
    WHOLE_TOURNAMENTS,
    games,
    schemes,
)

Draw = Callable[..., Any]
INSTANTS = (*MOMENTS, *DAYS_OF_A_WINTER)
DAYS = tuple(day for day in DAYS_OF_A_WINTER if len(day) == 10)
_numbers = st.integers(1, PLAYERS)
_standing = st.sampled_from(Standing).map(str)
_rating = st.sampled_from((BLANK, 0, 1500, 2210))
_instant = st.sampled_from(INSTANTS)

# By kind, the fields that may be corrected, and to what.
FIELDS: Mapping[type[Event], Mapping[str, st.SearchStrategy[Any]]] = {
    GameRecorded: {
        "outcome": st.sampled_from(Outcome).map(str),
        "termination": st.sampled_from(Termination).map(str),
        "half_moves": st.sampled_from((BLANK, 0, 10, 11, 80)),
        "started_at": st.sampled_from((BLANK, "1849", "2020-01-01")),
        "ended_at": _instant,
        "tournament": st.sampled_from((BLANK, CAFE, "Cup")),
        "round": st.sampled_from((BLANK, "1", "3", "Final")),
        "rated": st.booleans(),
        "pool": st.sampled_from(POOLS),
        "white": _numbers,
        "black": _numbers,
        "white_rating": _rating,
        "black_rating": _rating,
    },
    PlayerRegistered: {
        "joined_at": st.sampled_from(("2018", "2019-05")),
        "standing": _standing,
        "declared_rating": _rating,
        "birth_year": st.sampled_from((BLANK, 1950, 2009)),
    },
    PlayerChanged: {"effective_at": _instant, "standing": _standing, "declared_rating": _rating},
    BirthYearLearnt: {"birth_year": st.sampled_from((1960, 2010))},
    RatingSeeded: {
        "effective_at": st.just(BLANK) | _instant,
        "rating": st.sampled_from(("1100", "2500.25")),
        "games": st.sampled_from((BLANK, 3, 60)),
        "deviation": st.sampled_from((BLANK, "70")),
        "k_factor": st.sampled_from((BLANK, "20")),
    },
    FederationSet: {"effective_at": _instant, "federation": st.sampled_from(FEDERATIONS)},
    PlayerEntered: {
        "rating": st.sampled_from((BLANK, 1450, 2312)),
        "federation": st.sampled_from((BLANK, *FEDERATIONS)),
        "player": _numbers,
        "edition": st.sampled_from(DAYS),
    },
    StrengthChosen: {"effective_at": _instant, "strength": st.sampled_from(Strength).map(str)},
    SchemeAdopted: {"effective_from": _instant},  # schemes are drawn with their settings
    RatingRunClosed: {"as_of": _instant},
    TournamentOpened: {"starts_at": st.sampled_from(DAYS), "tournament": st.sampled_from((CAFE, "Cup"))},
    RoundWithoutGame: {
        "brings": st.sampled_from(Brings).map(str),
        "round": st.sampled_from((BLANK, 1, 2)),
        "player": _numbers,
        "tournament": st.sampled_from((CAFE, "Cup")),
        "edition": st.sampled_from(DAYS),
    },
    TournamentClosed: {"ended_at": _instant, "tournament": st.sampled_from((CAFE, "Cup"))},
}


@attrs.frozen
class Drawing:
    """What draws the steps of a history.

    Attributes:
        draw: of Hypothesis.
        account: what the journal says so far.
        verbs: of the changes, each as often as it stands here.
        sizes: how many changes a proposal has, as often.
    """

    draw: Draw
    account: Account
    verbs: Sequence[Verb] = (Verb.REPLACE, Verb.REPLACE, Verb.REPLACE, *Verb)
    sizes: Sequence[int] = (1, 1, 1, 2, 4)

    def changes(self, drafts: Drafts) -> list[Change]:
        """One change or a few that may belong together; none where what was drawn names nothing that is there."""
        found = []
        for _ in range(self.draw(st.sampled_from(self.sizes))):
            try:
                found.append(self.change(drafts))
            except (MalformedError, UnknownNameError):
                continue
        return found

    def change(self, drafts: Drafts) -> Change:
        """A change of any verb.

        Raises:
            UnknownNameError: it names what is not there.
            MalformedError: its entries announce tournaments of other games alone.
        """
        draw = self.draw
        since, until = sorted((draw(_instant), draw(_instant)))
        since, until = draw(st.sampled_from((None, None, since))), draw(st.sampled_from((None, None, until)))
        match draw(st.sampled_from(self.verbs)):
            case Verb.REPLACE:
                return self._replace(drafts)
            case Verb.ANNUL:
                return drafts.annul(self._key())
            case Verb.RESTORE:
                return drafts.restore(self._rather(self.account.gone(), self._key))
            case Verb.ADD:
                return drafts.add(self._fact())
            case Verb.MERGE:
                return drafts.merge(draw(_numbers), draw(_numbers))
            case Verb.PART:
                return drafts.unmerge(self._rather(self.account.persons(), lambda: draw(_numbers)))
            case Verb.ANNUL_GAMES:
                return drafts.annul_games(self._player(), draw(st.sampled_from(AnnulmentScope)), since, until)
            case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT as verb:
                pool, name = self._rather(self._tournaments(), lambda: (POOLS[1], "Cup"))
                restore = verb is Verb.RESTORE_TOURNAMENT
                return drafts.tournament(pool, name, restore=restore, since=since, until=until)
            case Verb.ANNUL_ENTRIES:
                first = draw(st.integers(1, self.account.position + 1))
                return drafts.take_back(f"{first}-{first + draw(st.sampled_from((0, 0, 1, 2, 5)))}")
            case _:
                acting = [number for number in self.account.approved if self.account.acts(number)]
                return drafts.undo(self._rather(acting, lambda: draw(st.integers(1, 9))))

    def _rather(self, likely: Iterable[Any], other: Callable[[], Any]) -> Any:
        """Nearly always what can be done, now and then anything."""
        known = sorted(likely)
        return self.draw(st.sampled_from(known)) if known and self.draw(st.integers(0, 9)) else other()

    def _player(self) -> int:
        """Nearly always one who played."""
        played = [
            facts[side] for facts in self.account.facts.values() if "game" in facts for side in ("white", "black")
        ]
        return int(self._rather(set(played), lambda: self.draw(_numbers)))

    def _tournaments(self) -> set[tuple[str, str]]:
        """Those that games were told of, with their pools."""
        told = self.account.facts.values()
        return {(facts["pool"], facts["tournament"]) for facts in told if "game" in facts and "tournament" in facts}

    def _key(self) -> str:
        """The key of a fact: one that a correction speaks of already, as often as any other."""
        keys = [key for key, kind in self.account.kinds.items() if kind in FIELDS and "unused" not in key]
        spoken_of = [change.fact for changes in self.account.proposals.values() for change in changes if change.fact]
        spoken_of = [key for key in spoken_of if key in self.account.kinds]
        kinds = sorted({self.account.kinds[key].__name__ for key in keys})
        kind = self.draw(st.sampled_from(["GameRecorded", *kinds] if "GameRecorded" in kinds else kinds))
        of_kind = [key for key in keys if self.account.kinds[key].__name__ == kind]
        return str(self.draw(st.sampled_from(of_kind) | st.sampled_from(spoken_of or of_kind)))

    def _replace(self, drafts: Drafts) -> Change:
        key = self._key()
        cls = self.account.kinds[key]
        if cls is SchemeAdopted and (key.endswith("@start") or self.draw(st.booleans())):
            name, given = self.draw(schemes() | st.sampled_from(WHOLE_TOURNAMENTS))
            return drafts.replace(key, {"scheme": name, "settings": dict(given)})
        names = self.draw(st.lists(st.sampled_from(sorted(FIELDS[cls])), min_size=1, max_size=3, unique=True))
        return drafts.replace(key, {name: self.draw(FIELDS[cls][name]) for name in names})

    def _fact(self) -> Event:
        """A fact that was missed."""
        draw = self.draw
        pool, day, number = draw(st.sampled_from(POOLS)), draw(st.sampled_from(DAYS)), draw(_numbers)
        facts: Sequence[Event] = (
            PlayerChanged(player=number, effective_at=day, standing=draw(st.sampled_from(Standing))),
            RatingSeeded(player=number, pool=pool, effective_at="1840", rating="1777.5"),
            BirthYearLearnt(player=number, birth_year=2007),
            RatingRunClosed(pool=pool, as_of=day),
            TournamentClosed(pool=pool, tournament=CAFE, ended_at=day),
            TournamentOpened(pool=pool, tournament="Cup", starts_at=day, ends_at="2020-03-08"),
            SchemeAdopted(pool=pool, scheme="elo", settings={}, effective_from=day),
            RoundWithoutGame(pool=pool, tournament="Cup", edition=day[:10], player=number, brings=Brings.HALF),
        )
        game: Event = draw(games(100 + len(self.account.facts), INSTANTS, (None, CAFE, "Cup")))
        return game if draw(st.booleans()) else draw(st.sampled_from(facts))

    def telling(self) -> Event | None:
        """A game that was recorded, told again with more; None where there is none."""
        keys = [key for key in self.account.facts if key.startswith("game:")]
        if not keys:
            return None
        facts = self.account.facts[self.draw(st.sampled_from(keys))]
        more = {"half_moves": 33, "round": "4", "tournament": CAFE, "white_rating": 1999, "started_at": "1849"}
        lacks = sorted(more.keys() - facts.keys())
        wanted = self.draw(st.sets(st.sampled_from(lacks))) if lacks else set()
        told = structure_event(GameRecorded.KIND, {**facts, **{name: more[name] for name in wanted}})
        assert facts_mapping(told).keys() >= facts.keys()
        return told


# What the world was told, rules of the house, names, clocks: no rating follows from them.
NOT_RATED = (PolicySet, ListPublished, PersonErased, PlayerRenamed, ClockAccepted)
_OF_GAME = {"game", "entry", "number"}  # of a supplement, what names the game


@attrs.define
class Account:
    """Everything that a journal says.

    Attributes:
        position: how far the journal was read.
        kinds: by key of a fact, its kind, in order of arrival.
        entries: by key of a fact, the position of its entry.
        facts: by key of a fact, its plain fields as told, further tellings included.
        proposals: by number, the changes.
        decided: numbers of the proposals that were decided, in whatever way.
        approved: numbers of the approved proposals in the order of their decisions.
    """

    position: int = 0
    kinds: dict[str, type[Event]] = attrs.Factory(dict)
    entries: dict[str, int] = attrs.Factory(dict)
    facts: dict[str, dict[str, Any]] = attrs.Factory(dict)
    proposals: dict[int, list[Change]] = attrs.Factory(dict)
    decided: set[int] = attrs.Factory(set)
    approved: list[int] = attrs.Factory(list)

    def read(self, journal: Journal) -> None:
        """Take what was recorded since."""
        for bodies in journal.read(self.position):
            for body in bodies:
                entry = codec.decode(body)
                self.position = entry.position
                self._take(entry.event)

    def _take(self, event: Event) -> None:
        match event:
            case CorrectionProposed():
                self.proposals.setdefault(event.proposal, []).extend(event.changes)
            case CorrectionDecided():
                self.decided.add(event.proposal)
                if event.decision is Decision.APPROVED:
                    self.approved.append(event.proposal)
            case GameSupplemented():
                more = {name: value for name, value in codec.facts_mapping(event).items() if name not in _OF_GAME}
                self.facts[f"game:{event.game}"].update(more)
            case _:
                self.entries[event.key] = self.position
                self.kinds[event.key], self.facts[event.key] = type(event), codec.facts_mapping(event)

    def acts(self, proposal: int) -> bool:
        """Whether an approved proposal is in force: none that is in force undoes it."""
        undoing = (other for other in self.approved if proposal in map(_undone, self.proposals[other]))
        return not any(map(self.acts, undoing))

    def in_force(self) -> list[Change]:
        """The changes of the proposals in force, in order."""
        return [change for number in self.approved if self.acts(number) for change in self.proposals[number]]

    def persons(self) -> dict[int, int]:
        """By merged player, who that is."""
        into: dict[int, int] = {}
        for change in self.in_force():
            if change.do is Verb.MERGE:
                into[change.player or 0] = change.into or 0
            elif change.do is Verb.PART:
                into.pop(change.player or 0, None)  # the same proposal may undo the merge, too
        return {player: _end(into, player) for player in into}

    def final(self) -> list[Event]:
        """The facts that count in the end, in an order that the journal takes."""
        persons, found, entries = self.persons(), [], Counter[tuple[Any, ...]]()
        for key, facts, is_gone in self._in_the_end():
            is_nobody = key.startswith("game:") and facts["white"] == facts["black"]
            if issubclass(self.kinds[key], (RoundWithoutGame, PlayerEntered)):
                facts["player"] = persons.get(facts["player"], facts["player"])
            if issubclass(self.kinds[key], PlayerEntered) and not is_gone:  # of two in one edition the later one counts
                place = tuple(facts[name] for name in ("pool", "tournament", "edition", "player"))
                entries[place] += 1
                facts["number"] = entries[place]
            is_merged = facts.get("player") in persons and not issubclass(self.kinds[key], PlayerRegistered)
            is_rated_by = not issubclass(self.kinds[key], NOT_RATED)
            if is_rated_by and not is_gone and not is_nobody and not is_merged:
                found.append(codec.structure_event(self.kinds[key].KIND, facts))
        byes = {event.place: event for event in reversed(found) if isinstance(event, RoundWithoutGame)}
        return _with_years([event for event in found if byes.get(getattr(event, "place", ""), event) is event])

    def gone(self) -> list[str]:
        """The keys of the facts that are annulled."""
        return [key for key, _, is_gone in self._in_the_end() if is_gone]

    def _in_the_end(self) -> Iterator[tuple[str, dict[str, Any], bool]]:
        """The key of each fact, its fields, and whether it is annulled."""
        changes, persons = self.in_force(), self.persons()
        for key, told in self.facts.items():
            facts = dict(told)
            for change in changes:
                if change.do is Verb.REPLACE and change.fact == key:
                    facts.update(change.facts or {})
            facts = {name: value for name, value in facts.items() if value != BLANK}
            facts |= {name: persons.get(facts[name], facts[name]) for name in ("white", "black") if name in facts}
            yield key, facts, self._is_gone(key, facts, changes, persons)

    def _is_gone(self, key: str, facts: dict[str, Any], changes: Sequence[Change], persons: dict[int, int]) -> bool:
        """Whether the last change that speaks of a fact takes it away."""
        gone = False
        for change in changes:
            match change.do:
                case Verb.ANNUL | Verb.RESTORE if change.fact == key:
                    gone = change.do is Verb.ANNUL
                case Verb.UNDO if any(
                    undone.do is Verb.ADD and undone.fact == key for undone in self.proposals[change.proposal or 0]
                ):
                    gone = True
                case Verb.ANNUL_GAMES if key.startswith("game:") and _means_game(change, facts, persons):
                    gone = True
                case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT if (
                    key.startswith("game:")
                    and (change.pool, change.tournament) == (facts["pool"], facts.get("tournament"))
                    and _is_between(change, facts)
                ):
                    gone = change.do is Verb.ANNUL_TOURNAMENT
                case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT if (
                    key.startswith("round:")
                    and (change.pool, change.tournament) == (facts["pool"], facts["tournament"])
                    and _is_on_a_day(change, facts["edition"])
                ):
                    gone = change.do is Verb.ANNUL_TOURNAMENT
                case Verb.ANNUL_ENTRIES if issubclass(self.kinds[key], (GameRecorded, *WITH_ENTRIES)) and any(
                    first <= self.entries[key] <= last for first, last in spans_of(change.entries)
                ):
                    gone = True
                case _:
                    pass
        return gone


def _undone(change: Change) -> int | None:
    return change.proposal if change.do is Verb.UNDO else None


def _end(into: dict[int, int], player: int) -> int:
    while player in into:
        player = into[player]
    return player


def _means_game(change: Change, facts: dict[str, Any], persons: dict[int, int]) -> bool:
    person = persons.get(change.player or 0, change.player)
    won = {"white": facts["white"], "black": facts["black"]}.get(facts["outcome"])
    is_one = person in (facts["white"], facts["black"]) if change.which is AnnulmentScope.ALL else person == won
    return bool(facts["rated"]) and is_one and _is_between(change, facts)


def _is_between(change: Change, facts: dict[str, Any]) -> bool:
    ended = instant_ms(facts["ended_at"])
    return (change.since is None or instant_ms(change.since) <= ended) and (
        change.until is None or ended <= instant_end_ms(change.until)
    )


def _is_on_a_day(change: Change, day: str) -> bool:
    return (change.since is None or instant_ms(change.since) <= instant_end_ms(day)) and (
        change.until is None or instant_ms(day) <= instant_end_ms(change.until)
    )


def _with_years(events: Sequence[Event]) -> list[Event]:
    """The same, where a year of birth that was learnt later stands with the registration: first what others need."""
    years = {event.player: event.birth_year for event in events if isinstance(event, BirthYearLearnt)}
    rest = [event for event in events if not isinstance(event, BirthYearLearnt)]
    known = [
        attrs.evolve(event, birth_year=years[event.player])
        if isinstance(event, PlayerRegistered) and event.player in years
        else event
        for event in rest
    ]
    return sorted(known, key=lambda event: isinstance(event, GameRecorded))
