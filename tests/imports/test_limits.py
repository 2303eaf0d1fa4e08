"""The limits of the importers: what is larger is a fault that names the limit, quickly, and the rest is as before."""

import bz2
import gzip
import hashlib
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.source_games import KEPT_FAULTS, SourceGame
from ledger.imports import lichess, unpack
from ledger.imports.csv import games as csv_games
from ledger.imports.csv import rows as csv_rows
from ledger.imports.csv import values as csv_columns
from ledger.imports.csv import values as csv_values
from ledger.imports.files import DETECTED_BYTES, MAX_BLANK, MAX_LINE, Source, wrap_file
from ledger.imports.pgn import games as pgn
from ledger.imports.pgn.lines import MAX_GAME
from ledger.imports.reading import MAX_TEXT, Reading, batch_games
from ledger.imports.repeated_rows import RepeatCounter
from ledger.imports.trf.lines import MAX_LENGTH, parse_player_line
from ledger.ledger import Ledger
from ledger.recording import game_import
from ledger.recording.pool_choice import BY_SPEED, PoolChoice
from tests.kit.commands import Run
from tests.kit.source_files import CSV_HEADER, LICHESS_GAME, MIB, TAGS, lichess_line, zeros_bz2, zeros_gzip, zstd_frame
from tests.kit.yardsticks import within
from tests.tiers import few_quick


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    """No input here, however odd, takes long: what grows with the square of its length is found by this."""
    with within(400):
        yield


def opened(data: bytes) -> Source:
    return wrap_file(io.BytesIO(data), "test")


def read_pgn(data: bytes) -> tuple[list[SourceGame], Reading]:
    source = opened(data)
    return list(pgn.read_games(source.lines(), source.reading)), source.reading


def read_csv(data: bytes, size: int = csv_rows.BATCH_CSV) -> tuple[list[SourceGame], Reading]:
    source = opened(data)
    read = csv_games.read_frames(source.chunks(), source.reading, size)
    return [SourceGame(*row) for frame in read for row in frame.iter_rows()], source.reading


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": lambda: zeros_gzip(70),
    "bzip2": lambda: zeros_bz2(135),
    "zstd": lambda: zstd_frame(16_000),
}


@pytest.mark.parametrize("kind", few_quick(BOMBS, "zstd"))
def test_what_unpacks_to_many_times_its_size_is_refused_with_the_limit(kind: str) -> None:
    source = opened(BOMBS[kind]())
    sizes = [len(chunk) for chunk in source.chunks()]
    assert max(sizes) <= DETECTED_BYTES + unpack.PIECE
    assert sum(sizes) <= unpack.RATIO_FROM + MIB
    (fault,) = source.reading.faults
    assert f"more than {unpack.MAX_RATIO} times its size, the limit of the ratio" in fault.message
    assert f"unpack it by '{kind if kind != 'bzip2' else 'bzip2'} -dc'" in fault.message
    assert source.reading.is_cut


@pytest.mark.parametrize("kind", few_quick(BOMBS, "zstd"))
def test_a_small_file_may_unpack_to_any_number_of_times_its_size(kind: str) -> None:
    data = {"gzip": zeros_gzip(40), "bzip2": zeros_bz2(45), "zstd": zstd_frame(400)}[kind]
    source = opened(data)
    assert sum(len(chunk) for chunk in source.chunks()) > unpack.MAX_RATIO * len(data)
    assert source.reading.faults == []


@pytest.mark.slow
def test_a_file_whose_ratio_is_usual_is_read_whatever_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "RATIO_FROM", MIB)
    text = b"".join(b"%d,%s\n" % (n, hashlib.md5(b"%d" % n).hexdigest().encode()) for n in range(40_000))
    for packed in (gzip.compress(text), bz2.compress(text), zstandard.compress(text)):
        source = opened(packed)
        assert b"".join(source.chunks()) == text
        assert source.reading.faults == []


def test_a_zstd_window_is_bounded_and_the_way_out_is_told() -> None:
    assert opened(zstd_frame(3, window=0x88)).reading.faults == []  # 128 MiB
    (fault,) = opened(zstd_frame(3, window=0x90)).reading.faults  # 256 MiB
    assert "128 MiB" in fault.message
    assert "zstd -d --long=31" in fault.message


@given(
    st.lists(st.sampled_from([b"", b"\n", b"some text\n", bytes(300_000), b"x" * 70_000]), max_size=6),
    st.integers(1, 900),
)
def test_packed_pieces_come_to_the_same_however_they_are_read(parts: list[bytes], size: int) -> None:
    text = b"".join(parts)
    for pack in (gzip.compress, bz2.compress, zstandard.compress):
        packed = b"".join(map(pack, parts)) or pack(b"")

        class Pipe(io.BytesIO):
            def read1(self, _size: int | None = -1, /) -> bytes:
                return self.read(size)

        source = wrap_file(Pipe(packed), "test")
        assert b"".join(source.chunks()) == text
        assert source.reading.faults == []


@pytest.mark.parametrize("size", [100, 2**16, MAX_LINE])
def test_the_longest_line_is_read_and_a_longer_one_is_not_however_the_bytes_come(size: int) -> None:
    for length, lines in ((MAX_LINE, 3), (MAX_LINE + 1, 1)):
        data = b"first\n" + b"x" * (length - 1) + b"\nlast\n"
        reading = Reading("test")
        pieces = (data[start : start + size] for start in range(0, len(data), size))
        assert len(list(Source(reading, b"", pieces).lines())) == lines
        assert reading.is_cut == (length > MAX_LINE)
        assert [fault.line for fault in reading.faults] == [2] * reading.is_cut


@pytest.mark.slow
@pytest.mark.parametrize("blank", [b"\n", b" ", b" \t\r\n", b"\r\n"])
def test_a_flood_of_blanks_ends_the_reading_at_once(blank: bytes) -> None:
    for read in (read_pgn, read_csv):
        start = TAGS + b"1. e4 1-0\n" if read is read_pgn else CSV_HEADER + b"1,A,B,1-0,2013,30\n"
        games, reading = read(gzip.compress(start + blank * (8 * MIB // len(blank)), 1))
        assert len(games) == 1
        assert f"more than {MAX_BLANK} bytes of nothing but blanks and line ends" in reading.faults[0].message
        assert read(start + blank * (MIB // 5 // len(blank)))[1].faults == []


@pytest.mark.slow
def test_the_game_at_which_a_file_was_cut_off_is_not_recorded() -> None:
    whole = TAGS + b"1. e4 e5 2. Nf3 1-0\n\n"
    for end in (b"", b"1. e4 " * (MAX_LINE // 6 + 9) + b"1-0\n", b"\n" * (2 * MIB) + b"1. e4 1-0\n"):
        games, reading = read_pgn(gzip.compress(whole + TAGS + end)[: None if end else -9])
        assert [game.half_moves for game in games] == [3]
        assert reading.is_cut


@pytest.mark.slow
def test_the_row_at_which_a_file_was_cut_off_is_not_recorded() -> None:
    rows = CSV_HEADER + b"".join(b"%d,A,B,1-0,2013-06-04,123\n" % n for n in range(200))
    packed = zlib.compressobj(0, wbits=31)
    stored = packed.compress(rows) + packed.flush()
    for missing in range(10, 40):
        games, _ = read_csv(stored[:-missing])
        assert {(game.ended_at, game.half_moves) for game in games} == {("2013-06-04", 123)}
    assert len(read_csv(rows[:-1])[0]) == 200  # a file that merely lacks its last line end


GOOD = TAGS + b"1. e4 1-0\n\n"


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (TAGS + b"1. e4 e5\n" * (MAX_GAME // 8) + b"1-0\n\n", "the limit of a game"),
        (TAGS + b"{" + b"la la\n" * (MAX_GAME // 5) + b"} 1-0\n\n", "the limit of a game"),
        (b'[a%d "b"]\n' * (MAX_GAME // 8) + TAGS + b"1. e4 1-0\n\n", "the limit of a game"),
        (b"".join(b'[a%d "b"]\n\n' % n for n in range(30_000)) + TAGS + b"1. e4 1-0\n\n", "the limit of a game"),
        (
            TAGS.replace(b'"E"', b'"' + "a\u0301\u0323".encode() * 50_000 + b'"') + b"1. e4 1-0\n\n",
            "the limit of a tag",
        ),
        (TAGS.replace(b'"A"', b'"' + b"x" * 1_001 + b'"') + b"1. e4 1-0\n\n", "the limit of a tag"),
        (TAGS.replace(b'"A"', b'"' + b"x" * 129 + b'"') + b"1. e4 1-0\n\n", "more than 128"),
        (TAGS + b"1. e4 1-0 " * 20_000 + b"\n\n", "follows the result"),
        (TAGS + b"1-0 0-1 " * 20_000 + b"\n\n", "but 1-0 and 0-1 after the moves"),
        (TAGS + b"e4 " * 20_001 + b"1-0\n\n", "20001 half-moves"),
        (TAGS + b"(" * 500_000 + b")" * 499_999 + b" 1-0\n\n", "never closed"),
        (TAGS + b"x" * MIB + b" 1-0\n\n", "is no move"),
        (b'[Variant "' + b"x" * 65 + b'"]\n' + GOOD, "is no word"),
        ('[Variant "蝶"]\n'.encode() + GOOD, "is no word"),
        (b'[Variant "' + b"word " * 9 + b'"]\n' + GOOD, "is no word"),
    ],
)
def test_what_is_too_large_in_a_pgn_game_costs_that_game_and_names_the_limit(game: bytes, words: str) -> None:
    games, reading = read_pgn(GOOD + game + GOOD)
    assert len(games) == 2
    assert words in reading.faults[0].message
    assert all(len(fault.message) < 400 for fault in reading.faults)


# What a file of 126 kB may unpack to without end: tags that are no games, and games that are hardly any.
TAG_FLOODS: dict[str, bytes] = {
    "a tag that begins a game": b'[Event "x"]\n',
    "and a blank line": b'[Event "x"]\n\n',
    "with Windows' line ends": b'[Event "x"]\r\n',
    "that is not closed": b'[Event "\n',
    "broken over two lines": b'[Event "\nx"]\n',
    "any tag and a blank line": b'[a "b"]\n\n',
    "unfinished": b'[Result "*"]\n\n',
    "with a word that is no move": b'[Event "x"]\n1\n',
    "with names": b'[Event "x"]\n[White "A"]\n[Black "B"]\n',
}


@pytest.mark.parametrize("flood", few_quick(TAG_FLOODS, next(iter(TAG_FLOODS))))
def test_a_flood_of_tags_that_are_no_games_is_not_read_on(flood: str) -> None:
    unit = TAG_FLOODS[flood]
    games, reading = read_pgn(zstandard.compress(GOOD * 3 + unit * (8 * MIB // len(unit))))
    assert len(games) == 3
    assert reading.is_cut
    assert reading.ending is not None
    assert "10,000 more scraps of a few tags than games, the limit of what is no game" in reading.ending.message
    # what stands behind the limit was not looked at: counted, not measured
    assert reading.fault_count + reading.skipped["unfinished"] <= 5 * (pgn.MAX_SCRAPS + 5)
    assert 3 * 8 < reading.ending.line < 4 * pgn.MAX_SCRAPS


# All but the last are longer than a game may be, by little: what is beyond costs no more a line.
LONG_FLOODS: dict[str, bytes] = {
    "tags of one game": b'[a "b"]\n' * 300_000,
    "tags of different names": b"".join(b'[a%d "b"]\n' % n for n in range(300_000)),
    "blank lines below a tag": (b'[Event "x"]\n' + b" \n" * (MIB // 4)) * 5,
    "values of many characters": (b'[Event "' + b"x" * 200_000 + b'"]\n') * 12,
    "many characters that are escaped": (b'[Event "' + b'\\"' * 100_000 + b'"]\n') * 12,
    "a tag broken over many lines": b'[Event "\n' + b'x"]\n' * 600_000,
    "brackets": b"[\n" * 300_000,
}


@pytest.mark.parametrize("flood", few_quick(LONG_FLOODS, "brackets"))
def test_a_flood_within_one_game_costs_that_game(flood: str) -> None:
    text = LONG_FLOODS[flood]
    assert (len(text) > MAX_GAME) == (flood != "brackets")
    with within(150):
        games, reading = read_pgn(zstandard.compress(GOOD + text + b"\n" + GOOD))
    assert 1 <= len(games) <= 2
    assert 0 <= reading.fault_count <= 5 * text.count(b"[Event") + 1
    assert all(len(fault.message) < 400 for fault in reading.faults)


@pytest.mark.slow
def test_games_of_their_tags_alone_are_read_however_many_they_are() -> None:
    games, reading = read_pgn(zstandard.compress(TAGS * 12_000))
    assert (len(games), reading.fault_count) == (12_000, 0)


@pytest.mark.slow
def test_scraps_between_as_many_games_are_faults_and_the_games_are_read() -> None:
    games, reading = read_pgn((TAGS + b'[Event "x"]\n\n') * 12_000 + GOOD)
    assert (len(games), reading.is_cut, reading.ending) == (12_001, False, None)


def test_long_tags_that_no_game_needs_are_passed_over() -> None:
    games, reading = read_pgn(b'[Annotator "' + b"x" * 5_000 + b'"]\n' + GOOD)
    assert (len(games), reading.faults) == (1, [])


def test_variants_are_words_of_the_tag() -> None:
    for tag, variant in (
        (b"King of the Hill", "kingOfTheHill"),
        (b"", "standard"),
        (b"?", "standard"),
        (b"5check", "5check"),
    ):
        (game,), _ = read_pgn(b'[Variant "' + tag + b'"]\n' + GOOD)
        assert game.variant == variant


def test_clocks_of_a_million_digits_are_no_clocks() -> None:
    (game,), reading = read_pgn(TAGS + b"1. e4 {[%clk " + b"9" * 500_000 + b":00:00]} 1-0\n")
    assert (game.text, reading.faults) == ("e4", [])


def test_the_text_of_a_game_is_bounded() -> None:
    long_moves = " ".join(["x" * 100] * (MAX_TEXT // 100))
    reading = Reading("test")
    assert list(lichess.read_games([orjson.dumps({**LICHESS_GAME, "moves": long_moves})], reading)) == []
    assert "characters" in reading.faults[0].message


def test_frames_are_small_where_the_texts_are_long() -> None:
    (game,) = lichess.read_games([orjson.dumps(LICHESS_GAME)], Reading("test"))
    heights = [frame.height for frame in batch_games([game._replace(text="x" * MAX_TEXT)] * 100)]
    assert heights == [32, 32, 32, 4]
    assert [frame.height for frame in batch_games([game] * 100, size=30)] == [30, 30, 30, 10]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"a," * 1000 + b"b\n", "1001 columns, more than 1000, the limit of columns"),
        (b"a," * MIB + b"b\n", "the first line is longer than"),
        (b"white," * 900 + b"x\n", "keep one of them"),
        (b"white" + b" " * 100_000 + b"elo,white_elo\n", "both mean"),
    ],
)
def test_headers_are_bounded(header: bytes, words: str) -> None:
    games, reading = read_csv(header + b"1,2,3\n" * 10)
    assert games == []
    (fault,) = reading.faults
    assert words in fault.message
    assert len(fault.message) < 1_100


@pytest.mark.parametrize(
    "row",
    [
        b"1," + "a\u0301\u0323".encode() * 50_000 + b",B,1-0,2013,3\n",  # accents to be put in order
        b"1," + b"x" * 250_000 + b",B,1-0,2013,3\n",
        b"1," + b"\0" * 250_000 + b",B,1-0,2013,3\n",
        b"1,A,B,1-0," + b"2" * 250_000 + b",3\n",
        b"1,A,B," + b"-" * 250_000 + b",2013,3\n",
        b"," * 300_000 + b"\n",
        b'1,"A,B,1-0,2013,3\n',
        b'1,"A"x,B,1-0,2013,3\n',
        b'1,"' + b'""' * 130_000 + b",B\n",
    ],
)
def test_a_row_that_is_out_of_bounds_costs_itself(row: bytes) -> None:
    good = [b"%d,A,B,1-0,2013,30\n" % n for n in range(9)]
    games, reading = read_csv(CSV_HEADER + b"".join(good[:3]) + row + b"".join(good[3:]) * 3_000)
    assert {game.key for game in games} >= {"csv:0", "csv:1", "csv:2", "csv:6", "csv:8"}
    assert reading.faults
    assert all(len(fault.message) < 500 for fault in reading.faults)


@pytest.mark.slow
def test_blocks_that_are_nothing_but_marks_are_read_in_parts() -> None:
    rows = (b"," * 5 + b"\n") * 100_000 + b",\n" * 300_000 + b"\n" * 400_000 + b"1,A,B,1-0,2013,30\n"
    games, reading = read_csv(CSV_HEADER + rows)
    assert [(game.key, game.line) for game in games] == [("csv:1", 800_002)]
    assert reading.skipped == {}  # a row of dividers alone is none
    assert reading.fault_count == 300_000
    assert [fault.line for fault in reading.faults] == list(range(100_002, 100_002 + KEPT_FAULTS))


@pytest.mark.slow
def test_faults_of_values_are_counted_exactly_and_the_first_are_kept() -> None:
    rows = b"".join(b"%d,A,B,1-0,x%d,y\n" % (n, n) for n in range(30_000))
    for size in (csv_rows.BATCH_CSV, 50_000):
        games, reading = read_csv(CSV_HEADER + rows, size)
        assert games == []
        assert reading.fault_count == 60_000
        assert [fault.line for fault in reading.faults] == [2 + n // 2 for n in range(KEPT_FAULTS)]


@pytest.mark.slow
def test_values_that_are_forgotten_are_understood_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = CSV_HEADER + b"".join(b"%d,A%d,B,1-0,2013,%s\n" % (n, n % 50, b"y" * (n % 3)) for n in range(3_000))
    before = read_csv(rows, 4_000)
    monkeypatch.setattr(csv_columns, "REMEMBERED", 1_000)
    after = read_csv(rows, 4_000)
    assert (after[0], after[1].faults) == (before[0], before[1].faults)


@given(st.lists(st.lists(st.integers(0, 6) | st.integers(0, 300), min_size=1, max_size=40), max_size=9))
def test_the_nth_telling_of_the_same_facts_is_counted_over_all_blocks(blocks: list[list[int]]) -> None:
    counter, met = RepeatCounter(), Counter[int]()
    for block in blocks:
        expected = []
        for fact in block:
            met[fact] += 1
            expected.append(met[fact])
        assert counter.count(pl.Series(block).cast(pl.String).hash().to_numpy()).tolist() == expected


@pytest.mark.parametrize(
    "value", [csv_values.parse_name, csv_values.parse_identity, csv_values.parse_tournament, csv_values.parse_round]
)
def test_texts_are_refused_before_they_are_tidied(value: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match="must be at most"):
        value("a\u0301\u0323" * 80_000)
    assert value("  a\u0301   b ") == "á b"


def test_player_lines_are_bounded() -> None:
    for line in ("001" + " x" * 100_000, "001" + "?" * MAX_LENGTH, "001 " + "9" * 9_000):
        with pytest.raises(ValueError, match=r"limit of a line|column") as caught:
            parse_player_line(line)
        assert len(str(caught.value)) < 2_000


def import_of(tmp_path: Path, run: Run, lines: list[bytes], *options: str) -> tuple[int, str]:
    path = tmp_path / "games.ndjson"
    path.write_bytes(b"".join(lines))
    if not (tmp_path / "club.db").exists():
        assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", path, *options)
    return done.code, done.err.replace(str(path), "FILE")


@pytest.mark.parametrize("variant", ["we ird", "", "x" * 10_000, 7])
def test_by_speed_a_variant_that_is_no_word_is_a_fault_and_no_traceback(variant: Any, tmp_path: Path, run: Run) -> None:
    lines = [lichess_line(1, "standard"), lichess_line(2, variant)]
    code, words = import_of(tmp_path, run, lines, "--pools", "by-speed")
    assert code == 1
    assert "FILE:2: error: variant must be" in words
    assert "1 game recorded" in words


@pytest.mark.slow
def test_a_file_of_thousands_of_variants_makes_no_thousands_of_pools(tmp_path: Path, run: Run) -> None:
    lines = [lichess_line(n, f"v{n:04}") for n in range(3_000)]
    code, words = import_of(tmp_path, run, lines, "--pools", "by-speed")
    assert code == 1
    assert f"{game_import.MAX_NEW_POOLS} games recorded" in words
    assert "FILE:65: error: pool 'v0064' would be one more than 64, the limit of new pools of one import" in words
    assert "2,936 faults" in words
    code, words = import_of(tmp_path, run, lines[:64], "--pools", "by-speed")
    assert (code, "64 known already" in words) == (0, True)


def test_variants_left_out_are_counted_under_a_bounded_number_of_names(tmp_path: Path, run: Run) -> None:
    _, words = import_of(tmp_path, run, [lichess_line(n, f"v{n:04}") for n in range(3_000)])
    assert "2,960 left out: other variants" in words
    assert words.count("left out") == game_import.MAX_REASONS + 1


def test_a_pool_that_cannot_be_named_is_a_fault_of_its_line(tmp_path: Path) -> None:
    (good,) = lichess.read_games([lichess_line(1, "standard")], Reading("test"))
    games = [
        good._replace(line=n + 1, key=f"k{n}", variant=name)
        for n, name in enumerate(["zh", "we ird", "", "x" * 33, "é"])
    ]
    with Ledger.create(tmp_path / "club.db") as ledger:
        choice = PoolChoice(pool=BY_SPEED)
        outcome = ledger.import_games(batch_games(games), choice=choice)
        assert (outcome.recorded, outcome.new_pools, outcome.fault_count) == (1, ["zh"], 4)
        assert [fault.line for fault in outcome.faults] == [2, 3, 4, 5]
        strict = ledger.import_games(batch_games(games[1:]), choice=choice, strict=True)
        assert (strict.recorded, strict.new_pools, strict.fault_count) == (0, [], 4)


@pytest.mark.slow
def test_why_the_rest_of_a_file_is_not_read_is_told_behind_many_faults(tmp_path: Path, run: Run) -> None:
    packed = tmp_path / "tags.pgn.gz"
    packed.write_bytes(gzip.compress(GOOD + b'[Event "x"]\n' * (62 * 10**6 // 12)))
    assert packed.stat().st_size < 200_000
    assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", packed)
    lines = done.err.splitlines()
    assert (done.code, len(lines)) == (1, 103)
    assert "more faults" in lines[-3]
    assert re.search(r"tags\.pgn\.gz:\d+: error: 10,000 more scraps of a few tags than games", lines[-2])
    assert "1 game recorded" in lines[-1]


def test_the_summary_tells_the_true_number_of_faults(tmp_path: Path, run: Run) -> None:
    code, words = import_of(tmp_path, run, [b"{}\n"] * (KEPT_FAULTS + 5))
    lines = words.splitlines()
    faults = 7 * (KEPT_FAULTS + 5)
    assert code == 1
    assert len(lines) == 102
    assert lines[-2] == f"FILE: and {faults - 100:,} more faults"
    assert lines[-1].endswith(f"{faults:,} faults")
