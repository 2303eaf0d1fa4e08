"""Published examples of file formats, answered by the public parsers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ledger.imports.trf.lines import player_line

Inputs = Mapping[str, Any]


def _trf_player(given: Inputs) -> dict[str, Any]:
    player = player_line(given["line"])
    return {
        "rank": player.rank, "sex": player.sex, "title": player.title, "name": player.name, "rating": player.rating,
        "fed": player.federation, "id": player.fide_id, "birth": player.birth, "points": player.points,
        "place": player.place, "rounds": [[each.opponent, each.colour, each.result] for each in player.rounds],
    }  # fmt: skip


FUNCTIONS: Mapping[tuple[str, str], Callable[[Inputs], Any]] = {("format", "trf_player"): _trf_player}
