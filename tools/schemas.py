"""Write the published JSON Schemas of the journal's entries, or check that the published ones are up to date.

``python -m tools.schemas`` writes schemas/events/*.json; with ``--check`` it writes nothing, names the files
that differ and exits 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ledger.schema import documents

PUBLISHED = Path(__file__).parent.parent / "schemas" / "events"


def differing(folder: Path) -> list[Path]:
    """The files of *folder* that are missing, differ from the event classes, or belong to none of them."""
    wanted = documents()
    stale = [path for path in sorted(folder.glob("*.json")) if path.name not in wanted]
    return stale + [
        folder / name
        for name, text in wanted.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.schemas", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only name the files that differ")
    parser.add_argument("--into", type=Path, default=PUBLISHED, help="folder to write or check")
    options = parser.parse_args(argv)
    wrong = differing(options.into)
    if options.check:
        for path in wrong:
            print(f"{path}: differs from the event classes; run 'python -m tools.schemas'", file=sys.stderr)
        return 1 if wrong else 0
    options.into.mkdir(parents=True, exist_ok=True)
    for path in wrong:
        text = documents().get(path.name)
        if text is None:
            path.unlink()
            print(f"removed {path}")
        else:
            path.write_bytes(text.encode())
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
