"""Corrections: of one game some games back, and its preview; of 500 games of one player, beside bare SQL.

Beside them stand the ways of those who keep no rows to go on from: to rebuild all, and to replay a log of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from statistics import median

from ledger.facts.changes import Change, Which
from ledger.facts.events import Decision
from ledger.ledger import Ledger
from ledger.runtime import sqlite

from . import ours, rival_eventsourcing
from .bare_corrections import BareRows
from .datasets import GameSet, tail_length, tail_ms
from .live_lines import GAMES_BACK
from .measuring import SecondsTaken, both_lines, cost_of, in_turns
from .rivals import installed
from .synthetic import FIRST_SECOND, SECONDS
from .table import Line, line

ANNULLED = 500
YEAR_MS = 365 * 86_400_000
END_MS = (FIRST_SECOND + SECONDS) * 1000  # of what was played before the common end of the journals
MOST_ANNULLED_FROM = 1_000_000  # games of the largest journal in which many games are voided
ROUNDS = 3  # times as many rounds of one correction, which is short and waits for the disk
_AT = "SELECT key, outcome FROM games WHERE pool = 1 AND rated_ms = ? AND reason IS NULL"


def correction_lines(sets: Sequence[GameSet], rounds: int, events: int) -> Iterator[Line]:
    """One game corrected in journals of different lengths that end with the same games, then many games voided.

    Args:
        sets: as ``datasets.with_the_same_end`` gives them.
        rounds: how often each is measured.
        events: of the log that the library for event sourcing replays.
    """
    length = tail_length(sets)
    pace = _replay_pace(sets[0].folder, events) if installed("eventsourcing") else None
    with ExitStack() as stack:
        ledgers = [stack.enter_context(Ledger.open(data.ledger())) for data in sets]
        for ledger in ledgers:
            ledger.catch_up()
        backs = [back for back in GAMES_BACK if back <= length]
        taken = {back: _corrected(back, length, sets, ledgers, rounds * ROUNDS) for back in backs}
        corrections = {
            back: {name: [correction for _, correction in pairs] for name, pairs in taken[back].items()}
            for back in backs
        }
        for back in backs:
            yield from _lines_of_lengths(back, sets, corrections[back])
            yield from _preview_lines(back, sets, taken[back])
        yield from _naive_lines(backs[-1], sets, corrections[backs[-1]], pace)
    yield from _void_lines([data for data in sets if data.games <= MOST_ANNULLED_FROM][-1], rounds)


class _Corrected:
    """A game some games before the end of a ledger, whose result is corrected to and fro."""

    def __init__(self, ledger: Ledger, ended_ms: int) -> None:
        self._ledger = ledger
        key, outcome = ledger.views.connection.execute(_AT, (ended_ms,)).fetchone()
        self._fact = f"game:{key}"
        self._outcomes = ("white", "black") if outcome == "black" else ("black", "white")
        self._corrections = 0

    def correct(self) -> tuple[SecondsTaken, SecondsTaken]:
        """Preview another result; propose it, approve it, and see all that follows rated: what each of the two took."""
        outcome = self._outcomes[self._corrections % 2]
        self._corrections += 1
        drafts = self._ledger.corrections.drafts
        facts = {"outcome": outcome}
        return (
            cost_of(lambda: self._ledger.preview([drafts.replace(self._fact, facts)])),
            cost_of(lambda: _approve(self._ledger, drafts.replace(self._fact, facts))),
        )


def _approve(ledger: Ledger, change: Change) -> int:
    number = ledger.propose([change], reason="measured", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    ledger.catch_up()
    return number


def _corrected(
    back: int, length: int, sets: Sequence[GameSet], ledgers: Sequence[Ledger], rounds: int
) -> dict[str, list[tuple[SecondsTaken, SecondsTaken]]]:
    corrected = [_Corrected(ledger, tail_ms(length - back)) for ledger in ledgers]
    works = {data.name: game.correct for data, game in zip(sets, corrected, strict=True)}
    in_turns(works, 1)  # to warm up
    return in_turns(works, rounds)


def _lines_of_lengths(back: int, sets: Sequence[GameSet], taken: Mapping[str, list[SecondsTaken]]) -> Iterator[Line]:
    least = min(taken, key=lambda name: median(cost.clock for cost in taken[name]))
    for data in sets:
        if data.name != least:
            words = {
                "what": f"a correction {back:,} games back",
                "rival": f"the same in the journal that took least ({least})",
            }
            yield from both_lines("correction", f"journal of {data.name}", taken[data.name], taken[least], **words)


def _preview_lines(
    back: int, sets: Sequence[GameSet], taken: Mapping[str, list[tuple[SecondsTaken, SecondsTaken]]]
) -> Iterator[Line]:
    """What would become of all, worked out and written nowhere, beside the correction itself."""
    for data in sets:
        previews, corrections = zip(*taken[data.name], strict=True)
        what = f"the preview of a correction {back:,} games back"
        yield from both_lines("preview", f"journal of {data.name}", previews, corrections, what=what)


def _naive_lines(
    back: int, sets: Sequence[GameSet], taken: Mapping[str, list[SecondsTaken]], pace: float | None
) -> Iterator[Line]:
    """The same beside what it costs to do all again, in each journal."""
    what = f"a correction {back:,} games back"
    for data in sets:
        clock = [cost.clock for cost in taken[data.name]]
        with data.scratch() as folder:
            rebuilt = ours.first_build(ours.copied(data.ledger_path, folder))
        yield line("correction-rebuild", f"journal of {data.name}", clock, [rebuilt.clock], what=what)
        if pace is not None:
            yield line("correction-replay", f"journal of {data.name}", clock, [data.games / pace], what=what)


def _replay_pace(folder: Path, events: int) -> float:
    made = folder / "eventsourcing"
    made.mkdir()
    return rival_eventsourcing.eventsourcing_figures(made, events)["replayed"]


def _void_lines(data: GameSet, rounds: int) -> Iterator[Line]:
    """All games of a player who played many in a year are voided, and stand again; the bare rows likewise."""
    with data.scratch() as folder:
        path = ours.copied(data.ledger(), folder)
        with Ledger.open(path) as ledger:
            player = ours.one_who_played_much(ledger, ANNULLED, END_MS - YEAR_MS, YEAR_MS // ANNULLED)
            ledger.catch_up()
            _settle(path)
            bare = BareRows(path.with_name("games.views.db"), folder)
            _approve(ledger, ledger.corrections.drafts.annul_games(player, Which.ALL))
            bare.compare()
            works: dict[str, Callable[[], SecondsTaken]] = {
                "ours": partial(_voided_again, ledger, player),
                "bare": partial(_bare_again, bare),
            }
            in_turns(works, 1)
            taken = in_turns(works, rounds)
            bare.close()
        where = f"journal of {data.name}, {bare.rows:,} rows"
        yield from both_lines("void-many", where, taken["ours"], taken["bare"], games=data.games)


def _voided_again(ledger: Ledger, player: int) -> SecondsTaken:
    """Voided games stand again, which is not measured, and are voided."""
    last = max(known.proposal.proposal for known in ledger.corrections.proposals() if known.state == "approved")
    _approve(ledger, ledger.corrections.drafts.undo(last))
    return cost_of(lambda: _approve(ledger, ledger.corrections.drafts.annul_games(player, Which.ALL)))


def _bare_again(bare: BareRows) -> SecondsTaken:
    bare.put_back()
    return cost_of(bare.change)


def _settle(path: Path) -> None:
    """Nothing is left in the log, so that the file can be copied."""
    with closing(sqlite.connect(path.with_name("games.views.db"))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
