"""Files of many games in parts: the same games, log and journal wherever they are cut, and whoever reads the parts."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import orjson
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import StorageError
from ledger.imports import formats, legality, parts, reading
from ledger.imports.files import wrap_file
from ledger.imports.pgn import games as pgn_games
from ledger.imports.pgn import lines as pgn_lines
from ledger.imports.pgn.lines import GameLines, cut_games, split_games
from ledger.imports.reading import FileHints, Reading
from ledger.ledger import Ledger
from ledger.runtime.long_work import IN_THIS_PROCESS, PartMap
from ledger.runtime.process_executor import ProcessExecutor
from tests.imports.spoiled_files import WORDS
from tests.kit.places import DATA, SAMPLE, TESTS
from tests.kit.source_files import JSONL, NDJSON, PGN
from tests.tiers import in_tiers

FILES = [*sorted((TESTS / "fixtures" / "pgn").glob("*.pgn")), SAMPLE]
REAL = "lichess_slice_20211001.pgn"
TAGS = b'[Event "Evening"]\n[Site "Club"]\n[White "Ann"]\n[Black "Bob"]\n[Date "2021.03.01"]\n[Result "1-0"]\n'
# what a game may be cut at, and what looks like it: within comments, among tags, behind an escape or a result
FRAGMENTS = (
    TAGS, b"\n", b"\n\n", b"\r\n", b" \n", b"1. e4 e5 1-0\n", b"1. d4 {\n", b"}\n", b"{ a\n\nb }", b"; rest { \n",
    b'[Event "Evening"]\n[Site "Club"]\n', b'[Event "a {"]\n', b'[Event "x"]\n', b'[White "Ann"]\n', b'[Event "Ev\n',
    b'% [Event "x"]\n', b"\xef\xbb\xbf", b'1-0 [White "Cleo"]\n', b'1-0[Event "x"]\n', b"1. e4\n", b"*\n", b"text\n",
    b'  [Event "x"]\n', b'en"]\n', b"%\n", b'[Event "Evening"]\r\n[Site "Club"]\r\n',
)  # fmt: skip


def games_of(drafts: list[GameLines]) -> list[Any]:
    return [
        (each.line, each.head, each.moves_line, each.moves * is_kept, each.open_at, each.untagged, each.size)
        for each in drafts
        for is_kept in [each.size <= pgn_lines.MAX_GAME]
    ]


def cut_anywhere(content: bytes) -> list[list[bytes]]:
    return list(cut_games(io.BytesIO(content).readlines(), 1, 2**30))


def assert_same_games(content: bytes) -> int:
    """The games of a file, and those of its parts; the number of parts."""
    whole = list(split_games(io.BytesIO(content).readlines()))
    cut = cut_anywhere(content)
    drafts, first = list[GameLines](), 1
    for place, part in enumerate(cut, 1):
        drafts += split_games(part, first, has_more=place < len(cut))
        first += len(part)
    assert b"".join(b"".join(part) for part in cut) == content
    assert games_of(drafts) == games_of(whole)
    assert [each.final for each in drafts] == [each.final for each in whole]
    return len(cut)


@given(st.lists(st.sampled_from((*FRAGMENTS, *WORDS["pgn"])), max_size=40).map(b"".join))
def test_the_parts_of_any_text_have_the_games_of_the_whole(text: bytes) -> None:
    assert_same_games(text)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(b"".join))
def test_whatever_is_open_a_game_behind_it_begins_where_it_is_cut(text: bytes) -> None:
    assert_same_games(TAGS + b"\n1. e4 1-0\n\n" + text + b"\n\n" + TAGS + b"\n1. d4 0-1\n")


def test_a_comment_of_many_lines_swallows_no_later_game_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_lines, "MAX_GAME", 300)
    text = TAGS + b"\n1. e4 { never closed\n" + b"and so on\n" * 40 + b"\n" + TAGS + b"\n1. d4 1-0\n"
    assert assert_same_games(text) == 2
    assert len(list(split_games(text.splitlines(keepends=True)))) == 2


class Shuffled(Executor):
    """An executor that runs what waits when a result is asked for, in an order that is drawn."""

    def __init__(self, seed: int) -> None:
        self._random, self._waiting = Random(seed), list[Callable[[], object]]()
        self.most = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = Asked(self)
        self._waiting.append(lambda: future.set_result(fn(*args, **kwargs)))
        self.most = max(self.most, len(self._waiting))
        return future

    def run_all(self) -> None:
        self._random.shuffle(self._waiting)
        while self._waiting:
            self._waiting.pop()()


class Asked(Future[Any]):
    def __init__(self, executor: Shuffled) -> None:
        super().__init__()
        self._executor = executor

    def result(self, timeout: float | None = None) -> Any:
        self._executor.run_all()
        return super().result(timeout)


def read(content: bytes, fmt: str, part_map: PartMap = IN_THIS_PROCESS, **said: Any) -> tuple[pl.DataFrame, Reading]:
    source = wrap_file(io.BytesIO(content), "games")
    frames = list(formats.read_game_frames(source, fmt, FileHints(**said), part_map))
    source.reading.first_line = 1  # of its last part
    return pl.concat(frames) if frames else pl.DataFrame(), source.reading


def assert_same(content: bytes, fmt: str, monkeypatch: pytest.MonkeyPatch, **said: Any) -> None:
    """The frames, faults, notes and counts of a file do not depend on the size of its parts, nor on the executor."""
    whole, log = read(content, fmt, **said)
    for size, part_map in ((1, IN_THIS_PROCESS), (1, PartMap(Shuffled(1), 5, few=1)), (3_000, PartMap(Shuffled(2)))):
        with monkeypatch.context() as patch:
            patch.setattr(parts, "PART", size)
            cut, its_log = read(content, fmt, part_map, **said)
        assert cut.equals(whole)
        assert its_log == log


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_pgn_gives_the_same_games_faults_and_notes_in_parts_of_any_size(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legality, "_SLICE", 2)
    content = path.read_bytes()[:9_000]
    for text in (content, content * 2, content[: len(content) // 2], content.replace(b"\n", b"\r\n")):
        assert_same(text, "pgn", monkeypatch)
    assert_same(content.replace(b"\r\n", b"\n").replace(b"\n", b"\r"), "pgn", monkeypatch)
    assert_same(content, "pgn", monkeypatch, by_fide=True, check_moves=True, without_moves=True)


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / REAL).exists(), reason="the large sets are on some machines only")
def test_real_games_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "in_batches", partial(reading.in_batches, size=300))
    monkeypatch.setattr(legality, "FEW_GAMES", 0)
    content = (DATA / REAL).read_bytes()[:500_000]
    assert_same(content, "pgn", monkeypatch)


@given(st.lists(st.sampled_from((PGN, *FRAGMENTS, *WORDS["pgn"])), max_size=20).map(b"".join))
def test_a_text_that_is_hardly_pgn_has_the_same_faults_in_parts(text: bytes) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert_same(text, "pgn", monkeypatch)


@pytest.mark.parametrize(("fmt", "game"), [("lichess-ndjson", NDJSON), ("ledger-jsonl", JSONL)])
def test_json_lines_are_the_same_in_parts_with_the_numbers_of_their_lines(
    fmt: str, game: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    bye = {"player": {"id": "fide:1", "name": "Ann"}, "tournament": "Open", "edition": "2021-03-01", "brings": "half"}
    content = b"\xef\xbb\xbf" + game + b"\n\n{}\n" + game[:-9] + b"\n" + orjson.dumps(bye) + b"\n" + game
    assert_same(content * 3, fmt, monkeypatch)
    assert read(content, fmt)[1].faults[0].line == 4


def test_what_is_wrong_with_the_stream_comes_behind_the_games_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(PGN.replace(b"1-0", b"2-0") * 40)
    for content in (packed[:-5], packed + packed[:30], packed + b"more"):
        assert_same(content, "pgn", monkeypatch)


def test_a_flood_of_scraps_ends_the_reading_in_the_part_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_games, "MAX_SCRAPS", 3)
    content = (PGN + b"\n") * 5 + b'[Event "x"]\n[Site "y"]\n\n1. e4\n\n' * 9 + (PGN + b"\n") * 5
    monkeypatch.setattr(parts, "PART", 400)
    results = [read(content, "pgn", part_map) for part_map in (IN_THIS_PROCESS, PartMap(Shuffled(3), 20, few=1))]
    assert results[0][1] == results[1][1]
    assert results[0][0].equals(results[1][0])
    assert (len(results[0][0]), results[0][1].is_cut, results[0][1].ending is None) == (5, True, False)


def test_no_more_parts_wait_than_may_be_in_flight_and_few_parts_stay_in_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "PART", 200)
    content = (PGN + b"\n") * 30
    executor = Shuffled(4)
    read(content, "pgn", PartMap(executor, 4))
    assert executor.most == 4
    executor = Shuffled(5)
    read((PGN + b"\n") * 3, "pgn", PartMap(executor, 4))
    assert executor.most == 0


def test_a_file_without_a_place_to_cut_it_is_read_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART", 50)
    monkeypatch.setattr(parts, "MAX_UNCUT", 400)
    executor, games = Shuffled(6), PGN.replace(b"[Event", b"[Evening") + b"\n"
    frame, log = read(games * 20, "pgn", PartMap(executor, 4))
    assert (len(frame), executor.most, log.faults) == (20, 0, [])
    assert list(cut_games((games * 20).splitlines(keepends=True), 50, 400)) != [[]]


def test_frames_end_at_the_same_games_wherever_the_file_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BATCH_TEXT", 150)
    texts = [None, "e4", "d4 " * 30, None, "c4 " * 60, "e4 e5", "b4 " * 20, "b3 " * 40]
    games = pl.DataFrame({"line": range(len(texts)), "text": texts})
    expected = [[0, 1, 2, 3, 4], [5, 6, 7]]
    for size in range(1, 9):
        frames = list(reading.in_batches(games.iter_slices(size), 6))
        assert [frame["line"].to_list() for frame in frames] == expected


def test_a_broken_executor_is_one_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Any:
        raise BrokenExecutor("a worker process ended (exit code -9)")

    monkeypatch.setattr(parts, "PART", 1)
    monkeypatch.setattr(parts, "read_part", broken)
    with ThreadPoolExecutor(2) as executor, pytest.raises(StorageError) as caught:
        read((PGN + b"\n") * 9, "pgn", PartMap(executor))
    assert str(caught.value).startswith("games: a worker process ended (exit code -9): import the file again, or")


# -- the journal ---------------------------------------------------------------------------------------------------


def imported(path: Path, file: Path, executor: Executor | None) -> tuple[list[Any], object]:
    """The entries of a new ledger that imported a file, without the times of recording, and the report."""
    with Ledger.create(path) as ledger:
        report = ledger.import_file(file, executor=executor, in_flight=3)
        bodies = [orjson.loads(body) for block in ledger.journal.read() for body in block]
    for body in bodies:  # the times of recording, and the salts of a ledger
        for name in ("recorded_at", "joined_at", "commitment"):
            body.pop(name, None)
            body["facts"].pop(name, None)
    return bodies, report


def lichess_games(count: int) -> bytes:
    game = PGN.replace(b'"Ann"', b'"ann%d"').replace(b'"Club"', b'"https://lichess.org/%08d"')
    games = (game % (number, number % 7) for number in range(count))
    return b"\n".join(each if number % 9 else each.replace(b"1-0", b"1-2") for number, each in enumerate(games))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART", 700)
    monkeypatch.setattr(formats, "in_batches", partial(reading.in_batches, size=25))


EXECUTORS: dict[str, Callable[[], Executor]] = {
    "in any order": lambda: Shuffled(7),
    "of threads": lambda: ThreadPoolExecutor(3),
    "of one process": lambda: ProcessExecutor(1),
    "of three processes": lambda: ProcessExecutor(3),
    "of the standard library": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "name",
    in_tiers(EXECUTORS, lambda name: "quick" if name in {"in any order", "of threads"} else "slow"),
    ids=EXECUTORS,
)
def test_the_journal_and_the_report_are_the_same_with_every_executor(name: str, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(lichess_games(100))
    expected, report = imported(tmp_path / "alone.db", file, None)
    with EXECUTORS[name]() as executor:
        entries, its_report = imported(tmp_path / "parts.db", file, executor)
    assert entries == expected
    assert its_report == report
    assert len(entries) > 90


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": zstandard.compress,
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("ending", PACKED)
def test_a_packed_file_is_cut_as_its_content_is(ending: str, tmp_path: Path) -> None:
    plain, packed = tmp_path / "games.pgn", tmp_path / f"games.pgn.{ending}"
    plain.write_bytes(lichess_games(60))
    packed.write_bytes(PACKED[ending](plain.read_bytes()))
    expected, _ = imported(tmp_path / "alone.db", plain, None)
    executor = Shuffled(8)
    assert imported(tmp_path / "parts.db", packed, executor)[0] == expected
    assert executor.most == 3


@pytest.mark.usefixtures("small_parts")
def test_json_lines_give_the_same_journal_in_parts(tmp_path: Path) -> None:
    file = tmp_path / "games.ndjson"
    file.write_bytes(b"".join(NDJSON.replace(b"AbCdEf12", b"AbCd%04d" % number) for number in range(60)))
    executor = Shuffled(9)
    entries, report = imported(tmp_path / "parts.db", file, executor)
    assert (entries, report) == imported(tmp_path / "alone.db", file, None)
    assert (len(entries) > 60, executor.most) == (True, 3)


class Breaking(Shuffled):
    """An executor whose worker is killed at one of the parts."""

    def __init__(self, at: int, fault: type[BaseException]) -> None:
        super().__init__(10)
        self._left, self._fault = at, fault

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._left -= 1
        if not self._left:
            future = Future[Any]()
            future.set_exception(self._fault("a worker process ended (exit code -9)"))
            return future
        return super().submit(fn, *args, **kwargs)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("fault", "error"), [(BrokenExecutor, StorageError), (KeyboardInterrupt, KeyboardInterrupt)])
def test_a_worker_that_ends_late_leaves_whole_blocks_or_nothing_if_strict_and_the_next_import_the_rest(
    fault: type[BaseException], error: type[BaseException], tmp_path: Path
) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(lichess_games(100).replace(b"1-2", b"1-0"))
    expected, _ = imported(tmp_path / "alone.db", file, None)
    with Ledger.create(tmp_path / "broken.db") as ledger:
        before = ledger.head()
        for strict in (True, False):
            with pytest.raises(error):
                ledger.import_file(file, strict=strict, executor=Breaking(20, fault), in_flight=3)
            assert (ledger.head() == before) == strict
        assert games_in(ledger) == 50
        report = ledger.import_file(file)
        assert (report.recorded, report.repeated, games_in(ledger)) == (50, 50, 100)
        assert ledger.head().size == len(expected)


def games_in(ledger: Ledger) -> int:
    return sum("white" in orjson.loads(body)["facts"] for block in ledger.journal.read() for body in block)
