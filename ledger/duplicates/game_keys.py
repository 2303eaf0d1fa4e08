"""Derived keys, for games whose source gave none: keyed hashes of their facts, under the secret of the ledger.

An importer hashes what every report of a game has (day, event, round, players). A plain hash is never stored: in a
journal that is published, copied or stolen, names can be tried against it. The journal holds its HMAC-SHA256 under a
secret that the people file holds. The same facts give the same key again, in this ledger and in every other that was
made with its secret. So the order of games that nothing else distinguishes is stable, too. Earlier releases recorded
plain hashes: those keys stay in use.

Two games may have one key, such as two that a pair played on one day: further ones get the next free key. ``repeats``
judges whether a report is of another game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import TypeVar

from ledger.duplicates.reported_games import ReportedGames
from ledger.facts.source_games import PLAIN_KEY, SourceGame, plain_key
from ledger.journal import FindEntries, Journal, StoredEntry

Block = TypeVar("Block", bound=ReportedGames)
MOST_OF_ONE_KEY = 64  # games of one made key
LONGEST_KEY = 96  # characters, as ``KEY_PATTERN`` has it
# A letter that is no hexadecimal digit, in place of the first one, distinguishes keyed hashes from plain ones.
DERIVED_KEY_PATTERN = r"[A-Za-z0-9._-]{1,32}:[0-9a-fk][0-9a-f]{23}"
_MADE = re.compile(DERIVED_KEY_PATTERN, re.ASCII)
_BLOCK = 64  # bytes of a block of SHA-256
_KEYED_DIGITS = 23
_PLAIN = re.compile(PLAIN_KEY, re.ASCII)


def keyed_hashes(secret: bytes, plain: Iterable[str]) -> list[str]:
    """Return derived keys by plain hashes: the source, and 92 bits of the hash's HMAC-SHA256 (RFC 2104).

    Its two halves are begun once and copied for each key: 1.3 µs; ``hmac.digest`` takes 3.3.
    """
    # RFC 2104, section 2: a key shorter than a block is filled up with zeros; the secret has 32 bytes, so none is
    # hashed first.
    padded = secret.ljust(_BLOCK, b"\0")
    inner, outer = (sha256(bytes(byte ^ mask for byte in padded)).copy for mask in (0x36, 0x5C))
    keys: list[str] = []
    for made in plain:
        within, around = inner(), outer()
        within.update(made.encode())
        around.update(within.digest())
        keys.append(f"{made[: made.index(':')]}:k{around.hexdigest()[:_KEYED_DIGITS]}")
    return keys


def numbered_key(made: str, number: int) -> str:
    """Return the plain key of the *number*-th game (from 2 on) of the facts that have *made* as their first key."""
    source = made.partition(":")[0]
    return plain_key(source, f"{made} {number}")


def next_key(key: str, number: int) -> str:
    """Return the *number*-th key (from 2 on) of a game: ``KEY+NUMBER``, or the next plain key if it is a derived one.

    A key that has no room for the number gets a hash of both.
    """
    numbered = f"{key}+{number}"
    return numbered_key(key, number) if is_derived_key(key) or len(numbered) > LONGEST_KEY else numbered


def is_derived_key(key: str) -> bool:
    """Return whether a key was derived from the facts of a game, whose source gave none."""
    return _MADE.fullmatch(key) is not None


def is_plain_hash(key: str) -> bool:
    """Return whether a key is a hash without a secret, by an earlier release: names can be tried against it."""
    return _PLAIN.fullmatch(key) is not None


class DerivedKeys:
    """Derives the keys of one ledger from facts, with its secret; its journal may hold plain keys of old releases."""

    def __init__(self, journal: Journal, secret: Callable[[], bytes]) -> None:
        self._journal = journal
        self._secret = secret
        self._of_old: dict[str, bool] = {}  # by source, whether the journal may hold plain keys

    def keys(self, plain: Iterable[str], find: FindEntries) -> list[str]:
        """Return the keys of games: the plain ones that the journal has, else derived ones with the secret."""
        plain_keys = list(plain)
        keys = keyed_hashes(self._secret(), plain_keys)
        sources = {key[: key.index(":")] for key in plain_keys}
        stored = find([f"game:{key}" for key in plain_keys]) if any(map(self._may_be_of_old, sources)) else {}
        if not stored:
            return keys
        # A game of an earlier release keeps its plain key: under the keyed one it would be recorded a second time.
        return [old if f"game:{old}" in stored else key for old, key in zip(plain_keys, keys, strict=True)]

    def key_of(self, game: SourceGame) -> str:
        """Return the ledger's key of a game that an importer read, if no other game has its facts."""
        return self.keys([game.key], self._journal.find)[0] if game.is_made else game.key

    def with_keys(self, games: Block, find: FindEntries) -> Block:
        """Return games with the keys that they are recorded under, and the plain keys in field ``plain``.

        If a source gave the key, ``plain`` is null.

        Args:
            games: in the fields of ``SourceGame``.
            find: what looks up keys in the journal.
        """
        keys, flags = games.column("key"), games.column("is_made")
        plain = [key if made else None for key, made in zip(keys, flags, strict=True)]
        games = games.with_column("plain", plain)
        if not any(flags):
            return games
        derived_keys = iter(self.keys([key for key in plain if key is not None], find))
        return games.with_column(
            "key", [next(derived_keys) if made else key for key, made in zip(keys, flags, strict=True)]
        )

    def with_next_keys(self, games: Block, number: int, find: FindEntries) -> Block:
        """Return games, in the fields of events, each with the *number*-th key of its facts, or of its source's key.

        If a key is another game's, the caller asks for the next number, so that a repeated file ends at the same keys
        and adds nothing.
        """
        plain = [made or key for made, key in zip(games.column("plain"), games.column("game"), strict=True)]
        keys = [next_key(made, number) for made in plain]
        derived = iter(self.keys([key for key in keys if is_derived_key(key)], find))
        keys = [next(derived) if is_derived_key(key) else key for key in keys]
        return games.with_column("plain", plain).with_column("game", keys)

    def further_games(self, made: str, find: FindEntries) -> Iterator[StoredEntry]:
        """Yield the entries of the second game of some facts and later ones.

        *made* is the plain key of the first.
        """
        for number in range(2, MOST_OF_ONE_KEY + 1):
            (key,) = self.keys([numbered_key(made, number)], find)
            stored = find([f"game:{key}"])
            if not stored:
                return
            yield from stored.values()

    def _may_be_of_old(self, source: str) -> bool:
        """Return whether the journal has keys of a source that begin as plain ones do: one look-up a source."""
        if source not in self._of_old:
            # Plain keys go on with a hexadecimal digit; keyed ones with "k", which lies behind.
            first = next(iter(self._journal.keys(f"game:{source}:0", f"game:{source}:g")), None)
            self._of_old[source] = first is not None
        return self._of_old[source]
