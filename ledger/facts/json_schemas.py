"""JSON Schemas (draft 2020-12), made from the classes: of the journal's entries, and of the documents given to others.

They are published for readers in other languages. A schema cannot say everything: that a day exists, that
text is in Unicode form NFC, that the key fits the facts and that the bytes are canonical, ``codec.decode`` judges.
Every field of a document's class says what it means, with its unit (``documented``), and its annotation says what it
may be.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from enum import Enum
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from ledger.facts.codec import MAX_ACTOR, RECORDED_AT_LENGTH
from ledger.facts.event_fields import MAX_WHOLE, PLAIN_TEXT_PATTERN
from ledger.facts.events import BY_KIND, OLD_KINDS, Event

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KEY_PREFIX = "[a-z]+:"
_DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}"


def entry_schema(kind: str) -> dict[str, Any]:
    """Return the schema of a whole entry of a kind; kinds that are no longer written are included."""
    # of an old kind the fields of today's class but those that came later, which none of its entries may have
    cls, later = OLD_KINDS[kind] if kind in OLD_KINDS else (BY_KIND[kind], frozenset())
    properties = {
        "actor": _described(
            "who recorded the entry",
            {"type": "string", "minLength": 1, "maxLength": MAX_ACTOR, "pattern": f"^{PLAIN_TEXT_PATTERN}$"},
        ),
        "facts": facts_schema(cls, later),
        "key": _key_schema(cls),
        "kind": _described("name and version of the event", {"const": kind}),
        "position": _described(
            "place in the journal, counted from 1 without gaps",
            {"type": "integer", "minimum": 1, "maximum": MAX_WHOLE},
        ),
        "recorded_at": _described(
            "when the entry was recorded, in UTC to the millisecond; never influences a rating",
            {"type": "string", "pattern": f"^{_DAY}T{_TIME}Z$", "maxLength": RECORDED_AT_LENGTH},
        ),
    }
    return {
        "$schema": DIALECT,
        "title": kind,
        "description": f"Read as {cls.KIND}, no longer written." if kind in OLD_KINDS else cleandoc(cls.__doc__ or ""),
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def facts_schema(cls: type[Event], later: Collection[str] = ()) -> dict[str, Any]:
    """Return the schema of the stored facts: without the field that the key carries, and those that came later."""
    left_out = {cls.KEY_FIELD, *later}
    fields = sorted((field for field in attrs.fields(cls) if field.name not in left_out), key=lambda field: field.name)
    return {
        "type": "object",
        "properties": {field.name: _described(field.metadata["doc"], field.metadata["schema"]) for field in fields},
        "required": [field.name for field in fields if field.default is attrs.NOTHING],
        "additionalProperties": False,
    }


def documents() -> dict[str, str]:
    """Return every schema as the text of a file, by file name: ``game-recorded-1.json``, ..."""
    return {
        f"{kind.replace('/', '-')}.json": json.dumps(entry_schema(kind), indent=2, ensure_ascii=False) + "\n"
        for kind in (*BY_KIND, *OLD_KINDS)
    }


def _described(doc: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    more = schema.get("description")
    return {
        "description": f"{doc}; {more}" if more else doc,
        **{k: v for k, v in schema.items() if k != "description"},
    }


def _key_schema(cls: type[Event]) -> dict[str, Any]:
    """Return the form of the key: a word and, if it carries a field, exactly the values of that field."""
    rest = "[!-~]+"
    if cls.KEY_FIELD:
        # Without the anchors of the pattern, because a word and a colon precede it in the key.
        rest = attrs.fields_dict(cls)[cls.KEY_FIELD].metadata["schema"]["pattern"][1:-1]
    form = cleandoc(cls.key.__doc__ or "").replace("`", "").rstrip(".")
    return {
        "description": f"the fact's own identity: {form}",
        "type": "string",
        # With both anchors: JSON Schema looks for a pattern anywhere in a text.
        "pattern": f"^{_KEY_PREFIX}{rest}$",
    }


_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}


FLATTENED = "beside"


def documented(doc: str, **limits: Any) -> Any:
    """Return a field of an exported class with its description and unit; *limits* are words of JSON Schema."""
    return attrs.field(metadata={"doc": doc, "limits": limits})


def flattened() -> Any:
    """Return a field whose class's fields join the others instead of an object of their own; None: absent."""
    return attrs.field(default=None, metadata={FLATTENED: True})


def key_of(field: attrs.Attribute[Any]) -> str:
    """Return the name of a field in JSON: without the underscore that keeps ``class_`` from being a keyword."""
    return field.name.removesuffix("_")


def class_schema(cls: type[Any], title: str) -> dict[str, Any]:
    """Return the schema of a document that ``attrs.asdict`` makes of an object of *cls*.

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
    properties: dict[str, Any] = {}
    required: list[str] = []
    for field in attrs.fields(cls):
        hint = hints[field.name]
        if FLATTENED in field.metadata:
            choices = get_args(hint) or (hint,)
            made = _object(next(choice for choice in choices if choice is not NoneType), parts)
            properties |= made["properties"]
            required += [] if NoneType in choices else made["required"]
        else:
            doc, limits = field.metadata["doc"], field.metadata["limits"]
            properties[key_of(field)] = {"description": doc, **_type(hint, parts), **limits}
            required.append(key_of(field))
    return {
        "description": " ".join(cleandoc(cls.__doc__ or "").partition("\n\n")[0].split()),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _type(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an annotation; classes go into *parts*, by name."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in {Union, UnionType}:
        choices = [_type(argument, parts) for argument in arguments]
        if all(choice.keys() == {"type"} for choice in choices):
            return {"type": [choice["type"] for choice in choices]}
        return {"anyOf": choices}
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
