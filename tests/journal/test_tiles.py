"""Tiles and bundles of entries: their names, what they hold, and what a head covers."""

from hashlib import sha256

import pytest

from ledger.facts.words import TreeHead
from ledger.journal.tiles import Tile
from ledger.testing.journal_contract import fill_journal
from ledger.testing.kit import MemoryJournal
from tests.kit.checkpoints import root_of_leaves


@pytest.mark.parametrize(
    ("tile", "name"),
    [
        (Tile(0, 0, 256), "tile/0/000"),
        (Tile(0, 1234067, 256), "tile/0/x001/x234/067"),  # the example of C2SP tlog-tiles
        (Tile(None, 1234, 17), "tile/entries/x001/234.p/17"),
        (Tile(63, 999, 255), "tile/63/999.p/255"),
        (Tile(2, 1000, 1), "tile/2/x001/000.p/1"),
        (Tile(0, 10**20, 256), "tile/0/x100/x000/x000/x000/x000/x000/000"),
    ],
)
def test_each_tile_has_one_name(tile: Tile, name: str) -> None:
    assert tile.name == name
    assert Tile.named(name) == tile


@pytest.mark.parametrize(
    "name",
    [
        "tile/0/0", "tile/0/x000/067", "tile/00/067", "tile/64/000", "tile/0/067.p/0", "tile/0/067.p/256",
        "tile/0/067.p/017", "tile/0/067.p/", "tile/0/067.p", "tile/0/x001/x234", "tile/0/1234", "tile/-1/000",
        "tile/entries/", "tile/data/000", "tile/0/000/", "/tile/0/000", "tile/0/000\n", "tile/0/٠٠٠", "tile/8/067.p/٣",
        "tile/0/x001/x001/x001/x001/x001/x001/x001/000", "tile/0/X001/000", "tile/0/001/000", "",
    ],
)  # fmt: skip
def test_what_is_written_otherwise_names_no_tile(name: str) -> None:
    assert Tile.named(name) is None


def test_a_head_covers_what_c2sp_says_of_70000_entries() -> None:
    """The example of "Partial Tiles": 273 full tiles of level 0 and one of 112, a full one of level 1 and so on."""
    head = TreeHead(70_000, b"")
    for tile in (Tile(0, 272, 256), Tile(0, 273, 112), Tile(1, 0, 256), Tile(1, 1, 17), Tile(2, 0, 1)):
        assert tile.is_under(head), tile
    for tile in (Tile(0, 273, 113), Tile(0, 274, 1), Tile(1, 1, 18), Tile(1, 2, 1), Tile(2, 0, 2), Tile(3, 0, 1)):
        assert not tile.is_under(head), tile
    assert Tile(None, 273, 112).is_under(head)
    assert not Tile(None, 273, 113).is_under(head)
    assert not Tile(63, 0, 1).is_under(head)


def test_a_tile_holds_hashes_and_a_bundle_the_entries_under_it() -> None:
    journal = MemoryJournal()
    bodies = [entry.body for entry in fill_journal(journal)]
    assert Tile(0, 1, 256).content(journal) == b"".join(sha256(b"\0" + body).digest() for body in bodies[256:512])
    assert Tile(0, 2, 3).content(journal) == Tile(0, 2, 256).content(journal)[:96]
    leaves = [sha256(b"\0" + body).digest() for body in bodies]
    assert Tile(1, 0, 2).content(journal) == root_of_leaves(leaves[:256]) + root_of_leaves(leaves[256:512])
    assert Tile(1, 0, 5).content(journal) == b"".join(journal.subtree_root(n * 256, n * 256 + 256) for n in range(5))
    bundle = Tile(None, 3, 40).content(journal)
    read = []
    while bundle:
        length = int.from_bytes(bundle[:2], "big")
        read.append(bundle[2 : 2 + length])
        bundle = bundle[2 + length :]
    assert read == bodies[768:808]
    for tile in (Tile(None, len(bodies) // 256, 256), Tile(0, len(bodies) // 256, 256), Tile(2, 0, 1)):
        with pytest.raises(ValueError, match=" of "):
            tile.content(journal)


def test_the_longest_entry_fits_a_bundle() -> None:
    journal = MemoryJournal()
    body = b"x" * 65_535
    with journal.writing() as writer:
        writer.append(["test/1"], ["entry:1"], [body])
    assert Tile(None, 0, 1).content(journal) == b"\xff\xff" + body
