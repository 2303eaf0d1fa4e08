"""Events to canonical bytes and back. The only module that knows JSON and cattrs; no coercion either way.

A body is the whole entry as JSON canonicalised by RFC 8785, restricted to what has one spelling everywhere: ASCII
keys in order, NFC text, whole numbers below 2^53, no floats, no nulls, at most 65,535 bytes.
"""

from __future__ import annotations

import types
import unicodedata
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Union, get_args, get_origin

import attrs
import orjson
from cattrs import ClassValidationError, Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from ledger.errors import MalformedError
from ledger.events import BY_KIND, EVENTS, Event
from ledger.model import PRECISION_BY_LENGTH, Precision, instant_ms

MAX_BODY = 65_535
_ENTRY_KEYS = ("actor", "facts", "key", "kind", "position", "recorded_at")
RECORDED_AT_LENGTH = 24

# A kind that is no longer written, the kind it became, and the function that carries its facts forward.
UPCASTS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {}


@attrs.frozen(kw_only=True)
class Entry:
    """One journal entry, decoded.

    Attributes:
        position: place in the journal, from 1.
        recorded_at: when it was recorded, to the millisecond; never influences a rating.
        actor: who recorded it.
        event: the fact.
    """

    position: int
    recorded_at: str
    actor: str
    event: Event


def _exactly(expected: type) -> Callable[[Any, Any], Any]:
    def structure(value: Any, _: Any) -> Any:
        if type(value) is not expected:
            raise ValueError(f"expected {expected.__name__}, got {value!r}")
        return value

    return structure


def _member(value: Any, cls: type[StrEnum]) -> StrEnum:
    if type(value) is not str or value not in cls._value2member_map_:
        raise ValueError(f"expected one of {[c.value for c in cls]}, got {value!r}")
    return cls(value)


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in {Union, types.UnionType} and type(None) in get_args(kind)


def _is_mapping(kind: Any) -> bool:
    return get_origin(kind) is Mapping


def _make_converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, omit_if_default=True)
    for exact in (str, int, bool):
        converter.register_structure_hook(exact, _exactly(exact))

    def present(value: Any, kind: Any) -> Any:
        if value is None:
            raise ValueError("null is not written: leave the field out")
        inner = next(part for part in get_args(kind) if part is not type(None))
        return converter.structure(value, inner)

    converter.register_structure_hook_func(_is_optional, present)
    converter.register_structure_hook(StrEnum, _member)
    # A mapping is taken as it is: the class's own validator looks inside.
    converter.register_structure_hook_func(_is_mapping, lambda value, _: value)
    for cls in EVENTS:
        attrs.resolve_types(cls)
        left_out: dict[str, Any] = {cls.KEY_FIELD: override(omit=True)} if cls.KEY_FIELD else {}
        unstructure = make_dict_unstructure_fn(cls, converter, _cattrs_omit_if_default=True, **left_out)
        converter.register_unstructure_hook(cls, unstructure)
        converter.register_structure_hook(
            cls, make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True)
        )
    return converter


_CONVERTER = _make_converter()


def _check_canonical(value: Any, path: str, problems: list[str]) -> None:
    if isinstance(value, str):
        if not unicodedata.is_normalized("NFC", value):
            problems.append(f"text must be in Unicode form NFC, got {value!r} @ {path}")
    elif isinstance(value, bool):
        pass
    elif isinstance(value, int):
        if abs(value) >= 2**53:
            problems.append(f"whole numbers must stay below 2^53, got {value} @ {path}")
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if not isinstance(key, str) or not key.isascii():
                problems.append(f"keys must be ASCII text, got {key!r} @ {path}")
            _check_canonical(one, f"{path}.{key}", problems)
    else:
        problems.append(f"{type(value).__name__} has no place in an entry, got {value!r} @ {path}")


def canonical(value: Mapping[str, Any]) -> bytes:
    """The one spelling of *value* in bytes (RFC 8785 within the subset above).

    Raises:
        MalformedError: something in it lies outside the subset; every fault is listed.
    """
    problems: list[str] = []
    _check_canonical(value, "$", problems)
    if problems:
        raise MalformedError(problems)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def facts(event: Event) -> bytes:
    """The canonical bytes of an event's facts, without its key field."""
    return canonical(_CONVERTER.unstructure(event))


def facts_mapping(event: Event) -> dict[str, Any]:
    """An event's facts as plain values, its key field included, optional fields that are absent left out."""
    plain: dict[str, Any] = _CONVERTER.unstructure(event)
    if event.KEY_FIELD:
        plain = {event.KEY_FIELD: getattr(event, event.KEY_FIELD), **plain}
    return plain


def seal_text(value: str) -> str:
    """*value* as JSON text with its quotation marks."""
    return orjson.dumps(value).decode()


def assemble(position: int, recorded_at: str, actor: str, kind: str, key: str, facts_bytes: bytes) -> bytes:
    """The body of an entry around facts that are canonical bytes already.

    Raises:
        MalformedError: the body is longer than 65,535 bytes.
    """
    head = b'{"actor":' + orjson.dumps(actor) + b',"facts":'
    tail = b',"key":%b,"kind":"%b","position":%d,"recorded_at":"%b"}' % (
        orjson.dumps(key), kind.encode(), position, recorded_at.encode(),
    )  # fmt: skip
    body = head + facts_bytes + tail
    if len(body) > MAX_BODY:
        raise MalformedError([f"entry {key!r} has {len(body)} bytes, more than {MAX_BODY} @ $"])
    return body


def structure_event(kind: str, facts_given: object, path: str = "$.facts") -> Event:
    """Build the event of *kind* from plain values, carrying old kinds forward.

    Raises:
        MalformedError: unknown kind, or any field missing, unknown, or not exactly of its type.
    """
    while kind in UPCASTS and isinstance(facts_given, dict):
        kind, carry = UPCASTS[kind]
        facts_given = carry(facts_given)
    cls = BY_KIND.get(kind)
    if cls is None:
        raise MalformedError([f"unknown kind {kind!r}, expected one of {sorted(BY_KIND)} @ $.kind"])
    if not isinstance(facts_given, dict):
        raise MalformedError([f"expected an object, got {facts_given!r} @ {path}"])
    try:
        return _CONVERTER.structure(facts_given, cls)
    except ClassValidationError:
        raise MalformedError(_faults(cls, facts_given, path)) from None


def _faults(cls: type[Event], given: Mapping[str, Any], path: str) -> list[str]:
    """Every fault of the given fields, each with its place; building the class would stop at the first."""
    fields = attrs.fields_dict(cls)
    problems = [f"unknown field, expected one of {sorted(fields)} @ {path}.{n}" for n in given if n not in fields]
    for name, field in fields.items():
        if name not in given:
            if field.default is attrs.NOTHING:
                problems.append(f"required field missing @ {path}.{name}")
            continue
        try:
            value = _CONVERTER.structure(given[name], field.type)  # type: ignore[arg-type]
            if field.validator is not None:
                field.validator(None, field, value)
        except ValueError as error:
            problems.append(f"{error} @ {path}.{name}")
    return problems


def _with_key_field(kind: str, key: object, plain: object) -> object:
    cls = BY_KIND.get(kind)
    if cls is not None and cls.KEY_FIELD and isinstance(plain, dict) and isinstance(key, str):
        return {cls.KEY_FIELD: key.partition(":")[2], **plain}
    return plain


def decode(body: bytes) -> Entry:
    """Read one body strictly.

    Raises:
        MalformedError: not JSON, or anything in it unknown, missing or not exactly of its type.
    """
    try:
        plain = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedError([f"not JSON: {error} @ $"]) from None
    if not isinstance(plain, dict) or tuple(sorted(plain)) != _ENTRY_KEYS:
        raise MalformedError([f"an entry has exactly the fields {', '.join(_ENTRY_KEYS)} @ $"])
    event = structure_event(plain["kind"], _with_key_field(plain["kind"], plain["key"], plain["facts"]))
    problems = [
        f"expected {wanted}, got {plain[name]!r} @ $.{name}"
        for name, wanted, ok in (
            ("actor", "text", type(plain["actor"]) is str),
            ("key", event.key, plain["key"] == event.key),
            ("position", "a position from 1", type(plain["position"]) is int and plain["position"] > 0),
            ("recorded_at", "an instant to the millisecond", is_recorded_at(plain["recorded_at"])),
        )
        if not ok
    ]
    if problems:
        raise MalformedError(problems)
    return Entry(
        position=plain["position"], recorded_at=plain["recorded_at"], actor=plain["actor"], event=event
    )


def is_recorded_at(value: object) -> bool:
    """True for an instant written with its milliseconds, zero or not, so that all have one length."""
    if type(value) is not str or len(value) != RECORDED_AT_LENGTH:
        return False
    try:
        instant_ms(value if not value.endswith(".000Z") else value[:19] + "Z")
    except ValueError:
        return False
    return PRECISION_BY_LENGTH[len(value)] is Precision.MILLISECOND
