"""A player and a tournament of an open ledger, with the questions that people ask about them.

Each question is one call of ``ledger.answers``, named like the command that asks the same. The modules that answer are
loaded with the first question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import attrs

from ledger.errors import MalformedError
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.runtime.calls import checked_methods
from ledger.runtime.lazy import Lazy
from ledger.runtime.long_work import Progress, no_progress

if TYPE_CHECKING:
    from ledger.answers import explanations, list_calculations, player_games, players, rating_changes
    from ledger.answers.crosstables import crosstable as crosstables
    from ledger.answers.crosstables import documents as crosstable_documents
    from ledger.answers.crosstables.documents import CrosstableDocument
    from ledger.answers.explanations import GameExplanation
    from ledger.answers.graphs import career_documents, looks
    from ledger.answers.graphs import documents as graph_documents
    from ledger.answers.graphs.career_documents import CareerGraph
    from ledger.answers.graphs.documents import RatingGraph
    from ledger.answers.graphs.graph_data import BarOrder
    from ledger.answers.list_calculations import ListCalculation
    from ledger.answers.player_games import PlayerGame
    from ledger.answers.players import PlayerSummary
    from ledger.answers.rating_changes import RatingChanges
else:
    crosstables = Lazy("ledger.answers.crosstables.crosstable")
    crosstable_documents = Lazy("ledger.answers.crosstables.documents")
    explanations = Lazy("ledger.answers.explanations")
    career_documents = Lazy("ledger.answers.graphs.career_documents")
    graph_documents, looks = Lazy("ledger.answers.graphs.documents"), Lazy("ledger.answers.graphs.looks")
    list_calculations = Lazy("ledger.answers.list_calculations")
    player_games, players = Lazy("ledger.answers.player_games"), Lazy("ledger.answers.players")
    rating_changes = Lazy("ledger.answers.rating_changes")


def rows_between(limit: int | None, offset: int) -> int | None:
    """Return the number of rows up to the last requested one, skipped ones included; None: all.

    Raises:
        MalformedError: one of the two is below 0.
    """
    if offset < 0 or (limit or 0) < 0:
        raise MalformedError([f"limit and offset are numbers of rows, from 0 on; got {limit} and {offset}"])
    return offset + limit if limit else None


@checked_methods
class LedgerPlayer(Person):
    """A player of an open ledger: the person, and what the ledger answers about them.

    Each answer is about the player as they are by then: renamed, merged into another player, or erased.
    """

    ledger: OpenLedger

    @classmethod
    def of(cls, person: Person, ledger: OpenLedger) -> Self:
        """Return the player of a ledger."""
        player = cls(*person)
        player.ledger = ledger
        return player

    def __reduce__(self) -> tuple[type[Person], tuple[object, ...]]:
        # another process gets the person alone: an open ledger stays with its own
        return Person, tuple(self)

    def summary(self, pool: str | None = None, *, at: str | None = None) -> PlayerSummary:
        """Return the player's rating then and now, results, and highest rating, as the command ``show`` does.

        Args:
            pool: name of the pool; the first one by default.
            at: "then" is the end of this day, month or year; by default the day of the first rated game.

        Raises:
            UnknownNameError: the player has neither a rated game in the pool nor the rating of a list; or no such pool.
            MalformedError: no such day.
        """
        with self.ledger.read_snapshot():
            return players.summary(self.ledger, self._now(), pool, at)

    def games(
        self,
        pool: str | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
        everything: bool = False,
        tournament: str | None = None,
        on: str | None = None,
    ) -> list[PlayerGame]:
        """Return the player's rated games, newest first, as the command ``games`` does.

        Args:
            pool: name of the pool; the first one by default.
            limit: the number of games; 0 or None: all.
            offset: the number of newer games that are left out.
            everything: whether games that do not count are among them, each with its reason.
            tournament: only games of this tournament.
            on: only games that ended on this day, in this month or year.

        Raises:
            UnknownNameError: the player has neither a rated game in the pool nor the rating of a list; or no such pool.
            MalformedError: *limit* or *offset* is below 0, or no such day.
        """
        with self.ledger.read_snapshot():
            return player_games.games(
                self.ledger,
                self._now(),
                pool,
                last=rows_between(limit, offset),
                offset=offset,
                everything=everything,
                selection=player_games.GameFilter(tournament, None, on),
            )

    def graph(
        self,
        pool: str | None = None,
        *,
        last: int | None = None,
        page: int | None = None,
        by: BarOrder = "game",
        against: str | int | Person | None = None,
        opponents: bool = False,
        mono: bool = False,
    ) -> RatingGraph:
        """Return the player's rating graph; ``save("ann.svg")`` draws it, as the command ``graph`` does.

        Args:
            pool: name of the pool; the first one by default.
            last: the number of games, a multiple of 50; 0: all. By default a picture shows 100, and data have all.
            page: the page of 50 games instead, 1 the newest.
            by: ``game``: bars side by side; ``date``: bars on their days.
            against: another player, whose games of the same days are shown, too; needs ``date``.
            opponents: whether the opponents' ratings are shown.
            mono: whether the picture is black and white.

        Raises:
            UnknownNameError: no such player.
        """
        with self.ledger.read_snapshot():
            return graph_documents.RatingGraph(
                ledger=self.ledger,
                person=self._now(),
                pool=pool,
                number=page,
                last=last,
                by=by,
                against=None if against is None else person_of(self.ledger, against),
                look=looks.Look(opponents=opponents, mono=mono),
            )

    def career(
        self,
        pool: str | None = None,
        *,
        since: str | None = None,
        until: str | None = None,
        every_pool: bool = False,
    ) -> CareerGraph:
        """Return the player's career as one line; ``save("ann.png")`` draws it, as the command ``graph --career`` does.

        Args:
            pool: name of the pool; the first one by default.
            since: the day, month or year with which it begins; the first one by default.
            until: the day, month or year with which it ends; the last one by default.
            every_pool: whether the player's other pools have a line, too.
        """
        with self.ledger.read_snapshot():
            return career_documents.CareerGraph(
                ledger=self.ledger, person=self._now(), pool=pool, since=since, until=until, every_pool=every_pool
            )

    def why(self, since: str, pool: str | None = None, *, progress: Progress = no_progress) -> RatingChanges:
        """Return the games and corrections that changed the rating since then, as the command ``changes`` does.

        Args:
            since: a day, month, year or moment of play, a number of entries, or the name of a published list.
            pool: name of the pool; that of the list, or the first one, by default.
            progress: called with each step.

        Raises:
            UnknownNameError: no such entry, list or pool.
            MalformedError: *since* is none of these, or a list of another pool.
        """
        return rating_changes.changes(self.ledger, self._now(), since, pool, progress)

    def explain(self, game: str) -> GameExplanation:
        """Return the formula by which a game changed the rating, with its numbers, as the command ``explain`` does.

        Args:
            game: its key, ``#17`` for the game of entry 17, the id that its server gave it, or its web address.

        Raises:
            UnknownNameError: no such game, or several, or none of this player's rated ones.
        """
        with self.ledger.read_snapshot():
            return explanations.explain(self.ledger, self._now(), game)

    def calculation(self, listed: str, pool: str | None = None) -> ListCalculation:
        """Return the calculation of the rating on a list, as the command ``calculation`` does.

        Args:
            listed: a published list, or a day, month or year.
            pool: name of the pool; that of the list, or the first one, by default.

        Raises:
            UnknownNameError: no such list or pool, or nothing of the player could be on it.
            MalformedError: the word is neither a list nor a day, or the list is of another pool.
        """
        with self.ledger.read_snapshot():
            return list_calculations.list_calculation(self.ledger, self._now(), listed, pool)

    def _now(self) -> Person:
        return person_of(self.ledger, self)


def person_of(ledger: OpenLedger, player: str | int | Person) -> Person:
    """Return the person of a name, identity or number; a given person in the current state.

    Raises:
        UnknownNameError: no player, or several.
    """
    return ledger.player(player.player if isinstance(player, Person) else player)


@checked_methods
@attrs.frozen(kw_only=True)
class LedgerTournament:
    """A tournament of an open ledger.

    Attributes:
        ledger: the ledger.
        name: the name that its games carry.
        pool: name of the pool.
        edition: a year, month or day of the edition; None: the last one.
    """

    ledger: OpenLedger = attrs.field(repr=False)
    name: str
    pool: str
    edition: str | None = None

    def crosstable(
        self,
        *,
        tie_breaks: Sequence[str] = (),
        tpr: str | None = None,
        ratings: str = "ledger",
        paired: str | None = None,
        quiet_days: float | None = None,
    ) -> CrosstableDocument:
        """Return the cross-table; ``save("open.html")`` writes it, as the command ``crosstable`` does.

        Args:
            tie_breaks: names of those that decide places, in their order; by default points alone do.
            tpr: name of the performance rating; that of the scheme by default, else FIDE's.
            ratings: ``ledger`` or ``shown``: whose ratings count.
            paired: how it was paired, if that is known better than it is announced or seen.
            quiet_days: days without a game that separate two editions.

        Raises:
            UnknownNameError: no such edition, tie-break, performance rating, ratings or pairing.
            MalformedError: the edition is no day.
        """
        choice = crosstables.TableOptions(
            edition=self.edition,
            performance=tpr,
            ratings=ratings,
            tie_breaks=tuple(tie_breaks),
            kind=paired,
            quiet_days=quiet_days,
        )
        page = crosstables.crosstable(self.ledger, self.name, self.pool, choice)
        return crosstable_documents.CrosstableDocument.of(page)
