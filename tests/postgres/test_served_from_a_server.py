"""A ledger on a server is served as one in files is: with what is posted here, and with what another node records."""

from __future__ import annotations

from pathlib import Path

import httpx

from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.clubs import NAME
from tests.kit.games import game_recorded
from tests.kit.postgres import Server
from tests.kit.programs import GAME, Api
from tests.kit.served_processes import PATIENCE, position, serving, until
from tests.kit.server_ledgers import new_place, settings_of


def test_what_any_node_records_is_answered(oldest_server: Server, tmp_path: Path) -> None:
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name)
        adam = ledger.tokens.add("adam", [Role.APPROVER])
        tokens = {"rita": ledger.tokens.add("rita", [Role.RECORDER], token=adam)}
        ledger.level()
    with serving(tmp_path / NAME, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        api = Api(address, tokens)
        done = api.post("/games?rated=1", GAME)
        assert (done.status_code, done.json()["rated"]["game"]) == (201, "club:1"), done.text
        assert api.post("/games", GAME).json()["duplicate"] is True
        with Ledger.open(settings_of(tmp_path / "another", place)) as another:
            recorded = another.append(game_recorded("r1-b1"), token=tokens["rita"])
        listed = httpx.get(f"{address}/api/v1/ranking?after={recorded.position}", timeout=PATIENCE).json()
        assert [row["games"] for row in listed["rows"]] == [2, 2]
        assert httpx.get(f"{address}/players/1", timeout=PATIENCE).status_code == 200
