"""CSV files of games, and what the importer makes of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ledger.facts.source_games import frame_schema
from ledger.imports.csv.games import frames
from ledger.imports.csv.rows import BATCH_CSV
from ledger.imports.reading import Reading
from tools import cli

SIZES = (1, 7, 64, 1000, BATCH_CSV)
BASE = {"white": "Ann", "black": "Bob", "result": "1-0", "date": "2013-06-04"}


def read_csv(
    content: str | bytes, size: int = BATCH_CSV, **options: Any
) -> tuple[list[dict[str, Any]], list[tuple[int, str]], Mapping[str, int]]:
    stored = content.encode() if isinstance(content, str) else content
    reading = Reading("games.csv")
    got = list(frames(io.BytesIO(stored), reading, size, **options))
    for frame in got:
        assert dict(frame.schema) == frame_schema()
        assert frame.height
    return (
        [row for frame in got for row in frame.to_dicts()],
        [(f.line, f.message) for f in reading.faults],
        reading.skipped,
    )


def csv_text(*rows: Mapping[str, str], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def good_game(options: Mapping[str, Any] | None = None, /, **fields: str) -> dict[str, Any]:
    """The one good game of a file with these columns beside the four needed."""
    games, faults, skipped = read_csv(csv_text({**BASE, **fields}), **(options or {}))
    assert (faults, skipped, len(games)) == ([], {}, 1)
    return games[0]


def fault_of(**fields: str) -> str:
    """The one fault of such a file."""
    games, faults, _ = read_csv(csv_text(BASE, {**BASE}) if not fields else csv_text({**BASE, **fields}))
    assert games == []
    assert [line for line, _ in faults] == [2]
    return faults[0][1]


def imported_club(folder: Path, scheme: str, lines: Sequence[str]) -> Path:
    """A ledger in *folder*, rated by *scheme*, with the games of these lines: key, players, result, day, half-moves."""
    path, file = folder / "club.db", folder / "games.csv"
    file.write_text("\n".join(["key,white,black,result,ended_at,half_moves", *lines]) + "\n", encoding="utf-8")
    assert cli.main(["init", str(path), "--scheme", scheme]) == 0
    assert cli.main(["import", str(path), str(file)]) == 0
    return path


FOUR_COLUMNS = "white,black,result,date\n"
