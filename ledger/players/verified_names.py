"""Verified names: the people file is compared with the journal before use, so that no game gets a wrong player.

For each number that it registered the journal holds a commitment to identity and name, and for each renaming another
one. An older copy of the people file would give a number out a second time or bring an earlier name back. A file of
another ledger would supply other people's names, and lost rows would give a known player a second number. This
module refuses each of these cases, with a remedy, and finds the one player that a word means. The module ``people``
stores names; nothing is appended to the journal.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ledger.errors import ConflictError, LedgerError, StorageError, UnknownNameError
from ledger.facts.events import PlayerRegistered
from ledger.facts.person_names import spelt
from ledger.journal import FindEntries, Journal, StoredEntry, Writer, rules
from ledger.players.pending_changes import PendingName
from ledger.players.people import People
from ledger.players.persons import Person, commitment
from ledger.runtime.nearest import did_you_mean_one_of

_DIGITS = 15  # of a player's number; Python reads no more than some thousands
_FIRST_REGISTRATION, _LAST_REGISTRATION = "player:", "player;"  # all keys that begin with "player:" lie between them
_FIRST_ERASURE, _LAST_ERASURE = "erased:", "erased;"
_FIRST_RENAMING, _LAST_RENAMING = "renamed:", "renamed;"
AGAIN = "ledger"  # the actor if an older copy of the file brought an erased player back; the erasure is recorded
DECISIONS = ("decision:", "decision;")  # the keys of all decisions of corrections lie between these


def name_commitments(find: FindEntries, players: Iterable[int]) -> dict[int, list[StoredEntry]]:
    """Return the entries that committed to each player's name, oldest first: the last one is in force.

    Args:
        find: looks up keys in the journal, within its transaction if there is one.
        players: numbers; unregistered ones are left out.
    """
    by_key = {registration_key(player): player for player in players}
    entries = {by_key[key]: [entry] for key, entry in find(list(by_key)).items()}
    renamed, number = list(entries), 1
    # the renamings of a player are counted without gaps
    while renamed:
        stored = find([f"renamed:{player}@{number}" for player in renamed])
        renamed = [player for player in renamed if f"renamed:{player}@{number}" in stored]
        for player in renamed:
            entries[player].append(stored[f"renamed:{player}@{number}"])
        number += 1
    return entries


def latest_commitments(journal: Journal, find: FindEntries, players: Iterable[int]) -> dict[int, StoredEntry]:
    """Return the entry with the current commitment to each registered player's name."""
    by_key = {registration_key(player): player for player in players}
    if by_key and has_renamings(journal):
        return {player: entries[-1] for player, entries in name_commitments(find, by_key.values()).items()}
    return {by_key[key]: entry for key, entry in find(list(by_key)).items()}


def has_renamings(journal: Journal) -> bool:
    """Return whether any player was ever renamed: one look-up."""
    return next(iter(journal.keys(_FIRST_RENAMING, _LAST_RENAMING)), None) is not None


def renamed_players(journal: Journal) -> set[int]:
    """Return the numbers of the players who were ever renamed."""
    keys = journal.keys(_FIRST_RENAMING, _LAST_RENAMING)
    return {int(key[len(_FIRST_RENAMING) :].partition("@")[0]) for key in keys}


def erased_players(journal: Journal) -> list[int]:
    """Return the numbers of the players whose erasure the journal records."""
    return [int(key[len(_FIRST_ERASURE) :]) for key in journal.keys(_FIRST_ERASURE, _LAST_ERASURE)]


def erasure_key(player: int) -> str:
    """Return the key of the entry that records a player's erasure."""
    return f"{_FIRST_ERASURE}{player}"


def registration_keys(journal: Journal) -> list[str]:
    """Return the keys of all entries that registered a player."""
    keys = journal.keys(_FIRST_REGISTRATION, _LAST_REGISTRATION)
    return [key for key in keys if key[len(_FIRST_REGISTRATION) :].isdecimal()]


def registration_key(player: int) -> str:
    """Return the key of a player's registration."""
    return f"{_FIRST_REGISTRATION}{player}"


def registered_number(key: str) -> int:
    """Return the player number in the key of a registration."""
    return int(key[len(_FIRST_REGISTRATION) :])


def is_renaming(entry: StoredEntry) -> bool:
    """Return whether an entry renamed a player."""
    return b',"kind":"player-renamed/1","position":' in entry.body


def with_pending_name(person: Person, pending: PendingName) -> Person:
    """Return a person with the pending name; an erased person is left alone."""
    return person if person.salt is None else person._replace(name=pending.name, salt=pending.salt)


def is_committed(person: Person, entry: StoredEntry) -> bool:
    """Return whether an entry commits to a person's identity and name."""
    return b'"commitment":"%b"' % commitment_to(person).encode() in entry.body


def commitment_to(person: Person) -> str:
    """Return the commitment to a person's current identity and name."""
    return commitment(person.salt or b"", person.identity or "", person.name or "")


def reappeared_after_erasure(journal: Journal, people: People) -> list[int]:
    """Return the players whose erasure is recorded but whose names are stored again."""
    erased = erased_players(journal)
    return people.erasures.stored_players(erased) if erased else []


def erase_reappeared(journal: Journal, people: People) -> None:
    """Erase players again whom an older copy of the people file brought back; old bytes may stay."""
    if back := reappeared_after_erasure(journal, people):
        people.erasures.begin(back, AGAIN)


# Numbers that are counted for each registering process, so that it costs the same among a million players.
_STRETCHES, _STRETCH = 8, 500
_NAMED = 5  # players that a refusal names one by one


class AssignedNumbers(NamedTuple):
    """The result of assigning numbers to identities.

    Attributes:
        persons: the person behind each identity.
        registered: the numbers among them that the journal holds.
        renamed: the numbers among those that bear another name since.
    """

    persons: dict[str, Person]
    registered: set[int]
    renamed: set[int]

    def count_other_names(self, named: Mapping[str, str]) -> int:
        """Return how many renamed players are reported (identity -> name) under another name."""
        if not self.renamed:
            return 0
        otherwise = (person for identity, person in self.persons.items() if person.name != named[identity])
        return len({person.player for person in otherwise} & self.renamed)


class VerifiedNames:
    """The names of one ledger, each verified against the journal's commitment before use."""

    def __init__(
        self, journal: Journal, people: People, highest_registered: Callable[[], int | None] = lambda: None
    ) -> None:
        """Take the journal, the names, and what gives the highest registered number if it need not be counted."""
        self._journal = journal
        self._highest_registered = highest_registered
        self.file = people  # unchecked
        self._version = -1  # of the people file, when its numbers were last found to be all there
        self._highest = 0  # number that is known to have a row; 0 before the first look
        self._ends_compared = False
        self._numbered = range(0)  # that were given out and may not be registered yet

    def people(self) -> People:
        """Return the people file for reading, after its first and last player were verified once.

        A name that the journal sealed and that did not reach its player yet is read as the player's.

        Raises:
            StorageError: it belongs to another ledger, or one of the two rows was changed.
        """
        if not self._ends_compared:
            self.show_pending()
            self._compare_ends()
            self._ends_compared = True
        return self.file

    def store_texts(self, writer: Writer, texts: Mapping[str, str]) -> dict[str, str]:
        """Store texts about people, by the key of the entry that is to commit to each; return the commitments."""
        return self.file.reasons.store_texts(writer, texts)

    def texts(self, commitments: Sequence[str]) -> dict[str, str | None]:
        """Return the stored texts by commitment; None for an erased one."""
        return self.file.reasons.texts(commitments) if commitments else {}

    def show_pending(self) -> None:
        """Show pending names to which the journal committed as the players' names."""
        pending = {row.player: row for row in self.file.pending.rows()}
        if pending:
            sealed = self._latest(pending)
            persons = self.file.by_number(sealed)
            self.file.pending.show(
                [
                    pending[player]
                    for player, person in persons.items()
                    if is_committed(with_pending_name(person, pending[player]), sealed[player])
                ]
            )

    def _compare_ends(self) -> None:
        """Compare the lowest and the highest numbered registered player who was not erased: two look-ups."""
        # A file of another ledger differs at the lowest number; one of a ledger that went its own way since a copy was
        # made, perhaps at the highest alone.
        for highest_first in (False, True):
            for persons in self.file.iter_named(highest_first=highest_first):
                sealed = self._latest([person.player for person in persons])
                # Whom no entry registered proves nothing either way: the next one is looked at.
                person = next((person for person in persons if person.player in sealed), None)
                if person is not None:
                    self._confirmed(person, sealed[person.player])
                    break

    def verify(self, person: Person) -> Person:
        """Return the person unchanged, if the journal committed to the name or registered no player.

        Raises:
            StorageError: it sealed another name.
        """
        entry = self._latest([person.player]).get(person.player)
        return person if entry is None or person.is_erased else self._confirmed(person, entry)

    def assign_numbers(self, named: Mapping[str, str], joined_at: str, find: FindEntries) -> AssignedNumbers:
        """Return the persons with these identities, verified; new ones get the next numbers.

        Args:
            named: identity -> name to show.
            joined_at: instant that is stored with the new ones.
            find: looks up keys in the journal, within its transaction if there is one.

        Raises:
            StorageError: the people file does not know everybody whom the journal registered, or takes one of these for
                another person. No number was given.
        """
        self._check_all_there()
        new: set[int] = set()

        def confirm(persons: Sequence[Person]) -> None:
            numbers = [person.player for person in persons]
            self._numbered = range(self._numbered.start or min(numbers), max(numbers) + 1)
            new.update(person.player for person in persons)
            taken = find([registration_key(person.player) for person in persons])
            if taken:
                raise self._lost({registered_number(key): entry.position for key, entry in taken.items()})

        persons = self.file.assign_numbers(named, joined_at, confirm)
        older = {identity: person for identity, person in persons.items() if person.player not in new}
        sealed = latest_commitments(self._journal, find, (person.player for person in older.values()))
        for identity, person in older.items():
            if person.player in sealed:
                persons[identity] = self._confirmed(person, sealed[person.player])
        renamed = {player for player, entry in sealed.items() if is_renaming(entry)}
        return AssignedNumbers(persons, set(sealed), renamed)

    @contextmanager
    def registering(self) -> Iterator[None]:
        """Remove, when the block ends, the names of new players whose registration was undone within it."""
        try:
            yield
        finally:
            numbered, self._numbered = self._numbered, range(0)
            # The audit reports what cannot be removed; the reason why the block failed counts for more.
            with suppress(LedgerError):
                self._forget_unregistered(numbered)

    def _forget_unregistered(self, numbered: range) -> None:
        # numbers are given and registered in order: if the last one is registered, all are
        if not numbered or self._journal.find([registration_key(numbered[-1])]):
            return
        with self._journal.writing() as writer:
            last = self.file.highest()
            registered = writer.find([registration_key(player) for player in range(numbered.start, last + 1)])
            self.file.delete_unregistered(max(map(registered_number, registered), default=numbered.start - 1) + 1)

    def check_registrations(self, events: Iterable[PlayerRegistered]) -> None:
        """Refuse to register a number whose name is in the people file under another commitment.

        Raises:
            StorageError: naming the player; the repeat of what is registered already is for the rules to judge.
        """
        by_number = {event.player: event for event in events}
        stored = self._journal.find([event.key for event in by_number.values()])
        for person in self.file.by_number(by_number).values():
            event = by_number[person.player]
            if event.key not in stored and person.salt is not None and event.commitment != commitment_to(person):
                raise StorageError(
                    self.file.path,
                    f"player {person.player} is {person.identity!r} here, to whose name this registration does not "
                    "commit: take the next free number, or register that player by name; nothing was recorded",
                )

    def _check_all_there(self) -> None:
        """Check that this is the journal's people file: all registered players have a row, renamed ones the name."""
        # The journal's numbers are read once. Rows are given out without gaps and none is ever deleted: if another
        # process has written since, it is enough that there are still as many rows as the highest number says.
        version = self.file.version()
        if version == self._version:
            return
        erase_reappeared(self._journal, self.file)
        self._compare_ends()
        seen, registered = self._highest, 0
        if not seen:
            highest = self._highest_registered()
            numbers = map(registered_number, registration_keys(self._journal)) if highest is None else [highest]
            registered = max(numbers, default=0)
        last = self.file.highest()
        if last < max(seen, registered) or self._has_gaps(last):
            lost = lost_players(self._journal, self.file)
            if lost:
                raise self._lost(lost)
        sealed = self._latest(renamed_players(self._journal))
        for person in self.file.by_number(sealed).values():
            self._confirmed(person, sealed[person.player])
        # The version from before the rows were read: what others wrote meanwhile is looked through the next time.
        self._version, self._highest = version, max(seen, last)

    def _has_gaps(self, last: int) -> bool:
        """Return whether numbers have no row: of many players some stretches are looked at, the audit reads all."""
        if last <= _STRETCHES * _STRETCH:
            return self.file.counts() != (last, last)
        starts = [last - _STRETCH + 1, *(1 + secrets.randbelow(last - _STRETCH) for _ in range(_STRETCHES - 1))]
        return any(self.file.rows_between(first, first + _STRETCH - 1) != _STRETCH for first in starts)

    def _lost(self, lost: Mapping[int, int]) -> StorageError:
        several = len(lost) > 1
        listed = ", ".join(f"{player} (entry {entry})" for player, entry in sorted(lost.items())[:_NAMED])
        return StorageError(
            self.file.path,
            f"knows nothing of {len(lost):,} player{'s' if several else ''} whom the journal registered: {listed}"
            f"{', ...' if len(lost) > _NAMED else ''}; it is an older copy or rows were lost: {self.file.RESTORE}; "
            "where there is none, 'rating-ledger accept-lost-names DB' goes on without "
            f"{'these names' if several else 'this name'}",
        )

    def _latest(self, players: Iterable[int]) -> dict[int, StoredEntry]:
        return latest_commitments(self._journal, self._journal.find, players)

    def _confirmed(self, person: Person, entry: StoredEntry) -> Person:
        """Return the person with the name to which *entry*, read before that row, or a newer one commits."""
        while not (person.is_erased or is_committed(person, entry)):
            # Another process may be giving a name: the row that waits is read before that of the player, which bears
            # the name when the row is gone, and the journal after both.
            pending = [row for row in self.file.pending.rows() if row.player == person.player]
            person = self.file.by_number([person.player]).get(person.player, person)
            if any(is_committed(with_pending_name(person, row), entry) for row in pending):
                return with_pending_name(person, pending[0])
            sealed = name_commitments(self._journal.find, [person.player])[person.player]
            if sealed[-1].position == entry.position and not (person.is_erased or is_committed(person, entry)):
                raise StorageError(self.file.path, commitment_mismatch(self.file, person, sealed))
            entry = sealed[-1]
        return person


def check_name(person: Person, name: str) -> None:
    """Refuse a reported name that differs from a registered player's, except in the case of letters.

    A renamed player may have any name in a report: the first name is not known any more.

    Raises:
        ConflictError: naming both.
    """
    if person.name is not None and spelt(f"name:{person.name}") != spelt(f"name:{name}"):
        raise ConflictError(registration_key(person.player), "name", person.name, name)


def commitment_mismatch(people: People, person: Person, sealed: Sequence[StoredEntry]) -> str:
    """Return the error text for a row that contradicts the last of the commitments *sealed*, with the remedy."""
    whose, entry = f"player {person.player} ({person.identity!r})", sealed[-1].position
    if any(is_committed(person, earlier) for earlier in sealed[:-1]):
        return (
            f"{whose} has the name from before entry {entry} of the journal, which gave another one: it is an older "
            f"copy; {people.RESTORE}; where there is none, "
            f"'rating-ledger player rename DB {person.player} NAME' gives the name again"
        )
    without = f" or, {people.SET_ASIDE}, 'rating-ledger accept-lost-names DB' without any" if people.SET_ASIDE else ""
    return (
        f"{whose} is not whom entry {entry} of the journal {'renamed' if sealed[1:] else 'registered'}: the names "
        f"belong to another ledger or the row was changed; {people.RESTORE}; where there is none, "
        f"'rating-ledger erase DB {person.player}' goes on without this name{without}"
    )


def lost_players(journal: Journal, people: People) -> dict[int, int]:
    """Return the registered players without a row: number -> entry."""
    numbers = people.numbers()
    missing = [key for key in registration_keys(journal) if registered_number(key) not in numbers]
    return {registered_number(key): entry.position for key, entry in journal.find(missing).items()}


def add_lost_players(journal: Journal, people: People) -> int:
    """Add a row without a name for each registered player without a row; return how many there were.

    Nobody else may register players meanwhile.

    Raises:
        StorageError: people in the file are not those whom the journal registered; nothing was written.
    """
    refuse_foreign_people(journal, people)
    lost = journal.find([registration_key(player) for player in lost_players(journal, people)])
    people.add_nameless({registered_number(key): rules.facts_of(entry)["joined_at"] for key, entry in lost.items()})
    return len(lost)


def refuse_foreign_people(journal: Journal, people: People) -> None:
    """Refuse a people file with names to which the journal did not commit.

    Raises:
        StorageError: the first one who is not.
    """
    VerifiedNames(journal, people).show_pending()
    strangers: list[tuple[Person, int]] = []
    for persons in people.iter_named():
        sealed = latest_commitments(journal, journal.find, [person.player for person in persons])
        for person in persons:
            entry = sealed.get(person.player)
            if entry is not None and not is_committed(person, entry):
                strangers.append((person, entry.position))
    if strangers:
        person, entry_number = strangers[0]
        every = name_commitments(journal.find, [person.player])[person.player]
        if any(is_committed(person, entry) for entry in every):
            raise StorageError(people.path, f"{commitment_mismatch(people, person, every)}; nothing was written")
        way_out = f"try again {people.SET_ASIDE}" if people.SET_ASIDE else people.RESTORE
        raise StorageError(
            people.path,
            f"{len(strangers):,} in it are not whom the journal registered, first player {person.player} "
            f"({person.identity!r}, entry {entry_number}): where it belongs to another ledger, {way_out}; where rows "
            f"were changed, 'rating-ledger erase DB {person.player}' goes on without this name; nothing was written",
        )


def find_player(journal: Journal, names: VerifiedNames, word: str) -> Person:
    """Return the one player with a name, identity or number, verified against the journal's commitment.

    Raises:
        UnknownNameError: none, or several: their identities are listed.
        StorageError: the journal registered another name under that number.
    """
    people = names.people()
    is_number = word.isdecimal() and len(word) <= _DIGITS
    # A number goes before an identity of digits alone, which earlier releases took.
    persons = list(people.by_number([int(word)]).values()) if is_number else []
    persons = persons or people.find(word)
    # the journal registered it, and the present people file knows nothing
    if not persons and is_number:
        stored = journal.find([f"player:{word}"]).values()
        persons = [Person(int(word), None, None, None, rules.facts_of(entry)["joined_at"]) for entry in stored]
    if len(persons) == 1:
        return names.verify(persons[0])
    if persons:
        several = f"several are called so: {[person.identity for person in persons]}; give an identity or a number"
        raise UnknownNameError("player", word, several, where="by that name alone", is_ambiguous=True)
    raise UnknownNameError("player", word, f"{did_you_mean_one_of(people.suggest(word))}names are matched whole")
