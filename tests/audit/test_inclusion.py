"""Proofs that an entry is in the tree: those of the definition, and no others."""

from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.reader import verify_inclusion
from ledger.facts.words import TreeHead
from ledger.journal.merkle import inclusion_path
from ledger.journal.sqlite_store import SqliteJournal
from tests.audit.raw_journals import body_of, game_fact, mth, path_to, raw_head, sha

# The eight leaves and roots that the Certificate Transparency implementations share.
CT_LEAVES = [
    bytes.fromhex(h)
    for h in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
CT_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(1, 9))
def test_inclusion_holds_under_the_shared_roots_of_certificate_transparency(size: int) -> None:
    leaves = [sha(b"\x00", data) for data in CT_LEAVES[:size]]
    head = TreeHead(size, bytes.fromhex(CT_ROOTS[size - 1]))
    for index, leaf in enumerate(leaves):
        assert verify_inclusion(leaf, index + 1, head, path_to(index, leaves))


@pytest.mark.slow
def test_a_proof_holds_for_no_other_leaf_place_head_or_length(tmp_path: Path) -> None:
    leaves = [sha(b"\x00", bytes([n])) for n in range(70)]
    for size in range(1, 71):
        head = TreeHead(size, mth(leaves[:size]))
        for index in range(size):
            proof, leaf = path_to(index, leaves[:size]), leaves[index]
            others = [p for p in range(-1, size + 3) if p != index + 1]
            assert not any(verify_inclusion(leaf, p, head, proof) for p in others)
            assert not verify_inclusion(sha(b"x"), index + 1, head, proof)
            assert not verify_inclusion(leaf, index + 1, TreeHead(size, sha(b"x")), proof)
            assert not verify_inclusion(leaf, index + 1, head, [*proof, sha(b"x")])
            assert not proof or not verify_inclusion(leaf, index + 1, head, proof[:-1])
    assert not verify_inclusion(sha(), 1, TreeHead(0, sha()), [])


@pytest.mark.parametrize("size", [256, 257, 511, 512, 513, 600])
def test_proofs_through_stored_nodes_lead_to_the_head(six_hundred_games: Path, size: int) -> None:
    head = raw_head(six_hundred_games, size)
    with closing(SqliteJournal(six_hundred_games, read_only=True)) as journal:
        for position in (1, 2, 255, 256, size):
            proof = inclusion_path(position - 1, size, journal.subtree_root)
            assert verify_inclusion(sha(b"\x00", body_of(position, game_fact(position))), position, head, proof)
