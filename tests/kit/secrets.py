"""The secrets of ledgers under test: one for all of them, so that keys in what is expected can be written down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ledger.journal.game_keys import keyed
from ledger.players import people

SECRET = b"the one secret of ledgers we test"[:32]
_drawn = people.new_secret


def key_of(plain: str) -> str:
    """The key that a ledger under test makes of a plain one."""
    (key,) = keyed(SECRET, [plain])
    return key


@contextmanager
def one_secret() -> Iterator[None]:
    """New ledgers get ``SECRET``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people, "new_secret", lambda: SECRET)
        yield


@contextmanager
def secrets_as_drawn() -> Iterator[None]:
    """New ledgers get a secret of their own again, as everywhere but in tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people, "new_secret", _drawn)
        yield
