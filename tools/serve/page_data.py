"""What a page shows: answers of the library, gathered. A class for each page; no rule, nothing written or formatted."""

from __future__ import annotations

from typing import Any

import attrs

from ledger.answers.achievements import Achievement
from ledger.answers.crosstables.crosstable_data import Crosstable, CrossTableRow
from ledger.answers.crosstables.layout import Cells, TableLayout
from ledger.answers.crosstables.listing import TournamentRow
from ledger.answers.differences import ListDifference
from ledger.answers.graphs.career import Career, CareerPoint
from ledger.answers.graphs.graph_data import Page
from ledger.answers.news import PoolNews
from ledger.answers.opponents import ColourStatistics, OpponentBatch, ResultsAgainst, StrengthStatistics
from ledger.answers.player_details import PlayerGroup
from ledger.answers.player_games import PlayerGame
from ledger.answers.players import PlayerSummary
from ledger.answers.pools import EraRow, PoolRow
from ledger.answers.predictions import Prediction
from ledger.answers.publications import PublishedPlayerRow
from ledger.answers.rankings import RankingRow
from ledger.answers.rating_changes import RatingChanges, RatingPart
from ledger.answers.recorded_games import RecordedGame
from ledger.answers.searching import NamedPlayer
from ledger.answers.streaks import Streak
from ledger.answers.time_losses import TimeLossWindow
from ledger.answers.upsets import Upset
from ledger.board.position import Position

from . import public_view
from .change_cards import ChangeCard


@attrs.frozen(kw_only=True)
class Paging:
    """The rows of a page among all of them.

    Attributes:
        page: the page, from 1.
        size: rows of a page.
        more: whether there are rows after them.
    """

    page: int
    size: int
    more: bool


# -- the site -----------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PoolShown:
    """A pool, its best players and its news."""

    pool: PoolRow
    leaders: list[RankingRow]
    news: PoolNews | None


@attrs.frozen(kw_only=True)
class CorrectionCard:
    """A correction, and its first change as people read it."""

    row: public_view.PublicCorrection
    change: ChangeCard


@attrs.frozen(kw_only=True)
class StartPage:
    """The news, and where to look."""

    pools: list[PoolShown]
    lists: list[public_view.PublicList]
    corrections: list[CorrectionCard]


@attrs.frozen(kw_only=True)
class SearchPage:
    """The players of a search; *hint* says what to do if the search was not possible."""

    q: str | None
    players: list[NamedPlayer]
    paging: Paging
    hint: str | None


@attrs.frozen(kw_only=True)
class RankingPage:
    """A page of the ranking of a pool, and its query.

    Attributes:
        has_classes: whether the class of a rating is shown.
        group: the group of players that was asked for.
        provisional: True if provisional players were asked for, too.
        is_everybody: True if they are among the rows.
    """

    pools: list[str]
    pool: str
    has_classes: bool
    at: str | None
    active: int | None
    group: PlayerGroup
    min_games: int
    provisional: bool
    is_everybody: bool
    rows: list[RankingRow]
    paging: Paging


@attrs.frozen(kw_only=True)
class SettingShown:
    """A setting of a scheme, as a pool has it."""

    name: str
    value: Any
    is_chosen: bool
    unit: str
    meaning: str
    source: str


@attrs.frozen(kw_only=True)
class EraShown:
    """A scheme that rates a pool from some day on, with all its settings."""

    era: EraRow
    facts: public_view.SchemeFacts | None
    settings: list[SettingShown]


@attrs.frozen(kw_only=True)
class SchemesPage:
    """The schemes that rate the pools, and the others that are installed."""

    eras: list[EraShown]
    others: list[public_view.SchemeFacts]


@attrs.frozen(kw_only=True)
class CheckPage:
    """All that a stranger needs to recompute the ratings; None if there is none."""

    checkpoint: str | None
    size: int | None
    root: str | None
    cosigned: int | None  # entries that a witness cosigned last
    position: int
    lists: list[public_view.PublicList]  # the last one of each pool, if the checkpoint contains it


@attrs.frozen(kw_only=True)
class ApiAddress:
    """An address for programs."""

    path: str
    doc: str
    cost: str
    parameters: list[tuple[str, str]]


@attrs.frozen(kw_only=True)
class ApiRecording:
    """An address at which programs record, and the role that they need."""

    path: str
    doc: str
    role: str


@attrs.frozen(kw_only=True)
class ApiPage:
    """The addresses for programs."""

    addresses: list[ApiAddress]
    recording: list[ApiRecording]
    prefix: str


# -- players -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PlayerHead:
    """The head of every page about a player: who it is, and the pools with something to see.

    Attributes:
        player: the number.
        name: what the player is called.
        identity: as it is shown; None: it is not.
        pool: the pool that is shown.
        pools: those in which the player is rated.
        first_pool: the one that pages about the player show by themselves.
        ledgers_pool: the one that all others, and answers for programs, are of by themselves.
        is_rated: whether the player is, in the pool that is shown.
        has_classes: whether classes, strengths and HERA are shown there.
    """

    player: int
    name: str
    identity: str | None
    pool: str
    pools: list[str]
    first_pool: str
    ledgers_pool: str
    is_rated: bool
    has_classes: bool

    @property
    def asked_pool(self) -> str | None:
        """The pool as links to pages about the player name it: only where it is not the one that is shown by itself."""
        return None if self.pool == self.first_pool else self.pool

    @property
    def pool_elsewhere(self) -> str | None:
        """The pool as all other links name it."""
        return None if self.pool == self.ledgers_pool else self.pool


@attrs.frozen(kw_only=True)
class Trend:
    """The change of a rating in the days up to the player's last game.

    Attributes:
        since: the day from whose end on it is counted.
        days: how many days that are.
        change: the rating now less the one in force then, points.
    """

    since: str
    days: int
    change: float


@attrs.frozen(kw_only=True)
class PlayerPage:
    """A player: then and now, the highest title, the strength chosen before any game, the graph, the latest games."""

    head: PlayerHead
    title: str | None
    strength: str | None
    summary: PlayerSummary | None
    trend: Trend | None
    latest: list[PlayerGame]
    graph: Page | None
    career: Career | None
    highest: CareerPoint | None  # of the whole career, in a pool without HERA
    is_career: bool  # True if the career is shown in place of the bars
    every_pool: bool  # True if its other pools are in it, too
    since: str | None
    until: str | None
    years: list[str]  # in which a rated game counts, of a large career
    is_range_empty: bool  # True if no game counts within the range, so that the last games are shown
    at: str | None
    last: int | None
    against: str | None
    opponents: bool
    mono: bool


@attrs.frozen(kw_only=True)
class GamesPage:
    """A page of a player's games."""

    head: PlayerHead
    everything: bool
    games: list[PlayerGame]
    paging: Paging


@attrs.frozen(kw_only=True)
class StatisticsPage:
    """The statistics of a player's games."""

    head: PlayerHead
    at: str | None
    batches: list[OpponentBatch]
    paging: Paging
    colours: list[ColourStatistics]
    strengths: list[StrengthStatistics]
    achievements: list[Achievement]
    streaks: list[Streak]
    time_losses: list[TimeLossWindow]
    upsets: list[Upset]


@attrs.frozen(kw_only=True)
class ChangesPage:
    """The causes of a rating's change since a day.

    Attributes:
        head: the player.
        since: the day; None: not chosen yet.
        changes: the causes; None without a day.
        parts: those of this page, each with its game if it is about one.
        paging: the page among all.
    """

    head: PlayerHead
    since: str | None
    changes: RatingChanges | None
    parts: list[tuple[RatingPart, PlayerGame | None]]
    paging: Paging


@attrs.frozen(kw_only=True)
class PredictionPage:
    """The prediction of a game against an opponent, and the games between the two."""

    head: PlayerHead
    at: str | None
    query: str | None
    opponent: int | None
    prediction: Prediction | None
    met: ResultsAgainst | None


# -- games, tournaments, lists, corrections -------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class BoardShown:
    """A position of a game, and all its moves.

    Attributes:
        position: the position that is shown.
        move: the number of half-moves before it.
        moves: in algebraic notation.
        clocks: the clock after each move, ``""`` where none is known; empty without clocks.
    """

    position: Position
    move: int
    moves: list[str]
    clocks: list[str]

    def clock(self, side: int) -> str:
        """Return the clock of White (0) or Black (1) in the position; an empty text if it is not known."""
        return next(filter(None, reversed(self.clocks[side : self.move : 2])), "")


@attrs.frozen(kw_only=True)
class GamePage:
    """A game, and all that is said of it.

    Attributes:
        game: its current state.
        address: on its server, where its key is that of one.
        board: the last position and the moves; None: none are recorded, or they cannot be played.
        explained: why it changed both ratings.
        log: what the journal says about it.
        proposals: the corrections that concern it.
        receipt: what proves that it was recorded; None: no checkpoint covers it yet, or strangers do not get it.
        receipt_kept: whether strangers do not get it, because it names who recorded the game.
    """

    game: RecordedGame
    address: str | None
    board: BoardShown | None
    explained: public_view.ExplainedSides
    log: list[public_view.PublicLogEntry]
    proposals: list[public_view.PublicCorrection]
    receipt: str | None
    receipt_kept: bool


@attrs.frozen(kw_only=True)
class TournamentsPage:
    """A page of the tournaments of a pool."""

    pools: list[str]
    pool: str
    part: str | None
    since: str | None
    until: str | None
    rows: list[TournamentRow]
    paging: Paging


@attrs.frozen(kw_only=True)
class CrosstablePage:
    """A cross-table."""

    table: Crosstable
    layout: TableLayout
    rows: list[tuple[Cells, CrossTableRow]]
    paging: Paging
    asked_pool: str | None
    edition: str | None
    view: CrossTableRow | None


@attrs.frozen(kw_only=True)
class UpsetsPage:
    """The largest upsets of a pool."""

    pools: list[str]
    pool: str
    since: str | None
    until: str | None
    rows: list[Upset]
    paging: Paging


@attrs.frozen(kw_only=True)
class ListsPage:
    """The published lists."""

    lists: list[public_view.PublicList]
    paging: Paging


@attrs.frozen(kw_only=True)
class ListPage:
    """A published list, and the others of its pool to compare it with."""

    shown: public_view.PublicList
    others: list[public_view.PublicList]
    rows: list[PublishedPlayerRow]
    revised: int
    checkable: bool  # it is the last edition, and the last checkpoint contains it
    paging: Paging


@attrs.frozen(kw_only=True)
class ListChangesPage:
    """The players' changes from one list to another; unchanged players are only counted."""

    since: str
    shown: public_view.PublicList
    other: public_view.PublicList | None
    counts: dict[str, int]
    rows: list[ListDifference]
    corrections: list[public_view.PublicCorrection]
    paging: Paging


@attrs.frozen(kw_only=True)
class CorrectionPage:
    """A correction, with the keys of the first games that it is about."""

    shown: public_view.PublicCorrection
    change: ChangeCard
    games: list[str]


@attrs.frozen(kw_only=True)
class CorrectionsPage:
    """A page of the corrections."""

    state: str
    rows: list[CorrectionCard]
    paging: Paging
