"""A tournament written as TRF16: its columns, what it cannot hold, and that it reads back as the same games."""

from pathlib import Path

import pytest

from ledger.answers.crosstables.event_games import EventGame
from ledger.answers.exports.trf_data import ReportEntrant, TrfReport, split_into_rounds
from ledger.answers.exports.trf_report import report_lines
from ledger.imports.reading import Reading
from ledger.imports.trf import games as trf
from ledger.imports.trf.lines import decode_player_line
from tests.kit.commands import Run
from tests.kit.places import DATA
from tests.kit.source_files import player, report, written

GAMES = report(
    [
        player(1, "Carlsen, Magnus", "2 w 1", "3 b =", "4 w +", rating="2881", fide="1503014", points="2.5"),
        player(2, "Müller, Jörg", "1 b 0", "4 w 0", "0000 - U", rating="1800", points="1.0"),
        player(3, "Cy", "4 b D", "1 w =", "", points="1.0"),
        player(4, "Di", "3 w D", "2 b 1", "1 b -", points="1.5"),
    ],
    "132" + " " * 88 + "24/05/01  24/05/02  24/05/03",
    "092 Swiss",
)


def facts(file: bytes) -> set[tuple[object, ...]]:
    reading = Reading("report.trf")
    games = list(trf.read_games(file.splitlines(keepends=True), reading))
    assert reading.faults == []
    return {
        (game.key, game.white_id, game.black_id, game.outcome, game.termination, game.ended_at, game.round,
         game.tournament, game.white_rating, game.black_rating)
        for game in games
    }  # fmt: skip


def exported(club: Path, run: Run, *words: str, tournament: str = "Club open") -> bytes:
    target = club.parent / "out.trf"
    done = run("export", club, "tournament", "--tournament", tournament, "--names", "-o", target, *words)
    assert done.code == 0, done.err
    return target.read_bytes()


def test_what_is_written_reads_back_as_the_same_games(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "open.trf", GAMES.encode())
    assert run("import", empty_club, path, "--open-tournaments").code == 0
    file = exported(empty_club, run)
    assert facts(file) == facts(GAMES.encode())
    done = run("import", empty_club, written(tmp_path, "again.trf", file))
    assert (done.code, "0 games recorded, 5 known already" in done.err) == (0, True)
    assert b"092 Swiss\r\n" in file
    printed = run("export", empty_club, "tournament", "--tournament", "Club open", "--names")
    assert printed[:2] == (0, file.decode())


def test_a_tournament_of_another_century_reads_back_in_its_years(empty_club: Path, tmp_path: Path, run: Run) -> None:
    file = report([player(1, "Tarrasch", "2 w 1"), player(2, "Lasker", "1 b 0")], "132" + " " * 88 + "1896/07/20")
    old = file.replace("2024/05/01", "1896/07/20").replace("2024/05/03", "1896/08/10")
    assert run("import", empty_club, written(tmp_path, "old.trf", old.encode())).code == 0
    told = exported(empty_club, run)
    assert b" 96/07/20\r\n" in told
    assert {fact[5] for fact in facts(told)} == {"1896-07-20"}


def test_the_days_are_those_that_were_announced(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = [player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0")]
    path = written(tmp_path, "open.trf", report(rows).encode())
    assert run("import", empty_club, path, "--open-tournaments").code == 0
    file = exported(empty_club, run)
    assert file.startswith(b"012 Club open\r\n022 Springfield\r\n042 2024/05/01\r\n052 2024/05/03\r\n")
    assert {fact[0] for fact in facts(file)} == {fact[0] for fact in facts(path.read_bytes())}


def test_every_field_stands_in_its_columns(empty_club: Path, tmp_path: Path, run: Run) -> None:
    run("import", empty_club, written(tmp_path, "open.trf", GAMES.encode()))
    header, lines = exported(empty_club, run).decode().split("132", 1)
    assert header.split("\r\n")[2:6] == ["042 2024/05/01", "052 2024/05/03", "062 4", "072 2"]
    first = next(line for line in lines.split("\r\n") if line.startswith("001    1"))
    assert first[14:47].strip() == "Carlsen, Magnus"
    assert (first[48:52], first[57:68].strip(), first[80:84].strip()) == ("2881", "1503014", "2.5")
    assert [first[at + 5 : at + 8] for at in range(91, len(first), 10)] == ["w 1", "b =", "w +"]


def a_game(number: int, white: int, black: int, round_: int, day: str = "2024-05-01") -> EventGame:
    return EventGame(
        "Cup",
        number,
        f"c:{number}",
        white,
        black,
        2,
        "unknown",
        number,
        day,
        str(round_ or ""),
        round_ * 10**12,
        None,
        None,
        None,
    )


def test_rounds_keep_their_numbers_where_nobody_plays_twice() -> None:
    games = [a_game(1, 1, 2, 2), a_game(2, 3, 4, 2), a_game(3, 1, 3, 4)]
    assert [len(games) for games in split_into_rounds(games)] == [0, 2, 0, 1]


def test_a_round_of_several_games_becomes_several_and_games_without_a_round_go_by_days() -> None:
    double = [a_game(1, 1, 2, 1), a_game(2, 2, 1, 1), a_game(3, 3, 4, 1), a_game(4, 1, 3, 2)]
    assert [[game.position for game in games] for games in split_into_rounds(double)] == [[1, 3], [2], [4]]
    none = [a_game(1, 1, 2, 0), a_game(2, 3, 4, 0), a_game(3, 1, 2, 0, "2024-05-02")]
    assert [[game.position for game in games] for games in split_into_rounds(none)] == [[1, 2], [3]]


@pytest.mark.parametrize(("rounds", "points"), [(99, 99.0), (100, None), (150, None)])
def test_more_points_than_their_columns_hold_are_left_out(rounds: int, points: float | None) -> None:
    entrants = {1: ReportEntrant("Ann", "", None), 2: ReportEntrant("Bob", "", None)}
    games = [[a_game(number, 1, 2, number)] for number in range(1, rounds + 1)]
    lines = list(
        report_lines(
            TrfReport(name="Cup", first="2024-05-01", last="2024-05-01", kind=None, entrants=entrants, rounds=games)
        )
    )
    ann, bob = (decode_player_line(line) for line in lines if line.startswith(b"001"))
    assert (ann.points, ann.place, bob.points) == (points, 1, 0.0)
    assert [cell.result for cell in ann.rounds] == ["1"] * rounds
    assert len(facts(b"".join(lines))) == rounds


def test_a_name_ends_after_33_characters_and_an_unrated_player_has_0() -> None:
    entrants = {1: ReportEntrant("N" * 33, "", None), 2: ReportEntrant("Ann", "12345678901", 1500)}
    lines = list(
        report_lines(
            TrfReport(
                name="Cup", first="2024-05", last="2024-05", kind=None, entrants=entrants, rounds=[[a_game(1, 1, 2, 1)]]
            )
        )
    )
    ((_, *fact),) = facts(b"".join(lines))
    who = [f"name:{'n' * 33}", "fide:12345678901"]
    assert fact == [*who, "white", "unknown", "2024-05-01", "1", "Cup", None, 1500]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--names"], "name it with --tournament"),
        (["--tournament", "Club open"], "allow it with --names"),
        (["--tournament", "Club opem", "--names"], "did you mean 'Club open'"),
        (["--tournament", "Club open", "--names", "--since", "2025"], "Club open"),
    ],
)
def test_what_cannot_be_written_is_refused(
    words: list[str], said: str, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    run("import", empty_club, written(tmp_path, "open.trf", GAMES.encode()))
    done = run("export", empty_club, "tournament", "-o", tmp_path / "x.trf", *words)
    assert (done.code, said in done.err) == (1, True), done.err
    assert not (tmp_path / "x.trf").exists()


def test_editions_are_chosen_by_days(empty_club: Path, tmp_path: Path, run: Run) -> None:
    for year in ("24", "25"):
        text = GAMES.replace("24/05/", f"{year}/05/")
        run("import", empty_club, written(tmp_path, f"{year}.trf", text.encode()))
    done = run("export", empty_club, "tournament", "--tournament", "Club open", "--names", "-o", tmp_path / "x.trf")
    assert (done.code, "has several editions" in done.err, "--since" in done.err) == (1, True, True)
    assert b"042 2025/05/01" in exported(empty_club, run, "--since", "2025")


@pytest.mark.skipif(not DATA.is_dir(), reason="the real reports are not on this machine")
@pytest.mark.parametrize("name", ["sklangen_2020_06", "echecsjs_javafo_sample2"])
def test_real_reports_come_back(name: str, empty_club: Path, run: Run) -> None:
    path = DATA / "trf" / f"{name}.trf"
    assert run("import", empty_club, path).code == 0
    before = facts(path.read_bytes())
    (tournament,) = {str(fact[7]) for fact in before}
    after = facts(exported(empty_club, run, tournament=tournament))
    assert {fact[1:8] for fact in after} == {fact[1:8] for fact in before}
