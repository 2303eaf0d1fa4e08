"""Checkpoints: signed as published, kept one after another, and held against the journal when it is opened."""

import os
import resource
import shutil
import stat
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ledger.errors import CheckpointWarning, LedgerError, MalformedError, StorageError
from ledger.facts.words import TreeHead
from ledger.imports.reading import batch_games
from ledger.journal.checkpoint_notes import last_checkpoint
from ledger.journal.checkpoint_notes import note_text as text_of
from ledger.journal.checkpoints import Checkpoints
from ledger.journal.signing_keys import NoteKey, make_key, read_key
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import companion_file, sidecar
from tests.kit.checkpoints import KEY, ORIGIN, give_key, released_club, signed
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded, source_games
from tests.kit.golden_entries import FOLDER
from tests.kit.tampering import run_sql

GOLDEN = FOLDER / "proofs"


@pytest.fixture
def signed_club(club_of_two: ClubOfTwo) -> ClubOfTwo:
    """The club of two with a key and a checkpoint of its four entries."""
    return signed(club_of_two)


@pytest.fixture
def older_copy(signed_club: ClubOfTwo) -> Path:
    """The club as it was before its last game, beside the checkpoint that was made after it; closed."""
    signed_club.ledger.close()
    copy = signed_club.path.read_bytes()
    with Ledger.open(signed_club.path, clock=signed_club.clock) as ledger:
        ledger.append(game_recorded("r2"))
        ledger.checkpoints.make()
    signed_club.path.write_bytes(copy)
    return signed_club.path


def opened_for_reading(path: Path, words: str) -> Ledger:
    """The ledger, opened with the warning."""
    with pytest.warns(CheckpointWarning, match=words):
        return Ledger.open(path, projectors=())


def test_key_and_signature_are_those_of_the_example_of_go(tmp_path: Path) -> None:
    """ExampleSign and ExampleOpen of golang.org/x/mod/sumdb/note, example_test.go, 2019."""
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_text("PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n", "ascii")
    key = read_key(file)
    assert key.verifier == "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    signature = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
    assert key.sign(text) == f"{text}\n— PeterNeumann {signature}\n"


def test_a_new_key_is_its_owners_alone_and_comes_back_as_it_was(tmp_path: Path) -> None:
    made = make_key(tmp_path / "club.key", ORIGIN)
    assert stat.S_IMODE((tmp_path / "club.key").stat().st_mode) == 0o600
    assert read_key(tmp_path / "club.key") == made
    assert made != make_key(tmp_path / "other.key", ORIGIN)
    assert made.seed.hex() not in repr(made)
    with pytest.raises(StorageError, match="is a key already"):
        make_key(tmp_path / "club.key", ORIGIN)
    assert read_key(tmp_path / "club.key") == made


@pytest.mark.parametrize("name", ["", " ", "a b", "a+b", "a\n", "ä", "\x7f", "x" * 129])
def test_a_name_that_no_note_can_hold_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(MalformedError, match="give 1 to 128 visible ASCII characters"):
        make_key(tmp_path / "club.key", name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o601, 0o660])
def test_a_key_that_others_may_use_signs_nothing(mode: int, signed_club: ClubOfTwo) -> None:
    key, kept = signed_club.folder / "club.key", (signed_club.folder / "club.checkpoints").read_bytes()
    key.chmod(mode)
    signed_club.ledger.append(game_recorded("r2"))
    with pytest.raises(StorageError, match=rf"may be read by others \(mode {mode:04o}\): 'chmod 600' it"):
        signed_club.ledger.checkpoints.make()
    assert (signed_club.folder / "club.checkpoints").read_bytes() == kept


SPOILT_KEYS = [b"", b"x", b"PRIVATE+KEY+a+00000000+AA==\n", b"\xff" * 99]


@pytest.mark.parametrize("content", SPOILT_KEYS)
def test_what_is_no_key_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "club.key"
    file.touch(mode=0o600)
    file.write_bytes(content)
    with pytest.raises(StorageError, match="is no key of this kind"):
        read_key(file)


def test_a_key_of_which_a_letter_was_changed_is_refused(tmp_path: Path) -> None:
    give_key(tmp_path / "club.db")
    file = tmp_path / "club.key"
    line = file.read_text("ascii")
    for place in range(len(line) - 1):
        file.write_text(line[:place] + ("A" if line[place] != "A" else "B") + line[place + 1 :], "ascii")
        with pytest.raises(StorageError, match=r"is no key|is damaged"):
            read_key(file)


def test_there_is_no_key_yet(club_of_two: ClubOfTwo) -> None:
    with pytest.raises(StorageError, match="no key to sign with: make one with 'rating-ledger checkpoint-key DB"):
        club_of_two.ledger.checkpoints.make()
    with pytest.raises(StorageError, match="the key cannot be read"):
        club_of_two.ledger.checkpoints.make(club_of_two.folder)
    assert club_of_two.ledger.checkpoints.after_commit() is None
    assert not (club_of_two.folder / "club.checkpoints").exists()


def test_the_bytes_of_a_checkpoint_are_pinned(tmp_path: Path) -> None:
    path = released_club(tmp_path)
    with Ledger.open(path) as ledger:
        made = ledger.checkpoints.make()
    assert (path.parent / "club.checkpoints").read_bytes() == (GOLDEN / "checkpoint.txt").read_bytes()
    assert made.note.encode() == (GOLDEN / "checkpoint.txt").read_bytes()
    assert KEY.verifier == (GOLDEN / "verifier.txt").read_text("ascii").strip()


def test_checkpoints_stand_one_after_another_and_nothing_new_is_not_kept_twice(signed_club: ClubOfTwo) -> None:
    checkpoints, file = signed_club.ledger.checkpoints, signed_club.folder / "club.checkpoints"
    first = checkpoints.make()
    assert file.read_text("utf-8") == first.note
    signed_club.ledger.append(game_recorded("r2"))
    second = checkpoints.after_commit()
    assert second is not None
    assert file.read_text("utf-8") == f"{first.note}\n{second.note}"
    assert (first.head.size, second.head) == (4, signed_club.ledger.head())
    assert checkpoints.last() == second


@pytest.mark.parametrize("written", [0, 1, 2, 20, 60, 150, -1, None])
def test_what_was_being_written_when_the_machine_failed_counts_for_nothing(
    written: int | None, signed_club: ClubOfTwo
) -> None:
    place, adding = (signed_club.folder / f"club.checkpoints{end}" for end in ("", ".adding"))
    before, first = place.read_bytes(), signed_club.ledger.checkpoints.last()
    signed_club.ledger.append(game_recorded("r2"))
    second = signed_club.ledger.checkpoints.make()
    place.write_bytes(before + place.read_bytes()[len(before) :][:written])
    adding.write_text(f"{len(before)}\n")
    assert signed_club.ledger.checkpoints.last() == first
    with Ledger.open(signed_club.path, projectors=()) as ledger:  # a warning would be an error here
        assert ledger.checkpoints.make() == second
    assert place.read_bytes() == before + b"\n" + second.note.encode()
    assert not adding.exists()


@pytest.mark.parametrize("word", [b"", b"12", b"all\n", b"-1\n", b"99999999\n", b"9\n9\n"])
def test_a_file_beside_the_checkpoints_that_tells_no_length_is_named(word: bytes, signed_club: ClubOfTwo) -> None:
    place, adding = (signed_club.folder / f"club.checkpoints{end}" for end in ("", ".adding"))
    before = place.read_bytes()
    adding.write_bytes(word)
    with pytest.raises(StorageError, match=r"club\.checkpoints\.adding: should say how long club\.checkpoints was"):
        signed_club.ledger.checkpoints.make()
    assert place.read_bytes() == before


@pytest.mark.parametrize("room", [0, 1, 40])
def test_a_disk_that_takes_a_part_of_a_checkpoint_keeps_those_before_it(room: int, signed_club: ClubOfTwo) -> None:
    place = signed_club.folder / "club.checkpoints"
    before = place.read_bytes()
    signed_club.ledger.append(game_recorded("r2"))
    _, hard = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, hard))  # Python ignores SIGXFSZ: writes fail instead
    try:
        with pytest.raises(StorageError, match="takes no checkpoint: File too large"):
            signed_club.ledger.checkpoints.make()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert place.read_bytes() == before
    assert not (signed_club.folder / "club.checkpoints.adding").exists()
    signed_club.ledger.checkpoints.make()
    assert place.read_bytes().startswith(before + b"\n")


def test_a_checkpoint_is_added_without_reading_those_before_it(
    signed_club: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = signed_club.folder / "club.checkpoints"
    inode = place.stat().st_ino
    signed_club.ledger.append(game_recorded("r2"))
    monkeypatch.setattr(Path, "read_bytes", _refused(Path.read_bytes, place))
    signed_club.ledger.checkpoints.make()
    assert place.stat().st_ino == inode, "it is the same file"


def _refused(read: Callable[[Path], bytes], place: Path) -> Callable[[Path], bytes]:
    def reading(path: Path) -> bytes:
        assert path != place
        return read(path)

    return reading


def test_a_checkpoint_is_on_the_disk_before_the_file_beside_it_goes(
    signed_club: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, sidecar = (signed_club.folder / name for name in ("club.checkpoints", "club.checkpoints.adding"))
    seen: list[tuple[int, bool]] = []
    fsync = os.fsync

    def noting(number: int) -> None:
        if os.fstat(number).st_ino == place.stat().st_ino:
            seen.append((os.fstat(number).st_size, sidecar.exists()))
        fsync(number)

    monkeypatch.setattr(os, "fsync", noting)
    signed_club.ledger.append(game_recorded("r2"))
    signed_club.ledger.checkpoints.make()
    assert (place.stat().st_size, True) in seen
    assert not sidecar.exists()


@pytest.mark.slow
def test_a_long_file_is_read_from_its_end(tmp_path: Path) -> None:
    notes = [KEY.sign(text_of(f"{ORIGIN}/ü{i}", TreeHead(i, bytes(32)))) for i in range(2_000)]
    file = tmp_path / "club.checkpoints"
    for size in range(1, 8):
        file.write_text("\n".join(notes)[-65_536 - 400 - size :], "utf-8")
        last = last_checkpoint(file)
        assert last is not None
        assert last.note == notes[-1]


def test_several_makers_take_turns(signed_club: ClubOfTwo) -> None:
    def make(number: int) -> None:
        with Ledger.open(signed_club.path, projectors=(), clock=signed_club.clock) as ledger:
            ledger.append(game_recorded(f"x{number}"))
            ledger.checkpoints.make()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, range(12)))
    notes = (signed_club.folder / "club.checkpoints").read_text("utf-8").split(f"{ORIGIN}\n")[1:]
    sizes = [int(note.split("\n")[0]) for note in notes]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == 16


def test_another_place_is_remembered_beside_the_journal(signed_club: ClubOfTwo) -> None:
    ledger, outside = signed_club.ledger, signed_club.folder / "stick" / 'an "odd"\n name'
    outside.parent.mkdir()
    settings = signed_club.folder / "club.toml"
    settings.write_text('# of our club\nkey = "club.key"\ncheckpoints = "old"\n', "utf-8")
    shutil.copy(signed_club.folder / "club.checkpoints", signed_club.folder / "old")
    ledger.append(game_recorded("r2"))
    made = ledger.checkpoints.make(keep_in=outside)
    assert outside.read_text("utf-8") == made.note
    assert settings.read_text("utf-8").splitlines()[1:] == ["# of our club", 'key = "club.key"']
    with Ledger.open(signed_club.path, clock=signed_club.clock) as again:
        assert again.checkpoints.place == outside
        assert again.checkpoints.last() == made
        again.append(game_recorded("r3"))
        assert again.checkpoints.make().head.size == 6
    assert len(outside.read_text("utf-8").split(ORIGIN)) == 5


def test_a_key_may_be_kept_elsewhere(signed_club: ClubOfTwo) -> None:
    elsewhere = signed_club.folder / "safe.key"
    (signed_club.folder / "club.key").rename(elsewhere)
    assert signed_club.ledger.checkpoints.make(elsewhere).origin == ORIGIN
    assert signed_club.ledger.checkpoints.after_commit() is None
    (signed_club.folder / "club.toml").write_text('key = "safe.key"\n')
    assert signed_club.ledger.checkpoints.after_commit() is not None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"checkpoints =", "is not TOML"),
        (b"\xff", "is not TOML"),
        (b"place = 'x'", "has no setting 'place'"),
        (b"checkpoints = 7", "checkpoints must be the path of a file, got 7"),
        (b"key = ''", "key must be the path"),
    ],
)
def test_settings_that_say_nothing_are_named_and_nothing_is_written(
    content: bytes, words: str, signed_club: ClubOfTwo
) -> None:
    (signed_club.folder / "club.toml").write_bytes(content)
    with opened_for_reading(signed_club.path, words) as ledger, pytest.raises(StorageError, match=words):
        ledger.append(game_recorded("r2"))


def test_checkpoints_of_another_name_are_not_mixed(signed_club: ClubOfTwo) -> None:
    (signed_club.folder / "club.key").unlink()
    with pytest.raises(StorageError, match=f"holds the checkpoints of '{ORIGIN}', not of 'other': sign with the key"):
        signed_club.ledger.checkpoints.new_key("other")
    give_key(signed_club.path, NoteKey("other", bytes(32)))
    with pytest.raises(StorageError, match="keep those of this ledger in a file of their own by 'rating-ledger check"):
        signed_club.ledger.checkpoints.make()
    (signed_club.folder / "club.key").unlink()
    assert signed_club.ledger.checkpoints.new_key(ORIGIN).name == ORIGIN  # a new key of the same name


def test_a_new_ledger_does_not_take_up_the_checkpoints_of_a_lost_one(tmp_path: Path) -> None:
    for word in ("checkpoints", "key", "toml"):
        left = tmp_path / f"club.{word}"
        left.touch()
        with pytest.raises(StorageError, match=rf"club\.{word}: exists already, though the journal does not"):
            Ledger.create(tmp_path / "club.db")
        left.unlink()
    Ledger.create(tmp_path / "club.db").close()


def assert_only_read(path: Path, words: str) -> None:
    """The ledger answers, with a warning; every door to write is closed in the same words, and no byte changes."""
    watched = path, sidecar(path, "people"), companion_file(path, "toml")
    files = {file: file.read_bytes() for file in watched if file.exists()}
    with opened_for_reading(path, words) as ledger:
        assert ledger.head().size
        assert ledger.player("Ann").player == 1
        writes: list[Callable[[], object]] = [
            lambda: ledger.append(game_recorded("r9")),
            lambda: ledger.register("name:zoe", "Zoe"),
            lambda: ledger.rename(1, "Anna"),
            lambda: ledger.erase(1),
            ledger.checkpoints.make,
            lambda: ledger.import_games(batch_games(source_games(2), 2)),
        ]
        for write in writes:
            with pytest.raises(StorageError, match=words):
                write()
    assert {file: file.read_bytes() for file in files} == files


def test_an_older_copy_of_the_journal_is_only_read(older_copy: Path) -> None:
    assert_only_read(older_copy, "holds 4 entries, but the last checkpoint in .*club.checkpoints was made of 5: its t")


def test_it_is_only_read_though_entries_were_added_meanwhile(older_copy: Path) -> None:
    """The older copy grew beyond the checkpoint before anybody compared them."""
    kept = (older_copy.parent / "club.checkpoints").rename(older_copy.parent / "away")
    with Ledger.open(older_copy, projectors=()) as ledger:
        ledger.append_many(game_recorded(f"y{number}") for number in range(3))
    kept.rename(older_copy.parent / "club.checkpoints")
    assert_only_read(older_copy, "entries 1 to 5 of the journal have the root .*: it is another ledger, or what was")


def test_the_journal_of_another_ledger_is_only_read(signed_club: ClubOfTwo) -> None:
    with Ledger.create(signed_club.folder / "new.db") as other:
        other.register("name:ann", "Ann")
        other.register("name:bob", "Bob")
        other.append_many(game_recorded(f"x{number}") for number in range(4))
    signed_club.ledger.close()
    for name in ("", ".people"):
        (signed_club.folder / f"new{name}.db").replace(signed_club.folder / f"club{name}.db")
    assert_only_read(signed_club.path, "entries 1 to 4 of the journal have the root")


def test_an_entry_that_was_sealed_anew_is_found(signed_club: ClubOfTwo) -> None:
    signed_club.ledger.close()
    sealed_anew = "UPDATE journal SET leaf = zeroblob(32) WHERE position = 2"
    run_sql(signed_club.path, "DROP TRIGGER journal_never_updates", sealed_anew)
    with opened_for_reading(signed_club.path, "entries 1 to 4 of the journal have the root"):
        pass


@pytest.mark.parametrize("left", [0, 1, 40, 100, -1, -2, -30])
def test_checkpoints_that_were_cut_off_are_named(left: int, signed_club: ClubOfTwo) -> None:
    file = signed_club.folder / "club.checkpoints"
    file.write_bytes(file.read_bytes()[:left])
    signed_club.ledger.close()
    assert_only_read(signed_club.path, "club.checkpoints: does not end in a whole checkpoint")


@pytest.mark.parametrize("place", [0, 30, -3, -100])
def test_a_byte_that_is_no_utf_8_is_no_part_of_a_checkpoint(place: int, signed_club: ClubOfTwo) -> None:
    file = signed_club.folder / "club.checkpoints"
    content = bytearray(file.read_bytes())
    content[place] = 0xFF
    file.write_bytes(content)
    with pytest.raises(StorageError, match="does not end in a whole checkpoint"):
        signed_club.ledger.checkpoints.make()


def test_after_a_loss_for_good_another_log_begins(older_copy: Path) -> None:
    """As the refusal says."""
    for word in ("checkpoints", "key"):
        (older_copy.parent / f"club.{word}").rename(older_copy.parent / f"lost.{word}")
    with Ledger.open(older_copy, projectors=()) as ledger:
        ledger.append(game_recorded("another"))
        assert ledger.checkpoints.new_key("another.example").name == "another.example"
        assert ledger.checkpoints.make().head.size == 5
    Ledger.open(older_copy, projectors=()).close()


def test_a_configured_file_that_is_missing_is_named(signed_club: ClubOfTwo) -> None:
    signed_club.ledger.checkpoints.make(keep_in=signed_club.folder / "outside")
    (signed_club.folder / "outside").unlink()
    signed_club.ledger.close()
    assert_only_read(signed_club.path, "outside: is missing, but club.toml says that the checkpoints are kept there")


def test_a_ledger_that_fits_is_opened_without_a_word(signed_club: ClubOfTwo) -> None:
    signed_club.ledger.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Ledger.open(signed_club.path, clock=signed_club.clock) as ledger:
            ledger.append(game_recorded("r2"))
            assert ledger.checkpoints.fault() is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_named(signed_club: ClubOfTwo) -> None:
    place = signed_club.folder / "locked"
    place.mkdir(mode=0o500)
    with pytest.raises(StorageError, match="takes no checkpoint"):
        signed_club.ledger.checkpoints.make(keep_in=place / "club.checkpoints")


def test_a_place_in_no_folder_is_named_and_not_remembered(signed_club: ClubOfTwo) -> None:
    with pytest.raises(StorageError, match="takes no checkpoint: No such file"):
        signed_club.ledger.checkpoints.make(keep_in=signed_club.folder / "nowhere" / "club.checkpoints")
    assert not (signed_club.folder / "club.toml").exists()


def test_a_place_with_the_checkpoints_of_another_ledger_is_refused(signed_club: ClubOfTwo) -> None:
    foreign = signed_club.folder / "foreign"
    foreign.write_text(KEY.sign(text_of(ORIGIN, TreeHead(3, bytes(32)))), "utf-8")
    with pytest.raises(StorageError, match="nothing was signed: entries 1 to 3 of the journal have the root"):
        signed_club.ledger.checkpoints.make(keep_in=foreign)
    assert Checkpoints(signed_club.path, signed_club.ledger.journal).place.name == "club.checkpoints"


def test_what_goes_wrong_in_making_is_an_error_of_the_ledger(signed_club: ClubOfTwo) -> None:
    (signed_club.folder / "club.checkpoints").unlink()
    (signed_club.folder / "club.checkpoints").mkdir()
    with pytest.raises(LedgerError, match=r"club\.checkpoints"):
        signed_club.ledger.checkpoints.make()


def test_a_failure_while_a_checkpoint_is_written_leaves_those_before_it(
    signed_club: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = signed_club.folder / "club.checkpoints"
    place.chmod(0o640)
    before = place.read_bytes()
    signed_club.ledger.append(game_recorded("r2"))

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StorageError, match="takes no checkpoint: Input/output error"):
            signed_club.ledger.checkpoints.make()
    assert place.read_bytes() == before
    assert sorted(path.name for path in signed_club.folder.glob("club.checkpoints.*")) == ["club.checkpoints.lock"]
    signed_club.ledger.checkpoints.make()
    assert place.read_bytes().startswith(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
