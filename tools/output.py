"""The only door to standard output and standard error: answers, remarks, errors, and rows in five formats.

Whatever is written for people goes through ``visible``, JSON through ``in_json``, cells of CSV and TSV through
``in_cell`` as well. No other module prints; ``running`` decides how a command ends when its answer has no reader.
"""

from __future__ import annotations

import codecs
import csv
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click

from ledger.runtime.lazy import tabulate
from ledger.runtime.ledger_files import save_document
from ledger.runtime.visible import in_cell, in_json, json_escape, json_in_cell, visible

from .wording import counted

Row = dict[str, Any]
Command = TypeVar("Command", bound=Callable[..., Any])
FORMATS = ("json", "nl", "csv", "tsv", "table")
DIVIDED = ("csv", "tsv")
LONGEST = 2_000  # characters of a remark or an error; a fault may quote a line of many megabytes
RAW = "tools.output.raw"  # under this name a command's context keeps whether --raw was given
# Of the 256 colours of terminals the nearest to Okabe and Ito's vermilion, which every colour vision tells from
# black, white and grey; the word says it, too.
ALARM = 166


_ROWS_AT_ONCE = 500  # that are put into words together


_refusals: list[OSError] = []  # by standard output, in the command that runs


# -- words for people ----------------------------------------------------------------------------------------------


def answer(text: str = "") -> None:
    """One line of an answer, to standard output."""
    _put(f"{_for_people(text)}\n")


def answer_at_once(text: str) -> None:
    """Print one line of an answer that is read, perhaps through a pipe, while the command goes on."""
    answer(text)
    _flush()


def answer_lines(text: str) -> None:
    """Several lines of an answer; what is foreign in them must be on one line already."""
    for line in text.split("\n"):
        answer(line)


def remark(text: str) -> None:
    """Print one remark, on standard error."""
    _tell(visible(_cut(text)))


def remark_lines(
    name: str,
    lines: Sequence[tuple[int, str]],
    most: int,
    noun: str,
    *,
    plural: str = "",
    begin: str = "",
    count: int | None = None,
) -> None:
    """Print remarks on lines of a file, each with its line, and how many more there are.

    Args:
        name: of the file.
        lines: the number of a line and what to say of it, the first ones at least.
        most: how many of them to print.
        noun: the word for one of them, behind how many more there are.
        plural: the word for several, where it is not *noun* with an s.
        begin: what comes before what is to say of each.
        count: how many there are in all, where *lines* are not all.
    """
    for line, message in lines[:most]:
        remark(f"{name}:{line}: {begin}{message}")
    more = (len(lines) if count is None else count) - most
    if more > 0:
        remark(f"{name}: and {counted(more, f'more {noun}', plural and f'more {plural}')}")


def error(text: str, word: str = "error:") -> None:
    """One line on what failed or is false, to standard error; its first *word* is coloured on a terminal."""
    _tell(f"{click.style(word, fg=ALARM, bold=True)} {visible(_cut(text))}")


def verdict(word: str, text: str = "", *, alarm: bool = False) -> None:
    """One line of a verdict, to standard output; to standard error where that is closed or full: none is ever lost.

    Args:
        word: what the line begins with, such as TRUE.
        text: the rest of it.
        alarm: whether the word is coloured on a terminal.
    """
    begin = click.style(word, fg=ALARM, bold=True) if alarm else word
    rest = visible(_cut(text))
    coloured = sys.stdout.isatty() and not _is_plain()
    _put(_fitting(f"{begin if coloured else word} {rest}\n", sys.stdout))
    _flush()
    if _refusals and _refusals[0].errno != errno.EPIPE:
        _tell(f"{begin} {rest}")


def agreed(question: str) -> bool:
    """Ask on standard error and read yes or no from standard input.

    Raises:
        Abort: there is no answer.
    """
    return click.confirm(visible(question), err=True)


def _cut(text: str) -> str:
    """Return a very long text without its middle: its subject is at its ends."""
    if len(text) <= LONGEST:
        return text
    head, tail = text[: LONGEST - 500], text[-500:]
    return f"{head} [...{len(text) - LONGEST:,} characters...] {tail}"


def _tell(line: str) -> None:
    """Print a line on standard error, after the answer so far; if it has no reader, the work goes on."""
    _flush()
    with suppress(OSError):
        click.echo(_fitting(line, sys.stderr), err=True, color=False if _is_plain() else None)


def _is_plain() -> bool:
    """Return whether colours are off: https://no-color.org, and terminals without them."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def _for_people(text: str) -> str:
    return _fitting(visible(text), sys.stdout)


def is_terminal() -> bool:
    """Return whether a person reads standard output as it comes."""
    return sys.stdout.isatty()


def can_write(text: str) -> bool:
    """True where standard output's encoding has every character of *text*."""
    return _fitting(text, sys.stdout) == text


def _fitting(text: str, stream: Any, unwritable: str = "backslashreplace") -> str:
    r"""Return the text in the stream's encoding; what it lacks as ``\u0434``, or by another handler of errors."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if text.isascii() or codecs.lookup(encoding).name == "utf-8":
        return text
    return text.encode(encoding, unwritable).decode(encoding)


def _put(text: str) -> None:
    """Write to standard output what is clean and fits already.

    Where it is refused, the command goes on, for it may have more to do and to say, and ends with what ``undelivered``
    tells.
    """
    if not _refusals:
        try:
            if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
                _put_whole(text.replace("\n", os.linesep).encode(sys.stdout.encoding, sys.stdout.errors or "strict"))
            else:
                sys.stdout.write(text)
        except OSError as refusal:
            _refusals.append(refusal)


def _put_whole(content: bytes) -> None:
    """Write all of the bytes: a stream that holds nothing back (``python -u``) may take a part of them without a word.

    Raises:
        OSError: not all of them are taken.
    """
    left = memoryview(content)
    while left:
        taken = sys.stdout.buffer.write(left)
        if taken is None:  # nothing now, and no telling when: only a stream that waits takes an answer
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        left = left[taken:]


def _flush() -> None:
    if not _refusals:
        try:
            sys.stdout.flush()
        except OSError as refusal:
            _refusals.append(refusal)


def begin() -> None:
    """Forget what standard output refused to an earlier command of this process."""
    _refusals.clear()


def undelivered() -> OSError | None:
    """Return why standard output did not take the complete answer; None if it did."""
    _flush()
    return _refusals[0] if _refusals else None


# -- rows ----------------------------------------------------------------------------------------------------------


def format_options(command: Command) -> Command:
    """Return the options ``--nl --csv --tsv -t`` as one argument *fmt*, and ``--raw``, which ``write`` looks up."""
    command = click.option(
        "--raw",
        is_flag=True,
        expose_value=False,
        callback=_keep_raw,
        help="CSV and TSV without apostrophes before what a spreadsheet would run.",
    )(command)
    for flag, short, text in (
        ("table", "-t", "as a table for people"),
        ("tsv", None, "as TSV"),
        ("csv", None, "as CSV"),
        ("nl", None, "as newline-delimited JSON"),
    ):
        names = [f"--{flag}"] + ([short] if short else [])
        # eager: known when --raw is looked at
        command = click.option(*names, "fmt", flag_value=flag, is_eager=True, help=f"Output {text}.")(command)
    return command


def _keep_raw(context: click.Context, _: click.Parameter, given: bool) -> None:
    if given and context.params.get("fmt") not in DIVIDED:
        raise click.UsageError("--raw goes with --csv or --tsv")
    context.meta[RAW] = given


def write(rows: Sequence[Row], fmt: str | None) -> None:
    """Write *rows*, all with the same columns, in one of ``FORMATS``; None is JSON.

    Raises:
        ClickException: its encoding cannot write a cell of CSV or TSV, where nothing can be escaped.
    """
    match fmt or "json":
        case "nl":
            _put_json("".join(f"{_json(row)}\n" for row in rows))
        case "csv" | "tsv" as kind:
            _put_divided(rows, kind)
        case "table":
            _put(f"{_table(rows)}\n")
        case _:
            _put_json("[" + ",\n ".join(map(_json, rows)) + "]\n")


def write_each(rows: Iterable[Row], fmt: str | None) -> None:
    """Write rows as ``write`` does, but as they come, without holding them; a table needs all of them first.

    Raises:
        ClickException: as ``write`` does; what came before is written.
    """
    if fmt == "table":
        write(list(rows), fmt)
        return
    parts = iter(rows)
    before, after, between = ("[", "]\n", ",\n ") if fmt in {None, "json"} else ("", "", "")
    is_first = True
    while (part := list(islice(parts, _ROWS_AT_ONCE))) or is_first:
        if fmt in DIVIDED:
            _put_divided(part, fmt or "", headed=is_first)
        elif fmt == "nl":
            write(part, fmt)
        else:
            _put_json((before if is_first else between if part else "") + between.join(map(_json, part)))
        is_first = False
        if _refusals:
            return
    _put_json(after)


def told_apart(rows: Sequence[Row], **numbers: str) -> list[Row]:
    """Return rows of a table without the numbers of players, except after a name that several of them bear.

    Args:
        rows: the rows.
        numbers: the column of names, and the column with the numbers of these players.
    """
    bearers: dict[Any, set[Any]] = {}
    for row in rows:
        for name, number in numbers.items():
            bearers.setdefault(row.get(name), set()).add(row.get(number))
    doubled = {name for name, players in bearers.items() if len(players) > 1}
    shared = [[name for name in numbers if row.get(name) in doubled] for row in rows]
    return [
        {**row, **{name: f"{row[name]} ({row[numbers[name]]})" for name in names}}
        for row, names in zip(rows, shared, strict=True)
    ]


def write_one(row: Row, fmt: str | None) -> None:
    """Write a single answer, as ``write`` does; as a table it has a line for each field.

    But for JSON each part of an object is a field of its own, such as ``win_rating``, so that numbers stay numbers.
    """
    if fmt == "table":
        fields = in_columns(row).items()
        lines = [(_shown(name), _shown(f"{v:g}" if isinstance(v, float) else v)) for name, v in fields]
        _put(tabulate.tabulate(lines, tablefmt="plain", missingval="-", disable_numparse=True) + "\n")
    elif fmt is None:
        _put_json(json_text(row))
    else:
        write([in_columns(row) if fmt in DIVIDED else row], fmt)


def in_columns(row: Row) -> Row:
    """Return a row in which each part of an object is a column of its own, such as ``win_rating``."""
    flat: Row = {}
    for name, value in row.items():
        flat |= {f"{name}_{part}": inner for part, inner in value.items()} if isinstance(value, dict) else {name: value}
    return flat


# -- JSON ----------------------------------------------------------------------------------------------------------


def json_text(value: Any) -> str:
    """Return the JSON that ``write_one`` writes of a value, to be saved in a file."""
    return _json(value, _UPRIGHT) + "\n"


_FLAT = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_UPRIGHT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2)


def _json(value: Any, encoder: json.JSONEncoder = _FLAT) -> str:
    """Return the value as JSON, on one line or indented; an infinite number or NaN is null, for JSON has none."""
    try:
        text = encoder.encode(value)
    except ValueError:
        text = encoder.encode(_finite(value))
    return in_json(text)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _json_escaped(failure: UnicodeError) -> tuple[str, int]:
    assert isinstance(failure, UnicodeEncodeError)
    return json_escape(failure.object[failure.start : failure.end]), failure.end


codecs.register_error("json-escape", _json_escaped)


def _put_json(text: str) -> None:
    _put(_fitting(text, sys.stdout, "json-escape"))


# -- CSV and TSV ---------------------------------------------------------------------------------------------------


def divided(rows: Sequence[Row], kind: str, *, raw: bool, headed: bool = True) -> str:
    """Rows as CSV or TSV, as *kind* says; unless *raw*, with an apostrophe before what a spreadsheet would run."""

    def cell(value: Any) -> Any:
        if isinstance(value, dict | list):
            text = visible(_json(value))
            return text if raw else json_in_cell(text, kind)
        if not isinstance(value, str):
            return value
        text = visible(value, keep="\n")  # csv puts it into quotes
        return text if raw else in_cell(text, kind)

    lines = io.StringIO()
    writer = csv.writer(lines, dialect="excel" if kind == "csv" else "excel-tab", lineterminator="\n")
    if rows and headed:
        writer.writerow(map(cell, rows[0]))
    writer.writerows(map(cell, row.values()) for row in rows)
    return lines.getvalue()


def _put_divided(rows: Sequence[Row], kind: str, *, headed: bool = True) -> None:
    context = click.get_current_context(silent=True)
    raw = context is not None and context.meta.get(RAW, False)
    try:
        text = _fitting(divided(rows, kind, raw=raw, headed=headed), sys.stdout, "strict")
    except UnicodeEncodeError as failure:
        word = ascii(failure.object[failure.start : failure.end])
        advice = "set PYTHONIOENCODING=utf-8, or take JSON (--nl), which escapes it"
        raise click.ClickException(f"{word} cannot be written in {failure.encoding}: {advice}") from None
    _put(text)


# -- tables --------------------------------------------------------------------------------------------------------


def _shown(value: Any) -> Any:
    """Return a cell of a table: text on one line and visible, what has parts as JSON, None as it is."""
    if isinstance(value, dict | list):
        value = _json(value)
    return value if value is None else _for_people(str(value))


def shown_difference(before: float | None, after: float | None, places: int = 0) -> str | None:
    """From the one rating to the other, as both are shown with so many decimal places, so that a reader can add."""
    if before is None or after is None:
        return None
    return f"{float(f'{after:.{places}f}') - float(f'{before:.{places}f}'):+.{places}f}"


def _table(rows: Sequence[Row]) -> str:
    """Return a table for people: ratings to the nearest point, numbers to the right, text as ``visible`` has it."""
    if not rows:
        return "(none)"
    cells = [[_shown(f"{v:.0f}" if isinstance(v, float) else v) for v in row.values()] for row in rows]
    columns = zip(*(row.values() for row in rows), strict=True)
    align = ["right" if _is_of_numbers(column) else "left" for column in columns]
    heads = list(map(_shown, rows[0]))
    return tabulate.tabulate(cells, headers=heads, colalign=align, disable_numparse=True, missingval="-")


def _is_of_numbers(column: Iterable[Any]) -> bool:
    """Return whether the first known value is a number."""
    return isinstance(next((value for value in column if value is not None), None), int | float)


def titled_table(title: str, headers: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 1) -> str:
    """Return the text of a table, under its title if any; columns after the first *left* align right, None is "-"."""
    align = ["left"] * left + ["right"] * (len(headers) - left)
    cells = [list(map(_shown, row)) for row in rows]
    heads = list(map(_shown, headers))
    text = tabulate.tabulate(cells, headers=heads, colalign=align, disable_numparse=True, missingval="-")
    return f"{_for_people(title)}\n{text}" if title else text


def document(content: bytes) -> None:
    """Write a complete document, such as SVG or PNG, to standard output as it is; its maker made its text harmless.

    Raises:
        ClickException: it is no text, and standard output is a terminal.
    """
    try:
        text = None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        text = None
    if text is None and is_terminal():
        raise click.ClickException("this is no text for a terminal: give -o FILE, or send it into a file")
    _put_bytes(content)


def documents(parts: Iterable[bytes]) -> None:
    """Write the parts of a text that may be long to standard output as they come, as long as it has a reader."""
    for part in parts:
        _put_bytes(visible(part.decode(), keep="\r\n").encode() if is_terminal() else part)
        if _refusals:
            return


def _put_bytes(content: bytes) -> None:
    _flush()
    if not _refusals:
        try:
            _put_whole(content)
            sys.stdout.buffer.flush()
        except OSError as refusal:
            _refusals.append(refusal)


# -- files ---------------------------------------------------------------------------------------------------------


def save(path: Path, content: bytes) -> None:
    """Write a file that the user asked for; an old one stays until all of the new one is on the disk.

    Raises:
        StorageError: it is a file of a ledger, of the command's own one or of another.
        OSError: it cannot be written; ``filename`` says which, also where a device is full.
    """
    context = click.get_current_context(silent=True)
    save_document(path, content, None if context is None else context.params.get("db_path"))
