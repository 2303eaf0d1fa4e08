"""Sessions: a token is typed once; the word that stands for it ends by time, by its token, by leaving."""

import os
import sqlite3
import stat
from contextlib import closing
from datetime import timedelta

import pytest

from ledger.auth import sessions
from ledger.auth.sessions import IDLE_MS, LONGEST_MS, MOST, form_token, is_form_token
from ledger.auth.tokens import SIGNED_IN, SIGNED_OUT, Actor, Tokens
from ledger.errors import RejectedError, StorageError
from ledger.facts.events import Role
from ledger.facts.person_names import redact_tokens
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo
from tests.kit.tampering import run_sql
from tests.kit.tokens import path_of, team

HERE = "10.0.0.7"


@pytest.fixture(name="tokens")
def _tokens(club_of_two: ClubOfTwo) -> Tokens:
    return club_of_two.ledger.tokens


def later(club: ClubOfTwo, ms: int) -> None:
    club.clock.now += timedelta(milliseconds=ms)


def rows(tokens: Tokens) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path_of(tokens))) as connection:
        return connection.execute("SELECT * FROM sessions").fetchall()


def assert_is_over(tokens: Tokens, word: str) -> None:
    before = len(tokens.log())
    assert tokens.session(word) is None
    with pytest.raises(RejectedError, match="session-over: this session is over; sign in again"):
        tokens.authenticate(word, None, Role.CORRECTOR, "try")
    assert len(tokens.log()) == before


def test_the_word_of_a_session_is_taken_wherever_its_token_is(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    eve = team(club_of_two.ledger)["eve"]
    word, session = tokens.sign_in(eve, HERE)
    assert (session.person, session.roles, session.token) == ("eve", frozenset({"corrector"}), 2)
    assert tokens.session(word) == session
    by_token = tokens.authenticate(eve, None, Role.CORRECTOR, "try")
    assert tokens.authenticate(word, None, Role.CORRECTOR, "try") == by_token == Actor("eve", proven=True, entry=6)
    with pytest.raises(RejectedError, match="not-this-role"):
        tokens.authenticate(word, None, Role.APPROVER, "approve it")
    with pytest.raises(RejectedError, match="not-this-name"):
        tokens.authenticate(word, "adam", Role.CORRECTOR, "try")


def test_each_sign_in_gives_a_word_of_its_own_with_32_random_bytes(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    eve = team(club_of_two.ledger)["eve"]
    words = {tokens.sign_in(eve, HERE)[0] for _ in range(3)}
    assert len(words) == 3
    assert all(sessions.is_session_word(word) and len(word) == len("rls_") + 43 for word in words)
    assert not sessions.is_session_word(eve)


def test_nobody_can_make_the_word_from_what_the_file_holds(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    eve = team(club_of_two.ledger)["eve"]
    word, _ = tokens.sign_in(eve, HERE)
    content = path_of(tokens).read_bytes()
    assert word.encode() not in content
    assert eve.encode() not in content
    (kept,) = rows(tokens)
    with closing(sqlite3.connect(path_of(tokens))) as connection:
        key = connection.execute("SELECT hash_key FROM file").fetchone()[0]
    hidden = kept[0]
    assert isinstance(hidden, bytes)
    for tried in (hidden.hex(), key.hex(), str(kept[3])):
        assert tokens.session(sessions.PREFIX + tried) is None
        assert tokens.session(tried) is None


def test_the_file_is_for_its_owner_alone(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    word, _ = tokens.sign_in(team(club_of_two.ledger)["eve"], HERE)
    assert stat.S_IMODE(path_of(tokens).stat().st_mode) == 0o600
    if os.name == "posix":
        path_of(tokens).chmod(0o620)
        with pytest.raises(StorageError, match="others may write it"):
            tokens.session(word)


def test_who_signs_in_and_out_stands_in_the_log_without_the_secrets(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    eve = team(club_of_two.ledger)["eve"]
    word, _ = tokens.sign_in(eve, HERE)
    with pytest.raises(RejectedError, match="unknown-token"):
        tokens.sign_in(eve[:-2] + "zz", HERE)
    with pytest.raises(RejectedError, match="unknown-token: this is the word of a session"):
        tokens.sign_in(word, HERE)
    tokens.sign_out(word, HERE)
    tokens.sign_out(word, HERE)
    told = [(row.rule, row.tried, row.claimed, row.token) for row in tokens.log()]
    assert told == [
        (SIGNED_IN, f"sign in at the desk from {HERE}", "eve", 2),
        ("unknown-token", f"sign in at the desk from {HERE}", None, None),
        ("unknown-token", f"sign in at the desk from {HERE}", None, None),
        (SIGNED_OUT, f"sign out at the desk from {HERE}", "eve", 2),
    ]
    assert "rlt_" not in str(tokens.log())
    assert redact_tokens(f"a {word} b") == "a rls_... b"


def test_without_tokens_nobody_signs_in(tokens: Tokens) -> None:
    with pytest.raises(RejectedError, match="no tokens are set up"):
        tokens.sign_in("rlt_x", HERE)
    assert tokens.session(sessions.new_session_word()) is None
    assert not path_of(tokens).exists()


def test_it_is_over_when_nobody_used_it_for_half_an_hour(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    word, _ = tokens.sign_in(team(club_of_two.ledger)["eve"], HERE)
    for _ in range(4):
        later(club_of_two, IDLE_MS)
        assert tokens.session(word) is not None
        tokens.note_use(word)
    later(club_of_two, IDLE_MS + 1)
    assert_is_over(tokens, word)
    tokens.note_use(word)
    assert_is_over(tokens, word)


def test_it_is_over_after_twelve_hours_however_much_it_is_used(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    word, session = tokens.sign_in(team(club_of_two.ledger)["eve"], HERE)
    assert session.ends_ms - session.begun_ms == LONGEST_MS
    for _ in range(LONGEST_MS // IDLE_MS):
        assert tokens.session(word) is not None
        later(club_of_two, IDLE_MS)
        tokens.note_use(word)
    later(club_of_two, 1)
    assert_is_over(tokens, word)


def test_it_is_over_when_its_token_expires(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    adam = team(club_of_two.ledger, names=())["adam"]
    gus = tokens.add("gus", [Role.CORRECTOR], expires_at="2026-11-21T12:10:00Z", token=adam)
    word, session = tokens.sign_in(gus, HERE)
    later(club_of_two, session.ends_ms - session.begun_ms)
    assert tokens.session(word) == session
    later(club_of_two, 1)
    assert_is_over(tokens, word)
    assert session.ends_ms - session.begun_ms < 11 * 60_000


def test_it_is_over_at_once_when_its_token_is_revoked(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    team_ = team(club_of_two.ledger)
    word, _ = tokens.sign_in(team_["eve"], HERE)
    other, _ = tokens.sign_in(team_["adam"], HERE)
    with Ledger.open(club_of_two.path, clock=club_of_two.clock) as elsewhere:
        elsewhere.tokens.revoke("eve", token=team_["adam"])
    assert tokens.session(word) is None
    assert tokens.session(other) is not None
    with pytest.raises(RejectedError, match="revoked-token"):
        tokens.authenticate(word, None, Role.CORRECTOR, "try")
    with pytest.raises(RejectedError, match="revoked-token"):
        tokens.sign_in(team_["eve"], HERE)


def test_a_reset_ends_the_sessions_of_all_earlier_tokens(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    word, _ = tokens.sign_in(team(club_of_two.ledger)["adam"], HERE)
    tokens.reset("adam")
    assert tokens.session(word) is None


def test_it_is_over_when_the_clock_is_set_back_before_it_began(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    word, _ = tokens.sign_in(team(club_of_two.ledger)["eve"], HERE)
    later(club_of_two, -sessions.SLACK_MS)
    assert tokens.session(word) is not None
    later(club_of_two, -1)
    assert_is_over(tokens, word)


def test_of_one_token_the_oldest_sessions_go_and_those_of_others_stay(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    team_ = team(club_of_two.ledger)
    adams, _ = tokens.sign_in(team_["adam"], HERE)
    words = []
    for _ in range(MOST + 2):
        later(club_of_two, 1_000)
        words.append(tokens.sign_in(team_["eve"], HERE)[0])
    assert [tokens.session(word) is not None for word in words] == [False] * 2 + [True] * MOST
    assert tokens.session(adams) is not None


def test_what_is_over_leaves_the_file_with_the_next_sign_in(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    team_ = team(club_of_two.ledger)
    for _ in range(3):
        tokens.sign_in(team_["eve"], HERE)
    later(club_of_two, IDLE_MS + 1)
    tokens.sign_in(team_["adam"], HERE)
    assert len(rows(tokens)) == 1


def test_that_it_is_used_is_written_once_a_minute(club_of_two: ClubOfTwo, tokens: Tokens) -> None:
    word, session = tokens.sign_in(team(club_of_two.ledger)["eve"], HERE)
    later(club_of_two, sessions.NOTED_EVERY_MS - 1)
    tokens.note_use(word)
    assert tokens.session(word) == session
    later(club_of_two, 1)
    assert session.is_use_due(club_of_two.ledger.now_ms())
    tokens.note_use(word)
    used = tokens.session(word)
    assert used is not None
    assert used.used_ms == session.used_ms + sessions.NOTED_EVERY_MS
    assert not used.is_use_due(club_of_two.ledger.now_ms())


def test_another_token_at_the_place_of_the_first_does_not_take_its_session_over(
    club_of_two: ClubOfTwo, tokens: Tokens
) -> None:
    """As where an older backup took the journal's place, and another token was issued by the entry of that number."""
    word, _ = tokens.sign_in(team(club_of_two.ledger)["eve"], HERE)
    run_sql(path_of(tokens), "UPDATE sessions SET entry = 5")
    assert tokens.session(word) is None


def test_the_token_of_a_form_is_taken_from_its_session_and_for_that_form_alone() -> None:
    word, other = sessions.new_session_word(), sessions.new_session_word()
    token = form_token(word, "/desk/propose")
    assert is_form_token(word, "/desk/propose", token)
    assert not is_form_token(word, "/desk/publish", token)
    assert not is_form_token(other, "/desk/propose", token)
    for wrong in ("", "x", token[:-1], token + "0", "ß" * 64, "\udcff"):
        assert not is_form_token(word, "/desk/propose", wrong)
    assert word not in token
