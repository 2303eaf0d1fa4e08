"""Entity tags: an answer has another one whenever it is another answer, though no entry was recorded meanwhile."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from ledger.facts.prior_ratings import PriorRating
from ledger.facts.words import Carry
from ledger.ledger import Ledger
from ledger.players.pending_changes import PendingName, PendingNames
from ledger.runtime import sqlite
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.served_processes import SITE, Get
from tools.serve import readers
from tools.serve.application import application
from tools.serve.readers import Reader
from tools.serve.routes import ROUTES
from tools.serve.sites import Site

PAGE = {"Accept": "text/html"}
# a site whose checkpoints are signed
SIGNING = Site(public_url=SITE, verifier="example.org/club+84363505+AQffWFr67/KFjW0wlu5WrS6aQpolVtkHolB2JJ9eDiJM")


@pytest.fixture(name="look_at")
def _look_at(served: Path) -> Iterator[Get]:
    """Asks for an address of the site, a page or one for programs."""
    reader = Reader(served, SIGNING, threads=2)
    app = application(reader)

    def look_at(address: str, method: str = "GET", **more: object) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.request(method, address, **more)  # type: ignore[arg-type]

        reader.take_turns()  # it belongs to a loop, and each question has one
        return asyncio.run(asked())

    yield look_at
    reader.close()


def test_the_page_of_a_game_has_its_receipt_as_soon_as_a_checkpoint_covers_it(served: Path, look_at: Get) -> None:
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("late", half_moves=60), actor="import")
        ledger.ensure_up_to_date()
    page, receipt = "/games/late", "/api/v1/games/late/receipt"
    before = look_at(page, headers=PAGE)
    assert "There is none yet" in before.text
    refused = look_at(receipt)
    assert (refused.status_code, "no checkpoint covers this game" in refused.text) == (404, True)
    with Ledger.open(served) as ledger:
        ledger.checkpoints.make()
    after = look_at(page, headers={**PAGE, "If-None-Match": before.headers["etag"]})
    assert (after.status_code, "There is none yet" in after.text) == (200, False)
    assert look_at(page, headers={**PAGE, "If-None-Match": after.headers["etag"]}).status_code == 304
    given = look_at(receipt)
    assert given.status_code == 200
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("later", half_moves=60), actor="import")
        ledger.checkpoints.make()  # the views stay where they are
    newer = look_at(receipt, headers={"If-None-Match": given.headers["etag"]})
    assert (newer.status_code, newer.content == given.content) == (200, False)


def test_a_name_that_is_sealed_and_not_given_yet_is_not_kept_as_it_was(
    served: Path, look_at: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, tags = "/api/v1/players/1", list[str]()
    give = PendingNames.apply
    look_at(address)  # has the ledger open: who opens it brings to its end what waits
    with Ledger.open(served) as folding, Ledger.open(served) as renaming:
        old, position = folding.player("1").name, folding.journal.size()

        def folded_in_meanwhile(names: PendingNames, pending: PendingName) -> None:
            folding.ensure_up_to_date()
            between = look_at(address)
            assert (between.json()["position"], between.json()["name"]) == (position + 1, old)
            assert look_at(address, headers={"If-None-Match": between.headers["etag"]}).status_code == 304
            tags.append(between.headers["etag"])
            give(names, pending)

        monkeypatch.setattr(PendingNames, "apply", folded_in_meanwhile)
        renaming.registry.rename(1, "Spelt Right", actor="test")
    assert tags
    after = look_at(address, headers={"If-None-Match": tags[0]})
    assert (after.status_code, after.json()["position"], after.json()["name"]) == (200, position + 1, "Spelt Right")
    assert look_at(address, headers={"If-None-Match": after.headers["etag"]}).status_code == 304


def test_ratings_that_were_mended_by_a_rebuild_are_told_at_once_and_alike_by_every_process(
    served: Path, look_at: Get
) -> None:
    address = "/api/v1/ranking?limit=1"
    right = look_at(f"{address}&min_games=2").json()["rows"]
    with closing(sqlite.connect(served.with_name("club.views.db"))) as views:
        views.execute("UPDATE current SET rating = 2999 WHERE player = ?", (right[0]["player"],))
        views.commit()
    wrong = look_at(address)
    assert wrong.json()["rows"][0]["rating"] == 2999
    with Ledger.open(served) as ledger:
        ledger.rebuild()
    mended = look_at(address, headers={"If-None-Match": wrong.headers["etag"]})
    assert (mended.status_code, mended.json()["rows"]) == (200, right)
    tags = {"If-None-Match": mended.headers["etag"]}
    assert look_at(address, headers=tags).status_code == 304
    other = Reader(served, SIGNING, threads=1)
    asked = {"pool": None, "at": None, "min_games": 1, "active": None, "limit": 1, "offset": 0, "format": "json"}
    asked |= dict.fromkeys(("federation", "club", "women", "juniors", "seniors", "listed_active"))
    route = next(route for route in ROUTES if route.path == "/ranking")
    again = other.answer(route, asked, f"/api/v1/ranking {sorted(asked.items())}", [mended.headers["etag"]])
    assert again.body is None
    other.close()


def test_whose_rating_is_of_another_system_is_asked_anew_on_the_day_when_the_system_changes(
    served: Path, look_at: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = (datetime(2030, 12, 31, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC))

    def it_is(day: datetime) -> None:
        monkeypatch.setattr(readers, "utc_now", lambda: day)
        monkeypatch.setattr(Ledger, "now_ms", lambda _: int(day.timestamp() * 1000))

    with Ledger.open(served) as ledger:
        past = PriorRating(rating="1500", highest="1600", source="elo")
        player = ledger.registry.add("name:new", "New", past=past, actor="test").player
        scheme = ledger.first_scheme()
        changed = scheme_adopted("elo", pool=scheme.pool, settings={}, effective_from="2031-01-01", carry=Carry.KEEP)
        ledger.append(changed)
        ledger.ensure_up_to_date()
    address = f"/api/v1/players/{player}/best"
    it_is(days[0])
    before = look_at(address)
    it_is(days[1])
    after = look_at(address, headers={"If-None-Match": before.headers["etag"]})
    assert after.status_code == 200
    assert [row["other_system"] for row in before.json()["rows"]] == [True]
    assert [row["other_system"] for row in after.json()["rows"]] == [False]


def test_who_has_any_answer_is_told_that_there_is_one_only_where_there_is(look_at: Get) -> None:
    anything = {"If-None-Match": "*"}
    for _ in range(2):
        assert look_at("/api/v1/players/1", headers=anything).status_code == 304
        assert look_at("/games/1", headers={**PAGE, **anything}).status_code == 404
        assert look_at("/check", headers={**PAGE, **anything}).status_code == 304
    assert look_at("/api/v1/players/999999", headers=anything).status_code == 404


def test_an_answer_that_is_not_sent_again_says_on_what_it_depends(look_at: Get) -> None:
    first = look_at("/api/v1/ranking")
    again = look_at("/api/v1/ranking", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.headers["vary"]) == (304, first.headers["vary"])
