"""A change is followed as far as it goes: who stands again as before is left alone, the rows are those of a rebuild."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest

from ledger.facts.changes import Change
from ledger.ledger import Ledger
from ledger.ratings import engine, walks
from tests.kit.clubs import NAME, NOW, take_made_up_games
from tests.kit.corrections import approve, ask, rebuilt, tables
from tests.kit.impacts import counting_games

GAMES = 300
FEW_OR_MANY = [pytest.param(engine.COMPILE_FROM, id="plain Python"), pytest.param(0, id="compiled")]


@pytest.fixture(name="rounded_club", scope="module")
def _rounded_club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("club")
    Ledger.create(folder / NAME, scheme="nothingbutchess", clock=lambda: NOW).close()  # its table has whole numbers
    with Ledger.open(take_made_up_games(folder, GAMES, GAMES) / NAME, clock=lambda: NOW) as ledger:
        yield ledger


def voiding(ledger: Ledger) -> Change:
    """The change that voids an early game of two whose ratings rest on few games."""
    return ask(ledger, "void", game=next(ledger.rows("games", "reason IS NULL ORDER BY rated_ms LIMIT 1"))["key"])


def rated_again(ledger: Ledger, stride: int, make: Callable[[Ledger], Change]) -> int:
    """Approve a change with parts of so many games; how many games are rated again."""
    with patch.object(walks, "STRIDE", stride), counting_games() as games:
        approve(ledger, make(ledger))
        ledger.catch_up()
    return sum(games)


@pytest.mark.parametrize("compile_from", FEW_OR_MANY)
def test_a_change_that_dies_out_is_not_followed_further(
    rounded_club: Ledger, compile_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "COMPILE_FROM", compile_from)
    club = rounded_club
    before = tables(club)
    followed = rated_again(club, 5, voiding)
    assert tables(club) == rebuilt(club)
    last = max(row["proposal"] for row in club.rows("proposals"))
    everybody_met = rated_again(club, 2 * GAMES, lambda ledger: ledger.corrections.drafts.undo(last))
    for name in ("history", "current"):
        assert tables(club)[name] == before[name]
    assert 0 < followed < 0.75 * everybody_met
