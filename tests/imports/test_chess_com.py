"""Archives of chess.com as its API gives them: what each field means, what is refused, and how a document is cut up."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ledger.facts.source_games import SourceGame
from ledger.imports import chess_com, json_input
from ledger.imports.files import detect_format
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import Reading
from ledger.testing.importer_contract import Importer, ImporterContract
from tests.imports.spoiled_files import built_in
from tests.kit.commands import Run
from tests.kit.source_files import written

PGN = """[Event "Live Chess"]
[Site "Chess.com"]
[Date "2021.10.01"]
[Round "-"]
[White "Ann_B"]
[Black "Bob"]
[Result "1-0"]
[UTCDate "2021.10.01"]
[UTCTime "10:00:00"]
[WhiteElo "1500"]
[BlackElo "1600"]
[TimeControl "180+2"]
[Termination "Ann_B won by resignation"]
[EndDate "2021.10.01"]
[EndTime "10:08:20"]
[Link "https://www.chess.com/game/live/12345678"]

1. e4 {[%clk 0:02:59]} 1... e5 {[%clk 0:02:58]} 2. Nf3 {[%clk 0:02:50]} 1-0
"""
GAME: dict[str, Any] = {
    "url": "https://www.chess.com/game/live/12345678", "pgn": PGN, "time_control": "180+2", "end_time": 1633082900,
    "rated": True, "tcn": "mC0K", "uuid": "0a1b2c3d-0000-11ec-8000-000000000001", "initial_setup": "",
    "fen": "8/8/8/8/8/8/8/8 w - -", "time_class": "blitz", "rules": "chess",
    "white": {"rating": 1500, "result": "win", "@id": "https://api.chess.com/pub/player/ann_b", "username": "Ann_B"},
    "black": {"rating": 1600, "result": "resigned", "@id": "https://api.chess.com/pub/player/bob", "username": "Bob"},
}  # fmt: skip


def archive(*games: dict[str, Any], **fields: Any) -> bytes:
    """An archive of these games, by default of one with some fields changed; those that are None are left out."""
    told = games or ({name: value for name, value in {**GAME, **fields}.items() if value is not None},)
    return json.dumps({"games": list(told)}).encode()


def read(*pieces: bytes) -> tuple[list[SourceGame], Reading]:
    reading = Reading("month.json")
    return list(chess_com.read_games(pieces, reading)), reading


def the_game(**fields: Any) -> SourceGame:
    (game,), reading = read(archive(**fields))
    assert reading.faults == []
    return game


def fault(**fields: Any) -> str:
    games, reading = read(archive(**fields))
    assert games == []
    (found,) = reading.faults
    assert found.message.endswith("@ $.games[0]")
    return found.message


def sides(white: str, black: str) -> dict[str, Any]:
    return {"white": {**GAME["white"], "result": white}, "black": {**GAME["black"], "result": black}}


class TestContract(ImporterContract):
    samples: ClassVar[Sequence[bytes]] = (
        *built_in("chess-com"),
        archive(),
        json.dumps({"games": [GAME]}, indent=2).encode() + b"\n",
    )
    damaged: ClassVar[int] = 200

    def make(self) -> Importer:
        return chess_com.read_games


def test_every_field_of_a_game() -> None:
    assert the_game() == SourceGame(
        line=1,
        key="chesscom:12345678",
        white_id="chesscom:ann_b",
        white_name="Ann_B",
        black_id="chesscom:bob",
        black_name="Bob",
        outcome="white",
        termination="resignation",
        half_moves=3,
        started_at="2021-10-01T10:00:00Z",
        ended_at="2021-10-01T10:08:20Z",
        tournament=None,
        round=None,
        rated=True,
        white_rating=1500,
        black_rating=1600,
        speed="blitz",
        variant="standard",
        text="e4 {[%clk 0:02:59]} e5 {[%clk 0:02:58]} Nf3 {[%clk 0:02:50]}",
    )


def test_the_archive_and_its_pgn_tell_the_same_game() -> None:
    (of_pgn,) = pgn.read_games(PGN.encode().splitlines(keepends=True), Reading("month.pgn"))
    assert the_game() == of_pgn


@pytest.mark.parametrize(
    ("word", "termination"),
    [("checkmated", "checkmate"), ("timeout", "time"), ("resigned", "resignation"), ("abandoned", "abandonment"),
     ("lose", "unknown"), ("kingofthehill", "unknown"), ("threecheck", "unknown"), ("bughousepartnerlose", "unknown")],
)  # fmt: skip
def test_the_loser_says_how_the_game_ended(word: str, termination: str) -> None:
    lost, won = the_game(**sides(word, "win")), the_game(**sides("win", word))
    assert (lost.outcome, won.outcome) == ("black", "white")
    assert lost.termination == won.termination == termination


@pytest.mark.parametrize(
    ("word", "termination"),
    [("agreed", "agreement"), ("repetition", "repetition"), ("stalemate", "stalemate"), ("50move", "fifty-move"),
     ("50", "fifty-move"), ("insufficient", "insufficient-material"), ("timevsinsufficient", "time")],
)  # fmt: skip
def test_both_sides_of_a_draw_say_how(word: str, termination: str) -> None:
    game = the_game(**sides(word, word))
    assert (game.outcome, game.termination) == ("draw", termination)


@pytest.mark.parametrize(
    ("white", "black"), [("win", "win"), ("win", "agreed"), ("agreed", "repetition"), ("resigned", "timeout")]
)
def test_results_that_contradict_are_a_fault(white: str, black: str) -> None:
    assert f"the results {white!r} of White and {black!r} of Black do not go together" in fault(**sides(white, black))


@pytest.mark.parametrize(
    ("word", "speed"),
    [("daily", "correspondence"), ("rapid", "rapid"), ("blitz", "blitz"), ("bullet", "bullet"), (None, None)],
)
def test_speeds(word: str | None, speed: str | None) -> None:
    assert the_game(time_class=word).speed == speed


@pytest.mark.parametrize(
    ("rules", "variant"),
    [("chess", "standard"), ("chess960", "chess960"), ("kingofthehill", "kingOfTheHill"), ("threecheck", "threeCheck"),
     ("crazyhouse", "crazyhouse"), ("bughouse", "bughouse"), (None, "standard")],
)  # fmt: skip
def test_variants(rules: str | None, variant: str) -> None:
    assert the_game(rules=rules).variant == variant


def test_a_game_from_another_position_and_one_without_moves() -> None:
    set_up = PGN.replace("[Link", '[SetUp "1"]\n[FEN "8/8/8/8/8/8/4K3/k7 w - - 0 1"]\n[Link')
    assert the_game(pgn=set_up).variant == "fromPosition"
    bare = the_game(pgn=None)
    assert (bare.text, bare.half_moves, bare.started_at) == (None, None, None)


def test_daily_games_have_their_start_and_a_number_of_their_own() -> None:
    game = the_game(url="https://www.chess.com/game/daily/12345678", start_time=1633000000, time_class="daily")
    assert (game.key, game.started_at) == ("chesscom:daily/12345678", "2021-09-30T11:06:40Z")
    assert the_game(url=None).key == "chesscom:0a1b2c3d-0000-11ec-8000-000000000001"


def test_the_tournament_is_that_of_the_pgn_or_of_the_address() -> None:
    address = "https://api.chess.com/pub/tournament/33rd-quick-knockouts-1401-1600"
    assert the_game(tournament=address).tournament == "chesscom:33rd-quick-knockouts-1401-1600"
    assert the_game(match="https://api.chess.com/pub/match/live/42").tournament == "chesscom:42"
    assert the_game(tournament=address, pgn=PGN.replace("Live Chess", "Cup")).tournament == "Cup"


def test_what_is_not_rated_and_what_has_no_rating() -> None:
    game = the_game(rated=False, white={**GAME["white"], "rating": 0})
    assert (game.rated, game.white_rating, game.black_rating) == (False, None, 1600)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"url": "https://example.org/1", "uuid": None}, "url must be the address of a game on chess.com"),
        ({"end_time": None}, "end_time is missing"),
        ({"end_time": -1}, "end_time must be seconds since 1970, got -1"),
        ({"end_time": "1633082900"}, "end_time must be a whole number, got '1633082900'"),
        ({"white": None}, "white is missing: a game needs an object there"),
        ({"white": {**GAME["white"], "username": "a b"}}, "white.username must be that of a member"),
        ({"white": {**GAME["white"], "username": "BOB"}}, "white and black are both 'BOB'"),
        ({"white": {**GAME["white"], "result": "adjourned"}}, "white.result 'adjourned' is not known"),
        ({"black": {**GAME["black"], "rating": 9000}}, "black.rating must be from 0 to 5000, got 9000"),
        ({"time_class": "hyper"}, "time_class 'hyper' is not known"),
        ({"rules": "we ird"}, "rules must be a word such as chess960"),
        ({"rated": "yes"}, "rated must be true or false, got 'yes'"),
        ({"pgn": PGN.replace("2. Nf3 {", "2. Nf3 {{").replace("}", "")}, "pgn cannot be read: "),
    ],
)
def test_what_is_wrong_with_a_game(fields: dict[str, Any], words: str) -> None:
    assert words in fault(**fields)


def test_a_key_that_a_game_gives_twice_is_a_fault_and_the_others_are_read() -> None:
    twice = archive(GAME, GAME).replace(b'"rated": true', b'"rated": true, "rated": false', 1)
    games, reading = read(twice)
    assert len(games) == 1
    assert [fault.message for fault in reading.faults] == ["the key is given twice: $.rated @ $.games[0]"]


@pytest.mark.parametrize("size", [1, 2, 3, 17, 1000, 10**6])
def test_the_pieces_in_which_a_document_comes_do_not_matter(size: int) -> None:
    document = json.dumps({"player": {"games": [{"a": "]}"}]}, "games": [GAME, GAME], "x": "{["}, indent=1).encode()
    games, reading = read(*(document[at : at + size] for at in range(0, len(document), size)))
    assert ([game.line for game in games], reading.faults) == ([10, 35], [])


def test_a_bare_list_and_documents_one_after_the_other_are_read() -> None:
    assert len(read(json.dumps([GAME, GAME]).encode())[0]) == 2
    assert len(read(archive() + b"\n" + archive(GAME, GAME))[0]) == 3
    assert read(b'{"games": []}') == ([], Reading("month.json"))


@pytest.mark.parametrize(
    ("document", "line", "words"),
    [
        (b'{"archives": ["https://api.chess.com/1"]}', 1, "no list of games in the whole file"),
        (b"", 1, "no list of games in the whole file"),
        (archive()[:-2], 1, "the document ends within a list or an object: it is cut off"),
        (b'\n{"games":[\n{"a":1]}', 3, "']' closes nothing that is open; the rest is not read"),
        (b"[" * 300, 1, "nested more than 250 deep"),
        (b'{"games":[{"a":"' + b"x" * (3 * 2**20), 1, "a game of more than 2097152 bytes"),
    ],
)
def test_a_document_that_is_broken_is_a_fault(document: bytes, line: int, words: str) -> None:
    _, reading = read(document)
    assert reading.faults[0].line == line
    assert words in reading.faults[0].message


def test_memory_is_that_of_a_game() -> None:
    splitter = json_input._Splitter()
    rest = b'{"x": [' + b'["y"],' * 100_000 + b'"z"], "games": ['
    for piece in (rest[at : at + 1000] for at in range(0, len(rest), 1000)):
        assert list(splitter.feed(piece)) == []
        assert len(splitter.rest) < 5_000
    assert len(list(splitter.feed(b'{"a": 1}, {"b": 2}]}'))) == 2


@pytest.mark.parametrize("indent", [None, 2])
def test_an_archive_is_known_by_its_first_bytes(indent: int | None) -> None:
    assert detect_format(json.dumps({"games": [GAME]}, indent=indent).encode()) == "chess-com"
    assert detect_format(json.dumps({"games": [GAME]}).replace("/", "\\/").encode()) == "chess-com"
    assert detect_format(json.dumps([GAME], indent=indent).encode()) == "chess-com"
    assert detect_format(PGN.encode()) == "pgn"


def test_an_archive_into_a_ledger_and_its_pgn_after_it(empty_club: Path, tmp_path: Path, run: Run) -> None:
    done = run("import", empty_club, written(tmp_path, "10.json", archive()))
    assert (done.code, "(chess-com): 1 game recorded" in done.err) == (0, True)
    done = run("import", empty_club, written(tmp_path, "10.pgn", PGN.encode()))
    assert (done.code, "0 games recorded, 1 known already" in done.err) == (0, True)


@pytest.mark.parametrize(
    ("control", "word", "own", "by_clock"),
    [
        ("1800", "rapid", "rapid", "classical"),
        ("500", "blitz", "blitz", "rapid"),
        ("180+2", "blitz", "blitz", "blitz"),
        ("1/86400", "daily", "correspondence", "correspondence"),
    ],
)
def test_speed_classes_are_its_own_or_those_of_its_pgn(control: str, word: str, own: str, by_clock: str) -> None:
    told = PGN.replace("180+2", control)
    content = archive(time_control=control, time_class=word, pgn=told)
    assert [game.speed for game in read(content)[0]] == [own]
    assert [game.speed for game in chess_com.read_games([content], Reading("a.json"), by_clock=True)] == [by_clock]
    assert [game.speed for game in pgn.read_games(told.encode().splitlines(keepends=True), Reading("a.pgn"))] == [
        by_clock
    ]


def test_one_archive_told_twice_is_one_pool_where_the_command_names_the_rule(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    told = PGN.replace("180+2", "1800")
    first = written(tmp_path, "a.json", archive(time_control="1800", time_class="rapid", pgn=told))
    second = written(tmp_path, "a.pgn", told.encode())
    assert "new pools: classical" in run("import", empty_club, first, "--pools", "by-speed", "--speeds", "lichess").err
    done = run("import", empty_club, second, "--pools", "by-speed")
    assert (done.code, "1 known already" in done.err) == (0, True)
