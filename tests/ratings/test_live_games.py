"""Games as they come: one at a time at the end of rating order, with the rows that a rebuild gives."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledger.errors import StorageError
from ledger.facts.events import GameRecorded, PlayerChanged, SchemeAdopted
from ledger.facts.instants import instant_text
from ledger.facts.words import Outcome, Standing, Termination
from ledger.ledger import Ledger
from ledger.ratings import projection
from ledger.ratings.projection import LiveGames
from ledger.schemes import built_in_names, find_scheme
from ledger.schemes.scheme import Rhythm
from tests.kit.games import game_recorded
from tests.kit.lived_histories import all_rows
from tests.kit.plugins import WIN_STREAKS

PLAYERS = 7
FIRST_MS = 1_577_836_800_000  # 2020-01-01
HOUR_MS = 3_600_000
BY_GAME = sorted(name for name in built_in_names() if find_scheme(name).rhythm is Rhythm.GAME)


def games(count: int, first: int = 0) -> list[GameRecorded]:
    """The games of a club, an hour apart, of every result; some do not count."""
    random = Random(first)
    made = []
    for i in range(first, first + count):
        white, black = random.sample(range(1, PLAYERS + 1), 2)
        made.append(
            game_recorded(
                f"g{i}",
                white=white,
                black=black,
                outcome=random.choice(list(Outcome)),
                termination=random.choice((Termination.TIME, Termination.RESIGNATION)),
                half_moves=random.choice((40, 41, 3)),
                ended_at=instant_text(FIRST_MS + HOUR_MS * i),
                rated=i % 11 > 0,
            )
        )
    return made


@pytest.fixture(name="taken")
def _taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The answer of ``LiveGames.rate_if_next``."""
    answers: list[bool] = []
    take = LiveGames.rate_if_next

    def noted(self: LiveGames, game: Any) -> bool:
        answers.append(take(self, game))
        return answers[-1]

    monkeypatch.setattr(LiveGames, "rate_if_next", noted)
    return answers


@pytest.fixture(name="club_without_games", params=["chessworld"])
def _club_without_games(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Ledger]:
    path = tmp_path / "club.db"
    with Ledger.create(path, scheme=request.param) as made:
        for player in range(1, PLAYERS + 1):
            made.register(f"id:{player}", f"Player {player}", declared_rating=1700 if player == 3 else None)
    with Ledger.open(path, projectors=(WIN_STREAKS,)) as ledger:
        yield ledger


def play(ledger: Ledger, played: list[GameRecorded]) -> None:
    """Record and rate one by one."""
    for game in played:
        ledger.append(game)
        ledger.catch_up()


def assert_as_rebuilt(ledger: Ledger) -> None:
    live = all_rows(ledger)
    ledger.rebuild()
    assert live == all_rows(ledger)


@pytest.mark.parametrize("club_without_games", BY_GAME, indirect=True)
def test_every_scheme_by_game_writes_the_rows_of_a_rebuild(club_without_games: Ledger, taken: list[bool]) -> None:
    club_without_games.append_many(games(70))
    club_without_games.catch_up()
    play(club_without_games, games(60, 70))
    assert len(taken) > 20
    assert all(taken)
    assert_as_rebuilt(club_without_games)


def test_a_pool_is_live_from_its_first_game(club_without_games: Ledger, taken: list[bool]) -> None:
    play(club_without_games, games(30))
    assert len(taken) > 10
    assert all(taken)
    assert_as_rebuilt(club_without_games)


def test_a_late_game_and_one_of_the_same_moment_go_the_long_way(club_without_games: Ledger, taken: list[bool]) -> None:
    play(club_without_games, games(40))
    assert all(taken)
    late, last, at_once = (
        game_recorded(key, termination=Termination.CHECKMATE, half_moves=40, ended_at=ended_at)
        for key, ended_at in (("late", "2020-01-01T10:30:00Z"), ("last", "2020-02-01"), ("at-once", "2020-02-01"))
    )
    taken.clear()
    play(club_without_games, [late, last, at_once])
    assert taken == [False, True, False]
    play(club_without_games, games(5, 1_000))
    assert_as_rebuilt(club_without_games)


def test_several_games_at_once_and_other_changes_are_read_again(club_without_games: Ledger, taken: list[bool]) -> None:
    play(club_without_games, games(20))
    club_without_games.append_many(games(10, 20))
    club_without_games.catch_up()
    play(club_without_games, games(10, 30))
    club_without_games.append(PlayerChanged(player=2, effective_at="2020-01-01", standing=Standing.GUEST))
    play(club_without_games, games(10, 40))
    club_without_games.append(SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2020-01-02"))
    play(club_without_games, games(10, 50))
    club_without_games.append(
        SchemeAdopted(pool="standard", scheme="lichess", settings={}, effective_from="2020-01-03")
    )
    play(club_without_games, games(30, 60))
    assert taken.count(True) > 40
    assert_as_rebuilt(club_without_games)


def test_the_first_games_in_a_new_era_are_read_with_what_was_carried(
    club_without_games: Ledger, taken: list[bool]
) -> None:
    club_without_games.append(SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2020-01-02"))
    play(club_without_games, games(48))
    assert taken.count(False) >= PLAYERS // 2  # each player's first game under the new scheme
    assert_as_rebuilt(club_without_games)


def test_another_process_may_take_turns(club_without_games: Ledger, taken: list[bool]) -> None:
    with Ledger.open(club_without_games.path, projectors=club_without_games.views.installed.offered) as other:
        for number, game in enumerate(games(40)):
            play(other if number % 3 == 0 else club_without_games, [game])
    assert all(taken)
    assert_as_rebuilt(club_without_games)


def test_only_so_many_players_are_remembered(
    club_without_games: Ledger, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "REMEMBERED", 3)
    play(club_without_games, games(50))
    assert all(taken)
    assert_as_rebuilt(club_without_games)


def test_what_a_failed_transaction_had_rated_is_forgotten(
    club_without_games: Ledger, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = games(30)
    play(club_without_games, stream[:15])
    with monkeypatch.context() as broken:
        broken.setattr("ledger.ratings.views_file.set_checkpoint", _no_room)
        club_without_games.append(stream[15])
        with pytest.raises(StorageError):
            club_without_games.catch_up()
    play(club_without_games, stream[16:])
    assert taken.count(True) > 10
    assert_as_rebuilt(club_without_games)


def _no_room(*_: object) -> None:
    raise StorageError("club.views.db", "the disk is full")
