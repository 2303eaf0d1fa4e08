"""Assessments of games: the reason why a game is not rated, and its position in rating order.

Games are assessed one by one or, if there are many, as columns. A later fact may affect games of the book: they are
assessed again, and those that change are noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.book import tables
from ledger.book.guests import GameSides, Guests
from ledger.book.late_reports import KnownEdition
from ledger.book.roster import STANDING_CODE, Roster
from ledger.book.stored_editions import EditionsByEnd, rated_editions
from ledger.book.timeline import NO_BATCH, Place, Pool
from ledger.facts.events import Event
from ledger.facts.words import OUTCOME_CODE, TERMINATION_CODE
from ledger.runtime.kernels import compile_kernel, with_globals
from ledger.runtime.lazy import np, pl
from ledger.schemes.scheme import GUEST, HALF_MOVES_UNKNOWN, REASONS, STANDING_FULL, STANDING_GUEST, Scheme

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame, Series


class RecordedEvent(NamedTuple):
    """An event with its position in the journal: the part of an entry that the game book needs."""

    position: int
    event: Event


class RatedGame(NamedTuple):
    """A rated game with all facts that tables may need, as it is projected alone without a look at the tables."""

    position: int
    white: int
    black: int
    half_points: int
    time_loss: int
    ended_ms: int
    rated_ms: int
    facts: dict[str, Any]


@attrs.define
class Reratings:
    """The effects of new entries on ratings: for each pool, from when on and for which players games are rerated.

    Attributes:
        start_ms: by pool, the earliest place in rating order of a new or changed game, milliseconds.
        touched: by pool, players whose games from there on are rated again, whatever the new games are.
        only: by pool, the one new game; None if there is more.
        sources: by pool, from when on it may give other ratings to players who begin in another pool with its ratings:
            by player, or for everybody (None).
        adopted: the adopted schemes.
        former_games: by position, the former rows of changed games; None if no projector of facts needs them.
        other_facts: by position, other facts, as they were recorded, that a decision concerned.
    """

    start_ms: dict[int, int] = attrs.Factory(dict)
    touched: dict[int, set[int]] = attrs.Factory(dict)
    only: dict[int, RatedGame | None] = attrs.Factory(dict)
    sources: dict[int, dict[int | None, int]] = attrs.Factory(dict)
    adopted: list[Scheme] = attrs.Factory(list)
    former_games: dict[int, Mapping[str, Any]] | None = None
    other_facts: dict[int, Event] = attrs.Factory(dict)

    def note(self, pool: int, rated_ms: int, players: Iterable[int] = (), played: RatedGame | None = None) -> None:
        """Note that games of *pool* are rated again from *rated_ms* on, because of *played* or another change."""
        self.only[pool] = None if pool in self.only else played
        self.start_ms[pool] = min(rated_ms, self.start_ms.get(pool, rated_ms))
        self.touched.setdefault(pool, set()).update(players)

    def note_source(self, pool: int, since_ms: int, players: Iterable[int | None] = (None,)) -> None:
        """Note that *pool* may give other ratings from an instant on to players who begin with them elsewhere."""
        earliest = self.sources.setdefault(pool, {})
        for player in players:
            earliest[player] = min(since_ms, earliest.get(player, since_ms))


refuse: Callable[..., int]  # a name that ``with_globals`` gives to the loop below


def with_assessments(
    pools: Iterable[Pool], roster: Roster, frame: DataFrame, editions: EditionsByEnd | None = None
) -> DataFrame:
    """Return games with the columns of an assessment. Guests are left to ``GameAssessor``.

    Args:
        pools: every pool of these games.
        roster: the players.
        frame: games in columns of the table ``games``: ``pool``, ``outcome``, ``termination``, ``half_moves``,
            ``rated``, ``white``, ``black``, ``ended_ms``, ``tournament`` and ``position``.
        editions: of tournaments that are rated whole; a game of none of them counts as its own tournament.
    """
    number = frame["pool"].to_numpy()
    present = [(pool, places) for pool in pools if len(places := np.flatnonzero(number == pool.pool))]
    frame = frame.with_columns(reason=_reasons(present, roster, frame, editions or {}))
    frame = frame.with_columns(white_guest=pl.lit(None, pl.String), black_guest=pl.lit(None, pl.String))
    return frame.with_columns(_places(present, frame, editions or {}))


def _reasons(present: list[tuple[Pool, Any]], roster: Roster, frame: DataFrame, editions: EditionsByEnd) -> Series:
    """Return why each game does not count, null for those that do."""
    columns = [
        frame["outcome"].replace_strict(dict(OUTCOME_CODE), return_dtype=pl.Int32).to_numpy(),
        frame["termination"].replace_strict(dict(TERMINATION_CODE), return_dtype=pl.Int32).to_numpy(),
        frame["half_moves"].fill_null(HALF_MOVES_UNKNOWN).cast(pl.Int32).to_numpy(),
        frame["rated"].cast(pl.Boolean).to_numpy(),
        *(_standings(roster, frame, side) for side in ("white", "black")),
    ]
    ended_ms = frame["ended_ms"].to_numpy()
    reasons = np.zeros(len(frame), np.int32)
    for pool, places in present:
        rated_ms = ended_ms[places]
        if pool.tournaments_cross_eras:
            tournaments, entries = frame["tournament"].gather(places).to_list(), frame["position"].to_numpy()[places]
            rated_ms = pool.places(rated_ms, tournaments, editions.get(pool.pool), entries)[0]
        eras = pool.eras_at(rated_ms)
        for number, era in enumerate(pool.eras):
            here = places[eras == number]
            if len(here):
                arguments = [column[here] for column in columns]
                # standings; some tournaments rate guests, and few games have one
                white, black = arguments[4:6]
                for place in np.flatnonzero((white == STANDING_GUEST) | (black == STANDING_GUEST)):
                    sides = era.standings(int(white[place]), int(black[place]), frame["tournament"][int(here[place])])
                    white[place], black[place] = sides
                codes = np.zeros(len(here), np.int32)
                compile_kernel(reason_kernel(era.scheme))(*arguments, codes, era.numbers)
                reasons[here] = codes
    return pl.Series("reason", [None, *REASONS[1:]], dtype=pl.String).gather(reasons)


def _places(present: list[tuple[Pool, Any]], frame: DataFrame, editions: EditionsByEnd) -> list[Series]:
    """When each game takes its place in rating order, its batch, and when its tournament began."""
    began_ms = pl.Series([None], dtype=pl.Int64).new_from_index(0, len(frame))
    rated_ms, batch = frame["ended_ms"], pl.Series([NO_BATCH], dtype=pl.String).new_from_index(0, len(frame))
    counts = frame["reason"].is_null().to_numpy()
    for pool, places in present:
        if not pool.by_game:
            counting = places[counts[places]]
            games = frame[counting]
            ms, batches, begins = pool.places(
                games["ended_ms"].to_numpy(),
                games["tournament"].to_list(),
                editions.get(pool.pool),
                games["position"].to_numpy(),
            )
            rated_ms, batch = rated_ms.scatter(counting, ms), batch.scatter(counting, batches)
            if pool.by_event:
                began_ms = began_ms.scatter(counting, pl.Series(begins, dtype=pl.Int64))
    return [rated_ms.alias("rated_ms"), batch.alias("batch"), began_ms.alias("began_ms")]


def _standings(roster: Roster, frame: DataFrame, side: str) -> Any:
    """Return the codes of one side's membership statuses; only players who were ever no full members are looked up."""
    standings = np.full(len(frame), STANDING_FULL, np.int32)
    special = roster.not_full_members()
    if special:
        players, ends = frame[side].to_numpy(), frame["ended_ms"].to_numpy()
        for place in np.flatnonzero(np.isin(players, list(special))):
            standings[place] = roster.standing_at(int(players[place]), int(ends[place]))
    return standings


def fill_reasons(
    outcome: Any, termination: Any, half_moves: Any, rated: Any, white: Any, black: Any, reasons: Any, numbers: Any
) -> None:
    """Fill *reasons* with the code that a scheme's ``refuse`` returns for each game."""
    # in the part of Python that Numba compiles: columns in, codes out, no object is made on the way
    for game in range(len(outcome)):
        # ``with_globals`` puts the scheme's own kernel in under this name.
        reasons[game] = refuse(  # noqa: F821
            outcome[game], termination[game], half_moves[game], rated[game], white[game], black[game], numbers
        )


@cache
def reason_kernel(scheme: Scheme) -> Callable[..., None]:
    """Return ``fill_reasons`` of one scheme, for ``compile_kernel``."""
    return with_globals(fill_reasons, f"refuse_{scheme.name}", refuse=scheme.refuse)


# ``_standings`` gives this code to all whom the roster does not name.
assert STANDING_CODE["full"] == STANDING_FULL


BLOCK = 100_000  # games that are Python objects at one time: some 35 MB
FEW_ASSESSED = 2_000  # games up to which each is assessed by itself, without loading Polars
ASSESSED_COLUMNS = (
    "position", "pool", *tables.ASSESSMENT_COLUMNS, "ended_ms", "outcome", "termination", "half_moves", "rated",
    "white", "black", "tournament", "voided_by", "white_rating", "black_rating",
)  # fmt: skip
SELECT_ASSESSED = f"SELECT {', '.join(ASSESSED_COLUMNS)} FROM games WHERE "
VOIDED, SAME_PERSON = "voided", "same-person"  # why a corrected game does not count, whatever the scheme
SchemeAssessment = tuple[str | None, int, str, int | None]  # why a game does not count, and its ``Place``
Assessment = tuple[str | None, int, str, int | None, str | None, str | None]  # the same, and the ratings of guests
NO_GUESTS: tuple[str | None, str | None] = (None, None)


class GameAssessor:
    """Decides for the games of one game book whether each is rated, and where it lies in rating order."""

    def __init__(
        self, connection: sqlite3.Connection, pools: Mapping[str, Pool], roster: Roster, merges: Mapping[int, int]
    ) -> None:
        """Take the database of the book, its current pools, the roster of players, and the merges in force."""
        self._connection = connection
        self._pools = pools
        self._roster = roster
        self._merges = merges

    def guests(self) -> Guests:
        """Return the guests by the facts of now."""
        return Guests(self._connection, self._roster, self._merges)

    def assess(
        self,
        pool: Pool,
        ms: int,
        outcome: str,
        termination: str,
        half_moves: int | None,
        rated: bool,
        white: int,
        black: int,
        tournament: str | None,
        edition: KnownEdition | None = None,
        entry: int | None = None,
    ) -> SchemeAssessment:
        """Return the reason why a game is not rated (None if it is), and its position in rating order.

        *entry* is the position of the entry that recorded it; None: it was recorded before any list was published.
        """
        # Where a tournament may cross a change of scheme, its place says whose rules refuse the game; elsewhere a game
        # that does not count needs none.
        place = pool.place(ms, tournament, edition, entry) if pool.tournaments_cross_eras else None
        era = pool.eras[pool.era_at(ms if place is None else place.rated_ms)]
        reason = era.scheme.refuse(
            OUTCOME_CODE[outcome],
            TERMINATION_CODE[termination],
            HALF_MOVES_UNKNOWN if half_moves is None else half_moves,
            bool(rated),
            *era.standings(self._roster.standing_at(white, ms), self._roster.standing_at(black, ms), tournament),
            era.numbers,
        )
        if reason:
            return REASONS[reason], *Place(ms, NO_BATCH)
        return None, *(place or pool.place(ms, tournament, edition, entry))

    @staticmethod
    def with_guests(guests: Guests, pool: Pool, assessment: SchemeAssessment, game: GameSides) -> Assessment:
        """Return the assessment of a game with the ratings of guests: without a rating of a guest it is not rated."""
        reason, rated_ms, _, began_ms = assessment
        if reason is not None:
            return *assessment, *NO_GUESTS
        era = pool.eras[pool.era_at(rated_ms if pool.tournaments_cross_eras else game.ended_ms)]
        sides = guests.of_game(pool, era, game._replace(began_ms=began_ms))
        if sides is None:
            return REASONS[GUEST], *Place(game.ended_ms, NO_BATCH), *NO_GUESTS
        return *assessment, *sides

    def reassess(
        self,
        where: str,
        arguments: tuple[object, ...],
        reratings: Reratings,
        *,
        player: int | None = None,
        everybody: bool = False,
    ) -> None:
        """Assess games again that a later fact affects, and note for rerating the games whose assessment changes.

        On request all of them are noted.

        Args:
            where: the condition that selects the games.
            arguments: the values of its question marks.
            reratings: takes the games to be rated again.
            player: the player whose games are rated again whatever changes.
            everybody: all players of the games are rated again.
        """
        changed: list[tuple[Any, ...]] = []
        in_table = False
        cursor = self._connection.execute(SELECT_ASSESSED + where, arguments)
        # First so few as are assessed without Polars: it is loaded only where a fact affects more games.
        rows = cursor.fetchmany(FEW_ASSESSED)
        while rows:
            for assessment, row in zip(self.assess_rows(rows), rows, strict=True):
                position, number, *before = row[:8]
                if list(assessment) != before:
                    changed.append((*assessment, position))
                    reratings.note(number, min(assessment[1], before[1]), row[13:15])
                elif before[0] is None and (everybody or player is not None):
                    reratings.note(number, before[1], row[13:15] if player is None else (player,))
            # a change of scheme may affect all games of a long journal: their assessments need not fit into the memory
            if len(changed) > BLOCK:
                self._store_temporarily(changed)
                in_table = True
            rows = cursor.fetchmany(BLOCK)
        if in_table:
            self._store_temporarily(changed)
            self._connection.execute(
                "UPDATE games SET reason = judged.reason, rated_ms = judged.rated_ms, batch = judged.batch, "
                "began_ms = judged.began_ms, white_guest = judged.white_guest, black_guest = judged.black_guest "
                "FROM temp.judged WHERE games.position = judged.position"
            )
            self._connection.execute("DROP TABLE temp.judged")
        else:
            columns = ", ".join(f"{name} = ?" for name in tables.ASSESSMENT_COLUMNS)
            update = f"UPDATE games SET {columns} WHERE position = ?"
            self._connection.executemany(update, changed)

    def _store_temporarily(self, changed: list[tuple[Any, ...]]) -> None:
        """Store assessments in a table until all games are assessed: an index that is being read must not change."""
        self._connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {tables.TEMPORARY_ASSESSMENTS}")
        self._connection.executemany("INSERT INTO temp.judged VALUES (?, ?, ?, ?, ?, ?, ?)", changed)
        changed.clear()

    def assess_rows(self, rows: list[tuple[Any, ...]]) -> Iterable[Assessment]:
        """Yield the assessments of stored games, whose rows have the columns ``ASSESSED_COLUMNS``."""
        guests, by_number = self.guests(), {pool.pool: pool for pool in self._pools.values()}
        for row, assessment in zip(rows, self._assess_by_schemes(rows), strict=True):
            # for every scheme, the place of a game that does not count is where it ended
            if row[16] is not None:
                yield VOIDED, *Place(row[8], NO_BATCH), *NO_GUESTS
            elif row[13] == row[14]:
                yield SAME_PERSON, *Place(row[8], NO_BATCH), *NO_GUESTS
            elif not by_number[row[1]].has_guests:
                yield *assessment, *NO_GUESTS
            else:
                sides = GameSides(row[13], row[14], row[15], row[8], None, row[17], row[18])
                yield self.with_guests(guests, by_number[row[1]], assessment, sides)

    def _assess_by_schemes(self, rows: list[tuple[Any, ...]]) -> Iterable[SchemeAssessment]:
        """Return assessments by the schemes alone, one by one or as columns."""
        by_number = {pool.pool: pool for pool in self._pools.values()}
        arguments = ((by_number[row[1]], row[15], row[8]) for row in rows)
        has_whole = any(pool.by_event for pool in by_number.values())
        editions = rated_editions(self._connection, arguments) if has_whole else {}
        if len(rows) > FEW_ASSESSED:
            names = ("position", "pool", *ASSESSED_COLUMNS[8:16])
            columns = dict(zip(names, zip(*((*row[:2], *row[8:16]) for row in rows), strict=True), strict=True))
            texts = {"outcome", "termination", "tournament"}
            schema = {name: pl.String if name in texts else pl.Int64 for name in names}
            frame = with_assessments(self._pools.values(), self._roster, pl.DataFrame(columns, schema=schema), editions)
            return frame.select("reason", "rated_ms", "batch", "began_ms").iter_rows()
        return (
            self.assess(by_number[row[1]], *(*row[8:16], editions.get(row[1], {}).get(row[15], {}).get(row[8]), row[0]))
            for row in rows
        )
