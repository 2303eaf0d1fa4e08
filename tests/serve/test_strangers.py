"""What strangers get at every address of every table where persons recorded games: nobody who did, and no reason."""

import asyncio
import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from ledger.answers.asking import OWN_WORDS
from ledger.audit.reader import VerifierKey, verify_receipt
from ledger.audit.receipts import make_receipt
from ledger.journal.signing_keys import read_key
from ledger.ledger import Ledger
from tests.kit.code import sources
from tests.kit.games import game_recorded
from tests.kit.served_processes import OFFICER, OTHER_OFFICER, REASON, SITE
from tools.serve import log
from tools.serve.application import EVERY_ROUTE, application
from tools.serve.readers import Reader
from tools.serve.routes import ENTRIES
from tools.serve.sites import Site

Ask = Callable[..., httpx.Response]
WORDS = {
    "player": "1", "game": "by-a-person", "tournament": "Club evening", "list": "standard@2006-06-30", "number": "1",
    "tile": "0/000", "bundle": "000",
}  # fmt: skip
NEEDED = {
    "/api/v1/games": "on=2006",
    "/api/v1/players": "number=1",
    "/api/v1/players/{player}/changes": "since=2006-01-01",
    "/api/v1/players/{player}/prediction": "opponent=2",
}


@pytest.fixture(name="stranger", params=["hashes"])
def _stranger(served: Path, request: pytest.FixtureRequest) -> Iterator[Ask]:
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("by-a-person", half_moves=60), actor=OFFICER)
        ledger.append(game_recorded("by-a-program", half_moves=60), actor="import")
        ledger.ensure_up_to_date()
        ledger.checkpoints.make()
    reader = Reader(served, Site(public_url=SITE, log=request.param), threads=1)
    app = application(reader)

    def stranger(path: str, **headers: str) -> httpx.Response:
        reader.take_turns()  # of this loop

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.get(path, headers=headers)

        return asyncio.run(asked())

    yield stranger
    reader.close()


def place_of(address: str) -> str:
    return re.sub(r"{(\w+)(?::path)?}", lambda match: WORDS[match[1]], address)


@pytest.mark.slow
def test_no_address_of_any_table_tells_an_officer_or_a_reason(stranger: Ask) -> None:
    for route in (*EVERY_ROUTE, ENTRIES, *log.shown("hashes")):
        question = f"?{NEEDED[route.address]}" if route.address in NEEDED else ""
        answer = stranger(f"{place_of(route.address)}{question}", Accept="text/html" if route.template else "*/*")
        assert answer.status_code in {200, 301, 302} or route.path.endswith(("receipt", "cosigned", "pgn", "board")), (
            route.address,
            answer.text,
        )
        for word in (OFFICER, OTHER_OFFICER, REASON):
            assert word.encode() not in answer.content, route.address
            assert word.encode() not in decoded(answer.content), route.address


def decoded(content: bytes) -> bytes:
    """What stands in base64 in it, where a receipt has the entry."""
    return b" ".join(
        base64.b64decode(part + b"=" * (-len(part) % 4)) for part in re.findall(rb"[A-Za-z0-9+/]{40,}", content)
    )


def test_a_receipt_that_names_a_person_is_whoever_keeps_the_ledger_s_to_give(served: Path, stranger: Ask) -> None:
    refused = stranger("/api/v1/games/by-a-person/receipt")
    assert refused.status_code == 404
    assert "no receipt 'by-a-person' for strangers; it shows who recorded the game" in refused.json()["detail"]
    assert "'rating-ledger receipt DB GAME'" in refused.json()["detail"]
    page = stranger("/games/by-a-person", Accept="text/html").text
    assert "It would show who recorded this game" in page
    given = stranger("/api/v1/games/by-a-program/receipt")
    key = VerifierKey.parse(read_key(served.with_name("club.key")).verifier)
    assert verify_receipt(given.content, [key])
    assert "tlog-proof" in stranger("/games/by-a-program", Accept="text/html").text
    with Ledger.open(served, follow=False) as ledger:
        assert verify_receipt(make_receipt(ledger, "by-a-person").encode(), [key]), "the owner has it"


@pytest.mark.parametrize("stranger", ["entries"], indirect=True)
def test_where_entries_are_shown_receipts_are_too(served: Path, stranger: Ask) -> None:
    given = stranger("/api/v1/games/by-a-person/receipt")
    key = VerifierKey.parse(read_key(served.with_name("club.key")).verifier)
    assert verify_receipt(given.content, [key])
    assert OFFICER.encode() in decoded(given.content)


def test_the_program_s_own_words_for_who_recorded_are_those_of_its_commands() -> None:
    words = set[str]()
    for module, path in sources("ledger", "tools").items():
        if not module.startswith(("tools.bench", "tools.sample")):
            words |= set(re.findall(r"\b(?:acting\(|DEFAULT_ACTOR = )\"([^\"]+)\"", path.read_text("utf-8")))
    assert words == OWN_WORDS
