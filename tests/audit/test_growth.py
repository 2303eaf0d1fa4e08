"""Checkpoints under outsiders' eyes: who signed them, and that a later one goes on from an earlier one."""

from pathlib import Path

import pytest

from ledger.audit.reader import NotAProofError, VerifierKey, verify_checkpoint
from ledger.errors import StorageError
from ledger.facts.words import TreeHead
from ledger.journal.merkle import EMPTY_ROOT
from ledger.journal.signing_keys import NoteKey
from tests.kit.checkpoints import KEY, ORIGIN, signed
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import SAMPLE_ENTRIES, Run
from tests.kit.games import game_recorded
from tools.commands import FALSE, REFUSED, USAGE

VERIFIER = VerifierKey.parse(KEY.verifier)
MASKS = (0x01, 0x20, 0x80, 0xFF)


def grown(club: ClubOfTwo, games: int) -> tuple[TreeHead, str]:
    """The head of the club's checkpoint, and the proof that one of so many games more goes on from it."""
    ledger = signed(club).ledger
    older = ledger.head()
    ledger.append_many(game_recorded(f"x{number}") for number in range(games))
    return older, ledger.checkpoints.consistency_proof(older, ledger.checkpoints.make())


@pytest.mark.parametrize("games", [0, 1, 4, 255, 300])
def test_a_later_checkpoint_is_shown_to_go_on_from_an_earlier_one(games: int, club_of_two: ClubOfTwo) -> None:
    older, growth = grown(club_of_two, games)
    assert growth.startswith("old 4\n")
    proven = verify_checkpoint(growth.encode(), [VERIFIER], older)
    assert (proven.head, proven.origin) == (club_of_two.ledger.head(), ORIGIN)
    for other in (TreeHead(4, bytes(32)), TreeHead(3, older.root), TreeHead(0, older.root)):
        with pytest.raises(NotAProofError, match="line 1: "):
            verify_checkpoint(growth.encode(), [VERIFIER], other)
    with pytest.raises(NotAProofError, match="it is to be compared with an earlier head"):
        verify_checkpoint(growth.encode(), [VERIFIER])


def test_every_changed_byte_less_or_more_is_refused(club_of_two: ClubOfTwo) -> None:
    older, growth = grown(club_of_two, 3)
    content = bytearray(growth.encode())

    def refused(spoilt: bytes) -> None:
        with pytest.raises(NotAProofError):
            verify_checkpoint(spoilt, [VERIFIER], older)

    for place in range(len(content)):
        for mask in MASKS:
            content[place] ^= mask
            refused(bytes(content))
            content[place] ^= mask
        refused(bytes(content[:place]))
        refused(bytes(content[:place] + content[place + 1 :]))
        refused(bytes(content[:place]) + b"\n" + bytes(content[place:]))
    verify_checkpoint(bytes(content), [VERIFIER], older)


def test_of_a_file_of_checkpoints_the_last_one_counts(club_of_two: ClubOfTwo) -> None:
    older, _ = grown(club_of_two, 3)
    kept = (club_of_two.folder / "club.checkpoints").read_bytes()
    assert verify_checkpoint(kept, [VERIFIER]).head.size == 7
    first = kept[: kept.index(b"\n\n", kept.index(b"\n\n") + 1) + 1]
    assert verify_checkpoint(first, [VERIFIER], older).head == older
    with pytest.raises(NotAProofError, match=r"the 7 entries are not shown to go on from the 4 .*there is no proof in"):
        verify_checkpoint(kept, [VERIFIER], older)
    with pytest.raises(NotAProofError, match="that was not given"):
        verify_checkpoint(kept, [VerifierKey.parse(NoteKey(ORIGIN, bytes(32)).verifier)])


def test_a_growth_from_a_head_that_never_was_is_refused(club_of_two: ClubOfTwo) -> None:
    checkpoints = signed(club_of_two).ledger.checkpoints
    made = checkpoints.make()
    for head in (TreeHead(5, made.head.root), TreeHead(4, bytes(32)), TreeHead(3, made.head.root)):
        with pytest.raises(StorageError, match=f"the first {head.size} of its 4 entries do not have the head {head}"):
            checkpoints.consistency_proof(head, made)
    assert checkpoints.consistency_proof(TreeHead(0, EMPTY_ROOT), made) == f"old 0\n\n{made.note}"


def test_the_commands_prove_it_without_the_ledger(sample_club: Path, tmp_path: Path, run: Run) -> None:
    verifier = run("checkpoint-key", sample_club, "--new", ORIGIN).out.strip()
    old, new = tmp_path / "old.checkpoint", tmp_path / "new.checkpoint"
    old.write_text(run("checkpoint", sample_club).out, "utf-8")
    run("player", "add", sample_club, "name:zoe", "Zoe")
    new.write_text(run("checkpoint", sample_club, "--since", old).out, "utf-8")
    done = run("verify-checkpoint", old, "--key", verifier)
    true = f"TRUE {old}: {SAMPLE_ENTRIES} entries in the journal of {ORIGIN}"
    assert done.out.splitlines() == [true, f"head {SAMPLE_ENTRIES} {done.out.split()[-1]}"]
    done = run("verify-checkpoint", new, "--key", verifier, "--since", old)
    assert (done.code, done.err) == (0, "")
    assert f"{SAMPLE_ENTRIES + 1} entries in the journal of {ORIGIN}, the first {SAMPLE_ENTRIES} of them" in done.out
    for words in ([new, "--key", verifier], [new, "--key", verifier, "--since", f"{SAMPLE_ENTRIES} {'0' * 64}"]):
        done = run("verify-checkpoint", *words)
        assert (done.code, done.out.startswith(f"FALSE {new} line 1: ")) == (FALSE, True)
    assert run("verify-checkpoint", tmp_path / "nope", "--key", verifier).code == REFUSED
    assert run("verify-checkpoint", new, "--key", verifier, "--since", "x").code == USAGE
    refused = run("checkpoint", sample_club, "--since", f"1000 {'0' * 64}")
    assert (refused.code, refused.out) == (REFUSED, "")
