"""The command that records one game from words on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ledger.answers.asking import display_name
from ledger.answers.recorded_games import GameStatus, ManualGame, recorded_game
from ledger.answers.rows import as_row
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.events import GameRecorded
from ledger.facts.instants import Precision, instant_text
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Outcome, Termination
from ledger.imports.csv import values
from ledger.imports.manual_entry import GameForm, build_game
from ledger.imports.reading import MAX_NAME, MAX_TEXT, name_identity
from ledger.imports.times import ORDERS
from ledger.ledger import Ledger
from ledger.recording.game_import import ImportReport
from ledger.recording.pool_choice import PoolChoice

from .. import output
from ..progress import Bars
from ..wording import counted
from . import DB, POOL, REFUSED, bring_up_to_date, check_pool
from .new_players import note_namesakes
from .proposal_options import propose, proposing, wish
from .token_options import acting, recorder, recording_token

_TOLD = ("result", "ended", "termination", "half_moves", "tournament", "round", "moves", "key", "rated", "dates")


@click.command()
@DB
@click.option("--white", required=True, metavar="PLAYER", help="Who had White: a name, an identity or a number.")
@click.option("--black", required=True, metavar="PLAYER", help="Who had Black.")
@click.option("--result", required=True, metavar="RESULT", help="1-0, 0-1, 1/2-1/2, or a forfeit such as +/-.")
@click.option("--ended", metavar="DAY", help="When: 2024-05-03 or 2024-05-03T19:30:00Z; today if not given.")
@click.option("--dates", type=click.Choice(ORDERS), help="What 04/05/2024 is: the day first (dmy), or the month (mdy).")
@click.option("--termination", metavar="WORD", help="How it ended: checkmate, resignation, time, agreement, ...")
@click.option("--half-moves", metavar="N", help="Moves of both sides together; counted where --moves gives them.")
@click.option("--tournament", metavar="NAME", help="The event.")
@click.option("--round", metavar="ROUND", help="Its round, such as 3 or 3.1.")
@POOL
@click.option("--unrated", is_flag=True, help="A casual game.")
@click.option("--moves", metavar="TEXT|@FILE", help="The moves, or the file that has them.")
@click.option("--key", metavar="KEY", help="The game's own key; made of day and players if not given.")
@click.option("--new", is_flag=True, help="Register a player who is not known yet; without it a new name is refused.")
@click.option("--record-alike", is_flag=True, help="Record it though it looks like a game under another key.")
@acting("by-hand")
@proposing
@output.format_options
def record(
    db_path: str, pool: str | None, new: bool, record_alike: bool, actor: str, fmt: str | None, **options: Any
) -> None:
    """Record one game, rate it, and show both ratings before and after it.

    A game that is already recorded is reported, not recorded twice, as by 'import'; new details are added to it. A
    second game of two players on one day needs a --key of its own and --record-alike, or moves that differ. Moves are
    played through: one that cannot be played is refused. A proposal takes registered players, and the moves not along:
    record the game again with them once it is approved.

    \b
    Example:
      rating-ledger record club.db --white Ann --black Bob --result 1-0 --ended 2024-05-03 -t
      rating-ledger record club.db --white Ann --black 'Zoe Falk' --new --result 1/2-1/2 --moves @game.txt
      rating-ledger record club.db --white Ann --black Bob --result 1-0 --propose --reason forgotten --by eve
    """
    asked = wish()
    if asked is not None and new:
        raise click.UsageError("a proposal registers nobody: 'player add' who is new, then propose the game")
    with Ledger.open(db_path) as ledger:
        ledger.views.refuse_foreign()
        chosen = pool or ledger.first_scheme().pool
        check_pool(ledger, chosen)
        who = recorder(ledger, actor) if asked is None else actor
        bring_up_to_date(ledger)
        words = _told(ledger, options)
        players = _players(ledger, options, is_new=new)
        game = build_game(words, *players)
        if asked is not None:
            propose(ledger, [_event(ledger, game, chosen)], asked)
            return
        report = ledger.record_games(
            [game],
            choice=PoolChoice(pool=chosen),
            strict=True,
            record_alike=record_alike,
            actor=who,
            token=recording_token(ledger),
        )
        if report.faults:
            raise MalformedError([fault.message for fault in report.faults])
        if report.alike:
            alike = report.alike[0]
            output.error(f"this is probably {alike.known!r} of entry {alike.entry}; --record-alike records it")
            raise SystemExit(REFUSED)
        with Bars() as bars:
            ledger.catch_up(bars)
        assert report.last_key is not None  # neither refused nor held back
        key = report.last_key
        output.write_one(as_row(ManualGame(status=_status(report), game=recorded_game(ledger, key))), fmt)
        _remark(ledger, report, key)


def _event(ledger: Ledger, game: SourceGame, pool: str) -> GameRecorded:
    """Return a game under the key that it would be recorded with, but its moves, which no proposal keeps."""
    white, black = (ledger.player_as_told(identity).player for identity in (game.white_id, game.black_id))
    return GameRecorded(
        game=ledger.derived_keys.key_of(game),
        pool=pool,
        white=white,
        black=black,
        outcome=Outcome(game.outcome),
        termination=Termination(game.termination),
        half_moves=game.half_moves,
        ended_at=game.ended_at,
        tournament=game.tournament,
        round=game.round,
        rated=game.rated,
    )


def _told(ledger: Ledger, options: dict[str, Any]) -> GameForm:
    words = {**options, "rated": not options["unrated"]}
    words["ended"] = words["ended"] or instant_text(ledger.now_ms(), Precision.DAY)
    if words["moves"] is not None and words["moves"].startswith("@"):
        with Path(words["moves"][1:]).open(encoding="utf-8-sig", errors="replace") as file:
            words["moves"] = file.read(MAX_TEXT + 1)
    return GameForm(**{name: words[name] for name in _TOLD})


def _players(ledger: Ledger, options: dict[str, Any], *, is_new: bool) -> list[tuple[str, str]]:
    """Return identity and name of White and Black; unknown players of both sides are reported together."""
    players: list[tuple[str, str]] = []
    problems: list[str] = []
    for side in ("white", "black"):
        try:
            players.append(_player(ledger, options[side], f"--{side}", is_new=is_new))
        except MalformedError as error:
            problems += error.problems
    if problems:
        raise MalformedError(problems)
    return players


def _player(ledger: Ledger, word: str, option: str, *, is_new: bool) -> tuple[str, str]:
    """Identity and name of a player who is known, or is to be registered."""
    try:
        person = ledger.player(word)
    except UnknownNameError as error:
        if not is_new or error.is_ambiguous:
            hint = "" if is_new else "; --new registers somebody who is not known yet"
            raise MalformedError([f"{option}: {error}{hint}"]) from None
        return _newcomer(word, option)
    if person.identity is None:
        raise MalformedError([f"{option}: {display_name(person)} was erased and plays no further game"])
    return person.identity, person.name or person.identity


def _newcomer(word: str, option: str) -> tuple[str, str]:
    try:
        name = values.parse_identity(word) if ":" in word else values.parse_name(word)
    except ValueError as error:
        raise MalformedError([f"{option} {word[:60]!r}: {error}"]) from None
    if name is None or name.isdecimal():
        raise MalformedError([f"{option} {word[:60]!r}: a new player has a name, of at most {MAX_NAME} characters"])
    return (name, name.partition(":")[2]) if ":" in name else (name_identity(name), name)


def _status(report: ImportReport) -> GameStatus:
    if report.recorded:
        return "recorded"
    return "known already, and more is known now" if report.supplemented else "known already"


def _remark(ledger: Ledger, report: ImportReport, key: str) -> None:
    for note in report.notes:
        output.remark(f"note: {note.message}")
    if report.players:
        output.remark(counted(report.players, "new player"))
        note_namesakes(ledger, report.newcomers)
    if not report.recorded:
        output.remark(f"known already as {key!r}; another game of that day needs a --key and --record-alike")
