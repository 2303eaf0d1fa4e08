"""The command ``record``: one game in words, told once, told twice, mistyped."""

import json
from pathlib import Path

import pytest

from ledger.imports.reading import MAX_TEXT
from tests.kit.clubs import copied
from tests.kit.commands import Run
from tools import cli

ANN_BOB = ("--white", "Ann", "--black", "Bob", "--ended", "2024-05-03")


@pytest.fixture(scope="module")
def club_by_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that knows Ann and Bob, who have not played."""

    path = tmp_path_factory.mktemp("hand") / "club.db"
    for words in (["init", path], ["player", "add", path, "fide:7", "Ann"], ["player", "add", path, "name:bob", "Bob"]):
        assert cli.main([str(word) for word in words]) == 0
    return path


@pytest.fixture
def by_hand(club_by_hand: Path, tmp_path: Path) -> Path:

    return copied(club_by_hand.parent, tmp_path)


def recorded(run: Run, path: Path, *words: str) -> dict[str, object]:
    done = run("record", path, *words)
    assert done.code == 0, done.err
    answer: dict[str, object] = json.loads(done.out)
    return answer


def test_a_game_is_recorded_rated_and_shown(run: Run, by_hand: Path) -> None:
    answer = recorded(run, by_hand, *ANN_BOB, "--result", "1-0", "--half-moves", "61", "--round", "3")
    assert answer["status"] == "recorded"
    assert (answer["white"], answer["black"], answer["result"]) == ("Ann", "Bob", "1-0")
    assert [answer[name] for name in ("white_before", "white_after", "black_before", "black_after")] == [
        None,
        1800.0,
        None,
        1000.0,
    ]
    assert str(answer["game"]).startswith("hand:")
    assert answer["reason"] is None
    after = recorded(run, by_hand, "--white", "2", "--black", "fide:7", "--ended", "2024-05-04", "--result", "½-½")
    assert (after["white_before"], after["black_before"]) == (1000.0, 1800.0)
    assert "TRUE" in run("audit", by_hand).out


def test_the_same_twice_is_known_already_and_more_is_added(run: Run, by_hand: Path) -> None:
    first = recorded(run, by_hand, *ANN_BOB, "--result", "1-0")
    again = run("record", by_hand, *ANN_BOB, "--result", "1:0")
    assert again.code == 0
    assert json.loads(again.out) == {**first, "status": "known already"}
    assert "needs a --key and --record-alike" in again.err
    more = recorded(run, by_hand, *ANN_BOB, "--result", "1-0", "--tournament", "Cup", "--half-moves", "40")
    assert more["status"] == "known already, and more is known now"
    assert (more["game"], more["tournament"], more["half_moves"]) == (first["game"], "Cup", 40)
    words = (*ANN_BOB, "--result", "1-0", "--key", "cup:r1-b1")
    assert "this is probably 'hand:" in run("record", by_hand, *words).err
    other = recorded(run, by_hand, *words, "--record-alike")
    assert (other["status"], other["game"]) == ("recorded", "cup:r1-b1")


def test_another_result_is_refused_and_the_field_named(run: Run, by_hand: Path) -> None:
    recorded(run, by_hand, *ANN_BOB, "--result", "1-0")
    done = run("record", by_hand, *ANN_BOB, "--result", "0-1")
    assert done.code == 1
    assert "exists-with-different-outcome" in done.err


@pytest.mark.parametrize("word", ["time", "abandoned", "resignation", "adjudication"])
def test_a_forfeit_ends_in_no_way_of_the_board(run: Run, by_hand: Path, word: str) -> None:
    done = run("record", by_hand, *ANN_BOB, "--result", "1-0F", "--termination", word)
    assert (done.code, "a forfeit, --result '1-0F', was never played; correct one" in done.err) == (1, True)
    answer = recorded(run, by_hand, *ANN_BOB, "--result", "1-0F", "--termination", "unknown")
    assert (answer["termination"], answer["reason"], answer["white_after"]) == ("unplayed", "unplayed", None)


def test_the_key_is_of_what_every_telling_has(run: Run, by_hand: Path) -> None:
    keys = {
        recorded(run, by_hand, *ANN_BOB[:4], "--result", "1-0", *words)["game"]
        for words in (
            ["--ended", "2024-05-03"],
            ["--ended", "2024-05-03T19:30:00Z"],
            ["--ended", "2024.05.03", "--round", "2"],
        )
    }
    assert len(keys) == 1


def test_a_table_told_later_finds_the_game(run: Run, by_hand: Path, tmp_path: Path) -> None:
    recorded(run, by_hand, *ANN_BOB, "--result", "1-0", "--half-moves", "61")
    (tmp_path / "may.csv").write_text("white_id,white,black,result,ended_at\nfide:7,Ann,Bob,1-0,2024-05-03\n")
    done = run("import", by_hand, tmp_path / "may.csv")
    assert "0 games recorded, 1 known already" in done.err


def test_a_new_name_is_refused_unless_it_is_meant(run: Run, by_hand: Path) -> None:
    words = ("--white", "Anm", "--black", "Zoe", "--result", "1-0", "--ended", "2024-05-03")
    before = run("head", by_hand).out
    done = run("record", by_hand, *words)
    assert done.code == 1
    assert "no player 'Anm'" in done.err
    assert "no player 'Zoe'" in done.err
    assert "--new registers somebody" in done.err
    assert run("head", by_hand).out == before
    done = run("record", by_hand, *words, "--new")
    assert (done.code, "2 new players" in done.err) == (0, True)


def test_moves_are_played_through_and_tell_mate(run: Run, by_hand: Path, tmp_path: Path) -> None:
    (tmp_path / "game.txt").write_text("1. e4 e5 2. Bc4 Nc6 3. Qh5 {oh} Nf6 4. Qxf7# 1-0")
    answer = recorded(run, by_hand, *ANN_BOB, "--result", "1-0", "--moves", f"@{tmp_path / 'game.txt'}")
    assert (answer["half_moves"], answer["termination"], answer["reason"]) == (7, "checkmate", None)
    assert "Q" in run("board", by_hand, str(answer["game"]), "--format", "fen").out
    done = run("record", by_hand, *ANN_BOB, "--result", "0-1", "--moves", "1. e4 e5 2. Ke3")
    assert "--moves: move 2. 'Ke3' (half-move 3) cannot be played" in done.err


def test_every_mistake_is_told_at_once_and_nothing_recorded(run: Run, by_hand: Path) -> None:
    before = run("head", by_hand).out
    done = run(
        "record",
        by_hand,
        "--white",
        "Ann",
        "--black",
        "1",
        "--result",
        "2-0",
        "--ended",
        "2024-13-01",
        "--half-moves",
        "many",
        "--key",
        "a b",
        "--termination",
        "sleep",
    )
    assert done.code == 1
    for option in ("--result '2-0'", "--ended '2024-13-01'", "--half-moves", "--key", "--termination", "--white and"):
        assert option in done.err
    assert run("head", by_hand).out == before
    assert run("record", by_hand, *ANN_BOB, "--result", "1-0", "--pool", "blitz").code == 2


MATE = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--result", "*"), "--result '*': a game is recorded when it has a result"),
        (
            ("--result", "0-1", "--moves", MATE),
            "--result: the last move Qxf7# is mate by white; correct one of the two",
        ),
        (
            ("--result", "1-0", "--moves", MATE, "--half-moves", "9"),
            "--half-moves 9: the moves are 7 half-moves; leave one of them out",
        ),
        (("--result", "1-0", "--moves", "{to be typed} 1-0"), "--moves: there is no move in it; leave it out"),
        (
            ("--result", "1-0", "--moves", "1. e4 {" + "x" * MAX_TEXT + "}"),
            f"--moves: {MAX_TEXT + 8:,} characters, more than the {MAX_TEXT:,} of any game",
        ),
        (
            ("--result", "1-0", "--termination", "unterminated"),
            "--termination unterminated: a game is recorded when it is over",
        ),
    ],
    ids=lambda each: each[:24] if isinstance(each, str) else "",
)
def test_what_contradicts_itself_is_told_and_nothing_recorded(
    run: Run, by_hand: Path, words: tuple[str, ...], told: str
) -> None:
    before = run("head", by_hand).out
    done = run("record", by_hand, *ANN_BOB, *words)
    assert (done.code, told in done.err) == (1, True), done.err
    assert run("head", by_hand).out == before


def test_an_unrated_game_says_why_it_does_not_count(run: Run, by_hand: Path) -> None:
    answer = recorded(run, by_hand, *ANN_BOB, "--result", "1-0", "--unrated")
    assert (answer["reason"], answer["white_after"]) == ("casual", None)


def test_a_day_that_may_be_two_is_asked_for_and_can_be_said(run: Run, by_hand: Path) -> None:
    words = ("--white", "Ann", "--black", "Bob", "--result", "1-0", "--ended", "04/05/2024")
    assert "or say by --dates dmy or --dates mdy" in run("record", by_hand, *words).err
    assert recorded(run, by_hand, *words, "--dates", "dmy")["ended_at"] == "2024-05-04"


@pytest.mark.parametrize(
    "words",
    [
        ("record", "--white", "ann", "--black", "bob", "--result", "1-0", "--ended", "2026-01-02"),
        ("close-run", "--as-of", "2006-08"),
        ("ratings",),
        ("export", "games"),
        ("player", "add", "name:new", "New"),
    ],
    ids=lambda words: words[0],
)
def test_an_empty_name_of_a_pool_is_wrong_usage(words: tuple[str, ...], sample_club: Path, run: Run) -> None:
    command = words[:2] if words[0] == "player" else words[:1]
    before = sample_club.read_bytes()
    refused = run(*command, sample_club, *words[len(command) :], "--pool", "")
    assert (refused.code, "--pool is empty: give a value" in refused.err) == (2, True), refused.err
    assert sample_club.read_bytes() == before
