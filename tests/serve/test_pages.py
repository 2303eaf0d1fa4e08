"""The pages that players know: each is whole, safe and leads somewhere, whatever stands in the ledger."""

import asyncio
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit
from xml.etree.ElementTree import Element

import html5lib
import httpx
import pytest
from starlette.types import ASGIApp

from ledger.answers.asking import Naming
from ledger.answers.graphs import png
from ledger.correcting.corrections import Corrections
from ledger.facts.prior_ratings import PriorRating
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.served_processes import EVIL_NAMES, EVIL_TOURNAMENTS, OFFICER, OTHER_OFFICER, REASON, SITE
from tests.tiers import times
from tools.serve import pages
from tools.serve.application import application
from tools.serve.middleware import Gate
from tools.serve.paging import LAST_PAGE, ROWS, paged
from tools.serve.readers import Reader
from tools.serve.settings import Serving
from tools.serve.sites import Site

_H = "{http://www.w3.org/1999/xhtml}"
_FIELDS = ("input", "select", "textarea")
# What the parser of HTML5 complains of in SVG within HTML, and what is none of it.
_LINKS = ("href", "src", "action", "xlink:href", "{http://www.w3.org/1999/xlink}href")  # the last as a tree says it


def parsed(text: str) -> Element:
    """A page as a tree; a fault of its HTML raises ValueError with its place."""
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"), strict=False)
    tree = parser.parse(text)
    if parser.errors:
        place, code, values = parser.errors[0]
        line = text.splitlines()[place[0] - 1]
        raise ValueError(f"{code} {values} at {place}: {line[max(0, place[1] - 80) : place[1] + 20]}")
    assert isinstance(tree, Element)
    return tree


def elements(tree: Element) -> Iterator[tuple[str, Element]]:
    """Each element with its name."""
    for element in tree.iter():
        if isinstance(element.tag, str):
            yield element.tag.rpartition("}")[2], element


def faults(text: str) -> list[str]:
    """What is wrong with a page, but for its HTML itself."""
    tree = parsed(text)
    every = list(elements(tree))
    by_name: dict[str, list[Element]] = {}
    for name, element in every:
        by_name.setdefault(name, []).append(element)
    wrong = []
    if tree.get("lang") != "en":
        wrong.append("no language")
    titles = [element for element in by_name.get("title", []) if element.tag == f"{_H}title"]
    if len(titles) != 1 or not (titles[0].text or "").strip():
        wrong.append("no title")
    if len(by_name.get("h1", [])) != 1:
        wrong.append(f"{len(by_name.get('h1', []))} headings of the first level")
    labelled = {label.get("for") for label in by_name.get("label", [])}
    inner = {id(field) for label in by_name.get("label", []) for _, field in elements(label)}
    wrong += [
        f"a field without a label: {field.attrib}"
        for name in _FIELDS
        for field in by_name.get(name, [])
        if field.get("type") != "hidden" and field.get("id") not in labelled and id(field) not in inner
    ]
    ids = [element.get("id") for _, element in every if element.get("id")]
    wrong += [f"two of one id: {each}" for each in {each for each in ids if ids.count(each) > 1}]
    for name, element in every:
        wrong += [f"inline: {name} {key}" for key in element.attrib if key == "style" or key.startswith("on")]
        if name == "style" or (name == "script" and not element.get("src")):
            wrong.append(f"inline {name}")
        if name == "img" and element.get("alt") is None:
            wrong.append("a picture without words")
        wrong += [
            f"runs: {element.get(key)}"
            for key in _LINKS
            if re.match(r"\s*(java|vb)script:|\s*data:", element.get(key) or "", re.I)
        ]
    return wrong


class _Links(HTMLParser):
    """Collects where the elements of a page lead: a tenth of the work of a parser that says what is wrong with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # as the parser calls it
        self.leads |= {value or "" for key, value in attrs if key in _LINKS}


def addresses(text: str, page: str) -> set[str]:
    """Whole addresses of all that a page leads to or loads."""
    return {urldefrag(urljoin(page, lead)).url for lead in _Links(text).leads}


def walked(get: Callable[[str], Any], site: str, start: str, most: int) -> dict[str, Any]:
    """Every answer of a site that can be reached from a page of it, by whole address; foreign ones are not asked.

    Args:
        get: asks for an address behind that of the site.
        site: the address of the site.
        start: where to begin, behind it.
        most: how many pages of one kind, told apart by the first part of the path and what is asked.
    """
    answers: dict[str, Any] = {}
    kinds: dict[tuple[str, ...], int] = {}
    waiting = [f"{site}{start}"]
    while waiting:
        address = waiting.pop(0)
        if address in answers or not address.startswith(f"{site}/"):
            continue
        parts = urlsplit(address)
        kind = (re.sub(r"[^/]+$|\d+", "*", parts.path), *re.findall(r"(\w+)=", parts.query))
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] > most:
            continue
        answer = answers[address] = get(address.removeprefix(site))
        if answer.headers.get("content-type", "").startswith("text/html") and answer.status_code == 200:
            waiting += sorted(addresses(answer.text, address))
    return answers


Asked = Callable[..., httpx.Response]
BROWSER = {"Accept": "text/html,application/xhtml+xml", "Accept-Encoding": "gzip"}
VERIFIER = "example.org/club+84363505+AQffWFr67/KFjW0wlu5WrS6aQpolVtkHolB2JJ9eDiJM"
DOCUMENTATION = "/openapi.json"  # says what may be sent, and is the same for everybody
MOST_OF_A_KIND = times(quick=8, ci=8, nightly=25)
LARGEST = 30 * 1024  # bytes of a page as sent


def asking(path: Path, behind: Callable[[ASGIApp], ASGIApp] = lambda app: app, **settings: Any) -> tuple[Reader, Asked]:
    """Asks for an address of a site as a browser does, *behind* what stands before the application."""
    reader = Reader(path, Site(public_url=SITE, **settings), threads=2)
    app = behind(application(reader))

    def get(address: str, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.get(address, **{"headers": BROWSER, **more})

        reader.take_turns()  # it belongs to a loop, and each question has one
        return asyncio.run(asked())

    return reader, get


@pytest.fixture(name="browse")
def _browse(crowded: Path) -> Iterator[Asked]:
    reader, get = asking(crowded, contact="ratings@example.org", index=True, log="hashes", verifier=VERIFIER)
    yield get
    reader.close()


@pytest.fixture(name="crowd", scope="module")
def _crowd(crowded_base: Path) -> dict[str, Any]:
    """What a test must know of the club: players by name, games by what became of them."""
    with Ledger.open(crowded_base / "club.db", follow=False) as ledger:
        (voided,) = [row["key"] for row in ledger.rows("games", "voided_by IS NOT NULL")]
        (plain,) = [row["key"] for row in ledger.rows("games", "position = 20")]
        numbers = [ledger.player(f"evil:{place}").player for place in range(len(EVIL_NAMES))]
        gone = max(row["player"] for row in ledger.rows("players")) - 1
        return {
            "ann": ledger.player("ann").player,
            "twin": ledger.player_as_told("name:anna").player,
            "evil": numbers,
            "gone": gone,
            "zoe": ledger.player("Zoe").player,
            "young": ledger.player("Young").player,
            "voided": voided,
            "plain": plain,
        }


def every_page(crowd: dict[str, Any]) -> list[str]:
    """An address of each page, and of each of its faces."""
    ann, evil = f"/players/{crowd['ann']}", [f"/players/{number}" for number in crowd["evil"]]
    tournaments = [f"/tournaments/{quote(name, safe='')}" for name in EVIL_TOURNAMENTS if name != ".."]
    return [
        "/", "/search", "/search?q=ann", "/search?q=an", "/search?q=nobody+here", "/ranking",
        "/ranking?at=2006-05&active=90", "/ranking?page=2",
        "/ranking?pool=by-age", "/ranking?min_games=0", "/ranking?provisional=yes", ann,
        "/ranking?federation=NOR&club=Ek&women=yes&juniors=18&seniors=65&listed_active=yes", f"{ann}?at=2006-05-31",
        f"{ann}?by=date&opponents=yes", f"{ann}?mono=yes&last=50", f"{ann}?page=2", f"{ann}?against=bob",
        f"{ann}?pool=by-age", f"{ann}/games", f"{ann}/games?everything=yes", f"{ann}/games?page=2", f"{ann}/statistics",
        f"{ann}/statistics?at=2006", f"{ann}/changes", f"{ann}/changes?since=2006-01", f"{ann}/prediction",
        f"{ann}?by=career", f"{ann}/lists/2006-06",
        f"{ann}/lists/standard@2006-10-31", f"{ann}/lists/standard@2006-10-31/calculation",
        f"{ann}/prediction?opponent=bob", f"{ann}/prediction?opponent={crowd['zoe']}", *evil,
        *(f"{page}/{about}" for page in evil[:2] for about in ("games", "statistics", "changes", "prediction")),
        f"/players/{crowd['zoe']}", f"/players/{crowd['zoe']}/games", f"/players/{crowd['zoe']}/statistics",
        f"/players/{crowd['gone']}", f"/players/{crowd['gone']}/games", f"/players/{crowd['young']}?pool=by-age",
        f"/embed{ann}", f"/embed{evil[0]}?by=date&mono=yes", f"/embed/players/{crowd['zoe']}",
        f"/games/{crowd['plain']}", f"/games/{crowd['plain']}?move=3",
        f"/games/{crowd['voided']}", "/games/odd:0%2Fx+y%2F..%2Fz", "/games/aged",
        "/tournaments", "/tournaments?part=cup&since=2006", "/tournaments/Club%20evening",
        "/tournaments/Club%20evening?page=2",
        f"/tournaments/Club%20evening?player={crowd['ann']}", *tournaments, "/upsets", "/upsets?since=2006", "/lists",
        "/lists/standard@2006-06-30", "/lists/standard@2006-10-31?edition=1", "/lists/standard@2006-10-31/changes",
        "/lists/standard@2006-10-31/changes?since=now", "/lists/standard@2006-06-30/changes", "/corrections",
        "/corrections?state=open", "/corrections/1", "/corrections/4", "/schemes", "/check", "/api",
    ]  # fmt: skip


def test_every_page_is_asked_here(crowd: dict[str, Any]) -> None:
    asked = [address.partition("?")[0] for address in every_page(crowd)]
    for route in pages.ROUTES:
        if route.template is not None:
            pattern = re.sub(r"\\{\w+(:path)?\\}", "[^/]+", re.escape(route.path))
            assert any(re.fullmatch(pattern, address) for address in asked), route.path


def test_every_page_is_whole_small_and_runs_nothing_of_its_own(browse: Asked, crowd: dict[str, Any]) -> None:
    for address in every_page(crowd):
        answer = browse(address)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8"), address
        assert faults(answer.text) == [], address
        assert answer.num_bytes_downloaded <= LARGEST, (address, answer.num_bytes_downloaded)
        foreign = {each for each in addresses(answer.text, f"{SITE}{address}") if not each.startswith(f"{SITE}/")}
        assert {each.partition("?")[0] for each in foreign} <= {"mailto:ratings@example.org"}, address
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert ("frame-ancestors *" in policy) == address.startswith("/embed/"), address


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(browse: Asked) -> None:
    answers = walked(lambda address: browse(address, follow_redirects=False), SITE, "/", most=MOST_OF_A_KIND)
    lost = {address: answer.status_code for address, answer in answers.items() if answer.status_code not in {200, 302}}
    assert lost == {}
    for answer in answers.values():
        if answer.status_code == 200 and answer.headers.get("content-type", "").startswith("text/html"):
            assert parsed(answer.text) is not None  # it raises where the HTML has a fault
    asked = {address.removeprefix(SITE).split("?")[0] for address in answers}
    assert {"/", "/ranking", "/lists", "/corrections", "/schemes", "/check", "/api", "/tournaments"} <= asked
    assert len(answers) > times(quick=120, ci=120, nightly=200)


def test_pages_of_corrections_cost_what_they_show_however_many_there_are(
    crowded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(crowded) as ledger:
        keys = [row["key"] for row in ledger.rows("games", "reason IS NULL ORDER BY position LIMIT 150")]
        rows = "verb,game\n" + "".join(f"void,{key}\n" for key in keys)
        last = ledger.corrections.propose_batch(rows.encode(), reason=REASON, by=OFFICER, each=True)[-1].proposal
        ledger.ensure_up_to_date()
    looked_up = list[object]()

    def shown(*words: object, **more: object) -> object:
        rows = list(real(*words, **more))
        looked_up.extend(rows)
        return iter(rows)

    real = vars(Corrections)["_proposals"]
    monkeypatch.setattr(Corrections, "_proposals", shown)
    reader, get = asking(crowded)
    for address, most in (
        ("/", 6), ("/corrections", ROWS + 1), ("/corrections?page=2", ROWS), ("/corrections.atom", 34),
        ("/api/v1/corrections?limit=5", 6), (f"/api/v1/corrections?offset={last - 2}", 2),
        ("/lists/standard@2006-10-31/changes", last - 150),
    ):  # fmt: skip
        looked_up.clear()
        assert get(address).status_code == 200
        assert len(looked_up) <= most, address
    assert get(f"/api/v1/corrections?limit=2&offset={last - 2}").json()["next"] is None
    assert [row["number"] for row in get("/api/v1/corrections?limit=2&offset=1").json()["rows"]] == [last - 1, last - 2]
    reader.close()


def test_links_from_a_player_of_another_pool_lead_to_that_pool(crowded: Path, crowd: dict[str, Any]) -> None:
    with Ledger.open(crowded) as ledger:
        number = ledger.register("name:solo", "Solo")
        ledger.append(game_recorded("alone", pool="by-age", white=number, black=crowd["ann"], half_moves=60))
        ledger.ensure_up_to_date()
    reader, get = asking(crowded)
    page = f"/players/{number}"
    links = {link for about in ("", "/games") for link in addresses(get(f"{page}{about}").text, f"{SITE}{page}")}
    lead = {link.removeprefix(SITE) for link in links if re.search(r"/ranking|/api/v1/players/|games\.atom", link)}
    # the ranking of the head of the site is one of them; a server without resvg offers no PNG
    assert len(lead) == (13 if png.is_available() else 11), lead
    for link in lead - {"/ranking"}:
        answer = get(link)
        assert (answer.status_code, "pool=by-age" in link) == (200, True), link
        game = r'"games":1|1 rated game' if "/career" in link else "alone"
        game = "^.PNG" if "format=png" in link else game
        assert re.search(game, answer.text) or "/ranking" in link, link
    reader.close()


def test_links_come_from_the_public_address_never_from_the_request(browse: Asked) -> None:
    answer = browse("/", headers={**BROWSER, "Host": "evil.example", "X-Forwarded-Host": "evil.example"})
    assert "evil.example" not in answer.text
    assert 'href="/club/ranking' in answer.text


@pytest.mark.slow
@pytest.mark.parametrize("names", list(Naming))
def test_strangers_see_no_officers_reasons_or_years_of_birth(
    names: Naming, crowded: Path, crowd: dict[str, Any]
) -> None:
    reader, get = asking(crowded, names=names)
    answers = walked(lambda address: get(address, follow_redirects=True), SITE, "/", most=8)
    ways = {
        f"/api/v1/players/{crowd['young']}?pool=by-age": 200, "/api/v1/corrections/4": 200, "/api/v1/corrections": 200,
        f"/api/v1/players/{crowd['ann']}": 200,
    }  # fmt: skip
    texts = {address: answer.text for address, answer in answers.items()}
    for address, status in ways.items():
        answer = get(address)
        assert answer.status_code == status, answer.text
        texts[address] = answer.text
    reader.close()
    for address, text in texts.items():
        for word in (REASON, OFFICER, OTHER_OFFICER):
            assert word not in text, address
        if address.endswith(DOCUMENTATION):
            continue  # it says what may be sent
        assert not re.search(r"birth_year(?! \(not shown\))|(?<![0-9.,])1990(?!\.?[0-9])", text), address
    assert "birth_year (not shown)" in texts["/api/v1/corrections/4"]


@pytest.mark.slow
@pytest.mark.parametrize("names", [Naming.INITIALS, Naming.NUMBERS])
def test_names_are_shown_as_the_setting_says_on_every_page_and_in_the_api(
    names: Naming, crowded: Path, crowd: dict[str, Any]
) -> None:
    reader, get = asking(crowded, names=names)
    ann = crowd["ann"]
    answers = walked(lambda address: get(address, follow_redirects=True), SITE, "/", most=8)
    assert len(answers) > 60
    texts = {address: unquote(answer.text) for address, answer in answers.items() if DOCUMENTATION not in address}
    for path in (
        f"/players/{ann}", f"/players/{ann}/games", f"/players/{ann}/graph", f"/players/{ann}/graph?format=html",
        "/ranking", "/upsets", "/tournaments", "/tournaments/Club%20evening", "/lists/standard@2006-06-30",
        f"/games/{crowd['plain']}", f"/games/{crowd['plain']}/explanation", f"/games/{crowd['plain']}/log",
        f"/games/{crowd['plain']}/pgn", f"/games/{crowd['plain']}/board", f"/players/{ann}/prediction?opponent=1",
        f"/players?number={ann}", f"/players/{ann}/changes?since=2006-01", f"/players/{ann}/best",
        f"/players/{ann}/streaks", "/corrections", "/games?on=2006-05", f"/players/{ann}/nothing?player=cleo",
    ):  # fmt: skip
        texts[path] = get(f"/api/v1{path}").text
    for address, text in texts.items():
        shown = text.replace("player=cleo", "")
        for name in ("cleo", "emma", "grete", "hugo", "Wolfeschlegel", "name:", "evil:1", "pgn:ann"):
            assert name not in shown.replace("name: ", ""), (address, name)
    told = get(f"/players/{ann}").text
    assert ("Player 13" in told, ">a.<" in told) == (names is Naming.NUMBERS, names is Naming.INITIALS)
    # Nobody learns a name by trying: parts of names are not sought, near ones are not told.
    for address in ("/search?q=EMMA", "/search?q=emm", "/api/v1/players?q=emm", "/api/v1/players/emme"):
        assert "emma" not in get(address).text
    whole = get("/players/emma", follow_redirects=False).status_code
    assert whole == (302 if names is Naming.INITIALS else 404)
    reader.close()


def test_a_merged_number_leads_on_and_an_erased_player_stays_a_number(browse: Asked, crowd: dict[str, Any]) -> None:
    moved = browse(f"/players/{crowd['twin']}/games?everything=yes")
    assert moved.status_code == 301
    assert moved.headers["location"] == f"/club/players/{crowd['ann']}/games?everything=yes"
    by_name = browse("/players/ann?at=2006")
    assert (by_name.status_code, by_name.headers["location"]) == (302, f"/club/players/{crowd['ann']}?at=2006")
    assert browse(f"/search?q={crowd['twin']}").headers["location"] == f"/club/players/{crowd['ann']}"
    erased = browse(f"/players/{crowd['gone']}")
    assert erased.status_code == 200
    assert f"(erased) {crowd['gone']}" in erased.text
    assert "Gone" not in erased.text


def test_evil_names_are_text_and_nothing_else(browse: Asked, crowd: dict[str, Any]) -> None:
    for number, name in zip(crowd["evil"], EVIL_NAMES, strict=True):
        text = browse(f"/players/{number}").text
        (heading,) = [element for element in parsed(text).iter() if str(element.tag).endswith("}h1")]
        shown = "".join(heading.itertext())
        assert all(char.isprintable() for char in shown)
        if name.isascii():
            assert shown == name
    assert r"\u202egnp.exe" in browse(f"/players/{crowd['evil'][3]}").text


def test_who_has_no_rated_game_has_a_page(browse: Asked, crowd: dict[str, Any]) -> None:
    text = browse(f"/players/{crowd['zoe']}").text
    assert "No rated game in pool standard yet" in text
    assert "1990" not in text


def test_problems_are_pages_for_browsers_with_the_same_words(browse: Asked) -> None:
    for address, status, words in (
        ("/players/nobody", 404, "no player &#39;nobody&#39; in this ledger"),
        ("/rankin", 404, "did you mean &#39;/ranking&#39;?"),
        ("/ranking?at=someday&active=x", 400, "<strong>active</strong>: expected a whole number"),
        ("/games/none", 404, "no game &#39;none&#39;"),
        ("/ranking?limt=3", 400, "limt: no such parameter"),
    ):
        page = browse(address)
        assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert words in page.text
        assert faults(page.text) == []
        told = browse(address, headers={"Accept": "*/*"})
        assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
    api = browse("/api/v1/players/nobody")
    assert api.headers["content-type"] == "application/problem+json"


def test_an_empty_field_of_a_form_asks_nothing(browse: Asked) -> None:
    assert browse("/ranking?at=&active=&min_games=1").status_code == 200


def test_the_next_page_is_of_the_same_question_though_that_says_nought(crowded: Path, browse: Asked) -> None:
    with Ledger.open(crowded) as ledger:
        for number in range(100):
            past = PriorRating(rating=str(1_000 + number))
            ledger.registry.add(f"name:listed {number}", f"Listed {number}", past=past, actor="test")
        ledger.ensure_up_to_date()
    first = browse("/ranking?min_games=0&provisional=yes").text
    (following,) = [address for address in addresses(first, f"{SITE}/") if "page=2" in address]
    assert "min_games=0" in following
    assert "provisional=yes" in following
    second = browse(following.removeprefix(SITE)).text
    assert second.count("Listed ") == 100 - first.count("Listed ") > 0


def test_the_last_page_that_may_be_asked_leads_to_no_further_one() -> None:
    rows = range(LAST_PAGE * ROWS + 1)
    assert paged({"page": LAST_PAGE - 1}, rows)[1].more
    on_page, paging = paged({"page": LAST_PAGE}, rows)
    assert (len(on_page), paging.more) == (ROWS, False)


def test_who_checks_finds_the_checkpoint_the_key_and_the_log(browse: Asked) -> None:
    text = browse("/check").text
    assert VERIFIER in text
    assert "— example.org/club " in text
    assert 'href="/club/checkpoint"' in text


def test_search_machines_are_told_to_stay_out_unless_they_may_come(browse: Asked, crowded: Path) -> None:
    assert "noindex" not in browse("/").text + str(browse("/").headers)
    assert "Allow: /" in browse("/robots.txt").text
    reader, get = asking(crowded)
    for address in ("/", "/ranking", "/api/v1/pools", "/rankin", "/static/style.css"):
        assert get(address).headers["x-robots-tag"] == "noindex", address
    assert '<meta name="robots" content="noindex">' in get("/").text
    assert "Disallow: /" in get("/robots.txt").text
    reader.close()


def test_a_page_that_is_known_is_not_sent_again_packed_or_not(browse: Asked) -> None:
    packed = browse("/ranking")
    plain = browse("/ranking", headers={"Accept": "text/html", "Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text
    assert packed.headers["etag"] != plain.headers["etag"]
    for known in (packed, plain):
        again = browse("/ranking", headers={**BROWSER, "If-None-Match": known.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == known.headers["etag"]
        assert again.headers["vary"]


def test_static_files_are_kept_for_good_under_addresses_that_say_which_they_are(browse: Asked) -> None:
    loaded = {each for each in addresses(browse("/").text, f"{SITE}/") if "/static/" in each}
    assert len(loaded) == 3
    for address in loaded:
        answer = browse(address.removeprefix(SITE))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert browse("/static/secret.txt").status_code == 404
    style = browse("/static/style.css").text
    assert ".rg .fill-win" in style
    assert ".mono .rg .fill-win" in style
    assert not re.search(r"url\(|@import|expression", style)


def test_an_alarm_stands_on_top_of_every_page(crowded: Path, crowd: dict[str, Any]) -> None:
    place = crowded.with_name("club.checkpoints")
    text = place.read_text("utf-8")
    size = re.findall(r"\n([0-9]+)\n", text)[-1]
    place.write_text(text.replace(f"\n{size}\n", f"\n{int(size) + 1000}\n"), "utf-8")
    reader, get = asking(crowded)
    for address in ("/", "/ranking", f"/players/{crowd['ann']}", f"/embed/players/{crowd['ann']}", "/nothing"):
        assert 'role="alert"' in get(address).text, address
    reader.close()


def test_every_game_is_reached_by_its_links_whatever_slashes_are_in_its_key(crowded: Path) -> None:
    keys = ["plain/key", "x/pgn", "odd//key", "odd/../key", "odd/"]
    with Ledger.open(crowded) as ledger:
        for place, key in enumerate(keys):
            ledger.append(game_recorded(key, half_moves=60, ended_at=f"2006-11-0{place + 1}"))
        ledger.ensure_up_to_date()
    reader, get = asking(crowded, behind=lambda app: Gate(app, Serving(path=crowded)))
    reached = []
    for link in addresses(get("/players/1/games").text, f"{SITE}/"):
        if re.search(r"(key|%2Fpgn|odd%2F)$", link):
            page = get(link.removeprefix(SITE))
            if page.status_code == 302:  # no address can have that key in it: its entry leads to it
                page = get(page.headers["location"].removeprefix("/club"))
            reached += re.findall(r"Game ([^<]*)</p>", page.text)
    assert sorted(reached) == sorted(keys)
    reader.close()


def test_a_mistake_is_reported_with_the_key_of_its_game(crowded: Path, crowd: dict[str, Any], browse: Asked) -> None:
    links = addresses(browse(f"/games/{crowd['plain']}").text, f"{SITE}/")
    assert f"mailto:ratings@example.org?subject={quote('Game ' + crowd['plain'], safe='')}" in links
    reader, get = asking(crowded, contact="https://club.example/tell")
    assert "https://club.example/tell" in addresses(get(f"/games/{crowd['plain']}").text, f"{SITE}/")
    reader.close()
    reader, get = asking(crowded)
    assert "Something wrong" not in get(f"/games/{crowd['plain']}").text
    reader.close()


def test_what_changed_between_two_lists_is_what_the_library_says(browse: Asked, crowded: Path) -> None:
    text = browse("/lists/standard@2006-10-31/changes").text
    assert "from 2006-06-30/1 to 2006-10-31" in text
    with Ledger.open(crowded, follow=False) as ledger:
        from ledger.answers import differences

        pair = differences.lists_to_compare(ledger, "standard@2006-06-30/1", "standard@2006-10-31/1")
        whole = differences.list_differences(ledger, *pair, why=True)
        moved = differences.list_differences(ledger, *pair, why=False)
    assert [(row.player, row.change, row.difference) for row in whole] == [
        (row.player, row.change, row.difference) for row in moved
    ]
    created = sum(row.change == "created" for row in moved)
    assert re.search(rf"<dt>created</dt><dd>{created}</dd>", text)


def test_a_receipt_is_promised_only_where_somebody_signs_checkpoints(crowded: Path) -> None:
    with Ledger.open(crowded) as ledger:
        ledger.append(game_recorded("since", half_moves=60, ended_at="2006-11-01"))
        ledger.ensure_up_to_date()
    for verifier, words in ((VERIFIER, "the next checkpoint will cover this game"), (None, "nobody signs")):
        reader, get = asking(crowded, verifier=verifier)
        assert words in get("/games/since").text
        reader.close()


def test_a_game_shows_what_its_answers_say(browse: Asked, crowd: dict[str, Any]) -> None:
    text = browse(f"/games/{crowd['plain']}").text
    assert "Why jan’s rating is so" in text, "no rating before the game: the table has a dash"
    assert ", where a newcomer begins, to " in text
    assert re.sub(r"<[^>]+>", "", text).count("1.c4 e5") == 1, "each move is a link to its position"
    assert "c2sp.org/tlog-proof" in text
    voided = browse(f"/games/{crowd['voided']}").text
    assert "This game does not count: voided." in voided
    assert 'href="/club/corrections/1"' in voided
    assert '<span class="state approved">approved</span>' in voided
    by_entry = browse("/games/%2320")
    assert (by_entry.status_code, by_entry.headers["location"]) == (302, f"/club/games/{crowd['plain']}")
    board = browse(f"/boards/{crowd['plain']}")
    assert board.headers["content-type"] == "image/svg+xml"
    assert "no moves are kept" in browse("/boards/aged").text
