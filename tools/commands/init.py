"""Commands that write: make a ledger, erase a player, rebuild the views."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from ledger.errors import LedgerError, StorageError
from ledger.facts.events import Role
from ledger.handle import DEFAULT_ACTOR
from ledger.journal.checkpoints import refuse_another_history
from ledger.journal.settings_file import DURABILITIES, ServerPlace, server_of
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.server_stores import setup_sql
from ledger.ratings.disk_space import SpaceNeed, require_space
from ledger.runtime.ledger_files import sidecar

from .. import output
from ..choices import scheme_names
from ..progress import Bars
from ..wording import counted
from . import DB, check_words, confirmed, person_named, place_on_server, settings_given, tell_package
from .token_options import acting, recording_token, token_given


@click.command()
@DB
@click.option("--pool", default="standard", show_default=True, metavar="NAME", help="Name of the first pool.")
@click.option(
    "--scheme",
    default="chessworld",
    show_default=True,
    metavar="NAME",
    help="Scheme that rates it; see 'scheme list'.",
    shell_complete=scheme_names,
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the scheme; repeatable.")
@click.option(
    "--secret-of",
    type=click.Path(exists=True, dir_okay=False),
    metavar="OTHER.db",
    help="Make keys of games as OTHER.db does: the same games have the same keys, and the same ratings, in both.",
)
@click.option("--actor", default="init", show_default=True, metavar="WHO", help="Who does this, for the journal.")
@click.option("--journal", "address", metavar="ADDRESS", help="Keep journal and names on PostgreSQL, not in files.")
@click.option("--schema", metavar="NAME", help="In which schema there; by default the name of DB.")
@click.option(
    "--durability", type=click.Choice(DURABILITIES), help="quorum: refuse a server that waits for no other server."
)
@click.option("--sql", "sql_only", is_flag=True, help="Only print the SQL that makes the schemas, for who may run it.")
def init(
    db_path: str,
    pool: str,
    scheme: str,
    settings: Sequence[str],
    secret_of: str | None,
    actor: str,
    address: str | None,
    schema: str | None,
    durability: str | None,
    *,
    sql_only: bool,
) -> None:
    """Make a new ledger: DB, and next to it the people and the views.

    Games whose source gives no key get one that is made of their facts under a secret, so that no name can be tried
    against it. The secret is in the people file.

    With --journal, journal, names and tokens are schemas of a PostgreSQL database, 15 or later; DB is then the name by
    which commands know the ledger: views, settings (club.toml), key and checkpoints are next to it. ADDRESS is that
    of the user who records; the password comes from .pgpass, a service file or a certificate. That user must not own
    the schemas: a user who may make roles and schemas makes them, or --sql prints what another user runs first.

    \b
    Example:
      rating-ledger init club.db --pool standard --scheme chessworld
      rating-ledger init again.db --secret-of club.db
      rating-ledger init club.db --set include_initial=true --set initial=1200
      rating-ledger init club.db --journal postgresql://ledger@db1,db2,db3/chess --sql | psql -h db1 chess postgres
      rating-ledger init club.db --journal postgresql://ledger@db1,db2,db3/chess --durability quorum
    """
    chosen = settings_given(settings)
    check_words(pool, scheme, chosen)
    place = _server(db_path, address, schema, durability, sql_only=sql_only)
    if sql_only and place is not None:
        output.answer_lines(setup_sql(place).rstrip("\n"))
        return
    with Ledger.create(
        db_path, pool=pool, scheme=scheme, settings=chosen, actor=actor, secret_of=secret_of, on_server=place
    ) as ledger:
        ledger.catch_up()
        output.remark(f"{db_path}: pool {pool!r} is rated by {scheme!r}; head {ledger.head()}")
        tell_package(scheme)


def _server(
    path: str, address: str | None, schema: str | None, durability: str | None, *, sql_only: bool
) -> ServerPlace | None:
    """Where the journal is to be on a server; None for files."""
    if address is None:
        for option, value in (("--schema", schema), ("--durability", durability), ("--sql", sql_only)):
            if value:
                raise click.UsageError(f"{option} goes with --journal")
        return None
    return place_on_server(path, address, schema, durability)


@click.command()
@DB
@click.argument("player")
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@acting("admin")
def erase(db_path: str, player: str, yes: bool, actor: str) -> None:
    """Forget who a player is, for good: name, identity and salt. Games and ratings stay under the number.

    PLAYER is a name, an identity such as lichess:ann, or a number. Of merged players all numbers are erased. If anybody
    is an approver, the token of one is needed. The journal says that a player was erased, and under which number, never
    who; an older copy of the people file that is put back is erased again by that. Copies keep the name until they
    expire. A file with known games of the person again is held back in part; one with other games brings the name back,
    under a new number: nothing is left by which the person could be recognised. It reports how many of the games have
    keys of an earlier release, against which names can still be tried.

    \b
    Example:
      rating-ledger erase club.db lichess:ann
      rating-ledger erase club.db 1017 --yes --actor admin:eve
    """
    with Ledger.open(db_path) as ledger:
        person = person_named(ledger, player)
        numbers = ledger.registry.same_person(person.player)
        rows = [ledger.people_row(number) for number in numbers]
        people = [f"{row.name} ({row.identity}), player {row.player}," for row in rows if row and not row.is_erased]
        if people:
            confirmed(f"Erase {' merged with '.join(people)} for good?", yes=yes)
        # a token names its person
        is_asked = ledger.tokens.is_role_issued(Role.APPROVER)
        token = token_given(ledger, None) if is_asked else recording_token(ledger)
        erased = ledger.erase(person.player, actor=actor if token is None else DEFAULT_ACTOR, token=token)
        remaining = _keys_to_try(ledger, person.player)
        names = ledger.names.file
        where, copies = names.path, names.remaining_copies()
    called = f"players {', '.join(map(str, numbers))} were" if numbers[1:] else f"player {person.player} was"
    outcome = f"who {called} {'is forgotten' if erased else 'was forgotten before'}"
    output.remark(
        f"{where}: {outcome}; {copies}, and an import of a file that names the person and tells of other games brings "
        "the name back, under a new number"
    )
    if remaining:
        output.remark(remaining)


def _keys_to_try(ledger: Ledger, player: int) -> str:
    """Return a note on keys that still reveal who the player was; the erasure does not wait for it."""
    try:
        with Bars() as bars:
            ledger.ensure_up_to_date(bars)
        count = ledger.registry.count_guessable_keys(player)
    except LedgerError as error:
        return f"how many of the games stand under keys of an earlier release could not be counted ({error})"
    games = "1 game stands under a key" if count == 1 else f"{count:,} games stand under keys"
    without = "that an earlier release made of names, without a secret"
    return f"{games} {without}: whoever has the journal can try names, and finds the right one" if count else ""


@click.command()
@DB
def rebuild(db_path: str) -> None:
    """Build the views again from the journal alone; readers see the old ones until the new ones are complete.

    \b
    Example:
      rating-ledger rebuild club.db
    """
    with Ledger.open(db_path) as ledger, Bars() as bars:
        position = ledger.rebuild(bars)
        output.remark(f"{sidecar(db_path, 'views')}: rebuilt from {counted(position, 'entry', 'entries')}")


@click.command
@DB
def upgrade(db_path: str) -> None:
    """Bring the journal of an earlier release to the present layout, in which large imports write far less.

    Entries and head stay the same. Nothing demands it: a journal of an earlier release is read and written as it
    is. It refuses without free space of twice the journal's file; interrupted, it leaves the journal as it was.

    \b
    Example:
      rating-ledger upgrade club.db
    """
    if server_of(Path(db_path)) is not None:
        raise StorageError(db_path, "has its journal on a server, where no layout of a file is to be changed")
    with closing(SqliteJournal(db_path)) as journal, Bars() as bars:
        refuse_another_history(Path(db_path), journal)
        if not journal.has_present_layout():
            require_space("an upgrade", [SpaceNeed(Path(db_path), 2 * Path(db_path).stat().st_size)])
        is_upgraded = journal.upgrade(lambda done, total: bars("journal", done, total))
        head = journal.head()
    words = "upgraded" if is_upgraded else "has the present layout already"
    output.remark(f"{db_path}: {words}; head {head}")
