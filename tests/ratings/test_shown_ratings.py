"""The pool setting ``from_shown``: newcomers begin with what the source shows beside the first game in rating order."""

from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path

import attrs
import pytest

from ledger.answers import explanations, pools, publications
from ledger.answers.comparing import replaying
from ledger.answers.comparing.comparison import pool_candidate
from ledger.answers.rows import as_row, as_rows
from ledger.audit.audit import audit
from ledger.book.roster import Roster
from ledger.errors import ConflictError, RejectedError
from ledger.facts.events import Event, GameRecorded, RatingSeeded
from ledger.facts.instants import instant_ms
from ledger.facts.periods import OPEN
from ledger.ledger import Ledger
from ledger.ratings import engine, views
from ledger.ratings.player_states import PlayerStates
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.lived_histories import all_rows

PLAYERS = 4


@pytest.fixture(name="folder_of_ledgers")
def _folder(tmp_path: Path) -> Iterator[list[Ledger]]:
    made: list[Ledger] = []
    yield made
    for ledger in made:
        ledger.close()


def made_in(folder: Path, made: list[Ledger], events: Sequence[Event], scheme: str = "elo") -> Ledger:
    """A ledger of a pool that goes by what sources show."""
    ledger = Ledger.create(folder / f"{len(made)}.db", scheme=scheme, settings={"from_shown": True})
    made.append(ledger)
    for number in range(1, PLAYERS + 1):
        ledger.register(f"id:{number}", f"Player {number}", declared_rating=1111 if number == 4 else None)
    ledger.append_many(events)
    ledger.catch_up()
    return ledger


def game(day: int, white: int, black: int, *shown: int | None) -> GameRecorded:
    """A game of January 2024 with the ratings that the source shows."""
    white_rating, black_rating = shown
    return game_recorded(
        f"g{day}-{white}",
        white=white,
        black=black,
        ended_at=f"2024-01-{day:02}",
        white_rating=white_rating,
        black_rating=black_rating,
    )


GAMES = (
    game(3, 1, 2, 2000, 1900),
    game(5, 2, 3, 1910, 1500),
    game(7, 1, 4, 2010, 1800),
    game(9, 3, 4, None, 1810),
    game(11, 2, 1, 1905, 2015),
)
LATE = (game(1, 3, 1, 1450, None), game(2, 2, 4, 1850, 1790))


def begins(ledger: Ledger) -> dict[int, float]:
    """By player, the rating before the first rated game."""
    return {row["player"]: row["rating_before"] for row in ledger.rows("history", "n = 1")}


def test_newcomers_begin_with_the_shown_rating_unless_a_seed_or_they_themselves_say_another(
    tmp_path: Path, folder_of_ledgers: list[Ledger]
) -> None:
    seed = RatingSeeded(player=2, pool="standard", rating="1700")
    assert begins(made_in(tmp_path, folder_of_ledgers, GAMES)) == {1: 2000, 2: 1900, 3: 1500, 4: 1111}
    assert begins(made_in(tmp_path, folder_of_ledgers, [*GAMES, seed]))[2] == 1700


@pytest.mark.parametrize("scheme", ["elo", "glicko2", "uschess", "fide"])
@pytest.mark.parametrize("few", [True, False])
def test_a_late_game_changes_it_as_a_rebuild_would(
    scheme: str, few: bool, tmp_path: Path, folder_of_ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not few:
        monkeypatch.setattr(views, "FEW_ENTRIES", 0)
    late = made_in(tmp_path, folder_of_ledgers, GAMES, scheme)
    for event in LATE:
        late.append(event)
        late.catch_up()
    before = all_rows(late)
    if scheme != "fide":  # who is unrated there has no rating before
        none = {"elo": 1500.0, "glicko2": 1500.0, "uschess": begins(late)[1]}[scheme]
        assert begins(late) == {1: none, 2: 1850, 3: 1450, 4: 1111}
    late.rebuild()
    assert all_rows(late) == before


def test_a_pool_that_changes_to_it_later_begins_later_newcomers_so(
    tmp_path: Path, folder_of_ledgers: list[Ledger]
) -> None:
    ledger = Ledger.create(tmp_path / "changed.db", scheme="elo")
    folder_of_ledgers.append(ledger)
    for number in range(1, PLAYERS + 1):
        ledger.register(f"id:{number}", f"Player {number}")
    ledger.append_many(GAMES)
    ledger.append(scheme_adopted("elo", settings={"from_shown": True}, effective_from="2024-01-06"))
    ledger.catch_up()
    assert begins(ledger) == {1: 1500, 2: 1500, 3: 1500, 4: 1800}
    before = all_rows(ledger)
    ledger.rebuild()
    assert all_rows(ledger) == before


@pytest.mark.parametrize("scheme", ["elo", "glicko2", "uschess", "fide"])
def test_a_supplement_that_brings_the_ratings_changes_it_as_a_rebuild_would(
    scheme: str, tmp_path: Path, folder_of_ledgers: list[Ledger]
) -> None:
    silent = [attrs.evolve(told, white_rating=None, black_rating=None) for told in GAMES]
    supplemented = made_in(tmp_path, folder_of_ledgers, silent, scheme)
    for told in GAMES:
        assert not supplemented.append(told).duplicate
        supplemented.catch_up()
    before = all_rows(supplemented)
    supplemented.rebuild()
    assert all_rows(supplemented) == before
    at_once = made_in(tmp_path, folder_of_ledgers, GAMES, scheme)
    assert begins(supplemented) == begins(at_once)
    assert not audit(tmp_path / "0.db").falsehoods


@pytest.mark.slow
def test_many_games_in_columns_begin_as_few_in_rows(
    tmp_path: Path, folder_of_ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    for scheme in ("elo", "fide", "uschess"):
        few = made_in(tmp_path, folder_of_ledgers, [*GAMES, *LATE], scheme)
        with monkeypatch.context() as patched:
            patched.setattr(engine, "COMPILE_FROM", 0)
            many = made_in(tmp_path, folder_of_ledgers, GAMES, scheme)
            many.append_many(LATE)
            many.catch_up()
        assert begins(few) == begins(many)
        ratings = [{row["player"]: row["rating"] for row in ledger.rows("current")} for ledger in (few, many)]
        assert ratings[0] == ratings[1]
        assert len(ratings[0]) == PLAYERS


@pytest.mark.parametrize("scheme", ["elo", "glicko2", "uschess", "fide"])
def test_a_comparison_begins_newcomers_so(scheme: str, tmp_path: Path, folder_of_ledgers: list[Ledger]) -> None:
    ledger = made_in(tmp_path, folder_of_ledgers, [*GAMES, *LATE], scheme)
    connection, pool = ledger.views.connection, ledger.pool()
    games = replaying.load_games(connection, pool.pool, OPEN)
    current = {row["player"]: row["rating"] if row["listed"] else None for row in ledger.rows("current")}
    assert [rating for rating in current.values() if rating is not None]
    for flag in (True, False):
        chosen = pool_candidate(pool, scheme, {"from_shown": not flag})
        orders = replaying.order_games(connection, pool, games, [chosen], from_shown=flag)
        (found,) = replaying.replay_schemes([chosen], orders, lambda: 0.0, 1)
        final = [None if isnan(rating) else rating for rating in found.final.tolist()]
        assert dict(zip(games.players.tolist(), final, strict=True)) == current


@pytest.mark.parametrize("scheme", ["elo", "glicko2", "uschess"])
def test_it_is_in_force_from_the_first_game_on(scheme: str, tmp_path: Path, folder_of_ledgers: list[Ledger]) -> None:
    ledger = made_in(tmp_path, folder_of_ledgers, GAMES, scheme)
    assert {row["player"]: row["rating"] for row in as_rows(publications.list_in_force_on(ledger, "2023-12-31"))} == {
        4: 1111
    }
    states = PlayerStates(ledger.views.connection, ledger.pool())
    assert states.at(3, instant_ms("2024-01-04")).in_force is None  # nobody can know it before
    assert states.at(3, instant_ms("2024-01-05"), before=True).in_force == 1500
    first = next(iter(ledger.rows("history", "player = 3 AND n = 1")))
    assert states.before_game(first).in_force == 1500
    explained = as_row(explanations.explain(ledger, ledger.player("3"), "g5-2"))
    assert (explained["before"], explained["after"]) == (1500, first["rating"])


def test_the_settings_of_the_pool_name_it(tmp_path: Path, folder_of_ledgers: list[Ledger]) -> None:
    ledger = made_in(tmp_path, folder_of_ledgers, ())
    assert [pool["settings"] for pool in as_rows(pools.pools(ledger))] == [{"from_shown": True}]
    assert ledger.append(scheme_adopted("elo", settings={"from_shown": True})).duplicate
    with pytest.raises(ConflictError):
        ledger.append(scheme_adopted("elo"))


def test_a_scheme_that_counts_otherwise_than_sources_show_does_not_take_it(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="sources show Elo points, and the scheme counts in ECF points"):
        Ledger.create(tmp_path / "a.db", scheme="ecf-grade", settings={"from_shown": True})


def test_the_setting_is_a_switch(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="setting 'from_shown': expected true or false, got '1'"):
        Ledger.create(tmp_path / "a.db", scheme="elo", settings={"from_shown": "1"})


@pytest.mark.usefixtures("by_columns")
@pytest.mark.parametrize("taken", [True, False])
def test_a_first_build_without_the_setting_does_not_ask_for_it(
    taken: bool, tmp_path: Path, folder_of_ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where declared ratings are read: the games would be read once more, and sorted."""
    asked = []
    gather = Roster.preload

    def watched(roster: Roster, *, pasts: bool, shown: bool) -> None:
        statements: list[str] = []
        roster._connection.set_trace_callback(statements.append)
        gather(roster, pasts=pasts, shown=shown)
        roster._connection.set_trace_callback(None)
        asked.append((pasts, any("white_rating" in statement for statement in statements)))

    monkeypatch.setattr(Roster, "preload", watched)
    ledger = Ledger.create(tmp_path / "club.db", scheme="elo", settings={"from_shown": True} if taken else {})
    folder_of_ledgers.append(ledger)
    for number in range(1, PLAYERS + 1):
        ledger.register(f"id:{number}", f"Player {number}", declared_rating=1111 if number == 4 else None)
    ledger.append_many(GAMES)
    ledger.rebuild()
    assert asked[-1] == (True, taken)
    assert begins(ledger) == ({1: 2000, 2: 1900, 3: 1500, 4: 1111} if taken else {1: 1500, 2: 1500, 3: 1500, 4: 1111})
