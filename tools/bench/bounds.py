"""What the benchmark compares with what, and how good it should be: the one table of bounds, as data.

Every line that the benchmark prints is declared here. Its ratio is always **our figure divided by the rival's**, both
in the unit that stands here: seconds and GiB should give a small ratio, rates a large one. No measuring, nothing heavy.
"""

from __future__ import annotations

import attrs

# "Flat" as a number: two rounds of the same work on one machine differ by less than a tenth.
FLAT = 1.1
CPU = " CPU"  # ends the unit of what is measured by the processor
LARGE = 10_000_000  # games, of which some bounds speak
# Loading compiled kernels takes a second, whatever the work: bounds of work on many games speak of sets beside which
# that is little, such as the 960,311 real games.
MANY = 500_000


def _is_positive(_: Bound, attribute: attrs.Attribute[float | None], value: float | None) -> None:
    if value is not None and not value > 0:
        raise ValueError(f"{attribute.name} must be above zero, got {value!r}")


@attrs.frozen(kw_only=True)
class Bound:
    """One comparison: what of ours, divided by what of whose, and the ratio that it should reach.

    Attributes: name: the word by which the code asks for it. section: the part of the benchmark that measures it.
        what: what of ours is measured. rival: what it is divided by. unit: the unit of both figures. ``s``: seconds of
        the clock. ``s CPU``: seconds of the processor, of all processes together. ``games/s``, ``entries/s``,
        ``events/s``: rates by the clock; with ``CPU``, by the processor. ``GiB``: peak memory, of all processes
        together. ``KiB``: resident memory of one process. ``times``: a figure that is a quotient itself.
        small_is_good: whether the ratio must stay below its bounds (times, memory) or above (rates). at_least: the
        ratio that must be reached; None: the line only informs. aim: the ratio that is aimed at, the better one of the
        two. judged_from: on fewer games the line only informs.
    """

    name: str
    section: str
    what: str
    rival: str
    unit: str
    small_is_good: bool
    at_least: float | None = attrs.field(default=None, validator=_is_positive)
    aim: float | None = attrs.field(default=None, validator=_is_positive)
    judged_from: int = 0

    def __attrs_post_init__(self) -> None:
        """Refuse an aim that is easier than the bound."""
        if self.at_least is not None and self.aim is not None and not self.meets(self.aim, self.at_least):
            raise ValueError(f"{self.name}: the aim {self.aim:g} is easier than the bound {self.at_least:g}")

    @property
    def divided(self) -> str:
        """What is divided by what, in words."""
        return f"({self.unit}) {self.what} / {self.rival}"

    def not_judged(self) -> Bound:
        """The same comparison, only to inform."""
        return attrs.evolve(self, at_least=None, aim=None)

    def meets(self, ratio: float, wanted: float) -> bool:
        """Whether a ratio is as good as the wanted one, or better."""
        return ratio <= wanted if self.small_is_good else ratio >= wanted

    def written(self, wanted: float | None) -> str:
        """A wanted ratio with its direction, ``<= 2`` or ``>= 0.15``; empty for None."""
        return "" if wanted is None else f"{'<=' if self.small_is_good else '>='} {wanted:g}"


def _time(
    name: str,
    section: str,
    what: str,
    rival: str,
    at_least: float | None = None,
    aim: float | None = None,
    *,
    unit: str = "s",
    judged_from: int = 0,
) -> Bound:
    return Bound(
        name=name,
        section=section,
        what=what,
        rival=rival,
        unit=unit,
        small_is_good=True,
        at_least=at_least,
        aim=aim,
        judged_from=judged_from,
    )


def _rate(
    name: str,
    section: str,
    what: str,
    rival: str,
    unit: str,
    at_least: float | None = None,
    aim: float | None = None,
    *,
    judged_from: int = 0,
) -> Bound:
    return Bound(
        name=name,
        section=section,
        what=what,
        rival=rival,
        unit=unit,
        small_is_good=False,
        at_least=at_least,
        aim=aim,
        judged_from=judged_from,
    )


DICT_LOOP = "dict loop with executemany, no journal"
PYTHON_LIBRARY = "a Python library"

_REPLAY = (
    _rate("world", "replay", "ChessWorld with history, in memory", "10 million games/s", "games/s", 1),
    _rate("world-numba", "replay", "ChessWorld with history, in memory", "bare loop, same columns", "games/s", 0.9),
    _rate("elo-evalica", "replay", "Elo with history", "evalica's Rust core, no history", "games/s", 2),
    _rate("elo-columns", "replay", "Elo with history", "bare loop, same columns", "games/s", 0.9),
    _rate("elo-numba", "replay", "Elo with history", "bare Numba loop, ratings after alone", "games/s", 0.5),
    _rate("elo-riix", "replay", "Elo with history", "riix on arrays, no history", "games/s", 1),
    _rate("elo-dict", "replay", "Elo with history", "dict loop in memory, no history", "games/s", 1),
)
_SCHEMES = (
    _rate("scheme-compiled", "schemes", "a scheme with history", "a bare compiled loop", "games/s"),
    _rate("scheme-elsewhere", "schemes", "a scheme with history", "Rust skillratings, another machine", "games/s"),
    _rate("scheme-rust", "schemes", "a scheme with history", "Rust skillratings, brought to this one", "games/s", 1),
    _rate("scheme-python", "schemes", "a scheme with history", PYTHON_LIBRARY, "games/s", 20),
    _time("scheme-accuracy", "schemes", "error of what a scheme expects", PYTHON_LIBRARY, unit="log-loss"),
    _time("scheme-agreement", "schemes", "farthest from riix", "points allowed", 1, unit="points"),
)
TO_HISTORY = "CSV to indexed history, sealed journal"
GROWTH = "import of CSV alone: CPU time a game of the large set / of the smaller set"

_IMPORT = (
    _time("csv-to-history", "import", TO_HISTORY, DICT_LOOP, 2.0, 1.2, judged_from=MANY),
    _time("csv-to-history-roomy", "import", TO_HISTORY, "the same with 256 MB of cache"),
    _time("csv-to-history-utils", "import", TO_HISTORY, "dict loop with sqlite-utils, no journal"),
    _time("import-alone", "import", "import of CSV alone", DICT_LOOP, 1.0, 0.6, unit="s CPU", judged_from=MANY),
    _time("import-growth", "import", GROWTH, "the same of the dict loop", 1.0, unit="times", judged_from=LARGE),
    _time("import-flat", "import", GROWTH, "no growth", aim=FLAT, unit="times", judged_from=LARGE),
)
_PLAYERS = (
    _time("players", "players", "a list of players, registered and seeded", "executemany of the same rows", 3.0),
)
_BUILD = (
    _time(
        "first-build", "build", "first build of the views", "executemany of the same rows", 1.2, 0.8, judged_from=MANY
    ),
    _time("first-build-peak", "build", "peak of the first build", "1.5 GiB", 1.0, unit="GiB", judged_from=LARGE),
    _time(
        "first-build-flat", "build", "peak of the first build, large set", "the same of the smaller set", aim=FLAT,
        unit="GiB", judged_from=LARGE,
    ),
    _time(
        "player-index", "build", "first build of the views", "the same without the indexes of all games of a player"
    ),
    _time(
        "read-models", "build", "first build of the views, all built-in read models", "the same, the history alone",
        1.25, unit="s CPU", judged_from=MANY,
    ),
    _time("early", "early", "one late game before all others, all rated again", "first build of the same games"),
    _time("early-peak", "early", "peak of one late game before all others", "peak of the first build", unit="GiB"),
)  # fmt: skip
_SCHEME_BUILDS = (
    _time("scheme-build", "scheme-builds", "first build under a scheme", "executemany of the same rows", unit="s CPU"),
)
_JOURNAL = (
    _rate(
        "audit", "audit", "audit of the journal alone", "SHA-256 of the same bytes", "entries/s CPU", 0.15, 0.3,
        judged_from=MANY,
    ),
    _rate(
        "stored", "stored", "stored journal replayed", "eventsourcing, repository.get", "events/s", 8, 15,
        judged_from=MANY,
    ),
)  # fmt: skip
# The late-result bound is between journals of different lengths that end with the same games: each against the fastest.
_LATE = (_time("late", "late", "a late result", "the same in the journal that took least", 1.5),)
_CORRECTIONS = (
    _time("correction", "corrections", "a correction", "the same in the journal that took least", 1.5),
    _time("preview", "corrections", "the preview of a correction", "the correction itself", 1.2),
    _time("correction-rebuild", "corrections", "a correction", "rebuild of all views"),
    _time("correction-replay", "corrections", "a correction", "eventsourcing, the log replayed"),
    _time(
        "void-many",
        "corrections",
        "500 games of a year voided",
        "bare delete and executemany of the same rows",
        2.0,
        judged_from=MANY,
    ),
)
_SMALLEST = "the same in the smallest journal"
_FEW = (
    _time("few", "few", "record, import of few games, or ask for little, from the shell", _SMALLEST, 1.5, unit="s CPU"),
    _time("few-peak", "few", "peak of the same", _SMALLEST, 1.5, unit="GiB"),
    _time("record-show", "few", "record, from the shell", "show, from the shell", 3, unit="s CPU"),
)
_LIVE = (
    _rate("append-one", "live", "append one game, see it rated", "bare durable one-row commits", "games/s", 0.15, 0.3),
    _rate(
        "append-one-pair",
        "live",
        "append one game, see it rated",
        "pairs of bare one-row commits, journal and views",
        "games/s",
    ),
    _rate("append-read-models", "live", "append one game, all built-in read models", "the history alone", "games/s"),
    _rate("append-many", "live", "1,000 a transaction", "eventsourcing, Application.save", "events/s", 1.5, 3),
    _rate("append-made", "live", "make and append, 1,000 a transaction", "eventsourcing, an aggregate", "events/s"),
    _rate("append-put", "live", "1,000 a transaction", "eventsourcing, EventStore.put", "events/s"),
    _rate("project", "live", "project single games as they come", "eventsourcing's projection", "games/s", 4),
    _rate("project-each", "live", "project, a transaction each", "eventsourcing's projection", "games/s"),
    _rate("project-normal", "live", "project, a transaction each", "the same, synchronous=NORMAL", "games/s"),
)
_OTHERS = (
    _time("crosstable", "crosstable", "cross-tables as JSON", "the bare statement for their rows", 3, 1.5),
    _time("ranking", "ranking", "a ranking at any instant, in full", "one bare scan of the last rows", 2, 1),
    _time("search", "search", "players by parts of their names", "the bare full-text query", 2, 1.3),
    _time(
        "export",
        "export",
        "export the history to Parquet",
        "ADBC's read of the table, then Arrow's write",
        1.5,
        judged_from=MANY,
    ),
    _time("export-write", "export", "the same", "Arrow's write alone, of rows in memory"),
    _rate("pgn", "pgn", "read PGN with clocks", "python-chess, read_game", "games/s", 15),
    _time("graph-json", "graph", "a page of 100 games as JSON", "the bare statement and the JSON encoder", 3),
    _time("graph-svg", "graph", "the same page as SVG", "the page as JSON", 4),
    _time("listener", "listeners", "memory of the server for each listener", "30 KiB", 1, 0.8, unit="KiB"),
    _time("show", "start", "show, from the shell", "sqlite-utils rows", 0.7, 0.4),
)
_DATASETTE_JSON = "Datasette's cheapest JSON of the same rows"
_SERVE = (
    _rate("serve-graph", "serve", "100 games of a graph over HTTP", _DATASETTE_JSON, "requests/s CPU", 1.3, 3),
    _rate("serve-tag", "serve", "the same for who has it, by its tag", _DATASETTE_JSON, "requests/s CPU", 15),
    _rate("serve-page", "serve", "the page of a player", "Datasette's HTML of 100 rows", "requests/s CPU", 6, 8),
    _time("serve-added", "serve", "what HTTP adds to a graph", "the library's call", 0.15, unit="s CPU"),
    _time("serve-late", "serve", "the latest of 100 at half of the highest rate", "the median", 4),
    _time("serve-size", "serve", "the page of a player as it is sent", "30,000 bytes", 1, unit="bytes"),
)
_WRITE = (
    _rate("write-many", "write", "single games of many clients", "of one client", "games/s", 4, 8),
    _rate("write-grouped", "write", "the same", "with a transaction each", "games/s", 2, 3.6),
    _rate("write-fair", "write", "games of the client that got least", "of the one that got most", "games/s", 0.5),
    _time("write-upload", "write", "parts of an upload that a game waits for", "one part", 2, unit="parts"),
)
_POSTGRES = (
    _rate(
        "postgres-one",
        "postgres",
        "append one entry durably on PostgreSQL",
        "a bare psycopg INSERT of the row, same server",
        "entries/s",
        0.4,
        0.8,
    ),
    _rate(
        "postgres-snapshot",
        "postgres",
        "the same while a reader holds an old snapshot",
        "without it",
        "entries/s",
        0.8,
        1,
    ),
    _rate(
        "postgres-many",
        "postgres",
        "1,000 a transaction on PostgreSQL",
        "eventsourcing's PostgreSQL recorder, same server",
        "events/s",
        2,
        4,
    ),
    _rate("postgres-read", "postgres", "stored entries read from PostgreSQL", "from a file", "entries/s", 0.5, 0.8),
    _time("postgres-import", "postgres", "import of CSV onto PostgreSQL", "into a file", 1.5, 1.1, judged_from=MANY),
    _time(
        "postgres-build",
        "postgres",
        "first build of the views from PostgreSQL",
        "from a file",
        1.3,
        1.1,
        judged_from=MANY,
    ),
    _rate(
        "postgres-quorum",
        "postgres",
        "append one entry on three nodes with quorum commit",
        "the same cluster with local commit",
        "entries/s",
        0.7,
        0.9,
    ),
    _time(
        "postgres-seen",
        "postgres",
        "recorded on one node, seen rated on another, median",
        "the interval of asking",
        1.5,
        0.6,
    ),
    _time(
        "postgres-node-lost", "postgres", "longest silence of clients, a node lost", "Patroni's ttl of 20 s", 1.5, 1.1
    ),
    _time(
        "postgres-server-lost",
        "postgres",
        "longest silence of clients, a server lost",
        "Patroni's ttl of 20 s",
        0.5,
        0.25,
    ),
    _time(
        "postgres-export",
        "postgres",
        "export every table of the views to PostgreSQL",
        "psql \\copy of the rows from CSV, no keys",
    ),
    _time(
        "postgres-export-again",
        "postgres",
        "the same over a copy that stands",
        "psql \\copy of the rows from CSV, no keys",
    ),
)
BOUNDS: tuple[Bound, ...] = (
    *_REPLAY, *_SCHEMES, *_IMPORT, *_PLAYERS, *_BUILD, *_SCHEME_BUILDS, *_JOURNAL, *_LATE, *_CORRECTIONS, *_FEW, *_LIVE,
    *_OTHERS, *_SERVE, *_WRITE, *_POSTGRES,
)  # fmt: skip
BY_NAME = {bound.name: bound for bound in BOUNDS}
SECTIONS = tuple(dict.fromkeys(bound.section for bound in BOUNDS))
