"""What is answered over HTTP: each address of the table, its forms, its pages, its faults, and what strangers see."""

import csv
import io
import json
import re
import subprocess
import sys
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.impacts import file_digests
from tests.kit.places import ROOT
from tests.kit.served_processes import OFFICER, OTHER_OFFICER, REASON, SITE, Get
from tools.serve import openapi, pages, readers
from tools.serve.readers import ENTRY_BYTES, Answer, AnswerCache, Lately, Reader
from tools.serve.routes import MOST_POINTS, MOST_ROWS, PREFIX, ROUTES, Cost, Route

# Each address of the table; LIST is the published one, GAME one that counts.
ADDRESSES = {
    "": "",
    "/pools": "/pools",
    "/eras": "/eras",
    "/schemes": "/schemes",
    "/players": "/players?q=ann",
    "/players/{player}": "/players/ann?at=2006-01",
    "/players/{player}/games": "/players/ann/games?limit=7",
    "/players/{player}/history": "/players/ann/history",
    "/players/{player}/graph": "/players/ann/graph?last=50",
    "/players/{player}/career": "/players/ann/career",
    "/players/{player}/changes": "/players/ann/changes?since=2006-01",
    "/players/{player}/prediction": "/players/ann/prediction?opponent=bob",
    "/players/{player}/best": "/players/ann/best",
    "/players/{player}/streaks": "/players/ann/streaks",
    "/players/{player}/time-losses": "/players/ann/time-losses",
    "/players/{player}/opponents": "/players/ann/opponents",
    "/players/{player}/lists/{list}/calculation": "/players/ann/lists/2006-06/calculation?limit=3",
    "/ranking": "/ranking?at=2006-05",
    "/upsets": "/upsets?limit=3",
    "/tournaments": "/tournaments",
    "/tournaments/{tournament}": "/tournaments/Club%20evening",
    "/lists": "/lists",
    "/lists/{list}": "/lists/LIST?edition=1",
    "/corrections": "/corrections",
    "/corrections/{number}": "/corrections/1",
    "/games": "/games?on=2006-05",
    "/games/{game}": "/games/GAME",
    "/games/{game}/explanation": "/games/GAME/explanation",
    "/games/{game}/log": "/games/VOIDED/log",
    "/games/{game}/board": "/games/GAME/board",
    "/games/{game}/pgn": "/games/GAME/pgn",
    "/games/{game}/receipt": "/games/GAME/receipt",
}


@pytest.fixture(name="address")
def _address(served: Path) -> dict[str, str]:
    with Ledger.open(served, follow=False) as ledger:
        (moves,) = [row["key"] for row in ledger.rows("games", "position = 20")]
        (voided,) = [row["key"] for row in ledger.rows("games", "voided_by IS NOT NULL")]
    words = {"LIST": "standard@2006-06-30", "GAME": moves, "VOIDED": voided}
    return {
        path: re.sub("LIST|GAME|VOIDED", lambda match: words[match[0]], example) for path, example in ADDRESSES.items()
    }


def test_what_stands_far_behind_is_found_beside_other_answers(get: Get) -> None:
    by_path = {route.path: route for route in ROUTES}
    ranking, players = by_path["/ranking"], by_path["/players"]
    far = {"offset": MOST_ROWS, "limit": 1}
    then = {"at": "2006", "offset": 0}
    assert [ranking.cost_of(asked) for asked in ({"offset": 0}, far, then)] == [Cost.INDEX, Cost.SCAN, Cost.SCAN]
    assert [players.cost_of({"q": part}) for part in (None, "ann")] == [Cost.INDEX, Cost.SCAN]
    page = next(route for route in pages.ROUTES if route.path == "/players/{player}")
    assert [page.cost_of({"by": by}) for by in ("game", "career")] == [Cost.INDEX, Cost.PART]
    assert by_path["/tournaments/{tournament}"].cost is Cost.PART
    assert by_path["/tournaments"].cost is by_path["/games"].cost is Cost.SCAN
    for path in ("/ranking?min_games=0", "/players/ann/games?pool=standard", "/games?on=2006", "/players?q=ann"):
        rows = get(f"{path}&limit=13").json()["rows"]
        third = get(f"{path}&limit=4&offset=8").json()
        assert (third["rows"], third["next"] is None) == (rows[8:12], len(rows) < 13), path
    assert get(f"/ranking?offset={10**15}").json()["rows"] == []


def test_what_made_a_difference_comes_in_pages_that_are_the_whole_together(get: Get) -> None:
    whole = get("/players/ann/changes?since=2006-01&limit=1000").json()
    assert (whole["count"], whole["next"]) == (len(whole["parts"]), None)
    assert whole["count"] > 4
    parts, place = [], "/players/ann/changes?since=2006-01&limit=2"
    while place is not None:
        answer = get(place.removeprefix(f"{SITE}{PREFIX}"))
        page = answer.json()
        assert (page["count"], page["rating_now"]) == (whole["count"], whole["rating_now"])
        assert len(page["parts"]) <= 2
        place = page["next"]
        assert answer.headers.get("link") == (None if place is None else f'<{place}>; rel="next"')
        parts += page["parts"]
    assert parts == whole["parts"]


def test_a_calculation_has_the_newest_parts_and_says_how_many_are_older(get: Get) -> None:
    whole = get("/players/ann/lists/2006-06/calculation?limit=1000").json()
    assert (whole["list"], whole["adds_up"], whole["omitted"]) == ("standard@2006-06-30/1", True, 0)
    assert whole["rating"] == whole["published"]
    part = get("/players/ann/lists/standard@2006-06-30/calculation?limit=2&edition=1").json()
    assert part["batches"] == whole["batches"][-2:]
    assert part["omitted"] == len(whole["batches"]) - 2
    assert get("/players/ann/lists/never/calculation").status_code == 400
    assert get("/players/ann/lists/1999/calculation").status_code == 404


def test_a_whole_rating_history_is_one_answer_and_a_part_of_it_leads_on(get: Get) -> None:
    whole = get("/players/ann/history").json()
    games = get("/players/ann/games?limit=1000").json()["rows"]
    assert [(row["n"], row["ended_at"], row["rating"]) for row in whole["rows"]] == [
        (row["n"], row["ended_at"], row["rating"]) for row in games[::-1]
    ]
    assert (len(whole["rows"]), whole["next"]) == (106, None)
    part = get("/players/ann/history?limit=100").json()
    rest = get(part["next"].removeprefix(f"{SITE}{PREFIX}")).json()
    assert (part["rows"] + rest["rows"], rest["next"]) == (whole["rows"], None)
    assert len(get("/players/ann/history?format=csv").text.splitlines()) == 107
    assert f"1 to {MOST_POINTS}" in get(f"/players/ann/history?limit={MOST_POINTS + 1}").json()["detail"]


def test_every_address_of_the_table_is_asked_here() -> None:
    assert ADDRESSES.keys() == {route.path for route in ROUTES}


@pytest.mark.parametrize("path", ADDRESSES)
def test_each_answer_is_of_the_form_that_the_documentation_says(path: str, address: dict[str, str], get: Get) -> None:
    answer = get(address[path])
    assert answer.status_code == 200, answer.text
    described = openapi.document()
    content = described["paths"][f"{PREFIX}{path}"]["get"]["responses"]["200"]["content"]
    media = answer.headers["content-type"]
    assert media in content
    assert answer.headers["etag"]
    assert int(answer.headers["ledger-position"]) > 900
    if media == "application/json":
        validator = Draft202012Validator({**content[media]["schema"], "components": described["components"]})
        told = answer.json()
        assert [error.message for error in validator.iter_errors(told)] == []
        assert told["position"] == int(answer.headers["ledger-position"])


@pytest.mark.outside
def test_the_documentation_is_valid_openapi(get: Get) -> None:
    from openapi_spec_validator import validate

    validate(get("/openapi.json").json())


def test_the_documentation_is_openapi_and_the_published_one(get: Get) -> None:
    answer = get("/openapi.json")
    assert answer.json()["servers"] == [{"url": SITE}]
    undescribed = [
        (path, parameter["name"])
        for path, ways in answer.json()["paths"].items()
        for way in ways.values()
        for parameter in way["parameters"]
        if not parameter["description"]
    ]
    assert undescribed == []


def test_the_documentation_is_packed_and_costs_nothing_while_it_is_the_same(get: Get) -> None:
    whole, packed = (get("/openapi.json", headers={"Accept-Encoding": coding}) for coding in ("identity", "gzip"))
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in whole.headers
    assert packed.json() == whole.json()
    for answer in (whole, packed):
        again = get("/openapi.json", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_answers_are_those_of_the_commands(served: Path, get: Get, run: Run) -> None:
    def printed(*words: str) -> Any:
        return json.loads(run(words[0], served, *words[1:]).out)

    assert get("/ranking").json()["rows"] == printed("ratings", "--limit", "100")
    assert get("/players/ann").json()["summary"] == printed("show", "ann")
    assert get("/players/ann/games?limit=5").json()["rows"] == printed("games", "ann", "--limit", "5")
    assert get("/players/ann/graph").json()["player"]["rating_now"] == printed("show", "ann")["rating_now"]
    assert get("/players/ann/graph?format=svg").text == run("graph", served, "ann", "--format", "svg").out


def test_pages_lead_through_all_rows_in_every_form(get: Get) -> None:
    whole = get("/players/ann/games?limit=1000").json()
    assert (whole["next"], len(whole["rows"])) == (None, 106)
    rows: list[Any] = []
    address = "/players/ann/games?limit=50"
    while address:
        answer = get(address)
        rows += answer.json()["rows"]
        following = answer.json()["next"]
        assert answer.headers.get("link") == (f'<{following}>; rel="next"' if following else None)
        assert following is None or following.startswith(f"{SITE}/api/v1/players/ann/games?")
        address = (following or "").removeprefix(f"{SITE}/api/v1")
    assert rows == whole["rows"]
    lines = get("/players/ann/games?limit=1000&format=ndjson").text.splitlines()
    assert [json.loads(line) for line in lines] == rows
    cells = csv.DictReader(io.StringIO(get("/players/ann/games?limit=1000", headers={"Accept": "text/csv"}).text))
    assert [(row["n"], row["game"]) for row in cells] == [(str(row["n"]), row["game"]) for row in rows]


def test_an_answer_that_is_known_is_not_sent_again_until_something_is_recorded(
    served: Path, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = get("/ranking")
    tag = {"If-None-Match": first.headers["etag"]}
    assert (get("/ranking", headers=tag).status_code, get("/ranking", headers=tag).content) == (304, b"")
    assert get("/ranking?limit=2", headers=tag).status_code == 200, "something else was asked"
    monkeypatch.setattr(readers, "utc_now", lambda: datetime(2031, 1, 1, tzinfo=UTC))
    assert get("/ranking", headers=tag).status_code == 200, "it is another day"
    monkeypatch.undo()
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("new", half_moves=60))
        assert get("/ranking", headers=tag).status_code == 304, "as far as the views are"
        ledger.ensure_up_to_date()
    later = get("/ranking", headers=tag)
    assert (later.status_code, later.json()["position"]) == (200, first.json()["position"] + 1)


def test_the_same_words_cost_no_look_into_the_ledger_until_somebody_writes_or_a_day_begins(
    served: Path, answering: Reader, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, plain = "/players/ann/graph?last=50", {"Accept-Encoding": "identity"}
    first = get(words, headers=plain)
    worked_out = list[str]()

    def answer(reader: Reader, route: Route, asked: Any, target: str, *rest: Any, **more: Any) -> Answer:
        worked_out.append(target)
        return whole(reader, route, asked, target, *rest, **more)

    whole = Reader.answer
    monkeypatch.setattr(Reader, "answer", answer)
    again = get(words, headers=plain)
    assert (again.content, again.headers) == (first.content, first.headers)
    assert get(words, headers={"If-None-Match": first.headers["etag"], **plain}).status_code == 304
    assert worked_out == []
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("news", half_moves=60, ended_at="2006-12-30"))
        ledger.ensure_up_to_date()
    news = get(words, headers={"If-None-Match": first.headers["etag"], **plain})
    assert (news.status_code, len(worked_out)) == (200, 1)
    assert news.headers["ledger-position"] > first.headers["ledger-position"]
    get(words, headers=plain)
    assert len(worked_out) == 1
    monkeypatch.setattr(readers, "utc_now", lambda: datetime(2100, 1, 1, tzinfo=UTC))
    assert get(words, headers={"If-None-Match": news.headers["etag"], **plain}).status_code == 200, "another day"
    assert len(worked_out) == 2


@pytest.mark.slow
def test_asking_writes_nothing(served: Path, address: dict[str, str], get: Get) -> None:
    get("/pools")
    before = file_digests(served.parent)
    for example in address.values():
        assert get(example).status_code == 200
    after = file_digests(served.parent)
    assert {name: digest for name, digest in after.items() if name in before} == before
    assert after.keys() == before.keys()


@pytest.mark.slow
def test_strangers_see_no_officers_reasons_or_years_of_birth(address: dict[str, str], get: Get) -> None:
    asked = [*address.values(), "/players/Zoe", "/corrections/2", "/games/VOIDED/explanation"]
    voided = address["/games/{game}/log"].split("/")[2]
    for example in asked:
        text = get(example.replace("VOIDED", voided)).text
        for word in (REASON, OFFICER, OTHER_OFFICER):
            assert word not in text, example
        assert not re.search(r"birth|(?<![0-9.])1990(?![0-9])", text), example


def test_who_has_no_rating_yet_is_answered(get: Get) -> None:
    answer = get("/players/Zoe")
    assert (answer.status_code, answer.json()["summary"]) == (200, None)
    assert get("/players/Zoe/games").json()["rows"] == []
    assert get("/players/Zoe/graph").status_code == 404


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/ranking?limt=3&limit=x&pool=a&pool=b", 400, ["limt: no such parameter; did you mean 'limit'?",
                                                         "limit: expected a whole number from 1 to 1000, got 'x'",
                                                         "pool: given 2 times; once is enough"]),
        ("/ranking?at=someday", 400, ["at: "]),
        ("/ranking?format=xml", 400, ["format: expected one of json, ndjson, csv"]),
        ("/players?q=ab", 400, ["give 3 letters"]),
        ("/players", 400, ["give q, or number and identity"]),
        ("/players?q=ann&number=1", 400, ["give q, or number and identity"]),
        ("/players?" + "&".join(f"number={n}" for n in range(1, 102)), 400, ["at most 100 players at once, got 101"]),
        ("/players?q=" + "x" * 1001, 400, ["q: expected at most 1,000 characters, got 1,001"]),
        ("/players/nobody", 404, ["no player 'nobody' in this ledger"]),
        ("/players/ann?pool=rapid", 404, ["no pool 'rapid'"]),
        ("/players/ann/changes", 400, ["since: give a day"]),
        ("/players/ann/changes?since=300", 400, ["since: "]),
        ("/corrections/x", 404, ["no correction 'x'"]),
        ("/corrections/99", 404, ["99"]),
        ("/games/none", 404, ["no game 'none'"]),
        ("/games", 400, ["give on, a day, or tournament"]),
        ("/rankin", 404, ["did you mean '/api/v1/ranking'"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_all_at_once_in_the_words_of_the_command_line(
    address: str, status: int, words: list[str], get: Get
) -> None:
    answer = get(address)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    told = answer.json()
    assert told["status"] == status
    for word in words:
        assert word in told["detail"]
    if status == 400:
        assert len(told["errors"]) == len(words)


@pytest.mark.parametrize(("faults", "rest"), [(900, "and 800 more faults"), (101, "and 1 more fault")])
def test_of_very_many_faults_the_first_are_told_and_how_many_more_there_are(faults: int, rest: str, get: Get) -> None:
    answer = get("/pools?" + "&".join(f"p{number}=1" for number in range(faults)))
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 101
    assert answer.json()["errors"][-1]["detail"] == rest
    assert len(answer.content) < 40_000


def test_other_methods_are_refused_with_those_that_may_be(get: Get) -> None:
    answer = get("/ranking", "DELETE")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.headers["content-type"] == "application/problem+json"
    head = get("/ranking", "HEAD")
    assert (head.status_code, head.content) == (200, b"")


def test_where_nothing_is_nothing_can_be_done(get: Get) -> None:
    for method in ("GET", "POST", "DELETE", "PATCH"):
        answer = get("/rankign", method)
        assert (answer.status_code, "did you mean" in answer.json()["detail"]) == (404, True), method


def test_the_form_of_rows_is_the_one_that_is_wanted_most(get: Get) -> None:
    for accept, media in (
        ("text/csv", "text/csv"),
        ("text/csv;q=0, application/json", "application/json"),
        ("text/csv;q=0.2, application/x-ndjson;q=0.8", "application/x-ndjson"),
        ("application/json;q=0.9, text/csv; q=0.9", "application/json"),
        ("text/csv;q=much, */*", "application/json"),
        ("text/html", "application/json"),
    ):
        answer = get("/pools", headers={"Accept": accept})
        assert answer.headers["content-type"].partition(";")[0] == media, accept


def test_a_year_is_a_year_though_there_are_as_many_entries(served: Path, get: Get) -> None:
    address = "/players/ann/changes?limit=1000&since="
    for year in ("2006", "0050"):
        short, long = get(f"{address}{year}").json(), get(f"{address}{year}-12-31").json()
        assert short == {**long, "since": year}
    assert get(f"{address}0050").json()["rating_then"] is None
    with Ledger.open(served, follow=False) as ledger:
        assert ledger.journal.size() > 50


def test_a_ledger_that_is_away_for_a_moment_is_no_fault_of_the_program(
    served: Path, get: Get, capsys: pytest.CaptureFixture[str]
) -> None:
    assert get("/ranking").status_code == 200
    served.rename(served.with_name("aside.db"))
    for address in ("/ranking", "/ranking?limit=3", "/lists", "/entries", "/stream"):
        answer = get(address)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), address
        assert str(served) not in answer.text
    said = capsys.readouterr().err
    assert (f"{served}: is not there" in said, "Traceback" in said) == (True, False)
    served.with_name("aside.db").rename(served)
    assert get("/ranking").status_code == 200


def test_a_fault_of_the_program_shows_nothing_of_it(
    get: Get, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(Reader, "answer", fail)
    answer = get("/ranking")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "the inside" not in answer.text
    assert "RuntimeError: the inside" in capsys.readouterr().err


def test_a_ledger_that_cannot_be_read_is_said_to_be_so_and_its_log_says_why(
    served: Path, get: Get, capsys: pytest.CaptureFixture[str]
) -> None:
    served.with_name("club.views.db").unlink()
    answer = get("/ranking")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert str(served) not in answer.text
    assert "there are no views of this release yet" in capsys.readouterr().err


def test_a_journal_that_does_not_fit_its_checkpoint_is_answered_from_with_an_alarm(served: Path, get: Get) -> None:
    assert get("").json()["alarm"] is None
    place = served.with_name("club.checkpoints")
    text = place.read_text("utf-8")
    size = re.search(r"\n([0-9]+)\n", text)
    assert size is not None
    place.write_text(text.replace(size[0], f"\n{int(size[1]) + 1000}\n"), "utf-8")
    served.rename(served.with_name("aside.db"))
    served.write_bytes(served.with_name("aside.db").read_bytes())  # another file: it is opened anew
    told = get("").json()
    assert "opened for reading only" in told["alarm"]
    assert "checkpoint in club.checkpoints" in told["alarm"]
    assert str(served.parent) not in told["alarm"], "in which folder it is does not concern strangers"
    assert get("/ranking").status_code == 200


def test_other_sites_may_ask_without_credentials(get: Get) -> None:
    answer = get("/pools", headers={"Origin": "https://elsewhere.example"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers


def test_answers_that_are_kept_have_a_bound() -> None:
    kept = AnswerCache(8 * (900 + ENTRY_BYTES + sys.getsizeof("/92")))
    for number in range(100):
        kept.put(f"/{number}", Answer(bytes(900), "", "tag", 1, None))
    assert [number for number in range(100) if kept.get(f"/{number}", "tag")] == list(range(92, 100))
    assert kept.get("/99", "another tag") is None
    kept.put("/large", Answer(bytes(3_000), "", "tag", 1, None))
    assert kept.get("/large", "tag") is None


def test_short_answers_to_long_questions_are_bounded_by_what_they_take() -> None:
    tracemalloc.start()
    try:
        kept = AnswerCache(1 << 20)
        for number in range(5_000):
            kept.put(
                f"/{number}{'x' * 700}", Answer(b"", "", f'"{number}"', 1, None, status=302, location=f"/{number}")
            )
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 1 << 20
    assert kept.get(f"/4999{'x' * 700}", '"4999"') is not None


def test_long_questions_of_late_fill_no_memory(answering: Reader) -> None:
    tracemalloc.start()
    try:
        for number in range(6_000):  # an address and a header may be as long
            question = (f"/{number}", b"x" * 8_000, "x" * 16_000, False)
            answering.note(question, Lately(None, f"/{number}{'x' * 8_000}", f'"{number}"'))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 1 << 20  # it was 160 MB
    answering.note(("/short", b"", "", False), Lately(1, "/short", '"tag"'))
    last = answering.lately(("/short", b"", "", False), 1, ['"tag"'])
    assert last is not None
    assert last.tag == '"tag"'


@pytest.mark.slow
def test_no_other_command_loads_the_server(served: Path) -> None:
    code = (
        "import sys; from tools import cli; cli.main(['pools', sys.argv[1]]); "
        "print([name for name in sys.modules if name.partition('.')[0] in {'starlette', 'uvicorn', 'anyio'} "
        "or name.startswith('tools.serve')])"
    )
    command = [sys.executable, "-c", code, str(served)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_name_of_a_tournament_may_have_a_slash_in_it(served: Path, get: Get) -> None:
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("slash", half_moves=60, tournament="Cup 2023/24"))
        ledger.ensure_up_to_date()
    assert get("/tournaments/Cup%202023/24").json()["tournament"] == "Cup 2023/24"
    assert get("/tournaments/Cup%202023%2F24").json()["tournament"] == "Cup 2023/24"
