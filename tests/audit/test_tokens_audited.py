"""The audit on tokens: its own reader and the game book find the same decisions proven, whatever the entries say."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.audit.audit import audit
from ledger.auth.issued_tokens import IssuedToken, IssuedTokens
from ledger.facts.changes import Change, Verb
from ledger.facts.events import CorrectionDecided, CorrectionProposed, Decision, Event, PolicySet, Role, TokenRevoked
from tests.kit.clubs import ClubOfTwo, new_club_of_two
from tests.kit.tokens import issued, sealed

pytestmark = pytest.mark.slow

VOID = Change(do=Verb.ANNUL, fact="game:r1-b1", entry=4)
NAMES = st.sampled_from(["eve", "adam", "ann"])
TOKENS = st.integers(0, 4)  # which of the entries so far is named; 0: none
STEPS = st.one_of(
    st.tuples(st.just("issue"), NAMES, TOKENS, NAMES, st.sampled_from([Role.CORRECTOR, Role.APPROVER]), st.booleans()),
    st.tuples(st.just("revoke"), NAMES, TOKENS, st.integers(1, 4)),
    st.tuples(st.just("propose"), NAMES, TOKENS, st.booleans()),
    st.tuples(st.just("decide"), NAMES, TOKENS, st.booleans(), st.sampled_from(Decision)),
    st.tuples(st.just("policy"), st.booleans(), st.booleans()),
)


def play(club: ClubOfTwo, steps: list[tuple[object, ...]]) -> None:
    """Record entries as a program would that asks no gate."""
    entries: list[int] = []
    proposals = policies = waiting = 0
    for step in steps:
        by_token = entries[step[2] % len(entries)] if len(step) > 2 and step[2] and entries else None  # type: ignore[operator]
        event: Event
        match step:
            case ("issue", str(by), _, str(person), Role() as role, bool(reset)):
                event = issued(len(entries) + 1, person, role, by_token=by_token, reset=reset)
                entries.append(sealed(club.ledger, by, event))
            case ("revoke", str(by), _, int(number)) if number <= len(entries):
                revoked = TokenRevoked(number=number, by_token=by_token)
                if not club.ledger.journal.find([revoked.key]):
                    sealed(club.ledger, by, revoked)
            case ("propose", str(by), _, bool(proven)):
                proposals += 1
                event = CorrectionProposed(
                    proposal=proposals,
                    part=1,
                    parts=1,
                    changes=(VOID,),
                    reason="0" * 64,
                    proven=proven,
                    by_token=by_token,
                )
                sealed(club.ledger, by, event)
            case ("decide", str(by), _, bool(proven), Decision() as decision) if waiting < proposals:
                waiting += 1
                event = CorrectionDecided(proposal=waiting, decision=decision, proven=proven, by_token=by_token)
                sealed(club.ledger, by, event)
            case ("policy", bool(on), bool(tokens)):
                policies += 1
                setting = {"on": on, "tokens": tokens}
                sealed(club.ledger, "admin", PolicySet(policy="four-eyes", number=policies, settings=setting))
            case _:
                pass


@given(st.lists(STEPS, min_size=4, max_size=16))
def test_the_reader_and_the_book_find_the_same_proofs(steps: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder, new_club_of_two(Path(folder)) as club:
        play(club, steps)
        club.ledger.ensure_up_to_date()
        found = [falsehood for falsehood in audit(club.path).falsehoods if falsehood.table == "four eyes"]
        words = {str(falsehood.position_or_key): falsehood.message for falsehood in found}
        rows = list(club.ledger.rows("proposals"))
        broken = {f"entry {row['decided_position']}" for row in rows if row["why_not"] is not None}
        assert {where for where, says in words.items() if "it has no effect" in says} == broken
        void = {f"entry {token.position}" for token in register(club) if token.void is not None}
        assert {where for where, says in words.items() if says.startswith("issues")} == void
        reset = {token.position for token in register(club) if token.event.reset and token.void is None}
        assert {found.position for found in audit(club.path).resets} == reset
        proposers = {f"entry {row['position']}" for row in rows if not row["proposed_proven"]}
        assert {where for where, says in words.items() if says.startswith("proposes as if")} <= proposers


def register(club: ClubOfTwo) -> list[IssuedToken]:
    """What the ledger's own judge says of each token."""
    return list(IssuedTokens(club.ledger.journal).register().tokens.values())
