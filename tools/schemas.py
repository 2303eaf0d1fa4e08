"""Write the published JSON Schemas, or check that the published ones are up to date.

``python -m tools.schemas`` writes schemas/events/*.json, of the journal's entries, schemas/exports/*.json, of documents
and exported rows, schemas/answers/*.json, of what commands print as JSON, and schemas/api/v1.json, of what is answered
over HTTP (OpenAPI); with ``--check`` it writes nothing, names the files that differ and exits 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from ledger.answers import published_schemas
from ledger.facts import json_schemas

from . import output, running
from .serve import openapi

PUBLISHED = Path(__file__).parent.parent / "schemas"
FOLDERS: Mapping[str, Callable[[], dict[str, str]]] = {
    "events": json_schemas.documents,
    "exports": published_schemas.export_schemas,
    "answers": published_schemas.answer_schemas,
    "api": lambda: {"v1.json": openapi.text()},
}


def documents() -> dict[str, str]:
    """Return every schema as the text of a file, by its place in the folder: ``events/game-recorded-1.json``, ..."""
    return {f"{folder}/{name}": text for folder, made in FOLDERS.items() for name, text in made().items()}


def differing(folder: Path) -> list[Path]:
    """Return the files of *folder* that are missing, differ from the classes, or belong to none of them."""
    wanted = documents()
    found = [path for name in FOLDERS for path in sorted((folder / name).glob("*.json"))]
    stale = [path for path in found if path.relative_to(folder).as_posix() not in wanted]
    return stale + [
        folder / name
        for name, text in wanted.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()
    ]


@click.command()
@click.option("--check", is_flag=True, help="Only name the files that differ.")
@click.option("--into", default=PUBLISHED, type=click.Path(file_okay=False, path_type=Path), help="Folder of them.")
def command(check: bool, into: Path) -> None:
    """Write the published schemas of entries, exports, answers and the API, or check that they are up to date.

    \b
    Example:
      python -m tools.schemas --check
    """
    wrong = differing(into)
    if check:
        for path in wrong:
            output.remark(f"{path}: differs from the classes; run 'python -m tools.schemas'")
        sys.exit(1 if wrong else 0)
    for path in wrong:
        text = documents().get(path.relative_to(into).as_posix())
        if text is None:
            path.unlink()
            output.answer(f"removed {path}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            output.save(path, text.encode())
            output.answer(f"wrote {path}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    return running.run(command, argv, "python -m tools.schemas")


if __name__ == "__main__":
    running.as_process(main)
