"""A few games are imported as rows, many as columns: the same entries, the same texts and the same report.

Which known games each of them repeats, ``tests/duplicates/test_game_index.py`` compares.
"""

import shutil
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest

from ledger.errors import LedgerError
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.recording.pool_choice import BY_SPEED, PoolChoice
from tests.kit.clubs import NAME, Clock, new_club_of_two
from tests.kit.drawn_games import NAMES, drawn, happen
from tests.tiers import times

ODD: dict[str, tuple[Any, ...]] = {
    "ended_at": ("2024-02-30", "9999", "2024-05-03", "2024-05-03T23:50:00Z"),
    "started_at": ("2024-05-05", "2024-05-03T23:50:00.500Z"),
    "outcome": ("won",),
    "termination": ("time", "mate", "unplayed"),
    "half_moves": (-1, 0, 70_000, 44),
    "tournament": ("", 'A "club"\\', "x" * 300, "Club"),
    "round": ("7.3",),
    "rated": (False,),
    "white_rating": (1500, 6000),
    "variant": ("chess960", "Horde!", "threeCheck"),
    "speed": ("blitz", "rapid"),
    "white_id": ("name:bob",),
    "sequence": (3,),
    "text": ("1. e4", ""),
    "key": ("not a key!", "r1-b1"),
}


def told(random: Random, number: int) -> SourceGame:
    game = drawn(random, number)
    if random.random() < 0.4:
        field = random.choice(list(ODD))
        game = game._replace(**{field: random.choice(ODD[field])})
    return game._replace(is_made=game.key.startswith(("csv:", "pgn:")) and random.random() < 0.8)


def outcome(path: Path, games: list[SourceGame], *, as_rows: bool, choice: PoolChoice, options: dict[str, Any]) -> Any:
    with Ledger.open(path, clock=Clock()) as ledger:
        take = ledger.record_games if as_rows else lambda rows, **more: ledger.import_games(batch_games(rows), **more)
        try:
            report = attrs.asdict(take(games, choice=choice, **options), recurse=False)
        except LedgerError as error:
            return str(error)
        entries = [body for block in ledger.journal.read(0) for body in block]
        texts = {game.text for game in games if game.text is not None}
        return report, entries, {text: ledger.movetext(sha256(text.encode()).hexdigest()) for text in texts}


@pytest.mark.parametrize("seed", range(times(quick=6, ci=20, nightly=300)))
def test_games_as_rows_are_recorded_as_games_as_columns(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.players.people.secrets.token_bytes", bytes)  # one salt for the newcomers of both
    random = Random(seed)
    (tmp_path / "first").mkdir()
    with new_club_of_two(tmp_path / "first") as club:
        for identity, name in NAMES[2:]:
            club.ledger.register(identity, name)
        for number in range(12):
            try:
                happen(random, club.ledger, number)
            except LedgerError:
                continue
    for number in range(4):
        games = [told(random, 1_000 * number + place) for place in range(random.randint(1, 12))]
        choice = PoolChoice(pool=random.choice(("standard", BY_SPEED)), variants={"chess960": "odd"})
        options: dict[str, Any] = {"strict": random.random() < 0.3, "record_alike": random.random() < 0.4}
        second = Path(shutil.copytree(tmp_path / "first", tmp_path / f"second{number}")) / NAME
        by_rows = outcome(second, games, as_rows=True, choice=choice, options=options)
        assert by_rows == outcome(tmp_path / "first" / NAME, games, as_rows=False, choice=choice, options=options)
