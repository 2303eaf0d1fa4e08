"""Data about players at an instant: sex, title, federation, birth, club, national number, activity.

The views have the commitments with their days, the people file has the data. Data that were first stated later than
the instant fill what nobody had stated by then; those of erased players are gone.
"""

from __future__ import annotations

import json
from collections.abc import Collection

import attrs

from ledger.answers.asking import day, in_one_snapshot
from ledger.book import decisions
from ledger.book.stored_proposals import load_merges
from ledger.facts.player_details import NO_DETAILS, PlayerDetails, details_by_commitment
from ledger.handle import OpenLedger

_ALL = "SELECT player, effective_ms, details FROM player_details ORDER BY effective_ms, number, position"
_FEW = 10_000  # players who are looked up by their numbers; more are found among all
_OF_PLAYERS = (
    "SELECT player, effective_ms, details FROM player_details WHERE player IN (SELECT value FROM json_each(?1)) "
    "ORDER BY effective_ms, number, position"
)


@attrs.frozen(kw_only=True)
class PlayerGroup:
    """A group of players by their data; every condition that is given must hold.

    Attributes:
        federation: code of the federation.
        club: name of the club, in upper or lower case.
        women: True for women alone.
        juniors: the highest age in years that is reached in the year of the instant.
        seniors: the lowest age in years that is reached in that year.
        listed_active: True for players whom no list calls inactive.
    """

    federation: str | None = None
    club: str | None = None
    women: bool = False
    juniors: int | None = None
    seniors: int | None = None
    listed_active: bool = False

    @property
    def is_everybody(self) -> bool:
        """True if there is no condition."""
        return self == EVERYBODY

    def __contains__(self, member: tuple[PlayerDetails, int]) -> bool:
        """Return whether a player with these data is in the group in a year."""
        details, year = member
        age = None if details.birth is None else year - int(details.birth[:4])
        return (
            (self.federation is None or details.federation == self.federation.upper())
            and (self.club is None or (details.club or "").casefold() == self.club.casefold())
            and (not self.women or details.sex == "w")
            and (self.juniors is None or (age is not None and age <= self.juniors))
            and (self.seniors is None or (age is not None and age >= self.seniors))
            and (not self.listed_active or details.active is not False)
        )

    def select(self, ledger: OpenLedger, players: Collection[int], at_ms: int) -> set[int]:
        """Return those of some players who are in the group at an instant."""
        year = int(day(at_ms)[:4])
        details = details_at(ledger, players if len(players) < _FEW else None, at_ms)
        return {player for player in players if (details.get(player, NO_DETAILS), year) in self}


EVERYBODY = PlayerGroup()


@in_one_snapshot
def details_at(
    ledger: OpenLedger, players: Collection[int] | None, at_ms: int, *, is_strict: bool = False
) -> dict[int, PlayerDetails]:
    """Return the data about players at an instant, by number of the person; players without any are left out.

    Args:
        ledger: the ledger.
        players: numbers of persons; None: all.
        at_ms: milliseconds since 1970; the statements of that instant count.
        is_strict: later statements fill nothing.
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
        if said is None or (is_strict and effective_ms > at_ms):
            continue
        player = decisions.person_of(merges, number)
        before = now.get(player)
        if before is None:  # of most players one list states all
            now[player] = said
        else:
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
