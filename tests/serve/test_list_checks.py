"""The check of a published list on the served site: where it is offered, its bundle, and the page in a browser."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger.audit.bundle_check import check_bundle
from ledger.audit.bundles import bundle_lines
from ledger.journal.signing_keys import read_key
from ledger.ledger import Ledger
from tests.kit.browsers import NEEDS_CHROMIUM, answering, serious
from tests.kit.pyodide import FOLDER, NEEDS_PYODIDE
from tests.kit.served_processes import SITE, getting
from tools.checker import building
from tools.serve import list_checks
from tools.serve.readers import Reader
from tools.serve.sites import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIST = "standard@2006-06-30"
OFFER = "/check/program/index.html"
Open = Callable[..., "Page"]


@pytest.fixture(name="signed", scope="module")
def _signed(busy_base: Path) -> Path:
    """A club with a list that its last checkpoint contains."""
    return busy_base / "club.db"


@pytest.fixture(name="verifier", scope="module")
def _verifier(signed: Path) -> str:
    return read_key(signed.with_name("club.key")).verifier


@pytest.fixture(name="program", scope="module")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that passes for a checker."""
    folder = tmp_path_factory.mktemp("program")
    building.write_files(folder, {"index.html": b"<!doctype html>", "checker.js": b"", "pyodide.mjs.gz": b"packed"})
    return folder


@pytest.fixture(name="look")
def _look(signed: Path, verifier: str, program: Path) -> Iterator[Callable[..., Any]]:
    """Asks a site of some settings for an address."""
    readers: list[Reader] = []

    def look(address: str, headers: dict[str, str] | None = None, **settings: Any) -> Any:
        offered = {"log": "entries", "verifier": verifier, "checker": str(program), **settings}
        readers.append(Reader(signed, Site(public_url=SITE, **offered), threads=2))
        return getting(readers[-1])(f"http://server{address}", headers={"Accept": "text/html", **(headers or {})})

    yield look
    for reader in readers:
        reader.close()


def test_pages_lead_to_the_check_of_their_list(look: Callable[..., Any]) -> None:
    for address in ("/check", f"/lists/{LIST}", "/players/1/lists/2006-06-30"):
        text = look(address).text
        assert f"{OFFER}?bundle=%2Fclub%2Fcheck%2Flists%2Fstandard%402006-06-30&amp;list=June+2006" in text, address


@pytest.mark.parametrize("settings", [{"log": "hashes"}, {"checker": None}, {"verifier": None}])
def test_no_check_is_offered_where_it_could_not_be_made(look: Callable[..., Any], settings: dict[str, Any]) -> None:
    assert OFFER not in look("/check", **settings).text
    assert look(OFFER, **settings).status_code == 404
    assert look(f"/check/lists/{LIST}", **settings).status_code == 404


def test_the_bundle_is_the_one_that_the_command_exports(look: Callable[..., Any]) -> None:
    answer = look(f"/check/lists/{LIST}")
    assert answer.headers["content-encoding"] == "gzip"
    assert check_bundle(BytesIO(answer.content)).ok  # the client has unpacked it
    again = look(f"/check/lists/{LIST}", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_a_list_that_is_unknown_or_too_long_has_no_bundle(
    look: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert look("/check/lists/standard@1999").status_code == 404
    monkeypatch.setattr(list_checks, "MOST_ENTRIES", 10)
    answer = look(f"/check/lists/{LIST}")
    assert (answer.status_code, "are too many for a browser" in answer.text) == (404, True)


def test_the_program_runs_under_a_policy_that_lets_nothing_out(look: Callable[..., Any]) -> None:
    answer = look(OFFER)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "worker-src blob:" in policy
    assert look("/check/program/pyodide.mjs.gz").content == b"packed"
    assert look("/check/program/other").status_code == 404


# -- in a browser ----------------------------------------------------------------------------------------------------


IN_BROWSER = [pytest.mark.outside, *NEEDS_CHROMIUM, NEEDS_PYODIDE]


def in_browser(test: Any) -> Any:
    for mark in IN_BROWSER:
        test = mark(test)
    return test


@pytest.fixture(name="parts", scope="module")
def _parts() -> dict[str, bytes]:
    return building.checker_files(FOLDER)


@pytest.fixture(name="checking", scope="module")
def _origin(
    signed: Path, verifier: str, parts: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("checker")
    building.write_files(folder, building.folder_files(parts))
    with answering(signed, log="entries", verifier=verifier, checker=str(folder)) as site:
        yield site


@pytest.fixture(name="show")
def _show(chromium: Browser) -> Iterator[Open]:
    """Opens a page; a complaint of the browser, and a request that leaves the machine, fail the test."""
    contexts, asked, complaints = [], list[str](), list[str]()

    def show(address: str, **settings: Any) -> Page:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.extend({message.text} if message.type == "error" else ()))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield show
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "file:", "blob:", "data:"))] == []


def verdict_of(page: Page) -> str:
    page.wait_for_selector("#verdict:not([hidden])", timeout=60_000)
    return page.inner_text("#verdict")


def open_file(page: Page, path: Path) -> str:
    page.evaluate("document.getElementById('verdict').hidden = true")
    page.set_input_files("#file", path)
    return verdict_of(page)


@pytest.fixture(name="june", scope="module")
def _bundle(signed: Path, verifier: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "june.bundle"
    with Ledger.open(signed) as ledger:
        path.write_bytes(b"".join(bundle_lines(ledger, ledger.publications.named(LIST), verifier)))
    return path


@in_browser
def test_one_button_checks_the_list(show: Open, checking: str) -> None:
    page = show(f"{checking}/check")
    page.click("text=Check the list of June 2006")
    said = verdict_of(page)
    assert said.startswith(f"True: all 16 ratings of {LIST}/1 follow from what was recorded")
    assert page.evaluate("document.activeElement.id") == "verdict"
    page.click("#verdict a >> nth=0")
    assert "/players/" in page.url


@in_browser
def test_a_changed_bundle_is_false_and_a_true_one_is_true_afterwards(
    show: Open, checking: str, june: Path, tmp_path: Path
) -> None:
    page = show(f"{checking}{OFFER}", has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    content = june.read_bytes()
    spoilt = tmp_path / "spoilt.bundle"
    place = content.index(b'"outcome":"white"')
    entry = content[:place].count(b"\n")
    spoilt.write_bytes(content.replace(b'"outcome":"white"', b'"outcome":"black"', 1))
    assert open_file(page, spoilt).startswith(f"False: entry {entry}\n")
    spoilt.write_bytes(content.replace(b"\n[1,", b"\n[1, ", 1))
    assert open_file(page, spoilt).startswith("False: the file, line ")
    assert open_file(page, june).startswith("True: ")


@in_browser
def test_a_key_and_a_kept_head_are_compared(show: Open, checking: str, june: Path, verifier: str) -> None:
    page = show(f"{checking}{OFFER}")
    page.click("summary")
    page.fill("#key", "no key")
    page.set_input_files("#file", june)
    page.wait_for_selector("#key-fault:not(:empty)", timeout=60_000)
    assert "expected NAME+ID+KEY" in page.inner_text("#key-fault")
    page.fill("#key", verifier)
    page.fill("#head", f"3 {'0' * 64}")
    assert open_file(page, june).startswith("False: ")
    page.fill("#head", "")
    assert open_file(page, june).startswith("True: ")


@in_browser
def test_what_is_opened_cannot_leave_the_page(chromium: Browser, checking: str) -> None:
    page = chromium.new_page()
    page.goto(f"{checking}{OFFER}?bundle=https://elsewhere.example/june.bundle")
    assert page.is_hidden("#offer")
    tried = """new Promise(done => {
        document.addEventListener("securitypolicyviolation", event => done(event.violatedDirective));
        fetch("https://elsewhere.example/").then(() => done("sent"), () => {});
    })"""
    assert page.evaluate(tried) == "connect-src"
    page.close()


@in_browser
def test_the_single_file_checks_a_dropped_bundle_from_the_disk(
    show: Open, parts: dict[str, bytes], june: Path, tmp_path: Path
) -> None:
    page_file = tmp_path / "check.html"
    page_file.write_bytes(building.single_file(parts))
    page = show(page_file.as_uri())
    dropped = """bytes => {
        const files = new DataTransfer();
        files.items.add(new File([Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0))], "june.bundle"));
        document.dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
    }"""
    page.evaluate(dropped, b64encode(june.read_bytes()).decode())
    assert verdict_of(page).startswith("True: all 16 ratings")


@in_browser
def test_the_page_bars_nobody(show: Open, checking: str, june: Path) -> None:
    for scheme, width in (("light", 390), ("dark", 1280)):
        page = show(
            f"{checking}{OFFER}", color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 844}
        )
        if find_spec("axe_playwright_python") is not None:
            assert serious(page) == []
        open_file(page, june)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if find_spec("axe_playwright_python") is not None:
            assert serious(page) == []
