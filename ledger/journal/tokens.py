"""Tokens: random words that prove who acts, each with the roles that its person holds. Where they are kept is beside.

Where tokens are set up, whoever corrects or approves shows one, and it names the person. Without them a name is a word,
and is recorded as such. Whether four eyes allow a decision is not judged here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, NoReturn

import attrs

from ledger.errors import MalformedError, RejectedError, StorageError, UnknownNameError
from ledger.facts import codec
from ledger.facts.correction_events import Decision
from ledger.facts.instants import instant_text
from ledger.facts.person_names import same_person, without_tokens
from ledger.journal.tokens_file import RefusalRow, TokenRow, TokensFile

UNNAMED = "admin"  # who acts where no name is given and none is proven
PREFIX = "rlt_"  # so that a token that was pasted somewhere is known for one
SECRET_BYTES = 32
LONGEST_NOTED = 500  # characters of a name, an attempt or a refusal in the log


class Role(StrEnum):
    """What a token lets its person do."""

    RECORDER = "recorder"  # record facts; asked for where somebody holds it
    CORRECTOR = "corrector"  # propose corrections, and take one's own back
    APPROVER = "approver"  # approve and reject proposals, set policies, publish lists
    AUDITOR = "auditor"  # nothing but being named: whoever may read the files may audit


ROLES_OF: Mapping[Decision, Role] = {
    Decision.APPROVED: Role.APPROVER, Decision.REJECTED: Role.APPROVER, Decision.WITHDRAWN: Role.CORRECTOR,
}  # fmt: skip
VERBS_OF: Mapping[Decision, str] = {
    Decision.APPROVED: "approve", Decision.REJECTED: "reject", Decision.WITHDRAWN: "withdraw",
}  # fmt: skip
# Name of a refusal -> what it means and what to do.
RULES: dict[str, str] = {
    "needs-a-token": "tokens are set up for this ledger: show one by RATING_LEDGER_TOKEN or --token-file",
    "unknown-token": "this token is none of this ledger: check which one is given",
    "revoked-token": "this token was revoked: ask for a new one",
    "not-this-role": "the person whom the token names does not hold the role: ask who does",
    "not-this-name": "the token names somebody else than --by: leave --by out",
}
# Refusals further on that are for want of a right; they are noted in the log as well.
WANT_OF_RIGHT = frozenset({"four-eyes", "not-the-proposer", "needs-a-proposal"})


class Actor(NamedTuple):
    """Who acts.

    Attributes:
        name: for the journal.
        proven: whether a token named the person; else the name is a word.
    """

    name: str
    proven: bool


@attrs.frozen
class Tokens:
    """The tokens of one ledger.

    Attributes:
        path: of their file.
        first_leaf: gives the hash of the journal's first entry, which says whose they are.
        now_ms: milliseconds since 1970.
    """

    path: Path
    first_leaf: Callable[[], bytes]
    now_ms: Callable[[], int]

    @property
    def file(self) -> TokensFile:
        """Where they are kept."""
        return TokensFile(self.path, self.first_leaf())

    def are_set_up(self) -> bool:
        """Whether there is a file of tokens; where all in it are revoked, nobody can act."""
        return self.file.exists()

    def add(self, name: str, roles: Sequence[Role]) -> str:
        """A new token for a person; only this answer ever shows it.

        Raises:
            MalformedError: no name for the journal, or no role.
            StorageError: the file refuses.
        """
        codec.seal_actor(name)
        if not roles:
            raise MalformedError([f"give at least one role of {[role.value for role in Role]}"])
        token = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        self.file.add(name, " ".join(role.value for role in Role if role in roles), token, self._now())
        return token

    def list(self) -> tuple[TokenRow, ...]:
        """Every token with its person and roles; empty where none are set up."""
        return tuple(self.file.rows()) if self.file.exists() else ()

    def revoke(self, wanted: str) -> tuple[TokenRow, ...]:
        """Take tokens back for good: all of a person, or the one of a number; returns those that held until now.

        Raises:
            UnknownNameError: nobody of that name has a token, and none has that number.
        """
        rows = self.list()
        met = [row for row in rows if wanted in {row.name, str(row.number)}]
        if not met:
            raise UnknownNameError("token", wanted, "give a name or a number of 'token list'")
        holding = tuple(row for row in met if row.revoked_at is None)
        self.file.revoke([row.number for row in holding], self._now())
        return holding

    def log(self, last: int | None = None) -> tuple[RefusalRow, ...]:
        """The attempts that were refused, in order of time; only the *last* ones where a number is given."""
        rows = self.file.refusals(last) if self.file.exists() else []
        return tuple(  # what an earlier release wrote may hold a token that was typed as a name
            row._replace(claimed=row.claimed and without_tokens(row.claimed), reason=without_tokens(row.reason))
            for row in rows
        )

    def who(self, token: str | None, claimed: str | None, role: Role, tried: str) -> Actor:
        """Who acts, proven by a token where tokens are set up; an attempt that is refused goes into the log.

        Args:
            token: what was shown; None without.
            claimed: the name that was given; None: ``UNNAMED``, or whom the token names.
            role: that the attempt needs.
            tried: the attempt in words, for the log.

        Raises:
            RejectedError: one of ``RULES``.
            StorageError: the file is not to be used.
        """
        if not self.file.exists():
            if token is None:
                return Actor(claimed or UNNAMED, proven=False)
            raise RejectedError(
                "unknown-token", "",
                f"no tokens are set up beside {self.path.name!r}, so this one proves nothing; leave it out, or make "
                "one with 'token add'",
            )  # fmt: skip
        if token is None and role is Role.RECORDER and not self.is_held(role):
            return Actor(claimed or UNNAMED, proven=False)
        if token is None:
            self._refuse(
                "needs-a-token", tried, claimed, None,
                f"tokens are set up for this ledger, and to {tried} needs one with the role {role.value}; give it by "
                "RATING_LEDGER_TOKEN or --token-file",
            )  # fmt: skip
        return self._proven(self.file.find(token), claimed, role, tried)

    def recorder(self, token: str | None, actor: str, unnamed: str) -> str:
        """Who records facts: where somebody holds that role, the person whom a token names; else *actor*, a word.

        Args:
            token: what was shown; None without.
            actor: the name that was given.
            unnamed: the name that stands for none.

        Raises:
            RejectedError: as for ``who``.
        """
        if token is None and not (self.path.exists() and self.is_held(Role.RECORDER)):
            return actor
        return self.who(token, None if actor == unnamed else actor, Role.RECORDER, "record facts").name

    def _proven(self, row: TokenRow | None, claimed: str | None, role: Role, tried: str) -> Actor:
        if row is None:
            message = "this token is none of this ledger; check which one is given"
            self._refuse("unknown-token", tried, claimed, None, message)
        if row.revoked_at is not None:
            message = f"this token of {row.name!r} was revoked at {row.revoked_at}; ask for a new one"
            self._refuse("revoked-token", tried, claimed, row, message)
        if role.value not in row.roles.split():
            message = f"to {tried} needs the role {role.value}, and {row.name!r} holds {row.roles}; ask who holds it"
            self._refuse("not-this-role", tried, claimed, row, message)
        if claimed is not None and not same_person(claimed, row.name):
            message = f"the token names {row.name!r}, not {without_tokens(claimed)!r}; leave --by out"
            self._refuse("not-this-name", tried, claimed, row, message)
        return Actor(row.name, proven=True)

    def is_held(self, role: Role) -> bool:
        """Whether anybody was ever given a token with a role."""
        return any(role.value in row.roles.split() for row in self.list())

    @contextmanager
    def noting(self, actor: Actor, tried: str) -> Iterator[None]:
        """Note in the log what is refused within the block for want of a right."""
        try:
            yield
        except RejectedError as error:
            if error.rule in WANT_OF_RIGHT and self.file.exists():
                self._note(error.rule, tried, actor.name, None, str(error))
            raise

    def _refuse(self, rule: str, tried: str, claimed: str | None, row: TokenRow | None, message: str) -> NoReturn:
        try:
            self._note(rule, tried, claimed, row, message)
        except StorageError as error:  # refused all the same
            message = f"{message} (this could not be written into the log: {error})"
        raise RejectedError(rule, "", message)

    def _note(self, rule: str, tried: str, claimed: str | None, row: TokenRow | None, message: str) -> None:
        number = None if row is None else row.number
        given = None if claimed is None else _writable(claimed)
        self.file.note(self._now(), _writable(tried), given, number, rule, _writable(message))

    def _now(self) -> str:
        return instant_text(self.now_ms())


def _writable(text: str) -> str:
    """Text that a file takes: not endless, without tokens, and what is no character as its escape."""
    return without_tokens(text)[:LONGEST_NOTED].encode("utf-8", "backslashreplace").decode()
