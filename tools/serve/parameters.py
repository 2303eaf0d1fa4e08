"""The parameters of queries: described once, for parsing and for the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from ledger.facts.instants import instant_ms
from ledger.runtime.nearest import did_you_mean

from .limits import MOST_FAULTS

Query = Mapping[str, Any]  # by name of a parameter, its value, or the default
LONGEST = 1_000  # characters of a value


class BadValue(NamedTuple):
    """A parameter that cannot be, and why."""

    parameter: str
    detail: str


@attrs.frozen(kw_only=True)
class Parameter:
    """A parameter of a question.

    Attributes:
        name: as in the address.
        doc: what it says.
        schema: what it may be, as JSON Schema.
        read: makes the value of the text; raises ValueError with what is wrong.
        default: the value where it is not given.
        many: whether it may be given several times, which makes a list.
    """

    name: str
    doc: str
    schema: Mapping[str, Any]
    read: Callable[[str], Any] = str
    default: Any = None
    many: bool = False


def text(name: str, doc: str, *, many: bool = False, read: Callable[[str], Any] = str) -> Parameter:
    """Any words."""
    default = () if many else None
    return Parameter(name=name, doc=doc, schema={"type": "string"}, many=many, default=default, read=read)


def instant(name: str, doc: str) -> Parameter:
    """Return a day, a month, a year, or a second of a day."""

    def read(value: str) -> str:
        instant_ms(value)
        return value

    return Parameter(name=name, doc=doc, schema={"type": "string", "examples": ["2024-05-31", "2024-05"]}, read=read)


def whole(name: str, doc: str, default: int | None, least: int = 0, most: int = 10**15, **more: Any) -> Parameter:
    """Return a whole number within bounds, both included."""

    def read(value: str) -> int:
        if not (value.isascii() and value.isdecimal() and least <= int(value) <= most):
            raise ValueError(f"expected a whole number from {least} to {most}, got {value!r}")
        return int(value)

    schema = {"type": "integer", "minimum": least, "maximum": most}
    if default is not None:
        schema["default"] = default
    return Parameter(name=name, doc=doc, schema=schema, read=read, default=default, **more)


def choice(name: str, doc: str, words: Sequence[str], default: str | None = None) -> Parameter:
    """Return one of some words."""

    def read(value: str) -> str:
        if value not in words:
            raise ValueError(f"expected one of {', '.join(words)}; {did_you_mean(value, words)}got {value!r}")
        return value

    schema: dict[str, Any] = {"enum": list(words)}
    if default is not None:
        schema["default"] = default
    return Parameter(name=name, doc=doc, schema=schema, read=read, default=default)


YES = ("yes", "no")
# A group of players by their data.
GROUP = (
    text("federation", "only players of this federation, three letters"),
    text("club", "only players of this club"),
    choice("women", "only women", YES),
    whole("juniors", "only who is at most so old in that year", None, 1, 200),
    whole("seniors", "only who is at least so old in that year", None, 1, 200),
    choice("listed_active", "without players whom their federation's list calls inactive", YES),
)
GROUP_NAMES = tuple(parameter.name for parameter in GROUP)


def parse_query(
    parameters: Sequence[Parameter], pairs: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], list[BadValue]]:
    """Return the parsed parameters, and everything that is wrong with them.

    Args:
        parameters: those of the question.
        pairs: names and texts, as in the address.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    values: dict[str, list[Any]] = {}
    wrong: list[BadValue] = []
    for name, word in pairs:
        parameter = by_name.get(name)
        if parameter is None:
            takes = f"expected one of {', '.join(by_name)}" if by_name else "there are none here"
            hint = did_you_mean(name, by_name) if len(wrong) < MOST_FAULTS else ""  # an address has room for thousands
            wrong.append(BadValue(name, f"no such parameter; {hint}{takes}"))
            continue
        if len(word) > LONGEST:
            wrong.append(BadValue(name, f"expected at most {LONGEST:,} characters, got {len(word):,}"))
            continue
        try:
            value = parameter.read(word)
        except ValueError as error:
            wrong.append(BadValue(name, str(error)))
        else:
            values.setdefault(name, []).append(value)
    for name, several in values.items():
        if len(several) > 1 and not by_name[name].many:
            wrong.append(BadValue(name, f"given {len(several)} times; once is enough"))
    return {
        name: (values[name] if parameter.many else values[name][-1]) if name in values else parameter.default
        for name, parameter in by_name.items()
    }, wrong
