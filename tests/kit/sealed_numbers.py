"""Who each number is, as the journal sealed it: the truth that attacks on the people file are held against."""

from pathlib import Path

import attrs
import orjson

from ledger.facts.codec import decode
from ledger.facts.events import GameRecorded, PlayerRegistered
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.people import Person, commitment
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.ledger_files import beside


@attrs.define
class Told:
    """Who each number is, as it was when the journal sealed it; kept outside the files."""

    truth: dict[int, str]
    given_up: set[int]  # erased or lost: these people may come back under another number

    def read(self, path: Path, after: int, ledger: Ledger | None = None) -> int:
        """Hold what was sealed since *after* against the truth; returns the number of entries.

        Names come from the people file as the *ledger* that wrote them sees it, which may have lost its place.

        Raises:
            AssertionError: a number was sealed for another person, or a person got a second number.
        """
        position = after
        journal = SqliteJournal(path, read_only=True)
        try:
            for body in (body for block in journal.read(after) for body in block):
                position += 1
                event = decode(body).event
                if isinstance(event, PlayerRegistered) and event.player not in self.truth:
                    self._registered(event, _row(path, event.player, ledger))
                elif isinstance(event, GameRecorded):
                    white, black, _ = event.game.removeprefix("made:").split("-")
                    names = {event.white: f"name:{white.lower()}", event.black: f"name:{black.lower()}"}
                    assert {number: self.truth.get(number) for number in names} == names, orjson.loads(body)
        finally:
            journal.close()
        return position

    def _registered(self, event: PlayerRegistered, person: Person | None) -> None:
        assert person is not None
        assert person.salt is not None
        assert person.identity is not None
        assert commitment(person.salt, person.identity, person.name or "") == event.commitment
        twins = [number for number, known in self.truth.items() if known == person.identity]
        assert set(twins) <= self.given_up, f"{person.identity} has number {twins} and gets {event.player}"
        self.truth[event.player] = person.identity


def _row(path: Path, player: int, ledger: Ledger | None) -> Person | None:
    if ledger is not None:
        return ledger.people_row(player)
    people = SqlitePeople(beside(path, "people"), read_only=True)
    try:
        return people.by_number([player]).get(player)
    finally:
        people.close()
