"""The two tables of the FIDE Rating Regulations, B.02 8.1, and FIDE's rounding: whole numbers only, so sums are exact.

Used by the schemes and performance ratings that read FIDE's tables. No rule about who plays or when lives here.
"""

from __future__ import annotations

# Table 8.1.2: the greatest difference D of each row; the first row is .50, each further one .01 more.
EDGES = (
    3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145, 153, 162, 170, 179, 188,
    197, 206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315, 328, 344, 357, 374, 391, 411, 432, 456, 484, 517, 559,
    619, 735,
)  # fmt: skip
# The row of each difference 0, 1, 2, ...: one look instead of a search (4 against 28 ns compiled).
ROWS = tuple(sum(edge < difference for edge in EDGES) for difference in range(EDGES[-1] + 1))

# Table 8.1.1: the rating difference dp of each percentage 50, 51, ..., 100.
DIFFERENCES = (
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158, 166, 175, 184, 193,
    202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366, 383, 401, 422, 444, 470, 501, 538, 589,
    677, 800,
)  # fmt: skip


def expected_hundredths(d: float) -> int:
    """Expected score of the side that is *d* points stronger, in hundredths of a point, 0 to 100 (table 8.1.2).

    "Tables are used precisely as shown, no extrapolations". Ratings are whole numbers; a part of a point is dropped.
    """
    size = int(d) if d >= 0 else int(-d)
    row = ROWS[size] if size <= EDGES[49] else 50
    return 50 + row if d >= 0 else 50 - row


def pd(d: float) -> float:
    """Expected score of the side that is *d* points stronger, 0 to 1; the float next to the table's decimal."""
    return expected_hundredths(d) / 100.0


def dp(percent: int) -> int:
    """Rating difference in points that belongs to a score of *percent* per cent, 0 to 100 (table 8.1.1)."""
    return DIFFERENCES[percent - 50] if percent >= 50 else -DIFFERENCES[50 - percent]


def percentage(score: float, games: float) -> int:
    """A score as whole per cent, half a per cent up (Title Regulations 1.4.9)."""
    # (200 score + games) / (2 games): whole numbers, so the quotient is exact enough for any floor
    return int((200.0 * score + games) // (2.0 * games))


def round_hundredths(hundredths: int) -> int:
    """Hundredths to the nearest whole number, "0.5 away from zero" (8.3.4)."""
    if hundredths < 0:
        return -((50 - hundredths) // 100)
    return (50 + hundredths) // 100
