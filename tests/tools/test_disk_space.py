"""Too little disk: import, rebuild and audit refuse before they begin; a disk that fills meanwhile loses nothing."""

import gzip
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.errors import StorageError
from ledger.imports.game_counts import estimate_games
from ledger.ledger import Ledger
from ledger.ratings import disk_space
from ledger.ratings.disk_space import Disk, SpaceNeed, require_space
from tests.audit.raw_journals import game_fact, write_journal
from tests.kit.commands import Run
from tests.kit.disks import mounted, remount
from tests.kit.places import SAMPLE
from tools.commands import REFUSED

GAMES = 4_000
SetFree = Callable[[int], None]


@pytest.fixture
def set_free(monkeypatch: pytest.MonkeyPatch) -> SetFree:
    """Let every disk have so many free bytes."""

    def set_free(free: int) -> None:
        monkeypatch.setattr(disk_space, "disk_of", lambda _: Disk(10**12, free))

    return set_free


@pytest.fixture(scope="module")
def file_of_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of games of a few players, each on its own day."""
    path = tmp_path_factory.mktemp("games") / "games.csv"
    rows = [
        f"p{i % 50},p{50 + i % 49},{('1-0', '0-1')[i % 2]},40,{2000 + i // 336}-{1 + i // 28 % 12:02}-{1 + i % 28:02}\n"
        for i in range(GAMES)
    ]
    path.write_text("white,black,result,half_moves,ended_at\n" + "".join(rows))
    return path


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The ledger's own files, without locks and SQLite's own."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("club*.db"))}


class TestEstimates:
    def test_needs_on_one_disk_add_up(self, set_free: SetFree, tmp_path: Path) -> None:
        needs = [SpaceNeed(tmp_path, 60e6), SpaceNeed(tmp_path, 50e6)]
        set_free(110_000_000)
        require_space("the work", needs)
        set_free(109_999_999)
        with pytest.raises(StorageError, match=r"the work needs about 110\.0 MB on this disk, and 110\.0 MB are free"):
            require_space("the work", needs)

    def test_a_folder_that_is_not_there_is_left_to_the_work_itself(self, set_free: SetFree, tmp_path: Path) -> None:
        set_free(0)
        require_space("the work", [SpaceNeed(tmp_path / "gone" / "club.db", 1.0)])

    @pytest.mark.parametrize("packed", [False, True])
    def test_games_are_counted_in_the_beginning_of_a_file(
        self, packed: bool, file_of_games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "games.csv.gz" if packed else file_of_games
        if packed:
            path.write_bytes(gzip.compress(file_of_games.read_bytes()))
        assert estimate_games(str(path)).games == GAMES + 1  # the header counts as a game
        monkeypatch.setattr("ledger.imports.game_counts.SAMPLE", 1)
        assert estimate_games(str(path)).games == pytest.approx(GAMES, rel=0.1)

    def test_formats_with_moves_tell_their_bytes(self) -> None:
        count = estimate_games(str(SAMPLE))
        assert (count.games, count.bytes_with_moves) == (900, SAMPLE.stat().st_size)

    def test_of_tournament_reports_nothing_is_estimated(self, tmp_path: Path) -> None:
        (tmp_path / "a.trf").write_text("012 Open\n001    1 m    Ann" + " " * 100 + "\n")
        assert estimate_games(str(tmp_path / "a.trf")).games == 0

    def test_present_views_tell_the_size_of_their_rebuild_and_games_count_without_them(self, sample_club: Path) -> None:
        with Ledger.open(sample_club) as ledger:
            ledger.ensure_up_to_date()
            size, views = ledger.journal.size(), ledger.views.path.stat().st_size
            measure = disk_space.views_bytes
            assert measure(ledger.journal, size, ledger.views.connection) == pytest.approx(views, rel=0.05)
            # the scheme and 900 games, but no game for each of 16 players
            assert measure(ledger.journal, size, None) == disk_space.VIEWS_BYTES * (size - 2 * 16)


class TestRefusals:
    @pytest.mark.usefixtures("by_columns")
    def test_a_rebuild_refuses_before_it_begins(self, sample_club: Path, run: Run, set_free: SetFree) -> None:
        before = bytes_of(sample_club.parent)
        set_free(100_000)
        done = run("rebuild", sample_club)
        assert (done.code, done.out, len(done.err.splitlines())) == (REFUSED, "", 1)
        assert f"{sample_club.parent}/club.views.db: a build of the views needs about " in done.err
        assert " on this disk, and 0.1 MB are free; it was not begun: free some space there" in done.err
        assert bytes_of(sample_club.parent) == before
        set_free(10_000_000)
        assert run("rebuild", sample_club).code == 0

    def test_an_upgrade_refuses_before_it_begins(self, tmp_path: Path, run: Run, set_free: SetFree) -> None:
        write_journal(tmp_path / "before.db", map(game_fact, range(1, 601)))  # of release 0.1.0
        set_free(100_000)
        done = run("upgrade", tmp_path / "before.db")
        assert (done.code, done.out) == (REFUSED, "")
        assert f"{tmp_path}/before.db: an upgrade needs about " in done.err
        set_free(10_000_000)
        assert run("upgrade", tmp_path / "before.db").code == 0

    def test_an_audit_refuses_before_it_begins_and_names_the_variable(
        self, sample_club: Path, run: Run, set_free: SetFree
    ) -> None:
        set_free(100_000)
        done = run("audit", sample_club)
        assert (done.code, done.out, len(done.err.splitlines())) == (REFUSED, "", 1)
        assert f"{tempfile.gettempdir()}: an audit" in done.err
        assert "name a folder on another disk by TMPDIR" in done.err
        assert run("audit", sample_club, "--journal-only").code == 0  # which derives nothing

    def test_an_import_refuses_before_the_first_game_and_names_the_option(
        self, empty_club: Path, file_of_games: Path, run: Run, set_free: SetFree
    ) -> None:
        set_free(2_000_000)
        with Ledger.open(empty_club) as ledger:
            head = ledger.head()
            with pytest.raises(StorageError, match=r"the import of about 4,001 games needs about \d+\.\d MB"):
                ledger.import_file(file_of_games)
            assert ledger.head() == head
        done = run("import", empty_club, file_of_games)
        assert (done.code, done.out, len(done.err.splitlines())) == (REFUSED, "", 1)
        assert "give --despite-disk if the ledger has most of these games already" in done.err
        assert run("import", empty_club, file_of_games, "--dry-run").code == 0
        assert run("import", empty_club, file_of_games, "--despite-disk").code == 0

    def test_with_all_files_of_one_command_estimated_together(
        self, empty_club: Path, file_of_games: Path, run: Run, set_free: SetFree, tmp_path: Path
    ) -> None:
        other = tmp_path / "other.csv"
        other.write_text(file_of_games.read_text().replace("-0", "-½").replace("1-½,", "1/2-1/2,"))
        set_free(9_000_000)
        assert run("import", empty_club, file_of_games, other).code == REFUSED
        with Ledger.open(empty_club) as ledger:
            assert ledger.journal.size() == 1

    def test_a_small_import_asks_for_the_disk_alone(
        self, empty_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*_: object) -> None:
            raise AssertionError

        monkeypatch.setattr("ledger.imports.game_counts.estimate_games", refused)
        assert run("import", empty_club, SAMPLE).code == 0


class TestDisksThatFillMeanwhile:
    """The estimates see a large disk, and what is there is small."""

    @pytest.fixture
    def filling_disk(self, set_free: SetFree, tmp_path: Path) -> Iterator[Path]:
        """A file system of its own, which is larger than it looks to be."""
        set_free(10**12)
        with mounted(tmp_path / "small", megabytes=20) as folder:
            yield folder

    @pytest.mark.parametrize("strict", [(), ("--strict",)])
    def test_an_import_leaves_a_true_ledger_and_completes_later(
        self, strict: tuple[str, ...], filling_disk: Path, file_of_games: Path, run: Run
    ) -> None:
        club = filling_disk / "club.db"
        assert run("init", club).code == 0
        for kilobytes in (900, 2_500):
            remount(filling_disk, f"size={kilobytes}k")
            done = run("import", club, file_of_games, *strict)
            assert done.code == REFUSED
            assert "full" in done.err or "space" in done.err
        remount(filling_disk, "size=60m")
        assert run("audit", club).code == 0
        assert run("import", club, file_of_games, *strict).code == 0
        assert run("audit", club).code == 0
        with Ledger.open(club) as ledger:
            assert ledger.journal.size() == 1 + 99 + GAMES

    @pytest.mark.usefixtures("by_columns")
    def test_a_rebuild_leaves_the_views_and_completes_later(
        self, filling_disk: Path, sample_folder: Path, run: Run
    ) -> None:
        club = Path(shutil.copytree(sample_folder, filling_disk / "club")) / "club.db"
        ranking = run("ratings", club).out
        used = shutil.disk_usage(filling_disk).used
        for more in (200_000, 900_000, 1_500_000):  # into the build, the log, the views
            remount(filling_disk, f"size={used + more}")
            done = run("rebuild", club)
            assert done.code == REFUSED
            assert "full" in done.err
            assert run("ratings", club).out == ranking
        remount(filling_disk, "size=20m")
        assert run("rebuild", club).code == 0
        assert run("ratings", club).out == ranking
        assert run("audit", club).code == 0

    def test_an_audit_changes_nothing_and_completes_later(
        self, filling_disk: Path, sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(filling_disk))
        before = bytes_of(sample_club.parent)
        remount(filling_disk, "size=300k")
        done = run("audit", sample_club)
        assert done.code == REFUSED
        assert "the disk is full" in done.out + done.err
        assert list(filling_disk.iterdir()) == []
        assert bytes_of(sample_club.parent) == before
        remount(filling_disk, "size=20m")
        assert run("audit", sample_club).code == 0
