"""The commands about lists that are shown to the world, and the lists of the past in the commands that read."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ledger.facts.source_games import SourceGame
from ledger.ledger import Ledger
from ledger.recording.game_columns import GameColumns
from ledger.recording.game_rows import GameRows
from tests.kit.commands import SAMPLE_ENTRIES, Run
from tools.commands import REFUSED, USAGE
from tools.commands.token_options import VARIABLE

JUNE, AUGUST = "standard@2006-06-30/1", "standard@2006-08-31/1"
LATE = "white,black,result,ended_at,half_moves,key\nann,bob,0-1,2006-06-02,61,late1\n"


@pytest.fixture(name="published_club")
def _published_club(sample_club: Path, run: Run) -> Path:
    """The sample club with two published lists."""
    for day in ("2006-06-30", "2006-08-31"):
        assert run("publish", sample_club, "--at", day, "--by", "eve").code == 0
    return sample_club


def rows_of(run: Run, *words: Any) -> Any:
    done = run(*words)
    assert done.code == 0, done.err
    return json.loads(done.out)


def record_late(run: Run, published_club: Path) -> None:
    late = published_club.with_name("late.csv")
    late.write_text(LATE, encoding="utf-8")
    assert run("import", published_club, late).code == 0


def size(published_club: Path) -> int:
    with Ledger.open(published_club) as ledger:
        return ledger.journal.size()


def test_a_list_is_published_once(sample_club: Path, run: Run) -> None:
    done = run("publish", sample_club, "--at", "2006-06-30", "--by", "eve")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"{JUNE} published: 16 players; head {SAMPLE_ENTRIES + 1} ")
    assert run("publish", sample_club, "--at", "2006-06-30").err.startswith(f"{JUNE} published already: 16 players")
    assert size(sample_club) == SAMPLE_ENTRIES + 1


UPSETS = "white,black,result,ended_at\n" + "".join(
    f"Strong,Weak,0-1,2024-02-{day:02}T{hour}:00:00Z\n" for day in range(1, 16) for hour in (10, 20)
)
PLAYERS = (
    "identity,name,rating,rd,volatility,games\nname:strong,Strong,2200,50,0.06,99\nname:weak,Weak,1200,50,0.06,99\n"
)


@pytest.mark.parametrize("bounds", [[], ["largest_change=700"]])
def test_a_rating_that_nobody_can_have_is_noted_and_published_only_in_spite_of_a_complaint(
    bounds: list[str], tmp_path: Path, run: Run
) -> None:
    path, players, games = (tmp_path / name for name in ("club.db", "list.csv", "month.csv"))
    players.write_text(PLAYERS, encoding="utf-8")
    games.write_text(UPSETS, encoding="utf-8")
    words = [word for bound in bounds for word in ("--set", bound)]
    assert run("init", path, "--scheme", "glicko2", *words).code == 0
    assert run("players", "import", path, players, "--since", "2024-01-01").code == 0
    assert run("import", path, games).code == 0
    before = size(path)
    ranking, done = run("ratings", path), run("publish", path, "--at", "2024-02-29")
    named = ["Strong (player 1)", "Weak (player 2)"]
    if bounds:
        assert not any("nobody can have" in line for line in ranking.err.splitlines())
        assert (done.code, size(path)) == (0, before + 1)
        return
    noted = [line for line in ranking.err.splitlines() if "which nobody can have" in line]
    assert sorted(name for name in named for line in noted if name in line) == named
    assert (ranking.code, done.code, size(path)) == (0, REFUSED, before)
    assert done.err.count("has the rating") == len(named)
    assert "by 'glicko2'; its settings may bound it" in done.err
    assert run("publish", path, "--at", "2024-02-29", "--despite-complaints").code == 0
    assert size(path) == before + 1


def test_the_lists_are_listed(published_club: Path, run: Run) -> None:
    rows = rows_of(run, "lists", published_club)
    assert [row["list"] for row in rows] == [JUNE, AUGUST]
    with Ledger.open(published_club) as ledger:
        heads = [f"{n} {ledger.journal.root_at(n).hex()}" for n in (SAMPLE_ENTRIES, SAMPLE_ENTRIES + 1)]
    assert [row["head"] for row in rows] == heads
    assert {row["by"] for row in rows} == {"eve"}
    assert rows_of(run, "lists", published_club, "--pool", "standard", "--limit", "1") == rows[1:]
    table = run("lists", published_club, "-t").out.splitlines()
    assert table[0].split() == ["list", "players", "published_at", "by", "scheme", "entry"]
    assert run("lists", published_club, "--pool", "rapid").code == REFUSED


def test_a_published_list_comes_out_again_whatever_became_known(published_club: Path, run: Run) -> None:
    columns = ("rank", "player", "shown", "rating", "games", "last_game")
    before = rows_of(run, "lists", published_club, JUNE)
    record_late(run, published_club)
    after = rows_of(run, "lists", published_club, "standard@2006-06")
    assert [[row[name] for name in columns] for row in after] == [[row[name] for name in columns] for row in before]
    assert {row["revised"] for row in before} == {False}
    assert {row["revised"] for row in after} == {True}
    lines = list(csv.DictReader(io.StringIO(run("lists", published_club, JUNE, "--csv").out)))
    assert [float(line["rating"]) for line in lines] == [row["rating"] for row in before]


@pytest.mark.slow
def test_what_was_known_then_is_what_was_published(published_club: Path, run: Run) -> None:
    record_late(run, published_club)
    published = [(row["player"], row["rating"]) for row in rows_of(run, "lists", published_club, JUNE)]
    for word in (JUNE, "standard@2006-06-30", str(SAMPLE_ENTRIES)):
        rows = rows_of(run, "runs", published_club, "--on", "2006-06-30", "--known-at", word)
        assert [(row["player"], row["rating"]) for row in rows] == published
        assert {row["revised"] for row in rows} == {False}
        assert {row["published"] is None for row in rows} == {word.isdecimal()}  # a list was known with itself
    now = rows_of(run, "runs", published_club, "--on", "2006-06-30")
    assert [(row["player"], row["rating"]) for row in now] != published
    assert {(row["player"], row["published"]) for row in now} == set(published)


@pytest.mark.slow
def test_ratings_and_show_answer_from_what_was_known(published_club: Path, run: Run) -> None:
    before = rows_of(run, "ratings", published_club), rows_of(run, "show", published_club, "ann")
    record_late(run, published_club)
    assert rows_of(run, "ratings", published_club) != before[0]
    known = "--known-at", str(SAMPLE_ENTRIES + 2)
    assert rows_of(run, "ratings", published_club, *known) == before[0]
    assert rows_of(run, "show", published_club, "ann", *known) == before[1]
    assert rows_of(run, "ratings", published_club, *known, "--verify") == before[0]
    assert rows_of(run, "ratings", published_club, "--known-at", "1") == []


@pytest.mark.slow
def test_lists_that_came_later_were_not_known(published_club: Path, run: Run) -> None:
    record_late(run, published_club)
    assert run("publish", published_club, "--at", "2006-06-30").code == 0  # the second edition
    june = rows_of(run, "runs", published_club, "--on", "2006-06-30", "--known-at", AUGUST)
    assert {row["published"] == row["rating"] for row in june} == {True}
    assert rows_of(run, "show", published_club, "ann", "--known-at", JUNE)["published_list"] == JUNE
    done = run("ratings", published_club, "--since-list", AUGUST, "--known-at", JUNE)
    assert (done.code, "no published list" in done.err) == (REFUSED, True)


@pytest.mark.slow
def test_games_explain_and_graph_answer_from_what_was_known(published_club: Path, run: Run) -> None:
    game = rows_of(run, "games", published_club, "ann", "--limit", "1")[0]["game"]
    asked = ("games", "ann"), ("explain", "ann", game), ("graph", "ann", "--format", "json")
    before = [run(command, published_club, *words).out for command, *words in asked]
    assert run("correct", published_club, "result", game, "--to", "0-1", "--reason", "x").code == 0
    assert run("correct", published_club, "approve", "1").code == 0
    known = "--known-at", str(SAMPLE_ENTRIES + 2)
    for (command, *words), then in zip(asked, before, strict=True):
        assert run(command, published_club, *words).out != then
        assert run(command, published_club, *words, *known).out == then
    done = run("explain", published_club, "ann", game, "--known-at", "40")
    assert (done.code, done.out, "no game" in done.err) == (REFUSED, "", True)


@pytest.mark.parametrize("word", ["0", "921", "99999999999999999999", "standard@2006-07-31", "rapid", "-1", "²"])
def test_a_moment_that_never_was_is_refused(published_club: Path, run: Run, word: str) -> None:
    done = run("ratings", published_club, f"--known-at={word}")
    assert (done.code, done.out) == (REFUSED, "")
    assert "in this ledger" in done.err


def test_show_tells_what_was_published_where_that_differs(published_club: Path, run: Run) -> None:
    assert "published" not in run("show", published_club, "ann", "-t").out
    record_late(run, published_club)
    lines = dict(line.split(None, 1) for line in run("show", published_club, "ann", "-t").out.splitlines())
    assert (lines["published_list"], lines["revised"]) == (AUGUST, "True")
    assert rows_of(run, "show", published_club, "ann", "--at", "2006-07")["published_list"] == JUNE


def test_the_list_of_a_day_tells_what_was_published_where_that_differs(published_club: Path, run: Run) -> None:
    words = ("runs", published_club, "--on", "2006-06-30")
    assert "published" not in run(*words, "-t").out
    assert run(*words, "--csv").out.splitlines()[0].endswith("last_game,published,revised")
    record_late(run, published_club)
    assert "published" in run(*words, "-t").out


@pytest.mark.slow
def test_the_difference_of_two_lists_is_told_with_its_reasons(published_club: Path, run: Run) -> None:
    record_late(run, published_club)
    rows = rows_of(run, "diff", published_club, JUNE, "now")
    assert {row["change"] for row in rows} == {"changed"}
    assert all(row["why"] == [{
        "cause": "late result csv:late1", "before": row["rating_before"], "after": row["rating_after"],
    }] for row in rows)  # fmt: skip
    table = run("diff", published_club, JUNE, "now", "-t", "--limit", "2")
    assert "late result csv:late1: +" in table.out
    assert table.err.splitlines()[-1] == f"{JUNE} to now: 0 created, 0 unchanged, 16 changed, 0 removed"
    assert len(list(csv.DictReader(io.StringIO(run("diff", published_club, JUNE, AUGUST, "--csv").out)))) == 16


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("diff", "now", "now"), USAGE, "both lists are 'now'"),
        (("diff", JUNE, "standard@2006-09-30"), REFUSED, "no published list"),
        (("diff", JUNE, "standard@june/now"), USAGE, "june"),
        (("lists", "standard@june"), REFUSED, "no published list"),
        (("lists", "--restore-rows"), USAGE, "goes with a LIST"),
        (("publish", "--at", "june"), USAGE, "--at"),
        (("publish", "--at", "2999"), REFUSED, "ended-in-the-future"),
        (("publish", "--at", "2006", "--pool", "rapid"), REFUSED, "no pool 'rapid'"),
        (("publish",), USAGE, "--at"),
        (("audit", "--lists", "--journal-only"), USAGE, "--lists goes without"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    published_club: Path, run: Run, words: tuple[str, ...], code: int, said: str
) -> None:
    before = size(published_club)
    done = run(words[0], published_club, *words[1:])
    assert (done.code, done.out) == (code, "")
    assert said in done.err.splitlines()[-1]
    assert size(published_club) == before


def test_complaints_are_named_and_nothing_is_recorded(published_club: Path, run: Run) -> None:
    (published_club.parent / "twin.csv").write_text(
        "white_id,white,black,result,ended_at,half_moves\nfide:77,ANN,bob,1/2-1/2,2006-09-20,60\n", encoding="utf-8"
    )
    assert run("import", published_club, published_club.parent / "twin.csv").code == 0
    before = size(published_club)
    done = run("publish", published_club, "--at", "2006-09-30")
    assert (done.code, done.out, size(published_club)) == (REFUSED, "", before)
    assert done.err.splitlines() == [
        "name-twice: ann (player 13) has the name of player 17, too",
        "error: 1 complaint: nothing was recorded; correct what is wrong, or publish with --despite-complaints",
    ]
    done = run("publish", published_club, "--at", "2006-09-30", "--despite-complaints")
    assert (done.code, size(published_club)) == (0, before + 1)
    assert done.err.startswith("name-twice: ann")


def test_rows_that_are_gone_are_restored(published_club: Path, run: Run) -> None:
    before = run("lists", published_club, JUNE).out
    with Ledger.open(published_club) as ledger:
        connection = vars(ledger.journal)["_connection"]
        connection.execute("DELETE FROM texts")
    done = run("lists", published_club, JUNE)
    assert (done.code, "is missing" in done.err) == (REFUSED, True)
    assert run("lists", published_club, JUNE, "--restore-rows").out == before
    assert run("lists", published_club, JUNE).out == before


def test_an_erased_person_stays_on_the_list_by_number(published_club: Path, run: Run) -> None:
    before = rows_of(run, "lists", published_club, JUNE)
    assert run("erase", published_club, "ann", "--yes").code == 0
    after = rows_of(run, "lists", published_club, JUNE)
    assert {row["player"]: row["rating"] for row in after} == {row["player"]: row["rating"] for row in before}
    assert after[0]["name"] == "(erased) 13"


def test_where_tokens_are_set_up_an_approver_publishes(
    sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    token = run("token", "add", sample_club, "adam", "--role", "approver").out.strip()
    before = size(sample_club)
    done = run("publish", sample_club, "--at", "2006-06-30", "--by", "eve")
    assert (done.code, done.err.startswith("error: needs-a-token"), size(sample_club)) == (REFUSED, True, before)
    monkeypatch.setenv(VARIABLE, token)
    assert run("publish", sample_club, "--at", "2006-06-30").code == 0
    assert rows_of(run, "lists", sample_club)[0]["by"] == "adam"


def adds_up(table: str, first: str, second: str, difference: str) -> list[int]:
    """The differences of a table, each held against the numbers beside it."""
    head, rule, *rows = table.splitlines()
    ends = [len(head[: head.index(name)] + name) for name in (first, second, difference)]  # to the right of a column
    starts = [rule[:end].rfind("  ") + 1 for end in ends]
    found = []
    for row in rows:
        before, after, between = (row[start:].split()[0] for start in starts)
        if "-" not in (before, after):
            assert int(after) - int(before) == int(between), row
            found.append(int(between))
    return found


def test_the_differences_of_a_table_are_those_of_the_numbers_that_it_shows(published_club: Path, run: Run) -> None:
    ranking = run("ratings", published_club, "--since-list", JUNE, "-t", "--limit", "0").out
    differences = run("diff", published_club, JUNE, AUGUST, "-t").out
    assert len(adds_up(ranking, "before", "rating", "change")) == 16
    assert len(adds_up(differences, "before", "after", "difference")) > 10
    whole = rows_of(run, "ratings", published_club, "--since-list", JUNE)
    assert [row["change"] for row in whole] == [row["rating"] - row["before"] for row in whole]


AUGUST_OPEN = "white,black,result,ended_at,half_moves,tournament\nAnn,Bob,1-0,2025-08-10,40,August open\n"
LATE_OPEN = (
    "white,black,result,ended_at,half_moves,tournament\nAnn,Cleo,1-0,2025-08-20,40,Late open\n"
    "Bob,Cleo,1-0,2025-09-10,40,September open\n"
)
PUBLISHED = "the list of their own days is published (late_reports=next-list)"


def federation(tmp_path: Path, run: Run, *settings: str) -> Path:
    """A pool of FIDE with a game of August and its list."""
    path = tmp_path / "fed.db"
    chosen = [word for setting in ("start=1800", *settings) for word in ("--set", setting)]
    assert run("init", path, "--scheme", "fide", *chosen).code == 0
    for name, text in (("august", AUGUST_OPEN), ("late", LATE_OPEN)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    assert run("import", path, tmp_path / "august.csv").code == 0
    assert run("publish", path, "--at", "2025-09-01", "--by", "eve").code == 0
    return path


def test_an_import_and_its_dry_run_name_the_list_of_each_tournament(tmp_path: Path, run: Run) -> None:
    path = federation(tmp_path, run)
    for more in (["--dry-run"], []):
        said = run("import", path, tmp_path / "late.csv", *more).err
        assert f"late.csv: tournament 'Late open': 1 game counts in the list of 2025-10-01: {PUBLISHED}\n" in said
        assert "late.csv: tournament 'September open': 1 game counts in the list of 2025-10-01\n" in said
    assert "counts" not in run("import", path, tmp_path / "late.csv").err  # nothing is new


def test_a_forfeit_counts_in_no_list(tmp_path: Path, run: Run) -> None:
    path = federation(tmp_path, run)
    forfeit = "Bob,Ann,+/-,2025-08-21,0,Late open\n"
    (tmp_path / "forfeit.csv").write_text(LATE_OPEN + forfeit, encoding="utf-8")
    said = run("import", path, tmp_path / "forfeit.csv").err
    assert f"forfeit.csv: tournament 'Late open': 1 game counts in the list of 2025-10-01: {PUBLISHED}\n" in said
    games = [
        SourceGame(line=line, key=f"g{line}", white_id="name:ann", white_name="Ann", black_id="name:bob",
                   black_name="Bob", outcome="white", termination=termination, half_moves=None,
                   ended_at="2025-08-21", rated=rated, tournament="Late open")
        for line, (termination, rated) in enumerate([("unknown", True), ("unplayed", True), ("unknown", False)])
    ]  # fmt: skip
    rows = GameRows([{**game._asdict(), "pool": "standard"} for game in games])
    assert rows.played() == GameColumns(rows.frame()).played() == {("standard", "Late open", "2025-08-21"): 1}


def test_where_late_reports_count_at_their_places_the_import_names_the_list_that_it_revises(
    tmp_path: Path, run: Run
) -> None:
    path = federation(tmp_path, run, "late_reports=true-place")
    said = run("import", path, tmp_path / "late.csv").err
    assert "'Late open': 1 game counts in the list of 2025-09-01, which is published and thereby revised" in said
    assert "'September open': 1 game counts in the list of 2025-10-01\n" in said


def test_a_publication_and_its_dry_run_name_what_waits(tmp_path: Path, run: Run) -> None:
    path = federation(tmp_path, run)
    assert run("import", path, tmp_path / "late.csv").code == 0
    entries = size(path)
    waiting = f"waiting: tournament 'Late open': 1 game counts in the list of 2025-10-01: {PUBLISHED}\n"
    tried = run("publish", path, "--at", "2025-09-15", "--dry-run")
    assert (tried.code, size(path)) == (0, entries)
    assert tried.err == f"standard@2025-09-15: 2 players would be on the list\n{waiting}dry run: nothing was recorded\n"
    assert run("publish", path, "--at", "2025-09-01", "--by", "eve").err.endswith(waiting)
    assert waiting not in run("publish", path, "--at", "2025-10-01", "--by", "eve").err


def test_a_late_event_keeps_players_who_played_since_on_the_list(tmp_path: Path, run: Run) -> None:
    """It counts in the list of December, after their games of October, and ended more than 100 days before it."""
    path = federation(tmp_path, run)
    assert run("policy", "set", path, "publishing", "active_days=100", "--by", "eve").code == 0
    header, game = AUGUST_OPEN.splitlines()
    for name, day, list_day in (("october", "2025-10-10", "2025-11-01"), ("late", "2025-08-20", "2025-12-01")):
        late = game.replace("2025-08-10", day).replace("August", name)
        (tmp_path / f"{name}.csv").write_text(f"{header}\n{late}\n", encoding="utf-8")
        assert run("import", path, tmp_path / f"{name}.csv").code == 0
        done = run("publish", path, "--at", list_day, "--by", "eve")
        assert (done.code, done.err[:44]) == (0, f"standard@{list_day}/1 published: 2 players; head "[:44])
    for words in (
        ["ratings", path, "--active", "100", "--at", "2025-12-01"],
        ["lists", path, "standard@2025-12-01"],
        ["runs", path, "--on", "2025-12-01"],
    ):
        rows = rows_of(run, *words)
        assert [(row["name"], row["games"], row["last_game"]) for row in rows] == [
            ("Ann", 3, "2025-10-10"),
            ("Bob", 3, "2025-10-10"),
        ], words
    assert rows_of(run, "show", path, "Ann")["last_game"] == "2025-10-10"
    late, october, august = rows_of(run, "games", path, "Ann")
    assert (late["tournament"], late["rating_before"]) == ("late open", october["rating"])
    assert october["rating_before"] == august["rating"]
    explained = rows_of(run, "explain", path, "Ann", late["game"])
    assert explained["change"] == late["rating"] - late["rating_before"] != 0


def test_a_dry_run_of_a_publication_ends_as_the_publication_would(sample_club: Path, run: Run) -> None:
    assert run("correct", sample_club, "void", "#910", "--reason", "x", "--by", "eve").code == 0
    entries = size(sample_club)
    tried = run("publish", sample_club, "--at", "2006-06-30", "--dry-run")
    assert tried.code == REFUSED
    assert "open-proposal: " in tried.err
    assert size(sample_club) == entries


def test_a_word_that_late_reports_cannot_be_is_wrong_usage(tmp_path: Path, run: Run) -> None:
    done = run("init", tmp_path / "fed.db", "--scheme", "fide", "--set", "late_reports=later")
    assert done.code == USAGE
    assert "--set late_reports: give true-place or next-list; got 'later'" in done.err


def test_under_four_eyes_no_late_report_changes_a_published_list_without_a_proposal(tmp_path: Path, run: Run) -> None:
    path = federation(tmp_path, run, "late_reports=true-place")
    assert run("policy", "set", path, "four-eyes", "on=true", "--by", "eve").code == 0
    for more in (["--dry-run"], []):
        done = run("import", path, tmp_path / "august.csv", tmp_path / "late.csv", *more)
        assert done.code == REFUSED
        assert "late.csv:2: error: needs-a-proposal: " in done.err
        assert "published up to 2025-09-01, which this game would change; propose it with 'correct late'" in done.err
        assert "august.csv (csv" in done.err
        assert "0 games recorded, 1 known already" in done.err
        assert "1 game recorded, 0 known already" in done.err  # September open
    assert run("publish", path, "--at", "2025-09-01", "--by", "eve").err.startswith(
        "standard@2025-09-01/1 published al"
    )


def test_under_four_eyes_a_late_report_that_counts_in_the_next_list_needs_no_proposal(tmp_path: Path, run: Run) -> None:
    path = federation(tmp_path, run)
    assert run("policy", "set", path, "four-eyes", "on=true", "--by", "eve").code == 0
    assert run("import", path, tmp_path / "late.csv").code == 0
    assert run("publish", path, "--at", "2025-09-01", "--by", "eve").err.startswith(
        "standard@2025-09-01/1 published al"
    )
