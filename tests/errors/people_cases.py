"""The error catalogue's cases about names files: missing, older, changed, or of another ledger.

The scene is the club of two.
"""

from collections.abc import Callable, Mapping
from contextlib import closing

from ledger.facts.events import PlayerRegistered
from ledger.facts.words import Standing
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.lost_names import accept_lost_names
from tests.kit.clubs import ClubOfTwo
from tests.kit.tampering import run_sql


def no_people(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    (scene.folder / "club.people.db").unlink()
    Ledger.open(scene.path)


def older_people(scene: ClubOfTwo) -> None:
    """An older copy of the people file comes back."""
    scene.ledger.close()
    copy = (scene.folder / "club.people.db").read_bytes()
    with Ledger.open(scene.path, clock=scene.clock) as ledger:
        ledger.register("name:carl", "Carl")
        ledger.register("name:dora", "Dora")
    (scene.folder / "club.people.db").write_bytes(copy)
    with Ledger.open(scene.path, clock=scene.clock) as ledger:
        ledger.register("name:eve", "Eve")


def older_people_without_one(scene: ClubOfTwo) -> None:
    run_sql(scene.folder / "club.people.db", "DELETE FROM people WHERE player = 2")
    scene.ledger.register("name:eve", "Eve")


def older_name(scene: ClubOfTwo) -> None:
    """An older copy of the people file comes back, from before Bob was renamed."""
    scene.ledger.close()
    copy = (scene.folder / "club.people.db").read_bytes()
    with Ledger.open(scene.path, clock=scene.clock) as ledger:
        ledger.rename(2, "Bob Lund")
    (scene.folder / "club.people.db").write_bytes(copy)
    with Ledger.open(scene.path, clock=scene.clock) as ledger:
        ledger.player("Bob")


def changed_new_name(scene: ClubOfTwo) -> None:
    scene.ledger.rename(2, "Bob Lund")
    run_sql(scene.folder / "club.people.db", "UPDATE people SET name = 'Robert' WHERE player = 2")
    scene.ledger.player("Robert")


def people_of_another_ledger(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    with Ledger.create(scene.folder / "other.db") as other:
        other.register("name:zoe", "Zoe")
    (scene.folder / "other.people.db").rename(scene.folder / "club.people.db")


def foreign_people(scene: ClubOfTwo) -> None:
    people_of_another_ledger(scene)
    with Ledger.open(scene.path) as ledger:
        ledger.player("Ann")


def foreign_people_are_no_loss(scene: ClubOfTwo) -> None:
    people_of_another_ledger(scene)
    with closing(SqliteJournal(scene.path)) as journal:
        accept_lost_names(journal, scene.folder / "club.people.db")


def log_alone(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    (scene.folder / "club.people.db").rename(scene.folder / "club.people.db-wal")
    with closing(SqliteJournal(scene.path)) as journal:
        accept_lost_names(journal, scene.folder / "club.people.db")


def other_registration(scene: ClubOfTwo) -> None:
    """A program registers a number that the people file has given to somebody already."""
    scene.ledger.people.assign_numbers({"name:eve": "Eve"}, "2026")
    registration = PlayerRegistered(player=3, joined_at="2026", standing=Standing.FULL, commitment="0" * 64)
    scene.ledger.append(registration)


PEOPLE_REFUSALS: Mapping[str, Callable[[ClubOfTwo], object]] = {
    "storage-no-people": no_people,
    "storage-lost-names": older_people,
    "storage-lost-name": older_people_without_one,
    "storage-older-name": older_name,
    "storage-changed-new-name": changed_new_name,
    "storage-people-of-another-ledger": foreign_people,
    "storage-people-of-another-ledger-lost": foreign_people_are_no_loss,
    "storage-people-log-alone": log_alone,
    "storage-other-registration": other_registration,
}
