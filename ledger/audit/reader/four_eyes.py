"""The audit of the four-eyes policy: it finds the entries that broke the policy in force before them.

While the policy is on, a correction that one person both proposed and approved is false. So is an entry that needs a
proposal and has none: an adoption, an opening or a closing that takes effect before its day, an earlier fact about a
registered player, and another setting of the policy. The journal alone suffices to check all of this; its entries
state which tokens there were. An entry that claims a token as proof, although there was none, is false whether the
policy is on or not.

An accepted clock says of one entry alone that its clock was wrong: the entry before it keeps its day, and a later
entry is compared with that day if the journal shows that the day had come: its last entry is of that day or later.

Until an entry makes a person an approver, all people issue and revoke tokens; from then on the entry names the entry
of an approver's token, or it is a reset, which is listed. No clock is read: the programs that receive a token check
its expiry.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs

from ledger.audit.reader.snapshots import FIRST_FALSEHOODS, READ_ERRORS, Falsehood, Finding, Snapshot, excerpt

KEYS = "token:"
_APPROVER = "approver"


@attrs.define
class _IssuedToken:
    """A token: the entry that issued it, for whom, with which roles, and from which entry on it proves nothing."""

    position: int
    person: object
    roles: frozenset[str]
    revoked: int | None = None


@attrs.define
class TokenReset:
    """A token that replaced a lost one without an approver's, with the positions of the decisions made with it."""

    position: int
    person: str
    by: str
    decisions: list[int] = attrs.Factory(list)

    def __str__(self) -> str:
        rest = f"; by it decided: entries {', '.join(map(str, self.decisions))}" if self.decisions else ""
        return f"entry {self.position} gave {self.person} a new token, on the word of {self.by} and no approver's{rest}"


@attrs.define
class TokenHistory:
    """The tokens that were issued and revoked up to an entry of the journal."""

    resets: dict[int, TokenReset] = attrs.Factory(dict)
    _tokens: dict[int, _IssuedToken] = attrs.Factory(dict)
    _numbers: dict[str, int] = attrs.Factory(dict)
    _begun: bool = False
    _approver: bool = False

    def add_entry(self, position: int, entry: dict[str, Any]) -> str:
        """Add an entry about tokens; return its fault, empty if it has none."""
        facts, actor = entry["facts"], entry.get("actor")
        if entry.get("kind") == "token-issued/1":
            why = self._issue(position, actor, facts)
            return f"issues a token to {excerpt(facts.get('person'))}, though {why}; it proves nothing" if why else ""
        if entry.get("kind") == "token-revoked/1":
            why = self._may_issue(actor, facts)
            if why:
                return f"revokes token {excerpt(facts.get('number'))}, though {why}; the token holds"
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
            self.resets[position] = TokenReset(position, excerpt(person), excerpt(actor))
            for token in earlier:
                token.revoked = position if token.revoked is None else token.revoked
        self._approver = self._approver or _APPROVER in roles
        self._tokens[position] = _IssuedToken(position, person, roles)
        self._numbers[str(facts.get("number"))] = position
        return ""

    def _may_issue(self, actor: object, facts: dict[str, Any]) -> str:
        return self.token_fault(actor, facts.get("by_token"), _APPROVER) if self._approver else ""

    def token_fault(self, actor: object, by_token: object, role: str) -> str:
        """Return why the token of entry *by_token* does not prove the actor of the next one; empty if it does.

        Before the first token an actor needs none.
        """
        if by_token is None:
            return "it names no entry that issued a token" if self._begun else ""
        token = self._tokens.get(by_token) if type(by_token) is int else None
        if token is None:
            return f"entry {excerpt(by_token)} issued no token that holds"
        if token.person != actor:
            return f"the token of entry {by_token} is of {excerpt(token.person)}"
        if role not in token.roles:
            return f"the token of entry {by_token} is no {role}'s"
        return f"the token of entry {by_token} was revoked by entry {token.revoked}" if token.revoked else ""


TABLE = "four eyes"
POLICY = "policy:four-eyes@"
REMEDY = "ask both what was meant; it stays in the journal, and what it did is undone by a proposal of two"
_WITHOUT_EFFECT = "it has no effect; propose it again, for another person to approve"
# Beginnings of the keys of what is looked at; the unique index over keys finds them among millions of games.
_OF_PROOFS = ("decision:", "proposal:", KEYS)
_KEYS = (*_OF_PROOFS, "clock:", "opening:", POLICY, "run:", "scheme:", "tournament:")
_ENTRY = "SELECT position, body FROM journal"
_ROLES = {"approved": "approver", "rejected": "approver", "withdrawn": "corrector"}
# Facts about players matter from the first setting of the policy on; before it there may be a list of a million.
_OF_PLAYERS = (("born:", "*"), ("federation:", "*"), ("player:", "player:*@*"), ("seed:", "*"))
# Default_Ignorable_Code_Point of Unicode, and the blank of Braille: the first and the last of each range.
_UNSEEN = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip


@attrs.define
class _Proposal:
    """A proposal: who made it, whether a token named that person, and the keys of the facts that it adds."""

    actor: object
    is_proven: bool
    adds: set[str]


@attrs.define(slots=False)
class _State:
    """The facts that are known before an entry."""

    journal: Snapshot
    is_on: bool = False  # the policy
    asks_tokens: bool = False  # of proposer and approver
    proposals: dict[int, _Proposal] = attrs.Factory(dict)
    tokens: TokenHistory = attrs.Factory(TokenHistory)
    added: set[str] = attrs.Factory(set)  # keys of the facts that valid approvals have let in
    clock: int = 0  # position of the last acceptance of a clock; 0 before the first
    latest: str = ""  # when the latest entry was recorded of those before one whose clock was called wrong

    def accept(self, position: int) -> None:
        """Note the acceptance of a clock at a position: the clock of the entry before it was wrong."""
        self.clock = position
        self.latest = max(self.latest, self._recorded_at(f"{_ENTRY} WHERE position = ?", position - 2)[1])

    @cached_property
    def last(self) -> str:
        """When the last entry of the journal was recorded."""
        return self._recorded_at(f"{_ENTRY} WHERE position = (SELECT max(position) FROM journal)")[1]

    def registered_at(self, player: object) -> str:
        """Return when a player was registered; empty if a clock was accepted since, or if the entry cannot be read."""
        query = self.journal.entries_by_key("position, body", "key = ?")
        position, recorded_at = self._recorded_at(query, f"player:{player}")
        # It is the first fact of its transaction: entries on both sides of it were not recorded together.
        return recorded_at if position > self.clock else ""

    def _recorded_at(self, query: str, *values: object) -> tuple[int, str]:
        """Return the position of an entry, and when it was recorded; 0 and nothing if that cannot be read."""
        try:
            row = self.journal.connection.execute(query, values).fetchone()
            return (int(row[0]), str(json.loads(row[1])["recorded_at"])) if row else (0, "")
        except (*READ_ERRORS, ValueError, TypeError, KeyError, RecursionError):
            return 0, ""


@attrs.frozen
class FourEyesVerdict(Finding):
    """The findings of an audit about the four-eyes policy and the tokens."""

    falsehoods: tuple[Falsehood, ...]
    resets: tuple[TokenReset, ...]


def verify_four_eyes(journal: Snapshot) -> FourEyesVerdict:
    """Find the entries that broke the four-eyes policy, or that claim a token as proof although there was none."""
    false: list[Falsehood] = []
    state = _State(journal)
    for position, key, entry in _entries(journal):
        if fault := _fault(state, position, key, entry):
            false.append(Falsehood(TABLE, f"entry {position}", fault))
    return FourEyesVerdict(tuple(false[:FIRST_FALSEHOODS]), tuple(state.tokens.resets.values()))


def _entries(journal: Snapshot) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the entries about tokens and decisions, and all others that a policy affects; skip unreadable ones."""
    # A query for each range of keys: asked together they would be answered by reading the whole journal.
    between = journal.entries_by_key("position, key, body", "key >= ? AND key < ?")
    # By the range of keys, never (hence the plus) by all positions after that one.
    since_policy = f"{between} AND key GLOB ? AND +position > ?"
    read = journal.connection.execute
    try:
        settings = read(between, _bounds(POLICY)).fetchall()
        rows = [row for start in (_KEYS if settings else _OF_PROOFS) for row in read(between, _bounds(start))]
        for start, keys in _OF_PLAYERS if settings else ():
            since = min(position for position, _, _ in settings)
            rows += read(since_policy, (*_bounds(start), keys, since)).fetchall()
    except READ_ERRORS:  # the journal's own verdict names it
        return
    # By position, which no two of them share: what a damaged column holds is never compared.
    for position, key, body in sorted(rows):
        try:
            entry = json.loads(body)
        # JSON with thousands of brackets within each other ends Python's reader by a RecursionError.
        except (ValueError, TypeError, RecursionError):
            continue
        if isinstance(entry, dict) and isinstance(entry.get("facts"), dict):
            yield position, key, entry


def _bounds(start: str) -> tuple[str, str]:
    """Return the first key with this beginning, and the first one behind them all."""
    return start, start[:-1] + chr(ord(start[-1]) + 1)


def _fault(state: _State, position: int, key: str, entry: dict[str, Any]) -> str:
    """Add an entry to the state; return its fault by the policy, empty if it has none."""
    facts: dict[str, Any] = entry["facts"]
    if key.startswith(KEYS):
        return state.tokens.add_entry(position, entry)
    if key.startswith(POLICY):
        settings = facts["settings"] if isinstance(facts.get("settings"), dict) else {}
        alone = state.is_on and key not in state.added
        state.is_on = settings.get("on") is True
        state.asks_tokens = settings.get("tokens") is True
        return f"sets the policy that is in force, by nobody's approval; {REMEDY}" if alone else ""
    match entry.get("kind"):
        case "correction-proposed/1" | "correction-proposed/2":
            return _propose(state, entry.get("actor"), facts)
        case "correction-decided/1" | "correction-decided/2":
            return _decide(state, position, entry.get("actor"), facts)
        case "clock-accepted/1":
            state.accept(position)
            return ""
        case _:
            return _backdating_fault(state, key, entry)


def _propose(state: _State, actor: object, facts: dict[str, Any]) -> str:
    number, says_proven = facts.get("proposal"), facts.get("proven") is True
    # ``isinstance`` would take ``true`` for a number.
    if type(number) is not int:
        return ""
    why = state.tokens.token_fault(actor, facts.get("by_token"), "corrector") if says_proven else ""
    # A long proposal has several parts: who made it is said by the first.
    proposal = state.proposals.setdefault(number, _Proposal(actor, says_proven and not why, set()))
    changes = facts.get("changes")
    for change in changes if isinstance(changes, list) else ():
        if isinstance(change, dict) and change.get("do") == "add" and isinstance(change.get("fact"), str):
            proposal.adds.add(change["fact"])
    return f"proposes as if a token named {excerpt(actor)}, though {why}; it is a word alone" if why else ""


def _decide(state: _State, position: int, actor: object, facts: dict[str, Any]) -> str:
    number, decision, by_token = facts.get("proposal"), facts.get("decision"), facts.get("by_token")
    says_proven = facts.get("proven") is True
    why = state.tokens.token_fault(actor, by_token, _ROLES.get(str(decision), "")) if says_proven else ""
    if why:
        return (
            f"decides proposal {excerpt(number)} as if a token named {excerpt(actor)}, though {why}; {_WITHOUT_EFFECT}"
        )
    if says_proven and type(by_token) is int and by_token in state.tokens.resets:
        state.tokens.resets[by_token].decisions.append(position)
    proposal = state.proposals.get(number) if type(number) is int else None
    if proposal is None or decision != "approved":
        return ""
    why = _breach(state, proposal, actor, is_proven=says_proven) if state.is_on else ""
    if why:
        return f"approves proposal {number} against four eyes: {why}; {_WITHOUT_EFFECT}"
    state.added |= proposal.adds
    return ""


def _breach(state: _State, proposal: _Proposal, actor: object, *, is_proven: bool) -> str:
    if _person(proposal.actor) == _person(actor):
        return f"{excerpt(actor)} proposed it"
    if state.asks_tokens and not (proposal.is_proven and is_proven):
        return f"no token named {excerpt(actor if proposal.is_proven else proposal.actor)}"
    if proposal.is_proven != is_proven:
        return f"a token named only one of {excerpt(proposal.actor)} and {excerpt(actor)}, who may be one person"
    return ""


def _person(name: object) -> str:
    """Return a name without case and width of letters, invisible characters, and blanks."""
    # Twice: casefolding may give letters that are composed again (Unicode, 3.13: compatibility caseless matching).
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", str(name)).casefold())
    seen = (letter for letter in text if not any(first <= ord(letter) <= last for first, last in _UNSEEN))
    return "".join("".join(seen).split())


def _backdating_fault(state: _State, key: str, entry: dict[str, Any]) -> str:
    """Return the fault of a scheme, a day or a player's past that takes effect before the day of its entry."""
    # That is, by no approval; and a past that is recorded together with its player affects nothing.
    if not state.is_on or key in state.added:
        return ""
    facts, today = entry["facts"], str(entry.get("recorded_at"))[:10]
    if state.latest <= state.last:
        today = max(today, state.latest[:10])
    is_past = key.startswith(tuple(start for start, _ in _OF_PLAYERS))
    if is_past and entry.get("recorded_at") == state.registered_at(facts.get("player")):
        return ""
    since = facts.get("effective_from", facts.get("starts_at", facts.get("effective_at")))
    closing = facts.get("as_of", facts.get("ended_at"))
    day = ""
    if is_past and since is None:
        return f"reaches back to the beginning while four eyes are on, by nobody's approval; {REMEDY}"
    if isinstance(since, str):
        # What a year lacks of its first day is the whole of "-01-01", what a month lacks the second half.
        day = (since + "-01-01"[len(since) - 4 :] if len(since) < 10 else since)[:10]
    elif isinstance(closing, str):  # a month is over with its last day: none has more than 31
        day = (closing + ("-12-31" if len(closing) == 4 else "-31") if len(closing) < 10 else closing)[:10]
    if not day or day >= today:
        return ""
    return f"reaches back to {excerpt(since or closing)} while four eyes are on, by nobody's approval; {REMEDY}"
