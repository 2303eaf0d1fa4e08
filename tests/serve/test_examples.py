"""The examples of the API's documentation: each is a request that a server answered, and it has not rotted.

``LEDGER_PROFILE=ci pytest --write-snapshots tests/serve/test_examples.py; python -m tools.schemas`` writes them anew.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from jsonschema import Draft202012Validator

from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit import snapshots
from tests.kit.programs import Api
from tests.kit.served_processes import position, serving, until
from tools.serve import openapi
from tools.serve.openapi import EXAMPLES, EXAMPLES_FILE
from tools.serve.routes import PREFIX

SITE = "https://ratings.example.org"
DOCUMENT = openapi.document()
# What another run draws or counts otherwise: salted keys, hashes, signatures, names of jobs, clocks.
DRAWN = re.compile(
    r'pgn:k[0-9a-f]{24}|\b[0-9a-f]{64}\b|\b20[2-9]\d-\d\d-\d\dT[0-9:.]+Z|(?<="job": ")[^"]+|(?<=/jobs/)[\w-]+|'
    r'(?<="seconds": )[0-9.e-]+|(?<="state": ")(?:waiting|running)|extra \w+=*|(?<=\\n)[\w+/]{43}=|— \S+ [\w+/]+='
)


def operation(name: str) -> Any:
    method, _, path = name.partition(" ")
    return DOCUMENT["paths"][f"{PREFIX}{path}"][method]


def faults(schema: Mapping[str, Any], value: Any) -> list[str]:
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    return [error.message for error in validator.iter_errors(value)]


def test_every_operation_has_an_example() -> None:
    operations = {
        f"{method} {path.removeprefix(PREFIX)}" for path, ways in DOCUMENT["paths"].items() for method in ways
    }
    assert EXAMPLES.keys() == operations


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_is_of_the_form_that_the_documentation_says(name: str) -> None:
    example, described = EXAMPLES[name], operation(name)
    schemas = {parameter["name"]: parameter["schema"] for parameter in described["parameters"]}
    words = example.get("words", {})
    assert [fault for word, value in words.items() for fault in faults(schemas[word], value)] == []
    assert {word["name"] for word in described["parameters"] if word.get("required")} <= words.keys()
    assert ("body" in example) == ("requestBody" in described)
    if "body" in example:
        ((content),) = described["requestBody"]["content"].values()
        assert (faults(content["schema"], example["body"]), content["example"]) == ([], example["body"])
    contents = [
        content
        for status, response in described["responses"].items()
        if status.startswith("2")
        for content in response.get("content", {}).values()
        if "example" in content
    ]
    assert bool(contents) == ("answer" in example)
    for content in contents:
        assert faults(content["schema"], content["example"]) == []
        if "x-item-schema" in content:
            (line,) = re.findall(r"{.*}", content["example"])
            assert faults(content["x-item-schema"], json.loads(line)) == []


@pytest.fixture(name="example_api", scope="module")
def _example_api(busy_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The busy club, served, and the token of an officer who may do everything."""
    club = Path(shutil.copytree(busy_base, tmp_path_factory.mktemp("examples") / "club")) / "club.db"
    with Ledger.open(club) as ledger:
        token = ledger.tokens.add("ada", list(Role))
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        yield Api(address, {"ada": token})


def shortened(value: Any) -> Any:
    """Leave the first item of each list."""
    if isinstance(value, dict):
        return {name: shortened(item) for name, item in value.items()}
    return [shortened(item) for item in value[:1]] if isinstance(value, list) else value


def sent(api: Api, name: str, example: Mapping[str, Any], job: str | None) -> dict[str, Any]:
    """Send the request of an example; return the example with the answer that it got."""
    method, _, path = name.partition(" ")
    words = {**example.get("words", {}), **({"job": job} if "{job}" in path else {})}
    query = {word: value for word, value in words.items() if f"{{{word}}}" not in path}
    address = path.format_map({word: quote(str(value), safe="") for word, value in words.items()})
    body = example.get("body")
    content = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
    media = "application/octet-stream" if isinstance(body, str) else "application/json"
    headers = {"Authorization": f"Bearer {api.tokens['ada']}", **({} if body is None else {"Content-Type": media})}
    made = {key: value for key, value in (("words", words), ("body", body)) if value or value == {} == body}
    request: dict[str, Any] = {"params": query, "content": content, "headers": headers, "timeout": 60}
    with httpx.stream(method.upper(), f"{api.address}{PREFIX}{address}", **request) as answer:
        if path == "/stream":
            lines = answer.iter_lines()  # without end: a greeting and the first event, each up to an empty line
            return {
                **made,
                "answer": "".join(f"{line}\n" for _ in range(2) for line in (*iter(lines.__next__, ""), "")),
            }
        answer.read()
    assert answer.is_success, (name, answer.text)
    if "application/json" in answer.headers.get("content-type", ""):
        return {**made, "answer": shortened(json.loads(answer.text.replace(api.address, SITE)))}
    return {**made, "answer": answer.text} if answer.content else made


def is_over(api: Api, job: str) -> bool:
    return api.ask("GET", f"/jobs/{job}", "ada").json()["exit_code"] is not None


def lasting(example: Mapping[str, Any]) -> str:
    """Return an example without what another run draws or counts otherwise."""
    return DRAWN.sub("…", json.dumps(example, ensure_ascii=False))


@pytest.mark.slow
def test_each_example_is_what_a_server_answers(example_api: Api) -> None:
    made: dict[str, dict[str, Any]] = {}
    job: str | None = None
    for name, example in EXAMPLES.items():
        made[name] = sent(example_api, name, example, job)
        if name.startswith("post /jobs/"):
            job = made[name]["answer"]["job"]
            until(partial(is_over, example_api, job))
    if snapshots.writes:
        lines = (f"{json.dumps(name)}: {json.dumps(example, ensure_ascii=False)}" for name, example in made.items())
        EXAMPLES_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    kept = json.loads(EXAMPLES_FILE.read_bytes())
    assert {name: lasting(example) for name, example in made.items()} == {
        name: lasting(example) for name, example in kept.items()
    }, f"if this change is meant, write them anew with {snapshots.OPTION}"
