"""What is asked of the library for each address. No rule and no SQL: what is public is chosen here, nothing worked out.

Each function takes a ledger, within one of its moments, and what was asked by name of the parameter.
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
from ledger.answers import (
    boards,
    corrections,
    explanations,
    highest,
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
from ledger.answers.asking import Naming, identity_shown, names, naming_now
from ledger.answers.crosstables import crosstable, listing
from ledger.answers.crosstables.crosstable import TableChoice
from ledger.answers.game_pgn import game_pgn
from ledger.answers.graphs import html, json_form, pages, svg
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.read_models import last_row
from ledger.answers.rows import as_rows
from ledger.audit.receipts import receipt_of
from ledger.errors import MalformedError, UnknownNameError
from ledger.journal.game_references import find_game
from ledger.ledger import Ledger

from . import public_view

if TYPE_CHECKING:
    from ledger.players.persons import Person

    from .parameters import Asked

Form = TypeVar("Form", bound=attrs.AttrsInstance)
PROGRAM = version("rating-ledger")
MOST_PLAYERS = 100  # that are looked up in one question


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
        rows: the others, up to the end of the page that is asked for, and one more.
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
        asked: by name, what is asked of it.
    """

    path: str
    parts: tuple[object, ...]
    for_good: bool
    asked: Mapping[str, object] = MappingProxyType({})


def _most(asked: Asked) -> int:
    """Return how many rows to compute: those of the page and one more, which tells whether there is a next page."""
    return int(asked["offset"] + asked["limit"] + 1)


def without_officers(form: type[Form], answer: attrs.AttrsInstance) -> Form:
    """The fields of an answer that its public form has."""
    return form(**{field.name: getattr(answer, field.name) for field in attrs.fields(form)})


# -- the ledger ------------------------------------------------------------------------------------------------------


def facts(ledger: Ledger, _: Asked) -> public_view.LedgerFacts:
    """Return the position of the answers, and the pools."""
    every = [pool.name for pool in ledger.pools()]
    return public_view.LedgerFacts(position=ledger.views.position(), alarm=None, program=PROGRAM, pools=every)


def all_pools(ledger: Ledger, _: Asked) -> list[pools.PoolRow]:
    """Every pool."""
    return pools.pools(ledger)


def all_eras(ledger: Ledger, _: Asked) -> list[pools.EraRow]:
    """Return which scheme rates each pool since when."""
    return pools.eras(ledger)


def all_schemes(_: Ledger, __: Asked) -> list[public_view.SchemeFacts]:
    """Every scheme that is installed here."""
    return [
        public_view.SchemeFacts(
            scheme=name,
            rates=f"by {scheme.rhythm.value}",
            title=scheme.title,
            source=scheme.source,
            version=scheme.version,
        )
        for name, scheme in sorted(schemes.available().items())
    ]


# -- players -------------------------------------------------------------------------------------------------------


def some_players(ledger: Ledger, asked: Asked) -> list[searching.NamedPlayer]:
    """Players by a part of the name, or by numbers and identities."""
    words = [*asked["number"], *asked["identity"]]
    if (asked["q"] is None) == (not words):
        raise MalformedError(["give q, or number and identity, which may be repeated"])
    if asked["q"] is not None:
        if naming_now() is not Naming.FULL:
            raise MalformedError(["q: players are not sought by a part of the name here; give number or identity"])
        return searching.players_named(ledger, asked["q"], limit=_most(asked))
    if len(words) > MOST_PLAYERS:
        raise MalformedError([f"at most {MOST_PLAYERS} players at once, got {len(words)}"])
    people = [player_asked(ledger, word) for word in words]
    called = names(ledger, {person.player for person in people})
    return [
        searching.NamedPlayer(
            player=person.player, name=called[person.player], identity=identity_shown(person.identity)
        )
        for person in people
    ]


def player(ledger: Ledger, asked: Asked) -> public_view.PlayerFacts:
    """One player in one pool."""
    person, pool = player_asked(ledger, asked["player"]), ledger.pool(asked["pool"])
    rated = is_rated(ledger, person, pool.name)
    summary = players.summary(ledger, person, pool.name, asked["at"]) if rated else None
    return public_view.PlayerFacts(
        player=person.player,
        name=names(ledger, {person.player})[person.player],
        identity=identity_shown(person.identity),
        pool=pool.name,
        summary=summary,
    )


def player_asked(ledger: Ledger, word: str | int) -> Person:
    """The player that is meant by a number, an identity or a whole name.

    If names are not shown in full, no client may learn one by trying: players are not named by near ones there, and
    where numbers alone are shown, they go by these alone.
    """
    rule = naming_now()
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
        last_row(ledger, person, ledger.pool(pool))
    except UnknownNameError:
        return False
    return True


def of_rated(ask: Callable[[Ledger, Person, Asked], list[Any] | Part]) -> Callable[[Ledger, Asked], list[Any] | Part]:
    """Rows about one player; none for who has no rating yet."""

    def asking(ledger: Ledger, asked: Asked) -> list[Any] | Part:
        ledger.pool(asked["pool"])  # an unknown pool is a fault, not an empty answer
        person = player_asked(ledger, asked["player"])
        return ask(ledger, person, asked) if is_rated(ledger, person, asked["pool"]) else []

    asking.__doc__ = ask.__doc__
    return asking


@of_rated
def games(ledger: Ledger, person: Person, asked: Asked) -> Part:
    """A player's rated games, newest first."""
    before = asked["offset"]
    return Part(player_games.games(ledger, person, asked["pool"], last=_most(asked), offset=before), before)


@of_rated
def history(ledger: Ledger, person: Person, asked: Asked) -> Part:
    """A player's whole rating history, oldest first: the rating after each rated game or its period."""
    first, before = asked["limit"] + 1, asked["offset"]
    return Part(player_games.graph(ledger, person, asked["pool"], first=first, offset=before), before)


@of_rated
def achievements(ledger: Ledger, person: Person, asked: Asked) -> list[highest.Achievement]:
    """Highest and lowest ratings, best wins and worst losses."""
    return highest.achievements(ledger, person, asked["pool"], asked["at"])


@of_rated
def streaks_of(ledger: Ledger, person: Person, asked: Asked) -> list[streaks.Streak]:
    """Winning, unbeaten and losing streaks."""
    return streaks.streaks(ledger, person, asked["pool"], asked["at"])


@of_rated
def time_losses_of(ledger: Ledger, person: Person, asked: Asked) -> list[time_losses.TimeLossWindow]:
    """Losses on time."""
    return time_losses.windows(ledger, person, asked["pool"], asked["at"])


@of_rated
def opponents_of(ledger: Ledger, person: Person, asked: Asked) -> list[opponents.OpponentBatch]:
    """Results and opponents by batches of 50 games."""
    return opponents.batches(ledger, person, asked["pool"], at=asked["at"])


def changes(ledger: Ledger, asked: Asked) -> Paged:
    """Return what made the difference between a rating then and now."""
    if asked["since"] is None:
        raise MalformedError(["since: give a day, month or year"])
    made = changes_since(ledger, player_asked(ledger, asked["player"]), asked["since"], asked["pool"])
    until, count = asked["offset"] + asked["limit"], len(made.parts)
    shown_now = attrs.evolve(made, parts=made.parts[asked["offset"] : until])
    following = {"offset": until} if until < count else None
    return Paged(public_view.ChangesInParts(changes=shown_now, count=count, next=None), following)


def changes_since(ledger: Ledger, person: Person, since: str, pool: str | None) -> rating_changes.RatingChanges:
    """Return the same of a player, since the end of a day, month or year."""
    # To the library a bare number is so many entries, of which it makes views: here it is a year, as all instants are.
    instant = f"{since}-12-31" if since.isdecimal() else since
    return attrs.evolve(rating_changes.changes(ledger, person, instant, pool), since=since)


def prediction(ledger: Ledger, asked: Asked) -> predictions.Prediction:
    """Return what a win, a draw and a loss against an opponent would bring."""
    if asked["opponent"] is None:
        raise MalformedError(["opponent: give a name, an identity or a number"])
    both = player_asked(ledger, asked["player"]), player_asked(ledger, asked["opponent"])
    return predictions.predict(ledger, *both, asked["pool"], asked["at"])


def graph(ledger: Ledger, asked: Asked) -> Any:
    """The rating graph of a player: as data, or as a picture."""
    against = None if asked["against"] is None else player_asked(ledger, asked["against"])
    page = pages.page(
        ledger,
        player_asked(ledger, asked["player"]),
        asked["pool"],
        number=asked["page"],
        last=asked["last"],
        by="date" if against is not None else asked["by"],
        against=against,
        boards=asked["format"] == "html",
    )
    look = Look(asked["opponents"] == "yes", asked["mono"] == "yes", Theme(asked["theme"]))
    match asked["format"]:
        case "svg":
            return FileAnswer(svg.draw(page, look).encode(), "image/svg+xml")
        case "html":
            return FileAnswer(html.draw(page, look).encode(), "text/html; charset=utf-8")
        case "json":
            return FileAnswer(json_form.as_json(page), "application/json")
    raise AssertionError(asked["format"])


# -- rankings, tournaments, lists --------------------------------------------------------------------------------------


def ranking(ledger: Ledger, asked: Asked) -> Part:
    """The ranking of a pool, now or on a day."""
    choice = rankings.RankingChoice(
        pool=asked["pool"],
        limit=_most(asked),
        offset=asked["offset"],
        min_games=asked["min_games"],
        at=asked["at"],
        active_days=asked["active"],
    )
    return Part(rankings.ranking_in_full(ledger, choice, details=False), asked["offset"])


def largest_upsets(ledger: Ledger, asked: Asked) -> list[upsets.Upset]:
    """Wins against much higher ratings, the largest first."""
    return upsets.upsets(ledger, asked["pool"], since=asked["since"], until=asked["until"], limit=_most(asked))


def tournaments(ledger: Ledger, asked: Asked) -> Part:
    """The tournaments of a pool, the latest first."""
    sought = listing.TournamentSearch(
        since=asked["since"],
        until=asked["until"],
        text=asked["part"],
        limit=_most(asked),
        offset=asked["offset"],
    )
    return Part(listing.tournaments(ledger, asked["pool"], sought), asked["offset"])


def table(ledger: Ledger, asked: Asked) -> FileAnswer:
    """The cross-table of a tournament."""
    choice = TableChoice(edition=asked["edition"])
    page = crosstable.crosstable(ledger, asked["tournament"], asked["pool"], choice)
    return FileAnswer(json_form.exact(attrs.asdict(page)), "application/json")


def lists(ledger: Ledger, asked: Asked) -> list[public_view.PublicList]:
    """The lists that were published, the newest first."""
    pool = None if asked["pool"] is None else ledger.pool(asked["pool"]).name
    return [without_officers(public_view.PublicList, row) for row in publications.lists(ledger, pool)[::-1]]


def list_rows(ledger: Ledger, asked: Asked) -> list[publications.PublishedPlayerRow]:
    """Return a published list, next to what the journal says now."""
    return publications.rows(ledger, ledger.publications.named(list_name(asked)))


def list_name(asked: Asked) -> str:
    """Return the name of a list; in an address its edition cannot follow a slash."""
    return asked["list"] if asked["edition"] is None else f"{asked['list']}/{asked['edition']}"


# -- corrections and games -----------------------------------------------------------------------------------------


def public(row: corrections.ProposalRow) -> public_view.PublicCorrection:
    """A correction as strangers see it."""
    return public_view.PublicCorrection(
        number=row.proposal,
        state=row.state,
        changes=row.changes,
        what=[row.what] if isinstance(row.what, str) else row.what,
        proposed_at=row.proposed_at,
        decided_at=row.decided_at,
    )


def all_corrections(ledger: Ledger, asked: Asked) -> Part:
    """Corrections, the newest first."""
    numbers = [each.proposal for each in ledger.corrections.stored(open_only=asked["state"] == "open")][::-1]
    of_page = numbers[asked["offset"] : _most(asked)]
    rows = corrections.proposal_rows(ledger, ledger.corrections.proposals(numbers=of_page))
    return Part([public(row) for row in rows[::-1]], asked["offset"])


def correction(ledger: Ledger, asked: Asked) -> public_view.PublicCorrection:
    """One correction, with all its changes."""
    if not asked["number"].isdecimal() or len(asked["number"]) > LONGEST_NUMBER:
        raise UnknownNameError("correction", asked["number"], "corrections have numbers")
    return public(corrections.proposal(ledger, int(asked["number"])))


def games_of_day(ledger: Ledger, asked: Asked) -> Part:
    """The games of a day, of a tournament or of a round of it."""
    if asked["on"] is None and asked["tournament"] is None:
        raise MalformedError(["give on, a day, or tournament, or both"])
    occasion = player_games.Occasion(tournament=asked["tournament"], round=asked["round"], on=asked["on"])
    before = asked["offset"]
    rows = recorded_games.listed_games(ledger, occasion, asked["pool"], most=_most(asked), offset=before)
    return Part(rows, before)


def game(ledger: Ledger, asked: Asked) -> recorded_games.RecordedGame:
    """Return the current state of a game, with its effect on both ratings."""
    return recorded_games.recorded_game(ledger, asked["game"])


def explained(ledger: Ledger, asked: Asked) -> public_view.ExplainedSides:
    """Explain how a game changed both ratings."""
    return sides_explained(ledger, recorded_games.recorded_game(ledger, asked["game"]))


def sides_explained(ledger: Ledger, stands: recorded_games.RecordedGame) -> public_view.ExplainedSides:
    """Explain a game that is loaded already."""
    if stands.reason is not None:
        return public_view.ExplainedSides(game=stands.game, reason=stands.reason, white=None, black=None)
    white, black = (
        explanations.explain(ledger, ledger.player(number), stands.game)
        for number in (stands.white_player, stands.black_player)
    )
    return public_view.ExplainedSides(game=stands.game, reason=None, white=white, black=black)


def game_log(ledger: Ledger, asked: Asked) -> list[public_view.PublicLogEntry]:
    """Return the journal's entries about a game."""
    return [without_officers(public_view.PublicLogEntry, row) for row in recorded_games.game_log(ledger, asked["game"])]


def pgn(ledger: Ledger, asked: Asked) -> FileAnswer:
    """A game as PGN."""
    return FileAnswer(game_pgn(ledger, asked["game"]).encode(), "application/vnd.chess-pgn; charset=utf-8")


def board(ledger: Ledger, asked: Asked) -> boards.FinalPosition:
    """The position that a game ended in."""
    return boards.final_board(ledger, asked["game"]).answer


def receipt(ledger: Ledger, asked: Asked) -> FileAnswer:
    """Return the proof that a game was recorded: the entry, and the path to the last checkpoint."""
    name, entry = find_game(ledger.journal_of_moment, asked["game"])
    last = ledger.checkpoints.last()
    if last is None:
        raise UnknownNameError("receipt", name, "no checkpoint was ever signed here", where="as yet")
    if entry.position > last.head.size:
        raise UnknownNameError("receipt", name, "no checkpoint covers this game; the next one will", where="as yet")
    return FileAnswer(receipt_of(ledger, asked["game"]).encode(), "text/plain; charset=utf-8")


# -- what comes ----------------------------------------------------------------------------------------------------


def entries(ledger: Ledger, asked: Asked) -> FileAnswer:
    """The entries that follow a position, each on a line: which, and whom it is about; at once, or when one comes."""
    rows = as_rows(recorded_entries.entries_after(ledger, asked["after"], asked["limit"]))
    following = {"after": rows[-1]["position"]} if len(rows) == asked["limit"] else None
    return FileAnswer(b"".join(orjson.dumps(row) + b"\n" for row in rows), "application/x-ndjson", following)


def stream(ledger: Ledger, asked: Asked) -> FileAnswer:
    """Send the same as server-sent events, as they arrive, while the client listens."""
    return entries(ledger, asked)
