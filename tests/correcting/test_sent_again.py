"""Proposals that are sent again under the same word: recorded once, whatever was stopped between."""

from typing import NoReturn

import pytest

from ledger.auth import token_store
from ledger.correcting import verbs
from ledger.correcting.corrections import IdempotencyKey, RecordedProposal
from ledger.errors import BatchError, MalformedError, RejectedError
from ledger.facts.events import Decision
from ledger.ledger import Ledger
from ledger.recording.recorder import Recorder
from tests.kit.tokens import path_of

BATCH = b"verb,game,to\nvoid,g1,\nresult,g2,0-1\nvoid,g3,\n"
SENDING = IdempotencyKey("letter 7", BATCH)
REASON = "typed twice"


def send(
    four: Ledger, idempotency_key: IdempotencyKey = SENDING, *, by: str = "eve", reason: str = REASON
) -> list[RecordedProposal]:
    """As a server does: what was sent before is told again."""
    corrections = four.corrections
    return corrections.find_previous(idempotency_key, reason=reason, by=by) or corrections.propose_batch(
        idempotency_key.content, reason=reason, each=True, by=by, idempotency_key=idempotency_key
    )


def told(proposals: list[RecordedProposal]) -> list[tuple[int, list[int], bool]]:
    return [(each.proposal, [receipt.position for receipt in each.receipts], each.duplicate) for each in proposals]


def test_a_batch_is_recorded_in_one_transaction_and_each_proposal_names_those_about_the_same_facts(
    four: Ledger,
) -> None:
    before = four.journal.size()
    proposals = send(four)
    assert told(proposals) == [(number, [before + number], False) for number in (1, 2, 3)]
    change = four.corrections.verbs.change("void", {"game": "g2"})
    again, once_more = four.corrections.propose_each([[change], [change]], reason=REASON, by="eve")
    assert (again.related, once_more.related) == ((2,), (2, 4))


def test_what_is_sent_again_is_told_again_even_when_it_was_decided_or_its_reason_erased_meanwhile(four: Ledger) -> None:
    first = send(four)
    four.decide(1, Decision.APPROVED, by="otto")
    size = four.journal.size()
    again = send(four)
    assert told(again) == [(number, positions, True) for number, positions, _ in told(first)]
    with pytest.raises(BatchError):  # as a new one it could not be proposed any more
        four.corrections.propose_batch(BATCH, reason=REASON, by="eve")
    four.corrections.erase_reasons(1, by="otto")
    assert told(send(four, reason="whatever")) == told(again)
    assert four.journal.size() == size


def test_another_program_that_opens_the_ledger_knows_it_too(four: Ledger) -> None:
    first = send(four)
    with Ledger.open(four.path, clock=four.clock) as another:
        assert told(send(another)) == [(number, positions, True) for number, positions, _ in told(first)]


def test_something_else_under_the_same_word_is_refused_and_of_another_person_it_is_another_word(four: Ledger) -> None:
    send(four)
    size = four.journal.size()
    for idempotency_key, reason in (
        (IdempotencyKey("letter 7", b"verb,game\nvoid,g5\n"), REASON),
        (SENDING, "another reason"),
    ):
        with pytest.raises(RejectedError, match="sent-already: another request was sent with the same key, as pro"):
            send(four, idempotency_key, reason=reason)
    assert four.journal.size() == size
    assert [proposal.proposal for proposal in send(four, by="eva")] == [4, 5, 6]


def test_whoever_was_stopped_before_the_journal_took_it_sends_it_anew(
    four: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Recorder, "_batch", stopped)
        with pytest.raises(KeyboardInterrupt):
            send(four)
    assert four.tokens.store.find_request("eve\nletter 7", BATCH) is not None
    assert [proposal.duplicate for proposal in send(four)] == [False, False, False]
    # The number that was to be taken may be another one's by now: the reason's seal tells them apart.
    with monkeypatch.context() as patched:
        patched.setattr(Recorder, "_batch", stopped)
        with pytest.raises(KeyboardInterrupt):
            send(four, IdempotencyKey("letter 8", b"verb,game\nvoid,g5\n"))
    four.corrections.propose_batch(b"verb,game\nvoid,g4\n", reason=REASON, by="otto")
    late = send(four, IdempotencyKey("letter 8", b"verb,game\nvoid,g5\n"))
    assert [(proposal.proposal, proposal.duplicate) for proposal in late] == [(5, False)]


def test_the_file_holds_neither_the_word_nor_what_was_sent_and_forgets_the_oldest(
    four: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_store, "MOST_KEYS", 3)
    file = four.tokens.store
    for number in range(5):
        file.remember_key(f"eve\nletter {number}", b"the rows", f"proposal:{number}@1", "0" * 64, 1)
    assert [file.find_request(f"eve\nletter {number}", b"") is None for number in range(5)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    raw = path_of(four.tokens).read_bytes()
    assert b"letter" not in raw
    assert b"the rows" not in raw


def test_a_batch_of_faults_alone_is_read_no_further_than_one_of_rows(
    four: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs, "MOST_ROWS", 3)
    for cells in ("resul,r1-b1,0-1", "result,r1-b9,0-1", "result,r1-b1"):
        rows = f"verb,game,to\n\n{cells}\n\n{cells}\n{cells}\n".encode()
        with pytest.raises(BatchError) as told:
            four.corrections.propose_batch(rows, reason="typed twice")
        assert [line for line, _ in told.value.faults] == [3, 5, 6]
        with pytest.raises(MalformedError, match="line 7: more than 3 rows: part the file"):
            four.corrections.propose_batch(rows + f"{cells}\n".encode(), reason="typed twice")


def test_every_fault_of_a_batch_is_told_with_its_line_and_the_reason_with_it(four: Ledger) -> None:
    with pytest.raises(BatchError) as caught:
        four.corrections.propose_batch(b"verb,game\nvoid,g1\nvoid,g99\nviod,g2\n", reason="", each=True, by="eve")
    assert [line for line, _ in caught.value.faults] == [3, 4]
    assert caught.value.reason_faults == ("a reason is missing: say in a few words why @ $.reason",)
    assert [problem.partition(":")[0] for problem in caught.value.problems[:2]] == ["line 3", "line 4"]
