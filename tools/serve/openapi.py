"""The documentation of the API as OpenAPI 3.1, made of the table of addresses and the classes of the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from ledger.facts.json_schemas import class_schema

from . import bodies
from .get_handlers import PROGRAM
from .importing import ImportAnswer
from .jobs import JobAnswer
from .parameters import Parameter
from .post_routes import IMPORT, IMPORT_DOC, IMPORT_PARAMETERS, JSON, OF_A_JOB, POSTS, Post, Recorded
from .problems import MEDIA, Problem
from .routes import FEED, PREFIX, ROUTES, ROWS_MEDIA, Cost, Route

_POSITION = {"type": "integer", "description": "how many entries of the journal it follows from"}
_DOCS = {
    "player": "name, identity or number of a player",
    "game": "key of a game, the id that its server gave it, or # and its entry",
    "tournament": "name of a tournament, as its games carry it",
    "list": "a published list, POOL@DAY",
    "number": "number of a correction",
    "job": "name of a job, from the answer that began it",
}
# By method and path, the example of each operation: the words of its address, its body, and the answer of the sample
# club with the first item of each list. ``tests/serve/test_examples.py`` writes them again.
EXAMPLES_FILE = Path(__file__).with_name("examples.json")
EXAMPLES: Mapping[str, Mapping[str, Any]] = json.loads(EXAMPLES_FILE.read_bytes())


def document(public_url: str = "") -> dict[str, Any]:
    """Return the whole document.

    Args:
        public_url: the base of the addresses.

    Raises:
        TypeError: two classes have one name.
    """
    parts: dict[str, Any] = {}
    problem = _named(Problem, parts)
    paths = {f"{PREFIX}{route.path}": {"get": _operation(route, parts, problem)} for route in (*ROUTES, *FEED)}
    for post in POSTS:
        paths.setdefault(f"{PREFIX}{post.path}", {})["post"] = _posted(post, parts, problem)
    paths[f"{PREFIX}{IMPORT}"] = {"post": _file_posted(parts, problem)}
    paths |= _of_jobs(parts, problem)
    for path, operations in paths.items():
        for method, operation in operations.items():
            _exemplify(operation, EXAMPLES[f"{method} {path.removeprefix(PREFIX)}"])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rating ledger",
            "version": PROGRAM,
            "description": "Ratings, and what they follow from. Fields and addresses may be added under this prefix; "
            "none goes or means something else. Ratings are in points, unrounded; instants are ISO 8601 in UTC.",
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "servers": [{"url": public_url or "/"}],
        "paths": paths,
        "components": {
            "schemas": parts,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "made by 'token add'"}},
        },
    }


def text() -> str:
    """Return the document as it is published, with no server's name in it."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def _exemplify(operation: dict[str, Any], example: Mapping[str, Any]) -> None:
    """Add the example of an operation to its parameters, its body and its successful answers."""
    for parameter in operation["parameters"]:
        if parameter["name"] in example.get("words", {}):
            parameter["example"] = example["words"][parameter["name"]]
    if "body" in example:
        for content in operation["requestBody"]["content"].values():
            content["example"] = example["body"]
    for status, response in operation["responses"].items():
        contents = response.get("content", {}) if status.startswith("2") else {}
        for media, content in contents.items():
            if (media == JSON) == (not isinstance(example["answer"], str)):
                content["example"] = example["answer"]


def _posted(post: Post, parts: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    """Return the operation of an address that records."""
    _put(bodies.schema(post.body), post.body.__name__, parts)
    content = {"content": {"application/json": {"schema": _named(post.answer, parts)}}}
    done = {"200": {"description": "done; of a repeat, what it was", **content}}
    if post.cost is Cost.JOB:
        done = {"202": {"description": "it waits, or runs; Location says where to ask how far it is", **content}}
    elif post.where is not None or post.answer is Recorded:
        done["201"] = {"description": "recorded, and where it has an address of its own, Location says so", **content}
    parameters = [_parameter(parameter) for parameter in post.parameters]
    if post.takes_once:
        words = {"name": "Idempotency-Key", "in": "header", "description": "the same when the same is sent again"}
        parameters.append({**words, "schema": {"type": "string"}})
    return {
        "operationId": "post_" + re.sub(r"\W+", "_", post.path).strip("_"),
        "summary": post.doc,
        "x-role": post.needs,
        "x-cost": post.cost.value,
        "security": [{"token": []}],
        "parameters": _places(post.path) + parameters,
        "requestBody": {
            "required": bool(attrs.fields(post.body)),
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{post.body.__name__}"}}},
        },
        "responses": {**done, "default": _default(problem)},
    }


def _of_jobs(parts: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    """Return the operations on a job that was begun."""
    job, default = OF_A_JOB, {"default": _default(problem)}
    how_far = {"description": "how far it is", "content": {JSON: {"schema": _named(JobAnswer, parts)}}}
    what_it_wrote = {"description": "what it wrote", "content": {"*/*": {"schema": {"type": "string"}}}}
    rows: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
        (job, "get"): ("How far a job is.", {"200": how_far}),
        (job, "delete"): ("End a job, and forget what it wrote.", {"204": {"description": "it is ended"}}),
        (f"{job}/result", "get"): ("What a job wrote.", {"200": what_it_wrote}),
    }
    paths: dict[str, Any] = {}
    for (path, method), (doc, answers) in rows.items():
        operation = {
            "operationId": f"{method}_" + re.sub(r"\W+", "_", path).strip("_"),
            "summary": doc,
            "security": [{"token": []}],
            "parameters": _places(path),
            "responses": {**answers, **default},
        }
        paths.setdefault(f"{PREFIX}{path}", {})[method] = operation
    return paths


def _file_posted(parts: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    """Return the operation that records a file."""
    return {
        "operationId": "post_imports",
        "summary": IMPORT_DOC,
        "x-role": "recorder",
        "security": [{"token": []}],
        "parameters": [_parameter(parameter) for parameter in IMPORT_PARAMETERS],
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "contentMediaType": "text/plain"}}},
        },
        "responses": {
            "200": {"description": "what became of it", "content": {JSON: {"schema": _named(ImportAnswer, parts)}}},
            "default": _default(problem),
        },
    }


def _places(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "description": _DOCS[name], "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _default(problem: dict[str, Any]) -> dict[str, Any]:
    return {"description": "why there is no answer", "content": {MEDIA: {"schema": problem}}}


def _operation(route: Route, parts: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": re.sub(r"\W+", "_", route.path).strip("_") or "ledger",
        "summary": route.doc,
        "x-cost": route.cost.value,
        "parameters": _places(route.path) + [_parameter(parameter) for parameter in route.every_parameter],
        "responses": {
            "200": {
                "description": route.doc,
                "headers": {
                    "ETag": {"schema": {"type": "string"}, "description": "give it as If-None-Match"},
                    "Ledger-Position": {
                        "schema": {"type": "integer"},
                        "description": "how many entries of the journal the answer follows from",
                    },
                },
                "content": _content(route, parts),
            },
            "304": {"description": "it is as it was"},
            "default": _default(problem),
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    if parameter.many:
        schema = {"type": "array", "items": schema}
    return {"name": parameter.name, "in": "query", "description": parameter.doc, "schema": schema}


def _content(route: Route, parts: dict[str, Any]) -> dict[str, Any]:
    if route.form is None:
        return {media: {"schema": {"type": "string"}} for media in route.media}
    named = _named(route.form, parts)
    if route in FEED:  # which no JSON document is: each line, or the data of each event, is one
        return {media: {"schema": {"type": "string"}, "x-item-schema": named} for media in route.media}
    if not route.rows:
        whole = parts[route.form.__name__]
        if "position" not in whole["properties"]:
            named = {
                **whole,
                "properties": {"position": _POSITION, **whole["properties"]},
                "required": ["position", *whole["required"]],
            }
        own = {"application/json": {"schema": named}}
        text: dict[str, Any] = {"schema": {"type": "string"}}  # bytes have no schema (OpenAPI 3.1, 4.8.14.2)
        others = [media for media in route.media if media not in own]
        return own | {media: {} if media == "image/png" else text for media in others}
    page = {
        "type": "object",
        "properties": {
            "position": _POSITION,
            "rows": {"type": "array", "items": named},
            "next": {"type": ["string", "null"], "description": "where the next rows are; null: there are no more"},
        },
        "required": ["position", "rows", "next"],
        "additionalProperties": False,
    }
    text_of_rows = {"schema": {"type": "string"}}
    return {
        media.partition(";")[0]: {"schema": page} if form == "json" else text_of_rows
        for form, media in ROWS_MEDIA.items()
    }


def _named(form: type, parts: dict[str, Any]) -> dict[str, Any]:
    """Return a reference to the schema of a class, which is put among the parts with those that it is made of."""
    _put(class_schema(form, form.__name__), form.__name__, parts)
    return {"$ref": f"#/components/schemas/{form.__name__}"}


def _put(made: dict[str, Any], name: str, parts: dict[str, Any]) -> None:
    """Put the schema of a class among the parts, with those that it is made of."""
    schema = json.loads(json.dumps(made).replace("#/$defs/", "#/components/schemas/"))
    del schema["$schema"], schema["title"]
    for part_name, part in {**schema.pop("$defs", {}), name: schema}.items():
        if parts.setdefault(part_name, part) != part:
            raise TypeError(f"two answers have a part {part_name!r}")
