"""Lines of JSON: a key that is given twice is found however it is written, and nothing else is taken for one."""

import io
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.source_games import KEPT_FAULTS, MAX_MESSAGE
from ledger.imports import jsonl, lichess
from ledger.imports.json_input import parse_lines
from ledger.imports.reading import Reading
from tests.kit.commands import Run
from tests.kit.source_files import LICHESS_GAME, OUR_GAME

OWN = orjson.dumps(OUR_GAME)
LICHESS = orjson.dumps(LICHESS_GAME)


def read(*lines: bytes) -> tuple[list[Any], list[str]]:
    reading = Reading("test")
    values = [value for _, value in parse_lines(lines, reading, "mend it")]
    return values, [fault.message for fault in reading.faults]


# A document is a scalar as it is written, a list of documents, or the members of an object, keys with their spelling.
SPELT = {"a": ("a", "\\u0061"), "b": ("b", "\\u0062"), "é": ("é", "\\u00e9", "\\u00E9"), "/": ("/", "\\/", "\\u002f")}
LETTERS = st.sampled_from(sorted(SPELT))
KEYS = st.lists(LETTERS, max_size=2).flatmap(
    lambda letters: st.tuples(
        st.just("".join(letters)), st.tuples(*(st.sampled_from(SPELT[letter]) for letter in letters)).map("".join)
    )
)
SCALARS = st.sampled_from(
    ["1", "-0", "1e5", "100000.0", "1.50", "1E-2", "18446744073709551616", "null", "true", '""',
     '"a\\":\\"b"', '"\\\\"',
     '","', '"a\\u0022,\\u0022b"', '" a "', '"\\t"', "{}", "[]"]
)  # fmt: skip
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(KEYS, inner), max_size=4).map(tuple),
    max_leaves=12,
)
BLANKS = st.sampled_from(["", "", " ", "\t", "  "])


def written(document: Any, blank: str) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, list):
        return "[" + f",{blank}".join(written(inner, blank) for inner in document) + f"{blank}]"
    members = (f'"{spelt}"{blank}:{blank}{written(inner, blank)}' for (_, spelt), inner in document)
    return "{" + f"{blank},".join(members) + "}"


def says_a_thing_twice(document: Any) -> bool:
    if isinstance(document, str):
        return False
    if isinstance(document, list):
        return any(map(says_a_thing_twice, document))
    names = [name for (name, _), _ in document]
    return len(set(names)) < len(names) or any(says_a_thing_twice(inner) for _, inner in document)


@given(DOCUMENTS, BLANKS)
def test_a_key_given_twice_is_never_missed_and_never_made_up(document: Any, blank: str) -> None:
    text = written(document, blank)
    values, faults = read(text.encode())
    if says_a_thing_twice(document):
        assert values == []
        assert faults
        assert all(fault.startswith("the key is given twice @ $") for fault in faults)
    else:
        assert faults == []
        assert values == [orjson.loads(text)]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (OWN[:-1] + b',"outcome":"black"}', "$.outcome"),
        (OWN[:-1] + b',"outc\\u006fme":"black"}', "$.outcome"),
        (OWN[:-1] + b', "outcome" : "black" }', "$.outcome"),
        (OWN.replace(b'"id":"name:ann"', b'"id":"name:ann","\\u0069d":"name:cleo"'), "$.white.id"),
        (OWN.replace(b'"outcome":"white"', b'"outcome":"white","outcome":"white"'), "$.outcome"),
    ],
)
def test_our_own_lines_say_each_thing_once(line: bytes, path: str) -> None:
    reading = Reading("test")
    assert [game.line for game in jsonl.read_games([OWN, line, OWN], reading)] == [1, 3]
    assert reading.faults == [(2, f"the key is given twice @ {path}")]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (LICHESS[:-1] + b',"winner":"black"}', "$.winner"),
        (LICHESS.replace(b'"rating":1663', b'"rating":1663,"rating":2663'), "$.players.white.rating"),
        (LICHESS[:-1] + b',"unknown":[0,{"x":1,"y":{"z":1,"z":2}}]}', "$.unknown[1].y.z"),
    ],
)
def test_lichess_lines_say_each_thing_once(line: bytes, path: str) -> None:
    reading = Reading("test")
    assert [game.line for game in lichess.read_games([LICHESS, line, LICHESS], reading)] == [1, 3]
    assert reading.faults == [(2, f"the key is given twice @ {path}")]


def test_every_key_that_is_given_twice_is_told_but_not_a_million() -> None:
    _, faults = read(b'{"a":1,"b":2,"a":3,"b":4,"c":{"d":1,"d":1}}')
    assert [fault.rpartition(" ")[2] for fault in faults] == ["$.a", "$.b", "$.c.d"]
    many = b"{" + b",".join(b'"%d":1' % (n % 5000) for n in range(10_000)) + b"}"
    assert len(read(many)[1]) == 10


@pytest.mark.parametrize(
    ("name", "path"), [("a b", '["a b"]'), ("e\nnd", '["e\\nnd"]'), ("\x1b[2J", '["\\u001b[2J"]'), ("", '[""]')]
)
def test_a_name_that_is_no_word_is_quoted_in_its_path(name: str, path: str) -> None:
    line = json.dumps({name: 1})[:-1].encode() + b"," + json.dumps({name: 2})[1:].encode()
    assert read(line)[1] == [f"the key is given twice @ ${path}"]
    reading = Reading("test")
    assert list(jsonl.read_games([json.dumps({**OUR_GAME, name: 1}).encode()], reading)) == []
    assert reading.faults[0].message.endswith(f"@ ${path}")


def test_a_path_is_told_in_bounded_length() -> None:
    deep = b'{"' + b"k" * 5000 + b'":' + b'{"a":' * 200 + b'{"b":1,"b":2}' + b"}" * 201
    (fault,) = read(deep)[1]
    assert len(fault) < 200


@pytest.mark.parametrize("line", [b"[" * 300 + b"]" * 300, b'{"a":' * 900 + b"1" + b"}" * 900, b"[" * 100_000])
@pytest.mark.parametrize("read_games", [jsonl.read_games, lichess.read_games])
def test_lines_that_are_nested_too_deeply_are_a_fault(line: bytes, read_games: Any) -> None:
    reading = Reading("test")
    assert list(read_games([line], reading)) == []
    assert reading.fault_count == 1


@pytest.mark.parametrize("field", ["id", "status", "players", "winner", "createdAt", "variant", "rated", "moves"])
@pytest.mark.parametrize(
    "value",
    [[[[[[0]]]] * 9] * 90, "x" * 100_000, {str(n): n for n in range(5000)}, 10**18, "\x1b[2J", "a\u0301" * 9000],
)
def test_values_are_quoted_in_bounded_length(field: str, value: object) -> None:
    own = {"id": "key", "players": "white", "winner": "outcome", "createdAt": "ended_at", "moves": "text"}
    for read_games, line in (
        (lichess.read_games, {**LICHESS_GAME, field: value}),
        (jsonl.read_games, {**OUR_GAME, own.get(field, field): value}),
    ):
        reading = Reading("test")
        list(read_games([orjson.dumps(line)], reading))
        assert all(len(fault.message) <= 700 for fault in reading.faults)


def test_a_line_of_a_thousand_faults_tells_some_of_them() -> None:
    reading = Reading("test")
    assert list(jsonl.read_games([json.dumps({str(n): n for n in range(1000)}).encode()], reading)) == []
    assert reading.fault_count == 21
    assert reading.faults[-1].message == "and more is wrong with this line @ $"


def test_a_million_faults_are_counted_and_the_first_kept() -> None:
    reading = Reading("test")
    for line in range(1, 100_001):
        reading.fault(line, "x" * 10_000 if line < 5 else "x")
    assert reading.fault_count == 100_000
    assert [fault.line for fault in reading.faults] == list(range(1, KEPT_FAULTS + 1))
    assert len(reading.faults[0].message) == MAX_MESSAGE + 3


BAD_VARIANTS = ["we ird", "", "x" * 33, "x" * 10_000, "Zh", "蝶", "a\n", "a-b", 5, True, ["standard"]]


@pytest.mark.parametrize("variant", BAD_VARIANTS)
def test_a_variant_that_is_no_word_is_a_fault_of_its_line(variant: object) -> None:
    for read_games, line in (
        (lichess.read_games, {**LICHESS_GAME, "variant": variant}),
        (jsonl.read_games, {**OUR_GAME, "variant": variant}),
    ):
        reading = Reading("test")
        assert list(read_games(io.BytesIO(b"\n" + orjson.dumps(line)), reading)) == []
        assert [fault.line for fault in reading.faults] == [2]
        assert "variant" in reading.faults[0].message


def test_the_command_names_the_line_and_the_path(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(OWN[:-1] + b',"outcome":"black"}\n')
    assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", path)
    assert done.code == 1
    assert f"{path}:1: error: the key is given twice @ $.outcome" in done.err
    assert "0 games recorded" in done.err
