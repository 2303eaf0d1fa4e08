"""What ``--help`` says of the commands, as parts of READMEs: the one source of both."""

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
# Options that mean the same in many commands, as help writes them, and who takes them where a list says too much.
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
Option = tuple[str, str]  # as help writes it: its names with what they take, and what it means


@cache
def every_command() -> Mapping[str, click.Command]:
    """Each command by its words, such as ``player add``, a group before its own, in the order of ``--help``."""
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
    """Whether a command proposes a correction; the README of corrections tells of those."""
    return name.partition("correct ")[2] in VERBS


def by_task() -> str:
    """The commands in a table by what people come for, each with its first sentence."""
    lines = ["| command | what it does |", "|---|---|"]
    for task, names in TASKS.items():
        lines.append(f"| **{task}** | |")
        for first in names:
            for name, command in _with_inner(first):
                if is_verb(name) or (isinstance(command, click.Group) and name != "correct"):
                    continue
                lines.append(f"| [`{name}`](#{_anchor(name)}) | {_in_cell(command.get_short_help_str(400))} |")
    return "\n".join(lines)


def shared_options() -> str:
    """The options that mean the same in many commands, each with the commands that take it."""
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


def commands() -> str:
    """Each command under its task: how it is called, what it does, examples, options."""
    blocks = []
    for task, names in TASKS.items():
        blocks.append(f"## {task}")
        blocks += [
            _section(name, command) for first in names for name, command in _with_inner(first) if not is_verb(name)
        ]
    return "\n\n".join(blocks)


def verbs() -> str:
    """The verbs that propose corrections: what each does and takes."""
    lines = ["| verb | what it corrects |", "|---|---|"]
    for verb in VERBS:
        name, command = f"correct {verb}", every_command()[f"correct {verb}"]
        own, _ = _options(name, command)
        taken = "".join(f"<br>`{_in_cell(names)}`: {_in_cell(text)}" for names, text in own)
        lines.append(f"| `{_synopsis(name, command)}` | {_in_cell(_text(command))}{taken} |")
    return "\n".join(lines)


def examples(command: click.Command) -> list[str]:
    """The lines of a command's examples."""
    return [line.strip() for line in _help(command).partition(_EXAMPLES)[2].splitlines() if line.strip()]


def _section(name: str, command: click.Command) -> str:
    own, shared = _options(name, command)
    parts = [f"### {name}", f"`rating-ledger {_synopsis(name, command)}`", _text(command)]
    if lines := examples(command):
        parts.append("\n".join(["```sh", *lines, "```"]))
    if own:
        parts.append("\n".join(f"* `{names}`: {text}" for names, text in own))
    if shared:
        parts.append(f"[Options of many commands](#options-of-many-commands): {', '.join(shared)}.")
    return "\n\n".join(parts)


def _synopsis(name: str, command: click.Command) -> str:
    """The words of a command and what it takes without a name; a correction's ledger stands before its verb."""
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


def _options(name: str, command: click.Command) -> tuple[list[Option], list[str]]:
    """A command's own options, and the names of those that it shares with many."""
    records = _records(name, command)
    own = [record for record in records if record[0] not in _SHARED or (record[0] == "--pool NAME" and name == "init")]
    shared = [names for names, _ in records if (names, _) not in own]
    if set(_FORMATS) <= set(shared):
        shared = [*(names for names in shared if names not in _FORMATS), "formats"]
    return own, [f"`{names.split()[0]}`" if names.startswith("-") else names for names in shared]


def _records(name: str, command: click.Command) -> list[Option]:
    context = _context(name, command)
    records = (
        parameter.get_help_record(context) for parameter in command.params if isinstance(parameter, click.Option)
    )
    return [(names, " ".join(text.split())) for names, text in filter(None, records)]


def _context(name: str, command: click.Command) -> click.Context:
    return click.Context(command, info_name=name)


def _anchor(name: str) -> str:
    """Where a command's section stands; the heading of a task of the same name comes first and has the plain one."""
    tasks = {task.lower() for task in TASKS}
    return name.replace(" ", "-") + ("-1" if name in tasks else "")


def _in_cell(text: str) -> str:
    return text.replace("\n\n", " ").replace("|", "\\|")
