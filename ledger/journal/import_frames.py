"""Frames of source games into the journal: a transaction for each, or one for all. The job judges the games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from ledger.facts.source_games import SourceRound
from ledger.journal import Journal
from ledger.journal.recorder_columns import GameImport
from ledger.runtime.long_work import ahead

if TYPE_CHECKING:
    from polars import DataFrame


def take_frames(
    journal: Journal,
    job: GameImport,
    frames: Iterable[DataFrame],
    *,
    strict: bool,
    faults_so_far: Callable[[], int],
    advance: Callable[[int], None],
    rounds: Callable[[], Sequence[SourceRound]] = tuple,
) -> None:
    """Take frames in order.

    Args:
        journal: where they are recorded.
        job: what judges and records them; it keeps the report.
        frames: frames in the columns of ``SourceGame``, read ahead of what is recorded.
        strict: one transaction for all; any fault leaves the journal as it was.
        faults_so_far: how many faults the importer found; with *strict* they count.
        advance: called with the number of games of each frame taken.
        rounds: the rounds without a game that the frames' source told, asked when it was read to its end.
    """
    with suppress(_NothingRecordedError):
        with journal.writing() if strict else nullcontext() as whole:
            for frame in ahead(frames):
                with nullcontext(whole) if whole is not None else journal.writing() as writer:
                    job.take(frame, writer)
                if whole is None:
                    job.committed()
                advance(len(frame))
            if telling := rounds():
                with nullcontext(whole) if whole is not None else journal.writing() as writer:
                    job.take_rounds(telling, writer)
            if strict and (job.report.fault_count or faults_so_far()):
                raise _NothingRecordedError  # only an exception undoes the transaction
        job.committed()


class _NothingRecordedError(Exception):
    """Ends a strict import with a fault; the transaction is undone."""
