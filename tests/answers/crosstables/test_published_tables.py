"""Complete all-play-alls that were published, against the tables of their pages."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.answers.crosstables.crosstable_data import Crosstable
from ledger.answers.crosstables.tie_breaks import RoundResult, RoundResults, rank_players
from ledger.ledger import Ledger
from ledger.schemes.formulas.performance import fide_tpr
from tests.kit.places import DATA
from tools import cli

FOLDER = DATA / "roundrobins"
SHOWN = TableOptions(ratings="shown", performance="fide_tpr")
# Worked out there with the mean rounded half to even, where FIDE rounds it up: 2504.5 and 2408.5 or the like.
HALF_TO_EVEN = {("2022_cuba_ch", "Albornoz Cabrera,Carlos Daniel"), ("2022_gm_ask_11", "Saric,Ib")}

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FOLDER.exists(), reason="the shared folder of real games is not here"),
]


@pytest.fixture(name="printed", scope="module")
def _printed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "published.json").read_text())
    return found


@pytest.fixture(name="events", scope="module")
def _events(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """All of the files in one ledger."""
    path = tmp_path_factory.mktemp("roundrobins") / "club.db"
    files = [str(file) for file in sorted(FOLDER.glob("*.pgn"))]
    assert cli.main(["init", str(path), "--scheme", "elo"]) == 0
    assert cli.main(["import", str(path), *files]) == 0
    with Ledger.open(path) as ledger:
        ledger.ensure_up_to_date()
        yield ledger


def table(events: Ledger, printed: dict[str, Any], name: str, choice: TableOptions = SHOWN) -> Crosstable:
    return crosstable(events, printed[name]["event"], choice=choice)


@pytest.mark.slow
def test_every_table_has_the_points_of_its_page_and_the_performances_of_fides_table(
    events: Ledger, printed: dict[str, Any]
) -> None:
    checked = 0
    for name in printed.keys() - {"1962_curacao_candidates"}:  # its name carries two events
        choice = {row["player"]: row for row in printed[name]["standings_from_games"]}
        page = table(events, printed, name)
        assert {row.name: row.points for row in page.standings} == {who: row["points"] for who, row in choice.items()}
        assert (page.format, page.complete) == ("all-play-all", printed[name]["complete"])
        for row in page.standings:
            tpr = choice[row.name].get("computed_tpr_fide_dp")
            assert row.performance == (tpr + 1 if (name, row.name) in HALF_TO_EVEN else tpr), (name, row.name)
            checked += tpr is not None
    assert checked > 150


def test_the_performance_that_the_page_of_zurich_printed_is_that_of_fides_table(
    events: Ledger, printed: dict[str, Any]
) -> None:
    page = table(events, printed, "2014_zurich_rapid")
    assert (page.standings[0].name, page.standings[0].performance) == ("Caruana,F", 3042)


def test_the_performance_that_the_page_of_shamkir_printed_drops_the_fraction_of_the_mean(
    events: Ledger, printed: dict[str, Any]
) -> None:
    carlsen = table(events, printed, "2019_shamkir").standings[0]
    opponents = [int(meeting.opponent_enrolment_rating or 0) for meeting in carlsen.meetings]
    assert (carlsen.name, carlsen.performance) == ("Carlsen,M", 2991)
    assert printed["2019_shamkir"]["published"]["tpr"] == {"Carlsen": 2990}
    assert fide_tpr(opponents, carlsen.points, truncate=True) == 2990


SWISS = re.compile(r"(\d*)([wb]?)-?([10½+-]?)")


def test_a_published_swiss_tournament_has_the_points_of_its_games_and_byes_and_its_first_five_places() -> None:
    published = json.loads((DATA / "published" / "arad2026_a_crosstable.json").read_text())["players"]
    half_points = {"1": 2, "½": 1, "0": 0, "+": 2, "-": 0, "": 0}
    results: dict[int, list[RoundResult]] = {}
    byes: Counter[int] = Counter()
    for player in published:
        own = results.setdefault(player["no"], [])
        for number, words in enumerate(player["rounds"], 1):
            opponent, colour, mark = SWISS.fullmatch(words).groups()  # type: ignore[union-attr]
            if opponent:
                results.setdefault(int(opponent), [])  # a few have no row of their own on the page
                own.append(RoundResult(int(opponent), half_points[mark], colour == "b", mark not in "+-", number))
            else:
                byes[player["no"]] += half_points[mark]
    assert len(published) == 208
    for player in published:
        assert RoundResults(results).points[player["no"]] + byes[player["no"]] / 2 == player["points"]
    ranked = [place.player for place in rank_players(RoundResults(results), ("buchholz-cut-1",), ())]
    assert ranked[:5] == [player["no"] for player in sorted(published, key=lambda row: int(row["rank"]))][:5]


@pytest.mark.parametrize(("name", "meetings"), [("1948_world_championship", 5), ("1953_zurich_candidates", 2)])
def test_double_rounds_and_more_are_seen(events: Ledger, printed: dict[str, Any], name: str, meetings: int) -> None:
    page = table(events, printed, name)
    assert page.meetings == meetings
    assert all(len(meeting.marks) == meetings for row in page.standings for meeting in row.meetings)


def test_a_table_of_which_games_are_missing_names_them(events: Ledger, printed: dict[str, Any]) -> None:
    page = table(events, printed, "2018_wijk_masters")
    assert (page.games, len(page.missing_games)) == (88, 3)


def test_two_events_of_one_name_are_two_editions(events: Ledger, printed: dict[str, Any]) -> None:
    name = printed["1962_curacao_candidates"]["event"]
    candidates = crosstable(events, name, choice=TableOptions(edition="1962"))
    match = crosstable(events, name, choice=TableOptions(edition="1963"))
    assert (candidates.format, candidates.meetings, match.format) == ("all-play-all", 4, "match")


def test_the_file_of_a_table_is_written(events: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "linares.html"
    assert cli.main(["crosstable", str(events.path), "Linares", "--ratings", "shown", "-o", str(path)]) == 0
    assert "Karpov, Anatoly" in path.read_text()
