"""``explain`` shows the opponents' ratings that a formula took, also of who had none before, and the rule used."""

import json
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.clubs import NAME, NOW
from tests.kit.commands import Run
from tests.kit.games import game_recorded, seeded

NEW = 3


def explained(run: Run, path: Path, player: int, game: str) -> dict[str, object]:
    done = run("explain", path, str(player), game)
    assert done.code == 0, done.err
    answer: dict[str, object] = json.loads(done.out)
    return answer


def club(path: Path, scheme: str, *ratings: str) -> Ledger:
    ledger = Ledger.create(path / NAME, scheme=scheme, clock=lambda: NOW)
    for number in (1, 2, NEW):
        ledger.register(f"id:{number}", f"P{number}")
    for number, rating in enumerate(ratings, 1):
        ledger.append(seeded(number, rating, games=200, effective_at="2021-01-01"))
    return ledger


def test_ecf_shows_the_estimate_of_an_opponent_who_had_no_rating(tmp_path: Path, run: Run) -> None:
    with club(tmp_path, "ecf-monthly", "1900", "1800") as ledger:
        for day, (white, black) in enumerate(((1, NEW), (2, NEW), (1, 2)), 1):
            ledger.append(game_recorded(f"g{day}", white=white, black=black, ended_at=f"2021-05-0{day}", half_moves=60))
        ledger.level()
    answer = explained(run, tmp_path / NAME, 1, "g1")
    by_name = {met["opponent"]: met["rating"] for met in answer["meetings"]}  # type: ignore[attr-defined]
    assert by_name["P2"] == 1800.0
    assert by_name["P3"] > 1000.0  # of pass 2; before the list there was none
    terms = {term["symbol"]: term["value"] for term in answer["terms"]}  # type: ignore[attr-defined]
    assert terms["W"] == 1.0 + 0.5  # P3 is rated partially: half of the game counts
    newcomer = explained(run, tmp_path / NAME, NEW, "g1")
    assert [met["rating"] for met in newcomer["meetings"]] == [1900.0, 1800.0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("declared", [True, False])
def test_us_chess_names_the_rule_by_which_2801_stays(declared: bool, tmp_path: Path, run: Run) -> None:
    with club(tmp_path, "uschess", *(() if declared else ("2801",))) as ledger:
        if declared:
            ledger.registry.learn(1, declared_rating=2801, since="2021-01-01", actor="eve")
        ledger.append(seeded(2, "2700", games=20, effective_at="2021-01-01"))
        for day in range(1, 4):
            ledger.append(
                game_recorded(f"g{day}", black=2, ended_at=f"2021-05-0{day}", half_moves=60, tournament="Open")
            )
        ledger.level()
    answer = explained(run, tmp_path / NAME, 1, "g1")
    if declared:
        assert answer["after"] == 2801.0
        words = "the special formula gives 2700 at most, and who was rated higher before keeps that rating, 2801"
        assert str(answer["rounding"]).startswith(words)
    assert all(met["rating"] > 0 for met in answer["meetings"])  # type: ignore[attr-defined]
