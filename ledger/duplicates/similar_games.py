"""Similar games: recorded games that a report may repeat although it gives another day, other colours or another name.

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
from ledger.runtime.nearest import similar_names

if TYPE_CHECKING:
    from polars import DataFrame, Expr

DAY_LETTERS = 10  # characters of an instant that name its day; a month or a year has fewer

LONG_GAME = 30  # half-moves from which the same moves are the same game; two players have shorter ones by heart
# Each is read from the journal: of moves that many have played after each other, all would be read for one report.
MOST_LOOKED_AT = 32  # games that are compared with one report
_NUMBER = r"\d"  # in the name of every round
DIGEST_LETTERS = 16  # characters of a SHA-256 that are indexed
_MIRRORED = {"white": "black", "black": "white", "draw": "draw"}


class SideMatches(NamedTuple):
    """The players of a report matched with those of a recorded game, in the same or in the other colours."""

    white: bool
    black: bool
    white_as_black: bool
    black_as_white: bool


class NumberIndex:
    """An index of games by a number, such as that of the moves, with 12 bytes for each; null is left out."""

    def __init__(self, parts: Sequence[DataFrame], column: str) -> None:
        """Take the columns ``position`` and *column* of each part."""
        columns = [part.select("position", column).drop_nulls() for part in parts]
        every = pl.concat(columns).sort(column, "position") if columns else pl.DataFrame({"position": [], column: []})
        self._places = every[column].cast(pl.UInt64).to_numpy()
        self._positions = every["position"].cast(pl.UInt32).to_numpy()

    def __len__(self) -> int:
        return len(self._places)

    def entries(self, places: Any) -> tuple[Callable[[int], list[int]], Any]:
        """Return a function from row to the entries of its games, and a Boolean array of the rows that have any.

        Args:
            places: a series of numbers, null for a row without a number.
        """
        first, last = find_spans(self._places, places)
        return lambda row: self._positions[
            first[row] : min(last[row], first[row] + MOST_LOOKED_AT)
        ].tolist(), first < last


def find_spans(ascending: Any, places: Any) -> tuple[Any, Any]:
    """Return for each number its first index in a sorted array, and the index after its last.

    Args:
        ascending: an array, ascending.
        places: a series, null for rows that are not looked up.
    """
    if not len(ascending) or places.null_count() == len(places):
        nothing = np.zeros(len(places), np.int64)
        return nothing, nothing
    hashes = places.fill_null(0).to_numpy()
    first = np.searchsorted(ascending, hashes, "left")
    is_present = (ascending[np.minimum(first, len(ascending) - 1)] == hashes) & places.is_not_null().to_numpy()
    last = first.copy()
    # few are present: nearly all are looked up once
    last[is_present] = np.searchsorted(ascending, hashes[is_present], "right")
    return first, last


def moves_number_column() -> Expr:
    """Return the expression for the number of a movetext by its SHA-256, column ``text``."""
    # Polars promises no stable hashes from one version to the next: none of these numbers outlives the process.
    return pl.col("text").str.slice(0, DIGEST_LETTERS).hash().alias("moves")


def long_game_digest(half_moves: int | None, text: str | None) -> str | None:
    """Return the first digits of the SHA-256 of a game's movetext; None for short games."""
    return None if text is None or (half_moves or 0) < LONG_GAME else sha256(text.encode()).hexdigest()[:DIGEST_LETTERS]


def is_round(text: str) -> bool:
    """Return whether a text names a round: it has a number."""
    return re.search(_NUMBER, text) is not None


def days_of(ended_at: str | None, started_at: str | None) -> list[str]:
    """Return the day on which a game ended, and that on which it began if it is another one."""
    if ended_at is None:
        return []
    days = [ended_at[:DAY_LETTERS], (started_at or ended_at)[:DAY_LETTERS]]
    return list(dict.fromkeys(days))


def moves_numbers(frame: DataFrame) -> Any:
    """Return the numbers of the movetexts of a frame's games, as of ``moves_number_column``; null for short games."""
    columns = (frame[name].to_list() for name in ("half_moves", "text"))
    digests = pl.Series("text", list(map(long_game_digest, *columns)), dtype=pl.String)
    return pl.DataFrame({"text": digests}).select(moves_number_column()).to_series()


# bits for what a game lacks: event, round and players
_NO_EVENT, _NO_ROUND, _NO_PLAYERS = 1, 2, 4


def meeting_number() -> Expr:
    """Return the expression for a number of event, round and players.

    The columns are ``white``, ``black``, ``tournament`` and ``round``.

    Null if one of them is missing, or the round is no round.
    """
    number, lacks = partial_meeting_number()
    return pl.when(lacks == 0).then(number).alias("meeting")


def partial_meeting_number() -> tuple[Expr, Expr]:
    """Return expressions for the known part of ``meeting_number`` and the bits of what is missing in it."""
    # the lower number first, so that a game that is reported with swapped colours gets the same number
    pair = pl.min_horizontal("white", "black") * 2**32 + pl.max_horizontal("white", "black")
    parts = (
        (_NO_EVENT, pl.col("tournament").is_not_null(), pl.col("tournament")),
        (_NO_ROUND, pl.col("round").str.contains(_NUMBER), pl.col("round")),
        (_NO_PLAYERS, pl.min_horizontal("white", "black") >= 0, pair),
    )
    number, lacks = pl.lit(0, pl.UInt64), pl.lit(0, pl.UInt8)
    for bit, is_present, part in parts:
        number ^= pl.when(is_present).then(part.hash()).otherwise(pl.lit(0, pl.UInt64))
        lacks |= pl.when(is_present).then(pl.lit(0, pl.UInt8)).otherwise(pl.lit(bit, pl.UInt8))
    return number.alias("meeting"), lacks.alias("lacks")


def full_meeting_numbers(parts: Sequence[DataFrame]) -> list[DataFrame]:
    """Return the positions of games with their ``meeting_number`` numbers, from all recorded facts."""
    complete = [part.filter(pl.col("lacks") == 0).select("position", "meeting") for part in parts]
    # Supplements name no players: only event and round.
    supplements = [
        part.filter(pl.col("lacks").is_between(_NO_PLAYERS, _NO_PLAYERS | _NO_EVENT | _NO_ROUND, "left")).select(
            "position", "meeting", "lacks"
        )
        for part in parts
    ]
    later = pl.concat(supplements) if supplements else pl.DataFrame()
    if not len(later):
        return complete
    games = pl.concat(
        part.filter(pl.col("lacks").is_between(1, _NO_PLAYERS, "left")).select("position", "meeting", "lacks")
        for part in parts
    )
    # A field is filled once: at most one supplement of a game has each of the two.
    for lacks in (_NO_PLAYERS, _NO_PLAYERS | _NO_EVENT, _NO_PLAYERS | _NO_ROUND):
        of_these = later.filter(pl.col("lacks") == lacks).unique("position")
        games = games.join(of_these.select("position", more="meeting"), on="position", how="left").select(
            "position",
            pl.col("meeting") ^ pl.col("more").fill_null(0),
            pl.when(pl.col("more").is_null()).then("lacks").otherwise(pl.col("lacks") & lacks).alias("lacks"),
        )
    return [*complete, games.filter(pl.col("lacks") == 0).select("position", "meeting")]


def describe_difference(
    report: Mapping[str, Any],
    game: Mapping[str, Any],
    sides: SideMatches,
    names: Callable[[], Sequence[tuple[str, str]]],
) -> str:
    """Return how a report differs from the recorded game that it resembles; empty if it is another game.

    Args:
        report: the facts of the report.
        game: those of the recorded game.
        sides: which sides are the same players.
        names: returns the names of both Whites and of both Blacks; called only if one of the players differs.
    """
    moves = report.get("text")
    same_moves = moves is not None and moves == game.get("text") and report.get("half_moves", 0) >= LONG_GAME
    for name in ("half_moves", "text", "pool"):  # a blank contradicts nothing
        if None not in {report.get(name), game.get(name)} and report.get(name) != game.get(name):
            return ""
    same_event = report.get("tournament") is not None and report.get("tournament") == game.get("tournament")
    same_round = same_event and report.get("round") is not None and report.get("round") == game.get("round")
    days = report["ended_at"][:DAY_LETTERS], game["ended_at"][:DAY_LETTERS]
    same_outcome = report["outcome"] == game["outcome"]
    if sides.white and sides.black:
        is_next = (
            same_round
            and len(days[0]) == len(days[1]) == DAY_LETTERS  # else one of them has no day
            and abs((date.fromisoformat(days[0]) - date.fromisoformat(days[1])).days) == 1
        )
        return "with another day" if same_outcome and days[0] != days[1] and (same_moves or is_next) else ""
    if days[0] != days[1] or not (same_moves or len(days[0]) == DAY_LETTERS):
        return ""
    if sides.white_as_black and sides.black_as_white:
        same_winner = game["outcome"] == _MIRRORED[report["outcome"]]
        is_same = (same_winner and same_round) or (same_moves and (same_winner or same_outcome))
        return "with the colours swapped" if is_same else ""
    if (sides.white or sides.black) and same_moves and same_event and same_outcome:
        # Of the side that differs: those of the Blacks if White is the same.
        other = names()[int(sides.white)]
        return "with another name" if similar_names(other[0], [other[1]]) else ""
    return ""
