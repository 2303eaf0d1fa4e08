"""Hypothesis strategies for the facts of a small club, in any order and in slices, and ledgers that record them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
from hypothesis import strategies as st

from ledger.facts.events import (
    BirthYearLearnt,
    ConversionRange,
    Event,
    FederationSet,
    GameRecorded,
    PlayerChanged,
    PlayerEntered,
    PlayerRegistered,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.words import Brings, Carry, Outcome, Standing, Termination
from ledger.ledger import Ledger
from ledger.ratings.fact_projector import ReadModel
from ledger.schemes import built_in_schemes
from ledger.schemes.scheme import Rhythm
from tests.kit.clubs import NOW, takes_misfits
from tests.kit.plugins import CLIMBS, SCORES, WIN_STREAKS

PLAYERS = 5
POOLS = ("standard", "blitz")
MOMENTS = (
    "1850",
    "2020",
    "2020-03",
    "2020-03-01",
    "2020-03-01T00:00:00Z",
    "2020-03-01T00:00:00.500Z",
    "2020-03-02",
    "2021-06-30T12:00:00Z",
)
CAFE = "Café Kök"
Settings = Mapping[str, int | bool | str]
FEDERATIONS = ("NOR", "SWE")
AT_HOME: Settings = {"federation": "NOR"}  # players of others are guests
CHESSWORLD: tuple[tuple[str, Settings], ...] = (
    ("chessworld", {}),
    ("chessworld", {"provisional_games": 0}),
    ("chessworld", {"provisional_games": 2, "include_initial": True}),
)
OTHERS: tuple[tuple[str, Settings], ...] = (
    *((scheme.name, {}) for scheme in built_in_schemes()),
    *((scheme.name, {"by_runs": True}) for scheme in built_in_schemes() if scheme.rhythm is Rhythm.PERIOD),
    ("glicko2", {"period_days": 7}),
    ("fide", {"rapid": True}),
    ("fide", {"by_event": True, "event_gap": 30, "start": 1800, "floor": 1000}),
    *((scheme.name, AT_HOME) for scheme in built_in_schemes()),
    *((name, {"from_shown": True}) for name in ("chessworld", "elo", "glicko2", "fide", "uschess", "iccf", "lichess")),
)
WHOLE: Settings = {"by_event": True, "included_until": 2, "start": 1800, "floor": 1000}
WHOLE_TOURNAMENTS: tuple[tuple[str, Settings], ...] = (  # schemes of a pool that rates tournaments whole
    *((("fide", WHOLE),) * 4),
    ("fide", {**WHOLE, "event_gap": 1, "event_days": 5}),
    ("fide", {**WHOLE, "event_days": 90, "first_day_ratings": 5}),
    ("fide", {**WHOLE, "event_days": 5, "first_day_ratings": 60}),
    ("fide", {**WHOLE, "by_runs": True}),
    ("fide", {**WHOLE, "in_force_after": 14}),
    ("fide", {**WHOLE, "period_days": 7}),
    ("fide", {**WHOLE, "from_shown": True}),
    ("fide", {**WHOLE, **AT_HOME}),
    ("fide", {**WHOLE, **AT_HOME, "from_shown": True}),
    ("fide", {"start": 1800, "floor": 1000}),
    ("chessworld", {}),
    ("harkness", {}),
)


def at_true_places(schemes: Sequence[tuple[str, Settings]]) -> list[tuple[str, Settings]]:
    """The schemes of pools whose ratings follow from the facts alone, whatever was published when."""
    return [(name, {"late_reports": "true-place", **given}) for name, given in schemes]


DAYS_OF_A_WINTER = (
    "2020-01-02", "2020-01-20", "2020-01-28", "2020-01-30", "2020-01-31", "2020-02-01", "2020-02-06T18:00:00Z",
    "2020-02-06", "2020-02-14", "2020-02-22", "2020-02-26", "2020-02-28", "2020-02-29", "2020-03-01", "2020-03-08",
)  # fmt: skip
CONVERSION = (
    ConversionRange(factor="0.5", offset="700"),
    ConversionRange(from_rating="1500", factor="1.25", offset="-50.5"),
)


@st.composite
def registrations(draw: st.DrawFn) -> list[PlayerRegistered]:
    return [
        PlayerRegistered(
            player=number,
            joined_at="2019",
            standing=draw(st.sampled_from((Standing.FULL, *Standing))),
            declared_rating=draw(st.sampled_from((None, None, 0, 2100))),
            birth_year=draw(st.sampled_from((None, 1970, 2008))),
            commitment=f"{number:064x}",
        )
        for number in range(1, PLAYERS + 1)
    ]


@st.composite
def games(
    draw: st.DrawFn, number: int, moments: Sequence[str] = MOMENTS, tournaments: Sequence[str | None] = (None, CAFE)
) -> GameRecorded:
    white, black = draw(st.permutations(range(1, PLAYERS + 1)))[:2]
    return GameRecorded(
        game=f"{draw(st.sampled_from('zyxab'))}{number}",
        pool=draw(st.sampled_from((POOLS[0], *POOLS))),
        white=white,
        black=black,
        outcome=draw(st.sampled_from(Outcome)),
        termination=draw(st.sampled_from(Termination)),
        half_moves=draw(st.sampled_from((None, 0, 10, 11, 80))),
        ended_at=draw(st.sampled_from(moments)),
        tournament=draw(st.sampled_from(tournaments)),
        round=draw(st.sampled_from((None, "1", "2", "10", "2.1", "Final"))),
        rated=draw(st.sampled_from((True, True, True, False))),
        white_rating=draw(st.sampled_from((None, 1650, 2210))),
        black_rating=draw(st.sampled_from((None, 0, 1825))),
    )


@st.composite
def changes(draw: st.DrawFn) -> list[PlayerChanged]:
    when = st.tuples(st.integers(1, PLAYERS), st.sampled_from(MOMENTS))
    return [
        PlayerChanged(
            player=player,
            effective_at=moment,
            standing=draw(st.sampled_from(Standing)),
            declared_rating=draw(st.sampled_from((None, 900, 1950))),
        )
        for player, moment in draw(st.lists(when, max_size=4, unique=True))
    ]


@st.composite
def pasts(draw: st.DrawFn) -> list[Event]:
    """Seeds, some of them after the first game, and years of birth that were learnt later."""
    when = st.tuples(st.sampled_from(POOLS), st.integers(1, PLAYERS), st.sampled_from((None, *MOMENTS)))
    seeds: list[Event] = [
        RatingSeeded(
            player=player,
            pool=pool,
            effective_at=moment,
            rating=draw(st.sampled_from(("1234.5", "2344", "2801", "95"))),
            games=draw(st.sampled_from((None, 0, 7, 30, 60))),
            deviation=draw(st.sampled_from((None, "55.5", "900"))),
            volatility=draw(st.sampled_from((None, "0.05"))),
            highest=draw(st.sampled_from((None, "2410", "100"))),
            k_factor=draw(st.sampled_from((None, "10", "20", "40"))),
        )
        for pool, player, moment in draw(st.lists(when, max_size=4, unique=True))
    ]
    born = draw(st.lists(st.integers(1, PLAYERS), max_size=2, unique=True))
    return [*seeds, *(BirthYearLearnt(player=player, birth_year=2005) for player in born)]


@st.composite
def guests(draw: st.DrawFn, moments: Sequence[str] = MOMENTS) -> list[Event]:
    """Federations of players, and lists of entrants with federations and ratings."""
    when = st.tuples(st.integers(1, PLAYERS), st.sampled_from(moments))
    dated = [
        FederationSet(player=player, effective_at=moment, federation=draw(st.sampled_from(FEDERATIONS)))
        for player, moment in draw(st.lists(when, max_size=3, unique=True))
    ]
    where = st.tuples(st.sampled_from(POOLS), st.integers(1, PLAYERS))
    entered = [
        PlayerEntered(
            pool=pool,
            tournament=CAFE,
            edition=draw(st.sampled_from(DAYS_OF_A_WINTER))[:10],
            player=player,
            number=1,
            start_number=player,
            rating=draw(st.sampled_from((None, 1650, 2312))),
            federation=draw(st.sampled_from((None, *FEDERATIONS))),
        )
        for pool, player in draw(st.lists(where, max_size=3, unique=True))
    ]
    return [*dated, *entered]


def schemes() -> st.SearchStrategy[tuple[str, Settings]]:
    """A scheme of any rhythm with its settings; the simplest by far most often."""
    return st.sampled_from(at_true_places((CHESSWORLD[:1] * 6) + CHESSWORLD + OTHERS))


def every_scheme() -> st.SearchStrategy[tuple[str, Settings]]:
    """A scheme with its settings, each as often as the others."""
    return st.sampled_from(at_true_places(CHESSWORLD + OTHERS))


@st.composite
def adoptions(draw: st.DrawFn, rated_by: st.SearchStrategy[tuple[str, Settings]]) -> list[SchemeAdopted]:
    """Changes of a pool's scheme from a date on."""
    when = st.tuples(st.sampled_from(POOLS), st.sampled_from(MOMENTS))
    found = []
    for pool, moment in draw(st.lists(when, max_size=2, unique=True)):
        name, given = draw(rated_by)
        carry = draw(st.sampled_from((None, *Carry)))
        maps = CONVERSION if carry is Carry.CONVERT else None
        found.append(
            SchemeAdopted(pool=pool, scheme=name, settings=given, effective_from=moment, carry=carry, conversion=maps)
        )
    return found


@st.composite
def closings(draw: st.DrawFn) -> list[Event]:
    """Closed rating runs, and perhaps the end of the one tournament in each pool."""
    when = st.tuples(st.sampled_from(POOLS), st.sampled_from(MOMENTS))
    runs: list[Event] = [
        RatingRunClosed(pool=pool, as_of=moment) for pool, moment in draw(st.lists(when, max_size=3, unique=True))
    ]
    ended = draw(st.lists(when, max_size=2, unique_by=lambda one: one[0]))
    return [*runs, *(TournamentClosed(pool=pool, tournament=CAFE, ended_at=moment) for pool, moment in ended)]


@st.composite
def rounds_without_game(draw: st.DrawFn) -> list[Event]:
    """Byes and absences, each of a player and a round once."""
    where = st.tuples(st.sampled_from(POOLS), st.integers(1, PLAYERS), st.sampled_from((None, 1, 2)))
    return [
        RoundWithoutGame(
            pool=pool,
            tournament=CAFE,
            edition=draw(st.sampled_from(DAYS_OF_A_WINTER))[:10],
            round=number,
            player=player,
            brings=draw(st.sampled_from(Brings)),
        )
        for pool, player, number in draw(st.lists(where, max_size=4, unique=True))
    ]


@st.composite
def openings(draw: st.DrawFn) -> list[Event]:
    """Tournaments that are announced, and closings of some of their editions."""
    when = st.tuples(st.sampled_from(POOLS), st.sampled_from(DAYS_OF_A_WINTER))
    found: list[Event] = []
    for pool, day in draw(st.lists(when, max_size=3, unique=True)):
        last = draw(st.sampled_from([later for later in DAYS_OF_A_WINTER if later[:10] >= day[:10]]))
        found.append(TournamentOpened(pool=pool, tournament=CAFE, starts_at=day[:10], ends_at=last[:10]))
    for pool, day in draw(st.lists(when, max_size=3, unique=True)):
        found.append(TournamentClosed(pool=pool, tournament=CAFE, ended_at=day))
    return list({event.key: event for event in found}.values())


@st.composite
def clubs_of_a_winter(draw: st.DrawFn) -> list[Event]:
    """A club's facts with pools that rate tournaments whole: a winter's games of few tournaments, some of them told."""
    scheme = st.sampled_from(at_true_places(WHOLE_TOURNAMENTS))
    adopted: list[Event] = []
    for pool in POOLS:
        name, given = draw(scheme)
        adopted.append(SchemeAdopted(pool=pool, scheme=name, settings=given))
    changed: list[Event] = []
    for pool, day in draw(st.lists(st.tuples(st.sampled_from(POOLS), st.sampled_from(DAYS_OF_A_WINTER)), max_size=2)):
        name, given = draw(scheme)
        changed.append(SchemeAdopted(pool=pool, scheme=name, settings=given, effective_from=day))
    changed = list({event.key: event for event in changed}.values())
    names = (None, CAFE, CAFE, CAFE, "Cup")
    played = [draw(games(i, DAYS_OF_A_WINTER, names)) for i in range(draw(st.integers(0, 24)))]
    runs = [RatingRunClosed(pool=POOLS[0], as_of=day) for day in draw(st.sets(st.sampled_from(("2020-01", "2020-02"))))]
    later = [*played, *changed, *draw(openings()), *runs, *draw(changes()), *draw(rounds_without_game())]
    later += draw(guests(DAYS_OF_A_WINTER))
    return [*adopted, *draw(registrations()), *draw(st.permutations(later))]


def clubs() -> st.SearchStrategy[list[Event]]:
    """A club's facts: the first schemes and the players, then games, changes and closings in any order."""
    return mixed_clubs() | clubs_of_a_winter()


@st.composite
def mixed_clubs(
    draw: st.DrawFn,
    first: st.SearchStrategy[tuple[str, Settings]] | None = None,
    later: st.SearchStrategy[tuple[str, Settings]] | None = None,
) -> list[Event]:
    """A club's facts with schemes of every kind.

    *first* draws the schemes that the pools begin with, *later* those that they change to; by default ``schemes``.
    """
    first, later = (schemes() if drawn is None else drawn for drawn in (first, later))
    adopted = [
        SchemeAdopted(pool=pool, scheme=name, settings=given)
        for pool, (name, given) in zip(POOLS, draw(st.tuples(first, first)), strict=True)
    ]
    count = draw(st.integers(0, 24))
    played: list[Event] = [draw(games(i)) for i in range(count)]
    others = [
        *played,
        *draw(changes()),
        *draw(pasts()),
        *draw(adoptions(later)),
        *draw(closings()),
        *draw(rounds_without_game()),
        *draw(guests()),
    ]
    return [*adopted, *draw(registrations()), *draw(st.permutations(others))]


def begun_in_standard(club: Sequence[Event]) -> list[Event]:
    """Return the same facts; but players begin in the second pool with their ratings in the first."""
    return [
        attrs.evolve(event, settings={**event.settings, "from_pool": POOLS[0]})
        if isinstance(event, SchemeAdopted) and event.pool == POOLS[1]
        else event
        for event in club
    ]


def is_first(event: Event) -> bool:
    """True for what the others presuppose."""
    return isinstance(event, PlayerRegistered) or (isinstance(event, SchemeAdopted) and event.effective_from is None)


@st.composite
def reordered(draw: st.DrawFn, club: Sequence[Event]) -> list[Event]:
    """The same facts in another order that the rules allow."""
    first = [event for event in club if is_first(event)]
    rest = [event for event in club if not is_first(event)]
    return first + draw(st.permutations(rest))


@st.composite
def slices(draw: st.DrawFn, events: Sequence[Event]) -> list[Sequence[Event]]:
    cuts = sorted({0, len(events), *draw(st.lists(st.integers(0, len(events)), max_size=5))})
    return [events[first:last] for first, last in pairwise(cuts)]


PROJECTORS = (WIN_STREAKS, CLIMBS, SCORES)


def opened(path: Path, projectors: Sequence[ReadModel] = PROJECTORS) -> Ledger:
    """A ledger with these read models, in the year after the last drawn game."""
    return takes_misfits(Ledger.open(path, projectors=projectors, clock=lambda: NOW))


@cache
def _empty() -> Mapping[str, bytes]:
    """The files of a new ledger, by name: what is drawn asks for thousands, and making one takes a twentieth of it."""
    with TemporaryDirectory() as folder:
        Ledger.create(Path(folder) / "club.db", pool="unused", clock=lambda: NOW).close()
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@contextmanager
def new_ledger(projectors: Sequence[ReadModel] = PROJECTORS) -> Iterator[Ledger]:
    """A ledger that keeps these read models; its first scheme is the club's own, so the file begins empty."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "club.db"
        for name, content in _empty().items():
            path.with_name(name).write_bytes(content)
        with opened(path, projectors) as ledger:
            yield ledger
