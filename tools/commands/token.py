"""Commands about tokens: issue one, list them, take one back, replace a lost one, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ledger.auth.tokens import UNNAMED
from ledger.errors import MalformedError
from ledger.facts.events import Role
from ledger.ledger import Ledger

from .. import limits, output
from ..groups import Suggesting
from ..wording import counted
from . import DB, confirmed
from .token_options import VARIABLE, identifying, token_given

ROWS_IN_A_TABLE = 20


@click.group(cls=Suggesting)
def token() -> None:
    """Tokens, which prove who proposes, approves or records: random words that name a person and the person's roles.

    Once there is a token, only a person who shows one can propose and decide corrections. A command takes it from
    the environment variable RATING_LEDGER_TOKEN or from --token-file FILE, never from its command line. Who issued and
    revoked is in the journal; once there is an approver, both take an approver's token.

    \b
    Example:
      rating-ledger token add club.db adam --role approver --role corrector > adam.token
      rating-ledger token add club.db eve --role corrector --token-file adam.token
      rating-ledger token list club.db -t
      rating-ledger token log club.db -t
    """


@token.command()
@DB
@click.argument("name")
@click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice([role.value for role in Role]),
    help="What the person may do; repeatable.",
)
@click.option("--expires", metavar="INSTANT", help="The last day, or moment, at which it is taken.")
@identifying
def add(
    db_path: str, name: str, roles: Sequence[str], expires: str | None, by: str | None, token_file: str | None
) -> None:
    """Issue a token to a person, and show it this once; the journal keeps a salted digest of it, for good.

    A recorder records facts, a corrector proposes corrections, an approver decides them and sets policies, an auditor
    is named and no more. Recording asks for a token only if there is a recorder. Once there is an approver,
    the token of one is asked for. The name is in the journal as actors are, and is never erased.

    \b
    Example:
      rating-ledger token add club.db adam --role approver > adam.token
      rating-ledger token add club.db eve --role corrector --expires 2026-12-31 --token-file adam.token > eve.token
      RATING_LEDGER_TOKEN=$(cat eve.token) rating-ledger correct club.db void lichess:Mxzwh32Z --reason 'played twice'
    """
    with Ledger.open(db_path) as ledger:
        first = not ledger.tokens.are_set_up()
        token = token_given(ledger, token_file)
        try:
            ledger.tokens.add(name, [Role(role) for role in roles], expires_at=expires, by=by, token=token, show=_show)
        except MalformedError as error:
            raise click.UsageError(str(error)) from None
        until = f", until {expires}" if expires else ""
        output.remark(f"{db_path}: a token of {name!r} ({', '.join(roles)}{until}); this is the only time it shows")
        if first:
            output.remark(f"from now on corrections here ask for a token, by {VARIABLE} or --token-file")
        ledger.catch_up()


@token.command("list")
@DB
@output.format_options
def list_(db_path: str, fmt: str | None) -> None:
    """List every token: its number, its person, the roles, when it was made and revoked. None can be derived from this.

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
@identifying
def revoke(db_path: str, who: str, by: str | None, token_file: str | None) -> None:
    """Take back all tokens of a person, or the one with a number of 'token list'; for good, and at once.

    What was proven before remains so. Once there is an approver, the token of one is asked for.

    \b
    Example:
      rating-ledger token revoke club.db eve
      rating-ledger token revoke club.db 3
    """
    with Ledger.open(db_path) as ledger:
        taken = ledger.tokens.revoke(who, by=by, token=token_given(ledger, token_file))
        output.remark(f"{db_path}: {counted(len(taken), 'token')} of {who!r} revoked")
        ledger.catch_up()


@token.command()
@DB
@click.argument("name")
@click.option("--by", metavar="WHO", help=f"Who does this; '{UNNAMED}' by default.")
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
def reset(db_path: str, name: str, by: str | None, *, yes: bool) -> None:
    """Issue a new token to an approver who has lost the old one, in the place of all that this person had.

    It asks for no token: perhaps no approver has one any more. So it is an entry of the journal that 'audit' names
    for ever, and the holder of the old token finds that it holds no longer. Where another approver is there, use
    'token revoke' and 'token add'.

    \b
    Example:
      rating-ledger token reset club.db adam --by eve > adam.token
    """
    with Ledger.open(db_path) as ledger:
        confirmed(f"Reset the tokens of {name!r}? 'audit' will name it for ever.", yes=yes)
        try:
            ledger.tokens.reset(name, by=by, show=_show)
        except MalformedError as error:
            raise click.UsageError(str(error)) from None
        output.remark(f"{db_path}: a new token of {name!r}, who has no other now; this is the only time it shows")
        ledger.catch_up()


@token.command()
@DB
@limits.option(ROWS_IN_A_TABLE, "attempts, the newest ones")
@output.format_options
def log(db_path: str, limit: int | None, fmt: str | None) -> None:
    """Every attempt that was refused for want of a right: when, what was tried, by which name and token, and why.

    It has who signed in and out at the desk of the server, too.

    \b
    Example:
      rating-ledger token log club.db -t
      rating-ledger token log club.db --csv
    """
    with Ledger.open(db_path, read_only=True) as ledger:
        _warn(ledger)
        rows = [row._asdict() for row in ledger.tokens.log()]
        limits.write(rows, fmt, limits.shown(limit, fmt, ROWS_IN_A_TABLE), newest_last=True)


def _show(token: str) -> None:
    """Print a new token, never shown again, before it is recorded; none is recorded if it cannot be printed."""
    output.answer_at_once(token)
    if output.undelivered() is not None:
        raise click.ClickException("the token could not be shown, so none was issued; nothing was recorded")


def _warn(ledger: Ledger) -> None:
    if warning := ledger.tokens.store.warning():
        output.remark(f"warning: {warning}")
