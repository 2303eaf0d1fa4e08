"""The commands that open and close tournaments, and what they refuse before anything is recorded."""

import json
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.commands import Run
from tools.commands import REFUSED, USAGE

GAMES = """key,white,black,result,date,tournament
1,Ann,Bob,1-0,2025-08-28,Autumn open
2,Ann,Bob,1/2-1/2,2025-09-02,Autumn open
3,Bob,Ann,1/2-1/2,2025-09-06,Autumn open
"""


@pytest.fixture(name="federation")
def _federation(tmp_path: Path, run: Run) -> Path:
    """A ledger whose pool adopts FIDE's scheme now, with a tournament over a month's end."""
    path = tmp_path / "club.db"
    assert run("init", path, "--scheme", "fide", "--set", "start=1800", "--set", "floor=1000").code == 0
    (tmp_path / "games.csv").write_text(GAMES, encoding="utf-8")
    assert run("import", path, tmp_path / "games.csv").code == 0
    return path


def lists(run: Run, path: Path) -> list[tuple[str, int]]:
    """The days of the rating runs, and how many games each rates."""
    return [(row["as_of"], row["games"]) for row in json.loads(run("runs", path).out)]


def test_a_pool_that_adopts_fide_now_rates_tournaments_whole(federation: Path, run: Run) -> None:
    assert lists(run, federation) == [("2025-09-30", 3)]
    with Ledger.open(federation) as ledger:
        chosen = {"by_event": True, "included_until": 2, "start": "1800", "floor": "1000"}
        assert ledger.first_scheme().settings.items() >= chosen.items()


def test_a_pool_may_rate_each_game_in_its_month_still(federation: Path, run: Run) -> None:
    path = federation.with_name("old.db")
    words = ("--set", "start=1800", "--set", "floor=1000", "--set", "by_event=false")
    assert run("init", path, "--scheme", "fide", *words).code == 0
    assert run("import", path, federation.with_name("games.csv")).code == 0
    assert lists(run, path) == [("2025-08-31", 1), ("2025-09-30", 2)]


def test_a_tournament_is_opened_and_closed(federation: Path, run: Run) -> None:
    words = ("--start", "2025-08-27", "--end", "2025-10-02", "--format", "swiss", "--entrants", "2", "--rounds", "2")
    done = run("open-tournament", federation, "Autumn open", *words)
    assert (done.code, "opened" in done.err) == (0, True)
    assert lists(run, federation) == [("2025-08-31", 1), ("2025-09-30", 2)], "37 days: a league, by month"
    assert "opened already" in run("open-tournament", federation, "Autumn open", *words).err
    assert run("close-tournament", federation, "Autumn open", "--ended", "2025-09-06").code == 0
    assert lists(run, federation) == [("2025-09-30", 3)]
    with Ledger.open(federation) as ledger:
        (opening,) = ledger.rows("openings")
    assert [opening[name] for name in ("starts_at", "ends_at", "format", "entrants", "rounds")] == [
        "2025-08-27",
        "2025-10-02",
        "swiss",
        2,
        2,
    ]
    assert run("audit", federation).out.startswith("TRUE")


def test_a_tournament_that_nobody_knows_is_not_closed(federation: Path, run: Run) -> None:
    head = run("head", federation).out
    done = run("close-tournament", federation, "Autum open", "--ended", "2025-09-06")
    assert done.code == REFUSED
    assert "no-such-tournament: no tournament 'Autum open' in pool 'standard'; did you mean 'Autumn open'?" in done.err
    assert run("head", federation).out == head
    assert run("open-tournament", federation, "Cup", "--start", "2025-10-01", "--end", "2025-10-02").code == 0
    assert run("close-tournament", federation, "Cup", "--ended", "2025-10-03").code == 0


def test_a_tournament_that_ends_before_it_begins_is_refused(federation: Path, run: Run) -> None:
    done = run("open-tournament", federation, "Cup", "--start", "2025-10-02", "--end", "2025-10-01")
    assert done.code == REFUSED
    assert "ends at 2025-10-01, before it begins at 2025-10-02" in done.err
    assert run("open-tournament", federation, "Cup", "--start", "2025-10-02", "--end", "tomorrow").code == USAGE


def test_compare_places_tournaments_as_the_pool_does(federation: Path, run: Run) -> None:
    done = run("compare", federation, "--schemes", "fide,elo")
    assert done.code == 0, done.err


def test_a_prolonging_is_refused_with_both_days_and_the_way_to_it(federation: Path, run: Run) -> None:
    assert run("open-tournament", federation, "Cup", "--start", "2025-10-01", "--end", "2025-10-02").code == 0
    head = run("head", federation).out
    done = run("open-tournament", federation, "Cup", "--start", "2025-10-01", "--end", "2025-10-05")
    assert done.code == REFUSED
    assert "is announced from 2025-10-01 to 2025-10-02 already, not to 2025-10-05" in done.err
    assert "once it is over, 'close-tournament' with the day says so" in done.err
    assert run("head", federation).out == head
    assert run("close-tournament", federation, "Cup", "--ended", "2025-10-05").code == 0
    done = run("close-tournament", federation, "Cup", "--ended", "2025-10-04")
    assert (done.code, "was closed on 2025-10-05 already, not on 2025-10-04" in done.err) == (REFUSED, True)


def test_editions_that_overlap_are_refused_with_both_spans(federation: Path, run: Run) -> None:
    assert run("open-tournament", federation, "Cup", "--start", "2025-10-01", "--end", "2025-10-09").code == 0
    for start, end in (("2025-10-09", "2025-10-20"), ("2025-09-20", "2025-10-01"), ("2025-10-03", "2025-10-04")):
        done = run("open-tournament", federation, "Cup", "--start", start, "--end", end)
        assert done.code == REFUSED
        assert f"lasts from 2025-10-01 to 2025-10-09, and {start} to {end} overlaps that" in done.err
    assert run("open-tournament", federation, "Cup", "--start", "2025-10-10", "--end", "2025-10-20").code == 0


def test_a_closing_before_the_last_game_is_refused_with_both_days(federation: Path, run: Run) -> None:
    done = run("close-tournament", federation, "Autumn open", "--ended", "2025-09-03")
    assert done.code == REFUSED
    assert "ended after 2025-09-03, the last one of this edition on 2025-09-06" in done.err
    assert lists(run, federation) == [("2025-09-30", 3)]
    assert run("open-tournament", federation, "Autumn open", "--start", "2025-09-04", "--end", "2025-09-06").code == 0
    assert run("close-tournament", federation, "Autumn open", "--ended", "2025-09-03").code == 0


def test_an_import_names_games_outside_what_is_told_of_their_tournament(federation: Path, run: Run) -> None:
    assert run("open-tournament", federation, "Cup", "--start", "2025-10-01", "--end", "2025-10-02").code == 0
    assert run("close-tournament", federation, "Autumn open", "--ended", "2025-09-06").code == 0
    games = federation.with_name("cup.csv")
    games.write_text(
        "key,white,black,result,date,tournament\n5,Ann,Bob,1-0,2025-10-02,Cup\n6,Ann,Bob,1-0,2025-10-03,Cup\n"
        "7,Ann,Bob,1-0,2025-09-07,Autumn open\n8,Ann,Bob,1-0,2024-09-01,Autumn open\n9,Ann,Bob,1-0,2025-10-03,\n",
        encoding="utf-8",
    )
    done = run("import", federation, games)
    assert done.code == 0
    assert f"{games}:3: note: ended on 2025-10-03, outside the announced days of 'Cup'" in done.err
    assert f"{games}:4: note: ended on 2025-09-07, outside the announced days of 'Autumn open'" in done.err
    assert "note: 2 games outside the days" in done.err


LEAGUE = (*(f"2025-03-{day:02}" for day in range(3, 30, 5)), "2025-04-02", "2025-04-07")
NOTE = "note: no rating depends on this: "


@pytest.mark.parametrize(
    ("settings", "days", "ended", "words"),
    [
        ([], LEAGUE, "2025-04-07", f"{NOTE}it lasts 36 days, and one of more than 30 (event_days) is rated by period"),
        (["event_days=40"], LEAGUE, "2025-04-07", f"{NOTE}its games are rated as of that day already"),
        (["by_event=false"], LEAGUE, "2025-04-07", f"{NOTE}'fide' goes by its calendar in this pool (by_event=false)"),
        ([], ("2025-03-03", "2025-03-20"), "2025-03-20", f"{NOTE}the edition that it ends began on 2025-03-20"),
        ([], ("2025-03-03", "2025-03-05"), "2025-04-07", f"{NOTE}it lasts 36 days, and one of more than 30"),
        ([], ("2025-03-25", "2025-03-28"), "2025-04-05", "2 games of it rated at another place now: as of 2025-04-30"),
    ],
)
def test_a_closing_says_what_it_did_or_why_it_did_nothing(
    settings: list[str], days: tuple[str, ...], ended: str, words: str, tmp_path: Path, run: Run
) -> None:
    path, games = tmp_path / "league.db", tmp_path / "league.csv"
    given = [word for setting in settings for word in ("--set", setting)]
    assert run("init", path, "--scheme", "fide", *given).code == 0
    games.write_text("white,black,result,date,event\n" + "".join(f"Ann,Bob,1-0,{day},League\n" for day in days))
    assert run("import", path, games).code == 0
    before = lists(run, path)
    done = run("close-tournament", path, "League", "--ended", ended)
    assert done.code == 0
    assert words in done.err
    assert (lists(run, path) == before) == (NOTE in done.err)
    again = run("close-tournament", path, "League", "--ended", ended)
    assert "was closed already" in again.err
    assert NOTE not in again.err


def test_a_closing_that_changes_from_which_list_games_are_rated_says_so(tmp_path: Path, run: Run) -> None:
    """The list of August is in force from 14 September on, but not for a league, whose period began before."""
    path, games = tmp_path / "league.db", tmp_path / "league.csv"
    assert run("init", path, "--scheme", "fide", "--set", "in_force_after=14", "--set", "start=1500").code == 0
    days = ("2025-08-20", "2025-09-20", "2025-09-24")
    games.write_text("white,black,result,date,event\n" + "".join(f"Ann,Bob,1-0,{day},League\n" for day in days))
    assert run("import", path, games).code == 0
    before, shown = lists(run, path), run("show", path, "Ann").out
    done = run("close-tournament", path, "League", "--ended", "2025-10-25")
    assert "2 games of it rated from the ratings of another day now" in done.err
    assert lists(run, path) == before
    assert run("show", path, "Ann").out != shown


def test_a_closing_after_the_last_edition_was_over_says_so(federation: Path, run: Run) -> None:
    assert run("close-tournament", federation, "Autumn open", "--ended", "2025-09-06").code == 0
    done = run("close-tournament", federation, "Autumn open", "--ended", "2025-10-20")
    assert f"{NOTE}no game of it ended after 2025-09-06, when its last edition was over" in done.err


def test_an_announcement_of_a_league_says_that_it_is_rated_by_period(federation: Path, run: Run) -> None:
    done = run("open-tournament", federation, "League", "--start", "2025-10-01", "--end", "2026-03-31")
    assert "note: its games are not rated together: it lasts 182 days" in done.err
    done = run("open-tournament", federation, "Cup", "--start", "2025-10-01", "--end", "2025-10-09")
    assert "note:" not in done.err


@pytest.mark.parametrize(("days", "first"), [(("31", "31"), "2025-07-28"), (("30", "31"), "2025-07-30")])
def test_a_tournament_without_days_of_rounds_is_shown_with_its_announced_days(
    days: tuple[str, str], first: str, federation: Path, run: Run
) -> None:
    rows = [f"s{n},Ann,Bob,1-0,2025-07-{day},Summer open" for n, day in enumerate(days)]
    file = federation.with_name("summer.csv")
    file.write_text("\n".join(["key,white,black,result,date,tournament", *rows, ""]), encoding="utf-8")
    assert run("import", federation, file).code == 0
    words = ("open-tournament", federation, "Summer open", "--start", "2025-07-28", "--end", "2025-07-31")
    assert run(*words).code == 0
    (row,) = json.loads(run("tournaments", federation, "--search", "summer").out)
    assert (row["first_day"], row["last_day"]) == (first, "2025-07-31")
    said = run("crosstable", federation, "Summer open", "--format", "txt").out
    assert said.startswith(f"Summer open, {first} to 2025-07-31\n")
