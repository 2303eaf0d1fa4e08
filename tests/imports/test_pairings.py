"""Lists of pairings: rounds with their days, players, boards of teams, and which colour a board has."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ledger.facts.source_games import SourceGame
from ledger.imports.files import detect_format, open_source
from ledger.imports.formats import read_game_frames
from ledger.imports.pairings import games as pairings
from ledger.imports.pairings.lists import read_caption
from ledger.imports.reading import FileHints, Reading
from ledger.testing.importer_contract import Importer, ImporterContract
from tests.kit.commands import Run
from tests.kit.source_files import written
from tests.kit.workbooks import Rows, ods, xlsx

HEADINGS = "Bo.;No.;;Name;Rtg;Pts.;Result;Pts.;;Name;Rtg;No.\n"
PLAYERS = (
    "From the Tournament-Database of Chess-Results https://chess-results.com;;;;;;;;;;;\nClub open 2024;;;;;;;;;;;\n"
    f"Round 1 on 2024/05/03 at 14:00;;;;;;;;;;;\n{HEADINGS}"
    "1;1;FM;Ek Ann;2020;0;1 - 0;0;;Berg Cleo;1800;3\n2;4;;Dahl Dan;1926;0;½ - ½;0;;Lund Bob;1971;2\n"
    "3;5;;Frost Eve;1700;0;1;;;bye;;\n4;6;;Gran Fay;1600;0;0;;;not paired;;\n;;;;;;;;;;;\n"
    f"Round 2 on 2024/05/04 at 14:00;;;;;;;;;;;\n{HEADINGS}"
    "1;3;;Berg Cleo;1800;0;- - +;1;FM;Ek Ann;2020;1\n2;2;;Lund Bob;1971;½;0 : 1;½;;Dahl Dan;1926;4\n"
    ";;;;;;;;;;;\nYou find all details to this tournament under https://chess-results.com/tnr1.aspx;;;;;;;;;;;\n"
)
TEAMS = (
    "Primary League\nRound 18 on 2025/10/30 at 14:00\n"
    "18.1;10;Mitchell House;1½ - 2½;3;Other School\n"
    "1;Ann A;1800;1 : 0;Bob B;1700\n2;Cleo C;1500;½ : ½;Dan D;1400\n3;Eve E;0;0 : 1;Fay F;\n4;-;;- : +;Gus G;1200\n"
    "18.2;1;X;1 - 1;2;Y\n1;Hal H;1100;1 : 0;Ike I;1200\n2;Jo J;1100;0 : 1;Kay K;1200\n"
)
LEAGUE = (
    "Liga\n1. Runde am 2024/10/06 um 10:00 Uhr\n"
    "Bo.;1;  Armenien;Rtg;-;2;  Rest der Welt;Rtg;2½:1½\n"
    "1.1;GM;Aronian Levon;2780;-;GM;Anand V;2770;½ - ½\n1.2;GM;Akopian V (b);2680;-;;Peter (w);2500;1 - 0\n"
    "1.3;GM;Sargissian;2680;-;IM;Paul;2400;1 - 0\n1.4;;Melkumyan;2680;-;IM;Petra;2400;0 - 1\n"
)


def read(text: str, **options: Any) -> tuple[list[dict[str, Any]], Reading]:
    reading = Reading("pairings.csv")
    lines = text.encode().splitlines(keepends=True)
    frames = pairings.read_frames(lines, reading, FileHints(**options))
    return [row for frame in frames for row in frame.to_dicts()], reading


class TestContract(ImporterContract):
    samples: ClassVar[Sequence[bytes]] = (PLAYERS.encode(), TEAMS.encode())
    damaged: ClassVar[int] = 30

    def make(self) -> Importer:
        hints = FileHints(white_boards="odd", equal_rows=True)

        def read_games(lines: Iterable[bytes], reading: Reading) -> Iterator[SourceGame]:
            return (SourceGame(*row) for frame in pairings.read_frames(lines, reading, hints) for row in frame.rows())

        return read_games

    def test_two_files_in_one_give_the_games_of_both(self) -> None:
        for sample in self.samples:
            once, _ = self._read(sample)
            twice, _ = self._read(sample.rstrip(b"\n") + b"\n\n" + sample)
            # the keys count how often a file has the same game
            assert [game._replace(line=0, key="") for game in twice] == [
                game._replace(line=0, key="") for game in once * 2
            ]


def short(games: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("line", "round", "ended_at", "white_name", "black_name", "outcome")
    return [tuple(game[name] for name in names) for game in games]


def test_players_are_read_round_by_round_with_the_day_of_the_caption() -> None:
    games, reading = read(PLAYERS)
    assert short(games) == [
        (5, "1", "2024-05-03", "Ek Ann", "Berg Cleo", "white"),
        (6, "1", "2024-05-03", "Dahl Dan", "Lund Bob", "draw"),
        (12, "2", "2024-05-04", "Berg Cleo", "Ek Ann", "black"),
        (13, "2", "2024-05-04", "Lund Bob", "Dahl Dan", "black"),
    ]
    assert [game["termination"] for game in games] == ["unknown", "unknown", "unplayed", "unknown"]
    assert (games[0]["white_rating"], games[0]["black_rating"], games[0]["tournament"]) == (
        2020,
        1800,
        "Club open 2024",
    )
    assert [(each.player_name, each.brings) for each in reading.rounds] == [
        ("Frost Eve", "allotted"), ("Gran Fay", "zero"),
    ]  # fmt: skip
    (tournament,) = reading.tournaments
    assert (tournament.name, tournament.starts_at, tournament.ends_at, tournament.rounds) == (
        "Club open 2024", "2024-05-03", "2024-05-04", 2,
    )  # fmt: skip
    assert reading.faults == []


@pytest.mark.parametrize(("boards", "whites"), [
    ("odd", ["Ann A", "Dan D", "Eve E", "Hal H", "Kay K"]),
    ("even", ["Bob B", "Cleo C", "Fay F", "Ike I", "Jo J"]),
    ("all", ["Ann A", "Cleo C", "Eve E", "Hal H", "Jo J"]),
])  # fmt: skip
def test_boards_of_teams_have_the_colours_that_the_user_says(boards: str, whites: list[str]) -> None:
    games, reading = read(TEAMS, white_boards=boards)
    assert [game["white_name"] for game in games] == whites
    winners = [game[f"{game['outcome']}_name"] for game in games if game["outcome"] != "draw"]
    assert winners == ["Ann A", "Fay F", "Hal H", "Kay K"]
    assert (games[0]["round"], games[0]["ended_at"], reading.faults) == ("18", "2025-10-30", [])
    assert [(each.player_name, each.brings) for each in reading.rounds] == [("Gus G", "allotted")]


def test_a_name_may_look_like_a_title() -> None:
    games, _ = read(TEAMS.replace("Kay K", "Wim").replace("Jo J", "IM"), white_boards="all")
    assert (games[-1]["white_name"], games[-1]["black_name"]) == ("IM", "Wim")


def test_headings_hold_for_all_rounds_and_no_row_is_passed_over_silently() -> None:
    once = PLAYERS.replace(HEADINGS, "").replace("Club open 2024;;;;;;;;;;;\n", f"Club open 2024\n{HEADINGS}")
    games, reading = read(once)
    assert (len(games), len(reading.rounds), reading.faults) == (4, 2, [])
    games, reading = read(PLAYERS.replace(HEADINGS, ""))
    words = "there are no headings above this row to say what its cells are"
    assert (games, {fault.message for fault in reading.faults}, reading.fault_count) == ([], {words}, 6)
    games, reading = read(TEAMS.replace("0 : 1;Fay F;", "won;Fay F"), white_boards="odd")
    assert reading.faults[0] == (6, "the row of a board has no result that can be read")
    games, reading = read(TEAMS.replace("0 : 1;Fay F;", ";Fay F;").replace("1½ - 2½", ""), white_boards="odd")
    assert (len(games), reading.faults, reading.skipped["unfinished"]) == (4, [], 1)


def test_marks_of_colours_go_before_what_the_user_says() -> None:
    games, _ = read(LEAGUE, white_boards="all")
    assert [(game["white_name"], game["black_name"], game["outcome"]) for game in games] == [
        ("Aronian Levon", "Anand V", "draw"),
        ("Peter", "Akopian V", "black"),
        ("Sargissian", "Paul", "white"),
        ("Melkumyan", "Petra", "black"),
    ]
    assert (games[1]["white_rating"], games[1]["black_rating"]) == (2500, 2680)


def test_without_colours_each_board_is_a_fault_that_names_the_option() -> None:
    games, reading = read(LEAGUE)
    assert [game["line"] for game in games] == [5]
    words = "the row does not say who had White: say by --white-boards on which boards the team named first has it"
    assert reading.faults == [(line, words) for line in (4, 6, 7)]


def test_a_match_whose_boards_contradict_its_score_is_left_out() -> None:
    games, reading = read(TEAMS.replace("1½ - 2½", "3 - 1"), white_boards="odd")
    assert reading.faults == [
        (3, "the score of the match is 3:1, and its boards give 1.5:2.5: correct one; its games are left out")
    ]
    assert [game["line"] for game in games] == [9, 10]


def test_a_season_of_50_teams_is_read_from_one_file() -> None:
    lines = ["League 2024"]
    for number in range(1, 50):
        lines.append(f"Round {number} on 2024/{(number - 1) // 28 + 1:02}/{(number - 1) % 28 + 1:02}")
        for match in range(25):
            home, guest = match, 25 + (match + number) % 25
            lines.append(f"{number}.{match + 1};{home};Team {home};2 - 2;{guest};Team {guest}")
            lines += [f"{b};T{home} P{b};1500;½ : ½;T{guest} P{b};1500" for b in range(1, 5)]
    games, reading = read("\n".join(lines), white_boards="odd")
    assert (len(games), reading.fault_count) == (49 * 25 * 4, 0)
    assert len({game["white_name"] for game in games} | {game["black_name"] for game in games}) == 200


@pytest.mark.parametrize("write", [xlsx, ods])
def test_a_fault_in_a_sheet_names_its_column(write: Any, run: Run, tmp_path: Path) -> None:
    rows: Rows = [line.split(";") for line in PLAYERS.replace("½ - ½", "2 - 0").splitlines()]
    path = written(tmp_path, "open.xlsx", write({"Round": rows}))
    assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", path)
    assert done.code == 1
    assert f"{path}[Round]:6: error: Result (column G) must be 1-0, 0-1" in done.err
    assert f"{path}[Round] (pairings): 3 games recorded" in done.err


@pytest.mark.parametrize(
    ("words", "number", "day"),
    [
        ("Round 1 on 2024/05/03 at 14:00", 1, "2024/05/03"), ("1. Runde am 04.05.2024 um 14:00 Uhr", 1, "04.05.2024"),
        ("Runde 12", 12, None), ("Ronde 3 le 2024/05/03", 3, "2024/05/03"), ("Ronda 2 el 2024/05/03", 2, "2024/05/03"),
        ("Turno 4", 4, None), ("5. kolo", 5, None), ("Rodada 6", 6, None), ("Rond 7 den 2024/05/03", 7, "2024/05/03"),
        ("Round of 16", None, None), ("3 players", None, None), ("Round 0", None, None),
    ],
)  # fmt: skip
def test_captions_of_rounds_are_read_in_all_languages(words: str, number: int | None, day: str | None) -> None:
    caption = read_caption([words, ""], 1)
    assert (caption.number, caption.day) == (number, day) if caption else number is None


@pytest.mark.parametrize(
    ("text", "options", "line", "words"),
    [
        (PLAYERS.replace(" on 2024/05/04 at 14:00", ""), {}, 10, "the round has no day: write it as in 'Round 1 on"),
        (PLAYERS.replace("2024/05/04", "04/05/2024"), {}, 10, "the day of the round may be 2024-05-04 or 2024-04-05"),
        (PLAYERS.replace("2024/05/04", "2024/02/30"), {}, 10, "the day of the round is no day that exists"),
        (PLAYERS.replace("Ek Ann;2020", "Ek Ann;9999", 1), {}, 5, "Rtg must be a whole number from 0 to 5000"),
        ("Round 1 on 2024/05/03\nBo.;Name;Result;Name\n", {}, 1, "no pairing with a result: headings such as White"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_a_fault_with_its_line(
    text: str, options: dict[str, str], line: int, words: str
) -> None:
    _, reading = read(text, **options)
    assert reading.faults[0].line == line
    assert words in reading.faults[0].message


def test_a_round_without_a_day_takes_that_of_the_tournament_or_of_the_user() -> None:
    text = PLAYERS.replace(" on 2024/05/04 at 14:00", "")
    assert {game["ended_at"] for game in read(text, day="2024-06")[0]} == {"2024-05-03", "2024-06"}
    dated = text.replace("Club open 2024;", "Club open 2024\nDate : 2024/05/01 To 2024/05/09;")
    games, reading = read(dated)
    assert {game["ended_at"] for game in games} == {"2024-05-03", "2024-05-09"}
    assert "the days of some rounds are not given: their games are put on 2024-05-09" in [
        note.message for note in reading.notes
    ]


TABLE = (
    "Liga;Runde;Datum;Heim;Gast;Brett;Spieler Heim;Spieler Gast;Ergebnis\n"
    "Nord;1;06.10.2024;SK A;SK B;1;Müller, Jörg;Bob;1:0\nNord;1;06.10.2024;SK A;SK B;2;Cy;Dan;0:1\n"
    "Süd;1;13.10.2024;SK X;SK Y;1;Eve;Fay (w);1:0\nNord;2;20.10.2024;SK A;SK C;1;Müller, Jörg;Gus;\n"
)


def test_the_table_of_a_league_has_boards_days_and_rounds_of_its_own() -> None:
    games, reading = read(TABLE, white_boards="even", dates="dmy")
    assert short(games) == [
        (2, "1", "2024-10-06", "Bob", "Müller, Jörg", "black"),
        (3, "1", "2024-10-06", "Cy", "Dan", "black"),
        (4, "1", "2024-10-13", "Fay", "Eve", "black"),
    ]
    assert [game["tournament"] for game in games] == ["Nord", "Nord", "Süd"]
    assert reading.faults == []
    assert "'Spieler Heim' is read as the first player" in reading.notes[0].message
    assert detect_format(TABLE.encode()) == "pairings"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (TABLE, {"dates": "dmy"}, "the row does not say who had White: say by --white-boards"),
        (TABLE.replace("B;2;", "B;x;"), {"white_boards": "odd", "dates": "dmy"}, "the board must be a number; got 'x'"),
        (TABLE, {"white_boards": "odd"}, "the day of the round may be 2024-10-06 or 2024-06-10"),
        (TABLE.replace("1:0", "2:0"), {"white_boards": "odd", "dates": "dmy"}, "Ergebnis must be 1-0, 0-1"),
    ],
)
def test_faults_of_the_table_of_a_league(text: str, options: dict[str, str], words: str) -> None:
    _, reading = read(text, **options)
    assert words in reading.faults[0].message


def test_headings_of_another_language_are_noted() -> None:
    text = "Open\n1. Runde am 2024/05/03\nBr.;Weiß;Elo;Erg.;Schwarz;Elo\n1;Ann;1900;1 - 0;Bob;1800\n"
    games, reading = read(text)
    assert short(games) == [(4, "1", "2024-05-03", "Ann", "Bob", "white")]
    (note,) = [each.message for each in reading.notes]
    assert note == "'Weiß' is read as white, 'Erg.' is read as result, 'Schwarz' is read as black"


def test_a_pairing_file_of_numbers_alone_is_named(run: Run, tmp_path: Path) -> None:
    text = b"Runde;Brett;IdentW;IdentS;NrW;NrS;ErgW;ErgS;Kontumaz;Erg;Mnr;ErgEloW;ErgEloS\n1;1;0;0;1;5;1;0;;1:0;0;;\n"
    path = written(tmp_path, "pairs.txt", text)
    assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", path)
    assert (done.code, "is a pairing file of Swiss-Manager, which has numbers in the place" in done.err) == (1, True)


@pytest.mark.parametrize("text", [PLAYERS, TEAMS, LEAGUE, PLAYERS.replace(";", "\t")])
def test_a_list_is_recognised_by_its_captions(text: str, tmp_path: Path) -> None:
    with open_source(str(written(tmp_path, "x.txt", text.encode()))) as source:
        fmt = detect_format(source.first)
        assert fmt == "pairings"
        assert sum(map(len, read_game_frames(source, fmt, FileHints(white_boards="odd")))) >= 4


@pytest.mark.parametrize(
    "text", ["Runde 1;;;\nWeiß;Schwarz;Ergebnis;Datum\n", "white,black,result,date\n", "white;black;result\nA;B;1-0\n"]
)
def test_a_table_with_days_or_without_captions_is_a_csv(text: str) -> None:
    assert detect_format(text.encode()) == "csv"
