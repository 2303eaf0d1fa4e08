"""A new player whose name is a known one with one letter changed is noted, and refused nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.ledger import Ledger
from ledger.players.misspelt_names import column_pairs, find_similar_names, is_misspelt, row_pairs
from tests.kit.commands import Run
from tests.kit.source_files import written

NAME = "Carlsen, Magnus"


@pytest.mark.parametrize(
    "other",
    ["Carlsen, Magnu", "Carlsen, agnus", "Carlssen, Magnus", "Carlson, Magnus", "Calrsen, Magnus", "Magnus Carlse",
     "CARLSÉN MAGNUSS"],
)  # fmt: skip
def test_one_letter_missing_added_changed_or_exchanged_resembles(other: str) -> None:
    assert is_misspelt(NAME, other)
    assert is_misspelt(other, NAME)
    if "," in other or other.startswith("Magnus"):
        assert find_similar_names([("name:new", other)], [("fide:1", NAME)]) == [(0, "fide:1", NAME)]


@pytest.mark.parametrize("other", [NAME, "Carlsen, Henrik", "Carlsen, M", "Carl, Magnus", "Karlson, Magnus", "Carlsen"])
def test_the_same_name_and_more_than_a_letter_do_not(other: str) -> None:
    assert not is_misspelt(NAME, other)


def test_initials_short_names_users_digits_and_numbers_of_one_register_are_not_compared() -> None:
    for name, other in (("Carlsen, M", "Carlsen, N"), ("Ann Ek", "Ann Eke"), ("Player one1", "Player one2")):
        assert find_similar_names([("name:new", name)], [("name:known", other)]) == []
    assert find_similar_names([("fide:2", "Carlson, Magnus")], [("fide:1", NAME)]) == []
    assert find_similar_names([("lichess:magnuscarlsen", "magnuscarlsen")], [("name:x", "magnuscarlson")]) == []


_NAMES = st.text("abÉø, 1ßΣ-٣'\u0130", min_size=5, max_size=12) | st.text("aBé,", min_size=6, max_size=9)
_IDENTITIES = st.sampled_from([f"{source}:{number}" for source in ("name", "fide", "lichess") for number in range(4)])


@given(st.lists(st.tuples(_IDENTITIES, _NAMES), max_size=4), st.lists(st.tuples(_IDENTITIES, _NAMES), max_size=12))
def test_a_few_names_are_compared_as_many_are(asked: list[tuple[str, str]], others: list[tuple[str, str]]) -> None:
    assert list(row_pairs(asked, [*others, *asked])) == list(column_pairs(asked, [*others, *asked]))


@pytest.mark.parametrize("strangers", [0, 30])
def test_an_import_and_its_dry_run_name_the_misspelt_player(
    strangers: int, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    with Ledger.open(empty_club) as ledger:
        ledger.register("fide:1503014", NAME)
        ledger.catch_up()
    rows = "".join(f"Stranger {chr(65 + n % 26)}{'x' * (n // 26 * 3)},Bob,1-0,2025-03-01\n" for n in range(strangers))
    path = written(tmp_path, "a.csv", f'white,black,result,date\n{rows}"Carlsen, Magnu",Bob,1-0,2025-03-01\n'.encode())
    words = "the name of name:carlsen, magnu is that of fide:1503014 with one letter changed"
    assert words in run("import", empty_club, path, "--dry-run").err
    done = run("import", empty_club, path)
    assert (done.code, words in done.err) == (0, True)
    published = run("publish", empty_club, "--at", "2025-03-31")
    assert "has the name of player 1 with one letter changed" not in published.err, "she has not played"


def test_publishing_names_a_new_player_who_resembles_a_listed_one(empty_club: Path, tmp_path: Path, run: Run) -> None:
    rows = 'white,black,result,date\n"Carlsen, Magnus",Bob,1-0,2025-03-01\n'
    assert run("import", empty_club, written(tmp_path, "a.csv", rows.encode())).code == 0
    later = 'white,black,result,date\n"Carlsen, Magnu",Bob,1-0,2025-03-02\n'
    assert run("import", empty_club, written(tmp_path, "b.csv", later.encode())).code == 0
    done = run("publish", empty_club, "--at", "2025-03-31")
    assert (done.code, "Carlsen, Magnu (player 3) has the name of player 1 with one letter changed" in done.err) == (
        0,
        True,
    )
    assert "one letter" not in run("publish", empty_club, "--at", "2025-04-30").err, "both are on the list before"
