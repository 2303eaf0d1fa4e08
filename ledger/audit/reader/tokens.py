"""Tokens, read from the journal as it is published: who was given one by whom, and what it proves at a position.

Until an entry makes somebody an approver anybody issues and revokes; from then on the entry names that of an approver's
token, or it is a reset, which is named. No clock is asked: an expiry is a matter of the door.
"""

from __future__ import annotations

from typing import Any

import attrs

from ledger.audit.reader.files import shown

KEYS = "token:"
_APPROVER = "approver"


@attrs.define
class _Token:
    """A token: the entry that issued it, for whom, with which roles, and from which entry on it proves nothing."""

    position: int
    person: object
    roles: frozenset[str]
    revoked: int | None = None


@attrs.define
class Reset:
    """A reset: a token that took the place of a lost one, by nobody's token.

    Attributes:
        position: of its entry.
        person: who has a new token, as it may be shown.
        by: who reset it, as it may be shown: a word.
        decisions: positions of the decisions that rest on it alone.
    """

    position: int
    person: str
    by: str
    decisions: list[int] = attrs.Factory(list)

    def __str__(self) -> str:
        """One line."""
        rest = f"; by it decided: entries {', '.join(map(str, self.decisions))}" if self.decisions else ""
        return f"entry {self.position} gave {self.person} a new token, on the word of {self.by} and no approver's{rest}"


@attrs.define
class Tokens:
    """What entries so far have issued and revoked."""

    resets: dict[int, Reset] = attrs.Factory(dict)
    _tokens: dict[int, _Token] = attrs.Factory(dict)
    _numbers: dict[str, int] = attrs.Factory(dict)
    _begun: bool = False
    _approver: bool = False

    def take(self, position: int, entry: dict[str, Any]) -> str:
        """Take an entry; what is wrong with it, if anything."""
        facts, actor = entry["facts"], entry.get("actor")
        if entry.get("kind") == "token-issued/1":
            why = self._issue(position, actor, facts)
            return f"issues a token to {shown(facts.get('person'))}, though {why}; it proves nothing" if why else ""
        if entry.get("kind") == "token-revoked/1":
            why = self._may_issue(actor, facts)
            if why:
                return f"revokes token {shown(facts.get('number'))}, though {why}; the token holds"
            token = self._tokens.get(self._numbers.get(str(facts.get("number")), 0))
            if token is not None and token.revoked is None:
                token.revoked = position
        return ""

    def _issue(self, position: int, actor: object, facts: dict[str, Any]) -> str:
        person, roles = facts.get("person"), frozenset(str(facts.get("roles")).split())
        earlier = [token for token in self._tokens.values() if token.person == person]
        self_made = facts.get("reset") is True
        why = "" if self_made else self._may_issue(actor, facts)
        if self_made and not roles <= {role for token in earlier for role in token.roles}:
            why = "a reset gives no role that the person never had"
        self._begun = True
        if why:
            return why
        if self_made:
            self.resets[position] = Reset(position, shown(person), shown(actor))
            for token in earlier:
                token.revoked = position if token.revoked is None else token.revoked
        self._approver = self._approver or _APPROVER in roles
        self._tokens[position] = _Token(position, person, roles)
        self._numbers[str(facts.get("number"))] = position
        return ""

    def _may_issue(self, actor: object, facts: dict[str, Any]) -> str:
        return self.unproven(actor, facts.get("by_token"), _APPROVER) if self._approver else ""

    def unproven(self, actor: object, by_token: object, role: str) -> str:
        """Why no token proves who acts by the next entry; empty where one does, or where there were none yet.

        Args:
            actor: of that entry.
            by_token: the position that it names.
            role: that it needs.
        """
        if by_token is None:
            return "it names no entry that issued a token" if self._begun else ""
        token = self._tokens.get(by_token) if type(by_token) is int else None
        if token is None:
            return f"entry {shown(by_token)} issued no token that holds"
        if token.person != actor:
            return f"the token of entry {by_token} is of {shown(token.person)}"
        if role not in token.roles:
            return f"the token of entry {by_token} is no {role}'s"
        return f"the token of entry {by_token} was revoked by entry {token.revoked}" if token.revoked else ""
