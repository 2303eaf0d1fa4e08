"""Commands about schemes: which there are, what they take, which one rates a pool from when on, rating runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs
import click

from ledger import schemes as known
from ledger.answers import pools, publications
from ledger.answers.rows import as_rows
from ledger.book.timeline import Era
from ledger.correcting.verbs import conversion_in
from ledger.facts.events import Event, RatingRunClosed, SchemeAdopted, TournamentClosed, TournamentOpened
from ledger.facts.instants import instant_ms
from ledger.facts.words import Carry, Receipt
from ledger.journal import rules
from ledger.ledger import Ledger
from ledger.schemes.scheme import POOL_SETTINGS, Rhythm, Scheme

from .. import limits, output
from ..choices import scheme_names
from ..groups import Suggesting
from ..progress import Bars
from . import (
    AS_IF,
    AT_LEAST,
    DB,
    KNOWN_AT,
    NEW_POOL,
    POOL,
    VERIFY,
    bring_up_to_date,
    check_pool,
    open_up_to_date,
    settings_given,
    tell_package,
)
from .proposal_options import proposing, record
from .token_options import acting

E = TypeVar("E", bound=Event)
ROWS_IN_A_TABLE = 20  # runs, or players of a list, where the reader does not say how many
ACTOR = acting("admin")


@click.group(cls=Suggesting)
def scheme() -> None:
    """Rating schemes: list them, show one's settings, adopt one for a pool.

    \b
    Example:
      rating-ledger scheme list -t
      rating-ledger scheme show fide -t
      rating-ledger scheme eras club.db -t
      rating-ledger scheme adopt club.db --scheme chessworld --from 2006-01-01 --carry keep
    """


@scheme.command("list")
@output.format_options
def list_(fmt: str | None) -> None:
    """Every installed scheme: how many games it rates together, and who published it.

    \b
    Example:
      rating-ledger scheme list -t
    """
    rows = [
        {
            "scheme": name,
            "rates": f"by {listed.rhythm.value}",
            "title": listed.title,
            "source": listed.source,
            "package": known.package_of(name) or "rating-ledger",
        }
        for name, listed in sorted(known.available_schemes().items())
    ]
    output.write(rows, fmt)


@scheme.command()
@click.argument("name", shell_complete=scheme_names)
@output.format_options
def show(name: str, fmt: str | None) -> None:
    """One scheme: its settings with defaults, units, meanings and sources.

    If its source allows several readings, "readings" names those that are implemented.

    The default is what an adoption means that does not name the setting; "new_pools" is what pools begin with now.

    \b
    Example:
      rating-ledger scheme show chessworld -t
      rating-ledger scheme show glicko2 --csv
    """
    chosen = known.find_scheme(name)
    rows = _settings_of(chosen)
    if fmt == "table":
        output.write_one(_described(chosen), "table")
        output.answer()
        shown = ("default", "new_pools")
        rows = [{**row, **{column: _as_text(row[column]) for column in shown}} for row in rows]
    if fmt is None:
        output.write_one({**_described(chosen), "settings": rows}, None)
    else:
        output.write(rows, fmt)


def _described(chosen: Scheme) -> dict[str, Any]:
    return {
        "scheme": chosen.name,
        "title": chosen.title,
        "source": chosen.source,
        "rates": f"by {chosen.rhythm.value}",
        "version": chosen.version,
        "state": ", ".join(chosen.state),
        "readings": " ".join(chosen.readings),
    }


def _settings_of(chosen: Scheme) -> list[dict[str, Any]]:
    new = chosen.numbers_from(chosen.for_new_pools)
    return [
        {
            "setting": field.name,
            "default": field.default,
            "new_pools": getattr(new, field.name),
            "unit": field.metadata["unit"],
            "meaning": field.metadata["doc"],
            "source": field.metadata["source"],
        }
        for field in attrs.fields(chosen.settings)
    ] + [
        {
            "setting": name,
            "default": setting.in_force,
            "new_pools": chosen.for_new_pools.get(name, setting.in_force),
            "unit": setting.unit,
            "meaning": setting.doc,
            "source": "choice of the pool",
        }
        for name, setting in POOL_SETTINGS.items()
    ]


def _as_text(default: float | bool | str | None) -> str:
    """Return a default in full: a table rounds ratings, and a default may be a small fraction."""
    if default is None or isinstance(default, str):
        return default or ""
    return str(default).lower() if isinstance(default, bool) else f"{default:.12g}"


@scheme.command()
@DB
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def eras(db_path: str, as_if: int | None, fmt: str | None, verify: bool) -> None:
    """List which scheme rates each pool since when, with its settings, and what players kept.

    \b
    Example:
      rating-ledger scheme eras club.db -t
    """
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        output.write(as_rows(pools.scheme_periods(ledger)), fmt)


@scheme.command()
@DB
@POOL
@NEW_POOL
@click.option(
    "--scheme",
    "name",
    required=True,
    metavar="NAME",
    help="The scheme; see 'scheme list'.",
    shell_complete=scheme_names,
)
@click.option("--from", "since", metavar="INSTANT", help="First day that it rates; left out for a new pool.")
@click.option("--carry", type=click.Choice([way.value for way in Carry]), help="What players bring along.")
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="[FROM:]FACTOR:OFFSET",
    help="For --carry convert: new = FACTOR x old + OFFSET for ratings from FROM on; repeatable.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting; repeatable.")
@ACTOR
@proposing
def adopt(
    db_path: str,
    pool: str | None,
    new_pool: bool,
    name: str,
    since: str | None,
    carry: str | None,
    maps: Sequence[str],
    settings: Sequence[str],
    actor: str,
) -> None:
    """Rate a pool by another scheme from a date on, in the past too: what it touches is rated again.

    Players keep rating and number of games (--carry keep, the default), begin again (restart), or get the rating
    of a stated linear map (convert). "keep" takes the number as it is: where two schemes count in other points,
    convert. A date begins with its first moment.

    \b
    Example:
      rating-ledger scheme adopt club.db --pool standard --scheme chessworld --from 2006-01-01 --carry keep
      rating-ledger scheme adopt club.db --scheme fide --from 2024-03 --carry convert --map 0.6:800 --map 2000:1:0
      rating-ledger scheme adopt club.db --pool rapid --new-pool --scheme lichess --set regulator=1.015
      rating-ledger scheme adopt club.db --pool blitz --new-pool --scheme fide --set rapid=true --set from_pool=standard
      rating-ledger scheme adopt club.db --scheme elo --from 2024-01-01 --propose --reason 'AGM, item 4' --by eve
    """
    if bool(maps) != (carry == Carry.CONVERT.value):
        missing = "--carry convert needs --map [FROM:]FACTOR:OFFSET, such as --map 1:100 for 100 points more"
        raise click.UsageError("--map goes with --carry convert" if maps else missing)
    with Ledger.open(db_path) as ledger:
        if pool is not None:
            check_pool(ledger, pool, is_new=new_pool)
        try:
            event = SchemeAdopted(
                pool=pool or ledger.first_scheme().pool,
                scheme=name,
                settings=settings_given(settings),
                effective_from=since,
                carry=None if carry is None else Carry(carry),
                conversion=conversion_in(maps),
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        _check_adoption(ledger, event)
        receipts = record(ledger, [event], actor)
        if receipts is None:
            return
        with Bars() as bars:
            ledger.catch_up(bars)
        word = "was adopted already" if receipts[0].duplicate else "adopted"
        when = f"from {since}" if since else "from the beginning"
        output.remark(f"{event.pool}: {name!r} {word} {when}; head {ledger.head()}")
        tell_package(name)
        _note_other_points(ledger, event)
        if since is not None and instant_ms(since) > ledger.now_ms():
            eras = ledger.pool(event.pool).eras
            before = max((era for era in eras if era.since_ms < instant_ms(since)), key=lambda era: era.since_ms)
            output.remark(f"note: {since} is in the future: games that end before then go on by {before.scheme.name!r}")


def _note_other_points(ledger: Ledger, event: SchemeAdopted) -> None:
    """Say if the pool with whose ratings players would begin counts in other points, so that it gives none."""
    pool = ledger.pool(event.pool)
    own = next(era for era in pool.eras if era.since == (event.effective_from or ""))
    if own.from_pool is not None:
        other = ledger.pool(own.from_pool).eras[-1].scheme.scale
        if other != own.scheme.scale:
            words = f"pool {own.from_pool!r} counts in {other}, and {pool.name!r} in {own.scheme.scale}"
            output.remark(f"note: {words}: no player begins with those ratings")


def _says_again(event: SchemeAdopted, first: Era) -> bool:
    """Return whether an adoption without a date repeats what the pool begins with."""
    stored = {"scheme": first.scheme.name, "settings": first.settings}
    return rules.are_same_adoption(stored, {"scheme": event.scheme, "settings": event.settings})


def _check_adoption(ledger: Ledger, event: SchemeAdopted) -> None:
    """Say what is surely meant otherwise, before anything is recorded, and what may be."""
    bring_up_to_date(ledger)
    eras = next((pool.eras for pool in ledger.pools() if pool.name == event.pool), ())
    if event.effective_from is None:
        if eras and not _says_again(event, eras[0]):
            raise click.UsageError(
                f"pool {event.pool!r} is rated by {eras[0].scheme.name!r} from the beginning: add --from DATE"
            )
        return
    ms = instant_ms(event.effective_from)
    if not eras or event.carry in {Carry.RESTART, Carry.CONVERT} or event.scheme not in known.available_schemes():
        return
    before = max((era for era in eras if era.since_ms <= ms), key=lambda era: era.since_ms)
    old, new = before.scheme, known.find_scheme(event.scheme)
    if old.scale != new.scale:
        output.remark(
            f"note: {old.name} counts in {old.scale}, {new.name} in {new.scale}; keep takes the number as it is, "
            "--carry convert would map it"
        )


@click.command()
@DB
@POOL
@click.option("--on", metavar="INSTANT", help="Show the list in force on that day, with the next run's changes.")
@limits.option(ROWS_IN_A_TABLE, "runs, the newest ones; with --on how many players, the best first")
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def runs(
    db_path: str,
    pool: str | None,
    on: str | None,
    limit: int | None,
    known_at: str | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """The rating runs of a pool; or the list in force on a day: who was on it, and what the next run brought.

    If the list of that day was published, "published" is the rating on it and "revised" says whether it had
    something else of the player; a table shows them where one differs.

    \b
    Example:
      rating-ledger runs club.db -t
      rating-ledger runs club.db --on 2024-02-29 --limit 100 --csv
      rating-ledger runs club.db --on 2024-02-29 --known-at standard@2024-02-29/1 -t
    """
    if on is not None:
        try:
            instant_ms(on)
        except ValueError as error:
            raise click.UsageError(f"--on: {error}") from None
    with open_up_to_date(db_path, verify=verify, as_if=as_if, known_at=known_at) as ledger:
        shown_rows = limits.shown(limit, fmt, ROWS_IN_A_TABLE)
        asked = None if shown_rows == limits.EVERY_ROW else shown_rows + 1
        if on is None:
            rows = as_rows(publications.rating_runs(ledger, pool))
        else:
            rows = as_rows(publications.list_in_force_on(ledger, on, pool, limit=asked))
        limits.write(_without_originals(rows) if fmt == "table" else rows, fmt, shown_rows, newest_last=on is None)


def _without_originals(rows: Sequence[output.Row]) -> Sequence[output.Row]:
    """Return the rows for people: the published rating is shown only if it differs."""
    if not rows or any(row.get("revised", row["published"]) for row in rows):
        return rows
    return [{name: value for name, value in row.items() if name not in {"published", "revised"}} for row in rows]


@click.command("close-run")
@DB
@POOL
@click.option("--as-of", required=True, metavar="INSTANT", help="The last day (month, instant) whose games it rates.")
@ACTOR
@proposing
def close_run(db_path: str, pool: str | None, as_of: str, actor: str) -> None:
    """Close a rating run, for schemes that are set to work by runs (by_runs=true).

    \b
    Example:
      rating-ledger close-run club.db --as-of 2024-02-29
      rating-ledger close-run club.db --as-of 2024-02-29 --propose --reason 'February was forgotten' --by eve
    """
    with Ledger.open(db_path) as ledger:
        name = pool or ledger.first_scheme().pool
        event = made(lambda: RatingRunClosed(pool=name, as_of=as_of))
        if close(ledger, event, f"run as of {as_of}", actor) is None:
            return
        era = ledger.pool(name).eras[-1]
        if era.scheme.rhythm is Rhythm.PERIOD and not ledger.pool(name).by_runs:
            output.remark(f"note: {era.scheme.name!r} goes by its calendar: no rating depends on this")


def made(make: Callable[[], E]) -> E:
    """Return the fact that a command is given in words."""
    try:
        return make()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def close(
    ledger: Ledger, event: RatingRunClosed | TournamentOpened | TournamentClosed, what: str, actor: str
) -> Receipt | None:
    """Record what ends or begins something that is rated together, and say so; None where it is proposed instead."""
    receipts = record(ledger, [event], actor)
    if receipts is None:
        return None
    with Bars() as bars:
        ledger.catch_up(bars)
    word = "opened" if isinstance(event, TournamentOpened) else "closed"
    word = f"was {word} already" if receipts[0].duplicate else word
    rated = ledger.pool(event.pool).scheme
    output.remark(f"{event.pool}: {what} {word}; head {ledger.head()}")
    if rated.rhythm is Rhythm.GAME:
        output.remark(f"note: scheme {rated.name!r} rates each game when it ends; no rating depends on this")
    return receipts[0]
