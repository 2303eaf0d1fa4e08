"""Policies: the rules that a ledger gives itself, their settings, and the settings in force at an instant.

Four eyes hold from the position of their entry on: whether a decision breaks them follows from the entries before it,
so that ``proposal_judge`` and the game book call the same function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import attrs
import orjson

from ledger.book.stored_proposals import Proposal
from ledger.book.timeline import BEGINNING
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.event_fields import MAX_WHOLE, NAME_PATTERN
from ledger.facts.events import FOUR_EYES, Decision, PolicySet
from ledger.facts.instants import instant_ms
from ledger.facts.person_names import look_alike, same_person
from ledger.runtime.nearest import did_you_mean, expected_names

if TYPE_CHECKING:
    import sqlite3


PUBLISHING = "publishing"
SANDBAGGER = "sandbagger"
UPSETS = "upsets"
CLASSES = "classes"
TITLES = "titles"
READ_MODELS = "read-models"
MOST_POINTS = 100_000  # of a margin: above every difference of two ratings

Value = int | bool
Settings = Mapping[str, int | bool | str]


class Setting(NamedTuple):
    """One setting of a policy.

    Attributes:
        default: the value if the policy was never set; a bool makes it a switch, an int a whole number from 0 to
            ``MOST_POINTS``.
        unit: of the number; ``switch`` for true and false.
        doc: its meaning.
    """

    default: Value
    unit: str
    doc: str

    @property
    def valid_values(self) -> str:
        """A description of valid values, for people."""
        return "true or false" if isinstance(self.default, bool) else f"a whole number from 0 to {MOST_POINTS}"

    def accepts(self, value: object) -> bool:
        """Return whether a value is valid."""
        # to Python True is a whole number, too
        if isinstance(self.default, bool):
            return type(value) is bool
        return type(value) is int and 0 <= value <= MOST_POINTS


class Policy(NamedTuple):
    """A policy with the settings that it may have.

    Attributes:
        doc: its purpose.
        settings: its settings by name.
        is_by_position: it holds from the position of its entry on, never backwards; others hold from an instant on.
        further: its setting under any other name; None if no other name is allowed.
    """

    doc: str
    settings: Mapping[str, Setting]
    is_by_position: bool = False
    further: Setting | None = None

    def setting(self, name: str) -> Setting | None:
        """Return the setting of a name; None if there is none."""
        # without ASCII digits of every script would do
        is_other = self.further is not None and re.fullmatch(NAME_PATTERN, name, re.ASCII) is not None
        return self.settings.get(name, self.further if is_other else None)


POLICIES: Mapping[str, Policy] = {
    FOUR_EYES: Policy(
        "who proposes a correction cannot approve it",
        {
            "on": Setting(default=False, unit="switch", doc="corrections, and changes of the past,, need two people"),
            "tokens": Setting(default=False, unit="switch", doc="a token must have named both people"),
            "warnings": Setting(default=False, unit="switch", doc="warnings about a report are accepted by two people"),
        },
        is_by_position=True,
    ),
    PUBLISHING: Policy(
        "what is complained of before a list is published, and who is kept off it",
        {
            "largest_jump": Setting(100, "points", "a larger change since the last list is complained of"),
            "active_days": Setting(
                0, "days", "players without a rated game in so many days before a list are not on it; 0: off"
            ),
        },
    ),
    UPSETS: Policy(
        "which results are upsets",
        {"margin": Setting(200, "points", "a win against a rating higher by at least so much is an upset")},
    ),
    SANDBAGGER: Policy(
        "whose losses on time a person should look at; nothing follows from it by itself",
        {
            "on": Setting(default=False, unit="switch", doc="players are marked"),
            "games": Setting(100, "games", "so many of the latest rated games are looked at"),
            "at_least": Setting(10, "games", "so many of them, or more, were lost on time"),
            "percent": Setting(30, "percent", "and that is so large a share of them, or a larger one"),
        },
    ),
    CLASSES: Policy(
        "which rating is of which class and strength; the defaults are ChessWorld's",
        {
            "b_from": Setting(1400, "points", "class B begins here, A is below"),
            "c_from": Setting(1880, "points", "class C begins here"),
            "d_from": Setting(2200, "points", "class D begins here"),
            "intermediate_from": Setting(1601, "points", "strength Intermediate begins here, Beginner is below"),
            "advanced_from": Setting(2401, "points", "strength Advanced begins here"),
            "everywhere": Setting(
                default=False,
                unit="switch",
                doc="answers and pages also show them, and HERA, under schemes that are not ChessWorld's",
            ),
        },
    ),
    TITLES: Policy(
        "which ratings bring a title, and whether a player keeps it; any other name is a title, too",
        {
            "on": Setting(default=False, unit="switch", doc="players have titles"),
            "keep": Setting(default=True, unit="switch", doc="who has reached a title keeps it when the rating falls"),
            "games": Setting(50, "games", "no title before so many rated games, those before the ledger included"),
            "expert": Setting(2000, "points", "the rating of an Expert; 0: there is no such title"),
            "national-master": Setting(2200, "points", "the rating of a National Master; 0: there is no such title"),
        },
        further=Setting(0, "points", "the rating of this title; 0: there is no such title"),
    ),
    READ_MODELS: Policy(
        "which read models the ledger keeps beside the history, those of plug-ins among them",
        {},
        is_by_position=True,
        further=Setting(
            default=False,
            unit="switch",
            doc="the read model of this name is kept; where nothing is set, those that are built in, and those that "
            "have a table, are kept",
        ),
    ),
}


@attrs.frozen
class PolicyRow:
    """One setting of a policy by an entry, as the table ``policies`` stores it.

    Attributes:
        policy: its name, which this version may not know.
        number: place among the entries of this policy, from 1.
        since_ms: first millisecond at which it holds; ``BEGINNING`` where it holds from the beginning.
        since: the same as the entry wrote it; empty for the beginning.
        settings: the settings of the entry.
        position: of the entry in the journal.
    """

    policy: str
    number: int
    since_ms: int
    since: str
    settings: Settings
    position: int


def policy_row(position: int, event: PolicySet) -> PolicyRow:
    """Return the row of the table ``policies`` for an entry at a position."""
    since = event.effective_from
    since_ms = BEGINNING if since is None else instant_ms(since)
    return PolicyRow(event.policy, event.number, since_ms, since or "", dict(event.settings), position)


def policy_named(name: str) -> Policy:
    """Return the policy of a name.

    Raises:
        UnknownNameError: this version knows no such policy; the error lists those that it knows.
    """
    if name not in POLICIES:
        raise UnknownNameError("policy", name, expected_names(name, POLICIES), where="in this version")
    return POLICIES[name]


def check_settings(name: str, settings: Settings, since: str | None = None) -> None:
    """Refuse settings that a policy cannot have.

    Raises:
        UnknownNameError: this version knows no such policy.
        MalformedError: with all unknown settings, values that are not allowed, and an instant that is invalid or that
            the policy cannot have.
    """
    policy = policy_named(name)
    names = sorted(policy.settings) or "the names of read models"
    problems = [] if settings else [f"policy {name!r}: give at least one of {names}"]
    for setting, value in settings.items():
        taken = policy.setting(setting)
        if taken is None:
            hint = f"{did_you_mean(setting, policy.settings)}it takes {names}"
            problems.append(f"policy {name!r} has no setting {setting!r}; {hint}")
        elif not taken.accepts(value):
            problems.append(f"policy {name!r}: {setting} must be {taken.valid_values}, got {value!r}")
    if since is not None and policy.is_by_position:
        problems.append(f"policy {name!r} holds from its entry on: give no instant")
    if problems:
        raise MalformedError(problems)
    if since is not None:
        instant_ms(since)


class Policies:
    """The settings of a ledger's policies (four eyes, checks before publishing, upsets, ...) over time.

    Of two settings for the same instant the later entry holds.
    """

    def __init__(self, rows: Iterable[PolicyRow]) -> None:
        self.rows = tuple(sorted(rows, key=lambda row: (row.policy, row.number)))
        self._timelines: dict[str, list[PolicyRow]] = {}
        for row in self.rows:
            self._timelines.setdefault(row.policy, []).append(row)
        for timeline in self._timelines.values():
            timeline.sort(key=lambda row: (row.since_ms, row.number))

    def row_at(self, name: str, ms: int) -> PolicyRow | None:
        """Return the row of a policy in force at an instant in milliseconds since 1970; None if there is none.

        Raises:
            UnknownNameError: this version knows no such policy.
            ValueError: it holds by position.
        """
        if policy_named(name).is_by_position:
            raise ValueError(f"policy {name!r} holds from the position of its entry on: ask with settings_before()")
        return next((row for row in reversed(self._timelines.get(name, ())) if row.since_ms <= ms), None)

    def last(self, name: str) -> PolicyRow | None:
        """Return the last row of a policy; None if there is none."""
        return max((row for row in self.rows if row.policy == name), key=lambda row: row.position, default=None)

    def settings_at(self, name: str, ms: int) -> dict[str, Value]:
        """Return every setting of a policy at an instant in milliseconds since 1970.

        Raises as ``row_at``.
        """
        return complete_settings(name, self.row_at(name, ms))

    def periods(self, name: str) -> Iterator[tuple[int, int, dict[str, Value]]]:
        """Yield the periods in which a policy was set: first millisecond, first one after it, every setting."""
        rows = self._timelines.get(name, [])
        ends = [*(row.since_ms for row in rows[1:]), MAX_WHOLE]
        for row, until_ms in zip(rows, ends, strict=False):
            yield row.since_ms, until_ms, complete_settings(name, row)

    def settings_before(self, name: str, position: int) -> dict[str, Value]:
        """Return every setting of a policy for the entry at *position*, by the entries before it."""
        earlier = [row for row in self._timelines.get(name, ()) if row.position < position]
        return complete_settings(name, max(earlier, key=lambda row: row.position, default=None))


def complete_settings(name: str, row: PolicyRow | None) -> dict[str, Value]:
    """Return every setting of a policy: its value in a row, or its default."""
    values: dict[str, Value] = {}
    policy, settings = policy_named(name), {} if row is None else row.settings
    for setting in dict.fromkeys((*policy.settings, *(sorted(settings) if policy.further else ()))):
        taken, value = policy.setting(setting), settings.get(setting)
        if taken is None:  # a name that no read model can have
            continue
        # a value that this version cannot take was written by another one
        values[setting] = value if isinstance(value, int) and taken.accepts(value) else taken.default
    return values


UNPROVEN = "unproven-token"  # breaks a decision whose entry claims a token that does not authenticate the actor


class Party(NamedTuple):
    """A person who proposed or decides.

    Attributes:
        name: the actor of the entry.
        proven: True if a token of the journal authenticates the person; else the name is a claim.
    """

    name: str
    proven: bool


class FourEyes(NamedTuple):
    """The settings of the policy ``four-eyes`` in force for one entry."""

    on: bool = False
    tokens: bool = False


def four_eyes_at(policies: Policies, position: int) -> FourEyes:
    """Return the settings of four eyes in force for the entry at *position*, by the entries before it."""
    settings = policies.settings_before(FOUR_EYES, position)
    return FourEyes(bool(settings["on"]), bool(settings["tokens"]))


def four_eyes_breach(policy: FourEyes, decision: Decision, proposed: Party, decided: Party) -> str | None:
    """Return why a decision breaks four eyes, of the person who *proposed* and the one who *decided*; None if not.

    Only an approval needs a second person: anyone may reject, and the proposer may withdraw.
    """
    if not policy.on or decision is not Decision.APPROVED:
        return None
    # Before any token is asked for: two tokens of one person are still one person.
    if same_person(proposed.name, decided.name):
        return f"{decided.name!r} proposed it, and who proposed cannot approve"
    if policy.tokens and not (proposed.proven and decided.proven):
        unproven = decided if proposed.proven else proposed
        return f"no token proves that {unproven.name!r} is who they say, and the policy asks for one"
    # the word may be that of the person whom the token names
    if proposed.proven != decided.proven:
        word, token = (proposed, decided) if decided.proven else (decided, proposed)
        return f"{token.name!r} is proven by a token and {word.name!r} is a word alone, which may be the same person's"
    return None


def breach_of_decision(
    connection: sqlite3.Connection, position: int, proposal: Proposal, decision: Decision, decided: Party
) -> str | None:
    """Return why a decision at a position breaks the four eyes in force there; None if it does not."""
    proposed = Party(proposal.proposed_by, bool(proposal.proposed_proven))
    return four_eyes_breach(four_eyes_at(stored_policies(connection), position), decision, proposed, decided)


def refusal_of_decision(
    connection: sqlite3.Connection, position: int, proposal: Proposal, decision: Decision, decided: Party
) -> str | None:
    """Return why a decision may not be recorded under four eyes: it breaks them, or two names look the same.

    Which names look the same changes with the tables of Unicode, so that a recorded decision is not judged by that.
    """
    words = breach_of_decision(connection, position, proposal, decision, decided)
    is_on = decision is Decision.APPROVED and four_eyes_at(stored_policies(connection), position).on
    if words is None and is_on and look_alike(proposal.proposed_by, decided.name):
        words = f"{decided.name!r} looks like {proposal.proposed_by!r}, who proposed it: somebody else approves"
    return words


def stored_policies(connection: sqlite3.Connection) -> Policies:
    """Return the policies that the views store."""
    query = "SELECT policy, number, since_ms, since, settings, position FROM policies"
    rows: list[PolicyRow] = []
    for policy, number, since_ms, since, text, position in connection.execute(query).fetchall():
        settings = orjson.loads(text)
        if not isinstance(settings, dict):
            raise ValueError(f"settings of a policy are no object: {text!r}")  # noqa: TRY004  # a row, not an argument
        rows.append(PolicyRow(policy, number, since_ms, since, settings, position))
    return Policies(rows)
