"""The judge: may this fact follow what is recorded? The rules by kind of event, and the contexts of each rule.

Every entry point asks it about each fact with a new key: ``append``, imports, commands, proposals and their approval.
A key that is recorded already is a repeat, which ``journal.rules`` compares. Facts of an older version that would be
refused today stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ledger.book.evidence import Context, Evidence, Rule
from ledger.book.rules_by_facts import (
    after_the_first_game,
    edition_closed,
    exists_with_different_birth_year,
    exists_with_different_key,
    no_such_tournament,
    overlapping_editions,
    played_after_closing,
    same_instant,
)
from ledger.book.rules_by_keys import (
    bad_carry,
    bad_settings,
    ended_before_start,
    ended_in_the_future,
    erased_player,
    impossible_ending,
    needs_a_proposal,
    not_a_telling,
    not_by_append,
    not_by_rename,
    not_the_last_entry,
    pass_all_rules,
    pool_has_no_beginning,
    same_player,
    unknown_player,
    unknown_pool,
    unknown_scheme,
)
from ledger.facts.events import (
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

# The rules of each kind, in the order in which they are asked: the first refusal is raised.
RULES: Mapping[type[Event], tuple[Rule, ...]] = {
    GameRecorded: (
        impossible_ending, unknown_pool, unknown_player, erased_player, same_player, ended_before_start,
        ended_in_the_future,
    ),
    PlayerRegistered: (ended_in_the_future,),
    PlayerChanged: (unknown_player, after_the_first_game, exists_with_different_key, same_instant, needs_a_proposal),
    BirthYearLearnt: (unknown_player, exists_with_different_birth_year, needs_a_proposal),
    RatingSeeded: (unknown_pool, unknown_player, exists_with_different_key, same_instant, needs_a_proposal),
    RoundWithoutGame: (unknown_pool, unknown_player, exists_with_different_key),
    SchemeAdopted: (
        unknown_scheme, bad_settings, pool_has_no_beginning, bad_carry, exists_with_different_key, same_instant,
        needs_a_proposal,
    ),
    RatingRunClosed: (unknown_pool, ended_in_the_future, exists_with_different_key, needs_a_proposal),
    TournamentOpened: (
        unknown_pool, ended_before_start, exists_with_different_key, overlapping_editions, needs_a_proposal,
    ),
    TournamentClosed: (
        unknown_pool, ended_in_the_future, no_such_tournament, exists_with_different_key, edition_closed,
        played_after_closing, needs_a_proposal,
    ),
    ClockAccepted: (not_the_last_entry,),
    GameSupplemented: (not_a_telling,),
    PlayerRenamed: (not_by_rename,),
    CorrectionProposed: (not_by_append,),
    CorrectionDecided: (not_by_append,),
    PolicySet: (not_by_append,),
    ListPublished: (not_by_append,),
    PersonErased: (not_by_append,),
    TokenIssued: (not_by_append,),
    TokenRevoked: (not_by_append,),
}  # fmt: skip

_ALONE = {Context.APPEND, Context.WITHOUT_VIEWS}
_NEW = {Context.APPEND, Context.PROPOSAL}
_PLACED = {*_NEW, Context.IMPORT, Context.CHANGE, Context.RESTORE}
# The contexts of the other rules, which need the event and the clock alone: whether a proposal changes a fact or puts
# it back, they judge it as it would be after all changes.
_ELSE = {Context.APPEND, Context.WITHOUT_VIEWS, Context.IMPORT, Context.PROPOSAL, Context.APPROVAL}
CONTEXTS: Mapping[Rule, set[Context]] = {
    # Sources are trusted; the proposer of a game can look at it again.
    impossible_ending: {Context.PROPOSAL},
    unknown_pool: _ELSE - {Context.IMPORT},
    unknown_player: _ELSE - {Context.IMPORT},
    # Games played before an erasure may be corrected. No file names an erased player.
    erased_player: {*_NEW, Context.WITHOUT_VIEWS},
    after_the_first_game: {*_NEW, Context.CHANGE},
    # ``append`` takes the end of a tournament before its games, for facts arrive in any order. A typed name that no
    # game bears is most likely misspelt; one that was put back was typed before.
    no_such_tournament: {Context.COMMAND, Context.PROPOSAL, Context.CHANGE},
    exists_with_different_birth_year: _NEW,
    exists_with_different_key: {*_NEW, Context.IMPORT},
    same_instant: _PLACED,
    overlapping_editions: _PLACED,
    edition_closed: _PLACED,
    played_after_closing: _PLACED,
    # Facts with an entry point of their own are proposed or judged there.
    **dict.fromkeys((not_the_last_entry, not_a_telling, not_by_rename, not_by_append), _ALONE),
    # Last of all: the advice to propose a fact must not lead to a proposal that is refused anyway.
    needs_a_proposal: _ALONE,
}
_ASK_VIEWS = {
    after_the_first_game, exists_with_different_birth_year, overlapping_editions, edition_closed, played_after_closing,
}  # fmt: skip
_OF_VIEWS = frozenset(kind for kind, rules in RULES.items() if not _ASK_VIEWS.isdisjoint(rules))


@cache
def rules_for(context: Context) -> Mapping[str, tuple[Rule, ...]]:
    """Return by the word of a kind the rules that a context asks, in their order."""
    rules_asked = {rule for rules in RULES.values() for rule in rules if context in CONTEXTS.get(rule, _ELSE)}
    return {kind.KIND: tuple(rule for rule in rules if rule in rules_asked) for kind, rules in RULES.items()}


def check(event: Event, evidence: Evidence) -> None:
    """Refuse a fact that may not follow what is recorded.

    Raises:
        RejectedError: the first refusal of its rules.
    """
    for rule in rules_for(evidence.context)[event.KIND]:
        refusal = rule(event, evidence)
        if refusal is not None:
            raise refusal


def check_games(games: Sequence[GameRecorded], evidence: Evidence) -> None:
    """Refuse games as ``check`` refuses them one by one; a look at all of them at once passes most.

    Raises:
        RejectedError: the refusal of the first game that is refused.
    """
    if not pass_all_rules(games, evidence):
        for game in games:
            check(game, evidence)


def need_views(events: Sequence[Event]) -> bool:
    """Return whether the rules of some facts ask the views, which are brought up to date before the write lock."""
    # the kinds first, which takes no call a fact: nearly all batches are of games
    return not _OF_VIEWS.isdisjoint(map(type, events)) and any(
        type(event) in _OF_VIEWS and not (isinstance(event, PlayerChanged) and event.declared_rating is None)
        for event in events
    )
