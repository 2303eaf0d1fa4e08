"""The people file against the journal: whoever uses a name compares it first, so that no game gets a wrong player.

For each number that it registered the journal sealed a commitment to identity and name. An older copy of the people
file would give a number out a second time, a file of another ledger would take somebody else for the player, and rows
that were lost would give a known player a second number. Each is refused here, with the way out. How names are stored
is the business of ``people``; nothing is appended to the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ledger.errors import ConflictError, StorageError
from ledger.facts.codec import decode
from ledger.facts.events import PlayerRegistered
from ledger.facts.identities import spelt
from ledger.journal import Journal, Stored
from ledger.journal.people import People, Person, commitment
from ledger.runtime import sqlite

Find = Callable[[Sequence[str]], Mapping[str, Stored]]

_FIRST, _LAST = "player:", "player;"  # all keys that begin with "player:" lie between the two
_NAMED = 5  # players that a refusal names one by one


class Numbered(NamedTuple):
    """What identities came to.

    Attributes:
        persons: the person behind each identity.
        registered: the numbers among them that the journal holds.
    """

    persons: dict[str, Person]
    registered: set[int]


class SealedNames:
    """The names of one people file, each compared with its journal before it is used."""

    def __init__(self, journal: Journal, people: People) -> None:
        self._journal = journal
        self._people = people
        self._version = -1  # of the people file, when its numbers were last found to be all there
        self._highest = 0  # number that is known to have a row; 0 before the first look
        self._ends_compared = False

    def people(self) -> People:
        """The people file, for reading; its ends are compared when it is first asked for.

        Raises:
            StorageError: it belongs to another ledger, or one of the two rows was changed.
        """
        if not self._ends_compared:
            self._compare_ends()
            self._ends_compared = True
        return self._people

    def _compare_ends(self) -> None:
        """Compare the lowest and the highest numbered registered player who was not erased: two look-ups."""
        for highest_first in (False, True):
            for persons in self._people.salted(highest_first=highest_first):
                stored = self._journal.find([_key(person.player) for person in persons])
                person = next((person for person in persons if _key(person.player) in stored), None)
                if person is not None:
                    self._compare(person, stored[_key(person.player)])
                    break

    def compared(self, person: Person) -> Person:
        """The same person, when the journal registered just this name under the number, or registered nobody.

        Raises:
            StorageError: it sealed another name.
        """
        entry = self._journal.find([_key(person.player)]).get(_key(person.player))
        if entry is not None and not person.is_erased:
            self._compare(person, entry)
        return person

    def number(self, named: Mapping[str, str], joined_at: str, find: Find) -> Numbered:
        """The persons behind these identities; those not met before get the next numbers.

        Args:
            named: identity -> name to show.
            joined_at: instant that is kept with the new ones.
            find: what looks up keys in the journal, within its transaction where there is one.

        Raises:
            StorageError: the people file does not know everybody whom the journal registered, or takes one of these
                for somebody else. Nobody was given a number.
        """
        self._check_all_there()
        given: set[int] = set()

        def confirm(persons: Sequence[Person]) -> None:
            given.update(person.player for person in persons)
            taken = find([_key(person.player) for person in persons])
            if taken:
                raise self._lost({_number(key): entry.position for key, entry in taken.items()})

        persons = self._people.number(named, joined_at, confirm)
        known = [person for person in persons.values() if person.player not in given]
        stored = find([_key(person.player) for person in known])
        registered = set()
        for person in known:
            entry = stored.get(_key(person.player))
            if entry is not None:
                self._compare(person, entry)
                registered.add(person.player)
        return Numbered(persons, registered)

    def check_registrations(self, events: Iterable[PlayerRegistered]) -> None:
        """Refuse to register a number whose name stands in the people file under another commitment.

        Raises:
            StorageError: naming the player; the repeat of what is registered already is for the rules to judge.
        """
        given = {event.player: event for event in events}
        stored = self._journal.find([event.key for event in given.values()])
        for person in self._people.by_number(given).values():
            event = given[person.player]
            if event.key not in stored and person.salt is not None and event.commitment != _commitment(person):
                raise StorageError(
                    self._people.path,
                    f"player {person.player} is {person.identity!r} here, to whose name this registration does not "
                    "commit: take the next free number, or register that player by name; nothing was recorded",
                )

    def _check_all_there(self) -> None:
        """It is the people file of this journal, and everybody whom the journal registered has a row.

        The journal's numbers are read once. Rows are given out without gaps and none is ever deleted: where another
        process has written since, it is enough that there are still as many rows as the highest number says.
        """
        version = self._people.version()
        if version == self._version:
            return
        self._compare_ends()
        seen, highest = self._highest, 0
        if not seen:
            highest = max(map(_number, _registrations(self._journal)), default=0)
        rows, last = self._people.counts()
        if rows != last or last < max(seen, highest):
            lost = lost_players(self._journal, self._people)
            if lost:
                raise self._lost(lost)
        self._version, self._highest = version, max(seen, last)

    def _lost(self, lost: Mapping[int, int]) -> StorageError:
        several = len(lost) > 1
        listed = ", ".join(f"{player} (entry {entry})" for player, entry in sorted(lost.items())[:_NAMED])
        return StorageError(
            self._people.path,
            f"knows nothing of {len(lost):,} player{'s' if several else ''} whom the journal registered: {listed}"
            f"{', ...' if len(lost) > _NAMED else ''}; it is an older copy or rows were lost: put the newest copy in "
            "its place, with its -wal file; where there is none, 'rating-ledger accept-lost-names DB' goes on without "
            f"{'these names' if several else 'this name'}",
        )

    def _compare(self, person: Person, entry: Stored) -> None:
        """The journal registered this person under this number.

        Raises:
            StorageError: it sealed another name.
        """
        if not is_sealed(person, entry):
            raise StorageError(
                self._people.path,
                f"player {person.player} ({person.identity!r}) is not whom entry {entry.position} of the journal "
                "registered: the file belongs to another ledger or the row was changed; put the right copy in its "
                f"place; where there is none, 'rating-ledger erase DB {person.player}' goes on without this name or, "
                "with this file moved aside, 'rating-ledger accept-lost-names DB' without any",
            )


def check_name(person: Person, name: str) -> None:
    """Who is registered already is registered by the same name, but for the case of its letters.

    Raises:
        ConflictError: naming both.
    """
    if person.name is not None and spelt(f"name:{person.name}") != spelt(f"name:{name}"):
        raise ConflictError(_key(person.player), "name", person.name, name)


def is_sealed(person: Person, entry: Stored) -> bool:
    """True when a registration commits to just this identity and name; the body is canonical, so bytes are enough."""
    return b'"commitment":"%b"' % _commitment(person).encode() in entry.body


def lost_players(journal: Journal, people: People) -> dict[int, int]:
    """The registered players without a row: number -> entry."""
    held = people.numbers()
    missing = [key for key in _registrations(journal) if _number(key) not in held]
    return {_number(key): entry.position for key, entry in journal.find(missing).items()}


def lost_names(journal: Journal, path: str | Path) -> int:
    """How many registered players have no row in the people file at *path*, which may be missing itself.

    Raises:
        StorageError: people in it are not whom the journal registered, or only its log is left.
    """
    if not Path(path).exists():
        _refuse_log_alone(path)
        return len(_registrations(journal))
    people = People(path, read_only=True)
    try:
        _refuse_foreign(journal, people)
        return len(lost_players(journal, people))
    finally:
        people.close()


def accept_lost_names(journal: Journal, path: str | Path) -> int:
    """Go on without the names that are lost: their players count as erased; games and ratings stay.

    A people file that is missing is made anew. Returns the number of players whose names were lost.

    Raises:
        StorageError: as ``lost_names``; nothing was written.
    """
    with journal.writing():  # nobody registers a player meanwhile
        if Path(path).exists():
            return _fill_in(journal, path)
        _refuse_log_alone(path)
        with sqlite.whole(path) as making:
            People.create(making).close()
            return _fill_in(journal, making)


def _fill_in(journal: Journal, path: str | Path) -> int:
    people = People(path)
    try:
        _refuse_foreign(journal, people)
        lost = journal.find([_key(player) for player in lost_players(journal, people)])
        people.add_nameless({_number(key): _joined_at(entry) for key, entry in lost.items()})
        return len(lost)
    finally:
        people.close()


def _refuse_foreign(journal: Journal, people: People) -> None:
    """Everybody who stands in the people file and in the journal is the same person in both."""
    strangers: list[tuple[Person, int]] = []
    for persons in people.salted():
        stored = journal.find([_key(person.player) for person in persons])
        for person in persons:
            entry = stored.get(_key(person.player))
            if entry is not None and not is_sealed(person, entry):
                strangers.append((person, entry.position))
    if strangers:
        person, entry_number = strangers[0]
        raise StorageError(
            people.path,
            f"{len(strangers):,} in it are not whom the journal registered, first player {person.player} "
            f"({person.identity!r}, entry {entry_number}): where it belongs to another ledger, move it aside with its "
            "-wal and -shm files and try again; where rows were changed, 'rating-ledger erase DB "
            f"{person.player}' goes on without this name; nothing was written",
        )


def _refuse_log_alone(path: str | Path) -> None:
    """A new file would take the log of the missing one for its own."""
    for ending in ("-wal", "-journal"):
        log = Path(f"{path}{ending}")
        if log.exists() and log.stat().st_size:
            raise StorageError(
                str(log), "is the log of the people file that is missing and may hold names: put the file back beside "
                "it, or move the log aside, too; nothing was written",
            )  # fmt: skip


def _registrations(journal: Journal) -> list[str]:
    """The keys of all registrations; those of changes have an instant behind the number."""
    return [key for key in journal.keys(_FIRST, _LAST) if key[len(_FIRST) :].isdecimal()]


def _key(player: int) -> str:
    return f"{_FIRST}{player}"


def _number(key: str) -> int:
    return int(key[len(_FIRST) :])


def _joined_at(entry: Stored) -> str:
    event = decode(entry.body).event
    assert isinstance(event, PlayerRegistered)
    return event.joined_at


def _commitment(person: Person) -> str:
    return commitment(person.salt or b"", person.identity or "", person.name or "")
