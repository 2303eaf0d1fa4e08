"""Runs a command of ours from its arguments to its exit code: what may go wrong becomes one line on standard error.

Also the end of an answer without a reader: if standard output is closed, full or a pipe without a reader,
the command ends with 1. A mistake in the program stays a traceback. Which commands there are is not known here.
"""

from __future__ import annotations

import _thread
import errno
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, NoReturn

import click

from ledger.errors import CheckpointWarning, LedgerError, MalformedError, ProposalError, ReadModelWarning, one_line
from ledger.runtime import plugins

from . import output, start
from .commands import REFUSED

_A_LITTLE_LATER = 0.01  # seconds


def as_process(main: Callable[[], int]) -> NoReturn:
    """Run *main* as the whole process, and end with the exit code that it returns."""
    sys.excepthook = _show_mistake
    sys.unraisablehook = _interrupt_again
    try:
        code = main()
    except KeyboardInterrupt:  # before or after the command, or once more while the first is reported
        code = REFUSED
    start.end_silently()  # what Python does on its way out prints a traceback otherwise
    sys.exit(code)


def _interrupt_again(mistake: sys.UnraisableHookArgs) -> None:
    """Ignore a Ctrl-C in a destructor, where nothing can be raised; it is sent again soon."""
    if issubclass(mistake.exc_type, KeyboardInterrupt):
        threading.Timer(_A_LITTLE_LATER, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(mistake)


def run(command: click.Command, arguments: Sequence[str] | None, name: str) -> int:
    """Run a command; returns its exit code.

    Args:
        command: with its sub-commands, if any.
        arguments: without the name; None for those of the process.
        name: what the command is called in its usage.
    """
    hold_standard_streams()
    output.begin()
    try:
        with _alarms_told():
            ended = command.main(args=arguments, prog_name=name, standalone_mode=False)
        code = ended if isinstance(ended, int) else 0  # help and version end so
    except SystemExit as stop:
        code = int(stop.code or 0)
    except (LedgerError, OSError, UnicodeEncodeError) as failure:
        _tell_failure(failure)
        _tell_notes(failure)
        code = REFUSED
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        output.remark("stopped; nothing half done is kept, run the command again")
        _tell_notes(stop)
        code = REFUSED
    except click.ClickException as failure:
        _tell_misuse(failure)
        _tell_notes(failure)
        code = failure.exit_code
    for plug_in in plugins.broken_plugins():
        output.remark(f"left out: {plug_in}")
    refusal = output.undelivered()
    if refusal is None:
        return code
    _give_up(refusal)
    return code or REFUSED


@contextmanager
def _alarms_told() -> Iterator[None]:
    """Tell once, as an alarm, that a ledger was opened for reading only; other warnings go their usual way."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", CheckpointWarning)
        warnings.simplefilter("ignore", ReadModelWarning)  # reported at the end of each command
        usual, seen = warnings.showwarning, set[str]()

        def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, CheckpointWarning):
                usual(message, category, *where, **more)
            elif str(message) not in seen:
                seen.add(str(message))
                output.error(str(message), word="ALARM")

        warnings.showwarning = tell
        yield


def _tell_failure(failure: LedgerError | OSError | UnicodeEncodeError) -> None:
    """Print the refusal of a layer below, or the error of a file that no layer below handles."""
    if isinstance(failure, MalformedError):
        for problem in failure.problems:
            output.error(problem)
    elif isinstance(failure, ProposalError):
        for fault in failure.faults:
            output.error(fault)
    elif isinstance(failure, UnicodeEncodeError):
        word = ascii(failure.object[failure.start : failure.end])
        output.error(f"{word} cannot be written in {failure.encoding}")
    elif isinstance(failure, OSError):
        if failure.filename is None and output.undelivered() is not None:
            return  # it was standard output, under click's own hands (--help): the end reports it
        what = "a file, or standard output" if failure.filename is None else os.fsdecode(failure.filename)
        output.error(f"{what}: {failure.strerror or failure}")
    else:
        output.error(str(failure))


def _tell_notes(failure: BaseException | None) -> None:
    """Say what had been recorded when the command failed."""
    while failure is not None:
        for note in getattr(failure, "__notes__", ()):
            output.remark(note)
        failure = failure.__cause__ or failure.__context__  # click has an exception of its own for Ctrl-C


def _tell_misuse(failure: click.ClickException) -> None:
    """Usage and what is wrong with it, as click says it; its own words are clean, those of the user are made so."""
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        with suppress(OSError):
            failure.show()
        return
    message = failure.format_message()
    if isinstance(failure, click.UsageError) and failure.ctx is not None:
        for line in failure.ctx.get_usage().split("\n"):
            output.remark(line)
        output.remark(f"Try '{failure.ctx.command_path} --help' for help.")
    if isinstance(failure, click.MissingParameter):
        message = one_line(message)  # click lists choices on lines of their own
    output.error(message)


# -- standard streams ----------------------------------------------------------------------------------------------


def hold_standard_streams() -> None:
    """Put something in the place of standard streams that were closed before the process began.

    Otherwise a file that is opened later gets the number of the closed stream, and what a library prints there goes
    into it. A closed standard output becomes one that refuses to be written to, so that an answer that is lost is
    told; words to a closed standard error are lost. Standard input stays None.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)


def _give_up(refusal: OSError) -> None:
    """Say why the answer is not whole, and let what is left of it go nowhere, or Python tries again on its way out.

    A pipe without a reader is not reported: a user of ``head`` has got what they want.
    """
    if refusal.errno == errno.EBADF:
        output.error("standard output is closed, the answer is lost: leave it open, or send it to a file")
    elif refusal.errno != errno.EPIPE:
        output.error(f"standard output: {refusal.strerror}; the answer is not whole: send it elsewhere")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _show_mistake(kind: type[BaseException], mistake: BaseException, trace: TracebackType | None) -> None:
    """The traceback that Python would print, with what could deceive made visible."""
    for line in "".join(traceback.format_exception(kind, mistake, trace)).rstrip("\n").split("\n"):
        output.remark(line)
