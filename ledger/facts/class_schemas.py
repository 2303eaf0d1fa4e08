"""JSON Schemas (draft 2020-12) of the documents that are given to others, made from the attrs classes they are made of.

Every field of such a class says what it means, with its unit (``documented``), and its annotation says what it may be.
The entries of the journal have schemas of their own (``json_schemas``). No document is written here.
"""

from __future__ import annotations

from enum import Enum
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}


def documented(doc: str, **limits: Any) -> Any:
    """A field of a class that is exported: what it means, with its unit; *limits* are words of JSON Schema."""
    return attrs.field(metadata={"doc": doc, "limits": limits})


def class_schema(cls: type[Any], title: str) -> dict[str, Any]:
    """The schema of a document that ``attrs.asdict`` makes of an object of *cls*.

    Args:
        cls: an attrs class whose fields are ``documented``; so are those of the classes that it is made of.
        title: name and version of the document, such as ``rating-graph/1``.

    Raises:
        TypeError: an annotation of which no JSON is known.
    """
    parts: dict[str, Any] = {}
    whole = _object(cls, parts)
    return {"$schema": DIALECT, "title": title, **whole, **({"$defs": parts} if parts else {})}


def _object(cls: type[Any], parts: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    fields = attrs.fields(cls)
    return {
        "description": " ".join(cleandoc(cls.__doc__ or "").partition("\n\n")[0].split()),
        "type": "object",
        "properties": {field.name: _field(field, hints[field.name], parts) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _field(field: attrs.Attribute[Any], hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    return {"description": field.metadata["doc"], **_type(hint, parts), **field.metadata["limits"]}


def _type(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """The schema of an annotation; classes go into *parts*, by name."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in {Union, UnionType}:
        return _either([_type(argument, parts) for argument in arguments])
    if origin in {tuple, list}:
        return {"type": "array", "items": _type(arguments[0], parts)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(arguments[1], parts)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if isinstance(hint, type) and attrs.has(hint):
        if hint.__name__ not in parts:
            parts[hint.__name__] = {}  # a class may hold objects of its own kind
            parts[hint.__name__] = _object(hint, parts)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    raise TypeError(f"no JSON is known of {hint!r}")


def _either(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several: plain types side by side, anything else as ``anyOf``."""
    if all(choice.keys() == {"type"} for choice in choices):
        return {"type": [choice["type"] for choice in choices]}
    return {"anyOf": choices}
