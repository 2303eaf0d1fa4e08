"""Which version of PostgreSQL a test runs on; the servers are those of the tools."""

from __future__ import annotations

import pytest

from tools.postgres_servers import Programs, Server, installed, running

__all__ = ["Programs", "Server", "installed", "needed", "running"]


def needed(newest: bool = False) -> Programs:
    """The oldest version that is here, or the newest; the test is skipped where there is none."""
    versions = installed()
    if not versions:
        pytest.skip("PostgreSQL 15 or later is not installed: as root, apt-get install postgresql")
    return versions[-1 if newest else 0]
