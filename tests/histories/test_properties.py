"""What must hold for any facts in any order: the views depend on the facts alone, not on how they came in."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.book.assessment import Reratings
from ledger.book.game_book import GameBook
from ledger.book.game_book_columns import apply_decoded_block, decode_bodies
from ledger.facts import codec
from ledger.facts.events import Event, GameRecorded
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.journal import sqlite_store
from ledger.ledger import Ledger
from ledger.ratings import view_builds, views, views_file
from ledger.ratings.queries import table_names
from ledger.runtime import sorted_runs
from ledger.testing import record, rows_by_facts, table_rows
from ledger.testing.kit import MemoryJournal
from tests.kit.clubs import NOW, takes_misfits
from tests.kit.drawn_clubs import MOMENTS, PROJECTORS, clubs, is_first, new_ledger, reordered, slices
from tests.kit.games import source_game
from tests.kit.lived_histories import WAYS, all_rows, forced
from tests.kit.strategies import told_often
from tests.tiers import examples


def rebuilt(events: Sequence[Event]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rows of one rebuild from all facts: as they are, and in terms of facts."""
    with new_ledger() as ledger:
        ledger.append_many(events)
        ledger.rebuild()
        return all_rows(ledger), rows_by_facts(ledger.views.connection)


@contextmanager
def small_blocks(size: int) -> Iterator[None]:
    """Builds sort by runs on the disk, and rate and write in blocks, of about *size* rows."""
    sizes = {
        sorted_runs: ("PIECE",),
        view_builds: ("ENTRIES_A_COMMIT", "GAMES_A_RUN", "GAMES_A_BLOCK", "SIDES_A_RUN", "SIDES_A_BLOCK"),
    }
    with ExitStack() as stack:
        for module, names in sizes.items():
            for name in names:
                stack.enter_context(patch.object(module, name, size))
        stack.enter_context(patch.object(views, "FEW_ENTRIES", 0))
        yield


@pytest.mark.slow
@given(st.data(), clubs())
def test_any_slicing_of_the_facts_gives_the_rows_of_one_rebuild(data: st.DataObject, club: list[Event]) -> None:
    expected, _ = rebuilt(club)
    with new_ledger() as ledger:
        for part in data.draw(slices(club)):
            ledger.append_many(part)
            with forced(data.draw(st.sampled_from(list(WAYS)))):
                assert ledger.catch_up() == ledger.head().size
        assert all_rows(ledger) == expected


@pytest.mark.slow
@given(st.data(), clubs())
def test_processes_that_take_turns_give_the_rows_of_one_rebuild(data: st.DataObject, club: list[Event]) -> None:
    expected, _ = rebuilt(club)
    with new_ledger() as one, takes_misfits(Ledger.open(one.path, projectors=PROJECTORS, clock=lambda: NOW)) as other:
        for part in data.draw(slices(club)):
            writer, reader = data.draw(st.permutations((one, other)))
            writer.append_many(part)
            reader.catch_up()
        one.catch_up()
        assert all_rows(one) == all_rows(other) == expected


@pytest.mark.slow
@given(st.data(), clubs())
def test_any_order_of_arrival_gives_the_same_rows(data: st.DataObject, club: list[Event]) -> None:
    _, expected = rebuilt(club)
    with new_ledger() as ledger:
        for part in data.draw(slices(data.draw(reordered(club)))):
            ledger.append_many(part)
            with forced(data.draw(st.sampled_from(list(WAYS)))):
                ledger.catch_up()
        assert rows_by_facts(ledger.views.connection) == expected


@given(st.data(), clubs())
def test_ratings_do_not_depend_on_which_telling_came_first(data: st.DataObject, club: list[Event]) -> None:
    told = data.draw(told_often(club))
    first = [event for event in told if is_first(event)]
    rest = [event for event in told if not is_first(event)]
    found = []
    for order in (rest, data.draw(st.permutations(rest))):
        with new_ledger() as ledger:
            for part in data.draw(slices([*first, *order])):
                ledger.append_many(part)
                with forced(data.draw(st.sampled_from(list(WAYS)))):
                    ledger.catch_up()
            found.append(rows_by_facts(ledger.views.connection))
            standing = all_rows(ledger)
            ledger.rebuild()
            assert all_rows(ledger) == standing
    assert found[0] == found[1]


@pytest.mark.slow
@given(st.data(), clubs(), st.sampled_from(list(WAYS)))
def test_every_way_of_working_writes_the_same_rows(data: st.DataObject, club: list[Event], way: str) -> None:
    parts = data.draw(slices(club))
    with new_ledger() as plain, new_ledger() as other:
        for part in parts:
            plain.append_many(part)
            plain.catch_up()
            other.append_many(part)
            with forced(way):
                other.catch_up()
            assert all_rows(plain) == all_rows(other)


@pytest.mark.slow
@given(clubs())
def test_a_change_that_arrives_late_counts_as_one_that_arrived_early(club: list[Event]) -> None:
    """Changes of players, of the scheme, closings: whatever is no game."""
    late = [event for event in club if not isinstance(event, GameRecorded) and not is_first(event)]
    others = [event for event in club if event not in late]
    first = [event for event in others if is_first(event)]
    played = [event for event in others if not is_first(event)]
    found = []
    one_by_one: list[list[Event]] = [[change] for change in reversed(late)]
    orders: list[list[Sequence[Event]]] = [[first, late, played], [first, played, late], [first, played, *one_by_one]]
    for order in orders:
        with new_ledger() as ledger:
            for part in order:
                ledger.append_many(part)
                ledger.catch_up()
            found.append(rows_by_facts(ledger.views.connection))
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
@given(clubs())
def test_catching_up_after_a_rebuild_changes_nothing(club: list[Event]) -> None:
    with new_ledger() as ledger:
        ledger.append_many(club)
        ledger.catch_up()
        before = all_rows(ledger)
        assert ledger.rebuild() == ledger.catch_up() == len(club) + 1
        assert all_rows(ledger) == before


@given(clubs())
def test_facts_told_twice_change_nothing(club: list[Event]) -> None:
    with new_ledger() as ledger:
        first = ledger.append_many(club)
        ledger.catch_up()
        head, before = ledger.head(), all_rows(ledger)
        again = ledger.append_many(club)
        assert all(receipt.duplicate for receipt in again)
        assert [(one.position, one.leaf) for one in again] == [(one.position, one.leaf) for one in first]
        ledger.catch_up()
        assert (ledger.head(), all_rows(ledger)) == (head, before)


@pytest.mark.slow
@given(clubs(), st.integers(1, 5))
def test_a_build_in_small_blocks_gives_the_rows_of_one_in_memory(club: list[Event], size: int) -> None:
    expected, _ = rebuilt(club)
    with patch.object(sqlite_store, "BLOCK", 7), small_blocks(size):
        found, _ = rebuilt(club)
    assert found == expected


@examples(quick=2, ci=3, nightly=20)
@given(clubs(), st.integers(1, 5))
def test_a_build_written_by_a_process_of_its_own_gives_the_same_rows(club: list[Event], size: int) -> None:
    expected, _ = rebuilt(club)
    with patch.object(sqlite_store, "BLOCK", 7), patch.object(view_builds, "OWN_PROCESS_FROM", 0), small_blocks(size):
        found, _ = rebuilt(club)
    assert found == expected


class _StoppedError(Exception):
    """Stops a build."""


@pytest.mark.slow
@given(clubs(), st.lists(st.integers(0, 30), min_size=1, max_size=3))
def test_a_build_that_was_stopped_goes_on_to_the_rows_of_an_undisturbed_one(
    club: list[Event], stops: list[int]
) -> None:
    expected, _ = rebuilt(club)
    with new_ledger() as ledger, patch.object(sqlite_store, "BLOCK", 3), small_blocks(4):
        ledger.append_many(club)
        for stop in stops:
            left = [stop]

            def stopping(*_: object, left: list[int] = left) -> None:
                left[0] -= 1
                if left[0] < 0:
                    raise _StoppedError

            try:
                ledger.catch_up(stopping)
            except _StoppedError:
                assert not ledger.views.path.exists()  # nothing half built is seen
        ledger.catch_up()
        assert all_rows(ledger) == expected
        leftovers = [path for path in ledger.path.parent.iterdir() if "building" in path.name]
        assert leftovers == []


@pytest.mark.slow
@given(st.data(), clubs())
def test_the_game_book_takes_entries_and_columns_alike(data: st.DataObject, club: list[Event]) -> None:
    journal = MemoryJournal()
    record(journal, club)
    bodies = [body for block in journal.read() for body in block]
    with TemporaryDirectory() as folder:
        few = views_file.create_views(Path(folder) / "few.db", PROJECTORS)
        many = views_file.create_views(Path(folder) / "many.db", PROJECTORS)
        with closing(few), closing(many):
            one, other = GameBook(few, journal), GameBook(many, journal)
            one_fresh, other_fresh = Reratings(), Reratings()
            one.apply_entries(map(codec.decode, bodies), one_fresh)
            start = 0
            while start < len(bodies):
                end = data.draw(st.integers(start + 1, len(bodies)))
                apply_decoded_block(other, decode_bodies(bodies[start:end]), other_fresh)
                start = end
            for table in table_names(few):
                assert table_rows(few, table) == table_rows(many, table), table
            assert (one.roster.standing, one.roster.changes) == (other.roster.standing, other.roster.changes)
            for pool in one.pools.values():
                counting = [row for block in one.rated_games_from(pool, -(2**62)) for row in block]
                assert counting == [row for block in other.rated_games_from(pool, -(2**62)) for row in block]
                if counting:
                    assert one_fresh.start_ms[pool.pool] <= counting[0][2]
                    assert other_fresh.start_ms[pool.pool] <= counting[0][2]


@st.composite
def drawn_source_games(draw: st.DrawFn, number: int) -> SourceGame:
    white, black = draw(st.permutations("ABCDE"))[:2]
    return source_game(
        f"made:{draw(st.sampled_from('zyxab'))}{number}",
        white,
        black,
        line=number + 1,
        white_id=f"name:{white}",
        black_id=f"name:{black}",
        outcome=draw(st.sampled_from(("white", "draw", "black"))),
        termination=draw(st.sampled_from(("time", "checkmate", "unknown", "unplayed"))),
        half_moves=draw(st.sampled_from((None, 3, 40))),
        ended_at=draw(st.sampled_from(MOMENTS)),
        round=draw(st.sampled_from((None, "1", "10", "2"))),
        speed=draw(st.sampled_from(("blitz", "rapid"))),
        text=draw(st.sampled_from((None, "e4 e5"))),
        sequence=number + 1,
    )


@given(st.data(), st.integers(1, 25))
def test_games_that_their_source_numbers_give_the_same_ratings_in_any_order(data: st.DataObject, count: int) -> None:
    told = [data.draw(drawn_source_games(i)) for i in range(count)]
    found = []
    for order in (told, data.draw(st.permutations(told))):
        with new_ledger() as ledger:
            for frame in batch_games(order, data.draw(st.integers(1, count))):
                outcome = ledger.import_games([frame])
                assert (outcome.recorded, outcome.faults) == (len(frame), [])
                ledger.catch_up()
            identities = {
                number: person.identity or "" for number, person in ledger.people.by_number(range(1, 9)).items()
            }
            found.append(rows_by_facts(ledger.views.connection, identities))
            assert ledger.import_games(batch_games(told)).repeated == count
    assert found[0] == found[1]
