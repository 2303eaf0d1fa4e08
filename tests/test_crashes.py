"""Killed at any moment, written by many at once, on a full, read-only, locked or damaged disk: nothing is lost.

Kill -9 stands for every way to stop without warning. How often is set by LEDGER_CRASHES (12 by default).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledger.audit.audit import audit
from ledger.errors import CorruptError, LedgerError, RejectedError, StorageError
from ledger.imports.reading import frames
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.ratings import views_file
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from ledger.testing import in_terms_of_facts
from ledger.testing.journal_contract import root_of
from tests.crash_driver import NOW, open_ledger, source_games

ROOT = Path(__file__).parents[1]
CRASHES = int(os.environ.get("LEDGER_CRASHES", "12"))
FILES = ("club.db", "club.people.db", "club.views.db")

SCENARIOS = {
    "import, then a first build": ("--games", "3000", "--batch", "250"),
    "a first build written by a process of its own": ("--games", "3000", "--own-process", "--slow-ms", "20"),
    "a rebuild beside standing views": ("--games", "3000", "--steps", "import,catch-up,rebuild", "--slow-ms", "4"),
    "games one batch after the other": (
        "--games", "1200", "--batch", "60", "--steps", "live", "--build-from", "400", "--slow-ms", "4",
    ),
}  # fmt: skip


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "tests.crash_driver", str(folder), *options]


def driven(folder: Path, *options: str, **popen: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *options), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False, **popen
    )


def completed(folder: Path, *options: str) -> None:
    done = driven(folder, *options)
    assert (done.returncode, done.stderr) == (0, ""), done


def check_journal(folder: Path) -> list[dict[str, Any]]:
    """The journal is whole: positions, leaves, keys and root, computed here from the raw bytes. Returns its entries."""
    path = folder / "club.db"
    with closing(sqlite.connect(path, read_only=True)) as connection:
        rows = connection.execute("SELECT position, kind, key, body, leaf FROM journal ORDER BY position").fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    entries = []
    for expected, (position, kind, key, body, leaf) in enumerate(rows, 1):
        assert position == expected
        assert leaf == sha256(b"\x00" + body).digest()
        entry = json.loads(body)
        assert (entry["position"], entry["kind"], entry["key"]) == (position, kind, key)
        entries.append(entry)
    with closing(SqliteJournal(path)) as journal:
        assert (journal.head().size, journal.head().root) == (len(rows), root_of([row[3] for row in rows]))
    return entries


def check_views(folder: Path, aside: Path) -> None:
    """The views, where there are any, are those of a true earlier state of the journal."""
    path = folder / "club.views.db"
    if not path.exists():
        return
    with closing(views_file.open_views(path)) as connection, closing(SqliteJournal(folder / "club.db")) as journal:
        reached = views_file.position(connection)
        assert 0 < reached <= journal.size()
        expected = Views(aside / f"{time.monotonic_ns()}.db", (), journal)
        expected.build_until(reached)
        assert in_terms_of_facts(connection) == in_terms_of_facts(expected.connection)
        expected.close()


def audited(folder: Path) -> tuple[object, ...]:
    """What the auditor finds false."""
    return tuple(audit(folder / "club.db", progress=lambda *_: None).falsehoods)


def identities(folder: Path) -> dict[int, str]:
    with closing(sqlite.connect(folder / "club.people.db", read_only=True)) as people:
        return dict(people.execute("SELECT player, identity FROM people"))


def facts(folder: Path) -> list[str]:
    """What the journal says, with identities for numbers and without salted commitments, in no order."""
    who = identities(folder)
    told = []
    for entry in check_journal(folder):
        said = {name: value for name, value in entry["facts"].items() if name != "commitment"}
        said |= {side: who[said[side]] for side in ("white", "black", "player") if side in said}
        key = "" if "player" in said else entry["key"]
        told.append(json.dumps([entry["kind"], key, entry["recorded_at"], said], sort_keys=True))
    return sorted(told)


def derived(folder: Path) -> dict[str, list[Any]]:
    with closing(views_file.open_views(folder / "club.views.db")) as connection:
        return in_terms_of_facts(connection, identities(folder))


# --- killed -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, float, int]]:
    """By scenario: the folder of a run that nothing disturbed, how long it took once open, its statements."""
    made: dict[str, tuple[Path, float, int]] = {}

    def run(scenario: str) -> tuple[Path, float, int]:
        if scenario not in made:
            folder = tmp_path_factory.mktemp("undisturbed")
            started = time.monotonic()
            done = driven(folder, *SCENARIOS[scenario], "--die-at", str(2**62))
            assert done.returncode == 0, done.stderr
            seconds = time.monotonic() - started
            made[scenario] = (folder, seconds, int(done.stdout.split()[-1]))
        return made[scenario]

    return run


def killed_after(folder: Path, options: tuple[str, ...], seconds: float) -> bool:
    """Run until so long after the ledger was opened, then kill; False where the run was faster."""
    with subprocess.Popen(command(folder, *options), cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"opened\n"
        time.sleep(seconds)
        process.kill()
        process.stdout.read()
        return process.wait() != 0


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_killed_at_any_moment_the_same_command_completes_it(
    scenario: str, undisturbed: Callable[[str], tuple[Path, float, int]], tmp_path: Path
) -> None:
    expected, seconds, statements = undisturbed(scenario)
    options = SCENARIOS[scenario]
    random = Random(scenario)
    run = 0
    folder = tmp_path / "0"
    folder.mkdir()
    kills = max(1, CRASHES // len(SCENARIOS))
    for kill in range(kills):
        if kill % 2:
            stopped = killed_after(folder, options, random.uniform(0, 0.7 * seconds))
        else:
            stopped = driven(folder, *options, "--die-at", str(random.randint(1, statements))).returncode == -9
        if (folder / "club.db").exists():
            check_journal(folder)
            check_views(folder, tmp_path)
        if not stopped or random.random() < 0.3:
            completed(folder, *options)
            assert facts(folder) == facts(expected)
            assert derived(folder) == derived(expected)
            run += 1
            folder = tmp_path / str(run)
            folder.mkdir()
    completed(folder, *options)
    assert facts(folder) == facts(expected)
    assert derived(folder) == derived(expected)


def test_making_a_ledger_is_whole_or_begun_again(tmp_path: Path) -> None:
    """Killed at every third statement of its making."""
    made = driven(tmp_path, "--steps", "", "--die-at", str(2**62))
    statements = int(made.stdout.split()[-1])
    for statement in range(1, statements + 1, 1 if CRASHES > 50 else 7):
        folder = tmp_path / str(statement)
        folder.mkdir()
        assert driven(folder, "--steps", "", "--die-at", str(statement)).returncode == -9
        with open_ledger(folder / "club.db") as ledger:
            assert ledger.first_scheme().pool == "standard"
            assert ledger.catch_up() == 1
        assert sorted(path.name for path in folder.glob("*.making*")) == []
        assert len(check_journal(folder)) == 1


# --- many at once -------------------------------------------------------------------------------------------


def test_four_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    completed(tmp_path, "--steps", "")
    options = [("--steps", "live", "--games", "60", "--batch", "3", "--seed", str(seed)) for seed in range(1, 5)]
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(command(tmp_path, *one), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            )
            for one in options
        ]
        ends = [(process.communicate(timeout=120)[1].decode(), process.returncode) for process in running]
    assert ends == [("", 0)] * 4
    entries = check_journal(tmp_path)
    keys = [entry["key"] for entry in entries]
    assert len(set(keys)) == len(keys)
    games = {f"game:{game.key}" for seed in range(1, 5) for game in source_games(60, seed)}
    assert {key for key in keys if key.startswith("game:")} == games
    who = identities(tmp_path)
    assert sorted(who) == list(range(1, len(who) + 1))
    assert len(set(who.values())) == len(who)
    assert {key for key in keys if key.startswith("player:")} == {f"player:{number}" for number in who}
    stamps = [entry["recorded_at"] for entry in entries]
    assert stamps == sorted(stamps)
    with open_ledger(tmp_path / "club.db") as ledger:
        assert ledger.catch_up() == len(entries)
    check_views(tmp_path, tmp_path)
    assert audited(tmp_path) == ()


# --- a disk that refuses ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 600 games with its views; to be copied before it is hurt."""
    folder = tmp_path_factory.mktemp("club")
    with open_ledger(folder / "club.db") as ledger:
        ledger.import_games(frames(source_games(600), 200))
        ledger.catch_up()
    return folder


@pytest.fixture
def copy(club: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(club, tmp_path / "copy"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def assert_one_clear_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(("StorageError: ", "CorruptError: ")), lines
    assert any(word in lines[0] for word in words), lines


@pytest.mark.parametrize("limit", [20_000, 60_000, 200_000, 500_000, 800_000, 1_100_000])
@pytest.mark.parametrize("batch", ["100", "3000"])
def test_a_file_that_may_not_grow_loses_nothing(
    limit: int, batch: str, undisturbed: Callable[[str], tuple[Path, float, int]], tmp_path: Path
) -> None:
    expected, *_ = undisturbed("import, then a first build")
    options = ("--games", "3000", "--batch", batch)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # Python ignores SIGXFSZ: writes fail instead

    done = driven(tmp_path, *options, preexec_fn=limited)
    assert_one_clear_line(done, "full", "space", "disk", "too large")
    if (tmp_path / "club.db").exists():
        check_journal(tmp_path)
    completed(tmp_path, *options)
    assert facts(tmp_path) == facts(expected)
    assert derived(tmp_path) == derived(expected)


def test_a_full_disk_loses_nothing(small_disk: Path, undisturbed: Callable[[str], tuple[Path, float, int]]) -> None:
    expected, *_ = undisturbed("import, then a first build")
    options = SCENARIOS["import, then a first build"]
    for size in ("20k", "200k", "1m", "2m"):
        remount(small_disk, f"size={size}")
        assert_one_clear_line(driven(small_disk, *options), "full", "space")
        if (small_disk / "club.db").exists():
            check_journal(small_disk)
    remount(small_disk, "size=40m")
    completed(small_disk, *options)
    assert facts(small_disk) == facts(expected)
    assert derived(small_disk) == derived(expected)


def test_a_read_only_disk_is_named(small_disk: Path, club: Path) -> None:
    remount(small_disk, "size=20m")
    folder = Path(shutil.copytree(club, small_disk / "club"))
    before = {name: (folder / name).read_bytes() for name in FILES}
    remount(small_disk, "ro")
    try:
        for steps in ("import", "catch-up", "rebuild", "import,catch-up"):
            done = driven(folder, "--steps", steps, "--games", "700")
            if steps != "catch-up":
                assert_one_clear_line(done, "read-only", "Read-only", "readonly", "cannot be opened")
            else:
                assert len(done.stderr.splitlines()) <= 1
    finally:
        remount(small_disk, "rw")
    assert {name: (folder / name).read_bytes() for name in FILES} == before


@pytest.mark.parametrize("what", ["folder", *FILES])
def test_a_file_that_may_not_be_written_is_named(what: str, copy: Path) -> None:
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("permissions do not bind root, and there is no setpriv to take that right away")
    (copy if what == "folder" else copy / what).chmod(0o555 if what == "folder" else 0o444)
    try:
        bound = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
        done = subprocess.run(
            [*bound, *command(copy, "--games", "900")], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert_one_clear_line(done, "read-only", "readonly", "cannot be opened", "ermission")
    finally:
        copy.chmod(0o755)
    assert len(check_journal(copy)) >= 600


# --- locked -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "act"),
    [
        ("club.db", lambda ledger: ledger.import_games(frames(source_games(700), 300))),
        ("club.db", lambda ledger: ledger.register("made:new", "New")),
        ("club.people.db", lambda ledger: ledger.register("made:new", "New")),
        ("club.views.db", lambda ledger: (ledger.register("made:new", "New"), ledger.catch_up())),
        ("club.views.db", lambda ledger: ledger.rebuild()),
    ],
)
def test_a_file_that_another_keeps_locked_is_named(
    file: str, act: Callable[[Ledger], object], copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.2)
    with closing(sqlite.connect(copy / file)) as other, open_ledger(copy / "club.db") as ledger:
        other.execute("BEGIN IMMEDIATE")
        before = ledger.head()
        with pytest.raises(StorageError, match="locked: another process"):
            act(ledger)
        if file != "club.views.db":
            assert ledger.head() == before
        assert len(list(ledger.rows("games"))) == 600  # readers are not kept waiting
        other.execute("ROLLBACK")
        act(ledger)
        ledger.catch_up()
    assert audited(copy) == ()


# --- damaged ------------------------------------------------------------------------------------------------


def everything(folder: Path) -> None:
    """Open, append, catch up, read."""
    with open_ledger(folder / "club.db") as ledger:
        ledger.head()
        ledger.import_games(frames(source_games(620), 300))
        ledger.catch_up()
        ledger.pool()
        ledger.player("made:p1")
        for table in ("games", "history", "current", "players", "pools"):
            assert list(ledger.rows(table))


def schema(file: Path) -> list[Any]:
    with closing(sqlite.connect(file)) as connection:
        return connection.execute("SELECT sql FROM sqlite_master").fetchall()


def hurt(file: Path, random: Random, how: str) -> None:
    whole = file.read_bytes()
    if how == "truncated":
        file.write_bytes(whole[: random.choice((0, 1, 99, 100, 4096, 5000, len(whole) // 2, len(whole) - 4096, -1))])
    else:
        place = random.choice((random.randrange(100), random.randrange(4096), random.randrange(len(whole))))
        file.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << random.randrange(8))]) + whole[place + 1 :])


@pytest.mark.parametrize("how", ["truncated", "bit-flipped"])
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_file_ends_in_one_clear_line(file: str, how: str, club: Path, tmp_path: Path) -> None:
    random = Random(file + how)
    refusals: list[LedgerError] = []
    for attempt in range(9 if how == "truncated" else 3 * CRASHES):
        folder = Path(shutil.copytree(club, tmp_path / str(attempt)))
        hurt(folder / file, random, how)
        try:
            everything(folder)
        except LedgerError as error:
            refusals.append(error)
        except TypeError:  # a column of another name reads as its name: SQLite takes it for a text
            assert schema(folder / file) != schema(club / file)
        for name in FILES:
            if name != file:
                with closing(sqlite.connect(folder / name)) as other:
                    assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)], name
        shutil.rmtree(folder)
    assert refusals
    for refusal in refusals:
        assert "\n" not in str(refusal), refusal
        if not isinstance(refusal, RejectedError):  # which is said of facts, not of a file
            assert any(word in str(refusal) for word in (str(tmp_path), "@ $", "'audit'", "'rebuild'")), refusal


def test_damaged_views_are_built_anew(club: Path, tmp_path: Path) -> None:
    """They are disposable: 'rebuild' makes them from the journal whatever became of them."""
    random = Random(7)
    expected = derived(club)
    for attempt in range(20):
        folder = Path(shutil.copytree(club, tmp_path / str(attempt)))
        hurt(folder / "club.views.db", random, random.choice(("truncated", "bit-flipped")))
        with open_ledger(folder / "club.db") as ledger:
            ledger.rebuild()
        assert derived(folder) == expected, attempt
        shutil.rmtree(folder)


def test_views_deleted_under_a_left_over_log_are_built_anew(copy: Path) -> None:
    expected = derived(copy)
    with open_ledger(copy / "club.db") as ledger:
        ledger.register("made:new", "New")
        ledger.catch_up()
        log = (copy / "club.views.db-wal").read_bytes()
    (copy / "club.views.db").unlink()
    (copy / "club.views.db-wal").write_bytes(log)
    with open_ledger(copy / "club.db") as ledger:
        ledger.catch_up()
        ledger.catch_up()
    again = derived(copy)
    assert {table: again[table] for table in ("games", "history", "current")} == {
        table: expected[table] for table in ("games", "history", "current")
    }


def test_a_flipped_bit_in_the_journal_is_found_by_the_audit(club: Path, tmp_path: Path) -> None:
    random = Random(11)
    sound = raw_rows(club)
    for attempt in range(25):
        folder = Path(shutil.copytree(club, tmp_path / str(attempt)))
        hurt(folder / "club.db", random, "bit-flipped")
        try:
            found = audited(folder)
        except LedgerError:
            continue
        if not found:
            assert raw_rows(folder) == sound  # the bit was in no entry: a header field or free space
        shutil.rmtree(folder)


def raw_rows(folder: Path) -> list[Any]:
    with closing(sqlite.connect(folder / "club.db")) as connection:
        return connection.execute("SELECT * FROM journal ORDER BY position").fetchall()


def test_views_that_know_more_than_the_journal_say_so(copy: Path, club: Path) -> None:
    with open_ledger(copy / "club.db") as ledger:
        ledger.register("made:new", "New")
        ledger.catch_up()
    for name in ("club.db", "club.people.db"):
        shutil.copy(club / name, copy / name)
    with open_ledger(copy / "club.db") as ledger, pytest.raises(CorruptError, match="an older copy"):
        ledger.catch_up()


# --- the clock ----------------------------------------------------------------------------------------------


def test_a_clock_that_goes_backwards_is_refused_and_nothing_recorded(copy: Path) -> None:
    now = [NOW]
    with Ledger.open(copy / "club.db", clock=lambda: now[0]) as ledger:
        before = ledger.head()
        now[0] = NOW - timedelta(minutes=2)
        with pytest.raises(RejectedError, match=r"^clock-behind: .*nothing was recorded$"):
            ledger.import_games(frames(source_games(700), 300))
        with pytest.raises(RejectedError, match="clock-behind"):
            ledger.register("made:new", "New")
        assert ledger.head() == before
        now[0] = NOW - timedelta(seconds=30)  # two machines' clocks
        ledger.import_games(frames(source_games(700), 300))
        ledger.catch_up()
    stamps = [entry["recorded_at"] for entry in check_journal(copy)]
    assert stamps == sorted(stamps)
