"""Words of strangers stay words: in pages, in data, in questions to the database, in logs and in our own code."""

import ast
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from ledger.ledger import Ledger
from tests.kit.code import nodes_of, sources
from tests.kit.games import game_recorded
from tests.kit.places import ROOT
from tests.kit.raw_http import said
from tests.kit.served_processes import Get, answers, serving, until
from tools.serve.application import EVERY_ROUTE
from tools.serve.parameters import LONGEST
from tools.serve.rendering import Renderer
from tools.serve.routes import ENTRIES, Route
from tools.serve.sites import Site

SERVE = ROOT / "tools" / "serve"
EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE games; --",
    "=HYPERLINK(1)",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "a\u202egnp.exe",
)
# Three pairs of processes hand each other rows, or calls of our functions, through a pipe of their own.
OWN_PIPES = {
    f"ledger.runtime.{module}"
    for module in ("worker_messages", "query_process", "query_runner", "process_executor", "call_process")
}


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(name="numbers")
def _numbers(served: Path) -> list[int]:
    """Players with evil names, each of whom has played."""
    with Ledger.open(served) as ledger:
        numbers = []
        for place, name in enumerate(EVIL):
            ledger.register(f"name:evil-{place}", name)
            number = ledger.player(f"name:evil-{place}").player
            numbers.append(number)
            ledger.append(game_recorded(f"evil-{place}", white=number, black=1, half_moves=60, tournament=EVIL[0]))
        ledger.ensure_up_to_date()
    return numbers


def test_evil_names_run_nowhere_in_a_page(numbers: list[int], get: Get) -> None:
    pages = ["", "ranking", "tournaments", "upsets", "search?q=script", "search?q=%3Cscript%3E", "nothing%3Cscript%3E"]
    pages += [f"players/{number}" for number in numbers] + ["games/evil-0", "games/evil-1", "tournaments/%3Cscript%3E"]
    for page in pages:
        answer = get(f"http://server/{page}", headers={"Accept": "text/html"})
        assert answer.headers["content-type"] == "text/html; charset=utf-8", page
        for tag, attributes in Tags(answer.text).tags:
            assert not [name for name in attributes if name.startswith("on") or name == "style"], page
            if tag == "script":
                assert str(attributes.get("src")).startswith("/club/static/"), page
            assert tag != "img" or str(attributes["src"]).startswith(("/club/static/", "data:")), page
            for name in ("href", "src", "action"):
                assert not re.match(r"\s*(javascript|vbscript):", attributes.get(name) or "", re.IGNORECASE), page
        assert "\u202e" not in answer.text, page
    shown = get(f"http://server/players/{numbers[0]}", headers={"Accept": "text/html"}).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "{{ 7 * 7 }}" in get(f"http://server/players/{numbers[4]}", headers={"Accept": "text/html"}).text


def test_evil_names_are_words_in_data_pictures_and_tables(numbers: list[int], get: Get) -> None:
    for number, name in zip(numbers, EVIL, strict=True):
        told = get(f"/players/{number}")
        assert told.headers["content-type"] == "application/json"
        assert json.loads(told.text)["name"] in {name, name.replace("\u202e", "\\u202e")}
        picture = get(f"/players/{number}/graph?format=svg")
        assert "<script" not in picture.text
        assert "sandbox" in picture.headers["content-security-policy"]
    rows = get("/ranking?limit=1000&format=csv").text
    assert re.search(r"(^|,)\"?=HYPERLINK", rows, re.MULTILINE) is None
    assert "'=HYPERLINK(1)" in rows


@pytest.mark.parametrize(
    "part",
    ["' OR '1'='1", "ann' --", "ann%' UNION SELECT * FROM people --", "___", "%%%", ".*.", "a.n", "(a+)+$", "\\x61nn"],
)
def test_what_is_asked_is_a_word_to_the_database_and_no_pattern(part: str, get: Get) -> None:
    before = get("/players?q=ann").json()["rows"]
    answer = get("/players", params={"q": part})
    assert answer.status_code in {200, 400, 404}
    rows = [] if answer.status_code != 200 else answer.json()["rows"]
    assert [row for row in rows if row not in before] == [], "letters alone count, as they stand"
    assert get("/players?q=ann").json()["rows"] == before


ODD_WORDS = (
    "9" * 5_000,
    "-1",
    "0",
    "\u0661",
    "\u00b2",
    "\U0001f600" * 300,
    "#" + "9" * 5_000,
    "e\u0301" * 900,
    "%",
    "\ufeff",
)


@pytest.mark.parametrize("route", [*EVERY_ROUTE, ENTRIES], ids=lambda route: route.address)
def test_no_word_in_an_address_breaks_it(route: Route, get: Get) -> None:
    """Whatever stands in the place of a name, a number or a value: the answer is never that the program failed."""
    for word in ODD_WORDS:
        quoted = quote(word, safe="")
        place = re.sub(r"{\w+(:path)?}", lambda _: quoted, route.address)  # noqa: B023
        assert get(f"http://server{place}").status_code < 500, place[:200]
        if len(word) <= LONGEST:  # what is longer is refused before it is looked at
            for parameter in route.every_parameter:
                plain = re.sub(r"{\w+(:path)?}", "1", route.address)
                answer = get(f"http://server{plain}?{parameter.name}={quoted}")
                assert answer.status_code < 500, f"{plain}?{parameter.name}={quoted}"[:200]


@pytest.mark.parametrize(
    "word", [*ODD_WORDS, "x001/067", "000", "999", "x999/x999/999", "067.p/256", "067.p/0", "001.p/1.p/1"]
)
def test_no_word_in_an_address_of_the_log_breaks_it(word: str, get: Get) -> None:
    for place in ("tile/0/{}", "tile/{}/000", "tile/entries/{}", "tile/{}", "checkpoint/{}", "static/{}"):
        for given in (word, quote(word, safe=""), quote(word, safe="/")):
            if given.isascii() and given.isprintable():
                assert get(f"http://server/{place.format(given)}").status_code < 500


@pytest.mark.slow
def test_nothing_secret_and_nothing_of_a_stranger_s_words_is_logged(served: Path) -> None:
    """A token in a header, in an address or in a body, and words that would look like a line of the log."""
    token = "rlt_do-not-keep-me"
    with serving(served, "--listen", "127.0.0.1:0") as (process, address):
        until(lambda: answers(address))
        port = int(address.rpartition(":")[2])
        httpx.get(f"{address}/api/v1/pools", headers={"Authorization": f"Bearer {token}", "Cookie": f"s={token}"})
        httpx.get(f"{address}/api/v1/pools?token={token}")
        httpx.get(f"{address}/{token}%0aerror:%20made%20up")
        httpx.post(f"{address}/api/v1/games", json={"token": token}, headers={"Authorization": f"Bearer {token}"})
        said(port, f"GET /{token} HTTP/9.9\r\nBad Header {token}\r\n\r\n".encode())
        said(port, f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {token}\r\n\r\n".encode())
        process.terminate()
        _, log = process.communicate(timeout=60)
    assert token not in log
    assert "made up" not in log


# It writes out functions over the fields of classes: their names are Python's own, and nothing else is put into them.
WRITES_FUNCTIONS = "ledger.runtime.records"


def test_no_word_is_run_as_code_and_no_object_is_made_of_foreign_bytes() -> None:
    banned_calls = {"eval", "exec", "compile"}
    banned_modules = {"pickle", "shelve", "marshal", "yaml", "dill", "jsonpickle"}
    for module, path in sources("ledger", "tools").items():
        if module.startswith(("tools.bench", "tools.building")):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                assert module in OWN_PIPES or not {each.name for each in node.names} & banned_modules, module
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                assert name not in banned_calls or module == WRITES_FUNCTIONS, f"{module}: {name}"
                assert attribute not in {"system", "popen"}, f"{module}: {attribute}"
                assert not [each for each in node.keywords if each.arg == "shell"], module


def test_templates_escape_everything_and_pages_keep_nothing_in_a_browser() -> None:
    environment = Renderer(Site())._environment
    assert environment.autoescape is True
    for path in (*(SERVE / "templates").rglob("*.html"), *(SERVE / "templates").rglob("*.xml")):
        text = path.read_text("utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|<script(?![^>]*\ssrc=)|\son[a-z]+\s*=|\sstyle=", text), path
    for path in (SERVE / "static").glob("*.js"):
        text = path.read_text("utf-8")
        for word in (
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "localStorage",
            "sessionStorage", "indexedDB", "postMessage", "document.cookie", "onmessage", "__proto__",
        ):  # fmt: skip
            assert word not in text, path


def test_no_page_loads_anything_from_elsewhere() -> None:
    for path in (*(SERVE / "templates").rglob("*.html"), *(SERVE / "static").glob("*")):
        text = path.read_text("utf-8")
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//[^\"]*\"[^>]*(?:rel=\"stylesheet|></script)", text), path
        assert not re.search(r"@import|url\(\s*[\"']?(?:https?:)?//", text), path
        assert not re.search(r"\b(?:fetch|XMLHttpRequest|import)\(\s*[\"'`]https?:", text), path


def test_what_is_installed_has_no_tests_no_attacks_and_no_version_control() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "tools/serve"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    suffixes = {Path(name).suffix for name in listed}
    assert suffixes <= {".py", ".md", ".html", ".xml", ".css", ".js", ".svg", ".toml", ".json", ""}
