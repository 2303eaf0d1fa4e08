"""Games that wait for a rating run are rated as of the last of them, whatever becomes of that one."""

from pathlib import Path

import attrs
import pytest

from ledger.facts.changes import Change, Verb
from ledger.facts.events import Decision
from ledger.facts.words import Outcome
from ledger.ledger import Ledger
from ledger.schemes import built_in_names, find_scheme
from tests.kit.clubs import NAME, NOW
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.lived_histories import all_rows

BY_RUNS = [name for name in built_in_names() if "by_runs" in attrs.fields_dict(find_scheme(name).settings)]
FIRST = [
    game_recorded(
        f"a{day}", white=3, black=4, ended_at=f"2019-01-0{day}", half_moves=60, outcome=Outcome.WHITE, white_rating=1500
    )
    for day in range(1, 7)
]
LAST = game_recorded("last", ended_at="2020-02-26", half_moves=60)


def taken_out(ledger: Ledger, way: str) -> None:
    """Take the last game out of the games that wait."""
    entry = ledger.journal.find(["game:last"])["game:last"].position
    told: dict[str, tuple[dict[str, object], dict[str, object]]] = {
        "told as unrated": ({"rated": True}, {"rated": False}),
        "told of the year before the others": ({"ended_at": "2020-02-26"}, {"ended_at": "2018-02-26"}),
        "told of another pool": ({"pool": "standard"}, {"pool": "rapid"}),
    }
    if way in told:
        expects, facts = told[way]
        change = Change(do=Verb.REPLACE, fact="game:last", entry=entry, expects=expects, facts=facts)
    else:
        change = Change(do=Verb.ANNUL, fact="game:last", entry=entry)
    number = ledger.propose([change], reason="a slip", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    if way == "annulled and restored":
        undo = ledger.propose([Change(do=Verb.UNDO, proposal=number)], reason="no slip", by="eve").proposal
        ledger.decide(undo, Decision.APPROVED, by="adam")


@pytest.mark.parametrize("scheme", BY_RUNS)
@pytest.mark.parametrize(
    "way",
    [
        "annulled",
        "annulled and restored",
        "told as unrated",
        "told of the year before the others",
        "told of another pool",
    ],
)
def test_where_the_last_game_is_taken_out_the_others_are_rated_as_of_the_one_before(
    scheme: str, way: str, tmp_path: Path
) -> None:
    with Ledger.create(tmp_path / NAME, scheme=scheme, settings={"by_runs": True}, clock=lambda: NOW) as ledger:
        for number in range(1, 5):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append(scheme_adopted("elo", pool="rapid"))
        ledger.append_many([*FIRST, LAST])
        ledger.ensure_up_to_date()
        taken_out(ledger, way)
        ledger.ensure_up_to_date()
        stepwise = all_rows(ledger)
        ledger.rebuild()
        assert all_rows(ledger) == stepwise
