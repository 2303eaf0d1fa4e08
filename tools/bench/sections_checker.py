"""The section of the checker: a browser loads it once and checks lists of few and of many games.

It needs Debian's chromium, playwright, and npm, which fetches Pyodide; without one of them there are no lines.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from ledger.audit.bundles import bundle_lines
from ledger.errors import StorageError
from ledger.runtime.lazy import Lazy

from ..checker import building
from ..checker.content_policy import INDEX
from .datasets import GameSet, Run
from .measuring import installed
from .table import Line, line

_sync_api: Any = Lazy("playwright.sync_api")
CHROMIUM = Path("/usr/bin/chromium")
FEW, MANY = 900, 19_500  # games; with their players and the list 20,000 entries
WANTED = {FEW: 5.0, MANY: 60.0}  # seconds
LOADED = 10e6  # bytes
DAY = "2025-12-31"


def checker(run: Run) -> Iterator[Line]:
    """Check lists in a browser; time and bytes are compared with what was wanted."""
    if not (CHROMIUM.exists() and installed("playwright") and shutil.which("npm")):
        return
    folder = run.new_folder("checker")
    try:
        files = building.folder_files(building.checker_files(building.fetch_pyodide(run.new_folder("pyodide"))))
    except StorageError:
        return
    building.write_files(folder, files)
    sets = {games: wanted for games, wanted in WANTED.items() if games <= max(FEW, run.size.games[-1])}
    for games in sets:
        (folder / f"{games}.bundle").write_bytes(_bundle(run.made_up(games)))
    with _served(folder) as address, _page(f"{address}/{INDEX}") as page:
        _seconds(page, folder / f"{FEW}.bundle")  # it loads Python
        for games, wanted in sets.items():
            seconds = [_seconds(page, folder / f"{games}.bundle") for _ in range(run.short)]
            yield line("checked-few" if games == FEW else "checked-many", f"{games:,} games", seconds, wanted)
    yield line("checker-loaded", "page", sum(map(len, files.values())) / 1e6, LOADED / 1e6)


def _bundle(data: GameSet) -> bytes:
    """Return the bundle of a list of a set of games."""
    with data.open() as ledger:
        if not ledger.checkpoints.key_file.exists():
            ledger.checkpoints.new_key("bench.example/games")
        published = ledger.publications.publish(DAY, despite_complaints=True).publication
        ledger.checkpoints.make()
        verifier = ledger.checkpoints.key().verifier
        return b"".join(bundle_lines(ledger, published, verifier))


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine for the length of a block."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _page(address: str) -> Iterator[Any]:
    """Open a page in a browser for the length of a block."""
    with _sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        yield page
        browser.close()


def _seconds(page: Any, bundle: Path) -> float:
    """Return the seconds from choosing a bundle to its verdict, which must be true."""
    page.evaluate("document.getElementById('verdict').hidden = true")
    begun = time.perf_counter()
    page.set_input_files("#file", bundle)
    page.wait_for_selector("#verdict:not([hidden])", timeout=300_000)
    seconds = time.perf_counter() - begun
    if not (said := page.inner_text("#verdict")).startswith("True"):
        raise AssertionError(f"the page says of {bundle.name}: {said[:200]}")
    return seconds
