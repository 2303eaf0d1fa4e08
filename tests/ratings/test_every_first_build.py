"""Every scheme, and every setting and fact that sends a game another way, built aside in small blocks.

A real build takes in thousands of entries at a time, so that only large ledgers would meet what happens between two
blocks. Here a block holds a few, and another connection than the builder's writes them, as a process of its own does
(``test_first_build`` and ``test_properties`` start that, which takes a second). The rows must be those of the same
ledger as it was folded step by step.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from unittest.mock import patch

import attrs
import pytest

from ledger import schemes
from ledger.audit.audit import table_digests
from ledger.book import assessment
from ledger.facts.changes import AnnulmentScope
from ledger.facts.event_fields import MAX_PLAYER
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    RatingSeeded,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.words import Carry, Outcome, Standing, Termination
from ledger.journal import sqlite_store
from ledger.ledger import Ledger
from ledger.ratings import view_builds, views
from ledger.runtime import columns, sorted_runs, sqlite
from ledger.runtime.table_writer import WritingConnection, WritingProcess
from ledger.schemes.scheme import Rhythm, Scheme
from ledger.schemes.settings import EventSettings
from tests.kit.clubs import NAME, NOW, takes_misfits
from tests.kit.corrections import approve
from tests.tiers import in_tiers

Settings = Mapping[str, int | bool | str]

POOL, CUP, LEAGUE = "club", "Cup", "League"
PLAYERS, GAMES, STEP = 9, 80, 30
PLAYED = (Outcome.WHITE, Outcome.DRAW, Outcome.BLACK)
WHOLE: Settings = {"by_event": True, "included_until": 2}
SMALL = (
    (sqlite_store, "BLOCK", 12), (view_builds, "OWN_PROCESS_FROM", 0), (view_builds, "ENTRIES_A_COMMIT", 30),
    (view_builds, "GAMES_A_RUN", 25), (view_builds, "GAMES_A_BLOCK", 20), (view_builds, "SIDES_A_RUN", 40),
    (view_builds, "SIDES_A_BLOCK", 30), (sorted_runs, "PIECE", 7), (assessment, "BLOCK", 9),
    (assessment, "FEW_ASSESSED", 4), (views, "FEW_ENTRIES", 0),
)  # fmt: skip


class _SecondConnection(WritingProcess):
    """What the process of its own does, by a connection here: while it has the file the builder may not touch it."""

    def __init__(self, path: str | Path) -> None:
        self._connection = sqlite.connect(path)
        self._rows = WritingConnection(self._connection)
        self.insert, self.run, self.commit = self._rows.insert, self._rows.run, self._rows.commit  # type: ignore[method-assign]

    def settle(self) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        """What was not committed is undone."""
        self._rows.close()
        self._connection.close()


@contextmanager
def in_small_blocks() -> Iterator[None]:
    """Builds take in a few entries at a time; where another process has the file they wait a second, not a minute."""
    with ExitStack() as stack:
        for module, name, size in SMALL:
            stack.enter_context(patch.object(module, name, size))
        stack.enter_context(patch.object(sqlite, "BUSY_SECONDS", 1.0))
        stack.enter_context(patch.object(view_builds, "table_writer", lambda path, _: _SecondConnection(path)))
        yield


def registered() -> list[Event]:
    """Most are plain members; one is a guest, some declare a rating."""
    return [
        PlayerRegistered(
            player=number,
            joined_at="2019",
            standing=Standing.GUEST if number == PLAYERS else Standing.FULL,
            declared_rating=1300 + 100 * number if number % 3 == 0 else None,
            birth_year=1990 if number == 4 else None,
            commitment=f"{number:064x}",
        )
        for number in range(1, PLAYERS + 1)
    ]


def played() -> list[GameRecorded]:
    """A year's games in no order: of cups around the ends of months, of a league all the year, of no tournament."""
    random = Random(20)
    days = [f"2020-{month:02}-{day:02}" for month in range(1, 13) for day in (2, 14, 26, 28)]
    found: list[GameRecorded] = []
    for number in range(GAMES):
        white, black = random.sample(range(1, PLAYERS + 1), 2)
        found.append(
            GameRecorded(
                game=f"g{number}",
                pool=POOL,
                white=white,
                black=black,
                outcome=random.choice(PLAYED),
                termination=random.choice((Termination.UNKNOWN, Termination.RESIGNATION)),
                half_moves=random.choice((None, 8, 40, 40)),
                ended_at=random.choice(days),
                round=random.choice((None, "1", "2")),
                tournament=random.choice((None, LEAGUE, CUP, CUP)),
                rated=random.random() < 0.9,
                white_rating=random.choice((None, 1700)),
                black_rating=random.choice((None, 1850)),
            )
        )
    return found


def told_of_tournaments() -> list[Event]:
    """Some editions of the cup are announced, others closed."""
    return [
        TournamentOpened(pool=POOL, tournament=CUP, starts_at="2020-03-20", ends_at="2020-04-05", rounds=5),
        TournamentClosed(pool=POOL, tournament=CUP, ended_at="2020-06-30"),
        TournamentOpened(pool=POOL, tournament=LEAGUE, starts_at="2020-01-01", ends_at="2020-10-31"),
        TournamentClosed(pool=POOL, tournament=LEAGUE, ended_at="2020-09-30"),
    ]


def runs() -> list[Event]:
    """Rating runs, not in their order."""
    return [RatingRunClosed(pool=POOL, as_of=f"2020-{day}") for day in ("08-31", "02-29", "05-31", "12-31")]


def pasts() -> list[Event]:
    """Seeds, standings, declared ratings and years of birth; some of them come too late to act."""
    return [
        RatingSeeded(player=1, pool=POOL, rating="1890.5", games=20, deviation="80", effective_at="2019-12"),
        RatingSeeded(player=2, pool=POOL, rating="2105", effective_at="2020-07"),
        PlayerChanged(player=PLAYERS, effective_at="2020-06-01", standing=Standing.FULL, declared_rating=1640),
        PlayerChanged(player=3, effective_at="2020-10-01", standing=Standing.CLOSED),
        BirthYearLearnt(player=5, birth_year=2004),
    ]


def adopted(scheme: Scheme, settings: Settings, since: str | None = None) -> Event:
    carry = None if since is None else Carry.KEEP
    return SchemeAdopted(pool=POOL, scheme=scheme.name, settings=settings, effective_from=since, carry=carry)


def other_schemes(scheme: Scheme, settings: Settings) -> list[Event]:
    """One of another rhythm from March on, and the same scheme again from July on; told the other way round."""
    is_by_period = scheme.rhythm is Rhythm.PERIOD
    other = schemes.find_scheme("uschess" if is_by_period else "fide")
    return [adopted(scheme, settings, "2020-07-01"), adopted(other, {} if is_by_period else WHOLE, "2020-03-15")]


def correct(ledger: Ledger) -> None:
    """A result, a date, a name, a person and all games of another one are put right, and one of it is undone."""
    drafts = ledger.corrections.drafts
    first, second, third = (row["key"] for row in ledger.rows("games", "1 LIMIT 3"))
    approve(ledger, drafts.replace(f"game:{first}", {"outcome": "draw", "termination": "unknown"}))
    moved = drafts.replace(f"game:{second}", {"ended_at": "2020-01-03", "tournament": CUP})
    approve(ledger, moved, drafts.annul(f"game:{third}"))
    approve(ledger, drafts.merge(7, 8))
    approve(ledger, drafts.tournament(POOL, CUP, since="2020-09-01"))
    approve(ledger, drafts.annul_games(6, AnnulmentScope.LOSSES, since="2020-05-01"))
    approve(ledger, drafts.undo(4))


def settings_of(scheme: Scheme) -> Iterator[Settings]:
    """The settings by which the games of a scheme go another way."""
    yield {}
    if scheme.rhythm is Rhythm.PERIOD:
        yield {"by_runs": True}
    if issubclass(scheme.settings, EventSettings):
        yield from (WHOLE, {**WHOLE, "by_runs": True}, {**WHOLE, "period_days": 10}, {**WHOLE, "from_shown": True})
    if scheme.name == "chessworld":
        yield {"from_shown": True}


EVERY = {
    " ".join((scheme.name, *given)): (scheme, given)
    for scheme in schemes.built_in_schemes()
    for given in settings_of(scheme)
}
# Which rate by game, by period and by tournament.
KINDS = ("chessworld", "glicko2", "fide by_event included_until from_shown")


def tier_of_games(case: str) -> str:
    """Return the tier of games alone: what a scheme does with them is the same in any block."""
    if case in KINDS:
        return "quick"
    return "slow" if EVERY[case][0].name in {"fide", "uschess"} else "nightly"


def tier_of_facts(case: str) -> str:
    """Return the tier of all facts: each scheme runs by its own settings, and the other settings with two schemes."""
    if case in KINDS:
        return "quick"
    scheme, given = EVERY[case]
    return "slow" if not given or scheme.name in {"fide", "ecf-grade"} else "nightly"


def mixed(events: Sequence[Event]) -> list[Event]:
    return Random(1).sample(events, len(events))


def assert_built_as_folded(ledger: Ledger) -> None:
    """Bring the views level, and build them anew in small blocks: the same rows in every table."""
    ledger.ensure_up_to_date()
    expected = table_digests(ledger.views.connection)
    assert sum(1 for _ in ledger.rows("history")) > GAMES
    with in_small_blocks():
        ledger.rebuild()
    assert table_digests(ledger.views.connection) == expected


@pytest.fixture(name="unbuilt")
def _club(tmp_path: Path) -> Iterator[Ledger]:
    Ledger.create(tmp_path / NAME, pool="unused", clock=lambda: NOW).close()
    with takes_misfits(Ledger.open(tmp_path / NAME, clock=lambda: NOW)) as ledger:
        yield ledger


def tell(ledger: Ledger, events: Sequence[Event]) -> None:
    for first in range(0, len(events), STEP):
        ledger.append_many(events[first : first + STEP])
        ledger.ensure_up_to_date()


@pytest.mark.parametrize("case", in_tiers(EVERY, tier_of_games))
def test_games_alone(case: str, unbuilt: Ledger) -> None:
    """No block has anything but players and games: each is written while the next one is taken in."""
    scheme, given = EVERY[case]
    players, games = registered(), played()
    early = [game for game in games if max(game.white, game.black) < PLAYERS]
    late = [game for game in games if max(game.white, game.black) == PLAYERS]
    tell(unbuilt, [adopted(scheme, given), *players[:-1], *early, players[-1], *late])
    assert_built_as_folded(unbuilt)


@pytest.mark.parametrize("case", in_tiers(EVERY, tier_of_facts))
def test_facts_that_reach_back(case: str, unbuilt: Ledger) -> None:
    """Tournaments, runs, pasts and standings are told among the games, then schemes change from days long gone.

    Facts are corrected, and more games come in after that.
    """
    scheme, given = EVERY[case]
    told = mixed([*told_of_tournaments(), *runs(), *pasts(), *played()])
    tell(unbuilt, [adopted(scheme, given), *registered(), *told[:60], *other_schemes(scheme, given)])
    correct(unbuilt)
    tell(unbuilt, told[60:])
    assert_built_as_folded(unbuilt)


@pytest.mark.slow
@pytest.mark.parametrize("far_apart", [1, 5, PLAYERS])
def test_players_whose_numbers_are_far_apart(far_apart: int, unbuilt: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays as long as the highest number would be of many gigabytes: from such a number on each has its own place."""
    given = {**WHOLE, "from_shown": True}
    told = mixed([*told_of_tournaments(), *pasts(), *played()])
    fide = schemes.find_scheme("fide")
    tell(unbuilt, [adopted(fide, given), *registered(), *told[:60], *other_schemes(fide, given), *told[60:]])
    for module in (view_builds, columns):
        monkeypatch.setattr(module, "FAR_APART", far_apart)
    assert_built_as_folded(unbuilt)


def test_the_highest_number_that_a_player_may_have(unbuilt: Ledger) -> None:
    last = PlayerRegistered(player=MAX_PLAYER, joined_at="2019", standing=Standing.FULL, commitment="0" * 64)
    games = [attrs.evolve(game, black=MAX_PLAYER) if game.white == 1 else game for game in played()]
    tell(unbuilt, [adopted(schemes.find_scheme("elo"), {}), *registered(), last, *games])
    assert_built_as_folded(unbuilt)
