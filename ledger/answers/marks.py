"""The marks of a game in an answer: the corrections that changed it, and the reason why it is not rated.

A game is corrected by an approved proposal that names it and that was not undone. Games of which it is one of many,
and merges of players, leave no mark: they change no fact of the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.answers.asking import names, of_one_moment
from ledger.answers.publications import Original, originals
from ledger.book.reapplied_games import game_rows, recorded_facts
from ledger.book.tables import FACT_COLUMNS
from ledger.book.timeline import BEGINNING, Pool
from ledger.correcting.corrections import Corrections
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.ratings import queries

if TYPE_CHECKING:
    import sqlite3

_SIDES = ("white", "black")
_FIELDS = {"pool", *FACT_COLUMNS}


@attrs.frozen(kw_only=True, slots=False)
class PublishedOtherwise:
    """A published list with another number of a player than the journal's current one; all null: there is none."""

    published_list: str | None = documented("name of the list")
    published_rating: float | None = documented("the player's rating on it, points; null: not on it")
    revised_rating: float | None = documented("what the journal says now of that list, points; null: not on it")


NOTHING_PUBLISHED = PublishedOtherwise(published_list=None, published_rating=None, revised_rating=None)


@attrs.frozen(kw_only=True, slots=False)
class AroundGame:
    """The additional parts of an explanation: corrections, recorded and current facts, and a published list."""

    corrected: list[int] = documented("the proposals that corrected the game and act")
    recorded: dict[str, Any] | None = documented("as recorded, the fields that stand otherwise by now; null: none does")
    stands: dict[str, Any] | None = documented("the same fields as they stand; a blank one is null")
    published: PublishedOtherwise = flattened()


def corrected_games(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, list[int]]:
    """Return, by key of a game, the proposals that corrected it and are in force; only games that are corrected."""
    # Where nothing was ever proposed, one look spares the search for each game.
    if queries.first_row(connection, queries.ANY_PROPOSAL, ()) is None:
        return {}
    subjects = orjson.dumps([f"game:{key}" for key in keys]).decode()
    proposals: dict[str, list[int]] = {}
    for row in queries.dictionaries(connection, queries.CORRECTED_GAMES, (subjects,)):
        proposals.setdefault(row["subject"].removeprefix("game:"), []).append(row["proposal"])
    return proposals


def corrected_sides(connection: sqlite3.Connection, pool: Pool, player: int) -> dict[int, list[int]]:
    """Return, by place of a player's rated game, the proposals that corrected it and are in force, if there are any."""
    if queries.first_row(connection, queries.ANY_PROPOSAL, ()) is None:
        return {}
    proposals: dict[int, list[int]] = {}
    for row in queries.dictionaries(connection, queries.CORRECTED_SIDES, (pool.pool, player)):
        proposals.setdefault(row["n"], []).append(row["proposal"])
    return proposals


@of_one_moment
def reasons_of(ledger: OpenLedger, proposals: Iterable[int]) -> dict[int, str | None]:
    """Return, by proposal, the reason; None if that was erased."""
    numbers = sorted(set(proposals))
    shown_proposals = Corrections(ledger).proposals(numbers=numbers) if numbers else ()
    return {shown.proposal.proposal: shown.reason for shown in shown_proposals}


def why_not(reason: str, voided_by: int | None, why: str | None) -> str:
    """Return why a game is not rated, in words: ``too-short``, or ``voided by proposal 3: played by a computer``."""
    if voided_by is None:
        return reason
    return f"{reason} by proposal {voided_by}" + (f": {why}" if why else "")


@of_one_moment
def not_counted(ledger: OpenLedger, pool: Pool, player: int, last: int) -> list[dict[str, Any]]:
    """Return a player's latest unrated games, newest first: rows of ``games``, each with ``why``."""
    rows = list(queries.dictionaries(ledger.views.connection, queries.NOT_COUNTED, (player, pool.pool, last)))
    reasons = reasons_of(ledger, (row["voided_by"] for row in rows if row["voided_by"] is not None))
    return [{**row, "why": reasons.get(row["voided_by"])} for row in rows]


@of_one_moment
def around_game(ledger: OpenLedger, pool: Pool, side_row: dict[str, Any], key: str) -> AroundGame:
    """Return the additional parts of an explanation.

    The list is the first one that counts the game, where it said another number of the player than it would now.

    Args:
        ledger: a ledger whose views are up to date.
        pool: the pool.
        side_row: the player's row of the history, with its place in rating order.
        key: of the game.
    """
    recorded, current = recorded_and_current(ledger, side_row["game"]) or (None, None)
    player, rated_ms = side_row["player"], side_row["rated_ms"]
    counting = (original for original in originals(ledger, pool, player) if original.publication.at_ms >= rated_ms)
    return AroundGame(
        corrected=corrected_games(ledger.views.connection, [key]).get(key, []),
        recorded=recorded,
        stands=current,
        published=published(next(counting, None)),
    )


def published(original: Original | None) -> PublishedOtherwise:
    """Return a list's number of a player, if it would be another one now."""
    if original is None or not original.is_revised:
        return NOTHING_PUBLISHED
    return PublishedOtherwise(
        published_list=original.publication.name,
        published_rating=original.published,
        revised_rating=original.revised,
    )


@of_one_moment
def published_after(ledger: OpenLedger, pool: Pool, player: int, since_ms: int = BEGINNING) -> dict[int, Original]:
    """Return, by place of a player's rated game, the last published list after it with another number than now.

    Lists of instants before *since_ms*, milliseconds since 1970, are left out.
    """
    lists: dict[int, Original] = {}
    for original in originals(ledger, pool, player, since_ms):
        if original.is_revised:
            arguments = (pool.pool, player, original.publication.at_ms)
            # Lists come in order of their instants: of several after one game the last one stays.
            row = queries.first_row(ledger.views.connection, queries.ROW_AT, arguments)
            if row is not None:
                lists[row["n"]] = original
    return lists


@of_one_moment
def recorded_and_current(ledger: OpenLedger, position: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the fields in which a game differs from its recording: as recorded, and current; None: no difference.

    Supplements count as recorded. Players have their current names; a blank field is None.

    Args:
        ledger: a ledger whose views are up to date.
        position: of the game's entry.
    """
    connection = ledger.views.connection
    pools = dict(connection.execute("SELECT pool, name FROM pools").fetchall())
    (row,) = game_rows(connection, [position])
    (recorded,) = recorded_facts(connection, [row], pools)
    # SQLite keeps 1 for what is true, and an answer would show that.
    current = {**row, "pool": pools[row["pool"]], "rated": bool(row["rated"])}
    names_of_fields = [name for name in current if name in _FIELDS and recorded.get(name) != current[name]]
    if not names_of_fields:
        return None
    called = names(ledger, {facts[side] for facts in (recorded, current) for side in _SIDES})

    def named(facts: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
        return {name: called[facts[name]] if name in _SIDES else facts.get(name) for name in fields}

    return named(recorded, names_of_fields), named(current, names_of_fields)
