"""File formats of graphs and cross-tables, by the ending of a file's name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ledger.answers.graphs import png
from ledger.errors import MalformedError

NO_PNG = "PNG needs resvg-py, which is not installed: pip install 'rating-ledger[pictures]'"


def format_by_suffix(path: str | Path, endings: Mapping[str, str]) -> str:
    """Return the format of a file by the ending of its name; in *endings* the longer ones come first.

    Raises:
        MalformedError: the name has another ending, or nothing is installed that draws PNG.
    """
    name = Path(path).name
    kind = next((kind for ending, kind in endings.items() if name.lower().endswith(ending)), None)
    if kind is None:
        raise MalformedError([f"{name!r}: the name must end in {', '.join(endings)}"])
    if kind == "png" and not png.is_available():
        raise MalformedError([f"{name!r}: {NO_PNG}"])
    return kind
