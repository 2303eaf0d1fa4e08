"""The command ``correct preview``, and what ``correct approve`` asks for where facts were recorded since."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import TODAY, made, size
from tests.kit.games import game_recorded


@pytest.fixture
def proposed(tmp_path: Path) -> Path:
    """The club of four, where g1 is proposed to be void."""
    path = tmp_path / "club.db"
    with made(path) as ledger:
        ledger.propose([ledger.corrections.drafts.annul("game:g1")], reason="because", by="eve")
        ledger.ensure_up_to_date()
    return path


def record(path: Path, key: str) -> None:
    with Ledger.open(path, clock=lambda: TODAY) as ledger:
        ledger.append(game_recorded(key, white=3, black=4, half_moves=40))


def test_a_table_has_the_largest_moves_first_and_says_of_the_rest(proposed: Path, run: Run) -> None:
    done = run("correct", proposed, "preview", "1", "-t", "--limit", "2")
    head, _, names, _, *rows = done.out.splitlines()
    assert head.startswith("proposal 1: 5 games rated again, 4 players in them; 4 ratings would change; about ")
    assert head.endswith(f"approve with --seen {size(proposed)}")
    assert names.split() == ["name", "before", "after", "difference", "rank", "also"]
    assert len(rows) == 2
    assert "games 3 to 2" in done.out
    assert "there are more" in done.err
    assert done.code == 0


def test_json_csv_and_lines_tell_the_same(proposed: Path, run: Run) -> None:
    whole = json.loads(run("correct", proposed, "preview", "1").out)
    lines = [json.loads(line) for line in run("correct", proposed, "preview", "1", "--nl").out.splitlines()]
    table = list(csv.DictReader(io.StringIO(run("correct", proposed, "preview", "1", "--csv").out)))
    assert whole["moves"] == lines
    assert [row["name"] for row in table] == [row["name"] for row in lines]
    assert [float(row["rating_after"]) for row in table] == [row["rating_after"] for row in lines]
    assert (whole["proposal"], whole["seen"], whole["recorded_since"]) == (1, size(proposed), 0)
    assert whole["moved"] == sum(row["difference"] != 0 for row in lines)


@pytest.mark.outside
@pytest.mark.parametrize("kind", [".svg", ".png"])
def test_the_same_moves_give_the_same_picture(kind: str, proposed: Path, tmp_path: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    pictures = [tmp_path / f"{number}{kind}" for number in range(2)]
    for picture in pictures:
        assert run("correct", proposed, "preview", "1", "--picture", picture).code == 0
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert len(pictures[0].read_bytes()) > 5_000


def test_a_picture_of_another_kind_is_refused(proposed: Path, run: Run) -> None:
    done = run("correct", proposed, "preview", "1", "--picture", "moves.jpg")
    assert (done.code, "ends in .svg or .png" in done.err) == (2, True)


def test_a_proposal_that_is_not_there_is_refused(proposed: Path, run: Run) -> None:
    done = run("correct", proposed, "preview", "7")
    assert (done.code, done.out, "no-such-proposal" in done.err) == (1, "", True)


def test_approve_shows_the_impact_where_facts_were_recorded_since(proposed: Path, run: Run) -> None:
    record(proposed, "further")
    before = size(proposed)
    done = run("correct", proposed, "approve", "1", "--by", "adam")
    assert done.code == 1
    assert done.out.startswith("proposal 1: 6 games rated again, ")
    assert f"1 entry was recorded after proposal 1; this is what it would move now: approve with --seen {before}" in (
        done.err
    )
    assert size(proposed) == before
    record(proposed, "more")
    refused = run("correct", proposed, "approve", "1", "--by", "adam", "--seen", before)
    assert (refused.code, "unseen-entries" in refused.err) == (1, True)
    alone = run("correct", proposed, "approve", "1", "--by", "adam", "--despite-games")
    assert (alone.code, "--despite-games goes with --seen" in alone.err) == (2, True)
    approved = run("correct", proposed, "approve", "1", "--by", "adam", "--seen", before, "--despite-games")
    assert (approved.code, approved.out) == (0, f"proposal 1 was approved at entry {before + 2}\n")
    assert run("audit", proposed).out.startswith("TRUE")


def test_approve_goes_on_where_nothing_but_proposals_came(proposed: Path, run: Run) -> None:
    assert run("correct", proposed, "void", "g2", "--reason", "because", "--by", "eve").code == 0
    assert run("correct", proposed, "approve", "1", "--by", "adam").code == 0
    again = run("correct", proposed, "approve", "2", "--by", "adam")
    assert (again.code, "1 entry was recorded after proposal 2" in again.err) == (1, True)
