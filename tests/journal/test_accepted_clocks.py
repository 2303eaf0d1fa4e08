"""A clock that jumped forward once: the way out is a recorded act, allowed where it is needed and nowhere else."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ledger.errors import RejectedError
from ledger.facts import codec
from ledger.facts.events import ClockAccepted
from ledger.imports.reading import batch_games
from ledger.journal import rules
from ledger.ledger import Ledger
from tests.kit.clubs import NOON, Clock
from tests.kit.commands import Run
from tests.kit.games import game_recorded, source_games
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tools.commands import REFUSED, USAGE

FUTURE = datetime(2035, 1, 1, tzinfo=UTC)


@pytest.fixture(name="clock")
def _clock() -> Clock:
    return Clock()


@pytest.fixture(name="club_with_a_future_entry")
def _club_with_a_future_entry(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    """Two players, a game, and a game that a clock of 2035 recorded, as entry 5; now the clock is right."""
    with Ledger.create(tmp_path / "club.db", clock=clock) as made:
        made.register("name:ann", "Ann")
        made.register("name:bob", "Bob")
        made.append(game_recorded("r1"))
        clock.now = FUTURE
        made.append(game_recorded("r2", half_moves=40))
        clock.now = NOON
        made.catch_up()
        yield made


def stamps(club: Ledger) -> list[str]:
    return [entry.recorded_at[:16] for entry in club.entries()]


def test_until_it_is_accepted_nothing_can_be_recorded_and_both_ways_out_are_told(
    club_with_a_future_entry: Ledger,
) -> None:
    acts: list[Callable[[], object]] = [
        lambda: club_with_a_future_entry.append(game_recorded("r3")),
        lambda: club_with_a_future_entry.register("name:new", "New"),
        lambda: club_with_a_future_entry.import_games(batch_games(source_games(5))),
        lambda: club_with_a_future_entry.import_games(batch_games(source_games(5)), strict=True),
        lambda: club_with_a_future_entry.append_many([game_recorded("r3"), ClockAccepted(entry=5)]),
    ]
    head = club_with_a_future_entry.head()
    for act in acts:
        with pytest.raises(RejectedError, match=r"clock-behind: .*; set the clock .* 'rating-ledger accept-clock DB'"):
            act()
    assert club_with_a_future_entry.head() == head


def test_accepting_it_is_recorded_under_the_present_time_and_time_goes_on_from_there(
    club_with_a_future_entry: Ledger, clock: Clock
) -> None:
    receipt = club_with_a_future_entry.append(ClockAccepted(entry=5), actor="admin:eve")
    assert (receipt.position, receipt.key, receipt.duplicate) == (6, "clock:5", False)
    clock.now += timedelta(seconds=1)
    assert club_with_a_future_entry.append(game_recorded("r3")).position == 7
    club_with_a_future_entry.register("name:carl", "Carl")
    assert club_with_a_future_entry.import_games(batch_games(source_games(20)), strict=True).recorded == 20
    clock.now -= timedelta(seconds=30)  # two machines' clocks
    club_with_a_future_entry.append(game_recorded("r4"))
    told = list(club_with_a_future_entry.entries())
    assert [entry.recorded_at for entry in told[3:8]] == [
        "2026-11-21T12:00:00.000Z",
        "2035-01-01T00:00:00.000Z",
        "2026-11-21T12:00:00.000Z",
        "2026-11-21T12:00:01.000Z",
        "2026-11-21T12:00:01.000Z",
    ]
    assert told[-1].recorded_at == "2026-11-21T12:00:01.000Z"
    assert (told[5].kind, told[5].actor, told[5].facts) == ("clock-accepted/1", "admin:eve", {"entry": 5})
    assert codec.decode(next(club_with_a_future_entry.journal.read(5, 6))[0]).event == ClockAccepted(entry=5)


def test_a_fact_may_come_in_the_same_transaction_and_is_recorded_at_the_present_time(
    club_with_a_future_entry: Ledger,
) -> None:
    receipts = club_with_a_future_entry.append_many(
        [ClockAccepted(entry=5), game_recorded("r3"), ClockAccepted(entry=5)]
    )
    assert [(receipt.position, receipt.duplicate) for receipt in receipts] == [(6, False), (7, False), (6, True)]
    assert stamps(club_with_a_future_entry)[5:] == ["2026-11-21T12:00"] * 2
    with pytest.raises(RejectedError, match="not-the-last-entry"):
        club_with_a_future_entry.append_many([game_recorded("r4"), ClockAccepted(entry=7)])


def test_the_games_of_a_batch_are_judged_by_the_present_time(club_with_a_future_entry: Ledger) -> None:
    head = club_with_a_future_entry.head()
    with pytest.raises(RejectedError, match="ended-in-the-future"):
        club_with_a_future_entry.append_many([ClockAccepted(entry=5), game_recorded("r3", ended_at="2030")])
    assert club_with_a_future_entry.head() == head


def test_the_same_acceptance_again_is_success(club_with_a_future_entry: Ledger, clock: Clock) -> None:
    first = club_with_a_future_entry.append(ClockAccepted(entry=5))
    head = club_with_a_future_entry.head()
    assert club_with_a_future_entry.append(ClockAccepted(entry=5), actor="somebody else") == first._replace(
        duplicate=True
    )
    clock.now += timedelta(days=1)
    club_with_a_future_entry.append(game_recorded("r3"))
    assert club_with_a_future_entry.append(ClockAccepted(entry=5)) == first._replace(duplicate=True)
    assert club_with_a_future_entry.head().size == head.size + 1


def test_a_clock_may_jump_more_than_once_and_be_wrong_about_being_right(
    club_with_a_future_entry: Ledger, clock: Clock
) -> None:
    club_with_a_future_entry.append(ClockAccepted(entry=5))
    for jump in (FUTURE, FUTURE + timedelta(days=99), NOON + timedelta(minutes=2)):
        clock.now = jump
        last = club_with_a_future_entry.append(game_recorded(f"at-{jump:%Y-%m-%d}")).position
        clock.now = NOON
        with pytest.raises(RejectedError, match="clock-behind"):
            club_with_a_future_entry.append(game_recorded("r9"))
        club_with_a_future_entry.append(ClockAccepted(entry=last))
    clock.now = datetime(1970, 1, 1, tzinfo=UTC)  # the administrator's own clock is wrong
    club_with_a_future_entry.append(ClockAccepted(entry=club_with_a_future_entry.journal.size()))
    clock.now = NOON
    club_with_a_future_entry.append(game_recorded("r9"))
    assert stamps(club_with_a_future_entry)[-2:] == ["1970-01-01T00:00", "2026-11-21T12:00"]


@pytest.mark.parametrize("behind", [-60_001, -60_000, -1, 0, 1])
def test_it_is_allowed_just_where_recording_is_refused(
    club_with_a_future_entry: Ledger, clock: Clock, behind: int
) -> None:
    clock.now = FUTURE + timedelta(milliseconds=behind)
    if behind < -rules.CLOCK_SLACK_MS:
        assert club_with_a_future_entry.append(ClockAccepted(entry=5)).position == 6
        return
    with pytest.raises(RejectedError, match="clock-not-behind"):
        club_with_a_future_entry.append(ClockAccepted(entry=5))
    assert club_with_a_future_entry.append(game_recorded("r3")).position == 6


@pytest.mark.parametrize("entry", [1, 4, 6, 2**53 - 1])
def test_it_is_about_the_last_entry_and_no_other(club_with_a_future_entry: Ledger, entry: int) -> None:
    with pytest.raises(RejectedError, match=f"not-the-last-entry: entry {entry} is not the last one, which is entry 5"):
        club_with_a_future_entry.append(ClockAccepted(entry=entry))


def test_ratings_are_those_of_a_ledger_without_it(
    club_with_a_future_entry: Ledger, clock: Clock, tmp_path: Path
) -> None:
    club_with_a_future_entry.append(ClockAccepted(entry=5))
    club_with_a_future_entry.append(game_recorded("r3", half_moves=50))
    club_with_a_future_entry.catch_up()
    (folder := tmp_path / "other").mkdir()
    with Ledger.create(folder / "club.db", clock=clock) as other:
        for name in ("ann", "bob"):
            other.register(f"name:{name}", name)
        other.append_many([game_recorded("r1"), game_recorded("r2", half_moves=40), game_recorded("r3", half_moves=50)])
        other.catch_up()
        for rebuilt in (False, True):
            if rebuilt:
                club_with_a_future_entry.rebuild()
            rows = [
                [row["rating"] for row in made.rows("history", "1 ORDER BY player, n")]
                for made in (club_with_a_future_entry, other)
            ]
            assert rows[0] == rows[1]
    assert club_with_a_future_entry.views.position() == 7


def test_two_who_accept_it_at_once_are_both_right_and_it_is_recorded_once(
    club_with_a_future_entry: Ledger, clock: Clock
) -> None:
    with Ledger.open(club_with_a_future_entry.path, clock=clock) as other:
        assert other.append(ClockAccepted(entry=5)).position == 6
        assert club_with_a_future_entry.append(ClockAccepted(entry=5)).duplicate
        assert other.append(game_recorded("r3")).position == 7
    assert club_with_a_future_entry.append(ClockAccepted(entry=5)).duplicate


@pytest.mark.slow
def test_processes_that_accept_and_import_at_once_lose_nothing(tmp_path: Path, run: Run) -> None:
    """Four at once: an import comes before the word and is refused, or waits for it and is recorded."""
    path = future_club(tmp_path)
    (tmp_path / "games.csv").write_text(
        "key,white,black,result,half_moves,ended_at\n" + "".join(f"{i},Ann,Bob,1-0,40,2021-03-01\n" for i in range(500))
    )
    words = [["accept-clock", str(path), "--yes"], ["import", str(path), str(tmp_path / "games.csv")]] * 2
    running = [
        subprocess.Popen([sys.executable, "-m", "tools.cli", *one], cwd=ROOT, stderr=subprocess.PIPE) for one in words
    ]
    ends = [(process.communicate(timeout=HANGS)[1].decode(), process.returncode) for process in running]
    for told, code in ends[::2]:
        assert code == 0 or "clock-not-behind" in told, told
    assert any(code == 0 for _, code in ends[::2])
    for told, code in ends[1::2]:
        assert code == 0 or "clock-behind" in told, told
    assert run("import", path, tmp_path / "games.csv").code == 0
    with Ledger.open(path) as opened:
        kinds = [entry.kind for entry in opened.entries()]
        assert (kinds.count("clock-accepted/1"), kinds.count("game-recorded/1")) == (1, 500)
        assert len(list(opened.rows("games"))) == 500
    assert "Traceback" not in str(ends)


def test_an_import_that_waits_for_the_word_goes_on(club_with_a_future_entry: Ledger, clock: Clock) -> None:
    """The acceptance is written while the import's games are read."""

    def games_and_then_the_word() -> Iterator[object]:
        yield from ()
        with Ledger.open(club_with_a_future_entry.path, clock=clock) as other:
            other.append(ClockAccepted(entry=5))
        yield from batch_games(source_games(20))

    assert club_with_a_future_entry.import_games(games_and_then_the_word()).recorded == 20  # type: ignore[arg-type]


def future_club(folder: Path) -> Path:
    """A ledger whose last entry a clock recorded that was years ahead of the machine's."""
    path = folder / "club.db"
    ahead = [datetime.now(UTC) + timedelta(days=3_000)]
    with Ledger.create(path, clock=lambda: ahead[0]) as made:
        made.register("name:ann", "Ann")
        made.catch_up()
    return path


def test_the_command_tells_both_times_asks_and_records(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = future_club(tmp_path)
    head = run("head", path).out
    done = run("close-run", path, "--as-of", "2020")
    assert (done.code, "'rating-ledger accept-clock DB'" in done.err) == (REFUSED, True)
    done = run("accept-clock", path)
    assert (done.code, "give --yes" in done.err) == (USAGE, True)
    assert "entry 2 was recorded at 20" in done.err
    assert "by 'ledger'" in done.err
    assert f"this machine's clock says {datetime.now(UTC):%Y-%m}" in done.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    assert run("accept-clock", path).code == REFUSED
    assert run("head", path).out == head
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "y")
    done = run("accept-clock", path, "--actor", "admin:eve")
    assert (done.code, done.out) == (0, "")
    assert f"{path}: accepted by entry 3; head 3 " in done.err
    assert run("close-run", path, "--as-of", "2020").code == 0
    (told,) = json.loads(run("log", path, "--kind", "clock-accepted").out)
    assert (told["actor"], told["facts"], told["key"]) == ("admin:eve", {"entry": 2}, "clock:2")


def test_the_command_refuses_where_the_clock_is_not_behind(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    run("init", path)
    head = run("head", path).out
    done = run("accept-clock", path, "--yes")
    assert (done.code, "clock-not-behind" in done.err) == (REFUSED, True)
    assert run("accept-clock", path).code == REFUSED  # it does not ask first
    assert run("head", path).out == head


def test_log_lists_entries_of_a_kind_the_newest_or_all(club_with_a_future_entry: Ledger, run: Run) -> None:
    club_with_a_future_entry.append(ClockAccepted(entry=5))
    club_with_a_future_entry.append(game_recorded("r3"))
    path = club_with_a_future_entry.path
    everything = json.loads(run("log", path).out)
    assert [entry["position"] for entry in everything] == [1, 2, 3, 4, 5, 6, 7]
    lines = run("log", path, "--nl").out.splitlines()
    assert [json.loads(line) for line in lines] == everything
    games = json.loads(run("log", path, "--kind", "game-recorded").out)
    assert [entry["key"] for entry in games] == ["game:r1", "game:r2", "game:r3"]
    assert json.loads(run("log", path, "--kind", "game-recorded/1", "--limit", "2").out) == games[1:]
    assert json.loads(run("log", path, "--limit", "3").out) == everything[-3:]
    assert json.loads(run("log", path, "--limit", "99").out) == everything
    assert json.loads(run("log", path, "--kind", "tournament-closed").out) == []
    assert run("log", path, "--kind", "tournament-closed", "-t").out == "(none)\n"
    table = run("log", path, "--kind", "clock-accepted", "-t").out
    assert '{"entry": 5}' in table
    assert "clock:5" in table


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--kind", "clock"], REFUSED),
        (["--kind", ""], USAGE),
        (["--kind", "clock-accepted/2"], REFUSED),
        (["--game", "r1", "--kind", "game-recorded"], USAGE),
        (["--game", "r1", "--limit", "1"], USAGE),
        (["--limit", "-1"], USAGE),
    ],
)
def test_log_refuses_what_it_cannot_list(
    words: list[str], code: int, club_with_a_future_entry: Ledger, run: Run
) -> None:
    done = run("log", club_with_a_future_entry.path, *words)
    assert (done.code, done.out) == (code, "")


def test_a_table_of_entries_is_cut_and_says_so(club_with_a_future_entry: Ledger, clock: Clock, run: Run) -> None:
    clock.now = FUTURE
    club_with_a_future_entry.append_many([game_recorded(f"g{i}") for i in range(60)])
    done = run("log", club_with_a_future_entry.path, "-t")
    assert len(done.out.splitlines()) == 52
    assert "the newest 50; there are more: --limit 0 shows all" in done.err
    assert "g59" in done.out
    assert "g9 " not in done.out
    assert len(run("log", club_with_a_future_entry.path, "-t", "--limit", "65").out.splitlines()) == 67
    assert len(run("log", club_with_a_future_entry.path, "--csv").out.splitlines()) == 66


def test_a_text_that_looks_like_a_kind_is_not_taken_for_one(club_with_a_future_entry: Ledger, clock: Clock) -> None:
    clock.now = FUTURE
    club_with_a_future_entry.append(game_recorded("odd", tournament='","kind":"clock-accepted/1","position":7'))
    assert list(club_with_a_future_entry.entries("clock-accepted")) == []
