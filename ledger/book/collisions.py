"""Facts that exclude each other: two of one kind at one instant, overlapping editions, an end before the last game.

The key of a fact names its instant, and a correction may move the fact: the key stays, the instant is another one. One
instant has several spellings, ``2006`` and ``2006-01-01``, and so several keys. The current views are asked, for
everything that is recorded or proposed. Old journals hold such facts, which stay; only new ones are refused. Nothing is
written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ledger.book.kinds import KINDS
from ledger.book.timeline import Pool
from ledger.book.whole_tournaments import Announced, editions
from ledger.errors import ConflictError, MalformedError, Refusal, RejectedError
from ledger.facts import codec
from ledger.facts.codec import decode
from ledger.facts.events import (
    Event,
    GameRecorded,
    PlayerChanged,
    RatingSeeded,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text
from ledger.journal import Journal, rules
from ledger.runtime.nearest import did_you_mean

if TYPE_CHECKING:
    import sqlite3
from ledger.book.conflicts import HypotheticalFacts

# By kind that is judged by what else stands, the fields that say where it stands and acts.
PLACES: Mapping[type[Event], frozenset[str]] = {
    SchemeAdopted: frozenset({"effective_from"}),
    PlayerChanged: frozenset({"effective_at", "declared_rating"}),
    RatingSeeded: frozenset({"effective_at"}),
    TournamentOpened: frozenset({"tournament", "starts_at", "ends_at"}),
    TournamentClosed: frozenset({"tournament", "ended_at"}),
}
GAP = 7.0  # days without a game that part two editions where the scheme says nothing of it
_SAID: Mapping[type[Event], str] = {
    SchemeAdopted: "a scheme was adopted",
    PlayerChanged: "the player has another standing or declared rating",
    RatingSeeded: "another rating of a list holds for the player",
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
# GLOB and not LIKE, which knows no case: what a pattern begins with is then looked up in the index of subjects.
_CORRECTED = "SELECT DISTINCT subject FROM corrections WHERE subject GLOB ? ORDER BY subject"


def meetings(connection: sqlite3.Connection, after: HypotheticalFacts, keys: Mapping[str, int]) -> Iterator[Refusal]:
    """Facts that would say of one instant what another one says of it already.

    Args:
        connection: the views.
        after: the facts as they would be.
        keys: those that the proposal moves or restores, each with the number of its change.
    """
    for key, number in keys.items():
        place = _place(after, key) if "@" in key else None
        if place is None:
            continue
        # Corrected ones and those of this proposal: any other fact stands where its key says, and a key stands once.
        corrected = (subject for (subject,) in connection.execute(_CORRECTED, (f"{_family(place)}*",)).fetchall())
        for other in dict.fromkeys((place, *corrected, *keys)):
            if other != key and other.startswith(_family(place)) and _place(after, other) == place:
                message = f"{key!r} and {other!r} would both stand at {place.rpartition('@')[2]}; move one elsewhere"
                yield Refusal(number, "conflicting", message)
                break


def may_meet(event: Event) -> bool:
    """Whether facts of its kind stand at instants, so that a corrected one may stand where it would."""
    kind = KINDS.get(type(event))
    return kind is not None and kind.is_at_instant


def refuse_key_collision(connection: sqlite3.Connection, journal: Journal, event: Event) -> None:
    """Refuse a new fact where a corrected one, whose key names another place, stands by now.

    Args:
        connection: the views, level with the journal.
        journal: where facts stand as they were recorded.
        event: a fact of which ``may_meet`` is true, with a key that the journal does not hold.

    Raises:
        ConflictError: ``exists-with-different-key``.
    """
    key = standing_at(connection, journal, event)
    if key is not None:
        stands = f"{key!r} stands there since it was corrected; correct that one, or take it back"
        raise ConflictError(event.key, "key", key, event.key, f"{event.key!r}: {stands}")


def standing_at(connection: sqlite3.Connection, journal: Journal, event: Event) -> str | None:
    """The key of the corrected fact that stands where a fact would, though its key names another place."""
    rows = connection.execute(_CORRECTED, (f"{_family(event.key)}*",)).fetchall()
    facts = HypotheticalFacts(connection, journal) if rows else None
    for (subject,) in rows:
        if facts is not None and subject != event.key and _place(facts, subject) == event.key:
            return str(subject)
    return None


def keys_at(journal: Journal, place: str) -> Iterator[str]:
    """The keys in a journal that begin with a place, which ends with ``@``: an instant or an edition follows there."""
    # the text that follows all of them: a span of keys is looked up in the index
    return journal.keys(place, place[:-1] + chr(ord("@") + 1))


def _family(key: str) -> str:
    """How the keys begin of facts that may come to stand at the same place: a tournament may get another name."""
    kind = key.partition(":")[0]
    return f"{kind}:" if kind in {"opening", "tournament", "round"} else f"{key.rpartition('@')[0]}@"


def _place(after: HypotheticalFacts, key: str) -> str | None:
    """The key that a fact would bear if it were recorded as it would stand; None of one that has no instant."""
    fact = after.fact(key)
    if fact is None or fact.annulled_by is not None or fact.cls not in KINDS or not KINDS[fact.cls].is_at_instant:
        return None
    try:
        return after.event(fact).key
    except MalformedError:  # which is said of it already
        return None


def refuse_same_instant(
    journal: Journal,
    event: Event,
    stands: HypotheticalFacts | None,
    beside: rules.Beside,
    moved: Collection[int],
) -> None:
    """Refuse an adoption, a standing or the rating of a list where one holds from the same instant, spelt otherwise.

    Args:
        journal: where facts stand as they were recorded.
        event: the new fact.
        stands: what knows how they stand by now; None where nothing was corrected.
        beside: facts that would come to stand together with it.
        moved: entries of facts that would stand no longer as they do.

    Raises:
        RejectedError: ``same-instant``.
    """
    if (since := _since(event)) is None:
        return
    subject = rules.subject_of(event)
    others = [other for other in beside.get(subject, ()) if other is not event]
    for key, stored in journal.find(list(keys_at(journal, f"{subject}@"))).items():
        if key == event.key or stored.position in moved:
            continue
        fact = None if stands is None else stands.fact(key)
        if stands is None or fact is None:
            others.append(decode(stored.body).event)
        elif fact.annulled_by is None:
            others.append(stands.event(fact))
    for other in others:
        there = _since(other)
        if there is None or there == since or instant_ms(there) != instant_ms(since):
            continue
        # an adoption said twice would be an era of no time; of the others the same said twice does no harm
        if not isinstance(event, SchemeAdopted) and _without_instant(other) == _without_instant(event):
            continue
        words = f"{since} is the instant of {there}, from which {_SAID[type(event)]} already; correct that one"
        raise RejectedError("same-instant", event.key, f"{event.key!r}: {words}")


def _since(event: Event) -> str | None:
    """From when a fact holds of which one alone may hold from an instant on; None of one from the beginning."""
    match event:
        case SchemeAdopted(effective_from=since) | PlayerChanged(effective_at=since) | RatingSeeded(effective_at=since):
            return since
        case _:
            return None


def _without_instant(event: Event) -> dict[str, Any]:
    return {name: value for name, value in codec.facts_mapping(event).items() if name != "effective_at"}


def refuse_misfit(
    connection: sqlite3.Connection,
    pool: Pool,
    event: TournamentOpened | TournamentClosed,
    beside: rules.Beside,
    moved: Collection[int],
) -> None:
    """Refuse an opening or a closing that does not fit what is told and what was played of its tournament.

    Args:
        connection: the views, level with the journal.
        pool: that of the fact, as it stands.
        event: the new fact.
        beside: facts that would come to stand together with it.
        moved: entries of facts that would stand no longer as they do.

    Raises:
        RejectedError: ``overlapping-editions``, ``edition-closed`` or ``played-after-closing``.
    """
    announced, ends = _announced_and_played(connection, pool, event, beside, moved)
    if isinstance(event, TournamentOpened):
        _refuse_overlap(event, announced)
    else:
        _refuse_early_end(event, announced, ends, pool)


def refuse_unknown_tournament(
    connection: sqlite3.Connection,
    pool: Pool,
    event: TournamentClosed,
    beside: rules.Beside,
    moved: Collection[int],
) -> None:
    """Refuse a closing under a name that neither a game nor an announcement bears: most likely it is misspelt.

    For whoever says the name: the command, proposals and their approval. ``append`` takes it, for facts arrive in any
    order: an end may come before the games that it ends, and what follows from both is the same either way. It does
    nothing until then.

    Args: as of ``refuse_misfit``.

    Raises:
        RejectedError: ``no-such-tournament``.
    """
    place = pool.pool, event.tournament, json.dumps(sorted(moved))
    named = (GameRecorded, TournamentOpened, TournamentClosed)
    if any(connection.execute(_NAMED.format(table=table), place).fetchone()[0] for table in _NAMING) or any(
        isinstance(other, named) and (other.pool, other.tournament) == (event.pool, event.tournament)
        for others in beside.values()
        for other in others
        if other is not event
    ):
        return
    names = [name for (name,) in connection.execute(_NAMES, (pool.pool,))]
    raise RejectedError(
        "no-such-tournament",
        event.key,
        f"no tournament {event.tournament!r} in pool {event.pool!r}; {did_you_mean(event.tournament, names)}no game "
        "carries that name; where its games come later, 'open-tournament' it first",
    )


def _announced_and_played(
    connection: sqlite3.Connection,
    pool: Pool,
    event: TournamentOpened | TournamentClosed,
    beside: rules.Beside,
    moved: Collection[int],
) -> tuple[Announced, list[int]]:
    """What else is told of the editions of a tournament, and when its games ended, ascending."""
    place = pool.pool, event.tournament, json.dumps(sorted(moved))
    opened = connection.execute(_OPENED, place).fetchall()
    closed = [ms for (ms,) in connection.execute(_CLOSED, place)]
    ends: list[int] = []
    _, divided, name = rules.subject_of(event).partition(":")
    for other in (*beside.get(f"opening{divided}{name}", ()), *beside.get(f"tournament{divided}{name}", ())):
        if other is event:
            continue
        if isinstance(other, TournamentOpened):
            opened.append((other.starts_at, instant_ms(other.starts_at), instant_end_ms(other.ends_at)))
        elif isinstance(other, TournamentClosed):
            closed.append(instant_end_ms(other.ended_at))
    if isinstance(event, TournamentClosed):
        ends += [ms for (ms,) in connection.execute(_ENDED, place)]
        ends += [
            instant_ms(game.ended_at)
            for game in beside.get("game", ())
            if isinstance(game, GameRecorded) and (game.pool, game.tournament) == (event.pool, event.tournament)
        ]
    announced = Announced(tuple(sorted({*closed})))
    for starts_at, first, last in opened:
        # two of one spelling have one key, of which other rules speak
        if not (isinstance(event, TournamentOpened) and starts_at == event.starts_at):
            announced = announced.opened_for(first, last)
    return announced, sorted(ends)


def _refuse_overlap(event: TournamentOpened, announced: Announced) -> None:
    first, last = instant_ms(event.starts_at), instant_end_ms(event.ends_at)
    if (first, last) in announced.opened:  # the same, spelt otherwise
        return
    met = [edition for edition in announced.editions() if edition.first_ms <= last and first <= edition.last_ms]
    if met:
        spans = " and ".join(f"from {_day(edition.first_ms)} to {_day(edition.last_ms)}" for edition in met)
        raise RejectedError(
            "overlapping-editions",
            event.key,
            f"tournament {event.tournament!r} lasts {spans}, and {_day(first)} to {_day(last)} overlaps that: let its "
            f"next edition begin after {_day(met[-1].last_ms)}; where both are one tournament, 'close-tournament' with "
            "its last day once it is over",
        )


def _refuse_early_end(event: TournamentClosed, announced: Announced, ends: Sequence[int], pool: Pool) -> None:
    over, name = instant_end_ms(event.ended_at), repr(event.tournament)
    if over in announced.closed:  # the same, spelt otherwise
        return
    by_end = editions(ends, lambda end: pool.gap_before(end) or GAP, announced)
    for edition in sorted({*by_end.values(), *announced.editions()}):
        last_ms = dict(announced.opened).get(edition.first_ms, edition.last_ms)
        if edition.last_ms in announced.closed and edition.first_ms <= over <= max(edition.last_ms, last_ms):
            raise RejectedError(
                "edition-closed",
                event.key,
                f"tournament {name}, which began on {_day(edition.first_ms)}, was closed on {_day(edition.last_ms)} "
                f"already, not on {_day(over)}, and what is recorded stays: where that was wrong, propose to correct "
                "it by 'correct'",
            )
    later = [end for end, edition in by_end.items() if end > over >= edition.first_ms]
    if later:
        raise RejectedError(
            "played-after-closing",
            event.key,
            f"games of tournament {name} ended after {_day(over)}, the last one of this edition on {_day(max(later))}: "
            f"close it on {_day(max(later))} or later; where they belong to its next edition, announce that one first "
            "with 'open-tournament'",
        )


def _day(ms: int) -> str:
    return instant_text(ms, Precision.DAY)
