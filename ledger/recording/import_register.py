"""The register of imports: which entries each imported file recorded, with the name of the file and of the importer.

The journal does not say which file an entry came from, and no rating depends on it. So the register is a file next to
the journal, ``club.imports``: a line of JSON for each transaction that recorded something of a file. The line is
written, durably, before the transaction commits, and has the hash of its last entry. A line whose entry the journal
does not hold is of a transaction that never was, and counts for nothing.

Names of files may name people: the file is for its owner alone, an erasure takes the person's names out of it, and it
is no part of a backup. Without it the entries of an import are given by their positions.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import combining, normalize

import attrs

from ledger.errors import StorageError, UnknownNameError
from ledger.facts.changes import spans_text
from ledger.facts.words import Receipt
from ledger.journal import Journal
from ledger.journal.merkle import leaf_hash
from ledger.runtime.ledger_files import companion_file, replace_file

ERASED = "(erased)"  # for the name of a file that named an erased person
LONGEST_NAME = 200  # characters of a file's name
COUNTS = ("games", "rounds", "players", "supplements", "tournaments", "statements")
_FIELDS = {"import": int, "file": str, "by": str, "at": str, "first": int, "last": int, "leaf": str}


@attrs.frozen(kw_only=True)
class ImportCounts:
    """The numbers of facts that a file brought.

    Attributes:
        games: newly recorded games.
        rounds: newly recorded rounds without a game.
        players: new players.
        supplements: recorded games that got further facts.
        tournaments: tournaments whose days were recorded with it.
        statements: new statements about entrants, tournaments and players.
    """

    games: int = 0
    rounds: int = 0
    players: int = 0
    supplements: int = 0
    tournaments: int = 0
    statements: int = 0

    def __sub__(self, other: ImportCounts) -> ImportCounts:
        return ImportCounts(**{name: getattr(self, name) - getattr(other, name) for name in COUNTS})

    def __add__(self, other: ImportCounts) -> ImportCounts:
        return ImportCounts(**{name: getattr(self, name) + getattr(other, name) for name in COUNTS})


@attrs.frozen(kw_only=True)
class RegisteredImport:
    """An imported file and its entries.

    Attributes:
        number: from 1, in the order of the imports.
        file: name of the file.
        actor: the importer.
        recorded_at: when its first entries were recorded, UTC.
        spans: first and last position of its entries, ascending, in spans.
        counts: the numbers of facts that it brought.
    """

    number: int
    file: str
    actor: str
    recorded_at: str
    spans: tuple[tuple[int, int], ...]
    counts: ImportCounts

    @property
    def entries(self) -> str:
        """Its entries in words, such as ``4-9 12``."""
        return spans_text(position for first, last in self.spans for position in range(first, last + 1))


class _RegisterLine(NamedTuple):
    """A line of the register: the entries of one transaction."""

    number: int
    file: str
    actor: str
    at: str
    first: int
    last: int
    leaf: str
    counts: ImportCounts


@attrs.frozen
class ImportRegister:
    """The register of the imports of one ledger."""

    path: Path
    _journal: Journal

    @classmethod
    def of(cls, ledger: str | Path, journal: Journal) -> ImportRegister:
        """Return the register next to a journal's file; it need not exist."""
        return cls(companion_file(ledger, "imports"), journal)

    def begin(self, file: str, actor: str) -> ImportNotes:
        """Return the notes of a new import, which enter the register with its first entries."""
        words = Path(file).name if file not in {"", "-"} else "standard input"
        # a name of any bytes: JSON has no lone surrogates
        return ImportNotes(self, words.encode("utf-8", "replace").decode()[:LONGEST_NAME], actor)

    def imports(self) -> list[RegisteredImport]:
        """Return all imports that recorded something, by number.

        Raises:
            StorageError: the register cannot be read.
        """
        by_number: dict[int, RegisteredImport] = {}
        for line in self._lines():
            if not self._is_recorded(line):
                continue
            span = (line.first, line.last)
            earlier = by_number.get(line.number)
            by_number[line.number] = (
                RegisteredImport(
                    number=line.number,
                    file=line.file,
                    actor=line.actor,
                    recorded_at=line.at,
                    spans=(span,),
                    counts=line.counts,
                )
                if earlier is None
                else attrs.evolve(earlier, spans=(*earlier.spans, span), counts=earlier.counts + line.counts)
            )
        return [by_number[number] for number in sorted(by_number)]

    def find(self, number: int) -> RegisteredImport:
        """Return the import of a number.

        Raises:
            UnknownNameError: there is none.
        """
        imports = {each.number: each for each in self.imports()}
        if number not in imports:
            count = f"the register has imports {min(imports)} to {max(imports)}" if imports else "the register is empty"
            advice = f"{count}; see 'imports', or give the entries, such as 12-80"
            raise UnknownNameError("import", str(number), advice)
        return imports[number]

    def add_announcement(self, number: int, at: str, receipt: Receipt) -> None:
        """Note that the days of a tournament were recorded with an import, by the receipt of their entry.

        Raises:
            StorageError: the register cannot be written.
        """
        earlier = next((line for line in self._lines() if line.number == number), None)
        if earlier is None or receipt.duplicate:
            return
        counts, entry = ImportCounts(tournaments=1), receipt.position
        self.add(earlier._replace(at=at, first=entry, last=entry, leaf=receipt.leaf.hex(), counts=counts))

    def forget(self, names: Collection[str]) -> None:
        """Take the names of an erased person out of the names of files.

        Raises:
            StorageError: the register cannot be written.
        """
        lines = list(self._lines())
        words = [_words(name) for name in names]
        kept = [line._replace(file=ERASED if _names_one(line.file, words) else line.file) for line in lines]
        if kept != lines:
            try:
                replace_file(self.path, b"".join(map(_written, kept)))
            except OSError as error:
                raise StorageError(str(self.path), f"cannot be written: {error.strerror or error}") from error

    def next_number(self) -> int:
        """Return the number of the next import: lines of transactions that never were use up none."""
        newest_first = sorted(self._lines(), key=lambda line: -line.number)
        return next((line.number for line in newest_first if self._is_recorded(line)), 0) + 1

    def add(self, line: _RegisterLine) -> None:
        """Add a line durably, before its entries are committed.

        Raises:
            StorageError: the register cannot be written.
        """
        try:
            # For its owner alone from its first byte on.
            self.path.touch(0o600)
            with self.path.open("r+b", buffering=0) as file:
                size = file.seek(0, os.SEEK_END)
                # a line that a power cut left half-written
                is_cut = size > 0 and file.seek(size - 1) and file.read(1) != b"\n"
                file.seek(0, os.SEEK_END)
                file.write((b"\n" if is_cut else b"") + _written(line))
                os.fsync(file.fileno())
        except OSError as error:
            advice = "make room, or the folder writable; nothing of this part of the file was recorded"
            raise StorageError(
                str(self.path), f"the import cannot be noted: {error.strerror or error}; {advice}"
            ) from error

    def _lines(self) -> Iterator[_RegisterLine]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageError(str(self.path), f"cannot be read: {error.strerror or error}") from error
        for text in content.splitlines():
            line = _read(text)
            if line is not None:
                yield line

    def _is_recorded(self, line: _RegisterLine) -> bool:
        if line.last > self._journal.size():
            return False
        bodies = [body for block in self._journal.read(line.last - 1, line.last) for body in block]
        return [leaf_hash(body).hex() for body in bodies] == [line.leaf]


def _words(text: str) -> list[str]:
    """Return the words of a name or of a file's name without case and accents."""
    plain = "".join(letter for letter in normalize("NFKD", text.casefold()) if not combining(letter))
    return re.findall(r"[^\W_]+", plain)


def _names_one(file: str, names: Sequence[Sequence[str]]) -> bool:
    """Return whether a file's name may name one of some people: all words of the name are in it, in any order."""
    words = _words(file)
    joined = "".join(words)
    return any(name and ({*name} <= {*words} or (len(name) > 1 and "".join(name) in joined)) for name in names)


def _written(line: _RegisterLine) -> bytes:
    values = dict(zip(_FIELDS, line, strict=False))
    counts = {name: value for name, value in attrs.asdict(line.counts).items() if value}
    return json.dumps({**values, **counts}).encode() + b"\n"


def _read(text: bytes) -> _RegisterLine | None:
    """Return a line of the register; None if it was cut off or is no such line."""
    try:
        values: Mapping[str, Any] = json.loads(text)
        fields: list[Any] = [values[name] for name in _FIELDS]
        counts = {name: values.get(name, 0) for name in COUNTS}
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    types = [*_FIELDS.values(), *(int for _ in counts)]
    if any(type(value) is not cls for value, cls in zip([*fields, *counts.values()], types, strict=True)):
        return None
    line = _RegisterLine._make([*fields, ImportCounts(**counts)])
    return line if 1 <= line.first <= line.last else None


@attrs.define
class ImportNotes:
    """The notes of one import: its number, once it has recorded something."""

    _register: ImportRegister
    _file: str
    _actor: str
    number: int | None = None

    def add(self, at: str, first: int, last: int, leaf: bytes, counts: ImportCounts) -> None:
        """Note the entries of a transaction that is about to be committed.

        Args:
            at: the recording time, as the entries have it.
            first: position of the first one.
            last: position of the last one.
            leaf: the leaf hash of the last one.
            counts: what they brought.

        Raises:
            StorageError: the register cannot be written.
        """
        if self.number is None:
            self.number = self._register.next_number()
        self._register.add(_RegisterLine(self.number, self._file, self._actor, at, first, last, leaf.hex(), counts))
