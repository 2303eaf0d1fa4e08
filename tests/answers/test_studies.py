"""Studies of settings: planted ones are found, null data has no winner, and nothing depends on workers."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.comparing import forecasts, replaying, study
from ledger.answers.comparing.study import Study, tune
from ledger.answers.comparing.trials import InitialStates, ReadFields, Trials
from ledger.answers.rows import as_row
from ledger.errors import MalformedError, UnknownNameError
from ledger.ledger import Ledger
from ledger.ratings import engine
from ledger.runtime.columns import FEW, MANY
from ledger.runtime.lazy import np
from ledger.schemes import built_in_schemes, find_scheme
from ledger.schemes.formulas.white_advantage import advantage_in, with_advantage
from ledger.schemes.scheme import Newcomer, Seed
from tools.bench.datasets import write_club
from tools.bench.ours import take_csv
from tools.bench.sections_tune import NEAR_PLANTED, PLANTED, has_no_winner, is_planted

NOW = datetime(2024, 1, 1, tzinfo=UTC)


def made_by(path: Path, seed: int, games: int, k: str, adopted: Mapping[str, Any]) -> Path:
    """A club whose results are drawn as plain Elo with *k* expects them, so that no other K predicts them better."""
    write_club(path.with_suffix(".csv"), seed, games, k)
    with Ledger.create(path, scheme="elo", settings=adopted, clock=lambda: NOW) as ledger:
        take_csv(ledger, path.with_suffix(".csv"))
        ledger.catch_up()
    return path


@pytest.fixture(name="planted_club", scope="module")
def _planted_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_by(tmp_path_factory.mktemp("planted") / "club.db", 1, 3_000, PLANTED, {"k": "40"})


def studied(path: Path, ranges: Mapping[str, tuple[str, str]], scheme: str = "elo", **options: Any) -> Study:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        return tune(ledger, scheme, ranges, **{"trials": 40, **options})


def judged(of: Study) -> dict[str, study.JudgedSettings]:
    return {each.which: each for each in of.judgements}


def test_planted_settings_are_found_and_judged_better_than_the_current_ones(planted_club: Path) -> None:
    found = studied(planted_club, {"k": ("4", "80")})
    (k,) = found.varied
    assert NEAR_PLANTED[0] <= float(k.best) <= NEAR_PLANTED[1]
    assert (k.current, k.finding) == ("40", "inside")
    winner, current, defaults = found.judgements
    assert winner.settings == {"k": k.best}
    assert (winner.difference, winner.verdict) == (None, None)
    assert winner.search_log_loss == min(trial.log_loss or 1.0 for trial in found.trials)
    assert current.verdict == "better"
    assert current.difference == pytest.approx(winner.log_loss - current.log_loss)
    assert current.low is not None
    assert current.high is not None
    assert current.low < winner.log_loss - current.log_loss < current.high < 0.0
    assert defaults.settings == {}
    assert [year.year for year in winner.years] == [2015, 2016, 2017, 2018, 2019]
    assert winner.years[-1].spread != current.years[-1].spread


def test_the_last_fifth_is_judged_and_the_search_does_not_see_it(planted_club: Path) -> None:
    found = studied(planted_club, {"k": ("4", "80")})
    assert found.searched + found.judged == 3_000
    assert 600 <= found.judged <= 602, "whole days"
    later = studied(planted_club, {"k": ("4", "80")}, judge_from=found.judged_from, judge_to="2018-11")
    assert [trial.log_loss for trial in later.trials] == [trial.log_loss for trial in found.trials]
    assert later.judged < found.judged
    late = studied(planted_club, {"k": ("4", "80")}, since="2016")
    assert (late.searched_from, late.judged) == ("2016-01-01", found.judged)
    assert late.searched < found.searched


def test_a_trial_has_the_log_loss_of_a_comparison_to_the_bit(planted_club: Path) -> None:
    found = studied(planted_club, {"k": ("4", "80"), "white_advantage": ("0", "60")}, trials=20)
    with Ledger.open(planted_club, clock=lambda: NOW) as ledger:
        games = replaying.load_games(ledger.views.connection, ledger.pool().pool, 2**62)
        searched = games.ended_ms < games.ended_ms[-1 - 3_000 // 5]
        for trial in found.trials[:5]:
            chosen = [replaying.candidate("elo", trial.settings)]
            orders = replaying.order_games(ledger.views.connection, ledger.pool(), games, chosen)
            (result,) = replaying.replay_schemes(chosen, orders, lambda: 0.0, 1)
            expected = with_advantage(result.expected, advantage_in(trial.settings))
            assert trial.log_loss == forecasts.log_loss(expected[searched], games.score[searched])


def test_a_study_does_not_depend_on_workers_nor_on_the_way_to_run(
    planted_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges = {"k": ("4", "80"), "initial": ("1000", "2000")}
    alone = studied(planted_club, ranges, seed=5)
    assert studied(planted_club, ranges, seed=5, workers=3) == alone
    assert studied(planted_club, ranges, seed=6).trials != alone.trials
    monkeypatch.setattr(engine, "COMPILE_FROM", 10**9)
    assert studied(planted_club, ranges, seed=5, workers=2) == alone


def test_a_setting_without_effect_is_inert_and_keeps_its_value(planted_club: Path) -> None:
    found = studied(planted_club, {"k": ("4", "80"), "first_k": ("5", "50")})
    assert [each.finding for each in found.varied] == ["inside", "inert"]
    assert found.varied[1].best == found.varied[1].current == 10
    assert "first_k" not in judged(found)["winner"].settings


def test_an_optimum_at_a_bound_is_at_the_edge(planted_club: Path) -> None:
    (k,) = studied(planted_club, {"k": ("30", "80")}).varied
    assert (k.best, k.finding) == (30, "at the edge")


def test_current_settings_that_are_the_best_remain_the_winner(planted_club: Path) -> None:
    found = studied(planted_club, {"k": ("60", "80")}, settings={"k": "16"})
    winner, current, _ = found.judgements
    assert winner.settings == current.settings == {"k": "16"}
    assert (current.difference, current.verdict) == (None, None)


def test_periods_vary_by_whole_days_and_under_their_short_name(planted_club: Path) -> None:
    found = studied(planted_club, {"period": ("1", "60"), "c": ("5", "60.5")}, "glicko", trials=30)
    period, c = found.varied
    assert (period.name, period.step, period.current) == ("period_days", "1", 0)
    assert (c.low, c.high, c.step) == ("5", "60.5", "0.01")
    assert all(type(trial.settings["period_days"]) is int for trial in found.trials)
    assert len({trial.settings["period_days"] for trial in found.trials}) > 5


def test_settings_that_are_not_possible_together_are_no_trial_that_wins(planted_club: Path) -> None:
    ranges = {"initial_rd": ("50", "350"), "rd_floor": ("10", "300")}
    found = studied(planted_club, ranges, "glicko", trials=30)
    refused = [trial for trial in found.trials if trial.log_loss is None]
    assert refused
    assert all(float(trial.settings["rd_floor"]) > float(trial.settings["initial_rd"]) for trial in refused)


def test_an_earlier_study_spares_its_trials(planted_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranges = {"k": ("4", "80")}
    first = studied(planted_club, ranges)
    tried: list[object] = []
    real = Trials.log_loss

    def note(trials: Trials, each: replaying.Candidate) -> float:
        tried.append(each)
        return real(trials, each)

    monkeypatch.setattr(Trials, "log_loss", note)
    assert studied(planted_club, ranges, earlier=as_row(first)) == first
    assert tried == []
    further = studied(planted_club, ranges, earlier=as_row(first), trials=60)
    assert len(tried) < len(further.trials)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"head": "5 00"}, "a study of another ledger, or of another state of this one: '5 00', here '"),
        ({"pool": "blitz"}, "a study of another pool: 'blitz', here 'standard'"),
        ({"scheme": "glicko"}, "a study of another scheme: 'glicko', here 'elo'"),
        ({"judged_from": "2001-01-01"}, "a study of another judged from: '2001-01-01', here"),
        ({"trials": None}, "it is no study"),
        ({"judgements": []}, "it is no study"),
    ],
)
def test_a_study_of_something_else_is_refused(change: dict[str, Any], says: str, planted_club: Path) -> None:
    earlier = as_row(studied(planted_club, {"k": ("4", "80")}, trials=10)) | change
    with pytest.raises(MalformedError, match=says):
        studied(planted_club, {"k": ("4", "80")}, earlier=earlier)


@pytest.mark.parametrize(
    ("ranges", "says"),
    [
        ({"k": ("80", "4")}, "range k=80..4: the first number must be below the second one"),
        ({"k": ("4", "4")}, "range k=4..4: the first number must be below the second one"),
        ({"k": ("low", "high")}, "range k=low..high: both ends must be numbers such as 32 or 0.5"),
        ({"k": ("-4", "80")}, "range k=-4..80: k must not be negative, got -4"),
        ({"kk": ("4", "80")}, "range kk=4..80: scheme 'elo' has no number 'kk'"),
        ({"first_ever": ("0", "1")}, "scheme 'elo' has no number 'first_ever'"),
        ({"late_reports": ("0", "1")}, "scheme 'elo' has no number 'late_reports'"),
        ({}, "a study varies from 1 to 10 settings, got 0"),
    ],
)
def test_what_is_no_range_is_refused(ranges: dict[str, tuple[str, str]], says: str, planted_club: Path) -> None:
    with pytest.raises(MalformedError, match=says):
        studied(planted_club, ranges)


def test_all_faults_of_ranges_are_named_at_once(planted_club: Path) -> None:
    with pytest.raises(MalformedError) as refused:
        studied(planted_club, {"k": ("80", "4"), "kk": ("1", "2"), "initial": ("x", "2")})
    assert len(refused.value.problems) == 3


def test_one_setting_under_two_names_and_too_many_calendars_are_refused(planted_club: Path) -> None:
    with pytest.raises(MalformedError, match="setting 'period_days' is varied twice"):
        studied(planted_club, {"period": ("1", "60"), "period_days": ("1", "60")}, "glicko")
    with pytest.raises(MalformedError, match=r"the ranges of period_days make 1,000 calendars .* at most 400"):
        studied(planted_club, {"period": ("1", "1000")}, "glicko")


def test_periods_without_games_are_refused(planted_club: Path) -> None:
    for options, says in (
        ({"judge_from": "2015"}, "no rated game 'before 2015'"),
        ({"judge_from": "2050"}, "no rated game 'from 2050'"),
        ({"judge_to": "2001"}, "no rated game 'at all'"),
        ({"since": "2050"}, "no rated game 'from 2050 before 2018-"),
    ):
        with pytest.raises(UnknownNameError, match=says):
            studied(planted_club, {"k": ("4", "80")}, **options)
    with pytest.raises(MalformedError, match="from 2019-02-01 on are of 2 weeks, a judgement takes 8"):
        studied(planted_club, {"k": ("4", "80")}, judge_from="2019-02-01")


def test_an_interval_has_the_mean_in_it_and_shrinks_with_weeks() -> None:
    values = np.tile([0.5, -0.1, 0.2], 400)
    weeks = np.arange(1_200) // 3
    low, high = forecasts.interval_by_weeks(values, weeks)
    assert low == pytest.approx(high) == pytest.approx(0.2), "weeks that are alike leave no doubt"
    wide = forecasts.interval_by_weeks(values, np.arange(1_200) % 12)
    assert wide[0] < 0.2 < wide[1]
    assert forecasts.interval_by_weeks(values, weeks) == (low, high)


def test_weeks_begin_on_mondays() -> None:
    days = [datetime(2024, 1, day, 12, tzinfo=UTC) for day in (7, 8, 14, 15)]
    weeks = forecasts.weeks_of(np.asarray([int(day.timestamp() * 1000) for day in days])).tolist()
    assert [week - weeks[0] for week in weeks] == [0, 1, 1, 2]


SEEDS = (None, Seed(1800.0), Seed(1750.0, games=40.0, deviation=60.0, volatility=0.05, highest=1900.0, day=15_000.0))
NEWCOMERS = [
    Newcomer(declared, born, 16_000.0 + turn, seed)
    for turn in range(3)
    for seed in SEEDS
    for declared in (None, 1600.0)
    for born in (None, 2005)
]


@pytest.mark.parametrize("scheme", [scheme.name for scheme in built_in_schemes()])
def test_shared_initial_states_are_those_of_each_player_by_himself(scheme: str) -> None:
    name, shared = scheme, InitialStates(NEWCOMERS, FEW)
    for settings in ({}, {"initial": "1777"}, {}, {"initial": "1333"}):
        if "initial" in settings and not hasattr(find_scheme(name).numbers_from({}), "initial"):
            continue
        chosen = replaying.candidate(name, settings)
        expected = engine.initial_states(chosen.scheme, chosen.numbers, NEWCOMERS)
        assert shared.under(chosen) == pytest.approx(expected, abs=0.0, nan_ok=True)
    arrays = InitialStates(NEWCOMERS, MANY).under(replaying.candidate(name))
    assert np.array_equal(arrays, MANY.float64_column(shared.under(replaying.candidate(name))), equal_nan=True)


def test_settings_that_initial_states_do_not_read_share_them() -> None:
    shared = InitialStates(NEWCOMERS, FEW)
    first = shared.under(replaying.candidate("glicko", {"c": "20"}))
    assert shared.under(replaying.candidate("glicko", {"c": "30"})) is first
    assert shared.under(replaying.candidate("glicko", {"initial": "1600"})) is not first


def test_reads_of_fields_are_noted_whatever_reads_them() -> None:
    def read_by(use: Any) -> set[str]:
        read: set[str] = set()
        use(ReadFields(Newcomer(1600.0, None, 5.0), read))
        return read & {*Newcomer._fields}

    assert read_by(lambda who: who.declared) == {"declared"}
    assert read_by(lambda who: who._replace(day=1.0).day) == set(), "a field that was replaced is not one of the tuple"
    assert "day" in read_by(tuple)
    assert "day" in read_by(lambda who: who[2])
    assert "day" in read_by(lambda who: who._asdict())


@pytest.mark.nightly
def test_planted_settings_of_twenty_clubs_are_found(tmp_path: Path) -> None:
    found = 0
    for seed in range(20):
        club = made_by(tmp_path / f"{seed}.db", seed, 6_000, PLANTED, {"k": "40"})
        its = studied(club, {"k": ("4", "80")}, seed=seed)
        found += is_planted(its)
        # 1,200 games tell 16 from 40 in most clubs, and never the other way round
        assert judged(its)["current"].verdict in {"better", "no difference"}
    assert found >= 19


@pytest.mark.nightly
def test_twenty_clubs_that_play_as_they_are_rated_have_no_winner(tmp_path: Path) -> None:
    without = 0
    for seed in range(20):
        club = made_by(tmp_path / f"{seed}.db", 100 + seed, 6_000, PLANTED, {"k": PLANTED})
        without += has_no_winner(studied(club, {"k": ("4", "80")}, seed=seed))
    assert without >= 19
