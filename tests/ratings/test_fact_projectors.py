"""Projectors of facts in a ledger: what they are told by every way in which a fact comes to stand, and what is refused.

That any history gives the rows of the right facts, ``test_drawn_histories`` and the contract show; here stands what
they say.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.answers import querying
from ledger.answers.exports import exporting
from ledger.audit.audit import audit
from ledger.errors import ProjectionError, ReadModelWarning
from ledger.facts.events import (
    CorrectionProposed,
    Decision,
    Event,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    RoundWithoutGame,
    SchemeAdopted,
)
from ledger.facts.words import Brings, Standing
from ledger.ledger import Ledger
from ledger.ratings import read_models, views
from ledger.ratings.fact_projector import (
    DeclaredFactProjector,
    FactProjector,
    FactRows,
    declare_facts,
    is_fact_identity,
    key_column,
    value_column,
)
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.ratings.projector import Kept, Projector
from ledger.runtime import plugins
from ledger.runtime.ledger_files import sidecar
from tests.kit.games import game_recorded
from tests.kit.plugins import JOINERS, OF_FACTS, WEEKDAYS
from tests.kit.tampering import run_sql

FRIDAY, SATURDAY = 4, 5


@pytest.fixture
def little_club(tmp_path: Path) -> Path:
    path = tmp_path / "club.db"
    with Ledger.create(path, clock=lambda: datetime(2019, 1, 1, tzinfo=UTC)):
        pass
    with Ledger.open(path) as ledger:
        for number, name in enumerate(("Ann", "Bob", "Cid"), 1):
            ledger.registry.add(f"id:{number}", name, joined=f"2020-0{number}-01", actor="adam")
    with Ledger.open(path) as ledger:
        ledger.append(game_recorded("friday", white=1, black=2, ended_at="2021-06-04", half_moves=60))
        ledger.append(game_recorded("casual", white=2, black=3, ended_at="2021-06-04", half_moves=80, rated=False))
    return path


def opened(path: Path, made: Sequence[DeclaredFactProjector] = OF_FACTS) -> Ledger:
    ledger = Ledger.open(path, projectors=made)
    ledger.ensure_up_to_date()
    return ledger


def rows(ledger: Ledger, name: str) -> list[tuple[Any, ...]]:
    ledger.ensure_up_to_date()
    return [tuple(row.values()) for row in ledger.rows(name)]


def approve(ledger: Ledger, verb: str, **words: str) -> int:
    change = ledger.corrections.verbs.change(verb, words)
    number = ledger.propose([change], reason="the scoresheet", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    return number


def test_unrated_games_and_players_are_told_of(little_club: Path) -> None:
    with opened(little_club) as ledger:
        assert rows(ledger, "weekdays") == [("standard", FRIDAY, 2, 1)]
        assert [row[2:] for row in rows(ledger, "long_games")] == [(60, 1), (80, 0)]
        assert rows(ledger, "joiners") == [("2020-01", 1), ("2020-02", 1), ("2020-03", 1)]


def test_a_correction_takes_away_what_the_fact_had_brought_and_adds_what_it_brings(little_club: Path) -> None:
    with opened(little_club) as ledger:
        approve(ledger, "game", game="friday", field="ended_at", to="2021-06-05")
        assert rows(ledger, "weekdays") == [("standard", FRIDAY, 1, 1), ("standard", SATURDAY, 1, 0)]
        number = approve(ledger, "void", game="casual")
        assert rows(ledger, "weekdays") == [("standard", SATURDAY, 1, 0)]
        approve(ledger, "undo", proposal=str(number))
        assert rows(ledger, "weekdays") == [("standard", FRIDAY, 1, 1), ("standard", SATURDAY, 1, 0)]


def test_a_further_telling_is_told_of_as_the_game_that_it_makes(little_club: Path) -> None:
    with opened(little_club) as ledger:
        game = game_recorded("short", white=1, black=3, ended_at="2021-06-04", half_moves=None)
        entry = ledger.append(game).position
        assert len(rows(ledger, "long_games")) == 2
        ledger.append(attrs.evolve(game, half_moves=30))
        assert (entry, "standard", 30, 1) in rows(ledger, "long_games")


def test_a_game_between_two_numbers_of_one_person_is_none_while_they_are_merged(little_club: Path) -> None:
    with opened(little_club) as ledger:
        approve(ledger, "merge", player="2", into="1")
        assert rows(ledger, "weekdays") == [("standard", FRIDAY, 1, 1)]
        approve(ledger, "undo", proposal="1")
        assert rows(ledger, "weekdays") == [("standard", FRIDAY, 2, 1)]


@attrs.define
class Byes(FactProjector):
    of_player: int = key_column("INTEGER", "who had them")
    byes: int = value_column("INTEGER", "how many")

    @staticmethod
    def on_change(rows: FactRows, position: int, before: Event | None, now: Event | None) -> None:  # noqa: ARG004
        for bye, amount in ((before, -1), (now, 1)):
            if isinstance(bye, RoundWithoutGame):
                rows.add((bye.player,), amount)


BYES = declare_facts(Byes, name="byes", version=1, kinds=(RoundWithoutGame,), sums=True)


def test_a_bye_that_comes_back_with_its_tournament_and_goes_with_the_undoing_of_that_is_told_of(
    little_club: Path,
) -> None:
    with opened(little_club, (BYES,)) as ledger:
        ledger.append(game_recorded("cup", ended_at="2021-06-05", tournament="Cup"))
        bye = RoundWithoutGame(
            pool="standard", tournament="Cup", edition="2021-06-05", round=2, player=3, brings=Brings.HALF
        )
        ledger.append(bye)
        assert rows(ledger, "byes") == [(3, 1)]
        approve(ledger, "take-back", fact=bye.key)
        approve(ledger, "void", game="cup")
        assert rows(ledger, "byes") == []
        number = approve(ledger, "reinstate-tournament", tournament="Cup")
        assert rows(ledger, "byes") == [(3, 1)]
        approve(ledger, "undo", proposal=str(number))
        assert rows(ledger, "byes") == []
        ledger.rebuild()
        assert rows(ledger, "byes") == []


def test_a_bye_goes_with_its_tournament_and_comes_back_with_it(little_club: Path) -> None:
    def bye(player: int, tournament: str, day: str = "2021-06-05") -> RoundWithoutGame:
        return RoundWithoutGame(
            pool="standard",
            tournament=tournament,
            edition=day,
            round=len(tournament),
            player=player,
            brings=Brings.HALF,
        )

    with opened(little_club, (BYES,)) as ledger:
        ledger.append(game_recorded("cup", ended_at="2021-06-05", tournament="Cup"))
        ledger.append_many([bye(3, "Cup"), bye(2, "Cup", "2022-06-05"), bye(1, "Open")])
        assert rows(ledger, "byes") == [(1, 1), (2, 1), (3, 1)]
        number = approve(ledger, "void-tournament", tournament="Cup", until="2021-12-31")
        assert rows(ledger, "byes") == [(1, 1), (2, 1)]
        # recorded while it is void, and moved into it
        ledger.append(bye(1, "Cup"))
        approve(ledger, "fact", fact=bye(1, "Open").key, field="tournament", to="Cup")
        ledger.append(bye(2, "Cup"))
        assert rows(ledger, "byes") == [(2, 1)]
        ledger.rebuild()
        assert rows(ledger, "byes") == [(2, 1)]
        approve(ledger, "undo", proposal=str(number))
        there = rows(ledger, "byes")
        ledger.rebuild()
        assert rows(ledger, "byes") == there == [(1, 2), (2, 2), (3, 1)]
    assert audit(little_club, projectors=(*BUILT_IN, BYES)).falsehoods == ()


def told_by(path: Path, kinds: tuple[type[Event], ...]) -> list[tuple[Any, ...]]:
    """What a projector of some kinds is told when it is made late."""
    told: list[tuple[Any, ...]] = []

    def stand(rows: FactRows, *fact: Any) -> None:
        rows.put(fact[:1])
        told.append(fact)

    entry = Kept("entry", "INTEGER", 0, "position")
    made = DeclaredFactProjector(name="listener", version=1, kinds=kinds, key=(entry,), on_change=stand)
    with opened(path, (made,)):
        return told


def test_each_fact_is_told_once_as_it_stands_when_a_projector_comes_late(little_club: Path) -> None:
    with opened(little_club, ()) as ledger:
        approve(ledger, "game", game="friday", field="half_moves", to="44")
        approve(ledger, "void", game="casual")
        ledger.append(PlayerChanged(player=1, effective_at="2021-01-01", standing=Standing.GUEST))
    told = told_by(little_club, (GameRecorded, PlayerChanged, PlayerRegistered, SchemeAdopted))
    assert [before for _, before, _ in told] == [None] * len(told)
    assert sorted(type(now).__name__ for _, _, now in told) == sorted(
        ["SchemeAdopted", *["PlayerRegistered"] * 3, "PlayerChanged", "GameRecorded"]
    )
    (game,) = (now for _, _, now in told if isinstance(now, GameRecorded))
    assert (game.game, game.half_moves) == ("friday", 44)


def test_a_large_backlog_is_told_of_like_a_small_one(little_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(little_club) as ledger:
        monkeypatch.setattr(views, "FEW_ENTRIES", 0)
        ledger.append_many(
            [
                game_recorded(f"g{number}", white=1, black=2, ended_at=f"2021-07-{number:02}", half_moves=number + 20)
                for number in range(1, 29)
            ]
        )
        live = {made.name: rows(ledger, made.name) for made in OF_FACTS}
        ledger.rebuild()
        assert {made.name: rows(ledger, made.name) for made in OF_FACTS} == live
    assert len(live["long_games"]) == 30


def test_who_goes_on_without_the_plug_in_leaves_its_table_behind_also_by_an_unrated_game(little_club: Path) -> None:
    opened(little_club).close()
    with Ledger.open(little_club) as ignorant:
        ignorant.append(game_recorded("free", white=1, black=3, ended_at="2021-06-05", half_moves=20, rated=False))
        ignorant.ensure_up_to_date()
        assert read_models.stale_tables(ignorant.views.connection) == {made.name for made in OF_FACTS}
        with pytest.raises(ProjectionError, match=r"weekdays: its table is of entry 6, the views are of entry 7"):
            ignorant.rows("weekdays")
    with opened(little_club) as ledger:
        assert rows(ledger, "weekdays") == [("standard", FRIDAY, 2, 1), ("standard", SATURDAY, 1, 1)]


def test_the_rule_of_the_ledger_takes_its_table_away(little_club: Path) -> None:
    with opened(little_club) as ledger:
        ledger.policies.set("read-models", {"weekdays": False}, actor="adam")
        ledger.ensure_up_to_date()
        names = {name for (name,) in ledger.views.connection.execute("SELECT name FROM sqlite_master")}
        assert {"joiners", "long_games"} <= names
        assert "weekdays" not in names


def test_its_table_is_told_of_queried_and_exported_like_any_other(little_club: Path) -> None:
    with opened(little_club) as ledger:
        described = querying.view_tables(ledger)["weekdays"]
        assert set(described.columns) == {"of_pool", "weekday", "games", "unrated"}
        assert list(querying.query(ledger, "SELECT games FROM weekdays"))
        exported = b"".join(exporting.export_lines(ledger, ["weekdays"]))
        assert exported == b"of_pool,weekday,games,unrated\nstandard,4,2,1\n"


def test_words_of_sql_are_names_of_tables_and_columns_like_any_others(little_club: Path) -> None:
    made = attrs.evolve(
        WEEKDAYS,
        name="table",
        key=tuple(column._replace(name=name) for column, name in zip(WEEKDAYS.key, ("group", "order"), strict=True)),
        columns=tuple(
            column._replace(name=name) for column, name in zip(WEEKDAYS.columns, ("select", "limit"), strict=True)
        ),
    )
    projectors = (*BUILT_IN, made)
    with opened(little_club, (made,)) as ledger:
        exported = b"".join(exporting.export_lines(ledger, ["table"]))
        assert exported == b"group,order,select,limit\nstandard,4,2,1\n"
        ledger.rebuild()
    assert audit(little_club, projectors=projectors).falsehoods == ()
    run_sql(sidecar(little_club, "views"), 'UPDATE "table" SET "select" = 3')
    assert [fault.position_or_key for fault in audit(little_club, projectors=projectors).falsehoods] == [
        "group standard, order 4"
    ]


def test_the_audit_derives_its_rows_anew_and_names_a_false_one(little_club: Path) -> None:
    opened(little_club).close()
    projectors = (*BUILT_IN, *OF_FACTS)
    assert audit(little_club, projectors=projectors).falsehoods == ()
    run_sql(sidecar(little_club, "views"), "UPDATE weekdays SET games = 3")
    verdict = audit(little_club, projectors=projectors)
    (falsehood,) = verdict.falsehoods
    assert "games is 3, the journal gives 2" in str(falsehood)


COLUMN = Kept("n", "INTEGER", 0, "a number")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kinds": ()}, "kinds= is a tuple of classes of events"),
        ({"kinds": [GameRecorded]}, "kinds= is a tuple of classes of events"),
        ({"kinds": (int,)}, "kinds= is a tuple of classes of events"),
        ({"kinds": GameRecorded}, "kinds= is a tuple of classes of events"),
        ({"name": ""}, "a name of a table or column matches"),
        ({"name": None}, "a name of a table or column matches"),
        ({"name": "sqlite_x"}, "a name of a table or column matches"),
        ({"name": 'a"; --'}, "a name of a table or column matches"),
        ({"version": 0}, "a whole number from 1 on"),
        ({"version": "1"}, "a whole number from 1 on"),
        ({"columns": (COLUMN._replace(name="N"),)}, r"two columns of its table would be called \['n'"),
        ({"kinds": (CorrectionProposed,)}, "change other facts"),
        ({"columns": (COLUMN,)}, r"two columns of its table would be called \['n'\]"),
        ({"key": (COLUMN._replace(type="BLOB"),)}, "none of the types"),
        ({"key": ()}, "its rows need a key"),
        ({"sums": True}, "its rows need a key, and sums"),
        ({"sums": True, "columns": (Kept("x", "REAL", 0, "points"),)}, "no whole numbers"),
    ],
)
def test_a_projector_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    made: dict[str, Any] = {"name": "odd", "version": 1, "kinds": (GameRecorded,), "key": (COLUMN,)}
    with pytest.raises(ProjectionError, match=message):
        DeclaredFactProjector(**{**made, "on_change": print, **fields})


@attrs.define
class Undeclared(FactProjector):
    games: int = 0

    @staticmethod
    def on_change(rows: FactRows, position: int, before: Event | None, now: Event | None) -> None:
        pass


@attrs.define
class Idle(FactProjector):
    games: int = key_column("INTEGER", "games")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (Undeclared, r"fields \['games'\] are no columns; give them by key_column"),
        (Idle, "Idle has no static method on_change"),
        (FactProjector, "its class is to be a class of attrs and of FactProjector"),
    ],
)
def test_a_class_that_is_no_projector_of_facts_is_refused(made: type[FactProjector], message: str) -> None:
    with pytest.raises(ProjectionError, match=message):
        declare_facts(made, name="odd", version=1, kinds=(GameRecorded,))


@pytest.mark.parametrize("kind", [FactProjector, Projector])
def test_a_projector_of_the_former_form_gets_a_line_that_says_so(kind: Any) -> None:
    with pytest.raises(
        ProjectionError, match=r"^odd: a projector is a class now, got \['name', 'version'\]: see 'Plug-ins'"
    ):
        kind(name="odd", version=1)


def adds_to_rows(rows: FactRows, position: int, *_: Event | None) -> None:
    rows.add((position,), 1)


def puts_too_much(rows: FactRows, position: int, *_: Event | None) -> None:
    rows.put((position, position))


def puts_text(rows: FactRows, *_: Any) -> None:
    rows.put(("two",))


def puts_nothing(rows: FactRows, *_: Any) -> None:
    rows.put((None,))


def puts_a_letter(rows: FactRows, *_: Any) -> None:
    rows.put("a")


def fails(_rows: FactRows, position: int, *_: Event | None) -> None:
    raise KeyError(f"entry {position}")


def left_out(path: Path, odd: DeclaredFactProjector) -> str:
    """Why the ledger goes on without a projector."""
    with Ledger.open(path, projectors=(*BUILT_IN, odd)) as ledger:
        with pytest.warns(ReadModelWarning, match="left out: odd: "):
            ledger.ensure_up_to_date()
        return str(plugins._broken.pop("odd"))


@pytest.mark.parametrize(
    ("stand", "message"),
    [
        (adds_to_rows, r"calls add\(\), but its table holds no sums"),
        (puts_too_much, r"gives the row \(2, 2\) and \(\), but its columns are \['n'\] and \[\]"),
        (puts_text, "column 'n' takes whole numbers of 64 bits, got 'two'"),
        (puts_nothing, "column 'n' takes whole numbers of 64 bits, got None"),
        (puts_a_letter, "gives the row 'a' and "),
        (fails, r"cannot take entry 2 \(KeyError: 'entry 2'\)"),
    ],
)
def test_what_a_projector_does_wrong_is_named_and_leaves_the_views_as_they_were(
    stand: Any, message: str, little_club: Path
) -> None:
    odd = DeclaredFactProjector(name="odd", version=1, kinds=(PlayerRegistered,), key=(COLUMN,), on_change=stand)
    with Ledger.open(little_club) as ledger:
        ledger.ensure_up_to_date()
    assert re.search(message, left_out(little_club, odd))
    with Ledger.open(little_club) as ledger:
        assert ledger.views.is_up_to_date()
        assert "odd" not in ledger.views.read_models()


def test_a_column_beside_the_key_may_be_empty_and_takes_values_of_its_own_type_alone(little_club: Path) -> None:
    def telling(value: Any) -> DeclaredFactProjector:
        def stand(rows: FactRows, position: int, _before: Event | None, _now: Event | None) -> None:
            rows.put((position,), (value,))

        other = COLUMN._replace(name="m")
        return DeclaredFactProjector(
            name="odd", version=1, kinds=(PlayerRegistered,), key=(COLUMN,), columns=(other,), on_change=stand
        )

    assert "column 'm' takes whole numbers of 64 bits, got 'two'" in left_out(little_club, telling("two"))
    with Ledger.open(little_club, projectors=(*BUILT_IN, telling(None))) as ledger:
        ledger.ensure_up_to_date()
        assert {row["m"] for row in ledger.rows("odd")} == {None}


def test_a_table_of_sums_takes_no_rows(little_club: Path) -> None:
    def puts(rows: FactRows, position: int, *_: Event | None) -> None:
        rows.put((position,), (1,))

    odd = attrs.evolve(JOINERS, name="odd", on_change=puts)
    assert "its table holds sums" in left_out(little_club, odd)


@pytest.mark.parametrize("amount", [0.5, True, 2**63, None, "1"])
def test_a_sum_takes_whole_numbers_alone(amount: Any, little_club: Path) -> None:
    def adds(rows: FactRows, _position: int, *_: Event | None) -> None:
        rows.add(("2020",), amount)

    odd = attrs.evolve(JOINERS, name="odd", on_change=adds)
    assert "takes whole" in left_out(little_club, odd)


def test_a_table_of_a_built_in_read_model_is_not_taken_by_one_of_facts(little_club: Path) -> None:
    with pytest.raises(ProjectionError, match="takes the name of an installed projector of another kind"):
        Ledger.open(little_club, projectors=(attrs.evolve(WEEKDAYS, name="streaks"),))


def test_two_of_one_name_or_of_a_table_s_name_are_refused(little_club: Path) -> None:
    twice, taken = (WEEKDAYS, WEEKDAYS), (attrs.evolve(WEEKDAYS, name="Games"),)
    for made, words in ((twice, "is given twice"), (taken, "takes the name of a table of the ledger")):
        with pytest.raises(ProjectionError, match=words):
            Ledger.open(little_club, projectors=made)


@pytest.mark.parametrize(
    "identity", ["", "history", "null", "7", "[]", "[1, 2, 3]", "[1, 2, 3, []]", "[1, 2, 3, null]"]
)
def test_an_identity_that_is_none_is_that_of_no_projector_of_facts(identity: str) -> None:
    assert not is_fact_identity(identity)
