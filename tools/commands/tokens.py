"""Commands about tokens: make one, list them, take one back, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ledger.errors import MalformedError
from ledger.journal.tokens import Role
from ledger.ledger import Ledger

from .. import limits, output
from ..groups import Suggesting
from ..wording import counted
from . import DB
from .identifying import VARIABLE

ROWS_IN_A_TABLE = 20


@click.group(cls=Suggesting)
def token() -> None:
    """Tokens, which prove who proposes, approves or records: random words that name a person and the person's roles.

    Once there is a token, corrections are proposed and decided by whoever shows one alone. A command takes it from
    the environment variable RATING_LEDGER_TOKEN or from --token-file FILE, never from its command line.

    \b
    Example:
      rating-ledger token add club.db eve --role corrector
      rating-ledger token add club.db adam --role approver --role corrector
      rating-ledger token list club.db -t
      rating-ledger token log club.db -t
    """


@token.command()
@DB
@click.argument("name")
@click.option(
    "--role", "roles", multiple=True, required=True, type=click.Choice([role.value for role in Role]),
    help="What the person may do; repeatable.",
)  # fmt: skip
def add(db_path: str, name: str, roles: Sequence[str]) -> None:
    """Make a token for a person, and show it this once; a keyed hash of it is kept beside the journal.

    A recorder records facts, a corrector proposes corrections, an approver decides them and sets policies, an auditor
    is named and no more. Recording asks for a token only where somebody is a recorder.

    \b
    Example:
      rating-ledger token add club.db eve --role corrector > eve.token
      RATING_LEDGER_TOKEN=$(cat eve.token) rating-ledger correct club.db void lichess:Mxzwh32Z --reason 'played twice'
    """
    with Ledger.open(db_path) as ledger:
        first = not ledger.tokens.are_set_up()
        try:
            made = ledger.tokens.add(name, [Role(role) for role in roles])
        except MalformedError as error:
            raise click.UsageError(str(error)) from None
        output.remark(f"{ledger.tokens.path}: a token of {name!r} ({', '.join(roles)}); this is the only time it shows")
        if first:
            output.remark(f"from now on corrections here ask for a token, by {VARIABLE} or --token-file")
        output.answer(made)


@token.command("list")
@DB
@output.format_options
def list_(db_path: str, fmt: str | None) -> None:
    """Every token: its number, whose it is, the roles, when it was made and revoked. None can be told from this.

    \b
    Example:
      rating-ledger token list club.db -t
    """
    with Ledger.open(db_path, read_only=True) as ledger:
        _warn(ledger)
        output.write([row._asdict() for row in ledger.tokens.list()], fmt)


@token.command()
@DB
@click.argument("who", metavar="NAME|NUMBER")
def revoke(db_path: str, who: str) -> None:
    """Take back all tokens of a person, or the one with a number of 'token list'; for good, and at once.

    \b
    Example:
      rating-ledger token revoke club.db eve
      rating-ledger token revoke club.db 3
    """
    with Ledger.open(db_path) as ledger:
        taken = ledger.tokens.revoke(who)
        output.remark(f"{ledger.tokens.path}: {counted(len(taken), 'token')} of {who!r} revoked")


@token.command()
@DB
@limits.option(ROWS_IN_A_TABLE, "attempts, the newest ones")
@output.format_options
def log(db_path: str, limit: int | None, fmt: str | None) -> None:
    """Every attempt that was refused for want of a right: when, what was tried, by which name and token, and why.

    \b
    Example:
      rating-ledger token log club.db -t
      rating-ledger token log club.db --csv
    """
    with Ledger.open(db_path, read_only=True) as ledger:
        _warn(ledger)
        rows = [row._asdict() for row in ledger.tokens.log()]
        limits.write(rows, fmt, limits.shown(limit, fmt, ROWS_IN_A_TABLE), newest_last=True)


def _warn(ledger: Ledger) -> None:
    if warning := ledger.tokens.file.warning():
        output.remark(f"warning: {warning}")
