"""The pools of a ledger and the schemes that rate them, as plain dictionaries."""

from __future__ import annotations

from typing import Any

from attrs import asdict

from ledger.answers.moments import of_one_moment
from ledger.book.timeline import Era, Pool
from ledger.ledger import Ledger
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates
from ledger.schemes.newcomers import POOL_SETTINGS


@of_one_moment
def pools(ledger: Ledger) -> list[dict[str, Any]]:
    """Every pool: what rates it, with which settings, since when, how many players and rated games it has.

    That is the scheme in force after all that is recorded, and the last one where nothing is; ``next_scheme`` and
    ``next_since`` are the adoption that comes after it, None where there is none.
    """
    known = {pool.pool: pool for pool in ledger.pools()}
    found = []
    for row in queries.dictionaries(ledger.views.connection, queries.POOLS):
        pool = known[row.pop("number")]
        era = era_in_force(ledger, pool)
        following = next(iter(pool.eras[pool.eras.index(era) + 1 :]), None)
        found.append(
            {
                "pool": row.pop("pool"),
                "scheme": era.scheme.name,
                "settings": chosen(era),
                "since": era.since or None,
                "next_scheme": None if following is None else following.scheme.name,
                "next_since": None if following is None else following.since,
                **row,
            }
        )
    return found


@of_one_moment
def era_in_force(ledger: Ledger, pool: Pool) -> Era:
    """The era of a pool that is in force after all that is recorded; the last one where nothing is."""
    until_ms = PlayerStates(ledger.views.connection, pool).recorded_until_ms
    return pool.eras[-1 if until_ms is None else pool.era_at(until_ms)]


def to_adopt(era: Era) -> dict[str, int | bool | str]:
    """The settings that an adoption must name to go on as an era does: those that it would have otherwise now."""
    meant, own = era.scheme.meant(era.settings), era.scheme.in_full({})
    return {name: value for name, value in meant.items() if value != own.get(name)}


def as_word(value: int | bool | str) -> str:
    """The value of a setting as ``--set`` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@of_one_moment
def eras(ledger: Ledger) -> list[dict[str, Any]]:
    """Every adoption of a scheme, by pool and in order of time."""
    return [
        {
            "pool": pool.name,
            "since": era.since or None,
            "scheme": era.scheme.name,
            "settings": chosen(era),
            "carry": era.carry.value if era.since else None,
            "conversion": [asdict(conversion) for conversion in era.conversion],
            "position": era.position,
        }
        for pool in ledger.pools()
        for era in pool.eras
    ]


def chosen(era: Era) -> dict[str, int | bool | str]:
    """The settings of an era that differ from its scheme's defaults, as they were given."""
    scheme = era.scheme
    values, defaults = era.numbers._asdict(), scheme.numbers_from({})._asdict()
    given = scheme.meant(era.settings)
    own = {name: given[name] for name in values if values[name] != defaults[name]}
    return {**own, **{name: given[name] for name in POOL_SETTINGS if given[name]}}
