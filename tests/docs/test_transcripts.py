"""The transcripts of the READMEs are executed and compared, word for word except for ``...``."""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from filelock import FileLock

from tests.docs import readmes
from tests.kit import officer_reports
from tests.kit.places import ROOT, SAMPLE
from tools import cli
from tools.docs.command_texts import every_command, examples

TEXTS = readmes.texts()
LIBRARY = "ledger/README.md"
ELLIPSIS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SHELL = re.compile(r"[|<>&;]|\$\(")
Follow = Callable[[str, Path], None]


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Follow:
    """Runs the transcript of a README in a folder, as it stands there.

    A command without a word of the shell runs within the test, which saves it the start of a process.
    """
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, module in (("rating-ledger", "-m tools.cli"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}

    def printed(command: str, folder: Path) -> tuple[int, str]:
        """The exit code, and what is printed as a terminal has it: answers and remarks in their order."""
        if command.startswith("rating-ledger ") and not SHELL.search(command):
            capsys.readouterr()
            with monkeypatch.context() as terminal:
                terminal.setattr(sys, "stderr", sys.stdout)
                code = cli.main(shlex.split(command)[1:])
            return code, capsys.readouterr().out
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout

    def follow(readme: str, folder: Path) -> None:
        monkeypatch.chdir(folder)
        for command, expected in readmes.transcript(TEXTS[readme]):
            code, shown = printed(command, folder)
            assert doctest.OutputChecker().check_output(expected, shown, ELLIPSIS), f"{command}\n{shown}"
            assert code == 0, command

    return follow


@pytest.fixture
def after_the_first(follow: Follow, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own as the first README leaves it; followed once for all processes of a run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    followed = shared / "after the first README"
    with FileLock(f"{followed}.lock"):
        if not followed.exists():
            making = shared / "following the first README"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            follow(readmes.FIRST, making)
            making.rename(followed)
    return Path(shutil.copytree(followed, tmp_path / "after"))


@pytest.mark.quick
def test_the_first_readme_makes_the_ledgers_of_the_others(after_the_first: Path) -> None:
    made = {"club.db", "club.head", "league.db", "fed.db", "club.pgn", "emma.svg"}
    assert {path.name for path in after_the_first.iterdir()} >= made


@pytest.mark.parametrize(
    "readme", [name for name in TEXTS if name != readmes.FIRST and readmes.transcript(TEXTS[name])]
)
def test_the_commands_print_what_a_readme_shows(readme: str, after_the_first: Path, follow: Follow) -> None:
    if readme == officer_reports.GUIDE:
        if not officer_reports.REPORTS.exists():
            pytest.skip(officer_reports.ABSENT)
        officer_reports.place(after_the_first)
    follow(readme, after_the_first)


def test_who_follows_all_readmes_in_one_folder_sees_the_same(after_the_first: Path, follow: Follow) -> None:
    for readme in TEXTS:
        if readme == officer_reports.GUIDE:
            if not officer_reports.REPORTS.exists():
                continue
            officer_reports.place(after_the_first)
        if readme != readmes.FIRST:
            follow(readme, after_the_first)


@pytest.mark.parametrize("readme", [name for name in TEXTS if readmes.blocks(TEXTS[name], "pycon")])
def test_the_python_examples_work(readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in readmes.blocks(TEXTS[readme], "pycon"):
        test = doctest.DocTestParser().get_doctest(block, {}, readme, None, 0)
        results = doctest.DocTestRunner(optionflags=ELLIPSIS).run(test)
        assert results.failed == 0
        assert results.attempted > 5


def test_the_plug_in_works_as_it_stands(tmp_path: Path) -> None:
    """Its files are those of the blocks; where pip would install it stands what pip would make of its pyproject."""
    written = [*readmes.blocks(TEXTS[LIBRARY], "python"), *readmes.blocks(TEXTS[LIBRARY], "toml")]
    parts = (block.removeprefix("# ").partition("\n") for block in written)
    files = {name: content for name, _, content in parts}
    assert set(files) == {"statutes.py", "pyproject.toml", "test_statutes.py"}
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    project = tomllib.loads(files["pyproject.toml"])["project"]
    about = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = [(group, *point) for group, offered in project["entry-points"].items() for point in offered.items()]
    (about / "entry_points.txt").write_text("".join(f"[{group}]\n{name} = {value}\n" for group, name, value in points))
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}

    def ran(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert " passed" in ran("pytest", "-q", "-p", "no:cacheprovider", "test_statutes.py")
    ran("tools.cli", "init", "club.db", "--scheme", "statutes", "--set", "worth=8")
    ran("tools.cli", "import", "club.db", str(SAMPLE))
    (row,) = (row for row in json.loads(ran("tools.cli", "scheme", "list")) if row["scheme"] == "statutes")
    assert row["package"] == "statutes"
    ratings = [row["rating"] for row in json.loads(ran("tools.cli", "ratings", "club.db"))]
    assert sum(ratings) == 1500 * len(ratings)
    assert {rating % 8 for rating in ratings} == {1500 % 8}


def test_an_example_in_words_calls_a_command_with_words_that_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples of ``--help``, and those within a sentence, speak of the reader's files and are not run.

    A word that no command takes is found all the same.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "club.db").touch()
    blocks = [block.replace("\\\n", "") for text in TEXTS.values() for block in readmes.blocks(text, "sh")]
    lines = [line for block in blocks for line in block.splitlines()]
    lines += [line for command in every_command().values() for line in examples(command)]
    called = [line for line in lines if "rating-ledger " in line]
    assert len(called) > 100
    for text in TEXTS.values():
        within = re.findall(r"(?<!`)`(rating-ledger \w[^`]+)`(?!`)", readmes.prose(text))
        called += [" ".join(line.split()) for line in within if "..." not in line and " COMMAND" not in line]
    wrong = []
    for line in called:
        try:
            take(line)
        except click.UsageError as error:
            wrong.append(f"{line}: {error.format_message()}")
    assert wrong == []


def take(line: str) -> None:
    """Give the words of a line of the shell to the command that it calls, which is not run."""
    words = shlex.split(re.sub(r'^eval "\$\((.*)\)"$', r"\1", line))
    words = words[words.index("rating-ledger") + 1 :]
    ends = [place for place, word in enumerate(words) if word in {"|", ">", ">>", "<"}]
    words = words[: ends[0]] if ends else words
    command: click.Command = cli.cli
    context, name = None, "rating-ledger"
    while isinstance(command, click.Group):
        context = command.make_context(name, words, context)
        found, inner, words = command.resolve_command(context, [*context._protected_args, *context.args])
        assert inner is not None
        command, name = inner, str(found)
    command.make_context(name, words, context)
