"""The process that writes: what it acknowledges stands once, whoever asks, whatever dies, and however it is ended."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any, TypeVar

import attrs
import pytest

from ledger.errors import MalformedError, StorageError
from ledger.facts import codec
from ledger.facts.events import GameRecorded, Role
from ledger.facts.words import Outcome
from ledger.ledger import Ledger
from tests.kit.checkpoints import give_key
from tests.kit.clubs import NAME, new_club_of_two
from tests.kit.games import game_recorded
from tests.kit.places import ROOT
from tests.kit.served_processes import until
from tools.serve import desk_verbs, importing, verbs, write_queue
from tools.serve import writer as writing
from tools.serve.importing import Sent
from tools.serve.problems import Problem, RefusedError
from tools.serve.settings import Serving
from tools.serve.verbs import Asking, WriterVerb
from tools.serve.write_queue import Queue, Waiting
from tools.serve.writer import MOST_TRIED, TRIED_AT_ONCE, Folding, RecordingThread, Trying
from tools.serve.writer_socket import WriterClient

pytestmark = pytest.mark.slow  # the processes of a server

Answer = TypeVar("Answer")
PATIENCE = 120.0  # seconds for one answer: the machine may be busy


def facts_of(game: GameRecorded) -> Mapping[str, Any]:
    """A game as the verb ``game`` takes it."""
    return {"facts": {"game": game.game, **codec.facts_mapping(game)}}


def told(key: str, **facts: Any) -> Mapping[str, Any]:
    """A game of players 1 and 2 as the verb ``game`` takes it."""
    return facts_of(game_recorded(key, **{"ended_at": "2006-09-10", "half_moves": 40, **facts}))


def recorder(club: Path, name: str = "rita", *roles: Role) -> str:
    """The token of a person, who may record where no role is named."""
    with Ledger.open(club) as ledger:
        return ledger.tokens.add(name, [*roles] or [Role.RECORDER])


class Process:
    """A writer that is started, killed and started again."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "tools.serve.writer", self.serving.as_json()]
        self.process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)

    def is_over(self) -> bool:
        """Whether it ended by itself."""
        return self.process is not None and self.process.poll() is not None

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal and wait; the exit code, and what it said."""
        assert self.process is not None
        os.kill(self.process.pid, number)
        _, said = self.process.communicate(timeout=PATIENCE)
        code, self.process = self.process.returncode, None
        return code, said


@contextmanager
def writer(club: Path, folder: Path, **settings: Any) -> Iterator[Process]:
    """A writer of a ledger, ended with the block."""
    folder.mkdir(exist_ok=True)
    process = Process(Serving(path=club, folder=folder, **settings))
    process.start()
    try:
        yield process
    finally:
        if process.process is not None:
            process.end()


def asking(folder: Path, ask: Callable[[WriterClient], Awaitable[Answer]]) -> Answer:
    """What is asked over one connection."""

    async def asked() -> Answer:
        client = WriterClient(folder)
        client.start()
        try:
            return await ask(client)
        finally:
            await client.close()

    return asyncio.run(asked())


KILLS = int(os.environ.get("LEDGER_WRITER_KILLS", "4"))
CLIENTS = 64


@pytest.fixture(name="written_club")
def _written_club(tmp_path: Path) -> Path:
    with new_club_of_two(tmp_path):
        pass
    return tmp_path / NAME


def keys(club: Path) -> list[str]:
    with Ledger.open(club, read_only=True) as ledger:
        return [json.loads(body)["key"] for block in ledger.journal.read() for body in block]


def test_what_64_clients_are_told_was_recorded_stands_once(written_club: Path, meeting_folder: Path) -> None:
    token = recorder(written_club)

    async def ask(client: WriterClient) -> list[Any]:
        async def one(number: int) -> list[Any]:
            sent = (f"c{number}-1", "shared", f"c{number}-2", f"c{number}-1")
            return [await client.ask("game", told(key), token=token, patience=PATIENCE) for key in sent]

        return [answer for answers in await asyncio.gather(*map(one, range(CLIENTS))) for answer in answers]

    with writer(written_club, meeting_folder):
        answers = asking(meeting_folder, ask)
    stands = keys(written_club)
    assert sorted(stands) == sorted(set(stands))
    for answer in answers:
        assert stands[answer["position"] - 1] == answer["key"]
    fresh = [answer for answer in answers if not answer["duplicate"]]
    assert len(fresh) == 2 * CLIENTS + 1
    with Ledger.open(written_club) as ledger:
        assert {entry.actor for entry in ledger.entries(last=len(fresh))} == {"rita"}


def test_a_refused_game_leaves_the_others_in_and_says_why(written_club: Path, meeting_folder: Path) -> None:
    token = recorder(written_club)
    second = recorder(written_club, "rob")

    async def ask(client: WriterClient) -> list[Any]:
        return await asyncio.gather(
            client.ask("game", told("a"), token=token),
            client.ask("game", told("b", white=77), token=token),
            client.ask(
                "game", told("r1-b1", outcome=Outcome.DRAW, ended_at="2026-11-20", half_moves=None), token=token
            ),
            client.ask("game", {"facts": {"game": "c", "pool": 5}}, token=token),
            client.ask("game", told("d"), token="rlt_no_token_of_ours"),
            client.ask("gmae", told("e"), token=token),
            client.ask("game", told("f"), token=second),
            return_exceptions=True,
        )

    with writer(written_club, meeting_folder):
        good, stranger, conflict, malformed, unknown, verb, other = asking(meeting_folder, ask)
    assert (good["key"], other["key"]) == ("game:a", "game:f")
    refusals = [stranger, conflict, malformed, unknown, verb]
    assert [error.problem.status for error in refusals] == [409, 409, 400, 401, 400]
    assert [error.problem.rule for error in refusals[:2]] == ["unknown-player", "exists-with-different-outcome"]
    (fault,) = conflict.problem.errors
    assert (fault.pointer, fault.stored, fault.given) == ("/outcome", "white", "draw")
    with Ledger.open(written_club) as ledger:
        assert [row.rule for row in ledger.tokens.log()] == ["unknown-token"]


def test_views_follow_what_is_recorded_here_and_beside_and_the_head_is_signed(
    written_club: Path, meeting_folder: Path
) -> None:
    token = recorder(written_club)
    give_key(written_club)

    async def ask(client: WriterClient) -> None:
        answer = await client.ask("game", told("a"), token=token)
        assert await client.until_views(answer["position"], PATIENCE)
        with Ledger.open(written_club) as beside:
            position = beside.append(game_recorded("beside"), token=token).position
        assert await client.until_views(position, PATIENCE)
        for _ in range(1_200):
            if client.head >= position:
                return
            await asyncio.sleep(0.05)
        raise AssertionError

    with writer(written_club, meeting_folder, checkpoint_every=1):
        asking(meeting_folder, ask)
    with Ledger.open(written_club) as ledger:
        last = ledger.checkpoints.last()
        assert last is not None
        assert last.head == ledger.head()


def test_the_head_is_signed_when_the_server_starts(written_club: Path) -> None:
    give_key(written_club)
    told = list[Mapping[str, int]]()
    folding = Folding(written_club, 3_600, told.append)
    folding.thread.start()
    try:
        until(lambda: any("head" in positions for positions in told))
        with Ledger.open(written_club) as ledger:
            last = ledger.checkpoints.last()
            assert last is not None
            assert last.head == ledger.head()
    finally:
        folding.stop()
        folding.thread.join()


def test_the_head_of_a_shorter_ledger_that_is_put_in_its_place_is_signed(tmp_path: Path, written_club: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with new_club_of_two(other):
        shorter = len(keys(other / NAME))
    with Ledger.open(other / NAME) as ledger:
        ledger.ensure_up_to_date()
    with Ledger.open(written_club) as ledger:
        ledger.append(game_recorded("one-more"))
    for club in (written_club, other / NAME):
        give_key(club)
    told = list[Mapping[str, int]]()
    folding = Folding(written_club, 1, told.append)
    folding.thread.start()
    try:
        until(lambda: {"head": shorter + 1} in told)
        for file in list(tmp_path.glob("club.*")):
            file.unlink()
        for file in list(other.iterdir()):
            file.rename(tmp_path / file.name)
        until(lambda: {"head": shorter} in told)
    finally:
        folding.stop()
        folding.thread.join()
    with Ledger.open(written_club, read_only=True) as ledger:
        last = ledger.checkpoints.last()
    assert last is not None
    assert last.head.size == shorter


def test_views_follow_again_after_a_fault_of_the_program(
    written_club: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a plug-in that does not understand one entry until it is mended: the thread goes on, and tells it once."""
    faults, supplement_for = iter(["divided by nought"] * 3), list[int]()
    level = Ledger.ensure_up_to_date

    def failing(ledger: Ledger, *more: Any) -> None:
        if words := next(faults, None):
            raise ZeroDivisionError(words)
        level(ledger, *more)

    monkeypatch.setattr(Ledger, "ensure_up_to_date", failing)
    monkeypatch.setattr(writing, "LATER", 0.01)
    folding = Folding(written_club, 0, lambda told: supplement_for.append(told["views"]))
    folding.thread.start()
    for _ in range(1_200):
        if supplement_for:
            break
        sleep(0.05)
    folding.stop()
    folding.thread.join(PATIENCE)
    with Ledger.open(written_club, read_only=True) as ledger:
        assert supplement_for == [ledger.journal.size()]
    said = capsys.readouterr().err
    assert said.count("ZeroDivisionError: divided by nought") == 1


def test_a_refusal_that_quotes_more_than_a_message_holds_is_told_shorter(
    written_club: Path, meeting_folder: Path
) -> None:
    token = recorder(written_club, "eve", Role.CORRECTOR)
    changes = [{"verb": "\\" * 500_000}]

    async def ask(client: WriterClient) -> Problem:
        with pytest.raises(RefusedError) as refused:
            await client.ask("propose", {"changes": changes, "reason": "", "once": "1"}, token=token)
        return refused.value.problem

    with writer(written_club, meeting_folder):
        problem = asking(meeting_folder, ask)
    assert (problem.status, problem.detail[-3:]) == (400, "...")
    assert len(problem.detail) < 2_000


def test_what_was_accepted_before_sigterm_is_answered_and_nothing_new_is_taken(
    written_club: Path, meeting_folder: Path
) -> None:
    token = recorder(written_club)
    answers: list[Any] = []

    with writer(written_club, meeting_folder) as process:

        async def ask(client: WriterClient) -> None:
            await client.ask("game", told("first"), token=token)
            sent = [
                asyncio.create_task(client.ask("game", told(f"g{n}"), token=token, patience=PATIENCE))
                for n in range(500)
            ]
            await asyncio.sleep(0.02)
            code, said = await asyncio.to_thread(process.end)
            assert (code, said) == (0, "")
            answers.extend(await asyncio.gather(*sent, return_exceptions=True))

        asking(meeting_folder, ask)
    good = [answer for answer in answers if not isinstance(answer, RefusedError)]
    assert good
    assert {answer["key"] for answer in good} <= set(keys(written_club))
    for error in answers:
        if isinstance(error, RefusedError):
            assert error.problem.status == 503
            assert "nothing of this was recorded" in error.problem.detail or "not known" in error.problem.detail
    with Ledger.open(written_club) as ledger:
        assert ledger.views.is_up_to_date()


def test_kills_under_load_lose_no_acknowledged_game(written_club: Path, meeting_folder: Path) -> None:
    """The clients send again what they know nothing of; each game stands once."""
    token = recorder(written_club)
    acknowledged: dict[str, int] = {}
    statuses: set[int] = set()

    with writer(written_club, meeting_folder) as process:

        async def ask(client: WriterClient) -> None:
            stopped = asyncio.Event()

            async def load(number: int) -> None:
                count = 0
                while not stopped.is_set():
                    key, count = f"c{number}-{count}", count + 1
                    while True:
                        try:
                            answer = await client.ask("game", told(key), token=token, patience=PATIENCE)
                        except RefusedError as error:
                            statuses.add(error.problem.status)
                            await asyncio.sleep(0.01)
                            continue
                        acknowledged[answer["key"]] = answer["position"]
                        break

            loads = [asyncio.create_task(load(number)) for number in range(16)]
            for _ in range(KILLS):
                before = len(acknowledged)
                async with asyncio.timeout(PATIENCE):
                    while len(acknowledged) < before + 50:
                        assert not process.is_over(), "it ended by itself"
                        await asyncio.sleep(0.01)
                await asyncio.sleep(random.random() * 0.05)
                await asyncio.to_thread(process.end, signal.SIGKILL)
                process.start()
            stopped.set()
            await asyncio.wait_for(asyncio.gather(*loads), PATIENCE)

        asking(meeting_folder, ask)
    assert statuses == {503}
    stands = keys(written_club)
    assert len(set(stands)) == len(stands)
    for key, position in acknowledged.items():
        assert stands[position - 1] == key


def test_single_games_are_recorded_between_the_parts_of_a_large_file_in_the_order_in_which_they_came(
    written_club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each comes while a part is being recorded: it stands behind that part and before the next one."""
    token, parts = recorder(written_club), 4
    file = tmp_path / "large.csv"
    rows = [f"ann,bob,1-0,2020-01-{day:02},part:{day}" for day in range(1, 3 * parts + 1)]
    file.write_text("\n".join(["white,black,result,date,id", *rows, ""]), "utf-8")
    whole = vars(importing)["read_game_frames"]

    def in_parts(*arguments: Any) -> Iterator[Any]:
        for frame in whole(*arguments):
            yield from (frame.slice(first, 3) for first in range(0, frame.height, 3))

    monkeypatch.setattr(importing, "read_game_frames", in_parts)
    queue, came = Queue(), list[str]()
    outcomes: list[tuple[Waiting, Any]] = []
    asks = Asking(token, None)

    def imported(ledger: Ledger, sent: Sent, token: str | None, advance: Callable[[int], None]) -> Any:
        def step(games: int) -> None:
            for _ in range(2):
                came.append(f"single-{len(came)}")
                assert queue.put(Waiting("game", asks, told(came[-1]), 100, came[-1]))
            advance(games)

        return real(ledger, sent, token, step)

    real = vars(desk_verbs)["imported"]
    monkeypatch.setattr(desk_verbs, "imported", imported)
    upload = {"upload": "u", "sent": attrs.asdict(Sent(path=str(file), name=file.name))}
    assert queue.put(Waiting("desk-import", asks, upload, 100, "file"))
    recording = RecordingThread(written_club, queue, outcomes.extend)
    recording.thread.start()
    while not any(waiting.sender == "file" for waiting, _ in outcomes):
        sleep(0.01)
    queue.end()
    recording.thread.join()
    assert [waiting.sender for waiting, _ in outcomes] == [*came, "file"]
    assert not [outcome for _, outcome in outcomes if isinstance(outcome, Problem)]
    stands = [key.removeprefix("game:") for key in keys(written_club)]
    first = stands.index("part:1")
    assert len(came) == 2 * parts
    expected = []
    for part in range(parts):
        expected += [f"part:{day}" for day in range(3 * part + 1, 3 * part + 4)] + came[2 * part : 2 * part + 2]
    assert stands[first:] == expected


@pytest.mark.quick
def test_what_waits_is_bounded_in_facts_and_bytes_and_games_go_together() -> None:
    def one(verb: str = "game", size: int = 100) -> Waiting:
        return Waiting(verb, Asking(None, None), {}, size, None)

    queue = Queue()
    assert all(queue.put(one()) for _ in range(write_queue.MOST_FACTS))
    assert not queue.put(one())
    assert [len(queue.next()) for _ in range(2)] == [write_queue.A_BATCH] * 2
    assert queue.put(one(size=1))
    queue = Queue()
    assert queue.put(one(size=write_queue.MOST_BYTES))
    assert not queue.put(one(size=1))
    queue.end()
    assert not queue.put(one())
    assert (len(queue.next()), queue.next()) == (1, [])
    with pytest.raises(MalformedError):
        queue.put(one("gmae"))


def test_a_preview_that_takes_long_lets_others_pass_each_with_a_ledger_of_its_own(
    written_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, ledgers = threading.Event(), set[int]()

    def long(ledger: Ledger, *_: object) -> dict[str, Any]:
        ledgers.add(id(ledger))
        assert goes_on.wait(PATIENCE)
        return {"size": ledger.journal.size()}

    monkeypatch.setattr(verbs, "VERBS", {**verbs.VERBS, "long": WriterVerb(long, is_long=True, records=False)})

    async def played() -> list[Any]:
        trying = Trying(written_club)
        asks = Asking(None, None)
        begun = [asyncio.create_task(trying.answer("long", asks, {})) for _ in range(TRIED_AT_ONCE)]
        state = await asyncio.wait_for(trying.answer("desk-import-state", asks, {"upload": "x"}), PATIENCE)
        assert not any(task.done() for task in begun)
        more = [asyncio.create_task(trying.answer("long", asks, {})) for _ in range(MOST_TRIED)]
        await asyncio.sleep(0)
        goes_on.set()
        answers = [await task for task in [*begun, *more]]
        trying.end()
        return [state, *answers]

    state, *answers = asyncio.run(played())
    assert state == {"state": "unknown"}
    refused = [answer for answer in answers if isinstance(answer, Problem)]
    assert [problem.status for problem in refused] == [503] * TRIED_AT_ONCE
    assert [answer for answer in answers if answer not in refused] == [{"size": 4}] * MOST_TRIED
    assert len(ledgers) >= TRIED_AT_ONCE


def test_what_is_tried_while_another_ledger_is_put_in_its_place_is_worth_asking_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def tried() -> Any:
        trying = Trying(tmp_path / "away.db")
        try:
            return await trying.answer("preview", Asking("rlt_any", None), {"number": 1})
        finally:
            trying.end()

    problem = asyncio.run(tried())
    assert isinstance(problem, Problem)
    said = capsys.readouterr().err
    assert (problem.status, "away.db: is not there" in said, "Traceback" in said) == (503, True, False)


def test_what_is_recorded_in_part_is_not_said_to_be_recorded_nowhere(
    written_club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, token, outcomes = tmp_path / "half.csv", recorder(written_club), list[tuple[Waiting, Any]]()
    file.write_text("white,black,result,date,id\nann,bob,1-0,2020-01-01,half:1\n", "utf-8")
    real = vars(desk_verbs)["imported"]

    def imported(ledger: Ledger, sent: Sent, token: str | None, advance: Callable[[int], None]) -> Any:
        real(ledger, sent, token, advance)
        raise StorageError(str(written_club), "database or disk is full")

    monkeypatch.setattr(desk_verbs, "imported", imported)
    upload = {"upload": "half", "sent": attrs.asdict(Sent(path=str(file), name=file.name))}
    for path in (written_club, tmp_path / "nowhere.db"):
        queue = Queue()
        assert queue.put(Waiting("desk-import", Asking(token, None), {**upload, "upload": path.name}, 100, path.name))
        queue.end()
        recording = RecordingThread(path, queue, outcomes.extend)
        recording.thread.start()
        recording.thread.join()
    (_, half), (_, nothing) = outcomes
    assert (half.status, "it is not known whether this was recorded, or how much of it" in half.detail) == (503, True)
    assert (nothing.status, "nothing of this was recorded" in nothing.detail) == (503, True)
    assert "half:1" in " ".join(keys(written_club))
    with Ledger.open(written_club, read_only=True) as ledger:
        state = desk_verbs.import_state(ledger, Asking(token, None), {"upload": written_club.name})
    assert (state["state"], state["read"]) == ("refused", 1)
    assert "what was sent could not be recorded" in capsys.readouterr().err
