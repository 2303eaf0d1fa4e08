"""The server as it is started: what it says, what it survives, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

import httpx

from tests.kit.commands import Run
from tests.kit.served_processes import position, serving, until


def test_what_commands_record_beside_it_is_seen_and_what_dies_is_started_again(served: Path, run: Run) -> None:
    with serving(served, "--listen", "127.0.0.1:0", "--readers", "2") as (process, address):
        until(lambda: position(address) > 0)
        before = position(address)
        game = ("--white", "ann", "--black", "bob", "--result", "1-0", "--ended", "2006-09-10", "--half-moves", "40")
        assert run("record", served, *game).code == 0
        until(lambda: position(address) == before + 1)
        second = run("serve", served, "--listen", "127.0.0.1:0")
        assert (second.code, f"is served already, by process {process.pid} at 127.0.0.1:0" in second.err) == (1, True)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 3
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        until(lambda: position(address) == before + 1)
        assert run("record", served, *game[:-3], "2006-09-11", "--half-moves", "40").code == 0
        until(lambda: position(address) == before + 2)
    assert process.returncode == 0
    assert not served.with_name("club.serving").exists()
    assert run("audit", served).out.startswith("TRUE")


def test_it_answers_on_a_socket_of_the_machine(served: Path, tmp_path: Path) -> None:
    place = tmp_path / "s"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(place))
    left.close()  # as a server that was killed leaves it
    with serving(served, "--listen", f"unix:{place}", "--public-url", "https://a.example/club") as (_, address):
        assert address == "https://a.example/club"
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(place))) as client:
            following = client.get("http://server/api/v1/players/ann/games?limit=1").json()["next"]
        assert following.startswith("https://a.example/club/api/v1/players/ann/games?")
    assert not place.exists()


def test_what_stops_it_at_once_is_one_line(served: Path, tmp_path: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", served, "--listen", f"127.0.0.1:{port}")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert f"127.0.0.1:{port}: cannot be listened at: Address already in use; give another --listen" in done.err
    for words, says in (
        (("--listen", "here"), "--listen: give ADDRESS:PORT or unix:PATH"),
        (("--public-url", "example.org"), "--public-url: give one that begins with https://"),
        (("--readers", "0"), "--readers"),
    ):
        done = run("serve", served, *words)
        assert (done.code, says in done.err) == (2, True)
    served.with_name("club.views.db").write_bytes(b"no views")
    done = run("serve", served, "--listen", "127.0.0.1:0")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "club.views.db" in done.err


def test_its_answers_name_no_program(served: Path) -> None:
    with serving(served, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        answer = httpx.get(f"{address}/api/v1/pools")
        assert "server" not in answer.headers
        assert json.loads(answer.text)["rows"]
