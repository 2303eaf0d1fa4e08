"""The rating pools of a ledger, and the rating schemes that they adopted."""

from __future__ import annotations

import attrs

from ledger.answers.asking import in_one_snapshot
from ledger.book.timeline import Era, Pool
from ledger.facts.json_schemas import documented
from ledger.facts.words import Carry
from ledger.handle import OpenLedger
from ledger.ratings import queries
from ledger.schemes.scheme import POOL_SETTINGS

Setting = int | bool | str


@attrs.frozen(kw_only=True, slots=False)
class PoolRow:
    """A rating pool: its current and next scheme, and its numbers of players and rated games."""

    pool: str = documented("its name")
    scheme: str = documented("the scheme in force after all that is recorded; the last one where nothing is")
    settings: dict[str, Setting] = documented("its settings that differ from the scheme's defaults")
    since: str | None = documented("from when it rates; null: from the beginning")
    next_scheme: str | None = documented("the scheme that was adopted after it; null: none")
    next_since: str | None = documented("from when that one rates")
    players: int = documented("players with a rated game", minimum=0)
    rated_games: int = documented("rated games", minimum=0)


@attrs.frozen(kw_only=True, slots=False)
class ConvertedRange:
    """A range of ratings in a conversion between schemes: new = factor x old + offset."""

    from_rating: str | None = documented("ratings from here on, points as decimal text; null: from below")
    factor: str = documented("as decimal text")
    offset: str = documented("points as decimal text")


@attrs.frozen(kw_only=True, slots=False)
class EraRow:
    """A period in which a scheme rates a pool: its beginning, settings, and the conversion of ratings."""

    pool: str = documented("the pool")
    since: str | None = documented("from when it rates; null: from the beginning")
    scheme: str = documented("the scheme")
    settings: dict[str, Setting] = documented("its settings that differ from the scheme's defaults")
    carry: Carry | None = documented("what players bring along; null: they begin here")
    conversion: list[ConvertedRange] = documented("of convert, the map range by range; else none")
    position: int = documented("position of the journal's entry that says so", minimum=1)


@in_one_snapshot
def pools(ledger: OpenLedger) -> list[PoolRow]:
    """Return every rating pool of a ledger, with its current scheme."""
    by_number = {pool.pool: pool for pool in ledger.pools()}
    rows = []
    for row in queries.fetch_dicts(ledger.views.connection, queries.POOLS):
        pool = by_number[row["number"]]
        era = scheme_period_in_force(ledger, pool)
        following = next(iter(pool.eras[pool.eras.index(era) + 1 :]), None)
        rows.append(
            PoolRow(
                pool=row["pool"],
                scheme=era.scheme.name,
                settings=non_default_settings(era),
                since=era.since or None,
                next_scheme=None if following is None else following.scheme.name,
                next_since=None if following is None else following.since,
                players=row["players"],
                rated_games=row["rated_games"],
            )
        )
    return rows


@in_one_snapshot
def scheme_period_in_force(ledger: OpenLedger, pool: Pool) -> Era:
    """Return the scheme period of a pool after its last game or closing; the last one if there is none."""
    until_ms = ledger.states(pool).in_force_ms(ledger.now_ms())
    return pool.eras[-1 if until_ms is None else pool.era_at(until_ms)]


def settings_to_adopt(era: Era) -> dict[str, Setting]:
    """Return the settings that an adoption must name to continue a scheme period: those with other defaults today."""
    meant, own = era.scheme.adopted_settings(era.settings), era.scheme.complete_settings({})
    return {name: value for name, value in meant.items() if value != own.get(name)}


def setting_as_text(value: Setting) -> str:
    """Return the value of a setting as text, in the form that ``--set`` takes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@in_one_snapshot
def scheme_periods(ledger: OpenLedger) -> list[EraRow]:
    """Return the scheme periods of all pools, in order of time within each pool."""
    return [
        EraRow(
            pool=pool.name,
            since=era.since or None,
            scheme=era.scheme.name,
            settings=non_default_settings(era),
            carry=era.carry if era.since else None,
            conversion=[ConvertedRange(**attrs.asdict(conversion)) for conversion in era.conversion],
            position=era.position,
        )
        for pool in ledger.pools()
        for era in pool.eras
    ]


def non_default_settings(era: Era) -> dict[str, Setting]:
    """Return the settings of a scheme period that differ from the scheme's defaults, as they were given."""
    scheme = era.scheme
    values, defaults = era.numbers._asdict(), scheme.numbers_from({})._asdict()
    settings = scheme.adopted_settings(era.settings)
    # Compared as numbers, for the same value can be written in several ways.
    own = {name: settings[name] for name in values if values[name] != defaults[name]}
    return {
        **own,
        **{name: settings[name] for name, each in POOL_SETTINGS.items() if settings.get(name) != each.default},
    }
