"""FIDE's combined list in one command: three ratings of each player go to three pools at once, or none does."""

import json
from pathlib import Path

import pytest

from ledger.imports.files import open_source
from ledger.imports.players import formats
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.source_files import MADE_UP, combined, of_september, written, xml

ALL = ("--kind", "all", "--since", "2026-09-01")


def ratings(path: Path) -> dict[str, list[tuple[int, float, float | None, str]]]:
    """The list ratings of each pool: player, rating, K, list."""
    with Ledger.open(path) as ledger:
        ledger.ensure_up_to_date()
        return {
            pool.name: [
                (row["player"], row["rating"], row["k_factor"], row["source"])
                for row in ledger.rows("seeds", f"pool = {pool.pool}")
            ]
            for pool in ledger.pools()
        }


@pytest.mark.parametrize("text", [combined(), xml()])
def test_one_command_loads_a_combined_list_into_three_pools(text: str, fide_db: Path, tmp_path: Path, run: Run) -> None:
    file = written(tmp_path, "list", text.encode())
    done = run("players", "import", fide_db, file, *ALL)
    assert done.code == 0, done.err
    assert "3 players, 3 of them new, 4 ratings" in done.err
    assert ratings(fide_db) == {
        "standard": [(1, 2344, 20, "FIDE standard rating list"), (2, 1402, 40, "FIDE standard rating list")],
        "rapid": [(1, 2310, 20, "FIDE rapid rating list")],
        "blitz": [(2, 1555, 40, "FIDE blitz rating list")],
    }
    again = run("players", "import", fide_db, file, *ALL)
    assert "3 players, 0 of them new, 0 ratings" in again.err
    assert run("audit", fide_db).code == 0


def test_the_three_pools_are_as_after_three_imports_of_one_kind(fide_db: Path, tmp_path: Path, run: Run) -> None:
    file, other = written(tmp_path, "list", combined().encode()), tmp_path / "other.db"
    assert run("init", other, "--scheme", "fide").code == 0
    for kind in ("standard", "rapid", "blitz"):
        new = run("scheme", "adopt", other, "--scheme", "fide", "--pool", kind, "--new-pool")
        assert new.code == 0 or kind == "standard"
    for kind in ("standard", "rapid", "blitz"):
        done = run("players", "import", other, file, "--kind", kind, "--pool", kind, "--since", "2026-09-01")
        assert done.code == 0, done.err
    assert run("players", "import", fide_db, file, *ALL).code == 0
    assert ratings(fide_db) == ratings(other)


def test_a_dry_run_shows_the_changes_of_each_pool_and_writes_nothing(fide_db: Path, tmp_path: Path, run: Run) -> None:
    assert run("players", "import", fide_db, written(tmp_path, "list", combined().encode()), *ALL).code == 0
    rows = []
    for row in MADE_UP:
        standard, rapid, blitz = (each and each + 10 for each in row.ratings)
        rows.append(row._replace(ratings=(standard, rapid, blitz)))
    later = written(tmp_path, "later", combined(rows).encode())
    before = ratings(fide_db)
    done = run("players", "import", fide_db, later, "--kind", "all", "--since", "2026-10-01", "--dry-run")
    assert done.code == 0, done.err
    changes = [(row["pool"], row["player"], row["difference"]) for row in json.loads(done.out)]
    assert changes == [("standard", 1, 10), ("standard", 2, 10), ("rapid", 1, 10), ("blitz", 2, 10)]
    assert ratings(fide_db) == before


def test_a_fault_in_one_rating_leaves_no_pool_with_any_of_the_list(fide_db: Path, tmp_path: Path, run: Run) -> None:
    file = written(tmp_path, "list", combined().replace("1555", "15x5").encode())
    done = run("players", "import", fide_db, file, *ALL)
    assert done.code == 1
    assert "list:3: error: the rating of blitz" in done.err
    assert ratings(fide_db) == {"standard": [], "rapid": [], "blitz": []}


def test_a_rating_that_contradicts_a_pool_is_a_fault_and_nothing_is_recorded(
    fide_db: Path, tmp_path: Path, run: Run
) -> None:
    assert run("players", "import", fide_db, written(tmp_path, "list", combined().encode()), *ALL).code == 0
    before = ratings(fide_db)
    done = run(
        "players", "import", fide_db, written(tmp_path, "other", combined().replace("1555", "1556").encode()), *ALL
    )
    assert done.code == 1
    assert "other:3: error: exists-with-different-rating" in done.err
    assert ratings(fide_db) == before


def test_a_missing_pool_is_named_with_the_command_that_makes_it(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "one.db"
    assert run("init", path, "--scheme", "fide").code == 0
    done = run("players", "import", path, written(tmp_path, "list", combined().encode()), *ALL)
    assert done.code == 2
    assert "there is no pool rapid and no pool blitz" in done.err
    assert f"'scheme adopt {path} --scheme fide --pool rapid --new-pool'" in done.err


def test_a_list_of_one_kind_or_of_a_table_is_refused(fide_db: Path, tmp_path: Path, run: Run) -> None:
    done = run("players", "import", fide_db, written(tmp_path, "list", of_september().encode()), *ALL)
    assert (done.code, "no column for the rating" in done.err) == (1, True)
    done = run("players", "import", fide_db, written(tmp_path, "a.csv", b"identity,rating\nfide:1,1500\n"), *ALL)
    assert (done.code, "for FIDE's combined list" in done.err) == (2, True)
    done = run("players", "import", fide_db, tmp_path / "list", *ALL, "--pool", "rapid")
    assert (done.code, "without --pool" in done.err) == (2, True)


def test_python_loads_the_three_ratings_into_pools_of_any_name(fide_db: Path, tmp_path: Path, run: Run) -> None:
    file = written(tmp_path, "list", combined().encode())
    with Ledger.open(fide_db) as ledger, open_source(str(file)) as opened:
        report = ledger.registry.take_list(
            formats.read_players(opened, "fide-text", "all", "2026-09-01"),
            pool="blitz",
            further_pools={"rapid": "standard", "blitz": "rapid"},
            actor="eve",
        )
    assert (report.is_recorded, report.seeded) == (True, 4)
    assert [row[1] for row in ratings(fide_db)["blitz"]] == [2344, 1402]
