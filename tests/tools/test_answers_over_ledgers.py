"""A slip of the hand, ``-o club.db``: no command writes its answer over a file of a ledger."""

import resource
import shutil
from pathlib import Path

import pytest

from ledger.errors import StorageError
from ledger.runtime.ledger_files import refuse_own_files
from tests.kit.clubs import key_of
from tests.kit.commands import Run
from tests.kit.places import ROOT
from tools import cli, output
from tools.commands import REFUSED

GAME = key_of("pgn:b5c924ba41e994a05bac3e19")
ANSWERS = (
    ("graph", "ann", "--format", "svg", "-o"),
    ("board", GAME, "--format", "svg", "-o"),
    ("datasette", "-o"),
    ("crosstable", "Club evening", "--format", "html", "-o"),
    ("receipt", GAME, "--to"),
    ("export", "pools", "-o"),
    ("audit", "--save-head"),
)
FILES = ("club.db", "club.people.db", "club.views.db", "club.key", "club.checkpoints", "link.svg")


@pytest.fixture(name="sealed_club", scope="module")
def _sealed_club(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slips") / "club"
    shutil.copytree(sample_folder, folder)
    assert cli.main(["checkpoint-key", str(folder / "club.db"), "--new", "example.org/club"]) == 0
    assert cli.main(["checkpoint", str(folder / "club.db")]) == 0
    (folder / "link.svg").symlink_to(folder / "club.db")
    return folder


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda words: words[0])
def test_no_answer_is_written_over_a_file_of_a_ledger(answer: tuple[str, ...], sealed_club: Path, run: Run) -> None:
    before = {name: (sealed_club / name).read_bytes() for name in FILES}
    for name in FILES:
        done = run(answer[0], sealed_club / "club.db", *answer[1:], sealed_club / name)
        assert (done.code, done.out) == (REFUSED, ""), name
        assert name in done.err
        assert "Traceback" not in done.err
    assert {name: (sealed_club / name).read_bytes() for name in FILES} == before


@pytest.mark.parametrize(
    "answer", [words for words in ANSWERS if words[-1] != "--save-head"], ids=lambda words: words[0]
)
def test_a_dash_is_standard_output(
    answer: tuple[str, ...], sealed_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    without, dash = (run(answer[0], sealed_club / "club.db", *words) for words in (answer[1:-1], (*answer[1:], "-")))
    assert (without.code, dash.code, dash.out) == (0, 0, without.out)
    assert dash.out
    assert not list(tmp_path.iterdir())


def test_files_of_other_ledgers_are_known_by_how_they_begin(sealed_club: Path, tmp_path: Path) -> None:
    for name in ("club.db", "club.people.db", "club.views.db", "club.key"):
        with pytest.raises(StorageError, match="is a file of a ledger: give another name"):
            refuse_own_files(sealed_club / name)
    (tmp_path / "ann.svg").write_text("<svg/>")
    refuse_own_files(tmp_path / "ann.svg", of=sealed_club / "club.db")
    refuse_own_files(tmp_path / "new.svg", of=sealed_club / "club.db")
    refuse_own_files(ROOT, of=sealed_club / "club.db")


def test_an_earlier_answer_stands_where_the_disk_is_full_before_the_new_one_is_whole(tmp_path: Path) -> None:
    head = tmp_path / "club.head"
    output.save(head, b"5 ab\n")
    _, hard = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3, hard))  # Python ignores SIGXFSZ: writes fail instead
    try:
        with pytest.raises(OSError, match=r"File too large.*club\.head'"):
            output.save(head, b"6 cd\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("club.head", b"5 ab\n")]
    output.save(head, b"6 cd\n")
    assert head.read_bytes() == b"6 cd\n"
