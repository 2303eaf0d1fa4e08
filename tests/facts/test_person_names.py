"""Which names are spellings of one name; one spelling of an identity, whoever gives it."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.person_names import are_different_people, folded, may_be_same_name, spelt
from ledger.imports.reading import name_identity


def is_same(name: str, other: str) -> bool:
    """Whether two names share a key."""
    return bool(folded(name).keys & folded(other).keys)


@pytest.mark.parametrize(
    "spellings",
    [
        ("Carlsen, Magnus", "carlsen, magnus", "MAGNUS CARLSEN", "Carlsen Magnus", "Magnus  Carlsen", "MagnusCarlsen"),
        ("Müller, Karsten", "Karsten Muller", "Mu\u0308ller Karsten"),
        ("Sørensen, Åge", "Age Sorensen"),
        ("Łukasz Żal", "Zal, Lukasz"),
        ("O'Kelly, Albéric", "OKelly Alberic"),
        ("Vachier-Lagrave, Maxime", "Maxime Vachier Lagrave"),
        ("van den Berg, Jan", "Jan Vandenberg", "Berg, Jan van den"),
        ("Weiß, Max", "max weiss"),
        ("Fischer, Robert J.", "Robert J Fischer"),
    ],
)
def test_spellings_of_a_name(spellings: tuple[str, ...]) -> None:
    assert [pair for pair in pairwise(spellings) if not is_same(*pair)] == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ann", "Anna"),
        ("Carlsen, Magnus", "Carlsen, Maria"),
        ("Carlsen", "Carlsen, Magnus"),
        ("Li, An", "Li, Na"),
        ("...", "???"),
    ],
)
def test_names_that_differ_in_more(name: str, other: str) -> None:
    assert not is_same(name, other)
    assert not may_be_same_name(folded(name), folded(other))


@pytest.mark.parametrize(
    ("name", "other", "fits"),
    [
        ("Carlsen, M.", "Carlsen, Magnus", True),
        ("M. Carlsen", "Carlsen, Magnus", True),
        ("Carlsen, K.", "Carlsen, Magnus", False),
        ("Carlsen", "Carlsen, M.", False),
        ("M.", "Magnus", False),
        ("Robert J. Fischer", "Fischer, Robert James", True),
        ("Robert J. Fischer", "Fischer, Robert", True),
        ("Fischer, R. J.", "Fischer, Robert", True),
        ("Fischer, R. J.", "Fischer, R. K.", False),
        ("Fischer, Robert J.", "Fischer, R. James", True),
        ("Fischer, R.", "Fischer, Robert James", False),
        ("王 伟", "王 芳", False),
    ],
)
def test_initials(name: str, other: str, fits: bool) -> None:
    assert may_be_same_name(folded(name), folded(other)) is fits
    assert may_be_same_name(folded(other), folded(name)) is fits


WORDS = st.lists(st.sampled_from(["a", "b", "an", "bo", "anna", "boris"]), min_size=1, max_size=4)


@given(WORDS, WORDS)
def test_names_that_fit_are_found_where_one_of_them_searches(words: list[str], other_words: list[str]) -> None:
    name, other = folded(" ".join(words)), folded(" ".join(other_words))
    if may_be_same_name(name, other):
        assert name.index_entries & other.searched_entries or name.searched_entries & other.index_entries


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("name:Ann", "name:ann"),
        ("name:ann", "name:ann"),
        ("NAME:Ann  Lee ", "name:ann lee"),
        ("name: ann lee", "name:ann lee"),
        ("name: Ann Lee", "name:ann lee"),
        ("name:ann ", "name:ann"),
        ("lichess: ann", "lichess:ann"),
        ("name:Stra\u00dfe", "name:strasse"),
        ("name:E\u0301mile", "name:\u00e9mile"),
        ("lichess:Ann", "lichess:ann"),
        ("fics:ANN", "fics:ann"),
        ("chesscom:Ann", "chesscom:ann"),
        ("fide:1503014", "fide:1503014"),
        ("fide:0001503014", "fide:1503014"),
        ("FIDE:01503014", "fide:1503014"),
        ("fide:000", "fide:000"),
        ("fide:0a", "fide:0a"),
        ("id:007", "id:007"),  # a code, of which every digit may count
        ("club:Ann", "club:Ann"),  # a code, of which every letter may count
        ("id:A7", "id:A7"),
        ("Ann", "Ann"),
    ],
)
def test_names_and_users_of_servers_are_without_case(given: str, expected: str) -> None:
    assert spelt(given) == expected
    assert spelt(expected) == expected


def test_every_letter_gives_an_identity_in_unicode_nfc_that_stays_what_it_is() -> None:
    for code in (*range(0xD800), *range(0xE000, 0x3_0000)):
        identity = spelt(f"name:{chr(code)}a")
        assert unicodedata.is_normalized("NFC", identity)
        assert spelt(identity) == identity
    assert spelt("name:\u1f50") == name_identity("\u1f50") == "name:\u1f50"


@pytest.mark.parametrize("name", ["Ann", "  ann lee", "\u00c9MILE", "Stra\u00dfe"])
def test_a_name_gives_the_identity_that_the_rule_spells(name: str) -> None:
    assert name_identity(name) == spelt(name_identity(name)) == spelt(f"name:{name}")


@pytest.mark.parametrize(
    ("identity", "other", "apart"),
    [
        ("fide:1503014", "fide:4100018", True),
        ("fide:1503014", "fide:01503014", False),
        ("lichess:Ann", "lichess:ann", False),
        ("fide:1503014", "lichess:ann", False),
        ("name:ann", "name:bob", False),
    ],
)
def test_two_identities_of_one_register_are_two_people_but_not_two_spellings_of_one(
    identity: str, other: str, apart: bool
) -> None:
    assert are_different_people(identity, other) == apart
