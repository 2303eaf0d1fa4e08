"""The game book: journal entries to games as they now stand, one row each, with the reason where one does not count.

Entries by the dozen are taken as events, many thousands as columns (``game_book_columns``); both give the same rows.
Nothing is rated here.
A proposal or decision is noted as it comes in, and where one takes effect the games that it reaches stand anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

import orjson

from ledger.auth.issued_tokens import IssuedTokens
from ledger.book import decisions, judging, tables
from ledger.book.decisions import Acting, Decided, Remainder
from ledger.book.judging import JUDGED, Changes, RecordedEvent
from ledger.book.kinds import BookState, apply_fact, note_moves
from ledger.book.policies import RULE, UNPROVEN, Party, broken_by
from ledger.book.tables import DERIVED, FACTS, PLACED, PLAYER_BITS, POINTS_BITS, facts_of, row_of
from ledger.book.timeline import Pool
from ledger.errors import CorruptError, MalformedError
from ledger.facts import codec
from ledger.facts.changes import Change, Verb
from ledger.facts.codec import Entry, decode
from ledger.facts.events import (
    ROLES_OF,
    SUPPLEMENTED,
    CorrectionDecided,
    CorrectionProposed,
    GameRecorded,
    GameSupplemented,
    Role,
)
from ledger.journal import Journal
from ledger.schemes import named

if TYPE_CHECKING:
    import sqlite3

_GAME = "game:"
_OF_PERSON = (
    "SELECT position FROM games WHERE white = ?1 AND ended_ms BETWEEN ?2 AND ?3 "
    "UNION SELECT position FROM games WHERE black = ?1 AND ended_ms BETWEEN ?2 AND ?3"
)
_AT_TOURNAMENT = "SELECT position FROM games WHERE pool = ? AND tournament = ? AND ended_ms BETWEEN ? AND ?"
_GIVEN = (
    "SELECT position FROM given_sides WHERE white IN (SELECT value FROM json_each(?1)) "
    "UNION SELECT position FROM given_sides WHERE black IN (SELECT value FROM json_each(?1)) "
    "UNION SELECT position FROM games WHERE white IN (SELECT value FROM json_each(?1)) "
    "UNION SELECT position FROM games WHERE black IN (SELECT value FROM json_each(?1))"
)


_OF_TOURNAMENTS = {Verb.ANNUL_TOURNAMENT, Verb.RESTORE_TOURNAMENT}
# Rounds without a game that were corrected by themselves: they come and go with their tournament, too.
# In the order of subjects ';' follows ':', so that these two enclose every round.
_ROUNDS_AT = "SELECT position FROM rounds_without_game WHERE pool = ? AND tournament = ? ORDER BY position"
_CORRECTED_ROUNDS = "SELECT DISTINCT subject FROM corrections WHERE subject >= 'round:' AND subject < 'round;'"


class Correcting:
    """The corrections of one game book."""

    def __init__(self, book: BookState) -> None:
        """Take the parts of the book."""
        self._book = book
        self._connection, self._journal, self._decided = book.connection, book.journal, book.decided
        self._issued = IssuedTokens(book.journal)
        self._toggled: list[int] = []  # proposals that act now and did not before, or do no longer

    def take(self, entry: Entry) -> None:
        """Note a proposal or a decision; what follows waits for ``settle``."""
        match entry.event:
            case CorrectionProposed() as event:
                proven = event.proven and self._unproven(entry, event.by_token, Role.CORRECTOR) is None
                self._decided.propose(entry.position, entry.actor, event, proven=proven)
            case CorrectionDecided() as event:
                proven = event.proven and self._unproven(entry, event.by_token, ROLES_OF[event.decision]) is None
                why_not = self._broken_policy(entry, event, proven=proven)
                self._toggled += self._decided.decide(entry.position, entry.actor, event, why_not, proven=proven)
            case _:
                pass

    def _unproven(self, entry: Entry, by_token: int | None, role: Role) -> str | None:
        """Why no token proves who acts by an entry that says so; asked of the journal, by its position alone."""
        return self._issued.now().fault(entry.actor, by_token, role, entry.position)

    def _broken_policy(self, entry: Entry, event: CorrectionDecided, *, proven: bool) -> str | None:
        """The rule that a decision breaks, so that it has no effect."""
        if event.proven and not proven:
            return UNPROVEN
        proposal = self._decided.proposal(event.proposal)
        if proposal is None:
            return None
        decided = Party(entry.actor, proven)
        words = broken_by(self._connection, entry.position, proposal, event.decision, decided)
        return None if words is None else RULE

    def settle(self, fresh: Changes) -> None:
        """Make all that decisions concern, since this was last called, what the corrections in force say."""
        changes = [numbered.change for numbered in self._decided.changes(self._toggled)] if self._toggled else []
        games = set(self._book.unsettled)
        self._toggled = []
        self._book.unsettled.clear()
        if changes:
            # each scheme that was ever put in, undone or not: views must not depend on when they were brought level
            replacements = (change.facts or {} for change in changes if change.do is Verb.REPLACE)
            fresh.adopted.extend(named(facts["scheme"]) for facts in replacements if "scheme" in facts)
            of_facts = (change.fact for change in changes if change.fact is not None)
            self._stand_again([key for key in dict.fromkeys(of_facts) if not key.startswith(_GAME)], fresh)
            # Persons first: whose games a span means follows from who is who, and the spans of before tell which games
            # it meant until now.
            games |= self._settle_persons(changes)
            self._decided.read_spans()
            if any(change.do in _OF_TOURNAMENTS for change in changes):
                self._stand_again([key for (key,) in self._connection.execute(_CORRECTED_ROUNDS)], fresh)
            for change in changes:
                games.update(self._games_of(change))
                if change.do in _OF_TOURNAMENTS:
                    self._note_rounds(change, fresh)
        if games:
            reapply_games(self._book, {position: {} for position in games}, fresh)

    def settle_all(self, fresh: Changes) -> None:
        """The same for everything that was ever approved: at the end of a build."""
        self._toggled = self._decided.approved()
        self.settle(fresh)

    @property
    def is_needed(self) -> bool:
        """Whether anything was approved."""
        return self._decided.any_approved

    def _stand_again(self, keys: Sequence[str], fresh: Changes) -> None:
        """Let facts, but games, stand as the corrections in force say."""
        recorded = self._journal.find(keys) if keys else {}
        for stored in sorted(recorded.values(), key=lambda entry: entry.position):
            if self._book.knows(stored.position):
                event = decode(stored.body).event
                fresh.restood[stored.position] = event
                apply_fact(self._book, stored.position, event, self._book.standing(event), fresh)

    def _note_rounds(self, change: Change, fresh: Changes) -> None:
        """Note the rounds without a game of a tournament that is voided or put back: their rows stay as they are."""
        pool = self._book.pools.get(change.pool or "")
        where = () if pool is None else (pool.pool, change.tournament)
        rows = self._connection.execute(_ROUNDS_AT, where).fetchall() if where else []
        # A file tells those of a tournament one after another: they are read in runs, each a question to a server.
        for _, run in groupby(enumerate(position for (position,) in rows), lambda pair: pair[1] - pair[0]):
            positions = [position for _, position in run]
            bodies = chain.from_iterable(self._journal.read(positions[0] - 1, positions[-1]))
            for position, body in zip(positions, bodies, strict=True):
                fresh.restood.setdefault(position, decode(body).event)

    def _settle_persons(self, changes: list[Change]) -> set[int]:
        """Bring the merges up to date; the games whose players may be other persons now."""
        decided = self._decided
        merging = (change for change in changes if change.do in {Verb.MERGE, Verb.PART})
        players = sorted({change.player for change in merging if change.player is not None})
        if not players:
            return set()
        before, concerned = dict(decided.merges), set[int]()
        for player in players:
            subject = f"person:{player}"
            merge = decisions.merged(decided.acting([subject]).get(subject, []))
            decided.merge(player, *((None, 0) if merge is None else (merge.change.into, merge.proposal)))
            concerned |= decisions.below(before, player) | decisions.below(decided.merges, player)
        root = decisions.root
        moved = {player for player in concerned if root(before, player) != root(decided.merges, player)}
        games = self._positions(_GIVEN, (orjson.dumps(sorted(moved)).decode(),)) if moved else set()
        # the games of a person who is somebody else now
        for span in decided.spans:
            change = span.change
            if change.do is Verb.ANNUL_GAMES and change.player is not None:
                for merges in (before, decided.merges):
                    person = decisions.root(merges, change.player)
                    games |= self._positions(_OF_PERSON, (person, *decisions.span(change)))
        return games

    def _games_of(self, change: Change) -> Iterator[int]:
        """The games that a change means, by position."""
        match change.do:
            case Verb.ANNUL_GAMES:
                person = decisions.root(self._decided.merges, change.player or 0)
                yield from self._positions(_OF_PERSON, (person, *decisions.span(change)))
            case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT:
                pool = self._book.pools.get(change.pool or "")
                if pool is not None:
                    tables.index_tournaments(self._connection)
                    where = (pool.pool, change.tournament, *decisions.span(change))
                    yield from self._positions(_AT_TOURNAMENT, where)
            case _ if change.fact is not None and change.fact.startswith(_GAME):
                for stored in self._journal.find([change.fact]).values():
                    if self._book.knows(stored.position):
                        yield stored.position
            case _:
                pass

    def _positions(self, query: str, arguments: tuple[Any, ...]) -> set[int]:
        return {position for (position,) in self._connection.execute(query, arguments)}


# Each number that SQLite hands over becomes an object, which costs more than to find it: two share one.
PACKED = (
    f"(position << {2 * POINTS_BITS}) | (half_points << {POINTS_BITS}) | time_loss",
    f"(white << {PLAYER_BITS}) | black",
    "rated_ms",
)
BATCH = ("batch", "ended_ms")  # of a pool that rates games by themselves none, and the place in rating order
PACKED_COLUMNS = ("position", "white", "black", "half_points", "time_loss", "rated_ms", *BATCH)  # what is asked for


def rated_games(pool: Pool, facts: Sequence[str] = ()) -> str:
    """The question for the rated games of a pool from a place on, in rating order; see ``GameBook.in_order``."""
    columns = [*PACKED, *(() if pool.by_game else BATCH), *facts]
    return (
        f"SELECT {', '.join(columns)} FROM games WHERE pool = ? AND reason IS NULL AND rated_ms >= ? "
        f"ORDER BY {tables.IN_RATING_ORDER}"
    )


class GameBook(BookState):
    """The games of one views database, and what is needed to place further ones."""

    def __init__(self, connection: sqlite3.Connection, journal: Journal, *, until: int | None = None) -> None:
        """Take up the games of a database.

        Args:
            connection: the database.
            journal: where facts that are corrected stand as they were recorded.
            until: of a build, the position at which it ends.
        """
        super().__init__(connection, journal, until=until)
        self.correcting = Correcting(self)

    def take(self, entries: Iterable[codec.Entry | RecordedEvent], fresh: Changes) -> None:
        """Fold a few entries in, all that there are; what they touch is noted in *fresh*."""
        self.fold(entries, fresh)
        self.settle(fresh)

    def fold(self, entries: Iterable[codec.Entry | RecordedEvent], fresh: Changes) -> None:
        """Fold some of many entries in: what was decided waits for ``settle``, until all that it concerns is there."""
        tellings: list[Added] = []  # of games that may stand among these entries
        for entry in entries:
            match entry.event:
                case CorrectionProposed() | CorrectionDecided():
                    assert isinstance(entry, codec.Entry)  # with who proposes or decides
                    self.correcting.take(entry)
                case GameSupplemented() as event:
                    tellings.append(added(event))
                    note_moves(self, event.entry, event.text)
                case event:
                    apply_fact(self, entry.position, None, event, fresh)
        if tellings:
            supplement(self, tellings, fresh)

    def settle(self, fresh: Changes) -> None:
        """Let the corrections that were decided take effect."""
        self.correcting.settle(fresh)
        self.place_runs(fresh)
        self.place_tournaments(fresh)

    def settle_all(self, fresh: Changes) -> None:
        """Let all corrections take effect, and all tournaments take their places, at the end of a build."""
        if self.correcting.is_needed:
            self.correcting.settle_all(fresh)
            self.place_runs(fresh)
        self.played.taken()
        for pool in self.pools.values():
            if pool.by_event:
                tables.index_tournaments(self.connection)
                self.judging.again("pool = ?1", (pool.pool,), fresh)

    @property
    def is_to_settle(self) -> bool:
        """Whether ``settle_all`` may change a game."""
        return self.correcting.is_needed or any(pool.by_event for pool in self.pools.values())

    def in_order(self, pool: Pool, start_ms: int, facts: Sequence[str] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """The rated games whose place is at *start_ms* or later, in rating order, in blocks of whole batches.

        Each is ``(game, players, place in rating order)``, where the pool does not rate games by themselves ``batch``
        and ``end``, and the further columns of the game book that *facts* names. A game is its position and, in four
        lower bits, the half points of White and who lost on time (0 nobody, 1 White, 2 Black); players are White and,
        in ``PLAYER_BITS`` lower bits, Black.
        """
        cursor = self.connection.execute(rated_games(pool, facts), (pool.pool, start_ms))
        kept: list[tuple[Any, ...]] = []  # the last batch may go on in the next block
        while rows := cursor.fetchmany(judging.BLOCK):
            rows = [*kept, *rows]
            cut = len(rows)
            if not pool.by_game:
                while cut and rows[cut - 1][2:4] == rows[-1][2:4]:
                    cut -= 1
            if cut:
                yield rows[:cut]
            kept = rows[cut:]
        if kept:
            yield kept


# Games of the book that stand otherwise now: rows are read, changed, judged, noted and written, whatever the cause.
#
# A correction, a merge, a voided tournament and a further telling are one road: the facts as they were told, with
# what further tellings add, then the changes in force, the persons that merged players are, and whether the game is
# voided.

BLOCK = 20_000  # games whose rows are Python objects at one time
ADDED = tuple(name for name in SUPPLEMENTED if name != "text")  # by further tellings; the movetext stands in no row
_COLUMNS = ("position", "pool", "key", *FACTS, *DERIVED, *PLACED, "voided_by")
# One statement however many positions there are: it is prepared once, and no limit on question marks is met.
_AMONG = "position IN (SELECT value FROM json_each(?))"
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM games WHERE {_AMONG} ORDER BY position"
_ORIGINALS = f"SELECT position, facts FROM originals WHERE {_AMONG}"
_SIDES = f"SELECT position, white, black FROM given_sides WHERE {_AMONG}"
_WRITTEN = tuple(name for name in _COLUMNS if name not in {"position", "key"})
_UPDATE = f"UPDATE games SET {', '.join(f'{name} = ?' for name in _WRITTEN)} WHERE position = ?"
_UNRATED = {"half_moves", "started_at"}  # where the verdict stays, no rating and no row of a table knows them
_OF_TOURNAMENT = ("pool", "tournament", "ended_ms", "white", "black", "voided_by")  # what says the days of one
_KEEP_ORIGINAL = "INSERT OR REPLACE INTO originals VALUES (?, ?)"
_KEEP_SIDES = "INSERT OR REPLACE INTO given_sides VALUES (?, ?, ?)"
NO_CHANGES = Remainder({}, None, None)

Row = dict[str, Any]
Added = tuple[int, Mapping[str, Any]]  # position of the entry that recorded a game, and what is known of it now


def added(event: GameSupplemented) -> Added:
    """What a further telling adds to which game, as plain values."""
    facts = codec.facts_mapping(event)
    return event.entry, {name: facts[name] for name in ADDED if name in facts}


def supplement(book: BookState, tellings: Iterable[Added], fresh: Changes) -> None:
    """Make games of which further tellings, in the order of the journal, know more stand as they are known now.

    Raises:
        CorruptError: a game of which more is told stands in no row.
    """
    games: dict[int, dict[str, Any]] = {}
    for entry, more in tellings:
        games.setdefault(entry, {}).update(more)
    reapply_games(book, games, fresh)


def reapply_games(book: BookState, games: Mapping[int, Mapping[str, Any]], fresh: Changes) -> None:
    """Make games what all that is known by now says of them; what is to be rated anew is noted in *fresh*.

    Args:
        book: where they stand.
        games: by position of the entry that recorded one, what a further telling adds; nothing for a correction.
        fresh: takes what is to be rated anew.
    """
    # by position: so their rows lie in the table, and are read and written from one end to the other
    waiting = iter(sorted(games.items()))
    while block := dict(islice(waiting, BLOCK)):
        before = rows_at(book.connection, list(block))
        if lost := {entry for entry, more in block.items() if more} - {row["position"] for row in before}:
            message = "is supplemented as a game that it did not record; run 'audit'"
            raise CorruptError("journal", min(lost), message)
        after = _after_all(book, before, block)
        verdicts = book.judging.verdicts([tuple(row[name] for name in JUDGED) for row in after])
        changed = []
        for stood, row, verdict in zip(before, after, verdicts, strict=True):
            row.update(zip(PLACED, verdict, strict=True))
            if any(stood[name] != row[name] for name in _WRITTEN):
                _note(book, stood, row, fresh)
                if fresh.stood is not None:
                    # Of a game that stands anew twice, in one step, the first row is the one that stood before.
                    fresh.stood.setdefault(row["position"], stood)
                changed.append(tuple(row[name] for name in (*_WRITTEN, "position")))
        book.connection.executemany(_UPDATE, changed)


def _after_all(book: BookState, before: Sequence[Row], more: Mapping[int, Mapping[str, Any]]) -> list[Row]:
    """The rows after all that is known, but for their verdicts."""
    names = {pool.pool: name for name, pool in book.pools.items()}
    recorded = recorded_facts(book.connection, before, names)
    # what is still to stand there is put in again
    for table in ("originals", "given_sides"):
        book.connection.execute(f"DELETE FROM {table} WHERE {_AMONG}", (orjson.dumps(list(more)).decode(),))
    subjects = [f"game:{row['key']}" for row in before] if book.decided.any_approved else []
    acting = book.decided.acting(subjects) if subjects else {}
    return [
        _after(book, row, names[row["pool"]], {**facts, **more[row["position"]]}, acting.get(f"game:{row['key']}", ()))
        for row, facts in zip(before, recorded, strict=True)
    ]


def _after(book: BookState, row: Row, pool: str, recorded: Mapping[str, Any], acting: Sequence[Acting]) -> Row:
    """The row of a game that stands in a pool, after the changes of its game."""
    stands = decisions.remainder(acting) if acting else NO_CHANGES
    facts = decisions.with_fields(recorded, stands.fields) if stands.fields else recorded
    after = dict(row)
    if stands.fields:
        try:
            codec.structure_event(GameRecorded.KIND, dict(facts))
        except MalformedError as error:  # only a journal that was written past the gate has such corrections
            message = f"was corrected to what no game may be ({error}); run 'audit'"
            raise CorruptError("journal", row["position"], message) from error
        original = orjson.dumps(dict(recorded), option=orjson.OPT_SORT_KEYS).decode()
        book.connection.execute(_KEEP_ORIGINAL, (row["position"], original))
    if facts != facts_of(row, pool):
        if facts["pool"] not in book.pools:
            message = f"was moved to pool {facts['pool']!r}, which has no scheme; run 'audit'"
            raise CorruptError("journal", row["position"], message)
        after |= row_of(facts, book.pools[facts["pool"]].pool)
    sides = (after["white"], after["black"])
    after["white"], after["black"] = (decisions.root(book.decided.merges, player) for player in sides)
    if sides != (after["white"], after["black"]):
        book.connection.execute(_KEEP_SIDES, (row["position"], *sides))
    after["voided_by"] = _voided_by(book.decided, after, facts["pool"], stands)
    return after


def _voided_by(decided: Decided, row: Row, pool: str, stands: Remainder) -> int | None:
    """The proposal that voided a game; None where the last change that speaks of it lets it stand."""
    verdicts: list[tuple[decisions.Place, int | None]] = []
    if stands.annulled is not None:
        verdicts.append(stands.annulled)
    if stands.restored is not None:
        verdicts.append((stands.restored, None))
    for span in decided.spans_of(row["white"], row["black"], pool, row["tournament"]):
        change, (first, last) = span.change, decisions.span(span.change)
        if not first <= row["ended_ms"] <= last:
            continue
        if change.do is Verb.ANNUL_GAMES:
            # By who that is now: the number in the change, if it was merged since, would be taken for Black's in each
            # game.
            person = decisions.root(decided.merges, change.player or 0)
            if not row["rated"] or not decisions.is_meant(change, person, row["white"], row["outcome"]):
                continue
        voids = change.do is not Verb.RESTORE_TOURNAMENT
        verdicts.append(((span.position, span.number), span.proposal if voids else None))
    return max(verdicts)[1] if verdicts else None


def _note(book: BookState, stood: Row, row: Row, fresh: Changes) -> None:
    """Note what is to be rated anew where a game stands otherwise than before."""
    if any(stood[name] != row[name] for name in _OF_TOURNAMENT):
        for version in (stood, row):
            book.moved(version["pool"], version["tournament"], version["ended_ms"])
    counted = [version for version in (stood, row) if version["reason"] is None]
    if not counted or (len(counted) > 1 and all(stood[n] == row[n] for n in _WRITTEN if n not in _UNRATED)):
        return
    # in both pools: a row of the old one may bear the new place
    first = min(stood["rated_ms"], row["rated_ms"])
    for version in counted:
        fresh.note(version["pool"], first, (version["white"], version["black"]))


def rows_at(connection: sqlite3.Connection, positions: Sequence[int]) -> list[Row]:
    """The games at positions of the journal as they stand in the book, by column, in order of their positions."""
    cursor = connection.execute(_SELECT, (orjson.dumps(list(positions)).decode(),))
    return [dict(zip(_COLUMNS, row, strict=True)) for row in cursor.fetchall()]


def recorded_facts(
    connection: sqlite3.Connection, rows: Sequence[Row], names: Mapping[int, str]
) -> list[dict[str, Any]]:
    """The plain facts of games before all corrections, with what supplements told of them.

    Args:
        connection: the database of the book.
        rows: the games, as ``rows_at`` gives them.
        names: the names of the pools, by number.
    """
    positions = [row["position"] for row in rows]
    originals = _by_position(connection, _ORIGINALS, positions)
    sides = _by_position(connection, _SIDES, positions)
    facts = []
    for row in rows:
        if row["position"] in originals:
            facts.append(orjson.loads(originals[row["position"]][0]))
        else:
            white, black = sides.get(row["position"], (row["white"], row["black"]))
            facts.append({**facts_of(row, names[row["pool"]]), "white": white, "black": black})
    return facts


def _by_position(connection: sqlite3.Connection, query: str, positions: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    rows = connection.execute(query, (orjson.dumps(list(positions)).decode(),))
    return {position: tuple(row) for position, *row in rows}
