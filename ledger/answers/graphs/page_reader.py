"""The reader of a page of a rating graph: one contiguous read of the player's rows, one of the opponents'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.answers import marks
from ledger.answers.asking import RESULT, day, display_name, in_force_from, in_one_snapshot, names
from ledger.answers.boards import final_board
from ledger.answers.graphs.graph_data import GAMES_PER_PAGE, Bar, BarOrder, Page, PlayerBars, Seam
from ledger.answers.read_models import last_game_row
from ledger.book.timeline import Pool
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.imports.reading import game_address
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates

if TYPE_CHECKING:
    import sqlite3

DEFAULT_LAST_GAMES = 100  # games: "the 100 game default setting" of the FAQ
ALL_GAMES = 0
MOST_SECOND_PLAYER_GAMES = 1_000  # the second player may play far more often
_NOTHING_PUBLISHED = vars(marks.NO_OUTDATED_LIST)
_DAY = len("2024-05-01")
Row = dict[str, Any]


@in_one_snapshot
def read_page(
    ledger: OpenLedger,
    person: Person,
    pool: str | None = None,
    *,
    number: int | None = None,
    last: int | None = None,
    by: BarOrder = "game",
    against: Person | None = None,
    boards: bool = False,
    second_player_limit: int | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Page:
    """Return a page of a player's rating graph.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player of the graph.
        pool: name of the pool; the first one by default.
        number: the page of 50 games, 1 the newest; by default the last games.
        last: how many of the last games, a multiple of 50; 0: all. 100 by default.
        by: ``game`` for bars side by side, ``date`` for bars on their days.
        against: another player, whose games of the same days are drawn, too; requires *by* date.
        boards: whether the final position of each game is calculated from the stored moves.
        second_player_limit: the number of the other player's latest games; ``MOST_SECOND_PLAYER_GAMES`` by default.
        since: of the last games only those that count from this day, month or year on.
        until: the last games are those that count by the end of this one.

    Raises:
        UnknownNameError: a player has neither a rated game in the pool nor a list rating, or the page does not exist.
        MalformedError: arguments that do not go together.
    """
    check_arguments(number, last, by, person, against)
    since_ms, until_ms = range_ms(since, until)
    if number is not None and (since is not None or until is not None):
        raise MalformedError(["a page of 50 games, or the last games of a range: give one of the two"])
    rated_by = ledger.pool(pool)
    states = ledger.states(rated_by)
    games = _count_games(ledger, person, rated_by)
    pages = count_pages(games)
    if number is not None and number > pages:
        hint = f"{display_name(person)} has {pages}, of {GAMES_PER_PAGE} games each"
        raise UnknownNameError("page", str(number), hint, where="of the graph")
    if number is not None:
        newest = games - (number - 1) * GAMES_PER_PAGE
        first = max(1, newest - GAMES_PER_PAGE + 1)
    else:
        who, connection = (rated_by.pool, person.player), ledger.views.connection
        newest = games if until_ms is None else count_rated_until(connection, who, until_ms)
        first = max(1, newest - (DEFAULT_LAST_GAMES if last is None else last or games) + 1)
        if since_ms is not None:
            first = max(first, count_rated_until(connection, who, since_ms - 1) + 1)
    read = _Reader(ledger, rated_by, states, boards)
    bars = read.player_bars(person, first, newest, games)
    second_player = None
    if against is not None:
        most = second_player_limit or MOST_SECOND_PLAYER_GAMES
        second_player = read.second_player_bars(against, bars, most, is_newest=newest == games)
    # Games behind the page with the first of these games are older.
    newer = (number or 1) - 1 if newest == games or number else (games - newest - 1) // GAMES_PER_PAGE + 1
    older = (games - first) // GAMES_PER_PAGE + 2
    return Page(
        pool=rated_by.name,
        position=ledger.views.position(),
        by=by,
        page=number,
        pages=pages,
        newer=newer or None,
        older=older if first > 1 else None,
        is_newest=newest == games,
        player=bars,
        against=second_player,
    )


def check_arguments(number: int | None, last: int | None, by: BarOrder, person: Person, against: Person | None) -> None:
    """Refuse arguments that do not go together in a rating graph.

    Raises:
        MalformedError: all faults at once.
    """
    problems = []
    if number is not None and last is not None:
        problems.append("a page of 50 games, or the last so many: give one of the two")
    if last is not None and (last < 0 or last % GAMES_PER_PAGE):
        problems.append(f"the last games come in multiples of {GAMES_PER_PAGE}, and 0 is all of them; got {last}")
    if against is not None and by != "date":
        problems.append("two players in one graph go by date: their games have no order of their own")
    if against is not None and against.player == person.player:
        problems.append(f"{display_name(person)} cannot be compared with the same player: give another one")
    if problems:
        raise MalformedError(problems)


def range_ms(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """Return the first and the last millisecond of a range of days, months or years; None where it has no end.

    Raises:
        MalformedError: it ends before it begins.
    """
    since_ms = None if since is None else instant_ms(since)
    until_ms = None if until is None else instant_end_ms(until)
    if since_ms is not None and until_ms is not None and until_ms < since_ms:
        raise MalformedError([f"a range begins before it ends; got {since} to {until}"])
    return since_ms, until_ms


def count_rated_until(connection: sqlite3.Connection, who: tuple[int, int], ms: int) -> int:
    """Return how many games of a player, by pool and number, count by an instant."""
    row = queries.fetch_first(connection, queries.ROW_AT, (*who, ms))
    return 0 if row is None else int(row["n"])


def count_pages(games: int) -> int:
    """Return the number of pages of 50 games of a player; a player without a game has one page."""
    # Negated twice, a floor division rounds up.
    return max(1, -(-games // GAMES_PER_PAGE))


def _count_games(ledger: OpenLedger, person: Person, pool: Pool) -> int:
    newest = last_game_row(ledger, person, pool)
    return 0 if newest is None else int(newest["n"])


class _Reader(NamedTuple):
    """The reader of the players' parts of one page."""

    ledger: OpenLedger
    pool: Pool
    states: PlayerStates
    boards: bool

    def player_bars(self, person: Person, first: int, until: int, games: int, left_out: int = 0) -> PlayerBars:
        """Return a player's part: the games from the *first* to *until*, by the player's count of games."""
        now = self.states.now(person.player, self.ledger.now_ms())
        bars = list(self._bars(person.player, first, until))
        ratings = [bar.rating for bar in bars if bar.rating is not None]
        results = [bar.result for bar in bars]
        return PlayerBars(
            player=person.player,
            name=display_name(person),
            rating_now=now.in_force,
            provisional_now=now.provisional,
            scheme_now=now.era.scheme.name,
            games=games,
            left_out=left_out,
            wins=results.count("win"),
            draws=results.count("draw"),
            losses=results.count("loss"),
            time_losses=sum(bar.time_loss for bar in bars),
            lowest=min(ratings, default=None),
            highest=max(ratings, default=None),
            bars=bars,
            seams=[
                Seam(n=new.n, ended_at=day(new.ended_ms), ended_ms=new.ended_ms, before=old.scheme, scheme=new.scheme)
                # Bars come newest first, so that of two neighbours the first is the later game.
                for new, old in pairwise(bars)
                if new.scheme != old.scheme
            ],
        )

    def _bars(self, player: int, first: int, until: int) -> Iterator[Bar]:
        connection = self.ledger.views.connection
        arguments = (self.pool.pool, player, first, until)
        rows = list(queries.fetch_dicts(connection, queries.graph_page(self.pool.state_fields), arguments))
        if not rows:
            return
        opponents = self._opponents(rows, arguments)
        shown_names = names(self.ledger, {row["opponent"] for row in rows})
        corrected = marks.corrections_by_game(self.ledger, [row["key"] for row in rows])
        lists = marks.outdated_lists(self.ledger, self.pool, player, rows[-1]["rated_ms"])
        opponents_now = self._ratings_now(rows)
        for row, opponent_rating in zip(rows, opponents, strict=True):
            after = self.states.after_game(row)
            # of a game that is rated when it ends, the recorded day
            if row["rated_ms"] == row["ended_ms"] and len(row["ended_at"]) >= _DAY:
                in_force: str | None = str(row["ended_at"][:_DAY])
            else:
                in_force = in_force_from(row["rated_ms"])
            final_position = None
            if self.boards:
                # no moves are kept, or none that can be played
                with suppress(UnknownNameError, MalformedError):
                    final_position = final_board(self.ledger, f"game:{row['key']}").position.fen
            yield Bar(
                n=row["n"],
                game=row["key"],
                address=game_address(row["key"]),
                ended_at=row["ended_at"],
                ended_ms=row["ended_ms"],
                colour="black" if row["colour"] else "white",
                result=RESULT[row["half_points"]],
                # The book says who overstepped the time: 1 White, 2 Black; a side's colour is 0 or 1.
                time_loss=row["time_loss"] == 1 + row["colour"],
                termination=row["termination"],
                tournament=row["tournament"],
                scheme=after.era.scheme.name,
                rating=after.rating,
                in_force=in_force,
                provisional=after.provisional,
                opponent=shown_names[row["opponent"]],
                opponent_player=row["opponent"],
                opponent_rating_before=self._in_force_before(row),
                opponent_rating=opponent_rating,
                opponent_rating_now=opponents_now[row["opponent"]],
                corrected=corrected.get(row["key"], []),
                **(vars(marks.outdated_list(lists[row["n"]])) if row["n"] in lists else _NOTHING_PUBLISHED),
                final_position=final_position,
            )

    def _opponents(self, rows: list[Row], arguments: tuple[int, ...]) -> Iterable[float | None]:
        """Return the opponents' ratings after the games."""
        if self.pool.lists_everybody:
            return (row["opponent_rating"] for row in rows)
        # Both queries go through the player's rows from the newest on, so that the sides match.
        opposites = queries.fetch_dicts(self.ledger.views.connection, queries.PAGE_OPPONENTS, arguments)
        return (
            self.states.opposite_after(opposite, row["rated_ms"]) for row, opposite in zip(rows, opposites, strict=True)
        )

    def _in_force_before(self, row: Row) -> float | None:
        # The row of a first game has the initial rating of the new player, which need not have been in force.
        if row["opponent_n"] == 0 or (row["opponent_n"] > 1 and self.states.rows_say_before):  # 0: a guest's
            return float(row["opponent_before"])
        side = {"player": row["opponent"], "n": row["opponent_n"], "ended_ms": row["ended_ms"]}
        return self.states.rating_before_game({**side, "rating_before": row["opponent_before"]})

    def _ratings_now(self, rows: list[Row]) -> dict[int, float | None]:
        """Return the opponents' ratings now, from their last rows if these suffice, as in rankings."""
        today = self.ledger.now_ms()
        ratings: dict[int, float | None] = {}
        for row in rows:
            player = row["opponent"]
            if player in ratings:
                continue
            if row["now_listed"] is None:  # a guest, without a rated game
                ratings[player] = None
            elif self.states.says_now(row["now_listed"], row["now_rated_ms"]):
                ratings[player] = row["now_rating"] if row["now_listed"] else None
            else:
                ratings[player] = self.states.now(player, today).in_force
        return ratings

    def second_player_bars(self, person: Person, bars: PlayerBars, most: int, *, is_newest: bool) -> PlayerBars:
        """Return another player's games between the first and the last instant of a page; up to now on the newest."""
        ends = [bar.ended_ms for bar in bars.bars]
        span = (min(ends, default=-OPEN), OPEN if is_newest else max(ends, default=OPEN))
        arguments = (self.pool.pool, person.player, *span)
        rows = queries.fetch_dicts(self.ledger.views.connection, queries.GAMES_BETWEEN, arguments)
        numbers = [int(row["n"]) for row in rows]
        shown = numbers[:most]
        first, until = (shown[-1], shown[0]) if shown else (1, 0)
        games = _count_games(self.ledger, person, self.pool)
        return self.player_bars(person, first, until, games, len(numbers) - len(shown))
