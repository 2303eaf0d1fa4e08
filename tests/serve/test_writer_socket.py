"""Messages between the processes of a server: whole, bounded, answered once, and what is known when the writer dies."""

import asyncio
import socket
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tools.serve import problems
from tools.serve.problems import RefusedError
from tools.serve.writer_socket import LARGEST, SOCKET, MessageTooLongError, WriterClient, meeting, message, next_message

Answering = Callable[[dict[str, Any], asyncio.StreamWriter], Awaitable[None]]


class Writer:
    """A writer that answers as the test says."""

    def __init__(self, folder: Path, answering: Answering) -> None:
        self.folder, self.answering = folder, answering
        self.streams: list[asyncio.StreamWriter] = []
        self.server: asyncio.Server | None = None

    async def start(self) -> None:
        (self.folder / SOCKET).unlink(missing_ok=True)
        self.server = await asyncio.start_unix_server(self.connected, str(self.folder / SOCKET), limit=LARGEST)

    async def connected(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        self.streams.append(writing)
        writing.write(message({"views": 7}))
        while (taken := await next_message(reading)) is not None:
            await self.answering(taken[0], writing)

    def die(self) -> None:
        assert self.server is not None
        self.server.close()
        for stream in self.streams:
            stream.close()
        self.streams.clear()


def playing(
    meeting_folder: Path, answering: Answering, play: Callable[[Writer, WriterClient], Awaitable[None]]
) -> None:
    async def played() -> None:
        writer, client = Writer(meeting_folder, answering), WriterClient(meeting_folder)
        client.start()
        await writer.start()
        try:
            await play(writer, client)
        finally:
            await client.close()
            writer.die()

    asyncio.run(played())


async def backwards(told: dict[str, Any], stream: asyncio.StreamWriter) -> None:
    """Answers, the later ones earlier."""

    async def later() -> None:
        await asyncio.sleep(0.05 / told["id"])
        stream.write(message({"id": told["id"], "ok": {"told": told["args"], "by": told["by"]}}))

    asyncio.get_running_loop().create_task(later())


async def silent(_: dict[str, Any], __: asyncio.StreamWriter) -> None:
    """Answers nothing."""


def test_each_question_gets_its_own_answer_in_whatever_order_they_come(meeting_folder: Path) -> None:
    async def play(_: Writer, client: WriterClient) -> None:
        answers = await asyncio.gather(*(client.ask("game", {"n": n}, by="eve") for n in range(20)))
        assert answers == [{"told": {"n": n}, "by": "eve"} for n in range(20)]

    playing(meeting_folder, backwards, play)


def test_a_refusal_comes_as_it_was_made(meeting_folder: Path) -> None:
    refusal = problems.problem(409, "no", "some-rule", [problems.Fault(parameter=None, detail="x", pointer="/y")])

    async def refuse(told: dict[str, Any], stream: asyncio.StreamWriter) -> None:
        stream.write(message({"id": told["id"], "problem": attrs.asdict(refusal)}))

    async def play(_: Writer, client: WriterClient) -> None:
        with pytest.raises(RefusedError) as refused:
            await client.ask("game", {})
        assert refused.value.problem == refusal

    playing(meeting_folder, refuse, play)


def test_what_was_sent_when_the_writer_died_is_said_to_be_unknown_and_later_questions_reach_the_next(
    meeting_folder: Path,
) -> None:
    async def play(writer: Writer, client: WriterClient) -> None:
        asked = asyncio.create_task(client.ask("game", {}))
        while not writer.streams:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        writer.die()
        with pytest.raises(RefusedError, match=r"not known whether this was recorded\. Sending the same again is safe"):
            await asked
        with pytest.raises(RefusedError, match="nothing was recorded; ask again later") as refused:
            await client.ask("game", {}, patience=0.05)
        assert refused.value.problem.status == 503
        again = asyncio.create_task(client.ask("game", {"n": 1}))
        await asyncio.sleep(0.1)
        writer.answering = backwards
        await writer.start()
        assert (await again)["told"] == {"n": 1}

    playing(meeting_folder, silent, play)


def test_a_writer_that_is_too_slow_is_not_waited_for(meeting_folder: Path) -> None:
    async def play(_: Writer, client: WriterClient) -> None:
        with pytest.raises(RefusedError, match="not known whether this was recorded"):
            await client.ask("game", {}, patience=0.05)

    playing(meeting_folder, silent, play)


def test_messages_have_a_longest_length(meeting_folder: Path) -> None:
    async def play(writer: Writer, client: WriterClient) -> None:
        with pytest.raises(RefusedError, match="a message of") as refused:
            await client.ask("game", {"moves": "x" * LARGEST})
        assert refused.value.problem.status == 413
        assert (await client.ask("game", {"moves": "x" * (LARGEST - 500)}))["by"] is None

    playing(meeting_folder, backwards, play)
    with pytest.raises(MessageTooLongError):
        message({"x": "x" * LARGEST})

    async def claims() -> None:
        stream = asyncio.StreamReader()
        stream.feed_data((LARGEST + 1).to_bytes(4, "big"))
        await next_message(stream)

    with pytest.raises(MessageTooLongError):
        asyncio.run(claims())


def test_what_the_writer_tells_by_itself_is_waited_for(meeting_folder: Path) -> None:
    async def play(writer: Writer, client: WriterClient) -> None:
        assert await client.until_views(7, 5.0)
        assert not await client.until_views(8, 0.05)
        waiting = asyncio.create_task(client.until_views(9, 5.0))
        await asyncio.sleep(0.01)
        writer.streams[0].write(message({"views": 8}) + message({"head": 3}) + message({"views": 9}))
        assert await waiting
        assert (client.views, client.head) == (9, 3)

    playing(meeting_folder, silent, play)


def test_the_folder_where_processes_meet_is_not_too_deep_for_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with meeting() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(folder / SOCKET))
    assert not folder.exists()
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    with meeting() as folder:
        assert folder.parent == Path("/tmp")
