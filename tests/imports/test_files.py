"""Opening files: packing and format told by content, damage told as a fault."""

import bz2
import gzip
import io
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.errors import StorageError
from ledger.imports.files import _ARCHIVES, CHUNK, MAX_LINE, detect_format, open_source
from ledger.imports.reading import Reading
from tests.kit.source_files import open_lines

TEXT = b"".join(b"line %d of a file\n" % n for n in range(20_000))


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zst,
}


def lines_of(path: Path) -> tuple[list[bytes], Reading]:
    with open_lines(str(path)) as (lines, reading):
        return list(lines), reading


@pytest.mark.parametrize("kind", PACKERS)
def test_packing_is_told_by_content_and_bytes_read_by_what_is_stored(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(PACKERS[kind](TEXT))
    lines, reading = lines_of(path)
    assert b"".join(lines) == TEXT
    assert lines == TEXT.splitlines(keepends=True)
    assert reading.faults == []
    assert reading.bytes_read == path.stat().st_size


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "zstd"])
def test_members_one_after_the_other_are_one_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    pack = PACKERS[kind]
    path.write_bytes(pack(TEXT[:1000]) + pack(b"") + pack(TEXT[1000:]) + b"\0" * 100)
    lines, reading = lines_of(path)
    assert b"".join(lines) == TEXT
    assert reading.faults == []


def test_skippable_zstd_frames_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + zst(TEXT))
    lines, reading = lines_of(path)
    assert b"".join(lines) == TEXT
    assert reading.faults == []


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "zstd"])
def test_a_cut_stream_is_one_fault_after_what_could_be_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    pack = PACKERS[kind]
    path.write_bytes(pack(TEXT[:1000]) + pack(TEXT)[:-5])
    lines, reading = lines_of(path)
    assert b"".join(lines)[:1000] == TEXT[:1000]
    assert len(reading.faults) == 1
    assert f"{kind} data ends too early" in reading.faults[0].message
    assert reading.faults[0].line > 1


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "zstd"])
def test_a_damaged_stream_is_one_fault(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    packed = PACKERS[kind](TEXT)
    path.write_bytes(packed + b"no such member at all")
    lines, reading = lines_of(path)
    assert b"".join(lines) == TEXT
    assert [f"damaged {kind} data" in fault.message for fault in reading.faults] == [True]


def test_the_account_follows_the_reader_for_a_progress_bar(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(TEXT)
    with open_lines(str(path)) as (lines, reading):
        next(lines)
        assert 0 < reading.bytes_read < len(TEXT)


def test_standard_input_loses_nothing_to_the_peek(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(TEXT))))
    with open_source("-") as source:
        assert len(source.first) >= CHUNK
        assert detect_format(source.first) == "pgn"
        assert b"".join(source.lines()) == TEXT
        assert source.reading.name == "-"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [b"\n"]),
        (b"a", [b"a"]),
        (b"a\nb", [b"a\n", b"b"]),
        (b"a\r\nb\r\n", [b"a\r\n", b"b\r\n"]),
        (b"a\rb\r", [b"a\n", b"b\n"]),
    ],
)
def test_lines_keep_their_ends(data: bytes, expected: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    assert lines_of(path)[0] == expected


def test_a_line_without_end_is_a_fault_and_not_all_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"first\n" + b"x" * (MAX_LINE + 2 * CHUNK) + b"\nlast\n")
    lines, reading = lines_of(path)
    assert lines == [b"first\n"]
    assert [fault.line for fault in reading.faults] == [2]


def test_what_cannot_be_opened_is_said_in_one_line(tmp_path: Path) -> None:
    archive = tmp_path / "games.zip"
    archive.write_bytes(b"PK\x03\x04 and so on")
    for path in (str(tmp_path / "absent.pgn"), str(tmp_path), "a\0b", str(archive)):
        with pytest.raises(StorageError) as caught, open_lines(path) as (lines, _):
            list(lines)
        assert caught.value.path == path
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (b'[Event "x"]\n', "pgn"),
        (b'\xef\xbb\xbf\r\n[Event "x"]\n', "pgn"),
        (b'hello, you;\n\n[White "x"]\n', "pgn"),
        (b'{ a comment }\n[Event "x"]\n', "pgn"),
        (b"[Event Rome]\n", "pgn"),
        (b"", "pgn"),
        (b"nonsense", "pgn"),
        (b'{"id":"a","players":{}}\n', "lichess-ndjson"),
        (b'\n{"key":"a"}\n{', "ledger-jsonl"),
        (b'{"id":"a","players":{"white":{"us', "lichess-ndjson"),
        (b'{"key":"a","white":{"id', "ledger-jsonl"),
        (b"white,black,result\n", "csv"),
        (b"white;black\nA;B\n", "csv"),
        (b"white\tblack\n", "csv"),
        (b'pgn,id\n"[Event ""x""]\n1.e4",3\n', "csv"),
    ],
)
def test_formats_are_told_by_content(first: bytes, expected: str) -> None:
    assert detect_format(first) == expected


@given(st.binary(max_size=300))
def test_detecting_never_raises(data: bytes) -> None:
    detect_format(data)


MAGIC = st.sampled_from([b"\x1f\x8b\x08", b"BZh91AY&SY", b"\x28\xb5\x2f\xfd", b"", b"\xef\xbb\xbf"])


@given(MAGIC, st.binary(max_size=300))
@example(b"", b"\xfd7zXZ\x00")
def test_no_content_raises_but_an_archive_s(magic: bytes, data: bytes) -> None:
    archive = (magic + data).startswith(tuple(_ARCHIVES))
    refusal = pytest.raises(StorageError, match="archive: unpack it and give the file inside")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(magic + data)))
        with refusal if archive else nullcontext(), open_lines("-") as (lines, _):
            list(lines)
