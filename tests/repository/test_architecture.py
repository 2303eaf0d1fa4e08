"""The shape of the code: who may import whom, how long things may be, and how they are called.

What ruff can check by itself, pyproject.toml asks of it: banned calls and imports, missing docstrings.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import ledger
from ledger.ledger import Ledger
from ledger.schemes import built_in_names
from tests.docs import readmes
from tests.kit.code import imported_names, nodes_of, sources, tree_of
from tests.kit.games import game_recorded
from tests.kit.places import ROOT

# The packages from the bottom up. A module imports from its own package or from lower ones; packages of one level do
# not import each other. Nothing imports in a circle. "" is the package itself: the public names.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("runtime",),
    ("facts",),
    ("board", "schemes"),
    ("imports",),
    ("journal",),
    ("auth",),
    ("players",),
    ("duplicates",),
    ("book",),
    ("ratings",),
    ("recording",),
    ("handle",),
    ("publishing", "policies", "registering"),
    ("correcting",),
    ("answers",),
    ("questions",),
    ("audit",),
    ("backups",),
    ("ledger",),
    ("testing",),
    ("",),
)
with (ROOT / "pyproject.toml").open("rb") as _file:
    _RUFF = tomllib.load(_file)["tool"]["ruff"]["lint"]["flake8-tidy-imports"]
HEAVY = set(_RUFF["banned-module-level-imports"])
PRONOUNS = {"it", "its", "mine", "one", "ours", "some", "theirs", "them", "told"}
# Names that say that something is had and not what it is: in the library and its commands.
PARTICIPLES = {"brought", "found", "given", "held", "known", "wanted"}
NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
# One subject a file, one thought a function: these are the lengths above which neither is likely.
LONGEST_FUNCTION = 65  # lines of its body: the formatter gives each parameter a line of its own
LONGEST_FILE = 900


@cache
def imports_of(module: str) -> set[str]:
    """The modules of the library and the tools that *module* imports."""
    known = sources("ledger", "tools")
    package = module if known[module].name == "__init__.py" else module.rpartition(".")[0]
    names = imported_names(nodes_of(known[module]), package)
    found = {name if name in known else name.rpartition(".")[0] for name in names}
    return {name for name in found if name in known}


def package_of(module: str) -> str:
    """The package of the library, or the single module at its top, that a module belongs to."""
    return module.removeprefix("ledger").removeprefix(".").partition(".")[0]


def layer_of(module: str) -> int:
    """The place of a module of the library in ``LAYERS``."""
    return next(place for place, layer in enumerate(LAYERS) if package_of(module) in layer)


def is_typing_block(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


MODULES = list(sources("ledger"))
EVERYWHERE = list(sources("ledger", "tools"))


def breaches(modules: Iterable[str], of: Callable[[str], Collection[object]]) -> dict[str, Collection[object]]:
    """What breaks a rule, by module; one test a rule, for a test of each module would be thousands."""
    return {module: breach for module in modules if (breach := of(module))}


def test_every_module_has_its_layer_once() -> None:
    named = [part for layer in LAYERS for part in layer]
    assert len(named) == len(set(named))
    parts = {module.removeprefix("ledger").removeprefix(".").partition(".")[0] for module in MODULES}
    assert parts - set(named) == set(), "give the new module its place in LAYERS"


def test_the_rooms_of_the_library_are_told_in_their_order() -> None:
    library = readmes.texts()["ledger/README.md"]
    order = " < ".join(", ".join(layer) for layer in LAYERS if layer != ("",)) + " < tools"
    assert f"`{order}`" in library
    told = set(re.findall(r"^(\w+)/ ", readmes.blocks(library, "")[0], re.MULTILINE))
    assert told == {path.parent.name for path in (ROOT / "ledger").glob("*/__init__.py")}


def test_a_module_imports_only_from_its_own_package_or_lower_levels() -> None:
    def above(module: str) -> set[str]:
        return {
            name
            for name in imports_of(module)
            if layer_of(name) > layer_of(module)
            or (layer_of(name) == layer_of(module) and package_of(name) != package_of(module))
        }

    assert breaches(MODULES, above) == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module: imports_of(module) - {module} for module in EVERYWHERE}
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)


def test_the_library_knows_neither_the_tools_nor_the_tests() -> None:
    def outside(module: str) -> set[str]:
        roots = {name.partition(".")[0] for name in imported_names(nodes_of(sources("ledger")[module]))}
        return roots & {"tools", "tests", "schemas"}

    assert breaches(MODULES, outside) == {}


def test_the_auditors_reader_shares_no_code_with_the_writer() -> None:
    for module in MODULES:
        if module == "ledger.audit.reader" or module.startswith("ledger.audit.reader."):
            shared = {name for name in imports_of(module) if not name.startswith("ledger.audit.reader")}
            assert shared <= {"ledger.errors", "ledger.runtime.lazy", "ledger.facts.words"}


def test_the_auditors_layouts_are_data_that_no_writer_reads() -> None:
    audit, layouts = ROOT / "ledger" / "audit", {"journal.toml", "people.toml", "server.toml"}
    assert {path.name for path in (ROOT / "ledger").rglob("*.toml")} == layouts
    for path in (ROOT / "ledger").rglob("*.py"):
        text = path.read_text("utf-8")
        if path.is_relative_to(audit):
            assert "CREATE TABLE" not in text, f"{path}: a table is described in Python, not in {sorted(layouts)}"
        else:
            assert [name for name in layouts if name in text] == [], f"{path} reads a layout of the auditor"


def test_every_module_serves_the_public_names_a_tool_or_the_testing_kit() -> None:
    reached: set[str] = set()
    waiting = {"ledger", "ledger.testing", *sources("tools")}
    waiting |= {f"ledger.schemes.{name.replace('-', '_')}" for name in built_in_names()}  # loaded by name
    while waiting:
        module = waiting.pop()
        reached.add(module)
        parents = {module.rpartition(".")[0]} & set(EVERYWHERE)
        waiting |= (imports_of(module) | parents) - reached
    assert set(MODULES) - reached == set()


def test_nothing_is_imported_inside_a_function() -> None:
    def inside(module: str) -> list[str]:
        return [
            f"{function.name}: {ast.unparse(node)}"
            for function in nodes_of(sources("ledger")[module])
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]

    assert breaches(MODULES, inside) == {}


# What serves ledgers on a server alone; none in files loads it.
OF_A_SERVER = [
    "ledger.journal.postgres_store", "ledger.journal.postgres_tables", "ledger.players.postgres_layout",
    "ledger.players.postgres_people", "ledger.players.server_stores",
]  # fmt: skip
SHOW_ONE_PLAYER = """
import sys
from tools import cli

assert cli.main(["show", sys.argv[1], "name:ann"]) == 0
print(*sorted(set(sys.argv[2:]) & set(sys.modules)), file=sys.stderr)
"""


def test_a_command_on_a_ledger_in_files_loads_nothing_of_ledgers_on_servers(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as made:
        ann, bob = made.register("name:ann", "Ann"), made.register("name:bob", "Bob")
        made.append(game_recorded("r1-b1", white=ann, black=bob, half_moves=61, ended_at="2013-06-04"))
        made.catch_up()
    copies = ["ledger.backups.server_copies", "ledger.backups.server_rows", "ledger.audit.server_objects"]
    command: Sequence[str] = [sys.executable, "-c", SHOW_ONE_PLAYER, str(tmp_path / "club.db"), *OF_A_SERVER, *copies]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert (done.stderr.strip(), "Ann" in done.stdout) == ("", True)


READ_ONE_PLAYER = """
import sys
import ledger.ledger

with ledger.ledger.Ledger.open(sys.argv[1]) as opened:
    player = opened.player("Ann").player
    assert len(list(opened.rows("history", "player = ?", [player]))) == 1
print(*sorted(set(sys.argv[2:]) & set(sys.modules)))
"""


def python(script: str, *arguments: str) -> str:
    command: Sequence[str] = [sys.executable, "-W", "error", "-c", script, *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def test_opening_a_ledger_and_reading_one_players_rows_loads_nothing_heavy(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as made:
        ann, bob = made.register("name:ann", "Ann"), made.register("name:bob", "Bob")
        made.append(game_recorded("r1-b1", white=ann, black=bob, half_moves=61, ended_at="2013-06-04"))
        made.catch_up()
    assert python(READ_ONE_PLAYER, str(tmp_path / "club.db"), *sorted(HEAVY), *OF_A_SERVER) == ""


RECORD_ONE_GAME = """
import sys
from ledger.facts.events import PlayerChanged
from ledger.ledger import Ledger
from ledger.facts.words import Standing

with Ledger.open(sys.argv[1]) as opened:
    opened.append(PlayerChanged(player=1, effective_at="2014", standing=Standing.GUEST))
    opened.catch_up()
print(*sorted(set(sys.argv[2:]) & set(sys.modules)))
"""


def test_recording_one_fact_and_catching_up_loads_nothing_heavy(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as made:
        made.register("name:ann", "Ann")
        made.catch_up()
    assert python(RECORD_ONE_GAME, str(tmp_path / "club.db"), *sorted(HEAVY), *OF_A_SERVER) == ""


RUN_A_COMMAND = """
import sys
from tools import cli

heavy, words = sys.argv[1].split(), sys.argv[2:]
assert cli.main(words) == 0
print(*sorted(set(heavy) & set(sys.modules)), file=sys.stderr)
"""


def test_recording_a_game_or_a_player_by_a_command_loads_nothing_heavy(tmp_path: Path) -> None:
    path = str(tmp_path / "club.db")
    with Ledger.create(path) as made:
        made.register_many([(f"name:player {number}", f"Player {number}") for number in range(300)])
        games = [game_recorded(f"r1-b{n}", white=n, black=n + 1, ended_at="2013-06-04") for n in range(1, 200)]
        made.append_many(games)
    game = ["--result", "1-0", "--ended", "2013-06-04", "--half-moves", "40", "--record-alike"]
    for words in (
        ["record", path, "--white", "1", "--black", "2", *game],
        ["record", path, "--white", "Anna Newcomer", "--black", "2", "--new", *game[:-1]],
        ["record", path, "--white", "5", "--black", "7", *game[:-1], "--tournament", "Open", "--round", "1"],
        ["player", "add", path, "name:ann newcomer", "Ann Newcomer"],
    ):
        command = [sys.executable, "-c", RUN_A_COMMAND, " ".join([*HEAVY, *OF_A_SERVER]), *words]
        done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (0, ""), (words, done.stderr)


def test_no_function_has_more_than_one_thought() -> None:
    def too_long(module: str) -> dict[str, int]:
        return {
            node.name: (node.end_lineno or 0) - node.body[0].lineno + 1
            for node in nodes_of(sources("ledger", "tools")[module])
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.body[0].lineno + 1 > LONGEST_FUNCTION
        }

    assert breaches(EVERYWHERE, too_long) == {}


def test_no_file_has_more_than_one_subject() -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in sources("ledger", "tools", "tests").values()}
    assert {path: length for path, length in lines.items() if length > LONGEST_FILE} == {}


def bindings(nodes: Collection[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of each variable, argument, comprehension variable and function.

    The fields of a class are left out: they are what an answer's columns are called.
    """
    fields = {
        id(node.target)
        for parent in nodes
        if isinstance(parent, ast.ClassDef)
        for node in parent.body
        if isinstance(node, ast.AnnAssign)
    }
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, NAMED):
            yield node.lineno, node.name or ""


def test_nothing_is_called_by_a_pronoun() -> None:
    def pronouns(module: str) -> list[tuple[int, str]]:
        bound = bindings(nodes_of(sources("ledger", "tools")[module]))
        return [(line, name) for line, name in bound if name in PRONOUNS]

    assert breaches(EVERYWHERE, pronouns) == {}


def test_what_a_name_holds_is_said_and_not_that_it_is_held() -> None:
    def participles(module: str) -> list[tuple[int, str]]:
        bound = bindings(nodes_of(sources("ledger", "tools")[module]))
        return [(line, name) for line, name in bound if name in PARTICIPLES]

    rooms = [module for module in EVERYWHERE if module.startswith(("ledger", "tools.serve", "tools.commands"))]
    assert breaches([module for module in rooms if module != "ledger.errors"], participles) == {}  # ConflictError.given


# The settings of a scheme, and the states of its players: each module says the same for another kind.
OF_EACH_KIND = {"Settings", "Player"}


def test_no_class_is_called_what_another_is_called() -> None:
    places: dict[str, list[str]] = {}
    for module in EVERYWHERE:
        for node in tree_of(sources("ledger", "tools")[module]).body:
            if isinstance(node, ast.ClassDef) and node.name not in OF_EACH_KIND:
                places.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


@pytest.mark.skipif(not hasattr(ledger, "__all__"), reason="the public names are not chosen yet")
def test_public_names_are_exactly_all_and_sorted() -> None:
    for name in ledger.__all__:
        getattr(ledger, name)  # each is loaded when it is asked for
    public = [name for name, value in vars(ledger).items() if not name.startswith("_") and not inspect.ismodule(value)]
    assert sorted(public) == ledger.__all__


def test_a_public_name_is_loaded_from_where_type_checkers_read_it() -> None:
    (block,) = filter(is_typing_block, tree_of(ROOT / "ledger/__init__.py").body)
    for name in imported_names([node for node in ast.walk(block) if isinstance(node, ast.ImportFrom)]):
        module, _, public = name.rpartition(".")
        assert getattr(ledger, public) is getattr(importlib.import_module(module), public)
        assert public in ledger.__all__
    assert not hasattr(ledger, "Ledgre")
    assert inspect.ismodule(ledger.errors)


def test_a_module_in_the_depth_of_a_room_loads_no_other_room() -> None:
    loaded = python(
        "import ledger.runtime.sqlite, sys; print(*sorted(m for m in sys.modules if m.startswith('ledger')))"
    )
    assert (
        loaded == "ledger ledger.errors ledger.runtime ledger.runtime.lazy ledger.runtime.owners ledger.runtime.sqlite"
    )


def test_every_public_name_is_documented() -> None:
    names = getattr(ledger, "__all__", [])
    assert [name for name in names if not inspect.getdoc(getattr(ledger, name))] == []


TESTS = list(sources("tests"))
WITHOUT_A_FOLDER = {"testing"}  # its suites are what test_contracts runs
FIXTURE = "pytest.fixture"


def is_test_module(module: str) -> bool:
    return module.rpartition(".")[2].startswith("test_")


def definitions(module: str) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Functions and classes at the top of a module of the tests, but for the tests."""
    for node in tree_of(sources("tests")[module]).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.lower().startswith("test"):
            yield node


def fixture_name(node: ast.FunctionDef | ast.ClassDef) -> str:
    """The name under which pytest knows the fixture; empty where the node is none."""
    for decorator in node.decorator_list:
        if ast.unparse(decorator).startswith(FIXTURE):
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            given = [ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg == "name"]
            return str(given[0]) if given else node.name
    return ""


def test_each_room_of_the_library_has_its_folder_of_tests() -> None:
    rooms = {path.parent.name for path in (ROOT / "ledger").glob("*/__init__.py")}
    folders = {module.split(".")[1] for module in TESTS if is_test_module(module) and module.count(".") > 1}
    assert rooms - folders == WITHOUT_A_FOLDER


# Who reads a clock and asserts nothing of it: until when copies go on, a name, when to kill, work told in yardsticks.
READ_CLOCKS = {  # how long they wait for something at most, load a machine, or say which tests are quick
    "tests.imports.test_memory", "tests.kit.crash_driver", "tests.kit.crashes", "tests.postgres.test_postgres_journal",
    "tests.crashes.test_crashes", "tests.mutants", "tests.attacks.workers", "tests.imports.demands",
    "tests.kit.yardsticks",
}  # fmt: skip
CLOCKS = r"\btime\.(?:time|monotonic|perf_counter|process_time|thread_time)(?:_ns)?\(|^from time import (?!sleep\b)"


def test_no_test_asserts_a_time() -> None:
    """On a busy machine it fails: count the work, or tell it in yardsticks (``tests.kit.yardsticks``)."""

    def clocks(module: str) -> list[str]:
        text = re.sub(r"while time\.process_time\(\) < ", "", sources("tests")[module].read_text("utf-8"))  # keeps busy
        return re.findall(CLOCKS, text, re.MULTILINE)

    assert breaches(set(TESTS) - READ_CLOCKS - {__name__}, clocks) == {}


def test_no_module_imports_a_test_module_or_a_conftest() -> None:
    def imports(module: str) -> list[str]:
        text = sources("tests")[module].read_text("utf-8")  # scripts in it that run in a process of their own, too
        return re.findall(r"^ *(?:from|import) +tests\b.*\b(?:test_\w+|conftest)\b.*$", text, re.MULTILINE)

    assert breaches(TESTS, imports) == {}, "what two of them need belongs into tests/kit"


def test_no_two_modules_of_tests_have_a_fixture_of_one_name() -> None:
    named = [(name, module) for module in TESTS for node in definitions(module) if (name := fixture_name(node))]
    modules = {name: [module for other, module in named if other == name] for name, _ in named}
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}


def test_no_two_modules_of_tests_say_the_same() -> None:
    """Builders and helpers of the same body; one or two short statements may recur."""
    said: dict[str, list[str]] = {}
    for module in TESTS:
        for node in definitions(module):
            body = ast.Module(node.body[1:] if ast.get_docstring(node) else node.body, [])
            if len(list(ast.walk(body))) > 12:
                said.setdefault(ast.dump(body), []).append(f"{module}.{node.name}")
    assert [found for found in said.values() if len(found) > 1] == []
