"""The contract test suites of projectors: subclass that of the projector's shape and return it from ``make``.

A projector of ratings (``ProjectorContract``) is a fold over one player's games; all the rest (slices, late games,
corrections, rebuilds) follows when its step depends on nothing but the running state and the side. These tests find a
step that depends on more.

For a projector of facts (``FactProjectorContract``) everything follows if it removes for *before* exactly what it
added when that was *now*. These tests detect one that keeps something. Facts arrive one by one, in slices or at
once, in other orders, wrong and corrected later: the rows are always those of the right facts applied at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import attrs

from ledger.book.assessment import Reratings
from ledger.book.game_book import GameBook
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
from ledger.facts.words import Outcome, Standing, Termination
from ledger.ratings import engine, queries, side_rows, table_repairs, views
from ledger.ratings.fact_projector import DeclaredFactProjector, ReadModel
from ledger.ratings.projection import PoolProjections
from ledger.ratings.projector import EACH_GAME, PLAYER, SIDE_COLUMNS, TOURNAMENT, DeclaredProjector
from ledger.ratings.view_tables import SideTable
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from ledger.runtime.columns import FEW, MANY, Columns
from ledger.runtime.lazy import np
from ledger.testing.kit import (
    CATCH_UP_LIMITS,
    MemoryJournal,
    Row,
    bit_patterns,
    club,
    new_views_path,
    random_slices,
    record,
    record_and_catch_up,
    rows_by_facts,
    shuffle_facts,
    table_rows,
)

_WHOLE = frozenset(name for name, column in SIDE_COLUMNS.items() if column.type == "INTEGER")


class _ReadModelContract:
    """The tests that every read model has in common."""

    games = 300
    seeds: tuple[int, ...] = (1, 2, 3)

    def make(self) -> Any:
        """Return the projector to be tested."""
        raise NotImplementedError

    def projectors(self) -> tuple[ReadModel, ...]:
        """Return the read models of the views, besides the history: this one alone."""
        return (self.make(),)

    def facts(self) -> list[Event]:
        """Return the facts that the projector is tested with."""
        return club(self.games)

    def test_its_identity_changes_with_its_version(self) -> None:
        made = self.make()
        assert attrs.evolve(made, version=made.version + 1).identity != made.identity

    def test_any_slicing_gives_the_rows_of_all_at_once(self, tmp_path: Path) -> None:
        facts = self.facts()
        expected = self._at_once(tmp_path / "whole", facts)
        for seed, slices in random_slices(facts, self.seeds):
            for name, forced in CATCH_UP_LIMITS:
                with patch.object(views, name, forced):
                    assert self._live(tmp_path / f"{seed}-{name}-{forced}", slices) == expected, (seed, name, forced)

    def test_the_order_of_the_facts_changes_nothing(self, tmp_path: Path) -> None:
        facts = self.facts()
        expected = self._rows(tmp_path / "whole", [facts])
        for seed in self.seeds:
            slices = _cut(shuffle_facts(facts, seed), 17)
            assert self._rows(tmp_path / str(seed), slices) == expected, seed

    def _at_once(self, folder: Path, facts: Sequence[Event]) -> Any:
        return self._live(folder, [facts])

    def _live(self, folder: Path, slices: Sequence[Sequence[Event]]) -> Any:
        return self._rows(folder, slices)

    def _rows(self, folder: Path, slices: Sequence[Sequence[Event]]) -> list[Row]:
        with self._views(folder) as updated:
            record_and_catch_up(updated, slices)
            return rows_by_facts(updated.connection)[self.make().name]

    def _views(self, folder: Path, journal: MemoryJournal | None = None) -> closing[Views]:
        return closing(Views(new_views_path(folder), self.projectors(), journal or MemoryJournal()))


def _cut(facts: Sequence[Event], size: int) -> list[Sequence[Event]]:
    return [facts[first : first + size] for first in range(0, len(facts), size)]


class ProjectorContract(_ReadModelContract):
    """The tests of a projector over the games of ``club``, rated by ChessWorld; a subclass defines ``make``.

    Attributes:
        games: the number of games of the club; raise it for a projector whose first rows come late.
        seeds: of the random slicings and orders.
    """

    def make(self) -> DeclaredProjector:
        """Return the projector to be tested."""
        raise NotImplementedError

    # -- what it says of itself ------------------------------------------------------------------------------------

    def test_it_is_declared_in_full(self) -> None:
        made = self.make()
        assert re.fullmatch(NAME_PATTERN, made.name)
        assert made.version >= 1
        assert made.wants <= set(SIDE_COLUMNS)
        names = [name for name, _ in SideTable(made).columns]
        assert len(names) == len(set(names)), "two columns have one name"
        for kept in made.state:
            assert kept.type in {"INTEGER", "REAL"}, kept
            assert kept.doc, f"{kept.name} is not explained"
            assert kept.type == "REAL" or math.isnan(kept.start) or kept.start == int(kept.start), kept

    # -- its step --------------------------------------------------------------------------------------------------

    def test_the_step_gives_the_same_bits_interpreted_and_compiled(self) -> None:
        made = self.make()
        for seed in self.seeds:
            few = [bit_patterns(column) for column in _folded(FEW, made, seed)]
            assert few == [bit_patterns(column) for column in _folded(MANY, made, seed)], seed

    def test_the_step_depends_on_nothing_but_the_state_and_the_side(self) -> None:
        """The step has no clock, no chance, no memory of its own: the same twice, with other games in between."""
        made = self.make()
        outcomes = []
        for _ in range(2):
            outcomes.append([bit_patterns(column) for column in _folded(FEW, made, 2)])
            _folded(FEW, made, 3)
        assert outcomes[0] == outcomes[1]

    def test_two_players_have_nothing_in_common(self) -> None:
        """Each begins with fields of its own: other players' games in between change nothing."""
        made = self.make()
        run, sides = _sides(made, 4)
        turns = sorted(range(len(run)), key=lambda side: (sides["n"][side], run[side]))
        mixed = {name: [column[side] for side in turns] for name, column in sides.items()}
        columns = _fold(FEW, made, [run[side] for side in turns], mixed)
        expected = _folded(FEW, made, 4)
        assert [bit_patterns(column) for column in columns] == [
            bit_patterns([column[side] for side in turns]) for column in expected
        ]

    # -- its table -------------------------------------------------------------------------------------------------

    def test_two_rebuilds_give_the_same_rows(self, tmp_path: Path) -> None:
        rows = [self._at_once(tmp_path / word, self.facts()) for word in ("one", "two")]
        assert rows[0]
        assert rows[0] == rows[1]

    def test_game_by_game_gives_the_rows_of_one_rebuild(self, tmp_path: Path) -> None:
        facts = self.facts()
        assert self._live(tmp_path / "live", [[fact] for fact in facts]) == self._at_once(tmp_path / "whole", facts)

    def test_compiled_updates_write_the_rows_of_interpreted_ones(self, tmp_path: Path) -> None:
        facts = self.facts()
        slices = _cut(facts, 40)
        few = self._live(tmp_path / "few", slices)
        with patch.object(engine, "COMPILE_FROM", 0):
            assert self._live(tmp_path / "many", slices) == few

    def test_rating_again_from_any_place_writes_the_same_rows(self, tmp_path: Path) -> None:
        facts = self.facts()
        with self._views(tmp_path / "views") as updated:
            record_and_catch_up(updated, [facts])
            expected = self._all_rows(updated)
            connection = updated.connection
            ends = [ms for (ms,) in connection.execute("SELECT DISTINCT ended_ms FROM games ORDER BY ended_ms")]
            players = {player for (player,) in connection.execute("SELECT player FROM current")}
            for start_ms in (ends[0], ends[len(ends) // 2], ends[-1], ends[0]):
                book = GameBook(connection, updated.journal)
                with sqlite.write_transaction(connection):
                    PoolProjections(book, updated.installed.offered).update(
                        Reratings({1: start_ms}, {1: set(players)}), len(facts)
                    )
                assert self._all_rows(updated) == expected, start_ms

    def test_it_touches_its_own_table_only(self, tmp_path: Path) -> None:
        if not self.projectors():
            # it is the ledger's own history, without which there are no views
            return
        slices = _cut(self.facts(), 50)
        with self._views(tmp_path / "with") as updated:
            record_and_catch_up(updated, slices)
            with_it = rows_by_facts(updated.connection)
        with closing(Views(new_views_path(tmp_path / "without"), (), MemoryJournal())) as without:
            record_and_catch_up(without, slices)
            expected = rows_by_facts(without.connection)
        assert with_it.keys() - expected.keys() == {self.make().name}
        assert {table: with_it[table] for table in expected} == expected

    def test_installed_late_it_is_folded_from_the_existing_rows(self, tmp_path: Path) -> None:
        """No game is rated again, no other table is written, and the rows are those of a rebuild."""
        facts, made = self.facts(), self.make()
        if not self.projectors():
            return
        # 7: blocks of rows that end in the middle of a player's games.
        for size in (table_repairs.BLOCK, 7):
            journal, path = MemoryJournal(), new_views_path(tmp_path / f"late-{size}")
            with closing(Views(path, (), journal)) as before:
                record_and_catch_up(before, [facts])
                original = _all_tables(before)
            with closing(Views(path, (made,), journal)) as late:
                with (
                    patch.object(table_repairs, "BLOCK", size),
                    patch.object(engine, "rate", side_effect=AssertionError),
                ):
                    late.catch_up()
                rows = table_rows(late.connection, made.name)
            assert rows == self._at_once(tmp_path / str(size), facts)[made.name]
            # opening the views without it takes nothing away
            with closing(Views(path, (), journal)) as without:
                without.catch_up()
                installed = _all_tables(without)
            assert installed.pop(made.name) == rows
            # The one thing that is new: the identity by which its table is known.
            noted = set(map(str, installed.pop("projections"))) - set(map(str, original.pop("projections")))
            assert [made.name in row for row in noted] == [True]
            assert installed == original

    def test_there_is_a_row_for_each_game_or_for_each_change(self, tmp_path: Path) -> None:
        """The state after any game is that of the last row up to it, of the player or of the player and tournament."""
        made, facts = self.make(), self.facts()
        whole = attrs.evolve(made, rows=EACH_GAME) if self.projectors() else made
        expected: list[dict[str, Any]] = []
        last: dict[object, object] = {}
        start = {kept.name: None if math.isnan(kept.start) else kept.start for kept in made.state}
        for row in self._of_facts(tmp_path / "all", facts, whole):
            state = {kept.name: row[kept.name] for kept in made.state}
            run = row["player"], row.get("tournament") if made.by == TOURNAMENT else None
            if made.rows == EACH_GAME or state != last.get(run, start):
                expected.append(row)
            last[run] = state
        assert expected
        assert self._of_facts(tmp_path / "own", facts, made) == expected

    # -- how -------------------------------------------------------------------------------------------------------

    def _of_facts(self, folder: Path, facts: Sequence[Event], *kept: DeclaredProjector) -> list[dict[str, Any]]:
        """Return the rows of one projector, in the order of players and games."""
        kept = kept if self.projectors() else ()
        with closing(Views(new_views_path(folder), kept, MemoryJournal())) as built:
            record_and_catch_up(built, [facts])
            query = f'SELECT * FROM "{self.make().name}" ORDER BY pool, player, n'
            return list(queries.fetch_dicts(built.connection, query))

    def _all_rows(self, opened: Views) -> dict[str, list[Row]]:
        return {table: table_rows(opened.connection, table) for table in (self.make().name, "current", "games")}

    def _live(self, folder: Path, slices: Sequence[Sequence[Event]]) -> dict[str, list[Row]]:
        with self._views(folder) as updated:
            record_and_catch_up(updated, slices)
            return self._all_rows(updated)

    def _at_once(self, folder: Path, facts: Sequence[Event]) -> dict[str, list[Row]]:
        journal = MemoryJournal()
        record(journal, facts)
        with self._views(folder, journal) as built:
            built.rebuild()
            return self._all_rows(built)


def _all_tables(opened: Views) -> dict[str, list[Row]]:
    return {table: table_rows(opened.connection, table) for table in queries.table_names(opened.connection)}


def _sides(projector: DeclaredProjector, seed: int) -> tuple[list[int], dict[str, list[float]]]:
    """Return some players' runs of 130 sides, in the columns that the projector reads, with extreme numbers too."""
    random = Random(seed)  # noqa: S311
    length, players = 130, 4
    n = list(range(1, length + 1))
    ratings = (0.0, 100.0, 1399.999999999, 1400.0, 2400.5, 5000.0, -35.25)
    columns: dict[str, list[float]] = {name: [] for name, column in SIDE_COLUMNS.items() if column.type != "TEXT"}
    for _ in range(players):
        columns["n"] += n
        columns["game"] += sorted(random.sample(range(1, 10**9), length))
        columns["ended_ms"] += sorted(random.randrange(-(10**13), 10**13) for _ in n)
        columns["opponent"] += [random.randint(1, 2**31 - 1) for _ in n]
        columns["opponent_n"] += [random.randint(1, 5000) for _ in n]
        columns["colour"] += [random.randint(0, 1) for _ in n]
        columns["half_points"] += [random.randint(0, 2) for _ in n]
        latest = columns["half_points"][-length:]
        columns["lost_on_time"] += [int(half == 0 and random.random() < 0.5) for half in latest]
        columns["games_before"] += [random.choice((0, random.randrange(3000)))] * length
        columns["listed"] += [random.randint(0, 1) for _ in n]
        columns["expected_score"] += [random.choice((0.0, 0.5, 1.0, random.random())) for _ in n]
        columns["era"] += [random.randint(0, 3) for _ in n]
        columns["restart"] += [random.randint(0, 1) for _ in n]
        columns["termination_code"] += [random.randrange(len(Termination)) for _ in n]
        columns["tournament_code"] += [random.choice((0, 1, 2**53 - 1, random.randrange(2**53))) for _ in n]
        columns["round_order"] += [random.choice((0, random.randrange(20) * 10**12)) for _ in n]
        for name in ("rating", "opponent_rating", "rating_before", "opponent_rating_before"):
            columns[name] += [random.choice((random.uniform(0, 3000), random.choice(ratings))) for _ in n]
    run = [player for player in range(players) for _ in n]
    return run, {name: columns[name] for name in {"n", *projector.reads}}


def _fold(cols: Columns, made: DeclaredProjector, run: Sequence[int], sides: Mapping[str, Sequence[float]]) -> Any:
    """Return the columns of the state after each side."""
    state = [kept.start for kept in made.state] * (max(run) + 1)
    whole = attrs.evolve(made, rows=EACH_GAME)
    if cols is FEW:
        return side_rows.apply_projector(cols, whole, run, sides, state).columns
    arrays = {name: np.asarray(column, np.int64 if name in _WHOLE else np.float64) for name, column in sides.items()}
    folded = side_rows.apply_projector(cols, whole, np.asarray(run, np.int32), arrays, np.asarray(state, np.float64))
    return [column.tolist() for column in folded.columns]


def _folded(cols: Columns, made: DeclaredProjector, seed: int) -> Any:
    return _fold(cols, made, *_sides(made, seed))


class TournamentContract(ProjectorContract):
    """The tests of a projector by tournament; a subclass defines ``make``."""

    def test_it_is_by_tournament(self) -> None:
        made = self.make()
        assert made.by == TOURNAMENT
        names = [name for name, _ in SideTable(made).columns]
        assert names[:4] == list(made.key)

    def test_only_games_of_a_tournament_have_rows(self, tmp_path: Path) -> None:
        facts = self.facts()
        tournaments = {event.tournament for event in facts if isinstance(event, GameRecorded)}
        assert None in tournaments, "the facts that it is tested with have no game without a tournament"
        rows = self._of_facts(tmp_path / "some", facts, self.make())
        assert {row["tournament"] for row in rows} == tournaments - {None}
        assert self._of_facts(tmp_path / "none", self._in(facts, [None]), self.make()) == []

    def test_of_one_tournament_alone_it_is_a_fold_over_all_games(self, tmp_path: Path) -> None:
        """As if it were a projector by player: what another tournament or none has in between changes nothing."""
        made, spring = self.make(), self._in(self.facts(), ["club:spring"])
        of_players = self._of_facts(tmp_path / "player", spring, attrs.evolve(made, by=PLAYER))
        of_tournament = self._of_facts(tmp_path / "tournament", spring, made)
        assert of_tournament == [{**row, "tournament": "club:spring"} for row in of_players]

    @staticmethod
    def _in(facts: list[Event], tournaments: list[str | None]) -> list[Event]:
        """Return the same facts with the games in these tournaments by turns."""
        turns = cycle(tournaments)
        return [
            attrs.evolve(event, tournament=next(turns)) if isinstance(event, GameRecorded) else event for event in facts
        ]


# --- projectors of facts ------------------------------------------------------------------------------------


_REASON = "0" * 64


class FactProjectorContract(_ReadModelContract):
    """The tests of a projector of facts, with the games of ``testing.club``; a subclass defines ``make``.

    Attributes:
        games: the number of games of the club.
        seeds: of the random slicings and orders.
    """

    games = 200

    def make(self) -> DeclaredFactProjector:
        """Return the projector to be tested."""
        raise NotImplementedError

    # -- what it says of itself ------------------------------------------------------------------------------------

    def test_it_is_declared_in_full(self) -> None:
        made = self.make()
        assert re.fullmatch(NAME_PATTERN, made.name)
        assert made.version >= 1
        for column in (*made.key, *made.columns):
            assert column.doc, f"{column.name} is not explained"

    # -- its table -------------------------------------------------------------------------------------------------

    def test_it_makes_rows_of_the_facts(self, tmp_path: Path) -> None:
        rows = self._rows(tmp_path / "one", [self.facts()])
        assert rows, "it makes no row of a whole club: return facts of its kinds from 'facts'"
        assert rows == self._rows(tmp_path / "two", [self.facts()])

    def test_facts_that_were_wrong_and_corrected_give_the_rows_of_the_right_ones(self, tmp_path: Path) -> None:
        right = self.facts()
        wrong, changes = _wrong(right)
        expected = self._rows(tmp_path / "right", [right])
        assert self._rows(tmp_path / "before", [wrong]) != expected, "none of the wrong facts is in its rows"
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
        with closing(Views(new_views_path(tmp_path / "with"), (made,), MemoryJournal())) as kept:
            record_and_catch_up(kept, [facts])
            with_it = _all_tables(kept)
        with closing(Views(new_views_path(tmp_path / "without"), (), MemoryJournal())) as bare:
            record_and_catch_up(bare, [facts])
            without = _all_tables(bare)
        assert with_it.keys() - without.keys() == {made.name}
        assert {name: rows for name, rows in with_it.items() if name in without and name != "projections"} == {
            name: rows for name, rows in without.items() if name != "projections"
        }

    def test_installed_late_or_stale_it_gets_all_facts(self, tmp_path: Path) -> None:
        facts, made = self.facts(), self.make()
        journal, path = MemoryJournal(), new_views_path(tmp_path / "late")
        with closing(Views(path, (), journal)) as before:
            record_and_catch_up(before, [facts[: len(facts) // 2]])
        with closing(Views(path, (made,), journal)) as late:
            late.catch_up()
        with closing(Views(path, (), journal)) as without:
            record_and_catch_up(without, [facts[len(facts) // 2 :]])
        with closing(Views(path, (made,), journal)) as again:
            again.catch_up()
            assert rows_by_facts(again.connection)[made.name] == self._rows(tmp_path / "whole", [facts])


def _wrong(right: Sequence[Event]) -> tuple[list[Event], list[Change]]:
    """Return the facts with some of them wrong and one game too many, and the changes that put them right."""
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
    """Return other values of fields that can be corrected."""
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
    """Return a proposal of some changes, and its approval."""
    proposed = CorrectionProposed(
        proposal=number, part=1, parts=1, changes=tuple(changes), reason=_REASON, proven=False
    )
    return [proposed, CorrectionDecided(proposal=number, decision=Decision.APPROVED, proven=False)]
