"""A list of players into a new ledger, beside bare ``executemany`` of the rows that it leaves."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from ledger.imports.files import open_source
from ledger.imports.players import formats
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import beside

from .measuring import SecondsTaken, both_lines, cost_of
from .rival_stores import rewrite_tables
from .table import Line

HEADER = "identity,name,rating,games,rd,birth_year,standing,since\n"


def list_lines(folder: Path, rounds: int, players: int) -> Iterator[Line]:
    """The import of one list of so many players, in turns with the rows alone."""
    listed = folder / "players.csv"
    with listed.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        file.writelines(
            f'fide:{1_000_000 + i},"Family{i % 70_000}, Given{i % 9_000}",{1400 + i % 1400},{i % 300},{40 + i % 300},'
            f"{1940 + i % 75},,2024-01-01\n"
            for i in range(players)
        )
    imports: list[SecondsTaken] = []
    bare: list[SecondsTaken] = []
    for _ in range(rounds):
        made = folder / "made"
        made.mkdir()
        club = made / "club.db"
        imports.append(_imported(club, listed, players))
        journal = rewrite_tables(club, made / "journal.db", synchronous="FULL")
        bare.append(journal.plus(rewrite_tables(beside(club, "people"), made / "people.db", synchronous="FULL")))
        shutil.rmtree(made)
    yield from both_lines("players", f"{players:,} players", imports, bare)


def _imported(club: Path, listed: Path, players: int) -> SecondsTaken:
    with Ledger.create(club, scheme="fide") as ledger, open_source(str(listed)) as source:
        ledger.level()

        def take() -> None:
            report = ledger.registry.take_list(formats.frames(source, "csv", "standard", None), actor="bench")
            assert report.seeded == players

        return cost_of(take)
