"""One spelling of an identity, whoever gives it."""

from __future__ import annotations

import unicodedata

import pytest

from ledger.facts.person_names import are_apart, spelt
from ledger.imports.reading import name_identity


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
    assert are_apart(identity, other) == apart
