"""Setting the policies of a ledger and reading their settings; ``book.policies`` defines the policies.

A policy's entry has a number and every setting in full, so that a default of a later version changes nothing that was
set.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.book.policies import (
    Policies,
    PolicyRow,
    Settings,
    Value,
    check_settings,
    complete_settings,
    four_eyes_at,
    policy_named,
    policy_row,
    stored_policies,
)
from ledger.book.timeline import BEGINNING
from ledger.errors import RejectedError
from ledger.facts.codec import decode
from ledger.facts.events import FOUR_EYES, Event, PolicySet, Role
from ledger.facts.instants import instant_ms
from ledger.facts.words import Receipt
from ledger.handle import OpenLedger
from ledger.journal import Writer, late_facts
from ledger.journal.late_facts import next_policy_number
from ledger.ratings.views_file import reporting_damage
from ledger.runtime.calls import checked_methods


@checked_methods
@attrs.frozen
class HousePolicies:
    """The policies of one ledger: setting and reading them."""

    ledger: OpenLedger

    def set(
        self,
        policy: str,
        settings: Settings,
        *,
        effective_from: str | None = None,
        actor: str | None = None,
        token: str | None = None,
    ) -> Receipt:
        """Set a policy from an instant on, and return the entry's receipt.

        Other settings keep their values.

        The receipt is a duplicate if the policy has these settings already, from the same instant on. The four-eyes
        policy holds from its entry on; once it is on, only an approved proposal changes it.

        Args:
            policy: the name of the policy.
            settings: the values to set, by name of the setting.
            effective_from: an instant; None: from the beginning.
            actor: the name of the person who sets it; if tokens are set up, the token of an approver names that person.
            token: that token.

        Raises:
            UnknownNameError: there is no such policy in this version, or no such read model.
            MalformedError: a setting that it does not have, an impossible value, or a malformed instant.
            RejectedError: ``needs-a-proposal``: four eyes are on; or for want of a token.
        """
        check_settings(policy, settings, effective_from)
        self.ledger.ensure_up_to_date()  # long work is done before the lock
        self.ledger.current_facts.check_read_models(policy, settings)

        def gate(writer: Writer, _: int) -> Sequence[Event]:
            # Once more under the lock: what others recorded since may have revoked the token, or set the same policy.
            self.ledger.tokens.check(who, Role.APPROVER, writer.size + 1, tried)
            self.ledger.ensure_up_to_date()
            return [self._next(writer, policy, settings, effective_from)]

        tried = f"set policy {policy}"
        who = self.ledger.tokens.authenticate(token, actor, Role.APPROVER, tried)
        with self.ledger.tokens.logging_refusals(who, tried):
            return self.ledger._record_judged(gate, who.name)[0]

    def proposed(self, policy: str, settings: Settings, *, effective_from: str | None = None) -> PolicySet:
        """Return the event that a proposal to set a policy contains: numbered, with every setting.

        Nothing is recorded.
        """
        check_settings(policy, settings, effective_from)
        self.ledger.ensure_up_to_date()
        self.ledger.current_facts.check_read_models(policy, settings)
        number = next_policy_number(self.ledger.journal.find, policy)
        return _in_full(self._policies(), policy, number, settings, effective_from)

    def list(self) -> tuple[PolicyRow, ...]:
        """Return the settings of all policies, by policy and number; those of a later version too."""
        self.ledger.ensure_up_to_date()
        return self._policies().rows

    def row_at(self, policy: str, instant: str) -> PolicyRow | None:
        """Return the row of a policy's settings at an instant, or None; of the four-eyes policy the last row.

        Raises:
            UnknownNameError: this version knows no such policy.
            MalformedError: *instant* is no instant.
        """
        ms = instant_ms(instant)
        self.ledger.ensure_up_to_date()
        policies = self._policies()
        return policies.last(policy) if policy_named(policy).is_by_position else policies.row_at(policy, ms)

    def at(self, policy: str, instant: str) -> dict[str, Value]:
        """Return all settings of a policy at an instant, or their defaults. Raises what ``row_at`` raises."""
        return complete_settings(policy, self.row_at(policy, instant))

    def _policies(self) -> Policies:
        with reporting_damage(self.ledger.views.path):
            return stored_policies(self.ledger.views.connection)

    def _next(self, writer: Writer, policy: str, settings: Settings, since: str | None) -> PolicySet:
        """Return the event to record: the one in force if it has the same settings, else one with the next number."""
        policies = self._policies()
        event = _in_full(policies, policy, next_policy_number(writer.find, policy), settings, since)
        # No entry holds the event yet, so its position is 0; only instant and settings are compared.
        current, row = _row_in_force(policies, policy, since), policy_row(0, event)
        if current is not None and (current.since_ms, current.settings) == (row.since_ms, row.settings):
            # The same fact under the same key is a duplicate, which records nothing. In the words of the entry: it may
            # say something else itself, and have these values only since it was corrected.
            key = attrs.evolve(event, number=current.number).key
            recorded = decode(writer.find([key])[key].body).event
            assert isinstance(recorded, PolicySet)  # keys of its family are of policies
            return recorded
        # Four eyes hold by position, not by day: asked at the position that this entry would have.
        if policy == FOUR_EYES and four_eyes_at(policies, writer.size + 1).on:
            raise RejectedError(
                late_facts.NEEDS_A_PROPOSAL,
                event.key,
                "four eyes are on, and nobody changes them alone; propose it with 'policy set --propose', for somebody "
                "else to approve",
            )
        return event


def _row_in_force(policies: Policies, policy: str, since: str | None) -> PolicyRow | None:
    """Return the settings that are in force already from an instant on."""
    if policy_named(policy).is_by_position:
        return policies.last(policy)
    return policies.row_at(policy, BEGINNING if since is None else instant_ms(since))


def _in_full(policies: Policies, policy: str, number: int, settings: Settings, since: str | None) -> PolicySet:
    """Return the event of a policy with every setting: those without a new value keep theirs."""
    current = _row_in_force(policies, policy, since)
    return PolicySet(
        policy=policy, number=number, settings={**complete_settings(policy, current), **settings}, effective_from=since
    )
