"""The sub-commands, a few to a file, each loaded when it is called. Here only what several of them share."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from ledger.answers.publications import MOST_DIGITS, known_entries
from ledger.errors import CorruptError, LedgerError
from ledger.facts.event_fields import DECIMAL_PATTERN
from ledger.facts.events import SchemeAdopted
from ledger.facts.instants import instant_ms
from ledger.journal.listing import pool_names
from ledger.journal.settings_file import DURABILITIES, ServerPlace, server_of
from ledger.ledger import Ledger
from ledger.players.persons import Person
from ledger.runtime import postgres, sqlite
from ledger.runtime.nearest import expected_names
from ledger.schemes import package_of
from ledger.schemes.scheme import POOL_SETTINGS

from .. import output
from ..choices import pools_of_the_ledger
from ..progress import Bars

FAULTS_SHOWN = 100  # of a file of games or players
DB = click.argument("db_path", metavar="DB", type=click.Path(readable=False))  # the library says why not
VERIFY = click.option(
    "--verify", is_flag=True, help="Prove journal and names first, and answer from ratings recomputed from them."
)


def no_dash(_context: click.Context, _parameter: click.Parameter, file: str | Path | None) -> str | Path | None:
    """Return the file that is to be written; None for standard output, which "-" is as well."""
    return None if str(file) == "-" else file


POOL = click.option(
    "--pool",
    metavar="NAME",
    help="Pool; the ledger's first one by default.",
    shell_complete=pools_of_the_ledger,
)
KNOWN_AT = click.option(
    "--known-at", metavar="POSITION|LIST", help="Answer from what was known then: so many entries, or a published list."
)
AS_IF = click.option(
    "--as-if",
    type=click.IntRange(1),
    metavar="PROPOSAL",
    help="Answer as after the approval of that open proposal; nothing is recorded.",
)
INTO = click.option(
    "-o",
    "--output",
    "file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=no_dash,
    help="Where to; - is standard output.",
)


def format_of_name(file: Path | None, endings: Mapping[str, str], usual: str) -> str:
    """Return the format that a file's name asks for by its ending; without a file the *usual* one."""
    if file is None:
        return usual
    kind = next((kind for ending, kind in endings.items() if file.name.lower().endswith(ending)), None)
    if kind is None:
        raise click.UsageError(f"-o {str(file)!r}: give --format, or a name that ends in {', '.join(endings)}")
    return kind


_LEAST = "ledger.at-least"  # where a context keeps it, for ``open_up_to_date``


def _note_least(context: click.Context, _parameter: click.Parameter, entry: int | None) -> None:
    context.meta[_LEAST] = entry or 0


AT_LEAST = click.option(
    "--at-least",
    type=click.IntRange(0, 10**15),  # as the parameter 'after' of the API
    metavar="POSITION",
    expose_value=False,
    callback=_note_least,
    help="Answer only once that entry is there, such as one that was just recorded on another node; 30 s.",
)
NEW_POOL = click.option("--new-pool", is_flag=True, help="Make a pool of the given name where there is none yet.")

REFUSED, USAGE, FALSE = 1, 2, 3  # exit codes
ENTRY_WITHIN = 30.0  # seconds for an entry to come that is not there yet


class Number(click.FloatRange):
    """A finite number within bounds: Python reads 'nan' and '1e999' as numbers, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def person_named(ledger: Ledger, word: str) -> Person:
    """Return the player of a number, even of an erased one; or of a name or an identity, as ``Ledger.player``.

    Raises:
        UnknownNameError: there is no such player, or several have that name.
    """
    # Python reads no number of thousands of digits, and no player has one of sixteen.
    row = ledger.people_row(int(word)) if word.isdecimal() and len(word) <= MOST_DIGITS else None
    return row or ledger.player(word)


def settings_given(words: Sequence[str], option: str = "--set") -> dict[str, int | bool | str]:
    """Return the settings of ``--set NAME=VALUE`` options, or of arguments of that form, which *option* names."""
    settings: dict[str, int | bool | str] = {}
    for word in words:
        name, divided, value = word.partition("=")
        if not divided:
            raise click.UsageError(f"{option} takes NAME=VALUE, got {word!r}")
        settings[name] = {"true": True, "false": False}.get(value.lower(), value)
        of_pool = POOL_SETTINGS.get(name)
        if of_pool is not None and type(of_pool.default) is not bool:
            if of_pool.problem(name, value) is not None:
                raise click.UsageError(f"{option} {name}: give {of_pool.expected}; got {value!r}")
        elif value == settings[name] and re.fullmatch(DECIMAL_PATTERN, value) is None:
            raise click.UsageError(f"{option} {name}: give a number such as 32 or 0.5, true or false; got {value!r}")
    return settings


def place_on_server(path: str, address: str, schema: str | None, durability: str | None) -> ServerPlace:
    """Where a journal is to be on a server, by the options of a command.

    Raises:
        click.UsageError: the address is none.
    """
    if not postgres.is_address(address):
        raise click.UsageError(f"--journal takes an address such as postgresql://ledger@db1/chess, got {address!r}")
    return ServerPlace(address, schema or Path(path).stem, durability=durability or DURABILITIES[0])


def check_words(pool: str, scheme: str = "any", settings: Mapping[str, int | bool | str] | None = None) -> None:
    """Refuse, as wrong usage, names and values that no journal can hold.

    Raises:
        click.UsageError: naming them.
    """
    try:
        SchemeAdopted(pool=pool, scheme=scheme, settings=dict(settings or {}))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def instant(text: str | None, option: str) -> str | None:
    """Return the instant that an option gives; what is none is wrong usage."""
    if text is not None:
        try:
            instant_ms(text)
        except ValueError as error:
            raise click.UsageError(f"{option}: {error}") from None
    return text


def check_pool(ledger: Ledger, name: str, *, is_new: bool | None = None) -> None:
    """Refuse the name of a pool that is not there, unless a new one was asked for: it may be mistyped.

    Args:
        ledger: the ledger.
        name: of the pool.
        is_new: whether a new one was asked for by ``--new-pool``; None if the command has no such option.

    Raises:
        click.UsageError: naming the pools that are there.
    """
    pools = pool_names(ledger.journal)
    if name not in pools and not is_new:
        hint = "" if is_new is None else "; --new-pool makes a new one"
        raise click.UsageError(f"no pool {name!r} in this ledger; {expected_names(name, pools)}{hint}")


def tell_package(scheme: str) -> None:
    """Say which package brings a scheme that is not built in: without it the ledger cannot be read."""
    if package := package_of(scheme):
        output.remark(f"note: scheme {scheme!r} is brought by package {package!r}: whoever reads this ledger needs it")


@contextmanager
def open_up_to_date(
    path: str, *, verify: bool = False, known_at: str | None = None, as_if: int | None = None, apart: bool = False
) -> Iterator[Ledger]:
    """Open a ledger whose views are up to date; to *verify*, with temporary views of a proven journal.

    With *known_at*, a number of entries or a published list, it answers from what was known then; with *as_if*, the
    number of an open proposal, as after its approval; *apart* where another connection is to read it, too. Where the
    command line has ``AT_LEAST``, the journal has that entry by then.

    Reads verify no row. Where a row ends a question in an error of the program, the audit says whether that row is
    false; if it finds nothing, the program is at fault, and the error shows it.

    Raises:
        CorruptError: the first thing that the audit finds false.
        UnknownNameError: the journal has no such entry.
        click.UsageError: both are given.
    """
    if known_at is not None and as_if is not None:
        raise click.UsageError("--known-at tells of the past and --as-if of what may come: give one of the two")
    if verify and _least():
        with Ledger.open(path) as ledger:
            wait_for_least(ledger)  # before the copy is made that is proven
    with _verifying().recomputed(path) if verify else Ledger.open(path) as ledger:
        wait_for_least(ledger)
        bring_up_to_date(ledger)
        try:
            with _then(ledger, known_at, as_if, keep=not verify, apart=apart) as then:
                yield then
        except (UnicodeEncodeError, LedgerError):  # of what is printed; what has words of its own
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, sqlite.sqlite3.Error) as error:
            if falsehoods := _verifying().falsehoods(path):
                raise CorruptError(str(ledger.path), 0, f"an answer could not be given: {falsehoods[0]}") from error
            raise


def _verifying() -> ModuleType:
    """Return the module ``verify_option`` with the audit and the backups, which no command that only answers needs."""
    return import_module(f"{__name__}.verify_option")


@contextmanager
def _then(ledger: Ledger, known_at: str | None, as_if: int | None, *, keep: bool, apart: bool) -> Iterator[Ledger]:
    """Yield the ledger as it is, as it was known, or as it would be."""
    if known_at is not None:
        position, listed = known_entries(ledger, known_at)
        with Bars() as bars, ledger.known_at(position, listed=listed, keep=keep, progress=bars) as then:
            yield then
    elif as_if is not None:
        with ledger.as_if(as_if, apart=apart) as would_be:
            output.remark(f"as if proposal {as_if} were approved; nothing is recorded")
            yield would_be
    else:
        yield ledger


def _least() -> int:
    """Return the entry of the option ``AT_LEAST``; 0 where it was not given."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else int(context.meta.get(_LEAST, 0))


def wait_for_least(ledger: Ledger) -> None:
    """Wait until the journal has the entry that the option ``AT_LEAST`` names, if it was given.

    A file has every acknowledged entry; on a server it may be on its way to the one that is asked.

    Raises:
        UnknownNameError: it is not there in time.
    """
    if entry := _least():
        ledger.wait_for(
            entry,
            ENTRY_WITHIN if server_of(ledger.path) else 0.0,
            lambda size: output.remark(f"waiting up to {ENTRY_WITHIN:g} s for entry {entry:,}; the last is {size:,}"),
        )


def bring_up_to_date(ledger: Ledger) -> None:
    """Bring the views up to date, with a bar if they are built or further tables are filled."""
    with Bars() as bars:
        ledger.ensure_up_to_date(bars)


def confirmed(question: str, *, yes: bool) -> None:
    """Ask, unless *yes* was given; a no ends the command.

    Raises:
        click.UsageError: there is no terminal to ask.
    """
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here: give --yes")
    if not output.agreed(question):
        raise click.Abort
