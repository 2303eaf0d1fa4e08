"""Bytes to give an importer: small whole files, words that matter to a format, and files spoiled as Hypothesis draws.

What is demanded of the importers is in ``demands``.
"""

import bz2
import gzip
from collections.abc import Iterator, Mapping, Sequence
from random import Random

import zstandard
from hypothesis import strategies as st

from tests.kit.places import SAMPLE

_GAME = (
    b'{"id":"AbCdEf12","rated":true,"variant":"standard","speed":"blitz","createdAt":1633082400000,'
    b'"lastMoveAt":1633082900000,"status":"mate","players":{"white":{"user":{"name":"Ann","id":"ann"},'
    b'"rating":1500},"black":{"user":{"name":"Bob-2","id":"bob-2"},"rating":1600}},"winner":"white",'
    b'"moves":"e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#","clocks":[18003,18003,17803],"tournament":"XyZ12345"}\n'
)
_CHESS_COM = (
    rb'{"games":[{"url":"https://www.chess.com/game/live/12345678","pgn":"[Event \"Live Chess\"]\n'
    rb"[Site \"Chess.com\"]\n[Date \"2021.10.01\"]\n[White \"Ann\"]\n[Black \"Bob\"]\n[Result \"1-0\"]\n\n"
    rb'1. e4 {[%clk 0:02:59]} e5 1-0\n",'
    b'"time_control":"180","end_time":1633082900,"rated":true,"uuid":"0a1b2c3d-0000-11ec-8000-000000000001",'
    b'"time_class":"blitz","rules":"chess","white":{"rating":1500,"result":"win","username":"Ann"},'
    b'"black":{"rating":1600,"result":"resigned","username":"Bob"}},\n'
    b'{"url":"https://www.chess.com/game/daily/900000001","end_time":1633082901,"start_time":1633000000,"rated":false,'
    b'"time_class":"daily","rules":"chess960","white":{"rating":1500,"result":"agreed","username":"Ann"},'
    b'"black":{"rating":1600,"result":"agreed","username":"Cleo"}}]}\n'
)
_OWN = (
    b'{"key": "club:r1-b1", "white": {"id": "fide:1503014", "name": "Carlsen, Magnus"}, "black": {"id": "name:ann", '
    b'"name": "Ann"}, "outcome": "white", "termination": "checkmate", "half_moves": 7, "started_at": "2024-05-01", '
    b'"ended_at": "2024-05-01T19:30:00Z", "tournament": "Open", "round": "1", "rated": true, "white_rating": 2800, '
    b'"speed": "rapid", "variant": "crazyhouse", "text": "e4 e5"}\n'
)
_CSV = (
    b"game_id;white;black;result;date;termination;plies;white_elo;time_control;variant;rated;event;round\n"
    b"1;Ann;Bob;1-0;2013-06-04T19:30:00Z;Normal;31;1500;600+5;Standard;1;Open;3\n"
    b'2;"Brown; Cleo";Bob;1/2-1/2;2013-06;time forfeit;;?;-;Chess960;0;;?\n',
    b'white_fide_id,black_id,white_name,result,utc_date_time,ended_by_checkmate\r\n1503014,x:ann,"A ""B"" C",0-1,'
    b"2013.06.04 10:00:00,1\r\n1503014,ann,\xe9\xe8,+/-,2013.??.??,0\r\n",
)
_TRF_LINES = (
    b"001    1 m GM Carlsen, Magnus                   2881 NOR     1503014 1990/11/30  3.5    1     2 w 1     3 b =\n"
    b"001    2 w    Ann                                                                1.0          1 b 0  0000 - +\n"
)
_TRF = (
    b"012 Club open\n042 2024/05/01\n052 2024/05/03\n092 Individual: Swiss-System\n122 90'\n222 5400+30\n"
    + b"132"
    + b" " * 88
    + b"24/05/01  24/05/02\nXXR 2\n### SSSS\n"
    + _TRF_LINES
    + b"001    3      Bob                               1500                             1.0    3  0000 - U     1 w =\n"
    + b"NOR    1                                        2800\n310   1 Club                             NOR\n"
)
_PGN = (
    b'[Event "Rated Blitz game"]\n[Site "https://lichess.org/AbCdEf12"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n'
    b'[UTCDate "2021.10.01"]\n[UTCTime "10:00:00"]\n[TimeControl "180+2"]\n[Termination "Time forfeit"]\n\n'
    b"1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Nf3 (2. f4 exf4 $1) 2... Nc6! 1-0\n\n"
    b'[Event "Club"]\n[White "A"]\n[Black "B"]\n[Date "1999.??.??"]\n[Result "1/2-1/2"]\n\n1.d4 d5 ; rest\n1/2-1/2\n'
)

_CROSSTABLE = (
    "Cup\nDate : 2024/05/03 To 2024/05/05\nRk.;;Name;Rtg;1.Rd;2.Rd 2024/05/04;Pts.\n1;FM;Ann;2020;2w1;-½;1,5\n"
    "2;;Bob;1800;1b0;3w+;1\n3;;Cleo;;-1;2b-;1\n\nVega\nTown - 13/05/2024, 14/05/2024\n"
    "  N NAME  Rtg   T  Fed  Pts |   1\n"
    "-----\n  1 Ek, Ann  2201  FM SWE  1.0 | +W2\n  2 Bo Lund  0     SWE  0.0 | -B1\n"
).encode()

WORDS: Mapping[str, Sequence[bytes]] = {
    "pgn": (
        b'[Event "', b'[White "', b'[Result "*"]\n', b'[Variant "we ird"]\n',
        b'[FEN "', b'[SetUp "1"]\n', b'"]\n', b"\n\n",
        b"{[%clk 0:00:01]}", b"[%eval 0.1]", b"1-0", b"0-1", b"1/2-1/2", b"*", b"1.", b"...", b"e4", b"O-O", b"(", b")",
        b"{", b"}", b";", b"%", b"$1", b"++", b"e.p.", b"--", b"9999.99.99", b"[TimeControl \"1/1\"]\n", b"UTCDate",
    ),
    "json": (
        b'{"', b'":', b'"', b"{}", b"[]", b"null", b"true", b"1e999", b"-0", b"0.1", b"18446744073709551616",
        b"\\u0000",
        b"\\ud800", b"\\u006f", b'"variant":"we ird",', b'"outcome":"black",', b'"id":"AbCdEf12",', b'"clocks":[1,2],',
        b"[[[",
        b'"status":"draw",', b'"aiLevel":3', b'"user":null', b'"winner":"black"', b'"moves":"', b'"lastMoveAt":0',
    ),
    "chess-com": (
        b'"games":[', b'{"games":[', b"]}", b'"result":"win",', b'"result":"timevsinsufficient",', b'"end_time":1,',
        b'"rules":"bughouse",', b'"pgn":"', b"\\n", b'\\"', b'"time_class":"daily",',
        b'"url":"https://www.chess.com/game/live/1",',
    ),
    "csv": (
        b",", b";", b"\t", b'"', b'""', b"\r\n", b"\n", b"white", b"black", b"result", b"date", b"1-0", b"+/-",
        b"0.5-0.5",
        b"2013-02-29", b"0000", b"2013.13.??", b"40/5400+30:900", b"1/86400", b"fide:1", b"a:", b"\xff\xfe", b"=1+1",
    ),
    "trf": (
        b"001 ", b"012 ", b"042 ", b"052 2024/05/03\n", b"042 04/05/2024\n", b"132", b"222 ", b"W300-B240",
        b"162 W 3.0", b"   2 w 1", b"  0000 - H", b"9999", b"XXR 9\n", b"###", b"013 ",
        b"24/05/01  ", b"00/00", b" " * 10,
    ),
    "crosstable": (
        b"12w1", b"5b+", b"7s-", b"-1", "½".encode(), b"+W5", b"=HPB", b"--", b"1.Rd", b";Name;", b"Runde 2 2024/05/04",
        b"Date : 2024/05/03 To 2024/05/05\n", b";", b"\t", b'"', b" | 1 2", b"9999",
    ),
    "packed": (b"\x1f\x8b\x08", b"BZh9", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\x00\0\0\0", b"PK\x03\x04",
               b"\0\0\0\0"),
    "any": (
        b"", b"\n", b"\r", b"\r\n", b"\0", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\xe2\x80\xa8", b"\x1a",
        b" " * 40,
        b"9" * 400, b"-1", "\u0085\u2029\u00a0".encode(), "e\u0301\u0323".encode() * 8, "\U0001f984".encode(),
        b"\x1b[2J",
    ),
}  # fmt: skip
_SORTS: Mapping[str, Sequence[str]] = {
    "open": ("packed", "any"),
    "pgn": ("pgn", "any"),
    "lichess-ndjson": ("json", "any"),
    "ledger-jsonl": ("json", "any"),
    "chess-com": ("json", "chess-com", "any"),
    "csv": ("csv", "any"),
    "csv-rows": ("csv", "any"),
    "csv-values": ("csv", "any"),
    "trf": ("trf", "any"),
    "trf-lines": ("any",),
    "crosstable": ("crosstable", "any"),
    "import": ("pgn", "json", "csv", "trf", "any"),
}


def words(name: str) -> list[bytes]:
    """Return what matters to the format of an importer."""
    return [word for sort in _SORTS[name] for word in WORDS[sort]]


def built_in(name: str) -> list[bytes]:
    """Return small whole files that an importer reads without a fault, made here."""
    pgn, csv = [_PGN, SAMPLE.read_bytes()[:1500]], list(_CSV)
    made: Mapping[str, list[bytes]] = {
        "open": [*_packed(_PGN), *_packed(_PGN + b"\0" * 4000), _GAME, _OWN, *csv, b"a\rb\r"],
        "pgn": pgn, "csv": csv, "csv-rows": csv, "csv-values": csv, "trf": [_TRF], "trf-lines": [_TRF_LINES],
        "crosstable": [_CROSSTABLE],
        "lichess-ndjson": [_GAME, _GAME * 3], "ledger-jsonl": [_OWN, _OWN * 2], "chess-com": [_CHESS_COM],
        "import": [_GAME, _OWN, _TRF, _CHESS_COM, *csv, *pgn],
    }  # fmt: skip
    return made[name]


def _packed(data: bytes) -> Iterator[bytes]:
    zstd = zstandard.ZstdCompressor(write_checksum=True).compress(data)
    for packed in (gzip.compress(data, mtime=0), bz2.compress(data), zstd):
        yield packed
        yield packed + packed[: len(packed) // 2]


BUNDLED = {"csv"}  # formats of which each reading takes long to begin: most files are bundles of spoiled lines
LIMIT = 4_000  # bytes of a file


def spoiled_files(name: str) -> st.SearchStrategy[bytes]:
    """Draw a file for an importer, spoiled in one to eight places."""
    files = st.sampled_from(built_in(name))
    alone = files.flatmap(lambda file: _spoiled(name, file))
    return st.one_of(files.flatmap(lambda file: _bundles(name, file)), alone) if name in BUNDLED else alone


@st.composite
def _bundles(draw: st.DrawFn, name: str, file: bytes) -> bytes:
    """Draw the header of a file and below it the lines of some spoiled files that begin with it."""
    header, end, _ = file.partition(b"\n")
    spoiled = draw(st.lists(_spoiled(name, file), min_size=1, max_size=20))
    return header + end + b"\n".join(data.partition(b"\n")[2] for data in spoiled)


@st.composite
def _spoiled(draw: st.DrawFn, name: str, whole: bytes) -> bytes:
    file, others, some_words = bytearray(whole), st.sampled_from(built_in(name)), st.sampled_from(words(name))
    for change in draw(st.lists(st.integers(0, 8), min_size=1, max_size=8)):
        place = draw(st.integers(0, len(file)))
        end = place + draw(st.sampled_from((1, 2, 8, 40, 300)))
        match change:
            case 0:
                del file[place:]
            case 1:
                file[place:place] = draw(some_words)
            case 2:
                del file[place:end]
            case 3:
                file[place:end] = draw(some_words)
            case 4 if place < len(file):
                file[place] ^= 1 << draw(st.integers(0, 7))
            case 5:
                other = draw(others)
                start = draw(st.integers(0, len(other)))
                file[place:place] = other[start : start + draw(st.sampled_from((5, 50, 500)))]
            case 6:  # a flood of something that stands there, or of a word
                flood = bytes(file[place:end]) or draw(some_words)
                file[place:place] = flood * draw(st.sampled_from((2, 10, 100, 1000)))
            case 7:
                lines = bytes(file).splitlines(keepends=True)
                Random(draw(st.integers(0, 99))).shuffle(lines)
                file[:] = b"".join(lines)
            case _:
                file[place:place] = draw(st.binary(min_size=1, max_size=20))
        del file[LIMIT:]
    return bytes(file)
