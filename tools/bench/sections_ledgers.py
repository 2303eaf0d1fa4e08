"""Sections of whole ledgers: import, builds of the views, audit, replay, export; and of answers out of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import orjson

from ledger.answers.crosstables.crosstable import crosstable as table_of
from ledger.answers.exports.exporting import export as export_history
from ledger.answers.graphs import json_form, pages, svg
from ledger.answers.graphs.looks import Look
from ledger.answers.rankings import RankingChoice, ranking_in_full
from ledger.audit.audit import audit as audited
from ledger.facts.instants import Precision, instant_end_ms, instant_text
from ledger.imports.files import open_source
from ledger.imports.pgn import games as pgn_games
from ledger.imports.players import formats
from ledger.imports.reading import Reading
from ledger.ledger import Ledger
from ledger.players.name_indexes import in_words
from ledger.players.people import Person
from ledger.players.sqlite_people import SqlitePeople
from ledger.ratings import queries
from ledger.ratings.view_tables import side_tables
from ledger.runtime.lazy import pl
from ledger.runtime.ledger_files import beside
from ledger.runtime.table_reader import ReadingProcess, TableScan

from . import ours
from .datasets import SAMPLE, GameSet, Run
from .measuring import FREE, Figure, Worked, both_lines, compared, cost_of, in_a_process, in_turns, installed, timed
from .rival_events import documented_figures
from .rival_ratings import python_chess
from .rival_stores import dict_loop_executemany, dict_loop_sqlite_utils, driver, rewrite_tables, sha256_each
from .table import Line, line

ROOMY = ("cache_size=-256000",)
PEAK_ALLOWED = 1.5  # GiB
MINUTE_MS = 60_000
TOURNAMENTS_AT_ONCE = 50
DAYS = 10  # of a tournament
SCHEMES: Mapping[str, dict[str, int | bool | str]] = {
    "fide": {"from_shown": True},  # its own settings for new pools: tournaments are rated whole
    "uschess": {},
    "glicko2": {"period_days": 7},
    "chessworld": {},
}
Works = dict[str, Callable[[], Worked]]


def _costs(works: Works, rounds: int) -> tuple[dict[str, list[Figure]], dict[str, list[float]]]:
    """Return the last costs and the peaks of works in processes of their own, by round, in turns."""
    measured = in_turns(works, rounds, warm=False)
    return (
        {name: [worked.costs[-1] for worked in each] for name, each in measured.items()},
        {name: [worked.peak for worked in each] for name, each in measured.items()},
    )


def imports(run: Run) -> Iterator[Line]:
    """From CSV to the journal, and to history, beside the simple scripts; then the growth with the number of games."""
    driver()  # loaded before anything is measured
    run.sets[0].ledger()  # so that no round compiles kernels for the first time
    growing: list[tuple[GameSet, list[float], list[float]]] = []
    for data in (run.real, *run.sets):

        def script(write: Callable[[Path, Path], None], data: GameSet = data) -> Callable[[], Worked]:
            cost = lambda folder: cost_of(partial(write, data.csv(), folder / "target.db"))  # noqa: E731
            return lambda: Worked([run.apart(cost)])

        works: Works = {"ours": data.import_again, "dict": script(dict_loop_executemany)}
        if data is not run.real:
            works["roomy"] = script(partial(dict_loop_executemany, pragmas=ROOMY))
            works["utils"] = script(dict_loop_sqlite_utils)
        measured = in_turns(works, run.rounds, warm=False)
        alone, history = ([worked.costs[part] for worked in measured["ours"]] for part in (0, 1))
        scripts = {name: [worked.costs[0] for worked in measured[name]] for name in works}
        yield from both_lines("csv-to-history", data.name, history, scripts["dict"], games=data.games)
        for name in list(works)[2:]:
            yield next(both_lines(f"csv-to-history-{name}", data.name, history, scripts[name]))
        yield from both_lines("import-alone", data.name, alone, scripts["dict"], games=data.games)
        import_cpu, script_cpu = ([cost.cpu / data.games for cost in costs] for costs in (alone, scripts["dict"]))
        growing.append((data, import_cpu, script_cpu))
    for (smaller, *before), (data, *after) in pairwise(growing[1:]):
        growth, loop = ([b / a for a, b in zip(*each, strict=True)] for each in zip(before, after, strict=True))
        where = f"{smaller.name} to {data.name}"
        yield line("import-growth", where, growth, loop, games=data.games)
        yield line("import-flat", where, growth, 1.0, games=data.games)


def players(run: Run) -> Iterator[Line]:
    """A list of players into a new ledger, beside bare ``executemany`` of the rows that it leaves."""
    folder, count = run.new_folder("players"), run.size.players
    listed, club = folder / "players.csv", folder / "club.db"
    with listed.open("w", encoding="utf-8") as file:
        file.write("identity,name,rating,games,rd,birth_year,standing,since\n")
        file.writelines(
            f'fide:{1_000_000 + i},"Family{i % 70_000}, Given{i % 9_000}",{1400 + i % 1400},{i % 300},{40 + i % 300},'
            f"{1940 + i % 75},,2024-01-01\n"
            for i in range(count)
        )

    def take() -> Figure:
        for file in folder.glob("*.db*"):
            file.unlink()
        with Ledger.create(club, scheme="fide") as ledger, open_source(str(listed)) as source:
            ledger.level()
            frames = formats.frames(source, "csv", "standard", None)
            return cost_of(partial(ledger.registry.take_list, frames, actor="bench"))

    def bare(made: Path) -> Figure:
        files = (club, beside(club, "people"))
        costs = [rewrite_tables(file, made / file.name, synchronous="FULL") for file in files]
        return costs[0].plus(costs[1])

    yield from compared("players", f"{count:,} players", take, partial(run.apart, bare), run.rounds, warm=False)


def build(run: Run) -> Iterator[Line]:
    """The first build of the views beside bare ``executemany`` of the rows that it wrote, and its peak memory."""
    smaller: tuple[str, list[float]] | None = None
    for data in run.sets:
        words = ("-without-player-indexes", "-history", "")[data is not run.sets[0] :]
        works: Works = {f"build{word}": partial(in_a_process, f"build{word}", data.ledger()) for word in words}
        costs, peaks = _costs({**works, "rewritten": partial(_rewritten, run, data.views)}, run.rounds)
        ours_of, peak = costs["build"], peaks["build"]
        yield from both_lines("first-build", data.name, ours_of, costs["rewritten"], games=data.games)
        if data is run.sets[0]:
            yield from both_lines("player-index", data.name, ours_of, costs["build-without-player-indexes"])
        yield from both_lines("read-models", data.name, ours_of, costs["build-history"], games=data.games)
        if all(peak):
            yield line("first-build-peak", data.name, peak, PEAK_ALLOWED, games=data.games)
            if smaller is not None:
                yield line("first-build-flat", f"{smaller[0]} to {data.name}", peak, smaller[1], games=data.games)
            smaller = data.name, peak


def _rewritten(run: Run, views: Path) -> Worked:
    return run.apart(lambda folder: Worked([rewrite_tables(views, folder / "target.db")]))


def early(run: Run) -> Iterator[Line]:
    """A late game that ended before all others, so that every game is rated again, beside the first build."""
    data = run.part

    def record() -> Worked:
        with closing(driver().connect(str(data.views))) as connection:
            ((first_ms,),) = connection.execute("SELECT min(rated_ms) FROM games WHERE reason IS NULL")
        return in_a_process("earliest", data.ledger(), first_ms - MINUTE_MS)

    costs, peaks = _costs({"built": partial(in_a_process, "build", data.ledger()), "again": record}, run.rounds)
    yield from both_lines("early", data.name, costs["again"], costs["built"])
    if all(peaks["built"] + peaks["again"]):
        yield line("early-peak", data.name, peaks["again"], peaks["built"])


def scheme_builds(run: Run) -> Iterator[Line]:
    """The first build under schemes that rate games in other ways than one by one, beside the rows that it wrote.

    The games are dealt out to tournaments of ten days that lie across the ends of months, with ratings beside the
    names, so that whole tournaments, sections, weeks and new players have something to be rated by.
    """
    folder = run.new_folder("schemes")
    day, player = pl.col("ended_at").str.slice(0, 10).str.to_date(), pl.col("white").str.slice(1).cast(pl.Int64)
    frame = pl.read_csv(run.part.csv()).with_columns(
        event=pl.format("Open {} of {}", player % TOURNAMENTS_AT_ONCE, day.to_physical() // DAYS),
        **{f"{side}_elo": 1400 + pl.col(side).str.slice(1).cast(pl.Int64) * 7919 % 900 for side in ("white", "black")},
    )
    frame.write_csv(folder / "tournaments.csv")
    for scheme, settings in SCHEMES.items():
        path = folder / f"{scheme}.db"
        with Ledger.create(path, scheme=scheme, settings=settings) as ledger:
            ours.take_csv(ledger, folder / "tournaments.csv")
        views = path.with_suffix(".views.db")
        works: Works = {"ours": partial(in_a_process, "build", path), "bare": partial(_rewritten, run, views)}
        costs, _ = _costs(works, run.rounds)
        what = f"first build under {scheme}"
        yield from both_lines("scheme-build", run.part.name, costs["ours"], costs["bare"], what=what)
    shutil.rmtree(folder)


def audit(run: Run) -> Iterator[Line]:
    """Entries/s of the audit of the journal alone, beside the digests that it cannot do without."""
    for data in run.sets:
        with Ledger.open(data.ledger(), read_only=True) as ledger:
            entries = ledger.journal.size()

        def whole(path: Path = data.path, entries: int = entries) -> Figure:
            return cost_of(lambda: _true(audited(path, journal_only=True).falsehoods)).rates(entries)

        def digests(path: Path = data.path, entries: int = entries) -> Figure:
            cost = FREE  # without the reading
            with Ledger.open(path, read_only=True) as ledger:
                for bodies in ledger.journal.read():
                    cost = cost.plus(cost_of(partial(sha256_each, bodies)))
            return cost.rates(entries)

        yield from compared("audit", data.name, whole, digests, run.rounds, games=data.games)


def _true(falsehoods: object) -> None:
    assert not falsehoods


def stored(run: Run) -> Iterator[Line]:
    """The stored journal replayed, beside an aggregate of events that its repository rebuilds."""
    if not installed("eventsourcing"):
        return
    rebuilt = partial(run.apart, lambda folder: documented_figures(run.size.events, folder)["replayed"])
    for data in run.sets:
        replay = partial(ours.replay_stored, data.ledger())
        yield from compared("stored", data.name, replay, rebuilt, run.rounds, games=data.games)


def export(run: Run) -> Iterator[Line]:
    """The export of the history to Parquet beside Arrow alone: ADBC's read of the table and the write of its columns.

    A second line divides by the write alone, of rows in memory; it only informs: SQLite gives rows one by one, which
    takes longer than writing them.
    """
    for data in run.sets:
        folder = run.new_folder(f"exported-{data.games}")
        with data.open() as ledger:
            ours_of = partial(export_history, ledger, ["history"], folder / "exported.parquet")
            ours_of()
            rows = pl.read_parquet(folder / "exported.parquet")
            works: dict[str, Callable[[], object]] = {
                "export": ours_of,
                "arrow": partial(_read_and_write, ledger.views.path, folder / "arrow.parquet"),
                "write": partial(rows.write_parquet, folder / "written.parquet", compression="zstd"),
            }
            costs = timed(works, run.rounds, warm=False)
        yield from both_lines("export", data.name, costs["export"], costs["arrow"])
        yield from both_lines("export-write", data.name, costs["export"], costs["write"])


def _read_and_write(views: Path, path: Path) -> None:
    """Read the whole table as Arrow columns, in a process of its own, and write them."""
    (table,) = side_tables((), ())
    columns = {name: (f'"{name}"', kind.split()[0]) for name, kind in table.columns}
    with closing(ReadingProcess(views)) as reader:
        for rows in reader.frames(TableScan(columns=columns, source=table.name, key=("pool", "player", "n")), 2**62):
            rows.write_parquet(path, compression="zstd")


# Answers.

PGN = "lichess_small.pgn"
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
            ranked = partial(ranking_in_full, ledger, RankingChoice(at=at, limit=20))
            yield from _timed("ranking", data.name, ranked, bare, run)


def _timed(name: str, where: str, own: Callable[[], object], bare: Callable[[], object], run: Run) -> Iterator[Line]:
    yield from compared(name, where, partial(cost_of, own), partial(cost_of, bare), run.short)


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

        def tables() -> None:
            for (name,) in tournaments:
                orjson.dumps(attrs.asdict(table_of(ledger, name)))

        yield from _timed("crosstable", run.real.name, tables, bare, run)


def graph(run: Run) -> Iterator[Line]:
    """Pages of the players with most games: as JSON beside the bare statement and encoder, as SVG beside the JSON."""
    for data in (run.real, *run.sets):
        with data.open() as ledger:
            numbers = [number for (number,) in ledger.views.connection.execute(MOST, (GAMES, PLAYERS))]
            people = list(ledger.people.by_number(numbers).values())
            if not people:
                continue  # a set without anybody who played so much
            works = {
                "bare": lambda ledger=ledger, people=people: [_bare_page(ledger, person) for person in people],
                "json": lambda ledger=ledger, people=people: [_json_page(ledger, person) for person in people],
                "svg": lambda ledger=ledger, people=people: [_svg_page(ledger, person) for person in people],
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

    path = run.data / PGN if (run.data / PGN).exists() else SAMPLE

    def read() -> int:
        with path.open("rb") as file:
            return sum(1 for _ in pgn_games.games(file, Reading(path.name)))

    count = read()
    rates = [(count / cost_of(read).clock, python_chess(path, run.size.live)) for _ in range(run.rounds)]
    yield line("pgn", "", *zip(*rates, strict=True))
