"""The statements of a report about a tournament besides games, and about its players, on their way into the journal.

A report may be imported again, and sent again with other starting numbers or titles: what is recorded already adds
nothing, and other values are recorded as later statements. The facts are compared as recorded: a report that repeats a
corrected statement adds nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import attrs

from ledger.book.evidence import CurrentFacts
from ledger.facts.codec import decode
from ledger.facts.events import Event, PlayerDescribed, PlayerEntered, TournamentDescribed
from ledger.facts.instants import instant_ms
from ledger.facts.player_details import (
    NO_DETAILS,
    PlayerDetails,
    arbiters_text,
    details_by_commitment,
    folded,
    readable_details,
)
from ledger.facts.source_games import SourceReport
from ledger.journal import Journal, StoredEntry, Writer
from ledger.journal.transactions import Transaction
from ledger.players.verified_names import VerifiedNames
from ledger.recording.new_players import append_rows
from ledger.runtime.lazy import pl

_PROBED = 16  # numbers that are looked up at one time
_SCANNED = 64  # more players than these are found in one scan of all descriptions
_FEW = 200  # descriptions that are recorded as rows, without loading Polars


class StatedDetails(NamedTuple):
    """A description of a player: from when it holds, its number from that instant, and its data."""

    since: str
    number: int
    details: PlayerDetails


class DetailsRecorder:
    """Records data about players within one transaction, as far as they are new."""

    def __init__(self, transaction: Transaction, facts: CurrentFacts, names: VerifiedNames) -> None:
        """Take the transaction, the facts as they were before, and the store of the texts."""
        self._transaction, self._facts, self._names = transaction, facts, names
        self._stated: dict[int, list[StatedDetails]] = {}

    def record(self, details: Mapping[int, PlayerDetails], since: str, new: Collection[int] = ()) -> int:
        """Record the data of players that hold from an instant, by number; return how many players got new ones.

        Args:
            details: by player.
            since: the instant, to the day.
            new: players who were registered in this transaction.
        """
        self._load([player for player in details if player not in self._stated], new)
        fresh: dict[int, StatedDetails] = {}
        for player, said in details.items():
            stated = self._stated[player]
            if (further := _further(stated, said, since)) != NO_DETAILS:
                number = 1 + max((each.number for each in stated if each.since == since), default=0)
                fresh[player] = StatedDetails(since, number, further)
        self._append(fresh)
        for player, described in fresh.items():
            self._stated[player].append(described)
        return len(fresh)

    def _append(self, fresh: Mapping[int, StatedDetails]) -> None:
        if not fresh:
            return
        keys = {player: f"details:{player}@{each.since}/{each.number}" for player, each in fresh.items()}
        # by content: of a list of a million most players share theirs with others
        as_text = cache(PlayerDetails.as_text)
        texts = {keys[player]: as_text(each.details) for player, each in fresh.items()}
        commitments = self._names.store_texts(self._transaction.writer, texts)
        columns = {
            "player": list(fresh),
            "effective_at": [each.since for each in fresh.values()],
            "number": [each.number for each in fresh.values()],
            "details": [commitments[key] for key in keys.values()],
        }
        if len(fresh) > _FEW:
            append_rows(self._transaction, pl.DataFrame(columns), PlayerDescribed)
            return
        rows = zip(*columns.values(), strict=True)
        self._transaction.append(PlayerDescribed(**dict(zip(columns, row, strict=True))) for row in rows)

    def _load(self, players: Sequence[int], new: Collection[int]) -> None:
        """Read the recorded descriptions of players."""
        self._stated |= {player: [] for player in players}
        earlier = [player for player in players if player not in new]
        entries = _described(self._facts.journal, self._transaction.writer, earlier)
        taken_back = self._facts.taken_back_facts(entries)
        events = [event for entry in entries.values() if isinstance(event := decode(entry.body).event, PlayerDescribed)]
        details = details_by_commitment(self._names.texts([event.details for event in events]))
        for event in sorted(events, key=lambda event: (instant_ms(event.effective_at), event.number)):
            # a description that is erased or taken back states nothing, but its number is taken
            data = PlayerDetails() if event.key in taken_back else details.get(event.details, PlayerDetails())
            self._stated[event.player].append(StatedDetails(event.effective_at, event.number, data))


def _described(journal: Journal, writer: Writer, players: Sequence[int]) -> dict[str, StoredEntry]:
    """Return the entries of the recorded descriptions of players, by key."""
    if len(players) > _SCANNED:
        numbers = set(players)
        keys = [key for key in journal.keys("details:", "details;") if int(key[8 : key.index("@")]) in numbers]
    else:
        keys = [key for player in players for key in journal.keys(f"details:{player}@", f"details:{player}A")]
    return dict(writer.find(keys))


def _further(stated: Iterable[StatedDetails], said: PlayerDetails, since: str) -> PlayerDetails:
    """Return what a description adds: fields with another value than at its instant, which nobody stated for it."""
    if not stated:  # as of all players of a first list
        return said
    since_ms = instant_ms(since)
    now = folded(each.details for each in stated if instant_ms(each.since) <= since_ms)
    same_instant = [each.details for each in stated if each.since == since]
    further = {
        name: value
        for name, value in said.stated().items()
        if getattr(now, name) != value and not any(getattr(each, name) == value for each in same_instant)
    }
    return PlayerDetails(**further)


class ReportRecorder:
    """Records the other facts of reports within one transaction: descriptions, entrants, data about players."""

    def __init__(
        self, transaction: Transaction, facts: CurrentFacts, names: VerifiedNames, numbers: Mapping[str, int]
    ) -> None:
        """Take the transaction, the facts before it, the store of names, and the players' numbers by identity."""
        self._transaction, self._facts, self._names, self._numbers = transaction, facts, names, numbers
        self._details = DetailsRecorder(transaction, facts, names)

    def record(self, report: SourceReport, pool: str) -> list[PlayerEntered]:
        """Record what a report states, as far as it is new; return its entrants."""
        self._describe(report, pool)
        details = {
            self._numbers[entrant.player_id]: readable_details(entrant.details)[0] for entrant in report.entrants
        }
        entrants = [
            PlayerEntered(
                pool=pool,
                tournament=report.tournament,
                edition=report.edition,
                player=self._numbers[entrant.player_id],
                number=1,
                start_number=entrant.start_number,
                rating=entrant.rating,
                place=entrant.place,
                federation=details[self._numbers[entrant.player_id]].federation,
            )
            for entrant in report.entrants
        ]
        self._transaction.append(self._numbered(entrants))
        self._details.record({player: said for player, said in details.items() if said.stated()}, report.edition)
        return entrants

    def arbiters(self, pool: str, tournament: str, edition: str) -> str | None:
        """Return the last stored text about the arbiters of an edition; None without one."""
        place = TournamentDescribed(pool=pool, tournament=tournament, edition=edition, number=1)
        recorded = self._recorded_descriptions(place)
        sealed = [each.arbiters for each in recorded if each is not None and each.arbiters is not None]
        return self._names.texts(sealed[-1:]).get(sealed[-1]) if sealed else None

    def _describe(self, report: SourceReport, pool: str) -> None:
        if not (report.facts or report.chief or report.deputies):
            return
        event = TournamentDescribed(
            pool=pool, tournament=report.tournament, edition=report.edition, number=1, **report.facts
        )
        text = arbiters_text(report.chief, report.deputies)
        recorded = self._recorded_descriptions(event)
        in_force = [other for other in recorded if other is not None]
        texts = self._names.texts([other.arbiters for other in in_force if other.arbiters is not None])
        for other in in_force:
            same = attrs.evolve(event, number=other.number, arbiters=other.arbiters)
            if other == same and (None if other.arbiters is None else texts.get(other.arbiters)) == text:
                return
        event = attrs.evolve(event, number=len(recorded) + 1)
        if text is not None:
            commitments = self._names.store_texts(self._transaction.writer, {event.key: text})
            event = attrs.evolve(event, arbiters=commitments[event.key])
        self._transaction.append([event])

    def _recorded_descriptions(self, event: TournamentDescribed) -> list[TournamentDescribed | None]:
        return self._numbered_facts([event]).get(event.key, [])

    def _numbered(self, entrants: Sequence[PlayerEntered]) -> Iterator[PlayerEntered]:
        """Yield the entrants that are not recorded with these facts, with their numbers."""
        recorded = self._numbered_facts(entrants)
        for entrant in entrants:
            others = recorded.get(entrant.key, [])
            # a source may leave out what is recorded
            earlier = [other for other in others if other]
            federation = entrant.federation or (earlier[-1].federation if earlier else None)
            if not any(other == attrs.evolve(entrant, number=other.number, federation=federation) for other in earlier):
                yield attrs.evolve(entrant, number=len(others) + 1, federation=federation)

    def _numbered_facts(self, events: Sequence[Any]) -> dict[str, list[Any]]:
        """Return, by the key of each fact, which has number 1, the recorded facts of all numbers in its place.

        None stands for a fact that was taken back with its import: it states nothing, but its number is taken.
        """
        recorded: dict[str, list[Event | None]] = {}
        places = {event.key: event.key.removesuffix("1") for event in events}
        number = 1
        while places:
            last = number + (_PROBED if number > 1 else 1)  # nearly always there is one or none
            keys = {f"{place}{each}": key for key, place in places.items() for each in range(number, last)}
            entries = self._transaction.writer.find(list(keys))
            taken_back = self._facts.taken_back_facts(entries)
            for numbered, key in keys.items():
                if numbered in entries:
                    fact = None if numbered in taken_back else decode(entries[numbered].body).event
                    recorded.setdefault(key, []).append(fact)
            places = {key: place for key, place in places.items() if f"{place}{last - 1}" in entries}
            number = last
        return recorded
