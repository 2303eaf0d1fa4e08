"""A served log, read by programs that share nothing with the ledger.

Go's library for its checksum database (Debian: golang-go, golang-golang-x-mod-dev; BSD-3-Clause) and tlog-scales
(Apache-2.0). Where they are not to be had the tests skip, saying so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ledger.audit.receipts import make_receipt
from ledger.journal.checkpoint_notes import last_checkpoint
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.served_processes import serving, until

pytestmark = pytest.mark.outside  # Go and tlog-scales

GO, GO_LIBRARIES = shutil.which("go"), Path("/usr/share/gocode")
PROGRAM = Path(__file__).parent / "go" / "read_log.go"
MORE = 700  # games: the tree comes to have full tiles of level 0, and partial ones of both levels


class ServedLog(NamedTuple):
    """A log that is served, and what a stranger has of it already."""

    address: str
    ledger: Path
    verifier: str
    older: Path
    receipt: Path


def signed_size(served: Path) -> int:
    """Return how many entries the last signed head covers."""
    last = last_checkpoint(served.with_name("club.checkpoints"))
    return 0 if last is None else last.head.size


@pytest.fixture(name="served_log")
def _log(served: Path, tmp_path: Path) -> Iterator[ServedLog]:
    older, receipt = tmp_path / "older.checkpoint", tmp_path / "game.tlog-proof"
    kept = last_checkpoint(served.with_name("club.checkpoints"))
    assert kept is not None
    older.write_text(kept.note, "utf-8")
    with Ledger.open(served) as ledger:
        ledger.append_many([game_recorded(f"more-{number}", half_moves=60) for number in range(MORE)])
        ledger.ensure_up_to_date()
        verifier = ledger.checkpoints.key().verifier
        size = ledger.journal.size()
    with serving(served, "--listen", "127.0.0.1:0", "--log", "entries") as (_, address):
        until(lambda: signed_size(served) == size)  # the server signs the head when it starts
        with Ledger.open(served) as ledger:
            receipt.write_text(make_receipt(ledger, "more-7"), "utf-8")
            ledger.append(game_recorded("unsigned", half_moves=60))
        yield ServedLog(address, served, verifier, older, receipt)


@pytest.mark.skipif(GO is None, reason="there is no Go; Debian: apt-get install golang-go")
@pytest.mark.skipif(
    not (GO_LIBRARIES / "src/golang.org/x/mod/sumdb/tlog").is_dir(),
    reason="there is no x/mod/sumdb; Debian: apt-get install golang-golang-x-mod-dev",
)
def test_go_reads_the_whole_log_and_makes_the_proof_of_our_receipt(served_log: ServedLog, tmp_path: Path) -> None:
    assert GO is not None
    program = tmp_path / "read_log"
    cache = Path(os.environ.get("GOCACHE", Path.home() / ".cache" / "go-build"))
    paths = {
        "GO111MODULE": "off",
        "GOPATH": str(GO_LIBRARIES),
        "GOCACHE": str(cache),
        "GOFLAGS": "",
        "PATH": os.environ["PATH"],
    }
    subprocess.run([GO, "build", "-o", str(program), str(PROGRAM)], env=paths, check=True)
    words = [str(program), served_log.address, served_log.verifier, str(served_log.older), str(served_log.receipt)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    last = last_checkpoint(served_log.ledger.with_name("club.checkpoints"))
    assert last is not None
    assert (told["entries"], told["root"]) == (str(last.head.size), b64encode(last.head.root).decode())
    # Go asks for every width of the last tile of a level: of 1,622 entries 6 full ones, widths 1 to 86, then 1 to 6.
    whole, rest = divmod(last.head.size, 256)
    assert int(told["tiles"]) == whole + rest + whole
    assert int(told["older"]) == last.head.size - MORE
    assert last.head.size - MORE <= int(told["receipt"]) < last.head.size
    for place, spoilt in ((3, served_log.older.read_text("utf-8")), (4, served_log.receipt.read_text("utf-8"))):
        hash_of_it = spoilt.split("\n")[3 if place == 4 else 2]
        other = tmp_path / "spoilt"
        other.write_text(spoilt.replace(hash_of_it, b64encode(bytes(32)).decode(), 1), "utf-8")
        refused = [*words[:place], str(other), *words[place + 1 :]]
        assert subprocess.run(refused, capture_output=True, check=False).returncode == 1


def test_tlog_scales_reads_the_log_and_makes_the_same_proofs(served_log: ServedLog) -> None:
    scales = pytest.importorskip("tlog_scales.reader", reason="tlog-scales is not installed: pip install --group all")
    backend = pytest.importorskip("tlog_scales.backend")
    signing = pytest.importorskip("tlog_scales.signing")
    tlog = pytest.importorskip("tlog_scales.tlog")
    reader = scales.TilesReader(backend.make_backend(served_log.address))
    checkpoint = reader.get_checkpoint()
    checkpoint.verify(signing.Vkey.from_string(served_log.verifier))
    assert reader.calculate_root_hash() == checkpoint.root_hash
    older = tlog.Checkpoint.from_text(served_log.older.read_text("utf-8"))
    growth = reader.get_consistency_proof(older.size, checkpoint.size)
    growth.check(older.root_hash, checkpoint.root_hash)
    lines = served_log.receipt.read_text("utf-8").split("\n")
    index = int(lines[2].removeprefix("index "))
    proof = reader.get_inclusion_proof(index, checkpoint.size)
    assert [b64encode(sibling).decode() for sibling in proof.node_hashes] == lines[3 : lines.index("")]
    with Ledger.open(served_log.ledger, follow=False) as ledger:
        for position in (1, 256, 257, index + 1, checkpoint.size):
            ((body,),) = ledger.journal.read(position - 1, position)
            assert reader.get_entry(position - 1) == body
