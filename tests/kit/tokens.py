"""Tokens for tests: those that an earlier release made, in a file alone, and entries that no door would record."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from ledger.auth.tokens import PREFIX
from ledger.facts.events import Event, Role, TokenIssued
from ledger.ledger import Ledger
from tests.kit.commands import Run

SEAL = "0" * 64


def of_an_earlier_release(ledger: Ledger, name: str, *roles: Role) -> str:
    """A token that stands in the file beside the journal and has no entry."""
    token = PREFIX + secrets.token_urlsafe(32)
    words = " ".join(role.value for role in Role if role in roles)
    ledger.tokens.store.add(name, words, token, "2026-11-20T12:00:00Z")
    return token


def issued(number: int, person: str, *roles: Role, by_token: int | None = None, reset: bool = False) -> TokenIssued:
    """An entry that issues a token which nobody has."""
    words = " ".join(role.value for role in roles)
    return TokenIssued(
        number=number, person=person, roles=words, salt=SEAL, digest=SEAL, by_token=by_token, reset=reset
    )


def sealed(ledger: Ledger, by: str, *events: Event) -> int:
    """Record facts as a program would that asks no gate; the position of the last."""
    return ledger._record_judged(lambda *_: events, by)[-1].position


def team(ledger: Ledger, names: Sequence[str] = ("eve",), approver: str = "adam") -> dict[str, str]:
    """The tokens of an approver and of correctors whom that one has named, by name."""
    first = ledger.tokens.add(approver, [Role.APPROVER])
    others = {name: ledger.tokens.add(name, [Role.CORRECTOR], token=first) for name in names}
    return {approver: first, **others}


def token_of(run: Run, club: Path, name: str, *roles: str) -> str:
    """The token of somebody, added by the command."""
    done = run("token", "add", club, name, *(word for role in roles for word in ("--role", role)))
    assert done.code == 0
    return done.out.strip()
