"""Lichess game objects, one a line, read into source games."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.source_games import SourceGame
from ledger.imports import lichess
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import Reading
from tests.kit.source_files import LICHESS_GAME


def read(*given_games: object) -> tuple[list[SourceGame], Reading]:
    reading = Reading("test")
    lines = [g if isinstance(g, bytes) else orjson.dumps(g) + b"\n" for g in given_games]
    return list(lichess.read_games(lines, reading)), reading


def changed(**fields: object) -> dict[str, Any]:
    return {name: value for name, value in {**LICHESS_GAME, **fields}.items() if value is not ...}


def test_a_game_gives_every_field() -> None:
    games, reading = read(LICHESS_GAME)
    assert reading.faults == []
    assert games == [
        SourceGame(
            line=1, key="lichess:aaaaBBBB", white_id="lichess:ann", white_name="Ann",
            black_id="lichess:bob_2", black_name="Bob_2",
            outcome="white", termination="checkmate", half_moves=7,
            started_at="2021-10-01T10:00:00Z", ended_at="2021-10-01T10:00:40.250Z",
            tournament=None, round=None, rated=True,
            white_rating=1663, black_rating=1787, speed="blitz", variant="standard",
            text="e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#",
        )
    ]  # fmt: skip


def test_the_pgn_of_the_same_game_agrees_but_for_the_finer_end() -> None:
    clocks = [18000, 18000, 17812, 18051, 17700, 16000, 17049]
    (ours,), _ = read(changed(clocks=clocks, tournament="abcd1234"))
    given_pgn = b"""[Event "Rated Blitz tournament https://lichess.org/tournament/abcd1234"]
[Site "https://lichess.org/aaaaBBBB"]
[White "Ann"]
[Black "Bob_2"]
[Result "1-0"]
[UTCDate "2021.10.01"]
[UTCTime "10:00:00"]
[WhiteElo "1663"]
[BlackElo "1787"]
[Variant "Standard"]
[TimeControl "180+2"]
[Termination "Normal"]

1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Qh5 { [%clk 0:02:58] } 2... Nc6 { [%clk 0:03:01] } \
3. Bc4 { [%clk 0:02:57] } 3... Nf6 { [%clk 0:02:40] } 4. Qxf7# { [%clk 0:02:50] } 1-0
"""
    (theirs,) = pgn.read_games(given_pgn.splitlines(keepends=True), Reading("test"))
    assert ours._replace(ended_at="") == theirs._replace(ended_at="")


@pytest.mark.parametrize(
    ("status", "winner", "outcome", "termination"),
    [
        ("mate", "black", "black", "checkmate"),
        ("resign", "white", "white", "resignation"),
        ("stalemate", ..., "draw", "stalemate"),
        ("timeout", "white", "white", "abandonment"),
        ("draw", ..., "draw", "unknown"),
        ("outoftime", "black", "black", "time"),
        ("outoftime", ..., "draw", "time"),
        ("cheat", "white", "white", "rules-infraction"),
        ("noStart", "white", "white", "unplayed"),
        ("unknownFinish", ..., "draw", "unknown"),
        ("insufficientMaterialClaim", ..., "draw", "insufficient-material"),
        ("variantEnd", "white", "white", "unknown"),
    ],
)
def test_each_status_says_how_it_ended(status: str, winner: object, outcome: str, termination: str) -> None:
    (game,), _ = read(changed(status=status, winner=winner))
    assert (game.outcome, game.termination) == (outcome, termination)


@pytest.mark.parametrize("status", ["created", "started", "aborted"])
def test_unfinished_games_are_counted_not_taken(status: str) -> None:
    games, reading = read(changed(status=status, winner=...))
    assert (games, reading.faults, reading.skipped) == ([], [], {"unfinished": 1})


def test_the_machine_is_a_player_and_the_anonymous_are_counted() -> None:
    machine = {"white": {"aiLevel": 3}, "black": LICHESS_GAME["players"]["black"]}
    nobody = {"white": {}, "black": LICHESS_GAME["players"]["black"]}
    games, reading = read(changed(players=machine), changed(players=nobody))
    assert [(g.white_id, g.white_name) for g in games] == [("lichess:ai-level-3", "lichess AI level 3")]
    assert (reading.faults, reading.skipped) == ([], {"anonymous": 1})


def test_moves_left_out_are_unknown_and_no_moves_are_none() -> None:
    (absent, none), _ = read(changed(moves=...), changed(moves="", status="noStart"))
    assert (absent.half_moves, absent.text) == (None, None)
    assert (none.half_moves, none.text) == (0, None)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b"{broken\n", "not JSON"),
        (b"[]\n", "expected a game object"),
        (changed(id=...), "id is missing"),
        (changed(id="x"), "id must begin"),
        (changed(status="odd"), "'odd' is not known"),
        (changed(status=5), "status must be text"),
        (changed(winner="red"), "winner must be"),
        (changed(winner=...), "winner is missing"),
        (changed(createdAt=...), "createdAt is missing"),
        (changed(createdAt=-1), "createdAt must be"),
        (changed(createdAt=10**18), "createdAt must be"),
        (changed(players={}), "white is missing"),
        (changed(rated="yes"), "rated must be true or false"),
        (changed(moves="e4 " * 20_001), "20001 half-moves"),
        (changed(players={**LICHESS_GAME["players"], "white": {"user": {"id": "no such"}}}), "players.white.user"),
        (changed(players={**LICHESS_GAME["players"], "black": {"user": {"id": "x"}, "rating": 9999}}), "0 to 5000"),
    ],
)
def test_a_fault_names_its_line_and_what_is_wrong(line: object, part: str) -> None:
    games, reading = read(LICHESS_GAME, b"\n", line, LICHESS_GAME)
    assert len(games) == 2
    assert [fault.line for fault in reading.faults] == [3]
    assert part in reading.faults[0].message


NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False)
LEAF = st.none() | st.booleans() | NUMBERS | st.text("aZ9 _é\u0301\n", max_size=9)
NAMES = st.sampled_from(["white", "black", "user", "id", "name", "aiLevel", "rating"])
INNER = LEAF | st.lists(LEAF, max_size=3) | st.dictionaries(NAMES, LEAF, max_size=2)
JSON = INNER | st.dictionaries(NAMES, INNER, max_size=3)


@given(st.dictionaries(st.sampled_from([*LICHESS_GAME, "clocks", "tournament"]), JSON, max_size=5))
def test_no_object_raises(fields: dict[str, Any]) -> None:
    games, reading = read({**LICHESS_GAME, **fields})
    assert len(games) + len(reading.faults) + reading.skipped.total() == 1


@given(st.binary(max_size=500))
def test_no_bytes_raise(data: bytes) -> None:
    list(lichess.read_games(data.splitlines(keepends=True), Reading("test")))
