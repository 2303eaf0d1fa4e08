"""Which names are spellings of one name."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.person_names import folded, may_be


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
    assert not may_be(folded(name), folded(other))


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
    assert may_be(folded(name), folded(other)) is fits
    assert may_be(folded(other), folded(name)) is fits


WORDS = st.lists(st.sampled_from(["a", "b", "an", "bo", "anna", "boris"]), min_size=1, max_size=4)


@given(WORDS, WORDS)
def test_names_that_fit_are_found_where_one_of_them_searches(words: list[str], other_words: list[str]) -> None:
    name, other = folded(" ".join(words)), folded(" ".join(other_words))
    if may_be(name, other):
        assert name.places & other.searched or name.searched & other.places
