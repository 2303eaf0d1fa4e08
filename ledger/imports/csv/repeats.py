"""How often a file tells the same facts: the n-th telling of a game that has no key of its own. No CSV, no games.

For each facts told 12 bytes are kept, so that a file of millions of games without keys fits in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.runtime.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tally:
    """Counts tellings by a hash of 8 bytes, the same throughout one run."""

    def __init__(self) -> None:
        # Sorted hashes and how often each was met; each pair of arrays is more than twice as long as the next.
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.uint32]]] = []

    def numbers(self, met: NDArray[np.uint64]) -> NDArray[np.int64]:
        """For the hash of each telling, in order: 1 for the first of its facts, 2 for the second, and so on."""
        order = np.argsort(met, kind="stable")
        hashes, begins, counts = np.unique(met[order], return_index=True, return_counts=True)
        before = np.zeros(len(hashes), np.int64)
        for known, known_counts in self._runs:
            place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
            before += np.where(known[place] == hashes, known_counts[place], np.uint32(0))
        numbers = np.empty(len(met), np.int64)
        numbers[order] = np.arange(1, len(met) + 1) + np.repeat(before - begins, counts)
        self._keep(hashes, counts.astype(np.uint32))
        return numbers

    def _keep(self, hashes: NDArray[np.uint64], counts: NDArray[np.uint32]) -> None:
        while self._runs and len(self._runs[-1][0]) <= 2 * len(hashes):
            known, known_counts = self._runs.pop()
            both = np.concatenate((known, hashes))
            order = np.argsort(both, kind="stable")
            both, sums = both[order], np.concatenate((known_counts, counts))[order]
            begins = np.flatnonzero(np.concatenate(([True], both[1:] != both[:-1])))
            hashes, counts = both[begins], np.add.reduceat(sums, begins, dtype=np.uint32)
        self._runs.append((hashes, counts))
