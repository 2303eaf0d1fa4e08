"""Tokens: random words that prove who acts, each with the roles that its person holds, as the journal issued them.

Where tokens are set up, a person shows one to correct or approve, and it names the person. Without them a name is a
word, and is recorded as such. The journal issues tokens (``issued_tokens``); the store keeps the log of refusals and
the sessions at the desk. Four eyes are judged elsewhere.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, NoReturn, Protocol

import attrs

from ledger.auth import sessions
from ledger.auth.issued_tokens import IssuedToken, IssuedTokens, TokenRegister
from ledger.auth.sessions import Session, SessionRow
from ledger.auth.token_store import NOT_KEPT, RefusalRow, TokenRow, TokenStore
from ledger.errors import MalformedError, RejectedError, StorageError, UnknownNameError
from ledger.facts import codec
from ledger.facts.events import Decision, Event, Role, TokenIssued, TokenRevoked
from ledger.facts.instants import instant_end_ms, instant_text
from ledger.facts.person_names import look_alike, redact_names, redact_tokens, same_person
from ledger.journal import Writer
from ledger.runtime.calls import checked_methods

UNNAMED = "admin"  # who acts where no name is given and none is proven
PREFIX = "rlt_"  # so that a token that was pasted somewhere is known for one
SECRET_BYTES = 32
SALT_BYTES = 32
# Those who are refused may be strangers, and what they tried stays in the log: none of it may be long.
LONGEST_NOTED = 500  # characters of a name, an attempt or a refusal in the log
VERBS_OF: Mapping[Decision, str] = {
    Decision.APPROVED: "approve",
    Decision.REJECTED: "reject",
    Decision.WITHDRAWN: "withdraw",
}
RULES: dict[str, str] = {  # name of a refusal -> what it means and what to do
    "needs-a-token": "tokens are set up for this ledger: show one by RATING_LEDGER_TOKEN or --token-file",
    "unknown-token": "this token is none of this ledger: check which one is given",
    "revoked-token": "this token was revoked: ask for a new one",
    "expired-token": "this token was given for a time that is over: ask for a new one",
    "session-over": "the session at the desk is over: sign in again",
    "not-this-role": "the person whom the token names does not hold the role: ask who does",
    "name-like-another": "the name looks like that of somebody who has a token: give one that people can tell from it",
    "not-this-name": "the token names somebody else than --by or the proxy: use your own, and leave --by out",
}
SIGNED_IN, SIGNED_OUT = "signed-in", "signed-out"  # what the log calls them
# Refusals further on that are for want of a right; they are noted in the log as well.
WANT_OF_RIGHT = frozenset({"four-eyes", "not-the-proposer", "needs-a-proposal", "revoked-token", "needs-a-token"})


class Actor(NamedTuple):
    """The person who acts, and whether a token authenticated the person.

    Attributes:
        name: for the journal.
        proven: whether a token named the person; else the name is a word.
        entry: position of the entry that issued the token; None without one.
    """

    name: str
    proven: bool
    entry: int | None = None


def _unproven(claimed: str | None) -> Actor:
    """Return the actor whom a name names without a token; refuse what no entry may hold before anything is done."""
    name = UNNAMED if claimed is None else claimed
    codec.actor_json(name)
    return Actor(name, proven=False)


class _Shown(NamedTuple):
    """A token that was shown: its row, and the last millisecond at which it is taken."""

    row: TokenRow
    until_ms: int | None


class GatedRecorder(Protocol):
    """A recorder of facts that a callback makes under the write lock."""

    @property
    def clock_ms(self) -> Callable[[], int]:
        """The clock, in milliseconds since 1970."""

    def append_judged(
        self, gate: Callable[[Writer, int], Sequence[Event]], actor: str, before_commit: Callable[[], object] = ...
    ) -> object:
        """Record the facts that the callback returns under the write lock."""


@checked_methods
@attrs.frozen
class Tokens:
    """The tokens of one ledger: who may record, correct and approve.

    Attributes:
        store: of the log and of sessions.
        issued: the tokens that the journal issued.
        _records: records the facts of a gate, under the write lock, and reads the clock.
    """

    store: TokenStore
    issued: IssuedTokens
    _records: GatedRecorder

    def are_set_up(self) -> bool:
        """Return whether any token was ever issued; if all are revoked, nobody can act."""
        return self.issued.register().first is not None

    # -- issuing and revoking --------------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        roles: Sequence[Role],
        *,
        expires_at: str | None = None,
        by: str | None = None,
        token: str | None = None,
        show: Callable[[str], object] = lambda _: None,
    ) -> str:
        """Issue a token to a person, and return it.

        Only this answer ever shows it.

        Args:
            name: of the person.
            roles: what the person may do.
            expires_at: the last instant at which it is taken.
            by: the issuer; once there is an approver, an approver's token names that person.
            token: that token.
            show: called with the new token immediately before it is recorded; if it raises, none is issued.

        Raises:
            MalformedError: no name for the journal, no role, or an instant that is none or over.
            RejectedError: for want of an approver's token.
        """
        codec.actor_json(name)
        if not roles:
            raise MalformedError([f"give at least one role of {[role.value for role in Role]}"])
        if expires_at is not None and instant_end_ms(expires_at) <= self._records.clock_ms():
            raise MalformedError([f"a token that expires at {expires_at} is over already; give a later day"])
        tried = f"issue a token to {name!r}"
        who = self._issuer(token, by, tried)
        return self._issue(
            name, [role.value for role in Role if role in roles], who, tried, show, expires_at=expires_at
        )

    def reset(self, name: str, *, by: str | None = None, show: Callable[[str], object] = lambda _: None) -> str:
        """Issue a new token to an approver who lost one; it replaces all tokens of this person.

        It needs no token, for there may be no person left with one; the audit reports it for ever.

        Args:
            name: of the approver.
            by: who resets it.
            show: as for ``add``.

        Raises:
            UnknownNameError: no person of that name has a token.
            RejectedError: the person was never an approver: an approver issues a new token.
        """
        register = self.issued.register()
        roles = {role for token in register.issued_to(name) for role in token.roles}
        if not roles:
            self._refuse_unknown(name)
        if Role.APPROVER not in roles:
            raise RejectedError(
                "not-this-role",
                "",
                f"{name!r} was never an approver; an approver revokes the token and issues a new one with 'token add'",
            )
        valid_tokens = [token for token in register.issued_to(name) if token.revoked is None]
        # What was taken from the person by revoking does not come back, unless nothing else is left to give.
        roles = {role for token in valid_tokens for role in token.roles} or roles
        who = Actor(by or UNNAMED, proven=False)
        tried = f"reset tokens of {name!r}"
        return self._issue(name, [role for role in Role if role in roles], who, tried, show, reset=True)

    def _issue(
        self,
        name: str,
        roles: Sequence[str],
        who: Actor,
        tried: str,
        show: Callable[[str], object],
        *,
        expires_at: str | None = None,
        reset: bool = False,
    ) -> str:
        made = PREFIX + secrets.token_urlsafe(SECRET_BYTES)

        def gate(writer: Writer, _: int) -> Sequence[Event]:
            self._refuse_name_like_another(name)
            if not reset:
                self.check_issuer(who, writer.size + 1, tried)
            numbers = [token.event.number for token in self.issued.register().tokens.values()]
            salt = secrets.token_bytes(SALT_BYTES)
            event = TokenIssued(
                number=max(numbers, default=0) + 1,
                person=name,
                roles=" ".join(roles),
                salt=salt.hex(),
                digest=_digest(salt, made),
                expires_at=expires_at,
                by_token=who.entry,
                reset=reset,
            )
            return [event]

        with self.logging_refusals(who, tried):
            # A process may be killed at any moment: a token that was shown and not recorded is harmless.
            self._records.append_judged(gate, who.name, lambda: show(made))
        return made

    def _refuse_name_like_another(self, name: str) -> None:
        """Refuse a new person whose name looks like that of another one: four eyes and readers see one person."""
        names = {token.event.person for token in self.issued.register().tokens.values() if token.void is None}
        if name in names:
            return
        for other in sorted(names):
            if look_alike(name, other):
                message = f"{name!r} looks like {other!r}, who has a token: give that name, or one that looks different"
                raise RejectedError("name-like-another", "", message)

    def revoke(self, whose: str, *, by: str | None = None, token: str | None = None) -> tuple[TokenRow, ...]:
        """Revoke all tokens of a person, or the one with a number; return those that were valid until now.

        Args:
            whose: the name of a person, or a number.
            by: who revokes; once there is an approver, an approver's token names that person.
            token: that token.

        Raises:
            UnknownNameError: no person of that name has a token, and none has that number.
            RejectedError: for want of an approver's token.
        """
        tried = f"revoke tokens of {redact_tokens(whose)!r}"
        who = self._issuer(token, by, tried)
        met = [row for row in self.list() if whose in {row.name, str(row.number)}]
        if not met:
            self._refuse_unknown(whose)
        holding = tuple(row for row in met if row.revoked_at is None)

        def gate(writer: Writer, _: int) -> Sequence[Event]:
            self.check_issuer(who, writer.size + 1, tried)
            now = [row.number for row in self.list() if row.revoked_at is None]  # another process may have been faster
            # One's own last: it proves nothing to the entries behind that which ends it.
            in_order = sorted(holding, key=lambda row: row.entry == who.entry)
            return [TokenRevoked(number=row.number, by_token=who.entry) for row in in_order if row.number in now]

        with self.logging_refusals(who, tried):
            self._records.append_judged(gate, who.name)
        return holding

    @staticmethod
    def _refuse_unknown(name_or_number: str) -> NoReturn:
        raise UnknownNameError("token", redact_tokens(name_or_number), "give a name or a number of 'token list'")

    def _issuer(self, token: str | None, claimed: str | None, tried: str) -> Actor:
        """Return the issuer or revoker: once there is an approver, the one whom an approver's token names."""
        if self.is_role_issued(Role.APPROVER):
            return self.authenticate(token, claimed, Role.APPROVER, tried)
        presented = self._presented(token) if token is not None and self.are_set_up() else None
        if presented is None or presented.row.revoked_at is not None:
            return _unproven(claimed)
        return Actor(presented.row.name, proven=True, entry=presented.row.entry)

    def check_issuer(self, who: Actor, position: int, tried: str) -> None:
        """Refuse an issuer who may no longer issue or revoke tokens, under the write lock.

        Raises:
            RejectedError: a first approver was appointed since, or the token was revoked.
        """
        register = self.issued.register()
        if register.approver_since is not None:
            self._check(register, who, Role.APPROVER, position, tried)

    def check(self, who: Actor, role: Role, position: int, tried: str) -> None:
        """Refuse an actor whose token was revoked since, or who needs one by now, under the write lock.

        Raises:
            RejectedError: tokens were set up since, or this one was revoked.
        """
        self._check(self.issued.register(), who, role, position, tried)

    @staticmethod
    def _check(register: TokenRegister, who: Actor, role: Role, position: int, tried: str) -> None:
        if not who.proven:
            if register.first is not None:
                raise RejectedError("needs-a-token", "", _needs_a_token(tried, role))
        elif (fault := register.fault(who.name, who.entry, role, position)) is not None:
            raise RejectedError("revoked-token", "", f"to {tried}, {who.name!r} is proven no longer: {fault}")

    # -- asking ----------------------------------------------------------------------------------------------------

    def list(self) -> tuple[TokenRow, ...]:
        """Return every token with its person and roles; none if tokens are not set up."""
        register = self.issued.register()
        rows = [_row(token) for token in register.tokens.values() if token.void is None]
        return tuple(sorted(rows, key=lambda row: row.number))

    def log(self, last: int | None = None) -> tuple[RefusalRow, ...]:
        """Return the refusals, sign-ins and sign-outs, in order of time; only the *last* rows if given."""
        return tuple(self.store.refusals(last))

    def is_role_issued(self, role: Role) -> bool:
        """Return whether a token with a role was ever issued."""
        return any(role in token.roles for token in self.issued.register().tokens.values() if token.void is None)

    def authenticate(self, token: str | None, claimed: str | None, role: Role, tried: str) -> Actor:
        """Authenticate the actor by a token, if tokens are set up, and return the actor.

        A refusal goes into the log.

        Args:
            token: what was shown; None without.
            claimed: the name that was given; None: ``UNNAMED``, or whom the token names.
            role: that the attempt needs.
            tried: the attempt in words, for the log.

        Raises:
            RejectedError: one of ``RULES``.
        """
        if not self.are_set_up():
            if token is None:
                return _unproven(claimed)
            self._refuse_without_any()
        # Tokens for corrections stop no program that records games without one.
        if token is None and role is Role.RECORDER and not self.is_role_issued(role):
            return _unproven(claimed)
        if token is None:
            self._refuse("needs-a-token", tried, claimed, None, _needs_a_token(tried, role))
        return self._proven(self._presented(token), token, claimed, role, tried)

    def is_valid(self, token: str, role: Role | None = None) -> bool:
        """Return whether a token of this ledger is valid, with a role if one is named; nothing is written."""
        presented = self._presented(token) if self.are_set_up() else None
        if presented is None or presented.row.revoked_at is not None:
            return False
        if role is not None and role.value not in presented.row.roles.split():
            return False
        return presented.until_ms is None or presented.until_ms >= self._records.clock_ms()

    def person_of(self, token: str, tried: str) -> str:
        """Return the name of a valid token's person, whatever its roles.

        A refusal goes into the log.

        Args:
            token: what was shown.
            tried: the attempt in words, for the log.

        Raises:
            RejectedError: it is no token of this ledger, or holds no longer.
        """
        if not self.are_set_up():
            self._refuse_without_any()
        return self._holding(self._presented(token), token, None, tried).row.name

    def _refuse_without_any(self) -> NoReturn:
        raise RejectedError(
            "unknown-token",
            "",
            f"no tokens are set up {self.store.where}, so this one proves nothing; leave it out, or make one "
            "with 'token add'",
        )

    def authenticate_recorder(self, token: str | None, actor: str, unnamed: str) -> str:
        """Return the actor of recorded facts: the person of the token if the role is in use, else the word *actor*.

        Args:
            token: what was shown; None without.
            actor: the name that was given.
            unnamed: the name if none is given.

        Raises:
            RejectedError: as for ``authenticate``.
        """
        if token is None and not self.is_role_issued(Role.RECORDER):
            return _unproven(actor).name
        return self.authenticate(token, None if actor == unnamed else actor, Role.RECORDER, "record facts").name

    def _presented(self, token: str) -> _Shown | None:
        """Return the token that was shown, if it is one of this ledger; each digest is compared in constant time.

        The word of a session replaces its token while the session lasts.
        """
        register = self.issued.register()
        if sessions.is_session_word(token):
            session = self._session_row(token)
            return None if session is None else self._token_of(session, register)
        met = [
            issued
            for issued in register.tokens.values()
            if hmac.compare_digest(issued.event.digest, _digest(bytes.fromhex(issued.event.salt), token))
            and issued.void is None
        ]
        return _issued_token(met[0]) if met else None

    def _proven(self, presented: _Shown | None, token: str, claimed: str | None, role: Role, tried: str) -> Actor:
        presented = self._holding(presented, token, claimed, tried)
        row = presented.row
        if role.value not in row.roles.split():
            message = f"to {tried} needs the role {role.value}, and {row.name!r} holds {row.roles}; ask who holds it"
            self._refuse("not-this-role", tried, claimed, row, message)
        if claimed is not None and not same_person(claimed, row.name):
            message = f"the token names {row.name!r}, not {redact_tokens(claimed)!r}; leave --by out"
            self._refuse("not-this-name", tried, claimed, row, message)
        return Actor(row.name, proven=True, entry=row.entry)

    def _holding(self, presented: _Shown | None, token: str, claimed: str | None, tried: str) -> _Shown:
        """Return the token that was shown if it is valid now; refuse any other."""
        if presented is None:
            # these teach nothing in the log
            if sessions.is_session_word(token):
                raise RejectedError("session-over", "", "this session is over; sign in again")
            message = "this token is none of this ledger; check which one is given"
            self._refuse("unknown-token", tried, claimed, None, message)
        row = presented.row
        if row.revoked_at is not None:
            message = f"this token of {row.name!r} was revoked at {row.revoked_at}; ask for a new one"
            self._refuse("revoked-token", tried, claimed, row, message)
        if presented.until_ms is not None and presented.until_ms < self._records.clock_ms():
            message = f"this token of {row.name!r} was given until {row.expires_at}; ask for a new one"
            self._refuse("expired-token", tried, claimed, row, message)
        return presented

    # -- sessions --------------------------------------------------------------------------------------------------

    def sign_in(self, token: str, where: str, person: str | None = None) -> tuple[str, Session]:
        """Begin a session of a token; return its word, which only this answer ever shows.

        Args:
            token: that was typed.
            where: where it was typed, for the log: an address.
            person: whom something else has signed in already, whose own token it must be; None: nothing has.

        Raises:
            RejectedError: it is no token of this ledger, has expired, or is another person's; the log has that.
            StorageError: what is kept of tokens cannot be written, or did not keep the session.
        """
        tried = f"sign in at the desk from {where}"
        if not self.are_set_up():
            self._refuse_without_any()
        if sessions.is_session_word(token):  # a session begins no other one
            self._refuse("unknown-token", tried, None, None, "this is the word of a session, and no token")
        presented = self._holding(self._presented(token), token, person, tried)
        if person is not None and not same_person(person, presented.row.name):
            message = f"{redact_tokens(person)!r} is signed in before this server, and the token is of somebody else"
            self._refuse("not-this-name", tried, person, presented.row, message)
        now_ms = self._records.clock_ms()
        longest_ms = now_ms + sessions.LONGEST_MS
        ends_ms = longest_ms if presented.until_ms is None else min(longest_ms, presented.until_ms)
        number, entry = presented.row.number, presented.row.entry
        digest = self.issued.register().tokens[entry].event.digest
        word, row = sessions.new_session_word(), SessionRow(number, entry, digest, now_ms, now_ms, ends_ms)
        self.store.begin_session(word, row)
        if self.store.session(word) != row:  # a foreign trigger or rule on the tables
            raise StorageError(self.store.place, NOT_KEPT)
        session = self.session(word)
        if session is None:  # the token was revoked in this moment
            raise RejectedError("session-over", "", "this session is over; sign in again")
        self._note(SIGNED_IN, tried, presented.row.name, presented.row, "")
        return word, session

    def session(self, word: str) -> Session | None:
        """Return the session of a word, if neither it nor its token has expired; None if not. Nothing is written."""
        row = self._session_row(word) if sessions.is_session_word(word) else None
        presented = None if row is None else self._token_of(row, self.issued.register())
        if row is None or presented is None or presented.row.revoked_at is not None:
            return None
        roles = frozenset(presented.row.roles.split())
        return Session(presented.row.name, roles, row.token, row.begun_ms, row.used_ms, row.ends_ms)

    def note_use(self, word: str) -> None:
        """Store that a session is used now, at most once a minute: a long idle one expires."""
        if self.session(word) is not None:
            self.store.note_use(word, self._records.clock_ms())

    def sign_out(self, word: str, where: str) -> None:
        """End a session, if it has not ended yet."""
        session = self.session(word)
        if session is None:
            return
        self.store.end_session(word)
        self.store.log_refusal(
            self._now(), f"sign out at the desk from {where}", session.person, session.token, SIGNED_OUT, ""
        )

    def _session_row(self, word: str) -> SessionRow | None:
        """The row of a session that is not over by time."""
        row = self.store.session(word)
        return row if row is not None and row.holds_at(self._records.clock_ms()) else None

    def _token_of(self, row: SessionRow, register: TokenRegister) -> _Shown | None:
        """Return the token of a session, revoked or not; None if another one has taken its place."""
        issued = register.tokens.get(row.entry)
        if issued is None or issued.void is not None or issued.event.digest != row.digest:
            return None
        return _issued_token(issued)

    @contextmanager
    def logging_refusals(self, actor: Actor, tried: str) -> Iterator[None]:
        """Add each refusal for want of a right within the block to the log."""
        try:
            yield
        except RejectedError as error:
            if error.rule in WANT_OF_RIGHT:
                # refused all the same, even if the log fails
                with suppress(StorageError):
                    if self.are_set_up():
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
        # Of others the name could not be taken out again when its person is erased.
        if claimed is not None and not self.store.keeps_claims and all(claimed != token.name for token in self.list()):
            tried, message = (redact_names(text, [claimed]) for text in (tried, message))
            claimed = None
        claim = None if claimed is None else _writable(claimed)
        self.store.log_refusal(self._now(), _writable(tried), claim, number, rule, _writable(message))

    def _now(self) -> str:
        return instant_text(self._records.clock_ms())


def _writable(text: str) -> str:
    """Return a text as a store takes it: short, without tokens, and with escapes for lone surrogates."""
    return redact_tokens(text)[:LONGEST_NOTED].encode("utf-8", "backslashreplace").decode()


def _needs_a_token(tried: str, role: Role) -> str:
    return (
        f"tokens are set up for this ledger, and to {tried} needs one with the role {role.value}; give it by "
        "RATING_LEDGER_TOKEN or --token-file"
    )


def _digest(salt: bytes, token: str) -> str:
    # One hash is enough where a password would need a slow one: a token is 32 random bytes, too many to try.
    return hmac.digest(salt, token.encode("utf-8", "surrogatepass"), "sha256").hex()


def _issued_token(issued: IssuedToken) -> _Shown:
    expires_at = issued.event.expires_at
    return _Shown(_row(issued), None if expires_at is None else instant_end_ms(expires_at))


def _row(token: IssuedToken) -> TokenRow:
    event = token.event
    return TokenRow(
        event.number,
        event.person,
        event.roles,
        token.added_at,
        token.revoked_at,
        event.expires_at,
        token.by,
        token.position,
    )
