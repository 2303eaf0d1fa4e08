"""What the policies of a ledger say, as plain dictionaries."""

from __future__ import annotations

from typing import Any

from ledger.answers.moments import of_one_moment
from ledger.book.policies import POLICIES, settings_in
from ledger.facts.instants import instant_text
from ledger.ledger import Ledger


@of_one_moment
def in_force(ledger: Ledger, at: str | None = None) -> list[dict[str, Any]]:
    """Every setting of every policy as it holds at an instant, now by default; four eyes as they hold from now on.

    ``number``, ``since`` and ``position`` say which entry set it; they are None where the default holds, and ``since``
    where it holds from the beginning.

    Raises:
        MalformedError: that is no instant.
    """
    instant = at or instant_text(ledger.now_ms())
    found = []
    for name, policy in POLICIES.items():
        row = ledger.policies.row_at(name, instant)
        for setting, value in settings_in(name, row).items():
            taken = policy.setting(setting)
            assert taken is not None
            found.append(
                {
                    "policy": name,
                    "setting": setting,
                    "value": value,
                    "default": taken.default,
                    "unit": taken.unit,
                    "number": None if row is None else row.number,
                    "since": None if row is None else row.since or None,
                    "position": None if row is None else row.position,
                    "meaning": taken.doc,
                }
            )
    return found
