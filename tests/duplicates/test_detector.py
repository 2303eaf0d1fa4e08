"""Games that come under another key than the one that they are known by: matched, held back, or other games."""

from pathlib import Path
from typing import Any

import pytest

from ledger.duplicates.detector import may_name_one_game
from ledger.duplicates.game_keys import is_derived_key
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from tests.errors.rule_cases import source
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tests.kit.games import source_game
from tests.kit.places import DATA

MADE = "csv:{:024x}"


def counts(club: ClubOfTwo, *games: SourceGame, **options: Any) -> tuple[int, int, int, int]:
    """Games recorded, known, supplemented and held back of one file."""
    report = club.ledger.import_games(batch_games(games), **options)
    assert report.faults == []
    return report.recorded, report.repeated, report.supplemented, report.alike_count


def keyless(number: int, **fields: Any) -> SourceGame:
    return source(MADE.format(number), line=number, **{"ended_at": "2026-11-19", **fields})


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("lichess:abcdefgh", "lichess:abcdefgi", False),
        ("lichess:abcdefgh", "fics:1", False),
        ("csv:1", "csv:2", False),
        ("r1-b1", "r1-b2", False),
        ("csv:abcdefgh", "lichess:abcdefgh", True),
        ("lichess:abcdefgh", MADE.format(1), True),
        (MADE.format(1), MADE.format(2), True),
    ],
)
def test_two_keys_of_one_source_or_of_two_servers_are_two_games(first: str, second: str, *, expected: bool) -> None:
    assert may_name_one_game(first, second) is may_name_one_game(second, first) is expected
    assert is_derived_key(MADE.format(7))
    assert not is_derived_key("lichess:abcdefgh")


def test_a_game_without_a_key_is_known_with_and_without_moves(club_of_two: ClubOfTwo) -> None:
    assert counts(club_of_two, keyless(1)) == (1, 0, 0, 0)
    assert counts(club_of_two, keyless(2, half_moves=3, text="1. e4 e5 2. d4")) == (0, 0, 1, 0)
    assert counts(club_of_two, keyless(1)) == counts(club_of_two, keyless(2, half_moves=3)) == (0, 1, 0, 0)
    assert counts(club_of_two, keyless(3, half_moves=5)) == (1, 0, 0, 0)  # another game of that day


def test_a_days_games_stay_many(club_of_two: ClubOfTwo) -> None:
    day = [keyless(number) for number in range(1, 6)]
    assert counts(club_of_two, *day) == (5, 0, 0, 0)
    again = [keyless(number, half_moves=20 + number) for number in range(11, 18)]
    assert counts(club_of_two, *again) == (2, 0, 5, 0)
    assert counts(club_of_two, *again) == (0, 7, 0, 0)
    assert counts(club_of_two, *reversed(day)) == (0, 5, 0, 0)


def test_the_order_of_a_days_games_in_a_file_does_not_matter(club_of_two: ClubOfTwo) -> None:
    outcomes = ("white", "draw", "black")
    assert counts(club_of_two, *(keyless(n, outcome=outcome) for n, outcome in enumerate(outcomes, 1))) == (3, 0, 0, 0)
    assert counts(club_of_two, *(keyless(n, outcome=outcome) for n, outcome in enumerate(outcomes[::-1], 1))) == (
        0,
        3,
        0,
        0,
    )


def test_who_says_most_finds_the_very_game(club_of_two: ClubOfTwo) -> None:
    assert counts(club_of_two, keyless(1, half_moves=30), keyless(2, half_moves=40)) == (2, 0, 0, 0)
    assert counts(club_of_two, keyless(3), keyless(4, half_moves=30)) == (0, 2, 0, 0)


def test_what_looks_like_a_known_game_under_another_key_is_named_and_held_back(club_of_two: ClubOfTwo) -> None:
    first = {"half_moves": 40, "ended_at": "2026-11-19"}
    club_of_two.ledger.import_games(batch_games([source("lichess:abcdefgh", white_id="lichess:ann", **first)]))
    head = club_of_two.ledger.head()
    plain = source("csv:abcdefgh", line=7, termination="unknown", rated=False, **first)
    report = club_of_two.ledger.import_games(batch_games([plain]))
    assert (report.recorded, report.repeated, report.faults, report.alike_count, report.players) == (0, 0, [], 1, 0)
    (alike,) = report.alike
    assert (alike.line, alike.key, alike.known, alike.entry) == (7, "csv:abcdefgh", "lichess:abcdefgh", 6)
    assert club_of_two.ledger.head() == head
    assert counts(club_of_two, plain._replace(half_moves=41)) == (1, 0, 0, 0)
    assert counts(club_of_two, plain._replace(key="csv:z"), record_alike=True) == (1, 0, 0, 0)


def test_of_games_without_keys_it_is_said_what_is_told_otherwise(club_of_two: ClubOfTwo) -> None:
    first = keyless(1, tournament="Clubb champioship", half_moves=40)
    assert counts(club_of_two, first) == (1, 0, 0, 0)
    for corrected, how in (
        (first._replace(key=MADE.format(2), tournament="Club championship"), "with another tournament"),
        (first._replace(key=MADE.format(3), white_id="fide:7"), "with another identity"),
        (first._replace(key="club:r1-b1", tournament="Club championship"), "under another key"),
    ):
        (alike,) = club_of_two.ledger.import_games(batch_games([corrected])).alike
        assert (
            str(alike)
            == f"'{corrected.key}' is probably '{first.key}' of entry {alike.entry}, reported {how}: held back"
        )


@pytest.mark.parametrize(
    ("other", "held"),
    [
        ({}, 1),
        ({"tournament": "The club"}, 1),
        ({"round": "2.1"}, 1),
        ({"ended_at": "2026-11-19T10:09:00Z", "half_moves": 40}, 1),
        ({"ended_at": "2026-11-19T10:09:00Z"}, 0),
        ({"outcome": "draw"}, 0),
        ({"half_moves": 41}, 0),
        ({"round": "3"}, 0),
        ({"started_at": "2026-11-19T10:00:01Z"}, 0),
        ({"ended_at": "2026-11-18"}, 0),
        ({"black_id": "name:dora", "black_name": "Dora"}, 0),
    ],
)
def test_what_contradicts_is_another_game(club_of_two: ClubOfTwo, other: dict[str, Any], held: int) -> None:
    known = source(
        "club:1",
        half_moves=40,
        round="2",
        tournament="Club",
        started_at="2026-11-19T10:00:00Z",
        ended_at="2026-11-19T10:08:00Z",
    )
    club_of_two.ledger.import_games(batch_games([known]))
    telling = source("csv:1", **{"ended_at": "2026-11-19", **other})
    assert counts(club_of_two, telling) == (1 - held, 0, 0, held)


@pytest.mark.parametrize(
    "steps",
    [
        [{"tournament": "Club", "round": "3"}],
        [{}, {"tournament": "Club", "round": "3"}],
        [{"tournament": "Club"}, {"tournament": "Club", "round": "3"}],
        [{"round": "3"}, {"tournament": "Club"}],
        [{}, {"tournament": "Club"}, {"round": "3"}],
    ],
    ids=["at once", "both later", "round later", "event later", "one after another"],
)
def test_swapped_colours_are_seen_whenever_event_and_round_were_told(
    club_of_two: ClubOfTwo, steps: list[dict[str, Any]]
) -> None:
    for step in steps:
        report = club_of_two.ledger.import_games(
            batch_games([source("club:1", half_moves=40, ended_at="2026-11-19", **step)])
        )
        assert (report.recorded + report.supplemented, report.faults) == (1, [])
    white, black = source("x").white_name, source("x").black_name
    swapped = source_game("csv:1", black, white, outcome="black", ended_at="2026-11-19", tournament="Club", round="3")
    report = club_of_two.ledger.import_games(batch_games([swapped]))
    assert (report.recorded, [alike.how for alike in report.alike]) == (0, ["with the colours swapped"])


def test_a_known_key_is_never_held_back(club_of_two: ClubOfTwo) -> None:
    game = source("csv:1", ended_at="2026-11-19")
    assert counts(club_of_two, game) == (1, 0, 0, 0)
    assert counts(club_of_two, keyless(1)) == (0, 1, 0, 0)
    assert counts(club_of_two, game, keyless(1)) == (1, 1, 0, 0)  # the file tells two games


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real games are not here")
@pytest.mark.parametrize("order", [("pgn", "csv"), ("csv", "pgn")])
def test_real_games_without_their_source_do_not_double_in_silence(
    run: Run, tmp_path: Path, order: tuple[str, str]
) -> None:
    path = tmp_path / "club.db"
    assert run("init", path).code == 0
    first, second = (DATA / f"lichess_small.{ending}" for ending in order)
    assert "2,000 games recorded" in run("import", path, first).err
    done = run("import", path, second)
    assert done.code == 0
    words = "0 games recorded, 0 known already, 2,000 probably known, held back (--record-alike records them)"
    assert words in done.err
    assert done.err.splitlines()[10].endswith("and 1,990 more that are probably known")
    done = run("import", path, second, "--record-alike")
    assert "2,000 games recorded" in done.err
