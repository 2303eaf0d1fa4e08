"""Recorded games that a new report may repeat although it gives another day, other colours or another name.

Two small indexes of the recorded games, by their moves and by event, round and players, say which games to compare.
Whether one of them resembles the report is judged here, and the importer decides. Nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.runtime.lazy import np, pl
from ledger.runtime.nearest import nearest

if TYPE_CHECKING:
    from polars import DataFrame, Expr

DAY_LETTERS = 10  # characters of an instant that name its day, or less where less is known

LONG = 30  # half-moves from which the same moves are the same game; two players have shorter ones by heart
# Each is read from the journal: of moves that many have played after each other, all would be read for one telling.
MOST_LOOKED_AT = 32  # games that are looked at for one telling
_NUMBER = r"\d"  # what a round has that is one
DIGEST = 16  # characters of a SHA-256 that are indexed
_MIRRORED = {"white": "black", "black": "white", "draw": "draw"}


class Sides(NamedTuple):
    """Who in a telling is who in a known game: its White that one's White or Black, its Black likewise."""

    white: bool
    black: bool
    white_as_black: bool
    black_as_white: bool


class Index:
    """Games by a number: 12 bytes for each. A number that is null is left out."""

    def __init__(self, parts: Sequence[DataFrame], column: str) -> None:
        """Take the columns ``position`` and *column* of each part."""
        columns = [part.select("position", column).drop_nulls() for part in parts]
        every = pl.concat(columns).sort(column, "position") if columns else pl.DataFrame({"position": [], column: []})
        self._places = every[column].cast(pl.UInt64).to_numpy()
        self._positions = every["position"].cast(pl.UInt32).to_numpy()

    def __len__(self) -> int:
        return len(self._places)

    def entries(self, places: Any) -> tuple[Callable[[int], list[int]], Any]:
        """What gives, by row, the entries of its games; and which rows have any (Boolean array).

        Args:
            places: a series of numbers, null where a row asks for none.
        """
        first, last = spans(self._places, places)
        return lambda row: self._positions[
            first[row] : min(last[row], first[row] + MOST_LOOKED_AT)
        ].tolist(), first < last


def spans(ascending: Any, places: Any) -> tuple[Any, Any]:
    """For each of some numbers the first place, and one after the last, where it stands among sorted ones.

    Args:
        ascending: an array, ascending.
        places: a series, null where nothing is looked for.
    """
    if not len(ascending) or places.null_count() == len(places):
        nothing = np.zeros(len(places), np.int64)
        return nothing, nothing
    hashes = places.fill_null(0).to_numpy()
    first = np.searchsorted(ascending, hashes, "left")
    is_there = (ascending[np.minimum(first, len(ascending) - 1)] == hashes) & places.is_not_null().to_numpy()
    last = first.copy()
    # few are found: nearly all are looked up once
    last[is_there] = np.searchsorted(ascending, hashes[is_there], "right")
    return first, last


def moves_digest() -> Expr:
    """The number of a movetext by its SHA-256, column ``text``."""
    # Polars promises no stable hashes from one version to the next: none of these numbers outlives the process.
    return pl.col("text").str.slice(0, DIGEST).hash().alias("moves")


def long_text(half_moves: int | None, text: str | None) -> str | None:
    """Return the first digits of the SHA-256 of a game's movetext; None for short games."""
    return None if text is None or (half_moves or 0) < LONG else sha256(text.encode()).hexdigest()[:DIGEST]


def is_round(text: str) -> bool:
    """Return whether a text names a round: it has a number."""
    return re.search(_NUMBER, text) is not None


def days_of(ended_at: str | None, started_at: str | None) -> list[str]:
    """Return the day on which a game ended, and that on which it began if it is another one."""
    if ended_at is None:
        return []
    days = [ended_at[:DAY_LETTERS], (started_at or ended_at)[:DAY_LETTERS]]
    return list(dict.fromkeys(days))


def told_moves(frame: DataFrame) -> Any:
    """The numbers of the movetexts of a frame's games, as of ``moves_digest``; null for short games."""
    columns = (frame[name].to_list() for name in ("half_moves", "text"))
    digests = pl.Series("text", list(map(long_text, *columns)), dtype=pl.String)
    return pl.DataFrame({"text": digests}).select(moves_digest()).to_series()


# what a game lacks of event, round and players
_NO_EVENT, _NO_ROUND, _NO_PLAYERS = 1, 2, 4


def meeting() -> Expr:
    """A number for event, round and players, in columns ``white``, ``black``, ``tournament`` and ``round``.

    Null where one of them is not known, or the round is no round.
    """
    number, lacks = _meeting_so_far()
    return pl.when(lacks == 0).then(number).alias("meeting")


def _meeting_so_far() -> tuple[Expr, Expr]:
    """What is known of that number, and what is not: a supplement may tell the rest."""
    # the lower number first, so that a game that is told with swapped colours comes to the same
    pair = pl.min_horizontal("white", "black") * 2**32 + pl.max_horizontal("white", "black")
    parts = (
        (_NO_EVENT, pl.col("tournament").is_not_null(), pl.col("tournament")),
        (_NO_ROUND, pl.col("round").str.contains(_NUMBER), pl.col("round")),
        (_NO_PLAYERS, pl.min_horizontal("white", "black") >= 0, pair),
    )
    number, lacks = pl.lit(0, pl.UInt64), pl.lit(0, pl.UInt8)
    for bit, is_known, part in parts:
        number ^= pl.when(is_known).then(part.hash()).otherwise(pl.lit(0, pl.UInt64))
        lacks |= pl.when(is_known).then(pl.lit(0, pl.UInt8)).otherwise(pl.lit(bit, pl.UInt8))
    return number.alias("meeting"), lacks.alias("lacks")


def _meetings(parts: Sequence[DataFrame]) -> list[DataFrame]:
    """The positions of games, with their numbers of ``meeting`` as all that was told of them makes these."""
    whole = [part.filter(pl.col("lacks") == 0).select("position", "meeting") for part in parts]
    # Of a supplement, which names no players, what it tells of event and round.
    supplements = [
        part.filter(pl.col("lacks").is_between(_NO_PLAYERS, _NO_PLAYERS | _NO_EVENT | _NO_ROUND, "left")).select(
            "position", "meeting", "lacks"
        )
        for part in parts
    ]
    later = pl.concat(supplements) if supplements else pl.DataFrame()
    if not len(later):
        return whole
    games = pl.concat(
        part.filter(pl.col("lacks").is_between(1, _NO_PLAYERS, "left")).select("position", "meeting", "lacks")
        for part in parts
    )
    # A field is filled once: at most one supplement of a game tells each of the two.
    for lacks in (_NO_PLAYERS, _NO_PLAYERS | _NO_EVENT, _NO_PLAYERS | _NO_ROUND):
        of_these = later.filter(pl.col("lacks") == lacks).unique("position")
        games = games.join(of_these.select("position", more="meeting"), on="position", how="left").select(
            "position",
            pl.col("meeting") ^ pl.col("more").fill_null(0),
            pl.when(pl.col("more").is_null()).then("lacks").otherwise(pl.col("lacks") & lacks).alias("lacks"),
        )
    return [*whole, games.filter(pl.col("lacks") == 0).select("position", "meeting")]


def contradictions(
    telling: Mapping[str, Any], game: Mapping[str, Any], sides: Sides, names: Callable[[], Sequence[tuple[str, str]]]
) -> str:
    """What a telling says otherwise than the known game that it looks like; empty where it looks like another game.

    Args:
        telling: the facts of the telling.
        game: those of the known game.
        sides: who is who.
        names: the names of both Whites and of both Blacks, asked only where one of the players is another.
    """
    moves = telling.get("text")
    same_moves = moves is not None and moves == game.get("text") and telling.get("half_moves", 0) >= LONG
    for name in ("half_moves", "text", "pool"):  # a blank contradicts nothing
        if None not in {telling.get(name), game.get(name)} and telling.get(name) != game.get(name):
            return ""
    same_event = telling.get("tournament") is not None and telling.get("tournament") == game.get("tournament")
    same_round = same_event and telling.get("round") is not None and telling.get("round") == game.get("round")
    days = telling["ended_at"][:DAY_LETTERS], game["ended_at"][:DAY_LETTERS]
    same_outcome = telling["outcome"] == game["outcome"]
    if sides.white and sides.black:
        is_next = (
            same_round
            and len(days[0]) == len(days[1]) == DAY_LETTERS  # else one of them is not known to the day
            and abs((date.fromisoformat(days[0]) - date.fromisoformat(days[1])).days) == 1
        )
        return "with another day" if same_outcome and days[0] != days[1] and (same_moves or is_next) else ""
    if days[0] != days[1] or not (same_moves or len(days[0]) == DAY_LETTERS):
        return ""
    if sides.white_as_black and sides.black_as_white:
        same_winner = game["outcome"] == _MIRRORED[telling["outcome"]]
        is_same = (same_winner and same_round) or (same_moves and (same_winner or same_outcome))
        return "with the colours swapped" if is_same else ""
    if (sides.white or sides.black) and same_moves and same_event and same_outcome:
        # Of the side that differs: those of the Blacks where White is the same.
        other = names()[int(sides.white)]
        return "with another name" if nearest(other[0], [other[1]]) else ""
    return ""
