"""Games, rounds and players as their sources report them, which every importer yields, and the faults of files.

Players are still *identities* (``lichess:ann``, ``fide:1503014``, ``name:carlsen,m``); the ledger gives numbers.
No I/O.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import attrs

from ledger.runtime.lazy import pl

KEPT_FAULTS = 10_000  # of one file; the others are counted
MAX_MESSAGE = 1_000  # characters of a fault
PLAIN_KEY = r"[A-Za-z0-9._-]{1,32}:[0-9a-f]{24}"  # a source and half a SHA-256 of facts
OUR_PLAIN_KEY = r"(?:csv|hand|pgn|trf):[0-9a-f]{24}"  # those that earlier releases recorded so, or sent on
# A fault quotes a foreign file, where a value may be of any length and depth.
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 60
_SHOWN.maxlevel = 2


def plain_key(source: str, facts: str) -> str:
    """Return the key of a game that has none of its own: the source and a hash of the game's facts."""
    return f"{source}:{sha256(facts.encode()).hexdigest()[:24]}"


def is_plain_key(key: str) -> bool:
    """Return whether an earlier release made a key of a game's facts: it is no key of the source."""
    return re.fullmatch(OUR_PLAIN_KEY, key, re.ASCII) is not None


class SourceGame(NamedTuple):
    """One finished game as its source reports it, with identities for players.

    ``line`` is the line of the file on which the game begins, from 1. ``speed`` and ``variant`` serve to choose a
    pool: speed is one of ``ultraBullet bullet blitz rapid classical correspondence`` or None; variant is
    ``standard`` or a word such as ``crazyhouse`` (``VARIANT``). ``text`` is movetext without headers, or None.
    ``is_made`` says that no source gave the key: it is a hash of the facts, in the form ``PLAIN_KEY``, against which
    names can be tried. No journal gets to see it: the ledger makes a key of it under its secret. ``sequence`` is the
    source's own number of the game within its day; without one the row's place in its file serves.
    """

    line: int
    key: str
    white_id: str
    white_name: str
    black_id: str
    black_name: str
    outcome: str
    termination: str
    ended_at: str
    started_at: str | None = None
    half_moves: int | None = None
    tournament: str | None = None
    round: str | None = None
    rated: bool = True
    white_rating: int | None = None
    black_rating: int | None = None
    speed: str | None = None
    variant: str = "standard"
    text: str | None = None
    is_made: bool = False
    sequence: int | None = None


class SourceRound(NamedTuple):
    """One round without a game as its source reports it, with an identity for the player.

    ``line``, ``speed`` and ``variant`` are those of ``SourceGame``.
    """

    line: int
    player_id: str
    player_name: str
    tournament: str
    edition: str
    round: int | None
    brings: str
    half_points: int | None = None
    speed: str | None = None
    variant: str = "standard"
    opponent_id: str | None = None
    opponent_name: str | None = None
    colour: str | None = None


class SourceEntrant(NamedTuple):
    """One entrant of a tournament as its report lists it, with an identity for the player.

    ``details`` are the fields of ``facts.player_details.PlayerDetails`` that the report states. ``points`` are those
    that it states and those of the player's results, where they contradict each other; else None. ``score`` are
    those that it states.
    """

    line: int
    player_id: str
    player_name: str
    start_number: int
    rating: int | None
    place: int | None
    details: Mapping[str, Any]
    points: tuple[float, float] | None = None
    score: float | None = None

    def __str__(self) -> str:
        """Return starting number and name, as findings call an entrant."""
        return f"{self.start_number} ({self.player_name})"


class SourceNational(NamedTuple):
    """The number of an entrant at a federation: line, starting number, name and number."""

    line: int
    rank: int
    name: str
    number: str


class SourcePairing(NamedTuple):
    """One game of a report: its round, the lines and starting numbers of both players, and White's half points."""

    round: int
    line: int
    black_line: int
    white: int
    black: int
    half_points: int
    is_played: bool


class SourceReport(NamedTuple):
    """The statements of a report about one tournament besides its games and rounds.

    Attributes:
        line: where it begins.
        tournament, edition: its name, empty without one, and its first day.
        facts: the fields of ``tournament-described/1`` that it states.
        chief, deputies: the arbiters.
        entrants: in the order of the file.
        speed, variant: those of ``SourceGame``.
        last_day: its last day, as it states it; None if it does not.
        round_days: the day of each round that has one.
        unread_days: by round, what stands in the place of its day and is none.
        pairings: its games, by rounds.
        last_round: the last round of which it states anything.
        counts: by record a number of players or teams that it states, then those which its lines may give.
        format: how it is paired, one of the words of ``facts.words.Format``; None where it says none of them.
        is_of_teams: True if teams played.
        lines: the line of each record that its checks name.
        doubts: fields of entrants that cannot be read, with their lines, if most other lines can be read whole.
        lost_by_both: the rounds of games that both players lost, with the lines of the two.
        allotted: by starting number the rounds of byes for want of an opponent.
        national: the numbers of entrants at federations.
        team_doubts: lines of teams that cannot be read or contradict their boards, with their lines, if few do.
        scoring: the points of a win, a draw and a loss, in words.
        other_pool: the line of the time control, and how it contradicts the pool that the user named; None if it does
            not.
        is_stated: False if nothing but its games is recorded, as of a cross-table, whose numbers may be places.
    """

    line: int
    tournament: str
    edition: str
    facts: Mapping[str, Any]
    chief: str | None
    deputies: tuple[str, ...]
    entrants: tuple[SourceEntrant, ...]
    speed: str | None = None
    variant: str = "standard"
    last_day: str | None = None
    round_days: Mapping[int, str] = {}
    unread_days: Mapping[int, str] = {}
    pairings: tuple[SourcePairing, ...] = ()
    last_round: int = 0
    counts: Mapping[str, tuple[int, ...]] = {}
    format: str | None = None
    is_of_teams: bool = False
    lines: Mapping[str, int] = {}
    doubts: tuple[tuple[int, str], ...] = ()
    lost_by_both: tuple[tuple[int, int, int], ...] = ()
    allotted: Mapping[int, tuple[int, ...]] = {}
    national: tuple[SourceNational, ...] = ()
    team_doubts: tuple[tuple[int, str], ...] = ()
    scoring: str = "1, ½ and 0"
    other_pool: tuple[int, str] | None = None
    is_stated: bool = True

    def line_of(self, *kinds: str) -> int:
        """Return the line of the first of some records that the report has; without one, where it begins."""
        return next((self.lines[kind] for kind in kinds if kind in self.lines), self.line)


class FileFault(NamedTuple):
    """One fault of a file: its line, and a message that says what is wrong and what to do."""

    line: int
    message: str


@attrs.define(kw_only=True)
class FaultsFound:
    """A list of the faults of a file that keeps the first ones and counts the others.

    Attributes:
        faults: the first ``KEPT_FAULTS``.
        fault_count: how many there are in all.
    """

    faults: list[FileFault] = attrs.Factory(list)
    fault_count: int = 0

    @property
    def ok(self) -> bool:
        """True if there is no fault."""
        return not self.fault_count

    def fault(self, line: int, message: str) -> None:
        """Add a fault."""
        self.fault_count += 1
        if len(self.faults) < KEPT_FAULTS:
            self.faults.append(FileFault(line, shortened(message)))


def frame_schema() -> dict[str, type]:
    """Return the columns and types of a frame of source games, in the order of ``SourceGame``."""
    # 32 bits hold the largest of each (``event_fields``); lines are of files that may be longer
    whole, text = pl.Int32, pl.String
    kinds = {
        "line": pl.Int64,
        "sequence": pl.Int64,
        "half_moves": whole,
        "white_rating": whole,
        "black_rating": whole,
        "rated": pl.Boolean,
        "is_made": pl.Boolean,
    }
    return {name: kinds.get(name, text) for name in SourceGame._fields}


def excerpt(value: object) -> str:
    """Return the ``repr`` of a value, shortened to some 200 characters."""
    return _SHOWN.repr(value)


def shortened(message: str) -> str:
    """Return a message, cut if it is longer than ``MAX_MESSAGE``."""
    return message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}..."


PLAYER_TEXTS = ("identity", "name", "standing", "since", "rating", "deviation", "volatility", "highest", "k_factor")
# Fields that imply a rating. Games and a K-factor do not: federations list them for players without a rating, too.
NEED_A_RATING = ("deviation", "volatility", "highest")


# Data about players besides the name, the fields of ``facts.player_details.PlayerDetails`` that are texts.
DETAIL_TEXTS = ("sex", "title", "federation", "birth", "club", "national")


def player_schema() -> Mapping[str, Any]:
    """Return the columns of a frame of source players, as Polars types.

    ``line`` of the file; ``identity`` and ``name``, never null; ``standing`` (null: full), ``birth_year``; ``since``,
    an instant; ``rating``, decimals as text, null for who has none; and with a rating ``games``, ``deviation``,
    ``volatility``, ``highest``, ``k_factor``.
    """
    return {
        "line": pl.Int64,
        **dict.fromkeys((*PLAYER_TEXTS, *DETAIL_TEXTS), pl.String),
        "birth_year": pl.Int32,
        "games": pl.Int32,
        "active": pl.Boolean,
    }
