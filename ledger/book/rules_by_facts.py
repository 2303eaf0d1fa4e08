"""The judge's rules that need current facts: other facts at one instant, games of a tournament, a first rated game.

Facts of some kinds exclude each other: two of one kind at one instant, overlapping editions, an end before the last
game. One instant has several spellings, ``2006`` and ``2006-01-01``, and so several keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ledger.book import initial_ratings
from ledger.book.conflicts import key_conflict, keys_beginning
from ledger.book.evidence import CurrentFacts, Evidence, subject_of
from ledger.book.policies import CLASSES, stored_policies
from ledger.book.whole_tournaments import NO_ANNOUNCEMENTS, Announcements, Edition, group_into_editions
from ledger.errors import ConflictError, RejectedError
from ledger.facts import codec
from ledger.facts.codec import decode
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    FederationSet,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text
from ledger.runtime.nearest import did_you_mean

# By kind, the fields that determine the place of a fact and from when it holds.
PLACE_FIELDS: Mapping[type[Event], frozenset[str]] = {
    SchemeAdopted: frozenset({"effective_from"}),
    PlayerChanged: frozenset({"effective_at", "declared_rating"}),
    RatingSeeded: frozenset({"effective_at"}),
    StrengthChosen: frozenset({"effective_at"}),
    FederationSet: frozenset({"effective_at"}),
    TournamentOpened: frozenset({"tournament", "starts_at", "ends_at"}),
    TournamentClosed: frozenset({"tournament", "ended_at"}),
}
DEFAULT_GAP_DAYS = 7.0  # without a game: they part two editions if the scheme does not state such a number
_SAID: Mapping[str, str] = {
    SchemeAdopted.KIND: "a scheme was adopted",
    PlayerChanged.KIND: "the player has another membership status or declared rating",
    RatingSeeded.KIND: "the player has another rating of a list",
    StrengthChosen.KIND: "the player chose another strength",
    FederationSet.KIND: "the player belongs to another federation",
}
# Entries are left out by one list of JSON: a statement with a question mark each would be another one for each number
# of them, and SQLite takes 32,766 at most.
_OPENED = (
    "SELECT starts_at, starts_ms, ends_ms FROM openings WHERE pool = ?1 AND tournament = ?2 "
    "AND position NOT IN (SELECT value FROM json_each(?3))"
)
_CLOSED = (
    "SELECT closed_ms FROM tournaments WHERE pool = ?1 AND tournament = ?2 "
    "AND position NOT IN (SELECT value FROM json_each(?3))"
)
_ENDED = (
    "SELECT DISTINCT ended_ms FROM games WHERE pool = ?1 AND tournament = ?2 AND voided_by IS NULL "
    "AND position NOT IN (SELECT value FROM json_each(?3))"
)
_NAMING = ("games", "openings", "tournaments")  # tables of facts that name tournaments
_NAMED = (
    "SELECT EXISTS(SELECT 1 FROM {table} WHERE pool = ?1 AND tournament = ?2 "
    "AND position NOT IN (SELECT value FROM json_each(?3)))"
)
_NAMES = (
    "SELECT tournament FROM games WHERE pool = ?1 AND tournament IS NOT NULL "
    "UNION SELECT tournament FROM openings WHERE pool = ?1"
)


def exists_with_different_birth_year(event: BirthYearLearnt, evidence: Evidence) -> ConflictError | None:
    """Refuse another year of birth than the registration or a later fact gave: find out which one is right."""
    registered = evidence.others.get(f"player:{event.player}", ())
    years = [other.birth_year for other in registered if isinstance(other, PlayerRegistered)]
    for year in (initial_ratings.birth_year(evidence.facts.connection, event.player), *years):
        if year not in {None, event.birth_year}:
            return ConflictError(f"player:{event.player}", "birth_year", year, event.birth_year)
    return None


def after_the_first_game(event: PlayerChanged, evidence: Evidence) -> RejectedError | None:
    """Refuse a declared rating from a day after the first rated game: give the day of that game or an earlier one."""
    before = evidence.before
    # A declaration that has no effect already may be moved on.
    if isinstance(before, PlayerChanged) and _late_declaration(before, evidence.facts) is not None:
        return None
    return _late_declaration(event, evidence.facts)


def _late_declaration(event: PlayerChanged, facts: CurrentFacts) -> RejectedError | None:
    """Return the refusal of a declared rating that has no effect in any pool."""
    if event.declared_rating is None:
        return None
    starts = initial_ratings.effects_in_pools(facts.connection, facts.views.pools(), event)
    if not starts or any(begin.takes_effect for begin in starts):
        return None
    played = [(begin.first_ms, begin.pool) for begin in starts if begin.first_ms is not None and not begin.is_listed]
    if not played:
        words = "the rating of a list goes before this declared rating in every pool"
        return RejectedError(initial_ratings.TOO_LATE, event.key, words)
    first_ms, pool = min(played)
    first = _day(first_ms)
    return RejectedError(
        initial_ratings.TOO_LATE,
        event.key,
        f"this declared rating holds from {event.effective_at}, after the player's first rated game in pool {pool!r}, "
        f"of {first}, so that it could not act; where the player began with it, give {first} or an earlier day, and "
        "the games are rated again",
    )


def exists_with_different_key(event: Event, evidence: Evidence) -> ConflictError | None:
    """Refuse a fact whose key a correction gave to another fact: correct that one, or take it back."""
    facts = evidence.facts
    if isinstance(event, RoundWithoutGame):
        key = facts.recorded_round(event, evidence.others.get(subject_of(event), ()), catch_up=True).key
        if key != event.key:
            words = f"{key!r} records this round of the edition already; correct that one"
            return ConflictError(event.key, "key", key, event.key, f"{event.key!r}: {words}")
    return key_conflict(facts.connection, facts.journal, event) if facts.has_proposals() else None


def no_choice_of_strength(event: StrengthChosen, evidence: Evidence) -> RejectedError | None:
    """Refuse a strength in a pool without strengths: ChessWorld's scheme has them, others by the policy ``classes``."""
    facts, ms = evidence.facts, instant_ms(event.effective_at)
    pool = facts.pool(event.pool)
    if pool is None or pool.eras[pool.era_at(ms)].scheme.name == "chessworld":
        return None
    if stored_policies(facts.connection).settings_at(CLASSES, ms)["everywhere"]:
        return None
    words = f"pool {event.pool!r} has no strengths under its scheme; the policy 'classes' with everywhere=true has them"
    return RejectedError("no-choice-of-strength", event.key, f"{event.key!r}: {words}")


def rating_decides(event: StrengthChosen, evidence: Evidence) -> RejectedError | None:
    """Refuse a strength chosen after the provisional games: from then on the rating decides."""
    # "Until a player has completed 50 rated games their classification can be defined, or changed" (seed 004)
    before, facts = evidence.before, evidence.facts
    pool = facts.pool(event.pool)
    if pool is None or (isinstance(before, StrengthChosen) and before.effective_at == event.effective_at):
        return None
    limit = facts.views.strength_decided(pool, facts.person(event.player), instant_ms(event.effective_at))
    if limit is None:
        return None
    words = f"player {event.player} has completed {limit:g} rated games in pool {event.pool!r} by {event.effective_at}"
    return RejectedError(
        "rating-decides", event.key, f"{event.key!r}: {words}: from then on the rating decides the strength"
    )


def same_instant(
    event: SchemeAdopted | PlayerChanged | RatingSeeded | StrengthChosen | FederationSet, evidence: Evidence
) -> RejectedError | None:
    """Refuse a second scheme, status, federation, … from one instant, spelt otherwise: correct the first."""
    if (since := _since(event)) is None:
        return None
    facts, subject = evidence.facts, subject_of(event)
    current = facts.corrected_facts()
    others = [other for other in evidence.others.get(subject, ()) if other is not event]
    for key, stored in facts.journal.find(list(keys_beginning(facts.journal, f"{subject}@"))).items():
        if key == event.key or stored.position in evidence.moved_entries:
            continue
        fact = None if current is None else current.fact(key)
        if current is None or fact is None:
            others.append(decode(stored.body).event)
        elif fact.annulled_by is None:
            others.append(current.event(fact))
    for other in others:
        there = _since(other)
        if there is None or there == since or instant_ms(there) != instant_ms(since):
            continue
        # an adoption said twice would be an era of no time; of the others the same said twice does no harm
        if not isinstance(event, SchemeAdopted) and _without_instant(other) == _without_instant(event):
            continue
        words = f"{since} is the instant of {there}, from which {_SAID[event.KIND]} already; correct that one"
        return RejectedError("same-instant", event.key, f"{event.key!r}: {words}")
    return None


def _since(event: Event) -> str | None:
    """Return from when a fact holds, if only one of its kind may hold from an instant; None: from the beginning."""
    match event:
        case SchemeAdopted(effective_from=since) | PlayerChanged(effective_at=since) | RatingSeeded(effective_at=since):
            return since
        case StrengthChosen(effective_at=since) | FederationSet(effective_at=since):
            return since
        case _:
            return None


def _without_instant(event: Event) -> dict[str, Any]:
    return {name: value for name, value in codec.facts_mapping(event).items() if name != "effective_at"}


def no_such_tournament(event: TournamentClosed, evidence: Evidence) -> RejectedError | None:
    """Refuse the end of a tournament that neither a game nor an announcement names: check the spelling."""
    before, pool = evidence.before, evidence.facts.pool(event.pool)
    if pool is None or (isinstance(before, TournamentClosed) and before.tournament == event.tournament):
        return None
    connection = evidence.facts.connection
    place = pool.pool, event.tournament, json.dumps(sorted(evidence.moved_entries))
    named = (GameRecorded, TournamentOpened, TournamentClosed)
    if any(connection.execute(_NAMED.format(table=table), place).fetchone()[0] for table in _NAMING) or any(
        isinstance(other, named) and (other.pool, other.tournament) == (event.pool, event.tournament)
        for others in evidence.others.values()
        for other in others
        if other is not event
    ):
        return None
    names = [name for (name,) in connection.execute(_NAMES, (pool.pool,))]
    return RejectedError(
        "no-such-tournament",
        event.key,
        f"no tournament {event.tournament!r} in pool {event.pool!r}; {did_you_mean(event.tournament, names)}no game "
        "carries that name; where its games come later, 'open-tournament' it first",
    )


def overlapping_editions(event: TournamentOpened, evidence: Evidence) -> RejectedError | None:
    """Refuse an edition of a tournament on days of another edition: part them, or close the one that is over."""
    first, last = instant_ms(event.starts_at), instant_end_ms(event.ends_at)
    announced = _announced(event, evidence)
    if (first, last) in announced.opened:  # the same, spelt otherwise
        return None
    met = [edition for edition in announced.editions() if edition.first_ms <= last and first <= edition.last_ms]
    if not met:
        return None
    spans = " and ".join(f"from {_day(edition.first_ms)} to {_day(edition.last_ms)}" for edition in met)
    return RejectedError(
        "overlapping-editions",
        event.key,
        f"tournament {event.tournament!r} lasts {spans}, and {_day(first)} to {_day(last)} overlaps that: let its "
        f"next edition begin after {_day(met[-1].last_ms)}; where both are one tournament, 'close-tournament' with "
        "its last day once it is over",
    )


def edition_closed(event: TournamentClosed, evidence: Evidence) -> RejectedError | None:
    """Refuse another last day of a closed edition: if the first closing is wrong, correct that one."""
    over, announced = instant_end_ms(event.ended_at), _announced(event, evidence)
    if not announced.closed or over in announced.closed:  # the same, spelt otherwise
        return None
    for edition in sorted({*_played(announced, event, evidence).values(), *announced.editions()}):
        last_ms = dict(announced.opened).get(edition.first_ms, edition.last_ms)
        if edition.last_ms in announced.closed and edition.first_ms <= over <= max(edition.last_ms, last_ms):
            return RejectedError(
                "edition-closed",
                event.key,
                f"tournament {event.tournament!r}, which began on {_day(edition.first_ms)}, was closed on "
                f"{_day(edition.last_ms)} already, not on {_day(over)}, and what is recorded stays: where that was "
                "wrong, propose to correct it by 'correct'",
            )
    return None


def played_after_closing(event: TournamentClosed, evidence: Evidence) -> RejectedError | None:
    """Refuse the end of an edition before its last game: give the day of that game, or open the next edition first."""
    over, announced = instant_end_ms(event.ended_at), _announced(event, evidence)
    if over in announced.closed:
        return None
    by_end = _played(announced, event, evidence)
    later = [end for end, edition in by_end.items() if end > over >= edition.first_ms]
    if not later:
        return None
    return RejectedError(
        "played-after-closing",
        event.key,
        f"games of tournament {event.tournament!r} ended after {_day(over)}, the last one of this edition on "
        f"{_day(max(later))}: close it on {_day(max(later))} or later; where they belong to its next edition, announce "
        "that one first with 'open-tournament'",
    )


def _announced(event: TournamentOpened | TournamentClosed, evidence: Evidence) -> Announcements:
    """Return the announcements of a tournament by other facts; none in an unknown pool."""
    connection, same_transaction, pool = evidence.facts.connection, evidence.others, evidence.facts.pool(event.pool)
    if pool is None:
        return NO_ANNOUNCEMENTS
    place = pool.pool, event.tournament, json.dumps(sorted(evidence.moved_entries))
    opened = connection.execute(_OPENED, place).fetchall()
    closed = {ms for (ms,) in connection.execute(_CLOSED, place)}
    _, divided, name = subject_of(event).partition(":")
    for other in (
        *same_transaction.get(f"opening{divided}{name}", ()),
        *same_transaction.get(f"tournament{divided}{name}", ()),
    ):
        if other is event:
            continue
        if isinstance(other, TournamentOpened):
            opened.append((other.starts_at, instant_ms(other.starts_at), instant_end_ms(other.ends_at)))
        elif isinstance(other, TournamentClosed):
            closed.add(instant_end_ms(other.ended_at))
    announced = Announcements(tuple(sorted(closed)))
    for starts_at, first, last in opened:
        # two of one spelling have one key, of which other rules speak
        if not (isinstance(event, TournamentOpened) and starts_at == event.starts_at):
            announced = announced.with_opening(first, last)
    return announced


def _played(announced: Announcements, event: TournamentClosed, evidence: Evidence) -> dict[int, Edition]:
    """Return by the end of each game of a tournament its edition."""
    pool = evidence.facts.pool(event.pool)
    if pool is None:
        return {}
    place = pool.pool, event.tournament, json.dumps(sorted(evidence.moved_entries))
    ends = [ms for (ms,) in evidence.facts.connection.execute(_ENDED, place)]
    ends += [
        instant_ms(game.ended_at)
        for game in evidence.others.get("game", ())
        if isinstance(game, GameRecorded) and (game.pool, game.tournament) == (event.pool, event.tournament)
    ]
    return group_into_editions(sorted(ends), lambda end: pool.gap_before(end) or DEFAULT_GAP_DAYS, announced)


def _day(ms: int) -> str:
    return instant_text(ms, Precision.DAY)
