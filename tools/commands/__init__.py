"""The sub-commands, a few to a file, each loaded when it is called. Here only what several of them share."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ledger.ledger import Ledger

from .. import output

DB = click.argument("db_path", metavar="DB", type=click.Path())
POOL = click.option("--pool", metavar="NAME", help="Pool; the ledger's first one by default.")

REFUSED, USAGE, FALSE = 1, 2, 3  # exit codes


def settings_given(words: Sequence[str]) -> dict[str, int | bool | str]:
    """The settings of ``--set NAME=VALUE`` options."""
    settings: dict[str, int | bool | str] = {}
    for word in words:
        name, divided, value = word.partition("=")
        if not divided:
            raise click.UsageError(f"--set takes NAME=VALUE, got {word!r}")
        settings[name] = {"true": True, "false": False}.get(value.lower(), value)
    return settings


def level(path: str) -> Ledger:
    """Open a ledger with its views level with the journal."""
    ledger = Ledger.open(path)
    ledger.level()
    return ledger


def confirmed(question: str, *, yes: bool) -> None:
    """Ask, unless *yes* was given; a no ends the command.

    Raises:
        click.UsageError: nobody can be asked.
    """
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here: give --yes")
    if not output.agreed(question):
        raise click.Abort
