"""Closed accounts: off every list from an instant on, while games, ratings and opponents stay what they were."""

import json
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from ledger.answers import opponents, player_games, players, predictions, publications, rankings
from ledger.answers.graphs import page_reader
from ledger.answers.rows import as_row, as_rows
from ledger.audit.audit import audit, table_digests
from ledger.book.roster import STANDING_CODE
from ledger.facts.events import Decision, Event, PlayerChanged, RatingSeeded
from ledger.facts.words import Outcome, Standing
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from ledger.schemes import available_schemes
from ledger.schemes.scheme import STANDING_FULL
from tests.kit.clubs import NOW
from tests.kit.commands import Run
from tests.kit.games import game_recorded

NAMES = ("ann", "bob", "cleo", "dora")


def made(path: Path, scheme: str = "chessworld", **settings: bool) -> Ledger:
    """Four players, of whom Ann has won all, then Bob, then Cleo; three lists of a month by a scheme that has them."""
    ledger = Ledger.create(path / "club.db", scheme=scheme, settings=settings, clock=lambda: NOW)
    numbers = [ledger.register(f"name:{name}", name.capitalize(), declared_rating=1500) for name in NAMES]
    for month, (white, black) in product(("01", "02", "03"), ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))):
        ledger.append(
            game_recorded(
                f"g{month}-{white}{black}",
                white=numbers[white],
                black=numbers[black],
                outcome=Outcome.WHITE,
                half_moves=60,
                ended_at=f"2021-{month}-1{white}",
            )
        )
    ledger.ensure_up_to_date()
    return ledger


def close(ledger: Ledger, player: int, since: str, standing: Standing = Standing.CLOSED) -> None:
    ledger.append(PlayerChanged(player=player, effective_at=since, standing=standing))
    ledger.ensure_up_to_date()


def ranked(ledger: Ledger, min_games: int = 1) -> list[int]:
    rows = as_rows(ledger.ranking(limit=100, min_games=min_games))
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    return [row["player"] for row in rows]


def on_the_list(ledger: Ledger, day: str) -> list[int]:
    return [row["player"] for row in as_rows(publications.list_in_force_on(ledger, day))]


def summary(ledger: Ledger, player: int) -> dict[str, object]:
    return as_row(players.summary(ledger, ledger.player(str(player))))


@pytest.mark.parametrize("scheme", ["chessworld", "elo", "fide", "ecf-monthly", "glicko2"])
def test_who_is_closed_is_on_no_list_from_then_on_and_plays_on_as_a_full_member(scheme: str, tmp_path: Path) -> None:
    with made(tmp_path, scheme) as ledger:
        before = {player: summary(ledger, player) for player in range(1, 5)}
        rows = list(ledger.rows("history", "1 ORDER BY player, n"))
        days = ("2021-02-15", "2021-02-28", "2021-03-31", "2021-06-30")
        lists = {day: on_the_list(ledger, day) for day in days}
        order = ranked(ledger)
        told = as_row(predictions.predict(ledger, ledger.player("1"), ledger.player("2")))
        close(ledger, 1, "2021-03")
        assert list(ledger.rows("history", "1 ORDER BY player, n")) == rows, "games count as ever"
        rest = [player for player in order if player != 1]
        assert ranked(ledger) == ranked(ledger, min_games=0) == rest
        for day in days:
            gone = {1} if day >= "2021-03" else set()
            assert on_the_list(ledger, day) == [player for player in lists[day] if player not in gone]
        assert [row["player"] for row in as_rows(ledger.ranking(limit=1))] == rest[:1]
        assert [row["player"] for row in as_rows(publications.list_in_force_on(ledger, "2021-06-30", limit=1))] == [
            player for player in lists["2021-06-30"] if player != 1
        ][:1]
        for player in range(1, 5):
            now = summary(ledger, player)
            place = rest.index(player) + 1 if player in rest else None
            assert (now["rank"], now["rated_players"]) == (place, len(rest))
            shares = {
                row["player"]: row["percentile"] for row in as_rows(rankings.ranking(ledger, rankings.RankingChoice()))
            }
            assert now["percentile"] == shares.get(player)
            among = {"rank": 0, "rated_players": 0, "percentile": 0}
            assert {**now, **among} == {**before[player], **among}
        assert as_row(predictions.predict(ledger, ledger.player("1"), ledger.player("2"))) == told
        assert len(as_rows(player_games.graph_points(ledger, ledger.player("1")))) == 9


@pytest.mark.parametrize("scheme", ["elo", "ecf-monthly"])  # a scheme that lists everybody, and one that does not
def test_opponent_statistics_are_of_the_ratings_that_the_graph_shows(scheme: str, tmp_path: Path) -> None:
    with made(tmp_path, scheme) as ledger:
        for player in map(ledger.player, NAMES):
            bars = page_reader.read_page(ledger, player, last=0).player.bars
            games = as_row(
                opponents.results_against(ledger, player, ledger.player("ann" if player.name != "Ann" else "bob"))
            )["games"]
            shown = {bar.n: (bar.game, bar.ended_at, bar.rating, bar.opponent_rating) for bar in bars}
            assert len(games) == 3
            for game in games:
                assert (game["game"], game["ended_at"], game["rating"], game["opponent_rating"]) == shown[game["n"]]
            (batch,) = as_rows(opponents.statistics_by_batch(ledger, player))
            ratings = [bar.opponent_rating for bar in bars if bar.opponent_rating is not None]
            assert (batch["played"], batch["opponent_max"]) == (9, max(ratings, default=None))
            (then,) = as_rows(opponents.statistics_by_batch(ledger, player, at="2021-02"))
            assert (then["page"], then["last_n"]) == (None, 6)


def test_the_next_list_does_not_tell_of_who_is_closed_by_then(tmp_path: Path) -> None:
    with made(tmp_path, "fide") as ledger:
        row = next(row for row in as_rows(publications.list_in_force_on(ledger, "2021-02-28")) if row["player"] == 1)
        assert row["next_rating"] is not None
        close(ledger, 1, "2021-03-05")
        row = next(row for row in as_rows(publications.list_in_force_on(ledger, "2021-02-28")) if row["player"] == 1)
        assert (row["next_rating"], row["change"]) == (None, None)


def test_an_account_that_is_opened_again_is_back(tmp_path: Path) -> None:
    with made(tmp_path) as ledger:
        order = ranked(ledger)
        close(ledger, 1, "2021-03")
        close(ledger, 1, "2021-09", Standing.FULL)
        assert ranked(ledger) == order
        assert 1 not in on_the_list(ledger, "2021-08-31")
        assert 1 in on_the_list(ledger, "2021-09-01")


def test_an_account_that_closes_later_is_still_on_the_lists(tmp_path: Path) -> None:
    with made(tmp_path) as ledger:
        close(ledger, 1, "2022-01-02")  # tomorrow
        assert 1 in ranked(ledger)
        assert 1 not in on_the_list(ledger, "2022-01-02")
    with Ledger.open(tmp_path / "club.db", clock=lambda: NOW.replace(day=2)) as ledger:
        ledger.ensure_up_to_date()
        assert 1 not in ranked(ledger)


def test_who_joins_closed_or_has_only_the_rating_of_a_list_is_on_none(tmp_path: Path) -> None:
    with made(tmp_path) as ledger:
        eve = ledger.register("name:eve", "Eve")
        zoe = ledger.register("name:zoe", "Zoe", standing=Standing.CLOSED)
        seeds: list[Event] = [
            RatingSeeded(pool="standard", player=who, rating="2500", effective_at="2021-01") for who in (eve, zoe)
        ]
        ledger.append_many(seeds)
        ledger.ensure_up_to_date()
        assert ranked(ledger, min_games=0)[0] == eve
        close(ledger, eve, "2021-05")
        assert {eve, zoe} & set(ranked(ledger, min_games=0)) == set()
        assert set(on_the_list(ledger, "2021-04-30")) & {eve, zoe} == {eve}
        assert set(on_the_list(ledger, "2021-05-01")) & {eve, zoe} == set()


def test_a_closing_that_was_proposed_acts_when_it_is_approved_and_is_undone(tmp_path: Path) -> None:
    with made(tmp_path) as ledger:
        order, drafts = ranked(ledger), ledger.corrections.drafts
        number = ledger.propose([drafts.close_account(1, "2021-03")], reason="two accounts", by="eve").proposal
        assert ranked(ledger) == order
        ledger.decide(number, Decision.APPROVED, by="adam")
        ledger.ensure_up_to_date()
        assert ranked(ledger) == [player for player in order if player != 1]
        undo = ledger.propose([drafts.undo(number)], reason="another Ann", by="eve").proposal
        ledger.decide(undo, Decision.APPROVED, by="adam")
        ledger.ensure_up_to_date()
        assert ranked(ledger) == order


def test_a_published_list_keeps_who_is_taken_off_it_later(tmp_path: Path) -> None:
    with made(tmp_path) as ledger:
        pool = ledger.pool()
        ledger.publications.publish("2021-06-30", actor="eve")
        ledger.ensure_up_to_date()
        (first,) = publications.published_ratings(ledger, pool, 1)
        assert first.published == first.revised is not None
        close(ledger, 1, "2021-05")
        (later,) = publications.published_ratings(ledger, pool, 1)
        assert (later.published, later.revised) == (first.published, None)
        assert audit(ledger.path).falsehoods == ()


def test_a_rebuild_gives_the_same_rows_and_the_audit_agrees(tmp_path: Path) -> None:
    with made(tmp_path) as ledger:
        close(ledger, 1, "2021-02-11")
        order = ranked(ledger)
        with closing(sqlite.connect(sidecar(ledger.path, "views"))) as connection:
            before = table_digests(connection)
        ledger.rebuild()
        with closing(sqlite.connect(sidecar(ledger.path, "views"))) as connection:
            assert table_digests(connection) == before
        assert ranked(ledger) == order
        assert audit(ledger.path).falsehoods == ()


def test_no_kernel_sees_another_standing_than_a_full_members() -> None:
    assert set(STANDING_CODE) == set(Standing)
    assert STANDING_CODE[Standing.CLOSED] == STANDING_CODE[Standing.FULL] == STANDING_FULL
    assert len({STANDING_CODE[word] for word in Standing}) == len(Standing) - 1
    assert len(available_schemes()) >= 16


def test_the_command_closes_an_account(tmp_path: Path, run: Run) -> None:
    made(tmp_path).close()
    path = tmp_path / "club.db"
    assert run("player", "set", path, "Ann", "--standing", "closed", "--since", "2021-03").code == 0
    assert [row["name"] for row in json.loads(run("ratings", path).out)] == ["Bob", "Cleo", "Dora"]
    assert json.loads(run("runs", path, "--on", "2021-02").out)[0]["name"] == "Ann"
    assert "Ann" not in run("runs", path, "--on", "2021-03", "--csv").out
    told = json.loads(run("show", path, "Ann").out)
    assert (told["rank"], told["rated_players"], told["rating_now"] > 1500) == (None, 3, True)
    assert json.loads(run("show", path, "Bob").out)["rank"] == 1
    assert run("games", path, "Ann").code == run("graph", path, "Ann").code == 0
    assert run("audit", path).code == 0
