"""Running a command of ``tools`` within the test: what the fixture ``run`` gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


SAMPLE_ENTRIES = 917  # the scheme, 16 players, 900 games


def latest_game(run: Run, club: Path, player: str) -> str:
    """The key of a player's latest rated game."""
    return str(json.loads(run("games", club, player, "--limit", "1").out)[0]["game"])


def in_columns(answer: dict[str, Any]) -> dict[str, Any]:
    """One answer of JSON in the columns that CSV gives it: each part of an object has its own."""
    flat: dict[str, Any] = {}
    for name, value in answer.items():
        flat |= {f"{name}_{part}": inner for part, inner in value.items()} if isinstance(value, dict) else {name: value}
    return flat


class Missing:
    """Stands for a package that is not installed."""

    def __getattr__(self, name: str) -> None:
        raise ModuleNotFoundError(name)
