"""A built-in scheme is one file and one entry point, and its compiled kernels are kept on disk."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from ledger import schemes
from ledger.errors import MalformedError
from ledger.schemes.scheme import Scheme
from ledger.schemes.settings import numbers_of, replace_settings, setting
from tests.kit.places import ROOT
from tests.tiers import in_tiers

COMPILE = """
import sys
from ledger import schemes
from ledger.errors import MalformedError
from ledger.runtime.columns import MANY
from ledger.ratings.engine import RateableGames, initial_states, rate, rating_loop
from ledger.runtime.kernels import compile_kernel
from ledger.schemes.scheme import Newcomer, Rhythm

scheme = schemes.find_scheme(sys.argv[1])
numbers = scheme.numbers_from({})
ids, ends = MANY.int32_column([0, 1]), MANY.float64_column([1.0, 0.5])
starts, floats = MANY.int32_column([0, 2]), MANY.float64_column
batches = () if scheme.rhythm is Rhythm.GAME else (starts, floats([1.0]), floats([9.0]))
state = MANY.float64_column(initial_states(scheme, numbers, [Newcomer(), Newcomer()]))
games = RateableGames(ids, MANY.int32_column([1, 0]), ends, MANY.float64_column([1.0, 2.0]), *batches)
rate(MANY, scheme, numbers, games, state, MANY.zeros(2))
stats = compile_kernel(rating_loop(scheme)).stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_the_entry_points_are_the_files() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["entry-points"]["ledger.schemes"]
    assert set(declared) == set(schemes.built_in_names())
    for scheme in schemes.built_in_schemes():
        assert declared[scheme.name] == f"ledger.schemes.{scheme.name.replace('-', '_')}:SCHEME"


def test_a_name_that_is_no_scheme_is_not_looked_for_among_the_shared_files() -> None:
    assert {"base", "glicko2-volatility", "uschess-formulas"}.isdisjoint(schemes.built_in_names())


@pytest.mark.parametrize("scheme", schemes.built_in_schemes(), ids=lambda scheme: scheme.name)
def test_the_numbers_of_kernels_are_the_settings_in_their_order(scheme: Scheme) -> None:
    numbers = scheme.numbers_from({})
    fields = attrs.fields_dict(scheme.settings)
    assert numbers._fields == tuple(fields)
    assert [type(value) for value in numbers] == [type(field.default) for field in fields.values()]
    module = sys.modules[scheme.settings.__module__]
    assert type(numbers) is scheme.numbers is module.Numbers  # the name under which compiled code refers to it


@pytest.mark.parametrize(
    "name", in_tiers(["chessworld", "glicko2"], lambda name: "slow" if name == "chessworld" else "nightly")
)
def test_compiled_kernels_are_found_again_on_disk_by_a_later_process(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = [
        subprocess.run(
            [sys.executable, "-c", COMPILE, name], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert found == [["0", "1"], ["1", "0"]]


def test_numbers_can_be_tried_with_other_settings() -> None:
    @attrs.frozen(kw_only=True)
    class Settings:
        k: float = setting(20.0, "K-factor", "points", "this file")
        rounded: bool = setting(False, "whole points", "switch", "this file")  # noqa: FBT003

    numbers = numbers_of(Settings)(20.0, False)  # noqa: FBT003
    assert replace_settings(numbers, k=32.0).k == 32.0
    assert numbers.k == 20.0


SENSELESS = """
chessmetrics: window=0 window=25 per_score=0 pad_draws=-1
ecf-grade: season_lists=3 full_games=31 full_games=0 bonus=0 cap=-1
ecf-monthly: k=-1 full_games=0 lapse_months=0 period_months=0
elo: k=-1 first_age_to=-1 second_rating_from=2000,second_rating_below=2000 initial=-0.5
glicko: initial_rd=0 initial_rd=351 rd_floor=351 rd_floor=-1 c=-1 initial=-1 period_days=1.5 period_months=0
glicko2: initial_rd=0 tau=0 tau=11 initial_volatility=0 initial=-1 first_month=13
harkness: per_percent=0 per_percent=-1 unrated=-1
iccf: fixed_games=0.5 entry_lists=-1 listed_games=-1 cut_off=0 first_month=13
lichess: initial=399 initial=4000 initial_rd=44 initial_rd=501 rd_cap=1000 tau=0 volatility_cap=0.08 regulator=0
    periods_per_day=-1 largest_change=0
nothingbutchess: k=-1 k_high=-1 initial=-1 k_falls_at=-1
playchess: cut_off=0 largest_change=-1 provisional_games=2.5 initial=-1 period_months=0
playchess-dummies: mean_games=0.5 cut_off=0 worth=-1 min_half_moves=-2
savard: established_k=-1 ordinary_p=1.1 beginning_m=2 score_scale=0 first_games=0 first_games=2.5 limit=-1
stephenson: initial_rd=0 initial_rd=351 rd_floor=301 c=-1 h=-1 bonus=-1 bonus=101 neighbourhood=-1 neighbourhood=101
uschess: lower_bound=0 lower_bound=-1 special_games=8.5 special_games=-1 special_cap=99 match_limit=-1
    match_range=-1 bonus_b=-1 declared_games=0.5 special_cap=10001
whole-history: w2=0 w2=-1 initial=-1 initial_rd=0 listed_rd=1001 advantage=401 sweeps=0 sweeps=1.5 period_months=0
"""


def senseless_settings() -> Iterator[tuple[str, dict[str, int | str]]]:
    for word in SENSELESS.split():
        if word.endswith(":"):
            scheme = word[:-1]
            continue
        given = dict(part.split("=") for part in word.split(","))
        yield scheme, {name: int(value) if "." not in value else value for name, value in given.items()}


@pytest.mark.parametrize(("scheme", "given"), [*senseless_settings()])
def test_a_senseless_setting_is_refused_by_name(scheme: str, given: dict[str, int | str]) -> None:
    refused = [*given][-1]
    with pytest.raises(MalformedError, match="initial_rd" if refused == "rd_cap" else refused):
        schemes.find_scheme(scheme).numbers_from(given)
