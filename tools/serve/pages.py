"""The pages that players know: a table as data, as ``routes`` is for programs. What each gathers is in ``…_pages``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ledger.ledger import Ledger

from . import event_pages, game_pages, number_pages, player_pages, site_pages
from .paging import AT, PAGE, POOL
from .parameters import GROUP, GROUP_NAMES, YES, Parameter, Query, choice, instant, text, whole
from .post_pictures import PNG
from .routes import POOLS, SINCE, UNTIL, Cost, Route
from .safety import AnswerKind
from .sites import Site

_HTML = ("text/html; charset=utf-8",)
_BY = choice("by", "bars side by side, or on their days", ("game", "date"), "game")
_LAST = whole("last", "so many of the last games, a multiple of 50", None, 50, 200)
_OPPONENTS = choice("opponents", "the opponents' ratings as small squares on top", YES, "no")
_MONO = choice("mono", "in black and white: patterns alone distinguish results", YES, "no")
_EDITION = whole("edition", "edition of the list; the last one by default", None, 1)
_MOVE = whole("move", "the position after so many half-moves; by default after the last one", None, 0, 10_000)
_PLAYER = "/players/{player}"


def _page(path: str, ask: Callable[[Ledger, Query], Any], template: str, *parameters: Parameter, **more: Any) -> Route:
    settings = {"guard": AnswerKind.PAGE, "media": _HTML, **more}
    return Route(path=path, ask=ask, form=None, template=template, parameters=parameters, prefix="", **settings)


ROUTES: tuple[Route, ...] = (
    _page("/", site_pages.start, "start.html", cost=Cost.PART, of_today=True),
    _page(
        "/search", site_pages.search, "search.html", text("q", "a name, a part of one, or a number"), PAGE,
        cost=Cost.SCAN,
    ),
    _page(
        "/ranking", site_pages.ranking, "ranking.html", POOL, AT, PAGE,
        whole("min_games", "leave out who has fewer rated games", 1),
        whole("active", "leave out who has not played in so many days", None, 1, 100_000),
        choice("provisional", "players whose rating is provisional, too", YES, "no"),
        *GROUP, of_today=True, scanned_by=("at", *GROUP_NAMES),
    ),
    _page(
        _PLAYER, player_pages.player, "player.html", POOL, AT,
        choice("by", "bars side by side, on their days, or a line of all games", ("game", "date", "career"), "game"),
        _LAST, _OPPONENTS, _MONO,
        whole("page", "a page of 50 games, 1 the newest; by default the last 50 games", None, 1),
        SINCE, UNTIL,
        POOLS,
        text("against", "a second player, next to the first on their days: name, identity or number"),
        of_today=True, part_with=(("by", "career"),),
    ),
    _page(
        f"{_PLAYER}/games", player_pages.games, "games.html", POOL, PAGE,
        choice("everything", "games that do not count, too", YES, "no"), of_today=True,
    ),
    _page(
        f"{_PLAYER}/lists/{{list}}", number_pages.number, "number.html", POOL, cost=Cost.SCAN, of_today=True,
        of_checkpoints=True,
    ),
    _page(
        f"{_PLAYER}/lists/{{list}}/calculation", number_pages.calculation, "calculation.html", POOL, cost=Cost.SCAN,
        of_today=True,
    ),
    _page(
        f"{_PLAYER}/statistics", player_pages.statistics, "statistics.html", POOL, AT, PAGE,
        cost=Cost.PART, of_today=True,
    ),
    _page(
        f"{_PLAYER}/changes", player_pages.changes, "changes.html", POOL, PAGE,
        instant("since", "the day, month or year since whose end"), cost=Cost.PART, of_today=True,
    ),
    _page(
        f"{_PLAYER}/prediction", player_pages.prediction, "prediction.html", POOL, AT,
        text("opponent", "whom they would play: name, identity or number"), of_today=True,
    ),
    _page(
        "/embed/players/{player}", player_pages.embedded, "embedded.html", POOL, _BY, _LAST, _OPPONENTS, _MONO,
        of_today=True, guard=AnswerKind.EMBEDDED,
    ),
    _page("/games/{game:path}", game_pages.game, "game.html", _MOVE, of_checkpoints=True),
    Route(
        path="/boards/{game:path}", ask=game_pages.picture, form=None, prefix="", media=(game_pages.SVG,),
        parameters=(choice("flipped", "Black below", YES, "no"), _MOVE),
    ),
    Route(
        path="/pictures/players/{player}", ask=player_pages.post_picture, form=None, prefix="", media=(PNG,),
        parameters=(POOL,), cost=Cost.PART, of_today=True,
    ),
    Route(
        path="/pictures/games/{game:path}", ask=game_pages.post_picture, form=None, prefix="", media=(PNG,),
        parameters=(_MOVE,), cost=Cost.PART,
    ),
    _page(
        "/tournaments", event_pages.tournaments, "tournaments.html", POOL, SINCE, UNTIL, PAGE,
        text("part", "a part of the name"), cost=Cost.SCAN,
    ),
    _page(
        "/tournaments/{tournament}", event_pages.table, "crosstable.html", POOL, PAGE,
        text("edition", "a year, month or day of it"),
        whole("player", "number of a player whose games are listed", None, 1), cost=Cost.PART,
    ),
    _page("/upsets", event_pages.largest_upsets, "upsets.html", POOL, SINCE, UNTIL, PAGE, cost=Cost.SCAN),
    _page("/lists", event_pages.lists, "lists.html", PAGE),
    _page("/lists/{list}", event_pages.one_list, "list.html", _EDITION, PAGE, cost=Cost.SCAN),
    _page(
        "/lists/{list}/changes", event_pages.list_changes, "list_changes.html", _EDITION, PAGE,
        text("since", "another list of the pool, or now; the one before by default"), cost=Cost.SCAN,
    ),
    _page(
        "/corrections", event_pages.corrections, "corrections.html", PAGE,
        choice("state", "open ones alone, or all", ("open", "all"), "all"), cost=Cost.SCAN,
    ),
    _page("/corrections/{number}", event_pages.correction, "correction.html"),
    _page("/schemes", site_pages.all_schemes, "schemes.html"),
    _page("/check", site_pages.check, "check.html", of_checkpoints=True),
    _page("/api", site_pages.programs, "api.html"),
)  # fmt: skip


def robots(site: Site) -> str:
    """Return the rules for search engines."""
    rule = "Allow: /" if site.index else "Disallow: /"
    return f"User-agent: *\n{rule}\n"
