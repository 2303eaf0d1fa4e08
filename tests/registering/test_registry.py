"""The register of players from Python: all or nothing, and what could act no longer is refused."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ledger.duplicates.namesakes import Namesakes
from ledger.errors import ConflictError, MalformedError, RejectedError, StorageError, UnknownNameError
from ledger.facts.events import RatingSeeded
from ledger.facts.prior_ratings import PriorRating
from ledger.facts.source_games import player_schema
from ledger.imports.files import open_source
from ledger.imports.players import formats
from ledger.ledger import Ledger
from ledger.registering import player_lists
from ledger.registering.registry import NewPlayer
from tests.kit.clubs import NOW
from tests.kit.corrections import ratings
from tests.kit.games import game_recorded


@pytest.fixture(name="pair_of_players")
def _pair_of_players(tmp_path: Path) -> Iterator[Ledger]:
    """Ann and Bob, who have played on 1 May 2020, and Cleo, who has not."""
    with Ledger.create(tmp_path / "club.db", clock=lambda: NOW) as ledger:
        ledger.register_many([("id:1", "Ann"), ("id:2", "Bob"), ("id:8", "Cleo")])
        ledger.append(game_recorded("g", ended_at="2020-05-01", half_moves=40))
        yield ledger


def test_of_several_players_one_fault_keeps_all_out_and_every_fault_is_named(pair_of_players: Ledger) -> None:
    head = pair_of_players.head()
    players = [NewPlayer("id:3", "Cid"), NewPlayer("4", "Dan"), NewPlayer("id:5", "E\tva")]
    with pytest.raises(MalformedError) as error:
        pair_of_players.registry.add_many(players, actor="eve")
    assert {fault.split(":")[0] for fault in error.value.problems} == {"player 2", "player 3"}
    assert pair_of_players.head() == head


def test_who_is_registered_keeps_number_and_name(pair_of_players: Ledger) -> None:
    players = [NewPlayer("id:1", "Ann"), NewPlayer("id:3", "Cid")]
    (again, fresh) = pair_of_players.registry.add_many(players, actor="eve")
    assert (again.player, again.recorded, fresh.player, fresh.recorded) == (1, 0, 4, 1)
    with pytest.raises(RejectedError):
        pair_of_players.registry.add("id:1", "Anna", actor="eve")


def test_nobody_joins_on_another_day_than_before_or_in_the_future(pair_of_players: Ledger) -> None:
    joined = pair_of_players.player("Ann").joined_at
    with pytest.raises(ConflictError, match="joined_at"):
        pair_of_players.registry.add("id:1", "Ann", joined="2001-02-03", actor="eve")
    assert pair_of_players.player("Ann").joined_at == joined
    with pytest.raises(RejectedError, match="the player joined on 2999"):
        pair_of_players.registry.add("id:9", "Ivy", joined="2999", actor="eve")


@pytest.mark.parametrize("since", ["2019", "2021"])
def test_a_rating_of_a_list_acts_before_and_after_the_first_game(since: str, pair_of_players: Ledger) -> None:
    listed = PriorRating(rating="2100", pool="standard", since=since)
    learnt = pair_of_players.registry.learn(1, birth_year=1990, past=listed, actor="eve")
    assert (learnt.recorded, learnt.acts_in) == (2, ("standard",))


@pytest.mark.parametrize(("since", "acts"), [("2020-05-02", True), ("2020-05-01", False), (None, False)])
def test_a_declared_rating_acts_where_no_list_goes_before_it(
    since: str | None, acts: bool, pair_of_players: Ledger
) -> None:
    """A list that holds only after the first game takes nothing away, and where one does that is what is said."""
    pair_of_players.append(RatingSeeded(player=3, pool="standard", rating="1900", effective_at=since))
    pair_of_players.append(game_recorded("h", black=3, ended_at="2020-05-01", half_moves=40))
    before = ratings(pair_of_players)
    if acts:
        learnt = pair_of_players.registry.learn(3, declared_rating=2200, since="2020-05-01", actor="eve")
        assert learnt.acts_in == ("standard",)
        assert ratings(pair_of_players) != before
        return
    with pytest.raises(RejectedError, match="the rating of a list goes before this declared rating in every pool"):
        pair_of_players.registry.learn(3, declared_rating=2200, since="2020-05-01", actor="eve")


def test_registering_somebody_again_brings_no_second_rating_of_one_instant(pair_of_players: Ledger) -> None:
    registry = pair_of_players.registry
    past = PriorRating(rating="2100", pool="standard", since="2019")
    assert [registry.add("id:1", "Ann", past=past, actor="eve").recorded for _ in range(2)] == [1, 0]
    with pytest.raises(RejectedError, match=r"same-instant: .*2019-01-01 is the instant of 2019"):
        registry.add("id:1", "Ann", past=PriorRating(rating="2200", pool="standard", since="2019-01-01"), actor="eve")
    assert [row["rating"] for row in pair_of_players.rows("seeds")] == [2100.0]


def test_a_list_of_a_pool_that_is_none_registers_nobody(pair_of_players: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "players.csv"
    path.write_text("id,name,rating\nid:7,Gil,1800\n", "utf-8")
    with open_source(str(path)) as source:
        players = formats.read_players(source, "csv", "standard", None)
        with pytest.raises(UnknownNameError, match="blitz"):
            pair_of_players.registry.take_list(players, pool="blitz", actor="eve")
    with pytest.raises(UnknownNameError):
        pair_of_players.player("Gil")


@pytest.mark.parametrize("four_eyes", [False, True])
def test_no_past_is_told_of_who_was_registered_after_a_list_was_looked_through(
    pair_of_players: Ledger, monkeypatch: pytest.MonkeyPatch, four_eyes: bool
) -> None:
    pair_of_players.policies.set("four-eyes", {"on": four_eyes}, actor="adam")

    def register(*_: object) -> list[Namesakes]:
        with Ledger.open(pair_of_players.path, clock=lambda: NOW) as other:
            player = other.register("id:9", "Zoe")
            other.append(game_recorded("z", white=player, ended_at="2020-05-02", half_moves=40))
        return []

    # the last step before the list waits for the lock
    monkeypatch.setattr(player_lists, "namesakes", register)
    rows = [
        {"line": 1, "identity": "id:9", "name": "Zoe", "rating": "2100"},
        {"line": 2, "identity": "id:10", "name": "Yan"},
    ]
    frame = pl.DataFrame(rows, schema=dict(player_schema()))
    with pytest.raises(StorageError, match="were registered while it was read; import it again: nothing was recorded"):
        pair_of_players.registry.take_list([frame], pool="standard", actor="eve")
    assert not list(pair_of_players.entries("rating-seeded"))
    report = pair_of_players.registry.take_list([frame], pool="standard", actor="eve")
    expected = (0, 0, 1) if four_eyes else (1, 1, 0)  # the past of who is registered is for two
    assert (report.registered, report.seeded, report.fault_count) == expected


@pytest.mark.parametrize(
    ("identity", "other"),
    [("fide:1503014", "fide:01503014"), ("name:ann lee", "NAME:Ann  Lee"), ("fide:007", "FIDE:7")],
)
def test_two_spellings_of_one_identity_are_one_player_of_a_list(
    pair_of_players: Ledger, identity: str, other: str
) -> None:
    def frame(*identities: str) -> pl.DataFrame:
        rows = [{"line": line, "identity": each, "name": "Ann Lee"} for line, each in enumerate(identities, 1)]
        return pl.DataFrame(rows, schema=dict(player_schema()))

    report = pair_of_players.registry.take_list([frame(identity), frame(other)], actor="eve")
    assert (report.registered, [fault.line for fault in report.faults]) == (0, [1])
    assert "stands in line 1 already" in report.faults[0].message
    assert pair_of_players.registry.take_list([frame(identity)], actor="eve").registered == 1
    assert pair_of_players.registry.take_list([frame(other)], actor="eve").registered == 0
    assert len({person.player for person in pair_of_players.people.by_identity([identity, other]).values()}) == 1


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"standing": "x"}, "standing"),
        ({"birth_year": -1}, "birth_year"),
        ({"rating": "1e5"}, "rating"),
        ({"rating": "0"}, "rating"),
        ({"rating": "1500", "games": -1}, "games"),
        ({"rating": "1500", "k_factor": "x"}, "k_factor"),
        ({"rating": "1500", "since": "2020-02-30"}, "effective_at"),
        ({"deviation": "80"}, "deviation"),
        ({"volatility": "0.06"}, "volatility"),
        ({"highest": "1700"}, "highest"),
        ({"name": ""}, "name"),
        ({"name": " Zoe"}, "name"),
        ({"name": None}, "name"),
        ({"identity": "7"}, "identity"),
        ({"identity": "fide:x"}, "identity"),
        ({"identity": "fide:1x"}, "identity"),
        ({"identity": "id:" + "x" * 300}, "identity"),
        ({"identity": None}, "identity"),
    ],
)
def test_a_row_of_a_list_that_no_event_may_hold_registers_nobody(
    pair_of_players: Ledger, told: dict[str, object], field: str
) -> None:
    sound = {"line": 1, "identity": "id:81", "name": "Zoë", "rating": "1500.5", "since": "2020", "standing": "guest"}
    rows = [sound, {"line": 2, "identity": "id:82", "name": "Yan"} | told]
    size = pair_of_players.journal.size()
    report = pair_of_players.registry.take_list([pl.DataFrame(rows, schema=dict(player_schema()))], actor="eve")
    assert [fault.line for fault in report.faults] == [2]
    assert field in report.faults[0].message
    assert pair_of_players.journal.size() == size
    # alone the sound one is taken
    report = pair_of_players.registry.take_list([pl.DataFrame([sound], schema=dict(player_schema()))], actor="eve")
    assert (report.registered, report.faults) == (1, [])
    pair_of_players.catch_up()


def test_who_is_registered_while_a_list_is_read_is_known_of_it(pair_of_players: Ledger) -> None:
    rows = [{"line": 1, "identity": "id:9", "name": "Zoe", "rating": "2100", "birth_year": 1990}]

    def register(_: int) -> None:
        with Ledger.open(pair_of_players.path, clock=lambda: NOW) as other:
            other.registry.add("id:9", "Zoe", actor="adam")

    frame = pl.DataFrame(rows, schema=dict(player_schema()))
    report = pair_of_players.registry.take_list([frame], actor="eve", advance=register)
    assert (report.registered, report.births, report.seeded, report.fault_count) == (0, 1, 1, 0)
