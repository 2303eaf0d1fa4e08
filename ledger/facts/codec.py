"""Encodes events as canonical bytes and decodes them, strictly. The only module that knows JSON and cattrs.

A body is the whole entry as JSON canonicalised by RFC 8785, restricted to what has one spelling everywhere: ASCII
keys in order, NFC text, whole numbers below 2^53, no floats, no nulls, at most 65,535 bytes. Events pass the checks of
their classes and so lie in that subset.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache, lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple, Union, get_args, get_origin

import attrs
import orjson

from ledger.errors import MalformedError
from ledger.facts.changes import Change
from ledger.facts.event_fields import MAX_WHOLE, is_plain_text
from ledger.facts.events import (
    BY_KIND,
    EVENTS,
    OLD_KINDS,
    ConversionRange,
    CorrectionProposed,
    Event,
    PolicySet,
    SchemeAdopted,
)
from ledger.facts.instants import PRECISION_BY_LENGTH, Precision, instant_ms, without_zero_fraction
from ledger.facts.person_names import actor_faults, redact_tokens
from ledger.runtime.lazy import cattrs, cattrs_gen

MAX_BODY = 65_535
MAX_ACTOR = 128
_LISTS: tuple[Any, ...] = (tuple[ConversionRange, ...], tuple[Change, ...])
_NESTED = (SchemeAdopted, CorrectionProposed, PolicySet)  # kinds with keys inside their facts
_ENTRY_KEYS = ("actor", "facts", "key", "kind", "position", "recorded_at")
_ACTOR_WANTED = f"1 to {MAX_ACTOR} characters of NFC text without controls or outer blanks"
RECORDED_AT_LENGTH = 24


def _without(fields: frozenset[str], facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of an older kind unchanged; it has none of the fields that came later."""
    # No release ever wrote such bytes: read as the new kind, they would be a second spelling of one fact.
    if late := sorted(fields & facts.keys()):
        raise ValueError(f"no field {late[0]!r} in this kind")
    return facts


# A kind that is no longer written, the kind it became, and the function that carries its facts forward; the
# key field is among them, as in ``facts_mapping``.
UPCASTS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    kind: (cls.KIND, partial(_without, fields)) for kind, (cls, fields) in OLD_KINDS.items()
}


@attrs.frozen(kw_only=True)
class Entry:
    """A decoded journal entry: position, time, actor, event.

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


def _objects(value: Any, kind: Any) -> tuple[Any, ...]:
    """Return a list of objects of one class; every fault names the place in the list."""
    if type(value) is not list:
        raise ValueError(f"expected a list of objects, got {value!r}")
    cls = get_args(kind)[0]
    objects: list[Any] = []
    problems: list[str] = []
    for place, item in enumerate(value):
        try:
            objects.append(_object(item, cls))
        except ValueError as error:
            problems.append(f"[{place}]: {error}")
    if problems:
        raise ValueError("; ".join(problems))
    return tuple(objects)


def _object(item: Any, cls: type) -> Any:
    fields = attrs.fields_dict(cls)
    needed = {name for name, field in fields.items() if field.default is attrs.NOTHING}
    if not isinstance(item, dict) or not needed <= item.keys() <= fields.keys():
        expected = f"{', '.join(sorted(needed))} and perhaps {', '.join(sorted(fields.keys() - needed))}"
        raise ValueError(f"expected an object of {expected}, got {item!r}")
    for name, value in item.items():
        if value is None:
            raise ValueError(f"null is not written: leave {name} out")
    # what is no word of an enumeration is taken as it is: the class's validators look at it
    attrs.resolve_types(cls)
    words = [name for name in item if "enum" in fields[name].metadata["schema"]]
    # attrs says that a field may lack a type; ``resolve_types`` has put one into each.
    return cls(**{**item, **{name: _converter().structure(item[name], fields[name].type) for name in words}})  # type: ignore[arg-type]


@cache
def _converter() -> cattrs.Converter:
    """Structure the fields of an event, exactly as they are written."""
    converter = cattrs.Converter(forbid_extra_keys=True)

    # cattrs coerces (``int("7")`` is 7): one fact would have several spellings
    def exactly(value: Any, kind: type) -> Any:
        if type(value) is not kind:
            raise ValueError(f"expected {kind.__name__}, got {value!r}")
        return value

    def member(value: Any, kind: type[StrEnum]) -> StrEnum:
        if type(value) is not str or value not in kind._value2member_map_:
            raise ValueError(f"expected one of {[c.value for c in kind]}, got {value!r}")
        return kind(value)

    def is_optional(kind: Any) -> bool:
        # ``A | None`` and ``Optional[A]`` are of two classes
        return get_origin(kind) in {Union, types.UnionType} and type(None) in get_args(kind)

    def is_mapping(kind: Any) -> bool:
        return get_origin(kind) is Mapping

    def present(value: Any, kind: Any) -> Any:
        if value is None:
            # a fact with the field left out would have a second spelling
            raise ValueError("null is not written: leave the field out")
        inner = next(part for part in get_args(kind) if part is not type(None))
        return converter.structure(value, inner)

    for exact in (str, int, bool):
        converter.register_structure_hook(exact, exactly)
    converter.register_structure_hook_func(is_optional, present)
    converter.register_structure_hook(StrEnum, member)
    # A mapping is taken as it is: the class's own validator looks inside.
    converter.register_structure_hook_func(is_mapping, lambda value, _: value)
    converter.register_structure_hook_func(lambda kind: kind in _LISTS, _objects)
    return converter


@cache
def _structure(kind: str) -> Callable[[Mapping[str, Any], Any], Event]:
    """Return the builder of events of a kind, made when its first is read: most questions read one entry or none."""
    cls = BY_KIND[kind]
    attrs.resolve_types(cls)
    return cattrs_gen.make_dict_structure_fn(cls, _converter(), _cattrs_forbid_extra_keys=True)


class _Written(NamedTuple):
    """The layout of the facts of a kind: their names in canonical order, and whether some of them have keys inside."""

    names: tuple[str, ...]
    read: Callable[[Event], tuple[Any, ...]]
    option: int | None

    @classmethod
    def of(cls, kind: type[Event]) -> _Written:
        names = tuple(sorted(field.name for field in attrs.fields(kind) if field.name != kind.KEY_FIELD))
        # ``attrgetter`` gives a single field bare, and takes no fewer than one
        read: Callable[[Event], Any] = attrgetter(*names) if names else lambda _: ()
        option = orjson.OPT_SORT_KEYS if kind in _NESTED else None  # the names themselves are in order already
        return cls(names, (lambda event: (read(event),)) if len(names) == 1 else read, option)


_WRITTEN = {kind: _Written.of(kind) for kind in EVENTS}


# ``attrs.asdict`` looks at each value for classes within: four times the cost of reading the fields by ``attrgetter``.
def _stored(event: Event) -> dict[str, Any]:
    """Yield the fields that are written, in canonical order. A built event has passed its checks."""
    written = _WRITTEN[type(event)]
    plain = {name: value for name, value in zip(written.names, written.read(event), strict=True) if value is not None}
    if type(event) is SchemeAdopted and event.conversion is not None:
        ranges = [attrs.asdict(conversion) for conversion in event.conversion]
        plain["conversion"] = [{k: v for k, v in numbers.items() if v is not None} for numbers in ranges]
    elif type(event) is CorrectionProposed:
        plain["changes"] = [change.plain() for change in event.changes]
    return plain


def facts(event: Event) -> bytes:
    """Return the facts of an event as canonical JSON bytes, without the field that the key carries."""
    # orjson writes dicts alone; settings may be any other mapping.
    return orjson.dumps(_stored(event), option=_WRITTEN[type(event)].option, default=dict)


def facts_mapping(event: Event) -> dict[str, Any]:
    """Return the facts of an event as plain values with its key field; absent optional fields are left out."""
    plain = {name: str(value) if isinstance(value, StrEnum) else value for name, value in _stored(event).items()}
    if event.KEY_FIELD:
        plain = {event.KEY_FIELD: getattr(event, event.KEY_FIELD), **plain}
    return plain


@lru_cache(maxsize=256)  # asked of every entry that is read; a journal has few actors
def _is_actor(actor: str) -> bool:
    return type(actor) is str and is_plain_text(actor, MAX_ACTOR)


@lru_cache(maxsize=64)  # one actor records many entries
def actor_json(actor: str) -> str:
    """Return the name of an actor as JSON text with its quotation marks.

    Entries that are read are checked less strictly: journals of earlier releases may hold names with invisible
    characters.

    Raises:
        MalformedError: not 1 to 128 characters of plain NFC text, an invisible character, or a token.
    """
    if not _is_actor(actor):
        without_token = redact_tokens(actor) if type(actor) is str else actor
        raise MalformedError([f"expected {_ACTOR_WANTED}, got {without_token!r} @ $.actor"])
    if faults := actor_faults(actor):
        raise MalformedError(faults)
    return orjson.dumps(actor).decode()


# The keys of an entry in the order of RFC 8785: actor, facts, key, kind, position, recorded_at.
@lru_cache(maxsize=64)
def _head(actor: str) -> bytes:
    return b'{"actor":%b,"facts":' % actor_json(actor).encode()


@lru_cache(maxsize=64)  # the entries of a transaction end in the same way
def _tail(kind: str, recorded_at: str) -> bytes:
    """Return the text that follows the facts, with room for the key and the position."""
    return b',"key":%%b,"kind":"%b","position":%%d,"recorded_at":"%b"}' % (kind.encode(), recorded_at.encode())


def assemble(position: int, recorded_at: str, actor: str, kind: str, key: str, facts_bytes: bytes) -> bytes:
    """Return the bytes of a journal entry around facts that are encoded already.

    Raises:
        MalformedError: the actor is not plain text, or the body is longer than 65,535 bytes.
    """
    body = _head(actor) + facts_bytes + _tail(kind, recorded_at) % (orjson.dumps(key), position)
    if len(body) > MAX_BODY:
        raise MalformedError([f"entry {key!r} has {len(body)} bytes, more than {MAX_BODY} @ $"])
    return body


def body_of(position: int, recorded_at: str, actor: str, event: Event) -> bytes:
    """Return the bytes of an event's journal entry.

    Raises:
        MalformedError: the actor is not plain text, or the body is longer than 65,535 bytes.
    """
    return assemble(position, recorded_at, actor, event.KIND, event.key, facts(event))


def structure_event(kind: object, fact_names: object, path: str = "$.facts") -> Event:
    """Return the event of *kind* with these facts; facts of old kinds are carried forward.

    Raises:
        MalformedError: unknown kind, or any field missing, unknown, or not exactly of its type.
    """
    # one step after the other: what a kind became may have become another one since
    while isinstance(kind, str) and kind in UPCASTS and isinstance(fact_names, dict):
        old, (kind, carry) = kind, UPCASTS[kind]
        try:
            fact_names = carry(fact_names)
        except (LookupError, TypeError, ValueError) as error:
            raise MalformedError([f"not the facts of a {old!r} ({error!r}) @ {path}"]) from None
    cls = _class_of(kind)
    if cls is None:
        raise MalformedError([f"unknown kind {kind!r}, expected one of {sorted(BY_KIND)} @ $.kind"])
    if not isinstance(fact_names, dict):
        raise MalformedError([f"expected an object, got {fact_names!r} @ {path}"])
    try:
        return _structure(cls.KIND)(fact_names, cls)
    except cattrs.ClassValidationError as error:  # its words are of Python: each field is asked once more for ours
        # where each field may be, what the class says of several together is all that there is
        faults = _faults(cls, fact_names, path) or [f"{fault} @ {path}" for fault in error.exceptions]
        raise MalformedError(faults) from None


def _faults(cls: type[Event], facts_read: Mapping[str, Any], path: str) -> list[str]:
    """Yield every fault of the given fields, each with its place; building the class would stop at the first."""
    fields = attrs.fields_dict(cls)
    problems = [f"unknown field, expected one of {sorted(fields)} @ {path}.{n}" for n in facts_read if n not in fields]
    for name, field in fields.items():
        if name not in facts_read:
            if field.default is attrs.NOTHING:
                problems.append(f"required field missing @ {path}.{name}")
            continue
        try:
            # attrs says that a field may lack a type; those of events have one each.
            value = _converter().structure(facts_read[name], field.type)  # type: ignore[arg-type]
            if field.validator is not None:
                field.validator(None, field, value)
        except ValueError as error:
            problems.append(f"{error} @ {path}.{name}")
    return problems


def _class_of(kind: object) -> type[Event] | None:
    """Return the class that reads a stored kind; old kinds are included."""
    while isinstance(kind, str) and kind in UPCASTS:
        kind = UPCASTS[kind][0]
    return BY_KIND.get(kind) if isinstance(kind, str) else None


def _event_of(kind: object, key: str, facts_read: object) -> Event:
    """Return the event of a stored entry; only the key holds the key field."""
    cls = _class_of(kind)
    if cls is not None and cls.KEY_FIELD and isinstance(facts_read, dict):
        if cls.KEY_FIELD in facts_read:
            raise MalformedError([f"the key carries this field: leave it out @ $.facts.{cls.KEY_FIELD}"])
        facts_read = {cls.KEY_FIELD: key.partition(":")[2], **facts_read}
    return structure_event(kind, facts_read)


def is_recorded_at(value: object) -> bool:
    """Return whether a value is an instant with milliseconds, zero or not, as entries are stamped."""
    if type(value) is not str or len(value) != RECORDED_AT_LENGTH:
        return False
    try:
        instant_ms(without_zero_fraction(value))
    except ValueError:
        return False
    return PRECISION_BY_LENGTH[len(value)] is Precision.MILLISECOND


_ENTRY_CHECKS: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("actor", _ACTOR_WANTED, lambda value: type(value) is str and _is_actor(value)),
    ("key", "text", lambda value: type(value) is str),
    ("position", "a position from 1", lambda value: type(value) is int and 0 < value <= MAX_WHOLE),
    ("recorded_at", "an instant to the millisecond", is_recorded_at),
)


def decode(body: bytes) -> Entry:
    """Return the entry that canonical bytes hold, and refuse any other spelling.

    Raises:
        MalformedError: not JSON, or anything unknown, missing or not exactly of its type (every fault is
            listed), or not in the one spelling.
    """
    if len(body) > MAX_BODY:
        raise MalformedError([f"a body has at most {MAX_BODY} bytes, got {len(body)} @ $"])
    try:
        plain = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedError([f"not JSON: {error} @ $"]) from None
    if not isinstance(plain, dict):
        raise MalformedError([f"expected an object, got {plain!r} @ $"])
    problems = [f"required field missing @ $.{name}" for name in _ENTRY_KEYS if name not in plain]
    problems += [f"unknown field, expected one of {list(_ENTRY_KEYS)} @ $.{n}" for n in plain if n not in _ENTRY_KEYS]
    for name, expected, holds in _ENTRY_CHECKS:
        if name in plain and not holds(plain[name]):
            problems.append(f"expected {expected}, got {plain[name]!r} @ $.{name}")
    if isinstance(plain.get("key"), str) and "facts" in plain and "kind" in plain:
        # checked even if something else is wrong, so that all faults are reported at once
        try:
            event = _event_of(plain["kind"], plain["key"], plain["facts"])
        except MalformedError as error:
            raise MalformedError([*problems, *error.problems]) from None
        if plain["key"] != event.key:
            problems.append(f"expected {event.key!r}, got {plain['key']!r} @ $.key")
    if problems:
        raise MalformedError(problems)
    # orjson takes the last of two equal keys, and other blanks and escapes: only the bytes show the one spelling
    if orjson.dumps(plain, option=orjson.OPT_SORT_KEYS) != body:
        raise MalformedError(["not canonical: a repeated field, another order, other blanks or escapes @ $"])
    return Entry(position=plain["position"], recorded_at=plain["recorded_at"], actor=plain["actor"], event=event)
