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

from ledger.answers.graphs import png
from ledger.facts.events import Decision, FederationSet, RatingSeeded, SchemeAdopted
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
    assert len(pages) % 2 == 0, "one drawing is for a desk, one for a phone"
    for drawing in (pages[: len(pages) // 2], pages[len(pages) // 2 :]):
        assert drawing == sorted(drawing, reverse=True)
        assert drawing[-1] == 1, "the newest games are at the right"


def test_a_range_of_the_graph_and_of_the_career_is_chosen_by_days(open_page: Asked, served: Path) -> None:
    number = player(served, "ann")
    text = open_page(f"/players/{number}?since=2005-03&until=2005-05").text
    days = set(re.findall(r'aria-label="Game \d+, (\d{4}-\d\d)', text))
    assert days
    assert days <= {"2005-03", "2005-04", "2005-05"}
    assert "2005-03 to 2005-05" in words(text)
    empty = open_page(f"/players/{number}?since=1990&until=1991").text
    assert "No rated game counts in that time" in words(empty)
    assert len(re.findall('aria-label="Game ', empty)) == 50
    wrong = open_page(f"/players/{number}?since=2006&until=2005")
    assert (wrong.status_code, "a range begins before it ends" in words(wrong.text)) == (400, True)
    graph = open_page(f"/api/v1/players/{number}/graph?since=2005-03&until=2005-05").json()
    assert {bar["in_force"][:7] for bar in graph["player"]["bars"]} == days
    assert open_page(f"/api/v1/players/{number}/graph?since=2005-03&page=1").status_code == 400
    data = open_page(f"/api/v1/players/{number}/career?since=2005&until=2005&marks=yes").json()
    assert {point["in_force"][:4] for point in data["points"]} == {"2005"}
    assert {mark["in_force"][:4] for mark in data["tournaments"]} == {"2005"}
    assert [year["year"] for year in data["years"]] == [2005]


def test_then_the_graph_ends_with_that_day(open_page: Asked, served: Path) -> None:
    number = player(served, "ann")
    text = open_page(f"/players/{number}?at=2005-06-30").text
    days = re.findall(r'aria-label="Game \d+, (\d{4}-\d\d-\d\d)', text)
    assert max(days) <= "2005-06-30"
    (newer,) = re.findall(r'<a rel="prev" href="[^"]*\?page=(\d+)', text)
    after = re.findall(r'aria-label="Game \d+, (\d{4}-\d\d-\d\d)', open_page(f"/players/{number}?page={newer}").text)
    assert min(after) <= max(days) < max(after), "the page of the next newer game"
    assert 'class="bar fill-now"' not in text


def test_a_list_scheme_has_no_hera_and_shows_its_pools_together_on_request(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", scheme="fide") as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        ledger.append(SchemeAdopted(pool="rapid", scheme="fide", settings={"rapid": True}))
        for pool in ("standard", "rapid"):
            for who in (ann, bob):
                ledger.append(RatingSeeded(player=who, pool=pool, effective_at="2024-01", rating="1800", games=50))
            for n in range(60):
                facts = {"ended_at": f"2024-{1 + n // 6:02}-10", "half_moves": 60, "tournament": f"Open {n // 6}"}
                ledger.append(game_recorded(f"{pool}-{n}", pool=pool, white=ann, black=bob, **facts))
        ledger.ensure_up_to_date()
    open_page = asking(tmp_path / "club.db")
    for address in ("/players/1", "/players/1?by=career", "/api/v1/players/1/career?format=svg&marks=yes"):
        assert not re.search("HERA|[Cc]lass [A-D]", open_page(address).text), address
    alone = open_page("/players/1?by=career").text
    (highest,) = set(re.findall(r"highest (\d{4}), (2024-\d\d-\d\d)<", alone))
    assert f"Highest {highest[0]} {highest[1]}" in words(alone)
    assert 'href="/club/tournaments/Open%203?pool=standard' in alone
    assert 'href="/club/players/1?by=career&amp;pools=every"' in alone
    together = open_page("/players/1?by=career&pools=every").text
    assert len(re.findall('class="career-line"', together)) == 2 * len(re.findall('class="career-line"', alone)) == 4
    data = open_page("/api/v1/players/1/career?pools=every").json()
    assert [line["pool"] for line in data["other_pools"]] == ["rapid"]
    assert data["has_classes"] is False


def test_posts_have_a_picture_of_the_player_and_of_the_game(open_page: Asked, served: Path) -> None:
    number = player(served, "ann")
    with Ledger.open(served, follow=False) as ledger:
        keys = [row["key"] for row in ledger.rows("games", "position IN (20, 21)")]
    for address in (f"/players/{number}", *(f"/games/{key}" for key in keys)):
        text = open_page(address).text
        (image,) = re.findall(r'<meta property="og:image" content="([^"]+)">', text)
        assert image.startswith(f"{SITE}/pictures/")
        answer = open_page(image.removeprefix(SITE))
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
        width, height = (int.from_bytes(answer.content[at : at + 4], "big") for at in (16, 20))
        assert (width, height) == (1200, 630)
        assert f'<meta property="og:image:width" content="{width}">' in text
        assert open_page(image.removeprefix(SITE)).headers["etag"] == answer.headers["etag"]
    moved = open_page("/pictures/players/ann")
    assert moved.headers["location"] == f"/club/pictures/players/{number}"


def test_without_resvg_posts_have_no_picture_and_the_address_says_why(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(png, "is_available", lambda: False)
    open_page = asking(served)
    number = player(served, "ann")
    text = open_page(f"/players/{number}").text
    assert "og:image" not in text
    assert "format=png" not in text
    for address in (f"/pictures/players/{number}", f"/api/v1/players/{number}/career?format=png"):
        answer = open_page(address)
        assert (answer.status_code, "draws no PNG" in answer.text) == (400, True), address


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
    for part in ("calculation of the list standard@2006-06-30", "games rated one by one", "the games add up", "Rc"):
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
        ledger.append(RatingSeeded(player=ann, pool="standard", rating="2000", games=100))
        ledger.append(game_recorded("first", white=ann, black=bob, half_moves=40, ended_at="2006-09-10"))
        ledger.append(game_recorded("second", white=bob, black=ann, half_moves=40, ended_at="2006-10-10"))
        ledger.ensure_up_to_date()
        assert [last.due for last in desk_work.work(ledger, {}).lists] == ["2006-10-01"]
        ledger.publications.publish("2006-10-01", actor="otto")
        ledger.ensure_up_to_date()
        assert [last.due for last in desk_work.work(ledger, {}).lists] == [None]


def test_the_page_of_a_game_with_a_guest_explains_the_rating_of_the_opponent_alone(tmp_path: Path) -> None:
    path = tmp_path / "nor.db"
    with Ledger.create(path, scheme="fide", settings={"federation": "NOR"}) as ledger:
        facts: list[Any] = []
        for name, federation, rating in (("Ann", "NOR", "2000"), ("Mia", "SWE", "2312")):
            player = ledger.register(f"name:{name.lower()}", name)
            facts.append(FederationSet(player=player, effective_at="2024-01-01", federation=federation))
            facts.append(RatingSeeded(player=player, pool="standard", rating=rating, games=100))
        ledger.append_many([*facts, game_recorded("guest", outcome="draw", half_moves=40, ended_at="2024-09-10")])
        ledger.ensure_up_to_date()
    get = asking(path)
    page = words(get("/games/guest").text)
    assert "Why Ann’s rating changed" in page
    assert "Why Mia’s rating" not in page
    explained = get("/api/v1/games/guest/explanation").json()
    assert (explained["white"]["player"], explained["black"]) == ("Ann", None)
