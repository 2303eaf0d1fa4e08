"""Tournament reports, TRF16 and TRF26, as games: who played whom, when, and what of it is rated."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ledger.facts.source_games import SourceGame
from ledger.imports.files import detect_format
from ledger.imports.reading import FileHints, Reading
from ledger.imports.trf import games as trf
from ledger.imports.trf.lines import decode_player_line
from ledger.recording.report_checks import structure_findings
from ledger.testing.importer_contract import Importer, ImporterContract
from tests.imports.spoiled_files import built_in
from tests.kit.commands import Run
from tests.kit.places import DATA
from tests.kit.source_files import player, report, written


def read(file: bytes | str, **options: Any) -> tuple[list[SourceGame], Reading]:
    reading = Reading("open.trf")
    raw = file.encode() if isinstance(file, str) else file
    return list(trf.read_games(raw.splitlines(keepends=True), reading, FileHints(**options))), reading


def faults(file: bytes | str, **options: str) -> list[tuple[int, str]]:
    return [(fault.line, fault.message) for fault in read(file, **options)[1].faults]


def notes(file: bytes | str, **options: str) -> list[str]:
    return [note.message for note in read(file, **options)[1].notes]


class TestContract(ImporterContract):
    samples: ClassVar[Sequence[bytes]] = (
        *built_in("trf"),
        report([player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0")]).encode(),
    )
    damaged: ClassVar[int] = 200

    def make(self) -> Importer:
        return trf.read_games


def test_a_game_is_told_once_as_both_lines_tell_it() -> None:
    file = report([player(1, "Carlsen, Magnus", "2 w 1", rating="2881", fide="1503014"), player(2, "Ann", "1 b 0")])
    (game,), reading = read(file)
    assert game == SourceGame(
        line=5,
        key=game.key,
        white_id="fide:1503014",
        white_name="Carlsen, Magnus",
        black_id="name:ann",
        black_name="Ann",
        outcome="white",
        termination="unknown",
        half_moves=None,
        started_at=None,
        ended_at="2024-05-03",
        tournament="Club open",
        round="1",
        rated=True,
        white_rating=2881,
        black_rating=None,
        speed=None,
        variant="standard",
        text=None,
        is_made=True,
    )
    assert reading.fault_count == 0


@pytest.mark.parametrize(
    ("cells", "outcome"),
    [
        (("2 w 1", "1 b 0"), "white"),
        (("2 b 1", "1 w 0"), "black"),
        (("2 b =", "1 w ="), "draw"),
        (("2 w 1", "1 - 0"), "white"),
        (("2 - 1", "1 w 0"), "black"),
    ],
)
def test_played_results(cells: tuple[str, str], outcome: str) -> None:
    (game,), _ = read(report([player(1, "Ann", cells[0]), player(2, "Bob", cells[1])]))
    assert (game.outcome, game.termination) == (outcome, "unknown")


@pytest.mark.parametrize(
    ("cells", "outcome"),
    [
        (("2 w +", "1 b -"), "white"),
        (("2 w -", "1 b +"), "black"),
        (("2 w W", "1 b L"), "white"),
        (("2 w d", "1 b D"), "draw"),
        (("2 b w", "1 w l"), "black"),
    ],
)
def test_forfeits_and_games_under_one_move_are_unplayed(cells: tuple[str, str], outcome: str) -> None:
    file = report([player(1, "Ann", cells[0]), player(2, "Bob", cells[1])])
    (game,), _ = read(file)
    assert (game.outcome, game.termination) == (outcome, "unplayed")
    assert "forfeits and games of less than one move, not rated: 1" in notes(file)[0]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (("2 w -", "1 b -"), "both forfeited"),
        (("2 w 0", "1 b 0"), "both lost"),
        (("2 w  ", "1 b  "), "unfinished"),
        (("2 - +", "1 - -"), "forfeits without colours"),
    ],
)
def test_what_is_no_game_is_counted_by_its_reason(cells: tuple[str, str], reason: str) -> None:
    games, reading = read(report([player(1, "Ann", cells[0]), player(2, "Bob", cells[1])]))
    assert (games, dict(reading.skipped), reading.fault_count) == ([], {reason: 1}, 0)


def test_byes_and_absences_are_rounds_without_a_game_and_of_who_has_neither_nothing_is_told() -> None:
    file = report(
        [
            player(1, "Ann", "2 w 1", "0000 - U", "2 b 1"),
            player(2, "Bob", "1 b 0", "0000 - H", "1 w 0"),
            player(3, "Cy", "0000 - Z", "", "", fide="7"),
            player(4, "Di", "0000 - F", "0000 - -", "0000 - +"),
            player(5, "Ed"),
        ]
    )
    games, reading = read(file)
    assert {name for game in games for name in (game.white_name, game.black_name)} == {"Ann", "Bob"}
    told = [(bye.round, bye.player_name, bye.brings) for bye in reading.rounds]
    assert told == [
        (1, "Cy", "zero"),
        (1, "Di", "full"),
        (1, "Ed", "absent"),
        (2, "Ann", "allotted"),
        (2, "Bob", "half"),
        (2, "Di", "absent"),  # of who is blank in a round without games
        (3, "Di", "full"),
        (3, "Cy", "absent"),
        (3, "Ed", "absent"),  # nothing is told: it may still come
    ]
    assert {(bye.tournament, bye.edition, bye.half_points) for bye in reading.rounds} == {
        ("Club open", "2024-05-01", None)
    }
    assert reading.rounds[0].player_id == "fide:7"
    assert reading.fault_count == 0


@pytest.mark.parametrize(("line", "half_points"), [
    ("162 W 1.0    P 0.5", 1), ("BBU  0.5", 1), ("XXS PAB=0.5", 1), ("162 W 1.0 P 1.0", None),
    ("162 W 3.0 P 3.0", None), ("162 P 0.3", None),
])  # fmt: skip
def test_a_bye_for_want_of_an_opponent_brings_what_the_report_says_at_our_scoring(
    line: str, half_points: int | None
) -> None:
    file = report([player(1, "Ann", "2 w 1", ""), player(2, "Bob", "1 b 0", ""), player(3, "Cy", "0000 - U", "")], line)
    _, reading = read(file)
    assert [(bye.brings, bye.half_points) for bye in reading.rounds] == [("allotted", half_points)]


def test_a_forfeit_of_which_nobody_knows_who_had_white_brings_its_points_without_a_game() -> None:
    _, reading = read(report([player(1, "Ann", "2 - +"), player(2, "Bob", "1 - -")]))
    assert [(bye.player_name, bye.brings) for bye in reading.rounds] == [("Ann", "full"), ("Bob", "absent")]


def test_a_line_for_nobody_is_no_player() -> None:
    games, reading = read(
        report([player(1, "Ann", "2 w 1", "3 w +"), player(2, "Bob", "1 b 0", ""), player(3, "spielfrei", "", "1 b -")])
    )
    assert [(game.white_name, game.black_name) for game in games] == [("Ann", "Bob")]
    assert [(bye.round, bye.player_name, bye.brings) for bye in reading.rounds] == [
        (2, "Bob", "absent"),
        (2, "Ann", "allotted"),
    ]
    games, reading = read(report([player(1, "Ann", "2 w 1"), player(2, "Bye", "1 b 0", fide="77")]))
    assert [game.black_id for game in games] == ["fide:77"], "a person of that name has a number"
    assert reading.rounds == []


CONTRADICTIONS: Mapping[str, tuple[Sequence[str], Sequence[str], str]] = {
    "results": (
        ["2 w 1"],
        ["1 b 1"],
        "results-differ: round 1 against 2 (Bob): the results contradict: 'w 1' here",
    ),
    "a game and a forfeit": (["2 w 1"], ["1 b -"], "the results contradict: 'w 1' here, 'b -' in line 6"),
    "a result and none": (["2 w 1"], ["1 b  "], "the results contradict: 'w 1' here, 'b Z' in line 6"),
    "colours": (["2 w 1"], ["1 w 0"], "the colours do not say who had White: 'w 1' here, 'w 0' in line 6"),
    "no colours": (
        ["2 - 1"],
        ["1 - 0"],
        "colours-differ: round 1 against 2 (Bob): the colours do not say",
    ),
    "opponents": (
        ["2 w 1"],
        [""],
        "opponents-differ: round 1: against 2 (Bob) here, but line 6 has 2 (Bob) without",
    ),
    "no such player": (
        ["9 w 1"],
        [""],
        "opponent-missing: round 1: there is no player 9; correct the opponent's",
    ),
    "no opponent": (["0000 - 1"], [""], "opponent-missing: round 1: the result '1' of a game without an opponent"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_a_fault_that_names_both_lines(name: str) -> None:
    ann, bob, words = CONTRADICTIONS[name]
    found = faults(
        report([player(1, "Ann", *ann), player(2, "Bob", *bob), player(3, "Cy", "4 w 1"), player(4, "Di", "3 b 0")])
    )
    assert [line for line, _ in found] == [5]
    assert ": round 1" in found[0][1]
    assert words in found[0][1]
    assert len(read(report([player(3, "Cy", "4 w 1"), player(4, "Di", "3 b 0")]))[0]) == 1


def test_the_games_of_a_player_whose_line_is_faulty_are_counted_and_the_others_read() -> None:
    bad = player(2, "Bob", "1 b 0", "3 w 1").replace("     b", "     s", 1).replace(" b 0", " x 0")
    games, reading = read(
        report([player(1, "Ann", "2 w 1", ""), bad, player(3, "Cy", "4 w 1", "2 b 0"), player(4, "Di", "3 b 0")])
    )
    assert [(game.white_name, game.black_name) for game in games] == [("Cy", "Di")]
    assert [fault.line for fault in reading.faults] == [6]
    assert reading.skipped == {"the opponent's line is faulty": 2}


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (player(2, "Ann", "3 w 1"), "player-twice: the name 'Ann' without a FIDE number is that of line 5, too"),
        (player(1, "Bob", "3 w 1"), "rank-twice: columns 5-8: the starting rank 1 is that of line 5, too"),
        (player(2, "", "3 w 1", fide="0"), "line-unreadable: columns 15-47: expected the player's name"),
    ],
)
def test_namesakes_a_rank_that_is_given_twice_and_nobody_are_faults(second: str, words: str) -> None:
    ((line, message),) = faults(report([player(1, "Ann", ""), second, player(3, "Cy", "")]))
    assert (line, message.startswith(words)) == (6, True)


def test_namesakes_with_fide_numbers_are_two_people_and_a_number_of_0_is_none() -> None:
    file = report([player(1, "Ann", "2 w 1", fide="1503014"), player(2, "Ann", "1 b 0", fide="0")])
    (game,), _ = read(file)
    assert (game.white_id, game.black_id) == ("fide:1503014", "name:ann")
    assert read(file, source="lichess")[0][0].black_id == "lichess:ann"


TWO = [player(1, "Ann", "2 w 1", "2 b ="), player(2, "Bob", "1 b 0", "1 w =")]


def dated(*lines: str) -> str:
    return "".join(f"{line}\n" for line in ("012 Club open", *lines, *TWO))


def of_rounds(*days: str) -> str:
    return "132" + " " * 88 + "".join(day.ljust(10) for day in days)


@pytest.mark.parametrize(
    ("lines", "days"),
    [
        (["042 2024/05/01", "052 2024/05/03", of_rounds("24/05/01", "24/05/02")], ["2024-05-01", "2024-05-02"]),
        (["042 2024/05/01", "052 2024/05/03", of_rounds("", "24/05/02")], ["2024-05-03", "2024-05-02"]),
        (["042 2024/05/01", "052 2024/05/01"], ["2024-05-01"] * 2),
        (["042 24/09/2010", "052 02/10/2010"], ["2010-10-02"] * 2),
        (["042 May 1, 2020", "052 May 3, 2020"], ["2020-05-03"] * 2),
        (["042 28. 07. 2005", "052 31. 07. 2005"], ["2005-07-31"] * 2),
        (["042 1999/12/28", "052 2000/01/05", of_rounds("99/12/31", "00/01/01")], ["1999-12-31", "2000-01-01"]),
        (["042 1896/07/20", "052 1896/08/10", of_rounds("96/07/20", "96/08/09")], ["1896-07-20", "1896-08-09"]),
        ([of_rounds("98/12/31", "08/01/01")], ["1998-12-31", "2008-01-01"]),
        (["052 2024/05"], ["2024-05"] * 2),
    ],
)
def test_games_have_the_day_of_their_round_or_the_last_of_the_tournament(lines: list[str], days: list[str]) -> None:
    games, reading = read(dated(*lines))
    assert [game.ended_at for game in games] == days
    assert reading.faults == []


def test_a_day_that_may_be_two_is_never_guessed() -> None:
    file = dated("042 04/05/2024", "052 06/05/2024")
    ((line, message),) = faults(file)
    assert (line, "--dates dmy or --dates mdy" in message) == (2, True)
    assert [read(file, dates=order)[0][0].ended_at for order in ("dmy", "mdy")] == ["2024-05-06", "2024-06-05"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "day-missing: the report names no day (132, 042 or 052): say when its games were played"),
        (["042 soon"], "042 'soon' is no day: write YYYY/MM/DD"),
        (["042 2024/05/03", "052 2024/05/01"], "the tournament ended before it began"),
        (["052 2024/02/30"], "052 '2024/02/30' is no day"),
    ],
)
def test_a_report_without_a_day_is_a_fault_of_the_file(lines: list[str], words: str) -> None:
    games, reading = read(dated(*lines))
    assert games == []
    assert words in reading.faults[0].message
    assert len(reading.no_games) == 1


def test_who_knows_the_day_says_it() -> None:
    assert [game.ended_at for game in read(dated(), day="2024-05")[0]] == ["2024-05"] * 2


@pytest.mark.parametrize(
    ("control", "speed"),
    [("5400+30", "classical"), ("180+2", "blitz"), ("60", "bullet"), ("40/6000+30:20/3000+30:1500+30", "classical"),
     ("W300-B240", "blitz"), ("900+10", "rapid"), ("", None)],
)  # fmt: skip
def test_the_coded_time_control_gives_the_speed(control: str, speed: str | None) -> None:
    games, reading = read(dated("052 2024/05/03", f"222 {control}"))
    assert {game.speed for game in games} == {speed}
    assert reading.faults == []


def test_a_time_control_that_is_not_coded_is_noted() -> None:
    file = dated("052 2024/05/03", "222 90 minutes")
    assert {game.speed for game in read(file)[0]} == {None}
    assert any(note.startswith("222 must be BASE+INCREMENT") for note in notes(file))


@pytest.mark.parametrize(
    ("words", "speed"),
    [
        ("90+30", "classical"), ("""100'x40mm + 50'x20mm + 30" from move 1 """, "classical"), ("15'+10''", "rapid"),
        ("40/120, 60", "classical"), ("40 moves in 90 minutes, then 30 min + 30 sec/move", "classical"),
        ("10 min. + 5 sec. increment", "rapid"), ("3+2", "blitz"), ("3m+2s", "blitz"), ("G/5;d3", "blitz"),
        ("1h30", "classical"), ("1+0", "bullet"), ("Blitz", "blitz"), ("120+30", "classical"), ("", None),
    ],
)  # fmt: skip
def test_a_time_control_in_words_gives_the_speed_where_no_code_does(words: str, speed: str | None) -> None:
    games, reading = read(dated("052 2024/05/03", f"122 {words}"))
    assert ({game.speed for game in games}, reading.faults) == ({speed}, [])
    assert not any(note.message.startswith("122") for note in reading.notes)
    assert {game.speed for game in read(dated("052 2024/05/03", f"122 {words}", "222 60"))[0]} == {"bullet"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("180+2", "may be minutes or seconds"),
        ("600+5", "may be minutes or seconds"),
        ("90+30 (see rules)", "is not"),
        ("moves/time, increment", "is not understood"),
        ("3 days/move", "is not understood"),
        ("30 s", "names no time"),
        ("9" * 5, "is not understood"),
        ("1+" * 99, "is not understood"),
    ],
)
def test_a_time_control_in_words_is_never_guessed(words: str, why: str) -> None:
    file = dated("052 2024/05/03", f"122 {words}")
    assert {game.speed for game in read(file)[0]} == {None}
    assert any(note.startswith(f"122 {why}") for note in notes(file))


def test_lines_that_tell_of_no_game_are_counted_and_never_faults() -> None:
    file = report(TWO) + "NOR    1          2800\n310   1 Club\n310   2 Team\n013 Old\nXXR 9\nlöl\n### 001    1 x\n"
    games, reading = read(file)
    assert (len(games), reading.fault_count) == (2, 0)
    assert "lines that tell of no game: 013 (1), NOR (1), other lines (1)" in notes(file)


def test_points_of_another_scoring_are_noted_and_not_used() -> None:
    file = report([player(1, "Ann", "2 w 1", points="3.0"), player(2, "Bob", "1 b 0", points="0.0")], "162 W 3.0 D 1.0")
    (game,), _ = read(file)
    assert game.outcome == "white"
    (note,) = (note for note in notes(file) if "points" in note)
    assert note == "points are counted as 3, 1 and 0 for a win, a draw and a loss (162); ratings go by results"


@pytest.mark.parametrize(
    ("record", "points", "words"),
    [
        (
            "162 W 3.0    D 1.0",
            ("4.0", "1.0"),
            "1 (Ann) has 4 points, and 3 by results and byes at 3, 1 and 0",
        ),
        ("162  W 2.0    D 1.0    A-0.5", ("2.0", "0.5"), "2 (Bob) has 0.5 points, and 0 by results"),
        (
            "",
            ("3.0", "0.0"),
            "1 (Ann) has 3 points, and 1 by results and byes at 1, ½ and 0",
        ),
    ],
)
def test_points_that_contradict_the_scoring_of_the_report_are_warnings(
    record: str, points: tuple[str, str], words: str
) -> None:
    rows = [player(1, "Ann", "2 w 1", points=points[0]), player(2, "Bob", "1 b 0", points=points[1])]
    rows += [player(3, "Cy", points="0.0"), player(4, "Di", points="0.0")]
    file = report(rows, *filter(None, [record]))
    assert [message for message in warnings(file, "points-differ") if message.startswith(words)]
    assert not [note for note in notes(file) if "points in the report" in note]


def test_points_of_most_players_that_contradict_the_results_are_notes() -> None:
    file = report([player(1, "Ann", "2 w 1", points="3.0"), player(2, "Bob", "1 b 0", points="1.0")])
    assert warnings(file, "points-differ") == []
    words = "1 (Ann) has 3 points in the report, and 1 by results and byes at 1, ½ and 0, which is what counts"
    assert words in notes(file)


def warnings(file: str, code: str) -> list[str]:
    _, reading = read(file)
    findings = [finding for report in reading.reports for finding in structure_findings(report)]
    return [finding.message for finding in findings if finding.code == code]


def team(number: int, name: str, match_points: str, game_points: str, *players: int) -> str:
    return f"310 {number:3} {name:<32} {'':5} {'':6} {match_points:>6} {game_points:>6} {'':3}  " + " ".join(
        f"{rank:4}" for rank in players
    )


BOARDS = [
    player(1, "A1", "3 w 1", "5 b =", points="1.5"), player(2, "A2", "4 b 0", "6 w 1", points="1.0"),
    player(3, "B1", "1 b 0", points="0.0"), player(4, "B2", "2 w 1", points="1.0"),
    player(5, "C1", "", "1 w =", points="0.5"), player(6, "C2", "", "2 b 0", points="0.0"),
]  # fmt: skip


def warnings_about_teams(*records: str) -> list[str]:
    file = report(BOARDS, *records)
    assert not [note for note in notes(file) if note.startswith(("team", "310"))]
    return warnings(file, "team-differs")


def test_match_points_and_game_points_agree_with_the_boards_and_the_byes() -> None:
    teams = (team(1, "A", "3.0", "2.5", 1, 2), team(2, "B", "3.0", "3.0", 3, 4), team(3, "C", "2.0", "2.5", 5, 6))
    assert warnings_about_teams(*teams, "320  2.0  2.0   3   2") == []


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (
            [team(1, "A", "4.0", "2.5", 1, 2)],
            "team 1 (A) has 4 match points in the report and 3 by its boards (a match",
        ),
        ([team(1, "A", "4.0", "2.5", 1, 2), "362 TW 3.0   TD 1.0   TL 0.0"], None),
        ([team(1, "A", "3.0", "9.5", 1, 2)], "team 1 (A) has 9.5 game points in the report and 2.5 by its boards"),
        ([team(1, "A", "9.0", "9.5", 1, 2), "299 W  2.0  2.0 001    1"], None),
        ([team(1, "A", "3.0", "2.5", 1, 2, 9)], "310: there is no player 9: correct the starting rank"),
        ([team(1, "A", "3.0", "2.5", 1, 2), team(9, "X", "", "", 2)], "310: player 2 is in the team of line 11, too"),
        (["310 x"], "310: columns 5-7: expected the team's number, got 'x'"),
        (["310   1 A".ljust(73) + "   1   x"], "310: columns 79-82: expected a player's starting rank, got 'x'"),
    ],
)
def test_a_team_that_contradicts_its_boards_is_a_warning(records: list[str], words: str | None) -> None:
    said = warnings_about_teams(*records, team(2, "B", "1.0", "1.0", 3, 4), team(3, "C", "0.0", "0.5", 5, 6))
    assert (said[0].startswith(words), len(said)) == (True, 1) if words else said == []


def test_a_team_in_a_round_that_goes_on_is_not_checked() -> None:
    rows = [*BOARDS[:4], player(5, "C1", "", "1 w  ", points="0.5"), BOARDS[5]]
    rows[0] = player(1, "A1", "3 w 1", "5 b  ", points="1.0")
    teams = [team(1, "A", "9.0", "9.5", 1, 2), team(2, "B", "1.0", "1.0", 3, 4), team(3, "C", "9.0", "0.5", 5, 6)]
    file = report(rows, *teams)
    assert warnings(file, "team-differs") == [note for note in notes(file) if note.startswith("team")] == []


def test_teams_whose_points_most_differ_from_their_boards_are_notes() -> None:
    teams = [team(1, "A", "9.0", "9.5", 1, 2), team(2, "B", "9.0", "1.0", 3, 4), team(3, "C", "0.0", "0.5", 5, 6)]
    file = report(BOARDS, *teams)
    assert warnings(file, "team-differs") == []
    assert len([note for note in notes(file) if note.startswith("team")]) == 2


def test_what_the_report_says_of_the_tournament_is_kept_beside_its_games() -> None:
    _, reading = read(report(TWO, "092 Individual: Swiss-System", "222 180+2"))
    assert [tuple(tournament) for tournament in reading.tournaments] == [
        (1, "Club open", "2024-05-01", "2024-05-03", "swiss", 2, 2, "blitz")
    ]


def test_two_tournaments_of_one_file_are_two() -> None:
    games, reading = read(report(TWO) + "\n" + report(TWO).replace("Club open", "Cup"))
    assert [game.tournament for game in games] == ["Club open"] * 2 + ["Cup"] * 2
    assert len({game.key for game in games}) == 4
    assert [tournament.line for tournament in reading.tournaments] == [1, 8]


def test_reports_with_byte_order_marks_that_were_joined_are_as_many_tournaments() -> None:
    files = [report(TWO).encode("utf-8-sig"), report(TWO).replace("Club open", "Cup").encode("utf-8-sig")]
    games, reading = read(b"".join(files))
    assert ([game.tournament for game in games], reading.faults) == (["Club open"] * 2 + ["Cup"] * 2, [])
    assert [game.key for game in games] == [game.key for file in files for game in read(file)[0]]


def test_keys_know_nothing_of_ranks_results_or_later_rounds() -> None:
    before, _ = read(report([player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0")]))
    after, _ = read(report([player(7, "Bob", "9 b 1", ""), player(9, "Ann", "7 w 0", "")]))
    assert [game.key for game in before] == [game.key for game in after]
    assert [game.outcome for game in before + after] == ["white", "black"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_letters_beyond_english(encoding: str) -> None:
    file = report([player(1, "Müller, Jörg", "2 w 1", rating="2100"), player(2, "Bob", "1 b 0")])
    (game,), reading = read(file.encode(encoding))
    assert (game.white_name, game.white_rating, reading.fault_count) == ("Müller, Jörg", 2100, 0)


def test_columns_may_be_counted_in_bytes_of_utf_8() -> None:
    name = "Müller, Jörg"
    by_characters = player(1, name, "2 w 1", rating="2100").encode()
    read_line = decode_player_line(by_characters.replace(f"{name}  ".encode(), name.encode()))
    assert (read_line.name, read_line.rating, read_line.rounds[0].colour) == ("Müller, Jörg", 2100, "w")


def test_what_is_no_report_is_called_so() -> None:
    words = "no-players: no player line (001) in the whole file: this is no tournament report"
    assert faults("") == faults("hello\n") == [(1, words)]


@pytest.mark.parametrize("first", ["012 Club\n", "001    1 m    Ann\n", "### comment\n012 Club\n", "XXR 9\n012 Cup\n"])
def test_a_report_is_known_by_its_first_lines(first: str) -> None:
    assert detect_format(first.encode()) == "trf"
    assert detect_format(b"\xef\xbb\xbf" + first.encode()) == "trf"
    assert detect_format(b'[Event "012"]\n' + first.encode()) == "pgn"


def test_a_report_is_imported_with_its_days_and_again_is_nothing_new(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    file = written(tmp_path, "open.trf", report(TWO, "092 Swiss", "142 7").encode())
    done = run("import", empty_club, file, "--no-open-tournaments")
    assert (done.code, "2 games recorded" in done.err) == (0, True)
    wanted = (
        f"rating-ledger open-tournament {empty_club} 'Club open' --pool standard --start 2024-05-01 --end 2024-05-03 "
        "--format swiss --entrants 2 --rounds 7"
    )
    assert wanted in done.err
    done = run("import", empty_club, file)
    assert "0 games recorded, 2 known already" in done.err
    assert "tournament 'Club open', 2024-05-01 to 2024-05-03: opened" in done.err
    done = run("import", empty_club, file)
    assert "tournament" not in done.err.replace("open.trf", "")
    assert run("audit", empty_club).code == 0


def test_under_four_eyes_tournaments_of_a_report_are_not_opened_and_no_game_is_taken_in(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    file = written(tmp_path, "open.trf", report(TWO, "092 Swiss").encode())
    assert run("policy", "set", empty_club, "four-eyes", "on=true", "--by", "eve").code == 0
    done = run("import", empty_club, file, "--open-tournaments")
    assert (done.code, "needs-a-proposal" in done.err, "Nothing was recorded" in done.err) == (1, True, True)
    proposing = shlex.split(done.err[done.err.index("rating-ledger ") :])[1:]
    done = run("import", empty_club, file)
    assert (done.code, "2 games recorded, 0 known already" in done.err) == (0, True)
    line = shlex.split(done.err[done.err.index("so propose them: rating-ledger ") :].splitlines()[0])[4:]
    assert run(*line).out.startswith("proposal 1 is open")
    done = run(*proposing)
    assert (done.code, done.out.startswith("proposal 1 is open")) == (0, True), "the same is proposed once"
    assert "proposal 1 is open already, with the same changes and reason" in done.err
    done = run("import", empty_club, file, *proposing[3:], "--dry-run")
    assert (done.code, "dry run: nothing was written" in done.err) == (0, True), done.err
    done = run("import", empty_club, file, "--propose", "--reason", "as reported")
    assert (done.code, "--propose: for --open-tournaments alone" in done.err) == (2, True)


def test_f_is_a_woman_and_an_equal_note_of_several_lines_appears_once_with_their_number(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    women = report([line[:9] + "f" + line[10:] for line in TWO])
    others = report([line[:9] + "u" + line[10:] for line in TWO]).replace("Club open", "Other open")
    done = run("import", empty_club, written(tmp_path, "open.trf", (women + others).encode()))
    assert done.err.count("column 10") == 1
    assert "column 10: expected m or w or blank, got 'u': not used (2 times)" in done.err


def test_two_reports_of_one_file_that_contradict_each_other_are_noted(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    one = report(TWO)
    other = one.replace("052 2024/05/03", "052 2024/05/09")
    done = run("import", empty_club, written(tmp_path, "open.trf", (one + other).encode()))
    assert "2024-05-01 to 2024-05-03: opened" in done.err
    assert ": note: " in done.err
    assert "2024-05-01 to 2024-05-09: opened" not in done.err


@pytest.mark.parametrize("words", [(), ("--open-tournaments",)])
def test_days_of_a_report_that_overlap_what_is_told_are_not_recorded(
    words: tuple[str, ...], empty_club: Path, tmp_path: Path, run: Run
) -> None:
    file = written(tmp_path, "open.trf", report(TWO, "092 Swiss").encode())
    days = ("--start", "2024-05-02", "--end", "2024-05-09")
    assert run("open-tournament", empty_club, "Club open", *days).code == 0
    done = run("import", empty_club, file, *words)
    assert f"{file}:3: warning: announced-otherwise: the tournament is announced from 2024-05-02" in done.err
    done = run("import", empty_club, file, *words, "--accept", "announced-otherwise")
    assert "note: tournament 'Club open' lasts from 2024-05-02 to 2024-05-09, and 2024-05-01 to 2024-05-03" in done.err
    assert ": opened" not in done.err


def test_a_forfeit_is_in_the_ledger_and_not_rated(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = [player(1, "Ann", "2 w +"), player(2, "Bob", "1 b -")]
    assert run("import", empty_club, written(tmp_path, "open.trf", report(rows).encode())).code == 0
    assert "unplayed" in run("games", empty_club, "Ann", "--all").out + run("games", empty_club, "Ann").out


def test_wrong_usage(empty_club: Path, tmp_path: Path, run: Run) -> None:
    file = written(tmp_path, "open.trf", report(TWO).encode())
    for words, said in (
        (["--day", "soon"], "--day:"),
        (["--encoding", "klingon"], "--encoding: there is no encoding 'klingon'"),
        (["--dates", "ymd"], "--dates"),
    ):
        done = run("import", empty_club, file, *words)
        assert (done.code, said in done.err) == (2, True)


# Games, of them forfeits, and what is left out: counted by hand from the files with other tools.
REAL = {
    "echecsjs_dutch_2025_C5": (6, 0),
    "echecsjs_grandmommyscup": (1030, 0),
    "echecsjs_issue_15": (988, 84),
    "echecsjs_javafo_sample2": (93, 4),
    "echecsjs_trf26_team": (1, 0),
    "sharly_team_import_test": (8, 0),
    "sklangen_2020_06": (56, 0),
    "sklangen_example1": (970, 0),
}


@pytest.mark.skipif(not DATA.is_dir(), reason="the real reports are not on this machine")
@pytest.mark.parametrize("name", REAL)
def test_real_reports_are_read_without_a_fault(name: str) -> None:
    file = (DATA / "trf" / f"{name}.trf").read_bytes()
    games, reading = read(file, day="2025")
    assert detect_format(file) == "trf"
    assert reading.faults == []
    assert (len(games), sum(game.termination == "unplayed" for game in games)) == REAL[name]
    lines = [line[91:] for line in file.decode("latin-1").splitlines() if line.startswith("001")]
    cells = [line[at : at + 8] for line in lines for at in range(0, len(line), 10)]
    assert 2 * REAL[name][0] - 2 * REAL[name][1] == sum(cell[7:8] in {*"10="} for cell in cells if cell.strip())


@pytest.mark.parametrize("letter", ["-", "Z"])
def test_marks_of_absent_players_make_no_round_that_nobody_played(letter: str) -> None:
    rows = (player(1, "Ann", "2 w 1", f"0000 - {letter}"), player(2, "Bob", "1 b 0", f"0000 - {letter}"))
    reading = Reading("a.trf")
    text = "\n".join(["012 Cup", "042 2026/04/18", "052 2026/04/18", *rows]) + "\n"
    games = list(trf.read_games(text.encode().splitlines(keepends=True), reading))
    assert (len(games), reading.faults, reading.rounds, reading.tournaments[0].rounds) == (1, [], [], 1)
