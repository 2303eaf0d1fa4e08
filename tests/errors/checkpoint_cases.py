"""The error catalogue's cases about keys, checkpoints and receipts: by name what is done until the ledger refuses."""

import warnings
from collections.abc import Callable

from ledger.audit.receipts import make_receipt
from ledger.journal.signing_keys import NoteKey
from ledger.ledger import Ledger
from tests.kit.checkpoints import give_key, signed
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded
from tests.kit.tampering import run_sql


def write_again(scene: ClubOfTwo) -> None:
    """Open the ledger, and record something."""
    with warnings.catch_warnings(action="ignore"), Ledger.open(scene.path, clock=scene.clock) as ledger:
        ledger.append(game_recorded("r3"))


def read_by_others(scene: ClubOfTwo) -> None:
    give_key(scene.path)
    (scene.folder / "club.key").chmod(0o644)
    scene.ledger.checkpoints.make()


def no_key(scene: ClubOfTwo) -> None:
    give_key(scene.path)
    (scene.folder / "club.key").write_bytes(b"club.db\n")
    scene.ledger.checkpoints.make()


def damaged_key(scene: ClubOfTwo) -> None:
    give_key(scene.path)
    key = scene.folder / "club.key"
    key.write_text(key.read_text("ascii").replace("+ratings", "+sating"), "ascii")
    scene.ledger.checkpoints.make()


def older_copy(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    copy = scene.path.read_bytes()
    with Ledger.open(scene.path, clock=scene.clock) as ledger:
        ledger.append(game_recorded("r2"))
        give_key(scene.path)
        ledger.checkpoints.make()
    scene.path.write_bytes(copy)
    write_again(scene)


def another_journal(scene: ClubOfTwo) -> None:
    """The root of the checkpoint is one of which every digit is known; that of the journal is not, for its salts."""
    file = signed(scene).folder / "club.checkpoints"
    scene.ledger.close()
    run_sql(scene.path, "DROP TRIGGER journal_never_updates", "UPDATE journal SET leaf = zeroblob(32)")
    lines = file.read_text("utf-8").split("\n")
    file.write_text("\n".join([*lines[:2], f"{'A' * 43}=", *lines[3:]]), "utf-8")
    write_again(scene)


def signed_for_another_journal(scene: ClubOfTwo) -> None:
    file = signed(scene).folder / "club.checkpoints"
    lines = file.read_text("utf-8").split("\n")
    file.write_text("\n".join([lines[0], "7", *lines[2:]]), "utf-8")
    scene.ledger.checkpoints.make()


def cut_off(scene: ClubOfTwo) -> None:
    file = signed(scene).folder / "club.checkpoints"
    file.write_bytes(file.read_bytes()[:-5])
    scene.ledger.checkpoints.make()


def missing(scene: ClubOfTwo) -> None:
    signed(scene)
    (scene.folder / "club.toml").write_text('checkpoints = "stick/club.checkpoints"\n', "utf-8")
    scene.ledger.checkpoints.make()


def another_origin(scene: ClubOfTwo) -> None:
    signed(scene)
    (scene.folder / "club.key").unlink()
    give_key(scene.path, NoteKey("other.example", bytes(32)))
    scene.ledger.checkpoints.make()


def settings(content: str) -> Callable[[ClubOfTwo], object]:
    """Say so in the settings."""

    def provoke(scene: ClubOfTwo) -> None:
        (scene.folder / "club.toml").write_text(content, "utf-8")
        scene.ledger.checkpoints.make()

    return provoke


def beyond(scene: ClubOfTwo) -> None:
    signed(scene)
    scene.ledger.append(game_recorded("r2"))
    make_receipt(scene.ledger, "r2")


def name_of_a_stranger(scene: ClubOfTwo) -> None:
    signed(scene)
    scene.ledger.register("name:carl", "Carl")
    make_receipt(scene.ledger, "r1-b1", name_of="Carl")


def name_of_nobody(scene: ClubOfTwo) -> None:
    signed(scene)
    scene.ledger.erase(1)
    make_receipt(scene.ledger, "r1-b1", name_of="1")


def false_entry(scene: ClubOfTwo) -> None:
    signed(scene)
    body = "CAST(replace(CAST(body AS TEXT), 'white', 'black') AS BLOB)"
    run_sql(scene.path, "DROP TRIGGER journal_never_updates", f"UPDATE journal SET body = {body} WHERE position = 4")
    make_receipt(scene.ledger, "r1-b1")


def left_behind(scene: ClubOfTwo) -> None:
    (scene.folder / "new.checkpoints").touch()
    Ledger.create(scene.folder / "new.db")


REFUSALS: dict[str, Callable[[ClubOfTwo], object]] = {
    "malformed-key-name": lambda scene: scene.ledger.checkpoints.new_key("our club"),
    "storage-key-missing": lambda scene: scene.ledger.checkpoints.make(),
    "storage-key-exists": lambda scene: (give_key(scene.path), scene.ledger.checkpoints.new_key("club.example")),
    "storage-key-read-by-others": read_by_others,
    "storage-key-is-none": no_key,
    "storage-key-damaged": damaged_key,
    "storage-older-copy": older_copy,
    "storage-another-journal": another_journal,
    "storage-nothing-signed": signed_for_another_journal,
    "storage-checkpoints-cut-off": cut_off,
    "storage-checkpoints-missing": missing,
    "storage-checkpoints-of-another-name": another_origin,
    "storage-checkpoints-left-behind": left_behind,
    "storage-settings-no-toml": settings("checkpoints ="),
    "storage-settings-unknown": settings("checkpoint = 'x'"),
    "storage-settings-no-path": settings("checkpoints = 7"),
    "storage-receipt-no-checkpoint": lambda scene: make_receipt(scene.ledger, "r1-b1"),
    "storage-receipt-beyond": beyond,
    "unknown-name-receipt-stranger": name_of_a_stranger,
    "unknown-name-receipt-erased": name_of_nobody,
    "corrupt-receipt-entry": false_entry,
}
