"""What may not be proposed or decided: each rule provoked, named, all faults at once, the journal untouched."""

from collections.abc import Callable

import attrs
import pytest

from ledger.book.proposal_judge import RULES
from ledger.errors import LedgerError, MalformedError, ProposalError
from ledger.facts.changes import AnnulmentScope, Change, Verb
from ledger.facts.events import Decision, RoundWithoutGame, SchemeAdopted
from ledger.facts.words import Brings, Outcome, Termination
from ledger.journal import rules
from ledger.ledger import Ledger
from tests.kit.corrections import ANN, BOB, CLEO, DAN, approve, ask, by_key, ratings
from tests.kit.games import game_recorded

Provoke = Callable[[Ledger], object]
DECIDED = {"approve": Decision.APPROVED, "reject": Decision.REJECTED, "withdraw": Decision.WITHDRAWN}


def propose(*changes: Change, reason: str = "the scoresheet") -> Provoke:
    return lambda four: four.propose(changes, reason=reason, by="eve")


def verb(name: str, **words: str) -> Provoke:
    return lambda four: four.propose([ask(four, name, **words)], reason="the scoresheet", by="eve")


def decide(decision: str, by: str = "adam", number: int = 1, seen: int | None = None) -> Provoke:
    return lambda four: four.decide(number, DECIDED[decision], by=by, seen=seen)


def first(*provoke: Provoke) -> Provoke:
    """One after the other: all but the last are in order."""

    def run(four: Ledger) -> object:
        for step in provoke[:-1]:
            step(four)
        return provoke[-1](four)

    return run


VOID_G1 = Change(do=Verb.ANNUL, fact="game:g1", entry=6)
DRAWN = Change(do=Verb.REPLACE, fact="game:g1", entry=6, expects={"outcome": "white"}, facts={"outcome": "draw"})
LOST = Change(do=Verb.REPLACE, fact="game:g1", entry=6, expects={"outcome": "white"}, facts={"outcome": "black"})

# Rule -> what provokes it, and how its message begins.
CASES: dict[str, list[tuple[Provoke, str]]] = {
    "no-reason": [
        (propose(DRAWN, reason=""), "a reason is missing"),
        (propose(DRAWN, reason="x" * 1001), "must be 1 to 1000 characters"),
    ],
    "nothing-proposed": [(propose(), "nothing is proposed")],
    "no-such-fact": [
        (propose(Change(do=Verb.ANNUL, fact="game:g99", entry=6)), "the journal holds no 'game:g99' at entry 6"),
        (propose(Change(do=Verb.ANNUL, fact="game:g1", entry=7)), "the journal holds no 'game:g1' at entry 7"),
    ],
    "no-such-player": [
        (propose(Change(do=Verb.MERGE, player=9, into=1)), "player 9 was never registered"),
        (propose(Change(do=Verb.MERGE, player=1, into=9)), "player 9 was never registered"),
        (propose(Change(do=Verb.ANNUL_GAMES, player=9, which=AnnulmentScope.ALL)), "player 9 was never registered"),
    ],
    "no-such-tournament": [
        (verb("void-tournament", tournament="Closed"), "tournament 'Closed' of pool 'standard' has no games"),
        (
            verb("void-tournament", tournament="Opne"),
            "tournament 'Opne' of pool 'standard' has no games; did you mean 'Open'? names are matched whole",
        ),
        (verb("void-tournament", tournament="Open", pool="rapid"), "tournament 'Open' of pool 'rapid' has no games"),
        (verb("void-tournament", tournament="Open", from_="2027"), "tournament 'Open' of pool 'standard' has no games"),
    ],
    "no-such-proposal": [
        (verb("undo", proposal="7"), "there is no proposal 7"),
        (decide("approve", number=7), "there is no proposal 7"),
    ],
    "not-correctable": [
        (verb("take-back", fact="scheme:standard@start"), "'scheme:standard@start' cannot be taken back"),
        (verb("take-back", fact="player:1"), "'player:1' cannot be taken back"),
        (
            verb("fact", fact="scheme:standard@start", field="effective_from", to="2026"),
            "effective_from of 'scheme:standard@start' cannot be corrected; what can is",
        ),
        (verb("fact", fact="player:1", field="player", to="2"), "player of 'player:1' cannot be corrected"),
    ],
    "stale": [
        (
            propose(Change(do=Verb.REPLACE, fact="game:g1", entry=6, expects={"outcome": "draw"},
                           facts={"outcome": "black"})),
            "outcome of 'game:g1' is 'white', not 'draw'",
        ),
        (first(propose(DRAWN), propose(LOST), decide("approve"), decide("approve", number=2)),
         "outcome of 'game:g1' is 'draw', not 'white'; look at it again (this was in order when it was proposed"),
        (first(propose(VOID_G1), propose(VOID_G1, reason="once more"), decide("approve"), decide("approve", number=2)),
         "'game:g1' was annulled by proposal 1 already (this was in order when it was proposed"),
        (propose(Change(do=Verb.PART, player=1, into=2)), "player 1 is not merged into 2 now"),
    ],
    "changes-nothing": [
        (verb("result", game="g1", to="1-0"), "'game:g1' says so already: outcome='white'"),
        (verb("reinstate", game="g1"), "'game:g1' stands"),
        (first(lambda four: approve(four, VOID_G1), verb("void", game="g1")), "'game:g1' was annulled by proposal 1"),
        (verb("annul", player="Ann", which="all", from_="2027"), "player 1 has no rated game from 2027 that stands"),
        (verb("annul", player="Dan", which="losses", until="2026-11-04"),
         "player 4 has no rated game that the opponent lost until 2026-11-04 that stands"),
        (verb("reinstate-tournament", tournament="Open"), "no game of tournament 'Open' of pool 'standard' is voided"),
    ],
    "conflicting": [
        (propose(DRAWN, LOST), "change 1 and change 2 both change outcome of 'game:g1'"),
        (propose(VOID_G1, VOID_G1), "change 1 and change 2 both change itself of 'game:g1'"),
    ],
    "circular": [
        (first(lambda four: approve(four, Change(do=Verb.MERGE, player=ANN, into=BOB)),
               verb("merge", player="Bob", into="Ann")), "player 1 is merged into player 2 already"),
        (propose(Change(do=Verb.MERGE, player=ANN, into=BOB), Change(do=Verb.MERGE, player=BOB, into=ANN)),
         "players [1, 2] would be merged into each other in a ring"),
        (propose(Change(do=Verb.MERGE, player=ANN, into=ANN)), "player 1 cannot be merged into itself; give"),
    ],
    "already-merged": [
        (first(lambda four: approve(four, Change(do=Verb.MERGE, player=ANN, into=BOB)),
               propose(Change(do=Verb.MERGE, player=ANN, into=CLEO))), "player 1 is merged into player 2 already; "),
    ],
    "bad-value": [
        (verb("game", game="g1", field="ended_at", to="2026-02-30"), "'game:g1' may not stand so: ended_at"),
        (verb("game", game="g1", field="half_moves", to="-1"), "'game:g1' may not stand so: half_moves"),
        (verb("fact", fact="player:1", field="standing", to="lord"), "'player:1' may not stand so: expected one of"),
        (first(lambda four: approve(four, ask(four, "close", player="Ann", from_="2026-11-10")),
               lambda four: approve(four, ask(four, "take-back", fact="player:1@2026-11-10")),
               verb("fact", fact="player:1@2026-11-10", field="standing", to="lord")),
         "'player:1@2026-11-10' may not stand so: expected one of"),
        (verb("annul", player="Ann", which="all", from_="2026-11-05", until="2026-11-01"),
         "from 2026-11-05 until 2026-11-01 is no time at all"),
        (propose(Change(do=Verb.ADD, fact="game:x", kind="game-recorded/1", facts={"game": "x"})),
         "'game:x' may not be recorded so: required field missing"),
        (propose(Change(do=Verb.ADD, fact="game:x", kind="born-anew/1", facts={"a": 1})), "'game:x' may not be recor"),
    ],
    "impossible-ending": [
        (verb("game", game="g1", field="termination", to="agreement"),
         "'game:g1': a win of White does not end by agreement; correct both in one proposal: 'result GAME --to"),
        (verb("result", game="g4", to="1-0", termination="stalemate"), "'game:g4': a win of White does not end by sta"),
        (first(lambda four: approve(four, ask(four, "game", game="g1", field="termination", to="resignation")),
               propose(Change(do=Verb.REPLACE, fact="game:g1", entry=6, expects={"outcome": "white"},
                              facts={"outcome": "draw"}))), "'game:g1': a draw does not end by resignation"),
        (verb("result", game="g1", to="*", termination="time"), "'game:g1': a game without a result does not end by"),
        (first(lambda four: approve(four, ask(four, "game", game="g1", field="termination", to="time")),
               propose(Change(do=Verb.REPLACE, fact="game:g1", entry=6, expects={"outcome": "white"},
                              facts={"outcome": "draw"}))), "'game:g1' was not drawn, and would be a draw by time"),
        (first(propose(DRAWN), verb("game", game="g1", field="termination", to="checkmate"), decide("approve"),
               decide("approve", number=2)), "'game:g1': a draw does not end by checkmate; correct both in one"),
        (first(lambda four: approve(four, ask(four, "game", game="g1", field="half_moves", to="3")),
               verb("game", game="g1", field="termination", to="checkmate")), "'game:g1': checkmate takes 4 "),
        (first(lambda four: approve(four, ask(four, "game", game="g1", field="termination", to="checkmate")),
               verb("game", game="g1", field="half_moves", to="0")), "'game:g1': checkmate takes 4 half-moves or more"),
        (verb("game", game="g1", field="termination", to="unplayed"), "'game:g1': a game that was never played has"),
        (verb("late", white="Ann", black="Bob", to="1/2-1/2", ended="2026-11-09", termination="resignation"),
         "'game:late:"),
        (first(lambda four: approve(four, ask(four, "void", game="g1")),
               verb("game", game="g1", field="termination", to="agreement")), "'game:g1': a win of White does not"),
    ],
    "exists-already": [
        (propose(Change(do=Verb.ADD, fact="game:g1", kind="game-recorded/1", facts={"game": "g1"})),
         "'game:g1' was recorded at entry 6; correct that one"),
    ],
    "already-decided": [
        (first(propose(DRAWN), decide("reject"), decide("approve")), "proposal 1 was rejected by 'adam' at entry"),
        (first(propose(DRAWN), decide("approve"), decide("withdraw", by="eve")), "proposal 1 was approved by 'adam'"),
    ],
    "not-approved": [
        (first(propose(DRAWN), verb("undo", proposal="1")), "proposal 1 is open"),
        (first(propose(DRAWN), decide("reject"), verb("undo", proposal="1")), "proposal 1 was rejected"),
        (first(propose(DRAWN), decide("approve"), lambda four: approve(four, ask(four, "undo", proposal="1")),
               verb("undo", proposal="1")), "proposal 1 was undone already"),
    ],
    "not-the-proposer": [(first(propose(DRAWN), decide("withdraw")), "proposal 1 was made by 'eve', not by 'adam'")],
    "four-eyes": [
        (first(lambda four: four.policies.set("four-eyes", {"on": True}, actor="admin"), propose(DRAWN),
               decide("approve", by="eve")), ""),
    ],
    "unseen-entries": [
        (first(propose(DRAWN), decide("approve", seen=3)), "the impact was looked at with 3 entries, 13 are there"),
    ],
    # Rules of the journal that a corrected fact would break.
    "same-player": [(verb("reassign", game="g1", player="Ann", to="Bob"), "'game:g1': White and Black are both")],
    "ended-before-start": [
        (first(lambda four: approve(four, ask(four, "game", game="g1", field="started_at", to="2026-11-01")),
               verb("game", game="g1", field="ended_at", to="2026-10-31")), "'game:g1': ended at 2026-10-31"),
    ],
    "ended-in-the-future": [(verb("game", game="g1", field="ended_at", to="2030"), "'game:g1': ended at 2030")],
    "unknown-pool": [(verb("game", game="g1", field="pool", to="rapid"), "'game:g1': no scheme was adopted for pool")],
    "unknown-player": [
        (propose(Change(do=Verb.REPLACE, fact="game:g1", entry=6, expects={"white": ANN}, facts={"white": 9})),
         "'game:g1': player 9 was never registered"),
    ],
    "unknown-scheme": [
        (verb("fact", fact="scheme:standard@start", field="scheme", to="guess"), "'scheme:standard@start': no scheme"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "provoke", "message"), [(rule, *case) for rule, cases in CASES.items() for case in cases]
)
def test_it_is_refused_by_name_and_nothing_is_recorded(rule: str, provoke: Provoke, message: str, four: Ledger) -> None:
    sizes: list[int] = []
    append = four._recorder.append_judged

    def counted(*given: object) -> object:
        sizes.append(four.journal.size())
        return append(*given)  # type: ignore[arg-type]

    four._recorder.append_judged = counted  # type: ignore[method-assign, assignment]
    with pytest.raises(ProposalError) as caught:
        provoke(four)
    assert caught.value.rule == rule
    assert caught.value.refusals[0].message.startswith(message)
    assert str(caught.value).startswith(f"{rule}: ")
    assert four.journal.size() == sizes[-1]


def test_every_rule_is_provoked() -> None:
    assert RULES.keys() <= CASES.keys()


def test_all_faults_are_told_at_once_each_with_its_change(four: Ledger) -> None:
    changes = [DRAWN, Change(do=Verb.UNDO, proposal=7), Change(do=Verb.MERGE, player=9, into=1)]
    with pytest.raises(ProposalError) as caught:
        four.propose(changes, reason="x", by="eve")
    assert [(refusal.number, refusal.rule) for refusal in caught.value.refusals] == [
        (2, "no-such-proposal"),
        (3, "no-such-player"),
    ]
    assert len(str(caught.value).splitlines()) == 2


def test_open_proposals_about_one_fact_are_shown_to_each_other(four: Ledger) -> None:
    assert four.propose([DRAWN], reason="x", by="eve").related == ()
    assert four.propose([LOST], reason="y", by="bea").related == (1,)
    shown = {known.proposal.proposal: known for known in four.corrections.proposals()}
    assert (shown[1].related, shown[2].related) == ((2,), (1,))
    four.decide(2, Decision.REJECTED, by="adam", reason="the first is right")
    assert [known.state for known in four.corrections.proposals()] == ["open", "rejected"]
    assert [known.related for known in four.corrections.proposals(open_only=True)] == [()]
    assert [each.proposal for each in four.corrections.stored()] == [1, 2]
    assert [each.proposal for each in four.corrections.stored(open_only=True)] == [1]
    assert four.corrections.proposal(2).decision_reason == "the first is right"


@pytest.mark.slow
def test_a_proposal_of_many_changes_stands_in_parts_under_one_decision(four: Ledger) -> None:
    late = {"white": ANN, "black": DAN, "ended_at": "2026-11-15", "half_moves": 40}
    four.append_many([game_recorded(f"m{n}", **late) for n in range(450)])
    changes = [four.corrections.drafts.annul(f"game:m{n}") for n in range(450)]
    proposed = four.propose(changes, reason="a test event", by="eve")
    assert len(proposed.receipts) == 3
    plain = ratings(four)
    four.decide(1, Decision.APPROVED, by="adam")
    assert ratings(four) != plain
    assert len(four.corrections.proposal(1).changes) == 450


def test_an_undo_that_would_leave_what_may_not_be_is_refused(four: Ledger) -> None:
    approve(four, ask(four, "game", game="g1", field="ended_at", to="2026-11-05"))
    approve(four, ask(four, "game", game="g1", field="started_at", to="2026-11-04"))
    with pytest.raises(ProposalError, match="ended-before-start"):
        approve(four, ask(four, "undo", proposal="1"))
    approve(four, ask(four, "undo", proposal="1"), ask(four, "undo", proposal="2"))


@pytest.mark.parametrize(
    ("rule", "field", "to"),
    [("unknown-pool", "pool", "blits"), ("unknown-player", "white", 99), ("ended-in-the-future", "ended_at", "2999")],
)
def test_a_voided_game_is_corrected_to_nothing_that_no_game_may_be(
    rule: str, field: str, to: str | int, four: Ledger
) -> None:
    approve(four, ask(four, "void", game="g1"))
    with pytest.raises(ProposalError, match=f"{rule}: 'game:g1'"):
        approve(four, four.corrections.drafts.replace("game:g1", {field: to}))
    approve(four, ask(four, "game", game="g1", field="ended_at", to="2026-11-02"))
    four.rebuild()
    assert by_key(four, ("ended_at", "reason"))["g1"] == ("2026-11-02", "voided")


def test_an_adoption_that_was_taken_back_is_given_no_scheme_that_there_is_not(four: Ledger) -> None:
    adoption = SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-11-03")
    four.append(adoption)
    approve(four, four.corrections.drafts.annul(adoption.key))
    with pytest.raises(ProposalError, match="unknown-scheme"):
        approve(four, four.corrections.drafts.replace(adoption.key, {"scheme": "eloh"}))
    four.rebuild()


def test_a_game_that_came_back_with_its_tournament_can_be_voided_again(four: Ledger) -> None:
    approve(four, ask(four, "void", game="g2"))
    approve(four, ask(four, "reinstate-tournament", tournament="Open"))
    assert by_key(four)["g2"] == ("white", None)
    with pytest.raises(ProposalError, match="changes-nothing: 'game:g2' stands; there is nothing to restore"):
        four.propose([ask(four, "reinstate", game="g2")], reason="x", by="eve")
    approve(four, ask(four, "void", game="g2"))
    assert by_key(four)["g2"] == ("white", "voided")


def undone_twice(four: Ledger, change: Change, meanwhile: Callable[[], object]) -> None:
    """A change is approved and undone; then, after something else, the undoing is undone: it acts again."""
    approve(four, change)
    approve(four, four.corrections.drafts.undo(1))
    meanwhile()
    approve(four, four.corrections.drafts.undo(2))


def test_the_approval_that_began_a_pool_cannot_be_undone(four: Ledger) -> None:
    drafts = four.corrections.drafts
    approve(four, drafts.add(SchemeAdopted(pool="blitz", scheme="elo", settings={})))
    with pytest.raises(ProposalError, match="not-correctable: 'scheme:blitz@start' cannot be taken back"):
        approve(four, drafts.undo(1))
    four.rebuild()
    assert [pool.name for pool in four.pools()] == ["standard", "blitz"]


def test_an_undo_of_an_undo_that_would_leave_a_scheme_with_settings_of_another_is_refused(four: Ledger) -> None:
    drafts, since = four.corrections.drafts, "scheme:standard@2026-11-03"
    four.append(SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-11-03"))
    other = drafts.replace(since, {"scheme": "lichess", "settings": {}})
    with pytest.raises(ProposalError, match=f"bad-settings: '{since}': scheme 'lichess' has no setting"):
        undone_twice(four, other, lambda: approve(four, drafts.replace(since, {"settings": {"k": 20}})))
    four.rebuild()
    assert [row["scheme"] for row in four.rows("eras")] == ["chessworld", "elo"]


def test_an_undo_of_an_undo_that_would_leave_what_no_round_may_be_is_refused(four: Ledger) -> None:
    drafts = four.corrections.drafts
    bye = RoundWithoutGame(
        pool="standard", tournament="Open", edition="2026-11-02", round=4, player=ANN, brings=Brings.ALLOTTED
    )
    four.append(bye)
    with pytest.raises(ProposalError, match="may not stand so: half_points go with what is allotted"):
        undone_twice(
            four,
            drafts.replace(bye.key, {"brings": "half"}),
            lambda: approve(four, drafts.replace(bye.key, {"half_points": 1})),
        )
    assert [row["half_points"] for row in four.rows("rounds_without_game")] == [1]


def test_an_undo_of_an_undo_that_would_bring_a_scheme_back_where_another_is_adopted_by_now_is_refused(
    four: Ledger,
) -> None:
    adoption = SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2006")
    with pytest.raises(ProposalError, match="same-instant"):
        undone_twice(
            four,
            four.corrections.drafts.add(adoption),
            lambda: four.append(attrs.evolve(adoption, effective_from="2006-01-01")),
        )


def test_result_and_ending_are_corrected_in_one_proposal_and_undone_together(four: Ledger) -> None:
    lost = ask(four, "result", game="g1", to="0-1", termination="time", half_moves="61")
    approve(four, lost)
    assert by_key(four, ("outcome", "termination", "half_moves", "time_loss"))["g1"] == ("black", "time", 61, 1)
    approve(four, ask(four, "result", game="g1", to="1/2-1/2", termination="time"))  # nobody could mate
    assert by_key(four, ("outcome", "time_loss"))["g1"] == ("draw", 0)
    approve(four, ask(four, "result", game="g1", to="1/2-1/2", termination="agreement"))
    approve(four, ask(four, "game", game="g1", field="termination", to="stalemate"))
    with pytest.raises(ProposalError, match="impossible-ending: 'game:g1': a win of Black does not end by stalemate"):
        approve(four, ask(four, "undo", proposal="2"), ask(four, "undo", proposal="3"))
    approve(four, *(ask(four, "undo", proposal=number) for number in "234"))
    assert by_key(four, ("outcome", "termination"))["g1"] == ("black", "time")


@pytest.mark.parametrize(
    ("ending", "to", "outcome", "now"),
    [
        ("resignation", "1/2-1/2", "draw", "unknown"),
        ("checkmate", "1/2-1/2", "draw", "unknown"),
        ("time", "1/2-1/2", "draw", "unknown"),
        ("resignation", "0-1", "black", "resignation"),
        ("time", "*", "none", "unknown"),
        ("time", "0-1", "black", "time"),
        ("adjudication", "1/2-1/2", "draw", "adjudication"),
    ],
)
def test_a_result_alone_leaves_an_ending_that_it_rules_out_unknown_and_shows_it(
    ending: str, to: str, outcome: str, now: str, four: Ledger
) -> None:
    approve(four, ask(four, "game", game="g1", field="termination", to=ending))
    change = ask(four, "result", game="g1", to=to)
    assert (change.facts or {}).get("termination") == (now if now != ending else None)
    approve(four, change)
    assert by_key(four, ("outcome", "termination"))["g1"] == (outcome, now)
    approve(four, ask(four, "undo", proposal="2"))
    assert by_key(four, ("outcome", "termination"))["g1"] == ("white", ending)


def test_what_a_source_told_against_itself_may_stay_and_be_come_back_to(four: Ledger) -> None:
    odd = {"ended_at": "2026-11-09", "half_moves": 40, "outcome": Outcome.DRAW, "termination": Termination.CHECKMATE}
    four.append(game_recorded("odd", **odd))
    approve(four, ask(four, "game", game="odd", field="round", to="3"))
    approve(four, ask(four, "void", game="odd"))
    approve(four, ask(four, "reinstate", game="odd"))
    approve(four, ask(four, "result", game="odd", to="1-0"))
    approve(four, ask(four, "undo", proposal="4"))
    assert by_key(four, ("outcome", "termination", "reason"))["odd"] == ("draw", "checkmate", None)


def test_what_no_fact_may_be_by_now_can_be_taken_back_and_neither_changed_nor_put_back(
    four: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal of old may hold a game that ended before it began."""
    with monkeypatch.context() as of_old:
        of_old.setattr(rules, "is_before", lambda *_: False)
        four.append(game_recorded("backwards", started_at="2026-11-09", ended_at="2026-11-08", half_moves=40))
    with pytest.raises(ProposalError, match="ended-before-start"):
        four.propose([ask(four, "game", game="backwards", field="round", to="3")], reason="x", by="eve")
    approve(four, ask(four, "void", game="backwards"))
    assert by_key(four, ("reason",))["backwards"] == ("voided",)
    with pytest.raises(ProposalError, match="ended-before-start"):
        four.propose([ask(four, "reinstate", game="backwards")], reason="x", by="eve")


def test_an_undo_after_which_a_fact_would_be_what_none_may_be_is_refused(four: Ledger) -> None:
    approve(four, ask(four, "game", game="g1", field="ended_at", to="2026-11-12"))
    approve(four, ask(four, "game", game="g1", field="started_at", to="2026-11-10"))
    with pytest.raises(ProposalError, match="ended-before-start"):
        four.propose([ask(four, "undo", proposal="1")], reason="x", by="eve")
    approve(four, ask(four, "undo", proposal="2"))
    approve(four, ask(four, "undo", proposal="1"))
    assert by_key(four, ("ended_at",))["g1"] != ("2026-11-12",)
    # what was undone by an undoing that is undone is reached as well
    with pytest.raises(ProposalError, match="ended-before-start"):
        four.propose([ask(four, "undo", proposal="3")], reason="x", by="eve")


def test_an_undo_that_would_close_a_ring_of_merges_is_refused(four: Ledger) -> None:
    approve(four, ask(four, "merge", player="Ann", into="Bob"))
    approve(four, ask(four, "undo", proposal="1"))
    approve(four, ask(four, "merge", player="Bob", into="Ann"))
    with pytest.raises(ProposalError, match="circular"):
        approve(four, ask(four, "undo", proposal="2"))


def test_a_name_that_is_none_is_refused(four: Ledger) -> None:
    with pytest.raises(MalformedError, match="actor"):
        four.propose([DRAWN], reason="x", by=" eve")
    four.propose([DRAWN], reason="x", by="eve")
    with pytest.raises(MalformedError, match="actor"):
        four.decide(1, Decision.APPROVED, by=" adam")


def test_with_four_eyes_on_a_second_person_approves(four: Ledger) -> None:
    four.policies.set("four-eyes", {"on": True}, actor="admin")
    four.propose([DRAWN], reason="x", by="eve")
    with pytest.raises(LedgerError, match="four-eyes"):
        four.decide(1, Decision.APPROVED, by="Eve")
    four.decide(1, Decision.APPROVED, by="adam")
    assert four.corrections.proposal(1).state == "approved"


def test_a_proposal_to_adopt_in_the_past_is_recorded_by_its_approval(four: Ledger) -> None:
    later = SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-11-03")
    decision, adopted = approve(four, four.corrections.drafts.add(later))
    assert adopted.position == decision.position + 1
    four.ensure_up_to_date()
    assert [row["scheme"] for row in four.rows("eras")] == ["chessworld", "elo"]
