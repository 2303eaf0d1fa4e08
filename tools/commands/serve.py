"""The command that answers over HTTP."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import click

from ledger.runtime.ledger_files import journal_file

from . import DB, level

_NEEDED = ("jinja2", "python_multipart", "starlette", "uvicorn")
EXTRA = "serve needs Starlette, uvicorn, Jinja2 and python-multipart: pip install 'rating-ledger[server]'"
MOST_READERS = 64


@click.command()
@DB
@click.option(
    "--listen",
    default="127.0.0.1:8000",
    show_default=True,
    metavar="ADDRESS:PORT|unix:PATH",
    help="Where it answers; port 0: any that is free.",
)
@click.option("--public-url", metavar="URL", help="What others call it: stands before the addresses in links.")
@click.option(
    "--readers", type=click.IntRange(1, MOST_READERS), default=1, show_default=True, help="Processes that answer."
)
@click.option(
    "--behind-proxy", metavar="ADDRESS", help="Of the proxy whose word is taken for where a request comes from."
)
def serve(db_path: str, listen: str, public_url: str | None, readers: int, behind_proxy: str | None) -> None:
    """Answer over HTTP: pools, players, graphs, rankings, tournaments, lists, corrections, games.

    The addresses stand under /api/v1, and /api/v1/openapi.json tells all of them. Answers are JSON; rows also CSV and
    newline-delimited JSON. Strangers see no officers, reasons or years of birth. Nothing is recorded over HTTP; what
    commands record beside it is seen at once. For the world put a proxy with TLS before it.

    \b
    Example:
      rating-ledger serve club.db
      rating-ledger serve club.db --listen unix:/run/club.sock --public-url https://ratings.example.org/club
      curl -s http://127.0.0.1:8000/api/v1/players/ann
    """
    if not all(map(find_spec, _NEEDED)):
        raise click.ClickException(EXTRA)
    if not listen.startswith("unix:") and not listen.rpartition(":")[2].isdecimal():
        raise click.UsageError(f"--listen: give ADDRESS:PORT or unix:PATH, got {listen!r}")
    if public_url is not None and not (
        urlsplit(public_url).scheme in {"http", "https"} and urlsplit(public_url).netloc
    ):
        raise click.UsageError(f"--public-url: give one that begins with https:// or http://, got {public_url!r}")
    from ..serve import processes  # noqa: PLC0415  # no other command loads the server

    path = Path(journal_file(db_path))
    with level(db_path):
        pass  # damage ends here with one line, and the first answer need not wait
    stopped = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    processes.serve(
        processes.Serving(path=path, listen=listen, public_url=public_url, readers=readers, behind_proxy=behind_proxy),
        stopped,
    )
