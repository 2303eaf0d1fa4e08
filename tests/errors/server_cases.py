"""The error catalogue's cases about ledgers whose journal is on a server."""

from collections.abc import Callable

from ledger.auth.tokens_file import TokensFile
from ledger.backups import move_to_files, move_to_server
from ledger.facts.events import Role
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from ledger.players.server_stores import setup_sql
from tests.errors.postgres_cases import shared_server
from tests.kit.clubs import ClubOfTwo
from tests.kit.server_ledgers import empty_database, new_place, run_sql_on, settings_of

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


def tokens_changed(*statements: str) -> Provoke:
    """Look into the log of a ledger in which the server's operator ran these statements after something was noted."""

    def provoke(scene: ClubOfTwo) -> None:
        place = new_place(shared_server())
        with made(scene, place) as ledger:
            ledger.token_store.log_refusal("2026", "try", None, None, "unknown-token", "none")
        run_sql_on(shared_server(), place, *statements)
        with Ledger.open(scene.folder / "far.db") as ledger:
            ledger.tokens.log()

    return provoke


def sign_in_after(statement: str) -> Provoke:
    """Sign in at the desk of a ledger in which the server's operator ran this statement."""

    def provoke(scene: ClubOfTwo) -> None:
        place = new_place(shared_server())
        with made(scene, place) as ledger:
            eve = ledger.tokens.add("eve", [Role.CORRECTOR])
            run_sql_on(shared_server(), place, statement)
            ledger.tokens.sign_in(eve, "10.0.0.7")

    return provoke


def tokens_in_the_way(scene: ClubOfTwo) -> None:
    place = new_place(shared_server())
    with made(scene, place) as ledger:
        ledger.token_store.log_refusal("2026", "try", None, None, "unknown-token", "none")
    first = ledger.path.with_name("far.tokens.db")
    TokensFile(first, lambda: bytes(32)).log_refusal("2026", "try", None, None, "unknown-token", "none")
    move_to_files(scene.folder / "far.db")


def moved_with_a_log(statement: str) -> Provoke:
    """Move a ledger with a log of its own to a server where the operator ran this before."""

    def provoke(scene: ClubOfTwo) -> None:
        place = new_place(shared_server())
        run_sql_on(shared_server(), place, statement)
        scene.ledger.token_store.log_refusal("2026", "try", None, None, "unknown-token", "none")
        move_to_server(scene.path, place)

    return provoke


SERVER_REFUSALS: dict[str, Provoke] = {
    "storage-settings-no-journal": with_settings('schema = "club"\n'),
    "storage-settings-no-address": with_settings('journal = "club.db"\n'),
    "storage-settings-patience": with_settings('journal = "postgresql://ledger@db1/chess"\npatience = 0\n'),
    "storage-settings-durability": with_settings('journal = "postgresql://ledger@db1/chess"\ndurability = "much"\n'),
    "storage-server-may-not-make": may_not_make,
    "storage-server-name": lambda _: setup_sql(ServerPlace("postgresql://ledger@db1/chess", "club's")),
    "storage-server-superuser": as_superuser,
    "storage-server-made-twice": made_twice,
    "storage-server-file-beside": file_beside,
    "storage-server-no-quorum": no_quorum,
    "storage-server-read-only": recorded_for_reading_only,
    "storage-server-tokens-not-there": sign_in_after("DROP SCHEMA club_tokens CASCADE"),
    "storage-server-tokens-not-kept": sign_in_after(
        "CREATE RULE deaf AS ON INSERT TO club_tokens.sessions DO INSTEAD NOTHING"
    ),
    "storage-server-tokens-of-another-ledger": tokens_changed("UPDATE club_tokens.file SET ledger = sha256(ledger)"),
    "storage-server-tokens-later-layout": tokens_changed("UPDATE club_tokens.about SET layout = 9"),
    "storage-server-tokens-foreign": tokens_changed("UPDATE club_tokens.about SET program = 'another'"),
    "storage-server-tokens-not-granted": tokens_changed("REVOKE ALL ON SCHEMA club_tokens FROM club_names_writer"),
    "storage-server-tokens-in-the-way": tokens_in_the_way,
    "storage-server-tokens-move-not-there": moved_with_a_log("DROP SCHEMA club_tokens CASCADE"),
    "storage-server-tokens-move-another": moved_with_a_log(
        "INSERT INTO club_tokens.file(hash_key, ledger) SELECT sha256(''), sha256('')"
    ),
}
