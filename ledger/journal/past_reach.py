"""What reaches into the past while four eyes are on: no door takes it but the approval of a proposal.

Those are adoptions, openings and closings that hold from before today, in UTC, by the time under which they are
recorded: they rate again what was rated already. So do ratings of a list, standings, declared ratings and years of
birth of a player who is registered already; with a registration, in its transaction, they come as ever. Whether four
eyes are on is asked of the journal, under its write lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ledger.errors import RejectedError
from ledger.facts.events import (
    FOUR_EYES,
    BirthYearLearnt,
    Event,
    PlayerChanged,
    RatingRunClosed,
    RatingSeeded,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS
from ledger.journal import Stored, rules

KEYS_LOOKED_UP = 64  # at one time; settings of a policy are numbered without gaps
RULE = "needs-a-proposal"
_COMMANDS = {
    SchemeAdopted: "scheme adopt",
    RatingRunClosed: "close-run",
    TournamentOpened: "open-tournament",
    TournamentClosed: "close-tournament",
    PlayerChanged: "player set",
    RatingSeeded: "player set",
    BirthYearLearnt: "player set",
}
_BEGINNING = "the beginning"
Find = Callable[[Sequence[str]], Mapping[str, Stored]]


def check(event: Event, find: Find, now_ms: int) -> None:
    """Refuse what needs a second person.

    Args:
        event: a new fact.
        find: looks keys up in the journal.
        now_ms: when it is recorded, milliseconds since 1970.

    Raises:
        RejectedError: ``needs-a-proposal``.
    """
    since = reaches_back_to(event, now_ms)
    if since is not None and are_four_eyes_on(find) and not _comes_with_the_player(event, find, now_ms):
        raise RejectedError(
            RULE,
            event.key,
            f"four eyes are on, and this reaches back to {since}; propose it with '{_COMMANDS[type(event)]} "
            "--propose', for somebody else to approve",
        )


def reaches_back_to(event: Event, now_ms: int) -> str | None:
    """From when a fact rates again what was before today; None of one that does not."""
    today_ms = now_ms - now_ms % DAY_MS
    match event:
        case SchemeAdopted(effective_from=str(since)) if instant_ms(since) < today_ms:
            return since
        case TournamentOpened(starts_at=begin) if instant_ms(begin) < today_ms:
            return begin
        case RatingRunClosed(as_of=closing) | TournamentClosed(ended_at=closing) if instant_end_ms(closing) < today_ms:
            return closing
        case PlayerChanged(effective_at=since) if instant_ms(since) < today_ms:
            return since
        case RatingSeeded(effective_at=begin) if begin is None or instant_ms(begin) < today_ms:
            return begin or _BEGINNING
        case BirthYearLearnt():  # K of juniors, first ratings by age: it holds for all games
            return _BEGINNING
        case _:
            return None


def _comes_with_the_player(event: Event, find: Find, now_ms: int) -> bool:
    """Whether a fact is of a player who is registered in the same transaction: nothing of the player was rated yet.

    The entries of a transaction are recorded under one instant, by which the audit tells the same.
    """
    match event:
        case PlayerChanged(player=player) | RatingSeeded(player=player) | BirthYearLearnt(player=player):
            registered = find([f"player:{player}"]).get(f"player:{player}")
            stamp = b'"recorded_at":"%b"}' % rules.recorded_text(now_ms).encode()
            return registered is None or registered.body.endswith(stamp)
        case _:
            return False


def are_four_eyes_on(find: Find) -> bool:
    """Whether the journal's last setting of four eyes has them on."""
    settings = policy_entries(find, FOUR_EYES)
    last = max(settings, key=lambda stored: stored.position, default=None)
    return last is not None and rules.facts_of(last)["settings"].get("on") is True


def policy_entries(find: Find, policy: str) -> list[Stored]:
    """What was set of a policy; its settings are numbered without gaps."""
    stored: dict[str, Stored] = {}
    while True:
        first = len(stored) + 1
        more = find([f"policy:{policy}@{number}" for number in range(first, first + KEYS_LOOKED_UP)])
        stored |= more
        if len(more) < KEYS_LOOKED_UP:
            return list(stored.values())


def next_number(find: Find, policy: str) -> int:
    """The number of the next setting of a policy."""
    return len(policy_entries(find, policy)) + 1
