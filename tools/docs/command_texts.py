"""The texts of ``--help`` as pages of the command reference, and as the table of corrections in a README."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import cleandoc

import click

from ledger.correcting.verbs import VERBS

from ..cli import TASKS

_FORMATS = ("--nl", "--csv", "--tsv", "-t, --table", "--raw")
_ROWS = "commands that answer in rows"
# Options that mean the same in many commands, as --help writes them, and who takes them where a list would be long.
_SHARED: Mapping[str, str] = {
    **dict.fromkeys(_FORMATS, _ROWS),
    "--pool NAME": "commands that ask or record in one pool",
    "--known-at POSITION|LIST": "",
    "--as-if PROPOSAL": "",
    "--at-least POSITION": "",
    "--verify": "",
    "--actor WHO": "commands that record facts",
    "--by WHO": "what officers do: `policy`, `token`, `correct`, `publish`, `--propose`",
    "--reason TEXT": "the verbs of `correct` and `--propose`, which need it",
    "--token-file FILE": "commands that record, correct, publish, set policies, issue tokens or erase",
}
_EXAMPLES = "\b\nExample:\n"
Option = tuple[str, str]  # as --help writes it: its names with their value, and its meaning


@cache
def every_command() -> Mapping[str, click.Command]:
    """Return each command by its words, such as ``player add``, in the order of ``--help``, a group before its own."""
    return {name: command for task in TASKS.values() for first in task for name, command in _with_inner(first)}


def _with_inner(name: str) -> Iterator[tuple[str, click.Command]]:
    module, function = next(task[name] for task in TASKS.values() if name in task).split(".")
    command = getattr(importlib.import_module(f"tools.commands.{module}"), function)
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            command.get_command(context, word)  # verbs of 'correct' are made when they are asked for
        yield from ((f"{name} {word}", inner) for word, inner in command.commands.items())


def is_verb(name: str) -> bool:
    """Return whether a command proposes a correction; the README of corrections has a table of these."""
    return name.partition("correct ")[2] in VERBS


def index() -> str:
    """Return the page that lists every command by task, and the options that many commands share."""
    return "\n".join([
        "# Commands", "", "`rating-ledger COMMAND --help` prints the same texts.", "", _by_task(), "",
        "## Options of many commands", "", _shared_options(), "",
        "```{toctree}", ":hidden:", "", *(f"commands/{name}" for name in first_words()), "```",
    ])  # fmt: skip


def page(name: str) -> str:
    """Return the page of a command, with its sub-commands, as reStructuredText for sphinx-click."""
    module, function = next(task[name] for task in TASKS.values() if name in task).split(".")
    directive = f".. click:: tools.commands.{module}:{function}"
    return f"{directive}\n   :prog: rating-ledger {name}\n   :nested: full\n"


def first_words() -> list[str]:
    """Return the commands, of groups the first word alone, in the order of ``--help``."""
    return [name for task in TASKS.values() for name in task]


def _by_task() -> str:
    lines = ["| command | what it does |", "|---|---|"]
    for task, names in TASKS.items():
        lines.append(f"| **{task}** | |")
        for first in names:
            for name, command in _with_inner(first):
                if not is_verb(name) and (name == "correct" or not isinstance(command, click.Group)):
                    link = f"[`{name}`](/reference/commands/{first}.rst)"
                    lines.append(f"| {link} | {_in_cell(command.get_short_help_str(400))} |")
    return "\n".join(lines)


def _shared_options() -> str:
    takers: dict[str, list[str]] = defaultdict(list)
    texts: dict[str, str] = {}
    for name, command in every_command().items():
        for names, text in _records(name, command):
            takers[names].append(name)
            if name != "init":  # there the pool is a new one
                texts.setdefault(names, text.partition(" [")[0])
    lines = ["| option | what it does | taken by |", "|---|---|---|"]
    for names, words in _SHARED.items():
        shown = words or ", ".join(f"`{name}`" for name in takers[names])
        lines.append(f"| `{_in_cell(names)}` | {_in_cell(texts[names])} | {shown} |")
    return "\n".join(lines)


def verbs() -> str:
    """Return the table of the verbs that propose corrections."""
    lines = ["| verb | what it corrects |", "|---|---|"]
    for verb in VERBS:
        name, command = f"correct {verb}", every_command()[f"correct {verb}"]
        own = [record for record in _records(name, command) if record[0] not in _SHARED]
        needed, allowed = (
            ", ".join(f"`{names.split()[0]}`" for names, text in own if text.endswith("[required]") is required)
            for required in (True, False)
        )
        taken = f"{f' Needs {needed}.' if needed else ''}{f' Takes {allowed}.' if allowed else ''}"
        lines.append(f"| `{_synopsis(name, command)}` | {_in_cell(_text(command))}{taken} |")
    return "\n".join(lines)


def examples(command: click.Command) -> list[str]:
    """Return the lines of a command's examples."""
    return [line.strip() for line in _help(command).partition(_EXAMPLES)[2].splitlines() if line.strip()]


def _synopsis(name: str, command: click.Command) -> str:
    """Return the words of a command and its arguments; the ledger of a correction comes before the verb."""
    taken = [
        piece
        for parameter in command.params
        if isinstance(parameter, click.Argument)
        for piece in parameter.get_usage_pieces(_context(name, command))
    ]
    words = name.replace("correct ", "correct DB ", 1) if name.startswith("correct ") else name
    return " ".join([words, *taken, *(["COMMAND ..."] if isinstance(command, click.Group) else [])])


def _text(command: click.Command) -> str:
    text = _help(command).partition(_EXAMPLES)[0].strip()
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _help(command: click.Command) -> str:
    return cleandoc(command.help or "")


def _records(name: str, command: click.Command) -> list[Option]:
    context = _context(name, command)
    records = (
        parameter.get_help_record(context) for parameter in command.params if isinstance(parameter, click.Option)
    )
    return [(names, " ".join(text.split())) for names, text in filter(None, records)]


def _context(name: str, command: click.Command) -> click.Context:
    return click.Context(command, info_name=name)


def _in_cell(text: str) -> str:
    return text.replace("\n\n", " ").replace("|", "\\|")
