"""Memory stays under 500 MB whatever the file: floods of every kind, imported one by one in a process apart."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.places import ROOT

pytestmark = pytest.mark.nightly

LIMIT_MB = 500

CHILD = r"""
import contextlib, gzip, io, sys, time
from pathlib import Path
from ledger.imports.reading import FileHints
from ledger.recording.pool_choice import BY_SPEED, PoolChoice
from ledger.ledger import Ledger
from tests.kit.source_files import CSV_HEADER, TAGS, lichess_line, zeros_bz2, zeros_gzip, zstd_frame
from tests.kit.yardsticks import yardsticks
from tools.commands.import_steps import ImportWish, import_file

folder = Path(sys.argv[1])
MIB = 2**20

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))

def flood(start, unit, mib):
    return start + unit * int(mib * MIB / len(unit))

def tiny_fields(rows):
    # every field of every row another text, all of them wrong
    for row in range(rows):
        yield b"%d,a%x,b%x,r%x,d%x,p%x\n" % (row, row, row, row, row, row)

FLOODS = {
    "bzip2 of 1.3 GB of zeros": lambda: zeros_bz2(1305),
    "zstd of 2 GB of zeros": lambda: zstd_frame(16_000),
    "gzip of line feeds": lambda: gzip.compress(b"\n" * (9 * MIB), 1),
    "gzip of zeros": lambda: zeros_gzip(80),
    "endless moves": lambda: flood(TAGS, b"1. e4 e5\n", 3),
    "endless comment": lambda: flood(TAGS + b"{", b"la la la\n", 3),
    "endless comments": lambda: flood(TAGS, b"{}", 3),
    "endless variation": lambda: flood(TAGS, b"(e4 ", 1.9),
    "endless tags": lambda: flood(b"", b'[a "b"]\n', 3),
    "lines of one letter": lambda: flood(TAGS, b"x\n", 2.1),
    "blank lines, nearly": lambda: flood(TAGS, b"\n" * 900 + b"x\n", 3),
    "deep JSON": lambda: flood(b"", b'{"key":' + b"[" * 900 + b"]" * 900 + b"}\n", 1),
    "wide JSON": lambda: b'{"id":"AbCdEf12","status":[' + b"[]," * 650_000 + b"1]}\n",
    "a key half a million times": lambda: b"{" + b",".join([b'"a":1'] * 330_000) + b"}\n",
    "a line without end": lambda: flood(b'{"key":', b'"aaaaaaa', 8),
    "long texts": lambda: b"".join(
        lichess_line(n, "standard").replace(b'"e4 e5', b'"' + b"x" * 1_000_000 + b" e5") for n in range(70)
    ),
    "many variants": lambda: b"".join(lichess_line(n, f"v{n}") for n in range(5_000)),
    "faulty lines": lambda: flood(b"", b'{"a":1}\n', 0.5),
    "commas": lambda: flood(CSV_HEADER, b",", 6),
    "rows of commas": lambda: flood(CSV_HEADER, b",\n", 4.5),
    "line feeds in a CSV file, nearly": lambda: flood(CSV_HEADER, b"\n" * 5_000 + b"1,A,B,1-0,2013,30\n", 4.5),
    "a quote that is never closed": lambda: flood(CSV_HEADER + b'1,"A,B,1-0,2013,30\n', b"2,C,D,1-0,2013,30\n", 3),
    "rows full of faults": lambda: flood(CSV_HEADER, b"1,?,,x,y,z\n", 2),
    "zeros in a CSV file": lambda: flood(CSV_HEADER, b"\0,\0,\0,\0,\0,\0\n", 2),
    "fields of 200,000 letters": lambda: CSV_HEADER + b"".join(
        b"%d,%s%d,B,1-0,2013,30\n" % (n, b"n" * 200_000, n) for n in range(60)
    ),
    "fields that are all different": lambda: CSV_HEADER + b"".join(tiny_fields(60_000)),
    "long names": lambda: CSV_HEADER + "".join(
        f"{n},{chr(0x1F984) * 120}{n},B,1-0,2013,30\n" for n in range(8_000)
    ).encode(),
}
with Ledger.create(folder / "club.db") as ledger:
    for n, (name, make) in enumerate(FLOODS.items()):
        file = folder / "flood"
        file.write_bytes(make())
        choice = PoolChoice(pool=BY_SPEED if name == "many variants" else "standard")
        wish = ImportWish(choice=choice, strict=n % 2 == 1, record_alike=False, fmt=None, said=FileHints(),
                    encoding=None, open_tournaments=False, differences=None, actor="test")
        before = time.process_time()
        with contextlib.redirect_stderr(io.StringIO()):
            import_file(ledger, str(file), wish)
        took = yardsticks(time.process_time() - before)
        print(f"{peak()} MB after {took:.1f} yardsticks of {name}", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_floods_of_every_kind_are_imported_in_bounded_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    told = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(told) > 25
    peaks = [int(line.partition(" ")[0]) for line in told]
    assert max(peaks) < LIMIT_MB, told
    took = [float(line.partition(" after ")[2].partition(" ")[0]) for line in told]
    assert max(took) < 1_000, told  # what grows with the square of its length would take hours
