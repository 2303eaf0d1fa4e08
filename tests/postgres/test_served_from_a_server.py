"""A ledger on a server is served as one in files is: with what is posted here, and with what another node records."""

from pathlib import Path

import httpx
import pytest

from ledger.facts.events import Role
from ledger.ledger import Ledger
from ledger.players.people import Pending
from ledger.players.postgres_people import PostgresPendingNames
from tests.kit.clubs import NAME
from tests.kit.desks import Officer, words
from tests.kit.games import game_recorded
from tests.kit.postgres import Server
from tests.kit.programs import GAME, Api
from tests.kit.served_processes import PATIENCE, position, serving, until
from tests.kit.server_ledgers import new_place, settings_of
from tools.serve.readers import Answer, Reader
from tools.serve.routes import ROUTES

(PLAYER,) = [route for route in ROUTES if route.path == "/players/{player}"]


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


def test_two_servers_of_one_ledger_know_the_same_sessions_sendings_and_refusals(
    oldest_server: Server, tmp_path: Path
) -> None:
    """As where the server that an officer works with is lost, and a name leads to another one."""
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name)
        ledger.append(game_recorded("r1-b1", half_moves=60))
        adam = ledger.tokens.add("adam", [Role.APPROVER])
        tokens = {"eve": ledger.tokens.add("eve", [Role.CORRECTOR], token=adam)}
        ledger.level()
    node = settings_of(tmp_path / "another", place)
    words_of_both = ("--listen", "127.0.0.1:0")
    with serving(tmp_path / NAME, *words_of_both) as (_, first), serving(node, *words_of_both) as (_, second):
        until(lambda: position(first) > 0 and position(second) > 0)
        eve, elsewhere = Officer(first), Officer(second)
        eve.sign_in(tokens["eve"])
        elsewhere.client.cookies = eve.client.cookies
        assert "eve" in words(elsewhere.look("/desk").text)
        body = {"changes": [{"verb": "void", "game": "r1-b1"}], "reason": "played twice"}
        header = {"headers": {"Idempotency-Key": "letter 7"}}
        sent = [Api(address, tokens).post("/corrections", body, "eve", **header) for address in (first, second)]
        assert [answer.status_code for answer in sent] == [201, 200], [answer.text for answer in sent]
        assert [answer.json()["proposal"] for answer in sent] == [1, 1]
        decision = {"decision": "approved", "reason": "seen"}
        refused = Api(first, tokens).post("/corrections/1/decision", decision, "eve")
        assert refused.status_code == 403, refused.text
        assert "not-this-role" in words(elsewhere.look("/desk").text)
        elsewhere.do("/desk", "/desk/sign-out")
        eve.look("/desk", 303)
        for officer in (eve, elsewhere):
            officer.client.close()


def test_a_name_that_is_sealed_on_a_server_and_not_given_yet_is_not_kept_as_it_was(
    oldest_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        ledger.register("name:ann", "Ann")
        ledger.level()
    reader, tags, asked = Reader(tmp_path / NAME), list[str](), list[int]()

    def answer(*had: str) -> Answer:
        return reader.answer(PLAYER, {"player": "1", "pool": None, "at": None}, "/players/1", had)

    def folded_in_meanwhile(names: PostgresPendingNames, pending: Pending) -> None:
        folding.level()
        between = answer()
        assert b'"name":"Ann"' in (between.body or b"")
        assert answer(between.tag).body is None
        tags.append(between.tag)
        give(names, pending)

    def rows(names: PostgresPendingNames) -> list[Pending]:
        asked.append(1)
        return every(names)

    give, every = PostgresPendingNames.give, PostgresPendingNames.rows
    answer()
    with Ledger.open(tmp_path / NAME) as folding, Ledger.open(settings_of(tmp_path / "another", place)) as renaming:
        monkeypatch.setattr(PostgresPendingNames, "give", folded_in_meanwhile)
        renaming.registry.rename(1, "Spelt Right", actor="test")
    after = answer(*tags)
    assert b'"name":"Spelt Right"' in (after.body or b"")
    monkeypatch.setattr(PostgresPendingNames, "rows", rows)
    assert answer(after.tag).body is None
    assert asked == [], "once nothing is being given, nobody asks again before something is recorded"
    reader.open().ledger.close()
    reader.close()
