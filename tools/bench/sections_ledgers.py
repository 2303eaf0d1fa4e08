"""Sections of whole ledgers: import, builds of the views, audit, replay, export; and of answers out of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import attrs
import orjson

from ledger.answers.crosstables.crosstable import crosstable as table_of
from ledger.answers.exports.exporting import export as export_history
from ledger.answers.graphs import json_form, page_reader, svg
from ledger.answers.graphs.career import career
from ledger.answers.graphs.looks import Look
from ledger.answers.rankings import RankingChoice
from ledger.answers.rankings import ranking as ranking_of
from ledger.audit.audit import audit as audited
from ledger.facts.instants import Precision, instant_end_ms, instant_text
from ledger.imports.files import open_source
from ledger.imports.pgn import games as pgn_games
from ledger.imports.players import formats
from ledger.imports.reading import Reading
from ledger.ledger import Ledger
from ledger.players.name_indexes import searchable_words
from ledger.players.persons import Person
from ledger.players.sqlite_people import SqlitePeople
from ledger.ratings import queries
from ledger.ratings.view_tables import side_tables
from ledger.runtime.lazy import pl
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.table_reader import ReadingProcess, TableScan

from . import ours
from .datasets import SAMPLE, WORKS, GameSet, Run, write_pgn, write_tournaments
from .measuring import (
    COMMAND,
    FREE,
    Figure,
    Worked,
    both_lines,
    compared,
    cost_of,
    in_a_process,
    in_turns,
    installed,
    timed,
    watched,
)
from .rival_events import documented_figures
from .rival_ratings import python_chess
from .rival_stores import dict_loop_executemany, dict_loop_sqlite_utils, driver, rewrite_tables, sha256_each
from .table import Line, line

PEAK_ALLOWED = 1.5  # GiB
FEDERATION = 40_000  # players of a federation's list
MINUTE_MS = 60_000
Works = dict[str, Callable[[], Worked]]


def _costs(works: Works, rounds: int) -> tuple[dict[str, list[Figure]], dict[str, list[float]]]:
    """Return the last costs and the peaks of works in processes of their own, by round, in turns."""
    measured = in_turns(works, rounds, warm=False)
    costs = {name: [worked.costs[-1] for worked in each] for name, each in measured.items()}
    return costs, {name: [worked.peak for worked in each] for name, each in measured.items()}


def imports(run: Run) -> Iterator[Line]:
    """Measure CSV to journal and to history, against the simple scripts; then the growth with the number of games."""
    driver()  # loaded before anything is measured
    run.sets[0].ledger()  # so that no round compiles kernels for the first time
    growing: list[tuple[GameSet, list[float], list[float]]] = []
    scripts: dict[str, Callable[[Path, Path], None]] = {
        "dict": dict_loop_executemany,
        "roomy": partial(dict_loop_executemany, pragmas=["cache_size=-256000"]),
        "utils": dict_loop_sqlite_utils,
    }
    for data in (run.real, *run.sets):
        names = ["dict"] if data is run.real else list(scripts)
        works: Works = {"ours": data.import_again}
        works |= {name: partial(run.apart, partial(_written, scripts[name], data.csv())) for name in names}
        measured = in_turns(works, run.rounds, warm=False)
        alone, history = ([worked.costs[part] for worked in measured["ours"]] for part in (0, 1))
        costs = {name: [worked.costs[0] for worked in measured[name]] for name in names}
        yield from both_lines("csv-to-history", data.name, history, costs["dict"], games=data.games)
        for name in names[1:]:
            yield next(both_lines(f"csv-to-history-{name}", data.name, history, costs[name]))
        yield from both_lines("import-alone", data.name, alone, costs["dict"], games=data.games)
        import_cpu, script_cpu = ([cost.cpu / data.games for cost in each] for each in (alone, costs["dict"]))
        growing.append((data, import_cpu, script_cpu))
    for (smaller, *before), (data, *after) in pairwise(growing[1:]):
        growth, loop = ([b / a for a, b in zip(*each, strict=True)] for each in zip(before, after, strict=True))
        where = f"{smaller.name} to {data.name}"
        yield line("import-growth", where, growth, loop, games=data.games)
        yield line("import-flat", where, growth, 1.0, games=data.games)


def _written(script: Callable[[Path, Path], None], csv: Path, folder: Path) -> Worked:
    return Worked([cost_of(partial(script, csv, folder / "target.db"))])


def players(run: Run) -> Iterator[Line]:
    """Import a list of players into a new ledger, compared with bare ``executemany`` of the rows that it leaves."""
    folder, count = run.new_folder("players"), run.size.players
    listed, club = folder / "players.csv", folder / "club.db"
    rows = (
        f'fide:{1_000_000 + i},"Family{i % 70_000}, Given{i % 9_000}",{1400 + i % 1400},{i % 300},{40 + i % 300},'
        f"{1940 + i % 75},,2024-01-01\n"
        for i in range(count)
    )
    listed.write_text("identity,name,rating,games,rd,birth_year,standing,since\n" + "".join(rows))

    def take() -> Figure:
        for file in folder.glob("*.db*"):
            file.unlink()
        with Ledger.create(club, scheme="fide") as ledger, open_source(str(listed)) as source:
            ledger.ensure_up_to_date()
            frames = formats.read_players(source, "csv", "standard", None)
            return cost_of(partial(ledger.registry.take_list, frames, actor="bench"))

    def bare(made: Path) -> Figure:
        files = (club, sidecar(club, "people"))
        costs = [rewrite_tables(file, made / file.name, synchronous="FULL") for file in files]
        return costs[0].plus(costs[1])

    yield from compared("players", f"{count:,} players", take, partial(run.apart, bare), run.rounds, warm=False)
    yield from _described_players(run, min(count, FEDERATION))


def _described_players(run: Run, count: int) -> Iterator[Line]:
    """Import a federation's list with all data by the command, and rank a club of it; beside ratings alone."""
    folder = run.new_folder("described-players")
    head = "fide_id,name,rating,games,birth_year"
    lists = {"ratings": [head], "all": [f"{head},sex,title,federation,club,national,active"]}
    for i in range(count):
        row = f"{1_000_000 + i},Family{i} Given{i % 900},{1400 + i % 1000},{i % 300},{1930 + i % 85}"
        data = (
            f"-{1 + i % 12:02}-{1 + i % 28:02},{'mw'[i % 2]},{('', 'FM', 'IM', 'GM')[i % 4]},"
            f"{('NOR', 'SWE', 'DEN')[i % 3]},Club {i % 300},N{i},{('yes', 'no')[i % 2]}"
        )
        lists["ratings"].append(row)
        lists["all"].append(row + data)
    for name, lines in lists.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")

    def take(name: str) -> Figure:
        for file in folder.glob(f"{name}.*db*"):
            file.unlink()
        Ledger.create(folder / f"{name}.db", scheme="fide").close()
        words = ("players", "import", str(folder / f"{name}.db"), str(folder / f"{name}.csv"), "--since", "2024-01-01")
        return cost_of(partial(watched, [*COMMAND, *words]))

    works = {name: partial(take, name) for name in lists}
    costs = in_turns(works, max(3, run.rounds), warm=False)
    yield from both_lines("players-described", f"{count:,} players", costs["all"], costs["ratings"])
    ranked = [*COMMAND, "ratings", str(folder / "all.db"), "--min-games", "0", "--limit", "20"]
    own, other = (partial(cost_of, partial(watched, words)) for words in ([*ranked, "--club", "Club 7"], ranked))
    yield from compared("list-of-a-club", f"{count:,} players", own, other, max(3, run.rounds))


def build(run: Run) -> Iterator[Line]:
    """Build the views for the first time, against bare ``executemany`` of the rows; peak memory; a late read model."""
    smaller: tuple[str, list[float]] | None = None
    for data in run.sets:
        words = ("-without-player-indexes", "-history", "")[data is not run.sets[0] :]
        works: Works = {f"build{word}": partial(in_a_process, f"build{word}", data.ledger()) for word in words}
        works |= {
            "rewritten": partial(_rewritten, run, data.views),
            "late": partial(in_a_process, "read-model", data.ledger()),
        }
        costs, peaks = _costs(works, run.rounds)
        yield from both_lines("late-read-model", data.name, costs["late"], costs["build"], games=data.games)
        rivals = {
            "first-build": "rewritten",
            "player-index": "build-without-player-indexes",
            "read-models": "build-history",
        }
        for name in [name for name, rival in rivals.items() if rival in costs]:
            yield from both_lines(name, data.name, costs["build"], costs[rivals[name]], games=data.games)
        if all(peak := peaks["build"]):
            yield line("first-build-peak", data.name, peak, PEAK_ALLOWED, games=data.games)
            if smaller is not None:
                yield line("first-build-flat", f"{smaller[0]} to {data.name}", peak, smaller[1], games=data.games)
            smaller = data.name, peak


def _rewritten(run: Run, views: Path) -> Worked:
    return run.apart(lambda folder: Worked([rewrite_tables(views, folder / "target.db")]))


def early(run: Run) -> Iterator[Line]:
    """Record a late game that ended before all others: every game is rated again. Compare with the first build."""
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
    """Build the views under schemes that rate games in other ways than one by one, compared with the rows written.

    The games are generated tournaments, with ratings by the names, so that whole tournaments, sections, weeks and new
    players have something to be rated by.
    """
    folder = run.new_folder("schemes")
    write_tournaments(csv := folder / "tournaments.csv.gz", run.size.part)
    for scheme, settings in WORKS["builds"].items():
        path = folder / f"{scheme}.db"
        with Ledger.create(path, scheme=scheme, settings=settings) as ledger:
            ours.take_csv(ledger, csv)
        views = path.with_suffix(".views.db")
        works: Works = {"ours": partial(in_a_process, "build", path), "bare": partial(_rewritten, run, views)}
        costs, _ = _costs(works, run.rounds)
        what = f"first build under {scheme}"
        yield from both_lines("scheme-build", run.part.name, costs["ours"], costs["bare"], what=what)
    shutil.rmtree(folder)


def audit(run: Run) -> Iterator[Line]:
    """Measure entries/s of the audit of the journal alone, compared with the digests that it needs."""
    for data in run.sets:
        with Ledger.open(data.ledger(), read_only=True) as ledger:
            whole = partial(_audited, data.path, ledger.journal.size())
            digests = partial(_digested, ledger)
            yield from compared("audit", data.name, whole, digests, run.rounds, games=data.games)


def _audited(path: Path, entries: int) -> Figure:
    falsehoods: list[object] = []
    cost = cost_of(lambda: falsehoods.extend(audited(path, journal_only=True).falsehoods))
    assert not falsehoods
    return cost.rates(entries)


def _digested(ledger: Ledger) -> Figure:
    cost = FREE  # without the reading
    for bodies in ledger.journal.read():
        cost = cost.plus(cost_of(partial(sha256_each, bodies)))
    return cost.rates(ledger.journal.size())


def stored(run: Run) -> Iterator[Line]:
    """Replay the stored journal, compared with an aggregate of events that its repository rebuilds."""
    if not installed("eventsourcing"):
        return
    rebuilt = partial(run.apart, lambda folder: documented_figures(run.size.events, folder)["replayed"])
    for data in run.sets:
        replay = partial(ours.replay_stored, data.ledger())
        yield from compared("stored", data.name, replay, rebuilt, run.rounds, games=data.games)


def export(run: Run) -> Iterator[Line]:
    """Export the history to Parquet, compared with Arrow alone: ADBC's read of the table and the write of its columns.

    A second line divides by the write alone, of rows in memory; it only informs: SQLite gives rows one by one, which
    takes longer than writing them.
    """
    for data in run.sets:
        folder = run.new_folder(f"exported-{data.games}")
        with data.open() as ledger:
            exported, views = folder / "exported.parquet", ledger.views.path
            export_history(ledger, ["history"], exported)
            works: dict[str, Callable[[], object]] = {
                "ours": partial(export_history, ledger, ["history"], exported),
                "export": partial(_read_and_write, views, folder / "arrow.parquet"),
                "export-write": partial(
                    pl.read_parquet(exported).write_parquet, folder / "written.parquet", compression="zstd"
                ),
            }
            costs = timed(works, run.rounds)
        for name in ("export", "export-write"):
            yield from both_lines(name, data.name, costs["ours"], costs[name], games=data.games)


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
GAMES = 100  # on a page of a graph
PLAYERS = 40  # of whom each round asks, so that no page is the one before


def ranking(run: Run) -> Iterator[Line]:
    """Yield the ranking in the middle of the years, the best twenty with all columns."""
    query = "SELECT ended_ms FROM games WHERE position = (SELECT max(position) / 2 FROM games)"
    for data in (run.real, *run.sets):
        with data.open() as ledger:
            rows = ledger.views.connection
            at = instant_text(rows.execute(query).fetchone()[0], Precision.DAY)
            bare = partial(_all_rows, rows, queries.ROWS_AT, [(ledger.pool().pool, instant_end_ms(at))])
            ranked = partial(ranking_of, ledger, RankingChoice(at=at, limit=20))
            yield from _timed("ranking", data.name, ranked, bare, run)


def _timed(name: str, where: str, own: Callable[[], object], bare: Callable[[], object], run: Run) -> Iterator[Line]:
    yield from compared(name, where, partial(cost_of, own), partial(cost_of, bare), run.short)


def _all_rows(connection: Any, statement: str, arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
    return [connection.execute(statement, each).fetchall() for each in arguments]


def search(run: Run) -> Iterator[Line]:
    """Parts of made-up names, by the index."""
    people, count = SqlitePeople.create(run.new_folder("search") / "club.people.db"), run.size.players
    for first in range(0, count, 100_000):
        block = range(first, min(first + 100_000, count))
        people.assign_numbers({f"id:{i}": f"Family{i % 70_000}, Given{i % 9_000}" for i in block}, "2024")
    people.search.find(PARTS[0])  # makes the index
    words = [" AND ".join(f'"{word}"' for word in searchable_words(part).split()) for part in PARTS]
    bare = partial(_all_rows, people._connection, WORKS["statements"]["search"], [(each,) for each in words * TIMES])
    yield from _timed("search", f"{count:,} names", lambda: list(map(people.search.find, PARTS * TIMES)), bare, run)
    people.close()


def crosstable(run: Run) -> Iterator[Line]:
    """Answer tables of large all-play-alls as JSON, compared with the bare statement for their rows."""
    with run.real.open() as ledger:
        rows = ledger.views.connection
        names = rows.execute(WORKS["statements"]["largest_tournaments"]).fetchall()
        bare = lambda: list(map(orjson.dumps, _all_rows(rows, WORKS["statements"]["crosstable"], names)))  # noqa: E731
        tables = lambda: [orjson.dumps(attrs.asdict(table_of(ledger, name))) for (name,) in names]  # noqa: E731
        yield from _timed("crosstable", run.real.name, tables, bare, run)


def graph(run: Run) -> Iterator[Line]:
    """Answer pages and careers of the players with most games; JSON is compared with statement and encoder."""
    kinds = {"bare": _bare_page, "json": _json_page, "svg": _svg_page, "career": _json_career}
    for data in (run.real, *run.sets):
        with data.open() as ledger:
            rows = ledger.views.connection.execute(WORKS["statements"]["players_with_most_games"], (GAMES, PLAYERS))
            people = list(ledger.people.by_number([number for (number,) in rows]).values())
            if not people:
                continue  # a set without anybody who played so much
            works = {name: partial(_pages, page, ledger, people) for name, page in kinds.items()}
            costs = timed(works, run.short)
        yield from both_lines("graph-json", data.name, costs["json"], costs["bare"])
        yield from both_lines("graph-svg", data.name, costs["svg"], costs["json"])
        yield from both_lines("career-json", data.name, costs["career"], costs["json"])


def _pages(page: Callable[[Ledger, Person], bytes], ledger: Ledger, people: Iterable[Person]) -> None:
    for person in people:
        page(ledger, person)


def _bare_page(ledger: Ledger, person: Person) -> bytes:
    cursor = ledger.views.connection.execute(WORKS["statements"]["page"], (person.player, GAMES))
    columns = [column[0] for column in cursor.description]
    rows = [dict(zip(columns, row, strict=True)) for row in cursor]
    called = {known.player: known.name for known in ledger.people.by_number({row["opponent"] for row in rows}).values()}
    for row in rows:
        row["opponent"] = called[row["opponent"]]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2)


def _json_page(ledger: Ledger, person: Person) -> bytes:
    return json_form.graph_json(page_reader.read_page(ledger, person, last=GAMES))


def _svg_page(ledger: Ledger, person: Person) -> bytes:
    return svg.draw(page_reader.read_page(ledger, person, last=GAMES), Look(opponents=True)).encode()


def _json_career(ledger: Ledger, person: Person) -> bytes:
    return json_form.dump_json(career(ledger, person, marks=False))  # as a server gives it unless asked for more


def pgn(run: Run) -> Iterator[Line]:
    """Measure games/s from a PGN with clocks to source games, and on two cores into a journal."""
    path = run.data / PGN if (run.data / PGN).exists() else SAMPLE
    many, count = run.new_folder("pgn") / "many.pgn", run.size.part
    write_pgn(path, many, count)
    works = {number: partial(run.apart, partial(ours.take_pgn, many, number)) for number in (1, 2)}
    costs = in_turns(works, run.rounds)
    alone, paired = ([figure.rates(count) for figure in costs[number]] for number in (1, 2))
    yield from both_lines("pgn-workers", f"{count / 1e6:g} M", paired, alone, games=count)
    if not installed("chess"):
        return

    def read() -> int:
        with path.open("rb") as file:
            return sum(1 for _ in pgn_games.read_games(file, Reading(path.name)))

    def pace(counting: Callable[[], int]) -> float:
        begun = perf_counter()
        return counting() / (perf_counter() - begun)

    rival = partial(python_chess, path, run.size.live)
    rates = in_turns({"ours": partial(pace, read), "theirs": partial(pace, rival)}, run.rounds)
    yield line("pgn", "", rates["ours"], rates["theirs"])
    with ProcessPoolExecutor(2) as cores:

        def of_both() -> int:
            return sum(work.result() for work in [cores.submit(rival) for _ in range(2)])

        both = in_turns({"theirs": partial(pace, of_both)}, run.rounds)["theirs"]
    yield line("pgn-cores", f"{count / 1e6:g} M", [figure.clock for figure in paired], both, games=count)
