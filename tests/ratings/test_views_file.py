"""Views say which journal they are of: those of another one, or of an older copy of it, are never taken for ours."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import table_digests
from ledger.errors import CorruptError, StorageError
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.ratings import views, views_file
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.kit.tampering import run_sql
from tests.tiers import few_quick

READING = (
    ("ratings",),
    ("show", "ann"),
    ("games", "ann"),
    ("graph", "ann"),
    ("predict", "ann", "bob"),
    ("pools",),
    ("runs",),
    ("scheme", "eras"),
)


def line(number: int, white: str = "Ann", black: str = "Bob", result: str = "1-0") -> str:
    return f"g{number},{white},{black},{result},40,2020-{1 + number // 28:02}-{1 + number % 28:02}\n"


def csv(path: Path, *lines: str) -> Path:
    path.write_text("key,white,black,result,half_moves,date\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.fixture(name="club_of_six_games")
def _club_of_six_games(tmp_path: Path, run: Run) -> Path:
    """A ledger of six games in a folder of its own."""
    folder = tmp_path / "small"
    folder.mkdir()
    assert run("init", folder / "c.db").code == 0
    assert run("import", folder / "c.db", csv(tmp_path / "six.csv", *(line(n) for n in range(1, 7)))).code == 0
    return folder / "c.db"


def copy_of(path: Path, folder: Path) -> Path:
    """A copy of all files of a ledger, as they stand when nobody has it open."""
    shutil.copytree(path.parent, folder)
    return folder / path.name


def words_of(command: tuple[str, ...], path: Path) -> tuple[str | Path, ...]:
    group = 2 if command[0] == "scheme" else 1
    return (*command[:group], path, *command[group:])


def foreign(small: Path, run: Run, tmp_path: Path) -> None:
    """The views of another ledger of the same shape."""
    other = tmp_path / "other" / "c.db"
    other.parent.mkdir()
    run("init", other)
    run("import", other, csv(tmp_path / "o.csv", *(line(n, "Eve", "Dan") for n in range(1, 7))))
    shutil.copy(sidecar(other, "views"), sidecar(small, "views"))


def grown_from_an_older_copy(small: Path, run: Run, tmp_path: Path) -> None:
    """An older journal was restored and went another way, past the entries that the views know."""
    old = copy_of(small, tmp_path / "old")
    run("import", small, csv(tmp_path / "a.csv", *(line(n) for n in range(7, 10))))
    shutil.copy(old, small)
    with Ledger.open(small) as ledger, closing(SqliteJournal(small)):
        ledger.register("name:zoe", "Zoe")
        for number in range(9):
            ledger.register(f"name:{number}", f"N{number}")


def cut(small: Path, run: Run, tmp_path: Path) -> None:
    """An older journal was restored, the views are ahead of it."""
    old = copy_of(small, tmp_path / "old")
    run("import", small, csv(tmp_path / "a.csv", *(line(n) for n in range(7, 10))))
    shutil.copy(old, small)


def put_back(position: int) -> Callable[[Path, Run, Path], None]:
    return lambda small, _run, _folder: run_sql(sidecar(small, "views"), f"UPDATE progress SET position = {position}")


MISFITS: dict[str, Callable[[Path, Run, Path], None]] = {
    "foreign": foreign,
    "grown from an older copy": grown_from_an_older_copy,
    "cut": cut,
    "lowered": put_back(3),
    "zero": put_back(0),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_views_of_another_journal_are_refused_by_every_command_and_rebuild_mends(
    club_of_six_games: Path, misfit: str, run: Run, tmp_path: Path
) -> None:
    MISFITS[misfit](club_of_six_games, run, tmp_path)
    before = club_of_six_games.read_bytes()
    for command in READING:
        done = run(*words_of(command, club_of_six_games))
        assert (done.code, done.out) == (1, ""), command
        assert done.err.startswith(f"error: {sidecar(club_of_six_games, 'views')}: ")
        assert "rebuild" in done.err
        assert done.err.count("\n") == 1
    done = run("import", club_of_six_games, csv(tmp_path / "more.csv", line(27)))
    assert (done.code, club_of_six_games.read_bytes()) == (1, before)
    assert run("rebuild", club_of_six_games).code == 0
    assert [run(*words_of(command, club_of_six_games)).code for command in READING if command[-1] != "bob"][:2] == [
        0,
        0,
    ]


def test_views_may_lag_behind_their_own_journal(club_of_six_games: Path, run: Run) -> None:
    with Ledger.open(club_of_six_games) as ledger:
        ledger.register("name:zoe", "Zoe")
    assert run("ratings", club_of_six_games).code == 0


@pytest.mark.slow
def test_the_stored_root_is_that_of_the_journal_after_every_way_to_fold(
    club_of_six_games: Path, run: Run, tmp_path: Path
) -> None:
    def check() -> None:
        with (
            closing(SqliteJournal(club_of_six_games)) as journal,
            closing(sqlite.connect(sidecar(club_of_six_games, "views"))) as connection,
        ):
            assert views_file.checkpoint(connection) == views_file.ViewsHead(journal.size(), journal.head().root)

    check()
    with Ledger.open(club_of_six_games) as ledger:
        for number in range(300):
            ledger.register(f"name:{number}", f"N{number}")
            if number % 50 == 0:
                ledger.catch_up()
        ledger.catch_up()
    check()
    assert run("rebuild", club_of_six_games).code == 0
    check()


OBJECTS = (
    "progress", "projections", "pools", "eras", "runs", "tournaments", "openings", "players", "changes", "games",
    "current", "distribution", "rating_bounds", "policies", "rounds_without_game", "entrants", "descriptions",
    "player_details", "sent_reports",
)  # fmt: skip
SPOILS = {
    **{f"no {name}": (f"DROP TABLE {name}",) for name in (*OBJECTS, "history")},
    "no index": ("DROP INDEX current_by_rating",),
    "another index": ("DROP INDEX current_by_rating", "CREATE INDEX current_by_rating ON current(pool)"),
    "another table": ("DROP TABLE runs", "CREATE TABLE runs(pool, as_of_ms, as_of, position)"),
    "a column more": ("ALTER TABLE current ADD COLUMN more TEXT",),
    "no trigger of ours": ("DROP TRIGGER current_goes",),
    "another trigger in its place": (
        "DROP TRIGGER current_goes",
        "CREATE TRIGGER current_goes AFTER DELETE ON current BEGIN SELECT 1; END",
    ),
    "a trigger with the name of a table": ("CREATE TRIGGER runs AFTER DELETE ON current BEGIN SELECT 1; END",),
    "a trigger": ("CREATE TRIGGER t BEFORE INSERT ON current BEGIN SELECT raise(IGNORE); END",),
    "no row of progress": ("DELETE FROM progress",),
    "a position below 0": ("PRAGMA ignore_check_constraints = ON", "UPDATE progress SET position = -1"),
    "settings that are no JSON": ("UPDATE eras SET settings = 'x'",),
    "settings that are no object": ("UPDATE eras SET settings = '[1]'",),
    "settings that are damaged text": ("UPDATE eras SET settings = CAST(x'7bff' AS TEXT)",),
    "a conversion that is none": ("UPDATE eras SET conversion = '[{\"a\": 1}]'",),
    "an unknown carry": ("UPDATE eras SET carry = 'x'",),
    "no era": ("DELETE FROM eras",),
    "no pool": ("DELETE FROM pools",),
    "a column of the history renamed": ("ALTER TABLE history RENAME COLUMN draws TO drawn",),
    "a column of the scheme renamed": ("ALTER TABLE history RENAME COLUMN points TO sums",),
    "a column of the history more": ("ALTER TABLE history ADD COLUMN more TEXT",),
}


@pytest.mark.parametrize("spoil", few_quick(SPOILS, "no progress", "no index", "a trigger", "no pool", "no era"))
def test_spoilt_tables_give_one_clear_line_and_rebuild_mends_them(
    club_of_six_games: Path, spoil: str, run: Run
) -> None:
    with closing(sqlite.connect(sidecar(club_of_six_games, "views"))) as connection:
        before = table_digests(connection)
    run_sql(sidecar(club_of_six_games, "views"), *SPOILS[spoil])
    for command in READING:
        done = run(*words_of(command, club_of_six_games))
        assert done.err.count("\n") <= 1, command
        if done.code:
            assert (done.code, done.out) == (1, "")
            assert "run 'rebuild'" in done.err
    assert run("ratings", club_of_six_games).code == run("show", club_of_six_games, "ann").code == 1
    assert run("rebuild", club_of_six_games).code == 0
    with closing(sqlite.connect(sidecar(club_of_six_games, "views"))) as connection:
        assert table_digests(connection) == before


class _StopError(Exception):
    """Stops a build."""


def stopped_build(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave a build of these views that has folded the journal in and written nothing yet."""

    def stop(*_: object) -> Iterator[int]:
        raise _StopError

    with monkeypatch.context() as patch, Ledger.open(path) as ledger:
        patch.setattr("ledger.ratings.view_builds.PoolBuild.write", stop)
        with pytest.raises(_StopError):
            ledger.rebuild()
    building = Path(f"{sidecar(path, 'views')}.building")
    assert building.exists()
    return building


@pytest.mark.usefixtures("by_columns")
@pytest.mark.parametrize("spoil", ["foreign", "damaged", "no database", "empty"])
def test_a_stopped_build_of_another_journal_or_a_damaged_one_is_begun_anew(
    club_of_six_games: Path, spoil: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other" / "c.db"
    other.parent.mkdir()
    run("init", other)
    run("import", other, csv(tmp_path / "o.csv", *(line(n, "Eve", "Dan") for n in range(1, 7))))
    content = stopped_build(other, monkeypatch).read_bytes()
    if spoil == "damaged":
        content = content[:9000] + b"\xff" * (len(content) - 9000)
    content = {"no database": b"x" * 5000, "empty": b""}.get(spoil, content)
    with Ledger.open(club_of_six_games) as ledger:
        expected = table_digests(ledger.views.connection)
    for old in sidecar(club_of_six_games, "views").parent.glob("c.views.db*"):
        old.unlink()
    Path(f"{sidecar(club_of_six_games, 'views')}.building").write_bytes(content)
    assert run("ratings", club_of_six_games).code == 0
    with Ledger.open(club_of_six_games) as ledger:
        assert table_digests(ledger.views.connection) == expected


@pytest.mark.usefixtures("by_columns")
def test_a_build_that_an_earlier_release_left_is_begun_anew(
    club_of_six_games: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    building = stopped_build(club_of_six_games, monkeypatch)
    with closing(sqlite.connect(building)) as connection:
        connection.execute("DROP TABLE rating_bounds")
        connection.execute(f"PRAGMA user_version = {views_file.LAYOUT - 1}")
    sidecar(club_of_six_games, "views").unlink()
    assert run("ratings", club_of_six_games).code == 0
    assert not building.exists()


def test_views_that_a_later_release_wrote_are_refused_by_who_still_has_them_open(club_of_six_games: Path) -> None:
    with Ledger.open(club_of_six_games) as ledger:
        ledger.append(game_recorded("new"))
        ledger.catch_up()
        with closing(sqlite.connect(sidecar(club_of_six_games, "views"))) as connection:
            connection.execute(f"PRAGMA user_version = {views_file.LAYOUT + 1}")
        ledger.append(game_recorded("newer"))
        with pytest.raises(StorageError, match="it was written by a later version of this program"):
            ledger.catch_up()


@pytest.mark.usefixtures("by_columns")
def test_a_stopped_build_of_the_same_journal_goes_on(
    club_of_six_games: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    stopped_build(club_of_six_games, monkeypatch)
    with Ledger.open(club_of_six_games) as ledger:
        expected = table_digests(ledger.views.connection)
    sidecar(club_of_six_games, "views").unlink()
    read: list[tuple[int, int | None]] = []
    plain = SqliteJournal.read

    def watched(journal: SqliteJournal, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        read.append((after, until))
        return plain(journal, after, until)

    monkeypatch.setattr(SqliteJournal, "read", watched)
    with Ledger.open(club_of_six_games) as ledger:
        ledger.catch_up()
        assert table_digests(ledger.views.connection) == expected
    assert read[0] == (9, 9)  # everything had been folded in already


def test_a_ledger_behind_a_symbolic_link_finds_its_neighbours_beside_the_target(
    club_of_six_games: Path, run: Run, tmp_path: Path
) -> None:
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(club_of_six_games)
    assert run("show", link, "ann").out == run("show", club_of_six_games, "ann").out
    assert run("import", link, csv(tmp_path / "more.csv", line(27))).code == 0
    assert run("head", link).out == run("head", club_of_six_games).out
    assert sorted(path.name for path in link.parent.iterdir()) == ["link.db"]


def test_a_new_ledger_behind_a_symbolic_link_is_made_where_the_link_leads(run: Run, tmp_path: Path) -> None:
    link, target = tmp_path / "link.db", tmp_path / "target" / "c.db"
    target.parent.mkdir()
    link.symlink_to(target)
    assert run("init", link).code == 0
    assert link.is_symlink()
    assert {path.name for path in target.parent.iterdir()} >= {"c.db", "c.people.db", "c.views.db"}


def test_links_in_a_circle_and_broken_ones_are_told(run: Run, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(link)
    assert run("show", link, "ann").code == 1
    broken = tmp_path / "broken.db"
    broken.symlink_to(tmp_path / "nowhere" / "c.db")
    done = run("show", broken, "ann")
    assert done.code == 1
    assert "nowhere" in done.err


# A child without root's right to override permissions: Python itself may lie where only root can read.
WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")


def as_reader(*words: object) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody who may read the ledger but not write it."""
    prefix = WITHOUT_RIGHTS if os.geteuid() == 0 else ()
    return subprocess.run(
        [*prefix, sys.executable, "-m", "tools.cli", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=HANGS,
    )


@pytest.fixture(name="locked")
def _locked(club_of_six_games: Path) -> Iterator[Path]:
    """The small ledger; ``lock`` makes it read-only."""
    if os.geteuid() == 0 and (shutil.which("setpriv") is None or as_reader("--version").returncode):
        pytest.skip("root cannot give up its right to write anywhere here (setpriv is missing or refused)")
    yield club_of_six_games
    for folder in (club_of_six_games.parent, club_of_six_games.parent.with_name("torn")):
        if folder.exists():
            folder.chmod(0o755)


def lock(folder: Path) -> None:
    """Make a folder and its files read-only."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


@pytest.mark.slow
@pytest.mark.parametrize("state", ["level", "behind", "missing"])
def test_a_read_only_folder_still_answers(locked: Path, state: str, run: Run) -> None:
    if state == "behind":
        with Ledger.open(locked) as ledger:
            ledger.register("name:zoe", "Zoe")
    expected = [run("show", locked, "ann").out, run("ratings", locked).out]
    if state == "behind":
        with Ledger.open(locked) as ledger:
            ledger.register("name:yan", "Yan")
    if state == "missing":
        sidecar(locked, "views").unlink()
    before = sorted(path.name for path in locked.parent.iterdir())
    lock(locked.parent)
    answers = [as_reader("show", locked, "ann"), as_reader("ratings", locked)]
    assert [(answer.stderr, answer.stdout) for answer in answers] == [("", text) for text in expected]
    assert sorted(path.name for path in locked.parent.iterdir()) == before
    refused = as_reader("import", locked, ROOT / "tools" / "sample" / "club.pgn")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "read-only" in refused.stderr


@pytest.mark.slow
def test_a_log_that_cannot_be_read_in_a_read_only_folder_is_told(locked: Path) -> None:
    with Ledger.open(locked) as ledger:
        ledger.register("name:zoe", "Zoe")
        shutil.copytree(locked.parent, locked.parent.with_name("torn"))
    torn = locked.parent.with_name("torn") / locked.name
    for shared in torn.parent.glob("*-shm"):
        shared.unlink()
    lock(torn.parent)
    done = as_reader("show", torn, "ann")
    assert done.returncode == 1
    assert "c.db-wal holds what is not in the file yet" in done.stderr


def test_views_are_checked_by_whoever_reads_them_directly(club_of_six_games: Path, run: Run, tmp_path: Path) -> None:
    foreign(club_of_six_games, run, tmp_path)
    with Ledger.open(club_of_six_games) as ledger:
        with pytest.raises(CorruptError, match="derived from another journal"):
            list(ledger.rows("history"))
        with pytest.raises(CorruptError, match="derived from another journal"):
            ledger.pools()
        with pytest.raises(CorruptError, match="derived from another journal"):
            ledger.views.refuse_foreign()


def test_a_large_backlog_is_built_aside_only_for_views_of_this_journal(
    club_of_six_games: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "BUILD_FROM", 2)
    foreign(club_of_six_games, run, tmp_path)
    with closing(SqliteJournal(club_of_six_games)) as journal:
        with pytest.raises(CorruptError, match="derived from another journal"):
            Views(sidecar(club_of_six_games, "views"), (), journal).catch_up()
        with pytest.raises(StorageError, match="no views yet"):
            _ = Views(tmp_path / "none.db", (), journal).connection


def test_what_was_built_aside_is_gone_when_the_ledger_is_closed(
    club_of_six_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sidecar(club_of_six_games, "views").unlink()
    monkeypatch.setattr(Views, "can_be_written", lambda _: False)
    with Ledger.open(club_of_six_games) as ledger:
        ledger.ensure_up_to_date()
        aside = ledger.views.path.parent
        assert aside != club_of_six_games.parent
        assert len(list(ledger.rows("history"))) == 12
    assert not aside.exists()


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        ("UPDATE progress SET position = -1", "table progress says position -1, which none is"),
        ("DELETE FROM progress", "table progress holds 0 rows, not 1"),
    ],
)
def test_a_position_that_cannot_be_names_no_entry(club_of_six_games: Path, spoilt: str, says: str) -> None:
    with Ledger.open(club_of_six_games) as ledger:
        ledger.ensure_up_to_date()
    with closing(sqlite.connect(sidecar(club_of_six_games, "views"))) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute(spoilt)
        with pytest.raises(CorruptError, match=f"^the views: {says}") as caught:
            views_file.checkpoint(connection)
    assert caught.value.position == 0
