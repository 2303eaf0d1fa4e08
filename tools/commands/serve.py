"""The command that answers over HTTP."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

import click
from click.core import ParameterSource

from ledger.runtime.ledger_files import journal_file

from .. import output
from ..serve.settings import SETTINGS, UNIX, ServeSetting, serving, word_of
from . import DB, level

_NEEDED = ("jinja2", "python_multipart", "starlette", "uvicorn")
UNIX_NEEDED = "serve needs Linux or macOS, for its processes share Unix sockets: on Windows, run it in WSL"
EXTRA = "serve needs Starlette, uvicorn, Jinja2 and python-multipart: pip install 'rating-ledger[server]'"


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for each setting; each is None where it is not given, so that ``club.toml`` may give it."""
    for name, (setting, default) in reversed([*SETTINGS.items()]):
        command = click.option(
            f"--{word_of(name)}",
            name,
            metavar=None if setting.choices else setting.metavar,
            type=click.Choice(setting.choices) if setting.choices else None,
            callback=_reading(setting),
            help=setting.doc if default is None else f"{setting.doc}  [default: {default}]",
        )(command)
    return command


def _reading(setting: ServeSetting) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    def read(_: click.Context, option: click.Parameter, word: str | None) -> Any:
        try:
            return None if word is None else setting.read(word)
        except ValueError as error:
            raise click.UsageError(f"{option.opts[0]}: {error}") from None

    return read


def _print_unit(context: click.Context, path: Path, listen: str) -> None:
    """The unit to standard output; what is to be done with it beside that."""
    from ..serve.unit import unit  # noqa: PLC0415  # no other command loads the server

    names = [name for name in SETTINGS if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    words = [word for name in names for word in (f"--{word_of(name)}", _absolute(str(context.params[name])))]
    made = unit(path, words, listen)
    output.answer_lines(made.text.rstrip("\n"))
    for note in made.notes:
        output.remark(note)


def _absolute(word: str) -> str:
    """The word of an option, a socket by its whole path: a unit is not started where the command was given."""
    return f"{UNIX}{Path(word.removeprefix(UNIX)).absolute()}" if word.startswith(UNIX) else word


@click.command()
@DB
@_options
@click.option(
    "--unit", is_flag=True, help="Print a systemd unit that serves it with the same options, and serve nothing."
)
@click.pass_context
def serve(context: click.Context, /, db_path: str, *, unit: bool, **options: Any) -> None:
    """Answer over HTTP: pools, players, graphs, rankings, tournaments, lists, corrections, games.

    The addresses stand under /api/v1, and /api/v1/openapi.json tells all of them. Answers are JSON; rows also CSV and
    newline-delimited JSON. Strangers see no officers, reasons or years of birth. Over HTTP only those record who have
    a token of the ledger ('token add'); what commands record beside it is answered within a second. For the world
    put a proxy with TLS before it. The same settings may stand under [serve] of club.toml, beside DB; what is given
    here wins.

    \b
    Example:
      rating-ledger serve club.db
      rating-ledger serve club.db --listen unix:/run/club.sock --public-url https://ratings.example.org/club
      rating-ledger serve club.db --unit > /etc/systemd/system/rating-ledger.service
      curl -s http://127.0.0.1:8000/api/v1/players/ann
    """
    if sys.platform == "win32":
        raise click.ClickException(UNIX_NEEDED)
    if not all(map(find_spec, _NEEDED)):
        raise click.ClickException(EXTRA)
    path = Path(journal_file(db_path))
    settings = serving(path, options)
    if unit:
        _print_unit(context, path, settings.listen)
        return
    from ..serve import processes  # noqa: PLC0415  # no other command loads the server

    with level(db_path):
        pass  # damage ends here with one line, and the first answer need not wait
    stopped = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    processes.serve(settings, stopped)
