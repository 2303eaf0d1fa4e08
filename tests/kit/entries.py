"""Bodies of entries, written here by hand, and those that are refused, each with its one fault."""

import hashlib
import json
from typing import Any

import pytest

from ledger.errors import MalformedError
from ledger.facts.codec import decode
from ledger.facts.events import GameRecorded
from tests.kit.games import game_recorded

RECORDED_AT = "2026-11-21T03:15:13.123Z"
GAME: dict[str, Any] = {
    "black": 2,
    "ended_at": "2013-06-04",
    "outcome": "white",
    "pool": "standard",
    "rated": True,
    "termination": "resignation",
    "white": 1,
}
ENTRY: dict[str, Any] = {
    "actor": "ledger",
    "facts": GAME,
    "key": "game:r1-b1",
    "kind": "game-recorded/1",
    "position": 1,
    "recorded_at": RECORDED_AT,
}
ADOPTED: dict[str, Any] = {"pool": "standard", "scheme": "chessworld", "settings": {}}
FIRST_RANGE = {"factor": "0.6", "offset": "800"}
LATER_RANGE = {"factor": "1", "from_rating": "2000", "offset": "0"}
CAFE_KOEK = hashlib.sha256("Café Kök".encode()).hexdigest()[:32]


def body(**changes: Any) -> bytes:
    """The bytes of ``ENTRY`` with these fields instead; ``...`` leaves one out."""
    entry = {name: value for name, value in {**ENTRY, **changes}.items() if value is not ...}
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def game_body(**changes: Any) -> bytes:
    """The bytes of ``ENTRY`` with these facts instead; ``...`` leaves one out."""
    return body(facts={name: value for name, value in {**GAME, **changes}.items() if value is not ...})


def adoption_body(given_settings: object) -> bytes:
    return body(kind="scheme-adopted/2", key="scheme:standard@start", facts={**ADOPTED, "settings": given_settings})


def change_body(**changes: object) -> bytes:
    """A scheme adopted from 2020 on, with these facts instead; ``...`` leaves one out."""
    facts_given = {**ADOPTED, "effective_from": "2020", **changes}
    given = {name: value for name, value in facts_given.items() if value is not ...}
    return body(kind="scheme-adopted/2", key="scheme:standard@2020", facts=given)


def conversion_body(*ranges: object) -> bytes:
    return change_body(carry="convert", conversion=list(ranges))


def run_body(**changes: object) -> bytes:
    """A closed rating run with these facts instead; ``...`` leaves one out."""
    facts_given = {"as_of": "2024-02-29", "pool": "standard", **changes}
    given = {name: value for name, value in facts_given.items() if value is not ...}
    return body(kind="rating-run-closed/1", key="run:standard@2024-02-29", facts=given)


def clock_body(**changes: object) -> bytes:
    """An accepted clock with these facts instead; ``...`` leaves one out."""
    given = {name: value for name, value in {"entry": 13, **changes}.items() if value is not ...}
    return body(kind="clock-accepted/1", key="clock:13", facts=given)


def tournament_body(**changes: object) -> bytes:
    """A closed tournament with these facts instead; ``...`` leaves one out."""
    facts_given = {"ended_at": "1999-06-30", "pool": "standard", "tournament": "Café Kök", **changes}
    given = {name: value for name, value in facts_given.items() if value is not ...}
    return body(kind="tournament-closed/1", key=f"tournament:standard:{CAFE_KOEK}@1999-06-30", facts=given)


REFUSED: dict[str, tuple[bytes, str]] = {
    "text for a whole number": (game_body(white="5"), "expected int, got '5' @ $.facts.white"),
    "a float": (game_body(white=5.9), "expected int, got 5.9 @ $.facts.white"),
    "a float without fraction": (game_body(white=5.0), "expected int, got 5.0 @ $.facts.white"),
    "true for a whole number": (game_body(white=True), "expected int, got True @ $.facts.white"),
    "1 for true": (game_body(rated=1), "expected bool, got 1 @ $.facts.rated"),
    "text for true": (game_body(rated="false"), "expected bool, got 'false' @ $.facts.rated"),
    "NaN": (game_body(white=float("nan")), "not JSON: "),
    "null": (game_body(pool=None), "expected str, got None @ $.facts.pool"),
    "null for an absent field": (
        game_body(half_moves=None),
        "null is not written: leave the field out @ $.facts.half_moves",
    ),
    "a list for text": (game_body(pool=["a"]), "expected str, got ['a'] @ $.facts.pool"),
    "a zone that is not UTC": (
        game_body(ended_at="2013-06-04T19:30:00+02:00"), "in UTC, got '2013-06-04T19:30:00+02:00'",
    ),
    "an instant without a zone": (game_body(ended_at="2013-06-04T19:30:00"), "in UTC, got '2013-06-04T19:30:00'"),
    "a day that does not exist": (game_body(ended_at="2013-02-29"), "no such day or time: '2013-02-29'"),
    "an unknown word": (game_body(outcome="1-0"), "expected one of ['white', 'draw', 'black', 'none'], got '1-0'"),
    "a list for a word": (game_body(outcome=["white"]), "expected one of ['white', 'draw', 'black', 'none']"),
    "an unknown field": (game_body(colour="w"), "@ $.facts.colour"),
    "a missing field": (game_body(pool=...), "required field missing @ $.facts.pool"),
    "too large a number": (
        game_body(half_moves=20_001), "half_moves must be a whole number from 0 to 20000, got 20001",
    ),
    "a number beyond 2^63": (game_body(white=2**64), "@ $.facts.white"),
    "decomposed letters": (game_body(round="e\u0301"), "NFC text without controls or outer blanks, got 'e\u0301'"),
    "a control character": (game_body(round="1\x07"), "NFC text without controls or outer blanks, got '1\\x07'"),
    "an outer blank": (game_body(round=" 1"), "@ $.facts.round"),
    "a lone surrogate": (game_body(round="@").replace(b'"@"', b'"\\ud800"'), "not JSON: "),
    "bytes that are not UTF-8": (game_body(round="@").replace(b'"@"', b'"\xff"'), "not JSON: "),
    "a decimal in settings": (adoption_body({"k": 0.5}), "decimals as text at 'k', got 0.5 @ $.facts.settings"),
    "a null in settings": (adoption_body({"k": None}), "decimals as text at 'k', got None @ $.facts.settings"),
    "words in settings": (adoption_body({"k": "many"}), "decimals as text at 'k', got 'many' @ $.facts.settings"),
    "a whole number from 2^53": (adoption_body({"k": 2**53}), f"at 'k', got {2**53} @ $.facts.settings"),
    "a bad name in settings": (adoption_body({"a b": 1}), "got 'a b' @ $.facts.settings"),
    "settings that are a list": (adoption_body([1]), "a mapping of names to values, got [1] @ $.facts.settings"),
    "an unknown way to carry": (
        change_body(carry="Keep"), "expected one of ['keep', 'restart', 'convert'], got 'Keep' @ $.facts.carry",
    ),
    "null for a way to carry": (change_body(carry=None), "null is not written: leave the field out @ $.facts.carry"),
    "a conversion that is no list": (
        change_body(conversion=FIRST_RANGE), "expected a list of objects, got {'factor': '0.6', 'offset': '800'}",
    ),
    "text for a conversion": (
        change_body(conversion="1:0"), "expected a list of objects, got '1:0' @ $.facts.conversion",
    ),
    "null for a conversion": (
        change_body(conversion=None), "null is not written: leave the field out @ $.facts.conversion",
    ),
    "a conversion without a range": (conversion_body(), "at least one ConversionRange, got () @ $.facts.conversion"),
    "a range that is no object": (
        conversion_body(FIRST_RANGE, "1:0"),
        "[1]: expected an object of factor, offset and perhaps from_rating, got '1:0' @ $.facts.conversion",
    ),
    "a range without a factor": (
        conversion_body({"offset": "800"}),
        "[0]: expected an object of factor, offset and perhaps from_rating, got {'offset': '800'} "
        "@ $.facts.conversion",
    ),
    "a range without an offset": (
        conversion_body(FIRST_RANGE, {"factor": "1", "from_rating": "2000"}),
        "[1]: expected an object of factor, offset and perhaps from_rating, got {'factor': '1', 'from_rating': '2000'}",
    ),
    "a range with an unknown field": (
        conversion_body({**FIRST_RANGE, "to_rating": "2000"}), "[0]: expected an object of factor, offset and perhaps",
    ),
    "a number for a factor": (
        conversion_body({**FIRST_RANGE, "factor": 0.6}), "[0]: factor must be text matching -?",
    ),
    "words for an offset": (
        conversion_body(FIRST_RANGE, {**LATER_RANGE, "offset": "much"}), "[1]: offset must be text matching -?",
    ),
    "an exponent in a range": (
        conversion_body(FIRST_RANGE, {**LATER_RANGE, "from_rating": "2e3"}),
        "[1]: from_rating must be text matching -?",
    ),
    "null for an absent beginning of a range": (
        conversion_body({**FIRST_RANGE, "from_rating": None}),
        "[0]: null is not written: leave from_rating out @ $.facts.conversion",
    ),
    "ranges out of order": (
        conversion_body(FIRST_RANGE, LATER_RANGE, {**LATER_RANGE, "from_rating": "1999.5"}),
        "conversion must be ranges in ascending order of from_rating, which only the first leaves out, "
        "got [None, '2000', '1999.5'] @ $.facts.conversion",
    ),
    "two ranges of one beginning": (
        conversion_body(FIRST_RANGE, LATER_RANGE, {**LATER_RANGE, "from_rating": "2000.0"}),
        "got [None, '2000', '2000.0'] @ $.facts.conversion",
    ),
    "a first range that begins somewhere": (
        conversion_body(LATER_RANGE), "which only the first leaves out, got ['2000'] @ $.facts.conversion",
    ),
    "a later range without a beginning": (
        conversion_body(FIRST_RANGE, FIRST_RANGE),
        "which only the first leaves out, got [None, None] @ $.facts.conversion",
    ),
    "a repeated field of a range": (
        conversion_body(FIRST_RANGE).replace(b'{"factor"', b'{"factor":"1","factor"'), "not canonical",
    ),
    "another order in a range": (
        conversion_body(FIRST_RANGE).replace(b'"factor":"0.6","offset":"800"', b'"offset":"800","factor":"0.6"'),
        "not canonical",
    ),
    "a clock without its entry": (clock_body(entry=...), "required field missing @ $.facts.entry"),
    "a clock of entry 0": (clock_body(entry=0), "entry must be a whole number from 1 to"),
    "a clock of an entry in text": (clock_body(entry="13"), "expected int, got '13' @ $.facts.entry"),
    "a clock with a time": (clock_body(now="2024"), "@ $.facts.now"),
    "a clock of another entry": (clock_body(entry=12), "expected 'clock:12', got 'clock:13' @ $.key"),
    "a run without its day": (run_body(as_of=...), "required field missing @ $.facts.as_of"),
    "a run of a day that does not exist": (
        run_body(as_of="2023-02-29"),
        "no such day or time: '2023-02-29'; correct it, or leave out what is not known @ $.facts.as_of",
    ),
    "a run of no pool": (run_body(pool="a b"), "pool must be text matching"),
    "a run with a scheme": (run_body(scheme="fide"), "@ $.facts.scheme"),
    "a run of another day": (
        run_body(as_of="2024-03"), "expected 'run:standard@2024-03', got 'run:standard@2024-02-29' @ $.key",
    ),
    "a tournament without a name": (tournament_body(tournament=...), "required field missing @ $.facts.tournament"),
    "a tournament named by a blank": (
        tournament_body(tournament=" "), "tournament must be 1 to 128 characters of NFC text",
    ),
    "a tournament in decomposed letters": (tournament_body(tournament="Cafe\u0301"), "@ $.facts.tournament"),
    "a tournament without its end": (tournament_body(ended_at=...), "required field missing @ $.facts.ended_at"),
    "a tournament that ended with a zone": (
        tournament_body(ended_at="1999-06-30T10:00:00+02:00"), "in UTC, got '1999-06-30T10:00:00+02:00'",
    ),
    "a tournament under another key": (
        tournament_body(tournament="Kök"), f"got 'tournament:standard:{CAFE_KOEK}@1999-06-30' @ $.key",
    ),
    "facts that are a list": (body(facts=[1]), "expected an object, got [1] @ $.facts"),
    "an unknown kind": (body(kind="nope/1"), "unknown kind 'nope/1', expected one of ["),
    "a kind that is no text": (body(kind=["game-recorded/1"]), "unknown kind ['game-recorded/1'], expected one"),
    "a key of another fact": (body(key="player:r1-b1"), "expected 'game:r1-b1', got 'player:r1-b1' @ $.key"),
    "a key that is no text": (body(key=7), "expected text, got 7 @ $.key"),
    "the key field among the facts": (game_body(game="r1-b1"), "leave it out @ $.facts.game"),
    "an actor that is no text": (body(actor=7), "got 7 @ $.actor"),
    "an empty actor": (body(actor=""), "got '' @ $.actor"),
    "an actor in decomposed letters": (body(actor="Zoe\u0308"), "@ $.actor"),
    "position 0": (body(position=0), "expected a position from 1, got 0 @ $.position"),
    "position true": (body(position=True), "expected a position from 1, got True @ $.position"),
    "position 2^53": (body(position=2**53), "@ $.position"),
    "a time of recording without milliseconds": (
        body(recorded_at="2026-11-21T03:15:13Z"),
        "expected an instant to the millisecond, got '2026-11-21T03:15:13Z' @ $.recorded_at",
    ),
    "a time of recording that does not exist": (body(recorded_at="2026-11-31T03:15:13.000Z"), "@ $.recorded_at"),
    "a missing part": (body(actor=...), "required field missing @ $.actor"),
    "an unknown part": (body(extra=1), "@ $.extra"),
    "a list": (b"[]", "expected an object, got [] @ $"),
    "nothing": (b"", "not JSON: "),
    "something behind it": (body() + b"{}", "not JSON: "),
    "a blank behind it": (body() + b"\n", "not canonical"),
    "blanks inside": (body().replace(b",", b", ", 1), "not canonical"),
    "another order": (json.dumps(ENTRY, separators=(",", ":")).encode().replace(b'"actor":"ledger",', b"", 1)[:-1]
                      + b',"actor":"ledger"}', "not canonical"),
    "an escape too many": (body().replace(b"standard", b"st\\u0061ndard"), "not canonical"),
    "a repeated part": (body().replace(b'{"actor"', b'{"actor":"mallory","actor"'), "not canonical"),
    "a repeated field": (body().replace(b'"outcome"', b'"outcome":"black","outcome"'), "not canonical"),
    "a repeated setting": (adoption_body({"k": 1}).replace(b'"k":1', b'"k":2,"k":1'), "not canonical"),
    "minus zero": (game_body(half_moves=0).replace(b'"half_moves":0', b'"half_moves":-0'), "not canonical"),
    "more than 65,535 bytes": (adoption_body({f"k{i}": i for i in range(10_000)}), "a body has at most 65535 bytes"),
}  # fmt: skip


def problems_of(refused: bytes) -> tuple[str, ...]:
    with pytest.raises(MalformedError) as caught:
        decode(refused)
    return caught.value.problems


def a_game(**changes: Any) -> GameRecorded:
    """The game of ``ENTRY`` with these facts instead."""
    return game_recorded("r1-b1", **{"ended_at": "2013-06-04", **changes})
