"""Are two adoptions of a scheme the same fact? By value, not by spelling. Whether one may follow, ``rules`` say."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ledger import schemes
from ledger.errors import LedgerError

VERSIONS = frozenset({"scheme_version", "arithmetic"})  # fields that say by which program a pool was rated


def compared(stored: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two adoptions as far as they can contradict each other: of their settings those that differ in value.

    With which versions of the program they were made is no part of what they say.
    """
    plain = [{name: value for name, value in facts.items() if name not in VERSIONS} for facts in (stored, given)]
    if stored["scheme"] == given["scheme"]:
        try:
            scheme = schemes.named(given["scheme"])
        except LedgerError:
            return plain[0], plain[1]
        before, now = scheme.meant(stored["settings"]), scheme.meant(given["settings"])
        if _differing(before, now):  # not the words of then: so what they would mean now
            now = scheme.in_full(given["settings"])
        differ = _differing(before, now)
        for facts, settings in zip(plain, (before, now), strict=True):
            facts["settings"] = {name: settings[name] for name in sorted(differ) if name in settings}
    return plain[0], plain[1]


def are_same(stored: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether two adoptions say the same: nothing of what ``compared`` leaves of them differs."""
    before, now = compared(stored, given)
    return before == now


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in before.keys() | now.keys() if not _is_same(before.get(name), now.get(name))]


def _is_same(setting: object, other: object) -> bool:
    """True for one value in two spellings, 32 and ``"32.0"``; a switch is no number."""
    if setting is None or other is None or isinstance(setting, bool) or isinstance(other, bool):
        return setting is other
    return Decimal(str(setting)) == Decimal(str(other))
