"""Corrections as a ledger records them: proposed by one person and approved by another; a club to be corrected."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ledger.facts.changes import Change
from ledger.facts.events import Decision, GameRecorded
from ledger.facts.words import Outcome, Receipt, Termination
from ledger.ledger import Ledger
from ledger.ratings.views_file import RATING_BOUNDS
from tests.kit.clubs import copy_of
from tests.kit.games import game_recorded

TODAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
ANN, BOB, CLEO, DAN = range(1, 5)


def played() -> list[GameRecorded]:
    """The games g1 to g7, one a day from the first of November 2026; White wins all but g4, which is drawn."""
    sides = [(ANN, BOB), (CLEO, DAN), (ANN, CLEO), (BOB, DAN), (DAN, ANN), (BOB, CLEO), (ANN, DAN)]
    return [
        game_recorded(
            f"g{number}",
            white=white,
            black=black,
            ended_at=f"2026-11-{number:02}",
            half_moves=40,
            outcome=Outcome.DRAW if number == 4 else Outcome.WHITE,
            termination=Termination.UNKNOWN,
            tournament="Open" if number in {2, 3} else None,
            round=str(number) if number in {2, 3} else None,
        )
        for number, (white, black) in enumerate(sides, 1)
    ]


def made(path: Path, games: list[GameRecorded] | None = None) -> Ledger:
    """A ledger of the four with these games, by default those of ``played``, open."""
    ledger = Ledger.open(copy_of(_make_four, path), clock=lambda: TODAY)
    ledger.append_many(played() if games is None else games)
    return ledger


def _make_four(path: Path) -> None:
    with Ledger.create(path, clock=lambda: TODAY) as ledger:
        for name in ("Ann", "Bob", "Cleo", "Dan"):
            ledger.register(f"name:{name.lower()}", name)


def size(path: Path) -> int:
    """How many entries the journal of that file has."""
    with Ledger.open(path) as ledger:
        return ledger.journal.size()


def approve(ledger: Ledger, *changes: Change, reason: str = "the scoresheet") -> list[Receipt]:
    """Propose changes and approve them."""
    proposed = ledger.propose(changes, reason=reason, by="eve")
    return ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")


def ask(ledger: Ledger, verb: str, **words: str) -> Change:
    """The change that a verb with its words means; ``from_`` stands for ``from``."""
    return ledger.corrections.verbs.change(verb, {name.rstrip("_"): word for name, word in words.items()})


def by_key(ledger: Ledger, wanted: Iterable[str] = ("outcome", "reason")) -> dict[str, tuple[Any, ...]]:
    """Columns of the games as they stand, by key."""
    ledger.ensure_up_to_date()
    return {row["key"]: tuple(row[name] for name in wanted) for row in ledger.rows("games")}


def ratings(ledger: Ledger) -> dict[int, tuple[int, float]]:
    """By player the number of rated games and the rating, to the bit."""
    ledger.ensure_up_to_date()
    return {row["player"]: (row["n"], row["rating"]) for row in ledger.rows("current")}


def rebuilt(ledger: Ledger) -> dict[str, list[dict[str, Any]]]:
    """Every table of views that were built anew from the same journal."""
    with Ledger.open(ledger.path, clock=lambda: TODAY) as other:
        other.rebuild()
        return tables(other)


def tables(ledger: Ledger) -> dict[str, list[dict[str, Any]]]:
    """Every table of the views as they stand."""
    ledger.ensure_up_to_date()
    names = [name for name in ledger.database().table_names() if name not in {"progress", "projections", RATING_BOUNDS}]
    return {name: list(ledger.rows(name)) for name in names}
