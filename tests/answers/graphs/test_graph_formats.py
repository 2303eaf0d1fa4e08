"""The formats of a rating graph: pinned documents, schemas, and what holds of any page whatever stands in it."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from math import isfinite
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import example, given
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from ledger.answers.graphs import html, json_form, png, svg, vega_lite
from ledger.answers.graphs.graph_data import BarOrder, Page
from ledger.answers.graphs.layout import LEFT, TOP, lay_out, rating_scale
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.graphs.wording import bar_details, bar_label, days_shown, games_shown, result_kind, summary
from ledger.facts.json_schemas import class_schema
from ledger.runtime.visible import visible
from tests.kit import graph_pages, snapshots
from tests.kit.graph_pages import THIEF, bar, page_with, pages_drawn, pinned_page, pinned_pair, player_bars

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "style", "defs", "pattern", "rect", "circle", "path", "g", "text", "a"}
SCHEMA = Draft202012Validator(class_schema(Page, "rating-graph/1"))
DOCUMENTS = graph_pages.documents()
LARGE = page_with(player_bars([bar(n, 1500.0 + n % 7) for n in range(700, 0, -1)]))
PLAIN = [
    page_with(player_bars([])),
    page_with(player_bars([bar(1)])),
    page_with(player_bars([bar(1, None)])),
    page_with(player_bars([bar(n, 1500.0) for n in (3, 2, 1)])),
    page_with(player_bars([]), by="date"),
    page_with(player_bars([bar(1)]), by="date"),
    LARGE,
    pinned_page(),
    pinned_pair(),
]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_the_pinned_one(name: str) -> None:
    snapshots.check(graph_pages.FOLDER / name, DOCUMENTS[name].decode())


def test_every_pinned_document_is_made() -> None:
    assert {path.name for path in graph_pages.FOLDER.iterdir()} == set(DOCUMENTS)


def bars_of(picture: str) -> list[ET.Element]:
    return [element for element in ET.fromstring(picture).iter() if element.get("data-bar") is not None]


def check_svg(page: Page, look: Look) -> None:
    picture = svg.draw(page, look)
    root = ET.fromstring(picture)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= ELEMENTS
    found = bars_of(picture)
    shown = [*page.player.bars]
    if page.against is not None:
        shown += [of for of in page.against.bars if of.rating is not None and isfinite(of.rating)]
    assert len(found) == len(shown)
    for element in found:
        assert element.get("role") == "listitem"
        (reached,) = element
        assert reached.findtext(f"{SVG}title")
        assert reached.get("aria-label")
        assert reached.tag == f"{SVG}a" or reached.get("tabindex") == "0"
        assert (reached.get("href") or "https://").startswith("https://")
    width, height = float(root.get("width") or 0), float(root.get("height") or 0)
    for rect in root.iter(f"{SVG}rect"):
        x, y = float(rect.get("x") or 0), float(rect.get("y") or 0)
        w, h = rect.get("width") or "", rect.get("height") or ""
        if "%" not in w and rect.get("class") != "ground":
            assert -50 <= x <= x + float(w) <= width
            assert -50 <= y <= y + float(h) <= height
    places = [element.get(name) or "" for element in root.iter() for name in ("x", "y", "height", "d", "transform")]
    assert not [place for place in places if "nan" in place or "inf" in place]


@pytest.mark.parametrize("page", PLAIN)
@pytest.mark.parametrize("look", [Look(), Look(opponents=True, mono=True, theme=Theme.DARK)])
def test_any_number_of_games_is_drawn(page: Page, look: Look) -> None:
    check_svg(page, look)


@given(pages_drawn())
def test_whatever_is_on_a_page_is_drawn_and_harmless(page: Page) -> None:
    check_svg(page, Look(opponents=True))


def test_the_newest_bar_stands_at_the_left_and_the_rating_now_before_it() -> None:
    layout = lay_out(LARGE, opponents=False)
    assert layout.now is not None
    assert LEFT < layout.now < layout.places[0]
    assert list(layout.places) == sorted(layout.places)
    assert lay_out(page_with(LARGE.player, is_newest=False), opponents=False).now is None


def test_results_are_told_apart_by_colour_and_pattern_in_every_look() -> None:
    for look in (Look(), Look(mono=True), Look(theme=Theme.DARK), Look(theme=Theme.DARK, mono=True)):
        picture = svg.draw(pinned_page(), look)
        fills = set(re.findall(r'class="bar fill-([a-z-]+)', picture))
        assert fills == {"now", "win", "draw", "loss", "time-loss"}
        for name in ("draw", "loss", "time-loss"):
            assert f'<pattern id="rg-{name}"' in picture
            assert f'fill="url(#rg-{name})"' in picture
    assert "#0072B2" in svg.draw(pinned_page())
    assert not re.search("#(0072B2|D55E00|7A0177|8C8C8C|E040FB)", svg.draw(pinned_page(), Look(mono=True)))
    assert "prefers-color-scheme:dark" in svg.draw(pinned_page())
    assert "prefers-color-scheme" not in svg.draw(pinned_page(), Look(theme=Theme.LIGHT))


def test_a_bar_carries_the_facts_of_its_game() -> None:
    page = pinned_page()
    first = bars_of(svg.draw(page, Look(opponents=True)))[0]
    assert first[0].tag == f"{SVG}a"
    assert first[0].get("href") == first.get("data-address") == "https://lichess.org/abcdefgh"
    assert first.get("data-rating") == "1523.4"
    assert first.get("data-opponent-rating-now") == "1410.0"
    assert first.get("data-result") == "win"
    title = first[0].findtext(f"{SVG}title") or ""
    assert title == "\n".join(bar_details(page.player.bars[0], page.player))
    assert title.splitlines()[2:4] == ["Player's rating: 1523, now 1523", "Opponent's rating: 1400, now 1410"]
    spots = [spot for spot in first.iter(f"{SVG}rect") if spot.get("class") == "spot"]
    assert [spot.findtext(f"{SVG}title") for spot in spots] == ["Opponent's rating: 1400"]


def test_what_marks_a_game_is_drawn_and_said() -> None:
    page = pinned_page()
    by_number = {element.get("data-n"): ET.tostring(element, "unicode") for element in bars_of(svg.draw(page))}
    assert "Corrected by proposal: 3, 8" in by_number["56"]
    assert 'class="mark"' in by_number["56"]
    assert "List standard@2020-02-29/1: said 1511, now it would say 1515" in by_number["53"]
    assert "provisional" in by_number["52"]
    assert "bar none" in by_number["51"]
    drawn = svg.draw(page)
    assert drawn.count('class="seam"') == 1
    assert "elo ◂" in drawn
    assert "▸ chessworld" in drawn
    assert "From 2020-02-26 on rated by elo, before by chessworld." in summary(page)


@pytest.mark.parametrize("by", ["game", "date"])
def test_the_rating_now_stands_apart_from_games_that_an_earlier_scheme_rated(by: BarOrder) -> None:
    page = pinned_page()
    changed = attrs.evolve(page, by=by, player=attrs.evolve(page.player, scheme_now="glicko2"))
    drawn = svg.draw(changed)
    assert drawn.count('class="seam"') == svg.draw(page).count('class="seam"') + 1
    assert "▸ elo" in drawn
    assert 'aria-label="Rating now 1523 by glicko2"' in drawn
    assert "The rating now is by glicko2, that of the last game by elo." in summary(changed)
    # the rating now is on no older page
    older = attrs.evolve(changed, is_newest=False)
    assert svg.draw(older).count('class="seam"') == 1
    assert "glicko2" not in summary(older)


def test_by_date_a_months_tick_stands_in_its_middle_and_the_latest_at_the_left() -> None:
    january_1, march_1 = 1_577_836_800_000, 1_583_020_800_000
    ends = ((3, march_1), (2, january_1), (1, january_1))
    page = page_with(player_bars([bar(n, ended_ms=ms) for n, ms in ends]), by="date")
    layout = lay_out(page, opponents=False)
    assert [label.text for label in layout.labels] == ["Jan", "Feb", "Mar"]
    january, february, march = (label.x for label in layout.labels)
    assert layout.places[1] == layout.places[2]  # on one day they lie upon each other
    assert march < layout.places[0] < february < january < layout.places[1]
    assert (march + february) / 2 == pytest.approx(layout.places[0], abs=(february - march) / 15)


def test_by_date_each_game_of_a_day_has_a_part_of_the_height_in_which_it_is_reached() -> None:
    page = page_with(player_bars([bar(n, ended_ms=1_583_020_800_000) for n in (4, 3, 2, 1)]), by="date")
    picture = ET.fromstring(svg.draw(page, Look()))
    hits = [each for each in picture.iter(f"{SVG}rect") if each.get("class") == "hit"]
    parts = sorted((float(hit.get("y") or 0), float(hit.get("height") or 0)) for hit in hits)
    assert [y + height for y, height in parts[:-1]] == [y for y, _ in parts[1:]]
    assert {height for _, height in parts} == {70.0}
    assert len([each for each in picture.iter() if each.get("pointer-events") == "none"]) == 4
    assert svg.bands([10.0, 10.5, 30.0]) == [(0, 2), (1, 2), (0, 1)]


def test_the_word_now_covers_no_number_of_a_game() -> None:
    for newest in (7, 10_000, 1_000_000):
        page = attrs.evolve(page_with(player_bars([bar(n) for n in range(newest, newest - 7, -1)])), is_newest=True)
        layout = lay_out(page, opponents=False)
        assert layout.now is not None
        assert layout.labels
        assert all(label.x - 3.5 * len(label.text) > layout.now + 15 for label in layout.labels)


def test_by_date_no_bar_hides_the_rating_of_an_opponent() -> None:
    page = page_with(player_bars([bar(n) for n in (3, 2, 1)]), by="date")  # on one day
    picture = ET.fromstring(svg.draw(page, Look(opponents=True)))
    drawn = [element.get("class") for element in picture.iter(f"{SVG}rect")]
    assert drawn.count("hit") == 3
    assert drawn.index("spot") > len(drawn) - drawn[::-1].index("hit")
    spots = [element for element in picture.iter() if element.get("data-spot")]
    assert [spot.get("data-spot") for spot in spots] == [f"g{page.player.player}-{n}" for n in (1, 2, 3)]
    assert spots[0][0].findtext(f"{SVG}title") == f"Opponent's rating: 1400\n{bar_label(page.player.bars[-1])}"
    assert "closest('[data-bar],[data-spot]')" in html.draw(page)


def test_one_game_has_its_number_and_its_day() -> None:
    page = page_with(player_bars([bar(1)]))
    assert [label.text for label in lay_out(page, opponents=False).labels] == ["1"]
    assert (games_shown(page), days_shown(page)) == ("game 1 of 1", page.player.bars[0].ended_at[:10])


def test_the_scale_holds_every_rating_between_round_lines() -> None:
    one_or_equal = ([1500.0], [1500.0, 1500.0], [0.0])
    for ratings in (*one_or_equal, [-350.0, 12.0], [1e12, 1e12 + 1], [-1e300, 1e300], [99.9, 100.1]):
        scale = rating_scale(ratings)
        assert scale.low < min(ratings) <= max(ratings) <= scale.high
        assert 2 <= len(scale.ticks) <= 14
        assert all(scale.y(rating) >= TOP for rating in ratings)


class Seen(HTMLParser):
    """What a browser would see of a file: its elements and its ids."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def seen(page: Page, **how: Any) -> Seen:
    parser = Seen()
    parser.feed(html.draw(page, **how))
    return parser


@given(pages_drawn(most=5))
@example(pinned_page())
def test_nothing_of_a_name_runs_in_the_page(page: Page) -> None:
    found = seen(page)
    assert found.tags.count("script") == 1
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    hrefs = {value or "" for name, value in found.attributes if name == "href"}
    assert all(re.match("#|https://lichess.org/", href) for href in hrefs)
    shown = len(page.player.bars) + (0 if page.against is None else len(page.against.bars))
    assert found.tags.count("article") == shown


def test_the_page_needs_nothing_else_and_lets_nothing_else_run() -> None:
    text = html.draw(pinned_page())
    assert not re.search(r"src=|@import|url\((?!#)", text)
    assert "default-src 'none'" in text
    assert THIEF not in text
    assert visible(THIEF).replace("<", "&lt;").split("&lt;")[0] in text


def test_every_bar_leads_to_its_details_without_a_script() -> None:
    found = seen(pinned_pair())
    ids = {value for name, value in found.attributes if name == "id"}
    leads = {value for name, value in found.attributes if name == "data-bar"}
    assert leads <= ids
    assert {f"#{lead}" for lead in leads} <= {value for name, value in found.attributes if name == "href"}


def test_links_lead_to_newer_and_older_games() -> None:
    page = page_with(pinned_page().player, page=2, pages=3, newer=1, older=3)
    text = html.draw(page, page_link=lambda number: f"ann-{number}.html")
    assert '<a href="ann-1.html" rel="prev" aria-label="Page 1, newer games">&lt;&lt; prev</a>' in text
    assert '<a href="ann-3.html" rel="next" aria-label="Page 3, older games">next &gt;&gt;</a>' in text
    assert '<a href="#list">List</a>' in text
    assert "<span>next &gt;&gt; (page 3)</span>" in html.draw(page)


def test_the_board_is_shown_from_the_players_side_and_leads_to_the_game() -> None:
    text = html.draw(pinned_page())
    assert text.count('id="piece-white-rook"') == 1
    assert 'aria-label="Final position. White: king g1' in text
    assert 'id="piece-' not in html.draw(page_with(player_bars([bar(1)])))


def test_a_switch_shows_the_bars_side_by_side_or_on_their_days() -> None:
    for order, page in (("game", pinned_page()), ("date", attrs.evolve(pinned_page(), by="date"))):
        text = html.draw(page)
        assert re.findall(r'<input type="radio" name="order" id="by-([a-z]+)"( checked)?>', text) == [
            (each, " checked" if each == order else "") for each in ("game", "date")
        ]
        for each in ("game", "date"):
            (drawn,) = re.findall(rf'<figure class="{each}">\n(.*?)</figure>', text, re.DOTALL)
            places = [element.get("x") for element in ET.fromstring(drawn).iter(f"{SVG}rect")]
            alone = svg.draw(attrs.evolve(page, by=each))
            assert places == [
                element.get("x") for element in ET.fromstring(alone).iter(f"{SVG}rect")
                if not (element.get("class") or "").startswith("ground")
            ]  # fmt: skip
    assert "radio" not in html.draw(pinned_pair()), "a second player is shown by date alone"


@given(pages_drawn(most=3))
@example(pinned_pair())
def test_no_two_elements_of_a_page_have_one_mark(page: Page) -> None:
    ids = [value for name, value in seen(page).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_a_games_pgn_stands_in_its_details() -> None:
    page = pinned_page()
    game = page.player.bars[0].game
    text = html.draw(page, pgn={game: '[White "<b>"]\n\n1. e4 1-0\n'})
    assert text.count("<summary>PGN</summary>") == 1
    assert "<pre>[White &quot;&lt;b&gt;&quot;]\n\n1. e4 1-0\n</pre>" in text.replace("&#34;", "&quot;")
    assert "<summary>PGN</summary>" not in html.draw(page)


@pytest.mark.parametrize(
    ("sheet", "allowed"),
    [
        ("graph.css", "'self'"),
        ("/static/graph.css", "'self'"),
        ("https://a.example/g.css", "https://a.example"),
        ("//a.example/g.css", "a.example"),
    ],
)
def test_a_page_with_a_style_sheet_elsewhere_has_no_inline_style(sheet: str, allowed: str) -> None:
    text = html.draw(pinned_page(), Look(sheet=sheet))
    assert f'<link rel="stylesheet" href="{sheet}">' in text
    assert f"style-src {allowed};" in text
    assert not re.search('<style|[ "]style=|unsafe-inline', text)
    assert html.draw(pinned_page()).count(html.style_sheet()) == 1
    assert "url(" not in html.style_sheet(), "from elsewhere a pattern would be sought there"


@pytest.mark.outside
def test_without_its_style_sheet_a_graph_is_no_black_rectangle() -> None:
    alone = svg.draw(pinned_page(), Look(sheet="graph.css", opponents=True))
    assert alone.startswith('<?xml-stylesheet type="text/css" href="graph.css"?>\n<svg ')
    assert "<style" not in alone
    if not png.is_available():
        pytest.skip("resvg-py is not installed")
    image = pytest.importorskip("matplotlib.image")
    pixels = image.imread(io.BytesIO(png.as_png(alone, zoom=1.0)))[:, :, :3]
    light = pixels.sum(axis=2)
    assert (light > 2.7).mean() > 0.5, "most of it is the page"
    assert (light < 0.6).mean() < 0.1
    assert len(np.unique((pixels * 255).astype(int).reshape(-1, 3), axis=0)) > 20


@given(pages_drawn())
@example(pinned_page())
@example(pinned_pair())
def test_json_is_valid_by_its_schema_and_says_the_page(page: Page) -> None:
    text = json_form.graph_json(page)
    document = json.loads(text)
    SCHEMA.validate(document)
    assert [found["game"] for found in document["player"]["bars"]] == [found.game for found in page.player.bars]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text.decode())
    assert len(json_form.bar_rows(page)) == len(page.player.bars) + (len(page.against.bars) if page.against else 0)


def test_the_history_is_that_of_lichess() -> None:
    (history,) = json_form.lichess_history([pinned_page()])
    assert history["name"] == "standard"
    assert history["points"][-1] == [2020, 2, 1, 1523]  # months from 0
    assert history["points"] == sorted(history["points"])
    two_a_day = page_with(player_bars([bar(2, 1510.6, ended_at="2020-01-31"), bar(1, 1500.0, ended_at="2020-01-31")]))
    assert json_form.lichess_history([two_a_day])[0]["points"] == [[2020, 0, 31, 1511]]


def vega_lite_schema() -> dict[str, Any]:
    found = importlib.util.find_spec("altair")
    if found is None or found.origin is None:
        pytest.skip("altair, which carries the schema of Vega-Lite, is not installed")
    folder = Path(found.origin).parent / "vegalite"
    version = re.search(r"v(\d+)\.json$", vega_lite.SCHEMA)
    assert version is not None
    schema: dict[str, Any] = json.loads((folder / f"v{version[1]}" / "schema" / "vega-lite-schema.json").read_bytes())
    return schema


@pytest.mark.outside
def test_the_specification_is_valid_by_the_schema_that_it_names() -> None:
    schema = vega_lite_schema()
    validator = validator_for(schema)(schema)
    for page in (pinned_page(), pinned_pair(), page_with(player_bars([])), page_with(player_bars([]), by="date")):
        for opponents in (False, True):
            made = json.loads(json_form.dump_json(vega_lite.specification(page, opponents=opponents)))
            assert made["$schema"] == vega_lite.SCHEMA
            assert list(validator.iter_errors(made)) == []
    assert not validator.is_valid({**made, "mark": 7})


def test_the_specification_has_a_value_for_each_bar() -> None:
    made = vega_lite.specification(pinned_page())
    assert [value["n"] for value in made["data"]["values"]] == [57, 56, 55, 54, 53, 52, 51]
    results = {value["result"] for value in made["data"]["values"]}
    assert results <= set(made["layer"][0]["encoding"]["color"]["scale"]["domain"])


@pytest.mark.outside
def test_a_picture_has_words_and_bars() -> None:
    assert png.is_available()
    page = pinned_page()
    drawn = png.as_png(svg.draw(page, Look(theme=Theme.LIGHT)), zoom=1.0)
    assert drawn.startswith(b"\x89PNG\r\n\x1a\n")
    without = re.sub("<text.*?</text>", "", svg.draw(page, Look(theme=Theme.LIGHT)))
    assert len(drawn) > len(png.as_png(without, zoom=1.0)) * 1.2  # there is a font
    assert png.as_png(svg.draw(page, Look(theme=Theme.DARK)), zoom=1.0) != drawn


def test_the_kinds_are_those_that_are_drawn() -> None:
    assert [result_kind(found) for found in pinned_page().player.bars] == [
        "win",
        "loss",
        "time-loss",
        "draw",
        "win",
        "win",
        "win",
    ]
