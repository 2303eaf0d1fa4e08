"""What is new as Atom (RFC 4287), for people who follow it in a reader: lists, corrections, the games of one player.

An entry is named by the address of its page, which is permanent. Later news of it, as when a correction is
decided or undone, changes the entry and its ``updated``; that is always an instant of the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from ledger.answers import corrections as answers
from ledger.answers import player_games, recorded_games
from ledger.answers.asking import names
from ledger.correcting.corrections import ProposalDetails
from ledger.facts.changes import Verb
from ledger.facts.events import Decision
from ledger.ledger import Ledger

from . import get_handlers
from .get_handlers import Redirection
from .parameters import Parameter, Query
from .routes import POOL, Cost, Route

MEDIA = "application/atom+xml; charset=utf-8"
TEMPLATE = "atom.xml"
ENTRIES = 30  # the latest ones
NEVER = "1970-01-01T00:00:00Z"  # when a feed without entries was updated
_RESULT = {("white", "win"): "1-0", ("black", "win"): "0-1", ("white", "loss"): "0-1", ("black", "loss"): "1-0"}


@attrs.frozen(kw_only=True)
class SiteAddress:
    """An address within the site: a path with ``{}`` for each of the parts, and its query."""

    path: str
    parts: tuple[object, ...] = ()
    query: Mapping[str, object] = MappingProxyType({})


@attrs.frozen(kw_only=True)
class News:
    """An entry of a feed.

    Attributes:
        page: its page, by which it is called.
        title: what it is, in a line.
        published: when it was recorded, UTC.
        updated: when it was last said otherwise, UTC.
        summary: more of it.
    """

    page: SiteAddress
    title: str
    published: str
    updated: str
    summary: str


@attrs.frozen(kw_only=True)
class AtomFeed:
    """A feed: its title, where it is itself, the page that shows the same, and what is new, the latest first."""

    title: str
    place: SiteAddress
    page: SiteAddress
    entries: Sequence[News]

    @property
    def updated(self) -> str:
        """When any of it was."""
        return max((entry.updated for entry in self.entries), default=NEVER)


def lists(ledger: Ledger, _: Query) -> AtomFeed:
    """Return the lists that were published last."""
    entries = [
        News(
            page=SiteAddress(path="/lists/{}", parts=(row.list.partition("/")[0],), query={"edition": row.edition}),
            title=f"{row.pool}: list of {row.as_of}" + (f", edition {row.edition}" if row.edition > 1 else ""),
            published=row.published_at,
            updated=row.published_at,
            summary=f"{row.players:,} players, rated by {row.scheme}",
        )
        for row in get_handlers.lists(ledger, {"pool": None})[:ENTRIES]
    ]
    return AtomFeed(
        title="Published lists", place=SiteAddress(path="/lists.atom"), page=SiteAddress(path="/lists"), entries=entries
    )


def corrections(ledger: Ledger, _: Query) -> AtomFeed:
    """Return the corrections that were proposed, decided or undone last."""
    touched = _touched_last(ledger)
    updated = _updated(touched)
    latest = sorted(touched, key=lambda shown: (updated[shown.proposal.proposal], shown.proposal.proposal))[-ENTRIES:]
    entries = [
        News(
            page=SiteAddress(path="/corrections/{}", parts=(row.number,)),
            title=f"Correction {row.number}: {row.state}",
            published=row.proposed_at,
            updated=updated[row.number],
            summary="; ".join(row.what),
        )
        for row in map(get_handlers.public, answers.proposal_rows(ledger, latest[::-1]))
    ]
    return AtomFeed(
        title="Corrections",
        place=SiteAddress(path="/corrections.atom"),
        page=SiteAddress(path="/corrections"),
        entries=entries,
    )


def _touched_last(ledger: Ledger) -> list[ProposalDetails]:
    """Return the corrections of the latest entries, and a few more: those that one undoes change with it."""
    by_last = sorted(ledger.corrections.stored(), key=lambda each: -(each.decided_position or each.position))
    touched: dict[int, ProposalDetails] = {}
    waiting = [each.proposal for each in by_last[ENTRIES - 1 :: -1]]  # the latest of all is the last one
    while waiting:
        number = waiting.pop()
        if number in touched:
            continue
        (touched[number],) = ledger.corrections.proposals(numbers=[number])
        if touched[number].proposal.decision == Decision.APPROVED:
            changes = touched[number].changes
            waiting += [each.proposal for each in changes if each.do == Verb.UNDO and each.proposal is not None]
    return [touched[number] for number in sorted(touched)]


def _updated(every: Sequence[ProposalDetails]) -> dict[int, str]:
    """By number, when a correction was last proposed, decided, undone or brought back; undone ones are older."""
    updated: dict[int, str] = {}
    touched: dict[int, str] = {}
    for shown in sorted(every, key=lambda each: -each.proposal.proposal):
        number = shown.proposal.proposal
        updated[number] = max(shown.decided_at or shown.proposed_at, touched.get(number, ""))
        if shown.proposal.decision == Decision.APPROVED:
            for change in shown.changes:
                if change.do == Verb.UNDO and change.proposal is not None:
                    touched[change.proposal] = max(touched.get(change.proposal, ""), updated[number])
    return updated


def games(ledger: Ledger, query: Query) -> AtomFeed | Redirection:
    """Return the games of a player that were played last."""
    person = get_handlers.player_asked(ledger, query["player"])
    more = {"pool": query["pool"]}
    if query["player"] != str(person.player):
        return Redirection("/players/{}/games.atom", (person.player,), query["player"].isdecimal(), more)
    pool = ledger.pool(query["pool"]).name
    rows = player_games.games(ledger, person, pool, last=ENTRIES) if get_handlers.is_rated(ledger, person, pool) else []
    called = names(ledger, {person.player})[person.player]
    return AtomFeed(
        title=f"Games of {called}",
        place=SiteAddress(path="/players/{}/games.atom", parts=(person.player,), query=more),
        page=SiteAddress(path="/players/{}/games", parts=(person.player,), query=more),
        entries=[_game(ledger, called, row) for row in rows],
    )


def _game(ledger: Ledger, called: str, row: player_games.PlayerGame) -> News:
    log = recorded_games.game_log(ledger, f"#{row.entry}")
    white, black = (called, row.opponent) if row.colour == "white" else (row.opponent, called)
    result = _RESULT.get((row.colour, row.result or ""), "½-½" if row.result == "draw" else "")
    words = [f"ended {row.ended_at}", row.termination.replace("-", " ")]
    words += [] if row.tournament is None else [row.tournament + (f", round {row.round}" if row.round else "")]
    words += [] if row.rating is None else [f"rating of {called} after it: {row.rating:,.0f}"]
    return News(
        page=SiteAddress(path="/games/{}", parts=(row.game,)),
        title=f"{white} – {black} {result}".rstrip(),
        published=log[0].recorded_at,
        updated=max(entry.recorded_at for entry in log),
        summary="; ".join(words),
    )


def _feed(path: str, ask: Callable[[Ledger, Query], Any], *parameters: Parameter) -> Route:
    return Route(
        path=path, ask=ask, form=None, template=TEMPLATE, parameters=parameters, prefix="", media=(MEDIA,),
        cost=Cost.SCAN,
    )  # fmt: skip


ROUTES: tuple[Route, ...] = (
    _feed("/lists.atom", lists),
    _feed("/corrections.atom", corrections),
    _feed("/players/{player}/games.atom", games, POOL),
)
