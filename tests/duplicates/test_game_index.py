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
from ledger.facts.source_games import SourceGame, frame_schema
from ledger.imports.reading import frames
from ledger.ledger import Ledger
from ledger.players import name_indexes
from ledger.recording.game_columns import GameColumns
from ledger.recording.views_game_index import ViewsGameIndex
from tests.errors.rule_cases import source
from tests.kit.clubs import ClubOfTwo, new_club_of_two
from tests.kit.corrections import approve, ask
from tests.tiers import times

NAMES = (
    ("name:ann", "Ann"),
    ("name:bob", "Bob"),
    ("fide:1", "Ann"),
    ("lichess:bob", "BOB"),
    ("fide:2", "Eva Ök"),
    ("club:9", "eva ÖK"),
    ("name:zed", "Zed"),
)
STRANGERS = (("name:new", "New"), ("fide:7", "Zed"), ("name:eva ök", "Eva ök"))
DAYS = ("2024", "2024-05", "2024-05-03", "2024-05-04", "2024-05-03T23:50:00Z", "2024-05-04T00:10:00Z", "2024-06-01")
TEXTS = ("1. e4 e5", "1. d4 d5", "1. c4 c5")


def drawn(random: Random, number: int) -> SourceGame:
    """A game of few players on few days, as one of many sources tells it."""
    white, black = random.sample([*NAMES, *NAMES, *STRANGERS], 2)
    made = f"{random.choice(('csv', 'pgn'))}:{random.randrange(40):024x}"
    key = random.choice((made, made, f"lichess:{random.randrange(30)}", f"club:{random.randrange(30)}", f"r{number}"))
    ended = random.choice(DAYS)
    began = random.choice((None, None, ended, "2024-05-03", "2024-05-03T23:40:00Z"))
    if began is not None and (len(began) > len(ended) or began > ended):
        began = None
    text = random.choice((None, None, *TEXTS))
    return source(
        key,
        line=number,
        white_id=white[0],
        white_name=white[1],
        black_id=black[0],
        black_name=black[1],
        outcome=random.choice(("white", "draw", "black")),
        ended_at=ended,
        started_at=began,
        text=text,
        half_moves=random.choice((40, 40, 29)) if text else random.choice((None, 40)),
        tournament=random.choice((None, "Club", "Open")),
        round=random.choice((None, "1", "2.1", "?")),
    )


def sorted_out(ledger: Ledger, file: list[pl.DataFrame], *, by_index: bool) -> list[Any]:
    """What becomes of the games of a file, frame by frame, and which known games it told."""
    index = ViewsGameIndex(ledger.views) if by_index else None
    job = DuplicateDetector(ledger.journal, ledger.people, index)
    size = ledger.journal.size()
    found: list[Any] = []
    for frame in file:
        kept, held = job.split_off_duplicates(GameColumns(frame), ledger.journal.find, size)
        found += [list(kept.rows()), held]
        assert job._known is None or job._is_whole is not by_index
    return [*found, list(job._claimed)]


def happen(random: Random, ledger: Ledger, number: int) -> None:
    """One thing that may happen in a ledger."""
    match random.randrange(12):
        case 0:
            ledger.rename(random.randint(1, 4), random.choice(NAMES)[1])
        case 1:
            keys = [key.removeprefix("game:") for key in ledger.journal.keys("game:", "game;")]
            fields = random.choice(
                ({"black": 3}, {"white": 2}, {"ended_at": "2024-06-01"}, {"tournament": "Open"}, {"outcome": "draw"})
            )
            approve(ledger, ledger.corrections.drafts.replace(f"game:{random.choice(keys)}", fields))
        case 2:
            approve(ledger, ledger.corrections.drafts.merge(*random.sample(range(1, 6), 2)))
        case 3:
            approve(ledger, ask(ledger, "void", game=random.choice([*ledger.journal.keys("game:", "game;")])[5:]))
        case 4 | 5:
            ledger.catch_up()
        case _:
            games = [drawn(random, number * 10 + place) for place in range(random.randint(1, 5))]
            ledger.import_games(frames(games), record_alike=random.random() < 0.5)


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
    assert ledger.import_games(frames([game])).recorded == 1
    approve(ledger, ledger.corrections.drafts.replace(f"game:{game.key}", fields))
    ledger.catch_up()
    again = pl.DataFrame([game._replace(key=f"pgn:{2:024x}")], schema=frame_schema(), orient="row")
    file = [again.with_columns(pool=pl.lit("standard"))]
    by_index = sorted_out(ledger, file, by_index=True)
    assert by_index == sorted_out(ledger, file, by_index=False)
    assert sum(by_index[-1]) == 1
