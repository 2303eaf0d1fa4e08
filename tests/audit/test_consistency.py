"""Proofs that a tree grew out of an earlier one: made from the tiles, verified by other code, and those alone."""

import base64
from itertools import pairwise
from pathlib import Path

import pytest

from ledger.audit.reader import verify_consistency, verify_inclusion
from ledger.facts.words import TreeHead
from ledger.journal.merkle import consistency_path, inclusion_path
from ledger.journal.sqlite_store import SqliteJournal
from tests.audit.raw_journals import mth, path_to, raw_head, sha

LEAVES = [sha(b"\x00", bytes([number])) for number in range(40)]
# The tree of seven leaves in RFC 9162, 2.1.5, by the leaves that the Certificate Transparency implementations share.
CT_LEAVES = [bytes.fromhex(h) for h in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657")]
CT_ROOT_OF_4 = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"


def root_of(first: int, last: int) -> bytes:
    return mth(LEAVES[first:last])


def subproof(older: int, leaves: list[bytes], *, known: bool) -> list[bytes]:
    """SUBPROOF as RFC 6962, 2.1.2, defines it."""
    size = len(leaves)
    if older == size:
        return [] if known else [mth(leaves)]
    middle = 1 << ((size - 1).bit_length() - 1)
    if older <= middle:
        return [*subproof(older, leaves[:middle], known=known), mth(leaves[middle:])]
    return [*subproof(older - middle, leaves[middle:], known=False), mth(leaves[:middle])]


def test_proofs_are_those_of_the_recursive_definition_and_hold() -> None:
    for size in range(1, len(LEAVES) + 1):
        now = TreeHead(size, mth(LEAVES[:size]))
        for older in range(1, size + 1):
            proof = consistency_path(older, size, root_of)
            assert proof == subproof(older, LEAVES[:size], known=True)
            assert verify_consistency(TreeHead(older, mth(LEAVES[:older])), now, proof)
        for index in range(size):
            path = inclusion_path(index, size, root_of)
            assert path == path_to(index, LEAVES[:size])
            assert verify_inclusion(LEAVES[index], index + 1, now, path)


def test_the_example_of_the_rfc() -> None:
    """RFC 9162, 2.1.5: from 3, 4 and 6 leaves to 7."""
    leaves = [sha(b"\x00", data) for data in CT_LEAVES]

    def node(first: int, last: int) -> bytes:
        return mth(leaves[first:last])

    assert node(0, 4).hex() == CT_ROOT_OF_4
    c, d, g, l_, i, j, k = node(2, 3), node(3, 4), node(0, 2), node(4, 7), node(4, 6), node(6, 7), node(0, 4)
    assert consistency_path(3, 7, node) == [c, d, g, l_]
    assert consistency_path(4, 7, node) == [l_]
    assert consistency_path(6, 7, node) == [i, j, k]


def test_a_proof_holds_for_no_other_heads_and_no_other_length() -> None:
    for older in range(1, 20):
        for size in range(older, 20):
            then, now = TreeHead(older, mth(LEAVES[:older])), TreeHead(size, mth(LEAVES[:size]))
            proof = consistency_path(older, size, root_of)
            wrong = sha(b"x")
            assert not verify_consistency(TreeHead(older, wrong), now, proof)
            assert not verify_consistency(then, TreeHead(size, wrong), proof)
            assert not verify_consistency(then, now, [*proof, wrong])
            assert not proof or not verify_consistency(then, now, proof[:-1])
            assert size == older or not verify_consistency(now, then, proof)
            for other in {1, older - 1, older + 1, size} - {older, 0}:
                assert not verify_consistency(TreeHead(other, then.root), now, proof)
            for place in range(len(proof)):
                spoilt = [wrong if place == other else sibling for other, sibling in enumerate(proof)]
                assert not verify_consistency(then, now, spoilt)
    assert not verify_consistency(TreeHead(0, sha()), TreeHead(1, LEAVES[0]), [])
    assert not verify_consistency(TreeHead(3, sha()), TreeHead(4, sha()), [])


@pytest.mark.parametrize(("older", "size"), [(0, 4), (5, 4), (-1, 4)])
def test_what_cannot_have_grown_has_no_proof(older: int, size: int) -> None:
    with pytest.raises(ValueError, match="leaves"):
        consistency_path(older, size, root_of)
    with pytest.raises(ValueError, match="leaf"):
        inclusion_path(size, size, root_of)


def test_proofs_from_the_tiles_of_a_journal_hold(six_hundred_games: Path) -> None:
    journal = SqliteJournal(six_hundred_games, read_only=True)
    sizes = [1, 2, 255, 256, 257, 511, 512, 513, 599, 600]
    heads = {size: raw_head(six_hundred_games, size) for size in sizes}
    for size in sizes:
        for older in sizes:
            if older <= size:
                proof = consistency_path(older, size, journal.subtree_root)
                assert verify_consistency(heads[older], heads[size], proof)
    for older, size in pairwise(sizes):
        assert not verify_consistency(heads[older], heads[size], [sha(base64.b64encode(b"x"))])
    journal.close()
