"""The public form of answers that name officers or reasons: the same without these."""

from __future__ import annotations

import attrs

from ledger.answers.explanations import GameExplanation
from ledger.answers.players import PlayerSummary
from ledger.answers.rating_changes import RatingChanges
from ledger.facts.json_schemas import documented, flattened


@attrs.frozen(kw_only=True, slots=False)
class LedgerFacts:
    """The ledger, and how far it is."""

    position: int = documented("how many entries of the journal the answers follow from", minimum=0)
    alarm: str | None = documented("why the journal must not be trusted in its current state; null: nothing is wrong")
    program: str = documented("version of the program")
    pools: list[str] = documented("names of the pools")


@attrs.frozen(kw_only=True, slots=False)
class PlayerFacts:
    """A player, and what there is to say of ratings."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    identity: str | None = documented("the player's identity, such as lichess:ann; null: erased, or not shown")
    pool: str = documented("the pool")
    summary: PlayerSummary | None = documented("results and ratings; null: no rated game there, nor a list's rating")


@attrs.frozen(kw_only=True, slots=False)
class ExplainedSides:
    """The explanation of both ratings' changes by a game."""

    game: str = documented("key of the game")
    reason: str | None = documented("why it does not count; null: it does")
    white: GameExplanation | None = documented("White's side; null: the game does not count, or White is a guest")
    black: GameExplanation | None = documented("Black's side; null: the same")


@attrs.frozen(kw_only=True, slots=False)
class ChangesInParts:
    """The difference between a rating then and now, in pages: busy players have thousands of parts."""

    changes: RatingChanges = flattened()
    count: int = documented("how many parts there are in all", minimum=0)
    next: str | None = documented("where the parts that follow are; null: there are no more")


@attrs.frozen(kw_only=True, slots=False)
class PublicCorrection:
    """A correction: what is changed, and what has become of it."""

    number: int = documented("its number", minimum=1)
    state: str = documented("open, approved, rejected, withdrawn, undone, or without effect")
    changes: int = documented("how many changes it has", minimum=1)
    what: list[str] = documented("the changes in words; in a list of corrections the first, and how many more")
    proposed_at: str = documented("when it was recorded, UTC")
    decided_at: str | None = documented("when it was decided, UTC; null: it is open")


@attrs.frozen(kw_only=True, slots=False)
class PublicLogEntry:
    """An entry of the journal about a game, as strangers see it."""

    entry: int = documented("its position in the journal", minimum=1)
    recorded_at: str = documented("when it was recorded, UTC")
    what: str = documented("what it says, in words")


@attrs.frozen(kw_only=True, slots=False)
class PublicList:
    """A published list."""

    list: str = documented("its name, POOL@INSTANT/EDITION")
    pool: str = documented("the pool")
    as_of: str = documented("the instant that it is of")
    edition: int = documented("edition of the list of that instant, from 1", minimum=1)
    players: int = documented("how many players are on it", minimum=0)
    published_at: str = documented("when it was published, UTC")
    entry: int = documented("position of the journal's entry that says so", minimum=1)
    head: str = documented("from how many entries it follows, and the root of the tree over them")
    scheme: str = documented("the scheme that rated it")


@attrs.frozen(kw_only=True, slots=False)
class SchemeFacts:
    """A rating scheme of which the ledger may speak."""

    scheme: str = documented("its name")
    rates: str = documented("how many games it rates together")
    title: str = documented("what it is called")
    source: str = documented("where it is published")
    version: int = documented("version of what it works out")
