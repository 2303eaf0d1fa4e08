"""The one player whom somebody means by a name, an identity or a number. Reads only.

Which names there are is the people file's business; that they are those that the journal sealed, ``sealed_names``'.
"""

from __future__ import annotations

from ledger.errors import UnknownNameError
from ledger.journal import Journal, rules
from ledger.players.people import Person
from ledger.players.sealed_names import SealedNames
from ledger.runtime.nearest import meant_by


def player_found(journal: Journal, names: SealedNames, wanted: str) -> Person:
    """The one player of that name, identity or number, compared with what the journal sealed.

    Raises:
        UnknownNameError: nobody, or several: their identities are listed.
        StorageError: the journal registered another name under that number.
    """
    people = names.people()
    found = list(people.by_number([int(wanted)]).values()) if wanted.isdecimal() else []
    found = found or people.named(wanted) or _nameless(journal, wanted)
    if len(found) == 1:
        return names.compared(found[0])
    if found:
        several = f"several are called so: {[person.identity for person in found]}; give an identity or a number"
        raise UnknownNameError("player", wanted, several, where="by that name alone")
    raise UnknownNameError("player", wanted, f"{meant_by(people.like(wanted))}names are matched whole")


def _nameless(journal: Journal, wanted: str) -> list[Person]:
    """A number that the journal registered and of which the people file, as it stands, knows nothing."""
    stored = journal.find([f"player:{wanted}"]) if wanted.isdecimal() else {}
    return [Person(int(wanted), None, None, None, rules.facts_of(entry)["joined_at"]) for entry in stored.values()]
