"""How a tournament was paired, as its games show it or as it was told, and what is missing of it."""

from itertools import combinations

import pytest

from ledger.answers.crosstables.event_games import Announcement, EventGame
from ledger.answers.crosstables.pairing_systems import (
    PairingSystem,
    build_matches,
    find_pairing_system,
    knockout_places,
)
from ledger.answers.crosstables.tie_breaks import SharedPlace
from ledger.facts.words import round_order


def played(*games: str) -> list[EventGame]:
    """Games such as ``1 1-0 2`` or ``r3 1 ½ 2``, in their order, a day each."""
    found = []
    for place, words in enumerate(games, 1):
        *head, white, result, black = words.split()
        text = head[0].removeprefix("r") if head else None
        half_points = {"1-0": 2, "½": 1, "0-1": 0, "*": None}[result]
        found.append(
            EventGame(
                "Cup",
                place,
                f"g{place}",
                int(white),
                int(black),
                half_points,
                "unknown",
                place * 86_400_000,
                f"2024-01-{place:02}",
                text,
                round_order(text),
                None,
                None,
                None,
            )
        )
    return found


def kind(games: list[EventGame], **announced: object) -> PairingSystem:
    return find_pairing_system(games, Announcement(**announced))  # type: ignore[arg-type]


def all_play_all(players: int, *times: str) -> list[EventGame]:
    pairs = list(combinations(range(1, players + 1), 2))
    return played(*(f"{a} 1-0 {b}" if way == "there" else f"{b} ½ {a}" for way in times for a, b in pairs))


@pytest.mark.parametrize(("times", "meetings"), [(("there",), 1), (("there", "back"), 2)])
def test_an_all_play_all_is_seen_with_its_cycles(times: tuple[str, ...], meetings: int) -> None:
    seen = kind(all_play_all(5, *times))
    assert (seen.format, seen.meetings, seen.missing) == ("all-play-all", meetings, ())


def test_the_games_that_it_lacks_are_named_by_their_pairs() -> None:
    games = all_play_all(5, "there", "back")
    lacking = kind(games[:-3])
    assert lacking.missing == ("3 games to play between 3 pairs",)
    assert lacking.missing_pairs == {(3, 4): 1, (3, 5): 1, (4, 5): 1}


def test_rounds_that_were_told_say_how_often_two_meet() -> None:
    half_way = kind(all_play_all(4, "there"), format="all-play-all", rounds=6)
    assert (half_way.meetings, half_way.missing[0]) == (2, "6 games to play between 6 pairs")


def test_who_has_a_bye_so_far_plays_in_an_all_play_all_too() -> None:
    told = Announcement(format="all-play-all", rounds=3)
    first = find_pairing_system(played("r1 1 1-0 2"), told, [(3, 1)])
    assert (first.meetings, first.missing_pairs) == (1, {(1, 3): 1, (2, 3): 1})
    never_came = find_pairing_system(
        all_play_all(4, "there"), Announcement(format="all-play-all", rounds=3), [(5, 1)], {5}
    )
    assert (never_came.meetings, never_came.missing_pairs) == (1, {})


def test_the_entrants_who_were_told_say_how_often_two_meet_before_all_have_played() -> None:
    first = kind(played("r1 1 1-0 2", "r1 3 1-0 4"), format="all-play-all", entrants=10, rounds=9)
    assert (first.meetings, first.extra_pairs) == (1, {})


@pytest.mark.parametrize("rounds", [None, 5])
def test_before_the_first_game_nobody_knows_how_often_two_meet(rounds: int | None) -> None:
    told = Announcement(format="all-play-all", rounds=rounds)
    for byes in ([(1, 1)], [(1, 1), (2, 1)]):
        alone = find_pairing_system([], told, byes)
        assert (alone.meetings, alone.missing_pairs, len(alone.missing)) == (0, {}, 1)
    assert find_pairing_system([], Announcement("all-play-all", 6, 10), [(1, 1)]).meetings == 2


def test_a_play_off_is_more_than_the_other_pairs_have() -> None:
    games = [*all_play_all(4, "there"), *played("1 1-0 2", "2 ½ 1")]
    assert kind(games).extra_pairs == {(1, 2): 2}


def test_what_is_told_holds_against_what_is_seen() -> None:
    told = kind(all_play_all(4, "there"), format="swiss", entrants=6, rounds=5)
    assert (told.format, told.rounds) == ("swiss", 5)
    assert told.missing == ("2 of 6 entrants have no game", "no game has the number of its round")


SWISS = (
    "r1 1 1-0 2",
    "r1 3 1-0 4",
    "r1 5 ½ 6",
    "r1 7 0-1 8",
    "r2 1 ½ 3",
    "r2 8 1-0 5",
    "r2 6 1-0 7",
    "r2 2 1-0 4",
    "r3 1 1-0 8",
    "r3 3 ½ 6",
    "r3 2 1-0 5",
)


def test_a_swiss_tournament_is_seen_and_says_that_byes_are_not_known() -> None:
    seen = kind(played(*SWISS))
    assert (seen.format, seen.rounds) == ("swiss", 3)
    assert seen.missing == ("2 rounds of a player without a game, and no report whether a bye brought points",)


def test_two_players_play_a_match() -> None:
    seen = kind(played("1 1-0 2", "2 ½ 1", "1 * 2"))
    assert (seen.format, seen.missing) == ("match", ("1 game without a result",))


CUP = ("1 1-0 2", "3 ½ 4", "4 0-1 3", "5 1-0 6", "8 1-0 7", "1 1-0 3", "5 ½ 8", "8 ½ 5", "7 ½ 7", "1 1-0 5", "5 0-1 1")


def test_a_knock_out_is_seen_with_its_rounds() -> None:
    games = [game for game in played(*CUP) if game.white != game.black]
    assert kind(games).format == "knockout"
    found = build_matches(games, {player: f"P{player}" for player in range(1, 9)})
    assert [(match.round, match.names, match.points, match.by_points) for match in found] == [
        (1, ["P1", "P2"], [1, 0], True),
        (1, ["P3", "P4"], [1.5, 0.5], True),
        (1, ["P5", "P6"], [1, 0], True),
        (1, ["P8", "P7"], [1, 0], True),
        (2, ["P1", "P3"], [1, 0], True),
        (2, ["P5", "P8"], [1, 1], False),
        (3, ["P1", "P5"], [2, 0], True),
    ]


def test_the_losers_of_the_semi_finals_may_play_for_the_third_place() -> None:
    games = [game for game in played(*CUP, "3 1-0 8") if game.white != game.black]
    assert kind(games).format == "knockout"
    third = [match for match in build_matches(games, dict.fromkeys(range(1, 9), "P")) if match.third_place]
    assert [match.players for match in third] == [[3, 8]]
    found = build_matches(games, dict.fromkeys(range(1, 9), "P"))
    ranked = knockout_places(found, [SharedPlace(player, 1, 8) for player in range(1, 9)])
    assert [(place.player, place.text) for place in ranked] == [
        (1, "1"), (5, "2"), (3, "3"), (8, "4"), (2, "5-8"), (4, "5-8"), (6, "5-8"), (7, "5-8"),
    ]  # fmt: skip


def test_games_of_no_shape_are_called_so() -> None:
    assert kind(played("1 1-0 2", "1 1-0 2", "3 1-0 4", "5 ½ 6", "1 ½ 7")).format == "other"
