"""Wrong calls: an argument that is not what it should be is refused by an error of ours, before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ledger import GameRecorded, Ledger, LedgerError, MalformedError, Outcome, Standing, TreeHead, UnknownNameError
from ledger.answers import player_games, players, predictions, recorded_games, streaks, upsets
from ledger.answers.crosstables import crosstable
from ledger.audit.audit import audit
from ledger.backups import backup, restore
from ledger.facts.events import Role
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded

WRONG_CALLS: dict[str, Callable[[Any], object]] = {
    "a name for a player": lambda ledger: players.summary(ledger, "Ann"),  # type: ignore[arg-type]
    "a number for a player": lambda ledger: streaks.streaks(ledger, 1),  # type: ignore[arg-type]
    "two names": lambda ledger: predictions.predict(ledger, "Ann", "Bob"),  # type: ignore[arg-type]
    "nobody": lambda ledger: player_games.graph_points(ledger, None),  # type: ignore[arg-type]
    "a file for a ledger": lambda ledger: players.summary("club.db", ledger.player(1)),  # type: ignore[arg-type]
    "a date for an instant": lambda ledger: players.summary(ledger, ledger.player(1), at=date(2024, 1, 1)),  # type: ignore[arg-type]
    "a text for a limit": lambda ledger: upsets.upsets(ledger, limit="3"),  # type: ignore[arg-type]
    "a pool for its name": lambda ledger: upsets.upsets(ledger, ledger.pool()),
    "no name of a tournament": lambda ledger: crosstable.crosstable(ledger, None),  # type: ignore[arg-type]
    "a number for a game": lambda ledger: recorded_games.recorded_game(ledger, 5),  # type: ignore[arg-type]
    "one event for several": lambda ledger: ledger.append_many(game_recorded("g1")),
    "an event for a submission": lambda ledger: ledger.append_each([game_recorded("g1")]),
    "a number for an actor": lambda ledger: ledger.append(game_recorded("g1"), actor=5),
    "names for pairs": lambda ledger: ledger.register_many(["Cleo"]),
    "a pair of one": lambda ledger: ledger.register_many([("id:3",)]),
    "a number for an identity": lambda ledger: ledger.register(5, "Cleo"),
    "a standing that is none": lambda ledger: ledger.register("id:3", "Cleo", standing="bogus"),
    "a name for a number": lambda ledger: ledger.erase("Ann"),
    "a person for a number": lambda ledger: ledger.rename(ledger.player(1), "Anna"),
    "no file": lambda _: Ledger.open(None),  # type: ignore[arg-type]
    "a NUL in the name of a file": lambda _: Ledger.open("a\0b"),
    "a NUL in the name of a new file": lambda _: Ledger.create("a\0b"),
    "a NUL in the name of an imported file": lambda ledger: ledger.import_file(Path("a\0b")),
    "a NUL in the name of an audited file": lambda _: audit("a\0b"),
    "a NUL in the name of a backup": lambda ledger: backup(ledger.path, "a\0b"),
    "a NUL in the name of a copy": lambda ledger: restore("a\0b", ledger.path),
    "one argument for several": lambda ledger: ledger.rows("history", "player = ?", 1),
    "fewer than no entries": lambda ledger: list(ledger.entries(last=-1)),
    "a text for a count": lambda ledger: list(ledger.entries(last="3")),
    "no hash": lambda ledger: ledger.movetext("zz"),
    "one change for several": lambda ledger: ledger.propose(ledger.corrections.drafts.merge(1, 2), reason="x"),
    "a text for a proposal": lambda ledger: ledger.decide("1", "approved"),
    "a decision that is none": lambda ledger: ledger.decide(1, "yes"),
    "nothing to look at": lambda ledger: ledger.as_if(None).__enter__(),
    "the name of a file for frames": lambda ledger: ledger.import_games("may.csv"),
    "names of files for frames": lambda ledger: ledger.import_games(["may.csv"]),
    "a file that is none": lambda ledger: ledger.import_file("none.csv"),
    "a format that is none": lambda ledger: ledger.import_file("none.csv", fmt="xls"),
    "an encoding that is none": lambda ledger: ledger.import_file("none.csv", encoding="klingon"),
    "a pool for a choice": lambda ledger: ledger.import_file("none.csv", choice="standard"),
    "names for numbers": lambda ledger: ledger.corrections.drafts.merge("Ann", "Bob"),
    "a value for fields": lambda ledger: ledger.corrections.drafts.replace("game:r1", "draw"),
    "a switch for settings": lambda ledger: ledger.policies.set("four-eyes", True, actor="eve"),  # noqa: FBT003
    "a year for an instant": lambda ledger: ledger.publications.publish(2024, actor="eve"),
    "one role for several": lambda ledger: ledger.tokens.add("eve", "corrector"),
    "a role that is none": lambda ledger: ledger.tokens.add("eve", ["boss"]),
    "a text for a head": lambda ledger: audit(ledger.path, since="12 abc"),  # type: ignore[arg-type]
    "a head that is none": lambda _: TreeHead.parse("12 abc"),
    "a number for a head": lambda _: TreeHead.parse(12),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", WRONG_CALLS.values(), ids=WRONG_CALLS.keys())
def test_a_wrong_call_raises_our_error_and_records_nothing(
    club_of_two: ClubOfTwo, call: Callable[[Any], object]
) -> None:
    before = club_of_two.ledger.head()
    with pytest.raises(LedgerError):
        call(club_of_two.ledger)
    assert club_of_two.ledger.head() == before


def test_the_error_names_each_argument_what_it_must_be_and_the_value(club_of_two: ClubOfTwo) -> None:
    with pytest.raises(MalformedError) as raised:
        predictions.predict(club_of_two.ledger, "Ann", club_of_two.ledger.player(1), at=2024)  # type: ignore[arg-type]
    assert raised.value.problems == (
        "predict: person must be Person (ledger.player(...) gives one), got 'Ann'",
        "predict: at must be text or None, got 2024",
    )


def test_the_word_of_an_enumeration_does_as_well(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    game: GameRecorded = game_recorded("word", outcome="draw", termination="agreement")
    assert game.outcome is Outcome.DRAW
    assert not ledger.append(game).duplicate
    drafts = ledger.corrections.drafts
    by_word, by_member = (drafts.replace(game.key, {"outcome": word}) for word in ("white", Outcome.WHITE))
    assert by_word == by_member
    assert repr(by_word) == repr(by_member)
    proposal = ledger.propose([by_member], reason="scoresheet").proposal
    ledger.decide(proposal, "approved")  # type: ignore[arg-type]
    cleo = ledger.register("id:3", "Cleo", standing="guest")  # type: ignore[arg-type]
    ledger.ensure_up_to_date()
    assert [row["standing"] for row in ledger.rows("players", "player = ?", [cleo])] == [Standing.GUEST.value]
    assert ledger.tokens.add("eve", ["corrector"]).startswith("rlt_")  # type: ignore[list-item]
    assert [row.roles for row in ledger.tokens.list()] == [Role.CORRECTOR.value]


def test_a_draft_of_a_field_that_is_none_is_refused(club_of_two: ClubOfTwo) -> None:
    key = club_of_two.ledger.append(game_recorded("g1")).key
    with pytest.raises(MalformedError, match="no field 'outcom' in"):
        club_of_two.ledger.corrections.drafts.replace(key, {"outcom": "draw"})


@pytest.mark.parametrize("player", [99, 0, -1, 2**40])
def test_nobody_is_erased_under_a_number_that_nobody_has(club_of_two: ClubOfTwo, player: int) -> None:
    with pytest.raises(UnknownNameError, match="nobody was registered"):
        club_of_two.ledger.erase(player)


def test_a_file_is_imported_as_by_the_command(club_of_two: ClubOfTwo, tmp_path: Path) -> None:
    path = tmp_path / "may.csv"
    path.write_text("white,black,result,ended_at\nCleo,Dan,1-0,2024-05-03\nCleo,Dan,zz,2024-05-04\n", encoding="utf-8")
    strict = club_of_two.ledger.import_file(path, strict=True)
    assert (strict.recorded, strict.ok) == (0, False)
    report = club_of_two.ledger.import_file(path)
    assert (report.recorded, report.players, report.fault_count) == (1, 2, 1)
    assert [fault.line for fault in report.faults] == [3]
    assert club_of_two.ledger.import_file(path).repeated == 1
