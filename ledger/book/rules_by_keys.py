"""The judge's rules that need only the event, the clock and the keys of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger import schemes
from ledger.book.conflicts import ending_faults
from ledger.book.evidence import Evidence
from ledger.errors import LedgerError, RejectedError
from ledger.facts import codec
from ledger.facts.events import (
    BirthYearLearnt,
    ClockAccepted,
    CorrectionDecided,
    CorrectionProposed,
    Event,
    FederationSet,
    GameRecorded,
    GameSupplemented,
    ListPublished,
    PersonErased,
    PlayerChanged,
    PlayerDescribed,
    PlayerEntered,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    RatingRunClosed,
    RatingSeeded,
    ReportSent,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TokenIssued,
    TokenRevoked,
    TournamentClosed,
    TournamentDescribed,
    TournamentOpened,
    WarningsAccepted,
)
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, precision
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Carry
from ledger.journal import late_facts, rules
from ledger.schemes.scheme import FROM_POOL

ENTRY_POINTS: Mapping[type[Event], str] = {  # the facts that have commands and calls of their own
    CorrectionProposed: "'correct' or Ledger.propose",
    CorrectionDecided: "'correct approve', 'reject', 'withdraw' or Ledger.decide",
    PolicySet: "'policy set' or Ledger.policies",
    ListPublished: "'publish' or Ledger.publications",
    ReportSent: "'export --sent' or Ledger.sent_reports",
    PersonErased: "'erase' or Ledger.erase",
    TokenIssued: "'token add', 'token reset' or Ledger.tokens",
    TokenRevoked: "'token revoke' or Ledger.tokens",
    WarningsAccepted: "'import --accept' or Ledger.import_file, with its report",
}
# facts that no caller appends: the refusal and its message
RECORDED_OTHERWISE: Mapping[type[Event], tuple[str, str]] = {
    # ``rules.check_acceptance`` judges the first fact of a transaction
    ClockAccepted: (
        "not-the-last-entry",
        "a clock is accepted by the first fact after its entry, entry {0.entry} is farther back; name the last entry",
    ),
    GameSupplemented: (
        "not-a-telling",
        "new details of game {0.game!r} are added by recording the game again with all its details",
    ),
    PlayerRenamed: (
        "not-by-rename",
        "the name of player {0.player} is changed by 'player rename' or Ledger.rename, which store it in the people "
        "file",
    ),
    PlayerDescribed: (
        "not-by-describe",
        "data about player {0.player} are recorded by 'player describe' or Registry.describe, which store them in the "
        "people file",
    ),
    **{kind: ("not-by-append", f"a {kind.KIND} is recorded by {calls}") for kind, calls in ENTRY_POINTS.items()},
}
_TO_A_DAY = {Precision.DAY, Precision.SECOND, Precision.MILLISECOND}
_COMMANDS: Mapping[str, str] = {  # the command that proposes a fact
    SchemeAdopted.KIND: "scheme adopt",
    RatingRunClosed.KIND: "close-run",
    TournamentOpened.KIND: "open-tournament",
    TournamentClosed.KIND: "close-tournament",
    PlayerChanged.KIND: "player set",
    RatingSeeded.KIND: "player set",
    BirthYearLearnt.KIND: "player set",
    StrengthChosen.KIND: "player set",
    FederationSet.KIND: "player set",
}
OfPool = (
    GameRecorded | RatingSeeded | RoundWithoutGame | RatingRunClosed | StrengthChosen | TournamentClosed
    | TournamentOpened | PlayerEntered | TournamentDescribed
)  # fmt: skip
OfPlayer = (
    PlayerChanged | BirthYearLearnt | RatingSeeded | RoundWithoutGame | StrengthChosen | PlayerEntered | FederationSet
)  # fmt: skip


def needed_keys(event: Event) -> tuple[str, ...]:
    """Return the journal keys that a fact depends on: first schemes of pools, and its players' registrations."""
    if isinstance(event, GameRecorded):  # nearly all are
        return (f"scheme:{event.pool}@start", f"player:{event.white}", f"player:{event.black}")
    pool, player = getattr(event, "pool", None), getattr(event, "player", None)
    source = event.settings.get(FROM_POOL) if isinstance(event, SchemeAdopted) else None
    of_pool = tuple(f"scheme:{name}@start" for name in (pool, source) if name is not None)
    opponent = getattr(event, "opponent", None)
    of_players = tuple(f"player:{number}" for number in (player, opponent) if number is not None)
    return (*of_pool, *of_players)


def erasure_keys(event: Event) -> tuple[str, ...]:
    """Return the journal keys that forbid a new fact: the erasures of a game's players.

    A membership status, or a bye in a tournament that was played, may still be recorded for an erased player.
    """
    return (f"erased:{event.white}", f"erased:{event.black}") if isinstance(event, GameRecorded) else ()


def impossible_ending(event: GameRecorded, _: Evidence) -> RejectedError | None:
    """Refuse a result or a length that no game of this termination has: give another termination, or leave it out."""
    faults = [fault for _, fault in ending_faults(codec.facts_mapping(event))]
    if not faults:
        return None
    return _refusal("impossible-ending", event, f"{'; '.join(faults)}; give another termination, or leave it out")


def unknown_pool(event: OfPool, evidence: Evidence) -> RejectedError | None:
    """Refuse a fact of a pool without a scheme: adopt one first."""
    if f"scheme:{event.pool}@start" in evidence.keys:
        return None
    return _refusal("unknown-pool", event, f"no scheme was adopted for pool {event.pool!r}; adopt one first")


def unknown_player(event: GameRecorded | OfPlayer, evidence: Evidence) -> RejectedError | None:
    """Refuse a player number that was never registered: register the player first."""
    players = (event.white, event.black) if isinstance(event, GameRecorded) else (event.player,)
    if isinstance(event, RoundWithoutGame) and event.opponent is not None:
        players = (event.player, event.opponent)
    for player in players:
        if f"player:{player}" not in evidence.keys:
            return rules.unknown_player(event.key, player)
    return None


def erased_player(event: GameRecorded, evidence: Evidence) -> RejectedError | None:
    """Refuse further games of an erased player: register a person who returns as a new player."""
    for player in (event.white, event.black):
        if f"erased:{player}" in evidence.keys:
            message = (
                f"player {player} was erased and plays no further game; register a person who returns as a new player"
            )
            return _refusal("erased-player", event, message)
    return None


def same_player(event: GameRecorded, _: Evidence) -> RejectedError | None:
    """Refuse a game whose White and Black are one player: check the source."""
    if event.white != event.black:
        return None
    return _refusal("same-player", event, f"White and Black are both player {event.white}; check the source")


def ended_before_start(event: GameRecorded | TournamentOpened, _: Evidence) -> RejectedError | None:
    """Refuse a game or a tournament that ended before it began: check both times."""
    if isinstance(event, GameRecorded):
        return rules.ended_before_start(event)
    if instant_end_ms(event.ends_at) >= instant_ms(event.starts_at):
        return None
    times = f"ends at {event.ends_at}, before it begins at {event.starts_at}"
    return _refusal("ended-before-start", event, f"{times}; check both times")


def ended_in_the_future(
    event: GameRecorded | PlayerRegistered | RatingRunClosed | TournamentClosed, evidence: Evidence
) -> RejectedError | None:
    """Refuse what ends, closes or joins more than a day after now: check the date and this machine's clock."""
    if isinstance(event, GameRecorded):
        return rules.ended_in_the_future(event, evidence.now_ms)
    if isinstance(event, PlayerRegistered):
        return joined_in_the_future(event.key, event.joined_at, evidence.now_ms)
    closing = event.as_of if isinstance(event, RatingRunClosed) else event.ended_at
    # a month is over with its last day
    last = instant_ms if precision(closing) in _TO_A_DAY else instant_end_ms
    if last(closing) <= evidence.now_ms + rules.FUTURE_SLACK_MS:
        return None
    return rules.in_the_future(event.key, f"closes with {closing}", evidence.now_ms)


def joined_in_the_future(key: str, joined_at: str, now_ms: int) -> RejectedError | None:
    """Refuse a registration for a future day; *key* may be an identity without a number."""
    if instant_ms(joined_at) <= now_ms + rules.FUTURE_SLACK_MS:
        return None
    return RejectedError(
        "ended-in-the-future", key, f"the player joined on {joined_at}, which is in the future; check the date"
    )


def unknown_scheme(event: SchemeAdopted, _: Evidence) -> RejectedError | None:
    """Refuse a scheme that is not installed: install the plug-in or choose another."""
    try:
        schemes.find_scheme(event.scheme)
    except LedgerError as error:
        return _refusal("unknown-scheme", event, str(error))
    return None


def bad_settings(event: SchemeAdopted, _: Evidence) -> RejectedError | None:
    """Refuse settings that the scheme cannot work with: see what it takes."""
    try:
        schemes.find_scheme(event.scheme).numbers_from(event.settings)
    except LedgerError as error:
        return _refusal("bad-settings", event, str(error))
    return None


def bad_from_pool(event: SchemeAdopted, evidence: Evidence) -> RejectedError | None:
    """Refuse to begin players with the ratings of a pool that is missing, younger or the same: name an older one.

    Each pool begins with ratings of an older one, so that none begins with ratings that begin with its own. A pool
    that counts in other points is no matter of keys: a correction may change its scheme, and then gives no ratings.
    """
    name = event.settings.get(FROM_POOL)
    if name is None:
        return None
    problem = _source_problem(event, str(name), evidence)
    words = f"setting {FROM_POOL!r}: {problem}; name the pool in which players have ratings first, or leave it out"
    return None if problem is None else _refusal("bad-from-pool", event, words)


def _source_problem(event: SchemeAdopted, name: str, evidence: Evidence) -> str | None:
    """Return why players of a pool cannot begin with the ratings of the pool *name*; None if they can."""
    if name == event.pool:
        return f"pool {name!r} cannot begin with its own ratings"
    own, other = f"scheme:{event.pool}@start", f"scheme:{name}@start"
    if other not in evidence.keys:
        return f"there is no pool {name!r}"
    stored = evidence.find([own, other])
    if own in stored and (other not in stored or stored[other].position > stored[own].position):
        return f"pool {name!r} is younger than pool {event.pool!r}, so that it may begin with ratings of this one"
    return None


def pool_has_no_beginning(event: SchemeAdopted, evidence: Evidence) -> RejectedError | None:
    """Refuse a change of scheme in a pool without a first one: adopt one without a date first."""
    if event.effective_from is None or f"scheme:{event.pool}@start" in evidence.keys:
        return None
    return _refusal(
        "pool-has-no-beginning",
        event,
        f"pool {event.pool!r} has no scheme before {event.effective_from}; adopt one from the beginning first",
    )


def bad_carry(event: SchemeAdopted, _: Evidence) -> RejectedError | None:
    """Refuse a carry or a conversion that does not belong there: 'convert' takes a conversion, a first scheme none."""
    if event.effective_from is None and (event.carry or event.conversion):
        return _refusal("bad-carry", event, "nothing is carried into a pool's first scheme: leave both out")
    if (event.carry is Carry.CONVERT) != bool(event.conversion):
        return _refusal(
            "bad-carry",
            event,
            f"carry is {event.carry or Carry.KEEP!s}, conversion {'given' if event.conversion else 'missing'}: "
            "a conversion goes with 'convert', and 'convert' with a conversion",
        )
    return None


def recorded_otherwise(event: Event, _: Evidence) -> RejectedError:
    """Refuse a fact that only another call may record: the message says which."""
    rule, message = RECORDED_OTHERWISE[type(event)]
    return _refusal(rule, event, message.format(event))


def needs_a_proposal(event: Event, evidence: Evidence) -> RejectedError | None:
    """Refuse a fact that affects the past or a published list while four eyes are on: propose it, for another one."""
    if isinstance(event, GameRecorded):
        return evidence.changing.get(event.key)
    if not late_facts.are_four_eyes_on(evidence.find) or _comes_with_the_player(event, evidence):
        return None
    since = late_facts.effect_before_today(event, evidence.now_ms)
    since = since or late_facts.effect_before_today(event, evidence.latest_ms())
    # a list may be published for the end of today, and before tomorrow
    since = since or late_facts.effect_before(event, evidence.published_ms(getattr(event, "pool", None)) + 1)
    if since is None:
        return None
    return _refusal(
        late_facts.NEEDS_A_PROPOSAL,
        event,
        f"four eyes are on, and this reaches back to {since}; propose it with '{_COMMANDS[event.KIND]} --propose', "
        "for somebody else to approve",
    )


def _comes_with_the_player(event: Event, evidence: Evidence) -> bool:
    """Return whether a fact is of a player who is registered in the same transaction: no game was rated yet."""
    # Not by the instant, by which the audit must go, for it sees no transactions: several of them bear one instant
    # where the clock is behind the last entry, and games of the player may have been rated meanwhile.
    of_player = PlayerChanged | RatingSeeded | BirthYearLearnt | StrengthChosen | FederationSet
    return isinstance(event, of_player) and not evidence.find([f"player:{event.player}"])


def pass_all_rules(games: Sequence[GameRecorded], evidence: Evidence) -> bool:
    """Return whether no rule refuses any of these games, by one look at all of them; False if in doubt."""
    keys, players = evidence.keys, {game.white for game in games} | {game.black for game in games}
    return (
        not evidence.changing
        and all(f"scheme:{pool}@start" in keys for pool in {game.pool for game in games})
        and all(f"player:{player}" in keys and f"erased:{player}" not in keys for player in players)
        and not any(game.white == game.black or game.started_at is not None for game in games)
        and max((game.ended_at for game in games), default="") < rules.day_text(evidence.now_ms // DAY_MS)
    )


def _refusal(rule: str, event: Event, message: str) -> RejectedError:
    return RejectedError(rule, event.key, message)
