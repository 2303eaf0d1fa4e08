"""The command that says what made the difference between a rating then and now."""

from __future__ import annotations

from decimal import Decimal

import click

from ledger.answers import rating_changes
from ledger.answers.rows import as_row

from .. import limits, output
from ..progress import Bars
from . import AT_LEAST, DB, POOL, VERIFY, open_up_to_date
from .reports import note_reports_to_send

ROWS_IN_A_TABLE = 50
GAMES_SHOWN = 3  # of a part, in a table
_HUNDREDTH = Decimal("0.01")


@click.command()
@DB
@click.argument("player")
@click.option("--since", required=True, metavar="INSTANT|POSITION|LIST", help="What 'then' is.")
@POOL
@limits.option(ROWS_IN_A_TABLE, "parts, the newest ones")
@AT_LEAST
@VERIFY
@output.format_options
def changes(
    db_path: str, player: str, since: str, pool: str | None, limit: int | None, fmt: str | None, verify: bool
) -> None:
    """List the games and corrections that make the difference between a rating then and now, adding up exactly.

    --since takes a number of entries of the journal, or a published list as 'lists' names it: "then" is the rating as
    it was known at that entry, or as the list showed it. With a day, month or moment of play "then" is the rating in
    force at its end today, so that only games made a difference. A number is never a year: 2024-01-01.

    Entries are taken in the order of the journal, and each part is the difference that it made when it came: an
    approved correction of the player's own games ("correction") or of others' ("through opponents"), another fact such
    as a rating run or a change of scheme ("other fact"), a game, or the games of a period or event together ("game", or
    "late result" where later ones were known), games that were there and were rated again because of late results
    ("rated anew"), and what passes without a game ("time"). If the past has to be computed, temporary views of that
    time are built. Points are differences of rounded ratings, so that those that are printed add up exactly.
    'calculation' shows the games of a list line by line; "counts_from" in JSON and CSV is the day that it takes.
    Reports to a federation that hold a corrected result of the player are noted.

    \b
    Example:
      rating-ledger changes club.db ann --since standard@2024-02-29 -t
      rating-ledger changes club.db ann --since 917
      rating-ledger changes club.db lichess:ann --since 2024-01-31 --csv
    """
    with open_up_to_date(db_path, verify=verify) as ledger:
        with Bars() as bars:
            answer = as_row(rating_changes.changes(ledger, ledger.player(player), since, pool, bars))
        note_reports_to_send(ledger, answer["player"])
        if fmt == "table":
            _tell(answer, limits.shown(limit, fmt, ROWS_IN_A_TABLE))
        elif fmt is None:
            output.write_one(answer, fmt)
        else:
            limits.write(answer["parts"], fmt, limits.shown(limit, fmt, ROWS_IN_A_TABLE), newest_last=True)


def _tell(answer: output.Row, limit: int) -> None:
    """The two ratings, then the parts; points are the differences of the ratings as they are printed."""
    then, now = (_rounded(answer[name]) for name in ("rating_then", "rating_now"))
    difference = "" if then is None or now is None else f" ({now - then:+})"
    words = f"{_shown(then)} then ({answer['since']}), {_shown(now)} now{difference}"
    output.answer(f"{answer['name']} in pool {answer['pool']}: {words}")
    if not answer["parts"]:
        output.answer("nothing has moved it since")
        return
    rows, before = [], then
    for part in answer["parts"]:
        after = _rounded(part["rating"])
        points = None if part["points"] is None or before is None or after is None else f"{after - before:+}"
        rows.append(
            {
                "points": points,
                "rating": _shown(after),
                "kind": part["kind"],
                "proposal": part["proposal"],
                "cause": part["cause"],
                "games": _few(part["games"]),
            }
        )
        before = after
    output.answer()
    limits.write(rows, "table", limit, newest_last=True)


def _few(games: list[str]) -> str | None:
    """Return the first games; what is read by machines has all."""
    more = len(games) - GAMES_SHOWN
    return (" ".join(games[:GAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")) or None


def _rounded(rating: float | None) -> Decimal | None:
    return None if rating is None else Decimal(repr(rating)).quantize(_HUNDREDTH)


def _shown(rating: Decimal | None) -> str:
    return "no rating" if rating is None else str(rating)
