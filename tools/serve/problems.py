"""What is refused over HTTP: problem details (RFC 9457) with the words that the command line has for the same fault.

No trace of the program leaves it. A fault of the ledger's files goes to its log, not to the client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import attrs
import orjson

from ledger.errors import (
    BatchError,
    ConflictError,
    LedgerError,
    MalformedError,
    ProposalError,
    RejectedError,
    TooLongError,
    UnknownNameError,
)
from ledger.facts.json_schemas import documented

from .. import output
from ..wording import counted
from .limits import MOST_FAULTS
from .parameters import BadValue

MEDIA = "application/problem+json"
_STATUS = {
    "needs-a-token": 401,
    "unknown-token": 401,
    "revoked-token": 401,
    "expired-token": 401,
    "not-this-role": 403,
    "not-this-name": 403,
}  # of refusals for want of a right
AGAIN_SECONDS = 5  # after which it is worth to ask again what was too much, or cannot be answered at present


def _further(doc: str) -> Any:
    """Return a field that most faults do not have."""
    return attrs.field(default=None, metadata={"doc": doc, "limits": {}})


@attrs.frozen(kw_only=True, slots=False)
class Fault:
    """One thing that is wrong with what was asked."""

    parameter: str | None = documented("the parameter that it is about; null: none")
    detail: str = documented("what is wrong, and what would be right")
    pointer: str | None = _further("its place in the body, as a JSON pointer; null: nowhere, or all of it")
    line: int | None = _further("the line of a file; null: it is about none")
    stored: Any = _further("what is recorded, if that contradicts the request; else null")
    given: Any = _further("what the request says instead; null if nothing")


@attrs.frozen(kw_only=True, slots=False)
class Problem:
    """The reason why there is no answer (RFC 9457)."""

    type: str = documented("about:blank, or a word for the rule")
    title: str = documented("the same in few words")
    status: int = documented("the status of the answer")
    detail: str = documented("what is wrong, with what, and what to do")
    rule: str | None = documented("the rule that refused it, as the command line names it; null: none did")
    errors: list[Fault] = documented("all faults, where there may be several")

    def body(self) -> bytes:
        """Return the problem as JSON."""
        return orjson.dumps(attrs.asdict(self))


class RefusedError(Exception):
    """A refusal; ``problem`` says why, as it is sent on."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def problem(status: int, detail: str, rule: str | None = None, errors: Sequence[Fault] = ()) -> Problem:
    """Return the problem of a status; of very many faults it has the first ones, and how many more there are."""
    if len(errors) > MOST_FAULTS:
        more = Fault(parameter=None, detail=f"and {counted(len(errors) - MOST_FAULTS, 'more fault')}")
        errors = [*errors[:MOST_FAULTS], more]
        detail = "; ".join(fault.detail for fault in errors)
    title = HTTPStatus(status).phrase
    kind = "about:blank" if rule is None else f"urn:rating-ledger:rule:{rule}"
    return Problem(type=kind, title=title, status=status, detail=detail, rule=rule, errors=list(errors))


def of_parameters(wrong: Sequence[BadValue]) -> Problem:
    """Everything that is wrong with the parameters of an address."""
    faults = [Fault(parameter=fault.parameter, detail=fault.detail) for fault in wrong]
    return problem(400, "; ".join(f"{fault.parameter}: {fault.detail}" for fault in wrong), errors=faults)


def of_error(error: LedgerError) -> Problem:
    """Return the problem of an error of the library."""
    if isinstance(error, UnknownNameError):
        return problem(404, str(error), "unknown-name")
    if isinstance(error, BatchError):
        faults = [Fault(parameter=None, detail=message, line=line) for line, message in error.faults]
        faults += [Fault(parameter=None, detail=fault, pointer="/reason") for fault in error.reason_faults]
        return problem(400, str(error), errors=faults)
    if isinstance(error, MalformedError):
        return problem(400, str(error), errors=[Fault(parameter=None, detail=fault) for fault in error.problems])
    if isinstance(error, RejectedError):
        words = str(error).removeprefix(f"{error.rule}: ")
        return problem(_STATUS.get(error.rule, 409), words, error.rule, _faults(error))
    if isinstance(error, TooLongError):
        return problem(503, f"{error}; the command that asks the same has no such limit", "takes-too-long")
    return problem(503, "the ledger cannot be read at present; ask again later")


# The field of a body that a rule refuses of a proposal as a whole; other rules refuse no field.
_OF_THE_WHOLE = {"no-reason": "/reason", "nothing-proposed": "/changes", "unseen-entries": "/seen"}


def _faults(error: RejectedError) -> list[Fault]:
    """Return the faults of a refusal that has more than words: the two values, or each change."""
    if isinstance(error, ConflictError):
        where = f"/{error.field}"
        return [Fault(parameter=None, detail=str(error), pointer=where, stored=error.stored, given=error.given)]
    if isinstance(error, ProposalError):
        return [
            Fault(
                parameter=None,
                detail=refusal.message,
                pointer=f"/changes/{refusal.number - 1}" if refusal.number else _OF_THE_WHOLE.get(refusal.rule),
            )
            for refusal in error.refusals
        ]
    return []


def refusal(error: LedgerError) -> Problem:
    """Return the problem of a refusal; the server's log, not the client, gets the details of damaged files."""
    made = of_error(error)
    if made.status >= 500:
        output.error(str(error))
    return made


def no_room(error: OSError) -> RefusedError:
    """Return why a submitted file cannot be stored; the server's log has the details."""
    output.error(f"a file that was sent cannot be kept: {error.strerror or error}")
    return RefusedError(problem(503, "there is no room at present for files that are sent; try again later"))


def headers(status: int) -> Mapping[str, Any]:
    """Return the headers of a problem with a status."""
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="rating ledger"'}
    return {"Retry-After": str(AGAIN_SECONDS)} if status in {429, 503} else {}
