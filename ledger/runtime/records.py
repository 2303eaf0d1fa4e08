"""Records: classes whose fields are numbers, one after another in memory.

A class of attrs names numbers that belong together, with their meanings and initial values. A few records are objects
of the class; many are one array of 64-bit floats, which NumPy views as records without a copy, and Numba reads and
writes their fields by name. So one function takes both, with the same bits. A field is a number, a row of numbers, or
another record.
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

_FIELD = "number"  # in the metadata of a field: the arguments of ``number`` or ``part``


class RecordNumber(NamedTuple):
    """One number of a record.

    Attributes:
        path: the expression that reads it from a record, such as ``winning.begun`` or ``wins[2]``.
        name: its unique name in the record.
        start: its value in a new record.
        doc: its meaning.
        more: the other metadata of the field.
    """

    path: str
    name: str
    start: float
    doc: str
    more: Mapping[str, Any]


class _NumberField(NamedTuple):
    start: float
    doc: str
    size: int
    name: str
    first: int
    more: Mapping[str, Any]


def number(start: float, doc: str, *, size: int = 0, name: str = "", first: int = 1, **more: Any) -> Any:
    """Declare a field of a record: a number, or a row of *size* numbers.

    Args:
        start: the initial value of each.
        doc: the meaning; ``{}`` is replaced by the label of the part that the field is in, and in a row by the place.
        size: how many numbers; 0 for a single one.
        name: the unique name in a record, by default that of the field; a row adds the places, or puts them in place
            of ``{place}``.
        first: the first place of a row.
        more: other metadata.

    Raises:
        MalformedError: *start* is no number.
    """
    if isinstance(start, bool) or not isinstance(start, int | float):
        raise MalformedError([f"the initial value of a number ({doc}) must be a number, got {start!r}"])
    metadata = {_FIELD: _NumberField(start, doc, size, name, first, more)}
    if size:
        return attrs.field(factory=lambda: [float(start)] * size, metadata=metadata)
    # Compiled code holds floats: an object that began with a whole number would know no -0. What is assigned later is
    # not converted: that made interpreted schemes three to six times slower, and the contracts compare the bits.
    return attrs.field(default=float(start), converter=float, on_setattr=attrs.setters.NO_OP, metadata=metadata)


def part(record: type, label: str = "") -> Any:
    """Declare a field that is a record itself.

    In names and meanings of its numbers the label replaces ``{}``.

    Raises:
        MalformedError: *record* is no class of numbers.
    """
    if not (isinstance(record, type) and is_record(record)):
        raise MalformedError([f"a part is a class of attrs whose fields are columns, got {record!r}"])
    return attrs.field(factory=record, metadata={_FIELD: label, "record": record})


def is_record(cls: type) -> bool:
    """Return whether a class is an attrs class whose fields are numbers, rows of numbers, or parts."""
    return attrs.has(cls) and all(_FIELD in field.metadata for field in attrs.fields(cls))


@cache
def numbers(cls: type) -> tuple[RecordNumber, ...]:
    """Return all numbers of a record in their order, those of its rows and parts included."""
    return tuple(_numbers(cls, "", ""))


def _numbers(cls: type, before: str, label: str) -> Iterator[RecordNumber]:
    for field in attrs.fields(cls):
        said, path = field.metadata[_FIELD], before + field.name
        if not isinstance(said, _NumberField):
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
    """Return the NumPy dtype of a record."""
    kinds: list[Any] = []
    for field in attrs.fields(cls):
        said = field.metadata[_FIELD]
        if not isinstance(said, _NumberField):
            kinds.append((field.name, dtype_of(field.metadata["record"])))
        else:
            kinds.append((field.name, np.float64, (said.size,)) if said.size else (field.name, np.float64))
    return np.dtype(kinds)


def view_as_records(cls: type, flat: Any) -> Any:
    """View a flat array of 64-bit floats as records of a class, which share its memory."""
    # As NumPy's record arrays, for the interpreter reads their fields by name, too.
    return flat.view(dtype_of(cls)).view(np.recarray)


def generated(source: str, name: str, **names: Any) -> Callable[..., Any]:
    """Compile source code and return its function *name*; tracebacks and digests find the source.

    Neither Numba nor Python loops over the fields of a record at no cost: such functions are written out.
    """
    file = f"<generated {name} {sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names["__name__"] = __name__
    exec(compile(source, file, "exec"), names)  # noqa: S102  # of field names alone
    function: Callable[..., Any] = names[name]
    return function


@cache
def make_writer(cls: type) -> Callable[[Any, int, Any], None]:
    """Generate ``put(flat, at, record)``, which writes the numbers of a record into a flat column, from *at* on."""
    lines = [f"    flat[at + {i}] = record.{each.path}" for i, each in enumerate(numbers(cls))]
    return generated("\n".join(["def put(flat, at, record):", *(lines or ["    pass"]), ""]), "put")


@cache
def make_copier(cls: type) -> Callable[[Any, Any], None]:
    """Generate ``copy(there, record)``, which gives one record the numbers of another; the two stay apart."""
    # An item of a column of records is a reference, compiled and interpreted: only this makes a second record.
    lines = [f"    there.{each.path} = record.{each.path}" for each in numbers(cls)]
    return generated("\n".join(["def copy(there, record):", *(lines or ["    pass"]), ""]), "copy")


@cache
def make_resetter(cls: type) -> Callable[[Any], None]:
    """Generate ``clear(record)``, which resets a record to its initial values."""
    lines = [f"    record.{each.path} = {each.start!r}" for each in numbers(cls)]
    return generated("\n".join(["def clear(record):", *(lines or ["    pass"]), ""]), "clear")


@cache
def make_updater(cls: type) -> Callable[[Any, int, Any], int]:
    """Generate ``update(flat, at, record)``: like ``put``, and returns 1 if a number changed; NaN equals NaN."""
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
    """Generate ``objects(flat, at)``, which returns a record made of the numbers in a flat list, from *at* on."""
    makers: dict[str, Any] = {}
    call, _ = _call(cls, makers, 0)
    return generated(f"def objects(flat, at):\n    return {call}\n", "objects", **makers)


def _call(cls: type, makers: dict[str, Any], at: int) -> tuple[str, int]:
    makers[maker := f"{cls.__name__}_{len(makers)}"] = cls
    arguments = []
    for field in attrs.fields(cls):
        said = field.metadata[_FIELD]
        if not isinstance(said, _NumberField):
            argument, at = _call(field.metadata["record"], makers, at)
        elif said.size:
            argument, at = f"list(flat[at + {at} : at + {at + said.size}])", at + said.size
        else:
            argument, at = f"flat[at + {at}]", at + 1
        arguments.append(argument)
    return f"{maker}({', '.join(arguments)})", at


def flat_of(record: Any) -> list[float]:
    """Return the numbers of a record as a list."""
    cls: type = type(record)
    flat = [0.0] * len(numbers(cls))
    make_writer(cls)(flat, 0, record)
    return flat
