"""Helpers of the contract suites: the facts of a small club, a journal in memory, comparisons of rows and floats.

The club has the same facts every time, with everything in them that makes ratings hard to get right: several games on
one day without times, rounds that sort as numbers, short games, losses on time, draws, unplayed and casual games, a
guest, a Welcomer, declared ratings, changes of membership status.

The journal in memory is the second implementation of the protocol, and the simplest. Rows of views are compared
regardless of positions and numbers, floats by bits.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Any

import orjson

from ledger.facts import codec
from ledger.facts.events import Event, GameRecorded, PlayerChanged, PlayerRegistered, SchemeAdopted
from ledger.facts.words import Outcome, Standing, Termination, TreeHead
from ledger.journal import Journal, KeyTakenError, StoredEntry
from ledger.journal.merkle import EMPTY_ROOT, TILE_HEIGHT, check_hashes, check_subtree, leaf_hash, node_hash
from ledger.ratings import queries
from ledger.ratings.views import Views
from ledger.ratings.views_file import RATING_BOUNDS

if TYPE_CHECKING:
    import sqlite3

RECORDED_AT = "2022-01-01T00:00:00.000Z"
_ROUNDS = (None, "1", "2", "2.1", "2.2", "10", "Final")
_OUTCOMES = (Outcome.WHITE,) * 9 + (Outcome.BLACK,) * 7 + (Outcome.DRAW,) * 5 + (Outcome.NONE,)
_TERMINATIONS = (
    *(Termination.CHECKMATE,) * 5,
    *(Termination.RESIGNATION,) * 6,
    *(Termination.TIME,) * 5,
    Termination.AGREEMENT,
    Termination.ABANDONMENT,
    Termination.UNPLAYED,
    Termination.UNKNOWN,
)
# 9, 10 and 11 lie around ChessWorld's limit, by which more than 10 half-moves are rated (RULES 4.3).
_HALF_MOVES = (None, 0, 9, 10, 11, 40, 61, 120, 300)
# Of a month: every one has so many.
_DAYS = 28


def club(
    games: int = 300,
    players: int = 8,
    *,
    seed: int = 1,
    pool: str = "standard",
    scheme: str = "chessworld",
    settings: Mapping[str, int | bool | str] | None = None,
    changes: bool = True,
) -> list[Event]:
    """Return the facts of a sample club in the order in which they happened: scheme, players, then games.

    Args:
        games: the number of games.
        players: the number of players, at least 6; with the defaults each plays some 75 games.
        seed: another number gives another club.
        pool: the pool of all games.
        scheme: the rating scheme of the pool.
        settings: settings of the scheme that differ from its defaults.
        changes: whether membership status and declared ratings change between the games.
    """
    random = Random(seed)  # noqa: S311  # the same club every time; secures nothing
    events: list[Event] = [SchemeAdopted(pool=pool, scheme=scheme, settings=dict(settings or {}))]
    events += [_player(number) for number in range(1, players + 1)]
    changing = {games // 3, games // 2, 2 * games // 3} if changes else set()
    for i in range(games):
        month, day_of_month = divmod(i * _DAYS * 12 // games, _DAYS)
        day = f"2021-{month + 1:02}-{day_of_month + 1:02}"
        if i in changing:
            change = PlayerChanged(
                player=random.randint(1, players),
                effective_at=day,
                standing=random.choice(list(Standing)),
                declared_rating=random.choice((None, 1000, 1900)),
            )
            events.append(change)
        events.append(_game(random, i, players, pool, day))
    return events


def shuffle_facts(events: Sequence[Event], seed: int) -> list[Event]:
    """Return facts in another order that the rules allow: scheme and players first, the rest shuffled."""
    first = [event for event in events if isinstance(event, SchemeAdopted | PlayerRegistered)]
    rest = [event for event in events if not isinstance(event, SchemeAdopted | PlayerRegistered)]
    Random(seed).shuffle(rest)  # noqa: S311
    return first + rest


def record(journal: Journal, events: Iterable[Event]) -> None:
    """Append facts to a journal in one transaction, without checking the rules."""
    with journal.writing() as writer:
        facts = list(events)
        bodies = [codec.body_of(position, RECORDED_AT, "club", e) for position, e in enumerate(facts, writer.size + 1)]
        writer.append([e.KIND for e in facts], [e.key for e in facts], bodies)


def _player(number: int) -> PlayerRegistered:
    standings = {2: Standing.GUEST, 3: Standing.WELCOMER}
    return PlayerRegistered(
        player=number,
        joined_at=f"20{number % 20:02}",
        standing=standings.get(number, Standing.FULL),
        declared_rating={4: 2250, 5: 0}.get(number),
        birth_year=1900 + number,
        commitment=f"{number:064x}",
    )


def _game(random: Random, number: int, players: int, pool: str, day: str) -> GameRecorded:
    white, black = random.sample(range(1, players + 1), 2)
    hour = random.randint(0, 23)
    # The bare day twice as often: several games of one player on a day whose times do not order them.
    ended = random.choice((day, day, f"{day}T{hour:02}:00:00Z", f"{day}T{hour:02}:00:00.250Z", day[:7]))
    return GameRecorded(
        game=f"{random.getrandbits(24):06x}-{number}",  # keys in no order: they break the last ties
        pool=pool,
        white=white,
        black=black,
        outcome=random.choice(_OUTCOMES),
        termination=random.choice(_TERMINATIONS),
        half_moves=random.choice(_HALF_MOVES),
        ended_at=ended,
        tournament=random.choice((None, "club:autumn", "Café Kök")),
        round=random.choice(_ROUNDS),
        rated=random.random() < 0.95,
        white_rating=random.choice((None, 1500)),
    )


# Limits in ``ratings.views`` that choose how views catch up, and the values that force each way.
CATCH_UP_LIMITS = (("FEW_ENTRIES", 2_000), ("FEW_ENTRIES", 0), ("BUILD_FROM", 60))


def new_views_path(folder: Path) -> Path:
    """Make a folder, and return the path of views in it."""
    folder.mkdir()
    return folder / "club.views.db"


def record_and_catch_up(updated: Views, slices: Sequence[Sequence[Event]]) -> None:
    """Record each slice of facts in the journal of some views, and catch these up after each."""
    for facts in slices:
        record(updated.journal, facts)
        assert updated.catch_up() == updated.journal.size()


def random_slices(facts: Sequence[Event], seeds: Sequence[int]) -> Iterator[tuple[int, list[Sequence[Event]]]]:
    """Yield each seed with the facts cut into slices at random."""
    for seed in seeds:
        random = Random(seed)  # noqa: S311
        cuts = sorted({0, len(facts), *(random.randrange(len(facts)) for _ in range(8))})
        yield seed, [facts[first:last] for first, last in pairwise(cuts)]


# --- a journal in memory ------------------------------------------------------------------------------------


BLOCK = 100  # bodies a read hands out at once; small, so that every reader meets several blocks


class MemoryJournal:
    """A journal in memory, which threads may share: one writes at a time, readers see the committed entries."""

    def __init__(self) -> None:
        self._entries: list[StoredEntry] = []
        self._by_key: dict[str, StoredEntry] = {}
        self._texts: dict[bytes, bytes] = {}
        self._lock = Lock()

    @contextmanager
    def writing(
        self,
        *,
        keys: Sequence[str] = (),  # noqa: ARG002  # finding them costs no more later
    ) -> Iterator[MemoryWriter]:
        """Begin a write transaction, committed when the block ends without an error."""
        with self._lock:
            writer = MemoryWriter(self._entries, self._by_key)
            yield writer
            # New objects replace the old ones, the entries last: readers take no lock, and a reader who sees an entry
            # counted finds its key and its text.
            self._by_key = {**self._by_key, **writer.by_key}
            self._texts = {**writer.texts, **self._texts}
            self._entries = self._entries + writer.entries

    def ensure_durable(self) -> None:
        """Do nothing: memory has no disk or replica to wait for."""

    def size(self) -> int:
        """Return the number of committed entries."""
        return len(self._entries)

    def head(self) -> TreeHead:
        """Return the size and Merkle root of the committed entries."""
        entries = self._entries
        return TreeHead(len(entries), _root([entry.leaf for entry in entries]))

    def root_at(self, size: int) -> bytes:
        """Return the Merkle root of the first *size* entries; ValueError if there are fewer."""
        if not 0 <= size <= len(self._entries):
            raise ValueError(f"{size} entries of {len(self._entries)}")
        return _root([entry.leaf for entry in self._entries[:size]])

    def subtree_root(self, first: int, last: int) -> bytes:
        """Return the Merkle root over the entries with first < position <= last; ValueError if that is no subtree."""
        check_subtree(first, last, len(self._entries))
        return _root([entry.leaf for entry in self._entries[first:last]])

    def hashes(self, level: int, first: int, last: int) -> list[bytes]:
        """Return the hashes of a level of tiles; ValueError if it has fewer."""
        check_hashes(level, first, last, len(self._entries))
        width = 1 << (level * TILE_HEIGHT)
        leaves = [entry.leaf for entry in self._entries]
        return [_root(leaves[number * width : (number + 1) * width]) for number in range(first, last)]

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Yield the bodies of the entries with position > *after* (and <= *until*), in order, in blocks of 100."""
        entries = self._entries[max(after, 0) : until]
        for start in range(0, len(entries), BLOCK):
            yield [entry.body for entry in entries[start : start + BLOCK]]

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the committed entries with these unique keys of facts, by key."""
        by_key = self._by_key
        return {key: by_key[key] for key in keys if key in by_key}

    def keys(self, first: str, last: str) -> Iterator[str]:
        """Return the committed keys from *first* on and before *last*, in order of their UTF-8 bytes."""
        low, high = first.encode(), last.encode()
        # Python sorts by code points, which is the order of their bytes in UTF-8.
        yield from sorted(key for key in self._by_key if low <= key.encode() < high)

    def text(self, sha256: bytes) -> bytes | None:
        """Return the zstd frame of a movetext, or None."""
        return self._texts.get(sha256)

    def close(self) -> None:
        """Do nothing."""


class MemoryWriter:
    """The writer of one transaction on a ``MemoryJournal``."""

    def __init__(self, committed: Sequence[StoredEntry], committed_by_key: dict[str, StoredEntry]) -> None:
        self._committed = committed
        self._committed_by_key = committed_by_key
        self.entries: list[StoredEntry] = []
        self.by_key: dict[str, StoredEntry] = {}
        self.texts: dict[bytes, bytes] = {}

    @property
    def size(self) -> int:
        """The number of entries so far, those of this transaction included."""
        return len(self._committed) + len(self.entries)

    def last_recorded_at(self) -> str | None:
        """Return ``recorded_at`` of the last entry, or None in an empty journal."""
        if not self.size:
            return None
        last = (self.entries or self._committed)[-1]
        return str(orjson.loads(last.body)["recorded_at"])

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the entries with these unique keys of facts, by key; entries of this transaction included."""
        by_key = {**self._committed_by_key, **self.by_key}
        return {key: by_key[key] for key in keys if key in by_key}

    def append(self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes]) -> list[bytes]:
        """Add entries at the next positions; return their leaf hashes.

        Raises:
            KeyTakenError: one of the keys is known; none of the entries was added.
            ValueError: not as many keys as bodies; none was added.
        """
        if len(keys) != len(bodies):
            raise ValueError(f"{len(keys)} keys for {len(bodies)} bodies")
        if len(set(keys)) < len(keys) or self.find(keys):
            raise KeyTakenError
        leaves = []
        for _, key, body in zip(kinds, keys, bodies, strict=False):
            stored = StoredEntry(self.size + 1, bytes(body), leaf_hash(body))
            self.entries.append(stored)
            self.by_key[key] = stored
            leaves.append(stored.leaf)
        return leaves

    def store_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Store (SHA-256, zstd frame) pairs of movetext; an existing one stays."""
        for sha256, frame in texts:
            self.texts.setdefault(sha256, frame)


def _root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes, level by level: an odd one out waits for its sibling on a higher level."""
    level = list(leaves)
    while len(level) > 1:
        pairs = [node_hash(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[2 * len(pairs) :]
    return level[0] if level else EMPTY_ROOT


# --- comparing ----------------------------------------------------------------------------------------------


_PLAYER_COLUMNS = frozenset({"player", "opponent", "white", "black"})
# How views were made, and bounds of ratings, which corrections do not lower: the same facts may have several.
_NOT_FACTS = frozenset({"progress", "projections", RATING_BOUNDS})

Row = tuple[tuple[str, Any], ...]


def table_rows(connection: sqlite3.Connection, table: str) -> list[Row]:
    """Return all rows of a table, sorted, with floats in hexadecimal so that equality is of their bits."""

    def exact(value: object) -> object:
        return value.hex() if isinstance(value, float) else value

    rows = queries.fetch_dicts(connection, f'SELECT * FROM "{table}"')
    # By what they look like: None and numbers have no order in Python.
    return sorted((tuple((name, exact(value)) for name, value in sorted(row.items())) for row in rows), key=repr)


def rows_by_facts(connection: sqlite3.Connection, identities: Mapping[int, str] | None = None) -> dict[str, list[Row]]:
    """Return the rows of each table of views, with the game's key, the pool's name and the player's identity.

    Two views of the same facts give the same rows, for any order in which the facts arrived. Without *identities* the
    numbers of the players stay.
    """
    keys = dict(connection.execute("SELECT position, key FROM games"))
    pools = dict(connection.execute("SELECT pool, name FROM pools"))

    def readable(row: Row) -> Row:
        plain = dict(row)
        plain.pop("position", None)
        for name, value in plain.items():
            if name in _PLAYER_COLUMNS and identities is not None:
                plain[name] = identities.get(value, value)
            # a column of a plug-in may be called so, and hold what it likes
            elif name == "game" and isinstance(value, int):
                plain[name] = keys.get(value, value)
            elif name == "pool" and isinstance(value, int):
                plain[name] = pools.get(value, value)
        return tuple(plain.items())

    return {
        table: sorted((readable(row) for row in table_rows(connection, table)), key=repr)
        for table in queries.table_names(connection)
        if table not in _NOT_FACTS
    }


class AbandonedError(Exception):
    """An error that a test raises to leave a transaction half done."""


@contextmanager
def expect_error(*errors: type[BaseException]) -> Iterator[None]:
    """Expect the block to raise one of *errors*; AssertionError if it does not."""
    try:
        yield
    except errors:
        return
    raise AssertionError(f"expected {' or '.join(error.__name__ for error in errors)}, but nothing was refused")


def bit_patterns(values: Iterable[float]) -> bytes:
    """Return the bytes of floats, by which 0.0 differs from -0.0, and NaN equals itself."""
    flat = [float(value) for value in values]
    return struct.pack(f"<{len(flat)}d", *flat)
