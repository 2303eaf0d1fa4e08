"""Many players at once into the journal: their numbers, and an entry for each whom the journal does not have.

The caller names the players and their data: an import of games, or of a list of players.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import codec, codec_columns
from ledger.facts.events import Event, PlayerRegistered
from ledger.facts.instants import instant_text
from ledger.facts.words import Standing
from ledger.journal import Writer, rules
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
    writer: Writer,
    names: VerifiedNames,
    named: Mapping[str, str],
    stamp: str,
    actor: str,
    further: DataFrame | None = None,
) -> PlayersOfFile:
    """Number players, and append a ``player-registered/1`` for each whom the journal does not have.

    Args:
        writer: the open transaction.
        names: gives the numbers.
        named: identity -> name to show.
        stamp: recording time, at which new players join.
        actor: the recorder.
        further: data next to the name, in columns ``identity``, ``birth_year`` and ``standing``; without it new players
            are full members without further data.

    Raises:
        StorageError: the people file and the journal do not belong together.
    """
    numbered = names.assign_numbers(named, instant_text(rules.recorded_ms(stamp)), writer.find)
    persons, registered = numbered.persons, numbered.registered
    # Several spellings of an identity are one person, who is registered once.
    new = sorted({person for person in persons.values() if person.player not in registered})
    if further is None and len(new) <= _FEW:
        _append_persons(writer, new, stamp, actor)
        return PlayersOfFile(persons, new, numbered.count_other_names(named))
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
    append_rows(writer, rows, PlayerRegistered, stamp, actor)
    return PlayersOfFile(persons, new, numbered.count_other_names(named))


def _append_persons(writer: Writer, persons: Sequence[Person], stamp: str, actor: str) -> None:
    """Append the registration of full members."""
    events = [
        PlayerRegistered(
            player=person.player,
            joined_at=person.joined_at,
            standing=Standing.FULL,
            commitment=commitment_to(person),
        )
        for person in persons
    ]
    bodies = [codec.body_of(position, stamp, actor, event) for position, event in enumerate(events, writer.size + 1)]
    if bodies:
        writer.append(repeat(PlayerRegistered.KIND), [event.key for event in events], bodies)


def append_rows(writer: Writer, rows: DataFrame, kind: type[Event], stamp: str, actor: str) -> int:
    """Append an event of one kind for each row, whose columns are its fields; return their number."""
    if not len(rows):
        return 0
    bodies = codec_columns.player_bodies(rows, kind, writer.size + 1, stamp, actor)
    return len(writer.append(repeat(kind.KIND), codec_columns.player_keys(rows, kind).to_list(), bodies))
