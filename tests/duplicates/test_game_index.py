"""A few games are recognised by an index of the views, with the answers that the reading of the whole journal gives."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from ledger.duplicates import detector as alike
from ledger.duplicates.detector import DuplicateDetector
from ledger.errors import LedgerError
from ledger.facts.source_games import frame_schema
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.players import name_indexes
from ledger.recording.game_columns import GameColumns
from ledger.recording.views_game_index import ViewsGameIndex
from tests.kit.clubs import ClubOfTwo, new_club_of_two
from tests.kit.corrections import approve
from tests.kit.drawn_games import NAMES, drawn, happen
from tests.tiers import times


def sorted_out(ledger: Ledger, file: list[pl.DataFrame], *, by_index: bool) -> list[Any]:
    """Return what becomes of the games of a file, frame by frame, and which known games it named."""
    index = ViewsGameIndex(ledger.views) if by_index else None
    job = DuplicateDetector(ledger.journal, ledger.people, index)
    size = ledger.journal.size()
    found: list[Any] = []
    for frame in file:
        kept, held = job.split_off_duplicates(GameColumns(frame), ledger.journal.find, size)
        found += [list(kept.rows()), held]
        assert job._candidates is None or job._is_whole is not by_index
    return [*found, list(job._claimed)]


@pytest.fixture(name="club_to_look_up")
def _club_to_look_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClubOfTwo]:
    monkeypatch.setattr(alike, "_READ_FOR_ONE", 0)  # small as it is, the journal is not read
    monkeypatch.setattr(name_indexes, "_FEW", 0)
    with new_club_of_two(tmp_path) as club:
        for identity, name in NAMES[2:]:
            club.ledger.register(identity, name)
        yield club


@pytest.mark.parametrize("seed", range(times(quick=1, ci=3, nightly=60)))
def test_the_index_finds_what_the_reading_of_the_whole_journal_finds(club_to_look_up: ClubOfTwo, seed: int) -> None:
    random, ledger = Random(seed), club_to_look_up.ledger
    ledger.catch_up()
    looked_like = 0
    for number in range(30):
        try:
            happen(random, ledger, number)
        except LedgerError:  # what is refused has not happened
            continue
        file = [
            pl.DataFrame(
                [drawn(random, place) for place in range(random.randint(1, 12))], schema=frame_schema(), orient="row"
            ).with_columns(pool=pl.lit("standard"))
            for _ in range(2)
        ]
        if ledger.journal.size() - ledger.views.position() > ledger.journal.size() // 2:
            ledger.catch_up()
        by_index = sorted_out(ledger, file, by_index=True)
        assert by_index == sorted_out(ledger, file, by_index=False)
        looked_like += len(by_index[1]) + sum(by_index[-1])
    assert looked_like > 20


@pytest.mark.parametrize("fields", [{"white": 5}, {"black": 7}, {"ended_at": "2024-06-01"}])
def test_a_corrected_game_is_found_as_it_was_told(club_to_look_up: ClubOfTwo, fields: dict[str, Any]) -> None:
    ledger = club_to_look_up.ledger
    game = drawn(Random(1), 1)._replace(
        key=f"csv:{1:024x}",
        white_id="name:ann",
        white_name="Ann",
        black_id="name:bob",
        black_name="Bob",
        ended_at="2024-05-03",
        started_at=None,
        text=None,
        tournament=None,
        round=None,
    )
    assert ledger.import_games(batch_games([game])).recorded == 1
    approve(ledger, ledger.corrections.drafts.replace(f"game:{game.key}", fields))
    ledger.catch_up()
    again = pl.DataFrame([game._replace(key=f"pgn:{2:024x}")], schema=frame_schema(), orient="row")
    file = [again.with_columns(pool=pl.lit("standard"))]
    by_index = sorted_out(ledger, file, by_index=True)
    assert by_index == sorted_out(ledger, file, by_index=False)
    assert sum(by_index[-1]) == 1
