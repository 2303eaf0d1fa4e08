"""The systemd unit that ``serve --unit`` prints: systemd understands it, and it takes away what is not needed."""

import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from tests.kit.commands import Run
from tools.serve.processes import ENDS_WITHIN

VERIFY = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(VERIFY is None, reason="no systemd-analyze here (Debian: apt-get install systemd)")


@pytest.fixture(name="odd")
def _odd(served: Path) -> Path:
    """The ledger in a folder whose name has what units give a meaning to."""
    folder = served.parent.rename(served.parent.with_name("a club%i $HOME; 'x' \\d"))
    return folder / "club.db"


def settings(text: str) -> dict[str, list[str]]:
    """The settings of a unit, each with its values."""
    told = defaultdict(list)
    for line in text.splitlines():
        if match := re.fullmatch(r"([A-Za-z]+)=(.*)", line):
            told[match[1]].append(match[2])
        else:
            assert re.fullmatch(r"(\[(Unit|Service|Install)\]|#.*|)", line), line
    return told


@pytest.mark.outside
@needs_systemd
@pytest.mark.parametrize(
    "words",
    [
        ("--listen", "unix:/run/club/club.sock", "--behind-proxy", "unix", "--public-url", "https://a.example/50%25"),
        ("--listen", "127.0.0.1:8000", "--readers", "2"),
        ("--listen", "unix:here.sock"),
        (),
    ],
)
def test_systemd_understands_it_wherever_the_ledger_lies(
    words: tuple[str, ...], odd: Path, tmp_path: Path, run: Run
) -> None:
    place = tmp_path / "rating-ledger.service"
    place.write_text(run("serve", odd, "--unit", *words).out, "utf-8")
    assert VERIFY is not None
    done = subprocess.run([VERIFY, "verify", "--man=no", str(place)], capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if "rating-ledger.service" in line]
    assert (done.returncode, complaints) == (0, [])


@pytest.mark.outside
@needs_systemd
def test_systemd_finds_little_left_that_it_may_do(served: Path, tmp_path: Path, run: Run) -> None:
    place = tmp_path / "rating-ledger.service"
    place.write_text(run("serve", served, "--unit").out, "utf-8")
    command = [str(VERIFY), "security", "--no-pager", "--offline=yes", "--threshold=20", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_its_words_are_those_of_the_command_and_it_may_write_beside_the_ledger_alone(odd: Path, run: Run) -> None:
    printed = run("serve", odd, "--unit", "--listen", "unix:here.sock", "--readers", "3")
    told = settings(printed.out)
    folder = str(odd.parent).replace("%", "%%").replace("\\", "\\\\")
    (command,) = told["ExecStart"]
    here = Path("here.sock").absolute()
    quoted = folder.replace("$", "$$")
    assert command.endswith(f' serve "{quoted}/club.db" --listen unix:{here} --readers 3')
    assert Path(command.split()[0].strip('"')).is_absolute()
    assert told["ReadWritePaths"] == [f'"{folder}" {Path.cwd()}']
    assert told["WorkingDirectory"] == [str(odd.parent).replace("%", "%%")]
    assert (told["ProtectSystem"], told["NoNewPrivileges"], told["PrivateTmp"]) == (["strict"], ["yes"], ["yes"])
    assert told["RestrictAddressFamilies"] == ["AF_UNIX AF_INET AF_INET6"]
    assert told["SystemCallFilter"][0] == "@system-service"
    assert "MemoryDenyWriteExecute" not in told
    assert "MemoryDenyWriteExecute=yes is left out: Numba compiles" in printed.out


def test_it_has_files_for_ten_thousand_listeners_and_time_to_end(served: Path, run: Run) -> None:
    told = settings(run("serve", served, "--unit").out)
    assert int(told["LimitNOFILE"][0]) > 10_000 + 200
    assert int(told["TimeoutStopSec"][0]) > ENDS_WITHIN
    assert (told["KillSignal"], told["KillMode"], told["Restart"]) == (["SIGTERM"], ["mixed"], ["on-failure"])
    assert told["UMask"] == ["0077"]


def test_a_socket_below_run_has_a_folder_that_the_proxy_may_enter(served: Path, run: Run) -> None:
    printed = run("serve", served, "--unit", "--listen", "unix:/run/club/club.sock")
    told = settings(printed.out)
    assert (told["RuntimeDirectory"], told["RuntimeDirectoryMode"], told["UMask"]) == (["club"], ["0750"], ["0007"])
    assert "usermod -a -G" in printed.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_it_is_served_by_the_owner_of_the_ledger_and_never_by_root(served: Path, run: Run) -> None:
    printed = run("serve", served, "--unit")
    assert settings(printed.out)["User"] == ["rating-ledger"]
    assert "the ledger belongs to root: give it a user of its own" in printed.err
    os.chown(served, 65534, 65534)
    printed = run("serve", served, "--unit")
    assert settings(printed.out)["User"] == ["nobody"]
    assert "useradd" not in printed.err


def test_what_cannot_stand_in_a_unit_and_no_ledger_are_refused(served: Path, run: Run) -> None:
    folder = served.parent.rename(served.parent.with_name("two\nlines"))
    done = run("serve", folder / "club.db", "--unit")
    assert (done.code, "cannot stand in a unit: rename it" in done.err, done.out) == (1, True, "")
    done = run("serve", served.with_name("none.db"), "--unit")
    assert (done.code, "there is no such ledger" in done.err) == (1, True)
