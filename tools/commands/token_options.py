"""Who acts, for the commands that ask: ``--by``, ``--actor`` and ``--token-file``, and the token of the environment.

No token is ever an argument: everybody on the machine sees a command line.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ledger.auth.tokens import UNNAMED
from ledger.errors import MalformedError
from ledger.facts.events import Role
from ledger.ledger import Ledger

from .. import output

Command = TypeVar("Command", bound=Callable[..., Any])
VARIABLE = "RATING_LEDGER_TOKEN"
_KEPT = "tools.commands.token_options.token"  # under this name a command's context keeps the token of its file
BY = f"Who does this; by default whom the token names, without one '{UNNAMED}'."
WHY = "Why: stored outside the journal, and can be erased."
_OTHERS = stat.S_IRGRP | stat.S_IROTH
_LARGEST = 4_096  # bytes of a file with a token


def _token_file(**more: Any) -> Callable[[Command], Command]:
    return click.option(
        "--token-file",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help=f"File with the token that proves who does this; by default that of {VARIABLE}.",
        **more,
    )


def identifying(command: Command) -> Command:
    """Return the options that say who acts, in the arguments *by* and *token_file*."""
    command = _token_file()(command)
    return click.option("--by", metavar="WHO", help=BY)(command)


def acting(default: str) -> Callable[[Command], Command]:
    """Return the options that say who records facts, in the argument *actor*; a token is kept for ``token_given``."""

    def add(command: Command) -> Command:
        command = _token_file(expose_value=False, callback=_keep)(command)
        return click.option(
            "--actor", default=default, show_default=True, metavar="WHO", help="Who does this, for the journal."
        )(command)

    return add


def _keep(context: click.Context, _: click.Parameter, file: str | None) -> None:
    if file is not None:
        context.meta[_KEPT] = _read(file)


def token_given(ledger: Ledger, token_file: str | None) -> str | None:
    """Return the token of the file, or of the environment; None without. What is wrong with permissions is said."""
    if warning := ledger.tokens.store.warning():
        output.remark(f"warning: {warning}")
    if token_file is not None:
        return _read(token_file)
    context = click.get_current_context(silent=True)
    kept: str | None = None if context is None else context.meta.get(_KEPT)
    return kept or os.environ.get(VARIABLE) or None


def _read(token_file: str) -> str:
    path = Path(token_file)
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)  # no more: a device may have no end
    if len(content) > _LARGEST:
        raise MalformedError([f"{path}: larger than {_LARGEST:,} bytes, so it is no file of a token"])
    token = content.decode("utf-8", errors="surrogateescape").strip()
    if os.name == "posix" and path.stat().st_mode & _OTHERS:
        output.remark(f"warning: {path}: others may read this token; run 'chmod 600' on it, better make a new one")
    return token


def recording_token(ledger: Ledger) -> str | None:
    """Return the token of the recorder if anybody holds that role; else None."""
    return token_given(ledger, None) if ledger.tokens.is_role_issued(Role.RECORDER) else None


def recorder(ledger: Ledger, actor: str) -> str:
    """Return who records facts: the person of the token if anybody holds that role; else *actor*, a word.

    Raises:
        RejectedError: the token is missing, or its person may not record.
    """
    if not ledger.tokens.is_role_issued(Role.RECORDER):
        return actor
    return ledger.tokens.authenticate(token_given(ledger, None), None, Role.RECORDER, "record facts").name


def recorded_by(ledger: Ledger, actor: str) -> dict[str, Any]:
    """Return the arguments that say who records facts: the name, and the token that proves it if one is needed."""
    return {"actor": recorder(ledger, actor), "token": recording_token(ledger)}
