"""Pages about one player: then and now with the graph, games, statistics, why the rating changed, predictions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from ledger.answers import (
    achievements,
    opponents,
    player_games,
    players,
    predictions,
    rankings,
    streaks,
    time_losses,
    titles,
    upsets,
)
from ledger.answers.asking import display_name, shown_identity
from ledger.answers.graphs import page_reader as graph_pages
from ledger.answers.graphs.career import Career, career
from ledger.errors import UnknownNameError
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.periods import DAY_MS
from ledger.ledger import Ledger
from ledger.players.persons import Person

from . import get_handlers, post_pictures
from . import page_data as forms
from .get_handlers import FileAnswer, Redirection
from .paging import before, paged, up_to
from .parameters import Query

Shown = TypeVar("Shown")
Ask: TypeAlias = Callable[[Ledger, Query], Shown | Redirection]
BATCHES = 40  # of 50 games, on a page
UPSETS = 20
SHOWN = 50  # games of a graph, unless the reader asks for more
LATEST = 6  # games on the player's own page
TREND_DAYS = 90
MOST_GAMES = 2_000  # newest games among which those of a change are looked up
MOST_IN_RANGE = 200  # newest games of a range
MOST_BESIDE = 200  # games of a second player in a graph


def of_player(path: str) -> Callable[[Callable[[Ledger, Person, forms.PlayerHead, Query], Shown]], Ask[Shown]]:
    """Return a page about a player: asked for under another number or by a word, it is elsewhere.

    Args:
        path: of the page, with ``{}`` for the number.
    """

    def made(ask: Callable[[Ledger, Person, forms.PlayerHead, Query], Shown]) -> Ask[Shown]:
        @wraps(ask)
        def asking(ledger: Ledger, query: Query) -> Shown | Redirection:
            word = query["player"]
            person = get_handlers.player_asked(ledger, word)
            if word != str(person.player):
                # A merge may be taken apart and a name be another one's tomorrow, but browsers ask again: see ETag.
                rest = {name: value for name, value in query.items() if name != "player" and _is_told(name, value)}
                parts = (person.player,) if path.count("{}") == 1 else (person.player, rest.pop("list"))
                return Redirection(path, parts, word.isdecimal(), rest)
            return ask(ledger, person, _head(ledger, person, query["pool"]), query)

        return asking

    return made


def _is_told(name: str, value: object) -> bool:
    defaults: dict[str, object] = {"page": None, "by": "game", "opponents": "no", "mono": "no", "everything": "no"}
    defaults |= {"pools": "one"}
    return value not in (None, defaults.get(name)) and not (name == "page" and value == 1)


def _head(ledger: Ledger, person: Person, pool: str | None) -> forms.PlayerHead:
    rated_in = [each.name for each in ledger.pools() if get_handlers.is_rated(ledger, person, each.name)]
    name = ledger.pool(pool).name if pool is not None or not rated_in else rated_in[0]
    return forms.PlayerHead(
        player=person.player,
        name=display_name(person),
        identity=shown_identity(person.identity),
        pool=name,
        pools=rated_in,
        first_pool=rated_in[0] if rated_in else name,
        ledgers_pool=ledger.first_pool(),
        is_rated=name in rated_in,
        has_classes=rankings.has_classes(ledger, name),
    )


@of_player("/players/{}")
def player(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> forms.PlayerPage:
    """Return a player, then and now, with the rating graph."""
    summary = players.summary(ledger, person, head.pool, query["at"]) if head.is_rated else None
    is_played = summary is not None and summary.results.games > 0
    is_career = query["by"] == "career"
    is_part = is_career and (query["since"] or query["until"] or query["pools"] == "every")
    whole = career(ledger, person, head.pool, marks=is_career and not is_part) if is_played else None
    span = {} if query["page"] is not None else {"since": query["since"], "until": query["until"] or query["at"]}
    graph = _graph(ledger, person, head, query, **span) if head.is_rated else None
    is_range_empty = is_played and graph is not None and not graph.player.bars
    return forms.PlayerPage(
        head=head,
        title=titles.held_title(ledger, person, head.pool) if head.is_rated else None,
        strength=None if head.is_rated else rankings.chosen_strength(ledger, head.pool, person.player),
        summary=summary,
        trend=_trend(ledger, person, head.pool, summary),
        latest=player_games.games(ledger, person, head.pool, last=LATEST) if is_played else [],
        graph=_graph(ledger, person, head, query) if is_range_empty else graph,
        career=_part_of_career(ledger, person, head, query) if is_part and is_played else whole,
        highest=None if whole is None or head.has_classes else whole.highest,
        is_career=is_career,
        every_pool=query["pools"] == "every",
        since=query["since"],
        until=query["until"],
        years=[f"{year.year:04}" for year in whole.years] if is_career and whole is not None else [],
        is_range_empty=is_range_empty,
        at=query["at"],
        last=query["last"],
        against=query["against"],
        opponents=query["opponents"] == "yes",
        mono=query["mono"] == "yes",
    )


def _trend(ledger: Ledger, person: Person, pool: str, summary: players.PlayerSummary | None) -> forms.Trend | None:
    """Return the change in the days up to the last game; None if there was no rating in force before them."""
    if summary is None or summary.rating_now is None or summary.results.last_game is None:
        return None
    since_ms = instant_ms(summary.results.last_game) - TREND_DAYS * DAY_MS
    before = ledger.states(ledger.pool(pool)).at(person.player, since_ms).in_force
    if before is None:
        return None
    return forms.Trend(since=instant_text(since_ms, Precision.DAY), days=TREND_DAYS, change=summary.rating_now - before)


def _part_of_career(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> Career:
    """Return a range of a player's career, or that of every pool, with its marks."""
    span = {"since": query["since"], "until": query["until"]}
    return career(ledger, person, head.pool, every_pool=query["pools"] == "every", **span)


@of_player("/pictures/players/{}")
def post_picture(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> FileAnswer:  # noqa: ARG001
    """Return a player's rating and career as a picture for posts."""
    get_handlers.with_png("png")
    summary = players.summary(ledger, person, head.pool)
    return post_pictures.file(post_pictures.player_post(career(ledger, person, head.pool, marks=False), summary))


def _graph(
    ledger: Ledger,
    person: Person,
    head: forms.PlayerHead,
    query: Query,
    since: str | None = None,
    until: str | None = None,
) -> Any:
    against = None if query["against"] is None else get_handlers.player_asked(ledger, query["against"])
    return graph_pages.read_page(
        ledger,
        person,
        head.pool,
        number=query["page"],
        last=None if query["page"] is not None else query["last"] or (SHOWN if since is None else MOST_IN_RANGE),
        since=since,
        until=until,
        by="date" if against is not None or query["by"] == "date" else "game",
        against=against,
        second_player_limit=MOST_BESIDE,
    )


@of_player("/embed/players/{}")
def embedded(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> forms.PlayerPage:
    """Return a player's rating and graph, for the page of another site."""
    return forms.PlayerPage(
        head=head,
        title=None,
        strength=None,
        summary=players.summary(ledger, person, head.pool) if head.is_rated else None,
        trend=None,
        latest=[],
        graph=_graph(ledger, person, head, {**query, "page": None, "against": None}) if head.is_rated else None,
        career=None,
        highest=None,
        is_career=False,
        every_pool=False,
        since=None,
        until=None,
        years=[],
        is_range_empty=False,
        at=None,
        last=query["last"],
        against=None,
        opponents=query["opponents"] == "yes",
        mono=query["mono"] == "yes",
    )


@of_player("/players/{}/games")
def games(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> forms.GamesPage:
    """Return a player's games, newest first."""
    everything = query["everything"] == "yes"
    rows: list[player_games.PlayerGame] = []
    if head.is_rated or everything:
        try:
            rows = player_games.games(
                ledger, person, head.pool, last=up_to(query), offset=before(query), everything=everything
            )
        except UnknownNameError:  # no game at all
            rows = []
    on_page, paging = paged(query, rows, left_out=before(query))
    return forms.GamesPage(head=head, everything=everything, games=on_page, paging=paging)


@of_player("/players/{}/statistics")
def statistics(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> forms.StatisticsPage:
    """Return a player's statistics: by batches of 50, colour and strength, the best, streaks, time losses, upsets."""
    at, where = query["at"], (ledger, person, head.pool)

    def rows(ask: Callable[[], list[Any]]) -> list[Any]:
        return ask() if head.is_rated else []

    batches, paging = paged(query, rows(lambda: opponents.statistics_by_batch(*where, at=at)), BATCHES)
    return forms.StatisticsPage(
        head=head,
        at=at,
        batches=batches,
        paging=paging,
        colours=rows(lambda: opponents.statistics_by_colour(*where, at=at)),
        strengths=rows(lambda: opponents.statistics_by_strength(*where, at=at)),
        achievements=rows(lambda: achievements.achievements(*where, at)),
        streaks=rows(lambda: streaks.streaks(*where, at)),
        time_losses=rows(lambda: time_losses.time_loss_windows(*where, at)),
        upsets=rows(lambda: upsets.upsets(ledger, head.pool, person=person, until=at, limit=UPSETS)),
    )


@of_player("/players/{}/changes")
def changes(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> forms.ChangesPage:
    """Return why a player's rating changed since a day."""
    made = None
    if query["since"] is not None and head.is_rated:
        made = get_handlers.changes_since(ledger, person, query["since"], head.pool)
    parts, paging = paged(query, [] if made is None else made.parts)
    games = player_games.games(ledger, person, head.pool, last=MOST_GAMES) if any(part.games for part in parts) else []
    by_key = {game.game: game for game in games}
    with_games = [(part, by_key.get(part.games[0]) if len(part.games) == 1 else None) for part in parts]
    return forms.ChangesPage(head=head, since=query["since"], changes=made, parts=with_games, paging=paging)


@of_player("/players/{}/prediction")
def prediction(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> forms.PredictionPage:
    """Return what a win, a draw and a loss against an opponent would bring."""
    brings, met, opponent = None, None, None
    if query["opponent"] is not None:
        other = get_handlers.player_asked(ledger, query["opponent"])
        opponent = other.player
        brings = predictions.predict(ledger, person, other, head.pool, query["at"])
        if head.is_rated:
            try:
                met = opponents.results_against(ledger, person, other, head.pool)
            except UnknownNameError:  # they have never met
                met = None
    return forms.PredictionPage(
        head=head, at=query["at"], query=query["opponent"], opponent=opponent, prediction=brings, met=met
    )
