"""The making of receipts: files by which a player can prove later that a game was recorded in this journal.

They are C2SP tlog-proof files (https://c2sp.org/tlog-proof, "Format", as of 2026), made from the journal and the last
stored checkpoint. ``reader.receipts`` says what the line ``extra`` holds; it verifies receipts and shares no code with
this module, which asks it only whether the path leads to the checkpoint.

A receipt holds the raw entry: players' numbers, no names. One name, with identity and salt, is put in on request.
"""

from __future__ import annotations

import base64
from typing import Any

import orjson

from ledger.answers.asking import is_recorder_shown
from ledger.audit.reader import verify_inclusion
from ledger.errors import CorruptError, StorageError, UnknownNameError
from ledger.facts.words import TreeHead
from ledger.handle import OpenLedger
from ledger.journal import StoredEntry
from ledger.journal.checkpoint_notes import Checkpoint
from ledger.journal.game_references import find_game
from ledger.journal.merkle import inclusion_path, leaf_hash
from ledger.journal.rules import facts_of
from ledger.players.persons import Person
from ledger.players.verified_names import VerifiedNames, find_player, is_committed, name_commitments

FIRST_LINE = "c2sp.org/tlog-proof@v1"
KEPT_BACK = "it shows who recorded the game; the operator of the ledger makes it by 'rating-ledger receipt DB GAME'"
MAKE_ONE = "make one with 'rating-ledger checkpoint DB'"


def make_receipt(ledger: OpenLedger, game: str, *, name_of: str | None = None) -> str:
    """Return a receipt that proves a game's entry under the last stored checkpoint.

    Args:
        ledger: the ledger that recorded the game.
        game: as ``find_game`` takes it.
        name_of: a player of the game, by name, identity or number, whose name the receipt proves as well.

    Raises:
        UnknownNameError: no such game or player, the player did not play it, or was erased; or the answers are for
            strangers, and the entry says who recorded it.
        StorageError: there is no checkpoint yet, it was made before the entry, or it is of another journal.
        CorruptError: the stored tree does not lead to the checkpoint.
    """
    name, entry = find_game(ledger.journal, game)
    person = None if name_of is None else _player_of(ledger, entry, name_of)
    last = last_checkpoint(ledger, "receipt")
    check_covered(ledger, last.head, entry.position, f"game {name!r}")
    content: dict[str, Any] = {"entry": _text(ledger, entry)}
    if person is not None:
        content["name"] = _name(ledger, person, last.head)
    path = [_base64(sibling) for sibling in _path(ledger, entry, last.head)]
    if not is_recorder_shown(orjson.loads(entry.body)["actor"]):  # the entry is what it was, so that it can be read
        raise UnknownNameError("receipt", name, KEPT_BACK, where="for strangers")
    # RFC 8785: canonical JSON has its keys in order, and the verifier takes no other.
    extra = _base64(orjson.dumps(content, option=orjson.OPT_SORT_KEYS))
    return "\n".join([FIRST_LINE, f"extra {extra}", f"index {entry.position - 1}", *path, "", last.note])


def _player_of(ledger: OpenLedger, entry: StoredEntry, word: str) -> Person:
    """Return the named player of a game; one who was merged since is looked up as recorded."""
    names = VerifiedNames(ledger.journal, ledger.people)
    person, facts = find_player(ledger.journal, names, word), facts_of(entry)
    players = [facts["white"], facts["black"]]
    if person.player not in players:
        raise UnknownNameError("player", word, f"it was played by the players {players}", where="in this game")
    if person.is_erased or person.salt is None:
        raise UnknownNameError("name", word, "of a player who was erased, or whose name is lost, none can be proven")
    return person


def _name(ledger: OpenLedger, person: Person, head: TreeHead) -> dict[str, Any]:
    """Return the proof of a name: identity, name and salt, and the entry that committed to them, with its path."""
    sealed = name_commitments(ledger.journal.find, [person.player]).get(person.player, [])
    # The newest first: a renamed player has the name that the last of these entries committed to.
    entry = next((entry for entry in reversed(sealed) if is_committed(person, entry)), None)
    if entry is None or person.salt is None:
        raise UnknownNameError("name", person.name or "", f"no entry sealed it for player {person.player}")
    check_covered(ledger, head, entry.position, f"the name of player {person.player}")
    return {
        "entry": _text(ledger, entry),
        "identity": person.identity,
        "index": entry.position - 1,
        "name": person.name,
        "proof": [_base64(sibling) for sibling in _path(ledger, entry, head)],
        "salt": person.salt.hex(),
    }


def last_checkpoint(ledger: OpenLedger, document: str) -> Checkpoint:
    """Return the last stored checkpoint, which a *document* such as ``receipt`` needs.

    Raises:
        StorageError: there is none, or it is of another journal.
    """
    last = ledger.checkpoints.last()
    if last is None:
        place = str(ledger.checkpoints.place)
        raise StorageError(place, f"there is no checkpoint yet, which a {document} needs: {MAKE_ONE}")
    if fault := ledger.checkpoints.fault():
        raise StorageError(str(ledger.path), f"no {document} can be given: {fault}")
    return last


def check_covered(ledger: OpenLedger, head: TreeHead, position: int, what: str) -> None:
    """Raise StorageError if an entry is not under a head; *what* says what it recorded."""
    if position > head.size:
        raise StorageError(
            str(ledger.checkpoints.place),
            f"{what} was recorded as entry {position}, after the last checkpoint, which has {head.size} entries: "
            f"{MAKE_ONE}",
        )


def _text(ledger: OpenLedger, entry: StoredEntry) -> str:
    try:
        return entry.body.decode()
    except UnicodeDecodeError:
        raise CorruptError(str(ledger.path), entry.position, "is not UTF-8; run 'audit'") from None


def _path(ledger: OpenLedger, entry: StoredEntry, head: TreeHead) -> list[bytes]:
    path = inclusion_path(entry.position - 1, head.size, ledger.journal.subtree_root)
    # Asked of the verifier before it leaves the house: a receipt that fails years later could not be made again.
    if not verify_inclusion(leaf_hash(entry.body), entry.position, head, path):
        message = "does not lead to the root of the checkpoint: entry, leaf or tree was changed; run 'audit'"
        raise CorruptError(str(ledger.path), entry.position, message)
    return path


def _base64(content: bytes) -> str:
    """Return base64 by RFC 4648, section 4, with padding."""
    return base64.b64encode(content).decode()
