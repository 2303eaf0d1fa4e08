"""What programs record over HTTP: every status, every fault at once, nothing twice, and two people for a correction."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import httpx
import pytest

from ledger import Ledger
from ledger.facts.events import Role
from tests.kit.programs import GAME, Api, club_of_programs
from tests.kit.served_processes import ask_server, position, serving, until
from tests.kit.source_files import player
from tests.kit.tournament_reports import report_with_wrong_points
from tests.kit.workbooks import Rows, xlsx
from tools.serve import bodies, parameters, problems
from tools.serve.application import application
from tools.serve.importing import MOST_ALIKE
from tools.serve.limits import MOST_FAULTS
from tools.serve.post_handlers import Posting
from tools.serve.problems import RefusedError
from tools.serve.readers import Reader
from tools.serve.routes import STREAM
from tools.serve.writer_socket import WriterClient

pytestmark = pytest.mark.slow  # the processes of a server


def is_up(address: str) -> bool:
    return position(address) > 0


@pytest.fixture(name="api", scope="module")
def _api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    club = tmp_path_factory.mktemp("posting") / "club.db"
    tokens = club_of_programs(club)
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        yield Api(address, tokens)


def test_a_game_is_recorded_once_and_told_where_it_is(api: Api) -> None:
    done = api.post("/games", GAME)
    assert done.status_code == 201, done.text
    told = done.json()
    assert (told["key"], told["duplicate"], told["rated"]) == ("game:club:1", False, None)
    assert done.headers["ledger-position"] == str(told["position"])
    assert done.headers["cache-control"] == "no-store"
    stands = ask_server("GET", f"{api.address}/api/v1/games/club:1?after={told['position']}")
    assert (stands.status_code, stands.json()["game"]) == (200, "club:1")
    assert done.headers["location"].endswith("/api/v1/games/club:1")
    again = api.post("/games", GAME)
    assert (again.status_code, again.json()["duplicate"], again.json()["position"]) == (200, True, told["position"])


def test_a_game_is_told_where_it_is_though_its_key_has_a_slash_in_it(api: Api) -> None:
    for key in ("club:1/pgn", "club/../1", "club:x+y.z-1"):
        done = api.post("/games", {**GAME, "key": key, "ended_at": "2026-03-09"})
        assert done.status_code == 201, done.text
        stands = ask_server("GET", f"{done.headers['location']}?after={done.json()['position']}")
        assert (stands.status_code, stands.json()["game"]) == (200, key)


def test_the_same_game_told_otherwise_is_refused_with_both_values(api: Api) -> None:
    api.post("/games", {**GAME, "key": "club:both"})
    other = api.post("/games", {**GAME, "key": "club:both", "outcome": "draw", "termination": "agreement"})
    assert (other.status_code, other.json()["rule"]) == (409, "exists-with-different-outcome")
    (fault,) = other.json()["errors"]
    assert (fault["pointer"], fault["stored"], fault["given"]) == ("/outcome", "white", "draw")


def test_two_games_of_a_pair_are_told_apart_by_the_header(api: Api) -> None:
    blitz = {name: value for name, value in GAME.items() if name != "key"}
    answers = [
        api.post("/games", blitz, headers={"Idempotency-Key": word}) for word in ("blitz-1", "blitz-2", "blitz-1")
    ]
    assert [answer.status_code for answer in answers] == [201, 201, 200]
    first, second, third = (answer.json() for answer in answers)
    assert first["key"] == third["key"] != second["key"]
    assert first["key"].startswith("game:http:")
    for nothing in ({}, {"Idempotency-Key": ""}):
        without = api.post("/games", blitz, headers=nothing)
        assert (without.status_code, without.json()["errors"][0]["pointer"]) == (400, "/key"), nothing


def test_what_else_is_wrong_is_told_beside_a_missing_key(api: Api) -> None:
    refused = api.post("/games", {"white": 1, "black": 2, "outcome": "white", "ended_at": "2026-02-30"})
    assert refused.status_code == 400
    assert {fault["pointer"] for fault in refused.json()["errors"]} == {"/key", "/ended_at"}


def test_with_rated_both_ratings_are_waited_for(api: Api) -> None:
    done = api.post("/games?rated=1", {**GAME, "key": "club:rated", "ended_at": "2026-03-02"})
    rated = done.json()["rated"]
    assert (rated["game"], rated["white_after"] > rated["black_after"]) == ("club:rated", True)


def test_moves_are_played_through_and_kept(api: Api) -> None:
    mate = {"white": 1, "black": 2, "outcome": "black", "ended_at": "2026-03-03", "key": "club:mate"}
    done = api.post("/games", {**mate, "moves": "1. f3 e5 2. g4 Qh4#"})
    assert done.status_code == 201, done.text
    game = api.get(f"/games/club:mate?after={done.json()['position']}")
    assert (game["termination"], game["half_moves"]) == ("checkmate", 4)
    assert "Qh4#" in api.ask("GET", "/games/club:mate/pgn").text
    bad = api.post("/games", {**mate, "key": "club:bad", "moves": "1. f3 e5 2. g4 Qh5#"})
    assert (bad.status_code, bad.json()["errors"][0]["pointer"]) == (400, "/moves")


def test_everything_that_is_wrong_with_a_body_is_told_at_once_with_its_place(api: Api) -> None:
    wrong = {"white": 1.5, "black": True, "outcome": "wihte", "half_moves": "60", "ended": "2026", "rated": "yes"}
    refused = api.post("/games", wrong)
    assert (refused.status_code, refused.headers["content-type"]) == (400, "application/problem+json")
    pointers = {fault["pointer"] for fault in refused.json()["errors"]}
    assert pointers == {"/white", "/black", "/outcome", "/half_moves", "/ended", "/ended_at", "/rated"}
    assert "did you mean 'white'" in refused.text
    twice = api.ask(
        "POST", "/games", "rita", content=b'{"white": 1, "white": 2}', headers={"Content-Type": "application/json"}
    )
    assert (twice.status_code, "/white: stands twice" in twice.json()["detail"]) == (400, True)


def test_half_of_a_character_in_the_name_of_a_field_is_told_like_any_other_fault(api: Api) -> None:
    for path, who, content, pointer in (
        ("/games", "rita", rb'{"\ud800": 1}', r"/\ud800"),
        ("/games", "rita", rb'{"\ud800": 1, "\ud800": 2}', r"/\ud800"),
        (
            "/corrections",
            "eve",
            rb'{"changes": [{"verb": "void", "\ud800": "x"}], "reason": "r"}',
            r"/changes/0/\ud800",
        ),
    ):
        refused = api.ask("POST", path, who, content=content, headers={"Content-Type": "application/json"})
        assert (refused.status_code, pointer in {fault["pointer"] for fault in refused.json()["errors"]}) == (400, True)


def test_players_who_are_not_there_are_told_with_the_nearest_name(api: Api) -> None:
    refused = api.post("/games", {**GAME, "key": "club:x", "white": "Anne", "black": "Boob"})
    assert refused.status_code == 404
    assert [fault["pointer"] for fault in refused.json()["errors"]] == ["/white", "/black"]
    assert "Ann" in refused.json()["errors"][0]["detail"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({**GAME, "half_moves": 1 << 70}, "/half_moves"),
        ({**GAME, "key": "no key"}, "/key"),
        ({**GAME, "key": "club:y", "ended_at": "2026-13-01"}, "/ended_at"),
        ({**GAME, "key": "club:y", "termination": "checkmate", "outcome": "draw"}, "/termination"),
        ({**GAME, "key": "club:y", "black": 1}, "/white"),
        ({**GAME, "key": "club:y", "half_moves": -1}, "/half_moves"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_its_place(api: Api, body: Any, pointer: str) -> None:
    refused = api.post("/games", body)
    assert refused.status_code == 400, refused.text
    assert pointer in [fault["pointer"] for fault in refused.json()["errors"]]


def test_an_approval_without_seen_is_taken_only_where_nothing_came_since_it_was_proposed(api: Api) -> None:
    for place, (body, came, status) in enumerate((
        ({}, False, 200),
        ({}, True, 409),
        ({"despite_games": True}, True, 200),
    )):  # fmt: skip
        day = {"ended_at": f"2026-11-0{place + 1}"}
        api.post("/games", {**GAME, **day, "key": f"club:unseen-{place}"})
        changes = [{"verb": "void", "game": f"club:unseen-{place}"}]
        number = api.post("/corrections", {"changes": changes, "reason": "twice"}, "eve").json()["proposal"]
        if came:
            api.post("/games", {**GAME, **day, "white": 3, "key": f"club:since-{place}"})
        decided = api.post(f"/corrections/{number}/decision", {"decision": "approved", **body}, "otto")
        assert decided.status_code == status, decided.text
        if status == 409:
            assert decided.json()["rule"] == "unseen-entries"
            assert [fault["pointer"] for fault in decided.json()["errors"]] == ["/seen"]
            seen = api.ask("POST", f"/corrections/{number}/preview", "otto").json()["seen"]
            looked = {"decision": "approved", "seen": seen}
            assert api.post(f"/corrections/{number}/decision", looked, "otto").status_code == 200


def test_of_a_crowd_of_one_name_the_first_are_told(api: Api) -> None:
    for server, count, day in (("club", 30, "2026-12-01"), ("lichess", 25, "2026-12-02")):
        rows = "".join(f"Jo Smith,{server}:jo{place},Bob,1-0,{day},{server}:{place}\n" for place in range(count))
        done = api.ask("POST", "/imports", "rita", content=f"white,white_id,black,result,date,id\n{rows}".encode())
        assert done.status_code == 200, done.text
    told = done.json()["newcomers"]
    assert [len(each["alike"]) for each in told] == [MOST_ALIKE] * 25
    assert told[0]["alike"][0] == "club:jo0"


def test_who_may_not_is_told_so(api: Api) -> None:
    body = {**GAME, "key": "club:z"}
    for headers in ({}, {"Authorization": "Basic eDp5"}, {"Authorization": "Bearer rls_" + "a" * 43}):
        refused = api.post("/games", body, None, headers=headers)
        assert (refused.status_code, refused.headers["www-authenticate"][:6]) == (401, "Bearer")
    stranger = api.post("/games", body, None, headers={"Authorization": "Bearer rlt_" + "a" * 43})
    assert (stranger.status_code, stranger.json()["rule"]) == (401, "unknown-token")
    auditor = api.post("/games", body, "ada")
    assert (auditor.status_code, auditor.json()["rule"]) == (403, "not-this-role")
    assert api.ask("GET", "/games/club:z").status_code == 404


def test_an_empty_name_of_a_pool_is_not_the_first_pool(api: Api) -> None:
    before = settled(api)
    day = "2026-03-05"
    for path, body in (
        ("/games", {**GAME, "key": "club:nowhere"}),
        ("/runs", {"as_of": day}),
        ("/tournaments", {"tournament": "Cup", "starts_at": day, "ends_at": day}),
        ("/tournaments/Cup/closing", {"ended_at": day}),
    ):
        refused = api.post(path, {**body, "pool": ""})
        assert (refused.status_code, refused.json()["rule"]) == (404, "unknown-name"), refused.text
        assert "no pool ''" in refused.json()["detail"]
    past = {"identity": "club:new", "name": "New", "past": {"rating": "1500", "pool": ""}}
    refused = api.post("/players", past)
    assert (refused.status_code, "pool" in refused.json()["detail"]) == (400, True), refused.text
    assert api.get("")["position"] == before
    assert api.get("/ranking?pool=") == api.get("/ranking"), "of what is read it is none"


def test_other_methods_types_and_parameters_are_refused(api: Api) -> None:
    headers = {"Content-Type": "text/plain"}
    assert api.ask("POST", "/games", "rita", content=b"{}", headers=headers).status_code == 415
    assert api.post("/games?ratd=1", GAME).status_code == 400
    put = api.ask("PUT", "/games", "rita", json=GAME)
    assert (put.status_code, put.headers["allow"]) == (405, "GET, HEAD, POST")
    assert api.ask("POST", "/pools", "rita", json={}).status_code == 405
    for path in ("/imports", "/corrections/1/decision"):
        read = api.ask("GET", path)
        assert (read.status_code, read.headers["allow"]) == (405, "POST")
        assert read.json()["detail"] == f"GET is not taken at /api/v1{path}, but POST"
    nowhere = api.ask("GET", "/corrections/1/decison")
    assert (nowhere.status_code, "allow" in nowhere.headers) == (404, False)
    assert "/api/v1/corrections/{number}/decision" in nowhere.json()["detail"]
    assert api.post("/games", {"moves": "x" * 1_100_000}).status_code == 413
    broken = api.ask("POST", "/games", "rita", content=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, "no JSON" in broken.json()["detail"]) == (400, True)


def test_players_are_registered_once(api: Api) -> None:
    body = {"identity": "club:dora", "name": "Dora", "past": {"rating": "1800", "games": 30}}
    first, again = api.post("/players", body), api.post("/players", body)
    assert (first.status_code, again.status_code) == (201, 200), first.text + again.text
    assert first.json()["player"] == again.json()["player"]
    other = api.post("/players", {**body, "name": "Doris"})
    assert other.status_code == 409
    wrong = api.post("/players", {"identity": "dora", "name": "", "birth_year": 3000})
    assert wrong.status_code == 400


def test_a_tournament_is_announced_and_closed(api: Api) -> None:
    cup = {"tournament": "Cup/2026", "starts_at": "2026-05-01", "ends_at": "2026-05-09", "format": "swiss"}
    opened = api.post("/tournaments", cup)
    assert (opened.status_code, opened.json()["duplicate"]) == (201, False), opened.text
    assert (api.post("/tournaments", cup).status_code, api.post("/tournaments", cup).json()["duplicate"]) == (200, True)
    closed = api.post("/tournaments/Cup%2F2026/closing", {"ended_at": "2026-05-08"})
    assert (closed.status_code, closed.json()["duplicate"]) == (201, False), closed.text
    unknown = api.post("/tournaments/Cpu/closing", {"ended_at": "2026-05-08"})
    assert (unknown.status_code, unknown.json()["rule"]) == (409, "no-such-tournament")
    assert api.post("/runs", {"as_of": "2026-06"}).json()["duplicate"] is False
    assert api.post("/runs", {"as_of": "2026-06", "pool": "blitz"}).status_code == 404


FILE = b"""white,black,result,date
Ann,Bob,1-0,2026-04-01
Ann,Cleo,2-0,2026-04-02
Bob,Zoe,1/2-1/2,2026-04-03
"""


def settled(api: Api) -> int:
    """Return the number of entries that the writer has, once those who read have them: they are a moment behind."""
    position: int = api.ask("POST", "/imports?dry_run=1", "rita", content=FILE).json()["position"]
    until(lambda: api.get("")["position"] == position)
    return position


def test_a_file_is_looked_at_and_recorded_with_its_faults_by_line(api: Api) -> None:
    before = settled(api)
    looked = api.ask("POST", "/imports?dry_run=1&filename=april.csv", "rita", content=FILE)
    assert looked.status_code == 200, looked.text
    account = looked.json()
    assert (account["recorded"], account["fault_count"], account["faults"][0]["line"]) == (2, 1, 3)
    assert (len(account["games"]), account["pools"]) == (2, {"standard": 2})
    assert [newcomer["name"] for newcomer in account["newcomers"]] == ["Zoe"]
    assert api.get("")["position"] == before
    done = api.ask("POST", "/imports?filename=april.csv", "rita", content=FILE).json()
    assert (done["recorded"], done["fault_count"], done["position"] > before) == (2, 1, True)
    assert api.ask("POST", "/imports", "rita", content=FILE).json()["repeated"] == 2
    strict = api.ask("POST", "/imports?strict=1", "rita", content=FILE.replace(b"04-0", b"07-0"))
    assert (strict.status_code, strict.json()["errors"][0]["line"]) == (400, 3)
    assert api.ask("POST", "/imports", "ada", content=FILE.replace(b"04-0", b"08-0")).status_code == 403
    assert api.ask("POST", "/imports?format=xls", "rita", content=FILE).status_code == 400


def test_warnings_about_a_report_stop_it_unless_their_code_is_accepted(api: Api) -> None:
    before, file = settled(api), report_with_wrong_points()
    looked = api.ask("POST", "/imports?dry_run=1", "rita", content=file).json()
    assert [(each["line"], each["code"]) for each in looked["warnings"]] == [(10, "points-differ")]
    assert (looked["warning_count"], looked["unaccepted"], looked["accepted"]) == (1, ["points-differ"], [])
    assert (looked["strict"], looked["recorded"] > 0) == (True, True)
    refused = api.ask("POST", "/imports", "rita", content=file)
    assert refused.status_code == 400
    (error,) = refused.json()["errors"]
    assert (error["line"], error["detail"].partition(":")[0]) == (10, "warning")
    assert "accept=points-differ would accept" in refused.json()["detail"]
    unknown = api.ask("POST", "/imports?accept=points-difer", "rita", content=file)
    assert (unknown.status_code, "did you mean 'points-differ'" in unknown.text) == (400, True)
    contradicting = file.replace(b" w 1", b" w +", 1)
    assert api.ask("POST", "/imports?accept=points-differ", "rita", content=contradicting).status_code == 400
    assert api.get("")["position"] == before
    done = api.ask("POST", "/imports?accept=points-differ&accept=rating-differs", "rita", content=file).json()
    assert (done["accepted"], done["unaccepted"], done["recorded"]) == (["points-differ"], [], looked["recorded"])


def test_a_time_control_of_another_pool_stops_reports_and_games_unless_it_is_accepted(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_of_programs(club, scheme="fide")
    pairs = (player(1, "Ek", "2 w 1", fide="101"), player(2, "Lund", "1 b 0", fide="102"))
    report = "\n".join(("012 Night", "042 2024/05/03", "052 2024/05/03", "122 15 min + 10 sec", *pairs, "")).encode()
    games = b"key,white,black,result,ended_at,time_control\n1,Max,Moritz,1-0,2024-05-01,180+2\n"
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        api = Api(address, tokens)
        refused = api.ask("POST", "/imports?pool=standard", "rita", content=report)
        assert (refused.status_code, "accept=time-control-differs would accept" in refused.text) == (400, True)
        done = api.ask("POST", "/imports?pool=standard&accept=time-control-differs", "rita", content=report).json()
        assert (done["accepted"], done["recorded"]) == (["time-control-differs"], 1)
        refused = api.ask("POST", "/imports?pool=standard&strict=1", "rita", content=games)
        assert (refused.status_code, "time-control-differs: the time control is that of blitz" in refused.text) == (
            400, True,
        )  # fmt: skip
        done = api.ask("POST", "/imports?pool=standard&accept=time-control-differs", "rita", content=games).json()
        assert (done["recorded"], "that of blitz by FIDE's limits" in done["notes"][0]["detail"]) == (1, True)


def test_a_report_whose_warnings_two_people_accept_waits_for_the_second(tmp_path: Path) -> None:
    club, file = tmp_path / "club.db", report_with_wrong_points()
    tokens = dict(club_of_programs(club))
    with Ledger.open(club) as ledger:
        tokens["ruth"] = ledger.tokens.add("ruth", [Role.RECORDER], token=tokens["adam"])
        ledger.policies.set("four-eyes", {"on": True, "warnings": True}, token=tokens["adam"])
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        api = Api(address, tokens)
        for _ in range(2):
            waits = api.ask("POST", "/imports?accept=points-differ", "rita", content=file)
            assert (waits.status_code, "four eyes ask for another person" in waits.text) == (409, True)
        done = api.ask("POST", "/imports?accept=points-differ", "ruth", content=file).json()
        assert (done["awaits_another"], done["recorded"] > 0) == (False, True)
    with Ledger.open(club) as ledger:
        assert [entry.actor for entry in ledger.entries("warnings-accepted")] == ["rita", "ruth"]


def test_a_table_with_headings_and_words_of_its_own_is_understood_as_it_is_said(api: Api) -> None:
    table = b"Weiss;Schwarz;Ergebnis;Datum\nMax;Moritz;Sieg;2026-03-01\nMoritz;Max;Remis;2026-03-02\n"
    refused = api.ask("POST", "/imports?dry_run=1", "rita", content=table)
    assert "'Weiss' is read as white" in refused.json()["notes"][0]["detail"]
    assert "--result Sieg=1-0" in refused.json()["faults"][0]["detail"]
    said = {"columns": "white=Weiss; black=Schwarz; result=Ergebnis; date=Datum", "results": "Sieg=1-0; Remis=1/2-1/2"}
    done = api.ask("POST", f"/imports?{urlencode(said)}", "rita", content=table).json()
    assert (done["fault_count"], done["recorded"]) == (0, 2), done
    wrong = api.ask(
        "POST", f"/imports?{urlencode({'columns': 'weis=Weiss', 'results': 'Sieg'})}", "rita", content=table
    )
    assert wrong.status_code == 400
    assert "columns: there is no column 'weis' to fill" in wrong.text
    assert "results: takes WORD=RESULT" in wrong.text


def test_a_sheet_of_a_workbook_is_sent_as_it_is(api: Api) -> None:
    pytest.importorskip("python_calamine")
    rows: Rows = [
        ["white", "black", "result", "date"],
        ["Xaver", "Yvo", "1-0", date(2026, 3, 1)],
        ["Xaver", "Yvo", "won", "May"],
    ]
    book = xlsx({"May": rows, "June": rows[:2]})
    several = api.ask("POST", "/imports?dry_run=1&filename=liga.xlsx", "rita", content=book)
    assert (several.status_code, "liga.xlsx: has 2 sheets with cells, 'May', 'June'" in several.text) == (400, True)
    done = api.ask("POST", "/imports?dry_run=1&filename=liga.xlsx&sheet=May", "rita", content=book).json()
    assert (done["name"], done["sheet"], done["recorded"], done["faults"][0]["line"]) == ("liga.xlsx", "May", 1, 3)
    assert done["faults"][0]["detail"].startswith("date (column D) must be")
    assert api.ask("POST", "/imports?dry_run=1", "rita", content=b"white,black,result,date\n").json()["sheet"] is None


def test_the_boards_of_a_match_have_the_colours_that_are_sent(api: Api) -> None:
    match = "Liga\nRound 1 on 2024/05/03\n1.1;1;A;1 - 1;2;B\n1;Xeno;1500;1 : 0;Yps;1600\n2;Zita;1500;0 : 1;Wim;1600\n"
    done = api.ask("POST", "/imports?dry_run=1&white_boards=even", "rita", content=match.encode()).json()
    assert (done["format"], [game["white"] for game in done["games"]]) == ("pairings", ["Yps", "Zita"])
    wrong = api.ask("POST", "/imports?dry_run=1&white_boards=left", "rita", content=match.encode())
    assert (wrong.status_code, "white_boards must be one of odd, even, all, got 'left'" in wrong.text) == (400, True)


def test_two_people_correct_a_game_and_the_graph_follows(api: Api) -> None:
    place = api.post("/games", {**GAME, "key": "club:late", "ended_at": "2026-09-01"}).json()["position"]
    before = api.get(f"/players/ann/graph?after={place}")["player"]
    change = {"verb": "result", "game": "club:late", "to": "0-1"}
    proposed = api.post("/corrections", {"changes": [change], "reason": "the score sheet"}, "eve")
    assert proposed.status_code == 201, proposed.text
    number = proposed.json()["proposal"]
    assert proposed.headers["location"].endswith(f"/corrections/{number}")
    shown = api.ask("POST", f"/corrections/{number}/preview", "eve").json()
    assert shown["moves"]
    assert api.post(f"/corrections/{number}/decision", {"decision": "approved"}, "eve").status_code == 403
    stale = api.post(f"/corrections/{number}/decision", {"decision": "approved", "seen": 1}, "otto")
    assert (stale.status_code, [fault["pointer"] for fault in stale.json()["errors"]]) == (409, ["/seen"])
    decision = {"decision": "approved", "seen": proposed.json()["position"], "reason": "seen the sheet"}
    done = api.post(f"/corrections/{number}/decision", decision, "otto")
    assert done.status_code == 200, done.text
    after = api.get(f"/players/ann/graph?after={done.json()['position']}")["player"]
    assert after["rating_now"] < before["rating_now"]


def test_a_proposal_that_is_sent_twice_is_made_once_and_another_one_under_its_key_is_refused(api: Api) -> None:
    api.post("/games", {**GAME, "key": "club:once"})
    body = {"changes": [{"verb": "void", "game": "club:once"}], "reason": "played twice"}
    header = {"headers": {"Idempotency-Key": "letter 7"}}
    first, again = (api.post("/corrections", body, "eve", **header) for _ in range(2))
    assert (first.status_code, again.status_code, again.json()["duplicate"]) == (201, 200, True)
    assert first.json()["proposal"] == again.json()["proposal"]
    other = api.post("/corrections", {**body, "reason": "another letter"}, "eve", **header)
    assert (other.status_code, other.json()["rule"]) == (409, "sent-already")


def test_a_batch_is_proposed_whole_or_not_at_all_with_each_fault_at_its_line(api: Api) -> None:
    for number in (1, 2):
        api.post("/games", {**GAME, "key": f"club:batch-{number}"})
    rows = "verb,game,to\nvoid,club:batch-1,\nresult,nowhere,0-1\nviod,club:batch-2,\n"
    refused = api.post("/corrections/batch", {"rows": rows, "reason": ""}, "eve")
    assert refused.status_code == 400, refused.text
    faults = refused.json()["errors"]
    assert [(fault["line"], fault["pointer"]) for fault in faults] == [(3, None), (4, None), (None, "/reason")]
    body = {"rows": rows.replace("nowhere", "club:batch-2").replace("viod", "void"), "reason": "typed twice"}
    assert api.post("/corrections/batch", body, "rita").status_code == 403
    whole = api.post("/corrections/batch", body, "eve")
    assert (whole.status_code, len(whole.json()["proposals"])) == (201, 1), whole.text
    header = {"headers": {"Idempotency-Key": "batch 7"}}
    first, again = (api.post("/corrections/batch", {**body, "each": True}, "eve", **header) for _ in range(2))
    assert (first.status_code, again.status_code, again.json()["duplicate"]) == (201, 200, True)
    numbers = first.json()["proposals"]
    assert numbers == again.json()["proposals"] == [*range(numbers[0], numbers[0] + 3)]
    assert first.json()["proposal"] == numbers[0]
    assert first.headers["location"].endswith(f"/corrections/{numbers[0]}")
    assert api.get(f"/corrections/{numbers[2]}?after={first.json()['position']}")["state"] == "open"


def test_a_body_of_a_megabyte_reaches_the_writer_and_a_larger_one_is_refused(api: Api) -> None:
    api.post("/games", {**GAME, "key": "club:long"})
    for lines, status in ((10_200, 201), (10_300, 413)):  # each of 102 bytes in JSON
        rows = f"verb,game\n{(' ' * 100 + chr(10)) * lines}void,club:long\n"
        done = api.post("/corrections/batch", {"rows": rows, "reason": "long"}, "eve")
        assert done.status_code == status, done.text[:2_000]


@pytest.mark.quick
def test_a_stranger_s_file_is_refused_before_it_is_taken(answering: Reader, tmp_path: Path) -> None:
    class Writer:
        async def ask(self, verb: str, args: Mapping[str, Any], *, token: str) -> dict[str, Any]:
            raise RefusedError(problems.problem(401, f"{verb} {args['role']} {token}", "unknown-token"))

    async def parts() -> AsyncIterator[bytes]:
        taken.append(1)
        yield b"x"

    async def asked() -> httpx.Response:
        app = application(answering, Posting(answering, cast("WriterClient", Writer()), tmp_path))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
            headers = {"Authorization": "Bearer rlt_aaaaaaaa"}
            return await client.post("/api/v1/imports", content=parts(), headers=headers)

    taken = list[int]()
    answer = asyncio.run(asked())
    assert (answer.status_code, answer.json()["detail"]) == (401, "refuse recorder rlt_aaaaaaaa")
    assert (taken, list(tmp_path.glob("posted-*"))) == ([], [])


@pytest.mark.quick
def test_a_file_for_which_there_is_no_room_is_refused_and_gone(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_of_programs(club)
    reader = Reader(club)

    async def asked() -> httpx.Response:
        app = application(reader, Posting(reader, cast("WriterClient", None), tmp_path / "gone"))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
            headers = {"Authorization": f"Bearer {tokens['rita']}"}
            return await client.post("/api/v1/imports", content=FILE, headers=headers)

    answer = asyncio.run(asked())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    reader.close()


@pytest.fixture(name="bodies_read")
def _bodies_read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that were read, whosever they were."""
    taken, read = list[bytes](), bodies.read

    def reading(form: Any, content: bytes) -> Any:
        taken.append(content)
        return read(form, content)

    monkeypatch.setattr(bodies, "read", reading)
    return taken


@pytest.mark.quick
def test_a_stranger_s_body_is_not_read(answering: Reader, tmp_path: Path, bodies_read: list[bytes]) -> None:
    class Writer:
        async def ask(self, verb: str, args: Mapping[str, Any], *, token: str) -> dict[str, Any]:
            raise RefusedError(problems.problem(401, f"{verb} {args['tried']} {token}", "unknown-token"))

    async def asked(path: str) -> httpx.Response:
        app = application(answering, Posting(answering, cast("WriterClient", Writer()), tmp_path))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
            headers = {"Authorization": "Bearer rlt_aaaaaaaa", "Content-Type": "application/json"}
            return await client.post(f"/api/v1{path}", content=b"no JSON", headers=headers)

    refused = [asyncio.run(asked(path)) for path in ("/games", "/jobs/export")]
    assert [answer.status_code for answer in refused] == [401, 401]
    assert refused[0].json()["detail"] == "refuse post to /games rlt_aaaaaaaa"
    assert refused[1].json()["detail"] == "refuse run the job export rlt_aaaaaaaa"
    assert bodies_read == []


def test_every_fault_of_a_proposal_is_told(api: Api) -> None:
    changes = [{"verb": "resutl", "game": "club:1"}, {"verb": "void", "game": "nowhere"}, {"verb": "void"}]
    refused = api.post("/corrections", {"changes": changes, "reason": ""}, "eve")
    assert refused.status_code == 400
    words = " ".join(fault["detail"] for fault in refused.json()["errors"])
    for place in ("/changes/0", "/changes/1", "/changes/2", "reason"):
        assert place in words
    assert api.post("/corrections/9999/decision", {"decision": "rejected"}, "otto").status_code in {404, 409}
    assert api.post("/corrections/one/preview", {}, "otto").status_code == 404


@pytest.fixture(name="looked_for")
def _looked_for(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of which it was asked what they may have meant."""
    names = list[str]()

    def hint(name: str, _: object) -> str:
        names.append(name)
        return ""

    for module in (bodies, parameters):
        monkeypatch.setattr(module, "did_you_mean", hint)
    return names


def test_a_body_costs_what_it_is_long(looked_for: list[str]) -> None:
    many = 120_000  # as many as a body has room for; each was compared with all those before it, which took minutes
    fields = ",".join(f'"{number}":0' for number in range(many))
    with pytest.raises(RefusedError) as refused:
        bodies.read(bodies.GameTold, f"{{{fields},{fields[:5]}}}".encode())
    assert refused.value.problem.errors[-1].detail.endswith("more faults")
    assert len(looked_for) <= 2 * MOST_FAULTS
    words = bodies.read(bodies.CorrectionTold, f'{{"changes":[{{{fields}}}],"reason":"many"}}'.encode())
    assert len(words.changes[0]) == many


@pytest.mark.quick
def test_what_thousands_of_parameters_may_have_meant_is_not_looked_for(looked_for: list[str]) -> None:
    _, wrong = parameters.parse_query(STREAM.parameters, [("a", "")] * 2_600)
    assert (len(wrong), len(looked_for)) == (2_600, MOST_FAULTS)


@pytest.mark.quick
def test_a_body_may_be_nested_as_deep_as_it_can_be_read() -> None:
    for deep in range(700, 1_001):  # on the way is a depth that can be read, and not written
        with pytest.raises(RefusedError) as refused:
            bodies.read(bodies.GameTold, b'{"white":' + b"[" * deep + b"]" * deep + b"}")
        assert refused.value.problem.status == 400


def test_an_answer_waits_until_it_follows_from_an_entry(api: Api) -> None:
    for number in range(5):
        done = api.post("/games", {**GAME, "key": f"club:after-{number}"}).json()
        listed = api.get(f"/games/club:after-{number}?after={done['position']}")
        assert listed["position"] >= done["position"]
    far = api.ask("GET", "/ranking?after=1000000")
    assert (far.status_code, "no entry '1000000' in the journal" in far.json()["detail"]) == (404, True)


def test_what_was_recorded_stands_when_the_server_is_started_again(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_of_programs(club)
    answers = list[httpx.Response]()
    for _ in range(2):
        with serving(club, "--listen", "127.0.0.1:0") as (_, address):
            until(partial(is_up, address))
            blitz = {name: value for name, value in GAME.items() if name != "key"}
            club_api, headers = Api(address, tokens), {"Idempotency-Key": "the same"}
            correction = {"changes": [{"verb": "void", "game": "#10"}], "reason": "no"}
            answers += [
                club_api.post("/games", blitz, headers=headers),
                club_api.post("/corrections", correction, "eve", headers=headers),
            ]
    assert [answer.status_code for answer in answers] == [201, 201, 200, 200], [answer.text for answer in answers]
    positions = [answer.json()["position"] for answer in answers]
    assert positions == [10, 11, 10, 11]


def test_a_made_up_token_learns_no_name(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = {**club_of_programs(club), "nobody": "rlt_" + "a" * 43}
    with serving(club, "--listen", "127.0.0.1:0", "--names", "numbers") as (_, address):
        until(partial(is_up, address))
        api = Api(address, tokens)
        for name in ("An", "Ann", "Nobody"):
            refused = api.post("/games", {**GAME, "white": name}, "nobody")
            assert (refused.status_code, "Ann" in refused.text) == (401, False), refused.text
        assert api.post("/games", {**GAME, "white": 1}, "nobody").status_code == 401
        assert api.post("/games", GAME).status_code == 201, "who has a token names players as they are called"


def test_recording_a_game_loads_no_heavy_library_in_any_process(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_of_programs(club)
    with serving(club, "--listen", "127.0.0.1:0") as (process, address):
        until(lambda: position(address) > 0)
        done = Api(address, tokens).post("/games?rated=1", GAME)
        assert (done.status_code, done.json()["rated"] is None) == (201, False), done.text
        waiting, loaded = [process.pid], set[str]()
        while waiting:
            number = waiting.pop()
            waiting += map(int, Path(f"/proc/{number}/task/{number}/children").read_text("ascii").split())
            maps = Path(f"/proc/{number}/maps").read_text("utf-8")
            loaded |= {name for name in ("numpy", "polars", "numba") if f"/{name}" in maps}
    assert loaded == set()


def test_the_federation_of_a_player_is_recorded_once(api: Api) -> None:
    player = api.post("/players", {"identity": "name:max", "name": "Max"}).json()["player"]
    for word in (str(player), "name:max"):
        done = api.post(f"/players/{word}/federation", {"federation": "SWE", "since": "2026-03-01"})
        assert done.json()["key"] == f"federation:{player}@2026-03-01", done.text
    assert done.json()["duplicate"] is True
    wrong = api.post(f"/players/{player}/federation", {"federation": "Sweden"})
    assert (wrong.status_code, "federation must be text matching [A-Z]{3}, got 'Sweden'" in wrong.text) == (400, True)
    assert api.post("/players/nobody/federation", {"federation": "SWE"}).status_code == 404


def test_the_strength_that_a_player_chooses_is_recorded_once(api: Api) -> None:
    player = api.post("/players", {"identity": "name:stella", "name": "Stella"}).json()["player"]
    for word in (str(player), "name:stella"):
        done = api.post(f"/players/{word}/strength", {"strength": "intermediate", "since": "2026-03-01"})
        assert done.json()["key"] == f"strength:standard:{player}@2026-03-01", done.text
    assert done.json()["duplicate"] is True
    wrong = api.post(f"/players/{player}/strength", {"strength": "master"})
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (400, "/strength")
    assert api.post("/players/nobody/strength", {"strength": "beginner"}).status_code == 404
