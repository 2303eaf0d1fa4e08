"""The command ``rating-ledger``: each sub-command parses its words, asks the library once, and prints.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 an audit found a falsehood.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ledger import db
from ledger.errors import LedgerError
from ledger.ledger import Ledger, beside

from . import output

REFUSED, USAGE, FALSE = 1, 2, 3


class _Group(click.Group):
    """Commands in the order in which one meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="rating-ledger")
def cli() -> None:
    """An event-sourced chess rating ledger.

    Facts go into an append-only journal; every rating is derived from it and can be derived again.

    \b
    Example:
      rating-ledger init club.db --pool standard --scheme chessworld
      rating-ledger import club.db games.pgn
      rating-ledger ratings club.db -t
      rating-ledger audit club.db
    """


def level(path: str) -> Ledger:
    """Open a ledger with its views level with the journal."""
    ledger = Ledger.open(path)
    if not ledger.views.is_level(ledger.journal):
        from .progress import Bars

        with Bars() as bars:
            ledger.catch_up(bars)
    return ledger


DB = click.argument("db_path", metavar="DB", type=click.Path())
POOL = click.option("--pool", metavar="NAME", help="Pool; the ledger's first one by default.")


@cli.command()
@DB
@click.option("--pool", default="standard", show_default=True, metavar="NAME", help="Name of the first pool.")
@click.option("--scheme", default="chessworld", show_default=True, metavar="NAME", help="Scheme that rates it.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the scheme; repeatable.")
@click.option("--actor", default="init", show_default=True, metavar="WHO", help="Who does this, for the journal.")
def init(db_path: str, pool: str, scheme: str, settings: Sequence[str], actor: str) -> None:
    """Make a new ledger: DB, and beside it the people and the views.

    \b
    Example:
      rating-ledger init club.db --pool standard --scheme chessworld
      rating-ledger init club.db --set include_initial=true --set initial=1200
    """
    with Ledger.create(db_path, pool=pool, scheme=scheme, settings=_settings(settings), actor=actor) as ledger:
        ledger.catch_up()
        click.echo(f"{db_path}: pool {pool!r} is rated by {scheme!r}; head {ledger.head()}", err=True)


def _settings(words: Sequence[str]) -> dict[str, int | bool | str]:
    settings: dict[str, int | bool | str] = {}
    for word in words:
        name, divided, value = word.partition("=")
        if not divided:
            raise click.UsageError(f"--set takes NAME=VALUE, got {word!r}")
        settings[name] = {"true": True, "false": False}.get(value.lower(), value)
    return settings


@cli.command("import")
@DB
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--pool", metavar="NAME", help="Pool of the games; the ledger's first one by default.")
@click.option("--pools", type=click.Choice(["by-speed"]), help="Cut by variant and speed class, as Lichess does.")
@click.option("--variant", "variants", multiple=True, metavar="VARIANT=POOL", help="Take a variant, into a pool; repeatable.")
@click.option("--strict", is_flag=True, help="A fault anywhere in a file: nothing of that file is recorded.")
@click.option("--format", "fmt", metavar="FORMAT", help="pgn, lichess-ndjson, ledger-jsonl or csv; told by content.")
@click.option("--source", metavar="SITE", help="Site that names and game ids in CSV files belong to, such as lichess.")
@click.option("--actor", default="import", show_default=True, metavar="WHO", help="Who does this, for the journal.")
def import_(
    db_path: str, files: Sequence[str], pool: str | None, pools: str | None, variants: Sequence[str], strict: bool,  # noqa: FBT001
    fmt: str | None, source: str | None, actor: str,
) -> None:  # fmt: skip
    """Record games from files and rate them; "-" is standard input.

    PGN, Lichess NDJSON, CSV and our own JSON lines, plain or packed by gzip, bzip2 or zstd. A game that is known
    already is counted, never recorded twice. Bad games are named with file and line and left out.

    \b
    Example:
      rating-ledger import club.db games.pgn more.pgn.zst results.csv games.ndjson
      zstdcat dump.pgn.zst | rating-ledger import club.db - --pools by-speed
      rating-ledger import club.db zh.pgn --variant crazyhouse=crazyhouse --strict
    """
    from ledger.bulk import PoolChoice

    from .importing import Wish, import_file
    from .progress import Bars

    if pool and pools:
        raise click.UsageError("give --pool or --pools, not both")
    with Ledger.open(db_path) as ledger:
        chosen = PoolChoice(
            pool=pools or pool or ledger.first_scheme().pool,
            variants=dict(_pair(word, "--variant takes VARIANT=POOL") for word in variants),
        )
        wish = Wish(choice=chosen, strict=strict, fmt=fmt, source=source, actor=actor)
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


@cli.command()
@DB
@POOL
@click.option("--limit", default=20, show_default=True, type=click.IntRange(0), help="How many players.")
@click.option("--min-games", default=1, show_default=True, type=click.IntRange(0), help="Leave out players with fewer.")
@output.format_options
def ratings(db_path: str, pool: str | None, limit: int, min_games: int, fmt: str | None) -> None:
    """The ranking of a pool now, best first.

    \b
    Example:
      rating-ledger ratings club.db --limit 20 -t
      rating-ledger ratings club.db --min-games 51 --csv > ranking.csv
    """
    from ledger import reports

    with level(db_path) as ledger:
        output.write(reports.ranking(ledger, pool, limit=limit, min_games=min_games), fmt)


@cli.command()
@DB
@click.argument("player")
@POOL
@click.option("--at", metavar="INSTANT", help="Show the rating on that day beside the present one.")
@output.format_options
def show(db_path: str, player: str, pool: str | None, at: str | None, fmt: str | None) -> None:
    """One player: rating then and now, results, HERA and its date, time losses.

    PLAYER is a name, an identity such as lichess:ann, or a number.

    \b
    Example:
      rating-ledger show club.db 'jishanshaikh4'
      rating-ledger show club.db lichess:ann --at 2019-01-31 -t
    """
    from ledger import reports

    with level(db_path) as ledger:
        output.write_one(reports.summary(ledger, ledger.player(player), pool, _instant(at)), fmt)


def _instant(text: str | None) -> str | None:
    from ledger.model import instant_ms

    if text is not None:
        try:
            instant_ms(text)
        except ValueError as error:
            raise click.UsageError(f"--at: {error}") from None
    return text


@cli.command()
@DB
@click.argument("player")
@POOL
@click.option("--last", default=50, show_default=True, type=click.IntRange(1), help="How many, newest first.")
@output.format_options
def games(db_path: str, player: str, pool: str | None, last: int, fmt: str | None) -> None:
    """A player's rated games: both ratings at the end of each, the current ones in brackets.

    \b
    Example:
      rating-ledger games club.db ann --last 50 -t
    """
    from ledger import reports

    with level(db_path) as ledger:
        rows = reports.games(ledger, ledger.player(player), pool, last=last)
        output.write([_with_brackets(row) for row in rows] if fmt == "table" else rows, fmt)


def _with_brackets(row: output.Row) -> output.Row:
    """Ratings as people read them: 1500 (1623)."""
    return {
        "n": row["n"],
        "ended": row["ended_at"][:10],
        "colour": row["colour"],
        "result": row["result"] + (" on time" if row["termination"] == "time" and row["result"] != "draw" else ""),
        "rating": f"{row['rating']:.0f} ({row['rating_now']:.0f})",
        "opponent": row["opponent"],
        "opponent rating": f"{row['opponent_rating']:.0f} ({row['opponent_rating_now']:.0f})",
        "game": row["game"],
    }


@cli.command()
@DB
@click.argument("player")
@POOL
def graph(db_path: str, player: str, pool: str | None) -> None:
    """A player's rating graph, drawn in the terminal.

    \b
    Example:
      rating-ledger graph club.db ann
    """
    from ledger import reports

    from .terminal_graph import draw

    with level(db_path) as ledger:
        person = ledger.player(player)
        rows = reports.graph(ledger, person, pool)
        click.echo(f"{person.name}, rated games from {rows[0]['ended']} to {rows[-1]['ended']}")
        click.echo(draw([row["rating"] for row in rows]))


@cli.command()
@DB
@click.argument("player")
@click.argument("game")
@output.format_options
def explain(db_path: str, player: str, game: str, fmt: str | None) -> None:
    """Why a game changed a rating: the formula with this game's numbers, unrounded, and the rule's source.

    \b
    Example:
      rating-ledger explain club.db ann lichess:Mxzwh32Z
      rating-ledger explain club.db ann lichess:Mxzwh32Z -t
    """
    from ledger import reports

    with level(db_path) as ledger:
        told = reports.explain(ledger, ledger.player(player), game)
        if fmt == "table":
            terms = told.pop("terms")
            output.write_one({name: _exact(value) for name, value in told.items()}, "table")
            click.echo()
            output.write([{**term, "value": _exact(term["value"])} for term in terms], "table")
        else:
            output.write_one(told, fmt)


def _exact(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else value


@cli.command()
@DB
@click.argument("player")
@click.argument("opponent")
@POOL
@output.format_options
def predict(db_path: str, player: str, opponent: str, pool: str | None, fmt: str | None) -> None:
    """What a win, a draw and a loss would bring PLAYER against OPPONENT now.

    \b
    Example:
      rating-ledger predict club.db ann bob -t
    """
    from ledger import reports

    with level(db_path) as ledger:
        told = reports.predict(ledger, ledger.player(player), ledger.player(opponent), pool)
        if fmt is not None:
            told.update({k: f"{v['rating']:.2f} ({v['change']:+.2f})" for k, v in told.items() if isinstance(v, dict)})
        output.write_one(told, fmt)


@cli.command()
@DB
@click.option("--game", required=True, metavar="KEY", help="The game's key, as 'games' shows it.")
@output.format_options
def log(db_path: str, game: str, fmt: str | None) -> None:
    """Every journal entry about a game, in order.

    \b
    Example:
      rating-ledger log club.db --game lichess:Mxzwh32Z
    """
    with Ledger.open(db_path) as ledger:
        entries = ledger.log(game)
        if fmt in {"csv", "tsv", "table"}:
            entries = [{**entry, **entry.pop("facts")} for entry in entries]
        output.write(entries, fmt)


@cli.command()
@DB
@click.option("--since", metavar="HEAD", help="A head kept outside: 'SIZE ROOT', or a file that holds one.")
@click.option("--journal-only", is_flag=True, help="Leave out names, texts and views.")
@click.option("--save-head", metavar="FILE", type=click.Path(dir_okay=False), help="Write the head there if all is true.")
def audit(db_path: str, since: str | None, journal_only: bool, save_head: str | None) -> None:  # noqa: FBT001
    """Prove that the journal is what was sealed and that every published number follows from it.

    Prints the head (size and root) and one digest for each table; keep the head somewhere else, and give it to
    --since later: only that finds a cut-off tail or a restored older copy. Exit code 3: something is false.

    \b
    Example:
      rating-ledger audit club.db --save-head club.head
      rating-ledger audit club.db --since club.head
    """
    from ledger.audit import audit as prove
    from ledger.model import TreeHead

    from .progress import Bars

    head = None
    if since is not None:
        try:
            head = TreeHead.parse(Path(since).read_text(encoding="utf-8") if Path(since).is_file() else since)
        except ValueError as error:
            raise click.UsageError(f"--since: {error}, or a file that holds it") from None
    with Bars() as bars:
        verdict = prove(db_path, since=head, journal_only=journal_only, progress=bars)
    click.echo(f"head {verdict.head}")
    for table, digest in verdict.digests.items():
        click.echo(f"{table} {digest}")
    for falsehood in verdict.falsehoods:
        click.secho(f"FALSE {db_path} {falsehood}", fg="magenta", err=True)
    if verdict.falsehoods:
        sys.exit(FALSE)
    erased = f", {verdict.names_erased:,} erased" if verdict.names_erased else ""
    scope = "journal" if journal_only else f"journal, {verdict.names_checked:,} names{erased}, and every derived row"
    click.echo(f"TRUE {db_path}: {verdict.entries:,} entries: {scope}", err=True)
    if save_head:
        Path(save_head).write_text(f"{verdict.head}\n", encoding="utf-8")


@cli.command()
@DB
def head(db_path: str) -> None:
    """The head of the journal: its size and Merkle root, one line to keep elsewhere.

    \b
    Example:
      rating-ledger head club.db >> heads.txt
    """
    with Ledger.open(db_path) as ledger:
        click.echo(str(ledger.head()))


@cli.command()
@DB
def rebuild(db_path: str) -> None:
    """Build the views anew from the journal alone; readers see the old ones until the new ones are whole.

    \b
    Example:
      rating-ledger rebuild club.db
    """
    from .progress import Bars

    with Ledger.open(db_path) as ledger, Bars() as bars:
        position = ledger.rebuild(bars)
        click.echo(f"{beside(db_path, 'views')}: rebuilt from {position:,} entries", err=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    if db.has_wal_reset_bug():
        click.echo(
            f"warning: SQLite {db.sqlite3.sqlite_version} may corrupt a file under load (WAL reset, fixed in 3.51.3); "
            "install pysqlite3 0.6.1 or later",
            err=True,
        )
    try:
        cli.main(args=argv, prog_name="rating-ledger", standalone_mode=False)
    except LedgerError as error:
        click.secho(f"error: {error}", fg="magenta", err=True)
        return REFUSED
    except click.exceptions.Abort:
        click.echo("stopped; what was recorded stands, run the command again to go on", err=True)
        return REFUSED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main())


if __name__ == "__main__":
    run()
