"""Pages in a browser: Debian's chromium over a server that answers as it does in the world. No other site is asked."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import pytest

from ledger.ledger import Ledger
from tests.kit.browsers import NEEDS_CHROMIUM, answering, serious
from tests.kit.games import game_recorded

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.outside, *NEEDS_CHROMIUM]
Visit = Callable[..., "Page"]


@pytest.fixture(name="origin", scope="module")
def _origin(crowded_base: Path) -> Iterator[str]:
    with answering(crowded_base / "club.db") as site:
        yield site


@pytest.fixture(name="visit")
def _visit(chromium: Browser, origin: str) -> Iterator[Visit]:
    """Opens a page of the site; whatever it asked of others, or complained of, fails the test."""
    contexts: list[BrowserContext] = []
    foreign: list[str] = []
    complaints: list[str] = []

    def is_foreign(address: str) -> bool:
        return not address.startswith(f"{origin}/")

    def visit(address: str, **settings: Any) -> Page:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: foreign.extend({request.url} if is_foreign(request.url) else ()))
        page.on("console", lambda message: complaints.extend({message.text} if message.type == "error" else ()))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{origin}{address}")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert foreign == []
    assert complaints == []


@pytest.fixture(name="addressed", scope="module")
def _addressed(crowded_base: Path) -> dict[str, Any]:
    with Ledger.open(crowded_base / "club.db", follow=False) as ledger:
        (plain,) = [row["key"] for row in ledger.rows("games", "position = 20")]
        (voided,) = [row["key"] for row in ledger.rows("games", "voided_by IS NOT NULL")]
        return {
            "ann": ledger.player("ann").player,
            "evil": ledger.player("evil:0").player,
            "plain": plain,
            "voided": voided,
        }


def until(done: Callable[[], bool]) -> None:
    """Ask again and again until it is so."""
    for _ in range(400):
        if done():
            return
        sleep(0.025)
    raise AssertionError


def panel(page: Page) -> str:
    return page.inner_text("#panel")


def test_the_panel_follows_pointer_and_keyboard_and_shows_the_board(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}")
    bars = page.locator("#graph .rg a")
    assert bars.count() == 50
    newest = bars.nth(0).get_attribute("aria-label") or ""
    assert newest.split(",")[0] in panel(page)
    bars.nth(30).hover()
    pointed = panel(page)
    assert (bars.nth(30).get_attribute("aria-label") or "").split(",")[0] in pointed
    # One bar is reached by the tabulator, from which the arrows lead on.
    assert page.locator('#graph .rg a[tabindex="0"]').count() == 1
    bars.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == bars.nth(2).get_attribute("aria-label")
    assert (bars.nth(2).get_attribute("aria-label") or "").split(",")[0] in panel(page)
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == bars.nth(49).get_attribute(
        "aria-label"
    )
    board = page.locator("#panel img")
    until(lambda: bool(board.evaluate("image => image.naturalWidth > 0")))
    where = bars.nth(49).get_attribute("href") or ""
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{where}")
    assert "What the journal says about it" in page.inner_text("main")


def test_on_their_days_the_bars_are_reached_from_left_to_right(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}?by=date&opponents=yes")
    page.locator('#graph .rg a[tabindex="0"]').focus()
    places = []
    for _ in range(12):
        places.append(page.evaluate("document.activeElement.getBoundingClientRect().left"))
        page.keyboard.press("ArrowRight")
    assert places == sorted(places)
    assert places[0] < places[-1]


def test_on_their_days_the_mouse_reaches_every_game_of_one_day(chromium: Browser, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "day.db", scheme="elo") as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        for n in range(9):
            facts = {"ended_at": "2024-05-01", "half_moves": 60, "sequence": n + 1}
            ledger.append(game_recorded(f"{n}", white=ann, black=bob, **facts))
        ledger.append(game_recorded("next", white=ann, black=bob, ended_at="2024-06-01", half_moves=60))
        ledger.ensure_up_to_date()
    with answering(tmp_path / "day.db") as site:
        page = chromium.new_page()
        page.goto(f"{site}/players/1?by=date")
        met = set()
        for place in range(10):
            hit = page.locator("#graph .rg a .hit").nth(place).bounding_box()
            assert hit is not None
            page.mouse.move(hit["x"] + hit["width"] / 2, hit["y"] + hit["height"] / 2)
            met.add(page.inner_text("#panel h2"))
        page.close()
    assert len(met) == 10


def drag(page: Page, svg: str, begin: float, end: float) -> None:
    """Drag the mouse over a drawing, between two shares of its width."""
    box = page.locator(svg).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * begin, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * (begin + end) / 2, y, steps=4)
    page.mouse.move(box["x"] + box["width"] * end, y, steps=4)
    page.mouse.up()


def days_of(page: Page) -> tuple[str, str]:
    """The range in the address of a page."""
    since, until = re.findall(r"(?:since|until)=([\d-]+)", page.url)
    return since, until


def test_a_range_of_the_career_is_chosen_by_the_mouse(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}?by=career")
    drag(page, "#graph svg:not(.narrow)", 0.6, 0.4)
    page.wait_for_url("**by=career&since=**")
    since, until = days_of(page)
    assert "2004-10-12" < since < until < "2006-10-01"
    assert f"{since} to {until}" in page.inner_text("main")
    page.click("text=its games")
    page.wait_for_url(f"**?since={since}&until={until}")
    assert 0 < page.locator("#graph .rg a").count() < 50
    drag(page, ".strip svg:not(.narrow)", 0.3, 0.4)
    page.wait_for_url(lambda address: "since=" in address and f"since={since}" not in address)
    assert page.locator("#graph .rg a").count() > 0
    page.locator(".strip svg:not(.narrow) a").last.click(force=True)
    page.wait_for_url("**page=1")


def test_a_range_of_the_career_is_chosen_by_a_finger(visit: Visit, addressed: dict[str, Any]) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = visit(f"/players/{addressed['ann']}?by=career", **phone)
    box = page.locator("#graph svg.narrow").bounding_box()
    assert box is not None
    assert box["width"] <= 390
    touches = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    y = box["y"] + 100
    touch("touchStart", (box["x"] + 120, y))
    for step in range(1, 11):
        touch("touchMove", (box["x"] + 120 + 10 * step, y + step))
    touch("touchEnd")
    page.wait_for_url("**by=career&since=**")
    since, until = days_of(page)
    assert since < until


def test_a_range_of_the_career_is_chosen_by_keys(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}?by=career")
    assert page.locator('#graph svg:not(.narrow) a[tabindex="0"]').count() == 1, "the arrows lead to the others"
    page.locator('#graph svg:not(.narrow) a[tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    assert page.locator('#graph svg:not(.narrow) a[tabindex="0"]').count() == 1
    begin, end = (page.locator("#graph svg:not(.narrow) [role=slider]").nth(side) for side in (0, 1))
    first, last = begin.get_attribute("aria-valuetext"), end.get_attribute("aria-valuetext")
    begin.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    chosen = begin.get_attribute("aria-valuetext") or ""
    assert (first or "") < chosen < (last or "")
    assert f"{chosen} to {last}" in page.inner_text(".range-words")
    page.keyboard.press("Escape")
    assert begin.get_attribute("aria-valuetext") == first
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_url("**by=career&since=**")
    assert days_of(page)[1] < (last or "")


def test_years_of_the_career_are_links_without_script(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}?by=career", java_script_enabled=False)
    page.click(".years >> text=2005")
    page.wait_for_url("**since=2005&until=2005")
    assert (page.get_attribute(".years [aria-current]", "href") or "").endswith("until=2005")
    page.fill("#since", "2006", force=True)
    page.click(".years >> text=All")
    page.wait_for_url("**by=career")


def test_then_moves_the_graph_to_that_day(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}?at=2006-01-31")
    newest = page.locator("#graph .rg a").first.get_attribute("aria-label") or ""
    day = re.findall(r"\d{4}-\d\d-\d\d", newest)[0]
    assert "2005-01" < day <= "2006-01-31"
    assert page.locator("#graph .fill-now").count() == 0


def test_a_first_tap_shows_a_game_and_a_second_one_opens_it(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    top = page.locator("#graph .rg").bounding_box()
    assert top is not None
    assert top["y"] + 200 < 844, "the graph is on the first screen"
    bar = page.locator("#graph .rg a").nth(7)
    name = (bar.get_attribute("aria-label") or "").split(",")[0]
    assert name not in panel(page)
    bar.locator("rect").first.tap(force=True)
    until(lambda: name in panel(page))
    assert "/games/" not in page.url
    bar.locator("rect").first.tap(force=True)
    page.wait_for_url("**/games/**")


def test_the_panel_offers_what_one_does_with_a_game(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}", permissions=["clipboard-read", "clipboard-write"])
    for words in ("View", "Open", "Share", "PGN"):
        assert words in page.inner_text("#panel .actions")
    page.get_by_role("button", name="PGN").click()
    until(lambda: "PGN copied" in panel(page))
    assert "[White " in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Share").click()
    until(lambda: "Link copied" in panel(page))
    assert "/games/" in page.evaluate("navigator.clipboard.readText()")


def test_the_controls_of_the_graph_choose_its_modes(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/players/{addressed['ann']}")
    page.get_by_role("link", name="Days", exact=True).click()
    page.wait_for_url("**by=date**")
    page.get_by_text("Options").click()
    page.check("text=opponents")
    page.wait_for_url("**opponents=yes**")  # at once
    assert page.locator("#graph .rg .spot").count() > 40
    page.get_by_text("Options").click()
    page.check("text=black and white")
    page.wait_for_url("**mono=yes**")
    assert page.locator("figure.mono").count() == 1
    page.get_by_text("Options").click()
    page.fill("#at", "2006-01")
    page.press("#at", "Enter")
    page.wait_for_url("**at=2006-01**")
    assert "2006-01" in page.inner_text(".figures")
    page.fill("#against", "bob")
    page.press("#against", "Enter")
    page.wait_for_url("**against=bob**")
    assert page.locator("#graph .rg .line").count() == 2  # the line, and the one of the legend


def test_pages_of_the_graph_and_its_career_lead_to_older_and_newer_games(
    visit: Visit, addressed: dict[str, Any]
) -> None:
    page = visit(f"/players/{addressed['ann']}?page=1&opponents=yes")
    newest = page.locator("#graph .rg a").nth(0).get_attribute("aria-label")
    page.click("text=Older ›")
    page.wait_for_url("**page=2**")
    assert "opponents=yes" in page.url
    assert page.locator("#graph .rg a").count() == 50
    page.click("text=‹ Newer")
    page.wait_for_url("**page=1**")
    assert page.locator("#graph .rg a").nth(0).get_attribute("aria-label") == newest
    page.locator(".strip a").first.click(force=True)
    page.wait_for_url("**page=3**")
    page.click("main >> text=/All .* games/")
    page.wait_for_url("**/games*")
    assert page.locator("main table tbody tr").count() == 100


def test_a_game_is_replayed_by_buttons_moves_and_keys(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/games/{addressed['plain']}")

    def shown() -> int:
        return int(page.locator(".replay").get_attribute("data-move") or -1)

    last = shown()
    page.get_by_role("link", name="First position").click()
    assert shown() == 0
    page.get_by_role("link", name="Forward").click()
    assert (shown(), page.locator(".moves [aria-current]").inner_text()) == (1, "c4")
    page.locator(".moves a").nth(3).click()
    assert shown() == 4
    page.keyboard.press("ArrowLeft")
    assert shown() == 3
    page.keyboard.press("End")
    assert shown() == last
    board = page.locator(".replay img")
    until(lambda: bool(board.evaluate("image => image.naturalWidth > 0")))
    assert "Position after" in (board.get_attribute("alt") or "")


def test_all_can_be_read_and_reached_without_script(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit("/", java_script_enabled=False)
    page.fill("#find", "emm")
    page.press("#find", "Enter")
    page.click("main a:has-text('emma')")
    page.wait_for_url("**/players/**")
    assert page.inner_text("h1") == "emma"
    assert page.locator("#graph .rg a").count() == 50
    assert not page.locator("#panel").is_visible()
    page.locator("#graph .rg a").nth(5).click(force=True)
    page.wait_for_url("**/games/**")
    assert "UTC" in page.inner_text("main time >> nth=0")


def test_times_are_told_in_utc_and_by_the_clock_of_the_reader(visit: Visit, addressed: dict[str, Any]) -> None:
    page = visit(f"/games/{addressed['plain']}", timezone_id="Europe/Prague", locale="en-GB")
    assert page.inner_text("main time >> nth=0") == "2004-10-03 12:08 UTC (3 Oct 2004, 14:08 here)"
    page = visit(f"/games/{addressed['plain']}", timezone_id="UTC")
    assert page.inner_text("main time >> nth=0") == "2004-10-03 12:08 UTC"


class OtherSite(BaseHTTPRequestHandler):
    """A page of somebody else, which frames what its address names."""

    def do_GET(self) -> None:
        frames = "".join(f'<iframe src="{unquote(each)}"></iframe>' for each in self.path.removeprefix("/?").split("&"))
        body = f"<!doctype html><title>other</title>{frames}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_page_of_another_site_may_frame_the_graph_and_nothing_else(
    chromium: Browser, origin: str, addressed: dict[str, Any]
) -> None:
    addresses = [f"{origin}{before}/players/{addressed['ann']}" for before in ("/embed", "")]
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherSite) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        page = chromium.new_page()
        page.goto(f"http://localhost:{other.server_port}/?{'&'.join(map(quote, addresses))}")
        embedded, whole = (page.frame_locator(f"iframe >> nth={place}") for place in (0, 1))
        until(lambda: embedded.locator("main .rg a").count() >= 50)
        fill = embedded.locator(".rg .fill-win >> nth=0").evaluate("bar => getComputedStyle(bar).fill")
        assert fill == "rgb(0, 114, 178)"
        assert whole.locator(".rg, header.site").count() == 0  # the browser shows a page of its own instead
        assert [frame.url for frame in page.frames if frame.url.startswith("chrome-error:")] != []
        page.close()
        other.shutdown()
        thread.join()


def test_evil_names_run_nothing(visit: Visit, addressed: dict[str, Any]) -> None:
    for address in (f"/players/{addressed['evil']}", "/ranking", "/tournaments", f"/players/{addressed['ann']}"):
        page = visit(address)
        page.on("dialog", lambda _: pytest.fail("a script of a name has run"))
        page.wait_for_timeout(100)
        assert page.locator("main script, main img[src='x']").count() == 0


@pytest.mark.parametrize("part", range(4))
def test_every_page_is_as_wide_as_its_window_follows_the_readers_light_and_bars_nobody(
    visit: Visit, addressed: dict[str, Any], part: int
) -> None:
    ann = addressed["ann"]
    addresses = [
        "/", "/search?q=ann", "/ranking", f"/players/{ann}", f"/players/{ann}?by=career",
        f"/players/{ann}?by=career&pools=every&since=2005",
        f"/players/{ann}/lists/2006-06", "/ranking?provisional=yes", f"/players/{ann}?by=date&mono=yes&opponents=yes",
        f"/players/{addressed['evil']}", f"/players/{ann}?against=bob", f"/players/{ann}/games",
        f"/players/{ann}/statistics", f"/players/{ann}/changes?since=2006-01",
        f"/players/{ann}/prediction?opponent=bob", f"/embed/players/{ann}", f"/games/{addressed['plain']}",
        f"/games/{addressed['voided']}", "/tournaments", "/tournaments/Club%20evening",
        f"/tournaments/Club%20evening?player={ann}", "/upsets", "/lists", "/lists/standard@2006-06-30",
        "/lists/standard@2006-10-31/changes", "/corrections", "/corrections/1", "/schemes", "/check", "/api",
    ]  # fmt: skip
    for address in addresses[part::4]:
        page = visit(address, color_scheme="light", bypass_csp=True)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            lightness = sum(map(int, re.findall(r"\d+", ground)[:3])) / 3
            assert (lightness > 200) == (scheme == "light"), address
            for width in (360, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (address, scheme)
            if find_spec("axe_playwright_python") is not None:
                page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
                # nothing but colours is another in the dark
                assert serious(page, *(["color-contrast"] if scheme == "dark" else [])) == [], address
