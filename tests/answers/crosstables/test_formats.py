"""The formats of a cross-table: each whole, each harmless, each made from the page alone."""

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import attrs
import pytest
from jsonschema import Draft202012Validator

from ledger.answers.asking import format_average
from ledger.answers.crosstables import formats, layout
from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.answers.crosstables.crosstable_data import Crosstable
from ledger.answers.graphs.json_form import dump_json
from ledger.facts.json_schemas import class_schema
from ledger.ledger import Ledger
from tests.kit import snapshots
from tests.kit.places import TESTS

from .conftest import CUP

EVENTS = {
    "all-play-all": (CUP, TableOptions(edition="2023", performance="linear")),
    "incomplete": (CUP, TableOptions(edition="2024")),
    "swiss": ("Summer open", TableOptions()),
    "knockout": ("Knock-out", TableOptions()),
    "shown": (CUP, TableOptions(ratings="shown", edition="2023")),
    "other": ("Summer open", TableOptions(kind="arena", tie_breaks=("wins",))),
}


@pytest.fixture(name="page", params=EVENTS, scope="module")
def _page(cups: Ledger, request: pytest.FixtureRequest) -> Crosstable:
    name, choice = EVENTS[request.param]
    return crosstable(cups, name, choice=choice)


def test_json_is_as_its_schema_says(page: Crosstable) -> None:
    Draft202012Validator(class_schema(Crosstable, "crosstable/1")).validate(attrs.asdict(page))


def test_the_text_of_an_all_play_all_is_that_worked_out_by_hand(cups: Ledger) -> None:
    name, choice = EVENTS["all-play-all"]
    lines = formats.as_text(crosstable(cups, name, choice=choice)).splitlines()
    assert lines[:3] == [
        "Spring cup, 2023-04-01 to 2023-04-06",
        "all play all as its games look; 4 players, 6 games, average rating 1663",
        "pool standard, the ledger's ratings; TPR: linear (Elo's formula for provisional ratings); as of entry 43",
    ]
    assert re.split(r"\s{2,}", lines[4].strip()) == [
        "place", "player", "rating", "1", "2", "3", "4", "points", "DE", "WIN", "SB", "KS", "Rc", "TPR", "ER %",
        "upsets",
    ]  # fmt: skip
    assert re.split(r"\s{2,}", lines[7].strip())[:10] == ["2", "2-3", "Ann", "1500", "0", "■", "1", "½", "1½", "1"]
    assert r"Eve <b>&amp;\u202e" in lines[9]


GOLDEN = TESTS / "golden" / "crosstables"
DRAWN: Mapping[str, Callable[[Crosstable], str]] = {
    "txt": lambda page: f"{formats.as_text(page)}\n",
    "html": formats.as_html,
    "svg": formats.as_svg,
    "json": lambda page: dump_json(attrs.asdict(page), indent=True).decode(),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_a_table_is_drawn_byte_by_byte_as_it_was(cups: Ledger, kind: str) -> None:
    name, choice = EVENTS["all-play-all"]
    snapshots.check(GOLDEN / f"cup.{kind}", DRAWN[kind](crosstable(cups, name, choice=choice)))


def test_a_picture_has_room_for_many_marks_and_not_for_every_name(cups: Ledger) -> None:
    for marks, least in (("½½1½½", 59), ("00000", 41), ("½" * 11, 138)):  # of DejaVu Sans at 13 pixels
        assert least <= formats._width(marks) < least * 1.1
    drawn = formats.as_svg(attrs.evolve(crosstable(cups, CUP), tournament="Cup " * 100))
    assert int(ET.fromstring(drawn).get("width") or 0) < 1_200
    assert "Cup Cup…</text>" in drawn
    assert f"<title>{'Cup ' * 100}" in drawn


class Rows(HTMLParser):
    """The tables of a page: a list of the texts of their cells, and every element that was opened and not closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.scopes: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
            self.scopes += [value or "" for name, value in attributes if name == "scope"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"td", "th"}:
            self.rows[-1][-1] += data


def test_html_is_a_table_with_headings_and_the_view_of_every_player(page: Crosstable) -> None:
    parser = Rows()
    parser.feed(formats.as_html(page))
    assert parser.open == []
    table, views = parser.rows[: page.players + 1], parser.rows[page.players + 1 :]
    assert len(views) == page.players + sum(len(standing.meetings) for standing in page.standings)
    assert len({len(row) for row in table}) == 1
    assert parser.scopes.count("row") == page.players + sum(len(standing.meetings) for standing in page.standings)


def test_svg_is_well_formed_and_every_cell_has_a_role(page: Crosstable) -> None:
    root = ET.fromstring(formats.as_svg(page))
    roles = [element.get("role") for element in root.iter() if element.get("role")]
    assert (roles.count("table"), roles.count("rowheader")) == (1, page.players)
    assert roles.count("row") == page.players + 1
    titles = [element.text or "" for element in root.iter() if element.tag.endswith("}title")]
    assert any(f"({page.performance.variant})" in title for title in titles)
    if page.ratings == "ledger":
        assert any("enrolment 1" in title for title in titles)


def test_no_name_is_markup_and_nothing_hidden_is_kept(page: Crosstable) -> None:
    for drawn in (formats.as_html(page), formats.as_svg(page), formats.as_text(page)):
        assert "\u202e" not in drawn
    for drawn in (formats.as_html(page), formats.as_svg(page)):
        assert "<b>" not in drawn
        assert "<script" not in drawn


def test_a_picture_is_light_or_dark_or_as_the_reader_has_it(page: Crosstable) -> None:
    light, dark, either = formats.as_svg(page, dark=False), formats.as_svg(page, dark=True), formats.as_svg(page)
    assert ("#FFFFFF" in light, "#FFFFFF" in dark, "prefers-color-scheme" in light) == (True, False, False)
    assert "prefers-color-scheme: dark" in either
    assert {"#0072B2", "#8C8C8C", "#D55E00"} <= set(re.findall("#[0-9A-F]{6}", light)), "the colours of the graph"


def test_rows_for_a_spreadsheet_have_the_same_columns_and_plain_numbers(page: Crosstable) -> None:
    rows = formats.spreadsheet_rows(page)
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert [row["points"] for row in rows] == [standing.points for standing in page.standings]
    assert rows[0][f"TPR_{page.performance.variant}"] == page.standings[0].performance


@pytest.mark.parametrize(
    ("mean", "shown"), [(2450.5, "2451"), (2451.5, "2452"), (2450.49, "2450"), (0.5, "1"), (None, "-")]
)
def test_an_average_of_ratings_rounds_one_half_up(mean: float | None, shown: str) -> None:
    assert format_average(mean) == shown


@pytest.mark.parametrize(("mean", "shown"), [(2450.5, "2451"), (1662.5, "1663"), (1663.5, "1664")])
def test_a_row_shows_the_mean_of_the_opponents_and_the_performance_one_half_up(
    page: Crosstable, mean: float, shown: str
) -> None:
    first = attrs.evolve(page.standings[0], opponents_mean=mean, performance=mean)
    table = layout.lay_out_table(attrs.evolve(page, standings=[first, *page.standings[1:]]))
    heads = [column.head for column in table.columns]
    assert [table.rows[0][heads.index(head)].text for head in ("Rc", "TPR")] == [shown, shown]
