"""Keys made of facts: keyed under the ledger's secret; another game of the same facts gets the next one."""

import hmac
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.audit.audit import audit
from ledger.duplicates.game_keys import is_derived_key, is_plain_hash, keyed_hashes, numbered_key
from ledger.errors import StorageError
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.ledger_files import sidecar
from tests.errors.rule_cases import source
from tests.kit.clubs import SECRET, ClubOfTwo, key_of, secrets_as_drawn
from tests.kit.games import source_game
from tests.kit.people import make_released

MADE = "csv:{:024x}"


def keyless(number: int, **fields: Any) -> SourceGame:
    return source(MADE.format(number), line=number, is_made=True, **{"ended_at": "2026-11-17", **fields})


def counts(club: ClubOfTwo, *games: SourceGame, **options: Any) -> tuple[int, int, int, int]:
    """Games recorded, known, held back and faulty of one file."""
    report = club.ledger.import_games(batch_games(games), **options)
    return report.recorded, report.repeated, report.alike_count, report.fault_count


def keys(club: ClubOfTwo) -> list[str]:
    return [entry.key.removeprefix("game:") for entry in club.ledger.entries("game-recorded")][1:]


@pytest.mark.parametrize("options", [{}, {"record_alike": True}])
def test_another_game_of_a_second_file_gets_the_next_key_and_is_known_again(
    club_of_two: ClubOfTwo, options: dict[str, bool]
) -> None:
    files = [keyless(1, half_moves=94), keyless(1, half_moves=103), keyless(1, half_moves=61)]
    for game in files:
        assert counts(club_of_two, game, **options) == (1, 0, 0, 0)
    made = MADE.format(1)
    assert keys(club_of_two) == [key_of(made), key_of(numbered_key(made, 2)), key_of(numbered_key(made, 3))]
    assert all(map(is_derived_key, keys(club_of_two)))
    for game in reversed(files):
        assert counts(club_of_two, game, **options) == (0, 1, 0, 0)


def test_a_file_with_the_known_game_in_second_place_tells_one_new_game(club_of_two: ClubOfTwo) -> None:
    """Nothing but the results tells the two games of a day apart, and their order in the file is another one."""
    won, lost = {"outcome": "white"}, {"outcome": "black"}
    assert counts(club_of_two, keyless(1, **won)) == (1, 0, 0, 0)
    both = keyless(1, **lost), keyless(2, **won)
    assert counts(club_of_two, *both) == (1, 1, 0, 0)
    assert counts(club_of_two, *both) == counts(club_of_two, *reversed(both)) == (0, 2, 0, 0)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("more", [{}, {"half_moves": 40}], ids=["as known", "with more"])
@pytest.mark.parametrize("record_alike", [False, True])
def test_games_of_one_key_are_told_apart_wherever_a_part_of_the_file_ends(
    club_of_two: ClubOfTwo, size: int, more: dict[str, int], record_alike: bool
) -> None:
    """A file is taken in parts of some thousand games: a day's games of a pair may stand in two of them."""
    assert counts(club_of_two, keyless(1, outcome="white")) == (1, 0, 0, 0)
    day = [keyless(1, outcome="white", **more), keyless(1, outcome="black"), keyless(1, outcome="draw")]
    for expected in ((2, 0 if more else 1, int(bool(more))), (0, 3, 0)):
        report = club_of_two.ledger.import_games(batch_games(day, size), record_alike=record_alike)
        assert (report.recorded, report.repeated, report.supplemented) == expected
        assert report.faults == []
    made = MADE.format(1)
    assert keys(club_of_two) == [key_of(made), key_of(numbered_key(made, 2)), key_of(numbered_key(made, 3))]


@pytest.mark.parametrize("fields", [{}, {"half_moves": 40}, {"text": "1. e4", "half_moves": 41}])
def test_a_result_that_was_corrected_in_the_file_is_a_contradiction_still(
    club_of_two: ClubOfTwo, fields: dict[str, Any]
) -> None:
    assert counts(club_of_two, keyless(1, outcome="white", **fields)) == (1, 0, 0, 0)
    report = club_of_two.ledger.import_games(batch_games([keyless(1, outcome="draw", **fields)]))
    (fault,) = report.faults
    assert "was recorded with outcome='white', not 'draw'" in fault.message
    assert report.recorded == 0


def test_a_key_that_the_source_gave_is_never_changed(club_of_two: ClubOfTwo) -> None:
    assert counts(club_of_two, source("club:1", half_moves=40, ended_at="2026-11-17")) == (1, 0, 0, 0)
    assert counts(club_of_two, source("club:1", half_moves=41, ended_at="2026-11-17")) == (0, 0, 0, 1)


@given(st.binary(min_size=32, max_size=32), st.sampled_from(["csv", "hand", "our.club-1"]), st.integers(0, 2**96 - 1))
def test_a_key_is_the_hmac_of_the_plain_one(secret: bytes, source_of_key: str, digits: int) -> None:
    plain = f"{source_of_key}:{digits:024x}"
    expected = f"{source_of_key}:k{hmac.new(secret, plain.encode(), 'sha256').hexdigest()[:23]}"
    assert keyed_hashes(secret, [plain, plain]) == [expected, expected]
    assert is_derived_key(expected)
    assert is_plain_hash(plain)
    assert not is_plain_hash(expected)


def test_a_key_that_an_earlier_release_made_stays_and_its_game_is_known(club_of_two: ClubOfTwo) -> None:
    """So do the further ones of the same facts; a game that is new gets a keyed one."""
    made = MADE.format(1)
    older = [
        source(key, ended_at="2026-11-17", half_moves=moves)
        for key, moves in ((made, 94), (numbered_key(made, 2), 103))
    ]
    assert counts(club_of_two, *older, record_alike=True) == (2, 0, 0, 0)
    assert counts(club_of_two, keyless(1, half_moves=94)) == (0, 1, 0, 0)
    assert counts(club_of_two, keyless(1, half_moves=103)) == (0, 1, 0, 0)
    assert counts(club_of_two, keyless(1, half_moves=61), keyless(2, ended_at="2026-11-18")) == (2, 0, 0, 0)
    assert keys(club_of_two) == [made, numbered_key(made, 2), key_of(MADE.format(2)), key_of(numbered_key(made, 3))]


def test_given_and_made_keys_of_one_file_keep_their_rows(club_of_two: ClubOfTwo) -> None:
    games = [keyless(1), source("club:1", ended_at="2026-11-15"), keyless(2, ended_at="2026-11-16")]
    assert counts(club_of_two, *games) == (3, 0, 0, 0)
    assert keys(club_of_two) == [key_of(MADE.format(1)), "club:1", key_of(MADE.format(2))]


def test_frames_that_do_not_say_which_keys_are_made_keep_theirs(club_of_two: ClubOfTwo) -> None:
    (frame,) = batch_games([keyless(1)])
    assert club_of_two.ledger.import_games([frame.drop("is_made")]).recorded == 1
    assert keys(club_of_two) == [MADE.format(1)]


def test_every_ledger_has_a_secret_of_its_own_or_takes_that_of_another(tmp_path: Path) -> None:
    secrets = []
    with secrets_as_drawn():
        for name, other in (("one.db", None), ("two.db", None), ("three.db", tmp_path / "one.db")):
            with Ledger.create(tmp_path / name, secret_of=other) as ledger:
                secrets.append(ledger.people.secret())
    assert secrets[0] == secrets[2] != secrets[1]
    assert {len(secret) for secret in secrets} == {32}
    assert SECRET not in secrets
    with pytest.raises(StorageError, match="the people file is missing"):
        Ledger.create(tmp_path / "four.db", secret_of=tmp_path / "none.db")
    assert not (tmp_path / "four.db").exists()


def test_a_people_file_of_an_earlier_release_gets_a_secret_once(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.close()
    people = sidecar(club_of_two.path, "people")
    make_released(people)
    with secrets_as_drawn(), closing(SqlitePeople(people, read_only=True)) as reader:
        assert reader.secret_or_random() != reader.secret_or_random()  # for a dry run: nothing is kept
        with pytest.raises(StorageError):
            reader.secret()
    with secrets_as_drawn(), closing(SqlitePeople(people)) as first, closing(SqlitePeople(people)) as second:
        assert first.secret() == second.secret() == first.secret_or_random()
    assert audit(club_of_two.path).falsehoods == ()


def ties() -> list[SourceGame]:
    """Games of one day that nothing tells apart but who played: their order is that of their keys."""
    players = ("Ann", "Bob", "Cleo", "Dan", "Eve")
    pairs = [(white, black) for white in players for black in players if white < black]
    return [
        source_game(f"csv:{number:024x}", white, black, is_made=True, outcome=("white", "draw", "black")[number % 3])
        for number, (white, black) in enumerate(pairs)
    ]


@pytest.mark.slow
def test_the_same_facts_under_the_same_secret_give_the_same_ratings_in_whatever_order_they_arrive(
    tmp_path: Path,
) -> None:
    ratings: dict[str, list[tuple[str | None, float]]] = {}
    with secrets_as_drawn():
        for name, other, games in (
            ("one.db", None, ties()),
            ("two.db", tmp_path / "one.db", ties()[::-1]),
            ("other.db", None, ties()),
        ):
            with Ledger.create(tmp_path / name, scheme="elo", secret_of=other) as ledger:
                for game in games:
                    ledger.import_games(batch_games([game]))
                ledger.catch_up()
                rows = ledger.views.connection.execute("SELECT player, rating FROM current").fetchall()
                called = {person.player: person.name for person in ledger.people.by_number(range(1, 6)).values()}
                ratings[name] = sorted((called[player], rating) for player, rating in rows)
    assert ratings["one.db"] == ratings["two.db"]
    assert ratings["one.db"] != ratings["other.db"]  # the ties are real: nothing but the keys parts them
