"""Lists by data about players: federation, club, women, juniors, seniors, activity, each with places of its own."""

import csv
import io
import re
from pathlib import Path

import pytest

from ledger.answers.player_details import PlayerGroup, details_at
from ledger.facts.instants import instant_ms
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.source_files import written

HEAD = "fide_id,name,rating,born,sex,title,fed,club,national_number,active,since"
ROWS = (
    "101,Ada,2400,1990-02-03,f,IM,nor,Ek SK,N1,yes,2024-01-01",
    "102,Bo,2400,2008,m,,NOR,Oak CC,N2,no,2024-01-01",
    "103,Cy,2300,1950,m,g,SWE,,,,2024-01-01",
    "104,Di,2200,2010-12-31,w,WFM,SWE,ek sk,,,2024-01-01",
    "105,Ed,2100,,,,,,,,2024-01-01",
)


def file_of(*rows: str) -> bytes:
    return "\n".join((HEAD, *rows)).encode()


@pytest.fixture(name="grouped_club")
def _grouped_club(tmp_path: Path, run: Run) -> Path:
    """A club whose five members came with a list."""
    club = tmp_path / "club.db"
    assert run("init", club, "--scheme", "elo").code == 0
    done = run("players", "import", club, written(tmp_path, "members.csv", file_of(*ROWS)), "--list", "members")
    assert done.code == 0, done.err
    return club


GROUPS = [
    (PlayerGroup(), [(1, "Ada"), (1, "Bo"), (3, "Cy"), (4, "Di"), (5, "Ed")]),
    (PlayerGroup(federation="swe"), [(1, "Cy"), (2, "Di")]),
    (PlayerGroup(club="Ek SK"), [(1, "Ada"), (2, "Di")]),
    (PlayerGroup(women=True), [(1, "Ada"), (2, "Di")]),
    (PlayerGroup(juniors=16), [(1, "Bo"), (2, "Di")]),
    (PlayerGroup(juniors=15), [(1, "Di")]),
    (PlayerGroup(seniors=65), [(1, "Cy")]),
    (PlayerGroup(listed_active=True), [(1, "Ada"), (2, "Cy"), (3, "Di"), (4, "Ed")]),
    (PlayerGroup(federation="NOR", women=True, listed_active=True), [(1, "Ada")]),
    (PlayerGroup(club="Nowhere"), []),
]


def words(group: PlayerGroup) -> list[str]:
    """The options of the command line for a group."""
    options: list[str] = []
    for name, word in (("federation", group.federation), ("club", group.club)):
        options += [f"--{name}", word] if word is not None else []
    for name, age in (("juniors", group.juniors), ("seniors", group.seniors)):
        options += [f"--{name}", str(age)] if age is not None else []
    return options + (["--women"] if group.women else []) + (["--listed-active"] if group.listed_active else [])


@pytest.mark.parametrize(("group", "ranked"), GROUPS, ids=map(str, range(len(GROUPS))))
def test_a_group_has_places_of_its_own_everywhere(
    group: PlayerGroup, ranked: list[tuple[int, str]], grouped_club: Path, run: Run
) -> None:
    with Ledger.open(grouped_club) as ledger:
        rows = ledger.ranking(at="2024-06-01", min_games=0, group=group, details=True)
        assert [(row.rank, row.name) for row in rows] == ranked
        assert [row.name for row in ledger.ranking(at="2024-06-01", min_games=0, group=group, offset=1, limit=1)] == [
            name for _, name in ranked[1:2]
        ]
        shares = [row.details.percentile for row in rows if row.details]
        assert shares[-1:] == [0.0] * len(shares[-1:])
    shown = run("ratings", grouped_club, "--at", "2024-06-01", "--min-games", "0", "--csv", *words(group)).out
    assert [(int(row["rank"]), row["name"]) for row in csv.DictReader(io.StringIO(shown))] == ranked
    file = run("export", grouped_club, "ratings", "--at", "2024-06-01", "--names", *words(group)).out
    assert [(int(row["rank"]), row["name"]) for row in csv.DictReader(io.StringIO(file))] == ranked


def test_a_published_list_is_shown_and_exported_by_groups(grouped_club: Path, tmp_path: Path, run: Run) -> None:
    assert run("publish", grouped_club, "--at", "2024-05-31", "--despite-complaints").code == 0
    shown = run("lists", grouped_club, "standard@2024-05-31", "--csv", "--women").out
    assert [(row["rank"], row["name"]) for row in csv.DictReader(io.StringIO(shown))] == [("1", "Ada"), ("2", "Di")]
    file = run("export", grouped_club, "lists", "--names", "--federation", "SWE").out
    assert [(row["rank"], row["name"]) for row in csv.DictReader(io.StringIO(file))] == [("1", "Cy"), ("2", "Di")]
    assert run("lists", grouped_club, "--women").code == 2


@pytest.mark.parametrize(("form", "name"), [("fide-text", "may.txt"), ("fide-xml", "may.xml")])
def test_a_published_list_in_fides_form_comes_back(
    form: str, name: str, grouped_club: Path, tmp_path: Path, run: Run
) -> None:
    run("player", "add", grouped_club, "name:fay", "Fay & Co", "--rating", "2000", "--since", "2024-01-01")
    run("player", "describe", grouped_club, "Fay & Co", "--federation", "DEN", "--since", "2024-01-01")
    run("publish", grouped_club, "--at", "2024-05-31", "--despite-complaints")
    target = tmp_path / name
    done = run("export", grouped_club, "list", "--list", "standard@2024-05-31", "--names", "-o", target)
    assert (done.code, "1 player has neither a FIDE nor a national number" in done.err) == (0, True)
    other = tmp_path / "other.db"
    assert run("init", other, "--scheme", "elo").code == 0
    since = [] if form == "fide-text" else ["--since", "2024-06-01"]
    again = run("players", "import", other, target, *since)
    assert (again.code, "5 players, 5 of them new, 5 ratings" in again.err) == (0, True), again.err
    with Ledger.open(other) as ledger:
        rows = ledger.ranking(at="2024-06-01", min_games=0)
        assert [(row.name, row.rating) for row in rows[:3]] == [("Ada", 2400.0), ("Bo", 2400.0), ("Cy", 2300.0)]
        details = details_at(ledger, None, instant_ms("2024-06-01"))
        ada, bo = (details[ledger.player(each).player] for each in ("Ada", "Bo"))
    assert (ada.sex, ada.title, ada.federation, ada.birth, ada.active) == ("w", "IM", "NOR", "1990", True)
    assert (bo.sex, bo.title, bo.federation, bo.birth, bo.active) == ("m", None, "NOR", "2008", False)


def test_a_published_list_for_swiss_manager_has_both_numbers_and_comes_back(
    grouped_club: Path, tmp_path: Path, run: Run
) -> None:
    run("player", "add", grouped_club, "name:fay", "=Fay & Co", "--rating", "2000", "--since", "2024-01-01")
    run("player", "describe", grouped_club, "=Fay & Co", "--national", "77", "--since", "2024-01-01")
    run("publish", grouped_club, "--at", "2024-05-31", "--despite-complaints")
    target = tmp_path / "may.csv"
    options = ("--list", "standard@2024-05-31", "--names", "--format", "swiss-manager", "-o", target)
    assert run("export", grouped_club, "list", *options).code == 0
    lines = target.read_bytes().decode("utf-8-sig").split("\r\n")
    assert lines[0] == "ID_No;Name;Title;Sex;Fed;ClubName;Birthday;Rtg_Nat;Fide_No;Rtg_Int"
    assert "N1;Ada;IM;w;NOR;Ek SK;1990/02/03;2400;101;" in lines
    assert "77;'=Fay & Co;;;;;;2000;;" in lines, "no spreadsheet runs it"
    other = tmp_path / "other.db"
    assert run("init", other, "--scheme", "elo").code == 0
    again = run("players", "import", other, target, "--since", "2024-06-01")
    assert (again.code, "6 players, 6 of them new, 6 ratings" in again.err) == (0, True), again.err
    with Ledger.open(other) as ledger:
        ledger.ensure_up_to_date()
        ada = details_at(ledger, None, instant_ms("2024-06-01"))[ledger.player("fide:101").player]
    assert (ada.title, ada.sex, ada.federation, ada.club, ada.national) == ("IM", "w", "NOR", "Ek SK", "N1")


def test_data_of_a_list_hold_from_its_day_and_a_later_list_replaces_what_it_states(
    grouped_club: Path, tmp_path: Path, run: Run
) -> None:
    later = "101,Ada,2410,1990-02-03,f,GM,SWE,,,yes,2024-07-01"
    assert run("players", "import", grouped_club, written(tmp_path, "july.csv", file_of(later))).code == 0
    with Ledger.open(grouped_club) as ledger:
        ledger.ensure_up_to_date()
        ada = ledger.player("Ada").player
        then, now = (details_at(ledger, [ada], instant_ms(day))[ada] for day in ("2024-06-30", "2024-07-01"))
        size = ledger.journal.size()
    assert (then.title, then.federation, then.club) == ("IM", "NOR", "Ek SK")
    assert (now.title, now.federation, now.club, now.birth, now.national) == ("GM", "SWE", "Ek SK", "1990-02-03", "N1")
    assert run("players", "import", grouped_club, tmp_path / "july.csv").code == 0
    with Ledger.open(grouped_club) as ledger:
        assert ledger.journal.size() == size


def test_data_that_cannot_be_are_named_with_their_lines_and_nothing_is_recorded(
    grouped_club: Path, tmp_path: Path, run: Run
) -> None:
    rows = ("201,Gus,,,x,,,,,,", "202,Hal,,,,,Norway,,,,", "203,Ira,,,,,,,,perhaps,", "204,Jo,,,,G M,,,,,")
    done = run("players", "import", grouped_club, written(tmp_path, "bad.csv", file_of(*rows)))
    assert done.code == 1
    for line, fault in ((2, "must be m or w"), (3, "code of three letters"), (4, "must be yes or no"), (5, "a title")):
        assert any(f"bad.csv:{line}:" in each and fault in each for each in done.err.splitlines()), done.err
    with Ledger.open(grouped_club) as ledger:
        assert ledger.people.highest() == 5


def test_no_data_of_a_list_are_in_the_journal(grouped_club: Path) -> None:
    for word in (b"Ek SK", b"1990-02-03", b"WFM"):
        assert word not in grouped_club.read_bytes()
        assert word in sidecar(grouped_club, "people").read_bytes()


@pytest.mark.parametrize("form", ["fide-text", "fide-xml"])
def test_a_list_in_fides_form_has_the_games_that_counted_since_the_list_before_and_k(
    form: str, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / "federation.db"
    members = (
        b"name,national_number,rating,k,birth_date\n"
        b"Brekke,N1,2000,40,2012\nDahl,N2,1900,20,1980\nEide,N3,1950,20,1980\n"
    )
    games = (
        b"white,black,result,ended_at,half_moves\n"
        b"Eide,Brekke,1-0,2024-03-03,40\nBrekke,Eide,1-0,2024-05-03,40\nBrekke,Eide,1-0,2024-05-04,40\n"
        b"Brekke,New,1-0,2024-05-05,40\n"
    )
    assert run("init", path, "--scheme", "fide").code == 0
    assert run("players", "import", path, written(tmp_path, "m.csv", members), "--since", "2024-01-01").code == 0
    assert run("publish", path, "--at", "2024-03-01").code == 0
    assert run("import", path, written(tmp_path, "g.csv", games)).code == 0
    for day in ("2024-04-01", "2024-06-01"):
        assert run("publish", path, "--at", day).code == 0
    text = run("export", path, "list", "--list", "standard@2024-06-01", "--names", "--format", form).out
    for name, figures in (("Brekke", ("2", "40")), ("Dahl", ("0", "20"))):
        (line,) = [line for line in text.splitlines() if name in line]
        found = re.search(r"<games>(\d+)</games><k>(\d+)</k>", line) or re.search(r"\d{4}  (\d+) +(\d+) ", line)
        assert found is not None, line
        assert found.groups() == figures
