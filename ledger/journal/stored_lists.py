"""The stored rows of a published rating list: encoding them as canonical bytes, and reading them.

The form ``rating-list/3``. A *part* is lines of canonical JSON, one for each player in order of the player numbers,
each the array of ``COLUMNS``; numbers are in the shortest form that reads back the same, and each line ends with a
line feed. The *cover* is a line with form, columns and number of players, and a line for each part: its SHA-256 in
hexadecimal, its first and its last player, and how many players it has. The digest of a list is that of its cover,
which commits to every part. All are stored with movetext, by their SHA-256. They have no name of a person.

Equals share a place: 1, 2, 2, 4. Lists of earlier releases keep their form. In ``rating-list/2`` the last game is the
last one in rating order: after a late event, or one that took long, another game may have ended later. In
``rating-list/1`` each row also has a place of its own, of equal ratings the lower player number the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

import attrs
import orjson

from ledger.errors import CorruptError
from ledger.journal import Journal
from ledger.journal.stored_texts import decompressed_text
from ledger.runtime.lazy import zstandard

FORM = "rating-list/3"
LAST_RATED, ONE_BY_ONE = "rating-list/2", "rating-list/1"  # the forms of earlier releases
FORMS = (FORM, LAST_RATED, ONE_BY_ONE)
ROWS_A_PART = 1_024  # some 50 KB: few enough to find a player quickly, many enough to be packed well
_LEVEL = 3  # of zstd


class ListRow(NamedTuple):
    """A row of a published rating list.

    Attributes:
        player: the player number.
        rank: place in the list, from 1; players with the same rating, unrounded, have the same place.
        shown: the rating as lists show it, to the nearest point; of halves the even one.
        rating: the rating, points, unrounded.
        games: rated games by then that the ledger knows.
        last_game: day of the latest of them; None without one.
    """

    player: int
    rank: int
    shown: int
    rating: float
    games: int
    last_game: str | None

    @property
    def figures(self) -> tuple[float, int, str | None]:
        """The player's own figures, without the rank: rating, games, day of the last one."""
        return self.rating, self.games, self.last_game


COLUMNS = ListRow._fields


def shared_ranks(ratings: Sequence[float]) -> list[int]:
    """Return the ranks of descending ratings; equal ratings share a rank: 1, 2, 2, 4."""
    places: list[int] = []
    for place, rating in enumerate(ratings, 1):
        places.append(places[-1] if place > 1 and rating == ratings[place - 2] else place)
    return places


def with_ranks(rows: Iterable[ListRow], form: str = FORM) -> list[ListRow]:
    """Return rows with the ranks of a stored form, best first; of equal ratings the lower player number first."""
    ordered = sorted(rows, key=lambda row: (-row.rating, row.player))
    places = range(1, len(ordered) + 1) if form == ONE_BY_ONE else shared_ranks([row.rating for row in ordered])
    return [row._replace(rank=place) for row, place in zip(ordered, places, strict=True)]


class ListTexts(NamedTuple):
    """The texts in which a published list is stored, cover first, and the hexadecimal digest of the cover."""

    digest: str
    texts: tuple[bytes, ...]

    def frames(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield (SHA-256, zstd frame) of each text, as ``Writer.store_texts`` takes them."""
        compressor = zstandard.ZstdCompressor(level=_LEVEL)
        for text in self.texts:
            yield sha256(text).digest(), compressor.compress(text)


def list_texts(rows: Iterable[ListRow], form: str = FORM) -> ListTexts:
    """Return the texts in which the rows of a list, in any order, are stored."""
    # By the first field, the number of the player: ``row`` finds the part by its first and its last one.
    in_order = sorted(rows)
    texts, lines = [], [_line({"columns": COLUMNS, "form": form, "players": len(in_order)})]
    remaining = iter(in_order)
    while part := list(islice(remaining, ROWS_A_PART)):
        text = b"".join(map(_line, map(tuple, part)))
        lines.append(_line((sha256(text).hexdigest(), part[0].player, part[-1].player, len(part))))
        texts.append(text)
    cover = b"".join(lines)
    return ListTexts(sha256(cover).hexdigest(), (cover, *texts))


def form_of_digest(rows: Sequence[ListRow], digest: str) -> str | None:
    """Return the stored form in which rows have a digest; None if they have it in no form."""
    return next((form for form in FORMS if list_texts(with_ranks(rows, form), form).digest == digest), None)


def _line(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS)


class _ListPart(NamedTuple):
    digest: str
    first: int
    last: int
    players: int


@attrs.frozen
class StoredList:
    """The stored rows of one publication; everything that is read is compared with its digest.

    Attributes:
        journal: the journal that stores the rows.
        path: the journal's file, for messages.
        position: the position of the entry that published the list.
        digest: the digest of the cover, in hexadecimal.
    """

    journal: Journal
    path: str
    position: int
    digest: str

    def rows(self) -> Iterator[ListRow]:
        """Yield all rows, in order of the player numbers.

        Raises:
            CorruptError: they are missing, or are not those that were published.
        """
        for part in self._parts():
            yield from self._rows_of(part)

    def row(self, player: int) -> ListRow | None:
        """Return a player's row, found by reading one part; None for a player who is not on the list.

        Raises:
            CorruptError: as for ``rows``.
        """
        for part in self._parts():
            if part.first <= player <= part.last:
                return next((row for row in self._rows_of(part) if row.player == player), None)
        return None

    def _parts(self) -> list[_ListPart]:
        head, *lines = self._text(self.digest).splitlines()
        said = orjson.loads(head)
        if said["form"] not in FORMS:
            reads = " and ".join(map(repr, FORMS))
            raise self._false(f"its rows are stored in the form {said['form']!r}, this program reads {reads}")
        return [_ListPart(*orjson.loads(line)) for line in lines]

    def _rows_of(self, part: _ListPart) -> Sequence[ListRow]:
        return [ListRow(*orjson.loads(line)) for line in self._text(part.digest).splitlines()]

    def _text(self, digest: str) -> bytes:
        frame = self.journal.text(bytes.fromhex(digest))
        if frame is None:
            raise self._false(f"{digest} of its stored rows is missing")
        try:
            text = decompressed_text(frame)
        except zstandard.ZstdError:
            raise self._false(f"{digest} of its stored rows cannot be unpacked") from None
        if text is None:
            raise self._false(f"{digest} of its stored rows is longer than any that this program stores")
        # The entry commits to the digest of the cover alone: the stored rows prove nothing by themselves.
        if sha256(text).hexdigest() != digest:
            raise self._false(f"{digest} of its stored rows was changed")
        return text

    def _false(self, what: str) -> CorruptError:
        remedy = "restore it from a copy, or calculate it again by 'lists DB LIST --restore-rows'"
        return CorruptError(self.path, self.position, f"published a list, but {what}; {remedy}")
