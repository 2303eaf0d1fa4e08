"""Views that follow facts as a test records them: what the contracts of both shapes of projectors do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from ledger.facts.events import Event
from ledger.ratings.views import Views
from ledger.testing.games import record

# How a backlog is forced to be met: a constant of ``ratings.views`` and its value.
WAYS = (("FEW_ENTRIES", 2_000), ("FEW_ENTRIES", 0), ("BUILD_FROM", 60))


def fresh(folder: Path) -> Path:
    """The place of views in a new folder."""
    folder.mkdir()
    return folder / "club.views.db"


def take(updated: Views, slices: Sequence[Sequence[Event]]) -> None:
    """Record each slice and catch up after it."""
    for facts in slices:
        record(updated.journal, facts)
        assert updated.catch_up() == updated.journal.size()


def slicings(facts: Sequence[Event], seeds: Sequence[int]) -> Iterator[tuple[int, list[Sequence[Event]]]]:
    """By seed, the facts cut at random places."""
    for seed in seeds:
        random = Random(seed)  # noqa: S311
        cuts = sorted({0, len(facts), *(random.randrange(len(facts)) for _ in range(8))})
        yield seed, [facts[first:last] for first, last in pairwise(cuts)]
