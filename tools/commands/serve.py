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

from ledger.runtime.ledger_files import journal_file

from ..serve.settings import SETTINGS, ServeSetting, serving, word_of
from . import DB, open_up_to_date

_NEEDED = ("jinja2", "python_multipart", "starlette", "uvicorn")
UNIX_NEEDED = "serve needs Linux or macOS, for its processes share Unix sockets: on Windows, run it in WSL"
EXTRA = "serve needs Starlette, uvicorn, Jinja2 and python-multipart: pip install 'rating-ledger[server]'"


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return an option for each setting; each is None where it is not given, so that ``club.toml`` may give it."""
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


@click.command()
@DB
@_options
def serve(db_path: str, **options: Any) -> None:
    """Answer over HTTP: pools, players, graphs, rankings, tournaments, lists, corrections, games.

    The addresses are under /api/v1, and /api/v1/openapi.json lists all of them. Answers are JSON; rows also CSV and
    newline-delimited JSON. Strangers see no officers, reasons or years of birth. Over HTTP only those record who have
    a token of the ledger ('token add'); what commands record meanwhile is answered within a second. For the world
    put a proxy with TLS before it. The same settings may be under [serve] of club.toml, next to DB; what is given
    here wins.

    \b
    Example:
      rating-ledger serve club.db
      rating-ledger serve club.db --listen unix:/run/club.sock --public-url https://ratings.example.org/club
      curl -s http://127.0.0.1:8000/api/v1/players/ann
    """
    if sys.platform == "win32":
        raise click.ClickException(UNIX_NEEDED)
    if not all(map(find_spec, _NEEDED)):
        raise click.ClickException(EXTRA)
    path = Path(journal_file(db_path))
    settings = serving(path, options)
    from ..serve import processes  # noqa: PLC0415  # no other command loads the server

    with open_up_to_date(db_path):
        pass  # damage ends here with one line, and the first answer need not wait
    stopped = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    processes.serve(settings, stopped)
