"""The server as it is started: what it says, what it survives, how it ends."""

import json
import os
import signal
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from tests.kit.commands import Run
from tests.kit.served_processes import position, serving, until
from tools.serve.processes import told_of_the_proxy
from tools.serve.settings import Serving

pytestmark = pytest.mark.slow  # the processes of a server


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


@pytest.mark.parametrize("reached", [0, 1], ids=["while they start", "when they answer"])
def test_where_what_started_it_is_killed_the_others_end_and_leave_nothing(
    served: Path, monkeypatch: pytest.MonkeyPatch, reached: int
) -> None:
    with TemporaryDirectory(prefix="t", dir="/tmp") as short:  # room for the address of a socket
        monkeypatch.setenv("TMPDIR", short)
        with serving(served, "--listen", "127.0.0.1:0") as (process, address):
            until(lambda: reached == 0 or position(address) > 0)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            process.kill()
            until(lambda: not any(Path(f"/proc/{child}/exe").exists() for child in children))
        assert list(Path(short).iterdir()) == []
    with serving(served, "--listen", address.removeprefix("http://")):  # nobody holds the address
        until(lambda: position(address) > 0)


def test_a_reader_that_is_being_started_again_ends_with_its_parent(served: Path) -> None:
    def children(process: int) -> list[int]:
        return [*map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]

    with serving(served, "--listen", "127.0.0.1:0", "--readers", "2") as (process, address):
        until(lambda: position(address) > 0)
        first = children(process.pid)
        os.kill(first[-1], signal.SIGKILL)
        until(lambda: any(child not in first for child in children(process.pid)))
        orphans = children(process.pid)
        process.kill()
        until(lambda: not any(Path(f"/proc/{child}/exe").exists() for child in orphans))
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
        pass


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


@pytest.mark.quick
def test_what_stops_it_at_once_is_one_line(served: Path, tmp_path: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", served, "--listen", f"127.0.0.1:{port}")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert f"127.0.0.1:{port}: cannot be listened at: Address already in use by process {os.getpid()} (" in done.err
    assert done.err.endswith("); give another --listen\n")
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


@pytest.mark.quick
def test_its_answers_name_no_program(served: Path) -> None:
    with serving(served, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        answer = httpx.get(f"{address}/api/v1/pools")
        assert "server" not in answer.headers
        assert json.loads(answer.text)["rows"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"public_url": "https://a.example"}, "--behind-proxy ADDRESS takes its word for who asks"),
        ({"listen": "unix:/s"}, "--behind-proxy unix takes its word for who asks"),
        ({"behind_proxy": "unix"}, "--behind-proxy unix says nothing where it listens at 127.0.0.1:8000"),
        ({"listen": "unix:/s", "behind_proxy": "unix"}, None),
        ({"public_url": "https://a.example", "behind_proxy": "127.0.0.1"}, None),
        ({}, None),
    ],
)
def test_its_owner_is_told_when_nobody_says_who_asks(settings: dict[str, str], says: str | None) -> None:
    lines = list(told_of_the_proxy(Serving(path=Path("club.db"), **settings)))  # type: ignore[arg-type]
    assert len(lines) == (says is not None)
    assert says is None or says in lines[0]
