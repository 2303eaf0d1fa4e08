"""Pages about the site as a whole: start, search, ranking, schemes, how to check us, the addresses for programs."""

from __future__ import annotations

import attrs

from ledger import schemes
from ledger.answers import news, pools, rankings, searching
from ledger.answers.asking import Naming, current_naming
from ledger.errors import MalformedError, StorageError, UnknownNameError
from ledger.journal.stored_lists import shared_ranks
from ledger.ledger import Ledger

from . import event_pages, game_pages, get_handlers, public_view, routes
from . import page_data as forms
from .get_handlers import Redirection
from .paging import paged, pool_names, up_to
from .parameters import Query
from .post_routes import IMPORT, IMPORT_DOC, OF_A_JOB, OF_A_JOB_DOC, POSTS
from .public_view import SchemeFacts

LEADERS, NEWS = 10, 6  # rows on the start page
MOST_LOOKED_AT = 20_000  # players of a ranking among whom the established ones are sought


def start(ledger: Ledger, _: Query) -> forms.StartPage:
    """Return the news, and where to look."""
    shown = []
    for pool in pools.pools(ledger):
        choice = rankings.RankingChoice(pool=pool.pool, limit=LEADERS)
        leaders = _established(ledger, choice)[0][:LEADERS] if pool.rated_games else []
        latest = news.news(ledger, pool.pool, rated_games=pool.rated_games)
        shown.append(forms.PoolShown(pool=pool, leaders=leaders, news=latest))
    newest = {"state": "all", "offset": 0, "limit": NEWS - 1}
    return forms.StartPage(
        pools=shown,
        lists=get_handlers.lists(ledger, {"pool": None})[:NEWS],
        corrections=event_pages.correction_cards(ledger, newest).rows,
    )


def search(ledger: Ledger, query: Query) -> forms.SearchPage | Redirection:
    """Players by a part of the name; a number, or the key of a game, leads there."""
    word = (query["q"] or "").strip()
    players: list[searching.NamedPlayer] = []
    hint = None
    if word:
        if (there := _meant(ledger, word)) is not None:
            return there
        try:
            if current_naming() is Naming.FULL:
                players = searching.find_players(ledger, word, limit=up_to(query))
            else:
                person = get_handlers.player_asked(ledger, word)
                return Redirection("/players/{}", (person.player,), for_good=False)
        except (MalformedError, UnknownNameError) as error:
            hint = str(error)
    rows, paging = paged(query, players)
    return forms.SearchPage(q=word or None, players=rows, paging=paging, hint=hint)


def _meant(ledger: Ledger, word: str) -> Redirection | None:
    """Where a number of a player, or the key of a game, leads."""
    try:
        if word.isdecimal():
            return Redirection("/players/{}", (ledger.player(word).player,), for_good=False)
        if ":" in word or "/" in word or word.startswith("#"):
            return game_pages.moved(get_handlers.game(ledger, {"game": word}))
    except UnknownNameError:
        pass
    return None


def ranking(ledger: Ledger, query: Query) -> forms.RankingPage:
    """Return the ranking of a pool, now or on a day."""
    choice = rankings.RankingChoice(
        pool=query["pool"],
        limit=up_to(query),
        min_games=query["min_games"],
        at=query["at"],
        active_days=query["active"],
        group=get_handlers.group_of(query),
    )
    every, is_everybody = _established(ledger, choice, with_provisional=query["provisional"] == "yes")
    rows, paging = paged(query, every)
    return forms.RankingPage(
        pools=pool_names(ledger),
        pool=ledger.pool(query["pool"]).name,
        has_classes=rankings.has_classes(ledger, ledger.pool(query["pool"]).name),
        at=query["at"],
        active=query["active"],
        group=choice.group,
        min_games=query["min_games"],
        provisional=query["provisional"] == "yes",
        is_everybody=is_everybody,
        rows=rows,
        paging=paging,
    )


def _established(
    ledger: Ledger, choice: rankings.RankingChoice, *, with_provisional: bool = False
) -> tuple[list[rankings.RankingRow], bool]:
    """Return the best players without those whose rating is provisional, in places of their own.

    If nobody is established, as in a new club, everybody is returned.

    Returns:
        The rows, and whether provisional players are among them.
    """
    limit = choice.limit
    while True:
        rows = rankings.ranking(ledger, attrs.evolve(choice, limit=limit))
        if with_provisional:
            return rows, True
        established = [row for row in rows if row.details is not None and not row.details.provisional]
        if len(established) >= choice.limit or len(rows) < limit or limit >= MOST_LOOKED_AT:
            break
        limit *= 4
    if not established:
        return rows[: choice.limit], True
    ranks = shared_ranks([row.rating for row in established])
    return [attrs.evolve(row, rank=rank) for row, rank in zip(established, ranks, strict=True)], False


def all_schemes(ledger: Ledger, _: Query) -> forms.SchemesPage:
    """Return which scheme rates each pool since when, with every setting and its publisher."""
    facts = {each.scheme: each for each in get_handlers.all_schemes(ledger, {})}
    eras = [_era(era, facts.get(era.scheme)) for era in pools.scheme_periods(ledger)]
    in_use = {shown.era.scheme for shown in eras}
    return forms.SchemesPage(eras=eras, others=[each for name, each in facts.items() if name not in in_use])


def _era(era: pools.EraRow, facts: SchemeFacts | None) -> forms.EraShown:
    settings = []
    if facts is not None:
        settings = [
            forms.SettingShown(
                name=field.name,
                value=era.settings.get(field.name, field.default),
                is_chosen=field.name in era.settings,
                unit=field.metadata["unit"],
                meaning=field.metadata["doc"],
                source=field.metadata["source"],
            )
            for field in attrs.fields(schemes.find_scheme(era.scheme).settings)
        ]
    return forms.EraShown(era=era, facts=facts, settings=settings)


def check(ledger: Ledger, _: Query) -> forms.CheckPage:
    """Return how a stranger recomputes the ratings: the last checkpoint, the key, receipts, the complete log."""
    try:
        last, cosigned = ledger.checkpoints.last(), ledger.checkpoints.cosigned()
    except StorageError:
        last = cosigned = None
    return forms.CheckPage(
        checkpoint=None if last is None else last.note,
        size=None if last is None else last.head.size,
        root=None if last is None else last.head.root.hex(),
        cosigned=None if cosigned is None else cosigned.head.size,
        position=ledger.views.position(),
        lists=_checkable_lists(ledger),
    )


def _checkable_lists(ledger: Ledger) -> list[public_view.PublicList]:
    """Return the newest list of each pool, if strangers can check it."""
    newest: dict[str, public_view.PublicList] = {}
    for each in get_handlers.lists(ledger, {"pool": None}):  # the newest first
        newest.setdefault(each.pool, each)
    return [each for each in newest.values() if event_pages.is_checkable(ledger, each)]


def programs(_: Ledger, __: Query) -> forms.ApiPage:
    """Return every address for programs, with its parameters."""
    addresses = [
        forms.ApiAddress(
            path=f"{route.prefix}{route.path}",
            doc=route.doc,
            cost=route.cost.value,
            parameters=[(parameter.name, parameter.doc) for parameter in route.every_parameter],
        )
        for route in (*routes.ROUTES, *routes.FEED)
    ]
    rows = [(post.path, post.doc, post.needs) for post in POSTS]
    rows += [(IMPORT, IMPORT_DOC, "recorder"), (OF_A_JOB, OF_A_JOB_DOC, "any")]
    recording = [forms.ApiRecording(path=f"{routes.PREFIX}{path}", doc=doc, role=role) for path, doc, role in rows]
    return forms.ApiPage(addresses=addresses, recording=recording, prefix=routes.PREFIX)
