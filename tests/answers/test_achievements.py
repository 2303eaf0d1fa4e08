"""Highest and lowest by scheme, best wins and worst losses, streaks, losses on time, upsets: a club worked out by hand.

Ann, Bob and Cleo come with 60 games behind ratings of 1600, 1900 and 1500. They play under ``elo`` until 2006, with a K
of 20, then under ``nothingbutchess``, which takes their ratings over.
"""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.answers import achievements, player_games, players, streaks, time_losses, upsets
from ledger.answers.crosstables.crosstable import crosstable
from ledger.answers.rows import as_row, as_rows
from ledger.errors import UnknownNameError
from ledger.facts.events import RatingSeeded, SchemeAdopted
from ledger.facts.words import Carry, Outcome, Termination
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import approve, ask
from tests.kit.games import game_recorded, scheme_adopted
from tools.commands import REFUSED, USAGE

ANN, BOB, CLEO = 1, 2, 3
RATINGS = {ANN: "1600", BOB: "1900", CLEO: "1500"}
ON_TIME = Termination.TIME
# Ann's games: day, White, Black, outcome, lost on time.
GAMES = (
    ("2005-12-01", ANN, BOB, Outcome.WHITE, False),
    ("2005-12-02", CLEO, ANN, Outcome.BLACK, False),
    ("2005-12-03", ANN, CLEO, Outcome.BLACK, True),
    ("2005-12-04", BOB, ANN, Outcome.WHITE, True),
    ("2006-01-10", ANN, BOB, Outcome.DRAW, False),
    ("2006-01-11", CLEO, ANN, Outcome.WHITE, True),
    ("2006-05-01", ANN, CLEO, Outcome.WHITE, False),
)


@pytest.fixture(name="achievers_path", scope="module")
def _achievers_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("achievements") / "club.db"
    with Ledger.create(path, scheme="elo", clock=lambda: datetime(2007, 1, 1, tzinfo=UTC)) as ledger:
        for number, name in ((ANN, "Ann"), (BOB, "Bob"), (CLEO, "Cleo")):
            ledger.register(f"name:{name.lower()}", name)
            ledger.append(
                RatingSeeded(
                    pool="standard",
                    player=number,
                    rating=RATINGS[number],
                    games=60,
                    source="old list",
                    effective_at="2005-01",
                )
            )
        ledger.append(
            SchemeAdopted(
                pool="standard", scheme="nothingbutchess", settings={}, effective_from="2006", carry=Carry.KEEP
            )
        )
        for number, (day, white, black, outcome, on_time) in enumerate(GAMES, 1):
            ledger.append(
                game_recorded(
                    f"g{number}",
                    white=white,
                    black=black,
                    ended_at=day,
                    outcome=outcome,
                    half_moves=40,
                    **({"termination": ON_TIME} if on_time else {}),
                )
            )
        ledger.catch_up()
    return path


@pytest.fixture(name="achievers")
def _achievers(achievers_path: Path) -> Iterator[Ledger]:
    with Ledger.open(achievers_path) as ledger:
        ledger.ensure_up_to_date()
        yield ledger


def ratings_of(ledger: Ledger, player: int) -> list[float]:
    return [row["rating"] for row in ledger.rows("history", "player = ? ORDER BY n", (player,))]


def found(ledger: Ledger, what: str, at: str | None = None) -> list[dict[str, Any]]:
    return [
        row for row in as_rows(achievements.achievements(ledger, ledger.player("Ann"), at=at)) if row["what"] == what
    ]


def test_highest_and_lowest_stand_by_scheme_with_their_games(achievers: Ledger) -> None:
    rating = ratings_of(achievers, ANN)  # up with g1 and g2, down with g3, g4; then under the other scheme
    present, earlier, brought = found(achievers, "highest")
    assert (earlier["rating"], earlier["game"]) == (rating[1], "g2") == (max(rating[:4]), "g2")
    assert (earlier["scheme"], earlier["other_system"], earlier["in_force"]) == ("elo", True, "2005-12-02")
    assert (present["rating"], present["scheme"], present["other_system"]) == (
        max(rating[4:]),
        "nothingbutchess",
        False,
    )
    assert (brought["rating"], brought["scheme"], brought["other_system"], brought["game"], brought["in_force"]) == (
        1600.0,
        "old list",
        True,
        None,
        "2005-01-01",
    )
    assert [(row["rating"], row["scheme"]) for row in found(achievers, "lowest")] == [
        (min(rating[4:]), "nothingbutchess"),
        (min(rating[:4]), "elo"),
    ]
    (of_2005,) = (row for row in found(achievers, "highest", "2005") if not row["other_system"])
    assert (of_2005["scheme"], of_2005["game"]) == ("elo", "g2")


def test_what_was_reached_before_a_change_is_of_another_system_also_for_who_has_not_played_since(
    achievers_path: Path, tmp_path: Path
) -> None:
    for file in achievers_path.parent.glob("club*.db"):
        shutil.copy(file, tmp_path)
    with Ledger.open(tmp_path / achievers_path.name) as ledger:
        told = as_row(players.summary(ledger, ledger.player("Ann")))
        assert told["lowest_scheme"] == told["scheme"] == "nothingbutchess"
        ledger.append(scheme_adopted("glicko2", effective_from="2020-01-01", carry=Carry.KEEP))
        for name in ("Dan", "Eve"):
            ledger.register(f"name:{name}", name)
        ledger.append(game_recorded("other", white=4, black=5, ended_at="2020-02-02", half_moves=40))
        ledger.ensure_up_to_date()
        assert {row["other_system"] for row in found(ledger, "highest")} == {True}
        assert [row["other_system"] for row in found(ledger, "highest", "2019-12")] == [False, True, True]
        told = as_row(players.summary(ledger, ledger.player("Ann")))
        assert (told["scheme"], told["lowest"], told["lowest_scheme"]) == ("glicko2", None, None)


def test_best_wins_and_worst_losses_are_by_the_rating_before_the_game(achievers: Ledger) -> None:
    wins, losses = found(achievers, "best win"), found(achievers, "worst loss")
    assert [(row["place"], row["game"], row["opponent"]) for row in wins] == [
        (1, "g1", "Bob"),
        (2, "g7", "Cleo"),
        (3, "g2", "Cleo"),
    ]
    assert [row["opponent_rating_before"] for row in wins][::2] == [1900.0, 1500.0]
    assert [(row["game"], row["result"]) for row in losses] == [("g3", "loss"), ("g6", "loss"), ("g4", "loss")]
    assert [row["other_system"] for row in losses] == [True, False, True]


def test_streaks_of_each_kind_with_their_first_and_last_games(achievers: Ledger) -> None:
    def spans(at: str | None = None) -> dict[tuple[str, str], tuple[Any, ...]]:
        rows = as_rows(streaks.streaks(achievers, achievers.player("Ann"), at=at))
        return {(row["streak"], row["which"]): (row["games"], row["first_game"], row["last_game"]) for row in rows}

    assert spans() == {
        ("winning", "current"): (1, "g7", "g7"),
        ("winning", "longest"): (2, "g1", "g2"),
        ("unbeaten", "current"): (1, "g7", "g7"),
        ("unbeaten", "longest"): (2, "g1", "g2"),
        ("losing", "current"): (0, None, None),
        ("losing", "longest"): (2, "g3", "g4"),
    }
    assert spans("2005-12-04")["losing", "current"] == (2, "g3", "g4")
    assert spans("2004")["winning", "longest"] == (0, None, None)


def test_losses_on_time_by_windows_of_games_and_days(achievers: Ledger) -> None:
    rows = {row["window"]: row for row in as_rows(time_losses.time_loss_windows(achievers, achievers.player("Ann")))}
    assert list(rows) == ["last 50 games", "last 100 games", "all games", "last 90 days", "last 365 days"]
    every = rows["all games"]
    assert (every["games"], every["time_losses"], every["percent"]) == (7, 3, 300 / 7)
    assert (every["longest_run"], every["run_from_game"], every["run_to_game"]) == (2, "g3", "g4")
    assert (rows["last 90 days"]["games"], rows["last 90 days"]["time_losses"]) == (1, 0)  # from 2006-02-01 on
    then = {
        row["window"]: row
        for row in as_rows(time_losses.time_loss_windows(achievers, achievers.player("Ann"), at="2006-01-11"))
    }
    assert (then["last 90 days"]["games"], then["last 90 days"]["time_losses"]) == (6, 3)
    nobody = as_rows(time_losses.time_loss_windows(achievers, achievers.player("Ann"), at="2004"))
    assert {(row["games"], row["percent"]) for row in nobody} == {(0, None)}


def test_runs_are_of_neighbours_and_the_first_of_the_longest_holds() -> None:
    assert time_losses.longest_run([]) == (0, 0)
    assert time_losses.longest_run([4]) == (4, 4)
    assert time_losses.longest_run([1, 2, 5, 6, 9]) == (1, 2)
    assert time_losses.longest_run([1, 5, 6, 7, 9, 10]) == (5, 7)


def test_the_mark_is_off_by_default_and_shows_its_evidence(tmp_path: Path, achievers_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as ledger:  # its own, for it is written to
        ledger.register("name:ann", "Ann")
        ledger.register("name:bob", "Bob")
        for number, on_time in enumerate((True, True, False), 1):
            termination = ON_TIME if on_time else Termination.RESIGNATION
            ledger.append(
                game_recorded(f"g{number}", ended_at=f"2020-01-0{number}", half_moves=40, termination=termination)
            )
        ledger.catch_up()
        bob = ledger.player("Bob")
        before = as_row(time_losses.time_loss_mark(ledger, bob))
        assert (before["look"], before["suggestion"], before["evidence"]) == (False, None, ["g1", "g2"])
        settings = {"on": True, "games": 3, "at_least": 2, "percent": 60}
        ledger.policies.set("sandbagger", settings, effective_from="2020-01-03", actor="eve")
        marked = as_row(time_losses.time_loss_mark(ledger, bob))
        assert (marked["games"], marked["time_losses"], marked["look"]) == (3, 2, True)
        assert marked["suggestion"].startswith("2 of the last 3 games were lost on time: somebody should look")
        assert not as_row(time_losses.time_loss_mark(ledger, bob, at="2020-01-02"))[
            "look"
        ]  # the policy did not hold yet
        assert [
            (row["name"], row["look"], row["evidence"]) for row in as_rows(time_losses.time_loss_marks(ledger))
        ] == [("Bob", True, ["g1", "g2"])]
        assert [row["time_losses"] for row in as_rows(time_losses.time_loss_marks(ledger, at="2020-01-01"))] == [1]
        ledger.policies.set("sandbagger", {"percent": 70}, effective_from="2020-01-03", actor="eve")
        assert not as_row(time_losses.time_loss_mark(ledger, bob))["look"]
    with Ledger.open(achievers_path) as opened:
        assert not any(row["look"] for row in as_rows(time_losses.time_loss_marks(opened)))


def test_upsets_are_judged_by_the_margin_of_their_day(tmp_path: Path, achievers: Ledger) -> None:
    (first,) = as_rows(upsets.upsets(achievers))
    assert (first["name"], first["opponent"], first["game"], first["surplus"]) == ("Ann", "Bob", "g1", 300.0)
    assert (first["rating_before"], first["opponent_rating_before"], first["margin"]) == (1600.0, 1900.0, 200)
    every = as_rows(upsets.upsets(achievers, margin=0))
    assert {row["game"] for row in every} == {"g1", "g3", "g6"}  # Cleo was rated below Ann
    assert [row["surplus"] for row in every] == sorted((row["surplus"] for row in every), reverse=True)
    of_cleo = as_rows(upsets.upsets(achievers, margin=0, person=achievers.player("Cleo"), until="2005"))
    assert [row["game"] for row in of_cleo] == ["g3"]
    assert as_rows(upsets.upsets(achievers, since="2005-12-02")) == []
    assert len(as_rows(upsets.upsets(achievers, margin=0, limit=2))) == 2
    assert upsets.upsets(achievers, margin=10**30) == upsets.upsets(achievers, margin=10**30, limit=2) == []


@pytest.mark.parametrize("margin", [None, 0, 199, 200, 201, 350])
def test_the_largest_upsets_are_the_first_of_all_whichever_the_margin(sample_folder: Path, margin: int | None) -> None:
    with Ledger.open(sample_folder / "club.db") as ledger:
        every = as_rows(upsets.upsets(ledger, margin=margin))
        assert len(every) > 2
        for limit in (1, 2, len(every) - 1, len(every) + 1):
            assert as_rows(upsets.upsets(ledger, margin=margin, limit=limit)) == every[:limit]


def test_a_later_margin_leaves_the_games_before_it(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as ledger:
        ledger.register("name:ann", "Ann", declared_rating=1500)
        ledger.register("name:bob", "Bob", declared_rating=1800)
        for number in (1, 2):
            ledger.append(game_recorded(f"g{number}", ended_at=f"2020-0{number}-01", half_moves=40))
        ledger.policies.set("upsets", {"margin": 1000}, effective_from="2020-02", actor="eve")
        ledger.catch_up()
        assert [(row["game"], row["margin"]) for row in as_rows(upsets.upsets(ledger))] == [("g1", 200)]
        ledger.policies.set("upsets", {"margin": 10}, effective_from="2019", actor="eve")
        ledger.catch_up()
        assert [(row["game"], row["margin"]) for row in as_rows(upsets.upsets(ledger))] == [("g1", 10)]


def test_of_an_unrated_player_nothing_is_a_best_win_or_an_upset(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "federation.db", scheme="fide") as ledger:
        for name, rating in (("Ann", 2000), ("Bob", 1900), ("New", None)):
            ledger.register(f"name:{name.lower()}", name, declared_rating=rating)
        new = 3
        for day, white, black in ((1, new, ANN), (2, ANN, new), (3, BOB, ANN), (4, ANN, BOB)):
            game = game_recorded(f"g{day}", white=white, black=black, ended_at=f"2024-05-0{day}", half_moves=40)
            ledger.append(attrs.evolve(game, tournament="Open"))
        ledger.append(game_recorded("later", white=ANN, black=BOB, ended_at="2024-08-01", half_moves=40))
        ledger.catch_up()
        ann = {row["what"]: row["game"] for row in as_rows(achievements.achievements(ledger, ledger.player("Ann")))}
        assert ann == {"best win": "g4", "worst loss": "g3"}
        of_newcomer = as_rows(achievements.achievements(ledger, ledger.player("New")))
        assert [(row["what"], row["game"], row["opponent_rating_before"]) for row in of_newcomer] == [
            ("best win", "g1", 2000.0),
            ("worst loss", "g2", 2000.0),
        ]
        assert [row["game"] for row in as_rows(upsets.upsets(ledger, margin=1))] == ["g3"]
        surpluses = {
            (standing.name, result.game): result.surplus
            for standing in crosstable(ledger, "Open").standings
            for result in standing.results
        }
        assert {surpluses["New", "g1"], surpluses["Ann", "g1"], surpluses["New", "g2"]} == {None}
        assert surpluses["Bob", "g3"] == 100.0


def test_games_of_a_running_period_count_for_streaks_and_losses_on_time_and_for_no_highest_rating(
    tmp_path: Path,
) -> None:
    with Ledger.create(tmp_path / "federation.db", scheme="fide") as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name, declared_rating=2000)
        for day in ("2024-05-01", "2024-05-02", "2024-06-10"):
            game = game_recorded(day, ended_at=day, half_moves=40, outcome=Outcome.WHITE, termination=ON_TIME)
            ledger.append(game)
        ledger.catch_up()
        ledger.clock = lambda: datetime(2024, 6, 29, tzinfo=UTC)
        ann, bob = ledger.player("Ann"), ledger.player("Bob")
        wins = next(row for row in streaks.streaks(ledger, ann) if (row.streak, row.which) == ("winning", "current"))
        assert (wins.games, wins.last_game) == (3, "2024-06-10")
        then = next(row for row in streaks.streaks(ledger, ann, at="2024-06-29") if row.streak == "winning")
        assert then.games == 2, "June was not over"
        assert [
            window.games for window in time_losses.time_loss_windows(ledger, bob) if window.window == "all games"
        ] == [3]
        marks = {mark.who.player: mark for mark in time_losses.time_loss_marks(ledger) if mark.who is not None}
        alone, among = time_losses.time_loss_mark(ledger, bob), marks[bob.player]
        assert (alone.games, alone.time_losses) == (among.games, among.time_losses) == (3, 3)
        assert "2024-06-10" not in {row["game"] for row in as_rows(achievements.achievements(ledger, ann))}
        ledger.clock = lambda: datetime(2024, 7, 1, tzinfo=UTC)
        assert "2024-06-10" in {row["game"] for row in as_rows(achievements.achievements(ledger, ann))}


def test_a_newcomer_counts_with_the_rating_that_the_formula_takes(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as ledger:
        ledger.register("name:ann", "Ann")
        ledger.register("name:bob", "Bob")
        ledger.append(game_recorded("g1", ended_at="2024-05-01", half_moves=40))
        ledger.catch_up()
        (won,) = as_rows(achievements.achievements(ledger, ledger.player("Ann")))
        assert (won["rating_before"], won["opponent_rating_before"]) == (None, 1400.0)


def test_all_of_them_follow_a_correction(tmp_path: Path) -> None:
    """The first game is voided: what is asked afterwards is as if it had never been rated."""

    def answers(ledger: Ledger) -> list[Any]:
        ann = ledger.player("Ann")
        return [
            as_rows(achievements.achievements(ledger, ann)),
            as_rows(streaks.streaks(ledger, ann)),
            as_rows(time_losses.time_loss_windows(ledger, ann)),
            as_rows(upsets.upsets(ledger, margin=0)),
            as_row(players.summary(ledger, ann))["lowest"],
        ]

    def played(path: Path, first: int) -> Ledger:
        ledger = Ledger.create(path)
        ledger.register("name:ann", "Ann", declared_rating=1500)
        ledger.register("name:bob", "Bob", declared_rating=1800)
        for number in range(first, 60):
            outcome = (Outcome.WHITE, Outcome.BLACK, Outcome.DRAW)[number % 3]
            termination = ON_TIME if number % 7 == 1 and outcome is not Outcome.DRAW else Termination.UNKNOWN
            ledger.append(
                game_recorded(
                    f"g{number:02}",
                    ended_at=f"2020-01-01T00:{number:02}:00Z",
                    half_moves=40,
                    outcome=outcome,
                    termination=termination,
                )
            )
        ledger.catch_up()
        return ledger

    with played(tmp_path / "corrected.db", 0) as corrected, played(tmp_path / "right.db", 1) as right:
        before = answers(corrected)
        approve(corrected, ask(corrected, "void", game="g00"))
        corrected.catch_up()
        assert answers(corrected) == answers(right) != before
        assert all(answers(right))


def test_the_summary_tells_the_lowest_under_the_present_scheme(achievers: Ledger) -> None:
    told = as_row(players.summary(achievers, achievers.player("Ann")))
    assert (told["lowest"], told["lowest_scheme"]) == (min(ratings_of(achievers, ANN)[4:]), "nothingbutchess")
    assert {"wins", "draws", "losses", "hera", "hera_date", "joined"} <= set(told)


def test_a_ledger_that_keeps_a_read_model_no_more_says_so(achievers_path: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "copy").mkdir()
    for file in achievers_path.parent.glob("club.*"):
        (tmp_path / "copy" / file.name).write_bytes(file.read_bytes())
    club = tmp_path / "copy" / "club.db"
    with Ledger.open(club, projectors=()) as ledger:  # who opens it with fewer takes nothing away
        assert as_rows(streaks.streaks(ledger, ledger.player("Ann")))
    assert run("policy", "set", club, "read-models", "streaks=false", "highest_lowest=false").code == 0
    with Ledger.open(club) as ledger:
        ledger.ensure_up_to_date()
        with pytest.raises(UnknownNameError, match="no read model 'streaks' in this ledger; it keeps these"):
            as_rows(streaks.streaks(ledger, ledger.player("Ann")))
        assert as_row(players.summary(ledger, ledger.player("Ann")))["lowest"] is None


def test_the_commands_answer_in_every_format(achievers_path: Path, run: Run) -> None:
    for command in ("best", "streaks", "time-losses"):
        words = [command, achievers_path, "Ann"]
        rows = json.loads(run(*words).out)
        assert rows
        for options in (["-t"], ["--csv"], ["--at", "2006-01-11"]):
            done = run(*words, *options)
            assert (done.code, done.err) == (0, "")
        assert len(run(*words, "--csv").out.splitlines()) == len(rows) + 1
        assert run(*words, "--at", "May").code == USAGE
    assert json.loads(run("time-losses", achievers_path, "Ann", "--mark").out)["evidence"] == ["g3", "g4", "g6"]
    assert [row["look"] for row in json.loads(run("time-losses", achievers_path, "--all").out)] == [False]
    few = run("time-losses", achievers_path, "--all", "--limit", "1", "--nl")
    assert (few.code, len(few.out.splitlines())) == (0, 1)
    alone = run("time-losses", achievers_path, "Ann", "--limit", "1")
    assert (alone.code, "--limit goes with --all" in alone.err) == (USAGE, True)
    assert [row["game"] for row in json.loads(run("upsets", achievers_path).out)] == ["g1"]
    table = run("upsets", achievers_path, "--margin", "0", "--limit", "1", "-t")
    assert "there are more" in table.err
    of_cleo = run("upsets", achievers_path, "--margin", "0", "--player", "Cleo", "--to", "2005", "--nl")
    assert len(of_cleo.out.splitlines()) == 1
    assert run("time-losses", achievers_path).code == USAGE
    assert run("time-losses", achievers_path, "Ann", "--all").code == USAGE
    assert run("upsets", achievers_path, "--from", "May").code == USAGE
    assert run("best", achievers_path, "Dora").code == REFUSED


def _titles(path: Path, player: str, at: str | None = None) -> list[tuple[str | None, bool | None, int | None]]:
    with Ledger.open(path, clock=lambda: datetime(2007, 1, 1, tzinfo=UTC)) as ledger:
        rows = achievements.achievements(ledger, ledger.player(player), at=at)
        return [(row.title, row.held, row.reached.n) for row in rows if row.what == "title"]


def _with_titles(achievers_path: Path, tmp_path: Path, settings: dict[str, Any], since: str | None = None) -> Path:
    path = Path(shutil.copytree(achievers_path.parent, tmp_path / "titles")) / achievers_path.name
    with Ledger.open(path, clock=lambda: datetime(2007, 1, 1, tzinfo=UTC)) as ledger:
        ledger.policies.set("titles", settings, effective_from=since)
        ledger.catch_up()
    return path


def test_nobody_has_a_title_unless_the_policy_is_on(achievers_path: Path) -> None:
    assert _titles(achievers_path, "bob") == []


def test_a_title_is_kept_or_lost_by_the_rule_of_the_policy(achievers_path: Path, tmp_path: Path) -> None:
    ratings = [row.rating for row in _bob(achievers_path)]
    highest = max(ratings)
    limit = round(highest)
    path = _with_titles(achievers_path, tmp_path, {"on": True, "local-master": limit, "expert": 0})
    first = ratings.index(highest) + 1
    assert ratings[-1] < limit - 0.5
    assert _titles(path, "bob") == [("Local Master", True, first)]
    assert _titles(path, "ann") == []
    with Ledger.open(path) as ledger:
        ledger.policies.set("titles", {"keep": False})
        ledger.catch_up()
    assert _titles(path, "bob") == [("Local Master", False, first)]


def _bob(path: Path) -> list[Any]:
    with Ledger.open(path) as ledger:
        return list(reversed(player_games.games(ledger, ledger.player("bob"))))


def test_a_title_needs_the_games_and_the_limit_of_the_day(achievers_path: Path, tmp_path: Path) -> None:
    games = _bob(achievers_path)
    path = _with_titles(achievers_path, tmp_path, {"on": True, "expert": 1800, "games": 62}, since="2005-12-04")
    # 60 games are behind the list's rating: the second game is the 62nd
    assert _titles(path, "bob") == [("Expert", True, 2)]
    assert games[1].ended_at == "2005-12-04"
    assert _titles(path, "bob", at="2005-12-03") == []


def test_a_title_with_a_name_like_another_is_pointed_out(achievers_path: Path, tmp_path: Path, run: Run) -> None:
    path = _with_titles(achievers_path, tmp_path, {"on": True})
    done = run("policy", "set", path, "titles", "exprt=2100")
    assert (done.code, "exprt is a name of your own: did you mean 'expert'?" in done.err) == (0, True)
    assert "a name of your own" not in run("policy", "set", path, "titles", "grandmaster=2500").err
