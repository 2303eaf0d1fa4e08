"""Commands about tournaments: they begin, they are over, a player has no game in a round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import click

from ledger.answers import announcements
from ledger.answers.asking import display_name
from ledger.answers.crosstables.editions import first_day_of_edition
from ledger.answers.crosstables.layout import BYE_WORDS
from ledger.book.evidence import Context
from ledger.facts.event_fields import MAX_ROUND
from ledger.facts.events import RoundWithoutGame, TournamentClosed, TournamentOpened
from ledger.facts.instants import Precision, instant_end_ms, instant_text
from ledger.facts.words import Brings, Format
from ledger.ledger import Ledger
from ledger.registering.described_tournaments import describe_tournament as state_facts
from ledger.registering.described_tournaments import erase_arbiters as erase
from ledger.schemes.scheme import Rhythm

from .. import output
from ..progress import Bars
from ..wording import counted
from . import DB, POOL, bring_up_to_date
from .proposal_options import proposing, record, wish
from .scheme import ACTOR, close, made
from .token_options import recorded_by, token_given

Command = TypeVar("Command", bound=Callable[..., Any])


@click.command("open-tournament")
@DB
@click.argument("tournament")
@POOL
@click.option("--start", "starts_at", required=True, metavar="INSTANT", help="Its first day.")
@click.option("--end", "ends_at", required=True, metavar="INSTANT", help="Its last day, as planned.")
@click.option("--format", "kind", type=click.Choice([kind.value for kind in Format]), help="How it is paired.")
@click.option("--entrants", type=int, metavar="N", help="How many players enter.")
@click.option("--rounds", type=int, metavar="N", help="How many rounds are planned.")
@ACTOR
@proposing
def open_tournament(
    db_path: str,
    tournament: str,
    pool: str | None,
    starts_at: str,
    ends_at: str,
    kind: str | None,
    entrants: int | None,
    rounds: int | None,
    actor: str,
) -> None:
    """Announce a tournament: its games are those of that name that end from its first to its last day.

    Schemes that rate tournaments whole do so in the period of its last day, from the ratings in force on its first.
    Without this, its days are seen from its games. Where it ends on another day, earlier or later than announced,
    close it when it is over: 'close-tournament'. Two editions of one name may not overlap.

    \b
    Example:
      rating-ledger open-tournament club.db 'Autumn open' --start 2025-08-27 --end 2025-09-06
      rating-ledger open-tournament club.db Cup --start 2025-09-01 --end 2025-09-09 --format swiss --rounds 9
      rating-ledger open-tournament club.db Cup --start 2025-09-01 --end 2025-09-09 --propose --reason late --by eve
    """
    with Ledger.open(db_path) as ledger:
        name = pool or ledger.first_scheme().pool
        what = f"tournament {tournament!r}, {starts_at} to {ends_at}"

        def make() -> TournamentOpened:
            return TournamentOpened(
                pool=name,
                tournament=tournament,
                starts_at=starts_at,
                ends_at=ends_at,
                format=None if kind is None else Format(kind),
                entrants=entrants,
                rounds=rounds,
            )

        event = made(make)
        if close(ledger, event, what, actor) is None:
            return
        if why := announcements.reason_not_rated_together(ledger.pool(name), event, ()):
            output.remark(f"note: its games are not rated together: {why}")


@click.command("close-tournament")
@DB
@click.argument("tournament")
@POOL
@click.option("--ended", required=True, metavar="INSTANT", help="When it was over.")
@ACTOR
@proposing
def close_tournament(db_path: str, tournament: str, pool: str | None, ended: str, actor: str) -> None:
    """Close a tournament: its games are rated together, as of that day, or in the period of that day.

    TOURNAMENT is the name that its games carry. Schemes by event take what was played of a tournament that nobody
    closes in one calendar month for one event; those that rate tournaments whole see its end from its games. A later
    edition of that name may be closed, too; a game belongs to the first one closed at or after its end. A day before
    the last game of the edition is refused.

    \b
    Example:
      rating-ledger close-tournament club.db 'Club championship 1999' --ended 1999-06-30
      rating-ledger close-tournament club.db Cup --ended 2025-09-09 --propose --reason 'one day less' --by eve
    """
    with Ledger.open(db_path) as ledger:
        name = pool or ledger.first_scheme().pool
        bring_up_to_date(ledger)
        ledger.pool(name)  # names the pools if this one is misspelt
        event = made(lambda: TournamentClosed(pool=name, tournament=tournament, ended_at=ended))
        if wish() is None:  # of a proposal the gate says the same
            ledger.check_early(event, Context.COMMAND)
        before = _effect(ledger, name, tournament)
        receipt = close(ledger, event, f"tournament {tournament!r}, ended {ended}", actor)
        if receipt is not None and not receipt.duplicate:
            _tell_effect(ledger, event, before)


class _Effect(NamedTuple):
    """The games of a tournament by position: their lists and batches, and the ratings of both sides after them."""

    places: dict[int, tuple[int, str]]
    ratings: dict[int, list[float]]


def _effect(ledger: Ledger, pool: str, tournament: str) -> _Effect:
    of_it = tournament, ledger.pool(pool).pool
    games = list(ledger.rows("games", "tournament = ? AND pool = ? AND reason IS NULL", of_it))
    places = {row["position"]: (row["rated_ms"], row["batch"]) for row in games}
    ratings: dict[int, list[float]] = {position: [] for position in places}
    for player in sorted({player for row in games for player in (row["white"], row["black"])}):
        for side in ledger.rows("history", "pool = ? AND player = ?", (of_it[1], player)):
            if side["game"] in ratings:
                ratings[side["game"]].append(side["rating"])
    return _Effect(places, ratings)


def _tell_effect(ledger: Ledger, event: TournamentClosed, before: _Effect) -> None:
    """Report what a closing did: how many games are rated at another place or otherwise, or why none is."""
    pool, after = ledger.pool(event.pool), _effect(ledger, event.pool, event.tournament)
    if not after.places or pool.eras[pool.era_at(instant_end_ms(event.ended_at))].scheme.rhythm is Rhythm.GAME:
        return  # the one says itself once there are games, the other is said already
    moved = sorted(after.places[game][0] for game, place in before.places.items() if after.places[game] != place)
    if moved:
        days = " and ".join(dict.fromkeys(instant_text(ms, Precision.DAY) for ms in (moved[0], moved[-1])))
        output.remark(f"{counted(len(moved), 'game')} of it rated at another place now: as of {days}")
        return
    if changed := sum(after.ratings[game] != ratings for game, ratings in before.ratings.items()):
        output.remark(f"{counted(changed, 'game')} of it rated from the ratings of another day now")
        return
    why = announcements.reason_not_rated_together(pool, event, _ends(ledger, event.pool, event.tournament))
    output.remark(f"note: no rating depends on this: {why or 'its games are rated as of that day already'}")


@click.command()
@DB
@click.argument("tournament")
@click.argument("player")
@POOL
@click.option("--round", "number", type=click.IntRange(1, MAX_ROUND), metavar="N", help="Number of the round.")
@click.option(
    "--brings",
    type=click.Choice([word.value for word in Brings]),
    default="half",
    show_default=True,
    help="A half-point bye, a full-point one, one for want of an opponent, one without a point; absent.",
)
@click.option(
    "--half-points",
    type=click.IntRange(0, 20),
    metavar="N",
    help="What an allotted bye brings, half points, where that is not 2.",
)
@click.option("--edition", metavar="INSTANT", help="A day, month or year of it; the last edition by default.")
@ACTOR
@proposing
def bye(
    db_path: str,
    tournament: str,
    player: str,
    pool: str | None,
    number: int | None,
    brings: str,
    half_points: int | None,
    edition: str | None,
    actor: str,
) -> None:
    """Record a round in which a player has no game: a bye, or an absence. It counts for points, never for ratings.

    Points, places, cross-tables, tie-breaks and the tournament's report (TRF) take it in. What is recorded already, by
    file or manually, is not recorded twice; what contradicts it is refused: 'correct DB fact' corrects it by
    the key that is printed here, 'correct DB take-back' takes it back. Before its first game a tournament is named with
    a day, --edition 2025-08-27.

    \b
    Example:
      rating-ledger bye club.db 'Autumn open' Ann --round 5
      rating-ledger bye club.db 'Autumn open' Bob --round 1 --brings allotted --edition 2025
      rating-ledger bye club.db 'Autumn open' Ann --round 5 --propose --reason 'letter of the arbiter' --by eve
    """
    with Ledger.open(db_path) as ledger:
        name = pool or ledger.first_scheme().pool
        bring_up_to_date(ledger)
        person = ledger.player(player)
        day = first_day_of_edition(ledger, name, tournament, edition)

        def make() -> RoundWithoutGame:
            return RoundWithoutGame(
                pool=name,
                tournament=tournament,
                edition=day,
                round=number,
                player=person.player,
                brings=Brings(brings),
                half_points=half_points,
            )

        receipts = record(ledger, [made(make)], actor)
        if receipts is None:
            return
        with Bars() as bars:
            ledger.catch_up(bars)
        (receipt,) = receipts
        where = f"{tournament!r}, edition of {day}" + (f", round {number}" if number else "")
        word = "was recorded already at" if receipt.duplicate else "recorded at"
        output.remark(f"{display_name(person)}, {where}: {BYE_WORDS[brings]} {word} entry {receipt.position}")
        output.remark(f"its key is {receipt.key}")


_DESCRIBED = {
    "city": "Where it was played.",
    "federation": "Federation that registers it: three letters.",
    "system": "Type in words, such as 'Individual: Swiss-System'.",
    "time_control": "Time control in words, such as '90 min + 30 s'.",
    "time_code": "Time control in TRF26's code, such as 5400+30.",
    "round_days": "Day of each round, divided by blanks, - for an unknown one.",
    "scoring": "Points of results in TRF26's code, such as 'W 3.0 D 1.0 L 0.0'.",
    "start_order": "Whose ratings order the starting list, such as 'NOR FIDON'.",
    "program": "Program that paired it.",
    "system_code": "Pairing system in TRF26's code, such as FIDE_DUTCH_2025.",
    "tie_breaks": "Tie-breaks in TRF26's code, such as BH/C1,BH.",
    "standings_order": "Order of the standings in TRF26's code, such as PTS,DE,BH/C1.",
}


def _described(command: Command) -> Command:
    """Add an option for each fact in words."""
    for name, help_text in reversed(_DESCRIBED.items()):
        metavar = "TEXT" if name != "round_days" else "DAYS"
        command = click.option(f"--{name.replace('_', '-')}", name, metavar=metavar, help=help_text)(command)
    return command


@click.command("describe-tournament")
@DB
@click.argument("tournament")
@POOL
@_described
@click.option("--rounds", type=click.IntRange(1, MAX_ROUND), metavar="N", help="How many rounds are planned.")
@click.option("--first-colour", type=click.Choice(["white", "black"]), help="Colour of player 1 in round 1.")
@click.option("--arbiter", metavar="NAME", help="Chief arbiter.")
@click.option("--deputy", "deputies", multiple=True, metavar="NAME", help="Another arbiter; repeatable.")
@click.option("--edition", metavar="INSTANT", help="A day, month or year of it; the last edition by default.")
@click.option("--erase-arbiters", is_flag=True, help="Erase the arbiters' names of all editions for good.")
@ACTOR
def describe_tournament(
    db_path: str,
    tournament: str,
    pool: str | None,
    arbiter: str | None,
    deputies: Sequence[str],
    edition: str | None,
    erase_arbiters: bool,
    actor: str,
    **fields: Any,
) -> None:
    """State what a report to a federation says of a tournament besides its games; other facts stay as they were.

    An imported report (TRF) states them by itself; of a tournament from CSV or PGN they are stated here. No rating
    depends on them. Arbiters' names are stored in the people file; the journal has a salted commitment to them.

    \b
    Example:
      rating-ledger describe-tournament club.db 'Autumn open' --city Oslo --federation NOR --arbiter 'IA Ek, Ann'
      rating-ledger describe-tournament club.db 'Autumn open' --time-control '90 min + 30 s' --edition 2025
      rating-ledger describe-tournament club.db 'Autumn open' --erase-arbiters
    """
    facts = {name: value for name, value in fields.items() if value is not None}
    with Ledger.open(db_path) as ledger:
        name = pool or ledger.first_scheme().pool
        bring_up_to_date(ledger)
        if erase_arbiters:
            count = erase(ledger, tournament, pool=name, token=token_given(ledger, None))
            if not count:
                first_day_of_edition(ledger, name, tournament, edition)  # which names no unknown tournament
            output.remark(f"{tournament!r}: {counted(count, 'text')} about arbiters erased; copies may still have them")
            return
        day = first_day_of_edition(ledger, name, tournament, edition)
        people: dict[str, Any] = {"chief": arbiter, "deputies": deputies}
        is_new = state_facts(ledger, tournament, day, facts, pool=name, **people, **recorded_by(ledger, actor))
        with Bars() as bars:
            ledger.catch_up(bars)
        word = "recorded" if is_new else "was stated already"
        output.remark(f"{tournament!r}, edition of {day}: {word}; head {ledger.head()}")


def _ends(ledger: Ledger, pool: str, tournament: str) -> list[int]:
    """When the games of a tournament ended, ascending."""
    where = "tournament = ? AND pool = ? ORDER BY ended_ms"
    return [row["ended_ms"] for row in ledger.rows("games", where, (tournament, ledger.pool(pool).pool))]
