"""Players who came with the rating of a list and have no rated game yet: every command tells the same of them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.answers import player_games, players, predictions, publications
from ledger.answers.achievements import achievements
from ledger.answers.rows import as_row, as_rows
from ledger.errors import UnknownNameError
from ledger.facts.events import Event
from ledger.ledger import Ledger
from ledger.schemes import built_in_schemes
from ledger.schemes.scheme import Newcomer, Scheme
from tests.kit.games import game_recorded, scheme_adopted, seeded
from tests.kit.small_schemes import BY_GAME, Player, install
from tools.cli import main

NOW = datetime(2024, 6, 15, tzinfo=UTC)
LIST_DAY = "2024-06-01"


@pytest.fixture(name="listed_club")
def _ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Two who played in May, and Cleo, who came with a list of June."""
    with Ledger.create(tmp_path / "club.db", scheme="elo", clock=lambda: NOW) as made:
        for number, name in enumerate(("Ann", "Bob", "Cleo", "Dan"), 1):
            assert made.register(f"id:{number}", name) == number
        made.append(game_recorded("g", ended_at="2024-05-01"))
        made.append(seeded(3, "1750.5", effective_at=LIST_DAY, games=60, highest="1812", source="June list"))
        made.catch_up()
        yield made


def listed(ledger: Ledger, on: str) -> dict[str, float]:
    return {row["name"]: row["rating"] for row in as_rows(publications.list_in_force_on(ledger, on))}


def test_from_the_day_of_the_list_on_every_answer_knows_the_player(listed_club: Ledger) -> None:
    cleo = listed_club.player("Cleo")
    summary = as_row(players.summary(listed_club, cleo))
    assert (summary["rating_then"], summary["then"], summary["rating_now"]) == (1750.5, LIST_DAY, 1750.5)
    assert (summary["games"], summary["rank"], summary["rated_players"], summary["last_game"]) == (0, 1, 3, None)
    assert (summary["hera"], summary["hera_date"], summary["hera_scheme"]) == (1812.0, LIST_DAY, "June list")
    assert (summary["mean_rating"], summary["rating_sd"]) == (None, None)
    assert as_rows(player_games.graph_points(listed_club, cleo)) == as_rows(player_games.games(listed_club, cleo)) == []
    assert listed(listed_club, LIST_DAY)["Cleo"] == 1750.5
    everybody = as_rows(listed_club.ranking(min_games=0))
    assert [(row["rank"], row["name"], row["games"], row["last_game"]) for row in everybody] == [
        (1, "Cleo", 0, None),
        (2, "Ann", 1, "2024-05-01"),
        (3, "Bob", 1, "2024-05-01"),
    ]
    assert [row["name"] for row in as_rows(listed_club.ranking())] == ["Ann", "Bob"]
    assert as_row(predictions.predict(listed_club, cleo, listed_club.player("Ann")))["rating"] == 1750.5


def test_a_rating_that_a_list_of_the_present_scheme_brought_is_not_of_another_system(listed_club: Ledger) -> None:
    """The pool has gone to another scheme since its beginning, and the player has no game under either."""
    listed_club.append(scheme_adopted("glicko2", effective_from="2024-05-10", settings={}))
    listed_club.append(seeded(4, "1900", effective_at=LIST_DAY, games=60, highest="1950", source="glicko2"))
    listed_club.ensure_up_to_date()
    (reached,) = as_rows(achievements(listed_club, listed_club.player("Dan")))
    assert (reached["what"], reached["rating"], reached["scheme"]) == ("highest", 1950.0, "glicko2")
    assert not reached["other_system"]
    (cleo,) = as_rows(achievements(listed_club, listed_club.player("Cleo")))
    assert cleo["other_system"]


def test_before_the_day_of_the_list_nobody_knows_the_player(listed_club: Ledger) -> None:
    assert as_row(players.summary(listed_club, listed_club.player("Cleo"), at="2024-05-31"))["rating_then"] is None
    assert "Cleo" not in listed(listed_club, "2024-05-31")
    listed_club.append(seeded(4, "1900", effective_at="2024-07-01"))  # a list that is not in force yet
    listed_club.catch_up()
    summary = as_row(players.summary(listed_club, listed_club.player("Dan")))
    assert (summary["rating_now"], summary["then"]) == (None, "2024-07-01")
    assert "Dan" not in {row["name"] for row in as_rows(listed_club.ranking(min_games=0))}
    assert (
        as_row(predictions.predict(listed_club, listed_club.player("Dan"), listed_club.player("Ann")))["rating"]
        == 1500.0
    )


def test_the_first_game_changes_no_list_of_the_days_before_it(listed_club: Ledger) -> None:
    days = ("2023-12-31", "2024-05-31", LIST_DAY, "2024-06-09")
    before = [listed(listed_club, day) for day in days]
    listed_club.append(game_recorded("first", white=3, black=1, ended_at="2024-06-10"))
    listed_club.catch_up()
    assert [listed(listed_club, day) for day in days] == before
    assert as_row(players.summary(listed_club, listed_club.player("Cleo"), at=LIST_DAY))["rating_then"] == 1750.5


def test_the_newest_list_holds_for_who_has_not_played(listed_club: Ledger) -> None:
    later = (("2024-06-10", "1790"), ("2024-09-01", "1990"))
    listed_club.append_many([seeded(3, rating, effective_at=day) for day, rating in later])
    listed_club.catch_up()
    assert as_row(players.summary(listed_club, listed_club.player("Cleo")))["rating_now"] == 1790
    assert as_rows(listed_club.ranking(min_games=0))[0]["rating"] == 1790
    assert listed(listed_club, "2024-06-09")["Cleo"] == 1750.5


def test_who_has_neither_a_game_nor_a_list_is_not_in_the_pool(listed_club: Ledger) -> None:
    with pytest.raises(UnknownNameError, match="rated game"):
        as_row(players.summary(listed_club, listed_club.player("Dan")))
    declared = listed_club.register("id:5", "Eve", declared_rating=1700)
    listed_club.catch_up()
    assert declared == 5
    assert "Eve" not in listed(listed_club, LIST_DAY)  # a declared rating is one of the pools in which somebody plays


def test_the_commands_tell_of_who_has_not_played(
    listed_club: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(listed_club, LIST_DAY)
    path = str(tmp_path / "club.db")
    for command in (["show", path, "Cleo"], ["runs", path, "--on", "2024-06"], ["ratings", path, "--min-games", "0"]):
        assert main(command) == 0
        assert "1750.5" in capsys.readouterr().out
    assert main(["graph", path, "Cleo"]) == 0
    assert "Cleo has no rated game yet" in capsys.readouterr().out
    assert main(["games", path, "Cleo"]) == 0
    assert main(["ratings", path]) == 0
    assert "Cleo" not in capsys.readouterr().out


@pytest.mark.parametrize("scheme", built_in_schemes(), ids=lambda scheme: scheme.name)
def test_the_best_are_found_and_the_others_counted_without_looking_each_up(scheme: Scheme, tmp_path: Path) -> None:
    """By an index as far as it reaches, and the same as among all."""
    name = scheme.name
    with Ledger.create(tmp_path / "club.db", scheme=name, clock=lambda: NOW) as ledger:
        events: list[Event] = []
        for number in range(1, 31):
            ledger.register(f"id:{number}", f"Player {number}")
            day = (None, "2019-01-01", "2024-06-01")[number % 3]
            if number > 2:
                rating = "90" if number == 9 else f"{1200 + number * 379 % 400}{'.5' * (number % 5 == 0)}"
                events.append(seeded(number, rating, effective_at=day, games=(None, 7, 60)[number % 7 % 3]))
        for step in range(2):
            ledger.append_many(events if not step else [game_recorded("g", ended_at="2024-06-10")])
            ledger.catch_up()
            whole = as_rows(ledger.ranking(limit=1000, min_games=0))
            persons = [ledger.player(str(number)) for number in range(1 if step else 3, 31)]
            shown = {person.player: as_row(players.summary(ledger, person)) for person in persons}
            now = {player: row["rating_now"] for player, row in shown.items()}
            assert {row["player"]: row["rating"] for row in whole} == {
                player: rating for player, rating in now.items() if rating is not None
            }
            ranks = {row["player"]: (row["rank"], len(whole)) for row in whole}
            places = {player: (row["rank"], row["rated_players"]) for player, row in shown.items()}
            assert {player: place for player, place in places.items() if place[0]} == ranks
            for limit in (1, 2, 7, 20):
                assert as_rows(ledger.ranking(limit=limit, min_games=0)) == whole[:limit]


def test_a_list_that_holds_from_the_beginning_is_read_by_the_rules_of_the_day_that_is_asked_for(tmp_path: Path) -> None:
    """FIDE's floor was 1000 up to February 2024 and is 1400 since."""
    path = tmp_path / "club.db"
    Ledger.create(path, scheme="fide", clock=lambda: datetime(2020, 6, 15, tzinfo=UTC)).close()
    for year, ratings in ((2020, [1500.0, 1150.0]), (2024, [1500.0])):
        with Ledger.open(path, clock=partial(datetime, year, 6, 15, tzinfo=UTC)) as ledger:
            if year == 2020:
                for number, rating in enumerate(("1150", "1500"), 1):
                    ledger.register(f"id:{number}", f"Player {number}")
                    ledger.append(seeded(number, rating, games=60))
            ledger.catch_up()
            assert [row["rating"] for row in as_rows(ledger.ranking(min_games=0))] == ratings
            assert sorted(listed(ledger, f"{year}-06-01").values(), reverse=True) == ratings
            assert sorted(listed(ledger, "2020-06-01").values()) == [1150.0, 1500.0]


def test_a_scheme_that_makes_another_rating_of_a_list_is_ranked_by_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No index knows that order: all of them are asked."""

    def enter(newcomer: Newcomer, _: Any) -> Player:
        return Player(3000.0 - (newcomer.declared or 0.0), 0.0)

    install(monkeypatch, attrs.evolve(BY_GAME, enter=enter))
    with Ledger.create(tmp_path / "club.db", scheme=BY_GAME.name, clock=lambda: NOW) as ledger:
        for number in range(1, 6):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append_many([seeded(number, str(1000 + number)) for number in range(1, 6)])
        ledger.catch_up()
        best = as_rows(ledger.ranking(limit=2, min_games=0))
        assert [(row["player"], row["rating"]) for row in best] == [(1, 1999.0), (2, 1998.0)]
