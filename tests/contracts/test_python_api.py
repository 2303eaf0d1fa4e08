"""What a program in Python meets at the front door: names, threads, limits, answers after an append."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import ledger as public
from ledger import ConflictError, Ledger, MalformedError, Outcome, ProposalError, RejectedError
from ledger.answers import player_games, players, publications, rankings, upsets
from ledger.answers.crosstables import crosstable, listing
from ledger.answers.rows import as_row, as_rows
from ledger.errors import UnknownNameError
from tests.kit.clubs import NAME, ClubOfTwo
from tests.kit.corrections import TODAY, made
from tests.kit.games import game_recorded

THREADS, GAMES = 4, 10


def test_what_a_program_catches_and_records_is_exported() -> None:
    for name in ("ProposalError", "TournamentOpened", "TournamentClosed", "RatingRunClosed"):
        assert name in public.__all__
        assert isinstance(getattr(public, name), type)
    assert issubclass(ProposalError, RejectedError)


def test_an_answer_after_an_append_is_brought_level(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    for number in (1, 2, 3):  # the first one is there; nobody has caught up with it yet
        ledger.append(game_recorded("r1-b1" if number == 1 else f"r{number}"))
        assert [row["games"] for row in as_rows(ledger.ranking())] == [number] * 2
        assert as_row(players.summary(ledger, ledger.player("Ann")))["games"] == number
        assert len(list(ledger.rows("history"))) == 2 * number


def test_a_player_is_found_by_the_number_as_a_number(club_of_two: ClubOfTwo) -> None:
    assert club_of_two.ledger.player(1) == club_of_two.ledger.player("1") == club_of_two.ledger.player("Ann")


def test_half_a_character_names_nobody_and_nothing(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    doors: tuple[Callable[[str], object], ...] = (
        ledger.player,
        ledger.log,
        ledger.publications.named,
        partial(crosstable.crosstable, ledger),
    )
    for door in doors:
        with pytest.raises(UnknownNameError):
            door("An\udcffn")


def test_a_number_beyond_what_sqlite_holds_is_like_any_large_one(tmp_path: Path) -> None:
    large = 2**70
    with made(tmp_path / NAME) as ledger:
        everybody = as_rows(ledger.ranking(limit=None))
        assert as_rows(ledger.ranking(limit=large)) == everybody
        assert as_rows(ledger.ranking(min_games=large)) == []
        assert upsets.upsets(ledger, limit=large) == upsets.upsets(ledger, limit=None)
        ann = ledger.player(1)
        assert player_games.games(ledger, ann, last=large) == player_games.games(ledger, ann, last=None)
        with pytest.raises(UnknownNameError):
            ledger.erase(large, actor="eve")


def test_many_players_are_registered_in_one_transaction(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    before = ledger.journal.size()
    told = [("id:7", "Cleo"), ("name:ann", "Ann"), ("id:8", "Dan"), ("id:7", "Cleo")]
    assert ledger.register_many(told) == [3, 1, 4, 3]
    assert ledger.journal.size() == before + 2
    assert ledger.register_many([]) == []
    with pytest.raises(ConflictError):
        ledger.register_many([("id:9", "Eve"), ("id:8", "Daniel")])
    with pytest.raises(MalformedError, match="player 2: 'id:10' is 'Fay' before"):
        ledger.register_many([("id:10", "Fay"), ("id:10", "Gil")])
    assert ledger.journal.size() == before + 2


def test_a_limit_of_zero_asks_for_all_as_on_the_command_line(tmp_path: Path) -> None:
    with made(tmp_path / NAME) as ledger:
        everybody = as_rows(ledger.ranking(limit=None))
        assert len(everybody) == 4
        assert as_rows(ledger.ranking(limit=0)) == everybody
        assert as_rows(ledger.ranking(limit=1)) == everybody[:1]
        in_full = as_rows(rankings.ranking(ledger, rankings.RankingChoice(limit=0)))
        assert [row["player"] for row in in_full] == [row["player"] for row in everybody]
        ann = ledger.player("Ann")
        assert (
            as_rows(player_games.games(ledger, ann, last=0))
            == as_rows(player_games.games(ledger, ann, last=None))
            != []
        )
        assert as_rows(upsets.upsets(ledger, margin=0, limit=0)) == as_rows(upsets.upsets(ledger, margin=0))
        assert (
            as_rows(listing.tournaments(ledger, search=listing.TournamentSearch(limit=0)))
            == as_rows(listing.tournaments(ledger))
            != []
        )
        assert (
            as_rows(publications.list_in_force_on(ledger, "2026-11-05", limit=0))
            == as_rows(publications.list_in_force_on(ledger, "2026-11-05"))
            != []
        )
        assert list(ledger.entries(last=0)) == list(ledger.entries())


def test_threads_that_open_a_ledger_each_record_and_ask_at_the_same_time(tmp_path: Path) -> None:
    made(tmp_path / NAME, []).close()

    def work(thread: int) -> int:
        with Ledger.open(tmp_path / NAME, clock=lambda: TODAY) as own:
            for number in range(GAMES):
                white, black = 1 + thread % 4, 1 + (thread + 1 + number % 3) % 4
                day = f"2026-10-{1 + number:02}T0{thread}:00:00Z"
                own.append(game_recorded(f"t{thread}-{number}", white=white, black=black, ended_at=day, half_moves=40))
                as_rows(own.ranking())
            return own.player(1).player

    with ThreadPoolExecutor(THREADS) as executor:
        assert list(executor.map(work, range(THREADS))) == [1] * THREADS
    with Ledger.open(tmp_path / NAME, clock=lambda: TODAY) as ledger:
        stood = list(ledger.rows("history"))
        assert len(stood) == 2 * THREADS * GAMES
        ledger.rebuild()
        assert list(ledger.rows("history")) == stood


def test_the_word_of_an_outcome_is_taken_for_it() -> None:
    assert game_recorded("r2", outcome="white").outcome is Outcome.WHITE
    with pytest.raises(MalformedError, match=r"got '1-0'$"):
        game_recorded("r2", outcome="1-0")
    assert game_recorded("r2", outcome=Outcome.DRAW).outcome is Outcome.DRAW
