"""The power is cut while a command runs: what was acknowledged is on the disk, and what is found there mends itself.

The commands are recorded as they are; the disk is a model (``disk``). That the model bites is shown on
copies of the program that do without a flush: their losses must be found.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

import attrs
import pytest

from tests.attacks import power_loss, recording
from tests.attacks.disk import SECTOR, Disk, WriteLoss
from tests.attacks.families import Family, holds
from tests.attacks.judge import AttackJudge, Finding
from tests.attacks.power_commands import COMMANDS, INIT, Command
from tests.attacks.power_loss import Image, findings, images, recorded
from tests.attacks.recording import CommandRecording, Record, RecordedAction, RecordingError
from tests.attacks.stores import copied
from tests.kit.places import ROOT

pytestmark = pytest.mark.skipif(bool(recording.obstacle()), reason=recording.obstacle() or "none")


def test_no_power_cut_of_one_command_loses_what_was_acknowledged(judge: AttackJudge, tmp_path: Path) -> None:
    """``test_families`` cuts every command, in many more images."""
    copied(judge.history.last.db, tmp_path / "club")
    adds = next(command for command in COMMANDS if command.name == "player add")
    under = recorded(adds, tmp_path / "club")
    assert len(under.last.people) == len(under.first.people) + 1
    assert list(findings(images([under], range(12)), judge.truth)) == []


@pytest.mark.slow
def test_the_recorded_commands_do_what_they_are_there_for_and_no_power_cut_loses_anything(judge: AttackJudge) -> None:
    """Both in one test: to record all commands takes ten seconds, and each worker would."""
    made = power_loss.recordings(judge.history.last.db, judge.scratch / "power")
    assert [under.command for under in made] == [INIT, *COMMANDS]
    for under in made:
        kinds = [done.kind for done in under.recording.records]
        assert {RecordedAction.WRITTEN, RecordedAction.FLUSHED, RecordedAction.SAID} <= set(kinds), under.command.name
    grown = {under.command.name: len(under.last.journal) - len(under.first.journal) for under in made}
    assert {name: grown[name] for name in ("init", "player rename", "erase", "rebuild", "restore")} == {
        "init": 1,
        "player rename": 1,
        "erase": 1,
        "rebuild": 0,
        "restore": -10,
    }
    assert grown["games one by one"] > 120
    holds(judge, "power-cuts", 200)


def test_an_image_is_repeated_by_the_number_with_which_its_name_ends(judge: AttackJudge) -> None:
    def scene(_: AttackJudge, numbers: Sequence[int]) -> list[Finding]:
        return [Finding(f"image {number}", (), "found") for number in numbers]

    family = Family("power-cuts", "for this test", scene=scene)
    tried = family.tries(judge, 20, only="'init' cut at 3 of 9: image 17")
    assert (tried.made, [finding.attack for finding in tried.findings]) == (1, ["image 17"])
    with pytest.raises(ValueError, match="ends with no number"):
        family.tries(judge, 20, only="image")


# What is left out of a copy of the program -> where, what stands there, what takes its place, the command that then
# loses something, and what that is.
MUTANTS = {
    "synchronous=OFF": (
        "ledger/journal/sqlite_store.py", '"PRAGMA synchronous=FULL"', '"PRAGMA synchronous=OFF"', "games one by one",
        "entries are lost",
    ),
    "synchronous=NORMAL": (
        "ledger/journal/sqlite_store.py", '"PRAGMA synchronous=FULL"', '"PRAGMA synchronous=NORMAL"',
        "games one by one", "entries are lost",
    ),
    "synchronous=NORMAL of the people": (
        "ledger/players/sqlite_people.py", '"PRAGMA synchronous=FULL"', '"PRAGMA synchronous=NORMAL"',
        "games one by one", "is None, and was",
    ),
    "an erasure that is not flushed": (
        "ledger/players/sqlite_people.py", '"PRAGMA synchronous=FULL"', '"PRAGMA synchronous=OFF"', "erase",
        "still holds what",
    ),
    "synchronous=OFF of the views": (
        "ledger/ratings/views_file.py", '"PRAGMA synchronous=NORMAL"', '"PRAGMA synchronous=OFF"',
        "games one by one", "FALSE views",
    ),
    "synchronous=FULL of the file of tokens, which keeps a rollback journal": (
        "ledger/auth/tokens_file.py", '"PRAGMA synchronous=EXTRA"', '"PRAGMA synchronous=FULL"', "refusals",
        "('refusals', ",
    ),
    "a backup that is not flushed": ("ledger/backups/disk.py", "os.fsync(descriptor)", "pass", "backup", "has spoken"),
}  # fmt: skip
CUTS = 14
BEFORE = {"erase": "player add", "refusals": "the first token"}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_program_that_leaves_a_flush_out_is_found(mutant: str, judge: AttackJudge, tmp_path: Path) -> None:
    place, stands, instead, name, finding = MUTANTS[mutant]
    for package in ("ledger", "tools"):  # without the compiled kernels
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.nb[ci]"))
    source = tmp_path / place
    assert stands in source.read_text("utf-8")
    source.write_text(source.read_text("utf-8").replace(stands, instead), "utf-8")
    copied(judge.history.last.db, tmp_path / "club")
    command = next(command for command in COMMANDS if command.name == name)
    if name in BEFORE:
        recorded(next(first for first in COMMANDS if first.name == BEFORE[name]), tmp_path / "club")
    command = attrs.evolve(command, words=tuple("16" if word == "120" else word for word in command.words))
    under = recorded(command, tmp_path / "club", tmp_path)
    every, losses = len(under.recording.records), (WriteLoss.EVERYTHING, WriteLoss.SECTORS)
    chosen = [Image(cut, under, every - cut * every // CUTS, losses[cut % 2]) for cut in range(CUTS)]
    chosen += [  # more of the end, where logs go into their files; only until something is found
        Image(CUTS + cut, under, every - cut * every // (24 * CUTS), WriteLoss.SECTORS) for cut in range(3 * CUTS)
    ]
    found: list[str] = []
    for start in range(0, len(chosen), CUTS):
        found += [told.what for told in findings(chosen[start : start + CUTS], judge.truth)]
        if any(finding in what for what in found):
            return
    raise AssertionError(found)


def of(*records: Record, **before: bytes) -> Disk:
    """A disk with these files, numbered from 1, to which that was done."""
    disk = Disk(
        CommandRecording({name: (number, held) for number, (name, held) in enumerate(before.items(), 1)}, (), 0, "")
    )
    for done in records:
        disk.do(done)
    return disk


def every_image(disk: Disk) -> set[tuple[tuple[str, bytes | None], ...]]:
    """All that is found in many images of every kind."""
    return {tuple(disk.after_power_cut(loss, Random(seed)).items()) for loss in WriteLoss for seed in range(300)}


def wrote(place: int, data: bytes, file: int = 1) -> Record:
    return Record(RecordedAction.WRITTEN, file, place, data)


A, B, C = (letter * SECTOR for letter in (b"a", b"b", b"c"))


def test_sectors_that_were_not_flushed_are_kept_and_lost_in_any_order() -> None:
    disk = of(wrote(0, A + B), wrote(0, C), club=bytes(2 * SECTOR))
    found = {dict(image)["club"] for image in every_image(disk)}
    none = bytes(SECTOR)
    assert found == {first + second for first in (none, A, C) for second in (none, B)}


def test_what_was_flushed_is_there_and_a_loss_of_nothing_is_all() -> None:
    disk = of(wrote(0, A), Record(RecordedAction.FLUSHED, 1, 0), wrote(0, B), club=C)
    assert {dict(image)["club"] for image in every_image(disk)} == {A, B}
    assert disk.after_power_cut(WriteLoss.NOTHING, Random(0)) == {"club": B}
    assert disk.after_power_cut(WriteLoss.EVERYTHING, Random(0)) == {"club": A}


def test_a_file_that_was_cut_may_be_found_uncut_and_then_without_what_was_written_behind_the_cut() -> None:
    disk = of(Record(RecordedAction.CUT, 1, 0), wrote(0, C), club=A + B)
    assert {dict(image)["club"] for image in every_image(disk) if len(dict(image)["club"] or b"") != SECTOR} == {
        A + B,
        b"",
    }
    assert C in {dict(image)["club"] for image in every_image(disk)}


def test_names_are_kept_in_their_order_and_all_of_them_once_the_folder_is_flushed() -> None:
    names = (
        Record(RecordedAction.CREATED, 7, 0, path="making"),
        wrote(0, A, file=7),
        Record(RecordedAction.FLUSHED, 7, 0),
        Record(RecordedAction.REMOVED, 0, 0, path="club"),
        Record(RecordedAction.RENAMED, 0, 0, path="making", new_path="club"),
    )
    assert every_image(of(*names, club=B)) == {
        (("club", B),),
        (("club", B), ("making", A)),
        (("making", A),),
        (("club", A),),
    }
    assert every_image(of(*names, Record(RecordedAction.FOLDER_FLUSHED, 0, 0), club=B)) == {(("club", A),)}


def test_a_command_that_fails_or_writes_in_a_way_that_the_recorder_does_not_know_is_no_recording(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "club"
    folder.mkdir()
    with pytest.raises(RecordingError, match="no such ledger"):
        recorded(Command("head", ("head", "{club}")), folder)
    (tmp_path / "linking.py").write_text("import os, sys\nos.link(__file__, sys.argv[1] + '/linked.py')\n", "utf-8")
    with pytest.raises(RecordingError, match="does not know what the command did: link"):
        recording.record(folder, tmp_path, "linking", [str(folder)], tmp_path)
