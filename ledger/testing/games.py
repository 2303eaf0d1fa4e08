"""A small club that plays: the same facts every time, with everything in them that makes ratings hard to get right.

Several games on one day without times, rounds that sort as numbers, short games, losses on time, draws, unplayed
and casual games, a guest, a Welcomer, declared ratings, changes of standing. Nothing is rated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from ledger.facts import codec
from ledger.facts.events import Event, GameRecorded, PlayerChanged, PlayerRegistered, SchemeAdopted
from ledger.facts.words import Outcome, Standing, Termination
from ledger.journal import Journal
from ledger.ratings.views import Views

RECORDED_AT = "2022-01-01T00:00:00.000Z"
_ROUNDS = (None, "1", "2", "2.1", "2.2", "10", "Final")
_OUTCOMES = (Outcome.WHITE,) * 9 + (Outcome.BLACK,) * 7 + (Outcome.DRAW,) * 5 + (Outcome.NONE,)
_TERMINATIONS = (
    *(Termination.CHECKMATE,) * 5,
    *(Termination.RESIGNATION,) * 6,
    *(Termination.TIME,) * 5,
    Termination.AGREEMENT,
    Termination.ABANDONMENT,
    Termination.UNPLAYED,
    Termination.UNKNOWN,
)
_HALF_MOVES = (None, 0, 9, 10, 11, 40, 61, 120, 300)
_DAYS = 28


def club(
    games: int = 300,
    players: int = 8,
    *,
    seed: int = 1,
    pool: str = "standard",
    scheme: str = "chessworld",
    settings: Mapping[str, int | bool | str] | None = None,
    changes: bool = True,
) -> list[Event]:
    """The facts of one club in the order in which they happened: the scheme, the players, then the games.

    Args:
        games: how many games.
        players: how many players, at least 6; with the defaults each plays some 75 games.
        seed: another club for another number.
        pool: the pool of all games.
        scheme: what rates it.
        settings: settings of the scheme that differ from its defaults.
        changes: whether standings and declared ratings change between the games.
    """
    random = Random(seed)  # noqa: S311  # the same club every time; secures nothing
    events: list[Event] = [SchemeAdopted(pool=pool, scheme=scheme, settings=dict(settings or {}))]
    events += [_player(number) for number in range(1, players + 1)]
    changing = {games // 3, games // 2, 2 * games // 3} if changes else set()
    for i in range(games):
        month, day_of_month = divmod(i * _DAYS * 12 // games, _DAYS)
        day = f"2021-{month + 1:02}-{day_of_month + 1:02}"
        if i in changing:
            change = PlayerChanged(
                player=random.randint(1, players),
                effective_at=day,
                standing=random.choice(list(Standing)),
                declared_rating=random.choice((None, 1000, 1900)),
            )
            events.append(change)
        events.append(_game(random, i, players, pool, day))
    return events


def games_of(events: Iterable[Event]) -> list[GameRecorded]:
    """Only the games."""
    return [event for event in events if isinstance(event, GameRecorded)]


def shuffled(events: Sequence[Event], seed: int) -> list[Event]:
    """The same facts in another order that the rules allow: the scheme and the players first, the rest anyhow."""
    first = [event for event in events if isinstance(event, SchemeAdopted | PlayerRegistered)]
    rest = [event for event in events if not isinstance(event, SchemeAdopted | PlayerRegistered)]
    Random(seed).shuffle(rest)  # noqa: S311
    return first + rest


def record(journal: Journal, events: Iterable[Event], *, recorded_at: str = RECORDED_AT, actor: str = "club") -> None:
    """Append facts in one transaction, without asking the rules."""
    with journal.writing() as writer:
        facts = list(events)
        bodies = [
            codec.body_of(position, recorded_at, actor, e) for position, e in enumerate(facts, start=writer.size + 1)
        ]
        writer.append([e.KIND for e in facts], [e.key for e in facts], bodies)


def _player(number: int) -> PlayerRegistered:
    standings = {2: Standing.GUEST, 3: Standing.WELCOMER}
    return PlayerRegistered(
        player=number,
        joined_at=f"20{number % 20:02}",
        standing=standings.get(number, Standing.FULL),
        declared_rating={4: 2250, 5: 0}.get(number),
        birth_year=1900 + number,
        commitment=f"{number:064x}",
    )


def _game(random: Random, number: int, players: int, pool: str, day: str) -> GameRecorded:
    white, black = random.sample(range(1, players + 1), 2)
    hour = random.randint(0, 23)
    ended = random.choice((day, day, f"{day}T{hour:02}:00:00Z", f"{day}T{hour:02}:00:00.250Z", day[:7]))
    return GameRecorded(
        game=f"{random.getrandbits(24):06x}-{number}",  # keys in no order: they break the last ties
        pool=pool,
        white=white,
        black=black,
        outcome=random.choice(_OUTCOMES),
        termination=random.choice(_TERMINATIONS),
        half_moves=random.choice(_HALF_MOVES),
        ended_at=ended,
        tournament=random.choice((None, "club:autumn", "Café Kök")),
        round=random.choice(_ROUNDS),
        rated=random.random() < 0.95,
        white_rating=random.choice((None, 1500)),
    )


# How a backlog is forced to be met: a constant of ``ratings.views`` and its value.
WAYS = (("FEW_ENTRIES", 2_000), ("FEW_ENTRIES", 0), ("BUILD_FROM", 60))


def fresh(folder: Path) -> Path:
    """The place of views in a new folder."""
    folder.mkdir()
    return folder / "club.views.db"


def take(updated: Views, slices: Sequence[Sequence[Event]]) -> None:
    """Record each slice and catch up after it."""
    for facts in slices:
        record(updated.journal, facts)
        assert updated.catch_up() == updated.journal.size()


def slicings(facts: Sequence[Event], seeds: Sequence[int]) -> Iterator[tuple[int, list[Sequence[Event]]]]:
    """By seed, the facts cut at random places."""
    for seed in seeds:
        random = Random(seed)  # noqa: S311
        cuts = sorted({0, len(facts), *(random.randrange(len(facts)) for _ in range(8))})
        yield seed, [facts[first:last] for first, last in pairwise(cuts)]
