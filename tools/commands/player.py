"""Commands about players: who joins, with which past, and what is learnt of them later."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from ledger.answers.import_previews import compare_list_ratings
from ledger.answers.player_details import details_at
from ledger.answers.rows import as_rows
from ledger.book import initial_ratings
from ledger.errors import MalformedError
from ledger.facts.instants import instant_ms
from ledger.facts.player_details import NO_DETAILS, readable_details
from ledger.facts.prior_ratings import PriorRating
from ledger.facts.source_games import FileFault
from ledger.facts.words import Standing, Strength
from ledger.imports.files import open_source
from ledger.imports.players import formats
from ledger.imports.players.fide import ALL_KINDS, KINDS
from ledger.imports.players.formats import FORMATS
from ledger.imports.reading import Reading
from ledger.journal import late_facts
from ledger.ledger import Ledger
from ledger.registering.player_lists import PlayersReport

from .. import limits, output
from ..groups import Suggesting
from ..progress import Bars, ReadingBar
from ..wording import counted
from . import DB, FAULTS_SHOWN, REFUSED, person_named
from .new_players import kept_names, note_namesakes, tell_namesakes
from .player_alike import alike
from .proposal_options import line_to_propose, propose, proposing, proposing_part, record, wish
from .token_options import acting, recorded_by

Command = TypeVar("Command", bound=Callable[..., Any])
ACTOR = acting("registry")
RATINGS_IN_A_TABLE = 20
_STANDINGS = click.Choice([word.value for word in Standing])
_PERSON = (
    click.option(
        "--born", "birth_year", type=int, metavar="YEAR", help="Year of birth, for rules that ask for the age."
    ),
    click.option("--declared", "declared_rating", type=int, metavar="POINTS", help="Rating that the player declares."),
)
_PAST = (
    click.option("--rating", metavar="POINTS", help="Rating that a list shows: the player begins with it."),
    click.option("--games", type=int, metavar="N", help="Rated games behind that rating."),
    click.option("--rd", "deviation", metavar="POINTS", help="Its deviation RD."),
    click.option("--volatility", metavar="NUMBER", help="Its Glicko-2 volatility."),
    click.option("--highest", metavar="POINTS", help="Highest rating so far."),
    click.option("--k", "k_factor", metavar="K", help="K-factor on that list."),
    click.option("--list", "source", metavar="NAME", help="The list that it comes from."),
    click.option(
        "--pool",
        metavar="NAME",
        help="Pool of that rating or strength; the ledger's first one by default.",
    ),
)


def _player_options(command: Command) -> Command:
    """Add the options of a player: *birth_year*, *declared_rating*, *actor* and those of earlier ratings."""
    for option in reversed((*_PERSON, *_PAST, ACTOR)):
        command = option(command)
    return command


def _past(options: dict[str, Any], since: str | None, *, is_dated: bool = False) -> PriorRating | None:
    """Return the earlier rating that options give; None without one.

    Args:
        options: those of ``_PAST``.
        since: the option --since.
        is_dated: True if --since also dates something else that is given.
    """
    if options["rating"] is not None:
        return PriorRating(**options, since=since)
    stray = [name for name, value in options.items() if value is not None]
    stray += ["since"] if since is not None and not is_dated else []
    flags = [each.opts[-1] for each in click.get_current_context().command.params if each.name in stray]
    if flags:
        raise click.UsageError(
            f"{' and '.join(flags)}: what a list tells needs the rating that it shows: give --rating, too"
        )
    return None


@click.group(cls=Suggesting)
def player() -> None:
    """Register one player, with a past where there is one; spell a name right; add what is learnt of a player later.

    \b
    Example:
      rating-ledger player add club.db name:ann Ann --born 2010
      rating-ledger player set club.db ann --declared 1700 --since 2024-01-01
      rating-ledger player rename club.db ann 'Ann Ek'
    """


@player.command()
@DB
@click.argument("identity")
@click.argument("name")
@click.option("--standing", type=_STANDINGS, default="full", show_default=True, help="Standing with the site.")
@click.option("--joined", metavar="INSTANT", help="When the player joined; now by default.")
@click.option("--since", metavar="INSTANT", help="From when --rating holds; from the beginning by default.")
@_player_options
def add(
    db_path: str,
    identity: str,
    name: str,
    standing: str,
    birth_year: int | None,
    declared_rating: int | None,
    joined: str | None,
    since: str | None,
    actor: str,
    **options: Any,
) -> None:
    """Register a player under an identity such as fide:1503014, lichess:ann or name:ann.

    A player with a past begins with the rating of the list, and with all that the list gives: the games behind it
    count for K and for what is provisional, the highest rating for HERA. A declared rating says less.

    \b
    Example:
      rating-ledger player add club.db name:ann Ann --born 2010
      rating-ledger player add club.db name:gus Gus --standing guest --joined 2019-09-01
      rating-ledger player add club.db fide:1503014 'Carlsen, Magnus' --rating 2344 --games 30 --since 2024-01-01
    """
    past = _past(options, since)
    with Ledger.open(db_path) as ledger:
        with _usage():
            learnt = ledger.registry.add(
                identity,
                name,
                standing=Standing(standing),
                declared_rating=declared_rating,
                birth_year=birth_year,
                joined=joined,
                past=past,
                **recorded_by(ledger, actor),
            )
        _rate(ledger)
        word = f"is player {learnt.player}" if learnt.recorded else f"is player {learnt.player} already"
        called = f", called {learnt.name} since" if learnt.name not in {None, name} else ""
        if learnt.recorded:
            note_namesakes(ledger, [(identity, name)])
        output.remark(f"{identity} {word}{called}; head {ledger.head()}")


@player.command("set")
@DB
@click.argument("player", metavar="PLAYER")
@click.option("--standing", type=_STANDINGS, help="Standing with the site, from --since on.")
@click.option(
    "--strength",
    type=click.Choice([word.value for word in Strength]),
    help="Strength that a member chooses, from --since on, during the provisional games.",
)
@click.option(
    "--federation", metavar="CODE", help="Federation from --since on; in a pool of another one the player is a guest."
)
@click.option("--since", metavar="INSTANT", help="From when it holds: today by default, --rating from the beginning.")
@_player_options
@proposing
def set_(
    db_path: str,
    player: str,
    standing: str | None,
    strength: str | None,
    federation: str | None,
    birth_year: int | None,
    declared_rating: int | None,
    since: str | None,
    actor: str,
    **options: Any,
) -> None:
    """Add what is learnt of a registered player later; games that it concerns are rated again.

    A declared rating, and the rating of a list, count where the player begins: from a day after the first rated game
    on they could not act, and are refused. Members choose their strength until they have completed the provisional
    games of the scheme, 50 under ChessWorld's; then the rating decides.

    \b
    Example:
      rating-ledger player set club.db ann --born 2010
      rating-ledger player set club.db ann --strength intermediate
      rating-ledger player set club.db ann --federation NOR --since 2024-07-01
      rating-ledger player set club.db ann --standing welcomer --since 2024-01-01
      rating-ledger player set club.db bob --rating 1850 --games 120 --list 'national list, May 2004'
      rating-ledger player set club.db ann --born 2010 --propose --reason 'her passport' --by eve
    """
    pool = options["pool"]
    if strength is not None and options["rating"] is None:
        options["pool"] = None  # it is the strength's
    dated = (standing, declared_rating, strength, federation)
    past = _past(options, since, is_dated=any(word is not None for word in dated))
    if all(each is None for each in (*dated, birth_year, past)):
        raise click.UsageError(
            "nothing to set: give --standing, --strength, --federation, --born, --declared or --rating"
        )
    with Ledger.open(db_path) as ledger:
        person = ledger.player(player)
        with _usage():
            news = ledger.registry.events_to_learn(
                person.player,
                standing=None if standing is None else Standing(standing),
                birth_year=birth_year,
                declared_rating=declared_rating,
                past=past,
                since=since,
                strength=None if strength is None else Strength(strength),
                pool=pool,
                federation=None if federation is None else federation.upper(),
            )
        receipts = record(ledger, news, actor)
        if receipts is None:
            return
        learnt = ledger.registry.update_outcome(person.player, news, receipts)
        _rate(ledger)
        word = "recorded" if learnt.recorded else "was known already"
        where = f"; it acts in pool {', '.join(learnt.acts_in)}" if learnt.passed_by else ""
        output.remark(f"player {person.player}: {word}{where}; head {ledger.head()}")
        if learnt.until is not None:
            output.remark(f"note: a later list has this player: its rating holds from {learnt.until} on")


@player.command()
@DB
@click.argument("player", metavar="PLAYER")
@click.option("--sex", type=click.Choice(["m", "w"]), help="As FIDE's reports have it.")
@click.option("--title", metavar="TITLE", help="Title, such as GM or WFM.")
@click.option("--federation", metavar="CODE", help="Federation, three letters.")
@click.option("--birth", metavar="DAY", help="Date of birth: 2010-05-06, 2010-05 or 2010.")
@click.option("--club", metavar="NAME", help="Club.")
@click.option("--national", metavar="NUMBER", help="Number at the national federation.")
@click.option("--active/--inactive", default=None, help="Whether the federation counts the player as active.")
@click.option("--since", metavar="INSTANT", help="From when they hold; today by default.")
@ACTOR
def describe(db_path: str, player: str, since: str | None, actor: str, **fields: Any) -> None:
    """Record data about a player that hold from a day on, or show those in force.

    Data that are not given stay. They are stored in the people file, next to the name, and are erased with it; the
    journal has a salted commitment to them. Reports to FIDE (export) have the data in force at a tournament's start.
    If a pool has guests, the federation is recorded plainly, too: 'player set --federation' alone does that.

    \b
    Example:
      rating-ledger player describe club.db ann --federation NOR --title WFM --club 'Ek SK' --since 2024-01-01
      rating-ledger player describe club.db ann --birth 2010-05-06 --sex w
      rating-ledger player describe club.db ann
    """
    stated = {name: value for name, value in fields.items() if value is not None}
    with Ledger.open(db_path) as ledger:
        person = ledger.player(player)
        if not stated:
            ledger.ensure_up_to_date()
            with _usage():
                at_ms = ledger.now_ms() if since is None else _instant_ms(since)
            details = details_at(ledger, [person.player], at_ms).get(person.player, NO_DETAILS)
            output.answer_lines(
                output.titled_table(
                    f"player {person.player}", ("data", "value"), list(details.stated().items()), left=2
                )
            )
            return
        with _usage():
            details, faults = readable_details(stated)
            if faults:
                raise MalformedError(faults)
            recorded = ledger.registry.describe(person.player, details, since=since, **recorded_by(ledger, actor))
        _rate(ledger)
        word = "recorded" if recorded else "was stated already"
        output.remark(f"player {person.player}: {word}; head {ledger.head()}")


def _instant_ms(since: str) -> int:
    try:
        return instant_ms(since)
    except ValueError as error:
        raise MalformedError([f"--since: {error}"]) from None


@player.command()
@DB
@click.argument("player", metavar="PLAYER")
@click.argument("name")
@ACTOR
def rename(db_path: str, player: str, name: str, actor: str) -> None:
    """Spell a player's name right, or give a first one to a player of whom only a number was known.

    Every command shows the new name from then on. The identity stays, so files find the player as before; games and
    ratings stay. The old name is forgotten: the journal keeps only that it was another one.

    \b
    Example:
      rating-ledger player rename club.db ann 'Ann Ek'
      rating-ledger player rename club.db fide:1503014 'Carlsen, Magnus'
    """
    with Ledger.open(db_path) as ledger:
        with _usage():
            number = person_named(ledger, player).player
            renamed = ledger.registry.rename(number, name, **recorded_by(ledger, actor))
        person = renamed.person
        word = "now" if renamed.recorded else "already"
        output.remark(f"player {person.player} ({person.identity}) is {person.name} {word}; head {ledger.head()}")
        if person.identity is not None and person.name is not None:
            note_namesakes(ledger, [(person.identity, person.name)])
        if not renamed.is_forgotten:
            output.remark(
                f"{ledger.names.file.path}: {ledger.names.file.STILL_READ} the old name: the next command takes it away"
            )
        _rate(ledger)


def _rate(ledger: Ledger) -> None:
    with Bars() as bars:
        ledger.catch_up(bars)


@contextmanager
def _usage() -> Iterator[None]:
    """Refuse, as wrong usage, words and numbers that no journal can hold."""
    try:
        yield
    except MalformedError as error:
        raise click.UsageError("\n".join(error.problems)) from None


@click.group(cls=Suggesting)
def players() -> None:
    """Many players at once: take in a list of players with their ratings, list who looks like one person.

    \b
    Example:
      rating-ledger players import club.db members.csv --since 2024-01-01
      rating-ledger players alike club.db -t
    """


players.add_command(alike)


@players.command("import")
@DB
@click.argument("file", metavar="FILE")
@click.option("--pool", metavar="NAME", help="Pool of the ratings; the ledger's first one by default.")
@click.option("--since", metavar="INSTANT", help="From when the list holds, if it does not say.")
@click.option(
    "--kind",
    type=click.Choice((*KINDS, ALL_KINDS)),
    default="standard",
    show_default=True,
    help="Of FIDE's ratings; rapid and blitz need --pool; all go to the pools standard, rapid and blitz.",
)
@click.option("--list", "source", metavar="NAME", help="Name of the list, kept with each rating.")
@click.option("--format", "list_format", type=click.Choice(FORMATS), help="Recognised by content by default.")
@click.option("--sheet", metavar="NAME", help="Sheet of a spreadsheet (.xlsx, .ods, .xls) with several.")
@click.option(
    "--leave-out-late",
    is_flag=True,
    help="Leave out ratings of players who have rated games before them, which could not act, and take all else.",
)
@click.option(
    "--leave-out-faulty", is_flag=True, help="Leave out the lines that have a fault, name them, and take all else."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show by how much the ratings of registered players would change, the largest first; write nothing.",
)
@limits.option(RATINGS_IN_A_TABLE, "changes of a dry run")
@output.format_options
@ACTOR
@proposing_part("Propose what it says of players who are registered already, for another person to approve.")
def import_(
    db_path: str,
    file: str,
    pool: str | None,
    since: str | None,
    kind: str,
    source: str | None,
    list_format: str | None,
    sheet: str | None,
    leave_out_late: bool,
    leave_out_faulty: bool,
    dry_run: bool,
    limit: int | None,
    fmt: str | None,
    actor: str,
) -> None:
    """Register the players of a list, each with the rating and the past that it gives; "-" is standard input.

    A CSV file or a spreadsheet names columns in its header, in any order: identity (or fide_id, or name alone), name,
    rating, games, rd, volatility, highest, k, birth_year, standing, since. FIDE's lists are read as text and as XML:
    rating, K and year of birth are taken, the games are not, for they are those of the last month. Files packed by
    gzip, zip, bzip2 or zstd are unpacked. Whoever is registered already is not registered again: a rating that is new
    is added, and a year of birth; --propose proposes these, as four eyes ask for, and registers newcomers. With any
    fault nothing is recorded, unless --leave-out-faulty takes the other lines. A rating applies from its day on, also
    if the player has rated games before it: earlier games keep what applied then. Look first by --dry-run at what the
    next list of a federation would change.

    \b
    Example:
      rating-ledger players import club.db members.csv --since 2024-01-01
      rating-ledger players import club.db members.csv --since 2024-02-01 --dry-run -t
      rating-ledger players import club.db members.ods --sheet 2024 --since 2024-03-01
      rating-ledger players import club.db standard_sep26frl.zip --leave-out-faulty
      rating-ledger players import club.db players_list_xml_foa.xml --kind rapid --pool rapid --since 2026-09-01
      rating-ledger players import fed.db players_list_foa.txt --kind all --since 2026-09-01
      rating-ledger players import club.db members.csv --since 2024-01-01 --propose --reason 'list of January' --by eve
    """
    asked = wish()
    if not dry_run and (limit is not None or fmt is not None):
        raise click.UsageError("--limit and the formats of output go with --dry-run")
    _refuse_wrong_pool(kind, pool)
    with Ledger.open(db_path) as ledger, open_source(file, sheet=sheet) as opened:
        chosen = list_format or formats.detect_format(opened.first)
        pools = _pools_by_kind(ledger, chosen, kind)
        names = {each: source or formats.default_list_name(chosen, each) or "" for each in KINDS}
        bar = ReadingBar(opened.reading, Path(file).stat().st_size if file != "-" else None)
        try:
            report = ledger.registry.take_list(
                formats.read_players(opened, chosen, kind, since),
                pool=pools.get("", pool),
                further_pools={each: name for each, name in pools.items() if each},
                since=since,
                **({"actor": actor} if dry_run else recorded_by(ledger, actor)),
                source=names if pools else source or formats.default_list_name(chosen, kind),
                faults_so_far=lambda: _count_decisive(opened.reading, leave_out_faulty=leave_out_faulty),
                advance=bar.advance,
                propose=None if asked is None else lambda events: propose(ledger, events, asked),
                leave_out_late=leave_out_late,
                leave_out_faulty=leave_out_faulty,
                dry_run=dry_run,
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        finally:
            bar.close()
        faults = sorted([*opened.reading.faults, *report.faults])
        count = opened.reading.fault_count + report.fault_count
        _tell_lines(opened.reading, faults, count)
        if count and not (leave_out_faulty and (report.is_recorded or dry_run)):
            output.remark(f"{opened.reading.place} ({chosen}): {counted(count, 'fault')}: nothing recorded")
            _tell_ways(ledger, faults, leave_out_faulty=leave_out_faulty)
            sys.exit(REFUSED)
        if dry_run:
            differences = _differences(ledger, report, pools, pool)
            limits.write(differences, fmt, limits.shown(limit, fmt, RATINGS_IN_A_TABLE))
        else:
            _rate(ledger)
        said = _tell_recorded(report, opened.reading.place)
        said += f", {counted(count, 'fault')}, whose lines are left out" if count else ""
        ended = "dry run: nothing was written" if dry_run else f"head {ledger.head()}"
        output.remark(f"{opened.reading.place} ({chosen}): {said}; {ended}")


def _tell_lines(reading: Reading, faults: Sequence[FileFault], count: int) -> None:
    """Tell the first faults of a list, and the notes on it."""
    output.remark_lines(reading.place, faults, FAULTS_SHOWN, "fault", begin="error: ", count=count)
    output.remark_lines(reading.place, reading.notes, FAULTS_SHOWN, "note", begin="note: ", count=reading.note_count)


def _differences(
    ledger: Ledger, report: PlayersReport, pools: Mapping[str, str], pool: str | None
) -> list[dict[str, Any]]:
    """Return the new ratings with those in force; of a combined list for one pool after the other, with its name."""
    if not pools:
        return as_rows(compare_list_ratings(ledger, report, pool))
    compared = ((name, as_rows(compare_list_ratings(ledger, report, name))) for name in pools.values())
    return [{"pool": name, **row} for name, rows in compared for row in rows]


def _refuse_wrong_pool(kind: str, pool: str | None) -> None:
    if kind == ALL_KINDS and pool is not None:
        raise click.UsageError("--kind all: without --pool: the ratings go to the pools standard, rapid and blitz")
    if kind in KINDS[1:] and pool is None:
        raise click.UsageError(
            f"--kind {kind}: say by --pool which pool takes these ratings; without it they would go to the first pool, "
            "among its own"
        )


def _pools_by_kind(ledger: Ledger, fmt: str, kind: str) -> dict[str, str]:
    """Return the pools of a combined list as ``take_list`` takes them, "" for the first; empty for one kind.

    A list that is no combined one of FIDE is refused, and a ledger without a pool for each kind of rating.
    """
    if kind != ALL_KINDS:
        return {}
    if fmt == "csv":
        raise click.UsageError("--kind all: for FIDE's combined list; of a CSV the ratings of one pool are taken")
    missing = [name for name in KINDS if name not in {pool.name for pool in ledger.pools()}]
    if missing:
        lines = "; ".join(f"'scheme adopt {ledger.path} --scheme fide --pool {name} --new-pool'" for name in missing)
        raise click.UsageError(f"--kind all: there is no pool {' and no pool '.join(missing)}; make it first: {lines}")
    return {"": KINDS[0], **{each: each for each in KINDS[1:]}}


def _tell_ways(ledger: Ledger, faults: Sequence[FileFault], *, leave_out_faulty: bool) -> None:
    """Tell how a list with faults can be taken all the same."""
    if not leave_out_faulty:
        output.remark("--leave-out-faulty takes the list without the lines that have a fault")
    if any(fault.message.startswith(f"{initial_ratings.TOO_LATE}: ") for fault in faults):
        output.remark("--leave-out-late takes the list without the ratings that come too late to act")
    if any(fault.message.startswith(f"{late_facts.NEEDS_A_PROPOSAL}: ") for fault in faults):
        output.remark(f"what four eyes refuse of it is proposed by: {line_to_propose(ledger)}")


def _count_decisive(reading: Reading, *, leave_out_faulty: bool) -> int:
    """Count the faults for which nothing is recorded; a list that was not read to its end is no list without a line."""
    is_of_lines = leave_out_faulty and not reading.is_cut and not reading.no_games
    return 0 if is_of_lines else reading.fault_count


def _tell_recorded(report: PlayersReport, name: str) -> str:
    """Tell what needs a look, line by line; in words what became of a list."""
    tell_namesakes([f"{name}:{note.line}: note: {note.message}" for note in report.namesakes], f"{name}: ")
    output.remark_lines(name, report.left_out, FAULTS_SHOWN, "left out", plural="left out", begin="left out: ")
    words = [counted(report.players, "player"), f"{report.registered:,} of them new", counted(report.seeded, "rating")]
    if report.births:
        words.append(f"{counted(report.births, 'year')} of birth learnt")
    if report.federations:
        words.append(counted(report.federations, "federation"))
    if report.proposed:
        words.append(f"{counted(report.proposed, 'fact')} proposed")
    if report.left_out:
        words.append(f"{counted(len(report.left_out), 'rating')} left out")
    if report.kept_names:
        words.append(kept_names(report.kept_names))
    return ", ".join(words)
