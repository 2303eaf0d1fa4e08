"""A scheme that fits all games: a change counts on every later list, and on no published one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.facts.events import GameRecorded
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import engine
from tests.audit.findings import false_places, views_of
from tests.kit.clubs import NOW
from tests.kit.corrections import approve, ask, rebuilt, tables
from tests.kit.games import game_recorded, source_games
from tests.kit.impacts import check, standings
from tests.kit.tampering import edit

GAMES = 120
MONTHS = ("2021-01", "2021-02", "2021-03", "2021-04")
EARLY = "2021-01-2"


@pytest.fixture(name="fitted_club")
def _fitted_club(tmp_path: Path) -> Iterator[Ledger]:
    with new_fitted_club(tmp_path) as ledger:
        ledger.append_many(monthly_games())
        ledger.ensure_up_to_date()
        yield ledger


def new_fitted_club(folder: Path, **settings: str) -> Ledger:
    ledger = Ledger.create(folder / "club.db", scheme="whole-history", settings=settings, clock=lambda: NOW)
    for number in range(1, 6):
        ledger.register(f"id:{number}", f"Player {number}")
    return ledger


def monthly_games() -> list[GameRecorded]:
    """Five games on each of four lists, so that everybody meets two others."""
    return [
        game_recorded(
            f"{month}-{i}", white=1 + i, black=1 + (i + step) % 5, ended_at=f"{month}-{10 + i}", half_moves=60
        )
        for step, month in enumerate(MONTHS, 1)
        for i in range(5)
    ]


def publish(ledger: Ledger, day: str) -> bool:
    """Publish a list; return whether it is a new edition."""
    ledger.ensure_up_to_date()
    return ledger.publications.publish(day, "standard", actor="adam").recorded


def ratings_by_list(ledger: Ledger) -> dict[str, dict[int, tuple[float, float]]]:
    """Return rating and deviation of the players by the month of the list."""
    query = (
        "SELECT strftime('%Y-%m', rated_ms / 1000, 'unixepoch') AS month, player, rating, rd "
        "FROM history JOIN games ON games.position = history.game"
    )
    lists: dict[str, dict[int, tuple[float, float]]] = {}
    for row in ledger.database().query(query):
        lists.setdefault(row["month"], {})[row["player"]] = row["rating"], row["rd"]
    return lists


@pytest.mark.parametrize("compile_from", [engine.COMPILE_FROM, 0], ids=["rows", "columns"])
def test_corrections_give_the_bits_of_the_right_facts_recorded_at_once(
    compile_from: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "COMPILE_FROM", compile_from)
    games = list(source_games(GAMES))
    fitted: list[list[tuple[object, ...]]] = []
    for name, first in (("wrong", games), ("right", [game for game in games if game.key != games[7].key])):
        with Ledger.create(tmp_path / f"{name}.db", scheme="whole-history", clock=lambda: NOW) as ledger:
            ledger.import_games(batch_games(first, GAMES))
            ledger.catch_up()
            if name == "wrong":
                before = tables(ledger)
                void = ask(ledger, "void", game=games[7].key)
                approve(ledger, void)
                assert tables(ledger) == rebuilt(ledger)
                assert tables(ledger)["history"] != before["history"]
            fitted.append(
                sorted(
                    (str(ledger.player(row["player"]).identity), row["n"], row["rating"], row["rd"])
                    for row in ledger.rows("history")
                )
            )
    assert fitted[0] == fitted[1]


def test_a_correction_changes_later_lists_and_no_earlier_one(fitted_club: Ledger) -> None:
    before = ratings_by_list(fitted_club)
    approve(fitted_club, ask(fitted_club, "void", game="2021-03-2"))
    fitted_club.ensure_up_to_date()
    after = ratings_by_list(fitted_club)
    assert [before[month] == after[month] for month in MONTHS] == [True, True, False, False]
    assert tables(fitted_club) == rebuilt(fitted_club)


@pytest.mark.parametrize("words", [{"verb": "void"}, {"verb": "result", "to": "draw"}], ids=["void", "result"])
def test_a_preview_shows_the_changes_of_the_approval(words: dict[str, str], fitted_club: Ledger) -> None:
    change = ask(fitted_club, game=EARLY, **words)
    before, impact = standings(fitted_club), fitted_club.preview([change])
    approve(fitted_club, change)
    check(impact, before, standings(fitted_club))
    assert len(impact.moves) == 5


def test_a_correction_of_colours_changes_no_rating(fitted_club: Ledger) -> None:
    before = ratings_by_list(fitted_club)
    approve(fitted_club, ask(fitted_club, "swap-colours", game=EARLY))
    fitted_club.ensure_up_to_date()
    assert next(fitted_club.rows("games", "key = ?", (EARLY,)))["black"] == 3
    assert ratings_by_list(fitted_club) == before


def test_a_correction_reaches_players_of_later_lists_who_were_not_in_the_game(fitted_club: Ledger) -> None:
    before = ratings_by_list(fitted_club)["2021-04"]
    approve(fitted_club, ask(fitted_club, "void", game=EARLY))
    fitted_club.ensure_up_to_date()
    after = ratings_by_list(fitted_club)["2021-04"]
    assert {player for player in before if before[player] != after[player]} == {1, 2, 3, 4, 5}


def test_published_lists_stay_when_a_late_game_or_a_correction_changes_their_ratings(fitted_club: Ledger) -> None:
    publish(fitted_club, "2021-02-28")
    published = fitted_club.publications.named("standard@2021-02-28")
    rows = list(fitted_club.publications.rows(published))
    before = ratings_by_list(fitted_club)
    late = game_recorded("late", white=1, black=4, ended_at="2021-01-20", half_moves=60)
    fitted_club.append(late)
    approve(fitted_club, ask(fitted_club, "void", game=EARLY))
    assert publish(fitted_club, "2021-02-28")  # another edition, with other ratings
    assert ratings_by_list(fitted_club)["2021-02"] != before["2021-02"]
    assert list(fitted_club.publications.rows(fitted_club.publications.named("standard@2021-02-28/1"))) == rows
    verdict = audit(fitted_club.path, lists=True)
    assert verdict.ok
    assert verdict.lists_recomputed == 2


def test_a_late_report_counts_in_the_next_list_where_the_pool_says_so(tmp_path: Path) -> None:
    with new_fitted_club(tmp_path, late_reports="next-list") as ledger:
        ledger.append_many(monthly_games())
        publish(ledger, "2021-02-28")
        before = ratings_by_list(ledger)
        ledger.append(game_recorded("late", white=1, black=4, ended_at="2021-01-20", half_moves=60))
        assert not publish(ledger, "2021-02-28")
        after = ratings_by_list(ledger)
        assert [before[month] == after[month] for month in MONTHS] == [True, True, False, False]
        assert tables(ledger) == rebuilt(ledger)
        assert audit(ledger.path, lists=True).ok


def test_the_audit_names_the_row_whose_rating_is_no_fit(fitted_club: Ledger) -> None:
    path = fitted_club.path
    fitted_club.close()
    assert audit(path).ok
    edit(views_of(path), "UPDATE history SET rating = rating + 1e-9 WHERE player = 3 AND n = 4")
    assert false_places(path) == [("history", "pool 1, player 3, n 4")]
