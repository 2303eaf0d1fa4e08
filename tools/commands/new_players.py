"""What commands say of the new players of a file or a game, and of names that it would have changed.

A module of its own, so that recording one game manually does not load the readers of files.
"""

from __future__ import annotations

from collections.abc import Sequence

from ledger.errors import StorageError
from ledger.ledger import Ledger

from .. import output
from ..wording import counted

NOTES_SHOWN = 10


def note_namesakes(ledger: Ledger, newcomers: Sequence[tuple[str, str]], begin: str = "") -> None:
    """Name the new players who have the name of a registered player."""
    try:
        alike = ledger.registry.namesakes(newcomers)
    except StorageError as error:  # earlier records stay: a damaged people file costs no more than the note
        output.remark(f"{begin}note: who bears a name already could not be looked up: {error}")
        return
    tell_namesakes([f"{begin}note: {note}" for note in alike], begin)


def tell_namesakes(notes: Sequence[str], begin: str) -> None:
    """Show the first notes on new players with the name of a registered player, and how many more there are."""
    for note in notes[:NOTES_SHOWN]:
        output.remark(note)
    if len(notes) > NOTES_SHOWN:
        rest = counted(len(notes) - NOTES_SHOWN, "more new player")
        output.remark(f"{begin}and {rest} with the name of somebody known, or nearly")


def kept_names(count: int) -> str:
    """Return notes on players who were renamed and whom a file calls by another name."""
    return f"{counted(count, 'player')} {'keeps' if count == 1 else 'keep'} a name given since"
