"""A game is found by its key, by the id that its server gave it, and by its web address."""

import json
from pathlib import Path

import pytest

from ledger.errors import UnknownNameError
from ledger.imports.reading import key_of_address
from ledger.journal.game_references import find_game
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.source_files import NDJSON, written
from tools.commands import REFUSED

KEYS = (
    "lichess:AbCdEf12", "chesscom:123456789", "chesscom:daily/77001122", "fics:4711", "club:4711", "r9", "r90", "z:a:b",
)  # fmt: skip


@pytest.fixture(name="club_of_many_sources")
def _club_of_many_sources(club_of_two: ClubOfTwo) -> Ledger:
    """Games of several servers, and two whose keys have no source."""
    club_of_two.ledger.append_many([game_recorded(key) for key in KEYS])
    return club_of_two.ledger


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        *((key, key) for key in KEYS),
        *((f"game:{key}", key) for key in KEYS),
        ("AbCdEf12", "lichess:AbCdEf12"),
        ("123456789", "chesscom:123456789"),
        ("daily/77001122", "chesscom:daily/77001122"),
        ("a:b", "z:a:b"),
        ("https://lichess.org/AbCdEf12", "lichess:AbCdEf12"),
        ("lichess.org/AbCdEf12#31", "lichess:AbCdEf12"),
        ("https://lichess.org/AbCdEf12/black?x=1", "lichess:AbCdEf12"),
        ("https://lichess.org/AbCdEf12wxyz", "lichess:AbCdEf12"),
        ("https://www.chess.com/game/live/123456789", "chesscom:123456789"),
        ("https://www.chess.com/live/game/123456789?username=ann", "chesscom:123456789"),
        ("https://www.chess.com/game/daily/77001122", "chesscom:daily/77001122"),
        ("https://www.ficsgames.org/cgi-bin/show.cgi?ID=4711;action=analyse", "fics:4711"),
    ],
)
def test_a_game_is_found(wanted: str, key: str, club_of_many_sources: Ledger) -> None:
    found, stored = find_game(club_of_many_sources.journal, wanted)
    assert found == key
    assert json.loads(stored.body)["key"] == f"game:{key}"


@pytest.mark.parametrize(
    "wanted", ["AbCdEf1", "abcdef12", "https://lichess.org/ZbCdEf12", "", ":", "b", "lichess", "\ud800"]
)
def test_what_is_no_game_is_said_to_be_none(wanted: str, club_of_many_sources: Ledger) -> None:
    with pytest.raises(UnknownNameError, match="the id that its server gave it, or its web address"):
        find_game(club_of_many_sources.journal, wanted)


def test_the_log_of_half_a_character_is_of_no_game(club_of_many_sources: Ledger) -> None:
    with pytest.raises(UnknownNameError, match="no game"):
        club_of_many_sources.log("lichess:\udcff")


def test_an_id_of_several_sources_lists_the_keys(club_of_many_sources: Ledger) -> None:
    with pytest.raises(UnknownNameError, match=r"several sources have one: \['club:4711', 'fics:4711'\]"):
        find_game(club_of_many_sources.journal, "4711")


def test_other_addresses_are_no_keys() -> None:
    for text in ("https://lichess.org/training/AbCdE", "https://example.org/AbCdEf12", "AbCdEf12", ""):
        assert key_of_address(text) is None


def test_the_commands_find_it_too(empty_club: Path, tmp_path: Path, run: Run) -> None:
    assert run("import", empty_club, written(tmp_path, "games.ndjson", NDJSON)).code == 0
    by_key = run("explain", empty_club, "ann", "lichess:AbCdEf12")
    assert by_key.code == 0
    for wanted in ("AbCdEf12", "https://lichess.org/AbCdEf12"):
        assert run("explain", empty_club, "ann", wanted) == by_key
        assert run("log", empty_club, "--game", wanted).out == run("log", empty_club, "--game", "lichess:AbCdEf12").out
    done = run("log", empty_club, "--game", "https://lichess.org/AbCdEf13")
    assert (done.code, "no game 'https://lichess.org/AbCdEf13'" in done.err) == (REFUSED, True)
