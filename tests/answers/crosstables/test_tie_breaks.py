"""Tie-breaks against a published table, and by hand; places, shared and parted."""

import pytest

from ledger.answers.crosstables.tie_breaks import (
    NO_OPPONENT,
    TIE_BREAKS,
    RoundResult,
    RoundResults,
    UnplayedRules,
    rank_players,
    tie_break_named,
)
from ledger.errors import UnknownNameError

# The results of a national closed championship of 2026 (nine players, one forfeit), and the wins, Sonneborn-Berger and
# Koya points that the arbiter's program published for them. It still counted the forfeit by the rule before C.07 15.2.
CLOSED = (
    "*0111½111",
    "1*00111+0",
    "01*010100",
    "011*½011½",
    "000½*0111",
    "½0111*1½0",
    "000000*00",
    "0-100½1*0",
    "011½0111*",
)
PUBLISHED = {
    1: (6, 22, 2.5),
    2: (5, 20, 2),
    3: (3, 8.5, 1),
    4: (4, 15, 1.5),
    5: (3, 10.5, 1.5),
    6: (4, 16, 1.5),
    7: (0, 0, 0),
    8: (2, 5.5, 0.5),
}
HALF_POINTS = {"1": 2, "½": 1, "0": 0, "+": 2, "-": 0}


def table(*rows: str) -> RoundResults:
    """The results of an all-play-all; player 1 is the first row."""
    results = {
        player: [
            RoundResult(opponent, HALF_POINTS[mark], is_played=mark not in "+-")
            for opponent, mark in enumerate(row, 1)
            if mark not in "* "
        ]
        for player, row in enumerate(rows, 1)
    }
    return RoundResults(results, UnplayedRules.OWN_POINTS)


def value(name: str, results: RoundResults, player: int, *level: int) -> float | None:
    return tie_break_named(name).value(results, player, level or (player,))


@pytest.mark.parametrize("player", PUBLISHED)
def test_a_published_table_is_reproduced(player: int) -> None:
    found = tuple(value(name, table(*CLOSED), player) for name in ("wins", "sonneborn-berger", "koya"))
    assert found == PUBLISHED[player]


def test_since_article_15_2_the_forfeit_counts_against_the_scheduled_opponent() -> None:
    results = RoundResults(table(*CLOSED), UnplayedRules.AS_GAMES)
    points = results.points
    assert value("sonneborn-berger", results, 2) == 20 - points[2] + points[8]
    assert value("buchholz", results, 8) == sum(points[other] for other in points if other != 8)


def test_a_rest_in_an_odd_field_counts_for_its_points_only() -> None:
    rest = RoundResult(NO_OPPONENT, 2, is_played=False, round=3, bye="allotted")
    results = RoundResults({1: [RoundResult(2, 2, round=1), rest], 2: [RoundResult(1, 0, round=1)]})
    assert (results.points[1], value("buchholz", results, 1), value("sonneborn-berger", results, 1)) == (2, 0, 0)
    assert value("buchholz", results, 2) == 2


def test_in_a_swiss_tournament_a_forfeit_is_no_encounter_and_who_is_ahead_in_any_case_is_parted() -> None:
    # 6.2: 1 beat 2 and 3, who have not met; 2 and 3 stay level. A forfeit parts nobody.
    played = {
        1: [RoundResult(2, 2), RoundResult(3, 2)],
        2: [RoundResult(1, 0), RoundResult(4, 2)],
        3: [RoundResult(1, 0)],
    }
    swiss = RoundResults({**played, 4: [RoundResult(2, 0)]}, UnplayedRules.C07_2026)
    assert [value("direct-encounter", swiss, player, 1, 2, 3) for player in (1, 2, 3)] == [2, 0, 0]
    forfeited = {1: [RoundResult(2, 2, is_played=False)], 2: [RoundResult(1, 0, is_played=False)]}
    assert value("direct-encounter", RoundResults(forfeited, UnplayedRules.C07_2026), 1, 1, 2) is None
    assert value("direct-encounter", RoundResults(forfeited), 1, 1, 2) == 1, "15.2: pairings were pre-determined"


def test_two_games_of_a_pair_count_by_their_average() -> None:
    double = {1: [RoundResult(2, 2), RoundResult(2, 1)], 2: [RoundResult(1, 0), RoundResult(1, 1)]}
    assert [value("direct-encounter", RoundResults(double), player, 1, 2) for player in double] == [0.75, 0.25]


def test_its_ranking_is_that_of_the_arbiter() -> None:
    ranked = rank_players(table(*CLOSED), ("direct-encounter", "wins", "sonneborn-berger"), ())
    assert [place.player for place in ranked] == [1, 9, 2, 6, 4, 5, 3, 8, 7]
    assert [place.text for place in ranked] == ["1", "2", "3", "4", "5", "6", "7", "8", "9"]


def test_without_a_tie_break_that_decides_who_is_level_shares_a_place_and_the_rows_have_an_order() -> None:
    ranked = rank_players(table(*CLOSED), (), ("wins", "sonneborn-berger"))
    assert [(place.player, place.text) for place in ranked[1:6]] == [
        (9, "2"),
        (2, "3-5"),
        (6, "3-5"),
        (4, "3-5"),
        (5, "6"),
    ]


def test_a_win_by_forfeit_is_a_win_and_none_over_the_board() -> None:
    results = table(*CLOSED)
    assert (value("wins", results, 2), value("games-won", results, 2)) == (5, 4)


def test_direct_encounter_says_nothing_unless_all_who_are_level_have_met() -> None:
    results = table("*1½ ", "0*11", "½0*½", " 0½*")
    assert [value("direct-encounter", results, player, 1, 2) for player in (1, 2)] == [1, 0]
    assert value("direct-encounter", results, 1, 1, 4) is None
    assert value("direct-encounter", results, 1) is None, "nobody is level with the player"


def test_it_is_applied_anew_to_those_who_are_still_level() -> None:
    # 1 to 4 have three points each; among them 1 and 3 have two and 2 and 4 have one; then 1 beat 3 and 4 beat 2
    level = {
        1: [RoundResult(2, 0), RoundResult(3, 2), RoundResult(4, 2), RoundResult(5, 2)],
        2: [RoundResult(1, 2), RoundResult(3, 0), RoundResult(4, 0), RoundResult(5, 2), RoundResult(6, 2)],
        3: [RoundResult(1, 0), RoundResult(2, 2), RoundResult(4, 2), RoundResult(5, 2)],
        4: [RoundResult(1, 0), RoundResult(2, 2), RoundResult(3, 0), RoundResult(5, 2), RoundResult(6, 2)],
        5: [RoundResult(1, 0), RoundResult(2, 0), RoundResult(3, 0), RoundResult(4, 0)],
        6: [RoundResult(2, 0), RoundResult(4, 0)],
    }
    ranked = rank_players(RoundResults(level), ("direct-encounter",), ())
    assert [(place.player, place.text) for place in ranked] == [
        (1, "1"),
        (3, "2"),
        (4, "3"),
        (2, "4"),
        (5, "5-6"),
        (6, "5-6"),
    ]


def test_buchholz_and_its_cuts_are_those_worked_out_by_hand() -> None:
    # points: 1 has 2, 2 has 1½, 3 has 1, 4 has 1½, 5 has 0; player 1 met 2, 3 and 5
    swiss = {
        1: [
            RoundResult(2, 2, round=1),
            RoundResult(3, 0, is_black=True, round=2),
            RoundResult(5, 2, is_black=True, round=3),
        ],
        2: [RoundResult(1, 0, is_black=True, round=1), RoundResult(4, 1, round=2), RoundResult(5, 2, round=3)],
        3: [RoundResult(4, 0, round=1), RoundResult(1, 2, round=2)],
        4: [RoundResult(3, 2, is_black=True, round=1), RoundResult(2, 1, is_black=True, round=2)],
        5: [RoundResult(2, 0, is_black=True, round=3), RoundResult(1, 0, round=3)],
    }
    by_hand = {
        "buchholz": 2.5,
        "buchholz-cut-1": 2.5,
        "buchholz-cut-2": 1.5,
        "buchholz-median-1": 1.0,
        "opponents-buchholz": (3.5 + 3.5 + 3.5) / 3,
        "sonneborn-berger": 1.5,
        "progressive": 1 + 1 + 2,
        "games-with-black": 2,
        "wins-with-black": 1,
    }
    assert {name: value(name, RoundResults(swiss), 1) for name in by_hand} == by_hand


def test_an_average_of_points_is_not_rounded() -> None:
    # points: 1 and 2 have 1½, 3 has 0, 4 has 2; their Buchholz is 3½, 3½, 3½ and 3
    played = {
        1: [RoundResult(2, 0, round=1), RoundResult(3, 2, is_black=True, round=2), RoundResult(4, 1, round=3)],
        2: [RoundResult(1, 2, is_black=True, round=1), RoundResult(4, 1, round=2)],
        3: [RoundResult(4, 0, round=1), RoundResult(1, 0, round=2)],
        4: [
            RoundResult(3, 2, is_black=True, round=1),
            RoundResult(2, 1, is_black=True, round=2),
            RoundResult(1, 1, round=3),
        ],
    }
    assert [value("buchholz", RoundResults(played), player) for player in played] == [3.5, 3.5, 3.5, 3.0]
    assert value("opponents-buchholz", RoundResults(played), 1) == 10 / 3
    assert value("opponents-buchholz", RoundResults(played), 2) == 3.25


def test_every_tie_break_is_named_by_its_section() -> None:
    assert all(tie_break.section and tie_break.title and tie_break.short for tie_break in TIE_BREAKS.values())
    with pytest.raises(UnknownNameError, match="sonneborn-berger"):
        tie_break_named("sonneborn")
