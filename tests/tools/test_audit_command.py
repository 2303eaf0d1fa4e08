"""The command ``audit``: its exit codes, what it names, and heads that are kept in files."""

from pathlib import Path

import pytest

from ledger.facts.words import TreeHead
from tests.kit.commands import SAMPLE_ENTRIES, Run
from tests.kit.source_files import CSV, written
from tests.kit.tampering import edit
from tools.commands import FALSE, REFUSED, USAGE


@pytest.mark.slow
def test_a_true_ledger_is_exit_code_0_with_head_and_digests(sample_club: Path, run: Run) -> None:
    done = run("audit", sample_club)
    assert done.code == 0
    verdict, head, *digests = done.out.splitlines()
    assert verdict == f"TRUE {sample_club}: {SAMPLE_ENTRIES} entries: journal, 16 names, and every derived row"
    assert done.err == ""
    assert head == f"head {run('head', sample_club).out.strip()}"
    assert [line.split()[0] for line in digests] == [
        "bests", "changes", "corrections", "current", "descriptions", "distribution", "entrants", "eras", "federations",
        "games", "given_sides", "highest_lowest", "history", "merges", "movetexts", "openings", "originals",
        "player_details", "players", "policies", "pools", "proposals", "publications", "rounds_without_game", "runs",
        "seeds", "sent_reports", "streaks", "strengths", "time_losses", "tournaments", "upsets",
    ]  # fmt: skip
    short = run("audit", sample_club, "--journal-only")
    assert short.out.splitlines() == [
        f"TRUE {sample_club}: {SAMPLE_ENTRIES} entries: journal",
        f"NOT COMPARED {sample_club} names, texts and derived rows: the journal alone was asked for",
        head,
    ]
    assert short.err == ""


def test_an_edited_entry_is_exit_code_3_and_named_by_position(sample_club: Path, run: Run) -> None:
    edit(sample_club, "UPDATE journal SET leaf = zeroblob(32) WHERE position = 500")
    for words in ([], ["--journal-only"]):
        done = run("audit", sample_club, *words)
        assert done.code == FALSE
        false, *_, head = done.out.splitlines()
        assert false.startswith(f"FALSE {sample_club} journal entry 500: the body hashes to ")
        assert "TRUE" not in done.out + done.err
        assert head.startswith("head ")  # no digests: nothing follows from a false journal


@pytest.mark.slow
def test_an_edited_row_of_a_derived_table_is_named_and_a_rebuild_mends_it(sample_club: Path, run: Run) -> None:
    edit(
        sample_club.with_name("club.views.db"), "UPDATE history SET rating = rating + 1e-9 WHERE player = 13 AND n = 20"
    )
    done = run("audit", sample_club)
    line, head, *_ = done.out.splitlines()
    assert (done.code, head.split()[0], done.err) == (FALSE, "head", "")
    assert line.startswith(f"FALSE {sample_club} history pool 1, player 13, n 20: rating is ")
    assert "the journal gives" in line
    run("rebuild", sample_club)
    assert run("audit", sample_club).code == 0


@pytest.mark.slow
def test_a_saved_head_is_proven_to_be_before_what_is_there_later(sample_club: Path, tmp_path: Path, run: Run) -> None:
    kept = tmp_path / "club.head"
    assert run("audit", sample_club, "--save-head", kept).code == 0
    assert TreeHead.parse(kept.read_text()).size == SAMPLE_ENTRIES
    assert run("import", sample_club, written(tmp_path, "games.csv", CSV)).code == 0
    assert run("audit", sample_club, "--since", kept, "--save-head", kept).code == 0
    assert TreeHead.parse(kept.read_text()).size == SAMPLE_ENTRIES + 1  # both players are known
    assert run("audit", sample_club, "--since", kept.read_text().strip()).code == 0


@pytest.mark.slow
def test_a_file_of_heads_counts_by_its_last_line(sample_club: Path, tmp_path: Path, run: Run) -> None:
    first = run("head", sample_club).out
    run("import", sample_club, written(tmp_path, "games.csv", CSV))
    kept = written(tmp_path, "heads.txt", f"{first}{run('head', sample_club).out}".encode())
    assert run("audit", sample_club, "--since", kept).code == 0
    edit(sample_club, *(f"DELETE FROM {table} WHERE position > {SAMPLE_ENTRIES}" for table in ("journal", "keys_0")))
    assert run("audit", sample_club, "--since", first.strip(), "--journal-only").code == 0
    assert run("audit", sample_club, "--since", kept, "--journal-only").code == FALSE


@pytest.mark.slow
def test_a_cut_off_tail_is_found_by_a_kept_head(sample_club: Path, tmp_path: Path, run: Run) -> None:
    kept = tmp_path / "club.head"
    run("audit", sample_club, "--save-head", kept)
    edit(sample_club, *(f"DELETE FROM {table} WHERE position > 900" for table in ("journal", "keys_0")))
    run("rebuild", sample_club)
    assert run("audit", sample_club).code == 0  # a shorter journal is a true one
    done = run("audit", sample_club, "--since", kept)
    assert done.code == FALSE
    assert "journal entry 901: the journal holds only 900 entries, but the head kept outside says 917" in done.out


@pytest.mark.slow
def test_a_false_ledger_saves_no_head(sample_club: Path, tmp_path: Path, run: Run) -> None:
    edit(sample_club.with_name("club.views.db"), "UPDATE current SET rating = 3000 WHERE player = 13")
    assert run("audit", sample_club, "--save-head", tmp_path / "new.head").code == FALSE
    assert not (tmp_path / "new.head").exists()


@pytest.mark.parametrize(
    ("since", "says"),
    [
        ("nope.head", "--since: there is no file 'nope.head'; "),
        ("917", "--since: there is no file '917'; "),
        ("917 abc", "--since '917 abc': expected 'SIZE ROOT' with 64 hexadecimal digits, got '917 abc'; "),
        ("x" * 300, "cannot be read (File name too long); "),
        ("-1 " + "0" * 64, "expected 'SIZE ROOT' with 64 hexadecimal digits, got '-1 0"),
        (".", "--since: '.' cannot be read (Is a directory); "),
        ("\udcff", "--since: there is no file "),
    ],
)
def test_what_is_no_head_is_wrong_usage(since: str, says: str, sample_club: Path, run: Run) -> None:
    done = run("audit", sample_club, "--since", since)
    assert (done.code, done.out) == (USAGE, "")
    assert says in done.err
    assert "; give a head as 'head' prints it, in quotes ('SIZE ROOT'), or a file whose last line is one" in done.err
    assert "Errno" not in done.err


@pytest.mark.slow
def test_a_head_that_cannot_be_saved_is_told(
    sample_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("audit", sample_club, "--save-head", tmp_path / "nowhere" / "club.head")
    assert done.code == REFUSED
    assert "error: " in done.err
    assert "nowhere" in done.err
    assert run("audit", sample_club, "--save-head", tmp_path).code == USAGE
    monkeypatch.chdir(tmp_path)
    done = run("audit", sample_club, "--save-head", "-")
    assert (done.code, done.out) == (USAGE, "")
    assert "--save-head needs the name of a file: the next audit reads there what this one proved" in done.err
    assert not Path("-").exists()
