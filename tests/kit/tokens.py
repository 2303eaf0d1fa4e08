"""Tokens for tests, and entries that no validator would record."""

from collections.abc import Sequence
from pathlib import Path

from ledger.auth.tokens import Tokens
from ledger.facts.events import Event, Role, TokenIssued
from ledger.ledger import Ledger
from tests.kit.commands import Run

SEAL = "0" * 64


def path_of(tokens: Tokens) -> Path:
    """Return the file with the log and the sessions of a ledger in files."""
    return Path(tokens.store.place)


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
