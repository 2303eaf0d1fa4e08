"""Files of another age and of another ledger: what does not belong together is refused or told, never taken."""

from __future__ import annotations

from tests.kit.attacks import Holds


def test_files_of_an_earlier_point_are_found_or_harmless(holds: Holds) -> None:
    holds("older-copies", 14)


def test_a_file_beside_the_log_of_another_age_records_and_shows_nothing_false(holds: Holds) -> None:
    holds("mixed-logs", 9)


def test_a_build_of_the_views_that_was_left_behind_is_used_only_where_it_belongs(holds: Holds) -> None:
    holds("stopped-builds", 12)


def test_files_of_another_ledger_are_found(holds: Holds) -> None:
    holds("swapped-files", 14)


def test_a_log_that_is_torn_damaged_or_of_another_file_leaves_a_true_earlier_state_or_a_refusal(holds: Holds) -> None:
    holds("torn-logs", 16)


def test_a_rollback_journal_beside_a_file_is_named_or_without_effect(holds: Holds) -> None:
    holds("hot-journals", 12)
