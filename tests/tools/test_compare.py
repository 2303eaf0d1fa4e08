"""The command ``compare``: what it prints in every format, what it draws, how it refuses."""

import csv
import io
import json
import unicodedata
from pathlib import Path
from xml.dom import minidom

import attrs
import pytest

from ledger.answers.comparing import comparison
from ledger.ledger import Ledger
from ledger.runtime.sqlite import connect
from tests.kit.commands import Missing, Run
from tests.kit.places import SAMPLE
from tools import pictures
from tools.commands import REFUSED, USAGE

# Pools of ChessWorld that begin today rate guests in their tournaments.
OF_TODAY = "note: chessworld with the pool's own settings: guest_tournaments=true; without: --defaults\n"
RATED = 888  # of the club's 900 games
MAIN = ["scheme", "log_loss", "brier", "bias", "games", "players", "mean", "spread", "seconds"]
MAIN += ["white_advantage", "log_loss_without_advantage", "log_loss_with_advantage"]


def test_json_holds_everything(sample_club: Path, run: Run) -> None:
    done = run("compare", sample_club, "--schemes", "chessworld,glicko2,elo")
    assert (done.code, done.err) == (0, OF_TODAY)
    told = json.loads(done.out)
    assert (told["pool"], told["replayed"], told["established"], told["min_games"]) == ("standard", RATED, False, 30)
    assert [one["scheme"] for one in told["schemes"]] == ["chessworld", "glicko2", "elo"]
    for one in told["schemes"]:
        assert one["games"] == sum(part["games"] for part in one["calibration"]) == RATED
        assert 0.0 < one["log_loss"] < 0.75
        assert one["players"] == 16
        assert one["years"]
    assert [(one["one"], one["other"]) for one in told["likeness"]] == [
        ("chessworld", "glicko2"),
        ("chessworld", "elo"),
        ("glicko2", "elo"),
    ]
    assert [(one["scheme"], one["to"]) for one in told["switches"]] == [
        ("chessworld", "glicko2"),
        ("chessworld", "elo"),
    ]


@pytest.mark.parametrize(("flag", "delimiter"), [("--csv", ","), ("--tsv", "\t")])
def test_csv_and_tsv_hold_the_main_table(flag: str, delimiter: str, sample_club: Path, run: Run) -> None:
    done = run("compare", sample_club, "--schemes", "chessworld,elo", flag)
    rows = list(csv.DictReader(io.StringIO(done.out), delimiter=delimiter))
    assert list(rows[0]) == MAIN
    assert [(row["scheme"], row["games"]) for row in rows] == [("chessworld", str(RATED)), ("elo", str(RATED))]


def test_newline_delimited_json_holds_the_main_table(sample_club: Path, run: Run) -> None:
    lines = run("compare", sample_club, "--schemes", "chessworld,elo", "--nl").out.splitlines()
    assert [list(json.loads(line)) for line in lines] == [MAIN, MAIN]


def test_the_table_for_people_tells_everything_in_its_order(sample_club: Path, run: Run) -> None:
    out = run("compare", sample_club, "--schemes", "chessworld,glicko2", "--movers", "2", "-t").out
    assert out.startswith(f"pool standard: {RATED} games from ")
    places = [
        out.index(words)
        for words in (
            "an even score in every game",
            "White's advantage (white_advantage), fitted to 444 earlier games: log-loss over 444 later ones",
            "Calibration: ",
            "Rank correlation of the final ratings: 16 players with",
            "From chessworld to glicko2: places won and lost, among 16 active players",
            "Last ratings of each year",
        )
    ]
    assert places == sorted(places)
    (row,) = (line.split() for line in out.splitlines() if line.startswith("glicko2 ") and f" {RATED} " in line)
    assert 0.3 < float(row[1]) < 0.69


def test_one_scheme_gives_just_its_figures(sample_club: Path, run: Run) -> None:
    done = run("compare", sample_club, "--schemes", "elo", "-t")
    assert done.code == 0
    assert "Rank correlation" not in done.out
    assert "places won" not in done.out


def test_settings_go_to_their_scheme(sample_club: Path, run: Run) -> None:
    words = ["--set", "elo.k=64", "--set", "chessworld.include_initial=true"]
    told = json.loads(run("compare", sample_club, "--schemes", "chessworld,elo", *words).out)
    assert [one["settings"] for one in told["schemes"]] == [
        {"guest_tournaments": True, "include_initial": True},
        {"k": "64"},
    ]


def test_a_scheme_that_the_pool_does_not_use_is_as_a_new_pool_would_adopt_it(sample_club: Path, run: Run) -> None:
    done = run("compare", sample_club, "--schemes", "chessworld,fide", "--set", "fide.start=1800")
    assert json.loads(done.out)["schemes"][1]["settings"] == {**POOL_OF_TODAY, "start": "1800"}
    of_today = "by_event=true, included_until=2, late_reports=next-list"
    assert f"note: fide with the settings of a new pool: {of_today}\n" in done.err
    assert OF_TODAY in done.err
    off = run("compare", sample_club, "--schemes", "fide", "--set", "fide.start=1800", "--set", "fide.by_event=false")
    assert json.loads(off.out)["schemes"][0]["settings"]["by_event"] is False


def test_a_scheme_that_lists_nobody_is_told(sample_club: Path, run: Run) -> None:
    done = run("compare", sample_club, "--schemes", "elo,fide", "-t")
    assert done.code == 0
    assert "note: fide lists no active player" in done.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--schemes", "elo,nope"], REFUSED, "no scheme 'nope'"),
        (["--schemes", "elo,elo"], USAGE, "names 'elo' twice"),
        (["--schemes", "elo,"], REFUSED, "no scheme ''"),
        ([], USAGE, "Missing option '--schemes'"),
        (["--schemes", "elo", "--pool", "blitz"], REFUSED, "no pool 'blitz'"),
        (["--schemes", "elo", "--set", "elo.x=1"], REFUSED, "has no setting 'x'"),
        (["--schemes", "elo", "--set", "elo.k=abc"], USAGE, "--set elo.k: give a number such as 32"),
        (["--schemes", "elo", "--set", "elo.k=-1"], REFUSED, "k must"),
        (["--schemes", "elo", "--set", "k=1"], USAGE, "--set takes SCHEME.NAME=VALUE"),
        (["--schemes", "elo", "--set", "elo.k"], USAGE, "--set takes NAME=VALUE"),
        (["--schemes", "elo", "--set", "fide.k=1"], USAGE, "'fide' is not among --schemes"),
        (["--schemes", "elo", "--from", "tomorrow"], USAGE, "--from: expected YYYY"),
        (["--schemes", "elo", "--to", "2021-02-30"], USAGE, "--to: no such day"),
        (["--schemes", "elo", "--from", "2022", "--to", "2021-12"], USAGE, "--from 2022 is after --to 2021-12"),
        (["--schemes", "elo", "--from", "2099"], REFUSED, "no rated game 'from 2099'"),
        (["--schemes", "elo", "--to", "1901"], REFUSED, "no rated game 'to 1901'"),
        (["--schemes", "elo", "--picture", "a.gif"], USAGE, "ends in .svg or .png, got 'a.gif'"),
        pytest.param(
            ["--schemes", "elo", "--picture", "no/such/folder/a.svg"],
            REFUSED,
            "no/such/folder",
            marks=pytest.mark.outside,
        ),
    ],
)
def test_refusals(words: list[str], code: int, says: str, sample_club: Path, run: Run) -> None:
    done = run("compare", sample_club, *words)
    assert done.code == code
    assert says in done.err


@pytest.mark.outside  # matplotlib
@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_a_picture_is_drawn_the_same_each_time(name: str, sample_club: Path, tmp_path: Path, run: Run) -> None:
    drawn = []
    for _ in range(2):
        assert run("compare", sample_club, "--schemes", "chessworld,elo", "--picture", tmp_path / name).code == 0
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 20_000
    (full := tmp_path / f"full{name}").symlink_to("/dev/full")
    done = run("compare", sample_club, "--schemes", "elo", "--picture", full)
    assert done == (REFUSED, "", f"error: {full}: No space left on device\n")


@pytest.mark.outside  # matplotlib
def test_names_are_drawn_harmless_and_never_as_formulas(sample_club: Path) -> None:
    evil = "a\x1b[2J\u202e\ufeff\uffff\x00 $\\frac$ --><script>&羽"
    with Ledger.open(sample_club) as ledger:
        told = comparison.compare(ledger, [comparison.candidate("elo", {})], timer=lambda: 0.0)
    told = attrs.evolve(told, pool=evil, schemes=tuple(attrs.evolve(one, scheme=evil) for one in told.schemes))
    drawn = pictures.draw(told, ".svg")
    minidom.parseString(drawn)
    text = drawn.decode()
    assert r"a\x1b[2J\u202e\ufeff\uffff\x00 $\frac$" in text
    assert "<script" not in text
    assert not {unicodedata.category(char) for char in text.replace("\n", "")} & {"Cc", "Cf", "Cn"}
    assert len(pictures.draw(told, ".png")) > 20_000


def test_without_matplotlib_nothing_is_begun(sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "mpl", Missing())
    done = run("compare", sample_club, "--schemes", "elo", "--picture", "a.svg")
    assert (done.code, done.out) == (REFUSED, "")
    assert "pip install 'rating-ledger[pictures]'" in done.err


def test_the_views_stay_as_they_are_to_the_byte(sample_club: Path, run: Run) -> None:
    views = sample_club.with_name("club.views.db")
    connect(views).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    before = {path.name: path.read_bytes() for path in sample_club.parent.glob("*.db")}
    assert run("compare", sample_club, "--schemes", "chessworld,glicko2,uschess", "--established", "-t").code == 0
    assert {path.name: path.read_bytes() for path in sample_club.parent.glob("*.db")} == before


POOL_OF_TODAY = {
    "by_event": True,
    "included_until": 2,
    "late_reports": "next-list",
}  # with what a FIDE pool begins that is made now


@pytest.fixture(name="fide_club")
def _fide_club(tmp_path: Path, run: Run) -> Path:
    """The sample's games in a FIDE pool in which everybody begins with 1800."""
    path = tmp_path / "fide.db"
    assert run("init", path, "--scheme", "fide", "--set", "start=1800", "--set", "floor=1000").code == 0
    assert run("import", path, SAMPLE).code == 0
    return path


@pytest.mark.slow
def test_a_scheme_that_the_pool_uses_has_the_settings_of_the_pool(fide_club: Path, run: Run) -> None:
    done = run("compare", fide_club, "--schemes", "fide,elo")
    fide, elo = json.loads(done.out)["schemes"]
    assert (fide["settings"], elo["settings"]) == ({**POOL_OF_TODAY, "start": "1800", "floor": "1000"}, {})
    assert fide["players"] == 16
    assert fide["log_loss"] < 0.69
    words = "by_event=true, floor=1000, included_until=2, late_reports=next-list, start=1800"
    assert f"note: fide with the pool's own settings: {words}; without: --defaults\n" in done.err
    listed = {row["name"]: row["rating"] for row in json.loads(run("ratings", fide_club).out)}
    assert fide["mean"] == pytest.approx(sum(listed.values()) / len(listed))


@pytest.mark.slow
def test_settings_of_the_pool_give_way_to_those_given_and_to_the_defaults(fide_club: Path, run: Run) -> None:
    given = json.loads(run("compare", fide_club, "--schemes", "fide", "--set", "fide.start=1900").out)["schemes"][0]
    assert given["settings"] == {**POOL_OF_TODAY, "start": "1900", "floor": "1000"}
    assert given["mean"] > 1850
    done = run("compare", fide_club, "--schemes", "fide", "--defaults")
    plain = json.loads(done.out)["schemes"][0]
    assert (plain["settings"], plain["players"]) == (POOL_OF_TODAY, 0)
    assert "pool's own settings" not in done.err
