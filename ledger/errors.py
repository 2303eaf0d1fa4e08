"""Every error the ledger raises, as one tree. No error is raised here; no other module defines one.

LedgerError
├── MalformedError     .problems                     the input is not an event; every fault is listed
│   └── BatchError     .faults .reason_faults        rows of a file of corrections cannot be proposed
├── RejectedError      .rule .key                    the journal may not take it, by a named rule
│   ├── ConflictError  .field .stored .given         the key is known with a different fact
│   ├── ProposalError  .refusals                     a correction may not be proposed, or not be decided so
│   └── PublicationError .complaints                 a list looks wrong and is not published
├── StorageError       .path                         the file cannot be read or written
├── CorruptError       .path .position               a stored byte is not what was sealed
├── ProjectionError    .projector                    a projector broke its contract
├── TooLongError       .seconds                      a trial was given up
└── UnknownNameError   .name                         no such player, game, pool, scheme

The text of an error says what, where, which value, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

_NAMED = 5  # complaints that an error names; it has all of them


def one_line(words: object) -> str:
    """Return a library's message, which may have many lines, as part of one sentence."""
    return " ".join(str(words).split())[:200]


class LedgerError(Exception):
    """Base of everything that the ledger refuses or cannot do."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would call the class with the text alone, which fails in the process that waits for a worker's answer.
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[LedgerError], texts: tuple[Any, ...], attributes: dict[str, Any]) -> LedgerError:
    error = kind.__new__(kind, *texts)
    error.__dict__.update(attributes)
    return error


class MalformedError(LedgerError, ValueError):
    """The input is not an event, or an instant, settings, files or a condition that can be worked with.

    A ``ValueError`` as well: that is what Python calls a value that cannot be worked with.

    Attributes:
        problems: one line for each fault, with its place (``file:line``, a JSON path, the name of a setting).
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class BatchError(MalformedError):
    """A file of corrections has rows that cannot be read, or that may not be proposed; nothing of it was proposed.

    Attributes:
        faults: the line and what is wrong there, in order of the lines.
        reason_faults: what is wrong with the reason that was given with it.
    """

    def __init__(self, faults: Sequence[tuple[int, str]], reason_faults: Sequence[str] = ()) -> None:
        self.faults, self.reason_faults = tuple(faults), tuple(reason_faults)
        super().__init__([*(f"line {line}: {message}" for line, message in self.faults), *self.reason_faults])


class RejectedError(LedgerError):
    """A well-formed event may not follow what the journal holds.

    Attributes:
        rule: the name of the refusal, that of one of the rules in ``ledger.book.judge``.
        key: the key of the refused entry.
    """

    def __init__(self, rule: str, key: str, message: str) -> None:
        self.rule = rule
        self.key = key
        super().__init__(f"{rule}: {message}")


class ConflictError(RejectedError):
    """A key is recorded already with a different fact.

    Attributes:
        field: the first field, in alphabetical order, that differs.
        stored: its value in the journal; None where the journal has none.
        given: its value in the refused entry; None where that has none.
    """

    def __init__(self, key: str, field: str, stored: object, given: object, message: str | None = None) -> None:
        self.field = field
        self.stored = stored
        self.given = given
        # None is "not told": a field that one of the two lacks has no value to be shown
        if stored is None:
            compared = f"without {field}, not with {field}={given!r}"
        elif given is None:
            compared = f"with {field}={stored!r}, not without {field}"
        else:
            compared = f"with {field}={stored!r}, not {given!r}"
        # Names stand outside the journal, where no correction reaches them.
        ways = {
            "name": "'player rename' gives another one",
            "birth_year": f"propose 'correct fact {key} --field {field}'",
        }
        way = ways.get(field, "propose to correct it by 'correct'")
        usual = (
            f"{key!r} was recorded {compared}; "
            f"what is recorded stays: find out which of the two is right, and where the recorded one is wrong, {way}"
        )
        super().__init__(f"exists-with-different-{field.replace('_', '-')}", key, message or usual)


class PublicationError(RejectedError):
    """A list looks wrong: nothing was published.

    Attributes:
        complaints: what looks wrong, each with ``what``, ``players`` and ``text``.
    """

    def __init__(self, key: str, complaints: Sequence[Any]) -> None:
        self.complaints = tuple(complaints)
        texts = "; ".join(map(str, complaints[:_NAMED]))
        more = f"; and {len(complaints) - _NAMED:,} more" if len(complaints) > _NAMED else ""
        message = f"{texts}{more}: mend it, or publish despite the complaints; nothing was recorded"
        super().__init__("list-looks-wrong", key, message)


class Refusal(NamedTuple):
    """A refusal of one change of a proposal.

    Attributes:
        number: place of the change in the proposal, from 1; 0 where it is about the proposal as a whole.
        rule: name of the refusal, as listed in ``ledger.book.proposal_judge.RULES``.
        message: what, where, which value, what to do.
    """

    number: int
    rule: str
    message: str


class ProposalError(RejectedError):
    """A correction may not be proposed, or not be decided so; every fault is listed.

    Attributes:
        refusals: the faults, in the order of the changes.
    """

    def __init__(self, key: str, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        words = [refusal.message for refusal in refusals]
        if len(words) > 1:
            words = [f"change {r.number}: {r.rule}: {r.message}" if r.number else r.message for r in refusals]
        super().__init__(refusals[0].rule, key, "\n".join(words))

    @property
    def faults(self) -> list[str]:
        """One line for each fault: its name, the change where there are several faults, what is wrong."""
        several = len(self.refusals) > 1
        return [
            f"{r.rule}: change {r.number}: {r.message}" if several and r.number else f"{r.rule}: {r.message}"
            for r in self.refusals
        ]


class StorageError(LedgerError):
    """A file cannot be opened, read or written (missing, locked, full, read-only, not ours).

    Attributes:
        path: the file concerned.
    """

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(f"{path}: {message}")


class CorruptError(LedgerError):
    """Stored bytes are not what was sealed.

    Attributes:
        path: the file concerned.
        position: the journal position of the first false entry, or 0 where none can be named.
    """

    def __init__(self, path: str, position: int, message: str) -> None:
        self.path = path
        self.position = position
        where = f"entry {position}: " if position else ""
        super().__init__(f"{path}: {where}{message}")


class ProjectionError(LedgerError):
    """A projector or a scheme broke its contract.

    Attributes:
        projector: its name.
    """

    def __init__(self, projector: str, message: str) -> None:
        self.projector = projector
        super().__init__(f"{projector}: {message}")


class ReadModelError(ProjectionError):
    """The step of a read model failed: the ledger goes on without it, and its table refuses to answer."""


class TooLongError(LedgerError):
    """A trial was given up because it took longer than it may.

    Attributes:
        seconds: that it might take.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it takes longer than {seconds:g} s to try this, and was given up")
        self.seconds = seconds


class UnknownNameError(LedgerError):
    """A name that nothing in the ledger, or in this installation, has.

    Attributes:
        name: the name that was asked for.
        is_ambiguous: True if several have it.
    """

    def __init__(
        self, kind: str, name: str, hint: str = "", *, where: str = "in this ledger", is_ambiguous: bool = False
    ) -> None:
        self.name, self.is_ambiguous = name, is_ambiguous
        super().__init__(f"no {kind} {name!r} {where}" + (f"; {hint}" if hint else ""))


class CheckpointWarning(UserWarning):
    """A ledger differs from its checkpoints, though nothing failed.

    A ledger was opened whose journal is not the one that the last checkpoint was made of, so that it is only read; or
    a correction or a publication was recorded, but no checkpoint could be made of it.
    """


class ReadModelWarning(UserWarning):
    """A projector failed, and the ledger goes on without it; its table refuses to answer until that is mended."""
