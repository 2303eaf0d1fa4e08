"""The roster: membership statuses, declared ratings, years of birth and list ratings (seeds) of players.

Names are in the people file alone. Nearly all players are full members, so that other statuses are held in memory; the
rest is looked up when a player begins, for an imported list may name a million who never play.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.book import tables
from ledger.book.timeline import ListRating, Pool
from ledger.facts.events import RatingSeeded
from ledger.facts.instants import instant_ms
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Standing
from ledger.schemes.scheme import STANDING_FULL, STANDING_GUEST, STANDING_WELCOMER, AcceptedRatings, Newcomer, Seed

if TYPE_CHECKING:
    import sqlite3

# As kernels take them: the games of an account that is closed count as those of a full member.
STANDING_CODE: Mapping[str, int] = {
    Standing.FULL: STANDING_FULL,
    Standing.GUEST: STANDING_GUEST,
    Standing.WELCOMER: STANDING_WELCOMER,
    Standing.CLOSED: STANDING_FULL,
}
FROM_THE_BEGINNING = -(2**62)  # the instant of a seed without one, milliseconds

_SPECIAL = "SELECT player, standing FROM players WHERE standing <> 'full'"
_CHANGES = "SELECT player, effective_ms, effective_at, position, standing, declared_rating FROM changes"
_KNOWN = "SELECT declared_rating, birth_year FROM players WHERE player = ?"
_SEEDS = (
    "SELECT effective_ms, rating, games, deviation, volatility, highest, k_factor, source FROM seeds "
    "WHERE pool = ? AND player = ? ORDER BY effective_ms, effective_at, position"
)
# Of players with games: lists may have many more.
_PLAY = "(SELECT white FROM games WHERE reason IS NULL UNION SELECT black FROM games WHERE reason IS NULL)"
_ALL_KNOWN = (
    "SELECT player, declared_rating, birth_year FROM players "
    f"WHERE (declared_rating IS NOT NULL OR birth_year IS NOT NULL) AND player IN {_PLAY}"
)
_ALL_SEEDS = (
    "SELECT pool, player, effective_ms, rating, games, deviation, volatility, highest, k_factor, source FROM seeds "
    f"WHERE player IN {_PLAY} ORDER BY pool, player, effective_ms, effective_at, position"
)
_HAS_SEED = "EXISTS (SELECT 1 FROM seeds WHERE seeds.pool = ?1 AND seeds.player = current.player)"
# Where a pool has no seed at all SQLite asks that once, not for each of its players. CROSS JOIN holds it to the order
# as written (sqlite.org/optoverview.html): the few who declared a rating have an index, those who play are a million.
_WITH_PAST = (
    "SELECT player FROM players CROSS JOIN current USING (player) WHERE pool = ?1 AND declared_rating IS NOT NULL "
    "UNION SELECT player FROM current WHERE pool = ?1 AND EXISTS (SELECT 1 FROM seeds WHERE pool = ?1) "
    f"AND {_HAS_SEED}"
)
# Of who has a seed in a pool, ?1, by an instant, ?2, and no rated game.
_UNPLAYED = """
SELECT s.player, declared_rating, birth_year, effective_ms, rating, games, deviation, volatility, highest, k_factor,
  source
FROM seeds AS s{index} LEFT JOIN players ON players.player = s.player
WHERE s.pool = ?1 AND effective_ms <= ?2{which}
  AND NOT EXISTS (SELECT 1 FROM current WHERE current.pool = ?1 AND current.player = s.player)
  AND NOT EXISTS (SELECT 1 FROM merges WHERE merges.player = s.player)
"""
_IN_ORDER = f"{_UNPLAYED.format(index='', which='')} ORDER BY s.player, effective_ms, effective_at, s.position"
_IN_FORCE = """AND NOT EXISTS (
  SELECT 1 FROM seeds AS later WHERE later.pool = ?1 AND later.player = s.player AND later.effective_ms <= ?2
  AND (later.effective_ms, later.effective_at, later.position) > (s.effective_ms, s.effective_at, s.position))
"""
# The index gives the order: who has met enough of them reads no further.
_BEST_FIRST = f"""
{_UNPLAYED.format(index=" INDEXED BY seeds_by_rating", which=" AND NOT effective_ms BETWEEN ?3 AND ?4")} {_IN_FORCE}
ORDER BY rating DESC, s.player
"""
# Players whose list rating is unchanged: see ``AcceptedRatings``.
_PLAIN = """(NOT effective_ms BETWEEN ?3 AND ?4 AND rating BETWEEN ?5 AND ?6
  AND NOT (?7 AND rating <> CAST(rating AS INTEGER)) AND coalesce(games >= ?8, 1))"""
_COUNT = f"""
SELECT count(*) FILTER (WHERE plain), count(*) FILTER (WHERE plain AND rating >= ?9),
  count(*) FILTER (WHERE plain AND rating > ?9), count(*) FILTER (WHERE NOT plain)
FROM (SELECT rating, {_PLAIN} AS plain FROM (
  {_UNPLAYED.format(index=" NOT INDEXED", which=" AND s.player NOT IN (SELECT value FROM json_each(?10))")}
  {_IN_FORCE}))
"""
_OTHERS = f"{_UNPLAYED.format(index=' NOT INDEXED', which=f' AND NOT {_PLAIN}')} {_IN_FORCE}"
# The index by rating knows no instants: the rows of the pool are read by the table's own key.
_BETWEEN = f"{_UNPLAYED.format(index=' NOT INDEXED', which=' AND effective_ms BETWEEN ?3 AND ?4')} {_IN_FORCE}"
_SIDES = (
    f"SELECT pool, white AS player, white_rating AS rating, began_ms, {tables.IN_RATING_ORDER} "
    "FROM games WHERE reason IS NULL AND white_guest IS NULL AND {white} "
    f"UNION ALL SELECT pool, black, black_rating, began_ms, {tables.IN_RATING_ORDER} "
    "FROM games WHERE reason IS NULL AND black_guest IS NULL AND {black}"
)
# By the indexes of the sides: that of the pool, which SQLite would take, leads through all games of it.
_OF_PLAYER = _SIDES.format(white="+pool = ?1 AND white = ?2", black="+pool = ?1 AND black = ?2")
_SHOWN = f"SELECT ended_ms, rating FROM ({_OF_PLAYER}) ORDER BY {tables.IN_RATING_ORDER} LIMIT 1"
_FIRST = f"SELECT ended_ms, began_ms FROM ({_OF_PLAYER}) ORDER BY {tables.IN_RATING_ORDER} LIMIT 1"
_WITH_SHOWN = "pool IN (SELECT pool FROM eras WHERE json_extract(settings, '$.from_shown'))"
_ALL_SHOWN = (
    "SELECT pool, player, ended_ms, rating FROM ("
    f"SELECT pool, player, ended_ms, rating, row_number() OVER (PARTITION BY pool, player "
    f"ORDER BY {tables.IN_RATING_ORDER}) AS n FROM ({_SIDES.format(white=_WITH_SHOWN, black=_WITH_SHOWN)})) "
    "WHERE n = 1 AND rating > 0"
)
SEED_COLUMNS = (
    "pool", "player", "effective_ms", "effective_at", "rating", "games", "deviation", "volatility", "highest",
    "k_factor", "source", "position",
)  # fmt: skip
INSERT_SEED = f"INSERT INTO seeds({', '.join(SEED_COLUMNS)}) VALUES ({', '.join('?' * len(SEED_COLUMNS))})"


def standing_sql(row: str, ms: str | None = None) -> str:
    """Return an SQL expression for the membership status of a player at an instant.

    Of two changes that begin together (``2020``, ``2020-01-01``) the more precise one holds, as in
    ``Roster.add_change``.

    Args:
        row: the name of a row of ``players`` in the statement.
        ms: the expression for the instant; None: after all changes.
    """
    by = "" if ms is None else f"AND effective_ms <= {ms} "
    return (
        f"coalesce((SELECT standing FROM changes WHERE changes.player = {row}.player {by}"
        f"ORDER BY effective_ms DESC, effective_at DESC, position DESC LIMIT 1), {row}.standing)"
    )


class StoredSeed(NamedTuple):
    """A list rating as the table ``seeds`` stores it: since when it holds, the seed, and its list."""

    ms: int
    seed: Seed
    source: str | None


@attrs.frozen
class _Preloaded:
    """The facts about all players with games, in memory.

    Attributes:
        on_joining: by player, declared rating and year of birth.
        seeds: by pool and player, in order of their instants.
        shown: by pool and player, when the first rated game ended and the rating that the source shows for it.
    """

    on_joining: dict[int, tuple[int | None, int | None]]
    seeds: dict[tuple[int, int], list[StoredSeed]]
    shown: dict[tuple[int, int], tuple[int, int]]


class Roster:
    """The facts about players apart from their games; nearly all players have none."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._preloaded: _Preloaded | None = None
        self._with_lists: dict[int, bool] = {}  # by pool, whether it has a seed
        self.has_initial_ratings = False  # whether a build has met a declared rating, a year of birth or a seed
        self.standing: dict[int, int] = {}
        self.changes: dict[int, list[tuple[int, str, int, int, int | None]]] = {}
        for player, standing in connection.execute(_SPECIAL):
            self.add_player(player, standing)
        for row in connection.execute(_CHANGES):
            self.add_change(*row)

    def add_player(self, player: int, standing: str) -> None:
        """Note the membership status of a player at registration."""
        if standing != Standing.FULL:
            self.standing[player] = STANDING_CODE[standing]

    def add_change(self, player: int, ms: int, at: str, position: int, standing: str, declared: int | None) -> None:
        """Note a change of membership status from *ms* on.

        Of two that begin together the more precise instant holds.
        """
        # Not by the whole row: a declared rating may be None, which no number can be compared with.
        entry = (ms, at, position, STANDING_CODE[standing], declared)
        self.changes[player] = sorted([*self.changes.get(player, []), entry], key=lambda row: row[:3])

    def reload(self, player: int) -> None:
        """Read the membership status of a player and its changes again after a correction."""
        self.standing.pop(player, None)
        self.changes.pop(player, None)
        for number, standing in self._connection.execute(f"{_SPECIAL} AND player = ?", (player,)):
            self.add_player(number, standing)
        for row in self._connection.execute(f"{_CHANGES} WHERE player = ?", (player,)):
            self.add_change(*row)

    def standing_at(self, player: int, ms: int) -> int:
        """Return the code of a player's membership status at an instant."""
        code = self.standing.get(player, STANDING_FULL)
        for since, _, _, later, _ in self.changes.get(player, ()):
            if since <= ms:
                code = later
        return code

    def not_full_members(self) -> set[int]:
        """Return the players who are or were anything but full members."""
        return {*self.standing, *self.changes}

    def preload(self, *, pasts: bool = True, shown: bool = True) -> None:
        """Read the facts about all players with games into memory.

        From then on nothing may change.

        Args:
            pasts: False if no player has a declared rating, a year of birth or a seed.
            shown: False if no pool goes by the ratings that sources show.
        """
        preloaded = _Preloaded({}, {}, {})
        if pasts:
            for player, declared, birth_year in self._connection.execute(_ALL_KNOWN):
                preloaded.on_joining[player] = (declared, birth_year)
            for pool, player, *row in self._connection.execute(_ALL_SEEDS):
                preloaded.seeds.setdefault((pool, player), []).append(_stored_seed(*row))
        if shown:
            for pool, player, ended_ms, rating in self._connection.execute(_ALL_SHOWN):
                preloaded.shown[pool, player] = (ended_ms, rating)
        self._preloaded = preloaded
        self.forget_seeds()

    def declared_and_birth_year(self, player: int) -> tuple[int | None, int | None]:
        """Return the rating that a player declared at registration, and the year of birth."""
        if self._preloaded is not None:
            return self._preloaded.on_joining.get(player, (None, None))
        row = self._connection.execute(_KNOWN, (player,)).fetchone()
        return (None, None) if row is None else row

    def seeds(self, pool: int, player: int) -> list[StoredSeed]:
        """Return the list ratings of a player in a pool, in order of their instants."""
        if self._preloaded is not None:
            return self._preloaded.seeds.get((pool, player), [])
        return [_stored_seed(*row) for row in self._connection.execute(_SEEDS, (pool, player))]

    def has_seeds(self, pool: int) -> bool:
        """Return whether any player has a list rating in a pool.

        After ``preload`` it is any player with a game. The answer is cached.
        """
        if pool not in self._with_lists:
            if self._preloaded is not None:
                has_seed = any(number == pool for number, _ in self._preloaded.seeds)
            else:
                query = "SELECT EXISTS(SELECT 1 FROM seeds WHERE pool = ?)"
                (has_seed,) = self._connection.execute(query, (pool,)).fetchone()
            self._with_lists[pool] = bool(has_seed)
        return self._with_lists[pool]

    def forget_seeds(self) -> None:
        """Forget the answers of ``has_seeds``: a seed was recorded or corrected."""
        self._with_lists.clear()

    def list_ratings_between(self, pool: int, player: int, after_ms: int, until_ms: int) -> list[ListRating]:
        """Return the list ratings of a player later than one instant, up to another, in order."""
        if not self.has_seeds(pool):
            return []
        days = dict.fromkeys(listed.ms for listed in self.seeds(pool, player) if after_ms < listed.ms <= until_ms)
        return [ListRating(ms, self.restarting_player(pool, player, ms)) for ms in days]

    def seed_at(self, pool: int, player: int, ms: int) -> StoredSeed | None:
        """Return the list rating of a player in force at an instant, the last one up to it; None if there is none."""
        return next((listed for listed in reversed(self.seeds(pool, player)) if listed.ms <= ms), None)

    def shown_rating(self, pool: Pool, player: int, ms: int) -> int | None:
        """Return the rating that the source shows for a player's first rated game, from which the player starts.

        It is None if the pool does not go by it, if the source shows none, and before that game ended: the rating was
        unknown then.
        """
        if not pool.eras[pool.era_at(ms)].from_shown:
            return None
        if self._preloaded is not None:
            row = self._preloaded.shown.get((pool.pool, player))
        else:
            row = self._connection.execute(_SHOWN, (pool.pool, player)).fetchone()
        if row is None or row[0] > ms or not pool.eras[pool.era_at(row[0])].from_shown:
            return None
        return row[1] if row[1] is not None and row[1] > 0 else None

    def first_game(self, pool: int, player: int) -> tuple[int, int] | None:
        """Return when a player's first rated game in a pool ended, and the instant of the ratings that it goes by.

        That is the first day of its tournament if tournaments are rated whole, else the end of the game. None without
        a rated game.
        """
        row = self._connection.execute(_FIRST, (pool, player)).fetchone()
        return None if row is None else (row[0], row[0] if row[1] is None else min(row))

    def _declared_at(self, player: int, ms: int, rating: int | None) -> int | None:
        # a change of status alone takes no declared rating back
        for since, _, _, _, later in self.changes.get(player, ()):
            if since <= ms and later is not None:
                rating = later
        return rating

    def players_with_initial_ratings(self, pool: int) -> Iterator[int]:
        """Yield players of a pool with a list rating there, and all players who ever declared a rating."""
        for (player,) in self._connection.execute(_WITH_PAST, (pool,)):
            yield player
        for player, changes in self.changes.items():
            if any(declared is not None for _, _, _, _, declared in changes):
                yield player

    def seeded_without_games(self, pool: int, ms: int) -> Iterator[tuple[int, StoredSeed, Newcomer]]:
        """Yield players with a seed and no rated game in a pool, by number, with the seed in force and the facts."""
        # Rows of one player follow each other by instant: the last one is in force.
        waiting: tuple[int, StoredSeed, Newcomer] | None = None
        for row in self._connection.execute(_IN_ORDER, (pool, ms)):
            current = self._seeded(ms, *row)
            if waiting is not None and waiting[0] != current[0]:
                yield waiting
            waiting = current
        if waiting is not None:
            yield waiting

    def seeded_best_first(
        self, pool: int, ms: int, without: tuple[int, int]
    ) -> Iterator[tuple[int, StoredSeed, Newcomer]]:
        """Yield players with a seed and no rated game, highest seed first, as an index has them.

        Args:
            pool: number of the pool.
            ms: the instant.
            without: leave out players whose seed holds from these milliseconds, both included.
        """
        for row in self._connection.execute(_BEST_FIRST, (pool, ms, *without)):
            yield self._seeded(ms, *row)

    def count_seeded(
        self,
        pool: int,
        ms: int,
        without: tuple[int, int],
        unchanged: AcceptedRatings,
        rating: float,
        closed: Collection[int],
    ) -> tuple[tuple[int, int, int], Iterator[tuple[int, StoredSeed, Newcomer]]]:
        """Count players with a seed and no rated game whose list rating is unchanged, by SQLite alone.

        Args:
            pool: number of the pool.
            ms: the instant.
            without: leave out players whose seed holds from these milliseconds, both included.
            unchanged: the condition under which a list rating is unchanged.
            rating: a rating, points.
            closed: players to leave out.

        Returns:
            The count, that of players with *rating* or a higher one, that with a higher one; and all other players, as
            ``seeded_without_games`` yields them.
        """
        plain = (pool, ms, *without, *unchanged)
        arguments = (*plain, rating, json.dumps(sorted(closed)))
        *counts, others = self._connection.execute(_COUNT, arguments).fetchone()
        rows = self._connection.execute(_OTHERS, plain) if others else ()
        seeded = (self._seeded(ms, *row) for row in rows)
        return (counts[0], counts[1], counts[2]), (row for row in seeded if row[0] not in closed)

    def seeded_between(self, pool: int, ms: int, span: tuple[int, int]) -> Iterator[tuple[int, StoredSeed, Newcomer]]:
        """Yield the players that ``seeded_best_first`` leaves out for *span*, in no order."""
        for row in self._connection.execute(_BETWEEN, (pool, ms, *span)):
            yield self._seeded(ms, *row)

    def _seeded(
        self, ms: int, player: int, declared: int | None, birth_year: int | None, *seed: Any
    ) -> tuple[int, StoredSeed, Newcomer]:
        listed = _stored_seed(*seed)
        declared = self._declared_at(player, ms, declared)
        rating = None if declared is None else float(declared)
        return player, listed, Newcomer(rating, birth_year, ms / DAY_MS, listed.seed)

    def new_player(self, pool: Pool, player: int, first_ms: int) -> Newcomer:
        """Return the facts for a pool's scheme about a new player, whose first rated game ended at *first_ms*.

        At an earlier instant: the facts about a player who has no rated game by then.
        """
        who = self.restarting_player(pool.pool, player, first_ms)
        # a player's declaration, or a list, takes precedence over a rating that a source shows for a game
        if who.has_rating:
            return who
        shown = self.shown_rating(pool, player, first_ms)
        return who if shown is None else who._replace(declared=float(shown))

    def restarting_player(self, pool: int, player: int, ms: int) -> Newcomer:
        """Return the facts about a player who restarts with a change of scheme, without the ratings of sources."""
        on_joining, birth_year = self.declared_and_birth_year(player)
        declared = self._declared_at(player, ms, on_joining)
        seed = self.seed_at(pool, player, ms)
        return Newcomer(
            None if declared is None else float(declared), birth_year, ms / DAY_MS, None if seed is None else seed.seed
        )


def _stored_seed(
    ms: int,
    rating: float,
    games: int | None,
    deviation: float | None,
    volatility: float | None,
    highest: float | None,
    k_factor: float | None,
    source: str | None,
) -> StoredSeed:
    day = None if ms == FROM_THE_BEGINNING else ms / DAY_MS
    played = None if games is None else float(games)
    return StoredSeed(ms, Seed(rating, played, deviation, volatility, highest, k_factor, day), source)


def seed_row(pool: int, event: RatingSeeded, position: int) -> dict[str, object]:
    """Return a row of the table ``seeds`` for an entry at a position."""
    row: dict[str, object] = {
        name: None if (value := getattr(event, name)) is None else float(value)
        for name in ("rating", "deviation", "volatility", "highest", "k_factor")
    }
    row |= {"pool": pool, "player": event.player, "games": event.games, "source": event.source, "position": position}
    row["effective_ms"] = FROM_THE_BEGINNING if event.effective_at is None else instant_ms(event.effective_at)
    row["effective_at"] = event.effective_at or ""
    return row
