"""Wrong clocks, other processes, rights, names, full disks, closed outputs: told in one line, and nothing is lost."""

from __future__ import annotations

from tests.kit.attacks import Holds


def test_time_goes_back_in_no_journal_and_a_clock_put_right_lets_recording_go_on(holds: Holds) -> None:
    holds("clocks", 3)


def test_commands_side_by_side_lose_nothing_and_no_audit_cries(holds: Holds) -> None:
    holds("concurrency", 10)


def test_read_only_folders_links_and_odd_names_allow_reading_and_say_what_does_not_go(holds: Holds) -> None:
    holds("rights-and-names", 18)


def test_a_full_disk_is_refused_in_one_line_and_loses_nothing(holds: Holds) -> None:
    holds("full-disks", 3)


def test_a_command_whose_answer_nobody_gets_does_not_end_in_a_traceback_or_with_success(holds: Holds) -> None:
    holds("outputs", 8)
