"""The datasets of exports: players, games, history, ratings, published lists, cross-tables; any table of the views.

Each dataset states its columns and the source of its rows; other modules read and write them. The numbers of
cross-tables are those of ``answers.crosstables``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs

from ledger.answers.asking import PERSONAL, in_one_snapshot
from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.answers.crosstables.crosstable_data import Crosstable
from ledger.answers.crosstables.listing import TournamentSearch, tournaments
from ledger.answers.exports.columns import (
    COLUMN_KINDS,
    ColumnKind,
    Dataset,
    ExportColumn,
    ExportFilter,
    build_scan,
    history_column_kind,
    is_exportable,
    scheme_state_columns,
    stored_columns,
    table_parts,
)
from ledger.answers.player_details import EVERYBODY
from ledger.answers.publications import ranked_members
from ledger.book import tables
from ledger.book.roster import standing_sql
from ledger.book.tables import INSTANT, NUMBER, POINTS, TABLE_DOCS, ColumnDoc
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.journal.stored_lists import ListRow
from ledger.publishing.publications import Publications
from ledger.ratings import read_models, table_docs
from ledger.ratings.standings import rating_list_at
from ledger.runtime.lazy import pl
from ledger.runtime.nearest import expected_names
from ledger.runtime.table_reader import TableScan, sql_literal

if TYPE_CHECKING:
    from polars import DataFrame

NAMES, IDENTITIES, POOLS, CORRECTED = "names", "identities", "pools", "corrected"


_required = partial(ExportColumn, optional=False)


def _pool(sql: str) -> ExportColumn:
    return _required("pool", ColumnKind.TEXT, ColumnDoc("name of the pool"), sql, lookup=POOLS)


def _name(name: str, of: str, doc: str) -> ExportColumn:
    meaning = ColumnDoc(f"{doc}; empty once erased")
    return ExportColumn(name, ColumnKind.TEXT, meaning, lookup=NAMES, of=of, personal=True)


def _between(selection: ExportFilter, column: str) -> list[str]:
    """Return the conditions on when games ended."""
    where = [] if selection.since_ms is None else [f"{column} >= {selection.since_ms}"]
    return where if selection.until_ms is None else [*where, f"{column} <= {selection.until_ms}"]


_ENDED = ColumnDoc("the first moment at which it may have ended", INSTANT)


def _of_game(name: str, kind: ColumnKind = ColumnKind.TEXT, *, optional: bool = False) -> ExportColumn:
    return ExportColumn(name, kind, TABLE_DOCS["games"].columns[name], f"g.{name}", optional=optional)


_WHITE_SCORE = ColumnDoc("White's score; empty without a result", "0, 0.5 or 1")
_RATED_AT = ColumnDoc("its place in rating order; empty while its period is open", INSTANT)
_CORRECTED_BY = ColumnDoc(
    "the proposals that corrected it and act, divided by blanks; empty for a game as it was recorded"
)
GAME_COLUMNS = (
    _of_game("position", ColumnKind.INTEGER),
    _of_game("key"),
    _pool("g.pool"),
    _of_game("white", ColumnKind.INTEGER),
    _name("white_name", "white", "White's name"),
    _of_game("black", ColumnKind.INTEGER),
    _name("black_name", "black", "Black's name"),
    _of_game("outcome"),
    ExportColumn("white_score", ColumnKind.NUMBER, _WHITE_SCORE, "g.half_points / 2.0"),
    _of_game("termination"),
    _of_game("half_moves", ColumnKind.INTEGER, optional=True),
    _of_game("started_at", optional=True),
    _of_game("ended_at"),
    _required("ended", ColumnKind.INSTANT, _ENDED, "g.ended_ms"),
    _of_game("tournament", optional=True),
    _of_game("round", optional=True),
    _of_game("sequence", ColumnKind.INTEGER, optional=True),
    _required("rated", ColumnKind.BOOLEAN, ColumnDoc("whether a rated game was asked for"), "g.rated"),
    _required("counts", ColumnKind.BOOLEAN, ColumnDoc("whether it counts for ratings"), "g.reason IS NULL"),
    _of_game("reason", optional=True),
    ExportColumn("rated_at", ColumnKind.INSTANT, _RATED_AT, f"nullif(g.rated_ms, {OPEN})"),
    _of_game("white_rating", ColumnKind.INTEGER, optional=True),
    _of_game("black_rating", ColumnKind.INTEGER, optional=True),
    ExportColumn("corrected_by", ColumnKind.TEXT, _CORRECTED_BY, lookup=CORRECTED, of="key"),
    _of_game("voided_by", ColumnKind.INTEGER, optional=True),
)


def _game_scans(selection: ExportFilter, columns: Sequence[ExportColumn]) -> list[TableScan]:
    """Return the scans of games in the order of the journal; by an index for a player, a tournament or late days."""
    where = _between(selection, "g.ended_ms")
    if selection.pool is not None:
        where.append(f"g.pool = {selection.pool}")
    # The indices begin with the pool: where any is meant, all are named, and each is searched.
    pools = "(SELECT pool FROM pools)" if selection.pool is None else f"({selection.pool})"
    if selection.player is not None:
        sides = (f"SELECT position FROM games WHERE {side} = {selection.player}" for side in ("white", "black"))
        where.append(f"g.position IN ({' UNION ALL '.join(sides)})")
    if selection.tournament is not None:
        # The name is in the statement itself: a scan goes as text to the process that reads it, without parameters.
        of_name = (
            f"SELECT position FROM games WHERE pool IN {pools} AND tournament = {sql_literal(selection.tournament)}"
        )
        where.append(f"g.position IN ({of_name})")
    if selection.since_ms is not None and selection.player is None and selection.tournament is None:
        # No game is rated before it ends; one that does not count is not among those in rating order.
        of_pools = f"SELECT position FROM games WHERE pool IN {pools}"
        counted = f"{of_pools} AND reason IS NULL AND rated_ms >= {selection.since_ms}"
        left_out = f"{of_pools} AND reason IS NOT NULL AND ended_ms >= {selection.since_ms}"
        where.append(f"g.position IN ({counted} UNION ALL {left_out})")
    return [build_scan(columns, "games AS g", ("position",), where)]


GAMES = Dataset(
    name="games",
    doc="Every game as it now stands, rated or not, with the reason where it does not count.",
    columns=GAME_COLUMNS,
    key=("position",),
    scans=_game_scans,
    filters=frozenset({"pool", "player", "since_ms", "until_ms", "tournament"}),
)


_IDENTITY = ExportColumn(
    "identity",
    ColumnKind.TEXT,
    ColumnDoc("the player's identity, such as lichess:ann; empty once erased"),
    lookup=IDENTITIES,
    of="player",
    personal=True,
)
_CURRENT = table_docs.table_docs()["current"].columns
_PERSON = TABLE_DOCS["players"].columns
_STATUS = ColumnDoc("full, guest, welcomer or closed, after all changes", "word")
_MERGED_INTO = ColumnDoc("the person that this number is merged into", NUMBER, "players.player")
_POOL_OF_RATING = ColumnDoc("the pool of that rating; empty for who has no rated game in it")
_LAST_RATING = ColumnDoc("rating after the last rated game, unrounded", POINTS)
_LAST_ENDED = ColumnDoc("the first moment at which that may have ended", INSTANT)
_LISTED = ColumnDoc("whether the scheme lists a player with that rating")
PLAYER_COLUMNS = (
    _required("player", ColumnKind.INTEGER, _PERSON["player"], "p.player"),
    _name("name", "player", "the player's name"),
    _IDENTITY,
    ExportColumn("standing", ColumnKind.TEXT, _STATUS, standing_sql("p")),
    _required("joined_at", ColumnKind.TEXT, _PERSON["joined_at"], "p.joined_at"),
    ExportColumn("birth_year", ColumnKind.INTEGER, _PERSON["birth_year"], "p.birth_year", personal=True),
    ExportColumn("declared_rating", ColumnKind.INTEGER, _PERSON["declared_rating"], "p.declared_rating"),
    ExportColumn("merged_into", ColumnKind.INTEGER, _MERGED_INTO, "m.into_player"),
    ExportColumn("pool", ColumnKind.TEXT, _POOL_OF_RATING, "c.pool", lookup=POOLS),
    ExportColumn("rating", ColumnKind.NUMBER, _LAST_RATING, "c.rating"),
    ExportColumn("games", ColumnKind.INTEGER, _CURRENT["n"], "c.n"),
    ExportColumn("last_game", ColumnKind.INTEGER, _CURRENT["game"], "c.game"),
    ExportColumn("last_ended", ColumnKind.INSTANT, _LAST_ENDED, "c.ended_ms"),
    ExportColumn("listed", ColumnKind.BOOLEAN, _LISTED, "c.listed = 1"),
)
_FIRST_POOL = 1


def _player_scans(selection: ExportFilter, columns: Sequence[ExportColumn]) -> list[TableScan]:
    pool = _FIRST_POOL if selection.pool is None else selection.pool
    source = (
        "players AS p LEFT JOIN merges AS m ON m.player = p.player "
        f"LEFT JOIN current AS c ON c.pool = {pool} AND c.player = p.player"
    )
    where = [] if selection.player is None else [f"p.player = {selection.player}"]
    return [build_scan(columns, source, ("player",), where)]


PLAYERS = Dataset(
    name="players",
    doc="Every player, with the rating after the last rated game in a pool: the first one, or that of --pool. "
    "What time and later rules have made of ratings since stands in 'ratings'.",
    columns=PLAYER_COLUMNS,
    key=("player",),
    scans=_player_scans,
    filters=frozenset({"pool", "player"}),
)


_OTHER_FORMS = {  # columns of the history that an export shows in another form
    "pool": _pool("h.pool"),
    "ended_ms": ExportColumn("ended", ColumnKind.INSTANT, _ENDED, "h.ended_ms"),
    "colour": ExportColumn(
        "colour", ColumnKind.TEXT, ColumnDoc("white or black", "word"), "iif(h.colour, 'black', 'white')"
    ),
    "half_points": ExportColumn(
        "score", ColumnKind.NUMBER, ColumnDoc("the player's score", "0, 0.5 or 1"), "h.half_points / 2.0"
    ),
}
_NAMES_AFTER = {  # names of people follow their numbers
    "player": _name("player_name", "player", "the player's name"),
    "opponent": _name("opponent_name", "opponent", "the opponent's name"),
}


def history_dataset(scheme_state: Sequence[str] = ()) -> Dataset:
    """Return the dataset of the history, with columns for the state of the schemes that were ever in use."""
    table = table_docs.table_docs((), scheme_state)["history"]
    columns: list[ExportColumn] = []
    # The columns of the schemes' state come last, for they come and go.
    for name in (*(name for name in table.columns if name not in scheme_state), *scheme_state):
        kind, is_optional = history_column_kind(name, scheme_state), name not in {"player", "n"}
        plain = ExportColumn(
            name, kind, table.columns[name], f'h."{name}"', optional=is_optional, personal=name in PERSONAL
        )
        columns += [_OTHER_FORMS.get(name, plain), *([_NAMES_AFTER[name]] if name in _NAMES_AFTER else [])]

    def scans(selection: ExportFilter, selected: Sequence[ExportColumn]) -> list[TableScan]:
        where = []
        if selection.pool is not None:
            where.append(f"h.pool = {selection.pool}")
        elif selection.player is not None:  # rows are found by pool and player
            where.append("h.pool IN (SELECT pool FROM pools)")
        if selection.player is not None:
            where.append(f"h.player = {selection.player}")
        where += _between(selection, "h.ended_ms")
        return [build_scan(selected, "history AS h", ("pool", "player", "n"), where)]

    return Dataset(
        name="history",
        doc=table.doc,
        columns=columns,
        key=("pool", "player", "n"),
        scans=scans,
        filters=frozenset({"pool", "player", "since_ms", "until_ms"}),
    )


_LIST_ROW = (
    _required("pool", ColumnKind.TEXT, ColumnDoc("name of the pool")),
    _required("rank", ColumnKind.INTEGER, ColumnDoc("place, from 1; equals share one")),
    _required("player", ColumnKind.INTEGER, tables.PLAYER),
    _name("name", "player", "the player's name"),
    _IDENTITY,
    _required("shown", ColumnKind.INTEGER, ColumnDoc("rating as lists show it", POINTS)),
    _required("rating", ColumnKind.NUMBER, ColumnDoc("rating, unrounded", POINTS)),
    _required("games", ColumnKind.INTEGER, ColumnDoc("rated games by then that the ledger knows", "games")),
    ExportColumn("last_game", ColumnKind.TEXT, ColumnDoc("day of the last of them", "ISO 8601")),
)
_FIELDS = ("player", "rank", "shown", "rating", "games", "last_game")


def _frame(rows: Sequence[ListRow], more: Mapping[str, str | int]) -> DataFrame:
    types = {column.name: column.type for column in _LIST_ROW}
    frame = pl.DataFrame(rows, {name: types[name] for name in _FIELDS}, orient="row").sort("rank", "player")
    return frame.with_columns(pl.lit(value).alias(name) for name, value in more.items())


def _rating_rows(ledger: OpenLedger, selection: ExportFilter) -> Iterator[DataFrame]:
    ms = ledger.now_ms() if selection.at is None else instant_end_ms(selection.at)
    for pool in ledger.pools():
        if selection.pool in {None, pool.pool}:
            rows = rating_list_at(ledger.views.connection, pool, ms)
            yield _frame(ranked_members(ledger, rows, ms, selection.group or EVERYBODY), {"pool": pool.name})


def _list_rows(ledger: OpenLedger, selection: ExportFilter) -> Iterator[DataFrame]:
    publications = Publications(ledger)
    names = {pool.name: pool.pool for pool in ledger.pools()}
    lists = publications.all() if selection.published is None else [publications.named(selection.published)]
    for publication in lists:
        event = publication.event
        if selection.pool in {None, names[event.pool]}:
            more: dict[str, str | int] = {"list": publication.name, "pool": event.pool}
            more |= {"as_of": event.as_of, "edition": event.edition}
            rows = list(publications.rows(publication))
            yield _frame(ranked_members(ledger, rows, publication.at_ms, selection.group or EVERYBODY), more)


RATINGS = Dataset(
    name="ratings",
    doc="The rating list of each pool in force now, or at an instant, best first.",
    columns=_LIST_ROW,
    key=("pool", "player"),
    rows=_rating_rows,
    filters=frozenset({"pool", "at", "group"}),
)
LISTS = Dataset(
    name="lists",
    doc="The published lists as they were published, a row for each player on each.",
    columns=(
        _required("list", ColumnKind.TEXT, ColumnDoc("name of the list, POOL@DAY/EDITION")),
        _required("as_of", ColumnKind.TEXT, ColumnDoc("the instant it is of", INSTANT)),
        _required("edition", ColumnKind.INTEGER, ColumnDoc("edition of that list, from 1")),
        *_LIST_ROW,
    ),
    key=("list", "player"),
    rows=_list_rows,
    filters=frozenset({"pool", "published", "group"}),
)


_PLAYER_NAME = _name("name", "player", "the player's name")
_EDITION = ColumnDoc(
    "first day of the edition; the end of its first game where another one began on that day", "ISO 8601"
)
_RESULTS = ColumnDoc("results against other rows: 2:1½ 5:0 is a win and a draw against row 2, a loss to 5")
CROSSTABLE_COLUMNS = (
    _required("pool", ColumnKind.TEXT, ColumnDoc("name of the pool")),
    _required("tournament", ColumnKind.TEXT, ColumnDoc("name of the tournament")),
    _required("edition", ColumnKind.TEXT, _EDITION),
    _required("number", ColumnKind.INTEGER, ColumnDoc("the row of the table, from 1")),
    _required("place", ColumnKind.TEXT, ColumnDoc("the place, such as 1, or 2-4 where it is shared")),
    _required("player", ColumnKind.INTEGER, tables.PLAYER),
    _PLAYER_NAME,
    ExportColumn("enrolment_rating", ColumnKind.NUMBER, ColumnDoc("rating when the first game in it started", POINTS)),
    ExportColumn("closing_rating", ColumnKind.NUMBER, ColumnDoc("rating after the last game in it", POINTS)),
    _required("games", ColumnKind.INTEGER, ColumnDoc("games in the table", "games")),
    _required("points", ColumnKind.NUMBER, ColumnDoc("points, those of forfeits and byes among them", "game points")),
    _required("wins", ColumnKind.INTEGER, ColumnDoc("games won, forfeits among them", "games")),
    _required("draws", ColumnKind.INTEGER, ColumnDoc("games drawn", "games")),
    _required("losses", ColumnKind.INTEGER, ColumnDoc("games lost, forfeits among them", "games")),
    ExportColumn("opponents_mean", ColumnKind.NUMBER, ColumnDoc("mean enrolment rating of the opponents met", POINTS)),
    ExportColumn("performance", ColumnKind.NUMBER, ColumnDoc("performance rating", POINTS)),
    _required("variant", ColumnKind.TEXT, ColumnDoc("which performance rating that is, such as fide_tpr")),
    ExportColumn("er_offset", ColumnKind.NUMBER, ColumnDoc("100 (performance / enrolment rating - 1)", "per cent")),
    _required("upsets", ColumnKind.INTEGER, ColumnDoc("upsets that the player brought about", "games")),
    _required("results", ColumnKind.TEXT, _RESULTS),
)


def read_crosstables(ledger: OpenLedger, selection: ExportFilter) -> Iterator[DataFrame]:
    """Yield the rows of each cross-table of the selected pool and tournament, without the column of names."""
    for pool in ledger.pools():
        if selection.pool in {None, pool.pool}:
            rows = tournaments(ledger, pool.name, TournamentSearch(text=selection.tournament))
            began = Counter((row.tournament, row.first_day) for row in rows)
            for row in rows:
                # The search finds every name that has this one in it.
                if selection.tournament in {None, row.tournament}:
                    # by its place: its first day may be recorded as a year in which others lie, or be that of another
                    # one
                    options = TableOptions(number=int(row.edition.partition(" ")[0]))
                    page = crosstable(ledger, row.tournament, pool.name, options)
                    is_alone = began[row.tournament, row.first_day] == 1
                    yield _crosstable_frame(page, row.first_day if is_alone else _first_end(page))


def _first_end(page: Crosstable) -> str:
    """Return when its first game ended, as precisely as it is known; of an edition without a game, its first day."""
    ends = {result.ended_at for standing in page.standings for result in standing.results}
    return min(ends, key=lambda end: (instant_ms(end), end), default=page.edition.first_day)


def _crosstable_frame(page: Crosstable, edition: str) -> DataFrame:
    types = {column.name: column.type for column in CROSSTABLE_COLUMNS if column is not _PLAYER_NAME}
    of_table = {
        "pool": page.pool,
        "tournament": page.tournament,
        "edition": edition,
        "variant": page.performance.variant,
    }
    rows = [
        {name: getattr(standing, name) for name in types.keys() - of_table.keys()}
        | of_table
        | {"results": " ".join(f"{met.opponent_number}:{met.marks}" for met in standing.meetings)}
        for standing in page.standings
    ]
    return pl.DataFrame(rows, types)


CROSSTABLES = Dataset(
    name="crosstables",
    doc="The cross-tables of tournaments, a row for each player of each edition, the best first.",
    columns=CROSSTABLE_COLUMNS,
    key=("pool", "tournament", "edition", "player"),
    filters=frozenset({"pool", "tournament"}),
    rows=read_crosstables,
)


NAMED_DATASETS: Mapping[str, Dataset] = {
    dataset.name: dataset for dataset in (PLAYERS, GAMES, history_dataset(), RATINGS, LISTS, CROSSTABLES)
}


@in_one_snapshot
def find_dataset(ledger: OpenLedger, name: str) -> Dataset:
    """Return the dataset of a name: one of ``NAMED_DATASETS``, or a table of the views unchanged.

    Raises:
        UnknownNameError: there is no dataset or table of that name.
    """
    connection, projectors = ledger.views.connection, ledger.views.installed.all
    read_models.refuse_stale_table(connection, name, ledger.views.installed.broken)
    if name == "history":
        return history_dataset(scheme_state_columns(connection))
    if name in NAMED_DATASETS:
        return NAMED_DATASETS[name]
    tables = table_docs.table_docs_in(connection, projectors)
    further = [name for name in tables if name not in NAMED_DATASETS and is_exportable(connection, name)]
    names = [*NAMED_DATASETS, *further]
    if name not in names:
        raise UnknownNameError("table", name, expected_names(name, names), where="to export")
    stored, key = stored_columns(connection, name, tables[name])
    columns = [
        ExportColumn(
            column.name,
            COLUMN_KINDS[column.stored_as],
            column.meaning,
            f'"{column.name}"',
            optional=not column.is_required,
            personal=column.name in PERSONAL,
        )
        for column in stored
    ]

    def scans(_: ExportFilter, selected: Sequence[ExportColumn]) -> list[TableScan]:
        return [build_scan(selected, f'"{name}"', key, where) for where in table_parts(connection, name)]

    return Dataset(name=name, doc=tables[name].doc, columns=columns, key=key, scans=scans)


def check_filters(selection: ExportFilter, chosen: Sequence[Dataset]) -> None:
    """Refuse filters that do not go with a dataset.

    Raises:
        MalformedError: it names the filters and the datasets.
    """
    words = {"since_ms": "since", "until_ms": "until", "published": "list"}
    if selection.group is not None:
        conditions = attrs.asdict(selection.group)
        words["group"] = ", ".join(name for name, value in conditions.items() if value not in (None, False))
    problems = [
        f"{words.get(option, option)!r} does not go with {item.name!r}; it can be chosen by "
        f"{sorted(words.get(name, name) for name in item.filters) or 'nothing'}"
        for item in chosen
        for option in sorted(selection.filters - item.filters)
    ]
    if problems:
        raise MalformedError(problems)
