"""A corrected game that a source tells again: as it was recorded or as it stands now, it is a repeat."""

from pathlib import Path

import attrs
import pytest

from ledger.errors import ConflictError
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import ANN, CLEO, approve, ask, by_key, made, played, rebuilt, tables

G1 = played()[0]
DRAWN = attrs.evolve(G1, outcome=Outcome.DRAW)


@pytest.fixture
def corrected(four: Ledger) -> Ledger:
    """The four, in which g1 was corrected to a draw."""
    approve(four, ask(four, "result", game="g1", to="1/2-1/2"))
    return four


def test_as_recorded_and_as_corrected_it_is_a_repeat(corrected: Ledger) -> None:
    size = corrected.journal.size()
    assert corrected.append(G1).duplicate
    assert corrected.append(DRAWN).duplicate
    assert corrected.journal.size() == size


def test_otherwise_it_is_a_conflict(corrected: Ledger) -> None:
    with pytest.raises(ConflictError, match="propose to correct it"):
        corrected.append(attrs.evolve(G1, outcome=Outcome.BLACK))
    with pytest.raises(ConflictError):
        corrected.append(attrs.evolve(DRAWN, black=CLEO))


def test_before_the_approval_it_is_a_conflict(four: Ledger) -> None:
    four.propose([ask(four, "result", game="g1", to="1/2-1/2")], reason="x", by="eve")
    with pytest.raises(ConflictError):
        four.append(DRAWN)


def test_told_as_corrected_with_more_it_is_supplemented(corrected: Ledger) -> None:
    receipt = corrected.append(attrs.evolve(DRAWN, round="7", tournament="Cup"))
    assert receipt.key == "supplement:g1@1"
    assert by_key(corrected, ("outcome", "round", "tournament"))["g1"] == ("draw", "7", "Cup")
    approve(corrected, ask(corrected, "undo", proposal="1"))
    assert by_key(corrected, ("outcome", "round"))["g1"] == ("white", "7")
    assert tables(corrected) == rebuilt(corrected)


@pytest.mark.parametrize("ending", [Termination.CHECKMATE, Termination.RESIGNATION, Termination.TIME])
def test_an_ending_that_the_corrected_result_rules_out_is_not_added(ending: Termination, corrected: Ledger) -> None:
    receipt = corrected.append(attrs.evolve(G1, termination=ending, round="7"))
    assert receipt.key == "supplement:g1@1"
    assert by_key(corrected, ("outcome", "termination", "round"))["g1"] == ("draw", "unknown", "7")
    assert corrected.append(attrs.evolve(G1, termination=ending, round="7")).duplicate
    approve(corrected, ask(corrected, "undo", proposal="1"))
    assert corrected.append(attrs.evolve(G1, termination=ending, round="7")).key == "supplement:g1@2"
    assert by_key(corrected, ("outcome", "termination"))["g1"] == ("white", str(ending))
    assert tables(corrected) == rebuilt(corrected)


def test_an_ending_that_goes_with_the_corrected_game_is_added(corrected: Ledger) -> None:
    assert corrected.append(attrs.evolve(G1, termination=Termination.ADJUDICATION)).key == "supplement:g1@1"
    assert by_key(corrected, ("outcome", "termination"))["g1"] == ("draw", "adjudication")


def test_a_number_of_half_moves_that_the_corrected_ending_rules_out_is_not_added(tmp_path: Path) -> None:
    game = attrs.evolve(G1, half_moves=None)
    with made(tmp_path / "club.db", [game]) as ledger:
        approve(ledger, ask(ledger, "result", game="g1", to="1-0", termination="checkmate"))
        assert ledger.append(attrs.evolve(game, half_moves=3)).duplicate
        assert ledger.append(attrs.evolve(game, half_moves=4)).key == "supplement:g1@1"
        assert by_key(ledger, ("termination", "half_moves"))["g1"] == ("checkmate", 4)


def test_what_a_supplement_tells_of_a_corrected_field_changes_nothing(four: Ledger) -> None:
    approve(four, ask(four, "game", game="g1", field="round", to="2"))
    four.append(attrs.evolve(G1, round="1"))
    assert by_key(four, ("round",))["g1"] == ("2",)
    approve(four, ask(four, "undo", proposal="1"))
    assert by_key(four, ("round",))["g1"] == ("1",)
    assert tables(four) == rebuilt(four)


def test_a_game_of_which_a_voided_tournament_is_told_later_does_not_count(four: Ledger) -> None:
    approve(four, ask(four, "void-tournament", tournament="Open"))
    assert by_key(four, ("voided_by",))["g1"] == (None,)
    four.append(attrs.evolve(G1, tournament="Open"))
    assert by_key(four, ("reason", "voided_by"))["g1"] == ("voided", 1)
    assert tables(four) == rebuilt(four)


def test_a_game_whose_day_is_told_later_is_annulled_if_it_falls_between_the_two(tmp_path: Path) -> None:
    of_month = attrs.evolve(G1, ended_at="2026-10")
    with made(tmp_path / "months.db", [of_month]) as four:
        four.append(attrs.evolve(G1, game="other", ended_at="2026-10-05"))
        words = {"player": "Ann", "which": "all", "from_": "2026-10-03"}
        approve(four, ask(four, "annul", **words))
        assert by_key(four, ("voided_by",)) == {"g1": (None,), "other": (1,)}
        four.append(attrs.evolve(G1, ended_at="2026-10-04"))
        assert by_key(four, ("voided_by",))["g1"] == (1,)
        assert tables(four) == rebuilt(four)


def test_a_voided_game_told_again_stays_voided(four: Ledger) -> None:
    approve(four, ask(four, "void", game="g1"))
    assert four.append(G1).duplicate
    assert by_key(four)["g1"] == ("white", "voided")


def test_a_game_told_with_the_number_that_stays_after_a_merge_is_a_repeat(four: Ledger) -> None:
    approve(four, ask(four, "merge", player="Bob", into="Cleo"))
    assert four.append(attrs.evolve(G1, black=CLEO)).duplicate
    assert four.append(G1).duplicate
    assert by_key(four, ("white", "black"))["g1"] == (ANN, CLEO)


def test_an_import_takes_a_corrected_game_as_known(four: Ledger, tmp_path: Path, run: Run) -> None:
    four.append(attrs.evolve(G1, game="site:1", ended_at="2026-11-09"))
    approve(four, ask(four, "result", game="site:1", to="1/2-1/2"))
    with (tmp_path / "again.csv").open("w", encoding="utf-8") as file:
        file.write("id,white,black,result,half_moves,ended_at\n")
        for result in ("1/2-1/2", "1-0", "0-1"):
            file.write(f"site:1,Ann,Bob,{result},40,2026-11-09\n")
    size = four.journal.size()
    done = run("import", four.path, tmp_path / "again.csv")
    assert "2 known already" in done.err
    assert "again.csv:4: error: exists-with-different-outcome" in done.err
    assert four.journal.size() == size
