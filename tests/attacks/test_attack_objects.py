"""Objects that no ledger has, and objects that are gone: named by the audit, and no command is deceived by them."""

from __future__ import annotations

from tests.kit.attacks import Holds


def test_foreign_triggers_are_named_and_nothing_is_said_to_be_recorded_or_erased_that_is_not(holds: Holds) -> None:
    holds("triggers", 24)


def test_foreign_tables_views_and_indexes_are_named(holds: Holds) -> None:
    holds("foreign-objects", 18)


def test_tables_indexes_guards_and_columns_that_are_gone_are_named_in_one_line(holds: Holds) -> None:
    holds("removals", 18)


def test_changed_headers_are_refused(holds: Holds) -> None:
    holds("headers", 12)


def test_changed_checkpoints_and_settings_of_the_views_are_refused_or_named(holds: Holds) -> None:
    holds("checkpoints", 20)
