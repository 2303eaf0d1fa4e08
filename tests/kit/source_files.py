"""Games as files tell them, in each of the formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LICHESS_GAME: dict[str, Any] = {
    "id": "aaaaBBBB", "rated": True, "variant": "standard", "speed": "blitz", "perf": "blitz",
    "createdAt": 1633082400000, "lastMoveAt": 1633082440250, "status": "mate", "source": "pool",
    "players": {
        "white": {"user": {"name": "Ann", "id": "ann"}, "rating": 1663, "ratingDiff": 16},
        "black": {"user": {"name": "Bob_2", "id": "bob_2"}, "rating": 1787, "provisional": True},
    },
    "winner": "white", "moves": "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#", "clock": {"initial": 180, "increment": 2},
}  # fmt: skip


OUR_GAME: dict[str, Any] = {
    "key": "club:1",
    "white": {"id": "name:ann", "name": "Ann"},
    "black": {"id": "fide:1503014", "name": "Bob"},
    "outcome": "white",
    "termination": "resignation",
    "ended_at": "2013",
    "rated": True,
}


PGN = b"""[Event "Evening"]
[Site "Club"]
[Date "2021.03.01"]
[Round "1"]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0
"""
NDJSON = (
    b'{"id":"AbCdEf12","rated":true,"variant":"standard","speed":"blitz","createdAt":1633082400000,'
    b'"lastMoveAt":1633082900000,"status":"resign","players":{"white":{"user":{"name":"Ann","id":"ann"}},'
    b'"black":{"user":{"name":"Bob","id":"bob"}}},"winner":"white","moves":"e4 e5 Bc4 Nc6 Qh5 Nf6 d3 d6 Nc3 Nd4 h3"}\n'
)
JSONL = (
    b'{"key":"club:1","white":{"id":"fide:1","name":"Ann"},"black":{"id":"fide:2","name":"Bob"},"outcome":"white",'
    b'"termination":"resignation","half_moves":40,"ended_at":"2021-03-01","rated":true}\n'
)
CSV = b"key,white,black,result,half_moves,ended_at\n1,Ann,Bob,1-0,40,2021-03-01\n"
BAD_CSV = (
    CSV + b"2,Ann,Bob,1-0,40,2021-02-30\n3,Ann,Ann,0-1,40,2021-03-02\n4,Bob,Ann,1/2-1/2,40,2021-03-03\n"
    b"5,Ann,,1-0,9,2021\n"
)
MIXED = b"""key,white,black,result,half_moves,ended_at,time_control,variant
1,Ann,Bob,1-0,40,2021-03-01,60+0,standard
2,Ann,Bob,1-0,40,2021-03-02,180+2,standard
3,Ann,Bob,0-1,40,2021-03-03,180+2,crazyhouse
4,Ann,Bob,0-1,40,2021-03-04,,standard
"""


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path
