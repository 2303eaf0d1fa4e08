"""Files that wait at the desk: what is confirmed waits for its turn, whatever else is looked at meanwhile."""

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from ledger.errors import MalformedError
from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.clubs import NAME, new_club_of_two
from tests.kit.desks import Form, forms
from tools.serve import desk, desk_requests, desk_verbs
from tools.serve.application import application
from tools.serve.desk_requests import Visits
from tools.serve.importing import Sent
from tools.serve.readers import Reader
from tools.serve.sites import Site
from tools.serve.verbs import Asking, verb_of
from tools.serve.writer_socket import WriterClient

SITE = "http://127.0.0.1:8000"
FROM_HERE = {"Origin": SITE, "Sec-Fetch-Site": "same-origin"}
HEADER = b"white,black,result,date\n"


class BusyWriter:
    """Does what it is asked, but for files, which wait for their turn."""

    views = 0

    def __init__(self, path: Path) -> None:
        self._path = path
        self.files: list[Path] = []

    async def ask(self, verb: str, args: Mapping[str, Any], *, token: str | None = None, **_: Any) -> dict[str, Any]:
        if verb == "desk-import":
            self.files.append(Path(args["sent"]["path"]))
            await asyncio.Event().wait()
        with Ledger.open(self._path) as ledger:
            return verb_of(verb).do(ledger, Asking(token, None), args)


def the_form(page: httpx.Response, action: str) -> Form:
    assert page.status_code == 200, page.text
    return next(form for form in forms(page.text) if form.action == action)


@pytest.mark.slow
def test_a_confirmed_file_waits_for_its_turn_whatever_is_looked_at_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_requests, "SOON", 0.01)
    with new_club_of_two(tmp_path) as club:
        token = club.ledger.tokens.add("rita", [Role.RECORDER])
        club.ledger.ensure_up_to_date()
    folder = tmp_path / "meeting"
    folder.mkdir()
    writer = BusyWriter(tmp_path / NAME)
    reader = Reader(tmp_path / NAME, Site(public_url=SITE), threads=1)
    app = application(reader, Visits(reader, cast("WriterClient", writer), folder))

    async def visit() -> None:
        reader.take_turns()
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url=SITE, headers=FROM_HERE) as client:

            async def look_at(content: bytes) -> httpx.Response:
                form = the_form(await client.get("/desk/import"), "/desk/import")
                return await client.post(form.action, data=form.fields, files={"file": ("games.csv", content)})

            async def confirm(looked: httpx.Response) -> str:
                form = the_form(looked, "/desk/import/confirm")
                return (await client.post(form.action, data=form.fields)).headers["location"]

            signing = the_form(await client.get("/desk/sign-in"), "/desk/sign-in")
            await client.post(signing.action, data={**signing.fields, "token": token})
            first = await look_at(HEADER + b"Ann,Bob,1-0,2024-07-01\n")
            place = await confirm(first)
            assert await confirm(first) == place, "its button was pressed twice"
            second = await look_at(HEADER + b"Ann,Bob,0-1,2024-07-02\n")
            await look_at(HEADER + b"Ann,Bob,1-0,2024-07-03\n")
            form = the_form(second, "/desk/import/confirm")
            late = await client.post(form.action, data=form.fields)
            assert (late.status_code, "choose a file" in late.text) == (400, True), "another one was looked at"

    asyncio.run(visit())
    reader.close()
    assert len(set(writer.files)) == 1
    assert writer.files[0].read_bytes() == HEADER + b"Ann,Bob,1-0,2024-07-01\n"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (OSError(28, "No space left on device"), "the program failed here"),
        (RuntimeError("the inside"), "the program failed here"),
        (MalformedError(["no games in it"]), "no games in it"),
    ],
)
def test_a_file_that_could_not_be_recorded_is_not_said_to_be_recorded_for_ever(
    fault: Exception, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise fault

    monkeypatch.setattr(desk_verbs, "imported", failing)
    sent = {"path": str(tmp_path / "games.csv"), "name": "games.csv", "strict": False}
    args = {"upload": f"{type(fault).__name__}", "sent": sent}
    with new_club_of_two(tmp_path) as club:
        with pytest.raises(type(fault)):
            verb_of("desk-import").do(club.ledger, Asking(None, None), args)
        state = verb_of("desk-import-state").do(club.ledger, Asking(None, None), args)
    assert (state["state"], words in state["words"], "inside" in state["words"]) == ("refused", True, False)


def test_a_large_file_is_looked_at_beside_what_strangers_ask_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_club_of_two(tmp_path) as club:
        token = club.ledger.tokens.add("rita", [Role.RECORDER])
        club.ledger.ensure_up_to_date()
    folder, looked, is_answered = tmp_path / "meeting", threading.Event(), threading.Event()
    folder.mkdir()
    reader = Reader(tmp_path / NAME, Site(public_url=SITE), threads=1)
    app = application(reader, Visits(reader, cast("WriterClient", BusyWriter(tmp_path / NAME)), folder))

    def previewed(ledger: Ledger, sent: Sent) -> Any:
        looked.set()
        assert is_answered.wait(60)
        return real(ledger, sent)

    real = vars(desk)["previewed"]
    monkeypatch.setattr(desk, "previewed", previewed)

    async def visit() -> None:
        reader.take_turns()
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url=SITE, headers=FROM_HERE) as client:
            form = the_form(await client.get("/desk/sign-in"), "/desk/sign-in")
            await client.post("/desk/sign-in", data={**form.fields, "token": token})
            form = the_form(await client.get("/desk/import"), "/desk/import")
            files = {"file": ("large.csv", HEADER + b"Ann,Bob,1-0,2024-01-02\n")}
            looking = asyncio.create_task(client.post("/desk/import", data=form.fields, files=files))
            await asyncio.get_running_loop().run_in_executor(None, looked.wait, 60)
            start = await asyncio.wait_for(client.get("/"), 30)
            is_answered.set()
            assert (start.status_code, (await looking).status_code) == (200, 200)

    asyncio.run(visit())
    reader.close()
