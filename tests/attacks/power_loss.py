"""Power cuts: real commands are recorded, and what a disk may hold after a cut at any moment is opened and judged.

What is demanded of every image of the disk (``disk`` says how images are made):

* each entry that the journal held when the command last spoke is there with the same bytes, and so is each person;
* the journal is a beginning of what the command made of it, for a command of one transaction all of that or nothing;
* whoever was forgotten when the command spoke is in no file any more: neither name nor salt;
* the program opens it and brings the views level, or says that they are damaged and rebuilds them, or says that the
  command must be run again, which then succeeds; an audit says TRUE, and so does ``truth``.
"""

import contextlib
import io
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from random import Random

import attrs

from ledger.audit.audit import audit
from ledger.errors import CheckpointWarning, CorruptError, LedgerError, StorageError
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import RESTORE_PLAN, restore_folder, sidecar
from tests.attacks.disk import Disk, WriteLoss, put_down
from tests.attacks.judge import AttackJudge, Finding
from tests.attacks.plays import TRUE
from tests.attacks.power_commands import COMMANDS, INIT, Command, write_files
from tests.attacks.recording import CommandRecording, RecordedAction, RecordingError, obstacle, record
from tests.attacks.stores import copied, raw
from tests.attacks.truth import JournalRow, People, Truth, entries, people
from tests.kit.places import ROOT
from tools import cli

_LOSSES = (*WriteLoss, WriteLoss.SECTORS, WriteLoss.END, WriteLoss.BEGINNING)  # those that may tear come twice
_LEAST = 8  # bytes of a name that can be looked for among all the others


@attrs.frozen
class State:
    """What a ledger held."""

    journal: list[JournalRow]
    people: People
    others: dict[tuple[str, int], tuple[object, ...]]  # by table and number: reasons of corrections, refusals


class RecordedCommand:
    """A command that was recorded, and what the ledger held before, after, and whenever the command spoke."""

    def __init__(self, command: Command, recording: CommandRecording, folder: Path) -> None:
        """Take the recording; *folder* is where it was made, and where its images are put down."""
        self.command = command
        self.recording = recording
        self.folder = folder
        self._known: dict[int, State] = {}
        self.first, self.last = self.state(0), self.state(len(recording.records))

    @property
    def club(self) -> Path:
        return self.folder / "club.db"

    def state(self, cut: int) -> State:
        """Return what a ledger holds of which nothing is lost, opened by the program after so many records."""
        if cut not in self._known:
            disk = Disk(self.recording)
            for done in self.recording.records[:cut]:
                disk.do(done)
            put_down(disk.after_power_cut(WriteLoss.NOTHING, Random(0)), self.folder)  # nothing is chosen
            self._known[cut] = _state(self.club)
        return self._known[cut]

    def spoken_before(self, cut: int) -> State:
        """Return what the ledger held when the command last spoke."""
        records = self.recording.records
        return self.state(next((at for at in range(cut, 0, -1) if records[at - 1].kind == RecordedAction.SAID), 0))

    @property
    def has_spoken(self) -> int:
        return max(at for at, done in enumerate(self.recording.records, 1) if done.kind == RecordedAction.SAID)


@attrs.frozen
class Image:
    """One power cut."""

    number: int  # the seed of all that is chosen
    recorded: RecordedCommand  # under which it happens
    cut: int  # how many of its records were done
    loss: WriteLoss

    @property
    def name(self) -> str:
        of = len(self.recorded.recording.records)
        return f"'{self.recorded.command.name}' cut at {self.cut} of {of}, {self.loss.value}: image {self.number}"


def power_cuts(judge: AttackJudge, numbers: Sequence[int]) -> Iterator[Finding]:
    """Yield what does not hold in images of these numbers, of every command in turn."""
    if obstacle():
        judge.impossible += len(numbers)
        return
    try:
        recorded = recordings(judge.history.last.db, judge.scratch / "power")
    except RecordingError as error:  # another ledger may not take what the commands are to record
        yield Finding("power cuts", (), str(error))
        return
    yield from findings(images(recorded, numbers), judge.truth)


@cache
def recordings(club: Path, scratch: Path) -> tuple[RecordedCommand, ...]:
    """Record every command on a copy of a ledger that is called ``club.db`` in a folder under *scratch*."""
    folder = scratch / "club"
    shutil.rmtree(scratch, ignore_errors=True)
    folder.mkdir(parents=True)
    write_files(scratch)
    made = [recorded(INIT, folder)]
    for path in copied(club, scratch / "copy").parent.iterdir():
        shutil.copy(path, folder / path.name.replace(club.stem, "club", 1))
    made += [recorded(command, folder) for command in COMMANDS]
    return tuple(made)


def recorded(command: Command, folder: Path, checkout: Path = ROOT) -> RecordedCommand:
    """Record a command on the ledger in *folder*, which is left as the command leaves it."""
    made = record(folder, folder.parent, command.module, _words(command, folder), checkout)
    if made.code != TRUE:
        raise RecordingError(f"{command.name}: exit {made.code}: {made.said.strip()}")
    kept = folder.with_name("kept aside")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.move(folder, kept)
    found = RecordedCommand(command, made, folder)
    shutil.rmtree(folder)
    shutil.move(kept, folder)
    return found


def _words(command: Command, folder: Path) -> list[str]:
    places = {"club": str(folder / "club.db"), "folder": str(folder), "files": str(folder.parent)}
    return [word.format(**places) for word in command.words]


def images(recorded: Sequence[RecordedCommand], numbers: Sequence[int]) -> list[Image]:
    """Return the images of these numbers, of each command in turn; the same ones every time."""
    found = []
    for number in numbers:
        under = recorded[number % len(recorded)]
        random = Random(f"where {number}")  # the same images every time
        cut = random.randint(0, len(under.recording.records))
        found.append(Image(number, under, cut, random.choice(_LOSSES)))
    return found


def findings(chosen: Sequence[Image], truth: Truth) -> Iterator[Finding]:
    """Yield what does not hold in these images."""
    judged: dict[str, list[str]] = {}  # by the bytes of all files, which two of three images share with one before
    ordered = sorted(chosen, key=lambda image: (image.recorded.command.name, image.cut))
    for _, alike in groupby(ordered, key=lambda image: image.recorded.command.name):
        disk: Disk | None = None
        done = 0
        for image in alike:
            disk = disk or Disk(image.recorded.recording)
            for act in image.recorded.recording.records[done : image.cut]:
                disk.do(act)
            done = image.cut
            then = image.recorded.spoken_before(image.cut)
            found = disk.after_power_cut(image.loss, Random(f"what {image.number}"))
            put_down(found, image.recorded.folder)
            wrong = [*_not_forgotten(image, then, found), *_unmade(image, disk, found)]
            wrong += _opened(image, then, truth, judged)
            yield from (Finding(image.name, (" ".join(image.recorded.command.words),), what) for what in wrong)


def _not_forgotten(image: Image, then: State, found: dict[str, bytes | None]) -> Iterator[str]:
    """Yield what of forgotten people is still in a file."""
    if not image.recorded.command.forgets:
        return
    for player, row in image.recorded.first.people.items():
        for word in row[1:3]:  # name and salt
            held = word.encode() if isinstance(word, str) else word
            if not isinstance(held, bytes) or len(held) < _LEAST or word in then.people.get(player, (word,)):
                continue
            yield from (
                f"{path} still holds what player {player} was called"
                for path, content in found.items()
                if content is not None and held in content
            )


def _unmade(image: Image, disk: Disk, found: dict[str, bytes | None]) -> Iterator[str]:
    """Yield what of the files that the command has made is not there."""
    names = image.recorded.command.makes
    if names and image.cut >= image.recorded.has_spoken:
        whole = disk.after_power_cut(WriteLoss.NOTHING, Random(0))  # nothing is chosen
        yield from (
            f"{path} is {'damaged' if path in found else 'gone'}, though the command has spoken"
            for path, content in whole.items()
            if path.startswith(names) and found.get(path) != content
        )


def _opened(image: Image, then: State, truth: Truth, judged: dict[str, list[str]]) -> Iterator[str]:
    """Open an image as the program does, and judge what it is then, if no image before it became the same."""
    club = image.recorded.club
    is_again = not club.exists()
    try:
        if is_again:
            if then.journal and not (restore_folder(club) / RESTORE_PLAN).exists():
                yield "the ledger is gone"
                return
            yield from _run_again(image)
        _bring_level(club)
    except LedgerError as error:
        yield f"it cannot be opened: {type(error).__name__}: {error}"
        return
    yield from _lost(image, then, is_again=is_again)
    files = [(str(path), path.read_bytes()) for path in sorted(club.parent.rglob("*")) if path.is_file()]
    digest = sha256(repr(files).encode()).hexdigest()
    if digest not in judged:
        judged[digest] = list(_false(club, truth))
    yield from judged[digest]


def _false(club: Path, truth: Truth) -> Iterator[str]:
    yield from truth.faults(club)
    verdict = audit(club)
    yield from (f"the audit says FALSE {falsehood}" for falsehood in verdict.falsehoods[:1])
    yield from (f"the audit compares not {omission}" for omission in verdict.not_compared if omission.failed)


def _run_again(image: Image) -> Iterator[str]:
    """Run the command again, which must bring itself to its end."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = cli.main(_words(image.recorded.command, image.recorded.folder))
    if code != TRUE:
        yield f"the same command does not complete it: exit {code}: {said.getvalue().strip()}"


def _bring_level(club: Path) -> None:
    """Open a ledger and bring its views level; where it says that they are damaged, rebuild them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckpointWarning)  # it says what is asked for below
        opened = Ledger.open(club)
    with opened as ledger:
        if fault := ledger.checkpoints.fault():
            raise StorageError(str(club), fault)
        if ledger.tokens.are_set_up():
            ledger.tokens.list()
        try:
            ledger.catch_up()
        except CorruptError as error:
            if "rebuild" not in str(error) or str(sidecar(club, "views")) not in str(error):
                raise
            ledger.rebuild()


def _are_as_written(found: Sequence[JournalRow], written: Sequence[JournalRow]) -> bool:
    """Return whether entries are the first of those written; a stopped erasure is recorded when it is found."""
    return len(found) <= len(written) and all(
        entry == true or ((entry.kind, entry.key) == (true.kind, true.key) and entry.kind == "person-erased/1")
        for entry, true in zip(found, written, strict=False)
    )


def _lost(image: Image, then: State, *, is_again: bool) -> Iterator[str]:
    """Yield what is not there that was *then*, when the command last spoke, or is there that it never wrote."""
    under, now = image.recorded, _raw_state(image.recorded.club)
    first, last = under.first.journal, under.last.journal
    if now.journal[: len(then.journal)] != then.journal and now.journal != last:
        yield f"entries are lost: {len(then.journal)} were there when the command spoke, {len(now.journal)} are left"
    whole = max(first, last, key=len)  # of a restore the journal before it
    if is_again:  # at another time
        is_true = [(entry.kind, entry.key) for entry in now.journal] == [(entry.kind, entry.key) for entry in last]
    else:
        is_true = _are_as_written(now.journal, whole)
    if not is_true:
        yield "the journal holds what the command never wrote"
    if under.command.is_whole and len(now.journal) not in {len(first), len(last)}:
        yield f"half of a transaction is there: {len(now.journal)} entries, not {len(first)} or {len(last)}"
    for player, row in then.people.items():
        if now.people.get(player) not in {row, under.last.people.get(player)}:
            yield f"player {player} is {now.people.get(player)}, and was {row} when the command spoke"
    for place, row in then.others.items():
        if now.others.get(place) not in {row, under.last.others.get(place)}:
            yield f"{place} is {now.others.get(place)}, and was {row} when the command spoke"


def _state(club: Path) -> State:
    """Return what a ledger holds once the program has opened it; nothing where there is none."""
    if not club.exists():
        return State([], {}, {})
    Ledger.open(club).close()
    return _raw_state(club)


def _raw_state(club: Path) -> State:
    others: dict[tuple[str, int], tuple[object, ...]] = {}
    for file, wanted in ((sidecar(club, "people"), {"reasons"}), (sidecar(club, "tokens"), {"refusals"})):
        if file.exists() and file.stat().st_size:  # an empty one is none
            with closing(raw(file)) as connection:
                held = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
                for table in held & wanted:
                    others.update({(table, row[0]): row[1:] for row in connection.execute(f"SELECT * FROM {table}")})
    return State(entries(club) or [], people(club) or {}, others)
