"""The settings of a ledger's policies in force at an instant."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from ledger.answers.asking import in_one_snapshot
from ledger.book.policies import POLICIES, UPSETS, complete_settings, stored_policies
from ledger.facts.instants import instant_text
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.policies.house_policies import HousePolicies


@attrs.frozen(kw_only=True, slots=False)
class PolicySetting:
    """A setting of a policy: its value in force, default, unit and meaning, and the entry that set it."""

    policy: str = documented("name of the policy")
    setting: str = documented("name of the setting")
    value: int | bool = documented("what holds, in its unit")
    default: int | bool = documented("what holds where nobody says otherwise")
    unit: str = documented("its unit")
    number: int | None = documented("number of the entry among those of the policy; null: the default holds")
    since: str | None = documented("from when it holds; null: from the beginning")
    position: int | None = documented("position of the journal's entry that set it; null: the default holds")
    meaning: str = documented("what it means")


@in_one_snapshot
def settings_in_force(ledger: OpenLedger, at: str | None = None) -> list[PolicySetting]:
    """Return every setting of every policy at an instant, now by default; of four-eyes those in force from now on.

    Raises:
        MalformedError: no such instant.
    """
    instant = at or instant_text(ledger.now_ms())
    rows = []
    for name, policy in POLICIES.items():
        row = HousePolicies(ledger).row_at(name, instant)
        for setting, value in complete_settings(name, row).items():
            taken = policy.setting(setting)
            assert taken is not None
            rows.append(
                PolicySetting(
                    policy=name,
                    setting=setting,
                    value=value,
                    default=taken.default,
                    unit=taken.unit,
                    number=None if row is None else row.number,
                    since=None if row is None else row.since or None,
                    position=None if row is None else row.position,
                    meaning=taken.doc,
                )
            )
    return rows


@in_one_snapshot
def upset_margins(ledger: OpenLedger) -> Callable[[int], int]:
    """Return a function that gives the margin of upsets, in points, at an instant in milliseconds since 1970."""
    policies = stored_policies(ledger.views.connection)
    return lambda ms: int(policies.settings_at(UPSETS, ms)["margin"])
