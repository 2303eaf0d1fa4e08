"""The systemd unit in the README of the server: systemd understands it, and its numbers are those of the program."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs import readmes
from tests.kit.places import ROOT
from tools.serve import limits
from tools.serve.processes import ENDS_WITHIN

VERIFY = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(VERIFY is None, reason="no systemd-analyze here (Debian: apt-get install systemd)")


@pytest.fixture(name="unit")
def _unit(tmp_path: Path) -> Path:
    """The unit, with a program that every machine has."""
    (text,) = readmes.blocks((ROOT / "tools/serve/README.md").read_text("utf-8"), "ini")
    place = tmp_path / "rating-ledger.service"
    place.write_text(text.replace("/opt/rating-ledger/bin/rating-ledger", "/usr/bin/env"), "utf-8")
    return place


@pytest.mark.outside
@needs_systemd
def test_systemd_understands_it_and_finds_little_left_that_it_may_do(unit: Path) -> None:
    for words in (["verify", "--man=no"], ["security", "--no-pager", "--offline=yes", "--threshold=20"]):
        done = subprocess.run([str(VERIFY), *words, str(unit)], capture_output=True, text=True, check=False)
        complaints = [line for line in done.stderr.splitlines() if unit.name in line]
        assert (done.returncode, complaints) == (0, []), done.stdout


def settings(unit: Path) -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z]+)=(.*)$", unit.read_text("utf-8"), re.MULTILINE))


def test_it_has_files_for_every_listener_and_time_to_end(unit: Path) -> None:
    assert int(settings(unit)["LimitNOFILE"]) >= limits.CONNECTIONS + limits.SPARE_FILES
    assert int(settings(unit)["TimeoutStopSec"]) > ENDS_WITHIN


def test_it_may_write_in_the_folder_of_the_ledger_alone(unit: Path) -> None:
    held = settings(unit)
    assert (held["ProtectSystem"], held["NoNewPrivileges"], held["PrivateTmp"]) == ("strict", "yes", "yes")
    assert (held["ReadWritePaths"], held["WorkingDirectory"]) == ("/srv/club", "/srv/club")
    assert held["RestrictAddressFamilies"] == "AF_UNIX AF_INET AF_INET6"
