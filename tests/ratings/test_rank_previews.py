"""The places that a preview tells where last rows do not say who stands where are those of the ranking that comes."""

from collections.abc import Callable, Iterator

import pytest

from ledger.book.timeline import BEGINNING
from ledger.facts.changes import AnnulmentScope, Change
from ledger.facts.events import Decision, SchemeAdopted
from ledger.facts.words import Carry
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings.player_states import PlayerStates
from tests.kit.clubs import NOW
from tests.kit.games import scheme_adopted, source_games
from tests.kit.impacts import check, standings

GAMES = 160
POOLS: dict[str, tuple[str, list[SchemeAdopted]]] = {
    "two schemes": ("elo", [scheme_adopted("chessworld", effective_from="2012")]),
    "begun anew": ("elo", [scheme_adopted("lichess", effective_from="2012", carry=Carry.RESTART)]),
    "three, the last without a game": (
        "elo",
        [scheme_adopted("chessworld", effective_from="2012"), scheme_adopted("elo", effective_from="2020")],
    ),
    "changed by time": ("ecf-monthly", []),
    "another by time": ("chessmetrics", []),
    "not everybody listed": ("fide", [scheme_adopted("glicko2", effective_from="2012")]),
}
CHANGES: dict[str, Callable[[Ledger, list[str]], list[Change]]] = {
    "the last game": lambda ledger, keys: [ledger.corrections.drafts.annul(keys[-1])],
    "one early and one late": lambda ledger, keys: [ledger.corrections.drafts.annul(key) for key in keys[5::120]],
    "all of a player": lambda ledger, keys: [ledger.corrections.drafts.annul_games(2, AnnulmentScope.ALL)],  # noqa: ARG005
    "an account": lambda ledger, keys: [  # noqa: ARG005
        ledger.corrections.drafts.close_account(3, "2014"),
        ledger.corrections.drafts.merge(4, 5),
    ],
    "another scheme": lambda ledger, keys: [  # noqa: ARG005
        ledger.corrections.drafts.add(scheme_adopted("elo", effective_from="2016"))
    ],
}


@pytest.fixture(name="ranked_otherwise", params=POOLS)
def _ranked_otherwise(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    first, later = POOLS[request.param]
    path = tmp_path_factory.mktemp("ranks") / "club.db"
    with Ledger.create(path, scheme=first, clock=lambda: NOW) as ledger:
        ledger.append_many(later)
        ledger.import_games(batch_games(source_games(GAMES), GAMES))
        ledger.catch_up()
        yield ledger


@pytest.mark.parametrize("change", CHANGES)
def test_places_are_those_of_the_ranking_that_comes(change: str, ranked_otherwise: Ledger) -> None:
    ledger = ranked_otherwise
    assert PlayerStates(ledger.views.connection, ledger.pool()).rows_current_since_ms > BEGINNING
    rated = ledger.rows("games", "reason IS NULL ORDER BY rated_ms, position")
    changes = CHANGES[change](ledger, [f"game:{row['key']}" for row in rated])
    before, impact = standings(ledger), ledger.preview(changes)
    ledger.decide(ledger.propose(changes, reason="because", by="eve").proposal, Decision.APPROVED, by="adam")
    check(impact, before, standings(ledger))
    assert any(side.rank for move in impact.moves for side in (move.before, move.after) if side)
