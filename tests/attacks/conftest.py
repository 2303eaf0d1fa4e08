"""The ledgers that are attacked, in files and on a server, each with its judge."""

from collections.abc import Iterator

import pytest

from tests.attacks.families import attacked_ledger
from tests.attacks.judge import AttackJudge
from tests.kit import postgres
from tests.kit.places import folder_in_memory


@pytest.fixture(scope="session", name="judge")
def _judge() -> Iterator[AttackJudge]:
    """A small ledger with a past, another one like it, and a judge."""
    with folder_in_memory() as scratch, attacked_ledger(scratch) as judge:
        yield judge


@pytest.fixture(scope="session", name="judge_on_server")
def _judge_on_server() -> Iterator[AttackJudge]:
    """The same two ledgers on a server of its own, and a judge."""
    programs = postgres.needed()
    with (
        folder_in_memory() as scratch,
        postgres.running(programs, scratch) as server,
        attacked_ledger(scratch, None, server) as judge,
    ):
        yield judge
