"""What a journal with corrections says in the end, worked out naively, as plain facts: the oracle of the corrections.

Every question is answered by walking through all that was decided, in its order; nothing of ``ledger.book`` is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ledger.facts import codec
from ledger.facts.changes import BLANK, Change, Verb, Which
from ledger.facts.events import (
    BirthYearLearnt,
    ClockAccepted,
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    Event,
    GameRecorded,
    GameSupplemented,
    ListPublished,
    PersonErased,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    RoundWithoutGame,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.journal import Journal

# What the world was told, rules of the house, names, clocks: no rating follows from them.
NOT_RATED = (PolicySet, ListPublished, PersonErased, PlayerRenamed, ClockAccepted)
_OF_GAME = {"game", "entry", "number"}  # of a supplement, what names the game


@attrs.define
class Account:
    """Everything that a journal says.

    Attributes:
        position: how far the journal was read.
        kinds: by key of a fact, its kind, in order of arrival.
        facts: by key of a fact, its plain fields as told, further tellings included.
        proposals: by number, the changes.
        decided: numbers of the proposals that were decided, in whatever way.
        approved: numbers of the approved proposals in the order of their decisions.
    """

    position: int = 0
    kinds: dict[str, type[Event]] = attrs.Factory(dict)
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
        persons, found = self.persons(), []
        for key, facts, is_gone in self._in_the_end():
            is_nobody = key.startswith("game:") and facts["white"] == facts["black"]
            if issubclass(self.kinds[key], RoundWithoutGame):
                facts["player"] = persons.get(facts["player"], facts["player"])
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
    is_one = person in (facts["white"], facts["black"]) if change.which is Which.ALL else person == won
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
