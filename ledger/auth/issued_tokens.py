"""The register of tokens: those that the journal issued and revoked, and whether one is valid at a position.

One judge for every door, for the gate under the write lock and for the game book: what is asked is the position alone,
never a clock. The audit has a reader of its own.

Until there is an approver, anyone may issue and revoke. From then on it takes an approver's token. A reset, for a
lost one, takes none: it gives a person, who held the roles before, a new token in the place of all earlier ones, and
the audit names it.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ledger.facts.codec import Entry, decode
from ledger.facts.events import AFTER_KEYS, KEYS, Role, TokenIssued, TokenRevoked
from ledger.facts.instants import without_zero_fraction
from ledger.journal import Journal


@attrs.define
class IssuedToken:
    """A token as the journal issued and revoked it.

    Attributes:
        position: of its entry, by which authenticated entries name it.
        event: what that entry says.
        by: who issued it, as the entry's actor.
        added_at: when.
        void: why it never proved anything; None where it does.
        revoked: position of the entry from which on it proves nothing; None while it holds.
        revoked_at: when that was recorded.
    """

    position: int
    event: TokenIssued
    by: str
    added_at: str
    void: str | None = None
    revoked: int | None = None
    revoked_at: str | None = None

    @property
    def roles(self) -> frozenset[str]:
        """The roles that the token gives."""
        return frozenset(self.event.roles.split())

    def holds_at(self, position: int) -> bool:
        """Return whether the token authenticates the entry at a position."""
        return self.void is None and self.position < position and (self.revoked is None or position <= self.revoked)


@attrs.define
class TokenRegister:
    """The tokens of a journal, in the order of their entries.

    Attributes:
        tokens: by position of their entries.
        first: position of the first of these entries; decisions before it name none.
        approver_since: position of the first entry that appointed an approver.
    """

    tokens: dict[int, IssuedToken] = attrs.Factory(dict)
    first: int | None = None
    approver_since: int | None = None

    def add_entries(self, entries: Iterable[Entry]) -> None:
        """Add the tokens that entries issue or revoke, in the order of their positions."""
        for entry in entries:
            match entry.event:
                case TokenIssued() as event:
                    self._issue(entry, event)
                case TokenRevoked() as event if self.issuing_fault(entry.actor, event.by_token, entry.position) is None:
                    for token in self.tokens.values():
                        if token.event.number == event.number:
                            self._end(token, entry)
                case _:
                    pass

    def _issue(self, entry: Entry, event: TokenIssued) -> None:
        first = entry.position if self.first is None else self.first
        if event.reset:
            before = {role for token in self.issued_to(event.person) for role in token.roles}
            void = None
            if not set(event.roles.split()) <= before:
                void = f"a reset gives {event.person!r} roles that no earlier token of this person has"
        else:
            void = self.issuing_fault(entry.actor, event.by_token, entry.position)
        self.first = first
        added_at = without_zero_fraction(entry.recorded_at)
        token = IssuedToken(entry.position, event, entry.actor, added_at, void)
        if void is None and event.reset:
            # Before the new token is among them: it would end itself.
            for earlier in self.issued_to(event.person):
                self._end(earlier, entry)
        if void is None and Role.APPROVER in token.roles and self.approver_since is None:
            self.approver_since = entry.position
        self.tokens[entry.position] = token

    @staticmethod
    def _end(token: IssuedToken, entry: Entry) -> None:
        if token.revoked is None:
            token.revoked, token.revoked_at = entry.position, without_zero_fraction(entry.recorded_at)

    def issued_to(self, person: str) -> list[IssuedToken]:
        """Return the tokens that were validly issued to a person, revoked ones included."""
        return [token for token in self.tokens.values() if token.event.person == person and token.void is None]

    def issuing_fault(self, name: str, by_token: int | None, position: int) -> str | None:
        """Return why a person may not issue or revoke tokens at a position; None if the person may.

        Args:
            name: who does it, as the entry's actor.
            by_token: position of the entry that issued that person's token; None where none was shown.
            position: of the entry that issues or revokes.
        """
        # Up to the entry that appointed the first approver there was no token that could be shown.
        if self.approver_since is None or position <= self.approver_since:
            return None
        return self.fault(name, by_token, Role.APPROVER, position)

    def fault(self, name: str, by_token: int | None, role: Role, position: int) -> str | None:
        """Return why the token that an entry names does not authenticate it; None if it does.

        Args:
            name: who acts, as the entry's actor.
            by_token: position of the entry that issued the token; None where the entry names none.
            role: that the act needs.
            position: of the entry that says so.
        """
        if by_token is None:
            before_all = self.first is None or position <= self.first
            return None if before_all else "it names no entry that issued the token"
        token = self.tokens.get(by_token)
        if token is None or token.position >= position:
            return f"entry {by_token} issued no token"
        if token.void is not None:
            return f"the token of entry {by_token} never held: {token.void}"
        if token.event.person != name:
            return f"the token of entry {by_token} names {token.event.person!r}, not {name!r}"
        if role not in token.roles:
            return f"the token of entry {by_token} has the roles {token.event.roles}, not {role}"
        # Not at that entry itself: a person who gives up a token may have no other one to show.
        if token.revoked is not None and token.revoked < position:
            return f"the token of entry {by_token} was revoked by entry {token.revoked}"
        return None


class IssuedTokens:
    """The reader of a journal's tokens: its register is read again if token entries were added."""

    def __init__(self, journal: Journal) -> None:
        """Take the journal."""
        self._journal = journal
        self._keys: list[str] = []
        self._register = TokenRegister()

    def register(self) -> TokenRegister:
        """Return the current register of tokens, with those of an open transaction."""
        keys = list(self._journal.keys(KEYS, AFTER_KEYS))
        if keys != self._keys:
            rows = self._journal.find(keys)
            entries = [decode(stored.body) for stored in rows.values()]
            register = TokenRegister()
            register.add_entries(sorted(entries, key=lambda entry: entry.position))
            self._keys, self._register = keys, register
        return self._register
