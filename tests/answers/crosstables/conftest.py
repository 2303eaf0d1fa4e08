"""A club with tournaments of several kinds, which the tests of this folder ask and do not change."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import combinations

import pytest

from ledger.facts.events import GameRecorded, RatingSeeded, TournamentOpened
from ledger.facts.words import Format, Outcome, Termination
from ledger.ledger import Ledger
from tests.kit.games import game_recorded

EVIL = "Eve <b>&amp;\u202e"
NAMES = ("Ann", "Bob", "Cleo", EVIL, "Dan", "Fay", "Gus", "Hal")
RATINGS = (1500, 1600, 1850, 1700, 1400, 1450, 1550, 1650)
OUTCOMES = {"1": Outcome.WHITE, "½": Outcome.DRAW, "0": Outcome.BLACK, "*": Outcome.NONE}
CUP = "Spring cup"


def cup_game(pair: tuple[int, int], outcome: str, day: int, year: int, **facts: object) -> GameRecorded:
    """A game of the cup, White named first."""
    white, black = pair
    return game_recorded(
        f"cup{year}-{white}-{black}-{day}",
        white=white,
        black=black,
        outcome=OUTCOMES[outcome],
        half_moves=60,
        ended_at=f"{year}-04-{day:02}",
        tournament=CUP,
        **facts,
    )


def events() -> Iterator[GameRecorded]:
    """Two editions of an all-play-all, a double round, a Swiss tournament, a knock-out."""
    for day, (pair, outcome) in enumerate(zip(combinations(range(1, 5), 2), "10½1½1", strict=True), 1):
        yield cup_game(pair, outcome, day, 2023)
    yield cup_game((1, 3), "1", 1, 2024)  # an upset by 350 points: Ann has beaten Cleo
    yield cup_game((2, 4), "½", 2, 2024)
    yield cup_game((1, 2), "0", 3, 2024, termination=Termination.UNPLAYED)
    yield cup_game((3, 4), "1", 4, 2024)
    yield cup_game((4, 1), "*", 5, 2024, termination=Termination.UNKNOWN)
    swiss = ("r1 5 1 6", "r1 7 ½ 8", "r2 5 1 7", "r2 8 0 6", "r3 8 1 5", "r3 6 ½ 7", "r1 1 1 2", "r2 2 1 3", "r3 3 0 1")
    for place, words in enumerate(swiss, 1):
        text, white, outcome, black = words.split()
        yield game_recorded(
            f"swiss{place}",
            white=int(white),
            black=int(black),
            outcome=OUTCOMES[outcome],
            half_moves=50,
            ended_at=f"2024-06-0{text[1]}",
            tournament="Summer open",
            round=f"{text[1]}.{place}",
        )
    knock_out = ((1, "1", 2), (3, "½", 4), (4, "0", 3), (1, "0", 3))
    for place, (first, outcome, second) in enumerate(knock_out, 1):
        yield game_recorded(
            f"ko{place}",
            white=first,
            black=second,
            outcome=OUTCOMES[outcome],
            half_moves=50,
            ended_at=f"2024-09-0{place}",
            tournament="Knock-out",
        )


@pytest.fixture(name="cups", scope="module")
def _cups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """Eight players with the ratings of a list, under Elo's formula with K 20."""
    path = tmp_path_factory.mktemp("tournaments") / "club.db"
    clock = datetime(2025, 1, 1, tzinfo=UTC)
    with Ledger.create(path, scheme="elo", settings={"k": "20"}, clock=lambda: clock) as ledger:
        for number, (name, rating) in enumerate(zip(NAMES, RATINGS, strict=True), 1):
            assert ledger.register(f"id:{number}", name) == number
            ledger.append(
                RatingSeeded(player=number, pool="standard", effective_at="2023-01-01", rating=str(rating), games=30)
            )
        ledger.append(
            TournamentOpened(
                pool="standard",
                tournament="Summer open",
                starts_at="2024-06-01",
                ends_at="2024-06-09",
                format=Format.SWISS,
                entrants=8,
                rounds=4,
            )
        )
        ledger.policies.set("upsets", {"margin": 300}, effective_from="2024-01-01", actor="eve")
        ledger.append_many(list(events()))
        ledger.ensure_up_to_date()
        yield ledger
