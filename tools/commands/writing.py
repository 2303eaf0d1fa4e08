"""Commands that write: make a ledger, import games, build the views anew."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from ledger.facts.events import SchemeAdopted
from ledger.imports.csv.games import PREFIX
from ledger.journal.recorder_columns import PoolChoice
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import beside

from .. import output
from ..choices import scheme_names
from ..progress import Bars
from ..wording import counted
from . import DB, NEW_POOL, POOL, REFUSED, check_pool, confirmed, settings_given, tell_package
from .identifying import recorder
from .importing import FORMATS, Wish, check_files, import_file


@click.command()
@DB
@click.option("--pool", default="standard", show_default=True, metavar="NAME", help="Name of the first pool.")
@click.option(
    "--scheme", default="chessworld", show_default=True, metavar="NAME",
    help="Scheme that rates it; see 'scheme list'.", shell_complete=scheme_names,
)  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the scheme; repeatable.")
@click.option("--actor", default="init", show_default=True, metavar="WHO", help="Who does this, for the journal.")
def init(db_path: str, pool: str, scheme: str, settings: Sequence[str], actor: str) -> None:
    """Make a new ledger: DB, and beside it the people and the views.

    \b
    Example:
      rating-ledger init club.db --pool standard --scheme chessworld
      rating-ledger init club.db --set include_initial=true --set initial=1200
    """
    chosen = settings_given(settings)
    _check_words(pool, scheme, chosen)
    with Ledger.create(db_path, pool=pool, scheme=scheme, settings=chosen, actor=actor) as ledger:
        ledger.catch_up()
        output.remark(f"{db_path}: pool {pool!r} is rated by {scheme!r}; head {ledger.head()}")
        tell_package(scheme)


def _check_words(pool: str, scheme: str = "any", settings: Mapping[str, int | bool | str] | None = None) -> None:
    """Names and values that could stand in no journal are wrong usage."""
    try:
        SchemeAdopted(pool=pool, scheme=scheme, settings=dict(settings or {}))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@click.command("import")
@DB
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@POOL
@NEW_POOL
@click.option("--pools", type=click.Choice(["by-speed"]), help="Cut by variant and speed class, as Lichess does.")
@click.option("--variant", "variants", multiple=True, metavar="VARIANT=POOL", help="Take a variant too; repeatable.")
@click.option("--strict", is_flag=True, help="A fault anywhere in a file: nothing of that file is recorded.")
@click.option("--record-alike", is_flag=True, help="Record games that are probably known under another key.")
@click.option("--format", "fmt", type=click.Choice(FORMATS), help="Told by content where not given.")
@click.option("--source", metavar="SITE", help="Site that names and game ids in CSV files belong to, such as lichess.")
@click.option("--actor", default="import", show_default=True, metavar="WHO", help="Who does this, for the journal.")
def import_(
    db_path: str, files: Sequence[str], pool: str | None, new_pool: bool, pools: str | None, variants: Sequence[str],
    strict: bool, record_alike: bool, fmt: str | None, source: str | None, actor: str,
) -> None:  # fmt: skip
    """Record games from files and rate them; "-" is standard input.

    PGN, Lichess NDJSON, CSV and our own JSON lines, plain or packed by gzip, bzip2 or zstd. A game that is known
    already is counted, never recorded twice. What looks like a known game under another key is named and held back.
    Bad games are named with file and line and left out.

    \b
    Example:
      rating-ledger import club.db games.pgn more.pgn.zst results.csv games.ndjson
      zstdcat dump.pgn.zst | rating-ledger import club.db - --pools by-speed
      rating-ledger import club.db zh.pgn --variant crazyhouse=crazyhouse --new-pool --strict
    """
    if pool and pools:
        raise click.UsageError("give --pool or --pools, not both")
    if source is not None and not PREFIX.fullmatch(source):
        raise click.UsageError(f"--source must match {PREFIX.pattern}, got {source!r}")
    by_variant = dict(_pair(word, "--variant takes VARIANT=POOL") for word in variants)
    for name in {*by_variant.values(), *([pool] if pool is not None else [])}:
        _check_words(name)
    with Ledger.open(db_path) as ledger:
        ledger.views.refuse_foreign()
        for name in {*by_variant.values(), *([pool] if pool is not None else [])}:
            check_pool(ledger, name, is_new=new_pool)
        check_files(files, fmt=fmt)
        chosen = PoolChoice(pool=pools or pool or ledger.first_scheme().pool, variants=by_variant)
        who = recorder(ledger, actor)
        wish = Wish(choice=chosen, strict=strict, record_alike=record_alike, fmt=fmt, source=source, actor=who)
        good = [import_file(ledger, path, wish) for path in files]
        with Bars() as bars:
            ledger.catch_up(bars)
    if not all(good):
        sys.exit(REFUSED)


def _pair(word: str, usage: str) -> tuple[str, str]:
    first, divided, second = word.partition("=")
    if not (divided and first and second):
        raise click.UsageError(f"{usage}, got {word!r}")
    return first, second


@click.command()
@DB
@click.argument("player")
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@click.option("--actor", default="admin", show_default=True, metavar="WHO", help="Who does this, for the journal.")
def erase(db_path: str, player: str, yes: bool, actor: str) -> None:
    """Forget who a player is, for good: name, identity and salt. Games and ratings stay under the number.

    PLAYER is a name, an identity such as lichess:ann, or a number. Of merged players all numbers are erased. The
    journal says that somebody was erased, and under which number, never who; an older copy of the people file that
    is put back is erased again by that. Copies keep the name until they expire. An import of a file that names the
    person brings the name back, under a new number: nothing is left by which the person could be recognised.

    \b
    Example:
      rating-ledger erase club.db lichess:ann
      rating-ledger erase club.db 1017 --yes --actor admin:eve
    """
    with Ledger.open(db_path) as ledger:
        person = ledger.people_row(int(player)) if player.isdecimal() else None
        person = person or ledger.player(player)
        numbers = ledger.registry.same_person(person.player)
        rows = [ledger.people_row(number) for number in numbers]
        known = [f"{row.name} ({row.identity}), player {row.player}," for row in rows if row and not row.is_erased]
        if known:
            confirmed(f"Erase {' merged with '.join(known)} for good?", yes=yes)
        erased = ledger.erase(person.player, actor=recorder(ledger, actor))
    called = f"players {', '.join(map(str, numbers))} were" if numbers[1:] else f"player {person.player} was"
    outcome = f"who {called} {'is forgotten' if erased else 'was forgotten before'}"
    output.remark(
        f"{beside(db_path, 'people')}: {outcome}; copies of this file may still tell, and an import of a file that "
        "names the person brings the name back, under a new number"
    )


@click.command()
@DB
def rebuild(db_path: str) -> None:
    """Build the views anew from the journal alone; readers see the old ones until the new ones are whole.

    \b
    Example:
      rating-ledger rebuild club.db
    """
    with Ledger.open(db_path) as ledger, Bars() as bars:
        position = ledger.rebuild(bars)
        output.remark(f"{beside(db_path, 'views')}: rebuilt from {counted(position, 'entry', 'entries')}")


