"""Named histories of a ledger: commands in ``histories.toml``, and the rows of the views that they lead to.

A failure names the tables whose rows changed. The histories use every scheme, every kind of event and every verb of
corrections.
"""

import io
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing, redirect_stdout
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest

from ledger import handle
from ledger.correcting.verbs import VERBS
from ledger.facts.events import BY_KIND
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from ledger.schemes import built_in_names
from tests.kit import snapshots
from tests.kit.clubs import NAME
from tests.kit.places import TESTS
from tools import cli

SNAPSHOT = TESTS / "golden" / "views" / "histories.json"
WRITTEN: Mapping[str, Any] = tomllib.loads((TESTS / "histories" / "histories.toml").read_text("utf-8"))
HISTORIES: Mapping[str, Mapping[str, str]] = {
    name.replace("SCHEME", scheme): {**history, "commands": history["commands"].replace("SCHEME", scheme)}
    for name, history in WRITTEN["history"].items()
    for scheme in (built_in_names() if "SCHEME" in name else [""])
}


class MachineClock:
    """The clock of the machine, which a history sets."""

    def __init__(self) -> None:
        self.time = datetime.fromisoformat("2026-01-01T12:00:00Z")

    def now(self, _: tzinfo) -> datetime:
        """Return the time that the last line "clock" gave."""
        return self.time


def run_commands(commands: str, folder: Path, clock: MachineClock) -> None:
    """Run the lines of a history in its folder."""
    lines: Iterator[str] = iter(commands.strip().splitlines())
    for line in lines:
        if line.endswith(" <<"):
            (folder / line.removesuffix(" <<")).write_text("".join(f"{row}\n" for row in iter(lambda: next(lines), "")))
        elif line.startswith("clock "):
            clock.time = datetime.fromisoformat(line.removeprefix("clock "))
        elif line:
            command, _, kept = line.partition(" > ")
            words = [NAME if word == "DB" else word for word in shlex.split(command)]
            with redirect_stdout(io.StringIO()) as printed:
                assert cli.main(words) == 0, line
            if kept:
                (folder / kept).write_text(printed.getvalue())
                (folder / kept).chmod(0o600)


@pytest.fixture(scope="module", name="clubs")
def _clubs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """By name the folder of each club that histories begin with."""
    folders = {name: tmp_path_factory.mktemp(name) for name in WRITTEN["clubs"]}
    for name, folder in folders.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(handle, "datetime", clock := MachineClock())
            run_commands(WRITTEN["clubs"][name]["commands"], folder, clock)
    return folders


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_leads_to_the_same_rows(
    name: str, clubs: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = HISTORIES[name]
    if "club" in history:
        shutil.copytree(clubs[history["club"]], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(handle, "datetime", clock := MachineClock())
    run_commands(history["commands"], tmp_path, clock)
    with Ledger.open(tmp_path / NAME) as opened:
        opened.catch_up()
    with closing(sqlite.connect(tmp_path / NAME, read_only=True)) as journal:
        kinds = dict(journal.execute("SELECT kind, count(*) FROM journal GROUP BY kind ORDER BY kind"))
    tables = snapshots.digests_of_views(sidecar(tmp_path / NAME, "views"))
    snapshots.check_item(SNAPSHOT, name, {"entries": kinds, "tables": tables})


def test_the_histories_use_every_scheme_every_kind_of_event_and_every_verb() -> None:
    snapshots.check_names(SNAPSHOT, list(HISTORIES))
    commands = "\n".join(history["commands"] for history in HISTORIES.values())
    assert set(built_in_names()) <= set(re.findall(r"^init DB --scheme (\S+)", commands, re.MULTILINE))
    assert set(VERBS) <= set(re.findall(r"^correct DB (\S+)", commands, re.MULTILINE))
    recorded = {kind for item in snapshots.items(SNAPSHOT).values() for kind in item["entries"]}
    assert set(BY_KIND) - recorded == set()
