"""Rankings with all that is told beside the rating, now and at any instant, against what can be counted by hand."""

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import attrs
import pytest

from ledger.answers import player_games, players, rankings
from ledger.answers.player_games import GameFilter
from ledger.answers.rankings import RankingChoice, ranking, rating_class, rating_strength
from ledger.answers.recorded_games import filtered_games
from ledger.answers.rows import as_row, as_rows
from ledger.audit.audit import audit
from ledger.book.policies import CLASSES, Policies
from ledger.facts.instants import instant_end_ms
from ledger.facts.periods import DAY_MS
from ledger.ledger import Ledger
from ledger.ratings import queries, standings
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.standings import Standings, rating_list_at
from ledger.runtime import sqlite
from ledger.schemes import built_in_names
from ledger.schemes.chessworld import strength
from tests.kit.commands import Run
from tests.kit.places import SAMPLE
from tests.tiers import few_quick
from tests.vectors.published import rating_class as published_rating_class
from tools import cli

DAYS = ("2004-12-31", "2005-07", "2006-03-15", "2006-09-08")


@pytest.mark.parametrize("rating", [0.0, 1399.49, 1399.5, 1600.4, 1600.5, 1879.6, 2199.4, 2199.5, 2400.49, 2400.5])
def test_the_defaults_are_chessworlds_classes(rating: float) -> None:
    settings = Policies([]).settings_at(CLASSES, 0)
    points = int(rating + 0.5)
    assert rating_class(rating, settings) == published_rating_class(points)
    assert rating_strength(rating, settings) == strength(points)


def test_place_and_percentile_are_those_of_a_count(sample_folder: Path) -> None:
    with Ledger.open(sample_folder / "club.db") as ledger:
        rows = as_rows(ranking(ledger, RankingChoice()))
        assert [{name: row[name] for name in list(row)[:6]} for row in rows] == as_rows(ledger.ranking(limit=1000))
        for row in rows:
            below = sum(other["rating"] < row["rating"] for other in rows)
            assert row["percentile"] == pytest.approx(100 * below / len(rows))
            alone = as_row(players.summary(ledger, ledger.player(str(row["player"]))))
            place = ("rank", "percentile", "class", "strength")
            assert {name: alone[name] for name in place} == {name: row[name] for name in place}
        assert [row["percentile"] for row in as_rows(ranking(ledger, RankingChoice(limit=5)))] == [
            row["percentile"] for row in rows[:5]
        ]
        assert {row["provisional"] for row in rows} <= {True, False}
        assert {row["rd"] for row in rows} == {None}


@pytest.mark.parametrize("at", [None, "2006-03-15"])
def test_rows_that_stand_far_behind_cost_no_more_than_they_are(
    at: str | None, sample_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = list[int]()

    def names(ledger: Ledger, players: Collection[int]) -> Mapping[int, str]:
        named.append(len(players))
        called: Mapping[int, str] = real(ledger, players)
        return called

    real = vars(rankings)["names"]
    with Ledger.open(sample_folder / "club.db") as ledger:
        choice = RankingChoice(at=at, limit=9)
        every = ranking(ledger, choice)
        monkeypatch.setattr(rankings, "names", names)
        for offset in (0, 1, 7, 9, 20):
            assert ranking(ledger, attrs.evolve(choice, offset=offset)) == every[offset:]
        assert named == [len(every[offset:]) for offset in (0, 1, 7, 9, 20)]
        ann = ledger.player("ann")
        for everything in (False, True):
            games = player_games.games(ledger, ann, last=30, everything=everything)
            assert player_games.games(ledger, ann, last=30, offset=25, everything=everything) == games[25:]
        day = GameFilter(on="2006")
        assert filtered_games(ledger, day, most=20, offset=15) == filtered_games(ledger, day, most=20)[15:] != []


def worked_out(states: PlayerStates, at: str) -> list[tuple[float | None, int, int]]:
    """Rating, player and games of everybody whom a list of that day shows, best first, state by state."""
    listed = [(state.in_force, state.player, state.games) for state in states.all_at(instant_end_ms(at))]
    return sorted(listed, key=lambda row: (-(row[0] or 0.0), row[1]))


@pytest.mark.parametrize("at", DAYS)
def test_at_an_instant_it_is_the_list_in_force(sample_folder: Path, at: str) -> None:
    with Ledger.open(sample_folder / "club.db") as ledger:
        rows = as_rows(ranking(ledger, RankingChoice(at=at)))
        states = PlayerStates(ledger.views.connection, ledger.pool())
        assert states.rows_say_all(instant_end_ms(at))
        listed = rating_list_at(ledger.views.connection, ledger.pool(), instant_end_ms(at))
        assert [(row["rank"], row["player"], row["rating"], row["games"], row["last_game"]) for row in rows] == [
            (row.rank, row.player, row.rating, row.games, row.last_game) for row in listed
        ]
        assert [(row.rating, row.player, row.games) for row in listed] == worked_out(states, at)


@pytest.mark.parametrize("at", DAYS)
@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_the_best_of_a_past_day_are_those_of_everybody_though_few_are_looked_up(
    at: str, limit: int, sample_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MANY_SINCE", queries.MANY_SINCE.replace("OFFSET 5000", "OFFSET 0"))
    monkeypatch.setattr(standings, "FEW_PLAYERS", 0)
    with Ledger.open(sample_folder / "club.db") as ledger:
        connection, pool, ms = ledger.views.connection, ledger.pool(), instant_end_ms(at)
        everybody = worked_out(PlayerStates(connection, pool), at)
        best = Standings(connection, pool, ms).best(limit)
        assert [(player.rating, player.player, player.games) for player in best] == everybody[:limit]
        lately = Standings(connection, pool, ms, min_games=30, active_from=ms - 30 * DAY_MS)
        assert lately.best(limit) == lately.best()[:limit]


@pytest.mark.parametrize("scheme", few_quick(built_in_names(), "chessworld", "glicko2", "fide"))
def test_under_every_scheme_the_best_of_a_past_day_are_those_of_everybody(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standings, "FEW_PLAYERS", 0)
    path = tmp_path / "club.db"
    assert cli.main(["init", str(path), "--scheme", scheme]) == 0
    assert cli.main(["import", str(path), str(SAMPLE)]) == 0
    with Ledger.open(path) as ledger:
        connection, pool = ledger.views.connection, ledger.pool()
        states = PlayerStates(connection, pool)
        for at in DAYS:
            if scheme in {"elo", "fide", "chessworld", "uschess"}:
                assert states.games_alone_change(instant_end_ms(at))
            everybody = worked_out(states, at)
            for limit in (1, 3, 1000):
                best = Standings(connection, pool, instant_end_ms(at)).best(limit)
                assert [(player.rating, player.player, player.games) for player in best] == everybody[:limit]


def test_who_rose_without_a_game_in_march_2024_is_among_the_best_of_a_later_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FIDE raised every rating below 2000: no row of who has not played since says so."""
    monkeypatch.setattr(standings, "FEW_PLAYERS", 0)
    path, games = tmp_path / "club.db", tmp_path / "games.csv"
    before = [f"Old {n},Older {n},1/2-1/2,unknown,40,2023-11-{n + 1:02}" for n in range(5)]
    after = [f"New {n},Newer {n},1-0,unknown,40,2024-05-{n + 1:02}" for n in range(20)]
    games.write_text("\n".join(["white,black,result,termination,half_moves,ended_at", *before, *after, ""]))
    assert cli.main(["init", str(path), "--scheme", "fide", "--set", "start=1500"]) == 0
    assert cli.main(["import", str(path), str(games)]) == 0
    with Ledger.open(path) as ledger:
        connection, pool = ledger.views.connection, ledger.pool()
        states = PlayerStates(connection, pool)
        for at, rating, games_alone in (("2024-02-28", 1500.0, True), ("2024-12-31", 1700.0, False)):
            ms = instant_end_ms(at)
            assert states.games_alone_change(ms) is games_alone
            best = [(player.rating, player.player, player.games) for player in Standings(connection, pool, ms).best(10)]
            assert best == worked_out(states, at)[:10]
            assert best[0][0] == rating
            assert Standings(connection, pool, ms).best(0) == []


@pytest.mark.slow
def test_a_bound_that_is_too_high_costs_time_and_changes_no_answer(
    sample_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MANY_SINCE", queries.MANY_SINCE.replace("OFFSET 5000", "OFFSET 0"))
    monkeypatch.setattr(standings, "FEW_PLAYERS", 0)
    with Ledger.open(sample_club) as ledger:
        connection, pool = ledger.views.connection, ledger.pool()
        best = Standings(connection, pool, instant_end_ms("2005-07")).best(3)
        (worst,) = connection.execute("SELECT player FROM rating_bounds ORDER BY rating LIMIT 1").fetchone()
        with sqlite.write_transaction(connection):
            connection.execute("UPDATE rating_bounds SET rating = 9999 WHERE player = ?", (worst,))
        assert Standings(connection, pool, instant_end_ms("2005-07")).best(3) == best
    assert audit(sample_club).falsehoods == ()


def test_only_who_has_played_lately(sample_folder: Path) -> None:
    with Ledger.open(sample_folder / "club.db") as ledger:
        every = as_rows(ranking(ledger, RankingChoice(), details=False))
        active = as_rows(ranking(ledger, RankingChoice(active_days=10), details=False))
        last = max(row["last_game"] for row in every)
        assert 0 < len(active) < len(every)
        assert all(row["last_game"] >= "2006-08-29" for row in active)
        assert last == "2006-09-08"
        assert [row["rank"] for row in active] == list(range(1, len(active) + 1))
        then = as_rows(ranking(ledger, RankingChoice(at="2005-07", active_days=30)))
        assert then[-1]["percentile"] == 0
        assert all("2005-07-02" <= row["last_game"] <= "2005-07-31" for row in then)


@pytest.mark.parametrize(
    "choice",
    [
        RankingChoice(active_days=10),
        RankingChoice(active_days=10, min_games=20),
        RankingChoice(active_days=10, limit=3),
    ],
)
def test_few_who_have_played_lately_are_ranked_and_counted_as_many_are(
    sample_folder: Path, choice: RankingChoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(sample_folder / "club.db") as ledger:
        few = ranking(ledger, choice)
        monkeypatch.setattr(queries, "MANY_ACTIVE", queries.MANY_ACTIVE.replace("OFFSET 5000", "OFFSET 0"))
        assert not Standings(ledger.views.connection, ledger.pool(), active_from=0)._are_few_active
        assert ranking(ledger, choice) == few


def test_the_change_since_a_day(sample_folder: Path) -> None:
    with Ledger.open(sample_folder / "club.db") as ledger:
        then = {row["player"]: row["rating"] for row in as_rows(ranking(ledger, RankingChoice(at="2005-07")))}
        rows = as_rows(ranking(ledger, RankingChoice(since="2005-07"), details=False))
        assert any(row["change"] for row in rows)
        for row in rows:
            assert row["before"] == then.get(row["player"])
            assert row["change"] == (None if row["before"] is None else row["rating"] - row["before"])


@pytest.fixture(scope="module")
def two_schemes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample club by elo and, from 2006 on, by glicko2; a list of its spring is published."""
    path = tmp_path_factory.mktemp("ranked") / "club.db"
    for words in (
        ["init", path, "--scheme", "elo"],
        ["import", path, SAMPLE],
        ["scheme", "adopt", path, "--scheme", "glicko2", "--from", "2006-01-01", "--carry", "keep"],
        ["publish", path, "--at", "2006-03-31", "--by", "eve", "--despite-complaints"],
    ):
        assert cli.main([str(word) for word in words]) == 0
    return path


@pytest.mark.parametrize("at", ["2005-07", "2006-03-31"])
def test_a_pool_whose_scheme_changes(two_schemes: Path, at: str) -> None:
    with Ledger.open(two_schemes) as ledger:
        states = PlayerStates(ledger.views.connection, ledger.pool())
        rows = as_rows(ranking(ledger, RankingChoice(at=at)))
        assert [(row["rating"], row["player"], row["games"]) for row in rows] == worked_out(states, at)
        assert all((row["rd"] is not None) == (at > "2006") for row in rows)
        now = as_rows(ranking(ledger, RankingChoice()))
        assert [row["rating"] for row in now] == [row["rating"] for row in as_rows(ledger.ranking(limit=1000))]
        assert all(row["rd"] > 0 for row in now)


def test_the_change_since_a_published_list(two_schemes: Path, run: Run) -> None:
    rows = json.loads(run("ratings", two_schemes, "--since-list", "standard@2006-03-31").out)
    with Ledger.open(two_schemes) as ledger:
        publications = ledger.publications
        published = {row.player: row.rating for row in publications.rows(publications.named("standard@2006-03-31"))}
    assert {row["player"]: row["before"] for row in rows} == {
        row["player"]: published.get(row["player"]) for row in rows
    }
    assert run("ratings", two_schemes, "--since-list", "standard@2001-03-31").code == 1
    assert run("ratings", two_schemes, "--since-list", "x@2001", "--since", "2001").code == 2
    assert run("ratings", two_schemes, "--at", "soon").code == 2


def test_another_site_sets_its_classes_from_a_day(two_schemes: Path, tmp_path: Path, run: Run) -> None:

    path = Path(shutil.copytree(two_schemes.parent, tmp_path / "copy")) / "club.db"
    assert run("policy", "set", path, "classes", "everywhere=true", "--by", "eve").code == 0
    words = ("classes", "b_from=1000", "advanced_from=1500", "--from", "2006", "--by", "eve")
    assert run("policy", "set", path, *words).code == 0
    late = json.loads(run("ratings", path, "--details").out)
    early = json.loads(run("ratings", path, "--details", "--at", "2005-07").out)
    assert {row["class"] for row in late if 1000 <= row["rating"] < 1399} == {"B"}
    assert {row["class"] for row in early if 1000 <= row["rating"] < 1399} == {"A"}
    assert {row["strength"] for row in late if row["rating"] > 1500} == {"Advanced"}
    assert {row["strength"] for row in early if 1500 < row["rating"] < 1600} == {"Beginner"}


def test_a_table_for_people(two_schemes: Path, run: Run) -> None:
    head, _, first, *_ = run("ratings", two_schemes, "--details", "--since", "2005", "-t").out.splitlines()
    assert head.split() == [
        "rank", "player", "name", "rating", "games", "last_game", "percentile", "class", "strength", "provisional",
        "rd", "before", "change",
    ]  # fmt: skip
    assert "93" in first.split()
    assert run("ratings", two_schemes, "-t").out.splitlines()[0].split() == head.split()[:6]


def test_as_known_at_a_position(two_schemes: Path, run: Run) -> None:
    rows = json.loads(run("ratings", two_schemes, "--at", "2006-03-31", "--known-at", "300", "--details").out)
    with Ledger.open(two_schemes) as ledger:
        now = as_rows(ranking(ledger, RankingChoice(at="2006-03-31")))
    assert rows
    assert sum(row["games"] for row in rows) < sum(row["games"] for row in now)


@pytest.mark.parametrize("at", [*DAYS, "2005-09-01"])
@pytest.mark.parametrize("few", [True, False])
def test_the_best_of_a_day_alone_are_the_first_of_the_whole_ranking(
    sample_folder: Path, monkeypatch: pytest.MonkeyPatch, at: str, *, few: bool
) -> None:
    monkeypatch.setattr(queries, "MANY_SINCE", queries.MANY_SINCE.replace("5000", "5000" if few else "0"))
    with Ledger.open(sample_folder / "club.db") as ledger:
        for choice in (RankingChoice(at=at), RankingChoice(at=at, min_games=5), RankingChoice(at=at, active_days=20)):
            whole = as_rows(ranking(ledger, choice, details=False))
            assert as_rows(ranking(ledger, attrs.evolve(choice, limit=3), details=False)) == whole[:3]


def test_many_players_are_looked_up_at_a_day_as_few_are(sample_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(sample_folder / "club.db") as ledger:
        at = Standings(ledger.views.connection, ledger.pool(), instant_end_ms("2005-07"))
        asked = [*(player.player for player in at.best()[::2]), 10**6]
        few = at.of(asked)
        assert len(few) == len(asked) - 1
        monkeypatch.setattr(standings, "FEW_PLAYERS", 0)
        assert at.of(asked) == few


def test_a_pool_without_classes_has_none_in_answers(tmp_path: Path, run: Run) -> None:
    path, games = tmp_path / "club.db", tmp_path / "games.csv"
    games.write_text("white,black,result,ended_at,half_moves\nAnn,Bob,1-0,2024-05-03,61\n", encoding="utf-8")
    assert run("init", path, "--scheme", "elo").code == run("import", path, games).code == 0
    assert {(row["class"], row["strength"]) for row in json.loads(run("ratings", path, "--details").out)} == {
        (None, None)
    }
    assert (shown := json.loads(run("show", path, "Ann").out))["class"] is shown["strength"] is None
    assert run("policy", "set", path, "classes", "everywhere=true", "--by", "eve").code == 0
    assert all(row["class"] and row["strength"] for row in json.loads(run("ratings", path, "--details").out))
