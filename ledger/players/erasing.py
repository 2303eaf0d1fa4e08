"""The erasure of a person: the row becomes blank, the journal records the erasure, and no byte is left.

In this order, so that an interruption leaves the person known and nothing recorded, or a blank row of which the next
writer makes the entry. An entry that says so holds for good: a name that an older copy of the people file brings
back is hidden and goes again. The module ``people`` defines how rows wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress

from ledger.errors import LedgerError, StorageError
from ledger.facts import codec
from ledger.facts.events import PersonErased
from ledger.journal import Journal, StoredJournal, Writer, rules
from ledger.players.people import People
from ledger.players.verified_names import erase_reappeared, erasure_key, reappeared_after_erasure, registration_key


def erase_persons(
    journal: Journal, people: People, players: Sequence[int], *, actor: str, clock_ms: Callable[[], int]
) -> bool:
    """Erase the identities and names of players for good, and record it in the journal.

    An erasure that is recorded already is not recorded again; those of unregistered numbers are not recorded at all.

    Args:
        journal: the journal.
        people: the names.
        players: the numbers of one person, or of several.
        actor: the name of who requests it.
        clock_ms: milliseconds since 1970.

    Returns:
        Whether anything was known of one of them.

    Raises:
        MalformedError: the actor is no word that the journal may hold.
        RejectedError: ``clock-behind``; no player was forgotten.
        StorageError: a file refuses, or another process reads the people file and keeps the old bytes in its log.
    """
    count = None  # of how many something was known
    try:
        with journal.writing() as writer:
            unrecorded = _unrecorded(writer, dict.fromkeys(players, actor))
            # Before anybody is forgotten: with a clock that is behind, the names would be gone and no entry could say
            # so.
            now = rules.check_clock(clock_ms(), writer.last_recorded_at()) if unrecorded else 0
            # Forgotten first and recorded then: the other way a crash would leave a name of which the journal says that
            # it is gone.
            count = people.erasures.begin(players, actor)
            _record(writer, unrecorded, now)
    except LedgerError as error:
        if count is None:
            raise
        raise StorageError(
            people.path,
            f"who they were is forgotten, but the journal does not say so yet: the next command that may write "
            f"records it ({error})",
        ) from error
    people.purge_or_refuse()
    if left := people.erasures.stored_players(players):
        raise StorageError(people.path, f"still tells who player {left[0]} is; run 'audit', then erase again")
    people.erasures.drop(players)
    return bool(count)


def _unrecorded(writer: Writer, actors: Mapping[int, str]) -> dict[int, str]:
    """Return those registered players among these whose erasure the journal does not record yet."""
    registered = writer.find([registration_key(player) for player in actors])
    recorded = writer.find([erasure_key(player) for player in actors])
    return {
        player: actor
        for player, actor in actors.items()
        if registration_key(player) in registered and erasure_key(player) not in recorded
    }


def _record(writer: Writer, actors: Mapping[int, str], now_ms: int) -> None:
    stamp = rules.recorded_text(now_ms)
    for player, actor in actors.items():
        event = PersonErased(player=player)
        writer.append([event.KIND], [event.key], [codec.body_of(writer.size + 1, stamp, actor, event)])


def complete_pending(
    lock: AbstractContextManager[Writer], journal: Journal, people: People, patience: float, clock_ms: Callable[[], int]
) -> None:
    """Complete pending erasures, and erase players again whom an older people file brought back.

    Args:
        lock: a write transaction on the journal, so that no other process erases meanwhile.
        journal: the journal.
        people: the names.
        patience: seconds to wait for other readers of the names.
        clock_ms: milliseconds since 1970.

    Raises:
        RejectedError: ``clock-behind``.
        StorageError: a file refuses.
    """
    with lock as writer:
        # First: players who come to wait by this are completed with the others.
        erase_reappeared(journal, people)
        waiting = people.erasures.rows()
        if unrecorded := _unrecorded(writer, waiting):
            _record(writer, unrecorded, rules.check_clock(clock_ms(), writer.last_recorded_at()))
    # No sooner do the rows go that wait: by them alone the next one knows that old bytes are still there.
    if people.purge_within(patience):
        people.erasures.drop(waiting)


def try_to_complete_pending(journal: StoredJournal, people: People, clock_ms: Callable[[], int]) -> None:
    """Act as ``complete_pending``, but do not wait for other processes; if it fails, hide the erased players.

    It fails if the files are open for reading only.
    """
    # unreadable names are never shown
    with suppress(LedgerError):
        back = reappeared_after_erasure(journal, people)
        if back or people.erasures.rows():
            try:
                complete_pending(journal.writing(patience=0), journal, people, 0, clock_ms)
            except LedgerError:
                people.mark_erased(back)
