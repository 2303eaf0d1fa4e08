"""Where tokens are set up the library asks for them as the commands do: to record, set policies, publish, erase."""

from collections.abc import Callable

import polars as pl
import pytest

from ledger.errors import RejectedError
from ledger.facts.events import Role
from ledger.facts.source_games import player_schema
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded, source_game

LISTED = pl.DataFrame([{"line": 1, "identity": "id:9", "name": "Zoe"}], schema=dict(player_schema()))
Act = Callable[[Ledger, str | None], object]
ACTS: dict[str, tuple[Role, Act]] = {
    "append": (Role.RECORDER, lambda ledger, token: ledger.append(game_recorded("g1"), token=token)),
    "append many": (Role.RECORDER, lambda ledger, token: ledger.append_many([game_recorded("g1")], token=token)),
    "register": (Role.RECORDER, lambda ledger, token: ledger.register("id:9", "Zoe", token=token)),
    "rename": (Role.RECORDER, lambda ledger, token: ledger.rename(1, "Anna", token=token)),
    "learn": (
        Role.RECORDER,
        lambda ledger, token: ledger.registry.learn(1, birth_year=1990, actor="ledger", token=token),
    ),
    "players": (Role.RECORDER, lambda ledger, token: ledger.registry.take_list([LISTED], actor="ledger", token=token)),
    "import": (
        Role.RECORDER,
        lambda ledger, token: ledger.import_games(batch_games([source_game("g1", ended_at="2026-11-01")]), token=token),
    ),
    "erase": (Role.APPROVER, lambda ledger, token: ledger.erase(2, token=token)),
    "policy": (Role.APPROVER, lambda ledger, token: ledger.policies.set("upsets", {"margin": 100}, token=token)),
    "publish": (Role.APPROVER, lambda ledger, token: ledger.publications.publish("2026-11", token=token)),
    "erase reasons": (Role.APPROVER, lambda ledger, token: ledger.corrections.erase_reasons(1, token=token)),
}


@pytest.mark.parametrize("name", ACTS)
def test_without_the_token_of_the_role_nothing_is_done(name: str, club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    role, act = ACTS[name]
    ledger.append(game_recorded("g0", ended_at="2026-10-01", half_moves=60))
    drafts = ledger.corrections.drafts
    ledger.propose([drafts.annul("game:g0")], reason="why", by="eve")
    other, token = ledger.tokens.add("adam", [Role.AUDITOR]), ledger.tokens.add("eve", [role])
    size, reason = ledger.journal.size(), ledger.corrections.proposal(1).reason
    for shown, rule in ((None, "needs-a-token"), (other, "not-this-role"), (f"{token}x", "unknown-token")):
        with pytest.raises(RejectedError) as caught:
            act(ledger, shown)
        assert caught.value.rule == rule
    assert (ledger.journal.size(), ledger.corrections.proposal(1).reason) == (size, reason)
    assert [row.rule for row in ledger.tokens.log()] == ["needs-a-token", "not-this-role", "unknown-token"]
    if name == "publish":
        act_despite(ledger, token)
    else:
        act(ledger, token)
    if name != "erase reasons":
        assert ledger.journal.size() == size + 1
        assert [entry.actor for entry in ledger.entries(last=1)] == ["eve"]


def act_despite(ledger: Ledger, token: str) -> None:
    """Publish though a proposal is open."""
    ledger.publications.publish("2026-10", token=token, despite_complaints=True)


def test_who_records_without_a_token_is_a_word_where_nobody_holds_that_role(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.tokens.add("eve", [Role.APPROVER])
    assert club_of_two.ledger.append(game_recorded("g1"), actor="site").position


def test_a_recorders_token_names_nobody_else(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    token = ledger.tokens.add("eve", [Role.RECORDER])
    with pytest.raises(RejectedError) as caught:
        ledger.append(game_recorded("g1"), actor="adam", token=token)
    assert caught.value.rule == "not-this-name"
    ledger.append(game_recorded("g1"), actor="eve", token=token)
    assert ledger.log("g1")[0].actor == "eve"


def test_before_there_is_an_approver_a_token_names_who_issues_another(club_of_two: ClubOfTwo) -> None:
    tokens = club_of_two.ledger.tokens
    tokens.add("bob", [Role.AUDITOR], token=tokens.add("eve", [Role.RECORDER]))
    issued = {entry.facts["person"]: entry.actor for entry in club_of_two.ledger.entries("token-issued")}
    assert issued["bob"] == "eve" != issued["eve"]
