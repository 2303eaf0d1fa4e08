"""The datasets of exports: players, games, history, ratings, published lists, cross-tables; any table of the views.

Each dataset says its columns and where its rows come from; how they are read and written is known elsewhere. The
numbers of cross-tables are those of ``answers.crosstables``; here they only take their place in columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from ledger.answers.asking import PERSONAL, of_one_moment
from ledger.answers.crosstables.crosstable import TableChoice, crosstable
from ledger.answers.crosstables.listing import TournamentSearch, tournaments
from ledger.answers.crosstables.page import Crosstable
from ledger.answers.exports.columns import (
    ColumnKind,
    Dataset,
    ExportColumn,
    ExportFilter,
    can_be_had,
    kind_of_side,
    of_table,
    rows_at_one_time,
    scan,
    scheme_state,
    stored_order,
)
from ledger.book import tables
from ledger.book.roster import standing_sql
from ledger.book.tables import INSTANT, NUMBER, POINTS, TABLE_DOCS, ColumnDoc
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.journal.kept_lists import ListRow
from ledger.publishing.publications import Publications
from ledger.ratings import keeping, view_docs
from ledger.ratings.standings import list_in_force
from ledger.runtime.lazy import pl
from ledger.runtime.nearest import choice_of
from ledger.runtime.table_reader import TableScan, literal

if TYPE_CHECKING:
    from polars import DataFrame

NAMES, IDENTITIES, POOLS, CORRECTED = "names", "identities", "pools", "corrected"


# -- columns of several ----------------------------------------------------------------------------------------


def _pool(sql: str) -> ExportColumn:
    return ExportColumn(
        name="pool", kind=ColumnKind.TEXT, meaning=ColumnDoc("name of the pool"), sql=sql, lookup=POOLS, optional=False
    )


def _name(name: str, of: str, doc: str) -> ExportColumn:
    meaning = ColumnDoc(f"{doc}; empty once erased")
    return ExportColumn(name=name, kind=ColumnKind.TEXT, meaning=meaning, lookup=NAMES, of=of, personal=True)


def _column(kind: ColumnKind, meaning: ColumnDoc, name: str, sql: str, *, optional: bool = True) -> ExportColumn:
    return ExportColumn(name=name, kind=kind, meaning=meaning, sql=sql, optional=optional)


def _between(selection: ExportFilter, column: str) -> list[str]:
    """Return the conditions on when games ended."""
    where = [] if selection.since_ms is None else [f"{column} >= {selection.since_ms}"]
    return where if selection.until_ms is None else [*where, f"{column} <= {selection.until_ms}"]


# -- games -------------------------------------------------------------------------------------------------------

_GAME = TABLE_DOCS["games"].columns
_ENDED = ColumnDoc("the first moment at which it may have ended", INSTANT)


def _of_game(name: str, kind: ColumnKind = ColumnKind.TEXT, *, optional: bool = True) -> ExportColumn:
    return _column(kind, _GAME[name], name, f"g.{name}", optional=optional)


GAME_COLUMNS = (
    _of_game("position", ColumnKind.INTEGER, optional=False),
    _of_game("key", optional=False),
    _pool("g.pool"),
    _of_game("white", ColumnKind.INTEGER, optional=False),
    _name("white_name", "white", "White's name"),
    _of_game("black", ColumnKind.INTEGER, optional=False),
    _name("black_name", "black", "Black's name"),
    _of_game("outcome", optional=False),
    _column(
        ColumnKind.NUMBER,
        ColumnDoc("White's score; empty without a result", "0, 0.5 or 1"),
        "white_score",
        "g.half_points / 2.0",
    ),
    _of_game("termination", optional=False),
    _of_game("half_moves", ColumnKind.INTEGER),
    _of_game("started_at"),
    _of_game("ended_at", optional=False),
    _column(ColumnKind.INSTANT, _ENDED, "ended", "g.ended_ms", optional=False),
    _of_game("tournament"),
    _of_game("round"),
    _of_game("sequence", ColumnKind.INTEGER),
    _column(ColumnKind.BOOLEAN, ColumnDoc("whether a rated game was asked for"), "rated", "g.rated", optional=False),
    _column(
        ColumnKind.BOOLEAN, ColumnDoc("whether it counts for ratings"), "counts", "g.reason IS NULL", optional=False
    ),
    _of_game("reason"),
    _column(
        ColumnKind.INSTANT,
        ColumnDoc("its place in rating order; empty while its period is open", INSTANT),
        "rated_at",
        f"nullif(g.rated_ms, {OPEN})",
    ),
    _of_game("white_rating", ColumnKind.INTEGER),
    _of_game("black_rating", ColumnKind.INTEGER),
    ExportColumn(
        name="corrected_by",
        kind=ColumnKind.TEXT,
        lookup=CORRECTED,
        of="key",
        meaning=ColumnDoc(
            "the proposals that corrected it and act, divided by blanks; empty for a game as it was recorded"
        ),
    ),
    _of_game("voided_by", ColumnKind.INTEGER),
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
        of_name = f"SELECT position FROM games WHERE pool IN {pools} AND tournament = {literal(selection.tournament)}"
        where.append(f"g.position IN ({of_name})")
    if selection.since_ms is not None and selection.player is None and selection.tournament is None:
        # No game is rated before it ends; one that does not count is not among those in rating order.
        of_pools = f"SELECT position FROM games WHERE pool IN {pools}"
        counted = f"{of_pools} AND reason IS NULL AND rated_ms >= {selection.since_ms}"
        left_out = f"{of_pools} AND reason IS NOT NULL AND ended_ms >= {selection.since_ms}"
        where.append(f"g.position IN ({counted} UNION ALL {left_out})")
    return [scan(columns, "games AS g", ("position",), where)]


GAMES = Dataset(
    name="games",
    doc="Every game as it now stands, rated or not, with the reason where it does not count.",
    columns=GAME_COLUMNS,
    key=("position",),
    scans=_game_scans,
    filters=frozenset({"pool", "player", "since_ms", "until_ms", "tournament"}),
)

# -- players -----------------------------------------------------------------------------------------------------

_IDENTITY = ExportColumn(
    name="identity",
    kind=ColumnKind.TEXT,
    meaning=ColumnDoc("the player's identity, such as lichess:ann; empty once erased"),
    lookup=IDENTITIES,
    of="player",
    personal=True,
)
_CURRENT = view_docs.described()["current"].columns
_PERSON = TABLE_DOCS["players"].columns
PLAYER_COLUMNS = (
    _column(ColumnKind.INTEGER, _PERSON["player"], "player", "p.player", optional=False),
    _name("name", "player", "the player's name"),
    _IDENTITY,
    _column(
        ColumnKind.TEXT,
        ColumnDoc("full, guest, welcomer or closed, after all changes", "word"),
        "standing",
        standing_sql("p"),
    ),
    _column(ColumnKind.TEXT, _PERSON["joined_at"], "joined_at", "p.joined_at", optional=False),
    ExportColumn(
        name="birth_year", kind=ColumnKind.INTEGER, meaning=_PERSON["birth_year"], sql="p.birth_year", personal=True
    ),
    _column(ColumnKind.INTEGER, _PERSON["declared_rating"], "declared_rating", "p.declared_rating"),
    _column(
        ColumnKind.INTEGER,
        ColumnDoc("the person that this number is merged into", NUMBER, "players.player"),
        "merged_into",
        "m.into_player",
    ),
    attrs.evolve(
        _pool("c.pool"),
        optional=True,
        meaning=ColumnDoc("the pool of that rating; empty for who has no rated game in it"),
    ),
    _column(ColumnKind.NUMBER, ColumnDoc("rating after the last rated game, unrounded", POINTS), "rating", "c.rating"),
    _column(ColumnKind.INTEGER, _CURRENT["n"], "games", "c.n"),
    _column(ColumnKind.INTEGER, _CURRENT["game"], "last_game", "c.game"),
    _column(
        ColumnKind.INSTANT,
        ColumnDoc("the first moment at which that may have ended", INSTANT),
        "last_ended",
        "c.ended_ms",
    ),
    _column(
        ColumnKind.BOOLEAN, ColumnDoc("whether the scheme lists a player with that rating"), "listed", "c.listed = 1"
    ),
)
_MERGED = "LEFT JOIN merges AS m ON m.player = p.player"
_FIRST_POOL = 1


def _player_scans(selection: ExportFilter, columns: Sequence[ExportColumn]) -> list[TableScan]:
    pool = _FIRST_POOL if selection.pool is None else selection.pool
    source = f"players AS p {_MERGED} LEFT JOIN current AS c ON c.pool = {pool} AND c.player = p.player"
    where = [] if selection.player is None else [f"p.player = {selection.player}"]
    return [scan(columns, source, ("player",), where)]


PLAYERS = Dataset(
    name="players",
    doc="Every player, with the rating after the last rated game in a pool: the first one, or that of --pool. "
    "What time and later rules have made of ratings since stands in 'ratings'.",
    columns=PLAYER_COLUMNS,
    key=("player",),
    scans=_player_scans,
    filters=frozenset({"pool", "player"}),
)

# -- history -----------------------------------------------------------------------------------------------------

_LOOKED_AT = {  # columns of the history that an export shows in another form
    "pool": _pool("h.pool"),
    "ended_ms": _column(ColumnKind.INSTANT, _ENDED, "ended", "h.ended_ms"),
    "colour": _column(
        ColumnKind.TEXT, ColumnDoc("white or black", "word"), "colour", "iif(h.colour, 'black', 'white')"
    ),
    "half_points": _column(
        ColumnKind.NUMBER, ColumnDoc("the player's score", "0, 0.5 or 1"), "score", "h.half_points / 2.0"
    ),
}
_AFTER = {  # names of people follow their numbers
    "player": _name("player_name", "player", "the player's name"),
    "opponent": _name("opponent_name", "opponent", "the opponent's name"),
}


def history(scheme_state: Sequence[str] = ()) -> Dataset:
    """Return the history; the schemes that were ever in use give it columns for their state."""
    table = view_docs.described((), scheme_state)["history"]
    columns: list[ExportColumn] = []
    for name in stored_order(table, scheme_state):
        kind = kind_of_side(name, scheme_state)
        plain = _column(kind, table.columns[name], name, f'h."{name}"', optional=name not in {"player", "n"})
        plain = attrs.evolve(plain, personal=name in PERSONAL)
        columns += [_LOOKED_AT.get(name, plain), *([_AFTER[name]] if name in _AFTER else [])]

    def scans(selection: ExportFilter, selected: Sequence[ExportColumn]) -> list[TableScan]:
        where = _between(selection, "h.ended_ms")
        if selection.player is not None:
            where.insert(0, f"h.player = {selection.player}")
        if selection.pool is not None or selection.player is not None:  # rows are found by pool and player
            where.insert(
                0, "h.pool IN (SELECT pool FROM pools)" if selection.pool is None else f"h.pool = {selection.pool}"
            )
        return [scan(selected, "history AS h", ("pool", "player", "n"), where)]

    return Dataset(
        name="history",
        doc=table.doc,
        columns=columns,
        key=("pool", "player", "n"),
        scans=scans,
        filters=frozenset({"pool", "player", "since_ms", "until_ms"}),
    )


# -- lists -------------------------------------------------------------------------------------------------------

_LIST_ROW = (
    ExportColumn(name="pool", kind=ColumnKind.TEXT, meaning=ColumnDoc("name of the pool"), optional=False),
    ExportColumn(
        name="rank", kind=ColumnKind.INTEGER, meaning=ColumnDoc("place, from 1; equals share one"), optional=False
    ),
    ExportColumn(name="player", kind=ColumnKind.INTEGER, meaning=tables.PLAYER, optional=False),
    _name("name", "player", "the player's name"),
    _IDENTITY,
    ExportColumn(
        name="shown", kind=ColumnKind.INTEGER, meaning=ColumnDoc("rating as lists show it", POINTS), optional=False
    ),
    ExportColumn(name="rating", kind=ColumnKind.NUMBER, meaning=ColumnDoc("rating, unrounded", POINTS), optional=False),
    ExportColumn(
        name="games",
        kind=ColumnKind.INTEGER,
        meaning=ColumnDoc("rated games by then that the ledger knows", "games"),
        optional=False,
    ),
    ExportColumn(name="last_game", kind=ColumnKind.TEXT, meaning=ColumnDoc("day of the last of them", "ISO 8601")),
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
            yield _frame(list_in_force(ledger.views.connection, pool, ms), {"pool": pool.name})


def _list_rows(ledger: OpenLedger, selection: ExportFilter) -> Iterator[DataFrame]:
    publications = Publications(ledger)
    names = {pool.name: pool.pool for pool in ledger.pools()}
    lists = publications.all() if selection.published is None else [publications.named(selection.published)]
    for publication in lists:
        event = publication.event
        if selection.pool in {None, names[event.pool]}:
            more: dict[str, str | int] = {"list": publication.name, "pool": event.pool}
            more |= {"as_of": event.as_of, "edition": event.edition}
            yield _frame(list(publications.rows(publication)), more)


RATINGS = Dataset(
    name="ratings",
    doc="The rating list of each pool in force now, or at an instant, best first.",
    columns=_LIST_ROW,
    key=("pool", "player"),
    rows=_rating_rows,
    filters=frozenset({"pool", "at"}),
)
LISTS = Dataset(
    name="lists",
    doc="The published lists as they were published, a row for each player on each.",
    columns=(
        ExportColumn(
            name="list", kind=ColumnKind.TEXT, meaning=ColumnDoc("name of the list, POOL@DAY/EDITION"), optional=False
        ),
        ExportColumn(
            name="as_of", kind=ColumnKind.TEXT, meaning=ColumnDoc("the instant it is of", INSTANT), optional=False
        ),
        ExportColumn(
            name="edition", kind=ColumnKind.INTEGER, meaning=ColumnDoc("edition of that list, from 1"), optional=False
        ),
        *_LIST_ROW,
    ),
    key=("list", "player"),
    rows=_list_rows,
    filters=frozenset({"pool", "published"}),
)

# -- cross-tables -------------------------------------------------------------------------------------------------


def _table_column(name: str, kind: ColumnKind, doc: str, unit: str = "", *, optional: bool = False) -> ExportColumn:
    return ExportColumn(name=name, kind=kind, meaning=ColumnDoc(doc, unit), optional=optional)


def crosstable_columns(name: ExportColumn) -> tuple[ExportColumn, ...]:
    """Return the columns; *name* is the one that shows the player's name."""
    return (
        _table_column("pool", ColumnKind.TEXT, "name of the pool"),
        _table_column("tournament", ColumnKind.TEXT, "name of the tournament"),
        _table_column(
            "edition",
            ColumnKind.TEXT,
            "first day of the edition; the end of its first game where another one began on that day",
            "ISO 8601",
        ),
        _table_column("number", ColumnKind.INTEGER, "the row of the table, from 1"),
        _table_column("place", ColumnKind.TEXT, "the place, such as 1, or 2-4 where it is shared"),
        ExportColumn(name="player", kind=ColumnKind.INTEGER, meaning=tables.PLAYER, optional=False),
        name,
        _table_column(
            "enrolment_rating", ColumnKind.NUMBER, "rating when the first game in it started", POINTS, optional=True
        ),
        _table_column("closing_rating", ColumnKind.NUMBER, "rating after the last game in it", POINTS, optional=True),
        _table_column("games", ColumnKind.INTEGER, "games in the table", "games"),
        _table_column("points", ColumnKind.NUMBER, "points, those of forfeits and byes among them", "game points"),
        _table_column("wins", ColumnKind.INTEGER, "games won, forfeits among them", "games"),
        _table_column("draws", ColumnKind.INTEGER, "games drawn", "games"),
        _table_column("losses", ColumnKind.INTEGER, "games lost, forfeits among them", "games"),
        _table_column(
            "opponents_mean", ColumnKind.NUMBER, "mean enrolment rating of the opponents met", POINTS, optional=True
        ),
        _table_column("performance", ColumnKind.NUMBER, "performance rating", POINTS, optional=True),
        _table_column("variant", ColumnKind.TEXT, "which performance rating that is, such as fide_tpr"),
        _table_column(
            "er_offset", ColumnKind.NUMBER, "100 (performance / enrolment rating - 1)", "per cent", optional=True
        ),
        _table_column("upsets", ColumnKind.INTEGER, "upsets that the player brought about", "games"),
        _table_column(
            "results",
            ColumnKind.TEXT,
            "results against other rows: 2:1½ 5:0 is a win and a draw against row 2, a loss to 5",
        ),
    )


def crosstable_frames(ledger: OpenLedger, pool: int | None, tournament: str | None) -> Iterator[DataFrame]:
    """Yield the rows of each table, without the column of names.

    Args:
        ledger: a ledger whose views are up to date.
        pool: number of the pool; None: all.
        tournament: name of the tournament; None: all.
    """
    types = {
        column.name: column.type
        for column in crosstable_columns(_table_column("name", ColumnKind.TEXT, ""))
        if column.name != "name"
    }
    for rated_by in ledger.pools():
        if pool in {None, rated_by.pool}:
            rows = tournaments(ledger, rated_by.name, TournamentSearch(text=tournament))
            began = Counter((row.tournament, row.first_day) for row in rows)
            for row in rows:
                # The search finds every name that has this one in it.
                if tournament in {None, row.tournament}:
                    # by its place: its first day may be recorded as a year in which others lie, or be that of another
                    # one
                    choice = TableChoice(number=int(row.edition.partition(" ")[0]))
                    page = crosstable(ledger, row.tournament, rated_by.name, choice)
                    is_alone = began[row.tournament, row.first_day] == 1
                    edition = row.first_day if is_alone else _first_end(page)
                    yield pl.DataFrame(_crosstable_rows(page, edition), types)


def _first_end(page: Crosstable) -> str:
    """Return when its first game ended, as precisely as it is known; of an edition without a game, its first day."""
    ends = {result.ended_at for standing in page.standings for result in standing.results}
    return min(ends, key=lambda end: (instant_ms(end), end), default=page.edition.first_day)


def _crosstable_rows(page: Crosstable, edition: str) -> list[dict[str, Any]]:
    return [
        {
            "pool": page.pool,
            "tournament": page.tournament,
            "edition": edition,
            "number": standing.number,
            "place": standing.place,
            "player": standing.player,
            "enrolment_rating": standing.enrolment_rating,
            "closing_rating": standing.closing_rating,
            "games": standing.games,
            "points": standing.points,
            "wins": standing.wins,
            "draws": standing.draws,
            "losses": standing.losses,
            "opponents_mean": standing.opponents_mean,
            "performance": standing.performance,
            "variant": page.performance.variant,
            "er_offset": standing.er_offset,
            "upsets": standing.upsets,
            "results": " ".join(f"{met.opponent_number}:{met.marks}" for met in standing.meetings),
        }
        for standing in page.standings
    ]


CROSSTABLES = Dataset(
    name="crosstables",
    doc="The cross-tables of tournaments, a row for each player of each edition, the best first.",
    columns=crosstable_columns(_name("name", "player", "the player's name")),
    key=("pool", "tournament", "edition", "player"),
    filters=frozenset({"pool", "tournament"}),
    rows=lambda ledger, selection: crosstable_frames(ledger, selection.pool, selection.tournament),
)

# -- all of them -------------------------------------------------------------------------------------------------

PREPARED: Mapping[str, Callable[[Sequence[str]], Dataset]] = {
    "players": lambda _: PLAYERS,
    "games": lambda _: GAMES,
    "history": history,
    "ratings": lambda _: RATINGS,
    "lists": lambda _: LISTS,
    "crosstables": lambda _: CROSSTABLES,
}


@of_one_moment
def dataset(ledger: OpenLedger, name: str) -> Dataset:
    """Return the dataset of a name: one of ``PREPARED``, or a table of the views unchanged.

    Args:
        ledger: a ledger whose views are up to date.
        name: of a dataset, or of a table of the views.

    Raises:
        UnknownNameError: there is no such dataset or table.
    """
    connection, projectors = ledger.views.connection, ledger.views.at_hand.all
    keeping.refuse_left_behind(connection, name, ledger.views.at_hand.broken)
    if name in PREPARED:
        return PREPARED[name](scheme_state(connection))
    tables = view_docs.described_in(connection, projectors)
    further = [name for name in tables if name not in PREPARED and can_be_had(connection, name)]
    names = [*PREPARED, *further]
    if name not in names:
        raise UnknownNameError("table", name, choice_of(name, names), where="to export")
    columns, key = of_table(connection, name, tables[name])

    def scans(_: ExportFilter, selected: Sequence[ExportColumn]) -> list[TableScan]:
        return [scan(selected, f'"{name}"', key, where) for where in rows_at_one_time(connection, name)]

    return Dataset(name=name, doc=tables[name].doc, columns=columns, key=key, scans=scans)


def check_filters(selection: ExportFilter, chosen: Sequence[Dataset]) -> None:
    """Refuse what a dataset cannot be asked.

    Raises:
        MalformedError: naming what does not go with which.
    """
    words = {"since_ms": "since", "until_ms": "until", "published": "list"}
    problems = [
        f"{words.get(option, option)!r} does not go with {item.name!r}; it can be chosen by "
        f"{sorted(words.get(name, name) for name in item.filters) or 'nothing'}"
        for item in chosen
        for option in sorted(selection.filters - item.filters)
    ]
    if problems:
        raise MalformedError(problems)
