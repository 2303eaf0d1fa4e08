"""Published examples of every scheme come out as published; the command finds each kind of difference and fault."""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.kit.places import ROOT, TESTS
from tests.vectors import __main__ as command
from tests.vectors import functions
from tests.vectors.comparing import agree

OURS = TESTS / "fixtures" / "vectors.json"
SHARED = ROOT.parent / "shared" / "rules" / "vectors.json"
GOOD = {"id": "w-1", "scheme": "world", "function": "double", "inputs": {"x": 4}, "expected": 8, "source": "a club"}


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command.main, [str(one) for one in arguments], input=stdin)


def lines(result: Result) -> list[str]:
    """The differences, without the summary below them."""
    head, blank, _summary = result.stdout.partition("\n\n")
    return head.splitlines() if blank else []


def test_our_hand_picked_examples_agree() -> None:
    result = run(OURS)
    assert (lines(result), result.exit_code) == ([], 0)


def test_our_hand_picked_examples_name_their_sources_and_touch_every_module() -> None:
    examples = json.loads(OURS.read_text("utf-8"))
    assert len(examples) >= 60
    assert all(one["source"] for one in examples)
    assert len({one["id"] for one in examples}) == len(examples)
    keys = {(one["scheme"], one["function"]) for one in examples}
    assert [module.__name__ for module in functions.MODULES if not keys & set(module.FUNCTIONS)] == []


def test_no_module_of_examples_is_left_out() -> None:
    modules = (TESTS / "vectors").glob("*.py")
    tables = [path.stem for path in modules if "\nFUNCTIONS: " in path.read_text("utf-8")]
    assert sorted(tables) == [module.__name__.rpartition(".")[2] for module in functions.MODULES]


@pytest.mark.data
def test_the_shared_examples_agree() -> None:
    if not SHARED.exists():
        pytest.skip(f"the shared folder of published examples is absent: {SHARED}")
    result = run(SHARED)
    assert (lines(result), result.exit_code) == ([], 0)


def test_two_modules_may_not_answer_for_the_same_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MODULES", (functions.MODULES[0], *functions.MODULES))
    with pytest.raises(ValueError, match=r"chessworld\.\w+ is answered by tests\.vectors\.chessworld and by tests\."):
        functions.joined()


def broken(given: Mapping[str, Any]) -> float:
    raise ZeroDivisionError("no games\n  at all")


def careless(given: Mapping[str, Any]) -> int:
    given["games"].clear()
    return 3


WORLD: dict[tuple[str, str], Callable[[Mapping[str, Any]], Any]] = {
    ("world", "double"): lambda given: 2 * given["x"],
    ("world", "told"): lambda given: given["x"],
    ("world", "three"): lambda given: {"a": given["x"] + 0.25, "b": given["x"] + 0.25, "c": [1, 2]},
    ("world", "nan"): lambda _: math.nan,
    ("world", "odd"): lambda _: {1: (math.inf, {2})},
    ("world", "broken"): broken,
    ("world", "careless"): careless,
}


@pytest.fixture(name="world")
def _world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Runs examples, each ``GOOD`` with changes, against the functions above."""
    monkeypatch.setattr(command, "joined", lambda: WORLD)

    def ran(*changes: Mapping[str, Any], options: Sequence[str] = ()) -> Result:
        file = tmp_path / "some.json"
        file.write_text(json.dumps([{**GOOD, **one} for one in changes]), encoding="utf-8")
        return run(file, *options)

    return ran


def test_an_example_that_agrees_is_silent(world: Callable[..., Result]) -> None:
    result = world({}, {"expected": 8.0}, {"expected": 8.1, "tolerance": 0.2}, {"tolerance": 0, "note": "n"})
    assert (lines(result), result.exit_code) == ([], 0)


def test_a_difference_is_one_line_with_all_that_one_needs(world: Callable[..., Result]) -> None:
    result = world({"expected": 9, "tolerance": 0.5})
    assert lines(result) == ['w-1: world.double {"x": 4} expected 9, got 8, tolerance 0.5 (a club)']
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scheme": "moon"}, "got no scheme 'moon'"),
        ({"function": "triple"}, "got no function 'triple' of scheme 'world'"),
        ({"function": "triple", "known_bad": True}, "got no function 'triple' of scheme 'world'"),
        ({"function": "broken"}, "got ZeroDivisionError: no games at all,"),
        ({"function": "broken", "known_bad": True}, "got ZeroDivisionError"),
        ({"inputs": {}}, "got KeyError: 'x'"),
        ({"known_bad": True}, "expected anything but 8 (known bad), got 8,"),
        ({"known_bad": True, "expected": 8.01, "tolerance": 0.1}, "expected anything but 8.01 (known bad), got 8,"),
        ({"function": "nan"}, 'got "nan",'),
        ({"function": "odd"}, 'got {"1": ["inf", "{2}"]},'),
        ({"function": "careless", "inputs": {"games": [1, 2]}, "expected": 4}, '{"games": [1, 2]} expected 4, got 3,'),
        ({"expected": "8"}, 'expected "8", got 8,'),
        ({"expected": 10**400}, "got 8,"),
        ({"inputs": {"x": 1e9}, "expected": 10**400, "tolerance": 1}, "got OverflowError"),
        ({"source": ""}, ""),
    ],
)
def test_every_kind_of_difference_is_counted_and_shown(
    world: Callable[..., Result], change: Mapping[str, Any], words: str
) -> None:
    result = world({"expected": 9, **change} if words == "" else change)
    (line,) = lines(result)
    assert words in line
    assert line.endswith("(a club)" if change.get("source", "a club") else "(no source)")
    assert result.exit_code == 1


def test_a_known_bad_example_that_is_not_reproduced_is_right(world: Callable[..., Result]) -> None:
    result = world({"known_bad": True, "expected": 7})
    assert (lines(result), result.exit_code) == ([], 0)
    assert result.stdout.splitlines()[-1].split() == ["all", "1", "0", "0", "1"]


@pytest.mark.parametrize(
    ("expected", "got", "tolerance", "same"),
    [
        (0.3, 30 / 100, 0, True), (0.3, 0.1 + 0.2, 0, False), (0.3, 0.1 + 0.2, 1e-12, True),
        (5, 5.0, 0, True), (5, 5.5, 0.5, True), (5, 5.51, 0.5, False), (5, math.nan, 1e9, False),
        (5, "5", 9, False), (5, None, 9, False), (1, True, 9, False), (0, False, 0, False),
        (True, True, 0, True), (True, 1, 9, False), (False, None, 9, False), (True, False, 9, False),
        (None, None, 0, True), (None, 0, 9, False), (None, False, 0, False),
        ("A", "A", 0, True), ("A", "a", 9, False), ("2011-01-08", "2011-01-08", 0, True), ("1", 1, 9, False),
        ([], [], 0, True), ([1, 2], [1.1, 1.9], 0.2, True), ([1, 2], (1, 2), 0, True), ([1, 2], [1, 2.3], 0.2, False),
        ([1, 2], [1], 9, False), ([1], [1, 2], 9, False), ([1], 1, 9, False), ([[1, "b"]], [[1, "b"]], 0, True),
        ([[1, "b"]], [[1, "w"]], 9, False), ({}, {"a": 1}, 0, True), ({"a": 1}, {"a": 1, "b": 2}, 0, True),
        ({"a": 1}, {"b": 1}, 9, False), ({"a": None}, {}, 9, False), ({"a": 1}, [1], 9, False),
        ([1], {"a": 1}, 9, False),
        ({"a": 1, "b": 1}, {"a": 1.2, "b": 1.2}, 0.3, True),
        ({"a": 1, "b": 1}, {"a": 1.2, "b": 1.2}, {"a": 0.3, "b": 0.3}, True),
        ({"a": 1, "b": 1}, {"a": 1.2, "b": 1.2}, {"a": 0.3, "b": 0.1}, False),
        ({"a": 1, "b": 1}, {"a": 1.2, "b": 1.2}, {"a": 0.3}, False),  # what has no tolerance must be exact
        ({"a": 1, "b": "x"}, {"a": 1.2, "b": "x"}, {"a": 0.3}, True),
        ({"a": [1, 2]}, {"a": [1.2, 2.2]}, {"a": 0.3}, True),
        ([{"a": 1}, {"a": 2}], [{"a": 1.2}, {"a": 2.2}], {"a": 0.3}, True),
        ([{"a": 1}, {"a": 2}], [{"a": 1.2}, {"a": 2.4}], {"a": 0.3}, False),
    ],
)  # fmt: skip
def test_what_counts_as_the_published_result(expected: Any, got: Any, tolerance: Any, *, same: bool) -> None:
    assert agree(expected, got, tolerance) is same


def test_the_summary_counts_by_scheme_and_function(world: Callable[..., Result]) -> None:
    result = world(
        {}, {"expected": 9}, {"function": "told", "expected": 4}, {"known_bad": True, "expected": 7}, {"scheme": "moon"}
    )
    rows = [row.split() for row in result.stdout.partition("\n\n")[2].splitlines()]
    assert rows[0] == ["scheme", "function", "ran", "agree", "differ", "known", "bad"]
    assert rows[2:] == [
        ["world", "double", "3", "1", "1", "1"],
        ["world", "told", "1", "1", "0", "0"],
        ["moon", "double", "1", "0", "1", "0"],
        ["all", "5", "2", "2", "1"],
    ]


def test_json_says_the_same_for_programs(world: Callable[..., Result]) -> None:
    result = world({}, {"expected": 9}, {"function": "broken"}, {"function": "odd"}, options=["--json"])
    told = json.loads(result.stdout)
    assert {name: told[name] for name in ("ran", "agree", "differ", "known_bad")} == {
        "ran": 4,
        "agree": 1,
        "differ": 3,
        "known_bad": 0,
    }
    assert told["functions"][0] == {
        "scheme": "world",
        "function": "double",
        "ran": 2,
        "agree": 1,
        "differ": 1,
        "known_bad": 0,
    }
    different, raised, odd = told["differences"]
    assert different == {**GOOD, "expected": 9, "tolerance": 0, "known_bad": False, "got": 8}
    assert raised["error"] == "ZeroDivisionError: no games\n  at all"
    assert "got" not in raised
    assert odd["got"] == {"1": ["inf", "{2}"]}
    assert result.exit_code == 1
    assert json.loads(world({}, options=["--json"]).stdout)["differences"] == []


def test_no_examples_differ_in_nothing(world: Callable[..., Result]) -> None:
    result = world()
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].split() == ["all", "0", "0", "0", "0"]


def test_several_files_and_standard_input_are_one_run(world: Callable[..., Result], tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_text(json.dumps([GOOD]), encoding="utf-8")
    other.write_text(json.dumps([GOOD, {**GOOD, "expected": 9}]), encoding="utf-8-sig")
    result = run(one, "-", other, stdin=json.dumps([{**GOOD, "id": "piped", "expected": 1}]))
    assert [line.partition(":")[0] for line in lines(result)] == ["piped", "w-1"]
    assert result.stdout.splitlines()[-1].split() == ["all", "4", "2", "2", "0"]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", ["no JSON: Expecting value: line 1 column 1 (char 0) @ $"]),
        ("[{]", ["no JSON: Expecting property name enclosed in double quotes: line 1 column 3 (char 2) @ $"]),
        ("[" * 100_000, ["no JSON that can be read: nested too deeply @ $"]),
        ('[{"expected": NaN}]', ["no JSON: NaN is no number @ $"]),
        ('[{"tolerance": 1e999}]', ["no JSON: 1e999 is beyond all numbers @ $"]),
        ('{"id": "a"}', ["expected a list of examples, got an object @ $"]),
        ("[3, null]", [
            "expected an example, an object, got 3 @ $[0]", "expected an example, an object, got null @ $[1]",
        ]),
        ('[{"id": "a", "scheme": "fide", "function": "pd"}]', [
            "the example lacks 'inputs' @ $[0]", "the example lacks 'expected' @ $[0]",
        ]),
    ],
)  # fmt: skip
def test_what_is_no_list_of_examples_is_refused_with_its_place(text: str, faults: list[str], tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text, encoding="utf-8")
    result = run(file)
    assert result.stderr.splitlines() == [f"{file}: {fault}" for fault in faults]
    assert (result.stdout, result.exit_code) == ("", 1)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"id": 3}, "expected text, got 3 @ $[1].id"),
        ({"scheme": None}, "expected text, got null @ $[1].scheme"),
        ({"function": ["pd"]}, "expected text, got a list @ $[1].function"),
        ({"source": {}}, "expected text, got an object @ $[1].source"),
        ({"inputs": [1]}, "expected an object, got a list @ $[1].inputs"),
        ({"known_bad": "no"}, "expected true or false, got text @ $[1].known_bad"),
        ({"known_bad": 1}, "expected true or false, got 1 @ $[1].known_bad"),
        ({"tolerance": "1"}, "expected a number from 0, or an object of such, got text @ $[1].tolerance"),
        ({"tolerance": -1}, "expected a number from 0, or an object of such, got -1 @ $[1].tolerance"),
        ({"tolerance": True}, "expected a number from 0, or an object of such, got true or false @ $[1].tolerance"),
        ({"tolerance": None}, "expected a number from 0, or an object of such, got null @ $[1].tolerance"),
        ({"tolerance": {"a": 1}}, "tolerances by key need an expected result with keys @ $[1].tolerance"),
        (
            {"tolerance": {"a": 1, "b": -0.5}, "expected": {"a": 1}},
            "expected a number from 0, got -0.5 @ $[1].tolerance.b",
        ),
    ],
)
def test_a_wrong_field_of_an_example_is_refused_with_its_place(
    world: Callable[..., Result], change: Mapping[str, Any], fault: str
) -> None:
    result = world({}, change)
    assert [line.partition(".json: ")[2] for line in result.stderr.splitlines()] == [fault]
    assert (result.stdout, result.exit_code) == ("", 1)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(b'[{"id": "\xff\xfe"}]')
    result = run(file)
    assert "no JSON: 'utf-8' codec can't decode" in result.stderr
    assert result.exit_code == 1


def test_nothing_is_run_while_a_file_cannot_be_read_and_every_such_file_is_named(tmp_path: Path) -> None:
    bad, worse = tmp_path / "bad.json", tmp_path / "worse.json"
    bad.write_text("{}", encoding="utf-8")
    worse.write_text("[", encoding="utf-8")
    result = run(bad, OURS, worse)
    assert [Path(line.partition(":")[0]).name for line in result.stderr.splitlines()] == ["bad.json", "worse.json"]
    assert (result.stdout, result.exit_code) == ("", 1)


@pytest.mark.parametrize("arguments", [[], ["no-such-file.json"], ["--nonsense"], [str(ROOT)]])
def test_a_misused_command_ends_with_2_and_says_how_it_is_used(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr


def test_the_help_has_an_example_that_runs() -> None:
    told = run("--help").stdout
    assert "python -m tests.vectors tests/fixtures/vectors.json" in told
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.vectors", "tests/fixtures/vectors.json"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].split()[3] == "0"
