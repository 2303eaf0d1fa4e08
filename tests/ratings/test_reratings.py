"""A change is followed as far as it goes: who stands again as before is left alone, the rows are those of a rebuild."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from ledger.facts.changes import Change
from ledger.ledger import Ledger
from ledger.ratings import engine, reratings
from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.view_tables import SideTable
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
    with patch.object(reratings, "STRIDE", stride), counting_games() as games:
        approve(ledger, make(ledger))
        ledger.catch_up()
    return sum(games)


@pytest.mark.slow
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


@contextmanager
def counting_rows() -> Iterator[dict[str, Counter[int]]]:
    """By table, how many rows each player has written or deleted."""
    found: dict[str, Counter[int]] = {}
    write, delete = PlayerRows.write, PlayerRows.delete

    def writing(self: PlayerRows, table: SideTable, rows: Iterable[Sequence[Any]], *, replacing: bool = False) -> None:
        kept = list(rows)
        found.setdefault(table.name, Counter()).update(row[1] for row in kept)
        write(self, table, kept, replacing=replacing)

    def deleting(self: PlayerRows, table: SideTable, keys: Iterable[tuple[int, int]]) -> None:
        kept = list(keys)
        found.setdefault(table.name, Counter()).update(player for player, _ in kept)
        delete(self, table, kept)

    with patch.object(PlayerRows, "write", writing), patch.object(PlayerRows, "delete", deleting):
        yield found


@pytest.mark.parametrize("compile_from", FEW_OR_MANY)
def test_of_tables_that_lack_rows_only_those_that_differ_are_written(
    rounded_club: Ledger, compile_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "COMPILE_FROM", compile_from)
    club = rounded_club
    game = next(club.rows("games", "reason IS NULL ORDER BY rated_ms LIMIT 1"))
    before = tables(club)
    approve(club, ask(club, "void", game=game["key"]))
    with counting_rows() as rows:
        club.catch_up()
    after = tables(club)
    assert after == rebuilt(club)
    for name in ("streaks", "time_losses"):  # they follow no ratings: of nobody else a row is touched
        assert rows.get(name, Counter()).keys() <= {game["white"], game["black"]}
    games = {row["player"]: row["n"] for row in after["current"]}  # rows beyond them are dropped at the end
    for name in ("highest_lowest", "bests", "streaks", "time_losses", "upsets"):
        others = [key for key in differing(before[name], after[name]) if key[2] <= games.get(key[1], 0)]
        assert rows.get(name, Counter()).total() == len(others), name
    assert len(rows["history"]) > 2
    approve(club, club.corrections.drafts.undo(max(row["proposal"] for row in club.rows("proposals"))))
    club.catch_up()
    assert all(tables(club)[name] == before[name] for name in ("history", "current", "streaks", "upsets"))


def differing(before: Iterable[Any], after: Iterable[Any]) -> set[tuple[int, ...]]:
    """The keys of rows that are gone, new, or others."""
    stood, stands = ({(row["pool"], row["player"], row["n"]): row for row in rows} for rows in (before, after))
    return {key for key in stood.keys() | stands.keys() if stood.get(key) != stands.get(key)}
