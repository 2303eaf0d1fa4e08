"""Byes as files write them: rounds without a game, never players; who has a number is a person of whatever name."""

from io import BytesIO
from pathlib import Path

import pytest

from ledger.facts.source_games import SourceGame, SourceRound
from ledger.imports import jsonl
from ledger.imports.csv import games as csv_games
from ledger.imports.files import wrap_file
from ledger.imports.formats import read_game_frames
from ledger.imports.no_opponent import means_no_opponent
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import FileHints, Reading, bye_value, round_number, take_out_byes
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.games import source_game
from tests.kit.source_files import round_line, written

HEADER = "White;Black;Result;Date;Round;Event\n"


def read(text: str) -> tuple[list[SourceGame], Reading]:
    reading = Reading("a.csv")
    games = [SourceGame(*row) for frame in csv_games.read_frames([text.encode()], reading) for row in frame.iter_rows()]
    return games, reading


def byes(reading: Reading) -> list[tuple[object, ...]]:
    return [(bye.line, bye.player_name, bye.round, bye.brings) for bye in reading.rounds]


@pytest.mark.parametrize("word", ["BYE", "Bye", "bye", "spielfrei", "EXEMPT", "freilos", "-", " Bye "])
@pytest.mark.parametrize(("result", "at_white", "at_black"), [
    ("1-0", "allotted", "zero"), ("0-1", "zero", "allotted"), ("1/2-1/2", "half", "half"), ("", "zero", "zero"),
    ("+/-", "allotted", "zero"), ("white", "allotted", "zero"), ("Black", "zero", "allotted"),
    ("draw", "half", "half"), ("0", "zero", "zero"), ("1", "allotted", "allotted"), ("½", "half", "half"),
    ("bye", "zero", "zero"),
])  # fmt: skip
def test_a_row_with_nobody_on_one_side_is_a_bye_of_the_other(
    word: str, result: str, at_white: str, at_black: str
) -> None:
    rows = (f"Ann;{word};{result};2025-03-01;1;Open", f"{word};Bob;{result};2025-03-02;2.1;Open")
    games, reading = read(HEADER + "\n".join(rows) + "\n")
    assert (games, reading.faults) == ([], [])
    assert byes(reading) == [(2, "Ann", 1, at_white), (3, "Bob", 2, at_black)]
    assert {(bye.tournament, bye.player_id) for bye in reading.rounds} == {("Open", "name:ann"), ("Open", "name:bob")}
    assert [bye.edition for bye in reading.rounds] == ["2025-03-01", "2025-03-02"]


WORDS = (
    "not paired", "Half bye", "½ bye", "bye (1)", "(BYE)", "0.0", "...", "N.N.", "nicht ausgelost", "spiel-frei",
    "descansa", "Exempté", "sans adversaire", "riposo", "vrij", "pauza", "wolny los", "volný los", "oversidder",
    "F-bye", "PAB", "absent", "abwesend", "vapaavuoro", "folga", "свободен", "Выходной", "ρεπό", "no game", "HPB",
    "bye, bye", "turno di riposo", "esente", "sin pareja", "speelvrij", "bez przeciwnika", "Bye #1", "half point",
    "Pas d'adversaire", "kein Partner", "spielt nicht", "geen partij", "нет соперника", "Resting player",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_words_for_no_opponent_are_no_players_in_ten_languages(word: str) -> None:
    games, reading = read(HEADER + f"Ann;{word};1/2;2025-03-01;1;Open\n{word};Ann;0-1;2025-03-02;2;Open\n")
    assert (games, reading.faults) == ([], [])
    assert byes(reading) == [(2, "Ann", 1, "half"), (3, "Ann", 2, "allotted")]
    assert [(note.line, "Ann" in note.message) for note in reading.notes] == [(2, True), (3, True)], "each is listed"


@pytest.mark.parametrize(
    "name", ["No, Ha-Jin", "Frei, A.", "Le, Z", "Punto, Di", "Ronda Free Smith", "Nie, Hua", "Half"]
)
def test_names_of_people_are_no_words_for_no_opponent(name: str) -> None:
    assert not means_no_opponent(name, perhaps=True)


def test_a_word_that_may_be_a_name_is_a_person_if_somebody_played() -> None:
    header = "white,white_elo,black,black_elo,result,half_moves,date,event\n"
    rows = "Frei,,Ann,,1-0,,2025,Open\nAnn,,Frei,1900,1-0,,2025,Open\nAnn,,NN,,1-0,20,2025,Open\n"
    games, reading = read(header + rows)
    assert (len(games), reading.rounds) == (3, [])
    content = f"{HEADER}ann;free;1-0;2025;1;Open\n".encode()
    users = [*csv_games.read_frames([content], reading, hints=FileHints(source="li"))]
    assert users[0]["black_id"].to_list() == ["li:free"], "the names of a site are those of its users"


def test_words_say_what_a_bye_brings_that_has_no_result() -> None:
    rows = "Ann;Half bye;;2025;1;Open\nBob;;bye;2025;1;Open\nCy;;H;2025;1;Open\nDi;full point bye;;2025;1;Open\n"
    games, reading = read(HEADER + rows + "Ed;BYE;half-bye;2025;1;Open\n")
    assert (games, reading.faults) == ([], [])
    assert [bye.brings for bye in sorted(reading.rounds)] == ["half", "zero", "half", "full", "half"]


def test_a_player_of_that_name_who_has_a_number_is_a_person() -> None:
    rows = "Ann;;Bye;1503014;1-0;2025;Open\nBye;7;Ann;;1-0;2025;Open\n"
    rows = "white;white_id;black;black_fide_id;result;date;event\n" + rows
    games, reading = read(rows)
    assert [(game.white_id, game.black_id) for game in games] == [("name:ann", "fide:1503014"), ("id:7", "name:ann")]
    assert reading.rounds == []


def test_an_empty_opponent_beside_a_result_is_a_fault_and_so_is_a_bye_without_a_day() -> None:
    empty = ";Ann;1-0;2025;1;Open\nBob;;1-0;2025;1;Open\n"
    games, reading = read(HEADER + empty + "Cy;BYE;1-0;;1;Open\nDi;BYE;9-9;2025;1;O\n")
    assert games == []
    assert [(fault.line, fault.message.partition(";")[0]) for fault in reading.faults] == [
        (2, "white is missing"),
        (3, "black is missing"),
        (4, "the date of the bye is missing"),
        (
            5,
            "Result must be 1-0, 0-1, 1/2-1/2, a forfeit such as +/- or 1-0F, or * for an unfinished game, or a word "
            "that --result gives a meaning, such as --result Sieg=1-0",
        ),
    ]
    assert reading.rounds == []


def test_a_bye_of_no_tournament_and_nobody_against_nobody_are_left_out_and_counted() -> None:
    _, reading = read(HEADER + "Ann;BYE;1-0;2025;1;\nBYE;freilos;1-0;2025;1;Open\n")
    assert dict(reading.skipped) == {"byes of no tournament": 1, "rows without a game": 1}
    assert (reading.rounds, reading.faults) == ([], [])


def test_a_pgn_game_against_nobody_is_a_bye() -> None:
    tags = '[Event "Open"]\n[Date "2025.03.01"]\n[Round "3"]\n[White "{}"]\n[Black "{}"]\n{}[Result "1-0"]\n\n1-0\n\n'
    file = tags.format("Ann", "BYE", "") + tags.format("Ann", "Bye", '[BlackFideId "1503014"]\n')
    reading = Reading("a.pgn")
    (game,) = take_out_byes(pgn.read_games(file.encode().splitlines(keepends=True), reading), reading)
    assert game.black_id == "fide:1503014"
    assert [bye[1:7] for bye in reading.rounds] == [("name:ann", "Ann", "Open", "2025-03-01", 3, "allotted")]


def test_zeros_before_a_number_of_fide_make_no_other_person() -> None:
    tags = '[Date "2025.03.01"]\n[White "Ann"]\n[Black "Bob"]\n[BlackFideId "0001503014"]\n[Result "1-0"]\n\n1-0\n\n'
    reading = Reading("a.pgn")
    (game,) = pgn.read_games(tags.encode().splitlines(keepends=True), reading)
    assert game.black_id == "fide:1503014"


def test_our_own_lines_carry_them_and_name_what_is_wrong() -> None:
    told = SourceRound(1, "name:ann", "Ann", "Open", "2025-03-01", 3, "allotted", 1, "blitz")
    least = SourceRound(2, "name:ann", "Ann", "Open", "2025", None, "absent")
    reading = Reading("a.jsonl")
    assert list(jsonl.read_games([round_line(told), round_line(least)], reading)) == []
    assert reading.rounds == [told, least]
    wrong = b'{"player": {"id": "a"}, "edition": "x", "brings": "half", "half_points": 2, "round": 0}\n'
    assert list(jsonl.read_games([wrong], reading)) == []
    assert [fault.message.rpartition("@ ")[2] for fault in reading.faults] == [
        "$.tournament",
        "$.edition",
        "$.round",
        "$.half_points",
        "$.player.name",
    ]


def test_words_and_rounds() -> None:
    assert not any(map(means_no_opponent, (None, "Byer", "Bye, Ann", "Frei, Hans", "N. Novak", "?", "123", "x1")))
    assert [round_number(text) for text in (None, "Final", "0", "3", "3.17", "10000", "10001")] == [
        None,
        None,
        None,
        3,
        3,
        10_000,
        None,
    ]
    assert [bye_value(word, is_white=False) for word in ("white", "draw", "black")] == ["zero", "half", "allotted"]
    both = source_game("g", black_name="BYE", black_id="name:bye", tournament="Open", ended_at="2025-03-01T19:30:00Z")
    reading = Reading("a")
    assert list(take_out_byes([both], reading, "2025-02-27")) == []
    assert reading.rounds[0].edition == "2025-02-27"


def test_an_import_says_how_many_there_are_and_a_dry_run_writes_none(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    rows = "Ann;Bob;1-0;2025-03-01;1;Open\nCy;BYE;1-0;2025-03-01;1;Open\nAnn;-;½;2025-03-02;2;Open\n"
    path = written(tmp_path, "open.csv", (HEADER + rows).encode())
    dry = run("import", empty_club, path, "--dry-run")
    told = "1 game recorded, 0 known already, 2 rounds without a game recorded, 3 new players"
    assert (dry.code, f"{told}\n" in dry.err) == (0, True)
    with Ledger.open(empty_club) as ledger:
        assert ledger.journal.size() == 1
    done = run("import", empty_club, path, "--strict")
    assert (done.code, f"{told}\n" in done.err) == (0, True)
    again = run("import", empty_club, path)
    assert "0 games recorded, 1 known already, 2 rounds without a game known already\n" in again.err
    rated = run("ratings", empty_club, "--csv").out
    assert ("Ann" in rated, "Cy" in rated, "BYE" in rated) == (True, False, False), "no bye is rated, nobody registered"
    other = written(tmp_path, "other.csv", (HEADER + rows.replace("-;½", "-;1-0")).encode())
    refused = run("import", empty_club, other)
    assert (refused.code, "other.csv:4: error: exists-with-different-brings: " in refused.err) == (1, True)
    strict = run("import", empty_club, other, "--strict")
    assert (strict.code, "nothing recorded (--strict)" in strict.err) == (1, True)


@pytest.mark.parametrize("with_views", [False, True])
def test_a_file_that_tells_a_bye_twice_by_different_days_tells_one(
    with_views: bool, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    if with_views:
        assert run("ratings", empty_club).code == 0
    rows = "Ann;Bob;1-0;2025-03-01;1;Open\nCy;BYE;1-0;2025-03-01;2;Open\nCy;BYE;1-0;2025-03-03;2;Open\n"
    path = written(tmp_path, "open.csv", (HEADER + rows).encode())
    told = "1 round without a game recorded, 1 round without a game known already"
    assert told in run("import", empty_club, path, "--dry-run").err
    assert told in run("import", empty_club, path).err
    assert "2 rounds without a game known already" in run("import", empty_club, path).err
    other = written(tmp_path, "other.csv", (HEADER + rows.replace("BYE;1-0;2025-03-03", "-;½;2025-03-03")).encode())
    assert "other.csv:4: error: exists-with-different-brings: " in run("import", empty_club, other).err


def test_a_file_imported_before_byes_were_known_brings_them_when_it_comes_again(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    rows = "Ann;Bob;1-0;2025-03-01;1;Open\n"
    assert run("import", empty_club, written(tmp_path, "a.csv", (HEADER + rows).encode())).code == 0
    whole = written(tmp_path, "b.csv", (HEADER + rows + "Bob;BYE;1-0;2025-03-02;2;Open\n").encode())
    done = run("import", empty_club, whole)
    assert "0 games recorded, 1 known already, 1 round without a game recorded\n" in done.err


def test_json_lines_of_a_program_that_pairs_have_byes_too() -> None:
    line = (
        b'{"key": "club:1", "white": {"id": "name:ann", "name": "Ann"}, "black": {"id": "name:bye", "name": "BYE"}, '
        b'"outcome": "white", "termination": "unknown", "rated": true, '
        b'"ended_at": "2024-05-01", "tournament": "Open", "round": "1"}\n'
    )
    source = wrap_file(BytesIO(line), "a.jsonl")
    assert [*read_game_frames(source, "ledger-jsonl")] == []
    assert byes(source.reading) == [(1, "Ann", 1, "allotted")]
