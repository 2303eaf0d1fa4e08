"""Files that importers read: games in each format, reports, lists of players, and files that flood an importer."""

import bz2
import csv
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ledger.facts.source_games import SourceGame, SourceRound, frame_schema
from ledger.imports.csv.games import read_frames
from ledger.imports.csv.rows import BATCH_CSV
from ledger.imports.files import open_source
from ledger.imports.reading import FileHints, Reading
from tools import cli

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


def game_line(game: SourceGame) -> bytes:
    """A game as one of our JSON lines."""
    plain = game._asdict()
    players = {c: {"id": plain.pop(f"{c}_id"), "name": plain.pop(f"{c}_name")} for c in ("white", "black")}
    fields = {name: value for name, value in plain.items() if name not in {"line", "is_made"} and value is not None}
    return orjson.dumps({**fields, **players}) + b"\n"


def round_line(round_: SourceRound) -> bytes:
    """A round without a game as one of our JSON lines."""
    plain = round_._asdict()
    player = {"id": plain.pop("player_id"), "name": plain.pop("player_name")}
    fields = {name: value for name, value in plain.items() if name != "line" and value is not None}
    return orjson.dumps({**fields, "player": player}) + b"\n"


def pieces(content: bytes, size: int) -> Iterator[bytes]:
    """The content in pieces of this size."""
    return (content[start : start + size] for start in range(0, len(content), size))


@contextmanager
def open_lines(path: str) -> Iterator[tuple[Iterator[bytes], Reading]]:
    """The lines of a file, and its account."""
    with open_source(path) as source:
        yield source.lines(), source.reading


SIZES = (1, 7, 64, 1000, BATCH_CSV)
BASE = {"white": "Ann", "black": "Bob", "result": "1-0", "date": "2013-06-04"}


def read_csv(
    content: str | bytes, size: int = BATCH_CSV, **options: Any
) -> tuple[list[dict[str, Any]], list[tuple[int, str]], Mapping[str, int]]:
    stored = content.encode() if isinstance(content, str) else content
    reading = Reading("games.csv")
    hints = FileHints(**{"equal_rows": True, **options})  # rows are looked at, and many are written alike
    got = list(read_frames(pieces(stored, size), reading, size, hints))
    for frame in got:
        assert dict(frame.schema) == frame_schema()
        assert frame.height
    return (
        [row for frame in got for row in frame.to_dicts()],
        [(f.line, f.message) for f in reading.faults],
        reading.skipped,
    )


def csv_text(*rows: Mapping[str, str], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def good_game(options: Mapping[str, Any] | None = None, /, **fields: str) -> dict[str, Any]:
    """The one good game of a file with these columns beside the four needed."""
    games, faults, skipped = read_csv(csv_text({**BASE, **fields}), **(options or {}))
    assert (faults, skipped, len(games)) == ([], {}, 1)
    return games[0]


def fault_of(**fields: str) -> str:
    """The one fault of such a file."""
    games, faults, _ = read_csv(csv_text(BASE, {**BASE}) if not fields else csv_text({**BASE, **fields}))
    assert games == []
    assert [line for line, _ in faults] == [2]
    return faults[0][1]


def imported_club(folder: Path, scheme: str, lines: Sequence[str]) -> Path:
    """A ledger in *folder*, rated by *scheme*, with the games of these lines: key, players, result, day, half-moves."""
    path, file = folder / "club.db", folder / "games.csv"
    file.write_text("\n".join(["key,white,black,result,ended_at,half_moves", *lines]) + "\n", encoding="utf-8")
    assert cli.main(["init", str(path), "--scheme", scheme]) == 0
    assert cli.main(["import", str(path), str(file)]) == 0
    return path


FOUR_COLUMNS = "white,black,result,date\n"


TRF_HEADER = "012 Club open\n022 Springfield\n042 2024/05/01\n052 2024/05/03\n"


def player(
    rank: int, name: str, *cells: str, rating: str = "", fide: str = "", points: str = "", federation: str = ""
) -> str:
    """A player's line; a cell is such as ``2 w 1`` or ``0000 - H``, an empty one an absence."""
    head = f"001 {rank:4} {'':4} {name:33} {rating:>4} {federation:3} {fide:>11} {'':10} {points:>4} {'':4}"
    rounds = "".join(f"  {cell.partition(' ')[0]:>4}{cell[len(cell.partition(' ')[0]) :]:4}" for cell in cells)
    return head + rounds.rstrip()


def report(players: Sequence[str], *records: str) -> str:
    """A report of these players' lines; further records stand below them."""
    return TRF_HEADER + "".join(f"{line}\n" for line in (*players, *records))


LIST_HEADER = f"{'ID Number':<15}{'Name':<61}Fed Sex Tit  WTit OTit           FOA "
COMBINED = f"{LIST_HEADER}SRtng SGm SK RRtng RGm Rk BRtng BGm BK B-day Flag"
OF_SEPTEMBER = f"{LIST_HEADER}SEP26 Gms K  B-day Flag"


class Listed(NamedTuple):
    """A row of a list: ratings and K are standard, rapid, blitz; 0 is none."""

    number: int
    name: str
    ratings: tuple[int, int, int]
    ks: tuple[int, int, int]
    born: int = 0
    flag: str = ""


MADE_UP = (
    Listed(900001, "Quill, Ada", (2344, 2310, 0), (20, 20, 0), 1990),
    Listed(900002, "Ng, Bo", (1402, 0, 1555), (40, 40, 40), 2012, "w"),
    Listed(900003, "Zabłocki-Núñez, Maximilian Alexander of the Long Names", (0, 0, 0), (0, 0, 0), 0, "i"),
)


def _start(row: Listed) -> str:
    return f"{row.number:<15}{row.name:<61}{'POL':<4}{'M':<4}{'':<5}{'':<5}{'':<15}{'':<4}"


def combined(rows: Sequence[Listed] = MADE_UP) -> str:
    """The text list with all three ratings; the games are those of the month."""
    lines = [COMBINED]
    for row in rows:
        cells = "".join(f"{r or '':<6}{7:<4}{k or '':<3}" for r, k in zip(row.ratings, row.ks, strict=True))
        lines.append(f"{_start(row)}{cells}{row.born or '0000':<6}{row.flag}")
    return "\n".join(lines) + "\n"


def of_september(rows: Sequence[Listed] = MADE_UP, kind: int = 0) -> str:
    """The text list of one kind."""
    lines = [
        f"{_start(row)}{row.ratings[kind] or '':<6}{7:<4}{row.ks[kind] or '':<3}{row.born or '':<6}{row.flag}"
        for row in rows
        if row.ratings[kind]
    ]
    return "\n".join([OF_SEPTEMBER, *lines]) + "\n"


def xml(rows: Sequence[Listed] = MADE_UP) -> str:
    """The XML list with all three ratings."""
    players = [
        f"<player>\n<fideid>{row.number}</fideid>\n<name>{row.name}</name>\n<country>POL</country>\n<sex>M</sex>\n"
        f"<rating>{row.ratings[0] or ''}</rating>\n<games>7</games>\n<k>{row.ks[0] or ''}</k>\n"
        f"<rapid_rating>{row.ratings[1] or ''}</rapid_rating>\n<rapid_games>7</rapid_games>\n"
        f"<rapid_k>{row.ks[1] or ''}</rapid_k>\n<blitz_rating>{row.ratings[2] or ''}</blitz_rating>\n"
        f"<blitz_games>7</blitz_games>\n<blitz_k>{row.ks[2] or ''}</blitz_k>\n<birthday>{row.born or ''}</birthday>\n"
        f"<flag>{row.flag}</flag>\n</player>\n"
        for row in rows
    ]
    return f'<?xml version="1.0"?>\n<playerslist>\n{"".join(players)}</playerslist>\n'


MIB = 2**20
TAGS = b'[Event "E"]\n[Date "2001.02.03"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'
CSV_HEADER = b"game_id,white,black,result,date,plies\n"


def zeros_bz2(mib: int) -> bytes:
    return bz2.compress(bytes(45 * MIB)) * (mib // 45)


def zstd_frame(blocks: int, window: int = 0x48) -> bytes:
    """A frame of *blocks* blocks of 128 KiB of zeros each, 4 bytes a block; *window* is the descriptor of RFC 8878."""
    head, one = b"\x28\xb5\x2f\xfd\x00" + bytes([window]), (2**17 << 3) | 2
    return head + (one.to_bytes(3, "little") + b"\0") * (blocks - 1) + (one | 1).to_bytes(3, "little") + b"\0"


def zeros_gzip(mib: int) -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    return b"".join([packer.compress(bytes(MIB)) for _ in range(mib)]) + packer.flush()


def lichess_line(n: int, variant: Any) -> bytes:
    return orjson.dumps({**LICHESS_GAME, "id": f"{n:08}", "variant": variant}) + b"\n"
