"""Feeds as RFC 4287 has them: well formed, whole, called the same for good, updated when the facts are."""

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import httpx
import pytest
from starlette.applications import Starlette

from ledger.answers.asking import Naming
from ledger.facts.events import Decision
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.served_processes import EVIL_NAMES, OFFICER, OTHER_OFFICER, REASON, SITE
from tools.serve import atom
from tools.serve.application import application
from tools.serve.readers import Reader
from tools.serve.sites import Site

ATOM = "{http://www.w3.org/2005/Atom}"
INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")  # RFC 3339
FEEDS = ("/lists.atom", "/corrections.atom", "/players/1/games.atom")
# How often each element may stand in another one: least, most (RFC 4287, 4.1.1 and 4.1.2).
IN_FEED = {
    "id": (1, 1), "title": (1, 1), "updated": (1, 1), "author": (1, 1), "generator": (0, 1), "link": (2, 2),
    "entry": (0, 30),
}  # fmt: skip
IN_ENTRY = {"id": (1, 1), "title": (1, 1), "updated": (1, 1), "published": (1, 1), "link": (1, 1), "summary": (1, 1)}

Ask = Callable[..., httpx.Response]


@pytest.fixture(name="ask")
def _ask(crowded: Path) -> Iterator[Ask]:
    readers: dict[Site, Reader] = {}
    apps: dict[Site, Starlette] = {}

    def ask(path: str, site: Site | None = None, **headers: str) -> httpx.Response:
        served = site or Site(public_url=SITE)
        if served not in readers:
            readers[served] = Reader(crowded, served, threads=1)
            apps[served] = application(readers[served])
        app = apps[served]
        readers[served].take_turns()  # of this loop

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.get(path, headers=headers)

        return asyncio.run(asked())

    yield ask
    for reader in readers.values():
        reader.close()


def counted(element: ET.Element, rule: dict[str, tuple[int, int]]) -> None:
    """Every element is one that may be there, as often as it may."""
    tags = [child.tag.removeprefix(ATOM) for child in element]
    assert set(tags) <= rule.keys()
    for name, (least, most) in rule.items():
        assert least <= tags.count(name) <= most, name


def text_of(element: ET.Element, name: str) -> str:
    child = element.find(f"{ATOM}{name}")
    assert child is not None
    return child.text or ""


def checked(answer: httpx.Response) -> ET.Element:
    """A feed that a reader takes, with all that RFC 4287 asks for."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert answer.content.startswith(b'<?xml version="1.0" encoding="utf-8"?>\n')
    feed = ET.fromstring(answer.content)
    assert feed.tag == f"{ATOM}feed"
    counted(feed, IN_FEED)
    author = feed.find(f"{ATOM}author/{ATOM}name")
    assert author is not None
    assert author.text
    links = {link.get("rel"): link for link in feed.findall(f"{ATOM}link")}
    assert links.keys() == {"self", "alternate"}
    called = [text_of(feed, "id")]
    updated = []
    for entry in feed.findall(f"{ATOM}entry"):
        counted(entry, IN_ENTRY)
        called.append(text_of(entry, "id"))
        assert text_of(entry, "title").strip()
        updated.append(text_of(entry, "updated"))
        for name in ("published", "updated"):
            assert INSTANT.fullmatch(text_of(entry, name))
            datetime.fromisoformat(text_of(entry, name))
        assert text_of(entry, "published") <= text_of(entry, "updated")
    assert text_of(feed, "updated") == max(updated, default=atom.NEVER)
    assert len(set(called)) == len(called)
    for name in called:
        assert re.fullmatch(r"[a-z]+:[!-~]+", name), "an IRI, written as an URI"
    for link in feed.iter(f"{ATOM}link"):
        assert re.fullmatch(r"[!-~]+", str(link.get("href")))
    return feed


def entries(feed: ET.Element) -> list[ET.Element]:
    return feed.findall(f"{ATOM}entry")


@pytest.mark.parametrize("path", FEEDS)
def test_a_feed_is_whole_and_its_addresses_are_there(path: str, ask: Ask) -> None:
    answer = ask(path)
    feed = checked(answer)
    assert entries(feed)
    assert text_of(feed, "id") == f"{SITE}{path}"
    for link in list(feed.iter(f"{ATOM}link"))[:8]:
        place = str(link.get("href"))
        assert place.startswith(f"{SITE}/")
        split = urlsplit(place.removeprefix(SITE))
        assert ask(f"{split.path}?{split.query}", Accept="text/html").status_code == 200, place
    again = ask(path, **{"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", FEEDS)
def test_without_a_public_address_entries_are_called_by_tags(path: str, ask: Ask) -> None:
    feed = checked(ask(path, Site()))
    assert {text_of(each, "id").partition(":")[0] for each in (feed, *entries(feed))} == {"tag"}


def test_strangers_see_no_officers_reasons_or_years_of_birth_in_feeds(ask: Ask) -> None:
    for path in FEEDS:
        text = ask(path).text
        for word in (OFFICER, OTHER_OFFICER, REASON):
            assert word not in text
        assert not re.search(r"birth year|(?<![0-9.])1990(?![0-9])", text)


def test_evil_names_are_words_in_feeds(crowded: Path, ask: Ask) -> None:
    with Ledger.open(crowded) as ledger:
        numbers = [ledger.player(f"evil:{place}").player for place in range(len(EVIL_NAMES))]
    told = [ask(f"/players/{number}/games.atom") for number in numbers]
    titles = [text_of(checked(answer), "title") for answer in told]
    assert f"Games of {EVIL_NAMES[0]} · ratings.example.org/club" == titles[0]
    assert "{{ 7*7 }}" in titles[2]
    for answer in told:
        assert not re.search("[\u202e\u2066\u200b]|<script|<img", answer.text)


@pytest.mark.parametrize("naming", [Naming.INITIALS, Naming.NUMBERS])
def test_players_are_called_as_the_site_has_it(naming: Naming, ask: Ask) -> None:
    site = Site(public_url=SITE, names=naming)
    for path in FEEDS:
        text = ask(path, site).text
        checked(ask(path, site))
        assert not re.search(r"\b(Ann|ann|bob|Bob|emma|Emma)\b", text)


def test_a_player_s_feed_leads_on_as_the_page_does(ask: Ask) -> None:
    moved, page = ask("/players/ann/games.atom"), ask("/players/ann/games")
    assert (moved.status_code, moved.headers["location"]) == (302, f"{page.headers['location']}.atom")
    assert ask("/players/nobody/games.atom").status_code == 404
    zoe = ask("/players/Zoe/games.atom").headers["location"].removeprefix("/club")
    feed = checked(ask(zoe))
    assert (entries(feed), text_of(feed, "updated")) == ([], atom.NEVER)


def test_what_is_decided_or_undone_is_updated_under_the_same_name(crowded: Path, ask: Ask) -> None:
    def stand() -> dict[str, tuple[str, str]]:
        feed = checked(ask("/corrections.atom"))
        return {text_of(each, "id"): (text_of(each, "title"), text_of(each, "updated")) for each in entries(feed)}

    with Ledger.open(crowded) as ledger:
        ledger.append(game_recorded("fresh", half_moves=60))
        drafts = ledger.corrections.drafts
        number = ledger.propose([drafts.annul("game:fresh")], reason=REASON, by=OFFICER).proposal
        ledger.ensure_up_to_date()
        name = f"{SITE}/corrections/{number}"
        proposed = stand()
        ledger.decide(number, Decision.APPROVED, by=OTHER_OFFICER, reason=REASON)
        ledger.ensure_up_to_date()
        approved = stand()
        undo = ledger.propose([drafts.undo(number)], reason=REASON, by=OFFICER).proposal
        ledger.decide(undo, Decision.APPROVED, by=OTHER_OFFICER, reason=REASON)
        ledger.ensure_up_to_date()
        undone = stand()
        games = [
            text_of(each, "updated")
            for each in entries(checked(ask("/players/1/games.atom")))
            if text_of(each, "id") == f"{SITE}/games/fresh"
        ]
    assert [each[name][0] for each in (proposed, approved, undone)] == [
        f"Correction {number}: {state}" for state in ("open", "approved", "undone")
    ]
    assert proposed[name][1] < approved[name][1] < undone[name][1]
    assert undone[name][1] == undone[f"{SITE}/corrections/{undo}"][1]
    assert games == [undone[name][1]]


def test_pages_say_where_their_feeds_are(ask: Ask) -> None:
    link = re.compile(r'<link rel="alternate" type="application/atom\+xml" href="([^"]*)" title="[^"]+">')
    for page, feeds in (("/", 2), ("/lists", 2), ("/corrections", 2), ("/players/1", 3)):
        places = link.findall(ask(page, Accept="text/html").text)
        assert len(places) == feeds
        for place in places:
            checked(ask(place.removeprefix("/club")))
