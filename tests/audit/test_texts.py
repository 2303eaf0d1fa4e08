"""Movetext against its hashes: texts that are missing, changed, or packed to fill the memory."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ledger.audit.reader import verify_texts
from tests.audit.raw_journals import edit_raw, game_fact, sha, write_journal
from tests.kit.places import ROOT


@pytest.fixture
def games_with_texts(tmp_path: Path) -> Path:
    """Three games, two of which have a text."""
    path = tmp_path / "club.db"
    texts = [b"1. e4 e5", b"1. d4 " * 50_000]
    write_journal(path, [game_fact(1), *(game_fact(n, text=sha(text).hex()) for n, text in enumerate(texts, 2))])
    edit_raw(path, *(("INSERT INTO texts VALUES (?, ?)", sha(text), zstandard.compress(text)) for text in texts))
    return path


def test_true_texts_are_counted(games_with_texts: Path) -> None:
    verdict = verify_texts(str(games_with_texts))
    assert (verdict.checked, verdict.references, verdict.falsehoods) == (2, 2, ())


def frame(text: bytes, **parameters: Any) -> bytes:
    """A zstd frame that does not say how much is in it."""
    made = zstandard.ZstdCompressionParameters(**parameters)
    compressor = zstandard.ZstdCompressor(compression_params=made).compressobj()
    return bytes(compressor.compress(text) + compressor.flush())


PACKED: dict[str, bytes] = {
    "another text": zstandard.compress(b"1. c4"),
    "cut off": zstandard.compress(b"1. e4 e5")[:-2],
    "bytes after it": zstandard.compress(b"1. e4 e5") + b"x",
    "a second frame": zstandard.compress(b"1. e4 e5") * 2,
    "no zstd": b"not zstd",
    "nothing": b"",
    "a window of 128 MB": frame(b"1. e4 e5", window_log=27),
    "100 MB that say so": zstandard.compress(bytes(100 << 20)),
    "100 MB that do not say so": frame(bytes(100 << 20), window_log=20),
}


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_a_text_that_does_not_decompress_to_its_hash_is_found(games_with_texts: Path, packed: bytes) -> None:
    edit_raw(games_with_texts, ("UPDATE texts SET zstd = ? WHERE sha256 = ?", packed, sha(b"1. e4 e5")))
    (falsehood,) = verify_texts(str(games_with_texts)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("texts", sha(b"1. e4 e5").hex())


def test_a_text_that_says_not_how_long_it_is_is_read(games_with_texts: Path) -> None:
    edit_raw(games_with_texts, ("UPDATE texts SET zstd = ? WHERE sha256 = ?", frame(b"1. e4 e5"), sha(b"1. e4 e5")))
    assert verify_texts(str(games_with_texts)).falsehoods == ()


UNPACK = """
import resource, sys
from ledger.audit.reader import verify_texts
verify_texts(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert len(verify_texts(sys.argv[2]).falsehoods) == 6
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_texts_made_to_fill_the_memory_are_refused_without_filling_it(tmp_path: Path, games_with_texts: Path) -> None:
    path = tmp_path / "bombs.db"
    write_journal(path, [game_fact(1)])
    bombs = [frame(bytes(size << 20), window_log=log) for size in (64, 200) for log in (20, 23, 27)]
    edit_raw(path, *(("INSERT INTO texts VALUES (?, ?)", sha(bomb), bomb) for bomb in bombs))
    command = [sys.executable, "-c", UNPACK, str(games_with_texts), str(path)]
    megabytes = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert int(megabytes) < 64


def test_a_reference_to_a_missing_text_is_found(games_with_texts: Path) -> None:
    edit_raw(games_with_texts, ("DELETE FROM texts WHERE sha256 = ?", sha(b"1. e4 e5")))
    verdict = verify_texts(str(games_with_texts))
    assert [(f.table, f.position_or_key) for f in verdict.falsehoods] == [("journal", 2)]
    assert sha(b"1. e4 e5").hex() in str(verdict.falsehoods[0])


def test_a_text_reference_that_is_no_hash_is_found(tmp_path: Path) -> None:
    write_journal(
        tmp_path / "club.db",
        [game_fact(1, text="zz"), game_fact(2, note='"text":"'), game_fact(3, inner={"text": "x"})],
    )
    verdict = verify_texts(str(tmp_path / "club.db"))
    assert (verdict.references, [f.position_or_key for f in verdict.falsehoods]) == (1, [1])
