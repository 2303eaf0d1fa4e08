"""Records: classes whose fields are numbers, one after another in memory.

A class of attrs names numbers that belong together, with what they mean and where they start. A few records are objects
of the class; many are one array of 64-bit floats, which NumPy views as records without a copy, and Numba reads and
writes their fields by name. So one function takes both, with the same bits. A field is a number, a row of numbers, or
another record.

Nothing here knows what the numbers are for.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

import attrs

from ledger.errors import MalformedError
from ledger.runtime.lazy import np

_KEPT = "number"  # in the metadata of a field: what ``number`` or ``part`` said


class RecordNumber(NamedTuple):
    """One number of a record.

    Attributes:
        path: its place for a function, such as ``winning.begun`` or ``wins[2]``.
        name: its name among all numbers of a record.
        start: its value in a new record.
        doc: what it means.
        more: the other metadata of the field.
    """

    path: str
    name: str
    start: float
    doc: str
    more: Mapping[str, Any]


class _Said(NamedTuple):
    start: float
    doc: str
    size: int
    name: str
    first: int
    more: Mapping[str, Any]


def number(start: float, doc: str, *, size: int = 0, name: str = "", first: int = 1, **more: Any) -> Any:
    """Return a field of a record: a number, or a row of *size* numbers.

    Args:
        start: where each begins.
        doc: what it means; ``{}`` is replaced by the label of the part that the field is in, and in a row by the place.
        size: how many numbers; 0 for a single one.
        name: what it is called among all numbers of a record, by default as the field; a row adds the places, or puts
            them in place of ``{place}``.
        first: the first place of a row.
        more: what else is to be known of it.

    Raises:
        MalformedError: it starts with what is no number.
    """
    if isinstance(start, bool) or not isinstance(start, int | float):
        raise MalformedError([f"where a number ({doc}) starts is a number itself, got {start!r}"])
    said = {_KEPT: _Said(start, doc, size, name, first, more)}
    if size:
        return attrs.field(factory=lambda: [float(start)] * size, metadata=said)
    # Compiled code holds floats: an object that began with a whole number would know no -0. What is assigned later is
    # not converted: that made interpreted schemes three to six times slower, and the contracts compare the bits.
    return attrs.field(default=float(start), converter=float, on_setattr=attrs.setters.NO_OP, metadata=said)


def part(record: type, label: str = "") -> Any:
    """Return a field that is a record itself; names and meanings of its numbers have the label in place of ``{}``.

    Raises:
        MalformedError: it is no class of numbers.
    """
    if not (isinstance(record, type) and is_record(record)):
        raise MalformedError([f"a part is a class of attrs whose fields are columns, got {record!r}"])
    return attrs.field(factory=record, metadata={_KEPT: label, "record": record})


def is_record(cls: type) -> bool:
    """Say whether a class is one of attrs, and each of its fields a number, a row or a part."""
    return attrs.has(cls) and all(_KEPT in field.metadata for field in attrs.fields(cls))


@cache
def numbers(cls: type) -> tuple[RecordNumber, ...]:
    """Return the numeric fields of a record, flattened, in their order."""
    return tuple(_numbers(cls, "", ""))


def _numbers(cls: type, before: str, label: str) -> Iterator[RecordNumber]:
    for field in attrs.fields(cls):
        said, path = field.metadata[_KEPT], before + field.name
        if not isinstance(said, _Said):
            yield from _numbers(field.metadata["record"], f"{path}.", said)
            continue
        name = said.name or field.name
        if not said.size:
            yield RecordNumber(path, name.format(label), float(said.start), said.doc.format(label), said.more)
        for i in range(said.size):
            place = said.first + i
            placed = (name if "{place}" in name else name + "_{place}").format(label, place=place)
            yield RecordNumber(f"{path}[{i}]", placed, said.start, said.doc.format(place), said.more)


@cache
def dtype_of(cls: type) -> Any:
    """Return the type as which NumPy views the numbers of a record."""
    kinds: list[Any] = []
    for field in attrs.fields(cls):
        said = field.metadata[_KEPT]
        if not isinstance(said, _Said):
            kinds.append((field.name, dtype_of(field.metadata["record"])))
        else:
            kinds.append((field.name, np.float64, (said.size,)) if said.size else (field.name, np.float64))
    return np.dtype(kinds)


def view_as_records(cls: type, flat: Any) -> Any:
    """View a flat array of 64-bit floats as records of a class, which share its memory."""
    # As NumPy's record arrays, for the interpreter reads their fields by name, too.
    return flat.view(dtype_of(cls)).view(np.recarray)


def generated(source: str, name: str, **names: Any) -> Callable[..., Any]:
    """Return the function of that name in *source*, of which tracebacks and digests find the text.

    Neither Numba nor Python goes over the fields of a record in a loop at no cost: such functions are written out.
    """
    file = f"<generated {name} {sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names["__name__"] = __name__
    exec(compile(source, file, "exec"), names)  # noqa: S102  # of field names alone
    function: Callable[..., Any] = names[name]
    return function


@cache
def make_writer(cls: type) -> Callable[[Any, int, Any], None]:
    """Return ``put(flat, at, record)``: write the numbers of a record into a flat column, from *at* on."""
    lines = [f"    flat[at + {i}] = record.{each.path}" for i, each in enumerate(numbers(cls))]
    return generated("\n".join(["def put(flat, at, record):", *(lines or ["    pass"]), ""]), "put")


@cache
def make_copier(cls: type) -> Callable[[Any, Any], None]:
    """Return ``copy(there, record)``: give one record the numbers of another; the two stay apart.

    What a column of records gives by its place is a reference, compiled and interpreted: only this makes a second one.
    """
    lines = [f"    there.{each.path} = record.{each.path}" for each in numbers(cls)]
    return generated("\n".join(["def copy(there, record):", *(lines or ["    pass"]), ""]), "copy")


@cache
def make_resetter(cls: type) -> Callable[[Any], None]:
    """Return ``clear(record)``: give a record the numbers of a new one."""
    lines = [f"    record.{each.path} = {each.start!r}" for each in numbers(cls)]
    return generated("\n".join(["def clear(record):", *(lines or ["    pass"]), ""]), "clear")


@cache
def make_updater(cls: type) -> Callable[[Any, int, Any], int]:
    """Return ``update(flat, at, record)``: the same; returns 1 if a number there was another one. NaN is as itself."""
    lines = ["def update(flat, at, record):", "    differs = 0"]
    for i, each in enumerate(numbers(cls)):
        lines += [
            f"    before, after = flat[at + {i}], record.{each.path}",
            "    if after != before and (after == after or before == before):",
            "        differs = 1",
            f"    flat[at + {i}] = after",
        ]
    return generated("\n".join([*lines, "    return differs", ""]), "update")


@cache
def make_reader(cls: type) -> Callable[[Sequence[float], int], Any]:
    """Return ``objects(flat, at)``: the object of the numbers in a flat list, from *at* on."""
    makers: dict[str, Any] = {}
    call, _ = _call(cls, makers, 0)
    return generated(f"def objects(flat, at):\n    return {call}\n", "objects", **makers)


def _call(cls: type, makers: dict[str, Any], at: int) -> tuple[str, int]:
    makers[maker := f"{cls.__name__}_{len(makers)}"] = cls
    arguments = []
    for field in attrs.fields(cls):
        said = field.metadata[_KEPT]
        if not isinstance(said, _Said):
            argument, at = _call(field.metadata["record"], makers, at)
        elif said.size:
            argument, at = f"list(flat[at + {at} : at + {at + said.size}])", at + said.size
        else:
            argument, at = f"flat[at + {at}]", at + 1
        arguments.append(argument)
    return f"{maker}({', '.join(arguments)})", at


def flat_of(record: Any) -> list[float]:
    """Return the numbers of one record."""
    cls: type = type(record)
    flat = [0.0] * len(numbers(cls))
    make_writer(cls)(flat, 0, record)
    return flat
