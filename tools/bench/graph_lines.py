"""A page of a rating graph as JSON beside the bare statement and encoder, and as SVG beside the JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import orjson

from ledger.answers.graphs import json_form, pages, svg
from ledger.answers.graphs.looks import Look
from ledger.ledger import Ledger
from ledger.players.people import Person

from .datasets import GameSet
from .measuring import SecondsTaken, both_lines, cost_of, in_turns
from .table import Line

GAMES = 100  # on a page
PLAYERS = 40  # of whom each round asks, so that no page is the one before
# What JSON of a page shows, by the shortest way that SQL has.
_BARE = """
SELECT mine.n, games.key, games.ended_at, mine.ended_ms, mine.colour, mine.half_points, games.time_loss,
  games.termination, games.tournament, mine.rating, games.rated_ms, mine.opponent, theirs.rating AS opponent_rating,
  now.rating AS opponent_rating_now
FROM history AS mine JOIN games ON games.position = mine.game
JOIN history AS theirs ON theirs.pool = mine.pool AND theirs.player = mine.opponent AND theirs.n = mine.opponent_n
JOIN current AS now ON now.pool = mine.pool AND now.player = mine.opponent
WHERE mine.pool = 1 AND mine.player = ? ORDER BY mine.n DESC LIMIT ?
"""
_MOST = "SELECT player FROM current WHERE pool = 1 AND n >= ? ORDER BY n DESC, player LIMIT ?"


def graph_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """Pages of the players with most games of each set."""
    for data in sets:
        with Ledger.open(data.ledger()) as ledger:
            ledger.level()
            numbers = [number for (number,) in ledger.views.connection.execute(_MOST, (GAMES, PLAYERS))]
            people = ledger.people.by_number(numbers)
            if not people:
                continue
            works: Mapping[str, Callable[[], SecondsTaken]] = {
                name: partial(cost_of, partial(_each, work, ledger, list(people.values())))
                for name, work in (("bare", _bare), ("json", _json), ("svg", _svg))
            }
            in_turns(works, 1)  # to warm up
            measured = in_turns(works, max(rounds, 5))
        yield from both_lines("graph-json", data.name, measured["json"], measured["bare"])
        yield from both_lines("graph-svg", data.name, measured["svg"], measured["json"])


def _each(work: Callable[[Ledger, Person], object], ledger: Ledger, people: Sequence[Person]) -> None:
    for person in people:
        work(ledger, person)


def _bare(ledger: Ledger, person: Person) -> bytes:
    cursor = ledger.views.connection.execute(_BARE, (person.player, GAMES))
    columns = [column[0] for column in cursor.description]
    rows = [dict(zip(columns, row, strict=True)) for row in cursor]
    called = {known.player: known.name for known in ledger.people.by_number({row["opponent"] for row in rows}).values()}
    for row in rows:
        row["opponent"] = called[row["opponent"]]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2)


def _json(ledger: Ledger, person: Person) -> bytes:
    return json_form.as_json(pages.page(ledger, person, last=GAMES))


def _svg(ledger: Ledger, person: Person) -> bytes:
    return svg.draw(pages.page(ledger, person, last=GAMES), Look(opponents=True)).encode()
