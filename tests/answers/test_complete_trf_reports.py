"""A whole tournament report: every record of TRF16 and TRF26 comes back, and what it lacks is said before."""

import re
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.facts.events import Decision
from ledger.facts.player_details import PlayerDetails
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.places import DATA
from tests.kit.source_files import player, report, written


def line(
    number: int, sex: str, title: str, name: str, rating: int, federation: str, fide: str, birth: str, points: float,
    place: int, *cells: str,
) -> str:  # fmt: skip
    """A player's line with all of its columns."""
    head = (
        f"001 {number:4} {sex:1}{title:>3} {name:33} {rating:4} {federation:3} {fide:>11} {birth:10} {points:4.1f} "
        f"{place:4}"
    )
    return head + "".join(f"  {cell:8}" for cell in cells)


PLAYERS = (
    line(1, "m", "GM", "Ann, Alan", 2510, "USA", "201", "1990/02/03", 2.0, 2, "   3 w 1", "   2 b 0", "   4 w +"),
    line(2, "w", "WFM", "Bea, Bob", 2400, "CAN", "202", "1995/00/00", 2.5, 1, "   4 b =", "   1 w 1", "0000 - U"),
    line(3, "m", "", "Cy, Cleo", 0, "USA", "203", "2001/07/00", 0.5, 3, "   1 b 0", "0000 - H", "   5 w -"),
    line(4, "w", "", "Dee, Dora", 1800, "MEX", "", "2010/00/00", 0.5, 4, "   2 w =", "0000 - Z", "   1 b -"),
    line(5, "m", "", "Ed, Eli", 1700, "MEX", "", "1980/00/00", 0.0, 5, " " * 8, " " * 8, "   3 b -"),
)
HEAD = (
    "012 Spring open",
    "022 Springfield",
    "032 USA",
    "042 2024/05/01",
    "052 2024/05/03",
    "062 5",
    "072 4",
    "082 0",
    "092 Individual: Swiss-System",
    "102 IA Arbiter, Anna (299)",
    "112 Deputy, Dora",
    "112 Deputy, Dan",
    "122 90 min + 30 s",
)
DAYS = f"132{'':88}24/05/01  24/05/02  24/05/03"
OF_TRF26 = (
    "142 3",
    "152 W",
    "162  W 1.0    D 0.5    L 0.0    P 1.0",
    "172 USA FIDON",
    "182 bbpPairings",
    "192 FIDE_DUTCH_2025",
    "202 BH/C1,BH",
    "212 PTS,DE,BH/C1",
    "222 5400+30",
)


def file_of(*lines: str) -> bytes:
    return "".join(f"{each}\r\n" for each in lines).encode()


TRF16, TRF26 = file_of(*HEAD, DAYS, *PLAYERS), file_of(*HEAD, *OF_TRF26, DAYS, *PLAYERS)


def exported(club: Path, run: Run, form: str = "trf16", *, tournament: str = "Spring open") -> bytes:
    target = club.parent / "out.trf"
    done = run("export", club, "tournament", "--tournament", tournament, "--names", "--format", form, "-o", target)
    assert done.code == 0, done.err
    return target.read_bytes()


def recorded(club: Path, run: Run, file: bytes, *words: str) -> str:
    done = run("import", club, written(club.parent, "in.trf", file), *words)
    assert done.code == 0, done.err
    return done.err


@pytest.mark.parametrize(("form", "file"), [("trf16", TRF16), ("trf26", TRF26)])
def test_a_complete_report_comes_back_with_the_same_bytes(form: str, file: bytes, empty_club: Path, run: Run) -> None:
    recorded(empty_club, run, file)
    assert exported(empty_club, run, form).decode().splitlines() == file.decode().splitlines()
    assert exported(empty_club, run, form) == file
    assert "0 games recorded, 4 known already, 0 rounds" not in recorded(empty_club, run, file)
    assert exported(empty_club, run, form) == file


@pytest.mark.skipif(not DATA.is_dir(), reason="the real reports are not on this machine")
@pytest.mark.parametrize("form", ["trf16", "trf26"])
@pytest.mark.parametrize("path", sorted((DATA / "trf").glob("*.trf")), ids=lambda path: path.stem)
def test_a_real_report_exported_imported_and_exported_has_the_same_bytes(
    path: Path, form: str, tmp_path: Path, run: Run
) -> None:
    file, files = path.read_bytes(), []
    (name,) = {" ".join(each[4:].decode().split()) for each in file.splitlines() if each.startswith(b"012")}
    for number in (1, 2):
        club = tmp_path / f"{number}.db"
        assert run("init", club, "--scheme", "elo").code == 0
        recorded(club, run, file, "--day", "2025-01-01")
        files.append(file := exported(club, run, form, tournament=name))
    assert files[0] == files[1]


def test_what_fide_would_miss_is_said_before_and_strict_writes_nothing(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    recorded(empty_club, run, report([player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0")], "142 2").encode())
    words = ["export", empty_club, "tournament", "--tournament", "Club open", "--names", "-o", tmp_path / "x.trf"]
    done = run(*words)
    assert done.code == 0
    assert done.err.replace(f"{tmp_path / 'x.trf'}: ", "").splitlines() == [
        "032: the federation is missing",
        "092: the type of tournament is missing",
        "102: the chief arbiter is missing",
        "122: the time control is missing",
        "132: the day is missing for round 1",
        "142: 2 rounds are announced, and only 1 are recorded",
        "001, column 10: sex missing of 2 players: Ann; Bob",
        "001, columns 54-56: federation missing of 2 players: Ann; Bob",
        "001, columns 58-68: FIDE number missing of 2 players: Ann; Bob",
        "001, columns 70-79: date of birth missing of 2 players: Ann; Bob",
    ]
    (tmp_path / "x.trf").unlink()
    strict = run(*words, "--strict")
    assert (strict.code, "nothing was written" in strict.err, (tmp_path / "x.trf").exists()) == (1, True, False)


def test_a_complete_report_has_no_finding(empty_club: Path, run: Run) -> None:
    recorded(empty_club, run, TRF26)
    done = run("export", empty_club, "tournament", "--tournament", "Spring open", "--names", "--format", "trf26")
    findings = [each for each in done.err.splitlines() if each.startswith("report: ")]
    assert findings == [
        "report: 001, columns 58-68: FIDE number missing of 2 players: Dee, Dora; Ed, Eli",
    ]


def test_a_tournament_without_a_report_has_the_ratings_in_force(empty_club: Path, tmp_path: Path, run: Run) -> None:
    for identity, name, rating in (("fide:201", "Ann, Alan", "2500"), ("name:bob", "Bob", "1900")):
        assert run("player", "add", empty_club, identity, name, "--rating", rating, "--since", "2024-01-01").code == 0
    rows = "white_id,white,black_id,black,result,date,event,round\n"
    rows += 'fide:201,"Ann, Alan",name:bob,Bob,1-0,2024-05-01,Cup,1\n'
    assert run("import", empty_club, written(tmp_path, "cup.csv", rows.encode())).code == 0
    assert (
        run("player", "describe", empty_club, "Bob", "--federation", "NOR", "--birth", "2001", "--sex", "m").code == 0
    )
    lines = exported(empty_club, run, tournament="Cup").decode().splitlines()
    ann, bob = (each for each in lines if each.startswith("001"))
    assert (ann[48:52], bob[48:52]) == ("2500", "1900")
    # what was stated later than the tournament fills what nobody had stated
    assert (bob[9], bob[53:56], bob[69:79]) == ("m", "NOR", "2001/00/00")


def test_a_tournament_from_a_table_is_described_by_hand(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = "white,black,result,date,event,round\nAnn,Bob,1-0,2024-05-01,Cup,1\nBob,Ann,1-0,2024-05-02,Cup,2\n"
    assert run("import", empty_club, written(tmp_path, "cup.csv", rows.encode())).code == 0
    facts = ["--city", "Oslo", "--federation", "NOR", "--time-control", "90 min + 30 s", "--rounds", "2"]
    people = ["--arbiter", "IA Ek, Ann", "--deputy", "Dee, Dan"]
    assert "recorded" in run("describe-tournament", empty_club, "Cup", *facts, *people).err
    assert "was stated already" in run("describe-tournament", empty_club, "Cup", *facts, *people).err
    assert "recorded" in run("describe-tournament", empty_club, "Cup", "--system", "Match", "--deputy", "Oak, Ola").err
    lines = exported(empty_club, run, tournament="Cup").decode().splitlines()
    assert lines[:2] == ["012 Cup", "022 Oslo"]
    assert lines[8:13] == [
        "092 Match", "102 IA Ek, Ann", "112 Oak, Ola", "122 90 min + 30 s",
        f"132{'':88}24/05/01  24/05/02",
    ]  # fmt: skip
    wrong = run("describe-tournament", empty_club, "Cup", "--round-days", "May")
    assert (wrong.code, "round_days" in wrong.err) == (1, True)
    assert run("describe-tournament", empty_club, "Cup").code == 1
    assert run("describe-tournament", empty_club, "Nowhere", "--city", "Oslo").code == 1


def test_another_report_of_the_tournament_counts_from_then_on_and_the_same_adds_nothing(
    empty_club: Path, run: Run
) -> None:
    recorded(empty_club, run, TRF16)
    later = TRF16.replace(b"WFM Bea, Bob", b"WIM Bea, Bob").replace(b"022 Springfield", b"022 Shelbyville")
    recorded(empty_club, run, later)
    assert exported(empty_club, run) == later
    with Ledger.open(empty_club) as ledger:
        size = ledger.journal.size()
    recorded(empty_club, run, later)
    # the first one has a lower title by now
    recorded(empty_club, run, TRF16.replace(b"WFM Bea, Bob", b"    Bea, Bob"))
    assert "title-differs" in run("import", empty_club, written(empty_club.parent, "first.trf", TRF16)).err
    with Ledger.open(empty_club) as ledger:
        assert ledger.journal.size() == size
    assert exported(empty_club, run) == later


def test_starting_numbers_of_a_first_report_change_with_a_later_one(empty_club: Path, run: Run) -> None:
    first = report([player(1, "Ann", "2 w 1", points="1.0"), player(2, "Bob", "1 b 0", points="0.0")])
    recorded(empty_club, run, first.encode())
    swapped = report([player(1, "Bob", "2 b 0", points="0.0"), player(2, "Ann", "1 w 1", points="1.0")])
    recorded(empty_club, run, swapped.encode())
    lines = exported(empty_club, run, tournament="Club open").decode().splitlines()
    assert [each[14:17] for each in lines if each.startswith("001")] == ["Bob", "Ann"]


def test_a_correction_of_an_entrant_is_in_the_next_report(empty_club: Path, run: Run) -> None:
    recorded(empty_club, run, TRF16)
    with Ledger.open(empty_club) as ledger:
        ledger.ensure_up_to_date()
        (key,) = ledger.journal.keys("entrant:standard:Spring%20open:1@", "entrant:standard:Spring%20open:1A")
        draft = ledger.corrections.drafts.replace(key, {"rating": 2511})
        proposal = ledger.propose([draft], reason="list of May", by="eve")
        ledger.decide(proposal.proposal, Decision.APPROVED, by="adam")
    assert exported(empty_club, run) == TRF16.replace(b" 2510 ", b" 2511 ")


def test_forfeits_without_colours_get_some_and_come_back_the_same(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = [player(1, "Ann", "2 - +", "3 - -"), player(2, "Bob", "1 - -"), player(3, "Cy", "", "1 - -")]
    recorded(empty_club, run, report(rows).encode())
    first = exported(empty_club, run, tournament="Club open")
    assert b"     2 w +     3 w -\r\n" in first
    again = tmp_path / "again.db"
    run("init", again, "--scheme", "elo")
    recorded(again, run, first)
    assert exported(again, run, tournament="Club open") == first


def test_an_entrant_without_any_round_is_in_the_report(empty_club: Path, run: Run) -> None:
    rows = [player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0"), player(4, "Cy", rating="1500")]
    assert "entrants without any round: 0" not in recorded(empty_club, run, report(rows).encode())
    lines = exported(empty_club, run, tournament="Club open").decode().splitlines()
    assert [each[4:8].strip() for each in lines if each.startswith("001")] == ["1", "2", "4"]


def test_a_report_of_older_programs_is_read_with_a_note_for_each_adjustment(empty_club: Path, run: Run) -> None:
    old = report(
        [
            "001    1 f wm Ann, Ada                          2100 ESP         101 1969.12.06  1.0    1     2 w 1",
            f"{'001    2 m  g Bob, Ben':48}2500 ESP         102 1978        0.5    2     1 b 0         H",
        ]
    ).replace("042 2024/05/01", "042 01/05/2024")
    said = recorded(empty_club, run, old.replace("052 2024/05/03", "052 13/05/2024").encode())
    for words in (
        "042 '01/05/2024' is not written YYYY/MM/DD: read as 2024-05-01",
        "byes without the opponent 0000: 1 line of a player",
        "dates of birth not written YYYY/MM/DD: 2 lines of players",
        "titles as letters (g, m, f): 2 lines of players",
        "women marked f instead of w: 1 line of a player",
    ):
        assert words in said
    lines = exported(empty_club, run, tournament="Club open").decode().splitlines()
    ann, bob = (each for each in lines if each.startswith("001"))
    assert (ann[9:13], ann[69:79], bob[9:13], bob[69:79]) == ("wWIM", "1969/12/06", "m GM", "1978/00/00")


def test_data_about_players_are_in_the_people_file_alone_and_erased_with_the_name(empty_club: Path, run: Run) -> None:
    recorded(empty_club, run, TRF16)
    journal = empty_club.read_bytes()
    for word in (b"1990-02-03", b"WFM", b"Arbiter, Anna", b"Deputy, Dora"):
        assert word not in journal
    assert b"1990-02-03" in sidecar(empty_club, "people").read_bytes()
    assert run("erase", empty_club, "Ann, Alan", "--yes").code == 0
    assert b"1990-02-03" not in sidecar(empty_club, "people").read_bytes()
    assert audit(empty_club).ok
    (ann,) = (each for each in exported(empty_club, run).decode().splitlines() if each.startswith("001    1"))
    assert (ann[9:13].strip(), ann[14:47].strip(), ann[53:56].strip(), ann[69:79].strip()) == ("", "player 1", "", "")


def test_the_names_of_arbiters_are_erased_for_good(empty_club: Path, run: Run) -> None:
    recorded(empty_club, run, TRF16)
    assert b"Arbiter, Anna" in sidecar(empty_club, "people").read_bytes()
    refused = run("describe-tournament", empty_club, "Sprung open", "--erase-arbiters")
    assert (refused.code, "Sprung open" in refused.err) == (1, True)
    assert "1 text" in run("describe-tournament", empty_club, "Spring open", "--erase-arbiters").err
    assert b"Arbiter, Anna" not in sidecar(empty_club, "people").read_bytes()
    assert audit(empty_club).ok
    assert not re.search(rb"^1[01]2", exported(empty_club, run), re.MULTILINE)


def test_data_that_were_changed_behind_the_ledger_are_found(empty_club: Path, run: Run) -> None:
    recorded(empty_club, run, TRF16)
    with Ledger.open(empty_club) as ledger, ledger.people.writing():
        ledger.people.run("UPDATE {s}.reasons SET text = replace(text, 'GM', 'IM') WHERE strpos(text, 'GM') > 0")
    verdict = audit(empty_club)
    assert not verdict.ok
    assert "is not the one sealed" in str(verdict.falsehoods[0])


def test_a_dry_run_stores_no_data_about_players(empty_club: Path, run: Run) -> None:
    before = sidecar(empty_club, "people").read_bytes()
    assert "5 new players" in recorded(empty_club, run, TRF16, "--dry-run")
    assert sidecar(empty_club, "people").read_bytes() == before


def test_data_are_described_by_hand_from_a_day_on(empty_club: Path, run: Run) -> None:
    run("player", "add", empty_club, "name:ann", "Ann")
    assert "recorded" in run("player", "describe", empty_club, "Ann", "--club", "Ek SK", "--since", "2024-01-01").err
    assert "recorded" in run("player", "describe", empty_club, "Ann", "--club", "Oak CC", "--since", "2025-01-01").err
    assert "already" in run("player", "describe", empty_club, "Ann", "--club", "Oak CC", "--since", "2025-06-01").err
    assert "Ek SK" in run("player", "describe", empty_club, "Ann", "--since", "2024-06-01").out
    assert "Oak CC" in run("player", "describe", empty_club, "Ann").out
    wrong = run("player", "describe", empty_club, "Ann", "--federation", "Norway", "--birth", "2024-13")
    assert (wrong.code, "federation must be" in wrong.err, "birth must be" in wrong.err) == (2, True, True)
    with Ledger.open(empty_club) as ledger:
        ledger.erase(1)
        with pytest.raises(Exception, match="erased-player"):
            ledger.registry.describe(1, PlayerDetails(club="Ek SK"), actor="registry")
        with pytest.raises(Exception, match="unknown-player"):
            ledger.registry.describe(9, PlayerDetails(club="Ek SK"), actor="registry")
