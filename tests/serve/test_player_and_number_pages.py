"""The pages as players, directors and officers find them: the graph first, the career, one number, the work."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from ledger.facts.events import Decision
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.served_processes import OFFICER, OTHER_OFFICER, REASON, SITE
from tools import cli
from tools.serve import desk_work
from tools.serve.application import application
from tools.serve.readers import Reader
from tools.serve.sites import Site

Asked = Callable[[str], httpx.Response]
BROWSER = {"Accept": "text/html,application/xhtml+xml"}


def words(text: str) -> str:
    """A page without its marks, each run of blanks as one."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def asking(path: Path, **settings: Any) -> Asked:
    reader = Reader(path, Site(public_url=SITE, **settings), threads=2)
    app = application(reader)

    def get(address: str) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.get(address, headers=BROWSER)

        reader.take_turns()
        return asyncio.run(asked())

    return get


@pytest.fixture(name="open_page")
def _open_page(served: Path) -> Asked:
    return asking(served)


def player(path: Path, name: str) -> int:
    with Ledger.open(path, follow=False) as ledger:
        return ledger.player(name).player


def test_a_player_is_shown_with_rating_trend_graph_career_and_latest_games(open_page: Asked, served: Path) -> None:
    text = open_page(f"/players/{player(served, 'ann')}").text
    before, _, behind = text.partition('id="graph"')
    for word in ("in 90 days", "HERA", "rated games", "Career", "Options"):
        assert word in words(before), word
    assert 'class="rg career"' in behind
    assert words(behind).count("Latest games") == 1
    assert "heading" not in re.findall(r'<text[^>]*class="([^"]*)"', behind), "the page says the name itself"


def test_a_career_leads_from_its_parts_to_the_games_of_then(open_page: Asked, served: Path) -> None:
    number = player(served, "ann")
    text = open_page(f"/players/{number}?by=career").text
    pages = [
        int(page) for page in re.findall(rf'href="/club/players/{number}\?page=(\d+)"[^>]*aria-label="games', text)
    ]
    assert pages == sorted(pages, reverse=True)
    assert pages[-1] == 1, "the newest games are at the right"


def test_a_number_of_a_list_has_a_page_with_its_games_formula_and_proof(open_page: Asked, served: Path) -> None:
    number = player(served, "ann")
    text = words(open_page(f"/players/{number}/lists/2006-06").text)
    with Ledger.open(served, follow=False) as ledger:
        rows = ledger.publications.rows(ledger.publications.named("standard@2006-06-30"))
        (row,) = [row for row in rows if row.player == number]
    assert f"{row.rating:.4f}" in text
    for part in ("The games of this list", "The formula with its numbers", "What proves it", "example.org/club"):
        assert part in text
    missing = open_page(f"/players/{number}/lists/1999")
    assert missing.status_code == 404
    assert "2006-06-30" in words(missing.text), "the lists that there are"
    assert open_page("/players/ann/lists/2006-06").headers["location"] == f"/club/players/{number}/lists/2006-06"


def test_a_number_leads_to_its_calculation_line_by_line(open_page: Asked, served: Path) -> None:
    number = player(served, "ann")
    address = f"/players/{number}/lists/2006-06/calculation"
    assert 'lists/standard@2006-06-30/calculation"' in open_page(f"/players/{number}/lists/2006-06").text
    text = words(open_page(address).text)
    for part in ("calculation of the list standard@2006-06-30", "each rated by itself", "the games add up", "Rc"):
        assert part in text
    assert open_page("/players/ann/lists/2006-06/calculation").headers["location"] == f"/club{address}"
    assert open_page(f"/players/{number}/lists/never/calculation").status_code == 400
    changes = open_page(f"/players/{number}/changes?since=2006-06").text
    game = re.search(r'href="/club(/games/[^"]+)"', changes)
    assert re.search(rf'href="/club/players/{number}/lists/2006-[0-9-]+/calculation" title="How it was', changes)
    assert game is not None
    assert f"/players/{number}/lists/" in open_page(game[1]).text


def test_a_correction_is_shown_with_players_and_values_and_keys_only_in_details(open_page: Asked) -> None:
    for address in ("/", "/corrections", "/corrections/1"):
        text = open_page(address).text
        assert "does not count" in words(text), address
        assert "game:" not in words(re.sub(r"(?s)<details.*?</details>", "", text)), address


def test_a_replay_shows_each_position_without_script(served: Path) -> None:
    with Ledger.open(served) as ledger:
        (row,) = ledger.rows("games", "position = 20")
    open_page = asking(served, analyse="https://lichess.org/analysis/pgn/{pgn}")
    first = open_page(f"/games/{row['key']}?move=1").text
    assert re.search(r'alt="After 1\. c4\.', first)
    assert 'aria-label="Forward"' in first
    assert re.search(r'href="https://lichess\.org/analysis/pgn/1\.%20c4%20e5', first), "the moves, and no names"
    begin = open_page(f"/games/{row['key']}?move=0").text
    assert 'alt="Before the first move.' in begin
    picture = open_page(f"/boards/{row['key']}?move=1").text
    assert "After 1. c4" in picture
    assert picture != open_page(f"/boards/{row['key']}").text


CLOCKED = """[Event "Club evening"]
[White "Ann"]
[Black "Bob"]
[Date "2006.09.10"]
[Result "1-0"]

1. e4 {[%clk 0:05:00]} e5 {[%clk 0:04:58]} 2. Qh5 {[%clk 0:04:51]} Nc6 {[%clk 0:04:40]}
3. Bc4 {[%clk 0:04:50]} Nf6 4. Qxf7# {[%clk 0:04:44]} 1-0
"""


def test_a_replay_shows_the_clocks_that_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    (tmp_path / "evening.pgn").write_text(CLOCKED)
    assert cli.main(["init", str(path), "--pool", "standard", "--scheme", "chessworld"]) == 0
    assert cli.main(["import", str(path), str(tmp_path / "evening.pgn")]) == 0
    with Ledger.open(path) as ledger:
        (row,) = ledger.rows("games")
    open_page = asking(path)
    for move, clocks in (
        (0, "White – Black –"),
        (3, "White 0:04:51 Black 0:04:58"),
        (7, "White 0:04:44 Black 0:04:40"),
    ):
        assert clocks in words(open_page(f"/games/{row['key']}?move={move}").text), move


def test_the_ranking_shows_established_players_unless_others_are_asked_for(open_page: Asked, served: Path) -> None:
    with Ledger.open(served) as ledger:
        newcomer = ledger.register("name:newcomer", "Newcomer")
        ledger.append(game_recorded("first", white=newcomer, black=1, half_moves=40, ended_at="2006-09-10"))
        ledger.ensure_up_to_date()
    assert "Newcomer" not in open_page("/ranking").text
    everybody = open_page("/ranking?provisional=yes").text
    assert "Newcomer" in everybody
    assert "A provisional rating" in everybody


def test_a_new_club_shows_everybody(tmp_path: Path) -> None:
    assert cli.main(["init", str(tmp_path / "new.db"), "--pool", "standard", "--scheme", "chessworld"]) == 0
    with Ledger.open(tmp_path / "new.db") as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        ledger.append(game_recorded("first", white=ann, black=bob, half_moves=40, ended_at="2006-09-10"))
        ledger.ensure_up_to_date()
    open_page = asking(tmp_path / "new.db", title="New club", about="Since today.")
    assert "Ann" in open_page("/ranking").text
    start = words(open_page("/").text)
    assert "New club" in start
    assert "Since today." in start
    assert "None yet" not in start, "no empty box"


def test_an_undone_correction_stays_in_the_list_of_corrections(open_page: Asked, served: Path) -> None:
    with Ledger.open(served) as ledger:
        number = ledger.propose([ledger.corrections.drafts.undo(1)], reason=REASON, by=OFFICER).proposal
        ledger.decide(number, Decision.APPROVED, by=OTHER_OFFICER, reason=REASON)
        ledger.ensure_up_to_date()
    assert "undone" in words(open_page("/corrections").text)


def test_the_desk_says_which_list_is_due_until_it_is_published(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "new.db", scheme="fide", clock=lambda: datetime(2006, 10, 15, tzinfo=UTC)) as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        ledger.append(game_recorded("first", white=ann, black=bob, half_moves=40, ended_at="2006-09-10"))
        ledger.append(game_recorded("second", white=bob, black=ann, half_moves=40, ended_at="2006-10-10"))
        ledger.ensure_up_to_date()
        assert [last.due for last in desk_work.work(ledger, {}).lists] == ["2006-09-30"]
        ledger.publications.publish("2006-09-30", actor="otto")
        ledger.ensure_up_to_date()
        assert [last.due for last in desk_work.work(ledger, {}).lists] == [None]
