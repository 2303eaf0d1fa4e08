"""The command ``correct``: every verb, files, decisions, what it prints, and its exit codes."""

import json
from pathlib import Path

import pytest

from ledger.correcting.verbs import VERBS
from tests.kit.commands import Run
from tests.kit.corrections import made, size
from tests.tiers import few_quick

EVE = ("--reason", "the scoresheet", "--by", "eve")


@pytest.fixture
def journal_of_four(tmp_path: Path) -> Path:
    """The journal of the club of four."""
    with made(tmp_path / "club.db") as ledger:
        ledger.ensure_up_to_date()
    return tmp_path / "club.db"


ASKED: dict[str, tuple[str, ...]] = {
    "result": ("g1", "--to", "0-1"), "game": ("g1", "--field", "half_moves", "--to", "61"), "void": ("g1",),
    "swap-colours": ("g1", "--to", "1/2"),
    "reassign": ("g1", "Ann", "--to", "Cleo"), "late": ("Ann", "Bob", "--to", "1-0", "--ended", "2026-11-03"),
    "annul": ("Ann", "--which", "losses", "--from", "2026-11-01", "--until", "2026-11-30"),
    "close": ("Ann", "--from", "2026-11-10"), "merge": ("Ann", "--into", "Bob"), "void-tournament": ("Open",),
    "adopt": ("elo", "--from", "2026-11-03", "--settings", '{"k": 40}'), "close-run": ("--ended", "2026-11-04"),
    "open-tournament": ("Cup", "--started", "2026-11-01", "--ended", "2026-11-04"),
    "close-tournament": ("Open", "--ended", "2026-11-04"),
    "bye": ("Open", "Ann", "--brings", "half", "--edition", "2026-11-01", "--round", "7"),
    "fact": ("player:1", "--field", "birth_year", "--to", "1990"),
    "standing": ("Ann", "--to", "guest", "--from", "2026-11-01"), "born": ("Ann", "--to", "1990"),
    "rating": ("Ann", "--to", "1850", "--games", "120", "--list", "national list, May 2004"),
    "declared": ("Ann", "--to", "1700", "--from", "2026-11-01"),
    "strength": ("Ann", "--to", "beginner", "--from", "2026-11-01"), "void-import": ("2-6",),
    "federation": ("Ann", "--to", "NOR", "--from", "2026-11-01"),
}  # fmt: skip
ANNOUNCED = ("close-run", "open-tournament", "close-tournament", "bye")  # ChessWorld's ratings do not depend on them
AFTERWARDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "reinstate": (("void", "g1"), ("g1",)),
    "unmerge": (("merge", "Ann", "--into", "Bob"), ("Ann",)),
    "reinstate-tournament": (("void-tournament", "Open"), ("Open",)),
    "undo": (("void", "g1"), ("1",)),
    "take-back": (("close", "Ann", "--from", "2026-11-10"), ("player:1@2026-11-10",)),
}


@pytest.mark.parametrize("verb", few_quick([*ASKED, *AFTERWARDS], "void", "merge", "undo"))
def test_a_verb_proposes_and_its_approval_is_true(verb: str, journal_of_four: Path, run: Run) -> None:
    number = 1
    if verb in AFTERWARDS:
        assert run("correct", journal_of_four, *AFTERWARDS[verb][0], *EVE).code == 0
        assert run("correct", journal_of_four, "approve", "1", "--by", "adam").code == 0
        number = 2
    done = run("correct", journal_of_four, verb, *(ASKED.get(verb) or AFTERWARDS[verb][1]), *EVE)
    assert (done.code, done.out.startswith(f"proposal {number} is open")) == (0, True)
    before = run("ratings", journal_of_four).out
    done = run("correct", journal_of_four, "approve", str(number), "--by", "adam")
    assert (done.code, done.out.startswith(f"proposal {number} was approved at entry ")) == (0, True)
    assert (run("ratings", journal_of_four).out != before) == (
        verb not in {"game", "fact", "born", "strength", "federation", *ANNOUNCED}
    )
    assert run("audit", journal_of_four).out.startswith("TRUE")


def test_every_verb_is_a_command() -> None:
    assert {*ASKED, *AFTERWARDS} == VERBS.keys() - {"put-back"}


def test_a_reason_left_out_is_refused_in_one_line(journal_of_four: Path, run: Run) -> None:
    before = size(journal_of_four)
    done = run("correct", journal_of_four, "void", "g1", "--by", "eve")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: no-reason: a reason is missing: say in a few words why @ $.reason\n"
    assert size(journal_of_four) == before


def test_proposals_are_listed_shown_rejected_and_withdrawn(journal_of_four: Path, run: Run) -> None:
    for game in ("g1", "g2", "g3"):
        assert run("correct", journal_of_four, "void", game, *EVE).code == 0
    assert run("correct", journal_of_four, "reject", "1", "--by", "adam", "--reason", "no scoresheet").code == 0
    assert run("correct", journal_of_four, "withdraw", "2", "--by", "eve").code == 0
    done = run("correct", journal_of_four, "withdraw", "3", "--by", "adam")
    assert (done.code, "not-the-proposer" in done.err) == (1, True)
    rows = json.loads(run("correct", journal_of_four, "list").out)
    assert [(row["proposal"], row["state"], row["reason"], row["proven"]) for row in rows] == [
        (1, "rejected", "the scoresheet", False),
        (2, "withdrawn", "the scoresheet", False),
        (3, "open", "the scoresheet", False),
    ]
    assert [row["proposal"] for row in json.loads(run("correct", journal_of_four, "list", "--open").out)] == [3]
    shown = json.loads(run("correct", journal_of_four, "show", "1").out)
    assert (shown["decision_reason"], shown["what"]) == ("no scoresheet", ["void game:g1"])
    assert "void game:g3" in run("correct", journal_of_four, "list", "-t").out
    assert run("correct", journal_of_four, "list", "--csv").out.count("\n") == 4
    assert "the scoresheet" in run("correct", journal_of_four, "show", "3", "-t").out
    for number in ("9", str(10**20)):
        done = run("correct", journal_of_four, "show", number)
        assert (done.code, done.err) == (1, f"error: no proposal '{number}' in this ledger; see 'correct list'\n")


def test_proposals_about_one_game_are_shown_to_each_other(journal_of_four: Path, run: Run) -> None:
    run("correct", journal_of_four, "void", "g1", *EVE)
    done = run("correct", journal_of_four, "void", "g1", "--reason", "another reason", "--by", "eve")
    assert "note: open proposals speak of the same facts: 1" in done.err


BATCH = "verb,game,to,player,which\nvoid,g1,,,\nresult,g2,1/2-1/2,,\nannul,,,Dan,losses\n"


def test_a_file_is_one_proposal_or_one_for_each_row(journal_of_four: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "batch.csv").write_text(BATCH, "utf-8")
    done = run("correct", journal_of_four, "batch", tmp_path / "batch.csv", *EVE)
    assert (done.code, done.out.count("\n")) == (0, 1)
    done = run("correct", journal_of_four, "batch", tmp_path / "batch.csv", "--each", *EVE)
    assert (done.code, done.out.count("\n")) == (0, 3)
    assert [row["changes"] for row in json.loads(run("correct", journal_of_four, "list").out)] == [3, 1, 1, 1]
    assert run("correct", journal_of_four, "approve", "1", "--by", "adam").code == 0
    done = run("correct", journal_of_four, "approve", "2", "--by", "adam")
    assert (done.code, "stale" in done.err) == (1, True)
    assert run("audit", journal_of_four).out.startswith("TRUE")


def test_wrong_rows_are_all_named_and_nothing_is_proposed(journal_of_four: Path, run: Run, tmp_path: Path) -> None:
    before = size(journal_of_four)
    wrong = f"{BATCH}void,g99,,,\nresult,g3,1-0,,\n"
    (tmp_path / "batch.csv").write_text(wrong, "utf-8")
    for each in ((), ("--each",)):
        done = run("correct", journal_of_four, "batch", tmp_path / "batch.csv", *each, *EVE)
        assert (done.code, done.out) == (1, "")
        assert "batch.csv:5: error: 'void': no game 'g99'" in done.err
        assert "batch.csv:6: error: changes-nothing: 'game:g3' says so already" in done.err
        assert "2 faults; nothing was proposed" in done.err
    assert size(journal_of_four) == before


def test_faults_of_rows_and_of_the_reason_are_told_at_once(journal_of_four: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "batch.csv").write_text("verb,game\nvoid,g99\n", "utf-8")
    done = run("correct", journal_of_four, "batch", tmp_path / "batch.csv", "--by", "eve")
    assert (done.code, [line.rpartition("/")[2].split()[:2] for line in done.err.splitlines()]) == (
        1,
        [["batch.csv:2:", "error:"], ["error:", "no-reason:"], ["batch.csv:", "1"]],
    )
    done = run("correct", journal_of_four, "merge", "Ann", "--into", "Ann")
    assert (done.code, done.err.splitlines()) == (
        1,
        [
            "error: no-reason: a reason is missing: say in a few words why @ $.reason",
            "error: circular: change 1: player 1 cannot be merged into itself; give two different players",
        ],
    )


def test_what_may_be_meant_otherwise_is_said(journal_of_four: Path, run: Run) -> None:
    late = ("late", "Ann", "Bob", "--to", "1-0", *EVE)
    done = run("correct", journal_of_four, *late, "--ended", "2026-11-01")
    assert (done.code, done.err.splitlines()[1]) == (
        0,
        "note: these players have a game of that time already: g1; is it the same one?",
    )
    assert "note" not in run("correct", journal_of_four, *late, "--ended", "2026-11-02").err


def test_a_game_that_was_recorded_after_it_was_proposed_is_said_before_the_approval(
    journal_of_four: Path, run: Run
) -> None:
    """Two officers propose one game, by commands that give it different keys."""
    day = ("--ended", "2026-11-02")
    hand = ("record", journal_of_four, "--white", "Ann", "--black", "Bob", "--result", "1-0", *day, "--propose", *EVE)
    assert run(*hand).code == 0
    assert run("correct", journal_of_four, "late", "Ann", "Bob", "--to", "1-0", *day, *EVE).code == 0
    assert run("correct", journal_of_four, "approve", "1", "--by", "adam").code == 0
    note = "note: these players have a game of that time already: hand:"
    approval = run("correct", journal_of_four, "approve", "2", "--by", "adam")
    assert (approval.code, note in approval.err, "unseen:" in approval.err) == (1, True, True)
    assert note in run("correct", journal_of_four, "preview", "2").err


def test_a_tournament_is_closed_that_there_is(journal_of_four: Path, run: Run) -> None:
    closed = run("correct", journal_of_four, "close-tournament", "Open", "--ended", "2026-11-09", *EVE)
    assert (closed.code, "note" in closed.err) == (0, False)
    mistyped = run("correct", journal_of_four, "close-tournament", "Opne", "--ended", "2026-11-09", *EVE)
    assert mistyped.code == 1
    assert "no tournament 'Opne' in pool 'standard'" in mistyped.err
    assert "Open" in mistyped.err, "the nearest name"


def test_a_proposal_tells_the_fields_that_change_and_players_by_name(journal_of_four: Path, run: Run) -> None:
    done = run("correct", journal_of_four, "result", "g1", "--to", "1-0", "--termination", "checkmate", *EVE)
    assert done.err == "proposal 1: game:g1: termination unknown -> checkmate\n"
    assert run("correct", journal_of_four, "annul", "Ann", "--which", "all", *EVE).err == (
        "proposal 2: annul all rated games of Ann (1)\n"
    )
    done = run("correct", journal_of_four, "reassign", "g1", "Cleo", "--to", "Dan", *EVE)
    assert "no player 'Cleo (3)' in 'game:g1'; White is Ann (1), Black is Bob (2)" in done.err
    done = run("correct", journal_of_four, "adopt", "elo", "--from", "2026-11-03", "--settings", '{"k": 40}', *EVE)
    assert done.err == (
        "proposal 3: record scheme:standard@2026-11-03: effective_from 2026-11-03, pool standard, scheme elo, "
        "settings {'k': 40}\n"
    )
    assert "no merge of player 'Ann (1)'" in run("correct", journal_of_four, "unmerge", "Ann", *EVE).err


def test_a_word_that_is_no_verb_is_wrong_usage(journal_of_four: Path, run: Run) -> None:
    done = run("correct", journal_of_four, "voidd", "g1")
    assert (done.code, "did you mean 'void'" in done.err) == (2, True)


def test_two_open_proposals_of_one_fact_name_each_other_in_the_table(journal_of_four: Path, run: Run) -> None:
    words = ("void", "g3", "--reason", "x", "--by", "eve")
    assert "alike" not in run("correct", journal_of_four, "list", "-t").out
    assert run("correct", journal_of_four, *words).code == 0
    assert run("correct", journal_of_four, "result", "g3", "--to", "0-1", "--reason", "y", "--by", "bea").code == 0
    first, second = json.loads(run("correct", journal_of_four, "list", "--open").out)[-2:]
    assert (first["alike"], second["alike"]) == ([second["proposal"]], [first["proposal"]])
    heading, *rows = run("correct", journal_of_four, "list", "--open", "-t").out.splitlines()
    assert heading.split()[-1] == "alike"
    assert [row.split()[-1] for row in rows[-2:]] == [str(second["proposal"]), str(first["proposal"])]
