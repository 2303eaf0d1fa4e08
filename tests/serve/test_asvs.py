"""The requirements of the ASVS: every line of levels 1 and 2, tests that are there, and what no other file asks."""

import ast
import asyncio
import re
import stat
from collections import Counter
from functools import cache
from pathlib import Path

import httpx
import pytest

from ledger.auth import token_store, tokens
from ledger.facts.events import Role
from ledger.journal import signing_keys
from ledger.players import persons, reasons
from tests.kit.code import nodes_of, sources, tree_of
from tests.kit.places import ROOT
from tests.kit.served_processes import Get, serving, until
from tools.docs import tables
from tools.serve import application as serve_application
from tools.serve import limits, safety
from tools.serve.application import application
from tools.serve.readers import Reader
from tools.serve.routes import ROUTES, Cost

LINES = tables.asvs_lines()
SERVED = (ROOT / "tools" / "serve" / "README.md").read_text("utf-8").partition("\n## What the server protects\n")[2]
# How many lines of levels 1 and 2 each chapter of version 5.0.0 has.
CHAPTERS = {
    1: 27, 2: 11, 3: 19, 4: 10, 5: 9, 6: 35, 7: 18, 8: 7, 9: 7, 10: 29,
    11: 14, 12: 9, 13: 13, 14: 9, 15: 13, 16: 16, 17: 7,
}  # fmt: skip
SAYS = {"tests", "absent", "owner", "not_held", "open"}


def test_every_line_of_levels_1_and_2_is_there_once_and_says_one_thing() -> None:
    assert Counter(line["level"] for line in LINES.values()) == {1: 70, 2: 183}
    assert Counter(int(number.split(".")[0]) for number in LINES) == CHAPTERS
    for number, line in LINES.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", number)
        assert len(SAYS & line.keys()) == 1, number
        assert line.keys() <= SAYS | {"level", "what", "by"}, number
        assert all(line[word] for word in ("what", *(SAYS & line.keys()))), number


def test_what_is_left_open_is_counted() -> None:
    """The number goes down; who makes it larger says so here."""
    left = [number for number, line in LINES.items() if "open" in line]
    assert left == []


@cache
def named_tests(file: str) -> frozenset[str]:
    """The tests of a file that run: none that is skipped whatever happens."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    skipped = {"pytest.mark.skip", "pytest.mark.xfail"}
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not [each for each in node.decorator_list if ast.unparse(each).split("(")[0] in skipped]
    )


def test_every_test_that_is_named_is_there() -> None:
    lost = []
    for number, line in LINES.items():
        for test in line.get("tests", ()):
            file, _, name = test.partition("::")
            tests = named_tests(file) if (ROOT / file).is_file() else frozenset()
            if name not in tests and not (name == "*" and tests):
                lost.append((number, test))
    assert lost == []


def test_the_security_of_the_server_is_told_in_its_own_words() -> None:
    told = dict(re.findall(r"^### (.*)\n((?:(?!^### ).*\n)*)", SERVED, re.MULTILINE))
    for title in ("Who may do what", "Sessions", "What strangers see", "What is personal or secret", "Cryptography",
                  "Whom the server speaks to", "What is logged", "What is not protected"):  # fmt: skip
        assert len(told[title].split()) > 15, title
    assert all(f"`{role.value}`" in told["Who may do what"] for role in Role)
    for word in ("officers", "reasons", "years of birth"):
        assert word in told["What strangers see"]
        assert word.removesuffix(" of birth") in told["What is personal or secret"].lower()


def test_every_limit_of_the_server_stands_on_the_page_of_its_addresses() -> None:
    assert tables.limits_of_the_server() in tables.http()
    tree = tree_of(ROOT / "tools" / "docs" / "tables.py")
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {name for name in vars(limits) if name.isupper()} <= named


def test_cryptography_is_that_of_known_libraries() -> None:
    for module, path in sources("ledger", "tools").items():
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module == "hashlib":
                assert {each.name for each in node.names} <= {"sha256", "file_digest"}, module
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "hashlib":
                assert node.attr in {"sha256"}, module
            if isinstance(node, ast.Import):
                own = {"Crypto", "nacl", "rsa"} | (set() if module == "tools.serve.witnesses" else {"ssl"})
                assert not {each.name.partition(".")[0] for each in node.names} & own, module


def test_what_must_not_be_guessed_is_drawn_by_the_system() -> None:
    sizes = (tokens.SECRET_BYTES, tokens.SALT_BYTES, token_store.KEY_BYTES, signing_keys.SEED_BYTES,
             reasons.SALT_BYTES, persons.SECRET_BYTES)  # fmt: skip
    assert min(sizes) * 8 >= 128
    for module, path in sources("ledger", "tools").items():
        if module.startswith(("ledger.journal", "ledger.players", "ledger.policies", "tools.serve", "tools.commands")):
            names = {each.name for node in nodes_of(path) if isinstance(node, ast.Import) for each in node.names}
            assert not names & {"random", "uuid", "numpy.random"}, module


def test_the_server_calls_nobody_but_the_witness() -> None:
    clients = {"urllib.request", "http.client", "httpx", "requests", "aiohttp", "ftplib", "smtplib", "telnetlib"}
    calling = set()
    for module, path in sources("ledger", "tools").items():
        if module.startswith(("tools.bench", "tools.cluster")):  # of a checkout alone; no server has them
            continue
        for node in nodes_of(path):
            names = {each.name for each in node.names} if isinstance(node, ast.Import) else set()
            names |= {str(node.module)} if isinstance(node, ast.ImportFrom) else set()
            calling |= {module} if names & clients else set()
    assert calling == {"tools.serve.witnesses"}


@pytest.mark.slow
def test_processes_meet_in_a_folder_of_their_own(
    served: Path, meeting_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(meeting_folder))
    with serving(served, "--listen", "127.0.0.1:0"):
        until(lambda: bool(list(meeting_folder.glob("rating-ledger-*"))))
        (folder,) = meeting_folder.glob("rating-ledger-*")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists(), "what was uploaded is not left behind"


@pytest.mark.parametrize(
    "address",
    ["/static", "/static/", "/static/../settings.py", "/static/..%2fsettings.py", "/templates/layout.html",
     "/.git/config", "/club.db", "/club.people.db", "/club.key", "/club.tokens.db", "/static/club.db", "/docs",
     "/redoc", "/metrics", "/debug", "/server-status", "/openapi.json", "/.env", "/admin", "/static/style.css/x"],
)  # fmt: skip
def test_folders_and_inner_files_are_not_there(address: str, get: Get) -> None:
    answer = get(f"http://server{address}")
    assert answer.status_code in {400, 404}
    assert "SQLite format" not in answer.text


def test_no_address_takes_a_token(get: Get) -> None:
    names = {parameter.name for route in ROUTES for parameter in route.every_parameter}
    assert not {name for name in names if re.search(r"token|secret|password|session|auth|cookie", name)}
    assert get("/pools?token=rlt_x").status_code == 400
    assert get("/pools?access_token=rlt_x").status_code == 400


def test_costly_questions_take_turns_and_are_refused_when_others_wait(
    answering: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_application, "PATIENCE", 0.05)

    async def asked() -> list[int]:
        answering.take_turns()
        transport = httpx.ASGITransport(application(answering))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            await answering.turns[Cost.SCAN].acquire()
            refused = await client.get("/api/v1/upsets")
            assert refused.headers["retry-after"]
            others = [(await client.get(path)).status_code for path in ("/api/v1/ranking", "/players/1/statistics")]
            answering.turns[Cost.SCAN].release()
            return [refused.status_code, *others, (await client.get("/api/v1/upsets")).status_code]

    assert asyncio.run(asked()) == [503, 200, 200, 200]


def test_every_policy_lets_nothing_in_that_is_not_named() -> None:
    for guard in safety.AnswerKind:
        policy = safety.headers(guard, index=False)["Content-Security-Policy"]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; ") if " " in rule)
        assert (rules["default-src"], rules["base-uri"]) == ("'none'", "'none'")
        assert rules["frame-ancestors"] == ("*" if guard is safety.AnswerKind.EMBEDDED else "'none'")
        # the checker runs Python as WebAssembly, in a worker made of the page's own files; it evaluates no text
        runs = "'self' blob: 'wasm-unsafe-eval'" if guard is safety.AnswerKind.CHECKER else "'self'"
        assert rules.get("script-src", runs) == runs
