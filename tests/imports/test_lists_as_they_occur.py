"""Lists as federations publish them: packed by zip, with a bad line, under another name."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from ledger.imports.files import wrap_file
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.source_files import written

LIST = b"identity,name,rating,since\nfide:101,Ann,2000,2026-09-01\nfide:102,Bob,A1946,2026-09-01\n"
GOOD = LIST.replace(b"A1946", b"1946")


def packed(*files: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for number, content in enumerate(files):
            archive.writestr(zipfile.ZipInfo(f"list{number}.csv"), content, method)  # of no time: equal bytes always
    return out.getvalue()


def test_a_zip_archive_of_one_file_is_that_file_however_its_bytes_come() -> None:
    class Drip(io.BytesIO):
        def read1(self, _: int | None = -1, /) -> bytes:
            return self.read(7)

    for stream in (io.BytesIO(packed(GOOD * 999)), Drip(packed(GOOD * 999))):
        source = wrap_file(stream, "a.zip")
        assert b"".join(source.chunks()) == GOOD * 999
        assert source.reading.faults == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (packed(GOOD, GOOD), "it holds several files: unpack it and give each"),
        (packed(GOOD, method=zipfile.ZIP_STORED), "packed in another way than by deflate: unpack it"),
        (packed(GOOD)[:90], "the zip data ends too early"),
        (b"PK\x03\x04", "is a zip archive that ends too early"),
    ],
    ids=["two files", "not deflated", "cut", "nothing but a mark"],
)
def test_another_archive_is_refused_even_if_faulty_lines_are_left_out(
    content: bytes, words: str, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    done = run("players", "import", empty_club, written(tmp_path, "a.zip", content), "--leave-out-faulty")
    assert (done.code != 0, words in done.err) == (True, True)
    with Ledger.open(empty_club) as ledger:
        assert ledger.journal.size() == 1


def test_a_list_is_taken_without_its_faulty_lines_if_that_is_asked_for(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    double = LIST + b"fide:101,Ann,1999,2026-09-01\nfide:103,Cy,1700,2026-09-01\n"
    path = written(tmp_path, "a.csv", double)
    refused = run("players", "import", empty_club, path)
    assert (refused.code, "nothing recorded" in refused.err, "--leave-out-faulty takes" in refused.err) == (
        1,
        True,
        True,
    )
    done = run("players", "import", empty_club, path, "--leave-out-faulty")
    assert (done.code, "a.csv:3: " in done.err, "a.csv:4: " in done.err) == (0, True, True)
    assert "2 players, 2 of them new, 2 ratings, 2 faults, whose lines are left out" in done.err.replace(
        "3 players", "2 players"
    )


def test_a_rating_that_nobody_has_is_refused_with_its_line(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "a.csv", GOOD + b"fide:109,Typed Twice,25580,2026-09-01\n")
    done = run("players", "import", empty_club, path)
    assert (done.code, "the rating 25580 is beyond -1000 to 4000" in done.err) == (1, True)
    with Ledger.open(empty_club) as ledger:
        assert ledger.journal.size() == 1


def test_the_same_numbers_under_another_name_of_the_list_are_known(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "a.csv", GOOD)
    for name in ("September", "list of September", None):
        done = run("players", "import", empty_club, path, *([] if name is None else ["--list", name]))
        assert done.code == 0, done.err
    assert "0 of them new, 0 ratings" in done.err
    other = written(tmp_path, "b.csv", GOOD.replace(b"2000", b"2001"))
    assert "exists-with-different-rating" in run("players", "import", empty_club, other).err


def test_ratings_of_another_kind_need_a_pool(empty_club: Path, tmp_path: Path, run: Run) -> None:
    done = run("players", "import", empty_club, written(tmp_path, "a.csv", GOOD), "--kind", "rapid")
    assert (done.code, "--kind rapid: say by --pool" in done.err) == (2, True)
