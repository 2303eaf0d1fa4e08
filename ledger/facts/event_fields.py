"""Makers of the fields of events: each field is declared once with its check, description and JSON Schema.

A function for each kind of field, and the patterns and limits that they share. No event is defined here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import attrs

from ledger.errors import MalformedError
from ledger.facts.instants import INSTANT_FORMS, instant_ms

MAX_WHOLE = 2**53 - 1  # every JSON reader keeps whole numbers up to here
MAX_PLAYER = 2**31 - 1
MAX_RATING = 5_000  # points, of a rating that a source shows
MAX_ROUND = 10_000  # of a tournament
MAX_HALF_MOVES = 20_000  # the longest possible game under the 75-move rule has fewer than 18,000 half-moves
KEY_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,95}"
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}"
DECIMAL_PATTERN = r"-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,12})?"
POSITIVE_PATTERN = r"(?:[1-9][0-9]{0,4}(?:\.[0-9]{1,9})?|0\.[0-9]{0,8}[1-9])"  # decimals above 0 and below 100,000
SHA256_PATTERN = r"[0-9a-f]{64}"
FEDERATION_PATTERN = "[A-Z]{3}"
INSTANT_PATTERN = (
    r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2}))?Z)?)?)?"
)
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
ROUND_DAYS_PATTERN = rf"(?:{_DAY}|-)(?: (?:{_DAY}|-))*"
WARNING_CODES_PATTERN = r"[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)*"
_CONTROLS = r"\u0000-\u001f\u007f-\u009f"
# What ``str.strip`` takes from the ends, but for the controls above: what Python refuses a schema's reader refuses.
_BLANKS = r"\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
PLAIN_TEXT_PATTERN = f"[^{_CONTROLS}{_BLANKS}]([^{_CONTROLS}]*[^{_CONTROLS}{_BLANKS}])?"

Check = Callable[[object, "attrs.Attribute[Any]", Any], None]


def field_of(
    doc: str,
    schema: Mapping[str, object],
    check: Check,
    *,
    optional: bool,
    absent: str = "",
    converter: Callable[[Any], Any] | None = None,
) -> Any:
    """Return an attrs field with a check, a description and a JSON Schema.

    Args:
        doc: what it is, with its unit.
        schema: its JSON Schema.
        check: refuses what it may not be.
        optional: it may be absent.
        absent: what its absence states; empty if absence states nothing, so that the field is a blank.
        converter: called with a value before it is checked.
    """
    metadata = {
        "doc": f"{doc}; absent: {absent}" if absent else doc,
        "schema": dict(schema),
        "blank": optional and not absent,
    }
    if optional:

        def check_present(event: object, attribute: attrs.Attribute[Any], value: Any) -> None:
            if value is not None:
                check(event, attribute, value)

        # None means "not stated" in Python alone: in an entry the field is left out
        return attrs.field(default=None, validator=check_present, converter=converter, metadata=metadata)
    return attrs.field(validator=check, converter=converter, metadata=metadata)


def refuse_value(attribute: attrs.Attribute[Any], expected: str, value: object) -> None:
    """Raise the error about a value that a field may not have.

    Raises:
        MalformedError: naming the field, what it must be, and the value.
    """
    raise MalformedError([f"{attribute.name} must be {expected}, got {value!r}"])


def pattern_field(doc: str, pattern: str, *, optional: bool = False) -> Any:
    """Return an attrs field of text that matches a pattern completely."""
    # without it \d takes the digits of every script
    compiled = re.compile(pattern, re.ASCII)

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not str or compiled.fullmatch(value) is None:
            refuse_value(attribute, f"text matching {pattern}", value)

    return field_of(doc, {"type": "string", "pattern": f"^{pattern}$"}, check, optional=optional)


def is_plain_text(value: str, limit: int) -> bool:
    """Return whether a text is 1 to *limit* characters in NFC, no controls, no white space at either end."""
    # the same in fewer steps: nearly all text is
    if value.isascii():
        # Of printable ASCII the blank alone is white space.
        return 0 < len(value) <= limit and value.isprintable() and value[0] != " " != value[-1]
    return (
        0 < len(value) <= limit
        and unicodedata.is_normalized("NFC", value)
        and value.strip() == value
        and not any(unicodedata.category(c) in {"Cc", "Cs"} for c in value)
    )


def text_faults(field: str, text: object, limit: int) -> list[str]:
    """Return the fault of a text that is not plain, or an empty list; the fault ends in the name of its field."""
    if isinstance(text, str) and is_plain_text(text, limit):
        return []
    start = text[:limit] if isinstance(text, str) else text
    return [
        f"must be 1 to {limit} characters of NFC text without control characters or outer blanks, got {start!r}; "
        f"correct it @ $.{field}"
    ]


def text_field(doc: str, limit: int, *, optional: bool = False) -> Any:
    """Return an attrs field of plain text of 1 to *limit* characters."""

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not str or not is_plain_text(value, limit):
            refuse_value(attribute, f"1 to {limit} characters of NFC text without controls or outer blanks", value)

    schema = {
        "type": "string",
        "minLength": 1,
        "maxLength": limit,
        "pattern": f"^{PLAIN_TEXT_PATTERN}$",
        "description": "in Unicode form NFC, without controls or outer blanks",
    }
    return field_of(doc, schema, check, optional=optional)


def integer_field(doc: str, low: int, high: int, *, optional: bool = False, absent: str = "") -> Any:
    """Return an attrs field of whole numbers from *low* to *high*."""

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not int or not low <= value <= high:  # ``isinstance`` would take True for 1
            refuse_value(attribute, f"a whole number from {low} to {high}", value)

    return field_of(doc, {"type": "integer", "minimum": low, "maximum": high}, check, optional=optional, absent=absent)


def instant_field(doc: str, *, optional: bool = False, absent: str = "") -> Any:
    """Return an attrs field of an instant, as precise as it is known."""

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not str:
            refuse_value(attribute, INSTANT_FORMS, value)
        try:
            instant_ms(value)
        except ValueError as error:
            raise MalformedError([f"{attribute.name}: {error}"]) from None

    schema = {
        "type": "string",
        "pattern": f"^{INSTANT_PATTERN}$",
        "description": f"{INSTANT_FORMS}, in UTC, a day that exists, no fraction .000",
    }
    return field_of(doc, schema, check, optional=optional, absent=absent)


def one_of_field(doc: str, choices: type[StrEnum], *, optional: bool = False, absent: str = "") -> Any:
    """Return an attrs field of a member of an enumeration, which its word gives as well."""
    members = {member.value: member for member in choices}

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, choices):
            refuse_value(attribute, f"one of {[*members]}", value)

    def member_of(value: Any) -> Any:
        return members.get(value, value) if type(value) is str else value

    schema = {"enum": [*members]}
    return field_of(doc, schema, check, optional=optional, absent=absent, converter=member_of)


def flag_field(doc: str) -> Any:
    """Return an attrs field that is true or false."""

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not bool:
            refuse_value(attribute, "true or false", value)

    return field_of(doc, {"type": "boolean"}, check, optional=False)


def settings_field(doc: str, words: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Return an attrs field of settings by name: whole numbers, switches, decimals as text, or words.

    Args:
        doc: the meaning of the field.
        words: by the name of a setting that takes words, their pattern.
    """
    name, decimal = re.compile(NAME_PATTERN, re.ASCII), re.compile(DECIMAL_PATTERN, re.ASCII)

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, Mapping):
            refuse_value(attribute, "a mapping of names to values", value)
        for key, setting in value.items():
            if type(key) is not str or name.fullmatch(key) is None:
                refuse_value(attribute, f"keyed by names matching {NAME_PATTERN}", key)
            whole = type(setting) is int and abs(setting) <= MAX_WHOLE
            if key in words:
                if type(setting) is not str or re.fullmatch(words[key], setting, re.ASCII) is None:
                    refuse_value(attribute, f"text matching {words[key]} at {key!r}", setting)
                continue
            is_text = type(setting) is str and decimal.fullmatch(setting)
            if not (whole or type(setting) is bool or is_text):
                refuse_value(attribute, f"whole numbers, true, false or decimals as text at {key!r}", setting)

    texts = {each: {"type": "string", "pattern": f"^({pattern})$"} for each, pattern in words.items()}
    schema = {
        "type": "object",
        "propertyNames": {"pattern": f"^{NAME_PATTERN}$"},
        **({"properties": texts} if texts else {}),
        "additionalProperties": {
            "anyOf": [
                {"type": "integer", "minimum": -MAX_WHOLE, "maximum": MAX_WHOLE},
                {"type": "boolean"},
                {"type": "string", "pattern": f"^{DECIMAL_PATTERN}$"},
            ]
        },
    }
    return field_of(doc, schema, check, optional=False)
