"""The impact that the approval of a proposed correction would have, with the names of the players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ledger.answers.asking import in_one_snapshot, names
from ledger.answers.rankings import rating_class, shown_class_limits
from ledger.answers.sent_reports import reports_with
from ledger.correcting.previews import Impact, Move
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger

# The values of a row that occur twice, before and after.
_OF_REPORT = ("tournament", "pool", "edition", "sent_on", "since", "until")
FIGURES = ("rating", "rank", "games", "time_losses", "hera", "hera_game", "listed", "closed")


@attrs.frozen(kw_only=True, slots=False)
class MoveRow:
    """A player whose numbers in a pool would change, now and after; null: neither a rated game nor a list's rating."""

    pool: str = documented("the pool")
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    difference: float | None = documented("by how much the rating would change, points; null: none before or after")
    rating_before: float | None = documented("the rating now, points; null also for who is not listed")
    rank_before: int | None = documented("place in the ranking now; null: none", minimum=1)
    games_before: int | None = documented("rated games now", minimum=0)
    time_losses_before: int | None = documented("games lost on time now", minimum=0)
    hera_before: float | None = documented("highest rating from game 50 on now, points")
    hera_game_before: str | None = documented("key of the game in which it was reached")
    listed_before: bool | None = documented("whether the scheme lists the player now")
    closed_before: bool | None = documented("whether the account is closed now")
    class_before: str | None = documented("letter of the class now, by the policy in force; null: nobody is shown it")
    rating_after: float | None = documented("the rating after the approval, points; null also for who is not listed")
    rank_after: int | None = documented("place in the ranking then", minimum=1)
    games_after: int | None = documented("rated games then", minimum=0)
    time_losses_after: int | None = documented("games lost on time then", minimum=0)
    hera_after: float | None = documented("highest rating from game 50 on then, points")
    hera_game_after: str | None = documented("key of the game in which it was reached")
    listed_after: bool | None = documented("whether the scheme lists the player then")
    closed_after: bool | None = documented("whether the account is closed then")
    class_after: str | None = documented("letter of the class then")


@attrs.frozen(kw_only=True, slots=False)
class MovedListRow:
    """A published list whose revised ratings would change, with the player whose rating changes most."""

    list: str = documented("name of the list")
    players: int = documented("how many would have another rating, other games, or come or go", minimum=1)
    player: int | None = documented("whose rating would change most; null: no rating would change", minimum=1)
    name: str | None = documented("what that player is called")
    before: float | None = documented("that player's rating as revised now, points")
    after: float | None = documented("the same after the approval, points")


@attrs.frozen(kw_only=True, slots=False)
class MovedReportRow:
    """A report that was sent to a federation, of which a game or bye would change."""

    tournament: str = documented("name of the tournament")
    pool: str = documented("the pool of its games")
    edition: str = documented("a day of the edition")
    sent_on: str = documented("the day on which it was sent")
    since: str | None = documented("first day of its period; null: the whole tournament")
    until: str | None = documented("last day of its period; null: the whole tournament")
    results: int = documented("how many of its games and byes would change, come or go", minimum=1)


@attrs.frozen(kw_only=True, slots=False)
class ImpactSummary:
    """The numbers of games, players and changes that the approval of a proposal would affect."""

    proposal: int = documented("its number", minimum=1)
    seen: int = documented("the number of entries that it was worked out for")
    recorded_since: int = documented("how many of them came after the proposal", minimum=0)
    games: int = documented("games that would be rated again", minimum=0)
    players: int = documented("who played them, a player once for each pool", minimum=0)
    moved: int = documented("those whose rating would change, or who would come or go", minimum=0)
    seconds: float = documented("about what the approval takes, seconds")


@attrs.frozen(kw_only=True, slots=False)
class ImpactInFull:
    """The effects of the approval of a proposal on players and on published lists."""

    summary: ImpactSummary = flattened()
    lists: list[MovedListRow] = documented("published lists that would say something else, as revised")
    reports: list[MovedReportRow] = documented("reports that were sent, of which a game or bye would change")
    moves: list[MoveRow] = documented("who would stand otherwise: who would come or go first, then the largest moves")


@in_one_snapshot
def impact_in_full(ledger: OpenLedger, impact: Impact) -> ImpactInFull:
    """Return the impact of a proposal, of which numbers are known, with the names of the players."""
    largest = {listed.largest for listed in impact.lists if listed.largest is not None}
    called = names(ledger, {*largest, *(move.player for move in impact.moves)})
    limits = {pool: shown_class_limits(ledger, pool) for pool in {move.pool for move in impact.moves}}
    summary = ImpactSummary(**{field.name: getattr(impact, field.name) for field in attrs.fields(ImpactSummary)})
    lists = [
        MovedListRow(
            list=listed.name,
            players=listed.players,
            player=listed.largest,
            name=None if listed.largest is None else called[listed.largest],
            before=listed.before,
            after=listed.after,
        )
        for listed in impact.lists
    ]
    moves = [
        MoveRow(
            pool=move.pool,
            player=move.player,
            name=called[move.player],
            difference=move.difference,
            **_fields(move, limits[move.pool]),
        )
        for move in impact.moves
    ]
    reports = [
        MovedReportRow(results=count, **{name: getattr(report, name) for name in _OF_REPORT})
        for report, count in reports_with(ledger, impact.results)
    ]
    return ImpactInFull(summary=summary, lists=lists, reports=reports, moves=moves)


def _fields(move: Move, limits: Mapping[str, int] | None) -> dict[str, Any]:
    fields = move.fields(*FIGURES)
    for when, figures in (("before", move.before), ("after", move.after)):
        # A scheme keeps a rating of unlisted players as well, which is not shown.
        if figures is not None and not figures.listed:
            fields |= dict.fromkeys((f"rating_{when}", f"hera_{when}", f"hera_game_{when}"))
        fields[f"class_{when}"] = rating_class(figures.rating, limits) if figures and figures.is_ranked else None
    return fields
