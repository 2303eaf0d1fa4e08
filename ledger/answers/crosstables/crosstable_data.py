"""The data of a cross-table, as its JSON shows it: one edition of a tournament, one row for each player.

``crosstable`` fills these classes from the views; every format is drawn from them alone.
"""

from __future__ import annotations

from typing import Literal

import attrs

from ledger.facts.json_schemas import documented

PairingFormat = Literal["all-play-all", "swiss", "knockout", "match", "arena", "other"]
FormatSource = Literal["told", "seen", "chosen"]
Mark = Literal["1", "½", "0", "+", "=", "-", "*"]


@attrs.frozen(kw_only=True)
class EditionSpan:
    """The edition of a tournament: its days, and its number among the editions of the name."""

    first_day: str = documented("when its first game ended, 1994 or 2024-05-01; as announced if no round has a day")
    last_day: str = documented("the same of its last game so far")
    number: int = documented("its place among the editions of the name, from 1", minimum=1)
    of: int = documented("how many editions there are", minimum=1)


@attrs.frozen(kw_only=True)
class PerformanceColumn:
    """The performance rating that a cross-table shows: its variant, formula and source."""

    variant: str = documented("its name, such as fide_tpr")
    title: str = documented("what it is, in a line")
    source: str = documented("who says so")
    offset: str = documented("what the ER offset is, and whose reading")


@attrs.frozen(kw_only=True)
class TieBreakColumn:
    """A tie-break that a cross-table shows."""

    name: str = documented("its name, such as sonneborn-berger; the key in the rows")
    short: str = documented("its abbreviation in C.07")
    title: str = documented("what it is called")
    source: str = documented("where it is defined")
    decides: bool = documented("whether it makes places; one that does not only orders who shares a place")


@attrs.frozen(kw_only=True)
class UnevenPair:
    """Two players of an all-play-all who have fewer or more games than the others."""

    players: list[int] = documented("their numbers in the ledger")
    names: list[str] = documented("what they are called")
    games: int = documented("how many games too few or too many", minimum=1)


@attrs.frozen(kw_only=True)
class EventResult:
    """The result of one game in a cross-table, from the view of one player."""

    game: str = documented("key of the game")
    round: str | None = documented("the round as it was recorded")
    ended_at: str = documented("when it ended, as it was recorded")
    colour: Literal["white", "black"] = documented("the player's colour")
    opponent: str = documented("what the opponent is called")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    opponent_number: int = documented("the opponent's row in the table, from 1", minimum=1)
    mark: Mark = documented("result; + = - without play, * without a result")
    points: float | None = documented("1, 0.5 or 0; null: without a result")
    counts: bool = documented("whether it counts for the performance rating")
    reason: str | None = documented("why it does not count for the ledger's ratings; null: it does")
    rating_before: float | None = documented("the player's rating before it or its period, points")
    closing_rating: float | None = documented("the player's rating after it or its period, points")
    opponent_rating_before: float | None = documented("the opponent's rating before it, points")
    opponent_closing_rating: float | None = documented("the opponent's rating after it or its period, points")
    surplus: float | None = documented("how far the opponent's rating before was above the player's, points")
    margin: int = documented("the margin of an upset that was in force when it ended, points", minimum=0)
    upset: bool = documented("whether the player won against a rating higher by the margin or more")


@attrs.frozen(kw_only=True)
class EventBye:
    """A bye or an absence of a player in one round of a tournament."""

    round: int | None = documented("its number; null: rounds have none")
    brings: Literal["half", "full", "allotted", "zero", "absent"] = documented("what kind of bye or absence it is")
    points: float = documented("the points that it brings", minimum=0)


@attrs.frozen(kw_only=True)
class Meeting:
    """The games of a player against one opponent in a tournament, with results and performance rating."""

    opponent: str = documented("what the opponent is called")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    opponent_number: int = documented("the opponent's row in the table, from 1", minimum=1)
    marks: str = documented("the results, one after the other; see the marks of results")
    points: float = documented("points scored", minimum=0)
    opponent_enrolment_rating: float | None = documented("the opponent's enrolment rating, points")
    opponent_closing_rating: float | None = documented("the opponent's rating after the last of the games, points")
    closing_rating: float | None = documented("the player's rating after the last of the games, points")
    performance: float | None = documented("what the games were worth, points; null: the variant gives none")
    er_offset: float | None = documented(
        "by how many per cent they moved the rating; by other formulas than chessworld that of ``performance``"
    )


@attrs.frozen(kw_only=True)
class CrossTableRow:
    """A player's row in a cross-table: place, points, tie-breaks, performance rating and results."""

    number: int = documented("the row, from 1", minimum=1)
    place: str = documented("the place, such as 1, or 2-4 where it is shared")
    first_place: int = documented("the first of the places shared", minimum=1)
    last_place: int = documented("the last of them", minimum=1)
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    enrolment_rating: float | None = documented("rating when the tournament began for the player, points; null: none")
    closing_rating: float | None = documented("rating after the last game in it, or its period, points")
    games: int = documented("games in the table, those without a result among them", minimum=0)
    points: float = documented("points, those of forfeits and byes among them", minimum=0)
    wins: int = documented("games won, with or without playing", minimum=0)
    draws: int = documented("games drawn", minimum=0)
    losses: int = documented("games lost, with or without playing", minimum=0)
    tie_breaks: dict[str, float | None] = documented("by name; null: it says nothing here")
    opponents_mean: float | None = documented("mean enrolment rating of the opponents met, points (Rc)")
    performance: float | None = documented("performance rating of the table's variant, points; null: it gives none")
    performance_games: int = documented("how many games it stands on", minimum=0)
    performance_missing: str | None = documented("why there is none; null: there is")
    er_offset: float | None = documented("100 (performance / enrolment rating - 1), per cent")
    upsets: int = documented("how many upsets the player brought about", minimum=0)
    results: list[EventResult] = documented("the games in the order of the rounds")
    byes: list[EventBye] = documented("the rounds without a game, in their order")
    meetings: list[Meeting] = documented("the same by opponent, in the order of the table")


@attrs.frozen(kw_only=True)
class Match:
    """A match of two players in a knock-out or alone: its games, its points and its winner."""

    round: int = documented("the round of the knock-out, from 1, as the matches show it", minimum=1)
    third_place: bool = documented("whether both had lost a match before: it is for the third place")
    players: list[int] = documented("their numbers in the ledger, the winner first where that is known")
    names: list[str] = documented("what they are called")
    points: list[float] = documented("points of each")
    games: list[str] = documented("keys of the games")
    winner: int | None = documented("number of the winner; null: neither points nor who played on tell")
    by_points: bool = documented("false: level on points; who won is seen from who played on")


@attrs.frozen(kw_only=True)
class Crosstable:
    """The cross-table of one edition of a tournament: players, results, standings, tie-breaks, performance ratings."""

    tournament: str = documented("the name that its games carry")
    pool: str = documented("the pool")
    position: int = documented("the journal's last entry that it follows from", minimum=1)
    scheme: str = documented("the rating scheme at its end")
    edition: EditionSpan = documented("which games of that name")
    format: PairingFormat = documented("how it was paired")
    format_is: FormatSource = documented("announced, guessed from the games, or asked for")
    meetings: int | None = documented("in an all-play-all, how often two players meet", minimum=1)
    rounds: int | None = documented("how many rounds, as announced or numbered; null: neither", minimum=1)
    # Rounds without a game may be reported before the first one: an edition of byes alone, perhaps of one player.
    players: int = documented("how many players have a game or a bye in it", minimum=1)
    games: int = documented("how many games the ledger has of it", minimum=0)
    average_rating: float | None = documented("mean enrolment rating, points")
    complete: bool = documented("whether nothing is seen to be missing")
    missing: list[str] = documented("what is missing, each for people to read")
    missing_games: list[UnevenPair] = documented("in an all-play-all, who has games to play")
    extra_games: list[UnevenPair] = documented("who has more games than the others, such as a play-off")
    ratings: Literal["ledger", "shown"] = documented("whose ratings: the ledger's, or those the source shows")
    performance: PerformanceColumn = documented("which performance rating the rows have")
    tie_breaks: list[TieBreakColumn] = documented("which tie-breaks the rows have, in their order")
    standings: list[CrossTableRow] = documented("the players, the best first")
    matches: list[Match] = documented("of a knock-out or a match, in the order of the rounds; else none")
