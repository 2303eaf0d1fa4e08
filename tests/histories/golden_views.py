"""Digests of the views of every ledger that the tests make, checked by night: a change of the code moves no number.

``tests/golden/views/digests.json`` has, by test, one digest over the rows of all views that stand in the test's folder
at its end. It is written from two runs of the suite, so that what a clock or chance decides is left out:

    LEDGER_PROFILE=nightly LEDGER_VIEWS=first.txt  pytest …
    LEDGER_PROFILE=nightly LEDGER_VIEWS=second.txt pytest …
    python -m tests.histories.golden_views first.txt second.txt

The named histories (``tests/histories/histories.toml``) say in every run which table changed, and take their place:
this module and its file go when projectors no longer write SQL by hand, for until then they show that no test's
ledger changed.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from ledger.runtime import sqlite
from tests.kit.snapshots import SHOWN, rows_of_views
from tests.tiers import PROFILE

GOLDEN = Path(__file__).parents[1] / "golden" / "views" / "digests.json"
NOTED_IN = "LEDGER_VIEWS"


def digest_of(folder: Path) -> str:
    """One digest over all views in a folder, empty where there are none; damaged ones do not count."""
    digests = sorted(filter(None, map(_known_digest, folder.rglob("*.views.db"))))
    return sha256("".join(digests).encode()).hexdigest()[:SHOWN] if digests else ""


_DIGESTS: dict[str, str] = {}  # by the bytes of the files: many tests only read a copy of the same ledger


def _known_digest(views: Path) -> str:
    log = views.with_name(f"{views.name}-wal")
    try:
        content = sha256(views.read_bytes() + (log.read_bytes() if log.exists() else b"")).hexdigest()
    except OSError:
        return ""
    if content not in _DIGESTS:
        _DIGESTS[content] = _digest(views)
    return _DIGESTS[content]


def _digest(views: Path) -> str:
    digest = sha256()
    try:
        with closing(sqlite.sqlite3.connect(f"{views.as_uri()}?mode=ro", uri=True)) as connection:
            for table, rows in rows_of_views(connection):
                digest.update("\n".join([table, *rows]).encode())
    except (sqlite.sqlite3.Error, OSError, ValueError):
        return ""
    return digest.hexdigest()


@cache
def _golden() -> Mapping[str, Mapping[str, str]]:
    golden: Mapping[str, Mapping[str, str]] = json.loads(GOLDEN.read_text("utf-8"))
    return golden


def check(item: pytest.Item) -> None:
    """Hold the ledgers of a test that has run against their digest, or note it where a run is asked to."""
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if PROFILE != "nightly" or folder is None or hasattr(getattr(item, "obj", None), "hypothesis"):
        return
    file, _, test = item.nodeid.partition("::")
    noted = os.environ.get(NOTED_IN)
    golden = _golden().get(file, {}).get(test)
    if noted is None and golden is None:
        return
    digest = digest_of(folder)
    if noted is not None:
        if digest:
            with Path(noted).open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([file, test, digest]) + "\n")
        return
    assert digest == golden, f"the ledgers of {item.nodeid} derive other rows than before"


def merged(*runs: Path) -> dict[str, dict[str, str]]:
    """By file and test the digests that are the same in every run."""
    told = []
    for run in runs:
        lines = map(json.loads, run.read_text("utf-8").splitlines())
        told.append({(file, test): digest for file, test, digest in lines})
    same = sorted(key for key in told[0] if all(run.get(key) == told[0][key] for run in told))
    found: dict[str, dict[str, str]] = {}
    for file, test in same:
        found.setdefault(file, {})[test] = told[0][file, test]
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(merged(*map(Path, sys.argv[1:])), ensure_ascii=True, indent=0) + "\n", "utf-8")
