"""Marks of a game in answers: its corrections, the reason why it is not rated, and published lists that differ now.

A game is corrected by an approved proposal that names it and that was not undone. Corrections of many games at once,
and merges of players, leave no mark: they change no fact of the game.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import orjson

from ledger.answers.asking import in_one_snapshot, names
from ledger.answers.publications import PublishedRating, published_ratings
from ledger.book.reapplied_games import game_rows, recorded_facts
from ledger.book.tables import FACT_COLUMNS
from ledger.book.timeline import BEGINNING, Pool
from ledger.correcting.corrections import Corrections
from ledger.facts.changes import Verb
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.ratings import queries
from ledger.schemes.scheme import GUEST, REASONS

_SIDES = ("white", "black")
_FIELDS = {"pool", *FACT_COLUMNS}


@attrs.frozen(kw_only=True, slots=False)
class OutdatedList:
    """A published list on which a player's rating differs from the current facts; all null: there is none."""

    published_list: str | None = documented("name of the list")
    published_rating: float | None = documented("the player's rating on it, points; null: not on it")
    revised_rating: float | None = documented("what the journal says now of that list, points; null: not on it")


NO_OUTDATED_LIST = OutdatedList(published_list=None, published_rating=None, revised_rating=None)


@attrs.frozen(kw_only=True, slots=False)
class GameMarks:
    """The corrections of a game, its recorded and current facts, and the published list that differs now."""

    corrected: list[int] = documented("the proposals that corrected the game and act")
    recorded: dict[str, Any] | None = documented("as recorded, the fields that stand otherwise by now; null: none does")
    stands: dict[str, Any] | None = documented("the same fields as they stand; a blank one is null")
    published: OutdatedList = flattened()


@in_one_snapshot
def corrections_by_game(ledger: OpenLedger, keys: Sequence[str]) -> dict[str, list[int]]:
    """Return the proposals in force that corrected games, by key of a game; games without a correction are left out."""
    subjects = orjson.dumps([f"game:{key}" for key in keys]).decode()
    by_subject = _proposals(ledger, queries.CORRECTED_GAMES, (subjects,), "subject")
    return {subject.removeprefix("game:"): proposals for subject, proposals in by_subject.items()}


@in_one_snapshot
def corrections_by_rated_game(ledger: OpenLedger, pool: Pool, player: int) -> dict[int, list[int]]:
    """Return the proposals in force that corrected a player's rated games, by number of a game, from 1."""
    return _proposals(ledger, queries.CORRECTED_SIDES, (pool.pool, player), "n")


def _proposals(ledger: OpenLedger, query: str, arguments: tuple[object, ...], column: str) -> dict[Any, list[int]]:
    connection = ledger.views.connection
    proposals: defaultdict[Any, list[int]] = defaultdict(list)
    # If nothing was ever proposed, one look spares the search for each game.
    if queries.fetch_first(connection, queries.ANY_PROPOSAL, ()) is not None:
        for row in queries.fetch_dicts(connection, query, arguments):
            proposals[row[column]].append(row["proposal"])
    return dict(proposals)


@in_one_snapshot
def proposal_reasons(ledger: OpenLedger, proposals: Iterable[int]) -> dict[int, str | None]:
    """Return the reasons of proposals by their numbers; None for an erased reason."""
    numbers = sorted(set(proposals))
    shown_proposals = Corrections(ledger).proposals(numbers=numbers) if numbers else ()
    return {shown.proposal.proposal: shown.reason for shown in shown_proposals}


@in_one_snapshot
def taken_back_imports(ledger: OpenLedger, proposals: Iterable[int]) -> set[int]:
    """Return those of some proposals, by number, that took a whole import back."""
    numbers = sorted(set(proposals))
    shown_proposals = Corrections(ledger).proposals(numbers=numbers) if numbers else ()
    return {
        shown.proposal.proposal
        for shown in shown_proposals
        if any(change.do is Verb.ANNUL_ENTRIES for change in shown.changes)
    }


def unrated_reason(reason: str, voided_by: int | None, why: str | None) -> str:
    """Return the reason why a game is not rated, such as ``voided by proposal 3: played by a computer``."""
    if voided_by is None:
        return reason
    return f"{reason} by proposal {voided_by}" + (f": {why}" if why else "")


@in_one_snapshot
def unrated_games(ledger: OpenLedger, pool: Pool, player: int, last: int) -> list[dict[str, Any]]:
    """Return a player's latest games that do not count for the player, newest first: rows of ``games`` and ``why``."""
    rows = list(queries.fetch_dicts(ledger.views.connection, queries.NOT_COUNTED, (player, pool.pool, last)))
    reasons = proposal_reasons(ledger, (row["voided_by"] for row in rows if row["voided_by"] is not None))
    # that of a guest counts for the opponent alone
    return [{**row, "reason": row["reason"] or REASONS[GUEST], "why": reasons.get(row["voided_by"])} for row in rows]


@in_one_snapshot
def game_marks(ledger: OpenLedger, pool: Pool, side_row: dict[str, Any], key: str) -> GameMarks:
    """Return the marks of a player's game, by its key.

    *side_row* is the player's row of the history with ``rated_ms``.

    The published list is the first one that counts the game, if the player's rating on it would be another one now.
    """
    recorded, current = corrected_fields(ledger, side_row["game"]) or (None, None)
    player, rated_ms = side_row["player"], side_row["rated_ms"]
    counting = (
        original for original in published_ratings(ledger, pool, player) if original.publication.at_ms >= rated_ms
    )
    return GameMarks(
        corrected=corrections_by_game(ledger, [key]).get(key, []),
        recorded=recorded,
        stands=current,
        published=outdated_list(next(counting, None)),
    )


def outdated_list(original: PublishedRating | None) -> OutdatedList:
    """Return a published list as an outdated one, if the player's rating on it would be another one now."""
    if original is None or not original.is_revised:
        return NO_OUTDATED_LIST
    return OutdatedList(
        published_list=original.publication.name,
        published_rating=original.published,
        revised_rating=original.revised,
    )


@in_one_snapshot
def outdated_lists(
    ledger: OpenLedger, pool: Pool, player: int, since_ms: int = BEGINNING
) -> dict[int, PublishedRating]:
    """Return the first outdated list after each rated game of a player, by number of the game, from 1.

    Lists of instants before *since_ms*, milliseconds since 1970, are left out.
    """
    lists: dict[int, PublishedRating] = {}
    for original in published_ratings(ledger, pool, player, since_ms):
        if original.is_revised:
            arguments = (pool.pool, player, original.publication.at_ms)
            # Lists come in order of their instants: of several after one game the first one is named.
            row = queries.fetch_first(ledger.views.connection, queries.ROW_AT, arguments)
            if row is not None:
                lists.setdefault(row["n"], original)
    return lists


@in_one_snapshot
def corrected_fields(ledger: OpenLedger, position: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the fields of the game at *position* that corrections changed, as recorded and as now; None: no field.

    Supplements count as recorded. Players have their current names; a blank field is None.
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
