"""The desk in a browser: from an uploaded file to a published list, a correction by two people, read by everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.kit.browsers import NEEDS_CHROMIUM, serious
from tests.kit.desks import GAME, club_with_officers
from tests.kit.served_processes import position, serving, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.outside, *NEEDS_CHROMIUM]
PAGES = (
    "health",
    "", "import", "players", "players/alike", "propose", f"propose/result?game={GAME}", "batch", "queue",
    "publish?at=2026-03-31", "history",
)  # fmt: skip
GAMES = b"white,black,result,date,event\nAnn,Bob,1-0,2026-03-01,Open\nBob,Zoe Falk,0-1,2026-03-02,Open\n"


@pytest.fixture(name="desk_club", scope="module")
def _desk_club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Mapping[str, str]]]:
    club: Path = tmp_path_factory.mktemp("browsed") / "club.db"
    tokens = club_with_officers(club)
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        yield address, tokens


@pytest.fixture(name="at_desk")
def _at_desk(chromium: Browser, desk_club: tuple[str, Mapping[str, str]]) -> Iterator[Callable[..., Page]]:
    """Signs somebody in; what a page asks of others, or complains of, fails the test."""
    address, tokens = desk_club
    contexts, wrong = [], list[str]()

    def sign_in(name: str, **settings: Any) -> Page:
        context = chromium.new_context(base_url=address, **{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: None if request.url.startswith(address) else wrong.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.goto("/desk")
        page.fill("#token", tokens[name])
        page.get_by_role("button", name="Sign in").click()
        return page

    yield sign_in
    for context in contexts:
        context.close()
    assert wrong == []


def test_from_a_file_to_a_published_list(at_desk: Callable[..., Page]) -> None:
    page = at_desk("otto")
    page.get_by_role("link", name="Import").click()
    page.set_input_files("#file", {"name": "open.csv", "mimeType": "text/csv", "buffer": GAMES})
    page.get_by_role("button", name="Look at it").click()
    assert "Nothing is recorded yet" in page.inner_text("main")
    page.get_by_role("button", name="Record 2 games").click()
    page.get_by_role("heading", name="Recorded: open.csv").wait_for()
    page.get_by_role("link", name="Publish").click()
    page.fill("#at", "2026-03-31")
    page.get_by_role("button", name="Look at it").click()
    assert "4 players would be on standard@2026-03-31" in page.inner_text("main")
    if page.locator("#despite").count():
        page.check("#despite")
    page.get_by_role("button", name="Publish").click()
    assert "Published." in page.inner_text("main")
    page.get_by_role("link", name="standard@2026-03-31").first.click()
    assert "Zoe Falk" in page.inner_text("main")


@pytest.mark.parametrize("look", [("light", 1280), ("dark", 390)], ids=str)
def test_faulty_rows_are_downloaded_or_corrected_where_they_are_shown(
    at_desk: Callable[..., Page], look: tuple[str, int]
) -> None:
    scheme, width = look
    page = at_desk("otto", color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    day = f"2026-04-{width % 28 + 1:02}"  # after the published list, which four eyes keep as it is
    rows = f"white,black,result,date,event\nAnn,Bob,1-0,{day},Cup\nBob,Cleo Day,2-0,{day},Cup\n"
    page.goto("/desk/import")
    page.set_input_files("#file", {"name": f"cup{width}.csv", "mimeType": "text/csv", "buffer": rows.encode()})
    page.get_by_role("button", name="Look at it").click()
    page.get_by_role("button", name="Record 1 game").click()
    page.get_by_role("heading", name=f"Recorded: cup{width}.csv").wait_for()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the faults").click()
    assert "Bob,Cleo Day,2-0" in download.value.path().read_text("utf-8")
    page.goto("/desk")
    page.get_by_role("link", name=f"cup{width}.csv").click()
    field = page.get_by_label("The rows with faults")
    assert field.input_value() == f"white,black,result,date,event\nBob,Cleo Day,2-0,{day},Cup\n"
    field.fill(field.input_value().replace("2-0", "1-0"))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Record 1 game").click()
    page.get_by_role("heading", name=f"Recorded: cup{width}.csv").wait_for()
    assert page.get_by_label("The rows with faults").count() == 0
    page.goto("/desk")
    assert page.get_by_role("link", name=f"cup{width}.csv").count() == 0


def test_a_correction_by_two_people_changes_the_graph(at_desk: Callable[..., Page]) -> None:
    eve, adam = at_desk("eve"), at_desk("adam")
    eve.goto(f"/games/{GAME}")
    eve.get_by_role("link", name="For officers").click()
    eve.get_by_role("link", name="result", exact=True).click()
    before = adam_sees(adam)
    eve.select_option("#verb-to", "0-1")
    eve.fill("#verb-reason", "the score sheet")
    eve.get_by_role("button", name="Propose").click()
    assert "Proposed. It acts once another person approves it." in eve.inner_text("main")
    adam.goto("/desk/queue")
    adam.locator(".proposal h3 a").first.click()
    adam.get_by_role("link", name="See every change, then approve").click()
    adam.get_by_role("button", name="Approve").click()
    assert "Approved. The ratings follow." in adam.inner_text("main")
    assert adam_sees(adam) != before


def adam_sees(page: Page) -> str:
    """The graph of Ann."""
    page.goto("/players/1")
    return page.locator("svg").first.inner_html()


@pytest.mark.skipif(find_spec("axe_playwright_python") is None, reason="axe-core is not installed")
@pytest.mark.parametrize("look", [("light", 1280), ("dark", 400)], ids=str)
def test_everybody_can_read_and_use_the_desk(at_desk: Callable[..., Page], look: tuple[str, int]) -> None:
    scheme, width = look
    page = at_desk("otto", color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.goto("/desk/propose/void")
    page.fill("#verb-game", GAME)
    page.fill("#verb-reason", "to be looked at")
    page.get_by_role("button", name="Propose").click()
    proposal = urlsplit(page.url).path.removeprefix("/desk/")
    for path in (*PAGES, proposal, f"{proposal}/preview"):
        page.goto(f"/desk/{path}".rstrip("/"))
        assert serious(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
