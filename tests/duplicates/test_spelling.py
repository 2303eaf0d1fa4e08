"""Players whose identity is spelt in several ways: one person everywhere, and old spellings stay valid."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.errors import ConflictError
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from tests.errors.rule_cases import source
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_player_is_one_in_every_spelling(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    assert ledger.register("name:ANN", "ann") == ledger.register("name: ann", "ann") == 1
    carl = ledger.register("lichess:Carl", "Carl")
    assert ledger.people.by_number([carl])[carl].identity == "lichess:carl"
    game = source("r2", white_id="name:Ann", black_id="lichess:CARL")
    report = ledger.import_games(batch_games([game, source("r3", white_id="name:Dora", black_id="name:dora")]))
    assert (report.recorded, report.players) == (1, 1)
    assert report.faults[0].message.startswith("same-player: ")
    (row,) = [entry.facts for entry in ledger.entries("game-recorded", 1)]
    assert (row["white"], row["black"]) == (1, carl)
    ledger.catch_up()
    assert audit(ledger.path).falsehoods == ()


def test_an_old_spelling_stays_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.create(tmp_path / "club.db", clock=lambda: NOW) as ledger, monkeypatch.context() as before_the_rule:
        before_the_rule.setattr("ledger.players.people.spelt", lambda identity: identity)
        assert [ledger.register(f"name:{name}", "Ann") for name in ("Ann", "ann", "\u00c9MILE", " bob")] == [1, 2, 3, 4]
    with Ledger.open(tmp_path / "club.db", clock=lambda: NOW) as ledger:
        known = {"name:Ann": 1, "name:ann": 2, "name:ANN": 2, "name:\u00e9mile": 3, "name:\u00c9mile": 3}
        known |= {"name: bob": 4, "name:bob": 4, "name:Bob": 4}
        found = ledger.people.by_identity([*known, "name:dora"])
        assert {identity: person.player for identity, person in found.items()} == known
        assert ledger.register("name:\u00e9mile", "Ann") == 3
        assert ledger.people.numbers() == {1, 2, 3, 4}


def test_another_name_for_a_registered_player_is_refused(club_of_two: ClubOfTwo) -> None:
    head = club_of_two.ledger.head()
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.register("name:ann", "Anna")
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("name", "Ann", "Anna")
    assert club_of_two.ledger.head() == head


def test_a_csv_with_identities_in_capitals_tells_of_the_same_players(run: Run, tmp_path: Path) -> None:
    path, csv = tmp_path / "club.db", tmp_path / "games.csv"
    rows = ("key,white_id,black_id,result,date", "1,name:Ann,lichess:Bob,1-0,2020", "2,name:ann,lichess:bob,1-0,2021")
    csv.write_text("\n".join(rows))
    assert run("init", path).code == 0
    assert "2 games recorded, 0 known already, 2 new players" in run("import", path, csv).err


def test_who_came_in_by_an_import_has_joined_with_the_first_game(run: Run, tmp_path: Path) -> None:
    path, csv = tmp_path / "club.db", tmp_path / "games.csv"
    csv.write_text("key,white,black,result,date\n1,Ann,Bob,1-0,2020-03-04\n2,Bob,Cleo,1-0,2019-02-01\n")
    assert run("init", path).code == 0
    assert run("import", path, csv).code == 0
    days = {name: json.loads(run("show", path, name).out)["joined"] for name in ("ann", "bob", "cleo")}
    assert days == {"ann": "2020-03-04", "bob": "2019-02-01", "cleo": "2019-02-01"}
