"""The handlers of GET: one for each address. No rule and no SQL: they choose what is public, and compute nothing.

Each function takes a ledger, within one read snapshot, and the query by name of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import attrs
import orjson

from ledger import schemes
from ledger.answers import achievements as player_achievements
from ledger.answers import (
    boards,
    corrections,
    explanations,
    list_calculations,
    opponents,
    player_games,
    players,
    pools,
    predictions,
    publications,
    rankings,
    rating_changes,
    recorded_entries,
    recorded_games,
    searching,
    streaks,
    time_losses,
    upsets,
)
from ledger.answers.asking import Naming, current_naming, names, shown_identity
from ledger.answers.crosstables import crosstable, listing
from ledger.answers.crosstables.crosstable import TableOptions
from ledger.answers.game_pgn import game_pgn
from ledger.answers.graphs import career_documents, json_form, page_reader, png
from ledger.answers.graphs.career import career
from ledger.answers.graphs.documents import render_page
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.player_details import PlayerGroup
from ledger.answers.read_models import last_game_row
from ledger.answers.rows import as_rows
from ledger.audit.receipts import make_receipt
from ledger.correcting.corrections import ProposalDetails
from ledger.errors import MalformedError, UnknownNameError
from ledger.journal.game_references import find_game
from ledger.ledger import Ledger

from . import public_view

if TYPE_CHECKING:
    from ledger.players.persons import Person

    from .parameters import Query

Form = TypeVar("Form", bound=attrs.AttrsInstance)
PROGRAM = version("rating-ledger")
MOST_PLAYERS = 100  # that are looked up in one question


GRAPH_MEDIA: Mapping[str, str] = {
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
}  # by format


class FileAnswer(NamedTuple):
    """An answer that is a file.

    Attributes:
        content: its bytes.
        media: its media type.
        following: the additional words that ask for the next rows; None: there are none.
    """

    content: bytes
    media: str
    following: Mapping[str, Any] | None = None


class Paged(NamedTuple):
    """One thing that comes in pages.

    Attributes:
        answer: with a field ``next``, into which goes where the next page is.
        following: the additional words that ask for it; None: this is the last one.
    """

    answer: Any
    following: Mapping[str, Any] | None


class Part(NamedTuple):
    """Rows of which the first ones were not worked out.

    Attributes:
        rows: the others, up to the end of the page, and one more.
        before: how many were left out.
    """

    rows: list[Any]
    before: int


LONGEST_NUMBER = 15  # digits of a number in an address


class Redirection(NamedTuple):
    """An answer that is elsewhere.

    Attributes:
        path: of the page within the site, with ``{}`` for each of the parts.
        parts: of that page.
        for_good: whether it stays there.
        query: the parameters, by name.
    """

    path: str
    parts: tuple[object, ...]
    for_good: bool
    query: Mapping[str, object] = MappingProxyType({})


def _most(query: Query) -> int:
    """Return how many rows to compute: those of the page and one more, which tells whether there is a next page."""
    return int(query["offset"] + query["limit"] + 1)


def without_officers(form: type[Form], answer: attrs.AttrsInstance) -> Form:
    """Return the fields of an answer that its public form has."""
    return form(**{field.name: getattr(answer, field.name) for field in attrs.fields(form)})


# -- the ledger ------------------------------------------------------------------------------------------------------


def facts(ledger: Ledger, _: Query) -> public_view.LedgerFacts:
    """Return the position of the answers, and the pools."""
    every = [pool.name for pool in ledger.pools()]
    return public_view.LedgerFacts(position=ledger.views.position(), alarm=None, program=PROGRAM, pools=every)


def all_pools(ledger: Ledger, _: Query) -> list[pools.PoolRow]:
    """Return every pool."""
    return pools.pools(ledger)


def all_eras(ledger: Ledger, _: Query) -> list[pools.EraRow]:
    """Return which scheme rates each pool since when."""
    return pools.scheme_periods(ledger)


def all_schemes(_: Ledger, __: Query) -> list[public_view.SchemeFacts]:
    """Return every scheme that is installed here."""
    return [
        public_view.SchemeFacts(
            scheme=name,
            rates=f"by {scheme.rhythm.value}",
            title=scheme.title,
            source=scheme.source,
            version=scheme.version,
        )
        for name, scheme in sorted(schemes.available_schemes().items())
    ]


# -- players -------------------------------------------------------------------------------------------------------


def some_players(ledger: Ledger, query: Query) -> list[searching.NamedPlayer]:
    """Players by a part of the name, or by numbers and identities."""
    words = [*query["number"], *query["identity"]]
    if (query["q"] is None) == (not words):
        raise MalformedError(["give q, or number and identity, which may be repeated"])
    if query["q"] is not None:
        if current_naming() is not Naming.FULL:
            raise MalformedError(["q: players are not sought by a part of the name here; give number or identity"])
        return searching.find_players(ledger, query["q"], limit=_most(query))
    if len(words) > MOST_PLAYERS:
        raise MalformedError([f"at most {MOST_PLAYERS} players at once, got {len(words)}"])
    people = [player_asked(ledger, word) for word in words]
    called = names(ledger, {person.player for person in people})
    return [
        searching.NamedPlayer(
            player=person.player, name=called[person.player], identity=shown_identity(person.identity)
        )
        for person in people
    ]


def player(ledger: Ledger, query: Query) -> public_view.PlayerFacts:
    """Return one player in one pool."""
    person, pool = player_asked(ledger, query["player"]), ledger.pool(query["pool"])
    rated = is_rated(ledger, person, pool.name)
    summary = players.summary(ledger, person, pool.name, query["at"]) if rated else None
    return public_view.PlayerFacts(
        player=person.player,
        name=names(ledger, {person.player})[person.player],
        identity=shown_identity(person.identity),
        pool=pool.name,
        summary=summary,
    )


def player_asked(ledger: Ledger, word: str | int) -> Person:
    """Return the player that is meant by a number, an identity or a whole name.

    If names are not shown in full, no client may learn one by trying: players are not named by near ones there, and
    where numbers alone are shown, they go by these alone.
    """
    rule = current_naming()
    if rule is Naming.FULL or str(word).isdecimal():
        return ledger.player(word)
    hint = "players go by their numbers here"
    if rule is Naming.INITIALS:
        with suppress(UnknownNameError):
            return ledger.player(word)
        hint = "give the whole name of one player, or a number"
    raise UnknownNameError("player", str(word), hint)


def is_rated(ledger: Ledger, person: Person, pool: str | None) -> bool:
    """Return whether the player has a rated game in the pool, or the rating of a list."""
    try:
        last_game_row(ledger, person, ledger.pool(pool))
    except UnknownNameError:
        return False
    return True


def of_rated(ask: Callable[[Ledger, Person, Query], list[Any] | Part]) -> Callable[[Ledger, Query], list[Any] | Part]:
    """Rows about one player; none for who has no rating yet."""

    def asking(ledger: Ledger, query: Query) -> list[Any] | Part:
        ledger.pool(query["pool"])  # an unknown pool is a fault, not an empty answer
        person = player_asked(ledger, query["player"])
        return ask(ledger, person, query) if is_rated(ledger, person, query["pool"]) else []

    asking.__doc__ = ask.__doc__
    return asking


def calculation(ledger: Ledger, query: Query) -> list_calculations.ListCalculation:
    """Return how a player's rating on a list was calculated, game by game; the list may be a day or month, too."""
    return calculation_of(
        ledger, player_asked(ledger, query["player"]), list_name(query), query["pool"], query["limit"]
    )


def calculation_of(
    ledger: Ledger, person: Person, listed: str, pool: str | None, most: int
) -> list_calculations.ListCalculation:
    """Return the calculation as strangers see it: without the reasons of corrections."""
    answer = list_calculations.list_calculation(ledger, person, listed, pool, most=most)
    return attrs.evolve(answer, left_out=[attrs.evolve(game, why=None) for game in answer.left_out])


@of_rated
def games(ledger: Ledger, person: Person, query: Query) -> Part:
    """Return a player's rated games, newest first."""
    before = query["offset"]
    return Part(player_games.games(ledger, person, query["pool"], last=_most(query), offset=before), before)


@of_rated
def history(ledger: Ledger, person: Person, query: Query) -> Part:
    """Return a player's whole rating history, oldest first: the rating after each rated game or its period."""
    first, before = query["limit"] + 1, query["offset"]
    return Part(player_games.graph_points(ledger, person, query["pool"], first=first, offset=before), before)


@of_rated
def achievements(ledger: Ledger, person: Person, query: Query) -> list[player_achievements.Achievement]:
    """Highest and lowest ratings, best wins and worst losses."""
    return player_achievements.achievements(ledger, person, query["pool"], query["at"])


@of_rated
def streaks_of(ledger: Ledger, person: Person, query: Query) -> list[streaks.Streak]:
    """Winning, unbeaten and losing streaks."""
    return streaks.streaks(ledger, person, query["pool"], query["at"])


@of_rated
def time_losses_of(ledger: Ledger, person: Person, query: Query) -> list[time_losses.TimeLossWindow]:
    """Losses on time."""
    return time_losses.time_loss_windows(ledger, person, query["pool"], query["at"])


@of_rated
def opponents_of(ledger: Ledger, person: Person, query: Query) -> list[opponents.OpponentBatch]:
    """Results and opponents by batches of 50 games."""
    return opponents.statistics_by_batch(ledger, person, query["pool"], at=query["at"])


def changes(ledger: Ledger, query: Query) -> Paged:
    """Return what made the difference between a rating then and now."""
    if query["since"] is None:
        raise MalformedError(["since: give a day, month or year"])
    made = changes_since(ledger, player_asked(ledger, query["player"]), query["since"], query["pool"])
    until, count = query["offset"] + query["limit"], len(made.parts)
    shown_now = attrs.evolve(made, parts=made.parts[query["offset"] : until])
    following = {"offset": until} if until < count else None
    return Paged(public_view.ChangesInParts(changes=shown_now, count=count, next=None), following)


def changes_since(ledger: Ledger, person: Person, since: str, pool: str | None) -> rating_changes.RatingChanges:
    """Return the same of a player, since the end of a day, month or year."""
    # To the library a bare number is so many entries, of which it makes views: here it is a year, as all instants are.
    instant = f"{since}-12-31" if since.isdecimal() else since
    return attrs.evolve(rating_changes.changes(ledger, person, instant, pool), since=since)


def prediction(ledger: Ledger, query: Query) -> predictions.Prediction:
    """Return what a win, a draw and a loss against an opponent would bring."""
    if query["opponent"] is None:
        raise MalformedError(["opponent: give a name, an identity or a number"])
    both = player_asked(ledger, query["player"]), player_asked(ledger, query["opponent"])
    return predictions.predict(ledger, *both, query["pool"], query["at"])


def graph(ledger: Ledger, query: Query) -> Any:
    """Return the rating graph of a player: as data, or as a picture."""
    against = None if query["against"] is None else player_asked(ledger, query["against"])
    kind = with_png(query["format"])
    page = page_reader.read_page(
        ledger,
        player_asked(ledger, query["player"]),
        query["pool"],
        number=query["page"],
        last=query["last"],
        by="date" if against is not None else query["by"],
        against=against,
        boards=kind == "html",
        since=query["since"],
        until=query["until"],
    )
    look = Look(query["opponents"] == "yes", query["mono"] == "yes", Theme(query["theme"]))
    return FileAnswer(render_page(page, kind, look), GRAPH_MEDIA[kind])


def career_of(ledger: Ledger, query: Query) -> Any:
    """Return all rated games of a player as one line, oldest first, thinned so that peaks survive."""
    kind = with_png(query["format"])
    drawn = career(
        ledger,
        player_asked(ledger, query["player"]),
        query["pool"],
        since=query["since"],
        until=query["until"],
        every_pool=query["pools"] == "every",
        marks=query["marks"] == "yes",
    )
    return FileAnswer(career_documents.document(drawn, kind, Theme(query["theme"])), GRAPH_MEDIA[kind])


def with_png(kind: str) -> str:
    """Return a format if it can be made here: PNG needs a program that a server need not have."""
    if kind == "png" and not png.is_available():
        raise MalformedError(["format: this server draws no PNG; ask for svg"])
    return kind


# -- rankings, tournaments, lists --------------------------------------------------------------------------------------


def group_of(query: Query) -> PlayerGroup:
    """Return the group of players that a query asks for."""
    return PlayerGroup(
        federation=query["federation"],
        club=query["club"],
        women=query["women"] == "yes",
        juniors=query["juniors"],
        seniors=query["seniors"],
        listed_active=query["listed_active"] == "yes",
    )


def ranking(ledger: Ledger, query: Query) -> Part:
    """Return the ranking of a pool, now or on a day."""
    choice = rankings.RankingChoice(
        pool=query["pool"],
        limit=_most(query),
        offset=query["offset"],
        min_games=query["min_games"],
        at=query["at"],
        active_days=query["active"],
        group=group_of(query),
    )
    return Part(rankings.ranking(ledger, choice, details=False), query["offset"])


def largest_upsets(ledger: Ledger, query: Query) -> list[upsets.Upset]:
    """Wins against much higher ratings, the largest first."""
    return upsets.upsets(ledger, query["pool"], since=query["since"], until=query["until"], limit=_most(query))


def tournaments(ledger: Ledger, query: Query) -> Part:
    """Return the tournaments of a pool, the latest first."""
    sought = listing.TournamentSearch(
        since=query["since"],
        until=query["until"],
        text=query["part"],
        limit=_most(query),
        offset=query["offset"],
    )
    return Part(listing.tournaments(ledger, query["pool"], sought), query["offset"])


def table(ledger: Ledger, query: Query) -> FileAnswer:
    """Return the cross-table of a tournament."""
    choice = TableOptions(edition=query["edition"])
    page = crosstable.crosstable(ledger, query["tournament"], query["pool"], choice)
    return FileAnswer(json_form.dump_json(attrs.asdict(page)), "application/json")


def lists(ledger: Ledger, query: Query) -> list[public_view.PublicList]:
    """Return the lists that were published, the newest first."""
    pool = None if query["pool"] is None else ledger.pool(query["pool"]).name
    return [without_officers(public_view.PublicList, row) for row in publications.published_lists(ledger, pool)[::-1]]


def list_rows(ledger: Ledger, query: Query) -> list[publications.PublishedPlayerRow]:
    """Return a published list, next to what the journal says now."""
    return publications.published_list_rows(ledger, ledger.publications.named(list_name(query)))


def list_name(query: Query) -> str:
    """Return the name of a list; in an address its edition cannot follow a slash."""
    return query["list"] if query["edition"] is None else f"{query['list']}/{query['edition']}"


# -- corrections and games -----------------------------------------------------------------------------------------


def public(row: corrections.ProposalRow) -> public_view.PublicCorrection:
    """Return a correction as strangers see it."""
    return public_view.PublicCorrection(
        number=row.proposal,
        state=row.state,
        changes=row.changes,
        what=[row.what] if isinstance(row.what, str) else row.what,
        proposed_at=row.proposed_at,
        decided_at=row.decided_at,
    )


def proposals_asked(ledger: Ledger, query: Query) -> list[ProposalDetails]:
    """Return the proposals of a page of corrections, the newest first."""
    numbers = [each.proposal for each in ledger.corrections.stored(open_only=query["state"] == "open")][::-1]
    return list(ledger.corrections.proposals(numbers=numbers[query["offset"] : _most(query)]))[::-1]


def all_corrections(ledger: Ledger, query: Query) -> Part:
    """Corrections, the newest first."""
    rows = corrections.proposal_rows(ledger, proposals_asked(ledger, query))
    return Part([public(row) for row in rows], query["offset"])


def correction(ledger: Ledger, query: Query) -> public_view.PublicCorrection:
    """Return one correction, with all its changes."""
    if not query["number"].isdecimal() or len(query["number"]) > LONGEST_NUMBER:
        raise UnknownNameError("correction", query["number"], "corrections have numbers")
    return public(corrections.proposal(ledger, int(query["number"])))


def games_of_day(ledger: Ledger, query: Query) -> Part:
    """Return the games of a day, of a tournament or of a round of it."""
    if query["on"] is None and query["tournament"] is None:
        raise MalformedError(["give on, a day, or tournament, or both"])
    selection = player_games.GameFilter(tournament=query["tournament"], round=query["round"], on=query["on"])
    before = query["offset"]
    rows = recorded_games.filtered_games(ledger, selection, query["pool"], most=_most(query), offset=before)
    return Part(rows, before)


def game(ledger: Ledger, query: Query) -> recorded_games.RecordedGame:
    """Return the current state of a game, with its effect on both ratings."""
    return recorded_games.recorded_game(ledger, query["game"])


def explained(ledger: Ledger, query: Query) -> public_view.ExplainedSides:
    """Explain how a game changed both ratings."""
    return sides_explained(ledger, recorded_games.recorded_game(ledger, query["game"]))


def sides_explained(ledger: Ledger, stands: recorded_games.RecordedGame) -> public_view.ExplainedSides:
    """Explain a game that is loaded already."""
    if stands.reason is not None:
        return public_view.ExplainedSides(game=stands.game, reason=stands.reason, white=None, black=None)
    guests = explanations.guests_in(ledger, f"#{stands.entry}")
    white, black = (
        None if number in guests else explanations.explain(ledger, ledger.player(number), stands.game)
        for number in (stands.white_player, stands.black_player)
    )
    return public_view.ExplainedSides(game=stands.game, reason=None, white=white, black=black)


def game_log(ledger: Ledger, query: Query) -> list[public_view.PublicLogEntry]:
    """Return the journal's entries about a game."""
    return [without_officers(public_view.PublicLogEntry, row) for row in recorded_games.game_log(ledger, query["game"])]


def pgn(ledger: Ledger, query: Query) -> FileAnswer:
    """Return a game as PGN."""
    return FileAnswer(game_pgn(ledger, query["game"]).encode(), "application/vnd.chess-pgn; charset=utf-8")


def board(ledger: Ledger, query: Query) -> boards.FinalPosition:
    """Return the position that a game ended in."""
    return boards.final_board(ledger, query["game"]).answer


def receipt(ledger: Ledger, query: Query) -> FileAnswer:
    """Return the proof that a game was recorded: the entry, and the path to the last checkpoint."""
    name, entry = find_game(ledger.snapshot_journal, query["game"])
    last = ledger.checkpoints.last()
    if last is None:
        raise UnknownNameError("receipt", name, "no checkpoint was ever signed here", where="as yet")
    if entry.position > last.head.size:
        raise UnknownNameError("receipt", name, "no checkpoint covers this game; the next one will", where="as yet")
    return FileAnswer(make_receipt(ledger, query["game"]).encode(), "text/plain; charset=utf-8")


# -- what comes ----------------------------------------------------------------------------------------------------


def entries(ledger: Ledger, query: Query) -> FileAnswer:
    """Return the entries that follow a position, each on a line: which, and whom it is about; wait for the next."""
    rows = as_rows(recorded_entries.entries_after(ledger, query["after"], query["limit"]))
    following = {"after": rows[-1]["position"]} if len(rows) == query["limit"] else None
    return FileAnswer(b"".join(orjson.dumps(row) + b"\n" for row in rows), "application/x-ndjson", following)


def stream(ledger: Ledger, query: Query) -> FileAnswer:
    """Send the same as server-sent events, as they arrive, while the client listens."""
    return entries(ledger, query)
