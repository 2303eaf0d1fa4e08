"""The commands ``policy set`` and ``policy list``, and an adoption by the advice of ``ratings``."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import Run
from tools.commands import REFUSED, USAGE


def held(run: Run, path: Path, *words: str) -> dict[str, Any]:
    rows = json.loads(run("policy", "list", path, *words).out)
    return {f"{row['policy']}.{row['setting']}": row["value"] for row in rows}


def test_every_setting_is_listed_with_its_default(empty_club: Path, run: Run) -> None:
    defaults = {
        "four-eyes.on": False, "four-eyes.tokens": False, "four-eyes.warnings": False,
        "publishing.largest_jump": 100, "publishing.active_days": 0, "upsets.margin": 200,
        "sandbagger.on": False, "sandbagger.games": 100, "sandbagger.at_least": 10, "sandbagger.percent": 30,
        "classes.b_from": 1400, "classes.c_from": 1880, "classes.d_from": 2200, "classes.intermediate_from": 1601,
        "classes.advanced_from": 2401, "classes.everywhere": False, "titles.on": False, "titles.keep": True,
        "titles.games": 50, "titles.expert": 2000, "titles.national-master": 2200,
    }  # fmt: skip
    assert held(run, empty_club) == defaults
    table = run("policy", "list", empty_club, "-t").out
    assert table.splitlines()[0].split() == [
        "policy", "setting", "value", "default", "unit", "number", "since", "position", "meaning",
    ]  # fmt: skip
    assert "false" in table


def test_a_policy_is_set_from_a_day_on_and_said_again_it_is_known(empty_club: Path, run: Run) -> None:
    done = run("policy", "set", empty_club, "upsets", "margin=250", "--from", "2024-01-01", "--by", "eve")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("upsets: set, from 2024-01-01; head 2 ")
    assert "was set so already" in run("policy", "set", empty_club, "upsets", "margin=250", "--from", "2024-01-01").err
    assert held(run, empty_club, "--at", "2023")["upsets.margin"] == 200
    assert held(run, empty_club, "--at", "2024-01-01")["upsets.margin"] == held(run, empty_club)["upsets.margin"] == 250
    (entry,) = json.loads(run("log", empty_club, "--kind", "policy-set").out)
    assert (entry["actor"], entry["key"]) == ("eve", "policy:upsets@1")


def test_what_holds_only_until_an_earlier_setting_is_said(empty_club: Path, run: Run) -> None:
    run("policy", "set", empty_club, "upsets", "margin=250", "--from", "2024")
    done = run("policy", "set", empty_club, "upsets", "margin=300")
    assert "note: it holds until 2024, from when what was set earlier holds" in done.err
    assert held(run, empty_club)["upsets.margin"] == 250


def test_four_eyes_are_set_once_by_one_person(empty_club: Path, run: Run) -> None:
    assert "set, from this entry on" in run("policy", "set", empty_club, "four-eyes", "on=true", "--by", "eve").err
    head = run("head", empty_club).out
    done = run("policy", "set", empty_club, "four-eyes", "on=false", "--by", "adam")
    assert (done.code, done.out) == (REFUSED, "")
    assert done.err.startswith("error: needs-a-proposal: four eyes are on, and nobody changes them alone; propose it")
    done = run("scheme", "adopt", empty_club, "--scheme", "elo", "--from", "2020")
    assert (done.code, "needs-a-proposal" in done.err) == (REFUSED, True)
    done = run("close-run", empty_club, "--as-of", "2020-01-31")
    assert (done.code, "needs-a-proposal" in done.err) == (REFUSED, True)
    assert run("head", empty_club).out == head


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["upsets"], "Missing argument 'SETTING=VALUE...'"),
        (["upset", "margin=1"], "'upset' is not one of"),
        (["upsets", "margin"], "setting takes NAME=VALUE, got 'margin'"),
        (["upsets", "margin=many"], "setting margin: give a number such as 32 or 0.5, true or false; got 'many'"),
        (["upsets", "margin=-1", "on=true"], "margin must be a whole number from 0 to 100000, got '-1'; policy 'upse"),
        (["upsets", "margin=1", "--from", "May"], "expected YYYY, YYYY-MM"),
        (["four-eyes", "on=true", "--from", "2024"], "holds from its entry on: give no instant"),
        (["upsets", "margin=1", "--by", " eve"], "without controls or outer blanks, got ' eve'"),
    ],
)
def test_what_cannot_be_is_wrong_usage_and_nothing_is_recorded(
    words: list[str], says: str, empty_club: Path, run: Run
) -> None:
    head = run("head", empty_club).out
    done = run("policy", "set", empty_club, *words)
    assert (done.code, done.out) == (USAGE, "")
    assert says in done.err
    assert run("head", empty_club).out == head


def test_an_instant_that_is_none_is_wrong_usage(empty_club: Path, run: Run) -> None:
    done = run("policy", "list", empty_club, "--at", "May")
    assert (done.code, "--at: expected YYYY" in done.err) == (USAGE, True)


GAMES = "white,black,result,date,half_moves,white_elo,black_elo\nAnn,Bob,1-0,2024-05-03,40,2010,1900\n"
POOLS = [
    ("fide", ["rapid=true"], []),
    ("fide", ["rapid=true", "event_gap=5", "by_event=false", "k_new=32"], []),
    ("fide", ["rapid=true"], ["2020-01-01", "rapid=true", "event_days=20"]),
    ("fide", ["by_event=false", "included_until=0"], ["2020-01-01", "rapid=false"]),
]


def settings(run: Run, path: Path) -> dict[str, object]:
    (pool,) = json.loads(run("pools", path).out)
    return {name: value for name, value in pool["settings"].items() if name != "from_shown"}


@pytest.mark.parametrize(("scheme", "given", "later"), POOLS)
def test_the_advice_keeps_all_settings_of_the_pool(
    scheme: str, given: list[str], later: list[str], tmp_path: Path, run: Run
) -> None:
    path, games = tmp_path / "a club.db", tmp_path / "games.csv"
    names = {line["setting"] for line in json.loads(run("scheme", "show", scheme).out)["settings"]}
    words = [word for setting in given if setting.split("=")[0] in names for word in ("--set", setting)]
    assert run("init", path, "--pool", "rapid", "--scheme", scheme, *words).code == 0
    if later:
        adopted = [word for setting in later[1:] for word in ("--set", setting)]
        assert run("scheme", "adopt", path, "--scheme", scheme, "--from", later[0], *adopted).code == 0
    games.write_text(GAMES)
    assert run("import", path, games).code == 0
    before = settings(run, path)
    said = run("ratings", path)
    advice = re.search(r"sources show: '(scheme adopt .*)'$", said.err.strip())
    assert advice is not None
    done = run(*shlex.split(advice[1].replace("'\\''", "'")))
    assert done.code == 0, done.err
    assert settings(run, path) == before
    assert [row["name"] for row in json.loads(run("ratings", path).out)] == ["Ann", "Bob"]
    assert run("audit", path).code == 0


def test_a_scheme_that_does_not_count_in_elo_points_takes_no_shown_ratings(tmp_path: Path, run: Run) -> None:
    path, games = tmp_path / "club.db", tmp_path / "games.csv"
    assert run("init", path, "--scheme", "ecf-grade").code == 0
    games.write_text(GAMES)
    run("import", path, games)
    assert "scheme adopt" not in run("ratings", path, "--min-games", "5").err
