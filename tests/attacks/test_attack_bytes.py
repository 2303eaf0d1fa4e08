"""Damage to bytes and values: an audit says TRUE only where nothing that counts was changed; no command breaks down."""

from __future__ import annotations

from tests.kit.attacks import Holds
from tools.attack.families import Battlefield
from tools.attack.files import copied, edited, file_of


def test_a_flipped_bit_on_any_page_is_found_or_harmless(holds: Holds) -> None:
    holds("bit-flips", 28)


def test_pages_zeroed_swapped_doubled_or_cut_off_are_found(holds: Holds) -> None:
    holds("pages", 28)


def test_every_changed_value_and_row_is_named_by_the_audit(holds: Holds) -> None:
    holds("values", 40)


def test_text_that_is_no_text_is_named_by_the_audit_and_ends_no_command_in_a_traceback(holds: Holds) -> None:
    holds("encodings", 14)


def test_a_person_whom_no_entry_covers_is_named_as_not_compared(attacked: Battlefield) -> None:
    judge = attacked.judge
    db = copied(attacked.history.last.db, judge.scratch / "uncovered")
    edited(file_of(db, "people"), "INSERT INTO people VALUES (99, 'name:ghost', 'Ghost', zeroblob(16), '2020')")
    assert judge.truth.faults(db) == []
    done = judge.worker.run("audit", db)
    assert done.code == 0
    assert any(line.startswith("NOT COMPARED") and "people" in line for line in done.out.splitlines())
