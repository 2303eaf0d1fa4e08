"""Projectors that come and go: their tables are folded from the rows that stand, and nothing else is touched."""

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.answers.read_models import read_model_rows
from ledger.audit.audit import audit
from ledger.errors import MalformedError, ProjectionError, ReadModelError, ReadModelWarning
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import engine, installed_projectors, side_rows, table_repairs, views
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.ratings.projector import DeclaredProjector, Largest, Projector, RatedSide, column, declare
from ledger.ratings.projectors.history import HISTORY
from ledger.runtime import plugins
from ledger.runtime.columns import MANY
from ledger.runtime.lazy import np
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.records import part
from ledger.testing.kit import table_rows
from tests.kit.games import game_recorded, source_games
from tests.kit.plugins import SURPLUSES, WIN_STREAKS
from tests.kit.tampering import edit

GAMES = 300


@pytest.fixture
def plain_club(tmp_path: Path) -> Path:
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        ledger.import_games(batch_games(source_games(GAMES)))
    with Ledger.open(path, projectors=()) as ledger:
        ledger.catch_up()
    return path


def rows_of(path: Path, table: str, *kept: DeclaredProjector) -> list[Any]:
    with Ledger.open(path, projectors=kept) as ledger:
        ledger.ensure_up_to_date()
        return table_rows(ledger.views.connection, table)


def not_compared(path: Path, *kept: DeclaredProjector) -> dict[str, str]:
    verdict = audit(path, projectors=kept)
    assert verdict.falsehoods == ()
    return {omission.part: omission.reason for omission in verdict.not_compared}


@pytest.mark.slow
def test_a_ledger_opens_with_a_projector_of_ones_own_alone(plain_club: Path) -> None:
    streaks, history = (rows_of(plain_club, table, WIN_STREAKS) for table in ("win_streaks", "history"))
    assert len(streaks) == len(history) > GAMES


@pytest.mark.slow
def test_a_projector_installed_late_rates_nothing_again(plain_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows_of(plain_club, "history")
    with monkeypatch.context() as patch:
        patch.setattr(engine, "rate", None)
        late = rows_of(plain_club, "surpluses", SURPLUSES)
    assert rows_of(plain_club, "history", SURPLUSES) == before
    with Ledger.open(plain_club, projectors=(SURPLUSES,)) as ledger:
        ledger.rebuild()
        assert table_rows(ledger.views.connection, "surpluses") == late


def test_a_table_is_the_same_from_few_rows_in_plain_python_and_from_many_compiled(
    plain_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine.COMPILE_FROM > 2 * GAMES
    few = rows_of(plain_club, "win_streaks", WIN_STREAKS)
    newer = attrs.evolve(WIN_STREAKS, version=WIN_STREAKS.version + 1)  # so that it is folded anew
    with monkeypatch.context() as patch:
        patch.setattr(engine, "COMPILE_FROM", 1)
        many = rows_of(plain_club, "win_streaks", newer)
    assert many == few


def test_whoever_waits_for_a_new_table_is_told_how_far_it_is(plain_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_repairs, "BLOCK", 100)
    told: list[tuple[str, int, int]] = []
    with Ledger.open(plain_club, projectors=(SURPLUSES, WIN_STREAKS)) as ledger:
        ledger.ensure_up_to_date(lambda *words: told.append(words))
    rows = len(rows_of(plain_club, "history"))
    for what in ("table surpluses", "table win_streaks"):
        done = [done for name, done, total in told if name == what and total == rows]
        assert done == sorted(done)
        assert (len(done) > rows // 100, done[-1]) == (True, rows)


def test_a_new_version_is_folded_anew_and_one_that_is_gone_keeps_its_table(plain_club: Path) -> None:
    rows_of(plain_club, "win_streaks", WIN_STREAKS)
    longer = attrs.evolve(WIN_STREAKS, version=2, stores=("game", "rating_before", "expected_score"))
    names = {name for row in rows_of(plain_club, "win_streaks", longer, SURPLUSES) for name, _ in row}
    assert {"rating_before", "expected_score"} <= names
    with Ledger.open(plain_club, projectors=(SURPLUSES,)) as ledger:
        ledger.ensure_up_to_date()
        found = {name for (name,) in ledger.views.connection.execute("SELECT name FROM sqlite_master")}
    assert {"surpluses", "win_streaks"} <= found


@pytest.mark.slow
def test_the_audit_compares_what_is_there_and_says_what_is_not(plain_club: Path) -> None:
    assert not_compared(plain_club, SURPLUSES) == {
        "table surpluses": "it was installed since; the next command makes its rows"
    }
    rows_of(plain_club, "surpluses", SURPLUSES)
    assert not_compared(plain_club, SURPLUSES) == {}
    gone = not_compared(plain_club)
    assert list(gone) == ["table surpluses"]
    assert "its projector is not installed here" in gone["table surpluses"]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["history", "current", "games", "projections"])
def test_the_table_of_a_projector_that_is_gone_hides_no_falsehood_in_another(plain_club: Path, table: str) -> None:
    rows_of(plain_club, "surpluses", SURPLUSES)
    column = {"history": "rating", "current": "rating", "games": "ended_ms", "projections": "identity"}[table]
    where = "name = 'history'" if table == "projections" else "true"
    edit(sidecar(plain_club, "views"), f"UPDATE {table} SET {column} = 9999 WHERE {where}")
    assert {falsehood.table for falsehood in audit(plain_club, projectors=()).falsehoods} == {table}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, "takes the name of a table of the ledger") for name in ("history", "games", "current", "build")),
        ("win_streaks", "is given twice, or two have this name; rename one of them"),
    ],
)
def test_a_projector_may_not_take_the_name_of_another_table(name: str, words: str, plain_club: Path) -> None:
    taken = attrs.evolve(WIN_STREAKS, name=name, version=9)
    with pytest.raises(ProjectionError, match=words):
        Ledger.open(plain_club, projectors=(WIN_STREAKS, taken))


def test_a_projector_may_not_take_what_no_side_has_or_a_text() -> None:
    with pytest.raises(ProjectionError, match="no side of a game has"):
        attrs.evolve(WIN_STREAKS, reads=(*WIN_STREAKS.reads, "weather"))
    with pytest.raises(ProjectionError, match="can only be stored"):
        attrs.evolve(WIN_STREAKS, reads=(*WIN_STREAKS.reads, "tournament"))


def test_a_projector_has_an_index_by_its_own_state_alone() -> None:
    with pytest.raises(ProjectionError, match=r"its state has no 'weather' to have an index by: \['streak'"):
        attrs.evolve(WIN_STREAKS, largest=Largest("weather", 1))


@attrs.define
class Named(Projector):
    n: float = column(0.0, "INTEGER", "games")

    def step(self, game: RatedSide) -> None:
        self.n += game.n


def test_a_projector_may_not_give_two_columns_one_name() -> None:
    with pytest.raises(ProjectionError, match=r"two columns of its table would be called \['n'\]"):
        declare(Named, name="named", version=1, reads=("n",))


@attrs.define
class Faulty(Projector):
    whole: float = column(0.5, "INTEGER", "")
    kind: float = column(0.0, "INT", "a number")

    def step(self, game: RatedSide) -> None:
        game.n = 1.0
        self.other = game.rating
        self.helper()  # type: ignore[attr-defined]
        return self.whole  # type: ignore[return-value]


class Bare(Projector):
    pass


@attrs.define
class Lazy(Projector):
    games: float = column(0.0, "INTEGER", "games")


@attrs.define
class Yielding(Lazy):
    def step(self, game: RatedSide) -> Iterator[float]:  # type: ignore[override]
        yield game.n


@attrs.define
class Wide(Lazy):
    note: str = ""

    def step(self, game: RatedSide) -> None:
        self.games = game.n


@attrs.define
class Asking(Lazy):
    def step(self, game: RatedSide, day: float) -> None:  # type: ignore[override]
        self.games = game.n + day


def _of_a_worth(worth: float) -> type[Projector]:
    @attrs.define
    class Worth(Lazy):
        def step(self, game: RatedSide) -> None:
            self.games = game.n + worth

    return Worth


def test_a_step_that_only_the_compiler_would_refuse_is_refused_when_it_is_declared() -> None:
    with pytest.raises(ProjectionError) as caught:
        declare(attrs.make_class("Whole", {}, bases=(Faulty,)), name="faulty", version=1, reads=("n",))
    assert "whole: 0.5 is no start of a column of INTEGER" in str(caught.value)
    assert "whole: say what it means, with its unit" in str(caught.value)
    assert "kind: a column is of INTEGER or REAL, got 'INT'" in str(caught.value)

    @attrs.define
    class Sound(Projector):
        games: float = column(0.0, "INTEGER", "games")
        step = Faulty.step

    with pytest.raises(ProjectionError) as caught:
        declare(Sound, name="sound", version=1, reads=("n",))
    for words in (
        "writes game.n, which is only read",
        "writes self.other, which is none of its fields; expected one of ['games']",
        "reads game.rating, which reads= does not name; expected one of ['n']",
        "reads self.helper, which is none of its fields",
        "returns something",
    ):
        assert words in str(caught.value), words
    assert "test_installing.py:" in str(caught.value)


@attrs.frozen
class Frozen(Projector):
    games: float = column(0.0, "INTEGER", "games")


DAYS = [1.0, 2.0]


def in_words(n: float) -> int:
    return len(f"{n}")


@attrs.define
class Beyond(Lazy):
    def step(self, game: RatedSide) -> None:
        if game.n > 40:
            self.games += undefined_number  # type: ignore[name-defined]  # noqa: F821
        assert isinstance(game.n, float)
        self.games += DAYS[0] + in_words(game.n)


def test_what_a_step_may_not_use_is_named_with_its_line_when_it_is_declared() -> None:
    with pytest.raises(ProjectionError) as caught:
        declare(Beyond, name="beyond", version=1, reads=("n",))
    for words in (
        r"test_installing.py:\d+ uses undefined_number, which is defined nowhere",
        r"test_installing.py:\d+ uses isinstance",
        r"test_installing.py:\d+ uses DAYS, a list",
        r"test_installing.py:\d+ makes a text; it may use numbers, math, abs,",
    ):
        assert re.search(words, str(caught.value)), words


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (Frozen, "is frozen, and a step changes its fields"),
        (Bare, "Bare is no class of attrs; put @attrs.define above it"),
        (Lazy, r"Lazy has no step\(self, game\) of its own"),
        (Yielding, "is a generator"),
        (Projector, "its class is to be a class of Projector"),
        (Wide, r"Wide has other fields than columns; give it fields by column\(...\) or part\(...\)"),
        (Asking, r"takes \(self, game\), not \['self', 'game', 'day'\]"),
        (_of_a_worth(2.0), "uses worth from around it; use names of the module"),
    ],
)
def test_a_class_that_is_no_projector_is_refused(made: type[Projector], words: str) -> None:
    with pytest.raises(ProjectionError, match=words):
        declare(made, name="faulty", version=1, reads=("n",))


def test_no_plug_in_takes_the_name_of_a_built_in_projector(tmp_path: Path) -> None:
    streaks = attrs.evolve(WIN_STREAKS, name="streaks", version=99)
    with pytest.raises(ProjectionError, match="takes the name of a projector of the ledger; give it another name"):
        Ledger.create(tmp_path / "club.db", projectors=(streaks,))
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_is_made_with_projectors(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", projectors=(WIN_STREAKS,)) as ledger:
        ledger.import_games(batch_games(source_games(20)))
        ledger.ensure_up_to_date()
        assert list(ledger.rows("win_streaks"))


def test_name_and_version_are_looked_at_when_it_is_declared() -> None:
    with pytest.raises(ProjectionError, match=r"its name matches .*; its version is a whole number"):
        attrs.evolve(WIN_STREAKS, name="win streaks", version=1.5)  # type: ignore[arg-type]


def test_other_columns_under_the_same_version_are_made_anew(plain_club: Path) -> None:
    rows_of(plain_club, "win_streaks", WIN_STREAKS)
    other = attrs.evolve(WIN_STREAKS, stores=("game", "opponent"))
    assert {"opponent"} <= {name for row in rows_of(plain_club, "win_streaks", other) for name, _ in row}


@attrs.define
class Counting(Projector):
    games: float = column(0.0, "INTEGER", "games")

    def step(self, game: RatedSide) -> None:
        self.games = game.n


@attrs.define
class CountingTwice(Counting):
    def step(self, game: RatedSide) -> None:
        self.games = doubled(game.n)


def doubled(n: float) -> float:
    return 2.0 * n


def test_another_step_under_the_same_version_makes_the_table_anew(plain_club: Path) -> None:
    first, second = (declare(made, name="counts", version=1, reads=("n",)) for made in (Counting, CountingTwice))
    assert first.identity != second.identity
    once, twice = (max(dict(row)["games"] for row in rows_of(plain_club, "counts", made)) for made in (first, second))
    assert twice == 2 * once


@attrs.define
class Failing(Projector):
    games: float = column(0.0, "INTEGER", "games")

    def step(self, game: RatedSide) -> None:
        self.games += 1.0
        if game.n > 1:
            raise ValueError("no second game")


@attrs.define
class Fractions(Projector):
    halves: float = column(0.0, "INTEGER", "half games", unit="games")

    def step(self, game: RatedSide) -> None:
        self.halves = game.n / 2.0


@attrs.define
class Nothing(Projector):
    def step(self, game: RatedSide) -> None:
        pass


def test_a_fraction_in_a_column_of_whole_numbers_is_the_plug_ins_fault(
    plain_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_broken", {})
    words = (
        r"its step \(.*test_installing.py:\d+\) gives 0.5 to column 'halves' at rated game 1 of player 1, which is of "
        "whole numbers; call it REAL"
    )
    fractions = declare(Fractions, name="fractions", version=1, reads=("n",))
    with Ledger.open(plain_club, projectors=(fractions,)) as ledger:
        with pytest.warns(ReadModelWarning, match=words):
            ledger.ensure_up_to_date()
        with pytest.raises(ProjectionError, match=words):
            list(ledger.rows("fractions"))


def test_a_projector_may_store_columns_and_keep_nothing(plain_club: Path) -> None:
    nothing = declare(Nothing, name="nothing", version=1, reads=("n",), stores=("game",))
    assert len(rows_of(plain_club, "nothing", nothing)) == len(rows_of(plain_club, "history"))


def test_what_is_no_number_and_no_part_is_refused() -> None:
    with pytest.raises(MalformedError, match=r"the initial value of a number \(a number\) must be a number, got '0'"):
        column("0", "INTEGER", "a number")  # type: ignore[arg-type]
    with pytest.raises(MalformedError, match="a part is a class of attrs whose fields are columns, got <class 'int'>"):
        part(int)


@pytest.mark.parametrize("few", [True, False])
def test_a_step_that_fails_stops_nothing_but_its_own_table(
    plain_club: Path, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named with file and line; the table refuses to answer, all others go on, and it comes back when it is mended."""
    monkeypatch.setattr(plugins, "_broken", {})
    monkeypatch.setattr(views, "FEW_ENTRIES", views.FEW_ENTRIES if few else 0)
    words = (
        # compiled, as it is in a run of all tests, the step does not say at which side it was
        r"win_streaks: its step fails \(ValueError: no second game, .*test_installing.py:\d+\)"
        + ("" if not few else r" at rated game 2 of player \d+")
    )
    with Ledger.open(plain_club, projectors=(WIN_STREAKS,)) as ledger:
        ledger.ensure_up_to_date()
    failing = attrs.evolve(WIN_STREAKS, made=Failing, version=2, reads=("n",), stores=())
    with Ledger.open(plain_club, projectors=(*BUILT_IN, failing)) as ledger:
        ledger.append(game_recorded("g:late", ended_at="2026-11-20", half_moves=40))
        with pytest.warns(ReadModelWarning, match=words):
            ledger.ensure_up_to_date() if few else ledger.rebuild()
        assert ledger.views.is_up_to_date()
        with pytest.raises(ProjectionError, match=words):
            list(ledger.rows("win_streaks"))
        assert list(ledger.rows("streaks"))
        by_name = {row.projector: row for row in read_model_rows(ledger)}
        assert re.match(words, by_name["win_streaks"].stale or "")
        assert (by_name["win_streaks"].kept, by_name["win_streaks"].made_by) == (False, None)
        assert (by_name["streaks"].kept, by_name["streaks"].stale) == (True, None)
        assert by_name["streaks"].made_by == "ledger.ratings.projectors.streaks.Streaks"
        assert by_name["streaks"].position == ledger.views.position()
    assert [str(error)[:11] for error in plugins.broken_plugins()] == ["win_streaks"]
    assert audit(plain_club)
    assert rows_of(plain_club, "win_streaks", attrs.evolve(WIN_STREAKS, version=3))


def test_a_plug_in_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = EntryPoint("lost", "a_package_that_is_gone:LOST", "ledger.projectors")
    monkeypatch.setattr(installed_projectors, "entry_points", lambda **_: [lost])
    monkeypatch.setattr(plugins, "_broken", {})
    found, failed = installed_projectors._installed.__wrapped__()
    assert found == installed_projectors.BUILT_IN
    assert str(failed["lost"]).startswith(
        "lost: the plug-in 'a_package_that_is_gone:LOST' of a package without a name cannot be loaded (ModuleNotFound"
    )
    assert plugins.broken_plugins() == (failed["lost"],)


def test_both_sides_see_the_same_game(plain_club: Path) -> None:
    """Ratings before one game are those after the one before; what White expects, Black does not."""
    with Ledger.open(plain_club, projectors=(SURPLUSES,)) as ledger:
        ledger.ensure_up_to_date()
        query = (
            "SELECT mine.rating_before, theirs.opponent_rating_before, earlier.rating, mine.expected_score "
            "FROM surpluses AS mine JOIN history AS own USING (pool, player, n) "
            "JOIN surpluses AS theirs ON theirs.pool = own.pool AND theirs.player = own.opponent "
            "AND theirs.n = own.opponent_n "
            "LEFT JOIN history AS earlier ON earlier.pool = own.pool AND earlier.player = own.player "
            "AND earlier.n = own.n - 1"
        )
        rows = ledger.views.connection.execute(query).fetchall()
    assert len(rows) > GAMES
    for mine, as_seen, earlier, expected in rows:
        assert mine == as_seen
        assert earlier is None or mine == earlier
        assert 0 <= expected <= 1


def test_the_history_is_the_ledgers_own() -> None:
    assert HISTORY not in installed_projectors.installed_projectors()


@attrs.define
class NotCompiled(Projector):
    games: float = column(0.0, "REAL", "games", unit="games")

    def step(self, game: RatedSide) -> None:
        both = (game.n, game.n) if game.n > 1 else game.n  # of two kinds
        self.games += 1.0 if both else 0.0


@pytest.mark.slow  # compiles
def test_a_step_that_cannot_be_compiled_is_named_with_its_line() -> None:
    made = declare(NotCompiled, name="compiled", version=1, reads=("n",))
    words = r"compiled: its step cannot be compiled, as it is for many games \(.*test_installing.py:\d+\)"
    with pytest.raises(ReadModelError, match=words):
        side_rows.apply_projector(MANY, made, np.zeros(5, np.int32), {"n": np.arange(5)}, np.zeros(1))


@attrs.define
class Annotated(Projector):
    games: int = column(0.0, "REAL", "games")

    def step(self, game: RatedSide) -> None:
        self.games = game.half_point  # type: ignore[attr-defined]


def test_what_a_declaration_misspells_is_named_with_what_was_meant() -> None:
    with pytest.raises(ProjectionError, match=r"reads= takes several names, got 'n'; write \('n',\)"):
        declare(Annotated, name="annotated", version=1, reads="n")
    with pytest.raises(ProjectionError, match="no side of a game has 'half_point'; did you mean 'half_points'"):
        declare(Counting, name="counting", version=1, reads=("half_point",))
    with pytest.raises(ProjectionError) as caught:
        declare(Annotated, name="annotated", version=1, reads=("half_points",))
    assert "games: annotate it as float: both engines hold floats" in str(caught.value)
    assert "reads game.half_point, which reads= does not name; did you mean 'half_points'?" in str(caught.value)
