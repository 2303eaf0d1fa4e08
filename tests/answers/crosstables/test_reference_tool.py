"""Places and tie-breaks of 200 tournaments with byes, absences, forfeits and rematches, against FIDE's reference tool.

``reference_tool.txt.xz`` names the tool and its commit, and describes its own lines. Each tournament becomes a report.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import attrs
import pytest

from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.ledger import Ledger
from tests.kit.source_files import written
from tests.tiers import times
from tools import cli

FORMATS = {"swiss": "092 Individual: Swiss-System", "all-play-all": "092 Individual: Round-Robin"}
TIE_BREAKS = (
    "wins", "games-won", "games-with-black", "wins-with-black", "progressive", "buchholz", "buchholz-cut-1",
    "buchholz-cut-2", "buchholz-median-1", "opponents-buchholz", "sonneborn-berger", "koya",
)  # fmt: skip
CELL = re.compile(r"(\d*)([wb]?)(.)")


@attrs.frozen
class Calculated:
    """A tournament, and by number of a player the tool's points and tie-breaks, and the place by direct encounter."""

    name: str
    kind: str
    rounds: int
    rows: list[list[str]] = attrs.Factory(list)
    values: dict[int, list[str]] = attrs.Factory(dict)
    places: dict[int, int] = attrs.Factory(dict)

    def report(self, *, states_format: bool) -> str:
        """Return the tournament as a report, of players whom no other one has."""
        own = f"{self.name}{'' if states_format else ' unnamed'}"
        head = [f"012 {own}", "042 2026/05/02", "052 2026/05/09", f"142 {self.rounds}"]
        head += [FORMATS[self.kind]] if states_format else []
        return "\n".join([*head, *(self._line(number, own) for number in range(1, len(self.rows) + 1))]) + "\n"

    def _line(self, number: int, own: str) -> str:
        cells = ""
        for cell in self.rows[number - 1]:
            opponent, colour, result = CELL.fullmatch(cell).groups()  # type: ignore[union-attr]
            cells += f"  {opponent or '0000':>4} {colour or '-'} {result}"
        return f"001 {number:4}      {f'{own}, P{number}':33} ".ljust(89) + cells


def calculated() -> list[Calculated]:
    tournaments: list[Calculated] = []
    data = lzma.decompress(Path(__file__).with_name("reference_tool.txt.xz").read_bytes()).decode()
    for line in data.splitlines():
        if line.startswith("#"):
            continue
        cells, bar, values = line.partition("|")
        if not bar:
            kind, rounds = line.split()
            tournaments.append(Calculated(f"Cup {len(tournaments)}", kind, int(rounds)))
            continue
        tournaments[-1].rows.append(cells.split())
        *numbers, place = values.split()
        tournaments[-1].values[len(tournaments[-1].rows)] = numbers
        tournaments[-1].places[len(tournaments[-1].rows)] = int(place)
    return tournaments


EVERY = calculated()
TRIED = EVERY[:: len(EVERY) // times(quick=8, ci=200, nightly=200)]


@pytest.fixture(name="reference_cups", scope="module")
def _cups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """Each tournament twice: with its format stated, and without."""
    folder = tmp_path_factory.mktemp("reference")
    reports = "".join(cup.report(states_format=stated) for cup in TRIED for stated in (True, False))
    assert cli.main(["init", str(folder / "cups.db"), "--scheme", "elo"]) == 0
    assert cli.main(["import", str(folder / "cups.db"), str(written(folder, "cups.trf", reports.encode()))]) == 0
    with Ledger.open(folder / "cups.db") as ledger:
        yield ledger


def test_there_are_200_tournaments() -> None:
    assert (len(EVERY), sum(cup.kind == "all-play-all" for cup in EVERY)) == (200, 60)


def test_every_tie_break_is_that_of_the_reference_tool(reference_cups: Ledger) -> None:
    choice = TableOptions(tie_breaks=TIE_BREAKS)
    for cup in TRIED:
        page = crosstable(reference_cups, cup.name, choice=choice)
        assert (page.format, page.format_is, page.rounds) == (cup.kind, "told", cup.rounds)
        for row in page.standings:
            number = int(row.name.rpartition("P")[2])
            shown = [row.points, *(row.tie_breaks[name] for name in TIE_BREAKS)]
            expected = [None if text in {"None", "-0"} else Decimal(text) for text in cup.values[number]]
            rounded = [
                None if value is None else Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_UP) for value in shown
            ]
            assert rounded == expected, (cup.name, number, dict(zip(("points", *TIE_BREAKS), shown, strict=True)))


def test_direct_encounter_gives_the_places_of_the_reference_tool(reference_cups: Ledger) -> None:
    for cup in TRIED:
        page = crosstable(reference_cups, cup.name, choice=TableOptions(tie_breaks=("direct-encounter",)))
        places = {int(row.name.rpartition("P")[2]): row.first_place for row in page.standings}
        assert places == cup.places, cup.name


def test_without_a_stated_format_it_is_seen_in_the_games(reference_cups: Ledger) -> None:
    seen = {cup.name: crosstable(reference_cups, f"{cup.name} unnamed").format for cup in TRIED}
    assert seen == {cup.name: cup.kind for cup in TRIED}
