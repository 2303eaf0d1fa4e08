"""Questions about many players: a ranking at any instant, a search by a part of the name, each beside its bare SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ledger.answers.rankings import RankingChoice, ranking_in_full
from ledger.facts.instants import Precision, instant_end_ms, instant_text
from ledger.ledger import Ledger
from ledger.players.name_indexes import in_words
from ledger.players.sqlite_people import SqlitePeople
from ledger.ratings import queries

from .datasets import GameSet
from .measuring import SecondsTaken, both_lines, cost_of, in_turns
from .table import Line

TIMES = 50  # a search is short
PARTS = ("family4321", "given777", "mily123", "family12 given3")
_BARE_SEARCH = (
    "SELECT p.player, p.identity, p.name FROM people_search AS s JOIN people AS p ON p.player = s.rowid "
    "WHERE s.words MATCH ?"
)


def ranking_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """The ranking in the middle of the years of each set, the best twenty with all that is told of them."""
    for data in sets:
        with Ledger.open(data.ledger()) as ledger:
            ledger.level()
            query = "SELECT ended_ms FROM games WHERE position = (SELECT max(position) / 2 FROM games)"
            ((middle,),) = ledger.views.connection.execute(query)
            at = instant_text(middle, Precision.DAY)
            measured = _measured(
                {
                    "bare": lambda ledger=ledger, at=at: _last_rows(ledger, at),  # type: ignore[misc]
                    "ours": lambda ledger=ledger, at=at: ranking_in_full(ledger, RankingChoice(at=at, limit=20)),  # type: ignore[misc]
                },
                rounds,
            )
        yield from both_lines("ranking", data.name, measured["ours"], measured["bare"])


def _last_rows(ledger: Ledger, at: str) -> int:
    arguments = (ledger.pool().pool, instant_end_ms(at))
    return len(ledger.views.connection.execute(queries.ROWS_AT, arguments).fetchall())


def search_lines(folder: Path, rounds: int, players: int) -> Iterator[Line]:
    """Parts of made-up names among so many, by the index."""
    people = SqlitePeople.create(folder / "club.people.db")
    for first in range(0, players, 100_000):
        block = range(first, min(first + 100_000, players))
        people.number({f"id:{i}": f"Family{i % 70_000}, Given{i % 9_000}" for i in block}, "2024")
    people.search.find(PARTS[0])  # makes the index
    measured = _measured({"bare": partial(_bare_searches, people), "ours": partial(_searches, people)}, rounds)
    yield from both_lines("search", f"{players:,} names", measured["ours"], measured["bare"])
    people.close()


def _searches(people: SqlitePeople) -> None:
    for part in PARTS * TIMES:
        people.search.find(part)


def _bare_searches(people: SqlitePeople) -> None:
    for part in PARTS * TIMES:
        asked = " AND ".join(f'"{word}"' for word in in_words(part).split())
        people._connection.execute(_BARE_SEARCH, (asked,)).fetchall()


def _measured(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[SecondsTaken]]:
    """What each cost by round, in turns, after a first one that warms up."""
    timed = {name: partial(cost_of, work) for name, work in works.items()}
    in_turns(timed, 1)
    return in_turns(timed, max(rounds, 5))
