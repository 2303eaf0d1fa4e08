"""The bytes in which the rows of published lists are kept: golden, read back, and refused where they were changed."""

from __future__ import annotations

from hashlib import sha256
from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import CorruptError
from ledger.journal.stored_lists import COLUMNS, LAST_RATED, ROWS_A_PART, ListRow, ListTexts, StoredList, list_texts
from ledger.runtime.lazy import zstandard
from ledger.testing import MemoryJournal
from tests.kit.yardsticks import within

GOLDEN_ROWS = [
    ListRow(13, 1, 1924, 1923.5, 106, "2006-08-30"),
    ListRow(1, 2, 1882, 1882.2968807682398, 107, "2006-09-05"),
    ListRow(2_147_483_647, 3, 1400, 1400.0, 0, None),
]
GOLDEN_PART = b"""[1,2,1882,1882.2968807682398,107,"2006-09-05"]
[13,1,1924,1923.5,106,"2006-08-30"]
[2147483647,3,1400,1400.0,0,null]
"""
GOLDEN_COVER = b"""{"columns":["player","rank","shown","rating","games","last_game"],"form":"rating-list/3","players":3}
["cfca74087dea41a61443e46d93b90de646abbfa8644c07fedd7e18511265e76e",1,2147483647,3]
"""
GOLDEN_DIGEST = "1416f65b72cde7feace9ccc275ee277acec7e2dfa30fb58c9f9fd37991b10572"
DIGEST_OF_THE_SECOND_FORM = "d58004cefb1dc9bcecb47ac3972abfdfccf776b039b890133c35a221de5bbcd0"
EMPTY_COVER = b"""{"columns":["player","rank","shown","rating","games","last_game"],"form":"rating-list/3","players":0}
"""


def kept(texts: ListTexts) -> StoredList:
    """The list as it is read from a journal that keeps these texts."""
    journal = MemoryJournal()
    with journal.writing() as writer:
        writer.store_texts(texts.frames())
    return StoredList(journal, "club.db", 918, texts.digest)


def test_the_bytes_are_the_golden_ones() -> None:
    made = list_texts(GOLDEN_ROWS)
    assert made.texts == (GOLDEN_COVER, GOLDEN_PART)
    assert made.digest == GOLDEN_DIGEST
    assert sha256(GOLDEN_COVER).hexdigest() == GOLDEN_DIGEST
    assert list_texts(GOLDEN_ROWS, LAST_RATED).digest == DIGEST_OF_THE_SECOND_FORM


def test_a_list_of_nobody_is_a_cover_alone() -> None:
    made = list_texts([])
    assert made.texts == (EMPTY_COVER,)
    assert list(kept(made).rows()) == []
    assert kept(made).row(1) is None


ratings = st.floats(-1e4, 1e4) | st.integers(0, 3000).map(float)
rows = st.lists(
    st.builds(
        ListRow,
        st.integers(1, 10_000),
        st.integers(1, 10_000),
        st.integers(-9999, 9999),
        ratings,
        st.integers(0, 10_000),
        st.none() | st.dates().map(str),
    ),
    unique_by=lambda row: row.player,
    max_size=30,
)


@given(rows)
def test_rows_read_back_to_the_bit_in_the_order_of_players(given_rows: list[ListRow]) -> None:
    found = list(kept(list_texts(given_rows)).rows())
    assert list(map(repr, found)) == list(map(repr, sorted(given_rows)))


@given(rows)
def test_the_order_in_which_rows_come_changes_no_byte(given_rows: list[ListRow]) -> None:
    assert list_texts(reversed(given_rows)) == list_texts(given_rows)


def many() -> list[ListRow]:
    """Three parts; every other number is no player."""
    return [ListRow(2 * n, n, 1500, 1500 + n / 7, n, "2024-02-29") for n in range(1, 2 * ROWS_A_PART + 10)]


def test_a_players_row_is_found_in_any_part() -> None:
    made = list_texts(many())
    assert len(made.texts) == 4
    found = kept(made)
    for row in (many()[0], many()[ROWS_A_PART - 1], many()[ROWS_A_PART], many()[-1]):
        assert found.row(row.player) == row
        assert found.row(row.player + 1) is None
    assert found.row(1) is None


def test_the_least_change_of_a_rating_is_another_digest() -> None:
    first, *rest = GOLDEN_ROWS
    other = first._replace(rating=nextafter(first.rating, 0))
    assert list_texts([other, *rest]).digest != list_texts(GOLDEN_ROWS).digest


class Changed(MemoryJournal):
    """A journal whose texts somebody changed."""

    def __init__(self, frames: dict[bytes, bytes]) -> None:
        super().__init__()
        self.frames = frames

    def text(self, sha256: bytes) -> bytes | None:
        return self.frames.get(sha256)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    ("instead", "words"),
    [
        (None, "is missing"),
        (b"no zstd at all", "cannot be unpacked"),
        (zstandard.ZstdCompressor().compress(b"[1,1,2800,2800.0,9,null]\n"), "was changed"),
    ],
)
def test_a_text_that_is_gone_or_changed_is_named(place: int, instead: bytes | None, words: str) -> None:
    made = list_texts(GOLDEN_ROWS)
    frames = dict(made.frames())
    digest = sha256(made.texts[place]).digest()
    del frames[digest]
    if instead is not None:
        frames[digest] = instead
    with pytest.raises(CorruptError, match=f"entry 918: published a list, but {digest.hex()} of its .* {words}"):
        list(StoredList(Changed(frames), "club.db", 918, made.digest).rows())


def test_a_later_form_is_refused() -> None:
    cover = b'{"columns":[],"form":"rating-list/4","players":0}\n'
    made = ListTexts(sha256(cover).hexdigest(), (cover,))
    with pytest.raises(CorruptError, match="stored in the form 'rating-list/4', this program reads 'rating-list/3'"):
        list(kept(made).rows())


def test_the_columns_are_those_that_are_documented() -> None:
    assert COLUMNS == ("player", "rank", "shown", "rating", "games", "last_game")


@pytest.mark.slow
def test_a_hundred_thousand_players_are_kept_and_read_back_with_little_work() -> None:
    """Some 6 yardsticks; read back, all of them and one."""
    given_rows = [ListRow(n, n, 1500, 1500 + n / 7, n, "2024-02-29") for n in range(1, 100_001)]
    with within(100):
        found = kept(list_texts(given_rows))
        assert sum(1 for _ in found.rows()) == len(given_rows)
        assert found.row(50_000) == given_rows[49_999]
