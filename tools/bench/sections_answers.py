"""Sections of answers: rankings, searches, cross-tables and rating graphs; and the reading of PGN."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import attrs
import orjson

from ledger.answers.crosstables.crosstable import crosstable as table_of
from ledger.answers.graphs import json_form, pages, svg
from ledger.answers.graphs.looks import Look
from ledger.answers.rankings import RankingChoice, ranking_in_full
from ledger.facts.instants import Precision, instant_end_ms, instant_text
from ledger.imports.pgn import games as pgn_games
from ledger.imports.reading import Reading
from ledger.ledger import Ledger
from ledger.players.name_indexes import in_words
from ledger.players.people import Person
from ledger.players.sqlite_people import SqlitePeople
from ledger.ratings import queries

from .datasets import Run
from .measuring import both_lines, compared, cost_of, in_turns, installed, timed
from .rival_ratings import python_chess
from .table import Line, line

TIMES = 50  # a search is short
PARTS = ("family4321", "given777", "mily123", "family12 given3")
BARE_SEARCH = (
    "SELECT p.player, p.identity, p.name FROM people_search AS s JOIN people AS p ON p.player = s.rowid "
    "WHERE s.words MATCH ?"
)
# The tournaments of twelve to sixteen players with most games: all-play-alls, mostly.
LARGEST = """
SELECT tournament FROM games WHERE pool = 1 AND tournament IS NOT NULL AND reason IS NULL GROUP BY tournament
HAVING count(DISTINCT white) BETWEEN 12 AND 16 AND count(*) < 200 ORDER BY count(*) DESC, tournament LIMIT 3
"""
# Each game of a tournament with the ratings of both sides, by the shortest way that SQL has.
BARE_TABLE = """
SELECT games.key, games.ended_at, games.round, games.white, games.black, games.half_points, own.rating_before,
  own.rating, theirs.rating_before, theirs.rating
FROM games
CROSS JOIN history AS own ON own.pool = games.pool AND own.player = games.white AND own.game = games.position
CROSS JOIN history AS theirs ON theirs.pool = own.pool AND theirs.player = own.opponent AND theirs.n = own.opponent_n
WHERE games.pool = 1 AND games.tournament = ?
"""
GAMES = 100  # on a page of a graph
PLAYERS = 40  # of whom each round asks, so that no page is the one before
# What JSON of a page shows, by the shortest way that SQL has.
BARE_PAGE = """
SELECT mine.n, games.key, games.ended_at, mine.ended_ms, mine.colour, mine.half_points, games.time_loss,
  games.termination, games.tournament, mine.rating, games.rated_ms, mine.opponent, theirs.rating AS opponent_rating,
  now.rating AS opponent_rating_now
FROM history AS mine JOIN games ON games.position = mine.game
JOIN history AS theirs ON theirs.pool = mine.pool AND theirs.player = mine.opponent AND theirs.n = mine.opponent_n
JOIN current AS now ON now.pool = mine.pool AND now.player = mine.opponent
WHERE mine.pool = 1 AND mine.player = ? ORDER BY mine.n DESC LIMIT ?
"""
MOST = "SELECT player FROM current WHERE pool = 1 AND n >= ? ORDER BY n DESC, player LIMIT ?"


def ranking(run: Run) -> Iterator[Line]:
    """The ranking in the middle of the years, the best twenty with all that is told of them."""
    query = "SELECT ended_ms FROM games WHERE position = (SELECT max(position) / 2 FROM games)"
    for data in (run.real, *run.sets):
        with data.open() as ledger:
            rows = ledger.views.connection
            at = instant_text(rows.execute(query).fetchone()[0], Precision.DAY)
            arguments = ledger.pool().pool, instant_end_ms(at)
            bare = partial(_all_rows, rows, queries.ROWS_AT, [arguments])
            ours = partial(ranking_in_full, ledger, RankingChoice(at=at, limit=20))
            yield from _timed("ranking", data.name, ours, bare, run)


def _timed(name: str, where: str, ours: Callable[[], object], bare: Callable[[], object], run: Run) -> Iterator[Line]:
    yield from compared(name, where, partial(cost_of, ours), partial(cost_of, bare), run.short)


def _all_rows(connection: Any, statement: str, arguments: Iterable[tuple[Any, ...]]) -> list[bytes]:
    return [connection.execute(statement, each).fetchall() for each in arguments]


def search(run: Run) -> Iterator[Line]:
    """Parts of made-up names, by the index."""
    people, count = SqlitePeople.create(run.new_folder("search") / "club.people.db"), run.size.players
    for first in range(0, count, 100_000):
        block = range(first, min(first + 100_000, count))
        people.number({f"id:{i}": f"Family{i % 70_000}, Given{i % 9_000}" for i in block}, "2024")
    people.search.find(PARTS[0])  # makes the index
    words = [" AND ".join(f'"{word}"' for word in in_words(part).split()) for part in PARTS]
    bare = partial(_all_rows, people._connection, BARE_SEARCH, [(each,) for each in words * TIMES])
    yield from _timed("search", f"{count:,} names", lambda: list(map(people.search.find, PARTS * TIMES)), bare, run)
    people.close()


def crosstable(run: Run) -> Iterator[Line]:
    """Tables of large all-play-alls as JSON, beside the bare statement for their rows."""
    with run.real.open() as ledger:
        rows = ledger.views.connection
        tournaments = rows.execute(LARGEST).fetchall()

        def bare() -> None:
            list(map(orjson.dumps, _all_rows(rows, BARE_TABLE, tournaments)))

        def ours() -> None:
            for (name,) in tournaments:
                orjson.dumps(attrs.asdict(table_of(ledger, name)))

        yield from _timed("crosstable", run.real.name, ours, bare, run)


def graph(run: Run) -> Iterator[Line]:
    """Pages of the players with most games: as JSON beside the bare statement and encoder, as SVG beside the JSON."""
    for data in (run.real, *run.sets):
        with data.open() as ledger:
            numbers = [number for (number,) in ledger.views.connection.execute(MOST, (GAMES, PLAYERS))]
            people = list(ledger.people.by_number(numbers).values())
            if not people:
                continue  # a set without anybody who played so much
            works = {
                "bare": lambda ledger=ledger, people=people: [_bare_page(ledger, person) for person in people],  # type: ignore[misc]
                "json": lambda ledger=ledger, people=people: [_json_page(ledger, person) for person in people],  # type: ignore[misc]
                "svg": lambda ledger=ledger, people=people: [_svg_page(ledger, person) for person in people],  # type: ignore[misc]
            }
            costs = timed(works, run.short)
        yield from both_lines("graph-json", data.name, costs["json"], costs["bare"])
        yield from both_lines("graph-svg", data.name, costs["svg"], costs["json"])


def _bare_page(ledger: Ledger, person: Person) -> bytes:
    cursor = ledger.views.connection.execute(BARE_PAGE, (person.player, GAMES))
    columns = [column[0] for column in cursor.description]
    rows = [dict(zip(columns, row, strict=True)) for row in cursor]
    called = {known.player: known.name for known in ledger.people.by_number({row["opponent"] for row in rows}).values()}
    for row in rows:
        row["opponent"] = called[row["opponent"]]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2)


def _json_page(ledger: Ledger, person: Person) -> bytes:
    return json_form.as_json(pages.page(ledger, person, last=GAMES))


def _svg_page(ledger: Ledger, person: Person) -> bytes:
    return svg.draw(pages.page(ledger, person, last=GAMES), Look(opponents=True)).encode()


def pgn(run: Run) -> Iterator[Line]:
    """Games/s from a PGN with clocks to source games, beside python-chess's games."""
    if not installed("chess"):
        return

    def read() -> int:
        with run.pgn.open("rb") as file:
            return sum(1 for _ in pgn_games.games(file, Reading(run.pgn.name)))

    count = read()
    works = {"ours": lambda: count / cost_of(read).clock, "theirs": partial(python_chess, run.pgn, run.size.live)}
    rates = in_turns(works, run.rounds, warm=False)
    yield line("pgn", "", rates["ours"], rates["theirs"])
