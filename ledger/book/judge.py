"""The judge: decides whether a new fact may be recorded, by a table of rules for each kind of event and context.

Every entry point asks it about each fact with a new key: ``append``, imports, commands, proposals and their approval.
A fact with a recorded key is a repeat, which ``journal.rules`` compares. Facts of an older version that would be
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
    no_choice_of_strength,
    no_such_tournament,
    overlapping_editions,
    played_after_closing,
    rating_decides,
    same_instant,
)
from ledger.book.rules_by_keys import (
    RECORDED_OTHERWISE,
    bad_carry,
    bad_from_pool,
    bad_settings,
    ended_before_start,
    ended_in_the_future,
    erased_player,
    impossible_ending,
    needs_a_proposal,
    pass_all_rules,
    pool_has_no_beginning,
    recorded_otherwise,
    same_player,
    unknown_player,
    unknown_pool,
    unknown_scheme,
)
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    FederationSet,
    GameRecorded,
    PlayerChanged,
    PlayerEntered,
    PlayerRegistered,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentDescribed,
    TournamentOpened,
)

APPEND, WITHOUT_VIEWS, COMMAND, IMPORT, PROPOSAL, CHANGE, RESTORE, APPROVAL = Context
DIRECT = {APPEND, WITHOUT_VIEWS}  # recorded without a proposal
PLACED = {APPEND, IMPORT, PROPOSAL, CHANGE, RESTORE}  # wherever a fact gets to a place where another one may be
# What the event and the clock alone decide is asked of a changed or restored fact as it would be after all changes.
ALWAYS = {*DIRECT, IMPORT, PROPOSAL, APPROVAL}
NOT_IMPORTED = ALWAYS - {IMPORT}  # the pool and the players of a file are recorded with it
UNRECORDED = {APPEND, IMPORT, PROPOSAL}

# For each kind of event its rules, each with the contexts that ask it. The first refusal is raised.
RULES: Mapping[type[Event], Mapping[Rule, set[Context]]] = {
    GameRecorded: {
        impossible_ending: {PROPOSAL},  # sources are trusted; the proposer of a game can look at it again
        unknown_pool: NOT_IMPORTED,
        unknown_player: NOT_IMPORTED,
        # games played before an erasure may be corrected; no file names an erased player
        erased_player: {*DIRECT, PROPOSAL},
        same_player: ALWAYS,
        ended_before_start: ALWAYS,
        ended_in_the_future: ALWAYS,
        needs_a_proposal: DIRECT,  # of a file all games are judged together: ``PublishedListRule``
    },
    PlayerRegistered: {ended_in_the_future: ALWAYS},
    PlayerChanged: {
        unknown_player: NOT_IMPORTED,
        after_the_first_game: {APPEND, PROPOSAL, CHANGE},
        exists_with_different_key: UNRECORDED,
        same_instant: PLACED,
        # last of all: the advice to propose a fact must not lead to a proposal that is refused anyway
        needs_a_proposal: DIRECT,
    },
    BirthYearLearnt: {
        unknown_player: NOT_IMPORTED,
        exists_with_different_birth_year: {APPEND, PROPOSAL},
        needs_a_proposal: DIRECT,
    },
    RatingSeeded: {
        unknown_pool: NOT_IMPORTED,
        unknown_player: NOT_IMPORTED,
        exists_with_different_key: UNRECORDED,
        same_instant: PLACED,
        needs_a_proposal: DIRECT,
    },
    StrengthChosen: {
        unknown_pool: NOT_IMPORTED,
        unknown_player: NOT_IMPORTED,
        no_choice_of_strength: {APPEND, PROPOSAL},
        rating_decides: {APPEND, PROPOSAL, CHANGE},
        exists_with_different_key: UNRECORDED,
        same_instant: PLACED,
        needs_a_proposal: DIRECT,
    },
    FederationSet: {
        unknown_player: NOT_IMPORTED,
        exists_with_different_key: UNRECORDED,
        same_instant: PLACED,
        needs_a_proposal: DIRECT,
    },
    RoundWithoutGame: {unknown_pool: NOT_IMPORTED, unknown_player: NOT_IMPORTED, exists_with_different_key: UNRECORDED},
    PlayerEntered: {unknown_pool: NOT_IMPORTED, unknown_player: NOT_IMPORTED},
    TournamentDescribed: {unknown_pool: NOT_IMPORTED},
    SchemeAdopted: {
        unknown_scheme: ALWAYS,
        bad_settings: ALWAYS,
        bad_from_pool: ALWAYS,
        pool_has_no_beginning: ALWAYS,
        bad_carry: ALWAYS,
        exists_with_different_key: UNRECORDED,
        same_instant: PLACED,
        needs_a_proposal: DIRECT,
    },
    RatingRunClosed: {
        unknown_pool: NOT_IMPORTED,
        ended_in_the_future: ALWAYS,
        exists_with_different_key: UNRECORDED,
        needs_a_proposal: DIRECT,
    },
    TournamentOpened: {
        unknown_pool: NOT_IMPORTED,
        ended_before_start: ALWAYS,
        exists_with_different_key: UNRECORDED,
        overlapping_editions: PLACED,
        needs_a_proposal: DIRECT,
    },
    TournamentClosed: {
        unknown_pool: NOT_IMPORTED,
        ended_in_the_future: ALWAYS,
        # ``append`` takes the end of a tournament before its games, for facts arrive in any order. A typed name that no
        # game bears is most likely misspelt; one that was put back was typed before.
        no_such_tournament: {COMMAND, PROPOSAL, CHANGE},
        exists_with_different_key: UNRECORDED,
        edition_closed: PLACED,
        played_after_closing: PLACED,
        needs_a_proposal: DIRECT,
    },
    **{kind: {recorded_otherwise: DIRECT} for kind in RECORDED_OTHERWISE},
}
_ASK_VIEWS = {
    after_the_first_game, exists_with_different_birth_year, overlapping_editions, edition_closed, played_after_closing,
    no_choice_of_strength, rating_decides,
}  # fmt: skip
_OF_VIEWS = frozenset(kind for kind, rules in RULES.items() if not _ASK_VIEWS.isdisjoint(rules))


@cache
def rules_for(context: Context) -> Mapping[str, tuple[Rule, ...]]:
    """Return the rules that a context asks, in their order, by the stored name of each kind of event."""
    return {
        kind.KIND: tuple(rule for rule, contexts in rules.items() if context in contexts)
        for kind, rules in RULES.items()
    }


def check(event: Event, evidence: Evidence) -> None:
    """Raise the first refusal of a fact that may not be recorded.

    Raises:
        RejectedError: the first refusal of its rules.
    """
    for rule in rules_for(evidence.context)[event.KIND]:
        refusal = rule(event, evidence)
        if refusal is not None:
            raise refusal


def check_games(games: Sequence[GameRecorded], evidence: Evidence) -> None:
    """Raise the refusal of the first game that may not be recorded.

    Most games pass in one look at all of them.

    Raises:
        RejectedError: as ``check`` raises it.
    """
    if not pass_all_rules(games, evidence):
        for game in games:
            check(game, evidence)


def need_views(events: Sequence[Event]) -> bool:
    """Return whether a rule for one of these events reads the views, which must catch up before the write lock."""
    # the kinds first, which takes no call a fact: nearly all batches are of games
    return not _OF_VIEWS.isdisjoint(map(type, events)) and any(
        type(event) in _OF_VIEWS and not (isinstance(event, PlayerChanged) and event.declared_rating is None)
        for event in events
    )
