"""Commands that answer questions: players, games, predictions, pools, the log of the journal and its head."""

from __future__ import annotations

from math import floor

import click

from ledger.answers import marks, player_games, players, predictions, recorded_games
from ledger.answers.boards import PGN_RESULTS
from ledger.answers.pools import pools as pools_of
from ledger.answers.recorded_games import filtered_games
from ledger.answers.rows import as_row, as_rows
from ledger.ledger import Ledger

from .. import limits, output
from . import AS_IF, AT_LEAST, DB, KNOWN_AT, POOL, VERIFY, instant, open_up_to_date, wait_for_least

# Rows of a table where the reader does not say how many.
GAMES_IN_A_TABLE, ENTRIES_IN_A_TABLE = 50, 50
_STATE_FOR_PEOPLE = ("rd", "volatility", "h")
_ORIGINAL_COLUMNS = {"published_list", "published_rating", "revised_rating", "revised"}
_ENTRY_COLUMNS = ("position", "recorded_at", "actor", "kind", "key", "facts")


@click.command()
@DB
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def pools(db_path: str, as_if: int | None, fmt: str | None, verify: bool) -> None:
    """Every pool: its scheme and settings, its players and rated games.

    The scheme is the one in force on the last day of which anything is recorded; "next_scheme" is one that was adopted
    from a later day on.

    \b
    Example:
      rating-ledger pools club.db -t
    """
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        output.write(as_rows(pools_of(ledger)), fmt)


@click.command()
@DB
@click.argument("player")
@POOL
@click.option("--at", metavar="INSTANT", help="Show the rating in force on that day, too.")
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def show(
    db_path: str,
    player: str,
    pool: str | None,
    at: str | None,
    known_at: str | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """One player: rating then and now, results, HERA and its date, lowest rating, time losses.

    PLAYER is a name, an identity such as lichess:ann, or a number. "rating_then" is the rating in force at the end of
    "then": the day of --at, otherwise that of the player's first rated game. "rating_now" is that of 'ratings'. Where
    the scheme rates by period, it counts the games of a period that is not over as if it closed now;
    "rating_in_force" does not. "state" is what the scheme keeps besides the rating.

    HERA is the highest rating that was ever in force, from the 50th rated game on. The 50 games are ChessWorld's
    rule; other schemes have no such rule, and we count theirs in the same way. "hera_scheme" is the scheme that gave
    it; of a player who came with it, the list that it comes from ("seed" where that has no name). "lowest" counts from
    the same game on, under the scheme that holds now; 'best' has earlier schemes, and the games.

    "published_list" is the last list published, up to --at if it is given; if it had another number than the
    journal does now, "revised" is true and a table shows both.

    \b
    Example:
      rating-ledger show club.db 'Ann Ek'
      rating-ledger show club.db lichess:ann --at 2019-01-31 -t
    """
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        with ledger.read_snapshot():
            summary = as_row(players.summary(ledger, ledger.player(player), pool, instant(at, "--at")))
        if fmt == "table" and not summary["revised"]:
            summary = {name: value for name, value in summary.items() if name not in _ORIGINAL_COLUMNS}
        output.write_one(_without_counting(summary) if fmt == "table" else summary, fmt)


def _without_counting(summary: output.Row) -> output.Row:
    """Return a summary with what people read of the scheme's state; the rest of it is the scheme's own counting."""
    state = summary["state"] if summary["rating_now"] is not None else {}
    state_for_people = {name: state[name] for name in _STATE_FOR_PEOPLE if name in state}
    if summary["percentile"] is not None:
        summary = {**summary, "percentile": floor(summary["percentile"])}  # as ``ratings`` shows it
    return {
        part: part_value
        for name, value in summary.items()
        for part, part_value in (state_for_people.items() if name == "state" else ((name, value),))
    }


@click.command()
@DB
@click.argument("player", required=False)
@POOL
@click.option("--tournament", metavar="NAME", help="Only games of that tournament.")
@click.option("--round", "round_", metavar="ROUND", help="Only games of that round; round 3 has those of 3.1 and 3.2.")
@click.option("--on", metavar="INSTANT", help="Only games that ended on that day, in that month or year.")
@limits.option(GAMES_IN_A_TABLE, "games, the newest first")
@click.option("--all", "everything", is_flag=True, help="Games that do not count, too, each with the reason.")
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def games(
    db_path: str,
    player: str | None,
    pool: str | None,
    tournament: str | None,
    round_: str | None,
    on: str | None,
    limit: int | None,
    everything: bool,
    known_at: str | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """A player's rated games: both sides' ratings before and after each, the current ones in brackets.

    Without a PLAYER the games of a tournament, its round, or a day, in the order in which they are rated.

    "entry" is the number of the journal's entry that recorded a game: '#17' names the game of entry 17 in every
    command, in quotes, for the shell takes what follows a bare # for a comment.

    "corrected" are the numbers of the proposals that corrected a game; 'log --game' shows them. With --all there are
    the games that do not count as well, each with its reason: of a voided one by which proposal, and why.

    Where the scheme rates by period or event, "before" was in force when the game was played, "after" is what its
    period or event led to, and the current rating is the "rating_now" of 'show'.

    \b
    Example:
      rating-ledger games club.db ann --limit 10 -t
      rating-ledger games club.db ann --all --csv
      rating-ledger games club.db --tournament 'Autumn open' --round 3 -t
      rating-ledger games club.db ann --on 2024-05
      rating-ledger games club.db ann --known-at standard@2024-02-29 -t
    """
    selection = player_games.GameFilter(tournament, round_, instant(on, "--on"))
    if player is None and tournament is None and on is None:
        raise click.UsageError("give a PLAYER, a --tournament, or the day of --on")
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        shown_rows = limits.shown(limit, fmt, GAMES_IN_A_TABLE)
        with ledger.read_snapshot():
            if player is None:
                rows = as_rows(filtered_games(ledger, selection, pool, most=shown_rows + 1, everything=everything))
            else:
                person, last = ledger.player(player), shown_rows + 1
                rows = as_rows(
                    player_games.games(ledger, person, pool, last=last, everything=everything, selection=selection)
                )
        if player is None:
            limits.write(_both_sides(rows, everything=everything) if fmt == "table" else rows, fmt, shown_rows)
            return
        limits.write(_for_people(rows) if fmt == "table" else rows, fmt, shown_rows)


def _both_sides(rows: list[output.Row], *, everything: bool) -> list[output.Row]:
    """Games of a day or round as people read them."""
    named = output.told_apart(rows, white="white_player", black="black_player")
    return [
        {
            "entry": f"#{row['entry']}",
            "ended": row["ended_at"][:10],
            "round": row["round"],
            "white": row["white"],
            "result": PGN_RESULTS[row["outcome"]],
            "black": row["black"],
            "white before": _points(row["white_before"]),
            "after": _points(row["white_after"]),
            "black before": _points(row["black_before"]),
            "after ": _points(row["black_after"]),
            **({"does not count": row["reason"]} if everything else {}),
            "game": row["game"],
        }
        for row in named
    ]


def _for_people(rows: list[output.Row]) -> list[output.Row]:
    """Rows of games as people read them; what marks a game has a column where there is such a game."""
    corrected = any(row["corrected"] for row in rows)
    published = any(row["published_list"] for row in rows)
    rows_for_people = []
    for row in output.told_apart(rows, opponent="opponent_player"):
        shown_row = _with_brackets(row)
        if corrected:
            shown_row["corrected by"] = ", ".join(map(str, row["corrected"])) or None
        if published:
            shown_row["list said (would say)"] = _both_numbers(row)
        if row.get("reason"):
            shown_row["does not count"] = marks.unrated_reason(row["reason"], row["voided_by"], row["why"])
        elif "reason" in row:
            shown_row["does not count"] = None
        rows_for_people.append(shown_row)
    return rows_for_people


def _with_brackets(row: output.Row) -> output.Row:
    """Ratings as people read them: 1500 (1623)."""
    return {
        "n": row["n"],
        "ended": row["ended_at"][:10],
        "colour": row["colour"],
        "result": _result(row),
        "before": _points(row["rating_before"]),
        "after (now)": f"{_points(row['rating'])} ({_points(row['rating_now'])})",
        "opponent": row["opponent"],
        "opponent before": _points(row["opponent_rating_before"]),
        "opponent after (now)": f"{_points(row['opponent_rating'])} ({_points(row['opponent_rating_now'])})",
        "entry": f"#{row['entry']}",
        "game": row["game"],
    }


def _both_numbers(row: output.Row) -> str | None:
    if row["published_list"] is None:
        return None
    return f"{row['published_list']}: {_points(row['published_rating'])} ({_points(row['revised_rating'])})"


def _result(row: output.Row) -> str | None:
    lost_on_time = row["termination"] == "time" and row["result"] not in {None, "draw"}
    return f"{row['result']} on time" if lost_on_time else row["result"]


def _points(rating: float | None) -> str:
    return "-" if rating is None else f"{rating:.0f}"


@click.command()
@DB
@click.argument("player")
@click.argument("opponent")
@POOL
@click.option("--at", metavar="INSTANT", help="On that day; by default after all that is recorded.")
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def predict(
    db_path: str,
    player: str,
    opponent: str,
    pool: str | None,
    at: str | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """Predict what a win, a draw and a loss would bring PLAYER against OPPONENT.

    Both have the ratings in force on the day of --at, by default on the last day of which anything is recorded: where a
    scheme rates by period, games of a period that was not over do not count. A game that the scheme would not rate,
    such as one with a guest, brings nothing; "not_rated" says why.

    \b
    Example:
      rating-ledger predict club.db ann bob -t
      rating-ledger predict club.db ann bob --at 2024-10-15
    """
    with open_up_to_date(db_path, verify=verify, as_if=as_if) as ledger:
        with ledger.read_snapshot():
            both = ledger.player(player), ledger.player(opponent)
            prediction = as_row(predictions.predict(ledger, *both, pool, instant(at, "--at")))
        why_not, unrated = prediction["not_rated"], prediction["unrated"]
        if fmt == "table":
            after = {word: state for word, state in prediction.items() if isinstance(state, dict)}
            prediction |= {word: _with_change(**state) for word, state in after.items()}
            prediction = {name: value for name, value in prediction.items() if name not in _SELDOM or value}
        output.write_one(prediction, fmt)
        if unrated:
            who = "neither player has a rating" if unrated == "both" else f"{prediction[unrated]} has no rating"
            output.remark(f"{who}: the expected score is what {prediction['scheme']} makes of newcomers, no more")
        if why_not:
            output.remark(f"{prediction['scheme']} would not rate this game ({why_not}): no result brings a rating")


_SELDOM = ("not_rated", "unrated")  # in a table only where there is something to say


def _with_change(rating: float | None, change: float | None) -> str | None:
    if rating is None:
        return None
    return f"{rating:.2f}" if change is None else f"{rating:.2f} ({change:+.2f})"


@click.command()
@DB
@click.argument("game", required=False)
@click.option("--game", "named", metavar="KEY", help="Entries about this game; its key, as 'games' shows it.")
@click.option("--kind", metavar="KIND", help="Entries of this kind, such as clock-accepted.")
@limits.option(ENTRIES_IN_A_TABLE, "entries, the newest ones")
@AT_LEAST
@output.format_options
def log(
    db_path: str, game: str | None, named: str | None, kind: str | None, limit: int | None, fmt: str | None
) -> None:
    """Entries of the journal, in order: about a game, of a kind, the newest, or all of them.

    About a game it shows: its recording, what was added later, each proposal to correct it (by itself, as one of
    the games of a player or tournament, or because a player is merged), and each decision; a table says so in words,
    with the reasons, and whether a token proved who it was.

    \b
    Example:
      rating-ledger log club.db lichess:Mxzwh32Z -t
      rating-ledger log club.db --kind clock-accepted
      rating-ledger log club.db --limit 20 -t
    """
    if None not in (game, named) and game != named:
        raise click.UsageError(f"give one game, not both {game!r} and {named!r}")
    game = named if game is None else game
    if game is not None and (kind is not None or limit is not None):
        raise click.UsageError("give a game, or --kind and --limit")
    with Ledger.open(db_path) as ledger:
        wait_for_least(ledger)
        if game is not None:
            _list_about(ledger, game, fmt)
        else:
            _list_entries(ledger, kind, limits.shown(limit, fmt, ENTRIES_IN_A_TABLE), fmt)


def _list_about(ledger: Ledger, game: str, fmt: str | None) -> None:
    """Print the entries about a game: as they are, in words, or, for rows, both in columns."""
    if fmt in {None, "nl"}:
        output.write(as_rows(ledger.log(game)), fmt)
        return
    with ledger.read_snapshot():
        rows, entries = recorded_games.game_log(ledger, game), ledger.log(game)
    if fmt == "table":
        output.write(as_rows(rows), fmt)
        return
    fields = list(dict.fromkeys(name for entry in entries for name in entry.facts))
    output.write(
        [
            {
                **{name: getattr(entry, name) for name in _ENTRY_COLUMNS if name != "facts"},
                "what": row.what,
                "why": row.why,
                **{name: entry.facts.get(name) for name in fields},
            }
            for entry, row in zip(entries, rows, strict=True)
        ],
        fmt,
    )


def _list_entries(ledger: Ledger, kind: str | None, limit: int, fmt: str | None) -> None:
    """Entries of any kinds: in rows their facts are one cell."""
    if limit == limits.EVERY_ROW and fmt == "nl":
        for entry in ledger.entries(kind):  # of any number, without holding them
            output.write([as_row(entry)], fmt)
        return
    rows = as_rows(ledger.entries(kind, None if limit == limits.EVERY_ROW else limit + 1))
    if fmt not in {None, "nl"}:
        rows = [{name: row[name] for name in _ENTRY_COLUMNS} for row in rows]
    limits.write(rows, fmt, limit, newest_last=True)


@click.command()
@DB
def head(db_path: str) -> None:
    """The head of the journal: its size and Merkle root, one line to keep elsewhere.

    \b
    Example:
      rating-ledger head club.db >> heads.txt
    """
    with Ledger.open(db_path) as ledger:
        output.answer(str(ledger.head()))
