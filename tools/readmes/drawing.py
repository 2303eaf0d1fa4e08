"""Make the pictures of the READMEs: rating graphs of the sample club, the same bytes every time.

``python -m tools.readmes.drawing`` writes them; ``--check`` exits 1 when they are not what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.answers.graphs import pages, svg
from ledger.answers.graphs.looks import Look
from ledger.imports.files import open_source
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import frames
from ledger.ledger import Ledger
from ledger.players.people import SECRET_BYTES

from .. import output
from ..sample.__main__ import FILE

_SECRET = bytes(SECRET_BYTES)
FOLDER = Path(__file__).with_name("pictures")


def pictures() -> Mapping[str, str]:
    """The pictures by the name of their files: the last games, two players by date, a page in black and white."""
    with TemporaryDirectory() as folder, Ledger.create(Path(folder) / "club.db") as ledger:
        ledger.people.take_secret(_SECRET)  # the same keys in every drawing
        with open_source(str(FILE)) as source:
            ledger.import_games(frames(pgn.games(source.stream(), source.reading)))
        ledger.level()
        ann, bob, emma = (ledger.player(name) for name in ("ann", "bob", "emma"))
        return {
            "emma.svg": svg.draw(pages.page(ledger, emma), Look(opponents=True)),
            "ann-and-bob.svg": svg.draw(pages.page(ledger, ann, number=1, by="date", against=bob)),
            "emma-mono.svg": svg.draw(pages.page(ledger, emma, number=1), Look(mono=True)),
        }


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the pictures; returns the exit code."""
    wanted = pictures()
    stale = [
        name
        for name, text in wanted.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if "--check" in (sys.argv[1:] if argv is None else argv):
        for name in stale:
            output.remark(f"{name} differs: run 'python -m tools.readmes.drawing'")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        output.save(FOLDER / name, wanted[name].encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
