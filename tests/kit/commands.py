"""Running a command of ``tools`` within the test: what the fixture ``run`` gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


SAMPLE_ENTRIES = 917  # the scheme, 16 players, 900 games


def latest_game(run: Run, club: Path, player: str) -> str:
    """The key of a player's latest rated game."""
    return str(json.loads(run("games", club, player, "--last", "1").out)[0]["game"])
