"""Datasette serves the views untouched, and an export, with the metadata that we write for it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.datasette_metadata import EXPORT_QUERIES, OURS, VIEW_QUERIES
from ledger.ratings.projectors.tournament_performance import NAME as VIEW
from tests.kit.commands import Run
from tests.kit.every_table import make_club_with_every_table, rows, tables

pytestmark = [pytest.mark.outside, pytest.mark.filterwarnings("ignore")]  # those of Datasette are not ours
app = pytest.importorskip("datasette.app", reason="datasette is not installed: pip install --group all")
SHOWN = {"pool": "1", "player": "1", "tournament": "Club evening"}


def served(path: Path, metadata: Mapping[str, Any], addresses: list[str]) -> dict[str, str]:
    """The pages of Datasette at these addresses."""

    async def pages() -> dict[str, str]:
        site = app.Datasette([str(path)], metadata=metadata)
        await site.invoke_startup()
        found = {}
        for address in addresses:
            answer = await site.client.get(address)
            assert answer.status_code == 200, answer.text[:500]
            found[address] = answer.text
        for database in site.databases.values():
            database.close()
        return found

    return asyncio.run(pages())


def query_address(database: str, name: str, sql: str) -> str:
    given = "&".join(f"{word}={value.replace(' ', '+')}" for word, value in SHOWN.items() if f":{word}" in sql)
    return f"/{database}/{name}.json?_shape=array&{given}"


def test_the_views_are_served_untouched_with_units_and_ready_questions(tmp_path: Path, run: Run) -> None:
    club = make_club_with_every_table(tmp_path, 60)
    done = run("datasette", club, "-o", tmp_path / "metadata.json")
    assert done.code == 0
    assert "FILE being club.views.db" in done.out
    metadata = json.loads((tmp_path / "metadata.json").read_text("utf-8"))
    assert json.loads(run("datasette", club).out) == metadata
    views = club.with_name("club.views.db")
    assert set(metadata["databases"]["club.views"]["tables"]) == {*tables(views), VIEW}
    assert metadata[OURS]["club.views"]["history"]["foreign_keys"]["game"] == "games.position"
    (tmp_path / "served").mkdir()
    copy = Path(shutil.copy(views, tmp_path / "served" / views.name))
    before = copy.read_bytes()
    counted = {f"/club~2Eviews/{name}.json?_size=0": name for name in (*tables(views), VIEW)}
    asked = {query_address("club~2Eviews", name, question.sql): name for name, question in VIEW_QUERIES.items()}
    pages = served(copy, metadata, [*counted, *asked, "/club~2Eviews/history?_size=2", "/club~2Eviews"])
    assert {name: json.loads(pages[address])["filtered_table_rows_count"] for address, name in counted.items()} == {
        name: rows(views, name) for name in counted.values()
    }
    assert {name for address, name in asked.items() if json.loads(pages[address])} >= {*VIEW_QUERIES} - {"not_counted"}
    assert "rating after the game or its batch, points, unrounded (points)" in pages["/club~2Eviews/history?_size=2"]
    assert "Games that do not count" in pages["/club~2Eviews"]
    assert copy.read_bytes() == before


def test_an_export_is_served_with_links_from_games_to_names(sample_club: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "open.db"
    assert run("export", sample_club, "players", "games", "history", "ratings", "--names", "-o", path).code == 0
    assert run("datasette", sample_club, "--export", path, "-o", tmp_path / "m.json").code == 0
    metadata = json.loads((tmp_path / "m.json").read_text("utf-8"))
    assert metadata["databases"]["open"]["tables"]["players"]["label_column"] == "name"
    asked = {query_address("open", name, question.sql): name for name, question in EXPORT_QUERIES.items()}
    pages = served(path, metadata, [*asked, "/open/games?_size=1"])
    assert {name for address, name in asked.items() if json.loads(pages[address])} == set(EXPORT_QUERIES)
    assert '<a href="/open/players/' in pages["/open/games?_size=1"]


def test_a_file_that_is_no_export_is_refused(sample_club: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "none.db").write_bytes(b"")
    for name, says in (("none.db", "holds no table of an export"), ("gone.db", "no such file")):
        done = run("datasette", sample_club, "--export", tmp_path / name)
        assert (done.code, done.out) == (1, "")
        assert says in done.err
