"""Debian's chromium, which visits the served pages in tests. It asks nobody but the server under test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from tools.serve.application import application
from tools.serve.readers import Reader
from tools.serve.sites import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
NEEDS_CHROMIUM = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason="Debian's chromium is not installed: apt-get install chromium"),
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
    # playwright leaves a loop behind that Python 3.12 and later warn of
    pytest.mark.filterwarnings("ignore::DeprecationWarning:playwright"),
]


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser, for the length of a block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def answering(path: Path, **settings: Any) -> Iterator[str]:
    """The address of a server of a ledger, within this process; *settings* are those of its site."""
    config = uvicorn.Config("", port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    site = f"http://127.0.0.1:{listening.getsockname()[1]}"
    reader = Reader(path, Site(public_url=site, contact="ratings@example.org", **settings))
    config.app = application(reader)
    config.loaded = False
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    while not server.started:
        sleep(0.01)
    try:
        yield site
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
        reader.close()


def serious(page: Any, *rules: str) -> list[tuple[str, str, str]]:
    """What axe-core finds on a page that keeps somebody from reading or using it: rule, impact, element.

    Args:
        page: as it is shown.
        rules: those alone are asked, by the names that axe-core has; none: all of them.
    """
    from importlib.resources import files

    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    asked = {"runOnly": [*rules]} if rules else {}
    violations = page.evaluate("asked => axe.run(asked).then(result => result.violations)", asked)
    shown = [(each["id"], each["impact"], each["nodes"][0]["html"][:120]) for each in violations]
    return [each for each in shown if each[1] in {"serious", "critical"}]
