"""Servers of PostgreSQL that several tests share, one of the oldest version that is here and one of the newest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit import postgres
from tests.kit.postgres import Server


@pytest.fixture(scope="session", params=["oldest", "newest"])
def each_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of each of the two versions."""
    with postgres.running(postgres.needed(newest=request.param == "newest")) as server:
        yield server


@pytest.fixture(scope="session")
def oldest_server() -> Iterator[Server]:
    """A server of the oldest version."""
    with postgres.running(postgres.needed()) as server:
        yield server
