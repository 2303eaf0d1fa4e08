"""The contract test suite of importers: subclass ``ImporterContract`` and define the reader and sample files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import ClassVar

from ledger.facts.codec_columns import build_events, suspects
from ledger.facts.event_fields import KEY_PATTERN
from ledger.facts.events import GameRecorded
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Outcome, Termination
from ledger.imports.reading import VARIANT, Reading, batch_games
from ledger.runtime.lazy import pl

Importer = Callable[[Iterable[bytes], Reading], Iterator[SourceGame]]

SPEEDS = frozenset({"ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence", None})
MAX_TEXT = 300  # characters of a name or an identity
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# What readers of text stumble over: byte order marks, halves of letters, ends of lines that only Unicode knows, signs
# of the formats, numbers beyond every limit, letters in two forms.
_NOISE = (
    b"", b"\n", b"\r\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\xe2\x80\xa8", b'"', b"\\",
    b"{", b"}", b"[", b"]", b"(", b")", b";", b"%", b"$", b"\t", b"9" * 400, b"-1", b"1e999", b"null", b"*", b"\x1a",
    "\u0085\u2029\u00a0".encode(), "e\u0301".encode(), "\U0001f984".encode(),
)  # fmt: skip


class ImporterContract:
    """The tests of an importer with samples and damaged samples; a subclass defines ``make`` and ``samples``."""

    samples: ClassVar[Sequence[bytes]] = ()  # whole files in the format, small
    damaged: ClassVar[int] = 400  # how many damaged files are tried

    def make(self) -> Importer:
        """Return the reader: ``(lines, reading) -> games``."""
        raise NotImplementedError

    def test_the_samples_give_games(self) -> None:
        assert self.samples
        for sample in self.samples:
            games, reading = self._read(sample)
            assert games, reading.faults
            assert not reading.faults

    def test_arbitrary_bytes_are_read_without_an_error(self) -> None:
        random = Random(1)  # noqa: S311
        for _ in range(self.damaged):
            self._check(random.randbytes(random.choice((0, 1, 3, 40, 900))))
            self._check(b"".join(random.choice(_NOISE) for _ in range(random.randint(1, 30))))

    def test_damaged_samples_are_read_without_an_error(self) -> None:
        random = Random(2)  # noqa: S311
        for _ in range(self.damaged):
            self._check(self._damage(random))

    def test_a_file_cut_off_anywhere_is_read_without_an_error(self) -> None:
        for sample in self.samples:
            for end in range(0, len(sample), max(1, len(sample) // 200)):
                self._check(sample[:end])

    def test_line_ends_do_not_matter(self) -> None:
        for sample in self.samples:
            unix = sample.replace(b"\r\n", b"\n")
            assert self._read(unix)[0] == self._read(unix.replace(b"\n", b"\r\n"))[0]

    def test_two_files_in_one_give_the_games_of_both(self) -> None:
        for sample in self.samples:
            once, _ = self._read(sample)
            # With an empty line between them, which ends a game of PGN.
            twice, _ = self._read(sample.rstrip(b"\n") + b"\n\n" + sample)
            assert [game._replace(line=0) for game in twice] == [game._replace(line=0) for game in once * 2]

    # -- how -------------------------------------------------------------------------------------------------------

    def _read(self, file: bytes) -> tuple[list[SourceGame], Reading]:
        reading = Reading("sample")
        return list(self.make()(iter(file.splitlines(keepends=True)), reading)), reading

    def _check(self, file: bytes) -> None:
        """Check everything that holds for any bytes."""
        games, reading = self._read(file)
        again, reading_again = self._read(file)
        assert (games, reading.faults, reading.skipped) == (again, reading_again.faults, reading_again.skipped)
        last = len(file.splitlines())
        for fault in reading.faults:
            assert 1 <= fault.line <= max(last, 1), (fault, file)
            assert fault.message
            # Half of a surrogate pair, which Python keeps of a bad byte, could be printed nowhere.
            assert fault.message.encode()
            assert "\n" not in fault.message, fault
        for game in games:
            assert 1 <= game.line <= last, (game, file)
            check_game(game)
        for frame in batch_games(games):
            ready = frame.rename({"key": "game"}).with_columns(
                white=pl.lit(1), black=pl.lit(2), pool=pl.lit("standard"), text=pl.lit(None, dtype=pl.String)
            )
            assert [words for words in build_events(ready, suspects(ready)) if isinstance(words, str)] == []

    def _damage(self, random: Random) -> bytes:
        file = bytearray(random.choice(self.samples))
        for _ in range(random.randint(1, 4)):
            place = random.randrange(len(file) + 1)
            match random.randrange(6):
                case 0 if place < len(file):
                    file[place] ^= 1 << random.randrange(8)
                case 1:
                    file[place:place] = random.choice(_NOISE)
                case 2:
                    del file[place : place + random.choice((1, 2, 20, 200))]
                case 3:
                    file[place : place + 1] = random.choice(_NOISE)
                case 4:
                    lines = bytes(file).splitlines(keepends=True)
                    random.shuffle(lines)
                    file = bytearray(b"".join(lines))
                case _:
                    other = random.choice(self.samples)
                    start = random.randrange(len(other))
                    file[place:place] = other[start : start + random.choice((5, 50, 500))]
        return bytes(file)


def check_game(game: SourceGame) -> None:
    """Assert that a game can be recorded, and that its players and its pool can be named."""
    assert re.fullmatch(KEY_PATTERN, game.key, re.ASCII), game
    GameRecorded(
        game=game.key,
        pool="standard",
        white=1,
        black=2,
        outcome=Outcome(game.outcome),
        termination=Termination(game.termination),
        half_moves=game.half_moves,
        started_at=game.started_at,
        ended_at=game.ended_at,
        tournament=game.tournament,
        round=game.round,
        rated=game.rated,
        white_rating=game.white_rating,
        black_rating=game.black_rating,
    )
    assert game.outcome != Outcome.NONE, game
    for text in (game.white_id, game.white_name, game.black_id, game.black_name):
        assert 0 < len(text) <= MAX_TEXT, game
        assert text == text.strip(), game
        assert not _CONTROL.search(text), game
        assert text.encode(), game  # no lone surrogates
    assert game.speed in SPEEDS, game
    assert VARIANT.fullmatch(game.variant), game
    assert game.text is None or game.text.encode(), game
