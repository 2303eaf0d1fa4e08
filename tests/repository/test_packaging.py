"""The wheel: what is in it, and that it works in a clean environment far from the checkout, plug-ins included.

It is made of the source archive, so that this holds all that is needed.
"""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.docs import readmes
from tests.kit.places import ROOT
from tests.tiers import PROFILE

pytestmark = pytest.mark.outside  # pip brings what builds the package

ABOUT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = ABOUT["project"]["version"]
BUILT_FROM = (
    ".github", "ledger", "tools", "schemas", "pyproject.toml", "MANIFEST.in", "README.md", "CHANGELOG.md",
    "SECURITY.md", "LICENSE",
)  # fmt: skip
SHIPPED = (
    "tools/*.py",
    "tools/checker/*.py",
    "tools/checker/page/*",
    "tools/checker/stand_ins/**/*.py",
    "tools/commands/*.py",
    "tools/sample/*.py",
    "tools/serve/*.py",
    "tools/serve/*.json",
    "tools/serve/static/*",
    "tools/serve/templates/*.html",
    "tools/serve/templates/*.xml",
    "tools/serve/templates/*/*.html",
    "schemas/*.py",
    "schemas/*/*.json",
)
UNREACHABLE = re.compile(r"new connection|name resolution|not known|connection refused|timed out|ProxyError", re.I)

PLUG_IN_PYPROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "club-extras"
version = "1"
dependencies = ["rating-ledger"]

[project.entry-points."ledger.schemes"]
plain-elo = "club_extras.elo:SCHEME"

[project.entry-points."ledger.projectors"]
win_streaks = "club_extras.streaks:WIN_STREAKS"

[tool.setuptools]
packages = ["club_extras"]
"""
PLAIN_ELO = '''
"""Elo with one K, as an outside author would write it."""

import attrs

from ledger import Scheme
from ledger.runtime.arith import logistic
from ledger.schemes.scheme import Explanation, Term, state
from ledger.schemes.settings import numbers_of, setting


@attrs.frozen(kw_only=True)
class Settings:
    initial: float = setting(1500.0, "rating of a newcomer", "points", "our club")
    k: float = setting(20.0, "K-factor", "points", "our club")


Numbers = numbers_of(Settings)


@attrs.define
class Player:
    rating: float = state("points")


def enter(newcomer, numbers):
    return Player(numbers.initial if newcomer.declared is None else newcomer.declared)


def rate_game(white, black, score, day, numbers):
    gain = numbers.k * (score - logistic(white.rating - black.rating))
    white.rating += gain
    black.rating -= gain


def expected_score(player, opponent, numbers):
    return logistic(player.rating - opponent.rating)


def explain(own, meetings, when, numbers):
    r, (met,) = own.before.rating, meetings
    terms = (
        Term("r", r, "rating before"), Term("K", numbers.k, "K-factor"), Term("w", met.score, "score"),
        Term("E", logistic(r - met.opponent.rating), "expected score"),
    )
    return Explanation("r + K·(w - E)", terms, own.after.rating, own.after.rating, "none", "our club")


SCHEME = Scheme(
    name="plain-elo", title="Plain Elo", source="our club", version=1, settings=Settings, numbers=Numbers,
    player=Player, enter=enter, rate_game=rate_game, expected_score=expected_score, explain=explain,
)
'''


def ran(command: list[str | Path], folder: Path, code: int = 0, settings: Mapping[str, str] | None = None) -> str:
    """Output and errors of a command in *folder*, out of reach of the checkout; it must end with *code*."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        command, cwd=folder, env=environment | dict(settings or {}), capture_output=True, text=True, check=False
    )
    told = done.stdout + done.stderr
    if done.returncode != code and UNREACHABLE.search(told):
        pytest.skip("needs the package index, which is out of reach")
    assert done.returncode == code, told
    assert "Traceback" not in told
    return told


def pip_of(python: Path) -> list[str | Path]:
    """The pip of these tests, working for another environment: one of its own takes as long to make as all the rest."""
    return [sys.executable, "-m", "pip", "--python", python]


def link_requirements(environment: Path) -> None:
    """Link what the installed wheel declares, and what that needs in turn, from the environment of these tests.

    To install it takes half a minute, and ``sh tools/run`` has just done so for these tests; by night pip does it here.
    """
    (site,) = environment.glob("lib/python*/site-packages")
    (installed,) = distributions(name="rating-ledger", path=[str(site)])
    waiting, done = [(word, "") for word in installed.requires or ()], set[tuple[str, str]]()
    while waiting:
        word, extra = waiting.pop()
        requirement = Requirement(word)
        if (word, extra) in done or not (requirement.marker is None or requirement.marker.evaluate({"extra": extra})):
            continue
        done.add((word, extra))
        package = distribution(requirement.name)
        assert package.version in requirement.specifier, word
        waiting += [(more, each) for more in package.requires or () for each in ("", *requirement.extras)]
        for name in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            if not (site / name).exists():
                (site / name).symlink_to(str(package.locate_file(name)))


def copy_source(folder: Path) -> None:
    """What the package is built from, without what earlier builds left."""
    folder.mkdir()
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        else:
            shutil.copy(ROOT / name, folder / name)


@pytest.fixture(scope="module")
def needed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages that build ours, and no others."""
    folder = tmp_path_factory.mktemp("needed")
    ran(
        [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, *ABOUT["build-system"]["requires"]],
        folder,
    )
    return folder


@pytest.fixture(scope="module")
def building(needed: Path) -> dict[str, str]:
    """Settings by which pip builds with those packages; by night it fetches them for each build."""
    # to pip "false" is the value of the setting that --no-build-isolation sets
    return {} if PROFILE == "nightly" else {"PYTHONPATH": str(needed), "PIP_NO_BUILD_ISOLATION": "false"}


@pytest.fixture(scope="module")
def archive(needed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, made from a copy, so that nothing left over from earlier builds gets in."""
    source = tmp_path_factory.mktemp("built") / "source"
    copy_source(source)
    make = "import backend; backend.build_sdist('made')"
    environment = {**os.environ, "PYTHONPATH": f"{needed}{os.pathsep}{source / 'tools' / 'building'}"}
    done = subprocess.run(
        [sys.executable, "-c", make], cwd=source, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (made,) = (source / "made").iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(archive: Path, building: dict[str, str]) -> Path:
    """The wheel, built from the source archive."""
    command: list[str | Path] = [sys.executable, "-m", "pip", "wheel", archive, "--no-deps", "-v", "-w", "made"]
    words = ran(command, archive.parent, settings=building)
    assert "importable" not in words.lower()  # setuptools' word for data that it takes for a package
    (made,) = (archive.parent / "made").iterdir()
    return made


def test_the_source_archive_holds_the_checkout(archive: Path) -> None:
    with tarfile.open(archive) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    checkout = {
        path.relative_to(ROOT).as_posix()
        for name in BUILT_FROM
        for path in [ROOT / name, *(ROOT / name).rglob("*")]
        if path.is_file() and path.suffix not in {".pyc", ".nbi", ".nbc"}
    }
    assert checkout - held == set()


def test_the_wheel_holds_the_library_with_its_tools_and_schemas_and_nothing_beside_it(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    library = {f"ledger/{path.relative_to(ROOT / 'ledger')}" for path in (ROOT / "ledger").rglob("*.py")}
    mapped = {f"ledger/{path.relative_to(ROOT)}" for pattern in SHIPPED for path in ROOT.glob(pattern)}
    layouts = {f"ledger/audit/{name}.toml" for name in ("server", "reader/journal", "reader/people")}
    data = {"ledger/py.typed", "ledger/tools/sample/club.pgn", *layouts}
    assert sum(name.endswith(".json") for name in mapped) >= 4
    about = {name for name in held if name.startswith(f"rating_ledger-{VERSION}.dist-info/")}
    assert held - about == library | mapped | data
    assert f"rating_ledger-{VERSION}.dist-info/licenses/LICENSE" in about


def test_the_wheel_works_in_a_clean_environment_with_a_plug_in(
    wheel: Path, building: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, away = tmp_path / "venv", tmp_path / "away"
    away.mkdir()
    ran([sys.executable, "-m", "venv", "--without-pip", environment], tmp_path)
    python, command = environment / "bin" / "python", environment / "bin" / "rating-ledger"
    dependencies = [] if PROFILE == "nightly" else ["--no-deps"]
    ran([*pip_of(python), "install", "--quiet", "--no-compile", *dependencies, wheel], tmp_path)
    if dependencies:
        link_requirements(environment)

    # as it is installed
    assert ran([command, "--version"], away) == f"rating-ledger, version {VERSION}\n"
    heavy = "import ledger, sys; print(*{'numpy', 'numba', 'polars', 'sqlite_utils', 'zstandard'} & set(sys.modules))"
    assert ran([python, "-W", "error", "-c", heavy], away) == "\n"
    ran([python, "-c", "import ledger.testing"], away)  # the contract suites need no test packages to be imported
    for module in ("schemas", "sample"):
        assert ran([python, "-m", f"ledger.tools.{module}", "--check"], away) == ""
    package = ran([python, "-c", "import ledger; print(ledger.__path__[0])"], away).strip()
    assert Path(package).is_relative_to(environment)
    first_ledger = readmes.texts()[readmes.FIRST].partition("## The first ledger")[2].partition("\n## ")[0]
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for line, expected in readmes.transcript(first_ledger):
        shown = ran(["env", f"PATH={path}", "sh", "-c", line], away)
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(expected, shown, options), shown
    if PROFILE != "nightly":  # the transcript has compiled the kernels; from here on all is interpreted
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    games = away / "club.pgn"
    ranking = json.loads(ran([command, "ratings", "club.db"], away))
    assert len(ranking) == 16
    assert (ranking[0]["name"], ranking[0]["rating"]) == ("ann", 1923.0998993145497)
    assert "TRUE club.db: 917 entries" in ran([command, "audit", "club.db"], away)
    assert "unknown-scheme" in ran([command, "init", "elo.db", "--scheme", "plain-elo"], away, code=1)

    # with a plug-in
    plug_in = tmp_path / "plug-in"
    (plug_in / "club_extras").mkdir(parents=True)
    (plug_in / "pyproject.toml").write_text(PLUG_IN_PYPROJECT, encoding="utf-8")
    (plug_in / "club_extras" / "__init__.py").touch()
    (plug_in / "club_extras" / "elo.py").write_text(PLAIN_ELO, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "kit" / "plugins.py", plug_in / "club_extras" / "streaks.py")
    ran([*pip_of(python), "install", "--quiet", plug_in], tmp_path, settings=building)

    ran([command, "init", "elo.db", "--scheme", "plain-elo", "--set", "k=24"], away)
    ran([command, "policy", "set", "elo.db", "read-models", "win_streaks=true"], away)  # installed is available only
    ran([command, "import", "elo.db", games], away)
    ranking = json.loads(ran([command, "ratings", "elo.db"], away))
    assert sum(row["rating"] for row in ranking) == pytest.approx(16 * 1500, abs=0.1)  # one K: points only move
    assert "r + K·(w - E)" in ran([command, "explain", "elo.db", "ann", last_game(command, away), "-t"], away)
    assert "\nwin_streaks " in ran([command, "audit", "elo.db"], away)
    # an older ledger gets the new table, too, once it is to keep it
    assert "\nwin_streaks " not in ran([command, "audit", "club.db"], away)
    ran([command, "policy", "set", "club.db", "read-models", "win_streaks=true"], away)
    assert json.loads(ran([command, "ratings", "club.db"], away))[0]["rating"] == 1923.0998993145497
    assert "\nwin_streaks " in ran([command, "audit", "club.db"], away)
    edit = "UPDATE win_streaks SET longest = longest + 1 WHERE player = 1 AND n = 5"
    change = "import sys; from ledger.runtime import sqlite; sqlite.connect(sys.argv[1]).execute(sys.argv[2])"
    ran([python, "-c", change, "elo.views.db", edit], away)
    verdict = ran([command, "audit", "elo.db"], away, code=3)
    assert "FALSE elo.db win_streaks pool 1, player 1, n 5: longest is " in verdict


def test_a_type_checker_finds_the_library_in_a_development_install(building: dict[str, str], tmp_path: Path) -> None:
    source, environment, away = tmp_path / "source", tmp_path / "venv", tmp_path / "away"
    away.mkdir()
    copy_source(source)
    ran([sys.executable, "-m", "venv", "--without-pip", environment], tmp_path)
    python = environment / "bin" / "python"
    ran([*pip_of(python), "install", "--quiet", "--no-deps", "-e", source], tmp_path, settings=building)
    user = away / "user.py"
    user.write_text("from ledger import Ledger\n\nreveal_type(Ledger.open)\nnumber: int = Ledger.open('club.db')\n")
    told = ran([sys.executable, "-m", "mypy", "--strict", "--python-executable", python, user], away, code=1)
    assert "import-untyped" not in told
    assert 'Incompatible types in assignment (expression has type "Ledger", variable has type "int")' in told
    found = (
        f"import sys; sys.path.append({sysconfig.get_path('purelib')!r}); import ledger, ledger.tools, ledger.schemas; "
        "print(ledger.__path__[0], ledger.tools.__path__[0])"
    )  # the packages that it needs are those of these tests
    assert ran([python, "-c", found], away).split() == [str(source / "ledger"), str(source / "tools")]
    ran([*pip_of(python), "uninstall", "--quiet", "--yes", "rating-ledger"], away)
    assert list(environment.rglob("*checkout*.pth")) == []


def last_game(command: Path, folder: Path) -> str:
    """The key of ann's latest game."""
    told = ran([command, "games", "elo.db", "ann", "--limit", "1", "--nl"], folder)
    return str(json.loads(told.splitlines()[0])["game"])
