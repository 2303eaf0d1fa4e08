"""When the views are folded on, when they are built anew, and what an open ledger sees of it."""

from pathlib import Path
from typing import Any, NoReturn

import attrs
import pytest

from ledger import schemes
from ledger.answers.rows import as_rows
from ledger.audit.audit import table_digests
from ledger.errors import StorageError
from ledger.facts.events import ConversionRange, Event, GameRecorded, RatingRunClosed, SchemeAdopted, TournamentClosed
from ledger.facts.periods import OPEN
from ledger.facts.words import Carry
from ledger.ledger import Ledger
from ledger.ratings import views as views_module
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import ClubOfTwo, takes_misfits
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.impacts import file_digests
from tests.kit.small_schemes import BY_EVENT, BY_GAME, BY_PERIOD, SMALL, install


def game_of_day(number: int, white: int, black: int) -> GameRecorded:
    return game_recorded(
        f"g{number}",
        white=white,
        black=black,
        half_moves=40,
        ended_at=f"2020-01-{number:02}",
        tournament="Cup" if number % 2 else None,
    )


def adopted(scheme: str, since: str | None = None, **more: Any) -> SchemeAdopted:
    return scheme_adopted(scheme, effective_from=since, **more)


def generous(white: Any, black: Any, score: float, day: float, numbers: object) -> None:
    """A kernel: whoever plays gains a point and counts the game."""
    for player in (white, black):
        player.rating += 1.0
        player.games += 1.0


@pytest.fixture(name="club_of_five_games")
def _club_of_five_games(tmp_path: Path) -> Path:
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        ann, bob = ledger.register("id:1", "Ann"), ledger.register("id:2", "Bob")
        ledger.append_many([game_of_day(number, ann, bob) for number in range(1, 6)])
        ledger.catch_up()
    return path


def test_a_new_version_of_a_scheme_builds_the_views_anew(
    club_of_five_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = schemes.find_scheme("chessworld")
    with Ledger.open(club_of_five_games) as ledger:
        before = [row["rating"] for row in ledger.rows("current")]
    install(monkeypatch, attrs.evolve(old, version=2, rate_game=generous))
    with Ledger.open(club_of_five_games) as ledger:
        ledger.catch_up()
        assert [row["rating"] for row in ledger.rows("current")] != before
        assert ("scheme chessworld", "2") in ledger.views.connection.execute("SELECT * FROM projections").fetchall()


def test_an_open_ledger_goes_on_with_views_that_were_deleted_and_built_by_another(club_of_five_games: Path) -> None:
    with Ledger.open(club_of_five_games) as ledger:
        ledger.catch_up()
        for leftover in club_of_five_games.parent.glob("club.views.*"):
            leftover.unlink()
        with Ledger.open(club_of_five_games) as other:
            other.catch_up()
        ledger.append(game_of_day(6, 1, 2))
        assert ledger.catch_up() == 9
    with Ledger.open(club_of_five_games) as again:
        assert again.views.position() == 9
        assert len(list(again.rows("history"))) == 12


def test_views_are_level_only_when_every_entry_is_folded_in(club_of_five_games: Path) -> None:
    with Ledger.open(club_of_five_games) as ledger:
        assert ledger.views.is_up_to_date()
        ledger.append(game_of_day(7, 1, 2))
        assert not ledger.views.is_up_to_date()
        sidecar(club_of_five_games, "views").unlink()
        assert not ledger.views.is_up_to_date()


@pytest.fixture(name="with_small_schemes")
def _with_small_schemes(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, *SMALL)


def ratings(ledger: Ledger) -> list[float]:
    """By player, the rating after the last game."""
    return [row["rating"] for row in ledger.rows("current", "1 ORDER BY player")]


CONVERTED = (ConversionRange(factor="0.5", offset="700"), ConversionRange(from_rating="1400", factor="1", offset="1"))
CHANGES: dict[str, Event] = {
    "to a scheme by game": adopted(BY_GAME.name, "2020-01-03"),
    "to one by event": adopted(BY_EVENT.name, "2020-01-03", carry=Carry.RESTART),
    "to one by period": adopted(BY_PERIOD.name, "2020-01-03", settings={"period_days": 2}),
    "to one by runs": adopted(BY_PERIOD.name, "2020-01-02", settings={"by_runs": True}, carry=Carry.RESTART),
    "by a conversion": adopted(BY_GAME.name, "2020-01-03", carry=Carry.CONVERT, conversion=CONVERTED),
    "in settings": adopted("chessworld", "2020-01-03", settings={"provisional_games": 1}),
    "before all games": adopted(BY_GAME.name, "1999"),
    "after all games": adopted(BY_GAME.name, "2021"),
}


@pytest.mark.usefixtures("with_small_schemes")
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_scheme_is_folded_in_as_a_rebuild_would_have_it(club_of_five_games: Path, name: str) -> None:
    with Ledger.open(club_of_five_games) as ledger:
        before = ratings(ledger)
        ledger.append(CHANGES[name])
        assert ledger.catch_up() == 9
        ledger.append(game_of_day(6, 2, 1))
        ledger.catch_up()
        folded = table_digests(ledger.views.connection)
        if name != "after all games":
            assert ratings(ledger) != before
        ledger.rebuild()
        assert table_digests(ledger.views.connection) == folded


@pytest.mark.slow
@pytest.mark.usefixtures("with_small_schemes")
def test_facts_that_arrive_in_any_order_give_the_same_views(club_of_five_games: Path) -> None:
    facts: list[Event] = [
        adopted(BY_PERIOD.name, "2020-01-02", settings={"by_runs": True}),
        adopted(BY_EVENT.name, "2020-01-05", carry=Carry.RESTART),
        RatingRunClosed(pool="standard", as_of="2020-01-03"),
        RatingRunClosed(pool="standard", as_of="2020-01-02"),
        TournamentClosed(pool="standard", tournament="Cup", ended_at="2020-01-06"),
        game_of_day(6, 2, 1),
        game_of_day(7, 1, 2),
    ]
    told: list[list[tuple[Any, ...]]] = []
    for order in (facts, facts[::-1], facts[3:] + facts[:3]):
        path = club_of_five_games.with_name(f"{len(told)}.db")
        # a journal of old may tell the end of a tournament after a game of its next edition, which is refused by now
        with Ledger.create(path) as ledger:
            takes_misfits(ledger)
            ann, bob = ledger.register("id:1", "Ann"), ledger.register("id:2", "Bob")
            for fact in [*(game_of_day(number, ann, bob) for number in range(1, 6)), *order]:
                ledger.append(fact)
                ledger.catch_up()
            told.append(
                [
                    (row["player"], row["n"], row["rating"], row["ended_ms"])
                    for row in ledger.rows("history", "1 ORDER BY player, n")
                ]
            )
            folded = table_digests(ledger.views.connection)
            ledger.rebuild()
            assert table_digests(ledger.views.connection) == folded
    assert told[0] == told[1] == told[2]


@pytest.mark.usefixtures("with_small_schemes")
def test_games_wait_for_their_run_and_take_their_place_in_the_first_that_closes_after_them(
    club_of_five_games: Path,
) -> None:
    def places() -> list[int]:
        return [row["rated_ms"] for row in ledger.rows("games", "1 ORDER BY ended_ms")]

    with Ledger.open(club_of_five_games) as ledger:
        ledger.append(adopted(BY_PERIOD.name, "1970", settings={"by_runs": True}))
        ledger.catch_up()
        assert places() == [OPEN] * 5
        for day in ("2020-01-04", "2020-01-02"):
            ledger.append(RatingRunClosed(pool="standard", as_of=day))
            ledger.catch_up()
        second, fourth = 1578009599999, 1578182399999  # the last milliseconds of those days
        assert places() == [second, second, fourth, fourth, OPEN]


@pytest.mark.usefixtures("with_small_schemes")
def test_a_closed_tournament_is_one_batch_and_an_open_one_is_what_was_played_in_a_month(
    club_of_five_games: Path,
) -> None:
    def batches() -> list[tuple[int, str]]:
        return [(row["rated_ms"], row["batch"]) for row in ledger.rows("games", "1 ORDER BY ended_ms")]

    with Ledger.open(club_of_five_games) as ledger:
        ledger.append(adopted(BY_EVENT.name, "1970"))
        ledger.catch_up()
        month, end = 1580515199999, 1579391999999  # the ends of January and of its eighteenth day
        assert batches() == [(month, "Cup"), (month, ""), (month, "Cup"), (month, ""), (month, "Cup")]
        ledger.append(TournamentClosed(pool="standard", tournament="Cup", ended_at="2020-01-18"))
        ledger.catch_up()
        assert batches() == [(end, "Cup"), (month, ""), (end, "Cup"), (month, ""), (end, "Cup")]


@pytest.mark.usefixtures("with_small_schemes")
def test_a_new_version_of_a_later_scheme_builds_the_views_anew(
    club_of_five_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(club_of_five_games) as ledger:
        ledger.append(adopted(BY_GAME.name, "2020-01-03"))
        ledger.catch_up()
        before = ratings(ledger)
    install(monkeypatch, attrs.evolve(BY_GAME, version=2, rate_game=generous))
    with Ledger.open(club_of_five_games) as ledger:
        assert not ledger.views.is_up_to_date()
        ledger.catch_up()
        assert ratings(ledger) != before
        projections = ledger.views.connection.execute("SELECT * FROM projections").fetchall()
        assert {("scheme chessworld", "1"), ("scheme small-game", "2")} <= set(projections)


@pytest.mark.usefixtures("with_small_schemes")
def test_an_open_ledger_goes_on_by_the_scheme_that_another_one_adopted(club_of_five_games: Path) -> None:
    with Ledger.open(club_of_five_games) as ledger:
        ledger.catch_up()
        with Ledger.open(club_of_five_games) as other:
            other.append(adopted(BY_GAME.name, "2020-01-05", carry=Carry.RESTART))
            other.catch_up()
            assert ratings(other) == [1510.0, 1490.0]
        ledger.append(game_of_day(6, 1, 2))
        ledger.catch_up()
        assert ratings(ledger) == [1520.0, 1480.0]
        assert [era.scheme.name for era in ledger.pool().eras] == ["chessworld", BY_GAME.name]


def test_who_does_not_follow_answers_as_far_as_the_views_are_and_writes_nothing(club_of_two: ClubOfTwo) -> None:
    with Ledger.open(club_of_two.path, follow=False) as reader:
        with pytest.raises(StorageError, match="there are no views of this release yet; who writes the ledger"):
            reader.ranking()
        club_of_two.ledger.ensure_up_to_date()
        before = as_rows(reader.ranking())
        club_of_two.ledger.append(game_recorded("r2"))
        files = file_digests(club_of_two.folder)
        with reader.read_snapshot() as position:
            assert position == club_of_two.ledger.journal.size() - 1
            assert reader.snapshot_journal.size() == position
        assert as_rows(reader.ranking()) == before
        assert file_digests(club_of_two.folder) == files
        with pytest.raises(StorageError):
            reader.append(game_recorded("r3"))
        club_of_two.ledger.ensure_up_to_date()
        assert as_rows(reader.ranking()) != before
        with reader.read_snapshot() as position:
            assert position == club_of_two.ledger.journal.size()


def test_who_does_not_follow_sees_views_that_were_put_in_place(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.ensure_up_to_date()
    with Ledger.open(club_of_two.path, follow=False) as reader:
        before = as_rows(reader.ranking())
        club_of_two.ledger.append(game_recorded("r2"))
        club_of_two.ledger.rebuild()
        assert as_rows(reader.ranking()) != before


def test_answers_share_what_they_read_of_players_until_somebody_has_written(club_of_five_games: Path) -> None:
    def games_of_ann(ledger: Ledger) -> int:
        row = ledger.states(pool).last_row(1)
        assert row is not None
        return int(row["n"])

    with Ledger.open(club_of_five_games) as one, Ledger.open(club_of_five_games) as two:
        pool = one.pool()
        with one.read_snapshot():
            states, games = one.states(pool), games_of_ann(one)
            two.append(game_of_day(6, 1, 2))
            two.ensure_up_to_date()
            assert one.states(pool) is states
            assert games_of_ann(one) == games  # of this moment
        with one.read_snapshot():
            assert one.states(pool) is not states
            assert games_of_ann(one) == games + 1
        one.append(game_of_day(7, 1, 2))
        with one.read_snapshot():
            assert games_of_ann(one) == games + 2
        assert one.states(pool) is not one.states(pool)  # outside of a moment anybody may write between two questions


def test_what_is_known_of_everybody_is_read_only_where_a_newcomer_or_another_scheme_asks_for_it(
    club_of_five_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: object) -> NoReturn:
        raise AssertionError("all standings and changes were read")

    monkeypatch.setattr(views_module, "Roster", read)
    with Ledger.open(club_of_five_games) as ledger, ledger.read_snapshot():
        states = ledger.states(ledger.pool())
        now = states.now(1, ledger.now_ms())
        assert states.at(1, states.in_force_ms(ledger.now_ms()) or 0).rating == now.rating
        with pytest.raises(AssertionError, match="all standings"):
            states.newcomer(3, 0)
