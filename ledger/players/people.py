"""The players' names: the contract of a store of names, and all that is the same in a file and on a server.

It is the only place where personal data lives, next to the journal and never in it, so that it can be erased. The
journal holds numbers and, for each, a salted commitment to the identity and the name given here. Erasing a row
leaves the commitment without meaning; editing or swapping names breaks it. No rating, no game lives here. The store
in a file of SQLite is in ``sqlite_people``, that on a server in ``postgres_people``.

The contract (``tests.contracts.people_contract`` runs it over any store):

* numbers count from 1 without gaps; a number once kept MUST never be given to another person, and its row MUST never
  vanish: who is erased stays as a number without identity, name and salt;
* ``assign_numbers`` stores all new players durably, or none. If the store shares its transactions with a journal in
  which a write transaction is open, both MUST be committed together, or neither;
* a confirmed write MUST be in the store when its transaction is over; otherwise the write MUST raise an error;
* one writer at a time; a second one MUST wait, never fail because another was faster, and never give the same number;
* readers MUST see only committed rows, and MUST NOT wait for writers, except while ``purge`` rewrites everything;
* names are compared by the code points of their letters: no collation of the store MUST decide who is found, or who
  comes first;
* when ``purge`` is over and true, no byte of what was erased MUST be left in what the store reads answers from; where
  other copies of it are, and until when, ``remaining_copies`` MUST say.
"""

from __future__ import annotations

import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import ClassVar

from ledger.errors import LedgerError, StorageError
from ledger.facts.person_names import FIDE, spelt
from ledger.players.name_indexes import NameSearch, WholeNames, plain_lower_case
from ledger.players.names_database import NamesDatabase, Value
from ledger.players.pending_changes import PendingErasures, PendingNames
from ledger.players.persons import Person, new_secret
from ledger.players.reasons import SALT_BYTES, Reasons
from ledger.runtime.nearest import similar_names
from ledger.runtime.visible import is_storable

# The columns of people, in the order of a ``Person``, with their types on a server.
_TYPES = {"player": "int8", "identity": "text", "name": "text", "salt": "bytea", "joined_at": "text"}
_COMPARED = 5_000  # names: a tenth of a second


class People(NamesDatabase):
    """The store of the identities and names of one ledger's players.

    Attributes:
        pending: names that are about to be given.
        erasures: players who are about to be forgotten.
        reasons: those of corrections, which may name people.
        search: by parts of names.
        whole_names: by whole names, regardless of case.
    """

    # The words for another process that still reads rows to be forgotten; its name follows.
    STILL_READ: ClassVar[str]
    # The way to bring back the latest names in place of an older or foreign file.
    RESTORE: ClassVar[str]
    # The command that removes all of them with their sidecar files; None if there is none.
    SET_ASIDE: ClassVar[str | None]
    # The index of parts of names.
    SEARCH: ClassVar[type[NameSearch]]
    # Whether a column is :word but for the case of English letters.
    IS_WORD_IN_ANY_CASE: ClassVar[str]
    # Whether an identity has characters beyond ASCII's visible ones.
    IS_UNUSUAL: ClassVar[str]

    def __init__(self, path: str) -> None:
        """Take the store's place as messages name it."""
        self.path = path
        self.sealed, self.hidden = set(), set()
        self.pending = PendingNames(self, self._out_of_indexes)
        self.erasures = PendingErasures(self, self._out_of_indexes)
        self.reasons = Reasons(self, self.purge_or_refuse)
        self.search = self.SEARCH(self)
        self.whole_names = WholeNames(self)
        self._older: Mapping[str, str] | None = None

    @abstractmethod
    def close(self) -> None:
        """Release the store."""

    @abstractmethod
    def version(self) -> int:
        """Return a number that changes when another process has written since the last call."""

    # -- the secret ------------------------------------------------------------------------------------------------

    def secret(self) -> bytes:
        """Return the ledger's 32-byte secret for the keys of facts; a file of release 0.1.0 gets one.

        Raises:
            StorageError: it has none and cannot be written, or lost its own.
        """
        if not self.is_upgraded():
            with self.writing():  # upgrades the file, and with it makes a secret
                pass
        secret = self._secret()
        if secret is None:
            raise StorageError(self.path, f"its secret is gone: {self.RESTORE}")
        return secret

    def secret_or_random(self) -> bytes:
        """Return the secret, or a random one if the store has none: for dry runs."""
        return self._secret() or new_secret()

    def _secret(self) -> bytes | None:
        rows = self.rows("SELECT secret FROM {s}.secret") if self.is_upgraded() else []
        return bytes(rows[0][0]) if rows else None

    def adopt_secret(self, secret: bytes) -> None:
        """Store the secret of another ledger in place of this one, before any key was made.

        Raises:
            StorageError: the store refuses.
        """
        with self.writing():
            self.run(
                "INSERT INTO {s}.secret(number, secret) VALUES (1, :secret) "
                "ON CONFLICT (number) DO UPDATE SET secret = excluded.secret",
                secret=secret,
            )

    # -- numbers ---------------------------------------------------------------------------------------------------

    def assign_numbers(
        self, named: Mapping[str, str], joined_at: str, confirm: Callable[[Sequence[Person]], None] = lambda _: None
    ) -> dict[str, Person]:
        """Return the persons behind these identities; new ones get the next numbers, in the given order.

        Args:
            named: identity -> name to show.
            joined_at: instant that is kept with the new ones.
            confirm: called with the new ones before they are kept; what it raises keeps them out.

        Raises:
            StorageError: the store refuses, or did not take what it was given.
        """
        version = self.version()
        persons = self.by_identity(list(named))
        fresh = [identity for identity in named if identity not in persons]
        if fresh:
            with self.writing():
                if self.version() != version:  # another process may have been faster
                    persons = self.by_identity(list(named))
                    fresh = [identity for identity in named if identity not in persons]
                first = self.highest() + 1
                # several spellings of one identity are one newcomer, under the name that comes first
                names: dict[str, str] = {}
                for identity in fresh:
                    names.setdefault(spelt(identity), named[identity])
                # one draw: each by itself costs a call of the system
                salts = secrets.token_bytes(SALT_BYTES * len(names))
                newcomers = [
                    Person(first + i, identity, name, salts[SALT_BYTES * i : SALT_BYTES * (i + 1)], joined_at)
                    for i, (identity, name) in enumerate(names.items())
                ]
                confirm(newcomers)
                self._insert(newcomers)
            made = {person.identity: person for person in newcomers}
            persons.update((identity, made[spelt(identity)]) for identity in fresh)
        return persons

    def delete_unregistered(self, first: int) -> None:  # what shares a transaction with the journal has none
        """Delete the rows from a number on, whose registration was rolled back.

        Args:
            first: the lowest of the numbers.
        """

    def add_nameless(self, players: Mapping[int, str]) -> None:
        """Add rows without names for players whose names are lost, as after an erasure.

        Args:
            players: number -> the instant when the player joined.

        Raises:
            StorageError: the store refuses, or one of the numbers has a row.
        """
        with self.writing():
            self._insert([Person(player, None, None, None, joined_at) for player, joined_at in players.items()])

    def _insert(self, persons: Sequence[Person]) -> None:
        """Keep new rows, all of them or none."""
        # A foreign trigger can swallow rows without an error.
        taken = self.add("people", _TYPES, persons) if persons else 0
        if taken != len(persons):
            raise StorageError(self.path, f"took {taken} of {len(persons)} new rows: run 'audit'; nothing was recorded")

    def counts(self) -> tuple[int, int]:
        """Return the number of rows and the highest number, in one read snapshot. Everything is read.

        Raises:
            CorruptError: rows and the index on identities do not belong together.
        """
        ((rows, highest),) = self.rows("SELECT count(*), coalesce(max(player), 0) FROM {s}.people")
        return int(rows), int(highest)

    def highest(self) -> int:
        """Return the highest player number in the table; 0 if it is empty."""
        return int(self.rows("SELECT coalesce(max(player), 0) FROM {s}.people")[0][0])

    def rows_between(self, first: int, last: int) -> int:
        """Return how many numbers from *first* to *last* have a row, and are in the index on identities."""
        query = "SELECT count(*) FROM {s}.people WHERE player BETWEEN :first AND :last"
        return int(self.rows(query, first=first, last=last)[0][0])

    def numbers(self) -> set[int]:
        """Return every number that has a row, erased or not."""
        return {player for (player,) in self.rows("SELECT player FROM {s}.people")}

    def has_nameless(self) -> bool:
        """Return whether any player has no name, because it was erased or lost: one look-up."""
        return bool(self.rows("SELECT EXISTS (SELECT 1 FROM {people} WHERE identity IS NULL)")[0][0])

    def nameless(self) -> list[int]:
        """Return the numbers of the players who were erased, or whose names were lost."""
        return [player for (player,) in self.rows("SELECT player FROM {people} WHERE identity IS NULL ORDER BY player")]

    # -- names -----------------------------------------------------------------------------------------------------

    def names(self) -> list[tuple[int, str]]:
        """Return the number and name of all players who were not erased, in order of the numbers."""
        return self.rows("SELECT player, name FROM {people} WHERE name IS NOT NULL ORDER BY player")

    def identities_and_names(self) -> list[tuple[int, str, str]]:
        """Return number, identity and name of all who were not erased, in order of the numbers."""
        named = "identity IS NOT NULL AND name IS NOT NULL"
        return self.rows(f"SELECT player, identity, name FROM {{people}} WHERE {named} ORDER BY player")

    def identities(self) -> list[tuple[int, str]]:
        """Return the number and identity of all players who were not erased, in order of the numbers."""
        return self.rows("SELECT player, identity FROM {people} WHERE identity IS NOT NULL ORDER BY player")

    def _persons(self, condition: str, **values: Value) -> list[Person]:
        rows = self.rows(f"SELECT {', '.join(_TYPES)} FROM {{people}} WHERE {condition}", **values)
        return list(starmap(Person, rows))

    def iter_named(self, *, highest_first: bool = False) -> Iterator[list[Person]]:
        """Yield the players who were not erased, in order of the numbers, in growing blocks: most callers read one."""
        last, size = (2**62, 1) if highest_first else (0, 1)
        beyond = "player < :last {} ORDER BY player DESC" if highest_first else "player > :last {} ORDER BY player"
        condition = f"{beyond.format('AND salt IS NOT NULL')} LIMIT :size"
        # page by page: others may write between two blocks
        while persons := self._persons(condition, last=last, size=size):
            yield persons
            last, size = persons[-1].player, min(size * 8, 4_096)

    def by_identity(self, identities: Sequence[str]) -> dict[str, Person]:
        """Return the persons with these identities, in any spelling; an exact spelling goes first."""
        rows = self._spelt_so({*identities, *map(spelt, identities)})
        unmet = [identity for identity in identities if identity not in rows and spelt(identity) not in rows]
        # Only if a player is new: for the older spellings all identities are looked through.
        older = self._older_spellings() if unmet else {}
        further = {identity: older[spelt(identity)] for identity in unmet if spelt(identity) in older}
        if further:
            rows.update(self._spelt_so(set(further.values())))
        persons = {
            identity: rows.get(identity) or rows.get(further.get(identity, spelt(identity))) for identity in identities
        }
        return {identity: person for identity, person in persons.items() if person is not None}

    def _spelt_so(self, identities: set[str]) -> dict[str, Person]:
        """Return, by identity, the players with exactly these spellings."""
        persons = self._persons("identity IN :identities", identities=list(identities))
        return {person.identity or "": person for person in persons}

    def _older_spellings(self) -> Mapping[str, str]:
        """Return identities from before the rule of spelling: in its spelling, and in their own."""
        if self._older is None:
            older: dict[str, str] = {}
            # Very few are looked at: those with capitals of English, two blanks, one behind the colon, characters
            # beyond ASCII, a FIDE number that begins with zeros.
            query = (
                "SELECT identity FROM {people} WHERE identity <> lower(identity) OR strpos(identity, '  ') > 0 "
                f"OR strpos(identity, ': ') > 0 OR strpos(identity, 'fide:0') = 1 OR {self.IS_UNUSUAL} ORDER BY player"
            )
            for (identity,) in self.rows(query):
                if spelt(identity) != identity:
                    older.setdefault(spelt(identity), identity)
            self._older = older
        return self._older

    def by_number(self, players: Iterable[int]) -> dict[int, Person]:
        """Return the persons with these numbers, in order of the numbers."""
        persons = self._persons("player IN :players ORDER BY player", players=list(players))
        return {person.player: person for person in persons}

    def find(self, word: str) -> list[Person]:
        """Return the persons whose identity or name is *word*; without one, those with it in other capitals.

        That is the case of English letters alone; in order of the numbers.
        """
        if not is_storable(word):
            return []
        bearers = None
        # no player has it, or one that is written much like it
        if not self.whole_names.lacks_many():
            bearers = self.whole_names.players_named([plain_lower_case(word)]).get(plain_lower_case(word), [])
        persons = self._bearing(word, bearers) or self._bearing(word, bearers, any_case=True)
        if not persons and word.lower().startswith(f"{FIDE}:"):  # zeros may precede the number, here or there
            persons = list(self.by_identity([word]).values())
        return persons

    def _bearing(self, word: str, bearers: Sequence[int] | None, *, any_case: bool = False) -> list[Person]:
        """Return the players with *word* as identity, or as the name of one of the *bearers*; None: of anybody."""
        same = self.IS_WORD_IN_ANY_CASE if any_case else "{} = :word"
        among = "" if bearers is None else "player IN :bearers AND "
        condition = f"{same.format('identity')} OR {among}{same.format('name')}"
        return self._persons(f"{condition} ORDER BY player", word=word, bearers=list(bearers or ()))

    def suggest(self, word: str) -> list[str]:
        """Return up to three names or identities similar to an unknown *word*; the most similar first.

        In a store of many people only those are compared that begin like it or hold the whole word. Numbers are like
        each other without meaning each other.
        """
        if word.rpartition(":")[2].isdigit() or not is_storable(word):
            return []
        query = "SELECT identity, name FROM {people} WHERE salt IS NOT NULL %s ORDER BY player LIMIT :most"
        rows = self.rows(query % "", most=_COMPARED + 1)
        if len(rows) > _COMPARED:
            begins = "substr({}, 1, 1) IN (:small, :capital)"
            near = f"AND ({begins.format('name')} OR {begins.format('identity')} OR strpos(name, :word) > 0)"
            small, capital = word[:1].lower(), word[:1].upper()
            rows = self.rows(query % near, small=small, capital=capital, word=word, most=_COMPARED)
        # by a name, an identity, or a word of a name: the whole ones
        called: dict[str, list[str]] = {}
        for identity, name in rows:
            for part in {identity} if ":" in word else {name, *name.replace(",", " ").split()}:
                called.setdefault(part, []).append(identity if ":" in word else name)
        likely = [whole for part in similar_names(word, called) for whole in called[part]]
        return list(dict.fromkeys(likely))[:3]

    def _out_of_indexes(self, players: Sequence[int]) -> None:
        """Take former names out of the indexes, within the write transaction that changed the rows."""
        self.search.update_names(players)
        self.whole_names.update_names(players)

    # -- forgetting ------------------------------------------------------------------------------------------------

    def mark_erased(self, players: Iterable[int]) -> None:
        """Show these players as erased from now on."""
        self.hidden.update(players)

    @abstractmethod
    def purge(self) -> bool:
        """Rewrite the store, so that no byte of deleted names is left in it.

        Returns:
            False if another process is reading, so that old bytes stay.

        Raises:
            StorageError: the store refuses.
        """

    @abstractmethod
    def purge_within(self, patience: float) -> bool:
        """Act as ``purge``, but wait at most *patience* seconds for other readers and writers."""

    def purge_or_refuse(self) -> None:
        """Act as ``purge`` after an erasure, and refuse if old bytes are left.

        Raises:
            StorageError: the old bytes may still be there, and what to do.
        """
        try:
            is_clean = self.purge()
        except LedgerError as error:
            why = str(error).removeprefix(f"{self.path}: ")
            message = f"the row is empty, but its old bytes may still be there: erase again ({why})"
            raise StorageError(self.path, message) from error
        if not is_clean:
            raise StorageError(self.path, f"{self.STILL_READ} the erased bytes; erase again later")

    @abstractmethod
    def remaining_copies(self) -> str:
        """Return in words which copies may still contain erased names, and until when."""
