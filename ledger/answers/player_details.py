"""Data about players at an instant: sex, title, federation, birth, club, national number, activity.

The views have the commitments with their days, the people file has the data. Data that were first stated later than
the instant fill what nobody had stated by then; those of erased players are gone.
"""

from __future__ import annotations

import json
from collections.abc import Collection

import attrs

from ledger.answers.asking import in_one_snapshot
from ledger.book import decisions
from ledger.book.stored_proposals import load_merges
from ledger.handle import OpenLedger
from ledger.players.details import NO_DETAILS, PlayerDetails, details_by_commitment

_ALL = "SELECT player, effective_ms, details FROM player_details ORDER BY effective_ms, number, position"
_OF_PLAYERS = (
    "SELECT player, effective_ms, details FROM player_details WHERE player IN (SELECT value FROM json_each(?1)) "
    "ORDER BY effective_ms, number, position"
)


@in_one_snapshot
def details_at(ledger: OpenLedger, players: Collection[int] | None, at_ms: int) -> dict[int, PlayerDetails]:
    """Return the data about players at an instant, by number of the person; players without any are left out.

    Args:
        ledger: the ledger.
        players: numbers of persons; None: all.
        at_ms: milliseconds since 1970; the statements of that instant count.
    """
    connection = ledger.views.connection
    merges = load_merges(connection)
    if players is None:
        rows = connection.execute(_ALL).fetchall()
    else:
        asked = set(players)
        numbers = asked | {number for number in merges if decisions.person_of(merges, number) in asked}
        rows = connection.execute(_OF_PLAYERS, (json.dumps(sorted(numbers)),)).fetchall()
    data = details_by_commitment(ledger.people.reasons.texts([row[2] for row in rows])) if rows else {}
    now: dict[int, PlayerDetails] = {}
    for number, effective_ms, commitment in rows:
        said = data.get(commitment)
        if said is None:
            continue
        player = decisions.person_of(merges, number)
        before = now.get(player, NO_DETAILS)
        now[player] = before.updated(said) if effective_ms <= at_ms else said.updated(before)
    return _with_birth_years(ledger, now, players)


def _with_birth_years(
    ledger: OpenLedger, details: dict[int, PlayerDetails], players: Collection[int] | None
) -> dict[int, PlayerDetails]:
    """Return the data with the years of birth that the journal has, where no date of birth is stated."""
    query = "SELECT player, birth_year FROM players WHERE birth_year IS NOT NULL"
    arguments: tuple[str, ...] = ()
    if players is not None:
        query += " AND player IN (SELECT value FROM json_each(?1))"
        arguments = (json.dumps(sorted(players)),)
    for player, year in ledger.views.connection.execute(query, arguments):
        stated = details.get(player, NO_DETAILS)
        if stated.birth is None:
            details[player] = attrs.evolve(stated, birth=str(year))
    return details
