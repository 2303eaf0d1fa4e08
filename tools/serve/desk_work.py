"""The work that waits at the desk: each proposal with its game, the recorded and the proposed value, and its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ledger.answers import corrections, publications, recorded_games
from ledger.answers.asking import names
from ledger.answers.corrections import ProposalRow
from ledger.answers.recorded_games import RecordedGame
from ledger.correcting.corrections import ShownProposal
from ledger.errors import UnknownNameError
from ledger.facts.changes import Change, Verb
from ledger.facts.events import GameRecorded
from ledger.ledger import Ledger

from .page_data import Paging
from .paging import paged
from .parameters import Query

TO_DECIDE = 20  # proposals on the first page of the desk
_RESULTS = {"white": "1–0", "black": "0–1", "draw": "½–½", "none": "no result"}
_VOID = "does not count"


@attrs.frozen(kw_only=True)
class ProposalCard:
    """A proposal as an officer reads it.

    Attributes:
        row: its changes in words, its persons and reasons.
        title: the game of its first change: players, tournament, round and day; else that change in words.
        before: the recorded value; empty if the change has none.
        after: the proposed one.
        game: key of the game; None if it is about none that is recorded.
        more: the number of its other changes.
    """

    row: ProposalRow
    title: str
    before: str = ""
    after: str = ""
    game: str | None = None
    more: int = 0


@attrs.frozen(kw_only=True)
class LastList:
    """The last published list of a pool; None if there is none."""

    pool: str
    row: publications.PublishedListRow | None


@attrs.frozen(kw_only=True)
class WorkPage:
    """The first page of the desk.

    Attributes:
        open: the number of proposals that wait.
        cards: the first of them.
        lists: the last list of each pool.
    """

    open: int
    cards: Sequence[ProposalCard]
    lists: Sequence[LastList]


@attrs.frozen(kw_only=True)
class ProposalsPage:
    """A page of proposals."""

    cards: Sequence[ProposalCard]
    paging: Paging


def work(ledger: Ledger, _: Query) -> WorkPage:
    """Return the work that waits."""
    waiting = [each.proposal for each in ledger.corrections.stored(open_only=True)]
    lists = []
    for pool in ledger.pools():
        published = publications.lists(ledger, pool.name)
        lists.append(LastList(pool=pool.name, row=published[-1] if published else None))
    return WorkPage(open=len(waiting), cards=cards(ledger, waiting[:TO_DECIDE]), lists=lists)


def queue(ledger: Ledger, query: Query) -> ProposalsPage:
    """Return the proposals that wait for a decision, the oldest first."""
    numbers, paging = paged(query, [each.proposal for each in ledger.corrections.stored(open_only=True)])
    return ProposalsPage(cards=cards(ledger, numbers), paging=paging)


def history(ledger: Ledger, query: Query) -> ProposalsPage:
    """Return proposals and decisions, newest first."""
    numbers, paging = paged(query, [each.proposal for each in ledger.corrections.stored()][::-1])
    return ProposalsPage(cards=cards(ledger, numbers)[::-1], paging=paging)


def cards(ledger: Ledger, numbers: Sequence[int]) -> list[ProposalCard]:
    """Return proposals as cards, in the order of their numbers."""
    if not numbers:
        return []
    shown = list(ledger.corrections.proposals(numbers=numbers))
    rows = corrections.proposal_rows(ledger, shown)
    return [card(ledger, proposal, row) for proposal, row in zip(shown, rows, strict=True)]


def card(ledger: Ledger, proposal: ShownProposal, row: ProposalRow) -> ProposalCard:
    """Return a proposal as a card."""
    change, more = proposal.changes[0], len(proposal.changes) - 1
    (words,) = corrections.described(ledger, [change])
    if change.do is Verb.ADD and change.kind == GameRecorded.KIND:
        return ProposalCard(row=row, more=more, before="nothing", **_missed_game(ledger, change.facts or {}))
    if (change.fact or "").startswith("game:"):
        try:
            game = recorded_games.recorded_game(ledger, change.fact or "")
        except UnknownNameError:  # it is proposed, too, and not recorded yet
            return ProposalCard(row=row, title=words, more=more)
        before, after = _values(change, game)
        return ProposalCard(row=row, title=title_of(game), before=before, after=after, game=game.game, more=more)
    return ProposalCard(row=row, title=words, more=more)


def title_of(game: RecordedGame) -> str:
    """Return a game in words: players, tournament, round and day."""
    return _joined(game.white, game.black, game.tournament, game.round, game.ended_at)


def _joined(white: str, black: str, tournament: str | None, round_: str | None, ended_at: str) -> str:
    parts = [f"{white} – {black}", tournament, round_ and f"round {round_}", ended_at[:10]]
    return ", ".join(part for part in parts if part)


def _missed_game(ledger: Ledger, facts: Mapping[str, Any]) -> dict[str, str]:
    called = names(ledger, {facts["white"], facts["black"]})
    title = _joined(
        called[facts["white"]],
        called[facts["black"]],
        facts.get("tournament"),
        facts.get("round"),
        facts["ended_at"],
    )
    return {"title": f"{title}: a late game", "after": _RESULTS[facts["outcome"]]}


def _values(change: Change, game: RecordedGame) -> tuple[str, str]:
    """Return the recorded and the proposed value of a change of a game."""
    result = _RESULTS[game.outcome]
    if change.do is Verb.ANNUL:
        return result, _VOID
    if change.do is Verb.RESTORE:
        return _VOID, result
    expects, facts = change.expects or {}, change.facts or {}
    fields = [name for name in facts if facts[name] != expects.get(name)] or list(facts)
    return _in_words(fields, expects), _in_words(fields, facts)


def _in_words(fields: Sequence[str], values: Mapping[str, Any]) -> str:
    words = []
    for name in fields:
        value = values.get(name)
        blank = value in (None, "")
        if name == "outcome":
            words.append(_RESULTS[str(value)])
        else:
            words.append(f"{name.replace('_', ' ')} {'blank' if blank else value}")
    return ", ".join(words)
