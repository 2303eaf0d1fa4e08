"""Facts that change past ratings: while the four-eyes policy is on, only an approved proposal may record them.

Those are adoptions, openings and closings that hold from before today, in UTC, by the time under which they are
recorded: they rate again what was rated already. So do ratings of a list, standings, declared ratings and years of
birth of a player who is registered already; with a registration, in its transaction, they are accepted as ever. The
journal is asked whether four eyes are on, under its write lock.
"""

from __future__ import annotations

from typing import Any

import orjson

from ledger.facts.events import (
    FOUR_EYES,
    BirthYearLearnt,
    ClockAccepted,
    Event,
    FederationSet,
    PlayerChanged,
    RatingRunClosed,
    RatingSeeded,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS
from ledger.journal import FindEntries, Journal, StoredEntry
from ledger.journal.rules import ACCEPTED, facts_of, recorded_ms

KEYS_LOOKED_UP = 64  # at one time; settings of a policy are numbered without gaps
NEEDS_A_PROPOSAL = "needs-a-proposal"
_BEGINNING = "the beginning"


def latest_ms(journal: Journal, now_ms: int, accepted: ClockAccepted | None = None) -> int:
    """Return the latest time of an entry, but for entries whose clock was accepted as wrong.

    The acceptance of a clock concerns the last entry alone: those before it keep their day.

    Args:
        journal: the recorded entries.
        now_ms: when the next transaction is recorded, milliseconds since 1970.
        accepted: the acceptance of a clock with which that transaction begins, if any.
    """
    entries = [int(key.partition(":")[2]) for key in journal.keys(*ACCEPTED)]
    entries += [] if accepted is None else [accepted.entry]
    before = [body for entry in entries if entry > 1 for (body,) in journal.read(entry - 2, entry - 1)]
    return max([now_ms, *(recorded_ms(orjson.loads(body)["recorded_at"]) for body in before)])


def effect_before_today(event: Event, now_ms: int) -> str | None:
    """Return the instant from which a fact changes answers of before today; None if it changes none."""
    return effect_before(event, now_ms - now_ms % DAY_MS)


def effect_before(event: Event, limit_ms: int) -> str | None:
    """Return the instant from which a fact changes answers of before an instant; None if it changes none."""
    match event:
        case SchemeAdopted(effective_from=str(since)) if instant_ms(since) < limit_ms:
            return since
        case TournamentOpened(starts_at=begin) if instant_ms(begin) < limit_ms:
            return begin
        case RatingRunClosed(as_of=closing) | TournamentClosed(ended_at=closing) if instant_end_ms(closing) < limit_ms:
            return closing
        case PlayerChanged(effective_at=since) if instant_ms(since) < limit_ms:
            return since
        case RatingSeeded(effective_at=begin) if begin is None or instant_ms(begin) < limit_ms:
            return begin or _BEGINNING
        case StrengthChosen(effective_at=since) | FederationSet(effective_at=since) if instant_ms(since) < limit_ms:
            return since
        case BirthYearLearnt():  # K of juniors, first ratings by age: it holds for all games
            return _BEGINNING
        case _:
            return None


def are_four_eyes_on(find: FindEntries) -> bool:
    """Return whether the four-eyes policy is on, by its last entry."""
    # most ledgers never set the policy: one key is one look into the index
    return bool(find([f"policy:{FOUR_EYES}@1"])) and _settings_in_force(find).get("on") is True


def need_warnings_two_people(find: FindEntries) -> bool:
    """Return whether the four-eyes policy asks for two people to accept the warnings about a report."""
    settings = _settings_in_force(find)
    return settings.get("on") is True and settings.get("warnings") is True


def _settings_in_force(find: FindEntries) -> dict[str, Any]:
    last = max(policy_entries(find, FOUR_EYES), key=lambda stored: stored.position, default=None)
    return {} if last is None else dict(facts_of(last)["settings"])


def policy_entries(find: FindEntries, policy: str) -> list[StoredEntry]:
    """Return the entries that set a policy; their keys are numbered without gaps."""
    stored: dict[str, StoredEntry] = {}
    while True:
        first = len(stored) + 1
        more = find([f"policy:{policy}@{number}" for number in range(first, first + KEYS_LOOKED_UP)])
        stored |= more
        if len(more) < KEYS_LOOKED_UP:
            return list(stored.values())


def next_policy_number(find: FindEntries, policy: str) -> int:
    """Return the number of the next entry that sets a policy."""
    return len(policy_entries(find, policy)) + 1
