"""What the views tell those who record: what cannot act or stand, how games stand, and which games are told alike.

They are asked before something is recorded, or while it is; nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import attrs
import orjson

from ledger.book import conflicts, decisions
from ledger.book.conflicts import HypotheticalFacts, may_meet
from ledger.book.decisions import AFTER_ALL
from ledger.book.policies import READ_MODELS, Given, stored_policies
from ledger.book.roster import FROM_THE_BEGINNING, standing_sql
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import are_near, in_edition
from ledger.errors import ConflictError, LedgerError, MalformedError, RejectedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.codec import decode
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    RatingSeeded,
    RoundWithoutGame,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_ms_column, instant_text
from ledger.facts.periods import DAY_MS
from ledger.facts.source_games import FileFault
from ledger.facts.words import Carry, Receipt, Standing
from ledger.journal import Journal, rules
from ledger.journal.known_games import MOST_LOOKED_AT, Sought
from ledger.journal.recorder import RecordedEvents
from ledger.journal.told_again import Corrected
from ledger.ratings import queries, views_file
from ledger.ratings.views import Views
from ledger.runtime.lazy import pl
from ledger.runtime.nearest import choice_of

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame

TOO_LATE = "after-the-first-game"  # the rule by which a rating to begin with that could not act is refused

# Whether what is said of a player from before the first game can still act. A declared rating and a seed count where a
# player begins: with the first rated game of a pool, or where a change of scheme lets everybody begin anew.

_FIRST_END = "SELECT ended_ms FROM history WHERE pool = ?1 AND player = ?2 AND n = 1"
_FIRST_SEED = "SELECT min(effective_ms) AS since_ms FROM seeds WHERE pool = ?1 AND player = ?2"
NEXT_LIST = (
    "SELECT effective_at FROM seeds WHERE pool = ?1 AND player = ?2 AND effective_ms > ?3 ORDER BY effective_ms LIMIT 1"
)
BORN_IN = "SELECT birth_year FROM players WHERE player = ?1"
_LISTED_FROM = "SELECT player, effective_ms FROM seeds WHERE pool = ?1 AND player IN (SELECT value FROM json_each(?2))"
_KNOWN_OF = (
    f"SELECT player, birth_year, {standing_sql('players', '?2')} AS standing FROM players "
    "WHERE player IN (SELECT value FROM json_each(?1))"
)


class Beginning(NamedTuple):
    """Where a player begins in a pool.

    Attributes:
        pool: name of the pool.
        first_ms: when the first rated game ended; None where there is none yet.
        takes: whether what holds from the instant that was asked about can still act there.
        is_listed: whether it cannot because the rating of a list goes before it.
    """

    pool: str
    first_ms: int | None
    takes: bool
    is_listed: bool = False


def beginning(connection: sqlite3.Connection, pool: Pool, player: int, since_ms: int, *, declared: bool) -> Beginning:
    """Where a player begins in a pool, and whether a past from *since_ms* on acts there.

    Args:
        connection: the views, level with the journal.
        pool: the pool.
        player: number of the player.
        since_ms: from when the past holds, milliseconds.
        declared: it is a declared rating, before which a seed goes.
    """
    row = queries.first_row(connection, _FIRST_END, (pool.pool, player))
    first_ms = None if row is None else int(row["ended_ms"])
    # A list applies from its day on, whatever was played before.
    if not declared:
        return Beginning(pool.name, first_ms, takes=True)
    begin = judged(pool, first_ms, since_ms)
    first_seed = queries.first_row(connection, _FIRST_SEED, (pool.pool, player)) if begin.takes else None
    if first_seed is None or first_seed["since_ms"] is None:
        return begin
    # A list that holds only after the player begins takes nothing away: a late game may have come before it.
    takes = judged(pool, first_ms, since_ms, first_seed["since_ms"]).takes
    return begin._replace(takes=takes, is_listed=not takes)


def may_be_late(event: Event) -> TypeGuard[RatingSeeded | PlayerChanged]:
    """Whether an event tells a rating to begin with, which could no longer act."""
    return isinstance(event, RatingSeeded) or (isinstance(event, PlayerChanged) and event.declared_rating is not None)


def beginnings(
    connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged
) -> list[Beginning]:
    """Where the player begins in each pool that a rating to begin with concerns.

    Args:
        connection: the views.
        pools: all pools, or that of a seed; one that is not among them is the business of other rules.
        event: a seed, or a change with a declared rating.
    """
    declared = isinstance(event, PlayerChanged)
    concerned = [pool for pool in pools if isinstance(event, PlayerChanged) or pool.name == event.pool]
    since_ms = FROM_THE_BEGINNING if event.effective_at is None else instant_ms(event.effective_at)
    return [beginning(connection, pool, event.player, since_ms, declared=declared) for pool in concerned]


def refuse_late(connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged) -> None:
    """Refuse a rating to begin with that could act nowhere any more.

    Args:
        connection: the views, level with the journal.
        pools: as of ``beginnings``.
        event: likewise.

    Raises:
        RejectedError: ``after-the-first-game``.
    """
    if starts := beginnings(connection, pools, event):
        what = "declared rating" if isinstance(event, PlayerChanged) else "rating"
        refuse_what_cannot_act(event.key, what, event.effective_at or "", starts)


def is_late(connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged) -> bool:
    """Whether ``refuse_late`` refuses it."""
    try:
        refuse_late(connection, pools, event)
    except RejectedError:
        return True
    return False


def refuse_other_birth(connection: sqlite3.Connection, event: BirthYearLearnt, beside: rules.Beside) -> None:
    """Refuse another year of birth than registration told, or than one that is known by now.

    Args:
        connection: the views, level with the journal.
        event: what is learnt.
        beside: facts that come to stand together with it, the registration of the player perhaps among them.

    Raises:
        ConflictError: ``exists-with-different-birth-year``.
    """
    registered = beside.get(f"player:{event.player}", ())
    years = [other.birth_year for other in registered if isinstance(other, PlayerRegistered)]
    for year in (birth_year(connection, event.player), *years):
        if year not in {None, event.birth_year}:
            raise ConflictError(f"player:{event.player}", "birth_year", year, event.birth_year)


def next_list(connection: sqlite3.Connection, pool: Pool, seed: RatingSeeded) -> str | None:
    """The day of the next list that has the seed's player in that pool: from then on its rating holds instead."""
    since_ms = FROM_THE_BEGINNING if seed.effective_at is None else instant_ms(seed.effective_at)
    row = queries.first_row(connection, NEXT_LIST, (pool.pool, seed.player, since_ms))
    return None if row is None else str(row["effective_at"])


def judged(pool: Pool, first_ms: int | None, since_ms: int, until_ms: int = AFTER_ALL) -> Beginning:
    """Where who played the first rated game at *first_ms* begins, and whether a past from *since_ms* on acts there.

    Args:
        pool: the pool.
        first_ms: when that game ended, milliseconds; None where there is none yet, which may end at any time.
        since_ms: from when the past holds.
        until_ms: from when something else holds instead.
    """
    restarts = (era.since_ms for era in pool.eras[1:] if era.carry is Carry.RESTART)
    begins = (since_ms if first_ms is None else first_ms, *restarts)
    return Beginning(pool.name, first_ms, any(since_ms <= ms < until_ms for ms in begins))


def listed_from(connection: sqlite3.Connection, pool: Pool, players: Sequence[int]) -> set[tuple[int, int]]:
    """The players among these whom a list has in a pool, each with the instant, milliseconds, from when it holds."""
    rows = queries.dictionaries(connection, _LISTED_FROM, (pool.pool, json.dumps(players)))
    return {(row["player"], row["effective_ms"]) for row in rows}


class Known(NamedTuple):
    """What is known of a registered player: year of birth, standing."""

    birth_year: int | None
    standing: str


def known_of(connection: sqlite3.Connection, players: Sequence[int], ms: int) -> dict[int, Known]:
    """What is known of registered players at an instant."""
    rows = queries.dictionaries(connection, _KNOWN_OF, (json.dumps(players), ms))
    return {row["player"]: Known(row["birth_year"], row["standing"]) for row in rows}


def refuse_what_cannot_act(key: str, what: str, since: str, beginnings: Sequence[Beginning]) -> None:
    """Refuse what can act nowhere.

    Args:
        key: of the refused entry.
        what: what it tells.
        since: from when it holds.
        beginnings: where the player begins, in each pool that it concerns.

    Raises:
        RejectedError: ``after-the-first-game``.
    """
    if any(begin.takes for begin in beginnings):
        return
    played = [
        (begin.first_ms, begin.pool) for begin in beginnings if begin.first_ms is not None and not begin.is_listed
    ]
    if not played:
        raise RejectedError(TOO_LATE, key, f"the rating of a list goes before this {what} in every pool")
    first_ms, pool = min(played)
    day = instant_text(first_ms, Precision.DAY)
    raise RejectedError(
        TOO_LATE,
        key,
        f"this {what} holds from {since}, after the player's first rated game in pool {pool!r}, of {day}, so that it "
        f"could not act; where the player began with it, give {day} or an earlier day, and the games are rated again",
    )


def standing_at(connection: sqlite3.Connection, player: int, ms: int) -> str:
    """The standing in force at an instant; that of a full member for who is not registered."""
    people = known_of(connection, [player], ms)
    return people[player].standing if player in people else Standing.FULL


def birth_year(connection: sqlite3.Connection, player: int) -> int | None:
    """The year of birth, as registered or learnt later."""
    row = queries.first_row(connection, BORN_IN, (player,))
    return None if row is None else row["birth_year"]


# What only the views know of new facts: how a game stands that is told again, what cannot act or stand: the one
# judge.
#
# Every door asks it after the rules of the journal: ``append``, imports, commands, proposals and their approval. How
# a game stands is asked of the views as they are where a transaction on the journal holds entries of its own.

NOTHING: rules.Beside = {}
FIRST = "proposal:1@1"  # the key that stands in every journal in which anything was proposed
_OF_VIEWS = frozenset({RatingSeeded, PlayerChanged, BirthYearLearnt, TournamentOpened, TournamentClosed})


def need_views(batch: Sequence[Event]) -> bool:
    """Whether only level views can judge some of new facts, so that they are brought level before the lock."""
    # the kinds first, which takes no call a fact: nearly all batches are of games
    return not _OF_VIEWS.isdisjoint(map(type, batch)) and any(map(_needs_views, batch))


def _needs_views(event: Event) -> bool:
    return type(event) in _OF_VIEWS and (not isinstance(event, PlayerChanged) or may_be_late(event))


@attrs.frozen
class StandingGames:
    """How the facts of one ledger stand by now, its games above all, and what judges new ones by that.

    Attributes:
        journal: where they stand as they were recorded.
        views: where it is known how they stand now.
    """

    journal: Journal
    views: Views

    def any_corrected(self) -> bool:
        """Whether anything was proposed; else every game stands as it was recorded."""
        return bool(self.journal.find([FIRST]))

    def standing(self, game: str) -> Corrected | None:
        """How a game stands that the views know; None where nothing was proposed, or they do not know it."""
        if not self.any_corrected() or not self.views.path.exists():
            return None
        facts = HypotheticalFacts(self.views.connection, self.journal)
        fact = facts.fact(f"game:{game}")
        if fact is None or not fact.facts:
            return None
        person = partial(decisions.root, facts.decided.merges)
        plain = {name: value for name, value in fact.facts.items() if name != "game"}
        return Corrected({**plain, "white": person(plain["white"]), "black": person(plain["black"])}, person)

    def standing_now(self, game: str) -> Corrected | None:
        """The same, of views that are brought level for it: not while a transaction holds entries of its own."""
        if self.any_corrected():
            self.views.level()
        return self.standing(game)

    def told_round(self, event: RoundWithoutGame, beside: Iterable[Event] = ()) -> RoundWithoutGame:
        """A round without a game in the words in which the journal holds it; itself where it is new.

        Sources call an edition by different days: its first one, that of the round. And what was corrected may be told
        as it stands now. How it stands is asked of the views as they are.

        Args:
            event: the round as it is told.
            beside: facts of its transaction, which may tell it by another day; that telling then has its words.

        Raises:
            ConflictError: ``exists-with-different-key``: a corrected one stands in its place and says otherwise.
        """
        days = [key for key in conflicts.keys_at(self.journal, event.place) if key != event.key]
        others = [fact for fact in beside if isinstance(fact, RoundWithoutGame) and fact.place == event.place]
        others = [fact for fact in others if fact.key not in {event.key, *days}]
        if not self.views.path.exists():
            same = next((fact for fact in others if are_near(fact, event)), None)
            return event if same is None else attrs.evolve(event, edition=same.edition)
        if not days and not others and not self.any_corrected():
            return event
        if not days and not others and not self.journal.find([event.key]):
            return self._corrected_round(event)
        connection = self.views.connection
        stored = self.journal.find([*days, event.key])
        events = [decode(entry.body).event for entry in stored.values()]
        rounds = [fact for fact in events if isinstance(fact, RoundWithoutGame)] + others
        same = in_edition(connection, event, rounds)
        if same is None:
            return self._corrected_round(event)
        fact = HypotheticalFacts(connection, self.journal).fact(same.key)
        now = attrs.evolve(event, edition=same.edition)
        stands = fact is not None and fact.annulled_by is None and dict(fact.facts) == codec.facts_mapping(now)
        return same if stands else now

    def _corrected_round(self, event: RoundWithoutGame) -> RoundWithoutGame:
        """A round that the journal does not hold under its own place: another one may have been moved there."""
        connection = self.views.connection
        key = conflicts.standing_at(connection, self.journal, event) if self.any_corrected() else None
        if key is None:
            return event
        fact = HypotheticalFacts(connection, self.journal).fact(key)
        if fact is None or dict(fact.facts) != codec.facts_mapping(event):
            conflicts.refuse_meeting(connection, self.journal, event)
        recorded = decode(self.journal.find([key])[key].body).event
        assert isinstance(recorded, RoundWithoutGame)  # keys of its family are of rounds
        return recorded

    def judge(self, event: Event, beside: rules.Beside = NOTHING, moved: Collection[int] = ()) -> None:
        """Refuse a new fact that the rules of the journal let pass: the one judge of every door.

        Args:
            event: the fact; of a game nothing is said.
            beside: facts that come to stand together with it: those before it in its transaction, or all others of its
                proposal.
            moved: entries of facts that its proposal lets stand otherwise, or no longer.

        Raises:
            RejectedError: ``after-the-first-game``, ``same-instant``, ``overlapping-editions``, ``edition-closed``,
                ``played-after-closing``; ConflictError: ``exists-with-different-key``, ``...-birth-year``.
        """
        if _needs_views(event):
            self.views.level()
        if isinstance(event, BirthYearLearnt):
            refuse_other_birth(self.views.connection, event, beside)
        if may_be_late(event):
            refuse_late(self.views.connection, self.views.pools(), event)
        self.refuse_meeting(event, beside)
        self.refuse_beside(event, beside, moved)

    def judge_moved(self, before: Event, event: Event, beside: rules.Beside, moved: Collection[int]) -> None:
        """Refuse a fact that a correction moves where it cannot act, though it can where it stands, or cannot stand.

        Args:
            before: the fact as it stands.
            event: as it would stand.
            beside: as of ``judge``.
            moved: likewise.

        Raises: as ``judge``.
        """
        connection, pools = self.views.connection, self.views.pools()
        if may_be_late(event) and not (may_be_late(before) and is_late(connection, pools, before)):
            refuse_late(connection, pools, event)
        self.refuse_beside(event, beside, moved)

    def refuse_beside(self, event: Event, beside: rules.Beside, moved: Collection[int]) -> None:
        """Refuse a fact that cannot stand together with others, as ``book.conflicts`` says.

        Raises: as ``judge``.
        """
        if type(event) not in conflicts.PLACES:
            return
        stands = None
        if self.any_corrected():
            self.views.level()
            stands = HypotheticalFacts(self.views.connection, self.journal)
        conflicts.refuse_same_instant(self.journal, event, stands, beside, moved)
        if isinstance(event, TournamentOpened | TournamentClosed):
            for pool in self.views.pools():  # of one that is none another rule speaks
                if pool.name == event.pool:
                    conflicts.refuse_misfit(self.views.connection, pool, event, beside, moved)

    def refuse_unknown_tournament(
        self, event: Event, beside: rules.Beside = NOTHING, moved: Collection[int] = ()
    ) -> None:
        """Refuse the closing of a tournament that nobody knows, for whoever says its name by hand.

        Why ``append`` does not ask this, ``conflicts.refuse_unknown_tournament`` says. The views are brought level.

        Args: as of ``judge``.

        Raises:
            RejectedError: ``no-such-tournament``.
        """
        if isinstance(event, TournamentClosed):
            self.views.level()
            for pool in self.views.pools():  # of one that is none another rule speaks
                if pool.name == event.pool:
                    conflicts.refuse_unknown_tournament(self.views.connection, pool, event, beside, moved)

    def refuse_unknown_models(self, policy: str, settings: Given) -> None:
        """Refuse names that no read model has, at hand here or in the tables: one mistyped would be kept by nobody.

        A name that was set before stays: its plug-in may be gone. Asked of level views.

        Args:
            policy: name of a policy; of others than ``read-models`` nothing is said.
            settings: what it is to say.

        Raises:
            UnknownNameError: naming those that there are.
        """
        if policy != READ_MODELS:
            return
        models, said = self.views.read_models(), stored_policies(self.views.connection).last(READ_MODELS)
        for name in settings:
            if name not in models and (said is None or name not in said.settings):
                hint = f"{choice_of(name, models)}; install its plug-in first"
                raise UnknownNameError("read model", name, hint, where="at hand here")

    def refuse_meeting(self, event: Event, beside: rules.Beside = NOTHING) -> None:
        """Refuse a new fact where another one was corrected to stand; the views are brought level for it.

        Args:
            event: the fact.
            beside: as of ``judge``: a round without a game may be told there by another day.

        Raises:
            ConflictError: ``exists-with-different-key``.
        """
        telling: Event = event
        if isinstance(event, RoundWithoutGame):
            telling = self.told_round_now(event, beside.get(rules.subject_of(event), ()))
        if telling.key != event.key:
            words = f"{telling.key!r} says already what this round of the edition brought; correct that one"
            raise ConflictError(event.key, "key", telling.key, event.key, f"{event.key!r}: {words}")
        if may_meet(event) and self.any_corrected():
            self.views.level()
            conflicts.refuse_meeting(self.views.connection, self.journal, event)

    def told_round_now(self, event: RoundWithoutGame, beside: Iterable[Event] = ()) -> RoundWithoutGame:
        """The same as ``told_round``, of views that are brought level for it where the journal may hold it."""
        if self.any_corrected() or any(conflicts.keys_at(self.journal, event.place)):
            self.views.level()
        return self.told_round(event, beside)

    def person(self, player: int) -> int:
        """The number by which a player is known after all merges; the views are brought level for it."""
        if not self.any_corrected():
            return player
        self.views.level()
        return decisions.root(decisions.merges_in(self.views.connection), player)


# Games that end before the day from which a player has the rating of a list.
#
# Such a game may be right and is never refused; it is rated with what applied then. As its year may be a typo, whoever
# records it gets a note. Asked of the views as they stand; nothing is written.

_SEEDS = "SELECT EXISTS(SELECT 1 FROM seeds) AS found"
# Of each side, [place, pool, player, end in milliseconds], the seed that acted so far and holds from after that end.
_EARLY = """
SELECT side.value ->> 0 AS place, side.value ->> 3 AS ended_ms, pools.pool AS number, s.player,
  max(s.effective_ms) AS since_ms, s.effective_at AS since, s.rating
FROM json_each(?1) AS side
CROSS JOIN pools ON pools.name = side.value ->> 1
CROSS JOIN seeds AS s ON s.pool = pools.pool AND s.player = side.value ->> 2 AND s.effective_ms > side.value ->> 3
WHERE s.effective_ms <= coalesce(
  (SELECT ended_ms FROM history AS h WHERE h.pool = s.pool AND h.player = s.player AND n = 1), s.effective_ms)
GROUP BY side.key ORDER BY side.key
"""


class RecordedSide(NamedTuple):
    """One side of a game that was recorded: of which line or place, in which pool, who, and when the game ended."""

    place: int
    pool: str
    player: int
    ended_ms: int


class EarlyGames:
    """What is told of the games that one process records."""

    def __init__(self, views: Views) -> None:
        """Ask these views, where there are any; which are told of what was recorded is their business."""
        self._views = views
        self._told: set[tuple[str, int]] = set()  # each player is named once a pool

    def of_frame(self, games: DataFrame) -> list[FileFault]:
        """Of games in the columns of ``GameRecorded`` with ``line`` and names: a note for each player concerned."""
        connection = self._connection()
        if connection is None:
            return []
        ended = instant_ms_column(games["ended_at"])
        sides = [
            games.select(
                "line",
                "pool",
                pl.col(side).alias("player"),
                ended.alias("ended_ms"),
                pl.col(f"{side}_name").alias("name"),
                "rated",
            )
            for side in ("white", "black")
        ]
        # The earliest game of each alone: where that one takes no list away, no later one of the player does.
        first = pl.concat(sides).filter("rated").sort("ended_ms", "line").unique(["pool", "player"], keep="first")
        names = dict(zip(first["player"].to_list(), first["name"].to_list(), strict=True))
        rows = first.sort("line").select("line", "pool", "player", "ended_ms").iter_rows()
        return self._seeds_taken_away(connection, map(RecordedSide._make, rows), lambda player: repr(names[player]))

    def of_events(self, events: Sequence[Event | None]) -> dict[int, str]:
        """Of events that were recorded, by place: what is told of it."""
        connection = self._connection() if GameRecorded in set(map(type, events)) else None
        if connection is None:
            return {}
        games = [(i, event) for i, event in enumerate(events) if type(event) is GameRecorded and event.rated]
        sides = [
            RecordedSide(place, game.pool, player, instant_ms(game.ended_at))
            for place, game in games
            for player in (game.white, game.black)
        ]
        notes: dict[int, str] = {}
        for place, message in self._seeds_taken_away(connection, sides, lambda player: f"player {player}"):
            notes[place] = f"{notes[place]}; {message}" if place in notes else message
        return notes

    def noted(self, recorded: RecordedEvents) -> list[Receipt]:
        """The receipts of events that were recorded, with what is told of each."""
        receipts = recorded.receipts
        for place, note in self.of_events(recorded.events).items():
            receipts[place] = receipts[place]._replace(note=note)
        return receipts

    def _connection(self) -> sqlite3.Connection | None:
        """The views, if they know a seed; what is wrong with them is told by whoever derives from them."""
        try:
            connection = self._views.connection if self._views.path.exists() else None
            if connection is not None and queries.first_row(connection, _SEEDS, ()) == {"found": 1}:
                return connection
        except LedgerError:
            pass
        return None

    def _seeds_taken_away(
        self, connection: sqlite3.Connection, sides: Iterable[RecordedSide], called: Callable[[int], str]
    ) -> list[FileFault]:
        """For each side that takes a seed away: its place, and the words."""
        faults = []
        for row in queries.dictionaries(connection, _EARLY, (json.dumps(list(sides)),)):
            pool = next(pool for pool in stored_pools(connection) if pool.pool == row["number"])
            key = (pool.name, row["player"])
            if key not in self._told and not judged(pool, row["ended_ms"], row["since_ms"]).takes:
                self._told.add(key)
                ended = instant_text(row["ended_ms"], Precision.DAY)
                message = (
                    f"this game ended on {ended}, before {row['since']}, from when {called(row['player'])} has the "
                    f"rating {row['rating']:g} of a list in pool {pool.name!r}: it is rated with what applied before "
                    "the list; check the year of the game"
                )
                faults.append(FileFault(row["place"], message))
        return faults


# Which games were told with some players, days or moves, and who is registered.
#
# Without them, or where anything is wrong with them, the journal is read. The book has each game as it now stands;
# corrected games and the numbers of merged players stand beside it as they were told. The entries that are named here
# are read and judged elsewhere: too many of them do no harm, too few would.

_TOLD_SO = """
SELECT g.position FROM sought AS s
CROSS JOIN games AS g ON g.white = s.white AND g.black = s.black AND {where}
UNION SELECT g.position FROM sought AS s
CROSS JOIN given_sides AS told ON told.white = s.white AND told.black = s.black
CROSS JOIN games AS g ON g.position = told.position AND {where}
UNION SELECT o.position FROM sought AS s
CROSS JOIN originals AS o ON o.facts ->> 'white' = s.white AND o.facts ->> 'black' = s.black
"""
_BY_DAY = (
    "WITH sought AS (SELECT value ->> 0 AS white, value ->> 1 AS black, value ->> 2 AS since, value ->> 3 AS until, "
    "value ->> 4 AS day FROM json_each(?))"
) + _TOLD_SO.format(
    where="g.ended_ms >= s.since AND (g.ended_ms <= s.until OR substr(g.started_at, 1, length(s.day)) = s.day)"
)
_BY_MEETING = (
    "WITH sought AS (SELECT value ->> 0 AS white, value ->> 1 AS black, value ->> 2 AS tournament, "
    "value ->> 3 AS round FROM json_each(?))"
) + _TOLD_SO.format(where="g.tournament = s.tournament AND g.round = s.round")
_HIGHEST = "SELECT coalesce(max(player), 0) FROM players"
_PLAYER, _END = b',"kind":"player-registered/1","position":', -100  # it stands in the last bytes of a body
_FEW = 2_000  # entries after those that the views know that are read
_BY_MOVES = f"SELECT position FROM movetexts WHERE moves = ? ORDER BY position LIMIT {MOST_LOOKED_AT}"


@attrs.frozen
class LikeGames:
    """The ``GameIndex`` of one ledger: its views, as far as they are; whatever is wrong with these, there is none."""

    views: Views

    def reached(self) -> int | None:
        """The entry up to which the views know the journal; None where they cannot be asked."""
        try:
            return views_file.position(self.views.connection) if self.views.path.exists() else None
        except LedgerError:
            return None

    def highest_registered(self) -> int | None:
        """The highest number of a player whom the journal registered; None where only the whole journal tells."""
        reached, journal = self.reached(), self.views.journal
        if reached is None or journal.size() - reached > _FEW:
            return None
        with views_file.reading(self.views.path):
            highest = int(self.views.connection.execute(_HIGHEST).fetchone()[0])
            later = [body for bodies in journal.read(reached) for body in bodies if body.find(_PLAYER, _END) >= 0]
            return max([highest, *(int(orjson.loads(body)["facts"]["player"]) for body in later)])

    def entries(self, sought: Sought) -> tuple[int, set[int]] | None:
        """The entries of games that were told so, maybe of others, and up to which entry; as of ``GameIndex``."""
        try:
            if not self.views.path.exists():
                return None
            connection = self.views.connection
            with views_file.reading(self.views.path):
                # a correction in between would hide a game from both questions
                connection.execute("BEGIN")
                try:
                    reached, entries = views_file.position(connection), set[int]()
                    for query, rows in ((_BY_DAY, list(_days(sought))), (_BY_MEETING, sought.meetings)):
                        if rows:
                            answer = connection.execute(query, (json.dumps(rows),))
                            entries.update(position for (position,) in answer)
                    for moves in sought.moves:
                        entries.update(position for (position,) in connection.execute(_BY_MOVES, (moves,)))
                    return reached, entries
                finally:
                    connection.execute("COMMIT")
        except LedgerError:
            return None


def _days(sought: Sought) -> Iterable[tuple[int, int, int, int, str]]:
    """White, Black, the first and the last end that a game of that day may have in the book, and the day."""
    for white, black, day in sought.days:
        try:
            # A supplement may have made the end more exact, or earlier by some hours where it was reckoned; or the day
            # is that of the beginning, and the end may be any later one or be known to the year alone.
            yield white, black, instant_ms(day[:4]) - DAY_MS, instant_end_ms(day) + DAY_MS, day
        except MalformedError:  # no game of the journal has that day; it is told where the game is judged
            continue
