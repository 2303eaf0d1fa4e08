"""One person who may write the folder: by the commands and calls alone no decision of theirs is proven."""

import shutil
from collections.abc import Callable

import attrs
import pytest

from ledger.audit.audit import Verdict, audit
from ledger.errors import LedgerError, ProposalError, RejectedError, UnknownNameError
from ledger.facts.changes import Change, Verb
from ledger.facts.events import CorrectionDecided, CorrectionProposed, Decision, Event, PolicySet, Role, TokenRevoked
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo
from tests.kit.tokens import issued, path_of, sealed, team
from tests.tiers import few_quick

GAME = "game:r1-b1"


@attrs.define
class Scene:
    """A ledger whose corrections need two proven people, the tokens of Adam and Eve, and an open proposal of hers."""

    club: ClubOfTwo
    tokens: dict[str, str]
    proposal: int

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.club.ledger

    def is_voided(self) -> bool:
        """Whether the proposal acts."""
        self.ledger.ensure_up_to_date()
        (row,) = self.ledger.rows("games", "key = 'r1-b1'")
        return str(row["reason"]) == "voided"

    def falsehoods(self) -> dict[str, str]:
        """Where, and in which words."""
        self.ledger.ensure_up_to_date()
        found = audit(self.club.path).falsehoods
        return {str(falsehood.position_or_key): falsehood.message for falsehood in found if "four" in falsehood.table}


@pytest.fixture
def scene(club_of_two: ClubOfTwo) -> Scene:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True, "tokens": True}, actor="admin")
    tokens = team(ledger)
    number = ledger.propose([ledger.corrections.drafts.annul(GAME)], reason="twice", token=tokens["eve"]).proposal
    return Scene(club_of_two, tokens, number)


def entry_of(ledger: Ledger, person: str) -> int:
    """Position of the entry that issued a person's last token."""
    (*_, row) = [row for row in ledger.tokens.list() if row.name == person]
    assert row.entry is not None
    return row.entry


def approval(number: int, by_token: int | None = None) -> CorrectionDecided:
    return CorrectionDecided(proposal=number, decision=Decision.APPROVED, proven=True, by_token=by_token)


def test_two_people_with_their_tokens_are_proven_by_entries(scene: Scene) -> None:
    scene.ledger.decide(scene.proposal, Decision.APPROVED, token=scene.tokens["adam"])
    kinds = ("correction-proposed", "correction-decided")
    proposed, decided = (next(iter(scene.ledger.entries(kind))) for kind in kinds)
    assert (proposed.kind, proposed.facts["by_token"]) == ("correction-proposed/2", entry_of(scene.ledger, "eve"))
    assert (decided.kind, decided.facts["by_token"]) == ("correction-decided/2", entry_of(scene.ledger, "adam"))
    assert scene.is_voided()
    assert audit(scene.club.path).falsehoods == ()
    scene.ledger.rebuild()
    assert scene.is_voided()


def test_what_was_decided_before_a_token_was_revoked_stands(scene: Scene) -> None:
    scene.ledger.decide(scene.proposal, Decision.APPROVED, token=scene.tokens["adam"])
    for name in ("eve", "adam"):
        scene.ledger.tokens.revoke(name, token=scene.tokens["adam"])
    scene.ledger.rebuild()
    assert scene.is_voided()
    assert scene.falsehoods() == {}


def test_an_expiry_is_judged_at_the_door_and_never_in_a_replay(scene: Scene) -> None:
    tokens, day = scene.ledger.tokens, scene.club.clock.now
    short = tokens.add("zoe", [Role.APPROVER], expires_at="2026-11-21", token=scene.tokens["adam"])
    scene.ledger.decide(scene.proposal, Decision.APPROVED, token=short)
    scene.club.clock.now = day.replace(day=22, hour=0)
    with pytest.raises(RejectedError, match="expired-token"):
        scene.ledger.propose([scene.ledger.corrections.drafts.undo(1)], reason="no", token=short)
    scene.ledger.rebuild()
    assert scene.is_voided()
    assert scene.falsehoods() == {}


def refuses_everything(scene: Scene, token: str | None, name: str | None = None) -> None:
    """No door lets a person decide, issue, or revoke."""
    ledger, head = scene.ledger, scene.ledger.head()
    for door in (
        lambda: ledger.decide(scene.proposal, Decision.APPROVED, by=name, token=token),
        lambda: ledger.corrections.decide(scene.proposal, Decision.APPROVED, by=name, token=token),
        lambda: ledger.tokens.add("mallory", [Role.APPROVER], by=name, token=token),
        lambda: ledger.tokens.revoke("adam", by=name, token=token),
    ):
        with pytest.raises(RejectedError):
            door()
    assert ledger.head() == head


@pytest.mark.parametrize("name", [None, "mallory", "adam", "ADAM"])
def test_a_word_is_no_proof(scene: Scene, name: str | None) -> None:
    refuses_everything(scene, None, name)


def test_a_token_of_another_role_approves_nothing(scene: Scene) -> None:
    refuses_everything(scene, scene.tokens["eve"])
    refuses_everything(scene, scene.tokens["eve"], "adam")


def test_removing_the_file_begins_nothing_anew(scene: Scene) -> None:
    refuses_everything(scene, None)
    path_of(scene.ledger.tokens).unlink()
    refuses_everything(scene, None)
    assert {row.rule for row in scene.ledger.tokens.log()} == {"needs-a-token"}
    scene.ledger.decide(scene.proposal, Decision.APPROVED, token=scene.tokens["adam"])


def test_a_file_of_another_ledger_begins_nothing_anew(scene: Scene) -> None:
    with Ledger.create(scene.club.folder / "other.db", clock=scene.club.clock) as other:
        foreign = other.tokens.add("adam", [Role.APPROVER])
        other.tokens.sign_in(foreign, "the bar")
    shutil.copyfile(scene.club.folder / "other.tokens.db", path_of(scene.ledger.tokens))
    refuses_everything(scene, foreign)


def test_a_revoked_token_approves_nothing(scene: Scene) -> None:
    tokens = scene.ledger.tokens
    zoe = tokens.add("zoe", [Role.APPROVER], token=scene.tokens["adam"])
    tokens.revoke("zoe", token=zoe)
    refuses_everything(scene, zoe)


def test_where_the_last_approver_is_revoked_nothing_begins_anew(scene: Scene) -> None:
    scene.ledger.tokens.revoke("adam", token=scene.tokens["adam"])
    refuses_everything(scene, scene.tokens["adam"])
    refuses_everything(scene, None)
    with pytest.raises(ProposalError, match="nobody holds the token of an approver any more"):
        scene.ledger.preview(scene.proposal)


def test_a_reset_is_named_for_ever_with_what_rests_on_it(scene: Scene) -> None:
    ledger = scene.ledger
    again = ledger.tokens.reset("adam", by="mallory")
    refuses_everything(scene, scene.tokens["adam"])
    position = ledger.journal.size()
    says = f"entry {position} gave 'adam' a new token, on the word of 'mallory' and no approver's"
    assert named_resets(scene) == [says]
    decided = ledger.decide(scene.proposal, Decision.APPROVED, token=again)[0].position
    assert named_resets(scene)[0].endswith(f"; by it decided: entries {decided}")
    assert scene.is_voided()


def named_resets(scene: Scene) -> list[str]:
    scene.ledger.ensure_up_to_date()
    verdict: Verdict = audit(scene.club.path)
    assert verdict.falsehoods == ()
    return [str(reset) for reset in verdict.resets]


def test_a_reset_makes_nobody_an_approver(scene: Scene) -> None:
    for name, error in (("mallory", UnknownNameError), ("eve", RejectedError)):
        with pytest.raises(error):
            scene.ledger.tokens.reset(name)


def test_what_a_correction_would_move_is_told_before_there_is_an_approver(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    change = ledger.corrections.drafts.annul(GAME)
    moves = ledger.preview([change]).moves
    ledger.policies.set("four-eyes", {"on": True, "tokens": True}, actor="admin")
    eve = ledger.tokens.add("eve", [Role.CORRECTOR])
    number = ledger.propose([change], reason="twice", token=eve).proposal
    assert [ledger.preview(number).moves, ledger.preview([change]).moves] == [moves, moves]
    assert len(moves) == 2


def test_no_proposal_touches_a_token(scene: Scene) -> None:
    drafts = scene.ledger.corrections.drafts
    taken = Change(do=Verb.ANNUL, fact="token:1", entry=entry_of(scene.ledger, "adam"))
    given = drafts.add(issued(9, "eve", Role.APPROVER))
    moved = drafts.replace("token:2", {"roles": "approver"})
    for change in (taken, given, moved):
        with pytest.raises(ProposalError, match="not-correctable"):
            scene.ledger.propose([change], reason="mine", token=scene.tokens["eve"])
    for event in (issued(9, "eve", Role.APPROVER), TokenRevoked(number=1)):
        with pytest.raises(RejectedError, match="not-by-append"):
            scene.ledger.append(event)


def test_a_token_that_is_revoked_while_it_is_used_decides_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is good at the door; before the lock is had another process revokes it."""
    ledger, adam, once = scene.ledger, scene.tokens["adam"], [True]
    append = ledger._recorder.append_judged

    def overtaken(*arguments: object) -> object:
        if once.pop() if once else False:
            with Ledger.open(scene.club.path, clock=scene.club.clock) as other:
                other.tokens.revoke("adam", token=adam)
        return append(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ledger._recorder, "append_judged", overtaken)
    with pytest.raises(RejectedError, match="revoked-token: to approve proposal 1, 'adam' is proven no longer"):
        ledger.decide(scene.proposal, Decision.APPROVED, token=adam)
    assert not scene.is_voided()
    assert scene.ledger.tokens.log()[-1].rule == "revoked-token"
    assert scene.falsehoods() == {}


def test_of_two_who_both_begin_one_is_the_approver(club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, once = club_of_two.ledger, [True]
    append = ledger._recorder.append_judged

    def overtaken(*arguments: object) -> object:
        if once.pop() if once else False:
            with Ledger.open(club_of_two.path, clock=club_of_two.clock) as other:
                other.tokens.add("adam", [Role.APPROVER])
        return append(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ledger._recorder, "append_judged", overtaken)
    with pytest.raises(RejectedError, match="needs-a-token"):
        ledger.tokens.add("mallory", [Role.APPROVER])
    assert [row.name for row in ledger.tokens.list()] == ["adam"]


def forged(scene: Scene) -> dict[str, tuple[str, list[Event], str]]:
    """By what is forged: the actor, the entries, and what the audit says of the last."""
    ledger = scene.ledger
    adam, eve, after = entry_of(ledger, "adam"), entry_of(ledger, "eve"), ledger.journal.size() + 1
    number = scene.proposal
    return {
        "no entry named": ("adam", [approval(number)], "it names no entry that issued a token"),
        "another person's": ("mallory", [approval(number, adam)], f"the token of entry {adam} is of 'adam'"),
        "another role": ("eve", [approval(number, eve)], f"the token of entry {eve} is no approver's"),
        "no token": ("adam", [approval(number, 1)], "entry 1 issued no token that holds"),
        "a later entry": ("adam", [approval(number, after + 5)], "issued no token that holds"),
        "issued alone": (
            "mallory",
            [issued(9, "mallory", Role.APPROVER), approval(number, after)],
            f"entry {after} issued no token that holds",
        ),
        "issued by a corrector": (
            "eve",
            [issued(9, "eve", Role.APPROVER, by_token=eve), approval(number, after)],
            f"entry {after} issued no token that holds",
        ),
        "reset to be an approver": (
            "eve",
            [issued(9, "eve", Role.APPROVER, reset=True), approval(number, after)],
            f"entry {after} issued no token that holds",
        ),
        "revoked": (
            "adam",
            [TokenRevoked(number=1, by_token=adam), approval(number, adam)],
            f"the token of entry {adam} was revoked by entry {after}",
        ),
    }


FORGED = (
    "no entry named", "another person's", "another role", "no token", "a later entry", "issued alone",
    "issued by a corrector", "reset to be an approver", "revoked",
)  # fmt: skip


@pytest.mark.parametrize("policy", [True, False])
@pytest.mark.parametrize("what", few_quick(FORGED, "no token", "another role"))
def test_a_forged_proof_has_no_effect_and_is_false(scene: Scene, what: str, policy: bool) -> None:
    """Whether the policy is on or not: what says that it is proven must be."""
    assert set(forged(scene)) == set(FORGED)
    if not policy:
        sealed(scene.ledger, "admin", PolicySet(policy="four-eyes", number=2, settings={"on": False, "tokens": False}))
    actor, events, says = forged(scene)[what]
    position = sealed(scene.ledger, actor, *events)
    for _ in range(2):
        assert not scene.is_voided()
        stands = scene.ledger.corrections.proposal(scene.proposal)
        assert (stands.state, stands.proposal.decided_proven) == ("without effect", 0)
        assert stands.proposal.why_not == "unproven-token"
        message = scene.falsehoods()[f"entry {position}"]
        assert says in message
        assert "it has no effect" in message
        scene.ledger.rebuild()


def test_a_forged_proposal_is_a_word(scene: Scene) -> None:
    ledger = scene.ledger
    change = Change(do=Verb.ANNUL, fact=GAME, entry=4)
    event = CorrectionProposed(proposal=2, part=1, parts=1, changes=(change,), reason="0" * 64, proven=True, by_token=1)
    position = sealed(ledger, "zoe", event)
    with pytest.raises(ProposalError, match="no token proves that 'zoe' is who they say"):
        ledger.decide(2, Decision.APPROVED, token=scene.tokens["adam"])
    assert "proposes as if a token named 'zoe'" in scene.falsehoods()[f"entry {position}"]


def test_a_revocation_by_nobody_takes_nothing_back(scene: Scene) -> None:
    position = sealed(scene.ledger, "mallory", TokenRevoked(number=1))
    assert "revokes token 1" in scene.falsehoods()[f"entry {position}"]
    scene.ledger.decide(scene.proposal, Decision.APPROVED, token=scene.tokens["adam"])
    assert scene.is_voided()
    assert list(scene.falsehoods()) == [f"entry {position}"]


def test_what_is_refused_leaves_no_entry(scene: Scene) -> None:
    size = scene.ledger.journal.size()
    tokens, adam = scene.ledger.tokens, scene.tokens["adam"]
    attempts: tuple[Callable[[], str], ...] = (
        lambda: tokens.add("mallory", [Role.APPROVER]),
        lambda: tokens.reset("nobody"),
        lambda: tokens.add("zoe", [Role.CORRECTOR], expires_at="2026-11-20", token=adam),
    )
    for attempt in attempts:
        with pytest.raises(LedgerError):
            attempt()
    assert scene.ledger.journal.size() == size
