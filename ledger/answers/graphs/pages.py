"""Filling a page of a rating graph from the views: one contiguous read of the player's rows, one of the opponents'.

What a page holds is in ``bars``; how it looks is the business of the formats. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from ledger.answers import marks
from ledger.answers.asking import RESULT, day, display_name, in_force_from, names, of_one_moment
from ledger.answers.boards import final_board
from ledger.answers.graphs.bars import PAGE, Bar, Order, Page, PlayerBars, Seam
from ledger.answers.read_models import last_row
from ledger.book.timeline import Pool
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.imports.reading import game_address
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates

LAST = 100  # games: "the 100 game default setting" of the FAQ
EVERY_GAME = 0
MOST_BESIDE = 1_000  # bars of the second player, who may play far more often
_NOTHING_PUBLISHED = vars(marks.NOTHING_PUBLISHED)
_DAY = len("2024-05-01")
Row = dict[str, Any]


@of_one_moment
def page(
    ledger: OpenLedger,
    person: Person,
    pool: str | None = None,
    *,
    number: int | None = None,
    last: int | None = None,
    by: Order = "game",
    against: Person | None = None,
    boards: bool = False,
    most_beside: int | None = None,
) -> Page:
    """Return a page of a player's rating graph.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player of the graph.
        pool: name of the pool; the first one by default.
        number: the page of 50 games, 1 the newest; by default the last games.
        last: how many of the last games, a multiple of 50; 0 is all of them. 100 by default.
        by: whether bars are side by side or where their days lie.
        against: another player, whose games of the same days are drawn, too; requires *by* date.
        boards: whether the final position of each game is calculated from the stored moves.
        most_beside: how many games of the other player, the latest ones; ``MOST_BESIDE`` by default.

    Raises:
        UnknownNameError: a player has neither a rated game in the pool nor the rating of a list, or no such page.
        MalformedError: arguments that do not go together.
    """
    check(number, last, by, person, against)
    rated_by = ledger.pool(pool)
    states = ledger.states(rated_by)
    newest = last_row(ledger, person, rated_by)
    games = 0 if newest is None else int(newest["n"])
    pages = pages_of(games)
    if number is not None and number > pages:
        hint = f"{display_name(person)} has {pages}, of {PAGE} games each"
        raise UnknownNameError("page", str(number), hint, where="of the graph")
    if number is not None:
        first, until = games_of_page(number, games)
    else:
        first, until = max(1, games - (LAST if last is None else last or games) + 1), games
    read = _Reader(ledger, rated_by, states, boards)
    bars = read.player_bars(person, first, until, games)
    # Games behind the page with the first of these games are older.
    newer, older = (number or 1) - 1, (games - first) // PAGE + 2
    return Page(
        pool=rated_by.name,
        position=ledger.views.position(),
        by=by,
        page=number,
        pages=pages,
        newer=newer or None,
        older=older if first > 1 else None,
        is_newest=until == games,
        player=bars,
        against=None
        if against is None
        else read.beside(against, bars, most_beside or MOST_BESIDE, is_newest=until == games),
    )


def check(number: int | None, last: int | None, by: Order, person: Person, against: Person | None) -> None:
    """Refuse what no graph can show.

    Raises:
        MalformedError: arguments that do not go together.
    """
    problems = []
    if number is not None and last is not None:
        problems.append("a page of 50 games, or the last so many: give one of the two")
    if last is not None and (last < 0 or last % PAGE):
        problems.append(f"the last games come in multiples of {PAGE}, and 0 is all of them; got {last}")
    if against is not None and by != "date":
        problems.append("two players in one graph go by date: their games have no order of their own")
    if against is not None and against.player == person.player:
        problems.append(f"{display_name(person)} cannot stand beside the same player: give another one")
    if problems:
        raise MalformedError(problems)


def pages_of(games: int) -> int:
    """Return how many pages of 50 games there are; one without a game, too."""
    # Negated twice, a floor division rounds up.
    return max(1, -(-games // PAGE))


def games_of_page(number: int, games: int) -> tuple[int, int]:
    """Return the first and the last game of a page, counted from the newest; of a player with so many *games*."""
    until = games - (number - 1) * PAGE
    return max(1, until - PAGE + 1), until


def page_of_game(n: int, games: int) -> int:
    """Return the page of a player's n-th game, of a player with so many *games*."""
    return (games - n) // PAGE + 1


class _Reader(NamedTuple):
    """Reads players' parts of one page."""

    ledger: OpenLedger
    pool: Pool
    states: PlayerStates
    boards: bool

    def player_bars(self, person: Person, first: int, until: int, games: int, left_out: int = 0) -> PlayerBars:
        """Return a player's part: the games from the *first* to *until*, counted as the player's n-th."""
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
        rows = list(queries.dictionaries(connection, queries.page_of(self.pool.state_fields), arguments))
        if not rows:
            return
        opponents = self._opponents(rows, arguments)
        called = names(self.ledger, {row["opponent"] for row in rows})
        corrected = marks.corrected_games(connection, [row["key"] for row in rows])
        lists = marks.published_after(self.ledger, self.pool, player, rows[-1]["rated_ms"])
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
                opponent=called[row["opponent"]],
                opponent_player=row["opponent"],
                opponent_rating_before=self._in_force_before(row),
                opponent_rating=opponent_rating,
                opponent_rating_now=opponents_now[row["opponent"]],
                corrected=corrected.get(row["key"], []),
                **(vars(marks.published(lists[row["n"]])) if row["n"] in lists else _NOTHING_PUBLISHED),
                final_position=final_position,
            )

    def _opponents(self, rows: list[Row], arguments: tuple[int, ...]) -> Iterable[float | None]:
        """Return the opponents' ratings after the games, without their states if the scheme lists all players."""
        if self.pool.lists_everybody:
            return (row["opponent_rating"] for row in rows)
        # Both queries go through the player's rows from the newest on, so that the sides match.
        opposites = queries.dictionaries(self.ledger.views.connection, queries.PAGE_OPPONENTS, arguments)
        return (
            self.states.after_game({**opposite, "rated_ms": row["rated_ms"]}).rating
            for row, opposite in zip(rows, opposites, strict=True)
        )

    def _in_force_before(self, row: Row) -> float | None:
        """Return the opponent's rating in force before a game; None if there was none."""
        # The row of a first game has what the newcomer began with, which need not have been in force for anybody.
        if row["opponent_n"] > 1 and self.states.rows_say_before:
            return float(row["opponent_before"])
        side = {"player": row["opponent"], "n": row["opponent_n"], "ended_ms": row["ended_ms"]}
        return self.states.rating_before_game({**side, "rating_before": row["opponent_before"]})

    def _ratings_now(self, rows: list[Row]) -> dict[int, float | None]:
        """Return the opponents' ratings now: as their last rows say, if these say it by themselves, as in rankings."""
        today = self.ledger.now_ms()
        ratings: dict[int, float | None] = {}
        for row in rows:
            player = row["opponent"]
            if player in ratings:
                continue
            if self.states.says_now(row["now_listed"], row["now_rated_ms"]):
                ratings[player] = row["now_rating"] if row["now_listed"] else None
            else:
                ratings[player] = self.states.now(player, today).in_force
        return ratings

    def beside(self, person: Person, bars: PlayerBars, most: int, *, is_newest: bool) -> PlayerBars:
        """Return another player's games between the first and the last instant of a page; up to now on the newest."""
        newest = last_row(self.ledger, person, self.pool)
        games = 0 if newest is None else int(newest["n"])
        ends = [bar.ended_ms for bar in bars.bars]
        span = (min(ends, default=-OPEN), OPEN if is_newest else max(ends, default=OPEN))
        arguments = (self.pool.pool, person.player, *span)
        rows = queries.dictionaries(self.ledger.views.connection, queries.GAMES_BETWEEN, arguments)
        numbers = [int(row["n"]) for row in rows]
        kept = numbers[:most]
        first, until = (kept[-1], kept[0]) if kept else (1, 0)
        return self.player_bars(person, first, until, games, len(numbers) - len(kept))
