"""The error catalogue: every error that a user may read, caused on purpose and compared with its text.

The tables of cases (``rule_cases`` and the others here) say by name what is done. ``texts/NAME.txt`` has the class of
the error on its first line and its message below. Each class of ``ledger.errors`` and each rule has at least one case.
"""

import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib.metadata import EntryPoint

import attrs
import pytest

from ledger import errors, schemes
from ledger.answers import publications, rankings
from ledger.answers.rows import as_rows
from ledger.correcting.corrections import IdempotencyKey
from ledger.errors import LedgerError, ReadModelWarning, RejectedError
from ledger.facts.changes import Change, Verb
from ledger.facts.codec import assemble, decode
from ledger.facts.events import Event, GameRecorded
from ledger.journal import rules
from ledger.ledger import Ledger
from ledger.ratings import disk_space, dry_runs, installed_projectors, views
from ledger.ratings.fact_projector import FactProjector, FactRows, declare_facts, key_column
from ledger.ratings.projectors.history import HISTORY
from ledger.runtime import plugins
from tests.errors.checkpoint_cases import REFUSALS
from tests.errors.copy_cases import COPY_REFUSALS
from tests.errors.export_cases import EXPORT_REFUSALS
from tests.errors.names_cases import NAMES_REFUSALS
from tests.errors.people_cases import PEOPLE_REFUSALS
from tests.errors.postgres_cases import POSTGRES_REFUSALS, use_server
from tests.errors.rule_cases import CASES, is_named, prepared
from tests.errors.server_cases import SERVER_REFUSALS
from tests.errors.token_cases import TOKEN_REFUSALS
from tests.kit import snapshots
from tests.kit.clubs import NOON, ClubOfTwo
from tests.kit.entries import FIRST_RANGE, LATER_RANGE, conversion_body
from tests.kit.games import game_recorded
from tests.kit.people import changed_reason, propose
from tests.kit.places import TESTS
from tests.kit.tampering import run_sql
from tests.tiers import in_tiers

FOLDER = TESTS / "errors" / "texts"


Provoke = Callable[[ClubOfTwo], object]


def break_rule(rule: str) -> Provoke:
    """The first case of the rule."""

    def provoke(scene: ClubOfTwo) -> None:
        case = CASES[rule][0]
        prepared(scene.ledger, case)
        scene.clock.now += case.clock
        scene.ledger.append(case.event)

    return provoke


def last_case(rule: str) -> Provoke:
    """The last case of the rule, where it says something else than the first."""

    def provoke(scene: ClubOfTwo) -> None:
        scene.ledger.append(CASES[rule][-1].event)

    return provoke


def foreign_database(scene: ClubOfTwo) -> None:
    run_sql(scene.folder / "other.db", "CREATE TABLE t(x)")
    Ledger.open(scene.folder / "other.db")


def folder_for_a_ledger(scene: ClubOfTwo) -> None:
    (scene.folder / "clubs").mkdir()
    Ledger.open(scene.folder / "clubs")


def later_layout(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    run_sql(scene.path, "PRAGMA user_version=9")
    Ledger.open(scene.path)


def sent_already(scene: ClubOfTwo) -> None:
    corrections = scene.ledger.corrections
    void = corrections.verbs.change("void", {"game": "r1-b1"})
    idempotency_key = IdempotencyKey("letter 7", b"void r1-b1")
    corrections.propose_each([[void]], reason="twice", by="eve", idempotency_key=idempotency_key)
    corrections.find_previous(IdempotencyKey("letter 7", b"void r2-b2"), reason="twice", by="eve")


def stray_views(scene: ClubOfTwo) -> None:
    (scene.folder / "new.views.db").touch()
    Ledger.create(scene.folder / "new.db")


def no_first_scheme(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    run_sql(scene.path, "DROP TRIGGER journal_never_deletes", "DELETE FROM journal")
    with Ledger.open(scene.path) as opened:
        opened.first_scheme()


def no_database(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    scene.path.write_bytes(b"white,black,result\n" * 100)
    Ledger.open(scene.path)


def views_ahead(scene: ClubOfTwo) -> None:
    shutil.copy(scene.path, scene.folder / "copy.db")
    old = scene.ledger.journal.size()
    scene.ledger.append(game_recorded("r2"))
    scene.ledger.catch_up()
    scene.ledger.close()
    run_sql(scene.path, "DROP TRIGGER journal_never_deletes", f"DELETE FROM journal WHERE position > {old}")
    with Ledger.open(scene.path) as opened:
        opened.catch_up()


def too_long(scene: ClubOfTwo) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dry_runs, "_STEPS", 1)  # so that a club of two is looked at, too
        scene.ledger.preview([scene.ledger.corrections.drafts.merge(1, 2)], others_wait=0.0, at_most=0.0)


def entry_gone(scene: ClubOfTwo) -> None:
    """Another copy of the journal is put in the place of the open one, which it may not notice by its name."""
    with scene.ledger.journal.writing():  # notes where the journal ends
        pass
    run_sql(
        scene.path,
        "DROP TRIGGER journal_never_deletes",
        "DELETE FROM journal WHERE position = 4",
        "CREATE TRIGGER journal_never_deletes BEFORE DELETE ON journal\n"
        "BEGIN SELECT raise(ABORT, 'the journal is append-only: void a fact by a new entry'); END;",
    )
    scene.ledger.append(game_recorded("r2"))


def moved(scene: ClubOfTwo) -> None:
    scene.path.rename(scene.folder / "elsewhere.db")
    scene.ledger.append(game_recorded("r2"))


def in_another_thread(scene: ClubOfTwo) -> None:
    """Every door of a ledger that another thread opened is closed in the same words."""
    ledger = scene.ledger
    ledger.ensure_up_to_date()
    corrections = ledger.corrections
    doors: list[Callable[[], object]] = [
        ledger.head, ledger.ensure_up_to_date, ledger.catch_up, ledger.rebuild, lambda: ledger.player("Ann"),
        ledger.close,
        lambda: ledger.register("name:carl", "Carl"), lambda: ledger.import_games([]), lambda: list(ledger.entries()),
        lambda: ledger.append(game_recorded("r2")), lambda: ledger.erase(1), lambda: ledger.rows("games"),
        lambda: as_rows(ledger.ranking()), ledger.policies.list, ledger.pools, ledger.database,
        ledger.publications.all, lambda: ledger.propose([], reason="", by="eve"),
        lambda: list(corrections.proposals()), ledger.people.names, lambda: ledger.log("r1-b1"),
    ]  # fmt: skip

    def knock() -> None:
        for door in doors:
            with pytest.raises(errors.StorageError, match="was opened in another thread"):
                door()

    with ThreadPoolExecutor(1) as executor:
        executor.submit(knock).result()
        executor.submit(ledger.head).result()


def closed(scene: ClubOfTwo) -> None:
    """Every door of a closed ledger is closed in the same words."""
    scene.ledger.close()
    doors: list[Callable[[], object]] = [
        scene.ledger.head,
        scene.ledger.ensure_up_to_date,
        scene.ledger.catch_up,
        lambda: scene.ledger.player("Ann"),
        lambda: scene.ledger.register("name:carl", "Carl"),
        lambda: scene.ledger.import_games([]),
        lambda: list(scene.ledger.entries()),
        lambda: scene.ledger.erase(1),
    ]
    for door in doors:
        with pytest.raises(errors.StorageError, match="closed database: open the ledger again by"):
            door()
    scene.ledger.append(game_recorded("r2"))


def level(scene: ClubOfTwo) -> Ledger:
    scene.ledger.ensure_up_to_date()
    return scene.ledger


def after(statement: str, file: str = "club.db") -> Provoke:
    """Register somebody after somebody else has run a statement in a file of the ledger."""

    def provoke(scene: ClubOfTwo) -> None:
        run_sql(scene.folder / file, statement)
        scene.ledger.register("name:carl", "Carl")

    return provoke


def missing_nodes(scene: ClubOfTwo) -> None:
    scene.ledger.append_many(game_recorded(f"x{i}") for i in range(300))
    scene.ledger.close()
    run_sql(scene.path, "DELETE FROM nodes")
    with Ledger.open(scene.path) as opened:
        opened.head()


def missing_row(scene: ClubOfTwo) -> None:
    """A late game touches Carl, whose next opponent Ann has lost the row of her game before that."""
    carl, dave = (scene.ledger.register(f"name:{name}", name) for name in ("carl", "dave"))
    lost = scene.ledger.append(game_recorded("r2", black=dave, half_moves=60, ended_at="2026-11-20T11:00:00Z"))
    scene.ledger.append(game_recorded("r3", black=carl, half_moves=60, ended_at="2026-11-20T12:00:00Z"))
    scene.ledger.catch_up()
    scene.ledger.views.connection.execute("DELETE FROM history WHERE player = 1 AND game = ?", (lost.position,))
    scene.ledger.append(game_recorded("r4", white=carl, half_moves=60, ended_at="2026-11-20T10:00:00Z"))
    scene.ledger.catch_up()


@attrs.define
class FailingProjector(FactProjector):
    """Fails with whatever it is told."""

    game: int = key_column("INTEGER", "position of the game")

    @staticmethod
    def on_change(rows: FactRows, position: int, before: Event | None, now: Event | None) -> None:  # noqa: ARG004
        """Fail."""
        raise KeyError("half_moves")


def failing_read_model(scene: ClubOfTwo) -> None:
    scene.ledger.close()
    made = declare_facts(FailingProjector, name="failing", version=1, kinds=(GameRecorded,))
    try:
        with Ledger.open(scene.path, projectors=(made,)) as ledger:
            with pytest.warns(ReadModelWarning):
                ledger.ensure_up_to_date()
            raise ledger.views.installed.broken["failing"]
    finally:
        plugins._broken.pop("failing")


def taken_name(scene: ClubOfTwo) -> None:
    twin = EntryPoint("second", "tests.errors.test_catalogue:SECOND_HISTORY", "ledger.projectors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installed_projectors, "entry_points", lambda **_: [twin])
        Ledger.open(scene.ledger.path, projectors=installed_projectors._installed.__wrapped__()[0])


SECOND_HISTORY = attrs.evolve(HISTORY, version=HISTORY.version + 1)


def two_players_of_one_name(scene: ClubOfTwo) -> None:
    scene.ledger.register("fide:1", "Ann")
    scene.ledger.player("Ann")


def list_that_looks_wrong(scene: ClubOfTwo) -> None:
    """A player of a name that is on the list already, and of another register."""
    twin = scene.ledger.register("fide:1", "Ann")
    scene.ledger.append(game_recorded("r2", white=twin, half_moves=60))
    scene.ledger.append(game_recorded("r3", half_moves=60))
    scene.ledger.publications.publish("2026-11-20", actor="eve")


def too_little_disk(scene: ClubOfTwo) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_space, "disk_of", lambda _: disk_space.Disk(10**12, 10**6))
        patch.setattr(views, "FEW_ENTRIES", 0)  # so that a club of two is built as a large one is
        scene.ledger.append_many(game_recorded(f"x{i}") for i in range(3_000))
        scene.ledger.rebuild()


CATALOGUE: dict[str, Provoke] = {
    **{rule: break_rule(rule) for rule in CASES},
    **TOKEN_REFUSALS,
    **PEOPLE_REFUSALS,
    **COPY_REFUSALS,
    **EXPORT_REFUSALS,
    **NAMES_REFUSALS,
    **POSTGRES_REFUSALS,
    **SERVER_REFUSALS,
    "list-looks-wrong": list_that_looks_wrong,
    "unknown-name-list": lambda scene: scene.ledger.publications.named("standard@2026-11-20"),
    **REFUSALS,
    "erased-player-renamed": lambda scene: (scene.ledger.erase(1), scene.ledger.rename(1, "Eve")),
    "malformed-name": lambda scene: scene.ledger.rename(1, " Eve"),
    "malformed-reason": lambda scene: propose(scene.ledger, "two\nlines"),
    "malformed-entry": lambda _: decode(
        b'{"actor":"","facts":{"black":"2","colour":"w","ended_at":"2013-02-29","outcome":"1-0","pool":"standard",'
        b'"rated":1,"white":1},"key":"game:r1-b1","kind":"game-recorded/1","position":0,"recorded_at":"now"}'
    ),
    "ended-in-the-future-closing": last_case("ended-in-the-future"),
    "bad-carry-first-scheme": last_case("bad-carry"),
    "malformed-conversion": lambda _: decode(
        conversion_body({"offset": "800"}, "1:0", LATER_RANGE, {**LATER_RANGE, "factor": 1})
    ),
    "malformed-conversion-no-list": lambda _: decode(
        conversion_body().replace(b'"conversion":[]', b'"conversion":"1:0"')
    ),
    "malformed-conversion-order": lambda _: decode(
        conversion_body(FIRST_RANGE, LATER_RANGE, {**LATER_RANGE, "from_rating": "1999.5"})
    ),
    "malformed-carry": lambda _: decode(conversion_body(FIRST_RANGE).replace(b'"convert"', b'"halve"')),
    "malformed-not-canonical": lambda scene: decode(
        next(scene.ledger.journal.read())[0].replace(b'{"actor"', b'{"actor":"eve","actor"')
    ),
    "malformed-unknown-kind": lambda scene: decode(
        next(scene.ledger.journal.read())[0].replace(b"scheme-adopted/2", b"scheme-dropped/2")
    ),
    "malformed-too-long": lambda _: assemble(1, "", "ledger", "game-recorded/1", "game:r1", b" " * 65_536),
    "malformed-no-event": lambda scene: scene.ledger.append_many([game_recorded("r2"), "r3", None]),  # type: ignore[list-item]
    "malformed-day": lambda _: game_recorded("r2", ended_at="2024-13-01"),
    "malformed-field": lambda _: game_recorded("a b"),
    "malformed-day-asked": lambda scene: as_rows(publications.list_in_force_on(level(scene), "1st of May")),
    "malformed-actor": lambda scene: scene.ledger.append(game_recorded("r2"), actor="eve\n"),
    "storage-closed": closed,
    "storage-other-thread": in_another_thread,
    "storage-too-little-disk": too_little_disk,
    "storage-no-views-yet": lambda scene: scene.ledger.views.connection,
    "malformed-outcome": lambda _: game_recorded("r2", outcome="won"),
    "malformed-registrations": lambda scene: scene.ledger.register_many([("id:3", "Cleo"), ("fide:x", "Dan\n")]),
    "malformed-limit": lambda scene: as_rows(rankings.ranking(scene.ledger, rankings.RankingChoice(limit=-1))),
    "storage-missing": lambda scene: Ledger.open(scene.folder / "clup.db"),
    "storage-folder": folder_for_a_ledger,
    "storage-exists": lambda scene: Ledger.create(scene.path),
    "storage-foreign": foreign_database,
    "storage-later-layout": later_layout,
    "storage-stray-views": stray_views,
    "storage-moved": moved,
    "storage-other-reason": lambda scene: changed_reason(scene.ledger),
    "storage-foreign-trigger": after(
        'CREATE TRIGGER "o\'hara ""x""" AFTER INSERT ON journal BEGIN SELECT raise(IGNORE); END'
    ),
    "storage-foreign-index": after("CREATE INDEX by_name ON people(name)", "club.people.db"),
    "storage-missing-guard": after("DROP TRIGGER journal_never_updates"),
    "storage-changed-table": after("ALTER TABLE texts ADD COLUMN note TEXT"),
    "storage-never-initialised": no_first_scheme,
    "corrupt-no-database": no_database,
    "corrupt-views-ahead": views_ahead,
    "corrupt-missing-nodes": missing_nodes,
    "corrupt-entry-gone": entry_gone,
    "projection-missing-row": missing_row,
    "projection-name-taken": taken_name,
    "read-model-fails": failing_read_model,
    "unknown-name-pool": lambda scene: (scene.ledger.catch_up(), scene.ledger.pool("rapid")),
    "unknown-name-player": lambda scene: scene.ledger.player("Anna"),
    "unknown-name-player-number": lambda scene: scene.ledger.player("7"),
    "unknown-name-several": two_players_of_one_name,
    "unknown-name-table": lambda scene: (scene.ledger.catch_up(), scene.ledger.rows("gmaes")),
    "unknown-name-game": lambda scene: scene.ledger.log("r7"),
    "proposal": lambda scene: scene.ledger.propose(
        [Change(do=Verb.UNDO, proposal=7), Change(do=Verb.MERGE, player=1, into=9)], reason="", by="eve"
    ),
    "malformed-batch": lambda scene: scene.ledger.corrections.propose_batch(
        b"verb,game,to\nresult,r1-b1,2-0\nviod,r1-b1,\n", reason="", by="eve"
    ),
    "sent-already": sent_already,
    "unknown-name-entry": lambda scene: scene.ledger.wait_for(5),
    "unknown-name-kind": lambda scene: scene.ledger.entries("clock"),
    "too-long": too_long,
}


def provoked(name: str, scene: ClubOfTwo) -> LedgerError:
    with pytest.raises(LedgerError) as caught:
        CATALOGUE[name](scene)
    return caught.value


def as_told(error: LedgerError, scene: ClubOfTwo) -> str:
    """Class and text, with paths as they look from the ledger's folder, and one word for the list of all schemes.

    A server of the tests has another port each time, and another version elsewhere; its databases and the schemas of
    names are counted.
    """
    told = f"{type(error).__name__}\n{error}\n".replace(f"{scene.folder}/", "")
    for server, word in ((r"127\.0\.0\.1:\d{2,}/club\d+", "db1/chess"), (r"127\.0\.0\.1:\d{2,}", "db1"),
                         (r"_of_club\d+", ""), (r"PostgreSQL \d+", "PostgreSQL 14"),
                         (r"\bnames_\d+_", "club_")):  # fmt: skip
        told = re.sub(server, word, told)
    return told.replace(str(sorted(schemes.available_schemes())), "[SCHEMES]")


ON_A_SERVER = {*COPY_REFUSALS, *EXPORT_REFUSALS, *NAMES_REFUSALS, *POSTGRES_REFUSALS, *SERVER_REFUSALS}


@pytest.mark.parametrize("name", in_tiers(CATALOGUE, lambda name: "outside" if name in ON_A_SERVER else "quick"))
def test_the_words_are_those_of_the_catalogue(
    name: str, club_of_two: ClubOfTwo, request: pytest.FixtureRequest
) -> None:
    if name in ON_A_SERVER:
        use_server(request.getfixturevalue("oldest_server"))
    snapshots.check(FOLDER / f"{name}.txt", as_told(provoked(name, club_of_two), club_of_two))


def test_the_catalogue_has_no_other_files_and_no_paths_of_this_machine() -> None:
    files = sorted(FOLDER.iterdir())
    assert [path.name for path in files] == sorted(f"{name}.txt" for name in CATALOGUE)
    for path in files:
        assert "/tmp" not in path.read_text("utf-8")
        assert "pytest" not in path.read_text("utf-8")


def test_every_class_of_error_is_in_the_catalogue() -> None:
    classes = {
        name
        for name, one in vars(errors).items()
        if isinstance(one, type) and issubclass(one, LedgerError) and one is not LedgerError
    }
    assert {path.read_text("utf-8").partition("\n")[0] for path in FOLDER.iterdir()} == classes


@pytest.mark.parametrize("rule", CASES)
def test_every_rule_is_in_the_catalogue(rule: str, club_of_two: ClubOfTwo) -> None:
    error = provoked(rule, club_of_two)
    assert isinstance(error, RejectedError)
    assert is_named(rule, error.rule)


def test_errors_carry_their_facts(club_of_two: ClubOfTwo) -> None:
    malformed = provoked("malformed-entry", club_of_two)
    assert isinstance(malformed, errors.MalformedError)
    assert "\n".join(malformed.problems) == str(malformed)
    storage = provoked("storage-missing", club_of_two)
    assert isinstance(storage, errors.StorageError)
    assert storage.path == str(club_of_two.folder / "clup.db")
    unknown = provoked("unknown-name-game", club_of_two)
    assert isinstance(unknown, errors.UnknownNameError)
    assert unknown.name == "r7"
    projection = provoked("projection-name-taken", club_of_two)
    assert isinstance(projection, errors.ProjectionError)
    assert projection.projector == HISTORY.name
    corrupt = errors.CorruptError("club.db", 7, "hashes to other bytes")
    assert (corrupt.path, corrupt.position) == ("club.db", 7)
    assert str(corrupt) == "club.db: entry 7: hashes to other bytes"


def test_the_clock_of_the_cases_is_the_scenes(club_of_two: ClubOfTwo) -> None:
    assert club_of_two.clock.now == NOON
    assert CASES["clock-behind"][0].clock < -timedelta(milliseconds=rules.CLOCK_SLACK_MS)
