"""Jobs over HTTP: each gives what its command gives, one runs at a time, and none outlives the server."""

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.programs import GAME, Api, club_of_programs
from tests.kit.served_processes import PATIENCE, ask_server, position, serving, until
from tools.serve import job_runner, limits
from tools.serve.job_runner import Jobs
from tools.serve.jobs import ERASED
from tools.serve.problems import Problem

pytestmark = pytest.mark.slow  # the processes of a server

SLOW: Mapping[str, Any] = {
    "command": "slow", "options": [], "operands": [], "media": "text/plain", "name": "slow.txt", "erased": 0,
}  # fmt: skip
QUICK = {**SLOW, "command": "quick"}
PLAYERS: Mapping[str, Any] = {"tables": ["players"]}


@pytest.fixture(name="job_club", scope="module")
def _job_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs") / "club.db"


@pytest.fixture(name="job_api", scope="module")
def _job_api(job_club: Path) -> Iterator[Api]:
    tokens = {**club_of_programs(job_club), "nobody": "rlt_" + "a" * 43}
    with serving(job_club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        api = Api(address, tokens)
        for number in range(1, 4):
            sent = {**GAME, "key": f"club:{number}", "ended_at": f"2026-03-0{number}"}
            assert api.post("/games?rated=1", sent).status_code == 201
        yield api


def state_of(api: Api, address: str, who: str = "ada") -> httpx.Response:
    return ask_server("GET", address, headers={"Authorization": f"Bearer {api.tokens[who]}"})


def done(api: Api, body: Mapping[str, Any]) -> tuple[dict[str, Any], bytes | None]:
    """Return how an export ended, and what it wrote."""
    begun = api.post("/jobs/export", body, "ada")
    assert begun.status_code == 202, begun.text
    address = begun.headers["location"]
    until(lambda: state_of(api, address).json()["state"] not in {"waiting", "running"})
    state = state_of(api, address).json()
    return state, state_of(api, state["result"]).content if state["result"] else None


JOBS: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"tables": ["games"]}, "export DB games"),
    ({"tables": ["players"], "names": True, "format": "ndjson"}, "export --names --format=ndjson DB players"),
    (
        {"tables": ["games"], "since": "2026-03-02", "player": "Ann", "known_at": "11", "format": "csv"},
        "export --since 2026-03-02 --player Ann --known-at 11 --format=csv DB games",
    ),
)


@pytest.mark.parametrize(("body", "words"), JOBS, ids=[words for _, words in JOBS])
def test_a_job_writes_what_its_command_prints(
    body: Mapping[str, Any], words: str, job_api: Api, job_club: Path, run: Run
) -> None:
    state, result = done(job_api, body)
    assert (state["command"], state["state"], state["exit_code"]) == ("export", "done", 0), state
    assert result is not None
    printed = run(*(job_club if word == "DB" else word for word in words.split()))
    assert printed.code == 0, printed.err
    assert result.decode() == printed.out
    assert state["size"] == len(result)
    assert str(job_club.parent) not in result.decode() + str(state)


def test_an_export_of_many_tables_is_a_file_of_sqlite(job_api: Api) -> None:
    state, result = done(job_api, {"tables": ["players", "games"], "format": "sqlite"})
    assert result is not None
    assert result.startswith(b"SQLite format 3\0")
    assert state["said"] == [
        "ledger.sqlite: 3 rows of players",
        "ledger.sqlite: 3 rows of games",
        "names are left out; --names puts them in",
    ]


def test_what_the_command_refuses_is_told_in_its_words_and_has_no_result(job_api: Api) -> None:
    body = {"tables": ["tournament"], "format": "trf16", "tournament": "Nowhere", "names": True}
    state, result = done(job_api, body)
    assert (state["state"], state["exit_code"], result) == ("failed", 1, None), state
    assert "Nowhere" in "\n".join(state["said"]), state
    begun = job_api.post("/jobs/export", body, "ada").headers["location"]
    assert state_of(job_api, f"{begun}/result").status_code == 404


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        (
            {
                "tables": ["gmes"], "since": "2026-13", "pool": "blitz", "player": "Anne", "known_at": "99999",
                "at": "soon",
            },
            {
                "/tables": "gmes", "/since": "2026-13", "/pool": "blitz", "/player": "Anne", "/at": "soon",
                "/known_at": "no entry '99999'",
            },
        ),
        ({"tables": ["--output=/tmp/x"]}, {"/tables": "--output=/tmp/x"}),
        ({"tables": ["players", "games"]}, {"/tables": "a file of csv holds one table"}),
        ({"tables": ["players"], "tournament": "Open"}, {"/tables": "'tournament' does not go with"}),
        ({"tables": ["lists"], "published": "standard@1999-01"}, {"/published": "standard@1999-01"}),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_when_it_is_posted_with_each_fault_at_its_place(
    body: Mapping[str, Any], faults: Mapping[str, str], job_api: Api
) -> None:
    refused = job_api.post("/jobs/export", body, "ada")
    assert refused.status_code == 400, refused.text
    told = {fault["pointer"]: fault["detail"] for fault in refused.json()["errors"]}
    assert told.keys() == faults.keys(), told
    assert all(words in told[pointer] for pointer, words in faults.items()), told
    assert job_api.post("/jobs/export", body, "nobody").status_code == 401


def test_a_body_names_no_file_of_this_machine(job_api: Api) -> None:
    assert job_api.post("/jobs/export", {"tables": ["games"], "output": "/tmp/x"}, "ada").status_code == 400
    assert job_api.post("/jobs/export", {"tables": []}, "ada").status_code == 400


def test_what_else_takes_long_is_no_job(job_api: Api) -> None:
    for kind in ("audit", "comparison", "difference", "known-then"):
        assert job_api.post(f"/jobs/{kind}", {}, "ada").status_code in {404, 405}


def test_only_whoever_has_a_token_and_knows_its_name_sees_a_job(job_api: Api) -> None:
    for who in (None, "nobody"):
        assert job_api.post("/jobs/export", PLAYERS, who).status_code == 401
    begun = job_api.post("/jobs/export", PLAYERS, "ada").headers["location"]
    assert httpx.get(begun).status_code == 401
    assert state_of(job_api, begun, "nobody").status_code == 401
    assert state_of(job_api, f"{begun}x").status_code == 404
    assert state_of(job_api, f"{begun}?wait=1").status_code == 400
    assert state_of(job_api, begun).headers["cache-control"] == "no-store"
    headers = {"Authorization": f"Bearer {job_api.tokens['ada']}"}
    assert httpx.delete(begun).status_code == 401
    assert httpx.delete(begun, headers=headers).status_code == 204
    assert state_of(job_api, begun).status_code == 404
    assert httpx.delete(begun, headers=headers).status_code == 404


def test_no_result_is_given_that_may_tell_who_somebody_was_that_was_erased_since(job_api: Api, job_club: Path) -> None:
    gone = job_api.post("/players", {"identity": "name:gone", "name": "Gone Forever"}).json()["player"]
    words = {"tables": ["players"], "names": True, "format": "ndjson"}
    state, content = done(job_api, words)
    assert b"Gone Forever" in (content or b"")
    with Ledger.open(job_club) as ledger:
        ledger.erase(gone, token=job_api.tokens["otto"])
    refused = state_of(job_api, state["result"])
    assert (refused.status_code, "a player was erased" in refused.json()["detail"]) == (404, True)
    assert state_of(job_api, state["result"].removesuffix("/result")).status_code == 404, "it is ended"
    _, content = done(job_api, words)
    assert content
    assert b"Gone Forever" not in content


@pytest.fixture(name="slowly")
def _slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_runner, "PROCESS", "tests.serve.slow_job")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def in_a_loop(folder: Path, play: Callable[[Jobs], Awaitable[None]]) -> None:
    async def played() -> None:
        jobs = Jobs(folder / "club.db", folder)
        try:
            await play(jobs)
        finally:
            await jobs.stop()

    asyncio.run(played())


def told(outcome: Any) -> dict[str, Any]:
    assert not isinstance(outcome, Problem), outcome
    return dict(outcome["fields"])


def begun(jobs: Jobs, args: Mapping[str, Any] = SLOW) -> str:
    return str(told(jobs.answer("job", args))["job"])


def state(jobs: Jobs, word: str) -> dict[str, Any]:
    return told(jobs.answer("job-state", {"job": word}))


async def until_it_is(jobs: Jobs, word: str, wanted: str) -> dict[str, Any]:
    for _ in range(600):
        if (now := state(jobs, word))["state"] == wanted and (wanted != "running" or now["done"] is not None):
            return now
        await asyncio.sleep(0.05)
    raise AssertionError(now)


@pytest.mark.usefixtures("slowly")
def test_one_runs_at_a_time_and_tells_how_far_it_is(tmp_path: Path) -> None:
    async def play(jobs: Jobs) -> None:
        first, second, third = (begun(jobs) for _ in range(3))
        now = await until_it_is(jobs, first, "running")
        assert (now["doing"], now["done"], now["total"], now["said"]) == ("games", 1, 2, ["slowly"])
        assert [state(jobs, word)["ahead"] for word in (first, second, third)] == [0, 1, 2]
        assert [state(jobs, word)["state"] for word in (second, third)] == ["waiting", "waiting"]
        assert jobs.answer("job-end", {"job": second}) == {}
        assert state(jobs, third)["ahead"] == 1
        assert jobs.answer("job-end", {"job": first}) == {}
        await until_it_is(jobs, third, "running")
        assert isinstance(jobs.answer("job-state", {"job": first}), Problem)
        assert [place.name for place in tmp_path.glob("job-*")] == [f"job-{third}"]

    in_a_loop(tmp_path, play)
    assert not [*tmp_path.glob("job-*/result")]


@pytest.mark.usefixtures("slowly")
def test_what_takes_too_long_is_ended_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "JOB_WITHIN", 1.0)

    async def play(jobs: Jobs) -> None:
        word = begun(jobs)
        now = await until_it_is(jobs, word, "ended")
        assert any("it took longer than" in line for line in now["said"])
        quick = begun(jobs, QUICK)
        assert (await until_it_is(jobs, quick, "done"))["exit_code"] == 0
        assert state(jobs, word)["exit_code"] is None

    in_a_loop(tmp_path, play)


@pytest.mark.usefixtures("slowly")
def test_results_of_jobs_that_were_begun_before_somebody_was_erased_are_taken_from_the_disk(tmp_path: Path) -> None:
    async def play(jobs: Jobs) -> None:
        quick = begun(jobs, QUICK)
        await until_it_is(jobs, quick, "done")
        slow, waiting = begun(jobs), begun(jobs)
        await until_it_is(jobs, slow, "running")
        jobs.forget_erased(0)
        assert [*tmp_path.glob("job-*/result")]
        jobs.forget_erased(1)
        for word in (quick, slow, waiting):
            now = await until_it_is(jobs, word, "ended")
            assert (now["said"], now["size"]) == ([ERASED], None)
        later = begun(jobs, {**QUICK, "erased": 1})
        assert (await until_it_is(jobs, later, "done"))["exit_code"] == 0
        jobs.forget_erased(1)
        assert {path.parent.name for path in tmp_path.glob("job-*/*")} == {f"job-{later}"}

    in_a_loop(tmp_path, play)


@pytest.mark.usefixtures("slowly")
def test_so_many_wait_and_so_many_results_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "JOBS_WAITING", 3)
    monkeypatch.setattr(limits, "JOBS_KEPT", 1)

    async def play(jobs: Jobs) -> None:
        words = [begun(jobs, QUICK) for _ in range(3)]
        refused = jobs.answer("job", QUICK)
        assert isinstance(refused, Problem)
        assert refused.status == 503
        await until_it_is(jobs, words[2], "done")
        assert isinstance(jobs.answer("job-state", {"job": words[0]}), Problem)
        assert [place.name for place in tmp_path.glob("job-*")] == [f"job-{words[2]}"]

    in_a_loop(tmp_path, play)


@pytest.mark.usefixtures("slowly")
def test_what_waits_is_run_though_a_job_before_it_could_not_be_and_a_result_was_tidied_away(tmp_path: Path) -> None:
    async def play(jobs: Jobs) -> None:
        first, second = begun(jobs, QUICK), begun(jobs, QUICK)
        shutil.rmtree(tmp_path / f"job-{first}")
        now = await until_it_is(jobs, first, "failed")
        assert now["said"] == ["the server could not run it: No such file or directory"]
        assert (await until_it_is(jobs, second, "done"))["exit_code"] == 0
        (tmp_path / f"job-{second}" / "result").unlink()
        answer = jobs.answer("job-state", {"job": second})
        assert not isinstance(answer, Problem)
        assert (answer["fields"]["state"], answer["fields"]["size"], answer["place"]) == ("done", None, None)

    in_a_loop(tmp_path, play)


def test_what_a_process_that_was_killed_wrote_is_gone_once_another_one_takes_its_place(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_of_programs(club)
    with serving(club, "--listen", "127.0.0.1:0") as (process, address):
        until(lambda: position(address) > 0)
        api = Api(address, tokens)
        state, result = done(api, {"tables": ["players"], "names": True})
        assert result is not None
        assert b"Ann" in result
        killed = _child(process.pid, "tools.serve.writer")
        folder = _folder_of(killed)
        assert [place.name for place in folder.glob("job-*/result")] == ["result"]
        os.kill(killed, signal.SIGKILL)
        until(lambda: not [*folder.glob("job-*")])
        until(lambda: state_of(api, f"{address}/api/v1/jobs/{state['job']}").status_code == 404)


def _folder_of(pid: int) -> Path:
    """Where the processes of a server meet, by the settings that one of them was started with."""
    (settings,) = [word for word in _command(pid).split("\0") if word.startswith("{")]
    return Path(json.loads(settings)["folder"])


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_ends_with_the_server_and_with_the_process_that_records(how: signal.Signals, tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_of_programs(club)
    with serving(club, "--listen", "127.0.0.1:0") as (process, address):
        until(lambda: position(address) > 0)
        api = Api(address, tokens)
        for _ in range(3):  # one is enough, unless it is over before it is seen
            assert api.post("/jobs/export", PLAYERS, "ada").status_code == 202
        until(lambda: bool(_jobs_of(process.pid)))
        (running,) = _jobs_of(process.pid)
        if how == signal.SIGTERM:
            process.send_signal(how)
            assert process.wait(PATIENCE) == 0
        else:
            os.kill(_child(process.pid, "tools.serve.writer"), how)
        until(lambda: "job_process" not in _command(running))


def _child(pid: int, module: str) -> int:
    return next(child for child in _children(pid) if module in _command(child))


def _jobs_of(pid: int) -> list[int]:
    return [job for child in _children(pid) for job in _children(child) if "job_process" in _command(job)]


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except FileNotFoundError:
        return ""


def test_a_job_that_cannot_be_begun_for_want_of_room_is_refused_and_ends_nobody_else_s_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def begun_nowhere() -> Any:
        return Jobs(tmp_path / "club.db", tmp_path / "gone").begin(SLOW)

    refused = asyncio.run(begun_nowhere())
    assert isinstance(refused, Problem)
    assert refused.status == 503
    assert "no job can be begun" in capsys.readouterr().err
