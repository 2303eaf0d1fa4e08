"""What the columns of one row say together: who played, how the game ended, when, how fast.

Polars expressions only. Each function takes which columns the file has. Single values were understood
before, in ``csv.values``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.imports.csv import values
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import Expr

USUAL_RULES = ("standard", "chess960", "fromPosition")


def player(side: str, known: frozenset[str]) -> list[Expr]:
    """Identity and name of one player: an id with a colon before the FIDE id, a bare id, the name."""
    ways: list[Expr] = []
    given = pl.col(f"{side}_id")
    if f"{side}_id" in known:
        ways.append(pl.when(pl.col(f"{side}_spaced")).then(given))
    if f"{side}_fide_id" in known:
        ways.append(pl.lit("fide:") + pl.col(f"{side}_fide_id"))
    if f"{side}_id" in known:
        ways.append(given)
    if side in known:
        ways.append(pl.col(f"{side}_named"))
    identity = pl.coalesce(ways)
    shown = (
        pl.when(identity.str.starts_with("fide:"))
        .then(pl.lit("FIDE ") + identity.str.slice(5))
        .when(identity.str.starts_with("id:"))
        .then(identity.str.slice(3))
        .otherwise(identity)
    )
    name = pl.coalesce(pl.col(side), shown) if side in known else shown
    return [identity.alias(f"{side}_id"), name.alias(f"{side}_name")]


def ending(known: frozenset[str]) -> Expr:
    """How the game ended, from the file's word, the flags of the row and the result."""
    forfeited = pl.col("result").str.starts_with("+")
    draw = pl.col("result") == "draw"
    plain: Expr = pl.lit("unknown")
    for flag, word, holds in (
        ("insufficient_material", "insufficient-material", draw),
        ("stalemate", "stalemate", draw),
        ("ended_by_checkmate", "checkmate", pl.lit(value=True)),
    ):
        if flag in known:
            plain = pl.when(holds & pl.col(flag)).then(pl.lit(word)).otherwise(plain)
    termination = plain
    if "termination" in known:
        given = pl.col("termination")
        normal = plain
        if "ended_by_checkmate" in known:
            # Normal and won without mate is resigned; but only a file that marks the mates tells the two
            # apart, and only where the king cannot be lost in another way.
            usual = pl.col("variant").is_null() | pl.col("variant").is_in(USUAL_RULES)
            resigned = ~draw & (plain == "unknown") & (usual if "variant" in known else pl.lit(value=True))
            normal = pl.when(resigned).then(pl.lit("resignation")).otherwise(plain)
        termination = pl.when(given.is_null()).then(plain).when(given == values.NORMAL).then(normal).otherwise(given)
    return pl.when(forfeited).then(pl.lit("unplayed")).otherwise(termination)


def rest(known: frozenset[str]) -> list[Expr]:
    """The columns that may be missing from a file, or be told in more than one way."""
    present = {name: pl.col(name) for name in known}
    none = pl.lit(None, pl.String)
    speeds = [present[name] for name in ("speed", "time_control", "time_increment") if name in known]
    times = [present[name] for name in ("ended_at", "started_at") if name in known]
    return [
        pl.col("result").str.strip_chars_start("+").alias("outcome"),
        ending(known).alias("termination"),
        pl.coalesce(*speeds, none).alias("speed"),
        pl.coalesce(times).alias("ended_at"),
        present.get("started_at", none).alias("started_at"),
        present.get("tournament", none).alias("tournament"),
        present.get("round", none).alias("round"),
        pl.coalesce(present.get("rated", pl.lit(value=True)), pl.lit(value=True)).alias("rated"),
        pl.coalesce(present.get("variant", none), pl.lit("standard")).alias("variant"),
        *(
            present.get(name, pl.lit(None, pl.Int32)).alias(name)
            for name in ("half_moves", "white_rating", "black_rating")
        ),
    ]


def _before(first: Expr, second: Expr) -> Expr:
    """Is *first* surely before *second*? Only the digits that both give are compared."""

    def digits(instant: Expr) -> Expr:
        return instant.str.strip_chars_end("Z")

    shorter = pl.min_horizontal(digits(first).str.len_bytes(), digits(second).str.len_bytes())
    return digits(first).str.head(shorter) < digits(second).str.head(shorter)


def contradictions(known: frozenset[str]) -> list[tuple[Expr, Expr, str]]:
    """What cannot be true of a finished frame: where, what to show, and the words."""
    same = pl.col("white_id") == pl.col("black_id")
    found = [(same, pl.col("white_id"), "a player cannot play himself, but both are {!r}; correct one")]
    if {"started_at", "ended_at"} <= known:
        times = pl.format("{} before {}", pl.col("ended_at"), pl.col("started_at"))
        early = _before(pl.col("ended_at"), pl.col("started_at"))
        found.append((early, times, "the game ended before it started: {}; correct one of the two"))
    if known & {"termination", "ended_by_checkmate"}:
        lost = (pl.col("outcome") == "draw") & pl.col("termination").is_in(["checkmate", "resignation"])
        found.append((lost, pl.col("termination"), "a draw cannot end by {}; correct one of the two"))
    return found
