"""A report that was sent is recorded; a later correction of one of its results lists it as to be sent again."""

from pathlib import Path

import pytest

from ledger.answers.sent_reports import sent_reports
from ledger.audit.audit import audit
from ledger.facts.changes import Change
from ledger.facts.events import Decision
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.source_files import player, report, written

ROWS = (
    player(1, "Ann", "3 w 1", "2 b 0", rating="1900", points="1.0"),
    player(2, "Bob", "4 b =", "1 w 1", rating="1800", points="1.5"),
    player(3, "Cy", "1 b 0", "0000 - H", points="0.5"),
    player(4, "Di", "2 w =", "", points="0.5"),
)
OPEN = report(ROWS, f"132{'':88}24/05/01  24/05/02").encode()


@pytest.fixture(name="reporting_club")
def _reporting_club(empty_club: Path, run: Run) -> Path:
    """A club with an open whose report was sent."""
    assert run("import", empty_club, written(empty_club.parent, "open.trf", OPEN)).code == 0
    sent = send(empty_club, run, "2024-05-10")
    assert "sent on 2024-05-10: recorded as report 1" in sent
    return empty_club


def send(club: Path, run: Run, day: str, *words: str) -> str:
    done = run(
        "export", club, "tournament", "--tournament", "Club open", "--names", "-o", club.parent / "sent.trf", "--sent",
        day, *words,
    )  # fmt: skip
    assert done.code == 0, done.err
    return done.err


def correct(club: Path, *changes: Change) -> None:
    with Ledger.open(club) as ledger:
        proposal = ledger.propose(changes, reason="scoresheet", by="eve")
        ledger.decide(proposal.proposal, Decision.APPROVED, by="adam")


def game_key(club: Path, white: str, black: str) -> str:
    with Ledger.open(club) as ledger:
        ledger.ensure_up_to_date()
        numbers = (ledger.player(white).player, ledger.player(black).player)
        (row,) = ledger.rows("games", "white = ? AND black = ?", numbers)
    return f"game:{row['key']}"


def replaced(club: Path, white: str, black: str, outcome: str) -> Change:
    key = game_key(club, white, black)
    with Ledger.open(club) as ledger:
        ledger.ensure_up_to_date()
        return ledger.corrections.drafts.replace(key, {"outcome": outcome})


def test_an_unchanged_report_is_not_to_be_sent_again(reporting_club: Path, run: Run) -> None:
    with Ledger.open(reporting_club) as ledger:
        (sent,) = sent_reports(ledger)
    assert (sent.tournament, sent.form, sent.sent_on, sent.again) == ("Club open", "trf16", "2024-05-10", False)
    assert run("reports", reporting_club, "--again").out == "[]\n"
    assert "recorded already" in send(reporting_club, run, "2024-05-10")
    assert "recorded as report 2" in send(reporting_club, run, "2024-05-11")
    assert audit(reporting_club).ok


def test_a_corrected_result_is_listed_noted_and_named_in_the_next_file(reporting_club: Path, run: Run) -> None:
    correct(reporting_club, replaced(reporting_club, "Bob", "Ann", "draw"))
    with Ledger.open(reporting_club) as ledger:
        (sent,) = sent_reports(ledger, again=True)
    assert [str(change) for change in sent.changed] == ["round 2, Bob - Ann: ½-½ instead of 1-0"]
    assert "Club open: round 2, Bob - Ann: ½-½ instead of 1-0" in run("reports", reporting_club, "-t").err
    note = "note: the report of 'Club open', sent on 2024-05-10, is to be sent again: 1 result is corrected"
    assert note in run("publish", reporting_club, "--at", "2024-05-31", "--despite-complaints").err
    assert note in run("changes", reporting_club, "Ann", "--since", "1").err
    assert note not in run("changes", reporting_club, "Di", "--since", "1").err
    send(reporting_club, run, "2024-06-01")
    lines = (reporting_club.parent / "sent.trf").read_text("utf-8").splitlines()
    assert "### corrected since the report of 2024-05-10: round 2, Bob - Ann: ½-½ instead of 1-0" in lines
    with Ledger.open(reporting_club) as ledger:
        assert sent_reports(ledger, again=True) == []


def test_voided_games_swapped_colours_and_byes_are_changes_and_undone_ones_are_not(
    reporting_club: Path, run: Run
) -> None:
    with Ledger.open(reporting_club) as ledger:
        ledger.ensure_up_to_date()
        drafts = ledger.corrections.drafts
        place = f"round:standard:Club%20open:{ledger.player('Cy').player}:2"
        (bye,) = ledger.journal.keys(f"{place}@", f"{place}A")
        changes = [drafts.annul(game_key(reporting_club, "Ann", "Cy")), drafts.replace(bye, {"brings": "zero"})]
    correct(reporting_club, *changes)
    with Ledger.open(reporting_club) as ledger:
        (sent,) = sent_reports(ledger, again=True)
        assert [str(change) for change in sent.changed] == [
            "round 1, Ann - Cy: nothing instead of 1-0",
            "round 2, Cy: zero-point bye instead of half-point bye",
        ]
        undone = ledger.propose([ledger.corrections.drafts.undo(1)], reason="it was right", by="eve")
        ledger.decide(undone.proposal, Decision.APPROVED, by="adam")
        ledger.ensure_up_to_date()
        assert sent_reports(ledger, again=True) == []


def test_a_merge_of_two_players_is_no_change_of_a_result(reporting_club: Path) -> None:
    with Ledger.open(reporting_club) as ledger:
        ledger.register("name:ann b", "Ann B")
        ledger.ensure_up_to_date()
        change = ledger.corrections.drafts.merge(1, 5)
    correct(reporting_club, change)
    with Ledger.open(reporting_club) as ledger:
        ledger.ensure_up_to_date()
        assert sent_reports(ledger, again=True) == []


def test_a_period_of_a_league_has_a_report_of_its_own(reporting_club: Path, run: Run) -> None:
    send(reporting_club, run, "2024-05-10", "--since", "2024-05-01", "--until", "2024-05-01")
    lines = (reporting_club.parent / "sent.trf").read_text("utf-8").splitlines()
    assert lines[2:4] == ["042 2024/05/01", "052 2024/05/01"]
    assert [each[14:17] for each in lines if each.startswith("001")] == ["Ann", "Bob", "Cy ", "Di "]
    correct(reporting_club, replaced(reporting_club, "Bob", "Ann", "draw"))
    with Ledger.open(reporting_club) as ledger:
        assert [(sent.since, sent.again) for sent in sent_reports(ledger)] == [(None, True), ("2024-05-01", False)]


def test_only_a_report_in_a_file_can_be_sent(reporting_club: Path, run: Run) -> None:
    for words in (
        ("games", "-o", reporting_club.parent / "x.csv"),
        ("tournament", "--tournament", "Club open", "--names"),
    ):
        done = run("export", reporting_club, *words, "--sent", "2024-05-10")
        assert (done.code, "--sent goes with the report" in done.err) == (2, True)
    done = run(
        "export",
        reporting_club,
        "tournament",
        "--tournament",
        "Club open",
        "--names",
        "-o",
        reporting_club.parent / "x.trf",
        "--sent",
        "May",
    )
    assert (done.code, "sent_on" in done.err) == (1, True)


def test_a_report_whose_sender_is_refused_leaves_no_file(
    reporting_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("token", "add", reporting_club, "eve", "--role", "recorder").code == 0
    monkeypatch.setenv("RATING_LEDGER_TOKEN", f"rlt_{'0' * 40}")
    target = reporting_club.parent / "refused.trf"
    words = ("tournament", "--tournament", "Club open", "--names", "-o", target, "--sent", "2024-05-10")
    done = run("export", reporting_club, *words)
    assert (done.code, "token" in done.err, target.exists()) == (1, True, False)
    target.write_bytes(b"older")
    assert (run("export", reporting_club, *words).code, target.read_bytes()) == (1, b"older")
    assert not list(target.parent.glob("refused.trf.*"))
