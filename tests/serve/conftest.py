"""A busy club that is served within the test: asked as over HTTP, without a network."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ledger.facts.events import Decision
from ledger.ledger import Ledger
from tests.kit.served import OFFICER, OTHER_OFFICER, REASON, SITE, Get
from tools import cli
from tools.serve.gate import Gate
from tools.serve.readers import Reader, application
from tools.serve.settings import Serving
from tools.serve.sites import Site


@pytest.fixture(name="busy_base", scope="session")
def _busy_base(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published list, a correction that acts and an open one, a checkpoint, a player who has never played."""
    folder = Path(shutil.copytree(sample_folder, tmp_path_factory.mktemp("served") / "club"))
    club = folder / "club.db"
    assert cli.main(["publish", str(club), "--at", "2006-06-30", "--by", OFFICER]) == 0
    with Ledger.open(club) as ledger:
        ledger.register("name:zoe", "Zoe", birth_year=1990)
        keys = [row["key"] for row in ledger.rows("games", "reason IS NULL ORDER BY position DESC LIMIT 2")]
        drafts = ledger.corrections.drafts
        number = ledger.propose([drafts.annul(f"game:{keys[0]}")], reason=REASON, by=OFFICER).proposal
        ledger.decide(number, Decision.APPROVED, by=OTHER_OFFICER, reason=REASON)
        ledger.propose([drafts.annul(f"game:{keys[1]}")], reason=REASON, by=OFFICER)
        ledger.level()
    assert cli.main(["checkpoint-key", str(club), "--new", "example.org/club"]) == 0
    assert cli.main(["checkpoint", str(club)]) == 0
    return folder


@pytest.fixture(name="served")
def _served(busy_base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(busy_base, tmp_path / "club")) / "club.db"


@pytest.fixture(name="answering")
def _answering(served: Path) -> Iterator[Reader]:
    reader = Reader(served, Site(public_url=SITE), threads=2)
    yield reader
    reader.close()


@pytest.fixture(name="get")
def _get(answering: Reader) -> Get:
    """Asks for an address behind the prefix, or for a whole one."""

    def get(address: str, method: str = "GET", **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.request(method, address if "://" in address else f"/api/v1{address}", **more)

        # A loop for each question: what belongs to one is made anew.
        answering.scanning = asyncio.Semaphore(1)
        return asyncio.run(asked())

    app = Gate(application(answering), Serving(path=answering.path))
    return get
