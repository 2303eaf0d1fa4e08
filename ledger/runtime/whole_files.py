"""A small file that takes the place of another as a whole: what was there before is lost to no full disk."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

from ledger.runtime.sqlite import sync_folder


def replace_file(path: Path, content: bytes) -> None:
    """Put *content* in the place of a file, durably.

    Whoever reads, and whoever looks after a power cut, sees all of it or what was there before. A missing file is made;
    one that stands there keeps its permissions.

    Raises:
        OSError: it cannot be written; what was there stands.
    """
    target = path.resolve()
    making = target.with_name(f"{target.name}.making")
    with target.open("ab") if target.exists() else nullcontext():  # one that may not be written is not replaced
        pass
    try:
        with making.open("wb") as file:
            if target.exists():
                making.chmod(target.stat().st_mode & 0o777)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        making.replace(target)
    except OSError:
        making.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
