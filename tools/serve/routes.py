"""What can be asked over HTTP: one table as data, from which the server and its documentation are made.

``/api/v1`` is permanent: fields and addresses may be added to it, none goes or means something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import attrs

from ledger.answers import (
    achievements,
    boards,
    list_calculations,
    opponents,
    player_games,
    pools,
    predictions,
    publications,
    rankings,
    recorded_entries,
    recorded_games,
    searching,
    streaks,
    time_losses,
    upsets,
)
from ledger.answers.crosstables import listing
from ledger.answers.crosstables.crosstable_data import Crosstable
from ledger.answers.graphs.career import Career
from ledger.answers.graphs.graph_data import Page
from ledger.ledger import Ledger

from . import get_handlers, limits, public_view
from .parameters import GROUP, GROUP_NAMES, YES, Parameter, Query, choice, instant, text, whole
from .safety import AnswerKind

PREFIX = "/api/v1"
PAGE = 100  # rows of a page, where nothing else is asked
MOST_ROWS = 1_000
MOST_POINTS = 50_000  # of a history in one answer: some 11 MB


class Cost(StrEnum):
    """The cost of an answer, each with a queue of its own, so that no question waits for a costlier one.

    A look at an index; what one player or tournament has, however much; a scan of a pool or a list. Each reader works
    out one of the second and one of the third at a time. A job is one for all.
    """

    INDEX = "index"
    PART = "part"
    SCAN = "scan"
    JOB = "job"


@attrs.frozen(kw_only=True)
class Route:
    """An address, and what is answered there.

    Attributes:
        path: the address behind the prefix; words in braces are taken from it.
        ask: what asks the library.
        form: the class of the answer, or of each of its rows; None of a text.
        rows: whether it is a list of rows, which comes in pages.
        parameters: of the query.
        cost: what the answer costs at most, but for what ``cost_of`` says.
        of_today: whether it depends on what day it is, too.
        media: of answers that are documents, what they may be.
        prefix: of the path.
        template: of a page, the template that shows the answer; None: it is for programs.
        guard: what browsers may do with it.
        of_checkpoints: whether it says what was signed last, which changes without an entry.
        scanned_by: parameters with which it is a scan, whatever it costs without.
        part_with: values of parameters with which it costs a part, by name.
        whole: the largest number of rows of one answer, which is also the default; None: the rows come in pages.
    """

    path: str
    ask: Callable[[Ledger, Query], Any]
    form: type | None
    rows: bool = False
    parameters: tuple[Parameter, ...] = ()
    cost: Cost = Cost.INDEX
    of_today: bool = False
    media: tuple[str, ...] = ("application/json",)
    prefix: str = PREFIX
    template: str | None = None
    guard: AnswerKind = AnswerKind.DATA
    of_checkpoints: bool = False
    scanned_by: tuple[str, ...] = ()
    part_with: tuple[tuple[str, str], ...] = ()
    whole: int | None = None

    @property
    def doc(self) -> str:
        """The answer in a sentence."""
        return (self.ask.__doc__ or "").strip()

    @property
    def address(self) -> str:
        """The address as the server matches it: a name of a tournament may have a slash in it."""
        return f"{self.prefix}{self.path}".replace("{tournament}", "{tournament:path}")

    @property
    def every_parameter(self) -> tuple[Parameter, ...]:
        """Its own parameters, those of pages and forms where it has rows, and for programs a position to wait for."""
        rows = () if not self.rows else _ROWS if self.whole is None else _row_parameters(self.whole, self.whole)
        every = self.parameters + rows
        waits = self.prefix == PREFIX and all(parameter.name != AFTER.name for parameter in every)
        return (*every, AFTER) if waits else every

    def cost_of(self, query: Query) -> Cost:
        """Return the cost of an answer: rows far behind the first ones need a scan, whatever the route."""
        if self.whole is not None:  # its rows are found by number
            return self.cost
        is_far = query.get("offset", 0) >= MOST_ROWS or (query.get("page") or 1) * PAGE > MOST_ROWS
        is_scan = is_far or any(query.get(name) is not None for name in self.scanned_by)
        if is_scan:
            return Cost.SCAN
        is_part = self.cost is Cost.INDEX and any(query.get(name) == word for name, word in self.part_with)
        return Cost.PART if is_part else self.cost


ROWS_MEDIA: Mapping[str, str] = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
}  # by form, the media type of rows


def _pages(default: int, most: int) -> tuple[Parameter, ...]:
    limit = whole("limit", "how many rows", default, 1, most)
    return limit, whole("offset", "how many rows are left out before them", 0)


def _row_parameters(default: int, most: int) -> tuple[Parameter, ...]:
    form = choice("format", "the form of the rows; else that of the header Accept, or json", tuple(ROWS_MEDIA))
    return *_pages(default, most), form


_PAGES = _pages(PAGE, MOST_ROWS)
_ROWS = _row_parameters(PAGE, MOST_ROWS)
AFTER = whole("after", "wait until the answer follows from this entry, such as one that was just recorded; 10 s", None)
# An empty word, as forms and programs made of them send, asks for that, too.
POOL = text("pool", "name of the pool; the ledger's first one by default", read=lambda word: word or None)
AT = instant("at", "the state at the end of that day, month or year; by default after all that is recorded")
SINCE = instant("since", "not before that day, month or year")
UNTIL = instant("until", "not after that day, month or year")
POOLS = choice("pools", "the career in the pool alone, or in the player's other pools, too", ("one", "every"), "one")
_FORMAT = choice("format", "json, a page, or a picture", tuple(get_handlers.GRAPH_MEDIA), "json")
_THEME = choice("theme", "for light or dark pages; auto: as the reader has it", ("auto", "light", "dark"), "auto")
_GRAPH = (
    _FORMAT,
    SINCE,
    UNTIL,
    whole("page", "a page of 50 games, 1 the newest; by default the last 100 games", None, 1),
    whole("last", "so many of the last games, a multiple of 50", None, 50, 1_000),
    choice("by", "bars side by side, or on their days", ("game", "date"), "game"),
    text("against", "a second player, next to the first on their days: name, identity or number"),
    choice("opponents", "the opponents' ratings as small squares on top", YES, "no"),
    choice("mono", "in black and white: patterns alone distinguish results", YES, "no"),
    _THEME,
)
_EDITION = whole("edition", "edition of the list; the last one by default", None, 1)
_PLAYER = "/players/{player}"
_GAME = "/games/{game}"


def _rows(path: str, ask: Callable[[Ledger, Query], Any], form: type, *parameters: Parameter, **more: Any) -> Route:
    return Route(path=path, ask=ask, form=form, rows=True, parameters=parameters, **more)


def _one(
    path: str, ask: Callable[[Ledger, Query], Any], form: type | None, *parameters: Parameter, **more: Any
) -> Route:
    return Route(path=path, ask=ask, form=form, parameters=parameters, **more)


_q = get_handlers
ROUTES: tuple[Route, ...] = (
    _one("", _q.facts, public_view.LedgerFacts),
    _rows("/pools", _q.all_pools, pools.PoolRow),
    _rows("/eras", _q.all_eras, pools.EraRow),
    _rows("/schemes", _q.all_schemes, public_view.SchemeFacts),
    _rows(
        "/players",
        _q.some_players,
        searching.NamedPlayer,
        text("q", "a part of the name, three letters or more"),
        text("number", "a player's number; repeatable", many=True),
        text("identity", "a player's identity, such as fide:1503014; repeatable", many=True),
        scanned_by=("q",),
    ),
    _one(_PLAYER, _q.player, public_view.PlayerFacts, POOL, AT, of_today=True),
    _rows(f"{_PLAYER}/games", _q.games, player_games.PlayerGame, POOL, of_today=True),
    _rows(
        f"{_PLAYER}/history", _q.history, player_games.GraphPoint, POOL,
        cost=Cost.PART, whole=MOST_POINTS,
    ),
    _one(
        f"{_PLAYER}/graph", _q.graph, Page, POOL, *_GRAPH,
        of_today=True, media=tuple(get_handlers.GRAPH_MEDIA.values()),
    ),
    _one(
        f"{_PLAYER}/career", _q.career_of, Career, POOL, SINCE, UNTIL,
        POOLS, choice("marks", "tournaments and published numbers that would be others now, too", YES, "no"),
        _FORMAT, _THEME, cost=Cost.PART, of_today=True, media=tuple(get_handlers.GRAPH_MEDIA.values()),
    ),
    _one(
        f"{_PLAYER}/changes", _q.changes, public_view.ChangesInParts, POOL,
        instant("since", "the day, month or year since whose end"), *_PAGES,
        cost=Cost.PART, of_today=True,
    ),
    _one(
        f"{_PLAYER}/prediction", _q.prediction, predictions.Prediction, POOL, AT,
        text("opponent", "whom they would play: name, identity or number"),
        of_today=True,
    ),
    _rows(f"{_PLAYER}/best", _q.achievements, achievements.Achievement, POOL, AT, of_today=True),
    _rows(f"{_PLAYER}/streaks", _q.streaks_of, streaks.Streak, POOL, AT),
    _rows(f"{_PLAYER}/time-losses", _q.time_losses_of, time_losses.TimeLossWindow, POOL, AT, of_today=True),
    _rows(f"{_PLAYER}/opponents", _q.opponents_of, opponents.OpponentBatch, POOL, AT),
    _one(
        f"{_PLAYER}/lists/{{list}}/calculation", _q.calculation, list_calculations.ListCalculation, POOL, _EDITION,
        whole("limit", "how many of the newest games, periods or events that were rated together", PAGE, 1, MOST_ROWS),
        cost=Cost.SCAN, of_today=True,
    ),
    _rows(
        "/ranking", _q.ranking, rankings.RankingRow, POOL, AT,
        whole("min_games", "leave out who has fewer rated games", 1),
        whole("active", "leave out who has not played in so many days", None, 1, 100_000),
        *GROUP, of_today=True, scanned_by=("at", *GROUP_NAMES),
    ),
    _rows("/upsets", _q.largest_upsets, upsets.Upset, POOL, SINCE, UNTIL, cost=Cost.SCAN),
    _rows(
        "/tournaments", _q.tournaments, listing.TournamentRow, POOL, SINCE, UNTIL,
        text("part", "a part of the name"), cost=Cost.SCAN,
    ),
    _one(
        "/tournaments/{tournament}", _q.table, Crosstable, POOL, text("edition", "a year, month or day of it"),
        cost=Cost.PART,
    ),
    _rows("/lists", _q.lists, public_view.PublicList, POOL),
    _rows("/lists/{list}", _q.list_rows, publications.PublishedPlayerRow, _EDITION, cost=Cost.SCAN),
    _rows(
        "/corrections", _q.all_corrections, public_view.PublicCorrection,
        choice("state", "open ones alone, or all", ("open", "all"), "all"), cost=Cost.SCAN,
    ),
    _one("/corrections/{number}", _q.correction, public_view.PublicCorrection),
    _rows(
        "/games", _q.games_of_day, recorded_games.RecordedGame, POOL,
        instant("on", "the day, month or year in which they ended"),
        text("tournament", "the tournament"), text("round", "a round of it"), cost=Cost.SCAN,
    ),
    _one(_GAME, _q.game, recorded_games.RecordedGame),
    _one(f"{_GAME}/explanation", _q.explained, public_view.ExplainedSides),
    _rows(f"{_GAME}/log", _q.game_log, public_view.PublicLogEntry),
    _one(f"{_GAME}/board", _q.board, boards.FinalPosition),
    _one(f"{_GAME}/pgn", _q.pgn, None, media=("application/vnd.chess-pgn; charset=utf-8",)),
    _one(f"{_GAME}/receipt", _q.receipt, None, media=("text/plain; charset=utf-8",), of_checkpoints=True),
)  # fmt: skip
_NDJSON = ROWS_MEDIA["ndjson"]
ENTRIES = _one(
    "/entries", _q.entries, recorded_entries.RecordedEntry,
    whole("after", "position of the last entry that is known; 0: from the first one on", 0),
    whole("wait", "seconds to wait for the next entry, where there is none yet", 0, 0, limits.WAIT),
    whole("limit", "how many entries", PAGE, 1, MOST_ROWS),
    media=(_NDJSON,),
)  # fmt: skip
STREAM = _one(
    "/stream", _q.stream, recorded_entries.RecordedEntry,
    whole("after", "position of the last known entry, as Last-Event-ID; by default only new entries are sent", None),
    media=("text/event-stream; charset=utf-8",),
)  # fmt: skip
FEED = (ENTRIES, STREAM)  # streamed
