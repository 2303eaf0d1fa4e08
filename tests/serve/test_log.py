"""The log for strangers: media types and caching to the letter, only what is signed, and every entry to the root."""

import asyncio
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from ledger.journal.checkpoint_notes import last_checkpoint
from ledger.journal.signing_keys import read_key
from ledger.ledger import Ledger
from tests.kit.checkpoints import Fetch, hashes_under, names_under, read_bundle, root_of_leaves
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.served_processes import OFFICER, serving
from tools.serve.application import application
from tools.serve.readers import Reader
from tools.serve.sites import Site

BYTES, FOREVER = "application/octet-stream", "public, max-age=31536000, immutable"


@pytest.fixture(name="log", params=["entries"])
def _log(served: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., httpx.Response]]:
    """Asks for an address of the log, of which so much is shown."""
    reader = Reader(served, Site(public_url="https://example.org/club", log=request.param), threads=1)
    app = application(reader)

    def get(address: str, **headers: str) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.get(address, headers={"Accept-Encoding": "identity", **headers})

        return asyncio.run(asked())

    yield get
    reader.close()


Log = Callable[..., httpx.Response]


def fetch(log: Log) -> Fetch:
    """The bytes at a name of the log, which must be there."""

    def get(name: str) -> bytes:
        answer = log(f"/{name}")
        assert answer.status_code == 200, (name, answer.text)
        return answer.content

    return get


def head_of(note: str) -> tuple[int, bytes]:
    lines = note.split("\n")
    return int(lines[1]), b64decode(lines[2])


def test_a_checkpoint_is_text_that_no_cache_keeps(served: Path, log: Log) -> None:
    answer = log("/checkpoint")
    last = last_checkpoint(served.with_name("club.checkpoints"))
    assert last is not None
    assert (answer.status_code, answer.text) == (200, last.note)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    again = log("/checkpoint", **{"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("new", half_moves=60))
        ledger.checkpoints.make()
    later = log("/checkpoint", **{"If-None-Match": answer.headers["etag"]})
    assert (later.status_code, head_of(later.text)[0]) == (200, last.head.size + 1)


def test_tiles_are_bytes_that_anybody_may_keep_for_good(log: Log) -> None:
    for address, length in (("/tile/0/000", 8192), ("/tile/0/000.p/7", 224), ("/tile/1/000.p/3", 96)):
        answer = log(address)
        assert (answer.status_code, len(answer.content)) == (200, length)
        assert (answer.headers["content-type"], answer.headers["cache-control"]) == (BYTES, FOREVER)
        assert "content-encoding" not in answer.headers
        assert log(address, **{"If-None-Match": answer.headers["etag"]}).status_code == 304


def test_bundles_are_packed_for_whoever_takes_gzip(log: Log) -> None:
    plain, packed = log("/tile/entries/000"), log("/tile/entries/000", **{"Accept-Encoding": "gzip"})
    assert plain.content == packed.content  # the client unpacks it
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    for answer in (plain, packed):
        assert (answer.headers["content-type"], answer.headers["cache-control"]) == (BYTES, FOREVER)
        assert "Accept-Encoding" in answer.headers["vary"].split(", ")
    assert plain.headers["etag"] != packed.headers["etag"]
    assert int(packed.headers["content-length"]) < len(plain.content) / 3


@pytest.mark.parametrize(
    "name",
    [
        "tile/0/004", "tile/0/003.p/256", "tile/0/003.p/0", "tile/1/000", "tile/1/000.p/4", "tile/2/000.p/1",
        "tile/0/0", "tile/0/x000/000", "tile/entries/004", "tile/entries/003.p/255", "tile/64/000", "tile/data/000",
        "tile/", "tile", "checkpoints", "checkpoint/cosigned",
    ],
)  # fmt: skip
def test_what_no_checkpoint_covers_or_nobody_calls_so_is_not_there(name: str, log: Log) -> None:
    answer = log(f"/{name}")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.headers["cache-control"] == "no-cache", "it may be there later"


def test_entries_behind_the_checkpoint_are_told_once_they_are_signed(served: Path, log: Log) -> None:
    size = head_of(log("/checkpoint").text)[0]
    number, width = divmod(size + 1, 256)
    later = [f"/tile/0/{number:03d}.p/{width}", f"/tile/entries/{number:03d}.p/{width}"]
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("new", half_moves=60))
        assert [log(address).status_code for address in later] == [404, 404]
        ledger.checkpoints.make()
        assert [log(address).status_code for address in later] == [200, 200]
        assert b"game:new" in log(later[1]).content


def test_every_entry_leads_to_the_root_of_the_checkpoint(log: Log) -> None:
    size, root = head_of(log("/checkpoint").text)
    get = fetch(log)
    entries = [entry for name in names_under(size, "entries") for entry in read_bundle(get(name))]
    assert len(entries) == size > 900
    leaves = [sha256(b"\0" + entry).digest() for entry in entries]
    assert leaves == hashes_under(size, 0, get)
    assert root_of_leaves(leaves) == root
    whole = [root_of_leaves(leaves[first : first + 256]) for first in range(0, size - 255, 256)]
    assert whole == hashes_under(size, 1, get)


def test_partial_tiles_of_older_checkpoints_stay(served: Path, log: Log, run: Run) -> None:
    older = [head_of(log("/checkpoint").text)]
    with Ledger.open(served) as ledger:
        for number in range(300):
            ledger.append(game_recorded(f"more-{number}", half_moves=60))
            if number % 60 == 7:
                head = ledger.checkpoints.make().head
                older.append((head.size, head.root))
    assert run("checkpoint", served).code == 0
    for size, root in older:
        leaves = hashes_under(size, 0, fetch(log))
        assert root_of_leaves(leaves) == root
        hashes_under(size, 1, fetch(log))


@pytest.mark.parametrize("log", ["hashes"], indirect=True)
def test_without_entries_there_are_hashes_alone(log: Log) -> None:
    assert log("/tile/0/000").status_code == 200
    refused = log("/tile/entries/000")
    assert (refused.status_code, "shows its hashes, not its entries" in refused.text) == (404, True)
    assert OFFICER not in log("/tile/0/003.p/200").text


@pytest.mark.parametrize("log", ["off"], indirect=True)
def test_a_log_that_is_off_is_not_there(log: Log) -> None:
    assert [log(f"/{name}").status_code for name in ("checkpoint", "tile/0/000", "tile/entries/000")] == [404] * 3


def test_unknown_parameters_are_refused(log: Log) -> None:
    assert log("/checkpoint?format=json").status_code == 400
    assert log("/tile/0/000?x=1").status_code == 400


def test_a_tile_is_read_once(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    first = log("/tile/entries/000").content

    def fail(*_: object) -> Any:
        raise AssertionError

    monkeypatch.setattr(Ledger, "journal", property(fail))
    assert log("/tile/entries/000").content == first
    assert log("/tile/0/000").status_code == 500


def test_nothing_is_shown_of_a_journal_that_does_not_fit_its_checkpoint(served: Path, log: Log) -> None:
    place = served.with_name("club.checkpoints")
    text = place.read_text("utf-8")
    place.write_text(re.sub(r"\n([0-9]+)\n", "\n900\n", text), "utf-8")
    assert [log(f"/tile/{name}").status_code for name in ("0/000", "entries/000")] == [503, 503]
    place.unlink()
    answer = log("/checkpoint")
    assert (answer.status_code, "none was made yet" in answer.text) == (404, True)
    assert log("/tile/0/000").status_code == 404
    receipt = log("/api/v1/games/%23900/receipt")
    assert (receipt.status_code, "as yet; no checkpoint was ever signed here" in receipt.text) == (404, True)


@pytest.mark.slow
def test_its_owner_is_told_at_the_start_what_becomes_public_and_what_the_key_should_be_called(served: Path) -> None:
    words = ("--listen", "127.0.0.1:0", "--public-url", "https://example.org/other", "--log", "entries")
    with serving(served, *words) as (process, _):
        assert process.stderr is not None
        public, called = process.stderr.readline(), process.stderr.readline()
    assert "log: entries: whoever asks may read and keep all" in public
    assert "officers' names, players' years of birth, standings" in public
    assert "its key is called 'example.org/club', but it is read at 'example.org/other'" in called
    with serving(served, "--listen", "127.0.0.1:0", "--public-url", "https://example.org/club") as (process, _):
        pass
    assert process.stderr is not None
    assert read_key(served.with_name("club.key")).name == "example.org/club"
