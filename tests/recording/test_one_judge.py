"""Games of a file are judged as the same games recorded one by one: the same verdicts in the same words."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.book import judge
from ledger.book.evidence import Context, Evidence
from ledger.errors import RejectedError
from ledger.facts.events import GameRecorded
from ledger.facts.source_games import KEPT_FAULTS, SourceGame
from ledger.facts.words import Outcome, Termination
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.recording import game_columns
from tests.kit import strategies
from tests.tiers import examples

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)
PLAYERS = {"name:ann": 1, "name:bob": 2, "name:carl": 3}
_EXAMPLES = count()

# By field: what is right, and what is wrong with it in every way.
INSTANTS = st.sampled_from([
    "2026-11-20", "2026-11-20T10:00:00Z", "2026-11-20T10:00:00.001Z", "2026-11-20T09:59:59Z", "2026-11", "2026",
    "2026-11-22T12:00:00Z", "2026-11-22T12:00:00.001Z", "2026-11-23", "2026-12", "2027", "9999", "2026-02-29",
    "2026-11-20T24:00:00Z", "2026-11-20 10:00", "", "0000", "2026-11-20T10:00:00.000Z",
])  # fmt: skip
TEXTS = st.none() | st.sampled_from(["Club", " Club", "e\u0301", "\u00e9", "", "a\nb", "x" * 200])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "white_id": st.sampled_from(sorted(PLAYERS)),
    "black_id": st.sampled_from(sorted(PLAYERS)),
    "outcome": st.sampled_from([*Outcome, "1-0", ""]),
    "termination": st.sampled_from([*Termination, "mate"]),
    "half_moves": st.sampled_from([None, 0, 31, -1, 20_001]),
    "started_at": st.none() | INSTANTS,
    "ended_at": INSTANTS,
    "tournament": TEXTS,
    "round": TEXTS,
    "sequence": st.sampled_from([1, 8, 0]),
    "rated": st.booleans(),
    "white_rating": st.sampled_from([None, 1500, 5001, -1]),
    "black_rating": st.sampled_from([None, 1500, 5001, -1]),
    "text": st.sampled_from([None, "1. e4", "1. d4"]),
}
KEYS = st.sampled_from(["a", "b", "c", "d", "e f", "\u00e9", "x" * 97])


PLAIN = SourceGame(
    line=1, key="a", white_id="name:ann", white_name="ann", black_id="name:bob", black_name="bob", outcome="white",
    termination="resignation", half_moves=None, started_at=None, ended_at="2026-11-20", tournament=None, round=None,
    rated=True, white_rating=None, black_rating=None, speed=None, variant="standard", text=None, sequence=7,
)  # fmt: skip


@st.composite
def source_games(draw: st.DrawFn) -> SourceGame:
    """A game of one of a few keys, in which up to three fields hold anything."""
    changed = draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=3, unique=True))
    return PLAIN._replace(key=draw(KEYS), **{name: draw(FIELDS[name]) for name in changed})


class Twins(NamedTuple):
    """Two ledgers of the same three players."""

    imported: Ledger
    appended: Ledger


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    folder: Path = tmp_path_factory.mktemp("twins")
    with (
        Ledger.create(folder / "imported.db", clock=lambda: NOON) as imported,
        Ledger.create(folder / "appended.db", clock=lambda: NOON) as appended,
    ):
        for ledger in (imported, appended):
            for identity, number in PLAYERS.items():
                assert ledger.register(identity, identity.removeprefix("name:")) == number
        yield Twins(imported, appended)


def recorded_alone(ledger: Ledger, source: SourceGame) -> bool | str:
    """Whether the game was a repeat, or why it was not taken."""
    values = {name: value for name, value in source._asdict().items() if name in FIELDS and not name.endswith("_id")}
    outcomes: dict[str, Any] = {word.value: word for word in Outcome}
    terminations: dict[str, Any] = {word.value: word for word in Termination}
    values["outcome"] = outcomes.get(source.outcome, source.outcome)
    values["termination"] = terminations.get(source.termination, source.termination)
    values["text"] = None if source.text is None else sha256(source.text.encode()).hexdigest()
    white, black = PLAYERS[source.white_id], PLAYERS[source.black_id]
    try:
        event = GameRecorded(game=source.key, pool="standard", white=white, black=black, **values)
        return ledger.append(event, actor="import").duplicate
    except (ValueError, RejectedError) as error:
        return str(error)


def facts(ledger: Ledger, after: int) -> list[tuple[str, Any]]:
    return [(entry.key, entry.facts) for entry in ledger.entries("game-recorded/1") if entry.position > after]


def added(ledger: Ledger, after: int) -> dict[str, Any]:
    """What supplements say; an import records them after the games of their slice, so that entries differ."""
    entries = (entry for entry in ledger.entries("game-supplemented/1") if entry.position > after)
    return {entry.key: {**entry.facts, "entry": 0} for entry in entries}


@given(sources=st.lists(source_games(), min_size=1, max_size=12), first=st.integers(0, 6))
@example(  # the columns doubt the first, which may follow; so the second tells it otherwise
    sources=[PLAIN._replace(ended_at=end) for end in ("2026-11-22T12:00:00Z", "2026-11-23")], first=0
)
@examples(quick=10, ci=60, nightly=1_000)
def test_a_file_of_games_is_judged_as_its_games_one_by_one(twins: Twins, sources: list[SourceGame], first: int) -> None:
    prefix = f"{next(_EXAMPLES)}."
    sources = [game._replace(key=prefix + game.key, line=line) for line, game in enumerate(sources, 1)]
    after = twins.imported.journal.size()
    assert after == twins.appended.journal.size()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ledger.recording.game_import.SLICE", 3)
        patch.setattr("ledger.recording.game_columns.JUDGED", 2)
        reports = [twins.imported.import_games(batch_games(part)) for part in (sources[:first], sources[first:])]
    alone = {game.line: recorded_alone(twins.appended, game) for game in sources}
    faults = dict(fault for report in reports for fault in report.faults)
    assert faults == {line: words for line, words in alone.items() if isinstance(words, str)}
    assert sum(report.repeated for report in reports) == sum(again is True for again in alone.values())
    new = sum(report.recorded + report.supplemented for report in reports)
    assert new == sum(again is False for again in alone.values())
    assert sum(report.supplemented for report in reports) == len(added(twins.imported, after))
    assert facts(twins.imported, after) == facts(twins.appended, after)
    assert added(twins.imported, after) == added(twins.appended, after)


@given(
    times=st.lists(st.tuples(st.none() | strategies.instants(), strategies.instants()), min_size=1, max_size=30),
    now_ms=st.sampled_from([NOON_MS, NOON_MS + 1, 0, 253_402_300_799_000]),
    same=st.booleans(),
)
@example(times=[("2026-11-20T10:00:00.001Z", "2026-11-20T10:00:00Z")], now_ms=NOON_MS, same=False)
@examples(quick=20, ci=100, nightly=2_000)
def test_no_game_that_the_rules_refuse_is_passed_over(
    times: list[tuple[str | None, str]], now_ms: int, same: bool
) -> None:
    class Everything:  # but that somebody was erased
        def __contains__(self, key: object) -> bool:
            return not str(key).startswith("erased:")

    columns = {"started_at": pl.String, "ended_at": pl.String}
    frame = pl.DataFrame(times, columns, orient="row").with_columns(white=1, black=1 if same else 2)
    for (started_at, ended_at), suspected in zip(times, game_columns.suspects(frame, now_ms).to_list(), strict=True):
        event = GameRecorded(
            game="g",
            pool="standard",
            white=1,
            black=1 if same else 2,
            outcome=Outcome.DRAW,
            termination=Termination.UNKNOWN,
            started_at=started_at,
            ended_at=ended_at,
            rated=True,
        )
        try:
            judge.check(event, Evidence(Context.WITHOUT_VIEWS, now_ms, Everything()))
        except RejectedError:
            assert suspected


@given(
    times=st.lists(st.tuples(st.none() | INSTANTS, INSTANTS, st.sampled_from([1, 1, 1, 2, 9])), min_size=1, max_size=6),
    pool=st.sampled_from(["standard", "standard", "nowhere"]),
    now_ms=st.sampled_from([NOON_MS, NOON_MS + 1, 0, 253_402_300_799_000]),
)
@examples(quick=20, ci=100, nightly=2_000)
def test_games_judged_at_once_are_judged_as_each_of_them(
    times: list[tuple[str | None, str, int]], pool: str, now_ms: int
) -> None:
    games = []
    for number, (started_at, ended_at, white) in enumerate(times):
        with suppress(ValueError):  # no instant
            games.append(
                GameRecorded(
                    game=f"g{number}",
                    pool=pool,
                    white=white,
                    black=2,
                    outcome=Outcome.DRAW,
                    termination=Termination.UNKNOWN,
                    started_at=started_at,
                    ended_at=ended_at,
                    rated=True,
                )
            )
    evidence = Evidence(Context.WITHOUT_VIEWS, now_ms, {"scheme:standard@start", "player:1", "player:2"})
    alone = at_once = None
    try:
        for game in games:
            judge.check(game, evidence)
    except RejectedError as error:
        alone = (error.rule, error.key, str(error))
    try:
        judge.check_games(games, evidence)
    except RejectedError as error:
        at_once = (error.rule, error.key, str(error))
    assert at_once == alone


@pytest.mark.parametrize(
    ("started_at", "ended_at"),
    [
        (None, "2026-11-21T11:59:59Z"),
        (None, "2026-11-21"),
        (None, "2026"),
        ("2026-11-21T11:00:00Z", "2026-11-21T11:00:00Z"),
        ("2026-11-21T11:00:00.500Z", "2026-11-21T11:00:01Z"),
        ("2026-11-21", "2026-11-21"),
        ("2026-11-21T11:00:00Z", "2026-11-21"),
        ("2026-11-21", "2026-11"),
    ],
)
def test_games_as_they_usually_are_need_not_be_looked_at_one_by_one(started_at: str | None, ended_at: str) -> None:
    columns = {"white": [1], "black": [2], "started_at": [started_at], "ended_at": [ended_at]}
    frame = pl.DataFrame(columns, schema_overrides={"started_at": pl.String})
    assert game_columns.suspects(frame, NOON_MS).to_list() == [False]


@pytest.mark.slow
def test_of_many_faulty_games_the_first_are_named_and_all_are_counted(twins: Twins) -> None:
    (frame,) = batch_games([PLAIN._replace(black_id="name:ann")])
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    odd_word = pl.when(row % 2 == 1).then(pl.lit("mate")).otherwise("termination")
    many = pl.concat([frame] * 20_000).with_columns(line=row, key="many" + row.cast(pl.String), termination=odd_word)
    size = twins.imported.journal.size()
    report = twins.imported.import_games([many] * 2)
    assert (report.fault_count, len(report.faults), report.recorded) == (40_000, KEPT_FAULTS, 0)
    assert [fault.line for fault in report.faults] == list(range(KEPT_FAULTS))
    assert report.faults[0].message == "same-player: White and Black are both player 1; check the source"
    assert report.faults[1].message.endswith("got 'mate'")
    assert twins.imported.journal.size() == size
