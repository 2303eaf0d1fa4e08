"""The command that writes what Datasette needs to serve the views as they are."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ledger.answers.datasette_metadata import metadata
from ledger.errors import MalformedError

from .. import output
from . import DB, no_dash, open_up_to_date


@click.command()
@DB
@click.option("-o", "--output", "target", metavar="FILE", callback=no_dash, help="Where to; - is standard output.")
@click.option("--export", "exported", metavar="FILE", help="Also for this file, which 'export' made as SQLite.")
def datasette(db_path: str, target: str | None, exported: str | None) -> None:
    """The metadata by which Datasette serves the views, or an export of them, with units, labels and ready questions.

    The views hold no names; an export holds them where it was made with --names. Datasette is a program of its own:
    'pip install datasette'. Its option --crossdb joins several files.

    \b
    Example:
      rating-ledger datasette club.db -o metadata.json
      datasette club.views.db --metadata metadata.json
      rating-ledger export club.db players games history --names -o open.db
      rating-ledger datasette club.db --export open.db -o metadata.json
      datasette open.db --metadata metadata.json
    """
    with open_up_to_date(db_path) as ledger:
        made = metadata(ledger, exported)
        if target is None:
            output.write_one(made, None)
            return
        if "\0" in target:
            raise MalformedError([f"{target!r} is no name of a file"])
        output.save(Path(target), (json.dumps(made, indent=2, ensure_ascii=False) + "\n").encode())
        databases = " and ".join(f"{name}.db" for name in made["databases"])
        output.answer(f"{target}: serve it by 'datasette FILE --metadata {target}', FILE being {databases}")
