"""Pages of a rating graph, filled from a ledger: which games, in which order, with which numbers and marks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import player_games
from ledger.answers.graphs import page_reader
from ledger.answers.graphs.graph_data import Page
from ledger.answers.rows import as_rows
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.events import RatingSeeded, SchemeAdopted
from ledger.facts.words import Carry, Outcome, Termination
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from tests.kit.clubs import NOON, NOW, copied
from tests.kit.corrections import approve
from tests.kit.games import game_recorded, source_games


@pytest.fixture(scope="module")
def drawn_club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """Made-up games under two schemes, the second by period."""
    path = tmp_path_factory.mktemp("drawn") / "club.db"
    with Ledger.create(path, clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(1_500)))
        ledger.ensure_up_to_date()
        (last,) = ledger.views.connection.execute("SELECT max(ended_at) FROM games").fetchone()
        (middle,) = ledger.views.connection.execute(
            "SELECT ended_at FROM games ORDER BY ended_ms LIMIT 1 OFFSET 900"
        ).fetchone()
        assert middle < last
        ledger.append(
            SchemeAdopted(pool="standard", scheme="glicko2", settings={}, effective_from=middle[:10], carry=Carry.KEEP)
        )
        ledger.ensure_up_to_date()
        yield ledger


def numbers(page: Page) -> list[int]:
    return [bar.n for bar in page.player.bars]


@pytest.mark.slow
def test_the_newest_games_come_first_a_hundred_by_default(drawn_club: Ledger) -> None:
    person = drawn_club.player("made:p1")
    page = page_reader.read_page(drawn_club, person)
    games = page.player.games
    assert games > 150
    assert numbers(page) == list(range(games, games - 100, -1))
    assert (page.page, page.newer, page.older, page.pages) == (None, None, 3, -(-games // 50))
    assert page.is_newest
    assert numbers(page_reader.read_page(drawn_club, person, last=0)) == list(range(games, 0, -1))
    assert page_reader.read_page(drawn_club, person, last=0).older is None


def test_the_pages_of_fifty_follow_each_other_and_hold_every_game_once(drawn_club: Ledger) -> None:
    person = drawn_club.player("made:p2")
    found: list[int] = []
    seen: list[int] = []
    number: int | None = 1
    while number is not None:
        page = page_reader.read_page(drawn_club, person, number=number)
        assert page.page == number
        assert page.newer == (number - 1 or None)
        assert page.is_newest == (number == 1)
        assert len(page.player.bars) == 50 or page.older is None
        seen.append(number)
        found += numbers(page)
        number = page.older
    assert seen == list(range(1, page.pages + 1))
    assert found == list(range(page.player.games, 0, -1))


def test_a_bar_says_what_the_games_of_a_player_say(drawn_club: Ledger) -> None:
    for player in ("made:p1", "made:p7", "made:p30"):
        person = drawn_club.player(player)
        page = page_reader.read_page(drawn_club, person, last=0)
        rows = as_rows(player_games.games(drawn_club, person, last=10_000))
        assert [_row(page, bar) for bar in page.player.bars] == [
            {name: row[name] for name in _row(page, page.player.bars[0])} for row in rows
        ]
        graph = as_rows(player_games.graph_points(drawn_club, person))[::-1]
        assert [bar.scheme for bar in page.player.bars] == [point["scheme"] for point in graph]


def _row(page: Page, bar: Any) -> dict[str, Any]:
    return {
        "n": bar.n, "game": bar.game, "ended_at": bar.ended_at, "colour": bar.colour, "result": bar.result,
        "termination": bar.termination, "rating": bar.rating, "rating_now": page.player.rating_now,
        "opponent": bar.opponent, "opponent_rating": bar.opponent_rating,
        "opponent_rating_now": bar.opponent_rating_now, "in_force": bar.in_force, "tournament": bar.tournament,
        "corrected": bar.corrected, "published_list": bar.published_list,
    }  # fmt: skip


def test_the_counts_of_the_pages_add_up_to_those_of_the_player(drawn_club: Ledger) -> None:
    person = drawn_club.player("made:p1")
    whole = page_reader.read_page(drawn_club, person, last=0).player
    parts = [
        page_reader.read_page(drawn_club, person, number=k).player
        for k in range(1, page_reader.count_pages(whole.games) + 1)
    ]
    for name in ("wins", "draws", "losses", "time_losses"):
        assert sum(getattr(part, name) for part in parts) == getattr(whole, name)
    assert whole.wins + whole.draws + whole.losses == whole.games
    assert whole.highest == max(part.highest for part in parts if part.highest is not None)
    assert whole.lowest == min(part.lowest for part in parts if part.lowest is not None)


def test_a_seam_stands_where_the_scheme_changes(drawn_club: Ledger) -> None:
    player = page_reader.read_page(drawn_club, drawn_club.player("made:p1"), last=0).player
    (seam,) = player.seams
    by_number = {bar.n: bar for bar in player.bars}
    assert (seam.before, seam.scheme) == ("chessworld", "glicko2")
    assert (by_number[seam.n].scheme, by_number[seam.n - 1].scheme) == ("glicko2", "chessworld")
    assert [bar.n for bar in player.bars if bar.provisional and bar.scheme == "chessworld"] == list(range(49, 0, -1))


def test_a_second_player_has_the_games_of_the_same_days(drawn_club: Ledger) -> None:
    ann, bob = drawn_club.player("made:p1"), drawn_club.player("made:p2")
    page = page_reader.read_page(drawn_club, ann, number=2, by="date", against=bob)
    assert page.against is not None
    first, last = page.player.bars[-1].ended_ms, page.player.bars[0].ended_ms
    inside = [
        bar.n for bar in page_reader.read_page(drawn_club, bob, last=0).player.bars if first <= bar.ended_ms <= last
    ]
    assert [bar.n for bar in page.against.bars] == inside != []
    newest = page_reader.read_page(drawn_club, ann, number=1, by="date", against=bob).against
    assert newest is not None
    assert newest.bars[0].n == newest.games


def test_of_a_second_player_who_plays_far_more_the_older_games_are_left_out(
    drawn_club: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_reader, "MOST_SECOND_PLAYER_GAMES", 7)
    ann, bob = drawn_club.player("made:p1"), drawn_club.player("made:p2")
    beside = page_reader.read_page(drawn_club, ann, last=0, by="date", against=bob).against
    assert beside is not None
    assert len(beside.bars) == 7
    assert beside.bars[0].n == beside.games
    assert beside.left_out > 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"last": 30}, "multiples of 50"),
        ({"last": -50}, "multiples of 50"),
        ({"number": 1, "last": 50}, "one of the two"),
        ({"against": "made:p2"}, "go by date"),
        ({"against": "made:p1", "by": "date"}, "the same player"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(
    arguments: dict[str, Any], problem: str, drawn_club: Ledger
) -> None:
    if "against" in arguments:
        arguments = {**arguments, "against": drawn_club.player(arguments["against"])}
    with pytest.raises(MalformedError, match=problem):
        page_reader.read_page(drawn_club, drawn_club.player("made:p1"), **arguments)


def test_a_page_that_is_not_there_is_told_with_how_many_there_are(drawn_club: Ledger) -> None:
    with pytest.raises(UnknownNameError, match=r"no page '99' of the graph; Player 1 has \d+, of 50 games each"):
        page_reader.read_page(drawn_club, drawn_club.player("made:p1"), number=99)


def test_a_player_with_one_game_and_a_player_without_a_game(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", clock=lambda: NOON) as ledger:
        for name in ("Ann", "Bob", "Cleo", "Dan"):
            ledger.register(f"name:{name.lower()}", name)
        ledger.append(
            game_recorded("lichess:abcdefgh", outcome=Outcome.WHITE, termination=Termination.TIME, half_moves=40)
        )
        ledger.append(RatingSeeded(player=3, pool="standard", rating="2100"))
        ledger.ensure_up_to_date()
        bob = page_reader.read_page(ledger, ledger.player("Bob"))
        (bar,) = bob.player.bars
        assert (bar.result, bar.time_loss, bar.colour) == ("loss", True, "black")
        assert bar.address == "https://lichess.org/abcdefgh"
        assert (bob.player.losses, bob.player.time_losses, bob.pages, bob.older) == (1, 1, 1, None)
        assert not page_reader.read_page(ledger, ledger.player("Ann")).player.bars[0].time_loss
        cleo = page_reader.read_page(ledger, ledger.player("Cleo"))
        assert (cleo.player.bars, cleo.player.rating_now, cleo.player.games, cleo.pages) == ([], 2100.0, 0, 1)
        assert (
            page_reader.read_page(ledger, ledger.player("Ann"), by="date", against=ledger.player("Cleo")).against
            is not None
        )
        with pytest.raises(UnknownNameError, match="rated game"):
            page_reader.read_page(ledger, ledger.player("Dan"))


@pytest.mark.slow
def test_a_corrected_game_and_a_list_that_said_otherwise_are_marked(sample_folder: Path, tmp_path: Path) -> None:
    with Ledger.open(copied(sample_folder, tmp_path)) as ledger:
        ledger.ensure_up_to_date()
        ledger.publications.publish("2006-06-30", actor="eve")
        ann = ledger.player("ann")
        game = page_reader.read_page(ledger, ann).player.bars[11]
        drawn = ledger.corrections.drafts.replace(f"game:{game.game}", {"outcome": "draw"})
        approve(ledger, drawn)
        ledger.ensure_up_to_date()
        bars = {bar.n: bar for bar in page_reader.read_page(ledger, ann).player.bars}
        assert [n for n in bars if bars[n].corrected] == [game.n]
        marked = [bar for bar in bars.values() if bar.published_list]
        assert [bar.published_list for bar in marked] == ["standard@2006-06-30/1"]
        assert marked[0].published_rating != marked[0].revised_rating
        assert marked[0].ended_at <= "2006-06-30T23:59:59Z" < bars[marked[0].n + 1].ended_at


def test_the_final_position_comes_from_the_moves_that_are_kept(sample_folder: Path, tmp_path: Path) -> None:
    with Ledger.open(copied(sample_folder, tmp_path)) as ledger:
        ledger.ensure_up_to_date()
        ann = ledger.player("ann")
        assert {bar.final_position for bar in page_reader.read_page(ledger, ann, number=1).player.bars} == {None}
        positions = [
            bar.final_position for bar in page_reader.read_page(ledger, ann, number=1, boards=True).player.bars
        ]
        assert all(position is not None and position.count("/") == 7 for position in positions)
