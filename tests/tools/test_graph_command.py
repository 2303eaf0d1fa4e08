"""The command ``graph``: formats by the file's name, options that go together, every page linked, refusals."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ledger.answers.graphs import career_svg, html, png
from ledger.answers.graphs.graph_data import Page
from ledger.answers.graphs.looks import Look, Theme
from ledger.facts.json_schemas import class_schema
from ledger.ledger import Ledger
from ledger.runtime.visible import in_markup
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.graph_pages import THIEF
from tools.commands import REFUSED, USAGE
from tools.commands.graph import ENDINGS, FORMATS, GOES_WITH


@pytest.fixture(scope="module")
def graphed_club(sample_folder: Path) -> Path:
    """The sample club, to be read only."""
    return sample_folder / "club.db"


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_format_is_guessed_from_the_files_name(ending: str, graphed_club: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / f"ann{ending}"
    file.write_text("what was there is written over")
    done = run("graph", graphed_club, "ann", "-o", file)
    assert (done.code, done.out, done.err) == (0, "", "")
    begins = {
        "lichess": b"[{",
        "vega-lite": b'{\n  "$schema": "https://vega',
        "json": b'{\n  "pool"',
        "csv": b"player,",
        "svg": b"<svg ",
        "png": b"\x89PNG",
        "html": b"<!doctype html>",
        "txt": b"ann, rated games",
        "css": b":root{color-scheme",
    }
    assert file.read_bytes().startswith(begins[ENDINGS[ending]])


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "png"])
def test_standard_output_has_what_the_file_would_have(kind: str, graphed_club: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "ann"
    assert run("graph", graphed_club, "ann", "--format", kind, "-o", file).code == 0
    assert run("graph", graphed_club, "ann", "--format", kind).out == file.read_text("utf-8")
    assert run("graph", graphed_club, "ann", "--format", kind, "-o", "-").out == file.read_text("utf-8")


def test_a_career_is_a_picture_of_all_games_or_the_data_that_a_server_gives(graphed_club: Path, run: Run) -> None:
    picture = run("graph", graphed_club, "ann", "--career", "--format", "svg", "--theme", "dark").out
    assert ET.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    data = json.loads(run("graph", graphed_club, "ann", "--career", "--format", "json").out)
    shown = json.loads(run("show", graphed_club, "ann").out)
    assert (data["name"], data["games"], data["points"][-1]["rating"]) == ("ann", shown["games"], shown["rating_now"])
    part = json.loads(
        run("graph", graphed_club, "ann", "--career", "--since", "2005", "--until", "2005-12", "--format", "json").out
    )
    assert {point["in_force"][:4] for point in part["points"]} == {"2005"}
    page = run("graph", graphed_club, "ann", "--career", "--format", "html").out
    assert (page.startswith("<!doctype html>"), "<script" in page) == (True, False)


def test_a_career_is_a_png_like_the_graph(graphed_club: Path, tmp_path: Path, run: Run) -> None:
    assert run("graph", graphed_club, "ann", "--career", "-o", tmp_path / "career.png").code == 0
    content = (tmp_path / "career.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") == 2 * career_svg.WIDE


def test_an_html_page_takes_its_look_from_the_style_sheet_that_css_prints(graphed_club: Path, run: Run) -> None:
    page = run("graph", graphed_club, "ann", "--format", "html", "--style-sheet", "/graph.css", "--theme", "dark").out
    assert '<link rel="stylesheet" href="/graph.css">' in page
    assert "<style" not in page
    sheet = run("graph", graphed_club, "ann", "--format", "css", "--theme", "dark").out
    assert sheet.strip() == html.style_sheet(Look(theme=Theme.DARK))
    done = run("graph", graphed_club, "ann", "--format", "json", "--style-sheet", "/graph.css")
    assert (done.code, "--style-sheet goes with html, svg, not with json" in done.err) == (USAGE, True)


@pytest.mark.parametrize(
    "address", ["http://[club", "https://club.example;script-src *", "https://club.example 'self'"]
)
def test_a_style_sheet_has_an_address(address: str, graphed_club: Path, run: Run) -> None:
    done = run("graph", graphed_club, "ann", "--format", "html", "--style-sheet", address)
    assert (done.code, done.out) == (USAGE, "")
    assert f"--style-sheet: {address!r} is no address such as graph.css or https://club.example/a.css" in done.err


def test_a_graph_in_characters_hides_nothing_in_a_file(tmp_path: Path, run: Run) -> None:
    club, games, file = tmp_path / "club.db", tmp_path / "games.pgn", tmp_path / "graph.txt"
    tags = '[White "A\u202enn"]\n[Black "Bob"]\n[Date "2024.05.01"]\n[Result "1-0"]\n'
    games.write_text(f"{tags}\n1. e4 1-0\n", "utf-8")
    run("init", club, "--scheme", "elo")
    assert run("import", club, games).code == 0
    assert run("graph", club, "1", "-o", file).code == 0
    assert file.read_text("utf-8").startswith("A\\u202enn, rated game on 2024-05-01\n")


def test_an_html_page_gives_each_game_as_pgn(graphed_club: Path, run: Run) -> None:
    page = run("graph", graphed_club, "ann", "--format", "html").out
    assert page.count("<summary>PGN</summary>") == page.count("<article ")
    game = json.loads(run("graph", graphed_club, "ann", "--format", "json").out)["player"]["bars"][0]["game"]
    written = run("board", graphed_club, game, "--format", "pgn").out
    assert "\n".join(map(in_markup, written.split("\n"))) in page


def test_a_picture_shows_the_last_hundred_games_and_data_all_of_them(graphed_club: Path, run: Run) -> None:
    def bars(*words: str) -> int:
        return run("graph", graphed_club, "ann", *words).out.count("data-bar=")

    assert bars("--format", "svg") == 100
    assert bars("--format", "svg", "--last", "50") == 50
    assert bars("--format", "svg", "--last", "0") == bars("--format", "svg", "--last", "500") == 106
    assert bars("--format", "svg", "--page", "3") == 6
    whole = json.loads(run("graph", graphed_club, "ann", "--format", "json").out)
    assert len(whole["player"]["bars"]) == whole["player"]["games"] == 106
    assert len(list(csv.DictReader(io.StringIO(run("graph", graphed_club, "ann", "--format", "csv").out)))) == 106


def test_the_terminal_draws_a_page_with_its_own_numbers(graphed_club: Path, run: Run) -> None:
    lines = run("graph", graphed_club, "ann", "--page", "2").out.splitlines()
    assert lines[0].startswith("ann, rated games from 2004-12-10 to 2005-08-12")
    assert lines[-1].split() == ["game", "7", "game", "56"]


def test_every_page_is_written_and_linked_with_its_neighbours(graphed_club: Path, tmp_path: Path, run: Run) -> None:
    done = run("graph", graphed_club, "ann", "--every-page", "-o", tmp_path / "ann graph.html")
    assert done.code == 0
    assert "3 pages of ann" in done.err
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(texts) == ["ann graph-2.html", "ann graph-3.html", "ann graph.html"]
    links = {name: re.findall(r'href="([^"#]*?\.html)"', text) for name, text in texts.items()}
    assert links == {
        "ann graph.html": ["ann%20graph-2.html"],
        "ann graph-2.html": ["ann%20graph.html", "ann%20graph-3.html"],
        "ann graph-3.html": ["ann%20graph-2.html"],
    }


def test_two_players_go_by_date(graphed_club: Path, run: Run) -> None:
    words = ("graph", graphed_club, "ann", "--by", "date", "--against", "bob", "--format")
    assert run(*words, "svg").out.count('class="line"') == 2  # and in the legend
    document = json.loads(run(*words, "json").out)
    assert (document["by"], document["against"]["name"]) == ("date", "bob")
    assert {row["player"] for row in csv.DictReader(io.StringIO(run(*words, "csv").out))} == {"ann", "bob"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--mono", "--opponents"], "--opponents goes with html, png, svg, vega-lite, not with txt; --mono goes with"),
        (["--last", "30"], "--last takes 50, 100, 150, ..., or 0 for all games; got 30"),
        (["--last", "50", "--page", "1"], "give --last or --page, not both"),
        (["--against", "bob", "-o", "a.svg"], "--against goes with --by date"),
        (["--career"], "--career goes with html, json, png, svg, not with txt"),
        (["--career", "--last", "50", "-o", "a.svg"], "--until, --theme and --pool, not with --last"),
        (["--since", "2019", "-o", "a.svg"], "--since goes with --career"),
        (["--career", "--until", "soon", "-o", "a.svg"], "--until: "),
        (["--every-page", "--format", "html"], "--every-page goes with -o FILE"),
        (["--every-page", "--page", "2", "-o", "a.html"], "--every-page goes with -o FILE, and with neither"),
        (["--raw", "-o", "a.json"], "--raw goes with csv, not with json"),
        (["--page", "1", "-o", "a.lichess.json"], "--page goes with"),
        (["-o", "a.gif"], "give --format, or a name that ends in .lichess.json, .vl.json, .json"),
        (["--no-boards", "-o", "a.json"], "--no-boards goes with html, not with json"),
    ],
)
def test_options_that_do_not_go_together_are_all_named(
    words: list[str], problem: str, graphed_club: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("graph", graphed_club, "ann", *words)
    assert (done.code, done.out) == (USAGE, "")
    assert problem in done.err
    assert list(tmp_path.iterdir()) == []


def test_every_option_says_with_which_formats_it_goes() -> None:
    assert all(formats <= set(FORMATS) for formats in GOES_WITH.values())


def test_a_page_that_is_not_there_is_refused(graphed_club: Path, run: Run) -> None:
    done = run("graph", graphed_club, "ann", "--page", "9", "--format", "json")
    assert (done.code, done.out) == (REFUSED, "")
    assert "no page '9' of the graph; ann has 3, of 50 games each" in done.err


def test_without_resvg_a_png_is_refused_with_the_extra_that_brings_it(
    graphed_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(png, "is_available", lambda: False)
    done = run("graph", graphed_club, "ann", "-o", tmp_path / "ann.png")
    assert done.code == REFUSED
    assert "pip install 'rating-ledger[pictures]'" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_thief_of_a_name_stays_text_in_every_format(empty_club: Path, tmp_path: Path, run: Run) -> None:
    with Ledger.open(empty_club) as ledger:
        ledger.register("name:thief", THIEF.replace("\x1b[2J", "").replace("\u202e", ""))
        ledger.register("name:formula", "=HYPERLINK(1)")
        ledger.append(game_recorded("g1", half_moves=60, ended_at="2020-01-01", tournament="<b onclick=1>"))
    for kind in FORMATS:
        file = tmp_path / "made"
        assert run("graph", empty_club, "1", "--format", kind, "-o", file).code == 0
        content = file.read_bytes()
        if kind == "svg":
            assert "script" not in {element.tag for element in ET.fromstring(content).iter()}
        assert kind == "csv" or b"<script>alert" not in content or b'"' in content
    assert ",'=HYPERLINK(1)," in run("graph", empty_club, "1", "--format", "csv").out
    assert ",=HYPERLINK(1)," in run("graph", empty_club, "1", "--format", "csv", "--raw").out


def test_lichess_history_is_of_all_pools_or_the_one_that_is_named(empty_club: Path, run: Run) -> None:
    csv_text = "key,white,black,result,half_moves,ended_at\n1,Ann,Bob,1-0,40,2020-01-31\n"
    (games := empty_club.parent / "games.csv").write_text(csv_text)
    assert run("import", empty_club, games).code == 0
    games.write_text(csv_text.replace("1,Ann,Bob", "2,Ann,Bob"))
    assert run("import", empty_club, games, "--pool", "blitz", "--new-pool").code == 0
    words = ("graph", empty_club, "Ann", "--format", "lichess")
    assert json.loads(run(*words).out) == [
        {"name": "standard", "points": [[2020, 0, 31, 1800]]},
        {"name": "blitz", "points": [[2020, 0, 31, 1800]]},
    ]
    assert [entry["name"] for entry in json.loads(run(*words, "--pool", "blitz").out)] == ["blitz"]


def test_the_schema_that_the_help_names_is_the_one_of_the_page(run: Run) -> None:
    assert "rating-graph-1.json" in run("graph", "--help").out
    assert class_schema(Page, "rating-graph/1")["title"] == "rating-graph/1"
