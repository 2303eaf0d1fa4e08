"""What the fuzzer found: inputs kept in a folder, a few of each sort, with the words beside them. No attack is here."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import attrs

KEPT_OF_A_SORT = 3


@attrs.define
class Findings:
    """The folder where inputs are kept with what is wrong.

    Attributes:
        folder: where they are kept.
        name: the importer.
        sorts: how often each sort was met.
    """

    folder: Path
    name: str
    sorts: dict[str, int] = attrs.Factory(dict)

    def take(self, data: bytes, found: tuple[str, str] | None) -> None:
        """Keep an input that shows something wrong: a word for the sort, and a description."""
        if found is None:
            return
        sort, words = found
        count = self.sorts[sort] = self.sorts.get(sort, 0) + 1
        if count <= KEPT_OF_A_SORT:
            file = self.folder / f"{self.name}-{sort}-{hashlib.sha256(data).hexdigest()[:8]}"
            file.write_bytes(data)
            file.with_name(f"{file.name}.txt").write_text(f"{words}\n", "utf-8", "backslashreplace")
        if count <= KEPT_OF_A_SORT or count % 100 == 0:
            counts_file(self.folder, self.name).write_text(json.dumps(self.sorts))


def counts_file(folder: Path, name: str) -> Path:
    """Where a process leaves how often each sort was met."""
    return folder / f"{name}.found.json"
