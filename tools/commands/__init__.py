"""The sub-commands, a few to a file, each loaded when it is called. Here only what several of them share."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from ledger.ledger import Ledger
from ledger.proven import recompute
from ledger.verify import FIRST_FALSEHOODS, Falsehood

from ..progress import Bars

DB = click.argument("db_path", metavar="DB", type=click.Path())
VERIFY = click.option(
    "--verify", is_flag=True, help="Prove journal and names first, and answer from ratings recomputed from them."
)
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


def level(path: str, *, verify: bool = False) -> Ledger:
    """Open a ledger with its views level with the journal; to *verify*, with views made aside from a proven one."""
    if verify:
        return _recomputed(path)
    ledger = Ledger.open(path)
    if not ledger.views.is_level(ledger.journal):
        ledger.catch_up()
    return ledger


def _recomputed(path: str) -> Ledger:
    begun = time.perf_counter()
    with Bars() as bars:
        found = recompute(path, bars)
    if found.ledger is None:
        tell_falsehoods(path, found.falsehoods)
        sys.exit(FALSE)
    seconds = time.perf_counter() - begun
    click.echo(f"verified: recomputed from {found.entries:,} entries in {seconds:.1f} s", err=True)
    return found.ledger


def tell_falsehoods(path: str, falsehoods: Sequence[Falsehood]) -> None:
    """Name what is false, each on a line."""
    for falsehood in falsehoods:
        click.secho(f"FALSE {path} {falsehood}", fg="magenta", err=True)
    if len(falsehoods) >= FIRST_FALSEHOODS:
        click.echo("there may be more: each check names its first 20", err=True)
