"""Where everybody begins anew, HERA counts from the new system's 50th game on; one that was reached before is kept."""

from pathlib import Path

import pytest

from ledger.answers import achievements, players
from ledger.answers.rows import as_row, as_rows
from ledger.audit.audit import audit
from ledger.facts.events import Decision, Event
from ledger.facts.words import Carry
from ledger.ledger import Ledger
from tests.kit.clubs import NAME, NOW
from tests.kit.games import game_recorded, scheme_adopted, seeded

RESTART = "2021-03-01"
OLD, NEW = 60, 55  # rated games before and after


def club(folder: Path, carry: Carry, *, late: bool = False, games_before: int | None = None) -> Ledger:
    """Ann meets Bob every hour: from January on under Elo, from March on under another one."""
    ledger = Ledger.create(folder / NAME, scheme="elo", clock=lambda: NOW)
    for number, name in enumerate(("Ann", "Bob"), 1):
        ledger.register(f"name:{name.lower()}", name)
        if games_before is not None:
            ledger.append(seeded(number, "1500", games=games_before, effective_at="2020-01-01"))
    adoption = scheme_adopted("chessworld", effective_from=RESTART, carry=carry)
    games = [
        game_recorded(f"{key}{n}", ended_at=f"2021-{month}-{1 + n // 24:02}T{n % 24:02}:00:00Z", half_moves=60)
        for key, month, count in (("old", "01", OLD), ("new", "03", NEW))
        for n in range(count)
    ]
    facts: list[Event] = [*games, adoption] if late else [adoption, *games]
    for start in range(0, len(facts), 25):
        ledger.append_many(facts[start : start + 25])
        ledger.ensure_up_to_date()
    return ledger


def first_that_counts(ledger: Ledger) -> list[int]:
    """By scheme, the first game after which a highest rating of Ann counted."""
    rows = list(ledger.rows("highest_lowest", "player = 1 AND highest_n > 0 ORDER BY n"))
    found: dict[int, int] = {}
    for row in rows:
        found.setdefault(row["era"], row["n"])
    return list(found.values())


@pytest.mark.parametrize("late", [False, True])
def test_the_fifty_games_are_those_of_the_new_system(late: bool, tmp_path: Path) -> None:
    with club(tmp_path, Carry.RESTART, late=late) as ledger:
        assert first_that_counts(ledger) == [50, OLD + 50]
        rows = {row["n"]: row for row in ledger.rows("history", "player = 1")}
        before = rows[OLD]
        assert before["hera_n"] == OLD
        for n in range(OLD + 1, OLD + 50):  # provisional: nothing of them counts
            assert (rows[n]["hera"], rows[n]["hera_n"]) == (before["hera"], OLD)
        assert max(rows[n]["rating"] for n in range(OLD + 1, OLD + 50)) > before["hera"]
        assert rows[OLD + 50]["hera_n"] == OLD + 50
        assert audit(ledger.path).falsehoods == ()
        ledger.rebuild()
        assert {row["n"]: row for row in ledger.rows("history", "player = 1")} == rows
        shown = as_row(players.summary(ledger, ledger.player("Ann")))
        assert shown["hera_scheme"] == "chessworld"


def test_with_ratings_that_are_kept_games_go_on_counting(tmp_path: Path) -> None:
    with club(tmp_path, Carry.KEEP) as ledger:
        assert first_that_counts(ledger) == [50, OLD + 1]


def test_games_that_a_seed_tells_of_count_in_the_new_system_too(tmp_path: Path) -> None:
    with club(tmp_path, Carry.RESTART, games_before=45) as ledger:
        assert first_that_counts(ledger) == [5, OLD + 5]


def test_a_restart_that_is_taken_back_gives_the_games_back(tmp_path: Path) -> None:
    with club(tmp_path, Carry.RESTART) as ledger:
        change = ledger.corrections.verbs.change("take-back", {"fact": f"scheme:standard@{RESTART}"})
        proposed = ledger.propose([change], reason="wrong", by="eve")
        ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
        ledger.ensure_up_to_date()
        assert first_that_counts(ledger) == [50]
        assert {row["games_before"] for row in ledger.rows("history")} == {0}
        undone = ledger.propose([ledger.corrections.drafts.undo(1)], reason="right", by="eve")
        ledger.decide(undone.proposal, Decision.APPROVED, by="adam")
        ledger.ensure_up_to_date()
        assert first_that_counts(ledger) == [50, OLD + 50]
        assert audit(ledger.path).falsehoods == ()


def test_best_names_the_highest_rating_of_each_system(tmp_path: Path) -> None:
    with club(tmp_path, Carry.RESTART) as ledger:
        rows = [
            row for row in as_rows(achievements.achievements(ledger, ledger.player("Ann"))) if row["what"] == "highest"
        ]
        assert [row["scheme"] for row in rows] == ["chessworld", "elo"]
        assert [row["other_system"] for row in rows] == [False, True]
