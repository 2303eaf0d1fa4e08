"""Plug-ins that are broken or gone: named with their package, and in nobody's way who does not use them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.commands import Done
from tests.kit.places import ROOT, SAMPLE, TESTS
from tests.tiers import PROFILE
from tools.commands import FALSE, REFUSED

pytestmark = pytest.mark.slow

ENTRY_POINTS = """
[ledger.schemes]
plain-elo = club_extras.scheme:SCHEME

[ledger.projectors]
win_streaks = club_extras.plugins:WIN_STREAKS
"""
SCHEME = """
import attrs
from ledger.schemes import find_scheme
SCHEME = attrs.evolve(find_scheme("elo"), name="plain-elo")
"""


class Site:
    """A folder of installed packages, and the command that finds them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        about = folder / "club_extras-1.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: club-extras\nVersion: 1\n")
        (about / "entry_points.txt").write_text(ENTRY_POINTS)
        self.package = folder / "club_extras"
        self.package.mkdir()
        (self.package / "__init__.py").touch()
        (self.package / "scheme.py").write_text(SCHEME)
        shutil.copy(TESTS / "kit" / "plugins.py", self.package)

    def run(self, *words: object, without: bool = False) -> Done:
        """Run a command; *without* the packages of this folder."""
        path = str(ROOT) if without else f"{self.folder}{os.pathsep}{ROOT}"
        done = subprocess.run(
            [sys.executable, "-m", "tools.cli", *map(str, words)],
            cwd=ROOT,
            # Whatever is compiled for this folder goes with it; by night it is compiled all the same.
            env={**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": str(int(PROFILE != "nightly"))},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def break_module(self, name: str) -> None:
        (self.package / f"{name}.py").write_text("import a_package_that_is_gone\n")


@pytest.fixture(name="site")
def _site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


def test_a_broken_plug_in_is_named_and_left_out_where_it_is_not_used(site: Site, sample_club: Path) -> None:
    for module in ("scheme", "plugins"):
        site.break_module(module)
    before = site.run("ratings", sample_club, "--limit", "3", without=True)
    done = site.run("ratings", sample_club, "--limit", "3")
    assert (done.code, done.out) == (0, before.out)
    (left_out,) = [line for line in done.err.splitlines() if line.startswith("left out: ")]
    assert left_out == (
        "left out: win_streaks: the plug-in 'club_extras.plugins:WIN_STREAKS' of package 'club-extras' cannot be "
        "loaded (ModuleNotFoundError: No module named 'a_package_that_is_gone'): install the package again, or "
        "remove it"
    )
    listed = site.run("scheme", "list")
    assert listed.code == 0
    assert "plain-elo" not in listed.out
    assert "left out: plain-elo: the plug-in 'club_extras.scheme:SCHEME' of package 'club-extras'" in listed.err
    assert site.run("audit", sample_club).code == 0


def test_a_ledger_that_keeps_its_table_goes_on_without_it_and_loses_nothing(site: Site, sample_club: Path) -> None:
    asked = ("query", sample_club, "SELECT max(n) AS n FROM win_streaks")
    assert "no table 'win_streaks'" in site.run(*asked).err  # what is offered is only at hand
    assert site.run("policy", "set", sample_club, "read-models", "win_streaks=true").code == 0
    stood = site.run(*asked)
    assert stood.code == 0
    whole = (site.package / "plugins.py").read_text()
    site.break_module("plugins")
    assert site.run(*asked).out == stood.out  # nobody has recorded anything since
    game = ("--white", "1", "--black", "2", "--result", "1-0", "--ended", "2021-11-01", "--half-moves", "40")
    assert site.run("record", sample_club, *game).code == 0
    done = site.run(*asked)
    assert (done.code, done.out) == (REFUSED, "")
    assert done.err.startswith("error: win_streaks: the plug-in 'club_extras.plugins:WIN_STREAKS' of package 'club-e")
    assert site.run("audit", sample_club).code != FALSE
    (site.package / "plugins.py").write_text(whole)
    assert site.run(*asked).code == 0
    assert "\nwin_streaks " in site.run("audit", sample_club).out


def test_a_ledger_that_needs_a_scheme_says_which_package_brings_it(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    done = site.run("init", path, "--scheme", "plain-elo")
    assert done.code == 0
    assert "note: scheme 'plain-elo' is brought by package 'club-extras'" in done.err
    assert site.run("import", path, SAMPLE).code == 0
    answer = site.run("ratings", path)
    assert answer.code == 0
    done = site.run("ratings", path, without=True)
    assert (done.code, done.out) == (REFUSED, "")
    assert done.err == (
        "error: no scheme 'plain-elo' installed; this ledger is rated by it: install the package 'club-extras', which "
        "brought it\n"
    )
    assert site.run("audit", path).code == 0
    path.with_name("club.views.db").unlink()
    assert "no scheme 'plain-elo' installed" in site.run("ratings", path, without=True).err
    site.break_module("scheme")
    done = site.run("ratings", path)
    assert done.code == REFUSED
    assert "the plug-in 'club_extras.scheme:SCHEME' of package 'club-extras' cannot be loaded" in done.err


def test_a_scheme_plug_in_of_another_kind_is_named_as_broken(site: Site, tmp_path: Path) -> None:
    (site.package / "scheme.py").write_text("SCHEME = {'name': 'plain-elo'}\n")
    why = (
        "plain-elo: the plug-in 'club_extras.scheme:SCHEME' of package 'club-extras' cannot be loaded "
        "(TypeError: dict, where a Scheme should stand): install the package again, or remove it\n"
    )
    done = site.run("init", tmp_path / "club.db", "--scheme", "plain-elo")
    assert done.code == REFUSED
    assert done.err.startswith(f"error: unknown-scheme: {why}")
    shown = site.run("scheme", "show", "plain-elo")
    assert shown.code == REFUSED
    assert shown.err.startswith(f"error: {why}")


def test_a_projector_plug_in_of_another_kind_is_named_and_left_out(site: Site, sample_club: Path) -> None:
    (site.package / "plugins.py").write_text("def WIN_STREAKS(): ...\n")
    done = site.run("ratings", sample_club)
    assert done.code == 0
    assert (
        "left out: win_streaks: the plug-in 'club_extras.plugins:WIN_STREAKS' of package 'club-extras' cannot be "
        "loaded (TypeError: function, where a DeclaredProjector or a DeclaredFactProjector should stand)"
    ) in done.err


def test_the_list_of_schemes_tells_the_package(site: Site) -> None:
    packages = {row["scheme"]: row["package"] for row in json.loads(site.run("scheme", "list").out)}
    assert packages["plain-elo"] == "club-extras"
    assert set(packages.values()) == {"club-extras", "rating-ledger"}
