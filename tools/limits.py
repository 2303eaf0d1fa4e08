"""How many rows a command shows: programs get every row, people a table that they can read, with a word on the rest.

Every command that lists rows takes its option from here and writes through ``write``. What the rows are is not known
here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import click

from ledger.answers.asking import EVERY_ROW

from . import output

__all__ = ["EVERY_ROW", "option", "remark", "shown", "write"]

Command = TypeVar("Command", bound=Callable[..., object])


def option(in_a_table: int, rows: str) -> Callable[[Command], Command]:
    """Return the option ``--limit``, as the argument *limit*; ``--last`` is its former name, and still understood.

    Args:
        in_a_table: how many rows a table has by default.
        rows: what the rows are, as its help calls them.
    """
    text = f"How many {rows}; 0: all. By default all, in a table {in_a_table}."

    def with_option(command: Command) -> Command:
        for flag, hidden in (("--last", True), ("--limit", False)):
            command = click.option(
                flag,
                "limit",
                type=click.IntRange(0),
                metavar="N",
                help=text,
                hidden=hidden,
            )(command)
        return command

    return with_option


def shown(limit: int | None, fmt: str | None, in_a_table: int) -> int:
    """Return how many rows to show for the user's *limit*; ask for one more, so that ``write`` knows of the rest."""
    if limit is None:
        return in_a_table if fmt == "table" else EVERY_ROW
    return min(limit or EVERY_ROW, EVERY_ROW)  # more than a number of SQLite holds is every row, too


def write(rows: Sequence[output.Row], fmt: str | None, limit: int, *, newest_last: bool = False) -> None:
    """Write as many *rows* as *limit* says, and below them that there are more.

    Args:
        rows: those that were asked for; more than *limit* where there are more.
        fmt: as ``output.write`` takes it.
        limit: what ``shown`` said.
        newest_last: the rows are in the order of time, and the last of them are shown.
    """
    output.write(rows[-limit:] if newest_last else rows[:limit], fmt)
    remark(len(rows), limit, "newest" if newest_last else "first")


def remark(rows: int, limit: int, which: str = "first") -> None:
    """Say below a table that there are more rows than it shows."""
    if rows > limit:
        output.remark(f"the {which} {limit:,}; there are more: --limit 0 shows all")
