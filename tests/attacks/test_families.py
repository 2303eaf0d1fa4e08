"""Attacks of each family: nothing false is recorded, shown or called TRUE, and no command breaks down.

One attack of each stands among the quick tests; ``python -m tests.attacks`` makes as many as one likes.
"""

import pytest

from tests.attacks.families import ALL_PLAYS, BY_NAME, FITS_SERVERS, holds
from tests.attacks.judge import AttackJudge

FEW = {  # attacks, or rounds of a scene
    "older-copies": 5, "mixed-logs": 3, "stopped-builds": 4, "swapped-files": 5, "bit-flips": 9, "pages": 9,
    "triggers": 8, "foreign-objects": 6, "removals": 6, "headers": 4, "checkpoints": 7, "encodings": 5,
    "torn-logs": 5, "hot-journals": 4, "values": 14, "clocks": 1, "concurrency": 4, "rights-and-names": 10,
    "full-disks": 2, "power-cuts": 200, "outputs": 6,
}  # fmt: skip
ON_SERVER = {
    "values": 6, "older-copies": 2, "swapped-files": 1, "triggers": 2, "stopped-builds": 2, "checkpoints": 2,
    "foreign-objects": 4, "removals": 3,
}  # fmt: skip
NOT_AT_ONCE = {"power-cuts"}  # whose commands take long to record: test_power_cuts has one, and a few
AT_ONCE = [name for name in FEW if name not in NOT_AT_ONCE]
EARLY = {"bit-flips": "bit 3 of byte 1024 of page 2 of the journal"}  # the others are 300,000
MANY, MOST = 60, 4_000  # times as many attacks, at most so many


def test_every_family_is_tried() -> None:
    assert FEW.keys() == BY_NAME.keys()
    assert ON_SERVER.keys() == FITS_SERVERS


@pytest.mark.parametrize("family", AT_ONCE)
def test_one_attack_of_a_family_deceives_no_command(judge: AttackJudge, family: str) -> None:
    holds(judge, family, 1, plays=1, only=EARLY.get(family))


@pytest.mark.slow
@pytest.mark.parametrize("family", AT_ONCE)
def test_a_few_attacks_deceive_no_command(judge: AttackJudge, family: str) -> None:
    holds(judge, family, FEW[family])


@pytest.mark.nightly
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("family", FEW)
def test_many_attacks_deceive_no_command_whatever_is_run(judge: AttackJudge, family: str) -> None:
    holds(judge, family, min(MANY * FEW[family], MOST), ALL_PLAYS)


@pytest.mark.outside
@pytest.mark.parametrize("family", ON_SERVER)
def test_a_few_attacks_on_a_server_deceive_no_command(judge_on_server: AttackJudge, family: str) -> None:
    holds(judge_on_server, family, ON_SERVER[family], options="--server ")


@pytest.mark.nightly
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("family", ON_SERVER)
def test_many_attacks_on_a_server_deceive_no_command(judge_on_server: AttackJudge, family: str) -> None:
    holds(judge_on_server, family, MANY * ON_SERVER[family], ALL_PLAYS, "--server ")
