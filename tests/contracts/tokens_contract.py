"""What every store of what is kept of tokens must do, as tests: subclass ``TokenStoreContract`` and say which store."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager

from ledger.auth import token_store
from ledger.auth.sessions import IDLE_MS, LONGEST_MS, MOST, NOTED_EVERY_MS, SessionRow
from ledger.auth.token_store import IdempotencyRow, RefusalRow, TokenStore
from ledger.errors import StorageError
from ledger.testing.kit import expect_error

DAY, LATER = "2020-01-02T00:00:00Z", "2020-01-03T00:00:00Z"
NOW = 1_600_000_000_000
DIGEST = "ab" * 32
SEAL = "0" * 64
# What a stranger may type as a name, and what the log has of it.
ODD = ("Zoë 'Öst'", "a\\x41", "%s {s} $1", "𝔸\ufffd", "")
THREADS, TIMES = 4, 25


def session_row(token: int = 1, *, begun_ms: int = NOW, entry: int = 5) -> SessionRow:
    """A session that begins now."""
    return SessionRow(token, entry, DIGEST, begun_ms, begun_ms, begun_ms + LONGEST_MS)


class TokenStoreContract:
    """Tests of one store. A subclass gives ``store``, ``second`` and ``of_another_ledger``."""

    def store(self) -> AbstractContextManager[TokenStore]:
        """A new, empty store of a ledger, closed afterwards."""
        raise NotImplementedError

    def second(self) -> AbstractContextManager[TokenStore]:
        """A second way to the same store, as another process, or another thread, has it."""
        raise NotImplementedError

    def of_another_ledger(self) -> AbstractContextManager[TokenStore]:
        """A way to the same store for a ledger whose first entry is another one."""
        raise NotImplementedError

    def test_where_nothing_was_written_every_question_has_an_empty_answer(self) -> None:
        with self.store() as store:
            assert (store.refusals(), store.refusals(3)) == ([], [])
            assert (store.session("rls_x"), store.find_request("eve\nletter", b"")) == (None, None)
            assert store.where.partition(" ")[0] in {"beside", "for"}

    def test_what_is_of_another_ledger_proves_nothing(self) -> None:
        with self.store() as store:
            store.begin_session("rls_x", session_row())
            with self.of_another_ledger() as other:
                for door in (
                    other.refusals,
                    lambda: other.session("rls_x"),
                    lambda: other.find_request("eve\nletter", b""),
                ):
                    with expect_error(StorageError):
                        door()
                with expect_error(StorageError):
                    other.log_refusal(DAY, "try", None, None, "needs-a-token", "none")
            assert store.refusals() == []

    # -- the log ---------------------------------------------------------------------------------------------------

    def test_the_log_is_in_the_order_of_time_and_the_last_are_told_alone(self) -> None:
        with self.store() as store:
            rows = [RefusalRow(1, DAY, "try", None, None, "needs-a-token", "none was shown")]
            rows += [
                RefusalRow(2 + place, LATER, word, word, 7, "not-this-name", word) for place, word in enumerate(ODD)
            ]
            for row in rows:
                store.log_refusal(*row[1:])
            assert store.refusals() == rows
            assert (store.refusals(2), store.refusals(0), store.refusals(99)) == (rows[-2:], [], rows)
            with self.second() as second:
                second.log_refusal(*rows[0][1:])  # the same once more is another attempt
            assert store.refusals() == [*rows, rows[0]._replace(number=len(rows) + 1)]

    def test_what_many_note_at_once_is_kept_whole_and_numbered_on(self) -> None:
        faults: list[BaseException] = []

        def work(thread: int) -> None:
            try:
                with self.second() as own:
                    for time in range(TIMES):
                        own.log_refusal(DAY, "try", f"p{thread}-{time}", None, "unknown-token", "none of this ledger")
            except BaseException as error:  # noqa: BLE001  # told by the test, not by the thread
                faults.append(error)

        with self.store() as store:
            workers = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            assert faults == []
            rows = store.refusals()
            assert [row.number for row in rows] == list(range(1, THREADS * TIMES + 1))
            assert {row.claimed for row in rows} == {f"p{i}-{j}" for i in range(THREADS) for j in range(TIMES)}
            # and each wrote in its own order
            for thread in range(THREADS):
                own = [row.claimed for row in rows if (row.claimed or "").startswith(f"p{thread}-")]
                assert own == [f"p{thread}-{time}" for time in range(TIMES)]

    def test_an_attempt_with_a_sign_that_a_store_cannot_hold_is_noted_all_the_same(self) -> None:
        with self.store() as store:
            store.log_refusal(DAY, "try\x00", "e\x00ve", None, "unknown-token", "none\x00")
            (row,) = store.refusals()
            assert (row.tried[:3], (row.claimed or "")[0], row.reason[:4]) == ("try", "e", "none")

    # -- sessions --------------------------------------------------------------------------------------------------

    def test_a_session_is_told_by_its_word_alone_and_ends_everywhere(self) -> None:
        with self.store() as store, self.second() as second:
            own, other = session_row(), session_row(2, entry=6)
            store.begin_session("rls_one", own)
            second.begin_session("rls_two", other)
            for way in (store, second):
                assert (way.session("rls_one"), way.session("rls_two")) == (own, other)
                assert (way.session("rls_three"), way.session(DIGEST), way.session("\udcff")) == (None, None, None)
            second.end_session("rls_one")
            assert (store.session("rls_one"), store.session("rls_two")) == (None, other)
            store.end_session("rls_one")

    def test_its_use_is_written_once_a_minute_and_never_back(self) -> None:
        with self.store() as store, self.second() as second:
            store.begin_session("rls_one", session_row())
            seen = []
            for way, after in ((second, NOTED_EVERY_MS - 1), (second, NOTED_EVERY_MS), (store, NOTED_EVERY_MS + 1)):
                way.note_use("rls_one", NOW + after)
                session = store.session("rls_one")
                seen.append(session and session.used_ms)
            assert seen == [NOW, NOW + NOTED_EVERY_MS, NOW + NOTED_EVERY_MS]
            second.note_use("rls_none", NOW)
            store.note_use("rls_one", NOW)
            assert second.session("rls_one") == session_row()._replace(used_ms=NOW + NOTED_EVERY_MS)

    def test_of_one_token_the_oldest_go_and_what_is_over_goes_with_the_next(self) -> None:
        with self.store() as store:
            store.begin_session("rls_other", session_row(2))
            for place in range(MOST + 2):
                store.begin_session(f"rls_{place}", session_row(begun_ms=NOW + place))
            stay = [store.session(f"rls_{place}") is not None for place in range(MOST + 2)]
            assert stay == [False] * 2 + [True] * MOST
            assert store.session("rls_other") == session_row(2)
            store.begin_session("rls_late", session_row(3, begun_ms=NOW + IDLE_MS + 5))
            stay = [store.session(f"rls_{place}") is not None for place in range(MOST + 2)]
            assert stay == [False] * 5 + [True] * (MOST - 3)
            assert store.session("rls_other") is None

    # -- what was sent ---------------------------------------------------------------------------------------------

    def test_what_was_sent_under_a_word_is_told_to_whoever_sends_again(self) -> None:
        with self.store() as store:
            store.remember_key("eve\nletter", b"the rows", "proposal:3@1", SEAL, 2)
            row = IdempotencyRow(is_same=True, entry="proposal:3@1", reason=SEAL, proposals=2)
            with self.second() as second:
                for way in (store, second):
                    assert way.find_request("eve\nletter", b"the rows") == row
                    assert way.find_request("eve\nletter", b"other rows") == row._replace(is_same=False)
                    assert way.find_request("eva\nletter", b"the rows") is None
                second.remember_key("eve\nletter", b"other rows", "proposal:5@1", DIGEST, 1)
            row = IdempotencyRow(is_same=True, entry="proposal:5@1", reason=DIGEST, proposals=1)
            assert store.find_request("eve\nletter", b"other rows") == row

    def test_the_oldest_that_were_sent_are_forgotten(self) -> None:
        # By hand, for nothing here imports pytest.
        before, token_store.MOST_KEYS = token_store.MOST_KEYS, 3
        try:
            with self.store() as store:
                for place in range(5):
                    store.remember_key(f"eve\n{place}", b"rows", f"proposal:{place}@1", SEAL, 1)
                store.remember_key("eve\n2", b"rows", "proposal:9@1", SEAL, 1)  # again, so that it is the newest
                store.remember_key("eve\n5", b"rows", "proposal:5@1", SEAL, 1)
                stay = [place for place in range(6) if store.find_request(f"eve\n{place}", b"rows")]
                assert stay == [2, 4, 5]
        finally:
            token_store.MOST_KEYS = before
