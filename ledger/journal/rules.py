"""Rules on repeated facts (is an event with a recorded key the same fact?) and on the times of entries.

The same fact twice is success; two adoptions are the same by value, not by spelling. ``book.judge`` has the rules for
facts with a new key; two of them are here, since a supplement must keep them, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import orjson

from ledger import schemes
from ledger.errors import ConflictError, CorruptError, LedgerError, RejectedError
from ledger.facts.events import (
    BLANKS,
    ClockAccepted,
    Event,
    GameRecorded,
    RatingSeeded,
    SchemeAdopted,
    TournamentOpened,
)
from ledger.facts.instants import Precision, instant_ms, instant_text, is_before
from ledger.facts.periods import DAY_MS
from ledger.facts.submissions import compare_reports
from ledger.journal import StoredEntry

VERSIONS = frozenset({"scheme_version", "arithmetic"})  # fields that say by which program a pool was rated


def compared_adoptions(
    stored: Mapping[str, Any], submission: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two scheme adoptions reduced to the fields that can contradict, and to settings that differ in value."""
    plain = [{name: value for name, value in facts.items() if name not in VERSIONS} for facts in (stored, submission)]
    if stored["scheme"] == submission["scheme"]:
        try:
            scheme = schemes.find_scheme(submission["scheme"])
        except LedgerError:
            return plain[0], plain[1]
        before, now = (scheme.adopted_settings(adoption["settings"]) for adoption in (stored, submission))
        # not the words of then: so what they would mean now
        if _differing(before, now):
            now = scheme.complete_settings(submission["settings"])
        differ = _differing(before, now)
        for facts, settings in zip(plain, (before, now), strict=True):
            facts["settings"] = {name: settings[name] for name in sorted(differ) if name in settings}
    return plain[0], plain[1]


def are_same_adoption(stored: Mapping[str, Any], submission: Mapping[str, Any]) -> bool:
    """Return whether two scheme adoptions are the same by value."""
    before, now = compared_adoptions(stored, submission)
    return before == now


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in before.keys() | now.keys() if not _is_same(before.get(name), now.get(name))]


def _is_same(setting: object, other: object) -> bool:
    """Return whether two settings are one value in two spellings, 32 and ``"32.0"``; a switch is no number."""
    if setting is None or other is None or isinstance(setting, bool) or isinstance(other, bool):
        return setting is other
    try:
        return Decimal(str(setting)) == Decimal(str(other))
    except InvalidOperation:  # a word
        return setting == other


CLOCK_SLACK_MS = 60_000  # two machines' clocks may differ by this much
FUTURE_SLACK_MS = 86_400_000  # a day: a date without a time zone may be tomorrow's

ERASED = ("erased:", "erased;")  # all keys of erasures lie from the first on, before the other
ACCEPTED = ("clock:", "clock;")  # likewise, that a clock was accepted


def facts_of(stored: StoredEntry) -> dict[str, Any]:
    """Return the fields of a stored entry's event, as values of JSON.

    Raises:
        CorruptError: its body cannot be read.
    """
    try:
        facts: dict[str, Any] = orjson.loads(stored.body)["facts"]
    except (ValueError, KeyError) as error:
        raise unreadable_entry(stored.position, error) from error
    return facts


def unreadable_entry(position: int, error: Exception) -> CorruptError:
    """Return the error about an entry whose hash is right and whose body cannot be read."""
    return CorruptError("journal", position, f"cannot be read ({error}); run 'audit'")


def inconsistent_keys(error: Exception) -> CorruptError:
    """Return the error about a journal that refuses a key as taken but has no entry with it."""
    return CorruptError("journal", 0, f"holds a key that it does not find ({error.__cause__}); run 'audit'")


def check_repeat(
    kind: type[Event], key: str, stored: Mapping[str, Any], submission: Mapping[str, Any]
) -> dict[str, Any]:
    """Refuse an event with a recorded key unless it is the same fact; return the new fields of a game, if any.

    A source may leave blank what another one filled (``events.BLANKS``): the stored value stays. A game may be
    submitted with fewer and with more details, as ``facts.submissions`` says.

    Args:
        kind: class of the event.
        key: its key.
        stored: the recorded fact, as plain values without the key field.
        submission: the facts of the event, likewise.

    Raises:
        ConflictError: naming the first field, in alphabetical order, that contradicts.
    """
    if kind is SchemeAdopted:
        stored, submission = compared_adoptions(stored, submission)
    if kind is GameRecorded:
        field, added = compare_reports(stored, submission, key.removeprefix("game:"))
        if field is not None:
            raise ConflictError(key, field, stored.get(field), submission.get(field))
        return added
    blanks = BLANKS[kind]
    for field in sorted(stored.keys() | submission.keys()):
        before, now = stored.get(field), submission.get(field)
        if kind is RatingSeeded and field == "source":
            continue  # the same numbers of the same day under another name of the list: what is stored stays
        if before != now and not (now is None and field in blanks):
            words = None
            if kind is TournamentOpened and field == "ends_at":
                words = (
                    f"tournament {submission['tournament']!r} is announced from {stored['starts_at']} to "
                    f"{stored['ends_at']} already, not to {submission['ends_at']}, and what is recorded stays. Play "
                    "on: once it is over, 'close-tournament' with the day says so, and all of its games up to that day "
                    "are rated together"
                )
            raise ConflictError(key, field, before, now, words)
    return {}


def check_supplemented(game: GameRecorded, now_ms: int) -> None:
    """Raise RejectedError if a supplemented game ended before it began, or in the future."""
    refusal = ended_before_start(game) or ended_in_the_future(game, now_ms)
    if refusal is not None:
        raise refusal


def ended_before_start(game: GameRecorded) -> RejectedError | None:
    """Return a refusal if a game ended before it began, else None."""
    if game.started_at is None or not is_before(game.ended_at, game.started_at):
        return None
    times = f"ended at {game.ended_at}, before it began at {game.started_at}"
    return RejectedError("ended-before-start", game.key, f"{times}; check both times")


def ended_in_the_future(game: GameRecorded, now_ms: int) -> RejectedError | None:
    """Return a refusal if a game ended more than a day after now, else None."""
    # Instants sort as text; only one from today on needs its milliseconds.
    if game.ended_at < day_text(now_ms // DAY_MS) or instant_ms(game.ended_at) <= now_ms + FUTURE_SLACK_MS:
        return None
    return in_the_future(game.key, f"ended at {game.ended_at}", now_ms)


def in_the_future(key: str, what: str, now_ms: int) -> RejectedError:
    """Return the refusal of a fact that is in the future; *what* describes its date."""
    words = f"{what}, but it is {recorded_text(now_ms)} now; check the date and this machine's clock"
    return RejectedError("ended-in-the-future", key, words)


@lru_cache(maxsize=8)
def day_text(number: int) -> str:
    """Return the date of a day counted from 1970, as text."""
    return instant_text(number * DAY_MS, Precision.DAY)


def check_clock(now_ms: int, last_recorded_at: str | None) -> int:
    """Return the time to record an entry under: now, or that of the last entry if the clock is a little behind.

    Raises:
        RejectedError: ``clock-behind``, by more than a minute.
    """
    if last_recorded_at is None:
        return now_ms
    last = recorded_ms(last_recorded_at)
    if now_ms < last - CLOCK_SLACK_MS:
        raise RejectedError(
            "clock-behind",
            "",
            f"this machine's clock says {instant_text(now_ms)}, but the last entry was recorded at "
            f"{last_recorded_at}; set the clock and try again or, where the clock was wrong that recorded it, run "
            "'rating-ledger accept-clock DB': nothing was recorded",
        )
    return max(now_ms, last)


def check_acceptance(event: ClockAccepted, now_ms: int, size: int, last_recorded_at: str | None) -> int:
    """Check an acceptance of a wrong clock, which must name the last entry; return the time to record it under.

    Raises:
        RejectedError: ``not-the-last-entry`` or ``clock-not-behind``.
    """
    if event.entry != size or last_recorded_at is None:
        message = f"entry {event.entry} is not the last one, which is entry {size}; name that one"
        raise RejectedError("not-the-last-entry", event.key, message)
    if now_ms >= recorded_ms(last_recorded_at) - CLOCK_SLACK_MS:
        message = (
            f"this machine's clock says {instant_text(now_ms)}, and entry {size} was recorded at {last_recorded_at}: "
            "there is nothing to accept, record as usual"
        )
        raise RejectedError("clock-not-behind", event.key, message)
    return now_ms


def recorded_ms(text: str) -> int:
    """Parse a ``recorded_at``, which always has milliseconds; return milliseconds since 1970."""
    return instant_ms(text[:19] + "Z") + int(text[20:23])


def recorded_text(ms: int) -> str:
    """Format milliseconds since 1970 as a ``recorded_at``, with milliseconds, zero or not."""
    return f"{_second(ms // 1000)}.{ms % 1000:03}Z"


@lru_cache(maxsize=8)  # a server records many entries a second
def _second(number: int) -> str:
    return instant_text(number * 1000)[:19]


def unknown_player(key: str, player: int) -> RejectedError:
    """Return the refusal of a fact about a player who was never registered."""
    message = f"player {player} was never registered; register the player first"
    return RejectedError("unknown-player", key, message)
