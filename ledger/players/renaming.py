"""Renaming: a player gets a corrected name, or a first one if only a number was known.

The name waits in the people file until the journal has committed to it; only then is it the player's. So an
interruption leaves the old name or the new one, never none. The old name and its salt are forgotten. The module
``people`` defines how rows wait.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import attrs

from ledger.errors import LedgerError, RejectedError, StorageError
from ledger.facts.codec import body_of
from ledger.facts.events import PlayerRenamed
from ledger.journal import Journal, StoredEntry, StoredJournal, Writer, rules
from ledger.players.pending_changes import PendingName
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.players.verified_names import (
    commitment_mismatch,
    commitment_to,
    erasure_key,
    is_committed,
    name_commitments,
    with_pending_name,
)

PATIENCE = 2.0  # seconds to wait for those who read the people file, before the old name is left to the next one
RULES: dict[str, str] = {  # name -> what it means and what to do; the other refusals are those of ``rules``
    "erased-player": "who was erased is known to nobody any more: who comes back is registered anew",
}


@attrs.frozen
class Renamed:
    """The result of a renaming: the person, and whether the old name is gone.

    Attributes:
        person: the player under the name that holds now.
        recorded: False if the player bears the name already.
        is_forgotten: False if another process is reading the people file, so that its log keeps the old name until
            the next command takes it away.
    """

    person: Person
    recorded: bool
    is_forgotten: bool


def rename(
    journal: Journal, people: People, player: int, name: str, *, actor: str, clock_ms: Callable[[], int]
) -> Renamed:
    """Give a player another name.

    Args:
        journal: where it is sealed.
        people: where it is kept.
        player: the number.
        name: 1 to 128 characters of plain text.
        actor: who does it.
        clock_ms: milliseconds since 1970.

    Raises:
        RejectedError: ``unknown-player``, ``erased-player`` or ``clock-behind``.
        StorageError: the people file and the journal do not belong together.
    """
    # First the remains of others: a waiting name, perhaps with a commitment already, would give way to this one and be
    # lost.
    complete_pending(journal.writing(), people, PATIENCE)
    try:
        with journal.writing() as writer:
            person, sealed = _to_be_renamed(writer, people, player)
            # The same name may be given again: an older copy of the names has one from before the journal's last
            # commitment.
            is_new = person.name != name or not is_committed(person, sealed[-1])
            if is_new:
                now = rules.check_clock(clock_ms(), writer.last_recorded_at())
                pending = people.pending.begin(player, len(sealed), name)
                person = with_pending_name(person, pending)
                event = PlayerRenamed(player=player, number=len(sealed), commitment=commitment_to(person))
                body = body_of(writer.size + 1, rules.recorded_text(now), actor, event)
                writer.append([event.KIND], [event.key], [body])
    except BaseException:
        with suppress(LedgerError):  # the error that stopped it is reported
            complete_pending(journal.writing(), people, PATIENCE)
        raise
    complete_pending(journal.writing(), people, PATIENCE)
    return Renamed(person, is_new, all(row.player != player for row in people.pending.rows()))


def _to_be_renamed(writer: Writer, people: People, player: int) -> tuple[Person, list[StoredEntry]]:
    """Return the player's row, under any name that the journal ever committed to, and the entries that did so."""
    sealed = name_commitments(writer.find, [player]).get(player)
    if sealed is None:
        raise rules.unknown_player(f"renamed:{player}@1", player)
    person = people.by_number([player]).get(player)
    if person is None:
        words = f"knows nothing of player {player}, whom entry {sealed[0].position} registered"
        raise StorageError(people.path, f"{words}; {people.RESTORE}")
    # Both: an older copy of the names may still know who the journal says was erased.
    if person.is_erased or writer.find([erasure_key(player)]):
        message = f"who player {player} was is forgotten: who comes back is registered anew, under another number"
        raise RejectedError("erased-player", f"renamed:{player}@{len(sealed)}", message)
    if not any(is_committed(person, entry) for entry in sealed):
        raise StorageError(people.path, commitment_mismatch(people, person, sealed))
    return person, sealed


def complete_pending(lock: AbstractContextManager[Writer], people: People, patience: float) -> None:
    """Complete pending renamings: apply names to which the journal committed, drop the others.

    The old name is removed from the file and its log before the waiting row is deleted. If this is interrupted, or
    if the file is in use, the next renaming completes it.

    Args:
        lock: a write transaction on the journal, so that no renaming is under way elsewhere.
        people: the people file.
        patience: seconds to wait for those who read the people file.

    Raises:
        StorageError: a file refuses.
    """
    if not people.pending.rows():
        return
    with lock as writer:
        waiting: list[tuple[PendingName, bool]] = []
        for row in people.pending.rows():
            stored = name_commitments(writer.find, [row.player]).get(row.player)
            person = people.by_number([row.player]).get(row.player)
            is_last = (
                person is not None and stored is not None and is_committed(with_pending_name(person, row), stored[-1])
            )
            waiting.append((row, is_last))
        for row, sealed in waiting:
            if sealed:
                people.pending.apply(row)
            else:
                people.pending.drop(row)
    if people.purge_within(patience):
        for row, sealed in waiting:
            if sealed:
                people.pending.drop(row)


def try_to_complete_pending(journal: StoredJournal, people: People) -> None:
    """Act as ``complete_pending``, but do not wait for other processes, and fail silently.

    If the files are open for reading only, names with a commitment are read from the waiting rows.
    """
    with suppress(LedgerError):
        complete_pending(journal.writing(patience=0), people, 0)
