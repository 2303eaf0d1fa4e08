"""The pictures of the READMEs: rating graphs of the sample club, with the same bytes every time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.answers.graphs import page_reader, svg
from ledger.answers.graphs.looks import Look
from ledger.imports.files import open_source
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.players.persons import SECRET_BYTES

from ..sample.__main__ import FILE

_SECRET = bytes(SECRET_BYTES)
FOLDER = Path(__file__).with_name("pictures")


def pictures() -> Mapping[str, str]:
    """Draw the last games, two players by date, and a page in black and white; by the names of the files."""
    with TemporaryDirectory() as folder, Ledger.create(Path(folder) / "club.db") as ledger:
        ledger.people.adopt_secret(_SECRET)  # the same keys in every drawing
        with open_source(str(FILE)) as source:
            ledger.import_games(batch_games(pgn.read_games(source.lines(), source.reading)))
        ledger.ensure_up_to_date()
        ann, bob, emma = (ledger.player(name) for name in ("ann", "bob", "emma"))
        return {
            "emma.svg": svg.draw(page_reader.read_page(ledger, emma), Look(opponents=True)),
            "ann-and-bob.svg": svg.draw(page_reader.read_page(ledger, ann, number=1, by="date", against=bob)),
            "emma-mono.svg": svg.draw(page_reader.read_page(ledger, emma, number=1), Look(mono=True)),
        }


def write(*, check: bool) -> dict[str, bool]:
    """Draw the pictures that differ from their files; with *check* only find them.

    Returns:
        True for each picture that differed.
    """
    differs = {}
    for name, text in pictures().items():
        file = FOLDER / name
        differs[name] = not file.is_file() or file.read_text("utf-8") != text
        if differs[name] and not check:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
    return differs
