"""Many players at once into the journal: their numbers, and an entry for each whom the journal does not have.

The caller names the players and their data: an import of games, or of a list of players.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import codec_columns
from ledger.facts.events import Event, PlayerRegistered
from ledger.facts.instants import instant_text
from ledger.facts.words import Standing
from ledger.journal.transactions import Entries, Transaction
from ledger.players.persons import Person
from ledger.players.verified_names import VerifiedNames, commitment_to
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame


_FEW = 200  # new players who are registered as rows: to load Polars takes as long as to write 10,000


class PlayersOfFile(NamedTuple):
    """The players of a file after their registration.

    Attributes:
        persons: the person behind each identity.
        new: newly registered players, in the order of the numbers.
        kept_names: number of renamed players whom the file calls by another name: they keep the present one.
    """

    persons: dict[str, Person]
    new: list[Person]
    kept_names: int


def register(
    transaction: Transaction, names: VerifiedNames, named: Mapping[str, str], further: DataFrame | None = None
) -> PlayersOfFile:
    """Number players, and append a ``player-registered/1`` for each whom the journal does not have.

    Args:
        transaction: takes the entries; new players join at its time.
        names: gives the numbers.
        named: identity -> name to show.
        further: data next to the name, in columns ``identity``, ``birth_year`` and ``standing``; without it new players
            are full members without further data.

    Raises:
        StorageError: the people file and the journal do not belong together.
    """
    joined_at = instant_text(transaction.now_ms)
    numbered = names.assign_numbers(named, joined_at, transaction.writer.find)
    persons, registered = numbered.persons, numbered.registered
    # Several spellings of an identity are one person, who is registered once.
    new = sorted({person for person in persons.values() if person.player not in registered})
    outcome = PlayersOfFile(persons, new, numbered.count_other_names(named))
    if further is None and len(new) <= _FEW:
        transaction.append(
            PlayerRegistered(
                player=person.player,
                joined_at=person.joined_at,
                standing=Standing.FULL,
                commitment=commitment_to(person),
            )
            for person in new
        )
        return outcome
    rows = pl.DataFrame(
        {
            "player": [person.player for person in new],
            "joined_at": [person.joined_at for person in new],
            "commitment": [commitment_to(person) for person in new],
        },
        schema={"player": pl.Int64, "joined_at": pl.String, "commitment": pl.String},
    )
    full = pl.lit(Standing.FULL.value)
    if further is None:
        rows = rows.with_columns(standing=full)
    else:
        numbers = pl.Series("player", [persons[identity].player for identity in further["identity"]], pl.Int64)
        by_player = further.select(numbers, "birth_year", pl.col("standing").fill_null(full))
        rows = rows.join(by_player, on="player", how="left", maintain_order="left")
    append_rows(transaction, rows, PlayerRegistered)
    return outcome


def append_rows(transaction: Transaction, rows: DataFrame, kind: type[Event]) -> int:
    """Append an event of one kind for each row, whose columns are its fields; return their number."""
    if not len(rows):
        return 0
    entries = Entries(transaction)
    bodies = codec_columns.bodies(rows, entries.first, transaction.recorded_at, transaction.actor, kind)
    entries.extend(kind.KIND, codec_columns.keys(rows, kind).to_list(), bodies)
    return len(entries.append())
