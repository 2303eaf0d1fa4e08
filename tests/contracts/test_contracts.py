"""The contract suites over everything built in, and over a plug-in as an outside author would write it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import nan
from operator import attrgetter
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.facts.events import GameRecorded
from ledger.facts.source_games import SourceGame
from ledger.imports import jsonl, lichess
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import Reading
from ledger.journal import Journal
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ratings.fact_projector import (
    DeclaredFactProjector,
    FactProjector,
    FactRows,
    declare_facts,
    key_column,
    value_column,
)
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.ratings.projector import PLAYER, TOURNAMENT, DeclaredProjector, Projector, RatedSide, column, declare
from ledger.ratings.projectors.history import HISTORY
from ledger.schemes import built_in_schemes, chessworld
from ledger.schemes.chessworld import SCHEME as CHESSWORLD
from ledger.schemes.scheme import ExplainedPlayer, Explanation, OpponentGame, Scheme, When
from ledger.testing import (
    FactProjectorContract,
    ImporterContract,
    JournalContract,
    MemoryJournal,
    ProjectorContract,
    SchemeContract,
    TournamentContract,
)
from ledger.testing.importer_contract import Importer
from ledger.testing.kit import MemoryWriter
from tests.kit.places import TESTS
from tests.kit.plugins import BEATEN, OF_FACTS, SCORES, SURPLUSES, WIN_STREAKS
from tests.kit.source_files import game_line
from tests.tiers import few_quick


class TestSqliteJournal(JournalContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path
        self.made = 0

    def make(self) -> SqliteJournal:
        self.made += 1
        return SqliteJournal.create(self.folder / f"{self.made}.db")

    def reopen(self, journal: Journal) -> Journal:
        assert isinstance(journal, SqliteJournal)
        return SqliteJournal(journal.path)


class TestMemoryJournal(JournalContract):
    def make(self) -> Journal:
        return MemoryJournal()


name_of = attrgetter("name")
OF_OTHERS = (WIN_STREAKS, SURPLUSES, SCORES, BEATEN)  # CLIMBS stand in histories of corrections
_BUILT_IN = [made for made in BUILT_IN if isinstance(made, DeclaredProjector)]
BY_PLAYER = [fold for fold in (HISTORY, *_BUILT_IN, *OF_OTHERS) if fold.by == PLAYER]
BY_TOURNAMENT = [fold for fold in (*_BUILT_IN, *OF_OTHERS) if fold.by == TOURNAMENT]


@pytest.mark.parametrize("projector", few_quick(BY_PLAYER, HISTORY.name, "win_streaks", name=name_of), scope="class")
class TestProjectors(ProjectorContract):
    seeds = (1,)

    @pytest.fixture(autouse=True)
    def _projector(self, projector: DeclaredProjector) -> None:
        self.projector = projector

    def make(self) -> DeclaredProjector:
        return self.projector

    def projectors(self) -> tuple[DeclaredProjector, ...]:
        return () if self.projector is HISTORY else (self.projector,)


@pytest.mark.parametrize("projector", BY_TOURNAMENT, ids=lambda one: one.name, scope="class")
class TestTournamentProjectors(TournamentContract):
    seeds = (1,)

    @pytest.fixture(autouse=True)
    def _projector(self, projector: DeclaredProjector) -> None:
        self.projector = projector

    def make(self) -> DeclaredProjector:
        return self.projector


@pytest.mark.parametrize("projector", few_quick(OF_FACTS, OF_FACTS[0].name, name=name_of), scope="class")
class TestFactProjectors(FactProjectorContract):
    @pytest.fixture(autouse=True)
    def _projector(self, projector: DeclaredFactProjector) -> None:
        self.projector = projector

    def make(self) -> DeclaredFactProjector:
        return self.projector


@attrs.define
class ByKey(FactProjector):
    game: str = key_column("TEXT", "key of the game")
    pool: str = key_column("TEXT", "name of its pool")
    games: int = value_column("INTEGER", "one")
    opponent: int = value_column("INTEGER", "number of White")

    @staticmethod
    def on_change(  # its kinds are games alone
        rows: FactRows,
        position: int,  # noqa: ARG004
        before: GameRecorded | None,
        now: GameRecorded | None,
    ) -> None:
        for game, amount in ((before, -1), (now, 1)):
            if game is not None:
                rows.add((game.game, game.pool), amount, game.white * amount)


class TestColumnsThatTheLedgerHasToo(FactProjectorContract):
    """A plug-in may call its columns like those of the ledger, and hold in them what it likes."""

    seeds = (1,)

    def make(self) -> DeclaredFactProjector:
        return declare_facts(ByKey, name="by_key", version=1, kinds=(GameRecorded,), sums=True)


# Schemes in which a better score may give less, each with the reason.
UNEVEN = {"savard"}  # where H is far from E, the mixing step may lower E by more after a win than after a draw


class Given(SchemeContract):
    """The suite with the default settings; what a scheme's switches do is tested beside its own tests."""

    @pytest.fixture(autouse=True)
    def _scheme(self, scheme: Scheme) -> None:
        self.scheme = scheme

    def make(self) -> Scheme:
        return self.scheme


def each(*, uneven: bool) -> pytest.MarkDecorator:
    chosen = [scheme for scheme in built_in_schemes() if (scheme.name in UNEVEN) is uneven]
    return pytest.mark.parametrize("scheme", chosen, ids=lambda one: one.name, scope="class")


@each(uneven=False)
class TestSchemes(Given):
    score_decides = True


@each(uneven=True)
class TestUnevenSchemes(Given):
    score_decides = False


def test_every_built_in_scheme_is_under_contract_with_its_switches_too() -> None:
    named = {path.stem.removeprefix("test_") for path in (TESTS / "schemes").glob("test_*.py")}
    assert {scheme.name.replace("-", "_") for scheme in built_in_schemes()} - named == set()
    assert {scheme.name for scheme in built_in_schemes()} >= UNEVEN


class TestPgn(ImporterContract):
    samples = (
        b"""[Event "Rated Blitz game"]
[Site "https://lichess.org/AbCdEf12"]
[Date "2021.10.01"]
[Round "-"]
[White "Ann"]
[Black "Bob-2"]
[Result "1-0"]
[UTCDate "2021.10.01"]
[UTCTime "10:00:00"]
[WhiteElo "1500"]
[BlackElo "1600"]
[TimeControl "180+2"]
[Termination "Normal"]

1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Bc4 { [%clk 0:02:58] } 2... Nc6 { [%clk 0:02:58] }
3. Qh5 { [%clk 0:02:55] } 3... Nf6 { [%clk 0:02:50] } 4. Qxf7# { [%clk 0:02:51] } 1-0
""",
        """[Event "Club championship"]
[Site "Köln"]
[Date "1999.??.??"]
[Round "3.1"]
[White "Müller, Jürgen"]
[Black "Smith, J. \\"Jim\\""]
[Result "1/2-1/2"]

1. d4 d5 (1... Nf6 {Indian (really)} 2. c4) 2. c4 $1 e6 ; a line
% an escape
3. Nc3 Nf6 1/2-1/2

[Event "Club championship"]
[Site "Köln"]
[Date "1999.10.02"]
[Round "3.2"]
[White "Brown, A"]
[Black "Green, B"]
[WhiteFideId "1503014"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1
""".encode(),
    )

    def make(self) -> Importer:
        return pgn.read_games


class TestLichessNdjson(ImporterContract):
    samples = (
        b'{"id":"AbCdEf12","rated":true,"variant":"standard","speed":"blitz","createdAt":1633082400000,'
        b'"lastMoveAt":1633082900000,"status":"mate","players":{"white":{"user":{"name":"Ann","id":"ann"},'
        b'"rating":1500},"black":{"user":{"name":"Bob-2","id":"bob-2"},"rating":1600}},"winner":"white",'
        b'"moves":"e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#","clocks":[18003,18003,17803],"tournament":"XyZ12345"}\n'
        b'{"id":"AbCdEf13","rated":false,"variant":"crazyhouse","speed":"bullet","createdAt":1633082400001,'
        b'"status":"outoftime","players":{"white":{"aiLevel":3},"black":{"user":{"name":"Bob-2"}}}}\n',
    )

    def make(self) -> Importer:
        return lichess.read_games


class TestLedgerJsonl(ImporterContract):
    samples = (
        b"".join(
            game_line(game) + b"\n"
            for sample in TestLichessNdjson.samples
            for game in TestLichessNdjson()._read(sample)[0]
        ),
    )

    def make(self) -> Importer:
        return jsonl.read_games


def met(n: float, seen: list[float] = []) -> float:  # noqa: B006  # the memory that no step may have
    """Count the games of everybody."""
    seen.append(n)
    return float(len(seen))


@attrs.define
class WithAMemoryOfItsOwn(Projector):
    kept: float = column(0.0, "REAL", "something")

    def step(self, game: RatedSide) -> None:
        self.kept = met(game.n)


@attrs.define
class ForgetsByNan(Projector):
    """NaN is stored as NULL and read back as the start value: a start that is no NaN comes back."""

    kept: float = column(0.0, "REAL", "something")

    def step(self, game: RatedSide) -> None:
        self.kept = nan if game.n % 3 == 0 else self.kept + 1.0


@pytest.mark.parametrize(
    ("made", "test"),
    [
        (WithAMemoryOfItsOwn, "test_the_step_depends_on_nothing_but_the_state_and_the_side"),
        (WithAMemoryOfItsOwn, "test_two_players_have_nothing_in_common"),
        (ForgetsByNan, "test_game_by_game_gives_the_rows_of_one_rebuild"),
    ],
)
def test_a_projector_that_breaks_its_contract_is_found(made: type[Projector], test: str, tmp_path: Path) -> None:
    class Broken(ProjectorContract):
        def make(self) -> DeclaredProjector:
            return declare(made, name="broken", version=1, reads=("n",))

    run = getattr(Broken(), test)
    with pytest.raises(AssertionError):
        run(tmp_path) if "rows" in test else run()


def overconfident(player: Any, opponent: Any, numbers: Any) -> float:
    return chessworld.expected_score(player, opponent, numbers) * 1.5


def explained_before(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Any) -> Explanation:
    told = CHESSWORLD.explain(own, meetings, when, numbers)
    return told._replace(terms=tuple(term._replace(value=term.value + 1.0) for term in told.terms))


def returning(white: Any, black: Any, score: float, day: float, numbers: Any) -> tuple[float, float]:
    return white.rating + 10.0, black.rating - 10.0


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (attrs.evolve(CHESSWORLD, rate_game=returning), "test_a_game_is_rated_by_changing_both_players"),  # type: ignore[arg-type]
        (attrs.evolve(CHESSWORLD, expected_score=overconfident), "test_expected_scores_lie_in_0_to_1"),
        (
            attrs.evolve(CHESSWORLD, explain=explained_before),
            "test_explanations_give_the_rating_and_their_terms_recompute_it",
        ),
    ],
)
def test_a_scheme_that_breaks_its_contract_is_found(broken: Scheme, test: str) -> None:
    class Broken(SchemeContract):
        def make(self) -> Scheme:
            return broken

    with pytest.raises(AssertionError):
        getattr(Broken(), test)()


def test_a_journal_that_keeps_half_a_transaction_is_found() -> None:
    class Careless(MemoryJournal):
        @contextmanager
        def writing(self, *, keys: Sequence[str] = ()) -> Iterator[MemoryWriter]:
            with super().writing(keys=keys) as writer, suppress(Exception):
                yield writer

    class Broken(JournalContract):
        def make(self) -> Journal:
            return Careless()

    with pytest.raises(AssertionError):
        Broken().test_a_transaction_is_seen_whole_or_not_at_all()


def test_an_importer_that_raises_is_found() -> None:
    def strict(lines: Iterable[bytes], reading: Reading) -> Iterator[SourceGame]:
        return jsonl.read_games((line.decode().encode() for line in lines), reading)

    class Broken(ImporterContract):
        samples = TestLedgerJsonl.samples

        def make(self) -> Importer:
            return strict

    with pytest.raises(UnicodeDecodeError):
        Broken().test_arbitrary_bytes_are_read_without_an_error()
