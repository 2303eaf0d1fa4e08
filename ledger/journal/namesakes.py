"""Players of one name under several identities: told when a new one is registered, for they may be one person.

Only the same name counts here, whatever its case; names that look alike are the business of ``answers.alike_players``.
Two identities of one register or server are two people. Nothing is refused or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledger.facts.source_games import Fault
from ledger.journal.people import People
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

_BARE = "name"  # no register: two bare names may be one person


def are_apart(identity: str, other: str) -> bool:
    """Whether one register or server gave out both identities, so that they are two people."""
    register = identity.partition(":")[0]
    return register == other.partition(":")[0] != _BARE


def namesakes(people: People, identity: str, name: str) -> list[str]:
    """The other identities of a name, in the order of their registration.

    Args:
        people: who is registered.
        identity: of the player.
        name: the player's name.
    """
    found = {person.player: person for word in (name, name.swapcase()) for person in people.named(word)}
    return [
        person.identity
        for _, person in sorted(found.items())
        if person.identity not in {None, identity}
        and (person.name or "").lower() == name.lower()
        and person.identity is not None
        and not are_apart(identity, person.identity)
    ]


def everybody(people: People) -> DataFrame:
    """Identity and name of all who are registered, before others join them."""
    rows = [(person.identity, person.name) for persons in people.salted() for person in persons]
    return pl.DataFrame(rows, {"other": pl.String, "name": pl.String}, orient="row")


def namesakes_of(met: Sequence[DataFrame], before: DataFrame) -> list[Fault]:
    """Of players of a list (``line``, ``identity``, ``name``) who are new, a note for each that has a namesake.

    Args:
        met: the players of the list.
        before: ``everybody`` before it was taken in.
    """
    if not len(before) or not met:
        return []
    register, case = pl.col("identity").str.split(":").list.first(), pl.col("name").str.to_lowercase()
    known = before.select("other", case.alias("name"), pl.col("other").str.split(":").list.first().alias("theirs"))
    rows = pl.concat([frame.select("line", "identity", "name") for frame in met])
    fresh = rows.filter(~pl.col("identity").is_in(before["other"].implode()))
    found = (
        fresh.select("line", "identity", case.alias("name"), register.alias("ours"))
        .join(known, on="name", how="inner")
        .filter((pl.col("ours") != pl.col("theirs")) | (pl.col("ours") == _BARE))
        .unique("line", keep="first", maintain_order=True).sort("line")
    )  # fmt: skip
    columns = found.select("line", "identity", "other").iter_rows()
    return [Fault(line, also_known(identity, other)) for line, identity, other in columns]


def also_known(identity: str, other: str) -> str:
    """The words of a note."""
    return f"{identity} has the name of {other}, and may be the same person: see 'players alike'"
