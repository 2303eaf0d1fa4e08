"""A forked child: it gives up the connections that it inherited, and loses nothing that it acknowledged."""

from __future__ import annotations

import os
import pickle  # what a pool of processes sends
from pathlib import Path
from threading import Thread

import pytest

from ledger import errors
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded
from tests.kit.processes import REFUSED, in_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no process")
LEFT = "is still open from the process that this one was forked from"


def record_in_own(path: Path) -> int:
    with Ledger.open(path) as own:
        return own.append(game_recorded("r2-b1")).position


def test_a_forked_child_is_refused_the_ledger_of_its_parent(club_of_two: ClubOfTwo) -> None:
    ledger, database = club_of_two.ledger, club_of_two.ledger.database()
    for act in (
        lambda: ledger.append(game_recorded("r2-b1")),
        lambda: list(ledger.rows("games")),
        lambda: list(database.query("SELECT 1")),
        lambda: ledger.tokens,
    ):
        assert REFUSED in in_child(act)
    assert in_child(ledger.close) == "None"
    assert ledger.append(game_recorded("r2-b1")).position == 5


def test_a_child_that_opens_the_ledger_itself_keeps_what_it_records_after_its_parent_closed(
    club_of_two: ClubOfTwo,
) -> None:
    assert in_child(lambda: record_in_own(club_of_two.path), club_of_two.ledger.close) == "5"
    with Ledger.open(club_of_two.path) as again:
        assert again.head().size == 5


def test_a_store_compares_the_process(club_of_two: ClubOfTwo) -> None:
    journal, names = SqliteJournal(club_of_two.path), SqlitePeople(sidecar(club_of_two.path, "people"))
    assert REFUSED in in_child(lambda: journal.writing().__enter__())
    assert REFUSED in in_child(journal.size)
    assert REFUSED in in_child(names.secret)
    journal.close()
    names.close()


def test_a_child_may_not_open_what_a_transaction_of_its_parent_has_open(club_of_two: ClubOfTwo) -> None:
    with club_of_two.ledger.journal.writing():
        assert LEFT in in_child(lambda: record_in_own(club_of_two.path))
    assert in_child(lambda: record_in_own(club_of_two.path)) == "5"


def test_a_child_may_not_open_what_another_thread_has_open(club_of_two: ClubOfTwo) -> None:
    said: list[str] = []
    thread = Thread(target=lambda: said.append(in_child(lambda: record_in_own(club_of_two.path))))
    thread.start()
    thread.join()
    assert LEFT in said[0]


@pytest.mark.parametrize(
    "error",
    [
        errors.StorageError("club.db", "is gone"),
        errors.ConflictError("game:1", "white", 1, 2),
        errors.UnknownNameError("player", "Ann", where="here"),
        errors.ProposalError("proposal:1", [errors.Refusal(1, "rule", "why")]),
    ],
)
def test_an_error_crosses_to_another_process_as_it_is(error: errors.LedgerError) -> None:
    there = pickle.loads(pickle.dumps(error))  # our own
    assert (type(there), str(there), vars(there)) == (type(error), str(error), vars(error))
