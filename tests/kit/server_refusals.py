"""What goes wrong with a ledger whose journal is on a server, provoked for the error catalogue."""

from __future__ import annotations

from collections.abc import Callable

from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo
from tests.kit.postgres_refusals import shared_server
from tests.kit.server_ledgers import empty_database, new_place, settings_of

Provoke = Callable[[ClubOfTwo], object]


def with_settings(words: str) -> Provoke:
    """Open a ledger of which nothing is there but these settings."""

    def provoke(scene: ClubOfTwo) -> None:
        (scene.folder / "far.toml").write_text(words)
        Ledger.open(scene.folder / "far.db")

    return provoke


def made(scene: ClubOfTwo, place: ServerPlace, name: str = "far.db") -> Ledger:
    return Ledger.create(scene.folder / name, on_server=place)


def may_not_make(scene: ClubOfTwo) -> None:
    made(scene, ServerPlace(empty_database(shared_server()), "never_made"))


def as_superuser(scene: ClubOfTwo) -> None:
    database = empty_database(shared_server()).rpartition("/")[2]
    made(scene, ServerPlace(shared_server().url(database), "club_of_all"))


def made_twice(scene: ClubOfTwo) -> None:
    place = new_place(shared_server())
    made(scene, place).close()
    made(scene, place, "again.db")


def file_beside(scene: ClubOfTwo) -> None:
    place = new_place(shared_server())
    made(scene, place).close()
    (scene.folder / "far.db").touch()
    Ledger.open(scene.folder / "far.db")


def no_quorum(scene: ClubOfTwo) -> None:
    place = new_place(shared_server(), durability="quorum")
    made(scene, place)


def recorded_for_reading_only(scene: ClubOfTwo) -> None:
    place = new_place(shared_server())
    made(scene, place).close()
    with Ledger.open(settings_of(scene.folder / "node", place), read_only=True) as ledger:
        ledger.register("name:ann", "Ann")


SERVER_REFUSALS: dict[str, Provoke] = {
    "storage-settings-no-journal": with_settings('schema = "club"\n'),
    "storage-settings-no-address": with_settings('journal = "club.db"\n'),
    "storage-settings-patience": with_settings('journal = "postgresql://ledger@db1/chess"\npatience = 0\n'),
    "storage-settings-durability": with_settings('journal = "postgresql://ledger@db1/chess"\ndurability = "much"\n'),
    "storage-server-may-not-make": may_not_make,
    "storage-server-superuser": as_superuser,
    "storage-server-made-twice": made_twice,
    "storage-server-file-beside": file_beside,
    "storage-server-no-quorum": no_quorum,
    "storage-server-read-only": recorded_for_reading_only,
}
