"""Facts of several people recorded at once: what stands then is what one append after another would have brought."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import ConflictError, LedgerError, MalformedError, RejectedError, StorageError
from ledger.facts.events import BirthYearLearnt, Decision, Event, Role
from ledger.facts.words import Outcome, Receipt, Termination
from ledger.journal.scratch import ScratchJournal
from ledger.journal.sqlite_store import SqliteJournal, SqliteWriter
from ledger.ledger import Ledger
from ledger.recording.recorder import Recorder, Submission
from ledger.testing.kit import MemoryJournal
from tests.errors.rule_cases import adoption
from tests.kit.clubs import NAME, NOON, Clock, ClubOfTwo, new_club_of_two
from tests.kit.crashes import check_journal, driven
from tests.kit.games import game_recorded, run_closed, tournament_closed, tournament_opened
from tests.tiers import times

MOVES = ("1. e4 e5", "1. d4 d5 2. c4")
HASHES = tuple(sha256(moves.encode()).hexdigest() for moves in MOVES)


def outcome_of(outcome: object) -> object:
    """What may be compared: a receipt, or the name of the rule with its words."""
    if isinstance(outcome, RejectedError | MalformedError):
        return getattr(outcome, "rule", "malformed"), str(outcome)
    return outcome


def one_by_one(ledger: Ledger, tellings: Sequence[Submission]) -> list[object]:
    outcomes: list[object] = []
    for telling in tellings:
        try:
            outcomes.append(ledger.append(telling.event, actor=telling.actor, token=telling.token))
        except (RejectedError, MalformedError) as error:
            outcomes.append(error)
    return [*map(outcome_of, outcomes)]


def bodies(ledger: Ledger) -> list[bytes]:
    return [bytes(body) for block in ledger.journal.read() for body in block]


@pytest.fixture(name="corrected_base", scope="module", params=["no tokens", "tokens"])
def _corrected_base(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, str]]:
    """A club of two with corrected games, and the tokens by which facts are told there."""
    folder, tokens = tmp_path_factory.mktemp("base"), {}
    with new_club_of_two(folder) as club:
        ledger = club.ledger
        ledger.append_many([game_recorded("c1", half_moves=40), game_recorded("c2", tournament="Club cup")])
        drafts = ledger.corrections.drafts
        for change in (
            drafts.replace("game:c1", {"outcome": "draw", "termination": "agreement"}),
            drafts.annul("game:c2"),
        ):
            number = ledger.propose([change], reason="scoresheet", by="eve").proposal
            ledger.decide(number, Decision.APPROVED, by="adam")
        if request.param == "tokens":
            tokens = {name: ledger.tokens.add(name, [Role.RECORDER]) for name in ("rita", "rob")}
            tokens["ada"] = ledger.tokens.add("ada", [Role.AUDITOR])
        ledger.ensure_up_to_date()
    return folder, tokens


def games() -> st.SearchStrategy[Event]:
    """Games of a few keys, so that they meet: repeated, told with more, contradicting, refused."""
    return st.builds(
        game_recorded,
        st.sampled_from(["r1-b1", "c1", "c2", "n1", "n2", "n3"]),
        white=st.sampled_from([1, 1, 1, 2, 3]),
        pool=st.sampled_from(["standard"] * 6 + ["rapid"]),
        outcome=st.sampled_from([Outcome.WHITE] * 3 + [Outcome.DRAW]),
        termination=st.sampled_from([Termination.RESIGNATION, Termination.AGREEMENT, Termination.UNKNOWN]),
        half_moves=st.sampled_from([None, 40, 50]),
        ended_at=st.sampled_from(["2026-11-20", "2026-11-20T18:00:00Z", "2026-11-30"]),
        started_at=st.sampled_from([None, None, "2026-11-21", "2026-11-20"]),
        tournament=st.sampled_from([None, "Club cup"]),
        round=st.sampled_from([None, "1"]),
        text=st.sampled_from([None, *HASHES]),
    )


def facts() -> st.SearchStrategy[Event]:
    return st.one_of(
        games(),
        games(),
        games(),
        st.sampled_from([
            tournament_opened("2026-11-19", "2026-11-20"),
            tournament_closed("2026-11-20"),
            tournament_closed("2026-11-18"),
            run_closed("2026-11-20"),
            run_closed("2026-12-20"),
            adoption(pool="rapid", settings={}),
            adoption(pool="rapid", settings={"initial": "1500"}),
            BirthYearLearnt(player=1, birth_year=1990),
            BirthYearLearnt(player=1, birth_year=1991),
        ]),
    )  # fmt: skip


ACTORS = ("eve", "rita", "ada", "", "a\0b")


@pytest.mark.slow
@given(data=st.data())
def test_whatever_is_told_in_whatever_order_stands_as_if_told_one_by_one(
    corrected_base: tuple[Path, dict[str, str]], data: st.DataObject
) -> None:
    folder, tokens = corrected_base
    known_tokens = [None, *tokens.values(), "rlt_unknown"] if tokens else [None]
    drawn = data.draw(
        st.lists(st.tuples(facts(), st.sampled_from(ACTORS), st.sampled_from(known_tokens)), min_size=1, max_size=12)
    )
    tellings = [Submission(event, actor, token) for event, actor, token in drawn]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(tellings)), max_size=2)))
    with tempfile.TemporaryDirectory() as place:
        at_once, by_one = (Path(shutil.copytree(folder, Path(place) / name)) / NAME for name in ("each", "one"))
        with Ledger.open(by_one, clock=Clock()) as ledger:
            expected, entries = one_by_one(ledger, tellings), bodies(ledger)
            ledger.ensure_up_to_date()
            standing, refused = list(ledger.rows("games")), ledger.tokens.log()
        with Ledger.open(at_once, clock=Clock()) as ledger:
            outcomes: list[object] = []
            for start, end in zip([0, *cuts], [*cuts, len(tellings)], strict=True):
                outcomes += map(outcome_of, ledger.append_each(tellings[start:end]))
            assert outcomes == expected
            assert bodies(ledger) == entries
            ledger.ensure_up_to_date()
            assert list(ledger.rows("games")) == standing
            assert ledger.tokens.log() == refused


def test_a_refused_game_leaves_the_others_in_and_each_bears_who_told_it(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    size = ledger.journal.size()
    told = [
        Submission(game_recorded("a"), "eve"),
        Submission(game_recorded("b", white=9), "eve"),
        Submission(game_recorded("a"), "rob"),
        Submission(game_recorded("a", outcome=Outcome.DRAW), "rob"),
        Submission(game_recorded("a", half_moves=40), "rob"),
        Submission(game_recorded("c"), "adam"),
    ]
    first, stranger, again, conflict, more, last = ledger.append_each(told)
    assert isinstance(first, Receipt)
    assert isinstance(stranger, RejectedError)
    assert isinstance(conflict, ConflictError)
    assert (first.position, stranger.rule, again) == (size + 1, "unknown-player", first._replace(duplicate=True))
    assert (conflict.field, conflict.stored, conflict.given) == ("outcome", "white", "draw")
    assert isinstance(more, Receipt)
    assert isinstance(last, Receipt)
    assert (more.position, last.position) == (size + 2, size + 3)
    assert [entry.actor for entry in ledger.entries(last=3)] == ["eve", "rob", "adam"]


def test_games_are_one_transaction_and_their_moves_are_kept_in_it(
    club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[None] = []
    writing = SqliteJournal.writing

    def counted(journal: SqliteJournal, **words: Any) -> Any:
        begun.append(None)
        return writing(journal, **words)

    monkeypatch.setattr(SqliteJournal, "writing", counted)
    ledger = club_of_two.ledger
    told = [Submission(game_recorded(f"g{n}", text=HASHES[n % 2]), "eve", None, MOVES[n % 2]) for n in range(10)]
    told += [
        Submission(game_recorded("g0", text=HASHES[1]), "eve", None, MOVES[1]),  # contradicts
        Submission(game_recorded("other", text=HASHES[0]), "eve", None, MOVES[1]),  # not its moves
    ]
    *receipts, conflict, other = ledger.append_each(told)
    assert len(begun) == 1
    assert all(isinstance(receipt, Receipt) for receipt in receipts)
    assert isinstance(conflict, ConflictError)
    assert isinstance(other, MalformedError)
    assert "not that of the game's text" in str(other)
    assert [ledger.movetext(digest) for digest in HASHES] == [*MOVES]


def test_a_clock_that_is_behind_refuses_all(club_of_two: ClubOfTwo) -> None:
    club_of_two.clock.now = NOON.replace(year=2025)
    told = [
        Submission(game_recorded("a", ended_at="2024"), "eve"),
        Submission(game_recorded("b", ended_at="2024"), "eve"),
    ]
    assert [getattr(outcome, "rule", "") for outcome in club_of_two.ledger.append_each(told)] == ["clock-behind"] * 2


def test_what_fails_half_way_leaves_nothing_behind(club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StorageError("club.db", "the disk is full")

    ledger = club_of_two.ledger
    head = ledger.head()
    monkeypatch.setattr(SqliteWriter, "store_texts", fail)
    with pytest.raises(StorageError):
        ledger.append_each([Submission(game_recorded("a", text=HASHES[0]), "eve", None, MOVES[0])])
    assert ledger.head() == head
    monkeypatch.undo()
    (receipt,) = ledger.append_each([Submission(game_recorded("a", text=HASHES[0]), "eve", None, MOVES[0])])
    assert isinstance(receipt, Receipt)
    assert not receipt.duplicate


def test_any_store_takes_them_and_a_scratch_journal_forgets_them(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    told = [
        Submission(game_recorded("a"), "eve"),
        Submission(game_recorded("b", white=9), "eve"),
        Submission(game_recorded("a", half_moves=40), "rob"),
    ]
    seen: list[str] = []
    size = ledger.journal.size()
    scratch = ScratchJournal(ledger.journal, size, watch=lambda kind, _: seen.append(kind))
    memory = MemoryJournal()
    with memory.writing() as writer:
        for entry, body in zip(ledger.entries(), bodies(ledger), strict=True):
            writer.append([entry.kind], [entry.key], [body])
    for journal in (scratch, memory):
        recorded, refused = Recorder(journal, ledger.now_ms).append_each(told)
        assert [receipt.position for receipt in recorded.receipts] == [size + 1, size + 2]
        assert [*refused] == [1]
        assert journal.size() == size + 2
    assert seen == ["game-recorded/1", "game-supplemented/1"]
    assert ledger.journal.size() == size


def test_nothing_told_is_nothing_recorded(club_of_two: ClubOfTwo) -> None:
    assert club_of_two.ledger.append_each([]) == []


def test_what_is_no_event_is_refused_by_itself(club_of_two: ClubOfTwo) -> None:
    stranger, game = club_of_two.ledger.append_each(
        [
            Submission("a game", "eve"),  # type: ignore[arg-type]
            Submission(evolve(game_recorded("a"), half_moves=30), "eve"),
        ]
    )
    assert isinstance(stranger, LedgerError)
    assert "is no event" in str(stranger)
    assert isinstance(game, Receipt)


KILLS = times(quick=2, ci=12, nightly=100)


@pytest.mark.parametrize("kill", range(KILLS))
def test_a_kill_at_any_statement_leaves_all_of_a_batch_or_nothing_of_it(kill: int, tmp_path: Path) -> None:
    """Kills are spread over all statements of SQLite; what was acknowledged stands, with its moves."""
    size, batches = 20, 3
    steps = ("--steps", "each", "--games", str(size * batches), "--batch", str(size))
    (tmp_path / "whole").mkdir()
    completed = driven(tmp_path / "whole", *steps, "--die-at", str(2**62))
    statements = int(completed.stdout.split()[-1])
    folder = tmp_path / "killed"
    folder.mkdir()
    done = driven(folder, *steps, "--die-at", str(1 + kill * (statements - 1) // KILLS))
    assert done.returncode == -9
    acknowledged = max([0, *map(int, re.findall("acknowledged ([0-9]+)", done.stdout))])
    if (folder / NAME).exists():
        games = [entry for entry in check_journal(folder) if entry["kind"] == "game-recorded/1"]
        assert len(games) in {acknowledged, acknowledged + size}
        with Ledger.open(folder / NAME) as ledger:
            assert (ledger.movetext(sha256(MOVES[0].encode()).hexdigest()) is None) == (not games)
    else:
        assert not acknowledged
