"""Drafting the changes of a proposal: each names the corrected entry and the values that it has now.

Also the entries of a proposal and of its approval. Nothing is recorded; ``book.proposal_judge`` decides whether a
change may be proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import attrs
import orjson

from ledger import schemes
from ledger.book import initial_ratings
from ledger.book.conflicts import Fact, WhatIfFacts
from ledger.book.stored_proposals import StoredProposals
from ledger.correcting.imported import take_back
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.changes import BLANK, MOST_CHANGES, AnnulmentScope, Change, Verb
from ledger.facts.events import CorrectionProposed, Event, GameRecorded, PlayerChanged, SchemeAdopted
from ledger.facts.instants import instant_ms
from ledger.facts.words import Outcome, Standing, Termination, becomes_drawn_by_time, result_fault
from ledger.handle import OpenLedger
from ledger.journal.game_references import find_game
from ledger.runtime.calls import checked_methods
from ledger.runtime.nearest import expected_names
from ledger.runtime.visible import is_storable

_SIDES = ("white", "black")


@checked_methods
@attrs.frozen
class Drafts:
    """The drafts of one ledger: methods that return the changes of a proposal, from facts that are up to date."""

    ledger: OpenLedger

    def _called(self, player: int) -> str:
        person = self.ledger.people.by_number([player]).get(player)
        return f"{person.name} ({player})" if person and person.name else str(player)

    def fact(self, key: str) -> Fact:
        """Return a fact as corrected, by a key such as ``game:...``, ``scheme:standard@2006`` or ``player:7``.

        Raises:
            UnknownNameError: the journal has no such fact.
        """
        self.ledger.ensure_up_to_date()
        facts = WhatIfFacts(self.ledger.views.connection, self.ledger.journal)
        fact = facts.fact(key) if is_storable(key) else None
        if fact is None:
            raise UnknownNameError("fact", key, "give its key as 'log' shows it")
        return fact

    def game(self, key: str) -> str:
        """Return the journal key of a game, by a reference as ``find_game`` takes it."""
        return f"game:{find_game(self.ledger.journal, key)[0]}"

    def replace(self, key: str, fields: Mapping[str, Any]) -> Change:
        """Return the change that replaces the values of some fields of a fact; None or the empty text blanks one.

        If a game's new result contradicts its recorded termination and *fields* names none, the change sets that to
        unknown.

        Raises:
            UnknownNameError: there is no such fact.
            MalformedError: facts of its kind have no such field.
        """
        fact = self.fact(key)
        names = [field.name for field in attrs.fields(fact.cls)]
        if faults := [
            f"no field {name!r} in {key!r}; {expected_names(str(name), names)}" for name in fields if name not in names
        ]:
            raise MalformedError(faults)
        # of an enumeration the word is kept, whichever of the two was given
        words = {name: value.value if isinstance(value, StrEnum) else value for name, value in fields.items()}
        values = {name: BLANK if value is None else value for name, value in words.items()}
        if fact.cls is SchemeAdopted:
            values |= _settings_in_full(fact, values)
        if fact.cls is GameRecorded and "outcome" in values and values.get("termination") is None:
            former, outcome, ending = fact.facts["outcome"], values["outcome"], fact.facts["termination"]
            # the judge refuses an outcome that is none
            is_another = outcome != former and outcome in set(Outcome)
            if is_another and (becomes_drawn_by_time(former, outcome, ending) or result_fault(outcome, ending)):
                values["termination"] = Termination.UNKNOWN.value
        expects = {name: fact.facts.get(name, BLANK) for name in values}
        return Change(do=Verb.REPLACE, fact=key, entry=fact.entry, expects=expects, facts=values)

    def annul(self, key: str) -> Change:
        """Return the change that annuls a fact, as if it had never been recorded; it voids a game."""
        return Change(do=Verb.ANNUL, fact=key, entry=self.fact(key).entry)

    def restore(self, key: str) -> Change:
        """Return the change that restores an annulled fact."""
        return Change(do=Verb.RESTORE, fact=key, entry=self.fact(key).entry)

    def reassign(self, game: str, player: int, to: int) -> Change:
        """Return the change that replaces the player who has White or Black in a game by another player.

        Args:
            game: the journal key of the game.
            player: the number of the present player of that side.
            to: the number of the player who played.

        Raises:
            UnknownNameError: the player did not play in it.
        """
        facts = self.fact(game).facts
        for side in _SIDES:
            if facts[side] == player:
                return self.replace(game, {side: to})
        sides = f"White is {self._called(facts['white'])}, Black is {self._called(facts['black'])}"
        raise UnknownNameError("player", self._called(player), sides, where=f"in {game!r}")

    @staticmethod
    def add(event: Event) -> Change:
        """Return the change that adds a missing fact, which the approval records; an adoption gets every setting."""
        if isinstance(event, SchemeAdopted):
            event = schemes.complete_adoption(event)
        return Change(do=Verb.ADD, fact=event.key, kind=event.KIND, facts=codec.facts_mapping(event))

    def close_account(self, player: int, since: str) -> Change:
        """Return the change that takes a player off the lists from an instant on; the games stay."""
        return self.add(PlayerChanged(player=player, effective_at=since, standing=Standing.CLOSED))

    def declare(self, player: int, rating: int, since: str) -> Change:
        """Return the change that sets a player's declared rating, in rating points, from an instant on.

        The membership status stays.
        """
        self.ledger.ensure_up_to_date()
        # the event has rating and membership status together: a change of one must not change the other
        standing = Standing(initial_ratings.standing_at(self.ledger.views.connection, player, instant_ms(since)))
        return self.add(PlayerChanged(player=player, effective_at=since, standing=standing, declared_rating=rating))

    @staticmethod
    def annul_games(player: int, which: AnnulmentScope, since: str | None = None, until: str | None = None) -> Change:
        """Return the change that voids a player's rated games between two instants, or only those they won."""
        return Change(do=Verb.ANNUL_GAMES, player=player, which=which, since=since, until=until)

    @staticmethod
    def merge(player: int, into: int) -> Change:
        """Return the change that merges a player into another one, the same person, whose number stays."""
        return Change(do=Verb.MERGE, player=player, into=into)

    def unmerge(self, player: int) -> Change:
        """Return the change that undoes a player's merge.

        Raises:
            UnknownNameError: the player is not merged.
        """
        self.ledger.ensure_up_to_date()
        merges = WhatIfFacts(self.ledger.views.connection, self.ledger.journal).proposals.merges
        if player not in merges:
            raise UnknownNameError("merge of player", self._called(player), "see 'correct list'")
        # The one merge of this player: where the other was merged further, that stays.
        return Change(do=Verb.PART, player=player, into=merges[player])

    @staticmethod
    def tournament(
        pool: str, tournament: str, *, restore: bool = False, since: str | None = None, until: str | None = None
    ) -> Change:
        """Return the change that voids or restores all games of a tournament that ended between two instants."""
        verb = Verb.RESTORE_TOURNAMENT if restore else Verb.ANNUL_TOURNAMENT
        return Change(do=verb, pool=pool, tournament=tournament, since=since, until=until)

    def take_back(self, reference: str) -> Change:
        """Return the change that takes back what an import brought, as ``imported.take_back`` does."""
        return take_back(self.ledger, reference).change

    @staticmethod
    def undo(proposal: int) -> Change:
        """Return the change that undoes an approved proposal."""
        return Change(do=Verb.UNDO, proposal=proposal)


def _settings_in_full(fact: Fact, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of an adoption whose scheme or settings change, and the current versions of its code."""
    scheme = values.get("scheme", fact.facts["scheme"])
    if values.keys().isdisjoint({"scheme", "settings"}) or scheme not in schemes.available_schemes():
        return {}  # the judge refuses an unknown scheme
    adoption = SchemeAdopted(pool=fact.facts["pool"], scheme=scheme, settings=values.get("settings", {}))
    # As an adoption is recorded: in full, so that a new default never changes it, and with the versions, which
    # explain numbers that cannot be reproduced.
    full = schemes.complete_adoption(adoption)
    return {"settings": dict(full.settings), "scheme_version": full.scheme_version, "arithmetic": full.arithmetic}


MOST_BYTES = 40_000  # of the changes in one part, far from what a body may hold


def entries_of_proposal(
    number: int, changes: Sequence[Change], reason: str, *, proven: bool, by_token: int | None = None
) -> list[CorrectionProposed]:
    """Return the entries of a proposal: as many as its changes need.

    Raises:
        MalformedError: one change alone is too long.
    """
    parts: list[list[Change]] = [[]]
    room = MOST_BYTES
    for place, change in enumerate(changes, 1):
        size = len(orjson.dumps(change.plain()))
        if size > MOST_BYTES:
            raise MalformedError([f"change {place} has {size} bytes, more than {MOST_BYTES} @ $.changes"])
        if size > room or len(parts[-1]) == MOST_CHANGES:
            parts.append([])
            room = MOST_BYTES
        parts[-1].append(change)
        room -= size
    return [
        CorrectionProposed(
            proposal=number,
            part=part,
            parts=len(parts),
            changes=tuple(share),
            reason=reason,
            proven=proven,
            by_token=by_token,
        )
        for part, share in enumerate(parts, 1)
    ]


def facts_of_approval(decided: StoredProposals, proposal: int) -> list[Event]:
    """Return the facts that the approval of a stored proposal records."""
    return facts_of_changes(decided.changes([proposal]))


def facts_of_changes(changes: Iterable[Change]) -> list[Event]:
    """Return the facts that the approval of changes records."""
    return [codec.structure_event(change.kind, dict(change.facts or {})) for change in changes if change.do is Verb.ADD]
