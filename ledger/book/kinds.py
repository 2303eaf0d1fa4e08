"""The kinds of facts in the book: for each kind of event, the table that it fills and the games that it affects.

``apply_fact`` is the one verb. A recorded fact was nothing before, an annulled one is nothing now, a corrected one
changes; supplements, merges and voided tournaments reapply games (``reapplied_games``). ``game_book_columns`` takes
many thousands as columns and writes the same rows into the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import attrs
import orjson

from ledger.book import tables, tournament_editions
from ledger.book.assessment import ASSESSED_COLUMNS, NO_GUESTS, RatedGame, Reratings
from ledger.book.book_state import BookState
from ledger.book.decisions import BEFORE_ALL
from ledger.book.guests import GameSides
from ledger.book.policies import POLICIES, policy_row
from ledger.book.roster import FROM_THE_BEGINNING, seed_row
from ledger.book.stored_pools import era_of, era_row, with_announced, with_lists
from ledger.book.tables import game_row
from ledger.book.timeline import Pool
from ledger.facts import codec
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    FederationSet,
    GameRecorded,
    ListPublished,
    PlayerChanged,
    PlayerDescribed,
    PlayerEntered,
    PlayerRegistered,
    PolicySet,
    RatingRunClosed,
    RatingSeeded,
    ReportSent,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentDescribed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import movetext_number

if TYPE_CHECKING:
    import sqlite3

Row = Mapping[str, Any]

UPDATE_BIRTH_YEAR = "UPDATE players SET birth_year = ? WHERE player = ?"
_OF_PLAYER = "(white = ?1 OR black = ?1) AND ended_ms >= ?2"
_FIRST_PLACES = (
    "SELECT pool, min(rated_ms) FROM games WHERE reason IS NULL AND white = ?1 GROUP BY pool "
    "UNION ALL SELECT pool, min(rated_ms) FROM games WHERE reason IS NULL AND black = ?1 GROUP BY pool"
)


def apply_fact(book: BookState, position: int, before: Event | None, now: Event | None, reratings: Reratings) -> None:
    """Change the book's row of a fact from *before* to *now*, and assess the games again that it affects.

    Args:
        book: the book.
        position: of the entry that recorded the fact.
        before: the fact as it was recorded; None: this is its recording.
        now: its current form; None if it is annulled.
        reratings: takes the games to be rated again.
    """
    fact = now if before is None else before
    kind = None if fact is None else KINDS.get(type(fact))
    if kind is not None and not (before is not None and kind.is_fixed(fact)):
        # The former row goes even if the same row comes back: the games it affected are assessed again in any case.
        rows = [] if before is None else kind.delete(book, position, fact)
        if now is not None:
            rows = [*rows, kind.insert(book, position, now, reratings)]
        kind.reassess_affected(book, FactChange(fact, rows, before is None, reratings))


class FactChange(NamedTuple):
    """A change of a fact's row in the book: deleted, inserted, or both.

    Attributes:
        fact: the fact as it was recorded.
        rows: its former row and its present row, as far as they exist.
        is_new: True if this is its recording.
        reratings: takes the games to be rated again.
    """

    fact: Any
    rows: Sequence[Row]
    is_new: bool
    reratings: Reratings


class Kind:
    """One kind of fact in the book: by default a row of a table that affects no game.

    Attributes:
        table: the table.
        row_key: columns that no correction changes, which identify the row of an entry in a large table.
        correctable: the fields that can be corrected.
        is_annullable: True if a fact can be annulled, and a missed one recorded by a proposal.
        is_at_instant: True if a key names an instant, at which no second fact of the kind may be.
    """

    table: ClassVar[str]
    row_key: ClassVar[tuple[str, ...]] = ()
    correctable: ClassVar[tuple[str, ...]] = ()
    is_annullable: ClassVar[bool] = True
    is_at_instant: ClassVar[bool] = True

    def row(self, book: BookState, position: int, fact: Any) -> Row:
        """Return the row of a fact, by column."""
        raise NotImplementedError

    def is_fixed(self, _fact: Any) -> bool:
        """Return whether no correction changes the row of a fact."""
        return False

    def insert(self, book: BookState, position: int, fact: Any, _reratings: Reratings) -> Row:
        """Insert the row of a fact, and return it."""
        row = self.row(book, position, fact)
        statement = f"INSERT INTO {self.table}({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})"
        book.connection.execute(statement, row)
        return row

    def delete(self, book: BookState, position: int, fact: Any) -> list[Row]:
        """Delete the row of an entry, and return it; empty if there was none."""
        where = " AND ".join(f"{name} = :{name}" for name in ("position", *self.row_key))
        values = self.row(book, position, fact) if self.row_key else {"position": position}
        cursor = book.connection.execute(f"SELECT * FROM {self.table} WHERE {where}", values)
        names = [column[0] for column in cursor.description]
        former: list[Row] = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        book.connection.execute(f"DELETE FROM {self.table} WHERE {where}", values)
        return former

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        """Assess the games again that a changed fact affects, and note those to be rated again.

        By default none is affected.
        """


def rerate_player(connection: sqlite3.Connection, player: int, pool: int | None, reratings: Reratings) -> None:
    """Note that all games of a player are rated again in one pool, or in all: an initial rating acts from the first."""
    for number, first_ms in connection.execute(_FIRST_PLACES, (player,)):
        if pool in {None, number}:
            reratings.note(number, first_ms, (player,))


def rerate_from_list(book: BookState, player: int, pool: int, since_ms: int, reratings: Reratings) -> None:
    """Note that the games of a player in a pool are rated again from the instant of a list rating on."""
    book.roster.forget_seeds()
    reratings.note_source(pool, since_ms, (player,))
    book.note_list_of_guest(player, pool, since_ms)
    for number, first_ms in book.connection.execute(_FIRST_PLACES, (player,)):
        if number == pool:
            reratings.note(number, max(first_ms, since_ms), (player,))


class _Games(Kind):
    """Games, when they are recorded; ``reapplied_games`` changes them later."""

    table = "games"
    correctable = (
        "outcome", "termination", "half_moves", "started_at", "ended_at", "tournament", "round", "sequence", "rated",
        "pool", "white", "black", "white_rating", "black_rating",
    )  # fmt: skip
    is_at_instant = False

    def insert(self, book: BookState, position: int, fact: GameRecorded, reratings: Reratings) -> Row:
        pool = book.pool_named(fact.pool, position)
        row = game_row(codec.facts_mapping(fact), pool.pool)
        row["position"], ms = position, row["ended_ms"]
        assessed = book.assessor.assess(pool, ms, *(*(row[name] for name in ASSESSED_COLUMNS[9:16]), None, position))
        assessment = *assessed, *NO_GUESTS
        if pool.has_guests:
            sides = GameSides(fact.white, fact.black, fact.tournament, ms, None, fact.white_rating, fact.black_rating)
            assessment = book.assessor.with_guests(book.assessor.guests(), pool, assessed, sides)
        row["reason"], row["rated_ms"], row["batch"], _, row["white_guest"], row["black_guest"] = assessment
        if pool.by_event and fact.tournament:
            book.played.note(pool.name, fact.tournament, ms, ms)
        book.connection.execute(tables.INSERT_GAME, [row[name] for name in tables.GAME_COLUMNS])
        store_moves(book, position, fact.text)
        # A decision may concern games that are recorded later: a player's between two days, those of a merged number.
        if book.proposals.may_affect(fact.white, fact.black, fact.pool, fact.tournament):
            book.unsettled.add(position)
        if row["reason"] is None:
            facts = {name: row[name] for name in ("termination", "tournament", "round", "round_order")}
            points, loser, rated_ms = row["half_points"] or 0, row["time_loss"], row["rated_ms"]
            played = RatedGame(position, fact.white, fact.black, points, loser, ms, rated_ms, facts)
            # a guest has no state that could be held in memory: such a game takes the long path
            reratings.note(pool.pool, rated_ms, played=played if assessment[4:] == NO_GUESTS else None)
        return row


def store_moves(book: BookState, position: int, text: str | None) -> None:
    """Store the number of a game's movetext, if the book stores moves."""
    if text is not None and book.notes_moves:
        book.connection.execute(tables.INSERT_MOVETEXT, (position, movetext_number(text)))


class _Adoptions(Kind):
    """Eras of pools: a scheme rates from an instant on, and the games since are assessed again."""

    table = "eras"
    correctable = ("scheme", "settings", "effective_from", "carry", "conversion", "scheme_version", "arithmetic")

    def row(self, book: BookState, position: int, fact: SchemeAdopted) -> Row:
        if fact.pool not in book.pools:
            # Its number is its place in journal order, so that every build gives the same rows.
            pool = Pool(len(book.pools) + 1, fact.pool, (era_of(position, fact),))
            book.connection.execute("INSERT INTO pools VALUES (?, ?, ?)", (pool.pool, pool.name, position))
            book.pools[fact.pool] = pool
        return era_row(book.pools[fact.pool].pool, era_of(position, fact))

    def insert(self, book: BookState, position: int, fact: SchemeAdopted, reratings: Reratings) -> Row:
        reratings.adopted.append(era_of(position, fact).scheme)
        return super().insert(book, position, fact, reratings)

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        before = book.pools[change.fact.pool]
        pool = book.reload_pool(before.name)
        # no game was played before a pool's first scheme
        if change.is_new and len(pool.eras) == 1:
            return
        if change.rows:
            # the end of a period that the change cuts short
            cut = min(row["since_ms"] for row in change.rows) - 1
            change.reratings.note_source(pool.pool, cut)
            # what is left of a tournament before it may now be short enough
            since = max(cut - max(before.reach_ms, pool.reach_ms), BEFORE_ALL)
            where = "pool = ?1 AND (ended_ms >= ?2 OR rated_ms >= ?2)"
            book.assessor.reassess(where, (pool.pool, since), change.reratings, everybody=True)


class _Runs(Kind):
    """Closed rating periods: games that waited for a later closing take their place in this one."""

    table = "runs"
    correctable = ("as_of",)

    def row(self, book: BookState, position: int, fact: RatingRunClosed) -> Row:
        pool = book.pool_named(fact.pool, position).pool
        return {"pool": pool, "as_of_ms": instant_end_ms(fact.as_of), "as_of": fact.as_of, "position": position}

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        pool = book.pools[change.fact.pool]
        book.pools[pool.name] = with_lists(book.connection, pool)
        # from the earlier of the two instants, if a run was moved: games between them wait for another one
        if pool.by_runs and change.rows:
            since_ms = min(row["as_of_ms"] for row in change.rows)
            book.renumber_periods(pool.name, since_ms)
            # time counts in periods: a rating may lapse with one
            change.reratings.note_source(pool.pool, since_ms)


class _Publications(Kind):
    """Published lists: no game changes, for what is in a list stays there; later reports count in the next one."""

    table = "publications"
    is_annullable = False

    def row(self, book: BookState, position: int, fact: ListPublished) -> Row:
        return {
            "pool": book.pool_named(fact.pool, position).pool,
            "position": position,
            "as_of_ms": instant_end_ms(fact.as_of),
            "as_of": fact.as_of,
            "edition": fact.edition,
        }

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        pool = book.pools[change.fact.pool]
        (row,) = change.rows
        lists = pool.published.with_list(row["position"], row["as_of_ms"])
        book.pools[pool.name] = attrs.evolve(pool, published=lists)


class _Announcements(Kind):
    """Announcements of a tournament: its games are those of its days, and are rated as of its end."""

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        for name in sorted({change.fact.tournament, *(row["tournament"] for row in change.rows)}):
            pool = with_announced(book.connection, book.pools[change.fact.pool], name)
            book.pools[pool.name] = pool
            book.place_tournament(pool, name, change.reratings)


class _Openings(_Announcements):
    table = "openings"
    correctable = ("tournament", "starts_at", "ends_at", "format", "entrants", "rounds")

    def row(self, book: BookState, position: int, fact: TournamentOpened) -> Row:
        return {
            "pool": book.pool_named(fact.pool, position).pool,
            "tournament": fact.tournament,
            "starts_ms": instant_ms(fact.starts_at),
            "starts_at": fact.starts_at,
            "ends_ms": instant_end_ms(fact.ends_at),
            "ends_at": fact.ends_at,
            "format": fact.format,
            "entrants": fact.entrants,
            "rounds": fact.rounds,
            "position": position,
        }


class _Closings(_Announcements):
    table = "tournaments"
    correctable = ("tournament", "ended_at")

    def row(self, book: BookState, position: int, fact: TournamentClosed) -> Row:
        return {
            "pool": book.pool_named(fact.pool, position).pool,
            "tournament": fact.tournament,
            "closed_ms": instant_end_ms(fact.ended_at),
            "closed_at": fact.ended_at,
            "position": position,
        }


class _Players(Kind):
    """Players as registered, with a year of birth that was learnt later, which takes precedence: one row each."""

    table = "players"
    is_at_instant = False

    def insert(
        self, book: BookState, _position: int, fact: PlayerRegistered | BirthYearLearnt, _reratings: Reratings
    ) -> Row:
        if isinstance(fact, BirthYearLearnt):
            book.connection.execute(UPDATE_BIRTH_YEAR, (fact.birth_year, fact.player))
            return {"player": fact.player}
        row = (fact.player, fact.joined_at, fact.standing.value, fact.declared_rating, fact.birth_year)
        book.connection.execute(tables.INSERT_PLAYER, row)
        return {"player": fact.player}

    def delete(self, _book: BookState, _position: int, fact: PlayerRegistered | BirthYearLearnt) -> list[Row]:
        # the next insert replaces it; ``reassess_affected`` restores a year that is annulled
        return [{"player": fact.player}]

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        player = change.fact.player
        if change.is_new and isinstance(change.fact, PlayerRegistered):
            book.roster.add_player(player, change.fact.standing)  # no player has games before joining
            return
        if not change.is_new:
            learnt = book.fact(f"born:{player}") or book.fact(f"player:{player}")
            if isinstance(learnt, BirthYearLearnt | PlayerRegistered):
                book.connection.execute(UPDATE_BIRTH_YEAR, (learnt.birth_year, player))
            book.roster.has_initial_ratings = True  # perhaps by the correction alone
            book.roster.reload(player)
            book.assessor.reassess(_OF_PLAYER, (player, BEFORE_ALL), change.reratings, player=player)
        rerate_player(book.connection, player, None, change.reratings)


class _Registrations(_Players):
    correctable = ("joined_at", "standing", "declared_rating", "birth_year")
    is_annullable = False


class _Births(_Players):
    correctable = ("birth_year",)


class _PlayerChanges(Kind):
    """Membership statuses and declared ratings from an instant on: the player's games since are assessed again."""

    table = "changes"
    row_key = ("player",)
    correctable = ("effective_at", "standing", "declared_rating")

    def row(self, _book: BookState, position: int, fact: PlayerChanged) -> Row:
        return {
            "player": fact.player,
            "effective_ms": instant_ms(fact.effective_at),
            "effective_at": fact.effective_at,
            "standing": fact.standing.value,
            "declared_rating": fact.declared_rating,
            "position": position,
        }

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        player, rows = change.fact.player, change.rows
        book.roster.reload(player)
        if rows:
            # a membership status alone affects only games that it lets count or not
            declares = {row["declared_rating"] for row in rows} != {None}
            where = player, min(row["effective_ms"] for row in rows)
            book.assessor.reassess(_OF_PLAYER, where, change.reratings, player=player if declares else None)
            # such a rating acts at the first game, wherever that is now
            if declares and not change.is_new:
                rerate_player(book.connection, player, None, change.reratings)


class _Seeds(Kind):
    """Initial ratings from lists."""

    table = "seeds"
    row_key = ("pool", "player")
    correctable = ("effective_at", "rating", "games", "deviation", "volatility", "highest", "k_factor", "source")

    def row(self, book: BookState, position: int, fact: RatingSeeded) -> Row:
        return seed_row(book.pool_named(fact.pool, position).pool, fact, position)

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        since_ms = min((row["effective_ms"] for row in change.rows), default=FROM_THE_BEGINNING)
        rerate_from_list(book, change.fact.player, book.pools[change.fact.pool].pool, since_ms, change.reratings)


class _Strengths(Kind):
    """Strengths that players chose: shown, and never rated by."""

    table = "strengths"
    row_key = ("pool", "player")
    correctable = ("effective_at", "strength")

    def row(self, book: BookState, position: int, fact: StrengthChosen) -> Row:
        return {
            "pool": book.pool_named(fact.pool, position).pool,
            "player": fact.player,
            "effective_ms": instant_ms(fact.effective_at),
            "effective_at": fact.effective_at,
            "strength": fact.strength.value,
            "position": position,
        }


class _Federations(Kind):
    """Federations of players from an instant on: in a pool of another one the player is a guest."""

    table = "federations"
    row_key = ("player",)
    correctable = ("effective_at", "federation")

    def row(self, _book: BookState, position: int, fact: FederationSet) -> Row:
        return {
            "player": fact.player,
            "effective_ms": instant_ms(fact.effective_at),
            "effective_at": fact.effective_at,
            "federation": fact.federation,
            "position": position,
        }

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        for row in change.rows:
            book.note_possible_guest(row["player"], row["effective_ms"])


class _Policies(Kind):
    """Policies; the row of one that holds by position is fixed."""

    table = "policies"
    correctable = ("settings", "effective_from")
    is_at_instant = False

    def row(self, _book: BookState, position: int, fact: PolicySet) -> Row:
        row = policy_row(position, fact)
        settings = orjson.dumps(row.settings, option=orjson.OPT_SORT_KEYS).decode()
        return {**attrs.asdict(row), "settings": settings}

    def is_fixed(self, fact: PolicySet) -> bool:
        # four eyes are never switched on or off backwards: decisions stay allowed as they were when they were made
        return fact.policy in POLICIES and POLICIES[fact.policy].is_by_position


class _Rounds(Kind):
    """Byes and absences: counted in points and tie-breaks, never rated."""

    table = "rounds_without_game"
    correctable = ("tournament", "edition", "round", "player", "brings", "half_points", "opponent", "colour")

    def row(self, book: BookState, position: int, fact: RoundWithoutGame) -> Row:
        stored = tournament_editions.stored_round(fact, position)
        return {"pool": book.pool_named(fact.pool, position).pool, **stored._asdict()}


def _own_row(book: BookState, position: int, fact: PlayerEntered | TournamentDescribed | ReportSent) -> Row:
    """Return the row of a fact about an edition: its fields, with the number of the pool and the first millisecond."""
    fields = {field.name: getattr(fact, field.name) for field in attrs.fields(type(fact))}
    pool = book.pool_named(fact.pool, position).pool
    return {**fields, "pool": pool, "edition_ms": instant_ms(fact.edition), "position": position}


class _Entrants(Kind):
    """Entrants of tournaments, with their starting numbers: shown in reports; federation and rating are a guest's."""

    table = "entrants"
    row_key = ("pool", "tournament")
    correctable = ("edition", "player", "start_number", "rating", "place", "federation")
    is_at_instant = False

    def row(self, book: BookState, position: int, fact: PlayerEntered) -> Row:
        return _own_row(book, position, fact)

    def reassess_affected(self, book: BookState, change: FactChange) -> None:
        for row in change.rows:
            book.note_entrants(row["pool"], row["tournament"], row["edition_ms"])


class _Descriptions(Kind):
    """Descriptions of tournaments: shown in reports."""

    table = "descriptions"
    row_key = ("pool", "tournament")
    correctable = (
        "edition", "city", "federation", "system", "time_control", "time_code", "rounds", "round_days", "first_colour",
        "scoring", "start_order", "program", "system_code", "tie_breaks", "standings_order",
    )  # fmt: skip
    is_at_instant = False

    def row(self, book: BookState, position: int, fact: TournamentDescribed) -> Row:
        return _own_row(book, position, fact)


class _SentReports(Kind):
    """Reports that were sent."""

    table = "sent_reports"
    row_key = ("pool", "tournament")
    correctable = ("sent_on",)
    is_at_instant = False

    def row(self, book: BookState, position: int, fact: ReportSent) -> Row:
        return _own_row(book, position, fact)


class _Details(Kind):
    """Data about players, by the commitments to them."""

    table = "player_details"
    row_key = ("player",)
    correctable = ("effective_at",)
    is_at_instant = False

    def row(self, _book: BookState, position: int, fact: PlayerDescribed) -> Row:
        return {
            "player": fact.player,
            "effective_ms": instant_ms(fact.effective_at),
            "effective_at": fact.effective_at,
            "number": fact.number,
            "details": fact.details,
            "position": position,
        }


KINDS: Mapping[type[Event], Kind] = {
    GameRecorded: _Games(),
    PlayerRegistered: _Registrations(),
    PlayerChanged: _PlayerChanges(),
    BirthYearLearnt: _Births(),
    RatingSeeded: _Seeds(),
    SchemeAdopted: _Adoptions(),
    RatingRunClosed: _Runs(),
    ListPublished: _Publications(),
    TournamentOpened: _Openings(),
    TournamentClosed: _Closings(),
    PolicySet: _Policies(),
    RoundWithoutGame: _Rounds(),
    StrengthChosen: _Strengths(),
    FederationSet: _Federations(),
    PlayerEntered: _Entrants(),
    TournamentDescribed: _Descriptions(),
    PlayerDescribed: _Details(),
    ReportSent: _SentReports(),
}


def correctable_fields(kind: type[Event]) -> tuple[str, ...]:
    """Return the names of the fields that can be corrected in facts of a kind."""
    return KINDS[kind].correctable if kind in KINDS else ()


def is_annullable(kind: type[Event]) -> bool:
    """Return whether facts of a kind can be annulled, and missed ones recorded by a proposal."""
    return kind in KINDS and KINDS[kind].is_annullable
