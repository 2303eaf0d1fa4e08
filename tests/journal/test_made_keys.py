"""A game without a key whose made key is another game's gets the next free one, and the same one again."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.facts.source_games import SourceGame
from ledger.imports.reading import frames
from ledger.journal.alike import is_made
from ledger.journal.made_keys import free_key
from tests.kit.clubs import ClubOfTwo
from tests.kit.refusals import source

MADE = "csv:{:024x}"


def keyless(number: int, **fields: Any) -> SourceGame:
    return source(MADE.format(number), line=number, **{"ended_at": "2026-11-17", **fields})


def counts(club: ClubOfTwo, *games: SourceGame, **options: Any) -> tuple[int, int, int, int]:
    """Games recorded, known, held back and faulty of one file."""
    report = club.ledger.import_games(frames(games), **options)
    return report.recorded, report.repeated, report.alike_count, report.fault_count


def keys(club: ClubOfTwo) -> list[str]:
    return [entry["key"].removeprefix("game:") for entry in club.ledger.entries("game-recorded")][1:]


@pytest.mark.parametrize("options", [{}, {"record_alike": True}])
def test_another_game_of_a_second_file_gets_the_next_key_and_is_known_again(
    club_of_two: ClubOfTwo, options: dict[str, bool]
) -> None:
    files = [keyless(1, half_moves=94), keyless(1, half_moves=103), keyless(1, half_moves=61)]
    for game in files:
        assert counts(club_of_two, game, **options) == (1, 0, 0, 0)
    made = MADE.format(1)
    assert keys(club_of_two) == [made, free_key(made, 2), free_key(made, 3)]
    assert all(map(is_made, keys(club_of_two)))
    for game in reversed(files):
        assert counts(club_of_two, game, **options) == (0, 1, 0, 0)


def test_a_file_with_the_known_game_in_second_place_tells_one_new_game(club_of_two: ClubOfTwo) -> None:
    """Nothing but the results tells the two games of a day apart, and their order in the file is another one."""
    won, lost = {"outcome": "white"}, {"outcome": "black"}
    assert counts(club_of_two, keyless(1, **won)) == (1, 0, 0, 0)
    both = keyless(1, **lost), keyless(2, **won)
    assert counts(club_of_two, *both) == (1, 1, 0, 0)
    assert counts(club_of_two, *both) == counts(club_of_two, *reversed(both)) == (0, 2, 0, 0)


@pytest.mark.parametrize("fields", [{}, {"half_moves": 40}, {"text": "1. e4", "half_moves": 41}])
def test_a_result_that_was_corrected_in_the_file_is_a_contradiction_still(
    club_of_two: ClubOfTwo, fields: dict[str, Any]
) -> None:
    assert counts(club_of_two, keyless(1, outcome="white", **fields)) == (1, 0, 0, 0)
    report = club_of_two.ledger.import_games(frames([keyless(1, outcome="draw", **fields)]))
    (fault,) = report.faults
    assert "was recorded with outcome='white', not 'draw'" in fault.message
    assert report.recorded == 0


def test_a_key_that_the_source_gave_is_never_changed(club_of_two: ClubOfTwo) -> None:
    assert counts(club_of_two, source("club:1", half_moves=40, ended_at="2026-11-17")) == (1, 0, 0, 0)
    assert counts(club_of_two, source("club:1", half_moves=41, ended_at="2026-11-17")) == (0, 0, 0, 1)
