"""The progress of long work: bars on standard error, only on a terminal, and other listeners."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Never, Self

from ledger.imports.reading import Reading
from ledger.runtime.lazy import tqdm
from ledger.runtime.visible import visible

listeners: list[Callable[[str, int, int], None]] = []  # get the same as a bar: what, how much, of how much


class Bars:
    """One bar at a time, for work that reports its name, how much is done, and of how much."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._bar: tqdm.tqdm[Never] | None = None
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that *done* of *total* of *what* is finished; a new *what* begins a new bar."""
        for listener in listeners:
            listener(what, done, total)
        if not self._shown:
            return
        if what != self._what or self._bar is None:
            self.close()
            self._what = what
            self._bar = tqdm.tqdm(
                total=total, desc=visible(what), unit="", unit_scale=True, file=sys.stderr, leave=False
            )
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Take the bar away, as before a question."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ReadingBar:
    """A bar over one file: bytes of the file for the time left, games a second for the speed."""

    def __init__(self, reading: Reading, size: int | None) -> None:
        """Show progress through *reading*; *size* is the file's size in bytes, None if unknown."""
        self._reading = reading
        self._games = 0
        self._bar = tqdm.tqdm(
            total=size,
            desc=visible(reading.name),
            unit="B",
            unit_scale=True,
            file=sys.stderr,
            leave=False,
            disable=not sys.stderr.isatty(),
        )

    def advance(self, games: int) -> None:
        """Note *games* more games."""
        self._games += games
        elapsed = self._bar.format_dict["elapsed"] or 1.0
        self._bar.set_postfix_str(f"{self._games:,} games, {self._games / elapsed:,.0f} games/s", refresh=False)
        self._bar.update(self._reading.bytes_read - self._bar.n)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()
