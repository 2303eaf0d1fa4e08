"""What every projector of facts must do, as tests: subclass ``FactProjectorContract`` and give it in ``make``.

All follows when what it takes away for *before* is what it put in when that was *now*. These tests find one that keeps
something: whichever way facts come to stand, met one by one, in slices or at once, in other orders, wrong and
corrected later, its rows are those of the right facts met at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import attrs

from ledger.facts import codec
from ledger.facts.changes import Change, Verb
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.events import (
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    Event,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
)
from ledger.facts.words import Outcome, Standing
from ledger.ratings import queries, views
from ledger.ratings.projector import FactProjector
from ledger.ratings.views import Views
from ledger.testing.comparing import Row, in_terms_of_facts, table_rows
from ledger.testing.games import WAYS, club, fresh, shuffled, slicings, take
from ledger.testing.memory import MemoryJournal

_REASON = "0" * 64


class FactProjectorContract:
    """Tests of one projector over the facts of ``club``. A subclass gives ``make``.

    Attributes:
        games: how many games the club plays.
        seeds: random slicings and orders tried.
    """

    games = 200
    seeds: tuple[int, ...] = (1, 2, 3)

    def make(self) -> FactProjector:
        """The projector to be tested."""
        raise NotImplementedError

    def facts(self) -> list[Event]:
        """The facts that it is tested with."""
        return club(self.games)

    # -- what it says of itself ------------------------------------------------------------------------------------

    def test_it_is_declared_in_full(self) -> None:
        made = self.make()
        assert re.fullmatch(NAME_PATTERN, made.name)
        assert made.version >= 1
        for column in (*made.key, *made.columns):
            assert column.doc, f"{column.name} is not explained"

    def test_its_identity_changes_with_its_version(self) -> None:
        made = self.make()
        assert attrs.evolve(made, version=made.version + 1).identity != made.identity

    # -- its table -------------------------------------------------------------------------------------------------

    def test_it_makes_rows_of_the_facts(self, tmp_path: Path) -> None:
        rows = self._rows(tmp_path / "one", [self.facts()])
        assert rows, "it makes no row of a whole club: give 'facts' that it is told of"
        assert rows == self._rows(tmp_path / "two", [self.facts()])

    def test_any_slicing_gives_the_rows_of_all_at_once(self, tmp_path: Path) -> None:
        facts = self.facts()
        expected = self._rows(tmp_path / "whole", [facts])
        for seed, slices in slicings(facts, self.seeds):
            for name, forced in WAYS:
                with patch.object(views, name, forced):
                    assert self._rows(tmp_path / f"{seed}-{name}-{forced}", slices) == expected, (seed, name, forced)

    def test_the_order_of_the_facts_changes_nothing(self, tmp_path: Path) -> None:
        facts = self.facts()
        expected = self._rows(tmp_path / "whole", [facts])
        for seed in self.seeds:
            late = shuffled(facts, seed)
            slices = [late[first : first + 17] for first in range(0, len(late), 17)]
            assert self._rows(tmp_path / str(seed), slices) == expected, seed

    def test_facts_that_were_wrong_and_corrected_give_the_rows_of_the_right_ones(self, tmp_path: Path) -> None:
        right = self.facts()
        wrong, changes = _wrong(right)
        expected = self._rows(tmp_path / "right", [right])
        assert self._rows(tmp_path / "before", [wrong]) != expected, "none of the wrong facts is told of in its rows"
        approved = _approved(1, changes)
        for name, slices in (("later", [wrong, approved]), ("at once", [[*wrong, *approved]])):
            assert self._rows(tmp_path / name, slices) == expected, name

    def test_a_correction_that_is_undone_leaves_nothing(self, tmp_path: Path) -> None:
        wrong, changes = _wrong(self.facts())
        there, back = _approved(1, changes), _approved(2, [Change(do=Verb.UNDO, proposal=1)])
        again = _approved(3, [Change(do=Verb.UNDO, proposal=2)])
        before = self._rows(tmp_path / "before", [wrong])
        assert self._rows(tmp_path / "undone", [wrong, there, back]) == before
        assert self._rows(tmp_path / "at once", [[*wrong, *there, *back]]) == before
        corrected = self._rows(tmp_path / "corrected", [wrong, there])
        assert self._rows(tmp_path / "again", [wrong, there, back, again]) == corrected

    def test_it_touches_its_own_table_only(self, tmp_path: Path) -> None:
        facts, made = self.facts(), self.make()
        with closing(Views(fresh(tmp_path / "with"), (made,), MemoryJournal())) as kept:
            take(kept, [facts])
            with_it = {table: table_rows(kept.connection, table) for table in queries.tables(kept.connection)}
        with closing(Views(fresh(tmp_path / "without"), (), MemoryJournal())) as bare:
            take(bare, [facts])
            without = {table: table_rows(bare.connection, table) for table in queries.tables(bare.connection)}
        assert with_it.keys() - without.keys() == {made.name}
        assert {name: rows for name, rows in with_it.items() if name in without and name != "projections"} == {
            name: rows for name, rows in without.items() if name != "projections"
        }

    def test_installed_late_or_left_behind_it_is_told_of_all_that_stands(self, tmp_path: Path) -> None:
        facts, made = self.facts(), self.make()
        journal, path = MemoryJournal(), fresh(tmp_path / "late")
        with closing(Views(path, (), journal)) as before:
            take(before, [facts[: len(facts) // 2]])
        with closing(Views(path, (made,), journal)) as late:
            late.catch_up()
        with closing(Views(path, (), journal)) as without:
            take(without, [facts[len(facts) // 2 :]])
        with closing(Views(path, (made,), journal)) as again:
            again.catch_up()
            assert self._told(again) == self._rows(tmp_path / "whole", [facts])

    # -- how -------------------------------------------------------------------------------------------------------

    def _rows(self, folder: Path, slices: Sequence[Sequence[Event]]) -> list[Row]:
        with closing(Views(fresh(folder), (self.make(),), MemoryJournal())) as kept:
            take(kept, slices)
            return self._told(kept)

    def _told(self, kept: Views) -> list[Row]:
        return in_terms_of_facts(kept.connection)[self.make().name]


def _wrong(right: Sequence[Event]) -> tuple[list[Event], list[Change]]:
    """The facts with some of them wrong and one game too many, and the changes that put them right."""
    wrong: list[Event] = []
    changes: list[Change] = []
    extra = next(event for event in right if isinstance(event, GameRecorded))
    for number, fact in enumerate(right, 1):
        otherwise = _otherwise(fact) if number % 3 == 0 or not isinstance(fact, GameRecorded) else {}
        if otherwise:
            plain = (codec.facts_mapping(event) for event in (attrs.evolve(fact, **otherwise), fact))
            expects, facts = ({name: fields.get(name, "") for name in otherwise} for fields in plain)
            changes.append(Change(do=Verb.REPLACE, fact=fact.key, entry=number, expects=expects, facts=facts))
        wrong.append(attrs.evolve(fact, **otherwise))
    wrong.append(attrs.evolve(extra, game="never-played"))
    changes.append(Change(do=Verb.ANNUL, fact="game:never-played", entry=len(wrong)))
    return wrong, changes


def _otherwise(fact: Event) -> dict[str, Any]:
    """Other values of fields that can be corrected."""
    match fact:
        case GameRecorded():
            other = Outcome.DRAW if fact.outcome is not Outcome.DRAW else Outcome.WHITE
            return {"outcome": other, "half_moves": (fact.half_moves or 0) + 7, "ended_at": "2021-02-03", "rated": True}
        case PlayerRegistered():
            return {"joined_at": "2018-07", "birth_year": 1950}
        case PlayerChanged():
            return {"effective_at": "2021-01-05", "standing": Standing.CLOSED}
        case _:
            return {}


def _approved(number: int, changes: Sequence[Change]) -> list[Event]:
    """A proposal of some changes, and its approval."""
    proposed = CorrectionProposed(
        proposal=number, part=1, parts=1, changes=tuple(changes), reason=_REASON, proven=False
    )
    return [proposed, CorrectionDecided(proposal=number, decision=Decision.APPROVED, proven=False)]
