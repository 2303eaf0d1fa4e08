"""The README's contents, and what it says of all commands at once. Its transcripts are run by ``test_readme``."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import cast

import click
import pytest

from tests.kit.places import ROOT
from tools.cli import TASKS

README = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def sections() -> list[str]:
    """The anchors of all sections, as GitHub makes them of their titles."""
    titles = re.findall(r"^##+ (.*)$", README, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, those of groups among them."""
    for task in TASKS.values():
        for name, place in task.items():
            module, function = place.split(".")
            found = getattr(importlib.import_module(f"tools.commands.{module}"), function)
            inner = found.commands if isinstance(found, click.Group) else {}
            yield from ((f"{name} {word}", command) for word, command in inner.items())
            yield name, cast("click.Command", found)


def test_every_section_is_in_the_contents_and_every_link_leads_somewhere() -> None:
    contents = README.partition("## ")[0]
    assert sorted(re.findall(r"\]\(#([^)]*)\)", contents)) == sorted(sections())
    assert set(re.findall(r"\]\(#([^)]*)\)", README)) == set(sections())
    assert [path for path in re.findall(r"\]\((?!#|http)([^)]*)\)", README) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("option", "sentence"),
    [("--known-at", r"\*\*What was known then\.\*\* (`ratings`.*?) take"), ("--verify", r"They are(.*?)\.\n")],
)
def test_the_commands_that_take_an_option_are_all_named(option: str, sentence: str) -> None:
    takers = {name for name, command in commands() if any(option in parameter.opts for parameter in command.params)}
    (listed,) = re.findall(sentence, README, re.DOTALL)
    assert set(re.findall(r"`([^`]*)`", listed)) == takers


def test_the_table_of_commands_stands_in_the_order_of_help() -> None:
    table = README.partition("| command | answer |\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| \*\*(.*)\*\* \| \|$", table, re.MULTILINE) == list(TASKS)
    for name, task in TASKS.items():
        rows = table.partition(f"| **{name}** | |\n")[2].partition("| **")[0]
        assert set(re.findall(r"(?:^\| |, )`([a-z-]+)", rows, re.MULTILINE)) >= set(task)
