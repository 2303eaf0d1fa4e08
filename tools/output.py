"""Rows to standard output as JSON, newline-delimited JSON, CSV, TSV or a table, chosen as in sqlite-utils."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from tabulate import tabulate

Row = dict[str, Any]
Command = TypeVar("Command", bound=Callable[..., Any])
FORMATS = ("json", "nl", "csv", "tsv", "table")


def format_options(command: Command) -> Command:
    """The options ``--nl --csv --tsv -t`` as one argument *fmt*."""
    for flag, short, text in (
        ("table", "-t", "as a table for people"),
        ("tsv", None, "as TSV"),
        ("csv", None, "as CSV"),
        ("nl", None, "as newline-delimited JSON"),
    ):
        names = [f"--{flag}"] + ([short] if short else [])
        command = click.option(*names, "fmt", flag_value=flag, help=f"Output {text}.")(command)
    return command


def write(rows: Sequence[Row], fmt: str | None) -> None:
    """Write *rows*, all with the same columns, in one of ``FORMATS``; None is JSON."""
    match fmt or "json":
        case "nl":
            for row in rows:
                click.echo(json.dumps(row, ensure_ascii=False))
        case "csv" | "tsv" as kind:
            dialect = "excel" if kind == "csv" else "excel-tab"
            writer = csv.writer(sys.stdout, dialect=dialect, lineterminator="\n")
            if rows:
                writer.writerow(rows[0])
            writer.writerows(map(_cell, row.values()) for row in rows)
        case "table":
            click.echo(_table(rows))
        case _:
            click.echo("[" + ",\n ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "]")


def _cell(value: Any) -> Any:
    """What lies inside a cell is JSON there too."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _table(rows: Sequence[Row]) -> str:
    """A table for people: ratings to the nearest point, numbers to the right, text exactly as it is."""
    if not rows:
        return "(none)"
    cells = [[f"{v:.0f}" if isinstance(v, float) else _cell(v) for v in row.values()] for row in rows]
    align = ["right" if isinstance(v, int | float) else "left" for v in rows[0].values()]
    return tabulate(cells, headers=list(rows[0]), colalign=align, disable_numparse=True, missingval="-")


def write_one(row: Row, fmt: str | None) -> None:
    """Write a single answer: as a table it stands upright, a line for each field."""
    if fmt == "table":
        lines = [(name, f"{value:g}" if isinstance(value, float) else value) for name, value in row.items()]
        click.echo(tabulate(lines, tablefmt="plain", missingval="-", disable_numparse=True))
    elif fmt is None:
        click.echo(json.dumps(row, ensure_ascii=False, indent=2))
    else:
        write([row], fmt)
