"""May this fact follow what is there? Named refusals in a fixed order; the same fact twice is success.

``RULES`` is the whole list, in descending precedence; the first that applies is raised. Only rules that need the
journal live here: what a single event must be is checked when it is built; what the views must be asked about is
judged by ``recording.current_facts``. Two adoptions are the same fact by value, not by spelling. What four eyes refuse
stands at the end.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from ledger import schemes
from ledger.errors import ConflictError, CorruptError, LedgerError, RejectedError
from ledger.facts.events import (
    BLANKS,
    BirthYearLearnt,
    ClockAccepted,
    CorrectionDecided,
    CorrectionProposed,
    Event,
    GameRecorded,
    GameSupplemented,
    ListPublished,
    PersonErased,
    PlayerChanged,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    TokenIssued,
    TokenRevoked,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text, is_before, precision
from ledger.facts.periods import DAY_MS
from ledger.facts.submissions import compared
from ledger.facts.words import Carry
from ledger.journal import Stored

VERSIONS = frozenset({"scheme_version", "arithmetic"})  # fields that say by which program a pool was rated


def compared_adoptions(stored: Mapping[str, Any], telling: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two adoptions as far as they can contradict each other: of their settings those that differ in value.

    With which versions of the program they were made is no part of what they say.
    """
    plain = [{name: value for name, value in facts.items() if name not in VERSIONS} for facts in (stored, telling)]
    if stored["scheme"] == telling["scheme"]:
        try:
            scheme = schemes.named(telling["scheme"])
        except LedgerError:
            return plain[0], plain[1]
        before, now = scheme.meant(stored["settings"]), scheme.meant(telling["settings"])
        # not the words of then: so what they would mean now
        if _differing(before, now):
            now = scheme.in_full(telling["settings"])
        differ = _differing(before, now)
        for facts, settings in zip(plain, (before, now), strict=True):
            facts["settings"] = {name: settings[name] for name in sorted(differ) if name in settings}
    return plain[0], plain[1]


def are_same_adoption(stored: Mapping[str, Any], telling: Mapping[str, Any]) -> bool:
    """Whether two adoptions say the same: nothing of what ``compared_adoptions`` leaves of them differs."""
    before, now = compared_adoptions(stored, telling)
    return before == now


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in before.keys() | now.keys() if not _is_same(before.get(name), now.get(name))]


def _is_same(setting: object, other: object) -> bool:
    """True for one value in two spellings, 32 and ``"32.0"``; a switch is no number."""
    if setting is None or other is None or isinstance(setting, bool) or isinstance(other, bool):
        return setting is other
    return Decimal(str(setting)) == Decimal(str(other))


CLOCK_SLACK_MS = 60_000  # two machines' clocks may differ by this much
FUTURE_SLACK_MS = 86_400_000  # a day: a date without a time zone may be tomorrow's

# Name -> what it means and what to do. The order is the order in which they are tried.
RULES: dict[str, str] = {
    "clock-behind": (
        "this machine's clock is behind the last entry by more than a minute: set the clock or, where that entry's "
        "clock was wrong, run 'accept-clock'"
    ),
    "exists-with-different-FIELD": "the key was recorded with another fact, which stays: find out which is right",
    "unknown-pool": "no scheme was adopted for this pool: adopt one first",
    "unknown-player": "this player number was never registered: register the player first",
    "erased-player": "who was erased plays no further game: who comes back is registered anew",
    "same-player": "White and Black are one player: check the source",
    "ended-before-start": "the game, or the tournament, ended before it began: check both times",
    "ended-in-the-future": "it ended more than a day after now: check the date and this machine's clock",
    "unknown-scheme": "no scheme of that name is installed: install the plug-in or choose another",
    "bad-settings": "the scheme cannot work with these settings: see what it takes",
    "pool-has-no-beginning": "a pool's first scheme holds from the beginning: adopt one without a date first",
    "bad-carry": "carry and conversion belong to a change from a date, a conversion to 'convert': give what is missing",
    "not-the-last-entry": "only the clock of the last entry can be accepted: name that entry, as the first fact",
    "clock-not-behind": "this machine's clock is not behind the last entry by more than a minute: just record",
    "not-a-telling": "a supplement is the ledger's own: record the game again, with all that is known of it",
    "not-by-append": "this fact is recorded by a call of its own, which keeps what belongs beside it: see the message",
    "not-by-rename": "a name is sealed when it is given: run 'player rename', or call Ledger.rename",
    # Of games only the views know which are rated and when they ended: ``CurrentFacts`` judges these, for every door.
    "after-the-first-game": (
        "a rating to begin with holds from a day after the first rated game: give a day on or before that of the game"
    ),
    "same-instant": "another fact of this kind holds from the same instant, spelt otherwise: correct that one",
    "overlapping-editions": (
        "another edition of this tournament has some of these days: let them part, or close the one that is over"
    ),
    "edition-closed": "this edition was closed on another day, which stays: where that was wrong, correct that closing",
    "played-after-closing": (
        "games of this edition ended after the day of its closing: give the day of the last one, or open the next "
        "edition first"
    ),
    # Only what may stand can be proposed, so that this one comes last.
    "needs-a-proposal": (
        "four eyes are on, and this reaches into the past or changes them: give '--propose --reason TEXT' to the same "
        "command, for somebody else to approve"
    ),
}

OWN_DOORS: Mapping[type[Event], str] = {  # facts that come into the journal by calls of their own, and by which
    CorrectionProposed: "'correct' or Ledger.propose",
    CorrectionDecided: "'correct approve', 'reject', 'withdraw' or Ledger.decide",
    PolicySet: "'policy set' or Ledger.policies",
    ListPublished: "'publish' or Ledger.publications",
    PersonErased: "'erase' or Ledger.erase",
    TokenIssued: "'token add', 'token reset' or Ledger.tokens",
    TokenRevoked: "'token revoke' or Ledger.tokens",
}
_TO_A_DAY = {Precision.DAY, Precision.SECOND, Precision.MILLISECOND}
ERASED = ("erased:", "erased;")  # all keys that say that somebody was erased are from the first on, before the other
ACCEPTED = ("clock:", "clock;")  # likewise, that a clock was accepted
Known = Container[str]  # the keys that the journal holds
Beside = Mapping[str, Sequence[Event]]  # by subject, facts that come to stand together with a judged one


def facts_of(stored: Stored) -> dict[str, Any]:
    """The stored facts of an entry, as plain values.

    Raises:
        CorruptError: its bytes are not what was sealed.
    """
    try:
        facts: dict[str, Any] = orjson.loads(stored.body)["facts"]
    except (ValueError, KeyError) as error:
        raise unreadable(stored.position, error) from error
    return facts


def unreadable(position: int, error: Exception) -> CorruptError:
    """What to say of an entry that was sealed whole and cannot be read."""
    return CorruptError("journal", position, f"cannot be read ({error}); run 'audit'")


def refuses_new_key(error: Exception) -> CorruptError:
    """What to say of a journal that takes no key that it does not find."""
    return CorruptError("journal", 0, f"holds a key that it does not find ({error.__cause__}); run 'audit'")


def check_repeat(kind: type[Event], key: str, stored: Mapping[str, Any], telling: Mapping[str, Any]) -> dict[str, Any]:
    """The key is known: the same fact again is success, another one is refused.

    A source may leave blank what another one told (``events.BLANKS``): what is stored stays, and nothing is refused.
    A game may be told with less and with more, as ``facts.submissions`` says.

    Args:
        kind: class of the event.
        key: its key.
        stored: what is known of the fact, as plain values without the key field.
        telling: the facts of the event, likewise.

    Returns:
        The fields of a game of which more is known now; empty where the event says nothing new.

    Raises:
        ConflictError: naming the first field, in alphabetical order, that contradicts.
    """
    if kind is SchemeAdopted:
        stored, telling = compared_adoptions(stored, telling)
    if kind is GameRecorded:
        field, added = compared(stored, telling, key.removeprefix("game:"))
        if field is not None:
            raise ConflictError(key, field, stored.get(field), telling.get(field))
        return added
    blanks = BLANKS[kind]
    for field in sorted(stored.keys() | telling.keys()):
        before, now = stored.get(field), telling.get(field)
        if kind is RatingSeeded and field == "source":
            continue  # the same numbers of the same day under another name of the list: what is stored stays
        if before != now and not (now is None and field in blanks):
            words = None
            if kind is TournamentOpened and field == "ends_at":
                words = (
                    f"tournament {telling['tournament']!r} is announced from {stored['starts_at']} to "
                    f"{stored['ends_at']} already, not to {telling['ends_at']}, and what is recorded stays. Play on: "
                    "once it is over, 'close-tournament' with the day says so, and all of its games up to that day "
                    "are rated together"
                )
            raise ConflictError(key, field, before, now, words)
    return {}


def check_supplemented(game: GameRecorded, now_ms: int) -> None:
    """A game as it is known with what a further telling adds.

    Raises:
        RejectedError: it ended before it began, or in the future.
    """
    _check_times(game, now_ms)


def needed_keys(event: Event) -> tuple[str, ...]:
    """The keys that must stand in the journal before a fact: those of its pool's first scheme and of its players."""
    if isinstance(event, GameRecorded):  # nearly all are
        return (f"scheme:{event.pool}@start", f"player:{event.white}", f"player:{event.black}")
    pool, player = getattr(event, "pool", None), getattr(event, "player", None)
    of_pool = () if pool is None else (f"scheme:{pool}@start",)
    return of_pool if player is None else (*of_pool, f"player:{player}")


def erasures(event: Event) -> tuple[str, ...]:
    """The keys that may not stand in the journal before a new fact: those that say that its players were erased.

    Of a game alone: a standing, or a bye of a tournament that was played, may be told of somebody who was erased.
    """
    return (f"erased:{event.white}", f"erased:{event.black}") if isinstance(event, GameRecorded) else ()


def subject_of(event: Event) -> str:
    """What a fact is about: its key without the instant; of all games one word, for a closing asks for all of them."""
    return "game" if isinstance(event, GameRecorded) else event.key.partition("@")[0]


def check_new(event: Event, keys: Known, now_ms: int) -> None:
    """A fact with a new key.

    Args:
        event: the fact.
        keys: the keys that the journal holds, those among them that the event refers to at least; of an event that is
            judged as new with its ``erasures``.
        now_ms: the recording machine's clock, milliseconds since 1970.

    Raises:
        RejectedError: naming the rule.
    """
    if isinstance(event, GameRecorded):  # nearly all are
        _check_game(event, keys, now_ms)
        return
    # A pool begins with its first scheme.
    if (
        isinstance(event, RatingSeeded | RoundWithoutGame | RatingRunClosed | TournamentClosed | TournamentOpened)
        and f"scheme:{event.pool}@start" not in keys
    ):
        raise _unknown_pool(event, event.pool)
    match event:
        case PlayerRegistered():
            check_joined(event.key, event.joined_at, now_ms)
        case PlayerChanged() | BirthYearLearnt() | RatingSeeded() | RoundWithoutGame():
            if f"player:{event.player}" not in keys:
                raise stranger(event.key, event.player)
        case SchemeAdopted():
            _check_scheme(event, keys)
        case RatingRunClosed() | TournamentClosed():
            closing = event.as_of if isinstance(event, RatingRunClosed) else event.ended_at
            # a month is over with its last day
            last = instant_ms if precision(closing) in _TO_A_DAY else instant_end_ms
            if last(closing) > now_ms + FUTURE_SLACK_MS:
                raise _in_the_future(event, f"closes with {closing}", now_ms)
        case TournamentOpened():
            if instant_end_ms(event.ends_at) < instant_ms(event.starts_at):
                times = f"ends at {event.ends_at}, before it begins at {event.starts_at}"
                raise _refusal("ended-before-start", event, f"{times}; check both times")
        case _:
            raise _not_by_append(event)


def check_joined(key: str, joined_at: str, now_ms: int) -> None:
    """Nobody joins tomorrow.

    Args:
        key: of the person who joins: of the fact, or an identity that has no number yet.
        joined_at: when.
        now_ms: the recording machine's clock, milliseconds since 1970.

    Raises:
        RejectedError: ``ended-in-the-future``.
    """
    if instant_ms(joined_at) > now_ms + FUTURE_SLACK_MS:
        message = f"nobody has joined on {joined_at} yet; check the date"
        raise RejectedError("ended-in-the-future", key, message)


def _not_by_append(event: Event) -> RejectedError:
    """A fact that comes into the journal another way."""
    match event:
        case ClockAccepted():  # the first fact of a transaction is judged by check_acceptance
            return _refusal(
                "not-the-last-entry",
                event,
                f"a clock is accepted by the first fact after its entry, entry {event.entry} is farther back; name the "
                "last entry",
            )
        case GameSupplemented():
            return _refusal(
                "not-a-telling",
                event,
                f"what is new about game {event.game!r} is told by recording the game again, with all that is known",
            )
        case PlayerRenamed():
            return _refusal(
                "not-by-rename",
                event,
                f"the name of player {event.player} is given by 'player rename' or Ledger.rename, which keep it beside "
                "the journal",
            )
        case _:
            return _refusal("not-by-append", event, f"a {event.KIND} is recorded by {OWN_DOORS[type(event)]}")


def _check_game(event: GameRecorded, keys: Known, now_ms: int) -> None:
    pool, white, black = f"scheme:{event.pool}@start", f"player:{event.white}", f"player:{event.black}"
    if pool not in keys:
        raise _unknown_pool(event, event.pool)
    for number, key in ((event.white, white), (event.black, black)):
        if key not in keys:
            raise stranger(event.key, number)
    for number, key in zip((event.white, event.black), erasures(event), strict=True):
        if key in keys:
            message = f"player {number} was erased and plays no further game; who comes back is registered anew"
            raise _refusal("erased-player", event, message)
    if event.white == event.black:
        raise _refusal("same-player", event, f"White and Black are both player {event.white}; check the source")
    _check_times(event, now_ms)


def _check_times(event: GameRecorded, now_ms: int) -> None:
    if event.started_at is not None and is_before(event.ended_at, event.started_at):
        raise _refusal(
            "ended-before-start",
            event,
            f"ended at {event.ended_at}, before it began at {event.started_at}; check both times",
        )
    # Instants sort as text; only one from today on needs its milliseconds.
    if event.ended_at >= _day(now_ms // DAY_MS) and instant_ms(event.ended_at) > now_ms + FUTURE_SLACK_MS:
        raise _in_the_future(event, f"ended at {event.ended_at}", now_ms)


def check_games(games: Sequence[GameRecorded], keys: Known, now_ms: int) -> None:
    """Games with new keys, judged as ``check_new`` judges them one by one; most are passed by a look at all at once.

    Args: as of ``check_new``.

    Raises:
        RejectedError: naming the rule, of the first game that is refused.
    """
    players = {game.white for game in games} | {game.black for game in games}
    if not (
        all(f"scheme:{pool}@start" in keys for pool in {game.pool for game in games})
        and all(f"player:{player}" in keys and f"erased:{player}" not in keys for player in players)
        and not any(game.white == game.black or game.started_at is not None for game in games)
        and max((game.ended_at for game in games), default="") < _day(now_ms // DAY_MS)
    ):
        for game in games:
            _check_game(game, keys, now_ms)


@lru_cache(maxsize=8)
def _day(number: int) -> str:
    return instant_text(number * DAY_MS, Precision.DAY)


def _check_scheme(event: SchemeAdopted, keys: Known) -> None:
    try:
        scheme = schemes.named(event.scheme)
    except LedgerError as error:
        raise _refusal("unknown-scheme", event, str(error)) from None
    try:
        scheme.numbers_from(event.settings)
    except LedgerError as error:
        raise _refusal("bad-settings", event, str(error)) from None
    if event.effective_from is not None and f"scheme:{event.pool}@start" not in keys:
        raise _refusal(
            "pool-has-no-beginning",
            event,
            f"pool {event.pool!r} has no scheme before {event.effective_from}; adopt one from the beginning first",
        )
    if event.effective_from is None and (event.carry or event.conversion):
        raise _refusal("bad-carry", event, "nothing is carried into a pool's first scheme: leave both out")
    if (event.carry is Carry.CONVERT) != bool(event.conversion):
        raise _refusal(
            "bad-carry",
            event,
            f"carry is {event.carry or Carry.KEEP!s}, conversion {'given' if event.conversion else 'missing'}: "
            "a conversion goes with 'convert', and 'convert' with a conversion",
        )


def check_clock(now_ms: int, last_recorded_at: str | None) -> int:
    """The time to record under: now, or that of the last entry where the clock is a little behind it.

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
    """May this clock be accepted, as the next entry? The time to record it under is that of this machine.

    Args:
        event: the acceptance, not yet recorded.
        now_ms: the recording machine's clock, milliseconds since 1970.
        size: entries in the journal.
        last_recorded_at: when the last of them was recorded.

    Raises:
        RejectedError: ``not-the-last-entry`` or ``clock-not-behind``.
    """
    if event.entry != size or last_recorded_at is None:
        message = f"entry {event.entry} is not the last one, which is entry {size}; name that one"
        raise _refusal("not-the-last-entry", event, message)
    if now_ms >= recorded_ms(last_recorded_at) - CLOCK_SLACK_MS:
        raise _refusal(
            "clock-not-behind",
            event,
            f"this machine's clock says {instant_text(now_ms)}, and entry {size} was recorded at {last_recorded_at}: "
            "there is nothing to accept, record as usual",
        )
    return now_ms


def recorded_ms(text: str) -> int:
    """Milliseconds since 1970 of a ``recorded_at``, which always shows its milliseconds."""
    return instant_ms(text[:19] + "Z") + int(text[20:23])


def recorded_text(ms: int) -> str:
    """A ``recorded_at``: an instant with its milliseconds, zero or not."""
    return f"{_second(ms // 1000)}.{ms % 1000:03}Z"


@lru_cache(maxsize=8)  # a server records many entries a second
def _second(number: int) -> str:
    return instant_text(number * 1000)[:19]


def _unknown_pool(event: Event, pool: str) -> RejectedError:
    return _refusal("unknown-pool", event, f"no scheme was adopted for pool {pool!r}; adopt one first")


def stranger(key: str, player: int) -> RejectedError:
    """What to say of the fact *key* about a player whom nobody registered."""
    message = f"player {player} was never registered; register the player first"
    return RejectedError("unknown-player", key, message)


def _in_the_future(event: Event, what: str, now_ms: int) -> RejectedError:
    words = f"{what}, but it is {recorded_text(now_ms)} now; check the date and this machine's clock"
    return _refusal("ended-in-the-future", event, words)


def _refusal(rule: str, event: Event, message: str) -> RejectedError:
    return RejectedError(rule, event.key, message)
