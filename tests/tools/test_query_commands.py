"""The commands ``query`` and ``tables``: rows of views, journal and names together; nothing can be changed."""

import json
from pathlib import Path

import pytest

from ledger.answers import querying
from ledger.errors import MalformedError
from ledger.ledger import Ledger
from ledger.ratings.projectors import tournament_performance
from tests.kit.commands import SAMPLE_ENTRIES, Run
from tests.kit.every_table import columns, make_club_with_every_table, rows, tables

RANKING = "SELECT name, rating FROM current JOIN names USING (player) WHERE n >= :least ORDER BY rating DESC LIMIT 2"
ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t"
REFUSED = {
    "DELETE FROM games": "what would change something",
    "UPDATE games SET key = 'x'": "what would change something",
    "INSERT INTO names VALUES (99, 'x', 'y') RETURNING *": "what would change something",
    "INSERT INTO journal.journal SELECT * FROM journal": "what would change something",
    "DROP TABLE games": "what would change something",
    "CREATE TEMP TABLE x(a)": "what would change something",
    "CREATE TEMP VIEW names2 AS SELECT * FROM names": "what would change something",
    "ATTACH 'club.people.db' AS people": "ATTACH",
    "DETACH journal": "what would change something",
    "PRAGMA journal_mode = delete": "PRAGMA journal_mode",
    "PRAGMA query_only = 0": "PRAGMA query_only",
    "PRAGMA writable_schema": "PRAGMA writable_schema",
    "SELECT load_extension('x')": "load_extension()",
    "SELECT randomblob(1000000000)": "randomblob()",
    "BEGIN IMMEDIATE": "a transaction",
}
WRONG = {
    "": "expected one statement that selects rows",
    "VACUUM INTO 'stolen.db'": "expected one statement that selects rows",
    "SELECT 1; SELECT 2": "one statement at a time",
    "SELECT": "incomplete input",
    "SELECT :nobody": "binding",
    "SELECT nope FROM games": "no such column: nope",
    "SELECT * FROM gamez": "no table 'gamez'; did you mean 'games'",
    "SELECT salt FROM people": "no table 'people'",
}


def test_views_journal_and_names_are_asked_together(sample_club: Path, run: Run) -> None:
    ranking = json.loads(run("ratings", sample_club, "--limit", "2", "--min-games", "107").out)
    done = run("query", sample_club, RANKING, "-p", "least", "107")
    assert json.loads(done.out) == [{"name": row["name"], "rating": row["rating"]} for row in ranking]
    counted = "SELECT count(*) AS entries, max(length(leaf)) AS bytes FROM journal"
    assert run("query", sample_club, counted, "--csv").out == f"entries,bytes\n{SAMPLE_ENTRIES},32\n"
    entry = "SELECT json_extract(body, '$.key') AS key, 1, 1, x'00ff' AS b FROM journal WHERE position = 1"
    (row,) = json.loads(run("query", sample_club, entry).out)
    assert row == {"key": row["key"], "1": 1, "1_2": 1, "b": "00ff"}
    assert row["key"].startswith("scheme:")
    named = run("query", sample_club, "SELECT name FROM names WHERE name = :n", "-p", "n", "ann", "-t")
    assert named.out.split()[-1] == "ann"


@pytest.mark.parametrize("before", [";", " ;\n;", "/* ; */", "-- all of them;\n;", "/* a *//* b */;"])
def test_what_stands_before_a_statement_takes_nothing_from_its_answer(sample_club: Path, run: Run, before: str) -> None:
    statement = "SELECT count(*) AS people, '-- ;' AS kept FROM names"
    plain = run("query", sample_club, statement)
    assert json.loads(plain.out)[0]["people"] > 0
    assert run("query", sample_club, "--", before + statement) == plain


def test_what_was_known_then_is_asked_without_the_journal(sample_club: Path, run: Run) -> None:
    counted = "SELECT count(*) AS games FROM games"
    assert json.loads(run("query", sample_club, counted, "--known-at", "117").out) == [{"games": 100}]
    done = run("query", sample_club, "SELECT * FROM journal", "--known-at", "117")
    assert (done.code, done.out) == (1, "")
    assert "no table 'journal'" in done.err


@pytest.mark.slow
def test_a_statement_can_only_read(
    sample_club: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in sample_club.parent.glob("club*.db")}
    with Ledger.open(sample_club) as ledger:
        ledger.ensure_up_to_date()
        for statement, says in REFUSED.items():
            with pytest.raises(MalformedError, match=f"it may only read: {says}".replace("()", r"\(\)")):
                list(querying.query(ledger, statement))
        for statement, says in WRONG.items():
            with pytest.raises(MalformedError, match=says):
                list(querying.query(ledger, statement))
        with pytest.raises(MalformedError, match=r"stopped after 0.1 s"):
            list(querying.query(ledger, ENDLESS, seconds=0.1))
        assert list(querying.query(ledger, "SELECT 1 AS a", seconds=0)) == [{"a": 1}]
    assert {path: path.read_bytes() for path in before} == before
    assert not (tmp_path / "stolen.db").exists()
    done = run("query", sample_club, "DELETE FROM games")
    assert done == (1, "", "error: query: it may only read: what would change something is refused\n")


@pytest.mark.slow
def test_who_was_erased_has_no_name_and_tables_say_what_there_is(tmp_path: Path, run: Run) -> None:
    path = make_club_with_every_table(tmp_path, 60)
    names = json.loads(run("query", path, "SELECT * FROM names").out)
    assert {row["player"] for row in names} == {*range(1, 17)} - {5}
    assert [row["name"] for row in names if row["player"] == 6] == ["Renamed"]
    views = path.with_name("club.views.db")
    said = {row["table"]: row["rows"] for row in json.loads(run("tables", path).out)}
    beside = {"names": 15, "journal": rows(path, "journal"), tournament_performance.NAME: None}
    assert said == {name: rows(views, name) for name in tables(views)} | beside
    told = json.loads(run("tables", path, "--columns").out)
    for name in tables(views):
        assert [(row["column"], row["type"]) for row in told if row["table"] == name] == [
            (column, kind) for column, kind, _ in columns(views, name)
        ]
    assert [row["unit"] for row in told if row["table"] == "history" and row["column"] == "rating"] == ["points"]
