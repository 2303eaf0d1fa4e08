"""What somebody may have meant: near names are suggested, far ones are not."""

from pathlib import Path

import pytest

from ledger.errors import UnknownNameError
from ledger.ledger import Ledger
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.nearest import did_you_mean, expected_names, similar_names

POOLS = ("standard", "rapid", "blitz", "bullet")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rapd", ["rapid"]), ("RAPID", ["rapid"]), ("standrad", ["standard"]), ("std", []), ("x", []), ("", []),
        ("bul", ["bullet"]), ("b", []), ("blizt", ["blitz"]), ("Straße", []),
    ],
)  # fmt: skip
def test_near_names_are_found_and_far_ones_are_not(word: str, meant: list[str]) -> None:
    assert similar_names(word, POOLS) == meant


def test_the_words_of_a_suggestion() -> None:
    assert did_you_mean("rapd", POOLS) == "did you mean 'rapid'? "
    assert did_you_mean("glick", ("glicko", "glicko2")) == "did you mean 'glicko' or 'glicko2'? "
    assert did_you_mean("xyz", POOLS) == ""
    assert expected_names("blits", POOLS) == f"did you mean 'blitz'? expected one of {sorted(POOLS)}"
    assert expected_names("a", []) == "expected one of []"


@pytest.fixture(name="club_of_names")
def _club_of_names(tmp_path: Path) -> Ledger:
    with Ledger.create(tmp_path / "club.db") as made:
        for number, name in enumerate(("Carlsen, Magnus", "Caruana, Fabiano", "Ann", "Müller, Jörg")):
            made.register(f"fide:{number}", name)
    return Ledger.open(tmp_path / "club.db")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("Anna", "did you mean 'Ann'? names are matched whole"),
        ("carlsen", "did you mean 'Carlsen, Magnus'? names"),
        ("Muller, Jorg", "did you mean 'Müller, Jörg'? "),
        ("fide:11", "in this ledger; names are matched whole"),
        ("Zz", "in this ledger; names are matched whole"),
    ],
)
def test_players_who_may_be_meant_are_named(word: str, says: str, club_of_names: Ledger) -> None:
    with club_of_names as ledger, pytest.raises(UnknownNameError) as caught:
        ledger.player(word)
    assert says in str(caught.value)


def test_who_was_erased_is_suggested_to_nobody(club_of_names: Ledger) -> None:
    with club_of_names as ledger:
        ledger.erase(ledger.player("Ann").player)
        with pytest.raises(UnknownNameError, match=r"ledger; names are matched whole"):
            ledger.player("Anna")


def test_of_many_people_those_are_compared_that_begin_alike(tmp_path: Path) -> None:
    people = SqlitePeople.create(tmp_path / "people.db")
    people.assign_numbers({f"id:{i}": f"Player {i}" for i in range(6_000)} | {"id:x": "Zorro Ann"}, "2020")
    assert people.suggest("Zoro Ann") == ["Zorro Ann"]
    assert people.suggest("Ann") == ["Zorro Ann"]
    people.close()
