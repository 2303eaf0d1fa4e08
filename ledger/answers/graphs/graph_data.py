"""The data of a rating graph, as its JSON shows it: a page, one or two players on it, a bar for each rated game.

``page_reader`` fills these classes from the views; every format is drawn from them alone.
"""

from __future__ import annotations

from typing import Literal

import attrs

from ledger.facts.json_schemas import documented

GAMES_PER_PAGE = 50  # games: the FAQ's "in multiples of 50 games"
BarOrder = Literal["game", "date"]


@attrs.frozen(kw_only=True, slots=False)  # there are many: made, and turned into JSON, in half the time
class Bar:
    """A bar of a rating graph: a rated game of a player, with the rating after it, the opponent and its marks."""

    n: int = documented("the player's n-th rated game in the pool, from 1", minimum=1)
    game: str = documented("key of the game")
    address: str | None = documented("web address of the game, where its key is that of a server", format="uri")
    ended_at: str = documented("when it ended, UTC, as precisely as it is known: 2024, 2024-05, 2024-05-01T19:30:00Z")
    ended_ms: int = documented("the same in milliseconds since 1970; the first of the day, month or year if only that")
    colour: Literal["white", "black"] = documented("the player's colour")
    result: Literal["win", "draw", "loss"] = documented("for the player")
    time_loss: bool = documented("whether the player lost by overstepping the time")
    termination: str = documented("how the game ended, a word of game-recorded/1")
    tournament: str | None = documented("name of the tournament")
    scheme: str = documented("the rating scheme that rated it")
    rating: float | None = documented("rating after the game or its period, points, unrounded; null: none to show")
    in_force: str | None = documented("day from which that rating counts; null while the period is open")
    provisional: bool = documented("whether the scheme calls that rating provisional")
    opponent: str = documented("the opponent's name")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    opponent_rating_before: float | None = documented("the opponent's rating in force before the game, points")
    opponent_rating: float | None = documented("rating of the opponent after the game or its period, points")
    opponent_rating_now: float | None = documented("the opponent's rating now, points")
    corrected: list[int] = documented("the proposals that corrected the game and act")
    published_list: str | None = documented("the last list published before the next game, where it said otherwise")
    published_rating: float | None = documented("the player's rating on that list, points; null: not on it")
    revised_rating: float | None = documented("what the journal says now of that list, points; null: not on it")
    final_position: str | None = documented("the position at the end as FEN, where it was asked for and moves are kept")


@attrs.frozen(kw_only=True, slots=False)
class Seam:
    """The game in a rating graph from which on another rating scheme rates the player."""

    n: int = documented("the first game of the player that the new scheme rated", minimum=2)
    ended_at: str = documented("the day on which that game ended")
    ended_ms: int = documented("the same in milliseconds since 1970")
    before: str = documented("the scheme before")
    scheme: str = documented("the new scheme")


@attrs.frozen(kw_only=True, slots=False)
class PlayerBars:
    """A player's part of a rating graph: the player, the rating now, and the bars, newest first."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    rating_now: float | None = documented("rating now, points; null: none to show")
    provisional_now: bool = documented("whether the scheme calls the rating now provisional")
    scheme_now: str = documented("the rating scheme now")
    games: int = documented("all rated games of the player in the pool", minimum=0)
    left_out: int = documented("older games of the same days that the page leaves out", minimum=0)
    wins: int = documented("games of the page that were won", minimum=0)
    draws: int = documented("drawn", minimum=0)
    losses: int = documented("lost, those on time among them", minimum=0)
    time_losses: int = documented("of these, lost on time", minimum=0)
    lowest: float | None = documented("the lowest rating of the page's bars, points")
    highest: float | None = documented("the highest rating of the page's bars, points")
    bars: list[Bar] = documented("newest first")
    seams: list[Seam] = documented("where the scheme changes between bars of the page, newest first")


@attrs.frozen(kw_only=True, slots=False)
class Page:
    """A page of a rating graph: the games of one player, newest first; by date, those of a second player too."""

    pool: str = documented("the pool")
    position: int = documented("the journal's last entry that it follows from", minimum=1)
    by: BarOrder = documented("game: a bar a game, side by side; date: where its day lies")
    page: int | None = documented("1 is the newest 50 games; null where the last so many were asked for", minimum=1)
    pages: int = documented("how many pages of 50 games there are, at least 1", minimum=1)
    newer: int | None = documented("the page of the next newer games; null: there are none")
    older: int | None = documented("the page of the next older games; null: there are none")
    is_newest: bool = documented("whether the player's last game is on the page, which then shows the rating now")
    player: PlayerBars = documented("whose graph it is")
    against: PlayerBars | None = documented("the player beside, with the games of the same days; null: nobody")

    @property
    def players(self) -> list[PlayerBars]:
        """The player and, if there is one, the second player."""
        return [self.player] if self.against is None else [self.player, self.against]
